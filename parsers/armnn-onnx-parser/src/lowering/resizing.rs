//! Resize and Upsample.
//!
//! The layer knows three ways to map positions, and for the nearest element two ways to round;
//! ONNX knows more of both. Here each way is computed for every position of the output, and the
//! layer that comes to the same is taken, if there is one.

use armnn_backend_api::{DataLayout, ResizeDescriptor, ResizeMethod, Shape};

use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::tensor_info::shape as shape_of;

/// How many positions along a dimension are compared.
const MOST_POSITIONS: i64 = 1 << 16;

/// Elements behind each other in steps of the scale; the nearest is the one before.
pub(super) fn upsample(c: &mut Context<'_, '_>) -> Result {
    if c.version > 9 {
        return Err(Problem::malformed(
            "Upsample does not exist any more since version 10",
        ));
    }
    let scales = match c.version {
        9 => {
            let scales = c.required_constant(1, "the scales")?;
            scales.known_reals(Shape::MAX_RANK, "the scales")?
        }
        _ => {
            let scales = c.attributes.floats("scales")?;
            let scales = scales.ok_or_else(|| Problem::malformed("it has no scales"))?;
            scales.iter().map(|&scale| scale.into()).collect()
        }
    };
    let linear = match c.attributes.text("mode", "nearest")? {
        "nearest" => false,
        "linear" | "bilinear" => true,
        other => return Err(unknown("mode", other)),
    };
    let rule = Rule {
        linear,
        mapping: "asymmetric",
        rounding: "simple",
    };
    let sizes = scaled(c.input_shape(0)?, &scales)?;
    emit(c, &sizes, rule)
}

pub(super) fn resize(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let linear = match c.attributes.text("mode", "nearest")? {
        "nearest" => false,
        "linear" => true,
        other => return Err(unknown("mode", other)),
    };
    for name in ["cubic_coeff_a", "extrapolation_value"] {
        // Of cubic interpolation and of cropping, which are not supported.
        c.attributes.ignore(name);
    }
    for name in ["antialias", "exclude_outside"] {
        if c.attributes.flag(name, false)? {
            return Err(unknown(name, "1"));
        }
    }
    match c.attributes.text("keep_aspect_ratio_policy", "stretch")? {
        "stretch" => {}
        other => return Err(unknown("keep_aspect_ratio_policy", other)),
    }
    let (scales_at, rule) = match c.version {
        10 => {
            let (mapping, rounding) = ("asymmetric", "simple");
            (
                1,
                Rule {
                    linear,
                    mapping,
                    rounding,
                },
            )
        }
        _ => {
            let mapping = c
                .attributes
                .text("coordinate_transformation_mode", "half_pixel")?;
            let rounding = c.attributes.text("nearest_mode", "round_prefer_floor")?;
            (
                2,
                Rule {
                    linear,
                    mapping,
                    rounding,
                },
            )
        }
    };
    let axes = match c.attributes.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&index| axis(index, shape.rank()))
            .collect::<Result<Vec<_>>>()?,
        None => (0..shape.rank()).collect(),
    };
    let scales = match c.optional_constant(scales_at, "the scales")? {
        Some(scales) if scales.count() > 0 => {
            Some(scales.known_reals(Shape::MAX_RANK, "the scales")?)
        }
        _ => None,
    };
    let sizes = match c.version {
        10 => None,
        _ => c.optional_integers(3, Shape::MAX_RANK, "the sizes")?,
    };
    let sizes = sizes.filter(|sizes| !sizes.is_empty());
    let mut all = shape.dims().to_vec();
    match (scales, sizes) {
        (Some(scales), None) if scales.len() == axes.len() => {
            let mut of_all = vec![1.0; shape.rank()];
            for (&at, scale) in axes.iter().zip(scales) {
                of_all[at] = scale;
            }
            all = scaled(shape, &of_all)?;
        }
        (None, Some(sizes)) if sizes.len() == axes.len() => {
            for (&at, size) in axes.iter().zip(sizes) {
                all[at] = size;
            }
        }
        _ => {
            return Err(Problem::malformed(format!(
                "it needs scales or sizes, one for each of {} dimensions",
                axes.len()
            )));
        }
    }
    emit(c, &all, rule)
}

/// The sizes that scales lead to.
///
/// Positions follow from the scale, but in the layer from the sizes: both must be the same.
fn scaled(shape: Shape, scales: &[f64]) -> Result<Vec<i64>> {
    if scales.len() != shape.rank() {
        return Err(Problem::malformed(format!(
            "it has {} scales for {} dimensions",
            scales.len(),
            shape.rank()
        )));
    }
    let mut sizes = Vec::new();
    for (&dim, &scale) in shape.dims().iter().zip(scales) {
        if scale == 1.0 {
            sizes.push(dim);
            continue;
        }
        if dim < 0 {
            return Err(Problem::unsupported(
                "a dimension scaled that is not known; give the model fixed input shapes",
            ));
        }
        let size = dim as f64 * scale;
        if !(0.0..=9e15).contains(&size) {
            return Err(Problem::malformed(format!("a scale is {scale}")));
        }
        let rounded = size.round();
        // Scales are Float32.
        if (size - rounded).abs() > 1e-6 * size.max(1.0) {
            return Err(Problem::unsupported(format!(
                "{dim} elements scaled by {scale} (scales), which is no whole number"
            )));
        }
        sizes.push(rounded as i64);
    }
    Ok(sizes)
}

/// How positions of the output are mapped to those of the input.
#[derive(Debug, Clone, Copy)]
struct Rule<'a> {
    linear: bool,
    /// The coordinate_transformation_mode.
    mapping: &'a str,
    /// The nearest_mode; `simple` where the format does not say.
    rounding: &'a str,
}

fn emit(c: &mut Context<'_, '_>, sizes: &[i64], rule: Rule<'_>) -> Result {
    let shape = c.input_shape(0)?;
    let input = c.input(0)?;
    if shape.dims() == sizes && shape.is_known() {
        return c.alias(0, 0);
    }
    let (&[n, channels, rows, columns], &[n_to, channels_to, rows_to, columns_to]) =
        (shape.dims(), sizes)
    else {
        return Err(Problem::unsupported(format!(
            "{shape} resized; images of 4 dimensions can be"
        )));
    };
    if n != n_to || channels != channels_to {
        return Err(Problem::unsupported(format!(
            "{shape} resized to {sizes:?}; only rows and columns can be"
        )));
    }
    let directions = [(rows, rows_to), (columns, columns_to)];
    for (from, to) in directions {
        if from < 1 || to < 1 {
            return Err(Problem::unsupported(format!(
                "{shape} resized to {sizes:?}; give the model fixed input shapes"
            )));
        }
    }
    let method = match rule.linear {
        true => ResizeMethod::Bilinear,
        false => ResizeMethod::NearestNeighbor,
    };
    let base = ResizeDescriptor::new(method, DataLayout::Nchw);
    let candidates =
        [(0, 0), (0, 1), (1, 0)].map(|(align_corners, half_pixel_centers)| ResizeDescriptor {
            align_corners,
            half_pixel_centers,
            ..base
        });
    let mut fitting = None;
    for candidate in candidates {
        let mut fits = true;
        for (from, to) in directions {
            fits &= is_same(&rule, &candidate, from, to)?;
        }
        if fits {
            fitting = Some(candidate);
            break;
        }
    }
    let Some(descriptor) = fitting else {
        return Err(Problem::unsupported(format!(
            "{shape} resized to {sizes:?} with coordinate_transformation_mode = \"{}\"{}{}{}",
            crate::error::Short(rule.mapping),
            if rule.linear {
                ""
            } else {
                " and nearest_mode = \""
            },
            if rule.linear {
                String::new()
            } else {
                crate::error::Short(rule.rounding).to_string()
            },
            if rule.linear { "" } else { "\"" },
        )));
    };
    let mut declaration = c.declaration(0)?;
    declaration.shape = Some(shape_of(sizes)?);
    c.emit_declared(descriptor, &[input], declaration)
}

/// A position of the input, as a fraction with a positive denominator.
#[derive(Debug, Clone, Copy)]
struct Position {
    numerator: i128,
    denominator: i128,
}

impl Position {
    fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    fn ceil(self) -> i128 {
        -(-self.numerator).div_euclid(self.denominator)
    }

    /// To nearest, ties up.
    fn round_up(self) -> i128 {
        (2 * self.numerator + self.denominator).div_euclid(2 * self.denominator)
    }

    /// To nearest, ties down.
    fn round_down(self) -> i128 {
        -(-2 * self.numerator + self.denominator).div_euclid(2 * self.denominator)
    }

    fn clamped(self, last: i128) -> Self {
        if self.numerator <= 0 {
            Self {
                numerator: 0,
                denominator: 1,
            }
        } else if self.numerator >= last * self.denominator {
            Self {
                numerator: last,
                denominator: 1,
            }
        } else {
            self
        }
    }

    fn equals(self, other: Self) -> bool {
        self.numerator * other.denominator == other.numerator * self.denominator
    }
}

/// Whether the layer maps every position of the output as the rule does.
fn is_same(rule: &Rule<'_>, layer: &ResizeDescriptor, from: i64, to: i64) -> Result<bool> {
    if to > MOST_POSITIONS || from > i64::from(i32::MAX) {
        return Err(Problem::unsupported(format!(
            "{from} elements resized to {to}"
        )));
    }
    let (input, output) = (i128::from(from), i128::from(to));
    let last = input - 1;
    let asymmetric = |p: i128| Position {
        numerator: p * input,
        denominator: output,
    };
    let half_pixel = |p: i128| Position {
        numerator: (2 * p + 1) * input - output,
        denominator: 2 * output,
    };
    let corners = |p: i128| match output {
        1 => Position {
            numerator: 0,
            denominator: 1,
        },
        _ => Position {
            numerator: p * last,
            denominator: output - 1,
        },
    };
    for p in 0..output {
        let at = match rule.mapping {
            "asymmetric" => asymmetric(p),
            // Both are the same where sizes are whole, as they are here.
            "half_pixel" | "half_pixel_symmetric" => half_pixel(p),
            "pytorch_half_pixel" if output == 1 => Position {
                numerator: 0,
                denominator: 1,
            },
            "pytorch_half_pixel" => half_pixel(p),
            "align_corners" => corners(p),
            other => return Err(unknown("coordinate_transformation_mode", other)),
        };
        let layer_at = match (layer.align_corners, layer.half_pixel_centers) {
            (1, _) => corners(p),
            (_, 1) => half_pixel(p),
            _ => asymmetric(p),
        };
        if rule.linear {
            if !at.clamped(last).equals(layer_at.clamped(last)) {
                return Ok(false);
            }
            continue;
        }
        let nearest = match rule.rounding {
            "floor" => at.floor(),
            "ceil" => at.ceil(),
            "round_prefer_floor" => at.round_down(),
            "round_prefer_ceil" => at.round_up(),
            "simple" if output >= input => at.floor(),
            "simple" => {
                return Err(Problem::unsupported(format!(
                    "{from} elements resized to {to} by the nearest, before version 11, which does \
                     not say which that is"
                )));
            }
            other => return Err(unknown("nearest_mode", other)),
        };
        let layer_nearest = match (layer.align_corners, layer.half_pixel_centers) {
            (0, 0) => layer_at.floor(),
            _ => layer_at.round_up(),
        };
        if nearest.clamp(0, last) != layer_nearest.clamp(0, last) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn unknown(attribute: &str, value: &str) -> Problem {
    Problem::unsupported(format!("{attribute} = \"{}\"", crate::error::Short(value)))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use crate::proto::{AttributeProto, TensorProto};
    use crate::test_model::{assert_refused, descriptors, floats, ints, output_dims, single, text};

    fn empty() -> TensorProto {
        floats("", &[], &[])
    }

    fn scaled(
        attributes: &[AttributeProto],
    ) -> Result<armnn_network::Network, crate::OnnxParserError> {
        let scales = floats("s", &[4], &[1.0, 1.0, 2.0, 3.0]);
        single(13, "Resize", &[1, 2, 4, 5], &[empty(), scales], attributes)
    }

    fn flags(network: &armnn_network::Network) -> (u8, u8) {
        let [LayerDescriptor::Resize(d)] = &descriptors(network)[..] else {
            panic!("{:?}", descriptors(network));
        };
        (d.align_corners, d.half_pixel_centers)
    }

    #[test]
    fn each_way_of_mapping_positions_is_the_layers_that_comes_to_the_same() {
        let mapping = |mapping| text("coordinate_transformation_mode", mapping);
        let rounding = |rounding| text("nearest_mode", rounding);
        let linear = || text("mode", "linear");
        for (attributes, expected) in [
            (vec![mapping("asymmetric"), rounding("floor")], (0, 0)),
            // Without ties, as the factors are whole.
            (vec![], (0, 0)),
            (vec![linear()], (0, 1)),
            (vec![linear(), mapping("asymmetric")], (0, 0)),
            (vec![linear(), mapping("align_corners")], (1, 0)),
            (vec![linear(), mapping("pytorch_half_pixel")], (0, 1)),
        ] {
            let network = scaled(&attributes).unwrap();
            assert_eq!(flags(&network), expected, "{attributes:?}");
            assert_eq!(output_dims(&network), [1, 2, 8, 15]);
        }
    }

    #[test]
    fn what_the_layer_cannot_do_is_refused_by_the_attributes_name() {
        for (attribute, part) in [
            (text("mode", "cubic"), "mode = \"cubic\""),
            (
                text("coordinate_transformation_mode", "tf_crop_and_resize"),
                "coordinate_transformation_mode = \"tf_crop_and_resize\"",
            ),
            (text("nearest_mode", "odd"), "nearest_mode = \"odd\""),
            (crate::test_model::int("antialias", 1), "antialias"),
        ] {
            assert_refused(scaled(&[attribute]), part);
        }
        let scales = floats("s", &[4], &[1.0, 1.0, 0.625, 1.0]);
        let fraction = single(13, "Resize", &[1, 2, 4, 5], &[empty(), scales], &[]);
        assert_refused(fraction, "4 elements scaled by 0.625 (scales)");
        let sizes = ints("z", &[1, 3, 8, 10]);
        let channels = single(13, "Resize", &[1, 2, 4, 5], &[empty(), empty(), sizes], &[]);
        assert_refused(channels, "only rows and columns can be");
    }

    #[test]
    fn upsampling_takes_the_element_before() {
        let scales = floats("s", &[4], &[1.0, 1.0, 2.0, 2.0]);
        let network = single(9, "Upsample", &[1, 2, 4, 5], &[scales], &[]).unwrap();
        assert_eq!(flags(&network), (0, 0));
        assert_eq!(output_dims(&network), [1, 2, 8, 10]);
    }
}
