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
