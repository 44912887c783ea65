//! Which shared objects are in this process, and from which files.

use std::{
    collections::HashSet,
    ffi::{CStr, CString, OsStr, c_int, c_void},
    fs::File,
    os::{
        fd::AsRawFd as _,
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::PathBuf,
};

use crate::fault_safe_read::read_own_memory;

/// A shared object in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// By how much its addresses differ from those in the file.
    pub(super) base: usize,
    /// Where its dynamic section is, which is a place that is mapped from the file.
    pub(super) dynamic: usize,
    /// The path that it was loaded by.
    pub(super) path: PathBuf,
}

impl Image {
    /// The image behind a handle of the dynamic linker.
    ///
    /// # Safety
    /// `handle` must have been returned by `dlopen` and not been closed.
    pub(super) unsafe fn of_handle(handle: *mut c_void) -> Option<Self> {
        /// The public part of the dynamic linker's record of an image.
        #[repr(C)]
        struct LinkMap {
            base: usize,
            path: *const std::ffi::c_char,
            dynamic: usize,
        }
        #[cfg(target_env = "gnu")]
        let map: *const LinkMap = {
            let mut map: *const LinkMap = std::ptr::null();
            // SAFETY: the caller vouches for the handle; this request stores one pointer.
            let failed = unsafe {
                libc::dlinfo(
                    handle,
                    libc::RTLD_DI_LINKMAP,
                    (&raw mut map).cast::<c_void>(),
                )
            };
            if failed != 0 {
                return None;
            }
            map
        };
        // Elsewhere the handle is that record.
        #[cfg(not(target_env = "gnu"))]
        let map: *const LinkMap = handle.cast();
        // SAFETY: the record lives as long as the handle is open.
        let map = unsafe { map.as_ref()? };
        if map.path.is_null() {
            return None;
        }
        // SAFETY: the dynamic linker keeps the path as a C string in the record.
        let path = unsafe { CStr::from_ptr(map.path) };
        Some(Self {
            base: map.base,
            dynamic: map.dynamic,
            path: OsStr::from_bytes(path.to_bytes()).into(),
        })
    }

    /// Whether the image is still in the process.
    pub(super) fn is_mapped(&self) -> bool {
        loaded().contains(self)
    }
}

/// Every shared object in this process; none where that cannot be found out.
pub(super) fn loaded() -> Vec<Image> {
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        images: *mut c_void,
    ) -> c_int {
        // SAFETY: both pointers are what `dl_iterate_phdr` promises and was given, and nothing
        // else refers to the list while it runs.
        let (info, images) = unsafe { (&*info, &mut *images.cast::<Vec<Image>>()) };
        if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the dynamic linker keeps the name as a C string for as long as this call lasts.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) };
        let base = info.dlpi_addr as usize;
        let dynamic = dynamic_section(info).map_or(0, |address| base.wrapping_add(address));
        images.push(Image {
            base,
            dynamic,
            path: OsStr::from_bytes(path.to_bytes()).into(),
        });
        0
    }

    let mut images: Vec<Image> = Vec::new();
    let Some(_call) = crate::forks::LinkerCall::begin() else {
        return images;
    };
    // SAFETY: `add` has the required signature, does not unwind, and the list outlives the call.
    unsafe {
        libc::dl_iterate_phdr(Some(add), (&raw mut images).cast());
    }
    images
}

/// Whether the dynamic linker has a shared object in memory that it would give to what needs a library
/// of this name. The name of a file does not tell: an object goes by the name it gives itself, and by
/// those it was asked for by.
pub(super) fn is_loaded_as(name: &str) -> bool {
    let Ok(name) = CString::new(name) else {
        return false;
    };
    let Some(_call) = crate::forks::LinkerCall::begin() else {
        return false;
    };
    // SAFETY: the name is a C string; nothing is loaded, and no code runs.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle is from `dlopen` and closed once, which gives back what it counted.
    unsafe { libc::dlclose(handle) };
    true
}

/// Where an image says that its dynamic section is, as an address of its file. The headers are in the
/// image, and so in its file, which may have been cut short since: reading them directly would end the
/// process then.
fn dynamic_section(info: &libc::dl_phdr_info) -> Option<usize> {
    #[cfg(target_pointer_width = "64")]
    type Header = libc::Elf64_Phdr;
    #[cfg(target_pointer_width = "32")]
    type Header = libc::Elf32_Phdr;
    const MOST: usize = 64;
    let mut bytes = [0; MOST * size_of::<Header>()];
    let bytes = bytes.get_mut(..usize::from(info.dlpi_phnum) * size_of::<Header>())?;
    read_own_memory(info.dlpi_phdr.addr(), bytes).ok()?;
    bytes
        .chunks_exact(size_of::<Header>())
        // SAFETY: a chunk has the bytes of a header, for which any bytes will do, and which need not
        // be aligned.
        .map(|chunk| unsafe { chunk.as_ptr().cast::<Header>().read_unaligned() })
        .find(|header| header.p_type == libc::PT_DYNAMIC)
        .map(|header| header.p_vaddr as usize)
}

/// Whether the memory at any of the addresses may be executed; `None` where it cannot be found out.
pub(super) fn is_any_executable(addresses: &[usize]) -> Option<bool> {
    let file = File::open(MAPS).ok()?;
    let answers: Option<Vec<bool>> = addresses.iter().map(|a| query(&file, *a)).collect();
    if let Some(answers) = answers {
        return Some(answers.contains(&true));
    }
    // A kernel that has only the list, or there is no such memory.
    let maps = std::fs::read_to_string(MAPS).ok()?;
    let mut found = None;
    for line in maps.lines() {
        if addresses.iter().any(|address| line_holds(line, *address)) {
            let executable = line.split_ascii_whitespace().nth(1)?.contains('x');
            found = Some(found.unwrap_or(false) || executable);
        }
    }
    found
}

/// Asks the kernel (6.11 and later) for the one mapping at `address`: whether it may be executed.
fn query(maps: &File, address: usize) -> Option<bool> {
    /// `struct procmap_query` of linux/fs.h.
    #[repr(C)]
    #[derive(Default)]
    struct Query {
        size: u64,
        query_flags: u64,
        query_addr: u64,
        vma_start: u64,
        vma_end: u64,
        vma_flags: u64,
        vma_page_size: u64,
        vma_offset: u64,
        inode: u64,
        dev_major: u32,
        dev_minor: u32,
        vma_name_size: u32,
        build_id_size: u32,
        vma_name_addr: u64,
        build_id_addr: u64,
    }
    /// `_IOWR('f', 17, struct procmap_query)`.
    const PROCMAP_QUERY: u64 =
        (3 << 30) | ((size_of::<Query>() as u64) << 16) | ((b'f' as u64) << 8) | 17;
    const EXECUTABLE: u64 = 4;
    if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        // Requests are numbered in another way.
        return None;
    }
    let mut query = Query {
        size: size_of::<Query>() as u64,
        query_addr: address as u64,
        ..Query::default()
    };
    // SAFETY: the kernel reads and writes a struct of the size that it says, and no name and no
    // fingerprint is asked for.
    let failed = unsafe { libc::ioctl(maps.as_raw_fd(), PROCMAP_QUERY as _, &raw mut query) };
    (failed == 0).then_some(query.vma_flags & EXECUTABLE != 0)
}

const MAPS: &str = "/proc/self/maps";

/// Whether `line` of the list of mappings is about the mapping that holds `address`.
fn line_holds(line: &str, address: usize) -> bool {
    let bounds = line.split_ascii_whitespace().next().unwrap_or_default();
    let number = |text: &str| usize::from_str_radix(text, 16).ok();
    bounds.split_once('-').is_some_and(|(start, end)| {
        matches!((number(start), number(end)), (Some(start), Some(end)) if (start..end).contains(&address))
    })
}

/// The device and number of a file, in the words of the kernel's list of mappings.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MappedFile {
    device: String,
    inode: u64,
}

impl MappedFile {
    /// The file that the memory at `address` is mapped from.
    pub(super) fn at(address: usize) -> Option<Self> {
        let maps = std::fs::read_to_string(MAPS).ok()?;
        let mut lines = maps.lines();
        lines
            .find(|line| line_holds(line, address))
            .and_then(Self::of_line)
    }

    /// What the list of mappings calls `file` on most file systems.
    fn by_stat(file: &File) -> Option<Self> {
        let data = file.metadata().ok()?;
        let device = data.dev();
        Some(Self {
            device: format!("{:02x}:{:02x}", libc::major(device), libc::minor(device)),
            inode: data.ino(),
        })
    }

    /// The file of a line of the list, if there is one.
    fn of_line(line: &str) -> Option<Self> {
        // start-end permissions offset device inode path
        let mut fields = line.split_ascii_whitespace();
        let device = fields.nth(3)?.to_owned();
        let inode = fields.next()?.parse().ok()?;
        (inode != 0).then_some(Self { device, inode })
    }

    /// What the list of mappings calls `file`. Some file systems give mappings another device
    /// number than `stat` does, so the file is mapped to find out.
    pub(super) fn of(file: &File) -> Option<Self> {
        // SAFETY: maps one page of a file that is open for reading, at a place that the kernel
        // chooses; the memory is never read.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                1,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let found = Self::at(address as usize);
        // SAFETY: unmaps what was mapped above, to which there is no reference.
        unsafe {
            libc::munmap(address, 1);
        }
        found
    }
}

/// The files that memory of this process is mapped from; all files where that cannot be found out.
pub(super) struct MappedFiles(Option<HashSet<MappedFile>>);

impl MappedFiles {
    /// As they are now.
    pub(super) fn of_process() -> Self {
        let maps = std::fs::read_to_string(MAPS).ok();
        Self(maps.map(|maps| maps.lines().filter_map(MappedFile::of_line).collect()))
    }

    pub(super) fn contains(&self, file: &File) -> bool {
        let Some(files) = &self.0 else {
            return true;
        };
        MappedFile::by_stat(file).is_some_and(|file| files.contains(&file))
            || MappedFile::of(file).is_none_or(|file| files.contains(&file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_among_the_images_and_mapped_from_its_file() {
        assert!(loaded().iter().any(|image| image.base != 0));
        let code = MappedFile::at(loaded as fn() -> Vec<Image> as usize);
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(code.is_some());
        assert_eq!(code, MappedFile::of(&file));
    }

    #[test]
    fn code_may_be_executed_and_data_may_not() {
        let heap = Box::new(0u8);
        let data = &raw const *heap as usize;
        let code = loaded as fn() -> Vec<Image> as usize;
        assert_eq!(is_any_executable(&[data, code]), Some(true));
        assert_eq!(is_any_executable(&[data, data]), Some(false));
        assert_eq!(is_any_executable(&[8]), None);
        // Where the kernel answers directly, it agrees with its list.
        let maps = File::open(MAPS).unwrap();
        if let Some(executable) = query(&maps, code) {
            assert!(executable);
            assert_eq!(query(&maps, data), Some(false));
            assert_eq!(query(&maps, 8), None);
        }
    }

    #[test]
    fn memory_without_a_file_is_mapped_from_none() {
        let heap = Box::new(0u8);
        assert_eq!(MappedFile::at(&raw const *heap as usize), None);
        assert_eq!(MappedFile::at(8), None);
    }
}
