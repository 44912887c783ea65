//! What stands before the first layer of a BERT.

use armnn_backend_api::{BinaryOperation as Binary, DataType, GatherDescriptor, ReduceOperation};
use armnn_network::ParameterRule;

use super::normalization::normalized;
use crate::lowering::attention::range;
use crate::lowering::constant::Constant;
use crate::lowering::context::Context;
use crate::lowering::problem::Result;

/// The sum of embeddings of words, positions and segments, normalized. Inputs: words, segments, the
/// three tables, scale and offset, a mask, positions. The second output counts what the mask lets
/// through, in each batch.
pub(super) fn embed_layer_normalization(c: &mut Context<'_, '_>) -> Result {
    let epsilon = c.attributes.float("epsilon", 1e-12)?;
    // Only says whether the second output is there.
    c.attributes.ignore("mask_index_type");
    let words = c.input(0)?;
    let gather = GatherDescriptor { axis: 0 };
    let table = c.input(2)?;
    let mut sum = c.step(gather, &[table, words])?;
    let positions = match c.optional_input(8)? {
        Some(positions) => positions,
        None => {
            let length = c.shape_step(words, 1, 2)?;
            range(c, length)?
        }
    };
    let table = c.input(3)?;
    let embedded = c.step(gather, &[table, positions])?;
    sum = c.binary(Binary::Add, sum, embedded)?;
    if let (Some(segments), Some(table)) = (c.optional_input(1)?, c.optional_input(4)?) {
        let embedded = c.step(gather, &[table, segments])?;
        sum = c.binary(Binary::Add, sum, embedded)?;
    }
    let (scale, offset) = (c.input(5)?, c.optional_input(6)?);
    let output = normalized(c, sum, scale, offset, epsilon, true)?;
    c.bind_tensor(0, output)?;
    if c.has_output(1) {
        let counts = match c.optional_input(7)? {
            Some(mask) => {
                let counts = c.reduce(ReduceOperation::Sum, mask, &[1], false)?;
                c.cast(counts, DataType::Signed32)?
            }
            None => {
                let zero = c.add_constant(&Constant::integers(DataType::Signed32, &[], &[0]))?;
                let dims = c.shape_step(words, 0, 1)?;
                c.step_deferred(ParameterRule::Fill, &[zero], &[Some(dims)])?
            }
        };
        c.bind_tensor(1, counts)?;
    }
    match c.has_output(2) {
        true => c.bind_tensor(2, sum),
        false => Ok(()),
    }
}
