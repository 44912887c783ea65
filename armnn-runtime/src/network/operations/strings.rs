//! Tensors of strings. What one operation gives is within the memory limit, so that loops cannot make
//! strings longer without end.

use std::collections::{BTreeSet, HashMap, HashSet};

use armnn_backend_api::{DataType, Shape, TensorInfo};
use armnn_network::{LetterCase, StringOperation};

use super::{Layer, Result, decimal};
use crate::value::{StringTensor, Value};

pub(super) fn execute(
    layer: &Layer<'_>,
    operation: &StringOperation,
    memory_limit: u64,
) -> Result<Vec<Value>> {
    match operation {
        StringOperation::Constant {
            shape,
            strings: all,
        } => Ok(vec![strings(layer, *shape, all.clone())?]),
        StringOperation::Equal => {
            let mut room = Room::new(layer, memory_limit);
            let (shape, equal) = pairs(layer, |x, y| {
                room.take(1)?;
                Ok(u8::from(x == y))
            })?;
            let mut tensor = layer.new_tensor(TensorInfo::new(DataType::Boolean, shape))?;
            tensor.bytes_mut().copy_from_slice(&equal);
            Ok(vec![tensor.into()])
        }
        StringOperation::Concat => {
            let mut room = Room::new(layer, memory_limit);
            let (shape, joined) = pairs(layer, |x, y| {
                room.take_string(x.len().saturating_add(y.len()))?;
                Ok([x, y].concat())
            })?;
            Ok(vec![strings(layer, shape, joined)?])
        }
        StringOperation::Normalize {
            case,
            is_case_sensitive,
            stop_words,
        } => normalize(layer, *case, *is_case_sensitive, stop_words, memory_limit),
        StringOperation::Split { delimiter, most } => {
            split(layer, delimiter.as_deref(), *most, memory_limit)
        }
        StringOperation::Match(pattern) => {
            let input = input(layer, 0)?;
            let info = TensorInfo::new(DataType::Boolean, input.shape());
            let mut tensor = layer.new_tensor(info)?;
            for (element, text) in tensor.bytes_mut().iter_mut().zip(input.strings()) {
                *element = pattern.matches(text).into();
            }
            Ok(vec![tensor.into()])
        }
        StringOperation::Lookup {
            places,
            numbers,
            data_type,
        } => {
            let input = input(layer, 0)?;
            let info = TensorInfo::new(*data_type, input.shape());
            let mut tensor = layer.new_tensor(info)?;
            let size = data_type.size().unwrap_or(1);
            let unknown = places.len();
            let elements = tensor.bytes_mut().chunks_exact_mut(size);
            for (element, text) in elements.zip(input.strings()) {
                let place = places.get(text).copied().unwrap_or(unknown);
                let number = numbers.chunks_exact(size).nth(place);
                element.copy_from_slice(
                    number.ok_or_else(|| layer.failed(format!("'{text}' has no number")))?,
                );
            }
            Ok(vec![tensor.into()])
        }
        StringOperation::Format => format_numbers(layer, memory_limit),
        StringOperation::Parse { data_type } => parse_numbers(layer, *data_type, memory_limit),
        StringOperation::Positions => positions(layer, memory_limit),
        StringOperation::Ranks => ranks(layer, memory_limit),
        StringOperation::AtPositions => at_positions(layer, memory_limit),
        other => Err(layer.failed(format!("{} is not executed yet", other.name()))),
    }
}

fn input<'a>(layer: &'a Layer<'_>, index: usize) -> Result<&'a StringTensor> {
    match layer.inputs.get(index) {
        Some(Some(Value::Strings(strings))) => Ok(strings),
        Some(Some(other)) => Err(layer.failed(format!(
            "input {index} must be strings, and is {}",
            other.describe()
        ))),
        _ => Err(layer.failed(format!("input {index} is missing"))),
    }
}

fn strings(layer: &Layer<'_>, shape: Shape, strings: Vec<String>) -> Result<Value> {
    StringTensor::new(shape, strings)
        .map(Value::from)
        .ok_or_else(|| layer.failed(format!("there are not as many strings as {shape} says")))
}

/// What is left of the memory limit for one result.
struct Room<'a> {
    layer: &'a Layer<'a>,
    limit: u64,
    taken: u64,
}

impl<'a> Room<'a> {
    fn new(layer: &'a Layer<'a>, limit: u64) -> Self {
        Self {
            layer,
            limit,
            taken: 0,
        }
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes as u64);
        match self.taken <= self.limit {
            true => Ok(()),
            false => Err(self.layer.failed(format!(
                "what it gives is larger than the memory limit of {} bytes",
                self.limit
            ))),
        }
    }

    /// Takes a string of so many bytes.
    fn take_string(&mut self, len: usize) -> Result<()> {
        self.take(len.saturating_add(size_of::<String>()))
    }
}

/// Something of each pair of both inputs, which broadcast, and the shape.
fn pairs<T>(
    layer: &Layer<'_>,
    mut f: impl FnMut(&str, &str) -> Result<T>,
) -> Result<(Shape, Vec<T>)> {
    let (x, y) = (input(layer, 0)?, input(layer, 1)?);
    let rank = x.shape().rank().max(y.shape().rank());
    let size = |shape: &Shape, axis: usize| match (axis + shape.rank()).checked_sub(rank) {
        Some(axis) => shape.dim(axis),
        None => 1,
    };
    let mut dims = Vec::with_capacity(rank);
    for axis in 0..rank {
        dims.push(match (size(&x.shape(), axis), size(&y.shape(), axis)) {
            (1, dim) | (dim, 1) => dim,
            (a, b) if a == b => a,
            _ => {
                let problem = format!("{} and {} do not broadcast", x.shape(), y.shape());
                return Err(layer.failed(problem));
            }
        });
    }
    let place = |shape: &Shape, mut position: usize| {
        let (mut place, mut stride) = (0, 1);
        for axis in (0..rank).rev() {
            let coordinate = position % dims[axis];
            position /= dims[axis];
            let own = size(shape, axis);
            if own != 1 {
                place += coordinate * stride;
            }
            stride *= own;
        }
        place
    };
    let signed: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let shape = Shape::new(&signed).map_err(|e| layer.failed(e.to_string()))?;
    let count = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim));
    let count = count.ok_or_else(|| layer.failed(format!("{shape} is too large")))?;
    // Grows, as there may be no room for all of them.
    let mut all = Vec::new();
    for position in 0..count {
        let of = |tensor: &'_ StringTensor| place(&tensor.shape(), position);
        let (Some(a), Some(b)) = (x.strings().get(of(x)), y.strings().get(of(y))) else {
            return Err(layer.failed("a string is missing"));
        };
        all.push(f(a, b)?);
    }
    Ok((shape, all))
}

fn normalize(
    layer: &Layer<'_>,
    case: LetterCase,
    is_case_sensitive: bool,
    stop_words: &[String],
    memory_limit: u64,
) -> Result<Vec<Value>> {
    let input = input(layer, 0)?;
    let mut dims = input.shape().dims().to_vec();
    if dims.len() > 2 || dims.len() == 2 && dims[0] != 1 || dims.is_empty() {
        let problem = format!("a list, or one row, is needed, not {}", input.shape());
        return Err(layer.failed(problem));
    }
    let folded = |word: &String| match is_case_sensitive {
        true => word.clone(),
        false => word.to_lowercase(),
    };
    let left_out: HashSet<String> = stop_words.iter().map(folded).collect();
    let mut room = Room::new(layer, memory_limit);
    let mut kept = Vec::new();
    for text in input.strings() {
        if left_out.contains(&folded(text)) {
            continue;
        }
        let changed = match case {
            LetterCase::AsIs => text.clone(),
            LetterCase::Lower => text.to_lowercase(),
            LetterCase::Upper => text.to_uppercase(),
        };
        room.take_string(changed.len())?;
        kept.push(changed);
    }
    if kept.is_empty() {
        kept.push(String::new());
    }
    if let Some(last) = dims.last_mut() {
        *last = kept.len() as i64;
    }
    let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
    Ok(vec![strings(layer, shape, kept)?])
}

fn split(
    layer: &Layer<'_>,
    delimiter: Option<&str>,
    most: Option<usize>,
    memory_limit: u64,
) -> Result<Vec<Value>> {
    let input = input(layer, 0)?;
    let all: Vec<Vec<&str>> = input
        .strings()
        .iter()
        .map(|text| parts(text, delimiter.filter(|d| !d.is_empty()), most))
        .collect();
    let widest = all.iter().map(Vec::len).max().unwrap_or(0);
    let count = all.len().checked_mul(widest);
    let count = count.ok_or_else(|| layer.failed("there are too many parts"))?;
    let mut room = Room::new(layer, memory_limit);
    room.take(count.saturating_mul(size_of::<String>()))?;
    room.take(input.strings().iter().map(String::len).sum())?;
    let mut filled = Vec::new();
    filled
        .try_reserve(count)
        .map_err(|_| layer.failed("not enough memory for the parts"))?;
    let mut counts = Vec::with_capacity(all.len());
    for parts in &all {
        counts.extend((parts.len() as i64).to_ne_bytes());
        filled.extend(parts.iter().map(|part| (*part).to_owned()));
        filled.extend((parts.len()..widest).map(|_| String::new()));
    }
    let mut dims = input.shape().dims().to_vec();
    dims.push(widest as i64);
    let shape = Shape::new(&dims).map_err(|e| layer.failed(e.to_string()))?;
    let mut tensor = layer.new_tensor(TensorInfo::new(DataType::Signed64, input.shape()))?;
    tensor.bytes_mut().copy_from_slice(&counts);
    Ok(vec![strings(layer, shape, filled)?, tensor.into()])
}

fn format_numbers(layer: &Layer<'_>, memory_limit: u64) -> Result<Vec<Value>> {
    let tensor = match layer.inputs.first() {
        Some(Some(Value::Tensor(tensor))) => tensor,
        _ => return Err(layer.failed("input 0, the numbers, must be a tensor")),
    };
    let texts = decimal::texts(tensor)
        .ok_or_else(|| layer.failed(format!("{} does not become text", tensor.info().data_type)))?;
    let mut room = Room::new(layer, memory_limit);
    let mut all = Vec::new();
    for text in texts {
        room.take_string(text.len())?;
        all.push(text);
    }
    Ok(vec![strings(layer, tensor.info().shape, all)?])
}

fn parse_numbers(layer: &Layer<'_>, data_type: DataType, memory_limit: u64) -> Result<Vec<Value>> {
    let input = input(layer, 0)?;
    let size = data_type.size().unwrap_or(1);
    let mut room = Room::new(layer, memory_limit);
    room.take(input.strings().len().saturating_mul(size))?;
    let mut tensor = layer.new_tensor(TensorInfo::new(data_type, input.shape()))?;
    let elements = tensor.bytes_mut().chunks_exact_mut(size);
    for (element, text) in elements.zip(input.strings()) {
        let is_number = decimal::parse(data_type, text, element);
        is_number.ok_or_else(|| {
            let start: String = text.chars().take(40).collect();
            layer.failed(format!("'{start}' is no number that fits {data_type}"))
        })?;
    }
    Ok(vec![tensor.into()])
}

fn positions(layer: &Layer<'_>, memory_limit: u64) -> Result<Vec<Value>> {
    let mut room = Room::new(layer, memory_limit);
    let mut before = 0i64;
    let mut all = Vec::with_capacity(layer.inputs.len());
    for index in 0..layer.inputs.len() {
        let input = input(layer, index)?;
        room.take(input.strings().len().saturating_mul(size_of::<i64>()))?;
        let info = TensorInfo::new(DataType::Signed64, input.shape());
        let mut tensor = layer.new_tensor(info)?;
        let elements = tensor.bytes_mut().chunks_exact_mut(size_of::<i64>());
        for (element, text) in elements.zip(input.strings()) {
            before = before.saturating_add(1);
            let position = if text.is_empty() { 0 } else { before };
            element.copy_from_slice(&position.to_ne_bytes());
        }
        all.push(tensor.into());
    }
    Ok(all)
}

fn ranks(layer: &Layer<'_>, memory_limit: u64) -> Result<Vec<Value>> {
    let input = input(layer, 0)?;
    let mut room = Room::new(layer, memory_limit);
    room.take(input.strings().len().saturating_mul(size_of::<i64>()))?;
    let filled = input.strings().iter().filter(|text| !text.is_empty());
    let distinct: BTreeSet<&str> = filled.map(String::as_str).collect();
    let mut list = Vec::new();
    let mut rank_of = HashMap::with_capacity(distinct.len());
    for text in distinct {
        room.take_string(text.len())?;
        list.push(text.to_owned());
        rank_of.insert(text, list.len() as i64);
    }
    let mut tensor = layer.new_tensor(TensorInfo::new(DataType::Signed64, input.shape()))?;
    let elements = tensor.bytes_mut().chunks_exact_mut(size_of::<i64>());
    for (element, text) in elements.zip(input.strings()) {
        let rank = rank_of.get(text.as_str()).copied().unwrap_or(0);
        element.copy_from_slice(&rank.to_ne_bytes());
    }
    let shape = Shape::new(&[list.len() as i64]).map_err(|e| layer.failed(e.to_string()))?;
    Ok(vec![tensor.into(), strings(layer, shape, list)?])
}

fn at_positions(layer: &Layer<'_>, memory_limit: u64) -> Result<Vec<Value>> {
    let tensor = match layer.inputs.first() {
        Some(Some(Value::Tensor(tensor))) => tensor,
        _ => return Err(layer.failed("input 0, the positions, must be a tensor")),
    };
    let positions =
        super::integers(tensor).ok_or_else(|| layer.failed("the positions must be of Signed64"))?;
    let sources = (1..layer.inputs.len())
        .map(|index| Ok(input(layer, index)?.strings()))
        .collect::<Result<Vec<_>>>()?;
    // Where each tensor's strings end in the count.
    let ends: Vec<usize> = sources
        .iter()
        .scan(0usize, |end, source| {
            *end = end.saturating_add(source.len());
            Some(*end)
        })
        .collect();
    let at = |position: i64| -> Option<&str> {
        let Some(place) = usize::try_from(position).ok()?.checked_sub(1) else {
            return Some("");
        };
        let source = ends.partition_point(|&end| end <= place);
        let start = source.checked_sub(1).map_or(0, |before| ends[before]);
        let text = sources.get(source)?.get(place.checked_sub(start)?)?;
        Some(text)
    };
    let mut room = Room::new(layer, memory_limit);
    // Grows, as there may be no room for all of them.
    let mut all = Vec::new();
    for position in positions {
        let text = at(position)
            .ok_or_else(|| layer.failed(format!("there is no string at position {position}")))?;
        room.take_string(text.len())?;
        all.push(text.to_owned());
    }
    Ok(vec![strings(layer, tensor.info().shape, all)?])
}

/// The parts of a string. Without a delimiter, words between white space; behind the last split,
/// all that is left, with the white space within it.
fn parts<'a>(text: &'a str, delimiter: Option<&str>, most: Option<usize>) -> Vec<&'a str> {
    let limit = most.map_or(usize::MAX, |most| most.saturating_add(1));
    if let Some(delimiter) = delimiter {
        return text.splitn(limit, delimiter).collect();
    }
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if parts.len() + 1 == limit {
            parts.push(rest.trim_end());
            break;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind.trim_start();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_between_white_space_unless_a_delimiter_is_given() {
        assert_eq!(parts(" a  b ", None, None), ["a", "b"]);
        assert_eq!(parts(" a  b  c ", None, Some(1)), ["a", "b  c"]);
        assert!(parts("  ", None, None).is_empty());
        assert_eq!(parts("a,,b", Some(","), None), ["a", "", "b"]);
        assert_eq!(parts("a,b,c", Some(","), Some(1)), ["a", "b,c"]);
        assert_eq!(parts("", Some(","), None), [""]);
    }
}
