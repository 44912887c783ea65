//! What of a model cannot become a network, gathered so that one error names all of it.

use std::fmt;

/// Everything in a model that is not supported.
///
/// `O` is what a format calls an operator that is not supported, and `P` a place in a model of it;
/// the text of a place ends so that a reason can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals<O, P> {
    /// Operators that are not supported at all, each type and version once, in the order of their
    /// first use.
    pub operators: Vec<O>,
    /// Uses of supported operators, and tensors, that are not supported; the first
    /// [`MOST_USES`](Self::MOST_USES).
    pub uses: Vec<UnsupportedUse<P>>,
    /// How many more uses there are.
    pub more_uses: usize,
}

/// Something about an operator or a tensor that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedUse<P> {
    /// Where in the model.
    pub place: P,
    /// What it is.
    pub reason: String,
}

impl<O, P> Refusals<O, P> {
    /// How many unsupported uses are kept.
    pub const MOST_USES: usize = 100;

    /// Whether everything is supported.
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty() && self.uses.is_empty()
    }

    /// How many operator types and uses have been refused.
    pub fn count(&self) -> usize {
        let kept = self.operators.len().saturating_add(self.uses.len());
        kept.saturating_add(self.more_uses)
    }

    /// Adds a use; beyond the first [`MOST_USES`](Self::MOST_USES) it is counted only.
    pub fn refuse_use(&mut self, place: impl FnOnce() -> P, reason: String) {
        if self.uses.len() < Self::MOST_USES {
            let place = place();
            self.uses.push(UnsupportedUse { place, reason });
        } else {
            self.more_uses = self.more_uses.saturating_add(1);
        }
    }
}

impl<O, P> Default for Refusals<O, P> {
    fn default() -> Self {
        Self {
            operators: Vec::new(),
            uses: Vec::new(),
            more_uses: 0,
        }
    }
}

impl<O: fmt::Display, P: fmt::Display> fmt::Display for Refusals<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.operators.is_empty() {
            f.write_str("operators that are not supported: ")?;
        }
        for (index, operator) in self.operators.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{operator}")?;
        }
        if self.uses.is_empty() {
            return Ok(());
        }
        let separator = if self.operators.is_empty() { "" } else { "; " };
        write!(f, "{separator}uses that are not supported: ")?;
        for (index, unsupported) in self.uses.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}{}", unsupported.place, unsupported.reason)?;
        }
        match self.more_uses {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// A name from a file, fit for a message: without control characters, and with a `…` behind the
/// first 120 characters of a longer one.
#[derive(Debug, Clone, Copy)]
pub struct ShownName<'a>(pub &'a str);

impl fmt::Display for ShownName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 120;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(LONGEST) {
            write!(f, "{}", character.escape_debug())?;
        }
        match characters.next() {
            Some(_) => f.write_str("…"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Text = Refusals<&'static str, &'static str>;

    #[test]
    fn operators_come_before_uses_and_what_is_beyond_the_hundredth_is_counted() {
        let mut refusals = Text::default();
        assert!(refusals.is_empty());
        refusals.operators = vec!["FOO (once)", "BAR (twice)"];
        assert_eq!(
            refusals.to_string(),
            "operators that are not supported: FOO (once), BAR (twice)"
        );
        for _ in 0..102 {
            refusals.refuse_use(|| "node 1: ", "no".to_owned());
        }
        assert_eq!((refusals.uses.len(), refusals.more_uses), (100, 2));
        assert_eq!(refusals.count(), 104);
        let text = refusals.to_string();
        let uses = "BAR (twice); uses that are not supported: node 1: no; node 1: no; ";
        assert!(text.contains(uses), "{text}");
        assert!(text.ends_with("node 1: no; and 2 more"), "{text}");
    }

    #[test]
    fn an_endless_name_is_cut_and_what_does_not_print_is_escaped() {
        assert_eq!(
            ShownName(&"é".repeat(121)).to_string(),
            format!("{}…", "é".repeat(120))
        );
        assert_eq!(ShownName(&"é".repeat(120)).to_string(), "é".repeat(120));
        assert_eq!(ShownName("a\nb\u{1b}").to_string(), "a\\nb\\u{1b}");
    }
}
