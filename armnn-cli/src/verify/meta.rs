//! What a `meta.json` beside a model says about its recorded values.

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path};

use anyhow::{Context as _, bail};
use serde::Deserialize;

/// The largest `meta.json` that is read.
const MAX_BYTES: u64 = 16 << 20;

/// What is said about recorded values. What else is in the file is for people.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Meta {
    /// How many steps are executed on one state; above 1, every recorded array has a first axis
    /// that counts them.
    pub steps: Option<NonZeroUsize>,
    /// How state gets from one step to the next.
    #[serde(default)]
    state_chaining: Option<StateChaining>,
    /// How outputs are compared.
    pub tolerance: Option<Tolerance>,
    /// The outputs, in the model's order.
    #[serde(default)]
    pub outputs: Vec<OutputMeta>,
}

/// How state gets from one step to the next.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum StateChaining {
    /// An output becomes an input: by name.
    Feedback(BTreeMap<String, String>),
    /// Within the model.
    Within(String),
}

/// What is said about an output.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct OutputMeta {
    /// Its shape, with that of the steps.
    pub shape: Option<Vec<u64>>,
    /// Only every so-many-th element is recorded, as a flat array.
    pub stride: Option<NonZeroUsize>,
    /// The smallest number in it, recorded or not.
    pub min: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

/// How outputs are compared with recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tolerance {
    /// `|got - want| <= value * max|want| + absolute`, over all of an output.
    RelativeToMax {
        /// By how much of the largest magnitude.
        value: f64,
        /// By how much besides.
        #[serde(default)]
        absolute: f64,
    },
    /// `|got - want| <= value`.
    Absolute {
        /// By how much.
        value: f64,
    },
    /// Integers, quantized ones as they are stored, differ by at most `value`.
    Lsb {
        /// By how much.
        value: u32,
        /// The largest element is at the same place, in each step.
        #[serde(default)]
        same_argmax: bool,
    },
    /// Boxes, classes, scores and their number, as TFLite's detection post-processing writes them:
    /// what is found with at least `min_score` is found on both sides.
    Detections {
        /// From which score on.
        min_score: f64,
        /// The least intersection over union of two boxes of one thing.
        iou: f64,
        /// The largest difference of two scores of one thing.
        score: f64,
    },
}

impl Meta {
    /// Reads the file; there may be none.
    ///
    /// # Errors
    /// When there is one, and it cannot be read or understood.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let size = match std::fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(e).with_context(|| format!("cannot read '{}'", path.display())),
        };
        if size > MAX_BYTES {
            bail!(
                "'{}' has {size} bytes: no meta.json is that large",
                path.display()
            );
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read '{}'", path.display()))?;
        let meta: Self = serde_json::from_str(&text)
            .with_context(|| format!("'{}' cannot be understood", path.display()))?;
        if let Some(StateChaining::Within(how)) = &meta.state_chaining
            && how != "internal variables"
        {
            bail!(
                "'{}': the state_chaining \"{how}\" is unknown; known are \"internal variables\" \
                 and an object {{output: input}}",
                path.display()
            );
        }
        Ok(meta)
    }

    /// Which output becomes which input, by name.
    pub fn feedback(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = match &self.state_chaining {
            Some(StateChaining::Feedback(pairs)) => Some(pairs),
            _ => None,
        };
        pairs
            .into_iter()
            .flatten()
            .map(|(output, input)| (output.as_str(), input.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Meta> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Meta::read(file.path())
    }

    #[test]
    fn every_kind_of_tolerance_is_understood() {
        for (text, expected) in [
            (
                r#"{"kind": "relative_to_max", "value": 0.001, "absolute": 1e-5}"#,
                Tolerance::RelativeToMax {
                    value: 0.001,
                    absolute: 1e-5,
                },
            ),
            (
                r#"{"kind": "absolute", "value": 0.002}"#,
                Tolerance::Absolute { value: 0.002 },
            ),
            (
                r#"{"kind": "lsb", "value": 2, "same_argmax": true}"#,
                Tolerance::Lsb {
                    value: 2,
                    same_argmax: true,
                },
            ),
            (
                r#"{"kind": "lsb", "value": 0}"#,
                Tolerance::Lsb {
                    value: 0,
                    same_argmax: false,
                },
            ),
            (
                r#"{"kind": "detections", "min_score": 0.5, "iou": 0.9, "score": 0.03}"#,
                Tolerance::Detections {
                    min_score: 0.5,
                    iou: 0.9,
                    score: 0.03,
                },
            ),
        ] {
            let meta = read(&format!(r#"{{"engine": "other", "tolerance": {text}}}"#)).unwrap();
            assert_eq!(meta.tolerance, Some(expected));
        }
    }

    #[test]
    fn what_is_not_understood_is_an_error_and_not_left_out() {
        for text in [
            r#"{"tolerance": {"kind": "relative", "value": 1}}"#,
            r#"{"tolerance": {"kind": "absolute", "value": 1, "except": 2}}"#,
            r#"{"steps": 0}"#,
            r#"{"state_chaining": "by hand"}"#,
            "{",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let none = Meta::read(Path::new("no/such/meta.json")).unwrap();
        assert_eq!(none.tolerance, None);
    }

    #[test]
    fn feedback_is_named_by_output_and_input() {
        let meta = read(r#"{"steps": 40, "state_chaining": {"stateN": "state"}}"#).unwrap();
        assert_eq!(meta.feedback().collect::<Vec<_>>(), [("stateN", "state")]);
        let meta = read(r#"{"state_chaining": "internal variables"}"#).unwrap();
        assert_eq!(meta.feedback().count(), 0);
    }
}
