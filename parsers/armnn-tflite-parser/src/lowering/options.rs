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
    BatchMatMulOptions: BatchMatMulOptionsRef,
    ConcatenationOptions: ConcatenationOptionsRef,
    Conv2DOptions: Conv2DOptionsRef,
    DepthwiseConv2DOptions: DepthwiseConv2DOptionsRef,
    DivOptions: DivOptionsRef,
    FullyConnectedOptions: FullyConnectedOptionsRef,
    GatherOptions: GatherOptionsRef,
    GeluOptions: GeluOptionsRef,
    LeakyReluOptions: LeakyReluOptionsRef,
    MirrorPadOptions: MirrorPadOptionsRef,
    MulOptions: MulOptionsRef,
    PackOptions: PackOptionsRef,
    Pool2DOptions: Pool2DOptionsRef,
    ReducerOptions: ReducerOptionsRef,
    ResizeBilinearOptions: ResizeBilinearOptionsRef,
    ResizeNearestNeighborOptions: ResizeNearestNeighborOptionsRef,
    ReshapeOptions: ReshapeOptionsRef,
    SoftmaxOptions: SoftmaxOptionsRef,
    SplitOptions: SplitOptionsRef,
    SplitVOptions: SplitVOptionsRef,
    SqueezeOptions: SqueezeOptionsRef,
    StridedSliceOptions: StridedSliceOptionsRef,
    SubOptions: SubOptionsRef,
    UnpackOptions: UnpackOptionsRef,
}
