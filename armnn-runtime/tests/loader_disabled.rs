//! A build without the feature `dynamic-backends` loads nothing, and says so for each file:
//! `cargo test -p armnn-runtime --no-default-features --test loader_disabled`.
#![cfg(all(target_os = "linux", not(feature = "dynamic-backends")))]

mod shared_objects;

use armnn_runtime::{
    CreateError, CreationOptions, Runtime, StaticBackend,
    dynamic_backend::DynamicBackendError,
    dynamic_backend_utils::open_handle,
    loader::{Code, Stage},
};
use shared_objects::{Backend, Note, directory};

#[test]
fn nothing_is_loaded_and_every_file_has_a_verdict() {
    let root = directory();
    let mark = root.path().join("mark");
    let file = Backend::new("X")
        .note(Note::new("X"))
        .source(&format!(
            "#include <fcntl.h>
             __attribute__((constructor)) static void mark(void) {{ open({mark:?}, O_CREAT, 0600); }}"
        ))
        .build(root.path().join("Arm_X_backend.so"));
    let options = CreationOptions::new().dynamic_backends_path(root.path());
    let Err(CreateError::NoBackends { verdicts, .. }) = Runtime::create(options.clone()) else {
        panic!("there is no backend");
    };
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].code, Some(Code::UnsupportedPlatform));
    assert_eq!(verdicts[0].stage, Stage::Discover);
    assert!(verdicts[0].message.contains("`dynamic-backends`"));
    // SAFETY: nothing is opened.
    let opened = unsafe { open_handle(&file) };
    assert!(matches!(
        opened,
        Err(DynamicBackendError::UnsupportedPlatform)
    ));
    // What is linked in works as ever.
    let backend = StaticBackend::new::<cpu_ref::CpuRef>();
    let runtime = Runtime::create(options.static_backend(backend)).unwrap();
    assert_eq!(runtime.backend_registry().backend_ids().len(), 1);
    assert!(!mark.exists());
}
