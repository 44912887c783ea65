//! Reads every model of a folder of test data, which is not part of the repository.

use std::path::{Path, PathBuf};

use armnn_backend_api::Shape;
use armnn_network::{LayerProblem, Network, NetworkError, infer_shapes};
use armnn_tflite_parser::model::ModelFile;
use armnn_tflite_parser::{TfliteParserError, parse};

#[test]
fn every_model_of_the_test_data_is_read() {
    let mut failures = Vec::new();
    for path in models() {
        if let Err(error) = ModelFile::open(&path).and_then(|file| file.model().map(drop)) {
            failures.push(error.to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Models as converters write them are sound: if one is no network, it uses something that is not
/// supported. Files made to test other readers may lack subgraphs or outputs.
#[test]
fn every_model_of_the_test_data_is_a_network_or_says_what_it_would_need() {
    let (mut networks, mut unsupported, mut unsound) = (0, 0, 0);
    for path in models() {
        match parse(&path) {
            Ok(network) => {
                networks += 1;
                check(&network);
            }
            Err(error @ TfliteParserError::Unsupported { .. }) => {
                unsupported += 1;
                println!("{error}");
            }
            Err(error) => {
                unsound += 1;
                let made = path
                    .components()
                    .any(|part| part.as_os_str() == "litert_testdata");
                assert!(made, "{error}");
                println!("{error}");
            }
        }
    }
    println!("{networks} networks, {unsupported} use what is not supported, {unsound} are unsound");
}

/// Shapes follow from those of the inputs, with 1 for sizes that callers choose, unless parameters
/// are computed from what the inputs hold.
fn check(network: &Network) {
    let inputs: Vec<Shape> = network
        .inputs()
        .iter()
        .map(|&id| {
            let dims = network.tensor(id).info.shape;
            let dims: Vec<i64> = dims
                .dims()
                .iter()
                .map(|&dim| if dim < 0 { 1 } else { dim })
                .collect();
            Shape::new(&dims).unwrap()
        })
        .collect();
    match infer_shapes(network, &inputs) {
        Ok(_) => {}
        Err(NetworkError::Layer { problem, .. })
            if matches!(*problem, LayerProblem::ParametersUnknown { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn all_unsupported_operators_of_a_model_are_named_at_once() {
    let Some(path) = folder().map(|folder| folder.join("negative/audio_preprocessor_int8.tflite"))
    else {
        return;
    };
    let Err(TfliteParserError::Unsupported { refusals, .. }) = parse(path) else {
        panic!("a model with signal operators became a network");
    };
    let mut names: Vec<&str> = refusals
        .operators
        .iter()
        .inspect(|operator| assert!(operator.is_custom, "{operator}"))
        .map(|operator| operator.name.as_str())
        .collect();
    names.sort_unstable();
    let expected = [
        "SignalEnergy",
        "SignalFftAutoScale",
        "SignalFilterBank",
        "SignalFilterBankLog",
        "SignalFilterBankSpectralSubtraction",
        "SignalFilterBankSquareRoot",
        "SignalPCAN",
        "SignalRfft",
        "SignalWindow",
    ];
    assert_eq!(names, expected);
}

/// All models, in the order of their paths.
fn models() -> Vec<PathBuf> {
    let mut models = Vec::new();
    let mut folders = Vec::from_iter(folder());
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
                models.push(path);
            }
        }
    }
    models.sort();
    models
}

/// The folder `corpus` in `ARMNN_TEST_DATA`, or in the folder `shared` beside the repository.
fn folder() -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("ARMNN_TEST_DATA")
        .map_or_else(|| repository.join("../shared"), PathBuf::from)
        .join("corpus");
    if folder.is_dir() {
        return Some(folder);
    }
    let folder = folder.display();
    skipped_tests::skip(format!(
        "no folder {folder}; ARMNN_TEST_DATA names its parent"
    ));
    None
}
