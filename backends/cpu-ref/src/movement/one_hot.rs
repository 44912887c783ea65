//! OneHot.

use armnn_backend_api::{LayerView, OneHotDescriptor, Result, Workload};

use crate::{
    numbers::element_type::{INDICES, by_size, position_of},
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, invalid, num_elements, output, require_input, require_same_quantization,
        },
        workload_function::workload_function,
    },
};

pub(crate) fn check(layer: LayerView<'_>, _: &OneHotDescriptor) -> Result<()> {
    require_input(layer, 0, INDICES)?;
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 1, &[&[data_type]])?;
    require_input(layer, 2, &[&[data_type]])?;
    require_same_quantization(layer)
}

pub(crate) fn workload(layer: LayerView<'_>, d: &OneHotDescriptor) -> Result<Box<dyn Workload>> {
    let indices = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    let mut without = to.clone();
    let fits = axis < to.len() && {
        without.remove(axis);
        without == indices
    };
    let values = [input(layer, 1)?, input(layer, 2)?];
    for value in values {
        if num_elements(layer, value)? != 1 {
            return Err(invalid("a value is not one element"));
        }
    }
    if !fits {
        return Err(invalid(format_args!(
            "indices of shape {indices:?} with dimension {axis} put in do not lead to {to:?}"
        )));
    }
    let depth = to[axis];
    let inner: usize = to[axis + 1..].iter().product();
    let wraps = d.wrap_negative == 1;
    let index_type = input(layer, 0)?.data_type();
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let indices = call.indices(0, index_type)?;
        let (on, off) = (call.input::<W>(1)?[0], call.input::<W>(2)?[0]);
        let out = call.output::<W>(0)?;
        out.fill(off);
        for position in 0..indices.len() {
            let index = indices.get(position);
            let chosen = match index < 0 && !wraps {
                true => None,
                false => position_of(index, depth),
            };
            if let Some(chosen) = chosen {
                let (before, after) = (position / inner, position % inner);
                out[(before * depth + chosen) * inner + after] = on;
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, Shape};

    use super::*;
    use crate::test_harness::{Call, assert_refused, f32s, typed};

    fn one_hot(axis: u32, wrap_negative: u32, out: &[i64]) -> Vec<f32> {
        let d = OneHotDescriptor {
            axis,
            wrap_negative,
        };
        let call = Call::new(d)
            .input(typed(DataType::Signed32, [4], &[1, 0, -1, 5]))
            .input(f32s([], &[9.0]))
            .input(f32s([1], &[0.5]))
            .output(DataType::Float32, Shape::new(out).unwrap());
        call.run().f32s()
    }

    #[test]
    fn the_index_is_on_and_all_else_off() {
        let (on, off) = (9.0, 0.5);
        let expected = [[off, on, off], [on, off, off], [off; 3], [off; 3]];
        assert_eq!(one_hot(1, 0, &[4, 3]), expected.concat());
        let wrapped = [expected[0], expected[1], [off, off, on], [off; 3]];
        assert_eq!(one_hot(1, 1, &[4, 3]), wrapped.concat());
        let turned: Vec<f32> = (0..3).flat_map(|i| expected.map(|row| row[i])).collect();
        assert_eq!(one_hot(0, 0, &[3, 4]), turned);
        assert!(one_hot(0, 0, &[0, 4]).is_empty());
    }

    #[test]
    fn indices_that_are_no_integers_are_refused() {
        let d = OneHotDescriptor {
            axis: 0,
            wrap_negative: 0,
        };
        let call = Call::new(d)
            .input(f32s([1], &[0.0]))
            .input(f32s([], &[1.0]))
            .input(f32s([], &[0.0]))
            .output(DataType::Float32, [2, 1]);
        assert_refused(&call, &["the type of indices is Float32"]);
    }
}
