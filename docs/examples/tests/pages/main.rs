//! What the pages say is so.

mod generated;
mod onnx;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use armnn_network::NetworkBuilder;
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, OptimizerOptions, Runtime, TensorInfo,
    loader::{Code, Status, UnloadOutcome},
};
use clap::CommandFactory as _;

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn page(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The only block of a page in a language.
fn block(page: &str, language: &str) -> String {
    let start = format!("```{language}\n");
    let mut blocks = page.split(&start).skip(1);
    let text = blocks.next().unwrap().split("\n```").next().unwrap();
    assert!(blocks.next().is_none(), "several blocks of {language}");
    text.to_owned()
}

fn compiler() -> Command {
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC"])
        .arg("-I")
        .arg(root().join("armnn-backend-api/include"));
    compiler
}

#[cfg(target_os = "linux")]
#[test]
fn the_backend_in_c_from_scratch_builds_without_warnings_loads_adds_and_goes() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("acme_dsp.c");
    fs::write(&source, block(&page("docs/backends-from-scratch.md"), "c")).unwrap();
    let built = compiler()
        .args(["-O2", "-shared", "-fvisibility=hidden", "-Wl,-z,defs"])
        .arg(&source)
        .arg("-o")
        .arg(directory.path().join("Acme_AcmeDsp_backend.so"))
        .status()
        .unwrap();
    assert!(built.success());

    let options = CreationOptions::new().dynamic_backends_path(directory.path());
    let runtime = Runtime::create(options).unwrap();
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [2]);
    let x = builder.add_input_layer("x", info.clone()).unwrap();
    let y = builder.add_input_layer("y", info).unwrap();
    let sum = builder.add_addition_layer(x, y, "sum").unwrap();
    builder.add_output_layer("sum", sum).unwrap();
    let network = builder.finish().unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    let x = HostTensor::from_f32([2], &[1.0, 2.0]).unwrap();
    let y = HostTensor::from_f32([2], &[0.5, -2.0]).unwrap();
    let outputs = loaded.run(&[x, y]).unwrap();
    assert_eq!(outputs[0].elements::<f32>(), Some(&[1.5, 0.0][..]));
    drop(loaded);
    let unloaded = runtime.shutdown().unwrap();
    assert_eq!(unloaded[0].id, *"AcmeDsp");
    assert_eq!(unloaded[0].outcome, UnloadOutcome::Unmapped);
}

#[test]
fn the_sketch_in_c_of_the_readme_compiles() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("sketch.c");
    fs::write(&source, block(&page("README.md"), "c")).unwrap();
    let object = directory.path().join("sketch.o");
    let built = compiler()
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(object)
        .status();
    assert!(built.unwrap().success());
}

#[test]
fn the_table_of_verdicts_has_every_code_once_and_every_status() {
    let page = page("docs/troubleshooting.md");
    let table = page.split("## Verdicts").nth(1).unwrap();
    let listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), codes);
    assert_eq!(listed.len(), codes.len());
    let text = table.replace('\n', " ");
    for status in Status::ALL {
        assert!(text.contains(&format!("`{status}`: ")), "{status}");
    }
}

#[test]
fn the_page_on_the_command_has_every_option_in_its_section_and_no_other() {
    let page = page("docs/command.md");
    let command = armnn_cli::args::Cli::command();
    let backends = command.find_subcommand("backends").unwrap();
    let intro = page.split("\n## ").next().unwrap();
    for (title, of) in [
        (
            "`armnn execute-network`",
            command.find_subcommand("execute-network"),
        ),
        ("`armnn verify", command.find_subcommand("verify")),
        ("`armnn backends list`", backends.find_subcommand("list")),
        (
            "`armnn backends inspect",
            backends.find_subcommand("inspect"),
        ),
    ] {
        let section = page
            .split("\n## ")
            .find(|section| section.starts_with(title))
            .unwrap();
        let mut known = BTreeSet::new();
        for argument in of.unwrap().get_arguments() {
            let Some(long) = argument.get_long() else {
                continue;
            };
            if argument.is_hide_set() {
                continue;
            }
            let option = match argument.get_short() {
                Some(short) => format!("`-{short}, --{long}"),
                None => format!("`--{long}"),
            };
            assert!(
                section.contains(&format!("| {option}")),
                "{title}: {option}"
            );
            known.insert(option);
        }
        for row in section.lines().filter(|line| line.starts_with("| `-")) {
            assert!(
                known.iter().any(|option| row.contains(option.as_str())),
                "{title} has no {row}"
            );
        }
    }
    assert!(intro.contains("`-v, --verbose`"));
    let levels: Vec<_> = command.get_subcommands().map(|c| c.get_name()).collect();
    assert_eq!(
        levels,
        ["execute-network", "verify", "backends"],
        "describe it"
    );
}

#[test]
fn links_between_pages_lead_to_files_and_headings_that_are_there() {
    let root = root();
    let mut pages = vec![
        root.join("README.md"),
        root.join("ARCHITECTURE.md"),
        root.join("CONTRIBUTING.md"),
        root.join("CHANGELOG.md"),
        root.join("demo/README.md"),
    ];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "md") {
            pages.push(path);
        }
    }
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("https://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                _ => page.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: {link}", page.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let found = text.lines().any(|line| anchor(line) == heading);
                assert!(found, "{}: {link}", page.display());
            }
        }
    }
}

/// The name by which a heading is linked to.
fn anchor(line: &str) -> String {
    line.trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| {
            if c == ' ' {
                '-'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}
