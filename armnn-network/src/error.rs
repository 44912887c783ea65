//! What can be wrong with a network.

use armnn_backend_api::{BackendIdError, DataType, LayerType, Shape, TensorInfo};

use crate::{LayerId, ShownName, TensorId};

/// Why a network could not be built, or does not take certain input shapes.
///
/// Shapes are boxed to keep results small.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A layer does not fit its inputs, or its descriptor is not valid.
    #[error(
        "layer '{}' ({layer_type}) of inputs {inputs}: {problem}",
        shown(layer)
    )]
    Layer {
        /// The layer's name.
        layer: String,
        /// Its type.
        layer_type: LayerType,
        /// Names, types and shapes of its inputs, as text.
        inputs: String,
        /// What is wrong.
        problem: Box<LayerProblem>,
    },
    /// An operation of the runtime, such as a loop, does not fit its inputs.
    #[error("'{}' ({operation}) of inputs {inputs}: {problem}", shown(layer))]
    Operation {
        /// The layer's name.
        layer: String,
        /// The operation, such as `Loop`.
        operation: String,
        /// Names, types and shapes of its inputs, as text.
        inputs: String,
        /// What is wrong.
        problem: Box<LayerProblem>,
    },
    /// A variable that is not one.
    #[error("variable '{}': {problem}", shown(variable))]
    Variable {
        /// Its name.
        variable: String,
        /// What is wrong.
        problem: String,
    },
    /// A tensor's type, shape, quantization or data is not valid.
    #[error("tensor '{}' ({info}): {problem}", shown(tensor))]
    Tensor {
        /// The tensor's name.
        tensor: String,
        /// Its type and shape, as text.
        info: String,
        /// What is wrong.
        problem: Box<TensorProblem>,
    },
    /// A declaration about an input of the network or a constant that says something else.
    #[error("tensor '{}': {problem}", shown(tensor))]
    Declaration {
        /// The tensor's name.
        tensor: String,
        /// What is wrong.
        problem: Box<LayerProblem>,
    },
    /// A tensor id that the builder did not give out.
    #[error(
        "{what} refers to tensor {tensor}, but the network has {count} tensors; \
         use ids that this builder returned"
    )]
    UnknownTensor {
        /// What was being done.
        what: String,
        /// The id.
        tensor: TensorId,
        /// How many tensors there are.
        count: usize,
    },
    /// A layer id that the builder did not give out.
    #[error(
        "a backend hint refers to layer {layer}, but the network has {count} layers; \
         use ids that this builder returned"
    )]
    UnknownLayer {
        /// The id.
        layer: LayerId,
        /// How many layers there are.
        count: usize,
    },
    /// A backend hint that cannot be the id of a backend.
    #[error(
        "the backend hint of layer '{}' is no backend id: {problem}",
        shown(layer)
    )]
    BackendHint {
        /// The layer's name.
        layer: String,
        /// What is wrong with it.
        problem: BackendIdError,
    },
    /// There is no output, so that nothing would be computed.
    #[error("the network has no outputs; mark at least one tensor with add_output_layer")]
    NoOutputs,
    /// The network has more tensors or layers than indices go.
    #[error("a network has at most {limit} {what}; split the model")]
    TooMany {
        /// "tensors" or "layers".
        what: &'static str,
        /// The most there may be.
        limit: usize,
    },
    /// Shapes were given for another number of inputs.
    #[error("{found} input shapes were given, but the network has {expected} inputs")]
    InputShapeCount {
        /// Inputs of the network.
        expected: usize,
        /// Shapes given.
        found: usize,
    },
    /// An input does not take the shape that was given for it.
    #[error(
        "input '{}' takes shape {declared} (? and names are any size), but {found} was given",
        shown(input)
    )]
    InputShape {
        /// The input's name.
        input: String,
        /// The shape it takes, with the names of dimensions.
        declared: String,
        /// The shape given.
        found: Box<Shape>,
    },
    /// A name for a dimension that cannot have one.
    #[error(
        "dimension {dimension} of input '{}' ({info}) cannot be named '{}': {problem}",
        shown(input),
        shown(name)
    )]
    DimensionName {
        /// The input's name.
        input: String,
        /// Its type and shape, as text.
        info: String,
        /// The dimension.
        dimension: usize,
        /// The name.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Dimensions of one name were given different sizes.
    #[error(
        "dimension {} of input '{}' and dimension {} of input '{}' are both '{}' and must have the \
         same size, but {first_size} and {second_size} were given",
        first.1,
        shown(&first.0),
        second.1,
        shown(&second.0),
        shown(name)
    )]
    NamedDimension {
        /// The name.
        name: String,
        /// An input that has it, and which dimension.
        first: (String, usize),
        /// The size of that.
        first_size: i64,
        /// Another input that has it, and which dimension; perhaps the same input.
        second: (String, usize),
        /// The size of that.
        second_size: i64,
    },
    /// An input shape was given whose dimensions are not all known.
    #[error(
        "the shape {found} given for input '{}' has unknown dimensions; give every size",
        shown(input)
    )]
    InputShapeUnknown {
        /// The input's name.
        input: String,
        /// The shape given.
        found: Box<Shape>,
    },
}

/// What is wrong with a layer. Inputs and outputs are called by their names in
/// [`LayerSpec`](armnn_backend_api::LayerSpec).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerProblem {
    /// The type is not one that this version knows.
    #[error("the layer type is unknown here; use a later version of the runtime")]
    UnknownLayerType,
    /// The wrong number of inputs.
    #[error("it takes {} inputs, but {found} were given", range(*least, *most))]
    InputCount {
        /// The fewest inputs.
        least: usize,
        /// The most; `usize::MAX` for any number.
        most: usize,
        /// Those given.
        found: usize,
    },
    /// The wrong number of outputs.
    #[error("it has {} outputs, but {found} were declared", range(*least, *most))]
    OutputCount {
        /// The fewest outputs.
        least: usize,
        /// The most; `usize::MAX` for any number.
        most: usize,
        /// Those declared.
        found: usize,
    },
    /// An input that must be there is absent.
    #[error("{input} is absent, but the layer cannot do without it")]
    MissingInput {
        /// The input.
        input: String,
    },
    /// A tensor with another number of dimensions.
    #[error("{tensor} must have {expected} dimensions, but its shape is {found}")]
    Rank {
        /// The tensor.
        tensor: String,
        /// Which ranks would do.
        expected: String,
        /// The shape.
        found: Box<Shape>,
    },
    /// A dimension of another size.
    #[error(
        "dimension {axis} of {tensor}, whose shape is {found}, must be {expected}, because {because}"
    )]
    Dimension {
        /// The tensor.
        tensor: String,
        /// Which of its dimensions.
        axis: usize,
        /// What it would have to be.
        expected: String,
        /// The tensor's shape.
        found: Box<Shape>,
        /// Why.
        because: &'static str,
    },
    /// Shapes that do not broadcast.
    #[error(
        "{x} and {y} do not broadcast: aligned at the last dimension, sizes must be equal or 1"
    )]
    Broadcast {
        /// One shape.
        x: Box<Shape>,
        /// The other.
        y: Box<Shape>,
    },
    /// The number of elements differs.
    #[error(
        "{input} with {elements} elements cannot become {target}; \
         the number of elements must stay the same"
    )]
    Elements {
        /// The shape of the input.
        input: Box<Shape>,
        /// Its number of elements.
        elements: u64,
        /// The shape asked for.
        target: Box<Shape>,
    },
    /// A window that is larger than the padded input.
    #[error(
        "the window of {extent} {direction} (dilation included) is larger than the padded input \
         of {padded}; pad more, or use a larger input"
    )]
    Window {
        /// "rows" or "columns".
        direction: &'static str,
        /// Size of the window.
        extent: i64,
        /// Size of the input with its padding.
        padded: i64,
    },
    /// A field of the descriptor with a value that makes no sense.
    #[error("{field} of the descriptor is {value}, but must be {rule}")]
    Descriptor {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: String,
    },
    /// A tensor of another data type.
    #[error("{tensor} must be {expected}, but is {found}")]
    DataType {
        /// The tensor.
        tensor: String,
        /// Which types would do.
        expected: String,
        /// The type.
        found: DataType,
    },
    /// Quantization that the layer does not take.
    #[error("{tensor} must be {expected}")]
    Quantization {
        /// The tensor.
        tensor: String,
        /// Which quantization would do.
        expected: &'static str,
    },
    /// A quantized tensor whose scale nobody declared.
    #[error(
        "{tensor} is quantized, but its scale is not known; \
         declare it with expect_output_info before the tensor is read"
    )]
    UndeclaredQuantization {
        /// The tensor.
        tensor: String,
    },
    /// Something about an output that only the caller can know.
    #[error("{what} of {output} must be declared, as it does not follow from the inputs")]
    Undeclared {
        /// The output.
        output: String,
        /// "the data type" or "the shape".
        what: &'static str,
    },
    /// An output that is declared otherwise than it is.
    #[error(
        "{output} is declared as {declared}, but is {inferred}; \
         correct the declaration or the layer's parameters"
    )]
    Declaration {
        /// The output.
        output: String,
        /// As declared, as text.
        declared: String,
        /// As inferred, as text.
        inferred: String,
    },
    /// A declaration that comes after the tensor was read.
    #[error(
        "{output} was already read, by another layer or as an output of the network; \
         declare it directly after its layer"
    )]
    LateDeclaration {
        /// The output.
        output: String,
    },
    /// An output that is not valid in itself.
    #[error("{output} would be {info}: {problem}")]
    Output {
        /// The output.
        output: String,
        /// Its type and shape, as text.
        info: String,
        /// What is wrong with it.
        problem: TensorProblem,
    },
    /// A size beyond what can be counted.
    #[error("{what} is beyond 2^63")]
    Overflow {
        /// What was computed.
        what: &'static str,
    },
    /// Dimensions that do not follow from the input shapes.
    #[error(
        "the shape {shape} of {output} does not follow from the input shapes; \
         declare its unknown dimensions when building the network"
    )]
    Undetermined {
        /// The output.
        output: String,
        /// What is known of its shape.
        shape: Box<Shape>,
    },
    /// Parameters whose values do not follow from shapes and constants, and were not given.
    #[error(
        "its parameters {parameters} cannot be evaluated; the model computes them in a way that \
         is not supported for parameters: make them constants or inputs of the model"
    )]
    ParametersUnknown {
        /// Their names.
        parameters: String,
    },
    /// A sequence, an optional or strings where only elements can be.
    #[error("{tensor} is no tensor of numbers but {found}; no layer of a backend takes that")]
    NoTensor {
        /// The input.
        tensor: String,
        /// What it is.
        found: String,
    },
    /// A body of control flow that does not fit.
    #[error("its {body} does not fit: {problem}")]
    Body {
        /// Which body.
        body: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// What is wrong with a tensor.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorProblem {
    /// A number that is no known data type.
    #[error("the data type is unknown here")]
    UnknownDataType,
    /// More bytes than can be addressed.
    #[error("it is larger than memory can be; make its dimensions smaller")]
    TooLarge,
    /// A constant whose dimensions are not all known.
    #[error("a constant's dimensions must all be known")]
    UnknownShape,
    /// A constant with too many or too few bytes.
    #[error("it takes {expected} bytes, but its data has {found}")]
    ByteLen {
        /// Bytes by type and shape.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A quantized type without scales.
    #[error("the type is quantized and needs a scale and a zero point")]
    MissingQuantization,
    /// Scales on a type that takes none.
    #[error("the type takes no quantization, but {0} scales were given")]
    UnexpectedQuantization(usize),
    /// Not as many zero points as scales.
    #[error("there are {scales} scales, but {zero_points} zero points")]
    ZeroPointCount {
        /// How many scales.
        scales: usize,
        /// How many zero points.
        zero_points: usize,
    },
    /// An axis that the shape does not have.
    #[error("the quantization is along dimension {0}, which does not exist")]
    QuantizationAxis(i32),
    /// Neither one scale nor one for each index along the axis.
    #[error(
        "there are {found} scales, but dimension {axis} has size {expected}; \
         one scale in all would also do"
    )]
    ScaleCount {
        /// The dimension.
        axis: usize,
        /// Its size.
        expected: i64,
        /// How many scales.
        found: usize,
    },
    /// A scale that is negative or no finite number.
    #[error("scale {index} is {scale}; scales are finite and not negative")]
    Scale {
        /// Which one.
        index: usize,
        /// Its value.
        scale: f32,
    },
    /// A zero point outside the range of the type.
    #[error("zero point {index} is {zero_point}; the type allows {least} to {most}")]
    ZeroPoint {
        /// Which one.
        index: usize,
        /// Its value.
        zero_point: i32,
        /// The smallest one allowed.
        least: i32,
        /// The largest one allowed.
        most: i32,
    },
}

/// A result of this crate.
pub type Result<T, E = NetworkError> = std::result::Result<T, E>;

impl NetworkError {
    pub(crate) fn tensor(name: &str, info: &TensorInfo, problem: TensorProblem) -> Self {
        Self::Tensor {
            tensor: name.to_owned(),
            info: info.to_string(),
            problem: Box::new(problem),
        }
    }
}

/// A name as it goes into a message: names come from files, and may be long or unprintable.
pub(crate) fn shown(name: &str) -> String {
    ShownName(name).to_string()
}

fn range(least: usize, most: usize) -> String {
    if least == most {
        least.to_string()
    } else if most == usize::MAX {
        format!("{least} or more")
    } else {
        format!("{least} to {most}")
    }
}

/// The inputs of a layer for a message: name, type and shape of each.
pub(crate) fn input_list<'a>(
    inputs: impl Iterator<Item = Option<(&'a str, DataType, Shape)>>,
) -> String {
    const MOST: usize = 8;
    let mut list: Vec<String> = Vec::new();
    for (index, input) in inputs.enumerate() {
        if index == MOST {
            list.push("…".to_owned());
            break;
        }
        list.push(match input {
            Some((name, data_type, shape)) => format!("'{}' {data_type}{shape}", shown(name)),
            None => "none".to_owned(),
        });
    }
    format!("({})", list.join(", "))
}
