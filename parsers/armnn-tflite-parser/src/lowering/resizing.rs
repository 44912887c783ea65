//! RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.

use armnn_backend_api::{DataLayout, ResizeDescriptor, ResizeMethod};

use super::context::{Context, agreed};
use super::convolution::image;
use super::problem::{Problem, Result};
use crate::schema_generated::{ResizeBilinearOptionsRef, ResizeNearestNeighborOptionsRef};

pub(super) fn bilinear(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<ResizeBilinearOptionsRef<'_>>()?;
    let (align_corners, half_pixel) = (options.align_corners()?, options.half_pixel_centers()?);
    resize(context, ResizeMethod::Bilinear, align_corners, half_pixel)
}

pub(super) fn nearest_neighbor(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<ResizeNearestNeighborOptionsRef<'_>>()?;
    let (align_corners, half_pixel) = (options.align_corners()?, options.half_pixel_centers()?);
    resize(
        context,
        ResizeMethod::NearestNeighbor,
        align_corners,
        half_pixel,
    )
}

/// The second input is rows and columns of the output.
fn resize(
    context: &mut Context<'_, '_, '_>,
    method: ResizeMethod,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Result {
    if align_corners && half_pixel_centers {
        return Err(Problem::malformed(
            "align_corners and half_pixel_centers exclude each other",
        ));
    }
    let [rows, columns] = context.integers(1, 2, "the new size")?[..] else {
        return Err(Problem::malformed("the new size is not rows and columns"));
    };
    if rows <= 0 || columns <= 0 {
        return Err(Problem::malformed(format!(
            "the new size is {rows}, {columns}"
        )));
    }
    let input = context.input(0)?;
    let [batch, _, _, channels] = image(context.shape(input)?, "the input")?;
    let mut descriptor = ResizeDescriptor::new(method, DataLayout::Nhwc);
    descriptor.align_corners = align_corners.into();
    descriptor.half_pixel_centers = half_pixel_centers.into();
    let mut declaration = context.declaration(0)?;
    let target = [batch, rows, columns, channels];
    declaration.shape = Some(agreed(&target, declaration.shape)?);
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}
