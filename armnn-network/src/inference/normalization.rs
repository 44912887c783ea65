//! Layers that normalize along dimensions, and the Fourier transform.

use armnn_backend_api::{
    DftDescriptor, InstanceNormalizationDescriptor, LayerDescriptor as D,
    LayerNormalizationDescriptor, NormalizationDescriptor, Shape,
};

use super::dimension::{UNKNOWN, broadcast, known, merge, merge_dim, shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, boolean, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    match descriptor {
        D::BatchNormalization(d) => {
            by_channel(arguments, axis_of(d.axis, input)?, 1..5)?;
        }
        D::Dft(d) => return dft(d, arguments),
        D::InstanceNormalization(d) => instance_normalization(d, arguments)?,
        D::L2Normalization(d) => {
            axis_of(d.axis, input)?;
        }
        D::LayerNormalization(d) => layer_normalization(d, arguments)?,
        D::LogSoftmax(d) => {
            axis_of(d.axis, input)?;
        }
        D::Normalization(d) => local_response(d, input)?,
        _ => return Err(LayerProblem::UnknownLayerType),
    }
    Ok(input)
}

/// Checks that some inputs, as far as they are there, are `[C]`.
fn by_channel(
    arguments: &Arguments<'_>,
    axis: usize,
    inputs: std::ops::Range<usize>,
) -> Result<()> {
    let channels = arguments.input(0)?.dims()[axis];
    for index in inputs {
        if arguments.optional(index).is_none() {
            continue;
        }
        let numbers = arguments.input_of_rank(index, 1)?;
        if merge_dim(numbers.dims()[0], channels).is_none() {
            let because = "there is one number for each channel";
            return Err(arguments.dimension_problem(index, 0, channels, because));
        }
    }
    Ok(())
}

fn instance_normalization(
    d: &InstanceNormalizationDescriptor,
    arguments: &Arguments<'_>,
) -> Result<()> {
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    if axis == 0 {
        return Err(bad_field("axis", axis, "after the batch, at least 1"));
    }
    if let (Some(channels), groups @ 1..) = (known(input.dims()[axis]), i64::from(d.groups))
        && channels % groups != 0
    {
        let expected = format!("a multiple of {groups}");
        let because = "channels fall into groups of equal size";
        return Err(arguments.dimension_problem(0, axis, expected, because));
    }
    by_channel(arguments, axis, 1..3)
}

fn layer_normalization(d: &LayerNormalizationDescriptor, arguments: &Arguments<'_>) -> Result<()> {
    boolean("subtract_mean", d.subtract_mean)?;
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    let normalized = shape_of(&input.dims()[axis..])?;
    for index in 1..3 {
        let Some(factors) = arguments.optional(index) else {
            continue;
        };
        let fits = broadcast(&factors, &normalized)
            .ok()
            .and_then(|both| merge(&both, &normalized));
        if fits.is_none() {
            return Err(LayerProblem::Broadcast {
                x: Box::new(factors),
                y: Box::new(normalized),
            });
        }
    }
    Ok(())
}

fn local_response(d: &NormalizationDescriptor, input: Shape) -> Result<()> {
    named("channel_type", d.channel_type, d.channel_type().name())?;
    if d.norm_size == 0 {
        return Err(bad_field("norm_size", 0, "at least 1"));
    }
    axis_of(d.axis, input)?;
    Ok(())
}

fn dft(d: &DftDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    boolean("inverse", d.inverse)?;
    boolean("onesided", d.onesided)?;
    let input = arguments.input(0)?;
    let axis = axis_of(d.axis, input)?;
    let last = input.rank() - 1;
    if axis == last {
        return Err(bad_field("axis", axis, "before the last dimension"));
    }
    let parts = input.dims()[last];
    if known(parts).is_some_and(|n| !(1..=2).contains(&n)) {
        let because = "it is real numbers, or their real and imaginary parts";
        return Err(arguments.dimension_problem(0, last, "1 or 2", because));
    }
    if d.onesided == 1 && d.inverse == 0 && parts == 2 {
        let because = "one side of the spectrum is enough for real numbers only";
        return Err(arguments.dimension_problem(0, last, 1, because));
    }
    if d.length < 0 {
        return Err(bad_field("length", d.length, "at least 0"));
    }
    let size = input.dims()[axis];
    let length = match (d.length, known(size)) {
        (0, Some(0)) => {
            let because = "a transform has elements";
            return Err(arguments.dimension_problem(0, axis, "at least 1", because));
        }
        // The inverse of one side, whose length is 2 (n - 1) unless it is said.
        (0, Some(size)) if d.onesided == 1 && d.inverse == 1 => {
            (size - 1).checked_mul(2).ok_or(LayerProblem::Overflow {
                what: "the size of the output",
            })?
        }
        (0, size) => size.unwrap_or(UNKNOWN),
        (length, _) => length,
    };
    let (length, parts) = match (d.onesided, d.inverse) {
        (1, 0) if length >= 0 => (length / 2 + 1, 2),
        (1, 1) => (length, 1),
        _ => (length, 2),
    };
    Ok(with_dims(input, [(axis, length), (last, parts)]))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{BatchNormalizationDescriptor, NormalizationAlgorithmChannel};

    use super::super::tests::{refused_field, shape_after};
    use super::*;

    #[test]
    fn a_normalized_tensor_keeps_its_shape_and_has_one_factor_for_each_channel() {
        let input = Shape::from([2, -1, 5, 6]);
        let channels = Shape::from([6]);
        let d = BatchNormalizationDescriptor {
            epsilon: 0.001,
            axis: 3,
        };
        let inputs = [input, channels, channels, channels, channels];
        assert_eq!(shape_after(d, &inputs), Ok(input));
        let inputs = [input, channels, Shape::from([5]), channels, channels];
        assert!(shape_after(d, &inputs).is_err());
        let mut d = InstanceNormalizationDescriptor::new(0.001, 3);
        assert_eq!(shape_after(d, &[input]), Ok(input));
        assert_eq!(shape_after(d, &[input, channels, channels]), Ok(input));
        d.groups = 4;
        assert!(shape_after(d, &[input]).is_err());
        d.axis = 0;
        assert_eq!(refused_field(shape_after(d, &[input])), "axis");
    }

    #[test]
    fn factors_of_normalized_dimensions_broadcast_to_them() {
        let input = Shape::from([2, 3, 4]);
        let mut d = LayerNormalizationDescriptor::new(0.001, 1);
        for scale in [Shape::from([3, 4]), Shape::from([4]), Shape::SCALAR] {
            assert_eq!(shape_after(d, &[input, scale]), Ok(input));
        }
        for scale in [Shape::from([2, 3, 4]), Shape::from([3])] {
            assert!(shape_after(d, &[input, scale]).is_err(), "{scale}");
        }
        d.axis = 3;
        assert_eq!(refused_field(shape_after(d, &[input])), "axis");
        let mut d = NormalizationDescriptor {
            channel_type: NormalizationAlgorithmChannel::Across.0,
            norm_size: 5,
            alpha: 1.0,
            beta: 0.75,
            k: 1.0,
            axis: 1,
        };
        assert_eq!(shape_after(d, &[input]), Ok(input));
        d.norm_size = 0;
        assert_eq!(refused_field(shape_after(d, &[input])), "norm_size");
    }

    #[test]
    fn a_spectrum_is_as_long_as_the_signal_or_half_of_it() {
        let real = Shape::from([2, 7, 1]);
        let mut d = DftDescriptor::new(1);
        assert_eq!(shape_after(d, &[real]), Ok(Shape::from([2, 7, 2])));
        d.onesided = 1;
        assert_eq!(shape_after(d, &[real]), Ok(Shape::from([2, 4, 2])));
        assert!(shape_after(d, &[Shape::from([2, 7, 2])]).is_err());
        d.inverse = 1;
        let half = Shape::from([2, 5, 2]);
        assert_eq!(shape_after(d, &[half]), Ok(Shape::from([2, 8, 1])));
        d.length = 9;
        assert_eq!(shape_after(d, &[half]), Ok(Shape::from([2, 9, 1])));
        d.axis = 2;
        assert_eq!(refused_field(shape_after(d, &[half])), "axis");
    }
}
