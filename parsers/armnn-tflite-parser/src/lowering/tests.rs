use crate::error::{Place, TfliteParserError};
use crate::schema_generated::{
    BuiltinOperator as Op, FullyConnectedOptionsWeightsFormat, TensorType,
};
use crate::schema_writer_generated as write;
use crate::test_model::{
    TestModel, TestTensor, assert_refused, finish, float, ints, lower, run, typed, types, zeros,
};

#[test]
fn everything_unsupported_is_named_at_once() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    let values: Vec<i32> = (0..6).map(|_| model.tensor(float(&[3]))).collect();
    model.operator(Op::SkipGram, &[x], &[values[0]], None);
    model.custom("Sinh", &[values[0]], &[values[1]], &[]);
    model.operator(Op::SkipGram, &[values[1]], &[values[2]], None);
    // Sound, and looked at although what it reads comes from an operator that is refused.
    model.operator(Op::Relu, &[values[2]], &[values[3]], None);
    let shuffled = || {
        let options = write::FullyConnectedOptions {
            weights_format: FullyConnectedOptionsWeightsFormat::Shuffled4x16Int8,
            ..write::FullyConnectedOptions::default()
        };
        write::BuiltinOptions::FullyConnectedOptions(Box::new(options))
    };
    let weights = model.tensor(zeros(&[3, 3]));
    let inputs = [values[3], weights];
    model.operator(Op::FullyConnected, &inputs, &[values[4]], Some(shuffled()));
    model.operator(Op::Logistic, &[values[4]], &[values[5]], None);
    model.output(values[5]);

    let error = model.parse().unwrap_err();
    let message = error.to_string();
    let TfliteParserError::Unsupported { refusals, .. } = error else {
        panic!("{message}");
    };
    let operators: Vec<_> = refusals
        .operators
        .iter()
        .map(|operator| (&operator.name[..], operator.is_custom, operator.count))
        .collect();
    assert_eq!(operators, [("SKIP_GRAM", false, 2), ("Sinh", true, 1)]);
    let place = |index, name: &str| Place {
        subgraph: Some(0),
        operator: Some((index, name.to_owned())),
        tensor: None,
    };
    assert_eq!(refusals.operators[0].first, place(0, "SKIP_GRAM"));
    assert_eq!(refusals.uses.len(), 1);
    assert_eq!(refusals.uses[0].place, place(4, "FULLY_CONNECTED"));
    assert_eq!(
        message,
        "lowering test.tflite: operators that are not supported: SKIP_GRAM (version 1, 2 times, \
         first at operator 0), Sinh (custom, version 1, once, first at operator 1); uses that are \
         not supported: subgraph 0, operator 4 (FULLY_CONNECTED): weights in the order \
         SHUFFLED4x16INT8; convert the model without them, or, for \
         custom operators, allow StandIn layers and use a backend that knows them"
    );
}

#[test]
fn an_endless_list_of_uses_is_cut() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    for _ in 0..150 {
        let options = write::FullyConnectedOptions {
            weights_format: FullyConnectedOptionsWeightsFormat::Shuffled4x16Int8,
            ..write::FullyConnectedOptions::default()
        };
        let options = write::BuiltinOptions::FullyConnectedOptions(Box::new(options));
        let output = model.tensor(float(&[3]));
        model.operator(Op::FullyConnected, &[x, x], &[output], Some(options));
        model.output(output);
    }
    let Err(TfliteParserError::Unsupported { refusals, .. }) = model.parse() else {
        panic!();
    };
    assert_eq!((refusals.uses.len(), refusals.more_uses), (100, 50));
    assert!(refusals.to_string().ends_with("; and 50 more"));
}

#[test]
fn operators_without_layers_are_refused_by_name() {
    for operator in [
        Op::HashtableLookup,
        Op::LshProjection,
        Op::SkipGram,
        Op::StablehloCustomCall,
    ] {
        let refused = lower(operator, &[float(&[3])], &[float(&[3])], None);
        assert_refused(refused, &format!("not supported: {}", operator.name()));
    }
}

#[test]
fn tensors_that_are_not_simply_elements_are_refused() {
    let with = |change: fn(&mut write::Tensor)| {
        let mut other = float(&[3]);
        change(&mut other.tensor);
        lower(Op::Add, &[float(&[3]), other], &[float(&[3])], None)
    };
    assert_refused(
        with(|tensor| tensor.is_variable = true),
        "tensor 1 \"t1\": a variable",
    );
    let mut sparse = zeros(&[3]);
    sparse.tensor.sparsity = Some(Box::default());
    let refused = lower(Op::Add, &[float(&[3]), sparse], &[float(&[3])], None);
    assert_refused(refused, "tensor 1 \"t1\": its sparsity is damaged");
}

#[test]
fn constants_have_as_much_data_as_their_shape_takes() {
    let short = float(&[3]).with_data(vec![0; 11]);
    let refused = lower(Op::Add, &[float(&[3]), short], &[float(&[3])], None);
    assert_refused(
        refused,
        "operator 0 (ADD), tensor 1 \"t1\": its data has 11 bytes, which is not what Float32[3] \
         takes; the file is damaged",
    );
}

#[test]
fn a_constant_is_one_tensor_however_often_it_is_read() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    let one = model.tensor(zeros(&[3]));
    let (y, z) = (model.tensor(float(&[3])), model.tensor(float(&[3])));
    model.operator(Op::Add, &[x, one], &[y], None);
    model.operator(Op::Add, &[one, y], &[z], None);
    model.output(z);
    let network = model.parse().unwrap();
    let constants = network
        .tensors()
        .iter()
        .filter(|tensor| tensor.constant().is_some());
    assert_eq!(constants.count(), 1);
}

#[test]
fn inputs_and_constants_can_be_outputs_and_outputs_can_repeat() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    let one = model.tensor(zeros(&[3]));
    for index in [x, one, x] {
        model.output(index);
    }
    let network = model.parse().unwrap();
    let names: Vec<&str> = network
        .outputs()
        .iter()
        .map(|output| &output.name[..])
        .collect();
    assert_eq!(names, ["t0", "t1", "t0:2"]);
}

#[test]
fn tensors_of_one_name_keep_it_and_their_layers_get_numbers() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    let named = || {
        let mut tensor = float(&[3]);
        tensor.tensor.name = Some("same".to_owned());
        tensor
    };
    let (y, z) = (model.tensor(named()), model.tensor(named()));
    model.operator(Op::Relu, &[x], &[y], None);
    model.operator(Op::Relu, &[y], &[z], None);
    model.output(z);
    let network = model.parse().unwrap();
    let names: Vec<&str> = network
        .layers()
        .iter()
        .map(|layer| &layer.name[..])
        .collect();
    assert_eq!(names, ["same", "same:1"]);
    assert_eq!(network.tensor(network.layers()[1].outputs[0]).name, "same");
}

#[test]
fn a_graph_that_does_not_hang_together_is_damage() {
    let relu = |inputs: &dyn Fn(&mut TestModel) -> [i32; 2]| {
        let mut model = TestModel::default();
        let [from, to] = inputs(&mut model);
        model.operator(Op::Relu, &[from], &[to], None);
        model.output(to);
        model.parse()
    };
    assert_refused(
        relu(&|model| [model.tensor(float(&[3])), model.tensor(float(&[3]))]),
        "tensor 0 \"t0\": it is read, but nothing has written it and it has no data",
    );
    assert_refused(
        relu(&|model| {
            let x = model.input(float(&[3]));
            [x, x]
        }),
        "operator 0 (RELU): it writes \"t0\", which is an input, a constant, or written already",
    );
    assert_refused(
        relu(&|model| [model.input(float(&[3])), model.tensor(zeros(&[3]))]),
        "it writes \"t1\", which is an input, a constant, or written already",
    );
    assert_refused(
        relu(&|model| {
            let x = model.input(float(&[3]));
            model.graph.inputs = Some(vec![x, x]);
            [x, model.tensor(float(&[3]))]
        }),
        "subgraph 0, tensor 0 \"t0\": it is an input of the subgraph twice",
    );
    let mut unwritten = TestModel::default();
    unwritten.input(float(&[3]));
    let output = unwritten.tensor(float(&[3]));
    unwritten.output(output);
    assert_refused(unwritten.parse(), "nothing has written it");
}

#[test]
fn a_model_without_subgraphs_or_outputs_is_no_network() {
    let empty = write::Model {
        version: 3,
        ..write::Model::default()
    };
    let parsed = crate::parse_bytes(finish(&empty).into(), "empty.tflite");
    assert_refused(parsed, "reading empty.tflite: the model has no subgraph");
    let mut silent = TestModel::default();
    silent.input(float(&[3]));
    assert_refused(
        silent.parse(),
        "lowering test.tflite: uses that are not supported: subgraph 0: it has no outputs",
    );
}

#[test]
fn the_format_is_told_by_its_first_bytes() {
    let mut model = TestModel::default();
    model.input(float(&[3]));
    assert!(crate::is_tflite(&model.bytes()));
    assert!(!crate::is_tflite(b"TFL3"));
    assert!(!crate::is_tflite(b"\x08\x07\x12\x0bpytorch"));
}

/// Names that are copied more often than the file has them are cut.
#[test]
fn a_long_name_is_not_multiplied() {
    let mut model = TestModel::default();
    let inputs: Vec<i32> = (0..50).map(|_| model.input(float(&[3]))).collect();
    let mut named = float(&[50, 3]);
    named.tensor.name = Some("é".repeat(50_000));
    let output = model.tensor(named);
    let options = write::PackOptions {
        values_count: 50,
        axis: 0,
    };
    let options = write::BuiltinOptions::PackOptions(Box::new(options));
    model.operator(Op::Pack, &inputs, &[output], Some(options));
    for _ in 0..50 {
        model.output(output);
    }
    let network = model.parse().unwrap();
    let layers: usize = network.layers().iter().map(|layer| layer.name.len()).sum();
    let outputs: usize = network
        .outputs()
        .iter()
        .map(|output| output.name.len())
        .sum();
    assert!(layers < 150_000, "{layers}");
    assert!(outputs < 150_000, "{outputs}");
}

/// Every builtin operator with arguments that do not suit it.
#[test]
fn unsuitable_arguments_are_an_error_or_a_network_but_never_a_panic() {
    let tensors: [fn() -> TestTensor; 8] = [
        || float(&[]),
        || float(&[0, 3]),
        || float(&[2, 3]),
        || float(&[1, 4, 4, 2]).signature(&[-1, -1, -1, -1]),
        || typed(TensorType::Int8, &[2, 2]).quantized(0.5, 1),
        || ints(&[]),
        || ints(&[-1, 0, i32::MAX, i32::MIN]),
        || zeros(&[1, 2, 2, 2]),
    ];
    let mut networks = 0;
    for operator in Op::ENUM_VALUES {
        for count in 1..=4 {
            for first in 0..tensors.len() {
                let pick = |at: usize| tensors[at % tensors.len()]();
                let inputs: Vec<TestTensor> = (first..first + count).map(pick).collect();
                for output in [0, 2, 3] {
                    networks +=
                        usize::from(lower(operator, &inputs, &[pick(output)], None).is_ok());
                }
            }
        }
    }
    assert!(networks > 0);
}

#[test]
fn a_constant_that_nothing_reads_is_no_tensor_of_the_network() {
    let mut model = TestModel::default();
    let x = model.input(float(&[3]));
    model.tensor(zeros(&[3]));
    let y = model.tensor(float(&[3]));
    model.operator(Op::Relu, &[x], &[y], None);
    model.output(y);
    let network = model.parse().unwrap();
    assert_eq!(types(&network).len(), 1);
    assert_eq!(network.tensors().len(), 2);
}

/// A model of two inputs, the second of which is a constant in the file `name` beside it.
fn with_external_buffer(name: &str, offset: u64) -> TestModel {
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let mut weights = float(&[2]);
    weights.tensor.external_buffer = 7;
    let weights = model.tensor(weights);
    let y = model.tensor(float(&[2]));
    model.operator(Op::Add, &[x, weights], &[y], None);
    model.output(y);
    model.external_buffer(name, 7, offset, 8);
    model
}

#[test]
fn constants_may_be_in_a_file_beside_the_model() {
    let folder = std::env::temp_dir().join(format!("armnn-tflite-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.tflite");
    std::fs::write(&path, with_external_buffer("weights.bin", 4).bytes()).unwrap();
    assert_refused(crate::parse(&path), "weights.bin: ");
    let weights: Vec<u8> = [9.0f32, 1.0, 2.0]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    std::fs::write(folder.join("weights.bin"), weights).unwrap();
    let found = run(crate::parse(&path).unwrap(), &[(&[2], &[10.0, 20.0])]);
    assert_eq!(found, [(vec![2], vec![11.0, 22.0])]);
    std::fs::write(&path, with_external_buffer("weights.bin", 5).bytes()).unwrap();
    assert_refused(
        crate::parse(&path),
        "8 bytes at 5 of \"weights.bin\", which has only 12",
    );
    for outside in ["../weights.bin", "/weights.bin", "a/weights.bin", ""] {
        std::fs::write(&path, with_external_buffer(outside, 4).bytes()).unwrap();
        assert_refused(
            crate::parse(&path),
            "not the name of a file beside the model",
        );
    }
    let mut unnamed = with_external_buffer("weights.bin", 4);
    unnamed.graph.tensors.as_mut().unwrap()[1].external_buffer = 8;
    std::fs::write(&path, unnamed.bytes()).unwrap();
    assert_refused(crate::parse(&path), "there is no external buffer 8");
    std::fs::remove_dir_all(folder).unwrap();
    assert_refused(
        with_external_buffer("weights.bin", 4).parse(),
        "which was not read from a file",
    );
}

/// The FlatBuffer's own offsets end at 4 GiB. The file has a hole, so that it takes no room.
#[test]
fn constants_may_stand_beyond_4_gib_of_the_file() {
    use std::io::{Seek, SeekFrom, Write};

    const OFFSET: u64 = (4 << 30) + 64;
    let mut model = TestModel::default();
    let x = model.input(float(&[2]));
    let weights = model.tensor(float(&[2]).with_data(Vec::new()));
    let y = model.tensor(float(&[2]));
    model.operator(Op::Add, &[x, weights], &[y], None);
    model.output(y);
    model.move_buffer(1, OFFSET, 8);
    let path = std::env::temp_dir().join(format!("armnn-large-{}.tflite", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&model.bytes()).unwrap();
    file.seek(SeekFrom::Start(OFFSET)).unwrap();
    let weights = [1.0f32, 2.0].map(f32::to_le_bytes);
    file.write_all(weights.as_flattened()).unwrap();
    drop(file);
    let network = crate::parse(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let found = run(network, &[(&[2], &[10.0, 20.0])]);
    assert_eq!(found, [(vec![2], vec![11.0, 22.0])]);
}
