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
    require_one_type(layer, &[FLOATS])
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f16s, f32s};

    #[test]
    fn negative_numbers_are_scaled_by_their_channels_alpha() {
        let call = Call::new(PreluDescriptor::new())
            .input(f32s([2, 2], &[-2.0, -2.0, 4.0, -4.0]))
            .input(f32s([2], &[0.5, -1.0]))
            .output(DataType::Float32, [2, 2]);
        assert_eq!(call.run().f32s(), [-1.0, 2.0, 4.0, 4.0]);
        let call = Call::new(PreluDescriptor::new())
            .input(f16s([2], &[-2.0, 3.0]))
            .input(f16s([1], &[0.25]))
            .output(DataType::Float16, [2]);
        assert_eq!(call.run().f16s(), [-0.5, 3.0]);
    }
}
