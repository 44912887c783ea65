//! Integer arithmetic on shapes, evaluated before anything is executed.

use armnn_backend_api::{DataType, LayerDescriptor, Shape};

use crate::{KnownElements, KnownValue};

/// Whether [`evaluate`] knows the layer.
pub(crate) fn is_evaluated(descriptor: &LayerDescriptor) -> bool {
    matches!(
        descriptor,
        LayerDescriptor::Reshape(_) | LayerDescriptor::Concat(_)
    )
}

/// The outputs of a layer whose inputs are known, or some of their elements; `None` where the layer
/// is not one that models compute shapes with.
///
/// `outputs` are the shapes of the outputs; the data type of an output is `data_type`.
pub(crate) fn evaluate(
    descriptor: &LayerDescriptor,
    inputs: &[Option<&KnownValue>],
    data_type: DataType,
    outputs: &[Shape],
) -> Option<Vec<KnownValue>> {
    let shape = *outputs.first()?;
    if !shape.is_known() {
        return None;
    }
    let input = |index: usize| inputs.get(index).copied().flatten();
    let elements = match descriptor {
        LayerDescriptor::Reshape(_) => input(0)?.elements.clone(),
        LayerDescriptor::Concat(d) if d.axis == 0 && shape.rank() == 1 => {
            let mut all = Vec::new();
            for index in 0..inputs.len() {
                all.extend_from_slice(input(index)?.as_integers()?);
            }
            KnownElements::Integers(all)
        }
        _ => return None,
    };
    let count = usize::try_from(shape.num_elements()?).ok()?;
    (elements.len() == count && count <= KnownValue::MOST_ELEMENTS).then(|| {
        vec![KnownValue {
            data_type,
            shape,
            elements,
        }]
    })
}
