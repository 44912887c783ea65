//! Operators of com.microsoft: what ONNX Runtime's optimizer and its quantization tool write into
//! models, and exporters for it.
//!
//! Each is made of layers that standard operators become, too. The operators are described in ONNX
//! Runtime's docs/ContribOperators.md.

mod attention;
mod block_quantized;
mod embedding;
mod fused;
mod grouped_attention;
mod integer_products;
mod masks;
mod normalization;
mod quantized;
mod quantized_pooling;

use armnn_backend_api::ActivationFunction as Activation;

use super::context::Context;
use super::operators::Row;
use super::problem::Result;
use super::{
    activation, generation, image, padding, quantization, rearrangement, reshaping, selection,
};

/// Since which version the operator exists, its inputs, its function. In the order of the alphabet.
#[rustfmt::skip]
pub(super) fn microsoft_entry(op_type: &str) -> Option<Row> {
    let row: Row = match op_type {
        "Attention" => (1, 2..=7, attention::attention),
        "BiasAdd" => (1, 3..=3, fused::bias_add),
        "BiasGelu" => (1, 2..=2, |c| fused::biased(c, Activation::Gelu)),
        "DequantizeLinear" => (1, 2..=3, quantization::dequantize_linear),
        "DynamicQuantizeMatMul" => (1, 3..=5, integer_products::dynamic_quantize_mat_mul),
        "EmbedLayerNormalization" => (1, 7..=9, embedding::embed_layer_normalization),
        "ExpandDims" => (1, 2..=2, |c| standard(c, 13, reshaping::unsqueeze)),
        "FastGelu" => (1, 1..=2, |c| fused::biased(c, Activation::GeluTanh)),
        "FusedConv" => (1, 2..=4, fused::fused_conv),
        "FusedGemm" => (1, 2..=3, fused::fused_gemm),
        "FusedMatMul" => (1, 2..=2, fused::fused_mat_mul),
        "GatherBlockQuantized" => (1, 3..=4, block_quantized::gather_block_quantized),
        "GatherND" => (1, 2..=2, |c| standard(c, 11, selection::gather_nd)),
        "Gelu" => (1, 1..=1, |c| activation::plain(c, Activation::Gelu, 0.0, 0.0)),
        "GridSample" => (1, 2..=2, |c| standard(c, 16, image::grid_sample)),
        "GroupQueryAttention" => (1, 7..=17, grouped_attention::group_query_attention),
        "MatMulIntegerToFloat" => (1, 4..=7, integer_products::mat_mul_integer_to_float),
        "MatMulNBits" => (1, 3..=6, block_quantized::mat_mul_n_bits),
        "MultiHeadAttention" => (1, 1..=10, attention::multi_head_attention),
        "NhwcMaxPool" => (1, 1..=1, quantized_pooling::nhwc_max_pool),
        "Pad" => (1, 2..=3, |c| standard(c, 11, padding::pad)),
        "QAttention" => (1, 5..=9, attention::q_attention),
        "QGemm" => (1, 6..=9, integer_products::q_gemm),
        "QLinearAdd" => (1, 7..=8, quantized::add),
        "QLinearAveragePool" => (1, 4..=5, quantized_pooling::average_pool),
        "QLinearConcat" => (1, 5..=usize::MAX, quantized::concat),
        "QLinearConv" => (1, 8..=9, quantized_pooling::q_linear_conv),
        "QLinearGlobalAveragePool" => (1, 5..=5, quantized_pooling::global_average_pool),
        "QLinearLeakyRelu" => (1, 4..=5, quantized::leaky_relu),
        "QLinearMul" => (1, 7..=8, quantized::multiply),
        "QLinearSigmoid" => (1, 4..=5, quantized::sigmoid),
        "QLinearSoftmax" => (1, 5..=5, quantized::softmax),
        "QLinearWhere" => (1, 9..=9, quantized::select),
        "QuantizeLinear" => (1, 2..=3, quantization::quantize_linear),
        "QuickGelu" => (1, 1..=1, fused::quick_gelu),
        "Range" => (1, 2..=3, range),
        "RotaryEmbedding" => (1, 4..=4, grouped_attention::rotary_embedding),
        "SkipLayerNormalization" => (1, 3..=5, |c| normalization::skip(c, true)),
        "SkipSimplifiedLayerNormalization" => (1, 3..=4, |c| normalization::skip(c, false)),
        "TransposeMatMul" => (1, 2..=2, fused::fused_mat_mul),
        "Trilu" => (1, 1..=2, rearrangement::trilu),
        _ => return None,
    };
    Some(row)
}

/// The delta is 1 where it is left out.
fn range(c: &mut Context<'_, '_>) -> Result {
    if c.has_input(2) {
        return generation::range(c);
    }
    let start = c.input(0)?;
    let one = c.number_like(start, 1.0)?;
    let numbers = [start, c.input(1)?, one];
    generation::range_of(c, &numbers)
}

/// Lowers an operator as the one that ONNX has since a version.
fn standard(
    c: &mut Context<'_, '_>,
    version: i64,
    lower: fn(&mut Context<'_, '_>) -> Result,
) -> Result {
    c.version = version;
    lower(c)
}
