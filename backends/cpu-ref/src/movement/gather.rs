//! Gather.

use std::fmt::Display;

use armnn_backend_api::{
    BackendError, DataType, ExecutionContext, GatherDescriptor, Inputs, LayerView, Outputs, Result,
    Synchronous, Workload,
};

use crate::{
    numbers::packing::Packing,
    workloads::{
        copy::element_size,
        float_workload::{input_elements, output_elements},
        layer_checks::{
            dims, input, invalid, output, require_input, require_output, require_same_quantization,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &GatherDescriptor) -> Result<()> {
    let data_type = input(layer, 0)?.data_type();
    if Packing::of(data_type).is_none() {
        element_size(data_type)?;
    }
    require_input(layer, 1, &[&[DataType::Signed32, DataType::Signed64]])?;
    require_output(layer, 0, &[&[data_type]])?;
    require_same_quantization(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &GatherDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = descriptor.axis as usize;
    let expected = from
        .get(axis)
        .map(|_| [&from[..axis], &indices[..], &from[axis + 1..]].concat());
    if expected.as_ref() != Some(&to) {
        return Err(invalid(format_args!(
            "indices of {indices:?} into dimension {axis} of {from:?} do not lead to {to:?}"
        )));
    }
    let data_type = input(layer, 0)?.data_type();
    let packing = Packing::of(data_type);
    let element = match packing {
        Some(_) => 1,
        None => element_size(data_type)?,
    };
    Ok(Box::new(Gather {
        packing,
        outer: from[..axis].iter().product(),
        size: from[axis],
        slice_len: from[axis + 1..].iter().product::<usize>() * element,
        n_indices: indices.iter().product(),
        wide_indices: input(layer, 1)?.data_type() == DataType::Signed64,
    }))
}

struct Gather {
    /// How elements lie in bytes of which they are a part.
    packing: Option<Packing>,
    /// The product of the dimensions before the axis.
    outer: usize,
    /// The dimension of the axis.
    size: usize,
    /// Bytes of what one index chooses; of packed elements, how many they are.
    slice_len: usize,
    n_indices: usize,
    /// Whether the indices are of 64 bits.
    wide_indices: bool,
}

impl Workload for Gather {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let byte_len = |len: usize| self.packing.map_or(len, |packing| packing.byte_len(len));
        let from_len = byte_len(self.outer * self.size * self.slice_len);
        let from = input_elements::<u8>(inputs, 0, from_len)?;
        let out_len = byte_len(self.outer * self.n_indices * self.slice_len);
        let to = output_elements::<u8>(outputs, 0, out_len)?;
        if self.wide_indices {
            let indices = input_elements::<i64>(inputs, 1, self.n_indices)?;
            self.gather(from, indices, to)
        } else {
            let indices = input_elements::<i32>(inputs, 1, self.n_indices)?;
            self.gather(from, indices, to)
        }
    }
}

impl Gather {
    fn gather<I>(&self, from: &[u8], indices: &[I], to: &mut [u8]) -> Result<()>
    where
        I: Copy + Display + TryInto<usize>,
    {
        let place = |index: I| index.try_into().ok().filter(|&place| place < self.size);
        if let Some(position) = indices.iter().position(|&index| place(index).is_none()) {
            return Err(BackendError::new(format!(
                "index {} at position {position} is not below {}",
                indices[position], self.size
            )));
        }
        if to.is_empty() {
            return Ok(());
        }
        if let Some(packing) = self.packing {
            to.fill(0);
            let mut at = 0;
            for outer in 0..self.outer {
                for &index in indices {
                    let slice = outer * self.size + place(index).unwrap_or(0);
                    for element in slice * self.slice_len..(slice + 1) * self.slice_len {
                        packing.put_at(to, at, packing.code_at(from, element));
                        at += 1;
                    }
                }
            }
            return Ok(());
        }
        let from = from.chunks_exact(self.size * self.slice_len);
        let to = to.chunks_exact_mut(self.n_indices * self.slice_len);
        for (from, to) in from.zip(to) {
            for (to, &index) in to.chunks_exact_mut(self.slice_len).zip(indices) {
                let place = place(index).unwrap_or(0);
                to.copy_from_slice(&from[place * self.slice_len..][..self.slice_len]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::Shape;

    use super::*;
    use crate::test_harness::{Call, assert_refused, f16s, f32s, typed};

    fn gathered(axis: u32, indices: &[i32], shape: &[i64], out: &[i64]) -> Call {
        let indices = typed(DataType::Signed32, Shape::new(shape).unwrap(), indices);
        Call::new(GatherDescriptor { axis })
            .input(f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .input(indices)
            .output(DataType::Float32, Shape::new(out).unwrap())
    }

    #[test]
    fn elements_below_a_byte_are_taken_one_by_one() {
        // Columns 2, 0 and 2 of (1 2 3; 4 5 6).
        let call = Call::new(GatherDescriptor { axis: 1 })
            .input(typed(DataType::UInt4, [2, 3], &[0x21u8, 0x43, 0x65]))
            .input(typed(DataType::Signed32, [3], &[2i32, 0, 2]))
            .output(DataType::UInt4, [2, 3]);
        assert_eq!(call.run().elements::<u8>(0), [0x13, 0x63, 0x64]);
    }

    #[test]
    fn indices_choose_slices_along_the_axis() {
        let rows = gathered(0, &[1, 0, 1], &[3], &[3, 3]).run().f32s();
        assert_eq!(rows, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let columns = gathered(1, &[2, 0], &[1, 2], &[2, 1, 2]).run().f32s();
        assert_eq!(columns, [3.0, 1.0, 6.0, 4.0]);
        let one = gathered(1, &[1], &[], &[2]).run().f32s();
        assert_eq!(one, [2.0, 5.0]);
        assert!(gathered(0, &[], &[0], &[0, 3]).run().f32s().is_empty());
    }

    #[test]
    fn elements_of_two_bytes_are_moved() {
        let call = Call::new(GatherDescriptor { axis: 0 })
            .input(f16s([3], &[1.0, 2.0, 3.0]))
            .input(typed(DataType::Signed32, [2], &[2i32, 1]))
            .output(DataType::Float16, [2]);
        assert_eq!(call.run().f16s(), [3.0, 2.0]);
    }

    #[test]
    fn an_index_outside_is_an_error_that_names_it() {
        let error = gathered(0, &[0, 2], &[2], &[2, 3]).error();
        assert_eq!(error, "index 2 at position 1 is not below 2");
        assert!(
            gathered(0, &[-1], &[1], &[1, 3])
                .error()
                .contains("index -1")
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_or_an_error() {
        assert!(
            gathered(2, &[0], &[1], &[2, 3])
                .error()
                .contains("do not lead")
        );
        assert!(
            gathered(0, &[0], &[1], &[2, 3])
                .error()
                .contains("do not lead")
        );
        let call = Call::new(GatherDescriptor { axis: 0 })
            .input(f32s([1], &[0.0]))
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, [1]);
        assert_refused(
            &call,
            &["the type of indices is", "supported: Signed32, Signed64"],
        );
    }
}
