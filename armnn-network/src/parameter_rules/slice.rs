//! Parts of an input, as ONNX's Slice and TensorFlow Lite's SLICE take them.

use armnn_backend_api::{Shape, StridedSliceDescriptor};

use super::arguments::{Arguments, axes};
use super::{Resolved, Result, bad, described, known, shown_list};

/// What a StridedSlice takes along each dimension, as far as it is known.
pub(super) struct Slices {
    begin: Vec<i64>,
    end: Vec<i64>,
    stride: Vec<i64>,
    sizes: Vec<i64>,
    complete: bool,
}

/// What is taken along one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) stride: i64,
    /// How many elements; unknown if it follows from the input.
    pub(super) size: i64,
}

impl Taken {
    /// All of a dimension.
    pub(super) fn all(dim: i64) -> Self {
        Self {
            begin: 0,
            end: known(dim).unwrap_or(i64::MAX),
            stride: 1,
            size: dim,
        }
    }

    /// Nothing. It begins where any input has a place.
    pub(super) const NOTHING: Self = Self {
        begin: 0,
        end: 0,
        stride: 1,
        size: 0,
    };

    /// From a place to another in steps, which are not 0; both lie within the dimension, or before
    /// or behind it.
    pub(super) fn between(begin: i64, end: i64, stride: i64) -> Self {
        let distance = match stride > 0 {
            true => end.saturating_sub(begin),
            false => begin.saturating_sub(end),
        };
        let steps = distance.max(0).unsigned_abs();
        // No more than the dimension, which is an i64.
        let size = i64::try_from(steps.div_ceil(stride.unsigned_abs())).unwrap_or(i64::MAX);
        match size {
            0 => Self::NOTHING,
            size => Self {
                begin,
                end,
                stride,
                size,
            },
        }
    }
}

impl Slices {
    pub(super) fn new() -> Self {
        Self {
            begin: Vec::new(),
            end: Vec::new(),
            stride: Vec::new(),
            sizes: Vec::new(),
            complete: true,
        }
    }

    pub(super) fn push(&mut self, taken: Taken) {
        self.begin.push(taken.begin);
        self.end.push(taken.end);
        self.stride.push(taken.stride);
        self.sizes.push(taken.size);
    }

    /// Something of which no more than perhaps the size is known.
    pub(super) fn push_unknown(&mut self, size: Option<i64>) {
        self.push(Taken {
            size: size.unwrap_or(Shape::UNKNOWN),
            ..Taken::all(Shape::UNKNOWN)
        });
        self.complete = false;
    }

    pub(super) fn resolved(self) -> Result<Resolved> {
        let descriptor = StridedSliceDescriptor::new(&self.begin, &self.end, &self.stride);
        Resolved::single(described(descriptor)?, &self.sizes, self.complete)
    }
}

/// ONNX's Slice.
pub(super) fn slice(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let starts = arguments.list(0, "starts")?;
    let ends = arguments.list(1, "ends")?;
    let named = arguments.optional_list(2, "axes")?;
    let steps = arguments.optional_list(3, "steps")?;
    let count = starts.len();
    for (what, list) in [
        ("ends", Some(&ends)),
        ("axes", named.as_ref()),
        ("steps", steps.as_ref()),
    ] {
        if let Some(list) = list.filter(|list| list.len() != count) {
            let rule = format!("as long as the starts {}", shown_list(&starts));
            return Err(bad(what, shown_list(list), rule));
        }
    }
    let named = named.unwrap_or_else(|| (0i64..).map(Some).take(count).collect());
    let steps = steps.unwrap_or_else(|| vec![Some(1); count]);
    if steps.contains(&Some(0)) {
        return Err(bad("steps", shown_list(&steps), "other than 0"));
    }
    let mut slices = Slices::new();
    let Some(axes) = axes(&named, input.rank(), false, "axes")? else {
        // Any dimension may be among them.
        (0..input.rank()).for_each(|_| slices.push_unknown(None));
        return slices.resolved();
    };
    for (axis, &dim) in input.dims().iter().enumerate() {
        let Some(position) = axes.iter().position(|&named| named == axis) else {
            slices.push(Taken::all(dim));
            continue;
        };
        let taken = match (starts[position], ends[position], steps[position]) {
            (Some(start), Some(end), Some(step)) => along(start, end, step, dim),
            _ => None,
        };
        match taken {
            Some(taken) => slices.push(taken),
            None => slices.push_unknown(None),
        }
    }
    slices.resolved()
}

/// What is taken of a dimension: places are counted from its end if negative, and then cut to it.
/// `None` if it must be known for that, but is not.
fn along(start: i64, end: i64, step: i64, dim: i64) -> Option<Taken> {
    let Some(dim) = known(dim) else {
        return (start >= 0 && end >= 0 && step > 0).then_some(Taken {
            begin: start,
            end,
            stride: step,
            size: Shape::UNKNOWN,
        });
    };
    let from_start = |index: i64| match index < 0 {
        true => index.saturating_add(dim),
        false => index,
    };
    let (start, end) = (from_start(start), from_start(end));
    if dim == 0 {
        return Some(Taken::NOTHING);
    }
    // Backwards, -1 is the place before the first element. A start before the first element is that
    // element in both directions, as the operator's definition says.
    Some(match step > 0 {
        true => Taken::between(start.clamp(0, dim), end.clamp(0, dim), step),
        false => Taken::between(start.clamp(0, dim - 1), end.clamp(-1, dim - 1), step),
    })
}

/// TensorFlow Lite's SLICE: where it begins, and how many elements from there on; -1 for all.
pub(super) fn begin_size(arguments: &Arguments<'_>) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let begins = arguments.list(0, "begin")?;
    let sizes = arguments.list(1, "size")?;
    for (what, list) in [("begin", &begins), ("size", &sizes)] {
        if list.len() != input.rank() {
            let rule = format!("one for each dimension of {input}");
            return Err(bad(what, shown_list(list), rule));
        }
    }
    let mut slices = Slices::new();
    for ((&begin, &size), &dim) in begins.iter().zip(&sizes).zip(input.dims()) {
        let dim = known(dim);
        let least = |value: Option<i64>, least: i64| value.is_none_or(|value| value >= least);
        let last = begin.unwrap_or(0).checked_add(size.unwrap_or(0).max(0));
        let within = last.is_some_and(|last| dim.is_none_or(|dim| last <= dim));
        if !least(begin, 0) || !least(size, -1) || !within {
            let rule = format!("within {input}, with begin {}", shown_list(&begins));
            return Err(bad("size", shown_list(&sizes), rule));
        }
        match (begin, size, dim) {
            (Some(begin), Some(-1), dim) => slices.push(Taken {
                begin,
                end: dim.unwrap_or(i64::MAX),
                stride: 1,
                size: dim.map_or(Shape::UNKNOWN, |dim| dim - begin),
            }),
            (Some(begin), Some(size), _) => slices.push(Taken {
                begin,
                end: begin.saturating_add(size),
                stride: 1,
                size,
            }),
            (_, size, _) => slices.push_unknown(size.filter(|&size| size >= 0)),
        }
    }
    slices.resolved()
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::super::tests::{ints, list, output, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};

    /// Begin, end and stride along the first dimension, and how many elements are taken of it.
    fn first(
        rule: &Rule,
        dim: i64,
        parameters: &[Option<Parameter>],
    ) -> Option<((i64, i64, i64), i64)> {
        let resolved = resolved(rule, [dim], parameters).ok()?;
        let LayerDescriptor::StridedSlice(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        let place = (d.begin()[0], d.end()[0], d.stride()[0]);
        resolved
            .complete
            .then_some((place, resolved.outputs[0].dims()[0]))
    }

    #[test]
    fn bounds_are_clamped_and_count_from_the_end_if_negative() {
        for (start, end, step, dim, expected, size) in [
            (0, i64::MAX, 1, 10, (0, 10, 1), 10),
            // 7, 8
            (-3, -1, 1, 10, (7, 9, 1), 2),
            (20, 30, 1, 10, (0, 0, 1), 0),
            // 0, 2, 4
            (-20, 5, 2, 10, (0, 5, 2), 3),
            // All, backwards.
            (-1, i64::MIN, -1, 10, (9, -1, -1), 10),
            // 9, 5, 1
            (20, 0, -4, 10, (9, 0, -4), 3),
            (2, 5, -1, 10, (0, 0, 1), 0),
            // Clamped to element 0.
            (-20, i64::MIN, -1, 10, (0, -1, -1), 1),
            (-1, i64::MIN, -1, 0, (0, 0, 1), 0),
            (i64::MIN, i64::MAX, i64::MAX, 10, (0, 10, i64::MAX), 1),
            (i64::MAX, i64::MIN, i64::MIN, 10, (9, -1, i64::MIN), 1),
            // Of a size that is not known.
            (1, i64::MAX, 1, -1, (1, i64::MAX, 1), -1),
        ] {
            let parameters = [start, end, 0, step].map(|value| ints(&[value]));
            let found = first(&Rule::Slice, dim, &parameters);
            assert_eq!(
                found,
                Some((expected, size)),
                "{start}:{end}:{step} of {dim}"
            );
        }
        // What counts from the end of a size that is not known follows once it is.
        for (start, end, step) in [(-1, 9, 1), (0, -1, 1), (9, 0, -1)] {
            let parameters = [start, end, 0, step].map(|value| ints(&[value]));
            let found = output(&Rule::Slice, [-1, 4], &parameters);
            assert_eq!(found, Some((vec![-1, 4], false)));
        }
    }

    #[test]
    fn other_dimensions_are_taken_whole() {
        let slice = |parameters: &[Option<Parameter>]| output(&Rule::Slice, [2, 4], parameters);
        // Columns 3 and 1.
        let parameters = [ints(&[-1]), ints(&[i64::MIN]), ints(&[1]), ints(&[-2])];
        assert_eq!(slice(&parameters), Some((vec![2, 2], true)));
        assert_eq!(slice(&[ints(&[1]), ints(&[9])]), Some((vec![1, 4], true)));
        let partly = [list(&[Some(0), None]), ints(&[1, 3])];
        assert_eq!(slice(&partly), Some((vec![1, -1], false)));
        // Along which axis is not known.
        let along_any = [ints(&[0]), ints(&[1]), unknown([1])];
        assert_eq!(slice(&along_any), Some((vec![-1, -1], false)));
        for wrong in [
            &[ints(&[1]), ints(&[9, 9])][..],
            &[ints(&[0; 3]), ints(&[1; 3])],
            &[ints(&[0]), ints(&[1]), ints(&[2])],
            &[ints(&[0, 0]), ints(&[1, 1]), ints(&[0, -2])],
            &[ints(&[0]), ints(&[1]), None, ints(&[0])],
            &[ints(&[0]), None],
        ] {
            assert_eq!(slice(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_slice_begins_somewhere_and_has_a_size() {
        let take =
            |begin, size, dim| first(&Rule::BeginSize, dim, &[ints(&[begin]), ints(&[size])]);
        assert_eq!(take(1, 2, 4), Some(((1, 3, 1), 2)));
        // 6 - 2 = 4
        assert_eq!(take(2, -1, 6), Some(((2, 6, 1), 4)));
        assert_eq!(take(2, -1, -1), Some(((2, i64::MAX, 1), -1)));
        assert_eq!(take(2, 3, -1), Some(((2, 5, 1), 3)));
        assert_eq!(take(4, 0, 4), Some(((4, 4, 1), 0)));
        for (begin, size) in [
            (-1, 1),
            (3, 2),
            (5, 0),
            (0, -2),
            (5, -1),
            (i64::MAX, i64::MAX),
            (i64::MIN, i64::MIN),
        ] {
            assert_eq!(take(begin, size, 4), None, "{begin} {size}");
        }
        // Where it begins is not known, but how many elements there are.
        let partly = [unknown([2]), list(&[Some(3), Some(-1)])];
        let found = output(&Rule::BeginSize, [-1, 4], &partly);
        assert_eq!(found, Some((vec![3, -1], false)));
        assert_eq!(
            output(&Rule::BeginSize, [4, 4], &[ints(&[0]), ints(&[1])]),
            None
        );
    }
}
