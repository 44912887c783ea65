//! The accelerator in C, driven as a host drives it: asynchronous execution, memory of its own,
//! claims, packed constants. Numbers come from arithmetic shown here.

mod compiler;
mod flat_graph;
mod played_host;

use std::{
    path::PathBuf,
    process::Command,
    sync::{Mutex, OnceLock, mpsc},
};

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, CastDescriptor,
    ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor, FullyConnectedDescriptor, OptionValue,
    Status, UnaryOperation, sys,
};
use compiler::{Language, fixture_folder, shared_object};
use flat_graph::{FlatGraph, FlatView, bytes_of_f32};
use played_host::{Backend, Context, LOG, State, absent, imported, in_memory, is_mapped};

const F32: u32 = sys::ARMNN_DATA_TYPE_FLOAT32;
const F16: u32 = sys::ARMNN_DATA_TYPE_FLOAT16;

/// Set in the child process that runs these tests with sanitizers.
const SANITIZE: &str = "ARMNN_TEST_SANITIZE";

fn build() -> PathBuf {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Fixture_Accelerator_backend.so");
        let sources: Vec<_> = std::fs::read_dir(fixture_folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|p| {
                let name = p.file_name().unwrap().to_str().unwrap();
                name.starts_with("accelerator") && name.ends_with(".c")
            })
            .collect();
        let arguments: &[&str] = if std::env::var_os(SANITIZE).is_some() {
            &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        } else {
            &[]
        };
        shared_object(Language::C11, &sources, arguments, &path).unwrap();
        (folder, path)
    });
    path.clone()
}

fn backend() -> Backend {
    let backend = Backend::load(&build());
    backend.initialize(&[]).unwrap();
    backend
}

fn add() -> ElementwiseBinaryDescriptor {
    ElementwiseBinaryDescriptor::new(BinaryOperation::Add)
}

fn mul() -> ElementwiseBinaryDescriptor {
    ElementwiseBinaryDescriptor::new(BinaryOperation::Mul)
}

fn relu() -> ActivationDescriptor {
    ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0)
}

/// Tensors of the network below.
struct Network {
    view: FlatView,
    x: u32,
    r: u32,
    f: u32,
    out: u32,
}

/// r = relu(x W^T + b), W being Float16; f = r + c; out = f * r + k.
///
/// W = [[1, 2, -1], [0.5, 0, -4]], b = [1, 100], c = [10, 20], k = [0.5].
fn network(batch: i64, constants_are_there: bool) -> Network {
    let data = |bytes: Vec<u8>| constants_are_there.then_some(bytes);
    let f32s = |values: &[f32]| data(bytes_of_f32(values));
    // binary16: 1 = 0x3c00, 2 = 0x4000, -1 = 0xbc00, 0.5 = 0x3800, -4 = 0xc400.
    let halves = [0x3c00_u16, 0x4000, 0xbc00, 0x3800, 0, 0xc400];
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[batch, 3]);
    let w16 = g.constant(
        11,
        F16,
        &[2, 3],
        data(halves.iter().flat_map(|h| h.to_ne_bytes()).collect()),
    );
    let w = g.tensor("w", F32, &[2, 3]);
    let b = g.constant(12, F32, &[2], f32s(&[1.0, 100.0]));
    let d = g.tensor("d", F32, &[batch, 2]);
    let r = g.tensor("r", F32, &[batch, 2]);
    // The layer that fails is another backend's, which keeps its constant.
    let c = g.constant(13, F32, &[2], Some(bytes_of_f32(&[10.0, 20.0])));
    let f = g.tensor("f", F32, &[batch, 2]);
    let m = g.tensor("m", F32, &[batch, 2]);
    let k = g.constant(14, F32, &[1], f32s(&[0.5]));
    let out = g.tensor("out", F32, &[batch, 2]);
    g.layer("widen", CastDescriptor::new(), &[w16], &[w]);
    g.layer(
        "dense",
        FullyConnectedDescriptor::new(true),
        &[x, w, b],
        &[d],
    );
    g.layer("relu", relu(), &[d], &[r]);
    g.layer("this must fail", add(), &[r, c], &[f]);
    g.layer("scale", mul(), &[f, r], &[m]);
    g.layer("shift", add(), &[m, k], &[out]);
    Network {
        view: g.finish(&[out]),
        x,
        r,
        f,
        out,
    }
}

/// Row [1, 2, 3]: x W^T = [1 + 4 - 3, 0.5 - 12] = [2, -11.5]; plus b: [3, 88.5]; relu: the same.
/// Row [-1, 0, 0.5] W^T = [-1 - 0.5, -0.5 - 2] = [-1.5, -2.5]; plus b: [-0.5, 97.5]; relu: [0, 97.5].
const X: [f32; 6] = [1.0, 2.0, 3.0, -1.0, 0.0, 0.5];
const R: [f32; 4] = [3.0, 88.5, 0.0, 97.5];
/// f = r + [10, 20]; out = f * r + 0.5 = [13 * 3, 108.5 * 88.5, 0, 117.5 * 97.5] + 0.5.
const F: [f32; 4] = [13.0, 108.5, 10.0, 117.5];
const OUT: [f32; 4] = [39.5, 9602.75, 0.5, 11456.75];

/// Runs the network as a host does: the first claim, the failed layer elsewhere, the second claim.
/// `r` is in device memory, `f` in imported memory.
fn run(context: &Context, network: &Network, state: &mut State<'_>) -> Vec<f32> {
    let view = &network.view;
    let answer = context.optimize(view).unwrap();
    let batch = view.tensor(network.x).shape.dims[0] as usize;
    let r = context.create_tensor_handle(view.tensor(network.r));
    let mut x = X[..3 * batch].to_vec();
    // The tensor starts in the middle of what is imported.
    let mut arena = vec![f32::NAN; 8 + 2 * batch];
    let arena_handle = context.import_host_memory(&mut arena);
    let mut out = vec![f32::NAN; 2 * batch];
    // SAFETY: everything lives until the waits.
    unsafe {
        let first = &answer.claims[0].workload;
        let x = in_memory(view.tensor(network.x), &mut x);
        first
            .execute(state, &[x], &[r.tensor(view.tensor(network.r))])
            .unwrap();
        state.execution().flush().unwrap();
        state.execution().wait().unwrap();
    }
    for (f, (r, c)) in arena[8..]
        .iter_mut()
        .zip(r.read().iter().zip([10.0, 20.0, 10.0, 20.0]))
    {
        *f = r + c;
    }
    let second = &answer.claims[1];
    let inputs: Vec<_> = second
        .inputs
        .iter()
        .map(|&t| {
            let desc = view.tensor(t);
            if t == network.f {
                imported(desc, &mut arena, &arena_handle, 8)
            } else {
                r.tensor(desc)
            }
        })
        .collect();
    // SAFETY: as above.
    unsafe {
        let out = in_memory(view.tensor(network.out), &mut out);
        second.workload.execute(state, &inputs, &[out]).unwrap();
        state.execution().flush().unwrap();
        state.execution().wait().unwrap();
    }
    assert_eq!(arena[8..], F[..2 * batch]);
    out
}

#[test]
fn it_says_what_it_is_and_finds_its_device() {
    let backend = backend();
    assert_eq!(backend.id(), "FixtureAccelerator");
    assert_eq!(
        backend.capabilities().kind,
        sys::ARMNN_BACKEND_KIND_ACCELERATOR
    );
    assert_eq!(backend.probe().unwrap(), ["thread0"]);
    backend.shutdown().unwrap();
    backend.unload();

    let backend = Backend::load(&build());
    backend
        .initialize(&[("no_device", OptionValue::Bool(true))])
        .unwrap();
    let error = backend.probe().unwrap_err();
    assert_eq!(error.status(), Status::Unavailable);
    assert!(error.message().contains("no_device"), "{error}");
    backend.unload();
}

#[test]
fn an_unknown_or_wrong_option_is_an_error_that_helps() {
    let backend = Backend::load(&build());
    for (option, value, expected) in [
        (
            "speed",
            OptionValue::Int(1),
            "unknown option `speed`; known: queue_depth, lose_device_after, no_device",
        ),
        (
            "queue_depth",
            OptionValue::Int(0),
            "option `queue_depth` must be an integer from 1 to 1024",
        ),
        (
            "no_device",
            OptionValue::Str("yes"),
            "option `no_device` must be true or false",
        ),
    ] {
        let error = backend.initialize(&[(option, value)]).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        assert_eq!(error.message(), expected);
    }
    let error = backend
        .create_model_context(&[("no_device", OptionValue::Bool(true))])
        .err()
        .unwrap();
    assert_eq!(
        error.message(),
        "unknown option `no_device`; known: queue_depth"
    );
    backend.unload();
}

#[test]
fn layers_are_refused_with_a_reason_and_weights_are_judged_by_their_producer() {
    let backend = backend();
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[-1, 3]);
    let (y, z) = (g.tensor("y", F32, &[-1, 3]), g.tensor("z", F32, &[-1, 3]));
    let w = g.tensor("w", F32, &[3, 3]);
    let d = g.tensor("d", F32, &[-1, 3]);
    let unary = g.layer(
        "unary",
        ElementwiseUnaryDescriptor::new(UnaryOperation::Exp),
        &[x],
        &[y],
    );
    let subtraction = g.layer(
        "sub",
        ElementwiseBinaryDescriptor::new(BinaryOperation::Sub),
        &[x, y],
        &[z],
    );
    let dense = g.layer("dense", FullyConnectedDescriptor::new(false), &[z, w], &[d]);
    let view = g.finish(&[d]);
    for (layer, expected) in [
        (unary, "the accelerator does not know this layer type"),
        (subtraction, "only Add and Mul are implemented"),
        (
            dense,
            "the weights must be a constant of Float32 or Float16, or a Cast of one",
        ),
    ] {
        let error = backend.is_layer_supported(&view, layer).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        assert_eq!(error.message(), expected);
    }
    let network = network(2, true);
    for layer in 0..6 {
        backend.is_layer_supported(&network.view, layer).unwrap();
    }
    backend.unload();
}

#[test]
fn it_claims_what_lies_before_and_behind_a_layer_that_fails() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let network = network(2, true);
    let answer = context.optimize(&network.view).unwrap();
    assert_eq!(answer.failed.len(), 1);
    assert_eq!(answer.failed[0].0, [3]);
    assert_eq!(
        answer.failed[0].1,
        "the accelerator fails on layers named so"
    );
    let claims: Vec<_> = answer
        .claims
        .iter()
        .map(|c| (c.layers.clone(), c.inputs.clone(), c.outputs.clone()))
        .collect();
    assert_eq!(
        claims,
        [
            (vec![0, 1, 2], vec![network.x], vec![network.r]),
            (vec![4, 5], vec![network.f, network.r], vec![network.out]),
        ]
    );
    let error = context.create_workload(&network.view, 3).err().unwrap();
    assert_eq!(error.status(), Status::Unsupported);
    drop(answer);
    drop(context);
    backend.shutdown().unwrap();
    backend.unload();
}

#[test]
fn two_plans_share_packed_constants_which_are_released_after_the_first() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let mut state = State::new(Some(context.create_execution()), None);
    assert_eq!(run(&context, &network(2, true), &mut state), OUT);
    let mut released = context.released();
    released.sort_unstable();
    // Not 13: that layer failed.
    assert_eq!(released, [11, 12, 14]);

    // The host has dropped them. Another shape, another plan.
    assert_eq!(run(&context, &network(1, false), &mut state), OUT[..2]);
    assert_eq!(context.released().len(), 3, "released once each");
    let log = LOG.lock().unwrap().join("\n");
    assert!(
        log.contains("FixtureAccelerator: constant 11: packed"),
        "{log}"
    );
    assert!(
        log.contains("FixtureAccelerator: constant 11: packing shared"),
        "{log}"
    );

    // Another network has packed nothing.
    let other = backend.create_model_context(&[]).unwrap();
    let error = other.optimize(&network(1, false).view).err().unwrap();
    assert!(
        error
            .message()
            .contains("constant 11 (`constant 11`) has no data"),
        "{error}"
    );
    drop((state, other, context));
    backend.shutdown().unwrap();
    backend.unload();
}

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
fn a_lost_device_is_told_by_the_wait_that_covers_it_and_by_every_later_one() {
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
        outcomes.push(state.execution().wait().map_err(|e| e.status()));
    }
    assert_eq!(
        outcomes,
        [Ok(()), Err(Status::DeviceLost), Err(Status::DeviceLost)]
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

#[test]
fn shutdown_is_refused_while_a_context_lives_and_afterwards_the_library_is_unmapped() {
    // A copy under a name of its own, since other tests have the other one open.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Fixture_Unmapped_backend.so");
    std::fs::copy(build(), &path).unwrap();
    let backend = Backend::load(&path);
    backend.initialize(&[]).unwrap();
    let context = backend.create_model_context(&[]).unwrap();
    let error = backend.shutdown().unwrap_err();
    assert_eq!(error.message(), "1 model contexts are still there");
    drop(context);
    backend.shutdown().unwrap();
    assert!(is_mapped(&path));
    backend.unload();
    assert!(!is_mapped(&path));
}

#[test]
fn all_of_this_is_clean_under_sanitizers() {
    if std::env::var_os(SANITIZE).is_some() {
        return; // The child below.
    }
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let runtime = Command::new(compiler)
        .arg("-print-file-name=libasan.so")
        .output()
        .unwrap();
    let runtime = PathBuf::from(String::from_utf8(runtime.stdout).unwrap().trim());
    if !runtime.is_absolute() {
        eprintln!("skipped: the C compiler has no shared address sanitizer");
        return;
    }
    let run = |options: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .env(SANITIZE, "1")
            .env("LD_PRELOAD", &runtime)
            .env("ASAN_OPTIONS", options)
            .output()
            .unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text += &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (mut success, mut text) = run("detect_leaks=1");
    if text.contains("LeakSanitizer has encountered a fatal error") {
        eprintln!("leaks were not looked for: this process may not be traced");
        (success, text) = run("detect_leaks=0");
    }
    assert!(success, "{text}");
}
