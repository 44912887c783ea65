//! ArgMinMax.

use armnn_backend_api::{ArgMinMaxDescriptor, ArgMinMaxFunction, LayerView, Result, Workload};

use crate::{
    numbers::element_type::{COMPARABLES, INDICES, IndicesMut, Number, by_number},
    workloads::{
        layer_checks::{
            dims, input, invalid, output, require_input, require_named, require_output,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &ArgMinMaxDescriptor) -> Result<()> {
    require_named(d.function(), d.function().name())?;
    require_input(layer, 0, COMPARABLES)?;
    require_output(layer, 0, INDICES)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &ArgMinMaxDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    let Some(&size) = from.get(axis) else {
        return Err(invalid(format_args!("{from:?} has no dimension {axis}")));
    };
    let inner: usize = from[axis + 1..].iter().product();
    let outer: usize = from[..axis].iter().product();
    if to.iter().product::<usize>() != outer * inner || size == 0 {
        return Err(invalid(format_args!(
            "searching dimension {axis} of {from:?} does not lead to {to:?}"
        )));
    }
    let (function, last) = (d.function(), d.select_last_index == 1);
    let index_type = output(layer, 0)?.data_type();
    by_number!(input(layer, 0)?.data_type(), N => workload_function(layer, 0, move |call| {
        let values = call.input(0)?;
        let out = call.indices_mut(0, index_type)?;
        let n_out = outer * inner;
        match (function, last) {
            (ArgMinMaxFunction::Max, false) => {
                search::<N>(values, inner, size, n_out, out, |x, best| x > best);
            }
            (ArgMinMaxFunction::Max, true) => {
                search::<N>(values, inner, size, n_out, out, |x, best| x >= best);
            }
            (_, false) => search::<N>(values, inner, size, n_out, out, |x, best| x < best),
            (_, true) => search::<N>(values, inner, size, n_out, out, |x, best| x <= best),
        }
        Ok(())
    }))
}

/// Of `[outer, size, inner]`, the index along the middle of the element that is better than all
/// before it; `n_out` is outer times inner.
fn search<N: Number>(
    values: &[N::Stored],
    inner: usize,
    size: usize,
    n_out: usize,
    mut out: IndicesMut<'_>,
    is_better: impl Fn(N, N) -> bool,
) {
    for position in 0..n_out {
        let start = position / inner * size * inner + position % inner;
        let mut best = (0, N::load(values[start]));
        for i in 1..size {
            let x = N::load(values[start + i * inner]);
            if is_better(x, best.1) {
                best = (i, x);
            }
        }
        out.set(position, best.0);
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f16s, f32s, typed};

    fn searched(d: ArgMinMaxDescriptor, input: Tensor, out: &[i64]) -> Vec<i32> {
        let call = Call::new(d)
            .input(input)
            .output(DataType::Signed32, Shape::new(out).unwrap());
        call.run().elements(0)
    }

    #[test]
    fn the_best_element_along_an_axis_is_found() {
        let input = f32s([2, 3], &[1.0, 5.0, 5.0, 4.0, -1.0, -1.0]);
        let max = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 1, false);
        assert_eq!(searched(max, input.clone(), &[2]), [1, 0]);
        let last = ArgMinMaxDescriptor {
            select_last_index: 1,
            ..max
        };
        assert_eq!(searched(last, input.clone(), &[2]), [2, 0]);
        let min = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Min, 0, true);
        assert_eq!(searched(min, input.clone(), &[1, 3]), [0, 1, 1]);
        let last = ArgMinMaxDescriptor {
            select_last_index: 1,
            axis: 1,
            ..min
        };
        assert_eq!(searched(last, input.clone(), &[2, 1]), [0, 2]);
        let call = Call::new(max).input(input).output(DataType::Signed64, [2]);
        assert_eq!(call.run().elements::<i64>(0), [1, 0]);
    }

    #[test]
    fn all_types_with_an_order_are_taken() {
        let max = ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 0, false);
        assert_eq!(searched(max, f16s([3], &[-1.0, 2.0, 1.0]), &[]), [1]);
        let bytes = typed(DataType::UInt8, [3], &[1u8, 2, 200]);
        assert_eq!(searched(max, bytes, &[]), [2]);
        let bytes = typed(DataType::Int8, [3], &[1i8, 2, -56]);
        assert_eq!(searched(max, bytes, &[]), [1]);
        // 1 + 2^-40 is 1 in Float32; 0xbf80 is -1, 0x3f80 is 1, 0x3f00 is 0.5.
        let doubles = typed(DataType::Float64, [2], &[1.0, 1.0 + 2f64.powi(-40)]);
        assert_eq!(searched(max, doubles, &[]), [1]);
        let halves = typed(DataType::BFloat16, [3], &[0xbf80u16, 0x3f80, 0x3f00]);
        assert_eq!(searched(max, halves, &[]), [1]);
        let call = Call::new(max)
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, []);
        assert_refused(&call, &["the type of output is Float32"]);
    }
}
