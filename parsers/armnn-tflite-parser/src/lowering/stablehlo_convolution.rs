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
    if !(0..=1).contains(&options.batch_group_count()?) {
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
    let groups = options.feature_group_count()?;
    let groups = u32::try_from(groups)
        .map_err(|_| Problem::malformed(format!("its channels are in {groups} groups")))?
        .max(1);

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

#[cfg(test)]
mod tests {
    use crate::schema_generated::BuiltinOperator as Op;
    use crate::schema_writer_generated as write;
    use crate::test_model::{assert_refused, float, floats_constant, lower_second, run};

    /// [N, C, H, W] with [O, I, KH, KW], and a column of padding at the right.
    fn options() -> write::StablehloConvolutionOptions {
        write::StablehloConvolutionOptions {
            window_strides: Some(vec![1, 1]),
            padding: Some(vec![0, 0, 0, 1]),
            input_batch_dimension: 0,
            input_feature_dimension: 1,
            input_spatial_dimensions: Some(vec![2, 3]),
            kernel_input_feature_dimension: 1,
            kernel_output_feature_dimension: 0,
            kernel_spatial_dimensions: Some(vec![2, 3]),
            output_batch_dimension: 0,
            output_feature_dimension: 1,
            output_spatial_dimensions: Some(vec![2, 3]),
            feature_group_count: 1,
            batch_group_count: 1,
            ..write::StablehloConvolutionOptions::default()
        }
    }

    fn convolution(
        options: write::StablehloConvolutionOptions,
        filters: &[i32],
        input: &[i32],
    ) -> Result<armnn_network::Network, crate::TfliteParserError> {
        // Of the second channel's filter, all are 10 times the first's.
        let weights = match filters {
            [2, 1, 2, 2] => [1., 2., 3., 4., 10., 20., 30., 40.],
            _ => [1., 10., 2., 20., 3., 30., 4., 40.],
        };
        let inputs = [float(input), floats_constant(filters, &weights)];
        let options = write::BuiltinOptions2::StablehloConvolutionOptions(Box::new(options));
        lower_second(Op::StablehloConvolution, &inputs, &[float(&[])], options)
    }

    /// Of 1 2 3 over 4 5 6 with 1 2 over 3 4: 1 + 4 + 12 + 20 = 37, 2 + 6 + 15 + 24 = 47, and with
    /// the padding 3 + 18 = 21.
    #[test]
    fn layouts_are_made_those_of_the_layer() {
        let x = [1., 2., 3., 4., 5., 6.];
        let network = convolution(options(), &[2, 1, 2, 2], &[1, 1, 2, 3]).unwrap();
        let found = run(network, &[(&[1, 1, 2, 3], &x)]);
        let expected = vec![37., 47., 21., 370., 470., 210.];
        assert_eq!(found, [(vec![1, 2, 1, 3], expected)]);
        let last = write::StablehloConvolutionOptions {
            input_feature_dimension: 3,
            input_spatial_dimensions: Some(vec![1, 2]),
            kernel_input_feature_dimension: 2,
            kernel_output_feature_dimension: 3,
            kernel_spatial_dimensions: Some(vec![0, 1]),
            output_feature_dimension: 3,
            output_spatial_dimensions: Some(vec![1, 2]),
            ..options()
        };
        let network = convolution(last, &[2, 2, 1, 2], &[1, 2, 3, 1]).unwrap();
        let found = run(network, &[(&[1, 2, 3, 1], &x)]);
        let expected = vec![37., 370., 47., 470., 21., 210.];
        assert_eq!(found, [(vec![1, 1, 3, 2], expected)]);
    }

    #[test]
    fn what_is_no_such_layer_is_refused_with_the_reason() {
        let refused = |change: fn(&mut write::StablehloConvolutionOptions), reason| {
            let mut options = options();
            change(&mut options);
            let refused = convolution(options, &[2, 1, 2, 2], &[1, 1, 2, 3]);
            assert_refused(refused, reason);
        };
        refused(|o| o.lhs_dilation = Some(vec![1, 2]), "set apart");
        refused(
            |o| o.window_reversal = Some(vec![false, true]),
            "reversed windows",
        );
        refused(|o| o.batch_group_count = 2, "groups of batches");
        refused(|o| o.batch_group_count = -1, "groups of batches");
        refused(
            |o| o.feature_group_count = -2,
            "its channels are in -2 groups",
        );
        refused(|o| o.padding = Some(vec![0, -1, 0, 0]), "negative padding");
        refused(|o| o.padding = Some(vec![0, 0]), "its padding is [0, 0]");
        refused(
            |o| o.window_strides = Some(vec![0, 1]),
            "its strides are [0, 1]",
        );
        refused(
            |o| o.input_batch_dimension = 1,
            "dimension 1 is named twice",
        );
        refused(
            |o| o.input_spatial_dimensions = Some(vec![2]),
            "windows over 1 dimensions",
        );
    }
}
