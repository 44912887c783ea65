//! Concat.

mod rescaled;

use armnn_backend_api::{ConcatDescriptor, LayerView, Result, Workload};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    workloads::{
        copy::{self, BoxCopy, copy_workload},
        layer_checks::{dims, input, invalid, output},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &ConcatDescriptor) -> Result<()> {
    if rescaled::is_needed(layer)? {
        return rescaled::check(layer);
    }
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ConcatDescriptor,
) -> Result<Box<dyn Workload>> {
    let whole = dims(layer, output(layer, 0)?)?;
    let parts = (0..layer.input_indices().len())
        .map(|i| dims(layer, input(layer, i)?))
        .collect::<Result<Vec<_>>>()?;
    let starts = part_starts(&whole, &parts, descriptor.axis)?;
    let strides = dense_strides(&whole);
    let copies = parts.iter().zip(starts).enumerate();
    let copies = copies.map(|(i, (part, start))| BoxCopy {
        input: i,
        output: 0,
        nest: LoopNest::new(part, [&dense_strides(part), &strides], [0, start]),
    });
    if rescaled::is_needed(layer)? {
        return rescaled::workload(layer, copies.collect());
    }
    copy_workload(layer, copies.collect(), None)
}

/// Where in a tensor the parts start that it consists of along an axis, in elements.
///
/// # Errors
/// When they do not make up the whole.
pub(crate) fn part_starts(whole: &[usize], parts: &[Vec<usize>], axis: u32) -> Result<Vec<usize>> {
    let axis = axis as usize;
    let mut starts = Vec::with_capacity(parts.len());
    let mut sum = 0usize;
    let stride: usize = whole.iter().skip(axis.saturating_add(1)).product();
    for part in parts {
        let fits = axis < whole.len()
            && part.len() == whole.len()
            && (0..whole.len()).all(|i| i == axis || part[i] == whole[i]);
        if !fits {
            return Err(invalid(format_args!(
                "a part of dimensions {part:?} does not fit into {whole:?}"
            )));
        }
        starts.push(sum.saturating_mul(stride));
        sum = sum.saturating_add(part[axis]);
    }
    if whole.get(axis) == Some(&sum) {
        Ok(starts)
    } else {
        Err(invalid(format_args!(
            "its parts add up to {sum} along dimension {axis} of {whole:?}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    #[test]
    fn parts_are_joined_along_any_axis() {
        let a = f32s([1, 2], &[1.0, 2.0]);
        let b = f32s([2, 2], &[3.0, 4.0, 5.0, 6.0]);
        let call = Call::new(ConcatDescriptor { axis: 0 })
            .input(a)
            .input(b.clone())
            .output(DataType::Float32, [3, 2]);
        assert_eq!(call.run().f32s(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let call = Call::new(ConcatDescriptor { axis: 1 })
            .input(b)
            .input(f32s([2, 0], &[]))
            .input(f32s([2, 1], &[7.0, 8.0]))
            .output(DataType::Float32, [2, 3]);
        assert_eq!(call.run().f32s(), [3.0, 4.0, 7.0, 5.0, 6.0, 8.0]);
    }

    #[test]
    fn elements_of_every_size_are_moved() {
        fn joined<T: armnn_backend_api::Element + From<u8>>(data_type: DataType) -> Vec<T> {
            let part = |n: u8| typed(data_type, [1], &[T::from(n)]);
            let call = Call::new(ConcatDescriptor { axis: 0 })
                .input(part(1))
                .input(part(2))
                .output(data_type, [2]);
            call.run().elements(0)
        }
        assert_eq!(joined::<u8>(DataType::Boolean), [1, 2]);
        assert_eq!(joined::<u16>(DataType::Float16), [1, 2]);
        assert_eq!(joined::<i32>(DataType::Signed32), [1, 2]);
        assert_eq!(joined::<u64>(DataType::Float64), [1, 2]);
        assert_eq!(joined::<u8>(DataType::Float8E4M3FN), [1, 2]);
    }

    #[test]
    fn elements_below_a_byte_are_moved_one_by_one() {
        // 1, 2, 3 and 4, 5, whatever is behind the third.
        let call = Call::new(ConcatDescriptor { axis: 0 })
            .input(typed(DataType::Int4, [3], &[0x21u8, 0xf3]))
            .input(typed(DataType::Int4, [2], &[0x54u8]))
            .output(DataType::Int4, [5]);
        assert_eq!(call.run().elements::<u8>(0), [0x21, 0x43, 0x05]);
    }

    #[test]
    fn parts_that_do_not_add_up_are_an_error() {
        let call = |axis, out: [i64; 2]| {
            Call::new(ConcatDescriptor { axis })
                .input(f32s([1, 2], &[0.0; 2]))
                .input(f32s([2, 2], &[0.0; 4]))
                .output(DataType::Float32, out)
        };
        assert!(call(0, [4, 2]).error().contains("add up to 3"));
        assert!(call(1, [2, 4]).error().contains("does not fit"));
        assert!(call(u32::MAX, [3, 2]).error().contains("does not fit"));
    }
}
