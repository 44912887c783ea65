//! The ELF header and the program headers.

use object::{
    NativeEndian, elf,
    read::elf::{FileHeader as _, ProgramHeader as _},
};

use super::{
    FileHeader, Inspection, Machine, ProgramHeader, ReadError, Reader, cannot_read, damaged,
    refusal,
};
use crate::loader::verdict::{Code, Refusal};

/// More program headers than any linker writes.
const MAX_PROGRAM_HEADERS: u64 = 128;
const HOST_CLASS: u8 = usize::BITS as u8;
const HOST_BYTE_ORDER: &str = if cfg!(target_endian = "little") {
    "little"
} else {
    "big"
};

/// What the program headers say.
pub(super) struct Headers {
    pub(super) segments: Segments,
    pub(super) dynamic: Option<Extent>,
    pub(super) notes: Vec<Extent>,
}

/// A piece of the file.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) align: u64,
}

/// The pieces of the file that are loaded into memory.
pub(super) struct Segments(Vec<Segment>);

struct Segment {
    address: u64,
    offset: u64,
    file_size: u64,
    memory_size: u64,
    is_executable: bool,
}

impl Segments {
    /// Where in the file the byte at `address` is, and how many bytes follow it in its segment,
    /// itself included.
    pub(super) fn locate(&self, address: u64) -> Option<(u64, u64)> {
        self.0.iter().find_map(|segment| {
            let within = address.checked_sub(segment.address)?;
            let rest = segment.file_size.checked_sub(within).filter(|r| *r > 0)?;
            Some((segment.offset.checked_add(within)?, rest))
        })
    }

    /// Whether `size` bytes from `address` on are in memory once the file is loaded.
    pub(super) fn contains(&self, address: u64, size: u64) -> bool {
        self.0.iter().any(|segment| {
            address
                .checked_sub(segment.address)
                .and_then(|within| within.checked_add(size))
                .is_some_and(|end| end <= segment.memory_size)
        })
    }

    /// Whether there is code at `address`.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.0.iter().any(|segment| {
            segment.is_executable
                && address
                    .checked_sub(segment.address)
                    .is_some_and(|within| within < segment.file_size)
        })
    }
}

impl Headers {
    pub(super) fn read(inspection: &mut Inspection, reader: &Reader<'_>) -> Result<Self, Refusal> {
        let header = read_file_header(inspection, reader)?;
        let endian = NativeEndian;
        let offset: u64 = header.e_phoff(endian).into();
        let count = u64::from(header.e_phnum(endian));
        let entry_size = size_of::<ProgramHeader>() as u64;
        if count == 0 {
            return Err(refusal(
                Code::NotSharedObject,
                "the file has no program headers, so it cannot be loaded",
            )
            .with_hint("build the backend with -shared"));
        }
        if u64::from(header.e_phentsize(endian)) != entry_size || count > MAX_PROGRAM_HEADERS {
            return Err(damaged("its program headers have an impossible size"));
        }
        let mut headers = Self {
            segments: Segments(Vec::new()),
            dynamic: None,
            notes: Vec::new(),
        };
        let mut states_stack = false;
        for index in 0..count {
            let program_header: ProgramHeader = offset
                .checked_add(index * entry_size)
                .ok_or(ReadError::OutOfRange)
                .and_then(|at| reader.read_pod(at))
                .map_err(|error| cannot_read(reader, "program headers", &error))?;
            headers.add(inspection, reader, &program_header)?;
            states_stack |= program_header.p_type(endian) == elf::PT_GNU_STACK;
        }
        if !states_stack {
            inspection.executable_stack = inspection
                .machine
                .is_some_and(Machine::defaults_to_executable_stack);
        }
        if headers.segments.0.is_empty() {
            return Err(damaged("nothing of it is to be loaded"));
        }
        Ok(headers)
    }

    fn add(
        &mut self,
        inspection: &mut Inspection,
        reader: &Reader<'_>,
        header: &ProgramHeader,
    ) -> Result<(), Refusal> {
        let endian = NativeEndian;
        let kind = header.p_type(endian);
        let flags = header.p_flags(endian).0;
        let extent = Extent {
            offset: header.p_offset(endian).into(),
            size: header.p_filesz(endian).into(),
            align: header.p_align(endian).into(),
        };
        if kind == elf::PT_GNU_STACK {
            inspection.executable_stack = flags & elf::PF_X.0 != 0;
            return Ok(());
        }
        let name = match kind {
            elf::PT_LOAD => "loaded segments",
            elf::PT_DYNAMIC => "dynamic section",
            elf::PT_NOTE => "notes",
            elf::PT_INTERP => "interpreter's name",
            elf::PT_TLS => "thread-local data",
            _ => return Ok(()),
        };
        let end = extent.offset.checked_add(extent.size);
        if end.is_none_or(|end| end > reader.size()) {
            return Err(cannot_read(reader, name, &ReadError::OutOfRange));
        }
        match kind {
            elf::PT_LOAD => self.add_segment(inspection, header, extent)?,
            elf::PT_DYNAMIC => self.dynamic = Some(extent),
            elf::PT_NOTE => self.notes.push(extent),
            elf::PT_INTERP => {
                let text = reader
                    .read_text(extent.offset, extent.offset + extent.size, 4096)
                    .map_err(|error| cannot_read(reader, name, &error))?;
                inspection.interpreter =
                    Some(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn add_segment(
        &mut self,
        inspection: &mut Inspection,
        header: &ProgramHeader,
        extent: Extent,
    ) -> Result<(), Refusal> {
        let endian = NativeEndian;
        let flags = header.p_flags(endian).0;
        let segment = Segment {
            address: header.p_vaddr(endian).into(),
            offset: extent.offset,
            file_size: extent.size,
            memory_size: header.p_memsz(endian).into(),
            is_executable: flags & elf::PF_X.0 != 0,
        };
        if segment.file_size > segment.memory_size {
            return Err(damaged("a segment is larger in the file than in memory"));
        }
        if segment.address.checked_add(segment.memory_size).is_none() {
            return Err(damaged("a segment reaches beyond the end of memory"));
        }
        // The dynamic linker maps from the first segment to the last, in this order.
        if let Some(last) = self.segments.0.last()
            && last.address + last.memory_size > segment.address
        {
            return Err(damaged("its segments are out of order or overlap"));
        }
        // Mapping works in whole pages, so address and offset must agree within one.
        if extent.align > 1
            && (!extent.align.is_power_of_two()
                || segment.address % extent.align != segment.offset % extent.align)
        {
            return Err(damaged("a segment is misaligned"));
        }
        inspection.writable_code |= segment.is_executable && flags & elf::PF_W.0 != 0;
        self.segments.0.push(segment);
        Ok(())
    }
}

/// Refuses position-independent programs, which the file type does not tell from shared objects.
pub(super) fn check_not_a_program(inspection: &mut Inspection) {
    if inspection.flags.pie || inspection.interpreter.is_some() {
        inspection.refusals.push(
            refusal(
                Code::NotSharedObject,
                "the file is a program, not a shared object",
            )
            .with_hint("build the backend with -shared"),
        );
    }
}

fn read_file_header(
    inspection: &mut Inspection,
    reader: &Reader<'_>,
) -> Result<FileHeader, Refusal> {
    let cannot_read = |error| cannot_read(reader, "ELF header", &error);
    let mut ident = [0; 16];
    let magic_size = reader.size().min(4) as usize;
    reader
        .read(&mut ident[..magic_size], 0)
        .map_err(cannot_read)?;
    if ident[..4] != elf::ELFMAG {
        return Err(not_elf(reader, &ident[..magic_size]));
    }
    reader.read(&mut ident, 0).map_err(cannot_read)?;

    inspection.class = match ident[4] {
        1 => Some(32),
        2 => Some(64),
        _ => None,
    };
    inspection.byte_order = match ident[5] {
        1 => Some("little"),
        2 => Some("big"),
        _ => None,
    };
    let mut numbers = [0; 4];
    reader.read(&mut numbers, 16).map_err(cannot_read)?;
    let number = |bytes: [u8; 2]| match inspection.byte_order {
        Some("big") => u16::from_be_bytes(bytes),
        _ => u16::from_le_bytes(bytes),
    };
    let (file_type, machine) = (
        number([numbers[0], numbers[1]]),
        Machine(number([numbers[2], numbers[3]])),
    );
    inspection.file_type = Some(file_type);
    inspection.machine = Some(machine);
    check_target(inspection, machine)?;

    if ident[6] != 1 {
        return Err(damaged("its ELF version is unknown"));
    }
    if file_type != elf::ET_DYN.0 {
        let what = match file_type {
            1 => "an object file",
            2 => "a program",
            4 => "a core dump",
            _ => "of an unknown type",
        };
        return Err(refusal(
            Code::NotSharedObject,
            format!("the file is {what}, not a shared object"),
        )
        .with_hint("build the backend with -shared"));
    }
    reader.read_pod(0).map_err(cannot_read)
}

/// Refuses files for other processors. One for another processor of this class and byte order can
/// still be read, which serves people who look at it; any other ends here.
fn check_target(inspection: &mut Inspection, machine: Machine) -> Result<(), Refusal> {
    let hint = "use the build of the backend for this machine";
    match inspection.class {
        Some(HOST_CLASS) => {}
        Some(class) => {
            return Err(refusal(
                Code::WrongClass,
                format!("the file is for {class}-bit processes, this one has {HOST_CLASS} bits"),
            )
            .with_hint(hint));
        }
        None => return Err(damaged("its class is neither 32 nor 64 bits")),
    }
    match inspection.byte_order {
        Some(HOST_BYTE_ORDER) => {}
        Some(order) => {
            return Err(refusal(
                Code::WrongMachine,
                format!("the file is {order}-endian ({machine}), this machine is not"),
            )
            .with_hint(hint));
        }
        None => return Err(damaged("its byte order is unknown")),
    }
    if let Some(host) = Machine::HOST
        && machine != host
    {
        inspection.refusals.push(
            refusal(
                Code::WrongMachine,
                format!("the file is for {machine}, this machine is {host}"),
            )
            .with_hint(hint),
        );
    }
    Ok(())
}

fn not_elf(reader: &Reader<'_>, magic: &[u8]) -> Refusal {
    let message = if reader.size() == 0 {
        "the file is empty".to_owned()
    } else {
        format!(
            "the file is not a shared object: it begins with \"{}\" instead of \"\\x7fELF\"",
            magic.escape_ascii()
        )
    };
    refusal(Code::NotElf, message).with_hint("build or install the file again")
}
