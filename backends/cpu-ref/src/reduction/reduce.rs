//! Reduce.

mod integer;
mod quantized;

use armnn_backend_api::{
    DataType, ExecutionContext, LayerView, ReduceDescriptor, ReduceOperation, Result, Synchronous,
    Workload,
};

use crate::{
    elementwise::elementwise_binary::{larger, smaller},
    loops::{
        loop_nest::{LoopNest, dense_strides},
        matrix,
    },
    numbers::{quantized_arithmetic::QUANTIZED, real::Real},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::{FloatKernel, MAX_INPUTS, real_workload},
        layer_checks::{
            INTEGERS, REALS, dims, input, invalid, output, require_named, require_one_type,
        },
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ReduceDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    match operation {
        ReduceOperation::Any | ReduceOperation::All => {
            require_one_type(layer, &[&[DataType::Boolean]])
        }
        ReduceOperation::L1 | ReduceOperation::SumSquare => {
            require_one_type(layer, &[REALS, INTEGERS])
        }
        ReduceOperation::L2 | ReduceOperation::LogSum | ReduceOperation::LogSumExp => {
            require_one_type(layer, &[REALS])
        }
        _ => require_one_type(layer, &[REALS, INTEGERS, QUANTIZED]),
    }?;
    match output(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
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
        return Err(invalid(format_args!(
            "reducing {axes:?} of {from:?} does not lead to {to:?}"
        )));
    }
    let mut strides = dense_strides(&kept);
    (0..from.len())
        .filter(|&axis| is_reduced(axis))
        .for_each(|axis| strides[axis] = 0);
    let reduced = (0..from.len()).filter(|&axis| is_reduced(axis));
    let kernel = Reduce {
        operation: descriptor.operation(),
        nest: LoopNest::new(&from, [&dense_strides(&from), &strides], [0, 0]),
        count: reduced.map(|axis| from[axis]).product(),
        output_len: to.iter().product(),
    };
    match output(layer, 0)?.data_type() {
        DataType::Boolean => element_workload(layer, kernel),
        DataType::Int8 => integer::workload::<i8>(layer, kernel),
        DataType::Int16 => integer::workload::<i16>(layer, kernel),
        DataType::Signed32 => integer::workload::<i32>(layer, kernel),
        DataType::Signed64 => integer::workload::<i64>(layer, kernel),
        DataType::UInt8 => integer::workload::<u8>(layer, kernel),
        DataType::UInt16 => integer::workload::<u16>(layer, kernel),
        DataType::UInt32 => integer::workload::<u32>(layer, kernel),
        DataType::UInt64 => integer::workload::<u64>(layer, kernel),
        quantized if quantized.is_quantized() => quantized::workload(layer, kernel),
        _ => real_workload(layer, kernel),
    }
}

struct Reduce {
    operation: ReduceOperation,
    /// Over the input; the operands are the input, and the output that an element goes into.
    nest: LoopNest<2>,
    /// Elements of the input for each of the output.
    count: usize,
    output_len: usize,
}

impl<F: Real> FloatKernel<F> for Reduce {
    fn scratch_len(&self) -> usize {
        match self.operation {
            ReduceOperation::LogSumExp => self.output_len,
            _ => 0,
        }
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [F],
        [input, ..]: [&[F]; MAX_INPUTS],
        out: &mut [F],
    ) -> Result<()> {
        let fold = |values: &[F], start, f: fn(F, F) -> F| values.iter().copied().fold(start, f);
        match self.operation {
            ReduceOperation::Max => {
                let row = |values: &[F]| fold(values, F::NEG_INFINITY, larger);
                self.reduce(input, out, F::NEG_INFINITY, row, larger);
            }
            ReduceOperation::Min => {
                let row = |values: &[F]| fold(values, F::INFINITY, smaller);
                self.reduce(input, out, F::INFINITY, row, smaller);
            }
            ReduceOperation::Prod => {
                let row = |values: &[F]| fold(values, F::ONE, |x, y| x * y);
                self.reduce(input, out, F::ONE, row, |x, y| x * y);
            }
            ReduceOperation::L1 => {
                let row = |values: &[F]| fold(values, F::ZERO, |sum, x| sum + x.abs());
                self.reduce(input, out, F::ZERO, row, |x, y| x + y.abs());
            }
            ReduceOperation::SumSquare | ReduceOperation::L2 => {
                let row = |values: &[F]| fold(values, F::ZERO, |sum, x| sum + x * x);
                self.reduce_rows(
                    input,
                    out,
                    F::ZERO,
                    row,
                    |sum, x| sum + x,
                    |sum, x| sum + x * x,
                );
                if self.operation == ReduceOperation::L2 {
                    out.iter_mut().for_each(|x| *x = x.sqrt());
                }
            }
            ReduceOperation::LogSum => {
                self.reduce(input, out, F::ZERO, matrix::sum, |x, y| x + y);
                out.iter_mut().for_each(|x| *x = x.ln());
            }
            ReduceOperation::LogSumExp => self.log_sum_exp(input, scratch, out),
            // `check` lets nothing else through but Sum and Mean.
            _ => {
                self.reduce(input, out, F::ZERO, matrix::sum, |x, y| x + y);
                if self.operation == ReduceOperation::Mean {
                    out.iter_mut()
                        .for_each(|x| *x /= F::from_f64(self.count as f64));
                }
            }
        }
        Ok(())
    }
}

impl Kernel for Reduce {
    type Input = u8;
    type Output = u8;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[u8]; MAX_INPUTS],
        out: &mut [u8],
    ) -> Result<()> {
        let sought = match self.operation {
            ReduceOperation::Any => 1,
            // `check` lets nothing else through: one that is false decides.
            _ => 0,
        };
        out.fill(1 - sought);
        let [_, stride] = self.nest.row_strides();
        self.nest.for_each_row(|[at_in, at_out]| {
            for (i, &x) in input[at_in..][..self.nest.row_len()].iter().enumerate() {
                if u8::from(x != 0) == sought {
                    out[at_out.wrapping_add_signed(i as isize * stride)] = sought;
                }
            }
        });
        Ok(())
    }
}

impl Reduce {
    /// The largest is taken out of the sum, so that no power overflows.
    fn log_sum_exp<F: Real>(&self, input: &[F], largest: &mut [F], out: &mut [F]) {
        let row = |values: &[F]| values.iter().copied().fold(F::NEG_INFINITY, larger);
        self.reduce(input, largest, F::NEG_INFINITY, row, larger);
        // Of infinities nothing is taken out, as their difference is no number.
        let offset = |x: F| if x.is_finite() { x } else { F::ZERO };
        out.fill(F::ZERO);
        let len = self.nest.row_len();
        let [_, stride] = self.nest.row_strides();
        self.nest.for_each_row(|[at_in, at_out]| {
            for (i, &x) in input[at_in..][..len].iter().enumerate() {
                let at = at_out.wrapping_add_signed(i as isize * stride);
                out[at] += (x - offset(largest[at])).exp();
            }
        });
        for (sum, &largest) in out.iter_mut().zip(&*largest) {
            *sum = sum.ln() + offset(largest);
        }
    }

    /// Folds the elements of the input in order into the output's elements, which start at `start`.
    fn fold<T: Copy>(&self, input: &[T], sums: &mut [i64], start: i64, f: impl Fn(i64, T) -> i64) {
        sums.fill(start);
        let len = self.nest.row_len();
        // The input is walked through in order, so its own stride is 1.
        let [_, stride] = self.nest.row_strides();
        self.nest.for_each_row(|[at_in, at_out]| {
            let values = &input[at_in..][..len];
            if stride == 0 {
                sums[at_out] = values.iter().fold(sums[at_out], |sum, &x| f(sum, x));
            } else {
                let sums = &mut sums[at_out..][..len];
                sums.iter_mut()
                    .zip(values)
                    .for_each(|(sum, &x)| *sum = f(*sum, x));
            }
        });
    }

    /// `start` is what nothing reduces to, `row` reduces a slice, and `f` two numbers.
    fn reduce<F: Real>(
        &self,
        input: &[F],
        out: &mut [F],
        start: F,
        row: impl Fn(&[F]) -> F,
        f: impl Fn(F, F) -> F,
    ) {
        self.reduce_rows(input, out, start, row, &f, &f);
    }

    /// The same, with `join` for the results of two rows, and `f` for a result and a number.
    fn reduce_rows<F: Real>(
        &self,
        input: &[F],
        out: &mut [F],
        start: F,
        row: impl Fn(&[F]) -> F,
        join: impl Fn(F, F) -> F,
        f: impl Fn(F, F) -> F,
    ) {
        out.fill(start);
        let len = self.nest.row_len();
        // The input is walked through in order, so its own stride is 1.
        let [_, stride] = self.nest.row_strides();
        self.nest.for_each_row(|[at_in, at_out]| {
            let values = &input[at_in..][..len];
            if stride == 0 {
                out[at_out] = join(out[at_out], row(values));
            } else {
                let out = &mut out[at_out..][..len];
                out.iter_mut().zip(values).for_each(|(o, &x)| *o = f(*o, x));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::Shape;

    use super::*;
    use crate::test_harness::{Call, assert_close, f16s, f32s, sample_values, typed};

    fn reduced(operation: ReduceOperation, axes: &[u32], input: [i64; 3], values: &[f32]) -> Call {
        let kept = (0..3).map(|i| {
            if axes.contains(&i) {
                1
            } else {
                input[i as usize]
            }
        });
        let out: Vec<i64> = kept.collect();
        Call::new(ReduceDescriptor::new(operation, axes, true).unwrap())
            .input(f32s(input, values))
            .output(DataType::Float32, Shape::new(&out).unwrap())
    }

    #[test]
    fn operations_are_as_defined() {
        for (operation, expected) in [
            (ReduceOperation::Sum, 4.0),
            (ReduceOperation::Mean, 1.0),
            (ReduceOperation::Max, 4.0),
            (ReduceOperation::Min, -3.0),
            (ReduceOperation::Prod, -24.0),
        ] {
            let call = reduced(operation, &[2], [1, 1, 4], &[1.0, -3.0, 4.0, 2.0]);
            assert_eq!(call.run().f32s(), [expected], "{operation}");
        }
    }

    #[test]
    fn every_choice_of_axes_is_as_defined() {
        let dims = [3, 4, 20];
        let values = sample_values(240);
        for choice in 0..8u32 {
            let axes: Vec<u32> = (0..3).filter(|axis| choice >> axis & 1 == 1).collect();
            let kept = |axis: usize| choice >> axis & 1 == 0;
            let sizes: Vec<usize> = (0..3).map(|i| if kept(i) { dims[i] } else { 1 }).collect();
            let mut sums = vec![0.0f64; sizes.iter().product()];
            let mut largest = vec![f64::MIN; sums.len()];
            for (i, &value) in values.iter().enumerate() {
                let at = [i / 80, i / 20 % 4, i % 20];
                let out = (0..3).fold(0, |n, axis| {
                    n * sizes[axis] + if kept(axis) { at[axis] } else { 0 }
                });
                sums[out] += f64::from(value);
                largest[out] = largest[out].max(value.into());
            }
            let narrow = |v: Vec<f64>| v.into_iter().map(|x| x as f32).collect::<Vec<_>>();
            let found = reduced(ReduceOperation::Sum, &axes, [3, 4, 20], &values).run();
            assert_close(&found.f32s(), &narrow(sums), 0.0);
            let found = reduced(ReduceOperation::Max, &axes, [3, 4, 20], &values).run();
            assert_close(&found.f32s(), &narrow(largest), 0.0);
        }
    }

    #[test]
    fn reduced_dimensions_stay_or_go() {
        let call = |keep_dims, out: &[i64]| {
            Call::new(ReduceDescriptor::new(ReduceOperation::Sum, &[0], keep_dims).unwrap())
                .input(f32s([2, 2], &[1.0, 2.0, 3.0, 4.0]))
                .output(DataType::Float32, Shape::new(out).unwrap())
        };
        assert_eq!(call(true, &[1, 2]).run().f32s(), [4.0, 6.0]);
        assert_eq!(call(false, &[2]).run().f32s(), [4.0, 6.0]);
        assert!(call(true, &[2]).error().contains("does not lead"));
    }

    #[test]
    fn nothing_reduces_to_the_neutral_element() {
        for (operation, expected) in [
            (ReduceOperation::Sum, 0.0),
            (ReduceOperation::Prod, 1.0),
            (ReduceOperation::Max, f32::NEG_INFINITY),
            (ReduceOperation::Min, f32::INFINITY),
            (ReduceOperation::Mean, f32::NAN),
        ] {
            let found = reduced(operation, &[1], [2, 0, 1], &[]).run().f32s();
            assert_close(&found, &[expected; 2], 0.0);
        }
    }

    #[test]
    fn nan_propagates_and_float16_is_rounded_once() {
        for operation in [ReduceOperation::Max, ReduceOperation::Min] {
            let values = [1.0, f32::NAN, 2.0];
            assert!(reduced(operation, &[2], [1, 1, 3], &values).run().f32s()[0].is_nan());
            assert!(reduced(operation, &[0], [3, 1, 1], &values).run().f32s()[0].is_nan());
        }
        let call = Call::new(ReduceDescriptor::new(ReduceOperation::Sum, &[0], false).unwrap())
            .input(f16s([3], &[2048.0, 1.0, 1.0]))
            .output(DataType::Float16, Shape::SCALAR);
        assert_eq!(call.run().f16s(), [2050.0]);
    }

    #[test]
    fn norms_and_logarithms() {
        // Rows (1, -2, 2) and (0, 3, -4).
        let values = [1.0, -2.0, 2.0, 0.0, 3.0, -4.0];
        let ln = |x: f64| x.ln() as f32;
        let powers = |row: [f64; 3]| ln(row.map(f64::exp).iter().sum());
        for (operation, rows, columns) in [
            (ReduceOperation::L1, [5.0, 7.0], [1.0, 5.0, 6.0]),
            (ReduceOperation::SumSquare, [9.0, 25.0], [1.0, 13.0, 20.0]),
            (
                ReduceOperation::L2,
                [3.0, 5.0],
                [1.0, 13f32.sqrt(), 20f32.sqrt()],
            ),
            (
                ReduceOperation::LogSum,
                [0.0, f32::NAN],
                [0.0, 0.0, f32::NAN],
            ),
            (
                ReduceOperation::LogSumExp,
                [powers([1.0, -2.0, 2.0]), powers([0.0, 3.0, -4.0])],
                [
                    ln(1f64.exp() + 1.0),
                    ln((-2f64).exp() + 3f64.exp()),
                    ln(2f64.exp() + (-4f64).exp()),
                ],
            ),
        ] {
            let found = reduced(operation, &[2], [1, 2, 3], &values).run().f32s();
            assert_close(&found, &rows, 1e-6);
            let found = reduced(operation, &[0, 1], [1, 2, 3], &values).run().f32s();
            assert_close(&found, &columns, 1e-6);
        }
        let large = reduced(ReduceOperation::LogSumExp, &[2], [1, 1, 2], &[1000.0; 2]);
        // log(2 e^1000) = 1000 + log 2.
        assert_close(&large.run().f32s(), &[1000.6931], 1e-4);
        let nothing = [f32::NEG_INFINITY; 2];
        let none = reduced(ReduceOperation::LogSumExp, &[2], [1, 1, 2], &nothing);
        assert_eq!(none.run().f32s(), [f32::NEG_INFINITY]);
    }

    #[test]
    fn some_or_all_are_true() {
        let values = typed(DataType::Boolean, [2, 3], &[0u8, 1, 1, 0, 0, 1]);
        for (operation, axis, expected) in [
            (ReduceOperation::Any, 0, &[0u8, 1, 1][..]),
            (ReduceOperation::All, 0, &[0, 0, 1]),
            (ReduceOperation::Any, 1, &[1, 1]),
            (ReduceOperation::All, 1, &[0, 0]),
        ] {
            let d = ReduceDescriptor::new(operation, &[axis], false).unwrap();
            let call = Call::new(d)
                .input(values.clone())
                .output(DataType::Boolean, [expected.len() as i64]);
            assert_eq!(call.run().elements::<u8>(0), expected, "{operation} {axis}");
        }
    }

    #[test]
    fn float64_is_computed_in_itself() {
        // 2^-40 gets lost beside 1 in Float32.
        let little = 2f64.powi(-40);
        let run = |operation, values: [f64; 2]| {
            let call = Call::new(ReduceDescriptor::new(operation, &[0], false).unwrap())
                .input(typed(DataType::Float64, [2], &values))
                .output(DataType::Float64, Shape::SCALAR);
            call.run().elements::<f64>(0)[0]
        };
        let values = [1.0, little];
        assert_eq!(run(ReduceOperation::Sum, values), 1.0 + little);
        assert_eq!(run(ReduceOperation::L1, [-1.0, little]), 1.0 + little);
        assert_eq!(run(ReduceOperation::Mean, values), (1.0 + little) / 2.0);
        assert_eq!(run(ReduceOperation::Prod, values), little);
        assert_eq!(run(ReduceOperation::Max, values), 1.0);
        assert_eq!(run(ReduceOperation::Min, values), little);
        assert_eq!(run(ReduceOperation::SumSquare, [3.0, 4.0]), 25.0);
        assert_eq!(run(ReduceOperation::L2, [3.0, 4.0]), 5.0);
        assert_eq!(run(ReduceOperation::LogSum, [0.25, 0.75]), 0.0);
        // ln(2 e^x) = x + ln 2, also where e^x is beyond all numbers.
        let found = run(ReduceOperation::LogSumExp, [1000.0, 1000.0]);
        assert!((found - (1000.0 + std::f64::consts::LN_2)).abs() < 1e-12);
    }
}
