//! The tables that the dynamic linker reads unchecked.
//!
//! It believes what a file says: an index beyond a table, a chain without an end or a relocation to a
//! place outside of the file ends the process, or takes for ever, before any code of the file runs. So
//! all of that is followed here first, once, before a file is loaded. What the dynamic linker checks
//! itself, and answers with an error, is left to it.
//!
//! Formats: the System V ABI (<https://www.sco.com/developers/gabi/latest/contents.html>), and for
//! symbol versions and GNU hash tables the Linux Standard Base.

mod hash_tables;
mod relocations;
mod versions;

use std::{collections::BTreeMap, fs::File, os::unix::fs::FileExt as _};

use object::{
    NativeEndian, elf,
    read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, Sym as _},
};

use super::{Dyn, FileHeader, ProgramHeader, Sym};

/// Tables of more bytes than this are not believed.
const MAX_TABLE: u64 = 64 << 20;
const WORD: u64 = size_of::<usize>() as u64;
const SYMBOL: u64 = size_of::<Sym>() as u64;
const PAGE: u64 = 4096;

/// Checks what the dynamic linker would follow in `file`, whose headers were inspected.
///
/// # Errors
/// What the dynamic linker would not survive, in words that follow "its".
pub(in crate::loader) fn check(file: &File) -> Result<(), String> {
    if cfg!(not(target_pointer_width = "64")) {
        return Ok(());
    }
    let tables = Tables::read(file)?;
    tables.check_headers()?;
    tables.check_relocation_sizes()?;
    let count = tables.check_hash_tables()?;
    tables.check_symbols(count)?;
    tables.check_versions(count)?;
    tables.check_relocations(count)?;
    tables.check_functions()
}

struct Tables<'a> {
    file: &'a File,
    header: FileHeader,
    headers: Vec<ProgramHeader>,
    /// The last entry of each tag, which is the one that counts.
    dynamic: BTreeMap<i64, u64>,
    /// Names of libraries, as indices.
    needed: Vec<u64>,
}

impl<'a> Tables<'a> {
    fn read(file: &'a File) -> Result<Self, String> {
        let pod = |size: usize, offset: u64| {
            let mut bytes = vec![0; size];
            file.read_exact_at(&mut bytes, offset)
                .map_err(|error| format!("tables cannot be read: {error}"))?;
            Ok::<_, String>(bytes)
        };
        let header: FileHeader = *as_pod(&pod(size_of::<FileHeader>(), 0)?)?;
        let count = usize::from(header.e_phnum(NativeEndian));
        let size = size_of::<ProgramHeader>();
        let bytes = pod(count * size, header.e_phoff(NativeEndian))?;
        let headers = bytes
            .chunks_exact(size)
            .map(|chunk| as_pod(chunk).copied())
            .collect::<Result<Vec<ProgramHeader>, String>>()?;
        let mut tables = Self {
            file,
            header,
            headers,
            dynamic: BTreeMap::new(),
            needed: Vec::new(),
        };
        tables.read_dynamic()?;
        Ok(tables)
    }

    /// The dynamic section, where the dynamic linker finds it: by its address.
    fn read_dynamic(&mut self) -> Result<(), String> {
        let Some(header) = self.last(elf::PT_DYNAMIC) else {
            return Ok(());
        };
        let (address, size) = (
            header.p_vaddr(NativeEndian),
            header.p_memsz(NativeEndian).min(MAX_TABLE),
        );
        let size = size / size_of::<Dyn>() as u64 * size_of::<Dyn>() as u64;
        let flags = header.p_flags(NativeEndian).0;
        let bytes = self
            .bytes(address, size)
            .filter(|_| self.offset(address) == Some(header.p_offset(NativeEndian)))
            .ok_or("dynamic section is not where its address says")?;
        // The dynamic linker writes to it, unless it says that this cannot be.
        if flags & elf::PF_W.0 != 0 && !self.is_in(address, size, elf::PF_W.0) {
            return Err("dynamic section cannot be written to".into());
        }
        for chunk in bytes.chunks_exact(size_of::<Dyn>()) {
            let entry: &Dyn = as_pod(chunk)?;
            let (tag, value) = (entry.d_tag(NativeEndian).0, entry.d_val(NativeEndian));
            match tag {
                tag if tag == elf::DT_NULL.0 => return Ok(()),
                tag if tag == elf::DT_NEEDED.0 => self.needed.push(value),
                tag => {
                    self.dynamic.insert(tag, value);
                }
            }
        }
        Err("dynamic section has no end".into())
    }

    fn last(&self, kind: elf::ProgramType) -> Option<&ProgramHeader> {
        self.headers
            .iter()
            .rfind(|header| header.p_type(NativeEndian) == kind)
    }

    fn tag(&self, tag: elf::DynamicTag) -> Option<u64> {
        self.dynamic.get(&tag.0).copied()
    }

    fn segments(&self) -> impl Iterator<Item = &ProgramHeader> {
        self.headers
            .iter()
            .filter(|header| header.p_type(NativeEndian) == elf::PT_LOAD)
    }

    /// Whether the bytes are in memory once the file is loaded, in one segment with these rights.
    fn is_in(&self, address: u64, size: u64, rights: u32) -> bool {
        self.segments().any(|segment| {
            segment.p_flags(NativeEndian).0 & rights == rights
                && address
                    .checked_sub(segment.p_vaddr(NativeEndian))
                    .and_then(|within| within.checked_add(size))
                    .is_some_and(|end| end <= segment.p_memsz(NativeEndian))
        })
    }

    /// The segment that has `size` bytes from `address` on in the file and can be read, and where in
    /// the file they are.
    fn offset_of(&self, address: u64, size: u64) -> Option<u64> {
        self.segments().find_map(|segment| {
            let within = address.checked_sub(segment.p_vaddr(NativeEndian))?;
            let end = within.checked_add(size)?;
            let is_there = end <= segment.p_filesz(NativeEndian)
                && segment.p_flags(NativeEndian).0 & elf::PF_R.0 != 0;
            is_there
                .then(|| segment.p_offset(NativeEndian).checked_add(within))
                .flatten()
        })
    }

    fn offset(&self, address: u64) -> Option<u64> {
        self.offset_of(address, 1)
    }

    /// The bytes that will be at `address`.
    fn bytes(&self, address: u64, size: u64) -> Option<Vec<u8>> {
        if size > MAX_TABLE {
            return None;
        }
        let offset = self.offset_of(address, size)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn numbers(&self, address: u64, count: u64) -> Option<Vec<u32>> {
        let bytes = self.bytes(address, count.checked_mul(4)?)?;
        Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|n| u32::from_ne_bytes(*n))
                .collect(),
        )
    }

    fn is_code(&self, address: u64) -> bool {
        self.segments().any(|segment| {
            segment.p_flags(NativeEndian).0 & elf::PF_X.0 != 0
                && address
                    .checked_sub(segment.p_vaddr(NativeEndian))
                    .is_some_and(|within| within < segment.p_filesz(NativeEndian))
        })
    }

    /// The headers besides those of segments.
    fn check_headers(&self) -> Result<(), String> {
        for header in &self.headers {
            let (address, size) = (header.p_vaddr(NativeEndian), header.p_memsz(NativeEndian));
            let is_there = || size == 0 || self.is_in(address, size, elf::PF_R.0);
            match header.p_type(NativeEndian) {
                elf::PT_NOTE | elf::PT_GNU_PROPERTY if is_there() => self.check_notes(header)?,
                elf::PT_GNU_EH_FRAME if is_there() => {}
                elf::PT_PHDR if self.offset(address) == Some(self.header.e_phoff(NativeEndian)) => {
                }
                elf::PT_TLS => {
                    let align = header.p_align(NativeEndian);
                    let filled = header.p_filesz(NativeEndian);
                    let is_sound = filled <= size
                        && size <= MAX_TABLE
                        && (align == 0 || align.is_power_of_two())
                        && align <= PAGE
                        && (size == 0 || align > 0)
                        && (filled == 0 || self.is_in(address, filled, elf::PF_R.0));
                    if !is_sound {
                        return Err("thread-local data are not where their header says".into());
                    }
                }
                elf::PT_GNU_RELRO if self.may_be_protected(address, size) => {}
                elf::PT_NOTE
                | elf::PT_GNU_PROPERTY
                | elf::PT_GNU_EH_FRAME
                | elf::PT_PHDR
                | elf::PT_GNU_RELRO => {
                    return Err("program headers lead outside of it".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether these bytes may be made read-only, in whole pages: nothing but data of the file.
    fn may_be_protected(&self, address: u64, size: u64) -> bool {
        let Some(end) = address.checked_add(size) else {
            return false;
        };
        let (start, end) = (address / PAGE * PAGE, end / PAGE * PAGE);
        if start >= end {
            return true;
        }
        let limits = |segment: &ProgramHeader| {
            let start = segment.p_vaddr(NativeEndian) / PAGE * PAGE;
            let end = segment
                .p_vaddr(NativeEndian)
                .saturating_add(segment.p_memsz(NativeEndian));
            (start, end.saturating_add(PAGE - 1) / PAGE * PAGE)
        };
        let mut is_covered = false;
        for segment in self.segments() {
            let (first, last) = limits(segment);
            let is_data =
                segment.p_flags(NativeEndian).0 & (elf::PF_W.0 | elf::PF_X.0) == elf::PF_W.0;
            if !is_data && first < end && start < last {
                return false;
            }
            is_covered |= is_data && first <= start && end <= last;
        }
        is_covered
    }

    /// Notes lie one behind the other within their header's bounds.
    fn check_notes(&self, header: &ProgramHeader) -> Result<(), String> {
        let align = header.p_align(NativeEndian).max(4);
        let (address, size) = (header.p_vaddr(NativeEndian), header.p_memsz(NativeEndian));
        if size == 0 {
            return Ok(());
        }
        let bad = || String::from("notes do not end where their header says");
        let bytes = self.bytes(address, size).ok_or_else(bad)?;
        let mut rest = &bytes[..];
        while rest.len() >= 12 {
            let number = |at: usize| {
                let bytes = rest.get(at..)?.first_chunk::<4>()?;
                Some(u64::from(u32::from_ne_bytes(*bytes)))
            };
            let (name, descriptor) = (number(0).ok_or_else(bad)?, number(4).ok_or_else(bad)?);
            let up = |n: u64| n.checked_next_multiple_of(align);
            let next = up(12 + name)
                .and_then(|start| up(start + descriptor))
                .ok_or_else(bad)?;
            if 12 + name + descriptor > rest.len() as u64 {
                return Err(bad());
            }
            rest = usize::try_from(next)
                .ok()
                .and_then(|next| rest.get(next..))
                .unwrap_or_default();
        }
        Ok(())
    }

    /// The table of names, whose last byte ends the last of them.
    fn check_symbols(&self, count: u64) -> Result<(), String> {
        let bad = || String::from("table of symbols is broken");
        let (Some(strings), Some(size)) = (self.tag(elf::DT_STRTAB), self.tag(elf::DT_STRSZ))
        else {
            return Err("names have no table".into());
        };
        let last = size
            .checked_sub(1)
            .and_then(|last| self.bytes(strings.checked_add(last)?, 1));
        if last != Some(vec![0]) || self.offset_of(strings, size).is_none() {
            return Err("table of names does not end".into());
        }
        let (Some(symbols), true) = (self.tag(elf::DT_SYMTAB), count > 0) else {
            return Ok(());
        };
        let bytes = count
            .checked_mul(SYMBOL)
            .and_then(|size| self.bytes(symbols, size))
            .ok_or_else(bad)?;
        for (index, chunk) in bytes.chunks_exact(SYMBOL as usize).enumerate() {
            let symbol: &Sym = as_pod(chunk)?;
            // What is only for the file itself must be there; the first symbol is none.
            let is_missing = symbol.st_bind() == elf::STB_LOCAL
                && symbol.st_shndx(NativeEndian) == elf::SHN_UNDEF;
            if u64::from(symbol.st_name(NativeEndian)) >= size || (index > 0 && is_missing) {
                return Err(bad());
            }
        }
        Ok(())
    }

    /// The name at an index of the table of names, of at most 4096 bytes.
    fn name(&self, index: u64) -> Option<Vec<u8>> {
        let size = self.tag(elf::DT_STRSZ)?;
        let rest = size.checked_sub(index).filter(|rest| *rest > 0)?;
        let address = self.tag(elf::DT_STRTAB)?.checked_add(index)?;
        let mut bytes = self.bytes(address, rest.min(4096))?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        bytes.truncate(end);
        Some(bytes)
    }

    /// The functions that are called when the file is loaded and unloaded are code.
    fn check_functions(&self) -> Result<(), String> {
        for tag in [elf::DT_INIT, elf::DT_FINI] {
            if self.tag(tag).is_some_and(|address| !self.is_code(address)) {
                return Err("functions to be called lead outside of its code".into());
            }
        }
        Ok(())
    }
}

fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (chunks, _) = bytes.as_chunks::<8>();
    let chunks: &[[u8; 8]; N] = chunks.try_into().ok()?;
    Some(chunks.map(u64::from_ne_bytes))
}

fn as_pod<T: object::pod::Pod>(bytes: &[u8]) -> Result<&T, String> {
    object::pod::from_bytes(bytes)
        .map(|(value, _)| value)
        .map_err(|()| "tables are misaligned".to_owned())
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use crate::loader::inspect::{HostInterface, Machine, inspect_file};

    /// Whatever linkers there were, and whatever they were asked for.
    #[test]
    fn the_libraries_of_this_system_are_not_taken_for_damaged() {
        let mut seen = 0;
        let directories = ["/lib64", "/usr/lib", "/usr/lib64"].map(String::from);
        let architecture = std::env::consts::ARCH;
        let own = [
            format!("/usr/lib/{architecture}-linux-gnu"),
            // Where those of a cross compiler are.
            format!("/usr/{architecture}-linux-gnu/lib"),
        ];
        for directory in directories.into_iter().chain(own) {
            let Ok(entries) = std::fs::read_dir(directory) else {
                continue;
            };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                let name = path.to_string_lossy().into_owned();
                let Ok(file) = File::open(&path) else {
                    continue;
                };
                if !name.contains(".so") || !file.metadata().unwrap().is_file() {
                    continue;
                }
                let found = inspect_file(&file, HostInterface::CURRENT);
                // Linker scripts are texts.
                if found.file_type != Some(3) || found.machine != Machine::HOST {
                    continue;
                }
                seen += 1;
                assert_eq!(check(&file), Ok(()), "{name}");
            }
        }
        assert!(seen > 0);
    }
}
