//! STABLEHLO_GATHER (<https://openxla.org/stablehlo/spec#gather>) and STABLEHLO_SCATTER
//! (<https://openxla.org/stablehlo/spec#scatter>): windows of the operand, each where an index vector
//! says.
//!
//! The operand's dimensions that index vectors are of come first; a window along them is as many
//! index vectors. Then both are GatherNd and ScatterNd.

use armnn_backend_api::{
    BinaryOperation, ComparisonDescriptor, ComparisonOperation, DataType,
    ElementwiseBinaryDescriptor, GatherNdDescriptor, LogicalBinaryDescriptor,
    LogicalBinaryOperation, PadDescriptor, PaddingMode, ReduceDescriptor, ReduceOperation,
    ScatterFunction, ScatterNdDescriptor, SelectDescriptor, Shape, StridedSliceDescriptor,
    TransposeDescriptor,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::constants::charge;
use super::context::{Context, axis, described};
use super::problem::{Problem, Result};
use super::stablehlo::{body_operation, list};
use crate::schema_generated::{StablehloGatherOptionsRef, StablehloScatterOptionsRef};

/// The operand and the indices. Indices are moved so that the window lies within the operand.
pub(super) fn gather(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloGatherOptionsRef<'_>>()?;
    let input = context.input(0)?;
    let dims = known_dims(context, input, "an operand")?;
    let rank = dims.len();
    let map = axes(list(options.start_index_map()?)?, rank)?;
    let collapsed = axes(list(options.collapsed_slice_dims()?)?, rank)?;
    let sizes = list(options.slice_sizes()?)?;
    let fits = |at: usize| (0..=dims[at]).contains(&sizes[at]);
    if sizes.len() != rank || !(0..rank).all(fits) || collapsed.iter().any(|&at| sizes[at] != 1) {
        return Err(Problem::malformed(format!(
            "slices of {sizes:?} of an operand of {dims:?}"
        )));
    }
    let rest: Vec<usize> = (0..rank).filter(|at| !map.contains(at)).collect();
    let mut operand = input;
    if rest.iter().any(|&at| sizes[at] < dims[at]) {
        let (zeros, ones) = (vec![0; rank], vec![1; rank]);
        let ends = |at: usize| {
            if map.contains(&at) {
                dims[at]
            } else {
                sizes[at]
            }
        };
        let ends: Vec<i64> = (0..rank).map(ends).collect();
        let slice = described(StridedSliceDescriptor::new(&zeros, &ends, &ones))?;
        operand = context.step(0, slice, &[Some(operand)], none())?;
    }
    let order = [&map[..], &rest].concat();
    operand = context.in_order(operand, &order)?;
    let kept_rest: Vec<usize> = rest
        .iter()
        .copied()
        .filter(|at| !collapsed.contains(at))
        .collect();
    if kept_rest.len() < rest.len() {
        let place = |at: &usize| order.iter().position(|of| of == at).unwrap_or(0);
        let kept = kept_rest.iter().map(|at| vec![place(at)]);
        let groups = (0..map.len()).map(|at| vec![at]).chain(kept).collect();
        operand = context.merge_step(0, operand, groups)?;
    }

    let vectors = context.index_vectors(1, options.index_vector_dim()?, map.len())?;
    let batches = context.shape(vectors)?.rank() - 1;
    let last: Vec<i64> = map.iter().map(|&at| dims[at] - sizes[at]).collect();
    let zeros = context.integer_list(DataType::Signed64, &vec![0; map.len()])?;
    let last = context.integer_list(DataType::Signed64, &last)?;
    let binary = ElementwiseBinaryDescriptor::new;
    let maximum = binary(BinaryOperation::Maximum);
    let vectors = context.step(0, maximum, &[Some(vectors), Some(zeros)], none())?;
    let minimum = binary(BinaryOperation::Minimum);
    let vectors = context.step(0, minimum, &[Some(vectors), Some(last)], none())?;
    let windows: Vec<Option<i64>> = map
        .iter()
        .map(|at| (!collapsed.contains(at)).then_some(sizes[*at]))
        .collect();
    let vectors = context.with_windows(vectors, &windows)?;

    // What there is: batches, windows along indexed dimensions, the others.
    let kept_map = map.iter().copied().filter(|at| !collapsed.contains(at));
    let found: Vec<usize> = kept_map.chain(kept_rest).collect();
    let mut wanted = found.clone();
    wanted.sort_unstable();
    let n_outputs = batches + found.len();
    let offsets = axes(list(options.offset_dims()?)?, n_outputs)?;
    if offsets.len() != found.len() || !offsets.is_sorted() {
        return Err(Problem::malformed(format!(
            "{} dimensions of slices at {offsets:?} of the output",
            found.len()
        )));
    }
    let (mut batch, mut offset) = (0..batches, wanted.iter());
    let mut permutation = Vec::with_capacity(n_outputs);
    for place in 0..n_outputs {
        let from = match offsets.contains(&place) {
            true => offset
                .next()
                .and_then(|at| found.iter().position(|of| of == at))
                .map(|at| batches + at),
            false => batch.next(),
        };
        permutation.push(from.ok_or_else(|| Problem::malformed("more dimensions than there are"))?);
    }
    let declaration = context.moved(0, input)?;
    let gather = GatherNdDescriptor { batch_dims: 0 };
    let inputs = [Some(operand), Some(vectors)];
    if permutation.is_sorted() {
        return context.emit_declared(0, gather, &inputs, declaration);
    }
    let found = context.step(0, gather, &inputs, none())?;
    let transpose = transpose(&permutation)?;
    context.emit_declared(0, transpose, &[Some(found)], declaration)
}

/// The operand, the indices, the updates. What lies outside of the operand is left out.
pub(super) fn scatter(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloScatterOptionsRef<'_>>()?;
    let function = update_function(context, options.update_computation_subgraph_index()?)?;
    let input = context.input(0)?;
    let dims = known_dims(context, input, "an operand")?;
    let mut updates = context.input(2)?;
    let update_dims = known_dims(context, updates, "updates")?;
    let rank = dims.len();
    let map = axes(list(options.scatter_dims_to_operand_dims()?)?, rank)?;
    let inserted = axes(list(options.inserted_window_dims()?)?, rank)?;
    let window_dims = axes(list(options.update_window_dims()?)?, update_dims.len())?;
    let kept: Vec<usize> = (0..rank).filter(|at| !inserted.contains(at)).collect();
    if window_dims.len() != kept.len() || !window_dims.is_sorted() {
        return Err(Problem::malformed(format!(
            "windows along {window_dims:?} of the updates for {} dimensions",
            kept.len()
        )));
    }
    // Where the window along a dimension of the operand stands in the updates, if it has one.
    let window = |at: usize| {
        let place = kept.iter().position(|&of| of == at)?;
        window_dims.get(place).copied()
    };
    let size = |at: usize| window(at).map_or(1, |place| update_dims[place]);
    if (0..rank).any(|at| size(at) > dims[at]) {
        return Err(Problem::malformed(format!(
            "updates of {update_dims:?} to an operand of {dims:?}"
        )));
    }
    // Windows that cover a part of a dimension that no index is of stand at its beginning.
    let is_partial =
        |at: &usize| !map.contains(at) && (size(*at) != dims[*at] || window(*at).is_none());
    let partial: Vec<usize> = (0..rank).filter(is_partial).collect();
    let indexed = [&map[..], &partial].concat();
    let rest: Vec<usize> = (0..rank).filter(|at| !indexed.contains(at)).collect();
    if indexed.is_empty() {
        return Err(Problem::unsupported("a scatter without indices"));
    }

    let mut vectors = context.index_vectors(1, options.index_vector_dim()?, map.len())?;
    let vector_rank = context.shape(vectors)?.rank();
    if !partial.is_empty() {
        let (zeros, mut after) = (vec![0; vector_rank], vec![0; vector_rank]);
        after[vector_rank - 1] = partial.len() as i64;
        let mode = PaddingMode::Constant;
        let pad = described(PadDescriptor::new(mode, 0.0, &zeros, &after))?;
        vectors = context.step(0, pad, &[Some(vectors)], none())?;
    }
    let windows: Vec<Option<i64>> = indexed
        .iter()
        .map(|&at| window(at).map(|place| update_dims[place]))
        .collect();
    let vectors = context.with_windows(vectors, &windows)?;

    // Of updates of the same place the last one counts, in the order in which they stand.
    let scattered = (0..update_dims.len()).filter(|at| !window_dims.contains(at));
    let leading = scattered.chain(indexed.iter().filter_map(|&at| window(at)));
    let leading: Vec<usize> = leading.collect();
    let mut as_they_stand = leading.clone();
    as_they_stand.sort_unstable();
    let place = |of: &usize| leading.iter().position(|at| at == of);
    let vector_order = as_they_stand
        .iter()
        .filter_map(place)
        .chain([leading.len()]);
    let vectors = context.in_order(vectors, &vector_order.collect::<Vec<_>>())?;
    let update_order = rest.iter().filter_map(|&at| window(at));
    let update_order: Vec<usize> = as_they_stand.into_iter().chain(update_order).collect();
    updates = context.in_order(updates, &update_order)?;
    let order = [&indexed[..], &rest].concat();
    let mut operand = context.in_order(input, &order)?;

    // Updates outside go to one more place, which is cut off.
    let bounds: Vec<i64> = indexed.iter().map(|&at| dims[at]).collect();
    let vectors = context.within(vectors, &bounds)?;
    let (zeros, mut after) = (vec![0; rank], vec![0; rank]);
    after[0] = 1;
    let mode = PaddingMode::Constant;
    let pad = described(PadDescriptor::new(mode, 0.0, &zeros, &after))?;
    operand = context.step(0, pad, &[Some(operand)], none())?;
    let scatter = ScatterNdDescriptor::new(function);
    let inputs = [Some(operand), Some(vectors), Some(updates)];
    let all = context.step(0, scatter, &inputs, none())?;
    let ends: Vec<i64> = order.iter().map(|&at| dims[at]).collect();
    let slice = described(StridedSliceDescriptor::new(&zeros, &ends, &vec![1; rank]))?;
    let declaration = context.moved(0, input)?;
    if order.is_sorted() {
        return context.emit_declared(0, slice, &[Some(all)], declaration);
    }
    let all = context.step(0, slice, &[Some(all)], none())?;
    let back = |at: usize| order.iter().position(|&of| of == at).unwrap_or(0);
    let back: Vec<usize> = (0..rank).map(back).collect();
    context.emit_declared(0, transpose(&back)?, &[Some(all)], declaration)
}

/// What a subgraph makes of an element and its update: the update itself, or one operation of both.
fn update_function(context: &Context<'_, '_, '_>, index: i32) -> Result<ScatterFunction> {
    let graphs = &context.lowering.shared.model.subgraphs;
    let body = usize::try_from(index)
        .ok()
        .and_then(|index| graphs.get(index));
    let body = body.ok_or_else(|| Problem::malformed("it has no subgraph"))?;
    if body.operators.is_empty() {
        return match (&body.inputs[..], &body.outputs[..]) {
            (&[_, update], &[output]) if update == output => Ok(ScatterFunction::Update),
            _ => Err(Problem::unsupported("a subgraph that gives no update")),
        };
    }
    Ok(match body_operation(context, index, false)?.1 {
        BinaryOperation::Add => ScatterFunction::Add,
        BinaryOperation::Mul => ScatterFunction::Mul,
        BinaryOperation::Maximum => ScatterFunction::Max,
        BinaryOperation::Minimum => ScatterFunction::Min,
        _ => return Err(Problem::unsupported("a subgraph other than one operation")),
    })
}

fn none() -> OutputDeclaration {
    OutputDeclaration::default()
}

/// Axes, none of which is named twice.
fn axes(named: Vec<i64>, rank: usize) -> Result<Vec<usize>> {
    let mut axes = Vec::with_capacity(named.len());
    for named in named {
        let at = axis(named, rank)?;
        if axes.contains(&at) {
            return Err(Problem::malformed(format!("dimension {at} is named twice")));
        }
        axes.push(at);
    }
    Ok(axes)
}

fn known_dims(context: &Context<'_, '_, '_>, id: TensorId, what: &str) -> Result<Vec<i64>> {
    let shape = context.shape(id)?;
    match shape.is_known() {
        true => Ok(shape.dims().to_vec()),
        false => Err(Problem::unsupported(format!(
            "{what} of shape {shape}; give the model fixed input shapes"
        ))),
    }
}

pub(super) fn transpose(permutation: &[usize]) -> Result<TransposeDescriptor> {
    let permutation: Vec<u32> = permutation.iter().map(|&at| at as u32).collect();
    described(TransposeDescriptor::new(&permutation))
}

impl Context<'_, '_, '_> {
    /// Dimensions in another order, which is not the operator's last layer.
    pub(super) fn in_order(&mut self, id: TensorId, order: &[usize]) -> Result<TensorId> {
        if order.is_sorted() {
            return Ok(id);
        }
        self.step(0, transpose(order)?, &[Some(id)], none())
    }

    /// An input of index vectors as Signed64, each of `count` elements along the last dimension.
    fn index_vectors(&mut self, position: usize, along: i64, count: usize) -> Result<TensorId> {
        let id = self.input(position)?;
        let id = self.cast_step(id, DataType::Signed64)?;
        let rank = self.shape(id)?.rank();
        let along = axis(along, rank + 1)?;
        let vectors = if along == rank {
            let mut groups = super::context::each_dimension(rank);
            groups.push(Vec::new());
            self.merge_step(0, id, groups)?
        } else {
            let others = (0..rank).filter(|&at| at != along);
            let order: Vec<usize> = others.chain([along]).collect();
            self.in_order(id, &order)?
        };
        let shape = self.shape(vectors)?;
        match shape.dims().last() {
            Some(&found) if found == count as i64 => Ok(vectors),
            _ => Err(Problem::malformed(format!(
                "index vectors of {shape} for {count} dimensions"
            ))),
        }
    }

    /// An index vector for each place of a window, as [batches, places, count]: `windows` are the
    /// sizes along each indexed dimension, or none where the window's dimension is left out.
    fn with_windows(&mut self, vectors: TensorId, windows: &[Option<i64>]) -> Result<TensorId> {
        let sizes: Vec<i64> = windows.iter().copied().flatten().collect();
        if sizes.is_empty() {
            return Ok(vectors);
        }
        let last = self.shape(vectors)?.rank() - 1;
        let mut groups = super::context::each_dimension(last);
        groups.extend(vec![Vec::new(); sizes.len()]);
        groups.push(vec![last]);
        let vectors = self.merge_step(0, vectors, groups)?;
        if sizes.iter().all(|&size| size == 1) {
            return Ok(vectors);
        }
        let width = windows.len();
        let product = |n: usize, &size: &i64| n.checked_mul(usize::try_from(size).ok()?);
        let places = sizes.iter().try_fold(1, product);
        let bytes = places.and_then(|n| n.checked_mul(width)?.checked_mul(8));
        let too_large = || Problem::unsupported("windows of more places than fit into memory");
        let (places, bytes) = places.zip(bytes).ok_or_else(too_large)?;
        // Nothing is made that the budget has no room for; the constant itself is charged for.
        charge(&mut { self.lowering.shared.constant_budget }, bytes)?;
        let mut offsets = Vec::with_capacity(places.saturating_mul(width));
        for place in 0..places as i64 {
            let mut left = place;
            let start = offsets.len();
            for window in windows.iter().rev() {
                let size = window.unwrap_or(1).max(1);
                offsets.push(left % size);
                left /= size;
            }
            offsets[start..].reverse();
        }
        let dims = [&sizes[..], &[width as i64]].concat();
        let shape = described(Shape::new(&dims).ok())?;
        let offsets = self.integer_constant(DataType::Signed64, shape, &offsets)?;
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        self.step(0, add, &[Some(vectors), Some(offsets)], none())
    }

    /// Index vectors, of which those outside of `bounds` are moved to the place behind the first.
    fn within(&mut self, vectors: TensorId, bounds: &[i64]) -> Result<TensorId> {
        let last = self.shape(vectors)?.rank() as u32 - 1;
        let zeros = self.integer_list(DataType::Signed64, &vec![0; bounds.len()])?;
        let mut outside = vec![0; bounds.len()];
        outside[0] = bounds[0];
        let outside = self.integer_list(DataType::Signed64, &outside)?;
        let bounds = self.integer_list(DataType::Signed64, bounds)?;
        let compare = ComparisonDescriptor::new;
        let at_least = compare(ComparisonOperation::GreaterOrEqual);
        let at_least = self.step(0, at_least, &[Some(vectors), Some(zeros)], none())?;
        let below = compare(ComparisonOperation::Less);
        let below = self.step(0, below, &[Some(vectors), Some(bounds)], none())?;
        let and = LogicalBinaryDescriptor::new(LogicalBinaryOperation::LogicalAnd);
        let within = self.step(0, and, &[Some(at_least), Some(below)], none())?;
        let all = described(ReduceDescriptor::new(ReduceOperation::All, &[last], true))?;
        let within = self.step(0, all, &[Some(within)], none())?;
        let inputs = [Some(within), Some(vectors), Some(outside)];
        self.step(0, SelectDescriptor::new(), &inputs, none())
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestModel, assert_refused, float, floats_constant, ints, load, lower_second, typed,
    };

    const X: [f32; 12] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.];

    /// Windows of 2 by 2 of [3, 4], at (2, 3), which is moved to (1, 2), and at (0, 1). As LiteRT.
    #[test]
    fn windows_are_gathered_from_where_they_fit() {
        let operand = floats_constant(&[3, 4], &X);
        let indices = ints(&[2, 3, 0, 1]).shaped(&[2, 2]);
        let gathered = |offset_dims: &[i64]| {
            let options = write::StablehloGatherOptions {
                offset_dims: Some(offset_dims.to_vec()),
                start_index_map: Some(vec![0, 1]),
                index_vector_dim: 1,
                slice_sizes: Some(vec![2, 2]),
                ..write::StablehloGatherOptions::default()
            };
            let options = write::BuiltinOptions2::StablehloGatherOptions(Box::new(options));
            let inputs = [operand.clone(), indices.clone()];
            lower_second(Op::StablehloGather, &inputs, &[float(&[])], options)
        };
        let values = |network| {
            let found = load(network).run(&[]).unwrap();
            assert_eq!(found[0].info().shape.dims(), [2, 2, 2]);
            found[0].elements::<f32>().unwrap().to_vec()
        };
        let found = values(gathered(&[1, 2]).unwrap());
        assert_eq!(found, [6., 7., 10., 11., 1., 2., 5., 6.]);
        // The same with the windows' rows first and their columns last.
        let found = values(gathered(&[0, 2]).unwrap());
        assert_eq!(found, [6., 7., 1., 2., 10., 11., 5., 6.]);
        assert_refused(gathered(&[1]), "2 dimensions of slices at [1]");
        assert_refused(gathered(&[1, 1]), "dimension 1 is named twice");
    }

    fn scattered(body: Option<Op>, indices: &[i32]) -> Vec<f32> {
        let network = scatter(body, None, indices).unwrap();
        let found = load(network).run(&[]).unwrap();
        found[0].elements::<f32>().unwrap().to_vec()
    }

    fn scatter(
        body: Option<Op>,
        options_of_body: Option<write::BuiltinOptions>,
        indices: &[i32],
    ) -> Result<armnn_network::Network, crate::TfliteParserError> {
        let mut model = TestModel::default();
        let updates = [0., 10., 20., 30., 40., 50., 60., 70.];
        let inputs = [
            floats_constant(&[3, 4], &X),
            ints(indices).shaped(&[2, 1]),
            floats_constant(&[2, 4], &updates),
        ];
        let inputs = inputs.map(|tensor| model.tensor(tensor));
        let output = model.tensor(float(&[3, 4]));
        model.operator(Op::StablehloScatter, &inputs, &[output], None);
        let options = write::StablehloScatterOptions {
            update_window_dims: Some(vec![1]),
            inserted_window_dims: Some(vec![0]),
            scatter_dims_to_operand_dims: Some(vec![0]),
            index_vector_dim: 1,
            update_computation_subgraph_index: 1,
            ..write::StablehloScatterOptions::default()
        };
        let options = write::BuiltinOptions2::StablehloScatterOptions(Box::new(options));
        model.graph.operators.as_mut().unwrap()[0].builtin_options_2 = Some(options);
        model.output(output);
        model.next_subgraph();
        let [x, y] = [0, 1].map(|_| model.input(float(&[])));
        match body {
            Some(operator) => {
                let z = model.tensor(typed(TensorType::Float32, &[]));
                model.operator(operator, &[x, y], &[z], options_of_body);
                model.output(z);
            }
            None => model.output(y),
        }
        model.parse()
    }

    #[test]
    fn what_updates_go_through_besides_one_operation_is_refused() {
        let options = write::AddOptions {
            fused_activation_function: ActivationFunctionType::Relu,
            ..write::AddOptions::default()
        };
        let options = write::BuiltinOptions::AddOptions(Box::new(options));
        let refused = scatter(Some(Op::Add), Some(options), &[2, 0]);
        assert_refused(refused, "a subgraph other than one operation");
    }

    /// Rows of updates are 0, 10, 20, 30 and 40, 50, 60, 70. As LiteRT.
    #[test]
    fn updates_are_put_to_rows_as_the_body_says() {
        assert_eq!(
            scattered(Some(Op::StablehloAdd), &[2, 0]),
            [40., 51., 62., 73., 4., 5., 6., 7., 8., 19., 30., 41.]
        );
        assert_eq!(
            scattered(Some(Op::StablehloMultiply), &[1, 1]),
            [0., 1., 2., 3., 0., 2500., 7200., 14700., 8., 9., 10., 11.]
        );
        assert_eq!(
            scattered(Some(Op::StablehloMaximum), &[0, 2]),
            [0., 10., 20., 30., 4., 5., 6., 7., 40., 50., 60., 70.]
        );
        assert_eq!(
            scattered(None, &[1, 1]),
            [0., 1., 2., 3., 40., 50., 60., 70., 8., 9., 10., 11.]
        );
    }

    #[test]
    fn updates_outside_of_the_operand_are_left_out() {
        assert_eq!(scattered(None, &[7, -1]), X);
    }
}
