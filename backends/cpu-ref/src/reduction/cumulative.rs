//! Cumulative.

use armnn_backend_api::{
    CumulativeDescriptor, CumulativeOperation, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    numbers::{
        element_type::{Number, by_number},
        real::Real,
    },
    workloads::{
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            INTEGERS, REALS, dims, input, invalid, output, require_named, require_one_type,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &CumulativeDescriptor) -> Result<()> {
    require_named(d.operation(), d.operation().name())?;
    require_one_type(layer, &[REALS, INTEGERS])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &CumulativeDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    if from != to || axis >= from.len() {
        return Err(invalid(format_args!(
            "accumulating along dimension {axis} of {from:?} does not lead to {to:?}"
        )));
    }
    let kernel = Cumulative {
        size: from[axis],
        inner: from[axis + 1..].iter().product(),
        is_product: d.operation() == CumulativeOperation::Prod,
        exclusive: d.exclusive == 1,
        reverse: d.reverse == 1,
    };
    let data_type = output(layer, 0)?.data_type();
    if REALS.contains(&data_type) {
        return real_workload(layer, kernel);
    }
    by_number!(data_type, N => workload_function(layer, 0, move |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        kernel.accumulate::<N>(values, call.output(0)?);
        Ok(())
    }))
}

struct Cumulative {
    size: usize,
    inner: usize,
    is_product: bool,
    exclusive: bool,
    reverse: bool,
}

impl<F: Real> FloatKernel<F> for Cumulative {
    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        output: &mut [F],
    ) -> Result<()> {
        self.accumulate::<F>(input, output);
        Ok(())
    }
}

impl Cumulative {
    fn accumulate<N: Number>(&self, values: &[N::Stored], out: &mut [N::Stored]) {
        let block = self.size * self.inner;
        if block == 0 {
            return;
        }
        for (values, out) in values.chunks_exact(block).zip(out.chunks_exact_mut(block)) {
            for i in 0..self.inner {
                let mut total = if self.is_product { N::ONE } else { N::ZERO };
                for step in 0..self.size {
                    let step = if self.reverse {
                        self.size - 1 - step
                    } else {
                        step
                    };
                    let at = step * self.inner + i;
                    let before = total;
                    let x = N::load(values[at]);
                    total = if self.is_product {
                        total.mul(x)
                    } else {
                        total.add(x)
                    };
                    out[at] = if self.exclusive { before } else { total }.store();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::DataType;

    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    #[test]
    fn elements_are_accumulated_forwards_and_backwards() {
        let sum = CumulativeDescriptor::new(CumulativeOperation::Sum, 1);
        let run = |d: CumulativeDescriptor| {
            let call = Call::new(d)
                .input(f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
                .output(DataType::Float32, [2, 3]);
            call.run().f32s()
        };
        assert_eq!(run(sum), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
        let exclusive = CumulativeDescriptor {
            exclusive: 1,
            ..sum
        };
        assert_eq!(run(exclusive), [0.0, 1.0, 3.0, 0.0, 4.0, 9.0]);
        let reverse = CumulativeDescriptor { reverse: 1, ..sum };
        assert_eq!(run(reverse), [6.0, 5.0, 3.0, 15.0, 11.0, 6.0]);
        let product = CumulativeDescriptor::new(CumulativeOperation::Prod, 0);
        assert_eq!(run(product), [1.0, 2.0, 3.0, 4.0, 10.0, 18.0]);
        let both = CumulativeDescriptor {
            exclusive: 1,
            reverse: 1,
            ..product
        };
        assert_eq!(run(both), [4.0, 5.0, 6.0, 1.0, 1.0, 1.0]);
        let call = Call::new(CumulativeDescriptor { axis: 0, ..sum })
            .input(typed(DataType::Int8, [3], &[100i8, 27, 2]))
            .output(DataType::Int8, [3]);
        assert_eq!(call.run().elements::<i8>(0), [100, 127, -127]);
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // 2^-40 gets lost beside 1 in Float32.
        let little = 2f64.powi(-40);
        let call = Call::new(CumulativeDescriptor::new(CumulativeOperation::Sum, 0))
            .input(typed(DataType::Float64, [2], &[1.0, little]))
            .output(DataType::Float64, [2]);
        assert_eq!(call.run().elements::<f64>(0), [1.0, 1.0 + little]);
    }
}
