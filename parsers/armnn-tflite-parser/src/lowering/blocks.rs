//! Blocks of elements moved between dimensions: DEPTH_TO_SPACE, SPACE_TO_DEPTH, SPACE_TO_BATCH_ND,
//! BATCH_TO_SPACE_ND.

use armnn_backend_api::{
    DataLayout, DepthToSpaceDescriptor, DepthToSpaceMode, SpaceToDepthDescriptor,
};
use armnn_network::ParameterRule;

use super::context::{Context, positive};
use super::problem::Result;
use crate::schema_generated::{DepthToSpaceOptionsRef, SpaceToDepthOptionsRef};

pub(super) fn depth_to_space(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<DepthToSpaceOptionsRef<'_>>()?;
    let size = positive(options.block_size()?, "block_size")?;
    let input = context.input(0)?;
    let declaration = context.moved(0, input)?;
    let descriptor = DepthToSpaceDescriptor::new(size, DepthToSpaceMode::Dcr, DataLayout::Nhwc);
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

pub(super) fn space_to_depth(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<SpaceToDepthOptionsRef<'_>>()?;
    let size = positive(options.block_size()?, "block_size")?;
    let input = context.input(0)?;
    let declaration = context.moved(0, input)?;
    let descriptor = SpaceToDepthDescriptor::new(size, DataLayout::Nhwc);
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// The sizes of a block along the dimensions from the second on, and the padding around each.
pub(super) fn space_to_batch_nd(context: &mut Context<'_, '_, '_>) -> Result {
    by_rule(context, ParameterRule::SpaceToBatchNd { axis: 1 })
}

/// The sizes of a block along the dimensions from the second on, and what is cropped of each.
pub(super) fn batch_to_space_nd(context: &mut Context<'_, '_, '_>) -> Result {
    by_rule(context, ParameterRule::BatchToSpaceNd { axis: 1 })
}

fn by_rule(context: &mut Context<'_, '_, '_>, rule: ParameterRule) -> Result {
    let input = context.input(0)?;
    let parameters = [Some(context.input(1)?), Some(context.input(2)?)];
    let declaration = context.moved(0, input)?;
    context.emit_by_rule(0, rule, &[Some(input)], &parameters, declaration)
}
