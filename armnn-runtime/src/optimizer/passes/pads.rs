//! Pads before layers that can pad.

use armnn_backend_api::{
    ActivationFunction, DataLayout, LayerDescriptor as D, OutputShapeRounding, PadDescriptor,
    PaddingMethod, PaddingMode, Pooling2dDescriptor, PoolingAlgorithm,
};
use armnn_network::{Layer, Network, Rewrite};

use super::{Foldable, Kept, skip};

/// Lets convolutions and pooling do the padding of a Pad before them.
///
/// The padding, with what the layer has already, stays below the window, as it is in models that
/// never had a Pad; backends need not take more.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    let network = rewrite.network();
    let foldable = Foldable::new(rewrite, kept, |pad, _, reader| {
        folded(network, pad, reader).is_some()
    });
    for (id, layer) in rewrite.layers() {
        let Some(pad) = foldable.before(rewrite, id) else {
            continue;
        };
        let Some(descriptor) = folded(network, network.layer(pad), layer) else {
            continue;
        };
        let inputs = skip(rewrite, pad, id);
        if rewrite.change_layer(id, descriptor, &inputs).is_ok() {
            rewrite.remove_if_unread(pad);
        }
    }
}

/// Padding along rows and columns: before and after the input.
struct ImagePadding {
    rows: [u32; 2],
    columns: [u32; 2],
}

/// Adds to the padding of a descriptor; `None` beyond what it holds, or where the padding reaches
/// or exceeds the window.
macro_rules! add_padding {
    ($descriptor:expr, $padding:expr, $rows:expr, $columns:expr) => {{
        let d = $descriptor;
        let (rows, columns) = ($padding.rows, $padding.columns);
        for (field, more, taps, dilation) in [
            (&mut d.pad_top, rows[0], $rows, d.dilation_y),
            (&mut d.pad_bottom, rows[1], $rows, d.dilation_y),
            (&mut d.pad_left, columns[0], $columns, d.dilation_x),
            (&mut d.pad_right, columns[1], $columns, d.dilation_x),
        ] {
            *field = field.checked_add(more)?;
            if i64::from(*field) > reach(taps, dilation)? {
                return None;
            }
        }
    }};
}

/// From the first to the last element of a window of known size.
fn reach(taps: i64, dilation: u32) -> Option<i64> {
    taps.checked_sub(1)
        .filter(|&n| n >= 0)?
        .checked_mul(dilation.into())
}

/// The descriptor of `reader` when it does the padding of `pad` itself; `None` if it cannot.
fn folded(network: &Network, pad: &Layer, reader: &Layer) -> Option<D> {
    let Some(D::Pad(d)) = pad.descriptor() else {
        return None;
    };
    if d.padding_mode() != PaddingMode::Constant || !adds_no_knowledge(network, pad, d) {
        return None;
    }
    let is_zero = d.pad_value == 0.0;
    let weights = |axis: usize| {
        let weights = network.tensor((*reader.inputs.get(1)?)?);
        weights.info.shape.dims().get(axis).copied()
    };
    let mut descriptor = reader.descriptor()?.clone();
    match &mut descriptor {
        D::Convolution2d(to) if is_zero => {
            let padding = ImagePadding::of(d, to.data_layout())?;
            // Weights are in the layout of the input.
            let (rows, columns) = match to.data_layout() {
                DataLayout::Nchw => (weights(2)?, weights(3)?),
                _ => (weights(1)?, weights(2)?),
            };
            add_padding!(to, padding, rows, columns);
        }
        D::DepthwiseConvolution2d(to) if is_zero => {
            let padding = ImagePadding::of(d, to.data_layout())?;
            add_padding!(to, padding, weights(1)?, weights(2)?);
        }
        D::Pooling2d(to) => {
            let padding = ImagePadding::of(d, to.data_layout())?;
            match to.pool_type() {
                PoolingAlgorithm::Max if may_be_left_out(network, pad, d, to) => {}
                PoolingAlgorithm::Average | PoolingAlgorithm::L2 if is_zero => count(to)?,
                _ => return None,
            }
            // Rounded up, how many windows there are depends on which of the elements after the
            // input are padding.
            if to.output_shape_rounding() != OutputShapeRounding::Floor {
                return None;
            }
            let (rows, columns) = (to.pool_height.into(), to.pool_width.into());
            add_padding!(to, padding, rows, columns);
        }
        _ => return None,
    }
    Some(descriptor)
}

/// Lets the padding of a mean count, as elements of a Pad do; `None` if there is padding already
/// that does not.
fn count(d: &mut Pooling2dDescriptor) -> Option<()> {
    let own = [d.pad_top, d.pad_bottom, d.pad_left, d.pad_right];
    if d.padding_method() != PaddingMethod::IgnoreValue && own != [0; 4] {
        return None;
    }
    d.padding_method = PaddingMethod::IgnoreValue.0;
    Some(())
}

/// Whether the largest element of every window is the same without the elements of a Pad: they
/// are the smallest there can be, and every window covers another one, too, since the padding is
/// smaller than it and it has no gaps.
fn may_be_left_out(
    network: &Network,
    pad: &Layer,
    d: &PadDescriptor,
    pooling: &Pooling2dDescriptor,
) -> bool {
    let Some(input) = pad.inputs.first().copied().flatten() else {
        return false;
    };
    let input = network.tensor(input);
    if !input.info.data_type.is_float()
        || input.info.shape.dims().contains(&0)
        || (pooling.dilation_x, pooling.dilation_y) != (1, 1)
    {
        return false;
    }
    let producer = input
        .producer()
        .and_then(|id| network.layer(id).descriptor());
    let is_positive = match producer {
        Some(D::Activation(a)) => match a.function() {
            ActivationFunction::ReLu => true,
            ActivationFunction::BoundedReLu => a.b >= 0.0 && a.a >= a.b,
            _ => false,
        },
        _ => false,
    };
    d.pad_value == f64::NEG_INFINITY || (d.pad_value == 0.0 && is_positive)
}

impl ImagePadding {
    /// `None` where a Pad adds to another dimension, too.
    fn of(d: &PadDescriptor, layout: DataLayout) -> Option<Self> {
        let (rows, columns, others) = match layout {
            DataLayout::Nhwc => (1, 2, [0, 3]),
            DataLayout::Nchw => (2, 3, [0, 1]),
            _ => return None,
        };
        let (before, after) = (d.before(), d.after());
        let at = |axis: usize| -> Option<[u32; 2]> {
            let (before, after) = (*before.get(axis)?, *after.get(axis)?);
            Some([before.try_into().ok()?, after.try_into().ok()?])
        };
        let only_image = others.into_iter().all(|axis| at(axis) == Some([0, 0]));
        (d.rank == 4 && only_image).then_some(())?;
        Some(Self {
            rows: at(rows)?,
            columns: at(columns)?,
        })
    }
}

/// Whether the output of a Pad is declared as it follows from the input. What is declared beyond
/// that is checked when the input shapes are known, and must stay.
fn adds_no_knowledge(network: &Network, pad: &Layer, d: &PadDescriptor) -> bool {
    let (&[Some(input)], &[output]) = (&pad.inputs[..], &pad.outputs[..]) else {
        return false;
    };
    let (input, output) = (&network.tensor(input).info, &network.tensor(output).info);
    let mut dims = input
        .shape
        .dims()
        .iter()
        .zip(output.shape.dims())
        .enumerate();
    let follows = |(axis, (&from, &to)): (usize, (&i64, &i64))| {
        let padded = from.checked_add(d.before()[axis]);
        let padded = padded.and_then(|n| n.checked_add(d.after()[axis]));
        if from < 0 { to < 0 } else { padded == Some(to) }
    };
    d.rank as usize == input.shape.rank()
        && input.data_type == output.data_type
        && input.quantization == output.quantization
        && dims.all(follows)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{
        ActivationDescriptor, Convolution2dDescriptor, DataType, DepthwiseConvolution2dDescriptor,
        Shape, TensorInfo,
    };
    use armnn_network::{NetworkBuilder, TensorId};
    use bytes::Bytes;

    use super::super::Pass;
    use super::super::test_networks::{after, names, single};
    use super::*;

    const NHWC: DataLayout = DataLayout::Nhwc;

    fn pad(before: [i64; 4], after: [i64; 4], value: f64) -> PadDescriptor {
        PadDescriptor::new(PaddingMode::Constant, value, &before, &after).unwrap()
    }

    fn image() -> PadDescriptor {
        pad([0, 1, 2, 0], [0, 2, 1, 0], 0.0)
    }

    fn weights(b: &mut NetworkBuilder, shape: [i64; 4]) -> TensorId {
        let info = TensorInfo::new(DataType::Float32, shape);
        let data = Bytes::from(vec![0; info.byte_len().unwrap()]);
        b.add_constant_layer("w", info, data).unwrap()
    }

    fn convolved(shape: impl Into<Shape>, pad: PadDescriptor) -> Network {
        single(TensorInfo::new(DataType::Float32, shape), |b, x| {
            let x = b.add_pad_layer(pad, x, "pad").unwrap();
            let w = weights(b, [4, 3, 3, 2]);
            let mut d = Convolution2dDescriptor::new(NHWC);
            (d.stride_x, d.stride_y) = (2, 2);
            b.add_convolution2d_layer(d, x, w, None, "conv").unwrap()
        })
    }

    fn pooled(d: Pooling2dDescriptor, pad: PadDescriptor, relu: bool) -> Network {
        single(
            TensorInfo::new(DataType::Float32, [1, 6, 6, 2]),
            |b, mut x| {
                if relu {
                    let d = ActivationDescriptor::new(ActivationFunction::ReLu, 0.0, 0.0);
                    x = b.add_activation_layer(d, x, "relu").unwrap();
                }
                let x = b.add_pad_layer(pad, x, "pad").unwrap();
                b.add_pooling2d_layer(d, x, "pool").unwrap()
            },
        )
    }

    fn has_pad(network: Network) -> bool {
        let network = after(Pass::Pads, network);
        names(&network).contains(&"pad")
    }

    #[test]
    fn a_convolution_takes_the_padding_over() {
        for shape in [[1, 6, 6, 2], [-1, -1, 7, 2]] {
            let network = after(Pass::Pads, convolved(shape, image()));
            assert_eq!(names(&network), ["conv"]);
            let Some(D::Convolution2d(d)) = network.layers()[0].descriptor() else {
                panic!("{network:?}")
            };
            let padding = (d.pad_top, d.pad_bottom, d.pad_left, d.pad_right);
            assert_eq!(padding, (1, 2, 2, 1));
        }
    }

    #[test]
    fn padding_that_a_convolution_does_not_have_stays() {
        for d in [
            pad([0, 1, 1, 0], [0, 1, 1, 0], 1.0),
            pad([1, 1, 1, 0], [0, 1, 1, 0], 0.0),
            // As large as the window.
            pad([0, 3, 0, 0], [0, 0, 0, 0], 0.0),
            PadDescriptor::new(PaddingMode::Reflect, 0.0, &[0, 1, 1, 0], &[0; 4]).unwrap(),
        ] {
            assert!(has_pad(convolved([1, 6, 6, 2], d)), "{d:?}");
        }
        let channels = single(TensorInfo::new(DataType::Float32, [1, 6, 6, 1]), |b, x| {
            let d = pad([0, 0, 0, 0], [0, 0, 0, 1], 0.0);
            let x = b.add_pad_layer(d, x, "pad").unwrap();
            let w = weights(b, [4, 3, 3, 2]);
            let d = Convolution2dDescriptor::new(NHWC);
            b.add_convolution2d_layer(d, x, w, None, "conv").unwrap()
        });
        assert!(has_pad(channels));
    }

    #[test]
    fn a_pad_goes_only_if_all_that_read_it_take_it_over() {
        let network = |others: bool| {
            let mut b = NetworkBuilder::new();
            let info = TensorInfo::new(DataType::Float32, [1, 6, 6, 2]);
            let x = b.add_input_layer("x", info).unwrap();
            let x = b.add_pad_layer(image(), x, "pad").unwrap();
            let w = weights(&mut b, [1, 3, 3, 2]);
            for name in ["a", "b"] {
                let d = DepthwiseConvolution2dDescriptor::new(NHWC);
                let y = b
                    .add_depthwise_convolution2d_layer(d, x, w, None, name)
                    .unwrap();
                b.add_output_layer(name, y).unwrap();
            }
            if others {
                b.add_output_layer("padded", x).unwrap();
            }
            b.finish().unwrap()
        };
        assert!(!has_pad(network(false)));
        assert!(has_pad(network(true)));
        let network = after(Pass::Pads, network(true));
        let Some(D::DepthwiseConvolution2d(d)) = network.layers()[1].descriptor() else {
            panic!("{network:?}")
        };
        assert_eq!(d.pad_top, 0);
    }

    #[test]
    fn a_mean_counts_the_padding() {
        let average = Pooling2dDescriptor::new(PoolingAlgorithm::Average, 3, 3, NHWC);
        let network = after(Pass::Pads, pooled(average, image(), false));
        let Some(D::Pooling2d(d)) = network.layers()[0].descriptor() else {
            panic!("{network:?}")
        };
        assert_eq!(d.padding_method(), PaddingMethod::IgnoreValue);
        // Padding of its own that does not count.
        let own = Pooling2dDescriptor {
            pad_top: 1,
            ..average
        };
        assert!(has_pad(pooled(own, pad([0; 4], [0, 1, 1, 0], 0.0), false)));
        let counted = Pooling2dDescriptor {
            padding_method: PaddingMethod::IgnoreValue.0,
            ..own
        };
        assert!(!has_pad(pooled(
            counted,
            pad([0; 4], [0, 1, 1, 0], 0.0),
            false
        )));
        let up = Pooling2dDescriptor {
            output_shape_rounding: OutputShapeRounding::Ceiling.0,
            ..average
        };
        assert!(has_pad(pooled(up, image(), false)));
    }

    #[test]
    fn the_largest_element_is_taken_without_padding_only_if_that_is_smaller() {
        let max = Pooling2dDescriptor::new(PoolingAlgorithm::Max, 3, 3, NHWC);
        assert!(has_pad(pooled(max, image(), false)));
        assert!(!has_pad(pooled(max, image(), true)));
        let least = pad([0, 1, 1, 0], [0, 1, 1, 0], f64::NEG_INFINITY);
        assert!(!has_pad(pooled(max, least, false)));
        // A window with gaps may cover padding alone.
        let gaps = Pooling2dDescriptor {
            dilation_x: 2,
            ..max
        };
        assert!(has_pad(pooled(gaps, least, false)));
    }
}
