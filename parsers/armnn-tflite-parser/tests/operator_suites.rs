//! Models of one operator each, through CpuRef, compared with outputs of LiteRT's reference kernels.
//!
//! They are in the test data, which is not part of the repository. No value may be wrong; what is
//! refused is printed with its reason (`--nocapture`).

mod test_data;

use std::collections::BTreeMap;
use std::path::Path;

use test_data::{Array, Outcome, Tolerance, compare, corpus, load, meta, numbered, run, summarize};

#[test]
fn no_single_operator_gives_wrong_values() {
    check_suite("tfl_single_op");
}

#[test]
fn no_operator_of_an_int16_network_gives_wrong_values() {
    check_suite("tflm_seanet_int16");
}

/// Small models of LiteRT's own tests. Some are damaged or empty on purpose.
#[test]
fn no_model_of_litert_gives_wrong_values() {
    let Some(folder) = corpus("litert_testdata") else {
        return;
    };
    let mut outcomes = vec![];
    for path in sorted(&folder) {
        if path
            .extension()
            .is_none_or(|extension| extension != "tflite")
        {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expectation = std::fs::read_to_string(path.with_extension("expect.txt")).unwrap();
        let mut outcome = match load(&path) {
            Err(outcome) => outcome,
            Ok(loaded) => {
                let arrays = Array::open_all(&path.with_extension("npz"));
                let (inputs, outputs) = (all(&arrays, "in"), all(&arrays, "out"));
                compare_all(
                    run(&loaded, &inputs),
                    &outputs,
                    Tolerance::Relative(1e-5, 1e-6),
                )
            }
        };
        if !expectation.starts_with("runs") && outcome != Outcome::Passed {
            println!("refused as by the other engine: {name}: {outcome:?}");
            outcome = Outcome::Passed;
        }
        let npz = path.with_extension("npz");
        let has_no_output = || all(&Array::open_all(&npz), "out").is_empty();
        if matches!(outcome, Outcome::Failed(_)) && npz.exists() && has_no_output() {
            // Running what has no output is nothing to compare.
            println!("without outputs: {name}: {outcome:?}");
            outcome = Outcome::Passed;
        }
        outcomes.push((name, outcome));
    }
    summarize("litert_testdata", &outcomes);
    assert_no_failure(&outcomes);
}

/// The arrays `PREFIX0`, `PREFIX1`, and so on.
fn all<'a>(arrays: &'a BTreeMap<String, Array>, prefix: &str) -> Vec<&'a Array> {
    (0..)
        .map_while(|index| arrays.get(&format!("{prefix}{index}")))
        .collect()
}

fn check_suite(suite: &str) {
    let Some(folder) = corpus(suite) else {
        return;
    };
    let outcomes: Vec<(String, Outcome)> = sorted(&folder)
        .iter()
        .map(|case| {
            let name = case.file_name().unwrap().to_string_lossy().into_owned();
            (name, run_case(case))
        })
        .collect();
    summarize(suite, &outcomes);
    assert!(!outcomes.is_empty());
    assert_no_failure(&outcomes);
}

fn run_case(case: &Path) -> Outcome {
    let loaded = match load(&case.join("model.tflite")) {
        Ok(loaded) => loaded,
        Err(outcome) => return outcome,
    };
    let open = |prefix| -> Vec<Array> {
        let files = numbered(case, prefix);
        files.iter().map(|path| Array::open(path)).collect()
    };
    let (inputs, outputs) = (open("in"), open("out"));
    let (inputs, outputs): (Vec<_>, Vec<_>) = (inputs.iter().collect(), outputs.iter().collect());
    compare_all(run(&loaded, &inputs), &outputs, Tolerance::of(&meta(case)))
}

fn compare_all(
    found: Result<Vec<armnn_runtime::HostTensor>, Outcome>,
    expected: &[&Array],
    tolerance: Tolerance,
) -> Outcome {
    let found = match found {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    if found.len() != expected.len() {
        return Outcome::Failed(format!("{} outputs for {}", found.len(), expected.len()));
    }
    found
        .iter()
        .zip(expected)
        .map(|(found, expected)| compare(found, expected, tolerance))
        .find(|outcome| *outcome != Outcome::Passed)
        .unwrap_or(Outcome::Passed)
}

fn sorted(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn assert_no_failure(outcomes: &[(String, Outcome)]) {
    let failed = outcomes
        .iter()
        .filter(|(_, o)| matches!(o, Outcome::Failed(_)));
    assert_eq!(failed.count(), 0, "failures are listed above");
}
