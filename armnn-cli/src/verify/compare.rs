//! Whether an output is what was recorded.

use std::fmt;

use armnn_runtime::DataType;

use super::meta::{OutputMeta, Tolerance};
use crate::{
    elements::{self, Element, storage_type},
    steps::OutputValue,
    tensor_file::StoredTensor,
};

/// How an output is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `|got - want| <= atol + rtol * |want|` for each element.
    Elementwise {
        /// Relative to the recorded element.
        rtol: f64,
        /// Besides.
        atol: f64,
    },
    /// As the recording says.
    Recorded(Tolerance),
}

/// How far an output is from what was recorded, being close enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Largest(pub f64);

/// Compares an output with what was recorded. Of types that are no floating-point ones every
/// element must be equal, unless the rule counts their steps; NaN is equal to NaN.
///
/// # Errors
/// What differs: type, shape, or elements, with the worst of them.
pub fn compare(
    got: &OutputValue,
    want: &StoredTensor,
    meta: &OutputMeta,
    rule: Rule,
) -> Result<Largest, String> {
    let data_type = got.info.data_type;
    if !want.element.holds(data_type) {
        return Err(format!(
            "its type is {data_type}, recorded is {}",
            want.element
        ));
    }
    let dims = check_shape(got, want, meta)?;
    let stride = meta.stride.map_or(1, usize::from);
    let numbers = |bytes: &[u8], count| {
        Numbers::decode(data_type, count, bytes)
            .ok_or_else(|| format!("elements of type {data_type} cannot be compared"))
    };
    let got_numbers = numbers(&got.bytes, got.count())?.every(stride);
    let want_numbers = numbers(&want.bytes, want.count())?;
    let steps = got.steps.unwrap_or(1);
    let place = |index: usize| Place {
        flat: index.saturating_mul(stride),
        dims: &dims,
    };
    match (got_numbers, want_numbers) {
        (Numbers::Floats(got), Numbers::Floats(want)) if got.len() == want.len() => {
            let limit = FloatLimit::new(rule, &want, meta)?;
            compare_floats(&got, &want, &limit, place)
        }
        (Numbers::Integers(got), Numbers::Integers(want)) if got.len() == want.len() => {
            let limit = match rule {
                Rule::Recorded(Tolerance::Lsb { value, .. }) => value,
                _ => 0,
            };
            let largest = compare_integers(&got, &want, limit, place)?;
            if let Rule::Recorded(Tolerance::Lsb {
                same_argmax: true, ..
            }) = rule
            {
                expect_same_argmax(&got, &want, steps, place)?;
            }
            Ok(largest)
        }
        _ => Err("it cannot be compared".to_owned()),
    }
}

/// Checks the shape, and returns that of the whole output.
fn check_shape(
    got: &OutputValue,
    want: &StoredTensor,
    meta: &OutputMeta,
) -> Result<Vec<u64>, String> {
    let found: Vec<u64> = got.dims().iter().map(|dim| dim.unsigned_abs()).collect();
    let recorded = match (&meta.shape, meta.stride) {
        (Some(shape), Some(_)) => shape,
        (None, Some(_)) => {
            return Err("meta.json gives a stride for it, and no shape".to_owned());
        }
        (_, None) => &want.dims,
    };
    if found != *recorded {
        return Err(format!("its shape is {found:?}, recorded is {recorded:?}"));
    }
    let sampled = match meta.stride {
        Some(stride) => got.count().div_ceil(stride.get()),
        None => got.count(),
    };
    if sampled != want.count() {
        return Err(format!(
            "{} elements are recorded; with the stride of meta.json, there should be {sampled}",
            want.count()
        ));
    }
    Ok(found)
}

/// The numbers of an output or of a recording.
enum Numbers {
    Floats(Vec<f64>),
    Integers(Vec<i128>),
}

impl Numbers {
    fn decode(data_type: DataType, count: usize, bytes: &[u8]) -> Option<Self> {
        let (mut floats, mut integers) = (Vec::new(), Vec::new());
        let known = elements::for_each(data_type, count, bytes, &mut |element| match element {
            Element::Float(value) => floats.push(value),
            Element::Integer(value) => integers.push(value),
        });
        known.then(|| {
            if storage_type(data_type).is_float() {
                Self::Floats(floats)
            } else {
                Self::Integers(integers)
            }
        })
    }

    /// Every so-many-th of them.
    fn every(self, stride: usize) -> Self {
        match self {
            Self::Floats(all) => Self::Floats(all.into_iter().step_by(stride).collect()),
            Self::Integers(all) => Self::Integers(all.into_iter().step_by(stride).collect()),
        }
    }
}

/// How far floating-point numbers may be from recorded ones.
struct FloatLimit {
    rtol: f64,
    atol: f64,
    rule: String,
}

impl FloatLimit {
    fn new(rule: Rule, want: &[f64], meta: &OutputMeta) -> Result<Self, String> {
        Ok(match rule {
            Rule::Elementwise { rtol, atol } => Self {
                rtol,
                atol,
                rule: format!("{atol:e} + {rtol:e} * |recorded|"),
            },
            Rule::Recorded(Tolerance::Absolute { value }) => Self {
                rtol: 0.0,
                atol: value,
                rule: format!("{value:e}"),
            },
            Rule::Recorded(Tolerance::RelativeToMax { value, absolute }) => {
                let stated = meta.min.into_iter().chain(meta.max);
                let max = want
                    .iter()
                    .copied()
                    .chain(stated)
                    .map(f64::abs)
                    .filter(|v| v.is_finite())
                    .fold(0.0, f64::max);
                Self {
                    rtol: 0.0,
                    atol: value * max + absolute,
                    rule: format!("{value:e} * {max} (the largest recorded) + {absolute:e}"),
                }
            }
            Rule::Recorded(Tolerance::Lsb { .. }) => {
                return Err(
                    "meta.json gives its tolerance in steps of integers (lsb), and its elements \
                     are floating-point numbers"
                        .to_owned(),
                );
            }
            Rule::Recorded(Tolerance::Detections { .. }) => {
                return Err("detections are compared all together".to_owned());
            }
        })
    }
}

fn compare_floats<'a>(
    got: &[f64],
    want: &[f64],
    limit: &FloatLimit,
    place: impl Fn(usize) -> Place<'a>,
) -> Result<Largest, String> {
    let mut worst = Worst::default();
    let mut largest: f64 = 0.0;
    for (index, (&got, &want)) in got.iter().zip(want).enumerate() {
        let difference = difference(got, want);
        largest = largest.max(difference);
        // An infinite difference is beyond any limit, also beyond that of an infinite element.
        if difference > 0.0
            && (difference.is_infinite() || difference > limit.atol + limit.rtol * want.abs())
        {
            worst.add(index, difference);
        }
    }
    worst.error(got.len(), &limit.rule, |index| {
        format!(
            "at {}: {} instead of {}",
            place(index),
            got[index],
            want[index]
        )
    })?;
    Ok(Largest(largest))
}

/// How far apart two numbers are; equal infinities and NaN are not.
pub fn difference(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let difference = (got - want).abs();
    if difference.is_nan() {
        f64::INFINITY
    } else {
        difference
    }
}

fn compare_integers<'a>(
    got: &[i128],
    want: &[i128],
    limit: u32,
    place: impl Fn(usize) -> Place<'a>,
) -> Result<Largest, String> {
    let mut worst = Worst::default();
    let mut largest = 0;
    for (index, (&got, &want)) in got.iter().zip(want).enumerate() {
        let difference = got.abs_diff(want);
        largest = largest.max(difference);
        if difference > u128::from(limit) {
            worst.add(index, difference as f64);
        }
    }
    worst.error(got.len(), &limit.to_string(), |index| {
        format!(
            "at {}: {} instead of {}",
            place(index),
            got[index],
            want[index]
        )
    })?;
    Ok(Largest(largest as f64))
}

fn expect_same_argmax<'a>(
    got: &[i128],
    want: &[i128],
    steps: usize,
    place: impl Fn(usize) -> Place<'a>,
) -> Result<(), String> {
    let len = (got.len() / steps.max(1)).max(1);
    for (step, (got, want)) in got.chunks(len).zip(want.chunks(len)).enumerate() {
        let largest = |values: &[i128]| {
            let max = values.iter().max()?;
            values.iter().position(|value| value == max)
        };
        let (Some(of_got), Some(of_want)) = (largest(got), largest(want)) else {
            continue;
        };
        // Where several are the largest, each of them counts.
        if got[of_got] != got[of_want] {
            return Err(format!(
                "its largest element is at {} ({}), recorded is {}, which is {} here",
                place(step * len + of_got),
                got[of_got],
                place(step * len + of_want),
                got[of_want]
            ));
        }
    }
    Ok(())
}

/// The elements that are too far away.
#[derive(Default)]
struct Worst {
    count: usize,
    /// Index and difference.
    worst: Option<(usize, f64)>,
}

impl Worst {
    fn add(&mut self, index: usize, difference: f64) {
        self.count += 1;
        if self.worst.is_none_or(|(_, other)| difference > other) {
            self.worst = Some((index, difference));
        }
    }

    fn error(
        &self,
        of: usize,
        limit: &str,
        describe: impl FnOnce(usize) -> String,
    ) -> Result<(), String> {
        let Some((index, difference)) = self.worst else {
            return Ok(());
        };
        Err(format!(
            "{} of {of} elements differ by more than {limit}; the most by {difference}, {}",
            self.count,
            describe(index)
        ))
    }
}

/// A place in an output.
struct Place<'a> {
    flat: usize,
    dims: &'a [u64],
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.flat as u64;
        let mut index = Vec::new();
        for &dim in self.dims.iter().rev() {
            let dim = dim.max(1);
            index.push(rest % dim);
            rest /= dim;
        }
        index.reverse();
        write!(f, "{index:?}")
    }
}

#[cfg(test)]
mod tests;
