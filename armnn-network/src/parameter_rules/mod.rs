//! Rules by which the descriptor of a layer follows from tensors.
//!
//! A model may compute what a descriptor holds: the target of a Reshape, where a slice begins, by
//! how much a tensor is padded. Once shapes are known, the values of such tensors are, too, or the
//! network is executed up to them; then a rule gives the descriptor. With some values unknown it
//! gives what is known of the output's shape.

mod reshape;

use armnn_backend_api::{LayerDescriptor, LayerType, Shape};

use crate::KnownValue;
use crate::error::LayerProblem;

type Result<T, E = LayerProblem> = std::result::Result<T, E>;

/// How the descriptor of a [deferred layer](crate::Deferred) follows from its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParameterRule {
    /// A Reshape. Parameter: the target (a list of integers), in which one -1 stands for what
    /// remains.
    Reshape {
        /// Whether a 0 in the target is a size; else it stands for the input's size there.
        allow_zero: bool,
    },
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its shape, as far as it is known.
    pub shape: Shape,
    /// Its value, as far as it is known.
    pub value: Option<KnownValue>,
}

/// What a rule gives.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The descriptor. What does not follow yet stands at a value that any layer of the type may
    /// have.
    pub descriptor: LayerDescriptor,
    /// The shapes of the outputs, as far as they follow.
    pub outputs: Vec<Shape>,
    /// Whether everything is known that the descriptor holds.
    pub complete: bool,
}

impl ParameterRule {
    /// The type of the layer.
    pub fn layer_type(&self) -> LayerType {
        match self {
            Self::Reshape { .. } => LayerType::Reshape,
        }
    }

    /// The descriptor and the shapes of the outputs, as far as they follow.
    ///
    /// # Errors
    /// When a parameter is not there, or what is known of it makes no sense for the inputs.
    pub(crate) fn resolve(
        &self,
        data: &[Option<Shape>],
        parameters: &[Option<Parameter>],
    ) -> Result<Resolved> {
        let arguments = Arguments { data, parameters };
        match self {
            Self::Reshape { allow_zero } => reshape::resolve(*allow_zero, &arguments),
        }
    }
}

/// The inputs and the parameters of a rule.
struct Arguments<'a> {
    data: &'a [Option<Shape>],
    parameters: &'a [Option<Parameter>],
}

impl Arguments<'_> {
    /// The shape of an input that must be there.
    fn data(&self, index: usize) -> Result<Shape> {
        let shape = self.data.get(index).copied().flatten();
        shape.ok_or_else(|| LayerProblem::MissingInput {
            input: format!("input {index}"),
        })
    }

    /// The elements of a parameter that must be there, a list of integers: each perhaps unknown, but
    /// not how many.
    ///
    /// # Errors
    /// Also when its length is not known: the rank of the output would not be.
    fn list(&self, index: usize, what: &'static str) -> Result<Vec<Option<i64>>> {
        let parameter = self.parameters.get(index).and_then(Option::as_ref);
        let parameter = parameter.ok_or_else(|| LayerProblem::MissingInput {
            input: format!("parameter '{what}'"),
        })?;
        let problem = |rule: &str| LayerProblem::Descriptor {
            field: what,
            value: format!("a tensor of shape {}", parameter.shape),
            rule: rule.to_owned(),
        };
        if parameter.shape.rank() > 1 {
            return Err(problem("a list, of one dimension"));
        }
        let len = parameter
            .shape
            .num_elements()
            .and_then(|n| usize::try_from(n).ok());
        let len = len.ok_or_else(|| problem("a list whose length is known from the model"))?;
        match &parameter.value {
            Some(value) => match value.as_integers() {
                Some(values) => Ok(values.to_vec()),
                None => Err(problem("integers")),
            },
            None if len > KnownValue::MOST_ELEMENTS => Err(problem("at most 4096 elements")),
            None => Ok(vec![None; len]),
        }
    }
}
