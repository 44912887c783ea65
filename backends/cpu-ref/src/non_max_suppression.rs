//! NonMaxSuppression and NonMaxSuppressionPadded.

use armnn_backend_api::{
    DataType, LayerView, NonMaxSuppressionDescriptor, NonMaxSuppressionPaddedDescriptor, Result,
    Workload,
};

use crate::{
    element_type::Number,
    layer_checks::{
        dims, dims_of_rank, input, invalid, num_elements, output, require_input, require_output,
    },
    workload_function::{Call, workload_function},
};

const FLOAT32: &[&[DataType]] = &[&[DataType::Float32]];

fn check_inputs(layer: LayerView<'_>) -> Result<()> {
    for position in 0..layer.input_indices().len() {
        if let Some(tensor) = layer.input(position) {
            let is_count = position == 2 && tensor.data_type() == DataType::Signed64;
            if !is_count {
                require_input(layer, position, FLOAT32)?;
            }
        }
    }
    Ok(())
}

fn check_numbers(layer: LayerView<'_>) -> Result<()> {
    for position in 2..layer.input_indices().len() {
        if let Some(tensor) = layer.input(position)
            && num_elements(layer, tensor)? != 1
        {
            return Err(invalid("thresholds are not one element each"));
        }
    }
    Ok(())
}

pub(crate) fn check(layer: LayerView<'_>, _: &NonMaxSuppressionDescriptor) -> Result<()> {
    check_inputs(layer)?;
    if layer.input(2).is_some() {
        require_input(layer, 2, &[&[DataType::Signed64]])?;
    }
    require_output(layer, 0, &[&[DataType::Signed64]])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &NonMaxSuppressionDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batches, n_boxes, four] = dims_of_rank(layer, input(layer, 0)?)?;
    let [score_batches, classes, n_scores] = dims_of_rank(layer, input(layer, 1)?)?;
    if (score_batches, n_scores, four) != (batches, n_boxes, 4) {
        return Err(invalid("there is not one score for each box of each batch"));
    }
    check_numbers(layer)?;
    let by_center = d.center_point_box == 1;
    // The order of the boxes, and which are chosen of all.
    let scratch_len = batches
        .checked_mul(classes)
        .and_then(|n| n.checked_mul(n_boxes))
        .and_then(|n| n.checked_add(n_boxes))
        .and_then(|n| n.checked_mul(size_of::<u64>()))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, scratch_len, move |call| {
        let (boxes, scores) = (call.input::<f32>(0)?, call.input::<f32>(1)?);
        let most = call.input::<i64>(2)?.first().copied().unwrap_or(0);
        let most = usize::try_from(most.max(0)).unwrap_or(usize::MAX);
        let iou_threshold = number(call, 3, 0.0)?;
        let score_threshold = number(call, 4, f32::NEG_INFINITY)?;
        let (order, chosen) = call.scratch::<u64>()?.split_at_mut(n_boxes);
        let mut count = 0;
        for group in 0..batches * classes {
            let boxes = &boxes[group / classes * n_boxes * 4..][..n_boxes * 4];
            let scores = &scores[group * n_boxes..][..n_boxes];
            let corners = |i: u64| Corners::new(&boxes[i as usize * 4..][..4], by_center);
            by_falling_score(order, scores);
            let first = count;
            for &i in &*order {
                // A score that is NaN is not above either.
                let is_good =
                    scores[i as usize] > score_threshold || score_threshold == f32::NEG_INFINITY;
                let overlaps =
                    |j: &u64| corners(*j % n_boxes as u64).iou(corners(i)) > iou_threshold;
                if count - first < most && is_good && !chosen[first..count].iter().any(overlaps) {
                    chosen[count] = (group * n_boxes) as u64 + i;
                    count += 1;
                }
            }
        }
        let out = call.allocate::<i64>(0, &[count, 3])?;
        for (out, &chosen) in out.chunks_exact_mut(3).zip(&*chosen) {
            let (group, i) = (chosen / n_boxes as u64, chosen % n_boxes as u64);
            let classes = classes as u64;
            out.copy_from_slice(&[group / classes, group % classes, i].map(|n| n as i64));
        }
        Ok(())
    })
}

fn number(call: &Call<'_, '_, '_, '_>, position: usize, default: f32) -> Result<f32> {
    Ok(call
        .input::<f32>(position)?
        .first()
        .copied()
        .unwrap_or(default))
}

/// All indices, those of the highest scores first.
pub(crate) fn by_falling_score(order: &mut [u64], scores: &[f32]) {
    for (i, index) in order.iter_mut().enumerate() {
        *index = i as u64;
    }
    order.sort_unstable_by_key(|&i| (!scores[i as usize].ordinal(), i));
}

/// Top, left, bottom and right of a box.
#[derive(Clone, Copy)]
pub(crate) struct Corners(pub(crate) [f32; 4]);

impl Corners {
    fn new(numbers: &[f32], by_center: bool) -> Self {
        let &[a, b, c, d] = numbers else {
            return Self([0.0; 4]);
        };
        match by_center {
            true => Self([b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0]),
            false => Self([a.min(c), b.min(d), a.max(c), b.max(d)]),
        }
    }

    fn area(self) -> f32 {
        let [top, left, bottom, right] = self.0;
        (bottom - top) * (right - left)
    }

    /// The intersection of two boxes through their union; 0 if either has no area.
    pub(crate) fn iou(self, other: Self) -> f32 {
        let ([top, left, bottom, right], [top2, left2, bottom2, right2]) = (self.0, other.0);
        let (area, area2) = (self.area(), other.area());
        if area <= 0.0 || area2 <= 0.0 {
            return 0.0;
        }
        let height = (bottom.min(bottom2) - top.max(top2)).max(0.0);
        let width = (right.min(right2) - left.max(left2)).max(0.0);
        let intersection = height * width;
        intersection / (area + area2 - intersection)
    }
}

pub(crate) fn check_padded(
    layer: LayerView<'_>,
    _: &NonMaxSuppressionPaddedDescriptor,
) -> Result<()> {
    check_inputs(layer)?;
    if layer.input(2).is_some() {
        require_input(layer, 2, FLOAT32)?;
    }
    require_output(layer, 0, &[&[DataType::Signed32]])?;
    require_output(layer, 1, FLOAT32)?;
    require_output(layer, 2, &[&[DataType::Signed32]])
}

pub(crate) fn padded_workload(
    layer: LayerView<'_>,
    _: &NonMaxSuppressionPaddedDescriptor,
) -> Result<Box<dyn Workload>> {
    let [n_boxes, four] = dims_of_rank(layer, input(layer, 0)?)?;
    let [most] = dims_of_rank(layer, output(layer, 0)?)?;
    let fits = four == 4
        && dims(layer, input(layer, 1)?)? == [n_boxes]
        && dims(layer, output(layer, 1)?)? == [most]
        && num_elements(layer, output(layer, 2)?)? == 1;
    if !fits {
        return Err(invalid(
            "there is not one score for each box, or outputs differ in size",
        ));
    }
    check_numbers(layer)?;
    let scratch_len = n_boxes.saturating_mul(3 * size_of::<u64>());
    workload_function(layer, scratch_len, move |call| {
        let (boxes, scores) = (call.input::<f32>(0)?, call.input::<f32>(1)?);
        let iou_threshold = number(call, 2, 0.0)?;
        let score_threshold = number(call, 3, f32::NEG_INFINITY)?;
        let sigma = number(call, 4, 0.0)?;
        let scratch = call.scratch::<u64>()?;
        let (chosen, scratch) = scratch.split_at_mut(n_boxes);
        let (begin, lowered) = scratch.split_at_mut(n_boxes);
        let corners = |i: usize| Corners::new(&boxes[i * 4..][..4], false);
        // Scores as bits; how many of the chosen boxes each has been compared with.
        for (lowered, score) in lowered.iter_mut().zip(scores) {
            *lowered = score.to_bits().into();
        }
        begin.fill(0);
        let gone = u64::MAX;
        let mut count = 0;
        while count < most {
            let score_of = |bits: u64| f32::from_bits(bits as u32);
            // The best that is left, the first of equal ones.
            let mut best: Option<(usize, f32)> = None;
            for (i, &bits) in lowered.iter().enumerate() {
                if bits != gone && score_of(bits) > score_threshold {
                    let score = score_of(bits);
                    if best.is_none_or(|(_, other)| score > other) {
                        best = Some((i, score));
                    }
                }
            }
            let Some((i, original)) = best else { break };
            // Compared with boxes chosen since it was last looked at, the latest first.
            let mut score = original;
            let mut is_suppressed = false;
            for &j in chosen[begin[i] as usize..count].iter().rev() {
                let iou = corners(i).iou(corners(j as usize));
                if iou >= iou_threshold {
                    is_suppressed = true;
                    break;
                }
                if sigma > 0.0 {
                    score *= (-0.5 / sigma * iou * iou).exp();
                }
                if score <= score_threshold {
                    break;
                }
            }
            begin[i] = count as u64;
            if is_suppressed || score <= score_threshold {
                lowered[i] = gone;
            } else if score == original {
                chosen[count] = i as u64;
                lowered[i] = gone;
                call.output::<f32>(1)?[count] = score;
                count += 1;
            } else {
                lowered[i] = score.to_bits().into();
            }
        }
        call.output::<f32>(1)?[count..].fill(0.0);
        let out = call.output::<i32>(0)?;
        out.fill(0);
        for (out, &i) in out.iter_mut().zip(&chosen[..count]) {
            *out = i as i32;
        }
        call.output::<i32>(2)?.fill(count as i32);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Results, f32s, typed};

    /// The boxes of ONNX's documentation: three overlapping pairs.
    const BOXES: [f32; 24] = [
        0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 0.0, -0.1, 1.0, 0.9, 0.0, 10.0, 1.0, 11.0, 0.0,
        10.1, 1.0, 11.1, 0.0, 100.0, 1.0, 101.0,
    ];
    const SCORES: [f32; 6] = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3];

    fn suppressed(
        boxes: &[f32],
        by_center: u32,
        most: i64,
        score_threshold: Option<f32>,
    ) -> Results {
        let d = NonMaxSuppressionDescriptor {
            center_point_box: by_center,
        };
        let call = Call::new(d)
            .input(f32s([1, 6, 4], boxes))
            .input(f32s([1, 1, 6], &SCORES))
            .input(typed(DataType::Signed64, [1], &[most]))
            .input(f32s([1], &[0.5]))
            .output(DataType::Signed64, [-1, 3]);
        let call = match score_threshold {
            Some(threshold) => call.input(f32s([], &[threshold])),
            None => call,
        };
        call.run()
    }

    #[test]
    fn a_box_is_left_out_if_a_better_one_overlaps() {
        let found = suppressed(&BOXES, 0, 3, Some(0.0));
        assert_eq!(found.shape(0), [3, 3]);
        assert_eq!(found.elements::<i64>(0), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
        let found = suppressed(&BOXES, 0, 3, Some(0.4));
        assert_eq!(found.elements::<i64>(0), [0, 0, 3, 0, 0, 0]);
        let found = suppressed(&BOXES, 0, 1, None);
        assert_eq!(found.elements::<i64>(0), [0, 0, 3]);
        assert_eq!(suppressed(&BOXES, 0, 0, None).shape(0), [0, 3]);
        // Corners the other way round, and by their centres.
        let mut flipped = BOXES;
        flipped.chunks_exact_mut(4).for_each(|b| b.swap(0, 2));
        let found = suppressed(&flipped, 0, 3, None);
        assert_eq!(found.elements::<i64>(0), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
        let mut centers = BOXES;
        for b in centers.chunks_exact_mut(4) {
            let &mut [top, left, bottom, right] = b else {
                unreachable!()
            };
            let numbers = [
                (left + right) / 2.0,
                (top + bottom) / 2.0,
                right - left,
                bottom - top,
            ];
            b.copy_from_slice(&numbers);
        }
        let found = suppressed(&centers, 1, 3, None);
        assert_eq!(found.elements::<i64>(0), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
    }

    #[test]
    fn classes_and_batches_do_not_see_each_other() {
        let d = NonMaxSuppressionDescriptor {
            center_point_box: 0,
        };
        let call = Call::new(d)
            .input(f32s([2, 1, 4], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]))
            .input(f32s([2, 2, 1], &[0.1, 0.2, 0.3, 0.4]))
            .input(typed(DataType::Signed64, [], &[5i64]))
            .output(DataType::Signed64, [-1, 3]);
        let expected = [0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0];
        assert_eq!(call.run().elements::<i64>(0), expected);
    }

    fn padded(iou: f32, score: f32, sigma: f32, most: i64) -> (Vec<i32>, Vec<f32>, i32) {
        let call = Call::new(NonMaxSuppressionPaddedDescriptor::new())
            .input(f32s([6, 4], &BOXES))
            .input(f32s([6], &SCORES))
            .input(f32s([], &[iou]))
            .input(f32s([], &[score]))
            .input(f32s([], &[sigma]))
            .output(DataType::Signed32, [most])
            .output(DataType::Float32, [most])
            .output(DataType::Signed32, []);
        let found = call.run();
        (found.elements(0), found.elements(1), found.elements(2)[0])
    }

    #[test]
    fn chosen_boxes_are_filled_up_with_0() {
        let found = padded(0.5, 0.0, 0.0, 5);
        assert_eq!(
            found,
            (vec![3, 0, 5, 0, 0], vec![0.95, 0.9, 0.3, 0.0, 0.0], 3)
        );
        let found = padded(0.5, 0.4, 0.0, 2);
        assert_eq!(found, (vec![3, 0], vec![0.95, 0.9], 2));
    }

    #[test]
    fn a_sigma_lowers_the_scores_of_boxes_that_overlap() {
        // Neighbours overlap by 0.9 / 1.1: their scores fall by exp(-(9 / 11)^2 / (2 0.5)).
        let factor = (-(0.9f32 / 1.1).powi(2)).exp();
        // Box 2 overlaps box 0 as box 1 does, and box 1 by 0.8 / 1.2.
        let (one, two) = (
            0.75 * factor,
            0.6 * factor * (-(0.8f32 / 1.2).powi(2)).exp(),
        );
        let (indices, scores, count) = padded(1.0, 0.0, 0.5, 6);
        assert_eq!((indices, count), (vec![3, 0, 1, 5, 4, 2], 6));
        let expected = [0.95, 0.9, one, 0.3, 0.5 * factor, two];
        crate::test_harness::assert_close(&scores, &expected, 1e-5);
    }
}
