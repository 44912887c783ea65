//! Workloads that are a function of their tensors.

use armnn_backend_api::{
    DataType, Element, ExecutionContext, Inputs, LayerView, MemoryRequirements, Outputs, Result,
    Shape, Synchronous, Workload,
};

use crate::{
    numbers::element_type::{Indices, IndicesMut},
    workloads::{
        float_workload::{input_elements, output_elements, scratch},
        layer_checks::{invalid, num_elements},
    },
};

/// Makes a workload that calls `f`, with `scratch_byte_len` bytes of scratch memory.
///
/// # Errors
/// When the shape of an input is not known, or the scratch memory is too large.
pub(crate) fn workload_function<F>(
    layer: LayerView<'_>,
    scratch_byte_len: usize,
    f: F,
) -> Result<Box<dyn Workload>>
where
    F: Fn(&mut Call<'_, '_, '_, '_>) -> Result<()> + Send + Sync + 'static,
{
    let n_inputs = layer.input_indices().len();
    let input_lens = (0..n_inputs)
        .map(|i| layer.input(i).map_or(Ok(0), |t| num_elements(layer, t)))
        .collect::<Result<_>>()?;
    let output_lens = layer
        .outputs()
        .map(|tensor| match tensor.shape().is_known() {
            true => num_elements(layer, tensor).map(Some),
            false => Ok(None),
        })
        .collect::<Result<_>>()?;
    if scratch_byte_len > isize::MAX as usize {
        return Err(invalid("its tensors are too large to compute with"));
    }
    Ok(Box::new(WorkloadFunction {
        f,
        input_lens,
        output_lens,
        scratch_byte_len,
    }))
}

struct WorkloadFunction<F> {
    f: F,
    input_lens: Vec<usize>,
    /// `None` where the size depends on data.
    output_lens: Vec<Option<usize>>,
    scratch_byte_len: usize,
}

impl<F> Workload for WorkloadFunction<F>
where
    F: Fn(&mut Call<'_, '_, '_, '_>) -> Result<()> + Send + Sync + 'static,
{
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements {
            scratch_len: self.scratch_byte_len,
            ..MemoryRequirements::default()
        })
    }

    fn execute(
        &self,
        context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        (self.f)(&mut Call {
            context,
            inputs,
            outputs,
            input_lens: &self.input_lens,
            output_lens: &self.output_lens,
            scratch_byte_len: self.scratch_byte_len,
        })
    }
}

/// The tensors of one call.
pub(crate) struct Call<'c, 'x, 'i, 'o> {
    context: &'c mut ExecutionContext<'x, Synchronous>,
    inputs: Inputs<'i>,
    outputs: &'c mut Outputs<'o>,
    input_lens: &'c [usize],
    output_lens: &'c [Option<usize>],
    scratch_byte_len: usize,
}

impl<'x, 'i> Call<'_, 'x, 'i, '_> {
    /// The elements of an input, as many as its shape says; none of an absent one.
    pub(crate) fn input<T: Element>(&self, position: usize) -> Result<&'i [T]> {
        match self.input_lens.get(position) {
            Some(&len) if len > 0 => input_elements(self.inputs, position, len),
            _ => Ok(&[]),
        }
    }

    /// The elements of an output, as many as its shape says, or as were allocated. What they hold
    /// is arbitrary.
    pub(crate) fn output<T: Element>(&mut self, position: usize) -> Result<&mut [T]> {
        match self.output_lens.get(position).copied().flatten() {
            Some(0) => Ok(&mut []),
            Some(len) => output_elements(self.outputs, position, len),
            None => self.outputs.elements_mut(position),
        }
    }

    /// The indices of an input of this type.
    pub(crate) fn indices(&self, position: usize, data_type: DataType) -> Result<Indices<'i>> {
        Ok(match data_type {
            DataType::Signed32 => Indices::Signed32(self.input(position)?),
            _ => Indices::Signed64(self.input(position)?),
        })
    }

    /// An output of indices of this type.
    pub(crate) fn indices_mut(
        &mut self,
        position: usize,
        data_type: DataType,
    ) -> Result<IndicesMut<'_>> {
        Ok(match data_type {
            DataType::Signed32 => IndicesMut::Signed32(self.output(position)?),
            _ => IndicesMut::Signed64(self.output(position)?),
        })
    }

    /// The bytes of an input.
    pub(crate) fn input_bytes(&self, position: usize) -> Result<&'i [u8]> {
        match self.input_lens.get(position) {
            Some(&len) if len > 0 => self.inputs.elements(position),
            _ => Ok(&[]),
        }
    }

    /// The bytes of an output.
    pub(crate) fn output_bytes(&mut self, position: usize) -> Result<&mut [u8]> {
        self.outputs.elements_mut(position)
    }

    /// Gives an output whose shape was not known its shape. One whose shape was known must have
    /// that.
    ///
    /// # Errors
    /// When the host has no memory, or the shape is another one.
    pub(crate) fn allocate<T: Element>(
        &mut self,
        position: usize,
        dims: &[usize],
    ) -> Result<&mut [T]> {
        self.give_shape(position, dims)?;
        match dims.contains(&0) {
            true => Ok(&mut []),
            false => self.outputs.elements_mut(position),
        }
    }

    /// The same, for the bytes of the output.
    pub(crate) fn allocate_bytes(&mut self, position: usize, dims: &[usize]) -> Result<&mut [u8]> {
        self.allocate(position, dims)
    }

    fn give_shape(&mut self, position: usize, dims: &[usize]) -> Result<()> {
        let mut shape = [0; Shape::MAX_RANK];
        for (to, &dim) in shape.iter_mut().zip(dims) {
            *to = dim as i64;
        }
        let shape = Shape::new(shape.get(..dims.len()).unwrap_or(&shape)).map_err(invalid)?;
        if self.output_lens.get(position).copied().flatten().is_none() {
            self.context.allocate_output(position as u32, &shape)?;
        } else if self.outputs.shape(position) != shape {
            return Err(invalid(format_args!(
                "output {position} is of shape {}, but the data lead to {shape}",
                self.outputs.shape(position)
            )));
        }
        Ok(())
    }

    /// The scratch memory, once.
    pub(crate) fn scratch<T: Element>(&mut self) -> Result<&'x mut [T]> {
        scratch(self.context, self.scratch_byte_len)
    }
}
