//! Quantize to integers of which several are in a byte.

use armnn_backend_api::{DataType, LayerView, Result, Workload};

use super::{Parameters, Real};
use crate::{
    numbers::packing::Packing,
    workloads::{
        layer_checks::{output, refusal},
        workload_function::workload_function,
    },
};

/// The types that are quantized to here.
pub(super) const TYPES: &[DataType] = &[
    DataType::Int4,
    DataType::UInt4,
    DataType::Int2,
    DataType::UInt2,
];

pub(super) fn workload<R: Real>(
    layer: LayerView<'_>,
    parameters: Parameters,
    round: fn(f32) -> f32,
) -> Result<Box<dyn Workload>> {
    let data_type = output(layer, 0)?.data_type();
    let Some(packing) = Packing::of(data_type) else {
        return Err(refusal(format_args!("{data_type} is not known here")));
    };
    let (least, most) = match data_type {
        DataType::Int4 => (-8.0, 7.0),
        DataType::UInt4 => (0.0, 15.0),
        DataType::Int2 => (-2.0, 1.0),
        _ => (0.0, 3.0),
    };
    let mask = match data_type {
        DataType::Int4 | DataType::UInt4 => 0xf,
        _ => 0x3,
    };
    workload_function(layer, 0, move |call| {
        let numbers = call.input::<R::Bits>(0)?;
        if numbers.is_empty() {
            return Ok(());
        }
        let codes = packing.bytes_mut(call.output_bytes(0)?, numbers.len())?;
        codes.fill(0);
        for (at, &bits) in numbers.iter().enumerate() {
            let (scale, zero_point) = parameters.at(at);
            let number = round(R::from_bits(bits).to_f32() / scale) + zero_point as f32;
            // NaN becomes 0, and what is below 0 its two's complement.
            let code = number.clamp(least, most) as i8 as u8 & mask;
            packing.put_at(codes, at, code);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, QuantizeDescriptor, TensorInfo};

    use crate::test_harness::{Call, f32s};

    use super::*;

    fn quantized(data_type: DataType, zero_point: i32, values: &[f32]) -> Vec<u8> {
        let len = values.len() as i64;
        let output =
            TensorInfo::new(data_type, [len]).quantized(Quantization::per_tensor(0.5, zero_point));
        let call = Call::new(QuantizeDescriptor::new())
            .input(f32s([len], values))
            .output_info(output);
        call.run().elements(0)
    }

    #[test]
    fn numbers_round_away_from_zero_and_saturate() {
        // 1, -1 (of 0.5 and -0.5), 4, 7 and -8 in steps of 0.5; NaN is 0.
        let values = [0.25, -0.25, 2.0, 100.0, -100.0, f32::NAN];
        assert_eq!(quantized(DataType::Int4, 0, &values), [0xf1, 0x74, 0x08]);
        // 4, 2, 7, 15, 0 above a zero point of 3.
        let values = [0.5, -0.5, 2.0, 100.0, -100.0];
        assert_eq!(quantized(DataType::UInt4, 3, &values), [0x24, 0xf7, 0x00]);
        // 1, -1, 1, -2 and 0, 1, 3.
        let values = [0.5, -0.5, 9.0, -9.0];
        assert_eq!(quantized(DataType::Int2, 0, &values), [0b10_01_11_01]);
        assert_eq!(
            quantized(DataType::UInt2, 0, &[0.0, 0.5, 9.0]),
            [0b11_01_00]
        );
    }
}
