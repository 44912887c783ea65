//! The dynamic section: what the file asks of the dynamic linker.

use object::{NativeEndian, elf, read::elf::Dyn as _};

use super::{Dyn, Headers, Inspection, Reader, Segments, cannot_read, damaged, refusal};
use crate::loader::verdict::{Code, Refusal};

/// More entries than any linker writes.
const MAX_ENTRIES: u64 = 8192;
const MAX_NEEDED: usize = 512;
const MAX_STRING: usize = 4096;

/// What a shared object asks of the dynamic linker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamicFlags {
    /// All symbols are bound when it is loaded.
    pub bind_now: bool,
    /// It is never unloaded (`DF_1_NODELETE`).
    pub no_delete: bool,
    /// Its thread-local variables need room in the static block of every thread
    /// (`DF_STATIC_TLS`), of which there is little left once a process runs.
    pub static_tls: bool,
    /// Its own symbols win over those of the program.
    pub symbolic: bool,
    /// Its code is changed while it is loaded.
    pub text_relocations: bool,
    /// It is a position-independent program.
    pub pie: bool,
}

/// Where the tables are that symbols are looked up in.
#[derive(Default)]
pub(super) struct Dynamic {
    pub(super) strings: Option<u64>,
    pub(super) strings_size: Option<u64>,
    pub(super) symbols: Option<u64>,
    pub(super) hash: Option<u64>,
    pub(super) gnu_hash: Option<u64>,
}

impl Dynamic {
    pub(super) fn read(
        inspection: &mut Inspection,
        reader: &Reader<'_>,
        headers: &Headers,
    ) -> Result<Self, Refusal> {
        let Some(extent) = headers.dynamic else {
            return Err(refusal(
                Code::NotSharedObject,
                "the file has no dynamic section, so nothing can be looked up in it",
            )
            .with_hint("build the backend with -shared"));
        };
        let entry_size = size_of::<Dyn>() as u64;
        let count = extent.size / entry_size;
        if count > MAX_ENTRIES {
            return Err(damaged("its dynamic section has an impossible size"));
        }
        let mut entries = Entries::default();
        let mut ended = false;
        for index in 0..count {
            // Does not overflow: the extent lies within the file.
            let entry: Dyn = reader
                .read_pod(extent.offset + index * entry_size)
                .map_err(|error| cannot_read(reader, "dynamic section", &error))?;
            let tag = entry.d_tag(NativeEndian);
            if tag == elf::DT_NULL {
                ended = true;
                break;
            }
            entries.add(tag, entry.d_val(NativeEndian).into());
        }
        if !ended {
            return Err(damaged("its dynamic section has no end"));
        }
        entries.check_tables(&headers.segments)?;
        inspection.flags = entries.flags;
        entries.read_strings(inspection, reader, &headers.segments)?;
        Ok(entries.tables)
    }

    /// Reads the string at `index` of the string table; `None` where there is none.
    pub(super) fn string(
        &self,
        reader: &Reader<'_>,
        segments: &Segments,
        index: u64,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let (offset, rest) = segments.locate(self.strings?.checked_add(index)?)?;
        let rest = match self.strings_size {
            Some(size) => rest.min(size.checked_sub(index)?),
            None => rest,
        };
        reader
            .read_text(offset, offset.checked_add(rest)?, limit)
            .ok()?
    }
}

#[derive(Default)]
struct Entries {
    tables: Dynamic,
    flags: DynamicFlags,
    needed: Vec<u64>,
    filters: Vec<u64>,
    /// There are more of either.
    has_too_many: bool,
    soname: Option<u64>,
    rpath: Option<u64>,
    runpath: Option<u64>,
    /// Address and size of each table that the dynamic linker reads or calls.
    regions: [(Option<u64>, Option<u64>); REGIONS.len()],
    /// Single addresses.
    addresses: [Option<u64>; ADDRESSES.len()],
}

/// Addresses of which no size is told.
const ADDRESSES: [elf::DynamicTag; 8] = [
    elf::DT_SYMTAB,
    elf::DT_HASH,
    elf::DT_GNU_HASH,
    elf::DT_INIT,
    elf::DT_FINI,
    elf::DT_VERSYM,
    elf::DT_VERNEED,
    elf::DT_VERDEF,
];

/// Tables that consist of an address and a size in bytes.
const REGIONS: [(elf::DynamicTag, elf::DynamicTag); 7] = [
    (elf::DT_STRTAB, elf::DT_STRSZ),
    (elf::DT_RELA, elf::DT_RELASZ),
    (elf::DT_REL, elf::DT_RELSZ),
    (elf::DT_JMPREL, elf::DT_PLTRELSZ),
    (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ),
    (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ),
    (elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ),
];

impl Entries {
    fn add(&mut self, tag: elf::DynamicTag, value: u64) {
        for ((address, size), region) in REGIONS.iter().zip(&mut self.regions) {
            if tag == *address {
                region.0 = Some(value);
            } else if tag == *size {
                region.1 = Some(value);
            }
        }
        match tag {
            elf::DT_STRTAB => self.tables.strings = Some(value),
            elf::DT_STRSZ => self.tables.strings_size = Some(value),
            elf::DT_SYMTAB => self.tables.symbols = Some(value),
            elf::DT_HASH => self.tables.hash = Some(value),
            elf::DT_GNU_HASH => self.tables.gnu_hash = Some(value),
            elf::DT_NEEDED | elf::DT_AUXILIARY | elf::DT_FILTER => {
                let list = match tag {
                    elf::DT_NEEDED => &mut self.needed,
                    _ => &mut self.filters,
                };
                if list.len() < MAX_NEEDED {
                    list.push(value);
                } else {
                    self.has_too_many = true;
                }
            }
            elf::DT_SONAME => self.soname = Some(value),
            elf::DT_RPATH => self.rpath = Some(value),
            elf::DT_RUNPATH => self.runpath = Some(value),
            elf::DT_SYMBOLIC => self.flags.symbolic = true,
            elf::DT_TEXTREL => self.flags.text_relocations = true,
            elf::DT_BIND_NOW => self.flags.bind_now = true,
            elf::DT_FLAGS => {
                let has = |flag: elf::DynamicFlags| value & flag.0 != 0;
                self.flags.bind_now |= has(elf::DF_BIND_NOW);
                self.flags.symbolic |= has(elf::DF_SYMBOLIC);
                self.flags.static_tls |= has(elf::DF_STATIC_TLS);
                self.flags.text_relocations |= has(elf::DF_TEXTREL);
            }
            elf::DT_FLAGS_1 => {
                let has = |flag: elf::DynamicFlags1| value & flag.0 != 0;
                self.flags.bind_now |= has(elf::DF_1_NOW);
                self.flags.no_delete |= has(elf::DF_1_NODELETE);
                self.flags.pie |= has(elf::DF_1_PIE);
            }
            _ => {}
        }
        // The last entry of each counts.
        for (address, place) in ADDRESSES.iter().zip(&mut self.addresses) {
            if tag == *address {
                *place = Some(value);
            }
        }
    }

    /// Refuses tables outside of what is loaded: the dynamic linker reads them unchecked.
    fn check_tables(&self, segments: &Segments) -> Result<(), Refusal> {
        let regions_in_range = self.regions.iter().all(|region| match *region {
            (Some(address), Some(size)) => size == 0 || segments.contains(address, size),
            (Some(address), None) => segments.contains(address, 1),
            (None, _) => true,
        });
        let addresses_in_range = self
            .addresses
            .iter()
            .flatten()
            .all(|address| segments.contains(*address, 1));
        if regions_in_range && addresses_in_range {
            Ok(())
        } else {
            Err(damaged("a table of its dynamic section lies outside of it"))
        }
    }

    fn read_strings(
        &self,
        inspection: &mut Inspection,
        reader: &Reader<'_>,
        segments: &Segments,
    ) -> Result<(), Refusal> {
        let text = |index: u64| {
            self.tables
                .string(reader, segments, index, MAX_STRING)
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .ok_or_else(|| damaged("a name in its dynamic section cannot be read"))
        };
        if self.has_too_many {
            return Err(damaged("it needs more libraries than any linker writes"));
        }
        inspection.filters = self
            .filters
            .iter()
            .map(|index| text(*index))
            .collect::<Result<_, _>>()?;
        inspection.needed = self
            .needed
            .iter()
            .map(|index| text(*index))
            .collect::<Result<_, _>>()?;
        inspection.soname = self.soname.map(text).transpose()?;
        inspection.rpath = self.rpath.map(text).transpose()?;
        inspection.runpath = self.runpath.map(text).transpose()?;
        Ok(())
    }
}
