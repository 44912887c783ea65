"""Makes the cases of this folder: models of one operator of com.microsoft, and what ONNX Runtime
computes for seeded inputs. Needs numpy, onnx and onnxruntime (made with 1.23.2 and 1.32.0).

NAME.onnx is the model; NAME.pb is a GraphProto without nodes, whose initializers are the inputs and
the outputs by their names.
"""

import pathlib
import sys
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
F, I32, I64, U8, I8 = np.float32, np.int32, np.int64, np.uint8, np.int8
random = np.random.default_rng(1)


def floats(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(F)


def bytes_(*shape, dtype=U8):
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


def number(value, dtype=F):
    return np.array(value, dtype)


def case(name, op, inputs, constants=(), outputs=1, dynamic=(), kept=None, standard=17, domain="com.microsoft", **attributes):
    """`inputs` are arrays by position, None where left out; those in `constants` become
    initializers; inputs in `dynamic` have unknown dimensions; of outputs, the first `kept` are
    compared."""
    global random
    random = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = inputs() if callable(inputs) else inputs
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    outs = outputs if isinstance(outputs, list) else [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, outs, domain=domain, **attributes)
    graph_inputs, initializers, feeds = [], [], {}
    for k, (n, x) in enumerate(zip(names, inputs)):
        if x is None:
            continue
        if k in constants:
            initializers.append(numpy_helper.from_array(x, n) if isinstance(x, np.ndarray) else x)
            continue
        dims = [f"{n}_{d}" for d in range(x.ndim)] if k in dynamic else x.shape
        graph_inputs.append(
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), dims)
        )
        feeds[n] = x
    outs = [o for o in outs if o][:kept]
    graph = helper.make_graph(
        [node], name, graph_inputs, [onnx.ValueInfoProto(name=o) for o in outs], initializers
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", standard), helper.make_opsetid("com.microsoft", 1)],
        ir_version=8,
        producer_name="",
    )
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found = session.run(None, feeds)
    except Exception as error:
        print("no case:", name, str(error)[:200], file=sys.stderr)
        return
    tensors = [numpy_helper.from_array(x, n) for n, x in feeds.items()]
    tensors += [numpy_helper.from_array(np.asarray(x), n) for n, x in zip(outs, found)]
    data = onnx.GraphProto(name=name, initializer=tensors)
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    (HERE / f"{name}.pb").write_bytes(data.SerializeToString(deterministic=True))


for kind in (U8, I8):
    zero = (lambda v: number(v, U8)) if kind == U8 else (lambda v: number(v - 128, I8))
    tag = np.dtype(kind).name
    q = lambda *s: bytes_(*s, dtype=kind)
    scales = (1, 2, 4, 5, 6, 7)
    for op in ("Add", "Mul"):
        case(f"q_linear_{op.lower()}_{tag}", f"QLinear{op}", lambda: [
            q(2, 3, 4), number(0.031), zero(120), q(3, 1), number(0.017), zero(99), number(0.045), zero(131),
        ], constants=scales)
    case(f"q_linear_add_computed_scales_{tag}", "QLinearAdd", lambda: [
        q(2, 5), number(0.031), zero(120), q(2, 5), number(0.017), zero(99), number(0.045), zero(131)])
    case(f"q_linear_leaky_relu_{tag}", "QLinearLeakyRelu", lambda: [
        q(4, 7), number(0.05), zero(100), number(0.04), zero(60)], constants=(1, 2, 3, 4), alpha=0.1)
    case(f"q_linear_sigmoid_{tag}", "QLinearSigmoid", lambda: [
        q(4, 7), number(0.05), zero(128), number(1 / 256), zero(0)], constants=(1, 2, 3, 4))
    case(f"q_linear_softmax_{tag}", "QLinearSoftmax", lambda: [
        q(3, 9), number(0.03), zero(128), number(1 / 256), zero(0)], constants=(1, 2, 3, 4), axis=-1, opset=13)
    case(f"q_linear_concat_{tag}", "QLinearConcat", lambda: [
        number(0.05), zero(128), q(2, 3), number(0.05), zero(128), q(2, 2), number(0.03), zero(90)],
        constants=(0, 1, 3, 4, 6, 7), axis=1)
    case(f"q_linear_average_pool_{tag}", "QLinearAveragePool", lambda: [
        q(1, 2, 7, 6), number(0.05), zero(128), number(0.04), zero(110)], constants=(1, 2, 3, 4),
        kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    case(f"q_linear_average_pool_channels_last_{tag}", "QLinearAveragePool", lambda: [
        q(1, 7, 6, 2), number(0.05), zero(128), number(0.04), zero(110)], constants=(1, 2, 3, 4),
        kernel_shape=[2, 3], channels_last=1)
    case(f"q_linear_global_average_pool_{tag}", "QLinearGlobalAveragePool", lambda: [
        q(2, 3, 5, 4), number(0.05), zero(128), number(0.01), zero(120)], constants=(1, 2, 3, 4))
    case(f"q_linear_global_average_pool_channels_last_{tag}", "QLinearGlobalAveragePool", lambda: [
        q(2, 5, 4, 3), number(0.05), zero(128), number(0.01), zero(120)], constants=(1, 2, 3, 4), channels_last=1)
    case(f"q_linear_where_{tag}", "QLinearWhere", lambda: [
        random.random((2, 5)) > 0.5, q(2, 5), number(0.05), zero(128), q(5), number(0.02), zero(100), number(0.04), zero(110)],
        constants=(2, 3, 5, 6, 7, 8))
    case(f"nhwc_max_pool_{tag}", "NhwcMaxPool", lambda: [q(1, 6, 5, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])
    case(f"q_gemm_{tag}", "QGemm", lambda: [
        q(3, 8), number(0.02), zero(120), q(5, 8), number(0.01), zero(130), random.integers(-500, 500, 5).astype(I32), number(0.07), zero(128)],
        constants=(1, 2, 3, 4, 5, 6, 7, 8), transB=1)
    case(f"quantize_linear_{tag}", "QuantizeLinear", lambda: [floats(3, 4, scale=3), number(0.03), zero(128)], constants=(1, 2))
    case(f"dequantize_linear_{tag}", "DequantizeLinear", lambda: [q(3, 4), number(0.03), zero(128)], constants=(1, 2))
# Scales with simple ratios, and odd zero points: many numbers lie halfway between two.
half, quarter, odd = number(0.5), number(0.25), number(7, U8)
for op in ("Add", "Mul"):
    case(f"q_linear_{op.lower()}_halves", f"QLinear{op}", lambda: [
        bytes_(4, 16), quarter, odd, bytes_(4, 16), half, number(3, U8), number(32.0 if op == "Mul" else 0.5), number(129, U8)],
        constants=(1, 2, 4, 5, 6, 7))
case("q_linear_leaky_relu_halves", "QLinearLeakyRelu", lambda: [bytes_(4, 16), quarter, odd, half, number(99, U8)], constants=(1, 2, 3, 4), alpha=0.5)
case("q_linear_concat_halves", "QLinearConcat", lambda: [half, odd, bytes_(2, 9), quarter, odd, bytes_(2, 9), half, number(6, U8)], constants=(0, 1, 3, 4, 6, 7), axis=1)
case("q_linear_where_halves", "QLinearWhere", lambda: [random.random((2, 20)) > 0.5, bytes_(2, 20), quarter, odd, bytes_(20), half, number(6, U8), half, number(99, U8)], constants=(2, 3, 5, 6, 7, 8))
case("q_linear_average_pool_halves", "QLinearAveragePool", lambda: [bytes_(1, 2, 8, 8), half, odd, half, number(9, U8)], constants=(1, 2, 3, 4), kernel_shape=[2, 2])
case("q_linear_average_pool_ceiling", "QLinearAveragePool", lambda: [bytes_(1, 2, 6, 6), number(0.05), number(128, U8), number(0.04), number(110, U8)], constants=(1, 2, 3, 4), kernel_shape=[3, 2], pads=[0, 1, 0, 0], strides=[2, 2], ceil_mode=1, count_include_pad=1)
case("q_linear_global_average_pool_halves", "QLinearGlobalAveragePool", lambda: [bytes_(2, 16, 2, 2), half, odd, half, number(9, U8)], constants=(1, 2, 3, 4))
case("q_gemm_halves", "QGemm", lambda: [bytes_(6, 5), half, odd, bytes_(5, 7), quarter, number(3, U8), None, number(16.0), number(9, U8)], constants=(1, 2, 3, 4, 5, 7, 8))
case("q_linear_softmax_coarse", "QLinearSoftmax", lambda: [
    bytes_(6, 16), number(0.02), number(128, U8), number(0.0063), number(3, U8)], constants=(1, 2, 3, 4), axis=-1, opset=13)
case("q_linear_softmax_from_axis", "QLinearSoftmax", lambda: [
    bytes_(2, 3, 4), number(0.02), number(128, U8), number(1 / 256), number(0, U8)], constants=(1, 2, 3, 4), axis=1, opset=11)
case("q_linear_softmax_middle_axis", "QLinearSoftmax", lambda: [
    bytes_(2, 3, 4), number(0.02), number(128, U8), number(1 / 256), number(0, U8)], constants=(1, 2, 3, 4), axis=1, opset=13)
case("q_gemm_real_output", "QGemm", lambda: [
    bytes_(3, 8), number(0.02), number(120, U8), bytes_(8, 5, dtype=I8), floats(5, scale=0.01).__abs__(), np.zeros(5, I8)],
    constants=(1, 2, 3, 4, 5), alpha=0.5)
case("q_linear_conv_channels_last", "QLinearConv", lambda: [
    bytes_(1, 6, 5, 4), number(0.02), number(120, U8), bytes_(3, 4, 3, 3, dtype=I8), number(0.01), number(0, I8), number(0.1), number(128, U8), random.integers(-500, 500, 3).astype(I32)],
    constants=(1, 2, 3, 4, 5, 6, 7, 8), channels_last=1, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
for tag, kind in (("uint8", U8), ("int8", I8)):
    case(f"dynamic_quantize_mat_mul_{tag}", "DynamicQuantizeMatMul", lambda: [
        floats(2, 3, 8), bytes_(8, 5, dtype=kind), number(0.02), number(3, kind), floats(5)], constants=(1, 2, 3, 4))
    case(f"mat_mul_integer_to_float_{tag}", "MatMulIntegerToFloat", lambda: [
        bytes_(3, 8), bytes_(8, 5, dtype=kind), number(0.02), number(0.01), number(120, U8), number(3, kind), floats(5)], constants=(1, 3, 5, 6))
case("dynamic_quantize_mat_mul_columns", "DynamicQuantizeMatMul", lambda: [
    floats(3, 8), bytes_(8, 5, dtype=I8), np.abs(floats(5)) + F(0.01), bytes_(5, dtype=I8)], constants=(1, 2, 3))

for op in ("FusedMatMul",):
    case("fused_mat_mul", op, lambda: [floats(2, 4, 3), floats(2, 5, 4)], transA=1, transB=1, alpha=0.5)
    case("fused_mat_mul_batches", op, lambda: [floats(3, 2, 4), floats(4, 2, 5)], transBatchA=1, transBatchB=1)
for activation, parameters in (("Relu", []), ("Sigmoid", []), ("Tanh", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.3, 0.4])):
    extra = {"activation_params": parameters} if parameters else {}
    case(f"fused_conv_{activation.lower()}", "FusedConv", lambda: [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3)], constants=(1, 2),
         activation=activation, kernel_shape=[3, 3], pads=[1, 1, 1, 1], **extra)
case("fused_conv_sum", "FusedConv", lambda: [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3), floats(1, 3, 3, 3)], constants=(1, 2), activation="Relu", kernel_shape=[3, 3])
case("fused_gemm_relu", "FusedGemm", lambda: [floats(3, 4), floats(4, 5), floats(5)], constants=(1, 2), activation="Relu", alpha=0.5)
case("fused_gemm_leaky_relu", "FusedGemm", lambda: [floats(3, 4), floats(5, 4), floats(5)], constants=(1, 2), activation="LeakyRelu", activation_alpha=0.3, transB=1)
case("gelu", "Gelu", lambda: [floats(3, 5)])
case("fast_gelu", "FastGelu", lambda: [floats(3, 5)])
case("fast_gelu_bias", "FastGelu", lambda: [floats(3, 5), floats(5)])
case("bias_gelu", "BiasGelu", lambda: [floats(3, 5), floats(5)])
case("quick_gelu", "QuickGelu", lambda: [floats(3, 5)], alpha=1.5)
case("trilu", "Trilu", lambda: [floats(2, 4, 5), number(1, I64)], constants=(1,), upper=0)
case("range_without_delta", "Range", lambda: [number(2.0), number(7.5)])
case("range", "Range", lambda: [number(2, I64), number(9, I64), number(3, I64)])
case("expand_dims", "ExpandDims", lambda: [floats(2, 3), number(1, I32)], constants=(1,))
case("gather_nd", "GatherND", lambda: [floats(3, 4, 2), np.array([[0, 1], [2, 3]], I64)])
case("pad", "Pad", lambda: [floats(2, 3), np.array([0, 1, 1, 0], I64), number(2.5)], constants=(1, 2))
case("grid_sample", "GridSample", lambda: [floats(1, 2, 4, 4), floats(1, 3, 3, 2, scale=0.6)])

case("layer_normalization_before_17", "LayerNormalization", lambda: [floats(2, 3, 8), floats(8), floats(8)], constants=(1, 2), domain="", standard=12, axis=-1, epsilon=1e-5)
case("simplified_layer_normalization", "SimplifiedLayerNormalization", lambda: [floats(2, 3, 8), floats(8)], constants=(1,), domain="", standard=12, axis=-1, epsilon=1e-5)
case("skip_layer_normalization", "SkipLayerNormalization", lambda: [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)], constants=(2, 3, 4), outputs=["o0", "", "", "o3"], epsilon=1e-5)
case("skip_layer_normalization_broadcast", "SkipLayerNormalization", lambda: [floats(2, 3, 8), floats(1, 3, 8), floats(8), floats(8)], constants=(2, 3))
case("skip_layer_normalization_default_epsilon", "SkipLayerNormalization", lambda: [floats(2, 3, 8, scale=1e-4), floats(2, 3, 8, scale=1e-4), floats(8), floats(8)], constants=(2, 3))
case("skip_simplified_layer_normalization", "SkipSimplifiedLayerNormalization", lambda: [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8)], constants=(2, 3), outputs=["o0", "", "", "o3"], epsilon=1e-6)
ids = lambda *s, most: random.integers(0, most, s).astype(I32)
mask = lambda: np.array([[1, 1, 1, 1], [1, 1, 0, 0]], I32)
case("embed_layer_normalization", "EmbedLayerNormalization", lambda: [
    ids(2, 4, most=10), ids(2, 4, most=2), floats(10, 8), floats(6, 8), floats(2, 8), floats(8), floats(8), mask()], constants=(2, 3, 4, 5, 6), outputs=["o0", "o1", "o2"], epsilon=1e-12)
case("embed_layer_normalization_positions", "EmbedLayerNormalization", lambda: [
    ids(2, 4, most=10), None, floats(10, 8), floats(6, 8), None, floats(8), floats(8), None, ids(2, 4, most=6)], constants=(2, 3, 5, 6), outputs=2, dynamic=(0, 8))

for tag, m in (("none", lambda: None), ("raw", mask), ("lengths", lambda: np.array([4, 2], I32)), ("ends_and_starts", lambda: np.array([4, 3, 0, 1], I32)),
               ("queries", lambda: (random.random((2, 4, 4)) > 0.3).astype(I32) | np.eye(4, dtype=I32))):
    case(f"attention_mask_{tag}", "Attention", lambda: [floats(2, 4, 6), floats(6, 24, scale=0.5), floats(24), m()], constants=(1, 2), num_heads=2)
case("attention_dynamic", "Attention", lambda: [floats(2, 4, 6), floats(6, 24, scale=0.5), floats(24), mask()], constants=(1, 2), dynamic=(0, 3), num_heads=2)
for tag, m in (("lengths", lambda: np.array([4, 2], I32)), ("ends_and_starts", lambda: np.array([4, 3, 0, 1], I32))):
    case(f"attention_dynamic_mask_{tag}", "Attention", lambda: [floats(2, 4, 6), floats(6, 24, scale=0.5), floats(24), m()], constants=(1, 2), dynamic=(0, 3), num_heads=2)
case("attention_unidirectional_past", "Attention", lambda: [floats(2, 3, 6), floats(6, 24, scale=0.5), floats(24), None, floats(2, 2, 2, 4, 4)], constants=(1, 2), outputs=2, num_heads=2, unidirectional=1)
case("attention_hidden_sizes_bias", "Attention", lambda: [floats(2, 4, 6), floats(6, 28, scale=0.5), floats(28), None, None, floats(1, 2, 4, 4)], constants=(1, 2), num_heads=2, qkv_hidden_sizes=[8, 8, 12], scale=0.3)
case("q_attention", "QAttention", lambda: [
    bytes_(2, 4, 6), bytes_(6, 24, dtype=I8), floats(24), number(0.02), number(0.01), mask(), number(120, U8), number(0, I8)], constants=(1, 2, 3, 4, 6, 7), num_heads=2)
case("q_attention_columns_past", "QAttention", lambda: [
    bytes_(2, 3, 6), bytes_(6, 24), floats(24), number(0.02), np.abs(floats(24, scale=0.01)), None, number(120, U8), bytes_(24), floats(2, 2, 2, 3, 4)], constants=(1, 2, 3, 4, 6, 7), outputs=2, num_heads=2, unidirectional=1)
case("multi_head_attention", "MultiHeadAttention", lambda: [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), floats(24)], constants=(3,), num_heads=2)
case("multi_head_attention_padding", "MultiHeadAttention", lambda: [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 12), floats(28), np.array([5, 3], I32)], constants=(3,), num_heads=2)
case("multi_head_attention_mask_bias", "MultiHeadAttention", lambda: [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None, np.array([[1] * 5, [1, 1, 1, 0, 0]], I32), floats(1, 2, 3, 5)], num_heads=2)
case("multi_head_attention_past", "MultiHeadAttention", lambda: [floats(2, 3, 8), floats(2, 3, 8), floats(2, 3, 8), floats(24), None, None, floats(2, 2, 4, 4), floats(2, 2, 4, 4)], constants=(3,), outputs=3, num_heads=2, unidirectional=1)
for tag, dynamic in (("", ()), ("_dynamic", (0, 1, 2))):
    case(f"multi_head_attention_unidirectional_one_query{tag}", "MultiHeadAttention", lambda: [floats(2, 1, 8), floats(2, 5, 8), floats(2, 5, 8)], dynamic=dynamic, num_heads=2, unidirectional=1)
    case(f"multi_head_attention_unidirectional_queries{tag}", "MultiHeadAttention", lambda: [floats(2, 2, 8), floats(2, 5, 8), floats(2, 5, 8)], dynamic=dynamic, num_heads=2, unidirectional=1)
case("multi_head_attention_four_dimensions", "MultiHeadAttention", lambda: [floats(2, 3, 8), floats(2, 2, 5, 4), floats(2, 2, 5, 4)], num_heads=2)

angles = lambda rows, half: np.arange(rows)[:, None] * (0.3 ** np.arange(half))[None]
cosines = lambda rows=12, half=4: np.cos(angles(rows, half)).astype(F)
sines = lambda rows=12, half=4: np.sin(angles(rows, half)).astype(F)
for interleaved in (0, 1):
    case(f"rotary_embedding_{interleaved}", "RotaryEmbedding", lambda: [floats(2, 3, 16), np.array([[0, 1, 2], [4, 5, 6]], I64), cosines(), sines()], constants=(2, 3), interleaved=interleaved)
case("rotary_embedding_dynamic", "RotaryEmbedding", lambda: [floats(2, 3, 16), np.array([[0, 1, 2], [4, 5, 6]], I64), cosines(), sines()], constants=(2, 3), dynamic=(0, 1))
case("rotary_embedding_offset", "RotaryEmbedding", lambda: [floats(2, 2, 3, 8), np.array([4], I64), cosines(), sines()], constants=(2, 3))
case("rotary_embedding_part", "RotaryEmbedding", lambda: [floats(2, 3, 16), np.array([[0, 1, 2], [4, 5, 6]], I64), cosines(half=2), sines(half=2)], constants=(2, 3), num_heads=2, rotary_embedding_dim=4)
gqa = dict(num_heads=4, kv_num_heads=2)
case("group_query_attention_prompt", "GroupQueryAttention", lambda: [floats(2, 3, 32), floats(2, 3, 16), floats(2, 3, 16), None, None, np.array([2, 2], I32), number(3, I32)], outputs=3, **gqa)
case("group_query_attention_rotary_prompt", "GroupQueryAttention", lambda: [floats(1, 3, 64), floats(1, 3, 32), floats(1, 3, 32), np.zeros((1, 2, 0, 16), F), np.zeros((1, 2, 0, 16), F), np.array([2], I32), number(3, I32), cosines(half=8), sines(half=8)], constants=(7, 8), outputs=3, do_rotary=1, **gqa)
case("group_query_attention_token", "GroupQueryAttention", lambda: [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32), floats(2, 2, 5, 16), floats(2, 2, 5, 16), np.array([5, 5], I32), number(6, I32), cosines(half=8), sines(half=8)], constants=(7, 8), outputs=3, do_rotary=1, **gqa)
case("group_query_attention_packed_window", "GroupQueryAttention", lambda: [floats(1, 1, 128), None, None, floats(1, 2, 6, 16), floats(1, 2, 6, 16), np.array([6], I32), number(7, I32), cosines(half=8), sines(half=8)], constants=(7, 8), outputs=3, do_rotary=1, rotary_interleaved=1, local_window_size=3, softcap=2.0, **gqa)
case("group_query_attention_long_buffer", "GroupQueryAttention", lambda: [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32), floats(2, 2, 9, 16), floats(2, 2, 9, 16), np.array([5, 4], I32), number(6, I32), cosines(half=8), sines(half=8)], constants=(7, 8), outputs=3, kept=1, do_rotary=1, **gqa)

case("group_query_attention_smooth_prompt", "GroupQueryAttention", lambda: [floats(2, 3, 32), floats(2, 3, 16), floats(2, 3, 16), None, None, np.array([2, 2], I32), number(3, I32)], outputs=3, smooth_softmax=1, **gqa)
case("group_query_attention_smooth_token", "GroupQueryAttention", lambda: [floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32), floats(2, 2, 5, 16), floats(2, 2, 5, 16), np.array([5, 3], I32), number(6, I32)], outputs=3, kept=1, smooth_softmax=1, **gqa)

def packed(bits, *shape):
    return bytes_(*shape[:-1], shape[-1] * bits // 8)
for bits in (2, 4, 8):
    case(f"mat_mul_n_bits_{bits}", "MatMulNBits", lambda: [floats(2, 3, 32), packed(bits, 5, 2, 16), np.abs(floats(5, 2))], constants=(1, 2), K=32, N=5, bits=bits, block_size=16)
case("mat_mul_n_bits_zero_points", "MatMulNBits", lambda: [floats(3, 48), packed(4, 5, 3, 16), np.abs(floats(5, 3)), bytes_(5, 2), None, floats(5)], constants=(1, 2, 3, 5), K=48, N=5, bits=4, block_size=16)
case("mat_mul_n_bits_real_zero_points", "MatMulNBits", lambda: [floats(3, 40), packed(4, 5, 3, 16), np.abs(floats(15)), np.abs(floats(5, 3, scale=8))], constants=(1, 2, 3), K=40, N=5, bits=4, block_size=16)
case("gather_block_quantized", "GatherBlockQuantized", lambda: [packed(4, 6, 32), np.array([[0, 5], [2, 2]], I64), np.abs(floats(6, 2))], constants=(0, 2), block_size=16, quantize_axis=1, bits=4)
case("gather_block_quantized_zero_points", "GatherBlockQuantized", lambda: [packed(4, 6, 32), np.array([3, 1], I64), np.abs(floats(6, 2)), bytes_(6, 1)], constants=(0, 2, 3), block_size=16, quantize_axis=1, bits=4)
case("gather_block_quantized_8_bits", "GatherBlockQuantized", lambda: [bytes_(6, 32), np.array([3, 1], I64), np.abs(floats(6, 2))], constants=(0, 2), block_size=16, quantize_axis=1, bits=8)
case("gather_block_quantized_from_the_end", "GatherBlockQuantized", lambda: [packed(4, 6, 32), np.array([[-1, 5], [-6, 2]], I64), np.abs(floats(6, 2)), bytes_(6, 1)], constants=(0, 2, 3), block_size=16, quantize_axis=1, bits=4)
case("gather_block_quantized_constant_from_the_end", "GatherBlockQuantized", lambda: [packed(4, 6, 32), np.array([-1, -6, 3], I32), np.abs(floats(6, 2))], constants=(0, 1, 2), block_size=16, quantize_axis=1, bits=4)
def four_bits(name, kind, dims):
    low, high = (-8, 8) if kind == onnx.TensorProto.INT4 else (0, 16)
    return helper.make_tensor(name, kind, dims, random.integers(low, high, dims).flatten().tolist())
for tag, kind in (("int4", onnx.TensorProto.INT4), ("uint4", onnx.TensorProto.UINT4)):
    case(f"gather_block_quantized_{tag}", "GatherBlockQuantized", lambda: [four_bits("i0", kind, (6, 32)), np.array([[0, 5], [2, 2]], I64), np.abs(floats(6, 2)), four_bits("i3", kind, (6, 2))], constants=(0, 2, 3), block_size=16, quantize_axis=1)
