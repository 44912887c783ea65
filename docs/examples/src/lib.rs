//! The examples of the README and the book, as documentation tests: `cargo test` compiles each, and
//! runs those that need no file. Examples in C, and what the pages list, are in `tests/pages`.

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The page on dynamic backends.
#[cfg(doctest)]
#[doc = include_str!("../../backends-from-scratch.md")]
pub struct BackendsFromScratch;

/// The page on static backends.
#[cfg(doctest)]
#[doc = include_str!("../../static-backends.md")]
pub struct StaticBackends;

/// The page on choosing backends.
#[cfg(doctest)]
#[doc = include_str!("../../choosing-backends.md")]
pub struct ChoosingBackends;

/// The page on executing networks.
#[cfg(doctest)]
#[doc = include_str!("../../execution.md")]
pub struct Execution;

/// The page on errors.
#[cfg(doctest)]
#[doc = include_str!("../../troubleshooting.md")]
pub struct Troubleshooting;
