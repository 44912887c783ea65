//! Layers over rows and columns: convolutions, pooling, resizing.

use armnn_backend_api::{
    Convolution2dDescriptor, DataLayout, DepthwiseConvolution2dDescriptor, LayerDescriptor as D,
    OutputShapeRounding, Pooling2dDescriptor, ResizeDescriptor, Shape,
};

use super::dimension::{UNKNOWN, known, shape_of, with_dims};
use super::window::{columns, rows};
use super::{Arguments, Result, bad_field, boolean, named, with_bias};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Convolution2d(d) => convolution2d(d, arguments),
        D::DepthwiseConvolution2d(d) => depthwise_convolution2d(d, arguments),
        D::Pooling2d(d) => pooling2d(d, arguments),
        D::Resize(d) => resize(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn convolution2d(d: &Convolution2dDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axes = ImageAxes::of(d.data_layout())?;
    if d.groups == 0 {
        return Err(bad_field("groups", 0, "at least 1"));
    }
    let groups = i64::from(d.groups);
    let input = arguments.input_of_rank(0, 4)?;
    let weights = arguments.input_of_rank(1, 4)?;
    // Weights follow the layout of the input: [O, I, KH, KW] or [O, KH, KW, I].
    let filter = |axis: usize| weights.dims()[axis];
    let rows = rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y)
        .output(input.dims()[axes.rows], filter(axes.rows))?;
    let columns = columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x)
        .output(input.dims()[axes.columns], filter(axes.columns))?;

    if let (Some(channels), Some(in_group)) = (
        known(input.dims()[axes.channels]),
        known(filter(axes.channels)),
    ) && in_group.checked_mul(groups) != Some(channels)
    {
        return Err(arguments.dimension_problem(
            1,
            axes.channels,
            format!("{channels} / {groups}"),
            "a filter covers the input's channels of one group",
        ));
    }
    let mut outputs = filter(0);
    if known(outputs).is_some_and(|o| o % groups != 0) {
        return Err(arguments.dimension_problem(
            1,
            0,
            format!("a multiple of {groups}"),
            "output channels fall into groups of equal size",
        ));
    }
    outputs = with_bias(arguments, 2, outputs)?;
    let image = [
        (axes.rows, rows),
        (axes.columns, columns),
        (axes.channels, outputs),
    ];
    Ok(with_dims(input, image))
}

fn depthwise_convolution2d(
    d: &DepthwiseConvolution2dDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Shape> {
    let axes = ImageAxes::of(d.data_layout())?;
    let input = arguments.input_of_rank(0, 4)?;
    // [1, KH, KW, C M] in both layouts.
    let weights = arguments.input_of_rank(1, 4)?;
    let &[one, filter_rows, filter_columns, outputs] = weights.dims() else {
        return Err(arguments.rank_problem(1, "4".to_owned(), weights));
    };
    if known(one).is_some_and(|n| n != 1) {
        return Err(arguments.dimension_problem(1, 0, 1, "weights are [1, KH, KW, C M]"));
    }
    let rows = rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y)
        .output(input.dims()[axes.rows], filter_rows)?;
    let columns = columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x)
        .output(input.dims()[axes.columns], filter_columns)?;
    if let (Some(channels), Some(outputs)) = (known(input.dims()[axes.channels]), known(outputs)) {
        // Without input channels there are no output channels either.
        let remainder = outputs.checked_rem(channels).unwrap_or(outputs);
        if remainder != 0 {
            return Err(arguments.dimension_problem(
                1,
                3,
                format!("a multiple of {channels}"),
                "each input channel has the same number of filters",
            ));
        }
    }
    let outputs = with_bias(arguments, 2, outputs)?;
    let image = [
        (axes.rows, rows),
        (axes.columns, columns),
        (axes.channels, outputs),
    ];
    Ok(with_dims(input, image))
}

fn pooling2d(d: &Pooling2dDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axes = ImageAxes::of(d.data_layout())?;
    named("pool_type", d.pool_type, d.pool_type().name())?;
    named(
        "padding_method",
        d.padding_method,
        d.padding_method().name(),
    )?;
    let rounding = d.output_shape_rounding();
    named("output_shape_rounding", rounding.0, rounding.name())?;
    let input = arguments.input_of_rank(0, 4)?;
    let mut row_windows = rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y);
    let mut column_windows = columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x);
    for (windows, size) in [
        (&mut row_windows, d.pool_height),
        (&mut column_windows, d.pool_width),
    ] {
        windows.ceiling = rounding == OutputShapeRounding::Ceiling;
        windows.padding_below(i64::from(size))?;
    }
    let rows = row_windows.output(input.dims()[axes.rows], i64::from(d.pool_height))?;
    let columns = column_windows.output(input.dims()[axes.columns], i64::from(d.pool_width))?;
    Ok(with_dims(
        input,
        [(axes.rows, rows), (axes.columns, columns)],
    ))
}

fn resize(d: &ResizeDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let axes = ImageAxes::of(d.data_layout())?;
    named("method", d.method, d.method().name())?;
    boolean("align_corners", d.align_corners.into())?;
    boolean("half_pixel_centers", d.half_pixel_centers.into())?;
    let input = arguments.input_of_rank(0, 4)?;
    let declared = match arguments.declared(0) {
        Some(shape) if shape.rank() == 4 => shape,
        Some(shape) => {
            return Err(LayerProblem::Rank {
                tensor: "the output".to_owned(),
                expected: "4".to_owned(),
                found: Box::new(shape),
            });
        }
        None => shape_of(&[UNKNOWN; 4])?,
    };
    for axis in [axes.rows, axes.columns] {
        if input.dims()[axis] == 0 && known(declared.dims()[axis]).is_some_and(|d| d > 0) {
            return Err(arguments.dimension_problem(
                0,
                axis,
                "at least 1",
                "an empty image cannot be resized to one with elements",
            ));
        }
    }
    let sizes = [axes.rows, axes.columns].map(|axis| (axis, declared.dims()[axis]));
    Ok(with_dims(input, sizes))
}

/// Where rows, columns and channels are in a shape.
pub(super) struct ImageAxes {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) channels: usize,
}

impl ImageAxes {
    pub(super) fn of(layout: DataLayout) -> Result<Self> {
        match layout {
            DataLayout::Nhwc => Ok(Self {
                rows: 1,
                columns: 2,
                channels: 3,
            }),
            DataLayout::Nchw => Ok(Self {
                rows: 2,
                columns: 3,
                channels: 1,
            }),
            _ => Err(bad_field("data_layout", layout, "Nchw or Nhwc")),
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{PoolingAlgorithm, ResizeMethod};

    use super::super::tests::{refused_field, shape_after};
    use super::super::{LayerShapes, output_shapes};
    use super::*;

    const NHWC: DataLayout = DataLayout::Nhwc;
    const NCHW: DataLayout = DataLayout::Nchw;

    fn shapes<const N: usize>(dims: [[i64; 4]; N]) -> [Shape; N] {
        dims.map(Shape::from)
    }

    #[test]
    fn a_convolution_follows_the_formula_in_both_layouts() {
        // Rows: (128 + 1 + 2 - 2 (3 - 1) - 1) / 2 + 1 = 63 + 1; columns: (64 - 4) / 3 + 1 = 21.
        let mut d = Convolution2dDescriptor::new(NHWC);
        (d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y) = (1, 2, 2, 2);
        d.stride_x = 3;
        let inputs = shapes([[2, 128, 64, 3], [24, 3, 4, 3]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 64, 21, 24])));

        d.data_layout = NCHW.0;
        let inputs = shapes([[2, 3, 128, 64], [24, 3, 3, 4]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 24, 64, 21])));
    }

    #[test]
    fn unknown_sizes_of_a_convolution_stay_unknown() {
        let d = Convolution2dDescriptor::new(NHWC);
        let inputs = shapes([[-1, -1, 8, -1], [6, 3, 3, 3]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([-1, -1, 6, 6])));
    }

    #[test]
    fn the_bias_tells_the_number_of_channels_if_the_weights_do_not() {
        let d = Convolution2dDescriptor::new(NHWC);
        let [input, weights] = shapes([[1, 5, 5, 3], [-1, 3, 3, 3]]);
        let result = shape_after(d, &[input, weights, Shape::from([7])]);
        assert_eq!(result, Ok(Shape::from([1, 3, 3, 7])));
    }

    #[test]
    fn a_filter_covers_the_channels_of_one_group() {
        let mut d = Convolution2dDescriptor::new(NHWC);
        d.groups = 2;
        // 6 channels in 2 groups: 3 in each.
        let inputs = shapes([[1, 5, 5, 6], [8, 1, 1, 3]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 5, 5, 8])));
        for inputs in [
            shapes([[1, 5, 5, 6], [8, 1, 1, 6]]),
            // 9 output channels do not fall into two groups.
            shapes([[1, 5, 5, 6], [9, 1, 1, 3]]),
        ] {
            let problem = shape_after(d, &inputs).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Dimension { .. }),
                "{problem}"
            );
        }
        let wrong_bias = [
            Shape::from([1, 5, 5, 6]),
            Shape::from([8, 1, 1, 3]),
            Shape::from([9]),
        ];
        let problem = shape_after(d, &wrong_bias).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "dimension 0 of input 'bias', whose shape is [9], must be 8, because there is one bias \
             for each output channel"
        );
    }

    #[test]
    fn depthwise_weights_are_laid_out_alike_in_both_layouts() {
        // (9 - 3) / 2 + 1 = 4 rows, (7 - 3) / 2 + 1 = 3 columns; 4 channels, 2 filters each.
        let mut d = DepthwiseConvolution2dDescriptor::new(NHWC);
        (d.stride_x, d.stride_y) = (2, 2);
        let inputs = shapes([[1, 9, 7, 4], [1, 3, 3, 8]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 4, 3, 8])));
        d.data_layout = NCHW.0;
        let inputs = shapes([[1, 4, 9, 7], [1, 3, 3, 8]]);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 8, 4, 3])));
        for inputs in [
            shapes([[1, 4, 9, 7], [1, 3, 3, 6]]),
            shapes([[1, 4, 9, 7], [2, 3, 3, 8]]),
            shapes([[1, 0, 9, 7], [1, 3, 3, 8]]),
        ] {
            let problem = shape_after(d, &inputs).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Dimension { .. }),
                "{problem}"
            );
        }
    }

    #[test]
    fn numbers_of_a_convolution_that_make_no_sense_are_refused() {
        let inputs = shapes([[1, 5, 5, 3], [8, 3, 3, 3]]);
        let with = |change: fn(&mut Convolution2dDescriptor)| {
            let mut d = Convolution2dDescriptor::new(NHWC);
            change(&mut d);
            refused_field(shape_after(d, &inputs))
        };
        assert_eq!(with(|d| d.stride_x = 0), "stride_x");
        assert_eq!(with(|d| d.stride_y = 0), "stride_y");
        assert_eq!(with(|d| d.dilation_x = 0), "dilation_x");
        assert_eq!(with(|d| d.groups = 0), "groups");
        assert_eq!(with(|d| d.data_layout = 3), "data_layout");

        let d = Convolution2dDescriptor::new(NHWC);
        let empty = shapes([[1, 5, 5, 3], [8, 0, 3, 3]]);
        assert_eq!(
            refused_field(shape_after(d, &empty)),
            "the height of the window"
        );
        let too_large = shapes([[1, 5, 5, 3], [8, 3, 6, 3]]);
        assert_eq!(
            shape_after(d, &too_large),
            Err(LayerProblem::Window {
                direction: "columns",
                extent: 6,
                padded: 5
            })
        );
    }

    #[test]
    fn sizes_beyond_64_bits_are_an_error() {
        let mut d = Convolution2dDescriptor::new(NHWC);
        (d.pad_top, d.dilation_x) = (u32::MAX, u32::MAX);
        for inputs in [
            shapes([[1, i64::MAX, 5, 3], [8, 3, 1, 3]]),
            shapes([[1, 5, 5, 3], [8, 3, i64::MAX, 3]]),
        ] {
            let problem = shape_after(d, &inputs).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Overflow { .. }),
                "{problem}"
            );
        }
    }

    #[test]
    fn pooling_rounds_as_the_descriptor_says() {
        let mut d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 3, NHWC);
        (d.stride_x, d.stride_y) = (2, 2);
        // Rows: (8 - 3) / 2 + 1 = 2.5 + 1; columns: (8 - 2) / 2 + 1 = 4.
        let input = [Shape::from([1, 8, 8, 5])];
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 3, 4, 5])));
        d.output_shape_rounding = OutputShapeRounding::Ceiling.0;
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 4, 4, 5])));
    }

    #[test]
    fn rounding_up_makes_one_window_of_an_input_that_is_smaller() {
        let mut d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 3, 2, NHWC);
        (d.stride_x, d.stride_y) = (2, 2);
        d.output_shape_rounding = OutputShapeRounding::Ceiling.0;
        // Rows: (1 - 2) / 2 + 1 = 0.5; columns: (2 - 3) / 2 + 1 = 0.5.
        let input = [Shape::from([1, 1, 2, 1])];
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 1, 1, 1])));
        // Columns: (1 - 3) / 2 + 1 = 0.
        let smaller = [Shape::from([1, 1, 1, 1])];
        let none = LayerProblem::Window {
            direction: "columns",
            extent: 3,
            padded: 1,
        };
        assert_eq!(shape_after(d, &smaller), Err(none));
    }

    #[test]
    fn rounding_up_adds_no_window_of_padding_alone() {
        let mut d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, NHWC);
        (d.stride_x, d.stride_y, d.pad_bottom) = (3, 3, 1);
        d.output_shape_rounding = OutputShapeRounding::Ceiling.0;
        // Rows: (3 + 1 - 2) / 3 + 1 = 0.67 + 1; a second window would start at row 3, which is
        // padding. Columns: (5 - 2) / 3 + 1 = 2.
        let input = [Shape::from([1, 3, 5, 1])];
        assert_eq!(shape_after(d, &input), Ok(Shape::from([1, 1, 2, 1])));
    }

    #[test]
    fn numbers_of_a_pooling_that_make_no_sense_are_refused() {
        let input = [Shape::from([1, 8, 8, 5])];
        let with = |change: fn(&mut Pooling2dDescriptor)| {
            let mut d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, NHWC);
            change(&mut d);
            refused_field(shape_after(d, &input))
        };
        assert_eq!(with(|d| d.pool_type = 9), "pool_type");
        assert_eq!(with(|d| d.padding_method = 9), "padding_method");
        assert_eq!(
            with(|d| d.output_shape_rounding = 9),
            "output_shape_rounding"
        );
        assert_eq!(with(|d| d.pool_width = 0), "the width of the window");
        assert_eq!(with(|d| d.pad_left = 2), "pad_left");
        assert_eq!(with(|d| d.pad_bottom = u32::MAX), "pad_bottom");
        assert_eq!(with(|d| d.stride_x = 0), "stride_x");
        let d = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 2, NHWC);
        let problem = shape_after(d, &[Shape::from([8, 8, 5])]).unwrap_err();
        assert!(matches!(problem, LayerProblem::Rank { .. }), "{problem}");
    }

    #[test]
    fn rows_and_columns_of_a_resize_are_those_declared() {
        let resized = |layout: DataLayout, input: [i64; 4], declared: Option<Shape>| {
            let d = ResizeDescriptor::new(ResizeMethod::Bilinear, layout);
            let shapes = LayerShapes {
                inputs: &[Some(Shape::from(input))],
                declared: &[declared],
            };
            output_shapes(&d.into(), &shapes).map(|s| s[0])
        };
        let target = Some(Shape::from([-1, 6, 8, -1]));
        assert_eq!(
            resized(NHWC, [1, 3, 4, 5], target),
            Ok(Shape::from([1, 6, 8, 5]))
        );
        let target = Some(Shape::from([-1, -1, 6, 8]));
        assert_eq!(
            resized(NCHW, [1, 5, 3, 4], target),
            Ok(Shape::from([1, 5, 6, 8]))
        );
        assert_eq!(
            resized(NHWC, [1, 3, 4, 5], None),
            Ok(Shape::from([1, -1, -1, 5]))
        );
        assert!(resized(NHWC, [1, 0, 4, 5], Some(Shape::from([1, 6, 8, 5]))).is_err());
        assert!(resized(NHWC, [1, 3, 4, 5], Some(Shape::from([6, 8]))).is_err());
    }
}
