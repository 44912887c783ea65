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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, Padding};
    use crate::schema_writer_generated as write;
    use crate::test_model::{descriptors, float, lower};
    use armnn_backend_api::{LayerDescriptor, PaddingMethod};

    #[test]
    fn windows_and_strides_are_not_mixed_up_and_padding_does_not_count() {
        for (operator, algorithm) in [
            (Op::MaxPool2d, PoolingAlgorithm::Max),
            (Op::AveragePool2d, PoolingAlgorithm::Average),
            (Op::L2Pool2d, PoolingAlgorithm::L2),
        ] {
            let options = write::Pool2DOptions {
                padding: Padding::Same,
                stride_w: 1,
                stride_h: 2,
                filter_width: 3,
                filter_height: 2,
                ..write::Pool2DOptions::default()
            };
            let options = write::BuiltinOptions::Pool2DOptions(Box::new(options));
            // 5 rows in steps of 2: 2 * 2 + 2 - 5 = 1. 4 columns: 3 + 3 - 4 = 2.
            let network = lower(
                operator,
                &[float(&[1, 5, 4, 2])],
                &[float(&[1, 3, 4, 2])],
                options,
            )
            .unwrap();
            let expected = Pooling2dDescriptor {
                pad_top: 0,
                pad_bottom: 1,
                pad_left: 1,
                pad_right: 1,
                stride_x: 1,
                stride_y: 2,
                padding_method: PaddingMethod::Exclude.0,
                ..Pooling2dDescriptor::new(algorithm, 3, 2, DataLayout::Nhwc)
            };
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }
}
