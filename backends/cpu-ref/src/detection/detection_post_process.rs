//! DetectionPostProcess, by TensorFlow Lite's kernel (`kernels/detection_postprocess.cc`). Of equal
//! scores the one with the lower class, and then the lower index, comes first.

use armnn_backend_api::{DataType, DetectionPostProcessDescriptor, LayerView, Result, Workload};

use crate::{
    detection::non_max_suppression::{Corners, choose, in_order},
    numbers::{
        element_type::Number,
        float_tensors::{FloatTensors, ScratchLen, float_function, taken},
        quantized_arithmetic::{Affine, QUANTIZED},
    },
    workloads::layer_checks::{
        FLOATS, dims, dims_of_rank, input, input_role, invalid, num_elements, output,
        require_input, require_output,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &DetectionPostProcessDescriptor) -> Result<()> {
    for position in 0..3 {
        require_input(layer, position, &[FLOATS, QUANTIZED])?;
        let tensor = input(layer, position)?;
        if tensor.data_type().is_quantized() {
            Affine::of(tensor, &input_role(layer.layer_type(), position))?;
        }
    }
    (0..4).try_for_each(|position| require_output(layer, position, &[&[DataType::Float32]]))
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &DetectionPostProcessDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batch, n_boxes, four] = dims_of_rank(layer, input(layer, 0)?)?;
    let [score_batch, n_scores, with_background] = dims_of_rank(layer, input(layer, 1)?)?;
    let anchors = dims(layer, input(layer, 2)?)?;
    let n_out = num_elements(layer, output(layer, 1)?)?;
    let classes = d.num_classes as usize;
    let most = (d.max_detections as usize).checked_mul(d.max_classes_per_detection as usize);
    let fits = (batch, four, score_batch, n_scores) == (1, 4, 1, n_boxes)
        && anchors == [n_boxes, 4]
        && classes > 0
        && (with_background == classes || with_background == classes + 1)
        && most == Some(n_out)
        && d.max_classes_per_detection > 0
        && num_elements(layer, output(layer, 0)?)? == 4 * n_out
        && num_elements(layer, output(layer, 2)?)? == n_out
        && num_elements(layer, output(layer, 3)?)? == 1;
    if !fits || u32::try_from(n_boxes).is_err() {
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
        per_class: (d.detections_per_class as usize).min(n_boxes),
    };
    float_function(layer, detection.scratch_len(), move |_, tensors| {
        detection.run(tensors);
        Ok(())
    })
}

struct Detection {
    d: DetectionPostProcessDescriptor,
    n_boxes: usize,
    classes: usize,
    with_background: usize,
    /// With regular suppression, boxes of a class at most.
    per_class: usize,
}

/// A box that was kept: a number that falls with its score, its class, and the box.
type Kept = [u32; 3];

impl Detection {
    /// Kept boxes at most, before those are left out that are too many.
    fn most_kept(&self) -> usize {
        let all = self.n_boxes.saturating_mul(self.classes);
        let most = (self.d.max_detections as usize).min(all);
        most.saturating_add(self.per_class)
    }

    /// Corners of the boxes and scores of a class; an order, those chosen, and kept boxes.
    fn scratch_len(&self) -> ScratchLen {
        ScratchLen {
            floats: self.n_boxes.saturating_mul(5),
            indices: self
                .most_kept()
                .saturating_mul(3)
                .saturating_add(self.n_boxes.saturating_mul(2)),
        }
    }

    fn run(&self, tensors: &mut FloatTensors<'_>) {
        let [encodings, scores, anchors, ..] = tensors.inputs;
        let (corners, class_scores) = tensors.scratch.split_at_mut(4 * self.n_boxes);
        self.decode(encodings, anchors, corners);
        let mut rest = &mut *tensors.index_scratch;
        let order = taken(&mut rest, self.n_boxes);
        let chosen = taken(&mut rest, self.n_boxes);
        let (kept, _) = rest.as_chunks_mut::<3>();
        let scores = Scores {
            numbers: scores,
            with_background: self.with_background,
            background: self.with_background - self.classes,
        };
        let mut select = |class_scores: &[f32], most: usize, kept: &mut [Kept]| {
            let is_good = |score: f32| score >= self.d.nms_score_threshold;
            let order = in_order(class_scores, is_good, order);
            let box_at = |index: u32| match corners[index as usize * 4..][..4] {
                [top, left, bottom, right] => Corners {
                    top,
                    left,
                    bottom,
                    right,
                },
                _ => Corners::default(),
            };
            let n = choose(order, box_at, self.d.nms_iou_threshold, most, chosen);
            for (kept, &index) in kept.iter_mut().zip(&chosen[..n]) {
                // The ordinal of a Float32 has 32 bits.
                let ordinal = class_scores[index as usize].ordinal() as u32;
                *kept = [!ordinal, 0, index];
            }
            n
        };
        let most = (self.d.max_detections as usize).min(kept.len());
        let mut count = 0;
        let in_a_row;
        if self.d.use_regular_nms == 1 {
            // Each class by itself, and the best of all.
            in_a_row = 1;
            // Without boxes there may be any number of classes.
            let classes = if self.n_boxes == 0 { 0 } else { self.classes };
            for class in 0..classes {
                for (index, score) in class_scores.iter_mut().enumerate() {
                    *score = scores.of(index, class);
                }
                let room = self.per_class.min(kept.len() - count);
                let n = select(class_scores, room, &mut kept[count..]);
                for [_, of, _] in &mut kept[count..count + n] {
                    *of = class as u32;
                }
                count += n;
                kept[..count].sort_unstable();
                count = count.min(most);
            }
        } else {
            // All classes together: boxes are compared by their best class.
            in_a_row = self.d.max_classes_per_detection as usize;
            for (index, score) in class_scores.iter_mut().enumerate() {
                *score = scores.of(index, scores.best(index));
            }
            count = select(class_scores, most, kept);
            for [_, of, index] in &mut kept[..count] {
                *of = scores.best(*index as usize) as u32;
            }
        }
        self.report(
            &kept[..count],
            in_a_row,
            corners,
            &scores,
            &mut tensors.outputs,
        );
    }

    /// Turns encoded boxes into their corners. As there, a corner is computed in Float64 and rounded
    /// to Float32 twice.
    fn decode(&self, encodings: &[f32], anchors: &[f32], corners: &mut [f32]) {
        let d = &self.d;
        let (encodings, _) = encodings.as_chunks::<4>();
        let (anchors, _) = anchors.as_chunks::<4>();
        let (corners, _) = corners.as_chunks_mut::<4>();
        let scale = [d.scale_y, d.scale_x, d.scale_h, d.scale_w].map(f64::from);
        for ((encoding, anchor), corners) in encodings.iter().zip(anchors).zip(corners) {
            let [y, x, h, w] = encoding.map(f64::from);
            let [anchor_y, anchor_x, anchor_h, anchor_w] = anchor.map(f64::from);
            let y = (y / scale[0] * anchor_h + anchor_y) as f32;
            let x = (x / scale[1] * anchor_w + anchor_x) as f32;
            let half_h = (0.5 * (h / scale[2]).exp() * anchor_h) as f32;
            let half_w = (0.5 * (w / scale[3]).exp() * anchor_w) as f32;
            *corners = [y - half_h, x - half_w, y + half_h, x + half_w];
        }
    }

    /// Writes the outputs: each box with its best classes, in `in_a_row` places.
    fn report(
        &self,
        kept: &[Kept],
        in_a_row: usize,
        corners: &[f32],
        scores: &Scores<'_>,
        outputs: &mut [&mut [f32]],
    ) {
        let [out_boxes, out_classes, out_scores, out_count] = outputs else {
            return;
        };
        out_count.fill(kept.len() as f32);
        [&mut *out_boxes, out_classes, out_scores]
            .into_iter()
            .for_each(|out| out.fill(0.0));
        for (i, &[_, class, index]) in kept.iter().enumerate() {
            let (mut class, index) = (class as usize, index as usize);
            for column in 0..in_a_row.min(self.classes) {
                if column > 0 {
                    class = scores.next_best(index, class);
                }
                let place = i * in_a_row + column;
                out_boxes[place * 4..][..4].copy_from_slice(&corners[index * 4..][..4]);
                out_classes[place] = class as f32;
                out_scores[place] = scores.of(index, class);
            }
        }
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
    fn of(&self, index: usize, class: usize) -> f32 {
        self.numbers[index * self.with_background + self.background + class]
    }

    /// The best class of a box.
    fn best(&self, index: usize) -> usize {
        let classes = self.with_background - self.background;
        let mut best = 0;
        for class in 1..classes {
            if self.of(index, class) > self.of(index, best) {
                best = class;
            }
        }
        best
    }

    /// The best class after this one.
    fn next_best(&self, index: usize, class: usize) -> usize {
        let classes = self.with_background - self.background;
        let key = |class: usize| (!self.of(index, class).ordinal(), class);
        let after = (0..classes).filter(|&other| key(other) > key(class));
        after.min_by_key(|&other| key(other)).unwrap_or(class)
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
    fn without_boxes_nothing_is_detected_whatever_number_of_classes_there_is() {
        let d = DetectionPostProcessDescriptor {
            num_classes: u32::MAX,
            use_regular_nms: 1,
            ..DESCRIPTOR
        };
        let call = Call::new(d)
            .input(f32s([1, 0, 4], &[]))
            .input(f32s([1, 0, d.num_classes.into()], &[]))
            .input(f32s([0, 4], &[]))
            .output(DataType::Float32, [1, 3, 4])
            .output(DataType::Float32, [1, 3])
            .output(DataType::Float32, [1, 3])
            .output(DataType::Float32, [1]);
        let found = call.run();
        assert_eq!(found.elements::<f32>(0), [0.0; 12]);
        assert_eq!(found.elements::<f32>(3), [0.0]);
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
