//! What can go wrong between a path and a network.

use std::fmt;
use std::path::PathBuf;

use armnn_network::NetworkError;
pub(crate) use armnn_network::ShownName as Short;

/// Why an ONNX model was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxParserError {
    /// The file cannot be opened or mapped.
    #[error("opening the ONNX model {}: {source}; check the path and its permissions", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The path is a directory, a pipe or a device.
    #[error(
        "opening the ONNX model {}: not a regular file; give the path of an .onnx file",
        path.display()
    )]
    NotAFile {
        /// The path as it was given.
        path: PathBuf,
    },

    /// The bytes are not those of an ONNX model, or of a broken one.
    #[error("reading {model}: not an ONNX model: {problem}; give an .onnx file, whole")]
    NotOnnx {
        /// Path of the model, or what stands for one.
        model: String,
        /// Why.
        problem: String,
    },

    /// The version of the format is before 3.
    #[error(
        "reading {model}: version {version} of the ONNX format, but versions from 3 on are known; \
         convert the model again with a current converter"
    )]
    IrVersion {
        /// Path of the model, or what stands for one.
        model: String,
        /// The version in the file.
        version: i64,
    },

    /// The version of ONNX's own operators is before 6, or later than any that is known.
    #[error(
        "reading {model}: version {version} of the operators of ai.onnx, but versions {least} to \
         {most} are known; convert the model to one of them"
    )]
    OpsetVersion {
        /// Path of the model, or what stands for one.
        model: String,
        /// The version in the file.
        version: i64,
        /// The earliest known version.
        least: i64,
        /// The latest known version.
        most: i64,
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

    /// A file with external data cannot be used.
    #[error("reading {model}: {place}its data in the file \"{location}\": {problem}")]
    ExternalData {
        /// Path of the model, or what stands for one.
        model: String,
        /// The constant.
        place: Box<Place>,
        /// The file as the model names it.
        location: String,
        /// What is wrong, and what to do.
        problem: String,
    },

    /// The model is sound, but uses what cannot become a layer of a network.
    #[error(
        "lowering {model}: {refusals}; convert the model without them, or allow StandIn layers for \
         operators and use a backend that knows them"
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

/// Something about a node or a value that is not supported.
pub type UnsupportedUse = armnn_network::UnsupportedUse<Place>;

/// An operator type that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedOperator {
    /// Its domain; empty for ONNX's own.
    pub domain: String,
    /// Its name.
    pub name: String,
    /// The version of the domain's operators.
    pub version: i64,
    /// How many nodes of the model, with functions inlined, are of this type.
    pub count: usize,
    /// The first of them.
    pub first: Place,
}

impl fmt::Display for UnsupportedOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.domain.is_empty() {
            write!(f, "{}.", Short(&self.domain))?;
        }
        let (name, version) = (Short(&self.name), self.version);
        write!(f, "{name} (version {version}, ")?;
        match self.count {
            1 => f.write_str("once")?,
            count => write!(f, "{count} times")?,
        }
        if let Some(node) = &self.first.node {
            write!(f, ", first at node {}", node.index)?;
        }
        f.write_str(")")
    }
}

/// Where in a model something was found. Parts that do not apply are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: Option<NodePlace>,
    /// Name of the value.
    pub value: Option<String>,
}

/// A node of the graph, or of a function that a node of the graph calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlace {
    /// Index of the node of the graph.
    pub index: usize,
    /// The function that the node is of, if it is not the graph's own.
    pub function: Option<String>,
    /// The attribute of another node whose graph the node is of, and that node, if it is not the
    /// model's own graph; the index is that in this graph.
    pub within: Option<String>,
    /// The operator.
    pub op_type: String,
    /// The node's name; may be empty.
    pub name: String,
}

/// Ends with `: ` unless empty, so that what was found can follow.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(node) = &self.node {
            write!(f, "node {}", node.index)?;
            if let Some(function) = &node.function {
                write!(f, ", in function {}", Short(function))?;
            }
            if let Some(within) = &node.within {
                write!(f, ", in {}", Short(within))?;
            }
            write!(f, " ({}", Short(&node.op_type))?;
            if !node.name.is_empty() {
                write!(f, " \"{}\"", Short(&node.name))?;
            }
            f.write_str(")")?;
            separator = ", ";
        }
        if let Some(name) = &self.value {
            write!(f, "{separator}value \"{}\"", Short(name))?;
            separator = ", ";
        }
        if separator.is_empty() {
            Ok(())
        } else {
            f.write_str(": ")
        }
    }
}

/// The beginning of a name. Names that are copied more often than the file holds them are cut, so
/// that memory stays linear in the file's size.
pub(crate) fn cut(name: &str) -> &str {
    const LONGEST: usize = 256;
    (0..=LONGEST)
        .rev()
        .find_map(|end| name.get(..end))
        .filter(|_| name.len() > LONGEST)
        .unwrap_or(name)
}

/// A problem on its way up, gathering its place; [`Fault::of`] makes it an error.
#[derive(Debug)]
pub(crate) struct Fault {
    place: Box<Place>,
    problem: String,
    /// The external file that it is about.
    location: Option<String>,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            place: Box::default(),
            problem: problem.into(),
            location: None,
        }
    }

    pub(crate) fn external(location: &str, problem: impl Into<String>) -> Self {
        Self {
            location: Some(Short(location).to_string()),
            ..Self::new(problem)
        }
    }

    pub(crate) fn in_node(mut self, node: impl FnOnce() -> NodePlace) -> Self {
        if self.place.node.is_none() {
            self.place.node = Some(node());
        }
        self
    }

    pub(crate) fn in_value(mut self, name: &str) -> Self {
        if self.place.value.is_none() {
            self.place.value = Some(cut(name).to_owned());
        }
        self
    }

    /// The same, in a place that is known from outside.
    pub(crate) fn within(mut self, outer: Place) -> Self {
        let place = &mut self.place;
        place.node = place.node.take().or(outer.node);
        place.value = place.value.take().or(outer.value);
        self
    }

    pub(crate) fn of(self, model: &str) -> OnnxParserError {
        let Self {
            place,
            problem,
            location,
        } = self;
        let model = model.to_owned();
        match location {
            None => OnnxParserError::Malformed {
                model,
                place,
                problem,
            },
            Some(location) => OnnxParserError::ExternalData {
                model,
                place,
                location,
                problem,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_its_parts_from_the_outside_in() {
        let fault = Fault::new("it has no elements")
            .in_value("weights\n")
            .in_node(|| NodePlace {
                index: 3,
                function: Some("com.example.Block".to_owned()),
                within: None,
                op_type: "Conv".to_owned(),
                name: "conv1".to_owned(),
            });
        assert_eq!(
            fault.of("m.onnx").to_string(),
            "reading m.onnx: node 3, in function com.example.Block (Conv \"conv1\"), value \
             \"weights\\n\": it has no elements; the file is damaged or its writer was faulty: \
             fetch it again or convert the model anew"
        );
        assert_eq!(Place::default().to_string(), "");
    }

    #[test]
    fn an_endless_name_is_cut_in_copies() {
        let name = "é".repeat(500);
        assert_eq!(cut(&name).len(), 256);
        assert_eq!(cut("short"), "short");
    }
}
