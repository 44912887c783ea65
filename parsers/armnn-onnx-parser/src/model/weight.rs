//! How much memory a file takes once it is decoded, told before it is.
//!
//! The encoding is that of protocol buffers: fields one after the other, each a varint of its
//! number and the kind of its value, and the value.

use std::mem::size_of;

use crate::error::Fault;
use crate::proto;

/// How many times the file's size its decoded messages may take; tiny nodes take about 20.
const FACTOR: usize = 32;
/// What any file may take.
const FREE: usize = 64 << 10;
/// How deep messages may lie in each other; the decoder allows no more either.
const DEEPEST: usize = 100;

/// Checks that the decoded messages take memory in proportion to the file's size.
///
/// What is no protocol buffer passes: the decoder says so with more detail.
pub(super) fn check(file: &[u8]) -> Result<(), Fault> {
    check_message(Kind::Model, file)
}

/// The same for a tensor that is a file of its own.
pub(super) fn check_tensor(file: &[u8]) -> Result<(), Fault> {
    check_message(Kind::Tensor, file)
}

/// The same for a sequence.
pub(super) fn check_sequence(file: &[u8]) -> Result<(), Fault> {
    check_message(Kind::Sequence, file)
}

/// The same for an optional.
pub(super) fn check_optional(file: &[u8]) -> Result<(), Fault> {
    check_message(Kind::Optional, file)
}

fn check_message(kind: Kind, file: &[u8]) -> Result<(), Fault> {
    let budget = file.len().saturating_mul(FACTOR).saturating_add(FREE);
    let mut scale = Scale { left: budget };
    match scale.message(kind, file, 0) {
        Ok(()) | Err(Stop::Broken) => Ok(()),
        Err(Stop::Group) => Err(Fault::new(
            "it has a group, which no field of the format is",
        )),
        Err(Stop::TooHeavy) => Err(Fault::new(format!(
            "it is made of empty messages: decoded, it would take more than {FACTOR} times its size"
        ))),
    }
}

/// The messages that have messages, texts or lists in them.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    ValueInfo,
    Type,
    ElementType,
    TensorType,
    Shape,
    Function,
    Annotation,
    Sequence,
    Optional,
    /// Two texts, a text and a number, or less.
    Pair,
}

/// What a field of bytes holds.
enum Content {
    Message(Kind),
    Text,
    Bytes,
    /// Numbers one after the other, of so many bytes in memory.
    Numbers(usize),
    /// Not looked at by the decoder.
    Skipped,
}

impl Kind {
    /// Bytes of the decoded message.
    fn size(self) -> usize {
        match self {
            Self::Model => size_of::<proto::ModelProto>(),
            Self::Graph => size_of::<proto::GraphProto>(),
            Self::Node => size_of::<proto::NodeProto>(),
            Self::Attribute => size_of::<proto::AttributeProto>(),
            Self::Tensor => size_of::<proto::TensorProto>(),
            Self::SparseTensor => size_of::<proto::SparseTensorProto>(),
            Self::ValueInfo => size_of::<proto::ValueInfoProto>(),
            Self::Type => size_of::<proto::TypeProto>(),
            Self::ElementType => size_of::<proto::ElementTypeProto>(),
            Self::TensorType => size_of::<proto::TensorTypeProto>(),
            Self::Shape => size_of::<proto::TensorShapeProto>(),
            Self::Function => size_of::<proto::FunctionProto>(),
            Self::Annotation => size_of::<proto::TensorAnnotation>(),
            Self::Sequence => size_of::<proto::SequenceProto>(),
            Self::Optional => size_of::<proto::OptionalProto>(),
            Self::Pair => size_of::<proto::StringStringEntryProto>(),
        }
    }

    fn content(self, field: u64) -> Content {
        use Content::{Bytes, Message, Numbers, Text};
        match (self, field) {
            (Self::Model, 7) => Message(Self::Graph),
            (Self::Model, 8 | 14) => Message(Self::Pair),
            (Self::Model, 25) => Message(Self::Function),
            (Self::Graph, 1) | (Self::Function, 7) => Message(Self::Node),
            (Self::Graph, 5) | (Self::Sequence | Self::Optional, 3) => Message(Self::Tensor),
            (Self::Sequence | Self::Optional, 5) => Message(Self::Sequence),
            (Self::Sequence | Self::Optional, 7) => Message(Self::Optional),
            (Self::Graph, 11..=13) | (Self::Function, 12) => Message(Self::ValueInfo),
            (Self::Graph, 14) => Message(Self::Annotation),
            (Self::Graph, 15) | (Self::Attribute, 22 | 23) => Message(Self::SparseTensor),
            (Self::Node, 5) | (Self::Function, 11) => Message(Self::Attribute),
            (Self::Function, 9) | (Self::Annotation, 2) | (Self::Tensor, 13) => Message(Self::Pair),
            (Self::Attribute, 5 | 10) | (Self::SparseTensor, 1 | 2) => Message(Self::Tensor),
            (Self::Attribute, 6 | 11) => Message(Self::Graph),
            (Self::Attribute, 14 | 15) | (Self::ValueInfo, 2) => Message(Self::Type),
            (Self::Attribute, 4 | 9) | (Self::Tensor, 6 | 9) => Bytes,
            (Self::Attribute, 7) | (Self::Tensor, 4 | 5) => Numbers(4),
            (Self::Attribute, 8) | (Self::Tensor, 1 | 7 | 10 | 11) | (Self::SparseTensor, 3) => {
                Numbers(8)
            }
            (Self::Type, 1 | 8) => Message(Self::TensorType),
            (Self::Type, 4 | 9) => Message(Self::ElementType),
            (Self::ElementType, 1) => Message(Self::Type),
            (Self::TensorType, 2) => Message(Self::Shape),
            (Self::Shape, 1) => Message(Self::Pair),
            (Self::Model, 2 | 3)
            | (Self::Graph, 2)
            | (Self::Node, 1..=4 | 7 | 8)
            | (Self::Attribute, 1 | 21)
            | (Self::Tensor, 8)
            | (Self::ValueInfo, 1)
            | (Self::Function, 1 | 4..=6 | 10 | 13)
            | (Self::Annotation | Self::Sequence | Self::Optional, 1)
            | (Self::Pair, 1 | 2) => Text,
            _ => Content::Skipped,
        }
    }
}

enum Stop {
    Broken,
    Group,
    TooHeavy,
}

struct Scale {
    left: usize,
}

impl Scale {
    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(bytes).ok_or(Stop::TooHeavy)?;
        Ok(())
    }

    fn message(&mut self, kind: Kind, mut bytes: &[u8], depth: usize) -> Result<(), Stop> {
        self.spend(kind.size())?;
        if depth > DEEPEST {
            return Err(Stop::Broken);
        }
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            match tag & 7 {
                // A number; of a list that is not packed, perhaps.
                0 => {
                    varint(&mut bytes)?;
                    self.spend(8)?;
                }
                1 => {
                    take(&mut bytes, 8)?;
                    self.spend(8)?;
                }
                5 => {
                    take(&mut bytes, 4)?;
                    self.spend(4)?;
                }
                2 => {
                    let length = varint(&mut bytes)?;
                    let value = take(&mut bytes, length)?;
                    match kind.content(tag >> 3) {
                        Content::Message(inner) => self.message(inner, value, depth + 1)?,
                        Content::Text => {
                            self.spend(size_of::<String>().saturating_add(value.len()))?;
                        }
                        Content::Bytes => self.spend(size_of::<bytes::Bytes>())?,
                        Content::Numbers(size) => {
                            // A number takes at least a byte in the file.
                            self.spend(value.len().saturating_mul(size))?;
                        }
                        Content::Skipped => {}
                    }
                }
                // The decoder would skip a group, and what follows it would not have been weighed.
                3 => return Err(Stop::Group),
                _ => return Err(Stop::Broken),
            }
        }
        Ok(())
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Stop> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&first, rest) = bytes.split_first().ok_or(Stop::Broken)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first < 0x80 {
            return Ok(value);
        }
    }
    Err(Stop::Broken)
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8], Stop> {
    let length = usize::try_from(length).map_err(|_| Stop::Broken)?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Stop::Broken)?;
    *bytes = rest;
    Ok(taken)
}
