//! Tests of comparisons.

use std::num::NonZeroUsize;

use armnn_runtime::{Shape, TensorInfo};

use super::*;
use crate::npy::{self, ElementType};

const DEFAULT: Rule = Rule::Elementwise {
    rtol: 1e-3,
    atol: 1e-7,
};

fn output(data_type: DataType, dims: &[i64], bytes: Vec<u8>) -> OutputValue {
    OutputValue {
        info: TensorInfo::new(data_type, Shape::new(dims).unwrap()),
        steps: None,
        bytes,
        other: None,
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn stored(data_type: DataType, dims: &[i64], bytes: &[u8]) -> StoredTensor {
    let mut file = Vec::new();
    npy::write(&mut file, ElementType::of(data_type).unwrap(), dims, bytes).unwrap();
    StoredTensor::read_npy(&mut file.as_slice()).unwrap()
}

/// Compares Float32 of one dimension.
fn compare_f32(got: &[f32], want: &[f32], rule: Rule) -> Result<Largest, String> {
    let n = |values: &[f32]| [values.len() as i64];
    compare(
        &output(DataType::Float32, &n(got), floats(got)),
        &stored(DataType::Float32, &n(want), &floats(want)),
        &OutputMeta::default(),
        rule,
    )
}

#[test]
fn each_element_may_differ_in_proportion_to_what_is_recorded() {
    // 1000 * 1e-3 + 1e-7.
    assert_eq!(
        compare_f32(&[1001.0, 0.0], &[1000.0, 0.0], DEFAULT),
        Ok(Largest(1.0))
    );
    let error = compare_f32(&[0.0, 1.0, 1002.0], &[0.0, 0.5, 1000.0], DEFAULT).unwrap_err();
    assert_eq!(
        error,
        "2 of 3 elements differ by more than 1e-7 + 1e-3 * |recorded|; the most by 2, at [2]: 1002 \
         instead of 1000"
    );
}

#[test]
fn nan_and_infinities_are_equal_to_themselves_alone() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    assert!(
        compare_f32(
            &[nan, infinity, -infinity],
            &[nan, infinity, -infinity],
            DEFAULT
        )
        .is_ok()
    );
    for (got, want) in [
        (nan, 0.0),
        (0.0, nan),
        (infinity, -infinity),
        (infinity, f32::MAX),
        (f32::MAX, infinity),
        (nan, infinity),
    ] {
        let error = compare_f32(&[got], &[want], DEFAULT).unwrap_err();
        assert!(
            error.starts_with("1 of 1 elements"),
            "{got} {want}: {error}"
        );
    }
}

#[test]
fn the_tolerance_of_a_recording_applies_to_the_whole_output() {
    let relative = Rule::Recorded(Tolerance::RelativeToMax {
        value: 1e-3,
        absolute: 0.5,
    });
    // 1e-3 * 1000 + 0.5 = 1.5, also where 0 is recorded.
    assert!(compare_f32(&[1.5, -1000.0], &[0.0, -1000.0], relative).is_ok());
    assert!(compare_f32(&[1.6, -1000.0], &[0.0, -1000.0], relative).is_err());
    let absolute = Rule::Recorded(Tolerance::Absolute { value: 0.25 });
    assert!(compare_f32(&[1.25], &[1.0], absolute).is_ok());
    assert!(compare_f32(&[1.3], &[1.0], absolute).is_err());
}

#[test]
fn integers_are_equal_unless_their_steps_are_counted() {
    let compare_u8 = |got: &[u8], want: &[u8], rule| {
        let dims = [1, got.len() as i64];
        compare(
            &output(DataType::QAsymmU8, &dims, got.to_vec()),
            &stored(DataType::UInt8, &dims, want),
            &OutputMeta::default(),
            rule,
        )
    };
    let lsb = |same_argmax| {
        Rule::Recorded(Tolerance::Lsb {
            value: 2,
            same_argmax,
        })
    };
    assert!(compare_u8(&[200, 7], &[200, 7], DEFAULT).is_ok());
    let error = compare_u8(&[200, 7], &[201, 7], DEFAULT).unwrap_err();
    assert!(error.contains("at [0, 0]: 200 instead of 201"), "{error}");
    assert_eq!(compare_u8(&[8, 9], &[10, 9], lsb(false)), Ok(Largest(2.0)));
    assert!(compare_u8(&[7, 9], &[10, 9], lsb(false)).is_err());
    let error = compare_u8(&[8, 9], &[10, 9], lsb(true)).unwrap_err();
    assert!(
        error.contains("largest element is at [0, 1] (9)"),
        "{error}"
    );
    // Both are the largest.
    assert!(compare_u8(&[9, 9], &[9, 8], lsb(true)).is_ok());
    assert!(compare_u8(&[8, 8], &[7, 9], lsb(true)).is_ok());
}

#[test]
fn integers_beyond_what_a_float_can_hold_are_told_apart() {
    let want = (1i64 << 53).to_ne_bytes();
    let got = ((1i64 << 53) + 1).to_ne_bytes();
    let compared = compare(
        &output(DataType::Signed64, &[], got.to_vec()),
        &stored(DataType::Signed64, &[], &want),
        &OutputMeta::default(),
        DEFAULT,
    );
    assert!(compared.unwrap_err().contains("at []: 9007199254740993"));
}

#[test]
fn type_and_shape_are_compared() {
    let got = output(DataType::Float32, &[1, 2], floats(&[0.0; 2]));
    let compared =
        |want: &StoredTensor| compare(&got, want, &OutputMeta::default(), DEFAULT).unwrap_err();
    let flat = stored(DataType::Float32, &[2], &floats(&[0.0; 2]));
    assert_eq!(compared(&flat), "its shape is [1, 2], recorded is [2]");
    let integers = stored(DataType::Signed32, &[1, 2], &floats(&[0.0; 2]));
    assert_eq!(compared(&integers), "its type is Float32, recorded is <i4");
}

#[test]
fn of_a_large_output_every_so_many_th_element_is_compared() {
    let got: Vec<f32> = (0..6u8).map(f32::from).collect();
    let got = output(DataType::Float32, &[2, 3], floats(&got));
    let meta = OutputMeta {
        shape: Some(vec![2, 3]),
        stride: NonZeroUsize::new(4),
        ..OutputMeta::default()
    };
    let want = |values: &[f32]| stored(DataType::Float32, &[values.len() as i64], &floats(values));
    assert!(compare(&got, &want(&[0.0, 4.0]), &meta, DEFAULT).is_ok());
    let error = compare(&got, &want(&[0.0, 5.0]), &meta, DEFAULT).unwrap_err();
    assert!(error.contains("at [1, 1]: 4 instead of 5"), "{error}");
    assert!(compare(&got, &want(&[0.0]), &meta, DEFAULT).is_err());
}

#[test]
fn an_output_of_no_elements_is_compared_by_its_shape() {
    let got = output(DataType::Float32, &[0, 3], Vec::new());
    let want = |dims: &[i64]| stored(DataType::Float32, dims, &[]);
    let compared = |want| compare(&got, &want, &OutputMeta::default(), DEFAULT);
    assert!(compared(want(&[0, 3])).is_ok());
    assert!(compared(want(&[3, 0])).is_err());
}

#[test]
fn the_largest_element_is_at_the_same_place_in_each_step() {
    let mut got = output(DataType::UInt8, &[2], vec![9, 1, 8, 9]);
    got.steps = Some(2);
    let want = stored(DataType::UInt8, &[2, 2], &[9, 1, 9, 8]);
    let rule = Rule::Recorded(Tolerance::Lsb {
        value: 2,
        same_argmax: true,
    });
    let error = compare(&got, &want, &OutputMeta::default(), rule).unwrap_err();
    assert!(
        error.contains("at [1, 1] (9), recorded is [1, 0]"),
        "{error}"
    );
}
