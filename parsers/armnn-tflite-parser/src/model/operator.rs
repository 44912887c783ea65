//! Operators, their codes and their options.

use std::borrow::Cow;

use bytes::Bytes;
use planus::Vector;

use super::decoder::{self, Decoder};
use super::tensor::Tensor;
use crate::error::Fault;
use crate::schema_generated::{
    BuiltinOperator, BuiltinOptions2Ref, BuiltinOptionsRef, OperatorCodeRef, OperatorRef,
};

/// An operator of a subgraph.
#[derive(Debug, Clone)]
pub struct Operator<'a> {
    /// What it does.
    pub code: OperatorCode<'a>,
    /// Tensors it reads.
    pub inputs: TensorIndices,
    /// Tensors it writes.
    pub outputs: TensorIndices,
    /// Tensors between the parts of a fused operator, for their quantization.
    pub intermediates: TensorIndices,
    pub(crate) options: OperatorOptions<'a>,
    /// Options of a custom operator, in its own encoding (FlexBuffers as a rule); shares the file.
    pub custom_options: Option<Bytes>,
}

/// An operator's type and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperatorCode<'a> {
    /// Number in the schema, which may be newer than this crate.
    pub builtin: i32,
    /// Name of a custom operator; empty otherwise.
    pub custom: &'a str,
    /// Counts the extensions of the operator's meaning, from 1.
    pub version: i32,
}

/// Indices into the tensors of the subgraph, each of them valid or absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TensorIndices(Vec<i32>);

/// Options of a builtin operator, still in the file: each access is checked when it is made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperatorOptions<'a> {
    /// The file has none: every option has its default.
    None,
    /// Of the operators up to number 161.
    First(BuiltinOptionsRef<'a>),
    /// Of the operators after that.
    Second(BuiltinOptions2Ref<'a>),
    /// A table newer than this crate.
    Unknown {
        /// `BuiltinOptions` or `BuiltinOptions2`.
        union: &'static str,
        /// Its number there.
        number: u8,
    },
}

impl<'a> Operator<'a> {
    /// Name of the table with its options, for messages; none if there is none.
    pub fn options_name(&self) -> Option<Cow<'static, str>> {
        match &self.options {
            OperatorOptions::None => None,
            OperatorOptions::First(options) => Some(options.name().into()),
            OperatorOptions::Second(options) => Some(options.name().into()),
            OperatorOptions::Unknown { union, number } => Some(format!("{union} {number}").into()),
        }
    }
}

impl<'a> OperatorCode<'a> {
    /// Name for messages: that of the schema (`CONV_2D`), a custom operator's own, or the number.
    pub fn name(&self) -> Cow<'a, str> {
        match self.known() {
            Some(BuiltinOperator::Custom) if !self.custom.is_empty() => self.custom.into(),
            Some(builtin) => builtin.name().into(),
            None => format!("builtin operator {}", self.builtin).into(),
        }
    }

    /// Whether it is a custom operator.
    pub fn is_custom(&self) -> bool {
        self.known() == Some(BuiltinOperator::Custom)
    }

    pub(crate) fn known(&self) -> Option<BuiltinOperator> {
        self.builtin.try_into().ok()
    }
}

impl TensorIndices {
    /// How many there are, absent ones among them.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The index at `position`; none where an optional tensor is left out, explicitly or because
    /// the list is shorter.
    pub fn get(&self, position: usize) -> Option<usize> {
        self.0
            .get(position)
            .and_then(|&index| index.try_into().ok())
    }

    /// All of them; none for an optional tensor left out.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        self.0.iter().map(|&index| index.try_into().ok())
    }
}

pub(super) fn decode_codes<'a>(
    decoder: &mut Decoder<'a>,
    tables: Option<Vector<'a, planus::Result<OperatorCodeRef<'a>>>>,
) -> Result<Vec<OperatorCode<'a>>, Fault> {
    let mut codes = Vec::new();
    for table in tables.into_iter().flatten() {
        let table = table?;
        decoder.spend(decoder::TABLE)?;
        codes.push(OperatorCode {
            // The first field is a byte and cannot hold the numbers above 127; whichever is not
            // used holds the smaller number.
            builtin: i32::from(table.deprecated_builtin_code()?).max(table.builtin_code()?),
            custom: decoder.text(table.custom_code()?)?,
            version: table.version()?,
        });
    }
    Ok(codes)
}

pub(super) fn decode<'a>(
    decoder: &mut Decoder<'a>,
    codes: &[OperatorCode<'a>],
    tensors: &[Tensor<'a>],
    index: usize,
    table: OperatorRef<'a>,
) -> Result<Operator<'a>, Fault> {
    decoder.spend(decoder::TABLE)?;
    let number = table
        .opcode_index()
        .map_err(|error| Fault::from(error).in_operator(index, "?"))?;
    let code = usize::try_from(number)
        .ok()
        .and_then(|number| codes.get(number));
    let Some(&code) = code else {
        let problem = format!(
            "operator code {number} is named, but there are only {}",
            codes.len()
        );
        return Err(Fault::new(problem).in_operator(index, "?"));
    };
    decode_coded(decoder, code, tensors, table)
        .map_err(|fault| fault.in_operator(index, &code.name()))
}

fn decode_coded<'a>(
    decoder: &mut Decoder<'a>,
    code: OperatorCode<'a>,
    tensors: &[Tensor<'a>],
    table: OperatorRef<'a>,
) -> Result<Operator<'a>, Fault> {
    let mut indices = |vector, what| -> Result<TensorIndices, Fault> {
        let indices = TensorIndices(decoder.numbers(vector)?);
        for &index in &indices.0 {
            // -1 is the format's word for "left out".
            if index != -1 && usize::try_from(index).map_or(true, |index| index >= tensors.len()) {
                return Err(Fault::new(format!(
                    "{what} names tensor {index}, but the subgraph has only {}",
                    tensors.len()
                )));
            }
        }
        Ok(indices)
    };
    let inputs = indices(table.inputs()?, "an input")?;
    let outputs = indices(table.outputs()?, "an output")?;
    let intermediates = indices(table.intermediates()?, "an intermediate")?;

    let large = decoder.outside(
        table.large_custom_options_offset()?,
        table.large_custom_options_size()?,
        || "its custom options".to_owned(),
    )?;
    let custom_options = match large {
        Some(options) => Some(options),
        None => table
            .custom_options()?
            .map(|options| decoder.share(options)),
    };
    Ok(Operator {
        code,
        inputs,
        outputs,
        intermediates,
        options: decode_options(table)?,
        custom_options,
    })
}

fn decode_options(table: OperatorRef<'_>) -> Result<OperatorOptions<'_>, Fault> {
    match table.builtin_options() {
        Ok(Some(options)) => return Ok(OperatorOptions::First(options)),
        Ok(None) => {}
        Err(error) => {
            if let Some(number) = decoder::unknown_member(error)? {
                return Ok(OperatorOptions::Unknown {
                    union: "BuiltinOptions",
                    number,
                });
            }
        }
    }
    match table.builtin_options_2() {
        Ok(Some(options)) => Ok(OperatorOptions::Second(options)),
        Ok(None) => Ok(OperatorOptions::None),
        Err(error) => Ok(match decoder::unknown_member(error)? {
            Some(number) => OperatorOptions::Unknown {
                union: "BuiltinOptions2",
                number,
            },
            None => OperatorOptions::None,
        }),
    }
}
