//! Pad.

use armnn_backend_api::{
    DataType, Element, ExecutionContext, Inputs, LayerView, Outputs, PadDescriptor, PaddingMode,
    Result, Shape, Synchronous, TensorView, Workload,
};
use half::{bf16, f16};

use crate::{
    cast::to_f32_odd,
    copy::{self, BoxCopy, copy_workload, element_size},
    float_workload::{input_elements, output_elements},
    layer_checks::{dims, input, invalid, num_elements, output, refusal, require_named},
    loop_nest::{LoopNest, dense_strides},
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &PadDescriptor) -> Result<()> {
    let mode = descriptor.padding_mode();
    require_named(layer, mode, mode.name())?;
    copy::check(layer)?;
    if mode == PaddingMode::Constant {
        pad_bytes(layer, output(layer, 0)?, descriptor.pad_value)?;
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
        return Err(invalid(
            layer,
            format_args!("padding {before:?} and {after:?} does not lead from {from:?} to {to:?}"),
        ));
    }
    if descriptor.padding_mode() == PaddingMode::Constant {
        let fill = pad_bytes(layer, output(layer, 0)?, descriptor.pad_value)?;
        let copies = vec![inner_copy(&from, &to, before)];
        return copy_workload(layer, copies, Some(fill));
    }
    let is_empty = to.contains(&0);
    if !is_empty && from.contains(&0) {
        return Err(invalid(
            layer,
            "an input without elements cannot be mirrored",
        ));
    }
    let repeats_border = descriptor.padding_mode() == PaddingMode::Symmetric;
    let sources = (0..if is_empty { 0 } else { to.len() })
        .map(|axis| {
            (0..to[axis] as i64)
                .map(|at| {
                    let position = i128::from(at) - i128::from(before[axis]);
                    mirrored(position, from[axis], repeats_border)
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
    Ok(match element_size(layer, output(layer, 0)?.data_type())? {
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
fn pad_bytes(layer: LayerView<'_>, tensor: TensorView<'_>, value: f64) -> Result<[u8; 8]> {
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
                    layer,
                    format_args!(
                        "padding with a value is supported for one scale and zero point; tensor \
                         \"{}\" has {}",
                        tensor.name(),
                        tensor.scales().len()
                    ),
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
            return Err(refusal(
                layer,
                format_args!("padding of type {other} with a value is not supported"),
            ));
        }
    }
    Ok(bytes)
}
