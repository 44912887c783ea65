//! A detector of objects through CpuRef, compared with what LiteRT finds.
//!
//! It is in the test data, which is not part of the repository.

mod test_data;

use test_data::{Array, Outcome, corpus, load, meta, numbered, numbers, run};

/// A box, its class and its score.
struct Detection {
    corners: [f64; 4],
    class: f64,
    score: f64,
}

/// Detections are in the order of their scores, which may be another where these are close: the
/// same class, nearly the same box and score must be found for each of a score that counts.
#[test]
fn what_the_other_engine_detects_is_detected() {
    let Some(folder) = corpus("tfl_u8_ssd_mobilenetv1_coco") else {
        return;
    };
    let loaded = match load(&folder.join("model.tflite")) {
        Ok(loaded) => loaded,
        Err(Outcome::Refused(reason)) => {
            println!("refused: {reason}");
            return;
        }
        Err(other) => panic!("{other:?}"),
    };
    let open = |prefix| -> Vec<Array> {
        let files = numbered(&folder, prefix);
        files.iter().map(|path| Array::open(path)).collect()
    };
    let (inputs, expected) = (open("in"), open("out"));
    let outputs = run(&loaded, &inputs.iter().collect::<Vec<_>>()).unwrap();
    let found: Vec<Vec<f64>> = outputs
        .iter()
        .map(|output| numbers(output.info().data_type, output.bytes()))
        .collect();
    let expected: Vec<Vec<f64>> = expected.iter().map(Array::numbers).collect();
    assert_eq!(found[3], expected[3], "the number of detections");

    let tolerance = &meta(&folder)["tolerance"];
    let bound = |name: &str| tolerance[name].as_f64().unwrap();
    let found = detections(&found);
    let counts = |detection: &Detection| detection.score >= bound("min_score");
    let mut compared = 0;
    for expected in detections(&expected).into_iter().filter(counts) {
        let same = found.iter().any(|found| {
            found.class == expected.class
                && (found.score - expected.score).abs() <= bound("score")
                && overlap(found.corners, expected.corners) >= bound("iou")
        });
        assert!(same, "class {} of score {}", expected.class, expected.score);
        compared += 1;
    }
    assert!(compared > 0);
}

fn detections(outputs: &[Vec<f64>]) -> Vec<Detection> {
    let boxes = outputs[0].as_chunks::<4>().0.iter();
    let rest = outputs[1].iter().zip(&outputs[2]);
    boxes
        .zip(rest)
        .map(|(&corners, (&class, &score))| Detection {
            corners,
            class,
            score,
        })
        .collect()
}

/// The intersection of two boxes, top, left, bottom and right, through their union.
fn overlap(a: [f64; 4], b: [f64; 4]) -> f64 {
    let area =
        |[top, left, bottom, right]: [f64; 4]| (bottom - top).max(0.0) * (right - left).max(0.0);
    let common = area([
        a[0].max(b[0]),
        a[1].max(b[1]),
        a[2].min(b[2]),
        a[3].min(b[3]),
    ]);
    common / (area(a) + area(b) - common)
}
