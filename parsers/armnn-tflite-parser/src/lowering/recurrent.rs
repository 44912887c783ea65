//! Recurrent operators with gates: LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM.
//!
//! Their states are tensors marked as variables, or any other tensors, whose new values are lost
//! then, as in TFLite.
//!
//! Real inputs beside quantized weights are narrowed: see [`hybrid_recurrent`](super::hybrid_recurrent).

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, ConcatDescriptor, DataType,
    DequantizeDescriptor, ElementwiseBinaryDescriptor, FullyConnectedDescriptor, Quantization,
    ReverseV2Descriptor, SplitDescriptor, TensorInfo, UnidirectionalSequenceLstmDescriptor,
};
use armnn_network::{OutputDeclaration, TensorId};

use super::context::{Context, described};
use super::hybrid::Narrowing;
use super::hybrid_recurrent::HybridLstm;
use super::problem::{Problem, Result};
use super::variables::VariableId;
use super::{activation, quantized_recurrent};
use crate::schema_generated::{
    ActivationFunctionType, BidirectionalSequenceLstmOptionsRef, LstmKernelType, LstmOptionsRef,
    UnidirectionalSequenceLstmOptionsRef,
};

/// Where the inputs of an LSTM with gates of its own stand: 8 weights, 3 peephole weights, 4 biases
/// and 2 of a projection, from `first` on.
struct Positions {
    first: usize,
    states: [usize; 2],
    /// Weights of the layer normalization: four from here on.
    normalization: Option<usize>,
}

/// A single step.
pub(super) fn lstm(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<LstmOptionsRef<'_>>()?;
    if options.kernel_type()? == LstmKernelType::Basic {
        return basic_lstm(context);
    }
    let descriptor = descriptor(
        false,
        options.fused_activation_function()?,
        [options.cell_clip()?, options.proj_clip()?],
    )?;
    let positions = Positions {
        first: 1,
        states: [18, 19],
        normalization: Some(20),
    };
    let input = context.input(0)?;
    if context.shape(input)?.rank() != 2 {
        return Err(Problem::malformed("its input is not [batch, numbers]"));
    }
    // One step of a sequence.
    let sequence = context.merge_step(0, input, vec![vec![0], vec![], vec![1]])?;
    let narrowing = Narrowing::of(options.asymmetric_quantize_inputs()?);
    let output = context.sequence_lstm(descriptor, narrowing, &positions, sequence, 0)?;
    context.emit_merged(0, output, vec![vec![0], vec![1, 2]])
}

pub(super) fn unidirectional_sequence_lstm(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<UnidirectionalSequenceLstmOptionsRef<'_>>()?;
    if options.diagonal_recurrent_tensors()? {
        return Err(Problem::unsupported(
            "recurrent weights of which only the diagonals are stored",
        ));
    }
    let descriptor = descriptor(
        options.time_major()?,
        options.fused_activation_function()?,
        [options.cell_clip()?, options.proj_clip()?],
    )?;
    let positions = Positions {
        first: 1,
        states: [18, 19],
        normalization: Some(20),
    };
    let input = context.input(0)?;
    let narrowing = Narrowing::of(options.asymmetric_quantize_inputs()?);
    let output = context.sequence_lstm(descriptor, narrowing, &positions, input, 0)?;
    context.bind(0, output)
}

/// An LSTM from the first step to the last, and one from the last to the first.
pub(super) fn bidirectional_sequence_lstm(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<BidirectionalSequenceLstmOptionsRef<'_>>()?;
    for position in 39..context.input_count() {
        if context.optional_input(position)?.is_some() {
            return Err(Problem::unsupported("an auxiliary input"));
        }
    }
    let time_major = options.time_major()?;
    let descriptor = descriptor(
        time_major,
        options.fused_activation_function()?,
        [options.cell_clip()?, options.proj_clip()?],
    )?;
    let forward = Positions {
        first: 1,
        states: [35, 36],
        normalization: None,
    };
    let backward = Positions {
        first: 18,
        states: [37, 38],
        normalization: None,
    };
    let merge = options.merge_outputs()?;
    let input = context.input(0)?;
    let narrowing = Narrowing::of(options.asymmetric_quantize_inputs()?);
    let forward = context.sequence_lstm(descriptor, narrowing, &forward, input, 0)?;
    let time = if time_major { 0 } else { 1 };
    let turned = context.reversed(input, time)?;
    let last = if merge { 0 } else { 1 };
    let backward = context.sequence_lstm(descriptor, narrowing, &backward, turned, last)?;
    let backward = context.reversed(backward, time)?;
    context.bind_directions([forward, backward], merge)
}

fn descriptor(
    time_major: bool,
    function: ActivationFunctionType,
    [cell_clip, projection_clip]: [f32; 2],
) -> Result<UnidirectionalSequenceLstmDescriptor> {
    let mut descriptor = UnidirectionalSequenceLstmDescriptor::new(time_major);
    let function = function_of(function)?;
    descriptor.activation = function.function;
    descriptor.activation_a = function.a;
    descriptor.activation_b = function.b;
    descriptor.cell_clip = cell_clip;
    descriptor.projection_clip = projection_clip;
    Ok(descriptor)
}

/// The function of a recurrent layer, where none is the number itself.
pub(super) fn function_of(function: ActivationFunctionType) -> Result<ActivationDescriptor> {
    let fused = activation::fused(function, None)?;
    let linear = ActivationDescriptor::new(ActivationFunction::Linear, 1.0, 0.0);
    Ok(fused.unwrap_or(linear))
}

/// The gates come out of one FullyConnected of input and state, in the order input, new input,
/// forget, output. The further outputs are the new state, and what is between.
fn basic_lstm(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    if context.info(input)?.data_type.is_quantized() {
        return quantized_recurrent::basic_lstm(context);
    }
    let [activation, state] = [context.state(1)?, context.state(4)?];
    let (weights, bias) = (context.input(2)?, context.input(3)?);
    let Some(last) = context.shape(input)?.rank().checked_sub(1) else {
        return Err(Problem::malformed("its input is a scalar"));
    };
    let none = OutputDeclaration::default;
    let axis = last as u32;
    let joined = [Some(input), Some(activation.before)];
    let joined = context.step(0, ConcatDescriptor { axis }, &joined, none())?;
    let inputs = [Some(joined), Some(weights), Some(bias)];
    let sums = context.step(0, FullyConnectedDescriptor::new(true), &inputs, none())?;
    let part = none();
    let gates = context.steps(SplitDescriptor { axis: 1 }, &[Some(sums)], &vec![part; 4])?;
    let &[input_gate, new_input, forget_gate, output_gate] = &gates[..] else {
        return Err(Problem::malformed("its gates are not four"));
    };
    let sigmoid = ActivationDescriptor::new(ActivationFunction::Sigmoid, 0.0, 0.0);
    let tanh = ActivationDescriptor::new(ActivationFunction::TanH, 1.0, 1.0);
    let binary = ElementwiseBinaryDescriptor::new;
    let mut of = |descriptor, id| context.step(0, descriptor, &[Some(id)], none());
    let input_gate = of(sigmoid, input_gate)?;
    let new_input = of(tanh, new_input)?;
    let forget_gate = of(sigmoid, forget_gate)?;
    let output_gate = of(sigmoid, output_gate)?;
    let mul = binary(BinaryOperation::Mul);
    let inputs = [Some(input_gate), Some(new_input)];
    let added = context.step(0, mul, &inputs, none())?;
    let inputs = [Some(forget_gate), Some(state.before)];
    let kept = context.step(0, mul, &inputs, none())?;
    let inputs = [Some(added), Some(kept)];
    let add = binary(BinaryOperation::Add);
    let new_state = context.step(0, add, &inputs, none())?;
    let shown = context.step(0, tanh, &[Some(new_state)], none())?;
    let output = context.step(0, mul, &[Some(output_gate), Some(shown)], none())?;
    let values = [output, new_state, joined, sums];
    context.leave(activation, output)?;
    context.leave(state, new_state)?;
    for (position, id) in values.into_iter().enumerate().take(context.output_count()) {
        context.bind(position, id)?;
    }
    Ok(())
}

/// The state of a recurrent operator.
pub(super) struct State {
    /// What it is before.
    pub(super) before: TensorId,
    /// What it is left in.
    variable: Option<VariableId>,
}

impl Context<'_, '_, '_> {
    /// A state that is an input.
    pub(super) fn state(&mut self, position: usize) -> Result<State> {
        let index = self.operator.inputs.get(position);
        let index = index.ok_or_else(|| Problem::malformed("a state is left out"))?;
        let variable = match self.lowering.graph.tensors[index].is_variable {
            true => Some(self.lowering.state_tensor(index)?),
            false => None,
        };
        let before = self.input(position)?;
        Ok(State { before, variable })
    }

    /// Leaves a new state.
    pub(super) fn leave(&mut self, state: State, after: TensorId) -> Result {
        match state.variable {
            Some(variable) => self.lowering.assign_variable(variable, after),
            None => Ok(()),
        }
    }

    /// The layer of an LSTM over a sequence; its output, which is the operator's output `position`.
    fn sequence_lstm(
        &mut self,
        mut descriptor: UnidirectionalSequenceLstmDescriptor,
        narrowing: Narrowing,
        positions: &Positions,
        sequence: TensorId,
        position: usize,
    ) -> Result<TensorId> {
        let quantized = self.info(sequence)?.data_type.is_quantized();
        let data_type = self.info(sequence)?.data_type;
        if quantized {
            self.quantize_lstm(&mut descriptor)?;
        }
        let mut weights = Vec::with_capacity(21);
        for offset in 0..17 {
            weights.push(self.lstm_weights(positions.first + offset, data_type)?);
        }
        let states = [
            self.state(positions.states[0])?,
            self.state(positions.states[1])?,
        ];
        let mut normalization = Vec::with_capacity(4);
        if let Some(first) = positions.normalization {
            for offset in 0..4 {
                normalization.push(self.lstm_weights(first + offset, data_type)?);
            }
        }
        // Those of the output gate are always there.
        let output_weights = self.input(positions.first + 3)?;
        if self.is_hybrid(sequence, output_weights)? {
            let lstm = HybridLstm {
                descriptor,
                narrowing,
            };
            weights.extend(normalization);
            let before = [states[0].before, states[1].before];
            let (output, after) = self.hybrid_lstm(&lstm, sequence, before, &weights)?;
            for (state, after) in states.into_iter().zip(after) {
                self.leave(state, after)?;
            }
            return Ok(output);
        }
        let mut inputs = vec![Some(sequence)];
        inputs.extend(weights);
        inputs.extend(states.iter().map(|state| Some(state.before)));
        inputs.extend(normalization);
        let declaration = |id: TensorId| -> Result<OutputDeclaration> {
            let info = self.info(id)?;
            Ok(OutputDeclaration {
                quantization: quantized.then(|| info.quantization.clone()),
                ..OutputDeclaration::default()
            })
        };
        let output_state = declaration(states[0].before)?;
        // The output has the numbers of the state, whatever its own scale.
        let output = OutputDeclaration {
            quantization: output_state.quantization.clone(),
            ..self.declaration(position)?
        };
        let declarations = [output_state, declaration(states[1].before)?, output];
        let name = self.step_name(position, "UnidirectionalSequenceLstm")?;
        let builder = &mut self.lowering.builder;
        let ids = builder.add_layer(&name, descriptor, &inputs, &declarations)?;
        let &[output_state, cell_state, output] = &ids[..] else {
            return Err(Problem::malformed("an LSTM without its outputs"));
        };
        let [output_before, cell_before] = states;
        self.leave(output_before, output_state)?;
        self.leave(cell_before, cell_state)?;
        Ok(output)
    }

    /// Weights, in the type of the input if that is real.
    fn lstm_weights(&mut self, position: usize, data_type: DataType) -> Result<Option<TensorId>> {
        // A tensor without elements stands for one that is left out, too.
        if let Some(index) = self.operator.inputs.get(position)
            && self.lowering.graph.tensors[index].shape.contains(&0)
        {
            return Ok(None);
        }
        match self.optional_input(position)? {
            Some(id) => self.widened(id, data_type).map(Some),
            None => Ok(None),
        }
    }

    /// What is quantized beside real numbers, as real numbers.
    ///
    /// Weights of the type UINT8 are those of models older than hybrid kernels with INT8: their bytes
    /// are signed numbers around 0 all the same, and kernels do not look at their zero point.
    pub(super) fn widened(&mut self, id: TensorId, data_type: DataType) -> Result<TensorId> {
        let info = self.info(id)?;
        if data_type.is_quantized() || !info.data_type.is_quantized() {
            return Ok(id);
        }
        let mut id = id;
        if info.data_type == DataType::QAsymmU8 {
            let mut signed = TensorInfo::new(DataType::QSymmS8, info.shape);
            let zero_points = vec![0; info.quantization.scales().len()];
            let scales = info.quantization.scales().to_vec();
            signed.quantization =
                Quantization::per_axis(info.quantization.axis(), scales, zero_points);
            id = self.lowering.reinterpreted(id, &signed)?;
        }
        let real = OutputDeclaration::of_type(data_type);
        self.step(0, DequantizeDescriptor::new(), &[Some(id)], real)
    }

    /// The scales between the parts of a quantized LSTM.
    fn quantize_lstm(&mut self, descriptor: &mut UnidirectionalSequenceLstmDescriptor) -> Result {
        let graph = self.lowering.graph;
        let intermediates = &self.operator.intermediates;
        let scale = |at: usize| {
            let tensor = intermediates.get(at).map(|index| &graph.tensors[index]);
            let quantization = tensor.and_then(|tensor| tensor.quantization.as_ref());
            let scale = quantization.and_then(|q| q.scales.first().copied());
            let zero = quantization.and_then(|q| q.zero_points.first().copied());
            (scale.unwrap_or(0.0), zero.unwrap_or(0))
        };
        descriptor.input_intermediate_scale = scale(0).0;
        descriptor.forget_intermediate_scale = scale(1).0;
        descriptor.cell_intermediate_scale = scale(2).0;
        descriptor.output_intermediate_scale = scale(3).0;
        let (hidden, zero) = scale(4);
        descriptor.hidden_state_scale = hidden;
        descriptor.hidden_state_zero_point = i32::try_from(zero)
            .map_err(|_| Problem::malformed("a zero point is beyond 32 bits"))?;
        Ok(())
    }

    /// A sequence from its last step to the first.
    fn reversed(&mut self, id: TensorId, axis: u32) -> Result<TensorId> {
        let descriptor = described(ReverseV2Descriptor::new(&[axis]))?;
        self.step(0, descriptor, &[Some(id)], OutputDeclaration::default())
    }

    /// The outputs of both directions: each of its own, or joined along the last dimension.
    pub(super) fn bind_directions(&mut self, outputs: [TensorId; 2], merge: bool) -> Result {
        let [forward, backward] = outputs;
        if !merge {
            self.bind(0, forward)?;
            return self.bind(1, backward);
        }
        let axis = self.shape(forward)?.rank().saturating_sub(1) as u32;
        let inputs = [Some(forward), Some(backward)];
        self.emit(ConcatDescriptor { axis }, &inputs)
    }
}
