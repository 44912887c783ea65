//! Conv. Weights stay as the model has them: [O, I / groups, rows, columns], with images NCHW.

use armnn_backend_api::{Convolution2dDescriptor, DataLayout};

use super::context::Context;
use super::problem::{Problem, Result};
use super::windows::{windows, with_rows};

pub(super) fn conv(c: &mut Context<'_, '_>) -> Result {
    let (shape, weights) = (c.input_shape(0)?, c.input_shape(1)?);
    let (Some(spatial), Some(size)) = (shape.dims().get(2..), weights.dims().get(2..)) else {
        return Err(Problem::malformed(format!(
            "its input is {shape} and its weights are {weights}"
        )));
    };
    if spatial.len() != size.len() {
        return Err(Problem::malformed(format!(
            "its input is {shape}, but its weights are {weights}"
        )));
    }
    let windows = windows(c, spatial, Some(size))?;
    let groups = c.attributes.int("group", 1)?;
    let descriptor = Convolution2dDescriptor {
        pad_left: windows.before[1],
        pad_right: windows.after[1],
        pad_top: windows.before[0],
        pad_bottom: windows.after[0],
        stride_x: windows.stride[1],
        stride_y: windows.stride[0],
        dilation_x: windows.dilation[1],
        dilation_y: windows.dilation[0],
        groups: u32::try_from(groups)
            .map_err(|_| Problem::malformed(format!("its group is {groups}")))?,
        ..Convolution2dDescriptor::new(DataLayout::Nchw)
    };
    let input = c.reshaped_input(0, &with_rows(shape.dims())?)?;
    let weights = c.reshaped_input(1, &with_rows(weights.dims())?)?;
    let bias = c.optional_input(2)?;
    let inputs: Vec<_> = [Some(input), Some(weights), bias]
        .into_iter()
        .flatten()
        .collect();
    if spatial.len() == 2 {
        return c.emit(descriptor, &inputs);
    }
    let output = c.step(descriptor, &inputs)?;
    super::pooling::without_rows(c, output)
}
