//! The options tables of the operators that are lowered.

use planus::ReadAsRoot;

use crate::schema_generated::*;

/// A table of [`BuiltinOptionsRef`] or [`BuiltinOptions2Ref`].
pub(super) trait Options<'a>: ReadAsRoot<'a> {
    /// The table, if the union holds this one.
    fn of(_: BuiltinOptionsRef<'a>) -> Option<Self> {
        None
    }

    /// The table, if the second union holds this one.
    fn of_second(_: BuiltinOptions2Ref<'a>) -> Option<Self> {
        None
    }
}

macro_rules! options {
    ($Union:ident, $of:ident: $($Table:ident: $Ref:ident,)*) => {$(
        impl<'a> Options<'a> for $Ref<'a> {
            fn $of(options: $Union<'a>) -> Option<Self> {
                match options {
                    $Union::$Table(table) => Some(table),
                    _ => None,
                }
            }
        }
    )*};
}

options! {
    BuiltinOptionsRef, of:
    AddOptions: AddOptionsRef,
    ArgMaxOptions: ArgMaxOptionsRef,
    ArgMinOptions: ArgMinOptionsRef,
    BatchMatMulOptions: BatchMatMulOptionsRef,
    BidirectionalSequenceLstmOptions: BidirectionalSequenceLstmOptionsRef,
    BidirectionalSequenceRnnOptions: BidirectionalSequenceRnnOptionsRef,
    BucketizeOptions: BucketizeOptionsRef,
    CallOptions: CallOptionsRef,
    CallOnceOptions: CallOnceOptionsRef,
    ConcatenationOptions: ConcatenationOptionsRef,
    Conv2DOptions: Conv2DOptionsRef,
    Conv3DOptions: Conv3DOptionsRef,
    CumsumOptions: CumsumOptionsRef,
    DepthToSpaceOptions: DepthToSpaceOptionsRef,
    DepthwiseConv2DOptions: DepthwiseConv2DOptionsRef,
    DivOptions: DivOptionsRef,
    EmbeddingLookupSparseOptions: EmbeddingLookupSparseOptionsRef,
    FakeQuantOptions: FakeQuantOptionsRef,
    FullyConnectedOptions: FullyConnectedOptionsRef,
    GatherOptions: GatherOptionsRef,
    GeluOptions: GeluOptionsRef,
    IfOptions: IfOptionsRef,
    L2NormOptions: L2NormOptionsRef,
    LeakyReluOptions: LeakyReluOptionsRef,
    LocalResponseNormalizationOptions: LocalResponseNormalizationOptionsRef,
    LstmOptions: LstmOptionsRef,
    MirrorPadOptions: MirrorPadOptionsRef,
    MulOptions: MulOptionsRef,
    OneHotOptions: OneHotOptionsRef,
    PackOptions: PackOptionsRef,
    Pool2DOptions: Pool2DOptionsRef,
    RandomOptions: RandomOptionsRef,
    ReducerOptions: ReducerOptionsRef,
    ReshapeOptions: ReshapeOptionsRef,
    ResizeBilinearOptions: ResizeBilinearOptionsRef,
    ResizeNearestNeighborOptions: ResizeNearestNeighborOptionsRef,
    ReverseSequenceOptions: ReverseSequenceOptionsRef,
    RnnOptions: RnnOptionsRef,
    SequenceRnnOptions: SequenceRnnOptionsRef,
    ShapeOptions: ShapeOptionsRef,
    SoftmaxOptions: SoftmaxOptionsRef,
    SpaceToDepthOptions: SpaceToDepthOptionsRef,
    SplitOptions: SplitOptionsRef,
    SplitVOptions: SplitVOptionsRef,
    SqueezeOptions: SqueezeOptionsRef,
    StridedSliceOptions: StridedSliceOptionsRef,
    SubOptions: SubOptionsRef,
    SvdfOptions: SvdfOptionsRef,
    TransposeConvOptions: TransposeConvOptionsRef,
    UnidirectionalSequenceLstmOptions: UnidirectionalSequenceLstmOptionsRef,
    UniqueOptions: UniqueOptionsRef,
    UnpackOptions: UnpackOptionsRef,
    VarHandleOptions: VarHandleOptionsRef,
    WhileOptions: WhileOptionsRef,
}

options! {
    BuiltinOptions2Ref, of_second:
    ReduceWindowOptions: ReduceWindowOptionsRef,
    StableHloCompositeOptions: StableHloCompositeOptionsRef,
    StablehloBroadcastInDimOptions: StablehloBroadcastInDimOptionsRef,
    StablehloCaseOptions: StablehloCaseOptionsRef,
    StablehloCompareOptions: StablehloCompareOptionsRef,
    StablehloConcatenateOptions: StablehloConcatenateOptionsRef,
    StablehloConvolutionOptions: StablehloConvolutionOptionsRef,
    StablehloDotGeneralOptions: StablehloDotGeneralOptionsRef,
    StablehloDynamicSliceOptions: StablehloDynamicSliceOptionsRef,
    StablehloGatherOptions: StablehloGatherOptionsRef,
    StablehloIotaOptions: StablehloIotaOptionsRef,
    StablehloPadOptions: StablehloPadOptionsRef,
    StablehloReduceOptions: StablehloReduceOptionsRef,
    StablehloReduceWindowOptions: StablehloReduceWindowOptionsRef,
    StablehloRngBitGeneratorOptions: StablehloRngBitGeneratorOptionsRef,
    StablehloScatterOptions: StablehloScatterOptionsRef,
    StablehloSliceOptions: StablehloSliceOptionsRef,
    StablehloSortOptions: StablehloSortOptionsRef,
    StablehloTransposeOptions: StablehloTransposeOptionsRef,
    StablehloWhileOptions: StablehloWhileOptionsRef,
}
