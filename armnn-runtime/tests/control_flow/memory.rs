//! What loops, sequences and strings hold is within the memory limit.

use std::sync::Arc;

use armnn_network::{
    LoopBody, NetworkBuilder, RuntimeOperation, SequenceOperation, StringOperation, ValueType,
};
use armnn_runtime::{
    DataType, HostTensor, LoadOptions, LoadedNetwork, RunError, Shape, StringTensor, TensorInfo,
    Value,
};

use super::bodies::doubling_loop;
use super::{boolean, f32, i64_tensor, load_with, tensor};

#[test]
fn what_a_loop_puts_together_is_within_the_memory_limit() {
    let options = LoadOptions {
        memory_limit: Some(4096),
        ..LoadOptions::default()
    };
    // 8 bytes in each iteration.
    let inputs = [i64_tensor(&[], &[513]), tensor(&[2], &[0.0, 0.0])];
    let error = doubling_loop(options).run(&inputs).unwrap_err().to_string();
    assert!(
        error.contains("'loop' (Loop)") && error.contains("memory limit of 4096 bytes"),
        "{error}"
    );
}

#[test]
fn what_is_joined_is_within_the_memory_limit() {
    // A loop puts one tensor of 1024 bytes into a sequence again and again, which takes no memory.
    let of = || ValueType::Sequence(Box::new(ValueType::Tensor(f32(&[256]))));
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number.clone()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean(&[])).unwrap();
    let s = body.add_value_input("s", of()).unwrap();
    let x = body.add_input_layer("x", f32(&[256])).unwrap();
    let insert = RuntimeOperation::Sequence(SequenceOperation::Insert);
    let s = body
        .add_runtime_layer("insert", insert, &[Some(s), Some(x)])
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("s", s[0]).unwrap();

    let mut builder = NetworkBuilder::new();
    let count = builder.add_input_layer("count", number).unwrap();
    let x = builder.add_input_layer("x", f32(&[256])).unwrap();
    let empty = RuntimeOperation::Sequence(SequenceOperation::Empty);
    let s = builder.add_runtime_layer("empty", empty, &[]).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let inputs = [Some(count), None, Some(s[0]), Some(x)];
    let s = builder
        .add_runtime_layer("loop", operation, &inputs)
        .unwrap();
    let join = RuntimeOperation::Sequence(SequenceOperation::Concat {
        axis: 0,
        new_axis: false,
    });
    let y = builder
        .add_runtime_layer("join", join, &[Some(s[0])])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    let loaded = load_with(builder.finish().unwrap(), limited);
    let run = |count| {
        let x = HostTensor::zeroed(f32(&[256])).unwrap();
        loaded.run(&[i64_tensor(&[], &[count]), x])
    };
    // 1 KiB in each iteration.
    let outputs = run(512).unwrap();
    assert_eq!(outputs[0].info().shape.dims(), [512 * 256]);
    let error = run(1025).unwrap_err().to_string();
    assert!(error.contains("limit of 1048576 bytes"), "{error}");
}

#[test]
fn what_grows_in_a_loop_is_within_the_memory_limit() {
    // Twice the elements after each iteration.
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number.clone()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean(&[])).unwrap();
    let x = body.add_input_layer("x", f32(&[-1])).unwrap();
    let descriptor = armnn_backend_api::ConcatDescriptor { axis: 0 };
    let double = body
        .add_concat_layer(descriptor, &[x, x], "double")
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("x", double).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let count = builder.add_input_layer("count", number).unwrap();
    let x = builder.add_input_layer("x", f32(&[1])).unwrap();
    let y = builder
        .add_runtime_layer("loop", operation, &[Some(count), None, Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    let loaded = load_with(builder.finish().unwrap(), limited);
    let mut state = loaded.create_execution_state().unwrap();
    let mut run = |count: i64| {
        state
            .set_input(0, i64_tensor(&[], &[count]).bytes())
            .unwrap();
        let result = state.execute().map_err(|e| e.to_string());
        result.map(|()| state.output(0).len())
    };
    // The iteration that gives 2^16 elements has them and 2^15 twice, of 4 bytes each: 786432 bytes.
    // What was kept for other sizes goes for that. The next one needs twice as much.
    assert_eq!(run(16), Ok(4 << 16));
    let error = run(17).unwrap_err();
    assert!(
        error.contains("'loop' (Loop), iteration 16") && error.contains("limit of 1048576 bytes"),
        "{error}"
    );
    assert_eq!(run(3), Ok(4 << 3));
}

/// A loop that puts strings behind themselves.
fn doubling_strings(limit: u64) -> LoadedNetwork {
    let of = || ValueType::Strings(Shape::from([-1]));
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number.clone()).unwrap();
    let goes_on = body.add_input_layer("goes on", boolean(&[])).unwrap();
    let s = body.add_value_input("s", of()).unwrap();
    let operation = RuntimeOperation::Strings(StringOperation::Concat);
    let next = body
        .add_runtime_layer("double", operation, &[Some(s), Some(s)])
        .unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("s", next[0]).unwrap();
    let mut builder = NetworkBuilder::new();
    let count = builder.add_input_layer("count", number).unwrap();
    let s = builder.add_value_input("s", of()).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let inputs = [Some(count), None, Some(s)];
    let s = builder
        .add_runtime_layer("loop", operation, &inputs)
        .unwrap();
    builder.add_output_layer("s", s[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(limit),
        ..LoadOptions::default()
    };
    load_with(builder.finish().unwrap(), limited)
}

#[test]
fn strings_that_grow_in_a_loop_are_within_the_memory_limit() {
    // Twice the length after each iteration.
    let loaded = doubling_strings(1 << 20);
    let run = |count| {
        let s = StringTensor::new([1], vec!["a".to_owned()]).unwrap();
        let outputs = loaded.run_values(vec![i64_tensor(&[], &[count]).into(), s.into()])?;
        match &outputs[0] {
            Value::Strings(strings) => Ok(strings.strings()[0].len()),
            other => panic!("{other:?}"),
        }
    };
    let length = run(19).map_err(|error: RunError| error.to_string());
    assert_eq!(length, Ok(1 << 19));
    // 2^20 bytes, and what a string takes besides.
    let error = run(60).unwrap_err().to_string();
    assert!(
        error.contains("'loop' (Loop), iteration 19") && error.contains("limit of 1048576 bytes"),
        "{error}"
    );
}

/// Strings of 65536 bytes, as often as there are positions.
#[test]
fn strings_that_are_repeated_are_within_the_memory_limit() {
    let mut builder = NetworkBuilder::new();
    let positions = TensorInfo::new(DataType::Signed64, [-1]);
    let positions = builder.add_input_layer("positions", positions).unwrap();
    let of = ValueType::Strings(Shape::from([-1]));
    let s = builder.add_value_input("s", of).unwrap();
    let operation = RuntimeOperation::Strings(StringOperation::AtPositions);
    let all = builder
        .add_runtime_layer("repeat", operation, &[Some(positions), Some(s)])
        .unwrap();
    builder.add_output_layer("all", all[0]).unwrap();
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    let loaded = load_with(builder.finish().unwrap(), limited);
    let run = |positions: &[i64]| -> Result<usize, String> {
        let count = i64::try_from(positions.len()).unwrap();
        let s = StringTensor::new([1], vec!["a".repeat(1 << 16)]).unwrap();
        let positions = i64_tensor(&[count], positions).into();
        let outputs = loaded.run_values(vec![positions, s.into()]);
        match outputs
            .map_err(|error: RunError| error.to_string())?
            .first()
        {
            Some(Value::Strings(strings)) => Ok(strings.strings().len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(run(&[1; 15]), Ok(15));
    let error = run(&[1; 16]).unwrap_err();
    assert!(error.contains("memory limit of 1048576 bytes"), "{error}");
    for outside in [-1, 2] {
        let error = run(&[outside]).unwrap_err();
        let part = format!("no string at position {outside}");
        assert!(error.contains(&part), "{error}");
    }
}

/// Five tensors of as many empty strings as there are positions, or sequences that hold each twice.
fn five_of_empty_strings(in_sequences: bool) -> LoadedNetwork {
    let mut builder = NetworkBuilder::new();
    let positions = TensorInfo::new(DataType::Signed64, [-1]);
    let positions = builder.add_input_layer("positions", positions).unwrap();
    let of = ValueType::Strings(Shape::from([-1]));
    let s = builder.add_value_input("s", of).unwrap();
    for index in 0..5 {
        let operation = RuntimeOperation::Strings(StringOperation::AtPositions);
        let name = format!("repeat {index}");
        let mut held = builder
            .add_runtime_layer(&name, operation, &[Some(positions), Some(s)])
            .unwrap();
        if in_sequences {
            let operation = RuntimeOperation::Sequence(SequenceOperation::Construct);
            let name = format!("twice {index}");
            held = builder
                .add_runtime_layer(&name, operation, &[Some(held[0]), Some(held[0])])
                .unwrap();
        }
        let name = format!("output {index}");
        builder.add_output_layer(&name, held[0]).unwrap();
    }
    let limited = LoadOptions {
        memory_limit: Some(1 << 20),
        ..LoadOptions::default()
    };
    load_with(builder.finish().unwrap(), limited)
}

/// An empty string takes the 24 bytes of its pointer, length and capacity.
#[test]
fn empty_strings_that_are_held_together_are_within_the_memory_limit() {
    for in_sequences in [false, true] {
        let loaded = five_of_empty_strings(in_sequences);
        let run = |count: usize| {
            let s = StringTensor::new([1], vec![String::new()]).unwrap();
            let positions = i64_tensor(&[count as i64], &vec![0; count]);
            let outputs = loaded.run_values(vec![positions.into(), s.into()]);
            outputs.map(|all| all.len()).map_err(|e| e.to_string())
        };
        // 5 * 8000 * 24 = 960000 bytes.
        assert_eq!(run(8000), Ok(5));
        // 5 * 10000 * 24 = 1200000 bytes.
        let error = run(10_000).unwrap_err();
        assert!(
            error.contains("'repeat 4' (StringsAtPositions)")
                && error.contains("memory limit of 1048576 bytes"),
            "{error}"
        );
    }
}
