//! Numbers with a meaning. They are literals, so that the C header carries them; they never change
//! meaning, and new ones are appended.

#![allow(missing_docs)] // The names say it; the enums of the safe interface are documented.

// Statuses.
/// Done.
pub const ARMNN_STATUS_OK: i32 = 0;
/// Failed; the message says why.
pub const ARMNN_STATUS_ERROR: i32 = 1;
/// A panic or an exception was caught. The object is poisoned.
pub const ARMNN_STATUS_PANIC: i32 = 2;
/// The call is not implemented.
pub const ARMNN_STATUS_UNIMPLEMENTED: i32 = 3;
/// The object, or the one that made it, was poisoned by an earlier panic.
pub const ARMNN_STATUS_POISONED: i32 = 4;
/// What is needed (hardware, a driver) is not there.
pub const ARMNN_STATUS_UNAVAILABLE: i32 = 5;
/// The backend does not take this layer; the message is the reason.
pub const ARMNN_STATUS_UNSUPPORTED: i32 = 6;
/// An argument breaks the interface's rules.
pub const ARMNN_STATUS_INVALID_ARGUMENT: i32 = 7;
/// Memory could not be had.
pub const ARMNN_STATUS_OUT_OF_MEMORY: i32 = 8;
/// The device went away; the network cannot be used on it any more.
pub const ARMNN_STATUS_DEVICE_LOST: i32 = 9;
/// Returned by `initialize` of an object that stands for a factory that failed.
pub const ARMNN_STATUS_FACTORY_FAILED: i32 = 10;

// Data types. Arm NN's ten keep its numbers.
pub const ARMNN_DATA_TYPE_FLOAT16: u32 = 0;
pub const ARMNN_DATA_TYPE_FLOAT32: u32 = 1;
pub const ARMNN_DATA_TYPE_QASYMM_U8: u32 = 2;
pub const ARMNN_DATA_TYPE_SIGNED32: u32 = 3;
pub const ARMNN_DATA_TYPE_BOOLEAN: u32 = 4;
pub const ARMNN_DATA_TYPE_QSYMM_S16: u32 = 5;
pub const ARMNN_DATA_TYPE_QSYMM_S8: u32 = 6;
pub const ARMNN_DATA_TYPE_QASYMM_S8: u32 = 7;
pub const ARMNN_DATA_TYPE_BFLOAT16: u32 = 8;
pub const ARMNN_DATA_TYPE_SIGNED64: u32 = 9;
pub const ARMNN_DATA_TYPE_FLOAT64: u32 = 32;
pub const ARMNN_DATA_TYPE_INT8: u32 = 33;
pub const ARMNN_DATA_TYPE_INT16: u32 = 34;
pub const ARMNN_DATA_TYPE_UINT8: u32 = 35;
pub const ARMNN_DATA_TYPE_UINT16: u32 = 36;
pub const ARMNN_DATA_TYPE_UINT32: u32 = 37;
pub const ARMNN_DATA_TYPE_UINT64: u32 = 38;
pub const ARMNN_DATA_TYPE_INT4: u32 = 64;
pub const ARMNN_DATA_TYPE_UINT4: u32 = 65;
pub const ARMNN_DATA_TYPE_INT2: u32 = 66;
pub const ARMNN_DATA_TYPE_UINT2: u32 = 67;
pub const ARMNN_DATA_TYPE_FLOAT8_E4M3FN: u32 = 68;
pub const ARMNN_DATA_TYPE_FLOAT8_E4M3FNUZ: u32 = 69;
pub const ARMNN_DATA_TYPE_FLOAT8_E5M2: u32 = 70;
pub const ARMNN_DATA_TYPE_FLOAT8_E5M2FNUZ: u32 = 71;
pub const ARMNN_DATA_TYPE_FLOAT8_E8M0: u32 = 72;
pub const ARMNN_DATA_TYPE_FLOAT4_E2M1: u32 = 73;

// Index values that stand for "none".
/// An optional input that is absent.
pub const ARMNN_NO_TENSOR: u32 = 0xffff_ffff;
/// A tensor without a producer in the view.
pub const ARMNN_NO_LAYER: u32 = 0xffff_ffff;

// Flags of tensors.
/// It is among the view's inputs.
pub const ARMNN_TENSOR_VIEW_INPUT: u32 = 1;
/// It is among the view's outputs.
pub const ARMNN_TENSOR_VIEW_OUTPUT: u32 = 2;

// Kinds of options.
pub const ARMNN_OPTION_BOOL: u32 = 0;
pub const ARMNN_OPTION_INT: u32 = 1;
pub const ARMNN_OPTION_FLOAT: u32 = 2;
pub const ARMNN_OPTION_STRING: u32 = 3;

// Levels of the log.
pub const ARMNN_LOG_ERROR: u32 = 1;
pub const ARMNN_LOG_WARN: u32 = 2;
pub const ARMNN_LOG_INFO: u32 = 3;
pub const ARMNN_LOG_DEBUG: u32 = 4;
pub const ARMNN_LOG_TRACE: u32 = 5;

// Kinds of backends.
pub const ARMNN_BACKEND_KIND_REFERENCE: u32 = 0;
pub const ARMNN_BACKEND_KIND_CPU: u32 = 1;
pub const ARMNN_BACKEND_KIND_GPU: u32 = 2;
pub const ARMNN_BACKEND_KIND_ACCELERATOR: u32 = 3;

// Capabilities.
/// Constants need not be aligned to their element size.
pub const ARMNN_CAPABILITY_UNALIGNED_CONSTANTS: u32 = 1;

// Access to memory that is mapped or imported.
pub const ARMNN_MAP_READ: u32 = 1;
pub const ARMNN_MAP_WRITE: u32 = 2;

// Layer types. Arm NN's keep its numbers; others start at 256.
pub const ARMNN_LAYER_ACTIVATION: u32 = 0;
pub const ARMNN_LAYER_COMPARISON: u32 = 5;
pub const ARMNN_LAYER_CONCAT: u32 = 6;
pub const ARMNN_LAYER_CONVOLUTION2D: u32 = 10;
pub const ARMNN_LAYER_DEPTHWISE_CONVOLUTION2D: u32 = 13;
pub const ARMNN_LAYER_DEQUANTIZE: u32 = 14;
pub const ARMNN_LAYER_ELEMENTWISE_UNARY: u32 = 17;
pub const ARMNN_LAYER_FULLY_CONNECTED: u32 = 21;
pub const ARMNN_LAYER_GATHER: u32 = 22;
pub const ARMNN_LAYER_PAD: u32 = 40;
pub const ARMNN_LAYER_POOLING2D: u32 = 42;
pub const ARMNN_LAYER_PRELU: u32 = 44;
pub const ARMNN_LAYER_QUANTIZE: u32 = 45;
pub const ARMNN_LAYER_RESHAPE: u32 = 47;
pub const ARMNN_LAYER_RESIZE: u32 = 49;
pub const ARMNN_LAYER_REDUCE: u32 = 50;
pub const ARMNN_LAYER_SOFTMAX: u32 = 52;
pub const ARMNN_LAYER_SPLIT: u32 = 55;
pub const ARMNN_LAYER_STAND_IN: u32 = 57;
pub const ARMNN_LAYER_STRIDED_SLICE: u32 = 58;
pub const ARMNN_LAYER_TRANSPOSE: u32 = 61;
pub const ARMNN_LAYER_CAST: u32 = 64;
pub const ARMNN_LAYER_BATCH_MAT_MUL: u32 = 71;
pub const ARMNN_LAYER_ELEMENTWISE_BINARY: u32 = 72;

// Layer types since 1.2.
pub const ARMNN_LAYER_ARG_MIN_MAX: u32 = 2;
pub const ARMNN_LAYER_BATCH_NORMALIZATION: u32 = 3;
pub const ARMNN_LAYER_BATCH_TO_SPACE_ND: u32 = 4;
pub const ARMNN_LAYER_DEPTH_TO_SPACE: u32 = 12;
pub const ARMNN_LAYER_DETECTION_POST_PROCESS: u32 = 15;
pub const ARMNN_LAYER_FILL: u32 = 19;
pub const ARMNN_LAYER_INSTANCE_NORMALIZATION: u32 = 24;
pub const ARMNN_LAYER_L2_NORMALIZATION: u32 = 25;
pub const ARMNN_LAYER_LOGICAL_BINARY: u32 = 26;
pub const ARMNN_LAYER_LOG_SOFTMAX: u32 = 27;
pub const ARMNN_LAYER_NORMALIZATION: u32 = 38;
pub const ARMNN_LAYER_SPACE_TO_BATCH_ND: u32 = 53;
pub const ARMNN_LAYER_SPACE_TO_DEPTH: u32 = 54;
pub const ARMNN_LAYER_STACK: u32 = 56;
pub const ARMNN_LAYER_TRANSPOSE_CONVOLUTION2D: u32 = 62;
pub const ARMNN_LAYER_UNIDIRECTIONAL_SEQUENCE_LSTM: u32 = 66;
pub const ARMNN_LAYER_CONVOLUTION3D: u32 = 68;
pub const ARMNN_LAYER_POOLING3D: u32 = 69;
pub const ARMNN_LAYER_GATHER_ND: u32 = 70;
pub const ARMNN_LAYER_REVERSE_V2: u32 = 73;
pub const ARMNN_LAYER_TILE: u32 = 74;
pub const ARMNN_LAYER_BROADCAST_TO: u32 = 76;
pub const ARMNN_LAYER_SCATTER_ND: u32 = 77;
pub const ARMNN_LAYER_BIT_CAST: u32 = 256;
pub const ARMNN_LAYER_BUCKETIZE: u32 = 257;
pub const ARMNN_LAYER_COL2IM: u32 = 258;
pub const ARMNN_LAYER_COMPRESS: u32 = 259;
pub const ARMNN_LAYER_CUMULATIVE: u32 = 260;
pub const ARMNN_LAYER_DEFORM_CONV: u32 = 261;
pub const ARMNN_LAYER_DET: u32 = 262;
pub const ARMNN_LAYER_DFT: u32 = 263;
pub const ARMNN_LAYER_DYNAMIC_UPDATE_SLICE: u32 = 264;
pub const ARMNN_LAYER_GATHER_ELEMENTS: u32 = 265;
pub const ARMNN_LAYER_GRID_SAMPLE: u32 = 266;
pub const ARMNN_LAYER_GRU: u32 = 267;
pub const ARMNN_LAYER_INTERPOLATE: u32 = 268;
pub const ARMNN_LAYER_LAYER_NORMALIZATION: u32 = 269;
pub const ARMNN_LAYER_LSTM: u32 = 270;
pub const ARMNN_LAYER_MAX_POOL_WITH_INDICES: u32 = 271;
pub const ARMNN_LAYER_NON_MAX_SUPPRESSION: u32 = 272;
pub const ARMNN_LAYER_NON_MAX_SUPPRESSION_PADDED: u32 = 273;
pub const ARMNN_LAYER_NON_ZERO: u32 = 274;
pub const ARMNN_LAYER_ONE_HOT: u32 = 275;
pub const ARMNN_LAYER_RANGE: u32 = 276;
pub const ARMNN_LAYER_REVERSE_SEQUENCE: u32 = 277;
pub const ARMNN_LAYER_RNN: u32 = 278;
pub const ARMNN_LAYER_ROI_ALIGN: u32 = 279;
pub const ARMNN_LAYER_SCATTER_ELEMENTS: u32 = 280;
pub const ARMNN_LAYER_SELECT: u32 = 281;
pub const ARMNN_LAYER_TOP_K: u32 = 282;
pub const ARMNN_LAYER_TRANSPOSE_CONVOLUTION3D: u32 = 283;
pub const ARMNN_LAYER_TRILU: u32 = 284;
pub const ARMNN_LAYER_UNIQUE: u32 = 285;

// Layouts of images.
pub const ARMNN_DATA_LAYOUT_NCHW: u32 = 1;
pub const ARMNN_DATA_LAYOUT_NHWC: u32 = 2;
pub const ARMNN_DATA_LAYOUT_NDHWC: u32 = 3;
pub const ARMNN_DATA_LAYOUT_NCDHW: u32 = 4;

// Activation functions of `ArmnnActivationDescriptor`. Arm NN's Abs (7), Sqrt (8) and Square (9)
// are ElementwiseUnary here.
pub const ARMNN_ACTIVATION_SIGMOID: u32 = 0;
pub const ARMNN_ACTIVATION_TANH: u32 = 1;
pub const ARMNN_ACTIVATION_LINEAR: u32 = 2;
pub const ARMNN_ACTIVATION_RELU: u32 = 3;
pub const ARMNN_ACTIVATION_BOUNDED_RELU: u32 = 4;
pub const ARMNN_ACTIVATION_SOFT_RELU: u32 = 5;
pub const ARMNN_ACTIVATION_LEAKY_RELU: u32 = 6;
pub const ARMNN_ACTIVATION_ELU: u32 = 10;
pub const ARMNN_ACTIVATION_HARD_SWISH: u32 = 11;
pub const ARMNN_ACTIVATION_GELU: u32 = 12;

// Activation functions since 1.2.
pub const ARMNN_ACTIVATION_GELU_TANH: u32 = 256;
pub const ARMNN_ACTIVATION_SELU: u32 = 257;
pub const ARMNN_ACTIVATION_CELU: u32 = 258;
pub const ARMNN_ACTIVATION_HARD_SIGMOID: u32 = 259;
pub const ARMNN_ACTIVATION_MISH: u32 = 260;
pub const ARMNN_ACTIVATION_SOFT_SIGN: u32 = 261;
pub const ARMNN_ACTIVATION_THRESHOLDED_RELU: u32 = 262;
pub const ARMNN_ACTIVATION_SWISH: u32 = 263;
pub const ARMNN_ACTIVATION_LOG_SIGMOID: u32 = 264;
pub const ARMNN_ACTIVATION_SHRINK: u32 = 265;

// Operations of `ArmnnComparisonDescriptor`.
pub const ARMNN_COMPARISON_EQUAL: u32 = 0;
pub const ARMNN_COMPARISON_GREATER: u32 = 1;
pub const ARMNN_COMPARISON_GREATER_OR_EQUAL: u32 = 2;
pub const ARMNN_COMPARISON_LESS: u32 = 3;
pub const ARMNN_COMPARISON_LESS_OR_EQUAL: u32 = 4;
pub const ARMNN_COMPARISON_NOT_EQUAL: u32 = 5;

// Operations of `ArmnnElementwiseUnaryDescriptor`.
pub const ARMNN_UNARY_ABS: u32 = 0;
pub const ARMNN_UNARY_EXP: u32 = 1;
pub const ARMNN_UNARY_SQRT: u32 = 2;
pub const ARMNN_UNARY_RSQRT: u32 = 3;
pub const ARMNN_UNARY_NEG: u32 = 4;
pub const ARMNN_UNARY_LOGICAL_NOT: u32 = 5;
pub const ARMNN_UNARY_LOG: u32 = 6;
pub const ARMNN_UNARY_SIN: u32 = 7;
pub const ARMNN_UNARY_CEIL: u32 = 8;
pub const ARMNN_UNARY_FLOOR: u32 = 256;
pub const ARMNN_UNARY_SQUARE: u32 = 257;

// Operations of `ArmnnElementwiseUnaryDescriptor` since 1.2.
pub const ARMNN_UNARY_COS: u32 = 258;
pub const ARMNN_UNARY_TAN: u32 = 259;
pub const ARMNN_UNARY_ASIN: u32 = 260;
pub const ARMNN_UNARY_ACOS: u32 = 261;
pub const ARMNN_UNARY_ATAN: u32 = 262;
pub const ARMNN_UNARY_SINH: u32 = 263;
pub const ARMNN_UNARY_COSH: u32 = 264;
pub const ARMNN_UNARY_ASINH: u32 = 265;
pub const ARMNN_UNARY_ACOSH: u32 = 266;
pub const ARMNN_UNARY_ATANH: u32 = 267;
pub const ARMNN_UNARY_ERF: u32 = 268;
pub const ARMNN_UNARY_SIGN: u32 = 269;
pub const ARMNN_UNARY_ROUND: u32 = 270;
pub const ARMNN_UNARY_RECIPROCAL: u32 = 271;
pub const ARMNN_UNARY_IS_NAN: u32 = 272;
pub const ARMNN_UNARY_IS_INF: u32 = 273;
pub const ARMNN_UNARY_IS_POS_INF: u32 = 274;
pub const ARMNN_UNARY_IS_NEG_INF: u32 = 275;
pub const ARMNN_UNARY_BITWISE_NOT: u32 = 276;

// Operations of `ArmnnElementwiseBinaryDescriptor`.
pub const ARMNN_BINARY_ADD: u32 = 0;
pub const ARMNN_BINARY_DIV: u32 = 1;
pub const ARMNN_BINARY_MAXIMUM: u32 = 2;
pub const ARMNN_BINARY_MINIMUM: u32 = 3;
pub const ARMNN_BINARY_MUL: u32 = 4;
pub const ARMNN_BINARY_SUB: u32 = 5;
pub const ARMNN_BINARY_SQ_DIFF: u32 = 6;
pub const ARMNN_BINARY_POWER: u32 = 7;

// Operations of `ArmnnElementwiseBinaryDescriptor` since 1.2.
pub const ARMNN_BINARY_FLOOR_DIV: u32 = 256;
pub const ARMNN_BINARY_FLOOR_MOD: u32 = 257;
pub const ARMNN_BINARY_TRUNCATE_MOD: u32 = 258;
pub const ARMNN_BINARY_ATAN2: u32 = 259;
pub const ARMNN_BINARY_BITWISE_AND: u32 = 260;
pub const ARMNN_BINARY_BITWISE_OR: u32 = 261;
pub const ARMNN_BINARY_BITWISE_XOR: u32 = 262;
pub const ARMNN_BINARY_SHIFT_LEFT: u32 = 263;
pub const ARMNN_BINARY_SHIFT_RIGHT: u32 = 264;

// Pooling.
pub const ARMNN_POOLING_MAX: u32 = 0;
pub const ARMNN_POOLING_AVERAGE: u32 = 1;
pub const ARMNN_POOLING_L2: u32 = 2;
/// Since 1.2.
pub const ARMNN_POOLING_SUM: u32 = 256;
/// Padding counts as elements of value 0.
pub const ARMNN_PADDING_METHOD_IGNORE_VALUE: u32 = 0;
/// Padding does not count.
pub const ARMNN_PADDING_METHOD_EXCLUDE: u32 = 1;
pub const ARMNN_OUTPUT_SHAPE_ROUNDING_FLOOR: u32 = 0;
pub const ARMNN_OUTPUT_SHAPE_ROUNDING_CEILING: u32 = 1;

// Quantize. Since 1.2; before, numbers halfway between two are rounded away from zero.
pub const ARMNN_QUANTIZE_ROUNDING_AWAY_FROM_ZERO: u32 = 0;
pub const ARMNN_QUANTIZE_ROUNDING_TO_EVEN: u32 = 1;

// Pad.
pub const ARMNN_PADDING_MODE_CONSTANT: u32 = 0;
pub const ARMNN_PADDING_MODE_REFLECT: u32 = 1;
pub const ARMNN_PADDING_MODE_SYMMETRIC: u32 = 2;
/// Since 1.2.
pub const ARMNN_PADDING_MODE_EDGE: u32 = 256;
/// Since 1.2.
pub const ARMNN_PADDING_MODE_WRAP: u32 = 257;

// Operations of `ArmnnReduceDescriptor`.
pub const ARMNN_REDUCE_SUM: u32 = 0;
pub const ARMNN_REDUCE_MAX: u32 = 1;
pub const ARMNN_REDUCE_MEAN: u32 = 2;
pub const ARMNN_REDUCE_MIN: u32 = 3;
pub const ARMNN_REDUCE_PROD: u32 = 4;

// Operations of `ArmnnReduceDescriptor` since 1.2.
pub const ARMNN_REDUCE_SUM_SQUARE: u32 = 256;
pub const ARMNN_REDUCE_L1: u32 = 257;
pub const ARMNN_REDUCE_L2: u32 = 258;
pub const ARMNN_REDUCE_LOG_SUM: u32 = 259;
pub const ARMNN_REDUCE_LOG_SUM_EXP: u32 = 260;
pub const ARMNN_REDUCE_ANY: u32 = 261;
pub const ARMNN_REDUCE_ALL: u32 = 262;

// Methods of `ArmnnResizeDescriptor`.
pub const ARMNN_RESIZE_BILINEAR: u32 = 0;
pub const ARMNN_RESIZE_NEAREST_NEIGHBOR: u32 = 1;

// Functions of `ArmnnArgMinMaxDescriptor`, since 1.2.
pub const ARMNN_ARG_MIN_MAX_MIN: u32 = 0;
pub const ARMNN_ARG_MIN_MAX_MAX: u32 = 1;

// Operations of `ArmnnCumulativeDescriptor`, since 1.2.
pub const ARMNN_CUMULATIVE_SUM: u32 = 0;
pub const ARMNN_CUMULATIVE_PROD: u32 = 1;

// Modes of `ArmnnDepthToSpaceDescriptor`, since 1.2.
pub const ARMNN_DEPTH_TO_SPACE_DCR: u32 = 0;
pub const ARMNN_DEPTH_TO_SPACE_CRD: u32 = 1;

// Padding of `ArmnnGridSampleDescriptor`, since 1.2.
pub const ARMNN_GRID_PADDING_ZEROS: u32 = 0;
pub const ARMNN_GRID_PADDING_BORDER: u32 = 1;
pub const ARMNN_GRID_PADDING_REFLECTION: u32 = 2;

// Methods of `ArmnnInterpolateDescriptor` and `ArmnnGridSampleDescriptor`, since 1.2.
pub const ARMNN_INTERPOLATION_NEAREST: u32 = 0;
pub const ARMNN_INTERPOLATION_LINEAR: u32 = 1;
pub const ARMNN_INTERPOLATION_CUBIC: u32 = 2;

// Coordinates of `ArmnnInterpolateDescriptor`, since 1.2.
pub const ARMNN_COORDINATES_HALF_PIXEL: u32 = 0;
pub const ARMNN_COORDINATES_HALF_PIXEL_SYMMETRIC: u32 = 1;
pub const ARMNN_COORDINATES_PYTORCH_HALF_PIXEL: u32 = 2;
pub const ARMNN_COORDINATES_ALIGN_CORNERS: u32 = 3;
pub const ARMNN_COORDINATES_ASYMMETRIC: u32 = 4;
pub const ARMNN_COORDINATES_TF_HALF_PIXEL_FOR_NN: u32 = 5;
pub const ARMNN_COORDINATES_TF_CROP_AND_RESIZE: u32 = 6;

// Rounding of `ArmnnInterpolateDescriptor`, since 1.2.
pub const ARMNN_NEAREST_ROUND_PREFER_FLOOR: u32 = 0;
pub const ARMNN_NEAREST_ROUND_PREFER_CEIL: u32 = 1;
pub const ARMNN_NEAREST_FLOOR: u32 = 2;
pub const ARMNN_NEAREST_CEIL: u32 = 3;

// Channels of `ArmnnNormalizationDescriptor`, since 1.2.
pub const ARMNN_NORMALIZATION_ACROSS: u32 = 0;
pub const ARMNN_NORMALIZATION_WITHIN: u32 = 1;

// Directions of `ArmnnRnnDescriptor`, `ArmnnGruDescriptor` and `ArmnnLstmDescriptor`, since 1.2.
pub const ARMNN_RECURRENT_DIRECTION_FORWARD: u32 = 0;
pub const ARMNN_RECURRENT_DIRECTION_REVERSE: u32 = 1;
pub const ARMNN_RECURRENT_DIRECTION_BIDIRECTIONAL: u32 = 2;

// Functions of `ArmnnScatterNdDescriptor` and `ArmnnScatterElementsDescriptor`, since 1.2.
pub const ARMNN_SCATTER_UPDATE: u32 = 0;
pub const ARMNN_SCATTER_ADD: u32 = 1;
pub const ARMNN_SCATTER_SUB: u32 = 2;
pub const ARMNN_SCATTER_MAX: u32 = 3;
pub const ARMNN_SCATTER_MIN: u32 = 4;
pub const ARMNN_SCATTER_MUL: u32 = 5;

// Operations of `ArmnnLogicalBinaryDescriptor`, since 1.2.
pub const ARMNN_LOGICAL_BINARY_AND: u32 = 0;
pub const ARMNN_LOGICAL_BINARY_OR: u32 = 1;
pub const ARMNN_LOGICAL_BINARY_XOR: u32 = 256;
