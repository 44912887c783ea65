//! TRANSPOSE_CONV, CONV_3D, CONV_3D_TRANSPOSE, and MediaPipe's Convolution2DTransposeBias.

use armnn_backend_api::{
    Convolution3dDescriptor, DataLayout, Shape, TransposeConvolution2dDescriptor,
    TransposeConvolution3dDescriptor, TransposeDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, WindowLayer};

use super::activation;
use super::context::{Context, described, positive};
use super::convolution::image;
use super::padding::Windows;
use super::problem::{Problem, Result};
use crate::schema_generated::{Conv3DOptionsRef, Padding, TransposeConvOptionsRef};

/// The shape of the output, weights [O, KH, KW, I], the input, perhaps a bias.
pub(super) fn transpose_conv(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<TransposeConvOptionsRef<'_>>()?;
    let function = options.fused_activation_function()?;
    let mut descriptor = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
    descriptor.stride_x = positive(options.stride_w()?, "stride_w")?;
    descriptor.stride_y = positive(options.stride_h()?, "stride_h")?;
    let same = options.padding()? == Padding::Same;
    let target = context.input(0)?;
    let weights = context.input(1)?;
    let weights = context.unpacked(weights)?;
    let input = context.input(2)?;
    let inputs = [Some(input), Some(weights), context.optional_input(3)?];
    let rule = ParameterRule::TransposeConvolution2d { descriptor, same };
    let declaration = context.declaration(0)?;
    match activation::fused(function, declaration.data_type)? {
        None => context.emit_by_rule(0, rule, &inputs, &[Some(target)], declaration),
        Some(activation) => {
            let id = context.step_by_rule(0, rule, &inputs, &[Some(target)], declaration)?;
            context.emit(activation, &[Some(id)])
        }
    }
}

/// The input, weights [O, KH, KW, I], a bias. Options: three numbers of 32 bits, the padding (1 is
/// SAME, 2 VALID), and strides along columns and rows.
///
/// With SAME padding, what reaches beyond a window that starts at the last element is cut off, the
/// odd element after the output.
pub(super) fn convolution_2d_transpose_bias(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.operator.custom_options.clone().unwrap_or_default();
    let numbers = options.as_chunks::<4>().0;
    let &[padding, stride_w, stride_h, ..] = numbers else {
        return Err(Problem::malformed(
            "its custom options are no padding and two strides",
        ));
    };
    let [padding, stride_w, stride_h] = [padding, stride_w, stride_h].map(i32::from_le_bytes);
    let input = context.input(0)?;
    let weights = context.input(1)?;
    let bias = context.input(2)?;
    let [_, rows, columns, _] = image(context.shape(input)?, "the input")?;
    let [_, filter_rows, filter_columns, _] = image(context.shape(weights)?, "the weights")?;
    let mut descriptor = TransposeConvolution2dDescriptor::new(DataLayout::Nhwc);
    descriptor.stride_x = positive(stride_w, "the stride along columns")?;
    descriptor.stride_y = positive(stride_h, "the stride along rows")?;
    let cut = |size: i64, filter: i64, stride: u32| -> Result<[u32; 2]> {
        match padding {
            2 => return Ok([0, 0]),
            1 => {}
            other => return Err(Problem::malformed(format!("its padding is {other}"))),
        }
        if stride > 1 && size < 0 || filter < 0 {
            return Err(Problem::unsupported(
                "SAME padding of an image whose size is not known",
            ));
        }
        let beyond = (size - 1).max(0) % i64::from(stride);
        let total = (filter - beyond - 1).max(0);
        let before = total / 2;
        let fits = |value: i64| {
            u32::try_from(value).map_err(|_| Problem::malformed("a filter beyond 2^32"))
        };
        Ok([fits(before)?, fits(total - before)?])
    };
    [descriptor.pad_top, descriptor.pad_bottom] = cut(rows, filter_rows, descriptor.stride_y)?;
    [descriptor.pad_left, descriptor.pad_right] =
        cut(columns, filter_columns, descriptor.stride_x)?;
    context.emit(descriptor, &[Some(input), Some(weights), Some(bias)])
}

/// Sets strides, dilations and padding of a descriptor over planes, rows and columns. Gives the
/// windows, and whether the padding is known.
macro_rules! set_volume {
    ($descriptor:ident, $options:ident, $input:expr, $filter:expr) => {{
        $descriptor.stride_z = positive($options.stride_d()?, "stride_d")?;
        $descriptor.stride_y = positive($options.stride_h()?, "stride_h")?;
        $descriptor.stride_x = positive($options.stride_w()?, "stride_w")?;
        $descriptor.dilation_z = positive($options.dilation_d_factor()?, "dilation_d_factor")?;
        $descriptor.dilation_y = positive($options.dilation_h_factor()?, "dilation_h_factor")?;
        $descriptor.dilation_x = positive($options.dilation_w_factor()?, "dilation_w_factor")?;
        let strides = [
            $descriptor.stride_z,
            $descriptor.stride_y,
            $descriptor.stride_x,
        ];
        let dilations = [
            $descriptor.dilation_z,
            $descriptor.dilation_y,
            $descriptor.dilation_x,
        ];
        let (input, filter): ([i64; 3], [i64; 3]) = ($input, $filter);
        let windows: [Windows; 3] = std::array::from_fn(|at| Windows {
            input: input[at],
            size: filter[at],
            stride: strides[at],
            dilation: dilations[at],
        });
        let padding = $options.padding()?;
        let is_known = match windows.map(|windows| windows.padding(padding)) {
            [Ok(Some(planes)), Ok(Some(rows)), Ok(Some(columns))] => {
                [$descriptor.pad_front, $descriptor.pad_back] = planes;
                [$descriptor.pad_top, $descriptor.pad_bottom] = rows;
                [$descriptor.pad_left, $descriptor.pad_right] = columns;
                true
            }
            [planes, rows, columns] => {
                (planes?, rows?, columns?);
                false
            }
        };
        (windows, is_known)
    }};
}

/// Weights [KD, KH, KW, I, O], as the network has them.
pub(super) fn conv_3d(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<Conv3DOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let weights = context.input(1)?;
    let bias = context.optional_input(2)?;
    let [_, depth, rows, columns, channels] = volume(context.shape(input)?, "the input")?;
    let [planes, filter_rows, filter_columns, in_group, channels_out] =
        volume(context.shape(weights)?, "the weights")?;
    let mut descriptor = Convolution3dDescriptor::new(DataLayout::Ndhwc);
    let (windows, is_known) = set_volume!(
        descriptor,
        options,
        [depth, rows, columns],
        [planes, filter_rows, filter_columns]
    );
    if in_group > 0 && channels > 0 && channels % in_group == 0 {
        descriptor.groups = u32::try_from(channels / in_group).unwrap_or(1);
    }
    let output = (input, channels_out);
    if context.emit_without_windows(options.padding()?, &windows, None, output)? {
        return Ok(());
    }
    let inputs = [Some(input), Some(weights), bias];
    let function = options.fused_activation_function()?;
    match is_known {
        true => context.emit_activated(descriptor, &inputs, function),
        false => {
            let layer = WindowLayer::Convolution3d(descriptor);
            context.emit_same_padded(layer, &inputs, function)
        }
    }
}

/// The shape of the output, weights [KD, KH, KW, O, I], the input, perhaps a bias. The network's
/// weights are [O, KD, KH, KW, I].
pub(super) fn conv_3d_transpose(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<Conv3DOptionsRef<'_>>()?;
    let target = context.integers(0, 5, "the shape of the output")?;
    let weights = context.input(1)?;
    let input = context.input(2)?;
    let bias = context.optional_input(3)?;
    let &[_, depth, rows, columns, _] = &target[..] else {
        return Err(Problem::malformed(format!(
            "the output's shape is {target:?}"
        )));
    };
    let [planes, filter_rows, filter_columns, _, _] =
        volume(context.shape(weights)?, "the weights")?;
    let mut descriptor = TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc);
    let (_, is_known) = set_volume!(
        descriptor,
        options,
        [depth, rows, columns],
        [planes, filter_rows, filter_columns]
    );
    if !is_known {
        return Err(Problem::unsupported(
            "SAME padding of weights or an output whose size is not known",
        ));
    }
    let order = described(TransposeDescriptor::new(&[3, 0, 1, 2, 4]))?;
    let weights = context.step(0, order, &[Some(weights)], OutputDeclaration::default())?;
    let function = options.fused_activation_function()?;
    let inputs = [Some(input), Some(weights), bias];
    let declaration = OutputDeclaration {
        shape: Some(described(Shape::new(&target).ok())?),
        ..context.declaration(0)?
    };
    match activation::fused(function, declaration.data_type)? {
        None => context.emit_declared(0, descriptor, &inputs, declaration),
        Some(activation) => {
            let id = context.step(0, descriptor, &inputs, declaration)?;
            context.emit(activation, &[Some(id)])
        }
    }
}

/// The five dimensions of a volume or of filters.
fn volume(shape: Shape, what: &str) -> Result<[i64; 5]> {
    <[i64; 5]>::try_from(shape.dims()).map_err(|_| {
        Problem::unsupported(format!(
            "{what} of shape {shape}, which is not five dimensions"
        ))
    })
}
