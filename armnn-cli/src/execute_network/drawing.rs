//! `--visualize-optimized-model`: the model as it was executed, as a drawing.

use std::{fmt::Write as _, path::Path};

use anyhow::Context as _;
use armnn_network::Network;
use armnn_runtime::{AssignmentReport, BackendId};

/// Fill colours of layers: hues far apart, light enough for black text.
const COLOURS: [&str; 8] = [
    "#a8d8a8", "#a8c8f0", "#f8d8a0", "#f0b0b0", "#d0b8f0", "#a8e0e0", "#f0f0a0", "#e0e0e0",
];

/// Writes the network in the language of Graphviz, each layer in the colour of its backend.
///
/// # Errors
/// When the file cannot be written.
pub fn write(network: &Network, assignment: &AssignmentReport, path: &Path) -> anyhow::Result<()> {
    std::fs::write(path, draw(network, assignment))
        .with_context(|| format!("cannot write the drawing to '{}'", path.display()))
}

fn draw(network: &Network, assignment: &AssignmentReport) -> String {
    let backends: Vec<BackendId> = assignment
        .layers_per_backend()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    let mut of_layers: Vec<Option<usize>> = vec![None; network.layers().len()];
    for layer in &assignment.layers {
        if let Some(of_layer) = of_layers.get_mut(layer.layer.index()) {
            *of_layer = backends.iter().position(|id| *id == layer.backend);
        }
    }
    let name = |layer: armnn_network::LayerId| {
        let backend = of_layers.get(layer.index()).copied().flatten()?;
        Some(backends[backend].as_str())
    };
    let drawn = network.to_dot(name);
    // Attributes may follow the node that they are of.
    let mut text = drawn.trim_end().trim_end_matches('}').to_owned();
    let fill = |backend: usize| {
        let colour = COLOURS[backend % COLOURS.len()];
        format!("style = \"filled\", fillcolor = \"{colour}\"")
    };
    for (layer, backend) in of_layers.iter().enumerate() {
        if let Some(backend) = backend {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "    layer_{layer} [{}];", fill(*backend));
        }
    }
    text.push_str("    subgraph cluster_backends {\n        label = \"Backends\";\n");
    for (backend, id) in backends.iter().enumerate() {
        // Ids are letters, digits, points, dashes and underscores.
        let _ = writeln!(
            text,
            "        backend_{backend} [shape = \"box\", label = \"{id}\", {}];",
            fill(backend)
        );
    }
    text.push_str("    }\n}\n");
    text
}
