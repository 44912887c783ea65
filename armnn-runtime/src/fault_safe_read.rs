//! Reading memory that another one vouches for, in a way that survives a pointer that leads nowhere.

use std::{ffi::c_void, os::fd::AsRawFd as _};

use armnn_backend_api::BackendId;

/// The most bytes of an id that are looked at, its NUL included.
const MAX_READ: usize = BackendId::MAX_LEN + 1;

/// Whether `len` bytes at `address` can be read; also yes where the kernel does not say.
pub(crate) fn is_readable(address: usize, len: usize) -> bool {
    let mut buffer = [0; 256];
    let mut done = 0;
    while done < len {
        let Some(start) = address.checked_add(done) else {
            return false;
        };
        // Page by page: the kernel may fill a buffer in part.
        let wanted = (4096 - start % 4096).min(len - done).min(buffer.len());
        if matches!(
            read_own_memory(start, &mut buffer[..wanted]),
            Err(TextError::Unmapped)
        ) {
            return false;
        }
        done += wanted;
    }
    true
}

#[derive(Debug)]
pub(crate) enum TextError {
    /// No NUL among the bytes that are looked at.
    Unterminated,
    /// The memory is not there, or may not be read.
    Unmapped,
    /// The kernel does not say.
    Unreadable(std::io::Error),
}

/// Reads the NUL-terminated text at `address` through the kernel, which answers with an error where
/// reading directly would end the process.
pub(crate) fn read_text(address: usize) -> Result<Vec<u8>, TextError> {
    let mut text = Vec::with_capacity(MAX_READ);
    while text.len() < MAX_READ {
        let start = address.checked_add(text.len()).ok_or(TextError::Unmapped)?;
        // Page by page: a text may end just before a page that is not there. No page of Linux is
        // smaller than this.
        let to_page_end = 4096 - start % 4096;
        let mut buffer = [0; MAX_READ];
        let wanted = to_page_end.min(MAX_READ - text.len());
        let buffer = &mut buffer[..wanted];
        read_own_memory(start, buffer)?;
        match buffer.iter().position(|byte| *byte == 0) {
            Some(length) => {
                text.extend_from_slice(&buffer[..length]);
                return Ok(text);
            }
            None => text.extend_from_slice(buffer),
        }
    }
    Err(TextError::Unterminated)
}

/// Fills `buffer` with what is at `address`.
pub(crate) fn read_own_memory(address: usize, buffer: &mut [u8]) -> Result<(), TextError> {
    match read_by_system_call(address, buffer) {
        // Sandboxes may forbid that call, and emulators lack it.
        Err(TextError::Unreadable(_)) => read_by_pipe(address, buffer),
        result => result,
    }
}

fn read_by_system_call(address: usize, buffer: &mut [u8]) -> Result<(), TextError> {
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast::<c_void>(),
        iov_len: buffer.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: buffer.len(),
    };
    // SAFETY: the kernel writes into the buffer, within its length; the other address is only
    // looked at by the kernel, which checks it.
    let count = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    if usize::try_from(count) == Ok(buffer.len()) {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    if count >= 0 || error.raw_os_error() == Some(libc::EFAULT) {
        return Err(TextError::Unmapped);
    }
    Err(TextError::Unreadable(error))
}

/// Writes the memory into a pipe, which copies it where it can be read.
fn read_by_pipe(address: usize, buffer: &mut [u8]) -> Result<(), TextError> {
    use std::io::Read as _;
    let (mut reader, writer) = std::io::pipe().map_err(TextError::Unreadable)?;
    let mut done = 0;
    while done < buffer.len() {
        let start = address.checked_add(done).ok_or(TextError::Unmapped)?;
        // So little fits into every pipe.
        let wanted = (buffer.len() - done).min(256);
        // SAFETY: the address is only looked at by the kernel, which checks it.
        let count = unsafe {
            libc::write(
                writer.as_raw_fd(),
                std::ptr::without_provenance(start),
                wanted,
            )
        };
        let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else {
            let error = std::io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::EFAULT) => TextError::Unmapped,
                _ => TextError::Unreadable(error),
            });
        };
        reader
            .read_exact(&mut buffer[done..done + count])
            .map_err(TextError::Unreadable)?;
        done += count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages, of which the second is not there.
    struct LastPage(*mut u8);

    impl LastPage {
        fn ending_with(bytes: &[u8]) -> (Self, usize) {
            // SAFETY: anonymous memory at a place that the kernel chooses.
            let start = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    2 * 4096,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            assert_ne!(start, libc::MAP_FAILED);
            let start = start.cast::<u8>();
            // SAFETY: the first page was mapped writable above and is as long as that; the second
            // has no users.
            unsafe {
                let text = start.add(4096 - bytes.len());
                text.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                assert_eq!(
                    libc::mprotect(start.add(4096).cast(), 4096, libc::PROT_NONE),
                    0
                );
                (Self(start), text as usize)
            }
        }
    }

    impl Drop for LastPage {
        fn drop(&mut self) {
            // SAFETY: unmaps what `ending_with` mapped.
            unsafe { libc::munmap(self.0.cast(), 2 * 4096) };
        }
    }

    #[test]
    fn a_text_may_end_with_its_page() {
        let (_page, address) = LastPage::ending_with(b"CpuRef\0");
        assert_eq!(read_text(address).unwrap(), b"CpuRef");
    }

    #[test]
    fn a_text_that_runs_into_nothing_is_an_error() {
        let (_page, address) = LastPage::ending_with(b"CpuRef");
        assert!(matches!(read_text(address), Err(TextError::Unmapped)));
    }

    #[test]
    fn pointers_to_nowhere_are_errors() {
        for address in [1, 8, 0xdead_beef_0000, usize::MAX, usize::MAX - 4095] {
            assert!(
                matches!(read_text(address), Err(TextError::Unmapped)),
                "{address:#x}"
            );
        }
    }

    #[test]
    fn both_ways_to_ask_the_kernel_give_the_same_answers() {
        let (_page, address) = LastPage::ending_with(b"CpuRef\0");
        for read in [read_by_system_call, read_by_pipe] {
            let mut buffer = [1; 7];
            match read(address, &mut buffer) {
                Err(TextError::Unreadable(error)) => {
                    skipped_tests::skip(format!("memory cannot be read by this system: {error}"));
                    continue;
                }
                other => other.unwrap(),
            }
            assert_eq!(&buffer, b"CpuRef\0");
            for nowhere in [0, 8, address + 7, usize::MAX - 4095] {
                assert!(
                    matches!(read(nowhere, &mut buffer), Err(TextError::Unmapped)),
                    "{nowhere:#x}"
                );
            }
        }
    }

    #[test]
    fn a_text_is_read_up_to_the_longest_id() {
        let longest = [&[b'x'; 63][..], b"\0"].concat();
        assert_eq!(read_text(longest.as_ptr() as usize).unwrap().len(), 63);
        let too_long = [b'x'; 64];
        assert!(matches!(
            read_text(too_long.as_ptr() as usize),
            Err(TextError::Unterminated)
        ));
    }
}
