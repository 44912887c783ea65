//! Sums of products of quantized numbers with weights: what Convolution2d, DepthwiseConvolution2d
//! and FullyConnected have in common.
//!
//! `sum over i of (x[i] - zero_x) (w[i] - zero_w) + bias`, in 32 bits, or in 64 for activations of
//! 16 bits, times `scale_x scale_w / scale_output`. How that factor is applied is a rule of
//! TensorFlow Lite's kernels; see [`Rescaling`].

use armnn_backend_api::{
    BackendError, DataType, ExecutionContext, Inputs, LayerView, MemoryRequirements, Outputs,
    Result, Synchronous, TensorView, Workload, cast_slice,
};

use crate::{
    numbers::quantized_arithmetic::{Affine, Multiplier, QUANTIZED, QuantizedElement},
    workloads::{
        float_workload::{input_elements, output_elements, scratch},
        layer_checks::{
            FLOATS, input, invalid, num_elements, output, refusal, require_input, require_output,
            tensor_role,
        },
    },
};

const WEIGHTS: &[DataType] = &[DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS8];

/// Whether a layer computes with quantized numbers: not with a bias of real numbers, for which
/// TensorFlow Lite has no rule.
pub(crate) fn is_quantized(layer: LayerView<'_>) -> Result<bool> {
    let bias_is_integer = layer
        .input(2)
        .is_none_or(|bias| !bias.data_type().is_float() && !bias.data_type().is_quantized());
    Ok(input(layer, 0)?.data_type().is_quantized() && bias_is_integer)
}

/// Checks the types of a layer that computes in real numbers: all of one of these types, but for a
/// bias of another floating-point type; or quantized, with a bias of real numbers.
///
/// # Errors
/// A refusal when it has others.
pub(crate) fn check_real(layer: LayerView<'_>, floats: &[DataType]) -> Result<()> {
    require_input(layer, 0, &[floats, QUANTIZED])?;
    let activations = input(layer, 0)?.data_type();
    require_output(layer, 0, &[&[activations]])?;
    let is_quantized = activations.is_quantized();
    require_input(
        layer,
        1,
        &[if is_quantized { WEIGHTS } else { &[] }, &[activations]],
    )?;
    if layer.input(2).is_some() {
        let biases: &[&[DataType]] = match activations {
            DataType::Float64 => &[&[DataType::Float64]],
            _ if is_quantized => &[FLOATS, QUANTIZED],
            _ => &[FLOATS],
        };
        require_input(layer, 2, biases)?;
    }
    for tensor in layer.inputs().chain(layer.outputs()) {
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &tensor_role(layer, tensor))?;
        }
    }
    Ok(())
}

/// Checks the types of a layer with quantized activations, weights and perhaps a bias.
///
/// # Errors
/// A refusal when it has others.
pub(crate) fn check(layer: LayerView<'_>) -> Result<()> {
    require_input(layer, 0, &[QUANTIZED])?;
    let activations = input(layer, 0)?.data_type();
    require_output(layer, 0, &[&[activations]])?;
    require_input(layer, 1, &[WEIGHTS])?;
    if layer.input(2).is_some() {
        let types: &[DataType] = match activations {
            DataType::QSymmS16 => &[DataType::Signed32, DataType::Signed64],
            _ => &[DataType::Signed32],
        };
        require_input(layer, 2, &[types])?;
    }
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output")?;
    if input(layer, 1)?.scales().is_empty() {
        return Err(refusal("weights has no scale and zero point"));
    }
    Ok(())
}

/// Activations, and what sums of their products are made in.
pub(crate) trait Activation: QuantizedElement {
    type Sum: Sum;
}

impl Activation for u8 {
    type Sum = i32;
}

impl Activation for i8 {
    type Sum = i32;
}

impl Activation for i16 {
    type Sum = i64;
}

/// A sum, which wraps around.
pub(crate) trait Sum: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn add_product(self, x: i16, w: i16) -> Self;
    fn add(self, other: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn rescaled(self, rescaling: &Rescaling, channel: usize) -> i32;
    fn by_fixed_point(self, factor: Multiplier) -> i32;
    /// The lowest 32 bits.
    fn wrapped(self) -> i32;
}

impl Sum for i32 {
    const ZERO: Self = 0;

    #[inline]
    fn add_product(self, x: i16, w: i16) -> Self {
        self.wrapping_add(i32::from(x) * i32::from(w))
    }

    #[inline]
    fn add(self, other: i64) -> Self {
        self.wrapping_add(other as i32)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn rescaled(self, rescaling: &Rescaling, channel: usize) -> i32 {
        match rescaling {
            Rescaling::Narrow(multipliers) => multipliers[channel].apply(self),
            Rescaling::Wide(multipliers) => multipliers[channel].apply_wide(self.into()),
            Rescaling::Real(factors) => rounded(f64::from(self) * factors[channel]),
        }
    }

    #[inline]
    fn by_fixed_point(self, factor: Multiplier) -> i32 {
        factor.apply(self)
    }

    #[inline]
    fn wrapped(self) -> i32 {
        self
    }
}

impl Sum for i64 {
    const ZERO: Self = 0;

    #[inline]
    fn add_product(self, x: i16, w: i16) -> Self {
        self.wrapping_add((i32::from(x) * i32::from(w)).into())
    }

    #[inline]
    fn add(self, other: i64) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn rescaled(self, rescaling: &Rescaling, channel: usize) -> i32 {
        match rescaling {
            Rescaling::Narrow(multipliers) => multipliers[channel].apply(self as i32),
            Rescaling::Wide(multipliers) => multipliers[channel].apply_wide(self),
            Rescaling::Real(factors) => rounded(self as f64 * factors[channel]),
        }
    }

    #[inline]
    fn by_fixed_point(self, factor: Multiplier) -> i32 {
        factor.apply_wide(self)
    }

    #[inline]
    fn wrapped(self) -> i32 {
        self as i32
    }
}

/// To nearest, ties away from zero; saturates.
fn rounded(x: f64) -> i32 {
    x.round() as i32
}

/// How sums come into the output's scale; one factor for each output channel.
pub(crate) enum Rescaling {
    /// By `MultiplyByQuantizedMultiplier` of 32 bits; what a sum has beyond them is lost.
    Narrow(Vec<Multiplier>),
    /// By `MultiplyByQuantizedMultiplier` of 64 bits.
    Wide(Vec<Multiplier>),
    /// In Float64, rounded once.
    Real(Vec<f64>),
}

/// The ways in which TensorFlow Lite's reference kernels rescale.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RescalingRule {
    /// In fixed point: of 32 bits, or of 64 for activations of 16 bits unless the bias has 32.
    FixedPoint,
    /// In Float64: FullyConnected in LiteRT 2.3. Results differ from fixed point, which its
    /// optimized kernels have, where that rounds a tie, or nearly one, to the other side.
    Real,
}

/// Scales and zero points of a layer with weights.
pub(crate) struct WeightedLayer {
    rescaling: Rescaling,
    output_zero_point: i32,
}

impl WeightedLayer {
    /// Of a layer with so many output channels, and with the types that [`check`] lets through.
    ///
    /// # Errors
    /// When the scales are not as many as the channels.
    pub(crate) fn new(layer: LayerView<'_>, channels: usize, rule: RescalingRule) -> Result<Self> {
        let from = Affine::of(input(layer, 0)?, "input")?;
        let to = Affine::of(output(layer, 0)?, "output")?;
        let weights = input(layer, 1)?;
        let scales = per_channel(weights, weights.scales(), channels)?;
        let factors = scales
            .iter()
            .map(|&scale| f64::from(from.scale) * f64::from(scale) / f64::from(to.scale));
        per_channel(weights, weights.zero_points(), channels)?;
        let has_narrow_bias = layer
            .input(2)
            .is_some_and(|bias| bias.data_type() == DataType::Signed32);
        let is_wide = input(layer, 0)?.data_type() == DataType::QSymmS16 && !has_narrow_bias;
        Ok(Self {
            rescaling: match rule {
                RescalingRule::FixedPoint if is_wide => {
                    Rescaling::Wide(factors.map(Multiplier::new).collect())
                }
                RescalingRule::FixedPoint => {
                    Rescaling::Narrow(factors.map(Multiplier::new).collect())
                }
                RescalingRule::Real => Rescaling::Real(factors.collect()),
            },
            output_zero_point: to.zero_point,
        })
    }

    /// The numbers of the output that the sums of channels from `first` on become.
    #[inline]
    pub(crate) fn numbers<X: Activation>(
        &self,
        sums: &[X::Sum],
        bias: Bias<'_>,
        first: usize,
        outputs: &mut [X],
    ) {
        let channels = outputs.iter_mut().zip(sums).zip(first..);
        let number = |number: i32| X::saturating(number.saturating_add(self.output_zero_point));
        match &self.rescaling {
            Rescaling::Narrow(multipliers) => {
                for ((out, &sum), channel) in channels {
                    let sum = sum.add(bias.of_channel(channel)).wrapped();
                    *out = number(multipliers[channel].apply(sum));
                }
            }
            _ => {
                for ((out, &sum), channel) in channels {
                    *out = self.number(sum.add(bias.of_channel(channel)), channel);
                }
            }
        }
    }

    /// The number of the output that a sum becomes.
    #[inline]
    pub(crate) fn number<X: Activation>(&self, sum: X::Sum, channel: usize) -> X {
        let number = sum.rescaled(&self.rescaling, channel);
        X::saturating(number.saturating_add(self.output_zero_point))
    }
}

/// One value for each output channel.
fn per_channel<T: Copy>(weights: TensorView<'_>, values: &[T], channels: usize) -> Result<Vec<T>> {
    match values {
        &[value] => Ok(vec![value; channels]),
        values if values.len() == channels => Ok(values.to_vec()),
        values => Err(invalid(format_args!(
            "{} scales of weights of shape {} do not fit {channels} channels of output",
            values.len(),
            weights.shape()
        ))),
    }
}

/// The bias of a layer.
#[derive(Clone, Copy)]
pub(crate) enum Bias<'a> {
    None,
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

impl Bias<'_> {
    #[inline]
    pub(crate) fn of_channel(self, channel: usize) -> i64 {
        match self {
            Self::None => 0,
            Self::Narrow(bias) => bias[channel].into(),
            Self::Wide(bias) => bias[channel],
        }
    }
}

/// The sum of products of inputs and weights, both without their zero points.
#[inline]
pub(crate) fn dot<S: Sum>(x: &[i16], w: &[i16]) -> S {
    let [sum] = dots::<S, 1>(x, [w]);
    sum
}

/// The same of several rows of weights, so that each number is read once for all of them.
#[inline]
pub(crate) fn dots<S: Sum, const N: usize>(x: &[i16], rows: [&[i16]; N]) -> [S; N] {
    let rows = rows.map(|w| &w[..x.len()]);
    let mut sums = [S::ZERO; N];
    for (i, &x) in x.iter().enumerate() {
        for (sum, w) in sums.iter_mut().zip(&rows) {
            *sum = sum.add_product(x, w[i]);
        }
    }
    sums
}

/// A number of at most 16 bits without its zero point, which is within its type.
#[inline]
pub(crate) fn without_zero_point<Q: QuantizedElement>(number: Q, zero_point: i16) -> i16 {
    (number.to_i32() as i16).wrapping_sub(zero_point)
}

/// What a layer with weights does.
pub(crate) trait WeightedKernel<X>: Send + Sync + 'static {
    /// The output channel that a weight is of.
    fn channel_of_weight(&self, index: usize) -> usize;

    /// Computes the output. Inputs and output are as long as their shapes say, and the output is
    /// not empty; `input` and `weights` are without their zero points.
    ///
    /// # Errors
    /// The network's execution fails.
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        input: &[i16],
        weights: &[i16],
        bias: Bias<'_>,
        output: &mut [X],
    ) -> Result<()>;
}

/// Makes the workload of a layer with weights; the kernel is one for the types of its tensors.
///
/// # Errors
/// When a shape is not known.
pub(crate) fn weighted_workload<X, W, K>(
    layer: LayerView<'_>,
    kernel: K,
) -> Result<Box<dyn Workload>>
where
    X: Activation,
    W: QuantizedElement,
    K: WeightedKernel<X>,
{
    let len_of = |position| num_elements(layer, input(layer, position)?);
    let weights = input(layer, 1)?;
    let zero_points: Vec<i16> = weights.zero_points().iter().map(|&z| z as i16).collect();
    let mut workload = WeightedWorkload {
        input_len: len_of(0)?,
        weights_len: len_of(1)?,
        weight_zero_points: zero_points,
        weights: None,
        bias: match layer.input(2) {
            None => None,
            Some(bias) => Some((bias.data_type(), num_elements(layer, bias)?)),
        },
        output_len: num_elements(layer, output(layer, 0)?)?,
        input_zero_point: Affine::of(input(layer, 0)?, "input")?.zero_point as i16,
        kernel,
        elements: std::marker::PhantomData::<fn(X, W)>,
    };
    if let Some(constant) = weights.constant().and_then(cast_slice::<W>)
        && constant.len() == workload.weights_len
    {
        let mut numbers = vec![0; constant.len()];
        workload.take_weights(constant, &mut numbers);
        workload.weights = Some(numbers);
    }
    Ok(Box::new(workload))
}

/// Calls [`weighted_workload`] with a kernel that `$kernel` makes for the types `$X` and `$W` of
/// activations and weights.
macro_rules! by_weighted_types {
    ($layer:expr, $X:ident, $W:ident => $kernel:expr) => {{
        use armnn_backend_api::DataType;
        let layer = $layer;
        let activations = $crate::workloads::layer_checks::input(layer, 0)?.data_type();
        let is_unsigned =
            $crate::workloads::layer_checks::input(layer, 1)?.data_type() == DataType::QAsymmU8;
        macro_rules! with {
            ($x:ty, $w:ty) => {{
                type $X = $x;
                type $W = $w;
                $crate::loops::weighted_sum::weighted_workload::<$X, $W, _>(layer, $kernel)
            }};
        }
        match (activations, is_unsigned) {
            (DataType::QAsymmU8, true) => with!(u8, u8),
            (DataType::QAsymmU8, false) => with!(u8, i8),
            (DataType::QSymmS16, true) => with!(i16, u8),
            (DataType::QSymmS16, false) => with!(i16, i8),
            (_, true) => with!(i8, u8),
            (_, false) => with!(i8, i8),
        }
    }};
}
pub(crate) use by_weighted_types;

struct WeightedWorkload<X, W, K> {
    kernel: K,
    input_len: usize,
    weights_len: usize,
    weight_zero_points: Vec<i16>,
    /// Without zero points, if they are constant.
    weights: Option<Vec<i16>>,
    bias: Option<(DataType, usize)>,
    output_len: usize,
    input_zero_point: i16,
    elements: std::marker::PhantomData<fn(X, W)>,
}

impl<X, W, K> WeightedWorkload<X, W, K> {
    fn scratch_byte_len(&self) -> usize {
        let weights_len = match &self.weights {
            Some(_) => 0,
            None => self.weights_len,
        };
        let len = self.input_len.saturating_add(weights_len);
        len.saturating_mul(size_of::<i16>())
    }
}

impl<X: Activation, W: QuantizedElement, K: WeightedKernel<X>> WeightedWorkload<X, W, K> {
    /// Takes the zero points from weights.
    fn take_weights(&self, weights: &[W], numbers: &mut [i16]) {
        let zero_points = &self.weight_zero_points;
        let first = zero_points.first().copied().unwrap_or(0);
        if zero_points.iter().all(|&zero_point| zero_point == first) {
            for (number, &w) in numbers.iter_mut().zip(weights) {
                *number = without_zero_point(w, first);
            }
            return;
        }
        for (index, (number, &w)) in numbers.iter_mut().zip(weights).enumerate() {
            let channel = self.kernel.channel_of_weight(index);
            let zero_point = zero_points.get(channel).copied().unwrap_or(0);
            *number = without_zero_point(w, zero_point);
        }
    }
}

impl<X, W, K> Workload for WeightedWorkload<X, W, K>
where
    X: Activation,
    W: QuantizedElement,
    K: WeightedKernel<X>,
{
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements {
            scratch_len: self.scratch_byte_len(),
            ..MemoryRequirements::default()
        })
    }

    fn execute(
        &self,
        context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        if self.output_len == 0 {
            return Ok(());
        }
        let input: &[X] = elements_or_none(inputs, 0, self.input_len)?;
        let scratch = scratch::<i16>(context, self.scratch_byte_len())?;
        let (numbers, of_weights) = scratch.split_at_mut(self.input_len.min(scratch.len()));
        for (number, &x) in numbers.iter_mut().zip(input) {
            *number = without_zero_point(x, self.input_zero_point);
        }
        let weights = match &self.weights {
            Some(weights) => weights,
            None => {
                let weights = elements_or_none(inputs, 1, self.weights_len)?;
                self.take_weights(weights, of_weights);
                &*of_weights
            }
        };
        let bias = match self.bias {
            None => Bias::None,
            Some((DataType::Signed64, len)) => Bias::Wide(input_elements(inputs, 2, len)?),
            Some((_, len)) => Bias::Narrow(input_elements(inputs, 2, len)?),
        };
        let output = output_elements(outputs, 0, self.output_len)?;
        self.kernel.run(context, numbers, weights, bias, output)
    }
}

fn elements_or_none<'a, T: armnn_backend_api::Element>(
    inputs: Inputs<'a>,
    position: usize,
    len: usize,
) -> Result<&'a [T], BackendError> {
    if len == 0 {
        return Ok(&[]);
    }
    input_elements(inputs, position, len)
}
