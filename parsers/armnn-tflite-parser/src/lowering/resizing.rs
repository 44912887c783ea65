//! RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.

use armnn_backend_api::{DataLayout, ResizeDescriptor, ResizeMethod, Shape};
use armnn_network::ParameterRule;

use super::context::{Context, described};
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
    let mut descriptor = ResizeDescriptor::new(method, DataLayout::Nhwc);
    descriptor.align_corners = align_corners.into();
    descriptor.half_pixel_centers = half_pixel_centers.into();
    let input = context.input(0)?;
    let mut declaration = context.declaration(0)?;
    if !context.is_known(1) {
        let size = context.input(1)?;
        let rule = ParameterRule::Resize(descriptor);
        return context.emit_by_rule(0, rule, &[Some(input)], &[Some(size)], declaration);
    }
    let [rows, columns] = context.integers(1, 2, "the new size")?[..] else {
        return Err(Problem::malformed("the new size is not rows and columns"));
    };
    if rows <= 0 || columns <= 0 {
        return Err(Problem::malformed(format!(
            "the new size is {rows}, {columns}"
        )));
    }
    let [batch, _, _, channels] = image(context.shape(input)?, "the input")?;
    let target = [batch, rows, columns, channels];
    declaration.shape = Some(described(Shape::new(&target).ok())?);
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::BuiltinOperator as Op;
    use crate::schema_writer_generated as write;
    use crate::test_model::{assert_refused, descriptors, float, ints, lower, outputs};
    use armnn_backend_api::LayerDescriptor;

    #[test]
    fn the_size_is_a_constant_and_positions_are_options() {
        let options = write::ResizeBilinearOptions {
            half_pixel_centers: true,
            ..write::ResizeBilinearOptions::default()
        };
        let bilinear = write::BuiltinOptions::ResizeBilinearOptions(Box::new(options));
        let options = write::ResizeNearestNeighborOptions {
            align_corners: true,
            ..write::ResizeNearestNeighborOptions::default()
        };
        let nearest = write::BuiltinOptions::ResizeNearestNeighborOptions(Box::new(options));
        let new = |method| ResizeDescriptor::new(method, DataLayout::Nhwc);
        let cases = [
            (
                Op::ResizeBilinear,
                bilinear,
                ResizeDescriptor {
                    half_pixel_centers: 1,
                    ..new(ResizeMethod::Bilinear)
                },
            ),
            (
                Op::ResizeNearestNeighbor,
                nearest,
                ResizeDescriptor {
                    align_corners: 1,
                    ..new(ResizeMethod::NearestNeighbor)
                },
            ),
        ];
        for (operator, options, expected) in cases {
            let inputs = [float(&[1, 2, 3, 4]), ints(&[7, 5])];
            // The file may say nothing of the output's shape.
            let network = lower(operator, &inputs, &[float(&[])], options).unwrap();
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
            assert_eq!(outputs(&network), ["Float32[1, 7, 5, 4]"]);
        }
    }

    #[test]
    fn a_size_may_be_computed() {
        let size = crate::test_model::typed(crate::schema_generated::TensorType::Int32, &[2]);
        let inputs = [float(&[1, 2, 3, 4]), size];
        let network = lower(Op::ResizeBilinear, &inputs, &[float(&[1, 7, 5, 4])], None);
        assert_eq!(outputs(&network.unwrap()), ["Float32[1, ?, ?, 4]"]);
    }

    #[test]
    fn options_that_exclude_each_other_are_damage() {
        let options = write::ResizeBilinearOptions {
            align_corners: true,
            half_pixel_centers: true,
        };
        let options = write::BuiltinOptions::ResizeBilinearOptions(Box::new(options));
        let inputs = [float(&[1, 2, 3, 4]), ints(&[7, 5])];
        let refused = lower(
            Op::ResizeBilinear,
            &inputs,
            &[float(&[1, 7, 5, 4])],
            options,
        );
        assert_refused(refused, "exclude each other");
    }
}
