//! What a file says about itself, and what is made of files that are wrong.
#![cfg(target_os = "linux")]

mod inspection;
mod shared_objects;

use std::{cell::Cell, fs, io};

use armnn_backend_api::{BackendVersion, sys};
use armnn_runtime::loader::{
    Code,
    inspect::{ExportState, HostInterface, Machine, ReadAt, inspect, inspect_path},
};
use inspection::{
    PT_DYNAMIC, PT_GNU_STACK, PT_INTERP, look_at, look_at_bytes, program_header, put, refused,
    sound,
};
use shared_objects::{Backend, Note, compile, directory};

#[test]
fn a_sound_backend_tells_everything_about_itself() {
    let root = directory();
    let library = compile(
        "int f(void) { return 1; }",
        &["-shared", "-fPIC"],
        root.path().join("libf.so"),
    );
    let file = Backend::new("Sound")
        .note(Note::new("Sound"))
        .source("extern int f(void); int g(void) { return f(); }")
        .flag("-Wl,-soname,Arm_Sound_backend.so.1")
        .flag("-Wl,-rpath,$ORIGIN/lib")
        .flag("-Wl,--enable-new-dtags")
        .flag("-Wl,-z,nodelete")
        .flag("-Wl,-z,now")
        .flag("-Wl,--build-id=0x0123456789abcdef")
        .flag(library.to_str().unwrap())
        .build(root.path().join("a.so"));
    let found = look_at(&file);
    assert_eq!(found.refusals, []);
    assert_eq!(found.size, fs::metadata(&file).unwrap().len());
    assert_eq!(found.class, Some(usize::BITS as u8));
    assert_eq!(found.byte_order, Some("little"));
    assert_eq!(found.machine, Machine::HOST);
    assert_eq!(found.file_type, Some(3));
    assert_eq!(found.interpreter, None);
    assert_eq!(found.soname.as_deref(), Some("Arm_Sound_backend.so.1"));
    assert_eq!(found.runpath.as_deref(), Some("$ORIGIN/lib"));
    assert_eq!(found.rpath, None);
    assert!(found.needed[0].ends_with("libf.so"), "{:?}", found.needed);
    assert_eq!(found.needed.len(), 1, "{:?}", found.needed);
    assert!(found.flags.no_delete && found.flags.bind_now);
    assert!(!found.flags.static_tls && !found.flags.pie && !found.flags.text_relocations);
    assert!(!found.executable_stack && !found.writable_code);
    assert_eq!(
        found.build_id.as_deref(),
        Some(&[1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef][..])
    );
    let exports: Vec<_> = found
        .exports
        .iter()
        .map(|e| (e.name, e.state.clone()))
        .collect();
    assert_eq!(
        exports,
        ["GetBackendId", "GetVersion", "BackendFactory"].map(|name| (name, ExportState::Function))
    );
    let note = found.note.unwrap();
    assert_eq!(note.format, 1);
    assert_eq!(note.api_version, BackendVersion::CURRENT);
    assert_eq!(note.backend_id.as_str(), "Sound");
    assert_eq!(note.toolchain, "cc");
    assert_eq!(note.package_version, "1.2.3");
}

#[test]
fn a_backend_without_a_note_is_accepted() {
    let root = directory();
    let found = look_at(&Backend::new("X").build(root.path().join("a.so")));
    assert_eq!(found.refusals, []);
    assert_eq!(found.note, None);
}

#[test]
fn symbols_are_found_by_every_hash_table_among_many_and_after_stripping() {
    let root = directory();
    let many: String = (0..400)
        .map(|i| format!("int f{i}(void) {{ return {i}; }}\n"))
        .collect();
    for flags in [
        &["-Wl,--hash-style=gnu"][..],
        &["-Wl,--hash-style=sysv"],
        &["-Wl,--hash-style=both"],
        &["-Wl,--hash-style=gnu", "-s"],
        &["-Wl,-Bsymbolic-functions", "-Wl,-O1"],
    ] {
        let mut backend = Backend::new("X").note(Note::new("X")).source(&many);
        for flag in flags {
            backend = backend.flag(flag);
        }
        let file = backend.build(root.path().join("a.so"));
        let found = look_at(&file);
        assert_eq!(found.refusals, [], "{flags:?}");
        assert!(found.note.is_some(), "{flags:?}");
        let without = Backend::new("X").version_function("").source(&many);
        let file = without.flag(flags[0]).build(root.path().join("b.so"));
        let refusal = refused(&look_at(&file), Code::MissingSymbol);
        assert!(refusal.message.contains("GetVersion"), "{refusal}");
        assert!(!refusal.message.contains("GetBackendId"), "{refusal}");
    }
}

#[test]
fn section_headers_do_not_matter() {
    let mut bytes = sound();
    put(&mut bytes, 40, &[0; 8]); // e_shoff
    put(&mut bytes, 58, &[0; 6]); // e_shentsize, e_shnum, e_shstrndx
    let found = look_at_bytes(&bytes);
    assert_eq!(found.refusals, []);
    assert!(found.note.is_some());
}

#[test]
fn what_is_no_elf_file_is_refused() {
    for bytes in [
        &b""[..],
        b"\x7fEL",
        b"Test file for dynamic backend file parsing",
        b"MZ\x90\0",
        b"\0",
    ] {
        refused(&look_at_bytes(bytes), Code::NotElf);
    }
    let message = refused(&look_at_bytes(b"<!DOCTYPE"), Code::NotElf).message;
    assert!(message.contains("\"<!DO\""), "{message}");
}

#[test]
fn files_for_other_machines_are_refused() {
    let mut bytes = sound();
    put(&mut bytes, 18, &8u16.to_le_bytes());
    let found = look_at_bytes(&bytes);
    let message = refused(&found, Code::WrongMachine).message;
    assert!(message.contains("mips"), "{message}");
    // It can still be looked at.
    assert!(found.note.is_some());
    assert_eq!(found.refusals.len(), 1);

    let mut bytes = sound();
    put(&mut bytes, 5, &[2]);
    refused(&look_at_bytes(&bytes), Code::WrongMachine);

    let mut bytes = sound();
    put(
        &mut bytes,
        4,
        &[if cfg!(target_pointer_width = "64") {
            1
        } else {
            2
        }],
    );
    refused(&look_at_bytes(&bytes), Code::WrongClass);
}

#[test]
fn programs_and_object_files_are_no_shared_objects() {
    let root = directory();
    let source = Backend::new("X").c_source() + "\nint main(void) { return 0; }";
    for (flags, what) in [
        (&["-fPIE", "-pie", "-rdynamic"][..], "a program"),
        (&["-no-pie", "-rdynamic"], "a program"),
        (&["-c", "-fPIC"], "an object file"),
    ] {
        let file = compile(&source, flags, root.path().join("a.so"));
        let message = refused(&look_at(&file), Code::NotSharedObject).message;
        assert!(message.contains(what), "{message}");
    }
    // Either sign of a program is enough.
    let mut bytes = fs::read(compile(
        &source,
        &["-fPIE", "-pie", "-rdynamic"],
        root.path().join("a.so"),
    ))
    .unwrap();
    let at = program_header(&bytes, PT_INTERP);
    put(&mut bytes, at, &0u32.to_le_bytes());
    refused(&look_at_bytes(&bytes), Code::NotSharedObject);
}

#[test]
fn a_file_without_a_dynamic_section_is_no_shared_object() {
    let mut bytes = sound();
    let at = program_header(&bytes, PT_DYNAMIC);
    put(&mut bytes, at, &0u32.to_le_bytes());
    refused(&look_at_bytes(&bytes), Code::NotSharedObject);
}

#[test]
fn missing_functions_are_named() {
    let root = directory();
    let file = root.path().join("a.so");
    let empty = compile("int x;", &["-shared", "-fPIC"], &file);
    let message = refused(&look_at(&empty), Code::MissingSymbol).message;
    assert!(
        message.contains("GetBackendId, GetVersion, BackendFactory"),
        "{message}"
    );

    for hidden in [
        "static const char *GetBackendId(void) { return 0; } void *p = GetBackendId;",
        "__attribute__((visibility(\"hidden\"))) const char *GetBackendId(void) { return 0; }",
        // Used, but not defined here.
        "extern const char *GetBackendId(void); void *p = GetBackendId;",
    ] {
        let file = Backend::new("X").id_function(hidden).build(&file);
        let message = refused(&look_at(&file), Code::MissingSymbol).message;
        assert!(
            message.contains("does not export GetBackendId"),
            "{message}"
        );
    }
}

#[test]
fn functions_with_cpp_linkage_are_recognized() {
    let root = directory();
    let file = Backend::new("X")
        .id_function("const char *_Z12GetBackendIdv(void) { return \"X\"; }")
        .build(root.path().join("a.so"));
    let refusal = refused(&look_at(&file), Code::MissingSymbol);
    assert!(refusal.message.contains("_Z12GetBackendIdv"), "{refusal}");
    assert!(refusal.hint.contains("extern \"C\""), "{}", refusal.hint);
}

#[test]
fn what_has_the_name_of_a_function_must_be_one() {
    let root = directory();
    for (source, what) in [
        ("int GetVersion = 1;", "a variable"),
        ("__thread int GetVersion = 1;", "a thread-local variable"),
        (
            "asm(\".globl GetVersion\\n.data\\nGetVersion: .long 1\\n.text\");",
            "without a type",
        ),
        (
            "asm(\".globl GetVersion\\n.type GetVersion,@function\\n.data\\n\
             GetVersion: .long 1\\n.text\");",
            "outside of the file's code",
        ),
    ] {
        let file = Backend::new("X")
            .version_function(source)
            .build(root.path().join("a.so"));
        let message = refused(&look_at(&file), Code::NotAFunction).message;
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn an_executable_stack_is_refused_asked_for_or_by_default() {
    let root = directory();
    let file = Backend::new("X")
        .flag("-Wl,-z,execstack")
        .build(root.path().join("a.so"));
    refused(&look_at(&file), Code::ExecutableStack);

    let mut bytes = sound();
    let at = program_header(&bytes, PT_GNU_STACK);
    put(&mut bytes, at, &0u32.to_le_bytes());
    let found = look_at_bytes(&bytes);
    if cfg!(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "arm"
    )) {
        refused(&found, Code::ExecutableStack);
    } else {
        assert_eq!(found.refusals, []);
    }
}

#[test]
fn a_damaged_note_is_refused() {
    let root = directory();
    let build = |note: Note| look_at(&Backend::new("X").note(note).build(root.path().join("a.so")));
    let sound = Note::new("X");
    let long = "x".repeat(64);
    let cases = [
        (
            "id",
            Note {
                id: "\"\"".into(),
                ..sound.clone()
            },
        ),
        (
            "id",
            Note {
                id: "\"Unknown\"".into(),
                ..sound.clone()
            },
        ),
        (
            "id",
            Note {
                id: "\"Has/../x\"".into(),
                ..sound.clone()
            },
        ),
        (
            "UTF-8",
            Note {
                id: "\"\\xff\"".into(),
                ..sound.clone()
            },
        ),
        (
            "no end",
            Note {
                id: format!("\"{long}\""),
                ..sound.clone()
            },
        ),
        (
            "format",
            Note {
                format: 0,
                ..sound.clone()
            },
        ),
        (
            "bytes instead",
            Note {
                descriptor_size: 212,
                ..sound.clone()
            },
        ),
        (
            "beyond",
            Note {
                descriptor_size: 100_000,
                ..sound.clone()
            },
        ),
    ];
    for (why, note) in cases {
        let message = refused(&build(note), Code::NoteInvalid).message;
        assert!(message.contains(why), "{message}");
    }
    // A later format that appends is read as far as it is known.
    let found = build(Note {
        format: 2,
        ..sound.clone()
    });
    assert_eq!(found.refusals, []);
    assert_eq!(found.note.unwrap().format, 2);
    // A longer id than any.
    let id = &long[..63];
    let found = build(Note {
        id: format!("\"{id}\""),
        ..sound.clone()
    });
    assert_eq!(found.note.unwrap().backend_id.as_str(), id);

    let twice = Backend::new("X").note(sound.clone()).source(
        "__attribute__((section(\".note.armnn\"), used, aligned(4)))
         static const __typeof__(note) second = {6, 216, 0x4e4e0001, \"ArmNN\", 1, 1, 0};",
    );
    let message = refused(
        &look_at(&twice.build(root.path().join("a.so"))),
        Code::NoteInvalid,
    )
    .message;
    assert!(message.contains("two"), "{message}");
}

#[test]
fn notes_of_others_are_passed_over() {
    let root = directory();
    let file = Backend::new("X")
        .note(Note::new("X"))
        .source(
            "__attribute__((section(\".note.other\"), used, aligned(4)))
             static const struct { uint32_t a[3]; char name[12]; char text[5]; } other =
             {{9, 5, 7}, \"Somebody\", \"note\"};",
        )
        .build(root.path().join("a.so"));
    let found = look_at(&file);
    assert_eq!(found.refusals, []);
    assert_eq!(found.note.unwrap().backend_id.as_str(), "X");
}

#[test]
fn versions_follow_the_rule_of_the_design() {
    let root = directory();
    // Backend, interface, compatible.
    for (backend, interface, compatible) in [
        ((2, 1), (2, 4), true),
        ((2, 4), (2, 4), true),
        ((2, 5), (2, 4), false),
        ((2, 4), (1, 0), false),
        ((2, 0), (3, 0), false),
    ] {
        let hashes = [7; 5];
        let host = HostInterface {
            version: BackendVersion::new(interface.0, interface.1),
            layout_hashes: &hashes,
        };
        let note = Note {
            version: BackendVersion::new(backend.0, backend.1),
            layout_hash: 7,
            ..Note::new("X")
        };
        let file = Backend::new("X").note(note).build(root.path().join("a.so"));
        let found = inspect_path(&file, host).unwrap();
        if compatible {
            assert_eq!(found.refusals, [], "{backend:?} {interface:?}");
        } else {
            let message = refused(&found, Code::VersionIncompatible).message;
            assert!(
                message.contains(&format!("{}.{}", backend.0, backend.1)),
                "{message}"
            );
            assert!(
                message.contains(&format!("{}.{}", interface.0, interface.1)),
                "{message}"
            );
        }
    }
}

#[test]
fn the_layout_is_compared_with_that_of_the_notes_own_minor() {
    let root = directory();
    let hashes = [0x1111_2222_3333_4444, 0x5555_6666_7777_8888];
    let host = HostInterface {
        version: BackendVersion::new(1, 1),
        layout_hashes: &hashes,
    };
    let build = |minor, layout_hash| {
        let note = Note {
            version: BackendVersion::new(1, minor),
            layout_hash,
            ..Note::new("X")
        };
        let file = Backend::new("X").note(note).build(root.path().join("a.so"));
        inspect_path(&file, host).unwrap()
    };
    assert_eq!(build(0, hashes[0]).refusals, []);
    assert_eq!(build(1, hashes[1]).refusals, []);
    assert_eq!(build(0, hashes[0]).note.unwrap().layout_hash, hashes[0]);
    for (minor, hash) in [(0, hashes[1]), (1, hashes[0]), (1, hashes[1] & 0xffff_ffff)] {
        let message = refused(&build(minor, hash), Code::LayoutMismatch).message;
        assert!(message.contains(&format!("{hash:016x}")), "{message}");
    }
}

#[test]
fn only_a_few_kilobytes_of_a_large_file_are_read() {
    struct Counting<'a>(&'a [u8], Cell<usize>);
    impl ReadAt for Counting<'_> {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let count = self.0.read_at(buffer, offset)?;
            self.1.set(self.1.get() + count);
            Ok(count)
        }
    }
    let root = directory();
    let file = Backend::new("X")
        .note(Note::new("X"))
        .source("char ballast[20 << 20] = {1};")
        .build(root.path().join("a.so"));
    let bytes = fs::read(file).unwrap();
    assert!(bytes.len() > 20 << 20);
    let counting = Counting(&bytes, Cell::new(0));
    let found = inspect(&counting, HostInterface::CURRENT);
    assert_eq!(found.refusals, []);
    assert!(counting.1.get() <= 32 << 10, "{} bytes", counting.1.get());
}

#[test]
fn the_note_of_the_interface_is_read_as_it_was_written() {
    // The struct that `declare_backend!` puts into the file, in the place of the C note.
    let note = sys::ArmnnNote::new("FromRust", "rustc 1.2.3 target", "0.9", 3);
    // SAFETY: the struct consists of u32 and u8 fields without padding (its size is asserted
    // where it is defined).
    let note = unsafe {
        std::slice::from_raw_parts((&raw const note).cast::<u8>(), size_of::<sys::ArmnnNote>())
    };
    let mut bytes = sound();
    let place = bytes
        .windows(20)
        .position(|window| window == &note[..20])
        .unwrap();
    put(&mut bytes, place, note);
    let found = look_at_bytes(&bytes);
    assert_eq!(found.refusals, []);
    let note = found.note.unwrap();
    assert_eq!(note.backend_id.as_str(), "FromRust");
    assert_eq!(note.toolchain, "rustc 1.2.3 target");
    assert_eq!(note.package_version, "0.9");
    assert_eq!(note.flags, 3);
    assert_eq!(note.api_version, BackendVersion::CURRENT);
}
