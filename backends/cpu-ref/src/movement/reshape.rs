//! Reshape.

use armnn_backend_api::{
    BackendError, ExecutionContext, Inputs, LayerView, Outputs, ReshapeDescriptor, Result,
    Synchronous, Workload,
};

use crate::workloads::layer_checks::{
    input, invalid, num_elements, output, refusal, require_same_quantization,
};

pub(crate) fn check(layer: LayerView<'_>, _: &ReshapeDescriptor) -> Result<()> {
    let (from, to) = (input(layer, 0)?.data_type(), output(layer, 0)?.data_type());
    if from != to {
        return Err(refusal(format_args!(
            "its input is {from}, and its output is {to}"
        )));
    }
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &ReshapeDescriptor) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    if num_elements(layer, from)? != num_elements(layer, to)? {
        return Err(invalid(format_args!(
            "{} and {} differ in their number of elements",
            from.shape(),
            to.shape()
        )));
    }
    Ok(Box::new(Reshape))
}

/// Copies all bytes, of whatever type.
struct Reshape;

impl Workload for Reshape {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let from = inputs.elements::<u8>(0)?;
        let to = outputs.elements_mut::<u8>(0)?;
        if from.len() != to.len() {
            return Err(BackendError::invalid_argument(format!(
                "Reshape: the input has {} bytes, and the output {}",
                from.len(),
                to.len()
            )));
        }
        to.copy_from_slice(from);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, assert_refused, f32s, typed};

    #[test]
    fn elements_stay_in_order() {
        let call = Call::new(ReshapeDescriptor::new())
            .input(f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .output(DataType::Float32, [3, 1, 2]);
        assert_eq!(call.run().f32s(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let call = Call::new(ReshapeDescriptor::new())
            .input(f32s(Shape::SCALAR, &[1.0]))
            .output(DataType::Float32, [1, 1]);
        assert_eq!(call.run().f32s(), [1.0]);
    }

    #[test]
    fn elements_below_a_byte_are_taken_too() {
        let call = Call::new(ReshapeDescriptor::new())
            .input(typed(DataType::Int4, [3], &[0x21u8, 0x03]))
            .output(DataType::Int4, [1, 3]);
        assert_eq!(call.run().elements::<u8>(0), [0x21, 0x03]);
    }

    #[test]
    fn another_type_is_refused_and_another_size_is_an_error() {
        let call = |data_type, shape: [i64; 1]| {
            let input = f32s([2], &[0.0; 2]);
            Call::new(ReshapeDescriptor::new())
                .input(input)
                .output(data_type, shape)
        };
        assert_refused(&call(DataType::Float16, [2]), &["Float32", "Float16"]);
        assert!(call(DataType::Float32, [3]).error().contains("[2] and [3]"));
    }
}
