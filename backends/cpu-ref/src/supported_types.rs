//! That every layer of Arm NN's reference backend is taken with all of its types, and that it
//! computes the same numbers with all of them: as near to its Float32 numbers as the type allows.

mod computing;
mod moving;

use armnn_backend_api::{DataType as T, *};

use crate::test_harness::{Call, Tensor, f16s, f32s, typed};

const REAL: &[T] = &[
    T::Float32,
    T::Float16,
    T::BFloat16,
    T::QAsymmS8,
    T::QAsymmU8,
    T::QSymmS16,
];
const EIGHT_BITS: &[T] = &[T::QSymmS8];
const INTEGER: &[T] = &[T::Signed32];

/// What an input holds.
#[derive(Clone, Copy)]
enum Numbers {
    /// Multiples of 1/4 from -2 to 2.
    Any,
    /// Whole numbers from 1 to 3.
    Positive,
    /// Biases of the product of the first two inputs.
    Bias,
    /// Small indices, of Signed32.
    Indices,
}
use Numbers::{Any, Bias, Indices, Positive};

/// Numbers that all types can hold, from -2 to 2; `seed` tells inputs apart.
fn values(numbers: Numbers, len: usize, seed: usize) -> Vec<f32> {
    let place = |i: usize| (i * 7 + seed * 5 + i * i) % 17;
    (0..len)
        .map(|i| match numbers {
            Any => (place(i) as f32 - 8.0) / 4.0,
            Bias => (place(i) as f32 - 8.0) / 2.0,
            Positive => (place(i) % 3 + 1) as f32,
            Indices => (place(i) % 2) as f32,
        })
        .collect()
}

/// The scale of a type, and its zero point; of results, with room for sums.
fn quantization(data_type: T, is_output: bool) -> Quantization {
    let step = if is_output { 0.125 } else { 0.0625 };
    match data_type {
        T::QAsymmS8 => Quantization::per_tensor(step, 3),
        T::QAsymmU8 => Quantization::per_tensor(step, 126),
        T::QSymmS16 => Quantization::per_tensor(step / 128.0, 0),
        _ => Quantization::per_tensor(step, 0),
    }
}

/// A tensor of any type with these numbers.
fn tensor(data_type: T, shape: &[i64], values: &[f32]) -> Tensor {
    let shape = Shape::new(shape).unwrap();
    let q = quantization(data_type, false);
    let stored = |v: &f32| {
        let zero = q.zero_points()[0];
        (v / q.scales()[0]).round() as i32 + zero
    };
    macro_rules! quantized {
        ($Q:ty) => {{
            let numbers: Vec<$Q> = values.iter().map(|v| stored(v) as $Q).collect();
            typed(data_type, shape, &numbers).quantized(q.clone())
        }};
    }
    match data_type {
        T::Float32 => f32s(shape, values),
        T::Float16 => f16s(shape, values),
        T::BFloat16 => {
            let bits: Vec<u16> = values
                .iter()
                .map(|v| half::bf16::from_f32(*v).to_bits())
                .collect();
            typed(data_type, shape, &bits)
        }
        T::Signed32 => {
            let numbers: Vec<i32> = values.iter().map(|v| *v as i32).collect();
            typed(data_type, shape, &numbers)
        }
        T::Boolean => {
            let numbers: Vec<u8> = values.iter().map(|v| u8::from(*v > 0.0)).collect();
            typed(data_type, shape, &numbers)
        }
        T::QAsymmU8 => quantized!(u8),
        T::QSymmS16 => quantized!(i16),
        _ => quantized!(i8),
    }
}

/// One layer, whatever its type.
struct Case {
    descriptor: LayerDescriptor,
    inputs: Vec<(Vec<i64>, Numbers)>,
    outputs: Vec<Vec<i64>>,
    /// Types of indices: outputs that are not of the layer's type.
    output_type: Option<T>,
    /// Whether an output has the scale of the input, as where elements are moved.
    is_moved: bool,
}

fn case(
    descriptor: impl Into<LayerDescriptor>,
    inputs: &[(&[i64], Numbers)],
    output: &[i64],
) -> Case {
    Case {
        descriptor: descriptor.into(),
        inputs: inputs
            .iter()
            .map(|(shape, n)| (shape.to_vec(), *n))
            .collect(),
        outputs: vec![output.to_vec()],
        output_type: None,
        is_moved: false,
    }
}

impl Case {
    fn moved(mut self) -> Self {
        self.is_moved = true;
        self
    }

    fn giving(mut self, data_type: T) -> Self {
        self.output_type = Some(data_type);
        self
    }

    /// The first output, with weights and a bias of these types.
    fn run(&self, data_type: T, weights: T, bias: T) -> Vec<f32> {
        let mut call = Call::new(self.descriptor.clone());
        for (position, (shape, numbers)) in self.inputs.iter().enumerate() {
            let len: i64 = shape.iter().product();
            let mut values = values(*numbers, len as usize, position);
            let of = match (numbers, position) {
                (Indices, _) => T::Signed32,
                (Bias, _) => bias,
                (_, 1) => weights,
                _ => data_type,
            };
            if of == T::Signed32 && data_type.is_quantized() && matches!(numbers, Bias) {
                let scale = |t| quantization(t, false).scales()[0];
                let step = scale(data_type) * scale(weights);
                values.iter_mut().for_each(|v| *v /= step);
            }
            call = call.input(tensor(of, shape, &values));
        }
        let output_type = self.output_type.unwrap_or(data_type);
        for shape in &self.outputs {
            let info = TensorInfo::new(output_type, Shape::new(shape).unwrap());
            call = call.output_info(match output_type.is_quantized() {
                true => info.quantized(quantization(output_type, !self.is_moved)),
                false => info,
            });
        }
        if let Err(e) = call.supported() {
            panic!(
                "{:?} of {data_type}, {weights}, {bias}: {e}",
                self.descriptor
            );
        }
        let results = call.run();
        let q = quantization(output_type, !self.is_moved);
        let real = |n: i32| q.scales()[0] * (n - q.zero_points()[0]) as f32;
        let integers = |n: Vec<i32>| n.into_iter().map(real).collect();
        match output_type {
            T::Float32 => results.f32s(),
            T::Float16 => results.f16s(),
            T::BFloat16 => {
                let bits = results.elements::<u16>(0).into_iter();
                bits.map(|b| half::bf16::from_bits(b).to_f32()).collect()
            }
            T::Signed32 => results
                .elements::<i32>(0)
                .into_iter()
                .map(|n| n as f32)
                .collect(),
            T::Signed64 => results
                .elements::<i64>(0)
                .into_iter()
                .map(|n| n as f32)
                .collect(),
            T::Boolean => results
                .elements::<u8>(0)
                .into_iter()
                .map(f32::from)
                .collect(),
            T::QAsymmU8 => integers(
                results
                    .elements::<u8>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
            T::QSymmS16 => integers(
                results
                    .elements::<i16>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
            _ => integers(
                results
                    .elements::<i8>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
        }
    }

    /// Fails unless it is taken with all of these types, and gives the numbers of Float32.
    fn check(&self, types: &[&[T]]) {
        for &data_type in types.iter().copied().flatten() {
            self.check_with(data_type, data_type, data_type);
        }
    }

    fn check_with(&self, data_type: T, weights: T, bias: T) {
        let expected = self.run(T::Float32, T::Float32, T::Float32);
        let found = self.run(data_type, weights, bias);
        assert_eq!(found.len(), expected.len());
        let output_type = self.output_type.unwrap_or(data_type);
        let (step, part) = match output_type {
            T::Float32 => (0.0, 0.0),
            T::Float16 => (0.002, 0.002),
            T::BFloat16 => (0.02, 0.02),
            // Rounded, or towards zero.
            T::Signed32 if self.output_type.is_none() => (1.0, 0.0),
            t if t.is_quantized() => (0.002 + 2.1 * quantization(t, true).scales()[0], 0.01),
            _ => (0.0, 0.0),
        };
        let limits = match output_type {
            T::QAsymmS8 | T::QAsymmU8 | T::QSymmS8 | T::QSymmS16 => (-15.0, 15.0),
            _ => (f32::MIN, f32::MAX),
        };
        for (at, (&f, &e)) in found.iter().zip(&expected).enumerate() {
            if !(limits.0..=limits.1).contains(&e) {
                continue;
            }
            assert!(
                (f - e).abs() <= step + part * e.abs(),
                "{:?} of {data_type}, {weights}, {bias}: element {at} is {f}, not {e}",
                self.descriptor
            );
        }
    }
}

impl Case {
    /// Fails unless its output holds the numbers of its input.
    fn check_with_reals(&self, data_type: T) {
        let found = self.run(data_type, data_type, data_type);
        let expected = values(self.inputs[0].1, found.len(), 0);
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() <= 0.125, "{data_type}: {f}, not {e}");
        }
    }
}
