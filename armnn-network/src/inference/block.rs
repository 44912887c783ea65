//! Layers that trade batch or channels for rows and columns.

use armnn_backend_api::{
    BatchToSpaceNdDescriptor, DataLayout, DepthToSpaceDescriptor, LayerDescriptor as D, Shape,
    SpaceToBatchNdDescriptor, SpaceToDepthDescriptor,
};

use super::dimension::{UNKNOWN, known, with_dims};
use super::image::ImageAxes;
use super::{Arguments, Result, bad_field, count, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::BatchToSpaceNd(d) => batch_to_space_nd(d, arguments),
        D::DepthToSpace(d) => depth_to_space(d, arguments),
        D::SpaceToBatchNd(d) => space_to_batch_nd(d, arguments),
        D::SpaceToDepth(d) => space_to_depth(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

const TOO_LARGE: LayerProblem = LayerProblem::Overflow {
    what: "the size of the output",
};

/// The product of the blocks' sizes, and the first of the dimensions they are along.
fn blocks(axis: u32, n_axes: u32, block_shape: &[u32], input: Shape) -> Result<(i64, usize)> {
    count("n_axes", n_axes)?;
    let first = axis as usize;
    if first == 0 {
        return Err(bad_field("axis", axis, "after the batch, at least 1"));
    }
    if first.saturating_add(n_axes as usize) > input.rank() {
        let rule = format!("such that {n_axes} dimensions of the input {input} are from it on");
        return Err(bad_field("axis", axis, rule));
    }
    let mut blocks = 1i64;
    for &size in block_shape {
        if size == 0 {
            return Err(bad_field("block_shape", size, "at least 1"));
        }
        blocks = blocks.checked_mul(size.into()).ok_or(TOO_LARGE)?;
    }
    Ok((blocks, first))
}

fn batch_to_space_nd(d: &BatchToSpaceNdDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let (blocks, first) = blocks(d.axis, d.n_axes, d.block_shape(), input)?;
    let mut output = input;
    if let Some(batch) = input.dims().first().copied().and_then(known) {
        if batch % blocks != 0 {
            return Err(arguments.dimension_problem(
                0,
                0,
                format!("a multiple of {blocks}"),
                "the batch is cut into the elements of a block",
            ));
        }
        output = with_dims(output, [(0, batch / blocks)]);
    }
    for (i, &block) in d.block_shape().iter().enumerate() {
        let axis = first + i;
        let crops = [d.crop_before()[i], d.crop_after()[i]].map(i64::from);
        let size = match known(input.dims()[axis]) {
            Some(size) => {
                let whole = size.checked_mul(block.into()).ok_or(TOO_LARGE)?;
                let rest = whole - crops[0] - crops[1];
                if rest < 0 {
                    let rule = format!("such that at most {whole} elements are cropped in all");
                    return Err(bad_field("crop_before", crops[0], rule));
                }
                rest
            }
            None => UNKNOWN,
        };
        output = with_dims(output, [(axis, size)]);
    }
    Ok(output)
}

fn space_to_batch_nd(d: &SpaceToBatchNdDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let (blocks, first) = blocks(d.axis, d.n_axes, d.block_shape(), input)?;
    let mut output = input;
    if let Some(batch) = input.dims().first().copied().and_then(known) {
        let batch = batch.checked_mul(blocks).ok_or(TOO_LARGE)?;
        output = with_dims(output, [(0, batch)]);
    }
    for (i, &block) in d.block_shape().iter().enumerate() {
        let axis = first + i;
        let pads = [d.pad_before()[i], d.pad_after()[i]].map(i64::from);
        let size = match known(input.dims()[axis]) {
            Some(size) => {
                let padded = size.checked_add(pads[0] + pads[1]).ok_or(TOO_LARGE)?;
                if padded % i64::from(block) != 0 {
                    return Err(arguments.dimension_problem(
                        0,
                        axis,
                        format!("with its padding a multiple of {block}"),
                        "it is divided into blocks",
                    ));
                }
                padded / i64::from(block)
            }
            None => UNKNOWN,
        };
        output = with_dims(output, [(axis, size)]);
    }
    Ok(output)
}

fn block_of(size: u32, layout: DataLayout) -> Result<(i64, ImageAxes)> {
    if size == 0 {
        return Err(bad_field("block_size", size, "at least 1"));
    }
    Ok((size.into(), ImageAxes::of(layout)?))
}

fn depth_to_space(d: &DepthToSpaceDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let (block, axes) = block_of(d.block_size, d.data_layout())?;
    named("mode", d.mode, d.mode().name())?;
    let input = arguments.input_of_rank(0, 4)?;
    let mut output = input;
    for axis in [axes.rows, axes.columns] {
        if let Some(size) = known(input.dims()[axis]) {
            let size = size.checked_mul(block).ok_or(TOO_LARGE)?;
            output = with_dims(output, [(axis, size)]);
        }
    }
    if let Some(channels) = known(input.dims()[axes.channels]) {
        let elements = block.checked_mul(block).ok_or(TOO_LARGE)?;
        if channels % elements != 0 {
            return Err(arguments.dimension_problem(
                0,
                axes.channels,
                format!("a multiple of {elements}"),
                "channels are cut into the elements of a block",
            ));
        }
        output = with_dims(output, [(axes.channels, channels / elements)]);
    }
    Ok(output)
}

fn space_to_depth(d: &SpaceToDepthDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let (block, axes) = block_of(d.block_size, d.data_layout())?;
    let input = arguments.input_of_rank(0, 4)?;
    let mut output = input;
    for axis in [axes.rows, axes.columns] {
        if let Some(size) = known(input.dims()[axis]) {
            if size % block != 0 {
                return Err(arguments.dimension_problem(
                    0,
                    axis,
                    format!("a multiple of {block}"),
                    "it is divided into blocks",
                ));
            }
            output = with_dims(output, [(axis, size / block)]);
        }
    }
    if let Some(channels) = known(input.dims()[axes.channels]) {
        let elements = block.checked_mul(block).ok_or(TOO_LARGE)?;
        let channels = channels.checked_mul(elements).ok_or(TOO_LARGE)?;
        output = with_dims(output, [(axes.channels, channels)]);
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DepthToSpaceMode;

    use super::super::tests::{refused_field, shape_after};
    use super::*;

    #[test]
    fn a_batch_becomes_space_and_space_a_batch() {
        let mut d = BatchToSpaceNdDescriptor::new(1, &[2, 3]).unwrap();
        d.crop_before[1] = 1;
        // 12 / 6, 4 2, 5 3 - 1.
        let input = Shape::from([12, 4, 5, 7]);
        let output = Shape::from([2, 8, 14, 7]);
        assert_eq!(shape_after(d, &[input]), Ok(output));
        let mut back = SpaceToBatchNdDescriptor::new(1, &[2, 3]).unwrap();
        back.pad_before[1] = 1;
        assert_eq!(shape_after(back, &[output]), Ok(input));
        let unknown = [Shape::from([-1, 4, -1, 7])];
        assert_eq!(shape_after(d, &unknown), Ok(Shape::from([-1, 8, -1, 7])));
        assert!(shape_after(d, &[Shape::from([4, 4, 5, 7])]).is_err());
        d.crop_after[0] = 9;
        assert_eq!(refused_field(shape_after(d, &[input])), "crop_before");
        d.axis = 3;
        assert_eq!(refused_field(shape_after(d, &[input])), "axis");
        d.block_shape[0] = 0;
        d.axis = 1;
        assert_eq!(refused_field(shape_after(d, &[input])), "block_shape");
        let huge = SpaceToBatchNdDescriptor::new(1, &[u32::MAX; 3]).unwrap();
        assert_eq!(shape_after(huge, &[input]), Err(TOO_LARGE));
    }

    #[test]
    fn depth_becomes_space_and_space_depth() {
        let nchw = DataLayout::Nchw;
        let d = DepthToSpaceDescriptor::new(2, DepthToSpaceMode::Crd, nchw);
        let (deep, wide) = (Shape::from([1, 8, 3, -1]), Shape::from([1, 2, 6, -1]));
        assert_eq!(shape_after(d, &[deep]), Ok(wide));
        let d = SpaceToDepthDescriptor::new(2, nchw);
        assert_eq!(shape_after(d, &[wide]), Ok(deep));
        assert!(shape_after(d, &[deep]).is_err());
        let none = SpaceToDepthDescriptor::new(0, nchw);
        assert_eq!(refused_field(shape_after(none, &[deep])), "block_size");
    }
}
