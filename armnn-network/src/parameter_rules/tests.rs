use std::collections::HashMap;

use armnn_backend_api::{
    ArgMinMaxFunction, Convolution2dDescriptor, CoordinateTransformation, CumulativeOperation,
    DataLayout, DataType, InterpolationMethod, Pooling2dDescriptor, PoolingAlgorithm, ResizeMethod,
};

use super::ParameterRule as Rule;
use super::*;
use crate::KnownElements;
use crate::inference::{LayerShapes, merge, output_shapes};

/// A list, perhaps partly known.
pub(super) fn list(values: &[Option<i64>]) -> Option<Parameter> {
    let value = KnownValue::integers(DataType::Signed64, values.to_vec())?;
    Some(Parameter {
        shape: value.shape,
        value: Some(value),
    })
}

/// A list that is known.
pub(super) fn ints(values: &[i64]) -> Option<Parameter> {
    list(&values.iter().copied().map(Some).collect::<Vec<_>>())
}

/// A tensor of this shape of which nothing else is known.
pub(super) fn unknown(shape: impl Into<Shape>) -> Option<Parameter> {
    Some(Parameter {
        shape: shape.into(),
        value: None,
    })
}

/// Pairs, of shape [n, 2].
pub(super) fn pairs(values: &[[i64; 2]]) -> Option<Parameter> {
    let mut pairs = ints(values.as_flattened())?;
    let shape = Shape::from([values.len() as i64, 2]);
    pairs.shape = shape;
    pairs.value.as_mut()?.shape = shape;
    Some(pairs)
}

/// A list of Float32.
pub(super) fn reals(values: &[f32]) -> Option<Parameter> {
    let shape = Shape::from([values.len() as i64]);
    Some(Parameter {
        shape,
        value: Some(KnownValue {
            data_type: DataType::Float32,
            shape,
            elements: KnownElements::Reals(values.iter().map(|&x| Some(x.into())).collect()),
        }),
    })
}

/// What a rule gives for one input.
pub(super) fn resolved(
    rule: &ParameterRule,
    input: impl Into<Shape>,
    parameters: &[Option<Parameter>],
) -> Result<Resolved> {
    rule.resolve(&[Some(input.into())], parameters)
}

/// The dimensions of the output, and whether all is known; `None` for an error.
pub(super) fn output(
    rule: &ParameterRule,
    input: impl Into<Shape>,
    parameters: &[Option<Parameter>],
) -> Option<(Vec<i64>, bool)> {
    let resolved = resolved(rule, input, parameters).ok()?;
    Some((resolved.outputs[0].dims().to_vec(), resolved.complete))
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

fn any_rule(random: &mut Random) -> Rule {
    let (flag, other) = (random.below(2) == 0, random.below(2) == 0);
    let layout = random.of(&[PadLayout::Sides, PadLayout::Pairs]);
    match random.below(32) {
        0 => Rule::Reshape { allow_zero: flag },
        1 => Rule::Squeeze,
        2 => Rule::Unsqueeze,
        3 => Rule::MergeDimensions {
            groups: vec![vec![], vec![0], vec![1, random.below(4)]],
        },
        4 => Rule::BroadcastTo {
            bidirectional: flag,
        },
        5 => Rule::Tile,
        6 => Rule::Fill,
        7 => Rule::Slice,
        8 => Rule::BeginSize,
        9 => Rule::StridedSlice(StridedSliceOptions {
            begin_mask: random.below(16) as u32,
            end_mask: random.below(16) as u32,
            ellipsis_mask: random.of(&[0, 0, 1, 2]),
            new_axis_mask: random.of(&[0, 0, 1, 2]),
            shrink_axis_mask: random.of(&[0, 0, 1, 2]),
            offset: flag,
        }),
        10 => Rule::Pad {
            mode: PaddingMode::Constant,
            value: 0.0,
            layout,
            negative_as_none: flag,
        },
        11 => Rule::Crop { layout },
        12 => Rule::Reduce {
            operation: ReduceOperation::Sum,
            options: ReduceOptions {
                keep_dims: flag,
                none_without_axes: other,
                may_repeat: false,
            },
        },
        13 => Rule::ArgMinMax(ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 0, flag)),
        14 => Rule::Cumulative(CumulativeDescriptor::new(CumulativeOperation::Sum, 0)),
        15 => Rule::ReverseV2,
        16 => Rule::Transpose,
        17 => Rule::TopK(TopKDescriptor::new(random.below(3) as u32, flag)),
        18 => Rule::Split(SplitOptions {
            axis: random.of(&[None, Some(0), Some(-1)]),
            parts: random.below(4),
            may_remain: flag,
            smaller_last: other,
        }),
        19 => Rule::Resize(ResizeDescriptor::new(
            ResizeMethod::Bilinear,
            DataLayout::Nhwc,
        )),
        20 => Rule::Interpolate {
            descriptor: InterpolateDescriptor::new(
                InterpolationMethod::Linear,
                random.of(CoordinateTransformation::ALL),
                0,
            )
            .unwrap(),
            axes: flag.then(|| vec![0, -1]),
            policy: random.of(&[
                AspectRatioPolicy::Stretch,
                AspectRatioPolicy::NotLarger,
                AspectRatioPolicy::NotSmaller,
            ]),
        },
        21 => Rule::Range {
            rounded_quotient: flag,
        },
        22 => Rule::OneHot {
            axis: random.of(&[0, -1, 3, i64::MIN]),
            wrap_negative: flag,
        },
        23 => Rule::SpaceToBatchNd { axis: 1 },
        24 => Rule::BatchToSpaceNd { axis: 1 },
        25 => Rule::TransposeConvolution3d {
            descriptor: TransposeConvolution3dDescriptor::new(DataLayout::Ndhwc),
            same: flag,
        },
        26 => Rule::Dft {
            descriptor: DftDescriptor {
                onesided: flag.into(),
                inverse: other.into(),
                ..DftDescriptor::new(0)
            },
            axis: random.of(&[None, Some(0), Some(-2)]),
        },
        27 => Rule::Col2Im(Col2ImDescriptor::new(&[1, 1]).unwrap()),
        28 => Rule::SamePadding {
            layer: WindowLayer::Pooling2d(Pooling2dDescriptor {
                stride_x: random.of(&[1, 2, 3]),
                stride_y: random.of(&[1, 2]),
                dilation_x: random.of(&[1, 2]),
                ..Pooling2dDescriptor::new(PoolingAlgorithm::Max, 2, 3, DataLayout::Nhwc)
            }),
            odd_behind: flag,
        },
        29 => Rule::SamePadding {
            layer: WindowLayer::Convolution2d(Convolution2dDescriptor {
                stride_x: random.of(&[1, 2, 3]),
                stride_y: random.of(&[1, 2]),
                dilation_y: random.of(&[1, 2]),
                ..Convolution2dDescriptor::new(DataLayout::Nchw)
            }),
            odd_behind: flag,
        },
        30 => Rule::TransposedWindows {
            layer: TransposedLayer::In2d(TransposeConvolution2dDescriptor {
                stride_x: random.of(&[1, 2, 3]),
                stride_y: random.of(&[1, 2]),
                dilation_y: random.of(&[1, 2]),
                pad_left: random.of(&[0, 1]),
                ..TransposeConvolution2dDescriptor::new(DataLayout::Nchw)
            }),
            sizes: match other {
                true => TransposedSizes::Padded,
                false => TransposedSizes::Strided,
            },
            more: vec![0, random.of(&[0, 1])],
            odd_behind: flag,
        },
        _ => Rule::TransposeConvolution2d {
            descriptor: TransposeConvolution2dDescriptor::new(DataLayout::Nhwc),
            same: flag,
        },
    }
}

/// Parameters of lengths and shapes that often fit.
fn any_parameters(random: &mut Random, rank: usize, numbers: &[i64]) -> Vec<Option<Parameter>> {
    (0..4)
        .map(|_| {
            let len = random.of(&[0, 1, 1, 2, 3, rank, rank, 2 * rank]);
            let values: Vec<i64> = (0..len).map(|_| random.of(numbers)).collect();
            match random.below(12) {
                0 => None,
                1 => reals(&[random.of(&[0.0, 1.0, 2.0, -1.5, f32::NAN, f32::MAX])]),
                2..=4 => pairs(values.as_chunks::<2>().0),
                _ => ints(&values),
            }
        })
        .collect()
}

fn any_shape(random: &mut Random, numbers: &[i64]) -> Shape {
    let dims: Vec<i64> = (0..random.below(5)).map(|_| random.of(numbers)).collect();
    Shape::new(&dims).unwrap()
}

#[test]
fn no_number_makes_a_rule_panic() {
    let (most, least) = (i64::MAX, i64::MIN);
    let numbers = [
        least,
        least + 1,
        -(1 << 32),
        -2,
        -1,
        0,
        1,
        2,
        3,
        8,
        1 << 32,
        most - 1,
        most,
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..100_000 {
        let rule = any_rule(&mut random);
        let data: Vec<Option<Shape>> = (0..random.below(4))
            .map(|_| Some(any_shape(&mut random, &numbers)))
            .collect();
        let rank = data.first().copied().flatten().map_or(0, |s| s.rank());
        let mut parameters = any_parameters(&mut random, rank, &numbers);
        for parameter in parameters.iter_mut().flatten() {
            hide(&mut random, parameter);
        }
        if let Ok(resolved) = rule.resolve(&data, &parameters) {
            assert_eq!(resolved.descriptor.layer_type(), rule.layer_type());
        }
    }
}

/// Makes some of the elements unknown, or all.
fn hide(random: &mut Random, parameter: &mut Parameter) {
    if random.below(6) == 0 {
        parameter.value = None;
    }
    match parameter.value.as_mut().map(|value| &mut value.elements) {
        Some(KnownElements::Integers(values)) => values
            .iter_mut()
            .filter(|_| random.below(3) == 0)
            .for_each(|value| *value = None),
        Some(KnownElements::Reals(values)) => values
            .iter_mut()
            .filter(|_| random.below(3) == 0)
            .for_each(|value| *value = None),
        None => {}
    }
}

/// What shape inference finds for a layer that is complete.
fn inferred_of(resolved: &Resolved, data: &[Option<Shape>]) -> Result<Vec<Shape>> {
    let declared: Vec<Option<Shape>> = resolved.outputs.iter().copied().map(Some).collect();
    let one = Some(Shape::from([1]));
    let with_values: Vec<Option<Shape>> = match resolved.descriptor.layer_type() {
        LayerType::OneHot => vec![data[0], one, one],
        LayerType::Range => vec![one; 3],
        LayerType::Fill => vec![one],
        LayerType::TransposeConvolution2d
        | LayerType::TransposeConvolution3d
        | LayerType::Convolution2d => data.to_vec(),
        _ => vec![data[0]],
    };
    let shapes = LayerShapes {
        inputs: &with_values,
        declared: &declared,
    };
    let found = output_shapes(&resolved.descriptor, &shapes)?;
    let merged = found.iter().zip(&resolved.outputs);
    merged
        .map(|(found, declared)| {
            merge(found, declared).ok_or_else(|| bad("output", found, declared))
        })
        .collect()
}

#[test]
fn what_follows_from_less_is_never_wrong() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut taken: HashMap<String, [usize; 2]> = HashMap::new();
    for _ in 0..150_000 {
        let rule = any_rule(&mut random);
        let input = any_shape(&mut random, &[0, 1, 1, 2, 3, 4, 6]);
        let data = [Some(input), Some(any_shape(&mut random, &[1, 2, 3]))];
        let numbers = [-2, -1, -1, 0, 0, 1, 1, 2, 3, 4, 6];
        let parameters = any_parameters(&mut random, input.rank(), &numbers);
        let Ok(all) = rule.resolve(&data, &parameters) else {
            continue;
        };
        let count = taken.entry(rule.layer_type().to_string()).or_default();
        count[0] += 1;
        assert!(all.complete, "{rule:?} of {input}, {parameters:?}");
        assert!(all.outputs.iter().all(Shape::is_known));
        let hidden = input.dims().iter().map(|&dim| match random.below(3) {
            0 => Shape::UNKNOWN,
            _ => dim,
        });
        let hidden = Shape::new(&hidden.collect::<Vec<_>>()).unwrap();
        // Which dimensions are 1, or all zeros of a Reshape, decides about the rank.
        if rule == Rule::Squeeze && parameters[0].is_none() && !hidden.is_known() {
            continue;
        }
        let mut partly = parameters.clone();
        partly
            .iter_mut()
            .flatten()
            .for_each(|parameter| hide(&mut random, parameter));
        let message = format!("{rule:?} of {input} as {hidden}, {parameters:?}, {partly:?}");
        let less = rule.resolve(&[Some(hidden), data[1]], &partly);
        let less = less.unwrap_or_else(|problem| panic!("{message}: {problem}"));
        for (less, all) in less.outputs.iter().zip(&all.outputs) {
            assert!(less.accepts(all), "{message}: {less} {all}");
        }
        assert_eq!(less.outputs.len(), all.outputs.len(), "{message}");
        if !less.complete {
            continue;
        }
        // A layer like any other: shape inference finds the rest.
        let Ok(inferred) = inferred_of(&all, &data) else {
            continue;
        };
        count[1] += 1;
        assert_eq!(inferred, all.outputs, "{message}");
        for input in [hidden, input] {
            let data = [&[Some(input)], &data[1..]].concat();
            let found = inferred_of(&less, &data);
            let found = found.unwrap_or_else(|problem| panic!("{message}: {problem}"));
            for (found, all) in found.iter().zip(&all.outputs) {
                assert!(found.accepts(all), "{message}: {found} {all}");
                assert!(!input.is_known() || found.is_known(), "{message}: {found}");
            }
        }
    }
    // The test means something only if rules of nearly all kinds had a result.
    taken.retain(|_, &mut [taken, inferred]| taken > 5 && inferred > 0);
    assert!(taken.len() >= 20, "{taken:?}");
}
