//! Range.

use armnn_backend_api::{BackendError, DataType, LayerView, RangeDescriptor, Result, Workload};
use half::{bf16, f16};

use crate::{
    numbers::element_type::Number,
    workloads::{
        layer_checks::{REALS, input, invalid, num_elements, output, require_one_type},
        workload_function::workload_function,
    },
};

const TYPES: &[&[DataType]] = &[
    REALS,
    &[DataType::Int16, DataType::Signed32, DataType::Signed64],
];

pub(crate) fn check(layer: LayerView<'_>, _: &RangeDescriptor) -> Result<()> {
    require_one_type(layer, TYPES)
}

pub(crate) fn workload(layer: LayerView<'_>, _: &RangeDescriptor) -> Result<Box<dyn Workload>> {
    for position in 0..3 {
        if num_elements(layer, input(layer, position)?)? != 1 {
            return Err(invalid("start, limit and delta are not one element each"));
        }
    }
    match output(layer, 0)?.data_type() {
        DataType::Float32 => of_numbers::<f32>(layer),
        DataType::Float16 => of_numbers::<f16>(layer),
        DataType::Float64 => of_numbers::<f64>(layer),
        DataType::BFloat16 => of_numbers::<bf16>(layer),
        DataType::Int16 => of_numbers::<i16>(layer),
        DataType::Signed32 => of_numbers::<i32>(layer),
        _ => of_numbers::<i64>(layer),
    }
}

fn of_numbers<N: Step>(layer: LayerView<'_>) -> Result<Box<dyn Workload>> {
    let known = match output(layer, 0)? {
        tensor if tensor.shape().is_known() => Some(num_elements(layer, tensor)?),
        _ => None,
    };
    workload_function(layer, 0, move |call| {
        let [start, limit, delta] = [0, 1, 2].map(|i| call.input::<N::Stored>(i));
        let [start, limit, delta] = [start?[0], limit?[0], delta?[0]].map(N::load);
        let steps = N::steps(start, limit, delta)?;
        // Formats round the quotient of real numbers in different ways, and by one step at most. The
        // host knows which.
        let steps = match known {
            Some(known) if N::IS_ROUNDED && known.abs_diff(steps) == 1 => known,
            _ => steps,
        };
        let out = call.allocate::<N::Stored>(0, &[steps])?;
        for (i, out) in out.iter_mut().enumerate() {
            *out = N::at(start, delta, i).store();
        }
        Ok(())
    })
}

/// Numbers that a range is made of.
trait Step: Number {
    /// Whether the number of steps is that of a rounded quotient.
    const IS_ROUNDED: bool;

    /// How many there are from `start` on before `limit`.
    fn steps(start: Self, limit: Self, delta: Self) -> Result<usize>;

    /// `start + i delta`
    fn at(start: Self, delta: Self, i: usize) -> Self;
}

fn no_steps() -> BackendError {
    BackendError::new("delta is 0, or the range has no end")
}

fn float_steps(start: f64, limit: f64, delta: f64) -> Result<usize> {
    let steps = ((limit - start) / delta).ceil();
    const MOST: f64 = (1u64 << 40) as f64;
    if delta == 0.0 || steps.is_nan() || steps >= MOST {
        return Err(no_steps());
    }
    Ok(steps.max(0.0) as usize)
}

impl Step for f32 {
    const IS_ROUNDED: bool = true;

    fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
        float_steps(start.into(), limit.into(), delta.into())
    }

    fn at(start: Self, delta: Self, i: usize) -> Self {
        start + i as Self * delta
    }
}

impl Step for f64 {
    const IS_ROUNDED: bool = true;

    fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
        float_steps(start, limit, delta)
    }

    fn at(start: Self, delta: Self, i: usize) -> Self {
        start + i as Self * delta
    }
}

macro_rules! halves {
    ($($T:ty)*) => {$(
        impl Step for $T {
            const IS_ROUNDED: bool = true;

            fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
                float_steps(start.into(), limit.into(), delta.into())
            }

            fn at(start: Self, delta: Self, i: usize) -> Self {
                Self::from_f32(f32::at(start.into(), delta.into(), i))
            }
        }
    )*};
}
halves! { f16 bf16 }

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Step for $T {
            const IS_ROUNDED: bool = false;

            fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
                let (start, limit, delta) =
                    (i128::from(start), i128::from(limit), i128::from(delta));
                let (distance, step) = match delta {
                    0 => return Err(no_steps()),
                    1.. => (limit - start, delta),
                    _ => (start - limit, -delta),
                };
                let steps = (distance.max(0) + step - 1) / step;
                usize::try_from(steps).map_err(|_| no_steps())
            }

            fn at(start: Self, delta: Self, i: usize) -> Self {
                start.wrapping_add(delta.wrapping_mul(i as Self))
            }
        }
    )*};
}
integers! { i16 i32 i64 }

#[cfg(test)]
mod tests {
    use armnn_backend_api::Shape;

    use super::*;
    use crate::test_harness::{Call, Tensor, f16s, f32s, typed};

    fn range(start: f32, limit: f32, delta: f32) -> Call {
        Call::new(RangeDescriptor::new())
            .input(f32s([], &[start]))
            .input(f32s([], &[limit]))
            .input(f32s([1], &[delta]))
            .output(DataType::Float32, [-1])
    }

    #[test]
    fn steps_lead_from_start_to_before_the_limit() {
        let found = range(1.0, 5.0, 2.0).run();
        assert_eq!((found.shape(0), found.f32s()), (vec![2], vec![1.0, 3.0]));
        assert_eq!(range(1.0, -1.5, -1.0).run().f32s(), [1.0, 0.0, -1.0]);
        let none = range(1.0, 0.0, 1.0).run();
        assert_eq!((none.shape(0), none.f32s()), (vec![0], vec![]));
        assert!(range(0.0, 1.0, 0.0).error().contains("delta is 0"));
        assert!(range(0.0, f32::NAN, 1.0).error().contains("no end"));
        assert!(range(0.0, f32::INFINITY, 1.0).error().contains("no end"));
    }

    #[test]
    fn the_host_may_have_rounded_the_number_of_steps_of_real_numbers() {
        // 0.6000000238 / 0.2000000030 = 3.0000000745, which is 3 in Float32.
        let counted = |out: [i64; 1]| {
            let call = Call::new(RangeDescriptor::new())
                .input(f32s([], &[0.0]))
                .input(f32s([], &[0.6]))
                .input(f32s([], &[0.2]));
            call.output(DataType::Float32, out)
        };
        assert_eq!(counted([3]).run().f32s(), [0.0, 0.2, 0.4]);
        assert_eq!(counted([4]).run().f32s(), [0.0, 0.2, 0.4, 0.6]);
        assert_eq!(counted([-1]).run().shape(0), [4]);
        assert!(counted([2]).error().contains("the data lead to [4]"));
    }

    #[test]
    fn integers_and_known_sizes() {
        let ints = |limit: i64, out: [i64; 1]| {
            Call::new(RangeDescriptor::new())
                .input(typed(DataType::Signed64, [], &[10i64]))
                .input(typed(DataType::Signed64, [], &[limit]))
                .input(typed(DataType::Signed64, [], &[-3i64]))
                .output(DataType::Signed64, out)
        };
        assert_eq!(ints(3, [3]).run().elements::<i64>(0), [10, 7, 4]);
        assert!(ints(3, [4]).error().contains("the data lead to [3]"));
        assert!(ints(i64::MIN, [-1]).try_run().is_err());
        let call = Call::new(RangeDescriptor::new())
            .input(f16s([], &[0.0]))
            .input(f16s([], &[1.0]))
            .input(f16s([], &[0.5]))
            .output(DataType::Float16, [-1]);
        assert_eq!(call.run().f16s(), [0.0, 0.5]);
    }

    #[test]
    fn float64_and_bfloat16_are_counted() {
        let range = |data_type, input: [Tensor; 3]| {
            let [start, limit, delta] = input;
            let call = Call::new(RangeDescriptor::new())
                .input(start)
                .input(limit)
                .input(delta);
            call.output(data_type, [3]).run()
        };
        let doubles = [1.0, 1.75, 0.25].map(|x: f64| typed(DataType::Float64, Shape::SCALAR, &[x]));
        let found = range(DataType::Float64, doubles);
        assert_eq!(found.elements::<f64>(0), [1.0, 1.25, 1.5]);
        // 0x3f80 is 1, 0x3fa0 1.25, 0x3fc0 1.5, 0x3fe0 1.75, 0x3e80 0.25.
        let halves = [0x3f80u16, 0x3fe0, 0x3e80];
        let halves = halves.map(|x| typed(DataType::BFloat16, Shape::SCALAR, &[x]));
        let found = range(DataType::BFloat16, halves);
        assert_eq!(found.elements::<u16>(0), [0x3f80, 0x3fa0, 0x3fc0]);
    }
}
