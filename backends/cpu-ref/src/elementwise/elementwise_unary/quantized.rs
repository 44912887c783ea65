//! ElementwiseUnary of quantized numbers, by TensorFlow Lite's reference kernels
//! (`kernels/elementwise.cc`, `exp.cc`, `neg.cc`): Abs and Neg in fixed point, Rsqrt of 8 bits by a
//! root in fixed point, Sqrt in Float32 and rounded down, all else of 8 bits by a table, and of 16
//! bits Exp, Log and Rsqrt. The logarithm of what is not above 0 is the smallest number, and the
//! reciprocal root the largest. What has no kernel there is computed in Float32.

use std::marker::PhantomData;

use armnn_backend_api::{
    ExecutionContext, LayerView, Result, Synchronous, UnaryOperation, Workload,
};

use super::value;
use crate::{
    numbers::{
        lookup_table::{Table8, Table16},
        quantized_arithmetic::{Affine, Multiplier, QuantizedElement, by_quantized_type},
        reciprocal::reciprocal_root,
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output},
    },
};

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(
    layer: LayerView<'_>,
    operation: UnaryOperation,
) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        element_workload(layer, QuantizedUnary::<Q> {
            rule: Rule::new(operation, from, to),
            from,
            to,
            element: PhantomData,
        })
    })
}

/// How a number, without its zero point where there is a factor, becomes one of the output.
enum Rule<Q> {
    Abs(Multiplier),
    Neg(Multiplier),
    Rsqrt(Multiplier),
    Sqrt,
    Table8(Table8<Q>),
    Table16(Table16),
    Real(UnaryOperation),
}

impl<Q: QuantizedElement> Rule<Q> {
    fn new(operation: UnaryOperation, from: Affine, to: Affine) -> Self {
        let has_8_bits = size_of::<Q>() == 1;
        let factor = Multiplier::new((from.scale / to.scale).into());
        let least = to.dequantize(Q::MIN);
        let most = to.dequantize(Q::MAX);
        let f = move |x: f32| match operation {
            UnaryOperation::Log if x <= 0.0 => least,
            UnaryOperation::Rsqrt if x <= 0.0 => most,
            _ => value(operation, x),
        };
        match operation {
            UnaryOperation::Abs => Self::Abs(factor),
            UnaryOperation::Neg => Self::Neg(factor),
            UnaryOperation::Rsqrt if has_8_bits => {
                let factor = 1.0 / f64::from(from.scale.sqrt() * to.scale);
                Self::Rsqrt(Multiplier::new(factor))
            }
            UnaryOperation::Sqrt => Self::Sqrt,
            _ if has_8_bits => Self::Table8(Table8::new(from, to, f)),
            UnaryOperation::Exp | UnaryOperation::Log | UnaryOperation::Rsqrt => {
                Self::Table16(Table16::new((from.scale, from.zero_point), to.scale, f))
            }
            // A table of few points would blur the steps of Ceil and the like.
            _ => Self::Real(operation),
        }
    }
}

struct QuantizedUnary<Q> {
    rule: Rule<Q>,
    from: Affine,
    to: Affine,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> QuantizedUnary<Q> {
    fn map(&self, input: &[Q], output: &mut [Q], f: impl Fn(i32) -> i32) {
        for (out, x) in output.iter_mut().zip(input) {
            let number = f(x.to_i32().wrapping_sub(self.from.zero_point));
            *out = Q::saturating(number.saturating_add(self.to.zero_point));
        }
    }
}

impl<Q: QuantizedElement> Kernel for QuantizedUnary<Q> {
    type Input = Q;
    type Output = Q;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        match &self.rule {
            Rule::Abs(factor) => self.map(input, output, |x| factor.apply(x.abs())),
            Rule::Neg(factor) => self.map(input, output, |x| factor.apply(-x)),
            Rule::Rsqrt(factor) => self.map(input, output, |x| root(x, *factor)),
            Rule::Sqrt => {
                for (out, x) in output.iter_mut().zip(input) {
                    let root = self.from.dequantize(x.to_i32()).sqrt();
                    let number = (root / self.to.scale).floor();
                    *out = Q::saturating_f32(number + self.to.zero_point as f32);
                }
            }
            Rule::Table8(table) => {
                output
                    .iter_mut()
                    .zip(input)
                    .for_each(|(out, &x)| *out = table.get(x));
            }
            Rule::Real(operation) => {
                for (out, x) in output.iter_mut().zip(input) {
                    let real = value(*operation, self.from.dequantize(x.to_i32()));
                    *out = self.to.quantize(real);
                }
            }
            Rule::Table16(table) => {
                for (out, x) in output.iter_mut().zip(input) {
                    *out = Q::saturating(table.get(x.to_i32() as i16).into());
                }
            }
        }
        Ok(())
    }
}

/// The reciprocal root of a number times a factor.
fn root(x: i32, factor: Multiplier) -> i32 {
    if x <= 0 {
        // Beyond any type.
        return i32::MAX / 2;
    }
    // Bits behind the point between the two products.
    const BITS: i32 = 20;
    let root = reciprocal_root(x);
    let root = Multiplier {
        exponent: root.exponent + BITS,
        ..root
    };
    let factor = Multiplier {
        exponent: factor.exponent - BITS,
        ..factor
    };
    factor.apply(root.apply(1))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        DataType, Element, ElementwiseUnaryDescriptor, Quantization, TensorInfo,
    };

    use super::*;
    use crate::test_harness::{Call, typed};

    fn computed<T: Element>(
        operation: UnaryOperation,
        data_type: DataType,
        values: &[T],
        (from, to): (f32, f32),
    ) -> Vec<T> {
        let shape = [values.len() as i64];
        let output = TensorInfo::new(data_type, shape).quantized(Quantization::per_tensor(to, 0));
        let call = Call::new(ElementwiseUnaryDescriptor::new(operation))
            .input(typed(data_type, shape, values).quantized(Quantization::per_tensor(from, 0)))
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn eight_bits_are_as_the_real_numbers() {
        use UnaryOperation as U;
        for (operation, values, scales, expected) in [
            (U::Abs, [-4i8, 3], (0.5, 0.25), [8i8, 6]),
            (U::Neg, [-4, 127], (1.0, 1.0), [4, -127]),
            // 1 / sqrt(4) and 1 / sqrt(1), in steps of 0.125; of 0 the largest.
            (U::Rsqrt, [16, 0], (0.25, 0.125), [4, 127]),
            // The root of 7.5 is 2.74, in steps of 0.5: 5.5.
            (U::Sqrt, [15, 8], (0.5, 0.5), [5, 4]),
            (U::Exp, [0, 2], (0.5, 0.1), [10, 27]),
            (U::Log, [20, -1], (0.5, 0.1), [23, -128]),
            (U::Square, [-3, 100], (1.0, 1.0), [9, 127]),
            (U::Floor, [-3, 3], (0.5, 0.5), [-4, 2]),
        ] {
            let found = computed(operation, DataType::QAsymmS8, &values, scales);
            assert_eq!(found, expected, "{operation}");
        }
    }

    #[test]
    fn sixteen_bits_are_near_to_the_real_numbers() {
        let (from, to) = (1.0 / 4096.0, 1.0 / 1024.0);
        let values = [100i16, 4096, 20000, i16::MAX];
        for operation in [UnaryOperation::Sin, UnaryOperation::Abs] {
            let found = computed(operation, DataType::QSymmS16, &values, (from, to));
            for (x, found) in values.iter().zip(found) {
                let expected = value(operation, f32::from(*x) * from) / to;
                assert!(
                    (f32::from(found) - expected).abs() < 2.0,
                    "{operation} {x} {found}"
                );
            }
        }
    }
}
