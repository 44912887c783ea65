//! Compress.

use armnn_backend_api::{CompressDescriptor, DataType, LayerView, Result, Shape, Workload};

use crate::{
    copy::element_size,
    element_type::by_size,
    layer_checks::{
        dims, dims_of_rank, input, invalid, output, require_input, require_same_quantization,
    },
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &CompressDescriptor) -> Result<()> {
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 0, &[&[data_type]])?;
    require_input(layer, 1, &[&[DataType::Boolean]])?;
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &CompressDescriptor) -> Result<Box<dyn Workload>> {
    let mut from = dims(layer, input(layer, 0)?)?;
    if d.axis().is_none() {
        from = vec![from.iter().product()];
    }
    let axis = d.axis().unwrap_or(0) as usize;
    let [conditions] = dims_of_rank(layer, input(layer, 1)?)?;
    let Some(&size) = from.get(axis).filter(|&&size| conditions <= size) else {
        return Err(invalid(format_args!(
            "{conditions} conditions are not of slices of {from:?} along dimension {axis}"
        )));
    };
    let slice_len: usize = from[axis + 1..].iter().product();
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let values = call.input::<W>(0)?;
        let condition = call.input::<u8>(1)?;
        let mut to = [0; Shape::MAX_RANK];
        let to = &mut to[..from.len()];
        to.copy_from_slice(&from);
        to[axis] = condition.iter().filter(|&&c| c != 0).count();
        let out = call.allocate::<W>(0, to)?;
        if slice_len == 0 || out.is_empty() {
            return Ok(());
        }
        let mut slices = out.chunks_exact_mut(slice_len);
        for values in values.chunks_exact(size * slice_len) {
            let chosen = values.chunks_exact(slice_len).zip(condition).filter(|(_, c)| **c != 0);
            for (slice, to) in chosen.map(|(slice, _)| slice).zip(&mut slices) {
                to.copy_from_slice(slice);
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::Shape;

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f16s, f32s, typed};

    fn compressed(d: CompressDescriptor, input: Tensor, condition: &[u8], out: &[i64]) -> Call {
        let conditions = typed(DataType::Boolean, [condition.len() as i64], condition);
        Call::new(d)
            .output(input.info.data_type, Shape::new(out).unwrap())
            .input(input)
            .input(conditions)
    }

    #[test]
    fn slices_are_left_out() {
        let input = f32s([3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let rows = CompressDescriptor::new(Some(0));
        let found = compressed(rows, input.clone(), &[0, 1, 1], &[-1, 2]).run();
        assert_eq!(
            (found.shape(0), found.f32s()),
            (vec![2, 2], vec![3.0, 4.0, 5.0, 6.0])
        );
        let columns = CompressDescriptor::new(Some(1));
        let found = compressed(columns, input.clone(), &[0, 1], &[3, -1]).run();
        assert_eq!(
            (found.shape(0), found.f32s()),
            (vec![3, 1], vec![2.0, 4.0, 6.0])
        );
        // What has no condition is left out.
        let flat = CompressDescriptor::new(None);
        let found = compressed(flat, input.clone(), &[0, 1, 0, 0, 1], &[-1]).run();
        assert_eq!((found.shape(0), found.f32s()), (vec![2], vec![2.0, 5.0]));
        let found = compressed(rows, input, &[0], &[-1, 2]).run();
        assert_eq!((found.shape(0), found.f32s()), (vec![0, 2], vec![]));
    }

    #[test]
    fn elements_of_any_size_are_moved() {
        let flat = CompressDescriptor::new(None);
        let found = compressed(flat, f16s([2], &[1.0, 2.0]), &[0, 1], &[-1]).run();
        assert_eq!(found.f16s(), [2.0]);
        let input = typed(DataType::Signed64, [2], &[1i64, 2]);
        let found = compressed(flat, input, &[1, 0], &[-1]).run();
        assert_eq!(found.elements::<i64>(0), [1]);
        // A size that was declared must be the one found.
        let input = typed(DataType::UInt8, [2], &[1u8, 2]);
        let call = compressed(flat, input.clone(), &[1, 0], &[1]);
        assert_eq!(call.run().elements::<u8>(0), [1]);
        let call = compressed(flat, input, &[1, 1], &[1]);
        assert!(
            call.error().contains("the data lead to [2]"),
            "{}",
            call.error()
        );
    }

    #[test]
    fn more_conditions_than_slices_are_an_error() {
        let flat = CompressDescriptor::new(None);
        let call = compressed(flat, f32s([2], &[1.0, 2.0]), &[1; 3], &[-1]);
        assert!(call.error().contains("3 conditions"));
        let call = Call::new(flat)
            .input(f32s([1], &[1.0]))
            .input(f32s([1], &[1.0]))
            .output(DataType::Float32, [-1]);
        assert_refused(&call, &["the type of condition is Float32"]);
    }
}
