//! Slice and Split.

use armnn_backend_api::Shape;
use armnn_network::{OutputDeclaration, ParameterRule, SplitOptions, TensorId};

use super::context::{Context, axis};
use super::problem::{Problem, Result};
use super::tensor_info::shape as shape_of;

/// Along each of the axes, elements from a start to an end in steps. All are attributes before
/// version 10, and inputs since.
pub(super) fn slice(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let parameters = if c.version < 10 {
        let mut lists = Vec::new();
        for name in ["starts", "ends", "axes"] {
            let list = c.attributes.ints(name)?;
            lists.push(list.map(|list| c.integers(list)).transpose()?);
        }
        lists
    } else {
        (1..5)
            .map(|position| c.optional_input(position))
            .collect::<Result<Vec<_>>>()?
    };
    let is_there = |at: usize| parameters.get(at).is_some_and(Option::is_some);
    if !is_there(0) || !is_there(1) {
        return Err(Problem::malformed("it has no starts or ends"));
    }
    c.emit_deferred(ParameterRule::Slice, &[input], &parameters)
}

/// The sizes of the parts are an attribute before version 13, and an input since. Without them the
/// parts are equal, but for the last since version 18.
pub(super) fn split(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let at = axis(c.attributes.int("axis", 0)?, shape.rank())?;
    let parts = c.output_count();
    if let Some(count) = c.attributes.optional_int("num_outputs")?
        && usize::try_from(count) != Ok(parts)
    {
        return Err(Problem::malformed(format!(
            "its num_outputs is {count}, but it has {parts} outputs"
        )));
    }
    let sizes: Option<TensorId> = match c.version {
        13.. => c.optional_input(1)?,
        _ => match c.attributes.ints("split")? {
            Some(sizes) => Some(c.integers(sizes)?),
            None => None,
        },
    };
    if let (Some(sizes), 0..13) = (c.attributes.ints("split")?, c.version)
        && sizes.len() != parts
    {
        return Err(Problem::malformed(format!(
            "its sizes are {sizes:?}, but it has {parts} outputs"
        )));
    }
    let mut declarations = Vec::with_capacity(parts);
    for position in 0..parts {
        let mut dims = shape.dims().to_vec();
        if let Some(dim) = dims.get_mut(at) {
            *dim = Shape::UNKNOWN;
            if let Some(declared) = c.declaration(position)?.shape
                && let Some(&declared) = declared.dims().get(at)
            {
                *dim = declared;
            }
        }
        declarations.push(OutputDeclaration::of_shape(shape_of(&dims)?));
    }
    let options = SplitOptions {
        axis: Some(i64::try_from(at).unwrap_or(0)),
        parts,
        may_remain: false,
        smaller_last: c.version >= 18,
    };
    c.emit_deferred_all(
        ParameterRule::Split(options),
        &[Some(input)],
        &[sizes],
        &declarations,
    )
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::StridedSliceDescriptor;

    use crate::test_model::{assert_refused, descriptors, ints, list, single};

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
        assert_refused(uneven, "ends");
    }
}

#[cfg(test)]
mod split_tests {
    use crate::test_model::{TestModel, assert_refused, int, ints, list, single};

    fn parts(
        opset: i64,
        dims: &[i64],
        outputs: &[&str],
        model: TestModel,
        sizes: &[&str],
    ) -> Vec<i64> {
        let inputs = [&["x"], sizes].concat();
        let attributes = match opset {
            18.. if sizes.is_empty() => vec![int("num_outputs", outputs.len() as i64)],
            _ => vec![],
        };
        let mut model = model
            .input("x", dims)
            .node("Split", &inputs, outputs, &attributes);
        for output in outputs {
            model = model.output(output);
        }
        let network = model.parse().unwrap();
        let sizes = network.outputs().iter();
        sizes
            .map(|output| network.tensor(output.tensor).info.shape.dims()[0])
            .collect()
    }

    #[test]
    fn parts_are_equal_or_as_large_as_said() {
        let three = ["a", "b", "c"];
        assert_eq!(parts(11, &[6], &three, TestModel::new(11), &[]), [2, 2, 2]);
        // ceil(7 / 3) = 3, and what is left.
        assert_eq!(parts(18, &[7], &three, TestModel::new(18), &[]), [3, 3, 1]);
        let with_sizes = TestModel::new(13).constant(ints("s", &[1, 2, 4]));
        assert_eq!(parts(13, &[7], &three, with_sizes, &["s"]), [1, 2, 4]);
        let odd = single(11, "Split", &[7], &[], &[list("split", &[3, 4])]);
        assert_refused(odd, "but it has 1 outputs");
    }
}
