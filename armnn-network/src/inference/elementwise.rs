//! Layers that work on each element, or on pairs of them.

use armnn_backend_api::{LayerDescriptor as D, Shape};

use super::dimension::broadcast;
use super::{Arguments, Result, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Activation(d) => named("function", d.function, d.function().name())?,
        D::Comparison(d) => named("operation", d.operation, d.operation().name())?,
        D::ElementwiseBinary(d) => named("operation", d.operation, d.operation().name())?,
        D::ElementwiseUnary(d) => named("operation", d.operation, d.operation().name())?,
        D::LogicalBinary(d) => named("operation", d.operation, d.operation().name())?,
        D::Quantize(d) => named("rounding", d.rounding, d.rounding().name())?,
        D::Bucketize(_) => {
            arguments.input_of_rank(1, 1)?;
        }
        D::BitCast(_) | D::Cast(_) | D::Dequantize(_) | D::Prelu(_) | D::Select(_) => {}
        _ => return Err(LayerProblem::UnknownLayerType),
    }
    match descriptor {
        D::Comparison(_) | D::ElementwiseBinary(_) | D::LogicalBinary(_) | D::Prelu(_) => {
            broadcast(&arguments.input(0)?, &arguments.input(1)?)
        }
        D::Select(_) => {
            let values = broadcast(&arguments.input(1)?, &arguments.input(2)?)?;
            broadcast(&arguments.input(0)?, &values)
        }
        _ => arguments.input(0),
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        ActivationDescriptor, ActivationFunction, BinaryOperation, ComparisonDescriptor,
        ComparisonOperation, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
        LogicalBinaryDescriptor, LogicalBinaryOperation, PreluDescriptor, SelectDescriptor,
        UnaryOperation,
    };

    use super::super::tests::{refused_field, shape_after};
    use super::*;

    #[test]
    fn pairs_of_elements_broadcast_and_single_ones_keep_their_shape() {
        let image = Shape::from([-1, 4, 5]);
        let row = Shape::from([5]);
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        assert_eq!(shape_after(add, &[image, row]), Ok(image));
        let less = ComparisonDescriptor::new(ComparisonOperation::Less);
        assert_eq!(shape_after(less, &[row, image]), Ok(image));
        assert_eq!(
            shape_after(PreluDescriptor::new(), &[image, row]),
            Ok(image)
        );
        let tanh = ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0);
        assert_eq!(shape_after(tanh, &[image]), Ok(image));
        let select = [Shape::from([4, 1]), Shape::SCALAR, image];
        assert_eq!(shape_after(SelectDescriptor::new(), &select), Ok(image));
        let xor = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalXor);
        assert_eq!(shape_after(xor, &[row, image]), Ok(image));
        let abs = ElementwiseUnaryDescriptor::new(UnaryOperation::Abs);
        assert_eq!(shape_after(abs, &[Shape::SCALAR]), Ok(Shape::SCALAR));
    }

    #[test]
    fn shapes_that_do_not_broadcast_are_refused() {
        let (x, y) = (Shape::from([2, 3]), Shape::from([2]));
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        let problem = shape_after(add, &[x, y]).unwrap_err();
        let (x, y) = (Box::new(x), Box::new(y));
        assert_eq!(problem, LayerProblem::Broadcast { x, y });
    }

    #[test]
    fn operations_without_a_name_are_refused() {
        let x = Shape::from([1]);
        let unary = ElementwiseUnaryDescriptor { operation: 77 };
        assert_eq!(refused_field(shape_after(unary, &[x])), "operation");
        let binary = ElementwiseBinaryDescriptor { operation: 77 };
        assert_eq!(refused_field(shape_after(binary, &[x, x])), "operation");
        let comparison = ComparisonDescriptor { operation: 77 };
        assert_eq!(refused_field(shape_after(comparison, &[x, x])), "operation");
        let activation = ActivationDescriptor::new(ActivationFunction(77), 0.0, 0.0);
        assert_eq!(refused_field(shape_after(activation, &[x])), "function");
    }
}
