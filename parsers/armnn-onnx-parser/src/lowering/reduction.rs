//! Values of all elements along some axes, and Softmax.

use armnn_backend_api::{
    BinaryOperation as Binary, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    ReduceDescriptor, ReduceOperation, ReshapeDescriptor, Shape, SoftmaxDescriptor, UnaryOperation,
};

use super::context::{Context, axis, described, small, sorted_axes};
use super::problem::{Problem, Result};

pub(super) fn reduce(c: &mut Context<'_, '_>, operation: ReduceOperation) -> Result {
    match descriptor(c, operation)? {
        Some(descriptor) => {
            let input = c.input(0)?;
            c.emit(descriptor, &[input])
        }
        None => c.alias(0, 0),
    }
}

/// Reductions that are several layers.
#[derive(Clone, Copy)]
pub(super) enum Composed {
    /// The sum of absolute values.
    L1,
    /// The square root of the sum of squares.
    L2,
    /// The logarithm of the sum.
    LogSum,
    /// The sum of squares.
    SumSquare,
}

pub(super) fn composed(c: &mut Context<'_, '_>, what: Composed) -> Result {
    let Some(sum) = descriptor(c, ReduceOperation::Sum)? else {
        return Err(Problem::unsupported("a reduction along no axes"));
    };
    let input = c.input(0)?;
    let first = match what {
        Composed::L1 => Some(UnaryOperation::Abs),
        Composed::L2 | Composed::SumSquare => Some(UnaryOperation::Square),
        Composed::LogSum => None,
    };
    let last = match what {
        Composed::L2 => Some(UnaryOperation::Sqrt),
        Composed::LogSum => Some(UnaryOperation::Log),
        Composed::L1 | Composed::SumSquare => None,
    };
    let input = match first {
        Some(operation) => c.step(ElementwiseUnaryDescriptor::new(operation), &[input])?,
        None => input,
    };
    match last {
        Some(operation) => {
            let sum = c.step(sum, &[input])?;
            c.emit(ElementwiseUnaryDescriptor::new(operation), &[sum])
        }
        None => c.emit(sum, &[input]),
    }
}

/// The axes are an attribute, and an input since version 18, for ReduceSum since 13. Without any,
/// all are meant, unless that is ruled out: then there is nothing to do.
fn descriptor(
    c: &mut Context<'_, '_>,
    operation: ReduceOperation,
) -> Result<Option<ReduceDescriptor>> {
    let rank = c.input_shape(0)?.rank();
    let keep_dims = c.attributes.flag("keepdims", true)?;
    let axes_are_input = c.version
        >= if c.node.op_type == "ReduceSum" {
            13
        } else {
            18
        };
    let axes = match axes_are_input {
        true => c.optional_integers(1, Shape::MAX_RANK, "the axes")?,
        false => c.attributes.ints("axes")?.map(<[i64]>::to_vec),
    };
    let none_means_none = axes_are_input && c.attributes.flag("noop_with_empty_axes", false)?;
    let axes = match axes.as_deref() {
        None | Some([]) if none_means_none => return Ok(None),
        None | Some([]) => (0..rank).collect(),
        Some(axes) => sorted_axes(axes, rank)?,
    };
    let axes = axes
        .into_iter()
        .map(|axis| small(axis, "an axis"))
        .collect::<Result<Vec<_>>>()?;
    described(ReduceDescriptor::new(operation, &axes, keep_dims)).map(Some)
}

/// Before version 13, along all dimensions from `axis` on together.
pub(super) fn softmax(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let axes = softmax_axes(c, shape)?;
    // Dimensions of size 1 do not matter.
    let mut wide = axes.iter().filter(|&&axis| shape.dims()[axis] != 1);
    let descriptor = |axis: usize| -> Result<SoftmaxDescriptor> {
        Ok(SoftmaxDescriptor {
            beta: 1.0,
            axis: small(axis, "its axis")?,
        })
    };
    let input = c.input(0)?;
    match (wide.next(), wide.next(), axes.first()) {
        (Some(&axis), None, _) | (None, _, Some(&axis)) => c.emit(descriptor(axis)?, &[input]),
        (_, _, Some(&first)) => {
            let size = shape.dims()[first..]
                .iter()
                .try_fold(1i64, |n, &dim| n.checked_mul(dim).filter(|n| *n >= 0));
            let size = size.ok_or_else(|| {
                Problem::unsupported(format!(
                    "Softmax over several dimensions of {shape}; give the model fixed input shapes"
                ))
            })?;
            let mut dims = shape.dims()[..first].to_vec();
            dims.push(size);
            let flat = c.reshape_step(input, &dims)?;
            let soft = c.step(descriptor(first)?, &[flat])?;
            let mut declaration = c.declaration(0)?;
            declaration.shape = Some(shape);
            c.emit_declared(ReshapeDescriptor::new(), &[soft], declaration)
        }
        _ => Err(Problem::malformed(format!("its input is {shape}"))),
    }
}

/// x - m - log(sum(e^(x - m))), with m the largest along the axes: e^x does not overflow, and no
/// logarithm is taken of 0.
pub(super) fn log_softmax(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let axes = softmax_axes(c, shape)?
        .into_iter()
        .map(|axis| small(axis, "its axis"))
        .collect::<Result<Vec<_>>>()?;
    let reduce =
        |operation: ReduceOperation| described(ReduceDescriptor::new(operation, &axes, true));
    let subtract = ElementwiseBinaryDescriptor::new(Binary::Sub);
    let input = c.input(0)?;
    let largest = c.step(reduce(ReduceOperation::Max)?, &[input])?;
    let shifted = c.step(subtract, &[input, largest])?;
    let exp = c.step(
        ElementwiseUnaryDescriptor::new(UnaryOperation::Exp),
        &[shifted],
    )?;
    let sum = c.step(reduce(ReduceOperation::Sum)?, &[exp])?;
    let log = c.step(ElementwiseUnaryDescriptor::new(UnaryOperation::Log), &[sum])?;
    c.emit(subtract, &[shifted, log])
}

/// The dimensions along which outputs add up to 1.
fn softmax_axes(c: &Context<'_, '_>, shape: Shape) -> Result<Vec<usize>> {
    let rank = shape.rank();
    if c.version >= 13 {
        return Ok(vec![axis(c.attributes.int("axis", -1)?, rank)?]);
    }
    let from = axis(c.attributes.int("axis", 1)?, rank)?;
    Ok((from..rank).collect())
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{LayerDescriptor, LayerType as L};

    use super::*;
    use crate::test_model::{
        assert_refused, descriptors, int, ints, list, output_dims, single, types,
    };

    #[test]
    fn axes_are_an_attribute_first_and_an_input_later() {
        let expected = |keep| ReduceDescriptor::new(ReduceOperation::Mean, &[0, 2], keep).unwrap();
        let old = single(13, "ReduceMean", &[2, 3, 4], &[], &[list("axes", &[-1, 0])]).unwrap();
        assert_eq!(descriptors(&old), [expected(true).into()]);
        let axes = [ints("a", &[0, 2])];
        let new = single(18, "ReduceMean", &[2, 3, 4], &axes, &[int("keepdims", 0)]).unwrap();
        assert_eq!(descriptors(&new), [expected(false).into()]);
        assert_eq!(output_dims(&new), [3]);
        // For the sum already since version 13.
        let sum = single(13, "ReduceSum", &[2, 3], &[ints("a", &[1])], &[]).unwrap();
        assert_eq!(output_dims(&sum), [2, 1]);
        let early = single(
            13,
            "ReduceMean",
            &[2],
            &[],
            &[int("noop_with_empty_axes", 1)],
        );
        assert_refused(early, "\"noop_with_empty_axes\", which is not known here");
    }

    #[test]
    fn no_axes_are_all_or_none() {
        let all = single(18, "ReduceMax", &[2, 3], &[], &[]).unwrap();
        assert_eq!(output_dims(&all), [1, 1]);
        let none = single(
            18,
            "ReduceMax",
            &[2, 3],
            &[],
            &[int("noop_with_empty_axes", 1)],
        )
        .unwrap();
        assert!(types(&none).is_empty());
    }

    #[test]
    fn softmax_is_along_one_axis_or_all_from_it_on() {
        let softmax = |opset, dims: &[i64], attributes: &[_]| {
            single(opset, "Softmax", dims, &[], attributes).unwrap()
        };
        let along = |network: &armnn_network::Network| match &descriptors(network)[..] {
            [LayerDescriptor::Softmax(d)] => d.axis,
            other => panic!("{other:?}"),
        };
        assert_eq!(along(&softmax(13, &[2, 3, 4], &[])), 2);
        assert_eq!(along(&softmax(13, &[2, 3, 4], &[int("axis", 1)])), 1);
        assert_eq!(along(&softmax(9, &[2, 3], &[])), 1);
        // Behind the axis everything is 1.
        assert_eq!(along(&softmax(9, &[1, 1000, 1, 1], &[])), 1);
        let flat = softmax(9, &[2, 3, 4], &[]);
        assert_eq!(types(&flat), [L::Reshape, L::Softmax, L::Reshape]);
        assert_eq!(output_dims(&flat), [2, 3, 4]);
        let log = single(13, "LogSoftmax", &[2, 3], &[], &[]).unwrap();
        assert_eq!(types(&log).len(), 6);
    }
}
