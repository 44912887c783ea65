//! Whatever stands in a descriptor or a shape, the answer is a layer or an error.

use armnn_backend_api::{
    ActivationDescriptor, BatchMatMulDescriptor, CastDescriptor, ComparisonDescriptor,
    ConcatDescriptor, Convolution2dDescriptor, DataType, DepthwiseConvolution2dDescriptor,
    DequantizeDescriptor, ElementwiseBinaryDescriptor, ElementwiseUnaryDescriptor,
    FullyConnectedDescriptor, GatherDescriptor, LayerDescriptor, LayerType, PadDescriptor,
    Pooling2dDescriptor, PreluDescriptor, Quantization, QuantizeDescriptor, ReduceDescriptor,
    ReshapeDescriptor, ResizeDescriptor, Shape, SoftmaxDescriptor, SplitDescriptor,
    StandInDescriptor, StridedSliceDescriptor, TensorInfo, TransposeDescriptor,
};
use armnn_network::{NetworkBuilder, OutputDeclaration, TensorId, infer_shapes};

/// Xorshift64: George Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Mostly sensible, sometimes extreme.
    fn u32(&mut self) -> u32 {
        match self.below(12) {
            0 => self.pick(&[0, u32::MAX, u32::MAX - 1, 1 << 31, 9, 300]),
            _ => self.below(4) as u32,
        }
    }

    fn i64(&mut self) -> i64 {
        match self.below(12) {
            0 => self.pick(&[i64::MIN, i64::MAX, i64::MAX - 1, -1, -2, 0, 1 << 32]),
            _ => self.below(5) as i64,
        }
    }

    fn list<T: Copy + Default>(&mut self, mut next: impl FnMut(&mut Self) -> T) -> [T; 8] {
        let mut list = [T::default(); 8];
        list.fill_with(|| next(self));
        list
    }

    fn dim(&mut self) -> i64 {
        match self.below(16) {
            0 => self.pick(&[0, i64::MAX, 1 << 40, 1 << 62]),
            1 | 2 => Shape::UNKNOWN,
            _ => self.below(6) as i64 + 1,
        }
    }

    fn shape(&mut self) -> Shape {
        let rank = match self.below(3) {
            0 => self.below(9),
            _ => 4,
        };
        let dims: Vec<i64> = (0..rank).map(|_| self.dim()).collect();
        Shape::new(&dims).unwrap()
    }

    fn data_type(&mut self) -> DataType {
        match self.below(8) {
            0 => DataType(self.u32()),
            1 | 2 => self.pick(DataType::ALL),
            3 => DataType::QAsymmS8,
            _ => DataType::Float32,
        }
    }

    fn quantization(&mut self) -> Quantization {
        let count = self.pick(&[1, 1, 1, 2, 3]);
        Quantization::per_axis(
            self.u32() as i32,
            vec![self.pick(&[0.5, 0.5, 0.5, -1.0, f32::NAN]); count],
            vec![self.pick(&[0, 0, 0, 127, i32::MIN]); count],
        )
    }

    fn info(&mut self) -> TensorInfo {
        let info = TensorInfo::new(self.data_type(), self.shape());
        match info.data_type.is_quantized() || self.below(20) == 0 {
            true => info.quantized(self.quantization()),
            false => info,
        }
    }

    fn layout(&mut self) -> u32 {
        match self.below(10) {
            0 => self.u32(),
            _ => self.pick(&[1, 2]),
        }
    }

    fn descriptor(&mut self, layer_type: LayerType) -> LayerDescriptor {
        match layer_type {
            LayerType::Activation => ActivationDescriptor {
                function: self.u32(),
                a: f32::NAN,
                b: f32::INFINITY,
            }
            .into(),
            LayerType::BatchMatMul => BatchMatMulDescriptor {
                transpose_x: self.u32() as u8,
                transpose_y: self.u32() as u8,
                reserved: [1; 2],
            }
            .into(),
            LayerType::Cast => CastDescriptor::new().into(),
            LayerType::Comparison => ComparisonDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::Concat => ConcatDescriptor { axis: self.u32() }.into(),
            LayerType::Convolution2d => Convolution2dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                groups: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::DepthwiseConvolution2d => DepthwiseConvolution2dDescriptor {
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Dequantize => DequantizeDescriptor::new().into(),
            LayerType::ElementwiseBinary => ElementwiseBinaryDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::ElementwiseUnary => ElementwiseUnaryDescriptor {
                operation: self.u32(),
            }
            .into(),
            LayerType::FullyConnected => FullyConnectedDescriptor {
                transpose_weight_matrix: self.u32() as u8,
                reserved: [0; 3],
            }
            .into(),
            LayerType::Gather => GatherDescriptor { axis: self.u32() }.into(),
            LayerType::Pad => PadDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                padding_mode: self.u32(),
                pad_value: f64::NAN,
                pad_before: self.list(Self::i64),
                pad_after: self.list(Self::i64),
            }
            .into(),
            LayerType::Pooling2d => Pooling2dDescriptor {
                pool_type: self.u32(),
                pad_left: self.u32(),
                pad_right: self.u32(),
                pad_top: self.u32(),
                pad_bottom: self.u32(),
                pool_width: self.u32().saturating_add(2),
                pool_height: self.u32().saturating_add(2),
                stride_x: self.u32(),
                stride_y: self.u32(),
                dilation_x: self.u32(),
                dilation_y: self.u32(),
                output_shape_rounding: self.u32(),
                padding_method: self.u32(),
                data_layout: self.layout(),
            }
            .into(),
            LayerType::Prelu => PreluDescriptor::new().into(),
            LayerType::Quantize => QuantizeDescriptor::new().into(),
            LayerType::Reduce => ReduceDescriptor {
                operation: self.u32(),
                keep_dims: self.u32(),
                n_axes: self.u32(),
                axes: self.list(Self::u32),
            }
            .into(),
            LayerType::Reshape => ReshapeDescriptor::new().into(),
            LayerType::Resize => ResizeDescriptor {
                method: self.u32(),
                data_layout: self.layout(),
                align_corners: self.u32() as u8,
                half_pixel_centers: self.u32() as u8,
                reserved: [0; 2],
            }
            .into(),
            LayerType::Softmax => SoftmaxDescriptor {
                beta: f32::NAN,
                axis: self.u32(),
            }
            .into(),
            LayerType::Split => SplitDescriptor { axis: self.u32() }.into(),
            LayerType::StridedSlice => StridedSliceDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                reserved: 7,
                begin: self.list(Self::i64),
                end: self.list(Self::i64),
                stride: self.list(Self::i64),
            }
            .into(),
            LayerType::Transpose => TransposeDescriptor {
                rank: self.pick(&[4, 4, 4, 0, 8, u32::MAX]),
                permutation: self.pick(&[
                    [0, 1, 2, 3, 0, 0, 0, 0],
                    [3, 1, 0, 2, 0, 0, 0, 0],
                    [0, 1, 2, u32::MAX, 0, 0, 0, 0],
                    [0, 0, 1, 2, 0, 0, 0, 0],
                ]),
            }
            .into(),
            LayerType::StandIn => {
                LayerDescriptor::StandIn(StandInDescriptor::new("d", "n", 1, &[1, 2]).unwrap())
            }
            other => panic!("this test must learn to make a descriptor of {other}"),
        }
    }

    fn declaration(&mut self) -> OutputDeclaration {
        OutputDeclaration {
            name: None,
            data_type: (self.below(3) > 0).then(|| self.data_type()),
            shape: (self.below(3) > 0).then(|| self.shape()),
            quantization: (self.below(4) == 0).then(|| self.quantization()),
        }
    }
}

/// Adds random layers to one network; returns it with how many layers were taken of each type.
fn random_network(random: &mut Random, taken: &mut [usize]) -> Option<armnn_network::Network> {
    let mut builder = NetworkBuilder::new();
    let mut tensors: Vec<TensorId> = Vec::new();
    for _ in 0..6 {
        let info = random.info();
        tensors.extend(builder.add_input_layer("", info));
    }
    for _ in 0..24 {
        let kind = random.below(LayerType::ALL.len());
        let descriptor = random.descriptor(LayerType::ALL[kind]);
        let n_inputs = match random.below(8) {
            0 => random.below(5),
            _ => LayerType::ALL[kind].spec().unwrap().input_arity().0,
        };
        let inputs: Vec<Option<TensorId>> = (0..n_inputs)
            .map(|_| match random.below(20) {
                0 => None,
                1 => Some(TensorId(random.u32())),
                _ => tensors.get(random.below(tensors.len().max(1))).copied(),
            })
            .collect();
        let n_outputs = random.pick(&[0, 1, 1, 2]);
        let declarations: Vec<_> = (0..n_outputs).map(|_| random.declaration()).collect();
        match builder.add_layer("", descriptor, &inputs, &declarations) {
            Ok(outputs) => {
                taken[kind] += 1;
                for output in outputs {
                    let mut info = builder.tensor(output).unwrap().info.clone();
                    if info.data_type.is_quantized() && info.quantization.is_none() {
                        info.quantization = random.quantization();
                        let _ = builder.expect_output_info(output, &info);
                    }
                    tensors.push(output);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    for id in tensors {
        let _ = builder.add_output_layer("", id);
    }
    builder.finish().ok()
}

#[test]
fn nothing_panics_and_what_is_taken_is_well_formed() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut taken = vec![0; LayerType::ALL.len()];
    let mut planned = 0;
    for _ in 0..3_000 {
        let Some(network) = random_network(&mut random, &mut taken) else {
            continue;
        };
        for (index, layer) in network.layers().iter().enumerate() {
            for input in layer.present_inputs() {
                let producer = network.tensor(input).producer();
                assert!(producer.is_none_or(|p| p.index() < index));
            }
        }
        let shapes: Vec<Shape> = network
            .inputs()
            .iter()
            .map(|&id| {
                let dims: Vec<i64> = network
                    .tensor(id)
                    .info
                    .shape
                    .dims()
                    .iter()
                    .map(|&d| match d {
                        Shape::UNKNOWN => random.i64().max(0),
                        known => known,
                    })
                    .collect();
                Shape::new(&dims).unwrap()
            })
            .collect();
        if let Ok(shapes) = infer_shapes(&network, &shapes) {
            planned += 1;
            for (tensor, shape) in network.tensors().iter().zip(shapes) {
                assert!(shape.is_known());
                assert!(tensor.info.shape.accepts(&shape), "{} {shape}", tensor.info);
                assert!(
                    TensorInfo {
                        shape,
                        ..tensor.info.clone()
                    }
                    .byte_len()
                    .is_some()
                );
            }
        }
    }
    // The test means something only if not everything was refused.
    for (layer_type, count) in LayerType::ALL.iter().zip(&taken) {
        assert!(*count > 0, "no {layer_type} was ever taken");
    }
    assert!(planned > 0);
}
