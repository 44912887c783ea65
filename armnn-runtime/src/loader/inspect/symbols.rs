//! Looking up dynamic symbols the way the dynamic linker does: through the hash tables.

use object::{NativeEndian, elf, read::elf::Sym as _};

use super::{Dynamic, Inspection, Reader, Segments, Sym, damaged, refusal};
use crate::loader::verdict::{Code, Refusal};

/// The functions that a backend exports.
const EXPORTS: [&str; 3] = ["GetBackendId", "GetVersion", "BackendFactory"];
/// What each is called when a C++ compiler was not told `extern "C"`.
const MANGLED: [&str; 3] = ["12GetBackendId", "10GetVersion", "14BackendFactory"];
/// Longer chains than any linker writes.
const MAX_CHAIN: u32 = 1024;
const MAX_SYMBOLS: u32 = 1 << 18;
/// How much of the names is searched for look-alikes.
const MAX_SEARCHED: u64 = 1 << 20;

/// One of the three functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: &'static str,
    /// What became of it.
    pub state: ExportState,
}

/// What became of one of the three functions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportState {
    /// It is there.
    Function,
    /// It is not exported.
    Missing,
    /// There is something of this name, but no function; the text says what.
    NotAFunction(&'static str),
}

pub(super) fn find_exports(
    reader: &Reader<'_>,
    segments: &Segments,
    dynamic: &Dynamic,
) -> Result<Vec<Export>, Refusal> {
    let table = Table {
        reader,
        segments,
        dynamic,
    };
    EXPORTS
        .into_iter()
        .map(|name| {
            Ok(Export {
                name,
                state: table.find(name)?,
            })
        })
        .collect()
}

/// Refuses a file that lacks one of the functions.
pub(super) fn check_exports(
    inspection: &mut Inspection,
    reader: &Reader<'_>,
    segments: &Segments,
    dynamic: &Dynamic,
) {
    let missing: Vec<_> = inspection
        .exports
        .iter()
        .zip(MANGLED)
        .filter(|(export, _)| export.state == ExportState::Missing)
        .collect();
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|(export, _)| export.name).collect();
        let names = names.join(", ");
        let parts: Vec<_> = missing.iter().map(|(_, mangled)| *mangled).collect();
        let refused = match find_mangled(reader, segments, dynamic, &parts) {
            Some(mangled) => refusal(
                Code::MissingSymbol,
                format!("the file does not export {names}, only the C++ function {mangled}"),
            )
            .with_hint("declare the function extern \"C\""),
            None => refusal(
                Code::MissingSymbol,
                format!("the file does not export {names}"),
            )
            .with_hint(
                "a backend exports GetBackendId, GetVersion and BackendFactory; if this one \
                 defines them, see that they are not hidden",
            ),
        };
        inspection.refusals.push(refused);
    }
    for export in &inspection.exports {
        if let ExportState::NotAFunction(what) = export.state {
            inspection.refusals.push(
                refusal(
                    Code::NotAFunction,
                    format!("{} is {what}, not a function", export.name),
                )
                .with_hint("a backend defines GetBackendId, GetVersion and BackendFactory"),
            );
        }
    }
}

/// Whether any symbol is unique in the process.
pub(super) fn has_unique(reader: &Reader<'_>, segments: &Segments, dynamic: &Dynamic) -> bool {
    let table = Table {
        reader,
        segments,
        dynamic,
    };
    let count = table.count().unwrap_or(0).min(MAX_SYMBOLS);
    (0..count)
        .map_while(|index| table.symbol(index))
        .any(|symbol| symbol.st_bind() == elf::STB_GNU_UNIQUE)
}

struct Table<'a> {
    reader: &'a Reader<'a>,
    segments: &'a Segments,
    dynamic: &'a Dynamic,
}

/// The head of a GNU hash table, and where its parts begin in memory.
struct GnuHash {
    bucket_count: u32,
    /// The first symbol that the table speaks of.
    first_symbol: u32,
    bloom_count: u32,
    bloom_shift: u32,
    bloom: u64,
    buckets: u64,
    chains: u64,
}

const WORD: u64 = size_of::<usize>() as u64;

impl Table<'_> {
    fn find(&self, name: &str) -> Result<ExportState, Refusal> {
        if self.dynamic.symbols.is_none() || self.dynamic.strings.is_none() {
            return Ok(ExportState::Missing);
        }
        // Like the dynamic linker, go by the newer table where there are two.
        let found = if let Some(table) = self.dynamic.gnu_hash {
            self.find_by_gnu_hash(table, name)
        } else if let Some(table) = self.dynamic.hash {
            self.find_by_hash(table, name)
        } else {
            return Ok(ExportState::Missing);
        };
        let Some(found) = found else {
            return Err(damaged("its table of symbols is broken"));
        };
        Ok(found.map_or(ExportState::Missing, |symbol| self.state(&symbol)))
    }

    fn state(&self, symbol: &Sym) -> ExportState {
        let address: u64 = symbol.st_value(NativeEndian).into();
        match symbol.st_type() {
            elf::STT_FUNC | elf::STT_GNU_IFUNC if self.segments.is_code(address) => {
                ExportState::Function
            }
            elf::STT_FUNC | elf::STT_GNU_IFUNC => {
                ExportState::NotAFunction("a symbol that leads outside of the file's code")
            }
            elf::STT_OBJECT | elf::STT_COMMON => ExportState::NotAFunction("a variable"),
            elf::STT_TLS => ExportState::NotAFunction("a thread-local variable"),
            _ => ExportState::NotAFunction("a symbol without a type"),
        }
    }

    /// `None`: the table is broken. `Some(None)`: the symbol is not defined.
    fn find_by_gnu_hash(&self, table: u64, name: &str) -> Option<Option<Sym>> {
        let table = self.gnu_hash(table)?;
        let hash = gnu_hash(name);
        let bits = usize::BITS;
        let word_index = u64::from((hash / bits) & (table.bloom_count - 1));
        let word = self.word(table.bloom.checked_add(word_index * WORD)?)?;
        let shifted = hash.checked_shr(table.bloom_shift).unwrap_or(0);
        let mask = (1u64 << (hash % bits)) | (1u64 << (shifted % bits));
        if word & mask != mask {
            return Some(None);
        }
        let bucket = u64::from(hash % table.bucket_count);
        let first = self.u32(table.buckets.checked_add(4 * bucket)?)?;
        if first == 0 {
            return Some(None);
        }
        for step in 0..MAX_CHAIN {
            let index = first.checked_add(step)?;
            let link = self.u32(table.chain(index)?)?;
            if link | 1 == hash | 1
                && let Some(symbol) = self.symbol_if_named(index, name)
            {
                return Some(Some(symbol));
            }
            if link & 1 == 1 {
                return Some(None);
            }
        }
        None
    }

    fn gnu_hash(&self, address: u64) -> Option<GnuHash> {
        let bucket_count = self.u32(address)?;
        let first_symbol = self.u32(address.checked_add(4)?)?;
        let bloom_count = self.u32(address.checked_add(8)?)?;
        let bloom_shift = self.u32(address.checked_add(12)?)?;
        if bucket_count == 0 || !bloom_count.is_power_of_two() {
            return None;
        }
        let bloom = address.checked_add(16)?;
        let buckets = bloom.checked_add(u64::from(bloom_count) * WORD)?;
        let chains = buckets.checked_add(u64::from(bucket_count) * 4)?;
        Some(GnuHash {
            bucket_count,
            first_symbol,
            bloom_count,
            bloom_shift,
            bloom,
            buckets,
            chains,
        })
    }

    fn find_by_hash(&self, table: u64, name: &str) -> Option<Option<Sym>> {
        let bucket_count = self.u32(table)?;
        let chain_count = self.u32(table.checked_add(4)?)?;
        if bucket_count == 0 {
            return None;
        }
        let buckets = table.checked_add(8)?;
        let chains = buckets.checked_add(4 * u64::from(bucket_count))?;
        let bucket = u64::from(sysv_hash(name) % bucket_count);
        let mut index = self.u32(buckets.checked_add(4 * bucket)?)?;
        for _ in 0..MAX_CHAIN.min(chain_count) {
            if index == 0 {
                return Some(None);
            }
            if let Some(symbol) = self.symbol_if_named(index, name) {
                return Some(Some(symbol));
            }
            index = self.u32(chains.checked_add(4 * u64::from(index))?)?;
        }
        // A chain that is longer than the table goes in a circle.
        if index == 0 { Some(None) } else { None }
    }

    /// How many symbols there are, as far as the hash tables tell.
    fn count(&self) -> Option<u32> {
        if let Some(table) = self.dynamic.hash {
            return self.u32(table.checked_add(4)?);
        }
        let table = self.gnu_hash(self.dynamic.gnu_hash?)?;
        let mut last = 0;
        for bucket in 0..u64::from(table.bucket_count.min(MAX_SYMBOLS)) {
            last = last.max(self.u32(table.buckets.checked_add(4 * bucket)?)?);
        }
        if last < table.first_symbol {
            return Some(table.first_symbol);
        }
        for _ in 0..MAX_CHAIN {
            if self.u32(table.chain(last)?)? & 1 == 1 {
                break;
            }
            last = last.checked_add(1)?;
        }
        last.checked_add(1)
    }

    /// The symbol at `index`, if it is defined here and called `name`.
    fn symbol_if_named(&self, index: u32, name: &str) -> Option<Sym> {
        let symbol = self.symbol(index)?;
        let is_visible = matches!(
            symbol.st_bind(),
            elf::STB_GLOBAL | elf::STB_WEAK | elf::STB_GNU_UNIQUE
        );
        if symbol.st_shndx(NativeEndian) == elf::SHN_UNDEF || !is_visible {
            return None;
        }
        let index = u64::from(symbol.st_name(NativeEndian));
        let text = self
            .dynamic
            .string(self.reader, self.segments, index, name.len() + 1)?;
        (text == name.as_bytes()).then_some(symbol)
    }

    fn symbol(&self, index: u32) -> Option<Sym> {
        let size = size_of::<Sym>() as u64;
        let address = self
            .dynamic
            .symbols?
            .checked_add(u64::from(index).checked_mul(size)?)?;
        let (offset, rest) = self.segments.locate(address)?;
        if rest < size {
            return None;
        }
        self.reader.read_pod(offset).ok()
    }

    fn u32(&self, address: u64) -> Option<u32> {
        let (offset, rest) = self.segments.locate(address)?;
        let mut bytes = [0; 4];
        if rest < 4 {
            return None;
        }
        self.reader.read(&mut bytes, offset).ok()?;
        Some(u32::from_ne_bytes(bytes))
    }

    fn word(&self, address: u64) -> Option<u64> {
        let (offset, rest) = self.segments.locate(address)?;
        let mut bytes = [0; size_of::<usize>()];
        if rest < WORD {
            return None;
        }
        self.reader.read(&mut bytes, offset).ok()?;
        Some(usize::from_ne_bytes(bytes) as u64)
    }
}

impl GnuHash {
    /// The address of the chain entry of the symbol at `index`.
    fn chain(&self, index: u32) -> Option<u64> {
        let within = index.checked_sub(self.first_symbol)?;
        self.chains.checked_add(4 * u64::from(within))
    }
}

/// The hash function of GNU hash tables.
fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash, byte| {
        hash.wrapping_mul(33).wrapping_add(u32::from(byte))
    })
}

/// The hash function of the System V ABI.
fn sysv_hash(name: &str) -> u32 {
    name.bytes().fold(0u32, |hash, byte| {
        let hash = hash.wrapping_mul(16).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

/// The first name in the table of names that contains one of `parts`.
fn find_mangled(
    reader: &Reader<'_>,
    segments: &Segments,
    dynamic: &Dynamic,
    parts: &[&str],
) -> Option<String> {
    let (offset, rest) = segments.locate(dynamic.strings?)?;
    let size = rest
        .min(dynamic.strings_size.unwrap_or(rest))
        .min(MAX_SEARCHED);
    let names = reader.read_vec(offset, size, MAX_SEARCHED as usize).ok()?;
    names
        .split(|byte| *byte == 0)
        .filter(|name| name.starts_with(b"_Z"))
        .find(|name| {
            parts.iter().any(|part| {
                name.windows(part.len())
                    .any(|window| window == part.as_bytes())
            })
        })
        .map(|name| String::from_utf8_lossy(name).into_owned())
}
