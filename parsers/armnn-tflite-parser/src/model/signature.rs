//! Signatures: names for the inputs and outputs of a subgraph.

use planus::Vector;

use super::decoder::{self, Decoder};
use super::subgraph::SubGraph;
use crate::error::{Fault, Short};
use crate::schema_generated::{SignatureDefRef, TensorMapRef};

/// Names a subgraph as a function, and its inputs and outputs.
#[derive(Debug)]
pub struct Signature<'a> {
    /// Name of the function, for instance `serving_default`.
    pub key: &'a str,
    /// Index of the subgraph, valid.
    pub subgraph: usize,
    /// Names and tensor indices, each valid, in no particular order.
    pub inputs: Vec<(&'a str, usize)>,
    /// Names and tensor indices, each valid, in no particular order.
    pub outputs: Vec<(&'a str, usize)>,
}

pub(super) fn decode<'a>(
    decoder: &mut Decoder<'a>,
    subgraphs: &[SubGraph<'a>],
    table: SignatureDefRef<'a>,
) -> Result<Signature<'a>, Fault> {
    decoder.spend(decoder::TABLE)?;
    let key = decoder.text(table.signature_key()?)?;
    let number = table.subgraph_index()?;
    let found = usize::try_from(number)
        .ok()
        .and_then(|at| Some((at, subgraphs.get(at)?)));
    let Some((index, subgraph)) = found else {
        return Err(Fault::new(format!(
            "the signature \"{}\" is for subgraph {number}, but there are only {}",
            Short(key),
            subgraphs.len()
        )));
    };
    let mut names = |tables| {
        decode_names(decoder, subgraph, key, tables).map_err(|fault| fault.in_subgraph(index))
    };
    let inputs = names(table.inputs()?)?;
    let outputs = names(table.outputs()?)?;
    Ok(Signature {
        key,
        subgraph: index,
        inputs,
        outputs,
    })
}

fn decode_names<'a>(
    decoder: &mut Decoder<'a>,
    subgraph: &SubGraph<'a>,
    key: &str,
    tables: Option<Vector<'a, planus::Result<TensorMapRef<'a>>>>,
) -> Result<Vec<(&'a str, usize)>, Fault> {
    let mut names = Vec::new();
    for table in tables.into_iter().flatten() {
        let table = table?;
        decoder.spend(decoder::TABLE)?;
        let name = decoder.text(table.name()?)?;
        let number = table.tensor_index()?;
        match usize::try_from(number) {
            Ok(index) if index < subgraph.tensors.len() => names.push((name, index)),
            _ => {
                return Err(Fault::new(format!(
                    "the signature \"{}\" names tensor {number}, but there are only {}",
                    Short(key),
                    subgraph.tensors.len()
                )));
            }
        }
    }
    Ok(names)
}
