//! Operators whose output does not depend on elements: constants, and what follows from shapes.

use armnn_backend_api::{DataType, ReduceDescriptor, ReduceOperation, Shape};
use armnn_network::{ParameterRule, TensorId};

use super::constant::Constant;
use super::context::{Context, described};
use super::problem::{Problem, Result};
use super::strings;

/// The most elements that a shape is filled with when the model is read.
const MOST_FILLED: usize = 4096;

/// Exactly one attribute holds the value.
pub(super) fn constant(c: &mut Context<'_, '_>) -> Result {
    let constant = if let Some(tensor) = c.attributes.tensor("value")? {
        let tensor = c.lowering.model.tensor(tensor)?;
        if let Some(strings) = &tensor.strings {
            return string_constant(c, &tensor.dims, strings::texts(strings)?);
        }
        Constant::of_tensor(&tensor)?
    } else if let Some(value) = c.attributes.optional_float("value_float")? {
        Constant::reals(DataType::Float32, &[], &[value.into()])?
    } else if let Some(values) = c.attributes.floats("value_floats")? {
        let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
        Constant::reals(DataType::Float32, &[length(&values)?], &values)?
    } else if let Some(value) = c.attributes.optional_int("value_int")? {
        Constant::integers(DataType::Signed64, &[], &[value])
    } else if let Some(values) = c.attributes.ints("value_ints")? {
        let dims = [length(values)?];
        Constant::integers(DataType::Signed64, &dims, values)
    } else if c.attributes.has("sparse_value") {
        return Err(Problem::unsupported(
            "a sparse constant; convert the model without sparsity",
        ));
    } else if c.attributes.has("value_string") {
        let text = c.attributes.text("value_string", "")?.to_owned();
        return string_constant(c, &[], vec![text]);
    } else if let Some(texts) = c.attributes.texts("value_strings")? {
        let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
        return string_constant(c, &[length(&texts)?], texts);
    } else {
        return Err(Problem::malformed("it has no value"));
    };
    c.bind_constant(0, constant)
}

fn string_constant(c: &mut Context<'_, '_>, dims: &[i64], strings: Vec<String>) -> Result {
    let name = c.layer_name(0);
    let id = c.lowering.string_constant(&name, dims, strings)?;
    c.bind_tensor(0, id)
}

/// One element, everywhere in a shape. Where the shape is known, a constant up to some size.
pub(super) fn constant_of_shape(c: &mut Context<'_, '_>) -> Result {
    let element = match c.attributes.tensor("value")? {
        Some(tensor) => Constant::of_tensor(&c.lowering.model.tensor(tensor)?)?,
        None => Constant::reals(DataType::Float32, &[], &[0.0])?,
    };
    if element.count() != 1 {
        return Err(Problem::malformed("its value is not one element"));
    }
    if let Some(dims) = c.constant(0)? {
        let dims = dims.known_integers(Shape::MAX_RANK, "the shape")?;
        if dims.iter().any(|&dim| dim < 0) {
            return Err(Problem::malformed(format!("its shape is {dims:?}")));
        }
        let filled = element.reshaped(&dims);
        if let Some(size) = element.data_type.size()
            && filled.count() <= MOST_FILLED
        {
            c.pay_for(filled.count().saturating_mul(size))?;
            let bytes = element.bytes.repeat(filled.count()).into();
            return c.bind_constant(0, Constant { bytes, ..filled });
        }
    }
    let dims = c.input(0)?;
    let value = c.add_constant(&element.reshaped(&[]))?;
    c.emit_deferred(ParameterRule::Fill, &[value], &[Some(dims)])
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
    let end = position(c.attributes.int("end", rank)?).max(start);
    let dims = shape.dims().get(start..end).unwrap_or_default();
    if dims.iter().all(|&dim| dim >= 0) {
        let count = [length(dims)?];
        return c.bind_constant(0, Constant::integers(DataType::Signed64, &count, dims));
    }
    let input = c.input(0)?;
    let name = c.layer_name(0);
    let id = c
        .lowering
        .builder
        .add_shape_layer(input, start, end, DataType::Signed64, &name)?;
    c.bind_tensor(0, id)
}

/// The number of elements of the input: the product of its dimensions.
pub(super) fn size(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    if shape.is_known() {
        let elements = shape.num_elements().and_then(|n| i64::try_from(n).ok());
        let elements =
            elements.ok_or_else(|| Problem::malformed(format!("its input is {shape}")))?;
        return c.bind_constant(0, Constant::integers(DataType::Signed64, &[], &[elements]));
    }
    let input = c.input(0)?;
    let dims = c.shape_step(input, 0, shape.rank())?;
    let product = described(ReduceDescriptor::new(ReduceOperation::Prod, &[0], false))?;
    c.emit(product, &[dims])
}

/// Numbers from a start to below a limit in steps.
pub(super) fn range(c: &mut Context<'_, '_>) -> Result {
    let numbers = c.inputs()?;
    range_of(c, &numbers)
}

/// The same of start, limit and delta.
pub(super) fn range_of(c: &mut Context<'_, '_>, numbers: &[TensorId]) -> Result {
    let mut numbers = numbers.to_vec();
    for id in &mut numbers {
        *id = c.merge_step(*id, &[])?;
    }
    let mut parameters = Vec::with_capacity(numbers.len());
    for &id in &numbers {
        // Of types whose values shape inference does not read.
        parameters.push(Some(match c.info(id)?.data_type {
            DataType::Float16 | DataType::BFloat16 => c.cast(id, DataType::Float32)?,
            _ => id,
        }));
    }
    let rule = ParameterRule::Range {
        rounded_quotient: false,
    };
    c.emit_deferred(rule, &numbers, &parameters)
}

/// 1 along a diagonal of a matrix as large as the input, else 0.
pub(super) fn eye_like(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let (shape, data_type) = (c.shape(input)?, c.info(input)?.data_type);
    let to = match c.attributes.optional_int("dtype")? {
        Some(number) => data_type_of(number)?,
        None => data_type,
    };
    let diagonal = c.attributes.int("k", 0)?;
    if shape.rank() != 2 {
        return Err(Problem::malformed(format!("its input is {shape}")));
    }
    // What is on or above the diagonal, without what is above it.
    let one = c.number(DataType::Float32, &[], &[1.0])?;
    let dims = c.shape_step(input, 0, 2)?;
    let ones = c.step_deferred(ParameterRule::Fill, &[one], &[Some(dims)])?;
    let place = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[diagonal]))?;
    let trilu = |upper| armnn_backend_api::TriluDescriptor { upper };
    let above = c.step(trilu(1), &[ones, place])?;
    let eye = c.step(trilu(0), &[above, place])?;
    let output = c.last().cast(eye, to)?;
    c.bind_tensor(0, output)
}

/// The data type of a number in an attribute.
pub(super) fn data_type_of(number: i64) -> Result<DataType> {
    let number =
        i32::try_from(number).map_err(|_| Problem::malformed(format!("its type is {number}")))?;
    super::tensor_info::data_type(crate::model::ElementType(number))
}

fn length<T>(values: &[T]) -> Result<i64> {
    i64::try_from(values.len()).map_err(|_| Problem::malformed("a list is too long"))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType;

    use crate::proto::AttributeProto;
    use crate::test_model::{TestModel, float, floats, int, ints, list, tensor, types};

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
        let large = TestModel::new(19)
            .constant(ints("shape", &[1 << 10, 1 << 10]))
            .node("ConstantOfShape", &["shape"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        assert_eq!(types(&large), [LayerType::Fill]);
    }
}
