//! Activation of quantized numbers, by the rules of TensorFlow Lite's reference kernels
//! (`kernels/activations.cc` and `kernels/internal/reference`):
//!
//! * bounds: rescaled in fixed point, and kept between the bounds as numbers of the output;
//! * LeakyReLu: rescaled with one of two factors;
//! * Sigmoid and TanH of 16 bits into a scale of 2^-15: a table of the sigmoid, interpolated;
//! * HardSwish of 8 bits: fixed point of 16 bits;
//! * Gelu of 16 bits: a table, interpolated;
//! * all else: a table of 8 bits, or Float32.

use std::marker::PhantomData;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, DataType, ExecutionContext, LayerView, Result,
    Synchronous, Workload,
};

use super::activate;
use crate::{
    numbers::{
        lookup_table::{Table8, Table16},
        quantized_arithmetic::{Affine, Multiplier, QuantizedElement, by_quantized_type},
    },
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
        layer_checks::{input, output},
    },
};

mod hard_swish;
mod sigmoid16;

use hard_swish::HardSwish;
use sigmoid16::Sigmoid16;

/// Refuses tensors without exactly one scale.
pub(super) fn check(layer: LayerView<'_>) -> Result<()> {
    Affine::of(input(layer, 0)?, "input")?;
    Affine::of(output(layer, 0)?, "output").map(|_| ())
}

pub(super) fn workload(
    layer: LayerView<'_>,
    d: &ActivationDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    let data_type = output(layer, 0)?.data_type();
    if data_type == DataType::QSymmS16
        && let Some(kernel) = Sigmoid16::new(d, from.scale, to.scale)
    {
        return element_workload(layer, kernel);
    }
    by_quantized_type!(data_type, Q => {
        element_workload(layer, QuantizedActivation::<Q>::new(d, from, to))
    })
}

/// How a number, without its zero point where it is rescaled, becomes one of the output.
enum Rule<Q> {
    Bounds {
        factor: Multiplier,
        range: (i32, i32),
    },
    Leaky {
        above: Multiplier,
        below: Multiplier,
    },
    HardSwish(HardSwish),
    Table(Table8<Q>),
    Table16(Table16),
    Real(ActivationDescriptor),
}

struct QuantizedActivation<Q> {
    rule: Rule<Q>,
    from: Affine,
    to: Affine,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> QuantizedActivation<Q> {
    fn new(d: &ActivationDescriptor, from: Affine, to: Affine) -> Self {
        let has_8_bits = size_of::<Q>() == 1;
        // Scales are divided in Float32, as there.
        let factor = |by: f32| Multiplier::new((from.scale * by / to.scale).into());
        let rule = match d.function() {
            ActivationFunction::ReLu => Rule::Bounds {
                factor: factor(1.0),
                range: to.range::<Q>(0.0, f32::INFINITY),
            },
            ActivationFunction::BoundedReLu => Rule::Bounds {
                factor: factor(1.0),
                range: to.range::<Q>(d.b, d.a),
            },
            ActivationFunction::LeakyReLu => Rule::Leaky {
                above: factor(1.0),
                below: factor(d.a),
            },
            ActivationFunction::HardSwish if has_8_bits => {
                match HardSwish::new(from.scale, to.scale) {
                    Some(rule) => Rule::HardSwish(rule),
                    None => Self::table(d, from, to),
                }
            }
            _ if has_8_bits => Self::table(d, from, to),
            ActivationFunction::Gelu | ActivationFunction::GeluTanh => {
                Rule::Table16(Table16::new((from.scale, from.zero_point), to.scale, |x| {
                    value(d, x)
                }))
            }
            _ => Rule::Real(*d),
        };
        Self {
            rule,
            from,
            to,
            element: PhantomData,
        }
    }

    fn table(d: &ActivationDescriptor, from: Affine, to: Affine) -> Rule<Q> {
        Rule::Table(Table8::new(from, to, |x| value(d, x)))
    }

    /// `f` is of the number without its zero point, and without that of the output.
    fn map(&self, input: &[Q], output: &mut [Q], f: impl Fn(i32) -> i32) {
        for (out, x) in output.iter_mut().zip(input) {
            let number = f(x.to_i32().wrapping_sub(self.from.zero_point));
            *out = Q::saturating(number.saturating_add(self.to.zero_point));
        }
    }
}

/// The function of one number.
fn value(d: &ActivationDescriptor, x: f32) -> f32 {
    let mut out = [0.0];
    activate(d.function(), d.a, d.b, &[x], &mut out);
    out[0]
}

impl<Q: QuantizedElement> Kernel for QuantizedActivation<Q> {
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
            // A factor of 1 changes nothing.
            Rule::Bounds { range, .. } if self.from == self.to => {
                let [least, most] = [range.0, range.1].map(Q::saturating);
                for (out, &x) in output.iter_mut().zip(input) {
                    *out = x.max(least).min(most);
                }
            }
            Rule::Bounds { factor, range } => {
                for (out, x) in output.iter_mut().zip(input) {
                    let number = factor.apply(x.to_i32().wrapping_sub(self.from.zero_point));
                    let number = number.saturating_add(self.to.zero_point);
                    *out = Q::saturating(number.max(range.0).min(range.1));
                }
            }
            Rule::Leaky { above, below } => self.map(input, output, |x| {
                if x >= 0 {
                    above.apply(x)
                } else {
                    below.apply(x)
                }
            }),
            Rule::HardSwish(rule) => self.map(input, output, |x| rule.apply(x as i16).into()),
            Rule::Table(table) => {
                output
                    .iter_mut()
                    .zip(input)
                    .for_each(|(out, &x)| *out = table.get(x));
            }
            Rule::Table16(table) => {
                for (out, x) in output.iter_mut().zip(input) {
                    *out = Q::saturating(table.get(x.to_i32() as i16).into());
                }
            }
            Rule::Real(d) => {
                for (out, x) in output.iter_mut().zip(input) {
                    *out = self.to.quantize(value(d, self.from.dequantize(x.to_i32())));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, assert_refused, typed};

    fn activated(
        (function, a, b): (ActivationFunction, f32, f32),
        values: &[i8],
        from: (f32, i32),
        to: (f32, i32),
    ) -> Vec<i8> {
        let shape = [values.len() as i64];
        let output = TensorInfo::new(DataType::QAsymmS8, shape)
            .quantized(Quantization::per_tensor(to.0, to.1));
        let call = Call::new(ActivationDescriptor::new(function, a, b))
            .input(
                typed(DataType::QAsymmS8, shape, values)
                    .quantized(Quantization::per_tensor(from.0, from.1)),
            )
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn bounds_are_numbers_of_the_output() {
        let values = [-128, -10, 0, 10, 127];
        // The same scale: numbers are kept, or become the bound. 6 / 0.5 - 10 = 2.
        let relu6 = (ActivationFunction::BoundedReLu, 6.0, 0.0);
        let found = activated(relu6, &values, (0.5, -10), (0.5, -10));
        assert_eq!(found, [-10, -10, 0, 2, 2]);
        let relu = (ActivationFunction::ReLu, 0.0, 0.0);
        assert_eq!(
            activated(relu, &values, (0.5, -10), (0.5, -10)),
            [-10, -10, 0, 10, 127]
        );
        // Twice the scale: 137 / 2 = 68.5 rounds up.
        assert_eq!(
            activated(relu, &values, (0.5, -10), (1.0, 0)),
            [0, 0, 5, 10, 69]
        );
    }

    #[test]
    fn a_negative_number_leaks() {
        // -4 * 0.25 / 0.5 = -2, and 4 * 1 / 0.5 = 8.
        let leaky = (ActivationFunction::LeakyReLu, 0.25, 0.0);
        assert_eq!(activated(leaky, &[-4, 4], (1.0, 0), (0.5, 1)), [-1, 9]);
    }

    #[test]
    fn other_functions_are_those_of_the_real_numbers() {
        // sigmoid(0) = 128 / 256 and sigmoid(1) = 0.7311 = 187.2 / 256.
        let sigmoid = (ActivationFunction::Sigmoid, 0.0, 0.0);
        let found = activated(sigmoid, &[0, 10, -128], (0.1, 0), (1.0 / 256.0, -128));
        assert_eq!(found, [0, 59, -128]);
        let linear = (ActivationFunction::Linear, 2.0, 1.0);
        assert_eq!(
            activated(linear, &[3, -4, 100], (1.0, 0), (1.0, 0)),
            [7, -7, 127]
        );
        // -1 * 2 / 6 and 3 * 6 / 6.
        let hard_swish = (ActivationFunction::HardSwish, 0.0, 0.0);
        let found = activated(
            hard_swish,
            &[-16, 48, -48],
            (1.0 / 16.0, 0),
            (1.0 / 16.0, 0),
        );
        assert_eq!(found, [-5, 48, 0]);
    }

    /// Outputs of LiteRT 2.3's reference kernels.
    #[test]
    fn results_are_those_of_another_engine() {
        let values = [-32768i16, -20000, -1000, 0, 3, 2500, 32767];
        let call = |function, from, to| {
            let output =
                TensorInfo::new(DataType::QSymmS16, [7]).quantized(Quantization::per_tensor(to, 0));
            let call = Call::new(ActivationDescriptor::new(function, 1.0, 1.0))
                .input(
                    typed(DataType::QSymmS16, [7], &values)
                        .quantized(Quantization::per_tensor(from, 0)),
                )
                .output_info(output);
            call.run().elements::<i16>(0)
        };
        use ActivationFunction as F;
        let fine = 1.0 / 32768.0;
        for (function, from, to, expected) in [
            (
                F::Sigmoid,
                1.0 / 4096.0,
                fine,
                [11, 247, 14394, 16384, 16390, 21234, 32757],
            ),
            (
                F::Sigmoid,
                0.0003,
                fine,
                [2, 81, 13945, 16384, 16391, 22256, 32766],
            ),
            (
                F::Sigmoid,
                1.0 / 2048.0,
                fine,
                [1, 2, 12462, 16384, 16396, 25303, 32767],
            ),
            (
                F::TanH,
                1.0 / 4096.0,
                fine,
                [-32767, -32764, -7845, 0, 24, 17838, 32767],
            ),
            (
                F::TanH,
                0.0003,
                fine,
                [-32767, -32767, -9545, 0, 29, 20813, 32767],
            ),
            (
                F::TanH,
                1.0 / 2048.0,
                fine,
                [-32767, -32767, -14838, 0, 48, 27520, 32767],
            ),
            (
                F::Gelu,
                0.0001,
                0.0001,
                [-18, -455, -461, 0, 2, 1496, 32749],
            ),
            (
                F::GeluTanh,
                0.0001,
                0.0001,
                [-15, -454, -461, 0, 2, 1496, 32752],
            ),
        ] {
            assert_eq!(call(function, from, to), expected, "{function} {from}");
        }
        let hard_swish = (F::HardSwish, 0.0, 0.0);
        let values = [-128, -60, -20, -1, 0, 7, 30, 127];
        let found = activated(hard_swish, &values, (0.05, 3), (0.03, -100));
        assert_eq!(found, [-100, -100, -112, -103, -102, -96, -67, 107]);
    }

    #[test]
    fn functions_without_a_rule_are_near_to_the_real_numbers() {
        // Elu of -1, -0.5 and 2, in steps of 2^-12: e^-1 - 1 = -0.632 and e^-0.5 - 1 = -0.393.
        let scaled = || Quantization::per_tensor(1.0 / 4096.0, 0);
        let call = Call::new(ActivationDescriptor::new(ActivationFunction::Elu, 1.0, 0.0))
            .input(typed(DataType::QSymmS16, [3], &[-4096i16, -2048, 8192]).quantized(scaled()))
            .output_info(TensorInfo::new(DataType::QSymmS16, [3]).quantized(scaled()));
        assert_eq!(call.run().elements::<i16>(0), [-2589, -1612, 8192]);
    }

    #[test]
    fn several_scales_are_refused() {
        let several = Quantization::per_axis(0, vec![1.0, 2.0], vec![0, 0]);
        let call = Call::new(ActivationDescriptor::new(
            ActivationFunction::ReLu,
            0.0,
            0.0,
        ))
        .input(typed(DataType::QSymmS8, [2], &[0i8, 0]).quantized(several.clone()))
        .output_info(TensorInfo::new(DataType::QSymmS8, [2]).quantized(several));
        assert_refused(&call, &["input has several scales"]);
    }
}
