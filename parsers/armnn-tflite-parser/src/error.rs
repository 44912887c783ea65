//! What can go wrong between a path and a network.

use std::fmt;
use std::path::PathBuf;

use armnn_network::NetworkError;
pub(crate) use armnn_network::ShownName as Short;

/// Why a TFLite model was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TfliteParserError {
    /// The file cannot be opened or mapped.
    #[error("opening the TFLite model {}: {source}; check the path and its permissions", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The path is a directory, a pipe or a device.
    #[error(
        "opening the TFLite model {}: not a regular file; give the path of a .tflite file",
        path.display()
    )]
    NotAFile {
        /// The path as it was given.
        path: PathBuf,
    },

    /// The file does not carry TFLite's identifier `TFL3` in its bytes 4 to 7.
    #[error(
        "reading {model}: not a TFLite model: {found}, where bytes 4 to 7 should be \"TFL3\"; \
         give a .tflite file (a .task bundle is a zip archive with .tflite files inside)"
    )]
    NotTflite {
        /// Path of the model, or what stands for one.
        model: String,
        /// What stands at the identifier's place.
        found: String,
    },

    /// The schema version is not 3.
    #[error(
        "reading {model}: schema version {version}, but only version 3 is known; convert the model \
         again with a current converter"
    )]
    SchemaVersion {
        /// Path of the model, or what stands for one.
        model: String,
        /// The version in the file.
        version: u32,
    },

    /// The file contradicts its format or itself.
    #[error(
        "reading {model}: {place}{problem}; the file is damaged or its writer was faulty: fetch it \
         again or convert the model anew"
    )]
    Malformed {
        /// Path of the model, or what stands for one.
        model: String,
        /// Where in the model.
        place: Box<Place>,
        /// What is wrong there.
        problem: String,
    },

    /// The model names no function so.
    #[error(
        "lowering {model}: no signature \"{}\"; {}",
        Short(key),
        if keys.is_empty() {
            "the model has none: parse it without one".to_owned()
        } else {
            format!("the model has {}", Listed(keys))
        }
    )]
    NoSuchSignature {
        /// Path of the model, or what stands for one.
        model: String,
        /// What was asked for.
        key: String,
        /// What there is.
        keys: Vec<String>,
    },

    /// The model is sound, but uses what cannot become a layer of a network.
    #[error(
        "lowering {model}: {refusals}; convert the model without them, or, for custom operators, \
         allow StandIn layers and use a backend that knows them"
    )]
    Unsupported {
        /// Path of the model, or what stands for one.
        model: String,
        /// All of it.
        refusals: Box<Refusals>,
    },

    /// The network would not be valid.
    #[error("lowering {model}: {source}")]
    Network {
        /// Path of the model, or what stands for one.
        model: String,
        /// What the builder of the network said.
        source: Box<NetworkError>,
    },
}

/// Everything in a model that is not supported.
pub type Refusals = armnn_network::Refusals<UnsupportedOperator, Place>;

/// Something about an operator or a tensor that is not supported.
pub type UnsupportedUse = armnn_network::UnsupportedUse<Place>;

/// An operator type that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedOperator {
    /// Name in the schema, a custom operator's own, or `builtin operator` and a number.
    pub name: String,
    /// Its version.
    pub version: i32,
    /// Whether it is a custom operator.
    pub is_custom: bool,
    /// How many operators of the model are of this type.
    pub count: usize,
    /// The first of them.
    pub first: Place,
}

impl fmt::Display for UnsupportedOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let custom = if self.is_custom { "custom, " } else { "" };
        let (name, version) = (Short(&self.name), self.version);
        write!(f, "{name} ({custom}version {version}, ")?;
        match self.count {
            1 => f.write_str("once")?,
            count => write!(f, "{count} times")?,
        }
        if let Some((index, _)) = self.first.operator {
            write!(f, ", first at operator {index}")?;
        }
        f.write_str(")")
    }
}

/// Where in a model something was found. Parts that do not apply are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Index of the subgraph.
    pub subgraph: Option<usize>,
    /// Index of the operator in its subgraph, and the name of its type.
    pub operator: Option<(usize, String)>,
    /// Index of the tensor in its subgraph, and its name.
    pub tensor: Option<(usize, String)>,
}

/// Ends with `: ` unless empty, so that what was found can follow.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(index) = self.subgraph {
            write!(f, "subgraph {index}")?;
            separator = ", ";
        }
        if let Some((index, name)) = &self.operator {
            write!(f, "{separator}operator {index} ({})", Short(name))?;
            separator = ", ";
        }
        if let Some((index, name)) = &self.tensor {
            write!(f, "{separator}tensor {index} \"{}\"", Short(name))?;
            separator = ", ";
        }
        if separator.is_empty() {
            Ok(())
        } else {
            f.write_str(": ")
        }
    }
}

/// Names from a file, quoted; the first ten.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 10;
        for (index, name) in self.0.iter().take(MOST).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}\"{}\"", Short(name))?;
        }
        match self.0.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// A problem on its way up, gathering its place; [`Fault::of`] makes it an error.
#[derive(Debug)]
pub(crate) struct Fault {
    place: Box<Place>,
    problem: String,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            place: Box::default(),
            problem: problem.into(),
        }
    }

    pub(crate) fn in_subgraph(mut self, index: usize) -> Self {
        self.place.subgraph = Some(index);
        self
    }

    pub(crate) fn in_operator(mut self, index: usize, name: &str) -> Self {
        self.place.operator = Some((index, name.to_owned()));
        self
    }

    pub(crate) fn in_tensor(mut self, index: usize, name: &str) -> Self {
        self.place.tensor = Some((index, name.to_owned()));
        self
    }

    /// The same, in a place that is known from outside.
    pub(crate) fn within(mut self, outer: Place) -> Self {
        let place = &mut self.place;
        place.subgraph = place.subgraph.or(outer.subgraph);
        place.operator = place.operator.take().or(outer.operator);
        place.tensor = place.tensor.take().or(outer.tensor);
        self
    }

    pub(crate) fn of(self, model: &str) -> TfliteParserError {
        let Self { place, problem } = self;
        TfliteParserError::Malformed {
            model: model.to_owned(),
            place,
            problem,
        }
    }
}

impl From<planus::Error> for Fault {
    fn from(error: planus::Error) -> Self {
        let planus::errors::ErrorLocation {
            type_,
            method,
            byte_offset,
        } = error.source_location;
        let field = method.trim_end_matches('_');
        Self::new(format!(
            "the FlatBuffer is broken at {type_}.{field} near byte {byte_offset}: {}",
            error.error_kind
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_its_parts_from_the_outside_in() {
        let fault = Fault::new("no such buffer").in_tensor(7, "weights\n");
        let fault = fault.in_operator(3, "CONV_2D").in_subgraph(0);
        assert_eq!(
            fault.of("m.tflite").to_string(),
            "reading m.tflite: subgraph 0, operator 3 (CONV_2D), tensor 7 \"weights\\n\": no such \
             buffer; the file is damaged or its writer was faulty: fetch it again or convert the \
             model anew"
        );
        assert_eq!(Place::default().to_string(), "");
    }
}
