//! Bucketize.

use armnn_backend_api::{BucketizeDescriptor, DataType, LayerView, Result, Workload};

use crate::{
    numbers::element_type::{NUMBERS, Number, by_number},
    workloads::{
        layer_checks::{input, invalid, num_elements, output, require_input, require_output},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &BucketizeDescriptor) -> Result<()> {
    require_input(layer, 0, NUMBERS)?;
    require_input(layer, 1, &[&[input(layer, 0)?.data_type()]])?;
    require_output(layer, 0, &[&[DataType::Signed32]])
}

pub(crate) fn workload(layer: LayerView<'_>, _: &BucketizeDescriptor) -> Result<Box<dyn Workload>> {
    if num_elements(layer, input(layer, 0)?)? != num_elements(layer, output(layer, 0)?)? {
        return Err(invalid("input and output differ in size"));
    }
    by_number!(input(layer, 0)?.data_type(), N => workload_function(layer, 0, |call| {
        let values = call.input::<<N as Number>::Stored>(0)?;
        let boundaries = call.input::<<N as Number>::Stored>(1)?;
        for (out, &x) in call.output::<i32>(0)?.iter_mut().zip(values) {
            let x = N::load(x);
            // NaN is above all.
            let is_below = |b: &<N as Number>::Stored| N::load(*b) <= x || x.is_nan();
            *out = boundaries.partition_point(is_below) as i32;
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, f32s, typed};

    #[test]
    fn boundaries_that_are_not_above_are_counted() {
        let call = Call::new(BucketizeDescriptor::new())
            .input(f32s([5], &[-1.0, 0.0, 9.9, 100.0, f32::NAN]))
            .input(f32s([3], &[0.0, 10.0, 100.0]))
            .output(DataType::Signed32, [5]);
        assert_eq!(call.run().elements::<i32>(0), [0, 1, 1, 3, 3]);
        let call = Call::new(BucketizeDescriptor::new())
            .input(typed(DataType::Signed64, [2], &[5i64, -5]))
            .input(typed(DataType::Signed64, [1], &[0i64]))
            .output(DataType::Signed32, [2]);
        assert_eq!(call.run().elements::<i32>(0), [1, 0]);
    }
}
