//! Unique.

use std::cmp::Ordering;

use armnn_backend_api::{DataType, LayerView, Result, Shape, UniqueDescriptor, Workload};

use crate::{
    element_type::{COMPARABLES, Number, by_number},
    float_tensors::taken,
    layer_checks::{
        dims, input, invalid, output, require_input, require_output, require_same_quantization,
    },
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &UniqueDescriptor) -> Result<()> {
    require_output(layer, 0, COMPARABLES)?;
    require_input(layer, 0, &[&[output(layer, 0)?.data_type()]])?;
    for position in 1..4 {
        require_output(layer, position, &[&[DataType::Signed64]])?;
    }
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &UniqueDescriptor) -> Result<Box<dyn Workload>> {
    let mut from = dims(layer, input(layer, 0)?)?;
    if d.axis().is_none() {
        from = vec![from.iter().product()];
    }
    let axis = d.axis().unwrap_or(0) as usize;
    let Some(&size) = from.get(axis) else {
        return Err(invalid(format_args!("{from:?} has no dimension {axis}")));
    };
    let slices = Slices {
        outer: from[..axis].iter().product(),
        size,
        inner: from[axis + 1..].iter().product(),
    };
    let sorted = d.sorted == 1;
    let scratch_len = size.saturating_mul(3 * size_of::<u64>());
    by_number!(input(layer, 0)?.data_type(), N => workload_function(layer, scratch_len, move |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        let mut scratch = call.scratch::<u64>()?;
        let order = taken(&mut scratch, size);
        let first = taken(&mut scratch, size);
        let number = taken(&mut scratch, size);
        let count = slices.enumerate::<N>(values, sorted, order, first, number);
        let mut to = [0; Shape::MAX_RANK];
        let to = &mut to[..from.len()];
        to.copy_from_slice(&from);
        to[axis] = count;
        slices.copy(values, first, number, count, call.allocate(0, to)?);
        let indices = call.allocate::<i64>(1, &[count])?;
        for slice in (0..size).filter(|&slice| first[slice] == slice as u64) {
            indices[number[slice] as usize] = slice as i64;
        }
        let inverse = call.allocate::<i64>(2, &[size])?;
        for (to, &first) in inverse.iter_mut().zip(&*first) {
            *to = number[first as usize] as i64;
        }
        let counts = call.allocate::<i64>(3, &[count])?;
        counts.fill(0);
        for &first in &*first {
            counts[number[first as usize] as usize] += 1;
        }
        Ok(())
    }))
}

/// [outer, size, inner], of which the middle is cut into slices.
struct Slices {
    outer: usize,
    size: usize,
    inner: usize,
}

impl Slices {
    /// Writes to `first`, for each slice, the first one that is equal to it, and to `number`, for
    /// each that is such a first one, its place in the output; the others' are arbitrary. Returns
    /// how many there are. `order` is scratch memory.
    fn enumerate<N: Number>(
        &self,
        values: &[N::Stored],
        sorted: bool,
        order: &mut [u64],
        first: &mut [u64],
        number: &mut [u64],
    ) -> usize {
        for (i, slice) in order.iter_mut().enumerate() {
            *slice = i as u64;
        }
        let compare = |&a: &u64, &b: &u64| self.compare::<N>(values, a as usize, b as usize);
        order.sort_unstable_by(|a, b| compare(a, b).then(a.cmp(b)));
        let mut count = 0;
        for group in order.chunk_by(|a, b| compare(a, b) == Ordering::Equal) {
            number[group[0] as usize] = count;
            count += 1;
            for &slice in group {
                first[slice as usize] = group[0];
            }
        }
        if !sorted {
            let firsts = (0..self.size).filter(|&slice| first[slice] == slice as u64);
            for (place, slice) in firsts.enumerate() {
                number[slice] = place as u64;
            }
        }
        count as usize
    }

    fn compare<N: Number>(&self, values: &[N::Stored], a: usize, b: usize) -> Ordering {
        for outer in 0..self.outer {
            let row = |slice| &values[(outer * self.size + slice) * self.inner..][..self.inner];
            for (&x, &y) in row(a).iter().zip(row(b)) {
                let order = N::load(x).ordinal().cmp(&N::load(y).ordinal());
                if order != Ordering::Equal {
                    return order;
                }
            }
        }
        Ordering::Equal
    }

    /// Copies the first slices to their places.
    fn copy<T: Copy>(
        &self,
        values: &[T],
        first: &[u64],
        number: &[u64],
        count: usize,
        out: &mut [T],
    ) {
        let firsts = || (0..self.size).filter(|&slice| first[slice] == slice as u64);
        for outer in 0..self.outer {
            for slice in firsts() {
                let from = (outer * self.size + slice) * self.inner;
                let to = (outer * count + number[slice] as usize) * self.inner;
                out[to..][..self.inner].copy_from_slice(&values[from..][..self.inner]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Results, Tensor, assert_refused, f16s, f32s, typed};

    fn unique(axis: Option<u32>, sorted: bool, input: Tensor) -> Results {
        let mut out = match axis {
            Some(_) => input.info.shape.dims().to_vec(),
            None => vec![-1],
        };
        out[axis.unwrap_or(0) as usize] = -1;
        let size = match axis {
            Some(axis) => input.info.shape.dims()[axis as usize],
            None => input.info.shape.num_elements().unwrap() as i64,
        };
        let call = Call::new(UniqueDescriptor::new(axis, sorted))
            .output(input.info.data_type, Shape::new(&out).unwrap())
            .output(DataType::Signed64, [-1])
            .output(DataType::Signed64, [size])
            .output(DataType::Signed64, [-1])
            .input(input);
        call.run()
    }

    fn indices(results: &Results) -> [Vec<i64>; 3] {
        [1, 2, 3].map(|i| results.elements(i))
    }

    #[test]
    fn each_element_stays_once() {
        let input = f32s([2, 3], &[2.0, 1.0, 1.0, 3.0, 4.0, 3.0]);
        let found = unique(None, true, input.clone());
        assert_eq!(found.f32s(), [1.0, 2.0, 3.0, 4.0]);
        let expected = [vec![1, 0, 3, 4], vec![1, 0, 0, 2, 3, 2], vec![2, 1, 2, 1]];
        assert_eq!(indices(&found), expected);
        let found = unique(None, false, input);
        assert_eq!(found.f32s(), [2.0, 1.0, 3.0, 4.0]);
        let expected = [vec![0, 1, 3, 4], vec![0, 1, 1, 2, 3, 2], vec![1, 2, 2, 1]];
        assert_eq!(indices(&found), expected);
        let none = unique(None, true, f32s([0, 3], &[]));
        assert_eq!((none.shape(0), none.shape(3)), (vec![0], vec![0]));
    }

    #[test]
    fn slices_are_compared_as_a_whole() {
        // Rows (1, 0), (2, 3), (1, 0).
        let rows = f32s([3, 2], &[1.0, 0.0, 2.0, 3.0, 1.0, -0.0]);
        let found = unique(Some(0), true, rows);
        assert_eq!(found.f32s(), [1.0, 0.0, 2.0, 3.0]);
        assert_eq!(indices(&found), [vec![0, 1], vec![0, 1, 0], vec![2, 1]]);
        // Columns (9, 1), (7, 1), (9, 1).
        let columns = f32s([2, 3], &[9.0, 7.0, 9.0, 1.0, 1.0, 1.0]);
        let found = unique(Some(1), true, columns.clone());
        assert_eq!(
            (found.shape(0), found.f32s()),
            (vec![2, 2], vec![7.0, 9.0, 1.0, 1.0])
        );
        assert_eq!(indices(&found), [vec![1, 0], vec![1, 0, 1], vec![1, 2]]);
        let found = unique(Some(1), false, columns);
        assert_eq!(found.f32s(), [9.0, 7.0, 1.0, 1.0]);
        assert_eq!(indices(&found), [vec![0, 1], vec![0, 1, 0], vec![2, 1]]);
    }

    #[test]
    fn other_types_are_taken() {
        let found = unique(None, true, typed(DataType::Int8, [3], &[1i8, -1, 1]));
        assert_eq!(found.elements::<i8>(0), [-1, 1]);
        let found = unique(None, true, typed(DataType::Boolean, [3], &[1u8, 0, 1]));
        assert_eq!(found.elements::<u8>(0), [0, 1]);
        let found = unique(None, true, f16s([3], &[0.5, -1.0, 0.5]));
        assert_eq!(found.f16s(), [-1.0, 0.5]);
        let call = Call::new(UniqueDescriptor::new(None, true))
            .input(f32s([1], &[1.0]))
            .output(DataType::Float32, [-1])
            .output(DataType::Signed32, [-1])
            .output(DataType::Signed64, [1])
            .output(DataType::Signed64, [-1]);
        assert_refused(&call, &["the type of indices is Signed32"]);
    }
}
