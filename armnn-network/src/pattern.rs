//! Regular expressions.

use regex_lite::Regex;

/// A regular expression that is matched with whole strings, in time linear in their length.
///
/// The syntax is that of RE2 as far as the crate `regex-lite` has it: `\d`, `\w` and `\s` are of
/// ASCII in both; classes of Unicode (`\pL`) are refused.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

impl Pattern {
    /// Reads a regular expression.
    ///
    /// # Errors
    /// What is wrong with it, or not supported.
    pub fn new(text: &str) -> Result<Self, String> {
        // On its own first: what is around it would complete parentheses that do not match.
        Regex::new(text).map_err(|error| error.to_string())?;
        let whole = format!(r"\A(?:{text})\z");
        let regex = Regex::new(&whole).map_err(|error| error.to_string())?;
        Ok(Self {
            text: text.to_owned(),
            regex,
        })
    }

    /// The text of the expression.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole of a string matches.
    pub fn matches(&self, string: &str) -> bool {
        self.regex.is_match(string)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_string_must_match_whichever_alternative_stands_first() {
        let pattern = Pattern::new("a|ab").unwrap();
        assert!(pattern.matches("ab"));
        assert!(!pattern.matches("abc"));
        assert!(!pattern.matches("ab\n"));
        assert!(Pattern::new("").unwrap().matches(""));
        assert!(Pattern::new(r"a)(b").is_err());
        assert!(Pattern::new(r"\pL").is_err());
    }
}
