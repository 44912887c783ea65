//! Activation.

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, input, invalid, num_elements, output, require_named, require_one_type},
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ActivationDescriptor) -> Result<()> {
    let function = descriptor.function();
    require_named(layer, function, function.name())?;
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ActivationDescriptor,
) -> Result<Box<dyn Workload>> {
    if num_elements(layer, input(layer, 0)?)? != num_elements(layer, output(layer, 0)?)? {
        return Err(invalid(layer, "input and output differ in size"));
    }
    float_workload(layer, Activation(*descriptor))
}

struct Activation(ActivationDescriptor);

impl FloatKernel for Activation {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        output: &mut [f32],
    ) -> Result<()> {
        activate(self.0.function(), self.0.a, self.0.b, input, output);
        Ok(())
    }
}

fn activate(function: ActivationFunction, a: f32, b: f32, input: &[f32], output: &mut [f32]) {
    match function {
        ActivationFunction::Sigmoid => map(input, output, |x| 1.0 / (1.0 + (-x).exp())),
        ActivationFunction::TanH => map(input, output, |x| a * (b * x).tanh()),
        ActivationFunction::Linear => map(input, output, |x| a * x + b),
        // Comparisons are written so that NaN stays NaN.
        ActivationFunction::ReLu => map(input, output, |x| if x < 0.0 { 0.0 } else { x }),
        ActivationFunction::BoundedReLu => map(input, output, |x| {
            let x = if x < b { b } else { x };
            if x > a { a } else { x }
        }),
        ActivationFunction::SoftReLu => map(input, output, |x| {
            // log(1 + e^x) = max(0, x) + log(1 + e^-|x|), which does not overflow.
            let above = if x < 0.0 { 0.0 } else { x };
            above + (-x.abs()).exp().ln_1p()
        }),
        ActivationFunction::LeakyReLu => {
            map(input, output, |x| if x > 0.0 { x } else { a * x });
        }
        ActivationFunction::Elu => {
            map(input, output, |x| if x > 0.0 { x } else { a * x.exp_m1() });
        }
        ActivationFunction::HardSwish => map(input, output, |x| {
            let above = if x + 3.0 < 0.0 { 0.0 } else { x + 3.0 };
            x * if above > 6.0 { 6.0 } else { above } / 6.0
        }),
        ActivationFunction::Gelu => map(input, output, |x| {
            let x = f64::from(x);
            (x / 2.0 * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2))) as f32
        }),
        // `check` lets no other function through.
        _ => output.copy_from_slice(input),
    }
}

fn map(input: &[f32], output: &mut [f32], f: impl Fn(f32) -> f32) {
    output.iter_mut().zip(input).for_each(|(o, &x)| *o = f(x));
}

/// The error function, by the series 7.6.2 of the Digital Library of Mathematical Functions, all of
/// whose terms have one sign: 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 5 … (2n+1)).
fn erf(x: f64) -> f64 {
    // erfc(6) is below half a unit in the last place of 1. NaN goes through the series.
    if x.abs() > 6.0 {
        return x.signum();
    }
    let squared = x * x;
    let (mut term, mut sum) = (x, x);
    let mut odd = 1.0;
    // The terms fall when 2 n > x^2, and 120 of them are more than enough at 6.
    for _ in 0..200 {
        odd += 2.0;
        term *= 2.0 * squared / odd;
        sum += term;
        if term.abs() <= f64::EPSILON * sum.abs() / 4.0 {
            break;
        }
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-squared).exp() * sum
}
