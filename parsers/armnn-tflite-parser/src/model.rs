//! A TFLite file as tables: checked, named, and with weights that borrow the file.
//!
//! [`ModelFile`] is the bytes, mapped or in memory; [`ModelFile::model`] decodes everything but
//! the weights into a [`Model`], which borrows names and options from the bytes. Weights are
//! [`Bytes`] that share the mapping and keep it alive on their own.
//!
//! After decoding, every index in a [`Model`] is valid: the accessors need no further checks. What
//! the numbers mean is not judged here: an operator number, tensor type or options table from a
//! newer schema is kept as a number, for the lowering to report by name.
//!
//! # Files that are not what they seem
//!
//! Nothing in a file is trusted. A FlatBuffer can name one table from many places, so that a small
//! file can stand for a huge tree. Decoding therefore pays for all it reads out of a budget of
//! four times the file's size and 64 KiB, which real files (they share next to nothing) never
//! reach: time and memory stay linear in the file's size.

use bytes::Bytes;

use crate::error::{Fault, TfliteParserError};
use crate::schema_generated::ModelRef;

mod decoder;
mod external;
mod file;
mod operator;
mod signature;
mod subgraph;
mod tensor;

use decoder::Decoder;
use external::ExternalBuffers;

pub(crate) use external::ExternalProblem;

pub use file::{ModelFile, is_tflite};
pub(crate) use operator::OperatorOptions;
pub use operator::{Operator, OperatorCode, TensorIndices};
pub use signature::Signature;
pub use subgraph::SubGraph;
pub use tensor::{
    Quantization, QuantizationDetails, Sparsity, StoredDimension, Tensor, TensorType,
};

/// The only schema version there has ever been under the identifier `TFL3`.
const SCHEMA_VERSION: u32 = 3;

/// A decoded model. Borrows names and options from its [`ModelFile`].
#[derive(Debug)]
pub struct Model<'a> {
    file: &'a ModelFile,
    /// Free text of the converter; often empty.
    pub description: &'a str,
    /// The first is the one that runs; others are bodies of control flow. May be empty.
    pub subgraphs: Vec<SubGraph<'a>>,
    /// Names for the inputs and outputs of subgraphs.
    pub signatures: Vec<Signature<'a>>,
    /// Blocks of further information, such as the normalisation of an image.
    pub metadata: Vec<Metadata<'a>>,
    external: ExternalBuffers<'a>,
}

/// A named block of bytes that means nothing to inference.
#[derive(Debug, Clone)]
pub struct Metadata<'a> {
    /// Says what the bytes are, for instance `TFLITE_METADATA`.
    pub name: &'a str,
    /// Empty where the file gives none.
    pub data: Bytes,
}

impl<'a> Model<'a> {
    /// Path of the model, or what stands for one, for messages.
    pub fn source(&self) -> &'a str {
        self.file.source()
    }

    /// The bytes of an external buffer by its number.
    pub(crate) fn external_data(&self, id: u32) -> Result<Bytes, ExternalProblem> {
        self.external.data(id, self.file)
    }

    /// Bytes of the whole file.
    pub(crate) fn file_len(&self) -> usize {
        self.file.bytes().len()
    }

    pub(crate) fn decode(file: &'a ModelFile) -> Result<Self, TfliteParserError> {
        let fault = |fault: Fault| fault.of(file.source());
        let root = <ModelRef<'a> as planus::ReadAsRoot<'a>>::read_as_root(file.bytes())
            .map_err(|error| fault(error.into()))?;
        let version = root.version().map_err(|error| fault(error.into()))?;
        if version != SCHEMA_VERSION {
            return Err(TfliteParserError::SchemaVersion {
                model: file.source().to_owned(),
                version,
            });
        }
        Self::decode_parts(file, root).map_err(fault)
    }

    fn decode_parts(file: &'a ModelFile, root: ModelRef<'a>) -> Result<Self, Fault> {
        let mut decoder = Decoder::new(file.bytes(), root.buffers()?);
        let description = decoder.text(root.description()?)?;
        let codes = operator::decode_codes(&mut decoder, root.operator_codes()?)?;

        let mut subgraphs = Vec::new();
        for (index, table) in root.subgraphs()?.into_iter().flatten().enumerate() {
            let subgraph = table
                .map_err(Fault::from)
                .and_then(|table| subgraph::decode(&mut decoder, &codes, table))
                .map_err(|fault| fault.in_subgraph(index))?;
            subgraphs.push(subgraph);
        }

        let mut signatures = Vec::new();
        for table in root.signature_defs()?.into_iter().flatten() {
            signatures.push(signature::decode(&mut decoder, &subgraphs, table?)?);
        }

        let mut metadata = Vec::new();
        for table in root.metadata()?.into_iter().flatten() {
            let table = table?;
            decoder.spend(decoder::TABLE)?;
            let name = decoder.text(table.name()?)?;
            let data = decoder.buffer(table.buffer()?)?.unwrap_or_default();
            metadata.push(Metadata { name, data });
        }
        let external = ExternalBuffers::decode(&mut decoder, root)?;
        Ok(Self {
            file,
            external,
            description,
            subgraphs,
            signatures,
            metadata,
        })
    }
}

#[cfg(test)]
mod tests;
