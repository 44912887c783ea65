//! Dequantize of numbers that are made to be stored, as constant weights are, and of Signed32.

use armnn_backend_api::{DataType, LayerView, Result, Workload};

use super::{Parameters, Real};
use crate::{
    conversion::cast::storage::Format,
    workloads::{
        layer_checks::{input, refusal},
        workload_function::workload_function,
    },
};

/// The types that are dequantized here.
pub(super) const STORED: &[DataType] = &[
    DataType::Signed32,
    DataType::Int4,
    DataType::UInt4,
    DataType::Int2,
    DataType::UInt2,
    DataType::Float8E4M3FN,
    DataType::Float8E4M3FNUZ,
    DataType::Float8E5M2,
    DataType::Float8E5M2FNUZ,
    DataType::Float4E2M1,
];

pub(super) fn workload<R: Real>(
    layer: LayerView<'_>,
    parameters: Parameters,
) -> Result<Box<dyn Workload>> {
    let data_type = input(layer, 0)?.data_type();
    if data_type == DataType::Signed32 {
        return workload_function(layer, 0, move |call| {
            let numbers = call.input::<i32>(0)?;
            let out = call.output::<R::Bits>(0)?;
            for (at, (out, &number)) in out.iter_mut().zip(numbers).enumerate() {
                let (scale, zero_point) = parameters.at(at);
                let number = i64::from(number) - i64::from(zero_point);
                *out = R::from_f32(scale * number as f32).to_bits();
            }
            Ok(())
        });
    }
    let Some(format) = Format::of(data_type) else {
        return Err(refusal(format_args!("{data_type} is not known here")));
    };
    // All of them are Float32, too.
    let numbers: Vec<f32> = format
        .codes()
        .map(|code| format.decode(code) as f32)
        .collect();
    workload_function(layer, 0, move |call| {
        let codes = format
            .packing()
            .bytes(call.input_bytes(0)?, parameters.num_elements)?;
        for (at, out) in call.output::<R::Bits>(0)?.iter_mut().enumerate() {
            let (scale, zero_point) = parameters.at(at);
            let number =
                numbers[usize::from(format.packing().code_at(codes, at))] - zero_point as f32;
            *out = R::from_f32(scale * number).to_bits();
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DequantizeDescriptor, Quantization};

    use crate::test_harness::{Call, typed};

    use super::*;

    #[test]
    fn stored_numbers_have_a_scale_for_each_row() {
        let call = |data_type, bytes: &[u8], quantization| {
            let input = typed(DataType::UInt8, [bytes.len() as i64], bytes);
            Call::new(DequantizeDescriptor::new())
                .input(input.with_type(data_type, [2, 2]).quantized(quantization))
                .output(DataType::Float32, [2, 2])
        };
        let rows = || Quantization::per_axis(0, vec![0.5, 2.0], vec![0, 1]);
        // -1, 7 and 2, -8: times 0.5, and less 1 and times 2.
        let found = call(DataType::Int4, &[0x7f, 0x82], rows()).run().f32s();
        assert_eq!(found, [-0.5, 3.5, 2.0, -18.0]);
        // 0, 1, 2, 3 from the lowest bits up.
        let found = call(DataType::UInt2, &[0xe4], rows()).run().f32s();
        assert_eq!(found, [0.0, 0.5, 2.0, 4.0]);
        // 0.5, -6 and 1, 1.5.
        let columns = Quantization::per_axis(1, vec![0.5, 2.0], vec![0, 0]);
        let found = call(DataType::Float4E2M1, &[0xf1, 0x32], columns);
        assert_eq!(found.run().f32s(), [0.25, -12.0, 0.5, 3.0]);
        let whole = Quantization::per_tensor(0.5, 0);
        let bytes = [0x38, 0xb8, 0x7e, 0x00];
        let found = call(DataType::Float8E4M3FN, &bytes, whole).run().f32s();
        assert_eq!(found, [0.5, -0.5, 224.0, 0.0]);
    }

    #[test]
    fn biases_are_dequantized() {
        let quantization = Quantization::per_tensor(0.25, 0);
        let call = Call::new(DequantizeDescriptor::new())
            .input(typed(DataType::Signed32, [3], &[4, -1, i32::MIN]).quantized(quantization))
            .output(DataType::Float32, [3]);
        assert_eq!(call.run().f32s(), [1.0, -0.25, -536870912.0]);
    }
}
