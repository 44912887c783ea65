//! Gather.

use armnn_backend_api::{
    BackendError, DataType, ExecutionContext, GatherDescriptor, Inputs, LayerView, Outputs, Result,
    Synchronous, Workload,
};

use crate::{
    copy::element_size,
    float_workload::{input_elements, output_elements},
    layer_checks::{
        dims, input, invalid, output, require_input, require_output, require_same_quantization,
        title,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &GatherDescriptor) -> Result<()> {
    let data_type = input(layer, 0)?.data_type();
    element_size(layer, data_type)?;
    require_input(layer, 1, &[DataType::Signed32])?;
    require_output(layer, 0, &[data_type])?;
    require_same_quantization(layer)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &GatherDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = descriptor.axis as usize;
    let expected = from
        .get(axis)
        .map(|_| [&from[..axis], &indices[..], &from[axis + 1..]].concat());
    if expected.as_ref() != Some(&to) {
        return Err(invalid(
            layer,
            format_args!(
                "indices of {indices:?} into dimension {axis} of {from:?} do not lead to {to:?}"
            ),
        ));
    }
    let element = element_size(layer, input(layer, 0)?.data_type())?;
    Ok(Box::new(Gather {
        title: title(layer),
        outer: from[..axis].iter().product(),
        size: from[axis],
        slice_len: from[axis + 1..].iter().product::<usize>() * element,
        n_indices: indices.iter().product(),
    }))
}

struct Gather {
    title: String,
    /// The product of the dimensions before the axis.
    outer: usize,
    /// The dimension of the axis.
    size: usize,
    /// Bytes of what one index chooses.
    slice_len: usize,
    n_indices: usize,
}

impl Workload for Gather {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let from = input_elements::<u8>(inputs, 0, self.outer * self.size * self.slice_len)?;
        let indices = input_elements::<i32>(inputs, 1, self.n_indices)?;
        let out_len = self.outer * self.n_indices * self.slice_len;
        let to = output_elements::<u8>(outputs, 0, out_len)?;
        let outside = |&index: &i32| usize::try_from(index).map_or(true, |i| i >= self.size);
        if let Some(position) = indices.iter().position(outside) {
            return Err(BackendError::new(format!(
                "{}: index {} at position {position} is not below {}",
                self.title, indices[position], self.size
            )));
        }
        if out_len > 0 {
            self.gather(from, indices, to);
        }
        Ok(())
    }
}

impl Gather {
    fn gather(&self, from: &[u8], indices: &[i32], to: &mut [u8]) {
        let from = from.chunks_exact(self.size * self.slice_len);
        let to = to.chunks_exact_mut(self.n_indices * self.slice_len);
        for (from, to) in from.zip(to) {
            for (to, &index) in to.chunks_exact_mut(self.slice_len).zip(indices) {
                to.copy_from_slice(&from[index as usize * self.slice_len..][..self.slice_len]);
            }
        }
    }
}
