//! Trilu.

use armnn_backend_api::{LayerView, Result, TriluDescriptor, Workload};

use crate::{
    movement::pad::pad_bytes,
    numbers::element_type::{INDICES, by_size},
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, invalid, num_elements, output, require_input, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &TriluDescriptor) -> Result<()> {
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 0, &[&[data_type]])?;
    if layer.input(1).is_some() {
        require_input(layer, 1, INDICES)?;
    }
    pad_bytes(output(layer, 0)?, 0.0)?;
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &TriluDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let Some((_, &[rows, columns])) = from.split_last_chunk::<2>() else {
        return Err(invalid(format_args!("{from:?} is no matrix")));
    };
    if dims(layer, output(layer, 0)?)? != from {
        return Err(invalid("input and output differ in shape"));
    }
    let k = layer.input(1);
    if let Some(k) = k
        && num_elements(layer, k)? != 1
    {
        return Err(invalid("the number of the diagonal is not one element"));
    }
    let zero = pad_bytes(output(layer, 0)?, 0.0)?;
    let upper = d.upper == 1;
    let index_type = k.map_or(armnn_backend_api::DataType::Signed64, |k| k.data_type());
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let k = call.indices(1, index_type)?;
        let k = if k.len() == 0 { 0 } else { k.get(0) };
        let mut first = [0; size_of::<W>()];
        first.copy_from_slice(&zero[..size_of::<W>()]);
        let zero = W::from_ne_bytes(first);
        let from = call.input::<W>(0)?;
        let out = call.output::<W>(0)?;
        if columns == 0 {
            return Ok(());
        }
        let pairs = out.chunks_exact_mut(columns).zip(from.chunks_exact(columns));
        for (row, (out, from)) in pairs.enumerate() {
            // The diagonal crosses the row here.
            let crossing = i128::from(k) + (row % rows) as i128;
            for (column, (out, &x)) in out.iter_mut().zip(from).enumerate() {
                let stays = match upper {
                    true => column as i128 >= crossing,
                    false => column as i128 <= crossing,
                };
                *out = if stays { x } else { zero };
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    fn trilu(upper: u32, k: Option<i64>) -> Vec<f32> {
        let values: Vec<f32> = (1..=12).map(|i| i as f32).collect();
        let call = Call::new(TriluDescriptor { upper })
            .input(f32s([2, 2, 3], &values))
            .output(DataType::Float32, [2, 2, 3]);
        let call = match k {
            Some(k) => call.input(typed(DataType::Signed64, [], &[k])),
            None => call,
        };
        call.run().f32s()
    }

    #[test]
    fn one_side_of_a_diagonal_is_0() {
        let upper = [1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.0, 11.0, 12.0];
        assert_eq!(trilu(1, None), upper);
        let higher = [0.0, 2.0, 3.0, 0.0, 0.0, 6.0, 0.0, 8.0, 9.0, 0.0, 0.0, 12.0];
        assert_eq!(trilu(1, Some(1)), higher);
        let lower = [1.0, 0.0, 0.0, 4.0, 5.0, 0.0, 7.0, 0.0, 0.0, 10.0, 11.0, 0.0];
        assert_eq!(trilu(0, None), lower);
        assert_eq!(trilu(0, Some(i64::MIN)), [0.0; 12]);
        assert_eq!(trilu(1, Some(i64::MAX)), [0.0; 12]);
    }
}
