//! STRIDED_SLICE: one StridedSlice with everything counted from the start, and a Reshape where
//! dimensions come or go.

use armnn_backend_api::{Shape, StridedSliceDescriptor};
use armnn_network::OutputDeclaration;

use super::context::{Context, agreed, described};
use super::problem::{Problem, Result};
use crate::schema_generated::StridedSliceOptionsRef;

/// A mask has a bit for each entry of begin, end and strides:
/// - `ellipsis_mask`: the entry stands for as many whole dimensions as the others leave;
/// - `new_axis_mask`: it stands for a new dimension of size 1;
/// - `shrink_axis_mask`: one element is taken, and the dimension goes;
/// - `begin_mask`, `end_mask`: begin or end does not count, all is taken up to that side.
///
/// With `offset`, ends are counted from begin
/// (<https://www.tensorflow.org/api_docs/python/tf/strided_slice>).
pub(super) fn strided_slice(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StridedSliceOptionsRef<'_>>()?;
    let spec = Spec {
        begin: context.integers(1, MOST_ENTRIES, "begin")?,
        end: context.integers(2, MOST_ENTRIES, "end")?,
        strides: context.integers(3, MOST_ENTRIES, "the strides")?,
        begin_mask: options.begin_mask()?,
        end_mask: options.end_mask()?,
        ellipsis_mask: options.ellipsis_mask()?,
        new_axis_mask: options.new_axis_mask()?,
        shrink_axis_mask: options.shrink_axis_mask()?,
        offset: options.offset()?,
    };
    let input = context.input(0)?;
    let plan = spec.plan(context.shape(input)?)?;
    let descriptor = described(StridedSliceDescriptor::new(
        &plan.begin,
        &plan.end,
        &plan.stride,
    ))?;
    let mut declaration = context.moved(0, input)?;
    if plan.target == plan.sizes {
        declaration.shape = Some(agreed(&plan.target, declaration.shape)?);
        return context.emit_declared(0, descriptor, &[Some(input)], declaration);
    }
    let sliced = OutputDeclaration {
        shape: Some(described(Shape::new(&plan.sizes).ok())?),
        ..OutputDeclaration::default()
    };
    let sliced = context.step(0, descriptor, &[Some(input)], sliced)?;
    context.emit_reshape(0, sliced, &plan.target)
}

/// Eight dimensions, as many new ones, and an ellipsis.
const MOST_ENTRIES: usize = 17;

/// The operator's parameters.
struct Spec {
    begin: Vec<i64>,
    end: Vec<i64>,
    strides: Vec<i64>,
    begin_mask: i32,
    end_mask: i32,
    ellipsis_mask: i32,
    new_axis_mask: i32,
    shrink_axis_mask: i32,
    offset: bool,
}

/// The same for the layers: an entry for each dimension of the input.
#[derive(Default)]
struct Plan {
    begin: Vec<i64>,
    end: Vec<i64>,
    stride: Vec<i64>,
    /// The sizes of the slice; unknown where the input's are.
    sizes: Vec<i64>,
    /// The sizes of the output, with new dimensions and without those that go.
    target: Vec<i64>,
}

impl Spec {
    fn plan(&self, shape: Shape) -> Result<Plan> {
        let entries = self.begin.len();
        if self.end.len() != entries || self.strides.len() != entries {
            return Err(Problem::malformed(format!(
                "{entries} entries of begin, {} of end, {} of strides",
                self.end.len(),
                self.strides.len()
            )));
        }
        let is_set = |mask: i32, entry: usize| mask & (1 << entry) != 0;
        let ellipses = (0..entries)
            .filter(|&entry| is_set(self.ellipsis_mask, entry))
            .count();
        if ellipses > 1 {
            return Err(Problem::malformed("more than one ellipsis"));
        }
        // An ellipsis goes before a new dimension where both bits are set.
        let is_new =
            |entry| is_set(self.new_axis_mask, entry) && !is_set(self.ellipsis_mask, entry);
        let new = (0..entries).filter(|&entry| is_new(entry)).count();
        let Some(left) = shape.rank().checked_sub(entries - ellipses - new) else {
            return Err(Problem::malformed(format!(
                "a slice along {} dimensions of an input of shape {shape}",
                entries - ellipses - new
            )));
        };

        let mut plan = Plan::default();
        let mut dims = shape.dims().iter().copied();
        for entry in 0..entries {
            if is_set(self.ellipsis_mask, entry) {
                dims.by_ref().take(left).for_each(|dim| plan.take_all(dim));
            } else if is_new(entry) {
                plan.target.push(1);
            } else if let Some(dim) = dims.next() {
                self.take(entry, dim, &mut plan)?;
            }
        }
        // Dimensions without an entry are taken whole.
        dims.for_each(|dim| plan.take_all(dim));
        Ok(plan)
    }

    /// What entry `entry` takes of a dimension.
    fn take(&self, entry: usize, dim: i64, plan: &mut Plan) -> Result {
        let is_set = |mask: i32| mask & (1 << entry) != 0;
        let (begin, end, stride) = (self.begin[entry], self.end[entry], self.strides[entry]);
        if stride == 0 {
            return Err(Problem::malformed("a stride is 0"));
        }
        let shrinks = is_set(self.shrink_axis_mask);
        if dim < 0 {
            return self.take_unknown(entry, plan);
        }
        // Backwards, -1 is the place before the first element.
        let (least, most) = if stride > 0 { (0, dim) } else { (-1, dim - 1) };
        let from_start = |index: i64| {
            let index = if index < 0 {
                index.saturating_add(dim)
            } else {
                index
            };
            index.clamp(least, most)
        };
        let begin = match is_set(self.begin_mask) {
            true if stride > 0 => 0,
            true => dim - 1,
            false => from_start(begin),
        };
        if shrinks {
            if !(0..dim).contains(&begin) {
                return Err(Problem::malformed(format!(
                    "element {} is taken of a dimension of {dim}",
                    self.begin[entry]
                )));
            }
            plan.push(begin, begin + 1, 1, 1);
            return Ok(());
        }
        let end = match is_set(self.end_mask) {
            true if stride > 0 => dim,
            true => -1,
            false if self.offset => from_start(end.saturating_add(begin)),
            false => from_start(end),
        };
        let distance = if stride > 0 { end - begin } else { begin - end };
        let steps = distance
            .max(0)
            .unsigned_abs()
            .div_ceil(stride.unsigned_abs());
        // No more than the dimension.
        let size = i64::try_from(steps).unwrap_or(0);
        // An empty slice begins anywhere; here where any input has a place.
        let (begin, end) = if size == 0 { (0, 0) } else { (begin, end) };
        plan.push(begin, end, if size == 0 { 1 } else { stride }, size);
        plan.target.push(size);
        Ok(())
    }

    /// The same of a dimension whose size is not known, where nothing is counted from its end.
    fn take_unknown(&self, entry: usize, plan: &mut Plan) -> Result {
        let is_set = |mask: i32| mask & (1 << entry) != 0;
        let begin = if is_set(self.begin_mask) {
            0
        } else {
            self.begin[entry]
        };
        let end = match is_set(self.end_mask) {
            true => i64::MAX,
            false if self.offset => self.end[entry].saturating_add(begin),
            false => self.end[entry],
        };
        let stride = self.strides[entry];
        if begin < 0 || stride < 0 || end < 0 && !is_set(self.shrink_axis_mask) {
            return Err(Problem::unsupported(
                "a slice counted from the end of a dimension whose size is not known; give the \
                 model fixed input shapes",
            ));
        }
        if is_set(self.shrink_axis_mask) {
            plan.push(begin, begin.saturating_add(1), 1, 1);
        } else {
            plan.push(begin, end, stride, Shape::UNKNOWN);
            plan.target.push(Shape::UNKNOWN);
        }
        Ok(())
    }
}

impl Plan {
    fn push(&mut self, begin: i64, end: i64, stride: i64, size: i64) {
        self.begin.push(begin);
        self.end.push(end);
        self.stride.push(stride);
        self.sizes.push(size);
    }

    fn take_all(&mut self, dim: i64) {
        self.push(0, if dim < 0 { i64::MAX } else { dim }, 1, dim);
        self.target.push(dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::BuiltinOperator as Op;
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestTensor, assert_refused, descriptors, float, ints, lower, outputs, types,
    };
    use armnn_backend_api::{LayerDescriptor, LayerType};

    type Lowered = Result<armnn_network::Network, crate::TfliteParserError>;

    /// Of an input, with `[begin, end, stride]` for each entry.
    fn slice(
        input: TestTensor,
        entries: &[[i32; 3]],
        options: write::StridedSliceOptions,
    ) -> Lowered {
        let list =
            |field: usize| ints(&entries.iter().map(|entry| entry[field]).collect::<Vec<_>>());
        let inputs = [input, list(0), list(1), list(2)];
        let options = write::BuiltinOptions::StridedSliceOptions(Box::new(options));
        lower(Op::StridedSlice, &inputs, &[float(&[])], options)
    }

    /// Asserts what is taken from each dimension, and the output's shape.
    #[track_caller]
    fn assert_slice(lowered: Lowered, expected: &[[i64; 3]], shape: &str) {
        let network = lowered.unwrap();
        let list = |field: usize| {
            expected
                .iter()
                .map(|entry| entry[field])
                .collect::<Vec<_>>()
        };
        let expected = StridedSliceDescriptor::new(&list(0), &list(1), &list(2)).unwrap();
        assert_eq!(descriptors(&network)[0], &LayerDescriptor::from(expected));
        assert_eq!(outputs(&network), [format!("Float32{shape}")]);
    }

    fn plain() -> write::StridedSliceOptions {
        write::StridedSliceOptions::default()
    }

    #[test]
    fn begins_and_ends_count_from_the_end_and_are_cut_to_the_input() {
        assert_slice(
            slice(float(&[8, 8]), &[[1, -1, 2], [-3, 100, 1]], plain()),
            // 1, 3, 5; and 5, 6, 7.
            &[[1, 7, 2], [5, 8, 1]],
            "[3, 3]",
        );
    }

    #[test]
    fn backwards_the_place_before_the_first_element_is_minus_1() {
        let options = write::StridedSliceOptions {
            begin_mask: 1,
            end_mask: 1,
            ..plain()
        };
        // All of 5 backwards; and 4, 2 of 6.
        assert_slice(
            slice(float(&[5, 6]), &[[0, 0, -1], [-2, 0, -2]], options),
            &[[4, -1, -1], [4, 0, -2]],
            "[5, 2]",
        );
        // Far before the first element is still only before it.
        assert_slice(
            slice(float(&[5]), &[[9, -100, -1]], plain()),
            &[[4, -1, -1]],
            "[5]",
        );
    }

    #[test]
    fn dimensions_without_an_entry_are_taken_whole() {
        assert_slice(
            slice(float(&[4, 3, 2]), &[[1, 3, 1]], plain()),
            &[[1, 3, 1], [0, 3, 1], [0, 2, 1]],
            "[2, 3, 2]",
        );
    }

    #[test]
    fn an_ellipsis_stands_for_the_dimensions_that_are_left() {
        let options = write::StridedSliceOptions {
            ellipsis_mask: 0b010,
            ..plain()
        };
        assert_slice(
            slice(
                float(&[4, 3, 2, 7]),
                &[[1, 3, 1], [0, 0, 1], [2, 5, 1]],
                options,
            ),
            &[[1, 3, 1], [0, 3, 1], [0, 2, 1], [2, 5, 1]],
            "[2, 3, 2, 3]",
        );
        let options = write::StridedSliceOptions {
            ellipsis_mask: 0b11,
            ..plain()
        };
        let refused = slice(float(&[4, 3]), &[[0, 0, 1], [0, 0, 1]], options);
        assert_refused(refused, "more than one ellipsis");
    }

    #[test]
    fn dimensions_come_and_go_in_a_reshape() {
        let options = write::StridedSliceOptions {
            new_axis_mask: 0b0010,
            shrink_axis_mask: 0b1000,
            end_mask: 0b0100,
            ..plain()
        };
        let network = slice(
            float(&[4, 3, 2]),
            &[[0, 2, 1], [0, 0, 1], [1, 0, 1], [-1, 0, 1]],
            options,
        );
        let network = network.unwrap();
        assert_eq!(
            types(&network),
            [LayerType::StridedSlice, LayerType::Reshape]
        );
        let sliced = network.tensor(network.layers()[0].outputs[0]);
        assert_eq!(sliced.info.to_string(), "Float32[2, 2, 1]");
        assert_slice(Ok(network), &[[0, 2, 1], [1, 3, 1], [1, 2, 1]], "[2, 1, 2]");
    }

    #[test]
    fn with_offset_ends_count_from_the_beginning_of_the_slice() {
        let options = write::StridedSliceOptions {
            offset: true,
            ..plain()
        };
        assert_slice(
            slice(float(&[10]), &[[3, 4, 1]], options),
            &[[3, 7, 1]],
            "[4]",
        );
    }

    #[test]
    fn a_slice_may_be_empty() {
        let network = slice(float(&[5, 2]), &[[4, 1, 1], [0, 2, 1]], plain()).unwrap();
        assert_eq!(outputs(&network), ["Float32[0, 2]"]);
        let network = slice(float(&[5]), &[[1, 4, -1]], plain()).unwrap();
        assert_eq!(outputs(&network), ["Float32[0]"]);
    }

    #[test]
    fn an_unknown_dimension_is_sliced_from_its_start() {
        let input = || float(&[1, 4]).signature(&[-1, 4]);
        let options = || write::StridedSliceOptions {
            end_mask: 1,
            ..plain()
        };
        let lowered = slice(input(), &[[0, 0, 1], [0, 2, 1]], options());
        assert_slice(lowered, &[[0, i64::MAX, 1], [0, 2, 1]], "[?, 2]");
        let refused = slice(input(), &[[-1, 0, 1], [0, 2, 1]], options());
        assert_refused(
            refused,
            "counted from the end of a dimension whose size is not known",
        );
    }

    #[test]
    fn parameters_that_make_no_sense_are_damage() {
        assert_refused(slice(float(&[5]), &[[0, 5, 0]], plain()), "a stride is 0");
        assert_refused(
            slice(float(&[5]), &[[0, 5, 1], [0, 1, 1]], plain()),
            "a slice along 2 dimensions of an input of shape [5]",
        );
        let options = write::StridedSliceOptions {
            shrink_axis_mask: 1,
            ..plain()
        };
        let refused = slice(float(&[5]), &[[5, 6, 1]], options);
        assert_refused(refused, "element 5 is taken of a dimension of 5");
        for extreme in [i32::MIN, i32::MAX] {
            let lowered = slice(float(&[5]), &[[extreme, extreme, extreme]], plain());
            assert_eq!(outputs(&lowered.unwrap()), ["Float32[0]"]);
        }
    }
}
