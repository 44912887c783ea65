//! Graphs that are attributes of nodes: branches and bodies of loops.
//!
//! A body has names of its own, and reads those of the graph around it. Such a name becomes a value
//! of the body that nothing in it writes, and a [`Capture`] says which value around it that is; a
//! body within a body captures through all that are between.

use std::rc::Rc;

use super::graph::{Body, Capture, Decoder, Graph, Opsets, Scope, Stop};
use crate::error::{Fault, Short};
use crate::proto::{AttributeProto, GraphProto, NodeProto};

/// How deep bodies may lie in each other.
const DEEPEST: usize = 16;

impl Decoder<'_> {
    /// Takes the graphs out of a node's attributes.
    pub(super) fn bodies(
        &mut self,
        scope: &mut Scope,
        index: usize,
        node: &NodeProto,
        attributes: &mut [AttributeProto],
        opsets: &Opsets<'_>,
    ) -> Result<Vec<Body>, Stop> {
        let mut bodies = Vec::new();
        for attribute in attributes {
            let Some(graph) = attribute.g.take() else {
                continue;
            };
            let name = Short(&attribute.name);
            let within = format!("{name} of node {index} ({})", Short(&node.op_type));
            bodies.push(self.body(scope, &attribute.name, within.into(), *graph, opsets)?);
        }
        Ok(bodies)
    }

    fn body(
        &mut self,
        scope: &mut Scope,
        attribute: &str,
        within: Rc<str>,
        proto: GraphProto,
        opsets: &Opsets<'_>,
    ) -> Result<Body, Stop> {
        if scope.bodies >= DEEPEST {
            let problem = format!("graphs lie in graphs more than {DEEPEST} deep");
            return Err(Fault::new(problem).into());
        }
        self.spend(size_of::<Graph>())?;
        let mut inner = Scope {
            function: scope.function.clone(),
            depth: scope.depth,
            bodies: scope.bodies + 1,
            within: Some(within),
            captured: Some(Vec::new()),
            ..Scope::default()
        };
        let outer = std::mem::take(&mut self.graph);
        let types = std::mem::take(&mut self.types);
        let graph = self.decode(proto, &mut inner, opsets);
        self.graph = outer;
        self.types = types;
        let graph = graph?;
        let mut captures = Vec::new();
        for (name, inner) in inner.captured.unwrap_or_default() {
            match self.read(scope, &name)? {
                Some(outer) => captures.push(Capture { outer, inner }),
                None => return Err(Stop::Unwritten(name)),
            }
        }
        Ok(Body {
            attribute: attribute.to_owned(),
            graph,
            captures,
        })
    }
}
