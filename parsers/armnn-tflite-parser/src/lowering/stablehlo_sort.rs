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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TfliteParserError;
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestModel, assert_refused, float, floats_constant, load};

    /// `compared` are the comparator's arguments, two of each operand.
    fn sorted(
        operands: &[&[f32]],
        direction: Direction,
        compared: [usize; 2],
    ) -> Result<Vec<Vec<f32>>, TfliteParserError> {
        let mut model = TestModel::default();
        let inputs: Vec<i32> = operands
            .iter()
            .map(|values| model.tensor(floats_constant(&[2, 3], values)))
            .collect();
        let outputs: Vec<i32> = operands
            .iter()
            .map(|_| model.tensor(float(&[2, 3])))
            .collect();
        model.operator(Op::StablehloSort, &inputs, &outputs, None);
        let options = write::StablehloSortOptions {
            dimension: 1,
            is_stable: true,
            comparator_subgraph_index: 1,
        };
        let options = write::BuiltinOptions2::StablehloSortOptions(Box::new(options));
        model.graph.operators.as_mut().unwrap()[0].builtin_options_2 = Some(options);
        outputs.iter().for_each(|&output| model.output(output));
        model.next_subgraph();
        let arguments: Vec<i32> = (0..2 * operands.len())
            .map(|_| model.input(float(&[])))
            .collect();
        let is_less = model.tensor(crate::test_model::typed(
            crate::schema_generated::TensorType::Bool,
            &[],
        ));
        let compared = compared.map(|at| arguments[at]);
        model.operator(Op::StablehloCompare, &compared, &[is_less], None);
        let options = write::StablehloCompareOptions {
            comparison_direction: direction,
            ..write::StablehloCompareOptions::default()
        };
        let options = write::BuiltinOptions2::StablehloCompareOptions(Box::new(options));
        model.graph.operators.as_mut().unwrap()[0].builtin_options_2 = Some(options);
        model.output(is_less);
        let found = load(model.parse()?).run(&[]).unwrap();
        Ok(found
            .iter()
            .map(|x| x.elements::<f32>().unwrap().to_vec())
            .collect())
    }

    #[test]
    fn rows_are_sorted_upwards_or_downwards() {
        let x: &[f32] = &[3., 1., 2., 0., 5., 4.];
        let up = [vec![1., 2., 3., 0., 4., 5.]];
        let down = [vec![3., 2., 1., 5., 4., 0.]];
        assert_eq!(sorted(&[x], Direction::Lt, [0, 1]).unwrap(), up);
        assert_eq!(sorted(&[x], Direction::Gt, [0, 1]).unwrap(), down);
        assert_eq!(sorted(&[x], Direction::Gt, [1, 0]).unwrap(), up);
    }

    /// By the second one; 7 and 8 have equal keys, and keep their order.
    #[test]
    fn operands_are_sorted_by_one_of_them() {
        let x: &[f32] = &[7., 8., 9., 1., 2., 3.];
        let keys: &[f32] = &[5., 5., 4., 3., 1., 2.];
        let found = sorted(&[x, keys], Direction::Lt, [2, 3]).unwrap();
        assert_eq!(found[0], [9., 7., 8., 2., 3., 1.]);
        assert_eq!(found[1], [4., 5., 5., 1., 2., 3.]);
    }

    #[test]
    fn other_comparators_are_refused() {
        let x: &[f32] = &[0.; 6];
        for (direction, compared) in [
            (Direction::Eq, [0, 1]),
            (Direction::Le, [0, 1]),
            (Direction::Lt, [0, 0]),
            (Direction::Lt, [0, 2]),
        ] {
            match sorted(&[x, x], direction, compared) {
                Ok(found) => panic!("{found:?}"),
                Err(error) => assert_refused(Err(error), "a comparator other than one comparison"),
            }
        }
    }
}
