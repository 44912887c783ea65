//! The list of layers: number, descriptor, inputs, outputs and the minor since which each exists.

use std::{ffi::c_void, mem::size_of};

use super::*;
use crate::open_enum::open_enum;

layers! {
    /// A function of each element.
    ///
    /// Input and output: any shape, the same; Float32, Float16, or a quantized type. NaN stays NaN.
    Activation = sys::ARMNN_LAYER_ACTIVATION, ActivationDescriptor,
        ["input"] => ["output"], since 0;
    /// Products of matrices.
    ///
    /// x: [..., M, K] (or [..., K, M] if transposed), y: [..., K, N]; output: [..., M, N]. Leading
    /// dimensions broadcast.
    BatchMatMul = sys::ARMNN_LAYER_BATCH_MAT_MUL, BatchMatMulDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// Conversion of each element to the output's data type.
    ///
    /// To integers: of integers the lowest bits; of floats towards zero, saturating, NaN to 0, and for
    /// those of 2 and 4 bits the lowest bits of that. To Boolean: whether it is not 0. Between floats: to nearest, ties to even. To Float8 and Float4:
    /// saturating, infinities too; NaN becomes -0 in Float4, which has none. To Float8E8M0: the
    /// nearest power of two of the size, of two the larger; infinities become NaN.
    Cast = sys::ARMNN_LAYER_CAST, CastDescriptor,
        ["input"] => ["output"], since 0;
    /// Comparison of pairs of elements; shapes broadcast. Output: Boolean.
    Comparison = sys::ARMNN_LAYER_COMPARISON, ComparisonDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// Tensors joined along an axis; their other dimensions are equal.
    Concat = sys::ARMNN_LAYER_CONCAT, ConcatDescriptor,
        ["inputs*"] => ["output"], since 0;
    /// Convolution over rows and columns.
    ///
    /// NHWC: input [N, H, W, I], weights [O, KH, KW, I / groups], output [N, H', W', O]. NCHW:
    /// input [N, I, H, W], weights [O, I / groups, KH, KW], output [N, O, H', W']. Bias: `[O]`.
    /// H' = (H + pad_top + pad_bottom - dilation_y (KH - 1) - 1) / stride_y + 1, rounded down, and
    /// likewise W'. Padding is 0 (the zero point, if quantized).
    Convolution2d = sys::ARMNN_LAYER_CONVOLUTION2D, Convolution2dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Convolution of each channel with filters of its own.
    ///
    /// NHWC: input [N, H, W, C], output [N, H', W', C M]; NCHW accordingly. Weights:
    /// [1, KH, KW, C M] in both layouts; output channel o is of input channel o / M. Bias: [C M].
    /// Sizes as for Convolution2d.
    DepthwiseConvolution2d = sys::ARMNN_LAYER_DEPTHWISE_CONVOLUTION2D,
        DepthwiseConvolution2dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Quantized numbers to the real ones they stand for. Output: Float32 or Float16.
    Dequantize = sys::ARMNN_LAYER_DEQUANTIZE, DequantizeDescriptor,
        ["input"] => ["output"], since 0;
    /// An operation on pairs of elements; shapes broadcast. Integers wrap around; an integer division
    /// by 0 is an error when executed. Of NaN and a number, Maximum and Minimum are NaN.
    ElementwiseBinary = sys::ARMNN_LAYER_ELEMENTWISE_BINARY, ElementwiseBinaryDescriptor,
        ["x", "y"] => ["output"], since 0;
    /// An operation on each element.
    ElementwiseUnary = sys::ARMNN_LAYER_ELEMENTWISE_UNARY, ElementwiseUnaryDescriptor,
        ["input"] => ["output"], since 0;
    /// The input, flattened to [N, I], times the weights, plus the bias `[O]`. Output: [N, O].
    ///
    /// Weights: [O, I] with `transpose_weight_matrix`, else [I, O]. I is the weights' own; N is
    /// what remains of the input's elements.
    FullyConnected = sys::ARMNN_LAYER_FULLY_CONNECTED, FullyConnectedDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 0;
    /// Slices of the first input, chosen along `axis` by the indices (Signed32 or Signed64).
    ///
    /// Output: the input's dimensions before `axis`, the indices' dimensions, the input's
    /// dimensions after `axis`. An index outside the dimension is an error when executed.
    Gather = sys::ARMNN_LAYER_GATHER, GatherDescriptor,
        ["input", "indices"] => ["output"], since 0;
    /// The input with elements added around it; no number of elements is negative.
    Pad = sys::ARMNN_LAYER_PAD, PadDescriptor,
        ["input"] => ["output"], since 0;
    /// A value of each window over rows and columns.
    ///
    /// NHWC: input [N, H, W, C]; NCHW: input [N, C, H, W]. Sizes as for Convolution2d, rounded as
    /// the descriptor says; rounded up, a last window that would start in the padding behind the
    /// input is left out. The padding is smaller than the window. Positions beyond the padding never
    /// count, and a window without any position that counts is 0.
    Pooling2d = sys::ARMNN_LAYER_POOLING2D, Pooling2dDescriptor,
        ["input"] => ["output"], since 0;
    /// x above 0, else alpha x; shapes broadcast.
    Prelu = sys::ARMNN_LAYER_PRELU, PreluDescriptor,
        ["input", "alpha"] => ["output"], since 0;
    /// Real numbers to quantized ones: divided by the scale in Float32, to nearest, ties as the
    /// descriptor says, saturating; NaN to 0. Of numbers that are quantized already, the rounding
    /// is that of TensorFlow Lite's fixed-point arithmetic, whatever the descriptor says.
    Quantize = sys::ARMNN_LAYER_QUANTIZE, QuantizeDescriptor,
        ["input"] => ["output"], since 0;
    /// A value of all elements along some axes; without axes, of each element by itself.
    Reduce = sys::ARMNN_LAYER_REDUCE, ReduceDescriptor,
        ["input"] => ["output"], since 0;
    /// The same elements in another shape, which is the output's.
    Reshape = sys::ARMNN_LAYER_RESHAPE, ReshapeDescriptor,
        ["input"] => ["output"], since 0;
    /// Rows and columns resized to the output's.
    ///
    /// With s the input's size through the output's (with `align_corners` and an output above 1:
    /// (input - 1) / (output - 1)), output position p is input position p s, or (p + 0.5) s - 0.5
    /// with `half_pixel_centers`. Positions outside are clamped to the border. The nearest element
    /// is the one at the position rounded down, or, with a flag set, to nearest with ties up (as
    /// TensorFlow Lite does).
    Resize = sys::ARMNN_LAYER_RESIZE, ResizeDescriptor,
        ["input"] => ["output"], since 0;
    /// e^(beta x), divided by its sum along an axis.
    Softmax = sys::ARMNN_LAYER_SOFTMAX, SoftmaxDescriptor,
        ["input"] => ["output"], since 0;
    /// The input cut along an axis into parts; their sizes are those of the outputs.
    Split = sys::ARMNN_LAYER_SPLIT, SplitDescriptor,
        ["input"] => ["outputs*"], since 0;
    /// Element `begin + i stride` along each dimension, for i below the output's size. An `end`
    /// beyond the dimension means the rest of it.
    StridedSlice = sys::ARMNN_LAYER_STRIDED_SLICE, StridedSliceDescriptor,
        ["input"] => ["output"], since 0;
    /// Dimensions in another order.
    Transpose = sys::ARMNN_LAYER_TRANSPOSE, TransposeDescriptor,
        ["input"] => ["output"], since 0;

    // Since interface 1.2.

    /// The index of the smallest or largest element along an axis. Output: Signed32 or Signed64, as
    /// declared.
    ///
    /// Elements are compared in order, and NaN is neither smaller nor larger than anything.
    ArgMinMax = sys::ARMNN_LAYER_ARG_MIN_MAX, ArgMinMaxDescriptor,
        ["input"] => ["output"], since 2;
    /// gamma (x - mean) / sqrt(variance + epsilon) + beta, by channel.
    ///
    /// Input and output: any shape with a dimension of channels, the same; the others: `[C]`.
    BatchNormalization = sys::ARMNN_LAYER_BATCH_NORMALIZATION, BatchNormalizationDescriptor,
        ["input", "mean", "variance", "beta", "gamma"] => ["output"], since 2;
    /// Parts of the batch put between the elements of other dimensions, as in TensorFlow.
    ///
    /// Input: [N, ...]. With B the product of the block shape, output batch n and position p b + r
    /// along each divided dimension is input batch r N / B + n, position p, where the r of all
    /// these dimensions are counted row-major into one. Then elements are cropped.
    BatchToSpaceNd = sys::ARMNN_LAYER_BATCH_TO_SPACE_ND, BatchToSpaceNdDescriptor,
        ["input"] => ["output"], since 2;
    /// The same bytes as elements of the output's type, which is of the same size.
    BitCast = sys::ARMNN_LAYER_BIT_CAST, BitCastDescriptor,
        ["input"] => ["output"], since 2;
    /// The input repeated to the output's shape: aligned at the last dimension, along dimensions
    /// that it lacks or in which its size is 1.
    BroadcastTo = sys::ARMNN_LAYER_BROADCAST_TO, BroadcastToDescriptor,
        ["input"] => ["output"], since 2;
    /// How many boundaries are not above each element. Output: Signed32.
    ///
    /// Boundaries: `[K]`, ascending, of the input's type. For NaN it is K.
    Bucketize = sys::ARMNN_LAYER_BUCKETIZE, BucketizeDescriptor,
        ["input", "boundaries"] => ["output"], since 2;
    /// Columns of blocks put back to an image, where they overlap added up.
    ///
    /// Input: [N, C B, L], with B elements to a block (row-major) and L positions of the block
    /// (row-major, as of a convolution's filter). Output: [N, C, ...], the image's dimensions,
    /// which are declared.
    Col2Im = sys::ARMNN_LAYER_COL2IM, Col2ImDescriptor,
        ["input"] => ["output"], since 2;
    /// Slices of the input along an axis, or elements of the flattened input, for which the
    /// condition is true.
    ///
    /// Condition: Boolean `[K]`, with K at most the number of slices; those from K on are left out.
    /// The output's size depends on data.
    Compress = sys::ARMNN_LAYER_COMPRESS, CompressDescriptor,
        ["input", "condition"] => ["output"], since 2;
    /// Convolution over planes, rows and columns.
    ///
    /// NDHWC: input [N, D, H, W, I], weights [KD, KH, KW, I / groups, O], output [N, D', H', W',
    /// O]. NCDHW: input [N, I, D, H, W], weights [O, I / groups, KD, KH, KW], output [N, O, D', H',
    /// W']. Bias: `[O]`. Sizes and padding as for Convolution2d.
    Convolution3d = sys::ARMNN_LAYER_CONVOLUTION3D, Convolution3dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 2;
    /// The sum or product of each element and those before it along an axis.
    ///
    /// `exclusive`: of those before it only, so that the first is 0 or 1. Integers wrap around.
    Cumulative = sys::ARMNN_LAYER_CUMULATIVE, CumulativeDescriptor,
        ["input"] => ["output"], since 2;
    /// Convolution over rows and columns, whose filter's elements are shifted, as ONNX's operator.
    ///
    /// Input: [N, I, H, W], weights: [O, I / groups, KH, KW], output: [N, O, H', W'], bias: `[O]`,
    /// sizes as for Convolution2d. Offset: [N, G 2 KH KW, H', W'], with G `offset_groups`: for each
    /// filter element, rows and columns to add to its position. Mask: [N, G KH KW, H', W'],
    /// factors. Values between elements are found bilinearly, with 0 outside.
    DeformConv = sys::ARMNN_LAYER_DEFORM_CONV, DeformConvDescriptor,
        ["input", "weights", "offset", "bias?", "mask?"] => ["output"], since 2;
    /// Channels put into blocks of rows and columns.
    ///
    /// NHWC: input [N, H, W, C b b], output [N, H b, W b, C]; NCHW accordingly.
    DepthToSpace = sys::ARMNN_LAYER_DEPTH_TO_SPACE, DepthToSpaceDescriptor,
        ["input"] => ["output"], since 2;
    /// The determinant of matrices. Input: [..., M, M], output: `[...]`.
    Det = sys::ARMNN_LAYER_DET, DetDescriptor,
        ["input"] => ["output"], since 2;
    /// Boxes decoded from their anchors, and the best of those that do not overlap, as TensorFlow
    /// Lite's operator.
    ///
    /// Box encodings: [1, A, 4], y, x, height and width; scores: [1, A, C], with or without a first
    /// class for the background; anchors: [A, 4], y, x, height and width. With K = `max_detections`
    /// times `max_classes_per_detection`, the outputs are Float32: boxes [1, K, 4], top, left,
    /// bottom and right; classes [1, K], without the background; scores [1, K]; their number `[1]`.
    /// What is left over is 0.
    DetectionPostProcess = sys::ARMNN_LAYER_DETECTION_POST_PROCESS, DetectionPostProcessDescriptor,
        ["box_encodings", "scores", "anchors"] => ["detection_boxes", "detection_classes", "detection_scores", "num_detections"],
        since 2;
    /// The discrete Fourier transform along an axis.
    ///
    /// Input: [..., 1], real numbers, or [..., 2], real and imaginary parts. Output: [..., 2]; of
    /// an inverse `onesided` transform, whose input is the first half of the spectrum of a real
    /// signal, [..., 1].
    Dft = sys::ARMNN_LAYER_DFT, DftDescriptor,
        ["input"] => ["output"], since 2;
    /// The input with the update in place of what begins at `start`.
    ///
    /// Update: of the input's rank, nowhere larger. Start: Signed32 or Signed64, `[rank]`; moved so
    /// that the update lies within the input.
    DynamicUpdateSlice = sys::ARMNN_LAYER_DYNAMIC_UPDATE_SLICE, DynamicUpdateSliceDescriptor,
        ["input", "update", "start"] => ["output"], since 2;
    /// The output's shape, which is declared, filled with one value, a tensor of one element.
    Fill = sys::ARMNN_LAYER_FILL, FillDescriptor,
        ["value"] => ["output"], since 2;
    /// Element (i, ..., indices[i, ..., k], ...) of the input at each position (i, ..., k), with
    /// the index along `axis`.
    ///
    /// Indices: Signed32 or Signed64, of the input's rank, and beside the axis nowhere larger;
    /// output: of their shape. A negative index counts from the end; one outside the dimension is
    /// an error when executed.
    GatherElements = sys::ARMNN_LAYER_GATHER_ELEMENTS, GatherElementsDescriptor,
        ["input", "indices"] => ["output"], since 2;
    /// Slices of the input, chosen by index vectors.
    ///
    /// Indices: Signed32 or Signed64, [B..., I..., K], with B the input's first `batch_dims`
    /// dimensions; each vector indexes the K dimensions after them. Output: [B..., I..., what the
    /// input has after these]. A negative index counts from the end; one outside is an error when
    /// executed.
    GatherNd = sys::ARMNN_LAYER_GATHER_ND, GatherNdDescriptor,
        ["input", "indices"] => ["output"], since 2;
    /// Values of the input at the positions of a grid.
    ///
    /// Input: [N, C, H, W] or [N, C, D, H, W], grid: [N, H', W', 2] or [N, D', H', W', 3], output:
    /// [N, C, H', W'] or [N, C, D', H', W']. Positions are x, y and, if there is, z, from -1 to 1.
    /// Cubic, of four dimensions only: with a = -0.75. The nearest of two is the even one.
    GridSample = sys::ARMNN_LAYER_GRID_SAMPLE, GridSampleDescriptor,
        ["input", "grid"] => ["output"], since 2;
    /// Gated recurrent units, as ONNX's operator.
    ///
    /// Input: [T, N, I] ([N, T, I] with `batch_first`). With S directions, H the hidden size:
    /// weights [S, 3 H, I], recurrent weights [S, 3 H, H], gates in the order update, reset,
    /// hidden; bias [S, 6 H], those of the weights first; sequence lengths Signed32 `[N]`; states
    /// [S, N, H] ([N, S, H]). Outputs: all hidden states [T, S, N, H] ([N, T, S, H]), and the last.
    /// Beyond a sequence's length the output is 0.
    ///
    /// z = f(x Wz + h Rz + b), r = f(x Wr + h Rr + b), h~ = g(x Wh + (r h) Rh + b), or g(x Wh + b +
    /// r (h Rh + b')) with `linear_before_reset`; h = (1 - z) h~ + z h.
    Gru = sys::ARMNN_LAYER_GRU, GruDescriptor,
        [
            "input", "weights", "recurrent_weights", "bias?", "sequence_lens?", "initial_h?",
        ] => ["output", "output_h"],
        since 2;
    /// scale (x - mean) / sqrt(variance + epsilon) + bias, over all elements of a channel, or of a
    /// group of them, in one batch.
    ///
    /// Input and output: [N, ...], the same, with a dimension of C channels; scale and bias: `[C]`.
    InstanceNormalization = sys::ARMNN_LAYER_INSTANCE_NORMALIZATION,
        InstanceNormalizationDescriptor,
        ["input", "scale?", "bias?"] => ["output"], since 2;
    /// The input resized along any dimensions, as ONNX's Resize.
    ///
    /// The output's size is declared. A dimension whose size and scale stay the same is left alone.
    /// Where a kernel reaches beyond the input, it reads the border.
    ///
    /// `antialias`, for Linear and Cubic: with a scale s below 1 the kernel is 1 / s times as wide,
    /// and weights are divided by their sum.
    Interpolate = sys::ARMNN_LAYER_INTERPOLATE, InterpolateDescriptor,
        ["input"] => ["output"], since 2;
    /// x / sqrt(max(sum of squares along the axis, epsilon)).
    L2Normalization = sys::ARMNN_LAYER_L2_NORMALIZATION, L2NormalizationDescriptor,
        ["input"] => ["output"], since 2;
    /// scale (x - mean) / sqrt(variance + epsilon) + bias, over the dimensions from `axis` on;
    /// without `subtract_mean`, scale x / sqrt(mean of squares + epsilon) + bias.
    ///
    /// Scale and bias broadcast to the dimensions from `axis` on.
    LayerNormalization = sys::ARMNN_LAYER_LAYER_NORMALIZATION, LayerNormalizationDescriptor,
        ["input", "scale?", "bias?"] => ["output"], since 2;
    /// A logical operation on pairs of Booleans; shapes broadcast.
    LogicalBinary = sys::ARMNN_LAYER_LOGICAL_BINARY, LogicalBinaryDescriptor,
        ["x", "y"] => ["output"], since 2;
    /// beta x, less the logarithm of the sum of e^(beta x) along an axis.
    LogSoftmax = sys::ARMNN_LAYER_LOG_SOFTMAX, LogSoftmaxDescriptor,
        ["input"] => ["output"], since 2;
    /// Long short-term memory, as ONNX's operator. Arm NN's Lstm is a UnidirectionalSequenceLstm of
    /// one step.
    ///
    /// Input: [T, N, I] ([N, T, I] with `batch_first`). With S directions, H the hidden size:
    /// weights [S, 4 H, I], recurrent weights [S, 4 H, H], gates in the order input, output,
    /// forget, cell; bias [S, 8 H], those of the weights first; sequence lengths Signed32 `[N]`;
    /// states [S, N, H] ([N, S, H]); peephole weights [S, 3 H], input, output, forget. Outputs: all
    /// hidden states [T, S, N, H] ([N, T, S, H]), the last, and the last cell. Beyond a sequence's
    /// length the output is 0.
    ///
    /// i = f(x Wi + h Ri + b + Pi c), f = f(x Wf + h Rf + b + Pf c), c = f c + i g(x Wc + h Rc +
    /// b), o = f(x Wo + h Ro + b + Po c), h = o h(c).
    Lstm = sys::ARMNN_LAYER_LSTM, LstmDescriptor,
        [
            "input", "weights", "recurrent_weights", "bias?", "sequence_lens?", "initial_h?",
            "initial_c?", "peephole?",
        ] => ["output", "output_h", "output_c"],
        since 2;
    /// The largest element of each window, and where it is in the flattened input.
    ///
    /// Input: [N, C, ...], output and indices (Signed64): [N, C, ...'], sizes and padding as for
    /// Pooling2d. Of equal elements, the first. `column_major`: N and C are counted as usual, but
    /// the dimensions after them the other way round.
    MaxPoolWithIndices = sys::ARMNN_LAYER_MAX_POOL_WITH_INDICES, MaxPoolWithIndicesDescriptor,
        ["input"] => ["output", "indices"], since 2;
    /// The best boxes that do not overlap a better one of the same class, as ONNX's operator.
    ///
    /// Boxes: [N, B, 4], scores: [N, C, B]; the most boxes for each class, a Signed64 of one
    /// element, 0 if absent; a box is left out if its intersection with a better one through their
    /// union is above the threshold, 0 if absent, or if its score is not above the score threshold.
    /// Output: Signed64 [K, 3], batch, class and box, by batch and class, then by falling score. K
    /// depends on data.
    NonMaxSuppression = sys::ARMNN_LAYER_NON_MAX_SUPPRESSION, NonMaxSuppressionDescriptor,
        [
            "boxes", "scores", "max_output_boxes_per_class?", "iou_threshold?",
            "score_threshold?",
        ] => ["selected_indices"],
        since 2;
    /// The best boxes of one class that do not overlap a better one, as TensorFlow Lite's
    /// NON_MAX_SUPPRESSION_V4 and V5.
    ///
    /// Boxes: [B, 4], two corners, [y, x, y, x]; scores: `[B]`. Outputs: indices (Signed32) and
    /// scores, both `[K]`, with K declared and filled up with 0; and their number (Signed32), a
    /// scalar. A box is left out if its intersection with a better one through their union is not
    /// below the threshold, 0 if absent, or if its score is not above the score threshold, if
    /// there is one. A sigma above 0 lowers a box's score by exp(-IoU^2 / (2 sigma)) for each
    /// better one.
    NonMaxSuppressionPadded = sys::ARMNN_LAYER_NON_MAX_SUPPRESSION_PADDED,
        NonMaxSuppressionPaddedDescriptor,
        [
            "boxes", "scores", "iou_threshold?", "score_threshold?", "soft_nms_sigma?",
        ] => ["selected_indices", "selected_scores", "valid_outputs"],
        since 2;
    /// Where the input is not 0: Signed64 [R, K], with R the input's rank and positions row-major.
    /// K depends on data.
    NonZero = sys::ARMNN_LAYER_NON_ZERO, NonZeroDescriptor,
        ["input"] => ["output"], since 2;
    /// x (k + alpha S)^-beta, where S is the sum of squares of `norm_size` elements around it.
    ///
    /// Of a size s, (s - 1) / 2 elements before x count, rounded down, and as many after it,
    /// rounded up; fewer at the border. Across: along the axis. Within: along the other dimensions
    /// but the first. Arm NN's method LocalBrightness.
    Normalization = sys::ARMNN_LAYER_NORMALIZATION, NormalizationDescriptor,
        ["input"] => ["output"], since 2;
    /// The on value where the position along a new dimension is the index, else the off value.
    ///
    /// Indices: an integer type. Values: tensors of one element, of the output's type. The size of
    /// the new dimension is declared. An index outside of it chooses nothing.
    OneHot = sys::ARMNN_LAYER_ONE_HOT, OneHotDescriptor,
        ["indices", "on_value", "off_value"] => ["output"], since 2;
    /// A value of each window over planes, rows and columns.
    ///
    /// NDHWC: input [N, D, H, W, C]; NCDHW: input [N, C, D, H, W]. Otherwise as Pooling2d.
    Pooling3d = sys::ARMNN_LAYER_POOLING3D, Pooling3dDescriptor,
        ["input"] => ["output"], since 2;
    /// start + i delta, for i from 0 to below (limit - start) / delta.
    ///
    /// Inputs: tensors of one element, of one type; output: `[K]`, which depends on data. A delta of
    /// 0 is an error when executed.
    Range = sys::ARMNN_LAYER_RANGE, RangeDescriptor,
        ["start", "limit", "delta"] => ["output"], since 2;
    /// The first elements of each sequence in reverse order, as many as its length says (Signed32
    /// or Signed64 `[N]`); the others stay.
    ///
    /// A length outside the dimension is an error when executed.
    ReverseSequence = sys::ARMNN_LAYER_REVERSE_SEQUENCE, ReverseSequenceDescriptor,
        ["input", "sequence_lens"] => ["output"], since 2;
    /// The elements along some axes in reverse order.
    ReverseV2 = sys::ARMNN_LAYER_REVERSE_V2, ReverseV2Descriptor,
        ["input"] => ["output"], since 2;
    /// A recurrent layer without gates, as ONNX's operator: h = f(x W + h R + b).
    ///
    /// Input: [T, N, I] ([N, T, I] with `batch_first`). With S directions, H the hidden size:
    /// weights [S, H, I], recurrent weights [S, H, H], bias [S, 2 H], that of the weights first;
    /// sequence lengths Signed32 `[N]`; states [S, N, H] ([N, S, H]). Outputs: all hidden states
    /// [T, S, N, H] ([N, T, S, H]), and the last. Beyond a sequence's length the output is 0.
    Rnn = sys::ARMNN_LAYER_RNN, RnnDescriptor,
        [
            "input", "weights", "recurrent_weights", "bias?", "sequence_lens?", "initial_h?",
        ] => ["output", "output_h"],
        since 2;
    /// A grid of values of each region, each from samples found bilinearly, as ONNX's operator.
    ///
    /// Input: [N, C, H, W], regions: [R, 4], left, top, right and bottom, batch indices: Signed64
    /// `[R]`, output: [R, C, H', W'] with the descriptor's sizes.
    RoiAlign = sys::ARMNN_LAYER_ROI_ALIGN, RoiAlignDescriptor,
        ["input", "rois", "batch_indices"] => ["output"], since 2;
    /// The input with each update at position (i, ..., indices[i, ..., k], ...), with the index
    /// along `axis`.
    ///
    /// Indices: Signed32 or Signed64, of the input's rank, and beside the axis nowhere larger;
    /// updates: of their shape. A negative index counts from the end; one outside is an error when
    /// executed. Updates are taken row-major.
    ScatterElements = sys::ARMNN_LAYER_SCATTER_ELEMENTS, ScatterElementsDescriptor,
        ["input", "indices", "updates"] => ["output"], since 2;
    /// The input with slices of the updates at places chosen by index vectors.
    ///
    /// Indices: Signed32 or Signed64, [I..., K]; each vector indexes the first K dimensions.
    /// Updates: [I..., what the input has after these]. A negative index counts from the end; one
    /// outside is an error when executed. Updates are taken row-major.
    ScatterNd = sys::ARMNN_LAYER_SCATTER_ND, ScatterNdDescriptor,
        ["input", "indices", "updates"] => ["output"], since 2;
    /// x where the condition (Boolean) is true, else y; shapes broadcast.
    Select = sys::ARMNN_LAYER_SELECT, SelectDescriptor,
        ["condition", "x", "y"] => ["output"], since 2;
    /// Elements of dimensions put into the batch, the inverse of BatchToSpaceNd: first padded, with
    /// 0 (the zero point, if quantized), to multiples of the block shape.
    SpaceToBatchNd = sys::ARMNN_LAYER_SPACE_TO_BATCH_ND, SpaceToBatchNdDescriptor,
        ["input"] => ["output"], since 2;
    /// Blocks of rows and columns put into the channels.
    ///
    /// NHWC: input [N, H b, W b, C], output [N, H, W, b b C], the position in the block the
    /// slowest; NCHW accordingly.
    SpaceToDepth = sys::ARMNN_LAYER_SPACE_TO_DEPTH, SpaceToDepthDescriptor,
        ["input"] => ["output"], since 2;
    /// Tensors of one shape joined along a new dimension.
    Stack = sys::ARMNN_LAYER_STACK, StackDescriptor,
        ["inputs*"] => ["output"], since 2;
    /// The input repeated along each dimension.
    ///
    /// Each of the output's sizes is a multiple of the input's. Backends go by the shapes.
    Tile = sys::ARMNN_LAYER_TILE, TileDescriptor,
        ["input"] => ["output"], since 2;
    /// The largest or smallest elements along an axis, and where they are.
    ///
    /// How many is declared as the outputs' size along the axis. Indices: Signed32 or Signed64, as
    /// declared. Of equal elements the one with the lower index comes first.
    TopK = sys::ARMNN_LAYER_TOP_K, TopKDescriptor,
        ["input"] => ["values", "indices"], since 2;
    /// The transpose of a convolution over rows and columns: each input element adds the filter,
    /// times itself, to the output.
    ///
    /// NHWC: input [N, H, W, I], weights [O, KH, KW, I / groups], output [N, H', W', O]. NCHW:
    /// input [N, I, H, W], weights [I, O / groups, KH, KW], output [N, O, H', W']. Bias: `[O]`.
    /// Element k of the filter at input position p goes to p stride + k dilation - pad before. H' =
    /// (H - 1) stride_y + (KH - 1) dilation_y + 1 - pad_top - pad_bottom, unless it is declared
    /// otherwise, and likewise W'.
    TransposeConvolution2d = sys::ARMNN_LAYER_TRANSPOSE_CONVOLUTION2D,
        TransposeConvolution2dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 2;
    /// The transpose of a convolution over planes, rows and columns.
    ///
    /// NDHWC: input [N, D, H, W, I], weights [O, KD, KH, KW, I / groups], output [N, D', H', W',
    /// O]. NCDHW: input [N, I, D, H, W], weights [I, O / groups, KD, KH, KW], output [N, O, D', H',
    /// W']. Otherwise as TransposeConvolution2d.
    TransposeConvolution3d = sys::ARMNN_LAYER_TRANSPOSE_CONVOLUTION3D,
        TransposeConvolution3dDescriptor,
        ["input", "weights", "bias?"] => ["output"], since 2;
    /// Matrices of which one side of a diagonal is 0.
    ///
    /// Input and output: [..., M, N], the same. The diagonal, which stays, is the k-th above the
    /// main one (Signed64, of one element; 0 if absent).
    Trilu = sys::ARMNN_LAYER_TRILU, TriluDescriptor,
        ["input", "k?"] => ["output"], since 2;
    /// Long short-term memory, as TensorFlow Lite's operators LSTM (one step) and
    /// UNIDIRECTIONAL_SEQUENCE_LSTM, and Arm NN's Lstm, QLstm and UnidirectionalSequenceLstm.
    ///
    /// Input: [N, T, I] ([T, N, I] with `time_major`); with H cells and P outputs: weights of the
    /// input [H, I], recurrent ones [H, P], those of the cell `[H]`, biases and layer normalization
    /// weights `[H]`, projection [P, H] and `[P]`; without a projection P = H. States: [N, P] and
    /// [N, H]; output: [N, T, P] ([T, N, P]).
    ///
    /// Without input gate weights it is 1 less the forget gate. Peephole weights are absent or
    /// there for all gates; so are those of the layer normalization, which makes each gate's sum of
    /// mean 0 and variance 1 (plus 1e-8), times its weights, before the bias.
    ///
    /// Quantized: input, outputs and output states QAsymmS8, weights QSymmS8, those of the cell and
    /// the layer normalization QSymmS16, biases Signed32, cell states QSymmS16 with a power of two
    /// for a scale. Or, as TensorFlow Lite's LSTM of the kernel type BASIC and Arm NN's
    /// QuantizedLstm: input, outputs, output states and weights QAsymmU8, the former with a scale
    /// of 1/128 and a zero point of 128, cell states with a scale of 1/2048, a scale of the biases
    /// being that of the gates' sums; without projection, weights of the cell, normalization.
    UnidirectionalSequenceLstm = sys::ARMNN_LAYER_UNIDIRECTIONAL_SEQUENCE_LSTM,
        UnidirectionalSequenceLstmDescriptor,
        [
            "input", "input_to_input_weights?", "input_to_forget_weights",
            "input_to_cell_weights", "input_to_output_weights", "recurrent_to_input_weights?",
            "recurrent_to_forget_weights", "recurrent_to_cell_weights",
            "recurrent_to_output_weights", "cell_to_input_weights?", "cell_to_forget_weights?",
            "cell_to_output_weights?", "input_gate_bias?", "forget_gate_bias", "cell_bias",
            "output_gate_bias", "projection_weights?", "projection_bias?", "output_state_in",
            "cell_state_in", "input_layer_norm_weights?", "forget_layer_norm_weights?",
            "cell_layer_norm_weights?", "output_layer_norm_weights?",
        ] => ["output_state_out", "cell_state_out", "output"],
        since 2;
    /// Each element, or slice along an axis, once.
    ///
    /// Further outputs (Signed64, one dimension): where each first appears in the input; for each
    /// of the input's, where it is in the output; how often each appears. Sizes depend on data.
    Unique = sys::ARMNN_LAYER_UNIQUE, UniqueDescriptor,
        ["input"] => ["output", "indices", "inverse_indices", "counts"], since 2;
}
