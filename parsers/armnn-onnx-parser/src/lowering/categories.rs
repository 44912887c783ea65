//! Operators of ai.onnx.ml for features that are one of a few values.

use std::collections::HashSet;

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, BinaryOperation as Binary, ComparisonDescriptor,
    ComparisonOperation as Comparison, DataType, GatherDescriptor, LogicalBinaryDescriptor,
    LogicalBinaryOperation, ReduceOperation, SelectDescriptor, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, TensorId};
use bytes::Bytes;

use super::constant::Constant;
use super::context::{Context, small};
use super::control_flow::emit_runtime;
use super::problem::{Problem, Result};
use super::strings;

/// How many values there may be: more than any model's.
const MOST_KEYS: usize = 1 << 20;

/// Numbers for strings or for numbers.
pub(super) fn label_encoder(c: &mut Context<'_, '_>) -> Result {
    for other in ["default_string", "default_int64", "default_float"] {
        c.attributes.ignore(other);
    }
    let (values, default) = values(c)?;
    let size = values.data_type.size();
    let size = size.ok_or_else(|| Problem::unsupported("values of such a type"))?;
    let count = values.bytes.len() / size;
    if default.data_type != values.data_type || default.bytes.len() != size {
        return Err(Problem::malformed("its default is no value"));
    }
    let mismatch = |keys: usize| Problem::malformed(format!("it has {keys} keys, {count} values"));
    if strings::are_given(c, 0)? {
        let keys: Vec<String> = match c.attributes.texts("keys_strings")? {
            Some(keys) => keys.into_iter().map(str::to_owned).collect(),
            None => match c.attributes.tensor("keys_tensor")? {
                Some(tensor) => strings::texts(&tensor.string_data)?,
                None => return Err(Problem::unsupported("keys that are no strings")),
            },
        };
        if keys.len() != count {
            return Err(mismatch(keys.len()));
        }
        let numbers = Bytes::from([&values.bytes[..], &default.bytes[..]].concat());
        let operation = strings::look_up(c, keys, numbers, values.data_type)?;
        let input = c.input(0)?;
        return emit_runtime(c, operation, &[Some(input)]);
    }
    let keys = number_keys(c)?;
    let x = c.input(0)?;
    let key_size = keys.data_type.size().unwrap_or(1);
    let key_count = keys.bytes.len() / key_size;
    if keys.data_type != c.info(x)?.data_type {
        return Err(Problem::malformed(format!(
            "its keys are of type {}, its input is not",
            keys.data_type
        )));
    }
    if key_count != count || !(1..=MOST_KEYS).contains(&count) {
        return Err(mismatch(key_count));
    }
    c.pay_for(values.bytes.len().saturating_add(keys.bytes.len()))?;
    let is_key = equal_to_any(c, x, &keys)?;
    let axis = c.shape(is_key)?.rank().saturating_sub(1);
    // Of equal keys, the first.
    let is_key = c.cast(is_key, DataType::Signed32)?;
    let largest = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, small(axis, "an axis")?, false);
    let place_type = OutputDeclaration::of_type(DataType::Signed64);
    let place = c.step_declared(largest, &[is_key], place_type)?;
    let found = c.reduce(ReduceOperation::Max, is_key, &[axis], false)?;
    let found = c.cast(found, DataType::Boolean)?;
    let (values, default) = (c.add_constant(&values)?, c.add_constant(&default)?);
    let values = c.step(GatherDescriptor { axis: 0 }, &[values, place])?;
    c.emit(SelectDescriptor::new(), &[found, values, default])
}

/// The values, and that of other keys.
fn values(c: &Context<'_, '_>) -> Result<(Constant, Constant)> {
    let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let found = if let Some(values) = c.attributes.ints("values_int64s")? {
        let default = c.attributes.int("default_int64", -1)?;
        let list =
            |dims: &[i64], values: &[i64]| Constant::integers(DataType::Signed64, dims, values);
        (list(&[length(values.len())], values), list(&[], &[default]))
    } else if let Some(values) = c.attributes.floats("values_floats")? {
        let default = c.attributes.float("default_float", -0.0)?;
        let list = |dims: &[i64], values: &[f32]| {
            let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
            Constant::reals(DataType::Float32, dims, &values)
        };
        (
            list(&[length(values.len())], values)?,
            list(&[], &[default])?,
        )
    } else if let Some(values) = c.attributes.tensor("values_tensor")? {
        let values = Constant::of_tensor(&c.lowering.model.tensor(values)?)?;
        let mut default = match c.attributes.tensor("default_tensor")? {
            Some(default) => Constant::of_tensor(&c.lowering.model.tensor(default)?)?,
            None if values.data_type.is_float() => Constant::reals(values.data_type, &[], &[-0.0])?,
            None => Constant::reals(values.data_type, &[], &[-1.0])?,
        };
        default.dims.clear();
        (values, default)
    } else {
        return Err(Problem::unsupported("values that are no numbers"));
    };
    c.attributes.ignore("default_tensor");
    Ok(found)
}

/// The keys of an input of numbers, a list.
fn number_keys(c: &Context<'_, '_>) -> Result<Constant> {
    let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    if let Some(keys) = c.attributes.ints("keys_int64s")? {
        return Ok(Constant::integers(
            DataType::Signed64,
            &[length(keys.len())],
            keys,
        ));
    }
    if let Some(keys) = c.attributes.floats("keys_floats")? {
        let keys: Vec<f64> = keys.iter().map(|&key| key.into()).collect();
        return Constant::reals(DataType::Float32, &[length(keys.len())], &keys);
    }
    match c.attributes.tensor("keys_tensor")? {
        Some(keys) => Constant::of_tensor(&c.lowering.model.tensor(keys)?),
        None => Err(Problem::unsupported("keys that are no numbers")),
    }
}

/// Whether each element is each of the keys: a further dimension at the end. NaN is NaN.
fn equal_to_any(c: &mut Context<'_, '_>, x: TensorId, keys: &Constant) -> Result<TensorId> {
    let mut groups: Vec<Vec<usize>> = (0..c.shape(x)?.rank()).map(|axis| vec![axis]).collect();
    groups.push(Vec::new());
    let x = c.merge_step(x, &groups)?;
    let is_nan = match keys.data_type.is_float() {
        true => {
            let values = keys.known_reals(MOST_KEYS, "its keys")?;
            values
                .into_iter()
                .map(|key| i64::from(key.is_nan()))
                .collect()
        }
        false => Vec::new(),
    };
    let added = c.add_constant(keys)?;
    let equal = c.step(ComparisonDescriptor::new(Comparison::Equal), &[x, added])?;
    if !is_nan.contains(&1) {
        return Ok(equal);
    }
    let are_nan = Constant::integers(DataType::Boolean, &keys.dims, &is_nan);
    let are_nan = c.add_constant(&are_nan)?;
    let is_nan = c.unary(Unary::IsNan, x)?;
    let and = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
    let both = c.step(and, &[is_nan, are_nan])?;
    let or = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalOr);
    c.step(or, &[equal, both])
}

/// 1 at the place of each element among the categories, and else 0, along a further dimension.
pub(super) fn one_hot_encoder(c: &mut Context<'_, '_>) -> Result {
    let may_be_unknown = c.attributes.flag("zeros", true)?;
    let (x, categories) = if strings::are_given(c, 0)? {
        let keys = c.attributes.texts("cats_strings")?.unwrap_or_default();
        c.attributes.ignore("cats_int64s");
        let count = i64::try_from(keys.len()).unwrap_or(i64::MAX);
        let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
        let places: Vec<i64> = (0..count).collect();
        let numbers = places.iter().chain(&[-1]).flat_map(|n| n.to_le_bytes());
        let numbers = numbers.collect::<Vec<u8>>().into();
        let operation = strings::look_up(c, keys, numbers, DataType::Signed64)?;
        let input = c.input(0)?;
        (c.step_runtime(operation, &[Some(input)])?, places)
    } else {
        let categories = c.attributes.ints("cats_int64s")?.unwrap_or_default();
        c.attributes.ignore("cats_strings");
        c.pay_for(categories.len().saturating_mul(size_of::<i64>()))?;
        let x = c.input(0)?;
        (c.cast(x, DataType::Signed64)?, categories.to_vec())
    };
    let count = i64::try_from(categories.len()).unwrap_or(i64::MAX);
    if !(1..=MOST_KEYS).contains(&categories.len()) {
        return Err(Problem::malformed(format!("it has {count} categories")));
    }
    // Two engines would take the last of them, and the standard says nothing.
    let mut seen = HashSet::new();
    if let Some(twice) = categories.iter().find(|&&category| !seen.insert(category)) {
        let problem = format!("its category {twice} is there twice");
        return Err(Problem::malformed(problem));
    }
    let keys = Constant::integers(DataType::Signed64, &[count], &categories);
    let is_key = equal_to_any(c, x, &keys)?;
    if may_be_unknown {
        let output = c.last().cast(is_key, DataType::Float32)?;
        return c.bind_tensor(0, output);
    }
    // An element that is no category is an error: there is no element 1 of a list of one.
    let ones = c.cast(is_key, DataType::Float32)?;
    let axis = c.shape(ones)?.rank().saturating_sub(1);
    let found = c.reduce(ReduceOperation::Max, ones, &[axis], true)?;
    let found = c.cast(found, DataType::Signed64)?;
    let one = c.add_constant(&Constant::integers(DataType::Signed64, &[], &[1]))?;
    let unknown = c.binary(Binary::Sub, one, found)?;
    let list = c.number(DataType::Float32, &[1], &[1.0])?;
    let known = c.step(GatherDescriptor { axis: 0 }, &[list, unknown])?;
    let output = c.last().binary(Binary::Mul, ones, known)?;
    c.bind_tensor(0, output)
}
