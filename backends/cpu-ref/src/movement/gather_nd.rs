//! GatherNd and GatherElements.

use armnn_backend_api::{
    BackendError, GatherElementsDescriptor, GatherNdDescriptor, LayerView, Result, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    numbers::element_type::{INDICES, Indices, by_size, position_of},
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, invalid, output, require_input, require_output, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

fn check(layer: LayerView<'_>) -> Result<()> {
    let data_type = input(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 1, INDICES)?;
    require_output(layer, 0, &[&[data_type]])?;
    require_same_quantization(layer)
}

/// The error of an index that is outside of its dimension.
pub(crate) fn outside(index: i64, size: usize) -> BackendError {
    BackendError::new(format!("index {index} is outside of a dimension of {size}"))
}

pub(crate) fn check_nd(layer: LayerView<'_>, _: &GatherNdDescriptor) -> Result<()> {
    check(layer)
}

pub(crate) fn nd_workload(
    layer: LayerView<'_>,
    d: &GatherNdDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let batch_dims = d.batch_dims as usize;
    let mismatch = || {
        invalid(format_args!(
            "vectors of {indices:?} into {from:?} after {batch_dims} dimensions do not lead to \
             {to:?}"
        ))
    };
    let (&vector, places) = indices.split_last().ok_or_else(mismatch)?;
    let sliced = batch_dims.checked_add(vector).filter(|&n| n <= from.len());
    let sliced = sliced.ok_or_else(mismatch)?;
    let fits = batch_dims <= places.len()
        && from[..batch_dims] == places[..batch_dims]
        && [places, &from[sliced..]].concat() == to;
    if !fits {
        return Err(mismatch());
    }
    let bytes = element_size(input(layer, 0)?.data_type())?;
    let slice_len = from[sliced..].iter().product::<usize>() * bytes;
    let indexed = IndexedDims::new(&from[batch_dims..sliced]);
    let n_batches: usize = match (vector, slice_len) {
        // Nothing is chosen, any number of times.
        (0, 0) => 0,
        _ => from[..batch_dims].iter().product(),
    };
    let in_batch: usize = places[batch_dims..].iter().product();
    let index_type = input(layer, 1)?.data_type();
    workload_function(layer, 0, move |call| {
        let indices = call.indices(1, index_type)?;
        // Elements are moved as bytes.
        let bytes = call.input_bytes(0)?;
        let out = call.output_bytes(0)?;
        for place in 0..n_batches * in_batch {
            let batch = place / in_batch;
            let at = indexed.position(indices, place * vector)?;
            let from = (batch * indexed.len + at) * slice_len;
            out[place * slice_len..][..slice_len].copy_from_slice(&bytes[from..][..slice_len]);
        }
        Ok(())
    })
}

/// Dimensions that a vector of indices leads into.
pub(crate) struct IndexedDims {
    sizes: Vec<usize>,
    /// Their product.
    pub(crate) len: usize,
}

impl IndexedDims {
    pub(crate) fn new(sizes: &[usize]) -> Self {
        Self {
            sizes: sizes.to_vec(),
            len: sizes.iter().product(),
        }
    }

    /// Where the vector that starts at `first` leads, row-major.
    ///
    /// # Errors
    /// When an index is outside of its dimension.
    pub(crate) fn position(&self, indices: Indices<'_>, first: usize) -> Result<usize> {
        let mut position = 0;
        for (i, &size) in self.sizes.iter().enumerate() {
            let index = indices.get(first + i);
            let at = position_of(index, size).ok_or_else(|| outside(index, size))?;
            position = position * size + at;
        }
        Ok(position)
    }
}

pub(crate) fn check_elements(layer: LayerView<'_>, _: &GatherElementsDescriptor) -> Result<()> {
    check(layer)
}

pub(crate) fn elements_workload(
    layer: LayerView<'_>,
    d: &GatherElementsDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    if to != indices {
        return Err(invalid(format_args!(
            "indices of shape {indices:?} do not lead to {to:?}"
        )));
    }
    let along = AlongAxis::new(d.axis, &from, &indices)?;
    let index_type = input(layer, 1)?.data_type();
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let (from, indices) = (call.input::<W>(0)?, call.indices(1, index_type)?);
        let out = call.output::<W>(0)?;
        along.for_each(indices, |position, at| out[position] = from[at])
    }))
}

/// Indices along one dimension of a tensor, in a tensor of the same rank.
pub(crate) struct AlongAxis {
    /// Over the indices; the operands are these, and the indexed tensor at index 0.
    nest: LoopNest<2>,
    size: usize,
    stride: usize,
}

impl AlongAxis {
    /// # Errors
    /// When the indices are larger than the tensor beside the axis.
    pub(crate) fn new(axis: u32, tensor: &[usize], indices: &[usize]) -> Result<Self> {
        let axis = axis as usize;
        let fits = tensor.len() == indices.len()
            && axis < tensor.len()
            && (0..tensor.len()).all(|i| i == axis || indices[i] <= tensor[i]);
        if !fits {
            return Err(invalid(format_args!(
                "indices of shape {indices:?} do not lead along dimension {axis} of {tensor:?}"
            )));
        }
        let mut strides = dense_strides(tensor);
        let stride = std::mem::take(&mut strides[axis]) as usize;
        Ok(Self {
            nest: LoopNest::new(indices, [&dense_strides(indices), &strides], [0, 0]),
            size: tensor[axis],
            stride,
        })
    }

    /// Calls `f` with the position of each index, and where it leads in the tensor.
    ///
    /// # Errors
    /// When an index is outside; `f` has been called for those before it.
    pub(crate) fn for_each(
        &self,
        indices: Indices<'_>,
        mut f: impl FnMut(usize, usize),
    ) -> Result<()> {
        let strides = self.nest.row_strides();
        let mut result = Ok(());
        self.nest.for_each_row(|mut at| {
            if result.is_err() {
                return;
            }
            for _ in 0..self.nest.row_len() {
                let index = indices.get(at[0]);
                match position_of(index, self.size) {
                    Some(position) => f(at[0], at[1] + position * self.stride),
                    None => {
                        result = Err(outside(index, self.size));
                        return;
                    }
                }
                for (at, stride) in at.iter_mut().zip(strides) {
                    *at = at.wrapping_add_signed(stride);
                }
            }
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, Shape};

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    fn gathered(
        d: impl Into<LayerDescriptor>,
        from: &[i64],
        shape: &[i64],
        indices: &[i64],
        out: &[i64],
    ) -> Call {
        let len: i64 = from.iter().product();
        let values: Vec<f32> = (0..len).map(|i| i as f32).collect();
        Call::new(d)
            .input(f32s(Shape::new(from).unwrap(), &values))
            .input(typed(
                DataType::Signed64,
                Shape::new(shape).unwrap(),
                indices,
            ))
            .output(DataType::Float32, Shape::new(out).unwrap())
    }

    #[test]
    fn nothing_is_chosen_any_number_of_times_at_once() {
        let d = GatherNdDescriptor { batch_dims: 0 };
        let found = gathered(d, &[4, 0], &[1 << 50, 0], &[], &[1 << 50, 4, 0]).run();
        assert_eq!(found.f32s(), []);
    }

    /// The examples of ONNX's documentation of GatherND.
    #[test]
    fn vectors_of_indices_choose_slices() {
        let d = GatherNdDescriptor { batch_dims: 0 };
        let found = gathered(d, &[2, 2], &[2, 2], &[0, 0, 1, 1], &[2]).run();
        assert_eq!(found.f32s(), [0.0, 3.0]);
        let found = gathered(d, &[2, 2], &[2, 1], &[1, 0], &[2, 2]).run();
        assert_eq!(found.f32s(), [2.0, 3.0, 0.0, 1.0]);
        let found = gathered(d, &[2, 2, 2], &[2, 1, 2], &[0, 1, -1, 0], &[2, 1, 2]).run();
        assert_eq!(found.f32s(), [2.0, 3.0, 4.0, 5.0]);
        let batched = GatherNdDescriptor { batch_dims: 1 };
        let found = gathered(batched, &[2, 2, 2], &[2, 1], &[1, 0], &[2, 2]).run();
        assert_eq!(found.f32s(), [2.0, 3.0, 4.0, 5.0]);
        let error = gathered(d, &[2, 2], &[1, 1], &[2], &[1, 2]).error();
        assert!(error.contains("index 2 is outside of a dimension of 2"));
        let error = gathered(d, &[2, 2], &[1, 1], &[1], &[2, 2]).error();
        assert!(error.contains("do not lead to"));
    }

    /// The examples of ONNX's documentation of GatherElements, counted from 0.
    #[test]
    fn indices_choose_elements_along_an_axis() {
        let d = GatherElementsDescriptor { axis: 1 };
        let found = gathered(d, &[2, 2], &[2, 2], &[0, 0, 1, 0], &[2, 2]).run();
        assert_eq!(found.f32s(), [0.0, 0.0, 3.0, 2.0]);
        let d = GatherElementsDescriptor { axis: 0 };
        let indices = [1, 2, 0, 2, 0, -3];
        let found = gathered(d, &[3, 3], &[2, 3], &indices, &[2, 3]).run();
        assert_eq!(found.f32s(), [3.0, 7.0, 2.0, 6.0, 1.0, 2.0]);
        let error = gathered(d, &[3, 3], &[1, 3], &[3, 0, 0], &[1, 3]).error();
        assert!(error.contains("index 3"));
        let error = gathered(d, &[3, 3], &[1, 4], &[0; 4], &[1, 4]).error();
        assert!(error.contains("do not lead along"));
    }
}
