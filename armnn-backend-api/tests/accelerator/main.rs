//! The accelerator in C, driven as a host drives it: asynchronous execution, memory of its own,
//! claims, packed constants. Numbers come from arithmetic shown here.

#[path = "../compiler/mod.rs"]
mod compiler;
mod compiling;
mod executing;
#[path = "../flat_graph/mod.rs"]
mod flat_graph;
mod network;
#[path = "../played_host/mod.rs"]
mod played_host;

use std::{path::PathBuf, process::Command, sync::OnceLock};

use compiler::{Language, fixture_folder, shared_object};
use played_host::{Backend, is_mapped};

/// Set in the child process that runs these tests with sanitizers.
const SANITIZE: &str = "ARMNN_TEST_SANITIZE";

fn build() -> PathBuf {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Fixture_Accelerator_backend.so");
        let sources: Vec<_> = std::fs::read_dir(fixture_folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|p| {
                let name = p.file_name().unwrap().to_str().unwrap();
                name.starts_with("accelerator") && name.ends_with(".c")
            })
            .collect();
        let arguments: &[&str] = if std::env::var_os(SANITIZE).is_some() {
            &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        } else {
            &[]
        };
        shared_object(Language::C11, &sources, arguments, &path).unwrap();
        (folder, path)
    });
    path.clone()
}

fn backend() -> Backend {
    let backend = Backend::load(&build());
    backend.initialize(&[]).unwrap();
    backend
}

#[test]
fn shutdown_is_refused_while_a_context_lives_and_afterwards_the_library_is_unmapped() {
    // A copy under a name of its own, since other tests have the other one open.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Fixture_Unmapped_backend.so");
    std::fs::copy(build(), &path).unwrap();
    let backend = Backend::load(&path);
    backend.initialize(&[]).unwrap();
    let context = backend.create_model_context(&[]).unwrap();
    let error = backend.shutdown().unwrap_err();
    assert_eq!(error.message(), "1 model contexts are still there");
    drop(context);
    backend.shutdown().unwrap();
    assert!(is_mapped(&path));
    backend.unload();
    assert!(!is_mapped(&path));
}

#[test]
fn all_of_this_is_clean_under_sanitizers() {
    if std::env::var_os(SANITIZE).is_some() {
        return; // The child below.
    }
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let runtime = Command::new(compiler)
        .arg("-print-file-name=libasan.so")
        .output()
        .unwrap();
    let runtime = PathBuf::from(String::from_utf8(runtime.stdout).unwrap().trim());
    if !runtime.is_absolute() {
        skipped_tests::skip("the C compiler has no shared address sanitizer");
        return;
    }
    let run = |options: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .env(SANITIZE, "1")
            .env("LD_PRELOAD", &runtime)
            .env("ASAN_OPTIONS", options);
        without_random_addresses(&mut child);
        let output = child.output().unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text += &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (mut success, mut text) = run("detect_leaks=1");
    if text.contains("LeakSanitizer has encountered a fatal error") {
        eprintln!("leaks were not looked for: this process may not be traced");
        (success, text) = run("detect_leaks=0");
    }
    assert!(success, "{text}");
}

/// Where kernels spread addresses over more bits than older sanitizers know, these find their own place
/// taken in some processes and not in others.
fn without_random_addresses(_command: &mut Command) {
    #[cfg(target_os = "linux")]
    // SAFETY: the function makes two system calls, and nothing that is forbidden after a fork.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(_command, || {
            // Where that is not allowed, it goes as it may.
            let persona = libc::personality(0xffff_ffff);
            libc::personality(persona as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        });
    }
}
