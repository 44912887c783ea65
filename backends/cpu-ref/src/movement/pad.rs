//! Pad.

use armnn_backend_api::{
    DataType, Element, ExecutionContext, Inputs, LayerView, Outputs, PadDescriptor, PaddingMode,
    Result, Shape, Synchronous, TensorView, Workload,
};
use half::{bf16, f16};

use crate::{
    conversion::cast::to_f32_odd,
    loops::loop_nest::{LoopNest, dense_strides},
    workloads::{
        copy::{self, BoxCopy, copy_workload, element_size},
        float_workload::{input_elements, output_elements},
        layer_checks::{dims, input, invalid, num_elements, output, refusal, require_named},
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &PadDescriptor) -> Result<()> {
    let mode = descriptor.padding_mode();
    require_named(mode, mode.name())?;
    copy::check(layer)?;
    element_size(output(layer, 0)?.data_type())?;
    if mode == PaddingMode::Constant {
        pad_bytes(output(layer, 0)?, descriptor.pad_value)?;
    }
    Ok(())
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &PadDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let (before, after) = (descriptor.before(), descriptor.after());
    let fits = from.len() == to.len()
        && from.len() == before.len()
        && (0..from.len()).all(|i| {
            let padded = (from[i] as i64).checked_add(before[i]);
            padded.and_then(|n| n.checked_add(after[i])) == Some(to[i] as i64)
        });
    if !fits {
        return Err(invalid(format_args!(
            "padding {before:?} and {after:?} does not lead from {from:?} to {to:?}"
        )));
    }
    if descriptor.padding_mode() == PaddingMode::Constant {
        let fill = pad_bytes(output(layer, 0)?, descriptor.pad_value)?;
        let copies = vec![inner_copy(&from, &to, before)];
        return copy_workload(layer, copies, Some(fill));
    }
    let is_empty = to.contains(&0);
    if !is_empty && from.contains(&0) {
        return Err(invalid("an input without elements cannot be mirrored"));
    }
    let mode = descriptor.padding_mode();
    let sources = (0..if is_empty { 0 } else { to.len() })
        .map(|axis| {
            (0..to[axis] as i64)
                .map(|at| {
                    let position = i128::from(at) - i128::from(before[axis]);
                    source(mode, position, from[axis])
                })
                .collect()
        })
        .collect();
    let plan = MirrorPlan {
        input_len: num_elements(layer, input(layer, 0)?)?,
        output_len: num_elements(layer, output(layer, 0)?)?,
        sources,
        strides: dense_strides(&from).iter().map(|&s| s as usize).collect(),
    };
    Ok(match element_size(output(layer, 0)?.data_type())? {
        1 => Box::new(MirrorWorkload::<u8>::new(plan)),
        2 => Box::new(MirrorWorkload::<u16>::new(plan)),
        4 => Box::new(MirrorWorkload::<u32>::new(plan)),
        _ => Box::new(MirrorWorkload::<u64>::new(plan)),
    })
}

/// Copies what of the input is still there; where padding is below 0, elements fall away.
fn inner_copy(from: &[usize], to: &[usize], before: &[i64]) -> BoxCopy {
    let mut sizes = vec![0; from.len()];
    let (mut start_from, mut start_to) = (0usize, 0usize);
    let (strides_from, strides_to) = (dense_strides(from), dense_strides(to));
    for axis in 0..from.len() {
        let skipped_from = usize::try_from(before[axis].saturating_neg()).unwrap_or(0);
        let skipped_to = usize::try_from(before[axis]).unwrap_or(0);
        sizes[axis] = from[axis]
            .saturating_sub(skipped_from)
            .min(to[axis].saturating_sub(skipped_to));
        if sizes[axis] > 0 {
            start_from += skipped_from * strides_from[axis] as usize;
            start_to += skipped_to * strides_to[axis] as usize;
        }
    }
    BoxCopy {
        input: 0,
        output: 0,
        nest: LoopNest::new(&sizes, [&strides_from, &strides_to], [start_from, start_to]),
    }
}

/// Which element of `len` (not 0) stands at a position outside.
fn source(mode: PaddingMode, position: i128, len: usize) -> usize {
    let last = len as i128 - 1;
    match mode {
        PaddingMode::Edge => position.clamp(0, last) as usize,
        PaddingMode::Wrap => position.rem_euclid(last + 1) as usize,
        _ => mirrored(position, len, mode == PaddingMode::Symmetric),
    }
}

/// Which element of `len` (not 0) stands at a position outside, when they are mirrored at both
/// ends, over and over.
fn mirrored(position: i128, len: usize, repeats_border: bool) -> usize {
    let len = len as i128;
    // Reflect:   … 2 1 0 1 2 1 0 …: a period of 2 (len - 1).
    // Symmetric: … 1 0 0 1 2 2 1 …: a period of 2 len.
    let period = if repeats_border {
        2 * len
    } else {
        2 * (len - 1)
    };
    if period == 0 {
        return 0;
    }
    let at = position.rem_euclid(period);
    let at = if at < len {
        at
    } else if repeats_border {
        period - 1 - at
    } else {
        period - at
    };
    at as usize
}

struct MirrorPlan {
    input_len: usize,
    output_len: usize,
    /// For each axis and each index along it in the output, the index in the input.
    sources: Vec<Vec<usize>>,
    /// Strides of the input.
    strides: Vec<usize>,
}

struct MirrorWorkload<T> {
    plan: MirrorPlan,
    element: std::marker::PhantomData<T>,
}

impl<T> MirrorWorkload<T> {
    fn new(plan: MirrorPlan) -> Self {
        Self {
            plan,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Element> Workload for MirrorWorkload<T> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let from = input_elements::<T>(inputs, 0, self.plan.input_len)?;
        let to = output_elements::<T>(outputs, 0, self.plan.output_len)?;
        if !to.is_empty() {
            mirror(&self.plan, from, to);
        }
        Ok(())
    }
}

fn mirror<T: Copy>(plan: &MirrorPlan, from: &[T], to: &mut [T]) {
    let Some((last, outer)) = plan.sources.split_last() else {
        to.copy_from_slice(from);
        return;
    };
    let mut counters = [0; Shape::MAX_RANK];
    for row in to.chunks_exact_mut(last.len()) {
        let start: usize = outer
            .iter()
            .zip(&counters)
            .zip(&plan.strides)
            .map(|((sources, &i), &stride)| sources[i] * stride)
            .sum();
        for (to, &source) in row.iter_mut().zip(last) {
            *to = from[start + source];
        }
        for axis in (0..outer.len()).rev() {
            counters[axis] += 1;
            if counters[axis] < outer[axis].len() {
                break;
            }
            counters[axis] = 0;
        }
    }
}

/// A value as an element of a tensor, in the first bytes; saturates.
///
/// # Errors
/// A refusal when the tensor's type has no such value, or is quantized along an axis.
pub(crate) fn pad_bytes(tensor: TensorView<'_>, value: f64) -> Result<[u8; 8]> {
    let mut bytes = [0; 8];
    let mut put = |element: &[u8]| bytes[..element.len()].copy_from_slice(element);
    match tensor.data_type() {
        DataType::Float64 => put(&value.to_ne_bytes()),
        DataType::Float32 => put(&(value as f32).to_ne_bytes()),
        DataType::Float16 => put(&f16::from_f32(to_f32_odd(value)).to_ne_bytes()),
        DataType::BFloat16 => put(&bf16::from_f32(to_f32_odd(value)).to_ne_bytes()),
        DataType::Signed64 => put(&(value as i64).to_ne_bytes()),
        DataType::Signed32 => put(&(value as i32).to_ne_bytes()),
        DataType::Int16 => put(&(value as i16).to_ne_bytes()),
        DataType::Int8 => put(&(value as i8).to_ne_bytes()),
        DataType::UInt64 => put(&(value as u64).to_ne_bytes()),
        DataType::UInt32 => put(&(value as u32).to_ne_bytes()),
        DataType::UInt16 => put(&(value as u16).to_ne_bytes()),
        DataType::UInt8 => put(&(value as u8).to_ne_bytes()),
        DataType::Boolean => put(&[u8::from(value != 0.0)]),
        quantized if quantized.is_quantized() => {
            let (&[scale], &[zero_point]) = (tensor.scales(), tensor.zero_points()) else {
                return Err(refusal(
                    "padding with a value is supported for one scale and zero point, not for \
                     several",
                ));
            };
            let number = (value / f64::from(scale)).round() + f64::from(zero_point);
            match quantized {
                DataType::QAsymmU8 => put(&(number as u8).to_ne_bytes()),
                DataType::QSymmS16 => put(&(number as i16).to_ne_bytes()),
                _ => put(&(number as i8).to_ne_bytes()),
            }
        }
        other => {
            return Err(refusal(format_args!(
                "padding of type {other} with a value is not supported"
            )));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Quantization, TensorInfo};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f32s, typed};

    fn padded(
        mode: PaddingMode,
        value: f64,
        [before, after]: [&[i64]; 2],
        input: Tensor,
        out: &[i64],
    ) -> Call {
        let data_type = input.info.data_type;
        Call::new(PadDescriptor::new(mode, value, before, after).unwrap())
            .input(input)
            .output(data_type, Shape::new(out).unwrap())
    }

    #[test]
    fn a_value_is_put_around() {
        let input = f32s([2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let call = padded(
            PaddingMode::Constant,
            9.0,
            [&[1, 0], &[0, 2]],
            input,
            &[3, 4],
        );
        let expected = [9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 9.0, 9.0, 3.0, 4.0, 9.0, 9.0];
        assert_eq!(call.run().f32s(), expected);
    }

    #[test]
    fn padding_below_zero_takes_elements_away() {
        let input = f32s([4], &[1.0, 2.0, 3.0, 4.0]);
        let call = padded(
            PaddingMode::Constant,
            9.0,
            [&[-1], &[1]],
            input.clone(),
            &[4],
        );
        assert_eq!(call.run().f32s(), [2.0, 3.0, 4.0, 9.0]);
        let call = padded(
            PaddingMode::Constant,
            9.0,
            [&[3], &[-2]],
            input.clone(),
            &[5],
        );
        assert_eq!(call.run().f32s(), [9.0, 9.0, 9.0, 1.0, 2.0]);
        let call = padded(PaddingMode::Constant, 9.0, [&[-6], &[4]], input, &[2]);
        assert_eq!(call.run().f32s(), [9.0, 9.0]);
    }

    #[test]
    fn mirrored_padding_repeats_the_border_or_does_not() {
        let input = f32s([3], &[1.0, 2.0, 3.0]);
        let call = padded(PaddingMode::Reflect, 0.0, [&[2], &[2]], input.clone(), &[7]);
        assert_eq!(call.run().f32s(), [3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0]);
        let call = padded(PaddingMode::Symmetric, 0.0, [&[2], &[3]], input, &[8]);
        assert_eq!(call.run().f32s(), [2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0]);
    }

    #[test]
    fn several_dimensions_are_mirrored_independently() {
        let input = f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let call = padded(
            PaddingMode::Reflect,
            0.0,
            [&[1, 1], &[0, 0]],
            input.clone(),
            &[3, 4],
        );
        let expected = [5.0, 4.0, 5.0, 6.0, 2.0, 1.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0];
        assert_eq!(call.run().f32s(), expected);
        let call = padded(
            PaddingMode::Symmetric,
            0.0,
            [&[0, 0], &[1, 1]],
            input,
            &[3, 4],
        );
        let expected = [1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 6.0, 4.0, 5.0, 6.0, 6.0];
        assert_eq!(call.run().f32s(), expected);
    }

    #[test]
    fn the_value_is_one_of_the_type() {
        let ints = typed(DataType::Signed32, [1], &[7i32]);
        let call = padded(PaddingMode::Constant, -3.0, [&[1], &[0]], ints, &[2]);
        assert_eq!(call.run().elements::<i32>(0), [-3, 7]);
        let wide = typed(DataType::Float64, [1], &[7.0f64]);
        let call = padded(PaddingMode::Constant, 0.1, [&[1], &[0]], wide, &[2]);
        assert_eq!(call.run().elements::<f64>(0), [0.1, 7.0]);
        // 1 / 0.5 + 10 = 12.
        let quantization = Quantization::per_tensor(0.5, 10);
        let call = Call::new(PadDescriptor::new(PaddingMode::Constant, 1.0, &[0], &[1]).unwrap())
            .input(typed(DataType::QAsymmU8, [1], &[3u8]).quantized(quantization.clone()))
            .output_info(TensorInfo::new(DataType::QAsymmU8, [2]).quantized(quantization));
        assert_eq!(call.run().elements::<u8>(0), [3, 12]);
    }

    #[test]
    fn a_scalar_and_empty_tensors_are_fine() {
        for mode in [PaddingMode::Constant, PaddingMode::Symmetric] {
            let scalar = f32s(Shape::SCALAR, &[5.0]);
            assert_eq!(
                padded(mode, 1.0, [&[], &[]], scalar, &[]).run().f32s(),
                [5.0]
            );
        }
        let call = padded(
            PaddingMode::Constant,
            1.0,
            [&[1], &[1]],
            f32s([0], &[]),
            &[2],
        );
        assert_eq!(call.run().f32s(), [1.0, 1.0]);
        let call = padded(
            PaddingMode::Symmetric,
            0.0,
            [&[1], &[1]],
            f32s([0], &[]),
            &[2],
        );
        assert!(call.error().contains("cannot be mirrored"));
    }

    #[test]
    fn what_does_not_fit_is_refused_or_an_error() {
        let float8 = typed(DataType::Float8E5M2, [1], &[0u8]);
        let call = padded(
            PaddingMode::Constant,
            1.0,
            [&[1], &[0]],
            float8.clone(),
            &[2],
        );
        assert_refused(&call, &["Float8E5M2"]);
        let call = padded(PaddingMode::Symmetric, 0.0, [&[1], &[0]], float8, &[2]);
        assert_eq!(call.run().elements::<u8>(0), [0, 0]);
        let extreme = [&[i64::MAX][..], &[i64::MAX]];
        let call = padded(PaddingMode::Constant, 0.0, extreme, f32s([1], &[0.0]), &[1]);
        assert!(call.error().contains("does not lead"));
    }

    #[test]
    fn borders_are_repeated_or_ends_joined() {
        for (mode, expected) in [
            (
                PaddingMode::Edge,
                [1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0],
            ),
            (
                PaddingMode::Wrap,
                [2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0],
            ),
        ] {
            let d = PadDescriptor::new(mode, 0.0, &[2], &[4]).unwrap();
            let call = Call::new(d)
                .input(f32s([3], &[1.0, 2.0, 3.0]))
                .output(DataType::Float32, [9]);
            assert_eq!(call.run().f32s(), expected, "{mode}");
        }
    }
}
