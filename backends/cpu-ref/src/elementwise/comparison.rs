//! Comparison.

mod quantized;

use std::marker::PhantomData;

use armnn_backend_api::{
    BackendError, ComparisonDescriptor, ComparisonOperation, DataType, ExecutionContext, Inputs,
    LayerView, Outputs, Result, Synchronous, Workload,
};
use half::{bf16, f16};

use crate::{
    conversion::cast::{Bool, Scalar, TYPES},
    elementwise::elementwise_binary::broadcast_nest,
    loops::loop_nest::{LoopNest, map_pairs},
    numbers::quantized_arithmetic::QUANTIZED,
    workloads::{
        float_workload::{input_elements, output_elements},
        layer_checks::{input, num_elements, output, require_input, require_named, require_output},
    },
};

pub(crate) fn check(layer: LayerView<'_>, descriptor: &ComparisonDescriptor) -> Result<()> {
    let operation = descriptor.operation();
    require_named(operation, operation.name())?;
    require_output(layer, 0, &[&[DataType::Boolean]])?;
    require_input(layer, 0, &[TYPES, QUANTIZED])?;
    require_input(layer, 1, &[&[input(layer, 0)?.data_type()]])?;
    match input(layer, 0)?.data_type().is_quantized() {
        true => quantized::check(layer),
        false => Ok(()),
    }
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    descriptor: &ComparisonDescriptor,
) -> Result<Box<dyn Workload>> {
    let plan = Plan {
        operation: descriptor.operation(),
        nest: broadcast_nest(layer)?,
        input_lens: [
            num_elements(layer, input(layer, 0)?)?,
            num_elements(layer, input(layer, 1)?)?,
        ],
        output_len: num_elements(layer, output(layer, 0)?)?,
    };
    Ok(match input(layer, 0)?.data_type() {
        DataType::Float16 => boxed::<f16>(plan),
        DataType::Float32 => boxed::<f32>(plan),
        DataType::Float64 => boxed::<f64>(plan),
        DataType::BFloat16 => boxed::<bf16>(plan),
        DataType::Int8 => boxed::<i8>(plan),
        DataType::Int16 => boxed::<i16>(plan),
        DataType::Signed32 => boxed::<i32>(plan),
        DataType::Signed64 => boxed::<i64>(plan),
        DataType::UInt8 => boxed::<u8>(plan),
        DataType::UInt16 => boxed::<u16>(plan),
        DataType::UInt32 => boxed::<u32>(plan),
        DataType::UInt64 => boxed::<u64>(plan),
        quantized if quantized.is_quantized() => quantized::workload(layer, plan)?,
        // `check` lets nothing else through but Boolean.
        _ => boxed::<Bool>(plan),
    })
}

struct Plan {
    operation: ComparisonOperation,
    nest: LoopNest<2>,
    input_lens: [usize; 2],
    output_len: usize,
}

struct Comparison<T> {
    plan: Plan,
    element: PhantomData<fn(T)>,
}

fn boxed<T: Scalar + PartialOrd>(plan: Plan) -> Box<dyn Workload> {
    Box::new(Comparison::<T> {
        plan,
        element: PhantomData,
    })
}

impl<T: Scalar + PartialOrd> Workload for Comparison<T> {
    fn execute(
        &self,
        _context: &mut ExecutionContext<'_, Synchronous>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        let plan = &self.plan;
        let x = input_elements::<T::Bits>(inputs, 0, plan.input_lens[0])?;
        let y = input_elements::<T::Bits>(inputs, 1, plan.input_lens[1])?;
        let out = output_elements::<u8>(outputs, 0, plan.output_len)?;
        let nest = &plan.nest;
        match plan.operation {
            ComparisonOperation::Equal => compare::<T>(nest, x, y, out, |x, y| x == y),
            ComparisonOperation::NotEqual => compare::<T>(nest, x, y, out, |x, y| x != y),
            ComparisonOperation::Greater => compare::<T>(nest, x, y, out, |x, y| x > y),
            ComparisonOperation::GreaterOrEqual => compare::<T>(nest, x, y, out, |x, y| x >= y),
            ComparisonOperation::Less => compare::<T>(nest, x, y, out, |x, y| x < y),
            ComparisonOperation::LessOrEqual => compare::<T>(nest, x, y, out, |x, y| x <= y),
            other => {
                return Err(BackendError::unsupported(format!(
                    "{other} is not known here"
                )));
            }
        }
        Ok(())
    }
}

fn compare<T: Scalar>(
    nest: &LoopNest<2>,
    x: &[T::Bits],
    y: &[T::Bits],
    out: &mut [u8],
    f: impl Fn(T, T) -> bool,
) {
    map_pairs(nest, x, y, out, |x, y| {
        u8::from(f(T::from_bits(x), T::from_bits(y)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f16s, f32s, typed};

    fn compared(operation: ComparisonOperation, x: Tensor, y: Tensor, out: [i64; 1]) -> Vec<u8> {
        let call = Call::new(ComparisonDescriptor::new(operation))
            .input(x)
            .input(y)
            .output(DataType::Boolean, out);
        call.run().elements(0)
    }

    const CASES: [(ComparisonOperation, [u8; 4]); 6] = [
        (ComparisonOperation::Equal, [0, 1, 0, 0]),
        (ComparisonOperation::NotEqual, [1, 0, 1, 1]),
        (ComparisonOperation::Less, [1, 0, 0, 0]),
        (ComparisonOperation::LessOrEqual, [1, 1, 0, 0]),
        (ComparisonOperation::Greater, [0, 0, 1, 0]),
        (ComparisonOperation::GreaterOrEqual, [0, 1, 1, 0]),
    ];

    #[test]
    fn nan_is_not_equal_to_anything() {
        for (operation, expected) in CASES {
            let values = [-1.0, 0.0, 1.0, f32::NAN];
            let zero = [0.0, -0.0, 0.0, f32::NAN];
            let found = compared(operation, f32s([4], &values), f32s([4], &zero), [4]);
            assert_eq!(found, expected, "{operation}");
            let found = compared(operation, f16s([4], &values), f16s([4], &zero), [4]);
            assert_eq!(found, expected, "{operation}");
        }
    }

    #[test]
    fn whole_numbers_of_every_size_broadcast() {
        for (operation, expected) in CASES {
            let i32s = typed(DataType::Signed32, [3], &[-1, 0, 1]);
            let zero = typed(DataType::Signed32, armnn_backend_api::Shape::SCALAR, &[0]);
            assert_eq!(
                compared(operation, i32s, zero, [3]),
                expected[..3],
                "{operation}"
            );
            let u64s = typed(DataType::UInt64, [3], &[1, u64::MAX - 1, u64::MAX]);
            let y = typed(DataType::UInt64, [1], &[u64::MAX - 1]);
            assert_eq!(
                compared(operation, u64s, y, [3]),
                expected[..3],
                "{operation}"
            );
        }
        let booleans = typed(DataType::Boolean, [2], &[0u8, 1]);
        let one = typed(DataType::Boolean, [1], &[1u8]);
        assert_eq!(
            compared(ComparisonOperation::Equal, booleans, one, [2]),
            [0, 1]
        );
    }

    #[test]
    fn inputs_of_two_types_are_refused() {
        let call = Call::new(ComparisonDescriptor::new(ComparisonOperation::Less))
            .input(f32s([1], &[0.0]))
            .input(f16s([1], &[0.0]))
            .output(DataType::Boolean, [1]);
        assert_refused(&call, &["the type of y is Float16; supported: Float32"]);
    }
}
