//! Memory for tensors.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
};

/// Zero-initialised memory at an alignment of at least 64.
pub(crate) struct AlignedBuffer {
    data: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory.
unsafe impl Send for AlignedBuffer {}
// SAFETY: a shared reference allows reading only; writing through the address is the business of
// whoever holds the state that the buffer is part of.
unsafe impl Sync for AlignedBuffer {}

/// Memory that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes of memory cannot be had")]
pub(crate) struct AllocationError(pub(crate) usize);

impl AlignedBuffer {
    /// The least alignment.
    pub(crate) const ALIGNMENT: usize = 64;

    /// `len` bytes of 0, aligned to `alignment` (a power of two), but at least to 64.
    pub(crate) fn new(len: usize, alignment: usize) -> Result<Self, AllocationError> {
        let layout = Layout::from_size_align(len, alignment.max(Self::ALIGNMENT))
            .map_err(|_| AllocationError(len))?;
        if len == 0 {
            // Never read or written, but aligned, as backends expect it.
            let data = NonNull::new(std::ptr::without_provenance_mut(layout.align()))
                .ok_or(AllocationError(len))?;
            return Ok(Self { data, layout });
        }
        // SAFETY: the size is not 0.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(AllocationError(len))?;
        Ok(Self { data, layout })
    }

    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Self, AllocationError> {
        let mut buffer = Self::new(bytes.len(), Self::ALIGNMENT)?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.size()
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
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.data.as_ptr(), self.layout) }
        }
    }
}
