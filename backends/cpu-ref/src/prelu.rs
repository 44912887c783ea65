//! Prelu.

use armnn_backend_api::{
    ExecutionContext, LayerView, PreluDescriptor, Result, Synchronous, Workload,
};

use crate::{
    elementwise_binary::broadcast_nest,
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, require_one_type},
    loop_nest::{LoopNest, map_pairs},
};

pub(crate) fn check(layer: LayerView<'_>, _: &PreluDescriptor) -> Result<()> {
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &PreluDescriptor) -> Result<Box<dyn Workload>> {
    float_workload(layer, Prelu(broadcast_nest(layer)?))
}

struct Prelu(LoopNest<2>);

impl FloatKernel for Prelu {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, alpha, _]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        map_pairs(&self.0, input, alpha, output, |x, alpha| {
            if x > 0.0 { x } else { alpha * x }
        });
        Ok(())
    }
}
