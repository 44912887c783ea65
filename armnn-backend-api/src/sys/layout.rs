//! Layout of the boundary structs, and the hash by which a backend's note vouches for it.
//!
//! There is one hash for each minor: FNV-1a over the name, offset, size and type of every field
//! that exists since that minor or before, and the size of each struct as of that minor. The
//! backend's note carries the hash of the minor it was built against; the host compares it with
//! its own of the same minor ([`LAYOUT_HASHES`]).

use super::ARMNN_API_MINOR;
use super::{boundary_descriptors::DESCRIPTORS, boundary_structs::INTERFACE};

/// Every boundary struct: those of the interface, then the descriptors of layers.
pub const STRUCTS: &[StructLayout] =
    &joined::<{ INTERFACE.len() + DESCRIPTORS.len() }>(INTERFACE, DESCRIPTORS);

/// The layout hash of each minor of this major, by minor. Those of released minors never change.
pub const LAYOUT_HASHES: [u64; ARMNN_API_MINOR as usize + 1] = [
    0x81dd_f687_ef4a_18ba,
    0xfe79_17de_8495_5774,
    0x07b5_fa3c_d29e_a005,
];

/// A field of a boundary struct.
#[derive(Clone, Copy, Debug)]
pub struct FieldLayout {
    /// Its name.
    pub name: &'static str,
    /// Its type, as written in Rust; white space has no meaning.
    pub ty: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// The minor in which it first appeared.
    pub since: u32,
}

/// A boundary struct.
#[derive(Clone, Copy, Debug)]
pub struct StructLayout {
    /// Its name.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Its fields, in order.
    pub fields: &'static [FieldLayout],
}

/// Two lists one after the other; both have a struct at least.
const fn joined<const N: usize>(
    first: &[StructLayout],
    second: &[StructLayout],
) -> [StructLayout; N] {
    let mut all = [first[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = match i < first.len() {
            true => first[i],
            false => second[i - first.len()],
        };
        i += 1;
    }
    all
}

/// Computes the layout hash of a minor.
pub const fn layout_hash(minor: u32) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut s = 0;
    while s < STRUCTS.len() {
        let layout = STRUCTS[s];
        let mut size = layout.size;
        let mut present = false;
        let mut f = 0;
        while f < layout.fields.len() {
            let field = layout.fields[f];
            if field.since > minor {
                size = field.offset;
                break;
            }
            if !present {
                hash = hash_text(hash, layout.name);
                present = true;
            }
            hash = hash_text(hash, field.name);
            hash = hash_text(hash, field.ty);
            hash = hash_number(hash, field.offset);
            hash = hash_number(hash, field.size);
            f += 1;
        }
        if present {
            hash = hash_number(hash, size);
        }
        s += 1;
    }
    hash
}

const fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)
}

/// White space is left out: how `stringify!` spaces tokens differs between compilers.
const fn hash_text(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !bytes[i].is_ascii_whitespace() {
            hash = hash_byte(hash, bytes[i]);
        }
        i += 1;
    }
    hash_byte(hash, 0)
}

const fn hash_number(mut hash: u64, number: usize) -> u64 {
    let bytes = (number as u64).to_le_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = hash_byte(hash, bytes[i]);
        i += 1;
    }
    hash
}

/// Makes a list of [`StructLayout`]s; a field that is missing, misplaced or of another type is
/// a compile error.
macro_rules! boundary_structs {
    ($LIST:ident: $($Struct:ident { $($since:literal $field:ident: $ty:ty;)* })*) => {
        pub(super) const $LIST: &[super::layout::StructLayout] = &[$({
            // The types are compared, and no field is left out.
            #[allow(dead_code)]
            fn compare(s: &$Struct) {
                let $Struct { $($field),* } = s;
                $(let _: &$ty = $field;)*
            }
            super::layout::StructLayout {
                name: stringify!($Struct),
                size: core::mem::size_of::<$Struct>(),
                fields: &[$(super::layout::FieldLayout {
                    name: stringify!($field),
                    ty: stringify!($ty),
                    offset: core::mem::offset_of!($Struct, $field),
                    size: core::mem::size_of::<$ty>(),
                    since: $since,
                }),*],
            }
        }),*];
    };
}
pub(super) use boundary_structs;

#[cfg(test)]
mod tests {
    use super::*;

    /// If this fails, the layout changed: released minors must not, and a change to the current
    /// one means that the minor (or the major) goes up.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn hashes_are_those_of_the_released_minors() {
        for (minor, expected) in LAYOUT_HASHES.iter().enumerate() {
            let actual = layout_hash(minor as u32);
            assert_eq!(actual, *expected, "minor {minor}: {actual:#018x}");
        }
    }

    #[test]
    fn fields_are_in_order_and_new_ones_are_at_the_end() {
        for layout in STRUCTS {
            for pair in layout.fields.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                assert!(a.offset + a.size <= b.offset, "{}.{}", layout.name, b.name);
                assert!(a.since <= b.since, "{}.{}", layout.name, b.name);
            }
        }
    }

    #[test]
    fn there_is_no_padding_at_the_end_into_which_a_field_could_slip_unseen() {
        for layout in STRUCTS {
            let last = layout.fields[layout.fields.len() - 1];
            assert_eq!(last.offset + last.size, layout.size, "{}", layout.name);
        }
    }
}
