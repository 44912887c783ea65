//! Complex numbers: RFFT2D, REAL, IMAG, COMPLEX_ABS.
//!
//! The network has no complex types: such a tensor is one of real numbers, with a last dimension of
//! real and imaginary part.

use armnn_backend_api::{DftDescriptor, ReduceDescriptor, ReduceOperation};
use armnn_network::{OutputDeclaration, ParameterRule, StridedSliceOptions, TensorId};

use super::context::{Context, described, each_dimension};
use super::problem::{Problem, Result};
use super::subgraph::Value;

/// The transform along the last two dimensions, of which the second input gives the lengths, to
/// which the input is cut or filled up with 0.
pub(super) fn rfft_2d(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let &[rows @ (1..), columns @ (1..)] = &context.integers(1, 2, "the lengths")?[..] else {
        return Err(Problem::malformed("its lengths are not two above 0"));
    };
    if rank < 2 {
        return Err(Problem::malformed("its input has less than two dimensions"));
    }
    let mut groups = each_dimension(rank);
    groups.push(Vec::new());
    let signal = context.merge_step(0, input, groups)?;
    let mut along_columns = DftDescriptor::new(rank as u32 - 1);
    along_columns.onesided = 1;
    along_columns.length = columns;
    let mut along_rows = DftDescriptor::new(rank as u32 - 2);
    along_rows.length = rows;
    let none = OutputDeclaration::default;
    let half = context.step(0, along_columns, &[Some(signal)], none())?;
    let spectrum = context.step(0, along_rows, &[Some(half)], none())?;
    context.bind_value(0, Value::Complex(spectrum))
}

/// The real part (0) or the imaginary one (1).
pub(super) fn part(context: &mut Context<'_, '_, '_>, part: i64) -> Result {
    let input = complex(context)?;
    let rank = context.shape(input)?.rank();
    let mut bounds = Vec::with_capacity(3);
    for list in [[0, part], [0, part + 1], [1, 1]] {
        bounds.push(Some(
            context.integer_list(armnn_backend_api::DataType::Signed32, &list)?,
        ));
    }
    let options = StridedSliceOptions {
        ellipsis_mask: 0b01,
        shrink_axis_mask: 0b10,
        ..StridedSliceOptions::default()
    };
    let groups = options
        .groups(2, rank)
        .map_err(|problem| Problem::malformed(problem.to_string()))?;
    let rule = ParameterRule::StridedSlice(options);
    let none = OutputDeclaration::default();
    let sliced = context.step_by_rule(0, rule, &[Some(input)], &bounds, none)?;
    context.emit_merged(0, sliced, groups)
}

pub(super) fn complex_abs(context: &mut Context<'_, '_, '_>) -> Result {
    let input = complex(context)?;
    let last = context.shape(input)?.rank().saturating_sub(1) as u32;
    let norm = described(ReduceDescriptor::new(ReduceOperation::L2, &[last], false))?;
    context.emit(norm, &[Some(input)])
}

fn complex(context: &mut Context<'_, '_, '_>) -> Result<TensorId> {
    match context.input_value(0)? {
        Value::Complex(id) => Ok(id),
        _ => Err(Problem::unsupported("an input that is not complex")),
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::test_model::{TestModel, assert_refused, float, ints, run, typed};

    /// The absolute values, or a part, of the spectrum of a 2 x 2 image.
    fn spectrum(operator: Op) -> Vec<f32> {
        let mut model = TestModel::default();
        let x = model.input(float(&[2, 2]));
        let lengths = model.tensor(ints(&[2, 2]));
        let complex = model.tensor(typed(TensorType::Complex64, &[2, 2]));
        let y = model.tensor(float(&[2, 2]));
        model.operator(Op::Rfft2d, &[x, lengths], &[complex], None);
        model.operator(operator, &[complex], &[y], None);
        model.output(y);
        run(model.parse().unwrap(), &[(&[2, 2], &[1.0, 2.0, 3.0, 4.0])])
            .remove(0)
            .1
    }

    #[test]
    fn a_spectrum_has_parts_and_absolute_values() {
        // The sum, the difference of columns, of rows, and of both.
        assert_near(&spectrum(Op::Real), [10.0, -2.0, -4.0, 0.0]);
        assert_near(&spectrum(Op::Imag), [0.0; 4]);
        assert_near(&spectrum(Op::ComplexAbs), [10.0, 2.0, 4.0, 0.0]);
    }

    fn assert_near(found: &[f32], expected: [f32; 4]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn other_uses_of_complex_numbers_are_refused() {
        let mut model = TestModel::default();
        let x = model.input(float(&[2, 2]));
        let lengths = model.tensor(ints(&[2, 2]));
        let complex = model.tensor(typed(TensorType::Complex64, &[2, 2]));
        model.operator(Op::Rfft2d, &[x, lengths], &[complex], None);
        model.output(complex);
        assert_refused(model.parse(), "complex numbers, but for their parts");
    }

    /// Of (1, 3) the spectrum is 1 + 3 and 1 - 3.
    #[test]
    fn complex_numbers_change_shape() {
        for (operator, parameter) in [
            (Op::Reshape, Some(ints(&[2]))),
            (Op::Squeeze, None),
            (Op::ExpandDims, Some(ints(&[1]))),
        ] {
            let mut model = TestModel::default();
            let x = model.input(float(&[1, 2]));
            let lengths = model.tensor(ints(&[1, 2]));
            let spectrum = model.tensor(typed(TensorType::Complex64, &[1, 2]));
            model.operator(Op::Rfft2d, &[x, lengths], &[spectrum], None);
            let moved = model.tensor(typed(TensorType::Complex64, &[2]));
            let mut inputs = vec![spectrum];
            inputs.extend(parameter.map(|tensor| model.tensor(tensor)));
            model.operator(operator, &inputs, &[moved], None);
            let y = model.tensor(float(&[2]));
            model.operator(Op::ComplexAbs, &[moved], &[y], None);
            let real = model.tensor(float(&[2]));
            model.operator(Op::Cast, &[moved], &[real], None);
            model.output(y);
            model.output(real);
            let found = run(model.parse().unwrap(), &[(&[1, 2], &[1.0, 3.0])]);
            assert_eq!(found[0].1, [4.0, 2.0], "{operator:?}");
            assert_eq!(found[1].1, [4.0, -2.0], "{operator:?}");
        }
    }
}
