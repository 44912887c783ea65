//! The workload of layers that move elements and do not look at them.

use armnn_backend_api::{
    DataType, Element, ExecutionContext, Inputs, LayerView, Outputs, Result, Synchronous, Workload,
};

use crate::{
    loops::loop_nest::LoopNest,
    numbers::packing::Packing,
    workloads::{
        float_workload::{input_elements, output_elements},
        layer_checks::{
            input, num_elements, output, output_role, refusal, require_same_quantization,
            tensor_role,
        },
    },
};

/// Refuses a layer whose tensors are not of one type and quantization, or whose elements are of a
/// type that is not known.
pub(crate) fn check(layer: LayerView<'_>) -> Result<()> {
    let first = output(layer, 0)?.data_type();
    for tensor in layer.inputs().chain(layer.outputs()) {
        if tensor.data_type() != first {
            return Err(refusal(format_args!(
                "the type of {} is {}, and of {} {first}; all must be the same",
                tensor_role(layer, tensor),
                tensor.data_type(),
                output_role(layer.layer_type(), 0)
            )));
        }
    }
    if Packing::of(first).is_none() {
        element_size(first)?;
    }
    require_same_quantization(layer)
}

/// Bytes of an element.
///
/// # Errors
/// A refusal when they are not whole bytes, or the type is not known.
pub(crate) fn element_size(data_type: DataType) -> Result<usize> {
    data_type.size().ok_or_else(|| {
        refusal(format_args!(
            "elements of type {data_type} are not whole bytes, or not known here"
        ))
    })
}

/// Copies a box of elements from an input to an output.
pub(crate) struct BoxCopy {
    /// Position of the input.
    pub(crate) input: usize,
    /// Position of the output.
    pub(crate) output: usize,
    /// The operands are the input and the output.
    pub(crate) nest: LoopNest<2>,
}

impl BoxCopy {
    /// Copies the box.
    fn copy<T: Copy>(&self, from: &[T], to: &mut [T]) {
        if self.nest.row_strides() != [1, 1] {
            return self.map(from, to, |x| x);
        }
        let len = self.nest.row_len();
        self.nest.for_each_row(|[at_from, at_to]| {
            to[at_to..][..len].copy_from_slice(&from[at_from..][..len]);
        });
    }

    /// Writes `f` of each element of the box.
    pub(crate) fn map<T: Copy>(&self, from: &[T], to: &mut [T], f: impl Fn(T) -> T) {
        let len = self.nest.row_len();
        let strides = self.nest.row_strides();
        self.nest.for_each_row(|[mut at_from, mut at_to]| {
            for _ in 0..len {
                to[at_to] = f(from[at_from]);
                at_from = at_from.wrapping_add_signed(strides[0]);
                at_to = at_to.wrapping_add_signed(strides[1]);
            }
        });
    }
}

/// Makes the workload of a layer that is made of such copies. They write every element of every
/// output, or `fill` does it first.
///
/// # Errors
/// When a shape is not known.
pub(crate) fn copy_workload(
    layer: LayerView<'_>,
    copies: Vec<BoxCopy>,
    fill: Option<[u8; 8]>,
) -> Result<Box<dyn Workload>> {
    let data_type = output(layer, 0)?.data_type();
    let input_lens = (0..layer.input_indices().len())
        .map(|i| num_elements(layer, input(layer, i)?))
        .collect::<Result<_>>()?;
    let output_lens = layer
        .outputs()
        .map(|tensor| num_elements(layer, tensor))
        .collect::<Result<_>>()?;
    let plan = CopyPlan {
        copies,
        fill,
        input_lens,
        output_lens,
    };
    if let (Some(packing), None) = (Packing::of(data_type), plan.fill) {
        return Ok(Box::new(PackedCopyWorkload { plan, packing }));
    }
    Ok(match element_size(data_type)? {
        1 => Box::new(CopyWorkload::<u8>::new(plan)),
        2 => Box::new(CopyWorkload::<u16>::new(plan)),
        4 => Box::new(CopyWorkload::<u32>::new(plan)),
        _ => Box::new(CopyWorkload::<u64>::new(plan)),
    })
}

struct CopyPlan {
    copies: Vec<BoxCopy>,
    fill: Option<[u8; 8]>,
    input_lens: Vec<usize>,
    output_lens: Vec<usize>,
}

/// Moves elements of the size of `T`.
struct CopyWorkload<T> {
    plan: CopyPlan,
    fill: Option<T>,
}

impl<T: Word> CopyWorkload<T> {
    fn new(plan: CopyPlan) -> Self {
        let fill = plan.fill.map(T::from_first_bytes);
        Self { plan, fill }
    }
}

impl<T: Word> Workload for CopyWorkload<T> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        if let Some(value) = self.fill {
            for (position, &len) in self.plan.output_lens.iter().enumerate() {
                output_elements::<T>(outputs, position, len)?.fill(value);
            }
        }
        for copy in &self.plan.copies {
            let input_len = self.plan.input_lens[copy.input];
            let from = input_elements::<T>(inputs, copy.input, input_len)?;
            let output_len = self.plan.output_lens[copy.output];
            let to = output_elements::<T>(outputs, copy.output, output_len)?;
            copy.copy(from, to);
        }
        Ok(())
    }
}

/// Moves elements of which several are in a byte.
struct PackedCopyWorkload {
    plan: CopyPlan,
    packing: Packing,
}

impl Workload for PackedCopyWorkload {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let packing = self.packing;
        for (position, &len) in self.plan.output_lens.iter().enumerate() {
            output_elements::<u8>(outputs, position, packing.byte_len(len))?.fill(0);
        }
        for copy in &self.plan.copies {
            let input_len = packing.byte_len(self.plan.input_lens[copy.input]);
            let from = input_elements::<u8>(inputs, copy.input, input_len)?;
            let output_len = packing.byte_len(self.plan.output_lens[copy.output]);
            let to = output_elements::<u8>(outputs, copy.output, output_len)?;
            let strides = copy.nest.row_strides();
            copy.nest.for_each_row(|[mut at_from, mut at_to]| {
                for _ in 0..copy.nest.row_len() {
                    packing.put_at(to, at_to, packing.code_at(from, at_from));
                    at_from = at_from.wrapping_add_signed(strides[0]);
                    at_to = at_to.wrapping_add_signed(strides[1]);
                }
            });
        }
        Ok(())
    }
}

/// Stands for any element of its size.
trait Word: Element {
    fn from_first_bytes(bytes: [u8; 8]) -> Self;
}

macro_rules! words {
    ($($T:ty)*) => {$(
        impl Word for $T {
            fn from_first_bytes(bytes: [u8; 8]) -> Self {
                let mut first = [0; size_of::<$T>()];
                first.copy_from_slice(&bytes[..size_of::<$T>()]);
                Self::from_ne_bytes(first)
            }
        }
    )*};
}
words! { u8 u16 u32 u64 }
