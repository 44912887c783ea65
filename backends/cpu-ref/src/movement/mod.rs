//! Layers that move or repeat elements.

pub(crate) mod block;
pub(crate) mod concat;
pub(crate) mod gather;
pub(crate) mod gather_nd;
pub(crate) mod one_hot;
pub(crate) mod pad;
pub(crate) mod range;
pub(crate) mod repetition;
pub(crate) mod reshape;
pub(crate) mod scatter;
pub(crate) mod split;
pub(crate) mod strided_slice;
pub(crate) mod transpose;
pub(crate) mod trilu;
