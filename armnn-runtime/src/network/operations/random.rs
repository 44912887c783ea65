//! Random numbers: MT19937, with numbers and distributions made from its output as by NumPy's
//! `RandomState`, which ONNX's reference implementation uses. With the seed of a model, the numbers
//! are those of the reference.

use std::hash::{BuildHasher, RandomState};

use armnn_backend_api::{DataType, TensorInfo};
use armnn_network::{Distribution, RandomOperation};
use rand_mt::Mt;

use super::{super::graph_state::Run, Layer, Result};
use crate::value::Value;

/// Where the numbers of operations without a seed of their own come from: a new seed for each time
/// that one is executed.
pub(in super::super) struct Seeds(u64);

impl Seeds {
    /// Those that follow from a seed, or from one that nobody knows.
    pub(in super::super) fn new(seed: Option<u64>) -> Self {
        // The standard library's hashers have keys from the operating system.
        Self(seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
    }

    fn next(&mut self) -> u64 {
        // G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

pub(super) fn execute(
    layer: &Layer<'_>,
    operation: &RandomOperation,
    run: &mut Run<'_>,
) -> Result<Vec<Value>> {
    let shape = match (operation.shape, layer.optional(0)) {
        (_, Some(_)) => layer.tensor(0)?.info().shape,
        (Some(shape), None) => shape,
        (None, None) => return Err(layer.failed("it has no shape")),
    };
    let info = TensorInfo::new(operation.data_type, shape);
    layer.check_limit(&info, run.memory_limit)?;
    let mut output = layer.new_tensor(info)?;
    let mut numbers = Numbers::new(match operation.seed {
        Some(seed) => Mt::new(seed),
        None => {
            let seed = run.seeds.next();
            Mt::new_with_key([seed as u32, (seed >> 32) as u32])
        }
    });
    match operation.data_type {
        DataType::Float32 => {
            for bytes in output.bytes_mut().chunks_exact_mut(size_of::<f32>()) {
                let number = numbers.next_f32(operation.distribution);
                bytes.copy_from_slice(&number.to_ne_bytes());
            }
        }
        DataType::Float64 => {
            for bytes in output.bytes_mut().chunks_exact_mut(size_of::<f64>()) {
                let number = numbers.next(operation.distribution);
                bytes.copy_from_slice(&number.to_ne_bytes());
            }
        }
        other => return Err(layer.failed(format!("random numbers of type {other}"))),
    }
    Ok(vec![output.into()])
}

struct Numbers {
    bits: Mt,
    /// Normal numbers are made in pairs.
    second: Option<f64>,
}

impl Numbers {
    fn new(bits: Mt) -> Self {
        Self { bits, second: None }
    }

    fn next(&mut self, distribution: Distribution) -> f64 {
        match distribution {
            Distribution::Uniform { low, high } => low + (high - low) * self.fraction(),
            Distribution::Normal { mean, scale } => mean + scale * self.normal(),
        }
    }

    fn next_f32(&mut self, distribution: Distribution) -> f32 {
        let number = self.next(distribution) as f32;
        match distribution {
            // What is rounded up to the bound is not below it any more.
            Distribution::Uniform { low, high } if low < high && f64::from(number) >= high => {
                number.next_down()
            }
            _ => number,
        }
    }

    /// From 0 on, and below 1, in steps of 2^-53.
    fn fraction(&mut self) -> f64 {
        let high = self.bits.next_u32() >> 5;
        let low = self.bits.next_u32() >> 6;
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// By the polar method: G. Marsaglia, T. Bray, "A convenient method for generating normal
    /// variables", 1964.
    fn normal(&mut self) -> f64 {
        if let Some(second) = self.second.take() {
            return second;
        }
        loop {
            let x = 2.0 * self.fraction() - 1.0;
            let y = 2.0 * self.fraction() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.second = Some(factor * x);
                return factor * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_seed_are_those_of_numpy() {
        let mut numbers = Numbers::new(Mt::new(0));
        // numpy.random.RandomState(0).rand(3)
        let uniform = Distribution::Uniform {
            low: 0.0,
            high: 1.0,
        };
        let expected = [0.5488135039273248, 0.7151893663724195, 0.6027633760716439];
        for expected in expected {
            assert_eq!(numbers.next(uniform), expected);
        }
        // numpy.random.RandomState(7).randn(3)
        let mut numbers = Numbers::new(Mt::new(7));
        let normal = Distribution::Normal {
            mean: 0.0,
            scale: 1.0,
        };
        let expected = [1.690525703800356, -0.4659373705408328, 0.0328201636785844];
        for expected in expected {
            let found = numbers.next(normal);
            assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
        }
    }

    #[test]
    fn no_number_of_32_bits_is_the_upper_bound() {
        let mut numbers = Numbers::new(Mt::new(1));
        let distribution = Distribution::Uniform {
            low: 1.0,
            high: f64::from(1.0f32.next_up()),
        };
        // There is one number in it.
        for _ in 0..100 {
            assert_eq!(numbers.next_f32(distribution), 1.0);
        }
    }
}
