//! What is unsupported, gathered so that one error can name all of it.

use std::collections::{HashMap, HashSet};

use crate::error::{Place, Refusals, UnsupportedOperator};
use crate::model::{Operator, OperatorCode};

/// What is unsupported. A subgraph may be lowered more than once; each place in it is reported once.
#[derive(Default)]
pub(super) struct Report<'a> {
    refusals: Refusals,
    /// Where each unsupported operator type stands in the refusals.
    types: HashMap<OperatorCode<'a>, usize>,
    /// Subgraph, operator and tensor of what has been reported.
    places: HashSet<[Option<usize>; 3]>,
}

impl<'a> Report<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.refusals.is_empty()
    }

    pub(super) fn into_refusals(self) -> Refusals {
        self.refusals
    }

    /// Reports an operator of a type that is not supported at all.
    pub(super) fn refuse_type(&mut self, operator: &Operator<'a>, first: Place) {
        if !self.is_new(&first) {
            return;
        }
        let code = operator.code;
        let operators = &mut self.refusals.operators;
        let at = *self.types.entry(code).or_insert_with(|| {
            operators.push(UnsupportedOperator {
                name: code.name().into_owned(),
                version: code.version,
                is_custom: code.is_custom(),
                count: 0,
                first,
            });
            operators.len() - 1
        });
        self.refusals.operators[at].count += 1;
    }

    /// Reports a use that is not supported.
    pub(super) fn refuse_use(&mut self, place: Place, reason: String) {
        if !self.is_new(&place) {
            return;
        }
        self.refusals.refuse_use(|| place, reason);
    }

    fn is_new(&mut self, place: &Place) -> bool {
        let index = |part: &Option<(usize, String)>| part.as_ref().map(|part| part.0);
        self.places
            .insert([place.subgraph, index(&place.operator), index(&place.tensor)])
    }
}
