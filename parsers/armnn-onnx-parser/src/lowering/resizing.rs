//! Resize and Upsample.
//!
//! Where the layer Resize comes to the same, it is taken, because most backends know it: of images
//! along rows and columns, whose sizes are known, with one of its ways to map positions. Everything
//! else is an Interpolate, which does what ONNX says.

use armnn_backend_api::{
    BinaryOperation, CoordinateTransformation as Coordinates, DataLayout, DataType,
    InterpolateDescriptor, InterpolationMethod as Method, NearestRounding as Rounding,
    ResizeDescriptor, ResizeMethod, Shape, UnaryOperation,
};
use armnn_network::{AspectRatioPolicy, OutputDeclaration, ParameterRule, TensorId};

use super::context::{Context, axis, described};
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
        9 => c.input(1)?,
        _ => {
            let scales = c.attributes.floats("scales")?;
            let scales = scales.ok_or_else(|| Problem::malformed("it has no scales"))?;
            float_list(c, scales)?
        }
    };
    let method = match c.attributes.text("mode", "nearest")? {
        "nearest" => Method::Nearest,
        "linear" | "bilinear" => Method::Linear,
        other => return Err(unknown("mode", other)),
    };
    let mut base = descriptor(method, Coordinates::Asymmetric)?;
    base.nearest_rounding = Rounding::Floor.0;
    let plan = Plan {
        base,
        axes: None,
        policy: AspectRatioPolicy::Stretch,
    };
    emit(c, plan, [None, Some(scales), None])
}

pub(super) fn resize(c: &mut Context<'_, '_>) -> Result {
    let method = match c.attributes.text("mode", "nearest")? {
        "nearest" => Method::Nearest,
        "linear" => Method::Linear,
        "cubic" => Method::Cubic,
        other => return Err(unknown("mode", other)),
    };
    if c.version == 10 {
        let mut base = descriptor(method, Coordinates::Asymmetric)?;
        base.nearest_rounding = Rounding::Floor.0;
        let plan = Plan {
            base,
            axes: None,
            policy: AspectRatioPolicy::Stretch,
        };
        let scales = c.input(1)?;
        let known = c.lowering.builder.known_value(scales);
        let known = known.as_ref().and_then(|known| known.as_reals());
        let grows = known.is_some_and(|all| all.iter().all(|s| s.is_some_and(|s| s >= 1.0)));
        if method == Method::Nearest && !grows {
            return Err(Problem::unsupported(
                "a Resize of version 10 to less elements by the nearest: the format does not say \
                 which that is; convert the model to a later version",
            ));
        }
        return emit(c, plan, [None, Some(scales), None]);
    }
    let text = |name, default| c.attributes.text(name, default);
    let coordinates = match text("coordinate_transformation_mode", "half_pixel")? {
        "half_pixel" => Coordinates::HalfPixel,
        "half_pixel_symmetric" => Coordinates::HalfPixelSymmetric,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        "tf_half_pixel_for_nn" if c.version < 13 => Coordinates::TfHalfPixelForNn,
        "tf_crop_and_resize" => Coordinates::TfCropAndResize,
        other => return Err(unknown("coordinate_transformation_mode", other)),
    };
    let mut base = descriptor(method, coordinates)?;
    base.nearest_rounding = match text("nearest_mode", "round_prefer_floor")? {
        "round_prefer_floor" => Rounding::RoundPreferFloor,
        "round_prefer_ceil" => Rounding::RoundPreferCeil,
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        other => return Err(unknown("nearest_mode", other)),
    }
    .0;
    let policy = match text("keep_aspect_ratio_policy", "stretch")? {
        "stretch" => AspectRatioPolicy::Stretch,
        "not_larger" => AspectRatioPolicy::NotLarger,
        "not_smaller" => AspectRatioPolicy::NotSmaller,
        other => return Err(unknown("keep_aspect_ratio_policy", other)),
    };
    base.cubic_coefficient = c.attributes.float("cubic_coeff_a", -0.75)?;
    base.extrapolation_value = c.attributes.float("extrapolation_value", 0.0)?;
    base.antialias = c.attributes.flag("antialias", false)?.into();
    base.exclude_outside = c.attributes.flag("exclude_outside", false)?.into();
    let axes = c.attributes.ints("axes")?.map(<[i64]>::to_vec);
    let region = match coordinates == Coordinates::TfCropAndResize {
        true => filled_input(c, 1)?,
        false => None,
    };
    let (scales, sizes) = (filled_input(c, 2)?, filled_input(c, 3)?);
    if scales.is_some() == sizes.is_some() {
        return Err(Problem::malformed("it needs either scales or sizes"));
    }
    emit(c, Plan { base, axes, policy }, [region, scales, sizes])
}

/// An input, if it has elements.
fn filled_input(c: &mut Context<'_, '_>, position: usize) -> Result<Option<TensorId>> {
    if !c.has_input(position) || c.input_shape(position)?.dims() == [0] {
        return Ok(None);
    }
    c.input(position).map(Some)
}

fn float_list(c: &mut Context<'_, '_>, values: &[f32]) -> Result<TensorId> {
    let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
    c.number(DataType::Float32, &[count], &values)
}

fn descriptor(method: Method, coordinates: Coordinates) -> Result<InterpolateDescriptor> {
    described(InterpolateDescriptor::new(method, coordinates, 0))
}

struct Plan {
    base: InterpolateDescriptor,
    axes: Option<Vec<i64>>,
    policy: AspectRatioPolicy,
}

fn emit(
    c: &mut Context<'_, '_>,
    plan: Plan,
    [region, scales, sizes]: [Option<TensorId>; 3],
) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let resized = as_resize(c, &plan, shape, scales, sizes)?;
    if let Some(None) = resized {
        return c.alias(0, 0);
    }
    let data_type = c.info(input)?.data_type;
    let (is_nearest, rounds) = (
        plan.base.method() == Method::Nearest,
        plan.base.method() == Method::Cubic || plan.base.antialias != 0,
    );
    let Some(computed) = computed_type(data_type).filter(|_| !is_nearest) else {
        c.is_last = true;
        let output = resized_step(c, plan, resized, input, [region, scales, sizes])?;
        return c.bind_tensor(0, output);
    };
    let real = c.cast(input, computed)?;
    let mut output = resized_step(c, plan, resized, real, [region, scales, sizes])?;
    if rounds {
        output = half_away(c, output)?;
    }
    let output = c.last().cast(output, data_type)?;
    c.bind_tensor(0, output)
}

/// The type in which integers are interpolated; `None` for other types.
///
/// Of what ONNX Runtime takes, UINT8, INT8 and INT32, it is Float32, as there; results go towards
/// zero, but for cubic ones and those with antialias, which go to the nearest integer.
fn computed_type(data_type: DataType) -> Option<DataType> {
    match data_type {
        DataType::Int8
        | DataType::UInt8
        | DataType::Int16
        | DataType::UInt16
        | DataType::Signed32 => Some(DataType::Float32),
        DataType::UInt32 | DataType::Signed64 | DataType::UInt64 => Some(DataType::Float64),
        _ => None,
    }
}

/// To nearest, ties away from zero: x + sign(x) / 2, the fraction of which the Cast takes away.
fn half_away(c: &mut Context<'_, '_>, x: TensorId) -> Result<TensorId> {
    let sign = c.unary(UnaryOperation::Sign, x)?;
    let half = c.number_like(x, 0.5)?;
    let more = c.binary(BinaryOperation::Mul, sign, half)?;
    c.binary(BinaryOperation::Add, x, more)
}

/// The layer; the last one, if `is_last` is set.
fn resized_step(
    c: &mut Context<'_, '_>,
    plan: Plan,
    resized: Option<Resized>,
    input: TensorId,
    parameters: [Option<TensorId>; 3],
) -> Result<TensorId> {
    if let Some(Some((descriptor, dims))) = resized {
        let declaration = OutputDeclaration::of_shape(shape_of(&dims)?);
        return c.step_declared(descriptor, &[input], declaration);
    }
    let rule = ParameterRule::Interpolate {
        descriptor: plan.base,
        axes: plan.axes,
        policy: plan.policy,
    };
    c.step_deferred(rule, &[input], &parameters)
}

type Resized = Option<(ResizeDescriptor, Vec<i64>)>;

/// The Resize that comes to the same, and the output's shape, if there is one; none within it where
/// nothing is to be done.
fn as_resize(
    c: &mut Context<'_, '_>,
    plan: &Plan,
    shape: Shape,
    scales: Option<TensorId>,
    sizes: Option<TensorId>,
) -> Result<Option<Resized>> {
    let base = &plan.base;
    if plan.policy != AspectRatioPolicy::Stretch
        || base.antialias != 0
        || base.exclude_outside != 0
        || base.method() == Method::Cubic
        || !shape.is_known()
    {
        return Ok(None);
    }
    let axes = match &plan.axes {
        Some(axes) => axes
            .iter()
            .map(|&index| axis(index, shape.rank()))
            .collect::<Result<Vec<_>>>()?,
        None => (0..shape.rank()).collect(),
    };
    let mut dims = shape.dims().to_vec();
    let known = scales
        .or(sizes)
        .and_then(|id| c.lowering.builder.known_value(id));
    let Some(known) = known else { return Ok(None) };
    for (position, &at) in axes.iter().enumerate() {
        if let Some(Some(size)) = known.as_integers().and_then(|all| all.get(position)) {
            dims[at] = *size;
        } else if let Some(Some(scale)) = known.as_reals().and_then(|all| all.get(position)) {
            let size = dims[at] as f64 * scale;
            // Positions follow from the scale, but in the layer from the sizes: both must be the
            // same.
            if !(0.0..=9e15).contains(&size) || size.fract() != 0.0 {
                return Ok(None);
            }
            dims[at] = size as i64;
        } else {
            return Ok(None);
        }
    }
    if dims == shape.dims() && base.coordinates() != Coordinates::TfCropAndResize {
        return Ok(Some(None));
    }
    let (&[n, channels, rows, columns], &[n_to, channels_to, rows_to, columns_to]) =
        (shape.dims(), &dims[..])
    else {
        return Ok(None);
    };
    let directions = [(rows, rows_to), (columns, columns_to)];
    let fits = |&(from, to): &(i64, i64)| {
        from >= 1 && (1..=MOST_POSITIONS).contains(&to) && from <= i64::from(i32::MAX)
    };
    if n != n_to || channels != channels_to || !directions.iter().all(fits) {
        return Ok(None);
    }
    let method = match base.method() == Method::Linear {
        true => ResizeMethod::Bilinear,
        false => ResizeMethod::NearestNeighbor,
    };
    let plain = ResizeDescriptor::new(method, DataLayout::Nchw);
    let candidates =
        [(0, 0), (0, 1), (1, 0)].map(|(align_corners, half_pixel_centers)| ResizeDescriptor {
            align_corners,
            half_pixel_centers,
            ..plain
        });
    let mut candidates = candidates.into_iter();
    let found = candidates.find(|candidate| {
        let mut directions = directions.iter();
        directions.all(|&(from, to)| is_same(base, candidate, from, to))
    });
    Ok(found.map(|descriptor| Some((descriptor, dims))))
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

/// Whether the layer maps every position of the output as ONNX does.
fn is_same(base: &InterpolateDescriptor, layer: &ResizeDescriptor, from: i64, to: i64) -> bool {
    let (input, output) = (i128::from(from), i128::from(to));
    let last = input - 1;
    let zero = Position {
        numerator: 0,
        denominator: 1,
    };
    let asymmetric = |p: i128| Position {
        numerator: p * input,
        denominator: output,
    };
    let half_pixel = |p: i128| Position {
        numerator: (2 * p + 1) * input - output,
        denominator: 2 * output,
    };
    let corners = |p: i128| match output {
        1 => zero,
        _ => Position {
            numerator: p * last,
            denominator: output - 1,
        },
    };
    (0..output).all(|p| {
        let at = match base.coordinates() {
            Coordinates::Asymmetric => asymmetric(p),
            // Both are the same where sizes are whole, as they are here.
            Coordinates::HalfPixel | Coordinates::HalfPixelSymmetric => half_pixel(p),
            Coordinates::PytorchHalfPixel if output == 1 => zero,
            Coordinates::PytorchHalfPixel => half_pixel(p),
            Coordinates::AlignCorners => corners(p),
            _ => return false,
        };
        let layer_at = match (layer.align_corners, layer.half_pixel_centers) {
            (1, _) => corners(p),
            (_, 1) => half_pixel(p),
            _ => asymmetric(p),
        };
        if base.method() == Method::Linear {
            return at.clamped(last).equals(layer_at.clamped(last));
        }
        let nearest = match base.nearest_rounding() {
            Rounding::Floor => at.floor(),
            Rounding::Ceil => at.ceil(),
            Rounding::RoundPreferFloor => at.round_down(),
            Rounding::RoundPreferCeil => at.round_up(),
            _ => return false,
        };
        let layer_nearest = match (layer.align_corners, layer.half_pixel_centers) {
            (0, 0) => layer_at.floor(),
            _ => layer_at.round_up(),
        };
        nearest.clamp(0, last) == layer_nearest.clamp(0, last)
    })
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
    fn what_the_layer_cannot_do_is_another_layer() {
        let odd = [text("nearest_mode", "odd")];
        assert_refused(scaled(&odd), "nearest_mode = \"odd\"");
        for attribute in [
            text("mode", "cubic"),
            text("coordinate_transformation_mode", "half_pixel_symmetric"),
            crate::test_model::int("antialias", 1),
        ] {
            let is_resize = attribute.name == "coordinate_transformation_mode";
            let network = scaled(std::slice::from_ref(&attribute)).unwrap();
            let [descriptor] = &descriptors(&network)[..] else {
                panic!("{:?}", descriptors(&network));
            };
            let is_interpolate = matches!(descriptor, LayerDescriptor::Interpolate(_));
            assert_eq!(is_interpolate, !is_resize, "{attribute:?}");
        }
        // Channels, too, and sizes that are no whole multiples of the scale.
        let scales = floats("s", &[4], &[1.0, 1.0, 0.625, 1.0]);
        let fraction = single(13, "Resize", &[1, 2, 4, 5], &[empty(), scales], &[]).unwrap();
        assert_eq!(output_dims(&fraction), [1, 2, 2, 5]);
        let sizes = ints("z", &[1, 3, 8, 10]);
        let channels = [empty(), empty(), sizes];
        let channels = single(13, "Resize", &[1, 2, 4, 5], &channels, &[]).unwrap();
        assert_eq!(output_dims(&channels), [1, 3, 8, 10]);
    }

    #[test]
    fn upsampling_takes_the_element_before() {
        let scales = floats("s", &[4], &[1.0, 1.0, 2.0, 2.0]);
        let network = single(9, "Upsample", &[1, 2, 4, 5], &[scales], &[]).unwrap();
        assert_eq!(flags(&network), (0, 0));
        assert_eq!(output_dims(&network), [1, 2, 8, 10]);
    }
}
