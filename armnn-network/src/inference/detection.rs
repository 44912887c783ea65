//! Layers that choose among boxes.

use armnn_backend_api::{DetectionPostProcessDescriptor, LayerDescriptor as D, Shape};

use super::dimension::{UNKNOWN, known, merge, merge_dim, shape_of};
use super::{Arguments, Result, bad_field, boolean, single_element};
use crate::error::LayerProblem;

pub(super) fn output_shapes(descriptor: &D, arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    match descriptor {
        D::DetectionPostProcess(d) => detection_post_process(d, arguments),
        D::NonMaxSuppression(d) => {
            boolean("center_point_box", d.center_point_box)?;
            non_max_suppression(arguments)
        }
        D::NonMaxSuppressionPadded(_) => non_max_suppression_padded(arguments),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

/// Checks that an input has these dimensions, as far as they are known.
fn expect<const N: usize>(
    arguments: &Arguments<'_>,
    index: usize,
    dims: [i64; N],
    because: &'static str,
) -> Result<[i64; N]> {
    let shape = arguments.input_of_rank(index, N)?;
    let mut merged = dims;
    for (axis, (to, &found)) in merged.iter_mut().zip(shape.dims()).enumerate() {
        *to = merge_dim(*to, found)
            .ok_or_else(|| arguments.dimension_problem(index, axis, dims[axis], because))?;
    }
    Ok(merged)
}

fn detection_post_process(
    d: &DetectionPostProcessDescriptor,
    arguments: &Arguments<'_>,
) -> Result<Vec<Shape>> {
    boolean("use_regular_nms", d.use_regular_nms)?;
    for (field, number) in [
        ("max_classes_per_detection", d.max_classes_per_detection),
        ("num_classes", d.num_classes),
    ] {
        if number == 0 {
            return Err(bad_field(field, number, "at least 1"));
        }
    }
    for (field, scale) in [
        ("scale_x", d.scale_x),
        ("scale_y", d.scale_y),
        ("scale_w", d.scale_w),
        ("scale_h", d.scale_h),
    ] {
        if scale.is_nan() || scale <= 0.0 {
            return Err(bad_field(field, scale, "above 0"));
        }
    }
    let because = "there is one box for each anchor";
    let [_, boxes, _] = expect(arguments, 0, [1, UNKNOWN, 4], "it is boxes of one image")?;
    expect(arguments, 2, [boxes, 4], because)?;
    let [_, _, scores] = expect(arguments, 1, [1, boxes, UNKNOWN], because)?;
    let classes = i64::from(d.num_classes);
    if known(scores).is_some_and(|scores| scores != classes && scores != classes + 1) {
        let expected = format!("{classes}, or one more for the background");
        let because = "there is one score for each class";
        return Err(arguments.dimension_problem(1, 2, expected, because));
    }
    let most = i64::from(d.max_detections)
        .checked_mul(d.max_classes_per_detection.into())
        .ok_or(LayerProblem::Overflow {
            what: "the number of detections",
        })?;
    Ok(vec![
        shape_of(&[1, most, 4])?,
        shape_of(&[1, most])?,
        shape_of(&[1, most])?,
        shape_of(&[1])?,
    ])
}

fn optional_numbers(arguments: &Arguments<'_>) -> Result<()> {
    for index in 2..5 {
        if arguments.optional(index).is_some() {
            single_element(arguments, index)?;
        }
    }
    Ok(())
}

fn non_max_suppression(arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    let [batch, boxes, _] = expect(arguments, 0, [UNKNOWN, UNKNOWN, 4], "a box is four numbers")?;
    let because = "there is a score for each box of each batch";
    expect(arguments, 1, [batch, UNKNOWN, boxes], because)?;
    optional_numbers(arguments)?;
    Ok(vec![shape_of(&[UNKNOWN, 3])?])
}

/// How many are chosen at most is what is declared of the indices or the scores.
fn non_max_suppression_padded(arguments: &Arguments<'_>) -> Result<Vec<Shape>> {
    let [boxes, _] = expect(arguments, 0, [UNKNOWN, 4], "a box is four numbers")?;
    expect(arguments, 1, [boxes], "there is a score for each box")?;
    optional_numbers(arguments)?;
    let mut chosen = shape_of(&[UNKNOWN])?;
    for index in 0..2 {
        if let Some(declared) = arguments.declared(index) {
            chosen = merge(&chosen, &declared).ok_or_else(|| LayerProblem::Declaration {
                output: super::output_name(arguments.layer_type, index),
                declared: declared.to_string(),
                inferred: chosen.to_string(),
            })?;
        }
    }
    Ok(vec![chosen, chosen, Shape::SCALAR])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{NonMaxSuppressionDescriptor, NonMaxSuppressionPaddedDescriptor};

    use super::super::tests::{refused_field, shapes_after};
    use super::super::{LayerShapes, output_shapes};
    use super::*;

    fn some<const N: usize>(dims: [i64; N]) -> Option<Shape> {
        Some(Shape::from(dims))
    }

    #[test]
    fn as_many_boxes_are_detected_as_the_descriptor_says() {
        let mut d = DetectionPostProcessDescriptor {
            max_detections: 10,
            max_classes_per_detection: 2,
            detections_per_class: 100,
            num_classes: 90,
            use_regular_nms: 0,
            nms_score_threshold: 0.0,
            nms_iou_threshold: 0.5,
            scale_x: 10.0,
            scale_y: 10.0,
            scale_w: 5.0,
            scale_h: 5.0,
        };
        let inputs = [some([1, 1917, 4]), some([1, -1, 91]), some([1917, 4])];
        let shapes = shapes_after(d, &inputs, 4).unwrap();
        let numbers = Shape::from([1, 20]);
        assert_eq!(
            shapes,
            [Shape::from([1, 20, 4]), numbers, numbers, Shape::from([1])]
        );
        let field = |d| refused_field(shapes_after(d, &inputs, 4).map(|s| s[0]));
        d.scale_w = 0.0;
        assert_eq!(field(d), "scale_w");
        d.num_classes = 0;
        assert_eq!(field(d), "num_classes");
        (d.num_classes, d.scale_w) = (80, 5.0);
        assert!(shapes_after(d, &inputs, 4).is_err());
    }

    #[test]
    fn chosen_boxes_are_as_many_as_overlap_little_or_as_declared() {
        let d = NonMaxSuppressionDescriptor {
            center_point_box: 0,
        };
        let inputs = [some([2, 6, 4]), some([2, 3, 6]), some([1])];
        assert_eq!(shapes_after(d, &inputs, 1), Ok(vec![Shape::from([-1, 3])]));
        let inputs = [some([2, 6, 4]), some([2, 3, 7])];
        assert!(shapes_after(d, &inputs, 1).is_err());
        let shapes = LayerShapes {
            inputs: &[some([6, 4]), some([6]), some([])],
            declared: &[None, some([4]), None],
        };
        let shapes = output_shapes(&NonMaxSuppressionPaddedDescriptor::new().into(), &shapes);
        let chosen = Shape::from([4]);
        assert_eq!(shapes, Ok(vec![chosen, chosen, Shape::SCALAR]));
    }
}
