//! StridedSlice.

use armnn_backend_api::{LayerView, Result, StridedSliceDescriptor, Workload};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    workloads::{
        copy::{self, BoxCopy, copy_workload},
        layer_checks::{dims, input, invalid, output},
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &StridedSliceDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &StridedSliceDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let (begin, stride) = (d.begin(), d.stride());
    let is_empty = to.contains(&0);
    let fits = from.len() == to.len()
        && from.len() == begin.len()
        && (is_empty || (0..to.len()).all(|i| is_inside(begin[i], stride[i], to[i], from[i])));
    if !fits {
        return Err(invalid(format_args!(
            "begin {begin:?} and stride {stride:?} do not lead from {from:?} to {to:?}"
        )));
    }
    let mut copies = vec![];
    if !is_empty {
        let dense = dense_strides(&from);
        let start = begin
            .iter()
            .zip(&dense)
            .map(|(&b, &s)| b as usize * s as usize);
        // A single element needs no stride, which may be as large as it likes.
        let strides: Vec<_> = (0..to.len())
            .map(|i| {
                if to[i] == 1 {
                    0
                } else {
                    stride[i] as isize * dense[i]
                }
            })
            .collect();
        copies.push(BoxCopy {
            input: 0,
            output: 0,
            nest: LoopNest::new(&to, [&strides, &dense_strides(&to)], [start.sum(), 0]),
        });
    }
    copy_workload(layer, copies, None)
}

/// Whether `count` (not 0) elements from `begin` on lie within `size`.
fn is_inside(begin: i64, stride: i64, count: usize, size: usize) -> bool {
    let size = size as i128;
    let last = i128::from(begin) + (count as i128 - 1) * i128::from(stride);
    (0..size).contains(&i128::from(begin)) && (0..size).contains(&last)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, f32s};

    fn sliced(begin: &[i64], stride: &[i64], shape: &[i64], out: &[i64]) -> Call {
        let end: Vec<i64> = (0..begin.len())
            .map(|i| begin[i] + stride[i] * out[i])
            .collect();
        let len = shape.iter().product::<i64>();
        let values: Vec<f32> = (0..len).map(|i| i as f32).collect();
        Call::new(StridedSliceDescriptor::new(begin, &end, stride).unwrap())
            .input(f32s(Shape::new(shape).unwrap(), &values))
            .output(DataType::Float32, Shape::new(out).unwrap())
    }

    #[test]
    fn elements_are_taken_at_strides_from_the_beginning() {
        // Rows 1 and 3, columns 0, 2 and 4 of a matrix with five columns.
        let call = sliced(&[1, 0], &[2, 2], &[4, 5], &[2, 3]);
        assert_eq!(call.run().f32s(), [5.0, 7.0, 9.0, 15.0, 17.0, 19.0]);
        let call = sliced(&[1, 1], &[1, 1], &[3, 4], &[2, 2]);
        assert_eq!(call.run().f32s(), [5.0, 6.0, 9.0, 10.0]);
    }

    #[test]
    fn negative_strides_go_backwards_through_element_0() {
        let call = sliced(&[4], &[-2], &[5], &[3]);
        assert_eq!(call.run().f32s(), [4.0, 2.0, 0.0]);
        let call = sliced(&[1, 2], &[-1, -1], &[2, 3], &[2, 3]);
        assert_eq!(call.run().f32s(), [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn empty_slices_and_huge_strides_of_one_element() {
        assert!(sliced(&[5], &[1], &[5], &[0]).run().f32s().is_empty());
        let d = StridedSliceDescriptor::new(&[2], &[3], &[i64::MAX]).unwrap();
        let call = Call::new(d)
            .input(f32s([3], &[0.0, 1.0, 2.0]))
            .output(DataType::Float32, [1]);
        assert_eq!(call.run().f32s(), [2.0]);
    }

    #[test]
    fn a_slice_that_leads_outside_is_an_error() {
        assert!(
            sliced(&[3], &[1], &[5], &[3])
                .error()
                .contains("do not lead")
        );
        assert!(
            sliced(&[1], &[-1], &[5], &[3])
                .error()
                .contains("do not lead")
        );
        assert!(
            sliced(&[-1], &[1], &[5], &[2])
                .error()
                .contains("do not lead")
        );
    }
}
