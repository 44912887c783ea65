//! Logistic function and hyperbolic tangent of many numbers, without branches, so that the compiler
//! makes vector instructions of them. The functions of the standard library are called for each
//! number, which takes most of the time of small recurrent layers.
//!
//! `e^x = 2^n e^r` with `n` the integer nearest to `x / ln 2`, so that `|r| <= ln(2) / 2`; the
//! series of `e^r - 1` up to the seventh power is off by less than 6e-9.

/// In place.
pub(crate) fn sigmoid(values: &mut [f32]) {
    for x in values {
        let (power, rest) = exponential((-*x).clamp(-80.0, 80.0));
        *x = 1.0 / (1.0 + (power + power * rest));
    }
}

/// In place. `tanh x = (e^2x - 1) / (e^2x + 1)`, whose numerator keeps its digits near 0.
pub(crate) fn tanh(values: &mut [f32]) {
    for x in values {
        // Beyond, the result is 1 or -1.
        let (power, rest) = exponential((2.0 * *x).clamp(-20.0, 20.0));
        let below_one = power * rest + (power - 1.0);
        *x = below_one / (below_one + 2.0);
    }
}

/// `2^n` and `e^r - 1`, whose product with `2^n` lacks just that of `e^x`; of NaN, the latter is NaN.
/// `x` is at most 87 in size.
#[inline]
fn exponential(x: f32) -> (f32, f32) {
    // Adding 1.5 * 2^23 leaves no room for a fraction: the integer is in the lowest bits.
    const ROUNDER: f32 = 12_582_912.0;
    // The upper digits of ln 2, whose products with small integers are exact, and the rest.
    const LN_2_UPPER: f32 = 0.693_359_4;
    const LN_2_LOWER: f32 = -2.121_944_4e-4;
    let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
    let n = rounded - ROUNDER;
    let r = (x - n * LN_2_UPPER) - n * LN_2_LOWER;
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    let mut series = 1.0 / 5040.0;
    for factorial in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0] {
        series = series * r + 1.0 / factorial;
    }
    (power, series * r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_those_of_twice_as_many_digits() {
        let values: Vec<f32> = (-4000..=4000).map(|i| i as f32 / 160.0).collect();
        let (mut sigmoids, mut tanhs) = (values.clone(), values.clone());
        sigmoid(&mut sigmoids);
        tanh(&mut tanhs);
        for (i, &x) in values.iter().enumerate() {
            let x = f64::from(x);
            let near = |found: f32, expected: f64| {
                let error = (f64::from(found) - expected).abs();
                assert!(error <= 3e-7 * expected.abs(), "{x}: {found} {expected}");
            };
            near(sigmoids[i], 1.0 / (1.0 + (-x).exp()));
            near(tanhs[i], x.tanh());
        }
    }

    #[test]
    fn tiny_and_endless_numbers_and_nan() {
        let mut values = [1e-30, -1e-10, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let mut sigmoids = values;
        tanh(&mut values);
        assert_eq!(values[..4], [1e-30, -1e-10, 1.0, -1.0]);
        assert!(values[4].is_nan());
        sigmoid(&mut sigmoids);
        assert_eq!(sigmoids[..3], [0.5, 0.5, 1.0]);
        assert!(sigmoids[3] >= 0.0 && sigmoids[3] < 1e-30);
        assert!(sigmoids[4].is_nan());
    }
}
