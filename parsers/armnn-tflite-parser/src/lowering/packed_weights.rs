//! Weights of 2 and 4 bits.
//!
//! TFLite's kernels widen them to 8 bits and compute with those, and so does the parser: a backend
//! sees weights of 8 bits with the same scales.

use armnn_backend_api::{DataType, TensorInfo};
use armnn_network::TensorId;

use super::context::Context;
use super::problem::{Problem, Result};

impl Context<'_, '_, '_> {
    /// Quantized constants of 2 or 4 bits as the same numbers of 8 bits; anything else as it is.
    pub(super) fn unpacked(&mut self, id: TensorId) -> Result<TensorId> {
        let info = self.info(id)?.clone();
        let (bits, is_signed) = match info.data_type {
            _ if info.quantization.is_none() => return Ok(id),
            DataType::Int4 => (4, true),
            DataType::UInt4 => (4, false),
            DataType::Int2 => (2, true),
            DataType::UInt2 => (2, false),
            _ => return Ok(id),
        };
        let tensor = self.lowering.builder.tensor(id);
        let Some(packed) = tensor.and_then(|tensor| tensor.constant()).cloned() else {
            return Err(Problem::unsupported(format!(
                "weights of {} that are not constant",
                info.data_type
            )));
        };
        // No more than there are bits in the constant.
        let len = info
            .shape
            .num_elements()
            .and_then(|len| usize::try_from(len).ok())
            .filter(|&len| len <= packed.len().saturating_mul(8 / bits))
            .ok_or_else(|| Problem::malformed("weights that are longer than their data"))?;
        let symmetric = info
            .quantization
            .zero_points()
            .iter()
            .all(|&zero| zero == 0);
        let data_type = match is_signed {
            true if symmetric && info.quantization.scales().len() > 1 => DataType::QSymmS8,
            true => DataType::QAsymmS8,
            false => DataType::QAsymmU8,
        };
        let numbers = unpack(&packed, len, bits, is_signed);
        let info = TensorInfo::new(data_type, info.shape).quantized(info.quantization);
        self.new_constant(info, numbers)
    }
}

/// The first in the lowest bits of each byte.
fn unpack(packed: &[u8], len: usize, bits: usize, is_signed: bool) -> Vec<u8> {
    let in_byte = 8 / bits;
    let number = |at: usize| {
        let byte = packed.get(at / in_byte).copied().unwrap_or(0);
        // To the highest bits, and back with or without a sign.
        let high = byte << (8 - bits - at % in_byte * bits);
        match is_signed {
            true => (high as i8 >> (8 - bits)) as u8,
            false => high >> (8 - bits),
        }
    };
    (0..len).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{float, lower, run, typed};

    #[test]
    fn weights_of_4_bits_are_multiplied_like_those_of_8() {
        // 1 to 3 and -8, -1, 7 in steps of 0.5.
        let weights = typed(TensorType::Int4, &[2, 3])
            .with_data(vec![0x21, 0x83, 0x7f])
            .quantized(0.5, 0);
        let options = write::FullyConnectedOptions::default();
        let options = write::BuiltinOptions::FullyConnectedOptions(Box::new(options));
        let inputs = [float(&[1, 3]), weights];
        let network = lower(Op::FullyConnected, &inputs, &[float(&[1, 2])], options).unwrap();
        // The input is rounded to steps of 127 / 127.
        let found = run(network, &[(&[1, 3], &[1.0, 127.0, 2.0])]).remove(0).1;
        for (found, expected) in found.iter().zip([130.5, -60.5]) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn numbers_lie_from_the_lowest_bits_on() {
        let signed = |packed: &[u8], len, bits| -> Vec<i8> {
            unpack(packed, len, bits, true)
                .into_iter()
                .map(|n| n as i8)
                .collect()
        };
        assert_eq!(signed(&[0x8f, 0x07], 3, 4), [-1, -8, 7]);
        assert_eq!(signed(&[0b11_10_01_00, 0b01], 5, 2), [0, 1, -2, -1, 1]);
        assert_eq!(unpack(&[0x8f], 2, 4, false), [15, 8]);
        assert_eq!(unpack(&[0b11_10_01_00], 4, 2, false), [0, 1, 2, 3]);
    }
}
