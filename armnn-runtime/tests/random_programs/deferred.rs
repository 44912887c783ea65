//! Layers whose descriptors follow from tensors.

use armnn_backend_api::{
    ArgMinMaxDescriptor, ArgMinMaxFunction, CumulativeDescriptor, CumulativeOperation,
    LayerDescriptor, LayerType, PaddingMode, ReduceOperation,
};
use armnn_network::{
    AspectRatioPolicy, OutputDeclaration, PadLayout, ParameterRule, ReduceOptions, SplitOptions,
    StridedSliceOptions, TensorId,
};
use armnn_runtime::{DataType, TensorInfo};

use super::body::Body;

impl Body<'_> {
    pub(super) fn deferred(&mut self) -> Option<Vec<TensorId>> {
        let x = self.any()?;
        let rank = self.shape(x)?.rank();
        let (rule, lengths) = self.rule(rank)?;
        let mut parameters = Vec::new();
        for length in lengths {
            let parameter = self.parameter(length, &rule);
            parameters.push(parameter.filter(|_| self.random.below(12) > 0));
        }
        let inputs = match rule {
            ParameterRule::Range { .. } => parameters.clone(),
            ParameterRule::OneHot { .. } => vec![Some(x), self.any(), self.any()],
            ParameterRule::TransposeConvolution2d { .. } => vec![Some(x), self.any()],
            ParameterRule::NonMaxSuppressionPadded => vec![Some(x), self.any()],
            _ => vec![Some(x)],
        };
        let data_type = self.random.pick(&[None, Some(DataType::Signed64)]);
        let declared = OutputDeclaration {
            data_type,
            ..OutputDeclaration::default()
        };
        self.builder
            .add_deferred_layer("", rule, &inputs, &parameters, &[declared])
            .ok()
    }

    /// A tensor of so many integers (one, and a scalar, if there is no number), that is known, or
    /// follows from shapes or from what is given or computed.
    fn parameter(&mut self, length: Option<usize>, rule: &ParameterRule) -> Option<TensorId> {
        let n = length.unwrap_or(1);
        let values: Vec<i64> = (0..n).map(|_| self.random.i64()).collect();
        let pairs = matches!(
            rule,
            ParameterRule::Pad {
                layout: PadLayout::Pairs,
                ..
            } | ParameterRule::Crop {
                layout: PadLayout::Pairs
            }
        );
        let mut info = TensorInfo::new(DataType::Signed64, [n as i64]);
        if pairs && n.is_multiple_of(2) {
            info.shape = [n as i64 / 2, 2].into();
        }
        if length.is_none() && self.random.below(2) == 0 {
            info.shape = armnn_runtime::Shape::SCALAR;
        }
        match self.random.below(5) {
            0 | 1 => {
                let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                self.builder.add_constant_layer("", info, bytes.into()).ok()
            }
            2 if self.depth == 0 => self.input(info),
            3 => {
                let of = self.any()?;
                self.builder
                    .add_shape_layer(of, 0, n, DataType::Signed64, "")
                    .ok()
            }
            _ => match self.tensor_like(&info) {
                Some(found) => Some(found),
                // Computed by a backend, of what a constant holds.
                None => {
                    let of = self.integers(&values)?;
                    self.builder.add_abs_layer(of, "").ok()
                }
            },
        }
    }

    /// A rule, and how long its parameters should be.
    #[rustfmt::skip]
    fn rule(&mut self, rank: usize) -> Option<(ParameterRule, Vec<Option<usize>>)> {
        use ParameterRule as R;
        let flag = self.random.below(2) == 0;
        let some = Some(self.random.below(rank + 2));
        let all = Some(rank);
        let layout = self.random.pick(&[PadLayout::Sides, PadLayout::Pairs]);
        let axis = self.random.pick(&[0, 0, 1, -1, -2, 9, i64::MIN]);
        Some(match self.random.below(26) {
            0 | 1 => (R::Reshape { allow_zero: flag }, vec![some]),
            2 => (R::Squeeze, vec![some]),
            3 => (R::Unsqueeze, vec![some]),
            4 => {
                let groups = (0..self.random.below(4))
                    .map(|_| (0..self.random.below(3)).map(|_| self.random.u32() as usize).collect());
                (R::MergeDimensions { groups: groups.collect() }, vec![])
            }
            5 => (R::BroadcastTo { bidirectional: flag }, vec![some]),
            6 => (R::Tile, vec![all]),
            7 => (R::Fill, vec![some]),
            8 | 9 => (R::Slice, vec![some, some, some, some]),
            10 => (R::BeginSize, vec![all, all]),
            11 => {
                let options = StridedSliceOptions {
                    begin_mask: self.random.u32(),
                    end_mask: self.random.u32(),
                    ellipsis_mask: self.random.u32(),
                    new_axis_mask: self.random.u32(),
                    shrink_axis_mask: self.random.u32(),
                    offset: flag,
                };
                (R::StridedSlice(options), vec![some, some, some])
            }
            12 => {
                let mode = self.random.pick(&[PaddingMode::Constant, PaddingMode::Reflect, PaddingMode::Symmetric, PaddingMode(99)]);
                (R::Pad { mode, value: 1.5, layout, negative_as_none: flag }, vec![Some(2 * rank)])
            }
            13 => (R::Crop { layout }, vec![Some(2 * rank)]),
            14 => {
                let options = ReduceOptions {
                    keep_dims: flag,
                    none_without_axes: self.random.below(2) == 0,
                    may_repeat: self.random.below(2) == 0,
                };
                (R::Reduce { operation: ReduceOperation(self.random.u32()), options }, vec![some])
            }
            15 => (R::ArgMinMax(ArgMinMaxDescriptor::new(ArgMinMaxFunction::Max, 0, flag)), vec![None]),
            16 => (R::Cumulative(CumulativeDescriptor::new(CumulativeOperation::Sum, 0)), vec![None]),
            17 => (R::ReverseV2, vec![some]),
            18 => (R::Transpose, vec![all]),
            19 => match self.random.descriptor(LayerType::TopK) {
                LayerDescriptor::TopK(d) => (R::TopK(d), vec![None]),
                _ => return None,
            },
            20 => {
                let options = SplitOptions {
                    axis: flag.then_some(axis),
                    parts: self.random.below(4),
                    may_remain: self.random.below(2) == 0,
                    smaller_last: self.random.below(2) == 0,
                };
                (R::Split(options), vec![Some(options.parts), None])
            }
            21 => match self.random.descriptor(LayerType::Resize) {
                LayerDescriptor::Resize(d) => (R::Resize(d), vec![Some(2)]),
                _ => return None,
            },
            22 => match self.random.descriptor(LayerType::Interpolate) {
                LayerDescriptor::Interpolate(descriptor) => {
                    let policy = self.random.pick(&[AspectRatioPolicy::Stretch, AspectRatioPolicy::NotLarger, AspectRatioPolicy::NotSmaller]);
                    (R::Interpolate { descriptor, axes: flag.then(|| vec![axis]), policy }, vec![Some(0), Some(0), all])
                }
                _ => return None,
            },
            23 => (R::Range { rounded_quotient: flag }, vec![None, None, None]),
            24 => (R::OneHot { axis, wrap_negative: flag }, vec![None]),
            _ => match self.random.below(4) {
                0 => (R::NonMaxSuppressionPadded, vec![None]),
                1 => (R::SpaceToBatchNd { axis: self.random.u32() }, vec![some, some]),
                2 => (R::BatchToSpaceNd { axis: self.random.u32() }, vec![some, some]),
                _ => match self.random.descriptor(LayerType::TransposeConvolution2d) {
                    LayerDescriptor::TransposeConvolution2d(descriptor) => {
                        (R::TransposeConvolution2d { descriptor, same: flag }, vec![Some(4)])
                    }
                    _ => return None,
                },
            },
        })
    }
}
