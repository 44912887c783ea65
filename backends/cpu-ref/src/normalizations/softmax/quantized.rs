//! Softmax of quantized numbers, by TensorFlow Lite's reference kernels
//! (`kernels/internal/reference/softmax.h`): of 8 bits in fixed point, of 16 bits by tables. They
//! are for outputs of a scale of 2^-8 or 2^-15, with the smallest number (of 16 bits: 0) for 0;
//! others are computed in Float32.

use std::marker::PhantomData;

use armnn_backend_api::{DataType, ExecutionContext, LayerView, Result, Synchronous, Workload};

use super::Softmax;
use crate::{
    numbers::{
        lookup_table::Table16,
        quantized_arithmetic::{
            Affine, Multiplier, QuantizedElement, by_quantized_type, doubling_high_product,
            rounding_shift_right,
        },
        reciprocal::{exp_on_negative_values, reciprocal},
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

pub(super) fn workload(layer: LayerView<'_>, softmax: Softmax) -> Result<Box<dyn Workload>> {
    let from = Affine::of(input(layer, 0)?, "input")?;
    let to = Affine::of(output(layer, 0)?, "output")?;
    by_quantized_type!(output(layer, 0)?.data_type(), Q => {
        let is_wide = output(layer, 0)?.data_type() == DataType::QSymmS16;
        let kernel = QuantizedSoftmax::<Q> {
            rule: Rule::new(&softmax, from, to, (<Q as QuantizedElement>::MIN, is_wide)),
            softmax,
            from,
            to,
            element: PhantomData,
        };
        element_workload(layer, kernel)
    })
}

enum Rule {
    FixedPoint(FixedPoint),
    Tables(Box<Tables>),
    Real,
}

struct FixedPoint {
    /// Times beta, into numbers with 5 integer bits.
    factor: Multiplier,
    /// Differences below this one count as 0.
    least: i32,
}

struct Tables {
    /// Times beta, so that -65535 stands for -10.
    factor: Multiplier,
    exp: Table16,
    /// 1 / (1 + x)
    reciprocal: Table16,
}

impl Rule {
    fn new(softmax: &Softmax, from: Affine, to: Affine, (least, is_wide): (i32, bool)) -> Self {
        let beta = f64::from(softmax.beta);
        // Powers of what is no smaller than the largest number are as they are there.
        let is = |scale: f32, zero_point| {
            (to.scale - scale).abs() <= 0.001 * scale && to.zero_point == zero_point && beta > 0.0
        };
        if is_wide && is(1.0 / 32768.0, 0) {
            let range = f64::from(u16::MAX);
            let factor = f64::from(from.scale * softmax.beta) / (10.0 / range);
            return Self::Tables(Box::new(Tables {
                factor: Multiplier::new(factor),
                exp: Table16::new((10.0 / range, i16::MAX.into()), 2.0 / range, f64::exp),
                reciprocal: Table16::new((1.0 / range, i16::MIN.into()), 2.0 / range, |x| {
                    1.0 / (1.0 + x)
                }),
            }));
        }
        if !is_wide && is(1.0 / 256.0, least) {
            // With 5 integer bits; what would be too large for 31 bits saturates.
            let factor =
                (beta * f64::from(from.scale) * 2f64.powi(31 - 5)).min(2f64.powi(31) - 1.0);
            if factor > 1.0 {
                let factor = Multiplier::new(factor);
                let radius = 31.0 * 2f64.powi(31 - 5) / 2f64.powi(factor.exponent);
                return Self::FixedPoint(FixedPoint {
                    factor,
                    least: -(radius.floor() as i32),
                });
            }
        }
        Self::Real
    }
}

struct QuantizedSoftmax<Q> {
    softmax: Softmax,
    rule: Rule,
    from: Affine,
    to: Affine,
    element: PhantomData<fn(Q)>,
}

impl<Q: QuantizedElement> Kernel for QuantizedSoftmax<Q> {
    type Input = Q;
    type Output = Q;

    fn scratch_len(&self) -> usize {
        match self.rule {
            Rule::Real => self.softmax.len,
            _ => 0,
        }
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [i64],
        [input, ..]: [&[Q]; MAX_INPUTS],
        output: &mut [Q],
    ) -> Result<()> {
        let Softmax { len, inner, .. } = self.softmax;
        let blocks = input
            .chunks_exact(len * inner)
            .zip(output.chunks_exact_mut(len * inner));
        for (input, output) in blocks {
            for at in 0..inner {
                let (input, output) = (&input[at..], &mut output[at..]);
                match &self.rule {
                    Rule::FixedPoint(rule) => self.in_fixed_point(rule, input, output),
                    Rule::Tables(rule) => self.by_tables(rule, input, output),
                    Rule::Real => self.in_float32(scratch, input, output),
                }
            }
        }
        Ok(())
    }
}

impl<Q: QuantizedElement> QuantizedSoftmax<Q> {
    /// How far the numbers along the axis are below the largest.
    fn differences<'a>(&self, input: &'a [Q]) -> impl Iterator<Item = i32> + Clone + 'a {
        let numbers = input.iter().step_by(self.softmax.inner).map(|x| x.to_i32());
        let largest = numbers.clone().max().unwrap_or(0);
        numbers.map(move |x| x - largest)
    }

    fn in_fixed_point(&self, rule: &FixedPoint, input: &[Q], output: &mut [Q]) {
        let power = |difference: i32| {
            let shifted = difference.wrapping_shl(rule.factor.exponent as u32);
            exp_on_negative_values(doubling_high_product(shifted, rule.factor.fraction))
        };
        let differences = self.differences(input);
        let significant = |&difference: &i32| difference >= rule.least;
        // With 12 integer bits.
        let sum: i32 = differences
            .clone()
            .filter(significant)
            .map(|difference| rounding_shift_right(power(difference), 12))
            .fold(0, i32::wrapping_add);
        let (inverse, bits_over_unit) = reciprocal(sum as u32, 12);
        let exponent = bits_over_unit + 31 - 8;
        for (out, difference) in output
            .iter_mut()
            .step_by(self.softmax.inner)
            .zip(differences)
        {
            *out = if significant(&difference) {
                let product = doubling_high_product(inverse, power(difference));
                let number = rounding_shift_right(product, exponent.max(0) as u32);
                Q::saturating(number.saturating_add(Q::MIN))
            } else {
                Q::saturating(Q::MIN)
            };
        }
    }

    fn by_tables(&self, rule: &Tables, input: &[Q], output: &mut [Q]) {
        let power = |difference: i32| {
            let scaled = rule
                .factor
                .apply(difference)
                .saturating_add(i16::MAX.into());
            i32::from(rule.exp.get(i16::saturating(scaled)))
        };
        let differences = self.differences(input);
        let sum = differences.clone().map(power).fold(0, i32::wrapping_add);
        // From 1 on and below 2, with 16 bits behind the point.
        let headroom = (sum as u32).leading_zeros().clamp(1, 30);
        let shifted = ((i64::from(sum) << (headroom - 1)) + (1 << 13)) >> 14;
        let above_one = shifted as i32 - ((1 << 15) + (1 << 16));
        let inverse = i64::from(rule.reciprocal.get(i16::saturating(above_one)));
        let shift = 31 - headroom;
        for (out, difference) in output
            .iter_mut()
            .step_by(self.softmax.inner)
            .zip(differences)
        {
            let product = i64::from(power(difference)) * inverse + (1 << (shift - 1));
            *out = Q::saturating(((product >> shift) as i32).max(0));
        }
    }

    /// The scratch memory holds the exponents.
    fn in_float32(&self, scratch: &mut [i64], input: &[Q], output: &mut [Q]) {
        let scale = self.softmax.beta * self.from.scale;
        let numbers = input.iter().step_by(self.softmax.inner).map(|x| x.to_i32());
        let exponents = numbers.map(|x| scale * x as f32);
        let largest = exponents.clone().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for (slot, exponent) in scratch.iter_mut().zip(exponents) {
            let power = (exponent - largest).exp();
            *slot = i64::from(power.to_bits());
            sum += power;
        }
        let outputs = output.iter_mut().step_by(self.softmax.inner);
        for (out, &bits) in outputs.zip(&*scratch) {
            *out = self.to.quantize(f32::from_bits(bits as u32) / sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Element, Quantization, SoftmaxDescriptor, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, typed};

    fn softmax<T: Element>(
        data_type: DataType,
        values: &[T],
        axis: u32,
        (scale, to): (f32, (f32, i32)),
    ) -> Vec<T> {
        let shape = [2, values.len() as i64 / 2];
        let output =
            TensorInfo::new(data_type, shape).quantized(Quantization::per_tensor(to.0, to.1));
        let call = Call::new(SoftmaxDescriptor { beta: 0.5, axis })
            .input(typed(data_type, shape, values).quantized(Quantization::per_tensor(scale, 0)))
            .output_info(output);
        call.run().elements(0)
    }

    /// Outputs of LiteRT 2.3's reference kernels.
    #[test]
    fn results_are_those_of_another_engine() {
        let values = [3i8, -20, 100, 99, -128, 0, 5, 5];
        let found = softmax(DataType::QAsymmS8, &values, 1, (0.05, (1.0 / 256.0, -128)));
        assert_eq!(found, [-117, -122, -7, -10, -125, -51, -40, -40]);
        let values = [300i16, -2000, 10000, 9999, -32768, 0, 5, 5];
        let found = softmax(DataType::QSymmS16, &values, 1, (0.0005, (1.0 / 32768.0, 0)));
        assert_eq!(found, [1356, 763, 15326, 15322, 3, 10913, 10926, 10926]);
    }

    #[test]
    fn other_scales_of_the_output_are_near_to_the_real_numbers() {
        let values = [3i8, -20, 100, 99, -128, 0, 5, 5];
        let (unit, zero_point) = (1.0 / 200.0, -100);
        let found = softmax(DataType::QAsymmS8, &values, 1, (0.05, (unit, zero_point)));
        for (row, found) in values.chunks(4).zip(found.chunks(4)) {
            let power = |&x: &i8| (0.5 * 0.05 * f64::from(x)).exp();
            let sum: f64 = row.iter().map(power).sum();
            for (x, &found) in row.iter().zip(found) {
                let found = f64::from(i32::from(found) - zero_point) * f64::from(unit);
                assert!(
                    (found - power(x) / sum).abs() < 0.6 * f64::from(unit),
                    "{x}: {found}"
                );
            }
        }
    }

    #[test]
    fn another_axis_has_a_stride() {
        // Columns of two equal numbers: one half each.
        let found = softmax(
            DataType::QAsymmU8,
            &[9u8, 200, 9, 200],
            0,
            (0.1, (1.0 / 256.0, 0)),
        );
        assert_eq!(found, [128; 4]);
    }
}
