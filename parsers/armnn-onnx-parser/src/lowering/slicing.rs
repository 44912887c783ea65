//! Slice.

use armnn_backend_api::{Shape, StridedSliceDescriptor};

use super::context::{Context, axis, described};
use super::problem::{Problem, Result};

/// Along each of the axes, elements from a start to an end in steps. All are attributes before
/// version 10, and inputs since.
pub(super) fn slice(c: &mut Context<'_, '_>) -> Result {
    let Bounds {
        starts,
        ends,
        axes,
        steps,
    } = bounds(c)?;
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let mut begin = vec![0; shape.rank()];
    let mut end: Vec<i64> = shape
        .dims()
        .iter()
        .map(|&dim| if dim < 0 { i64::MAX } else { dim })
        .collect();
    let mut stride = vec![1; shape.rank()];
    let mut seen = vec![false; shape.rank()];
    for (position, &index) in axes.iter().enumerate() {
        let at = axis(index, shape.rank())?;
        if std::mem::replace(&mut seen[at], true) {
            return Err(Problem::malformed(format!("axis {at} twice")));
        }
        let range = Range {
            start: starts[position],
            end: ends[position],
            step: steps[position],
        };
        (begin[at], end[at], stride[at]) = range.along(shape.dims()[at])?;
    }
    let descriptor = described(StridedSliceDescriptor::new(&begin, &end, &stride))?;
    c.emit(descriptor, &[input])
}

/// What to take along each of some axes; all lists are as long.
pub(super) struct Bounds {
    pub(super) starts: Vec<i64>,
    pub(super) ends: Vec<i64>,
    pub(super) axes: Vec<i64>,
    pub(super) steps: Vec<i64>,
}

pub(super) fn bounds(c: &mut Context<'_, '_>) -> Result<Bounds> {
    let most = Shape::MAX_RANK;
    let (starts, ends, axes, steps) = if c.version < 10 {
        let list = |name: &str| -> Result<Option<Vec<i64>>> {
            Ok(c.attributes.ints(name)?.map(<[i64]>::to_vec))
        };
        (list("starts")?, list("ends")?, list("axes")?, None)
    } else {
        (
            c.optional_integers(1, most, "the starts")?,
            c.optional_integers(2, most, "the ends")?,
            c.optional_integers(3, most, "the axes")?,
            c.optional_integers(4, most, "the steps")?,
        )
    };
    let (Some(starts), Some(ends)) = (starts, ends) else {
        return Err(Problem::malformed("it has no starts or ends"));
    };
    let axes = axes.unwrap_or_else(|| (0i64..).take(starts.len()).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(Problem::malformed(format!(
            "it has {} starts, {} ends, {} axes and {} steps",
            starts.len(),
            ends.len(),
            axes.len(),
            steps.len()
        )));
    }
    Ok(Bounds {
        starts,
        ends,
        axes,
        steps,
    })
}

/// Elements from a start to an end; negative ones count from the end of the dimension, and those
/// outside are clamped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) step: i64,
}

impl Range {
    /// Begin, end and stride as StridedSlice takes them.
    pub(super) fn along(self, dim: i64) -> Result<(i64, i64, i64)> {
        let Self { start, end, step } = self;
        if step == 0 {
            return Err(Problem::malformed("a step is 0"));
        }
        if dim < 0 {
            if start >= 0 && end >= 0 && step > 0 {
                return Ok((start, end, step));
            }
            return Err(Problem::unsupported(
                "a slice counted from the end of a dimension that is not known; give the model \
                 fixed input shapes",
            ));
        }
        let from_start = |index: i64| {
            if index < 0 {
                index.saturating_add(dim)
            } else {
                index
            }
        };
        let (start, end) = (from_start(start), from_start(end));
        if step > 0 {
            return Ok((start.clamp(0, dim), end.clamp(0, dim), step));
        }
        let (start, end) = (start.clamp(-1, dim - 1), end.clamp(-1, dim - 1));
        match start > end {
            true => Ok((start, end, step)),
            // Nothing is taken.
            false => Ok((0, 0, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_model::{assert_refused, descriptors, ints, list, single};

    #[test]
    fn bounds_are_clamped_and_count_from_the_end_if_negative() {
        for (start, end, step, dim, expected) in [
            (0, i64::MAX, 1, 10, (0, 10, 1)),
            (-3, -1, 1, 10, (7, 9, 1)),
            (20, 30, 1, 10, (10, 10, 1)),
            (-20, 5, 2, 10, (0, 5, 2)),
            // All, backwards.
            (-1, i64::MIN, -1, 10, (9, -1, -1)),
            (20, 0, -4, 10, (9, 0, -4)),
            (2, 5, -1, 10, (0, 0, 1)),
            (-1, i64::MIN, -1, 0, (0, 0, 1)),
            // Of a size that is not known.
            (1, i64::MAX, 1, -1, (1, i64::MAX, 1)),
        ] {
            let range = Range { start, end, step };
            assert_eq!(range.along(dim).unwrap(), expected, "{range:?} of {dim}");
        }
        let backwards = Range {
            start: -1,
            end: 0,
            step: 1,
        };
        assert!(backwards.along(-1).is_err());
        assert!(
            Range {
                step: 0,
                ..backwards
            }
            .along(5)
            .is_err()
        );
    }

    #[test]
    fn other_dimensions_are_taken_whole() {
        let expected = StridedSliceDescriptor::new(&[0, 3], &[2, 1], &[1, -2]).unwrap();
        let inputs = [
            ints("starts", &[-1]),
            ints("ends", &[1]),
            ints("axes", &[1]),
            ints("steps", &[-2]),
        ];
        let network = single(13, "Slice", &[2, 4], &inputs, &[]).unwrap();
        assert_eq!(descriptors(&network), [expected.into()]);
        let expected = StridedSliceDescriptor::new(&[1, 0], &[2, 4], &[1, 1]).unwrap();
        let attributes = [list("starts", &[1]), list("ends", &[9])];
        let network = single(9, "Slice", &[2, 4], &[], &attributes).unwrap();
        assert_eq!(descriptors(&network), [expected.into()]);
        let uneven = [list("starts", &[1]), list("ends", &[9, 9])];
        let uneven = single(9, "Slice", &[2, 4], &[], &uneven);
        assert_refused(uneven, "it has 1 starts, 2 ends, 1 axes and 1 steps");
    }
}
