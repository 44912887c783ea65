//! Pages that are made from the code.
//!
//! With `ARMNN_BLESS` in the environment, they are rewritten instead of compared; then read what
//! changed.

use std::{env, fmt::Write as _, fs};

use armnn_runtime::{BackendId, CreationOptions, DataType, Runtime, StaticBackend};

use super::onnx::onnx_page;
use super::{page, root};

/// What each line of a generated page stands below.
pub(super) const NOTE: &str = "<!-- Made from the code: ARMNN_BLESS=1 cargo test -p documentation-examples \
                    --test pages -->\n";

/// Files of the parsers whose functions make operations of the runtime, not layers of backends.
const OF_THE_RUNTIME: [&str; 7] = [
    "control_flow",
    "initializer",
    "ngrams",
    "random",
    "sequences",
    "strings",
    "variables",
];

/// A row of a parser's table: the operator, since which version it is, where it runs.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) since: String,
    pub(super) place: &'static str,
}

fn place(function: &str) -> &'static str {
    // Their subgraphs take their place.
    if function.contains("control_flow::call,") || function.contains("control_flow::composite") {
        return "backends";
    }
    let words = function.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    for word in words {
        if OF_THE_RUNTIME.contains(&word) {
            return "the runtime";
        }
    }
    "backends"
}

/// The text of a function, up to the next one at the same level.
fn body<'t>(text: &'t str, function: &str) -> &'t str {
    let start = text.find(function).unwrap_or_else(|| panic!("{function}"));
    text[start..].split("\n}\n").next().unwrap()
}

/// Rows of ONNX's table: `"Abs" => (1, 1..=1, function),`.
pub(super) fn onnx_rows(file: &str, function: &str) -> Vec<Row> {
    let text = page(&format!("parsers/armnn-onnx-parser/src/lowering/{file}"));
    let mut rows = Vec::new();
    for line in body(&text, function).lines() {
        let Some((name, row)) = line.trim().split_once("\" => (") else {
            continue;
        };
        let (since, function) = row.split_once(", ").unwrap();
        rows.push(Row {
            name: name.trim_start_matches('"').to_owned(),
            since: since.to_owned(),
            place: place(function),
        });
    }
    assert!(!rows.is_empty(), "{function}");
    rows
}

/// TFLite's table: `Op::Abs => (1..=1, function),`, with names as in `ABS`, but without `_`.
fn tflite_rows() -> Vec<Row> {
    let text = page("parsers/armnn-tflite-parser/src/lowering/operators.rs");
    body(&text, "fn lowering_of")
        .split(" Op::")
        .skip(1)
        .filter_map(|arm| {
            let (name, function) = arm.split_once(" => ")?;
            (name != "Custom").then(|| Row {
                name: name.to_uppercase(),
                since: String::new(),
                place: place(function),
            })
        })
        .collect()
}

/// Names of custom operators that TFLite's parser has.
fn tflite_custom() -> Vec<String> {
    let text = page("parsers/armnn-tflite-parser/src/lowering/operators.rs");
    body(&text, "fn custom(")
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix('"')?.split_once('"')?.0.to_owned()))
        .collect()
}

/// The builtin operators of the format, in the order of their numbers.
fn tflite_builtins() -> Vec<String> {
    let schema = page("parsers/armnn-tflite-parser/schema/tflite.fbs");
    let start = schema.find("enum BuiltinOperator").unwrap();
    let list = schema[start..].split_once('{').unwrap().1;
    let list = list.split('}').next().unwrap();
    list.lines()
        .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()))
        .filter(|name| !name.is_empty() && !name.starts_with('/'))
        .collect()
}

fn tflite_page() -> String {
    let (rows, custom) = (tflite_rows(), tflite_custom());
    let builtins = tflite_builtins();
    let mut text = format!(
        "# TFLite operators\n\n{NOTE}\nOf {} builtin operators, {} are read, and these custom ones: \
         {}. Options are honoured or refused, whatever the version of the operator, and a model with \
         others is refused with a list of them.\n\nWhere it runs: on backends, as one or several \
         layers; or in the runtime, to which control flow, variables and random numbers belong, while the bodies of control flow run on backends.\n\n| operator | runs on |\n|---|---|\n",
        // CUSTOM and PLACEHOLDER_FOR_GREATER_OP_CODES are none.
        builtins.len() - 2,
        rows.len(),
        custom.join(", "),
    );
    let mut n_read = 0;
    let mut missing = Vec::new();
    let mut sorted = builtins.clone();
    sorted.sort();
    for name in &sorted {
        let plain = name.replace('_', "");
        match rows.iter().find(|row| row.name == plain) {
            Some(row) => {
                n_read += 1;
                writeln!(text, "| {name} | {} |", row.place).unwrap();
            }
            None if ["CUSTOM", "PLACEHOLDER_FOR_GREATER_OP_CODES"].contains(&name.as_str()) => {}
            None => missing.push(name.as_str()),
        }
    }
    assert_eq!(n_read, rows.len(), "a row has no operator");
    let mut not_read = missing.clone();
    text.push_str("\n## Not read\n\n");
    for (names, reason) in REASONS {
        for name in *names {
            let at = not_read.iter().position(|missing| missing == name);
            not_read.remove(at.expect("an operator that is read has a reason why it is not"));
        }
        writeln!(text, "- {}: {reason}", names.join(", ")).unwrap();
    }
    assert!(not_read.is_empty(), "no reason is given for {not_read:?}");
    text
}

/// Why operators are not read.
const REASONS: &[(&[&str], &str)] = &[
    (
        &["CONCAT_EMBEDDINGS", "DELEGATE", "STABLEHLO_CUSTOM_CALL"],
        "no runtime has a meaning for them outside of the program that wrote them",
    ),
    (
        &[
            "HASHTABLE",
            "HASHTABLE_FIND",
            "HASHTABLE_IMPORT",
            "HASHTABLE_LOOKUP",
            "HASHTABLE_SIZE",
            "LSH_PROJECTION",
            "SKIP_GRAM",
        ],
        "of strings, tables of strings, or hashes of them",
    ),
];

/// Names for types that mostly go together.
const GROUPS: [(&str, &[DataType]); 4] = [
    (
        "floating-point",
        &[DataType::Float32, DataType::Float16, DataType::BFloat16],
    ),
    (
        "integers",
        &[
            DataType::Signed32,
            DataType::Signed64,
            DataType::Int8,
            DataType::Int16,
            DataType::UInt8,
            DataType::UInt16,
            DataType::UInt32,
            DataType::UInt64,
        ],
    ),
    (
        "quantized",
        &[
            DataType::QAsymmU8,
            DataType::QAsymmS8,
            DataType::QSymmS8,
            DataType::QSymmS16,
        ],
    ),
    (
        "Float8",
        &[
            DataType::Float8E4M3FN,
            DataType::Float8E4M3FNUZ,
            DataType::Float8E5M2,
            DataType::Float8E5M2FNUZ,
            DataType::Float8E8M0,
        ],
    ),
];

fn grouped(types: &[DataType]) -> String {
    let mut rest: Vec<DataType> = types.to_vec();
    let mut names = Vec::new();
    for (name, members) in GROUPS {
        if members.iter().all(|member| rest.contains(member)) {
            rest.retain(|left| !members.contains(left));
            names.push(name.to_owned());
        }
    }
    names.extend(rest.iter().map(ToString::to_string));
    match names.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

fn cpu_ref_page() -> String {
    let backend = StaticBackend::new::<cpu_ref::CpuRef>();
    let options = CreationOptions::new().static_backend(backend);
    let runtime = Runtime::create(options).unwrap();
    let id = BackendId::new("CpuRef").unwrap();
    let support = runtime.layer_support(&id).unwrap();
    assert!(!support.is_empty());
    let mut text = format!(
        "# What CpuRef computes\n\n{NOTE}\nWhat `Runtime::layer_support` tells of it: the types of a \
         layer's first input (of Quantize: of its output) with which `CpuRef` takes one plain layer \
         of each type; with 16 bits, weights have 8. Quantized numbers are computed with by the \
         rules of TensorFlow Lite's reference kernels; what has no rule there, such as \
         BatchNormalization, Normalization and Pooling3d, in Float32, each result rounded once. \
         Whether it takes a layer of a real network, `armnn execute-network` and \
         `OptimizedNetwork::report` show.\n\n"
    );
    for (name, members) in GROUPS {
        let members: Vec<_> = members.iter().map(ToString::to_string).collect();
        writeln!(text, "- {name}: {}", members.join(", ")).unwrap();
    }
    text.push_str("\n| layer | types |\n|---|---|\n");
    for layer in support {
        let types = grouped(&layer.data_types);
        writeln!(text, "| {} | {types} |", layer.layer_type).unwrap();
    }
    text
}

fn compare(path: &str, made: &str) {
    if env::var_os("ARMNN_BLESS").is_some() {
        fs::write(root().join(path), made).unwrap();
    } else {
        let written = page(path);
        let wrong = written.lines().zip(made.lines()).find(|(a, b)| a != b);
        assert!(written == made, "{path} is out of date, first at {wrong:?}");
    }
}

#[test]
fn the_page_of_onnx_operators_is_that_of_the_parsers_table() {
    compare("docs/onnx-operators.md", &onnx_page());
}

#[test]
fn the_page_of_tflite_operators_is_that_of_the_parsers_table() {
    compare("docs/tflite-operators.md", &tflite_page());
}

#[test]
fn the_page_of_cpu_ref_is_what_it_answers() {
    compare("docs/cpu-ref.md", &cpu_ref_page());
}

#[test]
fn the_readme_counts_the_operators_that_the_parsers_have() {
    let readme = page("README.md");
    let onnx: usize = [
        ("operators.rs", "fn entry("),
        ("operators.rs", "fn ml_entry("),
        ("operators.rs", "fn preview_entry("),
        ("operators.rs", "fn training_entry("),
        ("microsoft/mod.rs", "fn microsoft_entry("),
    ]
    .into_iter()
    .map(|(file, function)| onnx_rows(file, function).len())
    .sum();
    let tflite = tflite_rows().len() + tflite_custom().len();
    for counted in [
        format!("[{onnx} operators](docs/onnx-operators.md)"),
        format!("[{tflite} operators](docs/tflite-operators.md)"),
    ] {
        assert!(readme.contains(&counted), "{counted}");
    }
}
