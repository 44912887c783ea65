//! Operators with real inputs and quantized weights.
//!
//! TFLite's kernels narrow the input to 8 bits each time, with a scale for each row or batch, and
//! multiply integers. Here the input is rounded to the numbers that these integers stand for, the
//! weights are widened, and real numbers are multiplied, which gives the same but for their rounding.

use armnn_backend_api::{
    BinaryOperation, DataType, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    Quantization, ReduceDescriptor, ReduceOperation, Shape, TensorInfo, UnaryOperation,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::{Context, described};
use super::problem::Result;

/// How the integers of an input are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Narrowing {
    /// From -127 to 127, 0 in the middle.
    Symmetric,
    /// From -128 to 127, from the least number to the greatest.
    Asymmetric,
}

impl Narrowing {
    /// By the option `asymmetric_quantize_inputs`.
    pub(super) fn of(asymmetric: bool) -> Self {
        match asymmetric {
            true => Self::Asymmetric,
            false => Self::Symmetric,
        }
    }
}

/// The least range that is divided by: one of 0 has numbers of 0 only, whatever they are divided by.
const LEAST_RANGE: f64 = 1e-30;

impl Context<'_, '_, '_> {
    /// Whether an input is real, and its weights are quantized.
    pub(super) fn is_hybrid(&self, input: TensorId, weights: TensorId) -> Result<bool> {
        let (input, weights) = (self.info(input)?, self.info(weights)?);
        Ok(input.data_type == DataType::Float32 && weights.data_type.is_quantized())
    }

    /// An input, rounded to what 8 bits hold, with a scale of its own for each part that `axes` span:
    /// `SymmetricQuantizeFloats` and `AsymmetricQuantizeFloats`
    /// (`kernels/internal/reference/portable_tensor_utils.cc`).
    pub(super) fn narrowed(
        &mut self,
        input: TensorId,
        axes: &[u32],
        narrowing: Narrowing,
    ) -> Result<TensorId> {
        match narrowing {
            Narrowing::Symmetric => self.narrowed_around_zero(input, axes),
            Narrowing::Asymmetric => self.narrowed_to_range(input, axes),
        }
    }

    fn narrowed_around_zero(&mut self, input: TensorId, axes: &[u32]) -> Result<TensorId> {
        let abs = ElementwiseUnaryDescriptor::new(UnaryOperation::Abs);
        let abs = self.step(0, abs, &[Some(input)], OutputDeclaration::default())?;
        let range = self.extreme(abs, axes, ReduceOperation::Max)?;
        let least_range = self.scalar(DataType::Float32, LEAST_RANGE)?;
        let range = self.binary(BinaryOperation::Maximum, range, least_range)?;
        let limit = self.scalar(DataType::Float32, 127.0)?;
        let inverse = self.binary(BinaryOperation::Div, limit, range)?;
        let scale = self.binary(BinaryOperation::Div, range, limit)?;
        let steps = self.binary(BinaryOperation::Mul, input, inverse)?;
        let whole = self.rounded(steps)?;
        self.binary(BinaryOperation::Mul, whole, scale)
    }

    fn narrowed_to_range(&mut self, input: TensorId, axes: &[u32]) -> Result<TensorId> {
        let number = |context: &mut Self, value| context.scalar(DataType::Float32, value);
        let zero = number(self, 0.0)?;
        let most = self.extreme(input, axes, ReduceOperation::Max)?;
        let most = self.binary(BinaryOperation::Maximum, most, zero)?;
        let least = self.extreme(input, axes, ReduceOperation::Min)?;
        let least = self.binary(BinaryOperation::Minimum, least, zero)?;
        let range = self.binary(BinaryOperation::Sub, most, least)?;
        let least_range = number(self, LEAST_RANGE)?;
        let range = self.binary(BinaryOperation::Maximum, range, least_range)?;
        let intervals = number(self, 255.0)?;
        let scale = self.binary(BinaryOperation::Div, range, intervals)?;
        // The zero point is -128 - least / scale, rounded.
        let first = number(self, -128.0)?;
        let above = self.binary(BinaryOperation::Div, least, scale)?;
        let offset = self.binary(BinaryOperation::Sub, first, above)?;
        let offset = self.rounded(offset)?;
        let one = number(self, 1.0)?;
        let inverse = self.binary(BinaryOperation::Div, one, scale)?;
        let steps = self.binary(BinaryOperation::Mul, input, inverse)?;
        let steps = self.binary(BinaryOperation::Add, steps, offset)?;
        let whole = self.rounded(steps)?;
        let whole = self.binary(BinaryOperation::Sub, whole, offset)?;
        self.binary(BinaryOperation::Mul, whole, scale)
    }

    fn binary(&mut self, operation: BinaryOperation, a: TensorId, b: TensorId) -> Result<TensorId> {
        let descriptor = ElementwiseBinaryDescriptor::new(operation);
        let none = OutputDeclaration::default();
        self.step(0, descriptor, &[Some(a), Some(b)], none)
    }

    fn extreme(
        &mut self,
        input: TensorId,
        axes: &[u32],
        operation: ReduceOperation,
    ) -> Result<TensorId> {
        let descriptor = described(ReduceDescriptor::new(operation, axes, true))?;
        self.step(0, descriptor, &[Some(input)], OutputDeclaration::default())
    }

    /// The nearest number of 8 bits, ties away from zero: what Quantize gives with a scale of 1.
    fn rounded(&mut self, input: TensorId) -> Result<TensorId> {
        let bytes = TensorInfo::new(DataType::QAsymmS8, Shape::SCALAR)
            .quantized(Quantization::per_tensor(1.0, 0));
        let whole = self.quantized_step(input, &bytes)?;
        self.dequantized_step(whole)
    }

    /// The inputs of a convolution, made real if only the weights are quantized.
    ///
    /// Each batch has a scale. With a scale for each of its output channels, TFLite takes the whole
    /// range of an input, else one around 0.
    pub(super) fn real_convolution(
        &mut self,
        input: TensorId,
        weights: TensorId,
        is_depthwise: bool,
    ) -> Result<[TensorId; 2]> {
        if !self.is_hybrid(input, weights)? {
            return Ok([input, weights]);
        }
        let info = self.info(weights)?;
        let axis = usize::try_from(info.quantization.axis()).unwrap_or(0);
        let channels = info.shape.dims().get(axis).copied();
        let scales = info.quantization.scales().len() as i64;
        // A single scale is that of the whole tensor, of a depthwise convolution also of its channel.
        let per_channel = channels == Some(scales) && (scales > 1 || is_depthwise);
        let narrowing = match per_channel {
            true => Narrowing::Asymmetric,
            false => Narrowing::Symmetric,
        };
        let rank = self.shape(input)?.rank() as u32;
        let axes: Vec<u32> = (1..rank).collect();
        let input = self.narrowed(input, &axes, narrowing)?;
        let weights = self.widened(weights, DataType::Float32)?;
        Ok([input, weights])
    }

    /// The inputs of a product of matrices, made real if only the second is quantized. Each row has
    /// a scale.
    pub(super) fn real_product(
        &mut self,
        input: TensorId,
        weights: TensorId,
        asymmetric: bool,
    ) -> Result<[TensorId; 2]> {
        if !self.is_hybrid(input, weights)? {
            return Ok([input, weights]);
        }
        let narrowing = Narrowing::of(asymmetric);
        let last = self.shape(input)?.rank().saturating_sub(1) as u32;
        let input = self.narrowed(input, &[last], narrowing)?;
        let weights = self.widened(weights, DataType::Float32)?;
        Ok([input, weights])
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{float, lower, run, typed};

    /// x of one row with weights of 1 and 2 at a scale of 0.5.
    fn product(x: [f32; 4], asymmetric_quantize_inputs: bool) -> Vec<f32> {
        let weights = typed(TensorType::Int8, &[2, 4])
            .with_data(vec![2, 2, 2, 2, 4, 0, 0, 0])
            .quantized(0.5, 0);
        let options = write::FullyConnectedOptions {
            asymmetric_quantize_inputs,
            ..write::FullyConnectedOptions::default()
        };
        let options = write::BuiltinOptions::FullyConnectedOptions(Box::new(options));
        let inputs = [float(&[1, 4]), weights];
        let network = lower(Op::FullyConnected, &inputs, &[float(&[1, 2])], options).unwrap();
        run(network, &[(&[1, 4], &x)]).remove(0).1
    }

    fn assert_near(found: &[f32], expected: [f32; 2]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }

    #[test]
    fn an_input_is_rounded_to_integers_around_0() {
        // The scale is 254 / 127 = 2: 3.1 becomes 2 x 2 = 4, -0.9 becomes 0.
        assert_near(&product([3.1, 254.0, -0.9, 0.0], false), [258.0, 8.0]);
        assert_near(&product([0.0; 4], false), [0.0, 0.0]);
    }

    #[test]
    fn an_input_may_be_rounded_to_its_whole_range() {
        // The scale is (254 + 1) / 255 = 1, the zero point -128 + 1 = -127: numbers become whole.
        assert_near(&product([3.1, 254.0, -1.0, 0.4], true), [256.0, 6.0]);
        assert_near(&product([0.0; 4], true), [0.0, 0.0]);
    }

    #[test]
    fn a_convolution_with_quantized_weights_is_one_of_real_numbers() {
        let weights = typed(TensorType::Int8, &[2, 1, 1, 1])
            .with_data(vec![1, 1])
            .quantized_along(0, &[1.0, 2.0], &[0, 0]);
        let options = write::Conv2DOptions {
            stride_w: 1,
            stride_h: 1,
            ..write::Conv2DOptions::default()
        };
        let options = write::BuiltinOptions::Conv2DOptions(Box::new(options));
        let inputs = [float(&[1, 1, 2, 1]), weights];
        let network = lower(Op::Conv2d, &inputs, &[float(&[1, 1, 2, 2])], options).unwrap();
        // The range is 255, the scale 1.
        let found = run(network, &[(&[1, 1, 2, 1], &[255.0, 7.3])]).remove(0).1;
        for (found, expected) in found.iter().zip([255.0, 510.0, 7.0, 14.0]) {
            assert!((found - expected).abs() < 1e-2, "{found} {expected}");
        }
    }
}
