//! Values of all elements along some axes, and Softmax.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, BinaryOperation, CumulativeDescriptor,
    CumulativeOperation, DataType, LogSoftmaxDescriptor, ReduceOperation, SoftmaxDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, ReduceOptions, TensorId};

use super::context::{Context, axis, small};
use super::problem::{Problem, Result};

/// The axes are an attribute, and an input since version 18, for ReduceSum since 13. Without any,
/// all are meant, unless that is ruled out: then nothing is reduced, but each element for itself.
pub(super) fn reduce(c: &mut Context<'_, '_>, operation: ReduceOperation) -> Result {
    let keep_dims = c.attributes.flag("keepdims", true)?;
    let axes_are_input = c.version
        >= if c.node.op_type == "ReduceSum" {
            13
        } else {
            18
        };
    let axes = match axes_are_input {
        true => c.optional_input(1)?,
        false => match c.attributes.ints("axes")? {
            Some(axes) => Some(c.integers(axes)?),
            None => None,
        },
    };
    let none_without_axes = axes_are_input && c.attributes.flag("noop_with_empty_axes", false)?;
    let is_empty = match axes {
        Some(axes) => c.shape(axes)?.dims().contains(&0),
        None => true,
    };
    if none_without_axes && is_empty {
        return alone(c, operation);
    }
    let input = c.input(0)?;
    // Booleans are compared by their logical operations.
    let operation = match (c.info(input)?.data_type, operation) {
        (DataType::Boolean, ReduceOperation::Max) => ReduceOperation::Any,
        (DataType::Boolean, ReduceOperation::Min) => ReduceOperation::All,
        (_, operation) => operation,
    };
    let options = ReduceOptions {
        keep_dims,
        none_without_axes,
        may_repeat: false,
    };
    let axes = if is_empty { None } else { axes };
    let data_type = c.info(input)?.data_type;
    if let ReduceOperation::L2 | ReduceOperation::LogSum | ReduceOperation::LogSumExp = operation
        && !data_type.is_float()
    {
        // Real numbers of integers, whose whole part is left.
        let real = c.cast(input, DataType::Float64)?;
        let rule = ParameterRule::Reduce { operation, options };
        let reduced = c.step_deferred(rule, &[real], &[axes])?;
        let output = c.last().cast(reduced, data_type)?;
        return c.bind_tensor(0, output);
    }
    c.emit_deferred(
        ParameterRule::Reduce { operation, options },
        &[input],
        &[axes],
    )
}

/// A reduction over no axes: of each element by itself.
fn alone(c: &mut Context<'_, '_>, operation: ReduceOperation) -> Result {
    use armnn_backend_api::UnaryOperation as Unary;
    let unary = match operation {
        ReduceOperation::SumSquare => Unary::Square,
        ReduceOperation::L1 | ReduceOperation::L2 => Unary::Abs,
        ReduceOperation::LogSum => Unary::Log,
        _ => return c.alias(0, 0),
    };
    let input = c.input(0)?;
    let output = c.last().unary(unary, input)?;
    c.bind_tensor(0, output)
}

/// Before version 13, along all dimensions from `axis` on together.
pub(super) fn softmax(c: &mut Context<'_, '_>) -> Result {
    let descriptor = |axis| SoftmaxDescriptor { beta: 1.0, axis };
    along_softmax_axes(c, |c, x, axis| c.step(descriptor(axis), &[x]))
}

pub(super) fn log_softmax(c: &mut Context<'_, '_>) -> Result {
    let descriptor = |axis| LogSoftmaxDescriptor { beta: 1.0, axis };
    if c.input_type(0)? != DataType::Float64 {
        return along_softmax_axes(c, |c, x, axis| c.step(descriptor(axis), &[x]));
    }
    // In Float64, less the logarithm of the sum.
    along_softmax_axes(c, |c, x, axis| {
        let is_last = std::mem::take(&mut c.is_last);
        let axis = axis as usize;
        let sum = c.reduce(ReduceOperation::LogSumExp, x, &[axis], true)?;
        c.is_last = is_last;
        c.binary(BinaryOperation::Sub, x, sum)
    })
}

/// 1 at the first of the largest elements, else 0.
pub(super) fn hardmax(c: &mut Context<'_, '_>) -> Result {
    along_softmax_axes(c, |c, x, axis| {
        let is_last = std::mem::take(&mut c.is_last);
        let (shape, data_type) = (c.shape(x)?, c.info(x)?.data_type);
        let largest = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, axis, false);
        let place = c.step_declared(
            largest,
            &[x],
            OutputDeclaration::of_type(DataType::Signed64),
        )?;
        let (one, zero) = (
            c.number(data_type, &[], &[1.0])?,
            c.number(data_type, &[], &[0.0])?,
        );
        let along = usize::try_from(axis).unwrap_or(0);
        if shape.rank() == 0 {
            return Err(Problem::malformed("its input is a scalar"));
        }
        let depth = c.shape_step(x, along, along + 1)?;
        c.is_last = is_last;
        c.step_deferred(
            ParameterRule::OneHot {
                axis: axis.into(),
                wrap_negative: false,
            },
            &[place, one, zero],
            &[Some(depth)],
        )
    })
}

/// Applies something along the axis, or along all from it on as one.
fn along_softmax_axes(
    c: &mut Context<'_, '_>,
    layer: impl Fn(&mut Context<'_, '_>, TensorId, u32) -> Result<TensorId>,
) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let rank = shape.rank();
    if rank == 0 {
        // One number, along an axis of size 1.
        c.attributes.ignore("axis");
        let list = c.merge_step(input, &[vec![]])?;
        let output = layer(c, list, 0)?;
        let output = c.last().merge_step(output, &[])?;
        return c.bind_tensor(0, output);
    }
    let axes: Vec<usize> = if c.version >= 13 {
        vec![axis(c.attributes.int("axis", -1)?, rank)?]
    } else {
        (axis(c.attributes.int("axis", 1.min(rank as i64 - 1))?, rank)?..rank).collect()
    };
    // Dimensions of size 1 do not matter.
    let mut wide = axes.iter().filter(|&&axis| shape.dims()[axis] != 1);
    match (wide.next(), wide.next(), axes.first()) {
        (Some(&axis), None, _) | (None, _, Some(&axis)) => {
            let axis = small(axis, "its axis")?;
            c.is_last = true;
            let output = layer(c, input, axis)?;
            c.bind_tensor(0, output)
        }
        (_, _, Some(&first)) => {
            let groups: Vec<Vec<usize>> = (0..first)
                .map(|axis| vec![axis])
                .chain([(first..rank).collect()])
                .collect();
            let flat = c.merge_step(input, &groups)?;
            let soft = layer(c, flat, small(first, "its axis")?)?;
            let dims = c.shape_step(input, 0, rank)?;
            let rule = ParameterRule::Reshape { allow_zero: true };
            c.emit_deferred(rule, &[soft], &[Some(dims)])
        }
        _ => Err(Problem::malformed(format!("its input is {shape}"))),
    }
}

pub(super) fn arg_min_max(c: &mut Context<'_, '_>, function: ArgMinMaxFunction) -> Result {
    let input = c.input(0)?;
    let along = axis(c.attributes.int("axis", 0)?, c.shape(input)?.rank())?;
    let keep_dims = c.attributes.flag("keepdims", true)?;
    let base = ArgMinMaxDescriptor::new(function, small(along, "its axis")?, keep_dims);
    let descriptor = ArgMinMaxDescriptor {
        select_last_index: c.attributes.flag("select_last_index", false)?.into(),
        ..base
    };
    let mut declaration = c.declaration(0)?;
    declaration.data_type = Some(DataType::Signed64);
    c.emit_declared(descriptor, &[input], declaration)
}

pub(super) fn cumulative(c: &mut Context<'_, '_>, operation: CumulativeOperation) -> Result {
    let descriptor = CumulativeDescriptor {
        exclusive: c.attributes.flag("exclusive", false)?.into(),
        reverse: c.attributes.flag("reverse", false)?.into(),
        ..CumulativeDescriptor::new(operation, 0)
    };
    let (input, axis) = (c.input(0)?, c.input(1)?);
    c.emit_deferred(
        ParameterRule::Cumulative(descriptor),
        &[input],
        &[Some(axis)],
    )
}

/// The values and places of the largest or smallest elements. How many is an attribute before
/// version 10, and an input since.
pub(super) fn top_k(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let along = axis(c.attributes.int("axis", -1)?, rank)?;
    let largest = c.version < 11 || c.attributes.flag("largest", true)?;
    if c.version >= 11 {
        // In order or not: they are in order.
        c.attributes.ignore("sorted");
    }
    let count = match c.version {
        10.. => c.input(1)?,
        _ => {
            let count = c.attributes.optional_int("k")?;
            c.integers(&[count.ok_or_else(|| Problem::malformed("it has no k"))?])?
        }
    };
    let base = armnn_backend_api::TopKDescriptor::new(small(along, "its axis")?, largest);
    let declarations = [
        c.declaration(0)?,
        OutputDeclaration {
            data_type: Some(DataType::Signed64),
            ..OutputDeclaration::default()
        },
    ];
    c.emit_deferred_all(
        ParameterRule::TopK(base),
        &[Some(input)],
        &[Some(count)],
        &declarations,
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{LayerDescriptor, LayerType as L, ReduceDescriptor};

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
        assert_eq!(types(&log), [L::LogSoftmax]);
    }
}
