//! Writing for people: standard output, colours, errors.

use std::{
    fmt,
    io::{self, ErrorKind, IsTerminal as _, Write as _},
};

use anyhow::Context as _;

/// Writes a result to standard output. That the reader does not want to see all of it is no error.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.context("cannot write to standard output"),
    }
}

/// Writes a value to standard output as one JSON document.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text =
        serde_json::to_string_pretty(value).context("cannot write the result as JSON")?;
    text.push('\n');
    print(&text)
}

/// Writes an error to standard error, with its causes as far as it does not name them itself.
pub fn print_error(error: &anyhow::Error) {
    let style = Style::of(io::stderr().is_terminal());
    let mut text = format!("{} {error}\n", style.bad("error:"));
    for cause in untold_causes(error) {
        text.push_str(&format!("  because: {cause}\n"));
    }
    // There is nobody left to tell if this fails.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// An error with its causes in one line.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in untold_causes(error) {
        text.push_str(": ");
        text.push_str(&cause);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// The causes of an error that are not told by what is above them.
fn untold_causes(error: &anyhow::Error) -> Vec<String> {
    let mut told = error.to_string();
    let mut causes = Vec::new();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !told.contains(&cause) {
            told.push_str(&cause);
            causes.push(cause);
        }
    }
    causes
}

/// Text from a file, for a terminal: control characters, of which names may have any, are escaped.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// It is not.
    Plain,
    /// With escape sequences for a terminal.
    Coloured,
}

impl Style {
    /// Coloured when standard output is a terminal and the environment does not set `NO_COLOR`.
    pub fn of_stdout() -> Self {
        Self::of(io::stdout().is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        if is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// A heading.
    pub fn heading(self, text: impl fmt::Display) -> String {
        self.with("1", text)
    }

    /// Something that is as it should be.
    pub fn good(self, text: impl fmt::Display) -> String {
        self.with("32", text)
    }

    /// Something to look at.
    pub fn notable(self, text: impl fmt::Display) -> String {
        self.with("33", text)
    }

    /// Something that is wrong.
    pub fn bad(self, text: impl fmt::Display) -> String {
        self.with("31;1", text)
    }

    /// Something of less weight.
    pub fn faint(self, text: impl fmt::Display) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: impl fmt::Display) -> String {
        match self {
            Self::Plain => text.to_string(),
            Self::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// A number with about five digits that count.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (value.fract() == 0.0 && magnitude < 1e9) {
        format!("{value}")
    } else if (1e-3..1e5).contains(&magnitude) {
        let decimals = 4 - (magnitude.log10().floor() as i32).min(3);
        format!("{value:.*}", decimals.unsigned_abs() as usize)
    } else {
        format!("{value:.4e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (255.0, "255"),
            (0.920_9, "0.92090"),
            (-127.512_34, "-127.51"),
            (12_345.678, "12345.7"),
            (0.000_012_345_6, "1.2346e-5"),
            (1.5e20, "1.5000e20"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
