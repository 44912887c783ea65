//! Operators of StableHLO (<https://openxla.org/stablehlo/spec>) that are layers of the network.

use armnn_backend_api::{
    BinaryOperation, BroadcastToDescriptor, CastDescriptor, ComparisonOperation, ConcatDescriptor,
    DataType, DynamicUpdateSliceDescriptor, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, LogicalBinaryDescriptor, LogicalBinaryOperation, PadDescriptor,
    PaddingMode, ReduceDescriptor, ReduceOperation, ReshapeDescriptor, SelectDescriptor, Shape,
    StridedSliceDescriptor, TransposeDescriptor, UnaryOperation,
};
use armnn_network::{OutputDeclaration, ParameterRule, TensorId};
use planus::Vector;

use super::context::{Context, described};
use super::options::Options;
use super::problem::{Problem, Result};
use crate::model::{Operator, OperatorOptions};
use crate::schema_generated::{
    ActivationFunctionType, AddOptionsRef, BuiltinOperator, MulOptionsRef,
    StablehloBroadcastInDimOptionsRef, StablehloCompareOptionsRef, StablehloComparisonDirection,
    StablehloConcatenateOptionsRef, StablehloDynamicSliceOptionsRef, StablehloIotaOptionsRef,
    StablehloPadOptionsRef, StablehloReduceOptionsRef, StablehloSliceOptionsRef,
    StablehloTransposeOptionsRef,
};

/// Of Booleans or bits.
pub(super) fn bits(
    context: &mut Context<'_, '_, '_>,
    logical: LogicalBinaryOperation,
    bitwise: BinaryOperation,
) -> Result {
    let (x, y) = (context.input(0)?, context.input(1)?);
    let inputs = [Some(x), Some(y)];
    match context.info(x)?.data_type {
        DataType::Boolean => context.emit(LogicalBinaryDescriptor::new(logical), &inputs),
        _ => context.emit(ElementwiseBinaryDescriptor::new(bitwise), &inputs),
    }
}

pub(super) fn compare(context: &mut Context<'_, '_, '_>) -> Result {
    use StablehloComparisonDirection as Direction;

    let options = context.options::<StablehloCompareOptionsRef<'_>>()?;
    let operation = match options.comparison_direction()? {
        Direction::Eq => ComparisonOperation::Equal,
        Direction::Ne => ComparisonOperation::NotEqual,
        Direction::Ge => ComparisonOperation::GreaterOrEqual,
        Direction::Gt => ComparisonOperation::Greater,
        Direction::Le => ComparisonOperation::LessOrEqual,
        Direction::Lt => ComparisonOperation::Less,
    };
    use crate::schema_generated::StablehloComparisonType as Type;
    if options.compare_type()? == Type::FloatTotalOrder {
        return Err(Problem::unsupported(
            "a comparison in the total order of floats",
        ));
    }
    super::elementwise::comparison(context, operation)
}

/// The least, the operand, the greatest.
pub(super) fn clamp(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs = [context.input(0)?, context.input(1)?, context.input(2)?];
    let [least, operand, greatest] = inputs.map(Some);
    let maximum = ElementwiseBinaryDescriptor::new(BinaryOperation::Maximum);
    let none = OutputDeclaration::default();
    let raised = context.step(0, maximum, &[operand, least], none)?;
    let minimum = ElementwiseBinaryDescriptor::new(BinaryOperation::Minimum);
    context.emit(minimum, &[Some(raised), greatest])
}

/// The cube root, of the number's sign.
pub(super) fn cbrt(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let data_type = context.info(input)?.data_type;
    let third = context.scalar(data_type, 1.0 / 3.0)?;
    let none = OutputDeclaration::default;
    let unary = ElementwiseUnaryDescriptor::new;
    let sign = context.step(0, unary(UnaryOperation::Sign), &[Some(input)], none())?;
    let abs = context.step(0, unary(UnaryOperation::Abs), &[Some(input)], none())?;
    let power = ElementwiseBinaryDescriptor::new(BinaryOperation::Power);
    let root = context.step(0, power, &[Some(abs), Some(third)], none())?;
    let mul = ElementwiseBinaryDescriptor::new(BinaryOperation::Mul);
    context.emit(mul, &[Some(sign), Some(root)])
}

pub(super) fn convert(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    context.emit(CastDescriptor::new(), &[Some(input)])
}

/// A scalar condition is for all elements.
pub(super) fn select(context: &mut Context<'_, '_, '_>) -> Result {
    let inputs = [context.input(0)?, context.input(1)?, context.input(2)?];
    context.emit(SelectDescriptor::new(), &inputs.map(Some))
}

/// The output's shape is the one that the file says.
pub(super) fn reshape(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let target = static_shape(context)?;
    context.emit_reshape(0, input, target.dims())
}

pub(super) fn concatenate(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloConcatenateOptionsRef<'_>>()?;
    let axis = options.dimension()?;
    let inputs = context.inputs()?;
    let Some(&first) = inputs.first() else {
        return Err(Problem::malformed("it has no inputs"));
    };
    let axis = super::context::axis(axis, context.shape(first)?.rank())? as u32;
    let inputs: Vec<_> = inputs.into_iter().map(Some).collect();
    context.emit(ConcatDescriptor { axis }, &inputs)
}

/// Dimension i of the input is dimension `broadcast_dimensions[i]` of the output.
pub(super) fn broadcast_in_dim(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloBroadcastInDimOptionsRef<'_>>()?;
    // TFLite has them as a second input as well.
    let dimensions = match context.input_count() {
        2 => context.integers(1, Shape::MAX_RANK, "the dimensions")?,
        _ => list(options.broadcast_dimensions()?)?,
    };
    let input = context.input(0)?;
    let target = static_shape(context)?;
    let mut groups = vec![Vec::new(); target.rank()];
    for (from, &to) in dimensions.iter().enumerate() {
        let to = super::context::axis(to, target.rank())?;
        if groups[to..].iter().any(|group| !group.is_empty()) {
            return Err(Problem::unsupported("dimensions in another order"));
        }
        groups[to].push(from);
    }
    if dimensions.len() != context.shape(input)?.rank() {
        return Err(Problem::malformed("not every dimension has a place"));
    }
    let aligned = context.merge_step(0, input, groups)?;
    let declaration = OutputDeclaration {
        shape: Some(target),
        ..context.declaration(0)?
    };
    let descriptor = BroadcastToDescriptor::new();
    context.emit_declared(0, descriptor, &[Some(aligned)], declaration)
}

pub(super) fn slice(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloSliceOptionsRef<'_>>()?;
    let begin = list(options.start_indices()?)?;
    let end = list(options.limit_indices()?)?;
    let stride = list(options.strides()?)?;
    let input = context.input(0)?;
    let shape = context.shape(input)?;
    let mut dims = Vec::with_capacity(begin.len());
    if [begin.len(), end.len(), stride.len()] != [shape.rank(); 3] {
        return Err(Problem::malformed("not every dimension has its bounds"));
    }
    for (at, &dim) in shape.dims().iter().enumerate() {
        let (begin, end, stride) = (begin[at], end[at], stride[at]);
        if begin < 0 || end < begin || stride < 1 || dim >= 0 && end > dim {
            return Err(Problem::malformed(format!(
                "elements {begin} to {end} of a dimension of {dim}, in steps of {stride}"
            )));
        }
        dims.push((end - begin).div_euclid(stride) + i64::from((end - begin) % stride != 0));
    }
    let declaration = OutputDeclaration {
        shape: Some(described(Shape::new(&dims).ok())?),
        ..context.moved(0, input)?
    };
    let descriptor = described(StridedSliceDescriptor::new(&begin, &end, &stride))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// Where it begins is an input for each dimension, moved so that the slice lies within the operand.
pub(super) fn dynamic_slice(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloDynamicSliceOptionsRef<'_>>()?;
    let sizes = list(options.slice_sizes()?)?;
    let input = context.input(0)?;
    let shape = context.shape(input)?;
    if sizes.len() != shape.rank() || !shape.is_known() {
        return Err(Problem::unsupported(
            "a slice of dimensions that are not known",
        ));
    }
    let pairs = || shape.dims().iter().zip(&sizes);
    if pairs().any(|(&dim, &size)| size < 0 || size > dim) {
        return Err(Problem::malformed(format!(
            "a slice of {sizes:?} of {shape}"
        )));
    }
    let most: Vec<i64> = pairs().map(|(dim, size)| dim - size).collect();
    let begin = starts(context, 1)?;
    let zeros = context.integer_list(DataType::Signed64, &vec![0; sizes.len()])?;
    let most = context.integer_list(DataType::Signed64, &most)?;
    let none = OutputDeclaration::default;
    let maximum = ElementwiseBinaryDescriptor::new(BinaryOperation::Maximum);
    let begin = context.step(0, maximum, &[Some(begin), Some(zeros)], none())?;
    let minimum = ElementwiseBinaryDescriptor::new(BinaryOperation::Minimum);
    let begin = context.step(0, minimum, &[Some(begin), Some(most)], none())?;
    let sizes = context.integer_list(DataType::Signed64, &sizes)?;
    let declaration = context.moved(0, input)?;
    let parameters = [Some(begin), Some(sizes)];
    let rule = ParameterRule::BeginSize;
    context.emit_by_rule(0, rule, &[Some(input)], &parameters, declaration)
}

/// The operand, the update, where it begins along each dimension.
pub(super) fn dynamic_update_slice(context: &mut Context<'_, '_, '_>) -> Result {
    let (input, update) = (context.input(0)?, context.input(1)?);
    let begin = starts(context, 2)?;
    let inputs = [Some(input), Some(update), Some(begin)];
    context.emit(DynamicUpdateSliceDescriptor::new(), &inputs)
}

/// The inputs from `first` on, each of one element, as a list of Signed64.
fn starts(context: &mut Context<'_, '_, '_>, first: usize) -> Result<TensorId> {
    let mut all = Vec::new();
    for position in first..context.input_count() {
        let start = context.input(position)?;
        let start = context.cast_step(start, DataType::Signed64)?;
        all.push(match context.shape(start)?.rank() {
            0 => context.merge_step(0, start, vec![vec![]])?,
            _ => start,
        });
    }
    match all[..] {
        [] => context.integer_list(DataType::Signed64, &[]),
        [one] => Ok(one),
        _ => context.joined(&all),
    }
}

/// Padding between elements is not supported, nor negative padding.
pub(super) fn pad(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloPadOptionsRef<'_>>()?;
    let before = list(options.edge_padding_low()?)?;
    let after = list(options.edge_padding_high()?)?;
    let between = list(options.interior_padding()?)?;
    if between.iter().any(|&count| count != 0) {
        return Err(Problem::unsupported("padding between elements"));
    }
    if before.iter().chain(&after).any(|&count| count < 0) {
        return Err(Problem::unsupported("negative padding"));
    }
    let value = context.number(1, "the value of the padding")?;
    let input = context.input(0)?;
    let mode = PaddingMode::Constant;
    let descriptor = described(PadDescriptor::new(mode, value, &before, &after))?;
    context.emit(descriptor, &[Some(input)])
}

/// The numbers from 0 on along a dimension.
pub(super) fn iota(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloIotaOptionsRef<'_>>()?;
    let target = static_shape(context)?;
    let axis = super::context::axis(options.iota_dimension()?, target.rank())?;
    let declaration = context.declaration(0)?;
    let data_type = declaration.data_type.unwrap_or(DataType::Signed32);
    let count = target.dims()[axis];
    // Each number is in the constant; more than that the file must make up for.
    let bytes = usize::try_from(count).ok().and_then(|n| n.checked_mul(8));
    let bytes = bytes.ok_or_else(|| Problem::unsupported("numbers without end"))?;
    super::constants::charge(&mut context.lowering.shared.constant_budget, bytes)?;
    let numbers: Vec<i64> = (0..count).collect();
    let numbers = context.integer_list(DataType::Signed64, &numbers)?;
    let numbers = context.cast_step(numbers, data_type)?;
    let mut groups = vec![Vec::new(); target.rank()];
    groups[axis].push(0);
    let aligned = context.merge_step(0, numbers, groups)?;
    let declaration = OutputDeclaration {
        shape: Some(target),
        ..declaration
    };
    let descriptor = BroadcastToDescriptor::new();
    context.emit_declared(0, descriptor, &[Some(aligned)], declaration)
}

pub(super) fn transpose(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloTransposeOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let mut permutation = Vec::with_capacity(rank);
    for from in list(options.permutation()?)? {
        permutation.push(super::context::axis(from, rank)? as u32);
    }
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    context.emit(descriptor, &[Some(input)])
}

/// Values of whole dimensions. What is computed of them stands in a subgraph of one operator.
pub(super) fn reduce(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloReduceOptionsRef<'_>>()?;
    if context.input_count() != 2 {
        return Err(Problem::unsupported("several operands"));
    }
    let input = context.input(0)?;
    let is_boolean = context.info(input)?.data_type == DataType::Boolean;
    let operation = body_operation(context, options.body_subgraph_index()?, is_boolean)?;
    let rank = context.shape(input)?.rank();
    let mut axes = Vec::new();
    for axis in list(options.dimensions()?)? {
        axes.push(super::context::axis(axis, rank)? as u32);
    }
    axes.sort_unstable();
    axes.dedup();
    let descriptor = described(ReduceDescriptor::new(operation.0, &axes, false))?;
    let none = OutputDeclaration::default();
    let reduced = context.step(0, descriptor, &[Some(input)], none)?;
    let first = context.input(1)?;
    let inputs = [Some(reduced), Some(first)];
    match (is_boolean, operation.0) {
        (true, ReduceOperation::All) => context.emit(
            LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd),
            &inputs,
        ),
        (true, ReduceOperation::Any) => context.emit(
            LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalOr),
            &inputs,
        ),
        _ => context.emit(ElementwiseBinaryDescriptor::new(operation.1), &inputs),
    }
}

/// What a subgraph of one operator computes of two values, as a reduction and of elements.
pub(super) fn body_operation(
    context: &Context<'_, '_, '_>,
    index: i32,
    is_boolean: bool,
) -> Result<(ReduceOperation, BinaryOperation)> {
    use BuiltinOperator as Op;

    let graphs = &context.lowering.shared.model.subgraphs;
    let body = usize::try_from(index).ok();
    let body = body.and_then(|index| graphs.get(index));
    let body = body.ok_or_else(|| Problem::malformed("it has no subgraph"))?;
    let refused = || Problem::unsupported("a subgraph other than one operation");
    // Of both arguments, in any order.
    let is_of_arguments = |operator: &Operator<'_>| {
        let read = [operator.inputs.get(0), operator.inputs.get(1)];
        let written = body.outputs.first().copied();
        match body.inputs[..] {
            [x, y] => {
                let (x, y) = (Some(x), Some(y));
                (read == [x, y] || read == [y, x])
                    && body.outputs.len() == 1
                    && operator.outputs.get(0) == written
            }
            _ => false,
        }
    };
    if !body.operators.iter().all(is_of_arguments) {
        return Err(refused());
    }
    for operator in &body.operators {
        if is_activated(operator)? {
            return Err(refused());
        }
    }
    let operators: Vec<_> = body.operators.iter().map(|o| o.code.known()).collect();
    Ok(match operators[..] {
        [Some(Op::StablehloAdd | Op::Add)] => (ReduceOperation::Sum, BinaryOperation::Add),
        [Some(Op::StablehloMultiply | Op::Mul)] => (ReduceOperation::Prod, BinaryOperation::Mul),
        [Some(Op::StablehloMaximum | Op::Maximum)] => {
            (ReduceOperation::Max, BinaryOperation::Maximum)
        }
        [Some(Op::StablehloMinimum | Op::Minimum)] => {
            (ReduceOperation::Min, BinaryOperation::Minimum)
        }
        [Some(Op::StablehloAnd | Op::LogicalAnd)] if is_boolean => {
            (ReduceOperation::All, BinaryOperation::BitwiseAnd)
        }
        [Some(Op::StablehloOr | Op::LogicalOr)] if is_boolean => {
            (ReduceOperation::Any, BinaryOperation::BitwiseOr)
        }
        _ => return Err(refused()),
    })
}

/// Whether a sum or a product goes through an activation.
fn is_activated(operator: &Operator<'_>) -> Result<bool> {
    let OperatorOptions::First(options) = operator.options else {
        return Ok(false);
    };
    let function = match (AddOptionsRef::of(options), MulOptionsRef::of(options)) {
        (Some(add), _) => add.fused_activation_function()?,
        (_, Some(mul)) => mul.fused_activation_function()?,
        _ => return Ok(false),
    };
    Ok(function != ActivationFunctionType::None)
}

/// The shape that the file says of the output, which is part of such an operator.
fn static_shape(context: &Context<'_, '_, '_>) -> Result<Shape> {
    let shape = context.declared_shape(0)?.filter(Shape::is_known);
    shape.ok_or_else(|| Problem::unsupported("an output whose shape the file does not say"))
}

/// A list with an entry for each of a few dimensions.
pub(super) fn list(vector: Option<Vector<'_, i64>>) -> Result<Vec<i64>> {
    let Some(vector) = vector else {
        return Ok(Vec::new());
    };
    if vector.len() > Shape::MAX_RANK {
        return Err(Problem::unsupported("more than 8 dimensions"));
    }
    Ok(vector.iter().collect())
}

/// The elements of the input, `dilations` apart, and a value between them. (DILATE, which TFLite has
/// from StableHLO.)
pub(super) fn dilate(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let dilations = context.integers(1, Shape::MAX_RANK, "the dilations")?;
    let value = context.number(2, "the value between elements")?;
    let shape = context.shape(input)?;
    let rank = shape.rank();
    if dilations.len() != rank || dilations.iter().any(|&dilation| dilation < 1) {
        return Err(Problem::malformed(format!(
            "dilations {dilations:?} of an input of shape {shape}"
        )));
    }
    if !shape.is_known() || 2 * rank > Shape::MAX_RANK {
        return Err(Problem::unsupported(
            "dilation of more than 4 dimensions, or of sizes that are not known",
        ));
    }
    // Each element is followed by the values that stand behind it.
    let (mut apart, mut after) = (Vec::new(), Vec::new());
    let (mut merged, mut sizes) = (Vec::new(), Vec::new());
    for (&dim, &dilation) in shape.dims().iter().zip(&dilations) {
        let total = dim.checked_mul(dilation);
        let total = total.ok_or_else(|| Problem::malformed("a dimension beyond 2^63"))?;
        apart.extend([dim, 1]);
        after.extend([0, dilation - 1]);
        merged.push(total);
        // The last element has none behind it.
        sizes.push((total - (dilation - 1)).max(0));
    }
    let none = OutputDeclaration::default;
    let elements = context.reshape_step(0, input, &apart)?;
    let zeros = vec![0; 2 * rank];
    let pad = described(PadDescriptor::new(
        PaddingMode::Constant,
        value,
        &zeros,
        &after,
    ))?;
    let padded = context.step(0, pad, &[Some(elements)], none())?;
    let target = OutputDeclaration {
        shape: Some(described(Shape::new(&merged).ok())?),
        ..none()
    };
    let whole = context.step(0, ReshapeDescriptor::new(), &[Some(padded)], target)?;
    let (begin, strides) = (vec![0; rank], vec![1; rank]);
    let slice = described(StridedSliceDescriptor::new(&begin, &sizes, &strides))?;
    let declaration = OutputDeclaration {
        shape: Some(described(Shape::new(&sizes).ok())?),
        ..context.moved(0, input)?
    };
    context.emit_declared(0, slice, &[Some(whole)], declaration)
}
