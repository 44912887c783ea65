//! ElementwiseBinary of integers, which wrap around.

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, BinaryOperation, Element, ExecutionContext, LayerView, Result, Synchronous,
    Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, map_pairs},
    workloads::{
        element_workload::{Kernel, element_workload},
        float_workload::MAX_INPUTS,
    },
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
            BinaryOperation::Div
            | BinaryOperation::FloorDiv
            | BinaryOperation::FloorMod
            | BinaryOperation::TruncateMod => {
                if y.contains(&T::ZERO) {
                    return Err(BackendError::new("division by 0"));
                }
                match self.operation {
                    BinaryOperation::FloorDiv => map_pairs(nest, x, y, out, T::floor_div),
                    BinaryOperation::FloorMod => map_pairs(nest, x, y, out, T::floor_mod),
                    BinaryOperation::TruncateMod => map_pairs(nest, x, y, out, T::truncate_mod),
                    _ => map_pairs(nest, x, y, out, T::div),
                }
            }
            BinaryOperation::BitwiseAnd => map_pairs(nest, x, y, out, T::and),
            BinaryOperation::BitwiseOr => map_pairs(nest, x, y, out, T::or),
            BinaryOperation::BitwiseXor => map_pairs(nest, x, y, out, T::xor),
            BinaryOperation::ShiftLeft => map_pairs(nest, x, y, out, T::shift_left),
            BinaryOperation::ShiftRight => map_pairs(nest, x, y, out, T::shift_right),
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
    /// `other` is not 0.
    fn floor_div(self, other: Self) -> Self;
    /// `other` is not 0.
    fn floor_mod(self, other: Self) -> Self;
    /// `other` is not 0.
    fn truncate_mod(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn shift_left(self, bits: Self) -> Self;
    fn shift_right(self, bits: Self) -> Self;
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
            fn floor_div(self, other: Self) -> Self {
                let quotient = self.wrapping_div(other);
                match self.wrapping_rem(other) != 0 && (self < 0) != (other < 0) {
                    true => quotient.wrapping_sub(1),
                    false => quotient,
                }
            }

            #[allow(unused_comparisons)]
            fn floor_mod(self, other: Self) -> Self {
                let rest = self.wrapping_rem(other);
                match rest != 0 && (rest < 0) != (other < 0) {
                    true => rest.wrapping_add(other),
                    false => rest,
                }
            }

            fn truncate_mod(self, other: Self) -> Self {
                self.wrapping_rem(other)
            }

            fn and(self, other: Self) -> Self {
                self & other
            }

            fn or(self, other: Self) -> Self {
                self | other
            }

            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            fn shift_left(self, bits: Self) -> Self {
                let bits = u32::try_from(bits).ok();
                bits.and_then(|bits| self.checked_shl(bits)).unwrap_or(0)
            }

            fn shift_right(self, bits: Self) -> Self {
                let bits = u32::try_from(bits).unwrap_or(u32::MAX);
                // What is left of all bits is the sign.
                self >> bits.min(<$T>::BITS - 1) >> u32::from(bits >= <$T>::BITS)
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
