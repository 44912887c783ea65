//! Layers that move, convert or choose numbers.

use super::*;

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
