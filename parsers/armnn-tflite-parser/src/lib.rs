//! Reads TFLite models into a network.
