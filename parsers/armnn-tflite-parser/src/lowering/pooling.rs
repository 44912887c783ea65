//! MAX_POOL_2D, AVERAGE_POOL_2D, L2_POOL_2D.

use armnn_backend_api::{DataLayout, Pooling2dDescriptor, PoolingAlgorithm};

use super::context::{Context, positive};
use super::convolution::image;
use super::padding::Windows;
use super::problem::Result;
use crate::schema_generated::Pool2DOptionsRef;

/// Padding does not count, as in TFLite's kernels, which divide by the elements of the input that
/// are in the window.
pub(super) fn pool_2d(context: &mut Context<'_, '_, '_>, algorithm: PoolingAlgorithm) -> Result {
    let options = context.options::<Pool2DOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let [_, rows, columns, _] = image(context.shape(input)?, "the input")?;
    let width = positive(options.filter_width()?, "filter_width")?;
    let height = positive(options.filter_height()?, "filter_height")?;

    let mut descriptor = Pooling2dDescriptor::new(algorithm, width, height, DataLayout::Nhwc);
    descriptor.stride_x = positive(options.stride_w()?, "stride_w")?;
    descriptor.stride_y = positive(options.stride_h()?, "stride_h")?;
    let windows = |direction, input, size: u32, stride| Windows {
        direction,
        input,
        size: size.into(),
        stride,
        dilation: 1,
    };
    [descriptor.pad_top, descriptor.pad_bottom] =
        windows("rows", rows, height, descriptor.stride_y).padding(options.padding()?)?;
    [descriptor.pad_left, descriptor.pad_right] =
        windows("columns", columns, width, descriptor.stride_x).padding(options.padding()?)?;
    context.emit_activated(
        descriptor,
        &[Some(input)],
        options.fused_activation_function()?,
    )
}
