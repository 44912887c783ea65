//! Checks of a backend's answer to `optimize_subgraph_view`.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use super::ViewTables;
use crate::backend::{Claim, Claims};

/// What is executed as one: a claim, or a single layer that no claim has.
pub(crate) enum Unit {
    Claim(Claim),
    Layer(u32),
}

/// Checks a backend's answer, and orders what is to be executed.
///
/// # Errors
/// What is wrong with the answer: claims that overlap, name what is not there, have other
/// boundaries than their layers, or cannot be brought into an order.
pub(crate) fn units(tables: &ViewTables<'_>, claims: Claims) -> Result<Vec<Unit>, String> {
    if let Some(error) = claims.error {
        return Err(error);
    }
    let n_layers = tables.layer_ids().len();
    // For each layer, the unit that has it.
    let mut unit_of: Vec<Option<usize>> = vec![None; n_layers];
    let mut units = Vec::with_capacity(n_layers);
    for (index, claim) in claims.precompiled.into_iter().enumerate() {
        if claim.layers.is_empty() {
            return Err(format!("claim {index} has no layers"));
        }
        for &layer in &claim.layers {
            match unit_of.get_mut(layer as usize) {
                None => return Err(format!("claim {index} names layer {layer} of {n_layers}")),
                Some(Some(other)) => {
                    return Err(format!(
                        "layer {layer} is in claim {other} and in claim {index}"
                    ));
                }
                Some(slot) => *slot = Some(index),
            }
        }
        check_boundary(tables, &claim, |layer| {
            unit_of[layer as usize] == Some(index)
        })
        .map_err(|e| format!("claim {index}: {e}"))?;
        units.push(Some(Unit::Claim(claim)));
    }
    for layer in 0..n_layers as u32 {
        let slot = &mut unit_of[layer as usize];
        if slot.is_none() {
            *slot = Some(units.len());
            units.push(Some(Unit::Layer(layer)));
        }
    }
    let unit_of: Vec<usize> = unit_of.into_iter().flatten().collect();
    order(tables, units, &unit_of)
}

fn check_boundary(
    tables: &ViewTables<'_>,
    claim: &Claim,
    is_inside: impl Fn(u32) -> bool,
) -> Result<(), String> {
    let mut inputs = BTreeSet::new();
    let mut outputs = BTreeSet::new();
    for &layer in &claim.layers {
        for &tensor in tables.layer_inputs(layer) {
            let produced_inside = || tables.producer(tensor).is_some_and(&is_inside);
            if tensor != armnn_backend_api::NO_TENSOR
                && !tables.is_constant(tensor)
                && !produced_inside()
            {
                inputs.insert(tensor);
            }
        }
        for &tensor in tables.layer_outputs(layer) {
            let read_outside = || tables.consumers(tensor).iter().any(|&c| !is_inside(c));
            if tables.is_output(tensor) || read_outside() {
                outputs.insert(tensor);
            }
        }
    }
    check_list("inputs", &claim.inputs, &inputs)?;
    check_list("outputs", &claim.outputs, &outputs)
}

fn check_list(what: &str, told: &[u32], expected: &BTreeSet<u32>) -> Result<(), String> {
    let told_set: BTreeSet<u32> = told.iter().copied().collect();
    if told_set.len() != told.len() {
        return Err(format!("its {what} name a tensor twice"));
    }
    if told_set == *expected {
        return Ok(());
    }
    let missing: Vec<_> = expected.difference(&told_set).take(8).collect();
    let surplus: Vec<_> = told_set.difference(expected).take(8).collect();
    Err(format!(
        "its {what} are not those of its layers: tensors missing {missing:?}, too many {surplus:?}"
    ))
}

/// Brings units into an order in which each comes after what it reads; among those that could be
/// next, the one with the lowest layer. Claims that are not convex, alone or together, have none.
fn order(
    tables: &ViewTables<'_>,
    mut units: Vec<Option<Unit>>,
    unit_of: &[usize],
) -> Result<Vec<Unit>, String> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    let mut waiting_for = vec![0usize; units.len()];
    let mut first_layer = vec![u32::MAX; units.len()];
    for layer in 0..unit_of.len() as u32 {
        let unit = unit_of[layer as usize];
        first_layer[unit] = first_layer[unit].min(layer);
        for &tensor in tables.layer_inputs(layer) {
            if tensor == armnn_backend_api::NO_TENSOR {
                continue;
            }
            if let Some(producer) = tables.producer(tensor) {
                let from = unit_of[producer as usize];
                if from != unit {
                    successors[from].push(unit);
                    waiting_for[unit] += 1;
                }
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<(u32, usize)>> = (0..units.len())
        .filter(|&unit| waiting_for[unit] == 0)
        .map(|unit| Reverse((first_layer[unit], unit)))
        .collect();
    let mut ordered = Vec::with_capacity(units.len());
    while let Some(Reverse((_, unit))) = ready.pop() {
        ordered.extend(units[unit].take());
        for &next in &successors[unit] {
            waiting_for[next] -= 1;
            if waiting_for[next] == 0 {
                ready.push(Reverse((first_layer[next], next)));
            }
        }
    }
    match units.iter().position(Option::is_some) {
        None => Ok(ordered),
        Some(unit) => Err(format!(
            "the claims cannot be brought into an order: a path leads out of a claim and back into \
             it (see the claim with layer {})",
            first_layer[unit]
        )),
    }
}
