//! Executions in other threads.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
};

use armnn_network::{LoopBody, Network, NetworkBuilder, RuntimeOperation};
use armnn_runtime::{
    CreationOptions, DataType, LoadOptions, LoadedNetwork, OptimizerOptions, OutcomeTaken, Runtime,
    Shape, StaticBackend, TensorInfo,
};
use cpu_ref::CpuRef;

fn load(network: Network) -> (Runtime, LoadedNetwork) {
    let backend = StaticBackend::new::<CpuRef>();
    let runtime = Runtime::create(CreationOptions::new().static_backend(backend)).unwrap();
    let optimized = runtime
        .optimize(network, &OptimizerOptions::default())
        .unwrap();
    let loaded = runtime
        .load_network(optimized, LoadOptions::default())
        .unwrap();
    (runtime, loaded)
}

/// y = |x|.
fn abs() -> Network {
    let mut builder = NetworkBuilder::new();
    let x = builder
        .add_input_layer("x", TensorInfo::new(DataType::Float32, [2]))
        .unwrap();
    let y = builder.add_abs_layer(x, "abs").unwrap();
    builder.add_output_layer("y", y).unwrap();
    builder.finish().unwrap()
}

/// A loop that does not end.
fn endless() -> Network {
    let mut body = NetworkBuilder::new();
    let number = TensorInfo::new(DataType::Signed64, Shape::SCALAR);
    body.add_input_layer("iteration", number).unwrap();
    let condition = TensorInfo::new(DataType::Boolean, Shape::SCALAR);
    let goes_on = body.add_input_layer("goes on", condition).unwrap();
    let carried = TensorInfo::new(DataType::Float32, [2]);
    let carried = body.add_input_layer("carried", carried).unwrap();
    body.add_output_layer("goes on", goes_on).unwrap();
    body.add_output_layer("carried", carried).unwrap();
    let operation = RuntimeOperation::Loop(LoopBody {
        network: Arc::new(body.finish().unwrap()),
        n_carried: 1,
    });
    let mut builder = NetworkBuilder::new();
    let x = builder
        .add_input_layer("x", TensorInfo::new(DataType::Float32, [2]))
        .unwrap();
    let y = builder
        .add_runtime_layer("endless", operation, &[None, None, Some(x)])
        .unwrap();
    builder.add_output_layer("y", y[0]).unwrap();
    builder.finish().unwrap()
}

fn bytes(values: [f32; 2]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

/// The simplest executor of futures: sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn many_executions_are_awaited_and_give_their_states_back() {
    let (_runtime, loaded) = load(abs());
    let executions: Vec<_> = (0..50)
        .map(|number| {
            let mut state = loaded.create_execution_state().unwrap();
            state.set_input(0, &bytes([-1.0, number as f32])).unwrap();
            state.execute_async()
        })
        .collect();
    for (number, execution) in executions.into_iter().enumerate() {
        let (mut state, result) = block_on(execution);
        result.unwrap();
        assert_eq!(state.output(0), bytes([1.0, number as f32]));
        // It can be used again.
        state.set_input(0, &bytes([-3.0, -4.0])).unwrap();
        let (state, result) = state.execute_async().wait().unwrap();
        result.unwrap();
        assert_eq!(state.output(0), bytes([3.0, 4.0]));
    }
}

#[test]
fn an_execution_that_nobody_waits_for_is_finished_before_its_backends_go() {
    let (runtime, loaded) = load(abs());
    for _ in 0..10 {
        drop(loaded.create_execution_state().unwrap().execute_async());
    }
    drop(runtime);
    drop(loaded);
}

#[test]
fn an_outcome_that_was_polled_cannot_be_waited_for() {
    let (_runtime, loaded) = load(abs());
    let mut execution = loaded.create_execution_state().unwrap().execute_async();
    let (_, result) = block_on(&mut execution);
    result.unwrap();
    assert!(execution.is_finished());
    assert_eq!(execution.wait().unwrap_err(), OutcomeTaken);
}

#[test]
fn an_execution_that_does_not_end_is_interrupted() {
    let (_runtime, loaded) = load(endless());
    let state = loaded.create_execution_state().unwrap();
    let handle = state.interrupt_handle();
    let execution = state.execute_async();
    assert!(!execution.is_finished());
    handle.interrupt();
    let (_, result) = execution.wait().unwrap();
    assert!(
        result
            .unwrap_err()
            .to_string()
            .ends_with("the execution was interrupted")
    );
}

#[test]
fn a_waker_that_panics_costs_no_thread() {
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("asked to panic");
        }
    }

    let (_runtime, loaded) = load(endless());
    let waker = Waker::from(Arc::new(Panics));
    // There are at most as many threads as cores.
    let cores = std::thread::available_parallelism().unwrap().get();
    let mut state = loaded.create_execution_state().unwrap();
    for _ in 0..=cores {
        let handle = state.interrupt_handle();
        let mut execution = state.execute_async();
        let mut context = Context::from_waker(&waker);
        let polled = std::pin::Pin::new(&mut execution).poll(&mut context);
        assert!(polled.is_pending());
        handle.interrupt();
        (state, _) = execution.wait().unwrap();
    }
}
