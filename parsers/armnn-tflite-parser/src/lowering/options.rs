//! The options tables of the operators that are lowered.

use planus::ReadAsRoot;

use crate::schema_generated::*;

/// A table of [`BuiltinOptionsRef`].
pub(super) trait Options<'a>: ReadAsRoot<'a> {
    /// The table, if the union holds this one.
    fn of(options: BuiltinOptionsRef<'a>) -> Option<Self>;
}

macro_rules! options {
    ($($Table:ident: $Ref:ident,)*) => {$(
        impl<'a> Options<'a> for $Ref<'a> {
            fn of(options: BuiltinOptionsRef<'a>) -> Option<Self> {
                match options {
                    BuiltinOptionsRef::$Table(table) => Some(table),
                    _ => None,
                }
            }
        }
    )*};
}

options! {
    AddOptions: AddOptionsRef,
    ConcatenationOptions: ConcatenationOptionsRef,
    Conv2DOptions: Conv2DOptionsRef,
    DepthwiseConv2DOptions: DepthwiseConv2DOptionsRef,
    Pool2DOptions: Pool2DOptionsRef,
    ReshapeOptions: ReshapeOptionsRef,
}
