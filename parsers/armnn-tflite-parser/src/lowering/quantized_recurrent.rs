//! Recurrent operators of quantized numbers, by the integers of LiteRT's reference kernels: SVDF,
//! and LSTM of the kernel type BASIC.

use armnn_backend_api::{
    BinaryOperation, ConcatDescriptor, DataType, ElementwiseBinaryDescriptor,
    FullyConnectedDescriptor, Quantization, QuantizeDescriptor, ReduceDescriptor, ReduceOperation,
    Shape, TensorInfo, UnidirectionalSequenceLstmDescriptor,
};
use armnn_network::{OutputDeclaration, ParameterRule, StridedSliceOptions, TensorId};

use super::activation;
use super::context::{Context, described};
use super::problem::{Problem, Result};
use super::subgraph::Value;
use crate::schema_generated::ActivationFunctionType;

/// A filter over time: see [`svdf`](super::plain_recurrent::svdf).
///
/// Sums are exact, and brought into the scale of the state, and of the output, in fixed point:
/// `EvalIntegerSVDF` (`kernels/internal/reference/svdf.h`), with the factors of `kernels/svdf.cc`.
/// That takes no other function than RELU, and leaves it to the numbers of the output, the least of
/// which is 0 in models of converters. So does this.
pub(super) fn svdf(
    context: &mut Context<'_, '_, '_>,
    function: ActivationFunctionType,
    [filters, memory, rank]: [i64; 3],
) -> Result {
    let [input, features, time] = [context.input(0)?, context.input(1)?, context.input(2)?];
    let state = context.state(4)?;
    let state_info = context.info(state.before)?.clone();
    let [of_input, of_features, of_time] = [
        context.scale(input, "its input")?,
        context.scale(features, "its weights of features")?,
        context.scale(time, "its weights of time")?,
    ];
    let of_state = context.scale(state.before, "its state")?;

    let sums = context.exact_product(input, features)?;
    let factor = of_input * of_features / of_state;
    let newest = context.rescaled(sums, factor, &state_info)?;
    let newest = context.merge_step(0, newest, vec![vec![0], vec![1], vec![]])?;
    let steps = context.shifted(state.before, newest, [filters, memory])?;
    let after = context.merge_step(0, steps, vec![vec![0], vec![1, 2]])?;
    context.leave(state, after)?;

    let mul = ElementwiseBinaryDescriptor::new(BinaryOperation::Mul);
    let none = OutputDeclaration::default;
    let inputs = [
        Some(context.wide_integers(steps)?),
        Some(context.wide_integers(time)?),
    ];
    let weighted = context.step(0, mul, &inputs, none())?;
    let sum = described(ReduceDescriptor::new(ReduceOperation::Sum, &[2], false))?;
    let mut sums = context.step(0, sum, &[Some(weighted)], none())?;
    if rank > 1 {
        let units = context.reshape_step(0, sums, &[-1, filters / rank, rank])?;
        sums = context.step(0, sum, &[Some(units)], none())?;
    }
    if let Some(bias) = context.optional_input(3)? {
        sums = context.plus_bias(sums, bias)?;
    }
    let declaration = context.declaration(0)?;
    let info = context.output_info(0)?;
    let &[of_output] = info.quantization.scales() else {
        return Err(Problem::unsupported(
            "an output without a scale, or with several",
        ));
    };
    let factor = of_state * of_time / of_output;
    let output = context.rescaled(sums, factor, &info)?;
    let fused = match function {
        ActivationFunctionType::Relu => None,
        function => activation::fused(function, Some(info.data_type))?,
    };
    match fused {
        Some(activation) => context.emit_declared(0, activation, &[Some(output)], declaration),
        None => context.emit_reshape_like(output),
    }
}

/// The gates come in the order input, new input, forget, output, out of one matrix for the input
/// and the state before. The further outputs are the new state, and what is between.
pub(super) fn basic_lstm(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    let [activation, state] = [context.state(1)?, context.state(4)?];
    let (weights, bias) = (context.input(2)?, context.input(3)?);
    let &[gates @ (0..), _] = context.shape(weights)?.dims() else {
        return Err(Problem::unsupported("weights whose sizes are not known"));
    };
    if gates % 4 != 0 || context.shape(input)?.rank() != 2 || context.shape(bias)?.rank() != 1 {
        return Err(Problem::malformed(
            "its input is not [batch, numbers], or its weights and bias are not of four gates",
        ));
    }
    let cells = gates / 4;
    let mut parts = [vec![], vec![], vec![]];
    // The layer has input, forget, new input, output.
    for gate in [0, 2, 1, 3] {
        let rows = [gate * cells, (gate + 1) * cells];
        let of_gate = context.rows(weights, rows)?;
        parts[0].push(Some(context.columns(of_gate, [None, Some(-cells)])?));
        parts[1].push(Some(context.columns(of_gate, [Some(-cells), None])?));
        parts[2].push(Some(context.rows(bias, rows)?));
    }
    let sequence = context.merge_step(0, input, vec![vec![0], vec![], vec![1]])?;
    let [input_weights, recurrent_weights, biases] = parts;
    let mut inputs = vec![Some(sequence)];
    inputs.extend(input_weights);
    inputs.extend(recurrent_weights);
    inputs.extend([None; 3]);
    inputs.extend(biases);
    inputs.extend([None, None, Some(activation.before), Some(state.before)]);
    let like = |id: TensorId| -> Result<OutputDeclaration> {
        let info = context.info(id)?;
        Ok(OutputDeclaration::of_type(info.data_type).quantized(info.quantization.clone()))
    };
    let declarations = [
        like(activation.before)?,
        like(state.before)?,
        like(activation.before)?,
    ];
    let before = activation.before;
    let descriptor = UnidirectionalSequenceLstmDescriptor::new(false);
    let ids = context.steps(descriptor, &inputs, &declarations)?;
    let &[output, new_state, _] = &ids[..] else {
        return Err(Problem::malformed("an LSTM without its outputs"));
    };
    context.leave(activation, output)?;
    context.leave(state, new_state)?;
    context.bind(0, output)?;
    if context.output_count() > 1 {
        context.bind(1, new_state)?;
    }
    between(context, [input, before, weights, bias])
}

/// The outputs of what is between, if they are read: the input beside the state before, and the
/// sums of the gates.
fn between(
    context: &mut Context<'_, '_, '_>,
    [input, before, weights, bias]: [TensorId; 4],
) -> Result {
    let mut is_read = [false; 2];
    for (position, is_read) in (2..context.output_count()).zip(&mut is_read) {
        let tensor = context.operator.outputs.get(position);
        *is_read = tensor.is_some_and(|tensor| context.lowering.is_read(tensor));
        if !*is_read {
            context.bind_value(position, Value::Refused)?;
        }
    }
    if is_read == [false; 2] {
        return Ok(());
    }
    let concat = ConcatDescriptor { axis: 1 };
    let joined = [Some(input), Some(before)];
    let joined = context.step(0, concat, &joined, OutputDeclaration::default())?;
    if is_read[0] {
        context.bind(2, joined)?;
    }
    if is_read[1] {
        let sums = context.exact_product(joined, weights)?;
        let sums = context.plus_bias(sums, bias)?;
        let factor = 4096.0 * context.scale(bias, "its bias")?;
        let info = context.output_info(3)?;
        let sums = context.rescaled_upwards(sums, factor, &info)?;
        context.bind(3, sums)?;
    }
    Ok(())
}

impl Context<'_, '_, '_> {
    /// The only scale of a tensor.
    fn scale(&self, id: TensorId, what: &str) -> Result<f32> {
        match self.info(id)?.quantization.scales() {
            &[scale] => Ok(scale),
            scales => Err(Problem::unsupported(format!(
                "{what} with {} scales; supported: one",
                scales.len()
            ))),
        }
    }

    /// What the file says of output `position`.
    fn output_info(&self, position: usize) -> Result<TensorInfo> {
        let declaration = self.declaration(position)?;
        Ok(TensorInfo {
            data_type: declaration.data_type.unwrap_or(DataType::QAsymmS8),
            shape: Shape::SCALAR,
            quantization: declaration.quantization.unwrap_or(Quantization::NONE),
        })
    }

    /// The sums of products of the rows of `x` [N, K] with those of `weights` [M, K], both
    /// quantized in 8 bits, without their zero points: exact, as Signed32.
    fn exact_product(&mut self, x: TensorId, weights: TensorId) -> Result<TensorId> {
        let depth = self.shape(weights)?.dims().last().copied();
        // Sums of at most 255 times 255 that stay below 2^24 are exact in Float32; Float64 holds
        // those of any depth that fits into memory.
        let real = match depth {
            Some(0..=258) => DataType::Float32,
            _ => DataType::Float64,
        };
        let inputs = [
            Some(self.whole_numbers(x, real)?),
            Some(self.whole_numbers(weights, real)?),
        ];
        let product = FullyConnectedDescriptor::new(true);
        let sums = self.step(0, product, &inputs, OutputDeclaration::default())?;
        self.cast_step(sums, DataType::Signed32)
    }

    /// Quantized numbers less their zero point, as real numbers.
    fn whole_numbers(&mut self, id: TensorId, real: DataType) -> Result<TensorId> {
        let info = self.info(id)?;
        let &[zero_point] = info.quantization.zero_points() else {
            return Err(Problem::unsupported("several scales; supported: one"));
        };
        let unscaled = TensorInfo::new(info.data_type, info.shape)
            .quantized(Quantization::per_tensor(1.0, zero_point));
        let id = self.lowering.reinterpreted(id, &unscaled)?;
        let whole = self.dequantized_step(id)?;
        self.cast_step(whole, real)
    }

    /// Quantized numbers less their zero point, as integers.
    fn wide_integers(&mut self, id: TensorId) -> Result<TensorId> {
        let info = self.info(id)?;
        let (data_type, zero_points) = (info.data_type, info.quantization.zero_points());
        let &[zero_point] = zero_points else {
            return Err(Problem::unsupported("several scales; supported: one"));
        };
        let plain = match data_type {
            DataType::QSymmS16 => DataType::Int16,
            DataType::QAsymmU8 => DataType::UInt8,
            DataType::QAsymmS8 | DataType::QSymmS8 => DataType::Int8,
            other => {
                return Err(Problem::unsupported(format!(
                    "states or weights of {other}"
                )));
            }
        };
        let plain = TensorInfo::new(plain, info.shape);
        let numbers = self.lowering.reinterpreted(id, &plain)?;
        let wide = self.cast_step(numbers, DataType::Signed32)?;
        if zero_point == 0 {
            return Ok(wide);
        }
        let zero = self.scalar(DataType::Signed32, zero_point.into())?;
        let sub = ElementwiseBinaryDescriptor::new(BinaryOperation::Sub);
        let inputs = [Some(wide), Some(zero)];
        self.step(0, sub, &inputs, OutputDeclaration::default())
    }

    /// Integers and a bias, whose scale is theirs.
    fn plus_bias(&mut self, sums: TensorId, bias: TensorId) -> Result<TensorId> {
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        let inputs = [Some(sums), Some(bias)];
        self.step(0, add, &inputs, OutputDeclaration::default())
    }

    /// Integers times a factor as numbers of 16 bits, where the factor is applied in fixed point
    /// with ties upwards: the sums of the gates of a basic LSTM.
    fn rescaled_upwards(
        &mut self,
        sums: TensorId,
        factor: f32,
        into: &TensorInfo,
    ) -> Result<TensorId> {
        if !matches!(into.data_type, DataType::QSymmS16 | DataType::Int16) {
            return Err(Problem::unsupported(format!(
                "sums of gates as {}; supported: INT16",
                into.data_type
            )));
        }
        let (mut shift, mut fraction) = (0, factor);
        // Halving and doubling are exact. Below 2^-32, there is nothing left of any sum.
        while fraction < 0.5 && shift < 32 {
            (fraction, shift) = (fraction * 2.0, shift + 1);
        }
        let integers = TensorInfo::new(DataType::Signed32, Shape::SCALAR)
            .quantized(Quantization::per_tensor(1.0, 0));
        let mut numbers = self.rescaled(sums, fraction, &integers)?;
        let wide = self.cast_step(numbers, DataType::Signed64)?;
        let mut binary = |operation: BinaryOperation, id: TensorId, value: f64| {
            let value = self.scalar(DataType::Signed64, value)?;
            let descriptor = ElementwiseBinaryDescriptor::new(operation);
            let inputs = [Some(id), Some(value)];
            self.step(0, descriptor, &inputs, OutputDeclaration::default())
        };
        numbers = wide;
        if shift > 0 {
            numbers = binary(BinaryOperation::Add, numbers, 2f64.powi(shift - 1))?;
            numbers = binary(BinaryOperation::ShiftRight, numbers, shift.into())?;
        }
        numbers = binary(BinaryOperation::Maximum, numbers, i16::MIN.into())?;
        numbers = binary(BinaryOperation::Minimum, numbers, i16::MAX.into())?;
        let numbers = self.cast_step(numbers, DataType::Int16)?;
        self.lowering.reinterpreted(numbers, into)
    }

    /// Integers times a factor, which is applied in fixed point, as numbers of another type.
    fn rescaled(&mut self, sums: TensorId, factor: f32, into: &TensorInfo) -> Result<TensorId> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(Problem::malformed(format!(
                "its scales lead to a factor of {factor}"
            )));
        }
        let &[zero_point] = into.quantization.zero_points() else {
            return Err(Problem::unsupported("several scales; supported: one"));
        };
        let declaration = OutputDeclaration::of_type(DataType::Signed32)
            .quantized(Quantization::per_tensor(factor, 0));
        // The factor is the scale of the integers, of which the result has steps of 1.
        let zero = self.scalar(DataType::Signed32, 0.0)?;
        let add = ElementwiseBinaryDescriptor::new(BinaryOperation::Add);
        let sums = self.step(0, add, &[Some(sums), Some(zero)], declaration)?;
        let declaration = OutputDeclaration::of_type(into.data_type)
            .quantized(Quantization::per_tensor(1.0, zero_point));
        let numbers = self.step(0, QuantizeDescriptor::new(), &[Some(sums)], declaration)?;
        self.lowering.reinterpreted(numbers, into)
    }

    /// The steps of memory of each filter [N, F, M], with the newest [N, F, 1] behind them instead
    /// of the oldest.
    pub(super) fn shifted(
        &mut self,
        before: TensorId,
        newest: TensorId,
        [filters, memory]: [i64; 2],
    ) -> Result<TensorId> {
        if memory == 1 {
            return Ok(newest);
        }
        let steps = self.reshape_step(0, before, &[-1, filters, memory])?;
        let older = self.part(steps, &[[None; 2], [None; 2], [Some(1), None]])?;
        let inputs = [Some(older), Some(newest)];
        let concat = ConcatDescriptor { axis: 2 };
        self.step(0, concat, &inputs, OutputDeclaration::default())
    }

    /// Some rows of a tensor of one or two dimensions.
    pub(super) fn rows(&mut self, id: TensorId, [first, end]: [i64; 2]) -> Result<TensorId> {
        let mut bounds = vec![[None; 2]; self.shape(id)?.rank()];
        if let Some(bounds) = bounds.first_mut() {
            *bounds = [Some(first), Some(end)];
        }
        self.part(id, &bounds)
    }

    /// Some columns of a matrix.
    fn columns(&mut self, id: TensorId, bounds: [Option<i64>; 2]) -> Result<TensorId> {
        self.part(id, &[[None; 2], bounds])
    }

    /// The elements between bounds of each dimension, where there are any; below 0 they are counted
    /// from the end.
    fn part(&mut self, id: TensorId, bounds: &[[Option<i64>; 2]]) -> Result<TensorId> {
        let mut options = StridedSliceOptions::default();
        let mut lists = [vec![], vec![], vec![1; bounds.len()]];
        for (axis, &[begin, end]) in bounds.iter().enumerate() {
            options.begin_mask |= u32::from(begin.is_none()) << axis;
            options.end_mask |= u32::from(end.is_none()) << axis;
            lists[0].push(begin.unwrap_or(0));
            lists[1].push(end.unwrap_or(0));
        }
        let mut parameters = Vec::with_capacity(3);
        for list in lists {
            parameters.push(Some(self.integer_list(DataType::Signed32, &list)?));
        }
        let rule = ParameterRule::StridedSlice(options);
        let none = OutputDeclaration::default();
        self.step_by_rule(0, rule, &[Some(id)], &parameters, none)
    }
}

#[cfg(test)]
mod tests {
    use crate::schema_generated::{
        ActivationFunctionType, BuiltinOperator as Op, LstmKernelType, TensorType,
    };
    use crate::schema_writer_generated as write;
    use crate::test_model::{TestModel, TestTensor, load, typed, types};
    use armnn_backend_api::LayerType;
    use armnn_network::Network;

    fn int8(shape: &[i32], scale: f32, zero: i64) -> TestTensor {
        typed(TensorType::Int8, shape).quantized(scale, zero)
    }

    fn int16(shape: &[i32], scale: f32) -> TestTensor {
        typed(TensorType::Int16, shape).quantized(scale, 0)
    }

    fn bytes_of_int16(values: &[i16]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    fn bytes_of_int32(values: &[i32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    /// Four steps of the same filter; the output has this zero point.
    fn filtered(zero: i64) -> Vec<Vec<i8>> {
        let features: [i8; 12] = [-28, 79, 112, 62, 103, -9, 17, -54, -119, 101, 104, 63];
        let time = [
            2460, 19057, -30049, -12591, -25080, -3891, -112, 3186, -2634, 28648, -5039, 30748,
        ];
        let mut model = TestModel::default();
        let x = model.input(int8(&[1, 3], 0.02, 5));
        let features = features.map(|number| number as u8).to_vec();
        let features = model.tensor(int8(&[4, 3], 0.01, 0).with_data(features));
        let time = int16(&[4, 3], 1.0 / 32768.0).with_data(bytes_of_int16(&time));
        let time = model.tensor(time);
        let bias = typed(TensorType::Int32, &[2]).quantized(0.0005 / 32768.0, 0);
        let bias = model.tensor(bias.with_data(bytes_of_int32(&[780_428, 615_725])));
        let mut state = int16(&[1, 12], 0.0005);
        state.tensor.is_variable = true;
        let state = model.tensor(state);
        let y = model.tensor(int8(&[1, 2], 0.03, zero));
        let options = write::SvdfOptions {
            rank: 2,
            fused_activation_function: ActivationFunctionType::Relu,
            ..write::SvdfOptions::default()
        };
        let options = write::BuiltinOptions::SvdfOptions(Box::new(options));
        model.operator(
            Op::Svdf,
            &[x, features, time, bias, state],
            &[y],
            Some(options),
        );
        model.output(y);
        let loaded = load(model.parse().unwrap());
        let mut state = loaded.create_execution_state().unwrap();
        let steps: [[i8; 3]; 4] = [[75, -63, 47], [-98, 84, -42], [-3, 18, 126], [-7, 9, -22]];
        let mut step = |x: &[i8; 3]| {
            state.set_input(0, &x.map(|number| number as u8)).unwrap();
            state.execute().unwrap();
            state.output(0).iter().map(|&byte| byte as i8).collect()
        };
        steps.iter().map(&mut step).collect()
    }

    /// The numbers of LiteRT 2.3's reference kernel.
    #[test]
    fn filters_are_those_of_integers() {
        let expected = [[-109, -111], [-128, -128], [-128, -48], [-58, -128]];
        assert_eq!(filtered(-128), expected);
        // Numbers below 0 stay, although RELU is asked for: as there.
        let expected = [[12, 10], [-27, -41], [-87, 73], [63, -72]];
        assert_eq!(filtered(-7), expected);
    }

    /// A basic LSTM of two cells, so many of whose outputs are the model's.
    fn basic_lstm(read: usize) -> Network {
        let weights = [
            8, 228, 231, 190, 155, 112, 158, 208, 7, 204, 143, 113, 181, 231, 80, 27, 44, 205, 203,
            65, 175, 30, 212, 86, 125, 146, 254, 121, 137, 106, 41, 233,
        ];
        let bias = [5546, -4801, 2408, 166, 1245, -5102, 6104, -5818];
        let uint8 = |shape: &[i32]| typed(TensorType::Uint8, shape).quantized(1.0 / 128.0, 128);
        let mut model = TestModel::default();
        let x = model.input(uint8(&[2, 2]));
        let h = model.input(uint8(&[2, 2]));
        let c = model.input(int16(&[2, 2], 1.0 / 2048.0));
        let weights = typed(TensorType::Uint8, &[8, 4])
            .with_data(weights.to_vec())
            .quantized(0.0125, 120);
        let weights = model.tensor(weights);
        let bias = typed(TensorType::Int32, &[8])
            .with_data(bytes_of_int32(&bias))
            .quantized(0.0125 / 128.0, 0);
        let bias = model.tensor(bias);
        let outputs = [
            uint8(&[2, 2]),
            int16(&[2, 2], 1.0 / 2048.0),
            uint8(&[2, 4]),
            int16(&[2, 8], 1.0 / 4096.0),
        ];
        let outputs = outputs.map(|tensor| model.tensor(tensor));
        let options = write::LstmOptions {
            fused_activation_function: ActivationFunctionType::Tanh,
            kernel_type: LstmKernelType::Basic,
            ..write::LstmOptions::default()
        };
        let options = write::BuiltinOptions::LstmOptions(Box::new(options));
        model.operator(Op::Lstm, &[x, h, weights, bias, c], &outputs, Some(options));
        let read = outputs.iter().take(read);
        read.for_each(|&output| model.output(output));
        model.parse().unwrap()
    }

    #[test]
    fn what_is_not_read_of_a_basic_lstm_is_not_computed() {
        assert!(!types(&basic_lstm(2)).contains(&LayerType::FullyConnected));
        assert!(types(&basic_lstm(4)).contains(&LayerType::FullyConnected));
    }

    /// The numbers of LiteRT 2.3's reference kernel.
    #[test]
    fn all_outputs_of_a_basic_lstm_are_those_of_integers() {
        let loaded = load(basic_lstm(4));
        let mut state = loaded.create_execution_state().unwrap();
        state.set_input(0, &[99, 206, 239, 189]).unwrap();
        state.set_input(1, &[230, 118, 144, 73]).unwrap();
        let cells = bytes_of_int16(&[19_588, 4425, -10_093, 7423]);
        state.set_input(2, &cells).unwrap();
        state.execute().unwrap();
        assert_eq!(state.output(0), [242, 144, 35, 157]);
        let cells = bytes_of_int16(&[18_674, 2097, -5978, 4212]);
        assert_eq!(state.output(1), cells);
        assert_eq!(state.output(2), [99, 206, 230, 118, 239, 189, 144, 73]);
        let sums = [
            11_136, -1377, 5861, 1562, 7638, -1597, 8658, -6636, -949, -2254, -1703, 7273, 939,
            -458, 4134, -4905,
        ];
        assert_eq!(state.output(3), bytes_of_int16(&sums));
    }
}
