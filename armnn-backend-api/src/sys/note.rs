//! The backend note: an ELF note in which a shared object says what it is, readable without
//! loading it.
//!
//! It survives stripping, and is found through the program headers (`PT_NOTE`), never through the
//! section headers, which a stripped file may lack. Layout, all integers in the byte order of the
//! file:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | name size: 6 |
//! | 4 | 4 | descriptor size: 216 or more |
//! | 8 | 4 | type: [`ARMNN_NOTE_TYPE`] |
//! | 12 | 8 | name: `ArmNN\0`, padded to 8 |
//! | 20 | 4 | format of the descriptor: [`ARMNN_NOTE_FORMAT`] |
//! | 24 | 4 | interface major |
//! | 28 | 4 | interface minor |
//! | 32 | 4 | flags |
//! | 36 | 8 | layout hash of that minor, as two u32, low half first |
//! | 44 | 64 | backend id, NUL-terminated and NUL-padded |
//! | 108 | 96 | toolchain, likewise |
//! | 204 | 32 | version of the package, likewise |
//!
//! A later format may append to the descriptor; a reader of format 1 reads its 216 bytes and
//! ignores the rest.

use super::{ARMNN_API_MAJOR, ARMNN_API_MINOR, layout};

/// The type of the note, beside its name `ArmNN`.
pub const ARMNN_NOTE_TYPE: u32 = 0x4e4e_0001;
/// The format of the descriptor described here.
pub const ARMNN_NOTE_FORMAT: u32 = 1;
/// The size of the descriptor of format 1, in bytes.
pub const ARMNN_NOTE_DESCRIPTOR_SIZE: u32 = 216;
/// Flag: panics of this backend unwind, so that they can be caught (`panic = "unwind"`).
pub const ARMNN_NOTE_FLAG_PANIC_UNWIND: u32 = 1;
/// Flag: the shared object also exports the type layout that `armnn backends check` compares.
pub const ARMNN_NOTE_FLAG_LAYOUT_EXPORT: u32 = 2;

/// A whole note as it stands in the file: header, name and descriptor.
#[repr(C, align(4))]
#[derive(Clone, Copy, Debug)]
pub struct ArmnnNote {
    /// Bytes of the name with its NUL: 6.
    pub name_size: u32,
    /// Bytes of the descriptor.
    pub descriptor_size: u32,
    /// [`ARMNN_NOTE_TYPE`].
    pub note_type: u32,
    /// `ArmNN`, padded with NUL.
    pub name: [u8; 8],
    /// [`ARMNN_NOTE_FORMAT`].
    pub format: u32,
    /// Major version of the interface.
    pub api_major: u32,
    /// Minor version of the interface.
    pub api_minor: u32,
    /// `ARMNN_NOTE_FLAG_…`.
    pub flags: u32,
    /// Layout hash of that minor, low half first.
    pub layout_hash: [u32; 2],
    /// Backend id.
    pub backend_id: [u8; 64],
    /// Compiler and target.
    pub toolchain: [u8; 96],
    /// Version of the backend's own package.
    pub package_version: [u8; 32],
}

impl ArmnnNote {
    /// The note of a backend built against this crate.
    ///
    /// # Panics
    /// At compile time, when a text does not fit its field.
    pub const fn new(backend_id: &str, toolchain: &str, package_version: &str, flags: u32) -> Self {
        let hash = layout::LAYOUT_HASHES[ARMNN_API_MINOR as usize];
        Self {
            name_size: 6,
            descriptor_size: ARMNN_NOTE_DESCRIPTOR_SIZE,
            note_type: ARMNN_NOTE_TYPE,
            name: *b"ArmNN\0\0\0",
            format: ARMNN_NOTE_FORMAT,
            api_major: ARMNN_API_MAJOR,
            api_minor: ARMNN_API_MINOR,
            flags,
            layout_hash: [hash as u32, (hash >> 32) as u32],
            backend_id: padded(backend_id),
            toolchain: padded(toolchain),
            package_version: padded(package_version),
        }
    }
}

const fn padded<const N: usize>(text: &str) -> [u8; N] {
    let bytes = text.as_bytes();
    assert!(
        bytes.len() < N,
        "too long for its field in the backend note"
    );
    let mut out = [0; N];
    let mut i = 0;
    while i < bytes.len() {
        out[i] = bytes[i];
        i += 1;
    }
    out
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(offset_of!(ArmnnNote, format) == 20);
    assert!(offset_of!(ArmnnNote, layout_hash) == 36);
    assert!(offset_of!(ArmnnNote, backend_id) == 44);
    assert!(size_of::<ArmnnNote>() == 20 + ARMNN_NOTE_DESCRIPTOR_SIZE as usize);
};
