//! Layers over the steps of a sequence.

pub(crate) mod recurrent;
pub(crate) mod reverse_sequence;
pub(crate) mod sigmoid_tanh;
pub(crate) mod unidirectional_sequence_lstm;
