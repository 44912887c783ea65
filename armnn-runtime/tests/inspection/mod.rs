//! Looking at files as data, and the parts of a file that tests damage.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::{fs, path::Path};

use armnn_runtime::loader::{
    Code, Refusal, Stage,
    inspect::{HostInterface, Inspection, inspect, inspect_path},
};

use crate::shared_objects::{Backend, Note, directory};

pub fn look_at(path: &Path) -> Inspection {
    inspect_path(path, HostInterface::CURRENT).unwrap()
}

pub fn look_at_bytes(bytes: &[u8]) -> Inspection {
    inspect(&bytes, HostInterface::CURRENT)
}

/// The refusal of `inspection`, whose code is `code`.
#[track_caller]
pub fn refused(inspection: &Inspection, code: Code) -> Refusal {
    let refusal = inspection.refusal().expect("it is refused").clone();
    assert_eq!(refusal.code, code, "{refusal}");
    assert_eq!(refusal.stage, Stage::Inspect);
    assert!(!refusal.message.is_empty() && !refusal.hint.is_empty());
    refusal
}

/// The bytes of a sound backend with a note.
pub fn sound() -> Vec<u8> {
    let root = directory();
    let file = Backend::new("Sound")
        .note(Note::new("Sound"))
        .build(root.path().join("a.so"));
    fs::read(file).unwrap()
}

/// Offsets of the program headers in a 64-bit file, and their types.
pub fn program_headers(bytes: &[u8]) -> Vec<(usize, u32)> {
    let start = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    let count = u16::from_le_bytes(bytes[56..58].try_into().unwrap());
    (0..usize::from(count))
        .map(|index| start + 56 * index)
        .map(|at| {
            (
                at,
                u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()),
            )
        })
        .collect()
}

/// Where the program header of `kind` is.
pub fn program_header(bytes: &[u8], kind: u32) -> usize {
    let headers = program_headers(bytes);
    headers.iter().find(|(_, k)| *k == kind).unwrap().0
}

pub fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

pub const PT_DYNAMIC: u32 = 2;
pub const PT_INTERP: u32 = 3;
pub const PT_NOTE: u32 = 4;
pub const PT_GNU_STACK: u32 = 0x6474_e551;
