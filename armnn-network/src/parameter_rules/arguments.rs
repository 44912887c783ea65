//! The inputs and the parameters of a rule.

use armnn_backend_api::{DataType, Shape};

use super::{Parameter, Result, bad, shown_list};
use crate::error::LayerProblem;
use crate::{KnownElements, KnownValue};

/// The inputs and the parameters of a rule.
pub(super) struct Arguments<'a> {
    pub(super) data: &'a [Option<Shape>],
    pub(super) parameters: &'a [Option<Parameter>],
}

impl Arguments<'_> {
    /// The shape of an input that must be there.
    pub(super) fn data(&self, index: usize) -> Result<Shape> {
        let shape = self.data.get(index).copied().flatten();
        shape.ok_or_else(|| LayerProblem::MissingInput {
            input: format!("input {index}"),
        })
    }

    fn parameter(&self, index: usize) -> Option<&Parameter> {
        self.parameters.get(index).and_then(Option::as_ref)
    }

    fn required(&self, index: usize, what: &'static str) -> Result<&Parameter> {
        self.parameter(index)
            .ok_or_else(|| LayerProblem::MissingInput {
                input: format!("parameter '{what}'"),
            })
    }

    /// Whether there is a parameter.
    pub(super) fn has(&self, index: usize) -> bool {
        self.parameter(index).is_some()
    }

    /// The elements of a parameter that must be there, a list of integers: each perhaps unknown, but
    /// not how many. A scalar is a list of one.
    ///
    /// # Errors
    /// Also when its length is not known: the rank of the output would not be.
    pub(super) fn list(&self, index: usize, what: &'static str) -> Result<Vec<Option<i64>>> {
        let parameter = self.required(index, what)?;
        if parameter.shape.rank() > 1 {
            return Err(parameter.problem(what, "a list, of one dimension"));
        }
        parameter.integers(what)
    }

    /// As [`list`](Self::list), of a parameter that may be absent.
    pub(super) fn optional_list(
        &self,
        index: usize,
        what: &'static str,
    ) -> Result<Option<Vec<Option<i64>>>> {
        match self.has(index) {
            true => self.list(index, what).map(Some),
            false => Ok(None),
        }
    }

    /// The elements of a parameter of shape [n, 2] that must be there.
    pub(super) fn pairs(&self, index: usize, what: &'static str) -> Result<Vec<[Option<i64>; 2]>> {
        let parameter = self.required(index, what)?;
        let (pairs, rest) = match parameter.shape.dims() {
            [_, 2 | Shape::UNKNOWN] => {
                let all = parameter.integers(what)?;
                let (pairs, rest) = all.as_chunks::<2>();
                (pairs.to_vec(), rest.len())
            }
            _ => (Vec::new(), 1),
        };
        match rest {
            0 => Ok(pairs),
            _ => Err(parameter.problem(what, "pairs, of shape [n, 2]")),
        }
    }

    /// A parameter of one element that must be there, if its value is known; a real number is
    /// rounded towards zero.
    pub(super) fn scalar(&self, index: usize, what: &'static str) -> Result<Option<i64>> {
        let parameter = self.required(index, what)?;
        Ok(match parameter.single(what)? {
            Some(Number::Integer(value)) => Some(value),
            // Saturates; what is that large is refused where it is used.
            Some(Number::Real(value)) if !value.is_nan() => Some(value as i64),
            Some(Number::Real(_)) => return Err(parameter.problem(what, "a number")),
            None => None,
        })
    }

    /// As [`scalar`](Self::scalar), an integer or a real number.
    pub(super) fn number(&self, index: usize, what: &'static str) -> Result<Option<Number>> {
        self.required(index, what)?.single(what)
    }

    /// The type of a parameter whose value is known, or something of it.
    pub(super) fn data_type(&self, index: usize) -> Option<DataType> {
        Some(self.parameter(index)?.value.as_ref()?.data_type)
    }

    /// The elements of a parameter that may be absent, a list of real numbers.
    pub(super) fn optional_reals(
        &self,
        index: usize,
        what: &'static str,
    ) -> Result<Option<Vec<Option<f64>>>> {
        let Some(parameter) = self.parameter(index) else {
            return Ok(None);
        };
        let count = parameter.count(what)?;
        match parameter.value.as_ref().map(|value| &value.elements) {
            Some(KnownElements::Reals(values)) => Ok(Some(values.clone())),
            Some(KnownElements::Integers(_)) => Err(parameter.problem(what, "real numbers")),
            None => Ok(Some(vec![None; count])),
        }
    }
}

/// The value of a parameter of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    Real(f64),
}

impl Parameter {
    /// How many elements there are.
    fn count(&self, what: &'static str) -> Result<usize> {
        let shape = match &self.value {
            Some(value) => value.shape,
            None => self.shape,
        };
        let count = shape.num_elements().and_then(|n| usize::try_from(n).ok());
        match count {
            Some(count) if count <= KnownValue::MOST_ELEMENTS => Ok(count),
            Some(_) => Err(self.problem(what, "at most 4096 elements")),
            None => Err(self.problem(what, "a list whose length is known from the model")),
        }
    }

    fn integers(&self, what: &'static str) -> Result<Vec<Option<i64>>> {
        let count = self.count(what)?;
        match self.value.as_ref().map(KnownValue::as_integers) {
            Some(Some(values)) => Ok(values.to_vec()),
            Some(None) => Err(self.problem(what, "integers")),
            None => Ok(vec![None; count]),
        }
    }

    fn single(&self, what: &'static str) -> Result<Option<Number>> {
        let Some(value) = &self.value else {
            return match self.shape.num_elements() {
                Some(1) | None => Ok(None),
                Some(_) => Err(self.problem(what, "a single element")),
            };
        };
        match &value.elements {
            KnownElements::Integers(values) if values.len() == 1 => {
                Ok(values[0].map(Number::Integer))
            }
            KnownElements::Reals(values) if values.len() == 1 => Ok(values[0].map(Number::Real)),
            _ => Err(self.problem(what, "a single element")),
        }
    }

    fn problem(&self, what: &'static str, rule: &str) -> LayerProblem {
        match self.value.as_ref().and_then(KnownValue::as_integers) {
            Some(values) => bad(what, shown_list(values), rule),
            None => bad(what, format!("a tensor of shape {}", self.shape), rule),
        }
    }
}

/// An axis counted from the start.
pub(super) fn axis(index: i64, rank: usize, what: &'static str) -> Result<usize> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let from_start = match index < 0 {
        true => index.saturating_add(signed),
        false => index,
    };
    match usize::try_from(from_start) {
        Ok(axis) if axis < rank => Ok(axis),
        _ => Err(bad(
            what,
            index,
            format!("one of {rank} dimensions, from the end if negative"),
        )),
    }
}

/// Axes counted from the start, in their order, if all are known.
///
/// # Errors
/// When one does not exist, or a known one appears twice, unless it may.
pub(super) fn axes(
    indices: &[Option<i64>],
    rank: usize,
    may_repeat: bool,
    what: &'static str,
) -> Result<Option<Vec<usize>>> {
    let mut known = Vec::with_capacity(indices.len().min(Shape::MAX_RANK));
    for index in indices.iter().flatten() {
        let axis = axis(*index, rank, what)?;
        if !known.contains(&axis) {
            known.push(axis);
        } else if !may_repeat {
            return Err(bad(what, shown_list(indices), "each axis at most once"));
        }
    }
    if !may_repeat && indices.len() > rank {
        let rule = format!("at most as many as there are dimensions, {rank}");
        return Err(bad(what, shown_list(indices), rule));
    }
    Ok(indices.iter().all(Option::is_some).then_some(known))
}
