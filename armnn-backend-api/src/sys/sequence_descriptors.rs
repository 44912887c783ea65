//! Descriptors of layers with a state that goes from step to step.
//!
//! See `descriptors.rs` for what holds of all.

/// Gru.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnGruDescriptor {
    /// `ARMNN_RECURRENT_DIRECTION_…`.
    pub direction: u32,
    /// Numbers in a hidden state.
    pub hidden_size: u32,
    /// 1: the batch is the first dimension; 0: time is.
    pub batch_first: u32,
    /// 1: the reset gate is applied after the recurrent product.
    pub linear_before_reset: u32,
    /// Arguments of activation functions are limited to -clip … clip; 0: they are not.
    pub clip: f32,
    /// `ARMNN_ACTIVATION_…`: update and reset gate, then hidden gate, for each direction.
    pub activations: [u32; 4],
    /// First parameter of each function.
    pub activation_a: [f32; 4],
    /// Second parameter of each function.
    pub activation_b: [f32; 4],
}

/// Lstm.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnLstmDescriptor {
    /// `ARMNN_RECURRENT_DIRECTION_…`.
    pub direction: u32,
    /// Numbers in a hidden state.
    pub hidden_size: u32,
    /// 1: the batch is the first dimension; 0: time is.
    pub batch_first: u32,
    /// 1: the forget gate is 1 less the input gate.
    pub input_forget: u32,
    /// Arguments of activation functions are limited to -clip … clip; 0: they are not.
    pub clip: f32,
    /// `ARMNN_ACTIVATION_…`: gates, cell input, cell output, for each direction.
    pub activations: [u32; 6],
    /// First parameter of each function.
    pub activation_a: [f32; 6],
    /// Second parameter of each function.
    pub activation_b: [f32; 6],
}

/// Rnn.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnRnnDescriptor {
    /// `ARMNN_RECURRENT_DIRECTION_…`.
    pub direction: u32,
    /// Numbers in a hidden state.
    pub hidden_size: u32,
    /// 1: the batch is the first dimension; 0: time is.
    pub batch_first: u32,
    /// Zero.
    pub reserved: u32,
    /// Arguments of activation functions are limited to -clip … clip; 0: they are not.
    pub clip: f32,
    /// `ARMNN_ACTIVATION_…`: one for each direction.
    pub activations: [u32; 2],
    /// First parameter of each function.
    pub activation_a: [f32; 2],
    /// Second parameter of each function.
    pub activation_b: [f32; 2],
}

/// UnidirectionalSequenceLstm.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmnnUnidirectionalSequenceLstmDescriptor {
    /// 1: time is the first dimension; 0: the batch is.
    pub time_major: u32,
    /// `ARMNN_ACTIVATION_…`, of the cell's input and output.
    pub activation: u32,
    /// First parameter of that function.
    pub activation_a: f32,
    /// Second parameter of that function.
    pub activation_b: f32,
    /// The cell is limited to -cell_clip … cell_clip; 0: it is not.
    pub cell_clip: f32,
    /// So is the projection.
    pub projection_clip: f32,
    /// If quantized: scale of the input gate before layer normalization.
    pub input_intermediate_scale: f32,
    /// If quantized: scale of the forget gate before layer normalization.
    pub forget_intermediate_scale: f32,
    /// If quantized: scale of the cell gate before layer normalization.
    pub cell_intermediate_scale: f32,
    /// If quantized: scale of the output gate before layer normalization.
    pub output_intermediate_scale: f32,
    /// If quantized: scale of what is projected.
    pub hidden_state_scale: f32,
    /// If quantized: zero point of what is projected.
    pub hidden_state_zero_point: i32,
}
