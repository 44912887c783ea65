//! STRIDED_SLICE: one StridedSlice with everything counted from the start, and a Reshape where
//! dimensions come or go.

use armnn_network::{OutputDeclaration, ParameterRule, StridedSliceOptions};

use super::context::{Context, each_dimension};
use super::problem::{Problem, Result};
use crate::schema_generated::StridedSliceOptionsRef;

/// Inputs: the tensor, begin, end and strides. The options are
/// [masks](armnn_network::StridedSliceOptions), with a bit for each entry of begin.
pub(super) fn strided_slice(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<StridedSliceOptionsRef<'_>>()?;
    let options = StridedSliceOptions {
        begin_mask: options.begin_mask()? as u32,
        end_mask: options.end_mask()? as u32,
        ellipsis_mask: options.ellipsis_mask()? as u32,
        new_axis_mask: options.new_axis_mask()? as u32,
        shrink_axis_mask: options.shrink_axis_mask()? as u32,
        offset: options.offset()?,
    };
    let input = context.input(0)?;
    let rank = context.shape(input)?.rank();
    let mut parameters = Vec::with_capacity(3);
    for position in 1..4 {
        parameters.push(Some(context.input(position)?));
    }
    let begin = context.input(1)?;
    let entries = match *context.shape(begin)?.dims() {
        [entries] => usize::try_from(entries).ok(),
        _ => None,
    };
    let entries = entries.ok_or_else(|| {
        Problem::unsupported("a slice along dimensions whose number is not known")
    })?;
    let groups = options
        .groups(entries, rank)
        .map_err(|problem| Problem::malformed(problem.to_string()))?;
    let declaration = context.moved(0, input)?;
    let rule = ParameterRule::StridedSlice(options);
    if groups == each_dimension(rank) {
        return context.emit_by_rule(0, rule, &[Some(input)], &parameters, declaration);
    }
    let sliced = OutputDeclaration::default();
    let sliced = context.step_by_rule(0, rule, &[Some(input)], &parameters, sliced)?;
    context.emit_merged(0, sliced, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_generated::BuiltinOperator as Op;
    use crate::schema_writer_generated as write;
    use crate::test_model::{
        TestTensor, assert_refused, descriptors, float, ints, lower, outputs, types,
    };
    use armnn_backend_api::{LayerDescriptor, LayerType, StridedSliceDescriptor};

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
        assert_refused(refused, "ellipsis_mask of the descriptor is 3");
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
        // What is counted from the end follows once the size is known.
        let lowered = slice(input(), &[[-1, 0, 1], [0, 2, 1]], options()).unwrap();
        assert!(lowered.layers()[0].descriptor().is_none());
        assert_eq!(outputs(&lowered), ["Float32[?, 2]"]);
    }

    #[test]
    fn parameters_that_make_no_sense_are_damage() {
        assert_refused(
            slice(float(&[5]), &[[0, 5, 0]], plain()),
            "strides of the descriptor is 0",
        );
        assert_refused(
            slice(float(&[5]), &[[0, 5, 1], [0, 1, 1]], plain()),
            "sliced dimensions of the descriptor is 2, but must be at most 1",
        );
        let options = write::StridedSliceOptions {
            shrink_axis_mask: 1,
            ..plain()
        };
        let refused = slice(float(&[5]), &[[5, 6, 1]], options);
        assert_refused(refused, "begin of the descriptor is 5");
        for extreme in [i32::MIN, i32::MAX] {
            let lowered = slice(float(&[5]), &[[extreme, extreme, extreme]], plain());
            assert_eq!(outputs(&lowered.unwrap()), ["Float32[0]"]);
        }
    }
}
