//! The network of most tests, and how a host runs it.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, CastDescriptor,
    ElementwiseBinaryDescriptor, FullyConnectedDescriptor, sys,
};

use crate::{
    flat_graph::{FlatGraph, FlatView, bytes_of_f32},
    played_host::{Context, State, imported, in_memory},
};

pub const F32: u32 = sys::ARMNN_DATA_TYPE_FLOAT32;
pub const F16: u32 = sys::ARMNN_DATA_TYPE_FLOAT16;

pub fn add() -> ElementwiseBinaryDescriptor {
    ElementwiseBinaryDescriptor::new(BinaryOperation::Add)
}

pub fn mul() -> ElementwiseBinaryDescriptor {
    ElementwiseBinaryDescriptor::new(BinaryOperation::Mul)
}

pub fn relu() -> ActivationDescriptor {
    ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0)
}

/// Tensors of the network below.
pub struct Network {
    pub view: FlatView,
    pub x: u32,
    pub r: u32,
    pub f: u32,
    pub out: u32,
}

/// r = relu(x W^T + b), W being Float16; f = r + c; out = f * r + k.
///
/// W = [[1, 2, -1], [0.5, 0, -4]], b = [1, 100], c = [10, 20], k = [0.5].
pub fn network(batch: i64, constants_are_there: bool) -> Network {
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
pub const X: [f32; 6] = [1.0, 2.0, 3.0, -1.0, 0.0, 0.5];
pub const R: [f32; 4] = [3.0, 88.5, 0.0, 97.5];
/// f = r + [10, 20]; out = f * r + 0.5 = [13 * 3, 108.5 * 88.5, 0, 117.5 * 97.5] + 0.5.
pub const F: [f32; 4] = [13.0, 108.5, 10.0, 117.5];
pub const OUT: [f32; 4] = [39.5, 9602.75, 0.5, 11456.75];

/// Runs the network as a host does: the first claim, the failed layer elsewhere, the second claim.
/// `r` is in device memory, `f` in imported memory.
pub fn run(context: &Context, network: &Network, state: &mut State<'_>) -> Vec<f32> {
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
