//! The attributes of a node. Each is honoured or refused: those that nobody has asked for are found
//! in the end.

use std::cell::RefCell;

use super::problem::{Problem, Result};
use crate::error::Short;
use crate::model::Node;
use crate::proto::{AttributeProto, attribute_type};

/// The attributes of a node, and which of them were asked for.
pub(super) struct Attributes<'m> {
    node: &'m Node,
    asked: RefCell<Vec<bool>>,
}

impl<'m> Attributes<'m> {
    pub(super) fn new(node: &'m Node) -> Self {
        Self {
            node,
            asked: RefCell::new(vec![false; node.attributes.len()]),
        }
    }

    /// An attribute of this type; none where the node does not have it.
    fn find(&self, name: &str, attribute_type: i32) -> Result<Option<&'m AttributeProto>> {
        let Some(index) = self.index(name) else {
            return Ok(None);
        };
        let attribute = &self.node.attributes[index];
        if attribute.r#type == attribute_type || attribute.r#type == attribute_type::UNDEFINED {
            return Ok(Some(attribute));
        }
        Err(Problem::malformed(format!(
            "its attribute {name} is of type {}, not {attribute_type}",
            attribute.r#type
        )))
    }

    fn index(&self, name: &str) -> Option<usize> {
        let mut attributes = self.node.attributes.iter();
        let index = attributes.position(|attribute| attribute.name == name)?;
        if let Some(asked) = self.asked.borrow_mut().get_mut(index) {
            *asked = true;
        }
        Some(index)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let mut attributes = self.node.attributes.iter();
        attributes.any(|attribute| attribute.name == name)
    }

    /// An attribute that changes nothing here.
    pub(super) fn ignore(&self, name: &str) {
        self.index(name);
    }

    pub(super) fn optional_int(&self, name: &str) -> Result<Option<i64>> {
        Ok(self.find(name, attribute_type::INT)?.map(|a| a.i))
    }

    pub(super) fn int(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    /// An integer that stands for false or true.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        Ok(self.int(name, default.into())? != 0)
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<&'m [i64]>> {
        Ok(self.find(name, attribute_type::INTS)?.map(|a| &a.ints[..]))
    }

    pub(super) fn optional_float(&self, name: &str) -> Result<Option<f32>> {
        Ok(self.find(name, attribute_type::FLOAT)?.map(|a| a.f))
    }

    pub(super) fn float(&self, name: &str, default: f32) -> Result<f32> {
        Ok(self.optional_float(name)?.unwrap_or(default))
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<&'m [f32]>> {
        let found = self.find(name, attribute_type::FLOATS)?;
        Ok(found.map(|a| &a.floats[..]))
    }

    pub(super) fn text(&self, name: &str, default: &'m str) -> Result<&'m str> {
        match self.find(name, attribute_type::STRING)? {
            None => Ok(default),
            Some(attribute) => std::str::from_utf8(&attribute.s)
                .map_err(|_| Problem::malformed(format!("its attribute {name} is no text"))),
        }
    }

    pub(super) fn texts(&self, name: &str) -> Result<Option<Vec<&'m str>>> {
        let Some(attribute) = self.find(name, attribute_type::STRINGS)? else {
            return Ok(None);
        };
        let texts = attribute
            .strings
            .iter()
            .map(|text| std::str::from_utf8(text));
        let texts: Result<Vec<&'m str>, _> = texts.collect();
        texts
            .map(Some)
            .map_err(|_| Problem::malformed(format!("its attribute {name} is no text")))
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<&'m crate::proto::TensorProto>> {
        match self.find(name, attribute_type::TENSOR)? {
            None => Ok(None),
            Some(attribute) => match &attribute.t {
                Some(tensor) => Ok(Some(tensor)),
                None => Err(Problem::malformed(format!(
                    "its attribute {name} has no tensor"
                ))),
            },
        }
    }

    /// Refuses an attribute that nobody has asked for.
    pub(super) fn check_all_asked_for(&self) -> Result {
        let asked = self.asked.borrow();
        let mut attributes = self.node.attributes.iter().zip(asked.iter());
        match attributes.find(|(_, asked)| !**asked) {
            None => Ok(()),
            Some((attribute, _)) => Err(Problem::unsupported(format!(
                "its attribute \"{}\", which is not known here",
                Short(&attribute.name)
            ))),
        }
    }
}
