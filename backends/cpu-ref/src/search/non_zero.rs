//! Layers whose output's size depends on what is true or not 0: Compress, NonZero.

use armnn_backend_api::{
    CompressDescriptor, DataType, LayerView, NonZeroDescriptor, Result, Workload,
};

use crate::{
    numbers::element_type::{COMPARABLES, Number, by_number},
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, invalid, require_input, require_output, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check_non_zero(layer: LayerView<'_>, _: &NonZeroDescriptor) -> Result<()> {
    require_input(layer, 0, COMPARABLES)?;
    require_output(layer, 0, &[&[DataType::Signed64]])
}

pub(crate) fn non_zero_workload(
    layer: LayerView<'_>,
    _: &NonZeroDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let zero_point = input(layer, 0)?.zero_points().first().copied().unwrap_or(0);
    by_number!(input(layer, 0)?.data_type(), N => {
        let from = from.clone();
        workload_function(layer, 0, move |call| {
            let values = call.input::<<N as Number>::Stored>(0)?;
            // Of quantized numbers the zero point stands for 0.
            let zero = N::from_i32(zero_point);
            let is_chosen = |x: &<N as Number>::Stored| N::load(*x) != zero;
            let count = values.iter().filter(|x| is_chosen(x)).count();
            let out = call.allocate::<i64>(0, &[from.len(), count])?;
            let chosen = values.iter().enumerate().filter(|(_, x)| is_chosen(x));
            for (i, (position, _)) in chosen.enumerate() {
                let mut rest = position;
                for (axis, &size) in from.iter().enumerate().rev() {
                    out[axis * count + i] = (rest % size) as i64;
                    rest /= size;
                }
            }
            Ok(())
        })
    })
}

pub(crate) fn check_compress(layer: LayerView<'_>, _: &CompressDescriptor) -> Result<()> {
    let data_type = input(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 1, &[&[DataType::Boolean]])?;
    require_output(layer, 0, &[&[data_type]])?;
    require_same_quantization(layer)
}

pub(crate) fn compress_workload(
    layer: LayerView<'_>,
    d: &CompressDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let from = match d.axis() {
        Some(_) => from,
        None => vec![from.iter().product()],
    };
    let axis = d.axis().unwrap_or(0) as usize;
    let conditions: usize = dims(layer, input(layer, 1)?)?.iter().product();
    if from.get(axis).is_none_or(|&size| conditions > size) {
        return Err(invalid(format_args!(
            "{conditions} conditions are too many for dimension {axis} of {from:?}"
        )));
    }
    let bytes = element_size(input(layer, 0)?.data_type())?;
    let slice_len = from[axis + 1..].iter().product::<usize>() * bytes;
    let block_len = from[axis] * slice_len;
    workload_function(layer, 0, move |call| {
        let bytes = call.input_bytes(0)?;
        let condition = call.input::<u8>(1)?;
        let count = condition.iter().filter(|&&c| c != 0).count();
        let mut shape = [0; armnn_backend_api::Shape::MAX_RANK];
        shape[..from.len()].copy_from_slice(&from);
        shape[axis] = count;
        let out = call.allocate_bytes(0, &shape[..from.len()])?;
        if out.is_empty() {
            return Ok(());
        }
        let blocks = bytes
            .chunks_exact(block_len)
            .zip(out.chunks_exact_mut(count * slice_len));
        for (block, out) in blocks {
            let chosen = condition.iter().enumerate().filter(|&(_, &c)| c != 0);
            for (out, (i, _)) in out.chunks_exact_mut(slice_len).zip(chosen) {
                out.copy_from_slice(&block[i * slice_len..][..slice_len]);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, f32s, typed};

    fn non_zero(input: Tensor) -> (Vec<i64>, Vec<i64>) {
        let rank = input.info.shape.rank() as i64;
        let call = Call::new(NonZeroDescriptor::new())
            .input(input)
            .output(DataType::Signed64, [rank, -1]);
        let found = call.run();
        (found.shape(0), found.elements(0))
    }

    #[test]
    fn positions_of_what_is_not_0_are_listed_by_dimension() {
        let input = f32s([2, 3], &[1.0, 0.0, 2.0, -0.0, f32::NAN, 0.0]);
        let positions = vec![0, 0, 1, 0, 2, 1];
        assert_eq!(non_zero(input), (vec![2, 3], positions));
        let booleans = typed(DataType::Boolean, [3], &[0u8, 1, 1]);
        assert_eq!(non_zero(booleans), (vec![1, 2], vec![1, 2]));
        let quantized = typed(DataType::QAsymmS8, [3], &[-5i8, 0, 1])
            .quantized(Quantization::per_tensor(0.5, -5));
        assert_eq!(non_zero(quantized), (vec![1, 2], vec![1, 2]));
        assert_eq!(non_zero(f32s([2, 2], &[0.0; 4])), (vec![2, 0], vec![]));
    }

    fn compressed(axis: Option<u32>, condition: &[u8], out: &[i64]) -> (Vec<i64>, Vec<f32>) {
        let conditions = typed(DataType::Boolean, [condition.len() as i64], condition);
        let call = Call::new(CompressDescriptor::new(axis))
            .input(f32s([3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .input(conditions)
            .output(DataType::Float32, Shape::new(out).unwrap());
        let found = call.run();
        (found.shape(0), found.f32s())
    }

    /// The examples of ONNX's documentation.
    #[test]
    fn slices_are_taken_where_the_condition_is_true() {
        let rows = compressed(Some(0), &[0, 1, 1], &[-1, 2]);
        assert_eq!(rows, (vec![2, 2], vec![3.0, 4.0, 5.0, 6.0]));
        let columns = compressed(Some(1), &[0, 1], &[3, -1]);
        assert_eq!(columns, (vec![3, 1], vec![2.0, 4.0, 6.0]));
        let elements = compressed(None, &[0, 1, 0, 0, 1], &[-1]);
        assert_eq!(elements, (vec![2], vec![2.0, 5.0]));
        let none = compressed(Some(0), &[0, 0], &[-1, 2]);
        assert_eq!(none, (vec![0, 2], vec![]));
    }
}
