//! MaxPoolWithIndices.

use armnn_backend_api::{
    DataType, LayerView, MaxPoolWithIndicesDescriptor, OutputShapeRounding, Result, Shape, Workload,
};

use crate::{
    loops::{loop_nest::dense_strides, sliding_window::SlidingWindow},
    numbers::element_type::{NUMBERS, Number, by_number},
    workloads::{
        layer_checks::{
            dims, input, invalid, output, require_input, require_named, require_output,
        },
        workload_function::workload_function,
    },
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
    let (image_len, out_len): (usize, usize) =
        (from[2..].iter().product(), to[2..].iter().product());
    let column_major = d.column_major == 1;
    // Where each is.
    let scratch_len = (from[0] * from[1] * out_len).saturating_mul(size_of::<i64>());
    let strides: Vec<usize> = dense_strides(&from[2..])
        .into_iter()
        .map(|stride| stride as usize)
        .collect();
    by_number!(output(layer, 0)?.data_type(), N => workload_function(layer, scratch_len, move |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        let places = call.scratch::<i64>()?;
        for (i, place) in places.iter_mut().enumerate() {
            let image = &values[i / out_len * image_len..][..image_len];
            let best = best_place::<N>(&windows, &strides, image, i % out_len);
            // A window over nothing but padding has no place.
            *place = best.map_or(-1, |at| at as i64);
        }
        let out = call.output::<<N as Number>::Stored>(0)?;
        for (i, (out, &place)) in out.iter_mut().zip(&*places).enumerate() {
            *out = match usize::try_from(place) {
                Ok(at) => values[i / out_len * image_len + at],
                Err(_) => N::ZERO.store(),
            };
        }
        let indices = call.output::<i64>(1)?;
        for (i, (index, &place)) in indices.iter_mut().zip(&*places).enumerate() {
            *index = match usize::try_from(place) {
                Ok(at) => {
                    let at = if column_major { turned(&windows, at) } else { at };
                    (i / out_len * image_len + at) as i64
                }
                Err(_) => place,
            };
        }
        Ok(())
    }))
}

/// The place of the first largest element of the window at a position, which is row-major; NaN is
/// larger than any other. Only taps inside of the image are looked at, however many there are.
fn best_place<N: Number>(
    windows: &[SlidingWindow],
    strides: &[usize],
    image: &[N::Stored],
    mut position: usize,
) -> Option<usize> {
    // Of the taps inside: how many, and how far apart they are.
    let mut loops = [(0, 0); Shape::MAX_RANK];
    let mut at = 0;
    for (i, window) in windows.iter().enumerate().rev() {
        let along = position % window.output;
        position /= window.output;
        let taps = window.taps_inside(along);
        if taps.is_empty() {
            return None;
        }
        at += window.position(along, taps.start)? * strides[i];
        loops[i] = (taps.len(), window.dilation * strides[i]);
    }
    let loops = &loops[..windows.len()];
    let mut counters = [0; Shape::MAX_RANK];
    let mut best = (at, N::load(image[at]));
    loop {
        let x = N::load(image[at]);
        if x > best.1 || x.is_nan() && !best.1.is_nan() {
            best = (at, x);
        }
        let mut axis = loops.len();
        loop {
            if axis == 0 {
                return Some(best.0);
            }
            axis -= 1;
            let (count, step) = loops[axis];
            counters[axis] += 1;
            if counters[axis] < count {
                at += step;
                break;
            }
            counters[axis] = 0;
            at -= (count - 1) * step;
        }
    }
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

    #[test]
    fn a_huge_window_takes_no_longer_than_the_image() {
        let mut d = MaxPoolWithIndicesDescriptor::new(&[u32::MAX, u32::MAX]).unwrap();
        (d.pad_before[0], d.pad_before[1]) = (u32::MAX - 1, u32::MAX - 2);
        let call = Call::new(d)
            .input(f32s([1, 1, 1, 2], &[1.0, 2.0]))
            .output(DataType::Float32, [1, 1, 1, 1])
            .output(DataType::Signed64, [1, 1, 1, 1]);
        let found = call.run();
        assert_eq!(
            (found.f32s(), found.elements::<i64>(1)),
            (vec![2.0], vec![1])
        );
    }

    #[test]
    fn windows_may_be_dilated_and_in_any_number_of_dimensions() {
        // 0 to 26 in a cube; every second element along each dimension, of which 26 is the last.
        let mut d = MaxPoolWithIndicesDescriptor::new(&[2, 2, 2]).unwrap();
        d.dilation[..3].fill(2);
        let values: Vec<f32> = (0..27).map(|i| i as f32).collect();
        let call = Call::new(d)
            .input(f32s([1, 1, 3, 3, 3], &values))
            .output(DataType::Float32, [1, 1, 1, 1, 1])
            .output(DataType::Signed64, [1, 1, 1, 1, 1]);
        assert_eq!(call.run().elements::<i64>(1), [26]);
        let turned: Vec<f32> = values.iter().map(|x| -x).collect();
        let call = Call::new(d)
            .input(f32s([1, 1, 3, 3, 3], &turned))
            .output(DataType::Float32, [1, 1, 1, 1, 1])
            .output(DataType::Signed64, [1, 1, 1, 1, 1]);
        assert_eq!(call.run().elements::<i64>(1), [0]);
    }
}
