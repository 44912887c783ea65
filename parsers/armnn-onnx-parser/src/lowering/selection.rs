//! Gather and Split.

use armnn_backend_api::{DataType, GatherDescriptor, Shape, SplitDescriptor};
use armnn_network::OutputDeclaration;

use super::constant::Constant;
use super::context::{Context, axis, small};
use super::problem::{Problem, Result};
use super::tensor_info::shape as shape_of;

/// How many constant indices are looked at to count negative ones from the end.
const MOST_INDICES: usize = 1 << 20;

/// Negative indices, which count from the end, must be constant: of others, the layer says when it
/// is executed that they are outside.
pub(super) fn gather(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let along = axis(c.attributes.int("axis", 0)?, shape.rank())?;
    let size = shape.dims()[along];
    let indices = match c.constant(1)? {
        Some(constant) if constant.count() <= MOST_INDICES => {
            let values = constant.known_integers(MOST_INDICES, "the indices")?;
            match values.iter().any(|&index| index < 0) {
                false => c.input(1)?,
                true => {
                    c.pay_for(values.len().saturating_mul(size_of::<i64>()))?;
                    let values = from_start(&values, size)?;
                    let data_type = match constant.data_type {
                        DataType::Signed32 => DataType::Signed32,
                        _ => DataType::Signed64,
                    };
                    c.add_constant(&Constant::integers(data_type, &constant.dims, values))?
                }
            }
        }
        _ => c.input(1)?,
    };
    let axis = small(along, "its axis")?;
    c.emit(GatherDescriptor { axis }, &[input, indices])
}

fn from_start(indices: &[i64], size: i64) -> Result<Vec<Option<i64>>> {
    if size < 0 {
        return Err(Problem::unsupported(
            "indices from the end of a dimension that is not known; give the model fixed input \
             shapes",
        ));
    }
    indices
        .iter()
        .map(|&index| {
            let from_start = if index < 0 {
                index.saturating_add(size)
            } else {
                index
            };
            match (0..size).contains(&from_start) {
                true => Ok(Some(from_start)),
                false => Err(Problem::malformed(format!(
                    "index {index} of {size} elements"
                ))),
            }
        })
        .collect()
}

/// The sizes of the parts are an attribute before version 13, and an input since. Without them the
/// parts are equal, but for the last since version 18.
pub(super) fn split(c: &mut Context<'_, '_>) -> Result {
    let input = c.input(0)?;
    let shape = c.shape(input)?;
    let along = axis(c.attributes.int("axis", 0)?, shape.rank())?;
    let outputs = c.output_count();
    let parts = i64::try_from(outputs).unwrap_or(i64::MAX);
    let sizes = match c.version {
        13.. => c.optional_integers(1, outputs, "the sizes")?,
        _ => c.attributes.ints("split")?.map(<[i64]>::to_vec),
    };
    if let Some(count) = c.attributes.optional_int("num_outputs")?
        && count != parts
    {
        return Err(Problem::malformed(format!(
            "its num_outputs is {count}, but it has {parts} outputs"
        )));
    }
    let size = shape.dims()[along];
    let sizes = match sizes {
        Some(sizes) if sizes.len() == outputs && sizes.iter().all(|&size| size >= 0) => sizes,
        Some(sizes) => {
            return Err(Problem::malformed(format!(
                "its sizes are {sizes:?}, but it has {parts} outputs"
            )));
        }
        None if size < 0 || parts == 0 => vec![Shape::UNKNOWN; outputs],
        None if c.version < 18 && size % parts != 0 => {
            return Err(Problem::malformed(format!(
                "{size} elements are no {parts} equal parts"
            )));
        }
        None => {
            let part = size / parts + i64::from(size % parts != 0);
            let mut left = size;
            (0..outputs)
                .map(|_| {
                    let taken = part.min(left);
                    left -= taken;
                    taken
                })
                .collect()
        }
    };
    let mut declarations = Vec::with_capacity(outputs);
    for (position, size) in sizes.into_iter().enumerate() {
        let mut dims = shape.dims().to_vec();
        dims[along] = size;
        if size < 0
            && let Some(declared) = c.declaration(position)?.shape
            && let Some(&declared) = declared.dims().get(along)
        {
            dims[along] = declared;
        }
        declarations.push(OutputDeclaration::of_shape(shape_of(&dims)?));
    }
    let axis = small(along, "its axis")?;
    c.emit_all(SplitDescriptor { axis }, &[Some(input)], &declarations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_model::{
        TestModel, assert_refused, descriptors, int, ints, list, output_dims, single,
    };

    #[test]
    fn constant_indices_from_the_end_become_such_from_the_start() {
        let network = single(
            13,
            "Gather",
            &[2, 5],
            &[ints("i", &[-1, 0])],
            &[int("axis", -1)],
        );
        let network = network.unwrap();
        assert_eq!(descriptors(&network), [GatherDescriptor { axis: 1 }.into()]);
        let indices = network.tensor(network.layers()[0].inputs[1].unwrap());
        assert_eq!(indices.constant().unwrap()[..2], [4, 0]);
        assert_eq!(output_dims(&network), [2, 2]);
        let outside = single(13, "Gather", &[2, 5], &[ints("i", &[-3])], &[]);
        assert_refused(outside, "index -3 of 2 elements");
        let unknown = single(13, "Gather", &[-1, 5], &[ints("i", &[-1])], &[]);
        assert_refused(unknown, "from the end of a dimension that is not known");
    }

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
