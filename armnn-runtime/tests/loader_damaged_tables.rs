//! Files whose tables are damaged: the dynamic linker reads most of them unchecked, and would end the
//! process, or search for ever. Whatever is damaged, the process lives until code of the file runs.
#![cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    feature = "dynamic-backends"
))]

mod inspection;
mod shared_objects;

use std::{
    collections::BTreeSet,
    fs,
    ops::Range,
    os::fd::AsRawFd as _,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use armnn_runtime::loader::{
    inspect::{HostInterface, inspect_path},
    load::{Created, Request, Selection, load},
};
use inspection::{program_headers, put};
use shared_objects::{Backend, Note, directory};

/// How long a child may compute; a busy machine takes none of it.
const SECONDS: u64 = 5;
/// How long one may take that waits.
const WAITING_SECONDS: u32 = 120;
/// The descriptor that the backend's constructor writes to, by a system call of its own.
const MARK: i32 = 200;

/// A backend with a table of every kind.
fn backend(file: &Path, hash_style: &str) {
    Backend::new("X")
        .note(Note::new("X"))
        .source(
            "#include <stdio.h>
             #include <stdlib.h>
             #include <math.h>
             __attribute__((constructor)) static void mark(void) {
                 long n = 1;
                 __asm__ volatile(\"syscall\" : \"+a\"(n) : \"D\"(200L), \"S\"(\"x\"), \"d\"(1L)
                                  : \"rcx\", \"r11\", \"memory\");
             }
             __thread int counter = 3;
             int *place(void) { return &counter; }
             const char *const names[] = {\"a\", \"b\", \"c\"};
             double wave(double x) { printf(\"%s\", names[0]); return sin(x) + atof(names[1]); }
             __attribute__((destructor)) static void leave(void) {}",
        )
        .flag("-lm")
        .flag("-s")
        .flag(&format!("-Wl,-z,relro,-z,now,--hash-style={hash_style}"))
        .build(file);
}

/// One at a time: a child that is forked while another test is in the dynamic linker loads nothing.
fn serial() -> MutexGuard<'static, ()> {
    static SERIAL: Mutex<()> = Mutex::new(());
    SERIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// It has a verdict.
    Verdict,
    /// By code of the file, or after that ran.
    Ran,
    /// By the dynamic linker, or by looking at the file.
    Died(i32),
}

/// Loads what is in `directory`, in a forked child.
fn load_in_fork(directory: &Path) -> End {
    let (reader, writer) = std::io::pipe().unwrap();
    // SAFETY: the child uses this thread's things alone.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: system calls that change this process alone.
        unsafe {
            libc::dup2(writer.as_raw_fd(), MARK);
            let seconds = libc::rlimit {
                rlim_cur: SECONDS,
                rlim_max: SECONDS + 1,
            };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const seconds);
            libc::alarm(WAITING_SECONDS);
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(null, 2);
        }
        let request = Request {
            directories: &[directory],
            selection: &Selection::All,
            taken: &BTreeSet::new(),
            host: HostInterface::CURRENT,
        };
        // SAFETY: that it may end this process is what the test is about.
        let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
        let good = loaded.verdicts.len() == 1;
        std::mem::forget(loaded);
        // SAFETY: ends this process.
        unsafe { libc::_exit(if good { 0 } else { 1 }) };
    }
    drop(writer);
    let mut status = 0;
    // SAFETY: waits for the child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    let mut mark = Vec::new();
    std::io::Read::read_to_end(&mut &reader, &mut mark).unwrap();
    match (status, mark.is_empty()) {
        (0, _) => End::Verdict,
        (_, false) => End::Ran,
        (status, true) => End::Died(status),
    }
}

/// The bytes of the backend, and where things are in them.
struct Sound {
    bytes: Vec<u8>,
    headers: Vec<(usize, u32)>,
}

impl Sound {
    fn new(bytes: Vec<u8>) -> Self {
        let headers = program_headers(&bytes);
        Self { bytes, headers }
    }

    fn number(&self, at: usize) -> usize {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap()) as usize
    }

    /// The header of the segment with the code.
    fn code(&self) -> usize {
        let mut segments = self.headers.iter().filter(|(_, kind)| *kind == 1);
        segments
            .find(|(at, _)| self.bytes[at + 4] & 1 == 1)
            .unwrap()
            .0
    }

    /// The dynamic section.
    fn dynamic(&self) -> Range<usize> {
        let header = self.headers.iter().find(|(_, kind)| *kind == 2).unwrap().0;
        self.number(header + 8)..self.number(header + 8) + self.number(header + 32)
    }

    /// Where the value of this entry of the dynamic section is.
    fn entry(&self, tag: usize) -> usize {
        let mut entries = self.dynamic().step_by(16);
        entries.find(|at| self.number(*at) == tag).unwrap() + 8
    }

    /// What nobody can know to be wrong: where the code comes from, which function is called first, and
    /// whose address is meant.
    fn is_anybodys_guess(&self, at: usize) -> bool {
        const INIT: usize = 12;
        const FINI: usize = 13;
        let relocations = [(7, 8), (23, 2)].map(|(table, size)| {
            let start = self.number(self.entry(table));
            start..start + self.number(self.entry(size))
        });
        let is_symbol = relocations
            .iter()
            .any(|table| table.contains(&at) && (at - table.start) % 24 == 12);
        let entries = [INIT, FINI].map(|tag| self.entry(tag));
        is_symbol
            || (self.code() + 8..self.code() + 16).contains(&at)
            || entries
                .iter()
                .any(|entry| (*entry..entry + 8).contains(&at))
    }
}

/// All headers and tables, four bytes at a time.
#[test]
fn whatever_table_is_damaged_the_process_lives_until_code_of_the_file_runs() {
    let _serial = serial();
    let root = directory();
    let file = root.path().join("Arm_X_backend.so");
    backend(&file, "both");
    let sound = Sound::new(fs::read(&file).unwrap());
    assert_eq!(load_in_fork(root.path()), End::Verdict);
    let is_full = std::env::var_os("ARMNN_TEST_TIER").is_some_and(|tier| tier == "full");
    let before_code = 16..sound.number(sound.code() + 8);
    let (mut refused, mut died) = (0, Vec::new());
    for (n, at) in before_code.chain(sound.dynamic()).step_by(4).enumerate() {
        if sound.is_anybodys_guess(at) {
            continue;
        }
        let old = u32::from_le_bytes(sound.bytes[at..at + 4].try_into().unwrap());
        let values = [0, old ^ 1, old ^ 0x1_0000, 0x7fff_fff0, u32::MAX];
        let values = match is_full {
            true => &values[..],
            false => &values[n % 5..][..1],
        };
        for value in values {
            let mut damaged = sound.bytes.clone();
            put(&mut damaged, at, &value.to_le_bytes());
            fs::remove_file(&file).unwrap();
            fs::write(&file, &damaged).unwrap();
            match load_in_fork(root.path()) {
                End::Verdict => refused += 1,
                End::Ran => {}
                End::Died(status) => died.push((at, *value, status)),
            }
        }
    }
    assert_eq!(died, []);
    assert!(refused > 500, "{refused}");
}

/// A chain in a circle that none of the three functions is in: the dynamic linker would follow it for
/// ever when it looks for anything else.
#[test]
fn a_hash_chain_in_a_circle_is_found_before_the_dynamic_linker_follows_it() {
    const HASH: usize = 4;
    let _serial = serial();
    let root = directory();
    let file = root.path().join("Arm_X_backend.so");
    backend(&file, "sysv");
    assert_eq!(load_in_fork(root.path()), End::Verdict);
    let sound = Sound::new(fs::read(&file).unwrap());
    let table = sound.number(sound.entry(HASH));
    let number = |at: usize| u32::from_le_bytes(sound.bytes[at..at + 4].try_into().unwrap());
    let (buckets, chains) = (number(table) as usize, number(table + 4) as usize);
    let mut refused = 0;
    for index in 1..chains {
        // Each symbol is followed by itself.
        let mut damaged = sound.bytes.clone();
        let at = table + 8 + 4 * (buckets + index);
        put(&mut damaged, at, &(index as u32).to_le_bytes());
        fs::remove_file(&file).unwrap();
        fs::write(&file, &damaged).unwrap();
        assert_eq!(load_in_fork(root.path()), End::Verdict, "symbol {index}");
        let found = inspect_path(&file, HostInterface::CURRENT).unwrap();
        refused += usize::from(found.refusal().is_none());
    }
    // Those that inspection does not come upon, as it looks for three names only.
    assert!(refused > 0);
}

/// What newer linkers can do.
#[test]
fn packed_relocations_are_followed() {
    let _serial = serial();
    let root = directory();
    let file = root.path().join("Arm_X_backend.so");
    backend(&file, "gnu,-z,pack-relative-relocs");
    assert_eq!(load_in_fork(root.path()), End::Verdict);
    let loaded = loaded_ids(root.path());
    assert!(
        loaded == ["X"] || !has_packed_relocations(&file),
        "{loaded:?}"
    );
}

fn has_packed_relocations(file: &Path) -> bool {
    const RELR: usize = 36;
    let sound = Sound::new(fs::read(file).unwrap());
    sound
        .dynamic()
        .step_by(16)
        .any(|at| sound.number(at) == RELR)
}

fn loaded_ids(directory: &Path) -> Vec<String> {
    let request = Request {
        directories: &[directory],
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the test's own library, which does no harm.
    let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
    let backends = loaded.backends.iter();
    backends
        .map(|backend| backend.backend_id().to_string())
        .collect()
}
