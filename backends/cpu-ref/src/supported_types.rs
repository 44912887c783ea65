//! That every layer of Arm NN's reference backend is taken with all of its types, and that it
//! computes the same numbers with all of them: as near to its Float32 numbers as the type allows.

use armnn_backend_api::{DataType as T, *};

use crate::test_harness::{Call, Tensor, f16s, f32s, typed};

const REAL: &[T] = &[
    T::Float32,
    T::Float16,
    T::BFloat16,
    T::QAsymmS8,
    T::QAsymmU8,
    T::QSymmS16,
];
const EIGHT_BITS: &[T] = &[T::QSymmS8];
const INTEGER: &[T] = &[T::Signed32];

/// What an input holds.
#[derive(Clone, Copy)]
enum Numbers {
    /// Multiples of 1/4 from -2 to 2.
    Any,
    /// Whole numbers from 1 to 3.
    Positive,
    /// Biases of the product of the first two inputs.
    Bias,
    /// Small indices, of Signed32.
    Indices,
}
use Numbers::{Any, Bias, Indices, Positive};

/// Numbers that all types can hold, from -2 to 2; `seed` tells inputs apart.
fn values(numbers: Numbers, len: usize, seed: usize) -> Vec<f32> {
    let place = |i: usize| (i * 7 + seed * 5 + i * i) % 17;
    (0..len)
        .map(|i| match numbers {
            Any => (place(i) as f32 - 8.0) / 4.0,
            Bias => (place(i) as f32 - 8.0) / 2.0,
            Positive => (place(i) % 3 + 1) as f32,
            Indices => (place(i) % 2) as f32,
        })
        .collect()
}

/// The scale of a type, and its zero point; of results, with room for sums.
fn quantization(data_type: T, is_output: bool) -> Quantization {
    let step = if is_output { 0.125 } else { 0.0625 };
    match data_type {
        T::QAsymmS8 => Quantization::per_tensor(step, 3),
        T::QAsymmU8 => Quantization::per_tensor(step, 126),
        T::QSymmS16 => Quantization::per_tensor(step / 128.0, 0),
        _ => Quantization::per_tensor(step, 0),
    }
}

/// A tensor of any type with these numbers.
fn tensor(data_type: T, shape: &[i64], values: &[f32]) -> Tensor {
    let shape = Shape::new(shape).unwrap();
    let q = quantization(data_type, false);
    let stored = |v: &f32| {
        let zero = q.zero_points()[0];
        (v / q.scales()[0]).round() as i32 + zero
    };
    macro_rules! quantized {
        ($Q:ty) => {{
            let numbers: Vec<$Q> = values.iter().map(|v| stored(v) as $Q).collect();
            typed(data_type, shape, &numbers).quantized(q.clone())
        }};
    }
    match data_type {
        T::Float32 => f32s(shape, values),
        T::Float16 => f16s(shape, values),
        T::BFloat16 => {
            let bits: Vec<u16> = values
                .iter()
                .map(|v| half::bf16::from_f32(*v).to_bits())
                .collect();
            typed(data_type, shape, &bits)
        }
        T::Signed32 => {
            let numbers: Vec<i32> = values.iter().map(|v| *v as i32).collect();
            typed(data_type, shape, &numbers)
        }
        T::Boolean => {
            let numbers: Vec<u8> = values.iter().map(|v| u8::from(*v > 0.0)).collect();
            typed(data_type, shape, &numbers)
        }
        T::QAsymmU8 => quantized!(u8),
        T::QSymmS16 => quantized!(i16),
        _ => quantized!(i8),
    }
}

/// One layer, whatever its type.
struct Case {
    descriptor: LayerDescriptor,
    inputs: Vec<(Vec<i64>, Numbers)>,
    outputs: Vec<Vec<i64>>,
    /// Types of indices: outputs that are not of the layer's type.
    output_type: Option<T>,
    /// Whether an output has the scale of the input, as where elements are moved.
    is_moved: bool,
}

fn case(
    descriptor: impl Into<LayerDescriptor>,
    inputs: &[(&[i64], Numbers)],
    output: &[i64],
) -> Case {
    Case {
        descriptor: descriptor.into(),
        inputs: inputs
            .iter()
            .map(|(shape, n)| (shape.to_vec(), *n))
            .collect(),
        outputs: vec![output.to_vec()],
        output_type: None,
        is_moved: false,
    }
}

impl Case {
    fn moved(mut self) -> Self {
        self.is_moved = true;
        self
    }

    fn giving(mut self, data_type: T) -> Self {
        self.output_type = Some(data_type);
        self
    }

    /// The first output, with weights and a bias of these types.
    fn run(&self, data_type: T, weights: T, bias: T) -> Vec<f32> {
        let mut call = Call::new(self.descriptor.clone());
        for (position, (shape, numbers)) in self.inputs.iter().enumerate() {
            let len: i64 = shape.iter().product();
            let mut values = values(*numbers, len as usize, position);
            let of = match (numbers, position) {
                (Indices, _) => T::Signed32,
                (Bias, _) => bias,
                (_, 1) => weights,
                _ => data_type,
            };
            if of == T::Signed32 && data_type.is_quantized() && matches!(numbers, Bias) {
                let scale = |t| quantization(t, false).scales()[0];
                let step = scale(data_type) * scale(weights);
                values.iter_mut().for_each(|v| *v /= step);
            }
            call = call.input(tensor(of, shape, &values));
        }
        let output_type = self.output_type.unwrap_or(data_type);
        for shape in &self.outputs {
            let info = TensorInfo::new(output_type, Shape::new(shape).unwrap());
            call = call.output_info(match output_type.is_quantized() {
                true => info.quantized(quantization(output_type, !self.is_moved)),
                false => info,
            });
        }
        if let Err(e) = call.supported() {
            panic!(
                "{:?} of {data_type}, {weights}, {bias}: {e}",
                self.descriptor
            );
        }
        let results = call.run();
        let q = quantization(output_type, !self.is_moved);
        let real = |n: i32| q.scales()[0] * (n - q.zero_points()[0]) as f32;
        let integers = |n: Vec<i32>| n.into_iter().map(real).collect();
        match output_type {
            T::Float32 => results.f32s(),
            T::Float16 => results.f16s(),
            T::BFloat16 => {
                let bits = results.elements::<u16>(0).into_iter();
                bits.map(|b| half::bf16::from_bits(b).to_f32()).collect()
            }
            T::Signed32 => results
                .elements::<i32>(0)
                .into_iter()
                .map(|n| n as f32)
                .collect(),
            T::Signed64 => results
                .elements::<i64>(0)
                .into_iter()
                .map(|n| n as f32)
                .collect(),
            T::Boolean => results
                .elements::<u8>(0)
                .into_iter()
                .map(f32::from)
                .collect(),
            T::QAsymmU8 => integers(
                results
                    .elements::<u8>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
            T::QSymmS16 => integers(
                results
                    .elements::<i16>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
            _ => integers(
                results
                    .elements::<i8>(0)
                    .into_iter()
                    .map(i32::from)
                    .collect(),
            ),
        }
    }

    /// Fails unless it is taken with all of these types, and gives the numbers of Float32.
    fn check(&self, types: &[&[T]]) {
        for &data_type in types.iter().copied().flatten() {
            self.check_with(data_type, data_type, data_type);
        }
    }

    fn check_with(&self, data_type: T, weights: T, bias: T) {
        let expected = self.run(T::Float32, T::Float32, T::Float32);
        let found = self.run(data_type, weights, bias);
        assert_eq!(found.len(), expected.len());
        let output_type = self.output_type.unwrap_or(data_type);
        let (step, part) = match output_type {
            T::Float32 => (0.0, 0.0),
            T::Float16 => (0.002, 0.002),
            T::BFloat16 => (0.02, 0.02),
            // Rounded, or towards zero.
            T::Signed32 if self.output_type.is_none() => (1.0, 0.0),
            t if t.is_quantized() => (0.002 + 2.1 * quantization(t, true).scales()[0], 0.01),
            _ => (0.0, 0.0),
        };
        let limits = match output_type {
            T::QAsymmS8 | T::QAsymmU8 | T::QSymmS8 | T::QSymmS16 => (-15.0, 15.0),
            _ => (f32::MIN, f32::MAX),
        };
        for (at, (&f, &e)) in found.iter().zip(&expected).enumerate() {
            if !(limits.0..=limits.1).contains(&e) {
                continue;
            }
            assert!(
                (f - e).abs() <= step + part * e.abs(),
                "{:?} of {data_type}, {weights}, {bias}: element {at} is {f}, not {e}",
                self.descriptor
            );
        }
    }
}

#[test]
fn activations() {
    let x: &[i64] = &[2, 3, 2, 2];
    for &function in ActivationFunction::ALL {
        let (a, b) = match function {
            ActivationFunction::BoundedReLu => (1.5, -0.5),
            _ => (0.75, 0.5),
        };
        let numbers = Any;
        case(
            ActivationDescriptor::new(function, a, b),
            &[(x, numbers)],
            x,
        )
        .check(&[REAL, EIGHT_BITS]);
    }
}

#[test]
fn normalizations() {
    let x: &[i64] = &[2, 3, 2, 4];
    for axis in [1u32, 3] {
        let channels: &[i64] = &[x[axis as usize]];
        let parameters = [
            (x, Any),
            (channels, Any),
            (channels, Positive),
            (channels, Any),
            (channels, Any),
        ];
        let d = BatchNormalizationDescriptor {
            epsilon: 0.001,
            axis,
        };
        case(d, &parameters, x).check(&[REAL]);
        case(
            L2NormalizationDescriptor {
                epsilon: 1e-12,
                axis,
            },
            &[(x, Any)],
            x,
        )
        .check(&[REAL]);
        for channel_type in [
            NormalizationAlgorithmChannel::Across,
            NormalizationAlgorithmChannel::Within,
        ] {
            let d = NormalizationDescriptor {
                channel_type: channel_type.0,
                norm_size: 3,
                alpha: 0.5,
                beta: 0.75,
                k: 1.0,
                axis,
            };
            case(d, &[(x, Any)], x).check(&[REAL]);
        }
        case(
            InstanceNormalizationDescriptor::new(0.001, axis),
            &[(x, Any), (channels, Any), (channels, Any)],
            x,
        )
        .check(&[REAL]);
        case(LogSoftmaxDescriptor { beta: 1.0, axis }, &[(x, Any)], x).check(&[REAL]);
        case(SoftmaxDescriptor { beta: 1.0, axis }, &[(x, Any)], x).check(&[REAL, EIGHT_BITS]);
    }
}

#[test]
fn elements_in_blocks() {
    let x: &[i64] = &[4, 4, 2, 4];
    for layout in [DataLayout::Nhwc, DataLayout::Nchw] {
        let (deep, wide): (&[i64], &[i64]) = match layout {
            DataLayout::Nhwc => (&[1, 2, 2, 8], &[1, 4, 4, 2]),
            _ => (&[1, 8, 2, 2], &[1, 2, 4, 4]),
        };
        for mode in [DepthToSpaceMode::Dcr, DepthToSpaceMode::Crd] {
            case(
                DepthToSpaceDescriptor::new(2, mode, layout),
                &[(deep, Any)],
                wide,
            )
            .moved()
            .check(&[REAL, INTEGER]);
        }
        case(SpaceToDepthDescriptor::new(2, layout), &[(wide, Any)], deep)
            .moved()
            .check(&[REAL, INTEGER]);
        let axis = if layout == DataLayout::Nhwc { 1 } else { 2 };
        let batched: &[i64] = if axis == 1 {
            &[1, 8, 4, 4]
        } else {
            &[1, 4, 4, 8]
        };
        let d = BatchToSpaceNdDescriptor::new(axis, &[2, 2]).unwrap();
        case(d, &[(x, Any)], batched)
            .moved()
            .check(&[REAL, INTEGER]);
        let d = SpaceToBatchNdDescriptor::new(axis, &[2, 2]).unwrap();
        case(d, &[(batched, Any)], x)
            .moved()
            .check(&[REAL, INTEGER]);
    }
}

#[test]
fn pooling() {
    for method in [PaddingMethod::Exclude, PaddingMethod::IgnoreValue] {
        for algorithm in [
            PoolingAlgorithm::Max,
            PoolingAlgorithm::Average,
            PoolingAlgorithm::L2,
        ] {
            for rounding in [OutputShapeRounding::Floor, OutputShapeRounding::Ceiling] {
                let size = if rounding == OutputShapeRounding::Floor {
                    2
                } else {
                    3
                };
                for layout in [DataLayout::Nhwc, DataLayout::Nchw] {
                    let mut d = Pooling2dDescriptor::new(algorithm, 2, 2, layout);
                    (d.pad_left, d.pad_top, d.stride_x, d.stride_y) = (1, 1, 2, 2);
                    (d.padding_method, d.output_shape_rounding) = (method.0, rounding.0);
                    let (x, y): (&[i64], &[i64]) = match layout {
                        DataLayout::Nhwc => (&[2, 4, 4, 3], &[2, size, size, 3]),
                        _ => (&[2, 3, 4, 4], &[2, 3, size, size]),
                    };
                    case(d, &[(x, Any)], y).check(&[REAL]);
                }
                for layout in [DataLayout::Ndhwc, DataLayout::Ncdhw] {
                    let mut d = Pooling3dDescriptor::new(algorithm, [2, 2, 2], layout);
                    (d.pad_left, d.pad_top, d.pad_front) = (1, 1, 1);
                    (d.stride_x, d.stride_y, d.stride_z) = (2, 2, 2);
                    (d.padding_method, d.output_shape_rounding) = (method.0, rounding.0);
                    let (x, y): (&[i64], &[i64]) = match layout {
                        DataLayout::Ndhwc => (&[1, 4, 4, 4, 2], &[1, size, size, size, 2]),
                        _ => (&[1, 2, 4, 4, 4], &[1, 2, size, size, size]),
                    };
                    case(d, &[(x, Any)], y).check(&[REAL]);
                }
            }
        }
    }
}

#[test]
fn operations_on_elements() {
    use BinaryOperation as B;
    let (x, y): (&[i64], &[i64]) = (&[2, 3, 2], &[3, 1]);
    for operation in [
        B::Add,
        B::Div,
        B::Maximum,
        B::Minimum,
        B::Mul,
        B::Sub,
        B::SqDiff,
        B::Power,
    ] {
        let first = if operation == B::Power { Positive } else { Any };
        let d = ElementwiseBinaryDescriptor::new(operation);
        case(d, &[(x, first), (y, Positive)], x).check(&[REAL]);
        case(d, &[(x, Positive), (y, Positive)], x).check(&[INTEGER]);
    }
    use UnaryOperation as U;
    for operation in [
        U::Abs,
        U::Exp,
        U::Sqrt,
        U::Rsqrt,
        U::Neg,
        U::Log,
        U::Sin,
        U::Ceil,
        U::Floor,
        U::Square,
    ] {
        let d = ElementwiseUnaryDescriptor::new(operation);
        case(d, &[(x, Positive)], x).check(&[REAL, INTEGER]);
    }
    let d = ElementwiseUnaryDescriptor::new(U::LogicalNot);
    assert_eq!(
        case(d, &[(x, Any)], x)
            .run(T::Boolean, T::Boolean, T::Boolean)
            .len(),
        12
    );
    for &operation in &[
        LogicalBinaryOperation::LogicalAnd,
        LogicalBinaryOperation::LogicalOr,
    ] {
        let d = LogicalBinaryDescriptor::new(operation);
        assert_eq!(
            case(d, &[(x, Any), (y, Any)], x)
                .run(T::Boolean, T::Boolean, T::Boolean)
                .len(),
            12
        );
    }
    use ComparisonOperation as C;
    for operation in [
        C::Equal,
        C::Greater,
        C::GreaterOrEqual,
        C::Less,
        C::LessOrEqual,
        C::NotEqual,
    ] {
        let d = ComparisonDescriptor::new(operation);
        let compared = case(d, &[(x, Positive), (y, Positive)], x).giving(T::Boolean);
        compared.check(&[REAL, EIGHT_BITS, INTEGER]);
        compared.run(T::Boolean, T::Boolean, T::Boolean);
    }
    case(PreluDescriptor::new(), &[(x, Any), (y, Any)], x).check(&[REAL]);
}

#[test]
fn reductions() {
    use ReduceOperation as R;
    let x: &[i64] = &[2, 3, 2];
    for operation in [R::Sum, R::Max, R::Mean, R::Min, R::Prod] {
        for (axes, y) in [
            (&[1u32][..], &[2i64, 1, 2][..]),
            (&[0, 2], &[1, 3, 1]),
            (&[0, 1, 2], &[1, 1, 1]),
        ] {
            let d = ReduceDescriptor::new(operation, axes, true).unwrap();
            let numbers = if operation == R::Prod { Positive } else { Any };
            case(d, &[(x, numbers)], y).check(&[REAL]);
            if operation != R::Mean {
                case(d, &[(x, Positive)], y).check(&[INTEGER]);
            }
        }
    }
    for function in [ArgMinMaxFunction::Min, ArgMinMaxFunction::Max] {
        for indices in [T::Signed32, T::Signed64] {
            let d = ArgMinMaxDescriptor::new(function, 1, false);
            case(d, &[(x, Positive)], &[2, 2])
                .giving(indices)
                .check(&[REAL, EIGHT_BITS, INTEGER]);
        }
    }
}

#[test]
fn elements_that_are_moved() {
    let x: &[i64] = &[2, 3, 2];
    let all: &[&[T]] = &[REAL, EIGHT_BITS, INTEGER];
    let check = |case: Case| {
        let case = case.moved();
        case.check(all);
        case.run(T::Boolean, T::Boolean, T::Boolean);
    };
    check(case(
        ConcatDescriptor { axis: 1 },
        &[(x, Any), (x, Any)],
        &[2, 6, 2],
    ));
    check(case(
        StackDescriptor { axis: 1 },
        &[(x, Any), (x, Any)],
        &[2, 2, 3, 2],
    ));
    check(case(
        GatherDescriptor { axis: 1 },
        &[(x, Any), (&[2, 2], Indices)],
        &[2, 2, 2, 2],
    ));
    check(case(
        GatherNdDescriptor { batch_dims: 0 },
        &[(x, Any), (&[4, 2], Indices)],
        &[4, 2],
    ));
    check(case(FillDescriptor::new(), &[(&[], Any)], &[2, 3]));
    check(case(ReshapeDescriptor::new(), &[(x, Any)], &[3, 4]));
    check(case(
        TransposeDescriptor::new(&[2, 0, 1]).unwrap(),
        &[(x, Any)],
        &[2, 2, 3],
    ));
    check(case(
        StridedSliceDescriptor::new(&[0, 2, 1], &[2, 0, 2], &[1, -1, 1]).unwrap(),
        &[(x, Any)],
        &[2, 2, 1],
    ));
    check(case(
        ReverseV2Descriptor::new(&[0, 2]).unwrap(),
        &[(x, Any)],
        x,
    ));
    check(case(
        TileDescriptor::new(&[1, 2, 3]).unwrap(),
        &[(x, Any)],
        &[2, 6, 6],
    ));
    let mut split = case(SplitDescriptor { axis: 1 }, &[(x, Any)], &[2, 1, 2]);
    split.outputs.push(vec![2, 2, 2]);
    check(split);
    for mode in [
        PaddingMode::Constant,
        PaddingMode::Reflect,
        PaddingMode::Symmetric,
    ] {
        let d = PadDescriptor::new(mode, 1.0, &[0, 1, 0], &[1, 2, 1]).unwrap();
        case(d, &[(x, Any)], &[3, 6, 3]).moved().check(all);
    }
    for method in [ResizeMethod::Bilinear, ResizeMethod::NearestNeighbor] {
        for (align_corners, half_pixel_centers) in [(0, 0), (0, 1), (1, 0)] {
            for layout in [DataLayout::Nhwc, DataLayout::Nchw] {
                let mut d = ResizeDescriptor::new(method, layout);
                (d.align_corners, d.half_pixel_centers) = (align_corners, half_pixel_centers);
                let (x, y): (&[i64], &[i64]) = match layout {
                    DataLayout::Nhwc => (&[1, 3, 2, 2], &[1, 5, 4, 2]),
                    _ => (&[1, 2, 3, 2], &[1, 2, 5, 4]),
                };
                case(d, &[(x, Any)], y).moved().check(&[REAL]);
            }
        }
    }
}

#[test]
fn products() {
    for (transpose_x, transpose_y) in [(false, false), (true, false), (false, true)] {
        let x: &[i64] = if transpose_x { &[2, 3, 2] } else { &[2, 2, 3] };
        let y: &[i64] = if transpose_y { &[1, 4, 3] } else { &[1, 3, 4] };
        let d = BatchMatMulDescriptor::new(transpose_x, transpose_y);
        case(d, &[(x, Any), (y, Any)], &[2, 2, 4]).check(&[REAL]);
    }
    let mut cases = vec![];
    for (transposed, weights) in [(true, &[4i64, 3][..]), (false, &[3, 4])] {
        let d = FullyConnectedDescriptor::new(transposed);
        cases.push(case(
            d,
            &[(&[2, 3], Any), (weights, Any), (&[4], Bias)],
            &[2, 4],
        ));
    }
    for is_nhwc in [true, false] {
        let layout = if is_nhwc {
            DataLayout::Nhwc
        } else {
            DataLayout::Nchw
        };
        let (x, y): (&[i64], &[i64]) = match is_nhwc {
            true => (&[1, 3, 3, 2], &[1, 2, 2, 2]),
            false => (&[1, 2, 3, 3], &[1, 2, 2, 2]),
        };
        let w: &[i64] = &[2, 2, 2, 2];
        cases.push(case(
            Convolution2dDescriptor::new(layout),
            &[(x, Any), (w, Any), (&[2], Bias)],
            y,
        ));
        let w: &[i64] = &[1, 2, 2, 2];
        cases.push(case(
            DepthwiseConvolution2dDescriptor::new(layout),
            &[(x, Any), (w, Any), (&[2], Bias)],
            y,
        ));
        let w: &[i64] = &[2, 2, 2, 2];
        let wide: &[i64] = if is_nhwc {
            &[1, 4, 4, 2]
        } else {
            &[1, 2, 4, 4]
        };
        cases.push(case(
            TransposeConvolution2dDescriptor::new(layout),
            &[(x, Any), (w, Any), (&[2], Bias)],
            wide,
        ));
        let layout = if is_nhwc {
            DataLayout::Ndhwc
        } else {
            DataLayout::Ncdhw
        };
        let (x, w, y): (&[i64], &[i64], &[i64]) = match is_nhwc {
            true => (&[1, 2, 2, 2, 2], &[1, 2, 2, 2, 3], &[1, 2, 1, 1, 3]),
            false => (&[1, 2, 2, 2, 2], &[3, 2, 1, 2, 2], &[1, 3, 2, 1, 1]),
        };
        cases.push(case(
            Convolution3dDescriptor::new(layout),
            &[(x, Any), (w, Any), (&[3], Bias)],
            y,
        ));
    }
    for case in cases {
        for data_type in [T::Float32, T::Float16, T::BFloat16] {
            for bias in [T::Float32, T::Float16] {
                case.check_with(data_type, data_type, bias);
            }
        }
        for data_type in [T::QAsymmS8, T::QAsymmU8, T::QSymmS8, T::QSymmS16] {
            for weights in [T::QAsymmS8, T::QAsymmU8, T::QSymmS8] {
                for bias in [T::Signed32, T::Float32, T::Float16, T::QAsymmS8] {
                    case.check_with(data_type, weights, bias);
                }
            }
        }
    }
}

/// Of types that one layer of numbers becomes: Quantize and Dequantize between all of them.
#[test]
fn conversions() {
    let quantized = [T::QAsymmS8, T::QAsymmU8, T::QSymmS8, T::QSymmS16];
    let x: &[i64] = &[2, 6];
    for from in quantized {
        for to in [T::Float32, T::Float16] {
            case(DequantizeDescriptor::new(), &[(x, Any)], x)
                .giving(to)
                .check_with_reals(from);
        }
        for to in quantized {
            for from in [T::Float32, T::Float16, T::BFloat16, from] {
                case(QuantizeDescriptor::new(), &[(x, Any)], x)
                    .giving(to)
                    .check_with_reals(from);
            }
        }
    }
    for from in [T::Float32, T::Float16, T::Signed32] {
        for to in [T::Float32, T::Float16, T::Signed32] {
            let cast = case(CastDescriptor::new(), &[(x, Positive)], x).giving(to);
            cast.check_with(from, from, from);
        }
    }
}

impl Case {
    /// Fails unless its output holds the numbers of its input.
    fn check_with_reals(&self, data_type: T) {
        let found = self.run(data_type, data_type, data_type);
        let expected = values(self.inputs[0].1, found.len(), 0);
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() <= 0.125, "{data_type}: {f}, not {e}");
        }
    }
}

#[test]
fn detections() {
    let d = DetectionPostProcessDescriptor {
        max_detections: 2,
        max_classes_per_detection: 1,
        detections_per_class: 2,
        num_classes: 2,
        use_regular_nms: 0,
        nms_score_threshold: 0.0,
        nms_iou_threshold: 0.5,
        scale_x: 1.0,
        scale_y: 1.0,
        scale_w: 1.0,
        scale_h: 1.0,
    };
    let inputs: &[(&[i64], Numbers)] = &[(&[1, 3, 4], Any), (&[1, 3, 3], Any), (&[3, 4], Positive)];
    for regular in [0, 1] {
        let d = DetectionPostProcessDescriptor {
            use_regular_nms: regular,
            ..d
        };
        let mut detections = case(d, inputs, &[1, 2, 4]).giving(T::Float32);
        detections.outputs.extend([vec![1, 2], vec![1, 2], vec![1]]);
        let expected = detections.run(T::Float32, T::Float32, T::Float32);
        for &data_type in REAL {
            let found = detections.run(data_type, data_type, data_type);
            for (f, e) in found.iter().zip(&expected) {
                assert!(
                    (f - e).abs() < 0.05 * e.abs().max(1.0),
                    "{data_type}: {f}, not {e}"
                );
            }
        }
    }
}

#[test]
fn cells_with_gates() {
    // In Float32; with matrices of 8 bits; and all in 16 bits.
    let run = |data_type: T, matrices: T| {
        let of = |t: T, shape: &[i64], seed: usize| {
            let len: i64 = shape.iter().product();
            let values: Vec<f32> = values(Any, len as usize, seed)
                .iter()
                .map(|v| v / 2.0)
                .collect();
            tensor(t, shape, &values)
        };
        let mut call = Call::new(UnidirectionalSequenceLstmDescriptor::new(false));
        call = call.input(of(data_type, &[1, 3, 2], 0));
        for seed in 1..9 {
            call = call.input(of(matrices, &[2, 2], seed));
        }
        call = call.absent().absent().absent();
        for seed in 12..16 {
            call = call.input(of(data_type, &[2], seed));
        }
        call = call.absent().absent();
        for seed in [18, 19] {
            call = call.input(of(data_type, &[1, 2], seed));
        }
        for shape in [&[1i64, 2][..], &[1, 2], &[1, 3, 2]] {
            let info = TensorInfo::new(data_type, Shape::new(shape).unwrap());
            call = call.output_info(match data_type.is_quantized() {
                true => info.quantized(quantization(data_type, false)),
                false => info,
            });
        }
        let results = call.run();
        match data_type {
            T::QSymmS16 => {
                let scale = quantization(data_type, false).scales()[0];
                let numbers = results.elements::<i16>(2).into_iter();
                numbers.map(|n| f32::from(n) * scale).collect()
            }
            _ => results.elements::<f32>(2),
        }
    };
    let expected = run(T::Float32, T::Float32);
    for (data_type, matrices) in [
        (T::Float32, T::QSymmS8),
        (T::Float32, T::QAsymmS8),
        (T::QSymmS16, T::QSymmS16),
        (T::QSymmS16, T::QSymmS8),
    ] {
        for (f, e) in run(data_type, matrices).iter().zip(&expected) {
            assert!(
                (f - e).abs() < 0.002,
                "{data_type}, {matrices}: {f}, not {e}"
            );
        }
    }
}
