//! The small C fixtures: every case of `faulty.c` is what its line in `cases.txt` says, and the
//! smallest backend adds.

mod compiler;
mod flat_graph;
mod played_host;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use armnn_backend_api::{BinaryOperation, ElementwiseBinaryDescriptor, Status, sys};
use compiler::{Language, fixture_folder, shared_object};
use flat_graph::FlatGraph;
use object::{Object, ObjectSection, ObjectSymbol};
use played_host::{Backend, State, in_memory};

/// The codes of loader.md that the cases name.
const CODES: [&str; 16] = [
    "executable-stack",
    "factory-failed",
    "factory-null",
    "id-invalid",
    "initialize-failed",
    "layout-mismatch",
    "missing-dependency",
    "missing-symbol",
    "not-a-function",
    "note-invalid",
    "note-mismatch",
    "open-failed",
    "table-invalid",
    "unavailable",
    "version-incompatible",
    "-",
];

struct Case {
    name: String,
    status: String,
    code: String,
    arguments: Vec<String>,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(fixture_folder().join("cases.txt")).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let mut word = || words.next().unwrap_or_else(|| panic!("incomplete: {line}"));
            Case {
                name: word(),
                status: word(),
                code: word(),
                arguments: words.collect(),
            }
        })
        .collect()
}

impl Case {
    fn build(&self, folder: &Path) -> PathBuf {
        let out = folder.join(format!("{}.so", self.name));
        let absent = folder.join("libarmnn_fixture_absent.so");
        let mut arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if let Some(position) = arguments.iter().position(|a| *a == "@absent") {
            let source = folder.join("absent.c");
            std::fs::write(
                &source,
                "__attribute__((visibility(\"default\"))) int armnn_fixture_absent(void);\n\
                 int armnn_fixture_absent(void) { return 0; }\n",
            )
            .unwrap();
            let name = ["-Wl,-soname,libarmnn_fixture_absent.so"];
            shared_object(Language::C11, &[source], &name, &absent).unwrap();
            arguments[position] = absent.to_str().unwrap();
        }
        let source = fixture_folder().join("faulty.c");
        shared_object(Language::C11, &[source], &arguments, &out)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name));
        if absent.exists() {
            std::fs::remove_file(&absent).unwrap();
        }
        out
    }
}

/// The names of the exported functions.
fn exported_functions(data: &[u8]) -> Vec<String> {
    let file = object::File::parse(data).unwrap();
    let mut names: Vec<String> = file
        .dynamic_symbols()
        .filter(|s| s.is_definition() && s.is_global() && s.kind() == object::SymbolKind::Text)
        .map(|s| s.name().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn every_case_builds_and_is_wrong_in_the_way_its_line_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut names = HashSet::new();
    for case in cases() {
        assert!(names.insert(case.name.clone()), "{} twice", case.name);
        assert!(CODES.contains(&&*case.code), "{}: {}", case.name, case.code);
        let expected_status = match &*case.code {
            "-" => "loaded",
            "unavailable" => "unavailable",
            _ => "rejected",
        };
        assert_eq!(case.status, expected_status, "{}", case.name);

        let path = case.build(folder.path());
        let data = std::fs::read(&path).unwrap();
        let functions = exported_functions(&data);
        let complete = functions == ["BackendFactory", "GetBackendId", "GetVersion"];
        let lacks_one = matches!(&*case.code, "missing-symbol" | "not-a-function");
        assert_eq!(complete, !lacks_one, "{}: {functions:?}", case.name);
        let has_note = object::File::parse(&*data)
            .unwrap()
            .section_by_name(".note.armnn")
            .is_some_and(|s| s.size() > 0);
        let wants_note = !case.arguments.iter().any(|a| a == "-DNO_NOTE");
        assert_eq!(has_note, wants_note, "{}", case.name);
        if matches!(&*case.code, "open-failed" | "missing-dependency") {
            // SAFETY: no code of the library runs, since it cannot be opened.
            let result = unsafe {
                libloading::os::unix::Library::open(Some(&path), libloading::os::unix::RTLD_NOW)
            };
            assert!(result.is_err(), "{}", case.name);
        }
    }
    assert!(names.len() > 50, "{} cases are too few", names.len());
}

#[test]
fn the_case_without_fault_is_a_backend_that_takes_no_layer() {
    let folder = tempfile::tempdir().unwrap();
    let good = cases().into_iter().find(|c| c.name == "good").unwrap();
    let backend = Backend::load(&good.build(folder.path()));
    backend.initialize(&[]).unwrap();
    assert_eq!(backend.id(), "FixtureFaulty");
    let mut g = FlatGraph::default();
    let x = g.tensor("x", sys::ARMNN_DATA_TYPE_FLOAT32, &[1]);
    let y = g.tensor("y", sys::ARMNN_DATA_TYPE_FLOAT32, &[1]);
    let layer = g.layer(
        "add",
        ElementwiseBinaryDescriptor::new(BinaryOperation::Add),
        &[x, x],
        &[y],
    );
    let error = backend
        .is_layer_supported(&g.finish(&[y]), layer)
        .unwrap_err();
    assert_eq!(error.status(), Status::Unsupported);
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn the_smallest_backend_adds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Fixture_Minimal_backend.so");
    let source = fixture_folder().join("minimal.c");
    shared_object(
        Language::C11,
        &[source],
        &[r#"-DMINIMAL_ID="Fixture_Adder""#],
        &path,
    )
    .unwrap();
    let backend = Backend::load(&path);
    assert_eq!(backend.id(), "Fixture_Adder");
    backend.initialize(&[]).unwrap();
    let mut g = FlatGraph::default();
    let tensor = |g: &mut FlatGraph, name| g.tensor(name, sys::ARMNN_DATA_TYPE_FLOAT32, &[3]);
    let (x, y, sum) = (
        tensor(&mut g, "x"),
        tensor(&mut g, "y"),
        tensor(&mut g, "sum"),
    );
    let difference = tensor(&mut g, "difference");
    let operation = ElementwiseBinaryDescriptor::new;
    let addition = g.layer("add", operation(BinaryOperation::Add), &[x, y], &[sum]);
    let subtraction = g.layer(
        "sub",
        operation(BinaryOperation::Sub),
        &[x, y],
        &[difference],
    );
    let view = g.finish(&[sum, difference]);
    backend.is_layer_supported(&view, addition).unwrap();
    let error = backend.is_layer_supported(&view, subtraction).unwrap_err();
    assert_eq!(error.message(), "only Addition is implemented");
    let context = backend.create_model_context(&[]).unwrap();
    let workload = context.create_workload(&view, addition).unwrap();
    let (mut a, mut b, mut c) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [f32::NAN; 3]);
    // SAFETY: everything lives until the call returns, and there is no execution.
    unsafe {
        let inputs = [
            in_memory(view.tensor(x), &mut a),
            in_memory(view.tensor(y), &mut b),
        ];
        let outputs = [in_memory(view.tensor(sum), &mut c)];
        workload
            .execute(&mut State::default(), &inputs, &outputs)
            .unwrap();
    }
    assert_eq!(c, [11.0, 22.0, 33.0]);
    drop((workload, context));
    backend.shutdown().unwrap();
    backend.unload();
}
