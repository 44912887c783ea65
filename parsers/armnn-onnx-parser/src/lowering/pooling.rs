//! Pooling over windows, and over whole images.

use armnn_backend_api::{
    BinaryOperation as Binary, ConcatDescriptor, DataLayout, DataType,
    MaxPoolWithIndicesDescriptor, OutputShapeRounding, PaddingMethod, PaddingMode,
    Pooling2dDescriptor, Pooling3dDescriptor, PoolingAlgorithm, ReduceOperation,
    ScatterElementsDescriptor, ScatterFunction, UnaryOperation as Unary,
};
use armnn_network::{OutputDeclaration, PadLayout, ParameterRule, TensorId, WindowLayer};

use super::context::{Context, described};
use super::problem::{Problem, Result};
use super::windows::{Windows, declared_windows, no_rows_groups, rows_groups, windows};

pub(super) fn pool(c: &mut Context<'_, '_>, algorithm: PoolingAlgorithm) -> Result {
    let column_major = c.attributes.flag("storage_order", false)?;
    let windows = windows_of(c)?;
    if c.has_output(1) {
        return with_indices(c, &windows, column_major);
    }
    let padding_counts =
        algorithm == PoolingAlgorithm::Average && c.attributes.flag("count_include_pad", false)?;
    let input = c.input(0)?;
    let output = pooling(c, input, algorithm, &windows, padding_counts, true)?;
    c.bind_tensor(0, output)
}

fn windows_of(c: &mut Context<'_, '_>) -> Result<Windows> {
    let shape = c.input_shape(0)?;
    let Some(spatial) = shape.dims().get(2..) else {
        return Err(Problem::malformed(format!("its input is {shape}")));
    };
    windows(c, spatial, None)
}

/// The layer; `last` says whether it writes the first output.
pub(super) fn pooling(
    c: &mut Context<'_, '_>,
    input: TensorId,
    algorithm: PoolingAlgorithm,
    windows: &Windows,
    padding_counts: bool,
    last: bool,
) -> Result<TensorId> {
    let output_shape_rounding = rounding(c, windows)?;
    let padding_method = match padding_counts {
        true => PaddingMethod::IgnoreValue.0,
        false => PaddingMethod::Exclude.0,
    };
    let directions = windows.size.len();
    let w = windows.clone().with_rows();
    if directions == 3 {
        let size = [w.size[0], w.size[1], w.size[2]];
        let base = Pooling3dDescriptor::new(algorithm, size, DataLayout::Ncdhw);
        let descriptor = Pooling3dDescriptor {
            pad_left: w.before[2],
            pad_right: w.after[2],
            pad_top: w.before[1],
            pad_bottom: w.after[1],
            pad_front: w.before[0],
            pad_back: w.after[0],
            stride_x: w.stride[2],
            stride_y: w.stride[1],
            stride_z: w.stride[0],
            dilation_x: w.dilation[2],
            dilation_y: w.dilation[1],
            dilation_z: w.dilation[0],
            output_shape_rounding,
            padding_method,
            ..base
        };
        c.is_last = last;
        return windows.step(c, WindowLayer::Pooling3d(descriptor), &[input]);
    }
    let base = Pooling2dDescriptor::new(algorithm, w.size[1], w.size[0], DataLayout::Nchw);
    let descriptor = Pooling2dDescriptor {
        pad_left: w.before[1],
        pad_right: w.after[1],
        pad_top: w.before[0],
        pad_bottom: w.after[0],
        stride_x: w.stride[1],
        stride_y: w.stride[0],
        dilation_x: w.dilation[1],
        dilation_y: w.dilation[0],
        output_shape_rounding,
        padding_method,
        ..base
    };
    let layer = WindowLayer::Pooling2d(descriptor);
    if directions == 2 {
        c.is_last = last;
        return windows.step(c, layer, &[input]);
    }
    let input = c.merge_step(input, &rows_groups(1))?;
    let output = windows.step(c, layer, &[input])?;
    c.is_last = last;
    c.merge_step(output, &no_rows_groups())
}

fn rounding(c: &Context<'_, '_>, windows: &Windows) -> Result<u32> {
    let round_up = c.attributes.flag("ceil_mode", false)? && !windows.is_same();
    Ok(match round_up {
        true => OutputShapeRounding::Ceiling.0,
        false => OutputShapeRounding::Floor.0,
    })
}

fn with_indices(c: &mut Context<'_, '_>, windows: &Windows, column_major: bool) -> Result {
    let mut descriptor = described(MaxPoolWithIndicesDescriptor::new(&windows.size))?;
    for at in 0..windows.size.len() {
        descriptor.stride[at] = windows.stride[at];
        descriptor.dilation[at] = windows.dilation[at];
        descriptor.pad_before[at] = windows.before[at];
        descriptor.pad_after[at] = windows.after[at];
    }
    descriptor.column_major = column_major.into();
    descriptor.output_shape_rounding = rounding(c, windows)?;
    let input = Some(c.input(0)?);
    if windows.is_same() {
        let rule = windows.rule(WindowLayer::MaxPoolWithIndices(descriptor));
        return c.emit_deferred_all(rule, &[input], &[], &[]);
    }
    c.emit_all(descriptor, &[input], &[])
}

/// The p-th root of the sum of p-th powers of absolute values.
pub(super) fn lp_pool(c: &mut Context<'_, '_>) -> Result {
    let windows = windows_of(c)?;
    let p = exponent(c)?;
    let input = c.input(0)?;
    let powers = powers(c, input, p)?;
    let sums = pooling(c, powers, PoolingAlgorithm::Sum, &windows, false, p == 1.0)?;
    let output = root(c, sums, p)?;
    c.bind_tensor(0, output)
}

/// Before version 2 of LpPool, p was a number of floating point.
fn exponent(c: &Context<'_, '_>) -> Result<f64> {
    let p = c.attributes.int("p", 2)?;
    if p < 1 {
        return Err(Problem::malformed(format!("its p is {p}")));
    }
    Ok(p as f64)
}

fn powers(c: &mut Context<'_, '_>, input: TensorId, p: f64) -> Result<TensorId> {
    if p == 2.0 {
        return c.unary(Unary::Square, input);
    }
    let absolute = c.unary(Unary::Abs, input)?;
    if p == 1.0 {
        return Ok(absolute);
    }
    let p = c.number_like(absolute, p)?;
    c.binary(Binary::Power, absolute, p)
}

fn root(c: &mut Context<'_, '_>, sums: TensorId, p: f64) -> Result<TensorId> {
    if p == 1.0 {
        return Ok(sums);
    }
    if p == 2.0 {
        return c.last().unary(Unary::Sqrt, sums);
    }
    let inverse = c.number_like(sums, 1.0 / p)?;
    c.last().binary(Binary::Power, sums, inverse)
}

/// Over all dimensions behind the channels.
pub(super) fn global(c: &mut Context<'_, '_>, operation: ReduceOperation) -> Result {
    let input = c.input(0)?;
    let axes = spatial_axes(c, input)?;
    let output = c.last().reduce(operation, input, &axes, true)?;
    c.bind_tensor(0, output)
}

pub(super) fn global_lp_pool(c: &mut Context<'_, '_>) -> Result {
    let p = exponent(c)?;
    let input = c.input(0)?;
    let axes = spatial_axes(c, input)?;
    let powers = powers(c, input, p)?;
    c.is_last = p == 1.0;
    let sums = c.reduce(ReduceOperation::Sum, powers, &axes, true)?;
    let output = root(c, sums, p)?;
    c.bind_tensor(0, output)
}

fn spatial_axes(c: &Context<'_, '_>, input: TensorId) -> Result<Vec<usize>> {
    let rank = c.shape(input)?.rank();
    match rank {
        ..2 => Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        ))),
        _ => Ok((2..rank).collect()),
    }
}

/// Elements put back to where a MaxPool has found them: indices are those of the flattened input of
/// that MaxPool, whose size follows from the windows. A larger `output_shape` has zeros behind.
pub(super) fn max_unpool(c: &mut Context<'_, '_>) -> Result {
    let shape = c.input_shape(0)?;
    let Some(spatial) = shape.dims().get(2..) else {
        return Err(Problem::malformed(format!("its input is {shape}")));
    };
    if !shape.is_known() {
        return Err(Problem::unsupported(format!(
            "an input {shape}; give the model fixed input shapes"
        )));
    }
    let windows = declared_windows(c, spatial, None)?;
    let mut dims = shape.dims()[..2].to_vec();
    let too_large = || Problem::malformed("its output is too large");
    for (at, &input) in spatial.iter().enumerate() {
        let full = (input - 1).max(0).checked_mul(windows.stride[at].into());
        let full = full.and_then(|n| n.checked_add(windows.size[at].into()));
        let padding = i64::from(windows.before[at]) + i64::from(windows.after[at]);
        dims.push((full.ok_or_else(too_large)? - padding).max(0));
    }
    let count = dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim));
    let count = count.ok_or_else(too_large)?;
    let said = c.optional_input(2)?;
    let (input, indices) = (c.input(0)?, c.input(1)?);
    let all = vec![(0..shape.rank()).collect()];
    let values = c.merge_step(input, &all)?;
    let indices = c.merge_step(indices, &all)?;
    let zero = c.number_like(input, 0.0)?;
    let declaration = OutputDeclaration::of_shape(super::tensor_info::shape(&[count])?);
    let zeros = c.step_declared(
        armnn_backend_api::FillDescriptor::new(),
        &[zero],
        declaration,
    )?;
    let scatter = ScatterElementsDescriptor::new(0, ScatterFunction::Update);
    let scattered = c.step(scatter, &[zeros, indices, values])?;
    c.is_last = said.is_none();
    let mut output = c.reshape_step(scattered, &dims)?;
    if let Some(said) = said {
        // What the output is larger by comes behind.
        let known = c.integers(&dims)?;
        let after = c.binary(Binary::Sub, said, known)?;
        let before = c.integers(&vec![0; dims.len()])?;
        let concat = ConcatDescriptor { axis: 0 };
        let pads = c.step(concat, &[before, after])?;
        let rule = ParameterRule::Pad {
            mode: PaddingMode::Constant,
            value: 0.0,
            layout: PadLayout::Sides,
            negative_as_none: false,
        };
        let parameters = [Some(pads), None, None];
        output = c.last().step_deferred(rule, &[output], &parameters)?;
    }
    if c.info(indices)?.data_type != DataType::Signed64 {
        return Err(Problem::malformed("its indices are not INT64"));
    }
    c.bind_tensor(0, output)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        LayerDescriptor, LayerType, OutputShapeRounding, PaddingMethod, Pooling2dDescriptor,
        PoolingAlgorithm, ReduceDescriptor, ReduceOperation,
    };

    use crate::proto::AttributeProto;
    use crate::test_model::{TestModel, descriptors, int, list, output_dims, single, text, types};

    fn pool(op_type: &str, attributes: &[AttributeProto]) -> (Pooling2dDescriptor, Vec<i64>) {
        let network = single(19, op_type, &[1, 3, 7, 8], &[], attributes).unwrap();
        let [LayerDescriptor::Pooling2d(d)] = descriptors(&network)[..] else {
            panic!("{:?}", descriptors(&network));
        };
        (d, output_dims(&network))
    }

    /// Rows: (7 - 2) / 2 + 1 = 3, rounded up 4; columns: (8 - 3) / 2 + 1 = 3, rounded up 4.
    #[test]
    fn sizes_are_rounded_down_unless_the_ceiling_is_asked_for() {
        let attributes = [list("kernel_shape", &[2, 3]), list("strides", &[2, 2])];
        let (d, output) = pool("MaxPool", &attributes);
        assert_eq!((d.pool_height, d.pool_width), (2, 3));
        assert_eq!(d.pool_type(), PoolingAlgorithm::Max);
        assert_eq!(d.output_shape_rounding(), OutputShapeRounding::Floor);
        assert_eq!(output, [1, 3, 3, 3]);
        let (d, output) = pool(
            "MaxPool",
            &[&attributes[..], &[int("ceil_mode", 1)]].concat(),
        );
        assert_eq!(d.output_shape_rounding(), OutputShapeRounding::Ceiling);
        assert_eq!(output, [1, 3, 4, 4]);
    }

    #[test]
    fn padding_counts_only_where_it_is_asked_for() {
        let window = list("kernel_shape", &[3, 3]);
        let (d, _) = pool("AveragePool", std::slice::from_ref(&window));
        assert_eq!(d.padding_method(), PaddingMethod::Exclude);
        let (d, output) = pool(
            "AveragePool",
            &[
                window,
                int("count_include_pad", 1),
                list("pads", &[1, 1, 1, 1]),
            ],
        );
        assert_eq!(d.padding_method(), PaddingMethod::IgnoreValue);
        assert_eq!(output, [1, 3, 7, 8]);
    }

    /// ceil(7 / 2) = 4 windows, which need no rounding.
    #[test]
    fn padding_that_follows_from_sizes_is_not_rounded() {
        let (d, output) = pool(
            "MaxPool",
            &[
                list("kernel_shape", &[1, 1]),
                list("strides", &[2, 2]),
                int("ceil_mode", 1),
                text("auto_pad", "SAME_UPPER"),
            ],
        );
        assert_eq!(d.output_shape_rounding(), OutputShapeRounding::Floor);
        assert_eq!(output, [1, 3, 4, 4]);
    }

    #[test]
    fn whole_images_are_reduced_in_any_number_of_dimensions() {
        let network = single(13, "GlobalAveragePool", &[2, 3, -1, 5], &[], &[]).unwrap();
        let expected = ReduceDescriptor::new(ReduceOperation::Mean, &[2, 3], true).unwrap();
        assert_eq!(descriptors(&network), [expected.into()]);
        assert_eq!(output_dims(&network), [2, 3, 1, 1]);
    }

    #[test]
    fn indices_take_another_layer_where_somebody_reads_them() {
        let with = |read: bool| {
            let model = TestModel::new(12)
                .input("x", &[1, 1, 4, 4])
                .node(
                    "MaxPool",
                    &["x"],
                    &["y", "i"],
                    &[list("kernel_shape", &[2, 2])],
                )
                .output("y");
            if read { model.output("i") } else { model }.parse()
        };
        assert_eq!(types(&with(false).unwrap()), [LayerType::Pooling2d]);
        assert_eq!(types(&with(true).unwrap()), [LayerType::MaxPoolWithIndices]);
    }
}
