//! Reads every model of a folder of test data, which is not part of the repository.

use std::path::{Path, PathBuf};

use armnn_tflite_parser::model::ModelFile;

/// `ARMNN_TEST_DATA`, or the folder `shared` beside the repository.
#[test]
fn every_model_of_the_test_data_is_read() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("ARMNN_TEST_DATA")
        .map_or_else(|| repository.join("../shared"), PathBuf::from)
        .join("corpus");
    if !folder.is_dir() {
        println!(
            "skipped: no folder {}; ARMNN_TEST_DATA names its parent",
            folder.display()
        );
        return;
    }
    let mut models = 0;
    let mut failures = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "tflite")
            {
                models += 1;
                if let Err(error) = ModelFile::open(&path).and_then(|file| file.model().map(drop)) {
                    failures.push(error.to_string());
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {models}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
