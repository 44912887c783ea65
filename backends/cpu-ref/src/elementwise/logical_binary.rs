//! LogicalBinary.

use armnn_backend_api::{
    DataType, LayerView, LogicalBinaryDescriptor, LogicalBinaryOperation, Result, Workload,
};

use crate::{
    elementwise::elementwise_binary::broadcast_nest,
    loops::loop_nest::map_pairs,
    workloads::{
        layer_checks::{require_named, require_one_type},
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, d: &LogicalBinaryDescriptor) -> Result<()> {
    require_named(d.operation(), d.operation().name())?;
    require_one_type(layer, &[&[DataType::Boolean]])
}

pub(crate) fn workload(
    layer: LayerView<'_>,
    d: &LogicalBinaryDescriptor,
) -> Result<Box<dyn Workload>> {
    let nest = broadcast_nest(layer)?;
    let f: fn(bool, bool) -> bool = match d.operation() {
        LogicalBinaryOperation::LogicalAnd => |x, y| x && y,
        LogicalBinaryOperation::LogicalOr => |x, y| x || y,
        // `check` lets nothing else through but LogicalXor.
        _ => |x, y| x != y,
    };
    workload_function(layer, 0, move |call| {
        let (x, y) = (call.input::<u8>(0)?, call.input::<u8>(1)?);
        let f = |x: u8, y: u8| u8::from(f(x != 0, y != 0));
        map_pairs(&nest, x, y, call.output(0)?, f);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_harness::{Call, assert_refused, f32s, typed};

    #[test]
    fn pairs_of_booleans_are_combined() {
        for (operation, expected) in [
            (LogicalBinaryOperation::LogicalAnd, [0, 0, 0, 1]),
            (LogicalBinaryOperation::LogicalOr, [0, 1, 1, 1]),
            (LogicalBinaryOperation::LogicalXor, [0, 1, 1, 0]),
        ] {
            let call = Call::new(LogicalBinaryDescriptor::new(operation))
                .input(typed(DataType::Boolean, [2, 1], &[0u8, 1]))
                .input(typed(DataType::Boolean, [2], &[0u8, 1]))
                .output(DataType::Boolean, [2, 2]);
            assert_eq!(call.run().elements::<u8>(0), expected, "{operation}");
        }
        let call = Call::new(LogicalBinaryDescriptor::new(
            LogicalBinaryOperation::LogicalOr,
        ))
        .input(f32s([1], &[1.0]))
        .input(f32s([1], &[1.0]))
        .output(DataType::Boolean, [1]);
        assert_refused(&call, &["Float32"]);
    }
}
