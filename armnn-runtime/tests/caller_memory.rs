//! Inputs and outputs in the caller's memory.

use armnn_network::{Network, NetworkBuilder};
use armnn_runtime::{
    CreationOptions, DataType, HostTensor, LoadOptions, LoadedNetwork, OptimizerOptions, Runtime,
    StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

/// Outputs: x + y, the same once more, x itself, and |x + y|.
fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let info = TensorInfo::new(DataType::Float32, [4]);
    let x = builder.add_input_layer("x", info.clone()).unwrap();
    let y = builder.add_input_layer("y", info).unwrap();
    let sum = builder.add_addition_layer(x, y, "sum").unwrap();
    let abs = builder.add_abs_layer(sum, "abs").unwrap();
    for (name, tensor) in [("sum", sum), ("again", sum), ("x", x), ("abs", abs)] {
        builder.add_output_layer(name, tensor).unwrap();
    }
    builder.finish().unwrap()
}

fn load() -> LoadedNetwork {
    let backend = StaticBackend::new::<CpuRef>();
    let runtime = Runtime::create(CreationOptions::new().static_backend(backend)).unwrap();
    let optimized = runtime
        .optimize(network(), &OptimizerOptions::default())
        .unwrap();
    runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap()
}

fn bytes(values: [f32; 4]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn zeroed() -> HostTensor {
    HostTensor::zeroed(TensorInfo::new(DataType::Float32, [4])).unwrap()
}

const X: [f32; 4] = [1.0, -2.0, 3.0, -4.0];
const Y: [f32; 4] = [0.5, 0.5, -5.0, 1.0];
const SUM: [f32; 4] = [1.5, -1.5, -2.0, -3.0];
const ABS: [f32; 4] = [1.5, 1.5, 2.0, 3.0];

#[test]
fn aligned_and_unaligned_memory_give_the_same() {
    let loaded = load();
    let mut state = loaded.create_execution_state().unwrap();
    let (x, y) = (
        HostTensor::from_f32([4], &X).unwrap(),
        HostTensor::from_f32([4], &Y).unwrap(),
    );
    // A copy that starts one byte behind an aligned address.
    let mut shifted = HostTensor::zeroed(TensorInfo::new(DataType::UInt8, [17])).unwrap();
    shifted.bytes_mut()[1..].copy_from_slice(&bytes(Y));
    for (y, is_copied) in [(y.bytes(), false), (&shifted.bytes()[1..], true)] {
        let (mut sum, mut again, mut abs) = (zeroed(), zeroed(), zeroed());
        let mut unaligned = [0u8; 17];
        loaded
            .execute(
                &mut state,
                &[x.bytes(), y],
                &mut [
                    sum.bytes_mut(),
                    again.bytes_mut(),
                    &mut unaligned[1..],
                    abs.bytes_mut(),
                ],
            )
            .unwrap();
        assert_eq!(sum.bytes(), bytes(SUM));
        assert_eq!(again.bytes(), bytes(SUM));
        assert_eq!(unaligned[1..], bytes(X));
        assert_eq!(abs.bytes(), bytes(ABS));
        // The state's own memory of y, which nothing was copied to before.
        let expected = if is_copied { bytes(Y) } else { vec![0; 16] };
        assert_eq!(state.input_mut(1), expected);
    }
}

#[test]
fn a_state_has_its_own_memory_again_afterwards() {
    let loaded = load();
    let mut state = loaded.create_execution_state().unwrap();
    state.set_input(0, &bytes(X)).unwrap();
    state.set_input(1, &bytes(Y)).unwrap();
    let zeros = zeroed();
    let (mut a, mut b, mut c, mut d) = (zeroed(), zeroed(), zeroed(), zeroed());
    let outputs = &mut [a.bytes_mut(), b.bytes_mut(), c.bytes_mut(), d.bytes_mut()];
    loaded
        .execute(&mut state, &[zeros.bytes(), zeros.bytes()], outputs)
        .unwrap();
    assert_eq!(d.bytes(), [0; 16]);
    drop((a, b, c, d, zeros));
    state.set_input(0, &bytes(X)).unwrap();
    state.set_input(1, &bytes(Y)).unwrap();
    state.execute().unwrap();
    assert_eq!(state.output(3), bytes(ABS));
}

#[test]
fn nothing_is_written_when_a_size_is_wrong() {
    let loaded = load();
    let mut state = loaded.create_execution_state().unwrap();
    let (mut a, mut b, mut c, mut d) = (zeroed(), zeroed(), zeroed(), zeroed());
    let outputs = &mut [
        a.bytes_mut(),
        b.bytes_mut(),
        c.bytes_mut(),
        &mut d.bytes_mut()[..12],
    ];
    let error = loaded
        .execute(&mut state, &[&bytes(X), &bytes(Y)], outputs)
        .unwrap_err();
    let expected = "output 'abs' has 16 bytes; memory of 12 bytes is given for it";
    assert_eq!(error.to_string(), expected);
    let outputs = &mut [a.bytes_mut(), b.bytes_mut(), c.bytes_mut(), d.bytes_mut()];
    let error = loaded
        .execute(&mut state, &[&bytes(X), &[0; 3]], outputs)
        .unwrap_err();
    let expected = "input 'y' is Float32[4], 16 bytes; 3 bytes are given";
    assert_eq!(error.to_string(), expected);
    assert_eq!(a.bytes(), [0; 16]);
}

#[test]
fn an_input_that_is_not_there_is_named_by_its_place() {
    let mut state = load().create_execution_state().unwrap();
    let problem = state.set_input(2, &bytes([0.0; 4])).unwrap_err();
    let expected = "there is no input 2, counted from 0; the network has 2";
    assert_eq!(problem.to_string(), expected);
}
