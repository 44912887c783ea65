//! Elements joined and put into another order.

use armnn_backend_api::{
    ConcatDescriptor, DataLayout, DataType, DepthToSpaceDescriptor, DepthToSpaceMode,
    GatherDescriptor, ReverseSequenceDescriptor, SpaceToDepthDescriptor, TransposeDescriptor,
    TriluDescriptor,
};

use super::context::{Context, axis, described, small};
use super::problem::{Problem, Result};

pub(super) fn concat(c: &mut Context<'_, '_>) -> Result {
    let rank = c.input_shape(0)?.rank();
    let along = c
        .attributes
        .optional_int("axis")?
        .or((c.version < 4).then_some(1))
        .ok_or_else(|| Problem::malformed("it has no axis"))?;
    let along = axis(along, rank)?;
    let inputs = c.inputs()?;
    if inputs.len() == 1 {
        return c.alias(0, 0);
    }
    let axis = small(along, "its axis")?;
    c.emit(ConcatDescriptor { axis }, &inputs)
}

/// Without a permutation, the order of dimensions is reversed.
pub(super) fn transpose(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let permutation = match c.attributes.ints("perm")? {
        None => (0..rank).rev().collect(),
        Some(list) => list
            .iter()
            .map(|&index| axis(index, rank))
            .collect::<Result<Vec<_>>>()?,
    };
    let permutation = permutation
        .into_iter()
        .map(|axis| small(axis, "an axis"))
        .collect::<Result<Vec<_>>>()?;
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    c.emit(descriptor, &[input])
}

/// Channels put into blocks of rows and columns.
pub(super) fn depth_to_space(c: &mut Context<'_, '_>) -> Result {
    let size = block_size(c)?;
    let mode = match c.attributes.text("mode", "DCR")? {
        "DCR" => DepthToSpaceMode::Dcr,
        "CRD" => DepthToSpaceMode::Crd,
        other => {
            return Err(Problem::malformed(format!(
                "its mode is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let input = c.input(0)?;
    c.emit(
        DepthToSpaceDescriptor::new(size, mode, DataLayout::Nchw),
        &[input],
    )
}

/// Blocks of rows and columns put into the channels.
pub(super) fn space_to_depth(c: &mut Context<'_, '_>) -> Result {
    let size = block_size(c)?;
    let input = c.input(0)?;
    let descriptor = SpaceToDepthDescriptor::new(size, DataLayout::Nchw);
    match c.attributes.text("mode", "DCR")? {
        "DCR" => return c.emit(descriptor, &[input]),
        "CRD" => {}
        other => {
            let other = crate::error::Short(other);
            return Err(Problem::malformed(format!("its mode is \"{other}\"")));
        }
    }
    // The same channels, with those of one channel of the input next to each other.
    let shape = c.shape(input)?;
    let Some(&channels) = shape.dims().get(1).filter(|&&channels| channels >= 0) else {
        return Err(Problem::unsupported(format!(
            "mode \"CRD\" of an input {shape} with unknown channels"
        )));
    };
    let blocks = i64::from(size) * i64::from(size);
    let count = blocks
        .checked_mul(channels)
        .and_then(|count| usize::try_from(count).ok());
    c.pay_for(count.unwrap_or(usize::MAX).saturating_mul(size_of::<i64>()))?;
    let order =
        (0..channels).flat_map(|channel| (0..blocks).map(move |at| at * channels + channel));
    let order: Vec<i64> = order.collect();
    let deep = c.step(descriptor, &[input])?;
    let order = c.integers(&order)?;
    c.emit(GatherDescriptor { axis: 1 }, &[deep, order])
}

fn block_size(c: &Context<'_, '_>) -> Result<u32> {
    let size = c.attributes.optional_int("blocksize")?;
    size.and_then(|size| u32::try_from(size).ok())
        .filter(|&size| size > 0)
        .ok_or_else(|| Problem::malformed("it has no blocksize"))
}

/// Of each sequence of a batch, as many elements in reverse order as its length says.
pub(super) fn reverse_sequence(c: &mut Context<'_, '_>) -> Result {
    let inputs = c.inputs()?;
    let rank = c.input_shape(0)?.rank();
    let descriptor = ReverseSequenceDescriptor {
        batch_axis: small(axis(c.attributes.int("batch_axis", 1)?, rank)?, "an axis")?,
        sequence_axis: small(axis(c.attributes.int("time_axis", 0)?, rank)?, "an axis")?,
    };
    c.emit(descriptor, &inputs)
}

/// Matrices of which one side of a diagonal is 0.
pub(super) fn trilu(c: &mut Context<'_, '_>) -> Result {
    let upper = c.attributes.flag("upper", true)?;
    let input = c.input(0)?;
    let mut inputs = vec![Some(input)];
    if let Some(diagonal) = c.optional_input(1)? {
        let diagonal = c.cast(diagonal, DataType::Signed64)?;
        inputs.push(Some(diagonal));
    }
    let declaration = c.declaration(0)?;
    let descriptor = TriluDescriptor {
        upper: upper.into(),
    };
    c.emit_all(descriptor, &inputs, &[declaration])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::*;
    use crate::test_model::{
        TestModel, assert_refused, descriptors, int, list, output_dims, single, types,
    };

    #[test]
    fn inputs_are_joined_along_an_axis_from_either_end() {
        for axis in [1, -1] {
            let network = TestModel::new(13)
                .input("a", &[2, 3])
                .input("b", &[2, 4])
                .node("Concat", &["a", "b"], &["y"], &[int("axis", axis)])
                .output("y")
                .parse()
                .unwrap();
            assert_eq!(descriptors(&network), [ConcatDescriptor { axis: 1 }.into()]);
            assert_eq!(output_dims(&network), [2, 7]);
        }
        let one = single(13, "Concat", &[2], &[], &[int("axis", 0)]).unwrap();
        assert!(types(&one).is_empty());
        assert_refused(single(13, "Concat", &[2], &[], &[]), "it has no axis");
    }

    #[test]
    fn dimensions_are_reversed_unless_an_order_is_given() {
        let network = single(13, "Transpose", &[2, 3, 4], &[], &[]).unwrap();
        assert_eq!(output_dims(&network), [4, 3, 2]);
        let network = single(
            13,
            "Transpose",
            &[2, 3, 4],
            &[],
            &[list("perm", &[0, 2, 1])],
        )
        .unwrap();
        let [LayerDescriptor::Transpose(d)] = &descriptors(&network)[..] else {
            panic!();
        };
        assert_eq!(d.permutation(), [0, 2, 1]);
        let twice = single(13, "Transpose", &[2, 3], &[], &[list("perm", &[0, 0])]);
        assert_refused(twice, "permutation");
    }
}
