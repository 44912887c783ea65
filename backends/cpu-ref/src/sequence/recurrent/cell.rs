//! One step of one sequence: its products, and the functions that are applied to them.

use armnn_backend_api::ActivationFunction;

use crate::{elementwise::activation::activate, numbers::real::Real};

/// One step of one sequence in one direction.
pub(super) struct Cell<'a, F> {
    pub(super) direction: usize,
    pub(super) hidden: usize,
    pub(super) x: &'a [F],
    pub(super) weights: &'a [F],
    pub(super) recurrent: &'a [F],
    pub(super) bias: &'a [F],
    pub(super) recurrent_bias: &'a [F],
    pub(super) peephole: &'a [F],
    /// All gates, which are 0 at first.
    pub(super) gates: &'a mut [F],
    pub(super) h: &'a mut [F],
    pub(super) c: &'a mut [F],
    /// As long as the hidden state.
    pub(super) scratch: &'a mut [F],
}

impl<F: Real> Cell<'_, F> {
    /// Adds the products of the input with the weights of some gates, and their bias.
    pub(super) fn add_input(&mut self, first: usize, end: usize) {
        let (first, end) = (first * self.hidden, end * self.hidden);
        let gates = &mut self.gates[first..end];
        multiply_add(gates, self.x, &self.weights[first * self.x.len()..]);
        let bias = self.bias.get(first..).unwrap_or_default();
        gates
            .iter_mut()
            .zip(bias)
            .for_each(|(gate, &bias)| *gate += bias);
    }

    /// Adds the products of the hidden state with the weights of some gates, and their bias.
    pub(super) fn add_recurrent(&mut self, first: usize, end: usize) {
        let (first, end) = (first * self.hidden, end * self.hidden);
        let gates = &mut self.gates[first..end];
        multiply_add(gates, self.h, &self.recurrent[first * self.hidden..]);
        let bias = self.recurrent_bias.get(first..).unwrap_or_default();
        gates
            .iter_mut()
            .zip(bias)
            .for_each(|(gate, &bias)| *gate += bias);
    }
}

/// An activation function with its parameters.
#[derive(Clone, Copy)]
pub(super) struct Function(ActivationFunction, f32, f32);

pub(super) fn functions(
    list: impl Iterator<Item = (ActivationFunction, f32, f32)>,
) -> [Function; 3] {
    let mut functions = [Function(ActivationFunction::TanH, 1.0, 1.0); 3];
    for (to, (function, a, b)) in functions.iter_mut().zip(list) {
        *to = Function(function, a, b);
    }
    functions
}

/// Elements that a function is applied to at once.
const AT_ONCE: usize = 64;

impl Function {
    /// In place, with arguments limited to -clip … clip, unless that is 0.
    pub(super) fn apply<F: Real>(self, clip: f32, values: &mut [F]) {
        for values in values.chunks_mut(AT_ONCE) {
            let mut arguments = [F::ZERO; AT_ONCE];
            let arguments = &mut arguments[..values.len()];
            arguments.copy_from_slice(values);
            if clip > 0.0 {
                let clip = F::from_f64(clip.into());
                for x in arguments.iter_mut() {
                    // NaN stays NaN.
                    if *x < -clip {
                        *x = -clip;
                    } else if *x > clip {
                        *x = clip;
                    }
                }
            }
            activate(self.0, self.1, self.2, arguments, values);
        }
    }
}

/// Adds the products of a vector with the rows of a matrix.
pub(crate) fn multiply_add<F: Real>(out: &mut [F], x: &[F], rows: &[F]) {
    if x.is_empty() {
        return;
    }
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(x.len())) {
        *out += dot(x, row);
    }
}

/// With several sums at once, which do not wait for each other.
fn dot<F: Real>(x: &[F], y: &[F]) -> F {
    let mut sums = [F::ZERO; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let rest = rest.fold(F::ZERO, |sum, (&x, &y)| sum + x * y);
    for (x, y) in xs.zip(ys) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().fold(F::ZERO, |sum, &x| sum + x) + rest
}
