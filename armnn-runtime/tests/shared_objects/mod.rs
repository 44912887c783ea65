//! Shared objects for the loader's tests, built with the C compiler where they are used.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use armnn_backend_api::{BackendVersion, sys};
use tempfile::TempDir;

/// A directory that everyone may look into, removed at the end of the test.
pub fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    set_mode(directory.path(), 0o755);
    directory
}

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What a backend's note says.
#[derive(Clone)]
pub struct Note {
    pub descriptor_size: u32,
    pub format: u32,
    pub version: BackendVersion,
    pub layout_hash: u64,
    /// A C expression of type `char[64]`.
    pub id: String,
}

impl Note {
    /// The note of a backend called `id`, built against the current interface.
    pub fn new(id: &str) -> Self {
        let minor = sys::ARMNN_API_MINOR as usize;
        Self {
            descriptor_size: sys::ARMNN_NOTE_DESCRIPTOR_SIZE,
            format: sys::ARMNN_NOTE_FORMAT,
            version: BackendVersion::CURRENT,
            layout_hash: sys::layout::LAYOUT_HASHES[minor],
            id: format!("{id:?}"),
        }
    }

    fn source(&self) -> String {
        format!(
            r#"
            __attribute__((section(".note.armnn"), used, aligned(4)))
            static const struct {{
                uint32_t name_size, descriptor_size, type;
                char name[8];
                uint32_t format, major, minor, flags, hash_low, hash_high;
                char id[64], toolchain[96], package_version[32];
            }} note = {{
                6, {}, {}, "ArmNN", {}, {}, {}, 0, {}u, {}u, {}, "cc", "1.2.3",
            }};
            "#,
            self.descriptor_size,
            sys::ARMNN_NOTE_TYPE,
            self.format,
            self.version.major,
            self.version.minor,
            self.layout_hash as u32,
            (self.layout_hash >> 32) as u32,
            self.id,
        )
    }
}

/// The C source of a backend, part by part.
#[derive(Clone)]
pub struct Backend {
    pub id_function: String,
    pub version_function: String,
    pub factory_function: String,
    pub note: Option<Note>,
    /// Anything further.
    pub source: String,
    pub flags: Vec<String>,
}

impl Backend {
    /// A backend that does everything right, without a note.
    pub fn new(id: &str) -> Self {
        Self {
            id_function: format!("const char *GetBackendId(void) {{ return {id:?}; }}"),
            version_function: String::new(),
            factory_function: "void *BackendFactory(void) { static int it; return &it; }".into(),
            note: None,
            source: String::new(),
            flags: Vec::new(),
        }
        .version(BackendVersion::CURRENT)
    }

    pub fn version(mut self, version: BackendVersion) -> Self {
        self.version_function = format!(
            "void GetVersion(uint32_t *major, uint32_t *minor) {{ *major = {}; *minor = {}; }}",
            version.major, version.minor
        );
        self
    }

    pub fn note(mut self, note: Note) -> Self {
        self.note = Some(note);
        self
    }

    pub fn id_function(mut self, source: &str) -> Self {
        self.id_function = source.into();
        self
    }

    pub fn version_function(mut self, source: &str) -> Self {
        self.version_function = source.into();
        self
    }

    pub fn factory_function(mut self, source: &str) -> Self {
        self.factory_function = source.into();
        self
    }

    pub fn source(mut self, source: &str) -> Self {
        self.source = source.into();
        self
    }

    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Builds it as `file`.
    pub fn build(&self, file: impl Into<PathBuf>) -> PathBuf {
        let mut flags: Vec<&str> = vec!["-shared", "-fPIC"];
        flags.extend(self.flags.iter().map(String::as_str));
        compile(&self.c_source(), &flags, file)
    }

    pub fn c_source(&self) -> String {
        let note = self.note.as_ref().map(Note::source).unwrap_or_default();
        format!(
            "#include <stdint.h>\n{}\n{}\n{}\n{note}\n{}\n",
            self.id_function, self.version_function, self.factory_function, self.source
        )
    }
}

/// Compiles `source` with `flags` into `file`.
pub fn compile(source: &str, flags: &[&str], file: impl Into<PathBuf>) -> PathBuf {
    let file = file.into();
    let sources = tempfile::tempdir().unwrap();
    let c = sources.path().join("backend.c");
    fs::write(&c, source).unwrap();
    // Into a file of its own, so that an open copy of an older file is left alone.
    let output = sources.path().join("backend.so");
    let result = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .arg("-w")
        .arg("-o")
        .arg(&output)
        .arg(&c)
        .args(flags)
        .output()
        .expect("the tests need a C compiler");
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    let beside = file.with_extension("new");
    fs::copy(&output, &beside).unwrap();
    fs::rename(&beside, &file).unwrap();
    file
}

/// Runs `action` in a thread that may read and search what the modes of files and directories allow it
/// to, and no more: to the super-user all files are open.
pub fn in_thread_without_rights<T: Send + 'static>(
    action: impl FnOnce() -> T + Send + 'static,
) -> T {
    const EFFECTIVE: usize = 0;
    /// `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`.
    const RIGHTS: u32 = 1 << 1 | 1 << 2;
    let thread = std::thread::spawn(|| {
        // Of `capset(2)`: its third version, of this thread; two words of each set.
        let mut header = [0x2008_0522u32, 0];
        let mut sets = [0u32; 6];
        // SAFETY: system calls that read and change the rights of this thread alone, which ends below;
        // header and sets have the layout of the kernel.
        unsafe {
            let got = libc::syscall(libc::SYS_capget, &raw mut header, &raw mut sets);
            assert_eq!(got, 0);
            sets[EFFECTIVE] &= !RIGHTS;
            let set = libc::syscall(libc::SYS_capset, &raw mut header, &raw const sets);
            assert_eq!(set, 0);
        }
        action()
    });
    thread.join().unwrap()
}
