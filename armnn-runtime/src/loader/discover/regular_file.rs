//! Following links by hand, and opening nothing but regular files.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::refusal;
use crate::loader::verdict::{Code, Refusal};

/// As many links in a row as the kernel follows.
const MAX_LINKS: usize = 40;

/// Follows `path` through symbolic links to a regular file, and returns that file's path without
/// links in it. Nothing is opened.
pub(in crate::loader) fn follow_links(path: &Path) -> Result<PathBuf, Refusal> {
    let mut current = path.to_owned();
    for followed in 0..=MAX_LINKS {
        let metadata = std::fs::symlink_metadata(&current)
            .map_err(|error| lookup_refusal(path, &current, followed > 0, &error))?;
        if !metadata.is_symlink() {
            expect_regular(&current, &metadata)?;
            return std::fs::canonicalize(&current)
                .map_err(|error| lookup_refusal(path, &current, followed > 0, &error));
        }
        let target = std::fs::read_link(&current)
            .map_err(|error| lookup_refusal(path, &current, true, &error))?;
        // A relative target counts from the link's own directory; `join` lets an absolute one
        // stand for itself.
        current = match current.parent() {
            Some(parent) => parent.join(target),
            None => target,
        };
    }
    Err(link_loop(path))
}

/// Opens the regular file at `path` for reading. Where something else has come into its place
/// since it was looked at, opening neither blocks nor changes the controlling terminal, and the
/// file is refused.
pub(in crate::loader) fn open(path: &Path) -> Result<(File, Metadata), Refusal> {
    let unreadable = |error: io::Error| {
        refusal(
            Code::Unreadable,
            format!("{} cannot be read: {error}", path.display()),
        )
        .with_hint("check the file's permissions")
    };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY)
        .open(path)
        .map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    expect_regular(path, &metadata)?;
    Ok((file, metadata))
}

fn expect_regular(path: &Path, metadata: &Metadata) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "a device"
    };
    Err(refusal(
        Code::NotRegularFile,
        format!("{} is {what}, not a regular file", path.display()),
    )
    .with_hint("remove it from the directory, or rename it"))
}

fn lookup_refusal(path: &Path, current: &Path, is_link: bool, error: &io::Error) -> Refusal {
    if error.raw_os_error() == Some(libc::ELOOP) {
        return link_loop(path);
    }
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory if is_link => refusal(
            Code::BrokenLink,
            format!(
                "the link leads to {}, which does not exist",
                current.display()
            ),
        )
        .with_hint("remove the link, or install what it leads to"),
        _ => refusal(
            Code::Unreadable,
            format!("{} cannot be looked at: {error}", current.display()),
        )
        .with_hint(match error.kind() {
            ErrorKind::NotFound => "check the spelling of the path",
            _ => "check the permissions of the file and of the directories above it",
        }),
    }
}

fn link_loop(path: &Path) -> Refusal {
    refusal(
        Code::LinkLoop,
        format!(
            "the link {} leads in a circle, or through more than {MAX_LINKS} others",
            path.display()
        ),
    )
    .with_hint("remove the link, or make it lead to the backend itself")
}
