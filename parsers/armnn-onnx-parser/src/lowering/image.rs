//! Grids, regions and boxes of images.

use armnn_backend_api::{
    BatchMatMulDescriptor, BinaryOperation as Binary, Col2ImDescriptor, DataType, GridPadding,
    GridSampleDescriptor, InterpolationMethod, NonMaxSuppressionDescriptor, PoolingAlgorithm,
    RoiAlignDescriptor,
};
use armnn_network::{ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, described};
use super::problem::{Problem, Result};

/// Values at positions of a grid.
pub(super) fn grid_sample(c: &mut Context<'_, '_>) -> Result {
    let method = match c
        .attributes
        .text("mode", if c.version < 20 { "bilinear" } else { "linear" })?
    {
        "bilinear" | "linear" => InterpolationMethod::Linear,
        "nearest" => InterpolationMethod::Nearest,
        "bicubic" | "cubic" => InterpolationMethod::Cubic,
        other => return Err(unknown("mode", other)),
    };
    let padding = match c.attributes.text("padding_mode", "zeros")? {
        "zeros" => GridPadding::Zeros,
        "border" => GridPadding::Border,
        "reflection" => GridPadding::Reflection,
        other => return Err(unknown("padding_mode", other)),
    };
    let align_corners = c.attributes.flag("align_corners", false)?;
    let inputs = c.inputs()?;
    let descriptor = GridSampleDescriptor::new(method, padding, align_corners);
    let data_type = c.info(inputs[0])?.data_type;
    let grid = inputs.get(1).copied().unwrap_or(inputs[0]);
    let grid = c.cast(grid, data_type)?;
    c.emit(descriptor, &[inputs[0], grid])
}

/// The positions that an affine map takes those of an image to: theta times (x, y, 1), or (x, y, z,
/// 1).
pub(super) fn affine_grid(c: &mut Context<'_, '_>) -> Result {
    let align_corners = c.attributes.flag("align_corners", false)?;
    let theta = c.input(0)?;
    let data_type = c.info(theta)?.data_type;
    let size = c.input(1)?;
    let count = c.shape(size)?.dims().first().copied().unwrap_or(0);
    let directions = match count {
        4 => 2,
        5 => 3,
        _ => return Err(Problem::unsupported(format!("a size of {count} entries"))),
    };
    // Along each direction, outermost first, positions as a tensor that broadcasts to the image.
    let mut ones = c.number(data_type, &vec![1; directions + 1], &[1.0])?;
    let spatial = slice(c, size, 2, count)?;
    let mut columns: Vec<TensorId> = Vec::new();
    for at in 0..directions {
        let first = i64::try_from(at).unwrap_or(0) + 2;
        let dim = slice(c, size, first, first + 1)?;
        let dim = c.merge_step(dim, &[])?;
        let line = positions(c, dim, data_type, align_corners)?;
        let mut groups = vec![Vec::new(); directions + 1];
        groups[at] = vec![0];
        columns.insert(0, c.merge_step(line, &groups)?);
    }
    let one = c.integers(&[1])?;
    let concat = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let full = c.step(concat, &[spatial, one])?;
    for id in columns.iter_mut().chain([&mut ones]) {
        let rule = ParameterRule::BroadcastTo {
            bidirectional: false,
        };
        *id = c.step_deferred(rule, &[*id], &[Some(full)])?;
    }
    columns.push(ones);
    let axis = u32::try_from(directions).unwrap_or(0);
    let grid = c.step(armnn_backend_api::ConcatDescriptor { axis }, &columns)?;
    let flat = c.merge_step(grid, &[(0..directions).collect(), vec![directions]])?;
    let product = BatchMatMulDescriptor::new(false, true);
    let mapped = c.step(product, &[flat, theta])?;
    let batch = slice(c, size, 0, 1)?;
    let width = c.integers(&[i64::try_from(directions).unwrap_or(0)])?;
    let dims = c.step(concat, &[batch, spatial, width])?;
    let rule = ParameterRule::Reshape { allow_zero: true };
    c.emit_deferred(rule, &[mapped], &[Some(dims)])
}

/// From -1 to 1, at the centres of so many elements, or from the first's to the last's.
fn positions(
    c: &mut Context<'_, '_>,
    dim: TensorId,
    data_type: DataType,
    align_corners: bool,
) -> Result<TensorId> {
    let number = |c: &mut Context<'_, '_>, value| {
        c.add_constant(&Constant::integers(DataType::Signed64, &[], &[value]))
    };
    let (zero, one) = (number(c, 0)?, number(c, 1)?);
    let dim = c.cast(dim, DataType::Signed64)?;
    let rule = ParameterRule::Range {
        rounded_quotient: false,
    };
    let parameters = [Some(zero), Some(dim), Some(one)];
    let line = c.step_deferred(rule, &[zero, dim, one], &parameters)?;
    let line = c.cast(line, data_type)?;
    let size = c.cast(dim, data_type)?;
    let two = c.number(data_type, &[], &[2.0])?;
    let minus_one = c.number(data_type, &[], &[-1.0])?;
    if align_corners {
        // -1 + 2 i / (n - 1); of one element, -1.
        let intervals = c.binary(Binary::Add, size, minus_one)?;
        let least = c.number(data_type, &[], &[1.0])?;
        let intervals = c.binary(Binary::Maximum, intervals, least)?;
        let step = c.binary(Binary::Div, two, intervals)?;
        let moved = c.binary(Binary::Mul, line, step)?;
        return c.binary(Binary::Add, moved, minus_one);
    }
    // -1 + (2 i + 1) / n
    let half = c.number(data_type, &[], &[0.5])?;
    let centres = c.binary(Binary::Add, line, half)?;
    let step = c.binary(Binary::Div, two, size)?;
    let moved = c.binary(Binary::Mul, centres, step)?;
    c.binary(Binary::Add, moved, minus_one)
}

/// Part of a list.
pub(super) fn slice(
    c: &mut Context<'_, '_>,
    list: TensorId,
    start: i64,
    end: i64,
) -> Result<TensorId> {
    let (start, end) = (c.integers(&[start])?, c.integers(&[end])?);
    c.step_deferred(ParameterRule::Slice, &[list], &[Some(start), Some(end)])
}

/// Columns of blocks put back to an image.
pub(super) fn col2im(c: &mut Context<'_, '_>) -> Result {
    let (image, block) = (c.input_shape(1)?, c.input_shape(2)?);
    let n = match (image.dims(), block.dims()) {
        (&[n], &[m]) if n >= 1 && (m == n || m < 0) => usize::try_from(n).unwrap_or(0),
        _ => {
            return Err(Problem::unsupported(format!(
                "an image's shape of {image} numbers and a block's of {block}"
            )));
        }
    };
    let list = |name: &str, default: u32, count: usize| -> Result<Vec<u32>> {
        let Some(list) = c.attributes.ints(name)? else {
            return Ok(vec![default; count]);
        };
        let numbers = list.iter().map(|&entry| u32::try_from(entry).ok());
        let numbers: Option<Vec<u32>> = numbers.collect();
        numbers
            .filter(|numbers| numbers.len() == count && numbers.iter().all(|&n| n >= default))
            .ok_or_else(|| Problem::malformed(format!("its {name} are {list:?}")))
    };
    let (strides, dilations) = (list("strides", 1, n)?, list("dilations", 1, n)?);
    let pads = list("pads", 0, 2 * n)?;
    // The block's shape, and the number of dimensions, come with the parameters.
    let mut descriptor = described(Col2ImDescriptor::new(&vec![1; n]))?;
    descriptor.stride[..n].copy_from_slice(&strides);
    descriptor.dilation[..n].copy_from_slice(&dilations);
    let (before, after) = pads.split_at(n);
    descriptor.pad_before[..n].copy_from_slice(before);
    descriptor.pad_after[..n].copy_from_slice(after);
    let parameters = [Some(c.input(1)?), Some(c.input(2)?)];
    let input = c.input(0)?;
    c.emit_deferred(ParameterRule::Col2Im(descriptor), &[input], &parameters)
}

/// A grid of values of each region.
pub(super) fn roi_align(c: &mut Context<'_, '_>) -> Result {
    let number = |name: &str, default: i64| -> Result<u32> {
        let value = c.attributes.int(name, default)?;
        u32::try_from(value).map_err(|_| Problem::malformed(format!("its {name} is {value}")))
    };
    let (height, width) = (number("output_height", 1)?, number("output_width", 1)?);
    let sampling_ratio = number("sampling_ratio", 0)?;
    let spatial_scale = c.attributes.float("spatial_scale", 1.0)?;
    let half_pixel = match c.version {
        16.. => match c
            .attributes
            .text("coordinate_transformation_mode", "half_pixel")?
        {
            "half_pixel" => true,
            "output_half_pixel" => false,
            other => return Err(unknown("coordinate_transformation_mode", other)),
        },
        _ => false,
    };
    let pool_type = match c.attributes.text("mode", "avg")? {
        "avg" => PoolingAlgorithm::Average,
        "max" => PoolingAlgorithm::Max,
        other => return Err(unknown("mode", other)),
    };
    let descriptor = RoiAlignDescriptor {
        pool_type: pool_type.0,
        half_pixel: half_pixel.into(),
        sampling_ratio,
        ..RoiAlignDescriptor::new(height, width, spatial_scale)
    };
    let inputs = c.inputs()?;
    c.emit(descriptor, &inputs)
}

/// The best boxes that do not overlap a better one of their class.
pub(super) fn non_max_suppression(c: &mut Context<'_, '_>) -> Result {
    let center_point_box = c.attributes.flag("center_point_box", false)?.into();
    let mut inputs = Vec::with_capacity(5);
    for position in 0..5 {
        inputs.push(c.optional_input(position)?);
    }
    let declaration = c.declaration(0)?;
    let descriptor = NonMaxSuppressionDescriptor { center_point_box };
    c.emit_all(descriptor, &inputs, &[declaration])
}

fn unknown(attribute: &str, value: &str) -> Problem {
    Problem::malformed(format!(
        "its {attribute} is \"{}\"",
        crate::error::Short(value)
    ))
}
