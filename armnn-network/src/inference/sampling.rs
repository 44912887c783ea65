//! Layers that read or write at positions: Col2Im, DeformConv, GridSample, Interpolate,
//! MaxPoolWithIndices, RoiAlign.

use armnn_backend_api::{
    Col2ImDescriptor, CoordinateTransformation, DeformConvDescriptor, GridSampleDescriptor,
    InterpolateDescriptor, InterpolationMethod, LayerDescriptor as D, MaxPoolWithIndicesDescriptor,
    OutputShapeRounding, PoolingAlgorithm, RoiAlignDescriptor, Shape,
};

use super::dimension::{UNKNOWN, known, merge_dim, shape_of, with_dims};
use super::window::{columns, listed, rows};
use super::{
    Arguments, Result, bad_field, boolean, count, declared_of_rank, entry_for_each_dimension,
    named, with_bias,
};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Col2Im(d) => col2im(d, arguments),
        D::DeformConv(d) => deform_conv(d, arguments),
        D::GridSample(d) => grid_sample(d, arguments),
        D::Interpolate(d) => interpolate(d, arguments),
        D::RoiAlign(d) => roi_align(d, arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

/// The largest elements, and where they are.
pub(super) fn max_pool_with_indices(
    d: &MaxPoolWithIndicesDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Vec<Shape>> {
    boolean("column_major", d.column_major)?;
    let rounding = d.output_shape_rounding();
    named("output_shape_rounding", rounding.0, rounding.name())?;
    count("n_axes", d.n_axes)?;
    let input = arguments.input_of_rank(0, d.n_axes as usize + 2)?;
    let mut output = input;
    for (i, &size) in d.pool().iter().enumerate() {
        let mut windows = listed(
            d.pad_before()[i],
            d.pad_after()[i],
            d.stride()[i],
            d.dilation()[i],
        );
        windows.ceiling = rounding == OutputShapeRounding::Ceiling;
        windows.padding_below(size.into())?;
        let size = windows.output(input.dims()[i + 2], size.into())?;
        output = with_dims(output, [(i + 2, size)]);
    }
    Ok(vec![output; 2])
}

const TOO_LARGE: LayerProblem = LayerProblem::Overflow {
    what: "the size of the output",
};

fn col2im(d: &Col2ImDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    count("n_axes", d.n_axes)?;
    let input = arguments.input_of_rank(0, 3)?;
    let declared = declared_of_rank(arguments, d.n_axes as usize + 2)?;
    let mut elements = 1i64;
    let mut positions = Some(1i64);
    for (i, &size) in d.block_shape().iter().enumerate() {
        let windows = listed(
            d.pad_before()[i],
            d.pad_after()[i],
            d.stride()[i],
            d.dilation()[i],
        );
        let along = windows.output(declared.dims()[i + 2], size.into())?;
        elements = elements.checked_mul(size.into()).ok_or(TOO_LARGE)?;
        positions = match (positions, known(along)) {
            (Some(all), Some(along)) => Some(all.checked_mul(along).ok_or(TOO_LARGE)?),
            _ => None,
        };
    }
    if let Some(positions) = positions
        && merge_dim(input.dims()[2], positions).is_none()
    {
        let because = "there is a column for each position of the block in the image";
        return Err(arguments.dimension_problem(0, 2, positions, because));
    }
    let channels = match known(input.dims()[1]) {
        Some(n) if n % elements != 0 => {
            let expected = format!("a multiple of {elements}");
            let because = "a column has the elements of a block for each channel";
            return Err(arguments.dimension_problem(0, 1, expected, because));
        }
        Some(n) => n / elements,
        None => UNKNOWN,
    };
    Ok(with_dims(declared, [(0, input.dims()[0]), (1, channels)]))
}

fn deform_conv(d: &DeformConvDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    for (field, number) in [("groups", d.groups), ("offset_groups", d.offset_groups)] {
        if number == 0 {
            return Err(bad_field(field, number, "at least 1"));
        }
    }
    let input = arguments.input_of_rank(0, 4)?;
    let weights = arguments.input_of_rank(1, 4)?;
    let (&[batch, channels, height, width], &[outputs, in_group, filter_height, filter_width]) =
        (input.dims(), weights.dims())
    else {
        return Err(arguments.rank_problem(0, "4".to_owned(), input));
    };
    let rows =
        rows(d.pad_top, d.pad_bottom, d.stride_y, d.dilation_y).output(height, filter_height)?;
    let columns =
        columns(d.pad_left, d.pad_right, d.stride_x, d.dilation_x).output(width, filter_width)?;
    let groups = i64::from(d.groups);
    if let (Some(channels), Some(in_group)) = (known(channels), known(in_group))
        && in_group.checked_mul(groups) != Some(channels)
    {
        let expected = format!("{channels} / {groups}");
        let because = "a filter covers the input's channels of one group";
        return Err(arguments.dimension_problem(1, 1, expected, because));
    }
    if known(outputs).is_some_and(|o| o % groups != 0) {
        let expected = format!("a multiple of {groups}");
        let because = "output channels fall into groups of equal size";
        return Err(arguments.dimension_problem(1, 0, expected, because));
    }
    let offset_groups = i64::from(d.offset_groups);
    if known(channels).is_some_and(|c| c % offset_groups != 0) {
        let expected = format!("a multiple of {offset_groups}");
        let because = "input channels fall into groups with offsets of their own";
        return Err(arguments.dimension_problem(0, 1, expected, because));
    }
    let elements = match (known(filter_height), known(filter_width)) {
        (Some(h), Some(w)) => Some(
            h.checked_mul(w)
                .and_then(|n| n.checked_mul(offset_groups))
                .and_then(|n| n.checked_mul(2))
                .ok_or(TOO_LARGE)?
                / 2,
        ),
        _ => None,
    };
    for (index, factor) in [(2, 2), (4, 1)] {
        if arguments.optional(index).is_none() {
            continue;
        }
        let shape = arguments.input_of_rank(index, 4)?;
        let expected = [
            batch,
            elements.map_or(UNKNOWN, |n| n * factor),
            rows,
            columns,
        ];
        for (axis, (&found, expected)) in shape.dims().iter().zip(expected).enumerate() {
            if merge_dim(found, expected).is_none() {
                let because = "there is one for each element of the filter at each position";
                return Err(arguments.dimension_problem(index, axis, expected, because));
            }
        }
    }
    let outputs = with_bias(arguments, 3, outputs)?;
    shape_of(&[batch, outputs, rows, columns])
}

fn grid_sample(d: &GridSampleDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    named("method", d.method, d.method().name())?;
    named("padding", d.padding, d.padding().name())?;
    boolean("align_corners", d.align_corners)?;
    let input = arguments.input(0)?;
    let ranks = match d.method() {
        InterpolationMethod::Cubic => 4..=4,
        _ => 4..=5,
    };
    if !ranks.contains(&input.rank()) {
        let expected = format!("{} or {}", ranks.start(), ranks.end());
        return Err(arguments.rank_problem(0, expected, input));
    }
    let grid = arguments.input_of_rank(1, input.rank())?;
    let last = input.rank() - 1;
    let coordinates = i64::try_from(input.rank() - 2).unwrap_or(0);
    if merge_dim(grid.dims()[last], coordinates).is_none() {
        let because = "a position has one number for each dimension after the channels";
        return Err(arguments.dimension_problem(1, last, coordinates, because));
    }
    let batch = merge_dim(input.dims()[0], grid.dims()[0]).ok_or_else(|| {
        let because = "there is a grid for each batch";
        arguments.dimension_problem(1, 0, input.dims()[0], because)
    })?;
    let mut dims = vec![batch, input.dims()[1]];
    dims.extend(&grid.dims()[1..last]);
    shape_of(&dims)
}

fn interpolate(d: &InterpolateDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    named("method", d.method, d.method().name())?;
    named("coordinates", d.coordinates, d.coordinates().name())?;
    let rounding = d.nearest_rounding();
    named("nearest_rounding", rounding.0, rounding.name())?;
    boolean("antialias", d.antialias)?;
    boolean("exclude_outside", d.exclude_outside)?;
    let input = arguments.input(0)?;
    entry_for_each_dimension(d.rank, input)?;
    let declared = declared_of_rank(arguments, input.rank())?;
    let region = d.coordinates() == CoordinateTransformation::TfCropAndResize;
    for (axis, &scale) in d.scales().iter().enumerate() {
        if !scale.is_finite() || scale < 0.0 {
            return Err(bad_field("scales", scale, "at least 0, and finite"));
        }
        let ends = [d.region_start[axis], d.region_end[axis]];
        if region && !ends.iter().all(|end| end.is_finite()) {
            return Err(bad_field("region_start", ends[0], "finite, as region_end"));
        }
        let (from, to) = (input.dims()[axis], declared.dims()[axis]);
        if from == 0 && known(to).is_some_and(|to| to > 0) {
            let because = "nothing cannot be resized to something";
            return Err(arguments.dimension_problem(0, axis, "at least 1", because));
        }
    }
    let dims = (0..input.rank()).map(|axis| {
        let (from, to) = (input.dims()[axis], declared.dims()[axis]);
        let scale = d.scales()[axis];
        let size = match (known(to), known(from)) {
            (Some(to), _) => to,
            // ONNX: the size is floor(size scale), or with a region, of the region's part of it.
            (None, Some(from)) if scale > 0.0 => {
                let part = match region {
                    true => d.region_end[axis] - d.region_start[axis],
                    false => 1.0,
                };
                let size = (from as f32 * part * scale).floor();
                if (0.0..9e18).contains(&size) {
                    size as i64
                } else {
                    UNKNOWN
                }
            }
            _ => UNKNOWN,
        };
        (axis, size)
    });
    Ok(with_dims(input, dims.collect::<Vec<_>>()))
}

fn roi_align(d: &RoiAlignDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let pool_type = d.pool_type();
    if !matches!(pool_type, PoolingAlgorithm::Max | PoolingAlgorithm::Average) {
        return Err(bad_field("pool_type", pool_type, "Max or Average"));
    }
    boolean("half_pixel", d.half_pixel)?;
    if !d.spatial_scale.is_finite() {
        return Err(bad_field("spatial_scale", d.spatial_scale, "finite"));
    }
    let input = arguments.input_of_rank(0, 4)?;
    let regions = arguments.input_of_rank(1, 2)?;
    let batches = arguments.input_of_rank(2, 1)?;
    if merge_dim(regions.dims()[1], 4).is_none() {
        let because = "a region is its left, top, right and bottom";
        return Err(arguments.dimension_problem(1, 1, 4, because));
    }
    let count = merge_dim(regions.dims()[0], batches.dims()[0]).ok_or_else(|| {
        let because = "each region is of one batch";
        arguments.dimension_problem(2, 0, regions.dims()[0], because)
    })?;
    let sizes = [d.output_height, d.output_width].map(i64::from);
    shape_of(&[count, input.dims()[1], sizes[0], sizes[1]])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::GridPadding;

    use super::super::tests::{refused_field, shape_after, shape_after_declared, shapes_after};
    use super::*;

    #[test]
    fn indices_have_the_shape_of_the_largest_elements() {
        let mut d = MaxPoolWithIndicesDescriptor::new(&[2, 3]).unwrap();
        d.stride[1] = 2;
        let input = Some(Shape::from([1, 4, 5, 8]));
        // 5 - 2 + 1, (8 - 3) / 2 + 1.
        let expected = vec![Shape::from([1, 4, 4, 3]); 2];
        assert_eq!(shapes_after(d, &[input], 2), Ok(expected));
        d.output_shape_rounding = OutputShapeRounding::Ceiling.0;
        assert_eq!(shapes_after(d, &[input], 2).unwrap()[0].dims()[3], 4);
        d.n_axes = 9;
        let refused = shapes_after(d, &[input], 2).map(|s| s[0]);
        assert_eq!(refused_field(refused), "n_axes");
    }

    #[test]
    fn columns_are_put_back_to_the_declared_image() {
        let d = Col2ImDescriptor::new(&[1, 5]).unwrap();
        // 5 · 1 positions of a block of 5 elements; 10 / 5 channels.
        let input = [Shape::from([1, 10, 5])];
        let image = Shape::from([-1, -1, 5, 5]);
        let result = shape_after_declared(d, &input, image);
        assert_eq!(result, Ok(Shape::from([1, 2, 5, 5])));
        assert!(shape_after_declared(d, &[Shape::from([1, 10, 6])], image).is_err());
        assert!(shape_after_declared(d, &[Shape::from([1, 9, 5])], image).is_err());
    }

    #[test]
    fn a_deformed_convolution_has_an_offset_for_each_element_of_its_filter() {
        let mut d = DeformConvDescriptor::new();
        let (input, weights) = (Shape::from([1, 2, 4, 4]), Shape::from([6, 2, 2, 2]));
        let offset = Shape::from([1, 8, 3, 3]);
        let inputs = [
            input,
            weights,
            offset,
            Shape::from([6]),
            Shape::from([1, 4, 3, 3]),
        ];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 6, 3, 3])));
        assert!(shape_after(d, &[input, weights, Shape::from([1, 4, 3, 3])]).is_err());
        d.offset_groups = 0;
        assert_eq!(refused_field(shape_after(d, &inputs)), "offset_groups");
    }

    #[test]
    fn a_grid_says_how_large_its_sample_is() {
        let linear = InterpolationMethod::Linear;
        let d = GridSampleDescriptor::new(linear, GridPadding::Zeros, false);
        let inputs = [Shape::from([-1, 3, 8, 9]), Shape::from([2, 4, 5, 2])];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([2, 3, 4, 5])));
        let volume = [Shape::from([2, 3, 8, 9, 7]), Shape::from([2, 4, 5, 6, 3])];
        assert_eq!(shape_after(d, &volume), Ok(Shape::from([2, 3, 4, 5, 6])));
        let cubic = GridSampleDescriptor::new(InterpolationMethod::Cubic, d.padding(), false);
        assert!(shape_after(cubic, &volume).is_err());
        assert!(shape_after(d, &[inputs[0], Shape::from([2, 4, 5, 3])]).is_err());
    }

    #[test]
    fn an_interpolated_size_is_declared_or_follows_from_the_scale() {
        let asymmetric = CoordinateTransformation::Asymmetric;
        let mut d = InterpolateDescriptor::new(InterpolationMethod::Linear, asymmetric, 3).unwrap();
        let input = [Shape::from([1, -1, 5])];
        let declared = Shape::from([1, 7, -1]);
        d.scales[2] = 2.5;
        let result = shape_after_declared(d, &input, declared);
        // floor(5 · 2.5)
        assert_eq!(result, Ok(Shape::from([1, 7, 12])));
        d.scales[0] = f32::NAN;
        assert_eq!(refused_field(shape_after(d, &input)), "scales");
        d.rank = 2;
        assert_eq!(refused_field(shape_after(d, &input)), "rank");
    }

    #[test]
    fn each_region_becomes_a_grid() {
        let mut d = RoiAlignDescriptor::new(5, 6, 1.0);
        let inputs = [
            Shape::from([2, 3, 10, 10]),
            Shape::from([-1, 4]),
            Shape::from([7]),
        ];
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([7, 3, 5, 6])));
        assert!(shape_after(d, &[inputs[0], Shape::from([7, 5]), inputs[2]]).is_err());
        d.pool_type = PoolingAlgorithm::L2.0;
        assert_eq!(refused_field(shape_after(d, &inputs)), "pool_type");
    }
}
