//! The layout of an arena: tensors whose lifetimes do not overlap share memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::aligned_buffer::AlignedBuffer;

/// A part of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where the memory asked for starts.
    pub(crate) start: usize,
    offset: usize,
    size: usize,
}

/// Gives out parts of an arena of growing length; the smallest free part that is large enough
/// first. Takes logarithmic time for each part.
#[derive(Default)]
pub(crate) struct ArenaLayout {
    by_offset: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
    alignment: usize,
}

impl ArenaLayout {
    /// A part of `len` bytes; `None` if the arena would be too long to be addressed.
    pub(crate) fn allocate(&mut self, len: usize, alignment: usize) -> Option<Block> {
        let alignment = alignment.max(AlignedBuffer::ALIGNMENT);
        self.alignment = self.alignment.max(alignment);
        // Blocks start at multiples of the least alignment; a larger one costs its slack.
        let slack = alignment - AlignedBuffer::ALIGNMENT;
        let size = len
            .max(1)
            .checked_next_multiple_of(AlignedBuffer::ALIGNMENT)?
            .checked_add(slack)?;
        let offset = match self.by_size.range((size, 0)..).next().copied() {
            Some((found, offset)) => {
                self.remove(offset, found);
                if found > size {
                    self.insert(offset + size, found - size);
                }
                offset
            }
            None => {
                // A free part at the end is made longer.
                let last = self.by_offset.last_key_value().map(|(&o, &s)| (o, s));
                let offset = match last {
                    Some((offset, found)) if offset + found == self.end => {
                        self.remove(offset, found);
                        offset
                    }
                    _ => self.end,
                };
                self.end = offset
                    .checked_add(size)
                    .filter(|&end| end <= isize::MAX as usize)?;
                offset
            }
        };
        Some(Block {
            start: offset.next_multiple_of(alignment),
            offset,
            size,
        })
    }

    /// Gives a part back.
    pub(crate) fn free(&mut self, block: Block) {
        let (mut offset, mut size) = (block.offset, block.size);
        let before = self
            .by_offset
            .range(..offset)
            .next_back()
            .map(|(&o, &s)| (o, s));
        if let Some((o, s)) = before
            && o + s == offset
        {
            self.remove(o, s);
            (offset, size) = (o, s + size);
        }
        if let Some(&s) = self.by_offset.get(&(offset + size)) {
            self.remove(offset + size, s);
            size += s;
        }
        self.insert(offset, size);
    }

    fn insert(&mut self, offset: usize, size: usize) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: usize, size: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }

    /// Bytes of the arena.
    pub(crate) fn len(&self) -> usize {
        self.end
    }

    /// The alignment that the arena needs.
    pub(crate) fn alignment(&self) -> usize {
        self.alignment.max(AlignedBuffer::ALIGNMENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_parts_are_used_again_and_join() {
        let mut layout = ArenaLayout::default();
        let a = layout.allocate(100, 1).unwrap();
        let b = layout.allocate(64, 1).unwrap();
        let c = layout.allocate(1, 1).unwrap();
        assert_eq!(
            (a.start, b.start, c.start, layout.len()),
            (0, 128, 192, 256)
        );
        layout.free(a);
        layout.free(b);
        // Both together are 192 bytes.
        assert_eq!(layout.allocate(192, 1).unwrap().start, 0);
        layout.free(c);
        // The free part at the end grows.
        assert_eq!(layout.allocate(200, 1).unwrap().start, 192);
        assert_eq!(layout.len(), 192 + 256);
    }

    #[test]
    fn larger_alignments_are_kept() {
        let mut layout = ArenaLayout::default();
        layout.allocate(1, 1).unwrap();
        let b = layout.allocate(10, 4096).unwrap();
        assert_eq!(b.start % 4096, 0);
        assert_eq!(layout.alignment(), 4096);
        assert!(b.start + 10 <= layout.len());
    }

    #[test]
    fn live_parts_never_overlap() {
        let mut layout = ArenaLayout::default();
        let mut live: Vec<(Block, usize)> = Vec::new();
        let mut random = 1u64;
        for _ in 0..5000 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let r = (random >> 33) as usize;
            if r.is_multiple_of(3) && !live.is_empty() {
                let (block, _) = live.swap_remove(r % live.len());
                layout.free(block);
            } else {
                let len = r % 3000;
                let block = layout.allocate(len, 1 << (r % 9)).unwrap();
                for (other, other_len) in &live {
                    assert!(
                        block.start + len <= other.start || other.start + other_len <= block.start
                    );
                }
                live.push((block, len));
            }
        }
        live.drain(..).for_each(|(block, _)| layout.free(block));
        assert_eq!(layout.by_offset.len(), 1);
    }

    #[test]
    fn an_arena_beyond_the_address_space_is_refused() {
        let mut layout = ArenaLayout::default();
        assert!(layout.allocate(isize::MAX as usize - 100, 1).is_some());
        assert_eq!(layout.allocate(1000, 1), None);
        assert_eq!(layout.allocate(usize::MAX, 1), None);
    }
}
