//! `--feedback`: outputs that become the next value of an input.

use anyhow::{Context as _, ensure};
use armnn_network::Network;

/// For each input, the index of the output that is fed back to it.
///
/// # Errors
/// When a text names no output and input of the network, their types differ, or one is named twice.
pub(super) fn resolve(network: &Network, texts: &[String]) -> anyhow::Result<Vec<Option<usize>>> {
    let mut of_inputs = vec![None; network.inputs().len()];
    for text in texts {
        let (output, input) = split(network, text).with_context(|| {
            format!(
                "--feedback {text} cannot be used: it has the form OUTPUT=INPUT; the outputs are \
                 {}, the inputs {}",
                quoted(network.outputs().iter().map(|output| output.name.as_str())),
                quoted(
                    network
                        .inputs()
                        .iter()
                        .map(|&id| network.tensor(id).name.as_str())
                )
            )
        })?;
        let from = &network.tensor(network.outputs()[output].tensor).info;
        let to = &network.tensor(network.inputs()[input]).info;
        ensure!(
            from.data_type == to.data_type,
            "--feedback {text} cannot be used: the output is {from}, the input takes {to}"
        );
        ensure!(
            of_inputs[input].replace(output).is_none(),
            "--feedback {text} cannot be used: another output is fed back to this input already"
        );
    }
    Ok(of_inputs)
}

/// Output and input; names may contain `=`.
fn split(network: &Network, text: &str) -> Option<(usize, usize)> {
    text.match_indices('=').find_map(|(at, _)| {
        let (output, input) = (&text[..at], &text[at + 1..]);
        let mut outputs = network.outputs().iter();
        let mut inputs = network.inputs().iter();
        Some((
            outputs.position(|other| other.name == output)?,
            inputs.position(|&id| network.tensor(id).name == input)?,
        ))
    })
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}
