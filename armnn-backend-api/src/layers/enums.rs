//! Names of the numbers in descriptors.

use crate::open_enum::open_enum;
use crate::sys;

open_enum! {
    /// How the dimensions of an image are ordered.
    pub enum DataLayout {
        /// Batch, channels, rows, columns.
        Nchw = sys::ARMNN_DATA_LAYOUT_NCHW,
        /// Batch, rows, columns, channels.
        Nhwc = sys::ARMNN_DATA_LAYOUT_NHWC,
        /// Batch, depth, rows, columns, channels.
        Ndhwc = sys::ARMNN_DATA_LAYOUT_NDHWC,
        /// Batch, channels, depth, rows, columns.
        Ncdhw = sys::ARMNN_DATA_LAYOUT_NCDHW,
    }
}

open_enum! {
    /// The function of an Activation, with parameters `a` and `b`.
    pub enum ActivationFunction {
        /// 1 / (1 + e^-x)
        Sigmoid = sys::ARMNN_ACTIVATION_SIGMOID,
        /// a tanh(b x)
        TanH = sys::ARMNN_ACTIVATION_TANH,
        /// a x + b
        Linear = sys::ARMNN_ACTIVATION_LINEAR,
        /// max(0, x)
        ReLu = sys::ARMNN_ACTIVATION_RELU,
        /// min(a, max(b, x)): `a` is the upper bound, `b` the lower
        BoundedReLu = sys::ARMNN_ACTIVATION_BOUNDED_RELU,
        /// log(1 + e^x)
        SoftReLu = sys::ARMNN_ACTIVATION_SOFT_RELU,
        /// x above 0, else a x
        LeakyReLu = sys::ARMNN_ACTIVATION_LEAKY_RELU,
        /// x above 0, else a (e^x - 1)
        Elu = sys::ARMNN_ACTIVATION_ELU,
        /// x min(6, max(0, x + 3)) / 6
        HardSwish = sys::ARMNN_ACTIVATION_HARD_SWISH,
        /// x/2 (1 + erf(x / sqrt(2)))
        Gelu = sys::ARMNN_ACTIVATION_GELU,
        /// x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
        GeluTanh = sys::ARMNN_ACTIVATION_GELU_TANH => since 2,
        /// b x above 0, else a b (e^x - 1)
        Selu = sys::ARMNN_ACTIVATION_SELU => since 2,
        /// max(0, x) + min(0, a (e^(x / a) - 1))
        Celu = sys::ARMNN_ACTIVATION_CELU => since 2,
        /// min(1, max(0, a x + b))
        HardSigmoid = sys::ARMNN_ACTIVATION_HARD_SIGMOID => since 2,
        /// x tanh(log(1 + e^x))
        Mish = sys::ARMNN_ACTIVATION_MISH => since 2,
        /// x / (1 + |x|)
        SoftSign = sys::ARMNN_ACTIVATION_SOFT_SIGN => since 2,
        /// x above a, else 0
        ThresholdedReLu = sys::ARMNN_ACTIVATION_THRESHOLDED_RELU => since 2,
        /// x / (1 + e^(-a x))
        Swish = sys::ARMNN_ACTIVATION_SWISH => since 2,
        /// -log(1 + e^-x)
        LogSigmoid = sys::ARMNN_ACTIVATION_LOG_SIGMOID => since 2,
        /// x + b below -a, x - b above a, else 0
        Shrink = sys::ARMNN_ACTIVATION_SHRINK => since 2,
    }
}

open_enum! {
    /// The operation of a Comparison.
    pub enum ComparisonOperation {
        /// x = y
        Equal = sys::ARMNN_COMPARISON_EQUAL,
        /// x > y
        Greater = sys::ARMNN_COMPARISON_GREATER,
        /// x >= y
        GreaterOrEqual = sys::ARMNN_COMPARISON_GREATER_OR_EQUAL,
        /// x < y
        Less = sys::ARMNN_COMPARISON_LESS,
        /// x <= y
        LessOrEqual = sys::ARMNN_COMPARISON_LESS_OR_EQUAL,
        /// x != y
        NotEqual = sys::ARMNN_COMPARISON_NOT_EQUAL,
    }
}

open_enum! {
    /// The operation of an ElementwiseUnary.
    pub enum UnaryOperation {
        /// |x|
        Abs = sys::ARMNN_UNARY_ABS,
        /// e^x
        Exp = sys::ARMNN_UNARY_EXP,
        /// The square root.
        Sqrt = sys::ARMNN_UNARY_SQRT,
        /// 1 / sqrt(x)
        Rsqrt = sys::ARMNN_UNARY_RSQRT,
        /// -x
        Neg = sys::ARMNN_UNARY_NEG,
        /// not x, on Boolean
        LogicalNot = sys::ARMNN_UNARY_LOGICAL_NOT,
        /// The natural logarithm.
        Log = sys::ARMNN_UNARY_LOG,
        /// sin x, in radians
        Sin = sys::ARMNN_UNARY_SIN,
        /// The smallest integer not below x.
        Ceil = sys::ARMNN_UNARY_CEIL,
        /// The largest integer not above x.
        Floor = sys::ARMNN_UNARY_FLOOR,
        /// x x
        Square = sys::ARMNN_UNARY_SQUARE,
        /// cos x, in radians
        Cos = sys::ARMNN_UNARY_COS => since 2,
        /// tan x, in radians
        Tan = sys::ARMNN_UNARY_TAN => since 2,
        /// The angle in radians, from -pi/2 to pi/2, whose sine is x.
        Asin = sys::ARMNN_UNARY_ASIN => since 2,
        /// The angle in radians, from 0 to pi, whose cosine is x.
        Acos = sys::ARMNN_UNARY_ACOS => since 2,
        /// The angle in radians, from -pi/2 to pi/2, whose tangent is x.
        Atan = sys::ARMNN_UNARY_ATAN => since 2,
        /// (e^x - e^-x) / 2
        Sinh = sys::ARMNN_UNARY_SINH => since 2,
        /// (e^x + e^-x) / 2
        Cosh = sys::ARMNN_UNARY_COSH => since 2,
        /// The number whose sinh is x.
        Asinh = sys::ARMNN_UNARY_ASINH => since 2,
        /// The number from 0 on whose cosh is x.
        Acosh = sys::ARMNN_UNARY_ACOSH => since 2,
        /// The number whose hyperbolic tangent is x.
        Atanh = sys::ARMNN_UNARY_ATANH => since 2,
        /// The error function.
        Erf = sys::ARMNN_UNARY_ERF => since 2,
        /// -1 below 0, 1 above 0, else 0.
        Sign = sys::ARMNN_UNARY_SIGN => since 2,
        /// The nearest integer, the even one of two.
        Round = sys::ARMNN_UNARY_ROUND => since 2,
        /// 1 / x
        Reciprocal = sys::ARMNN_UNARY_RECIPROCAL => since 2,
        /// Whether x is NaN. Output: Boolean.
        IsNan = sys::ARMNN_UNARY_IS_NAN => since 2,
        /// Whether x is infinite. Output: Boolean.
        IsInf = sys::ARMNN_UNARY_IS_INF => since 2,
        /// Whether x is positive and infinite. Output: Boolean.
        IsPosInf = sys::ARMNN_UNARY_IS_POS_INF => since 2,
        /// Whether x is negative and infinite. Output: Boolean.
        IsNegInf = sys::ARMNN_UNARY_IS_NEG_INF => since 2,
        /// Each bit turned round, of integers.
        BitwiseNot = sys::ARMNN_UNARY_BITWISE_NOT => since 2,
    }
}

open_enum! {
    /// The operation of an ElementwiseBinary.
    pub enum BinaryOperation {
        /// x + y
        Add = sys::ARMNN_BINARY_ADD,
        /// x / y; integers round towards zero
        Div = sys::ARMNN_BINARY_DIV,
        /// The larger of both.
        Maximum = sys::ARMNN_BINARY_MAXIMUM,
        /// The smaller of both.
        Minimum = sys::ARMNN_BINARY_MINIMUM,
        /// x y
        Mul = sys::ARMNN_BINARY_MUL,
        /// x - y
        Sub = sys::ARMNN_BINARY_SUB,
        /// (x - y)^2
        SqDiff = sys::ARMNN_BINARY_SQ_DIFF,
        /// x to the power of y
        Power = sys::ARMNN_BINARY_POWER,
        /// The largest integer not above x / y.
        FloorDiv = sys::ARMNN_BINARY_FLOOR_DIV => since 2,
        /// x - y floor(x / y): the remainder with the sign of y.
        FloorMod = sys::ARMNN_BINARY_FLOOR_MOD => since 2,
        /// The remainder with the sign of x, as C's `%` and `fmod`.
        TruncateMod = sys::ARMNN_BINARY_TRUNCATE_MOD => since 2,
        /// The angle in radians, from -pi to pi, of the point (y, x): x is its height.
        Atan2 = sys::ARMNN_BINARY_ATAN2 => since 2,
        /// Bits that are set in both, of integers.
        BitwiseAnd = sys::ARMNN_BINARY_BITWISE_AND => since 2,
        /// Bits that are set in either, of integers.
        BitwiseOr = sys::ARMNN_BINARY_BITWISE_OR => since 2,
        /// Bits that differ, of integers.
        BitwiseXor = sys::ARMNN_BINARY_BITWISE_XOR => since 2,
        /// x shifted by y bits towards the high ones, of integers; 0 if y is not below their number.
        ShiftLeft = sys::ARMNN_BINARY_SHIFT_LEFT => since 2,
        /// x shifted by y bits towards the low ones, of integers; the sign is kept. If y is not below
        /// their number, 0, or -1 for a negative x.
        ShiftRight = sys::ARMNN_BINARY_SHIFT_RIGHT => since 2,
    }
}

open_enum! {
    /// What a Pooling2d computes of each window.
    pub enum PoolingAlgorithm {
        /// The largest element.
        Max = sys::ARMNN_POOLING_MAX,
        /// The mean.
        Average = sys::ARMNN_POOLING_AVERAGE,
        /// The square root of the mean of the squares.
        L2 = sys::ARMNN_POOLING_L2,
        /// The sum.
        Sum = sys::ARMNN_POOLING_SUM => since 2,
    }
}

open_enum! {
    /// Whether padding counts in a Pooling2d of type Average or L2.
    pub enum PaddingMethod {
        /// It counts, as elements of value 0.
        IgnoreValue = sys::ARMNN_PADDING_METHOD_IGNORE_VALUE,
        /// It does not count.
        Exclude = sys::ARMNN_PADDING_METHOD_EXCLUDE,
    }
}

open_enum! {
    /// How the size of a Pooling2d's output is rounded.
    pub enum OutputShapeRounding {
        /// Down: windows are whole.
        Floor = sys::ARMNN_OUTPUT_SHAPE_ROUNDING_FLOOR,
        /// Up: the last window may reach beyond the padding.
        Ceiling = sys::ARMNN_OUTPUT_SHAPE_ROUNDING_CEILING,
    }
}

open_enum! {
    /// Where a Quantize takes numbers that lie halfway between two.
    pub enum QuantizeRounding {
        /// To the one farther from zero, as TensorFlow Lite does.
        AwayFromZero = sys::ARMNN_QUANTIZE_ROUNDING_AWAY_FROM_ZERO,
        /// To the even one, as ONNX defines it; the zero point is added afterwards.
        ToEven = sys::ARMNN_QUANTIZE_ROUNDING_TO_EVEN => since 2,
    }
}

open_enum! {
    /// What a Pad puts around its input.
    pub enum PaddingMode {
        /// A value.
        Constant = sys::ARMNN_PADDING_MODE_CONSTANT,
        /// The input mirrored at its border element, which is not repeated.
        Reflect = sys::ARMNN_PADDING_MODE_REFLECT,
        /// The input mirrored at its border; the border element is repeated.
        Symmetric = sys::ARMNN_PADDING_MODE_SYMMETRIC,
        /// The element at the border, repeated.
        Edge = sys::ARMNN_PADDING_MODE_EDGE => since 2,
        /// The input over and over, as if its ends were joined.
        Wrap = sys::ARMNN_PADDING_MODE_WRAP => since 2,
    }
}

open_enum! {
    /// The operation of a Reduce.
    pub enum ReduceOperation {
        /// The sum.
        Sum = sys::ARMNN_REDUCE_SUM,
        /// The largest.
        Max = sys::ARMNN_REDUCE_MAX,
        /// The mean.
        Mean = sys::ARMNN_REDUCE_MEAN,
        /// The smallest.
        Min = sys::ARMNN_REDUCE_MIN,
        /// The product.
        Prod = sys::ARMNN_REDUCE_PROD,
        /// The sum of the squares.
        SumSquare = sys::ARMNN_REDUCE_SUM_SQUARE => since 2,
        /// The sum of the absolute values.
        L1 = sys::ARMNN_REDUCE_L1 => since 2,
        /// The square root of the sum of the squares.
        L2 = sys::ARMNN_REDUCE_L2 => since 2,
        /// The logarithm of the sum.
        LogSum = sys::ARMNN_REDUCE_LOG_SUM => since 2,
        /// The logarithm of the sum of the powers of e.
        LogSumExp = sys::ARMNN_REDUCE_LOG_SUM_EXP => since 2,
        /// Whether any is true, of Boolean.
        Any = sys::ARMNN_REDUCE_ANY => since 2,
        /// Whether all are true, of Boolean.
        All = sys::ARMNN_REDUCE_ALL => since 2,
    }
}

open_enum! {
    /// How a Resize finds values between elements.
    pub enum ResizeMethod {
        /// Linear interpolation in both directions.
        Bilinear = sys::ARMNN_RESIZE_BILINEAR,
        /// The nearest element.
        NearestNeighbor = sys::ARMNN_RESIZE_NEAREST_NEIGHBOR,
    }
}

open_enum! {
    /// What an ArgMinMax looks for.
    pub enum ArgMinMaxFunction {
        /// The smallest element.
        Min = sys::ARMNN_ARG_MIN_MAX_MIN => since 2,
        /// The largest element.
        Max = sys::ARMNN_ARG_MIN_MAX_MAX => since 2,
    }
}

open_enum! {
    /// The operation of a Cumulative.
    pub enum CumulativeOperation {
        /// The sum.
        Sum = sys::ARMNN_CUMULATIVE_SUM => since 2,
        /// The product.
        Prod = sys::ARMNN_CUMULATIVE_PROD => since 2,
    }
}

open_enum! {
    /// How a DepthToSpace cuts channels.
    pub enum DepthToSpaceMode {
        /// Channel (row, column, c): the position in the block is the slowest, as in TensorFlow.
        Dcr = sys::ARMNN_DEPTH_TO_SPACE_DCR => since 2,
        /// Channel (c, row, column): the position in the block is the fastest, as in a pixel shuffle.
        Crd = sys::ARMNN_DEPTH_TO_SPACE_CRD => since 2,
    }
}

open_enum! {
    /// What a GridSample reads outside of its input.
    pub enum GridPadding {
        /// 0.
        Zeros = sys::ARMNN_GRID_PADDING_ZEROS => since 2,
        /// The element at the border.
        Border = sys::ARMNN_GRID_PADDING_BORDER => since 2,
        /// The input mirrored at its border: at the centres of the corner elements with `align_corners`,
        /// else at their outer borders.
        Reflection = sys::ARMNN_GRID_PADDING_REFLECTION => since 2,
    }
}

open_enum! {
    /// How an Interpolate or a GridSample finds values between elements.
    pub enum InterpolationMethod {
        /// The nearest element.
        Nearest = sys::ARMNN_INTERPOLATION_NEAREST => since 2,
        /// Linearly, along each dimension.
        Linear = sys::ARMNN_INTERPOLATION_LINEAR => since 2,
        /// By a cubic kernel over four elements along each dimension.
        Cubic = sys::ARMNN_INTERPOLATION_CUBIC => since 2,
    }
}

open_enum! {
    /// Which input position belongs to output position o of an Interpolate, along a dimension of
    /// input size I and scale s. R, the output size before it is rounded to O, is s I.
    pub enum CoordinateTransformation {
        /// (o + 0.5) / s - 0.5
        HalfPixel = sys::ARMNN_COORDINATES_HALF_PIXEL => since 2,
        /// I/2 (1 - O / R) + (o + 0.5) / s - 0.5: the same, from the middle outwards.
        HalfPixelSymmetric = sys::ARMNN_COORDINATES_HALF_PIXEL_SYMMETRIC => since 2,
        /// As HalfPixel, but 0 where R is 1.
        PytorchHalfPixel = sys::ARMNN_COORDINATES_PYTORCH_HALF_PIXEL => since 2,
        /// o (I - 1) / (R - 1); 0 where R is 1.
        AlignCorners = sys::ARMNN_COORDINATES_ALIGN_CORNERS => since 2,
        /// o / s
        Asymmetric = sys::ARMNN_COORDINATES_ASYMMETRIC => since 2,
        /// (o + 0.5) / s
        TfHalfPixelForNn = sys::ARMNN_COORDINATES_TF_HALF_PIXEL_FOR_NN => since 2,
        /// start (I - 1) + o (end - start) (I - 1) / (R - 1), with the region's start and end;
        /// (start + end) (I - 1) / 2 where R is 1.
        TfCropAndResize = sys::ARMNN_COORDINATES_TF_CROP_AND_RESIZE => since 2,
    }
}

open_enum! {
    /// Which element an Interpolate takes for the nearest.
    pub enum NearestRounding {
        /// The nearest, the lower of two.
        RoundPreferFloor = sys::ARMNN_NEAREST_ROUND_PREFER_FLOOR => since 2,
        /// The nearest, the upper of two.
        RoundPreferCeil = sys::ARMNN_NEAREST_ROUND_PREFER_CEIL => since 2,
        /// The one at or below the position.
        Floor = sys::ARMNN_NEAREST_FLOOR => since 2,
        /// The one at or above the position.
        Ceil = sys::ARMNN_NEAREST_CEIL => since 2,
    }
}

open_enum! {
    /// Which elements count in a Normalization.
    pub enum NormalizationAlgorithmChannel {
        /// Those at the same place in neighbouring channels.
        Across = sys::ARMNN_NORMALIZATION_ACROSS => since 2,
        /// Those around the place in the same channel.
        Within = sys::ARMNN_NORMALIZATION_WITHIN => since 2,
    }
}

open_enum! {
    /// In which direction an Rnn, Gru or Lstm goes through time.
    pub enum RecurrentDirection {
        /// From the first step to the last.
        Forward = sys::ARMNN_RECURRENT_DIRECTION_FORWARD => since 2,
        /// From the last step of each sequence to the first.
        Reverse = sys::ARMNN_RECURRENT_DIRECTION_REVERSE => since 2,
        /// Both, each with weights of its own: forward first.
        Bidirectional = sys::ARMNN_RECURRENT_DIRECTION_BIDIRECTIONAL => since 2,
    }
}

open_enum! {
    /// How a ScatterNd or ScatterElements combines an update with what is there.
    pub enum ScatterFunction {
        /// The update takes its place; of several, the last.
        Update = sys::ARMNN_SCATTER_UPDATE => since 2,
        /// The sum.
        Add = sys::ARMNN_SCATTER_ADD => since 2,
        /// The difference.
        Sub = sys::ARMNN_SCATTER_SUB => since 2,
        /// The larger.
        Max = sys::ARMNN_SCATTER_MAX => since 2,
        /// The smaller.
        Min = sys::ARMNN_SCATTER_MIN => since 2,
        /// The product.
        Mul = sys::ARMNN_SCATTER_MUL => since 2,
    }
}

open_enum! {
    /// The operation of a LogicalBinary.
    pub enum LogicalBinaryOperation {
        /// Whether both are true.
        LogicalAnd = sys::ARMNN_LOGICAL_BINARY_AND => since 2,
        /// Whether either is true.
        LogicalOr = sys::ARMNN_LOGICAL_BINARY_OR => since 2,
        /// Whether exactly one is true.
        LogicalXor = sys::ARMNN_LOGICAL_BINARY_XOR => since 2,
    }
}
