//! What is greatest, best or chosen: ARG_MAX, ARG_MIN, TOPK_V2, SELECT, SELECT_V2,
//! NON_MAX_SUPPRESSION, TFLite_Detection_PostProcess, CUMSUM, BUCKETIZE, MATRIX_DIAG,
//! MATRIX_SET_DIAG.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, BinaryOperation, BucketizeDescriptor, CastDescriptor,
    ComparisonDescriptor, ComparisonOperation, CumulativeDescriptor, CumulativeOperation, DataType,
    DetectionPostProcessDescriptor, ElementwiseBinaryDescriptor, PaddingMode, SelectDescriptor,
    Shape, TensorInfo, TopKDescriptor,
};
use armnn_network::{OutputDeclaration, PadLayout, ParameterRule, TensorId};

use super::context::{Context, each_dimension};
use super::flexbuffers::{self, Scalar};
use super::problem::{Problem, Result};
use crate::schema_generated::{BucketizeOptionsRef, CumsumOptionsRef};

/// The second input is the axis. The type of the output is INT32 or INT64; the option repeats it.
pub(super) fn arg_min_max(
    context: &mut Context<'_, '_, '_>,
    function: ArgMinMaxFunction,
) -> Result {
    let input = context.input(0)?;
    let axis = context.input(1)?;
    let declaration = context.declaration(0)?;
    let rule = ParameterRule::ArgMinMax(ArgMinMaxDescriptor::new(function, 0, false));
    context.emit_by_rule(0, rule, &[Some(input)], &[Some(axis)], declaration)
}

/// The largest elements along the last axis, and their places.
pub(super) fn top_k(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let count = context.input(1)?;
    let Some(last) = context.shape(input)?.rank().checked_sub(1) else {
        return Err(Problem::malformed("the largest elements of a scalar"));
    };
    let rule = ParameterRule::TopK(TopKDescriptor::new(last as u32, true));
    let (elements, places) = (context.moved(0, input)?, context.declaration(1)?);
    if places.data_type != Some(DataType::Int16) {
        let declarations = [elements, places];
        return context.emit_all_by_rule(rule, &[Some(input)], &[Some(count)], &declarations);
    }
    // No layer counts in 16 bits.
    let wide = OutputDeclaration::of_type(DataType::Signed32);
    let ids = context.steps_by_rule(rule, &[Some(input)], &[Some(count)], &[elements, wide])?;
    let &[elements, places] = &ids[..] else {
        return Err(Problem::malformed("TopK without its outputs"));
    };
    context.bind(0, elements)?;
    context.emit_output(1, CastDescriptor::new(), &[Some(places)])
}

/// The condition is of the others' shape, or chooses among their rows.
pub(super) fn select(context: &mut Context<'_, '_, '_>) -> Result {
    let condition = context.input(0)?;
    let rank = {
        let x = context.input(1)?;
        context.shape(x)?.rank()
    };
    let condition = match context.shape(condition)?.rank() {
        1 if rank > 1 => {
            let mut groups = vec![Vec::new(); rank];
            groups[0].push(0);
            context.merge_step(0, condition, groups)?
        }
        _ => condition,
    };
    select_by(context, condition)
}

pub(super) fn select_v2(context: &mut Context<'_, '_, '_>) -> Result {
    let condition = context.input(0)?;
    select_by(context, condition)
}

fn select_by(context: &mut Context<'_, '_, '_>, condition: TensorId) -> Result {
    let (x, y) = (context.input(1)?, context.input(2)?);
    let declaration = context.moved(0, x)?;
    context.check_scale_kept(y, &declaration)?;
    let inputs = [Some(condition), Some(x), Some(y)];
    context.emit_declared(0, SelectDescriptor::new(), &inputs, declaration)
}

/// Boxes, scores, how many are chosen at most, thresholds of overlap and score, and for version 5 a
/// sigma. Outputs: indices, for version 5 scores, and how many there are.
pub(super) fn non_max_suppression(context: &mut Context<'_, '_, '_>, soft: bool) -> Result {
    let mut inputs = vec![Some(context.input(0)?), Some(context.input(1)?)];
    for position in 3..context.input_count() {
        inputs.push(Some(context.input(position)?));
    }
    let count = context.input(2)?;
    let (last, n_outputs) = if soft { (2, 3) } else { (1, 2) };
    if context.output_count() != n_outputs {
        return Err(Problem::malformed(format!(
            "it has {} outputs, but writes {n_outputs}",
            context.output_count()
        )));
    }
    let mut declarations = vec![OutputDeclaration::default(); 3];
    declarations[0] = context.declaration(0)?;
    declarations[2] = context.declaration(last)?;
    if soft {
        declarations[1] = context.declaration(1)?;
    }
    let rule = ParameterRule::NonMaxSuppressionPadded;
    let name = context.lowering.layer_name(context.output_tensor(0)?);
    let builder = &mut context.lowering.builder;
    let ids = builder.add_deferred_layer(&name, rule, &inputs, &[Some(count)], &declarations)?;
    let &[indices, scores, valid] = &ids[..] else {
        return Err(Problem::malformed(
            "NonMaxSuppressionPadded without its outputs",
        ));
    };
    context.bind(0, indices)?;
    if soft {
        context.bind(1, scores)?;
    }
    context.bind(last, valid)
}

/// Box encodings, scores of classes, anchors. Options: a FlexBuffer with the descriptor's fields.
pub(super) fn detection_post_process(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.operator.custom_options.clone().unwrap_or_default();
    let options = flexbuffers::map(&options)
        .ok_or_else(|| Problem::malformed("its custom options are no map of numbers"))?;
    let find = |name: &str| options.iter().find(|(key, _)| *key == name).map(|o| o.1);
    let missing = |name: &str| Problem::malformed(format!("its custom options lack {name}"));
    let count = |name: &str| -> Result<Option<u32>> {
        match find(name) {
            None => Ok(None),
            Some(value) => value
                .as_integer()
                .and_then(|v| u32::try_from(v).ok())
                .map_or_else(
                    || {
                        Err(Problem::malformed(format!(
                            "its custom option {name} is no count"
                        )))
                    },
                    |value| Ok(Some(value)),
                ),
        }
    };
    let number = |name: &str| find(name).map(Scalar::as_real).ok_or_else(|| missing(name));
    let required = |name: &str| count(name)?.ok_or_else(|| missing(name));
    let descriptor = DetectionPostProcessDescriptor {
        max_detections: required("max_detections")?,
        max_classes_per_detection: required("max_classes_per_detection")?,
        detections_per_class: count("detections_per_class")?.unwrap_or(100),
        num_classes: required("num_classes")?,
        use_regular_nms: u32::from(count("use_regular_nms")?.unwrap_or(0) != 0),
        nms_score_threshold: number("nms_score_threshold")?,
        nms_iou_threshold: number("nms_iou_threshold")?,
        scale_x: number("x_scale")?,
        scale_y: number("y_scale")?,
        scale_w: number("w_scale")?,
        scale_h: number("h_scale")?,
    };
    let inputs = [
        Some(context.input(0)?),
        Some(context.input(1)?),
        Some(context.input(2)?),
    ];
    let mut declarations = Vec::new();
    for position in 0..context.output_count() {
        declarations.push(context.declaration(position)?);
    }
    context.emit_all(descriptor, &inputs, &declarations)
}

/// The second input is the axis.
pub(super) fn cumsum(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<CumsumOptionsRef<'_>>()?;
    let mut descriptor = CumulativeDescriptor::new(CumulativeOperation::Sum, 0);
    descriptor.exclusive = options.exclusive()?.into();
    descriptor.reverse = options.reverse()?.into();
    let input = context.input(0)?;
    let axis = context.input(1)?;
    let declaration = context.declaration(0)?;
    let rule = ParameterRule::Cumulative(descriptor);
    context.emit_by_rule(0, rule, &[Some(input)], &[Some(axis)], declaration)
}

/// The boundaries are Float32; other numbers are compared with them as such.
pub(super) fn bucketize(context: &mut Context<'_, '_, '_>) -> Result {
    let boundaries = context.options::<BucketizeOptionsRef<'_>>()?.boundaries()?;
    // Before they are read: operators may share them in the file.
    let bytes = boundaries.map_or(0, |b| b.len()).saturating_mul(8);
    super::constants::charge(&mut context.lowering.shared.constant_budget, bytes)?;
    let boundaries: Vec<f32> = boundaries.into_iter().flatten().collect();
    if !boundaries.is_sorted() {
        return Err(Problem::malformed("its boundaries are not in order"));
    }
    let input = context.input(0)?;
    let wide = context.info(input)?.data_type == DataType::Float64;
    let (data_type, data): (_, Vec<u8>) = match wide {
        true => {
            let numbers = boundaries.iter().map(|&b| f64::from(b));
            (
                DataType::Float64,
                numbers.flat_map(f64::to_le_bytes).collect(),
            )
        }
        false => {
            let numbers = boundaries.iter().copied();
            (
                DataType::Float32,
                numbers.flat_map(f32::to_le_bytes).collect(),
            )
        }
    };
    let input = context.cast_step(input, data_type)?;
    let shape = Shape::from([boundaries.len() as i64]);
    let boundaries = context.new_constant(TensorInfo::new(data_type, shape), data)?;
    context.emit(BucketizeDescriptor::new(), &[Some(input), Some(boundaries)])
}

/// Each row becomes the diagonal of a matrix.
pub(super) fn matrix_diag(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let info = context.info(input)?.clone();
    let Some(&size) = info.shape.dims().last() else {
        return Err(Problem::malformed("a scalar is no diagonal"));
    };
    if info.data_type.is_quantized() {
        return Err(Problem::unsupported("diagonals of a quantized type"));
    }
    let zero = context.scalar(info.data_type, 0.0)?;
    let mask = match size {
        0.. => context.diagonal_mask(size, size)?,
        _ => {
            let last = info.shape.rank() - 1;
            let size = context.shape_step(input, last, last + 1)?;
            context.diagonal_mask_of(size, size)?
        }
    };
    let rows = context.as_row(input)?;
    let inputs = [Some(mask), Some(rows), Some(zero)];
    context.emit(SelectDescriptor::new(), &inputs)
}

/// The second input becomes the diagonals of the first one's matrices.
pub(super) fn matrix_set_diag(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let diagonal = context.input(1)?;
    let shape = context.shape(input)?;
    let &[.., rows, columns] = shape.dims() else {
        return Err(Problem::malformed(format!("{shape} is no matrix")));
    };
    if rows < 0 || columns < 0 {
        return matrix_set_open_diag(context, input, diagonal);
    }
    let mask = context.diagonal_mask(rows, columns)?;
    let diagonal = match rows >= columns {
        true => context.as_row(diagonal)?,
        // As a column: there are as many rows as elements.
        false => {
            let mut groups = each_dimension(context.shape(diagonal)?.rank());
            groups.push(Vec::new());
            context.merge_step(0, diagonal, groups)?
        }
    };
    let declaration = context.moved(0, input)?;
    context.check_scale_kept(diagonal, &declaration)?;
    let inputs = [Some(mask), Some(diagonal), Some(input)];
    context.emit_declared(0, SelectDescriptor::new(), &inputs, declaration)
}

/// The same of matrices whose size is not known: the diagonal becomes as long as a row.
fn matrix_set_open_diag(
    context: &mut Context<'_, '_, '_>,
    input: TensorId,
    diagonal: TensorId,
) -> Result {
    let rank = context.shape(input)?.rank();
    let diagonal_rank = context.shape(diagonal)?.rank();
    if diagonal_rank + 1 != rank {
        return Err(Problem::malformed(format!(
            "a diagonal of {diagonal_rank} dimensions for matrices of {rank}"
        )));
    }
    let rows = context.shape_step(input, rank - 2, rank - 1)?;
    let columns = context.shape_step(input, rank - 1, rank)?;
    let length = context.shape_step(diagonal, diagonal_rank - 1, diagonal_rank)?;
    let none = OutputDeclaration::default;
    let sub = ElementwiseBinaryDescriptor::new(BinaryOperation::Sub);
    let missing = context.step(0, sub, &[Some(columns), Some(length)], none())?;
    let zeros = context.integer_list(DataType::Signed64, &vec![0; 2 * diagonal_rank - 1])?;
    let amounts = context.joined(&[zeros, missing])?;
    let rule = ParameterRule::Pad {
        mode: PaddingMode::Constant,
        value: 0.0,
        layout: PadLayout::Sides,
        negative_as_none: false,
    };
    let declaration = context.moved(0, input)?;
    context.check_scale_kept(diagonal, &declaration)?;
    let parameters = [Some(amounts), None, None];
    let padded = context.step_by_rule(0, rule, &[Some(diagonal)], &parameters, none())?;
    let row = context.as_row(padded)?;
    let mask = context.diagonal_mask_of(rows, columns)?;
    let inputs = [Some(mask), Some(row), Some(input)];
    context.emit_declared(0, SelectDescriptor::new(), &inputs, declaration)
}

impl Context<'_, '_, '_> {
    /// A matrix that is true on its diagonal.
    fn diagonal_mask(&mut self, rows: i64, columns: i64) -> Result<TensorId> {
        let count = rows
            .checked_mul(columns)
            .and_then(|n| usize::try_from(n).ok());
        let size = usize::try_from(columns).ok();
        let too_large = || Problem::unsupported("matrices of more elements than fit into memory");
        let (count, size) = count.zip(size).ok_or_else(too_large)?;
        super::constants::charge(&mut self.lowering.shared.constant_budget, count)?;
        let mut mask = vec![0; count];
        let row_count = usize::try_from(rows.min(columns)).unwrap_or(0);
        for row in 0..row_count {
            mask[row * size + row] = 1;
        }
        let info = TensorInfo::new(DataType::Boolean, Shape::from([rows, columns]));
        self.new_constant(info, mask)
    }

    /// The same of sizes that are tensors.
    fn diagonal_mask_of(&mut self, rows: TensorId, columns: TensorId) -> Result<TensorId> {
        let none = OutputDeclaration::default;
        let zero = self.scalar(DataType::Signed64, 0.0)?;
        let one = self.scalar(DataType::Signed64, 1.0)?;
        let mut sides = [rows, columns];
        for (at, side) in sides.iter_mut().enumerate() {
            let limit = self.merge_step(0, *side, vec![])?;
            let inputs = [Some(zero), Some(limit), Some(one)];
            let rule = ParameterRule::Range {
                rounded_quotient: true,
            };
            let numbers = self.step_by_rule(0, rule, &inputs, &inputs, none())?;
            let groups = match at {
                0 => vec![vec![0], vec![]],
                _ => vec![vec![], vec![0]],
            };
            *side = self.merge_step(0, numbers, groups)?;
        }
        let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
        self.step(0, equal, &sides.map(Some), none())
    }

    /// A dimension of size 1 before the last.
    fn as_row(&mut self, id: TensorId) -> Result<TensorId> {
        let mut groups = each_dimension(self.shape(id)?.rank());
        let last = groups.len().saturating_sub(1);
        groups.insert(last, Vec::new());
        self.merge_step(0, id, groups)
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestModel, assert_refused, float, floats_constant, ints, load, lower, run, typed,
    };

    #[test]
    fn a_condition_of_rows_chooses_rows() {
        let condition = typed(TensorType::Bool, &[2]).with_data(vec![1, 0]);
        let zeros = || floats_constant(&[2, 2], &[0.0; 4]);
        let x: (&[i64], &[f32]) = (&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let inputs = [condition.clone(), float(&[2, 2]), zeros()];
        let network = lower(Op::Select, &inputs, &[float(&[])], None).unwrap();
        assert_eq!(run(network, &[x]), [(vec![2, 2], vec![1.0, 2.0, 0.0, 0.0])]);
        // It broadcasts as everywhere in the second version.
        let inputs = [condition, float(&[2, 2]), zeros()];
        let network = lower(Op::SelectV2, &inputs, &[float(&[])], None).unwrap();
        assert_eq!(run(network, &[x]), [(vec![2, 2], vec![1.0, 0.0, 3.0, 0.0])]);
    }

    #[test]
    fn places_may_have_16_bits() {
        let inputs = [float(&[4]), ints(&[2]).shaped(&[])];
        let outputs = [float(&[2]), typed(TensorType::Int16, &[2])];
        let network = lower(Op::TopkV2, &inputs, &outputs, None).unwrap();
        let x = crate::test_model::tensor(&[4], &[1.0, 7.0, -2.0, 3.0]);
        let found = load(network).run(&[x]).unwrap();
        assert_eq!(found[0].elements::<f32>().unwrap(), [7.0, 3.0]);
        assert_eq!(found[1].elements::<i16>().unwrap(), [1, 3]);
    }

    #[test]
    fn boundaries_are_compared_as_real_numbers() {
        let options = write::BucketizeOptions {
            boundaries: Some(vec![0.5, 2.0]),
        };
        let options = || write::BuiltinOptions::BucketizeOptions(options.clone().into());
        let output = typed(TensorType::Int32, &[3]);
        let inputs = [ints(&[0, 1, 2])];
        let network = lower(Op::Bucketize, &inputs, &[output], options()).unwrap();
        let found = load(network).run(&[]).unwrap();
        assert_eq!(found[0].elements::<i32>().unwrap(), [0, 1, 2]);
    }

    #[test]
    fn a_row_becomes_a_diagonal() {
        let x: (&[i64], &[f32]) = (&[2], &[f32::INFINITY, 2.0]);
        let network = lower(Op::MatrixDiag, &[float(&[2])], &[float(&[])], None).unwrap();
        let expected = vec![f32::INFINITY, 0.0, 0.0, 2.0];
        assert_eq!(run(network, &[x]), [(vec![2, 2], expected)]);
        for (rows, columns, expected) in [
            (2, 3, [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]),
            (3, 2, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
        ] {
            let matrix = floats_constant(&[rows, columns], &[0.0; 6]);
            let inputs = [matrix, float(&[2])];
            let network = lower(Op::MatrixSetDiag, &inputs, &[float(&[])], None).unwrap();
            let found = run(network, &[(&[2], &[1.0, 2.0])]);
            assert_eq!(found[0].1, expected);
        }
    }

    #[test]
    fn options_of_the_detection_that_are_no_map_are_damage() {
        for (options, expected) in [
            (&[1u8, 2, 3][..], "its custom options are no map of numbers"),
            // An empty map.
            (&[0, 1, 0, 0x24, 1], "its custom options"),
        ] {
            let mut model = TestModel::default();
            let inputs = [float(&[1, 5, 4]), float(&[1, 5, 3]), float(&[5, 4])];
            let inputs = inputs.map(|tensor| model.input(tensor));
            let outputs: Vec<i32> = (0..4).map(|_| model.tensor(float(&[]))).collect();
            model.custom("TFLite_Detection_PostProcess", &inputs, &outputs, options);
            model.output(outputs[0]);
            assert_refused(model.parse(), expected);
        }
    }

    #[test]
    fn matrices_of_sizes_that_an_execution_brings_get_diagonals() {
        let open = |rank: usize| float(&vec![1; rank]).signature(&vec![-1; rank]);
        let network = lower(Op::MatrixDiag, &[open(1)], &[float(&[])], None).unwrap();
        let found = run(network, &[(&[2], &[7.0, 8.0])]);
        assert_eq!(found, [(vec![2, 2], vec![7.0, 0.0, 0.0, 8.0])]);
        for (dims, expected) in [
            ([2, 3], [7.0, 1.0, 1.0, 1.0, 8.0, 1.0]),
            ([3, 2], [7.0, 1.0, 1.0, 8.0, 1.0, 1.0]),
        ] {
            let inputs = [open(2), open(1)];
            let network = lower(Op::MatrixSetDiag, &inputs, &[float(&[])], None).unwrap();
            let found = run(network, &[(&dims, &[1.0; 6]), (&[2], &[7.0, 8.0])]);
            assert_eq!(found, [(dims.to_vec(), expected.to_vec())]);
        }
    }
}
