//! Queues, device memory, numbers.

use std::sync::{Mutex, mpsc};

use armnn_backend_api::{
    CastDescriptor, Convolution2dDescriptor, DataLayout, FullyConnectedDescriptor, OptionValue,
    Status, sys,
};

use crate::{
    backend, build,
    flat_graph::{FlatGraph, bytes_of_f32},
    network::{F, F16, F32, OUT, R, X, add, network, relu},
    played_host::{Backend, State, absent, in_memory},
};

#[test]
fn device_memory_means_nothing_until_it_is_mapped() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let desc = network.view.tensor(network.r);
    let handle = context.create_tensor_handle(desc);
    handle.mapped(sys::ARMNN_MAP_WRITE, |elements| {
        elements.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    });
    assert_eq!(handle.read(), [1.0, 2.0, 3.0, 4.0]);
    // Mapped for reading only, so what is written is lost.
    handle.mapped(sys::ARMNN_MAP_READ, |elements| elements[0] = 9.0);
    assert_eq!(handle.read(), [1.0, 2.0, 3.0, 4.0]);
    drop(handle);
    drop(context);
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn execute_returns_before_the_work_is_done_and_wait_when_it_is() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let answer = context.optimize(&network.view).unwrap();
    let (enter, entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let may_leave = Mutex::new(may_leave);
    let steps = Mutex::new(Vec::new());
    // The device stops in its first report until this thread, back from `execute`, lets it go on.
    let profile = |step: String, ids: Vec<u32>, start: u64, end: u64| {
        assert!(start <= end);
        let first = {
            let mut steps = steps.lock().unwrap();
            steps.push((step, ids));
            steps.len() == 1
        };
        if first {
            enter.send(std::thread::current().id()).unwrap();
            may_leave.lock().unwrap().recv().unwrap();
        }
    };
    let mut state = State::new(Some(context.create_execution()), Some(&profile));
    let (mut x, mut r, mut f, mut out) = (X, [f32::NAN; 4], F, [f32::NAN; 4]);
    let tensor = |t, memory: &mut [f32]| in_memory(network.view.tensor(t), memory);
    // SAFETY: everything lives until the wait.
    unsafe {
        let x = tensor(network.x, &mut x);
        let r = tensor(network.r, &mut r);
        let f = tensor(network.f, &mut f);
        let out = tensor(network.out, &mut out);
        let [first, second] = &answer.claims[..] else {
            panic!("two claims");
        };
        first.workload.execute(&mut state, &[x], &[r]).unwrap();
        second
            .workload
            .execute(&mut state, &[f, r], &[out])
            .unwrap();
        state.execution().flush().unwrap();
        assert_ne!(entered.recv().unwrap(), std::thread::current().id());
        assert_eq!(steps.lock().unwrap().len(), 1);
        leave.send(()).unwrap();
        state.execution().wait().unwrap();
    }
    assert_eq!((r, out), (R, OUT));
    // Cast, FullyConnected and ReLu are one step.
    let expected = [
        ("FullyConnected", vec![100, 101, 102]),
        ("Mul", vec![104]),
        ("Add", vec![105]),
    ];
    let steps = steps.lock().unwrap();
    for ((step, ids), (expected_step, expected_ids)) in steps.iter().zip(&expected) {
        assert_eq!((step.as_str(), ids), (*expected_step, expected_ids));
    }
    assert_eq!(steps.len(), expected.len());
    drop((state, answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn more_calls_than_the_queue_is_deep_are_done_in_order() {
    let backend = backend();
    let context = backend
        .create_model_context(&[("queue_depth", OptionValue::Int(2))])
        .unwrap();
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[1]);
    let y = g.tensor("y", F32, &[1]);
    let one = g.constant(1, F32, &[], Some(bytes_of_f32(&[1.0])));
    g.layer("increment", add(), &[x, one], &[y]);
    let view = g.finish(&[y]);
    let answer = context.optimize(&view).unwrap();
    let mut state = State::new(Some(context.create_execution()), None);
    // Each call reads what the one before wrote.
    let mut cells: Vec<f32> = vec![0.0; 51];
    let first = cells.as_mut_ptr();
    for i in 0..50 {
        let at = |i: usize, t| {
            let mut tensor = absent(view.tensor(t));
            // SAFETY: within the cells.
            tensor.data = unsafe { first.add(i) }.cast();
            tensor
        };
        // SAFETY: the cells live until the wait.
        unsafe {
            answer.claims[0]
                .workload
                .execute(&mut state, &[at(i, x)], &[at(i + 1, y)])
                .unwrap();
        }
    }
    state.execution().wait().unwrap();
    assert!(
        cells.iter().enumerate().all(|(i, &c)| c == i as f32),
        "{cells:?}"
    );
    drop((state, answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn an_execution_that_is_destroyed_with_work_queued_finishes_it_first() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let answer = context.optimize(&network.view).unwrap();
    let mut state = State::new(Some(context.create_execution()), None);
    let (mut x, mut r) = (X, [f32::NAN; 4]);
    // SAFETY: everything lives until the execution is destroyed.
    unsafe {
        let x = in_memory(network.view.tensor(network.x), &mut x);
        let r = in_memory(network.view.tensor(network.r), &mut r);
        answer.claims[0]
            .workload
            .execute(&mut state, &[x], &[r])
            .unwrap();
    }
    drop(state);
    assert_eq!(r, R);
    drop((answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn a_lost_device_is_told_by_the_wait_that_covers_it_with_the_layer_and_by_every_later_one() {
    let backend = Backend::load(&build());
    backend
        .initialize(&[("lose_device_after", OptionValue::Int(1))])
        .unwrap();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let answer = context.optimize(&network.view).unwrap();
    let mut state = State::new(Some(context.create_execution()), None);
    let (mut x, mut r) = (X, [f32::NAN; 4]);
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        // SAFETY: everything lives until the wait.
        unsafe {
            let x = in_memory(network.view.tensor(network.x), &mut x);
            let r = in_memory(network.view.tensor(network.r), &mut r);
            answer.claims[0]
                .workload
                .execute(&mut state, &[x], &[r])
                .unwrap();
        }
        outcomes.push(
            state
                .execution()
                .wait()
                .map_err(|e| (e.status(), e.layer_id())),
        );
    }
    assert_eq!(
        outcomes,
        [
            Ok(()),
            // The dense layer, which the Cast before it is a part of.
            Err((Status::DeviceLost, Some(101))),
            Err((Status::DeviceLost, Some(101)))
        ]
    );
    // An error is told once.
    state.execution().wait().unwrap();
    drop((state, answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn a_workload_for_one_layer_gets_constants_and_absent_inputs_as_well() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[1, 2]);
    let w = g.constant(1, F32, &[2, 2], Some(bytes_of_f32(&[1.0, 2.0, 3.0, 4.0])));
    let y = g.tensor("y", F32, &[1, 2]);
    let layer = g.layer(
        "dense",
        FullyConnectedDescriptor::new(false),
        &[x, w, sys::ARMNN_NO_TENSOR],
        &[y],
    );
    let view = g.finish(&[y]);
    let workload = context.create_workload(&view, layer).unwrap();
    assert_eq!(context.released(), [1]);
    let mut state = State::new(Some(context.create_execution()), None);
    let (mut xs, mut ys) = ([10.0, 100.0], [f32::NAN; 2]);
    let absent_bias = sys::ArmnnTensor {
        byte_len: 0,
        ..absent(view.tensor(w))
    };
    // SAFETY: everything lives until the wait.
    unsafe {
        let inputs = [
            in_memory(view.tensor(x), &mut xs),
            absent(view.tensor(w)),
            absent_bias,
        ];
        let outputs = [in_memory(view.tensor(y), &mut ys)];
        workload.execute(&mut state, &inputs, &outputs).unwrap();
        state.execution().wait().unwrap();
        // Weights [inputs, outputs]: [10 + 300, 20 + 400].
        assert_eq!(ys, [310.0, 420.0]);

        // Without an execution the work is done when the call returns.
        ys = [f32::NAN; 2];
        workload
            .execute(&mut State::default(), &inputs, &outputs)
            .unwrap();
        assert_eq!(ys, [310.0, 420.0]);

        let error = workload
            .execute(&mut state, &inputs[..1], &outputs)
            .unwrap_err();
        assert_eq!(
            error.message(),
            "1 inputs and 1 outputs were given, not 3 and 1"
        );
    }
    drop((state, workload, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn a_convolution_takes_half_precision_weights_and_device_memory() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[1, 3, 3, 1]);
    // Two filters of 2 x 2: [[1, 2], [-1, 0.5]] and [[0, 0], [0, 1]] (binary16).
    let halves = [0x3c00_u16, 0x4000, 0xbc00, 0x3800, 0, 0, 0, 0x3c00];
    let halves = halves.iter().flat_map(|h| h.to_ne_bytes()).collect();
    let w16 = g.constant(1, F16, &[2, 2, 2, 1], Some(halves));
    let w = g.tensor("w", F32, &[2, 2, 2, 1]);
    let b = g.constant(2, F32, &[2], Some(bytes_of_f32(&[0.5, -6.0])));
    let y = g.tensor("y", F32, &[1, 2, 2, 2]);
    let z = g.tensor("z", F32, &[1, 2, 2, 2]);
    g.layer("widen", CastDescriptor::new(), &[w16], &[w]);
    let descriptor = Convolution2dDescriptor {
        pad_left: 1,
        pad_top: 1,
        stride_x: 2,
        stride_y: 2,
        ..Convolution2dDescriptor::new(DataLayout::Nhwc)
    };
    g.layer("convolve", descriptor, &[x, w, b], &[y]);
    g.layer("relu", relu(), &[y], &[z]);
    let view = g.finish(&[z]);
    let answer = context.optimize(&view).unwrap();
    assert_eq!(answer.claims.len(), 1);
    let (from, to) = (
        context.create_tensor_handle(view.tensor(x)),
        context.create_tensor_handle(view.tensor(z)),
    );
    from.mapped(sys::ARMNN_MAP_WRITE, |elements| {
        elements.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    });
    let mut state = State::new(Some(context.create_execution()), None);
    // SAFETY: everything lives until the wait.
    unsafe {
        let (from, to) = (from.tensor(view.tensor(x)), to.tensor(view.tensor(z)));
        let workload = &answer.claims[0].workload;
        workload.execute(&mut state, &[from], &[to]).unwrap();
        state.execution().wait().unwrap();
    }
    // Windows: [0 0; 0 1], [0 0; 2 3], [0 4; 0 7], [5 6; 8 9]. First filter, plus 0.5:
    // 0.5 + 0.5, -2 + 1.5 + 0.5, 8 + 3.5 + 0.5, 5 + 12 - 8 + 4.5 + 0.5.
    // Second filter, minus 6, not below 0: 1 - 6, 3 - 6, 7 - 6, 9 - 6.
    assert_eq!(to.read(), [1.0, 0.0, 0.0, 0.0, 12.0, 1.0, 14.0, 3.0]);
    drop((from, to, state, answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn several_threads_share_a_workload_each_with_an_execution_of_its_own() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let answer = context.optimize(&network.view).unwrap();
    let workload = &answer.claims[0].workload;
    let (dx, dr) = (
        *network.view.tensor(network.x),
        *network.view.tensor(network.r),
    );
    let (x_len, r_len) = (dx.byte_len, dr.byte_len);
    let (x_shape, r_shape) = (dx.shape, dr.shape);
    let tensor = |byte_len, shape, data: *mut f32| sys::ArmnnTensor {
        struct_size: size_of::<sys::ArmnnTensor>(),
        data: data.cast(),
        byte_len,
        handle: std::ptr::null_mut(),
        offset: 0,
        shape,
    };
    let executions: Vec<_> = (0..4).map(|_| context.create_execution()).collect();
    std::thread::scope(|scope| {
        for execution in executions {
            scope.spawn(move || {
                let mut state = State::new(Some(execution), None);
                for _ in 0..50 {
                    let (mut x, mut r) = (X, [f32::NAN; 4]);
                    // SAFETY: everything lives until the wait.
                    unsafe {
                        let x = tensor(x_len, x_shape, x.as_mut_ptr());
                        let r = tensor(r_len, r_shape, r.as_mut_ptr());
                        workload.execute(&mut state, &[x], &[r]).unwrap();
                    }
                    state.execution().wait().unwrap();
                    assert_eq!(r, R);
                }
            });
        }
    });
    drop((answer, context));
    backend.shutdown().unwrap();
    backend.unload();
}
