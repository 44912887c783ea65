//! Transpose.

use armnn_backend_api::{LayerView, Result, TransposeDescriptor, Workload};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    workloads::{
        copy::{self, BoxCopy, copy_workload},
        layer_checks::{dims, input, invalid, output},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &TransposeDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &TransposeDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let permutation = descriptor.permutation();
    let is_permutation = permutation.len() == from.len()
        && (0..from.len()).all(|axis| permutation.contains(&(axis as u32)));
    let fits = is_permutation
        && to.len() == from.len()
        && to
            .iter()
            .zip(permutation)
            .all(|(&n, &p)| n == from[p as usize]);
    if !fits {
        return Err(invalid(format_args!(
            "the permutation {permutation:?} does not lead from {from:?} to {to:?}"
        )));
    }
    let strides = dense_strides(&from);
    let strides: Vec<_> = permutation.iter().map(|&p| strides[p as usize]).collect();
    let copy = BoxCopy {
        input: 0,
        output: 0,
        nest: LoopNest::new(&to, [&strides, &dense_strides(&to)], [0, 0]),
    };
    copy_workload(layer, vec![copy], None)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Element, Shape};

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    #[test]
    fn dimension_i_of_the_output_is_dimension_permutation_i_of_the_input() {
        // (1 2 3; 4 5 6) transposed.
        let call = Call::new(TransposeDescriptor::new(&[1, 0]).unwrap())
            .input(f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .output(DataType::Float32, [3, 2]);
        assert_eq!(call.run().f32s(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        // Element (a, b, c) of [2, 3, 4] goes to (c, a, b) of [4, 2, 3].
        let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let call = Call::new(TransposeDescriptor::new(&[2, 0, 1]).unwrap())
            .input(f32s([2, 3, 4], &values))
            .output(DataType::Float32, [4, 2, 3]);
        let expected: Vec<f32> = (0..24)
            .map(|i| (i / 6, i / 3 % 2, i % 3))
            .map(|(c, a, b)| ((a * 3 + b) * 4 + c) as f32)
            .collect();
        assert_eq!(call.run().f32s(), expected);
    }

    #[test]
    fn elements_of_every_size_are_moved() {
        fn moved<T: Element>(data_type: DataType, values: [T; 4]) -> Vec<T> {
            let call = Call::new(TransposeDescriptor::new(&[1, 0]).unwrap())
                .input(typed(data_type, [2, 2], &values))
                .output(data_type, [2, 2]);
            call.run().elements(0)
        }
        assert_eq!(moved(DataType::Boolean, [0u8, 1, 2, 3]), [0, 2, 1, 3]);
        assert_eq!(moved(DataType::BFloat16, [0u16, 1, 2, 3]), [0, 2, 1, 3]);
        assert_eq!(moved(DataType::UInt64, [0u64, 1, 2, 3]), [0, 2, 1, 3]);
    }

    #[test]
    fn scalars_and_eight_dimensions() {
        let call = Call::new(TransposeDescriptor::new(&[]).unwrap())
            .input(f32s(Shape::SCALAR, &[7.0]))
            .output(DataType::Float32, Shape::SCALAR);
        assert_eq!(call.run().f32s(), [7.0]);
        // All dimensions in reverse: the bits of an element's number are reversed.
        let values: Vec<u8> = (0..=255).collect();
        let call = Call::new(TransposeDescriptor::new(&[7, 6, 5, 4, 3, 2, 1, 0]).unwrap())
            .input(typed(DataType::UInt8, [2; 8], &values))
            .output(DataType::UInt8, [2; 8]);
        let expected: Vec<u8> = values.iter().map(|v| v.reverse_bits()).collect();
        assert_eq!(call.run().elements::<u8>(0), expected);
    }

    #[test]
    fn a_list_that_is_no_permutation_is_an_error() {
        for permutation in [&[0, 0][..], &[0, 2], &[0]] {
            let call = Call::new(TransposeDescriptor::new(permutation).unwrap())
                .input(f32s([1, 1], &[0.0]))
                .output(DataType::Float32, [1, 1]);
            assert!(call.error().contains("permutation"), "{permutation:?}");
        }
    }
}
