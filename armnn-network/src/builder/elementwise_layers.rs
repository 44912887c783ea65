//! Arm NN's layers on elements: what they become here.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, ComparisonDescriptor,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, LogicalBinaryDescriptor,
    PreluDescriptor, UnaryOperation,
};

use super::NetworkBuilder;
use crate::{Result, TensorId};

/// Numbers of Arm NN's activation functions that are ElementwiseUnary here.
const ACTIVATION_ABS: ActivationFunction = ActivationFunction(7);
const ACTIVATION_SQRT: ActivationFunction = ActivationFunction(8);
const ACTIVATION_SQUARE: ActivationFunction = ActivationFunction(9);

macro_rules! binary_layers {
    ($($(#[$meta:meta])* $method:ident, $Operation:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// Becomes an ElementwiseBinary layer; shapes broadcast.
        ///
        /// # Errors
        /// As [`add_elementwise_binary_layer`](Self::add_elementwise_binary_layer).
        pub fn $method(&mut self, x: TensorId, y: TensorId, name: &str) -> Result<TensorId> {
            let descriptor = ElementwiseBinaryDescriptor::new(BinaryOperation::$Operation);
            self.add_elementwise_binary_layer(descriptor, x, y, name)
        }
    )*};
}

macro_rules! unary_layers {
    ($($(#[$meta:meta])* $method:ident, $Operation:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// Becomes an ElementwiseUnary layer.
        ///
        /// # Errors
        /// As [`add_elementwise_unary_layer`](Self::add_elementwise_unary_layer).
        pub fn $method(&mut self, input: TensorId, name: &str) -> Result<TensorId> {
            let descriptor = ElementwiseUnaryDescriptor::new(UnaryOperation::$Operation);
            self.add_elementwise_unary_layer(descriptor, input, name)
        }
    )*};
}

/// Layers that work on each element, or on pairs of them.
impl NetworkBuilder {
    /// Adds an Activation.
    ///
    /// Arm NN's functions Abs (7), Sqrt (8) and Square (9) become ElementwiseUnary layers, as
    /// there is one spelling for each operation.
    ///
    /// # Errors
    /// When the function is not a known one, or the input is neither floating-point nor quantized.
    pub fn add_activation_layer(
        &mut self,
        descriptor: ActivationDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        match descriptor.function() {
            ACTIVATION_ABS => self.add_abs_layer(input, name),
            ACTIVATION_SQRT => self.add_sqrt_layer(input, name),
            ACTIVATION_SQUARE => self.add_square_layer(input, name),
            _ => self.add_single(name, descriptor, &[Some(input)], &[]),
        }
    }

    /// Adds an operation on pairs of elements; shapes broadcast.
    ///
    /// # Errors
    /// When the operation is not a known one, the inputs differ in type or are not numbers, or
    /// their shapes do not broadcast.
    pub fn add_elementwise_binary_layer(
        &mut self,
        descriptor: ElementwiseBinaryDescriptor,
        x: TensorId,
        y: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(x), Some(y)], &[])
    }

    /// Adds an operation on each element.
    ///
    /// # Errors
    /// When the operation is not a known one, or the input has a type that it does not take:
    /// LogicalNot takes Boolean; Abs, Neg, Sign and Square numbers; BitwiseNot integers; those that
    /// say whether a number is NaN or infinite floating-point types; the others floating-point and
    /// quantized types.
    pub fn add_elementwise_unary_layer(
        &mut self,
        descriptor: ElementwiseUnaryDescriptor,
        input: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(input)], &[])
    }

    /// Adds a comparison of pairs of elements; the output is Boolean, shapes broadcast.
    ///
    /// # Errors
    /// When the operation is not a known one, the inputs differ in type, their type has no order
    /// (Boolean has equality only), or their shapes do not broadcast.
    pub fn add_comparison_layer(
        &mut self,
        descriptor: ComparisonDescriptor,
        x: TensorId,
        y: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(x), Some(y)], &[])
    }

    /// Adds a logical operation on pairs of Booleans; shapes broadcast.
    ///
    /// # Errors
    /// When the operation is not a known one, an input is not Boolean, or shapes do not broadcast.
    pub fn add_logical_binary_layer(
        &mut self,
        descriptor: LogicalBinaryDescriptor,
        x: TensorId,
        y: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(name, descriptor, &[Some(x), Some(y)], &[])
    }

    /// Adds a Prelu: the input where it is above 0, else alpha times the input.
    ///
    /// # Errors
    /// When the inputs differ in type or are not numbers, or their shapes do not broadcast.
    pub fn add_prelu_layer(
        &mut self,
        input: TensorId,
        alpha: TensorId,
        name: &str,
    ) -> Result<TensorId> {
        self.add_single(
            name,
            PreluDescriptor::new(),
            &[Some(input), Some(alpha)],
            &[],
        )
    }

    binary_layers! {
        /// Adds x + y.
        add_addition_layer, Add;
        /// Adds x - y.
        add_subtraction_layer, Sub;
        /// Adds x y.
        add_multiplication_layer, Mul;
        /// Adds x / y.
        add_division_layer, Div;
        /// Adds the larger of x and y.
        add_maximum_layer, Maximum;
        /// Adds the smaller of x and y.
        add_minimum_layer, Minimum;
    }

    unary_layers! {
        /// Adds the absolute value.
        add_abs_layer, Abs;
        /// Adds the largest integer not above each element.
        add_floor_layer, Floor;
        /// Adds the square root.
        add_sqrt_layer, Sqrt;
        /// Adds the square.
        add_square_layer, Square;
        /// Adds 1 / sqrt(x).
        add_rsqrt_layer, Rsqrt;
    }
}
