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
        let volume = [zeros("w", &[8, 4, 3, 3, 3])];
        let volume = single(11, "Conv", &[1, 4, 9, 9, 9], &volume, &[]);
        assert_refused(volume, "windows over 3 dimensions");
        let same = [text("auto_pad", "SAME_UPPER")];
        let unknown = single(11, "Conv", &[1, 4, -1, 9], &weights(), &same);
        assert_refused(unknown, "a size that is not known");
    }
}
