//! ElementwiseBinary of integers, which wrap around.

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, BinaryOperation, Element, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    element_workload::{Kernel, element_workload},
    float_workload::MAX_INPUTS,
    loop_nest::{LoopNest, map_pairs},
};

pub(super) fn workload<T: Integer>(
    layer: LayerView<'_>,
    operation: BinaryOperation,
    nest: LoopNest<2>,
) -> Result<Box<dyn Workload>> {
    let kernel = IntegerBinary::<T> {
        operation,
        nest,
        integer: PhantomData,
    };
    element_workload(layer, kernel)
}

struct IntegerBinary<T> {
    operation: BinaryOperation,
    nest: LoopNest<2>,
    integer: PhantomData<fn(T)>,
}

impl<T: Integer> Kernel for IntegerBinary<T> {
    type Input = T;
    type Output = T;

    fn run(
        &self,
        _context: &ExecutionContext<'_, Synchronous>,
        _scratch: &mut [i64],
        [x, y, _]: [&[T]; MAX_INPUTS],
        out: &mut [T],
    ) -> Result<()> {
        let nest = &self.nest;
        match self.operation {
            BinaryOperation::Add => map_pairs(nest, x, y, out, T::add),
            BinaryOperation::Sub => map_pairs(nest, x, y, out, T::sub),
            BinaryOperation::Mul => map_pairs(nest, x, y, out, T::mul),
            BinaryOperation::Div => {
                if y.contains(&T::ZERO) {
                    return Err(BackendError::new("division by 0"));
                }
                map_pairs(nest, x, y, out, T::div);
            }
            BinaryOperation::Maximum => map_pairs(nest, x, y, out, T::max),
            BinaryOperation::Minimum => map_pairs(nest, x, y, out, T::min),
            BinaryOperation::SqDiff => {
                map_pairs(nest, x, y, out, |x, y| T::mul(T::sub(x, y), T::sub(x, y)));
            }
            BinaryOperation::Power => map_pairs(nest, x, y, out, T::power),
            other => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
        }
        Ok(())
    }
}

/// Integers that wrap around on overflow.
pub(super) trait Integer: Element + Ord {
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `other` is not 0.
    fn div(self, other: Self) -> Self;
    /// Rounds towards zero where the exponent is negative; 0 to a negative power is 0.
    fn power(self, exponent: Self) -> Self;
}

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Integer for $T {
            const ZERO: Self = 0;

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn div(self, other: Self) -> Self {
                self.wrapping_div(other)
            }

            #[allow(unused_comparisons)]
            fn power(self, mut exponent: Self) -> Self {
                if exponent < 0 {
                    // The reciprocal of 1 or -1 is itself; of any other number, nothing is left.
                    return match self {
                        1 => 1,
                        other if other.wrapping_add(1) == 0 => {
                            if exponent % 2 == 0 { 1 } else { other }
                        }
                        _ => 0,
                    };
                }
                let (mut base, mut result) = (self, 1);
                while exponent > 0 {
                    if exponent % 2 == 1 {
                        result = <$T>::wrapping_mul(result, base);
                    }
                    base = base.wrapping_mul(base);
                    exponent /= 2;
                }
                result
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
