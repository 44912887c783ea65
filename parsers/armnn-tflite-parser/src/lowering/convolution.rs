//! CONV_2D, DEPTHWISE_CONV_2D.
//!
//! Weights are as the network has them: [O, KH, KW, I] and [1, KH, KW, C M]. `quantized_bias_type`
//! is not looked at: it tells kernels how wide to add up, and the bias has its own type.

use armnn_backend_api::{
    Convolution2dDescriptor, DataLayout, DepthwiseConvolution2dDescriptor, Shape,
};
use armnn_network::WindowLayer;

use super::context::{Context, positive};
use super::padding::Windows;
use super::problem::{Problem, Result};
use crate::schema_generated::{Conv2DOptionsRef, DepthwiseConv2DOptionsRef};

/// Sets strides, dilations and padding of a descriptor as the operator's options say, for filters
/// over an image: `[input, filter]` along each direction. Gives the windows, and whether the padding
/// is known.
macro_rules! set_windows {
    ($descriptor:ident, $options:ident, $rows:expr, $columns:expr) => {{
        $descriptor.stride_x = positive($options.stride_w()?, "stride_w")?;
        $descriptor.stride_y = positive($options.stride_h()?, "stride_h")?;
        $descriptor.dilation_x = positive($options.dilation_w_factor()?, "dilation_w_factor")?;
        $descriptor.dilation_y = positive($options.dilation_h_factor()?, "dilation_h_factor")?;
        let windows = [
            windows($rows, [$descriptor.stride_y, $descriptor.dilation_y]),
            windows($columns, [$descriptor.stride_x, $descriptor.dilation_x]),
        ];
        let padding = $options.padding()?;
        let is_known = match windows.map(|windows| windows.padding(padding)) {
            [Ok(Some(vertical)), Ok(Some(horizontal))] => {
                [$descriptor.pad_top, $descriptor.pad_bottom] = vertical;
                [$descriptor.pad_left, $descriptor.pad_right] = horizontal;
                true
            }
            [vertical, horizontal] => {
                (vertical?, horizontal?);
                false
            }
        };
        (windows, is_known)
    }};
}

pub(super) fn conv_2d(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<Conv2DOptionsRef<'_>>()?;
    let (input, weights) = (context.input(0)?, context.input(1)?);
    let weights = context.unpacked(weights)?;
    let [input, weights] = context.real_convolution(input, weights, false)?;
    let bias = context.optional_input(2)?;
    let [_, rows, columns, channels] = image(context.shape(input)?, "the input")?;
    let [channels_out, filter_rows, filter_columns, in_group] =
        image(context.shape(weights)?, "the weights")?;

    let mut descriptor = Convolution2dDescriptor::new(DataLayout::Nhwc);
    let (windows, is_known) = set_windows!(
        descriptor,
        options,
        [rows, filter_rows],
        [columns, filter_columns]
    );
    // Filters that cover a part of the channels are of groups.
    descriptor.groups = match channels.checked_div(in_group) {
        Some(groups) if channels > 0 && in_group > 0 && channels % in_group == 0 => {
            u32::try_from(groups).unwrap_or(1)
        }
        _ => 1,
    };
    let output = (input, channels_out);
    if context.emit_without_windows(options.padding()?, &windows, None, output)? {
        return Ok(());
    }
    let inputs = [Some(input), Some(weights), bias];
    let function = options.fused_activation_function()?;
    match is_known {
        true => context.emit_activated(descriptor, &inputs, function),
        false => {
            let layer = WindowLayer::Convolution2d(descriptor);
            context.emit_same_padded(layer, &inputs, function)
        }
    }
}

/// `depth_multiplier` is not looked at: it is the output channels through those of the input.
pub(super) fn depthwise_conv_2d(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<DepthwiseConv2DOptionsRef<'_>>()?;
    let (input, weights) = (context.input(0)?, context.input(1)?);
    let weights = context.unpacked(weights)?;
    let [input, weights] = context.real_convolution(input, weights, true)?;
    let bias = context.optional_input(2)?;
    let [_, rows, columns, _] = image(context.shape(input)?, "the input")?;
    let [_, filter_rows, filter_columns, channels_out] =
        image(context.shape(weights)?, "the weights")?;

    let mut descriptor = DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
    let (windows, is_known) = set_windows!(
        descriptor,
        options,
        [rows, filter_rows],
        [columns, filter_columns]
    );
    let output = (input, channels_out);
    if context.emit_without_windows(options.padding()?, &windows, None, output)? {
        return Ok(());
    }
    let inputs = [Some(input), Some(weights), bias];
    let function = options.fused_activation_function()?;
    match is_known {
        true => context.emit_activated(descriptor, &inputs, function),
        false => {
            let layer = WindowLayer::DepthwiseConvolution2d(descriptor);
            context.emit_same_padded(layer, &inputs, function)
        }
    }
}

/// The four dimensions of an image or of filters.
pub(super) fn image(shape: Shape, what: &str) -> Result<[i64; 4]> {
    <[i64; 4]>::try_from(shape.dims()).map_err(|_| {
        Problem::unsupported(format!(
            "{what} of shape {shape}, which is not four dimensions"
        ))
    })
}

fn windows([input, size]: [i64; 2], [stride, dilation]: [u32; 2]) -> Windows {
    Windows {
        input,
        size,
        stride,
        dilation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{
        ActivationFunctionType, BuiltinOperator as Op, Padding, TensorType,
    };
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestTensor, assert_refused, descriptors, float, floats, floats_constant, load, lower,
        outputs, run, tensor, typed, types, zeros,
    };
    use armnn_backend_api::{ActivationDescriptor, ActivationFunction, LayerDescriptor, LayerType};

    fn options(padding: Padding, stride: i32) -> write::Conv2DOptions {
        write::Conv2DOptions {
            padding,
            stride_w: stride,
            stride_h: stride,
            ..write::Conv2DOptions::default()
        }
    }

    fn conv(options: write::Conv2DOptions, input: TestTensor, output: TestTensor) -> Lowered {
        let inputs = [input, zeros(&[8, 3, 3, 4]), zeros(&[8])];
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
        lower(Op::Conv2d, &inputs, &[output], options)
    }

    type Lowered = Result<armnn_network::Network, crate::TfliteParserError>;

    #[test]
    fn same_padding_in_steps_of_two_depends_on_whether_the_size_is_even() {
        // 6 rows: 2 * 2 + 3 - 6 = 1. 5 columns: 2 * 2 + 3 - 5 = 2.
        let network = conv(
            options(Padding::Same, 2),
            float(&[1, 6, 5, 4]),
            float(&[1, 3, 3, 8]),
        )
        .unwrap();
        let expected = Convolution2dDescriptor {
            pad_top: 0,
            pad_bottom: 1,
            pad_left: 1,
            pad_right: 1,
            stride_x: 2,
            stride_y: 2,
            ..Convolution2dDescriptor::new(DataLayout::Nhwc)
        };
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        assert_eq!(outputs(&network), ["Float32[1, 3, 3, 8]"]);
        assert_eq!(network.layers()[0].name, "t3");
    }

    #[test]
    fn strides_and_dilations_are_not_mixed_up() {
        let options = write::Conv2DOptions {
            padding: Padding::Valid,
            stride_w: 2,
            stride_h: 3,
            dilation_w_factor: 4,
            dilation_h_factor: 1,
            ..write::Conv2DOptions::default()
        };
        // Rows (12 - 3) / 3 + 1 = 4; columns (20 - 9) / 2 + 1 = 6.
        let network = conv(options, float(&[1, 12, 20, 4]), float(&[1, 4, 6, 8])).unwrap();
        let LayerDescriptor::Convolution2d(d) = descriptors(&network)[0] else {
            panic!();
        };
        assert_eq!(
            (d.stride_x, d.stride_y, d.dilation_x, d.dilation_y),
            (2, 3, 4, 1)
        );
    }

    #[test]
    fn a_fused_activation_is_a_layer_of_its_own() {
        use ActivationFunction as F;
        use ActivationFunctionType as Fused;
        for (fused, function, a, b) in [
            (Fused::Relu, F::ReLu, 0.0, 0.0),
            (Fused::Relu6, F::BoundedReLu, 6.0, 0.0),
            (Fused::ReluN1To1, F::BoundedReLu, 1.0, -1.0),
            (Fused::Tanh, F::TanH, 1.0, 1.0),
        ] {
            let options = write::Conv2DOptions {
                fused_activation_function: fused,
                ..options(Padding::Valid, 1)
            };
            let network = conv(options, float(&[1, 5, 5, 4]), float(&[1, 3, 3, 8])).unwrap();
            let expected = ActivationDescriptor::new(function, a, b);
            assert_eq!(descriptors(&network)[1], &LayerDescriptor::from(expected));
            let names: Vec<&str> = network
                .layers()
                .iter()
                .map(|layer| &layer.name[..])
                .collect();
            assert_eq!(names, ["t3/Convolution2d", "t3"]);
        }
        let options = write::Conv2DOptions {
            fused_activation_function: Fused::SignBit,
            ..options(Padding::Valid, 1)
        };
        let refused = conv(options, float(&[1, 5, 5, 4]), float(&[1, 3, 3, 8]));
        assert_refused(
            refused,
            "operator 0 (CONV_2D): the fused activation SIGN_BIT",
        );
    }

    #[test]
    fn filters_over_a_part_of_the_channels_are_of_groups() {
        let network = conv(
            options(Padding::Valid, 1),
            float(&[1, 3, 3, 8]),
            float(&[1, 1, 1, 8]),
        )
        .unwrap();
        let LayerDescriptor::Convolution2d(d) = descriptors(&network)[0] else {
            panic!();
        };
        assert_eq!(d.groups, 2);
    }

    #[test]
    fn a_stride_of_0_is_damage() {
        let refused = conv(
            options(Padding::Valid, 0),
            float(&[1, 5, 5, 4]),
            float(&[1, 3, 3, 8]),
        );
        assert_refused(
            refused,
            "operator 0 (CONV_2D): stride_w is 0; the file is damaged",
        );
    }

    #[test]
    fn the_shape_that_the_file_says_of_an_output_does_not_count() {
        let lowered = conv(
            options(Padding::Valid, 1),
            float(&[1, 5, 5, 4]),
            float(&[1, 5, 5, 8]),
        );
        assert_eq!(outputs(&lowered.unwrap()), ["Float32[1, 3, 3, 8]"]);
    }

    #[test]
    fn quantized_convolutions_keep_their_types() {
        let q = |shape: &[i32]| typed(TensorType::Int8, shape).quantized(0.5, 3);
        let weights = typed(TensorType::Int8, &[2, 1, 1, 2])
            .quantized_along(0, &[0.1, 0.2], &[0, 0])
            .with_data(vec![1; 4]);
        let bias = typed(TensorType::Int32, &[2])
            .quantized_along(0, &[0.05, 0.1], &[0, 0])
            .with_data(vec![0; 8]);
        let options = write::Conv2DOptions {
            fused_activation_function: ActivationFunctionType::Relu6,
            ..options(Padding::Valid, 1)
        };
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
        let inputs = [q(&[1, 4, 4, 2]), weights, bias];
        let network = lower(Op::Conv2d, &inputs, &[q(&[1, 4, 4, 2])], options).unwrap();
        let types_of: Vec<String> = network.layers()[0]
            .present_inputs()
            .map(|id| network.tensor(id).info.to_string())
            .collect();
        assert_eq!(
            types_of,
            ["QAsymmS8[1, 4, 4, 2]", "QSymmS8[2, 1, 1, 2]", "Signed32[2]"]
        );
        // What comes before the activation is in the output's scale.
        let sum = network.tensor(network.layers()[0].outputs[0]);
        assert_eq!(sum.info.quantization.scales(), [0.5]);
        assert_eq!(sum.info.quantization.zero_points(), [3]);
    }

    #[test]
    fn depthwise_weights_fit_as_they_are() {
        let options = write::DepthwiseConv2DOptions {
            padding: Padding::Same,
            stride_w: 2,
            stride_h: 2,
            depth_multiplier: 2,
            ..write::DepthwiseConv2DOptions::default()
        };
        let options = write::BuiltinOptions::DepthwiseConv2DOptions(Box::new(options));
        let inputs = [float(&[1, 4, 5, 3]), zeros(&[1, 3, 3, 6])];
        let network = lower(
            Op::DepthwiseConv2d,
            &inputs,
            &[float(&[1, 2, 3, 6])],
            options,
        )
        .unwrap();
        assert_eq!(types(&network), [LayerType::DepthwiseConvolution2d]);
        let LayerDescriptor::DepthwiseConvolution2d(d) = descriptors(&network)[0] else {
            panic!();
        };
        // 4 rows: 1 * 2 + 3 - 4 = 1. 5 columns: 2 * 2 + 3 - 5 = 2.
        assert_eq!(
            (d.pad_top, d.pad_bottom, d.pad_left, d.pad_right),
            (0, 1, 1, 1)
        );
    }

    #[test]
    fn an_absent_bias_is_absent() {
        let mut model = crate::test_model::TestModel::default();
        let input = model.input(float(&[1, 3, 3, 4]));
        let weights = model.tensor(zeros(&[8, 3, 3, 4]));
        let output = model.tensor(float(&[1, 1, 1, 8]));
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options(Padding::Valid, 1)));
        model.operator(Op::Conv2d, &[input, weights, -1], &[output], Some(options));
        model.output(output);
        assert_eq!(model.parse().unwrap().layers()[0].inputs.len(), 2);
    }

    #[test]
    fn a_batch_of_any_size_stays_unknown() {
        let network = conv(
            options(Padding::Valid, 1),
            float(&[1, 5, 5, 4]).signature(&[-1, 5, 5, 4]),
            float(&[1, 3, 3, 8]).signature(&[-1, 3, 3, 8]),
        )
        .unwrap();
        assert_eq!(outputs(&network), ["Float32[?, 3, 3, 8]"]);
    }

    /// 6 rows and 5 columns in steps of 2, as above, then 5 rows and 6 columns.
    #[test]
    fn same_padding_follows_from_sizes_that_an_execution_brings() {
        let model = |rows: i32, columns: i32, signature: &[i32], fused| {
            let options = write::Conv2DOptions {
                fused_activation_function: fused,
                ..options(Padding::Same, 2)
            };
            let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
            let weights: Vec<f32> = (0..18).map(|n| n as f32 - 9.0).collect();
            let weights = floats_constant(&[2, 3, 3, 1], &weights);
            let input = float(&[1, rows, columns, 1]).signature(signature);
            let inputs = [input, weights, zeros(&[2])];
            lower(Op::Conv2d, &inputs, &[float(&[])], options).unwrap()
        };
        use ActivationFunctionType as Fused;
        for fused in [Fused::None, Fused::Relu6] {
            let open = load(model(6, 5, &[-1, -1, -1, 1], fused));
            for (rows, columns) in [(6, 5), (5, 6)] {
                let values: Vec<f32> = (0..30).map(|n| (n * n % 7) as f32).collect();
                let x = tensor(&[1, rows, columns, 1], &values);
                let fixed = model(rows as i32, columns as i32, &[], fused);
                let expected = load(fixed).run(std::slice::from_ref(&x)).unwrap();
                let found = open.run(&[x]).unwrap();
                assert_eq!(floats(&found[0]), floats(&expected[0]));
                assert_eq!(found[0].info().shape.dims(), [1, 3, 3, 2]);
            }
        }
    }

    /// 2 rows and a window of 3 in steps of 1: (2 + 1 - 3) / 1 = 0 rows, as in LiteRT; columns
    /// (5 - 3) / 1 + 1 = 3. A window of 5 rows would be -2 rows, which LiteRT refuses, too.
    #[test]
    fn windows_that_do_not_fit_make_an_output_without_elements() {
        for signature in [&[][..], &[-1, 2, 5, 4]] {
            let input = float(&[1, 2, 5, 4]).signature(signature);
            let network = conv(options(Padding::Valid, 1), input, float(&[])).unwrap();
            let found = run(network, &[(&[1, 2, 5, 4], &[0.5; 40])]);
            assert_eq!(found, [(vec![1, 0, 3, 8], vec![])]);
        }
        let inputs = [float(&[1, 2, 5, 4]), zeros(&[8, 5, 3, 4]), zeros(&[8])];
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options(Padding::Valid, 1)));
        let refused = lower(Op::Conv2d, &inputs, &[float(&[])], options);
        assert_refused(refused, "rows");
    }
}
