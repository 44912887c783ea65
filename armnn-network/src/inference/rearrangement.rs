//! Layers that put elements elsewhere: Concat, Pad, Reshape, Transpose.

use armnn_backend_api::{
    ConcatDescriptor, LayerDescriptor as D, PadDescriptor, PaddingMode, Shape, TransposeDescriptor,
};

use super::dimension::{UNKNOWN, known, merge_dim, shape_of, with_dims};
use super::{Arguments, Result, axis_of, bad_field, entry_for_each_dimension, named};
use crate::error::LayerProblem;

pub(super) fn output_shape(descriptor: &D, arguments: &Arguments<'_>) -> Result<Shape> {
    match descriptor {
        D::Concat(d) => concat(d, arguments),
        D::Pad(d) => pad(d, arguments),
        D::Reshape(_) => reshape(arguments),
        D::Transpose(d) => transpose(d, arguments.input(0)?),
        _ => Err(LayerProblem::UnknownLayerType),
    }
}

fn concat(d: &ConcatDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let first = arguments.input(0)?;
    let axis = axis_of(d.axis, first)?;
    let mut dims = first.dims().to_vec();
    for index in 1..arguments.shapes.inputs.len() {
        let input = arguments.input_of_rank(index, first.rank())?;
        for (i, (to, &dim)) in dims.iter_mut().zip(input.dims()).enumerate() {
            *to = if i != axis {
                merge_dim(*to, dim).ok_or_else(|| {
                    arguments.dimension_problem(
                        index,
                        i,
                        *to,
                        "only the joined dimension may differ among the inputs",
                    )
                })?
            } else if let (Some(sum), Some(dim)) = (known(*to), known(dim)) {
                sum.checked_add(dim).ok_or(LayerProblem::Overflow {
                    what: "the size of the joined dimension",
                })?
            } else {
                UNKNOWN
            };
        }
    }
    shape_of(&dims)
}

fn pad(d: &PadDescriptor, arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let mode = d.padding_mode();
    named("padding_mode", mode.0, mode.name())?;
    entry_for_each_dimension(d.rank, input)?;
    let mut dims = input.dims().to_vec();
    for (axis, dim) in dims.iter_mut().enumerate() {
        let pads = [
            ("pad_before", d.before()[axis]),
            ("pad_after", d.after()[axis]),
        ];
        for (field, amount) in pads {
            if amount < 0 {
                let rule = "at least 0; use StridedSlice to take elements away";
                return Err(bad_field(field, amount, rule));
            }
            // Mirrored elements come from the input.
            let available = match (mode, known(*dim)) {
                (PaddingMode::Reflect, Some(dim)) => (dim - 1).max(0),
                (PaddingMode::Symmetric, Some(dim)) => dim,
                _ => i64::MAX,
            };
            if amount > available {
                let rule = format!(
                    "at most {available} along dimension {axis}, as {mode} mirrors the input {input}"
                );
                return Err(bad_field(field, amount, rule));
            }
        }
        let [(_, before), (_, after)] = pads;
        *dim = match known(*dim) {
            Some(size) => size
                .checked_add(before)
                .and_then(|n| n.checked_add(after))
                .ok_or(LayerProblem::Overflow {
                    what: "the size of the padded dimension",
                })?,
            None => UNKNOWN,
        };
    }
    shape_of(&dims)
}

fn reshape(arguments: &Arguments<'_>) -> Result<Shape> {
    let input = arguments.input(0)?;
    let target = arguments.declared(0).ok_or(LayerProblem::Undeclared {
        output: "the output".to_owned(),
        what: "the shape",
    })?;
    let Some(elements) = input.num_elements() else {
        if input.is_known() {
            return Err(LayerProblem::Overflow {
                what: "the number of elements",
            });
        }
        return Ok(target);
    };
    let mismatch = || LayerProblem::Elements {
        input: Box::new(input),
        elements,
        target: Box::new(target),
    };
    if target.is_known() {
        return match target.num_elements() == Some(elements) {
            true => Ok(target),
            false => Err(mismatch()),
        };
    }
    let mut unknown = (0..target.rank()).filter(|&i| target.dims()[i] < 0);
    let (Some(axis), others_known) = (unknown.next(), unknown.next().is_none()) else {
        return Ok(target);
    };
    // The product of the dimensions that are known.
    let rest = with_dims(target, target.dims().iter().map(|&d| d.abs()).enumerate());
    let Some(rest) = rest.num_elements() else {
        return Err(mismatch());
    };
    match elements.checked_rem(rest) {
        // Any size would do for the unknown dimension.
        None if elements == 0 => Ok(target),
        Some(0) if others_known => {
            let size = i64::try_from(elements / rest).map_err(|_| mismatch())?;
            Ok(with_dims(target, [(axis, size)]))
        }
        Some(0) => Ok(target),
        _ => Err(mismatch()),
    }
}

fn transpose(d: &TransposeDescriptor, input: Shape) -> Result<Shape> {
    entry_for_each_dimension(d.rank, input)?;
    let permutation = d.permutation();
    let mut dims = [0; Shape::MAX_RANK];
    for (i, &from) in permutation.iter().enumerate() {
        let size = input.dims().get(from as usize);
        let (Some(&size), false) = (size, permutation[..i].contains(&from)) else {
            let rule = "each dimension of the input, once";
            return Err(bad_field("permutation", format!("{permutation:?}"), rule));
        };
        dims[i] = size;
    }
    shape_of(&dims[..input.rank()])
}
