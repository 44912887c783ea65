//! Sigmoid and TanH of 16 bits, by a table of the sigmoid
//! (`kernels/internal/reference/integer_ops/logistic.h` and `tanh.h`).

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ExecutionContext, Result, Synchronous,
};

use crate::workloads::{element_workload::Kernel, float_workload::MAX_INPUTS};

/// The output has a scale of 2^-15.
pub(super) struct Sigmoid16 {
    is_tanh: bool,
    /// A factor and a shift to the right, into a scale in which 2^17 is 32 / 3.
    factor: i32,
    shift: u32,
    /// sigmoid(i / 24) in units of 2^-16.
    table: Vec<u16>,
}

impl Sigmoid16 {
    /// `None` for other functions, and for other scales of the output.
    pub(super) fn new(d: &ActivationDescriptor, from: f32, to: f32) -> Option<Self> {
        let is_tanh = match d.function() {
            ActivationFunction::Sigmoid => false,
            ActivationFunction::TanH if d.a == 1.0 && d.b == 1.0 => true,
            _ => return None,
        };
        if to != 1.0 / 32768.0 {
            return None;
        }
        // A scale of 2^-12 is multiplied by 3 alone; so is one of 2^-11, by TanH.
        let fine = 1.0 / 4096.0;
        let (factor, shift) = if from == fine {
            (3, 0)
        } else if is_tanh && from == 2.0 * fine {
            (6, 0)
        } else {
            // Halves of up to 2^15, for as many bits as there can be.
            let mut factor = f64::from(from * 4096.0 * 3.0);
            let mut shift = 0;
            while factor <= 32767.0 / 2.0 && shift <= 30 {
                factor *= 2.0;
                shift += 1;
            }
            (factor as i32, shift)
        };
        Some(Self {
            is_tanh,
            factor,
            shift,
            table: table(),
        })
    }

    fn scaled(&self, x: i16) -> i32 {
        let round = (1i64 << self.shift) >> 1;
        let product = i64::from(x) * i64::from(self.factor);
        ((product + round) >> self.shift) as i32
    }

    /// The sigmoid of the size of a number, in units of 2^-(16 + `bits`), of which `bits` are the
    /// place between two entries of the table.
    fn interpolated(&self, size: u32, bits: u32) -> u32 {
        let index = (size >> bits) as usize;
        if index >= 255 {
            // The largest number of the output.
            return if self.is_tanh {
                0xffff << bits
            } else {
                0x7fff << (bits + 1)
            };
        }
        let (here, next) = (
            u32::from(self.table[index]),
            u32::from(self.table[index + 1]),
        );
        let place = size & ((1 << bits) - 1);
        (here << bits) + place * (next - here)
    }

    fn sigmoid(&self, x: i16) -> i16 {
        let x = self.scaled(x);
        let above = self.interpolated(x.unsigned_abs(), 9);
        let result = if x >= 0 {
            above + (1 << 9)
        } else {
            (1 << 25) - above + (1 << 9) - 1
        };
        (result >> 10) as i16
    }

    /// `2 sigmoid(2 x) - 1`
    fn tanh(&self, x: i16) -> i16 {
        let x = self.scaled(x);
        let above = i64::from(self.interpolated(x.unsigned_abs(), 8));
        let one_half = 1 << 23;
        let result = if x >= 0 {
            above - one_half + (1 << 7)
        } else {
            one_half - above + (1 << 7) - 1
        };
        (result >> 8) as i16
    }
}

/// sigmoid(i / 24) in units of 2^-16, with the deviations of the table there: it is nearest to
/// sigmoid(i / 23.999), off by one in eight places.
fn table() -> Vec<u16> {
    let mut table: Vec<u16> = (0..256)
        .map(|i| {
            let sigmoid = 1.0 / (1.0 + (-f64::from(i) / 23.999).exp());
            (sigmoid * 65536.0).round() as u16
        })
        .collect();
    for i in [4, 255] {
        table[i] += 1;
    }
    for i in [65, 69, 71, 117, 163, 174] {
        table[i] -= 1;
    }
    table
}

impl Kernel for Sigmoid16 {
    type Input = i16;
    type Output = i16;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[i16]; MAX_INPUTS],
        output: &mut [i16],
    ) -> Result<()> {
        for (out, &x) in output.iter_mut().zip(input) {
            *out = if self.is_tanh {
                self.tanh(x)
            } else {
                self.sigmoid(x)
            };
        }
        Ok(())
    }
}
