//! MaxPoolWithIndices.

use armnn_backend_api::{
    DataType, LayerView, MaxPoolWithIndicesDescriptor, OutputShapeRounding, Result, Shape, Workload,
};

use crate::{
    col2im::place,
    element_type::{NUMBERS, Number, by_number},
    layer_checks::{dims, input, invalid, output, require_input, require_named, require_output},
    sliding_window::SlidingWindow,
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, d: &MaxPoolWithIndicesDescriptor) -> Result<()> {
    let rounding = d.output_shape_rounding();
    require_named(rounding, rounding.name())?;
    require_output(layer, 0, NUMBERS)?;
    require_input(layer, 0, &[&[output(layer, 0)?.data_type()]])?;
    require_output(layer, 1, &[&[DataType::Signed64]])
}

pub(crate) fn workload(
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
