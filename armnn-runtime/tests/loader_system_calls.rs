//! Loading while the system fails: the n-th opening, reading, mapping of a file, for each n, and the
//! n-th allocation inside the dynamic linker. Whatever fails costs one candidate, or one directory,
//! and never another verdict.
#![cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    feature = "dynamic-backends"
))]

mod shared_objects;

use std::{
    collections::BTreeSet,
    mem::zeroed,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
};

use armnn_runtime::loader::{
    Code, Status,
    inspect::HostInterface,
    load::{Created, Request, Selection, load},
};
use shared_objects::{Backend, Note, compile, directory};
use tempfile::TempDir;

/// Path, status and code of each verdict.
type Verdicts = Vec<(PathBuf, Status, Option<Code>)>;

fn load_all(directories: &[PathBuf]) -> Verdicts {
    let request = Request {
        directories,
        selection: &Selection::All,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the tests' own libraries, which do no harm.
    let loaded = unsafe { load(&request, |backend| Ok(Created::Usable(backend))) };
    let verdicts = loaded.verdicts.into_iter();
    verdicts.map(|v| (v.path, v.status, v.code)).collect()
}

/// Two directories, with backends of different ids and files that are none.
fn nest() -> (TempDir, Vec<PathBuf>) {
    let root = directory();
    let directories: Vec<_> = ["first", "second"].map(|d| root.path().join(d)).into();
    for (directory, ids) in directories.iter().zip([["A", "B"], ["C", "D"]]) {
        std::fs::create_dir(directory).unwrap();
        for id in ids {
            let mut backend = Backend::new(id);
            if id != "B" {
                backend = backend.note(Note::new(id));
            }
            backend.build(directory.join(format!("Arm_{id}_backend.so")));
        }
        std::fs::write(directory.join("Arm_Text_backend.so"), "a text").unwrap();
        std::fs::write(directory.join("libother.so"), "").unwrap();
    }
    (root, directories)
}

/// Checks that in `found` one candidate has another verdict than in `expected`, or one directory has
/// lost what was in it and says so.
#[track_caller]
fn check(expected: &Verdicts, found: &Verdicts, what: &str) {
    let lost: Vec<&Path> = found
        .iter()
        .filter(|(_, _, code)| *code == Some(Code::PathInvalid))
        .map(|(path, _, _)| path.as_path())
        .collect();
    assert!(lost.len() <= 1, "{what}: {found:?}");
    let mut different = 0;
    for verdict in expected {
        if verdict
            .0
            .parent()
            .is_some_and(|parent| lost.contains(&parent))
        {
            continue;
        }
        let same_path: Vec<_> = found.iter().filter(|other| other.0 == verdict.0).collect();
        assert_eq!(same_path.len(), 1, "{what}: {verdict:?}: {found:?}");
        different += usize::from(same_path[0] != verdict);
    }
    assert!(
        different <= usize::from(lost.is_empty()),
        "{what}: {found:?}"
    );
}

/// The calls that fail, and the error of each.
const CALLS: &[(libc::c_long, i32)] = &[
    (libc::SYS_open, libc::EIO),
    (libc::SYS_openat, libc::EMFILE),
    (libc::SYS_stat, libc::EIO),
    (libc::SYS_lstat, libc::EIO),
    (libc::SYS_fstat, libc::EIO),
    (libc::SYS_newfstatat, libc::EIO),
    (libc::SYS_statx, libc::EIO),
    (libc::SYS_readlink, libc::EIO),
    (libc::SYS_getdents64, libc::EIO),
    (libc::SYS_read, libc::EIO),
    (libc::SYS_pread64, libc::EIO),
    (libc::SYS_mmap, libc::ENOMEM),
    (libc::SYS_mprotect, libc::ENOMEM),
    (libc::SYS_process_vm_readv, libc::EPERM),
    (libc::SYS_ioctl, libc::ENOTTY),
];

/// Lets every call in `CALLS` of this thread be decided on by whoever holds the descriptor that is
/// returned; `None` where the system has no such thing.
fn supervise_this_thread() -> Option<OwnedFd> {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    // Loads the number of the call.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for (index, (call, _)) in CALLS.iter().enumerate() {
        program.push(libc::sock_filter {
            jt: (CALLS.len() - index) as u8,
            ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32)
        });
    }
    program.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_ALLOW,
    ));
    program.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: both calls change this thread alone; the program is valid during the second.
    let descriptor = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    // SAFETY: a descriptor that was just made, and that nothing else owns.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// Lets the calls of the supervised thread happen, but for the `n`th; returns how many there were.
fn fail_the_nth(listener: &OwnedFd, n: usize) -> usize {
    // `_IOWR('!', 0, struct seccomp_notif)` and `_IOWR('!', 1, struct seccomp_notif_resp)`.
    const RECEIVE: libc::c_ulong = 0xc050_2100;
    const SEND: libc::c_ulong = 0xc018_2101;
    let mut count = 0;
    loop {
        let mut event = libc::pollfd {
            fd: listener.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: waits for one descriptor.
        unsafe { libc::poll(&raw mut event, 1, -1) };
        if event.revents & libc::POLLIN == 0 {
            // The thread has ended.
            return count;
        }
        // SAFETY: structs of numbers, of the sizes that the requests have.
        unsafe {
            let mut call: libc::seccomp_notif = zeroed();
            if libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut call) != 0 {
                continue;
            }
            count += 1;
            let mut answer: libc::seccomp_notif_resp = zeroed();
            answer.id = call.id;
            let number = libc::c_long::from(call.data.nr);
            match CALLS.iter().find(|(call, _)| *call == number) {
                Some((_, error)) if count == n => answer.error = -error,
                _ => answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            }
            libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer);
        }
    }
}

#[test]
fn whichever_system_call_fails_no_other_verdict_is_lost() {
    let (_root, directories) = nest();
    let expected = load_all(&directories);
    assert_eq!(expected.len(), 8);
    let loaded = expected.iter().filter(|v| v.1 == Status::Loaded);
    assert_eq!(loaded.count(), 4);
    for n in 1.. {
        let (send, receive) = mpsc::channel();
        let (count, found) = std::thread::scope(|scope| {
            let directories = &directories;
            let thread = scope.spawn(move || {
                // Before the filter is there, so that sending needs no memory.
                let (go, wait) = mpsc::channel::<()>();
                match supervise_this_thread() {
                    Some(listener) => send.send(Some((listener, go))).unwrap(),
                    None => {
                        send.send(None).unwrap();
                        return None;
                    }
                }
                wait.recv().unwrap();
                Some(load_all(directories))
            });
            let Some((listener, go)) = receive.recv().unwrap() else {
                return (0, thread.join().unwrap());
            };
            go.send(()).unwrap();
            let count = fail_the_nth(&listener, n);
            (count, thread.join().expect("no panic"))
        });
        let Some(found) = found else {
            skipped_tests::skip("this system does not let a thread's calls be supervised");
            return;
        };
        check(&expected, &found, &format!("call {n} fails"));
        if count < n {
            assert!(n > 50, "{n} calls");
            assert_eq!(found, expected);
            return;
        }
    }
}

/// Counts the allocations inside `dlopen`, and lets one fail.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static __thread int inside __attribute__((tls_model("initial-exec")));
static long count, failing;

void fixture_fail_at(long n) { count = 0; failing = n; }
long fixture_count(void) { return count; }

static int fails(void) {
    if (!inside || ++count != failing) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }

void *dlopen(const char *file, int mode) {
    static void *(*real)(const char *, int);
    if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    inside = 1;
    void *handle = real(file, mode);
    inside = 0;
    return handle;
}
"#;

#[test]
fn whichever_allocation_of_the_dynamic_linker_fails_no_other_verdict_is_lost() {
    let (_root, directories) = nest();
    let shim_directory = directory();
    let shim = compile(
        SHIM,
        &["-shared", "-fPIC", "-O1", "-fno-builtin"],
        shim_directory.path().join("libshim.so"),
    );
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "with_the_shim", "--include-ignored"])
        .args(["--nocapture", "--test-threads", "1"])
        .env("LD_PRELOAD", shim)
        .env(
            "FIXTURE_DIRECTORIES",
            std::env::join_paths(&directories).unwrap(),
        )
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "started by whichever_allocation_of_the_dynamic_linker_fails_no_other_verdict_is_lost"]
fn with_the_shim() {
    let Some(directories) = std::env::var_os("FIXTURE_DIRECTORIES") else {
        return;
    };
    let directories: Vec<PathBuf> = std::env::split_paths(&directories).collect();
    // SAFETY: the shim has these functions, with these signatures.
    let (fail_at, count) = unsafe {
        let fail_at = libc::dlsym(libc::RTLD_DEFAULT, c"fixture_fail_at".as_ptr());
        let count = libc::dlsym(libc::RTLD_DEFAULT, c"fixture_count".as_ptr());
        assert!(!fail_at.is_null() && !count.is_null());
        (
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(libc::c_long)>(fail_at),
            std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> libc::c_long>(count),
        )
    };
    let expected = load_all(&directories);
    for n in 1.. {
        fail_at(n);
        let found = load_all(&directories);
        let all = count();
        fail_at(0);
        check(&expected, &found, &format!("allocation {n} of {all} fails"));
        if all < n {
            assert_eq!(found, expected);
            // At least one for the record of each of four libraries.
            assert!(n > 4, "{all} allocations");
            return;
        }
    }
}
