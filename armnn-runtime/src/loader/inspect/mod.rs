//! Stage `inspect`: what a shared object says about itself, read as data.
//!
//! No code of the file runs, and none of its contents is trusted: every offset and count is checked
//! against the file's size, every loop has a bound, and memory use does not depend on what the file
//! claims. What the dynamic linker goes by is read (program headers and the dynamic section), never
//! the section headers, which a stripped file may lack.

#![allow(
    clippy::useless_conversion,
    reason = "addresses are u32 where pointers have 32 bits"
)]

mod dynamic;
mod header;
pub(super) mod linker_tables;
mod note;
mod reader;
mod symbols;

use std::{fmt, fs::File, path::Path};

use object::{NativeEndian, elf};

pub(super) use self::note::version_refusal;
use self::{
    dynamic::Dynamic,
    header::{Headers, Segments},
    reader::{ReadError, Reader, SizedFile},
};
pub use self::{
    dynamic::DynamicFlags,
    note::BackendNote,
    reader::ReadAt,
    symbols::{Export, ExportState},
};
pub use super::host_interface::HostInterface;
use super::{
    discover::regular_file,
    verdict::{Code, Refusal, Stage},
};

#[cfg(target_pointer_width = "64")]
type FileHeader = elf::FileHeader64<NativeEndian>;
#[cfg(target_pointer_width = "32")]
type FileHeader = elf::FileHeader32<NativeEndian>;
type ProgramHeader = <FileHeader as object::read::elf::FileHeader>::ProgramHeader;
type Dyn = <FileHeader as object::read::elf::FileHeader>::Dyn;
type Sym = <FileHeader as object::read::elf::FileHeader>::Sym;

/// What a file says about itself. What could not be read is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Size of the file in bytes.
    pub size: u64,
    /// Size of a pointer: 32 or 64 bits.
    pub class: Option<u8>,
    /// `little` or `big`.
    pub byte_order: Option<&'static str>,
    /// The processor architecture.
    pub machine: Option<Machine>,
    /// The type of the file (`e_type`); 3 is a shared object.
    pub file_type: Option<u16>,
    /// The program that is asked to load the file; only programs have one.
    pub interpreter: Option<String>,
    /// The name under which others link to it (`DT_SONAME`).
    pub soname: Option<String>,
    /// The libraries it needs (`DT_NEEDED`), in order.
    pub needed: Vec<String>,
    /// Libraries that are to stand in for it, where they are to be found (`DT_AUXILIARY`, `DT_FILTER`).
    pub filters: Vec<String>,
    /// Where those are looked for first, in the old way (`DT_RPATH`).
    pub rpath: Option<String>,
    /// Where those are looked for (`DT_RUNPATH`).
    pub runpath: Option<String>,
    /// What it asks of the dynamic linker.
    pub flags: DynamicFlags,
    /// Whether it asks for an executable stack.
    pub executable_stack: bool,
    /// Whether it has memory that is writable and executable at once.
    pub writable_code: bool,
    /// The linker's fingerprint of the file (`NT_GNU_BUILD_ID`).
    pub build_id: Option<Vec<u8>>,
    /// What became of the three functions, in the order `GetBackendId`, `GetVersion`,
    /// `BackendFactory`; empty when the file was not read that far.
    pub exports: Vec<Export>,
    /// The backend note, if there is one and it is sound.
    pub note: Option<BackendNote>,
    /// Everything that speaks against the file. The first decides; the rest helps people.
    pub refusals: Vec<Refusal>,
}

impl Inspection {
    /// Why the file is refused; `None` when nothing speaks against it.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusals.first()
    }

    /// What is known of a file that cannot be read.
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self {
            refusals: vec![refusal],
            ..Self::default()
        }
    }
}

/// A processor architecture by its ELF number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine(pub u16);

impl Machine {
    /// The architecture of this process; `None` for one that the loader does not know.
    pub const HOST: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self(62))
    } else if cfg!(target_arch = "aarch64") {
        Some(Self(183))
    } else if cfg!(target_arch = "x86") {
        Some(Self(3))
    } else if cfg!(target_arch = "arm") {
        Some(Self(40))
    } else if cfg!(target_arch = "riscv64") {
        Some(Self(243))
    } else {
        None
    };

    /// Whether a file without a word about its stack gets an executable one here.
    fn defaults_to_executable_stack(self) -> bool {
        matches!(self.0, 3 | 40 | 62)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            3 => "x86",
            8 => "mips",
            20 => "powerpc",
            21 => "powerpc64",
            22 => "s390x",
            40 => "arm",
            62 => "x86_64",
            183 => "aarch64",
            243 => "riscv",
            258 => "loongarch",
            other => return write!(f, "machine {other}"),
        };
        f.pad(name)
    }
}

/// Reads what the file at `path`, of any name, says about itself. Links are followed; nothing but a
/// regular file is opened.
///
/// # Errors
/// When there is no regular file, or it cannot be opened.
pub fn inspect_path(path: &Path, host: HostInterface<'_>) -> Result<Inspection, Refusal> {
    let (file, _) = regular_file::open(&regular_file::follow_links(path)?)?;
    Ok(inspect_file(&file, host))
}

/// Reads what `file` says about itself. `file` is read by position, and only a few kilobytes of it.
pub fn inspect_file(file: &File, host: HostInterface<'_>) -> Inspection {
    match file.metadata() {
        Ok(metadata) => inspect(
            &SizedFile {
                file,
                size: metadata.len(),
            },
            host,
        ),
        Err(error) => Inspection::refused(refusal(
            Code::Unreadable,
            format!("the file cannot be looked at: {error}"),
        )),
    }
}

/// Reads what `source` says about itself.
pub fn inspect(source: &dyn ReadAt, host: HostInterface<'_>) -> Inspection {
    let reader = Reader::new(source);
    let mut inspection = Inspection {
        size: reader.size(),
        ..Inspection::default()
    };
    if let Err(refusal) = inspect_into(&mut inspection, &reader, host) {
        inspection.refusals.push(refusal);
    }
    inspection
}

/// Whether the file exports symbols of which there may be only one per process
/// (`STB_GNU_UNIQUE`), which keep it loaded for good. `false` also when the file cannot be read.
pub(super) fn has_unique_symbols(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    let source = SizedFile {
        file,
        size: metadata.len(),
    };
    let reader = Reader::new(&source);
    let mut inspection = Inspection::default();
    Headers::read(&mut inspection, &reader)
        .and_then(|headers| {
            let dynamic = Dynamic::read(&mut inspection, &reader, &headers)?;
            Ok(symbols::has_unique(&reader, &headers.segments, &dynamic))
        })
        .unwrap_or(false)
}

fn inspect_into(
    inspection: &mut Inspection,
    reader: &Reader<'_>,
    host: HostInterface<'_>,
) -> Result<(), Refusal> {
    let headers = Headers::read(inspection, reader)?;
    let dynamic = Dynamic::read(inspection, reader, &headers)?;
    header::check_not_a_program(inspection);

    inspection.exports = symbols::find_exports(reader, &headers.segments, &dynamic)?;
    symbols::check_exports(inspection, reader, &headers.segments, &dynamic);
    check_stack(inspection);

    match note::read(inspection, reader, &headers) {
        Ok(note) => inspection.note = note,
        Err(refusal) => inspection.refusals.push(refusal),
    }
    note::check(inspection, host);
    Ok(())
}

fn check_stack(inspection: &mut Inspection) {
    if inspection.executable_stack {
        inspection.refusals.push(
            refusal(
                Code::ExecutableStack,
                "loading the file would make the stack of the whole process executable",
            )
            .with_hint(
                "link the backend with -Wl,-z,noexecstack, and give assembler files a \
                 .note.GNU-stack section",
            ),
        );
    }
}

fn refusal(code: Code, message: impl Into<String>) -> Refusal {
    Refusal::new(Stage::Inspect, code, message)
}

/// The refusal of a file whose structure is broken at `what`.
fn damaged(what: &str) -> Refusal {
    refusal(
        Code::NotSharedObject,
        format!("the shared object is damaged: {what}"),
    )
    .with_hint("build or install the file again")
}

/// The refusal that follows from being unable to read `what`.
fn cannot_read(reader: &Reader<'_>, what: &str, error: &ReadError) -> Refusal {
    match error {
        ReadError::OutOfRange => refusal(
            Code::Truncated,
            format!(
                "the file ends before its {what}; it has {} bytes",
                reader.size()
            ),
        )
        .with_hint("build or install the file again"),
        ReadError::Io(error) => {
            refusal(Code::Unreadable, format!("cannot read its {what}: {error}"))
        }
    }
}
