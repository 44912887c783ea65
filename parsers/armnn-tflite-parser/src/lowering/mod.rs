//! Operators to layers.
//!
//! [`lower`] walks the operators of the model's first subgraph, or of a signature's, in their order,
//! which is that of execution. The table in [`operators`] has a function for each operator type, and
//! the module of its family holds the function; [`Context`](context::Context) is what it works with.
//! To add an operator, add a line to the table and a function to a family.
//!
//! Other subgraphs are bodies of control flow ([`body`]): each becomes a network of its own,
//! with the shapes that it is given at the place where it is called. Variables ([`variables`]) are
//! followed through the operators: what is read after an assignment is the tensor that was assigned.
//!
//! Shapes that the file says of computed tensors are not looked at, except where nothing else tells:
//! TFLite computes them anew from those of the inputs, too.
//!
//! What is unsupported is gathered, so that one error can name all of it. The outputs of a refused
//! operator are replaced by a StandIn of the declared type and shape, only so that the operators
//! after it can be looked at too; the network is dropped in the end.

mod activation;
mod blocks;
mod body;
mod choice;
mod constants;
mod context;
mod control_flow;
mod convolution;
mod dot_general;
mod elementwise;
mod emission;
mod flexbuffers;
mod generation;
mod hybrid;
mod hybrid_recurrent;
mod indexing;
mod initializer;
mod matrix;
mod normalization;
mod operators;
mod options;
mod packed_weights;
mod padding;
mod plain_recurrent;
mod pooling;
mod problem;
mod quantization;
mod quantized_recurrent;
mod random;
mod random_bits;
mod rearrangement;
mod recurrent;
mod reduce_window;
mod reduction;
mod report;
mod reshaping;
mod resizing;
mod selection;
mod sparsity;
mod spectrum;
mod stablehlo;
mod stablehlo_convolution;
mod stablehlo_indexing;
mod stablehlo_sort;
mod stand_in;
mod strided_slice;
mod subgraph;
mod tensor_info;
mod transpose_convolution;
mod variables;

use std::collections::HashSet;

use armnn_network::{Network, NetworkBuilder};

use crate::error::{Fault, TfliteParserError};
use crate::model::{Model, Signature};
use crate::parser::TfliteParserOptions;
use initializer::Initializer;
use report::Report;
use subgraph::{Lowering, Names, Role};
use tensor_info::tensor_info;
use variables::Variables;

/// The subgraph that is lowered unless a signature names another.
const MAIN: usize = 0;

/// What lowering subgraphs may cost, beside sixteen times what each of the model's takes once:
/// subgraphs that are called from several places are lowered for each, and bodies of loops until
/// nothing new comes up.
const MORE_WORK: usize = 10_000;

/// Lowers the first subgraph, or the one of a signature.
pub(crate) fn lower(
    model: &Model<'_>,
    signature: Option<&Signature<'_>>,
    options: &TfliteParserOptions,
) -> Result<Network, TfliteParserError> {
    let source = model.source();
    let index = signature.map_or(MAIN, |signature| signature.subgraph);
    if index >= model.subgraphs.len() {
        return Err(Fault::new("the model has no subgraph").of(source));
    }
    let mut lowering = Lowering::new(
        Shared::new(model, options),
        NetworkBuilder::new(),
        index,
        Role::Main,
    );
    let names = Names::of(&model.subgraphs[index], signature);
    lowering.inputs(&names)?;
    lowering.operators()?;
    lowering.outputs(&names)?;
    lowering.finish_variables()?;
    let Lowering {
        builder, shared, ..
    } = lowering;
    if !shared.report.is_empty() {
        return Err(TfliteParserError::Unsupported {
            model: source.to_owned(),
            refusals: Box::new(shared.report.into_refusals()),
        });
    }
    builder
        .finish()
        .map_err(|error| TfliteParserError::Network {
            model: source.to_owned(),
            source: Box::new(error),
        })
}

/// What is of the whole model while its subgraphs are lowered.
struct Shared<'m, 'a> {
    model: &'m Model<'a>,
    options: &'m TfliteParserOptions,
    report: Report<'a>,
    variables: Variables<'a>,
    /// What gives the variables their first values.
    initializer: Option<Initializer>,
    /// What layers' names begin with, in each body that has been lowered.
    prefixes: HashSet<String>,
    /// Bytes of names and options that StandIn layers may still copy.
    stand_in_budget: usize,
    /// Bytes that constants which are no part of the file may still have.
    constant_budget: usize,
    /// What lowering subgraphs may still cost.
    work_budget: usize,
}

impl<'m, 'a> Shared<'m, 'a> {
    fn new(model: &'m Model<'a>, options: &'m TfliteParserOptions) -> Self {
        let work = model.subgraphs.iter().map(subgraph::work);
        let work = work.fold(0usize, usize::saturating_add);
        Self {
            variables: Variables::survey(model),
            stand_in_budget: stand_in::budget(model),
            constant_budget: constants::budget(model),
            work_budget: work.saturating_mul(16).saturating_add(MORE_WORK),
            ..Self::vacant(model, options)
        }
    }

    /// What stands in the place of the real one while a body is lowered, which has it then.
    fn vacant(model: &'m Model<'a>, options: &'m TfliteParserOptions) -> Self {
        Self {
            model,
            options,
            report: Report::default(),
            variables: Variables::default(),
            initializer: None,
            prefixes: HashSet::new(),
            stand_in_budget: 0,
            constant_budget: 0,
            work_budget: 0,
        }
    }
}

/// The beginning of a name. Names that are copied more often than the file holds them are cut, so
/// that memory stays linear in the file's size.
fn cut(name: &str) -> &str {
    const LONGEST: usize = 256;
    (0..=LONGEST)
        .rev()
        .find_map(|end| name.get(..end))
        .filter(|_| name.len() > LONGEST)
        .unwrap_or(name)
}

#[cfg(test)]
mod hybrid_tests;
#[cfg(test)]
mod tests;
