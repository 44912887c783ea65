//! Select.

use armnn_backend_api::{DataType, LayerView, Result, SelectDescriptor, Workload};

use crate::{
    loops::loop_nest::{LoopNest, broadcast_strides, dense_strides},
    numbers::element_type::by_size,
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, input_role, invalid, output, require_input, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &SelectDescriptor) -> Result<()> {
    require_input(layer, 0, &[&[DataType::Boolean]])?;
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 1, &[&[data_type]])?;
    require_input(layer, 2, &[&[data_type]])?;
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &SelectDescriptor) -> Result<Box<dyn Workload>> {
    let to = dims(layer, output(layer, 0)?)?;
    let strides = |position| {
        let tensor = input(layer, position)?;
        broadcast_strides(&dims(layer, tensor)?, &to).ok_or_else(|| {
            invalid(format_args!(
                "{} of shape {} does not broadcast to the output's {}",
                input_role(layer.layer_type(), position),
                tensor.shape(),
                layer.output(0).shape()
            ))
        })
    };
    let (condition, x, y) = (strides(0)?, strides(1)?, strides(2)?);
    let out = dense_strides(&to);
    let nest = LoopNest::new(&to, [&condition, &x, &y, &out], [0; 4]);
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let condition = call.input::<u8>(0)?;
        let (x, y) = (call.input::<W>(1)?, call.input::<W>(2)?);
        select(&nest, condition, x, y, call.output(0)?);
        Ok(())
    }))
}

/// The nest's operands are the condition, `x`, `y` and `out`.
fn select<W: Copy>(nest: &LoopNest<4>, condition: &[u8], x: &[W], y: &[W], out: &mut [W]) {
    let strides = nest.row_strides();
    nest.for_each_row(|mut at| {
        for _ in 0..nest.row_len() {
            out[at[3]] = if condition[at[0]] != 0 {
                x[at[1]]
            } else {
                y[at[2]]
            };
            for (at, stride) in at.iter_mut().zip(strides) {
                *at = at.wrapping_add_signed(stride);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::Quantization;

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f32s, typed};

    fn selected(condition: Tensor, x: Tensor, y: Tensor, out: &[i64]) -> Call {
        let shape = armnn_backend_api::Shape::new(out).unwrap();
        let mut info = x.info.clone();
        info.shape = shape;
        Call::new(SelectDescriptor::new())
            .input(condition)
            .input(x)
            .input(y)
            .output_info(info)
    }

    #[test]
    fn each_element_is_one_of_two() {
        let condition = typed(DataType::Boolean, [2, 1], &[1u8, 0]);
        let x = f32s([3], &[1.0, 2.0, 3.0]);
        let y = f32s([], &[-1.0]);
        let found = selected(condition.clone(), x, y, &[2, 3]).run().f32s();
        assert_eq!(found, [1.0, 2.0, 3.0, -1.0, -1.0, -1.0]);
        let x = typed(DataType::Boolean, [2, 1], &[1u8, 1]);
        let y = typed(DataType::Boolean, [2, 1], &[0u8, 0]);
        let found = selected(condition, x, y, &[2, 1]).run().elements::<u8>(0);
        assert_eq!(found, [1, 0]);
        let empty = typed::<u8>(DataType::Boolean, [0], &[]);
        let [x, y] = [f32s([1], &[1.0]), f32s([1], &[2.0])];
        assert!(selected(empty, x, y, &[0]).run().f32s().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let condition = typed(DataType::Boolean, [1], &[1u8]);
        let [x, y] = [f32s([1], &[1.0]), f32s([1], &[2.0])];
        let call = selected(x.clone(), x.clone(), y.clone(), &[1]);
        assert_refused(&call, &["the type of condition is Float32"]);
        let quantized = |scale| {
            typed(DataType::QAsymmS8, [1], &[1i8]).quantized(Quantization::per_tensor(scale, 0))
        };
        let call = selected(condition.clone(), quantized(0.5), quantized(0.25), &[1]);
        assert_refused(&call, &["differ in scale"]);
        let two = typed(DataType::Boolean, [2], &[1u8, 0]);
        let call = selected(two, x, y, &[3]);
        assert!(call.error().contains("does not broadcast"));
    }
}
