//! Parts of an input, as TensorFlow Lite's STRIDED_SLICE takes them.

use armnn_backend_api::Shape;

use super::arguments::Arguments;
use super::slice::{Slices, Taken};
use super::{Resolved, Result, bad, known, shown_list};

/// What TensorFlow's strided slice does besides taking from begin to end in strides
/// (<https://www.tensorflow.org/api_docs/python/tf/strided_slice>).
///
/// A mask has a bit for each entry of begin, end and strides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StridedSliceOptions {
    /// Begin does not count: all is taken from there.
    pub begin_mask: u32,
    /// End does not count: all is taken up to there.
    pub end_mask: u32,
    /// The entry stands for as many whole dimensions as the others leave. At most one bit.
    pub ellipsis_mask: u32,
    /// The entry stands for a new dimension of size 1, unless it is the ellipsis.
    pub new_axis_mask: u32,
    /// One element is taken, and the dimension goes.
    pub shrink_axis_mask: u32,
    /// Ends are counted from begin.
    pub offset: bool,
}

/// Eight dimensions, as many new ones, and an ellipsis.
const MOST_ENTRIES: usize = 17;

/// What an entry stands for.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    /// So many dimensions, whole.
    Whole(usize),
    New,
    /// Part of a dimension.
    Part(usize),
}

fn is_set(mask: u32, entry: usize) -> bool {
    mask & (1 << entry) != 0
}

impl StridedSliceOptions {
    /// For each dimension that the operator's output has, the dimension of the StridedSlice's output
    /// that it is; none for a new one. These are the groups of a
    /// [`MergeDimensions`](super::ParameterRule::MergeDimensions) behind the StridedSlice, in whose
    /// output dimensions that go have size 1 and new ones are missing.
    ///
    /// `entries` is the length of begin.
    ///
    /// # Errors
    /// When there are more entries than the input has dimensions, or several ellipses.
    pub fn groups(&self, entries: usize, rank: usize) -> Result<Vec<Vec<usize>>> {
        let mut groups = Vec::new();
        let mut dims = 0..rank;
        for entry in self.entries(entries, rank)? {
            match entry {
                Entry::Whole(count) => {
                    groups.extend(dims.by_ref().take(count).map(|axis| vec![axis]));
                }
                Entry::New => groups.push(Vec::new()),
                Entry::Part(position) => {
                    let axis = dims.next();
                    if !is_set(self.shrink_axis_mask, position) {
                        groups.extend(axis.map(|axis| vec![axis]));
                    }
                }
            }
        }
        Ok(groups)
    }

    /// What each entry stands for; dimensions without one follow as whole.
    fn entries(&self, entries: usize, rank: usize) -> Result<Vec<Entry>> {
        if entries > MOST_ENTRIES {
            return Err(bad("entries of begin", entries, "at most 17"));
        }
        let is_ellipsis = |entry: usize| is_set(self.ellipsis_mask, entry);
        let is_new = |entry: usize| is_set(self.new_axis_mask, entry) && !is_ellipsis(entry);
        let ellipses = (0..entries).filter(|&entry| is_ellipsis(entry)).count();
        if ellipses > 1 {
            return Err(bad("ellipsis_mask", self.ellipsis_mask, "a single bit"));
        }
        let new = (0..entries).filter(|&entry| is_new(entry)).count();
        let parts = entries - ellipses - new;
        let Some(left) = rank.checked_sub(parts) else {
            let rule = format!("at most {rank}, the dimensions of the input");
            return Err(bad("sliced dimensions", parts, rule));
        };
        let mut all: Vec<Entry> = (0..entries)
            .map(|entry| match entry {
                entry if is_ellipsis(entry) => Entry::Whole(left),
                entry if is_new(entry) => Entry::New,
                entry => Entry::Part(entry),
            })
            .collect();
        if ellipses == 0 {
            all.push(Entry::Whole(left));
        }
        Ok(all)
    }
}

/// A slice of every dimension; those that shrink have size 1, and new ones are missing.
pub(super) fn strided_slice(
    options: &StridedSliceOptions,
    arguments: &Arguments<'_>,
) -> Result<Resolved> {
    let input = arguments.data(0)?;
    let begin = arguments.list(0, "begin")?;
    let end = arguments.list(1, "end")?;
    let strides = arguments.list(2, "strides")?;
    for (what, list) in [("end", &end), ("strides", &strides)] {
        if list.len() != begin.len() {
            let rule = format!("as long as begin, {}", shown_list(&begin));
            return Err(bad(what, shown_list(list), rule));
        }
    }
    let mut slices = Slices::new();
    let mut dims = input.dims().iter().copied();
    for entry in options.entries(begin.len(), input.rank())? {
        match entry {
            Entry::Whole(count) => dims
                .by_ref()
                .take(count)
                .for_each(|dim| slices.push(Taken::all(dim))),
            Entry::New => {}
            Entry::Part(position) => {
                let Some(dim) = dims.next() else {
                    continue;
                };
                let part = Part {
                    position,
                    begin: begin[position],
                    end: end[position],
                    stride: strides[position],
                };
                match part.along(options, dim)? {
                    Some(taken) => slices.push(taken),
                    None if is_set(options.shrink_axis_mask, position) => {
                        slices.push_unknown(Some(1));
                    }
                    None => slices.push_unknown(None),
                }
            }
        }
    }
    slices.resolved()
}

/// What an entry says.
struct Part {
    position: usize,
    begin: Option<i64>,
    end: Option<i64>,
    stride: Option<i64>,
}

impl Part {
    /// What is taken of a dimension; `None` if that is not known yet.
    fn along(&self, options: &StridedSliceOptions, dim: i64) -> Result<Option<Taken>> {
        let is_set = |mask| is_set(mask, self.position);
        let Some(stride) = self.stride else {
            return Ok(None);
        };
        if stride == 0 {
            return Err(bad("strides", stride, "other than 0"));
        }
        let begin = match is_set(options.begin_mask) {
            true => None,
            false => match self.begin {
                Some(begin) => Some(begin),
                None => return Ok(None),
            },
        };
        let shrinks = is_set(options.shrink_axis_mask);
        let end = match is_set(options.end_mask) || shrinks {
            true => None,
            false => match self.end {
                Some(end) => Some(end),
                None => return Ok(None),
            },
        };
        match known(dim) {
            Some(dim) => self.along_known(begin, end, stride, shrinks, options.offset, dim),
            None => Ok(along_unknown(begin, end, stride, shrinks, options.offset)),
        }
    }

    fn along_known(
        &self,
        begin: Option<i64>,
        end: Option<i64>,
        stride: i64,
        shrinks: bool,
        offset: bool,
        dim: i64,
    ) -> Result<Option<Taken>> {
        // Backwards, -1 is the place before the first element.
        let (least, most) = match stride > 0 {
            true => (0, dim),
            false => (-1, dim - 1),
        };
        let from_start = |index: i64| {
            let index = match index < 0 {
                true => index.saturating_add(dim),
                false => index,
            };
            index.clamp(least, most)
        };
        let start = match begin {
            None if stride > 0 => 0,
            None => dim - 1,
            Some(begin) => from_start(begin),
        };
        if shrinks {
            if !(0..dim).contains(&start) {
                let rule = format!("an element of a dimension of {dim}");
                return Err(bad("begin", self.begin.unwrap_or(start), rule));
            }
            return Ok(Some(Taken::between(start, start + 1, 1)));
        }
        let end = match end {
            None if stride > 0 => dim,
            None => -1,
            Some(end) if offset => from_start(end.saturating_add(start)),
            Some(end) => from_start(end),
        };
        Ok(Some(Taken::between(start, end, stride)))
    }
}

/// What is taken of a dimension whose size is not known, if nothing is counted from its end.
fn along_unknown(
    begin: Option<i64>,
    end: Option<i64>,
    stride: i64,
    shrinks: bool,
    offset: bool,
) -> Option<Taken> {
    let begin = begin.unwrap_or(0);
    if begin < 0 || stride < 0 {
        return None;
    }
    if shrinks {
        return Some(Taken {
            begin,
            end: begin.saturating_add(1),
            stride: 1,
            size: 1,
        });
    }
    let end = match end {
        None => i64::MAX,
        Some(end) if offset => end.saturating_add(begin),
        Some(end) => end,
    };
    (end >= 0).then_some(Taken {
        begin,
        end,
        stride,
        size: Shape::UNKNOWN,
    })
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerDescriptor;

    use super::super::tests::{ints, list, resolved, unknown};
    use super::super::{Parameter, ParameterRule as Rule};
    use super::*;

    /// Of an input, with [begin, end, stride] for each entry: the same for each dimension, and the
    /// sizes; `None` if it is refused or not all is known.
    fn slice(
        dims: &[i64],
        entries: &[[i64; 3]],
        options: StridedSliceOptions,
    ) -> Option<(Vec<[i64; 3]>, Vec<i64>)> {
        let list = |field: usize| ints(&entries.iter().map(|e| e[field]).collect::<Vec<_>>());
        sliced(dims, [list(0), list(1), list(2)], options)
    }

    fn sliced(
        dims: &[i64],
        parameters: [Option<Parameter>; 3],
        options: StridedSliceOptions,
    ) -> Option<(Vec<[i64; 3]>, Vec<i64>)> {
        let rule = Rule::StridedSlice(options);
        let resolved = resolved(&rule, Shape::new(dims).unwrap(), &parameters).ok()?;
        let LayerDescriptor::StridedSlice(d) = resolved.descriptor else {
            panic!("{resolved:?}");
        };
        let places = (0..dims.len()).map(|axis| [d.begin()[axis], d.end()[axis], d.stride()[axis]]);
        let sizes = resolved.outputs[0].dims().to_vec();
        resolved.complete.then(|| (places.collect(), sizes))
    }

    fn plain() -> StridedSliceOptions {
        StridedSliceOptions::default()
    }

    #[test]
    fn begins_and_ends_count_from_the_end_and_are_cut_to_the_input() {
        // 1, 3, 5; and 5, 6, 7.
        assert_eq!(
            slice(&[8, 8], &[[1, -1, 2], [-3, 100, 1]], plain()),
            Some((vec![[1, 7, 2], [5, 8, 1]], vec![3, 3]))
        );
        // Far before the first element is still only before it.
        assert_eq!(
            slice(&[5], &[[9, -100, -1]], plain()),
            Some((vec![[4, -1, -1]], vec![5]))
        );
        assert_eq!(
            slice(&[5, 2], &[[4, 1, 1]], plain()),
            Some((vec![[0, 0, 1], [0, 2, 1]], vec![0, 2]))
        );
        for extreme in [i64::MIN, i64::MAX] {
            let (_, sizes) = slice(&[5], &[[extreme; 3]], plain()).unwrap();
            assert_eq!(sizes, [0]);
        }
    }

    #[test]
    fn masks_leave_out_a_begin_or_an_end() {
        let options = StridedSliceOptions {
            begin_mask: 1,
            end_mask: 1,
            ..plain()
        };
        // All of 5 backwards; and 4, 2 of 6.
        assert_eq!(
            slice(&[5, 6], &[[0, 0, -1], [-2, 0, -2]], options),
            Some((vec![[4, -1, -1], [4, 0, -2]], vec![5, 2]))
        );
        // What does not count need not be known.
        let parameters = [unknown([1]), unknown([1]), ints(&[1])];
        assert_eq!(
            sliced(&[5], parameters, options),
            Some((vec![[0, 5, 1]], vec![5]))
        );
        let options = StridedSliceOptions {
            offset: true,
            ..plain()
        };
        // 3 + 4 = 7
        assert_eq!(
            slice(&[10], &[[3, 4, 1]], options),
            Some((vec![[3, 7, 1]], vec![4]))
        );
    }

    #[test]
    fn an_ellipsis_stands_for_the_dimensions_that_are_left() {
        let options = StridedSliceOptions {
            ellipsis_mask: 0b010,
            ..plain()
        };
        let entries = [[1, 3, 1], [0, 0, 1], [2, 5, 1]];
        assert_eq!(
            slice(&[4, 3, 2, 7], &entries, options),
            Some((
                vec![[1, 3, 1], [0, 3, 1], [0, 2, 1], [2, 5, 1]],
                vec![2, 3, 2, 3]
            ))
        );
        assert!(options.groups(3, 1).is_err());
        let two = StridedSliceOptions {
            ellipsis_mask: 0b11,
            ..plain()
        };
        assert_eq!(slice(&[4, 3], &[[0, 0, 1]; 2], two), None);
    }

    #[test]
    fn dimensions_come_and_go_in_a_second_layer() {
        let options = StridedSliceOptions {
            new_axis_mask: 0b0010,
            shrink_axis_mask: 0b1000,
            end_mask: 0b0100,
            ..plain()
        };
        let entries = [[0, 2, 1], [0, 0, 1], [1, 0, 1], [-1, 0, 1]];
        assert_eq!(
            slice(&[4, 3, 2], &entries, options),
            Some((vec![[0, 2, 1], [1, 3, 1], [1, 2, 1]], vec![2, 2, 1]))
        );
        // Of the dimensions 2, 2 and 1: the first, a new one, the second.
        assert_eq!(options.groups(4, 3).unwrap(), [vec![0], vec![], vec![1]]);
        // Which element is taken is not known, but that it is one.
        let rule = Rule::StridedSlice(options);
        let begin = list(&[Some(0), Some(0), Some(1), None]);
        let parameters = [begin, ints(&[2, 0, 0, 0]), ints(&[1; 4])];
        let partly = resolved(&rule, [4, 3, 2], &parameters).unwrap();
        assert_eq!(partly.outputs[0].dims(), [2, 2, 1]);
        assert!(!partly.complete);
    }

    #[test]
    fn an_unknown_dimension_is_sliced_from_its_start_or_once_it_is_known() {
        let options = StridedSliceOptions {
            end_mask: 1,
            ..plain()
        };
        assert_eq!(
            slice(&[-1, 4], &[[2, 0, 1], [0, 2, 1]], options),
            Some((vec![[2, i64::MAX, 1], [0, 2, 1]], vec![-1, 2]))
        );
        let rule = Rule::StridedSlice(options);
        let last = [ints(&[-1]), ints(&[0]), ints(&[1])];
        let open = resolved(&rule, [-1, 4], &last).unwrap();
        assert_eq!(open.outputs[0].dims(), [-1, 4]);
        assert!(!open.complete);
        let shrink = StridedSliceOptions {
            shrink_axis_mask: 1,
            ..plain()
        };
        assert_eq!(
            slice(&[-1], &[[7, -3, 1]], shrink),
            Some((vec![[7, 8, 1]], vec![1]))
        );
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused() {
        assert_eq!(slice(&[5], &[[0, 5, 0]], plain()), None);
        assert_eq!(slice(&[5], &[[0, 5, 1], [0, 1, 1]], plain()), None);
        assert_eq!(slice(&[5], &[[0, 5, 1]; 40], plain()), None);
        let shrink = StridedSliceOptions {
            shrink_axis_mask: 1,
            ..plain()
        };
        assert_eq!(slice(&[5], &[[5, 6, 1]], shrink), None);
        let uneven = [ints(&[0]), ints(&[1, 2]), ints(&[1])];
        assert_eq!(sliced(&[5], uneven, plain()), None);
    }
}
