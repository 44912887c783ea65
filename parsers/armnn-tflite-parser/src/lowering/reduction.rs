//! Values of whole dimensions: SUM, MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, SOFTMAX.

use armnn_backend_api::{DataType, ReduceDescriptor, ReduceOperation, SoftmaxDescriptor};
use armnn_network::{ParameterRule, ReduceOptions};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use crate::schema_generated::{ReducerOptionsRef, SoftmaxOptionsRef};

/// The axes are a constant, in any order; an axis may be named twice, and without axes each element
/// is a value of its own.
pub(super) fn reduce(context: &mut Context<'_, '_, '_>, operation: ReduceOperation) -> Result {
    let keep_dims = context.options::<ReducerOptionsRef<'_>>()?.keep_dims()?;
    let input = context.input(0)?;
    let operation = match context.info(input)?.data_type {
        DataType::Boolean => of_booleans(operation),
        _ => operation,
    };
    if !context.is_known(1) {
        let axes = context.input(1)?;
        let declaration = context.declaration(0)?;
        let options = ReduceOptions {
            keep_dims,
            none_without_axes: true,
            may_repeat: true,
        };
        let rule = ParameterRule::Reduce { operation, options };
        return context.emit_by_rule(0, rule, &[Some(input)], &[Some(axes)], declaration);
    }
    let rank = context.shape(input)?.rank();
    let mut axes = Vec::new();
    for named in context.integers(1, 64, "the axes")? {
        axes.push(axis(named, rank)? as u32);
    }
    axes.sort_unstable();
    axes.dedup();
    let descriptor = described(ReduceDescriptor::new(operation, &axes, keep_dims))?;
    context.emit(descriptor, &[Some(input)])
}

/// True is the larger of the two, and as a factor 1.
fn of_booleans(operation: ReduceOperation) -> ReduceOperation {
    match operation {
        ReduceOperation::Max => ReduceOperation::Any,
        ReduceOperation::Min | ReduceOperation::Prod => ReduceOperation::All,
        other => other,
    }
}

/// Along the last dimension.
pub(super) fn softmax(context: &mut Context<'_, '_, '_>) -> Result {
    let beta = context.options::<SoftmaxOptionsRef<'_>>()?.beta()?;
    let input = context.input(0)?;
    let Some(last) = context.shape(input)?.rank().checked_sub(1) else {
        return Err(Problem::unsupported("SOFTMAX of a scalar"));
    };
    let descriptor = SoftmaxDescriptor {
        beta,
        axis: last as u32,
    };
    context.emit(descriptor, &[Some(input)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{assert_refused, descriptors, float, ints, lower, outputs, typed};
    use armnn_backend_api::LayerDescriptor;

    fn keep_dims(keep_dims: bool) -> write::BuiltinOptions {
        write::BuiltinOptions::ReducerOptions(Box::new(write::ReducerOptions { keep_dims }))
    }

    #[test]
    fn axes_count_from_the_end_come_in_any_order_and_may_repeat() {
        let inputs = [float(&[2, 3, 4, 5]), ints(&[-1, 1, 3])];
        let network = lower(Op::Mean, &inputs, &[float(&[2, 4])], keep_dims(false)).unwrap();
        let expected = ReduceDescriptor::new(ReduceOperation::Mean, &[1, 3], false).unwrap();
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        assert_eq!(outputs(&network), ["Float32[2, 4]"]);
    }

    #[test]
    fn each_reduction_has_its_operation() {
        use ReduceOperation as R;
        for (operator, operation) in [
            (Op::Sum, R::Sum),
            (Op::Mean, R::Mean),
            (Op::ReduceMax, R::Max),
            (Op::ReduceMin, R::Min),
            (Op::ReduceProd, R::Prod),
        ] {
            let inputs = [float(&[2, 3]), ints(&[1]).shaped(&[])];
            let network = lower(operator, &inputs, &[float(&[2, 1])], keep_dims(true)).unwrap();
            let expected = ReduceDescriptor::new(operation, &[1], true).unwrap();
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn true_is_the_larger_of_the_booleans() {
        use ReduceOperation as R;
        for (operator, operation) in [
            (Op::ReduceMax, R::Any),
            (Op::ReduceMin, R::All),
            (Op::ReduceProd, R::All),
        ] {
            let inputs = [typed(TensorType::Bool, &[2, 3]), ints(&[1])];
            let output = typed(TensorType::Bool, &[2]);
            let network = lower(operator, &inputs, &[output], keep_dims(false)).unwrap();
            let expected = ReduceDescriptor::new(operation, &[1], false).unwrap();
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn no_axes_reduce_nothing() {
        let inputs = [float(&[2, 3]), ints(&[])];
        let network = lower(Op::Sum, &inputs, &[float(&[2, 3])], None).unwrap();
        let expected = ReduceDescriptor::new(ReduceOperation::Sum, &[], false).unwrap();
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn an_axis_that_is_not_there_is_damage() {
        for axis in [2, -3, i32::MAX, i32::MIN] {
            let inputs = [float(&[2, 3]), ints(&[axis])];
            let refused = lower(Op::Sum, &inputs, &[float(&[2])], None);
            assert_refused(refused, &format!("(SUM): axis {axis} of 2 dimensions"));
        }
    }

    #[test]
    fn softmax_is_along_the_last_dimension() {
        let options = write::SoftmaxOptions { beta: 0.5 };
        let options = write::BuiltinOptions::SoftmaxOptions(Box::new(options));
        let network = lower(
            Op::Softmax,
            &[float(&[2, 3, 4])],
            &[float(&[2, 3, 4])],
            options,
        );
        let expected = SoftmaxDescriptor { beta: 0.5, axis: 2 };
        assert_eq!(
            descriptors(&network.unwrap()),
            [&LayerDescriptor::from(expected)]
        );
    }
}
