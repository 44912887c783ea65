//! NonMaxSuppression and NonMaxSuppressionPadded.
//!
//! Of equal scores the box with the lower index is the better one. A score that is NaN is below any
//! other.

use std::cmp::Ordering;

use armnn_backend_api::{
    DataType, LayerView, NonMaxSuppressionDescriptor, NonMaxSuppressionPaddedDescriptor, Result,
    Workload,
};

use crate::{
    numbers::{
        element_type::INDICES,
        float_tensors::{ScratchLen, float_function},
    },
    workloads::layer_checks::{
        FLOATS, dims_of_rank, input, input_role, invalid, num_elements, output, require_input,
        require_output,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &NonMaxSuppressionDescriptor) -> Result<()> {
    require_floats(layer, &[0, 1, 3, 4])?;
    if layer.input(2).is_some() {
        require_input(layer, 2, INDICES)?;
    }
    require_output(layer, 0, &[&[DataType::Signed64]])
}

/// The first of these inputs is a floating-point type, and the others, if they are there, the same.
fn require_floats(layer: LayerView<'_>, positions: &[usize]) -> Result<()> {
    require_input(layer, 0, &[FLOATS])?;
    let common: &[&[DataType]] = &[&[input(layer, 0)?.data_type()]];
    for &position in positions {
        if layer.input(position).is_some() {
            require_input(layer, position, common)?;
        }
    }
    Ok(())
}

/// Inputs that are single numbers have one element.
fn require_single_elements(layer: LayerView<'_>, positions: &[usize]) -> Result<()> {
    for &position in positions {
        if let Some(tensor) = layer.input(position)
            && num_elements(layer, tensor)? != 1
        {
            return Err(invalid(format_args!(
                "{} has not one element, but the shape {}",
                input_role(layer.layer_type(), position),
                tensor.shape()
            )));
        }
    }
    Ok(())
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &NonMaxSuppressionDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batch, boxes, numbers] = dims_of_rank(layer, input(layer, 0)?)?;
    let [score_batch, classes, scores] = dims_of_rank(layer, input(layer, 1)?)?;
    if numbers != 4 || (score_batch, scores) != (batch, boxes) {
        return Err(invalid(format_args!(
            "boxes of shape [{batch}, {boxes}, {numbers}] have no scores of shape \
             [{score_batch}, {classes}, {scores}]"
        )));
    }
    require_single_elements(layer, &[2, 3, 4])?;
    output(layer, 0)?;
    let at_most = layer.input(2).map(|tensor| tensor.data_type());
    let center_point_box = d.center_point_box == 1;
    if u32::try_from(boxes).is_err() {
        return Err(invalid(format_args!("there are {boxes} boxes")));
    }
    // The boxes in order, and of each class of each batch how many were chosen, and which.
    let all_classes = batch.saturating_mul(classes);
    let scratch_len = ScratchLen {
        floats: 0,
        indices: all_classes
            .saturating_mul(boxes.saturating_add(1))
            .saturating_add(boxes),
    };
    float_function(layer, scratch_len, move |call, tensors| {
        let at_most = match at_most {
            Some(data_type) => {
                let number = call.indices(2, data_type)?.get(0).max(0);
                usize::try_from(number).unwrap_or(usize::MAX)
            }
            None => 0,
        };
        let [all_boxes, all_scores, ..] = tensors.inputs;
        let iou_threshold = tensors.inputs[3].first().copied().unwrap_or(0.0);
        let score_threshold = tensors.inputs[4].first().copied();
        let (order, rest) = tensors.index_scratch.split_at_mut(boxes);
        let (counts, chosen) = rest.split_at_mut(all_classes);
        for (class, count) in counts.iter_mut().enumerate() {
            let scores = &all_scores[class * boxes..][..boxes];
            let of_batch = &all_boxes[class / classes * boxes * 4..][..boxes * 4];
            let corners = |index| corners(of_batch, index, center_point_box);
            let chosen = &mut chosen[class * boxes..][..boxes];
            let is_good = |score: f32| match score_threshold {
                Some(threshold) => score > threshold,
                None => !score.is_nan(),
            };
            let order = in_order(scores, is_good, order);
            *count = choose(order, corners, iou_threshold, at_most, chosen) as u32;
        }
        let total = counts.iter().map(|&count| count as usize).sum();
        let out = call.allocate::<i64>(0, &[total, 3])?;
        let mut rows = out.chunks_exact_mut(3);
        for (class, &count) in counts.iter().enumerate() {
            let chosen = &chosen[class * boxes..][..count as usize];
            let [batch, class] = [class / classes, class % classes].map(|place| place as i64);
            for (&index, row) in chosen.iter().zip(&mut rows) {
                row.copy_from_slice(&[batch, class, index.into()]);
            }
        }
        Ok(())
    })
}

/// The boxes whose score is good, and so not NaN, the best first.
pub(crate) fn in_order<'a>(
    scores: &[f32],
    is_good: impl Fn(f32) -> bool,
    order: &'a mut [u32],
) -> &'a [u32] {
    let mut n = 0;
    for (index, &score) in (0..).zip(scores) {
        if is_good(score) {
            order[n] = index;
            n += 1;
        }
    }
    let order = &mut order[..n];
    order.sort_unstable_by(|&a, &b| {
        let [x, y] = [a, b].map(|index| scores[index as usize]);
        y.partial_cmp(&x).unwrap_or(Ordering::Equal).then(a.cmp(&b))
    });
    order
}

/// Writes, of boxes in order, at most `at_most` that do not overlap a better one to `chosen`, and
/// returns how many there are.
pub(crate) fn choose(
    order: &[u32],
    corners: impl Fn(u32) -> Corners,
    iou_threshold: f32,
    at_most: usize,
    chosen: &mut [u32],
) -> usize {
    let mut n = 0;
    for &candidate in order {
        if n >= at_most {
            break;
        }
        let area = corners(candidate);
        let overlaps = |&other: &u32| corners(other).intersection_over_union(area) > iou_threshold;
        if !chosen[..n].iter().any(overlaps) {
            chosen[n] = candidate;
            n += 1;
        }
    }
    n
}

fn corners(boxes: &[f32], index: u32, center_point_box: bool) -> Corners {
    match boxes[index as usize * 4..][..4] {
        [x, y, width, height] if center_point_box => Corners {
            top: y - height / 2.0,
            left: x - width / 2.0,
            bottom: y + height / 2.0,
            right: x + width / 2.0,
        },
        [y1, x1, y2, x2] => Corners {
            top: y1.min(y2),
            left: x1.min(x2),
            bottom: y1.max(y2),
            right: x1.max(x2),
        },
        _ => Corners::default(),
    }
}

/// The sides of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Corners {
    pub(crate) top: f32,
    pub(crate) left: f32,
    pub(crate) bottom: f32,
    pub(crate) right: f32,
}

impl Corners {
    /// The area of the intersection through that of the union; 0 if a box has no area.
    pub(crate) fn intersection_over_union(self, other: Self) -> f32 {
        let area = |b: Self| (b.bottom - b.top) * (b.right - b.left);
        let (own, others) = (area(self), area(other));
        if own <= 0.0 || others <= 0.0 {
            return 0.0;
        }
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        let width = self.right.min(other.right) - self.left.max(other.left);
        let intersection = height.max(0.0) * width.max(0.0);
        intersection / (own + others - intersection)
    }
}

pub(crate) fn check_padded(
    layer: LayerView<'_>,
    _: &NonMaxSuppressionPaddedDescriptor,
) -> Result<()> {
    require_floats(layer, &[0, 1, 2, 3, 4])?;
    require_output(layer, 0, &[&[DataType::Signed32]])?;
    require_output(layer, 1, &[&[input(layer, 0)?.data_type()]])?;
    require_output(layer, 2, &[&[DataType::Signed32]])
}

pub(crate) fn padded_workload(
    layer: LayerView<'_>,
    _: &NonMaxSuppressionPaddedDescriptor,
) -> Result<Box<dyn Workload>> {
    let [boxes, corner_count] = dims_of_rank(layer, input(layer, 0)?)?;
    let [scores] = dims_of_rank(layer, input(layer, 1)?)?;
    let [places] = dims_of_rank(layer, output(layer, 0)?)?;
    let [score_places] = dims_of_rank(layer, output(layer, 1)?)?;
    if corner_count != 4 || scores != boxes || places != score_places {
        return Err(invalid(format_args!(
            "of boxes of shape [{boxes}, {corner_count}] with {scores} scores, {places} indices \
             and {score_places} scores do not follow"
        )));
    }
    require_single_elements(layer, &[2, 3, 4])?;
    if u32::try_from(boxes).is_err() || i32::try_from(boxes).is_err() {
        return Err(invalid(format_args!("there are {boxes} boxes")));
    }
    let scratch_len = ScratchLen {
        floats: boxes,
        indices: boxes.saturating_mul(3),
    };
    float_function(layer, scratch_len, move |call, tensors| {
        let number = |position: usize| tensors.inputs[position].first().copied();
        let queue = Queue {
            boxes: tensors.inputs[0],
            iou_threshold: number(2).unwrap_or(0.0),
            score_threshold: number(3),
            sigma: number(4).unwrap_or(0.0),
        };
        let indices = &mut *tensors.index_scratch;
        let (candidates, rest) = indices.split_at_mut(boxes);
        let (compared, chosen) = rest.split_at_mut(boxes);
        tensors.scratch.copy_from_slice(tensors.inputs[1]);
        let at_most = places.min(boxes);
        let chosen = &mut chosen[..at_most];
        let n = queue.choose(tensors.scratch, candidates, compared, chosen);
        let out = call.output::<i32>(0)?;
        out.fill(0);
        for (to, &index) in out.iter_mut().zip(&chosen[..n]) {
            *to = index as i32;
        }
        tensors.outputs[1].fill(0.0);
        for (to, &index) in tensors.outputs[1].iter_mut().zip(&chosen[..n]) {
            *to = tensors.scratch[index as usize];
        }
        call.output::<i32>(2)?.fill(n as i32);
        Ok(())
    })
}

/// Boxes that are chosen one after the other, while scores fall.
struct Queue<'a> {
    boxes: &'a [f32],
    iou_threshold: f32,
    score_threshold: Option<f32>,
    sigma: f32,
}

impl Queue<'_> {
    /// Writes as many boxes as there is room for to `chosen`, and returns how many there are.
    /// `scores` become those with which boxes were chosen.
    ///
    /// As TensorFlow Lite's `NonMaxSuppression` (`internal/reference/non_max_suppression.h`): the
    /// best candidate is compared with the boxes that were chosen since it last was, from the last
    /// to the first. It is left out if an IoU reaches the threshold (TensorFlow: if it is above,
    /// and not if there is a sigma), and goes back to the queue if its score has fallen. Unlike
    /// there, a box that was chosen never comes back, so that one without an area is chosen once.
    fn choose(
        &self,
        scores: &mut [f32],
        candidates: &mut [u32],
        compared: &mut [u32],
        chosen: &mut [u32],
    ) -> usize {
        let is_good = |score: f32| match self.score_threshold {
            Some(threshold) => score > threshold,
            None => !score.is_nan(),
        };
        let mut queue = Heap::new(candidates);
        for (index, &score) in (0..).zip(&*scores) {
            if is_good(score) {
                queue.push(index, scores);
            }
        }
        compared.fill(0);
        let mut n = 0;
        while n < chosen.len() {
            let Some(candidate) = queue.pop(scores) else {
                break;
            };
            let index = candidate as usize;
            let before = scores[index];
            let area = corners(self.boxes, candidate, false);
            let mut is_left_out = false;
            for &other in chosen[compared[index] as usize..n].iter().rev() {
                let iou = corners(self.boxes, other, false).intersection_over_union(area);
                if iou >= self.iou_threshold {
                    is_left_out = true;
                    break;
                }
                if self.sigma > 0.0 {
                    scores[index] *= (-0.5 / self.sigma * iou * iou).exp();
                }
                if !is_good(scores[index]) {
                    is_left_out = true;
                    break;
                }
            }
            compared[index] = n as u32;
            if is_left_out {
                continue;
            }
            if scores[index] == before {
                chosen[n] = candidate;
                n += 1;
            } else {
                queue.push(candidate, scores);
            }
        }
        n
    }
}

/// A heap of indices, the one with the best score at its top.
struct Heap<'a> {
    indices: &'a mut [u32],
    len: usize,
}

impl<'a> Heap<'a> {
    /// An empty heap with room for as many as there are.
    fn new(indices: &'a mut [u32]) -> Self {
        Self { indices, len: 0 }
    }

    fn push(&mut self, index: u32, scores: &[f32]) {
        let mut at = self.len;
        self.indices[at] = index;
        self.len += 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !is_better(scores, self.indices[at], self.indices[parent]) {
                break;
            }
            self.indices.swap(at, parent);
            at = parent;
        }
    }

    fn pop(&mut self, scores: &[f32]) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        self.indices.swap(0, self.len);
        let (heap, popped) = self.indices.split_at_mut(self.len);
        let mut at = 0;
        loop {
            let mut best = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < heap.len() && is_better(scores, heap[child], heap[best]) {
                    best = child;
                }
            }
            if best == at {
                return Some(popped[0]);
            }
            heap.swap(at, best);
            at = best;
        }
    }
}

fn is_better(scores: &[f32], a: u32, b: u32) -> bool {
    let [x, y] = [a, b].map(|index| scores[index as usize]);
    x > y || x == y && a < b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, assert_refused, f16s, f32s, typed};

    /// Rows of 1 by 1, 10 apart except where one is shifted: 0 and 1 overlap by 0.9, 3 and 4 too.
    const BOXES: [[f32; 4]; 6] = [
        [0.0, 0.0, 1.0, 1.0],
        [0.0, 0.1, 1.0, 1.1],
        [0.0, -0.1, 1.0, 0.9],
        [0.0, 10.0, 1.0, 11.0],
        [0.0, 10.1, 1.0, 11.1],
        [0.0, 100.0, 1.0, 101.0],
    ];
    const SCORES: [f32; 6] = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3];

    fn number(value: f32) -> Tensor {
        f32s([1], &[value])
    }

    fn chosen(
        center_point_box: u32,
        boxes: Tensor,
        scores: Tensor,
        at_most: i64,
        iou_threshold: f32,
        score_threshold: Option<f32>,
    ) -> Vec<i64> {
        let call = Call::new(NonMaxSuppressionDescriptor { center_point_box })
            .input(boxes)
            .input(scores)
            .input(typed(DataType::Signed64, [1], &[at_most]))
            .input(number(iou_threshold));
        let call = match score_threshold {
            Some(threshold) => call.input(number(threshold)),
            None => call.absent(),
        };
        let found = call.output(DataType::Signed64, [-1, 3]).run();
        let indices = found.elements::<i64>(0);
        assert_eq!(found.shape(0), [indices.len() as i64 / 3, 3]);
        indices
    }

    fn boxes(boxes: &[[f32; 4]]) -> Tensor {
        f32s([1, boxes.len() as i64, 4], boxes.as_flattened())
    }

    #[test]
    fn what_overlaps_a_better_box_is_left_out() {
        // IoU of 0 and 1: 0.9 / (2 - 0.9) = 0.818.
        let scores = || f32s([1, 1, 6], &SCORES);
        let found = chosen(0, boxes(&BOXES), scores(), 3, 0.5, Some(0.0));
        assert_eq!(found, [0, 0, 3, 0, 0, 0, 0, 0, 5]);
        let found = chosen(0, boxes(&BOXES), scores(), 2, 0.5, Some(0.0));
        assert_eq!(found, [0, 0, 3, 0, 0, 0]);
        let found = chosen(0, boxes(&BOXES), scores(), 9, 0.5, Some(0.4));
        assert_eq!(found, [0, 0, 3, 0, 0, 0]);
        // Above 0.82 nothing overlaps, except box 1 with box 2, by 0.8 / 1.2 only.
        let found = chosen(0, boxes(&BOXES), scores(), 9, 0.82, None);
        assert_eq!(found.len(), 18);
        assert!(chosen(0, boxes(&BOXES), scores(), 0, 0.5, None).is_empty());
        assert!(chosen(0, boxes(&BOXES), scores(), -1, 0.5, None).is_empty());
    }

    #[test]
    fn corners_may_be_any_two_and_boxes_may_be_given_by_their_middle() {
        let scores = || f32s([1, 1, 6], &SCORES);
        let mut turned = BOXES;
        turned[0] = [1.0, 1.0, 0.0, 0.0];
        turned[4] = [0.0, 11.1, 1.0, 10.1];
        let found = chosen(0, boxes(&turned), scores(), 3, 0.5, Some(0.0));
        assert_eq!(found, [0, 0, 3, 0, 0, 0, 0, 0, 5]);
        let middle = BOXES.map(|[y1, x1, y2, x2]| [(x1 + x2) / 2.0, (y1 + y2) / 2.0, x2 - x1, 1.0]);
        let found = chosen(1, boxes(&middle), scores(), 3, 0.5, Some(0.0));
        assert_eq!(found, [0, 0, 3, 0, 0, 0, 0, 0, 5]);
    }

    #[test]
    fn batches_and_classes_are_apart_and_equal_scores_in_order() {
        // Two batches of two equal boxes and one elsewhere; two classes.
        let same = [0.0, 0.0, 1.0, 1.0];
        let of_both = [same, same, [5.0; 4], same, [0.0, 7.0, 1.0, 8.0], same];
        let all = f32s([2, 3, 4], of_both.as_flattened());
        let scores = [
            [[0.5, 0.5, 0.1], [0.1, 0.2, 0.3]],
            [[0.5, 0.5, 0.5], [f32::NAN, 0.2, 0.3]],
        ];
        let scores = f32s([2, 2, 3], scores.as_flattened().as_flattened());
        let found = chosen(0, all, scores, 2, 0.5, None);
        let expected = [
            [0, 0, 0],
            [0, 0, 2],
            [0, 1, 2],
            [0, 1, 1],
            [1, 0, 0],
            [1, 0, 1],
            [1, 1, 2],
            [1, 1, 1],
        ];
        assert_eq!(found, expected.as_flattened());
    }

    #[test]
    fn float16_and_nothing_at_all_are_taken() {
        let call = Call::new(NonMaxSuppressionDescriptor {
            center_point_box: 0,
        })
        .input(f16s([1, 2, 4], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]))
        .input(f16s([1, 1, 2], &[0.25, 0.5]))
        .input(typed(DataType::Signed32, [], &[5i32]))
        .output(DataType::Signed64, [-1, 3]);
        assert_eq!(call.run().elements::<i64>(0), [0, 0, 1]);
        let none = chosen(0, f32s([1, 0, 4], &[]), f32s([1, 1, 0], &[]), 3, 0.5, None);
        assert!(none.is_empty());
        let call = Call::new(NonMaxSuppressionDescriptor {
            center_point_box: 0,
        })
        .input(f32s([1, 1, 4], &[0.0; 4]))
        .input(f16s([1, 1, 1], &[0.0]))
        .output(DataType::Signed64, [-1, 3]);
        assert_refused(&call, &["the type of scores is Float16"]);
    }

    fn padded(at_most: i64, iou: f32, score: f32, sigma: Option<f32>) -> (Vec<i32>, Vec<f32>, i32) {
        let call = Call::new(NonMaxSuppressionPaddedDescriptor::new())
            .input(f32s([6, 4], BOXES.as_flattened()))
            .input(f32s([6], &SCORES))
            .input(f32s([], &[iou]))
            .input(f32s([], &[score]));
        let call = match sigma {
            Some(sigma) => call.input(f32s([], &[sigma])),
            None => call.absent(),
        };
        let found = call
            .output(DataType::Signed32, [at_most])
            .output(DataType::Float32, [at_most])
            .output(DataType::Signed32, [])
            .run();
        (
            found.elements(0),
            found.elements(1),
            found.elements::<i32>(2)[0],
        )
    }

    #[test]
    fn what_is_left_over_is_0() {
        let found = padded(5, 0.5, 0.4, None);
        let expected = (vec![3, 0, 0, 0, 0], vec![0.95, 0.9, 0.0, 0.0, 0.0], 2);
        assert_eq!(found, expected);
        let found = padded(2, 0.5, 0.0, Some(0.0));
        assert_eq!(found, (vec![3, 0], vec![0.95, 0.9], 2));
        // Nothing reaches an IoU of 1, and nothing is chosen twice.
        assert_eq!(padded(6, 1.0, 0.0, None).2, 6);
    }

    #[test]
    fn a_sigma_lowers_scores_instead() {
        // IoU of (0, 1), (0, 2), (3, 4): i = 0.9 / 1.1; of (1, 2): 0.8 / 1.2. The scores of 1 and 2
        // fall by e^(-i^2 / (2 s)), that of 2 also by that of 1: with s = 0.5, e^(-0.669) = 0.512
        // and e^(-0.444) = 0.641.
        let fall = |iou: f32| (-iou * iou).exp();
        let (far, near) = (fall(0.8 / 1.2), fall(0.9 / 1.1));
        let (indices, scores, n) = padded(6, 1.0, 0.0, Some(0.5));
        assert_eq!((indices, n), (vec![3, 0, 1, 5, 4, 2], 6));
        let expected = [0.95, 0.9, 0.75 * near, 0.3, 0.5 * near, 0.6 * near * far];
        assert_close(&scores, &expected, 1e-5);
        // Below the score threshold they go: 0.5 · 0.512 = 0.256.
        assert_eq!(padded(6, 1.0, 0.26, Some(0.5)).2, 4);
    }

    #[test]
    fn a_heap_gives_the_best_first() {
        let scores = [0.5, 0.25, 0.75, 0.5, 1.0];
        let mut indices = [0; 5];
        let mut heap = Heap::new(&mut indices);
        (0..5).for_each(|i| heap.push(i, &scores));
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop(&scores)).collect();
        assert_eq!(order, [4, 2, 0, 3, 1]);
        assert_eq!(heap.pop(&scores), None);
    }
}
