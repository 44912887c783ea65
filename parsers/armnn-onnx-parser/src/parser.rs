//! From a path or bytes to a network.

use std::path::Path;

use armnn_network::Network;
use bytes::Bytes;

use crate::error::OnnxParserError;
use crate::lowering;
use crate::model::ModelFile;

/// Reads the model at `path` into a network.
///
/// The network's constants share the mapped file, and those that hold its external data; all must
/// stay as they are while the network lives: see [`ModelFile::open`]. Inputs and outputs have the
/// names of their values.
///
/// # Errors
///
/// Those of [`ModelFile::open`] and [`OnnxParser::parse_file`].
pub fn parse(path: impl AsRef<Path>) -> Result<Network, OnnxParserError> {
    OnnxParser::new().parse(path)
}

/// Reads a model in memory into a network, whose constants share the bytes. Messages call the model
/// by `name`. External data cannot be found.
///
/// # Errors
///
/// Those of [`OnnxParser::parse_file`].
pub fn parse_bytes(bytes: Bytes, name: &str) -> Result<Network, OnnxParserError> {
    OnnxParser::new().parse_bytes(bytes, name)
}

/// How a model is read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OnnxParserOptions {
    /// An operator that this parser does not know becomes a StandIn layer instead of an error, with
    /// the operator's domain, name and version; a backend may know it. Its attributes are those of
    /// the node, as a `NodeProto` with nothing else in it. The types and shapes of its outputs must
    /// be in the model, and it must not contain graphs.
    #[doc(alias = "m_StandInLayerForUnsupported")]
    pub stand_in_layer_for_unknown: bool,
}

/// Reads ONNX models into networks.
#[derive(Debug, Clone, Default)]
#[doc(alias = "IOnnxParser")]
pub struct OnnxParser {
    options: OnnxParserOptions,
}

impl OnnxParser {
    /// A parser with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// A parser with these options.
    pub fn with_options(options: OnnxParserOptions) -> Self {
        Self { options }
    }

    /// Reads the model at `path`; see [`parse`].
    ///
    /// # Errors
    ///
    /// As [`parse`].
    #[doc(alias = "CreateNetworkFromBinaryFile")]
    pub fn parse(&self, path: impl AsRef<Path>) -> Result<Network, OnnxParserError> {
        self.parse_file(&ModelFile::open(path)?)
    }

    /// Reads a model in memory; see [`parse_bytes`].
    ///
    /// # Errors
    ///
    /// As [`parse_bytes`].
    #[doc(alias = "CreateNetworkFromBinary")]
    pub fn parse_bytes(&self, bytes: Bytes, name: &str) -> Result<Network, OnnxParserError> {
        self.parse_file(&ModelFile::from_named_bytes(bytes, name))
    }

    /// Reads an opened model.
    ///
    /// # Errors
    ///
    /// Those of [`ModelFile::model`], [`OnnxParserError::Malformed`],
    /// [`OnnxParserError::Unsupported`] with everything that is not supported, or
    /// [`OnnxParserError::Network`].
    pub fn parse_file(&self, file: &ModelFile) -> Result<Network, OnnxParserError> {
        lowering::lower(&file.model()?, &self.options)
    }
}
