//! Layers that compute numbers.

use super::*;

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
