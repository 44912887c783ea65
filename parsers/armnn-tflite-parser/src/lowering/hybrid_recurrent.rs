//! Recurrent operators with real inputs and quantized weights.
//!
//! TFLite's kernels narrow to 8 bits whatever weights are multiplied with, each row with a scale of
//! its own: the input, the output of the step before, and what is projected
//! (`kernels/lstm_eval.cc`, `LstmStepHybrid`; `kernels/internal/kernel_utils.cc`, `RnnBatchStep`).
//! The output of a step is known only after it, so a Scan goes through the steps, and its body
//! narrows.

use std::sync::Arc;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, BinaryOperation, ConcatDescriptor, DataType,
    ElementwiseBinaryDescriptor, FullyConnectedDescriptor, RecurrentDirection, Shape, TensorInfo,
    UnidirectionalSequenceLstmDescriptor,
};
use armnn_network::{
    NetworkBuilder, OutputDeclaration, RuntimeOperation, ScanAxis, ScanBody, TensorId,
};

use super::context::Context;
use super::hybrid::Narrowing;
use super::plain_recurrent::Direction;
use super::problem::{Problem, Result};
use super::recurrent::function_of;

/// An LSTM whose weights are quantized, and whose input is not.
pub(super) struct HybridLstm {
    pub(super) descriptor: UnidirectionalSequenceLstmDescriptor,
    pub(super) narrowing: Narrowing,
}

/// Positions among the inputs of an LSTM without its input and states.
const RECURRENT: usize = 4;
const PROJECTION: usize = 15;
const PROJECTION_BIAS: usize = 16;
const NORMALIZATION: usize = 17;

impl Context<'_, '_, '_> {
    /// The output of an LSTM over a sequence, and the states that it leaves, output and cell.
    ///
    /// `weights` are real: those of the layer UnidirectionalSequenceLstm without its input and
    /// states.
    pub(super) fn hybrid_lstm(
        &mut self,
        lstm: &HybridLstm,
        sequence: TensorId,
        states: [TensorId; 2],
        weights: &[Option<TensorId>],
    ) -> Result<(TensorId, [TensorId; 2])> {
        let sequence = self.narrowed(sequence, &[2], lstm.narrowing)?;
        let time = match lstm.descriptor.time_major {
            0 => 1,
            _ => 0,
        };
        let (output, after) =
            self.scanned(time, false, sequence, &states, weights, |context, step| {
                context.hybrid_lstm_step(lstm, &step)
            })?;
        match after[..] {
            [output_state, cell_state] => Ok((output, [output_state, cell_state])),
            _ => Err(Problem::malformed("an LSTM without its states")),
        }
    }

    fn hybrid_lstm_step(&mut self, lstm: &HybridLstm, step: &Step) -> Result<Vec<TensorId>> {
        let &[output_before, cell_before] = &step.states[..] else {
            return Err(Problem::malformed("an LSTM without its states"));
        };
        let before = self.narrowed(output_before, &[1], lstm.narrowing)?;
        let mut descriptor = lstm.descriptor;
        descriptor.time_major = 0;
        let mut weights = step.captured.clone();
        let (mut input, mut state) = (step.input, before);
        let projection = weights.get(PROJECTION).copied().flatten();
        if projection.is_some() {
            // What is projected is narrowed, so the layer must end before. Its output has another
            // size than the state then, which becomes a part of the input.
            (input, state) = self.without_recurrence([input, before], cell_before, &mut weights)?;
            descriptor.projection_clip = 0.0;
        }
        let sequence = self.merge_step(0, input, vec![vec![0], vec![], vec![1]])?;
        let mut inputs = vec![Some(sequence)];
        let (own, normalization) = weights.split_at(NORMALIZATION.min(weights.len()));
        inputs.extend(own);
        inputs.extend([Some(state), Some(cell_before)]);
        inputs.extend(normalization);
        let none = [
            OutputDeclaration::default(),
            OutputDeclaration::default(),
            OutputDeclaration::default(),
        ];
        let ids = self.steps(descriptor, &inputs, &none)?;
        let &[mut output, cell, _] = &ids[..] else {
            return Err(Problem::malformed("an LSTM without its outputs"));
        };
        if let Some(projection) = projection {
            let hidden = self.narrowed(output, &[1], lstm.narrowing)?;
            let bias = step.captured.get(PROJECTION_BIAS).copied().flatten();
            let none = OutputDeclaration::default();
            let inputs = [Some(hidden), Some(projection), bias];
            output = self.step(0, FullyConnectedDescriptor::new(true), &inputs, none)?;
            let clip = lstm.descriptor.projection_clip;
            if clip > 0.0 {
                let bounded =
                    ActivationDescriptor::new(ActivationFunction::BoundedReLu, clip, -clip);
                let none = OutputDeclaration::default();
                output = self.step(0, bounded, &[Some(output)], none)?;
            }
        }
        Ok(vec![output, cell])
    }

    /// Makes an LSTM's output of the step before a part of its input; the input, and a state of
    /// zeros as large as the cell's.
    fn without_recurrence(
        &mut self,
        parts: [TensorId; 2],
        cell: TensorId,
        weights: &mut [Option<TensorId>],
    ) -> Result<(TensorId, TensorId)> {
        let none = OutputDeclaration::default;
        let beside = ConcatDescriptor { axis: 1 };
        let input = self.step(0, beside, &parts.map(Some), none())?;
        let &[_, cell_size @ (0..)] = self.shape(cell)?.dims() else {
            return Err(Problem::unsupported("a cell whose size is not known"));
        };
        let zero = self.scalar(DataType::Float32, 0.0)?;
        let square = self.integer_list(DataType::Signed64, &[cell_size, cell_size])?;
        let no_recurrence = self.filled(zero, square)?;
        for gate in 0..RECURRENT {
            let (Some(of_input), Some(of_state)) = (weights[gate], weights[RECURRENT + gate])
            else {
                continue;
            };
            let both = self.step(0, beside, &[Some(of_input), Some(of_state)], none())?;
            weights[gate] = Some(both);
            weights[RECURRENT + gate] = Some(no_recurrence);
        }
        weights[PROJECTION] = None;
        weights[PROJECTION_BIAS] = None;
        let like_cell = self.shape_step(cell, 0, 2)?;
        Ok((input, self.filled(zero, like_cell)?))
    }

    /// An RNN of one direction, whose state is left; its output with the dimension of directions.
    pub(super) fn hybrid_rnn(&mut self, of: &Direction, sequence: TensorId) -> Result<TensorId> {
        let mut weights = Vec::with_capacity(3);
        for position in of.first..of.first + 3 {
            let id = self.input(position)?;
            weights.push(Some(self.widened(id, DataType::Float32)?));
        }
        let state = self.state(of.first + 3)?;
        let function = function_of(of.function)?;
        let sequence = self.narrowed(sequence, &[2], of.narrowing)?;
        let reverse = of.direction == RecurrentDirection::Reverse;
        let time = usize::from(of.batch_first);
        let before = [state.before];
        let step = |context: &mut Self, step: Step| {
            let (&[before], &[weights, recurrent, bias]) = (&step.states[..], &step.captured[..])
            else {
                return Err(Problem::malformed("an RNN without its weights"));
            };
            let before = context.narrowed(before, &[1], of.narrowing)?;
            let none = OutputDeclaration::default;
            let product = FullyConnectedDescriptor::new(true);
            let inputs = [Some(step.input), weights, bias];
            let of_input = context.step(0, product, &inputs, none())?;
            let inputs = [Some(before), recurrent];
            let of_state = context.step(0, product, &inputs, none())?;
            let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
            let sum = context.step(0, add, &[Some(of_input), Some(of_state)], none())?;
            Ok(vec![context.step(0, function, &[Some(sum)], none())?])
        };
        let (output, after) = self.scanned(time, reverse, sequence, &before, &weights, step)?;
        let &after = after.first().ok_or(Problem::Unavailable)?;
        self.leave(state, after)?;
        let with_direction = match of.batch_first {
            true => vec![vec![0], vec![1], vec![], vec![2]],
            false => vec![vec![0], vec![], vec![1], vec![2]],
        };
        self.merge_step(0, output, with_direction)
    }

    /// Goes through a sequence of three dimensions along `time`, from its end if `reverse`. The
    /// first of the states that `body` gives is the output of its step. The outputs of all steps,
    /// along `time` too, and the states after the last one.
    pub(super) fn scanned(
        &mut self,
        time: usize,
        reverse: bool,
        sequence: TensorId,
        states: &[TensorId],
        captured: &[Option<TensorId>],
        body: impl FnOnce(&mut Self, Step) -> Result<Vec<TensorId>>,
    ) -> Result<(TensorId, Vec<TensorId>)> {
        let info = self.info(sequence)?.clone();
        let &[a, b, c] = info.shape.dims() else {
            return Err(Problem::malformed("its input has not three dimensions"));
        };
        let (steps, batch) = if time == 0 { (a, b) } else { (b, a) };
        if steps == 1 {
            let rows = match time {
                0 => vec![vec![0, 1], vec![2]],
                _ => vec![vec![0], vec![1, 2]],
            };
            let step = Step {
                input: self.merge_step(0, sequence, rows)?,
                states: states.to_vec(),
                captured: captured.to_vec(),
            };
            let after = body(self, step)?;
            let rows = match time {
                0 => vec![vec![], vec![0], vec![1]],
                _ => vec![vec![0], vec![], vec![1]],
            };
            let &output = after.first().ok_or(Problem::Unavailable)?;
            return Ok((self.merge_step(0, output, rows)?, after));
        }
        let mut element = info;
        element.shape = Shape::from([batch, c]);

        let prefix = self.body_prefix();
        let prefix = std::mem::replace(&mut self.lowering.prefix, prefix);
        let outer = std::mem::replace(&mut self.lowering.builder, NetworkBuilder::new());
        let finished = self.scan_body(&outer, element, states, captured, body);
        self.lowering.builder = outer;
        self.lowering.prefix = prefix;
        let axis = [ScanAxis {
            axis: time as i64,
            reverse,
        }];
        let operation = RuntimeOperation::Scan(ScanBody {
            network: Arc::new(finished?.finish()?),
            n_states: states.len(),
            inputs: axis.to_vec(),
            outputs: axis.to_vec(),
        });
        let mut inputs: Vec<_> = states.iter().copied().map(Some).collect();
        inputs.push(Some(sequence));
        inputs.extend(captured.iter().filter(|id| id.is_some()));
        let name = self.step_name(0, "Scan")?;
        let builder = &mut self.lowering.builder;
        let mut ids = builder.add_runtime_layer(&name, operation, &inputs)?;
        let outputs = ids.pop().ok_or(Problem::Unavailable)?;
        Ok((outputs, ids))
    }

    /// The network of a step; `outer` has the tensors that are given to it.
    fn scan_body(
        &mut self,
        outer: &NetworkBuilder,
        element: TensorInfo,
        states: &[TensorId],
        captured: &[Option<TensorId>],
        body: impl FnOnce(&mut Self, Step) -> Result<Vec<TensorId>>,
    ) -> Result<NetworkBuilder> {
        let given = |builder: &mut NetworkBuilder, id: TensorId| -> Result<TensorId> {
            let tensor = outer.tensor(id).ok_or(Problem::Unavailable)?;
            Ok(builder.add_input_layer("", tensor.info.clone())?)
        };
        let builder = &mut self.lowering.builder;
        let mut inner = Vec::with_capacity(states.len());
        for &id in states {
            inner.push(given(builder, id)?);
        }
        let input = builder.add_input_layer("", element)?;
        let mut weights = Vec::with_capacity(captured.len());
        for id in captured {
            weights.push(match id {
                Some(id) => Some(given(builder, *id)?),
                None => None,
            });
        }
        let step = Step {
            input,
            states: inner,
            captured: weights,
        };
        let after = body(self, step)?;
        let builder = &mut self.lowering.builder;
        for &id in &after {
            builder.add_output_layer("", id)?;
        }
        let &output = after.first().ok_or(Problem::Unavailable)?;
        builder.add_output_layer("", output)?;
        Ok(std::mem::take(builder))
    }
}

/// What a step of a sequence works with.
pub(super) struct Step {
    /// [batch, numbers]
    pub(super) input: TensorId,
    pub(super) states: Vec<TensorId>,
    pub(super) captured: Vec<Option<TensorId>>,
}
