//! Reduce of quantized numbers, by TensorFlow Lite's reference kernels (`kernels/reduce.cc` and
//! `kernels/internal/reference/reduce.h`): sums, and means with the number of elements as a part of
//! the factor, in fixed point; products in fixed point, rescaled at every step so that nothing
//! overflows. The largest and the smallest number are rescaled where the scales differ, which they
//! may not there.

use std::marker::PhantomData;

use armnn_backend_api::{
    ExecutionContext, LayerView, ReduceOperation, Result, Synchronous, Workload,
};

use super::Reduce;
use crate::{
    numbers::quantized_arithmetic::{Affine, Multiplier, QuantizedElement, by_quantized_type},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, num_elements, output},
    },
};

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(layer: LayerView<'_>, reduce: Reduce) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    let ratio = f64::from(from.scale) / f64::from(to.scale);
    let factor = match reduce.operation {
        ReduceOperation::Prod => {
            let root = f64::from(to.scale).powf(1.0 / reduce.count.max(1) as f64);
            Multiplier::new(f64::from(from.scale) / root)
        }
        ReduceOperation::Mean => mean_factor(Multiplier::new(ratio), reduce.count),
        _ => Multiplier::new(ratio),
    };
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        element_workload(layer, QuantizedReduce::<Q> {
            output_len: num_elements(layer, output(layer, 0)?)?,
            reduce,
            from,
            to,
            factor,
            element: PhantomData,
        })
    })
}

/// A factor through the number of elements: the fraction is shifted to the left as far as the
/// number goes, and divided.
fn mean_factor(factor: Multiplier, count: usize) -> Multiplier {
    let count = count.max(1) as i64;
    let shift = (63 - count.leading_zeros() as i32)
        .min(32)
        .min(31 + factor.exponent)
        .max(0);
    Multiplier {
        fraction: ((i64::from(factor.fraction) << shift) / count) as i32,
        exponent: factor.exponent - shift,
    }
}

struct QuantizedReduce<Q> {
    reduce: Reduce,
    output_len: usize,
    from: Affine,
    to: Affine,
    factor: Multiplier,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> QuantizedReduce<Q> {
    fn finish(&self, sums: &[i64], output: &mut [Q], f: impl Fn(i64) -> i32) {
        for (out, &sum) in output.iter_mut().zip(sums) {
            *out = Q::saturating(f(sum).saturating_add(self.to.zero_point));
        }
    }
}

impl<Q: QuantizedElement> Kernel for QuantizedReduce<Q> {
    type Input = Q;
    type Output = Q;

    fn scratch_len(&self) -> usize {
        self.output_len
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let sums = &mut scratch[..self.output_len];
        let (reduce, factor) = (&self.reduce, self.factor);
        let zero_point = self.from.zero_point;
        match reduce.operation {
            ReduceOperation::Max | ReduceOperation::Min => {
                if reduce.operation == ReduceOperation::Max {
                    let start = Q::MIN.into();
                    reduce.fold(input, sums, start, |most, x: Q| most.max(x.to_i32().into()));
                } else {
                    let start = Q::MAX.into();
                    reduce.fold(input, sums, start, |least, x: Q| {
                        least.min(x.to_i32().into())
                    });
                }
                self.finish(sums, output, |x| {
                    factor.apply((x as i32).wrapping_sub(zero_point))
                });
            }
            ReduceOperation::Prod => {
                // The first number is taken as it is; no product has more than 32 bits.
                const NONE: i64 = i64::MIN;
                reduce.fold(input, sums, NONE, |product, x: Q| {
                    let x = i64::from(x.to_i32().wrapping_sub(zero_point));
                    match product {
                        NONE => x,
                        product => factor.apply_wide(product.wrapping_mul(x)).into(),
                    }
                });
                let one = (1.0 / self.to.scale).round() as i32;
                self.finish(sums, output, |product| match product {
                    // Of nothing: 1.
                    NONE => one,
                    product => factor.apply_wide(product),
                });
            }
            // `check` lets nothing else through but Sum and Mean.
            _ => {
                reduce.fold(input, sums, 0, |sum, x: Q| {
                    sum.wrapping_add(x.to_i32().wrapping_sub(zero_point).into())
                });
                self.finish(sums, output, |sum| factor.apply(sum as i32));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Quantization, ReduceDescriptor, Shape, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, typed};

    fn reduced(
        operation: ReduceOperation,
        values: &[i8],
        shape: [i64; 2],
        (axis, kept): (u32, i64),
        (from, to): (f32, f32),
    ) -> Vec<i8> {
        let d = ReduceDescriptor::new(operation, &[axis], false).unwrap();
        let output = TensorInfo::new(DataType::QAsymmS8, Shape::new(&[kept]).unwrap())
            .quantized(Quantization::per_tensor(to, -1));
        let call = Call::new(d)
            .input(
                typed(DataType::QAsymmS8, shape, values)
                    .quantized(Quantization::per_tensor(from, 1)),
            )
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn operations_are_those_of_the_real_numbers() {
        use ReduceOperation as R;
        // 1, 2, -3 and 0.5, 1, 4 in steps of 0.5 from 1 on, with results in steps of 0.25.
        let values = [3, 5, -5, 2, 3, 9];
        for (operation, expected) in [
            (R::Sum, [-1, 21]), // 0 and 5.5
            (R::Max, [7, 15]),  // 2 and 4
            (R::Min, [-13, 1]), // -3 and 0.5
            (R::Mean, [-1, 6]), // 0 and 1.83, which is 7.3 steps
        ] {
            let found = reduced(operation, &values, [2, 3], (1, 2), (0.5, 0.25));
            assert_eq!(found, expected, "{operation}");
        }
        // Columns: 1 + 0.5, 2 + 1, -3 + 4.
        let found = reduced(R::Sum, &values, [2, 3], (0, 3), (0.5, 0.25));
        assert_eq!(found, [5, 11, 3]);
    }

    /// Outputs of LiteRT 2.3's reference kernels.
    #[test]
    fn means_and_products_are_rounded_as_in_another_engine() {
        let values = [3, 5, -5, 2, 3, 9, 100, -7, -8, 1, 1, 2];
        for (operation, expected) in [
            (ReduceOperation::Mean, [-1, 5, 45, 0]),
            (ReduceOperation::Prod, [-21, 3, 127, -1]),
        ] {
            let found = reduced(operation, &values, [4, 3], (1, 4), (0.5, 0.3));
            assert_eq!(found, expected, "{operation}");
        }
    }
}
