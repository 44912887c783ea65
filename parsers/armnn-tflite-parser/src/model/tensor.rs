//! Tensors and their quantization.

use std::fmt;

use bytes::Bytes;

use super::decoder::{self, Decoder};
use crate::error::Fault;
use crate::schema_generated::{self as schema, QuantizationParametersRef, TensorRef};

/// A tensor of a subgraph.
#[derive(Clone)]
pub struct Tensor<'a> {
    /// Often empty, and not always unique.
    pub name: &'a str,
    /// What its elements are.
    pub tensor_type: TensorType,
    /// Dimensions, outermost first; an unknown one stands here as 1. Taken as they are in the
    /// file, where they may even be negative.
    pub shape: Vec<i32>,
    /// As `shape`, with -1 for an unknown dimension; empty if all are known.
    pub shape_signature: Vec<i32>,
    /// Whether an empty `shape` means a scalar. Old files never say so, and mean it nonetheless.
    pub has_rank: bool,
    /// Keeps its value from one inference to the next.
    pub is_variable: bool,
    /// How `data` is stored, if only elements other than 0 are.
    pub sparsity: Option<Sparsity>,
    /// Number of the buffer with its data: equal numbers are the same data.
    pub buffer: u32,
    /// The bytes of a constant, sharing the file; none for a tensor that is computed, and for a
    /// constant without elements.
    pub data: Option<Bytes>,
    /// Number of the external buffer (a file of its own) with its data; 0 is none.
    pub external_buffer: u32,
    /// None if the tensor is not quantized.
    pub quantization: Option<Quantization>,
}

/// A tensor type by its number in the schema, which may be newer than this crate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TensorType(pub i8);

/// real = scale · (quantized − zero point).
#[derive(Debug, Clone)]
pub struct Quantization {
    /// One, or one for each slice along `axis`. Empty if the converter only recorded a range.
    pub scales: Vec<f32>,
    /// As many as `scales`, or none, which means zero.
    pub zero_points: Vec<i64>,
    /// Smallest values that the converter saw; only informative.
    pub min: Vec<f32>,
    /// Greatest values that the converter saw; only informative.
    pub max: Vec<f32>,
    /// The dimension with a scale for each index, if there are several.
    pub axis: i32,
    /// Other schemes than a scale per tensor or per slice.
    pub details: Option<QuantizationDetails>,
}

/// How a sparse tensor is stored.
#[derive(Debug, Clone)]
pub struct Sparsity {
    /// Dimensions in the order of storage: those of the tensor by their numbers, blocks by numbers
    /// from the rank on.
    pub traversal_order: Vec<i32>,
    /// For each dimension of blocks, the dimension of the tensor that it divides.
    pub block_map: Vec<i32>,
    /// How each dimension is stored, in the order of storage.
    pub dimensions: Vec<StoredDimension>,
}

/// How a dimension of a sparse tensor is stored.
#[derive(Debug, Clone)]
pub enum StoredDimension {
    /// All of so many indices.
    Dense(i32),
    /// For each element before it, those of `indices` from its segment's number up to the next.
    Compressed {
        /// Where segments start, and where the last one ends.
        segments: Vec<i32>,
        /// The indices of all segments.
        indices: Vec<i32>,
    },
}

/// Quantization schemes beyond [`Quantization`]'s own fields.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuantizationDetails {
    /// Private to a converter.
    Custom,
    /// A scale for each block of elements; tensors of the subgraph hold the scales.
    Blockwise,
    /// A scale for each index of several dimensions.
    MultiAxis,
    /// A scheme newer than this crate, by its number in the schema.
    Unknown(u8),
}

impl Tensor<'_> {
    /// Whether the model holds its elements.
    pub fn is_constant(&self) -> bool {
        self.data.is_some() || self.external_buffer != 0
    }
}

impl TensorType {
    /// Name in the schema, for instance `FLOAT16`; none for a number that this crate does not know.
    pub fn name(self) -> Option<&'static str> {
        self.known().map(schema::TensorType::name)
    }

    pub(crate) fn known(self) -> Option<schema::TensorType> {
        self.0.try_into().ok()
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "tensor type {}", self.0),
        }
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// With the length of the data in place of the data.
impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("name", &self.name)
            .field("tensor_type", &self.tensor_type)
            .field("shape", &self.shape)
            .field("shape_signature", &self.shape_signature)
            .field("has_rank", &self.has_rank)
            .field("is_variable", &self.is_variable)
            .field("is_sparse", &self.sparsity.is_some())
            .field("buffer", &self.buffer)
            .field("data_length", &self.data.as_ref().map(Bytes::len))
            .field("external_buffer", &self.external_buffer)
            .field("quantization", &self.quantization)
            .finish()
    }
}

pub(super) fn decode<'a>(
    decoder: &mut Decoder<'a>,
    index: usize,
    table: TensorRef<'a>,
) -> Result<Tensor<'a>, Fault> {
    decoder.spend(decoder::TABLE)?;
    let name = table
        .name()
        .map_err(Fault::from)
        .and_then(|name| decoder.text(name))
        .map_err(|fault| fault.in_tensor(index, ""))?;
    decode_named(decoder, name, table).map_err(|fault| fault.in_tensor(index, name))
}

fn decode_named<'a>(
    decoder: &mut Decoder<'a>,
    name: &'a str,
    table: TensorRef<'a>,
) -> Result<Tensor<'a>, Fault> {
    let buffer = table.buffer()?;
    Ok(Tensor {
        name,
        tensor_type: TensorType(table.type_()?),
        shape: decoder.numbers(table.shape()?)?,
        shape_signature: decoder.numbers(table.shape_signature()?)?,
        has_rank: table.has_rank()?,
        is_variable: table.is_variable()?,
        sparsity: match table.sparsity()? {
            Some(table) => Some(decode_sparsity(decoder, table)?),
            None => None,
        },
        buffer,
        data: decoder.buffer(buffer)?,
        external_buffer: table.external_buffer()?,
        quantization: match table.quantization()? {
            Some(table) => decode_quantization(decoder, table)?,
            None => None,
        },
    })
}

fn decode_quantization<'a>(
    decoder: &mut Decoder<'a>,
    table: QuantizationParametersRef<'a>,
) -> Result<Option<Quantization>, Fault> {
    use schema::QuantizationDetailsRef as Details;

    decoder.spend(decoder::TABLE)?;
    let details = match table.details() {
        Ok(None) => None,
        Ok(Some(Details::CustomQuantization(_))) => Some(QuantizationDetails::Custom),
        Ok(Some(Details::BlockwiseQuantization(_))) => Some(QuantizationDetails::Blockwise),
        Ok(Some(Details::MultiAxisQuantization(_))) => Some(QuantizationDetails::MultiAxis),
        Err(error) => decoder::unknown_member(error)?.map(QuantizationDetails::Unknown),
    };
    let quantization = Quantization {
        scales: decoder.numbers(table.scale()?)?,
        zero_points: decoder.numbers(table.zero_point()?)?,
        min: decoder.numbers(table.min()?)?,
        max: decoder.numbers(table.max()?)?,
        axis: table.quantized_dimension()?,
        details,
    };
    // Converters write an empty table for every tensor of a float model.
    let says_something = quantization.details.is_some()
        || !quantization.scales.is_empty()
        || !quantization.min.is_empty()
        || !quantization.max.is_empty();
    Ok(says_something.then_some(quantization))
}

fn decode_sparsity<'a>(
    decoder: &mut Decoder<'a>,
    table: schema::SparsityParametersRef<'a>,
) -> Result<Sparsity, Fault> {
    decoder.spend(decoder::TABLE)?;
    let mut dimensions = Vec::new();
    for dimension in table.dim_metadata()?.into_iter().flatten() {
        let dimension = dimension?;
        decoder.spend(decoder::TABLE)?;
        dimensions.push(match dimension.format()? {
            schema::DimensionType::Dense => StoredDimension::Dense(dimension.dense_size()?),
            schema::DimensionType::SparseCsr => StoredDimension::Compressed {
                segments: decode_indices(decoder, dimension.array_segments()?)?,
                indices: decode_indices(decoder, dimension.array_indices()?)?,
            },
        });
    }
    Ok(Sparsity {
        traversal_order: decoder.numbers(table.traversal_order()?)?,
        block_map: decoder.numbers(table.block_map()?)?,
        dimensions,
    })
}

/// Numbers of one of three widths.
fn decode_indices<'a>(
    decoder: &mut Decoder<'a>,
    indices: Option<schema::SparseIndexVectorRef<'a>>,
) -> Result<Vec<i32>, Fault> {
    use schema::SparseIndexVectorRef as Indices;

    Ok(match indices {
        None => Vec::new(),
        Some(Indices::Int32Vector(table)) => decoder.numbers(table.values()?)?,
        Some(Indices::Uint16Vector(table)) => {
            let values = decoder.numbers::<u16>(table.values()?)?;
            decoder.spend(values.len().saturating_mul(2))?;
            values.into_iter().map(i32::from).collect()
        }
        Some(Indices::Uint8Vector(table)) => {
            let Some(values) = table.values()? else {
                return Ok(Vec::new());
            };
            // Four times as wide as in the file.
            decoder.spend(values.len().saturating_mul(4))?;
            values.iter().map(|&value| i32::from(value)).collect()
        }
    })
}
