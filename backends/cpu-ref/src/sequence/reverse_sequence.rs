//! ReverseSequence.

use armnn_backend_api::{LayerView, Result, ReverseSequenceDescriptor, Workload};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    movement::gather_nd::outside,
    numbers::element_type::{INDICES, by_size},
    workloads::{
        copy::element_size,
        layer_checks::{dims, input, invalid, output, require_input, require_same_quantization},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &ReverseSequenceDescriptor) -> Result<()> {
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 0, &[&[data_type]])?;
    require_input(layer, 1, INDICES)?;
    require_same_quantization(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &ReverseSequenceDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let lengths = dims(layer, input(layer, 1)?)?;
    let (time, batch) = (d.sequence_axis as usize, d.batch_axis as usize);
    let fits = dims(layer, output(layer, 0)?)? == from
        && time < from.len()
        && time != batch
        && from.get(batch).is_some_and(|&size| lengths == [size]);
    if !fits {
        return Err(invalid(format_args!(
            "sequences along dimension {time} of {from:?} do not have lengths {lengths:?}"
        )));
    }
    let strides = dense_strides(&from);
    let [(n_steps, step), (n_batches, next)] =
        [time, batch].map(|axis| (from[axis], strides[axis] as usize));
    let others = |values: &mut dyn Iterator<Item = isize>| -> Vec<isize> {
        let kept = |&(axis, _): &(usize, isize)| axis != time && axis != batch;
        values.enumerate().filter(kept).map(|(_, v)| v).collect()
    };
    let sizes = others(&mut from.iter().map(|&n| n as isize));
    let sizes: Vec<usize> = sizes.into_iter().map(|n| n as usize).collect();
    let rest = others(&mut strides.iter().copied());
    let nest = LoopNest::new(&sizes, [&rest], [0]);
    let index_type = input(layer, 1)?.data_type();
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let (from, lengths) = (call.input::<W>(0)?, call.indices(1, index_type)?);
        let out = call.output::<W>(0)?;
        let [stride] = nest.row_strides();
        for batch in 0..n_batches {
            let length = lengths.get(batch);
            let length = usize::try_from(length)
                .ok()
                .filter(|&n| n <= n_steps)
                .ok_or_else(|| outside(length, n_steps))?;
            // Without elements, there may be any number of steps.
            let n_steps = if out.is_empty() { 0 } else { n_steps };
            for time in 0..n_steps {
                let source = if time < length { length - 1 - time } else { time };
                let from_start = batch * next + source * step;
                let to_start = batch * next + time * step;
                nest.for_each_row(|[at]| {
                    let mut at = at;
                    for _ in 0..nest.row_len() {
                        out[to_start + at] = from[from_start + at];
                        at = at.wrapping_add_signed(stride);
                    }
                });
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    fn reversed(sequence_axis: u32, batch_axis: u32, lengths: &[i64]) -> Call {
        let values: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let d = ReverseSequenceDescriptor {
            sequence_axis,
            batch_axis,
        };
        Call::new(d)
            .input(f32s([4, 4], &values))
            .input(typed(DataType::Signed64, [4], lengths))
            .output(DataType::Float32, [4, 4])
    }

    #[test]
    fn steps_without_elements_take_no_time() {
        let d = ReverseSequenceDescriptor {
            sequence_axis: 0,
            batch_axis: 1,
        };
        let call = Call::new(d)
            .input(f32s([1 << 50, 1, 0], &[]))
            .input(typed(DataType::Signed64, [1], &[7i64]))
            .output(DataType::Float32, [1 << 50, 1, 0]);
        assert_eq!(call.run().f32s(), []);
    }

    /// The examples of ONNX's documentation.
    #[test]
    fn the_beginning_of_each_sequence_is_turned_round() {
        let found = reversed(0, 1, &[4, 3, 2, 1]).run().f32s();
        let expected = [
            12.0, 9.0, 6.0, 3.0, 8.0, 5.0, 2.0, 7.0, 4.0, 1.0, 10.0, 11.0, 0.0, 13.0, 14.0, 15.0,
        ];
        assert_eq!(found, expected);
        let found = reversed(1, 0, &[1, 2, 3, 4]).run().f32s();
        let expected = [
            0.0, 1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 10.0, 9.0, 8.0, 11.0, 15.0, 14.0, 13.0, 12.0,
        ];
        assert_eq!(found, expected);
        assert!(
            reversed(1, 0, &[1, 2, 3, 5])
                .error()
                .contains("5 is outside")
        );
        assert!(
            reversed(1, 0, &[1, 2, -3, 4])
                .error()
                .contains("-3 is outside")
        );
        // Slices move as a whole.
        let call = Call::new(ReverseSequenceDescriptor {
            sequence_axis: 1,
            batch_axis: 0,
        })
        .input(f32s([1, 2, 2], &[1.0, 2.0, 3.0, 4.0]))
        .input(typed(DataType::Signed32, [1], &[2]))
        .output(DataType::Float32, [1, 2, 2]);
        assert_eq!(call.run().f32s(), [3.0, 4.0, 1.0, 2.0]);
    }
}
