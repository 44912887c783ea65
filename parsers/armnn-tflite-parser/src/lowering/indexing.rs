//! Elements taken and put by index: GATHER_ND, SCATTER_ND, SPARSE_TO_DENSE, EMBEDDING_LOOKUP,
//! EMBEDDING_LOOKUP_SPARSE, DYNAMIC_UPDATE_SLICE, the segment operators, REVERSE_V2, REVERSE_SEQUENCE, WHERE, UNIQUE.

use armnn_backend_api::{
    BinaryOperation, CastDescriptor, ComparisonDescriptor, ComparisonOperation, DataType,
    DequantizeDescriptor, DynamicUpdateSliceDescriptor, ElementwiseBinaryDescriptor,
    ElementwiseUnaryDescriptor, GatherDescriptor, GatherNdDescriptor, NonZeroDescriptor,
    ReduceDescriptor, ReduceOperation, ReverseSequenceDescriptor, ScatterFunction,
    ScatterNdDescriptor, SelectDescriptor, TransposeDescriptor, UnaryOperation, UniqueDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, StridedSliceOptions, TensorId};

use super::context::{Context, described, each_dimension};
use super::problem::{Problem, Result};
use crate::schema_generated::{
    CombinerType, EmbeddingLookupSparseOptionsRef, ReverseSequenceOptionsRef,
};

pub(super) fn gather_nd(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let indices = context.indices(1)?;
    let declaration = context.moved(0, input)?;
    let descriptor = GatherNdDescriptor { batch_dims: 0 };
    context.emit_declared(0, descriptor, &[Some(input), Some(indices)], declaration)
}

/// Indices, updates and the shape: updates of the same place add up.
pub(super) fn scatter_nd(context: &mut Context<'_, '_, '_>) -> Result {
    let indices = context.input(0)?;
    let updates = context.input(1)?;
    let dims = context.input(2)?;
    if plain_type(context, updates)? != DataType::Boolean {
        let zeros = zeros(context, updates, dims)?;
        let sum = ScatterNdDescriptor::new(ScatterFunction::Add);
        return context.emit(sum, &[Some(zeros), Some(indices), Some(updates)]);
    }
    // The sum of Booleans is whether one of them is true.
    let numbers = context.cast_step(updates, DataType::UInt8)?;
    let zeros = zeros(context, numbers, dims)?;
    let inputs = [Some(zeros), Some(indices), Some(numbers)];
    let largest = ScatterNdDescriptor::new(ScatterFunction::Max);
    let largest = context.step(0, largest, &inputs, OutputDeclaration::default())?;
    context.emit(CastDescriptor::new(), &[Some(largest)])
}

/// Zeros of the type of `like`.
fn zeros(context: &mut Context<'_, '_, '_>, like: TensorId, dims: TensorId) -> Result<TensorId> {
    let data_type = context.info(like)?.data_type;
    let zero = context.scalar(data_type, 0.0)?;
    context.filled(zero, dims)
}

/// Indices (one, a list, or a list of index vectors), the shape, the values (one, or one for each
/// index), and the value elsewhere.
pub(super) fn sparse_to_dense(context: &mut Context<'_, '_, '_>) -> Result {
    let mut indices = context.input(0)?;
    let dims = context.input(1)?;
    let mut values = context.input(2)?;
    let default = context.input(3)?;
    plain_type(context, values)?;
    let groups = match context.shape(indices)?.rank() {
        0 => Some(vec![vec![], vec![]]),
        1 => Some(vec![vec![0], vec![]]),
        2 => None,
        rank => {
            let problem = format!("indices of {rank} dimensions");
            return Err(Problem::malformed(problem));
        }
    };
    if let Some(groups) = groups {
        indices = context.merge_step(0, indices, groups)?;
    }
    if context.shape(values)?.rank() == 0 {
        let count = context.shape_step(indices, 0, 1)?;
        values = context.filled(values, count)?;
    }
    let background = context.filled(default, dims)?;
    let descriptor = ScatterNdDescriptor::new(ScatterFunction::Update);
    context.emit(descriptor, &[Some(background), Some(indices), Some(values)])
}

/// Rows of a table, which may be quantized where the output is real.
///
/// Rows of 4 bits follow each other without gaps. LiteRT 2.3 reads those with an odd number of
/// elements from other places, which is not followed.
pub(super) fn embedding_lookup(context: &mut Context<'_, '_, '_>) -> Result {
    let ids = context.input(0)?;
    let table = context.input(1)?;
    let mut table = context.unpacked(table)?;
    let output = context.declaration(0)?;
    let info = context.info(table)?;
    let widened = info.data_type.is_quantized() && output.data_type == Some(DataType::Float32);
    let per_row = info.quantization.scales().len() > 1;
    let gather = GatherDescriptor { axis: 0 };
    let real = OutputDeclaration::of_type(DataType::Float32);
    match (widened, per_row) {
        (false, _) => {}
        // A scale for each row goes where the row goes.
        (true, true) => {
            table = context.step(0, DequantizeDescriptor::new(), &[Some(table)], real)?;
        }
        (true, false) => {
            let inputs = [Some(table), Some(ids)];
            let rows = context.step(0, gather, &inputs, OutputDeclaration::default())?;
            return context.emit(DequantizeDescriptor::new(), &[Some(rows)]);
        }
    }
    context.emit(gather, &[Some(table), Some(ids)])
}

/// Rows of a table put together: ids of rows, an index vector of each, the shape that these are of, a
/// weight of each, and the table. Rows whose index vectors differ in the last number alone are added
/// up, times their weights; what is combined as a mean is divided by the sum of the weights, or by
/// the root of the sum of their squares.
///
/// Index vectors are in ascending order, as the operator wants them.
pub(super) fn embedding_lookup_sparse(context: &mut Context<'_, '_, '_>) -> Result {
    let combiner = context
        .options::<EmbeddingLookupSparseOptionsRef<'_>>()?
        .combiner()?;
    let inputs = context.inputs()?;
    let &[ids, vectors, dims, weights, table] = &inputs[..] else {
        return Err(Problem::malformed("it has not five inputs"));
    };
    let table_rank = context.shape(table)?.rank();
    let &[_, depth] = context.shape(vectors)?.dims() else {
        return Err(Problem::malformed("index vectors are of two dimensions"));
    };
    if depth < 2 || table_rank < 1 {
        return Err(Problem::unsupported(format!(
            "index vectors of {depth} numbers; at least 2 must be there"
        )));
    }
    for id in [weights, table] {
        if context.info(id)?.data_type != DataType::Float32 {
            return Err(Problem::malformed("weights and table are of FLOAT32"));
        }
    }
    let none = OutputDeclaration::default;
    let binary = ElementwiseBinaryDescriptor::new;
    let gather = GatherDescriptor { axis: 0 };
    let rows = context.step(0, gather, &[Some(table), Some(ids)], none())?;
    let mut groups = vec![Vec::new(); table_rank];
    groups[0].push(0);
    let factors = context.merge_step(0, weights, groups)?;
    let mul = binary(BinaryOperation::Mul);
    let products = context.step(0, mul, &[Some(rows), Some(factors)], none())?;
    // The last number of an index vector tells nothing of the output.
    let begin = context.integer_list(DataType::Signed64, &[0, 0])?;
    let sizes = context.integer_list(DataType::Signed64, &[-1, depth - 1])?;
    let parameters = [Some(begin), Some(sizes)];
    let rule = ParameterRule::BeginSize;
    let vectors = context.step_by_rule(0, rule, &[Some(vectors)], &parameters, none())?;
    let dims = context.cast_step(dims, DataType::Signed64)?;
    let begin = context.integer_list(DataType::Signed64, &[0])?;
    let sizes = context.integer_list(DataType::Signed64, &[depth - 1])?;
    let parameters = [Some(begin), Some(sizes)];
    let rule = ParameterRule::BeginSize;
    let buckets = context.step_by_rule(0, rule, &[Some(dims)], &parameters, none())?;
    let row = context.shape_step(table, 1, table_rank)?;
    let all = context.joined(&[buckets, row])?;
    let start = zeros(context, products, all)?;
    let add = ScatterNdDescriptor::new(ScatterFunction::Add);
    let inputs = [Some(start), Some(vectors), Some(products)];
    if combiner == CombinerType::Sum {
        return context.emit(add, &inputs);
    }
    let sums = context.step(0, add, &inputs, none())?;
    let mut amounts = weights;
    if combiner == CombinerType::Sqrtn {
        amounts = context.step(0, mul, &[Some(weights), Some(weights)], none())?;
    }
    let start = zeros(context, amounts, buckets)?;
    let inputs = [Some(start), Some(vectors), Some(amounts)];
    let mut total = context.step(0, add, &inputs, none())?;
    if combiner == CombinerType::Sqrtn {
        let root = ElementwiseUnaryDescriptor::new(UnaryOperation::Sqrt);
        total = context.step(0, root, &[Some(total)], none())?;
    }
    // Nothing is divided where there are no rows.
    let [zero, one] = [0.0, 1.0].map(|value| context.scalar(DataType::Float32, value));
    let (zero, one) = (zero?, one?);
    let equal = ComparisonDescriptor::new(ComparisonOperation::Equal);
    let is_zero = context.step(0, equal, &[Some(total), Some(zero)], none())?;
    let inputs = [Some(is_zero), Some(one), Some(total)];
    let total = context.step(0, SelectDescriptor::new(), &inputs, none())?;
    let div = binary(BinaryOperation::Div);
    let factor = context.step(0, div, &[Some(one), Some(total)], none())?;
    let mut groups = each_dimension(context.shape(factor)?.rank());
    groups.extend(vec![Vec::new(); table_rank - 1]);
    let factor = context.merge_step(0, factor, groups)?;
    context.emit(mul, &[Some(sums), Some(factor)])
}

pub(super) fn dynamic_update_slice(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let inputs = [
        Some(input),
        Some(context.input(1)?),
        Some(context.input(2)?),
    ];
    let declaration = context.moved(0, input)?;
    context.emit_declared(0, DynamicUpdateSliceDescriptor::new(), &inputs, declaration)
}

/// Rows and the number of each one's segment, ascending; the sum of each segment's rows. There are
/// as many segments as the last number says.
pub(super) fn segment_sum(context: &mut Context<'_, '_, '_>) -> Result {
    let rows = context.input(0)?;
    let segments = context.input(1)?;
    let data_type = plain_type(context, rows)?;
    let rank = context.shape(rows)?.rank();
    if rank == 0 || context.shape(segments)?.rank() != 1 {
        return Err(Problem::malformed(
            "segments are rows and a list of numbers",
        ));
    }
    let none = OutputDeclaration::default;
    let last = described(ReduceDescriptor::new(ReduceOperation::Max, &[0], true))?;
    let last = context.step(0, last, &[Some(segments)], none())?;
    let last = context.cast_step(last, DataType::Signed64)?;
    let one = context.integer_list(DataType::Signed64, &[1])?;
    let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
    let count = context.step(0, add, &[Some(last), Some(one)], none())?;
    let row = context.shape_step(rows, 1, rank)?;
    let dims = context.joined(&[count, row])?;
    let zero = context.scalar(data_type, 0.0)?;
    let zeros = context.filled(zero, dims)?;
    let indices = context.merge_step(0, segments, vec![vec![0], vec![]])?;
    let descriptor = ScatterNdDescriptor::new(ScatterFunction::Add);
    context.emit(descriptor, &[Some(zeros), Some(indices), Some(rows)])
}

/// The same with segments in any order, their number an input, and further operations. Rows of
/// negative segments are left out: they go to one more segment, which is cut off.
pub(super) fn unsorted_segment(
    context: &mut Context<'_, '_, '_>,
    function: ScatterFunction,
) -> Result {
    let rows = context.input(0)?;
    let segments = context.input(1)?;
    let count = context.input(2)?;
    let data_type = plain_type(context, rows)?;
    let (rank, segment_rank) = (context.shape(rows)?.rank(), context.shape(segments)?.rank());
    if segment_rank == 0 || segment_rank > rank {
        return Err(Problem::malformed(
            "there must be a segment for each row of the leading dimensions",
        ));
    }
    let first = match function {
        ScatterFunction::Mul => 1.0,
        ScatterFunction::Max => limits(data_type)?[0],
        ScatterFunction::Min => limits(data_type)?[1],
        _ => 0.0,
    };
    let none = OutputDeclaration::default;
    let index_type = context.info(segments)?.data_type;
    let count = context.cast_step(count, index_type)?;
    let zero = context.scalar(index_type, 0.0)?;
    let less = ComparisonDescriptor::new(ComparisonOperation::Less);
    let negative = context.step(0, less, &[Some(segments), Some(zero)], none())?;
    let inputs = [Some(negative), Some(count), Some(segments)];
    let segments = context.step(0, SelectDescriptor::new(), &inputs, none())?;
    let mut groups = each_dimension(segment_rank);
    groups.push(Vec::new());
    let indices = context.merge_step(0, segments, groups)?;

    let count = context.cast_step(count, DataType::Signed64)?;
    let groups = vec![Vec::new()];
    let count = match context.shape(count)?.rank() {
        0 => context.merge_step(0, count, groups)?,
        _ => count,
    };
    let one = context.integer_list(DataType::Signed64, &[1])?;
    let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
    let more = context.step(0, add, &[Some(count), Some(one)], none())?;
    let row = context.shape_step(rows, segment_rank, rank)?;
    let dims = context.joined(&[more, row])?;
    let first = context.scalar(data_type, first)?;
    let start = context.filled(first, dims)?;
    let descriptor = ScatterNdDescriptor::new(function);
    let inputs = [Some(start), Some(indices), Some(rows)];
    let all = context.step(0, descriptor, &inputs, none())?;

    let bounds = [
        Some(context.integer_list(DataType::Signed64, &[0])?),
        Some(context.integer_list(DataType::Signed64, &[-1])?),
        Some(one),
    ];
    let rule = ParameterRule::StridedSlice(StridedSliceOptions::default());
    let declaration = context.declaration(0)?;
    context.emit_by_rule(0, rule, &[Some(all)], &bounds, declaration)
}

/// The least and the greatest number of a type.
fn limits(data_type: DataType) -> Result<[f64; 2]> {
    Ok(match data_type {
        DataType::Float32 => [f32::MIN.into(), f32::MAX.into()],
        DataType::Float64 => [f64::MIN, f64::MAX],
        DataType::Signed32 => [i32::MIN.into(), i32::MAX.into()],
        DataType::Int8 => [i8::MIN.into(), i8::MAX.into()],
        DataType::UInt8 => [0.0, u8::MAX.into()],
        DataType::Int16 => [i16::MIN.into(), i16::MAX.into()],
        // The greatest is not a Float64; it is made when the constant is.
        DataType::Signed64 => [i64::MIN as f64, i64::MAX as f64],
        other => {
            let what = format!("segments of elements of type {other}");
            return Err(Problem::unsupported(what));
        }
    })
}

pub(super) fn reverse_v2(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let axes = context.input(1)?;
    let declaration = context.moved(0, input)?;
    let rule = ParameterRule::ReverseV2;
    context.emit_by_rule(0, rule, &[Some(input)], &[Some(axes)], declaration)
}

pub(super) fn reverse_sequence(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<ReverseSequenceOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let inputs = [Some(input), Some(context.input(1)?)];
    let descriptor = ReverseSequenceDescriptor {
        sequence_axis: super::context::axis(options.seq_dim()?.into(), rank)? as u32,
        batch_axis: super::context::axis(options.batch_dim()?.into(), rank)? as u32,
    };
    let declaration = context.moved(0, input)?;
    context.emit_declared(0, descriptor, &inputs, declaration)
}

/// Positions as rows, where the layer has them as columns.
pub(super) fn positions(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let none = OutputDeclaration::default();
    let columns = context.step(0, NonZeroDescriptor::new(), &[Some(input)], none)?;
    let descriptor = described(TransposeDescriptor::new(&[1, 0]))?;
    context.emit(descriptor, &[Some(columns)])
}

/// Each element once, in the order in which they appear; and for each of the input's, its place
/// there, of the type that the output declares.
pub(super) fn unique(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let elements = context.moved(0, input)?;
    let descriptor = UniqueDescriptor::new(None, false);
    let outputs = vec![
        elements,
        OutputDeclaration::default(),
        OutputDeclaration::default(),
        OutputDeclaration::default(),
    ];
    let ids = context.steps(descriptor, &[Some(input)], &outputs)?;
    let &[elements, _, places, _] = &ids[..] else {
        return Err(Problem::malformed("Unique without its outputs"));
    };
    context.bind(0, elements)?;
    if context.output_count() < 2 {
        return Ok(());
    }
    match context.declaration(1)?.data_type {
        Some(DataType::Signed64) => context.bind(1, places),
        _ => context.emit_output(1, CastDescriptor::new(), &[Some(places)]),
    }
}

/// The type of elements that are added up, which has no scale.
fn plain_type(context: &Context<'_, '_, '_>, id: TensorId) -> Result<DataType> {
    let info = context.info(id)?;
    if info.data_type.is_quantized() {
        return Err(Problem::unsupported(format!(
            "quantized elements ({info}) put together by index"
        )));
    }
    Ok(info.data_type)
}

impl Context<'_, '_, '_> {
    /// A tensor of one value, which is not the operator's last layer.
    pub(super) fn filled(&mut self, value: TensorId, dims: TensorId) -> Result<TensorId> {
        let none = OutputDeclaration::default();
        self.step_by_rule(0, ParameterRule::Fill, &[Some(value)], &[Some(dims)], none)
    }

    /// An input of indices; those of 16 bits are widened.
    pub(super) fn indices(&mut self, position: usize) -> Result<TensorId> {
        let id = self.input(position)?;
        match self.info(id)?.data_type {
            DataType::Int16 => self.cast_step(id, DataType::Signed32),
            _ => Ok(id),
        }
    }

    /// Elements of another type, which is not the operator's last layer.
    pub(super) fn cast_step(&mut self, id: TensorId, data_type: DataType) -> Result<TensorId> {
        if self.info(id)?.data_type == data_type {
            return Ok(id);
        }
        let declaration = OutputDeclaration::of_type(data_type);
        self.step(0, CastDescriptor::new(), &[Some(id)], declaration)
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestTensor, float, floats_constant, ints, load, lower, run, typed};

    type Floats<'a> = (&'a [i64], &'a [f32]);

    fn found(operator: Op, inputs: &[TestTensor], given: &[Floats<'_>]) -> (Vec<i64>, Vec<f32>) {
        let network = lower(operator, inputs, &[float(&[])], None).unwrap();
        run(network, given).remove(0)
    }

    #[test]
    fn updates_of_one_place_add_up() {
        let inputs = [ints(&[2, 0, 2]).shaped(&[3, 1]), float(&[3]), ints(&[4])];
        let sums = found(Op::ScatterNd, &inputs, &[(&[3], &[1.0, 2.0, 3.0])]);
        assert_eq!(sums, (vec![4], vec![2.0, 0.0, 4.0, 0.0]));
    }

    #[test]
    fn a_sparse_tensor_is_a_background_with_values() {
        let background = || floats_constant(&[], &[-1.0]);
        let values = || floats_constant(&[], &[5.0]);
        let inputs = [ints(&[1, 3]), ints(&[4]), values(), background()];
        assert_eq!(
            found(Op::SparseToDense, &inputs, &[]),
            (vec![4], vec![-1.0, 5.0, -1.0, 5.0])
        );
        let inputs = [
            ints(&[0, 1, 1, 0]).shaped(&[2, 2]),
            ints(&[2, 2]),
            float(&[2]),
            background(),
        ];
        assert_eq!(
            found(Op::SparseToDense, &inputs, &[(&[2], &[7.0, 8.0])]),
            (vec![2, 2], vec![-1.0, 7.0, 8.0, -1.0])
        );
    }

    #[test]
    fn rows_are_added_up_by_segment() {
        let x: Floats<'_> = (&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let inputs = [float(&[3, 2]), ints(&[0, 0, 2])];
        assert_eq!(
            found(Op::SegmentSum, &inputs, &[x]),
            (vec![3, 2], vec![4.0, 6.0, 0.0, 0.0, 5.0, 6.0])
        );
    }

    /// Segment -1 is left out, and one without rows is what the operation begins with.
    #[test]
    fn segments_may_be_in_any_order() {
        let x: Floats<'_> = (&[4], &[1.0, 2.0, 3.0, 4.0]);
        let least = f32::MIN;
        for (operator, expected) in [
            (Op::UnsortedSegmentSum, [5.0, 0.0, 3.0]),
            (Op::UnsortedSegmentProd, [4.0, 1.0, 3.0]),
            (Op::UnsortedSegmentMax, [4.0, least, 3.0]),
            (Op::UnsortedSegmentMin, [1.0, f32::MAX, 3.0]),
        ] {
            let inputs = [float(&[4]), ints(&[0, -1, 2, 0]), ints(&[3]).shaped(&[])];
            let found = found(operator, &inputs, &[x]);
            assert_eq!(found, (vec![3], expected.to_vec()), "{operator:?}");
        }
    }

    #[test]
    fn positions_are_rows() {
        let input = typed(TensorType::Int32, &[2, 2]).with_data(
            [0i32, 3, 4, 0]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect(),
        );
        let output = typed(TensorType::Int64, &[]);
        let network = lower(Op::Where, &[input], &[output], None).unwrap();
        let found = load(network).run(&[]).unwrap();
        assert_eq!(found[0].info().shape.dims(), [2, 2]);
        assert_eq!(found[0].elements::<i64>().unwrap(), [0, 1, 1, 0]);
    }

    #[test]
    fn each_element_once_in_the_order_of_appearance() {
        let outputs = [float(&[]), typed(TensorType::Int32, &[])];
        let network = lower(Op::Unique, &[float(&[4])], &outputs, None).unwrap();
        let x = crate::test_model::tensor(&[4], &[3.0, 1.0, 3.0, 2.0]);
        let found = load(network).run(&[x]).unwrap();
        assert_eq!(found[0].elements::<f32>().unwrap(), [3.0, 1.0, 2.0]);
        assert_eq!(found[1].elements::<i32>().unwrap(), [0, 1, 0, 2]);
    }

    #[test]
    fn rows_of_a_quantized_table_are_widened() {
        let table = typed(TensorType::Int8, &[2, 2])
            .with_data(vec![1, 2, 3, 4])
            .quantized(0.5, 0);
        let looked_up = found(Op::EmbeddingLookup, &[ints(&[1, 0]), table], &[]);
        assert_eq!(looked_up, (vec![2, 2], vec![1.5, 2.0, 0.5, 1.0]));
    }

    /// Row 0 is 1 [1, 2] + 3 [3, 4], row 2 is 2 [3, 4]; nothing is of row 1. Weights add up to 4 and
    /// 2, their squares to 10 and 4.
    #[test]
    fn rows_of_a_table_are_put_together_by_weights() {
        use crate::schema_generated::CombinerType as Combiner;
        let root = 10f32.sqrt();
        for (combiner, expected) in [
            (Combiner::Sum, [10.0, 14.0, 0.0, 0.0, 6.0, 8.0]),
            (Combiner::Mean, [2.5, 3.5, 0.0, 0.0, 3.0, 4.0]),
            (
                Combiner::Sqrtn,
                [10.0 / root, 14.0 / root, 0.0, 0.0, 3.0, 4.0],
            ),
        ] {
            let options = write::EmbeddingLookupSparseOptions { combiner };
            let options = write::BuiltinOptions::EmbeddingLookupSparseOptions(Box::new(options));
            let inputs = [
                ints(&[0, 1, 1]),
                ints(&[0, 0, 0, 1, 2, 0]).shaped(&[3, 2]),
                ints(&[3, 2]),
                floats_constant(&[3], &[1.0, 3.0, 2.0]),
                floats_constant(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
            ];
            let network = lower(Op::EmbeddingLookupSparse, &inputs, &[float(&[])], options);
            let (dims, found) = run(network.unwrap(), &[]).remove(0);
            assert_eq!(dims, [3, 2]);
            let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
            assert!(
                found.iter().zip(&expected).all(close),
                "{combiner:?}: {found:?}"
            );
        }
    }
}
