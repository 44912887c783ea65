//! MAX_POOL_2D, AVERAGE_POOL_2D, L2_POOL_2D.

use armnn_backend_api::{DataLayout, Pooling2dDescriptor, PoolingAlgorithm};
use armnn_network::WindowLayer;

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
    let [_, rows, columns, channels] = image(context.shape(input)?, "the input")?;
    let width = positive(options.filter_width()?, "filter_width")?;
    let height = positive(options.filter_height()?, "filter_height")?;

    let mut descriptor = Pooling2dDescriptor::new(algorithm, width, height, DataLayout::Nhwc);
    descriptor.stride_x = positive(options.stride_w()?, "stride_w")?;
    descriptor.stride_y = positive(options.stride_h()?, "stride_h")?;
    let windows = |input, size: u32, stride| Windows {
        input,
        size: size.into(),
        stride,
        dilation: 1,
    };
    let padding = options.padding()?;
    let windows = [
        windows(rows, height, descriptor.stride_y),
        windows(columns, width, descriptor.stride_x),
    ];
    if context.emit_without_windows(padding, &windows, Some(0), (input, channels))? {
        return Ok(());
    }
    let inputs = [Some(input)];
    let function = options.fused_activation_function()?;
    let [Some(vertical), Some(horizontal)] =
        [windows[0].padding(padding)?, windows[1].padding(padding)?]
    else {
        return context.emit_same_padded(WindowLayer::Pooling2d(descriptor), &inputs, function);
    };
    [descriptor.pad_top, descriptor.pad_bottom] = vertical;
    [descriptor.pad_left, descriptor.pad_right] = horizontal;
    context.emit_activated(descriptor, &inputs, function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, Padding};
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestTensor, descriptors, float, lower, run};
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

    fn max_pool(padding: Padding, input: TestTensor) -> armnn_network::Network {
        let options = write::Pool2DOptions {
            padding,
            stride_w: 2,
            stride_h: 2,
            filter_width: 3,
            filter_height: 3,
            ..write::Pool2DOptions::default()
        };
        let options = write::BuiltinOptions::Pool2DOptions(Box::new(options));
        lower(Op::MaxPool2d, &[input], &[float(&[])], options).unwrap()
    }

    /// Rows 1 and 2 of 2 are under one window; of columns, windows begin at 0 and at 2 of 4.
    #[test]
    fn same_padding_follows_from_sizes_that_an_execution_brings() {
        let network = max_pool(
            Padding::Same,
            float(&[1, 1, 1, 1]).signature(&[1, -1, -1, 1]),
        );
        let x = [1.0, 5.0, 2.0, 3.0, 4.0, -1.0, 0.0, 7.0];
        let found = run(network, &[(&[1, 2, 4, 1], &x)]);
        assert_eq!(found, [(vec![1, 1, 2, 1], vec![5.0, 7.0])]);
    }

    /// (2 + 2 - 3) / 2 = 0 rows and (5 + 2 - 3) / 2 = 2 columns, as in LiteRT.
    #[test]
    fn windows_that_do_not_fit_make_an_output_without_elements() {
        let network = max_pool(Padding::Valid, float(&[1, 2, 5, 2]));
        let found = run(network, &[(&[1, 2, 5, 2], &[1.0; 20])]);
        assert_eq!(found, [(vec![1, 0, 2, 2], vec![])]);
    }
}
