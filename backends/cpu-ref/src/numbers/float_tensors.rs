//! Layers with several tensors of real numbers, beside others: while the layer is computed they are
//! Float32, whatever their types, unless they are Float64.

use armnn_backend_api::{
    BackendError, DataType, LayerView, Result, TensorView, Workload, cast_slice_mut,
};
use half::{bf16, f16};

use crate::{
    numbers::{
        element_type::Number,
        stored_numbers::{Stored, elements, elements_mut},
    },
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

impl Real for f64 {
    fn to_f64(self) -> f64 {
        self
    }

    fn from_f64(x: f64) -> Self {
        x
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

/// `$body` with `$R` the [`Real`] of a data type of [`REALS`](crate::workloads::layer_checks::REALS).
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
            armnn_backend_api::DataType::Float64 => {
                type $R = f64;
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

/// What real numbers are while a layer is computed.
pub(crate) trait Computed: crate::numbers::real::Real {
    /// How a tensor stores such numbers.
    type Kind: Copy + PartialEq + Send + Sync + 'static;
    /// As they are computed with.
    const SAME: Self::Kind;

    /// `None` for a tensor that holds no such numbers.
    fn stored(tensor: TensorView<'_>, role: &str) -> Result<Option<Self::Kind>>;

    /// The numbers of a tensor's bytes, as many as `to` is long.
    fn load_all(stored: Self::Kind, bytes: &[u8], to: &mut [Self]) -> Result<()>;

    /// Writes numbers to a tensor's bytes.
    fn store_all(stored: Self::Kind, from: &[Self], bytes: &mut [u8]) -> Result<()>;
}

impl Computed for f32 {
    type Kind = Stored;
    const SAME: Stored = Stored::Float32;

    fn stored(tensor: TensorView<'_>, role: &str) -> Result<Option<Stored>> {
        Stored::of(tensor, role)
    }

    fn load_all(stored: Stored, bytes: &[u8], to: &mut [Self]) -> Result<()> {
        stored.load(bytes, to)
    }

    fn store_all(stored: Stored, from: &[Self], bytes: &mut [u8]) -> Result<()> {
        stored.store(from, bytes)
    }
}

impl Computed for f64 {
    type Kind = ();
    const SAME: () = ();

    fn stored(tensor: TensorView<'_>, _role: &str) -> Result<Option<()>> {
        Ok((tensor.data_type() == DataType::Float64).then_some(()))
    }

    fn load_all((): (), bytes: &[u8], to: &mut [Self]) -> Result<()> {
        to.copy_from_slice(elements(bytes, to.len())?);
        Ok(())
    }

    fn store_all((): (), from: &[Self], bytes: &mut [u8]) -> Result<()> {
        elements_mut(bytes, from.len())?.copy_from_slice(from);
        Ok(())
    }
}

/// The tensors of one call.
pub(crate) struct FloatTensors<'a, R = f32> {
    /// By the position of the input, as long as their shapes say; empty where there is none, or no
    /// real numbers are in it.
    pub(crate) inputs: [&'a [R]; MAX_INPUTS],
    /// By the position of the output, of those with real numbers whose shape was known; the others
    /// are empty. What they hold is arbitrary.
    pub(crate) outputs: [&'a mut [R]; MAX_OUTPUTS],
    /// As long as was asked for. What it holds is arbitrary.
    pub(crate) scratch: &'a mut [R],
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
    real_function::<f32, F>(layer, scratch_len, f)
}

/// The same with real numbers of one type or the other: f64 for a layer of Float64.
///
/// # Errors
/// When shapes are not known, or too large; or a tensor is quantized with several scales.
pub(crate) fn real_function<R: Computed, F>(
    layer: LayerView<'_>,
    scratch_len: ScratchLen,
    f: F,
) -> Result<Box<dyn Workload>>
where
    F: Fn(&mut Call<'_, '_, '_, '_>, &mut FloatTensors<'_, R>) -> Result<()>
        + Send
        + Sync
        + 'static,
{
    let mut total = Some(scratch_len.floats);
    let mut add = |len: usize| total = total.and_then(|n| n.checked_add(len));
    let n_inputs = layer.input_indices().len();
    let mut sources = Vec::with_capacity(n_inputs);
    for position in 0..n_inputs.min(MAX_INPUTS) {
        let Some(tensor) = layer.input(position) else {
            continue;
        };
        let len = num_elements(layer, tensor)?;
        if let Some(stored) = R::stored(tensor, &input_role(layer.layer_type(), position))? {
            if stored != R::SAME {
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
        if let Some(stored) = R::stored(tensor, &role)? {
            let len = num_elements(layer, tensor)?;
            add(len);
            sinks.push((position, len, stored));
        }
    }
    let bytes = total
        .and_then(|n| n.checked_mul(size_of::<R>()))
        .and_then(|n| n.checked_add(scratch_len.indices.checked_mul(size_of::<u32>())?))
        .ok_or_else(|| invalid("its tensors are too large to compute with"))?;
    workload_function(layer, bytes, move |call| {
        let bytes = call.scratch::<u8>()?;
        // Indices come last, so that all is aligned.
        let n_floats = bytes.len() - scratch_len.indices * size_of::<u32>();
        let (floats, indices) = bytes.split_at_mut(n_floats);
        let mut rest = cast_slice_mut::<R>(floats).ok_or_else(misaligned)?;
        let mut tensors = FloatTensors {
            inputs: [&[]; MAX_INPUTS],
            outputs: Default::default(),
            scratch: taken(&mut rest, scratch_len.floats),
            index_scratch: cast_slice_mut(indices).ok_or_else(misaligned)?,
        };
        for &(position, len, stored) in &sources {
            tensors.inputs[position] = if stored == R::SAME {
                call.input(position)?
            } else {
                let to = taken(&mut rest, len);
                R::load_all(stored, call.input_bytes(position)?, to)?;
                to
            };
        }
        for &(position, len, _) in &sinks {
            tensors.outputs[position] = taken(&mut rest, len);
        }
        f(call, &mut tensors)?;
        for &(position, len, stored) in &sinks {
            if len > 0 {
                R::store_all(
                    stored,
                    tensors.outputs[position],
                    call.output_bytes(position)?,
                )?;
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
