//! Patterns that choose layers.

use std::{fmt, str::FromStr};

use armnn_backend_api::LayerType;
use armnn_network::Layer;

/// Chooses layers by name or by type. In text: a name with `*` (any characters) and `?` (any one
/// character), or `type:` and the name of a layer type, such as `type:Convolution2d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerPattern {
    /// Layers whose name matches.
    Name(String),
    /// Layers of a type.
    Type(LayerType),
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerPatternError {
    /// There is no such layer type.
    #[error("there is no layer type '{0}'; {known}", known = known_types(.0))]
    UnknownType(String),
    /// The text is empty.
    #[error("a layer pattern must not be empty; '*' matches every layer")]
    Empty,
}

/// The types whose names have something of the text in them; all, if there are none.
fn known_types(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let names = || LayerType::ALL.iter().filter_map(|t| t.name());
    let is_like = |name: &&str| {
        let name = name.to_ascii_lowercase();
        !text.is_empty() && (name.contains(&text) || text.contains(&name))
    };
    let like: Vec<_> = names().filter(is_like).collect();
    match like[..] {
        [] => format!("known are {}", names().collect::<Vec<_>>().join(", ")),
        _ => format!("did you mean {}?", like.join(", ")),
    }
}

impl LayerPattern {
    /// The name, if the pattern means the layer of one name.
    pub(super) fn exact_name(&self) -> Option<&str> {
        match self {
            Self::Name(pattern) if !pattern.contains(['*', '?']) => Some(pattern),
            _ => None,
        }
    }

    /// Whether a layer is meant.
    pub fn matches(&self, layer: &Layer) -> bool {
        match self {
            Self::Name(pattern) => matches_glob(pattern, &layer.name),
            Self::Type(layer_type) => layer.layer_type() == *layer_type,
        }
    }
}

impl FromStr for LayerPattern {
    type Err = LayerPatternError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        if s.is_empty() {
            return Err(LayerPatternError::Empty);
        }
        let Some(name) = s.strip_prefix("type:") else {
            return Ok(Self::Name(s.to_owned()));
        };
        LayerType::ALL
            .iter()
            .find(|t| t.name().is_some_and(|n| n.eq_ignore_ascii_case(name)))
            .map(|&t| Self::Type(t))
            .ok_or_else(|| LayerPatternError::UnknownType(name.to_owned()))
    }
}

impl fmt::Display for LayerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(pattern) => f.write_str(pattern),
            Self::Type(layer_type) => write!(f, "type:{layer_type}"),
        }
    }
}

/// Matches `*` and `?`. Where a star could take more or less, the last star is widened first; an
/// earlier one never needs to be, so the time is at most the product of both lengths.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((star_p, star_t)) = star {
            star = Some((star_p, star_t + 1));
            p = star_p + 1;
            t = star_t + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("conv*", "conv2d_1", true),
            ("conv?", "conv", false),
            ("*_1", "a_1_1", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxc", false),
            ("exact", "exactly", false),
            ("a.b", "axb", false),
            ("?", "ü", true),
        ] {
            assert_eq!(matches_glob(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn types_are_found_by_name() {
        assert_eq!(
            "type:convolution2D".parse(),
            Ok(LayerPattern::Type(LayerType::Convolution2d))
        );
        assert_eq!(
            "type:Conv".parse::<LayerPattern>(),
            Err(LayerPatternError::UnknownType("Conv".into()))
        );
        assert_eq!("".parse::<LayerPattern>(), Err(LayerPatternError::Empty));
    }
}
