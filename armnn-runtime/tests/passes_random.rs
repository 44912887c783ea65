//! Random networks: outputs stay what they are when all passes rewrite them.

mod passes_support;

use armnn_backend_api::{
    ActivationDescriptor, ActivationFunction, ConcatDescriptor, Convolution2dDescriptor,
    DataLayout, DepthwiseConvolution2dDescriptor, PadDescriptor, PaddingMethod, PaddingMode,
    Pooling2dDescriptor, PoolingAlgorithm, SplitDescriptor, StridedSliceDescriptor,
    TransposeDescriptor,
};
use armnn_network::{Network, NetworkBuilder, TensorId, infer_shapes};
use armnn_runtime::{DataType, HostTensor, Pass, PassSelection, Shape};
use bytes::Bytes;
use passes_support::{Random, assert_same_bits, float_info, run};

const NETWORKS: u64 = 1000;
const INPUT: [i64; 4] = [1, 4, 5, 2];
/// Larger tensors are not grown further.
const LARGEST: u64 = 2000;

/// Builds random layers on one of the last tensors.
struct Generator {
    builder: NetworkBuilder,
    random: Random,
    tensors: Vec<TensorId>,
}

impl Generator {
    fn network(seed: u64) -> (Network, HostTensor) {
        let mut random = Random::new(seed);
        let mut builder = NetworkBuilder::new();
        let mut declared = INPUT;
        if random.below(3) == 0 {
            declared[random.below(4)] = -1;
        }
        let x = builder.add_input_layer("x", float_info(declared)).unwrap();
        let mut generator = Self {
            builder,
            random,
            tensors: vec![x],
        };
        for _ in 0..3 + generator.random.below(15) {
            // Mostly the last one, so that few layers are dead.
            let recent = match generator.random.below(4) {
                0 => generator.tensors.len().min(3),
                _ => 1,
            };
            let at = generator.tensors.len() - 1 - generator.random.below(recent);
            let from = generator.tensors[at];
            // Once in a while the same layer again, to be merged.
            let repeats = 1 + usize::from(generator.random.below(6) == 0);
            let kind = generator.random.below(12);
            let state = generator.random.clone();
            for _ in 0..repeats {
                generator.random = state.clone();
                if let Some(tensor) = generator.add(kind, from) {
                    generator.tensors.push(tensor);
                }
            }
        }
        let last = *generator.tensors.last().unwrap();
        generator.builder.add_output_layer("y", last).unwrap();
        if generator.random.below(2) == 0 {
            let at = generator.random.below(generator.tensors.len());
            let other = generator.tensors[at];
            generator.builder.add_output_layer("z", other).unwrap();
        }
        let input = generator.random.tensor(INPUT);
        (generator.builder.finish().unwrap(), input)
    }

    fn shape(&self, id: TensorId) -> Shape {
        self.builder.tensor(id).unwrap().info.shape
    }

    fn constant(&mut self, shape: impl Into<Shape>) -> TensorId {
        let info = float_info(shape);
        let values = self
            .random
            .floats(info.shape.num_elements().unwrap() as usize);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.builder
            .add_constant_layer("", info, Bytes::from(bytes))
            .unwrap()
    }

    /// A layer of a kind, where it fits.
    fn add(&mut self, kind: usize, x: TensorId) -> Option<TensorId> {
        let shape = self.shape(x);
        let rank = shape.rank();
        match kind {
            0 | 1 => {
                let mut permutation: Vec<u32> = (0..rank as u32).collect();
                for i in 1..rank {
                    permutation.swap(i, self.random.below(i + 1));
                }
                let d = TransposeDescriptor::new(&permutation)?;
                self.builder.add_transpose_layer(d, x, "").ok()
            }
            2 | 3 => {
                // Two neighbours become one, or a dimension of size 1 is added, or nothing changes.
                let mut dims = shape.dims().to_vec();
                match self.random.below(3) {
                    0 if rank > 1 => {
                        let at = self.random.below(rank - 1);
                        let second = dims.remove(at + 1);
                        let is_known = dims[at] >= 0 && second >= 0;
                        dims[at] = if is_known { dims[at] * second } else { -1 };
                    }
                    1 if rank < 5 => dims.insert(self.random.below(rank + 1), 1),
                    _ => {}
                }
                if dims.iter().filter(|&&d| d < 0).count() > 1 {
                    return None;
                }
                self.builder
                    .add_reshape_layer(Shape::new(&dims).ok()?, x, "")
                    .ok()
            }
            4 => {
                let functions = [
                    ActivationFunction::ReLu,
                    ActivationFunction::BoundedReLu,
                    ActivationFunction::TanH,
                ];
                let d = ActivationDescriptor::new(functions[self.random.below(3)], 1.0, 0.0);
                self.builder.add_activation_layer(d, x, "").ok()
            }
            5 => {
                let other = self.tensors[self.random.below(self.tensors.len())];
                if self.random.below(2) == 0 {
                    self.builder.add_addition_layer(x, other, "").ok()
                } else {
                    self.builder.add_multiplication_layer(x, other, "").ok()
                }
            }
            6 => self.pad_and(x),
            7 => self.convolution(x),
            8 => {
                let dims = shape.dims();
                let from_start = self.random.below(2) == 0;
                let begin: Vec<i64> = dims
                    .iter()
                    .map(|&d| i64::from(!from_start && d > 1))
                    .collect();
                let d = StridedSliceDescriptor::new(&begin, &vec![i64::MAX; rank], &vec![1; rank]);
                self.builder.add_strided_slice_layer(d?, x, "").ok()
            }
            9 if rank > 0 => {
                let axis = self.random.below(rank) as u32;
                let n = 1 + self.random.below(2);
                if !self.may_grow(x) && n > 1 {
                    return None;
                }
                self.builder
                    .add_concat_layer(ConcatDescriptor { axis }, &vec![x; n], "")
                    .ok()
            }
            10 if rank > 0 => {
                let axis = self.random.below(rank);
                let size = shape.dims()[axis];
                let sizes = match self.random.below(2) {
                    0 if size > 1 => vec![1, size - 1],
                    _ => vec![size],
                };
                let d = SplitDescriptor { axis: axis as u32 };
                self.builder
                    .add_split_layer(d, &sizes, x, "")
                    .ok()?
                    .last()
                    .copied()
            }
            _ => self.builder.add_cast_layer(DataType::Float32, x, "").ok(),
        }
    }

    fn may_grow(&self, x: TensorId) -> bool {
        let dims = self.shape(x);
        // Unknown dimensions are those of the input, at most 5.
        let product: i64 = dims
            .dims()
            .iter()
            .map(|&d| if d < 0 { 40 } else { d })
            .product();
        product as u64 <= LARGEST
    }

    /// A Pad, and often pooling or a convolution behind it.
    fn pad_and(&mut self, x: TensorId) -> Option<TensorId> {
        let rank = self.shape(x).rank();
        if !self.may_grow(x) {
            return None;
        }
        let value = [0.0, 0.0, f64::NEG_INFINITY, 1.0][self.random.below(4)];
        let image_only = rank == 4 && self.random.below(4) != 0;
        let mut amounts = || -> Vec<i64> {
            let axes = 0..rank;
            axes.map(|axis| match image_only && !(1..3).contains(&axis) {
                true => 0,
                false => self.random.below(2) as i64,
            })
            .collect()
        };
        let (before, after) = (amounts(), amounts());
        let d = PadDescriptor::new(PaddingMode::Constant, value, &before, &after)?;
        let padded = self.builder.add_pad_layer(d, x, "").ok()?;
        let next = match self.random.below(3) {
            0 => self.pooling(padded),
            1 => self.convolution(padded),
            _ => None,
        };
        Some(next.unwrap_or(padded))
    }

    fn pooling(&mut self, x: TensorId) -> Option<TensorId> {
        let algorithms = [
            PoolingAlgorithm::Max,
            PoolingAlgorithm::Average,
            PoolingAlgorithm::L2,
        ];
        let algorithm = algorithms[self.random.below(3)];
        let mut d = Pooling2dDescriptor::new(algorithm, 2, 2, DataLayout::Nhwc);
        d.stride_x = 1 + self.random.below(2) as u32;
        d.pad_top = self.random.below(2) as u32;
        if self.random.below(2) == 0 {
            d.padding_method = PaddingMethod::IgnoreValue.0;
        }
        self.builder.add_pooling2d_layer(d, x, "").ok()
    }

    /// A convolution, and often a factor or a summand for each channel.
    fn convolution(&mut self, x: TensorId) -> Option<TensorId> {
        let shape = self.shape(x);
        let &[_, _, _, channels] = shape.dims() else {
            return None;
        };
        if !(1..=16).contains(&channels) {
            return None;
        }
        let out = if self.random.below(2) == 0 {
            let w = self.constant([3, 2, 2, channels]);
            let mut d = Convolution2dDescriptor::new(DataLayout::Nhwc);
            d.stride_y = 1 + self.random.below(2) as u32;
            self.builder
                .add_convolution2d_layer(d, x, w, None, "")
                .ok()?
        } else {
            let w = self.constant([1, 2, 2, channels]);
            let bias = self.constant([channels]);
            let d = DepthwiseConvolution2dDescriptor::new(DataLayout::Nhwc);
            self.builder
                .add_depthwise_convolution2d_layer(d, x, w, Some(bias), "")
                .ok()?
        };
        let channels = self.shape(out).dims()[3];
        let y = match self.random.below(3) {
            0 => {
                let m = self.constant([channels]);
                self.builder.add_multiplication_layer(out, m, "").ok()?
            }
            1 => {
                let a = self.constant([1, 1, 1, channels]);
                self.builder.add_addition_layer(a, out, "").ok()?
            }
            _ => out,
        };
        Some(y)
    }
}

/// All passes whose arithmetic is that of the layers.
fn exact_passes() -> PassSelection {
    let exact = Pass::ALL.iter().copied().filter(|&p| p != Pass::BatchNorm);
    PassSelection::Only(exact.collect())
}

#[test]
fn outputs_of_random_networks_stay_equal() {
    let mut removed = [0usize; Pass::ALL.len()];
    let (mut fitting, mut smaller) = (0, 0);
    for seed in 0..NETWORKS {
        let (network, input) = Generator::network(seed);
        // Of unknown dimensions some turn out not to fit.
        if infer_shapes(&network, &[Shape::from(INPUT)]).is_err() {
            continue;
        }
        fitting += 1;
        let inputs = std::slice::from_ref(&input);
        let plain = run(network.clone(), PassSelection::None, inputs);
        let exact = run(network.clone(), exact_passes(), inputs);
        eprintln!(
            "seed {seed}: {} layers, {} left",
            plain.layers.len(),
            exact.layers.len()
        );
        assert_same_bits(&plain.outputs, &exact.outputs);
        let all = run(network, PassSelection::All, inputs);
        for (expected, found) in plain.outputs.iter().zip(&all.outputs) {
            assert_close(expected, found);
        }
        assert!(all.layers.len() <= exact.layers.len());
        for report in &all.rewrites {
            let pass = Pass::ALL.iter().position(|&p| p == report.pass).unwrap();
            removed[pass] += report.summary.removed.len();
        }
        smaller += u64::from(all.layers.len() < plain.layers.len());
    }
    eprintln!("removed by each pass: {removed:?}; {smaller} of {fitting} are smaller");
    // The networks are such that every pass has something to do.
    assert!(removed.iter().all(|&n| n > 0), "{removed:?}");
    assert!(
        fitting > NETWORKS / 2 && smaller > fitting / 2,
        "{smaller} of {fitting}"
    );
}

/// Equal up to the rounding that batch-norm folding changes: a few dozen roundings in each layer,
/// relative to the largest number in the tensor, in up to 18 layers.
#[track_caller]
fn assert_close(expected: &HostTensor, found: &HostTensor) {
    assert_eq!(expected.info(), found.info());
    let floats = |tensor: &HostTensor| tensor.elements::<f32>().unwrap().to_vec();
    let (expected, found) = (floats(expected), floats(found));
    let finite = expected.iter().filter(|v| v.is_finite());
    let largest = finite.fold(0.0f32, |max, v| max.max(v.abs()));
    for (a, b) in expected.iter().zip(found) {
        let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        assert!(
            same || (a - b).abs() <= 1e-4 * largest,
            "{a} {b} of up to {largest}"
        );
    }
}
