//! Transforms of signals, and images put together from columns.

use armnn_backend_api::{Col2ImDescriptor, DftDescriptor, Shape};

use super::arguments::{Arguments, axis};
use super::{Resolved, Result, bad, described, known, shown_list};
use crate::error::LayerProblem;

/// `along` is the axis, unless it is a parameter.
pub(super) fn dft(
    base: &DftDescriptor,
    along: Option<i64>,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let Some(last) = input.rank().checked_sub(1) else {
        return Err(bad("input", input, "of at least 2 dimensions"));
    };
    let length = match arguments.has(0) {
        true => arguments.scalar(0, "length")?,
        false => Some(0),
    };
    if length.is_some_and(|length| length < 0 || length == 0 && arguments.has(0)) {
        return Err(bad("length", length.unwrap_or(0), "at least 1"));
    }
    let along = match along {
        Some(axis) => Some(axis),
        None => arguments.scalar(1, "axis")?,
    };
    let mut descriptor = *base;
    descriptor.length = length.unwrap_or(0);
    let mut dims = input.dims().to_vec();
    dims[last] = match (base.onesided, base.inverse) {
        (1, 1) => 1,
        _ => 2,
    };
    let Some(along) = along else {
        dims[..last].fill(Shape::UNKNOWN);
        descriptor.axis = 0;
        return Resolved::single(descriptor, &dims, false);
    };
    let along = axis(along, input.rank(), "axis")?;
    if along == last {
        return Err(bad("axis", along, "before the last dimension"));
    }
    descriptor.axis = along as u32;
    let own = known(input.dims()[along]);
    if length == Some(0) && own == Some(0) {
        return Err(bad("length of the signal", 0, "at least 1"));
    }
    let size = match length {
        Some(0) if base.onesided == 1 && base.inverse == 1 => match own {
            Some(half) => Some((half - 1).checked_mul(2).ok_or(LayerProblem::Overflow {
                what: "the size of the output",
            })?),
            None => None,
        },
        Some(0) => own,
        length => length,
    };
    let size = match (base.onesided, base.inverse) {
        (1, 0) => size.map(|size| size / 2 + 1),
        _ => size,
    };
    dims[along] = size.unwrap_or(Shape::UNKNOWN);
    Resolved::single(descriptor, &dims, length.is_some())
}

/// `base` holds all but the block, in lists as long as the image has dimensions.
pub(super) fn col2im(base: &Col2ImDescriptor, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let image = arguments.list(0, "image_shape")?;
    let block = arguments.list(1, "block_shape")?;
    let count = base.n_axes as usize;
    for (what, list) in [("image_shape", &image), ("block_shape", &block)] {
        let fits = |size: i64| (1..=i64::from(u32::MAX)).contains(&size);
        if list.len() != count || !list.iter().flatten().all(|&size| fits(size)) {
            let rule = format!("{count} sizes from 1 to 2^32 - 1");
            return Err(bad(what, shown_list(list), rule));
        }
    }
    let &[batch, columns, _] = input.dims() else {
        return Err(bad("input", input, "of 3 dimensions"));
    };
    let sizes: Option<Vec<i64>> = block.iter().copied().collect();
    let elements = sizes.as_ref().map(|sizes| {
        let elements = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
        elements.ok_or_else(|| bad("block_shape", shown_list(&block), "below 2^63 in all"))
    });
    let channels = match (known(columns), elements.transpose()?) {
        (Some(columns), Some(elements)) if columns % elements == 0 => columns / elements,
        (Some(columns), Some(elements)) => {
            let rule = format!("a multiple of {elements}, the elements of a block");
            return Err(bad("dimension 1 of the input", columns, rule));
        }
        _ => Shape::UNKNOWN,
    };
    let mut dims = vec![batch, channels];
    dims.extend(image.iter().map(|size| size.unwrap_or(Shape::UNKNOWN)));
    let complete = sizes.is_some() && image.iter().all(Option::is_some);
    let small: Vec<u32> = match sizes {
        Some(sizes) => sizes
            .iter()
            .map(|&s| u32::try_from(s).unwrap_or(1))
            .collect(),
        None => vec![1; count.min(Shape::MAX_RANK)],
    };
    let block_shape = described(Col2ImDescriptor::new(&small))?.block_shape;
    let descriptor = Col2ImDescriptor {
        block_shape,
        ..*base
    };
    Resolved::single(descriptor, &dims, complete)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ints, list, output, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    #[test]
    fn the_length_and_axis_of_a_transform_are_parameters() {
        let transform = |onesided, inverse, length: Option<Parameter>, along| {
            let base = DftDescriptor {
                onesided,
                inverse,
                ..DftDescriptor::new(0)
            };
            let rule = Rule::Dft {
                descriptor: base,
                axis: None,
            };
            output(&rule, [3, 10, 1], &[length, along])
        };
        let known = |dims: &[i64]| Some((dims.to_vec(), true));
        assert_eq!(transform(0, 0, None, ints(&[-2])), known(&[3, 10, 2]));
        assert_eq!(transform(0, 0, ints(&[16]), ints(&[1])), known(&[3, 16, 2]));
        // 10 / 2 + 1 = 6, 2 (10 - 1) = 18
        assert_eq!(transform(1, 0, None, ints(&[1])), known(&[3, 6, 2]));
        assert_eq!(transform(1, 1, None, ints(&[1])), known(&[3, 18, 1]));
        assert_eq!(transform(1, 1, ints(&[17]), ints(&[1])), known(&[3, 17, 1]));
        let open = Some((vec![-1, -1, 2], false));
        assert_eq!(transform(0, 0, None, unknown([])), open);
        let open = Some((vec![3, -1, 2], false));
        assert_eq!(transform(0, 0, unknown([]), ints(&[1])), open);
        for (length, along) in [(0, 1), (-1, 1), (4, 2), (4, 3)] {
            assert_eq!(transform(0, 0, ints(&[length]), ints(&[along])), None);
        }
    }

    #[test]
    fn the_shapes_of_image_and_block_are_parameters() {
        let rule = Rule::Col2Im(Col2ImDescriptor::new(&[1, 1]).unwrap());
        let found = resolved(&rule, [2, 12, 9], &[ints(&[4, 5]), ints(&[2, 3])]).unwrap();
        // 12 / (2 3) = 2
        assert_eq!(found.outputs[0].dims(), [2, 2, 4, 5]);
        let expected = Col2ImDescriptor::new(&[2, 3]).unwrap();
        assert_eq!(found.descriptor, expected.into());
        let partly = [list(&[Some(4), None]), unknown([2])];
        let open = output(&rule, [2, 12, 9], &partly);
        assert_eq!(open, Some((vec![2, -1, 4, -1], false)));
        for (image, block) in [
            (ints(&[4, 5]), ints(&[2, 5])),
            (ints(&[4, 0]), ints(&[2, 3])),
            (ints(&[4]), ints(&[2, 3])),
            (ints(&[4, 5]), ints(&[2])),
            (ints(&[4, 5]), ints(&[u32::MAX.into(), i64::MAX])),
        ] {
            assert_eq!(output(&rule, [2, 12, 9], &[image, block]), None);
        }
    }
}
