//! Backends that are sound, and what they bring in is not: every way in which the dynamic linker comes
//! upon a library is looked at before it does.
#![cfg(all(target_os = "linux", feature = "dynamic-backends"))]

mod nest;
mod shared_objects;

use std::{fs, path::PathBuf, time::Instant};

use armnn_runtime::loader::{Code, Stage, Status};
use nest::Nest;
use shared_objects::{Backend, compile};

/// Builds `lib<name>.so` in the nest. Each test has a name of its own: the tests of this program run
/// side by side, and the dynamic linker gives a backend the library of that name which another has
/// brought into memory.
fn library(nest: &Nest, name: &str, source: &str) -> PathBuf {
    let file = nest.root.path().join(format!("lib{name}.so"));
    compile(source, &["-shared", "-fPIC"], file)
}

/// The backend `X`, which looks for libraries beside itself.
fn backend(nest: &Nest, source: &str, flags: &[&str]) -> PathBuf {
    let folder = nest.root.path().to_str().unwrap();
    let mut backend = Backend::new("X").source(source).flag("-L").flag(folder);
    for flag in flags {
        backend = backend.flag(flag);
    }
    backend.flag("-Wl,-rpath,$ORIGIN").build(nest.at("X"))
}

const SOURCE: &str = "char ballast[1 << 16] = {1}; int deep(void) { return ballast[5]; }";
const CALL: &str = "extern int deep(void); int call(void) { return deep(); }";

#[test]
fn a_library_for_this_processor_that_is_cut_short_is_found_before_the_one_beside_it() {
    let nest = Nest::new();
    let library = library(&nest, "processor", SOURCE);
    let whole = fs::read(&library).unwrap();
    for directory in [
        "glibc-hwcaps/x86-64-v2",
        "glibc-hwcaps/power9",
        "tls",
        "haswell",
        "x86_64",
        "tls/haswell/x86_64",
    ] {
        let nest = Nest::new();
        fs::copy(&library, nest.root.path().join("libprocessor.so")).unwrap();
        backend(&nest, CALL, &["-lprocessor"]);
        let folder = nest.root.path().join(directory);
        fs::create_dir_all(&folder).unwrap();
        // A sound one does no harm.
        fs::write(folder.join("libprocessor.so"), &whole).unwrap();
        assert_eq!(nest.verdict("X").status, Status::Loaded, "{directory}");
        fs::remove_file(folder.join("libprocessor.so")).unwrap();
        fs::write(folder.join("libprocessor.so"), &whole[..whole.len() / 2]).unwrap();
        let words = [directory, "ends before"];
        nest.refuses("X", Stage::Open, Code::OpenFailed, &words);
    }
}

/// What was loaded by its path, and gives itself no name, is not what another library of the same file
/// name needs.
#[test]
fn a_library_in_memory_that_goes_by_no_name_does_not_hide_one_that_is_cut_short() {
    let (elsewhere, nest) = (Nest::new(), Nest::new());
    // SAFETY: it only has a function and bytes.
    let _loaded = unsafe { libloading::Library::new(library(&elsewhere, "nameless", SOURCE)) };
    let library = library(&nest, "nameless", SOURCE);
    let whole = fs::read(&library).unwrap();
    backend(&nest, CALL, &["-lnameless"]);
    fs::remove_file(&library).unwrap();
    fs::write(&library, &whole[..whole.len() / 2]).unwrap();
    let words = ["libnameless.so", "ends before"];
    nest.refuses("X", Stage::Open, Code::OpenFailed, &words);
}

/// The dynamic linker loads these as well, wherever it finds them.
#[test]
fn a_library_that_stands_in_for_the_backend_and_is_cut_short_is_found() {
    for flag in [
        "-Wl,--auxiliary,libinstead.so",
        "-Wl,--filter,libinstead.so",
    ] {
        let nest = Nest::new();
        let library = library(&nest, "instead", SOURCE);
        let whole = fs::read(&library).unwrap();
        backend(&nest, "", &[flag]);
        fs::remove_file(&library).unwrap();
        fs::write(&library, &whole[..whole.len() / 2]).unwrap();
        let words = ["libinstead.so", "ends before"];
        nest.refuses("X", Stage::Open, Code::OpenFailed, &words);
    }
}

#[test]
fn a_library_with_a_damaged_table_is_found_before_the_dynamic_linker_dies_of_it() {
    let nest = Nest::new();
    let source = "int value; int *place = &value; int deep(void) { return *place; }";
    let library = library(&nest, "table", source);
    backend(&nest, CALL, &["-ltable"]);
    assert_eq!(nest.verdict("X").status, Status::Loaded);
    let mut bytes = fs::read(&library).unwrap();
    let number = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let headers = number(&bytes, 32);
    let dynamic = (headers..)
        .step_by(56)
        .find(|at| bytes[*at..at + 4] == 2u32.to_le_bytes())
        .unwrap();
    let mut entries = (number(&bytes, dynamic + 8)..).step_by(16);
    // DT_RELA; the file and the memory agree there.
    let table = entries.find(|at| number(&bytes, *at) == 7).unwrap();
    let relocation = number(&bytes, table + 8);
    bytes[relocation..relocation + 8].copy_from_slice(&0x7fff_ffff_f000u64.to_le_bytes());
    fs::remove_file(&library).unwrap();
    fs::write(&library, bytes).unwrap();
    let words = ["libtable.so, needed by", "its relocations lead outside"];
    nest.refuses("X", Stage::Open, Code::OpenFailed, &words);
}

/// Forty libraries that are nowhere, sought in eight hundred directories each.
#[test]
fn a_backend_that_would_be_sought_for_too_long_is_refused_in_time() {
    let nest = Nest::new();
    let model = library(&nest, "model", "int nothing;");
    let names: Vec<String> = (0..40).map(|i| format!("libmany{i}.so")).collect();
    let files: Vec<PathBuf> = names.iter().map(|n| nest.root.path().join(n)).collect();
    for file in &files {
        fs::copy(&model, file).unwrap();
    }
    let mut flags = vec!["-Wl,--no-as-needed".to_owned()];
    flags.extend(names.iter().map(|name| format!("-l:{name}")));
    let directories: Vec<String> = (0..800).map(|i| format!("/{i}")).collect();
    flags.push(format!("-Wl,-rpath,{}", directories.join(":")));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    backend(&nest, "", &flags);
    for file in &files {
        fs::remove_file(file).unwrap();
    }
    let start = Instant::now();
    let words = ["too many places"];
    nest.refuses("X", Stage::Open, Code::OpenFailed, &words);
    // Far more than it takes; without a bound it would be minutes with a few more libraries.
    assert!(start.elapsed().as_secs() < 20);
}
