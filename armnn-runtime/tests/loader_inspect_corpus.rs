//! The corpus of the fuzz target `inspect`, replayed: each file is one that took a path through the
//! inspector that no other did. What fuzzing finds is added to it, so that it stays mended.
#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs, path::Path};

use armnn_runtime::loader::{
    Code, Stage,
    inspect::{HostInterface, inspect, inspect_path},
};

#[test]
fn every_file_of_the_corpus_has_one_verdict_however_it_is_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/inspect");
    let (mut count, mut codes) = (0, BTreeSet::new());
    for entry in fs::read_dir(&corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let found = inspect(&bytes.as_slice(), HostInterface::CURRENT);
        assert!(
            found.refusal().is_some() || found.exports.len() == 3,
            "{}",
            path.display()
        );
        for refusal in &found.refusals {
            assert_eq!(refusal.stage, Stage::Inspect, "{}", path.display());
            assert!(!refusal.message.is_empty());
        }
        let by_path = inspect_path(&path, HostInterface::CURRENT).unwrap();
        assert_eq!(by_path, found, "{}", path.display());
        codes.extend(found.refusals.iter().map(|refusal| refusal.code));
        // Cut short anywhere.
        for length in (0..bytes.len()).step_by(1 + bytes.len() / 16) {
            let cut = inspect(&&bytes[..length], HostInterface::CURRENT);
            assert!(cut.refusal().is_some() || cut.exports.len() == 3);
        }
        count += 1;
    }
    assert!(count > 150, "{count} files");
    // It gets to every part of the inspector.
    for code in [
        Code::NotElf,
        Code::Truncated,
        Code::WrongClass,
        Code::WrongMachine,
        Code::NotSharedObject,
        Code::MissingSymbol,
        Code::NotAFunction,
        Code::ExecutableStack,
        Code::NoteInvalid,
    ] {
        assert!(codes.contains(&code), "no file is refused as {code}");
    }
}
