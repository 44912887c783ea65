//! Images of another size.

use armnn_backend_api::{
    CoordinateTransformation, DataLayout, InterpolateDescriptor, ResizeDescriptor, Shape,
};

use super::arguments::{Arguments, axes};
use super::{Resolved, Result, bad, known, shown_list};

/// Which sizes an Interpolate takes if those given would change the aspect ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AspectRatioPolicy {
    /// The sizes as given.
    #[default]
    Stretch,
    /// The largest that are not larger, in one scale.
    NotLarger,
    /// The smallest that are not smaller, in one scale.
    NotSmaller,
}

/// The parameter is rows and columns.
pub(super) fn resize(base: &ResizeDescriptor, arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let size = arguments.list(0, "size")?;
    let &[rows, columns] = &size[..] else {
        return Err(bad("size", shown_list(&size), "rows and columns"));
    };
    if size.iter().flatten().any(|&size| size <= 0) {
        return Err(bad("size", shown_list(&size), "at least 1"));
    }
    let at = match base.data_layout() {
        DataLayout::Nhwc => 1,
        DataLayout::Nchw => 2,
        other => return Err(bad("data_layout", other, "Nhwc or Nchw")),
    };
    if input.rank() != 4 {
        let rule = "4 dimensions of an image";
        return Err(bad("input", input, rule));
    }
    let mut dims = input.dims().to_vec();
    dims[at] = rows.unwrap_or(Shape::UNKNOWN);
    dims[at + 1] = columns.unwrap_or(Shape::UNKNOWN);
    Resolved::single(*base, &dims, size.iter().all(Option::is_some))
}

/// As ONNX's Resize. `base` holds what does not depend on parameters.
pub(super) fn interpolate(
    base: &InterpolateDescriptor,
    named: Option<&[i64]>,
    policy: AspectRatioPolicy,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let rank = input.rank();
    let along = match named {
        None => (0..rank).collect(),
        Some(named) => {
            let named: Vec<Option<i64>> = named.iter().copied().map(Some).collect();
            axes(&named, rank, false, "axes")?.unwrap_or_default()
        }
    };
    let mut descriptor = *base;
    descriptor.rank = rank as u32;
    descriptor.scales = [0.0; Shape::MAX_RANK];
    descriptor.region_start = [0.0; Shape::MAX_RANK];
    descriptor.region_end = [1.0; Shape::MAX_RANK];
    let mut complete = match base.coordinates() {
        CoordinateTransformation::TfCropAndResize => region(&along, &mut descriptor, arguments)?,
        _ => true,
    };
    let scales = arguments.optional_reals(1, "scales")?;
    let sizes = arguments.optional_list(2, "sizes")?;
    let mut dims = input.dims().to_vec();
    let present = |len: Option<usize>| len.is_some_and(|len| len > 0);
    match (
        scales.filter(|list| present(Some(list.len()))),
        sizes.filter(|list| present(Some(list.len()))),
    ) {
        (Some(scales), None) if scales.len() == along.len() => {
            for (&axis, scale) in along.iter().zip(scales) {
                match scale {
                    Some(scale) => {
                        dims[axis] = scaled(dims[axis], scale as f32)?;
                        descriptor.scales[axis] = scale as f32;
                    }
                    None => {
                        dims[axis] = Shape::UNKNOWN;
                        complete = false;
                    }
                }
            }
        }
        (None, Some(sizes)) if sizes.len() == along.len() => {
            if sizes.iter().flatten().any(|&size| size < 0) {
                return Err(bad("sizes", shown_list(&sizes), "from 0 on"));
            }
            match policy {
                AspectRatioPolicy::Stretch => {
                    for (&axis, &size) in along.iter().zip(&sizes) {
                        dims[axis] = size.unwrap_or(Shape::UNKNOWN);
                    }
                }
                _ => fit(&along, &sizes, policy, &mut dims, &mut descriptor)?,
            }
            complete &= sizes.iter().all(Option::is_some);
        }
        (scales, sizes) => {
            let found = [scales.map(|s| s.len()), sizes.map(|s| s.len())];
            let found = found.map(|len| len.map_or("no".to_owned(), |len| len.to_string()));
            let rule = format!("either, one for each of {} dimensions", along.len());
            let [scales, sizes] = found;
            let found = format!("{scales} scales, {sizes} sizes");
            return Err(bad("size of the output", found, rule));
        }
    }
    // The output's size is declared: it must be known.
    complete &= dims.iter().all(|&dim| dim >= 0);
    Resolved::single(descriptor, &dims, complete)
}

/// The largest whole number of elements within the scaled dimension, in Float32 arithmetic, in
/// which the scale is given.
fn scaled(dim: i64, scale: f32) -> Result<i64> {
    if scale.is_nan() || scale <= 0.0 || scale.is_infinite() {
        return Err(bad("scales", scale, "above 0"));
    }
    match known(dim) {
        // Nothing is resized, whatever the size is.
        _ if scale == 1.0 => Ok(dim),
        Some(dim) => {
            let size = (dim as f32 * scale).floor();
            if size > 9e15 {
                return Err(bad("scales", scale, "one that leads to a size below 2^53"));
            }
            Ok(size as i64)
        }
        None => Ok(Shape::UNKNOWN),
    }
}

/// One scale for all, the smallest or largest that sizes lead to, and the sizes that it leads to:
/// to nearest, halves up.
fn fit(
    along: &[usize],
    sizes: &[Option<i64>],
    policy: AspectRatioPolicy,
    dims: &mut [i64],
    descriptor: &mut InterpolateDescriptor,
) -> Result<()> {
    // Size through dimension, compared as fractions.
    let mut chosen: Option<(i64, i64)> = None;
    for (&axis, &size) in along.iter().zip(sizes) {
        let (Some(size), Some(dim)) = (size, known(dims[axis])) else {
            along.iter().for_each(|&axis| dims[axis] = Shape::UNKNOWN);
            return Ok(());
        };
        if dim == 0 {
            let rule = "above 0 where the aspect ratio is kept";
            return Err(bad("dimension of the input", dim, rule));
        }
        let better = chosen.is_none_or(|(other, of)| {
            let (this, that) = (wide(size) * wide(of), wide(other) * wide(dim));
            match policy {
                AspectRatioPolicy::NotLarger => this < that,
                _ => this > that,
            }
        });
        if better {
            chosen = Some((size, dim));
        }
    }
    let Some((size, of)) = chosen else {
        return Ok(());
    };
    for &axis in along {
        // Below 2^126, as each factor is below 2^63; halves are added before doubling overflows.
        let product = wide(dims[axis]) * wide(size);
        let whole = product / wide(of);
        let rest = product % wide(of);
        let rounded = whole + i128::from(2 * rest >= wide(of));
        dims[axis] = i64::try_from(rounded)
            .map_err(|_| bad("sizes", shown_list(sizes), "below 2^63 in one scale"))?;
        descriptor.scales[axis] = size as f32 / of as f32;
    }
    Ok(())
}

fn wide(value: i64) -> i128 {
    value.into()
}

/// Start and end of a region along each axis; whether they are known.
fn region(
    along: &[usize],
    descriptor: &mut InterpolateDescriptor,
    arguments: &Arguments<'_>,
) -> Result<bool> {
    let bounds = arguments.optional_reals(0, "roi")?.unwrap_or_default();
    if bounds.len() != along.len().saturating_mul(2) {
        let rule = format!("a start and an end for each of {} dimensions", along.len());
        return Err(bad("length of roi", bounds.len(), rule));
    }
    let (starts, ends) = bounds.split_at(along.len());
    for ((&axis, start), end) in along.iter().zip(starts).zip(ends) {
        let (Some(start), Some(end)) = (start, end) else {
            return Ok(false);
        };
        descriptor.region_start[axis] = *start as f32;
        descriptor.region_end[axis] = *end as f32;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{InterpolationMethod, LayerDescriptor, ResizeMethod};

    use super::super::tests::{ints, list, output, reals, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    #[test]
    fn rows_and_columns_are_a_parameter() {
        let rule = |layout| Rule::Resize(ResizeDescriptor::new(ResizeMethod::Bilinear, layout));
        let last = rule(DataLayout::Nhwc);
        let found = output(&last, [-1, 2, 3, 4], &[ints(&[7, 5])]);
        assert_eq!(found, Some((vec![-1, 7, 5, 4], true)));
        let first = rule(DataLayout::Nchw);
        let partly = list(&[Some(7), None]);
        let found = output(&first, [1, 4, 2, 3], &[partly]);
        assert_eq!(found, Some((vec![1, 4, 7, -1], false)));
        for wrong in [&[7][..], &[7, 0], &[7, -1], &[7, 5, 1]] {
            assert_eq!(output(&last, [1, 2, 3, 4], &[ints(wrong)]), None);
        }
        assert_eq!(output(&last, [1, 2, 3], &[ints(&[7, 5])]), None);
        assert_eq!(
            output(&rule(DataLayout(77)), [1, 2, 3, 4], &[ints(&[7, 5])]),
            None
        );
    }

    fn rule(axes: Option<&[i64]>, policy: AspectRatioPolicy) -> Rule {
        let coordinates = CoordinateTransformation::HalfPixel;
        let method = InterpolationMethod::Linear;
        Rule::Interpolate {
            descriptor: InterpolateDescriptor::new(method, coordinates, 0).unwrap(),
            axes: axes.map(<[i64]>::to_vec),
            policy,
        }
    }

    /// The sizes and the scales, if all is known.
    fn found(
        rule: &Rule,
        dims: &[i64],
        scales: Option<Parameter>,
        sizes: Option<Parameter>,
    ) -> Option<(Vec<i64>, Vec<f32>)> {
        let input = Shape::new(dims).unwrap();
        let resolved = resolved(rule, input, &[None, scales, sizes]).ok()?;
        let LayerDescriptor::Interpolate(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        let sizes = resolved.outputs[0].dims().to_vec();
        resolved.complete.then(|| (sizes, d.scales().to_vec()))
    }

    #[test]
    fn scaled_sizes_are_rounded_down() {
        let plain = rule(None, AspectRatioPolicy::Stretch);
        // 5 0.5 = 2.5; 3 2 = 6
        let scales = reals(&[1.0, 0.5, 2.0]);
        assert_eq!(
            found(&plain, &[4, 5, 3], scales, ints(&[])),
            Some((vec![4, 2, 6], vec![1.0, 0.5, 2.0]))
        );
        // In Float32, 10 times what is nearest to 0.7 is 7.
        let scales = reals(&[0.7]);
        assert_eq!(
            found(&plain, &[10], scales, None),
            Some((vec![7], vec![0.7]))
        );
        let axes = rule(Some(&[-1]), AspectRatioPolicy::Stretch);
        assert_eq!(
            found(&axes, &[4, 5], reals(&[3.0]), None),
            Some((vec![4, 15], vec![0.0, 3.0]))
        );
        let parameters = [None, reals(&[1.0, 2.0]), None];
        let open = output(&plain, [-1, -1], &parameters);
        assert_eq!(open, Some((vec![-1, -1], false)));
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e30] {
            assert_eq!(found(&plain, &[10], reals(&[scale]), None), None);
        }
    }

    #[test]
    fn sizes_are_taken_as_they_are() {
        let plain = rule(None, AspectRatioPolicy::Stretch);
        assert_eq!(
            found(&plain, &[4, -1], reals(&[]), ints(&[8, 3])),
            Some((vec![8, 3], vec![0.0, 0.0]))
        );
        let partly = [None, None, list(&[Some(8), None])];
        assert_eq!(output(&plain, [4, 5], &partly), Some((vec![8, -1], false)));
        for wrong in [
            [None, None, None],
            [None, reals(&[1.0, 1.0]), ints(&[8, 3])],
            [None, None, ints(&[8])],
            [None, None, ints(&[8, -1])],
            [None, ints(&[1, 1]), None],
            [None, None, unknown([-1])],
        ] {
            assert_eq!(output(&plain, [4, 5], &wrong), None, "{wrong:?}");
        }
        let twice = rule(Some(&[0, -2]), AspectRatioPolicy::Stretch);
        assert_eq!(found(&twice, &[4, 5], None, ints(&[8, 8])), None);
    }

    #[test]
    fn the_aspect_ratio_may_be_kept() {
        let fitted = |policy, dims: &[i64], sizes: &[i64]| {
            found(&rule(None, policy), dims, None, ints(sizes))
        };
        // Scales 7/4 and 8/2; 2 7/4 = 3.5, which is rounded up.
        assert_eq!(
            fitted(AspectRatioPolicy::NotLarger, &[4, 2], &[7, 8]),
            Some((vec![7, 4], vec![1.75, 1.75]))
        );
        // 4 8/2 = 16
        assert_eq!(
            fitted(AspectRatioPolicy::NotSmaller, &[4, 2], &[7, 8]),
            Some((vec![16, 8], vec![4.0, 4.0]))
        );
        // 3 5/6 = 2.5, exactly.
        assert_eq!(
            fitted(AspectRatioPolicy::NotLarger, &[6, 3], &[5, 9])
                .unwrap()
                .0,
            [5, 3]
        );
        assert_eq!(
            fitted(AspectRatioPolicy::NotLarger, &[4, -1], &[7, 8]),
            None
        );
        assert_eq!(fitted(AspectRatioPolicy::NotLarger, &[4, 0], &[7, 8]), None);
        let most = i64::MAX;
        assert_eq!(
            fitted(AspectRatioPolicy::NotSmaller, &[1, most], &[most, 1]),
            None
        );
    }

    #[test]
    fn a_region_is_a_parameter_where_coordinates_are_of_one() {
        let coordinates = CoordinateTransformation::TfCropAndResize;
        let base = InterpolateDescriptor::new(InterpolationMethod::Nearest, coordinates, 0);
        let rule = Rule::Interpolate {
            descriptor: base.unwrap(),
            axes: Some(vec![1]),
            policy: AspectRatioPolicy::Stretch,
        };
        let sizes = || ints(&[9]);
        let given = [reals(&[0.25, 0.75]), None, sizes()];
        let resolved = resolved(&rule, [4, 5], &given).unwrap();
        let LayerDescriptor::Interpolate(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        assert_eq!(
            (d.region_start[..2].to_vec(), d.region_end[1]),
            (vec![0.0, 0.25], 0.75)
        );
        let open = output(&rule, [4, 5], &[unknown([2]), None, sizes()]);
        assert_eq!(open, Some((vec![4, 9], false)));
        assert_eq!(output(&rule, [4, 5], &[reals(&[0.5]), None, sizes()]), None);
        assert_eq!(output(&rule, [4, 5], &[None, None, sizes()]), None);
    }
}
