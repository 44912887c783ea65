//! Opening libraries, asking them who they are, and closing them.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod shared_objects;

use std::{fs, path::Path};

use armnn_backend_api::{BackendVersion, sys::ARMNN_API_MINOR};
use armnn_runtime::{
    backend_registry::FactoryFunction,
    dynamic_backend::{DynamicBackend, DynamicBackendError},
    dynamic_backend_utils::{
        close_handle, get_backend_paths, get_entry_point, is_backend_compatible, is_path_valid,
        load_dynamic_backend, open_handle,
    },
    loader::{
        Code, Handle, PinCause, Refusal, Stage, UnloadOutcome,
        discover::{Candidate, Found, discover},
        inspect::HostInterface,
        paths::{PathSources, usable_paths},
    },
};
use shared_objects::{Backend, Note, compile, directory};

const INTERFACE: BackendVersion = BackendVersion::CURRENT;

fn open(path: &Path) -> Result<Handle, DynamicBackendError> {
    // SAFETY: the tests' own libraries, whose initialization does no harm.
    unsafe { open_handle(path) }
}

fn create(handle: Option<Handle>) -> Result<DynamicBackend, DynamicBackendError> {
    // SAFETY: the tests' own libraries have the functions of the interface.
    unsafe { DynamicBackend::new(handle, INTERFACE) }
}

fn candidate(file: &Path) -> Candidate {
    discover(&[file.parent().unwrap()])
        .into_iter()
        .find_map(|found| match found {
            Found::Candidate(candidate) if candidate.path == file => Some(candidate),
            _ => None,
        })
        .expect("the file is a candidate")
}

/// Takes `file` through the stages `inspect` to `identify`.
fn load(file: &Path) -> Result<DynamicBackend, Refusal> {
    let candidate = candidate(file);
    let inspection = candidate.inspect(HostInterface::CURRENT);
    assert_eq!(inspection.refusals, []);
    // SAFETY: the tests' own libraries, which do no harm.
    unsafe { load_dynamic_backend(&candidate, &inspection, HostInterface::CURRENT) }
}

#[track_caller]
fn refused(file: &Path, stage: Stage, code: Code) -> Refusal {
    let refusal = load(file).expect_err("it is refused");
    assert_eq!((refusal.stage, refusal.code), (stage, code), "{refusal}");
    refusal
}

/// A library with a C function, one with a mangled name and one that is hidden.
fn test_library(root: &Path) -> std::path::PathBuf {
    compile(
        "int TestFunction1(int i) { return i; } int _Z13TestFunction2i(int i) { return i; }
         __attribute__((visibility(\"hidden\"))) int TestFunction3(int i) { return i; }",
        &["-shared", "-fPIC"],
        root.join("libTestSharedObject.so"),
    )
}

#[test]
fn a_library_opens_and_closes() {
    let root = directory();
    let library = test_library(root.path());
    let handle = open(&library).unwrap();
    assert_eq!(handle.path(), library);
    assert_eq!(close_handle(Some(handle)), Some(UnloadOutcome::Unmapped));
}

#[test]
fn closing_nothing_is_no_error() {
    assert_eq!(close_handle(None), None);
}

#[test]
fn what_cannot_be_opened_is_an_error_in_the_words_of_the_dynamic_linker() {
    assert!(matches!(
        open(Path::new("")),
        Err(DynamicBackendError::EmptyPath)
    ));
    let root = directory();
    let text = root.path().join("libNoSharedObject.txt");
    fs::write(&text, "This is not a shared object").unwrap();
    for (path, words) in [
        (text, "libNoSharedObject.txt"),
        (root.path().join("NotExistingFileName"), "No such file"),
    ] {
        let error = open(&path).unwrap_err();
        let DynamicBackendError::OpenFailed {
            path: named,
            reason,
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(named, &path);
        assert!(reason.contains(words), "{reason}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn entry_points_are_found_by_their_exact_name() {
    type Function = unsafe extern "C" fn(i32) -> i32;
    let root = directory();
    let handle = open(&test_library(root.path())).unwrap();
    let find = |handle, name| {
        // SAFETY: the library's functions have this signature, and its handle stays open.
        unsafe { get_entry_point::<Function>(handle, name) }
    };
    let function = find(Some(&handle), "TestFunction1").unwrap();
    // SAFETY: the library is open.
    assert_eq!(unsafe { function(7) }, 7);
    for name in ["TestFunction2", "TestFunction3", "TestFunction4"] {
        let error = find(Some(&handle), name).unwrap_err();
        assert!(matches!(error, DynamicBackendError::MissingSymbol { .. }));
        let text = error.to_string();
        assert!(
            text.contains(name) && text.contains("undefined symbol"),
            "{text}"
        );
    }
    assert!(matches!(
        find(Some(&handle), ""),
        Err(DynamicBackendError::EmptySymbolName { .. })
    ));
    assert!(matches!(
        find(Some(&handle), "a\0b"),
        Err(DynamicBackendError::MissingSymbol { .. })
    ));
    assert!(matches!(
        find(None, "TestFunction1"),
        Err(DynamicBackendError::NoHandle { .. })
    ));
}

#[test]
fn handles_and_backends_may_move_and_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Handle>();
    shared::<DynamicBackend>();
}

#[test]
fn the_paths_to_search_are_reported_with_what_is_wrong_with_them() {
    let root = directory();
    let sources = PathSources {
        option: vec![root.path().join("none"), root.path().into()],
        ..PathSources::default()
    };
    let reports = get_backend_paths(&sources);
    let states: Vec<_> = reports
        .iter()
        .map(|report| {
            (
                report.source.as_str(),
                report.status.as_str(),
                report.message.is_empty(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [("option", "path-invalid", false), ("option", "ok", true)]
    );
    let usable: Vec<_> = usable_paths(&reports).collect();
    assert_eq!(usable, [root.path()]);
}

#[test]
fn versions_and_paths_are_judged_by_the_rules() {
    let interface = BackendVersion::new(2, 4);
    for (version, compatible) in [
        ((2, 4), true),
        ((3, 4), false),
        ((1, 4), false),
        ((2, 5), false),
        ((2, 3), true),
    ] {
        let version = BackendVersion::new(version.0, version.1);
        assert_eq!(
            is_backend_compatible(version, interface),
            compatible,
            "{version}"
        );
    }
    let root = directory();
    assert!(is_path_valid(root.path()));
    assert!(!is_path_valid(&root.path().join("none")));
}

#[test]
fn a_dynamic_backend_knows_its_id_version_and_factory() {
    let root = directory();
    let file = Backend::new("ValidTestDynamicBackend").build(root.path().join("libValid.so"));
    let mut backend = create(Some(open(&file).unwrap())).unwrap();
    assert_eq!(backend.backend_id().as_str(), "ValidTestDynamicBackend");
    assert_eq!(backend.version(), INTERFACE);
    assert!(backend.is_loaded());
    assert_eq!(backend.handle().unwrap().path(), file);
    let factory: FactoryFunction = backend.factory_function().unwrap();
    // SAFETY: the library is open, and its factory returns the address of a variable.
    assert!(!unsafe { factory() }.is_null());

    assert_eq!(backend.close(), Some(UnloadOutcome::Unmapped));
    assert!(!backend.is_loaded());
    assert!(backend.factory_function().is_none());
    assert_eq!(backend.close(), None);
    assert_eq!(backend.backend_id().as_str(), "ValidTestDynamicBackend");
}

#[test]
fn a_released_handle_stays_open() {
    let root = directory();
    let file = Backend::new("X").build(root.path().join("a.so"));
    let mut backend = create(Some(open(&file).unwrap())).unwrap();
    let handle = backend.release().unwrap();
    assert!(!backend.is_loaded());
    assert!(backend.release().is_none());
    drop(backend);
    // SAFETY: the signature is that of the library's function, which is open.
    let id = unsafe { get_entry_point::<FactoryFunction>(Some(&handle), "BackendFactory") };
    assert!(id.is_ok());
    assert_eq!(handle.close(), UnloadOutcome::Unmapped);
}

#[test]
fn without_a_handle_there_is_no_dynamic_backend() {
    assert!(matches!(create(None), Err(DynamicBackendError::NullHandle)));
}

#[test]
fn a_missing_function_is_an_error_that_names_it() {
    let root = directory();
    let whole = Backend::new("InvalidTestDynamicBackend");
    for (backend, missing) in [
        (whole.clone().id_function(""), "GetBackendId"),
        (whole.clone().version_function(""), "GetVersion"),
        (whole.clone().factory_function(""), "BackendFactory"),
    ] {
        let file = backend.build(root.path().join(format!("{missing}.so")));
        let error = create(Some(open(&file).unwrap())).unwrap_err();
        let DynamicBackendError::Refused(refusal) = error else {
            panic!("{error:?}");
        };
        assert_eq!(
            (refusal.stage, refusal.code),
            (Stage::Bind, Code::MissingSymbol)
        );
        assert!(refusal.message.contains(missing), "{refusal}");
    }
}

#[test]
fn a_factory_that_makes_nothing_is_no_error_yet() {
    let root = directory();
    let file = Backend::new("InvalidTestDynamicBackend")
        .factory_function("void *BackendFactory(void) { return 0; }")
        .build(root.path().join("a.so"));
    let backend = create(Some(open(&file).unwrap())).unwrap();
    // SAFETY: the library is open.
    assert!(unsafe { backend.factory_function().unwrap()() }.is_null());
}

#[test]
fn an_incompatible_version_ends_it_before_the_id_is_asked_for() {
    let root = directory();
    // Asking would end the process.
    let backend =
        Backend::new("X").id_function("const char *GetBackendId(void) { __builtin_trap(); }");
    let major = INTERFACE.major;
    for (index, version) in [
        BackendVersion::new(0, 7),
        BackendVersion::new(major + 1, 0),
        BackendVersion::new(major, ARMNN_API_MINOR + 1),
    ]
    .into_iter()
    .enumerate()
    {
        let file = root.path().join(format!("Arm_X_backend.so.{index}"));
        let file = backend.clone().version(version).build(file);
        let refusal = refused(&file, Stage::Identify, Code::VersionIncompatible);
        assert!(refusal.message.contains(&version.to_string()), "{refusal}");
    }
    let silent = backend.version_function("void GetVersion(uint32_t *major, uint32_t *minor) {}");
    let file = silent.build(root.path().join("Arm_Silent_backend.so"));
    refused(&file, Stage::Identify, Code::VersionIncompatible);
}

#[test]
fn ids_that_are_none_are_refused_and_do_no_harm() {
    let root = directory();
    for (index, (expression, why)) in [
        ("(const char *)0", "null"),
        ("\"\"", "empty"),
        ("\"Unknown\"", "reserved"),
        ("\"Has/../x\"", "consists of"),
        ("\"\\xff\\xfe\"", "UTF-8"),
        ("(const char *)8", "not there"),
        ("(const char *)-1", "not there"),
        ("(const char *)0x8000000000000000", "not there"),
        (
            "\"0123456789012345678901234567890123456789012345678901234567890123\"",
            "more than 63",
        ),
        ("calls++ ? \"Second\" : \"First\"", "the next time"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = Backend::new("X")
            .id_function(&format!(
                "static int calls; const char *GetBackendId(void) {{ return {expression}; }}"
            ))
            .build(root.path().join(format!("Arm_X_backend.so.{index}")));
        let refusal = refused(&file, Stage::Identify, Code::IdInvalid);
        assert!(refusal.message.contains(why), "{expression}: {refusal}");
    }
}

#[test]
fn an_unterminated_id_at_the_end_of_memory_does_no_harm() {
    let root = directory();
    let file = Backend::new("X")
        .id_function(
            "#include <sys/mman.h>
             const char *GetBackendId(void) {
                 char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                 munmap(page + 4096, 4096);
                 page[4095] = 'X';
                 return page + 4095;
             }",
        )
        .build(root.path().join("Arm_X_backend.so"));
    refused(&file, Stage::Identify, Code::IdInvalid);
}

#[test]
fn the_functions_must_say_what_the_note_says() {
    let root = directory();
    let file = Backend::new("Other")
        .note(Note::new("X"))
        .build(root.path().join("Arm_X_backend.so"));
    let refusal = refused(&file, Stage::Identify, Code::NoteMismatch);
    assert!(
        refusal.message.contains("'Other'") && refusal.message.contains("'X'"),
        "{refusal}"
    );

    let file = Backend::new("X")
        .note(Note::new("X"))
        .build(root.path().join("Arm_Y_backend.so"));
    assert_eq!(load(&file).unwrap().backend_id().as_str(), "X");
}

#[test]
fn an_undefined_symbol_is_an_error_at_opening() {
    let root = directory();
    let file = Backend::new("X")
        .source("extern void nowhere_to_be_found(void); void call(void) { nowhere_to_be_found(); }")
        .build(root.path().join("Arm_X_backend.so"));
    let refusal = refused(&file, Stage::Open, Code::OpenFailed);
    assert!(refusal.message.contains("nowhere_to_be_found"), "{refusal}");
}

#[test]
fn the_library_that_is_missing_is_named_however_deep() {
    let root = directory();
    let at = |name: &str| root.path().join(name);
    let link = |name: &str, source: &str, needs: &str| {
        let folder = root.path().to_str().unwrap();
        compile(
            source,
            &[
                "-shared",
                "-fPIC",
                "-L",
                folder,
                needs,
                "-Wl,-rpath,$ORIGIN",
                "-Wl,--allow-shlib-undefined",
            ],
            at(name),
        );
    };
    link(
        "libdeepest.so",
        "int deepest(void) { return 1; }",
        "-Wl,--as-needed",
    );
    link(
        "libmiddle.so",
        "extern int deepest(void); int middle(void) { return deepest(); }",
        "-ldeepest",
    );
    let folder = root.path().to_str().unwrap();
    let backend = Backend::new("X")
        .source("extern int middle(void); int call(void) { return middle(); }")
        .flag("-L")
        .flag(folder)
        .flag("-lmiddle")
        .flag("-Wl,-rpath,$ORIGIN")
        .flag("-Wl,--allow-shlib-undefined");
    let file = backend.build(at("Arm_X_backend.so"));
    // All there: it loads.
    assert!(load(&file).is_ok());

    fs::remove_file(at("libdeepest.so")).unwrap();
    let refusal = refused(&file, Stage::Open, Code::MissingDependency);
    assert!(
        refusal.message.contains("libdeepest.so, needed by "),
        "{refusal}"
    );
    assert!(
        refusal.message.contains("libmiddle.so, is not"),
        "{refusal}"
    );
    assert!(refusal.hint.contains("libdeepest.so"), "{}", refusal.hint);

    // A file of that name that the dynamic linker passes over is as good as none.
    fs::write(at("libdeepest.so"), "").unwrap();
    assert_eq!(load(&file).unwrap_err().stage, Stage::Open);
    fs::remove_file(at("libmiddle.so")).unwrap();
    let refusal = refused(&file, Stage::Open, Code::MissingDependency);
    assert!(
        refusal.message.contains("libmiddle.so, needed by "),
        "{refusal}"
    );
    assert!(
        refusal.message.contains("Arm_X_backend.so, is not"),
        "{refusal}"
    );
}

#[test]
fn a_refused_library_is_closed_again() {
    let root = directory();
    let file = Backend::new("Unknown").build(root.path().join("Arm_X_backend.so"));
    refused(&file, Stage::Identify, Code::IdInvalid);
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains(file.to_str().unwrap()));
}

#[test]
fn what_pins_a_library_is_named() {
    let root = directory();
    let plain = Backend::new("X");
    let close = |file: &Path| open(file).unwrap().close();

    let file = plain.build(root.path().join("plain.so"));
    assert_eq!(close(&file), UnloadOutcome::Unmapped);

    let file = plain
        .clone()
        .flag("-Wl,-z,nodelete")
        .build(root.path().join("nodelete.so"));
    assert_eq!(close(&file), UnloadOutcome::Pinned(PinCause::NoDelete));

    // What g++ makes of a static variable of an inline function.
    let file = plain
        .clone()
        .source(
            "asm(\".globl unique\\n.type unique,%gnu_unique_object\\n.size unique,4\\n\
             .data\\nunique: .long 1\\n.text\");
             extern int unique; int *user = &unique;",
        )
        .build(root.path().join("unique.so"));
    assert_eq!(close(&file), UnloadOutcome::Pinned(PinCause::UniqueSymbols));
}

#[test]
fn a_library_that_another_handle_holds_stays_until_that_is_closed() {
    let root = directory();
    let file = Backend::new("X").build(root.path().join("a.so"));
    let other = Backend::new("Y").build(root.path().join("b.so"));
    let [first, second] = [open(&file).unwrap(), open(&file).unwrap()];
    assert!(first.is_same_library(&second));
    assert!(!first.is_same_library(&open(&other).unwrap()));
    assert_eq!(first.close(), UnloadOutcome::Pinned(PinCause::StillUsed));
    assert_eq!(second.close(), UnloadOutcome::Unmapped);
}

#[test]
fn libraries_with_the_same_symbols_are_kept_apart() {
    let root = directory();
    // Each asks itself by way of a symbol that the other has too.
    let backend = |id: &str| {
        Backend::new(id)
            .id_function(&format!(
                "const char *name(void) {{ return \"{id}\"; }}
                 const char *GetBackendId(void) {{ return name(); }}"
            ))
            .build(root.path().join(format!("Arm_{id}_backend.so")))
    };
    let [a, b] = ["First", "Second"].map(|id| load(&backend(id)).unwrap());
    assert_eq!(a.backend_id().as_str(), "First");
    assert_eq!(b.backend_id().as_str(), "Second");
}

/// The dynamic linker alone would give the old library for the path of the new one.
#[test]
fn a_new_file_in_the_place_of_one_that_is_still_in_memory_is_not_mistaken_for_it() {
    let root = directory();
    let path = root.path().join("Arm_X_backend.so");
    let pinned = |id: &str| Backend::new(id).flag("-Wl,-z,nodelete").build(&path);
    let old = load(&pinned("X")).unwrap();
    // The same file again is no problem.
    drop(load(&path).unwrap());
    for version in ["Second", "Third", "Fourth"] {
        let new = load(&pinned(version)).unwrap();
        assert_eq!(new.backend_id().as_str(), version);
        assert_eq!(new.handle().unwrap().path(), path);
        let again = load(&path).unwrap();
        assert_eq!(again.backend_id().as_str(), version);
        assert!(
            again
                .handle()
                .unwrap()
                .is_same_library(new.handle().unwrap())
        );
        assert!(!old.handle().unwrap().is_same_library(new.handle().unwrap()));
    }
}

#[test]
fn a_file_that_is_overwritten_while_it_is_in_use_is_not_given_to_others() {
    use std::io::Write as _;
    let root = directory();
    let path = Backend::new("X").build(root.path().join("Arm_X_backend.so"));
    let old = load(&path).unwrap();
    // The same bytes, so that what is in memory stays what it was; only the time tells.
    let bytes = fs::read(&path).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(&bytes).unwrap();
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    file.set_modified(an_hour_ago).unwrap();
    drop(file);
    let refusal = refused(&path, Stage::Open, Code::OpenFailed);
    assert!(refusal.message.contains("overwritten"), "{refusal}");
    assert!(refusal.hint.contains("rename"), "{}", refusal.hint);
    // Its destructors are not run, so that it stays, and only another process gets the new one.
    assert_eq!(old.backend_id().as_str(), "X");
    assert!(old.handle().unwrap().is_overwritten());
    drop(old);
    refused(&path, Stage::Open, Code::OpenFailed);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_library_that_flushes_denormals_does_not_change_this_thread() {
    let root = directory();
    let file = Backend::new("X")
        .source(
            "static void flush(void) { __builtin_ia32_ldmxcsr(0x9fc0); }
             __attribute__((constructor)) static void constructor(void) { flush(); }
             __attribute__((destructor)) static void destructor(void) { flush(); }",
        )
        .version_function(
            "static void flush(void);
             void GetVersion(uint32_t *major, uint32_t *minor)
             { *major = 1; *minor = 0; flush(); }",
        )
        .build(root.path().join("Arm_X_backend.so"));
    let tiny = || std::hint::black_box(1e-39_f32) * std::hint::black_box(1.0) != 0.0;
    let backend = load(&file).unwrap();
    assert!(tiny());
    drop(backend);
    assert!(tiny());
}
