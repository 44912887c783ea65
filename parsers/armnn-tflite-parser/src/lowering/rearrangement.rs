//! Elements put elsewhere: CONCATENATION, PAD, PADV2, MIRROR_PAD, TRANSPOSE, PACK.

use armnn_backend_api::{
    ConcatDescriptor, DataType, PadDescriptor, PaddingMode, TransposeDescriptor,
};
use armnn_network::{PadLayout, ParameterRule, TensorId};

use super::context::{Context, axis, described, each_dimension};
use super::problem::{Problem, Result};
use crate::schema_generated::{
    ConcatenationOptionsRef, MirrorPadMode, MirrorPadOptionsRef, PackOptionsRef,
};

pub(super) fn concatenation(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<ConcatenationOptionsRef<'_>>()?;
    let inputs = context.inputs()?;
    let Some(&first) = inputs.first() else {
        return Err(Problem::malformed("it has no inputs"));
    };
    let declaration = context.declaration(0)?;
    // Parts of other scales are rescaled, here as in TFLite; of several scales, they cannot be.
    for &input in &inputs {
        if context.info(input)?.quantization.scales().len() > 1 {
            context.check_scale_kept(input, &declaration)?;
        }
    }
    let axis = axis(options.axis()?.into(), context.shape(first)?.rank())?;
    let descriptor = ConcatDescriptor { axis: axis as u32 };
    let inputs: Vec<_> = inputs.into_iter().map(Some).collect();
    context.emit_activated(descriptor, &inputs, options.fused_activation_function()?)
}

pub(super) fn pad(context: &mut Context<'_, '_, '_>) -> Result {
    // A real number: for quantized types it is the zero point that stands for 0.
    pad_with(context, PaddingMode::Constant, 0.0)
}

/// The third input is what is put around the first.
pub(super) fn padv2(context: &mut Context<'_, '_, '_>) -> Result {
    if !context.is_known(2) {
        return pad_by_rule(context, PaddingMode::Constant, 0.0, true);
    }
    let value = context.number(2, "the value of the padding")?;
    pad_with(context, PaddingMode::Constant, value)
}

pub(super) fn mirror_pad(context: &mut Context<'_, '_, '_>) -> Result {
    let mode = match context.options::<MirrorPadOptionsRef<'_>>()?.mode()? {
        MirrorPadMode::Reflect => PaddingMode::Reflect,
        MirrorPadMode::Symmetric => PaddingMode::Symmetric,
    };
    pad_with(context, mode, 0.0)
}

/// The second input, [rank, 2], is the number of elements before and after each dimension.
fn pad_with(context: &mut Context<'_, '_, '_>, mode: PaddingMode, value: f64) -> Result {
    if !context.is_known(1) {
        return pad_by_rule(context, mode, value, false);
    }
    let paddings = context.integers(1, 16, "the paddings")?;
    let (pairs, rest) = paddings.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Problem::malformed("the paddings are not pairs"));
    }
    let [before, after] =
        [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
    let input = context.input(0)?;
    let declaration = context.moved(0, input)?;
    let descriptor = described(PadDescriptor::new(mode, value, &before, &after))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// A Pad whose parameters are computed; `with_value`: also the value.
fn pad_by_rule(
    context: &mut Context<'_, '_, '_>,
    mode: PaddingMode,
    value: f64,
    with_value: bool,
) -> Result {
    let input = context.input(0)?;
    let paddings = context.input(1)?;
    let value_tensor = match with_value {
        true => Some(computed_number(context, 2)?),
        false => None,
    };
    let declaration = context.moved(0, input)?;
    let rule = ParameterRule::Pad {
        mode,
        value,
        layout: PadLayout::Pairs,
        negative_as_none: false,
    };
    let parameters = [Some(paddings), value_tensor];
    context.emit_by_rule(0, rule, &[Some(input)], &parameters, declaration)
}

/// A number that is computed, of a type whose elements can be part of a layer.
fn computed_number(context: &mut Context<'_, '_, '_>, position: usize) -> Result<TensorId> {
    let number = context.input(position)?;
    match context.info(number)?.data_type {
        data_type if data_type.is_quantized() => context.dequantized_step(number),
        DataType::Float16 | DataType::BFloat16 => context.cast_step(number, DataType::Float32),
        _ => Ok(number),
    }
}

/// Dimension i of the output is dimension `permutation[i]` of the input, as in the network.
pub(super) fn transpose(context: &mut Context<'_, '_, '_>) -> Result {
    let input = context.input(0)?;
    if !context.is_known(1) {
        let permutation = context.input(1)?;
        let declaration = context.moved(0, input)?;
        let rule = ParameterRule::Transpose;
        return context.emit_by_rule(0, rule, &[Some(input)], &[Some(permutation)], declaration);
    }
    let rank = context.shape(input)?.rank();
    let mut permutation = Vec::new();
    for from in context.integers(1, 8, "the permutation")? {
        permutation.push(axis(from, rank)? as u32);
    }
    let declaration = context.moved(0, input)?;
    let descriptor = described(TransposeDescriptor::new(&permutation))?;
    context.emit_declared(0, descriptor, &[Some(input)], declaration)
}

/// Inputs of one shape, joined along a new dimension: each gets that dimension, with size 1.
pub(super) fn pack(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<PackOptionsRef<'_>>()?;
    let count = usize::try_from(options.values_count()?);
    if count != Ok(context.input_count()) {
        return Err(Problem::malformed(format!(
            "it packs {} values, but has {} inputs",
            options.values_count()?,
            context.input_count()
        )));
    }
    let inputs = context.inputs()?;
    let declaration = context.declaration(0)?;
    let mut parts = Vec::with_capacity(inputs.len());
    let mut new_axis = 0;
    for input in inputs {
        context.check_scale_kept(input, &declaration)?;
        let mut groups = each_dimension(context.shape(input)?.rank());
        new_axis = axis(options.axis()?.into(), groups.len() + 1)?;
        groups.insert(new_axis, Vec::new());
        parts.push(Some(context.merge_step(0, input, groups)?));
    }
    let descriptor = ConcatDescriptor {
        axis: new_axis as u32,
    };
    context.emit_declared(0, descriptor, &parts, declaration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::{ActivationFunctionType, BuiltinOperator as Op, TensorType};
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        assert_refused, descriptors, float, ints, load, lower, outputs, typed, types,
    };
    use armnn_backend_api::{LayerDescriptor, LayerType};

    fn concatenation(axis: i32, function: ActivationFunctionType) -> write::BuiltinOptions {
        write::BuiltinOptions::ConcatenationOptions(Box::new(write::ConcatenationOptions {
            axis,
            fused_activation_function: function,
        }))
    }

    #[test]
    fn tensors_are_joined_along_an_axis_counted_from_the_end() {
        let network = lower(
            Op::Concatenation,
            &[float(&[2, 3, 4]), float(&[2, 1, 4])],
            &[float(&[2, 4, 4])],
            concatenation(-2, ActivationFunctionType::Relu),
        )
        .unwrap();
        let expected = ConcatDescriptor { axis: 1 };
        assert_eq!(descriptors(&network)[0], &LayerDescriptor::from(expected));
        assert_eq!(types(&network), [LayerType::Concat, LayerType::Activation]);
    }

    #[test]
    fn tensors_of_other_scales_are_joined_in_that_of_the_output() {
        let q = |scale, shape: &[i32]| typed(TensorType::Uint8, shape).quantized(scale, 0);
        for (first, second) in [(0.5, 0.5), (0.5, 0.25), (0.25, 0.5), (0.25, 0.25)] {
            let network = lower(
                Op::Concatenation,
                &[q(first, &[2]), q(second, &[2])],
                &[q(0.5, &[4])],
                concatenation(0, ActivationFunctionType::None),
            )
            .unwrap();
            assert_eq!(types(&network), [LayerType::Concat]);
            let info = &network.tensor(network.outputs()[0].tensor).info;
            assert_eq!(info.quantization.scales(), [0.5]);
        }
    }

    #[test]
    fn paddings_are_pairs_for_each_dimension() {
        let paddings = ints(&[0, 0, 1, 2, 3, 0]).shaped(&[3, 2]);
        let network = lower(
            Op::Pad,
            &[float(&[1, 4, 5]), paddings],
            &[float(&[1, 7, 8])],
            None,
        )
        .unwrap();
        let expected =
            PadDescriptor::new(PaddingMode::Constant, 0.0, &[0, 1, 3], &[0, 2, 0]).unwrap();
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        // They are part of the layer, and no tensor.
        assert_eq!(network.tensors().len(), 2);
    }

    #[test]
    fn the_value_of_a_padding_may_be_computed() {
        use armnn_runtime::HostTensor;
        let pad = |tensor_type, scale: Option<f32>, x: &[u8], value: &[u8]| {
            let of = |shape: &[i32]| match scale {
                Some(scale) => typed(tensor_type, shape).quantized(scale, 7),
                None => typed(tensor_type, shape),
            };
            let paddings = ints(&[1, 2]).shaped(&[1, 2]);
            let inputs = [of(&[2]), paddings, of(&[])];
            let network = lower(Op::Padv2, &inputs, &[of(&[5])], None).unwrap();
            let infos = network.inputs().iter();
            let infos = infos.map(|&id| network.tensor(id).info.clone());
            let inputs: Vec<_> = infos
                .zip([x, value])
                .map(|(info, bytes)| HostTensor::from_bytes(info, bytes).unwrap())
                .collect();
            load(network)
                .run(&inputs)
                .unwrap()
                .remove(0)
                .bytes()
                .to_vec()
        };
        // -9, 3, -4, -9, -9: numbers are kept as they are.
        let found = pad(TensorType::Int8, Some(0.3), &[3, 252], &[247]);
        assert_eq!(found, [247, 3, 252, 247, 247]);
        let found = pad(TensorType::Uint8, Some(0.3), &[3, 252], &[255]);
        assert_eq!(found, [255, 3, 252, 255, 255]);
        // 1 and -2 beside 0.5, in Float16.
        let found = pad(TensorType::Float16, None, &[0, 0x3c, 0, 0xc0], &[0, 0x38]);
        assert_eq!(found, [0, 0x38, 0, 0x3c, 0, 0xc0, 0, 0x38, 0, 0x38]);
    }

    #[test]
    fn the_value_of_a_padding_is_the_real_number_it_stands_for() {
        let pad = |input: crate::test_model::TestTensor, value| {
            let output = input.clone().shaped(&[3]);
            let paddings = ints(&[1, 0]).shaped(&[1, 2]);
            let network = lower(Op::Padv2, &[input, paddings, value], &[output], None).unwrap();
            match descriptors(&network)[0] {
                LayerDescriptor::Pad(pad) => pad.pad_value,
                other => panic!("{other:?}"),
            }
        };
        let value = float(&[1]).with_data((-1.5f32).to_le_bytes().to_vec());
        assert_eq!(pad(float(&[2]), value), -1.5);
        let quantized = typed(TensorType::Int8, &[2]).quantized(0.5, -4);
        // 0.5 (6 + 4).
        let value = quantized.clone().shaped(&[1]).with_data(vec![6]);
        assert_eq!(pad(quantized, value), 5.0);
        let value = typed(TensorType::Float16, &[]).with_data(vec![0, 0x3e]);
        assert_eq!(pad(typed(TensorType::Float16, &[2]), value), 1.5);
        let value = typed(TensorType::Bool, &[]).with_data(vec![1]);
        assert_eq!(pad(typed(TensorType::Bool, &[2]), value), 1.0);
        let value = typed(TensorType::Uint64, &[]).with_data(7u64.to_le_bytes().to_vec());
        assert_eq!(pad(typed(TensorType::Uint64, &[2]), value), 7.0);
    }

    #[test]
    fn both_mirrors() {
        for (mode, expected) in [
            (MirrorPadMode::Reflect, PaddingMode::Reflect),
            (MirrorPadMode::Symmetric, PaddingMode::Symmetric),
        ] {
            let options = write::MirrorPadOptions { mode };
            let options = write::BuiltinOptions::MirrorPadOptions(Box::new(options));
            let paddings = ints(&[1, 2]).shaped(&[1, 2]);
            let inputs = [float(&[4]), paddings];
            let network = lower(Op::MirrorPad, &inputs, &[float(&[7])], options).unwrap();
            let expected = PadDescriptor::new(expected, 0.0, &[1], &[2]).unwrap();
            assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
        }
    }

    #[test]
    fn a_transpose_takes_dimensions_from_the_input() {
        let inputs = [float(&[2, 3, 4]), ints(&[2, 0, 1])];
        let network = lower(Op::Transpose, &inputs, &[float(&[4, 2, 3])], None).unwrap();
        let expected = TransposeDescriptor::new(&[2, 0, 1]).unwrap();
        assert_eq!(descriptors(&network), [&LayerDescriptor::from(expected)]);
    }

    #[test]
    fn scales_along_a_dimension_stay_with_it() {
        let scaled = |axis, shape: &[i32]| {
            let tensor = typed(TensorType::Int8, shape);
            tensor.quantized_along(axis, &[0.5, 0.25], &[0, 0])
        };
        let permutation = || ints(&[1, 0]);
        let inputs = [scaled(0, &[2, 3]), permutation()];
        let network = lower(Op::Transpose, &inputs, &[scaled(1, &[3, 2])], None).unwrap();
        let info = &network.tensor(network.outputs()[0].tensor).info;
        assert_eq!(info.quantization.axis(), 1);
        // An output that is quantized otherwise, or not at all.
        let ints = |axis| {
            let tensor = typed(TensorType::Int32, &[2, 2]);
            tensor.quantized_along(axis, &[0.5, 0.25], &[0, 0])
        };
        let plain = typed(TensorType::Int32, &[2, 2]);
        let refused = lower(Op::Transpose, &[ints(0), permutation()], &[plain], None);
        assert_refused(
            refused,
            "elements moved from one scale or zero point into another",
        );
    }

    #[test]
    fn packed_tensors_get_a_dimension_and_are_joined_along_it() {
        for (axis, output, joined) in [(0, [2, 3, 4], 0), (1, [3, 2, 4], 1), (-1, [3, 4, 2], 2)] {
            let options = write::PackOptions {
                values_count: 2,
                axis,
            };
            let options = write::BuiltinOptions::PackOptions(Box::new(options));
            let inputs = [float(&[3, 4]), float(&[3, 4])];
            let network = lower(Op::Pack, &inputs, &[float(&output)], options).unwrap();
            let expected = [LayerType::Reshape, LayerType::Reshape, LayerType::Concat];
            assert_eq!(types(&network), expected);
            let expected = ConcatDescriptor { axis: joined };
            assert_eq!(descriptors(&network)[2], &LayerDescriptor::from(expected));
            let [a, b, c] = output;
            assert_eq!(outputs(&network), [format!("Float32[{a}, {b}, {c}]")]);
        }
    }

    #[test]
    fn a_wrong_number_of_packed_values_is_damage() {
        let options = write::PackOptions {
            values_count: 3,
            axis: 0,
        };
        let options = write::BuiltinOptions::PackOptions(Box::new(options));
        let refused = lower(Op::Pack, &[float(&[3])], &[float(&[1, 3])], options);
        assert_refused(refused, "(PACK): it packs 3 values, but has 1 inputs");
    }
}
