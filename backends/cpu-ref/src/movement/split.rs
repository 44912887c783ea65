//! Split.

use armnn_backend_api::{LayerView, Result, SplitDescriptor, Workload};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    movement::concat::part_starts,
    workloads::{
        copy::{self, BoxCopy, copy_workload},
        layer_checks::{dims, input},
    },
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
    let starts = part_starts(&whole, &parts, descriptor.axis)?;
    let strides = dense_strides(&whole);
    let copies = parts.iter().zip(starts).enumerate();
    let copies = copies.map(|(i, (part, start))| BoxCopy {
        input: 0,
        output: i,
        nest: LoopNest::new(part, [&strides, &dense_strides(part)], [start, 0]),
    });
    copy_workload(layer, copies.collect(), None)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s};

    #[test]
    fn the_input_is_cut_into_parts_of_the_outputs_sizes() {
        let call = Call::new(SplitDescriptor { axis: 1 })
            .input(f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .output(DataType::Float32, [2, 1])
            .output(DataType::Float32, [2, 0])
            .output(DataType::Float32, [2, 2]);
        let found = call.run();
        assert_eq!(found.elements::<f32>(0), [1.0, 4.0]);
        assert!(found.elements::<f32>(1).is_empty());
        assert_eq!(found.elements::<f32>(2), [2.0, 3.0, 5.0, 6.0]);
    }

    #[test]
    fn parts_that_do_not_make_up_the_input_are_an_error() {
        let call = Call::new(SplitDescriptor { axis: 0 })
            .input(f32s([3], &[0.0; 3]))
            .output(DataType::Float32, [1])
            .output(DataType::Float32, [1]);
        assert!(call.error().contains("add up to 2"));
    }
}
