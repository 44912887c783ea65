//! Dft, in Float64: by Cooley and Tukey for each prime factor of the length.

use std::f64::consts::PI;

use armnn_backend_api::{DftDescriptor, LayerView, Result, Workload};

use crate::{
    element_type::Number,
    float_tensors::{Real, by_real, taken},
    layer_checks::{FLOATS, dims, input, invalid, output, require_one_type},
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &DftDescriptor) -> Result<()> {
    require_one_type(layer, &[FLOATS])
}

pub(crate) fn workload(layer: LayerView<'_>, d: &DftDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    let mismatch = || {
        invalid(format_args!(
            "the transform along dimension {axis} of {from:?} does not lead to {to:?}"
        ))
    };
    let last = from.len().checked_sub(1).ok_or_else(mismatch)?;
    let fits = to.len() == from.len()
        && axis < last
        && (0..last).all(|i| i == axis || from[i] == to[i])
        && (1..=2).contains(&from[last])
        && (1..=2).contains(&to[last]);
    if !fits {
        return Err(mismatch());
    }
    let (inverse, onesided) = (d.inverse == 1, d.onesided == 1);
    let length = match (d.length, inverse && onesided) {
        (0, true) => to[axis],
        (0, false) => from[axis],
        (length, _) => usize::try_from(length).map_err(|_| mismatch())?,
    };
    let expected = match (onesided, inverse) {
        (true, false) => length / 2 + 1,
        _ => length,
    };
    if to[axis] != expected || (length == 0 && !to.contains(&0)) {
        return Err(mismatch());
    }
    let transform = Transform {
        from: from[axis],
        to: to[axis],
        inner: from[axis + 1..last].iter().product(),
        in_parts: from[last],
        out_parts: to[last],
        length,
        inverse,
        onesided,
    };
    // The signal, its spectrum, the powers of the root of unity, and terms of sums; each real and
    // imaginary.
    let scratch_len = length
        .checked_mul(8 * size_of::<f64>())
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    by_real!(input(layer, 0)?.data_type(), R => workload_function(layer, scratch_len, move |call| {
        let x = call.input::<<R as Number>::Stored>(0)?;
        let scratch = call.scratch::<f64>()?;
        transform.run::<R>(x, scratch, call.output(0)?);
        Ok(())
    }))
}

struct Transform {
    from: usize,
    to: usize,
    /// Between the axis and the parts.
    inner: usize,
    in_parts: usize,
    out_parts: usize,
    length: usize,
    inverse: bool,
    onesided: bool,
}

impl Transform {
    fn run<R: Real>(&self, x: &[R::Stored], scratch: &mut [f64], out: &mut [R::Stored]) {
        let n = self.length;
        let (mut rest, _) = scratch.as_chunks_mut::<2>();
        let signal = taken(&mut rest, n);
        let spectrum = taken(&mut rest, n);
        let roots = taken(&mut rest, n);
        let terms = taken(&mut rest, n);
        let sign = if self.inverse { 2.0 } else { -2.0 };
        for (k, root) in roots.iter_mut().enumerate() {
            let angle = sign * PI * k as f64 / n as f64;
            *root = [angle.cos(), angle.sin()];
        }
        let lines = out.len() / (self.to * self.out_parts).max(1);
        for line in 0..lines {
            let (outer, inner) = (line / self.inner, line % self.inner);
            let element = |i: usize| {
                let at = ((outer * self.from + i) * self.inner + inner) * self.in_parts;
                let part = |at: usize| R::load(x[at]).to_f64();
                [
                    part(at),
                    if self.in_parts == 2 {
                        part(at + 1)
                    } else {
                        0.0
                    },
                ]
            };
            for (i, signal) in signal.iter_mut().enumerate() {
                // The other half of a real signal's spectrum is the first, conjugated.
                let is_other_half = self.onesided && self.inverse && i > n / 2;
                *signal = match is_other_half {
                    true if n - i < self.from => {
                        let [real, imaginary] = element(n - i);
                        [real, -imaginary]
                    }
                    false if i < self.from => element(i),
                    _ => [0.0; 2],
                };
            }
            transform(signal, 1, roots, terms, spectrum);
            let factor = if self.inverse { 1.0 / n as f64 } else { 1.0 };
            for (i, [real, imaginary]) in spectrum.iter().take(self.to).enumerate() {
                let at = ((outer * self.to + i) * self.inner + inner) * self.out_parts;
                out[at] = R::from_f64(real * factor).store();
                if self.out_parts == 2 {
                    out[at + 1] = R::from_f64(imaginary * factor).store();
                }
            }
        }
    }
}

fn product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

/// The spectrum of every `stride`th number of a signal, as many as `out` has. The roots are the powers
/// of that of the whole signal.
///
/// With p the smallest prime factor of their number n: the spectra of the p signals of every p-th of
/// them are found first, and put together. As each factor is at least 2, the depth is at most the
/// number of bits of n.
fn transform(
    signal: &[[f64; 2]],
    stride: usize,
    roots: &[[f64; 2]],
    terms: &mut [[f64; 2]],
    out: &mut [[f64; 2]],
) {
    let n = out.len();
    if n <= 1 {
        out.copy_from_slice(&signal[..n]);
        return;
    }
    let factor = smallest_prime_factor(n);
    let part = n / factor;
    for (i, out) in out.chunks_exact_mut(part).enumerate() {
        transform(&signal[i * stride..], stride * factor, roots, terms, out);
    }
    let terms = &mut terms[..factor];
    for k in 0..part {
        for (i, term) in terms.iter_mut().enumerate() {
            *term = product(out[i * part + k], roots[i * k * stride]);
        }
        for q in 0..factor {
            let mut sum = [0.0; 2];
            // The root of i q / factor.
            let (step, mut at) = (q * part * stride, 0);
            for &term in &*terms {
                let [real, imaginary] = product(term, roots[at]);
                sum[0] += real;
                sum[1] += imaginary;
                at += step;
                if at >= roots.len() {
                    at -= roots.len();
                }
            }
            out[q * part + k] = sum;
        }
    }
}

/// Of a number above 1.
fn smallest_prime_factor(n: usize) -> usize {
    let mut factor = 2;
    while factor * factor <= n {
        if n.is_multiple_of(factor) {
            return factor;
        }
        factor += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, sample_values};

    /// The definition: real and imaginary parts of each value.
    fn defined(x: &[[f64; 2]], inverse: bool) -> Vec<f32> {
        let n = x.len() as f64;
        let sign = if inverse { 1.0 } else { -1.0 };
        let factor = if inverse { 1.0 / n } else { 1.0 };
        (0..x.len())
            .flat_map(|k| {
                let terms = x.iter().enumerate().map(|(i, [real, imaginary])| {
                    let (sin, cos) = (sign * 2.0 * PI * (i * k) as f64 / n).sin_cos();
                    [real * cos - imaginary * sin, real * sin + imaginary * cos]
                });
                terms.fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
            })
            .map(|part| (part * factor) as f32)
            .collect()
    }

    fn transformed(d: DftDescriptor, from: [i64; 3], to: [i64; 3]) -> Vec<f32> {
        let len = from.iter().product::<i64>() as usize;
        let call = Call::new(d)
            .input(f32s(from, &sample_values(len)))
            .output(DataType::Float32, to);
        call.run().f32s()
    }

    fn complex(len: usize, parts: usize) -> Vec<[f64; 2]> {
        let values = sample_values(len * parts);
        values
            .chunks(parts)
            .map(|part| [part[0].into(), part.get(1).copied().unwrap_or(0.0).into()])
            .collect()
    }

    #[test]
    fn spectra_of_all_lengths_are_as_defined() {
        for n in [1, 2, 5, 6, 8, 9, 12, 35, 64] {
            for inverse in [false, true] {
                let d = DftDescriptor {
                    inverse: inverse.into(),
                    ..DftDescriptor::new(1)
                };
                let size = n as i64;
                let found = transformed(d, [1, size, 2], [1, size, 2]);
                assert_close(&found, &defined(&complex(n, 2), inverse), 1e-5);
            }
        }
    }

    #[test]
    fn signals_are_cut_or_filled_up_and_half_a_spectrum_is_enough() {
        let mut d = DftDescriptor::new(1);
        d.length = 6;
        let mut signal = complex(4, 1);
        signal.resize(6, [0.0; 2]);
        let whole = defined(&signal, false);
        assert_close(&transformed(d, [1, 4, 1], [1, 6, 2]), &whole, 1e-5);
        d.onesided = 1;
        let half = transformed(d, [1, 4, 1], [1, 4, 2]);
        assert_close(&half, &whole[..8], 1e-5);
        // And back to the real signal.
        d.inverse = 1;
        let call = Call::new(d)
            .input(f32s([1, 4, 2], &half))
            .output(DataType::Float32, [1, 6, 1]);
        let signal: Vec<f32> = signal.iter().map(|x| x[0] as f32).collect();
        assert_close(&call.run().f32s(), &signal, 1e-5);
        let cut = DftDescriptor {
            length: 3,
            ..DftDescriptor::new(1)
        };
        let expected = defined(&complex(4, 1)[..3], false);
        assert_close(&transformed(cut, [1, 4, 1], [1, 3, 2]), &expected, 1e-5);
    }

    #[test]
    fn any_dimension_is_transformed() {
        let found = transformed(DftDescriptor::new(0), [4, 3, 1], [4, 3, 2]);
        for column in 0..3 {
            let values = sample_values(12);
            let line: Vec<_> = (0..4)
                .map(|i| [values[i * 3 + column].into(), 0.0])
                .collect();
            let found: Vec<f32> = (0..8)
                .map(|i| found[(i / 2 * 3 + column) * 2 + i % 2])
                .collect();
            assert_close(&found, &defined(&line, false), 1e-5);
        }
    }

    #[test]
    fn float16_is_rounded_once() {
        // 1 + 2 + 4 and 1 + 2 w + 4 w^2, with w = (-1 - i sqrt(3)) / 2: -2 + sqrt(3) i.
        let call = Call::new(DftDescriptor::new(1))
            .input(crate::test_harness::f16s([1, 3, 1], &[1.0, 2.0, 4.0]))
            .output(DataType::Float16, [1, 3, 2]);
        let root = half::f16::from_f32(3f32.sqrt()).to_f32();
        assert_eq!(call.run().f16s(), [7.0, 0.0, -2.0, root, -2.0, -root]);
    }
}
