//! STABLEHLO_SORT (<https://openxla.org/stablehlo/spec#sort>).

use armnn_backend_api::{GatherElementsDescriptor, TopKDescriptor};
use armnn_network::{OutputDeclaration, ParameterRule};

use super::context::{Context, axis};
use super::options::Options;
use super::problem::{Problem, Result};
use crate::model::OperatorOptions;
use crate::schema_generated::{
    BuiltinOperator as Op, StablehloCompareOptionsRef, StablehloComparisonDirection as Direction,
    StablehloComparisonType, StablehloSortOptionsRef,
};

/// Operands of one shape, sorted along a dimension by one of them; equal ones keep their order.
pub(super) fn sort(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloSortOptionsRef<'_>>()?;
    let operands = context.inputs()?;
    if context.output_count() != operands.len() {
        return Err(Problem::malformed(format!(
            "{} operands, but {} outputs",
            operands.len(),
            context.output_count()
        )));
    }
    let order = order(context, options.comparator_subgraph_index()?)?;
    let Some(&key) = operands.get(order.operand) else {
        return Err(Problem::malformed("its comparator has more operands"));
    };
    let axis = axis(options.dimension()?, context.shape(key)?.rank())?;
    let count = context.shape_step(key, axis, axis + 1)?;
    let rule = ParameterRule::TopK(TopKDescriptor::new(axis as u32, order.descending));
    let none = OutputDeclaration::default;
    let parameters = [Some(count)];
    if let [_] = operands[..] {
        let declarations = [context.moved(0, key)?, none()];
        return context.emit_all_by_rule(rule, &[Some(key)], &parameters, &declarations);
    }
    let name = context.step_name(0, "TopK")?;
    let declarations = [none(), none()];
    let builder = &mut context.lowering.builder;
    let ids = builder.add_deferred_layer(&name, rule, &[Some(key)], &parameters, &declarations)?;
    let &[_, places] = &ids[..] else {
        return Err(Problem::malformed("TopK without its outputs"));
    };
    for (position, &operand) in operands.iter().enumerate() {
        let gather = GatherElementsDescriptor { axis: axis as u32 };
        let declaration = context.moved(position, operand)?;
        let inputs = [Some(operand), Some(places)];
        context.emit_declared(position, gather, &inputs, declaration)?;
    }
    Ok(())
}

/// By what is sorted.
struct Order {
    /// The operand that is compared.
    operand: usize,
    descending: bool,
}

/// The order that a subgraph of one comparison says: its inputs are two elements of each operand.
fn order(context: &Context<'_, '_, '_>, index: i32) -> Result<Order> {
    let graphs = &context.lowering.shared.model.subgraphs;
    let body = usize::try_from(index)
        .ok()
        .and_then(|index| graphs.get(index));
    let body = body.ok_or_else(|| Problem::malformed("it has no comparator"))?;
    let refused = || Problem::unsupported("a comparator other than one comparison, LT or GT");
    let [operator] = &body.operators[..] else {
        return Err(refused());
    };
    let is_less = match operator.code.known() {
        Some(Op::Less) => true,
        Some(Op::Greater) => false,
        Some(Op::StablehloCompare) => {
            let options = match operator.options {
                OperatorOptions::Second(options) => StablehloCompareOptionsRef::of_second(options),
                _ => None,
            };
            let options = options.ok_or_else(refused)?;
            if options.compare_type()? == StablehloComparisonType::FloatTotalOrder {
                return Err(Problem::unsupported(
                    "a comparator in the total order of floats",
                ));
            }
            match options.comparison_direction()? {
                Direction::Lt => true,
                Direction::Gt => false,
                _ => return Err(refused()),
            }
        }
        _ => return Err(refused()),
    };
    let argument = |position: usize| {
        let tensor = operator.inputs.get(position)?;
        body.inputs.iter().position(|&input| input == tensor)
    };
    let (Some(first), Some(second)) = (argument(0), argument(1)) else {
        return Err(refused());
    };
    let gives_it =
        body.outputs.len() == 1 && operator.outputs.get(0) == body.outputs.first().copied();
    // Arguments 2 i and 2 i + 1 are of operand i.
    if first / 2 != second / 2 || first == second || !gives_it {
        return Err(refused());
    }
    Ok(Order {
        operand: first / 2,
        descending: is_less != (first < second),
    })
}
