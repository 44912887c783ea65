//! DetectionPostProcess, by TensorFlow Lite's kernel (`kernels/detection_postprocess.cc`). Of equal
//! scores the one with the lower index comes first.

use armnn_backend_api::{
    DataType, DetectionPostProcessDescriptor, LayerView, Result, TensorView, Workload,
    cast_slice_mut,
};

use crate::{
    element_type::Number,
    layer_checks::{
        dims, dims_of_rank, input, input_role, invalid, num_elements, output, require_input,
        require_output,
    },
    non_max_suppression::{Corners, by_falling_score},
    quantized_arithmetic::{Affine, QUANTIZED, QuantizedElement, by_quantized_type},
    workload_function::{Call, workload_function},
};

pub(crate) fn check(layer: LayerView<'_>, _: &DetectionPostProcessDescriptor) -> Result<()> {
    const FLOAT32: &[DataType] = &[DataType::Float32];
    for position in 0..3 {
        require_input(layer, position, &[FLOAT32, QUANTIZED])?;
        let tensor = input(layer, position)?;
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &input_role(layer.layer_type(), position))?;
        }
    }
    (0..4).try_for_each(|position| require_output(layer, position, &[FLOAT32]))
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &DetectionPostProcessDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batch, n_boxes, four] = dims_of_rank(layer, input(layer, 0)?)?;
    let [score_batch, n_scores, with_background] = dims_of_rank(layer, input(layer, 1)?)?;
    let anchors = dims(layer, input(layer, 2)?)?;
    let [_, n_out, _] = dims_of_rank::<3>(layer, output(layer, 0)?)?;
    let classes = d.num_classes as usize;
    let most = (d.max_detections as usize).checked_mul(d.max_classes_per_detection as usize);
    let fits = (batch, four, score_batch, n_scores) == (1, 4, 1, n_boxes)
        && anchors == [n_boxes, 4]
        && classes > 0
        && (with_background == classes || with_background == classes + 1)
        && most == Some(n_out)
        && d.max_classes_per_detection > 0
        && num_elements(layer, output(layer, 0)?)? == 4 * n_out
        && num_elements(layer, output(layer, 1)?)? == n_out
        && num_elements(layer, output(layer, 2)?)? == n_out
        && num_elements(layer, output(layer, 3)?)? == 1;
    if !fits {
        return Err(invalid(format_args!(
            "{n_boxes} boxes with {with_background} scores and anchors of shape {anchors:?} do not \
             lead to {n_out} detections of {classes} classes"
        )));
    }
    let detection = Detection {
        d: *d,
        n_boxes,
        classes,
        with_background,
        sources: [
            Source::of(input(layer, 0)?)?,
            Source::of(input(layer, 1)?)?,
            Source::of(input(layer, 2)?)?,
        ],
        per_class: (d.detections_per_class as usize).min(n_boxes),
    };
    let scratch_len = detection
        .scratch_lens()
        .and_then(|lens| lens.iter().try_fold(0usize, |sum, &n| sum.checked_add(n)))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, scratch_len, move |call| detection.run(call))
}

/// How the numbers of an input are read.
#[derive(Clone, Copy)]
enum Source {
    Real,
    Quantized(DataType, Affine),
}

impl Source {
    fn of(tensor: TensorView<'_>) -> Result<Self> {
        match tensor.data_type() {
            DataType::Float32 => Ok(Self::Real),
            quantized => Ok(Self::Quantized(quantized, Affine::of(tensor, "an input")?)),
        }
    }

    fn read(self, call: &Call<'_, '_, '_, '_>, position: usize, out: &mut [f32]) -> Result<()> {
        match self {
            Self::Real => out.copy_from_slice(call.input(position)?),
            Self::Quantized(data_type, affine) => by_quantized_type!(data_type, Q => {
                let numbers = call.input::<Q>(position)?;
                for (out, number) in out.iter_mut().zip(numbers) {
                    *out = affine.dequantize(number.to_i32());
                }
            }),
        }
        Ok(())
    }
}

struct Detection {
    d: DetectionPostProcessDescriptor,
    n_boxes: usize,
    classes: usize,
    with_background: usize,
    sources: [Source; 3],
    /// With regular suppression, boxes of a class at most.
    per_class: usize,
}

/// A box that was kept: its score as it is sorted by, box and class.
type Kept = [u64; 3];

impl Detection {
    /// Bytes of boxes, scores, anchors, scores of a class, an order, and kept boxes.
    fn scratch_lens(&self) -> Option<[usize; 6]> {
        let of = |count: usize, size: usize| Some(count.checked_mul(size)?.next_multiple_of(8));
        let kept = (self.d.max_detections as usize).min(self.n_boxes.checked_mul(self.classes)?);
        let kept = kept.checked_add(self.per_class)?;
        Some([
            of(self.n_boxes, 16)?,
            of(self.n_boxes.checked_mul(self.with_background)?, 4)?,
            of(self.n_boxes, 16)?,
            of(self.n_boxes, 4)?,
            of(self.n_boxes, 8)?,
            of(kept, size_of::<Kept>())?,
        ])
    }

    fn run(&self, call: &mut Call<'_, '_, '_, '_>) -> Result<()> {
        let too_small = || invalid("the host gave less scratch memory than was asked for");
        let lens = self.scratch_lens().ok_or_else(too_small)?;
        let mut rest = call.scratch::<u8>()?;
        let mut take = |len: usize| {
            let (part, left) = std::mem::take(&mut rest).split_at_mut(len);
            rest = left;
            part
        };
        let [boxes, scores, anchors, class_scores] =
            [0, 1, 2, 3].map(|i| cast_slice_mut::<f32>(take(lens[i])));
        let [order, kept] = [4, 5].map(|i| cast_slice_mut::<u64>(take(lens[i])));
        let (Some(boxes), Some(scores), Some(anchors), Some(class_scores)) =
            (boxes, scores, anchors, class_scores)
        else {
            return Err(too_small());
        };
        let (Some(order), Some(kept)) = (order, kept) else {
            return Err(too_small());
        };
        let scores = &mut scores[..self.n_boxes * self.with_background];
        let class_scores = &mut class_scores[..self.n_boxes];
        self.sources[0].read(call, 0, boxes)?;
        self.sources[1].read(call, 1, scores)?;
        self.sources[2].read(call, 2, anchors)?;
        self.decode(boxes, anchors);
        let (kept, _) = kept.as_chunks_mut::<3>();
        let suppression = Suppression {
            boxes,
            iou_threshold: self.d.nms_iou_threshold,
            score_threshold: self.d.nms_score_threshold,
        };
        let scores = Scores {
            numbers: scores,
            with_background: self.with_background,
            background: self.with_background - self.classes,
        };
        let (count, in_a_row) = match self.d.use_regular_nms {
            1 => (
                self.regular(&suppression, &scores, class_scores, order, kept),
                1,
            ),
            _ => {
                let in_a_row = self.d.max_classes_per_detection as usize;
                (
                    self.fast(&suppression, &scores, class_scores, order, kept),
                    in_a_row,
                )
            }
        };
        let kept = &kept[..count];
        let per_box = in_a_row.min(self.classes);
        call.output::<f32>(3)?.fill(count as f32);
        let out = call.output::<f32>(0)?;
        out.fill(0.0);
        for (i, &[_, at, _]) in kept.iter().enumerate() {
            for column in 0..per_box {
                out[(i * in_a_row + column) * 4..][..4]
                    .copy_from_slice(&boxes[at as usize * 4..][..4]);
            }
        }
        for output in [1, 2] {
            let out = call.output::<f32>(output)?;
            out.fill(0.0);
            for (i, &[_, at, class]) in kept.iter().enumerate() {
                let mut class = class as usize;
                for column in 0..per_box {
                    if column > 0 {
                        class = scores.next_best(at as usize, class);
                    }
                    out[i * in_a_row + column] = match output {
                        1 => class as f32,
                        _ => scores.of(at as usize, class),
                    };
                }
            }
        }
        Ok(())
    }

    /// Turns encoded boxes into their corners.
    fn decode(&self, boxes: &mut [f32], anchors: &[f32]) {
        let d = &self.d;
        let pairs = boxes
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(anchors.as_chunks::<4>().0);
        for (code, &[anchor_y, anchor_x, anchor_h, anchor_w]) in pairs {
            let [y, x, h, w] = *code;
            let y = y / d.scale_y * anchor_h + anchor_y;
            let x = x / d.scale_x * anchor_w + anchor_x;
            let half_h = 0.5 * (h / d.scale_h).exp() * anchor_h;
            let half_w = 0.5 * (w / d.scale_w).exp() * anchor_w;
            *code = [y - half_h, x - half_w, y + half_h, x + half_w];
        }
    }

    /// All classes together: boxes are compared by their best class. Returns how many are kept.
    fn fast(
        &self,
        suppression: &Suppression<'_>,
        scores: &Scores<'_>,
        best_scores: &mut [f32],
        order: &mut [u64],
        kept: &mut [Kept],
    ) -> usize {
        for (at, best) in best_scores.iter_mut().enumerate() {
            *best = scores.of(at, scores.best(at));
        }
        let most = (self.d.max_detections as usize).min(kept.len());
        let count = suppression.select(best_scores, order, &mut kept[..most]);
        for [_, at, class] in &mut kept[..count] {
            *class = scores.best(*at as usize) as u64;
        }
        count
    }

    /// Each class by itself, and the best of all.
    fn regular(
        &self,
        suppression: &Suppression<'_>,
        scores: &Scores<'_>,
        class_scores: &mut [f32],
        order: &mut [u64],
        kept: &mut [Kept],
    ) -> usize {
        let most = self.d.max_detections as usize;
        let mut count = 0;
        for class in 0..self.classes {
            for (at, score) in class_scores.iter_mut().enumerate() {
                *score = scores.of(at, class);
            }
            let room = count + self.per_class.min(kept.len() - count);
            let new = suppression.select(class_scores, order, &mut kept[count..room]);
            for [_, _, of] in &mut kept[count..count + new] {
                *of = class as u64;
            }
            count += new;
            // By falling score; equal ones by class, and then by box.
            kept[..count].sort_unstable_by_key(|&[score, at, class]| (score, class, at));
            count = count.min(most);
        }
        count
    }
}

/// Scores of boxes by class.
struct Scores<'a> {
    numbers: &'a [f32],
    with_background: usize,
    /// Scores of the background before those of the classes, 0 or 1.
    background: usize,
}

impl Scores<'_> {
    fn of(&self, at: usize, class: usize) -> f32 {
        self.numbers[at * self.with_background + self.background + class]
    }

    /// The best class of a box.
    fn best(&self, at: usize) -> usize {
        let classes = self.with_background - self.background;
        let mut best = 0;
        for class in 1..classes {
            if self.of(at, class) > self.of(at, best) {
                best = class;
            }
        }
        best
    }

    /// The best class after this one.
    fn next_best(&self, at: usize, class: usize) -> usize {
        let classes = self.with_background - self.background;
        let key = |class: usize| (!self.of(at, class).ordinal(), class);
        let after = (0..classes).filter(|&other| key(other) > key(class));
        after.min_by_key(|&other| key(other)).unwrap_or(class)
    }
}

struct Suppression<'a> {
    boxes: &'a [f32],
    iou_threshold: f32,
    score_threshold: f32,
}

impl Suppression<'_> {
    /// Puts the best boxes that do not overlap a better one into `kept`, as many as there is room
    /// for. Returns how many.
    fn select(&self, scores: &[f32], order: &mut [u64], kept: &mut [Kept]) -> usize {
        by_falling_score(order, scores);
        let corners = |at: u64| {
            let mut corners = [0.0; 4];
            corners.copy_from_slice(&self.boxes[at as usize * 4..][..4]);
            Corners(corners)
        };
        let mut count = 0;
        for &at in &*order {
            let score = scores[at as usize];
            if count == kept.len() {
                break;
            }
            // Neither does NaN pass the threshold.
            let is_good = score >= self.score_threshold;
            let overlaps = |other: &Kept| corners(other[1]).iou(corners(at)) > self.iou_threshold;
            if is_good && !kept[..count].iter().any(overlaps) {
                kept[count] = [!score.ordinal(), at, 0];
                count += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::Quantization;

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_close, f32s, typed};

    const DESCRIPTOR: DetectionPostProcessDescriptor = DetectionPostProcessDescriptor {
        max_detections: 3,
        max_classes_per_detection: 1,
        detections_per_class: 1,
        num_classes: 2,
        use_regular_nms: 0,
        nms_score_threshold: 0.0,
        nms_iou_threshold: 0.5,
        scale_x: 10.0,
        scale_y: 10.0,
        scale_w: 5.0,
        scale_h: 5.0,
    };

    /// Boxes as anchors: the second and third are the first, moved by 0.1 and 0.1, the others
    /// elsewhere.
    fn detected(d: DetectionPostProcessDescriptor, quantized: bool) -> [Vec<f32>; 4] {
        // From TensorFlow Lite's test of the operator.
        let encodings = [
            0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ];
        let scores = [
            0.0, 0.9, 0.8, 0.0, 0.75, 0.72, 0.0, 0.6, 0.5, 0.0, 0.93, 0.95, 0.0, 0.5, 0.4, 0.0,
            0.3, 0.2,
        ];
        let anchors = [
            0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.5, 10.5, 1.0, 1.0, 0.5,
            10.5, 1.0, 1.0, 0.5, 100.5, 1.0, 1.0,
        ];
        let tensor = |shape: &[i64], values: &[f32], scale: f32, zero: i32| -> Tensor {
            let shape = armnn_backend_api::Shape::new(shape).unwrap();
            if !quantized {
                return f32s(shape, values);
            }
            let numbers: Vec<u8> = values
                .iter()
                .map(|x| ((x / scale).round() as i32 + zero) as u8)
                .collect();
            typed(DataType::QAsymmU8, shape, &numbers)
                .quantized(Quantization::per_tensor(scale, zero))
        };
        let n = i64::from(d.max_detections * d.max_classes_per_detection);
        let call = Call::new(d)
            .input(tensor(&[1, 6, 4], &encodings, 1.0 / 127.5, 128))
            .input(tensor(&[1, 6, 3], &scores, 1.0 / 255.0, 0))
            .input(tensor(&[6, 4], &anchors, 100.5 / 255.0, 0))
            .output(DataType::Float32, [1, n, 4])
            .output(DataType::Float32, [1, n])
            .output(DataType::Float32, [1, n])
            .output(DataType::Float32, [1]);
        let found = call.run();
        [0, 1, 2, 3].map(|i| found.elements(i))
    }

    #[test]
    fn the_best_boxes_that_do_not_overlap_are_decoded() {
        let [boxes, classes, scores, count] = detected(DESCRIPTOR, false);
        let expected = [
            0.0, 10.0, 1.0, 11.0, 0.0, 0.0, 1.0, 1.0, 0.0, 100.0, 1.0, 101.0,
        ];
        assert_close(&boxes, &expected, 1e-6);
        assert_eq!(
            (classes, scores),
            (vec![1.0, 0.0, 0.0], vec![0.95, 0.9, 0.3])
        );
        assert_eq!(count, [3.0]);
        // A threshold leaves the rest 0.
        let d = DetectionPostProcessDescriptor {
            nms_score_threshold: 0.92,
            ..DESCRIPTOR
        };
        let [boxes, _, scores, count] = detected(d, false);
        assert_eq!(
            (&boxes[4..], &*scores),
            (&[0.0; 8][..], &[0.95, 0.0, 0.0][..])
        );
        assert_eq!(count, [1.0]);
    }

    #[test]
    fn a_box_may_be_reported_with_several_classes() {
        let d = DetectionPostProcessDescriptor {
            max_detections: 2,
            max_classes_per_detection: 2,
            ..DESCRIPTOR
        };
        let [boxes, classes, scores, count] = detected(d, false);
        assert_eq!(
            (classes, scores),
            (vec![1.0, 0.0, 0.0, 1.0], vec![0.95, 0.93, 0.9, 0.8])
        );
        assert_close(
            &boxes[..8],
            &[0.0, 10.0, 1.0, 11.0, 0.0, 10.0, 1.0, 11.0],
            1e-6,
        );
        assert_eq!(count, [2.0]);
    }

    #[test]
    fn classes_may_suppress_by_themselves() {
        let d = DetectionPostProcessDescriptor {
            use_regular_nms: 1,
            ..DESCRIPTOR
        };
        // One of each class, both from the same anchor.
        let [boxes, classes, scores, count] = detected(d, false);
        assert_eq!(
            (classes, scores),
            (vec![1.0, 0.0, 0.0], vec![0.95, 0.93, 0.0])
        );
        assert_close(
            &boxes[..8],
            &[0.0, 10.0, 1.0, 11.0, 0.0, 10.0, 1.0, 11.0],
            1e-6,
        );
        assert_eq!(count, [2.0]);
        let d = DetectionPostProcessDescriptor {
            detections_per_class: 100,
            ..d
        };
        let [_, classes, scores, _] = detected(d, false);
        assert_eq!(
            (classes, scores),
            (vec![1.0, 0.0, 0.0], vec![0.95, 0.93, 0.9])
        );
    }

    #[test]
    fn quantized_numbers_are_read_as_the_real_ones() {
        let [boxes, classes, scores, count] = detected(DESCRIPTOR, true);
        let expected = [
            0.0, 10.0, 1.0, 11.0, 0.0, 0.0, 1.0, 1.0, 0.0, 100.0, 1.0, 101.0,
        ];
        // Anchors come in steps of 0.4.
        assert_close(&boxes, &expected, 0.5);
        assert_eq!(classes, [1.0, 0.0, 0.0]);
        assert_close(&scores, &[0.95, 0.9, 0.3], 0.002);
        assert_eq!(count, [3.0]);
    }
}
