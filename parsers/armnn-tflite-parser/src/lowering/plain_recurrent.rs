//! Recurrent operators without gates: RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN,
//! SVDF.

use armnn_backend_api::{
    BinaryOperation, ConcatDescriptor, DataType, DequantizeDescriptor, ElementwiseBinaryDescriptor,
    FullyConnectedDescriptor, QuantizeDescriptor, RecurrentDirection, ReduceDescriptor,
    ReduceOperation, RnnDescriptor, TensorInfo,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::{Context, described};
use super::hybrid::Narrowing;
use super::problem::{Problem, Result};
use super::recurrent::function_of;
use super::{activation, quantized_recurrent};
use crate::schema_generated::{
    ActivationFunctionType, BidirectionalSequenceRnnOptionsRef, RnnOptionsRef,
    SequenceRnnOptionsRef, SvdfOptionsRef,
};

/// What a direction of an RNN is made of.
pub(super) struct Direction {
    pub(super) function: ActivationFunctionType,
    pub(super) batch_first: bool,
    pub(super) direction: RecurrentDirection,
    /// How weights that are quantized beside a real input make it.
    pub(super) narrowing: Narrowing,
    /// Where its weights, recurrent weights, bias and state stand.
    pub(super) first: usize,
}

/// A single step: a sequence of one, time first.
pub(super) fn rnn(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<RnnOptionsRef<'_>>()?;
    let input = context.input(0)?;
    if context.shape(input)?.rank() != 2 {
        return Err(Problem::malformed("its input is not [batch, numbers]"));
    }
    let sequence = context.merge_step(0, input, vec![vec![], vec![0], vec![1]])?;
    let direction = Direction {
        function: options.fused_activation_function()?,
        batch_first: false,
        direction: RecurrentDirection::Forward,
        narrowing: Narrowing::of(options.asymmetric_quantize_inputs()?),
        first: 1,
    };
    let output = context.rnn_layer(&direction, sequence, 0)?;
    // [1, 1, N, H]
    context.emit_merged(0, output, vec![vec![0, 1, 2], vec![3]])
}

pub(super) fn unidirectional_sequence_rnn(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<SequenceRnnOptionsRef<'_>>()?;
    let direction = Direction {
        function: options.fused_activation_function()?,
        batch_first: !options.time_major()?,
        direction: RecurrentDirection::Forward,
        narrowing: Narrowing::of(options.asymmetric_quantize_inputs()?),
        first: 1,
    };
    let input = context.input(0)?;
    let output = context.rnn_layer(&direction, input, 0)?;
    context.emit_merged(0, output, without_directions(direction.batch_first))
}

pub(super) fn bidirectional_sequence_rnn(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<BidirectionalSequenceRnnOptionsRef<'_>>()?;
    for position in 9..context.input_count() {
        if context.optional_input(position)?.is_some() {
            return Err(Problem::unsupported("an auxiliary input"));
        }
    }
    let (function, merge) = (
        options.fused_activation_function()?,
        options.merge_outputs()?,
    );
    let batch_first = !options.time_major()?;
    let narrowing = Narrowing::of(options.asymmetric_quantize_inputs()?);
    let of = |direction, first| Direction {
        function,
        batch_first,
        direction,
        narrowing,
        first,
    };
    let input = context.input(0)?;
    let mut outputs = Vec::with_capacity(2);
    for direction in [
        of(RecurrentDirection::Forward, 1),
        of(RecurrentDirection::Reverse, 5),
    ] {
        let output = context.rnn_layer(&direction, input, 0)?;
        outputs.push(context.merge_step(0, output, without_directions(batch_first))?);
    }
    context.bind_directions([outputs[0], outputs[1]], merge)
}

/// The output of an Rnn with one direction, [N, T, 1, H] or [T, 1, N, H], without it.
fn without_directions(batch_first: bool) -> Vec<Vec<usize>> {
    match batch_first {
        true => vec![vec![0], vec![1, 2], vec![3]],
        false => vec![vec![0, 1], vec![2], vec![3]],
    }
}

impl Context<'_, '_, '_> {
    /// An Rnn of one direction, whose state is left; its output with the dimension of directions.
    fn rnn_layer(
        &mut self,
        of: &Direction,
        sequence: TensorId,
        position: usize,
    ) -> Result<TensorId> {
        let data_type = self.info(sequence)?.data_type;
        if data_type.is_quantized() {
            return Err(Problem::unsupported("an RNN of a quantized type"));
        }
        let [weights, recurrent, bias] = [0, 1, 2].map(|offset| of.first + offset);
        let of_input = self.input(weights)?;
        if self.is_hybrid(sequence, of_input)? {
            return self.hybrid_rnn(of, sequence);
        }
        let mut matrices = Vec::with_capacity(2);
        for position in [weights, recurrent] {
            let id = self.input(position)?;
            let id = self.widened(id, data_type)?;
            matrices.push(Some(self.merge_step(
                0,
                id,
                vec![vec![], vec![0], vec![1]],
            )?));
        }
        let bias = self.input(bias)?;
        let &[hidden_size @ (0..)] = self.shape(bias)?.dims() else {
            return Err(Problem::unsupported("a bias whose size is not known"));
        };
        let size = u32::try_from(hidden_size).ok();
        let size = size.ok_or_else(|| Problem::malformed("a bias beyond 2^32 numbers"))?;
        // There is one bias, where the layer has one for either product.
        let zero = self.scalar(data_type, 0.0)?;
        let count = self.integer_list(DataType::Signed64, &[hidden_size])?;
        let zeros = self.filled(zero, count)?;
        let inputs = [Some(bias), Some(zeros)];
        let none = OutputDeclaration::default;
        let biases = self.step(0, ConcatDescriptor { axis: 0 }, &inputs, none())?;
        let biases = self.merge_step(0, biases, vec![vec![], vec![0]])?;

        let state = self.state(of.first + 3)?;
        let (with, without) = match of.batch_first {
            true => (vec![vec![0], vec![], vec![1]], vec![vec![0, 1], vec![2]]),
            false => (vec![vec![], vec![0], vec![1]], vec![vec![0, 1], vec![2]]),
        };
        let before = self.merge_step(0, state.before, with)?;
        let function = function_of(of.function)?;
        let mut descriptor = RnnDescriptor::new(size);
        descriptor.direction = of.direction.0;
        descriptor.batch_first = of.batch_first.into();
        descriptor.activations = [function.function; 2];
        descriptor.activation_a = [function.a; 2];
        descriptor.activation_b = [function.b; 2];
        let inputs = [
            Some(sequence),
            matrices[0],
            matrices[1],
            Some(biases),
            None,
            Some(before),
        ];
        let name = self.step_name(position, "Rnn")?;
        let builder = &mut self.lowering.builder;
        let ids = builder.add_layer(&name, descriptor, &inputs, &[])?;
        let &[output, after] = &ids[..] else {
            return Err(Problem::malformed("an Rnn without its outputs"));
        };
        let after = self.merge_step(0, after, without)?;
        self.leave(state, after)?;
        Ok(output)
    }
}

/// A filter over time of what filters over the input give. With F filters, M steps of memory and
/// units of `rank` filters each: weights of the input [F, I], of time [F, M], a bias `[F / rank]`,
/// the state [N, M F].
///
/// The state moves by one step, the newest at its end; each filter's steps are added up by the
/// weights of time, and the filters of a unit.
pub(super) fn svdf(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<SvdfOptionsRef<'_>>()?;
    let function = options.fused_activation_function()?;
    let rank = i64::from(options.rank()?);
    let time = context.input(2)?;
    let &[filters @ (1..), memory @ (1..)] = context.shape(time)?.dims() else {
        return Err(Problem::malformed(
            "its weights of time are not [filters, steps]",
        ));
    };
    if rank < 1 || filters % rank != 0 {
        return Err(Problem::malformed(format!(
            "{filters} filters of rank {rank}"
        )));
    }
    let input = context.input(0)?;
    let data_type = context.info(input)?.data_type;
    if data_type.is_quantized() {
        return quantized_recurrent::svdf(context, function, [filters, memory, rank]);
    }
    let features = context.input(1)?;
    let [input, _] =
        context.real_product(input, features, options.asymmetric_quantize_inputs()?)?;
    let features = context.widened(features, data_type)?;
    let time = context.widened(time, data_type)?;
    let none = OutputDeclaration::default;
    let state = context.state(4)?;
    let before = context.widened(state.before, data_type)?;

    let newest = [Some(input), Some(features)];
    let newest = context.step(0, FullyConnectedDescriptor::new(true), &newest, none())?;
    let newest = context.merge_step(0, newest, vec![vec![0], vec![1], vec![]])?;
    let steps = context.shifted(before, newest, [filters, memory])?;
    let after = context.merge_step(0, steps, vec![vec![0], vec![1, 2]])?;
    context.leave(state, after)?;

    let mul = ElementwiseBinaryDescriptor::new(BinaryOperation::Mul);
    let weighted = context.step(0, mul, &[Some(steps), Some(time)], none())?;
    let sum = described(ReduceDescriptor::new(ReduceOperation::Sum, &[2], false))?;
    let mut sums = context.step(0, sum, &[Some(weighted)], none())?;
    if rank > 1 {
        let units = context.reshape_step(0, sums, &[-1, filters / rank, rank])?;
        sums = context.step(0, sum, &[Some(units)], none())?;
    }
    if let Some(bias) = context.optional_input(3)? {
        let bias = context.widened(bias, data_type)?;
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        sums = context.step(0, add, &[Some(sums), Some(bias)], none())?;
    }
    match activation::fused(function, Some(data_type))? {
        Some(activation) => context.emit(activation, &[Some(sums)]),
        None => context.emit_reshape_like(sums),
    }
}

impl Context<'_, '_, '_> {
    /// Real numbers as those of a quantized type, which is not the operator's last layer.
    pub(super) fn quantized_step(&mut self, id: TensorId, into: &TensorInfo) -> Result<TensorId> {
        let declaration = OutputDeclaration {
            data_type: Some(into.data_type),
            quantization: Some(into.quantization.clone()),
            ..OutputDeclaration::default()
        };
        self.step(0, QuantizeDescriptor::new(), &[Some(id)], declaration)
    }

    /// Quantized numbers as real ones, which is not the operator's last layer.
    pub(super) fn dequantized_step(&mut self, id: TensorId) -> Result<TensorId> {
        let real = OutputDeclaration::of_type(DataType::Float32);
        self.step(0, DequantizeDescriptor::new(), &[Some(id)], real)
    }
}

#[cfg(test)]
mod tests {
    use armnn_network::VariableValue;

    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestModel, TestTensor, float, floats_constant, load, typed};

    fn state(shape: &[i32]) -> TestTensor {
        let mut tensor = float(shape);
        tensor.tensor.is_variable = true;
        tensor
    }

    /// The outputs of steps of one number, of an operator with these weights, a bias and a state.
    fn steps(
        operator: Op,
        constants: [TestTensor; 3],
        state_shape: &[i32],
        options: write::BuiltinOptions,
        inputs: &[f32],
    ) -> Vec<f32> {
        let mut model = TestModel::default();
        let x = model.input(float(&[1, 1]));
        let [weights, recurrent, bias] = constants.map(|tensor| model.tensor(tensor));
        let kept = model.tensor(state(state_shape));
        let y = model.tensor(float(&[1, 1]));
        let read = [x, weights, recurrent, bias, kept];
        model.operator(operator, &read, &[y], Some(options));
        model.output(y);
        let loaded = load(model.parse().unwrap());
        let mut state = loaded.create_execution_state().unwrap();
        let mut step = |x: &f32| {
            state.set_input(0, &x.to_ne_bytes()).unwrap();
            state.execute().unwrap();
            f32::from_ne_bytes(state.output(0).try_into().unwrap())
        };
        inputs.iter().map(&mut step).collect()
    }

    #[test]
    fn a_state_goes_from_step_to_step() {
        let options = write::RnnOptions {
            fused_activation_function: ActivationFunctionType::Relu,
            ..write::RnnOptions::default()
        };
        let options = write::BuiltinOptions::RnnOptions(Box::new(options));
        let constants = [
            floats_constant(&[1, 1], &[2.0]),
            floats_constant(&[1, 1], &[0.5]),
            floats_constant(&[1], &[1.0]),
        ];
        // h = max(0, 2 x + h / 2 + 1)
        let found = steps(Op::Rnn, constants, &[1, 1], options, &[1.0, 0.0, -3.0]);
        assert_eq!(found, [3.0, 2.5, 0.0]);
    }

    #[test]
    fn what_a_filter_gave_is_weighted_over_time() {
        let options = write::SvdfOptions {
            rank: 1,
            ..write::SvdfOptions::default()
        };
        let options = write::BuiltinOptions::SvdfOptions(Box::new(options));
        let constants = [
            floats_constant(&[1, 1], &[1.0]),
            floats_constant(&[1, 2], &[0.5, 2.0]),
            floats_constant(&[1], &[0.25]),
        ];
        // Half of the step before, and twice this one.
        let found = steps(Op::Svdf, constants, &[1, 2], options, &[1.0, 3.0, 0.0]);
        assert_eq!(found, [2.25, 6.75, 1.75]);
    }

    /// As converters write models with weights of Float16; the kernel dequantizes a constant once.
    #[test]
    fn a_state_may_begin_with_zeros_that_are_dequantized() {
        let options = write::SvdfOptions {
            rank: 1,
            ..write::SvdfOptions::default()
        };
        let mut model = TestModel::default();
        let x = model.input(float(&[1, 1]));
        let zeros = typed(TensorType::Float16, &[1, 2]).with_data(vec![0; 4]);
        let zeros = model.tensor(zeros);
        let kept = model.tensor(state(&[1, 2]));
        model.operator(Op::Dequantize, &[zeros], &[kept], None);
        let features = model.tensor(floats_constant(&[1, 1], &[1.0]));
        let time = model.tensor(floats_constant(&[1, 2], &[0.5, 2.0]));
        let bias = model.tensor(floats_constant(&[1], &[0.25]));
        let y = model.tensor(float(&[1, 1]));
        let options = write::BuiltinOptions::SvdfOptions(Box::new(options));
        let read = [x, features, time, bias, kept];
        model.operator(Op::Svdf, &read, &[y], Some(options));
        model.output(y);
        let loaded = load(model.parse().unwrap());
        let mut state = loaded.create_execution_state().unwrap();
        let found = [1.0f32, 3.0, 0.0].map(|x| {
            state.set_input(0, &x.to_ne_bytes()).unwrap();
            state.execute().unwrap();
            f32::from_ne_bytes(state.output(0).try_into().unwrap())
        });
        assert_eq!(found, [2.25, 6.75, 1.75]);
    }

    #[test]
    fn a_state_of_8_bits_begins_with_its_zero_point() {
        let int8 = |shape: &[i32], zero| typed(TensorType::Int8, shape).quantized(0.5, zero);
        let mut model = TestModel::default();
        let x = model.input(int8(&[1, 1], 0));
        let features = model.tensor(int8(&[1, 1], 0).with_data(vec![1]));
        let time = model.tensor(int8(&[1, 2], 0).with_data(vec![1, 1]));
        let mut kept = int8(&[1, 2], 5);
        kept.tensor.is_variable = true;
        let kept = model.tensor(kept);
        let y = model.tensor(int8(&[1, 1], 0));
        let options = write::SvdfOptions {
            rank: 1,
            ..write::SvdfOptions::default()
        };
        let options = write::BuiltinOptions::SvdfOptions(Box::new(options));
        let read = [x, features, time, -1, kept];
        model.operator(Op::Svdf, &read, &[y], Some(options));
        model.output(y);
        let network = model.parse().unwrap();
        match &network.variables()[0].initial {
            VariableValue::Elements(bytes) => assert_eq!(bytes[..], [5, 5]),
            other => panic!("{other:?}"),
        }
    }
}
