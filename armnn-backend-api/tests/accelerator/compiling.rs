//! Options, support, claims, constants.

use armnn_backend_api::{
    BinaryOperation, CastDescriptor, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    FullyConnectedDescriptor, OptionValue, Status, UnaryOperation, sys,
};

use crate::{
    backend, build,
    flat_graph::{FlatGraph, FlatView},
    network::{F16, F32, OUT, add, network, run},
    played_host::{Backend, LOG, State},
};

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
fn a_layer_named_alone_is_left_to_create_workload() {
    let backend = backend();
    let context = backend.create_model_context(&[]).unwrap();
    let mut g = FlatGraph::default();
    let x = g.tensor("x", F32, &[1]);
    let tensors: Vec<_> = (0..3).map(|_| g.tensor("", F32, &[1])).collect();
    g.layer("first", add(), &[x, x], &[tensors[0]]);
    let alone = g.layer("alone", add(), &[x, tensors[0]], &[tensors[1]]);
    g.layer("last", add(), &[x, tensors[1]], &[tensors[2]]);
    let view = g.finish(&[tensors[2]]);
    let answer = context.optimize(&view).unwrap();
    let claimed: Vec<_> = answer.claims.iter().map(|c| c.layers.clone()).collect();
    assert_eq!(claimed, [[0], [2]]);
    assert!(answer.failed.is_empty());
    drop(context.create_workload(&view, alone).unwrap());
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
        log.contains("FixtureAccelerator: constant 11: packing shared, the original is gone"),
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
    assert_eq!(error.layer_id(), Some(101), "the layer that reads it");
    drop((state, other, context));
    backend.shutdown().unwrap();
    backend.unload();
}

/// The tensors that a layer reads, constants left out, and the one that it makes.
type Edges = (Vec<u32>, u32);

/// A network of random additions and dense layers, of which some fail, with its layers' edges and
/// its outputs.
fn random_network(seed: u64) -> (FlatView, Vec<Edges>, Vec<u32>) {
    let mut state = seed;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % n
    };
    let mut g = FlatGraph::default();
    let dims = [2, 2];
    let mut values = vec![g.tensor("x", F32, &dims), g.tensor("y", F32, &dims)];
    let mut weights = Vec::new();
    let mut edges = Vec::new();
    for i in 0..12 {
        let name = if below(4) == 0 { "fail" } else { "layer" };
        let output = g.tensor("", F32, &dims);
        match below(4) {
            0 => {
                let half = g.constant(i + 1, F16, &dims, Some(vec![0; 8]));
                g.layer(name, CastDescriptor::new(), &[half], &[output]);
                edges.push((vec![], output));
                weights.push(output);
                continue;
            }
            1 if !weights.is_empty() => {
                let inputs = [values[below(values.len())], weights[below(weights.len())]];
                g.layer(
                    name,
                    FullyConnectedDescriptor::new(true),
                    &inputs,
                    &[output],
                );
                edges.push((inputs.to_vec(), output));
            }
            _ => {
                let inputs = [values[below(values.len())], values[below(values.len())]];
                g.layer(name, add(), &inputs, &[output]);
                edges.push((inputs.to_vec(), output));
            }
        }
        values.push(output);
    }
    let read = |t: &u32| edges.iter().any(|(inputs, _)| inputs.contains(t));
    let outputs: Vec<_> = edges.iter().map(|e| e.1).filter(|t| !read(t)).collect();
    (g.finish(&outputs), edges, outputs)
}

#[test]
fn claims_are_disjoint_and_convex_and_have_exact_boundaries() {
    let backend = backend();
    for seed in 0..300 {
        let context = backend.create_model_context(&[]).unwrap();
        let (view, edges, graph_outputs) = random_network(seed);
        let answer = context.optimize(&view).unwrap();
        let producer = |t: u32| edges.iter().position(|(_, o)| *o == t);
        let mut seen: Vec<u32> = answer.failed.iter().flat_map(|f| f.0.clone()).collect();
        for claim in &answer.claims {
            seen.extend(&claim.layers);
            let inside = |layer: usize| claim.layers.contains(&(layer as u32));
            // Layers outside that depend on the claim must not feed it.
            let mut tainted = vec![false; edges.len()];
            for (layer, (inputs, _)) in edges.iter().enumerate() {
                let producers = || inputs.iter().filter_map(|&t| producer(t));
                let after = producers().any(|p| inside(p) || tainted[p]);
                tainted[layer] = !inside(layer) && after;
                assert!(
                    !inside(layer) || !producers().any(|p| tainted[p]),
                    "seed {seed}: a path leaves {:?} and comes back at {layer}",
                    claim.layers
                );
            }
            let mut inputs: Vec<u32> = Vec::new();
            let mut outputs: Vec<u32> = Vec::new();
            for (layer, (reads, makes)) in edges.iter().enumerate() {
                for &t in reads {
                    match (inside(layer), producer(t).is_some_and(inside)) {
                        (true, false) => inputs.push(t),
                        (false, true) => outputs.push(t),
                        _ => {}
                    }
                }
                if inside(layer) && graph_outputs.contains(makes) {
                    outputs.push(*makes);
                }
            }
            let set = |mut list: Vec<u32>| {
                list.sort_unstable();
                list.dedup();
                list
            };
            assert_eq!(set(claim.inputs.clone()), set(inputs), "seed {seed}");
            assert_eq!(set(claim.outputs.clone()), set(outputs), "seed {seed}");
            assert_eq!(set(claim.inputs.clone()).len(), claim.inputs.len());
        }
        seen.sort_unstable();
        let all: Vec<u32> = (0..edges.len() as u32).collect();
        assert_eq!(seen, all, "seed {seed}: every layer once");
    }
    backend.shutdown().unwrap();
    backend.unload();
}
