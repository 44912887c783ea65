//! DeformConv.

use armnn_backend_api::{DeformConvDescriptor, LayerView, Result, Workload};

use crate::{
    numbers::float_tensors::{FloatTensors, ScratchLen, float_function},
    workloads::layer_checks::{
        FLOATS, dims, dims_of_rank, input, invalid, output, require_one_type,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &DeformConvDescriptor) -> Result<()> {
    require_one_type(layer, &[FLOATS])
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
        && layer.input(2).is_some()
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
    let kernel = DeformConv {
        d: *d,
        channels,
        sizes: [height, width],
        outputs,
        in_group,
        filter: [filter_h, filter_w],
        out_sizes: [out_h, out_w],
    };
    // The values of all taps of one row of the output.
    let scratch_len = channels
        .saturating_mul(filter_h * filter_w)
        .saturating_mul(out_w);
    float_function(layer, ScratchLen::floats(scratch_len), move |_, tensors| {
        kernel.run(tensors);
        Ok(())
    })
}

struct DeformConv {
    d: DeformConvDescriptor,
    channels: usize,
    /// Rows and columns.
    sizes: [usize; 2],
    outputs: usize,
    /// Input channels of a group.
    in_group: usize,
    filter: [usize; 2],
    out_sizes: [usize; 2],
}

impl DeformConv {
    fn run(&self, tensors: &mut FloatTensors<'_>) {
        let [_, weights, _, bias, ..] = tensors.inputs;
        let [out_h, out_w] = self.out_sizes;
        let filter_len = self.in_group * self.filter[0] * self.filter[1];
        let out_group = self.outputs / (self.d.groups as usize);
        let inputs = tensors.inputs;
        let out = &mut *tensors.outputs[0];
        if out.is_empty() {
            return;
        }
        let batches = out.len() / (self.outputs * out_h * out_w);
        for batch in 0..batches {
            for row in 0..out_h {
                self.read(&inputs, batch, row, tensors.scratch);
                for channel in 0..self.outputs {
                    let at = ((batch * self.outputs + channel) * out_h + row) * out_w;
                    let out = &mut out[at..][..out_w];
                    out.fill(bias.get(channel).copied().unwrap_or(0.0));
                    let first = channel / out_group * filter_len;
                    let values = tensors.scratch[first * out_w..].chunks_exact(out_w);
                    let weights = &weights[channel * filter_len..][..filter_len];
                    for (&weight, values) in weights.iter().zip(values) {
                        for (out, &value) in out.iter_mut().zip(values) {
                            *out += weight * value;
                        }
                    }
                }
            }
        }
    }

    /// Reads the values of all taps of a row of the output: [channels, taps, columns].
    fn read(&self, inputs: &[&[f32]], batch: usize, row: usize, values: &mut [f32]) {
        let (x, offset, mask) = (inputs[0], inputs[2], inputs[4]);
        let ([height, width], [out_h, out_w]) = (self.sizes, self.out_sizes);
        let d = &self.d;
        let taps = self.filter[0] * self.filter[1];
        let channels_of_offset = self.channels / (d.offset_groups as usize);
        let start = |out: usize, stride: u32, pad: u32, tap: usize, dilation: u32| {
            out as f32 * stride as f32 - pad as f32 + tap as f32 * dilation as f32
        };
        for (i, values) in values.chunks_exact_mut(out_w).enumerate() {
            let (channel, tap) = (i / taps, i % taps);
            let image = &x[(batch * self.channels + channel) * height * width..];
            let image = &image[..height * width];
            let group = batch * d.offset_groups as usize + channel / channels_of_offset;
            let of_row = |i: usize| (i * out_h + row) * out_w;
            let of_tap = group * taps + tap;
            let shifts_y = &offset[of_row(of_tap * 2)..][..out_w];
            let shifts_x = &offset[of_row(of_tap * 2 + 1)..][..out_w];
            let tap_y = tap / self.filter[1];
            let y = start(row, d.stride_y, d.pad_top, tap_y, d.dilation_y);
            for (column, value) in values.iter_mut().enumerate() {
                let tap_x = tap % self.filter[1];
                let x = start(column, d.stride_x, d.pad_left, tap_x, d.dilation_x);
                *value = bilinear(
                    image,
                    height,
                    width,
                    y + shifts_y[column],
                    x + shifts_x[column],
                );
            }
            if !mask.is_empty() {
                let factors = &mask[of_row(of_tap)..][..out_w];
                for (value, factor) in values.iter_mut().zip(factors) {
                    *value *= factor;
                }
            }
        }
    }
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
    use armnn_backend_api::DataType;

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
