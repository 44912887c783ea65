//! Elements repeated, and sizes forced.

use armnn_backend_api::{BinaryOperation as Binary, DataType, PaddingMode, Shape};
use armnn_network::{PadLayout, ParameterRule};

use super::context::{Context, axis};
use super::problem::{Problem, Result};

/// To the shape that the input and the given one broadcast to.
pub(super) fn expand(c: &mut Context<'_, '_>) -> Result {
    let (input, target) = (c.input(0)?, c.input(1)?);
    let rule = ParameterRule::BroadcastTo {
        bidirectional: true,
    };
    c.emit_deferred(rule, &[input], &[Some(target)])
}

/// As often along each dimension as the second input says.
pub(super) fn tile(c: &mut Context<'_, '_>) -> Result {
    let (input, repeats) = (c.input(0)?, c.input(1)?);
    c.emit_deferred(ParameterRule::Tile, &[input], &[Some(repeats)])
}

/// Cropped or padded with 0 to the given sizes, as much before as behind; what is odd, behind.
pub(super) fn center_crop_pad(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    let axes: Vec<usize> = match c.attributes.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&index| axis(index, rank))
            .collect::<Result<_>>()?,
        None => (0..rank).collect(),
    };
    let count = axes.len();
    if count > Shape::MAX_RANK {
        return Err(Problem::malformed("it has more axes than dimensions"));
    }
    let target = c.input(1)?;
    let target = c.cast(target, DataType::Signed64)?;
    let indices: Vec<i64> = axes.iter().filter_map(|&a| i64::try_from(a).ok()).collect();
    let axes = c.integers(&indices)?;
    let shape = c.shape_step(input, 0, rank)?;
    let sizes = c.step(
        armnn_backend_api::GatherDescriptor { axis: 0 },
        &[shape, axes],
    )?;
    let zero = c.integers(&[0])?;
    let two = c.integers(&[2])?;
    // What goes, from (size - target) / 2 on, rounded down, as many as the target.
    let surplus = c.binary(Binary::Sub, sizes, target)?;
    let surplus = c.binary(Binary::Maximum, surplus, zero)?;
    let start = c.binary(Binary::Div, surplus, two)?;
    let kept = c.binary(Binary::Minimum, sizes, target)?;
    let end = c.binary(Binary::Add, start, kept)?;
    let cropped = c.step_deferred(
        ParameterRule::Slice,
        &[input],
        &[Some(start), Some(end), Some(axes)],
    )?;
    // What comes, (target - size) / 2 before, rounded down, and the rest behind.
    let lack = c.binary(Binary::Sub, target, sizes)?;
    let lack = c.binary(Binary::Maximum, lack, zero)?;
    let before = c.binary(Binary::Div, lack, two)?;
    let behind = c.binary(Binary::Sub, lack, before)?;
    let concat = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let pads = c.step(concat, &[before, behind])?;
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value: 0.0,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    c.emit_deferred(rule, &[cropped], &[Some(pads), None, Some(axes)])
}
