//! Layout of the boundary structs, as checked by the backend note.

/// The layout hash of each minor of this major, by minor.
pub const LAYOUT_HASHES: [u64; 1] = [0];
