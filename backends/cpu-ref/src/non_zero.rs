//! NonZero.

use armnn_backend_api::{DataType, LayerView, NonZeroDescriptor, Result, Shape, Workload};

use crate::{
    element_type::{COMPARABLES, Number, by_number},
    layer_checks::{FLOATS, dims, input, input_role, output, require_input, require_output},
    quantized_arithmetic::Affine,
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &NonZeroDescriptor) -> Result<()> {
    require_input(layer, 0, COMPARABLES)?;
    zero(layer)?;
    require_output(layer, 0, &[&[DataType::Signed64]])
}

/// The ordinal of the number that stands for 0.
fn zero(layer: LayerView<'_>) -> Result<u64> {
    let tensor = input(layer, 0)?;
    let data_type = tensor.data_type();
    if FLOATS.contains(&data_type) {
        return Ok(0f32.ordinal());
    }
    let number: i64 = match data_type.is_quantized() {
        true => {
            let affine = Affine::of(tensor, &input_role(layer.layer_type(), 0))?;
            affine.zero_point.into()
        }
        false => 0,
    };
    Ok(match data_type {
        DataType::Boolean
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::QAsymmU8 => (number as u64).ordinal(),
        _ => number.ordinal(),
    })
}

pub(crate) fn workload(layer: LayerView<'_>, _: &NonZeroDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let zero = zero(layer)?;
    output(layer, 0)?;
    by_number!(input(layer, 0)?.data_type(), N => workload_function(layer, 0, move |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        let found = |&value: &<N as Number>::Stored| N::load(value).ordinal() != zero;
        let count = values.iter().filter(|&value| found(value)).count();
        let out = call.allocate::<i64>(0, &[from.len(), count])?;
        list(&from, count, values.iter().map(found), out);
        Ok(())
    }))
}

/// Writes the positions, of a tensor of these dimensions, at which `is_found` is true, to
/// [rank, count].
fn list(dims: &[usize], count: usize, is_found: impl Iterator<Item = bool>, out: &mut [i64]) {
    let mut position = [0; Shape::MAX_RANK];
    let mut column = 0;
    for is_found in is_found {
        if is_found {
            for (axis, &at) in position[..dims.len()].iter().enumerate() {
                out[axis * count + column] = at;
            }
            column += 1;
        }
        for (at, &size) in position[..dims.len()].iter_mut().zip(dims).rev() {
            *at += 1;
            if *at < size as i64 {
                break;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f16s, f32s, typed};

    fn found(input: Tensor) -> (Vec<i64>, Vec<i64>) {
        let rank = input.info.shape.rank() as i64;
        let call = Call::new(NonZeroDescriptor::new())
            .input(input)
            .output(DataType::Signed64, Shape::new(&[rank, -1]).unwrap());
        let results = call.run();
        (results.shape(0), results.elements(0))
    }

    #[test]
    fn positions_are_row_major_and_one_row_for_each_dimension() {
        let input = f32s([2, 1, 3], &[0.0, 5.0, -0.0, -1.0, 0.0, f32::NAN]);
        // (0, 0, 1), (1, 0, 0) and (1, 0, 2).
        let expected = vec![0, 1, 1, 0, 0, 0, 1, 0, 2];
        assert_eq!(found(input), (vec![3, 3], expected));
        assert_eq!(found(f32s([2, 2], &[0.0; 4])), (vec![2, 0], vec![]));
        assert_eq!(found(f32s([0, 2], &[])), (vec![2, 0], vec![]));
        assert_eq!(found(f32s([], &[3.0])), (vec![0, 1], vec![]));
    }

    #[test]
    fn all_types_of_numbers_are_taken() {
        let two = (vec![1, 2], vec![1, 2]);
        assert_eq!(found(f16s([3], &[0.0, 0.5, -1.0])), two);
        assert_eq!(found(typed(DataType::Boolean, [3], &[0u8, 1, 1])), two);
        assert_eq!(found(typed(DataType::Signed64, [3], &[0i64, -7, 7])), two);
        assert_eq!(found(typed(DataType::UInt8, [3], &[0u8, 128, 255])), two);
        // The number 3 stands for 0.
        let quantized = |data_type, numbers: &[u8]| {
            let quantization = Quantization::per_tensor(0.5, 3);
            typed(data_type, [3], numbers).quantized(quantization)
        };
        assert_eq!(found(quantized(DataType::QAsymmS8, &[3, 0, 255])), two);
        assert_eq!(found(quantized(DataType::QAsymmU8, &[3, 0, 255])), two);
    }

    #[test]
    fn indices_are_of_64_bits() {
        let call = Call::new(NonZeroDescriptor::new())
            .input(f32s([1], &[1.0]))
            .output(DataType::Signed32, [1, -1]);
        assert_refused(&call, &["the type of output is Signed32"]);
    }
}
