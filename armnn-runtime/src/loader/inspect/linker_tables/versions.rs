//! Versions of symbols: which are needed of which library, which are defined, and which each symbol has.

use object::elf;

use super::Tables;

/// More entries of a list than any linker writes.
const MAX_VERSIONS: usize = 1 << 15;

impl Tables<'_> {
    /// The lists of versions, and the version of each symbol.
    pub(super) fn check_versions(&self, count: u64) -> Result<(), String> {
        let bad = || String::from("versions of symbols are broken");
        let highest_needed = self.highest_needed_version().ok_or_else(bad)?;
        let highest_defined = self.highest_defined_version().ok_or_else(bad)?;
        let highest = highest_needed.max(highest_defined);
        let Some(versions) = self.tag(elf::DT_VERSYM) else {
            return if highest == 0 { Ok(()) } else { Err(bad()) };
        };
        let bytes = self
            .bytes(versions, count.checked_mul(2).ok_or_else(bad)?)
            .ok_or_else(bad)?;
        let highest_used = bytes
            .as_chunks()
            .0
            .iter()
            .map(|n| u16::from_ne_bytes(*n) & 0x7fff);
        // There is a list of versions only if one is named.
        match highest_used.max() {
            Some(used) if highest == 0 || used > highest => Err(bad()),
            _ => Ok(()),
        }
    }

    /// An entry of a list of versions: numbers of 16 and 32 bits, each with its place.
    fn highest_needed_version(&self) -> Option<u16> {
        let mut highest = 0;
        let Some(mut needed) = self.tag(elf::DT_VERNEED) else {
            return Some(highest);
        };
        let names: Vec<Vec<u8>> = self.needed.iter().filter_map(|n| self.name(*n)).collect();
        for _ in 0..MAX_VERSIONS {
            let entry = self.numbers(needed, 4)?;
            let (file, auxiliary, next) = (entry[1], entry[2], entry[3]);
            // The dynamic linker looks for that file among those that are needed, and insists.
            if !names.contains(&self.name(file.into())?) {
                return None;
            }
            let mut version = needed.checked_add(auxiliary.into())?;
            for step in 0..=MAX_VERSIONS {
                let entry = self.numbers(version, 4)?;
                self.name(entry[2].into())?;
                // Flags come first, then the number.
                let [_, _, low, high] = entry[1].to_ne_bytes();
                highest = highest.max(u16::from_ne_bytes([low, high]) & 0x7fff);
                if entry[3] == 0 {
                    break;
                }
                if step == MAX_VERSIONS {
                    return None;
                }
                version = version.checked_add(entry[3].into())?;
            }
            if next == 0 {
                return Some(highest);
            }
            needed = needed.checked_add(next.into())?;
        }
        None
    }

    fn highest_defined_version(&self) -> Option<u16> {
        let mut highest = 0;
        let Some(mut defined) = self.tag(elf::DT_VERDEF) else {
            return Some(highest);
        };
        for _ in 0..MAX_VERSIONS {
            // version, flags, number, count (16 bits each), hash, auxiliary, next.
            let entry = self.numbers(defined, 5)?;
            let [low, high, _, _] = entry[1].to_ne_bytes();
            highest = highest.max(u16::from_ne_bytes([low, high]) & 0x7fff);
            let name = self.numbers(defined.checked_add(entry[3].into())?, 2)?;
            self.name(name[0].into())?;
            if entry[4] == 0 {
                return Some(highest);
            }
            defined = defined.checked_add(entry[4].into())?;
        }
        None
    }
}
