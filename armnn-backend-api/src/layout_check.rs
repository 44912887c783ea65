//! The type layout of the interface, as one more export of a backend.
//!
//! The layout hash of the backend note decides whether a backend fits; this tells a developer
//! *which* field does not. `declare_backend!` emits the export `ArmnnBackendLayout` when the feature
//! `layout-check` is on, and the runtime, built with its own feature of that name, compares it
//! with the layout that it knows. Backends that are shipped do not carry it.
//!
//! Layouts are described by [`abi_stable`]; nothing else of that library is used.

use core::ffi::c_void;

use abi_stable::{StableAbi, library::AbiHeader, type_layout::TypeLayout};

use crate::sys::*;

/// The name of the export.
pub const LAYOUT_EXPORT: &str = "ArmnnBackendLayout";

/// The types whose layouts are exported: the backend object, from which the other objects, the
/// tables and what their functions take are reached, and the descriptors, which are reached through
/// untyped pointers only.
pub const TYPES: &[&TypeLayout] = &[
    IBackendInternal::LAYOUT,
    ArmnnActivationDescriptor::LAYOUT,
    ArmnnBatchMatMulDescriptor::LAYOUT,
    ArmnnCastDescriptor::LAYOUT,
    ArmnnComparisonDescriptor::LAYOUT,
    ArmnnConcatDescriptor::LAYOUT,
    ArmnnConvolution2dDescriptor::LAYOUT,
    ArmnnDepthwiseConvolution2dDescriptor::LAYOUT,
    ArmnnDequantizeDescriptor::LAYOUT,
    ArmnnElementwiseBinaryDescriptor::LAYOUT,
    ArmnnElementwiseUnaryDescriptor::LAYOUT,
    ArmnnFullyConnectedDescriptor::LAYOUT,
    ArmnnGatherDescriptor::LAYOUT,
    ArmnnPadDescriptor::LAYOUT,
    ArmnnPooling2dDescriptor::LAYOUT,
    ArmnnPreluDescriptor::LAYOUT,
    ArmnnQuantizeDescriptor::LAYOUT,
    ArmnnReduceDescriptor::LAYOUT,
    ArmnnReshapeDescriptor::LAYOUT,
    ArmnnResizeDescriptor::LAYOUT,
    ArmnnSoftmaxDescriptor::LAYOUT,
    ArmnnSplitDescriptor::LAYOUT,
    ArmnnStandInDescriptor::LAYOUT,
    ArmnnStridedSliceDescriptor::LAYOUT,
    ArmnnTransposeDescriptor::LAYOUT,
    ArmnnArgMinMaxDescriptor::LAYOUT,
    ArmnnBatchNormalizationDescriptor::LAYOUT,
    ArmnnBatchToSpaceNdDescriptor::LAYOUT,
    ArmnnBitCastDescriptor::LAYOUT,
    ArmnnBroadcastToDescriptor::LAYOUT,
    ArmnnBucketizeDescriptor::LAYOUT,
    ArmnnCol2ImDescriptor::LAYOUT,
    ArmnnCompressDescriptor::LAYOUT,
    ArmnnConvolution3dDescriptor::LAYOUT,
    ArmnnCumulativeDescriptor::LAYOUT,
    ArmnnDeformConvDescriptor::LAYOUT,
    ArmnnDepthToSpaceDescriptor::LAYOUT,
    ArmnnDetDescriptor::LAYOUT,
    ArmnnDetectionPostProcessDescriptor::LAYOUT,
    ArmnnDftDescriptor::LAYOUT,
    ArmnnDynamicUpdateSliceDescriptor::LAYOUT,
    ArmnnFillDescriptor::LAYOUT,
    ArmnnGatherElementsDescriptor::LAYOUT,
    ArmnnGatherNdDescriptor::LAYOUT,
    ArmnnGridSampleDescriptor::LAYOUT,
    ArmnnGruDescriptor::LAYOUT,
    ArmnnInstanceNormalizationDescriptor::LAYOUT,
    ArmnnInterpolateDescriptor::LAYOUT,
    ArmnnL2NormalizationDescriptor::LAYOUT,
    ArmnnLayerNormalizationDescriptor::LAYOUT,
    ArmnnLogicalBinaryDescriptor::LAYOUT,
    ArmnnLogSoftmaxDescriptor::LAYOUT,
    ArmnnLstmDescriptor::LAYOUT,
    ArmnnMaxPoolWithIndicesDescriptor::LAYOUT,
    ArmnnNonMaxSuppressionDescriptor::LAYOUT,
    ArmnnNonMaxSuppressionPaddedDescriptor::LAYOUT,
    ArmnnNonZeroDescriptor::LAYOUT,
    ArmnnNormalizationDescriptor::LAYOUT,
    ArmnnOneHotDescriptor::LAYOUT,
    ArmnnPooling3dDescriptor::LAYOUT,
    ArmnnRangeDescriptor::LAYOUT,
    ArmnnReverseSequenceDescriptor::LAYOUT,
    ArmnnReverseV2Descriptor::LAYOUT,
    ArmnnRnnDescriptor::LAYOUT,
    ArmnnRoiAlignDescriptor::LAYOUT,
    ArmnnScatterElementsDescriptor::LAYOUT,
    ArmnnScatterNdDescriptor::LAYOUT,
    ArmnnSelectDescriptor::LAYOUT,
    ArmnnSpaceToBatchNdDescriptor::LAYOUT,
    ArmnnSpaceToDepthDescriptor::LAYOUT,
    ArmnnStackDescriptor::LAYOUT,
    ArmnnTileDescriptor::LAYOUT,
    ArmnnTopKDescriptor::LAYOUT,
    ArmnnTransposeConvolution2dDescriptor::LAYOUT,
    ArmnnTransposeConvolution3dDescriptor::LAYOUT,
    ArmnnTriluDescriptor::LAYOUT,
    ArmnnUnidirectionalSequenceLstmDescriptor::LAYOUT,
    ArmnnUniqueDescriptor::LAYOUT,
];

/// What the export `ArmnnBackendLayout` holds: data, so that reading it runs no code of the
/// backend.
///
/// Everything up to `abi_header` can be read whatever versions the two sides have; `types` only
/// when `abi_header` says that both mean the same by it.
#[repr(C)]
#[derive(Debug)]
pub struct LayoutExport {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Major version of the interface.
    pub api_major: u32,
    /// Minor version of the interface.
    pub api_minor: u32,
    /// The version of `abi_stable` that describes the layouts.
    pub abi_header: AbiHeader,
    /// The layouts.
    pub types: *const &'static TypeLayout,
    /// How many.
    pub n_types: usize,
}

// SAFETY: it is read only, and `types` points to constants.
unsafe impl Sync for LayoutExport {}

impl LayoutExport {
    /// The layout of this crate's interface.
    pub const CURRENT: Self = Self::new(TYPES);

    /// These layouts as those of this crate's version of the interface.
    pub const fn new(types: &'static [&'static TypeLayout]) -> Self {
        Self {
            struct_size: size_of::<Self>(),
            api_major: ARMNN_API_MAJOR,
            api_minor: ARMNN_API_MINOR,
            abi_header: AbiHeader::VALUE,
            types: types.as_ptr(),
            n_types: types.len(),
        }
    }
}

// A function pointer among the arguments of another cannot be derived, so that the fields of such
// types name one of the following instead (`unsafe_change_type`). A test below compares these with
// the fields that they stand for.

/// The type of `parallel_for`.
#[repr(transparent)]
#[derive(StableAbi)]
pub struct ParallelFor {
    function: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            n_tasks: u32,
            body: ParallelForBody,
            data: *mut c_void,
        ) -> ArmnnStatus,
    >,
}

/// The function that is given to `parallel_for`.
#[repr(transparent)]
#[derive(StableAbi)]
pub struct ParallelForBody {
    function: Option<unsafe extern "C" fn(data: *mut c_void, task: u32, thread: u32)>,
}

/// The type of `cache_get`.
#[repr(transparent)]
#[derive(StableAbi)]
pub struct CacheGet {
    function: Option<
        unsafe extern "C" fn(
            host: *mut c_void,
            key: *const u8,
            key_len: usize,
            sink: CacheGetSink,
            data: *mut c_void,
        ) -> ArmnnStatus,
    >,
}

/// The function that is given to `cache_get`.
#[repr(transparent)]
#[derive(StableAbi)]
pub struct CacheGetSink {
    function: Option<unsafe extern "C" fn(data: *mut c_void, blob: *const u8, len: usize)>,
}

#[cfg(test)]
mod tests {
    use std::{
        any::type_name,
        collections::BTreeMap,
        ffi::{c_char, c_void},
    };

    use abi_stable::type_layout::{ReprAttr, TLData, TLField, TLPrimitive};

    use super::*;
    use crate::sys::layout::STRUCTS;

    /// Every type that is reached from the exported ones, by name.
    fn reached() -> BTreeMap<&'static str, &'static TypeLayout> {
        let mut reached = BTreeMap::new();
        let mut open = TYPES.to_vec();
        while let Some(layout) = open.pop() {
            // The types of pointers have one name and many targets.
            if layout.get_fields().is_some() && reached.insert(layout.name(), layout).is_some() {
                continue;
            }
            let fields = layout.get_fields().into_iter().flat_map(|f| f.iter());
            open.extend(fields.chain(layout.phantom_fields().iter()).flat_map(reads));
        }
        reached
    }

    fn reads(field: TLField) -> Vec<&'static TypeLayout> {
        let mut types = vec![field.layout()];
        for function in field.function_range() {
            types.extend(function.param_type_layouts.iter().map(|layout| layout()));
            types.extend(function.return_type_layout().map(|layout| layout()));
        }
        types
    }

    /// The type of a field as it is written in Rust, without white space.
    fn written(field: &TLField) -> String {
        let Some(function) = field.function_range().iter().next() else {
            return written_type(field.layout());
        };
        let arguments = function.param_type_layouts.iter();
        let arguments: Vec<String> = arguments.map(|layout| written_type(layout())).collect();
        let result = function
            .return_type_layout()
            .map_or(String::new(), |layout| {
                format!("->{}", written_type(layout()))
            });
        format!(
            "Option<unsafeextern\"C\"fn({}){result}>",
            arguments.join(",")
        )
    }

    fn written_type(layout: &TypeLayout) -> String {
        let fields = layout
            .get_fields()
            .map_or(Vec::new(), |f| f.iter().collect());
        if layout.repr_attr() == ReprAttr::Transparent {
            return written(&fields[0]);
        }
        let target = || {
            let target = layout.phantom_fields().iter().next();
            written_type(target.expect("a pointer or array has an element").layout())
        };
        match layout.data() {
            TLData::Primitive(TLPrimitive::ConstPtr) => format!("*const{}", target()),
            TLData::Primitive(TLPrimitive::MutPtr) => format!("*mut{}", target()),
            TLData::Primitive(TLPrimitive::Array) => {
                format!("[{};{:?}]", target(), layout.generics().const_params()[0])
            }
            _ => layout.name().to_owned(),
        }
    }

    /// The layouts come from the declarations, the list of fields was written by hand and is what
    /// the hash is made of. This also covers the types that stand in for others.
    #[test]
    fn the_layouts_have_the_fields_that_the_layout_hash_is_made_of() {
        let reached = reached();
        let aliases = [
            ("ArmnnStatus", type_name::<ArmnnStatus>()),
            ("c_char", type_name::<c_char>()),
            ("ARMNN_MAX_RANK", "8"),
            ("ARMNN_ERROR_MESSAGE_SIZE", "496"),
        ];
        for expected in STRUCTS {
            let layout = reached
                .get(expected.name)
                .unwrap_or_else(|| panic!("{} is reached from no exported type", expected.name));
            assert_eq!(layout.size(), expected.size, "{}", expected.name);
            let fields = layout.get_fields().expect("a struct").iter();
            let fields: Vec<_> = fields.map(|f| (f.name(), written(&f))).collect();
            let expected_fields: Vec<_> = expected
                .fields
                .iter()
                .map(|field| {
                    let mut ty = field.ty.replace(char::is_whitespace, "");
                    for (alias, meaning) in aliases {
                        ty = ty.replace(alias, meaning);
                    }
                    (field.name, ty)
                })
                .collect();
            assert_eq!(fields, expected_fields, "{}", expected.name);
        }
    }

    #[test]
    fn an_option_has_one_member_per_kind() {
        let value = reached()["ArmnnOptionValue"];
        let members = value.get_fields().expect("a union").iter();
        let members: Vec<_> = members.map(|f| (f.name(), written(&f))).collect();
        let expected = [("b", "u8"), ("i", "i64"), ("f", "f64"), ("s", "ArmnnStr")];
        assert_eq!(members, expected.map(|(name, ty)| (name, ty.to_owned())));
    }

    #[test]
    fn the_export_is_read_the_same_way_by_every_version() {
        use core::mem::offset_of;
        assert_eq!(offset_of!(LayoutExport, struct_size), 0);
        assert_eq!(offset_of!(LayoutExport, api_major), size_of::<usize>());
        assert_eq!(offset_of!(LayoutExport, api_minor), size_of::<usize>() + 4);
        assert_eq!(offset_of!(LayoutExport, abi_header), size_of::<usize>() + 8);
        assert_eq!(offset_of!(LayoutExport, types), size_of::<usize>() + 48);
        assert_eq!(size_of::<*mut c_void>(), size_of::<usize>());
    }
}
