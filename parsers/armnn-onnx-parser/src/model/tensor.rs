//! Constants.

use std::fmt;

use bytes::Bytes;
use prost::Message as _;

use super::external::ExternalFiles;
use super::{ElementType, varints, weight};
use crate::error::{Fault, OnnxParserError};
use crate::proto::TensorProto;

/// A constant.
#[derive(Clone)]
pub struct Tensor {
    /// What its elements are.
    pub element_type: ElementType,
    /// Dimensions, outermost first; none is negative.
    pub dims: Vec<i64>,
    /// The elements, dense, row-major, little-endian, as many as the dimensions say; packed where
    /// they are smaller than a byte. None for elements without a fixed size, such as strings.
    pub data: Option<Bytes>,
    /// The elements of a tensor of strings, which have not been looked at; none of other types.
    pub strings: Option<Vec<Bytes>>,
}

impl Tensor {
    /// Decodes a tensor that is a file of its own (`input_0.pb` beside a model), with its name.
    /// Messages call it by `source`. Raw data is not copied.
    ///
    /// # Errors
    ///
    /// [`OnnxParserError::NotOnnx`], [`OnnxParserError::Malformed`], or
    /// [`OnnxParserError::ExternalData`] where the elements are in yet another file.
    pub fn from_bytes(bytes: Bytes, source: &str) -> Result<(String, Self), OnnxParserError> {
        weight::check_tensor(&bytes).map_err(|fault| fault.of(source))?;
        let mut proto = TensorProto::decode(bytes).map_err(|error| OnnxParserError::NotOnnx {
            model: source.to_owned(),
            problem: format!("its protocol buffer is broken: {error}"),
        })?;
        let name = std::mem::take(&mut proto.name);
        let tensor =
            decode(proto, &ExternalFiles::new(None, None)).map_err(|fault| fault.of(source))?;
        Ok((name, tensor))
    }
}

/// With the length of the data in place of the data.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("element_type", &self.element_type)
            .field("dims", &self.dims)
            .field("data_length", &self.data.as_ref().map(Bytes::len))
            .finish()
    }
}

/// Where the elements are, by `TensorProto::data_location`.
const EXTERNAL: i32 = 1;

pub(super) fn decode(mut proto: TensorProto, files: &ExternalFiles) -> Result<Tensor, Fault> {
    let element_type = ElementType(proto.data_type);
    let dims = proto.dims.clone();
    if let Some(dim) = dims.iter().find(|dim| **dim < 0) {
        return Err(Fault::new(format!("its dimension {dim} is negative")));
    }
    if proto.segment.is_some() {
        return Err(Fault::new("it is a part of a larger tensor"));
    }
    let is_of_strings = element_type == ElementType::STRING;
    let strings = is_of_strings.then(|| std::mem::take(&mut proto.string_data));
    let data = match element_type.bits() {
        None => None,
        Some(bits) => {
            let expected = byte_len(&dims, bits)
                .ok_or_else(|| Fault::new(format!("it is too large: {dims:?}")))?;
            Some(elements(proto, element_type, bits, expected, files)?)
        }
    };
    Ok(Tensor {
        element_type,
        dims,
        data,
        strings,
    })
}

/// Bytes of a tensor; none where they cannot be addressed.
fn byte_len(dims: &[i64], bits: u32) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    let elements = dims
        .iter()
        .try_fold(1u64, |n, &dim| n.checked_mul(u64::try_from(dim).ok()?))?;
    let bytes = elements.checked_mul(bits.into())?.div_ceil(8);
    usize::try_from(bytes)
        .ok()
        .filter(|&bytes| isize::try_from(bytes).is_ok())
}

fn elements(
    proto: TensorProto,
    element_type: ElementType,
    bits: u32,
    expected: usize,
    files: &ExternalFiles,
) -> Result<Bytes, Fault> {
    if proto.data_location == EXTERNAL {
        return files.data(&proto.external_data, expected);
    }
    let data = match (proto.raw_data, element_type) {
        (Some(raw), _) => raw,
        // These are encoded as they are in memory.
        (None, ElementType::FLOAT | ElementType::COMPLEX64) => proto.float_data.into_encoded(),
        (None, ElementType::DOUBLE | ElementType::COMPLEX128) => proto.double_data.into_encoded(),
        (None, _) => {
            let varints = match element_type {
                ElementType::INT64 => proto.int64_data.into_encoded(),
                ElementType::UINT32 | ElementType::UINT64 => proto.uint64_data.into_encoded(),
                _ => proto.int32_data.into_encoded(),
            };
            // Smaller ones than a byte are packed in a byte as in raw data.
            let width = usize::try_from(bits / 8).unwrap_or(1).max(1);
            let count = varints::count(&varints, files)?;
            if count.checked_mul(width) != Some(expected) {
                let found = format!("{count} numbers of {width} bytes");
                return Err(another_size(found, element_type, expected));
            }
            return varints::decode(&varints, width, count, files);
        }
    };
    match data.len() == expected {
        true => Ok(data),
        false => {
            let found = format!("{} bytes", data.len());
            Err(another_size(found, element_type, expected))
        }
    }
}

fn another_size(found: String, element_type: ElementType, expected: usize) -> Fault {
    Fault::new(format!(
        "its data has {found}, but {element_type} and dimensions take {expected}"
    ))
}
