//! DeformConv.

use armnn_backend_api::{DataType, DeformConvDescriptor, LayerView, Result, Workload};

use crate::{
    numbers::{
        float_tensors::{ScratchLen, float_function},
        real::Real,
    },
    workloads::{
        layer_checks::{REALS, dims, dims_of_rank, input, invalid, output, require_one_type},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &DeformConvDescriptor) -> Result<()> {
    require_one_type(layer, &[REALS])
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
    if output(layer, 0)?.data_type() == DataType::Float64 {
        let bytes = scratch_len.saturating_mul(size_of::<f64>());
        return workload_function(layer, bytes, move |call| {
            let mut inputs = [&[][..]; INPUTS];
            for (position, input) in inputs.iter_mut().enumerate() {
                *input = call.input::<f64>(position)?;
            }
            let scratch = call.scratch()?;
            kernel.run(inputs, scratch, call.output(0)?);
            Ok(())
        });
    }
    float_function(layer, ScratchLen::floats(scratch_len), move |_, tensors| {
        let [x, weights, offsets, bias, mask, ..] = tensors.inputs;
        let inputs = [x, weights, offsets, bias, mask];
        kernel.run(inputs, tensors.scratch, tensors.outputs[0]);
        Ok(())
    })
}

/// Image, weights, offsets, bias, mask.
const INPUTS: usize = 5;

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
    fn run<F: Real>(&self, inputs: [&[F]; INPUTS], scratch: &mut [F], out: &mut [F]) {
        let [_, weights, _, bias, _] = inputs;
        let [out_h, out_w] = self.out_sizes;
        let filter_len = self.in_group * self.filter[0] * self.filter[1];
        let out_group = self.outputs / (self.d.groups as usize);
        if out.is_empty() {
            return;
        }
        let batches = out.len() / (self.outputs * out_h * out_w);
        for batch in 0..batches {
            for row in 0..out_h {
                self.read(inputs, batch, row, scratch);
                for channel in 0..self.outputs {
                    let at = ((batch * self.outputs + channel) * out_h + row) * out_w;
                    let out = &mut out[at..][..out_w];
                    out.fill(bias.get(channel).copied().unwrap_or(F::ZERO));
                    let first = channel / out_group * filter_len;
                    let values = scratch[first * out_w..].chunks_exact(out_w);
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
    fn read<F: Real>(
        &self,
        [x, _, offset, _, mask]: [&[F]; INPUTS],
        batch: usize,
        row: usize,
        values: &mut [F],
    ) {
        let ([height, width], [out_h, out_w]) = (self.sizes, self.out_sizes);
        let d = &self.d;
        let taps = self.filter[0] * self.filter[1];
        let channels_of_offset = self.channels / (d.offset_groups as usize);
        let start = |out: usize, stride: u32, pad: u32, tap: usize, dilation: u32| {
            let number = |n: f64| F::from_f64(n);
            number(out as f64) * number(stride.into()) - number(pad.into())
                + number(tap as f64) * number(dilation.into())
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
                for (value, &factor) in values.iter_mut().zip(factors) {
                    *value = *value * factor;
                }
            }
        }
    }
}

/// The value at a position, with 0 outside.
fn bilinear<F: Real>(image: &[F], height: usize, width: usize, y: F, x: F) -> F {
    let (top, left) = (y.floor(), x.floor());
    let (from_top, from_left) = (y - top, x - left);
    let inside = |at: F, size: usize| {
        let at = at.to_f64();
        (at >= 0.0 && at < size as f64).then_some(at as usize)
    };
    let at = |y: F, x: F| match (inside(y, height), inside(x, width)) {
        (Some(y), Some(x)) => image[y * width + x],
        _ => F::ZERO,
    };
    if !from_top.is_finite() || !from_left.is_finite() {
        return F::ZERO;
    }
    let one = F::ONE;
    (one - from_top) * ((one - from_left) * at(top, left) + from_left * at(top, left + one))
        + from_top
            * ((one - from_left) * at(top + one, left) + from_left * at(top + one, left + one))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, assert_close, f32s, sample_values, typed};

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

    /// Without shifts, a filter of one element is a factor; 2^-40 is lost in Float32 beside 1.
    #[test]
    fn float64_is_computed_in_itself() {
        let one = 1.0 + (-40f64).exp2();
        let double = |shape: [i64; 4], values: &[f64]| typed(DataType::Float64, shape, values);
        let call = Call::new(DeformConvDescriptor::new())
            .input(double([1, 1, 1, 2], &[one, 2.0]))
            .input(double([1, 1, 1, 1], &[3.0]))
            .input(double([1, 2, 1, 2], &[0.0; 4]))
            .input(typed(DataType::Float64, [1], &[0.5f64]))
            .input(double([1, 1, 1, 2], &[1.0, 0.25]))
            .output(DataType::Float64, [1, 1, 1, 2]);
        assert_eq!(call.run().elements::<f64>(0), [3.0 * one + 0.5, 2.0]);
    }
}
