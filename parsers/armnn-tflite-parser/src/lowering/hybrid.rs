//! Operators with real inputs and quantized weights.
//!
//! TFLite's kernels narrow the input to 8 bits each time, with a scale for each row or batch, and
//! multiply integers. Here the input is rounded to the numbers that these integers stand for, the
//! weights are widened, and real numbers are multiplied, which gives the same but for their rounding.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, DataType,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, ReduceDescriptor, ReduceOperation,
    UnaryOperation,
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

/// The least range that is divided by: one of 0 has numbers of 0 only, whatever they are divided by.
const LEAST_RANGE: f64 = 1e-30;

impl Context<'_, '_, '_> {
    /// Whether an input is real, and its weights are quantized.
    pub(super) fn is_hybrid(&self, input: TensorId, weights: TensorId) -> Result<bool> {
        let (input, weights) = (self.info(input)?, self.info(weights)?);
        Ok(input.data_type == DataType::Float32 && weights.data_type.is_quantized())
    }

    /// An input, rounded to what 8 bits hold, with a scale of its own for each part that `axes` span.
    pub(super) fn narrowed(
        &mut self,
        input: TensorId,
        axes: &[u32],
        narrowing: Narrowing,
    ) -> Result<TensorId> {
        let none = OutputDeclaration::default;
        let unary = |operation| ElementwiseUnaryDescriptor::new(operation);
        let binary = |operation| ElementwiseBinaryDescriptor::new(operation);
        let linear = |a, b| ActivationDescriptor::new(ActivationFunction::Linear, a, b);
        let bounded =
            |most, least| ActivationDescriptor::new(ActivationFunction::BoundedReLu, most, least);
        let reduce = |operation| described(ReduceDescriptor::new(operation, axes, true));
        let mul = binary(BinaryOperation::Mul);
        let div = binary(BinaryOperation::Div);
        let least_range = self.scalar(DataType::Float32, LEAST_RANGE)?;
        let maximum = binary(BinaryOperation::Maximum);
        if narrowing == Narrowing::Symmetric {
            let abs = self.step(0, unary(UnaryOperation::Abs), &[Some(input)], none())?;
            let range = reduce(ReduceOperation::Max)?;
            let range = self.step(0, range, &[Some(abs)], none())?;
            let range = self.step(0, maximum, &[Some(range), Some(least_range)], none())?;
            let limit = self.scalar(DataType::Float32, 127.0)?;
            let inverse = self.step(0, div, &[Some(limit), Some(range)], none())?;
            let scale = self.step(0, div, &[Some(range), Some(limit)], none())?;
            let steps = self.step(0, mul, &[Some(input), Some(inverse)], none())?;
            let whole = self.step(0, unary(UnaryOperation::Round), &[Some(steps)], none())?;
            let whole = self.step(0, bounded(127.0, -127.0), &[Some(whole)], none())?;
            return self.step(0, mul, &[Some(whole), Some(scale)], none());
        }
        let zero = self.scalar(DataType::Float32, 0.0)?;
        let minimum = binary(BinaryOperation::Minimum);
        let sub = binary(BinaryOperation::Sub);
        let add = binary(BinaryOperation::Add);
        let most = reduce(ReduceOperation::Max)?;
        let most = self.step(0, most, &[Some(input)], none())?;
        let most = self.step(0, maximum, &[Some(most), Some(zero)], none())?;
        let least = reduce(ReduceOperation::Min)?;
        let least = self.step(0, least, &[Some(input)], none())?;
        let least = self.step(0, minimum, &[Some(least), Some(zero)], none())?;
        let range = self.step(0, sub, &[Some(most), Some(least)], none())?;
        let range = self.step(0, maximum, &[Some(range), Some(least_range)], none())?;
        let scale = self.step(0, linear(1.0 / 255.0, 0.0), &[Some(range)], none())?;
        // The zero point is -128 - least / scale, rounded.
        let offset = self.step(0, div, &[Some(least), Some(scale)], none())?;
        let offset = self.step(0, linear(-1.0, -128.0), &[Some(offset)], none())?;
        let offset = self.step(0, unary(UnaryOperation::Round), &[Some(offset)], none())?;
        let offset = self.step(0, bounded(127.0, -128.0), &[Some(offset)], none())?;
        let steps = self.step(0, div, &[Some(input), Some(scale)], none())?;
        let steps = self.step(0, add, &[Some(steps), Some(offset)], none())?;
        let whole = self.step(0, unary(UnaryOperation::Round), &[Some(steps)], none())?;
        let whole = self.step(0, bounded(127.0, -128.0), &[Some(whole)], none())?;
        let whole = self.step(0, sub, &[Some(whole), Some(offset)], none())?;
        self.step(0, mul, &[Some(whole), Some(scale)], none())
    }

    /// The inputs of a convolution, made real if only the weights are quantized.
    ///
    /// Each batch has a scale. With a scale for each of its output channels, TFLite takes the whole
    /// range of an input, else one around 0.
    pub(super) fn real_convolution(
        &mut self,
        input: TensorId,
        weights: TensorId,
    ) -> Result<[TensorId; 2]> {
        if !self.is_hybrid(input, weights)? {
            return Ok([input, weights]);
        }
        let info = self.info(weights)?;
        let axis = usize::try_from(info.quantization.axis()).unwrap_or(0);
        let channels = info.shape.dims().get(axis).copied();
        let scales = info.quantization.scales().len() as i64;
        let narrowing = match channels == Some(scales) {
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
        let narrowing = match asymmetric {
            true => Narrowing::Asymmetric,
            false => Narrowing::Symmetric,
        };
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
