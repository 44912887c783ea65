//! Memory for tensors.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
};

/// Zero-initialised memory at an alignment of at least 64.
///
/// It is asked for with a small alignment and some room: only so does the system's allocator give
/// large memory that takes no place before it is used.
pub(crate) struct AlignedBuffer {
    // Where the buffer starts.
    data: NonNull<u8>,
    len: usize,
    // What was allocated; null if nothing was.
    allocation: *mut u8,
    layout: Layout,
}

// SAFETY: it owns its memory.
unsafe impl Send for AlignedBuffer {}
// SAFETY: a shared reference allows reading only; writing through the address is the business of
// whoever holds the state that the buffer is part of.
unsafe impl Sync for AlignedBuffer {}

/// An alignment that every allocator has by itself.
const ALLOCATED_ALIGNMENT: usize = 16;

/// Memory that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes of memory cannot be had")]
pub(crate) struct AllocationError(pub(crate) usize);

impl AlignedBuffer {
    /// The least alignment.
    pub(crate) const ALIGNMENT: usize = 64;

    /// `len` bytes of 0, aligned to `alignment` (a power of two), but at least to 64.
    pub(crate) fn new(len: usize, alignment: usize) -> Result<Self, AllocationError> {
        let alignment = alignment.max(Self::ALIGNMENT);
        let room = alignment - ALLOCATED_ALIGNMENT;
        let layout = len
            .checked_add(room)
            .and_then(|size| Layout::from_size_align(size, ALLOCATED_ALIGNMENT).ok())
            .ok_or(AllocationError(len))?;
        if len == 0 {
            // Never read or written, but aligned, as backends expect it.
            let data = NonNull::new(std::ptr::without_provenance_mut(alignment))
                .ok_or(AllocationError(len))?;
            return Ok(Self {
                data,
                len,
                allocation: std::ptr::null_mut(),
                layout,
            });
        }
        // SAFETY: the size is not 0.
        let allocation = unsafe { alloc_zeroed(layout) };
        if allocation.is_null() {
            return Err(AllocationError(len));
        }
        // SAFETY: the room is enough to reach the next multiple of the alignment.
        let data = unsafe { allocation.add(allocation.align_offset(alignment)) };
        Ok(Self {
            data: NonNull::new(data).ok_or(AllocationError(len))?,
            len,
            allocation,
            layout,
        })
    }

    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Self, AllocationError> {
        let mut buffer = Self::new(bytes.len(), Self::ALIGNMENT)?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is initialised and owned.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len()) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the memory is initialised, owned and exclusively borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len()) }
    }
}

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if !self.allocation.is_null() {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.allocation, self.layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alignment_is_kept_and_all_is_zero() {
        for alignment in [1, 64, 128, 4096, 1 << 16] {
            for len in [0, 1, 63, 64, 100_000] {
                let mut buffer = AlignedBuffer::new(len, alignment).unwrap();
                assert_eq!(buffer.as_ptr().addr() % alignment.max(64), 0);
                assert_eq!(buffer.len(), len);
                assert!(buffer.as_slice().iter().all(|&b| b == 0));
                buffer.as_mut_slice().fill(1);
            }
        }
        assert!(AlignedBuffer::new(usize::MAX - 10, 64).is_err());
    }
}
