//! Optimizes, loads and executes networks on backends that are linked in or loaded at run time.

pub mod dynamic_backend;
pub mod dynamic_backend_utils;
pub mod loader;
