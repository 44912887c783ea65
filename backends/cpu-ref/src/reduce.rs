//! Reduce.

use armnn_backend_api::{
    ExecutionContext, LayerView, ReduceDescriptor, ReduceOperation, Result, Synchronous, Workload,
};

use crate::{
    elementwise_binary::{larger, smaller},
    float_workload::{FloatKernel, MAX_INPUTS, float_workload},
    layer_checks::{FLOATS, dims, input, invalid, output, require_named, require_one_type},
    loop_nest::{LoopNest, dense_strides},
    matrix,
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ReduceDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(layer, operation, operation.name())?;
    require_one_type(layer, FLOATS)
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ReduceDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axes = descriptor.axes();
    let is_reduced = |axis: usize| axes.contains(&(axis as u32));
    let kept: Vec<usize> = (0..from.len())
        .map(|axis| if is_reduced(axis) { 1 } else { from[axis] })
        .collect();
    let without = (0..from.len()).filter(|&axis| !is_reduced(axis));
    let without: Vec<usize> = without.map(|axis| from[axis]).collect();
    let expected = if descriptor.keep_dims != 0 {
        &kept
    } else {
        &without
    };
    if &to != expected || axes.iter().any(|&axis| axis as usize >= from.len()) {
        return Err(invalid(
            layer,
            format_args!("reducing {axes:?} of {from:?} does not lead to {to:?}"),
        ));
    }
    let mut strides = dense_strides(&kept);
    (0..from.len())
        .filter(|&axis| is_reduced(axis))
        .for_each(|axis| strides[axis] = 0);
    let reduced = (0..from.len()).filter(|&axis| is_reduced(axis));
    let kernel = Reduce {
        operation: descriptor.operation(),
        nest: LoopNest::new(&from, [&dense_strides(&from), &strides], [0, 0]),
        count: reduced.map(|axis| from[axis]).product::<usize>() as f32,
    };
    float_workload(layer, kernel)
}

struct Reduce {
    operation: ReduceOperation,
    /// Over the input; the operands are the input, and the output that an element goes into.
    nest: LoopNest<2>,
    /// Elements of the input for each of the output.
    count: f32,
}

impl FloatKernel for Reduce {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [f32],
        [input, ..]: [&[f32]; MAX_INPUTS],
        out: &mut [f32],
    ) -> Result<()> {
        let fold =
            |values: &[f32], start, f: fn(f32, f32) -> f32| values.iter().copied().fold(start, f);
        match self.operation {
            ReduceOperation::Max => {
                let row = |values: &[f32]| fold(values, f32::NEG_INFINITY, larger);
                self.reduce(input, out, f32::NEG_INFINITY, row, larger);
            }
            ReduceOperation::Min => {
                let row = |values: &[f32]| fold(values, f32::INFINITY, smaller);
                self.reduce(input, out, f32::INFINITY, row, smaller);
            }
            ReduceOperation::Prod => {
                let row = |values: &[f32]| values.iter().product();
                self.reduce(input, out, 1.0, row, |x, y| x * y);
            }
            // `check` lets nothing else through but Sum and Mean.
            _ => {
                self.reduce(input, out, 0.0, matrix::sum, |x, y| x + y);
                if self.operation == ReduceOperation::Mean {
                    out.iter_mut().for_each(|x| *x /= self.count);
                }
            }
        }
        Ok(())
    }
}

impl Reduce {
    /// `start` is what nothing reduces to, `row` reduces a slice, and `f` two numbers.
    fn reduce(
        &self,
        input: &[f32],
        out: &mut [f32],
        start: f32,
        row: impl Fn(&[f32]) -> f32,
        f: impl Fn(f32, f32) -> f32,
    ) {
        out.fill(start);
        let len = self.nest.row_len();
        // The input is walked through in order, so its own stride is 1.
        let [_, stride] = self.nest.row_strides();
        self.nest.for_each_row(|[at_in, at_out]| {
            let values = &input[at_in..][..len];
            if stride == 0 {
                out[at_out] = f(out[at_out], row(values));
            } else {
                let out = &mut out[at_out..][..len];
                out.iter_mut().zip(values).for_each(|(o, &x)| *o = f(*o, x));
            }
        });
    }
}
