//! Dft, in Float64: by Cooley and Tukey for each prime factor of the length, and for large ones by
//! Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970,
//! so that no length takes time in proportion to its square.

use std::f64::consts::PI;

use armnn_backend_api::{DftDescriptor, LayerView, Result, Workload};

use crate::{
    numbers::{
        element_type::Number,
        float_tensors::{Real, by_real, taken},
    },
    workloads::{
        layer_checks::{REALS, dims, input, invalid, output, require_one_type},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &DftDescriptor) -> Result<()> {
    require_one_type(layer, &[REALS])
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
    // An output without elements may be as long as it likes, and needs none of it.
    let length = if to.contains(&0) { 0 } else { length };
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
    // The signal, its spectrum, the powers of the root of unity, terms of sums, and what a convolution
    // needs; each real and imaginary.
    let scratch_len = length
        .checked_mul(4)
        .and_then(|n| n.checked_add(Convolution::scratch_len(length)?))
        .and_then(|n| n.checked_mul(2 * size_of::<f64>()))
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
        let convolution = rest;
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
            transform(signal, 1, roots, [terms, convolution], sign, spectrum);
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
/// of that of the whole signal; `sign` is 2 for an inverse transform, and -2 for one that is not. The
/// scratch memory is for terms of sums, and for a convolution.
///
/// With p the smallest prime factor of their number n: the spectra of the p signals of every p-th of
/// them are found first, and put together. As each factor is at least 2, the depth is at most the
/// number of bits of n.
fn transform(
    signal: &[[f64; 2]],
    stride: usize,
    roots: &[[f64; 2]],
    [terms, convolution]: [&mut [[f64; 2]]; 2],
    sign: f64,
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
        let scratch = [&mut *terms, &mut *convolution];
        transform(
            &signal[i * stride..],
            stride * factor,
            roots,
            scratch,
            sign,
            out,
        );
    }
    let terms = &mut terms[..factor];
    if factor >= LEAST_CONVOLUTION {
        let mut convolution = Convolution::new(factor, sign, convolution);
        for k in 0..part {
            for (i, term) in terms.iter_mut().enumerate() {
                *term = product(out[i * part + k], roots[i * k * stride]);
            }
            convolution.transform(terms);
            for (q, &value) in terms.iter().enumerate() {
                out[q * part + k] = value;
            }
        }
        return;
    }
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

/// The least prime factor for which a convolution is used.
const LEAST_CONVOLUTION: usize = 64;

/// The transform of `n` numbers as a convolution with a chirp: as i q = (i^2 + q^2 - (q - i)^2) / 2,
/// and c(j) is the root of unity to the power of j^2 / 2,
/// X(q) = c(q) sum over i of (x(i) c(i)) conj(c(q - i)).
struct Convolution<'a> {
    /// c(j).
    chirp: &'a mut [[f64; 2]],
    /// The spectrum of the conjugated chirp, of a power of 2 of numbers.
    spectrum: &'a mut [[f64; 2]],
    /// The powers of the root of unity of that length.
    roots: &'a mut [[f64; 2]],
    from: &'a mut [[f64; 2]],
    to: &'a mut [[f64; 2]],
}

impl<'a> Convolution<'a> {
    /// How many numbers of scratch memory a transform of this length needs for it; `None` if they
    /// cannot be counted.
    fn scratch_len(mut length: usize) -> Option<usize> {
        let mut largest = 1;
        while length > 1 {
            largest = smallest_prime_factor(length);
            length /= largest;
        }
        match largest >= LEAST_CONVOLUTION {
            true => Self::padded(largest)?.checked_mul(4)?.checked_add(largest),
            false => Some(0),
        }
    }

    /// The length of the convolution.
    fn padded(n: usize) -> Option<usize> {
        n.checked_mul(2)?.checked_next_power_of_two()
    }

    fn new(n: usize, sign: f64, mut scratch: &'a mut [[f64; 2]]) -> Self {
        // The scratch memory was made for the largest.
        let len = Self::padded(n).unwrap_or(0);
        let chirp = taken(&mut scratch, n);
        let spectrum = taken(&mut scratch, len);
        let roots = taken(&mut scratch, len);
        let from = taken(&mut scratch, len);
        let to = taken(&mut scratch, len);
        for (j, chirp) in chirp.iter_mut().enumerate() {
            // Exact, and less than a whole turn.
            let square = (j as u128 * j as u128 % (2 * n as u128)) as f64;
            let angle = sign / 2.0 * PI * square / n as f64;
            *chirp = [angle.cos(), angle.sin()];
        }
        for (k, root) in roots.iter_mut().enumerate() {
            let angle = -2.0 * PI * k as f64 / len as f64;
            *root = [angle.cos(), angle.sin()];
        }
        from.fill([0.0; 2]);
        for (j, &[real, imaginary]) in chirp.iter().enumerate() {
            from[j] = [real, -imaginary];
            from[(len - j) % len] = [real, -imaginary];
        }
        transform(
            from,
            1,
            roots,
            [&mut [[0.0; 2]; 2], &mut []],
            -2.0,
            spectrum,
        );
        Self {
            chirp,
            spectrum,
            roots,
            from,
            to,
        }
    }

    /// Transforms as many numbers as the chirp has.
    fn transform(&mut self, values: &mut [[f64; 2]]) {
        self.from.fill([0.0; 2]);
        for ((from, &value), &chirp) in self.from.iter_mut().zip(&*values).zip(&*self.chirp) {
            *from = product(value, chirp);
        }
        let mut terms = [[0.0; 2]; 2];
        transform(
            self.from,
            1,
            self.roots,
            [&mut terms, &mut []],
            -2.0,
            self.to,
        );
        // Back by way of conjugated numbers.
        let pairs = self.to.iter().zip(&*self.spectrum);
        for (from, (&value, &spectrum)) in self.from.iter_mut().zip(pairs) {
            let [real, imaginary] = product(value, spectrum);
            *from = [real, -imaginary];
        }
        transform(
            self.from,
            1,
            self.roots,
            [&mut terms, &mut []],
            -2.0,
            self.to,
        );
        let factor = 1.0 / self.to.len() as f64;
        for ((value, &[real, imaginary]), &chirp) in
            values.iter_mut().zip(&*self.to).zip(&*self.chirp)
        {
            *value = product([real * factor, -imaginary * factor], chirp);
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
        // 67 and 71 are primes large enough for a convolution.
        for n in [1, 2, 5, 6, 8, 9, 12, 35, 64, 67, 134, 213] {
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
    fn an_output_without_elements_may_be_of_any_length() {
        // 2^55 - 55 is a prime.
        let mut d = DftDescriptor::new(1);
        d.length = (1 << 55) - 55;
        assert!(transformed(d, [0, 3, 1], [0, d.length, 1]).is_empty());
    }

    #[test]
    fn a_large_prime_length_takes_no_time_in_proportion_to_its_square() {
        // The spectrum of 1, 0, 0, … is 1 everywhere. The length is a prime.
        let n = 1_000_003;
        let mut signal = vec![0.0; n];
        signal[0] = 1.0;
        let call = Call::new(DftDescriptor::new(1))
            .input(f32s([1, n as i64, 1], &signal))
            .output(DataType::Float32, [1, n as i64, 2]);
        let found = call.run().f32s();
        let is_one = |part: &[f32]| (part[0] - 1.0).abs() < 1e-5 && part[1].abs() < 1e-5;
        assert!(found.chunks(2).all(is_one));
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
