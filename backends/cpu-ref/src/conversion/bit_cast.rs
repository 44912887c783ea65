//! BitCast.

use armnn_backend_api::{BitCastDescriptor, LayerView, Result, Workload};

use crate::workloads::{
    copy::element_size,
    layer_checks::{input, invalid, num_elements, output, refusal},
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &BitCastDescriptor) -> Result<()> {
    let (from, to) = (input(layer, 0)?.data_type(), output(layer, 0)?.data_type());
    if element_size(from)? != element_size(to)? {
        return Err(refusal(format_args!(
            "{from} and {to} are of different sizes"
        )));
    }
    Ok(())
}

pub(crate) fn workload(layer: LayerView<'_>, _: &BitCastDescriptor) -> Result<Box<dyn Workload>> {
    if num_elements(layer, input(layer, 0)?)? != num_elements(layer, output(layer, 0)?)? {
        return Err(invalid("input and output differ in size"));
    }
    workload_function(layer, 0, |call| {
        let bytes = call.input_bytes(0)?;
        let out = call.output_bytes(0)?;
        if !out.is_empty() {
            out.copy_from_slice(bytes);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_refused, f32s};

    #[test]
    fn bytes_stay_what_they_are() {
        let call = Call::new(BitCastDescriptor::new())
            .input(f32s([2], &[1.0, -0.0]))
            .output(DataType::Signed32, [2]);
        assert_eq!(call.run().elements::<i32>(0), [0x3f80_0000, i32::MIN]);
        let call = Call::new(BitCastDescriptor::new())
            .input(f32s([2], &[1.0, -0.0]))
            .output(DataType::Signed64, [2]);
        assert_refused(&call, &["different sizes"]);
    }
}
