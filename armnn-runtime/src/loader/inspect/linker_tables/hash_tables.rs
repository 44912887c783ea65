//! The tables that symbols are looked up in by their names.

use object::elf;

use super::{SYMBOL, Tables, WORD};

impl Tables<'_> {
    /// Follows every chain; returns how many symbols there are.
    pub(super) fn check_hash_tables(&self) -> Result<u64, String> {
        let broken = || String::from("hash table of symbols is broken");
        if let Some(table) = self.tag(elf::DT_GNU_HASH) {
            return self.count_by_gnu_hash(table).ok_or_else(broken);
        }
        if let Some(table) = self.tag(elf::DT_HASH) {
            return self.count_by_hash(table).ok_or_else(broken);
        }
        Ok(0)
    }

    fn count_by_gnu_hash(&self, table: u64) -> Option<u64> {
        let head = self.numbers(table, 4)?;
        let [buckets, first, words, _] = head[..].try_into().ok()?;
        let (buckets, first, words): (u32, u32, u32) = (buckets, first, words);
        if buckets == 0 || !words.is_power_of_two() {
            return None;
        }
        let bloom = table.checked_add(16)?;
        let place = bloom.checked_add(u64::from(words) * WORD)?;
        self.offset_of(bloom, u64::from(words) * WORD)?;
        let heads = self.numbers(place, u64::from(buckets))?;
        if heads.iter().any(|head| *head != 0 && *head < first) {
            return None;
        }
        let last = heads.into_iter().max().unwrap_or(0);
        if last == 0 {
            return self.count_without_exports(first.into());
        }
        // The chains lie one behind the other: where the last one ends, all end.
        let chains = place.checked_add(4 * u64::from(buckets))?;
        let mut index = u64::from(last);
        loop {
            let chain = chains.checked_add(4 * (index - u64::from(first)))?;
            let piece = self.numbers(chain, 64).or_else(|| self.numbers(chain, 1))?;
            for link in piece {
                index += 1;
                if link & 1 == 1 {
                    return Some(index);
                }
            }
        }
    }

    /// Where nothing is exported, the table does not tell how many symbols there are: by the other table,
    /// or else up to the names, which lie behind the symbols as a rule.
    fn count_without_exports(&self, at_least: u64) -> Option<u64> {
        if let Some(table) = self.tag(elf::DT_HASH) {
            return self.count_by_hash(table);
        }
        let (symbols, names) = (self.tag(elf::DT_SYMTAB)?, self.tag(elf::DT_STRTAB)?);
        let between = names.saturating_sub(symbols) / SYMBOL;
        Some(between.max(at_least))
    }

    fn count_by_hash(&self, table: u64) -> Option<u64> {
        let head = self.numbers(table, 2)?;
        let (buckets, count) = (u64::from(head[0]), u64::from(head[1]));
        if buckets == 0 {
            return None;
        }
        let place = table.checked_add(8)?;
        let heads = self.numbers(place, buckets)?;
        let chains = self.numbers(place.checked_add(4 * buckets)?, count)?;
        // Each symbol is in one chain.
        let mut steps = 0;
        for head in heads {
            let mut index = head;
            while index != 0 {
                steps += 1;
                if steps > count {
                    return None;
                }
                index = *chains.get(usize::try_from(index).ok()?)?;
            }
        }
        Some(count)
    }
}
