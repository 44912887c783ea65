//! Parts of the input: SLICE, SPLIT, SPLIT_V, UNPACK, GATHER.

use armnn_backend_api::{
    GatherDescriptor, GatherNdDescriptor, LayerDescriptor, Shape, SplitDescriptor,
    StridedSliceDescriptor, TransposeDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, SplitOptions, TensorId};

use super::context::{Context, axis, described, each_dimension};
use super::problem::{Problem, Result};
use crate::schema_generated::{
    GatherOptionsRef, SplitOptionsRef, SplitVOptionsRef, UnpackOptionsRef,
};

/// `begin` and `size` along each dimension; a size of -1 is all that is left.
pub(super) fn slice(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let shape = context.shape(input)?;
    if !(context.is_known(1) && context.is_known(2)) {
        let parameters = [Some(context.input(1)?), Some(context.input(2)?)];
        let declaration = context.moved(0, input)?;
        let rule = ParameterRule::BeginSize;
        return context.emit_by_rule(0, rule, &[Some(input)], &parameters, declaration);
    }
    let begin = context.integers(1, Shape::MAX_RANK, "begin")?;
    let size = context.integers(2, Shape::MAX_RANK, "size")?;
    if begin.len() != shape.rank() || size.len() != shape.rank() {
        return Err(Problem::malformed(format!(
            "begin {begin:?} and size {size:?} for an input of shape {shape}"
        )));
    }
    let mut end = Vec::new();
    let mut target = Vec::new();
    for ((&begin, &size), &dim) in begin.iter().zip(&size).zip(shape.dims()) {
        let outside = || {
            Problem::malformed(format!(
                "{size} elements from {begin} on of a dimension of {dim}"
            ))
        };
        if begin < 0 || size < -1 || dim >= 0 && begin > dim {
            return Err(outside());
        }
        if size == -1 {
            end.push(if dim >= 0 { dim } else { i64::MAX });
            target.push(if dim >= 0 {
                dim - begin
            } else {
                Shape::UNKNOWN
            });
            continue;
        }
        let last = begin
            .checked_add(size)
            .filter(|&last| dim < 0 || last <= dim);
        end.push(last.ok_or_else(outside)?);
        target.push(size);
    }
    let mut declaration = context.moved(0, input)?;
    declaration.shape = Some(described(Shape::new(&target).ok())?);
    let stride = vec![1; begin.len()];
    let descriptor = described(StridedSliceDescriptor::new(&begin, &end, &stride))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// Equal parts; the axis is the first input.
pub(super) fn split(context: &mut Context<'_, '_, '_>) -> Result {
    let count = context.options::<SplitOptionsRef<'_>>()?.num_splits()?;
    check_count(context, count, "parts")?;
    let input = context.input(1)?;
    let shape = context.shape(input)?;
    if !context.is_known(0) {
        let axis = context.input(0)?;
        return split_by_rule(context, input, None, axis);
    }
    let axis = axis(context.integer(0, "the axis")?, shape.rank())?;
    let part = equal_part(shape, axis, context.output_count())?;
    split_into(context, input, axis, &vec![part; context.output_count()])
}

/// Parts of these sizes, one of which may be -1: all that is left.
pub(super) fn split_v(context: &mut Context<'_, '_, '_>) -> Result {
    let count = context.options::<SplitVOptionsRef<'_>>()?.num_splits()?;
    check_count(context, count, "parts")?;
    let input = context.input(0)?;
    if !(context.is_known(1) && context.is_known(2)) {
        let (sizes, axis) = (context.input(1)?, context.input(2)?);
        return split_by_rule(context, input, Some(sizes), axis);
    }
    let axis = axis(
        context.integer(2, "the axis")?,
        context.shape(input)?.rank(),
    )?;
    let sizes = context.integers(1, context.output_count(), "the sizes of the parts")?;
    let open = sizes.iter().filter(|&&size| size == -1).count();
    if sizes.len() != context.output_count() || open > 1 || sizes.iter().any(|&size| size < -1) {
        return Err(Problem::malformed(format!(
            "{} sizes, {open} of them open, for {} parts",
            sizes.len(),
            context.output_count()
        )));
    }
    split_into(context, input, axis, &sizes)
}

/// Parts of size 1, without the dimension that they are along.
pub(super) fn unpack(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<UnpackOptionsRef<'_>>()?;
    check_count(context, options.num()?, "values")?;
    let input = context.input(0)?;
    let shape = context.shape(input)?;
    let axis = axis(options.axis()?.into(), shape.rank())?;
    let count = context.output_count();
    let size = shape.dims()[axis];
    if size >= 0 && usize::try_from(size) != Ok(count) {
        return Err(Problem::malformed(format!(
            "it unpacks {count} values along dimension {axis} of {shape}"
        )));
    }
    let mut dims = shape.dims().to_vec();
    dims[axis] = 1;
    let part = OutputDeclaration {
        shape: Some(described(Shape::new(&dims).ok())?),
        ..OutputDeclaration::default()
    };
    let mut groups = each_dimension(dims.len());
    groups.remove(axis);
    let descriptor = SplitDescriptor { axis: axis as u32 };
    let parts = context.steps(descriptor, &[Some(input)], &vec![part; count])?;
    for (position, part) in parts.into_iter().enumerate() {
        context.emit_merged(position, part, groups.clone())?;
    }
    Ok(())
}

pub(super) fn gather(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<GatherOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let indices = context.indices(1)?;
    let axis = axis(options.axis()?.into(), context.shape(input)?.rank())?;
    let indices_rank = context.shape(indices)?.rank();
    let batch_dims = i64::from(options.batch_dims()?);
    let batch_dims = match batch_dims {
        ..0 => batch_dims.saturating_add(indices_rank as i64),
        _ => batch_dims,
    };
    match usize::try_from(batch_dims) {
        Ok(0) => {}
        Ok(batch_dims) if batch_dims <= axis && batch_dims <= indices_rank => {
            return gather_in_batches(context, [input, indices], axis, batch_dims);
        }
        _ => {
            return Err(Problem::malformed(format!(
                "batch_dims of {batch_dims} with axis {axis}"
            )));
        }
    }
    let declaration = context.moved(0, input)?;
    let descriptor = GatherDescriptor { axis: axis as u32 };
    context.emit_declared(0, descriptor, &[Some(input), Some(indices)], declaration)
}

/// Indices of their own for each batch: a GatherNd, for which the axis stands behind the batch
/// dimensions, and whose output has it in the place that the operator's does.
fn gather_in_batches(
    context: &mut Context<'_, '_, '_>,
    [mut input, mut indices]: [TensorId; 2],
    axis: usize,
    batch_dims: usize,
) -> Result {
    let declaration = context.moved(0, input)?;
    let rank = context.shape(input)?.rank();
    let indices_rank = context.shape(indices)?.rank();
    if axis > batch_dims {
        let mut order: Vec<u32> = (0..rank as u32).filter(|&at| at != axis as u32).collect();
        order.insert(batch_dims, axis as u32);
        let descriptor = described(TransposeDescriptor::new(&order))?;
        input = context.step(0, descriptor, &[Some(input)], OutputDeclaration::default())?;
    }
    let mut groups = each_dimension(indices_rank);
    groups.push(Vec::new());
    indices = context.merge_step(0, indices, groups)?;
    let descriptor = GatherNdDescriptor {
        batch_dims: batch_dims as u32,
    };
    let inputs = [Some(input), Some(indices)];
    if axis == batch_dims {
        return context.emit_declared(0, descriptor, &inputs, declaration);
    }
    // Batch, indices, dimensions before the axis, dimensions after it.
    let gathered = context.step(0, descriptor, &inputs, OutputDeclaration::default())?;
    let of_indices = batch_dims as u32..indices_rank as u32;
    let before = indices_rank as u32..(indices_rank + axis - batch_dims) as u32;
    let after = before.end..(rank + indices_rank - batch_dims - 1) as u32;
    let order: Vec<u32> = (0..batch_dims as u32)
        .chain(before)
        .chain(of_indices)
        .chain(after)
        .collect();
    let descriptor = described(TransposeDescriptor::new(&order))?;
    context.emit_declared(0, descriptor, &[Some(gathered)], declaration)
}

/// A Split whose axis or sizes are computed.
fn split_by_rule(
    context: &mut Context<'_, '_, '_>,
    input: TensorId,
    sizes: Option<TensorId>,
    axis: TensorId,
) -> Result {
    let parts = context.output_count();
    let mut declarations = Vec::with_capacity(parts);
    for position in 0..parts {
        declarations.push(context.moved(position, input)?);
    }
    let rule = ParameterRule::Split(SplitOptions {
        axis: None,
        parts,
        may_remain: true,
        smaller_last: false,
    });
    context.emit_all_by_rule(rule, &[Some(input)], &[sizes, Some(axis)], &declarations)
}

/// Checks that there are as many outputs as an option says.
fn check_count(context: &Context<'_, '_, '_>, count: i32, what: &str) -> Result {
    let found = context.output_count();
    if found > 0 && usize::try_from(count) == Ok(found) {
        Ok(())
    } else {
        let problem = format!("it makes {count} {what}, but has {found} outputs");
        Err(Problem::malformed(problem))
    }
}

/// The size of each of so many equal parts, unknown if the dimension is.
fn equal_part(shape: Shape, axis: usize, count: usize) -> Result<i64> {
    let size = shape.dims()[axis];
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match (size.checked_div(count), size.checked_rem(count)) {
        _ if size < 0 => Ok(Shape::UNKNOWN),
        (Some(part), Some(0)) => Ok(part),
        _ => Err(Problem::malformed(format!(
            "dimension {axis} of {shape} is cut into {count} equal parts"
        ))),
    }
}

fn split_into(
    context: &mut Context<'_, '_, '_>,
    input: TensorId,
    axis: usize,
    sizes: &[i64],
) -> Result {
    let mut dims = context.shape(input)?.dims().to_vec();
    let mut declarations = Vec::with_capacity(sizes.len());
    for (position, &size) in sizes.iter().enumerate() {
        dims[axis] = size;
        let mut declaration = context.moved(position, input)?;
        declaration.shape = Some(described(Shape::new(&dims).ok())?);
        declarations.push(declaration);
    }
    let descriptor: LayerDescriptor = SplitDescriptor { axis: axis as u32 }.into();
    context.emit_all(descriptor, &[Some(input)], &declarations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        assert_refused, descriptors, float, ints, lower, outputs, typed, types,
    };
    use armnn_backend_api::LayerType;

    #[test]
    fn a_slice_begins_somewhere_and_has_a_size() {
        let inputs = [float(&[4, 5, 6]), ints(&[1, 0, 2]), ints(&[2, -1, -1])];
        let network = lower(Op::Slice, &inputs, &[float(&[2, 5, 4])], None).unwrap();
        let expected = StridedSliceDescriptor::new(&[1, 0, 2], &[3, 5, 6], &[1, 1, 1]).unwrap();
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn a_slice_outside_the_input_is_damage() {
        for (begin, size) in [(-1, 1), (3, 2), (5, 0), (0, -2), (5, -1)] {
            let inputs = [float(&[4]), ints(&[begin]), ints(&[size])];
            let refused = lower(Op::Slice, &inputs, &[float(&[])], None);
            let expected = format!("{size} elements from {begin} on of a dimension of 4");
            assert_refused(refused, &expected);
        }
        let inputs = [float(&[4]), ints(&[0, 0]), ints(&[1, 1])];
        assert_refused(
            lower(Op::Slice, &inputs, &[float(&[1])], None),
            "begin [0, 0] and size [1, 1] for an input of shape [4]",
        );
    }

    #[test]
    fn a_slice_of_an_unknown_dimension_may_take_all_the_rest() {
        let input = float(&[1, 4]).signature(&[-1, 4]);
        let output = float(&[1, 2]).signature(&[-1, 2]);
        let inputs = [input, ints(&[1, 2]), ints(&[-1, 2])];
        let network = lower(Op::Slice, &inputs, &[output], None).unwrap();
        assert_eq!(outputs(&network), ["Float32[?, 2]"]);
    }

    fn split(num_splits: i32) -> write::BuiltinOptions {
        write::BuiltinOptions::SplitOptions(Box::new(write::SplitOptions { num_splits }))
    }

    #[test]
    fn a_split_has_equal_parts() {
        let inputs = [ints(&[-1]).shaped(&[]), float(&[2, 6])];
        let parts = vec![float(&[2, 2]); 3];
        let network = lower(Op::Split, &inputs, &parts, split(3)).unwrap();
        let expected = SplitDescriptor { axis: 1 };
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        assert_eq!(outputs(&network), ["Float32[2, 2]"; 3]);
        let names: Vec<&str> = network
            .outputs()
            .iter()
            .map(|output| &output.name[..])
            .collect();
        assert_eq!(names, ["t2", "t3", "t4"]);

        let refused = lower(Op::Split, &inputs, &parts[..2], split(3));
        assert_refused(refused, "it makes 3 parts, but has 2 outputs");
        let uneven = [float(&[2, 4]), float(&[2, 2])];
        let network = lower(Op::Split, &inputs, &uneven, split(2)).unwrap();
        assert_eq!(outputs(&network), ["Float32[2, 3]"; 2]);
        let inputs = [ints(&[0]).shaped(&[]), float(&[5])];
        let refused = lower(Op::Split, &inputs, &uneven, split(2));
        assert_refused(refused, "dimension 0 of [5] is cut into 2 equal parts");
    }

    #[test]
    fn one_part_of_a_split_may_be_what_is_left() {
        let options = || {
            let options = write::SplitVOptions { num_splits: 3 };
            write::BuiltinOptions::SplitVOptions(Box::new(options))
        };
        let axis = ints(&[1]).shaped(&[]);
        let inputs = [float(&[2, 7]), ints(&[1, -1, 4]), axis.clone()];
        let parts = [float(&[2, 1]), float(&[2, 2]), float(&[2, 4])];
        let network = lower(Op::SplitV, &inputs, &parts, options()).unwrap();
        let expected = ["Float32[2, 1]", "Float32[2, 2]", "Float32[2, 4]"];
        assert_eq!(outputs(&network), expected);

        let inputs = [float(&[2, 7]), ints(&[1, -1, -1]), axis.clone()];
        let refused = lower(Op::SplitV, &inputs, &parts, options());
        assert_refused(refused, "3 sizes, 2 of them open, for 3 parts");
        let inputs = [float(&[2, 7]), ints(&[1, 3, 4]), axis];
        let parts = [float(&[2, 1]), float(&[2, 3]), float(&[2, 4])];
        let refused = lower(Op::SplitV, &inputs, &parts, options());
        assert_refused(refused, "it is the sum of the parts");
    }

    #[test]
    fn unpacked_values_lose_the_dimension_they_are_along() {
        let options = || {
            let options = write::UnpackOptions { num: 3, axis: -2 };
            write::BuiltinOptions::UnpackOptions(Box::new(options))
        };
        let values = vec![float(&[2, 4]); 3];
        let network = lower(Op::Unpack, &[float(&[2, 3, 4])], &values, options()).unwrap();
        let reshape = LayerType::Reshape;
        assert_eq!(
            types(&network),
            [LayerType::Split, reshape, reshape, reshape]
        );
        assert_eq!(outputs(&network), ["Float32[2, 4]"; 3]);
        let refused = lower(Op::Unpack, &[float(&[2, 4, 4])], &values, options());
        assert_refused(
            refused,
            "it unpacks 3 values along dimension 1 of [2, 4, 4]",
        );
    }

    #[test]
    fn gathered_slices_are_along_an_axis() {
        let options = |batch_dims| {
            let options = write::GatherOptions {
                axis: -1,
                batch_dims,
            };
            write::BuiltinOptions::GatherOptions(Box::new(options))
        };
        let inputs = [float(&[2, 3]), typed(TensorType::Int32, &[4, 5])];
        let network = lower(Op::Gather, &inputs, &[float(&[2, 4, 5])], options(0)).unwrap();
        let expected = GatherDescriptor { axis: 1 };
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        let refused = lower(Op::Gather, &inputs, &[float(&[2, 4, 5])], options(3));
        assert_refused(refused, "(GATHER): batch_dims of 3");
    }

    #[test]
    fn each_batch_may_have_indices_of_its_own() {
        // [N, A, X, B] by indices [N, I] along dimension 2 is [N, A, I, B].
        let options = write::GatherOptions {
            axis: 2,
            batch_dims: 1,
        };
        let options = write::BuiltinOptions::GatherOptions(Box::new(options));
        let inputs = [float(&[2, 3, 7, 4]), typed(TensorType::Int32, &[2, 5])];
        let network = lower(Op::Gather, &inputs, &[float(&[])], options).unwrap();
        assert_eq!(
            types(&network),
            [
                LayerType::Transpose,
                LayerType::Reshape,
                LayerType::GatherNd,
                LayerType::Transpose
            ]
        );
        assert_eq!(outputs(&network), ["Float32[2, 3, 5, 4]"]);
    }
}
