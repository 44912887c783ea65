//! The graph: values, and nodes that read and write them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use prost::Message as _;

use super::external::ExternalFiles;
use super::function::{self, Function, Functions, bound_attributes};
use super::plain_domain;
use super::tensor::{self, Tensor};
use super::value_type::{ValueType, value_type};
use crate::error::{Fault, NodePlace, Short, cut};
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
};

/// Nodes between inputs and outputs.
#[derive(Debug, Default)]
pub struct Graph {
    /// Its name; often empty.
    pub name: String,
    /// All values. Names are unique but for those inside functions.
    pub values: Vec<Value>,
    /// Indices of the values that the caller gives: the graph's inputs without those that are
    /// initialisers too, which are constants here.
    pub inputs: Vec<usize>,
    /// What the caller gets: the names, and the indices of the values.
    pub outputs: Vec<(String, usize)>,
    /// The nodes in an order in which they can be executed.
    pub nodes: Vec<Node>,
}

/// What nodes read and write.
#[derive(Debug)]
pub struct Value {
    /// The name; inside a function, that of the call and the function's own name for it.
    pub name: String,
    /// What the file says of its type.
    pub value_type: Option<ValueType>,
    /// The elements, if it is an initialiser.
    pub tensor: Option<Tensor>,
    /// Whether it is an initialiser that is stored sparsely, and has no `tensor`.
    pub is_sparse: bool,
}

/// One use of an operator.
#[derive(Debug)]
pub struct Node {
    /// Index of the node in the file's graph; of the call, for one inside a function.
    pub index: usize,
    /// The function that it is of.
    pub function: Option<Rc<str>>,
    /// Its name; may be empty.
    pub name: String,
    /// The operator's domain; empty for ONNX's own.
    pub domain: String,
    /// The operator.
    pub op_type: String,
    /// Which version of the domain's operators is meant; none if the model does not say.
    pub version: Option<i64>,
    /// Indices of the values that it reads; none for one that is left out.
    pub inputs: Vec<Option<usize>>,
    /// Indices of the values that it writes; none for one that nobody needs.
    pub outputs: Vec<Option<usize>>,
    /// The attributes. Of those that are graphs, only names and types; [`bodies`](Self::bodies) has
    /// the graphs.
    pub attributes: Vec<AttributeProto>,
    /// The graphs among the attributes.
    pub bodies: Vec<Body>,
    /// The attribute of another node whose graph the node is of, for messages.
    pub within: Option<Rc<str>>,
}

/// A graph that is an attribute of a node, such as a branch of If.
#[derive(Debug)]
pub struct Body {
    /// The name of the attribute.
    pub attribute: String,
    /// The graph. Its inputs are those that it declares; captured values are values of it that
    /// nothing in it writes.
    pub graph: Graph,
    /// The values that it reads of the graph around it, in the order in which it first does.
    pub captures: Vec<Capture>,
}

/// A value that a body reads of the graph around it.
#[derive(Debug, Clone, Copy)]
pub struct Capture {
    /// Its index in the graph around the body.
    pub outer: usize,
    /// Its index in the body.
    pub inner: usize,
}

impl Node {
    pub(crate) fn place(&self) -> NodePlace {
        NodePlace {
            index: self.index,
            function: self.function.as_deref().map(str::to_owned),
            within: self.within.as_deref().map(str::to_owned),
            op_type: cut(&self.op_type).to_owned(),
            name: cut(&self.name).to_owned(),
        }
    }
}

/// Which version of each domain's operators is meant.
pub(super) struct Opsets<'m>(HashMap<&'m str, i64>);

impl<'m> Opsets<'m> {
    pub(super) fn new(imports: &'m [OperatorSetIdProto]) -> Self {
        let versions = imports
            .iter()
            .map(|import| (plain_domain(&import.domain), import.version));
        Self(versions.collect())
    }
}

pub(super) fn decode(
    proto: GraphProto,
    functions: &[FunctionProto],
    opsets: &[OperatorSetIdProto],
    files: &ExternalFiles,
    file_len: usize,
) -> Result<Graph, Fault> {
    let functions = Functions::new(functions)?;
    let opsets = Opsets::new(opsets);
    let mut decoder = Decoder {
        graph: Graph::default(),
        functions: &functions,
        types: HashMap::new(),
        files,
        // A small file may well call a large function often.
        budget: file_len.saturating_mul(16).saturating_add(16 << 20),
    };
    decoder.decode(proto, &mut Scope::default(), &opsets)
}

/// The values that have a name where a node stands.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) indices: HashMap<String, usize>,
    /// Put before the names of values; empty for a graph itself.
    pub(super) prefix: String,
    /// The function; none for the graph itself.
    pub(super) function: Option<Rc<str>>,
    /// How many functions are around it.
    pub(super) depth: usize,
    /// How many bodies are around it.
    pub(super) bodies: usize,
    /// The attribute whose graph it is.
    pub(super) within: Option<Rc<str>>,
    /// Of a body: names that it reads of the graph around it, and the values that stand for those.
    pub(super) captured: Option<Vec<(String, usize)>>,
}

pub(super) struct Decoder<'m> {
    pub(super) graph: Graph,
    functions: &'m Functions<'m>,
    /// Types that are said of values of the graph, those inside functions excepted.
    pub(super) types: HashMap<String, ValueType>,
    files: &'m ExternalFiles,
    /// Bytes that inlined functions and bodies may still take.
    budget: usize,
}

impl Decoder<'_> {
    /// The graph of the decoder, which is empty so far.
    pub(super) fn decode(
        &mut self,
        proto: GraphProto,
        scope: &mut Scope,
        opsets: &Opsets<'_>,
    ) -> Result<Graph, Fault> {
        self.graph.name = proto.name;
        for mut initializer in proto.initializer {
            let name = std::mem::take(&mut initializer.name);
            let tensor =
                tensor::decode(initializer, self.files).map_err(|fault| fault.in_value(&name))?;
            let index = self.write(scope, &name)?;
            self.graph.values[index].tensor = Some(tensor);
        }
        for sparse in proto.sparse_initializer {
            let name = sparse.values.map(|values| values.name).unwrap_or_default();
            let index = self.write(scope, &name)?;
            self.graph.values[index].is_sparse = true;
        }
        let n_initializers = self.graph.values.len();
        for input in proto.input {
            // Before version 4 of the format initialisers had to be inputs; since then it means that
            // the caller may give another value, which does not happen here.
            if let Some(&index) = scope.indices.get(&input.name)
                && index < n_initializers
            {
                continue;
            }
            let value_type = value_type(&input);
            let index = self.write(scope, &input.name)?;
            self.graph.values[index].value_type = value_type;
            self.graph.inputs.push(index);
        }
        for info in proto.value_info.iter().chain(&proto.output) {
            if let Some(value_type) = value_type(info) {
                self.types.insert(info.name.clone(), value_type);
            }
        }
        self.nodes(scope, proto.node, opsets)?;
        for ValueInfoProto { name, .. } in proto.output {
            let index = self.read(scope, &name)?.ok_or_else(|| {
                Fault::new("it is an output of the graph, but nothing writes it").in_value(&name)
            })?;
            self.graph.outputs.push((name, index));
        }
        Ok(std::mem::take(&mut self.graph))
    }

    fn nodes(
        &mut self,
        scope: &mut Scope,
        nodes: Vec<NodeProto>,
        opsets: &Opsets<'_>,
    ) -> Result<(), Fault> {
        let mut nodes = nodes.into_iter().enumerate();
        while let Some((index, mut node)) = nodes.next() {
            let place = NodePlace {
                index,
                function: None,
                within: scope.within.as_deref().map(str::to_owned),
                op_type: cut(&node.op_type).to_owned(),
                name: cut(&node.name).to_owned(),
            };
            if scope.bodies > 0 {
                self.spend(size_of::<Node>())?;
            }
            let attributes = std::mem::take(&mut node.attribute);
            self.node(scope, index, &node, attributes, opsets)
                .map_err(|stop| match stop {
                    Stop::Fault(fault) => fault,
                    Stop::Unwritten(name) => {
                        let later = nodes.any(|(_, node)| node.output.contains(&name));
                        Fault::new(match later {
                            true => {
                                "it is read before a later node writes it: nodes must be sorted"
                            }
                            false => "it is read, but nothing writes it",
                        })
                        .in_value(&name)
                    }
                })
                .map_err(|fault| fault.in_node(|| place))?;
        }
        Ok(())
    }

    /// Adds a node, or those of the function that it calls.
    fn node(
        &mut self,
        scope: &mut Scope,
        index: usize,
        node: &NodeProto,
        mut attributes: Vec<AttributeProto>,
        opsets: &Opsets<'_>,
    ) -> Result<(), Stop> {
        let mut inputs = Vec::with_capacity(node.input.len());
        for name in &node.input {
            inputs.push(match name.as_str() {
                "" => None,
                name => match self.read(scope, name)? {
                    Some(index) => Some(index),
                    None => return Err(Stop::Unwritten(name.to_owned())),
                },
            });
        }
        if let Some(function) = self.functions.called_by(node) {
            return self.call(scope, index, node, &inputs, &attributes, function);
        }
        let bodies = self.bodies(scope, index, node, &mut attributes, opsets)?;
        let outputs = node
            .output
            .iter()
            .map(|name| match name.as_str() {
                "" => Ok(None),
                name => self.write(scope, name).map(Some),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let domain = plain_domain(&node.domain);
        self.graph.nodes.push(Node {
            index,
            function: scope.function.clone(),
            name: node.name.clone(),
            domain: domain.to_owned(),
            op_type: node.op_type.clone(),
            version: opsets.0.get(domain).copied(),
            inputs,
            outputs,
            attributes,
            bodies,
            within: scope.within.clone(),
        });
        Ok(())
    }

    fn call(
        &mut self,
        scope: &mut Scope,
        index: usize,
        node: &NodeProto,
        inputs: &[Option<usize>],
        attributes: &[AttributeProto],
        function: &Function<'_>,
    ) -> Result<(), Stop> {
        let proto = function.proto;
        if scope.depth >= function::DEEPEST {
            return Err(Fault::new(format!(
                "functions call functions more than {} deep, or themselves",
                function::DEEPEST
            ))
            .into());
        }
        if node.input.len() > proto.input.len() || node.output.len() > proto.output.len() {
            return Err(Fault::new(format!(
                "it has {} inputs and {} outputs, but the function {} and {}",
                node.input.len(),
                node.output.len(),
                proto.input.len(),
                proto.output.len()
            ))
            .into());
        }
        let name = match (node.name.as_str(), node.output.first()) {
            ("", Some(output)) => output,
            (name, _) => name,
        };
        let first_inner = self.graph.values.len();
        let mut inner = Scope {
            prefix: format!("{}{}/", scope.prefix, cut(name)),
            function: Some(match proto.domain.as_str() {
                "" => cut(&proto.name).into(),
                domain => format!("{}.{}", cut(domain), cut(&proto.name)).into(),
            }),
            depth: scope.depth + 1,
            bodies: scope.bodies,
            within: scope.within.clone(),
            ..Scope::default()
        };
        for (name, value) in proto.input.iter().zip(inputs) {
            if let Some(value) = value {
                inner.indices.insert(name.clone(), *value);
            }
        }
        self.spend(proto.input.len().saturating_mul(16))?;
        let left_out: HashSet<&str> = proto
            .input
            .iter()
            .filter(|name| !inner.indices.contains_key(*name))
            .map(String::as_str)
            .collect();
        for inner_node in &proto.node {
            let attributes = bound_attributes(&inner_node.attribute, attributes, proto);
            self.spend(cost(inner_node, &attributes, proto, &inner))?;
            // What the call leaves out is left out inside, too.
            let mut inner_node = NodeProto {
                attribute: Vec::new(),
                ..inner_node.clone()
            };
            for input in &mut inner_node.input {
                if left_out.contains(input.as_str()) {
                    input.clear();
                }
            }
            self.node(&mut inner, index, &inner_node, attributes, &function.opsets)
                .map_err(|stop| match stop {
                    Stop::Unwritten(name) => Fault::new(format!(
                        "in function {}, \"{}\" is read before anything has written it",
                        Short(&proto.name),
                        Short(&name)
                    ))
                    .into(),
                    stop => stop,
                })?;
        }
        for (outer, name) in node.output.iter().zip(&proto.output) {
            if outer.is_empty() {
                continue;
            }
            let value = inner.indices.get(name).copied().ok_or_else(|| {
                Fault::new(format!(
                    "the function does not write its output {}",
                    Short(name)
                ))
            })?;
            if scope.indices.insert(outer.clone(), value).is_some() {
                return Err(written_twice(outer).into());
            }
            // The outer name is the one that callers know; what is said of it holds.
            let written_inside = value >= first_inner;
            if scope.prefix.is_empty()
                && written_inside
                && let Some(value) = self.graph.values.get_mut(value)
                && value.tensor.is_none()
            {
                outer.clone_into(&mut value.name);
                value.value_type = self.types.get(outer).cloned();
            }
        }
        Ok(())
    }

    /// Pays for what takes the place of a call, and for bodies.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        self.budget = self.budget.checked_sub(bytes).ok_or_else(|| {
            Fault::new(
                "its functions call each other so often that, unfolded, they would be more than 16 \
                 times the file's size and 16 MiB",
            )
        })?;
        Ok(())
    }

    /// The value of a name, if there is one; in a body, perhaps one of the graph around it.
    pub(super) fn read(&mut self, scope: &mut Scope, name: &str) -> Result<Option<usize>, Fault> {
        if let Some(&index) = scope.indices.get(name) {
            return Ok(Some(index));
        }
        let Some(captured) = &mut scope.captured else {
            return Ok(None);
        };
        captured.push((name.to_owned(), self.graph.values.len()));
        self.spend(name.len().saturating_add(size_of::<Value>()))?;
        self.write(scope, name).map(Some)
    }

    /// Adds a value of this name.
    fn write(&mut self, scope: &mut Scope, name: &str) -> Result<usize, Fault> {
        let index = self.graph.values.len();
        if scope.indices.insert(name.to_owned(), index).is_some() {
            return Err(written_twice(name));
        }
        let (name, value_type) = match scope.prefix.is_empty() {
            true => (name.to_owned(), self.types.get(name).cloned()),
            false => (format!("{}{}", scope.prefix, cut(name)), None),
        };
        self.graph.values.push(Value {
            name,
            value_type,
            tensor: None,
            is_sparse: false,
        });
        Ok(index)
    }
}

/// Bytes that a node of a function takes.
fn cost(
    node: &NodeProto,
    attributes: &[AttributeProto],
    function: &FunctionProto,
    scope: &Scope,
) -> usize {
    let names = node.output.len().saturating_mul(scope.prefix.len() + 64);
    let defaults = function.attribute_proto.len().saturating_mul(16);
    let bound = attributes.iter().map(AttributeProto::encoded_len);
    bound.fold(
        node.encoded_len()
            .saturating_add(names)
            .saturating_add(defaults)
            .saturating_add(size_of::<Node>()),
        usize::saturating_add,
    )
}

pub(super) enum Stop {
    Fault(Fault),
    /// A name is read that nothing has.
    Unwritten(String),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn written_twice(name: &str) -> Fault {
    Fault::new("it is written twice, or is an input twice").in_value(name)
}
