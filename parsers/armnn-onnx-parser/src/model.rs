//! An ONNX file as a graph: checked, named, and with weights that borrow the file.
//!
//! [`ModelFile`] is the bytes, mapped or in memory; [`ModelFile::model`] decodes them into a
//! [`Model`]. Weights are [`Bytes`](bytes::Bytes) that share the mapping and keep it alive on their
//! own; so are those in external files, which are mapped too.
//!
//! After decoding, every index in a [`Graph`] is valid, every value is written once, and nodes read
//! only what stands before them. Calls of the model's own functions are replaced by the functions'
//! nodes. Graphs that are attributes become [`Body`]s with values of their own, and say what they
//! capture. What operators mean is not judged here.
//!
//! # Files that are not what they seem
//!
//! Nothing in a file is trusted. Empty messages take two bytes in a file and hundreds in memory,
//! and functions that call functions unfold; both is paid out of budgets in proportion to the
//! file's size, which real files never reach: time and memory stay linear in it. External data is
//! looked for in the model's own directory and nowhere else.

mod body;
mod element_type;
mod external;
mod file;
mod function;
mod graph;
mod stored_value;
mod tensor;
mod value_type;
mod varints;
mod weight;

pub use element_type::ElementType;
pub use file::{ModelFile, is_onnx};
pub use graph::{Body, Capture, Graph, Node, Value};
pub use stored_value::StoredValue;
pub use tensor::Tensor;
pub use value_type::{Dimension, ValueType};

use external::ExternalFiles;

use crate::error::{Fault, OnnxParserError};
use crate::proto::{ModelProto, OperatorSetIdProto, TensorProto};

/// The earliest version of the format that is read.
const LEAST_IR_VERSION: i64 = 3;
/// The versions of ONNX's own operators that are read.
const OPSETS: std::ops::RangeInclusive<i64> = 1..=28;

/// A decoded model.
#[derive(Debug)]
pub struct Model {
    source: String,
    file_len: usize,
    files: ExternalFiles,
    /// Version of the format.
    pub ir_version: i64,
    /// The program that wrote the file, and its version; often empty.
    pub producer: String,
    /// Which version of each domain's operators is meant. ONNX's own domain is empty.
    pub opsets: Vec<OperatorSetIdProto>,
    /// What it computes, with functions inlined.
    pub graph: Graph,
    /// Texts that mean nothing to inference, by key.
    pub metadata: Vec<(String, String)>,
}

impl Model {
    /// Path of the model, or what stands for one, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Bytes of the whole file.
    pub(crate) fn file_len(&self) -> usize {
        self.file_len
    }

    /// The files that constants lie in.
    pub(crate) fn mapped_files(&self) -> Vec<std::sync::Weak<dyn armnn_network::MappedFile>> {
        self.files.mappings()
    }

    /// The tensor of an attribute.
    pub(crate) fn tensor(&self, proto: &TensorProto) -> Result<Tensor, Fault> {
        tensor::decode(proto.clone(), &self.files)
    }

    fn new(
        file: &ModelFile,
        proto: ModelProto,
        files: ExternalFiles,
    ) -> Result<Self, OnnxParserError> {
        let source = file.source();
        let not_onnx = |problem: &str| OnnxParserError::NotOnnx {
            model: source.to_owned(),
            problem: problem.to_owned(),
        };
        let Some(version) = proto.ir_version else {
            return Err(not_onnx("it does not say the version of its format"));
        };
        if version < LEAST_IR_VERSION {
            return Err(OnnxParserError::IrVersion {
                model: source.to_owned(),
                version,
            });
        }
        let Some(graph) = proto.graph else {
            return Err(not_onnx("it has no graph"));
        };
        let opsets = opsets(proto.opset_import);
        for opset in &opsets {
            if opset.domain.is_empty() && !OPSETS.contains(&opset.version) {
                return Err(OnnxParserError::OpsetVersion {
                    model: source.to_owned(),
                    version: opset.version,
                    least: *OPSETS.start(),
                    most: *OPSETS.end(),
                });
            }
        }
        let graph = graph::decode(graph, &proto.functions, &opsets, &files, file.bytes().len())
            .map_err(|fault| fault.of(source))?;
        let producer = [proto.producer_name, proto.producer_version].join(" ");
        Ok(Self {
            source: source.to_owned(),
            file_len: file.bytes().len(),
            files,
            ir_version: version,
            producer: producer.trim().to_owned(),
            opsets,
            graph,
            metadata: proto
                .metadata_props
                .into_iter()
                .map(|entry| (entry.key, entry.value))
                .collect(),
        })
    }
}

/// The imports, with ONNX's own domain by one name.
fn opsets(mut imports: Vec<OperatorSetIdProto>) -> Vec<OperatorSetIdProto> {
    for import in &mut imports {
        if import.domain == "ai.onnx" {
            import.domain.clear();
        }
    }
    imports
}

/// The domain, ONNX's own by the name that it has everywhere here.
fn plain_domain(domain: &str) -> &str {
    match domain {
        "ai.onnx" => "",
        domain => domain,
    }
}

#[cfg(test)]
mod tests;
