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
    /// What a Pad puts around its input.
    pub enum PaddingMode {
        /// A value.
        Constant = sys::ARMNN_PADDING_MODE_CONSTANT,
        /// The input mirrored at its border element, which is not repeated.
        Reflect = sys::ARMNN_PADDING_MODE_REFLECT,
        /// The input mirrored at its border; the border element is repeated.
        Symmetric = sys::ARMNN_PADDING_MODE_SYMMETRIC,
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
