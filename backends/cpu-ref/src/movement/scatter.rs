//! ScatterElements, ScatterNd and DynamicUpdateSlice.

use armnn_backend_api::{
    DynamicUpdateSliceDescriptor, LayerView, Result, ScatterElementsDescriptor, ScatterFunction,
    ScatterNdDescriptor, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, dense_strides},
    movement::gather_nd::{AlongAxis, IndexedDims},
    numbers::element_type::{COMPARABLES, INDICES, NUMBERS, Number, by_number, by_size},
    workloads::{
        copy::element_size,
        layer_checks::{
            dims, input, invalid, output, require_input, require_named, require_output,
            require_same_quantization,
        },
        workload_function::workload_function,
    },
};

fn check(layer: LayerView<'_>, function: ScatterFunction) -> Result<()> {
    require_named(function, function.name())?;
    let types = match function {
        ScatterFunction::Update => COMPARABLES,
        _ => NUMBERS,
    };
    require_output(layer, 0, types)?;
    let data_type = output(layer, 0)?.data_type();
    if function != ScatterFunction::Update && data_type.is_quantized() {
        // Sums and products of numbers with a scale need rescaling.
        return require_output(layer, 0, &[crate::workloads::layer_checks::FLOATS]);
    }
    require_input(layer, 0, &[&[data_type]])?;
    require_input(layer, 1, INDICES)?;
    require_input(layer, 2, &[&[data_type]])?;
    require_same_quantization(layer)
}

fn combine<N: Number>(function: ScatterFunction, to: &mut N::Stored, update: N::Stored) {
    let (old, new) = (N::load(*to), N::load(update));
    *to = match function {
        ScatterFunction::Add => old.add(new).store(),
        ScatterFunction::Sub => old.sub(new).store(),
        ScatterFunction::Mul => old.mul(new).store(),
        ScatterFunction::Max => old.larger(new).store(),
        ScatterFunction::Min => old.smaller(new).store(),
        // `check` lets nothing else through but Update.
        _ => update,
    };
}

pub(crate) fn check_elements(layer: LayerView<'_>, d: &ScatterElementsDescriptor) -> Result<()> {
    check(layer, d.function())
}

pub(crate) fn elements_workload(
    layer: LayerView<'_>,
    d: &ScatterElementsDescriptor,
) -> Result<Box<dyn Workload>> {
    let to = dims(layer, output(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    if dims(layer, input(layer, 0)?)? != to || dims(layer, input(layer, 2)?)? != indices {
        return Err(invalid(
            "input and output, or indices and updates, differ in shape",
        ));
    }
    let along = AlongAxis::new(d.axis, &to, &indices)?;
    let function = d.function();
    let index_type = input(layer, 1)?.data_type();
    by_number!(output(layer, 0)?.data_type(), N => workload_function(layer, 0, move |call| {
        let input = call.input::<<N as Number>::Stored>(0)?;
        let indices = call.indices(1, index_type)?;
        let updates = call.input(2)?;
        let out = call.output(0)?;
        out.copy_from_slice(input);
        along.for_each(indices, |position, at| {
            combine::<N>(function, &mut out[at], updates[position]);
        })
    }))
}

pub(crate) fn check_nd(layer: LayerView<'_>, d: &ScatterNdDescriptor) -> Result<()> {
    check(layer, d.function())
}

pub(crate) fn nd_workload(
    layer: LayerView<'_>,
    d: &ScatterNdDescriptor,
) -> Result<Box<dyn Workload>> {
    let to = dims(layer, output(layer, 0)?)?;
    let indices = dims(layer, input(layer, 1)?)?;
    let updates = dims(layer, input(layer, 2)?)?;
    let mismatch = || {
        invalid(format_args!(
            "vectors of {indices:?} do not lead updates of shape {updates:?} into {to:?}"
        ))
    };
    let (&vector, places) = indices.split_last().ok_or_else(mismatch)?;
    let rest = to.get(vector..).ok_or_else(mismatch)?;
    if dims(layer, input(layer, 0)?)? != to || [places, rest].concat() != updates {
        return Err(mismatch());
    }
    let slice_len: usize = rest.iter().product();
    let n_places: usize = match (vector, slice_len) {
        // Nothing, of which there may be any number.
        (0, 0) => 0,
        _ => places.iter().product(),
    };
    let indexed = IndexedDims::new(&to[..vector]);
    let function = d.function();
    let index_type = input(layer, 1)?.data_type();
    by_number!(output(layer, 0)?.data_type(), N => workload_function(layer, 0, move |call| {
        let input = call.input::<<N as Number>::Stored>(0)?;
        let indices = call.indices(1, index_type)?;
        let updates = call.input(2)?;
        let out = call.output(0)?;
        out.copy_from_slice(input);
        for place in 0..n_places {
            let at = indexed.position(indices, place * vector)? * slice_len;
            let updates = &updates[place * slice_len..][..slice_len];
            for (to, &update) in out[at..][..slice_len].iter_mut().zip(updates) {
                combine::<N>(function, to, update);
            }
        }
        Ok(())
    }))
}

pub(crate) fn check_dynamic_update_slice(
    layer: LayerView<'_>,
    _: &DynamicUpdateSliceDescriptor,
) -> Result<()> {
    let data_type = output(layer, 0)?.data_type();
    element_size(data_type)?;
    require_input(layer, 0, &[&[data_type]])?;
    require_input(layer, 1, &[&[data_type]])?;
    require_input(layer, 2, INDICES)?;
    require_same_quantization(layer)
}

pub(crate) fn dynamic_update_slice_workload(
    layer: LayerView<'_>,
    _: &DynamicUpdateSliceDescriptor,
) -> Result<Box<dyn Workload>> {
    let to = dims(layer, output(layer, 0)?)?;
    let update = dims(layer, input(layer, 1)?)?;
    let start = dims(layer, input(layer, 2)?)?;
    let fits = dims(layer, input(layer, 0)?)? == to
        && update.len() == to.len()
        && start == [to.len()]
        && update.iter().zip(&to).all(|(update, to)| update <= to);
    if !fits {
        return Err(invalid(format_args!(
            "an update of shape {update:?} at {start:?} numbers does not lie within {to:?}"
        )));
    }
    let strides = dense_strides(&to);
    let nest = LoopNest::new(&update, [&dense_strides(&update), &strides], [0, 0]);
    let last: Vec<usize> = to
        .iter()
        .zip(&update)
        .map(|(to, update)| to - update)
        .collect();
    let index_type = input(layer, 2)?.data_type();
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, move |call| {
        let (input, update) = (call.input::<W>(0)?, call.input::<W>(1)?);
        let start = call.indices(2, index_type)?;
        let out = call.output::<W>(0)?;
        out.copy_from_slice(input);
        let mut offset = 0;
        for (i, (&last, &stride)) in last.iter().zip(&strides).enumerate() {
            let start = usize::try_from(start.get(i).max(0)).unwrap_or(last).min(last);
            offset += start * stride as usize;
        }
        let strides = nest.row_strides();
        nest.for_each_row(|mut at| {
            for _ in 0..nest.row_len() {
                out[offset + at[1]] = update[at[0]];
                for (at, stride) in at.iter_mut().zip(strides) {
                    *at = at.wrapping_add_signed(stride);
                }
            }
        });
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, assert_refused, f32s, typed};

    fn scattered(d: impl Into<LayerDescriptor>, input: Tensor, inputs: [Tensor; 2]) -> Call {
        let call = Call::new(d).output_info(input.info.clone()).input(input);
        inputs.into_iter().fold(call, Call::input)
    }

    fn indices(shape: &[i64], indices: &[i32]) -> Tensor {
        typed(DataType::Signed32, Shape::new(shape).unwrap(), indices)
    }

    #[test]
    fn updates_go_along_an_axis() {
        // The second example of ONNX's documentation of ScatterElements.
        let data = f32s([1, 5], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let updates = f32s([1, 2], &[1.1, 2.1]);
        let at = |i: [i32; 2]| indices(&[1, 2], &i);
        let run = |function, i| {
            let d = ScatterElementsDescriptor::new(1, function);
            scattered(d, data.clone(), [at(i), updates.clone()])
        };
        let found = run(ScatterFunction::Update, [1, 3]).run().f32s();
        assert_eq!(found, [1.0, 1.1, 3.0, 2.1, 5.0]);
        let found = run(ScatterFunction::Add, [1, -4]).run().f32s();
        assert_eq!(found, [1.0, 2.0 + 1.1 + 2.1, 3.0, 4.0, 5.0]);
        let found = run(ScatterFunction::Max, [0, 4]).run().f32s();
        assert_eq!(found, [1.1, 2.0, 3.0, 4.0, 5.0]);
        let found = run(ScatterFunction::Min, [0, 4]).run().f32s();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 2.1]);
        assert!(
            run(ScatterFunction::Mul, [0, 5])
                .error()
                .contains("index 5")
        );
        let d = ScatterElementsDescriptor::new(0, ScatterFunction::Mul);
        let data = typed(DataType::Signed64, [2, 2], &[1i64, 2, 3, 4]);
        let updates = typed(DataType::Signed64, [1, 2], &[5i64, -6]);
        let found = scattered(d, data, [indices(&[1, 2], &[1, 0]), updates]).run();
        assert_eq!(found.elements::<i64>(0), [1, -12, 15, 4]);
    }

    #[test]
    fn slices_go_where_vectors_lead() {
        let data = f32s([3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let updates = f32s([2, 2], &[10.0, 20.0, 30.0, 40.0]);
        let run = |function, i: [i32; 2]| {
            let d = ScatterNdDescriptor::new(function);
            scattered(d, data.clone(), [indices(&[2, 1], &i), updates.clone()])
        };
        let found = run(ScatterFunction::Update, [2, 0]).run().f32s();
        assert_eq!(found, [30.0, 40.0, 3.0, 4.0, 10.0, 20.0]);
        let found = run(ScatterFunction::Sub, [1, 1]).run().f32s();
        assert_eq!(found, [1.0, 2.0, -37.0, -56.0, 5.0, 6.0]);
        assert!(
            run(ScatterFunction::Update, [3, 0])
                .error()
                .contains("index 3")
        );
        // One number for each vector of both dimensions.
        let d = ScatterNdDescriptor::new(ScatterFunction::Update);
        let inputs = [indices(&[2], &[-1, 1]), f32s([], &[9.0])];
        let found = scattered(d, data.clone(), inputs).run().f32s();
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]);
        let booleans = typed(DataType::Boolean, [2], &[0u8, 0]);
        let inputs = [
            indices(&[1, 1], &[1]),
            typed(DataType::Boolean, [1], &[1u8]),
        ];
        let found = scattered(d, booleans.clone(), inputs.clone()).run();
        assert_eq!(found.elements::<u8>(0), [0, 1]);
        let sum = ScatterNdDescriptor::new(ScatterFunction::Add);
        assert_refused(&scattered(sum, booleans, inputs), &["Boolean"]);
    }

    #[test]
    fn an_update_is_moved_to_lie_within() {
        let data = f32s([3, 3], &[0.0; 9]);
        let updates = f32s([2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let run = |start: [i32; 2]| {
            let call = Call::new(DynamicUpdateSliceDescriptor::new())
                .input(data.clone())
                .input(updates.clone())
                .input(indices(&[2], &start))
                .output(DataType::Float32, [3, 3]);
            call.run().f32s()
        };
        assert_eq!(run([0, 1]), [0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0]);
        assert_eq!(run([7, -5]), [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0]);
    }
}
