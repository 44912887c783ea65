//! What a backend author needs in one crate.
