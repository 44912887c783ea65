//! Passes: rewrites of a network that any backend profits from.
//!
//! Each pass records a small edit, which [`Network::rewrite`] applies in one sweep, so that the
//! network stays well formed and each pass takes time in proportion to its size. They run in a
//! fixed order, again and again until nothing changes.
//!
//! What holds for all of them:
//!
//! * No pass enlarges a constant, and none reads the data of one but batch-norm folding.
//! * A layer goes only if that leaves fewer layers; a layer that several read is folded only if it
//!   is folded into all of them.
//! * A layer with a backend hint, or one that a pin matches, stays. It may take in others.
//! * No pass absorbs a Cast or a Dequantize of a constant. What depends on constants alone stands in
//!   the subgraph of the backend that reads it, which claims it along with the reader if it takes the
//!   narrow type; where it does not, the conversion is done once. A layer of mixed types, such as a
//!   FullyConnected of Float32 with weights of Float16, is shown to no backend: backends rely on
//!   it that weights have the type of the input, and one that looks at the input alone would read
//!   beyond the end of the constant.

mod batch_norm;
mod dead_layers;
mod duplicates;
mod identities;
mod pads;
mod reshapes;
#[cfg(test)]
mod test_networks;
mod transposes;

use std::{collections::HashSet, fmt, str::FromStr};

use armnn_backend_api::LayerType;
use armnn_network::{Layer, LayerId, Network, Rewrite, RewriteSummary, TensorId};

use super::OptimizerOptions;

/// How often all passes run at most; what they leave then still computes the same.
const MAX_ROUNDS: usize = 8;

macro_rules! passes {
    ($($(#[$meta:meta])* $Pass:ident = $name:literal, $run:path;)*) => {
        /// A rewrite of the network.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Pass {
            $($(#[$meta])* $Pass,)*
        }

        impl Pass {
            /// All passes, in the order in which they run.
            pub const ALL: &'static [Self] = &[$(Self::$Pass),*];

            /// The name, as in text.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Pass => $name,)*
                }
            }

            fn record(self, rewrite: &mut Rewrite<'_>, kept: &Kept) {
                match self {
                    $(Self::$Pass => $run(rewrite, kept),)*
                }
            }
        }
    };
}

passes! {
    /// Removes layers that no output depends on.
    DeadLayers = "dead-layers", dead_layers::run;
    /// Removes layers whose output is their input: a Cast to the same type, a Reshape to the same
    /// shape, a Transpose that changes no order, a StridedSlice of everything, a Pad of nothing, a
    /// Concat of one tensor, a Split into one.
    Identities = "identities", identities::run;
    /// Makes one Transpose of several in a row, or none where they undo each other.
    Transposes = "transposes", transposes::run;
    /// Makes one Reshape of several in a row, and a Reshape of a Transpose that moves nothing but
    /// dimensions of size 1.
    Reshapes = "reshapes", reshapes::run;
    /// Lets convolutions and pooling do the padding of a Pad before them.
    Pads = "pads", pads::run;
    /// Multiplies and adds constants for each channel into the weights and the bias of the
    /// convolution or FullyConnected before. Float32 only; results change by rounding.
    BatchNorm = "batch-norm", batch_norm::run;
    /// Computes once what several layers compute in the same way.
    Duplicates = "duplicates", duplicates::run;
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no pass '{0}'; known are {known}", known = known_passes())]
pub struct PassError(pub String);

fn known_passes() -> String {
    let names: Vec<_> = Pass::ALL.iter().map(|pass| pass.name()).collect();
    names.join(", ")
}

impl FromStr for Pass {
    type Err = PassError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|pass| pass.name() == s)
            .ok_or_else(|| PassError(s.to_owned()))
    }
}

/// Which passes run; their order is fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PassSelection {
    /// All.
    #[default]
    All,
    /// None: every layer of the network is executed as it is.
    None,
    /// These.
    Only(Vec<Pass>),
}

impl PassSelection {
    /// Whether a pass runs.
    pub fn contains(&self, pass: Pass) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(passes) => passes.contains(&pass),
        }
    }
}

/// What one run of a pass did.
#[derive(Clone, Debug)]
pub struct PassReport {
    /// The pass.
    pub pass: Pass,
    /// In which round, from 0 on.
    pub round: usize,
    /// The layers that it removed and changed.
    pub summary: RewriteSummary,
    /// The network after it in the language of Graphviz, if
    /// [`print_after`](OptimizerOptions::print_after) names the pass.
    pub dot: Option<String>,
}

/// Runs the passes on a network. The reports are of the runs that changed something, and of those
/// whose result was asked for.
pub(crate) fn run(network: &mut Network, options: &OptimizerOptions) -> Vec<PassReport> {
    run_some(network, options, Pass::ALL)
}

/// Removes what no output of a network depends on, operations of the runtime among it: other passes
/// see a network only when it has been cut into parts.
pub(crate) fn remove_dead(network: &mut Network, options: &OptimizerOptions) -> Vec<PassReport> {
    run_some(network, options, &[Pass::DeadLayers])
}

fn run_some(network: &mut Network, options: &OptimizerOptions, some: &[Pass]) -> Vec<PassReport> {
    let mut reports = Vec::new();
    let kept = Kept::new(network, options);
    for round in 0..MAX_ROUNDS {
        let mut changed = false;
        for &pass in some {
            if !options.passes.contains(pass) {
                continue;
            }
            let summary = network.rewrite(|rewrite| pass.record(rewrite, &kept));
            changed |= !summary.is_empty();
            let wanted = options.print_after.contains(&pass);
            if !summary.is_empty() || wanted {
                log::debug!(
                    "pass {pass}: {} layers removed, {} changed",
                    summary.removed.len(),
                    summary.changed.len()
                );
                reports.push(PassReport {
                    pass,
                    round,
                    summary,
                    dot: wanted.then(|| network.to_dot(|_| None)),
                });
            }
        }
        if !changed {
            break;
        }
    }
    reports
}

/// Which layers must stay.
struct Kept {
    /// The names of layers with a hint or a pin; no two layers share a name.
    names: HashSet<String>,
    /// The types that are pinned.
    types: Vec<LayerType>,
}

impl Kept {
    fn new(network: &Network, options: &OptimizerOptions) -> Self {
        let is_kept = |layer: &&Layer| {
            layer.backend_hint.is_some()
                || options
                    .pins
                    .iter()
                    .any(|(pattern, _)| pattern.matches(layer))
        };
        let kept = network.layers().iter().filter(is_kept);
        let types = options
            .pins
            .iter()
            .filter_map(|(pattern, _)| match pattern {
                super::LayerPattern::Type(layer_type) => Some(*layer_type),
                super::LayerPattern::Name(_) => None,
            });
        Self {
            names: kept.map(|layer| layer.name.clone()).collect(),
            types: types.collect(),
        }
    }

    /// Whether a layer may be removed.
    fn may_go(&self, layer: &Layer) -> bool {
        self.names.is_empty() || !self.names.contains(&layer.name)
    }

    /// Whether a layer may become one of this type: no pin would mean it then that did not before.
    fn may_become(&self, layer_type: LayerType) -> bool {
        !self.types.contains(&layer_type)
    }
}

/// Which layers can be folded into everything that reads them, so that they go.
struct Foldable {
    /// For each layer, whether it is.
    layers: Vec<bool>,
}

impl Foldable {
    /// `fits` says whether a layer can be folded into one that reads it.
    fn new(
        rewrite: &Rewrite<'_>,
        kept: &Kept,
        fits: impl Fn(&Layer, LayerId, &Layer) -> bool,
    ) -> Self {
        let network = rewrite.network();
        let reads = rewrite.reads();
        let mut folds = vec![0u32; network.layers().len()];
        for (id, reader) in rewrite.layers() {
            let input = reader.inputs.first().copied().flatten();
            let Some(producer) = input.and_then(|input| network.tensor(input).producer()) else {
                continue;
            };
            if fits(network.layer(producer), id, reader) {
                folds[producer.index()] = folds[producer.index()].saturating_add(1);
            }
        }
        let layers = rewrite.layers().map(|(id, layer)| match layer.outputs[..] {
            [output] => {
                let folds = folds[id.index()];
                folds > 0 && folds == reads[output.index()] && kept.may_go(layer)
            }
            _ => false,
        });
        Self {
            layers: layers.collect(),
        }
    }

    /// The layer before `reader`, if it is one to be folded.
    fn before(&self, rewrite: &Rewrite<'_>, reader: LayerId) -> Option<LayerId> {
        let input = rewrite.input(reader, 0)?;
        let producer = rewrite.tensor(input)?.producer()?;
        self.layers[producer.index()].then_some(producer)
    }
}

/// Lets `reader` read what `layer`, which it replaces, reads.
fn skip(rewrite: &Rewrite<'_>, layer: LayerId, reader: LayerId) -> Vec<Option<TensorId>> {
    let mut inputs = rewrite.inputs(reader);
    if let Some(first) = inputs.first_mut() {
        *first = rewrite.input(layer, 0);
    }
    inputs
}

#[cfg(test)]
mod tests {
    use armnn_backend_api::{DataType, TensorInfo, TransposeDescriptor};
    use armnn_network::NetworkBuilder;

    use super::test_networks::{names, optimized, single};
    use super::*;

    fn transposed_twice() -> Network {
        single(TensorInfo::new(DataType::Float32, [2, 3]), |builder, x| {
            let d = TransposeDescriptor::new(&[1, 0]).unwrap();
            let there = builder.add_transpose_layer(d, x, "there").unwrap();
            let back = builder.add_transpose_layer(d, there, "back").unwrap();
            builder.add_abs_layer(back, "abs").unwrap()
        })
    }

    #[test]
    fn names_of_passes_are_read_as_they_are_written() {
        for &pass in Pass::ALL {
            assert_eq!(pass.to_string().parse(), Ok(pass));
        }
        let error = "fold".parse::<Pass>().unwrap_err().to_string();
        assert!(error.contains("dead-layers, identities"), "{error}");
    }

    #[test]
    fn passes_run_only_if_they_are_selected() {
        let left = |passes| {
            let options = OptimizerOptions {
                passes,
                ..OptimizerOptions::default()
            };
            let network = optimized(transposed_twice(), &options);
            names(&network).join(" ")
        };
        assert_eq!(left(PassSelection::All), "abs");
        let all = "there back abs";
        assert_eq!(left(PassSelection::None), all);
        assert_eq!(left(PassSelection::Only(vec![Pass::DeadLayers])), all);
        assert_eq!(left(PassSelection::Only(vec![Pass::Transposes])), "abs");
    }

    #[test]
    fn what_a_pass_did_is_reported_and_the_graph_after_it_if_asked_for() {
        let options = OptimizerOptions {
            print_after: vec![Pass::Transposes],
            ..OptimizerOptions::default()
        };
        let mut network = transposed_twice();
        let reports = run(&mut network, &options);
        let first = &reports[0];
        assert_eq!((first.pass, first.round), (Pass::Transposes, 0));
        let removed: Vec<_> = first
            .summary
            .removed
            .iter()
            .map(|l| l.name.as_str())
            .collect();
        assert_eq!(removed, ["there", "back"]);
        let dot = first.dot.as_deref().unwrap();
        assert!(dot.contains("abs") && !dot.contains("back"), "{dot}");
        // The second round finds nothing to do, but shows the graph again.
        assert_eq!(reports.len(), 2);
        assert!(reports[1].summary.is_empty());
    }

    #[test]
    fn layers_with_a_pin_or_a_hint_stay() {
        for pattern in ["back", "ba*", "type:Transpose"] {
            let options = OptimizerOptions {
                pins: vec![(pattern.parse().unwrap(), "CpuRef".parse().unwrap())],
                ..OptimizerOptions::default()
            };
            let network = optimized(transposed_twice(), &options);
            assert!(names(&network).contains(&"back"), "{pattern}");
        }
        let network = single(TensorInfo::new(DataType::Float32, [2, 3]), |builder, x| {
            let y = builder.add_reshape_layer([2, 3], x, "same").unwrap();
            let layer = builder.producer(y).unwrap();
            builder.set_backend_hint(layer, "CpuAcc").unwrap();
            y
        });
        let network = optimized(network, &OptimizerOptions::default());
        assert_eq!(names(&network), ["same"]);
    }

    /// A hundred thousand layers: `add` adds two at a time.
    fn long_chain(mut add: impl FnMut(&mut NetworkBuilder, TensorId) -> TensorId) -> Network {
        single(
            TensorInfo::new(DataType::Float32, [2, 3]),
            |builder, mut x| {
                for _ in 0..50_000 {
                    x = add(builder, x);
                }
                x
            },
        )
    }

    // A pass that took quadratic time would take minutes for these.

    #[test]
    fn a_hundred_thousand_layers_that_stay_take_linear_time() {
        let d = TransposeDescriptor::new(&[1, 0]).unwrap();
        let network = long_chain(|builder, x| {
            // Together they move elements.
            let x = builder.add_transpose_layer(d, x, "").unwrap();
            builder.add_reshape_layer([2, 3], x, "").unwrap()
        });
        let network = optimized(network, &OptimizerOptions::default());
        assert_eq!(network.layers().len(), 100_000);
    }

    #[test]
    fn a_hundred_thousand_layers_that_go_take_linear_time() {
        let d = TransposeDescriptor::new(&[1, 0]).unwrap();
        let network = long_chain(|builder, x| {
            let x = builder.add_transpose_layer(d, x, "").unwrap();
            let x = builder.add_transpose_layer(d, x, "").unwrap();
            builder.add_reshape_layer([2, 3], x, "").unwrap()
        });
        let network = optimized(network, &OptimizerOptions::default());
        assert_eq!(network.layers().len(), 0);
        let network = long_chain(|builder, x| {
            let x = builder.add_reshape_layer([3, 2], x, "").unwrap();
            builder.add_reshape_layer([6], x, "").unwrap();
            builder.add_reshape_layer([2, 3], x, "").unwrap()
        });
        let network = optimized(network, &OptimizerOptions::default());
        assert_eq!(network.layers().len(), 0);
    }
}
