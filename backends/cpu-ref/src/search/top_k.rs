//! TopK.

use armnn_backend_api::{LayerView, Result, TopKDescriptor, Workload};

use crate::{
    numbers::element_type::{INDICES, NUMBERS, Number, by_number},
    workloads::{
        layer_checks::{dims, input, invalid, output, require_input, require_output},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &TopKDescriptor) -> Result<()> {
    require_output(layer, 0, NUMBERS)?;
    require_input(layer, 0, &[&[output(layer, 0)?.data_type()]])?;
    require_output(layer, 1, INDICES)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &TopKDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    let fits = from.len() == to.len()
        && axis < from.len()
        && (0..from.len()).all(|i| i == axis && to[i] <= from[i] || to[i] == from[i])
        && dims(layer, output(layer, 1)?)? == to;
    if !fits {
        return Err(invalid(format_args!(
            "the best along dimension {axis} of {from:?} do not make up {to:?}"
        )));
    }
    let rows = Rows {
        outer: from[..axis].iter().product(),
        size: from[axis],
        inner: from[axis + 1..].iter().product(),
        k: to[axis],
    };
    let largest = d.largest == 1;
    let index_type = output(layer, 1)?.data_type();
    let scratch_len = rows.size.saturating_mul(2 * size_of::<u64>());
    by_number!(input(layer, 0)?.data_type(), N => workload_function(layer, scratch_len, move |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        let (order, ordinals) = call.scratch::<u64>()?.split_at_mut(rows.size);
        if rows.k == 0 {
            return Ok(());
        }
        for row in 0..rows.outer * rows.inner {
            let start = row / rows.inner * rows.size * rows.inner + row % rows.inner;
            for (i, ordinal) in ordinals.iter_mut().enumerate() {
                let x = N::load(values[start + i * rows.inner]).ordinal();
                *ordinal = if largest { !x } else { x };
            }
            let best = best(order, ordinals, rows.k);
            let to = row / rows.inner * rows.k * rows.inner + row % rows.inner;
            let out = call.output::<<N as Number>::Stored>(0)?;
            for (i, &index) in best.iter().enumerate() {
                out[to + i * rows.inner] = values[start + index as usize * rows.inner];
            }
            let mut out = call.indices_mut(1, index_type)?;
            for (i, &index) in best.iter().enumerate() {
                out.set(to + i * rows.inner, index as usize);
            }
        }
        Ok(())
    }))
}

/// [outer, size, inner], of which `k` are taken along the middle.
struct Rows {
    outer: usize,
    size: usize,
    inner: usize,
    k: usize,
}

/// The indices of the `k` (not 0) lowest, in order, and by themselves where they are equal.
fn best<'a>(order: &'a mut [u64], ordinals: &[u64], k: usize) -> &'a [u64] {
    for (i, index) in order.iter_mut().enumerate() {
        *index = i as u64;
    }
    let key = |&index: &u64| (ordinals[index as usize], index);
    if k < order.len() {
        order.select_nth_unstable_by_key(k - 1, key);
    }
    let best = &mut order[..k];
    best.sort_unstable_by_key(key);
    best
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, f16s, f32s, typed};

    fn top(d: TopKDescriptor, input: Tensor, out: &[i64]) -> Call {
        let shape = Shape::new(out).unwrap();
        Call::new(d)
            .output(input.info.data_type, shape)
            .output(DataType::Signed64, shape)
            .input(input)
    }

    #[test]
    fn the_best_come_in_order_and_equal_ones_by_index() {
        let input = f32s([2, 4], &[1.0, 3.0, 2.0, 3.0, -1.0, -2.0, f32::NAN, -1.0]);
        let found = top(TopKDescriptor::new(1, true), input.clone(), &[2, 3]).run();
        assert_eq!(found.elements::<i64>(1), [1, 3, 2, 2, 0, 3]);
        assert_eq!(found.f32s()[..3], [3.0, 3.0, 2.0]);
        let found = top(TopKDescriptor::new(1, false), input.clone(), &[2, 2]).run();
        assert_eq!(found.elements::<i64>(1), [0, 2, 1, 0]);
        let found = top(TopKDescriptor::new(0, true), input.clone(), &[1, 4]).run();
        assert_eq!(found.elements::<i64>(1), [0, 0, 1, 0]);
        let none = top(TopKDescriptor::new(1, true), input, &[2, 0]).run();
        assert!(none.f32s().is_empty());
    }

    #[test]
    fn other_types() {
        let halves = f16s([3], &[0.5, -1.0, 2.0]);
        let found = top(TopKDescriptor::new(0, true), halves, &[2]).run();
        assert_eq!(
            (found.f16s(), found.elements::<i64>(1)),
            (vec![2.0, 0.5], vec![2, 0])
        );
        let bytes = typed(DataType::UInt8, [3], &[7u8, 200, 9]);
        let call = Call::new(TopKDescriptor::new(0, true))
            .input(bytes)
            .output(DataType::UInt8, [1])
            .output(DataType::Signed32, [1]);
        let found = call.run();
        assert_eq!(
            (found.elements::<u8>(0), found.elements::<i32>(1)),
            (vec![200], vec![1])
        );
    }
}
