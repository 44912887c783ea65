//! The C header compiles without a warning, and says the same as the Rust declarations.

mod compiler;

use std::path::Path;

use armnn_backend_api::sys::{self, ArmnnNote};
use compiler::{Language, shared_object};
use object::read::elf::{FileHeader, ProgramHeader};

/// Uses every macro and function of the header.
const SOURCE: &str = r#"
#include "armnn_backend.h"

ARMNN_DECLARE_BACKEND_NOTE_WITH(ID, "1.2.3", ARMNN_NOTE_FLAG_PANIC_UNWIND);

static IBackendInternal backend = {NULL};

const char *GetBackendId(void) ARMNN_NOEXCEPT { return ID; }

void GetVersion(uint32_t *major, uint32_t *minor) ARMNN_NOEXCEPT {
    *major = ARMNN_API_MAJOR;
    *minor = ARMNN_API_MINOR;
}

IBackendInternal *BackendFactory(void) ARMNN_NOEXCEPT { return &backend; }

extern "C_LINKAGE" ARMNN_EXPORT ArmnnStatus use_everything(
    const ArmnnHostApi *api, const ArmnnSubgraphView *view, const ArmnnTensor *inputs,
    ArmnnTensor *outputs, size_t stride, ArmnnError *error) {
    if (ARMNN_COVERS(ArmnnHostApi, api, log) && ARMNN_HAS_SLOT(ArmnnHostApi, api, log)) {
        api->log(ARMNN_LOG_INFO, ArmnnStrFrom("target"), ArmnnStrFrom("message"));
    }
    if (ArmnnLayerAt(view, 1)->layer_type != ARMNN_LAYER_ELEMENTWISE_BINARY ||
        ArmnnTensorDescAt(view, 1)->producer == ARMNN_NO_LAYER ||
        ArmnnInputAt(inputs, stride, 1)->byte_len != ArmnnOutputAt(outputs, stride, 1)->byte_len) {
        return ArmnnSetError(error, ARMNN_STATUS_UNSUPPORTED, "no");
    }
    return ARMNN_STATUS_OK;
}
"#;

fn build(language: Language, arguments: &[&str], out: &Path) -> Result<(), String> {
    let linkage = match language {
        Language::C11 => "extern",
        Language::Cpp17 => r#"extern "C""#,
    };
    let source = out.with_extension("source");
    std::fs::write(&source, SOURCE.replace(r#"extern "C_LINKAGE""#, linkage)).unwrap();
    shared_object(language, &[source], arguments, out)
}

/// The bytes of the first note of type [`sys::ARMNN_NOTE_TYPE`], found through the program headers.
fn note_of(path: &Path) -> Option<Vec<u8>> {
    let data = std::fs::read(path).unwrap();
    let header = object::elf::FileHeader64::<object::Endianness>::parse(&*data).unwrap();
    let endian = header.endian().unwrap();
    for segment in header.program_headers(endian, &*data).unwrap() {
        let Some(mut notes) = segment.notes(endian, &*data).unwrap() else {
            continue;
        };
        let bytes = segment.data(endian, &*data).unwrap();
        while let Some(note) = notes.next().unwrap() {
            if note.n_type(endian).0 == sys::ARMNN_NOTE_TYPE && note.name() == b"ArmNN" {
                let size = size_of::<ArmnnNote>();
                let descriptor = note.desc().as_ptr() as usize - bytes.as_ptr() as usize;
                let start = descriptor - (size - sys::ARMNN_NOTE_DESCRIPTOR_SIZE as usize);
                return Some(bytes[start..start + size].to_vec());
            }
        }
    }
    None
}

fn bytes(note: &ArmnnNote) -> &[u8] {
    // SAFETY: the note has no padding, which its size shows: it is asserted beside the struct.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(note).cast(), size_of::<ArmnnNote>()) }
}

fn languages() -> impl Iterator<Item = Language> {
    [Language::C11, Language::Cpp17]
        .into_iter()
        .filter(|&language| {
            let available = language == Language::C11 || language.is_available();
            if !available {
                skipped_tests::skip("there is no C++ compiler");
            }
            available
        })
}

const ID: &str = r#"-DID="Header_Test.1-x""#;

#[test]
fn the_header_compiles_without_a_warning_and_its_note_is_that_of_rust() {
    let folder = tempfile::tempdir().unwrap();
    for language in languages() {
        let path = folder.path().join(format!("{language:?}.so"));
        build(
            language,
            &[ID, r#"-DARMNN_TOOLCHAIN="a compiler 1.0""#],
            &path,
        )
        .unwrap();
        let expected = ArmnnNote::new(
            "Header_Test.1-x",
            "a compiler 1.0",
            "1.2.3",
            sys::ARMNN_NOTE_FLAG_PANIC_UNWIND,
        );
        assert_eq!(note_of(&path).unwrap(), bytes(&expected), "{language:?}");
    }
}

#[test]
fn the_note_names_the_compiler_by_itself_and_survives_stripping() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.so");
    build(Language::C11, &[ID, "-s", "-Wl,--gc-sections"], &path).unwrap();
    let note = note_of(&path).unwrap();
    let toolchain = String::from_utf8(note[108..204].to_vec()).unwrap();
    let toolchain = toolchain.trim_end_matches('\0');
    assert!(
        toolchain.starts_with("gcc ") || toolchain.starts_with("clang "),
        "{toolchain}"
    );
    assert!(
        toolchain.ends_with(std::env::consts::ARCH),
        "{toolchain} does not name the target"
    );
}

#[test]
fn texts_that_do_not_fit_the_note_are_refused_by_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.so");
    for language in languages() {
        let longest = format!(r#"-DID="{}""#, "x".repeat(63));
        build(language, &[&longest], &path).unwrap();
        let too_long = format!(r#"-DID="{}""#, "x".repeat(64));
        let message = build(language, &[&too_long], &path).unwrap_err();
        assert!(message.contains("more than 63 bytes"), "{message}");
        let toolchain = format!(r#"-DARMNN_TOOLCHAIN="{}""#, "x".repeat(96));
        let message = build(language, &[ID, &toolchain], &path).unwrap_err();
        assert!(message.contains("define ARMNN_TOOLCHAIN"), "{message}");
    }
}

#[test]
fn a_function_that_may_throw_does_not_fit_a_table_in_cpp17() {
    if !Language::Cpp17.is_available() {
        skipped_tests::skip("there is no C++ compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("a.cc");
    let text = |specifier: &str| {
        format!(
            "#include \"armnn_backend.h\"\n\
             static void destroy(ArmnnExecution *) {specifier} {{}}\n\
             extern const ArmnnExecutionTable table;\n\
             const ArmnnExecutionTable table = \
             {{sizeof(ArmnnExecutionTable), destroy, nullptr, nullptr}};\n"
        )
    };
    let out = folder.path().join("a.so");
    std::fs::write(&source, text("noexcept")).unwrap();
    shared_object(Language::Cpp17, std::slice::from_ref(&source), &[], &out).unwrap();
    std::fs::write(&source, text("")).unwrap();
    let message = shared_object(Language::Cpp17, &[source], &[], &out).unwrap_err();
    assert!(message.contains("noexcept"), "{message}");
}

#[test]
fn an_error_message_is_cut_between_characters_and_within_the_callers_room() {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("a.c"), folder.path().join("a.so"));
    std::fs::write(
        &source,
        "#include \"armnn_backend.h\"\n\
         ARMNN_EXPORT ArmnnStatus set(ArmnnError *error, const char *message);\n\
         ArmnnStatus set(ArmnnError *error, const char *message) {\n\
         return ArmnnSetError(error, ARMNN_STATUS_ERROR, message);\n}\n",
    )
    .unwrap();
    shared_object(Language::C11, &[source], &[], &out).unwrap();
    type Set = unsafe extern "C" fn(*mut sys::ArmnnError, *const core::ffi::c_char) -> i32;
    // SAFETY: the library was just built from the source above, with this signature.
    unsafe {
        let library = libloading::Library::new(&out).unwrap();
        let set = library.get::<Set>(b"set").unwrap();
        let mut error = armnn_backend_api::guard::error_buffer();
        let long = std::ffi::CString::new("ü".repeat(300)).unwrap();
        assert_eq!(set(&mut error, long.as_ptr()), sys::ARMNN_STATUS_ERROR);
        let read = armnn_backend_api::guard::read_error(error.status, &error).unwrap_err();
        assert_eq!(read.message(), "ü".repeat(248));

        error.struct_size = std::mem::offset_of!(sys::ArmnnError, message) + 3;
        error.message[3] = 77;
        set(&mut error, long.as_ptr());
        assert_eq!((error.len, error.message[3]), (2, 77));
        set(&mut error, c"abcdef".as_ptr());
        assert_eq!((error.len, error.message[3]), (3, 77));

        assert_eq!(
            set(std::ptr::null_mut(), c"a".as_ptr()),
            sys::ARMNN_STATUS_ERROR
        );
    }
}
