//! Relocations: what the dynamic linker writes into a file's memory, and what that makes of the functions
//! that it calls.

use object::{NativeEndian, elf, read::elf::ProgramHeader as _};

use super::{Tables, WORD, words};

/// More functions than any linker lists.
const MAX_SLOTS: u64 = 1 << 16;

impl Tables<'_> {
    /// Sizes of entries, which the dynamic linker compares with its own, and ends the process.
    pub(super) fn check_relocation_sizes(&self) -> Result<(), String> {
        let rela = size_of::<elf::Rela64<NativeEndian>>() as u64;
        let pairs = [
            (elf::DT_RELA, elf::DT_RELASZ, elf::DT_RELAENT, rela),
            (elf::DT_RELR, elf::DT_RELRSZ, elf::DT_RELRENT, WORD),
        ];
        for (table, size, entry, expected) in pairs {
            let is_sound = self.tag(table).is_none()
                || (self.tag(size).is_some_and(|size| size % expected == 0)
                    && self.tag(entry) == Some(expected));
            if !is_sound {
                return Err("relocations have an impossible size".into());
            }
        }
        let jumps = [elf::DT_JMPREL, elf::DT_PLTRELSZ, elf::DT_PLTREL].map(|tag| self.tag(tag));
        let has_sound_jumps = match jumps {
            [Some(_), Some(size), Some(kind)] => size % rela == 0 && kind == elf::DT_RELA.0 as u64,
            [None, None, None] => true,
            _ => false,
        };
        // These processors have relocations with addends only.
        if !has_sound_jumps || self.tag(elf::DT_REL).is_some() {
            return Err("relocations have an impossible size".into());
        }
        Ok(())
    }

    /// Every relocation leads to a place that may be written, and speaks of a symbol that is there.
    pub(super) fn check_relocations(&self, count: u64) -> Result<(), String> {
        let bad = || String::from("relocations lead outside of it");
        let rela = size_of::<elf::Rela64<NativeEndian>>();
        let writable = match self.has_text_relocations() {
            true => 0,
            false => elf::PF_W.0,
        };
        let mut arrays = FunctionArrays::new(self)?;
        for (table, size) in [
            (elf::DT_RELA, elf::DT_RELASZ),
            (elf::DT_JMPREL, elf::DT_PLTRELSZ),
        ] {
            let (Some(table), Some(size)) = (self.tag(table), self.tag(size)) else {
                continue;
            };
            let bytes = self.bytes(table, size).ok_or_else(bad)?;
            // So many at the beginning are taken for relative without a look.
            let relative = match self.tag(elf::DT_RELACOUNT) {
                Some(count) if table == self.tag(elf::DT_RELA).unwrap_or(0) => count,
                _ => 0,
            };
            let mut last: Option<(u64, u64)> = None;
            for (index, chunk) in (0..).zip(bytes.chunks_exact(rela)) {
                let [place, info, addend] = words(chunk).ok_or_else(bad)?;
                let (symbol, kind) = (info >> 32, info as u32);
                if index < relative && kind != RELATIVE {
                    return Err(bad());
                }
                if kind == NONE {
                    continue;
                }
                let length = if kind == TLS_DESCRIPTOR {
                    2 * WORD
                } else {
                    WORD
                };
                let end = place.checked_add(length).ok_or_else(bad)?;
                // Most are in the segment of the one before.
                if last.is_none_or(|(first, limit)| place < first || end > limit) {
                    last = self.segment_with(place, length, writable);
                }
                let has_symbol = symbol != 0 && symbol < count;
                let has_what_it_needs = has_symbol || (symbol == 0 && !OF_SYMBOL.contains(&kind));
                if last.is_none() || !has_what_it_needs || kind == COPY {
                    return Err(bad());
                }
                if kind == INDIRECT_RELATIVE && !self.is_code(addend) {
                    return Err(bad());
                }
                arrays.set(place, (kind == RELATIVE).then_some(addend))?;
            }
        }
        self.check_relative(&mut arrays)?;
        arrays.check(self)
    }

    /// Start and end in memory of the segment with these bytes.
    fn segment_with(&self, address: u64, size: u64, rights: u32) -> Option<(u64, u64)> {
        let end = address.checked_add(size)?;
        self.segments().find_map(|segment| {
            let first = segment.p_vaddr(NativeEndian);
            let limit = first.checked_add(segment.p_memsz(NativeEndian))?;
            let has_rights = segment.p_flags(NativeEndian).0 & rights == rights;
            (has_rights && first <= address && end <= limit).then_some((first, limit))
        })
    }

    fn has_text_relocations(&self) -> bool {
        self.tag(elf::DT_TEXTREL).is_some()
            || self
                .tag(elf::DT_FLAGS)
                .is_some_and(|flags| flags & elf::DF_TEXTREL.0 != 0)
    }

    /// The packed form: an address, and then bits for the words behind it.
    fn check_relative(&self, arrays: &mut FunctionArrays) -> Result<(), String> {
        let bad = || String::from("relocations lead outside of it");
        let (Some(table), Some(size)) = (self.tag(elf::DT_RELR), self.tag(elf::DT_RELRSZ)) else {
            return Ok(());
        };
        let bytes = self.bytes(table, size).ok_or_else(bad)?;
        let mut place = 0u64;
        for chunk in bytes.chunks_exact(WORD as usize) {
            let [entry] = words(chunk).ok_or_else(bad)?;
            let mut relocate = |place: u64| {
                if !self.is_in(place, WORD, elf::PF_W.0) {
                    return Err(bad());
                }
                let value = self.bytes(place, WORD).and_then(|bytes| words(&bytes));
                arrays.set(place, value.map(|[value]| value))
            };
            if entry & 1 == 0 {
                relocate(entry)?;
                place = entry.checked_add(WORD).ok_or_else(bad)?;
            } else {
                for bit in 1..u64::from(usize::BITS) {
                    if entry >> bit & 1 == 1 {
                        relocate(place.checked_add((bit - 1) * WORD).ok_or_else(bad)?)?;
                    }
                }
                place = place.checked_add(63 * WORD).ok_or_else(bad)?;
            }
        }
        Ok(())
    }
}

/// The lists of functions that are called when a file is loaded and unloaded: what relocations make of
/// them. A slot that none speaks of is called as it is, which is nowhere.
struct FunctionArrays(Vec<(u64, Vec<Slot>)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Untouched,
    /// By the address of a symbol, which nobody knows yet.
    Symbol,
    Address(u64),
}

impl FunctionArrays {
    fn new(tables: &Tables<'_>) -> Result<Self, String> {
        let mut arrays = Vec::new();
        for (table, size) in [
            (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ),
            (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ),
        ] {
            let Some(address) = tables.tag(table) else {
                continue;
            };
            let size = tables.tag(size).ok_or("lists of functions have no size")?;
            let is_there = size / WORD <= MAX_SLOTS
                && address % WORD == 0
                && tables.is_in(address, size, elf::PF_R.0);
            if !is_there {
                return Err("lists of functions lead outside of it".into());
            }
            arrays.push((address, vec![Slot::Untouched; (size / WORD) as usize]));
        }
        Ok(Self(arrays))
    }

    fn set(&mut self, place: u64, address: Option<u64>) -> Result<(), String> {
        for (start, slots) in &mut self.0 {
            // One that begins before the list may reach into it.
            let Some(within) = place.wrapping_add(WORD - 1).checked_sub(*start) else {
                continue;
            };
            let Some(slot) = usize::try_from(within / WORD)
                .ok()
                .and_then(|index| slots.get_mut(index))
            else {
                continue;
            };
            if place % WORD != *start % WORD {
                return Err("functions to be called are relocated in part".into());
            }
            *slot = address.map_or(Slot::Symbol, Slot::Address);
        }
        Ok(())
    }

    fn check(&self, tables: &Tables<'_>) -> Result<(), String> {
        let is_sound = |slot: &Slot| match slot {
            Slot::Untouched => false,
            Slot::Symbol => true,
            Slot::Address(address) => tables.is_code(*address),
        };
        if self.0.iter().all(|(_, slots)| slots.iter().all(is_sound)) {
            Ok(())
        } else {
            Err("functions to be called lead outside of its code".into())
        }
    }
}

/// Kinds of relocations.
const NONE: u32 = 0;
const COPY: u32 = if cfg!(target_arch = "aarch64") {
    1024
} else {
    5
};
const RELATIVE: u32 = if cfg!(target_arch = "aarch64") {
    1027
} else {
    8
};
const TLS_DESCRIPTOR: u32 = if cfg!(target_arch = "aarch64") {
    1031
} else {
    36
};
const INDIRECT_RELATIVE: u32 = if cfg!(target_arch = "aarch64") {
    1032
} else {
    37
};

/// Those that give the address of a symbol, and nothing else.
const OF_SYMBOL: [u32; 2] = if cfg!(target_arch = "aarch64") {
    [1025, 1026]
} else {
    [6, 7]
};
