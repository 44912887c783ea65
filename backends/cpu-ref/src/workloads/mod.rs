//! What all layers have in common: checks, workloads, the threads that they share.

pub(crate) mod copy;
pub(crate) mod element_workload;
pub(crate) mod float_workload;
pub(crate) mod layer_checks;
pub(crate) mod parallel;
pub(crate) mod workload_function;
