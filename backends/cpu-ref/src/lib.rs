//! The reference backend: every layer, plainly and correctly.
