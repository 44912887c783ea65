//! Weights of few bits, quantized in blocks.
//!
//! They become real numbers by layers, which run once, when a model is loaded, where the weights are
//! constant. How accurately products are computed (`accuracy_level`) is left to backends.

use armnn_backend_api::{
    BatchMatMulDescriptor, BinaryOperation as Binary, ConcatDescriptor, DataType, GatherDescriptor,
};
use armnn_network::TensorId;

use super::fused::with_bias;
use crate::lowering::constant::Constant;
use crate::lowering::context::{Context, axis};
use crate::lowering::problem::{Problem, Result};
use crate::lowering::selection::indices_from_start;

/// x times the transposed weights. Inputs: x, weights [N, blocks, bytes of a block], scales
/// [N, blocks], zero points (packed as weights are in each row, or real), group indices, a bias.
pub(super) fn mat_mul_n_bits(c: &mut Context<'_, '_>) -> Result {
    let required = |c: &Context<'_, '_>, name: &str| -> Result<i64> {
        match c.attributes.optional_int(name)? {
            Some(value) if value > 0 => Ok(value),
            other => Err(Problem::malformed(format!("its {name} is {other:?}"))),
        }
    };
    let (inner, rows) = (required(c, "K")?, required(c, "N")?);
    let block = required(c, "block_size")?;
    let bits = c.attributes.int("bits", 4)?;
    c.attributes.ignore("accuracy_level");
    if c.attributes.int("weight_prepacked", 0)? != 0 {
        return Err(Problem::unsupported("weights packed for a certain device"));
    }
    if c.has_input(4) {
        return Err(Problem::unsupported("group indices of weights (g_idx)"));
    }
    let blocks = inner.checked_add(block - 1).map_or(0, |sum| sum / block);
    let numbers = small_numbers(c, 1, bits, &[rows, blocks, block])?;
    let x = c.input(0)?;
    let data_type = c.info(x)?.data_type;
    let numbers = c.cast(numbers, data_type)?;
    let zero = match c.has_input(3) {
        false => c.number(data_type, &[], &[middle(bits)])?,
        true if c.input_type(3)? == DataType::UInt8 => {
            let per_byte = 8 / bits;
            let padded = blocks
                .checked_add(per_byte - 1)
                .map_or(0, |n| n / per_byte * per_byte);
            let zero = small_numbers(c, 3, bits, &[rows, padded])?;
            let zero = c.cast(zero, data_type)?;
            let zero = match padded == blocks {
                true => zero,
                false => c.sliced(zero, 1, 0, blocks)?,
            };
            c.merge_step(zero, &[vec![0], vec![1], vec![]])?
        }
        true => {
            let zero = c.input(3)?;
            let zero = c.cast(zero, data_type)?;
            c.reshape_step(zero, &[rows, blocks, 1])?
        }
    };
    let scale = c.input(2)?;
    let scale = c.reshape_step(scale, &[rows, blocks, 1])?;
    let weights = c.binary(Binary::Sub, numbers, zero)?;
    let weights = c.binary(Binary::Mul, weights, scale)?;
    let mut weights = c.merge_step(weights, &[vec![0], vec![1, 2]])?;
    if blocks.checked_mul(block) != Some(inner) {
        weights = c.sliced(weights, 1, 0, inner)?;
    }
    let bias = c.optional_input(5)?;
    c.is_last = bias.is_none();
    let mut output = c.step(BatchMatMulDescriptor::new(false, true), &[x, weights])?;
    if bias.is_some() {
        c.is_last = true;
        output = with_bias(c, output, bias)?;
    }
    c.bind_tensor(0, output)
}

/// Half of what numbers of so many bits can be.
fn middle(bits: i64) -> f64 {
    match bits {
        2 => 2.0,
        4 => 8.0,
        _ => 128.0,
    }
}

/// A constant of bytes as numbers of so many bits, of which there are as many as `dims` say.
fn small_numbers(
    c: &mut Context<'_, '_>,
    position: usize,
    bits: i64,
    dims: &[i64],
) -> Result<TensorId> {
    let data_type = match bits {
        2 => DataType::UInt2,
        4 => DataType::UInt4,
        8 => DataType::UInt8,
        other => return Err(Problem::unsupported(format!("numbers of {other} bits"))),
    };
    let bytes = c.required_constant(position, "the weights, or their zero points,")?;
    let count = dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
    let wanted = count.and_then(|n| n.checked_mul(bits)).map(|n| n / 8);
    if bytes.data_type != DataType::UInt8 || i64::try_from(bytes.count()).ok() != wanted {
        return Err(Problem::malformed(format!(
            "its input {position} is {} {:?}, for {dims:?} numbers of {bits} bits",
            bytes.data_type, bytes.dims
        )));
    }
    c.add_constant(&Constant {
        data_type,
        ..bytes.reshaped(dims)
    })
}

/// Rows of a table of numbers of few bits, as real ones. Inputs: the table, [rows, columns], indices,
/// scales [rows, blocks], zero points.
pub(super) fn gather_block_quantized(c: &mut Context<'_, '_>) -> Result {
    let block = c.attributes.int("block_size", 128)?;
    let table = c.required_constant(0, "the table")?;
    let (bits, signed, default_zero) = match table.data_type {
        DataType::UInt4 => (4, false, 0.0),
        DataType::Int4 => (4, true, 0.0),
        DataType::UInt8 => {
            let bits = c.attributes.int("bits", 4)?;
            (bits, false, middle(bits))
        }
        other => return Err(Problem::unsupported(format!("a table of {other}"))),
    };
    c.attributes.ignore("bits");
    let rank = table.dims.len();
    let along = axis(c.attributes.int("gather_axis", 0)?, rank)?;
    let quantized = axis(c.attributes.int("quantize_axis", 1)?, rank)?;
    if rank != 2 || along != 0 || quantized != 1 || block < 1 || !matches!(bits, 2 | 4 | 8) {
        return Err(Problem::unsupported(format!(
            "a table of {rank} dimensions gathered along {along} and quantized along {quantized} in \
             blocks of {block}, with {bits} bits; rows of two dimensions are supported"
        )));
    }
    let rows = table.dims[0];
    let indices = indices_from_start(c, rows, |c| {
        c.number(DataType::Signed64, &[1], &[rows as f64])
    })?;
    let per_byte = 8 / bits;
    let columns = match table.data_type {
        DataType::UInt8 => table.dims[1].saturating_mul(per_byte),
        _ => table.dims[1],
    };
    let blocks = columns.saturating_add(block - 1) / block;
    let numbers = packed_rows(c, &table, (bits, signed), indices)?;
    let scale = c.input(2)?;
    let data_type = c.info(scale)?.data_type;
    let numbers = c.cast(numbers, data_type)?;
    let scale = c.step(GatherDescriptor { axis: 0 }, &[scale, indices])?;
    let zero = match c.optional_constant(3, "zero points")? {
        None => c.number(data_type, &[], &[default_zero])?,
        Some(zero) => {
            let zero = packed_rows(c, &zero, (bits, signed), indices)?;
            let zero = c.cast(zero, data_type)?;
            let last = c.shape(zero)?.rank().saturating_sub(1);
            let zero = c.sliced(zero, last, 0, blocks)?;
            with_blocks(c, zero, None)?
        }
    };
    let whole = blocks.saturating_mul(block) == columns;
    if !whole {
        return Err(Problem::unsupported(format!(
            "rows of {columns} numbers in blocks of {block}; whole blocks are supported"
        )));
    }
    let numbers = with_blocks(c, numbers, Some([blocks, block]))?;
    let scale = with_blocks(c, scale, None)?;
    let numbers = c.binary(Binary::Sub, numbers, zero)?;
    let product = c.binary(Binary::Mul, numbers, scale)?;
    let rank = c.shape(product)?.rank();
    let mut groups: Vec<Vec<usize>> = (0..rank - 1).map(|axis| vec![axis]).collect();
    if let Some(last) = groups.last_mut() {
        last.push(rank - 1);
    }
    let output = c.last().merge_step(product, &groups)?;
    c.bind_tensor(0, output)
}

/// The last dimension cut into blocks, or with one of size 1 behind it.
fn with_blocks(c: &mut Context<'_, '_>, x: TensorId, parts: Option<[i64; 2]>) -> Result<TensorId> {
    let rank = c.shape(x)?.rank();
    match parts {
        Some(parts) => crate::lowering::attention::split_axis(c, x, rank.saturating_sub(1), parts),
        None => {
            let groups: Vec<Vec<usize>> =
                (0..rank).map(|axis| vec![axis]).chain([vec![]]).collect();
            c.merge_step(x, &groups)
        }
    }
}

/// Rows of a constant of numbers of few bits, as bytes with one number each, or as Int8.
fn packed_rows(
    c: &mut Context<'_, '_>,
    table: &Constant,
    (bits, signed): (i64, bool),
    indices: TensorId,
) -> Result<TensorId> {
    let gather = GatherDescriptor { axis: 0 };
    let per_byte = 8 / bits;
    let &[rows, columns] = &table.dims[..] else {
        return Err(Problem::malformed(format!("its table is {:?}", table.dims)));
    };
    let typed = table.data_type != DataType::UInt8;
    if typed && columns % per_byte != 0 {
        // Rows begin within a byte: unpacked as a whole, once.
        let all = c.add_constant(table)?;
        let bytes = match signed {
            true => DataType::Int8,
            false => DataType::UInt8,
        };
        let all = c.cast(all, bytes)?;
        return c.step(gather, &[all, indices]);
    }
    let width = match typed {
        true => columns / per_byte,
        false => columns,
    };
    let bytes = Constant {
        data_type: DataType::UInt8,
        ..table.reshaped(&[rows, width])
    };
    let bytes = c.add_constant(&bytes)?;
    let bytes = c.step(gather, &[bytes, indices])?;
    if per_byte == 1 {
        return Ok(bytes);
    }
    let bytes = c.cast(bytes, DataType::Signed32)?;
    let bytes = with_blocks(c, bytes, None)?;
    let all = c.number_like(bytes, f64::from((1 << bits) - 1))?;
    let mut parts = Vec::new();
    for at in 0..per_byte {
        let divisor = c.number_like(bytes, f64::from(1 << (at * bits)))?;
        let moved = c.binary(Binary::Div, bytes, divisor)?;
        parts.push(c.binary(Binary::BitwiseAnd, moved, all)?);
    }
    let rank = c.shape(bytes)?.rank();
    let axis = crate::lowering::context::small(rank - 1, "an axis")?;
    let numbers = c.step(ConcatDescriptor { axis }, &parts)?;
    let mut groups: Vec<Vec<usize>> = (0..rank - 1).map(|axis| vec![axis]).collect();
    if let Some(last) = groups.last_mut() {
        last.push(rank - 1);
    }
    let numbers = c.merge_step(numbers, &groups)?;
    if !signed {
        return Ok(numbers);
    }
    // From 0 to 15 back to -8 to 7.
    let middle = c.number_like(numbers, middle(bits))?;
    let numbers = c.binary(Binary::BitwiseXor, numbers, middle)?;
    c.binary(Binary::Sub, numbers, middle)
}
