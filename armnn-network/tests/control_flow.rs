//! Control flow, sequences and variables: what the builder takes, and what it refuses.

use std::sync::Arc;

use armnn_backend_api::{DataType, Quantization, Shape, TensorInfo};
use armnn_network::{
    LoopBody, Network, NetworkBuilder, RuntimeOperation, ScanAxis, ScanBody, SequenceOperation,
    StringOperation, TensorId, ValueType, VariableValue,
};

fn boolean() -> TensorInfo {
    TensorInfo::new(DataType::Boolean, Shape::SCALAR)
}

fn integer() -> TensorInfo {
    TensorInfo::new(DataType::Signed64, Shape::SCALAR)
}

fn f32(dims: &[i64]) -> TensorInfo {
    TensorInfo::new(DataType::Float32, Shape::new(dims).unwrap())
}

fn sequence(of: ValueType) -> ValueType {
    ValueType::Sequence(Box::new(of))
}

fn add(
    builder: &mut NetworkBuilder,
    operation: SequenceOperation,
    inputs: &[TensorId],
) -> Result<TensorId, String> {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    let operation = RuntimeOperation::Sequence(operation);
    match builder.add_runtime_layer("", operation, &inputs) {
        Ok(outputs) => Ok(outputs[0]),
        Err(e) => Err(e.to_string()),
    }
}

/// A network that gives its input.
fn identity(info: TensorInfo) -> Arc<Network> {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", info).unwrap();
    builder.add_output_layer("y", x).unwrap();
    Arc::new(builder.finish().unwrap())
}

/// If of a condition, which is also what the bodies read.
fn choice(then_body: Arc<Network>, else_body: Arc<Network>) -> Result<Arc<Network>, String> {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", boolean()).unwrap();
    let operation = RuntimeOperation::If {
        then_body,
        else_body,
    };
    let y = builder
        .add_runtime_layer("if", operation, &[Some(x), Some(x)])
        .map_err(|e| e.to_string())?;
    builder.add_output_layer("y", y[0]).unwrap();
    Ok(Arc::new(builder.finish().unwrap()))
}

#[test]
fn bodies_may_be_only_so_deep() {
    let mut network = identity(boolean());
    for _ in 0..Network::MOST_NESTED {
        network = choice(network, identity(boolean())).unwrap();
    }
    let error = choice(identity(boolean()), network).unwrap_err();
    assert!(
        error.contains("else") && error.contains("64 deep"),
        "{error}"
    );
}

#[test]
fn bodies_that_are_shared_count_as_often_as_they_are_used() {
    let mut network = identity(boolean());
    let doubled = (0..Network::MOST_NESTED).find_map(|rounds| {
        match choice(Arc::clone(&network), Arc::clone(&network)) {
            Ok(next) => {
                network = next;
                None
            }
            Err(error) => Some((rounds, error)),
        }
    });
    // After n rounds, 2 + 4 + … + 2^n = 2^(n + 1) - 2 layers are in bodies, an empty one counted as one.
    let (rounds, error) = doubled.unwrap();
    assert_eq!(1 << (rounds + 1), Network::MOST_NESTED_LAYERS);
    assert!(error.contains("1048576 layers"), "{error}");
}

#[test]
fn an_initializer_counts_as_a_body() {
    let first = |depth: usize| {
        let mut builder = NetworkBuilder::new();
        let on = builder
            .add_constant_layer("on", boolean(), vec![1].into())
            .unwrap();
        let mut body = identity(boolean());
        for _ in 1..depth {
            body = choice(body, identity(boolean())).unwrap();
        }
        let operation = RuntimeOperation::If {
            then_body: body,
            else_body: identity(boolean()),
        };
        let y = builder
            .add_runtime_layer("if", operation, &[Some(on), Some(on)])
            .unwrap();
        builder.add_output_layer("y", y[0]).unwrap();
        Arc::new(builder.finish().unwrap())
    };
    let mut builder = NetworkBuilder::new();
    builder
        .set_initializer(first(Network::MOST_NESTED - 1))
        .unwrap();
    assert!(
        builder
            .set_initializer(first(Network::MOST_NESTED))
            .is_err()
    );
}

#[test]
fn sequences_may_be_only_so_deep() {
    let mut builder = NetworkBuilder::new();
    let mut x = builder.add_input_layer("x", f32(&[2])).unwrap();
    for _ in 0..ValueType::MOST_NESTED {
        x = add(&mut builder, SequenceOperation::Construct, &[x]).unwrap();
    }
    let error = add(&mut builder, SequenceOperation::Construct, &[x]).unwrap_err();
    assert!(error.contains("8 deep"), "{error}");
    assert!(add(&mut builder, SequenceOperation::Optional, &[x]).is_err());
    let deeper = sequence(builder.value_type(x).unwrap());
    assert!(builder.add_value_input("y", deeper).is_err());
}

#[test]
fn tensors_of_a_sequence_are_joined_along_an_axis_that_they_are_known_to_have() {
    let concat = |new_axis| SequenceOperation::Concat { axis: 0, new_axis };
    let mut builder = NetworkBuilder::new();
    let of_any = sequence(ValueType::unknown());
    let of_any = builder.add_value_input("any", of_any).unwrap();
    let error = add(&mut builder, concat(false), &[of_any]).unwrap_err();
    assert!(error.contains("declare how many dimensions"), "{error}");
    let x = builder.add_input_layer("x", f32(&[])).unwrap();
    let of_numbers = add(&mut builder, SequenceOperation::Construct, &[x, x]).unwrap();
    let list = add(&mut builder, concat(true), &[of_numbers]).unwrap();
    let list = builder.value_type(list).unwrap();
    assert_eq!(list, ValueType::Tensor(f32(&[Shape::UNKNOWN])));
}

#[test]
fn a_constant_has_as_many_strings_as_its_shape_says() {
    let with = |count: usize| {
        let operation = RuntimeOperation::Strings(StringOperation::Constant {
            shape: Shape::from([2]),
            strings: vec!["a".to_owned(); count],
        });
        let mut builder = NetworkBuilder::new();
        let outputs = builder.add_runtime_layer("strings", operation, &[]);
        outputs.map(|ids| builder.value_type(ids[0]).unwrap())
    };
    let error = with(3).unwrap_err().to_string();
    assert!(
        error.contains("3 strings are given for the shape [2]"),
        "{error}"
    );
    assert_eq!(with(2).unwrap(), ValueType::Strings(Shape::from([2])));
}

/// A loop of a body that gives the sequence that it is given after it was put into `wrap`.
fn growing(
    wrap: fn(&mut NetworkBuilder, TensorId) -> Result<TensorId, String>,
) -> Result<(), String> {
    let of_tensors = || sequence(ValueType::Tensor(f32(&[])));
    let mut body = NetworkBuilder::new();
    body.add_input_layer("iteration", integer()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean()).unwrap();
    let s = body.add_value_input("s", of_tensors()).unwrap();
    let s = wrap(&mut body, s)?;
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("s", s).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let s = builder.add_value_input("s", of_tensors()).unwrap();
    let inputs = [None, None, Some(s)];
    match builder.add_runtime_layer("loop", operation, &inputs) {
        Ok(_) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

#[test]
fn a_loop_makes_no_sequence_deeper_with_each_iteration() {
    use SequenceOperation as S;

    let error = growing(|b, s| add(b, S::Construct, &[s])).unwrap_err();
    assert!(error.contains("sequence of sequence"), "{error}");
    // What could hide how deep a value is.
    let hidden = growing(|b, s| {
        let inner = add(b, S::Construct, &[s])?;
        let x = b
            .add_input_layer("x", f32(&[]))
            .map_err(|e| e.to_string())?;
        add(b, S::Insert, &[inner, x])
    });
    let error = hidden.unwrap_err();
    assert!(error.contains("cannot be in a sequence of"), "{error}");
    let mixed = growing(|b, s| {
        let x = b
            .add_input_layer("x", f32(&[]))
            .map_err(|e| e.to_string())?;
        add(b, S::Construct, &[x, s])
    });
    assert!(mixed.is_err());
    assert!(growing(|b, s| add(b, S::Erase, &[s])).is_ok());
}

#[test]
fn a_sequence_that_is_empty_at_first_becomes_one_of_what_a_loop_inserts() {
    let mut body = NetworkBuilder::new();
    let iteration = body.add_input_layer("iteration", integer()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean()).unwrap();
    let s = body
        .add_value_input("s", sequence(ValueType::Tensor(integer())))
        .unwrap();
    let s = add(&mut body, SequenceOperation::Insert, &[s, iteration]).unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("s", s).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let empty = add(&mut builder, SequenceOperation::Empty, &[]).unwrap();
    let s = builder
        .add_runtime_layer("loop", operation, &[None, None, Some(empty)])
        .unwrap();
    let join = SequenceOperation::Concat {
        axis: 0,
        new_axis: true,
    };
    let all = add(&mut builder, join, &[s[0]]).unwrap();
    let info = &builder.tensor(all).unwrap().info;
    assert_eq!(info.data_type, DataType::Signed64);
    assert_eq!(info.shape.dims(), [-1]);
}

#[test]
fn more_carried_values_than_there_can_be_are_refused() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", boolean()).unwrap();
    let network = identity(boolean());
    for operation in [
        RuntimeOperation::Loop(LoopBody {
            network: Arc::clone(&network),
            n_carried: usize::MAX,
        }),
        RuntimeOperation::While {
            condition: Arc::clone(&network),
            body: Arc::clone(&network),
            n_carried: usize::MAX,
        },
        RuntimeOperation::Scan(ScanBody {
            network,
            n_states: usize::MAX,
            inputs: vec![ScanAxis::default()],
            outputs: Vec::new(),
        }),
    ] {
        let added = builder.add_runtime_layer("", operation, &[Some(x); 3]);
        let error = added.unwrap_err().to_string();
        assert!(error.contains("inputs are needed"), "{error}");
    }
}

#[test]
fn a_sequence_has_no_shape() {
    let mut builder = NetworkBuilder::new();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let s = add(&mut builder, SequenceOperation::Construct, &[x]).unwrap();
    let shape = builder.add_shape_layer(s, 0, 0, DataType::Signed64, "shape");
    let error = shape.unwrap_err().to_string();
    assert!(error.contains("sequence of Float32[2]"), "{error}");
}

#[test]
fn quantized_values_keep_their_quantization_through_control_flow() {
    let quantized = |scale| {
        TensorInfo::new(DataType::QAsymmU8, [2]).quantized(Quantization::per_tensor(scale, 3))
    };
    let chosen = |given, then_scale, else_scale| {
        let mut builder = NetworkBuilder::new();
        let condition = builder.add_input_layer("condition", boolean()).unwrap();
        let x = builder.add_input_layer("x", quantized(given)).unwrap();
        let operation = RuntimeOperation::If {
            then_body: identity(quantized(then_scale)),
            else_body: identity(quantized(else_scale)),
        };
        let y = builder.add_runtime_layer("if", operation, &[Some(condition), Some(x)]);
        y.map(|y| builder.tensor(y[0]).unwrap().info.clone())
            .map_err(|e| e.to_string())
    };
    assert_eq!(chosen(0.5, 0.5, 0.5), Ok(quantized(0.5)));
    for scales in [(0.25, 0.5, 0.5), (0.5, 0.25, 0.5), (0.5, 0.5, 0.25)] {
        let error = chosen(scales.0, scales.1, scales.2).unwrap_err();
        assert!(error.contains("of another quantization"), "{error}");
    }
}

#[test]
fn a_variable_is_assigned_only_what_it_can_hold() {
    let quantized = |scale| {
        TensorInfo::new(DataType::QAsymmU8, [2]).quantized(Quantization::per_tensor(scale, 3))
    };
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::UInt8, Shape::SCALAR);
    builder
        .add_variable("number", info, VariableValue::Zero)
        .unwrap();
    builder
        .add_variable("quantized", quantized(0.5), VariableValue::Zero)
        .unwrap();
    let x = builder.add_input_layer("x", f32(&[2])).unwrap();
    let s = add(&mut builder, SequenceOperation::Construct, &[x]).unwrap();
    let q = builder.add_input_layer("q", quantized(0.25)).unwrap();
    for (name, tensor, expected) in [
        ("number", s, "sequence of Float32[2]"),
        ("number", x, "is assigned Float32[2]"),
        ("quantized", q, "of another quantization"),
    ] {
        let error = builder.assign_variable(name, tensor).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    }
}

#[test]
fn the_first_value_of_a_variable_is_one_that_it_can_hold() {
    let first = || {
        let mut builder = NetworkBuilder::new();
        let c = builder
            .add_constant_layer("c", f32(&[1]), vec![0; 4].into())
            .unwrap();
        builder.add_output_layer("c", c).unwrap();
        builder
    };
    let finished = |info: TensorInfo, index| {
        let mut builder = NetworkBuilder::new();
        let v = builder
            .add_variable("v", info, VariableValue::Computed(index))
            .unwrap();
        builder.add_output_layer("v", v).unwrap();
        let initializer = first().finish().unwrap();
        builder.set_initializer(Arc::new(initializer)).unwrap();
        builder.finish().map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(finished(f32(&[1]), 0), Ok(()));
    let error = finished(f32(&[1]), 1).unwrap_err();
    assert!(error.contains("output 1 of the initializer"), "{error}");
    let error = finished(f32(&[2]), 0).unwrap_err();
    assert!(
        error.contains("'v'") && error.contains("computed as Float32[1]"),
        "{error}"
    );

    let mut with_state = first();
    with_state
        .add_variable("w", f32(&[1]), VariableValue::Zero)
        .unwrap();
    let with_state = Arc::new(with_state.finish().unwrap());
    let error = NetworkBuilder::new().set_initializer(with_state);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("variables itself"), "{error}");
}
