//! The workload of layers whose inputs have one type of elements, and whose output may have another.

use armnn_backend_api::{
    Element, ExecutionContext, Inputs, LayerView, MemoryRequirements, Outputs, Result, Synchronous,
    Workload,
};

use crate::workloads::{
    float_workload::{MAX_INPUTS, input_elements, output_elements, scratch},
    layer_checks::{num_elements, output},
};

/// What a layer with at most [`MAX_INPUTS`] inputs and one output does.
pub(crate) trait Kernel: Send + Sync + 'static {
    /// Elements of the inputs.
    type Input: Element;
    /// Elements of the output.
    type Output: Element;

    /// Elements of scratch memory that [`run`](Self::run) needs.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Computes the output. Inputs that are absent are empty; the others, and the output, are as
    /// long as their shapes say, and the output is not empty. Contents of `output` and `scratch` are
    /// arbitrary.
    ///
    /// # Errors
    /// The network's execution fails.
    fn run(
        &self,
        context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [i64],
        inputs: [&[Self::Input]; MAX_INPUTS],
        output: &mut [Self::Output],
    ) -> Result<()>;
}

/// Makes the workload of a layer whose tensors have these elements.
///
/// # Errors
/// When shapes are not known, or too large.
pub(crate) fn element_workload<K: Kernel>(
    layer: LayerView<'_>,
    kernel: K,
) -> Result<Box<dyn Workload>> {
    let mut input_lens = [0; MAX_INPUTS];
    for (position, len) in input_lens.iter_mut().enumerate() {
        if let Some(tensor) = layer.input(position) {
            *len = num_elements(layer, tensor)?;
        }
    }
    Ok(Box::new(ElementWorkload {
        output_len: num_elements(layer, output(layer, 0)?)?,
        input_lens,
        kernel,
    }))
}

struct ElementWorkload<K> {
    kernel: K,
    input_lens: [usize; MAX_INPUTS],
    output_len: usize,
}

impl<K: Kernel> ElementWorkload<K> {
    fn scratch_byte_len(&self) -> usize {
        self.kernel.scratch_len().saturating_mul(size_of::<i64>())
    }
}

impl<K: Kernel> Workload for ElementWorkload<K> {
    fn memory_requirements(&self) -> Result<MemoryRequirements> {
        Ok(MemoryRequirements {
            scratch_len: self.scratch_byte_len(),
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
        let scratch = scratch(context, self.scratch_byte_len())?;
        let mut elements: [&[K::Input]; MAX_INPUTS] = [&[]; MAX_INPUTS];
        for (position, slot) in elements.iter_mut().enumerate() {
            if self.input_lens[position] > 0 {
                *slot = input_elements(inputs, position, self.input_lens[position])?;
            }
        }
        let output = output_elements(outputs, 0, self.output_len)?;
        self.kernel.run(context, scratch, elements, output)
    }
}
