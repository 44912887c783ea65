//! Tensors of strings, which the runtime handles itself.

use armnn_backend_api::DataType;
use armnn_network::{LetterCase, Pattern, RuntimeOperation, StringOperation, TensorId, ValueType};
use bytes::Bytes;
use std::collections::HashMap;

use super::Lowering;
use super::context::Context;
use super::control_flow::emit_runtime;
use super::emission::single;
use super::problem::{Problem, Result};
use super::tensor_info::shape;

/// How many strings a table may have: more than any model's.
const MOST_KEYS: usize = 1 << 20;

/// Whether an input is of strings.
pub(super) fn are_given(c: &mut Context<'_, '_>, position: usize) -> Result<bool> {
    if (c.constant(position)).is_ok_and(|constant| constant.is_some()) {
        return Ok(false);
    }
    let id = c.input(position)?;
    Ok(matches!(c.value_type(id)?, ValueType::Strings(_)))
}

/// An operation whose inputs are the node's.
pub(super) fn plain(c: &mut Context<'_, '_>, operation: StringOperation) -> Result {
    let inputs = c.inputs()?.into_iter().map(Some).collect::<Vec<_>>();
    emit_runtime(c, RuntimeOperation::Strings(operation), &inputs)
}

pub(super) fn normalize(c: &mut Context<'_, '_>) -> Result {
    // Which letters are the small ones of others does not depend on it here.
    c.attributes.ignore("locale");
    let case = match c.attributes.text("case_change_action", "NONE")? {
        "NONE" => LetterCase::AsIs,
        "LOWER" => LetterCase::Lower,
        "UPPER" => LetterCase::Upper,
        other => {
            return Err(Problem::malformed(format!(
                "its case_change_action is \"{}\"",
                crate::error::Short(other)
            )));
        }
    };
    let is_case_sensitive = c.attributes.flag("is_case_sensitive", false)?;
    let stop_words = c.attributes.texts("stopwords")?.unwrap_or_default();
    let stop_words = stop_words.into_iter().map(str::to_owned).collect();
    plain(
        c,
        StringOperation::Normalize {
            case,
            is_case_sensitive,
            stop_words,
        },
    )
}

pub(super) fn split(c: &mut Context<'_, '_>) -> Result {
    let delimiter = match c.attributes.has("delimiter") {
        true => Some(c.attributes.text("delimiter", "")?.to_owned()),
        false => None,
    };
    let most = match c.attributes.optional_int("maxsplit")? {
        Some(most) => usize::try_from(most).ok(),
        None => None,
    };
    plain(c, StringOperation::Split { delimiter, most })
}

/// Whether a pattern matches the whole of each string.
pub(super) fn regex_full_match(c: &mut Context<'_, '_>) -> Result {
    let text = c.attributes.text("pattern", "")?;
    let pattern = Pattern::new(text).map_err(|problem| {
        let text = crate::error::Short(text);
        Problem::unsupported(format!("the pattern \"{text}\": {problem}"))
    })?;
    plain(c, StringOperation::Match(pattern))
}

/// Numbers for strings: `numbers` are those of the keys, and behind them that of other strings.
pub(super) fn look_up(
    c: &mut Context<'_, '_>,
    keys: Vec<String>,
    numbers: Bytes,
    data_type: DataType,
) -> Result<RuntimeOperation> {
    if keys.len() > MOST_KEYS {
        return Err(Problem::unsupported(format!("{} keys", keys.len())));
    }
    let text_bytes: usize = keys.iter().map(String::len).sum();
    c.pay_for(numbers.len().saturating_add(text_bytes))?;
    let mut places = HashMap::with_capacity(keys.len());
    for (place, key) in keys.into_iter().enumerate() {
        if places.insert(key, place).is_some() {
            return Err(Problem::malformed("one of its keys is there twice"));
        }
    }
    Ok(RuntimeOperation::Strings(StringOperation::Lookup {
        places,
        numbers,
        data_type,
    }))
}

impl Lowering<'_> {
    /// Adds a constant of strings, which is an operation of the runtime.
    pub(super) fn string_constant(
        &mut self,
        name: &str,
        dims: &[i64],
        strings: Vec<String>,
    ) -> Result<TensorId> {
        let shape = shape(dims)?;
        if shape.num_elements() != Some(strings.len() as u64) {
            let found = strings.len();
            return Err(Problem::malformed(format!(
                "it has {found} strings, but its dimensions are {dims:?}"
            )));
        }
        let bytes: usize = strings
            .iter()
            .map(|text| text.len() + size_of::<String>())
            .sum();
        self.pay_for(bytes)?;
        let operation = RuntimeOperation::Strings(StringOperation::Constant { shape, strings });
        let ids = self.builder.add_runtime_layer(name, operation, &[])?;
        single(&ids)
    }
}

pub(super) fn texts(strings: &[Bytes]) -> Result<Vec<String>> {
    let texts = strings.iter();
    texts
        .map(|text| String::from_utf8(text.to_vec()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Problem::malformed("a string of a tensor is no text"))
}
