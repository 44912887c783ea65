//! StridedSlice.

use armnn_backend_api::{LayerView, Result, StridedSliceDescriptor, Workload};

use crate::{
    copy::{self, BoxCopy, copy_workload},
    layer_checks::{dims, input, invalid, output},
    loop_nest::{LoopNest, dense_strides},
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
        return Err(invalid(
            layer,
            format_args!(
                "begin {begin:?} and stride {stride:?} do not lead from {from:?} to {to:?}"
            ),
        ));
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
