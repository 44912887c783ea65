//! Integer arithmetic on what follows from shapes.
//!
//! Exporters write the target of a Reshape as a chain of nodes: Shape, Gather, Mul, Unsqueeze,
//! Concat. Where dimensions are known, such nodes are computed here and become no layers. What
//! follows from unknown dimensions becomes layers, which shape inference evaluates when a plan is
//! made.

use armnn_backend_api::DataType;

use super::constant::Constant;
use super::context::{Context, axis};
use super::problem::{Problem, Result};

/// How many elements are computed with: shapes have 8 at most, and chains join a few of them.
const MOST: usize = 1024;

type Integers = Vec<Option<i64>>;

/// Computes the node, if all it reads are small integer constants and it can be computed.
pub(super) fn fold(c: &mut Context<'_, '_>) -> Result<bool> {
    let Some(operation) = operation(&c.node.op_type) else {
        return Ok(false);
    };
    let mut inputs = Vec::new();
    for position in 0..c.input_count() {
        if !c.has_input(position) {
            inputs.push(None);
            continue;
        }
        let Some(constant) = c.constant(position)? else {
            return Ok(false);
        };
        let is_integer = matches!(
            constant.data_type,
            DataType::Signed64 | DataType::Signed32 | DataType::Boolean
        );
        if !is_integer || constant.count() > MOST {
            return Ok(false);
        }
        inputs.push(Some(constant));
    }
    let operands = inputs
        .iter()
        .flatten()
        .map(|constant| Operand::of(constant))
        .collect::<Result<Vec<_>>>()?;
    let Some(folded) = compute(c, operation, &operands)? else {
        return Ok(false);
    };
    // What the arithmetic of the layers would do with such numbers is theirs.
    let Some(values) = folded.values.into_iter().collect::<Option<Vec<i64>>>() else {
        return Ok(false);
    };
    c.bind_constant(
        0,
        Constant::integers(folded.data_type, &folded.dims, &values),
    )?;
    Ok(true)
}

#[derive(Clone, Copy)]
enum Operation {
    Pairs(fn(i64, i64) -> Option<i64>),
    Compared(fn(i64, i64) -> bool),
    Each(fn(i64) -> Option<i64>),
    Cast,
    Gather,
    Concat,
    Slice,
    Range,
    Where,
    Reduce(fn(i64, i64) -> Option<i64>, i64),
}

fn operation(op_type: &str) -> Option<Operation> {
    use Operation::{Compared, Each, Pairs, Reduce};
    Some(match op_type {
        "Add" => Pairs(i64::checked_add),
        "Sub" => Pairs(i64::checked_sub),
        "Mul" => Pairs(i64::checked_mul),
        "Div" => Pairs(i64::checked_div),
        "Max" => Pairs(|a, b| Some(a.max(b))),
        "Min" => Pairs(|a, b| Some(a.min(b))),
        "And" => Compared(|a, b| a != 0 && b != 0),
        "Or" => Compared(|a, b| a != 0 || b != 0),
        "Equal" => Compared(|a, b| a == b),
        "Greater" => Compared(|a, b| a > b),
        "GreaterOrEqual" => Compared(|a, b| a >= b),
        "Less" => Compared(|a, b| a < b),
        "LessOrEqual" => Compared(|a, b| a <= b),
        "Neg" => Each(i64::checked_neg),
        "Abs" => Each(i64::checked_abs),
        "Not" => Each(|a| Some(i64::from(a == 0))),
        "Cast" => Operation::Cast,
        "Gather" => Operation::Gather,
        "Concat" => Operation::Concat,
        "Slice" => Operation::Slice,
        "Range" => Operation::Range,
        "Where" => Operation::Where,
        "ReduceProd" => Reduce(i64::checked_mul, 1),
        "ReduceSum" => Reduce(i64::checked_add, 0),
        _ => return None,
    })
}

struct Operand {
    data_type: DataType,
    dims: Vec<i64>,
    values: Integers,
}

impl Operand {
    fn new(data_type: DataType, dims: &[i64], values: Integers) -> Self {
        Self {
            data_type,
            dims: dims.to_vec(),
            values,
        }
    }

    fn of(constant: &Constant) -> Result<Self> {
        Ok(Self {
            data_type: constant.data_type,
            dims: constant.dims.clone(),
            values: (constant.known_integers(MOST, "a constant")?.into_iter())
                .map(Some)
                .collect(),
        })
    }

    /// The element at a position of the shape that this one broadcasts to.
    fn at(&self, dims: &[usize], mut position: usize) -> Option<i64> {
        let mut own = 0;
        let mut stride = 1;
        for (i, &dim) in dims.iter().enumerate().rev() {
            let coordinate = position % dim.max(1);
            position /= dim.max(1);
            let behind = dims.len() - i;
            if let Some(at) = self.dims.len().checked_sub(behind) {
                let size = usize::try_from(self.dims[at]).unwrap_or(0);
                if size != 1 {
                    own += coordinate * stride;
                }
                stride *= size;
            }
        }
        self.values.get(own).copied().flatten()
    }
}

fn compute(
    c: &mut Context<'_, '_>,
    operation: Operation,
    operands: &[Operand],
) -> Result<Option<Operand>> {
    let [first, others @ ..] = operands else {
        return Ok(None);
    };
    let data_type = first.data_type;
    let fits = |value: Option<i64>| match (value, data_type) {
        // Beyond 32 bits, the arithmetic of the model would wrap around.
        (Some(n), DataType::Signed32) if i32::try_from(n).is_err() => None,
        (value, _) => value,
    };
    let folded = match operation {
        Operation::Pairs(f) => {
            let mut all = Operand { ..clone(first) };
            for other in others {
                let Some(next) = pairs(&all, other, |a, b| fits(f(a?, b?))) else {
                    return Ok(None);
                };
                all = next;
            }
            Operand::new(data_type, &all.dims, all.values)
        }
        Operation::Compared(f) => {
            let [second] = others else { return Ok(None) };
            let compared = |a: Option<i64>, b: Option<i64>| Some(i64::from(f(a?, b?)));
            let Some(compared) = pairs(first, second, compared) else {
                return Ok(None);
            };
            Operand::new(DataType::Boolean, &compared.dims, compared.values)
        }
        Operation::Each(f) => {
            let values = first
                .values
                .iter()
                .map(|value| fits(f((*value)?)))
                .collect();
            Operand::new(data_type, &first.dims, values)
        }
        Operation::Cast => {
            let to = match c.attributes.optional_int("to")? {
                Some(7) => DataType::Signed64,
                Some(6) => DataType::Signed32,
                Some(9) => DataType::Boolean,
                _ => return Ok(None),
            };
            c.attributes.ignore("saturate");
            let converted = |value: Option<i64>| match to {
                DataType::Boolean => Some(i64::from(value? != 0)),
                DataType::Signed32 => value.filter(|&n| i32::try_from(n).is_ok()),
                _ => value,
            };
            let values = first.values.iter().map(|&value| converted(value)).collect();
            Operand::new(to, &first.dims, values)
        }
        Operation::Gather => {
            let [indices] = others else { return Ok(None) };
            match (gathered(c, first, indices)?, c.attributes.int("axis", 0)?) {
                (Some(values), 0 | -1) => Operand::new(data_type, &indices.dims, values),
                _ => return Ok(None),
            }
        }
        Operation::Concat => match (first.dims.len(), c.attributes.int("axis", 0)?) {
            (1, 0 | -1) if others.iter().all(|other| other.dims.len() == 1) => {
                let values: Integers = operands.iter().flat_map(|o| o.values.clone()).collect();
                if values.len() > MOST {
                    return Ok(None);
                }
                let length = [i64::try_from(values.len()).unwrap_or(0)];
                Operand::new(data_type, &length, values)
            }
            _ => return Ok(None),
        },
        Operation::Slice => match sliced(c, first, others)? {
            Some(values) => {
                let length = [i64::try_from(values.len()).unwrap_or(0)];
                Operand::new(data_type, &length, values)
            }
            None => return Ok(None),
        },
        Operation::Range => match range(operands) {
            Some(values) => {
                let length = [i64::try_from(values.len()).unwrap_or(0)];
                Operand::new(data_type, &length, values)
            }
            None => return Ok(None),
        },
        Operation::Where => {
            let [x, y] = others else { return Ok(None) };
            // Both choices, then by the condition.
            let Some(dims) =
                broadcast(&first.dims, &x.dims).and_then(|dims| broadcast(&dims, &y.dims))
            else {
                return Ok(None);
            };
            let sizes: Vec<usize> = sizes(&dims);
            let count: usize = sizes.iter().product();
            if count > MOST {
                return Ok(None);
            }
            let chosen = |position: usize| match first.at(&sizes, position)? {
                0 => y.at(&sizes, position),
                _ => x.at(&sizes, position),
            };
            Operand::new(x.data_type, &dims, (0..count).map(chosen).collect())
        }
        Operation::Reduce(f, neutral) => {
            // Of all elements, or along the only dimension.
            let axes = c.attributes.ints("axes")?;
            let along_first = axes.is_none_or(|axes| matches!(axes, [0 | -1]))
                && others
                    .first()
                    .is_none_or(|axes| matches!(axes.values[..], [Some(0 | -1)]));
            if first.dims.len() != 1 || !along_first {
                return Ok(None);
            }
            if c.attributes.flag("noop_with_empty_axes", false)? {
                return Ok(None);
            }
            let value = first
                .values
                .iter()
                .try_fold(neutral, |so_far, value| f(so_far, (*value)?));
            let dims: &[i64] = match c.attributes.flag("keepdims", true)? {
                true => &[1],
                false => &[],
            };
            Operand::new(data_type, dims, vec![fits(value)])
        }
    };
    Ok(Some(folded))
}

fn clone(operand: &Operand) -> Operand {
    Operand {
        data_type: operand.data_type,
        dims: operand.dims.clone(),
        values: operand.values.clone(),
    }
}

fn sizes(dims: &[i64]) -> Vec<usize> {
    let size = |&dim: &i64| usize::try_from(dim).unwrap_or(0);
    dims.iter().map(size).collect()
}

fn pairs(
    x: &Operand,
    y: &Operand,
    f: impl Fn(Option<i64>, Option<i64>) -> Option<i64>,
) -> Option<Operand> {
    let dims = broadcast(&x.dims, &y.dims)?;
    let sizes = sizes(&dims);
    let count: usize = sizes.iter().product();
    if count > MOST {
        return None;
    }
    let values = (0..count)
        .map(|position| f(x.at(&sizes, position), y.at(&sizes, position)))
        .collect();
    Some(Operand {
        data_type: x.data_type,
        dims,
        values,
    })
}

/// The shape that both broadcast to; none where they do not, or it is too large.
fn broadcast(x: &[i64], y: &[i64]) -> Option<Vec<i64>> {
    let rank = x.len().max(y.len());
    let at = |dims: &[i64], i: usize| match (i + dims.len()).checked_sub(rank) {
        Some(at) => dims[at],
        None => 1,
    };
    let dims: Option<Vec<i64>> = (0..rank)
        .map(|i| match (at(x, i), at(y, i)) {
            (1, d) | (d, 1) => Some(d),
            (a, b) => (a == b).then_some(a),
        })
        .collect();
    let count = dims
        .iter()
        .flatten()
        .try_fold(1i64, |n, &dim| n.checked_mul(dim))?;
    dims.filter(|_| usize::try_from(count).is_ok_and(|count| count <= MOST))
}

/// Elements of a list, chosen by indices; none where it is no list.
fn gathered(c: &Context<'_, '_>, list: &Operand, indices: &Operand) -> Result<Option<Integers>> {
    if list.dims.len() != 1 {
        return Ok(None);
    }
    axis(c.attributes.int("axis", 0)?, 1)?;
    let length = i64::try_from(list.values.len()).unwrap_or(i64::MAX);
    let mut values = Vec::with_capacity(indices.values.len());
    for &index in &indices.values {
        let Some(index) = index else {
            values.push(None);
            continue;
        };
        let from_start = if index < 0 {
            index.saturating_add(length)
        } else {
            index
        };
        let value = usize::try_from(from_start)
            .ok()
            .and_then(|at| list.values.get(at));
        values
            .push(*value.ok_or_else(|| {
                Problem::malformed(format!("index {index} of {length} elements"))
            })?);
    }
    Ok(Some(values))
}

/// A part of a list; none where it is no list.
fn sliced(c: &Context<'_, '_>, list: &Operand, others: &[Operand]) -> Result<Option<Integers>> {
    if list.dims.len() != 1 {
        return Ok(None);
    }
    let single = |values: &[i64]| match values {
        &[value] => Some(value),
        _ => None,
    };
    let [start, end, along, step] = if c.version < 10 {
        let attribute =
            |name| -> Result<Option<Option<i64>>> { Ok(c.attributes.ints(name)?.map(single)) };
        [
            attribute("starts")?.flatten(),
            attribute("ends")?.flatten(),
            attribute("axes")?.unwrap_or(Some(0)),
            Some(1),
        ]
    } else {
        if others.len() != c.input_count().saturating_sub(1) {
            return Ok(None);
        }
        let input = |at: usize, default: Option<i64>| match others.get(at) {
            Some(other) => match other.values[..] {
                [value] => value,
                _ => None,
            },
            None => default,
        };
        [
            input(0, None),
            input(1, None),
            input(2, Some(0)),
            input(3, Some(1)),
        ]
    };
    let (Some(start), Some(end), Some(along), Some(step)) = (start, end, along, step) else {
        return Ok(None);
    };
    axis(along, 1)?;
    if step == 0 {
        return Err(Problem::malformed("its step is 0"));
    }
    let length = i64::try_from(list.values.len()).unwrap_or(i64::MAX);
    let from_start = |position: i64| match position {
        ..0 => position.saturating_add(length),
        position => position,
    };
    let last = length - 1;
    let (mut at, end) = match step > 0 {
        true => (
            from_start(start).clamp(0, length),
            from_start(end).clamp(0, length),
        ),
        false => (
            from_start(start).clamp(-1, last),
            from_start(end).clamp(-1, last),
        ),
    };
    let mut values = Vec::new();
    // Ends: each round moves on, and there are no more rounds than elements.
    while (step > 0 && at < end) || (step < 0 && at > end) {
        let value = usize::try_from(at).ok().and_then(|at| list.values.get(at));
        match value {
            Some(&value) => values.push(value),
            None => break,
        }
        at = at.saturating_add(step);
    }
    Ok(Some(values))
}

/// Numbers from a start to a limit in steps; none where they are too many or not known.
fn range(operands: &[Operand]) -> Option<Integers> {
    let [start, limit, step] = operands else {
        return None;
    };
    let number = |operand: &Operand| match operand.values[..] {
        [value] => value,
        _ => None,
    };
    let (mut at, limit, step) = (number(start)?, number(limit)?, number(step)?);
    let mut values = Vec::new();
    while (step > 0 && at < limit) || (step < 0 && at > limit) {
        if values.len() == MOST {
            return None;
        }
        values.push(Some(at));
        at = at.checked_add(step)?;
    }
    (step != 0).then_some(values)
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::LayerType;

    use crate::proto::TensorProto;
    use crate::test_model::{TestModel, int, ints, output_dims, types};

    fn scalar(name: &str, value: i64) -> TensorProto {
        TensorProto {
            dims: vec![],
            ..ints(name, &[value])
        }
    }

    /// As exporters flatten: x.view(x.shape[0], -1).
    fn flattening(dims: &[i64]) -> TestModel {
        TestModel::new(13)
            .input("x", dims)
            .constant(scalar("zero", 0))
            .constant(ints("axes", &[0]))
            .constant(ints("rest", &[-1]))
            .node("Shape", &["x"], &["shape"], &[])
            .node("Gather", &["shape", "zero"], &["batch"], &[int("axis", 0)])
            .node("Unsqueeze", &["batch", "axes"], &["first"], &[])
            .node("Concat", &["first", "rest"], &["target"], &[int("axis", 0)])
            .node("Reshape", &["x", "target"], &["y"], &[])
            .output("y")
    }

    #[test]
    fn a_chain_from_a_shape_to_a_reshape_is_one_layer() {
        let network = flattening(&[2, 3, 4]).parse().unwrap();
        assert_eq!(types(&network), [LayerType::Reshape]);
        assert_eq!(output_dims(&network), [2, 12]);
        // What is not known is computed when a plan is made.
        let network = flattening(&[-1, 3, -1]).parse().unwrap();
        assert_eq!(output_dims(&network), [-1, -1]);
        assert_eq!(network.layers()[0].operation.type_name(), "Shape");
    }

    #[test]
    fn integers_of_shapes_are_computed() {
        // (2 3 4 - 12) / 5 = 2 (towards zero), of [2, 3, 4] from index 1 on: [3, 4], and 2.
        let network = TestModel::new(13)
            .input("x", &[2, 3, 4])
            .constant(ints("twelve", &[12]))
            .constant(ints("five", &[5]))
            .constant(ints("one", &[1]))
            .constant(ints("end", &[i64::MAX]))
            .node("Shape", &["x"], &["shape"], &[])
            .node("ReduceProd", &["shape"], &["count"], &[])
            .node("Sub", &["count", "twelve"], &["less"], &[])
            .node("Div", &["less", "five"], &["part"], &[])
            .node("Slice", &["shape", "one", "end"], &["tail"], &[])
            .node("Concat", &["tail", "part"], &["target"], &[int("axis", 0)])
            .node("Reshape", &["x", "target"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        assert_eq!(output_dims(&network), [3, 4, 2]);
    }

    #[test]
    fn choices_among_constants_are_made() {
        // As exporters write a target for Expand: -1 becomes 1.
        let network = TestModel::new(13)
            .input("x", &[6])
            .constant(ints("minus", &[-1, -1]))
            .constant(ints("ones", &[1, 1]))
            .constant(ints("target", &[6, -1]))
            .node("Equal", &["target", "minus"], &["open"], &[])
            .node("Where", &["open", "ones", "target"], &["chosen"], &[])
            .node("Reshape", &["x", "chosen"], &["y"], &[])
            .output("y")
            .parse()
            .unwrap();
        assert_eq!(output_dims(&network), [6, 1]);
    }
}
