//! The backend note: what a backend says about itself, readable without loading it.

use armnn_backend_api::{BackendId, BackendVersion, sys};

use super::{Headers, HostInterface, Inspection, Reader, header::Extent, refusal};
use crate::loader::verdict::{Code, Refusal};

/// More notes than any linker writes.
const MAX_NOTES: usize = 256;
const DESCRIPTOR_SIZE: usize = sys::ARMNN_NOTE_DESCRIPTOR_SIZE as usize;
/// Type of the note in which linkers put their fingerprint of the file.
const NT_GNU_BUILD_ID: u32 = 3;
const MAX_BUILD_ID: u64 = 64;

/// A backend note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendNote {
    /// Format of the note.
    pub format: u32,
    /// The version of the interface that the backend was built against.
    pub api_version: BackendVersion,
    /// `ARMNN_NOTE_FLAG_…` of [`armnn_backend_api::sys`].
    pub flags: u32,
    /// Layout hash of that version.
    pub layout_hash: u64,
    /// The backend's id.
    pub backend_id: BackendId,
    /// The compiler and target it was built with.
    pub toolchain: String,
    /// The version of the backend itself.
    pub package_version: String,
}

/// Finds the backend note, and the build id on the way.
pub(super) fn read(
    inspection: &mut Inspection,
    reader: &Reader<'_>,
    headers: &Headers,
) -> Result<Option<BackendNote>, Refusal> {
    let mut found = None;
    let mut count = 0;
    for extent in &headers.notes {
        let mut offset = 0;
        while let Some(note) = Note::next(reader, *extent, &mut offset)? {
            count += 1;
            if count > MAX_NOTES {
                return Err(invalid("the file has too many notes"));
            }
            if note.name == *b"ArmNN\0" && note.kind == sys::ARMNN_NOTE_TYPE {
                if found.is_some() {
                    return Err(invalid("the file has two backend notes"));
                }
                found = Some(BackendNote::read(reader, &note)?);
            } else if note.name.starts_with(b"GNU\0") && note.kind == NT_GNU_BUILD_ID {
                let size = u64::from(note.descriptor_size);
                inspection.build_id = reader
                    .read_vec(note.descriptor, size, MAX_BUILD_ID as usize)
                    .ok();
            }
        }
    }
    Ok(found)
}

/// Refuses a backend whose note says that it cannot be used with this interface.
pub(super) fn check(inspection: &mut Inspection, host: HostInterface<'_>) {
    let Some(note) = &inspection.note else { return };
    let version = note.api_version;
    if !version.is_compatible_with(host.version) {
        let refusal = version_refusal(super::Stage::Inspect, version, host.version);
        inspection.refusals.push(refusal);
        return;
    }
    let expected = usize::try_from(version.minor)
        .ok()
        .and_then(|minor| host.layout_hashes.get(minor));
    if expected != Some(&note.layout_hash) {
        let message = match expected {
            Some(expected) => format!(
                "its structures have layout {:016x}, version {version} of the interface has \
                 {expected:016x}",
                note.layout_hash
            ),
            None => format!("the layout of version {version} of the interface is not known here"),
        };
        inspection
            .refusals
            .push(refusal(Code::LayoutMismatch, message).with_hint(
                "build the backend against the released interface of that version, with the \
                 compiler's default structure layout",
            ));
    }
}

/// The refusal of a backend of `version` by an interface of version `host`.
pub(in crate::loader) fn version_refusal(
    stage: super::Stage,
    version: BackendVersion,
    host: BackendVersion,
) -> Refusal {
    let (why, hint) = if version.major == host.major {
        (
            "a later one",
            "use a newer runtime, or a build of the backend for this one",
        )
    } else if version.major > host.major {
        (
            "an entirely newer one",
            "use a newer runtime, or a build of the backend for this one",
        )
    } else {
        ("one that is no longer supported", "use a newer backend")
    };
    Refusal::new(
        stage,
        Code::VersionIncompatible,
        format!("built against version {version} of the interface, {why}; this is {host}"),
    )
    .with_hint(hint)
}

/// Any note.
struct Note {
    /// The first bytes of its name.
    name: [u8; 6],
    kind: u32,
    /// Where its descriptor begins in the file.
    descriptor: u64,
    descriptor_size: u32,
}

impl Note {
    /// The note at `offset` of `extent`, which then moves on to the next one.
    fn next(
        reader: &Reader<'_>,
        extent: Extent,
        offset: &mut u64,
    ) -> Result<Option<Self>, Refusal> {
        if extent.size.saturating_sub(*offset) < 12 {
            return Ok(None);
        }
        let overrun = || invalid("a note reaches beyond the end of the notes");
        let read_error = |error| super::cannot_read(reader, "notes", &error);
        let align = if extent.align == 8 { 8 } else { 4 };
        // The extent lies within the file, so that sums of it and u32 numbers do not overflow.
        let start = extent.offset + *offset;
        let mut head = [0; 12];
        reader.read(&mut head, start).map_err(read_error)?;
        let (name_size, descriptor_size, kind) =
            (number(&head, 0), number(&head, 4), number(&head, 8));
        let to_descriptor = (12 + u64::from(name_size)).next_multiple_of(align);
        let to_end = to_descriptor + u64::from(descriptor_size);
        if *offset + to_end > extent.size {
            return Err(overrun());
        }
        let mut name = [0; 6];
        let known = name.len().min(name_size as usize);
        reader
            .read(&mut name[..known], start + 12)
            .map_err(read_error)?;
        *offset += to_end.next_multiple_of(align);
        Ok(Some(Self {
            name: if name_size as usize <= name.len() {
                name
            } else {
                [0; 6]
            },
            kind,
            descriptor: start + to_descriptor,
            descriptor_size,
        }))
    }
}

impl BackendNote {
    fn read(reader: &Reader<'_>, note: &Note) -> Result<Self, Refusal> {
        if note.descriptor_size < sys::ARMNN_NOTE_DESCRIPTOR_SIZE {
            return Err(invalid(&format!(
                "the backend note has {} bytes instead of {DESCRIPTOR_SIZE}",
                note.descriptor_size
            )));
        }
        let mut bytes = [0; DESCRIPTOR_SIZE];
        reader
            .read(&mut bytes, note.descriptor)
            .map_err(|error| super::cannot_read(reader, "backend note", &error))?;
        let format = number(&bytes, 0);
        if format < sys::ARMNN_NOTE_FORMAT {
            return Err(invalid("the format of the backend note is unknown"));
        }
        let id = text(&bytes[24..88], "id")?;
        let backend_id = BackendId::new(&id)
            .map_err(|error| invalid(&format!("the backend note has no usable id: {error}")))?;
        Ok(Self {
            format,
            api_version: BackendVersion::new(number(&bytes, 4), number(&bytes, 8)),
            flags: number(&bytes, 12),
            layout_hash: u64::from(number(&bytes, 16)) | u64::from(number(&bytes, 20)) << 32,
            backend_id,
            toolchain: text(&bytes[88..184], "toolchain")?,
            package_version: text(&bytes[184..216], "package version")?,
        })
    }
}

/// The NUL-terminated text in a field of the note.
fn text(field: &[u8], what: &str) -> Result<String, Refusal> {
    let Some(length) = field.iter().position(|byte| *byte == 0) else {
        return Err(invalid(&format!(
            "the {what} in the backend note has no end"
        )));
    };
    String::from_utf8(field[..length].to_vec())
        .map_err(|_| invalid(&format!("the {what} in the backend note is not UTF-8")))
}

/// The number at `offset`, which the caller knows to be there.
fn number(bytes: &[u8], offset: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_ne_bytes(number)
}

fn invalid(message: &str) -> Refusal {
    refusal(Code::NoteInvalid, message).with_hint(
        "build the backend again with declare_backend! or the macro of the C header of one version",
    )
}
