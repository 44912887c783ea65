//! StandIn layers: for custom operators, and in place of operators that were refused.

use armnn_backend_api::{StandInDescriptor, TensorInfo};
use armnn_network::OutputDeclaration;

use super::context::Context;
use super::cut;
use super::problem::{Problem, Result};
use super::subgraph::Value;
use super::tensor_info::has_shape;
use crate::model::Model;

/// The domain of StandIn layers.
const DOMAIN: &str = "tflite";

/// How many bytes of names and options the StandIn layers of a model may copy. Operators may share
/// them in the file; real ones hardly do.
pub(super) fn budget(model: &Model<'_>) -> usize {
    model.file_len().saturating_mul(4).saturating_add(64 << 10)
}

/// A custom operator as a StandIn.
pub(super) fn lower(context: &mut Context<'_, '_, '_>) -> Result {
    let code = context.operator.code;
    let attributes = context.operator.custom_options.clone().unwrap_or_default();
    let cost = code.custom.len().saturating_add(attributes.len());
    let left = context.lowering.shared.stand_in_budget.checked_sub(cost);
    context.lowering.shared.stand_in_budget = left.ok_or_else(|| {
        Problem::malformed(
            "the same custom options are used over and over: copied out, they would be more than \
             four times the file's size",
        )
    })?;
    let inputs = (0..context.input_count())
        .map(|position| context.optional_input(position))
        .collect::<Result<Vec<_>>>()?;
    let declarations = (0..context.output_count())
        .map(|position| {
            let declaration = context.declaration(position)?;
            Ok(OutputDeclaration {
                shape: context.declared_shape(position)?,
                ..declaration
            })
        })
        .collect::<Result<Vec<OutputDeclaration>>>()?;
    let version = u32::try_from(code.version)
        .map_err(|_| Problem::malformed(format!("its version is {}", code.version)))?;
    let descriptor = StandInDescriptor::new(DOMAIN, &code.name(), version, &attributes)
        .ok_or_else(|| Problem::unsupported("custom options beyond 4 GiB"))?;
    context.emit_all(
        armnn_backend_api::LayerDescriptor::StandIn(descriptor),
        &inputs,
        &declarations,
    )
}

/// Gives the outputs of an operator that was refused the types and shapes that the file says, so
/// that the operators after it can be looked at.
pub(super) fn replace(context: &mut Context<'_, '_, '_>) -> Result {
    for position in 0..context.output_count() {
        let Some(index) = context.operator.outputs.get(position) else {
            continue;
        };
        if context.lowering.values[index] != Value::Pending {
            continue;
        }
        // What is wrong with a declaration has been said, or hides behind what has been.
        let id = context.declared_info(position).ok().and_then(|info| {
            let descriptor = StandInDescriptor::new(DOMAIN, "", 0, &[])?;
            let name = cut(context.lowering.graph.tensors[index].name);
            let added = context
                .lowering
                .builder
                .add_stand_in_layer(descriptor, &[], &[info], name);
            added.ok()?.first().copied()
        });
        context.lowering.values[index] = id.map_or(Value::Refused, Value::Ready);
    }
    Ok(())
}

impl Context<'_, '_, '_> {
    /// What the file says of an output, if it says all.
    fn declared_info(&self, position: usize) -> Result<TensorInfo> {
        let tensor = self.output_tensor(position)?;
        if has_shape(tensor) {
            super::tensor_info(tensor)
        } else {
            Err(Problem::Unavailable)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::TfliteParserOptions;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::test_model::{TestModel, assert_refused, descriptors, float, typed};
    use armnn_backend_api::{LayerDescriptor, StandInRef};

    fn with_custom_operator() -> TestModel {
        let mut model = TestModel::default();
        let input = model.input(float(&[3]));
        let output = model.tensor(float(&[5]));
        model.custom("Signal", &[input, -1], &[output], &[1, 2, 3]);
        model.output(output);
        model
    }

    fn stand_ins() -> TfliteParserOptions {
        TfliteParserOptions {
            stand_in_layer_for_custom: true,
            ..TfliteParserOptions::default()
        }
    }

    #[test]
    fn a_custom_operator_is_an_error_unless_a_stand_in_is_asked_for() {
        let model = with_custom_operator();
        assert_refused(
            model.parse(),
            "operators that are not supported: Signal (custom, version 1, once, first at operator 0)",
        );
        let network = model.parse_with(stand_ins()).unwrap();
        let [LayerDescriptor::StandIn(descriptor)] = descriptors(&network)[..] else {
            panic!("{:?}", descriptors(&network));
        };
        let expected = StandInRef {
            domain: "tflite",
            name: "Signal",
            version: 1,
            attributes: &[1, 2, 3],
        };
        assert_eq!(descriptor.get(), expected);
        assert_eq!(crate::test_model::outputs(&network), ["Float32[5]"]);
    }

    #[test]
    fn a_builtin_operator_without_layers_is_an_error_all_the_same() {
        let mut model = TestModel::default();
        let input = model.input(float(&[3]));
        let output = model.tensor(float(&[3]));
        model.operator(Op::SkipGram, &[input], &[output], None);
        model.output(output);
        assert_refused(model.parse_with(stand_ins()), "SKIP_GRAM (version 1, once");
    }

    #[test]
    fn a_stand_in_does_not_make_up_for_a_type_that_there_is_not() {
        let mut model = TestModel::default();
        let input = model.input(float(&[3]));
        let output = model.tensor(typed(TensorType::String, &[3]));
        model.custom("Signal", &[input], &[output], &[]);
        model.output(output);
        assert_refused(
            model.parse_with(stand_ins()),
            "operator 0 (Signal): tensor 1 \"t1\": elements of tensor type STRING",
        );
    }

    #[test]
    fn options_that_many_operators_share_are_not_copied_without_end() {
        // 20 kB of options for each of 200 operators.
        let mut model = TestModel::default();
        let mut value = model.input(float(&[3]));
        let mut options = vec![7; 20_000];
        for number in 0..200 {
            let next = model.tensor(float(&[3]));
            options[0] = number;
            model.custom("Signal", &[value], &[next], &options);
            value = next;
        }
        model.output(value);
        model.parse_with(stand_ins()).unwrap();
        // All of them the same bytes of the file.
        let shared = model.bytes_sharing_options(&options);
        assert!(shared.len() < 100_000);
        let parser = crate::TfliteParser::with_options(stand_ins());
        assert_refused(parser.parse_bytes(shared.into(), "m"), "over and over");
    }
}
