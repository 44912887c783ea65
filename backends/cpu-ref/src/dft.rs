//! Dft.

use std::f64::consts::PI;

use armnn_backend_api::{DataType, DftDescriptor, LayerView, Result, Workload};

use crate::{
    layer_checks::{dims, input, invalid, output, require_one_type},
    workload_function::workload_function,
};

const FLOAT32: &[&[DataType]] = &[&[DataType::Float32]];

pub(crate) fn check(layer: LayerView<'_>, _: &DftDescriptor) -> Result<()> {
    require_one_type(layer, FLOAT32)
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
    // The signal, twice, and the powers of the root of unity; each real and imaginary.
    let scratch_len = length
        .checked_mul(6 * size_of::<f64>())
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, scratch_len, move |call| {
        let x = call.input::<f32>(0)?;
        let scratch = call.scratch::<f64>()?;
        transform.run(x, scratch, call.output(0)?);
        Ok(())
    })
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
    fn run(&self, x: &[f32], scratch: &mut [f64], out: &mut [f32]) {
        let n = self.length;
        let (signal, scratch) = scratch.split_at_mut(2 * n);
        let (work, roots) = scratch.split_at_mut(2 * n);
        let (signal, _) = signal.as_chunks_mut::<2>();
        let (work, _) = work.as_chunks_mut::<2>();
        let (roots, _) = roots[..2 * n].as_chunks_mut::<2>();
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
                let imaginary = if self.in_parts == 2 { x[at + 1] } else { 0.0 };
                [f64::from(x[at]), f64::from(imaginary)]
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
            match n.is_power_of_two() {
                true => fast(signal, work, roots),
                false => plain(signal, work, roots),
            }
            let factor = if self.inverse { 1.0 / n as f64 } else { 1.0 };
            for (i, [real, imaginary]) in work.iter().take(self.to).enumerate() {
                let at = ((outer * self.to + i) * self.inner + inner) * self.out_parts;
                out[at] = (real * factor) as f32;
                if self.out_parts == 2 {
                    out[at + 1] = (imaginary * factor) as f32;
                }
            }
        }
    }
}

fn product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

/// By the definition.
fn plain(signal: &[[f64; 2]], out: &mut [[f64; 2]], roots: &[[f64; 2]]) {
    let n = signal.len();
    for (k, out) in out.iter_mut().enumerate() {
        *out = [0.0; 2];
        let mut at = 0;
        for &x in signal {
            let [real, imaginary] = product(x, roots[at]);
            out[0] += real;
            out[1] += imaginary;
            at = (at + k) % n;
        }
    }
}

/// By Cooley and Tukey, for a power of two.
fn fast(signal: &[[f64; 2]], out: &mut [[f64; 2]], roots: &[[f64; 2]]) {
    let n = signal.len();
    let bits = n.trailing_zeros();
    for (i, &x) in signal.iter().enumerate() {
        let reversed = if bits == 0 {
            0
        } else {
            i.reverse_bits() >> (usize::BITS - bits)
        };
        out[reversed] = x;
    }
    let mut half = 1;
    while half < n {
        let step = n / (2 * half);
        for block in out.chunks_exact_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            for (k, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                let turned = product(*odd, roots[k * step]);
                let sum = [even[0] + turned[0], even[1] + turned[1]];
                *odd = [even[0] - turned[0], even[1] - turned[1]];
                *even = sum;
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
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
    fn spectra_of_powers_of_two_and_other_lengths() {
        for n in [1, 2, 5, 6, 8] {
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
}
