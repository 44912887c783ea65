//! Layers that repeat or reverse their input: BroadcastTo, Fill, ReverseV2, Stack, Tile.

use armnn_backend_api::{
    BroadcastToDescriptor, FillDescriptor, LayerView, Result, ReverseV2Descriptor, StackDescriptor,
    TileDescriptor, Workload,
};

use crate::{
    loops::loop_nest::{LoopNest, broadcast_strides, dense_strides},
    numbers::element_type::by_size,
    workloads::{
        copy::{self, BoxCopy, copy_workload, element_size},
        layer_checks::{dims, input, invalid, num_elements, output},
        workload_function::workload_function,
    },
};

pub(crate) fn check_broadcast_to(layer: LayerView<'_>, _: &BroadcastToDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn broadcast_to_workload(
    layer: LayerView<'_>,
    _: &BroadcastToDescriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let strides = broadcast_strides(&from, &to)
        .ok_or_else(|| invalid(format_args!("{from:?} does not broadcast to {to:?}")))?;
    copy_once(
        layer,
        LoopNest::new(&to, [&strides, &dense_strides(&to)], [0, 0]),
    )
}

pub(crate) fn check_tile(layer: LayerView<'_>, _: &TileDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn tile_workload(layer: LayerView<'_>, _: &TileDescriptor) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    let fits = from.len() == to.len()
        && from.iter().zip(&to).all(|(&from, &to)| match from {
            0 => to == 0,
            from => to % from == 0,
        });
    if !fits {
        return Err(invalid(format_args!(
            "copies of {from:?} do not make up {to:?}"
        )));
    }
    // Each dimension is one of copies and one of the input.
    let (input_strides, output_strides) = (dense_strides(&from), dense_strides(&to));
    let mut sizes = Vec::with_capacity(2 * from.len());
    let (mut from_strides, mut to_strides) = (vec![], vec![]);
    for axis in 0..from.len() {
        sizes.extend([to[axis].checked_div(from[axis]).unwrap_or(0), from[axis]]);
        from_strides.extend([0, input_strides[axis]]);
        let stride = output_strides[axis];
        to_strides.extend([stride.saturating_mul(from[axis] as isize), stride]);
    }
    copy_once(
        layer,
        LoopNest::new(&sizes, [&from_strides, &to_strides], [0, 0]),
    )
}

pub(crate) fn check_reverse(layer: LayerView<'_>, _: &ReverseV2Descriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn reverse_workload(
    layer: LayerView<'_>,
    d: &ReverseV2Descriptor,
) -> Result<Box<dyn Workload>> {
    let from = dims(layer, input(layer, 0)?)?;
    let to = dims(layer, output(layer, 0)?)?;
    if from != to || d.axes().iter().any(|&axis| axis as usize >= from.len()) {
        return Err(invalid(format_args!(
            "reversing {:?} of {from:?} does not lead to {to:?}",
            d.axes()
        )));
    }
    let dense = dense_strides(&from);
    let mut strides = dense.clone();
    let mut start = 0;
    if !from.contains(&0) {
        for &axis in d.axes() {
            let axis = axis as usize;
            start += (from[axis] - 1) * dense[axis] as usize;
            strides[axis] = -dense[axis];
        }
    }
    copy_once(layer, LoopNest::new(&from, [&strides, &dense], [start, 0]))
}

pub(crate) fn check_stack(layer: LayerView<'_>, _: &StackDescriptor) -> Result<()> {
    copy::check(layer)
}

pub(crate) fn stack_workload(
    layer: LayerView<'_>,
    d: &StackDescriptor,
) -> Result<Box<dyn Workload>> {
    let to = dims(layer, output(layer, 0)?)?;
    let axis = d.axis as usize;
    let n_inputs = layer.input_indices().len();
    if to.get(axis) != Some(&n_inputs) {
        return Err(invalid(format_args!(
            "stacking {n_inputs} tensors along dimension {axis} does not lead to {to:?}"
        )));
    }
    let mut part = to.clone();
    part.remove(axis);
    let mut to_strides = dense_strides(&to);
    let step = to_strides.remove(axis) as usize;
    let copies = (0..n_inputs)
        .map(|position| {
            let from = dims(layer, input(layer, position)?)?;
            if from != part {
                return Err(invalid(format_args!(
                    "tensors of shape {from:?} do not make up {to:?}"
                )));
            }
            let strides = [&dense_strides(&part)[..], &to_strides];
            Ok(BoxCopy {
                input: position,
                output: 0,
                nest: LoopNest::new(&part, strides, [0, position * step]),
            })
        })
        .collect::<Result<_>>()?;
    copy_workload(layer, copies, None)
}

pub(crate) fn check_fill(layer: LayerView<'_>, _: &FillDescriptor) -> Result<()> {
    element_size(output(layer, 0)?.data_type())?;
    copy::check(layer)
}

pub(crate) fn fill_workload(layer: LayerView<'_>, _: &FillDescriptor) -> Result<Box<dyn Workload>> {
    if num_elements(layer, input(layer, 0)?)? != 1 {
        return Err(invalid("the value is not one element"));
    }
    by_size!(output(layer, 0)?.data_type(), W => workload_function(layer, 0, |call| {
        let value = call.input::<W>(0)?[0];
        call.output::<W>(0)?.fill(value);
        Ok(())
    }))
}

fn copy_once(layer: LayerView<'_>, nest: LoopNest<2>) -> Result<Box<dyn Workload>> {
    let copy = BoxCopy {
        input: 0,
        output: 0,
        nest,
    };
    copy_workload(layer, vec![copy], None)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, LayerDescriptor, Shape};

    use super::*;
    use crate::test_harness::{Call, Tensor, f16s, f32s, typed};

    fn moved(d: impl Into<LayerDescriptor>, inputs: &[Tensor], out: &[i64]) -> Call {
        let mut info = inputs[0].info.clone();
        info.shape = Shape::new(out).unwrap();
        let call = Call::new(d).output_info(info);
        inputs
            .iter()
            .fold(call, |call, input| call.input(input.clone()))
    }

    #[test]
    fn a_tensor_is_broadcast() {
        let d = BroadcastToDescriptor::new();
        let column = typed(DataType::Signed32, [2, 1], &[1, 2]);
        let found = moved(d, std::slice::from_ref(&column), &[2, 2, 3]).run();
        let twice = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2];
        assert_eq!(found.elements::<i32>(0), twice);
        assert!(
            moved(d, &[column], &[3, 3])
                .error()
                .contains("does not broadcast")
        );
    }

    #[test]
    fn a_tensor_is_tiled_along_every_dimension() {
        let input = f16s([2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let d = TileDescriptor::new(&[2, 3]).unwrap();
        let found = moved(d, &[input], &[4, 6]).run().f16s();
        let rows = [
            [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
            [3.0, 4.0, 3.0, 4.0, 3.0, 4.0],
        ];
        assert_eq!(found, [rows[0], rows[1], rows[0], rows[1]].concat());
        // Dimensions that cannot be merged: 8 of them, cut in two.
        let input = typed(DataType::UInt8, [2; 8], &(0..=255).collect::<Vec<u8>>());
        let d = TileDescriptor::new(&[2; 8]).unwrap();
        let found = moved(d, &[input], &[4; 8]).run().elements::<u8>(0);
        for (position, &x) in found.iter().enumerate() {
            // The coordinates are digits of base 4 there, and of base 2 in the input.
            let expected: usize = (0..8).map(|i| (position >> (2 * i) & 1) << i).sum();
            assert_eq!(usize::from(x), expected, "{position}");
        }
        let none = f32s([0, 2], &[]);
        let d = TileDescriptor::new(&[2, 2]).unwrap();
        assert!(moved(d, &[none], &[0, 4]).run().f32s().is_empty());
    }

    #[test]
    fn a_tensor_is_reversed() {
        let input = f32s([2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let reversed = |axes: &[u32]| {
            let d = ReverseV2Descriptor::new(axes).unwrap();
            moved(d, std::slice::from_ref(&input), &[2, 3]).run().f32s()
        };
        assert_eq!(reversed(&[1]), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(reversed(&[0]), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
        assert_eq!(reversed(&[1, 0]), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(reversed(&[]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn tensors_are_stacked() {
        let inputs = [f32s([2], &[1.0, 2.0]), f32s([2], &[3.0, 4.0])];
        let first = moved(StackDescriptor { axis: 0 }, &inputs, &[2, 2]);
        assert_eq!(first.run().f32s(), [1.0, 2.0, 3.0, 4.0]);
        let last = moved(StackDescriptor { axis: 1 }, &inputs, &[2, 2]);
        assert_eq!(last.run().f32s(), [1.0, 3.0, 2.0, 4.0]);
        let wrong = moved(StackDescriptor { axis: 1 }, &inputs, &[2, 3]);
        assert!(wrong.error().contains("does not lead"));
    }

    #[test]
    fn a_value_fills_a_shape() {
        let value = typed(DataType::Signed64, [], &[7i64]);
        let found = moved(FillDescriptor::new(), &[value], &[2, 2]).run();
        assert_eq!(found.elements::<i64>(0), [7; 4]);
    }
}
