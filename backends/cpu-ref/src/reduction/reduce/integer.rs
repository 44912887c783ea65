//! Reduce of integers. Sums and products wrap around; a mean is that of the exact sum, rounded
//! towards zero, and 0 of nothing.

use std::marker::PhantomData;

use armnn_backend_api::{
    Element, ExecutionContext, LayerView, ReduceOperation, Result, Synchronous, Workload,
};

use super::Reduce;
use crate::workloads::{
    element_workload::{Kernel, element_workload},
    float_workload::MAX_INPUTS,
    layer_checks::{num_elements, output},
};

pub(super) fn workload<T: Integer>(
    layer: LayerView<'_>,
    reduce: Reduce,
) -> Result<Box<dyn Workload>> {
    element_workload(
        layer,
        IntegerReduce::<T> {
            output_len: num_elements(layer, output(layer, 0)?)?,
            reduce,
            integer: PhantomData,
        },
    )
}

struct IntegerReduce<T> {
    reduce: Reduce,
    output_len: usize,
    integer: PhantomData<fn(T)>,
}

impl<T: Integer> Kernel for IntegerReduce<T> {
    type Input = T;
    type Output = T;

    fn scratch_len(&self) -> usize {
        self.output_len
    }

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        scratch: &mut [i64],
        [input, ..]: [&[T]; MAX_INPUTS],
        output: &mut [T],
    ) -> Result<()> {
        let sums = &mut scratch[..self.output_len];
        let reduce = &self.reduce;
        let (finish, count): (fn(i64, usize) -> T, usize) = match reduce.operation {
            ReduceOperation::Max => {
                reduce.fold(input, sums, T::MIN.ordered(), |most, x: T| {
                    most.max(x.ordered())
                });
                (|most, _| T::from_ordered(most), 1)
            }
            ReduceOperation::Min => {
                reduce.fold(input, sums, T::MAX.ordered(), |least, x: T| {
                    least.min(x.ordered())
                });
                (|least, _| T::from_ordered(least), 1)
            }
            ReduceOperation::Prod => {
                reduce.fold(input, sums, 1, |product, x: T| {
                    product.wrapping_mul(x.bits())
                });
                (|product, _| T::from_bits(product), 1)
            }
            ReduceOperation::SumSquare => {
                reduce.fold(input, sums, 0, |sum, x: T| {
                    sum.wrapping_add(x.bits().wrapping_mul(x.bits()))
                });
                (|sum, _| T::from_bits(sum), 1)
            }
            ReduceOperation::L1 => {
                reduce.fold(input, sums, 0, |sum, x: T| {
                    let is_below = x.ordered() < T::from_bits(0).ordered();
                    let bits = x.bits();
                    sum.wrapping_add(if is_below { bits.wrapping_neg() } else { bits })
                });
                (|sum, _| T::from_bits(sum), 1)
            }
            operation => {
                reduce.fold(input, sums, 0, |sum, x: T| sum.wrapping_add(x.bits()));
                if operation == ReduceOperation::Mean {
                    (T::mean, reduce.count.max(1))
                } else {
                    // `check` lets nothing else through but Sum.
                    (|sum, _| T::from_bits(sum), 1)
                }
            }
        };
        for (out, &sum) in output.iter_mut().zip(&*sums) {
            *out = finish(sum, count);
        }
        Ok(())
    }
}

/// Integers, in 64 bits while they are reduced.
pub(super) trait Integer: Element {
    const MIN: Self;
    const MAX: Self;

    /// In the order of the integers.
    fn ordered(self) -> i64;
    fn from_ordered(ordered: i64) -> Self;

    /// For sums and products, of which the lowest bits are kept.
    fn bits(self) -> i64;
    fn from_bits(bits: i64) -> Self;

    /// `count` is not 0.
    fn mean(sum: i64, count: usize) -> Self;
}

macro_rules! integers {
    ($Wide:ty, $offset:expr => $($T:ty)*) => {$(
        impl Integer for $T {
            const MIN: Self = <$T>::MIN;
            const MAX: Self = <$T>::MAX;

            fn ordered(self) -> i64 {
                (self as i64) ^ $offset
            }

            fn from_ordered(ordered: i64) -> Self {
                (ordered ^ $offset) as $T
            }

            fn bits(self) -> i64 {
                self as i64
            }

            fn from_bits(bits: i64) -> Self {
                bits as $T
            }

            fn mean(sum: i64, count: usize) -> Self {
                (sum as $Wide / count as $Wide) as $T
            }
        }
    )*};
}
integers! { i64, 0 => i8 i16 i32 i64 u8 u16 u32 }
integers! { u64, i64::MIN => u64 }

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, ReduceDescriptor};

    use super::*;
    use crate::test_harness::{Call, typed};

    fn reduced<T: Element>(operation: ReduceOperation, data_type: DataType, values: &[T]) -> T {
        let d = ReduceDescriptor::new(operation, &[0], true).unwrap();
        let call = Call::new(d)
            .input(typed(data_type, [values.len() as i64], values))
            .output(data_type, [1]);
        call.run().elements(0)[0]
    }

    #[test]
    fn operations_are_as_defined_and_wrap_around() {
        use ReduceOperation as R;
        let values = [-7i32, 3, i32::MAX];
        for (operation, expected) in [
            (R::Sum, i32::MAX.wrapping_sub(4)),
            (R::Mean, 715_827_881),
            (R::Max, i32::MAX),
            (R::Min, -7),
            (R::Prod, i32::MAX.wrapping_mul(-21)),
        ] {
            assert_eq!(
                reduced(operation, DataType::Signed32, &values),
                expected,
                "{operation}"
            );
        }
        let values = [u64::MAX, 1, 5];
        for (operation, expected) in [
            (R::Sum, 5),
            (R::Max, u64::MAX),
            (R::Min, 1),
            (R::Prod, u64::MAX.wrapping_mul(5)),
        ] {
            assert_eq!(
                reduced(operation, DataType::UInt64, &values),
                expected,
                "{operation}"
            );
        }
        assert_eq!(reduced(R::Mean, DataType::UInt8, &[250u8, 251, 255]), 252);
        assert_eq!(reduced(R::Mean, DataType::Int8, &[-1i8, -2]), -1);
    }
}
