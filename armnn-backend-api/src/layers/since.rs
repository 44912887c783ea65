//! The minor of the interface that a layer needs.

use super::{ActivationFunction, LayerDescriptor as D, LayerType};
use crate::sys::ARMNN_API_MINOR;

impl D {
    /// The minor of the interface that a backend must have been built against to be asked about
    /// this layer: the latest of those since which its type, the numbers in its descriptor and the
    /// fields with other values than their default exist. Numbers without a name need the current
    /// one.
    pub fn since(&self) -> u32 {
        let layer_type = self
            .layer_type()
            .spec()
            .map_or(ARMNN_API_MINOR, |s| s.since);
        let number = match self {
            D::Activation(d) => d.function().since(),
            D::Comparison(d) => d.operation().since(),
            D::ElementwiseBinary(d) => d.operation().since(),
            D::ElementwiseUnary(d) => d.operation().since(),
            D::Pad(d) => d.padding_mode().since(),
            D::Pooling2d(d) => d.pool_type().since(),
            D::Pooling3d(d) => d.pool_type().since(),
            D::Quantize(d) => d.rounding().since(),
            D::Reduce(d) => d.operation().since(),
            D::Resize(d) => d.method().since(),
            D::Rnn(d) => latest(&d.activations),
            D::Gru(d) => latest(&d.activations),
            D::Lstm(d) => latest(&d.activations),
            D::UnidirectionalSequenceLstm(d) => d.activation().since(),
            // The numbers of these are as old as their layers, or there are none.
            _ => Some(0),
        };
        layer_type.max(number.unwrap_or(ARMNN_API_MINOR))
    }
}

impl LayerType {
    /// Whether the size of an output depends on the contents of inputs, so that its shape may be
    /// unknown when a workload is made. The workload then asks for memory with
    /// [`allocate_output`](crate::ExecutionContext::allocate_output).
    pub const fn output_shape_depends_on_data(self) -> bool {
        matches!(
            self,
            Self::Compress | Self::NonMaxSuppression | Self::NonZero | Self::Range | Self::Unique
        )
    }
}

fn latest(functions: &[u32]) -> Option<u32> {
    functions.iter().try_fold(0, |since, &f| {
        Some(since.max(ActivationFunction(f).since()?))
    })
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::ARMNN_API_MINOR;

    #[test]
    fn a_layer_needs_the_latest_minor_of_its_parts() {
        let activation = |f| LayerDescriptor::from(ActivationDescriptor::new(f, 1.0, 1.0)).since();
        assert_eq!(activation(ActivationFunction::ReLu), 0);
        assert_eq!(activation(ActivationFunction::Mish), 2);
        assert_eq!(activation(ActivationFunction(9999)), ARMNN_API_MINOR);
        let pad = |mode| {
            let pad = PadDescriptor::new(mode, 0.0, &[1], &[1]).unwrap();
            LayerDescriptor::from(pad).since()
        };
        assert_eq!(pad(PaddingMode::Reflect), 0);
        assert_eq!(pad(PaddingMode::Edge), 2);
        assert_eq!(LayerDescriptor::from(SelectDescriptor::new()).since(), 2);
        // A field with its default needs no more than the layer.
        let quantize = |r| LayerDescriptor::from(QuantizeDescriptor::rounding_to(r)).since();
        assert_eq!(quantize(QuantizeRounding::AwayFromZero), 0);
        assert_eq!(quantize(QuantizeRounding::ToEven), 2);
    }

    #[test]
    fn numbers_of_the_first_minor_are_those_of_its_frozen_header() {
        let header = include_str!("../../../backends/fixtures/headers/1.0/armnn_backend.h");
        let named = |prefix: &str| {
            let define = format!("#define ARMNN_{prefix}_");
            header
                .lines()
                .filter(|line| line.starts_with(&define))
                .count()
        };
        let first = |since: Vec<Option<u32>>| since.iter().filter(|s| **s == Some(0)).count();
        let all = |prefix: &str, since: Vec<Option<u32>>| {
            assert_eq!(first(since), named(prefix), "{prefix}");
        };
        all("LAYER", LayerType::ALL.iter().map(|v| v.since()).collect());
        let functions = ActivationFunction::ALL.iter().map(|v| v.since());
        all("ACTIVATION", functions.collect());
        all(
            "UNARY",
            UnaryOperation::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "BINARY",
            BinaryOperation::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "POOLING",
            PoolingAlgorithm::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "PADDING_MODE",
            PaddingMode::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "REDUCE",
            ReduceOperation::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "RESIZE",
            ResizeMethod::ALL.iter().map(|v| v.since()).collect(),
        );
        all(
            "COMPARISON",
            ComparisonOperation::ALL.iter().map(|v| v.since()).collect(),
        );
    }
}
