//! Layers whose output's elements are not those of an input.

use armnn_backend_api::OneHotDescriptor;

use super::position::{gathered, index, positions, sizes};
use super::{Evaluation, fitting, rounded};
use crate::{KnownElements, KnownValue};

pub(super) fn fill(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let value = layer.input(0)?;
    let elements = positions(&layer.output(0)?).map(|_| Some((&value.elements, 0)));
    gathered(elements, KnownValue::is_real(layer.output_type()?))
}

/// start + i delta.
pub(super) fn range(layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (start, delta) = (layer.input(0)?, layer.input(2)?);
    let data_type = layer.output_type()?;
    let &[count] = &layer.output(0)?[..] else {
        return None;
    };
    Some(match (&start.elements, &delta.elements) {
        (KnownElements::Integers(start), KnownElements::Integers(delta)) => {
            let (start, delta) = (*start.first()?, *delta.first()?);
            let value = |i: i64| start?.checked_add(i.checked_mul(delta?)?);
            let values = (0i64..).take(count);
            KnownElements::Integers(values.map(|i| fitting(value(i), data_type)).collect())
        }
        (KnownElements::Reals(start), KnownElements::Reals(delta)) => {
            let (start, delta) = (*start.first()?, *delta.first()?);
            let value = |i: i64| {
                let step = rounded(i as f64 * delta?, data_type);
                Some(rounded(start? + step, data_type))
            };
            KnownElements::Reals((0i64..).take(count).map(value).collect())
        }
        _ => return None,
    })
}

pub(super) fn one_hot(d: &OneHotDescriptor, layer: &Evaluation<'_>) -> Option<KnownElements> {
    let (indices, on, off) = (layer.input(0)?, layer.input(1)?, layer.input(2)?);
    let (axis, to) = (d.axis as usize, layer.output(0)?);
    let from = sizes(&indices.shape)?;
    let depth = i64::try_from(*to.get(axis)?).ok()?;
    let values = indices.as_integers()?;
    let elements = positions(&to).map(|mut at| {
        let place = i64::try_from(*at.get(axis)?).ok()?;
        at.copy_within(axis + 1.., axis);
        // Which of both it is must be known.
        let value = (*values.get(index(&at, &from)?)?)?;
        let is_on = value == place
            || d.wrap_negative == 1 && value < 0 && value.checked_add(depth) == Some(place);
        Some((if is_on { &on.elements } else { &off.elements }, 0))
    });
    gathered(elements, KnownValue::is_real(layer.output_type()?))
}
