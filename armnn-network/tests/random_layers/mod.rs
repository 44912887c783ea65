//! Random choices: descriptors, shapes, types.

// Each test program uses a part of it.
#![allow(dead_code)]

mod descriptors;
mod fitting;

use armnn_backend_api::*;
use armnn_network::OutputDeclaration;

pub use fitting::fitting;

/// A row of choices: generated, or given by a fuzzer.
pub enum Random {
    /// Xorshift64: George Marsaglia, "Xorshift RNGs", 2003.
    Generated(u64),
    /// The bytes that are left.
    Given(Vec<u8>),
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self::Generated(seed.max(1))
    }

    /// Each choice is a byte; behind the last one there are zeros.
    pub fn given(bytes: &[u8]) -> Self {
        Self::Given(bytes.iter().rev().copied().collect())
    }

    pub fn next(&mut self) -> u64 {
        match self {
            Self::Generated(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *state
            }
            Self::Given(bytes) => bytes.pop().unwrap_or(0).into(),
        }
    }

    pub fn is_at_end(&self) -> bool {
        matches!(self, Self::Given(bytes) if bytes.is_empty())
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Mostly sensible, sometimes extreme.
    pub fn u32(&mut self) -> u32 {
        match self.below(12) {
            0 => self.pick(&[0, u32::MAX, u32::MAX - 1, 1 << 31, 9, 300]),
            _ => self.below(4) as u32,
        }
    }

    pub fn i64(&mut self) -> i64 {
        match self.below(12) {
            0 => self.pick(&[i64::MIN, i64::MAX, i64::MAX - 1, -1, -2, 0, 1 << 32]),
            _ => self.below(5) as i64,
        }
    }

    pub fn f32(&mut self) -> f32 {
        self.pick(&[1.0, 1.0, 1.0, 0.5, 0.0, -1.0, f32::NAN, f32::INFINITY, 1e30])
    }

    pub fn list<T: Copy + Default, const N: usize>(
        &mut self,
        mut next: impl FnMut(&mut Self) -> T,
    ) -> [T; N] {
        let mut list = [T::default(); N];
        list.fill_with(|| next(self));
        list
    }

    pub fn dim(&mut self) -> i64 {
        match self.below(16) {
            0 => self.pick(&[0, i64::MAX, 1 << 40, 1 << 62]),
            1 | 2 => Shape::UNKNOWN,
            _ => self.below(6) as i64 + 1,
        }
    }

    pub fn shape(&mut self) -> Shape {
        let rank = match self.below(3) {
            0 => self.below(9),
            _ => 4,
        };
        let dims: Vec<i64> = (0..rank).map(|_| self.dim()).collect();
        Shape::new(&dims).unwrap()
    }

    pub fn data_type(&mut self) -> DataType {
        match self.below(8) {
            0 => DataType(self.u32()),
            1 | 2 => self.pick(DataType::ALL),
            3 => DataType::QAsymmS8,
            _ => DataType::Float32,
        }
    }

    pub fn quantization(&mut self) -> Quantization {
        let count = self.pick(&[1, 1, 1, 2, 3]);
        Quantization::per_axis(
            self.u32() as i32,
            vec![self.pick(&[0.5, 0.5, 0.5, -1.0, f32::NAN]); count],
            vec![self.pick(&[0, 0, 0, 127, i32::MIN]); count],
        )
    }

    pub fn info(&mut self) -> TensorInfo {
        let info = TensorInfo::new(self.data_type(), self.shape());
        match info.data_type.is_quantized() || self.below(20) == 0 {
            true => info.quantized(self.quantization()),
            false => info,
        }
    }

    pub fn layout(&mut self) -> u32 {
        match self.below(10) {
            0 => self.u32(),
            _ => self.pick(&[1, 2]),
        }
    }

    pub fn volume_layout(&mut self) -> u32 {
        match self.below(10) {
            0 => self.u32(),
            _ => self.pick(&[3, 4]),
        }
    }

    pub fn declaration(&mut self) -> OutputDeclaration {
        OutputDeclaration {
            name: None,
            data_type: (self.below(3) > 0).then(|| self.data_type()),
            shape: (self.below(3) > 0).then(|| self.shape()),
            quantization: (self.below(4) == 0).then(|| self.quantization()),
        }
    }
}
