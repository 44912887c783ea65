//! Activation.

mod quantized;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            REALS, input, invalid, num_elements, output, require_named, require_one_type,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ActivationDescriptor) -> Result<()> {
    let function = descriptor.function();
    require_named(function, function.name())?;
    require_one_type(layer, &[REALS, QUANTIZED])?;
    match output(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ActivationDescriptor,
) -> Result<Box<dyn Workload>> {
    if num_elements(layer, input(layer, 0)?)? != num_elements(layer, output(layer, 0)?)? {
        return Err(invalid("input and output differ in size"));
    }
    if output(layer, 0)?.data_type().is_quantized() {
        return quantized::workload(layer, descriptor);
    }
    real_workload(layer, Activation(*descriptor))
}

struct Activation(ActivationDescriptor);

impl<F: Real> FloatKernel<F> for Activation {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        activate(self.0.function(), self.0.a, self.0.b, input, output);
        Ok(())
    }
}

pub(crate) fn activate<F: Real>(
    function: ActivationFunction,
    a: f32,
    b: f32,
    input: &[F],
    output: &mut [F],
) {
    let [a, b] = [a, b].map(|parameter| F::from_f64(parameter.into()));
    let [zero, one, three, six] = [0.0, 1.0, 3.0, 6.0].map(F::from_f64);
    match function {
        ActivationFunction::Sigmoid => map(input, output, |x| one / (one + (-x).exp())),
        ActivationFunction::TanH => map(input, output, |x| a * (b * x).tanh()),
        ActivationFunction::Linear => map(input, output, |x| a * x + b),
        // Comparisons are written so that NaN stays NaN.
        ActivationFunction::ReLu => map(input, output, |x| if x < zero { zero } else { x }),
        ActivationFunction::BoundedReLu => map(input, output, |x| {
            let x = if x < b { b } else { x };
            if x > a { a } else { x }
        }),
        ActivationFunction::SoftReLu => map(input, output, |x| {
            // log(1 + e^x) = max(0, x) + log(1 + e^-|x|), which does not overflow.
            let above = if x < zero { zero } else { x };
            above + (-x.abs()).exp().ln_1p()
        }),
        ActivationFunction::LeakyReLu => {
            map(input, output, |x| if x > zero { x } else { a * x });
        }
        ActivationFunction::Elu => {
            map(input, output, |x| if x > zero { x } else { a * x.exp_m1() });
        }
        ActivationFunction::HardSwish => map(input, output, |x| {
            let above = if x + three < zero { zero } else { x + three };
            x * if above > six { six } else { above } / six
        }),
        ActivationFunction::Gelu => map(input, output, |x| {
            let x = x.to_f64();
            F::from_f64(x / 2.0 * (1.0 + erf(x * FRAC_1_SQRT_2)))
        }),
        ActivationFunction::GeluTanh => map(input, output, |x| {
            let x = x.to_f64();
            let inner = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * (x + 0.044715 * x * x * x);
            F::from_f64(x / 2.0 * (1.0 + inner.tanh()))
        }),
        ActivationFunction::Selu => map(input, output, |x| {
            b * if x > zero { x } else { a * x.exp_m1() }
        }),
        ActivationFunction::Celu => map(input, output, |x| {
            // Of a positive x the second term is 0.
            if x > zero { x } else { a * (x / a).exp_m1() }
        }),
        ActivationFunction::HardSigmoid => map(input, output, |x| {
            let x = a * x + b;
            let x = if x < zero { zero } else { x };
            if x > one { one } else { x }
        }),
        ActivationFunction::Mish => map(input, output, |x| {
            let x = x.to_f64();
            F::from_f64(x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh())
        }),
        ActivationFunction::SoftSign => map(input, output, |x| match x.is_infinite() {
            true => x.signum(),
            false => x / (one + x.abs()),
        }),
        ActivationFunction::ThresholdedReLu => {
            map(input, output, |x| if x <= a { zero } else { x });
        }
        ActivationFunction::Swish => map(input, output, |x| x / (one + (-a * x).exp())),
        ActivationFunction::LogSigmoid => map(input, output, |x| {
            let below = if x > zero { zero } else { x };
            below - (-x.abs()).exp().ln_1p()
        }),
        ActivationFunction::Shrink => map(input, output, |x| {
            if x < -a {
                x + b
            } else if x > a {
                x - b
            } else if x.is_nan() {
                x
            } else {
                zero
            }
        }),
        // `check` lets no other function through.
        _ => output.copy_from_slice(input),
    }
}

fn map<F: Real>(input: &[F], output: &mut [F], f: impl Fn(F) -> F) {
    output.iter_mut().zip(input).for_each(|(o, &x)| *o = f(x));
}

/// The error function.
pub(crate) fn erf(x: f64) -> f64 {
    libm::erf(x)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, assert_refused, f16s, f32s, typed};

    fn activated(function: ActivationFunction, a: f32, b: f32, values: &[f32]) -> Vec<f32> {
        let shape = [values.len() as i64];
        let call = Call::new(ActivationDescriptor::new(function, a, b))
            .input(f32s(shape, values))
            .output(DataType::Float32, shape);
        call.run().f32s()
    }

    #[test]
    fn piecewise_linear_functions_are_exact() {
        let values = [-4.0, -1.0, 0.0, 1.0, 4.0, 8.0];
        for (function, a, b, expected) in [
            (
                ActivationFunction::Linear,
                2.0,
                1.0,
                [-7.0, -1.0, 1.0, 3.0, 9.0, 17.0],
            ),
            (
                ActivationFunction::ReLu,
                0.0,
                0.0,
                [0.0, 0.0, 0.0, 1.0, 4.0, 8.0],
            ),
            (
                ActivationFunction::BoundedReLu,
                6.0,
                -1.0,
                [-1.0, -1.0, 0.0, 1.0, 4.0, 6.0],
            ),
            (
                ActivationFunction::LeakyReLu,
                0.25,
                0.0,
                [-1.0, -0.25, 0.0, 1.0, 4.0, 8.0],
            ),
            // -1 * 2 / 6, 1 * 4 / 6, 4 * 6 / 6, 8 * 6 / 6.
            (
                ActivationFunction::HardSwish,
                0.0,
                0.0,
                [0.0, -2.0 / 6.0, 0.0, 4.0 / 6.0, 4.0, 8.0],
            ),
        ] {
            assert_close(&activated(function, a, b, &values), &expected, 0.0);
        }
    }

    /// erf(0.5), erf(1), erf(2) to ten places, from the table in Abramowitz and Stegun, 7.1.
    const ERF: [(f64, f64); 3] = [
        (0.5, 0.5204998778),
        (1.0, 0.8427007929),
        (2.0, 0.9953222650),
    ];

    #[test]
    fn smooth_functions_are_as_defined() {
        type Function = fn(f64) -> f64;
        let values: Vec<f32> = (-80..=80).map(|i| i as f32 / 8.0).collect();
        let cases: [(ActivationFunction, f32, f32, Function); 4] = [
            (ActivationFunction::Sigmoid, 0.0, 0.0, |x| {
                1.0 / (1.0 + (-x).exp())
            }),
            (ActivationFunction::TanH, 3.0, 0.5, |x| {
                3.0 * (0.5 * x).tanh()
            }),
            (ActivationFunction::SoftReLu, 0.0, 0.0, |x| {
                (1.0 + x.exp()).ln()
            }),
            (ActivationFunction::Elu, 2.0, 0.0, |x| {
                if x > 0.0 { x } else { 2.0 * (x.exp() - 1.0) }
            }),
        ];
        for (function, a, b, defined) in cases {
            let expected: Vec<f32> = values.iter().map(|&x| defined(x.into()) as f32).collect();
            assert_close(&activated(function, a, b, &values), &expected, 1e-6);
        }
    }

    #[test]
    fn the_error_function_agrees_with_its_table() {
        for (x, expected) in ERF {
            assert!((erf(x) - expected).abs() < 1e-10, "{x}: {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert_eq!((erf(0.0), erf(6.5), erf(-1e300)), (0.0, 1.0, -1.0));
        assert!((erf(6.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn gelu_weighs_a_number_with_the_normal_distribution() {
        // At sqrt(2): sqrt(2) / 2 (1 + erf(1)) = 0.70710678 * 1.84270079 = 1.30298621.
        let x = std::f32::consts::SQRT_2;
        let found = activated(ActivationFunction::Gelu, 0.0, 0.0, &[x, -x, 0.0, -20.0]);
        assert_close(&found, &[1.3029862, 1.3029862 - x, 0.0, 0.0], 3e-7);
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let large = [-200.0, 200.0];
        assert_eq!(
            activated(ActivationFunction::Sigmoid, 0.0, 0.0, &large),
            [0.0, 1.0]
        );
        assert_eq!(
            activated(ActivationFunction::SoftReLu, 0.0, 0.0, &large),
            [0.0, 200.0]
        );
    }

    #[test]
    fn nan_stays_nan() {
        for &function in ActivationFunction::ALL {
            assert!(
                activated(function, 1.0, 0.5, &[f32::NAN])[0].is_nan(),
                "{function}"
            );
        }
    }

    #[test]
    fn float16_and_empty_tensors_are_taken() {
        let relu = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
        let call = Call::new(relu)
            .input(f16s([2], &[-1.5, 1.5]))
            .output(DataType::Float16, [2]);
        assert_eq!(call.run().f16s(), [0.0, 1.5]);
        let call = Call::new(relu)
            .input(f32s([3, 0], &[]))
            .output(DataType::Float32, [3, 0]);
        assert!(call.run().f32s().is_empty());
    }

    #[test]
    fn a_function_of_a_later_version_is_refused() {
        let call = Call::new(ActivationDescriptor::new(ActivationFunction(999), 0.0, 0.0))
            .input(f32s([1], &[0.0]))
            .output(DataType::Float32, [1]);
        assert_refused(&call, &["ActivationFunction(999)"]);
    }

    #[test]
    fn functions_of_later_interfaces_are_as_defined() {
        type Function = fn(f64) -> f64;
        let values: Vec<f32> = (-40..=40).map(|i| i as f32 / 8.0).collect();
        let cases: [(ActivationFunction, f32, f32, Function); 10] = [
            (ActivationFunction::GeluTanh, 0.0, 0.0, |x| {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
                x / 2.0 * (1.0 + inner.tanh())
            }),
            (ActivationFunction::Selu, 1.5, 2.0, |x| {
                2.0 * if x > 0.0 { x } else { 1.5 * (x.exp() - 1.0) }
            }),
            (ActivationFunction::Celu, 2.0, 0.0, |x| {
                x.max(0.0) + (2.0 * ((x / 2.0).exp() - 1.0)).min(0.0)
            }),
            (ActivationFunction::HardSigmoid, 0.25, 0.5, |x| {
                (0.25 * x + 0.5).clamp(0.0, 1.0)
            }),
            (ActivationFunction::Mish, 0.0, 0.0, |x| {
                x * (1.0 + x.exp()).ln().tanh()
            }),
            (ActivationFunction::SoftSign, 0.0, 0.0, |x| {
                x / (1.0 + x.max(-x))
            }),
            (ActivationFunction::ThresholdedReLu, 1.0, 0.0, |x| {
                if x > 1.0 { x } else { 0.0 }
            }),
            (ActivationFunction::Swish, 0.5, 0.0, |x| {
                x * (1.0 / (1.0 + (-0.5 * x).exp()))
            }),
            (ActivationFunction::LogSigmoid, 0.0, 0.0, |x| {
                -(1.0 + (-x).exp()).ln()
            }),
            (ActivationFunction::Shrink, 1.5, 0.25, |x| match x {
                x if x < -1.5 => x + 0.25,
                x if x > 1.5 => x - 0.25,
                _ => 0.0,
            }),
        ];
        for (function, a, b, defined) in cases {
            let expected: Vec<f32> = values.iter().map(|&x| defined(x.into()) as f32).collect();
            assert_close(&activated(function, a, b, &values), &expected, 2e-6);
        }
        let ends = [f32::NEG_INFINITY, f32::INFINITY];
        let soft = activated(ActivationFunction::SoftSign, 0.0, 0.0, &ends);
        assert_eq!(soft, [-1.0, 1.0]);
    }

    #[test]
    fn float64_is_computed_in_itself() {
        let run = |function, a, b, x: f64| {
            let call = Call::new(ActivationDescriptor::new(function, a, b))
                .input(typed(DataType::Float64, [1], &[x]))
                .output(DataType::Float64, [1]);
            call.run().elements::<f64>(0)[0]
        };
        // 1 / (1 + e^-(ln 3)) = 3 / 4, and tanh(ln(3) / 2) = 1 / 2; 2^-40 gets lost beside 1 in
        // Float32.
        let found = run(ActivationFunction::Sigmoid, 0.0, 0.0, 3f64.ln());
        assert!((found - 0.75).abs() < 1e-15);
        let found = run(ActivationFunction::TanH, 1.0, 1.0, 3f64.ln() / 2.0);
        assert!((found - 0.5).abs() < 1e-15);
        let little = 2f64.powi(-40);
        let found = run(ActivationFunction::Linear, 1.0, 1.0, little);
        assert_eq!(found, 1.0 + little);
        let found = run(ActivationFunction::HardSwish, 0.0, 0.0, 1.0 + little);
        assert!((found - (1.0 + little) * (4.0 + little) / 6.0).abs() < 1e-15);
    }
}
