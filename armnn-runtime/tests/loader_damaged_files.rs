//! What is made of files that are damaged or cannot be read.
#![cfg(target_os = "linux")]

mod inspection;
mod shared_objects;

use std::{fs, io};

use armnn_runtime::loader::{
    Code,
    inspect::{HostInterface, ReadAt, inspect, inspect_file},
};
use inspection::{
    PT_DYNAMIC, PT_NOTE, look_at_bytes, program_header, program_headers, put, refused, sound,
};
use shared_objects::directory;

#[test]
fn every_way_to_cut_a_file_short_is_noticed() {
    let bytes = sound();
    // What the dynamic linker maps; behind it are section headers, which it ignores.
    let loaded = program_headers(&bytes)
        .iter()
        .filter(|(_, kind)| *kind == 1)
        .map(|(at, _)| {
            let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            number(at + 8) + number(at + 32)
        })
        .max()
        .unwrap() as usize;
    for length in 0..=bytes.len() {
        let found = look_at_bytes(&bytes[..length]);
        if length < 4 {
            refused(&found, Code::NotElf);
        } else if length < loaded {
            refused(&found, Code::Truncated);
        } else {
            assert_eq!(found.refusals, [], "{length}");
        }
    }
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_gives_an_error() {
    let root = directory();
    let path = root.path().join("a.so");
    fs::write(&path, &sound()[..100]).unwrap();
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    /// Claims the size from before the file was cut.
    struct Cut<'a>(&'a fs::File, u64);
    impl ReadAt for Cut<'_> {
        fn size(&self) -> u64 {
            self.1
        }
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            std::os::unix::fs::FileExt::read_at(self.0, buffer, offset)
        }
    }
    refused(
        &inspect(&Cut(&file, 16_000), HostInterface::CURRENT),
        Code::Truncated,
    );
    refused(
        &inspect_file(&file, HostInterface::CURRENT),
        Code::Truncated,
    );
}

#[test]
fn a_file_that_cannot_be_read_gives_an_error() {
    struct Broken;
    impl ReadAt for Broken {
        fn size(&self) -> u64 {
            16_000
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            Err(io::Error::other("the disk is broken"))
        }
    }
    let found = inspect(&Broken, HostInterface::CURRENT);
    let refusal = found.refusal().unwrap();
    assert_eq!(refusal.code, Code::Unreadable);
    assert!(refusal.message.contains("the disk is broken"), "{refusal}");
}

/// A small generator of numbers that only look random (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn flipped_bits_never_do_harm() {
    let bytes = sound();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    // Half of them in the headers, where they hurt most.
    let headers = program_header(&bytes, PT_NOTE).max(1024);
    let mut refusals = 0;
    for round in 0..20_000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + round % 4 {
            let place = numbers.below(if round % 2 == 0 { headers } else { bytes.len() });
            damaged[place] ^= 1 << numbers.below(8);
        }
        refusals += usize::from(look_at_bytes(&damaged).refusal().is_some());
    }
    // Many land in code, padding or section headers, which are not looked at.
    assert!((2_000..18_000).contains(&refusals), "{refusals}");
}

#[test]
fn numbers_of_every_size_in_every_field_never_do_harm() {
    let bytes = sound();
    let dynamic = {
        let at = program_header(&bytes, PT_DYNAMIC) + 8;
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let extremes = [
        0,
        1,
        0x7fff_ffff,
        0xffff_ffff,
        i64::MAX as u64,
        u64::MAX - 7,
        u64::MAX,
    ];
    let end = 64 + 56 * program_headers(&bytes).len();
    for at in (16..end).chain(dynamic..dynamic + 512) {
        for value in extremes {
            let mut damaged = bytes.clone();
            put(&mut damaged, at, &value.to_le_bytes());
            look_at_bytes(&damaged);
        }
    }
    // Hash tables, symbols and names, found by their place behind the headers.
    for at in (end..end + 2048).step_by(4) {
        for value in [0u32, 1, 0xffff_fffe, u32::MAX] {
            let mut damaged = bytes.clone();
            put(&mut damaged, at, &value.to_le_bytes());
            look_at_bytes(&damaged);
        }
    }
}
