//! Pooling over windows, and over whole images.

use armnn_backend_api::{
    DataLayout, OutputShapeRounding, PaddingMethod, Pooling2dDescriptor, PoolingAlgorithm,
    ReduceDescriptor, ReduceOperation, ReshapeDescriptor,
};
use armnn_network::TensorId;

use super::context::{Context, described, small};
use super::problem::{Problem, Result};
use super::tensor_info::shape as shape_of;
use super::windows::{windows, with_rows};

pub(super) fn pool(c: &mut Context<'_, '_>, algorithm: PoolingAlgorithm) -> Result {
    if c.has_output(1) {
        return Err(Problem::unsupported(
            "the indices of the largest elements; convert the model without them",
        ));
    }
    // The order in which indices count.
    c.attributes.ignore("storage_order");
    let shape = c.input_shape(0)?;
    let Some(spatial) = shape.dims().get(2..) else {
        return Err(Problem::malformed(format!("its input is {shape}")));
    };
    let windows = windows(c, spatial, None)?;
    let round_up = c.attributes.flag("ceil_mode", false)? && !windows.is_same;
    let padding_counts =
        algorithm == PoolingAlgorithm::Average && c.attributes.flag("count_include_pad", false)?;
    let base = Pooling2dDescriptor::new(
        algorithm,
        windows.size[1],
        windows.size[0],
        DataLayout::Nchw,
    );
    let descriptor = Pooling2dDescriptor {
        pad_left: windows.before[1],
        pad_right: windows.after[1],
        pad_top: windows.before[0],
        pad_bottom: windows.after[0],
        stride_x: windows.stride[1],
        stride_y: windows.stride[0],
        dilation_x: windows.dilation[1],
        dilation_y: windows.dilation[0],
        output_shape_rounding: match round_up {
            true => OutputShapeRounding::Ceiling.0,
            false => OutputShapeRounding::Floor.0,
        },
        padding_method: match padding_counts {
            true => PaddingMethod::IgnoreValue.0,
            false => PaddingMethod::Exclude.0,
        },
        ..base
    };
    let input = c.reshaped_input(0, &with_rows(shape.dims())?)?;
    if spatial.len() == 2 {
        return c.emit(descriptor, &[input]);
    }
    let output = c.step(descriptor, &[input])?;
    without_rows(c, output)
}

/// The Reshape that takes rows of 1 away again, and writes the node's output.
pub(super) fn without_rows(c: &mut Context<'_, '_>, output: TensorId) -> Result {
    let shape = c.shape(output)?;
    let &[n, channels, _, length] = shape.dims() else {
        return Err(Problem::malformed(format!("its output is {shape}")));
    };
    if [n, channels, length].iter().filter(|dim| **dim < 0).count() > 1 {
        return Err(Problem::unsupported(format!(
            "an output {shape} with several sizes that are not known; give the model fixed input \
             shapes"
        )));
    }
    let mut declaration = c.declaration(0)?;
    declaration.shape = Some(shape_of(&[n, channels, length])?);
    c.emit_declared(ReshapeDescriptor::new(), &[output], declaration)
}

/// Over all dimensions behind the channels.
pub(super) fn global(c: &mut Context<'_, '_>, operation: ReduceOperation) -> Result {
    let input = c.input(0)?;
    let rank = c.shape(input)?.rank();
    if rank < 2 {
        return Err(Problem::malformed(format!(
            "its input has {rank} dimensions"
        )));
    }
    let axes = (2..small(rank, "the number of dimensions")?).collect::<Vec<u32>>();
    let descriptor = described(ReduceDescriptor::new(operation, &axes, true))?;
    c.emit(descriptor, &[input])
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        LayerDescriptor, OutputShapeRounding, PaddingMethod, Pooling2dDescriptor, PoolingAlgorithm,
        ReduceDescriptor, ReduceOperation,
    };

    use crate::proto::AttributeProto;
    use crate::test_model::{
        TestModel, assert_refused, descriptors, int, list, output_dims, single, text,
    };

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
    fn indices_are_refused_where_somebody_reads_them() {
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
        assert!(with(false).is_ok());
        assert_refused(with(true), "the indices of the largest elements");
    }
}
