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
                (PaddingMode::Edge | PaddingMode::Wrap, Some(0)) => 0,
                _ => i64::MAX,
            };
            if amount > available {
                let rule = format!(
                    "at most {available} along dimension {axis}, as {mode} repeats the input {input}"
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

#[cfg(test)]
mod tests {
    use armnn_backend_api::ReshapeDescriptor;

    use super::super::tests::{refused_field, shape_after};
    use super::super::{LayerShapes, output_shapes};
    use super::*;

    #[test]
    fn joined_sizes_add_up() {
        let d = ConcatDescriptor { axis: 1 };
        let inputs = [[1, 512, 1], [1, 384, 1]].map(Shape::from);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([1, 896, 1])));
        let inputs = [[-1, 2], [3, -1], [-1, 4]].map(Shape::from);
        assert_eq!(shape_after(d, &inputs), Ok(Shape::from([3, -1])));
        assert_eq!(
            shape_after(d, &[Shape::from([2, 3])]),
            Ok(Shape::from([2, 3]))
        );
    }

    #[test]
    fn inputs_that_cannot_be_joined_are_refused() {
        let d = ConcatDescriptor { axis: 1 };
        let differ = [[1, 2], [2, 2]].map(Shape::from);
        let problem = shape_after(d, &differ).unwrap_err();
        assert!(
            matches!(problem, LayerProblem::Dimension { axis: 0, .. }),
            "{problem}"
        );
        let ranks = [Shape::from([1, 2]), Shape::from([1, 2, 3])];
        let problem = shape_after(d, &ranks).unwrap_err();
        assert!(matches!(problem, LayerProblem::Rank { .. }), "{problem}");
        assert_eq!(refused_field(shape_after(d, &[Shape::from([1])])), "axis");
        let huge = [[1, i64::MAX], [1, 1]].map(Shape::from);
        let problem = shape_after(d, &huge).unwrap_err();
        assert!(
            matches!(problem, LayerProblem::Overflow { .. }),
            "{problem}"
        );
    }

    fn padded(mode: PaddingMode, before: &[i64], after: &[i64], input: Shape) -> Result<Shape> {
        shape_after(
            PadDescriptor::new(mode, 0.0, before, after).unwrap(),
            &[input],
        )
    }

    #[test]
    fn padding_adds_to_each_dimension() {
        let input = Shape::from([2, -1, 4]);
        let result = padded(PaddingMode::Constant, &[1, 2, 0], &[0, 1, 5], input);
        assert_eq!(result, Ok(Shape::from([3, -1, 9])));
        // Reflect mirrors all but the border element, Symmetric all.
        let row = Shape::from([3]);
        assert_eq!(
            padded(PaddingMode::Reflect, &[2], &[2], row),
            Ok(Shape::from([7]))
        );
        assert_eq!(
            padded(PaddingMode::Symmetric, &[3], &[3], row),
            Ok(Shape::from([9]))
        );
    }

    #[test]
    fn padding_that_makes_no_sense_is_refused() {
        use PaddingMode as M;
        let row = Shape::from([3]);
        let field =
            |mode, before: &[i64], after: &[i64]| refused_field(padded(mode, before, after, row));
        assert_eq!(field(M::Reflect, &[3], &[0]), "pad_before");
        assert_eq!(field(M::Symmetric, &[0], &[4]), "pad_after");
        assert_eq!(field(M::Constant, &[0], &[-1]), "pad_after");
        assert_eq!(field(M::Constant, &[0, 0], &[0, 0]), "rank");
        assert_eq!(field(M(17), &[0], &[0]), "padding_mode");
        let problem = padded(M::Constant, &[i64::MAX], &[1], row).unwrap_err();
        assert!(
            matches!(problem, LayerProblem::Overflow { .. }),
            "{problem}"
        );
        let mut d = PadDescriptor::new(M::Constant, 0.0, &[0], &[0]).unwrap();
        d.rank = u32::MAX;
        assert_eq!(refused_field(shape_after(d, &[row])), "rank");
    }

    fn reshaped(input: Shape, target: Shape) -> Result<Shape> {
        let shapes = LayerShapes {
            inputs: &[Some(input)],
            declared: &[Some(target)],
        };
        output_shapes(&ReshapeDescriptor::new().into(), &shapes).map(|s| s[0])
    }

    #[test]
    fn one_unknown_dimension_of_a_target_follows_from_the_elements() {
        for (input, target, expected) in [
            (
                Shape::from([2, 12]),
                Shape::from([4, 6]),
                Shape::from([4, 6]),
            ),
            // 24 / 6 = 4
            (
                Shape::from([2, 12]),
                Shape::from([-1, 6]),
                Shape::from([4, 6]),
            ),
            (Shape::from([1]), Shape::SCALAR, Shape::SCALAR),
            (
                Shape::from([-1, 12]),
                Shape::from([-1, 6]),
                Shape::from([-1, 6]),
            ),
            (
                Shape::from([2, 12]),
                Shape::from([-1, -1]),
                Shape::from([-1, -1]),
            ),
            // 0 / 6 = 0
            (
                Shape::from([0, 12]),
                Shape::from([-1, 6]),
                Shape::from([0, 6]),
            ),
            // Any size would do.
            (
                Shape::from([0, 12]),
                Shape::from([-1, 0]),
                Shape::from([-1, 0]),
            ),
        ] {
            assert_eq!(reshaped(input, target), Ok(expected), "{input} {target}");
        }
    }

    #[test]
    fn a_target_with_other_elements_is_refused() {
        for (input, target) in [
            (Shape::from([2, 12]), Shape::from([5, 5])),
            (Shape::from([2, 12]), Shape::from([-1, 5])),
            (Shape::from([2, 12]), Shape::from([-1, 0])),
            (Shape::from([2, 12]), Shape::from([-1, -1, 5])),
            (Shape::from([2]), Shape::from([-1, i64::MAX, i64::MAX])),
            (Shape::from([2]), Shape::from([i64::MAX, i64::MAX])),
        ] {
            let problem = reshaped(input, target).unwrap_err();
            assert!(
                matches!(problem, LayerProblem::Elements { .. }),
                "{problem}"
            );
        }
        let undeclared = shape_after(ReshapeDescriptor::new(), &[Shape::from([2])]);
        assert!(matches!(undeclared, Err(LayerProblem::Undeclared { .. })));
    }

    #[test]
    fn a_transposed_dimension_comes_from_where_the_permutation_says() {
        let d = TransposeDescriptor::new(&[0, 3, 1, 2]).unwrap();
        let result = shape_after(d, &[Shape::from([1, 20, -1, 3])]);
        assert_eq!(result, Ok(Shape::from([1, 3, 20, -1])));
        let none = TransposeDescriptor::new(&[]).unwrap();
        assert_eq!(shape_after(none, &[Shape::SCALAR]), Ok(Shape::SCALAR));
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        let input = [Shape::from([2, 3])];
        let field = |permutation: &[u32]| {
            let d = TransposeDescriptor::new(permutation).unwrap();
            refused_field(shape_after(d, &input))
        };
        assert_eq!(field(&[0, 0]), "permutation");
        assert_eq!(field(&[0, 2]), "permutation");
        assert_eq!(field(&[u32::MAX, 0]), "permutation");
        assert_eq!(field(&[0]), "rank");
        assert_eq!(field(&[0, 1, 2]), "rank");
    }
}
