//! Convolutions. Weights stay as the model has them: [O, I / groups, rows, columns], with images
//! NCHW; of transposed ones [I, O / groups, rows, columns].

use armnn_backend_api::{
    Convolution2dDescriptor, Convolution3dDescriptor, DataLayout, DeformConvDescriptor,
    TransposeConvolution2dDescriptor, TransposeConvolution3dDescriptor,
};
use armnn_network::{ParameterRule, TensorId, TransposedLayer, TransposedSizes, WindowLayer};

use super::context::Context;
use super::problem::{Problem, Result};
use super::windows::{
    AutoPad, Windows, auto_pad, declared_windows, no_rows_groups, numbers, rows_groups, windows,
};

pub(super) fn conv(c: &mut Context<'_, '_>) -> Result {
    let windows = windows_of(c)?;
    let input = c.input(0)?;
    let weights = c.input(1)?;
    let bias = c.optional_input(2)?;
    let output = convolution(c, input, weights, bias, &windows, true)?;
    c.bind_tensor(0, output)
}

/// The windows that attributes and weights say.
pub(super) fn windows_of(c: &mut Context<'_, '_>) -> Result<Windows> {
    let (spatial, size) = directions(c)?;
    windows(c, &spatial, Some(&size))
}

/// The convolution of tensors as ONNX has them; `last` says whether it writes the first output.
pub(super) fn convolution(
    c: &mut Context<'_, '_>,
    mut input: TensorId,
    mut weights: TensorId,
    bias: Option<TensorId>,
    windows: &Windows,
    last: bool,
) -> Result<TensorId> {
    let directions = windows.size.len();
    if directions == 1 {
        let groups = rows_groups(1);
        input = c.merge_step(input, &groups)?;
        weights = c.merge_step(weights, &groups)?;
    }
    let inputs: Vec<TensorId> = [input, weights].into_iter().chain(bias).collect();
    let groups = group(c)?;
    let w = windows.clone().with_rows();
    if directions == 3 {
        let descriptor = Convolution3dDescriptor {
            pad_left: w.before[2],
            pad_right: w.after[2],
            pad_top: w.before[1],
            pad_bottom: w.after[1],
            pad_front: w.before[0],
            pad_back: w.after[0],
            stride_x: w.stride[2],
            stride_y: w.stride[1],
            stride_z: w.stride[0],
            dilation_x: w.dilation[2],
            dilation_y: w.dilation[1],
            dilation_z: w.dilation[0],
            groups,
            ..Convolution3dDescriptor::new(DataLayout::Ncdhw)
        };
        c.is_last = last;
        return windows.step(c, WindowLayer::Convolution3d(descriptor), &inputs);
    }
    let descriptor = Convolution2dDescriptor {
        pad_left: w.before[1],
        pad_right: w.after[1],
        pad_top: w.before[0],
        pad_bottom: w.after[0],
        stride_x: w.stride[1],
        stride_y: w.stride[0],
        dilation_x: w.dilation[1],
        dilation_y: w.dilation[0],
        groups,
        ..Convolution2dDescriptor::new(DataLayout::Nchw)
    };
    let layer = WindowLayer::Convolution2d(descriptor);
    if directions == 2 {
        c.is_last = last;
        return windows.step(c, layer, &inputs);
    }
    let output = windows.step(c, layer, &inputs)?;
    c.is_last = last;
    c.merge_step(output, &no_rows_groups())
}

/// Without a pad the output has (input - 1) stride + extent elements, plus `output_padding`;
/// `output_shape` says it, and the padding follows.
pub(super) fn conv_transpose(c: &mut Context<'_, '_>) -> Result {
    let (spatial, size) = directions(c)?;
    let mut windows = declared_windows(c, &spatial, Some(&size))?;
    windows.padding = auto_pad(c)?;
    let n = spatial.len();
    let list = |name: &str| -> Result<Option<Vec<i64>>> {
        match c.attributes.ints(name)?.filter(|list| !list.is_empty()) {
            Some(list) if list.len() >= n && list.iter().all(|&entry| entry >= 0) => {
                // Some writers give the batch and the channels, too.
                Ok(Some(list[list.len() - n..].to_vec()))
            }
            Some(list) => Err(Problem::malformed(format!("its {name} is {list:?}"))),
            None => Ok(None),
        }
    };
    let more = list("output_padding")?.unwrap_or_else(|| vec![0; n]);
    let mut more = numbers(&more, 0, "output_padding")?;
    let mut sizes = match (list("output_shape")?, windows.padding) {
        (Some(sizes), _) => TransposedSizes::Given(sizes),
        (None, AutoPad::SameUpper | AutoPad::SameLower) => TransposedSizes::Strided,
        (None, AutoPad::NotSet | AutoPad::Valid) => TransposedSizes::Padded,
    };
    if windows.padding == AutoPad::Valid {
        windows.before.fill(0);
        windows.after.fill(0);
    }
    if n == 1 {
        more.insert(0, 0);
        if let TransposedSizes::Given(sizes) = &mut sizes {
            sizes.insert(0, 1);
        }
    }
    let groups = group(c)?;
    let (input, weights) = (
        c.merged_input(0, &rows_groups(n))?,
        c.merged_input(1, &rows_groups(n))?,
    );
    let bias = c.optional_input(2)?;
    let inputs: Vec<TensorId> = [input, weights].into_iter().chain(bias).collect();
    let odd_behind = windows.padding == AutoPad::SameUpper;
    let w = windows.with_rows();
    let layer = match n {
        3 => TransposedLayer::In3d(TransposeConvolution3dDescriptor {
            pad_left: w.before[2],
            pad_right: w.after[2],
            pad_top: w.before[1],
            pad_bottom: w.after[1],
            pad_front: w.before[0],
            pad_back: w.after[0],
            stride_x: w.stride[2],
            stride_y: w.stride[1],
            stride_z: w.stride[0],
            dilation_x: w.dilation[2],
            dilation_y: w.dilation[1],
            dilation_z: w.dilation[0],
            groups,
            ..TransposeConvolution3dDescriptor::new(DataLayout::Ncdhw)
        }),
        _ => TransposedLayer::In2d(TransposeConvolution2dDescriptor {
            pad_left: w.before[1],
            pad_right: w.after[1],
            pad_top: w.before[0],
            pad_bottom: w.after[0],
            stride_x: w.stride[1],
            stride_y: w.stride[0],
            dilation_x: w.dilation[1],
            dilation_y: w.dilation[0],
            groups,
            ..TransposeConvolution2dDescriptor::new(DataLayout::Nchw)
        }),
    };
    let rule = ParameterRule::TransposedWindows {
        layer,
        sizes,
        more,
        odd_behind,
    };
    if n != 1 {
        return c.emit_deferred(rule, &inputs, &[]);
    }
    let output = c.step_deferred(rule, &inputs, &[])?;
    let output = c.last().merge_step(output, &no_rows_groups())?;
    c.bind_tensor(0, output)
}

/// Inputs: image, weights, offsets, bias, mask.
pub(super) fn deform_conv(c: &mut Context<'_, '_>) -> Result {
    let (spatial, size) = directions(c)?;
    if spatial.len() != 2 {
        return Err(Problem::unsupported(format!(
            "windows over {} dimensions; over 2 they are supported",
            spatial.len()
        )));
    }
    let w = windows(c, &spatial, Some(&size))?;
    let offset_groups = c.attributes.int("offset_group", 1)?;
    let descriptor = DeformConvDescriptor {
        pad_left: w.before[1],
        pad_right: w.after[1],
        pad_top: w.before[0],
        pad_bottom: w.after[0],
        stride_x: w.stride[1],
        stride_y: w.stride[0],
        dilation_x: w.dilation[1],
        dilation_y: w.dilation[0],
        groups: group(c)?,
        offset_groups: u32::try_from(offset_groups)
            .map_err(|_| Problem::malformed(format!("its offset_group is {offset_groups}")))?,
    };
    let mut inputs = Vec::with_capacity(5);
    for position in 0..5 {
        inputs.push(c.optional_input(position)?);
    }
    let declarations = [c.declaration(0)?];
    if w.is_same() {
        let rule = w.rule(WindowLayer::DeformConv(descriptor));
        return c.emit_deferred_all(rule, &inputs, &[], &declarations);
    }
    c.emit_all(descriptor, &inputs, &declarations)
}

fn group(c: &Context<'_, '_>) -> Result<u32> {
    let groups = c.attributes.int("group", 1)?;
    u32::try_from(groups).map_err(|_| Problem::malformed(format!("its group is {groups}")))
}

/// The dimensions that windows move over, and the sizes of the windows.
fn directions(c: &mut Context<'_, '_>) -> Result<(Vec<i64>, Vec<i64>)> {
    let (shape, weights) = (c.input_shape(0)?, c.input_shape(1)?);
    match (shape.dims().get(2..), weights.dims().get(2..)) {
        (Some(spatial), Some(size)) if spatial.len() == size.len() => {
            Ok((spatial.to_vec(), size.to_vec()))
        }
        _ => Err(Problem::malformed(format!(
            "its input is {shape} and its weights are {weights}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataLayout, LayerDescriptor, LayerType};

    use super::Convolution2dDescriptor;
    use crate::proto::AttributeProto;
    use crate::test_model::{
        assert_refused, descriptors, int, list, output_dims, single, text, types, zeros,
    };

    fn conv(attributes: &[AttributeProto]) -> (Convolution2dDescriptor, Vec<i64>) {
        let weights = [zeros("w", &[8, 2, 3, 5]), zeros("b", &[8])];
        let network = single(11, "Conv", &[1, 4, 10, 20], &weights, attributes).unwrap();
        let [LayerDescriptor::Convolution2d(d)] = descriptors(&network)[..] else {
            panic!("{:?}", descriptors(&network));
        };
        (d, output_dims(&network))
    }

    /// Rows: (10 + 1 + 2 - 3) / 2 + 1 = 6; columns: (20 + 3 + 4 - 2 (5 - 1) - 1) / 3 + 1 = 7.
    #[test]
    fn rows_come_before_columns_in_every_list() {
        let (d, output) = conv(&[
            int("group", 2),
            list("kernel_shape", &[3, 5]),
            list("strides", &[2, 3]),
            list("dilations", &[1, 2]),
            list("pads", &[1, 3, 2, 4]),
        ]);
        let expected = Convolution2dDescriptor {
            pad_top: 1,
            pad_left: 3,
            pad_bottom: 2,
            pad_right: 4,
            stride_y: 2,
            stride_x: 3,
            dilation_y: 1,
            dilation_x: 2,
            groups: 2,
            ..Convolution2dDescriptor::new(DataLayout::Nchw)
        };
        assert_eq!(d, expected);
        assert_eq!(output, [1, 8, 6, 7]);
    }

    /// Rows: ceil(10 / 2) = 5 windows cover 4 * 2 + 3 = 11, one more than there are. Columns:
    /// ceil(20 / 3) = 7 windows cover 6 * 3 + 5 = 23, three more.
    #[test]
    fn padding_that_follows_from_sizes_has_the_odd_element_behind_or_before() {
        let attributes = |mode| {
            [
                int("group", 2),
                list("strides", &[2, 3]),
                text("auto_pad", mode),
            ]
        };
        let (upper, output) = conv(&attributes("SAME_UPPER"));
        assert_eq!(
            [
                upper.pad_top,
                upper.pad_bottom,
                upper.pad_left,
                upper.pad_right
            ],
            [0, 1, 1, 2]
        );
        assert_eq!(output, [1, 8, 5, 7]);
        let (lower, _) = conv(&attributes("SAME_LOWER"));
        assert_eq!(
            [
                lower.pad_top,
                lower.pad_bottom,
                lower.pad_left,
                lower.pad_right
            ],
            [1, 0, 2, 1]
        );
        let (valid, output) = conv(&attributes("VALID"));
        assert_eq!(
            [
                valid.pad_top,
                valid.pad_bottom,
                valid.pad_left,
                valid.pad_right
            ],
            [0; 4]
        );
        // (10 - 3) / 2 + 1, (20 - 5) / 3 + 1
        assert_eq!(output, [1, 8, 4, 6]);
    }

    /// (16 + 2 - 3) / 1 + 1 = 16
    #[test]
    fn one_direction_is_columns_of_a_single_row() {
        let attributes = [list("pads", &[1, 1])];
        let network = single(
            11,
            "Conv",
            &[2, 4, 16],
            &[zeros("w", &[6, 4, 3])],
            &attributes,
        )
        .unwrap();
        let expected = [
            LayerType::Reshape,
            LayerType::Convolution2d,
            LayerType::Reshape,
        ];
        assert_eq!(types(&network), expected);
        assert_eq!(output_dims(&network), [2, 6, 16]);
        let Some(LayerDescriptor::Convolution2d(d)) = network.layers()[1].descriptor() else {
            panic!();
        };
        assert_eq!(
            [d.pad_top, d.pad_bottom, d.pad_left, d.pad_right],
            [0, 0, 1, 1]
        );
    }

    #[test]
    fn what_cannot_be_a_convolution_is_refused() {
        let weights = || [zeros("w", &[8, 4, 3, 3])];
        let with = |attributes: &[AttributeProto]| {
            single(11, "Conv", &[1, 4, 10, 10], &weights(), attributes)
        };
        assert_refused(
            with(&[list("kernel_shape", &[5, 5])]),
            "but its weights have [3, 3]",
        );
        assert_refused(with(&[list("strides", &[0, 1])]), "its strides are [0, 1]");
        assert_refused(
            with(&[list("pads", &[-1, 0, 0, 0])]),
            "its pads are [-1, 0]",
        );
        assert_refused(
            with(&[list("pads", &[1])]),
            "its attribute pads has 1 entries, not 4",
        );
        assert_refused(with(&[text("auto_pad", "ODD")]), "its auto_pad is \"ODD\"");
        let more = [zeros("w", &[8, 4, 3, 3, 3, 3])];
        let more = single(11, "Conv", &[1, 4, 9, 9, 9, 9], &more, &[]);
        assert_refused(more, "windows over 4 dimensions");
    }
}
