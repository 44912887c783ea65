//! Files that constants are read from.

use std::ops::Range;
use std::sync::Weak;

use crate::{Network, NetworkBuilder};

/// A file that is mapped into memory, and that constants of a network lie in.
///
/// What a constant's bytes borrow keeps the mapping; a network only [knows](Network::mapped_files)
/// of it. Whoever has read a constant for the last time, because it holds a copy or packed it, can
/// give back the memory that its pages take:
///
/// ```
/// # use std::sync::Arc;
/// # use armnn_network::MappedFile;
/// fn give_back(constant: &[u8], files: &[std::sync::Weak<dyn MappedFile>]) {
///     for file in files.iter().filter_map(|file| file.upgrade()) {
///         if let Some(range) = file.range_of(constant) {
///             file.release_pages(range);
///         }
///     }
/// }
/// ```
pub trait MappedFile: Send + Sync {
    /// All bytes of the mapping.
    fn bytes(&self) -> &[u8];

    /// Takes the pages of a range of the mapping, and those that it shares with what is beside it,
    /// out of this process's memory. Their contents stay as they are: what reads them again has them
    /// read from the file, or from the system's cache of it. Does nothing where the system cannot.
    fn release_pages(&self, range: Range<usize>);

    /// Where bytes lie in the mapping; `None` if they do not.
    fn range_of(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let all = self.bytes();
        let start = bytes.as_ptr().addr().checked_sub(all.as_ptr().addr())?;
        let end = start.checked_add(bytes.len())?;
        (end <= all.len()).then_some(start..end)
    }
}

impl NetworkBuilder {
    /// Says that constants lie in a file. The network does not keep it.
    pub fn add_mapped_file(&mut self, file: Weak<dyn MappedFile>) {
        self.network.mapped_files.push(file);
    }
}

impl Network {
    /// The files that constants lie in, also those of bodies; those that are not mapped any more
    /// cannot be upgraded.
    pub fn mapped_files(&self) -> &[Weak<dyn MappedFile>] {
        &self.mapped_files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct InMemory([u8; 8]);

    impl MappedFile for InMemory {
        fn bytes(&self) -> &[u8] {
            &self.0
        }

        fn release_pages(&self, _range: Range<usize>) {}
    }

    #[test]
    fn bytes_are_found_where_they_lie_and_others_are_not() {
        let file = InMemory([0; 8]);
        assert_eq!(file.range_of(&file.0[2..5]), Some(2..5));
        assert_eq!(file.range_of(&file.0), Some(0..8));
        let other = Box::new([0u8; 8]);
        assert_eq!(file.range_of(&other[..]), None);
    }
}
