//! The workload of every layer that computes with real numbers.

use armnn_backend_api::{
    BackendError, DataType, ExecutionContext, Inputs, LayerView, MemoryRequirements, Outputs,
    Result, Status, Synchronous, TensorView, Workload, cast_slice, cast_slice_mut,
};
use half::{bf16, f16, slice::HalfBitsSliceExt, slice::HalfFloatSliceExt};

use crate::{
    numbers::{float_tensors::taken, real::Real, stored_numbers::Stored},
    workloads::layer_checks::{input_role, invalid, num_elements, output},
};

/// The most inputs that a kernel has.
pub(crate) const MAX_INPUTS: usize = 3;

/// What a layer with at most [`MAX_INPUTS`] inputs and one output does, in Float32 or Float64.
pub(crate) trait FloatKernel<F: Real = f32>: Send + Sync + 'static {
    /// Elements of scratch memory that [`run`](Self::run) needs.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Whether `run` looks at an input.
    fn reads(&self, input: usize) -> bool {
        let _ = input;
        true
    }

    /// Computes the output. Inputs that are absent or not read are empty; the others, and the
    /// output, are as long as their shapes say, and the output is not empty. Contents of `output`
    /// and `scratch` are arbitrary.
    ///
    /// # Errors
    /// The network's execution fails.
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        inputs: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()>;
}

/// Makes the workload of a layer of real numbers. Those of 16 bits are widened first, quantized
/// ones are dequantized, and the output is rounded once.
///
/// # Errors
/// When shapes are not known, or too large; or a tensor is quantized with several scales.
pub(crate) fn float_workload<K: FloatKernel>(
    layer: LayerView<'_>,
    kernel: K,
) -> Result<Box<dyn Workload>> {
    let to = output(layer, 0)?;
    let output_len = num_elements(layer, to)?;
    let output = Stored::of(to, "output")?
        .ok_or_else(|| invalid("the output stores no real numbers of at most 32 bits"))?;
    let mut scratch_len = Some(kernel.scratch_len());
    let mut add = |len: usize| scratch_len = scratch_len.and_then(|n| n.checked_add(len));
    if output != Stored::Float32 {
        add(output_len);
    }
    let mut inputs = [const { None }; MAX_INPUTS];
    for (position, slot) in inputs.iter_mut().enumerate() {
        let Some(tensor) = layer.input(position).filter(|_| kernel.reads(position)) else {
            continue;
        };
        let len = num_elements(layer, tensor)?;
        let role = input_role(layer.layer_type(), position);
        let Some(stored) = Stored::of(tensor, &role)? else {
            continue;
        };
        if stored != Stored::Float32 {
            add(len);
        }
        *slot = (len > 0).then_some((stored, len));
    }
    Ok(Box::new(FloatWorkload {
        kernel,
        inputs,
        output,
        output_len,
        scratch_len: scratch_byte_len::<f32>(scratch_len)?,
    }))
}

/// The same for a layer whose tensors may all be Float64, too, which is computed in itself.
///
/// # Errors
/// When shapes are not known, or too large.
pub(crate) fn real_workload<K: FloatKernel<f32> + FloatKernel<f64>>(
    layer: LayerView<'_>,
    kernel: K,
) -> Result<Box<dyn Workload>> {
    if output(layer, 0)?.data_type() != DataType::Float64 {
        return float_workload(layer, kernel);
    }
    let mut input_lens = [0; MAX_INPUTS];
    for (position, len) in input_lens.iter_mut().enumerate() {
        if let Some(tensor) = layer.input(position) {
            *len = num_elements(layer, tensor)?;
        }
    }
    let scratch_len = FloatKernel::<f64>::scratch_len(&kernel);
    Ok(Box::new(DoubleWorkload {
        kernel,
        input_lens,
        output_len: num_elements(layer, output(layer, 0)?)?,
        scratch_len: scratch_byte_len::<f64>(Some(scratch_len))?,
    }))
}

/// Bytes of so many elements; `None` stands for too many.
fn scratch_byte_len<F>(elements: Option<usize>) -> Result<usize> {
    elements
        .and_then(|n| n.checked_mul(size_of::<F>()))
        .filter(|&n| n <= isize::MAX as usize)
        .ok_or_else(|| {
            BackendError::with_status(
                Status::OutOfMemory,
                invalid("its tensors are too large to compute with").message(),
            )
        })
}

/// The elements of a constant of type Float32, Float16 or BFloat16; `None` if it is none, or was released.
pub(crate) fn float_constant(tensor: TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = tensor.constant()?;
    match tensor.data_type() {
        DataType::Float32 => cast_slice::<f32>(bytes).map(<[f32]>::to_vec),
        DataType::Float16 => cast_slice::<u16>(bytes)
            .map(|bits| HalfBitsSliceExt::reinterpret_cast::<f16>(bits).to_f32_vec()),
        DataType::BFloat16 => cast_slice::<u16>(bytes)
            .map(|bits| HalfBitsSliceExt::reinterpret_cast::<bf16>(bits).to_f32_vec()),
        _ => None,
    }
}

struct FloatWorkload<K> {
    kernel: K,
    /// Of those that are read and not empty: how they are stored, and elements.
    inputs: [Option<(Stored, usize)>; MAX_INPUTS],
    output: Stored,
    output_len: usize,
    scratch_len: usize,
}

impl<K: FloatKernel> Workload for FloatWorkload<K> {
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements {
            scratch_len: self.scratch_len,
            ..MemoryRequirements::default()
        })
    }

    fn execute(
        &self,
        context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        if self.output_len == 0 {
            return Ok(());
        }
        let mut scratch = scratch::<f32>(context, self.scratch_len)?;
        let mut floats: [&[f32]; MAX_INPUTS] = [&[]; MAX_INPUTS];
        for (position, slot) in floats.iter_mut().enumerate() {
            *slot = match self.inputs[position] {
                None => continue,
                Some((Stored::Float32, len)) => input_elements(inputs, position, len)?,
                Some((stored, len)) => {
                    let widened = taken(&mut scratch, len);
                    stored.load(inputs.elements(position)?, widened)?;
                    widened
                }
            };
        }
        if self.output == Stored::Float32 {
            let output = output_elements(outputs, 0, self.output_len)?;
            return self.kernel.run(context, scratch, floats, output);
        }
        let wide = taken(&mut scratch, self.output_len);
        self.kernel.run(context, scratch, floats, wide)?;
        self.output.store(wide, outputs.elements_mut(0)?)
    }
}

struct DoubleWorkload<K> {
    kernel: K,
    input_lens: [usize; MAX_INPUTS],
    output_len: usize,
    scratch_len: usize,
}

impl<K: FloatKernel<f64>> Workload for DoubleWorkload<K> {
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements {
            scratch_len: self.scratch_len,
            ..MemoryRequirements::default()
        })
    }

    fn execute(
        &self,
        context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        if self.output_len == 0 {
            return Ok(());
        }
        let scratch = scratch::<f64>(context, self.scratch_len)?;
        let mut doubles: [&[f64]; MAX_INPUTS] = [&[]; MAX_INPUTS];
        for (i, slot) in doubles.iter_mut().enumerate() {
            if self.input_lens[i] > 0 && self.kernel.reads(i) {
                *slot = input_elements(inputs, i, self.input_lens[i])?;
            }
        }
        let output = output_elements(outputs, 0, self.output_len)?;
        self.kernel.run(context, scratch, doubles, output)
    }
}

/// Takes the scratch memory that the workload asked for.
///
/// # Errors
/// When the host gave less.
pub(crate) fn scratch<'a, T: armnn_backend_api::Element>(
    context: &mut ExecutionContext<'a, Synchronous>,
    byte_len: usize,
) -> Result<&'a mut [T]> {
    context
        .take_scratch()
        .get_mut(..byte_len)
        .and_then(cast_slice_mut)
        .ok_or_else(|| {
            BackendError::invalid_argument(format!(
                "the host gave less than the {byte_len} bytes of scratch memory asked for"
            ))
        })
}

/// The elements of an input, of which there must be `len`.
pub(crate) fn input_elements<'a, T: armnn_backend_api::Element>(
    inputs: Inputs<'a>,
    position: usize,
    len: usize,
) -> Result<&'a [T]> {
    let elements = inputs.elements::<T>(position)?;
    check_len("input", position, elements.len(), len)?;
    Ok(elements)
}

/// The elements of an output, of which there must be `len`.
pub(crate) fn output_elements<'a, T: armnn_backend_api::Element>(
    outputs: &'a mut Outputs<'_>,
    position: usize,
    len: usize,
) -> Result<&'a mut [T]> {
    let elements = outputs.elements_mut::<T>(position)?;
    check_len("output", position, elements.len(), len)?;
    Ok(elements)
}

fn check_len(direction: &str, position: usize, found: usize, compiled: usize) -> Result<()> {
    if found == compiled {
        return Ok(());
    }
    Err(BackendError::invalid_argument(format!(
        "{direction} {position} has {found} elements; the workload was compiled for {compiled}"
    )))
}
