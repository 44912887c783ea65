//! Windows of any dimensions that are reduced: REDUCE_WINDOW, STABLEHLO_REDUCE_WINDOW
//! (<https://openxla.org/stablehlo/spec#reduce_window>).
//!
//! What stands under each place of the window is a slice of the input, and the slices are put
//! together one by one, in the order in which TFLite's kernel does it.

use armnn_backend_api::{
    BinaryOperation, DataType, ElementwiseBinaryDescriptor, LayerDescriptor,
    LogicalBinaryDescriptor, LogicalBinaryOperation, PadDescriptor, PaddingMode, Shape,
    StridedSliceDescriptor,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::{Context, described};
use super::problem::{Problem, Result};
use super::stablehlo::{body_operation, list};
use crate::schema_generated::{
    ReduceWindowFunction, ReduceWindowOptionsRef, StablehloReduceWindowOptionsRef,
};

/// The most places of a window; each is two layers.
const MOST_PLACES: i64 = 1024;

/// The input, the value to begin with, and the window's sizes, strides and dilations.
pub(super) fn reduce_window(context: &mut Context<'_, '_, '_>) -> Result {
    let function = context
        .options::<ReduceWindowOptionsRef<'_>>()?
        .reduce_function()?;
    let binary = |operation| ElementwiseBinaryDescriptor::new(operation).into();
    let logical = |operation| LogicalBinaryDescriptor::new(operation).into();
    let operation: LayerDescriptor = match function {
        ReduceWindowFunction::Add => binary(BinaryOperation::Add),
        ReduceWindowFunction::Mul => binary(BinaryOperation::Mul),
        ReduceWindowFunction::Minimum => binary(BinaryOperation::Minimum),
        ReduceWindowFunction::Maximum => binary(BinaryOperation::Maximum),
        ReduceWindowFunction::All => logical(LogicalBinaryOperation::LogicalAnd),
        ReduceWindowFunction::Any => logical(LogicalBinaryOperation::LogicalOr),
        ReduceWindowFunction::Unsupported => {
            return Err(Problem::malformed("its function is not named"));
        }
    };
    let input = context.input(0)?;
    let windows = Windows {
        sizes: context.integers(2, Shape::MAX_RANK, "the sizes of the window")?,
        strides: context.integers(3, Shape::MAX_RANK, "the strides")?,
        dilations: context.integers(4, Shape::MAX_RANK, "the dilations")?,
    };
    windows.emit(context, input, operation)
}

/// The same with padding by the value to begin with; what is computed stands in a subgraph of one
/// operator.
pub(super) fn stablehlo_reduce_window(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloReduceWindowOptionsRef<'_>>()?;
    let mut input = context.input(0)?;
    let is_boolean = context.info(input)?.data_type == DataType::Boolean;
    let (_, operation) = body_operation(context, options.body_subgraph_index()?, is_boolean)?;
    let operation: LayerDescriptor = match operation {
        BinaryOperation::BitwiseAnd => {
            LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd).into()
        }
        BinaryOperation::BitwiseOr => {
            LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalOr).into()
        }
        other => ElementwiseBinaryDescriptor::new(other).into(),
    };
    let rank = context.shape(input)?.rank();
    let or_ones = |dims: Vec<i64>| match dims.is_empty() {
        true => vec![1; rank],
        false => dims,
    };
    if or_ones(list(options.base_dilations()?)?)
        .iter()
        .any(|&dilation| dilation != 1)
    {
        return Err(Problem::unsupported(
            "an input whose elements are set apart",
        ));
    }
    let windows = Windows {
        sizes: list(options.window_dimensions()?)?,
        strides: or_ones(list(options.window_strides()?)?),
        dilations: or_ones(list(options.window_dilations()?)?),
    };
    let padding: Vec<i64> = match options.padding()? {
        Some(padding) if padding.len() == 2 * rank => padding.iter().collect(),
        Some(padding) if !padding.is_empty() => {
            return Err(Problem::malformed(
                "its padding is not two numbers for each dimension",
            ));
        }
        _ => vec![0; 2 * rank],
    };
    if padding.iter().any(|&pad| pad < 0) {
        return Err(Problem::unsupported("padding below 0"));
    }
    if padding.iter().any(|&pad| pad > 0) {
        let value = context.number(1, "the value to begin with")?;
        let of =
            |from: usize| -> Vec<i64> { padding.iter().skip(from).step_by(2).copied().collect() };
        let pad = PadDescriptor::new(PaddingMode::Constant, value, &of(0), &of(1));
        let pad = described(pad)?;
        input = context.step(0, pad, &[Some(input)], OutputDeclaration::default())?;
    }
    windows.emit(context, input, operation)
}

/// Along each dimension.
struct Windows {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
}

impl Windows {
    /// Adds the layers; the second input is the value to begin with.
    fn emit(
        &self,
        context: &mut Context<'_, '_, '_>,
        input: TensorId,
        operation: LayerDescriptor,
    ) -> Result {
        let shape = context.shape(input)?;
        let rank = shape.rank();
        let lists = [&self.sizes, &self.strides, &self.dilations];
        let is_good = |list: &Vec<i64>| list.len() == rank && list.iter().all(|&n| n >= 1);
        if !lists.into_iter().all(is_good) {
            return Err(Problem::malformed(format!(
                "windows of {:?} in steps of {:?} and {:?} over {shape}",
                self.sizes, self.strides, self.dilations
            )));
        }
        if !shape.is_known() {
            return Err(Problem::unsupported(
                "windows over an input whose shape is not known; give the model fixed input shapes",
            ));
        }
        let product = |n: i64, &size: &i64| n.checked_mul(size);
        let places = self.sizes.iter().try_fold(1, product);
        let Some(places) = places.filter(|&places| places <= MOST_PLACES) else {
            return Err(Problem::unsupported(format!(
                "windows of more than {MOST_PLACES} places"
            )));
        };
        // How far the last place of each window's first element reaches, and the end of its slice.
        let mut counts = Vec::with_capacity(rank);
        for (at, &dim) in shape.dims().iter().enumerate() {
            let reach = (self.sizes[at] - 1).checked_mul(self.dilations[at]);
            let room = reach.and_then(|reach| dim.checked_sub(1)?.checked_sub(reach));
            match room {
                Some(room @ 0..) => counts.push(room / self.strides[at]),
                _ => {
                    return Err(Problem::unsupported(format!(
                        "windows of {:?} that are larger than the input {shape}",
                        self.sizes
                    )));
                }
            }
        }
        let mut value = context.input(1)?;
        for place in 0..places {
            let mut begin = vec![0; rank];
            let mut rest = place;
            for at in (0..rank).rev() {
                begin[at] = rest % self.sizes[at] * self.dilations[at];
                rest /= self.sizes[at];
            }
            let end: Vec<i64> = (0..rank)
                .map(|at| begin[at] + counts[at] * self.strides[at] + 1)
                .collect();
            let slice = StridedSliceDescriptor::new(&begin, &end, &self.strides);
            let none = OutputDeclaration::default;
            let slice = context.step(0, described(slice)?, &[Some(input)], none())?;
            let pair = [Some(value), Some(slice)];
            if place + 1 == places {
                return context.emit(operation, &pair);
            }
            value = context.step(0, operation.clone(), &pair, none())?;
        }
        Err(Problem::malformed("its window has no places"))
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, ReduceWindowFunction, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestTensor, assert_refused, float, lower_second, run, typed};

    fn integers(values: &[i64]) -> TestTensor {
        let data = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        typed(TensorType::Int64, &[values.len() as i32]).with_data(data)
    }

    fn lowered(
        window: [&[i64]; 3],
        output: &[i32],
    ) -> Result<armnn_network::Network, crate::TfliteParserError> {
        let options =
            write::BuiltinOptions2::ReduceWindowOptions(Box::new(write::ReduceWindowOptions {
                reduce_function: ReduceWindowFunction::Add,
            }));
        let mut inputs: Vec<TestTensor> = vec![float(&[2, 4]), float(&[])];
        inputs.extend(window.map(integers));
        lower_second(Op::ReduceWindow, &inputs, &[float(output)], options)
    }

    #[test]
    fn what_stands_under_a_window_is_added_up() {
        // Two rows, and two columns with one between them, in steps of one column.
        let network = lowered([&[2, 2], &[1, 1], &[1, 2]], &[1, 2]).unwrap();
        let x = [1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
        let found = run(network, &[(&[2, 4], &x), (&[], &[0.5])]).remove(0);
        assert_eq!(found, (vec![1, 2], vec![44.5, 66.5]));
    }

    #[test]
    fn windows_that_do_not_fit_are_refused() {
        assert_refused(
            lowered([&[3, 1], &[1, 1], &[1, 1]], &[1, 1]),
            "larger than the input",
        );
        assert_refused(lowered([&[1, 1], &[0, 1], &[1, 1]], &[1, 1]), "in steps of");
        assert_refused(lowered([&[1], &[1], &[1]], &[1, 1]), "windows of");
    }
}
