//! Subgraphs.

use super::decoder::{self, Decoder};
use super::operator::{self, Operator, OperatorCode};
use super::tensor::{self, Tensor};
use crate::error::Fault;
use crate::schema_generated::SubGraphRef;

/// A graph of operators over tensors of its own.
#[derive(Debug)]
pub struct SubGraph<'a> {
    /// Often empty.
    pub name: &'a str,
    /// In the order of their indices.
    pub tensors: Vec<Tensor<'a>>,
    /// Indices of the tensors that callers give, each valid.
    pub inputs: Vec<usize>,
    /// Indices of the tensors that callers get, each valid.
    pub outputs: Vec<usize>,
    /// In execution order.
    pub operators: Vec<Operator<'a>>,
}

pub(super) fn decode<'a>(
    decoder: &mut Decoder<'a>,
    codes: &[OperatorCode<'a>],
    table: SubGraphRef<'a>,
) -> Result<SubGraph<'a>, Fault> {
    decoder.spend(decoder::TABLE)?;
    let name = decoder.text(table.name()?)?;

    let mut tensors = Vec::new();
    for (index, table) in table.tensors()?.into_iter().flatten().enumerate() {
        let table = table.map_err(|error| Fault::from(error).in_tensor(index, ""))?;
        tensors.push(tensor::decode(decoder, index, table)?);
    }

    let mut indices = |vector, what| -> Result<Vec<usize>, Fault> {
        let indices = decoder.numbers::<i32>(vector)?.into_iter();
        indices
            .map(|index| match usize::try_from(index) {
                Ok(valid) if valid < tensors.len() => Ok(valid),
                _ => Err(Fault::new(format!(
                    "{what} of the subgraph names tensor {index}, but there are only {}",
                    tensors.len()
                ))),
            })
            .collect()
    };
    let inputs = indices(table.inputs()?, "an input")?;
    let outputs = indices(table.outputs()?, "an output")?;

    let mut operators = Vec::new();
    for (index, table) in table.operators()?.into_iter().flatten().enumerate() {
        let table = table.map_err(|error| Fault::from(error).in_operator(index, "?"))?;
        operators.push(operator::decode(decoder, codes, &tensors, index, table)?);
    }
    Ok(SubGraph {
        name,
        tensors,
        inputs,
        outputs,
        operators,
    })
}
