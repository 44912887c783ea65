//! STABLEHLO_CONVOLUTION (<https://openxla.org/stablehlo/spec#convolution>).

use armnn_backend_api::{
    Convolution2dDescriptor, Convolution3dDescriptor, DataLayout, LayerDescriptor,
};
use armnn_network::OutputDeclaration;

use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::stablehlo::list;
use super::stablehlo_indexing::transpose;
use crate::schema_generated::StablehloConvolutionOptionsRef;

/// An image of two or three dimensions and its filters, each in any layout: Transposes lead to the
/// layer's and back.
pub(super) fn convolution(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StablehloConvolutionOptionsRef<'_>>()?;
    let (input, kernel) = (context.input(0)?, context.input(1)?);
    let spatial = list(options.input_spatial_dimensions()?)?;
    let n = spatial.len();
    let rank = n + 2;
    if !(2..=3).contains(&n) {
        return Err(Problem::unsupported(format!(
            "windows over {n} dimensions; over 2 and 3 they are supported"
        )));
    }
    if [input, kernel]
        .map(|id| context.shape(id).map(|shape| shape.rank()))
        .into_iter()
        .any(|r| !matches!(r, Ok(found) if found == rank))
    {
        return Err(Problem::malformed(format!(
            "windows over {n} dimensions need an image and filters of {rank}"
        )));
    }
    let or_ones = |dims: Vec<i64>| match dims.is_empty() {
        true => vec![1; n],
        false => dims,
    };
    if or_ones(list(options.lhs_dilation()?)?)
        .iter()
        .any(|&dilation| dilation != 1)
    {
        return Err(Problem::unsupported(
            "an image whose elements are set apart (lhs_dilation); TRANSPOSE_CONV is supported",
        ));
    }
    let reversal = options.window_reversal()?;
    if reversal.is_some_and(|reversal| reversal.iter().take(rank).any(|reversed| reversed)) {
        return Err(Problem::unsupported("reversed windows"));
    }
    // 0 is what is not said.
    if options.batch_group_count()? > 1 {
        return Err(Problem::unsupported("groups of batches"));
    }
    let steps = |list: Vec<i64>, what: &str| -> Result<Vec<u32>> {
        let number = |&value: &i64| u32::try_from(value).ok().filter(|&value| value > 0);
        let steps: Option<Vec<u32>> = list.iter().map(number).collect();
        steps
            .filter(|steps| steps.len() == n)
            .ok_or_else(|| Problem::malformed(format!("its {what} are {list:?}")))
    };
    let stride = steps(or_ones(list(options.window_strides()?)?), "strides")?;
    let dilation = steps(or_ones(list(options.rhs_dilation()?)?), "dilations")?;
    let padding = match list(options.padding()?)? {
        padding if padding.is_empty() => vec![0; 2 * n],
        padding => padding,
    };
    if padding.iter().any(|&count| count < 0) {
        return Err(Problem::unsupported("negative padding"));
    }
    let pad: Option<Vec<u32>> = padding
        .iter()
        .map(|&count| u32::try_from(count).ok())
        .collect();
    let Some(pad) = pad.filter(|pad| pad.len() == 2 * n) else {
        return Err(Problem::malformed(format!("its padding is {padding:?}")));
    };
    let groups = u32::try_from(options.feature_group_count()?.max(1))
        .map_err(|_| Problem::malformed("more groups than 2^32"))?;

    let places = |first: &[i64], spatial: Vec<i64>, last: &[i64]| -> Result<Vec<usize>> {
        let named = [first, &spatial, last].concat();
        let mut order = Vec::with_capacity(rank);
        for named in named {
            let at = axis(named, rank)?;
            if order.contains(&at) {
                return Err(Problem::malformed(format!("dimension {at} is named twice")));
            }
            order.push(at);
        }
        match order.len() == rank {
            true => Ok(order),
            false => Err(Problem::malformed("not every dimension has a place")),
        }
    };
    let batch = options.input_batch_dimension()?;
    let image = places(&[batch], spatial, &[options.input_feature_dimension()?])?;
    let filters = list(options.kernel_spatial_dimensions()?)?;
    let [i, o] = [
        options.kernel_input_feature_dimension()?,
        options.kernel_output_feature_dimension()?,
    ];
    let filters = match n {
        2 => places(&[o], filters, &[i])?,
        _ => places(&[], filters, &[i, o])?,
    };
    let result = places(
        &[options.output_batch_dimension()?],
        list(options.output_spatial_dimensions()?)?,
        &[options.output_feature_dimension()?],
    )?;

    let input = context.in_order(input, &image)?;
    let kernel = context.in_order(kernel, &filters)?;
    let descriptor: LayerDescriptor = match n {
        2 => Convolution2dDescriptor {
            pad_top: pad[0],
            pad_bottom: pad[1],
            pad_left: pad[2],
            pad_right: pad[3],
            stride_y: stride[0],
            stride_x: stride[1],
            dilation_y: dilation[0],
            dilation_x: dilation[1],
            groups,
            ..Convolution2dDescriptor::new(DataLayout::Nhwc)
        }
        .into(),
        _ => Convolution3dDescriptor {
            pad_front: pad[0],
            pad_back: pad[1],
            pad_top: pad[2],
            pad_bottom: pad[3],
            pad_left: pad[4],
            pad_right: pad[5],
            stride_z: stride[0],
            stride_y: stride[1],
            stride_x: stride[2],
            dilation_z: dilation[0],
            dilation_y: dilation[1],
            dilation_x: dilation[2],
            groups,
            ..Convolution3dDescriptor::new(DataLayout::Ndhwc)
        }
        .into(),
    };
    let inputs = [Some(input), Some(kernel)];
    if result.is_sorted() {
        return context.emit(descriptor, &inputs);
    }
    let declaration = OutputDeclaration {
        name: None,
        shape: None,
        ..context.declaration(0)?
    };
    let found = context.step(0, descriptor, &inputs, declaration)?;
    // Place p of the layer's output stands at result[p] of the operator's.
    let back = |at: usize| result.iter().position(|&of| of == at).unwrap_or(0);
    let back: Vec<usize> = (0..rank).map(back).collect();
    context.emit(transpose(&back)?, &[Some(found)])
}
