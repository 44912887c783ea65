//! Split.

use armnn_backend_api::{LayerView, Result, SplitDescriptor, Workload};

use crate::{
    concat::part_starts,
    copy::{self, BoxCopy, copy_workload},
    layer_checks::{dims, input},
    loop_nest::{LoopNest, dense_strides},
};

pub(crate) fn check(layer: LayerView<'_>, _: &SplitDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &SplitDescriptor,
) -> Result<Box<dyn Workload>> {
    let whole = dims(layer, input(layer, 0)?)?;
    let parts = layer
        .outputs()
        .map(|tensor| dims(layer, tensor))
        .collect::<Result<Vec<_>>>()?;
    let starts = part_starts(layer, &whole, &parts, descriptor.axis)?;
    let strides = dense_strides(&whole);
    let copies = parts.iter().zip(starts).enumerate();
    let copies = copies.map(|(i, (part, start))| BoxCopy {
        input: 0,
        output: i,
        nest: LoopNest::new(part, [&strides, &dense_strides(part)], [start, 0]),
    });
    copy_workload(layer, copies.collect(), None)
}
