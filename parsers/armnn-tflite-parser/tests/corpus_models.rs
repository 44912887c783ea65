//! Models that people have run, through CpuRef, compared with the outputs of LiteRT.
//!
//! They are in the test data, which is not part of the repository. No output may be wrong; what is
//! refused is printed with its reason (`--nocapture`), and so is the time that a run takes.

mod test_data;

use std::path::Path;
use std::time::Instant;

use armnn_runtime::HostTensor;
use serde_json::Value;
use test_data::{
    Array, Outcome, Tolerance, corpus, difference, load, meta, numbered, numbers, run,
};

#[test]
fn no_model_gives_wrong_outputs() {
    let Some(folder) = corpus(".") else {
        return;
    };
    let mut models: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("model.tflite").is_file())
        .collect();
    models.sort();
    assert!(!models.is_empty());
    let outcomes: Vec<(String, Outcome)> = models
        .iter()
        .map(|model| {
            let name = model.file_name().unwrap().to_string_lossy().into_owned();
            let outcome = run_model(&name, model);
            (name, outcome)
        })
        .collect();
    test_data::summarize("models", &outcomes);
    let failed = outcomes
        .iter()
        .filter(|(_, o)| matches!(o, Outcome::Failed(_)));
    assert_eq!(failed.count(), 0, "failures are listed above");
}

fn run_model(name: &str, folder: &Path) -> Outcome {
    let loaded = match load(&folder.join("model.tflite")) {
        Ok(loaded) => loaded,
        Err(outcome) => return outcome,
    };
    let meta = meta(folder);
    let open = |prefix| -> Vec<Array> {
        let files = numbered(folder, prefix);
        files.iter().map(|path| Array::open(path)).collect()
    };
    let (inputs, expected) = (open("in"), open("out"));
    let steps = usize::try_from(meta["steps"].as_u64().unwrap_or(1)).unwrap();
    if steps > 1 {
        return Outcome::Refused("the state of several steps".to_owned());
    }
    let inputs: Vec<&Array> = inputs.iter().collect();
    let outputs = match run(&loaded, &inputs) {
        Ok(outputs) => outputs,
        Err(outcome) => return outcome,
    };
    let time = || {
        let start = Instant::now();
        let _ = run(&loaded, &inputs);
        start.elapsed().as_secs_f64() * 1e3
    };
    let best = (0..5).map(|_| time()).fold(f64::INFINITY, f64::min);
    println!("{name}: {best:.3} ms, the best of 5");
    check(&meta, &outputs, &expected)
}

fn check(meta: &Value, outputs: &[HostTensor], expected: &[Array]) -> Outcome {
    let tolerance = &meta["tolerance"];
    if tolerance["kind"] == "detections" {
        return Outcome::Refused("detections, which have a test of their own".to_owned());
    }
    for (index, (found, expected)) in outputs.iter().zip(expected).enumerate() {
        let found_numbers = numbers(found.info().data_type, found.bytes());
        // Of large outputs, every `stride`-th element is kept.
        let stride = meta["outputs"][index]["stride"].as_u64().unwrap_or(1);
        let kept: Vec<f64> = found_numbers
            .iter()
            .copied()
            .step_by(usize::try_from(stride).unwrap())
            .collect();
        let expected = expected.numbers();
        if kept.len() != expected.len() {
            let problem = format!(
                "output {index}: {} elements for {}",
                kept.len(),
                expected.len()
            );
            return Outcome::Failed(problem);
        }
        let outcome = difference(&kept, &expected, Tolerance::of(meta));
        if outcome != Outcome::Passed {
            return outcome;
        }
        if tolerance["same_argmax"] == true && largest(&kept) != largest(&expected) {
            return Outcome::Failed(format!("output {index}: another class"));
        }
        let exact = difference(&kept, &expected, Tolerance::Absolute(0.0));
        if let Outcome::Failed(apart) = exact {
            println!("  output {index}: {apart}");
        } else {
            println!("  output {index}: equal");
        }
    }
    Outcome::Passed
}

/// The position of the first of the largest numbers.
fn largest(values: &[f64]) -> usize {
    let mut at = 0;
    for (i, value) in values.iter().enumerate() {
        if *value > values[at] {
            at = i;
        }
    }
    at
}
