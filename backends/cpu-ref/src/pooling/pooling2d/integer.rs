//! Pooling2d of integers: their maximum. Of a window over nothing but padding it is 0.

use armnn_backend_api::{Element, ExecutionContext, LayerView, Result, Synchronous, Workload};

use super::Pooling;
use crate::workloads::{
    element_workload::{Kernel, element_workload},
    float_workload::MAX_INPUTS,
};

/// `least` is the least number of the type.
pub(super) fn workload<T: Element + Ord + Default>(
    layer: LayerView<'_>,
    pooling: Pooling,
    least: T,
) -> Result<Box<dyn Workload>> {
    element_workload(layer, IntegerPooling { pooling, least })
}

struct IntegerPooling<T> {
    pooling: Pooling,
    least: T,
}

impl<T: Element + Ord + Default> Kernel for IntegerPooling<T> {
    type Input = T;
    type Output = T;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [input, ..]: [&[T]; MAX_INPUTS],
        output: &mut [T],
    ) -> Result<()> {
        let Pooling { rows, columns, .. } = &self.pooling;
        let channels = self.pooling.channels;
        let image_len = rows.input * columns.input * channels;
        for (at, pixel) in output.chunks_exact_mut(channels).enumerate() {
            let (row, x) = (at / columns.output, at % columns.output);
            let (image, y) = (row / rows.output, row % rows.output);
            let input = &input[image * image_len..][..image_len];
            if rows.taps_inside(y).is_empty() || columns.taps_inside(x).is_empty() {
                pixel.fill(T::default());
            } else {
                self.pooling.fold(input, y, x, self.least, pixel, T::max);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataLayout, DataType, Pooling2dDescriptor, PoolingAlgorithm};

    use crate::test_harness::{Call, assert_refused, typed};

    #[test]
    fn the_largest_is_found_in_both_signs() {
        let call = |data_type, algorithm, bytes: &[u8]| {
            let mut d = Pooling2dDescriptor::new(algorithm, 2, 1, DataLayout::Nhwc);
            d.stride_x = 2;
            d.stride_y = 1;
            Call::new(d)
                .input(
                    typed(DataType::UInt8, [1, 1, 4, 1], bytes).with_type(data_type, [1, 1, 4, 1]),
                )
                .output(data_type, [1, 1, 2, 1])
        };
        // 0xff is 255 or -1, 0x80 is 128 or -128.
        let bytes = [0xff, 1, 0x80, 0xff];
        let found = call(DataType::UInt8, PoolingAlgorithm::Max, &bytes).run();
        assert_eq!(found.elements::<u8>(0), [255, 255]);
        let found = call(DataType::Int8, PoolingAlgorithm::Max, &bytes).run();
        assert_eq!(found.elements::<i8>(0), [1, -1]);
        let average = call(DataType::UInt8, PoolingAlgorithm::Average, &bytes);
        assert_refused(&average, &["UInt8"]);
    }
}
