//! CONV_2D, DEPTHWISE_CONV_2D.
//!
//! Weights are as the network has them: [O, KH, KW, I] and [1, KH, KW, C M]. `quantized_bias_type`
//! is not looked at: it tells kernels how wide to add up, and the bias has its own type.

use armnn_backend_api::{
    Convolution2dDescriptor, DataLayout, DepthwiseConvolution2dDescriptor, Shape,
};

use super::context::{Context, positive};
use super::padding::Windows;
use super::problem::{Problem, Result};
use crate::schema_generated::{Conv2DOptionsRef, DepthwiseConv2DOptionsRef, Padding};

pub(super) fn conv_2d(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<Conv2DOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let weights = context.input(1)?;
    let bias = context.optional_input(2)?;
    let [_, rows, columns, channels] = image(context.shape(input)?, "the input")?;
    let [_, filter_rows, filter_columns, in_group] = image(context.shape(weights)?, "the weights")?;

    let mut descriptor = Convolution2dDescriptor::new(DataLayout::Nhwc);
    descriptor.stride_x = positive(options.stride_w()?, "stride_w")?;
    descriptor.stride_y = positive(options.stride_h()?, "stride_h")?;
    descriptor.dilation_x = positive(options.dilation_w_factor()?, "dilation_w_factor")?;
    descriptor.dilation_y = positive(options.dilation_h_factor()?, "dilation_h_factor")?;
    // Filters that cover a part of the channels are of groups.
    descriptor.groups = match channels.checked_div(in_group) {
        Some(groups) if channels > 0 && in_group > 0 && channels % in_group == 0 => {
            u32::try_from(groups).unwrap_or(1)
        }
        _ => 1,
    };
    [descriptor.pad_top, descriptor.pad_bottom] = padding(
        options.padding()?,
        "rows",
        [rows, filter_rows],
        [descriptor.stride_y, descriptor.dilation_y],
    )?;
    [descriptor.pad_left, descriptor.pad_right] = padding(
        options.padding()?,
        "columns",
        [columns, filter_columns],
        [descriptor.stride_x, descriptor.dilation_x],
    )?;
    let inputs = [Some(input), Some(weights), bias];
    context.emit_activated(descriptor, &inputs, options.fused_activation_function()?)
}

/// `depth_multiplier` is not looked at: it is the output channels through those of the input.
pub(super) fn depthwise_conv_2d(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<DepthwiseConv2DOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let weights = context.input(1)?;
    let bias = context.optional_input(2)?;
    let [_, rows, columns, _] = image(context.shape(input)?, "the input")?;
    let [_, filter_rows, filter_columns, _] = image(context.shape(weights)?, "the weights")?;

    let mut descriptor = DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
    descriptor.stride_x = positive(options.stride_w()?, "stride_w")?;
    descriptor.stride_y = positive(options.stride_h()?, "stride_h")?;
    descriptor.dilation_x = positive(options.dilation_w_factor()?, "dilation_w_factor")?;
    descriptor.dilation_y = positive(options.dilation_h_factor()?, "dilation_h_factor")?;
    [descriptor.pad_top, descriptor.pad_bottom] = padding(
        options.padding()?,
        "rows",
        [rows, filter_rows],
        [descriptor.stride_y, descriptor.dilation_y],
    )?;
    [descriptor.pad_left, descriptor.pad_right] = padding(
        options.padding()?,
        "columns",
        [columns, filter_columns],
        [descriptor.stride_x, descriptor.dilation_x],
    )?;
    let inputs = [Some(input), Some(weights), bias];
    context.emit_activated(descriptor, &inputs, options.fused_activation_function()?)
}

/// The four dimensions of an image or of filters.
pub(super) fn image(shape: Shape, what: &str) -> Result<[i64; 4]> {
    <[i64; 4]>::try_from(shape.dims()).map_err(|_| {
        Problem::unsupported(format!(
            "{what} of shape {shape}, which is not four dimensions"
        ))
    })
}

fn padding(
    padding: Padding,
    direction: &'static str,
    [input, size]: [i64; 2],
    [stride, dilation]: [u32; 2],
) -> Result<[u32; 2]> {
    if size < 0 && padding == Padding::Same {
        return Err(Problem::unsupported("weights whose size is not known"));
    }
    let windows = Windows {
        direction,
        input,
        size,
        stride,
        dilation,
    };
    windows.padding(padding)
}
