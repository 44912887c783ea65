//! Operators whose output does not depend on elements: constants, and what follows from shapes.

use armnn_backend_api::{DataType, Shape};
use bytes::Bytes;

use super::constant::{Constant, Elements};
use super::context::{Context, described};
use super::problem::{Problem, Result};

/// Exactly one attribute holds the value.
pub(super) fn constant(c: &mut Context<'_, '_>) -> Result {
    let constant = if let Some(tensor) = c.attributes.tensor("value")? {
        Constant::of_tensor(&c.lowering.model.tensor(tensor)?)?
    } else if let Some(value) = c.attributes.optional_float("value_float")? {
        Constant::reals(DataType::Float32, &[], &[value.into()])?
    } else if let Some(values) = c.attributes.floats("value_floats")? {
        let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
        Constant::reals(DataType::Float32, &[length(&values)?], &values)?
    } else if let Some(value) = c.attributes.optional_int("value_int")? {
        Constant::integers(DataType::Signed64, &[], vec![Some(value)])
    } else if let Some(values) = c.attributes.ints("value_ints")? {
        let dims = [length(values)?];
        Constant::integers(
            DataType::Signed64,
            &dims,
            values.iter().copied().map(Some).collect(),
        )
    } else if c.attributes.has("sparse_value") {
        return Err(Problem::unsupported(
            "a sparse constant; convert the model without sparsity",
        ));
    } else if c.attributes.has("value_string") || c.attributes.has("value_strings") {
        return Err(Problem::unsupported("a constant of strings"));
    } else {
        return Err(Problem::malformed("it has no value"));
    };
    c.bind_constant(0, constant)
}

/// One element, everywhere in a shape.
pub(super) fn constant_of_shape(c: &mut Context<'_, '_>) -> Result {
    let dims = c.required_constant(0, "the shape")?;
    let dims = dims.known_integers(Shape::MAX_RANK, "the shape")?;
    if dims.iter().any(|&dim| dim < 0) {
        return Err(Problem::malformed(format!("its shape is {dims:?}")));
    }
    let element = match c.attributes.tensor("value")? {
        Some(tensor) => Constant::of_tensor(&c.lowering.model.tensor(tensor)?)?,
        None => Constant::reals(DataType::Float32, &[], &[0.0])?,
    };
    if element.count() != 1 {
        return Err(Problem::malformed("its value is not one element"));
    }
    let size = element
        .data_type
        .size()
        .ok_or_else(|| Problem::unsupported(format!("elements of type {}", element.data_type)))?;
    let mut constant = element.reshaped(&dims);
    c.pay_for(constant.count().saturating_mul(size))?;
    constant.elements = Elements::Bytes(Bytes::from(element.bytes()?.repeat(constant.count())));
    c.bind_constant(0, constant)
}

/// The dimensions of the input, or some of them since version 15.
pub(super) fn shape(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let rank = length(shape.dims())?;
    let position = |index: i64| {
        let index = if index < 0 {
            index.saturating_add(rank)
        } else {
            index
        };
        usize::try_from(index.clamp(0, rank)).unwrap_or(0)
    };
    let start = position(c.attributes.int("start", 0)?);
    let end = position(c.attributes.int("end", rank)?);
    let dims = shape.dims().get(start..end).unwrap_or_default();
    let values: Vec<Option<i64>> = dims.iter().map(|&dim| (dim >= 0).then_some(dim)).collect();
    let count = [length(&values)?];
    c.bind_constant(0, Constant::integers(DataType::Signed64, &count, values))
}

/// The number of elements of the input.
pub(super) fn size(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let size = match (shape.num_elements(), shape.is_known()) {
        (Some(elements), _) => Some(described(i64::try_from(elements).ok())?),
        (None, true) => return Err(Problem::malformed(format!("its input is {shape}"))),
        (None, false) => None,
    };
    c.bind_constant(0, Constant::integers(DataType::Signed64, &[], vec![size]))
}

fn length<T>(values: &[T]) -> Result<i64> {
    i64::try_from(values.len()).map_err(|_| Problem::malformed("a list is too long"))
}

#[cfg(test)]
mod tests {
    use crate::proto::AttributeProto;
    use crate::test_model::{TestModel, assert_refused, float, floats, int, ints, list, tensor};

    fn constant_bytes(op_type: &str, inputs: &[&str], attributes: &[AttributeProto]) -> Vec<u8> {
        let network = TestModel::new(19)
            .input("x", &[2, 3, 4])
            .constant(ints("shape", &[2, 1]))
            .node(op_type, inputs, &["y"], attributes)
            .output("y")
            .parse()
            .unwrap();
        assert!(network.layers().is_empty());
        network
            .tensor(network.outputs()[0].tensor)
            .constant()
            .unwrap()
            .to_vec()
    }

    fn words(values: &[i64]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    #[test]
    fn a_value_stands_in_one_of_several_attributes() {
        let constant = |attribute| constant_bytes("Constant", &[], &[attribute]);
        // 1.0 in binary32.
        let one = [0, 0, 128, 63];
        assert_eq!(constant(tensor("value", floats("", &[1], &[1.0]))), one);
        assert_eq!(constant(float("value_float", 1.0)), one);
        assert_eq!(constant(int("value_int", -7)), words(&[-7]));
        assert_eq!(constant(list("value_ints", &[1, 2])), words(&[1, 2]));
    }

    #[test]
    fn shapes_are_numbers() {
        assert_eq!(constant_bytes("Shape", &["x"], &[]), words(&[2, 3, 4]));
        let some = [int("start", -2), int("end", 9)];
        assert_eq!(constant_bytes("Shape", &["x"], &some), words(&[3, 4]));
        assert_eq!(constant_bytes("Size", &["x"], &[]), words(&[24]));
    }

    #[test]
    fn one_element_fills_a_shape_of_bounded_size() {
        let seven = [tensor("value", ints("", &[7]))];
        assert_eq!(
            constant_bytes("ConstantOfShape", &["shape"], &seven),
            words(&[7, 7])
        );
        let huge = TestModel::new(19)
            .constant(ints("shape", &[1 << 20, 1 << 20]))
            .node("ConstantOfShape", &["shape"], &["y"], &[])
            .output("y")
            .parse();
        assert_refused(huge, "those that a model makes may take 64 MiB in all");
    }
}
