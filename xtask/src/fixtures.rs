//! `cargo xtask fixtures`: builds the backends that tests load, each into a directory of its own,
//! never beside real backends.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    stage,
    workspace::{self, empty_directory, root, target},
};

/// Fixtures in Rust: case, crate, its features, name of the backend.
const RUST: &[(&str, &str, &[&str], &str)] = &[
    (
        "accelerator_twin",
        "fixture-accelerator-dynamic",
        &[],
        "FixtureAcceleratorTwin",
    ),
    (
        "cpu_ref_twin",
        "fixture-cpu-ref-twin-dynamic",
        &[],
        "CpuRefTwin",
    ),
    (
        "layout_check",
        "fixture-layout-check-dynamic",
        &["layout-check"],
        "SampleDynamic",
    ),
    (
        "layout_differing",
        "fixture-layout-differing-dynamic",
        &["layout-check"],
        "SampleDynamic",
    ),
    (
        "panicking",
        "fixture-panicking-dynamic",
        &[],
        "FixturePanicking",
    ),
    (
        "panicking_factory",
        "fixture-panicking-factory-dynamic",
        &[],
        "FixturePanickingFactory",
    ),
];

/// Stages every fixture into `target/staging/fixtures/<case>`; returns that directory.
///
/// Those with a type layout, which take many crates to build, only if `full`.
pub fn run(full: bool) -> Result<PathBuf> {
    let directory = target().join("staging/fixtures");
    empty_directory(&directory)?;
    for &(case, package, features, name) in RUST {
        if !full && !features.is_empty() {
            continue;
        }
        let library = stage::build_with(package, features)?;
        let to = directory.join(case);
        std::fs::create_dir_all(&to)?;
        let file = to.join(format!("Arm_{name}_backend.so"));
        std::fs::copy(&library, &file)
            .with_context(|| format!("cannot copy {}", library.display()))?;
    }
    let sources = root().join("backends/fixtures/c");
    let mut accelerator: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&sources)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with("accelerator") && name.ends_with(".c") {
            accelerator.push(path);
        }
    }
    accelerator.sort();
    let mut cases = vec![
        Case {
            name: "accelerator".to_owned(),
            backend: "FixtureAccelerator".to_owned(),
            sources: accelerator,
            arguments: vec!["-pthread".into()],
        },
        Case {
            name: "minimal".to_owned(),
            backend: "FixtureMinimal".to_owned(),
            sources: vec![sources.join("minimal.c")],
            arguments: Vec::new(),
        },
    ];
    cases.extend(older_minors(&sources.join("minimal.c"))?);
    cases.extend(faulty_cases(&sources)?);
    compile_all(&directory, &cases)?;
    println!("staged fixtures in {}", directory.display());
    Ok(directory)
}

/// The smallest backend against the frozen header of each older minor, in
/// `backends/fixtures/headers/<major>.<minor>`, as the case `minimal_<major>_<minor>` with the id
/// `FixtureMinimal<major>v<minor>`.
fn older_minors(source: &Path) -> Result<Vec<Case>> {
    let headers = root().join("backends/fixtures/headers");
    let entries = std::fs::read_dir(&headers)
        .with_context(|| format!("cannot read {}", headers.display()))?;
    let case = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry?;
        let folder = entry.file_name().to_string_lossy().into_owned();
        let Some((major, minor)) = folder.split_once('.') else {
            bail!("{}: not <major>.<minor>", entry.path().display());
        };
        let backend = format!("FixtureMinimal{major}v{minor}");
        Ok(Case {
            name: format!("minimal_{major}_{minor}"),
            arguments: vec![
                "-I".into(),
                entry.path().into_os_string(),
                format!("-DMINIMAL_ID=\"{backend}\"").into(),
            ],
            backend,
            sources: vec![source.to_owned()],
        })
    };
    entries.map(case).collect()
}

/// A fixture in C.
struct Case {
    /// The directory that it is staged in.
    name: String,
    /// The name of the backend.
    backend: String,
    sources: Vec<PathBuf>,
    /// For the compiler. `@absent` stands for a library that is linked against and then deleted.
    arguments: Vec<OsString>,
}

/// Reads `cases.txt`: name, status and code of the verdict, arguments for the compiler.
fn faulty_cases(sources: &Path) -> Result<Vec<Case>> {
    let path = sources.join("cases.txt");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let (Some(name), Some(_), Some(_)) = (words.next(), words.next(), words.next()) else {
                bail!("{}: not a case: {line}", path.display());
            };
            Ok(Case {
                name: name.to_owned(),
                backend: "FixtureFaulty".to_owned(),
                sources: vec![sources.join("faulty.c")],
                arguments: words.map(OsString::from).collect(),
            })
        })
        .collect()
}

/// Compiles fixtures, as many at a time as there are processors.
fn compile_all(directory: &Path, cases: &[Case]) -> Result<()> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let compile_some = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            compile(directory, case).with_context(|| format!("fixture {}", case.name))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors.min(cases.len()))
            .map(|_| scope.spawn(compile_some))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// Compiles a fixture.
fn compile(directory: &Path, case: &Case) -> Result<()> {
    let to = directory.join(&case.name);
    std::fs::create_dir_all(&to)?;
    let mut command = compiler();
    command.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC"]);
    command
        .arg("-fvisibility=hidden")
        .arg("-o")
        .arg(to.join(format!("Arm_{}_backend.so", case.backend)))
        .args(&case.sources);
    let absent = to.join("libarmnn_fixture_absent.so");
    for argument in &case.arguments {
        if argument == "@absent" {
            let source = to.join("absent.c");
            std::fs::write(&source, "void armnn_fixture_absent(void) {}\n")?;
            let mut library = compiler();
            library.args([
                "-shared",
                "-fPIC",
                "-Wl,-soname,libarmnn_fixture_absent.so",
                "-o",
            ]);
            workspace::run(library.arg(&absent).arg(&source))?;
            std::fs::remove_file(source)?;
            command.arg(&absent);
        } else {
            command.arg(argument);
        }
    }
    // Behind the case's own arguments, so that a header of an older minor among them is preferred.
    command
        .arg("-I")
        .arg(root().join("armnn-backend-api/include"));
    workspace::run(&mut command)?;
    if absent.exists() {
        std::fs::remove_file(absent)?;
    }
    Ok(())
}

fn compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}
