//! From a path or bytes to a network.

use std::path::Path;

use armnn_network::Network;
use bytes::Bytes;

use crate::error::TfliteParserError;
use crate::lowering;
use crate::model::{ModelFile, Signature};

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

/// Reads one of a model's functions into a network, by the key of its signature.
///
/// Inputs and outputs have the signature's names, in the order of the subgraph's. Variables have the
/// same names in the networks of all signatures of a model, so that the state of one can be taken
/// over by another. [`signatures`] lists what there is.
///
/// # Errors
///
/// Those of [`parse`], and [`TfliteParserError::NoSuchSignature`].
pub fn parse_signature(path: impl AsRef<Path>, key: &str) -> Result<Network, TfliteParserError> {
    let options = TfliteParserOptions {
        signature: Some(key.to_owned()),
        ..TfliteParserOptions::default()
    };
    TfliteParser::with_options(options).parse(path)
}

/// The functions that the model at `path` names.
///
/// # Errors
///
/// Those of [`ModelFile::open`] and [`ModelFile::model`].
pub fn signatures(path: impl AsRef<Path>) -> Result<Vec<SignatureInfo>, TfliteParserError> {
    let file = ModelFile::open(path)?;
    let model = file.model()?;
    Ok(model.signatures.iter().map(SignatureInfo::of).collect())
}

/// A function of a model: its key, and the names of its inputs and outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignatureInfo {
    /// Names the function, for instance `serving_default`.
    pub key: String,
    /// In no particular order.
    pub inputs: Vec<String>,
    /// In no particular order.
    pub outputs: Vec<String>,
}

impl SignatureInfo {
    fn of(signature: &Signature<'_>) -> Self {
        let names = |named: &[(&str, usize)]| named.iter().map(|(n, _)| (*n).to_owned()).collect();
        Self {
            key: signature.key.to_owned(),
            inputs: names(&signature.inputs),
            outputs: names(&signature.outputs),
        }
    }
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
    /// The function of the model that becomes the network, by the key of its
    /// [signature](crate::model::Signature), for instance `serving_default`. Without one, it is the
    /// first subgraph.
    pub signature: Option<String>,
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

    /// Reads an opened model: its first subgraph, or the one of the signature in the options.
    ///
    /// # Errors
    ///
    /// [`TfliteParserError::SchemaVersion`], [`TfliteParserError::Malformed`],
    /// [`TfliteParserError::NoSuchSignature`], [`TfliteParserError::Unsupported`] with everything
    /// that is not supported, or [`TfliteParserError::Network`].
    pub fn parse_file(&self, file: &ModelFile) -> Result<Network, TfliteParserError> {
        let model = file.model()?;
        let Some(key) = &self.options.signature else {
            return lowering::lower(&model, None, &self.options);
        };
        let found = model.signatures.iter().find(|s| s.key == key);
        let signature = found.ok_or_else(|| TfliteParserError::NoSuchSignature {
            model: file.source().to_owned(),
            key: key.clone(),
            keys: model.signatures.iter().map(|s| s.key.to_owned()).collect(),
        })?;
        lowering::lower(&model, Some(signature), &self.options)
    }
}
