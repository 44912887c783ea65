//! Transpose.

use armnn_backend_api::{LayerView, Result, TransposeDescriptor, Workload};

use crate::{
    copy::{self, BoxCopy, copy_workload},
    layer_checks::{dims, input, invalid, output},
    loop_nest::{LoopNest, dense_strides},
};

pub(crate) fn check(layer: LayerView<'_>, _: &TransposeDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &TransposeDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let permutation = descriptor.permutation();
    let is_permutation = permutation.len() == from.len()
        && (0..from.len()).all(|axis| permutation.contains(&(axis as u32)));
    let fits = is_permutation
        && to.len() == from.len()
        && to
            .iter()
            .zip(permutation)
            .all(|(&n, &p)| n == from[p as usize]);
    if !fits {
        return Err(invalid(
            layer,
            format_args!("the permutation {permutation:?} does not lead from {from:?} to {to:?}"),
        ));
    }
    let strides = dense_strides(&from);
    let strides: Vec<_> = permutation.iter().map(|&p| strides[p as usize]).collect();
    let copy = BoxCopy {
        input: 0,
        output: 0,
        nest: LoopNest::new(&to, [&strides, &dense_strides(&to)], [0, 0]),
    };
    copy_workload(layer, vec![copy], None)
}
