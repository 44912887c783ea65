//! StandIn layers: for operators that are not known, and in place of nodes that were refused.

use armnn_backend_api::{LayerDescriptor, StandInDescriptor};
use armnn_network::OutputDeclaration;
use prost::Message as _;

use super::State;
use super::context::Context;
use super::problem::{Problem, Result};
use super::tensor_info::tensor_info;
use crate::error::cut;
use crate::proto::NodeProto;

/// The domain of a StandIn for one of ONNX's own operators.
const DOMAIN: &str = "ai.onnx";

/// An operator that is not known as a StandIn.
pub(super) fn lower(c: &mut Context<'_, '_>) -> Result {
    let attributes = NodeProto {
        attribute: c.node.attributes.clone(),
        ..NodeProto::default()
    }
    .encode_to_vec();
    let cost = c.node.op_type.len() + c.node.domain.len() + attributes.len();
    let left = c.lowering.shared.copy_budget.checked_sub(cost);
    c.lowering.shared.copy_budget = left.ok_or_else(|| {
        Problem::malformed(
            "functions use the same attributes over and over: copied out, they would be more than \
             four times the file's size",
        )
    })?;
    let inputs = (0..c.input_count())
        .map(|position| c.optional_input(position))
        .collect::<Result<Vec<_>>>()?;
    let mut declarations = Vec::new();
    for index in &c.node.outputs {
        let value = index.map(|index| &c.lowering.graph.values[index]);
        let info =
            tensor_info(value.and_then(|value| value.value_type.as_ref())).map_err(|problem| {
                match value {
                    Some(value) => super::in_value(problem, value),
                    None => Problem::unsupported("an output that is left out before others"),
                }
            })?;
        declarations.push(OutputDeclaration::from(info));
    }
    let version = u32::try_from(c.version)
        .map_err(|_| Problem::malformed(format!("its version is {}", c.version)))?;
    let domain = match c.node.domain.as_str() {
        "" => DOMAIN,
        domain => domain,
    };
    let descriptor = StandInDescriptor::new(domain, &c.node.op_type, version, &attributes)
        .ok_or_else(|| Problem::unsupported("attributes beyond 4 GiB"))?;
    c.emit_all(LayerDescriptor::StandIn(descriptor), &inputs, &declarations)
}

/// Gives the outputs of a node that was refused the types and shapes that the file says, so that the
/// nodes after it can be looked at.
pub(super) fn replace(c: &mut Context<'_, '_>) {
    for index in c.node.outputs.iter().flatten() {
        if !matches!(c.lowering.states[*index], State::Pending) {
            continue;
        }
        let value = &c.lowering.graph.values[*index];
        // What is wrong with a declaration hides behind what has been said.
        let id = tensor_info(value.value_type.as_ref())
            .ok()
            .and_then(|info| {
                let descriptor = StandInDescriptor::new(DOMAIN, "", 0, &[])?;
                let builder = &mut c.lowering.builder;
                let added = builder.add_stand_in_layer(descriptor, &[], &[info], cut(&value.name));
                added.ok()?.first().copied()
            });
        c.lowering.states[*index] = id.map_or(State::Refused, State::Ready);
    }
}
