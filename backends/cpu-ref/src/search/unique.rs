//! Unique.

use std::cmp::Ordering;

use armnn_backend_api::{DataType, LayerView, Result, Shape, UniqueDescriptor, Workload};

use crate::{
    numbers::element_type::{COMPARABLES, Number, by_number},
    workloads::{
        layer_checks::{dims, input, invalid, require_input, require_output},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &UniqueDescriptor) -> Result<()> {
    require_input(layer, 0, COMPARABLES)?;
    require_output(layer, 0, &[&[input(layer, 0)?.data_type()]])?;
    for position in 1..4 {
        require_output(layer, position, &[&[DataType::Signed64]])?;
    }
    Ok(())
}

pub(crate) fn workload(layer: LayerView<'_>, d: &UniqueDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let from = match d.axis() {
        Some(_) => from,
        None => vec![from.iter().product()],
    };
    let axis = d.axis().unwrap_or(0) as usize;
    if axis >= from.len() {
        return Err(invalid(format_args!("{from:?} has no dimension {axis}")));
    }
    let slices = Slices {
        count: from[axis],
        outer: from[..axis].iter().product(),
        inner: from[axis + 1..].iter().product(),
    };
    let sorted = d.sorted == 1;
    // The order of the slices, which of them is the first of its kind, and ordinals.
    let scratch_len = slices
        .count
        .checked_mul(2)
        .and_then(|n| n.checked_add(slices.len()))
        .and_then(|n| n.checked_mul(size_of::<u64>()))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    by_number!(input(layer, 0)?.data_type(), N => {
        let from = from.clone();
        workload_function(layer, scratch_len, move |call| {
            let values = call.input::<<N as Number>::Stored>(0)?;
            let scratch = call.scratch::<u64>()?;
            let (ordinals, scratch) = scratch.split_at_mut(slices.len());
            for (ordinal, &x) in ordinals.iter_mut().zip(values) {
                *ordinal = N::load(x).ordinal();
            }
            let (order, first) = scratch.split_at_mut(slices.count);
            let kinds = slices.kinds(ordinals, order, &mut first[..slices.count], sorted);
            let mut shape = [0; Shape::MAX_RANK];
            shape[..from.len()].copy_from_slice(&from);
            shape[axis] = kinds;
            let out = call.allocate::<<N as Number>::Stored>(0, &shape[..from.len()])?;
            if !out.is_empty() {
                for outer in 0..slices.outer {
                    for (kind, &slice) in order[..kinds].iter().enumerate() {
                        let at = (outer * slices.count + slice as usize) * slices.inner;
                        let to = (outer * kinds + kind) * slices.inner;
                        out[to..][..slices.inner].copy_from_slice(&values[at..][..slices.inner]);
                    }
                }
            }
            let out = call.allocate::<i64>(1, &[kinds])?;
            out.iter_mut().zip(&*order).for_each(|(out, &slice)| *out = slice as i64);
            let out = call.allocate::<i64>(2, &[slices.count])?;
            out.iter_mut().zip(&*first).for_each(|(out, &kind)| *out = kind as i64);
            let out = call.allocate::<i64>(3, &[kinds])?;
            out.fill(0);
            first.iter().for_each(|&kind| out[kind as usize] += 1);
            Ok(())
        })
    })
}

/// Slices of [outer, count, inner] along the middle.
#[derive(Clone, Copy)]
struct Slices {
    count: usize,
    outer: usize,
    inner: usize,
}

impl Slices {
    fn len(&self) -> usize {
        self.count * self.outer * self.inner
    }

    fn compare(&self, ordinals: &[u64], x: u64, y: u64) -> Ordering {
        if self.inner == 0 {
            // There may be any number of slices of nothing.
            return Ordering::Equal;
        }
        for outer in 0..self.outer {
            let slice = |i: u64| {
                let at = (outer * self.count + i as usize) * self.inner;
                &ordinals[at..][..self.inner]
            };
            let by_these = slice(x).cmp(slice(y));
            if by_these != Ordering::Equal {
                return by_these;
            }
        }
        Ordering::Equal
    }

    /// Finds out which slices are equal. Returns how many kinds there are; the beginning of `order`
    /// becomes the first slice of each, and `kind` the kind of each slice.
    fn kinds(&self, ordinals: &[u64], order: &mut [u64], kind: &mut [u64], sorted: bool) -> usize {
        for (i, slice) in order.iter_mut().enumerate() {
            *slice = i as u64;
        }
        // Equal ones by themselves, so that the first comes first.
        order.sort_unstable_by(|&x, &y| self.compare(ordinals, x, y).then(x.cmp(&y)));
        // Slices of a kind are side by side: each is first given the first slice of its kind.
        let mut kinds = 0;
        for i in 0..order.len() {
            let slice = order[i];
            let is_new =
                i == 0 || self.compare(ordinals, order[kinds - 1], slice) != Ordering::Equal;
            if is_new {
                order[kinds] = slice;
                kinds += 1;
            }
            kind[slice as usize] = order[kinds - 1];
        }
        if !sorted {
            order[..kinds].sort_unstable();
        }
        // Then its number among the kinds, by way of that first slice, which comes before it.
        let firsts = &mut order[..kinds];
        if sorted {
            for slice in kind.iter_mut() {
                let compare =
                    |&first: &u64| self.compare(ordinals, first, *slice).then(first.cmp(slice));
                *slice = firsts.binary_search_by(compare).unwrap_or(0) as u64;
            }
        } else {
            for slice in kind.iter_mut() {
                *slice = firsts.binary_search(slice).unwrap_or(0) as u64;
            }
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Results, Tensor, f32s, typed};

    fn unique(d: UniqueDescriptor, input: Tensor, out: &[i64], count: i64) -> Results {
        let call = Call::new(d)
            .output(input.info.data_type, Shape::new(out).unwrap())
            .output(DataType::Signed64, [-1])
            .output(DataType::Signed64, [count])
            .output(DataType::Signed64, [-1])
            .input(input);
        call.run()
    }

    /// The examples of ONNX's documentation.
    #[test]
    fn each_element_appears_once_with_its_index_and_count() {
        let input = f32s([6], &[2.0, 1.0, 1.0, 3.0, 4.0, 3.0]);
        let found = unique(UniqueDescriptor::new(None, false), input.clone(), &[-1], 6);
        assert_eq!(found.f32s(), [2.0, 1.0, 3.0, 4.0]);
        assert_eq!(found.elements::<i64>(1), [0, 1, 3, 4]);
        assert_eq!(found.elements::<i64>(2), [0, 1, 1, 2, 3, 2]);
        assert_eq!(found.elements::<i64>(3), [1, 2, 2, 1]);
        let found = unique(UniqueDescriptor::new(None, true), input, &[-1], 6);
        assert_eq!(found.f32s(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found.elements::<i64>(1), [1, 0, 3, 4]);
        assert_eq!(found.elements::<i64>(2), [1, 0, 0, 2, 3, 2]);
        assert_eq!(found.elements::<i64>(3), [2, 1, 2, 1]);
    }

    #[test]
    fn slices_of_nothing_are_equal_however_many_parts_they_have() {
        // As numpy.unique of zeros of shape [3, 5, 0] along axis 1.
        let many = 1 << 50;
        let input = f32s([many, 5, 0], &[]);
        let found = unique(
            UniqueDescriptor::new(Some(1), true),
            input,
            &[many, -1, 0],
            5,
        );
        assert_eq!(found.shape(0), [many, 1, 0]);
        assert_eq!(found.elements::<i64>(1), [0]);
        assert_eq!(found.elements::<i64>(2), [0; 5]);
        assert_eq!(found.elements::<i64>(3), [5]);
    }

    #[test]
    fn slices_are_compared_as_a_whole() {
        let rows = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 3.0, 4.0];
        let found = unique(
            UniqueDescriptor::new(Some(0), true),
            f32s([3, 3], &rows),
            &[-1, 3],
            3,
        );
        assert_eq!(
            (found.shape(0), found.f32s()),
            (vec![2, 3], rows[3..].to_vec())
        );
        assert_eq!(found.elements::<i64>(1), [0, 2]);
        assert_eq!(found.elements::<i64>(2), [0, 0, 1]);
        assert_eq!(found.elements::<i64>(3), [2, 1]);
        // Columns [1 1] [1 1], [0 0] [1 1], [1 1] [0 0], [0 0] [1 1], the third dimension apart.
        let values = [
            [1, 1],
            [0, 1],
            [2, 1],
            [0, 1],
            [1, 1],
            [0, 1],
            [2, 1],
            [0, 1],
        ];
        let input = typed(DataType::Signed32, [2, 4, 2], &values.concat());
        let found = unique(UniqueDescriptor::new(Some(1), true), input, &[2, -1, 2], 4);
        assert_eq!(found.shape(0), [2, 3, 2]);
        let expected = [[0, 1], [1, 1], [2, 1], [0, 1], [1, 1], [2, 1]].concat();
        assert_eq!(found.elements::<i32>(0), expected);
        assert_eq!(found.elements::<i64>(1), [1, 0, 2]);
        assert_eq!(found.elements::<i64>(2), [1, 0, 2, 0]);
        assert_eq!(found.elements::<i64>(3), [2, 1, 1]);
        let none = unique(UniqueDescriptor::new(None, true), f32s([0], &[]), &[-1], 0);
        assert_eq!((none.shape(0), none.shape(3)), (vec![0], vec![0]));
    }
}
