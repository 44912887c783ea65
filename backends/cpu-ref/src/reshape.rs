//! Reshape.

use armnn_backend_api::{
    BackendError, ExecutionContext, Inputs, LayerView, Outputs, ReshapeDescriptor, Result,
    Synchronous, Workload,
};

use crate::layer_checks::{
    input, invalid, num_elements, output, refusal, require_same_quantization,
};

pub(crate) fn check(layer: LayerView<'_>, _: &ReshapeDescriptor) -> Result<()> {
    let (from, to) = (input(layer, 0)?.data_type(), output(layer, 0)?.data_type());
    if from != to {
        return Err(refusal(
            layer,
            format_args!("its input is {from}, and its output is {to}"),
        ));
    }
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &ReshapeDescriptor) -> Result<Box<dyn Workload>> {
    let (from, to) = (input(layer, 0)?, output(layer, 0)?);
    if num_elements(layer, from)? != num_elements(layer, to)? {
        return Err(invalid(
            layer,
            format_args!(
                "{} and {} differ in their number of elements",
                from.shape(),
                to.shape()
            ),
        ));
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
