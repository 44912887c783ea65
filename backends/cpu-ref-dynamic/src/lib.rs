//! The reference backend as a shared object.
