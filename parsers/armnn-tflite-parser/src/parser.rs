//! From a path or bytes to a network.

use std::path::Path;

use armnn_network::Network;
use bytes::Bytes;

use crate::error::TfliteParserError;
use crate::lowering;
use crate::model::ModelFile;

/// Reads the model at `path` into a network.
///
/// The network's constants share the mapped file, which must stay as it is while the network lives:
/// see [`ModelFile::open`]. Inputs and outputs have the names of their tensors.
///
/// # Errors
///
/// Those of [`ModelFile::open`] and [`TfliteParser::parse_file`].
pub fn parse(path: impl AsRef<Path>) -> Result<Network, TfliteParserError> {
    TfliteParser::new().parse(path)
}

/// Reads a model in memory into a network, whose constants share the bytes. Messages call the model
/// by `name`.
///
/// # Errors
///
/// [`TfliteParserError::NotTflite`], and those of [`TfliteParser::parse_file`].
pub fn parse_bytes(bytes: Bytes, name: &str) -> Result<Network, TfliteParserError> {
    TfliteParser::new().parse_bytes(bytes, name)
}

/// How a model is read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TfliteParserOptions {
    /// A custom operator becomes a StandIn layer of domain `tflite` instead of an error, with the
    /// operator's name, version and custom options; a backend may know it. Builtin operators that
    /// this parser does not know stay errors, because their options have no form of their own
    /// outside the file.
    #[doc(alias = "m_StandInLayerForUnsupported")]
    pub stand_in_layer_for_custom: bool,
}

/// Reads TFLite models into networks.
#[derive(Debug, Clone, Default)]
#[doc(alias = "ITfLiteParser")]
pub struct TfliteParser {
    options: TfliteParserOptions,
}

impl TfliteParser {
    /// A parser with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// A parser with these options.
    pub fn with_options(options: TfliteParserOptions) -> Self {
        Self { options }
    }

    /// Reads the model at `path`; see [`parse`].
    ///
    /// # Errors
    ///
    /// As [`parse`].
    #[doc(alias = "CreateNetworkFromBinaryFile")]
    pub fn parse(&self, path: impl AsRef<Path>) -> Result<Network, TfliteParserError> {
        self.parse_file(&ModelFile::open(path)?)
    }

    /// Reads a model in memory; see [`parse_bytes`].
    ///
    /// # Errors
    ///
    /// As [`parse_bytes`].
    #[doc(alias = "CreateNetworkFromBinary")]
    pub fn parse_bytes(&self, bytes: Bytes, name: &str) -> Result<Network, TfliteParserError> {
        self.parse_file(&ModelFile::from_named_bytes(bytes, name)?)
    }

    /// Reads an opened model: its first subgraph.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::SchemaVersion`], [`TfliteParserError::Malformed`],
    /// [`TfliteParserError::Unsupported`] with everything that is not supported, or
    /// [`TfliteParserError::Network`].
    pub fn parse_file(&self, file: &ModelFile) -> Result<Network, TfliteParserError> {
        lowering::lower(&file.model()?, None, &self.options)
    }
}
