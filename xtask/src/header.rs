//! `cargo xtask header`: the C header of the backend interface, made from its Rust declarations.

#[cfg(feature = "header")]
mod generate;

/// Writes `armnn-backend-api/include/armnn_backend.h`, or with `check` compares it with what would
/// be written.
///
/// # Errors
/// When a file cannot be read or written, a declaration is not understood, or the comparison
/// finds a difference.
#[cfg(feature = "header")]
pub fn run(check: bool) -> anyhow::Result<()> {
    use anyhow::{Context as _, bail};

    let api = repository().join("armnn-backend-api");
    let path = api.join("include/armnn_backend.h");
    let header = generate::header(&api)?;
    if !check {
        return std::fs::write(&path, header)
            .with_context(|| format!("writing the C header {}", path.display()));
    }
    let present = std::fs::read_to_string(&path)
        .with_context(|| format!("reading the C header {}", path.display()))?;
    if let Some(difference) = first_difference(&present, &header) {
        bail!(
            "{} does not match armnn-backend-api/src/sys ({difference}).\n\
             Run `cargo xtask header`. If declarations changed since the last release of the \
             interface, raise ARMNN_API_MINOR and append the new layout hash as well.",
            path.display()
        );
    }
    Ok(())
}

/// The same, through a build of this program that contains cbindgen.
///
/// # Errors
/// When that fails.
#[cfg(not(feature = "header"))]
pub fn run(check: bool) -> anyhow::Result<()> {
    use anyhow::{Context as _, ensure};

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .current_dir(repository())
        .args([
            "run",
            "--quiet",
            "--package",
            "xtask",
            "--features",
            "header",
            "--",
            "header",
        ])
        .args(check.then_some("--check"))
        .status()
        .context("starting cargo to build xtask with the feature `header`")?;
    ensure!(
        status.success(),
        "`cargo xtask header` failed; its message is above"
    );
    Ok(())
}

fn repository() -> std::path::PathBuf {
    crate::workspace::root().to_owned()
}

#[cfg(feature = "header")]
fn first_difference(present: &str, expected: &str) -> Option<String> {
    if present == expected {
        return None;
    }
    let (mut a, mut b) = (present.lines(), expected.lines());
    let mut line = 1;
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Some("they differ in line endings".to_owned()),
            (x, y) if x == y => line += 1,
            (x, y) => {
                return Some(format!(
                    "line {line} is {:?}, not {:?}",
                    x.unwrap_or("missing"),
                    y.unwrap_or("missing")
                ));
            }
        }
    }
}
