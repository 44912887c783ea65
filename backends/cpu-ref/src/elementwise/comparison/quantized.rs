//! Comparison of quantized numbers: TensorFlow Lite's reference kernels (`kernels/comparisons.cc`),
//! which multiply both with their scales, in fixed point and with 8 more bits: real numbers closer
//! than 2^-9 may count as equal. In 16 bits, they order numbers of one scale as they are. So that
//! scales from 1 on, which the rule does not cover, are compared too, both are divided by the larger
//! one then.

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, ComparisonOperation, DataType, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use super::Plan;
use crate::{
    loops::loop_nest::map_pairs,
    numbers::quantized_arithmetic::{Affine, Multiplier, QuantizedElement, by_quantized_type},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::input,
    },
};

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Affine::of(input(layer, 0)?, "x")?;
    Affine::of(input(layer, 1)?, "y").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>, plan: Plan) -> Result<Box<dyn Workload>> {
    let x = Affine::of(input(layer, 0)?, "x")?;
    let y = Affine::of(input(layer, 1)?, "y")?;
    let larger = x.scale.max(y.scale);
    let unit = if larger < 1.0 { 1.0 } else { f64::from(larger) };
    let operand = |from: Affine| Operand {
        zero_point: from.zero_point,
        factor: Multiplier::new(f64::from(from.scale) / unit),
    };
    let data_type = input(layer, 0)?.data_type();
    let orders_16_bits = data_type == DataType::QSymmS16
        && !matches!(
            plan.operation,
            ComparisonOperation::Equal | ComparisonOperation::NotEqual
        );
    by_quantized_type!(data_type, Q => {
        element_workload(layer, QuantizedComparison::<Q> {
            plan,
            x: operand(x),
            y: operand(y),
            is_plain: x == y && orders_16_bits,
            element: PhantomData,
        })
    })
}

#[derive(Clone, Copy)]
struct Operand {
    zero_point: i32,
    factor: Multiplier,
}

impl Operand {
    #[inline]
    fn value(self, number: i32) -> i32 {
        self.factor
            .apply(number.wrapping_sub(self.zero_point).wrapping_shl(8))
    }
}

struct QuantizedComparison<Q> {
    plan: Plan,
    x: Operand,
    y: Operand,
    /// Numbers are compared as they are.
    is_plain: bool,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> QuantizedComparison<Q> {
    fn compare(&self, x: &[Q], y: &[Q], out: &mut [u8], f: impl Fn(i32, i32) -> bool) {
        if self.is_plain {
            map_pairs(&self.plan.nest, x, y, out, |x: Q, y: Q| {
                u8::from(f(x.to_i32(), y.to_i32()))
            });
        } else {
            map_pairs(&self.plan.nest, x, y, out, |x: Q, y: Q| {
                u8::from(f(self.x.value(x.to_i32()), self.y.value(y.to_i32())))
            });
        }
    }
}

impl<Q: QuantizedElement> Kernel for QuantizedComparison<Q> {
    type Input = Q;
    type Output = u8;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [x, y, _]: [&[Q]; MAX_INPUTS],
        out: &mut [u8],
    ) -> Result<()> {
        match self.plan.operation {
            ComparisonOperation::Equal => self.compare(x, y, out, |x, y| x == y),
            ComparisonOperation::NotEqual => self.compare(x, y, out, |x, y| x != y),
            ComparisonOperation::Greater => self.compare(x, y, out, |x, y| x > y),
            ComparisonOperation::GreaterOrEqual => self.compare(x, y, out, |x, y| x >= y),
            ComparisonOperation::Less => self.compare(x, y, out, |x, y| x < y),
            ComparisonOperation::LessOrEqual => self.compare(x, y, out, |x, y| x <= y),
            other => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{ComparisonDescriptor, Quantization};

    use super::*;
    use crate::test_harness::{Call, typed};

    #[test]
    fn what_numbers_stand_for_is_compared() {
        // 0.5 (q - 1) = 0, 1, 2 and 0.25 q = 1, 1, 1; and ten times as much.
        for times in [1.0f32, 10.0] {
            let scaled = |scale, zero_point| Quantization::per_tensor(times * scale, zero_point);
            let x = typed(DataType::QAsymmS8, [3], &[1i8, 3, 5]).quantized(scaled(0.5, 1));
            let y = typed(DataType::QAsymmS8, [1], &[4i8]).quantized(scaled(0.25, 0));
            for (operation, expected) in [
                (ComparisonOperation::Equal, [0u8, 1, 0]),
                (ComparisonOperation::NotEqual, [1, 0, 1]),
                (ComparisonOperation::Greater, [0, 0, 1]),
                (ComparisonOperation::GreaterOrEqual, [0, 1, 1]),
                (ComparisonOperation::Less, [1, 0, 0]),
                (ComparisonOperation::LessOrEqual, [1, 1, 0]),
            ] {
                let call = Call::new(ComparisonDescriptor::new(operation))
                    .input(x.clone())
                    .input(y.clone())
                    .output(DataType::Boolean, [3]);
                assert_eq!(
                    call.run().elements::<u8>(0),
                    expected,
                    "{operation} {times}"
                );
            }
        }
    }
}
