//! Layers with several tensors of real numbers, beside others: while the layer is computed they are
//! Float32, whatever their types.

use armnn_backend_api::{
    BackendError, DataType, LayerView, Result, TensorView, Workload, cast_slice_mut,
};
use half::{
    f16,
    slice::{HalfBitsSliceExt, HalfFloatSliceExt},
};

use crate::{
    element_type::Number,
    layer_checks::{FLOATS, input_role, invalid, num_elements},
    quantized_arithmetic::{Affine, QuantizedElement, by_quantized_type},
    workload_function::{Call, workload_function},
};

/// A floating-point number that is computed with in Float64.
pub(crate) trait Real: Number {
    fn to_f64(self) -> f64;

    /// To nearest, ties to even.
    fn from_f64(x: f64) -> Self;
}

impl Real for f32 {
    fn to_f64(self) -> f64 {
        self.into()
    }

    fn from_f64(x: f64) -> Self {
        x as Self
    }
}

impl Real for f16 {
    fn to_f64(self) -> f64 {
        self.to_f64()
    }

    fn from_f64(x: f64) -> Self {
        Self::from_f64(x)
    }
}

/// `$body` with `$R` the [`Real`] of a data type of [`FLOATS`].
macro_rules! by_real {
    ($data_type:expr, $R:ident => $body:expr) => {
        match $data_type {
            armnn_backend_api::DataType::Float16 => {
                type $R = half::f16;
                $body
            }
            _ => {
                type $R = f32;
                $body
            }
        }
    };
}
pub(crate) use by_real;

/// The most inputs of a layer.
pub(crate) const MAX_INPUTS: usize = 24;

/// The most outputs of a layer.
pub(crate) const MAX_OUTPUTS: usize = 4;

/// The tensors of one call.
pub(crate) struct FloatTensors<'a> {
    /// By the position of the input, as long as their shapes say; empty where there is none, or no
    /// real numbers are in it.
    pub(crate) inputs: [&'a [f32]; MAX_INPUTS],
    /// By the position of the output, of those with real numbers whose shape was known; the others
    /// are empty. What they hold is arbitrary.
    pub(crate) outputs: [&'a mut [f32]; MAX_OUTPUTS],
    /// As long as was asked for. What it holds is arbitrary.
    pub(crate) scratch: &'a mut [f32],
    /// So is this.
    pub(crate) index_scratch: &'a mut [u32],
}

/// Scratch memory, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScratchLen {
    pub(crate) floats: usize,
    pub(crate) indices: usize,
}

impl ScratchLen {
    /// None but floating-point numbers.
    pub(crate) fn floats(floats: usize) -> Self {
        Self { floats, indices: 0 }
    }
}

/// Makes a workload that calls `f`, with that much scratch memory. Inputs of type Float16 are widened first and quantized ones dequantized, and outputs of type Float16 are rounded
/// once, at the end.
///
/// # Errors
/// When shapes are not known, or too large; or an input is quantized with several scales.
pub(crate) fn float_function<F>(
    layer: LayerView<'_>,
    scratch_len: ScratchLen,
    f: F,
) -> Result<Box<dyn Workload>>
where
    F: Fn(&mut Call<'_, '_, '_, '_>, &mut FloatTensors<'_>) -> Result<()> + Send + Sync + 'static,
{
    let mut total = scratch_len.floats.checked_add(scratch_len.indices);
    let mut add = |len: usize| total = total.and_then(|n| n.checked_add(len));
    let n_inputs = layer.input_indices().len();
    let mut sources = Vec::with_capacity(n_inputs);
    for position in 0..n_inputs.min(MAX_INPUTS) {
        let Some(tensor) = layer.input(position) else {
            sources.push(Source::None);
            continue;
        };
        let len = num_elements(layer, tensor)?;
        let source = Source::of(tensor, &input_role(layer.layer_type(), position))?;
        if !matches!(source, Source::None | Source::Float32) {
            add(len);
        }
        sources.push(source);
    }
    let mut sinks = Vec::new();
    for (position, tensor) in layer.outputs().enumerate().take(MAX_OUTPUTS) {
        let data_type = tensor.data_type();
        if tensor.shape().is_known() && FLOATS.contains(&data_type) {
            let len = num_elements(layer, tensor)?;
            add(len);
            sinks.push((position, len, data_type == DataType::Float16));
        }
    }
    let bytes = total
        .and_then(|n| n.checked_mul(size_of::<f32>()))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, bytes, move |call| {
        let bytes = call.scratch::<u8>()?;
        let (indices, rest) = bytes.split_at_mut(scratch_len.indices * size_of::<u32>());
        let mut rest = cast_slice_mut::<f32>(rest).ok_or_else(misaligned)?;
        let mut tensors = FloatTensors {
            inputs: [&[]; MAX_INPUTS],
            outputs: Default::default(),
            scratch: taken(&mut rest, scratch_len.floats),
            index_scratch: cast_slice_mut(indices).ok_or_else(misaligned)?,
        };
        for (position, source) in sources.iter().enumerate() {
            tensors.inputs[position] = source.load(call, position, &mut rest)?;
        }
        for &(position, len, _) in &sinks {
            tensors.outputs[position] = taken(&mut rest, len);
        }
        f(call, &mut tensors)?;
        for &(position, _, is_half) in &sinks {
            let values = &*tensors.outputs[position];
            if is_half {
                let out = call.output::<u16>(position)?;
                HalfBitsSliceExt::reinterpret_cast_mut::<f16>(out).convert_from_f32_slice(values);
            } else {
                call.output::<f32>(position)?.copy_from_slice(values);
            }
        }
        Ok(())
    })
}

fn misaligned() -> BackendError {
    BackendError::invalid_argument("the host's scratch memory is not aligned to numbers")
}

/// How an input is read.
enum Source {
    None,
    Float32,
    Float16,
    Quantized(Affine, DataType),
}

impl Source {
    fn of(tensor: TensorView<'_>, role: &str) -> Result<Self> {
        Ok(match tensor.data_type() {
            DataType::Float32 => Self::Float32,
            DataType::Float16 => Self::Float16,
            other if other.is_quantized() => Self::Quantized(Affine::of(tensor, role)?, other),
            _ => Self::None,
        })
    }

    fn load<'a, 'x: 'a, 'i: 'a>(
        &self,
        call: &Call<'_, 'x, 'i, '_>,
        position: usize,
        rest: &mut &'a mut [f32],
    ) -> Result<&'a [f32]> {
        match self {
            Self::None => Ok(&[]),
            Self::Float32 => call.input(position),
            Self::Float16 => {
                let halves = call.input::<u16>(position)?;
                let to = taken(rest, halves.len());
                HalfBitsSliceExt::reinterpret_cast::<f16>(halves).convert_to_f32_slice(to);
                Ok(to)
            }
            &Self::Quantized(affine, data_type) => by_quantized_type!(data_type, Q => {
                let numbers = call.input::<Q>(position)?;
                let to = taken(rest, numbers.len());
                for (to, &number) in to.iter_mut().zip(numbers) {
                    *to = affine.dequantize(number.to_i32());
                }
                Ok(to)
            }),
        }
    }
}

/// The first elements of a slice, which then is what comes after them.
pub(crate) fn taken<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(len);
    *rest = others;
    first
}
