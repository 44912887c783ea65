//! Constants for each channel, after layers with weights.

use std::collections::HashMap;

use armnn_backend_api::{
    BinaryOperation, DataLayout, DataType, LayerDescriptor as D, Shape, TensorInfo,
};
use armnn_network::{Layer, LayerId, Rewrite, Tensor, TensorId};
use bytes::Bytes;

use super::Kept;

/// How many layers are folded into one layer in one run, so that the time is linear in the size of
/// the weights. A batch normalization is two.
const MOST_IN_A_ROW: u32 = 4;

/// Folds `f(x, w) m + a`, with constants `m` and `a` for each channel, into the weights and the
/// bias: `f(x, w m) + (b m + a)`. Everything is Float32; f16 weights stay as they are.
///
/// The result differs by rounding: `w m` is rounded once more, and `b m + a` is added in another
/// order. Where `w m` would be outside of the range of normal numbers, nothing is done.
pub(super) fn run(rewrite: &mut Rewrite<'_>, kept: &Kept) {
    let mut reads = rewrite.reads();
    let mut folded: HashMap<LayerId, u32> = HashMap::new();
    for (id, layer) in rewrite.layers() {
        if !kept.may_go(layer) {
            continue;
        }
        let Some(fold) = Fold::of(rewrite, &reads, id, layer) else {
            continue;
        };
        let count = folded.entry(fold.into).or_default();
        if *count < MOST_IN_A_ROW && fold.record(rewrite).is_some() {
            *count += 1;
            rewrite.remove_if_unread(id);
            // What read the layer reads the one before it now.
            reads[fold.output.index()] = reads[fold.gone.index()];
        }
    }
}

/// A layer to be folded into the one before it.
struct Fold {
    operation: BinaryOperation,
    /// The layer with weights.
    into: LayerId,
    /// Its output.
    output: TensorId,
    /// The output of the layer that is folded.
    gone: TensorId,
    /// The constant, one for each channel.
    constants: Vec<f32>,
    weights: TensorId,
    bias: Option<TensorId>,
}

impl Fold {
    fn of(rewrite: &Rewrite<'_>, reads: &[u32], id: LayerId, layer: &Layer) -> Option<Self> {
        let Some(D::ElementwiseBinary(d)) = layer.descriptor() else {
            return None;
        };
        let operation = d.operation();
        let (x, y) = (rewrite.input(id, 0)?, rewrite.input(id, 1)?);
        let is_constant = |id: TensorId| Some(rewrite.tensor(id)?.constant().is_some());
        let (output, constant) = match operation {
            BinaryOperation::Add | BinaryOperation::Mul if is_constant(x)? => (y, x),
            BinaryOperation::Add | BinaryOperation::Mul | BinaryOperation::Sub => (x, y),
            _ => return None,
        };
        let &[gone] = &layer.outputs[..] else {
            return None;
        };
        let into = rewrite.tensor(output)?.producer()?;
        let info = &rewrite.tensor(output)?.info;
        let axis = channel_axis(rewrite.descriptor(into)?)?;
        let channels = usize::try_from(*info.shape.dims().get(axis)?).ok()?;
        let only_reader = reads.get(output.index()) == Some(&1);
        if !only_reader || info.data_type != DataType::Float32 {
            return None;
        }
        rewrite.can_replace(gone, output).ok()?;
        let constants = for_each_channel(rewrite.tensor(constant)?, info.shape.rank(), axis)?;
        let constants = match constants.len() {
            n if n == channels => constants,
            1 => vec![constants[0]; channels],
            _ => return None,
        };
        let weights = rewrite.input(into, 1)?;
        let is_shared = reads.get(weights.index()).is_some_and(|&n| n > 1);
        // What several layers read would be there twice.
        if operation == BinaryOperation::Mul && is_shared {
            return None;
        }
        floats_len(rewrite.tensor(weights)?)?;
        let bias = rewrite.input(into, 2);
        if let Some(bias) = bias {
            floats_len(rewrite.tensor(bias)?).filter(|&n| n == channels)?;
        }
        Some(Self {
            operation,
            into,
            output,
            gone,
            constants,
            weights,
            bias,
        })
    }

    /// Records new weights and a new bias; `None` if nothing is done.
    fn record(&self, rewrite: &mut Rewrite<'_>) -> Option<()> {
        let descriptor = rewrite.descriptor(self.into)?.clone();
        let mut inputs = rewrite.inputs(self.into);
        let bias = self.bias.map(|id| floats(rewrite.tensor(id)?));
        let bias: Option<Vec<f32>> = match bias {
            Some(bias) => Some(bias?.collect()),
            None => None,
        };
        let constants = &self.constants;
        let pairs = |bias: Vec<f32>| bias.into_iter().zip(constants.iter().copied());
        let new_bias: Option<Vec<f32>> = match (self.operation, bias) {
            (BinaryOperation::Add, None) => Some(constants.clone()),
            (BinaryOperation::Sub, None) => Some(constants.iter().map(|c| -c).collect()),
            (BinaryOperation::Add, Some(bias)) => Some(pairs(bias).map(|(b, c)| b + c).collect()),
            (BinaryOperation::Sub, Some(bias)) => Some(pairs(bias).map(|(b, c)| b - c).collect()),
            (_, bias) => bias.map(|bias| pairs(bias).map(|(b, c)| b * c).collect()),
        };
        if let Some(new) = new_bias {
            if new.iter().chain(constants).any(|n| !n.is_finite()) {
                return None;
            }
            let tensor = self.bias.and_then(|id| rewrite.tensor(id));
            let name = tensor.map_or_else(String::new, |tensor| tensor.name.clone());
            let shape = Shape::try_from(&[new.len()][..]).ok()?;
            let bias = constant(rewrite, &name, shape, new)?;
            inputs.resize(inputs.len().max(3), None);
            inputs[2] = Some(bias);
        }
        if self.operation == BinaryOperation::Mul {
            let tensor = rewrite.tensor(self.weights)?;
            let channel = channel_of_weight(&descriptor, tensor.info.shape)?;
            let new = floats(tensor)?.enumerate().map(|(index, w)| {
                let c = *constants.get(channel.at(index))?;
                let product = w * c;
                let is_exact = w == 0.0 || c == 0.0;
                (c.is_finite() && (product.is_normal() || (is_exact && w.is_finite())))
                    .then_some(product)
            });
            let new: Vec<f32> = new.collect::<Option<_>>()?;
            let (name, shape) = (tensor.name.clone(), tensor.info.shape);
            inputs[1] = Some(constant(rewrite, &name, shape, new)?);
        }
        rewrite.change_layer(self.into, descriptor, &inputs).ok()?;
        // It has been asked whether that is possible.
        rewrite.replace_tensor(self.gone, self.output).ok()
    }
}

/// The dimension of channels in the output of a layer with weights.
fn channel_axis(descriptor: &D) -> Option<usize> {
    let of_layout = |layout| match layout {
        DataLayout::Nhwc => Some(3),
        DataLayout::Nchw => Some(1),
        _ => None,
    };
    match descriptor {
        D::Convolution2d(d) => of_layout(d.data_layout()),
        D::DepthwiseConvolution2d(d) => of_layout(d.data_layout()),
        D::FullyConnected(_) => Some(1),
        _ => None,
    }
}

/// Which output channel a weight is of.
enum ChannelOfWeight {
    /// Channels come first: a block of so many weights is of one.
    Blocks(usize),
    /// Channels come last: there are so many.
    Last(usize),
}

impl ChannelOfWeight {
    fn at(&self, weight: usize) -> usize {
        match *self {
            Self::Blocks(len) => weight / len.max(1),
            Self::Last(channels) => weight % channels.max(1),
        }
    }
}

fn channel_of_weight(descriptor: &D, weights: Shape) -> Option<ChannelOfWeight> {
    let (first, rest) = weights.dims().split_first()?;
    let last = usize::try_from(*weights.dims().last()?).ok()?;
    let block = rest
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    match descriptor {
        D::Convolution2d(_) => Some(ChannelOfWeight::Blocks(block?)),
        D::DepthwiseConvolution2d(_) => Some(ChannelOfWeight::Last(last)),
        D::FullyConnected(d) if d.transpose_weight_matrix == 1 && *first >= 0 => {
            Some(ChannelOfWeight::Blocks(block?))
        }
        D::FullyConnected(_) => Some(ChannelOfWeight::Last(last)),
        _ => None,
    }
}

/// The elements of a constant that broadcasts along all dimensions but one, `axis`, of a tensor of
/// this rank.
fn for_each_channel(constant: &Tensor, rank: usize, axis: usize) -> Option<Vec<f32>> {
    let dims = constant.info.shape.dims();
    let offset = rank.checked_sub(dims.len())?;
    let only_channels = dims
        .iter()
        .enumerate()
        .all(|(i, &d)| d == 1 || i + offset == axis);
    if !only_channels {
        return None;
    }
    Some(floats(constant)?.collect())
}

/// The number of elements of a Float32 constant.
fn floats_len(tensor: &Tensor) -> Option<usize> {
    let is_float = tensor.info.data_type == DataType::Float32;
    Some(tensor.constant().filter(|_| is_float)?.len() / size_of::<f32>())
}

/// The elements of a Float32 constant, which need not be aligned.
fn floats(tensor: &Tensor) -> Option<impl Iterator<Item = f32> + use<>> {
    let len = floats_len(tensor)?;
    let data = tensor.constant()?.clone();
    Some((0..len).map(move |i| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&data[4 * i..4 * i + 4]);
        f32::from_le_bytes(bytes)
    }))
}

fn constant(
    rewrite: &mut Rewrite<'_>,
    name: &str,
    shape: Shape,
    values: Vec<f32>,
) -> Option<TensorId> {
    let info = TensorInfo::new(DataType::Float32, shape);
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    rewrite.add_constant(name, info, Bytes::from(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{Convolution2dDescriptor, FullyConnectedDescriptor};
    use armnn_network::{Network, NetworkBuilder};

    use super::super::Pass;
    use super::super::test_networks::{after, names};
    use super::*;

    fn floats_constant(b: &mut NetworkBuilder, shape: &[i64], values: &[f32]) -> TensorId {
        let info = TensorInfo::new(DataType::Float32, Shape::new(shape).unwrap());
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        b.add_constant_layer("c", info, Bytes::from(bytes)).unwrap()
    }

    /// A FullyConnected of 2 inputs and 3 outputs, weights [3, 2], and what follows it.
    fn after_fully_connected(
        bias: bool,
        layers: impl FnOnce(&mut NetworkBuilder, TensorId) -> TensorId,
    ) -> Network {
        let mut b = NetworkBuilder::new();
        let info = TensorInfo::new(DataType::Float32, [-1, 2]);
        let x = b.add_input_layer("x", info).unwrap();
        let w = floats_constant(&mut b, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let bias = bias.then(|| floats_constant(&mut b, &[3], &[0.5, 0.25, 1.0]));
        let d = FullyConnectedDescriptor::new(true);
        let y = b.add_fully_connected_layer(d, x, w, bias, "fc").unwrap();
        let y = layers(&mut b, y);
        b.add_output_layer("y", y).unwrap();
        after(Pass::BatchNorm, b.finish().unwrap())
    }

    fn input_values(network: &Network, index: usize) -> Vec<f32> {
        let id = network.layers()[0].inputs[index].unwrap();
        floats(network.tensor(id)).unwrap().collect()
    }

    #[test]
    fn factors_go_into_weights_and_bias_and_summands_into_the_bias() {
        let network = after_fully_connected(true, |b, y| {
            let m = floats_constant(b, &[3], &[2.0, -1.0, 0.5]);
            let a = floats_constant(b, &[1, 3], &[1.0, 2.0, 3.0]);
            let y = b.add_multiplication_layer(m, y, "mul").unwrap();
            b.add_subtraction_layer(y, a, "sub").unwrap()
        });
        assert_eq!(names(&network), ["fc"]);
        assert_eq!(input_values(&network, 1), [2.0, 4.0, -3.0, -4.0, 2.5, 3.0]);
        // 0.5 * 2 - 1, 0.25 * -1 - 2, 1 * 0.5 - 3
        assert_eq!(input_values(&network, 2), [0.0, -2.25, -2.5]);
        assert_eq!(
            network
                .tensors()
                .iter()
                .filter(|t| t.constant().is_some())
                .count(),
            2
        );
    }

    #[test]
    fn a_summand_becomes_the_bias_where_there_is_none() {
        let network = after_fully_connected(false, |b, y| {
            let a = floats_constant(b, &[], &[1.5]);
            b.add_addition_layer(a, y, "add").unwrap()
        });
        assert_eq!(names(&network), ["fc"]);
        assert_eq!(input_values(&network, 2), [1.5; 3]);
    }

    #[test]
    fn what_is_not_for_each_channel_or_out_of_range_stays() {
        let stays = |shape: &[i64], values: &[f32]| {
            let network = after_fully_connected(true, |b, y| {
                let m = floats_constant(b, shape, values);
                b.add_multiplication_layer(y, m, "mul").unwrap()
            });
            names(&network).contains(&"mul")
        };
        // One for each row; a result of another rank.
        assert!(stays(&[2, 1], &[1.0, 2.0]));
        assert!(stays(&[1, 1, 3], &[1.0, 2.0, 3.0]));
        assert!(stays(&[3], &[1.0, f32::INFINITY, 1.0]));
        assert!(stays(&[3], &[1.0, f32::MAX, 1.0]));
        assert!(stays(&[3], &[1.0, 1e-40, 1.0]));
        assert!(!stays(&[3], &[1.0, 0.0, 1.0]));
    }

    #[test]
    fn a_constant_minus_the_output_stays() {
        let network = after_fully_connected(true, |b, y| {
            let a = floats_constant(b, &[3], &[1.0, 2.0, 3.0]);
            b.add_subtraction_layer(a, y, "sub").unwrap()
        });
        assert_eq!(names(&network), ["fc", "sub"]);
    }

    /// A convolution whose weights, of this type and cast to Float32 if they are not, are read
    /// once or twice, and whose output is one of the network or not; a factor after it.
    fn convolved(weights: DataType, twice: bool, is_output: bool) -> Network {
        let mut b = NetworkBuilder::new();
        let info = TensorInfo::new(DataType::Float32, [1, 4, 4, 2]);
        let x = b.add_input_layer("x", info).unwrap();
        let info = TensorInfo::new(weights, [2, 3, 3, 2]);
        let data = Bytes::from(vec![0; info.byte_len().unwrap()]);
        let mut w = b.add_constant_layer("w", info, data).unwrap();
        if weights != DataType::Float32 {
            w = b.add_cast_layer(DataType::Float32, w, "cast").unwrap();
        }
        let d = Convolution2dDescriptor::new(DataLayout::Nhwc);
        let y = b.add_convolution2d_layer(d, x, w, None, "conv").unwrap();
        let m = floats_constant(&mut b, &[2], &[2.0, 3.0]);
        let z = b.add_multiplication_layer(y, m, "mul").unwrap();
        b.add_output_layer("z", z).unwrap();
        if twice {
            let y = b.add_convolution2d_layer(d, x, w, None, "other").unwrap();
            b.add_output_layer("other", y).unwrap();
        }
        if is_output {
            b.add_output_layer("y", y).unwrap();
        }
        after(Pass::BatchNorm, b.finish().unwrap())
    }

    #[test]
    fn weights_of_another_type_and_shared_ones_and_outputs_stay() {
        let has_mul = |network: Network| names(&network).contains(&"mul");
        assert!(!has_mul(convolved(DataType::Float32, false, false)));
        assert!(has_mul(convolved(DataType::Float16, false, false)));
        assert!(has_mul(convolved(DataType::Float32, true, false)));
        assert!(has_mul(convolved(DataType::Float32, false, true)));
    }
}
