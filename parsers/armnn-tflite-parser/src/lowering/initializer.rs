//! CALL_ONCE: what gives variables their first values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use armnn_network::{NetworkBuilder, TensorId, VariableValue};

use super::context::Context;
use super::problem::{Problem, Result};
use super::subgraph::{Lowering, Role};
use super::variables::VariableId;
use crate::schema_generated::CallOnceOptionsRef;

/// What computes the first values of variables.
pub(super) struct Initializer {
    builder: NetworkBuilder,
    held: HashMap<VariableId, TensorId>,
    /// How many outputs it has.
    outputs: usize,
    /// The subgraphs that have been called.
    called: HashSet<usize>,
}

impl Initializer {
    /// Gives the network what computes first values, if any are computed.
    pub(super) fn set(self, builder: &mut NetworkBuilder) -> Result {
        if self.outputs > 0 {
            builder.set_initializer(Arc::new(self.builder.finish()?))?;
        }
        Ok(())
    }
}

/// The subgraph gives variables their first values. It is executed before the first inference, not
/// in its course.
pub(super) fn call_once(context: &mut Context<'_, '_, '_>) -> Result {
    let options = context.options::<CallOnceOptionsRef<'_>>()?;
    let index = context.subgraph(options.init_subgraph_index()?)?;
    let outer = &mut *context.lowering;
    if outer.role != Role::Main {
        return Err(Problem::unsupported("CALL_ONCE in a body"));
    }
    let mut initializer = outer.shared.initializer.take().unwrap_or(Initializer {
        builder: NetworkBuilder::new(),
        held: HashMap::new(),
        outputs: 0,
        called: HashSet::new(),
    });
    if !initializer.called.insert(index) {
        outer.shared.initializer = Some(initializer);
        return Ok(());
    }
    outer.check_call(index)?;
    let mut inner = Lowering::new(
        outer.take_shared(),
        initializer.builder,
        index,
        Role::Initializer,
    );
    inner.prefix = "once/".to_owned();
    inner.callers = outer.callers_of_body();
    inner.held = initializer.held;
    let lowered = inner.operators();
    outer.shared = inner.shared;
    lowered?;
    for &id in &inner.assigned {
        let Some(&held) = inner.held.get(&id) else {
            continue;
        };
        if outer.held.contains_key(&id) {
            return Err(Problem::unsupported(
                "a variable that is used before CALL_ONCE gives it its first value",
            ));
        }
        let constant = inner.builder.tensor(held).and_then(|t| t.constant());
        let initial = match constant {
            Some(elements) => VariableValue::Elements(elements.clone()),
            None => {
                inner.builder.add_output_layer("", held)?;
                initializer.outputs += 1;
                VariableValue::Computed(initializer.outputs - 1)
            }
        };
        outer.shared.variables.initialize(id, initial);
    }
    outer.shared.initializer = Some(Initializer {
        builder: inner.builder,
        held: inner.held,
        outputs: initializer.outputs,
        called: initializer.called,
    });
    Ok(())
}
