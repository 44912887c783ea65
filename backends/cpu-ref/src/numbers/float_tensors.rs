//! Layers with several tensors of real numbers, beside others: while the layer is computed they are
//! Float32, whatever their types.

use armnn_backend_api::{BackendError, LayerView, Result, Workload, cast_slice_mut};
use half::{bf16, f16};

use crate::{
    numbers::{element_type::Number, stored_numbers::Stored},
    workloads::{
        layer_checks::{input_role, invalid, num_elements, output_role},
        workload_function::{Call, workload_function},
    },
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

macro_rules! halves {
    ($($T:ty)*) => {$(
        impl Real for $T {
            fn to_f64(self) -> f64 {
                self.to_f64()
            }

            fn from_f64(x: f64) -> Self {
                Self::from_f64(x)
            }
        }
    )*};
}
halves! { f16 bf16 }

/// `$body` with `$R` the [`Real`] of a data type of [`FLOATS`].
macro_rules! by_real {
    ($data_type:expr, $R:ident => $body:expr) => {
        match $data_type {
            armnn_backend_api::DataType::Float16 => {
                type $R = half::f16;
                $body
            }
            armnn_backend_api::DataType::BFloat16 => {
                type $R = half::bf16;
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

/// Makes a workload that calls `f`, with that much scratch memory. Inputs of 16 bits are widened
/// first and quantized ones dequantized; outputs are rounded once, at the end.
///
/// # Errors
/// When shapes are not known, or too large; or a tensor is quantized with several scales.
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
            continue;
        };
        let len = num_elements(layer, tensor)?;
        if let Some(stored) = Stored::of(tensor, &input_role(layer.layer_type(), position))? {
            if stored != Stored::Float32 {
                add(len);
            }
            sources.push((position, len, stored));
        }
    }
    let mut sinks = Vec::new();
    for (position, tensor) in layer.outputs().enumerate().take(MAX_OUTPUTS) {
        if !tensor.shape().is_known() {
            continue;
        }
        let role = output_role(layer.layer_type(), position);
        if let Some(stored) = Stored::of(tensor, &role)? {
            let len = num_elements(layer, tensor)?;
            add(len);
            sinks.push((position, len, stored));
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
        for &(position, len, stored) in &sources {
            tensors.inputs[position] = if stored == Stored::Float32 {
                call.input(position)?
            } else {
                let to = taken(&mut rest, len);
                stored.load(call.input_bytes(position)?, to)?;
                to
            };
        }
        for &(position, len, _) in &sinks {
            tensors.outputs[position] = taken(&mut rest, len);
        }
        f(call, &mut tensors)?;
        for &(position, len, stored) in &sinks {
            if len > 0 {
                stored.store(tensors.outputs[position], call.output_bytes(position)?)?;
            }
        }
        Ok(())
    })
}

fn misaligned() -> BackendError {
    BackendError::invalid_argument("the host's scratch memory is not aligned to numbers")
}

/// The first elements of a slice, which then is what comes after them.
pub(crate) fn taken<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(len);
    *rest = others;
    first
}
