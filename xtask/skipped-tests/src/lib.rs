//! Tests that cannot run on this machine say so here.
//!
//! To the test harness a test that returns early has passed, and what it prints is hidden. So
//! [`skip`] also appends a line to the file that the environment names in [`VARIABLE`], and whoever
//! started the tests counts and names them with [`read`].

use std::{collections::BTreeSet, env, fmt::Display, fs, io, io::Write as _, path::Path};

/// The variable of the environment that names the file.
pub const VARIABLE: &str = "ARMNN_SKIPPED_TESTS";

/// A test that was skipped, or of which a part was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Why, in words.
    pub reason: String,
    /// The test program: the name of the file in `tests`, or of the crate.
    pub program: String,
    /// The test's function.
    pub test: String,
}

/// Says that the test that calls this, or the part of it that would follow, is skipped.
///
/// # Panics
/// When the environment names a file that cannot be written: then a skipped test would go unnoticed.
pub fn skip(reason: impl Display) {
    let reason = reason.to_string();
    eprintln!("skipped: {reason}");
    let Some(path) = env::var_os(VARIABLE) else {
        return;
    };
    let skipped = Skipped {
        reason,
        program: program(),
        // The harness names the thread of each test after it.
        test: std::thread::current().name().unwrap_or("?").to_owned(),
    };
    append(Path::new(&path), &skipped)
        .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}

/// The tests that were skipped, by reason, each once. None where there is no such file.
///
/// # Errors
/// When the file cannot be read, or something else wrote to it.
pub fn read(path: &Path) -> io::Result<BTreeSet<Skipped>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        text => text?,
    };
    let parse = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(program), Some(test), Some(reason), None) => Ok(Skipped {
                reason,
                program,
                test,
            }),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, line)),
        }
    };
    text.lines().map(parse).collect()
}

/// What [`read`] found, for people: how many tests, and for each reason their names.
pub fn summary(skipped: &BTreeSet<Skipped>) -> String {
    let count = skipped.len();
    if count == 0 {
        return "no test was skipped\n".to_owned();
    }
    let plural = if count == 1 { "test was" } else { "tests were" };
    let mut text = format!("{count} {plural} skipped, in whole or in part:\n");
    let mut reason = None;
    for test in skipped {
        if reason.replace(&test.reason) != Some(&test.reason) {
            text += &format!("  {}:\n", test.reason);
        }
        text += &format!("    {}::{}\n", test.program, test.test);
    }
    text
}

/// As one line, written at once, so that programs that run at the same time do not mix theirs.
fn append(path: &Path, skipped: &Skipped) -> io::Result<()> {
    let field = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    let line = format!(
        "{}\t{}\t{}\n",
        field(&skipped.program),
        field(&skipped.test),
        field(&skipped.reason)
    );
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?;
    file.write_all(line.as_bytes())
}

/// The name of this program, without the fingerprint that cargo appends.
fn program() -> String {
    let path = env::current_exe().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('-') {
        Some((name, _)) => name.to_owned(),
        None => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(test: &str, reason: &str) -> Skipped {
        Skipped {
            reason: reason.to_owned(),
            program: "program".to_owned(),
            test: test.to_owned(),
        }
    }

    #[test]
    fn what_was_appended_is_read_counted_and_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skipped");
        assert_eq!(summary(&read(&path).unwrap()), "no test was skipped\n");
        for test in [
            skipped("b", "no compiler"),
            skipped("c", "no data\tin\n/x"),
            skipped("a", "no compiler"),
            skipped("a", "no compiler"),
        ] {
            append(&path, &test).unwrap();
        }
        let expected = "3 tests were skipped, in whole or in part:\n  no compiler:\n    \
                        program::a\n    program::b\n  no data in /x:\n    program::c\n";
        assert_eq!(summary(&read(&path).unwrap()), expected);
        fs::write(&path, "something else").unwrap();
        assert!(read(&path).is_err());
    }

    #[test]
    fn a_test_knows_its_program() {
        assert_eq!(program(), "skipped_tests");
    }
}
