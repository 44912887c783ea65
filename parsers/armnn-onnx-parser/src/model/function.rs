//! The model's own functions, and how their nodes take the place of a call.

use std::collections::HashMap;

use super::graph::Opsets;
use super::plain_domain;
use crate::error::{Fault, Short};
use crate::proto::{AttributeProto, FunctionProto, NodeProto};

/// How deep functions may call functions.
pub(super) const DEEPEST: usize = 32;

/// The functions of a model, by domain, name and overload.
pub(super) struct Functions<'m>(HashMap<(&'m str, &'m str, &'m str), Function<'m>>);

/// A function and which operators its nodes mean.
pub(super) struct Function<'m> {
    pub(super) proto: &'m FunctionProto,
    pub(super) opsets: Opsets<'m>,
}

impl<'m> Functions<'m> {
    pub(super) fn new(protos: &'m [FunctionProto]) -> Result<Self, Fault> {
        let mut functions = HashMap::new();
        for proto in protos {
            let key = (
                plain_domain(&proto.domain),
                proto.name.as_str(),
                proto.overload.as_str(),
            );
            let function = Function {
                proto,
                opsets: Opsets::new(&proto.opset_import),
            };
            if functions.insert(key, function).is_some() {
                return Err(Fault::new(format!(
                    "function {} is there twice",
                    Short(&proto.name)
                )));
            }
        }
        Ok(Self(functions))
    }

    pub(super) fn called_by<'a>(&'a self, node: &'a NodeProto) -> Option<&'a Function<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let key = (
            plain_domain(&node.domain),
            node.op_type.as_str(),
            node.overload.as_str(),
        );
        self.0.get(&key)
    }
}

/// The attributes that a node of a function has in a call: references are replaced by what the call
/// says, or by the function's default, and left out where there is neither. So they are in the
/// graphs among them.
pub(super) fn bound_attributes(
    node: &[AttributeProto],
    call: &[AttributeProto],
    function: &FunctionProto,
) -> Vec<AttributeProto> {
    let mut values: HashMap<&str, &AttributeProto> = HashMap::new();
    if node.iter().any(may_refer) {
        // What the call says comes last, and holds.
        for attribute in function.attribute_proto.iter().chain(call) {
            values.insert(&attribute.name, attribute);
        }
    }
    bound(node, &values)
}

fn may_refer(attribute: &AttributeProto) -> bool {
    !attribute.ref_attr_name.is_empty() || attribute.g.is_some()
}

/// The recursion goes as deep as messages lie in each other, which the decoder limits.
fn bound(node: &[AttributeProto], values: &HashMap<&str, &AttributeProto>) -> Vec<AttributeProto> {
    node.iter()
        .filter_map(|attribute| match attribute.ref_attr_name.as_str() {
            "" => {
                let mut attribute = attribute.clone();
                for node in attribute.g.iter_mut().flat_map(|graph| &mut graph.node) {
                    if node.attribute.iter().any(may_refer) {
                        node.attribute = bound(&node.attribute, values);
                    }
                }
                Some(attribute)
            }
            referred => {
                let value = AttributeProto::clone(values.get(referred)?);
                Some(AttributeProto {
                    name: attribute.name.clone(),
                    ..value
                })
            }
        })
        .collect()
}
