//! Col2Im.

use armnn_backend_api::{Col2ImDescriptor, LayerView, Result, Workload};

use crate::{
    loops::sliding_window::SlidingWindow,
    numbers::element_type::{Number, by_number},
    workloads::{
        layer_checks::{INTEGERS, REALS, dims, input, invalid, output, require_one_type},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &Col2ImDescriptor) -> Result<()> {
    require_one_type(layer, &[REALS, INTEGERS])
}

pub(crate) fn workload(layer: LayerView<'_>, d: &Col2ImDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let mismatch = || {
        invalid(format_args!(
            "columns of shape {from:?} in blocks of {:?} do not make up {to:?}",
            d.block_shape()
        ))
    };
    if to.len() != d.block_shape().len() + 2 || from.len() != 3 {
        return Err(mismatch());
    }
    // The image is what windows slide over; there is a column for each of their positions.
    let mut windows = vec![];
    for (i, &taps) in d.block_shape().iter().enumerate() {
        let [stride, dilation, before, after] = [
            d.stride()[i],
            d.dilation()[i],
            d.pad_before()[i],
            d.pad_after()[i],
        ]
        .map(|n| n as usize);
        let extent = (taps as usize)
            .saturating_sub(1)
            .checked_mul(dilation)
            .and_then(|n| n.checked_add(1));
        let padded = to[i + 2] + before + after;
        let span = extent.and_then(|extent| padded.checked_sub(extent));
        let steps = span
            .and_then(|span| span.checked_div(stride))
            .ok_or_else(mismatch)?;
        let window = SlidingWindow {
            input: to[i + 2],
            output: steps + 1,
            taps: taps as usize,
            stride,
            dilation,
            pad_before: before,
            pad_after: after,
        };
        windows.push(window.check(false)?);
    }
    let taps = windows
        .iter()
        .try_fold(1usize, |n, w| n.checked_mul(w.taps));
    let positions = windows
        .iter()
        .try_fold(1usize, |n, w| n.checked_mul(w.output));
    let taps = taps
        .filter(|&n| n.checked_mul(to[1]) == Some(from[1]))
        .ok_or_else(mismatch)?;
    let positions = positions.filter(|&n| n == from[2]).ok_or_else(mismatch)?;
    if from[0] != to[0] {
        return Err(mismatch());
    }
    let image_len: usize = to[2..].iter().product();
    by_number!(output(layer, 0)?.data_type(), N => {
        let windows = windows.clone();
        workload_function(layer, 0, move |call| {
            let columns = call.input::<<N as Number>::Stored>(0)?;
            let out = call.output::<<N as Number>::Stored>(0)?;
            out.fill(N::ZERO.store());
            if image_len == 0 || taps * positions == 0 {
                return Ok(());
            }
            let blocks = columns.chunks_exact(taps * positions);
            for (image, block) in out.chunks_exact_mut(image_len).zip(blocks) {
                for (i, &x) in block.iter().enumerate() {
                    if let Some(at) = place(&windows, i % positions, i / positions) {
                        image[at] = N::load(image[at]).add(N::load(x)).store();
                    }
                }
            }
            Ok(())
        })
    })
}

/// Where a tap of a window at a position is in the input; `None` in the padding. Positions, taps
/// and places are row-major.
fn place(windows: &[SlidingWindow], mut position: usize, mut tap: usize) -> Option<usize> {
    let (mut at, mut stride) = (0, 1);
    for window in windows.iter().rev() {
        let along = window.position(position % window.output, tap % window.taps)?;
        position /= window.output;
        tap /= window.taps;
        at += along * stride;
        stride *= window.input;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    /// The example of ONNX's documentation: the columns of a 5 by 5 image in blocks of 1 by 5.
    #[test]
    fn columns_are_put_back() {
        let values: Vec<f32> = (0..25).map(|i| (i % 5 * 5 + i / 5) as f32).collect();
        let call = Call::new(Col2ImDescriptor::new(&[1, 5]).unwrap())
            .input(f32s([1, 5, 5], &values))
            .output(DataType::Float32, [1, 1, 5, 5]);
        let expected: Vec<f32> = (0..25).map(|i| i as f32).collect();
        assert_eq!(call.run().f32s(), expected);
    }

    #[test]
    fn overlapping_blocks_are_added_up() {
        // Blocks of 2, one apart, over 3 elements with one of padding in front: 0 1, 1 2, 2 3.
        let mut d = Col2ImDescriptor::new(&[2]).unwrap();
        d.pad_before[0] = 1;
        let call = Call::new(d)
            .input(typed(DataType::Signed32, [1, 2, 3], &[1, 2, 3, 10, 20, 30]))
            .output(DataType::Signed32, [1, 1, 3]);
        assert_eq!(call.run().elements::<i32>(0), [12, 23, 30]);
        let wrong = Call::new(d)
            .input(typed(DataType::Signed32, [1, 2, 2], &[1, 2, 3, 4]))
            .output(DataType::Signed32, [1, 1, 3]);
        assert!(wrong.error().contains("do not make up"));
    }
}
