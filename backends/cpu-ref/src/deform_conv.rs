//! DeformConv.

use armnn_backend_api::{DataType, DeformConvDescriptor, LayerView, Result, Workload};

use crate::{
    layer_checks::{dims, dims_of_rank, input, invalid, output, require_one_type},
    workload_function::workload_function,
};

pub(crate) fn check(layer: LayerView<'_>, _: &DeformConvDescriptor) -> Result<()> {
    require_one_type(layer, &[&[DataType::Float32]])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &DeformConvDescriptor,
) -> Result<Box<dyn Workload>> {
    let [batches, channels, height, width] = dims_of_rank(layer, input(layer, 0)?)?;
    let [outputs, in_group, filter_h, filter_w] = dims_of_rank(layer, input(layer, 1)?)?;
    let [out_batches, out_channels, out_h, out_w] = dims_of_rank(layer, output(layer, 0)?)?;
    let (groups, offset_groups) = (d.groups as usize, d.offset_groups as usize);
    let taps = filter_h.checked_mul(filter_w);
    let fits_extra = |position: usize, factor: usize| -> Result<bool> {
        let Some(tensor) = layer.input(position) else {
            return Ok(true);
        };
        let expected = taps
            .and_then(|n| n.checked_mul(offset_groups))
            .and_then(|n| n.checked_mul(factor));
        let found = dims(layer, tensor)?;
        Ok(expected.is_some_and(|n| found == [batches, n, out_h, out_w]))
    };
    let fits = (out_batches, out_channels) == (batches, outputs)
        && groups > 0
        && offset_groups > 0
        && in_group.checked_mul(groups) == Some(channels)
        && outputs % groups == 0
        && channels % offset_groups == 0
        && fits_extra(2, 2)?
        && fits_extra(4, 1)?
        && match layer.input(3) {
            Some(bias) => dims(layer, bias)? == [outputs],
            None => true,
        };
    if !fits {
        return Err(invalid(format_args!(
            "weights, offsets and mask do not fit {channels} channels in {groups} and \
             {offset_groups} groups"
        )));
    }
    let taps = filter_h * filter_w;
    let d = *d;
    let out_group = outputs / groups;
    let in_offset_group = channels / offset_groups;
    workload_function(layer, 0, move |call| {
        let (x, weights) = (call.input::<f32>(0)?, call.input::<f32>(1)?);
        let (offset, bias) = (call.input::<f32>(2)?, call.input::<f32>(3)?);
        let mask = call.input::<f32>(4)?;
        let plane_len = out_h * out_w;
        let out = call.output::<f32>(0)?;
        for (index, out) in out.iter_mut().enumerate() {
            let (at, plane) = (index % plane_len, index / plane_len);
            let (channel, batch) = (plane % outputs, plane / outputs);
            let (row, column) = (at / out_w, at % out_w);
            let mut sum = bias.get(channel).copied().unwrap_or(0.0);
            for i in 0..in_group {
                let in_channel = channel / out_group * in_group + i;
                let image = &x[(batch * channels + in_channel) * height * width..];
                let image = &image[..height * width];
                let group = batch * offset_groups + in_channel / in_offset_group;
                for tap in 0..taps {
                    let of_tap = group * taps + tap;
                    let shift = |i: usize| offset[(of_tap * 2 + i) * plane_len + at];
                    let start = |out: usize, stride: u32, pad: u32, tap: usize, dilation: u32| {
                        out as f32 * stride as f32 - pad as f32 + tap as f32 * dilation as f32
                    };
                    let y = start(row, d.stride_y, d.pad_top, tap / filter_w, d.dilation_y);
                    let x = start(column, d.stride_x, d.pad_left, tap % filter_w, d.dilation_x);
                    let value = bilinear(image, height, width, y + shift(0), x + shift(1));
                    let factor = match mask.is_empty() {
                        true => 1.0,
                        false => mask[of_tap * plane_len + at],
                    };
                    sum += value * factor * weights[(channel * in_group + i) * taps + tap];
                }
            }
            *out = sum;
        }
        Ok(())
    })
}

/// The value at a position, with 0 outside.
fn bilinear(image: &[f32], height: usize, width: usize, y: f32, x: f32) -> f32 {
    let (top, left) = (y.floor(), x.floor());
    let (from_top, from_left) = (y - top, x - left);
    let at = |y: f32, x: f32| {
        let inside = |at: f32, size: usize| at >= 0.0 && at < size as f32;
        match inside(y, height) && inside(x, width) {
            true => image[y as usize * width + x as usize],
            false => 0.0,
        }
    };
    if !from_top.is_finite() || !from_left.is_finite() {
        return 0.0;
    }
    (1.0 - from_top) * ((1.0 - from_left) * at(top, left) + from_left * at(top, left + 1.0))
        + from_top
            * ((1.0 - from_left) * at(top + 1.0, left) + from_left * at(top + 1.0, left + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, sample_values};

    #[test]
    fn filter_elements_are_shifted_and_weighted() {
        let values = sample_values(300);
        let d = DeformConvDescriptor {
            groups: 2,
            offset_groups: 2,
            ..DeformConvDescriptor::new()
        };
        let call = Call::new(d)
            .input(f32s([1, 2, 3, 3], &values[..18]))
            .input(f32s([2, 1, 2, 2], &values[40..48]))
            .input(f32s([1, 16, 2, 2], &values[100..164]))
            .input(f32s([2], &[0.5, -0.5]))
            .input(f32s([1, 8, 2, 2], &values[200..232]))
            .output(DataType::Float32, [1, 2, 2, 2]);
        // Computed by ONNX Runtime 1.32 from the same numbers.
        let expected = [
            0.646067, 0.426151, 0.499836, 0.356954, -0.439570, -0.554255, -0.205499, -0.519101,
        ];
        assert_close(&call.run().f32s(), &expected, 2e-6);
    }
}
