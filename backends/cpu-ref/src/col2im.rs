//! Col2Im, and the windows over any dimensions that MaxPoolWithIndices has.

use armnn_backend_api::{
    Col2ImDescriptor, DataType, LayerView, MaxPoolWithIndicesDescriptor, OutputShapeRounding,
    Result, Shape, Workload,
};

use crate::{
    element_type::{NUMBERS, Number, by_number},
    layer_checks::{
        FLOATS, INTEGERS, dims, input, invalid, output, require_input, require_named,
        require_one_type, require_output,
    },
    sliding_window::SlidingWindow,
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &Col2ImDescriptor) -> Result<()> {
    require_one_type(layer, &[FLOATS, INTEGERS])
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

pub(crate) fn check_max_pool(layer: LayerView<'_>, d: &MaxPoolWithIndicesDescriptor) -> Result<()> {
    let rounding = d.output_shape_rounding();
    require_named(rounding, rounding.name())?;
    require_output(layer, 0, NUMBERS)?;
    require_input(layer, 0, &[&[output(layer, 0)?.data_type()]])?;
    require_output(layer, 1, &[&[DataType::Signed64]])
}

pub(crate) fn max_pool_workload(
    layer: LayerView<'_>,
    d: &MaxPoolWithIndicesDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let fits = from.len() == d.pool().len() + 2
        && to.len() == from.len()
        && from[..2] == to[..2]
        && dims(layer, output(layer, 1)?)? == to;
    if !fits {
        return Err(invalid(format_args!("{from:?} is not pooled to {to:?}")));
    }
    let may_round_up = d.output_shape_rounding() == OutputShapeRounding::Ceiling;
    let windows = (0..d.pool().len())
        .map(|i| {
            SlidingWindow {
                input: from[i + 2],
                output: to[i + 2],
                taps: d.pool()[i] as usize,
                stride: d.stride()[i] as usize,
                dilation: d.dilation()[i] as usize,
                pad_before: d.pad_before()[i] as usize,
                pad_after: d.pad_after()[i] as usize,
            }
            .check(may_round_up)
        })
        .collect::<Result<Vec<_>>>()?;
    let taps = windows
        .iter()
        .try_fold(1usize, |n, w| n.checked_mul(w.taps));
    let taps = taps.ok_or_else(|| invalid("the window is too large"))?;
    let (image_len, out_len): (usize, usize) =
        (from[2..].iter().product(), to[2..].iter().product());
    let column_major = d.column_major == 1;
    by_number!(output(layer, 0)?.data_type(), N => {
        let windows = windows.clone();
        workload_function(layer, 0, move |call| {
            let values = call.input::<<N as Number>::Stored>(0)?;
            // Places first: what is there follows.
            let indices = call.output::<i64>(1)?;
            for (i, index) in indices.iter_mut().enumerate() {
                let (plane, position) = (i / out_len, i % out_len);
                let plane = &values[plane * image_len..][..image_len];
                let mut best: Option<(usize, N)> = None;
                for at in (0..taps).filter_map(|tap| place(&windows, position, tap)) {
                    let x = N::load(plane[at]);
                    if best.is_none_or(|(_, other)| x > other || x.is_nan() && !other.is_nan()) {
                        best = Some((at, x));
                    }
                }
                // A window over nothing but padding has no place.
                *index = best.map_or(-1, |(at, _)| at as i64);
            }
            call.output::<<N as Number>::Stored>(0)?.fill(N::ZERO.store());
            for i in 0..call.output::<i64>(1)?.len() {
                let at = call.output::<i64>(1)?[i];
                let plane = i / out_len;
                if let Ok(at) = usize::try_from(at) {
                    call.output::<<N as Number>::Stored>(0)?[i] = values[plane * image_len + at];
                    let at = if column_major { turned(&windows, at) } else { at };
                    call.output::<i64>(1)?[i] = (plane * image_len + at) as i64;
                }
            }
            Ok(())
        })
    })
}

/// A row-major place, counted along the first dimension first.
fn turned(windows: &[SlidingWindow], mut at: usize) -> usize {
    let mut position = [0; Shape::MAX_RANK];
    for (i, window) in windows.iter().enumerate().rev() {
        position[i] = at % window.input;
        at /= window.input;
    }
    let pairs = windows.iter().zip(position).rev();
    pairs.fold(0, |at, (window, along)| at * window.input + along)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn the_largest_is_found_with_its_place() {
        let mut d = MaxPoolWithIndicesDescriptor::new(&[2, 2]).unwrap();
        (d.stride[0], d.stride[1]) = (2, 2);
        let run = |d: MaxPoolWithIndicesDescriptor| {
            let values = [
                1.0,
                9.0,
                2.0,
                2.0,
                3.0,
                4.0,
                2.0,
                2.0,
                -1.0,
                -2.0,
                -3.0,
                -4.0,
                -5.0,
                -6.0,
                f32::NAN,
                0.0,
            ];
            let call = Call::new(d)
                .input(f32s([1, 2, 2, 4], &values))
                .output(DataType::Float32, [1, 2, 1, 2])
                .output(DataType::Signed64, [1, 2, 1, 2]);
            let found = call.run();
            (found.f32s(), found.elements::<i64>(1))
        };
        let (values, indices) = run(d);
        assert_eq!(values[..3], [9.0, 2.0, -1.0]);
        assert!(values[3].is_nan());
        assert_eq!(indices, [1, 2, 8, 14]);
        d.column_major = 1;
        // Column by column: (0, 1) is 2, (0, 2) is 4; in the second channel (0, 0) and (1, 2).
        assert_eq!(run(d).1, [2, 4, 8, 13]);
        let mut d = MaxPoolWithIndicesDescriptor::new(&[3]).unwrap();
        (d.pad_before[0], d.pad_after[0]) = (1, 1);
        let call = Call::new(d)
            .input(typed(DataType::UInt8, [1, 1, 3], &[1u8, 200, 3]))
            .output(DataType::UInt8, [1, 1, 3])
            .output(DataType::Signed64, [1, 1, 3]);
        let found = call.run();
        assert_eq!(
            (found.elements::<u8>(0), found.elements::<i64>(1)),
            (vec![200; 3], vec![1; 3])
        );
    }
}
