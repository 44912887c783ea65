//! A directory of files of any kind, and the good backend among them that must load.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use armnn_runtime::{
    dynamic_backend::DynamicBackend,
    loader::{
        Code, Stage, Verdict,
        inspect::HostInterface,
        load::{Created, Loaded, Request, Selection, load},
    },
};
use tempfile::TempDir;

use crate::shared_objects::{Backend, Note, directory};

pub fn load_with(directories: &[&Path], selection: &Selection) -> Loaded<DynamicBackend> {
    let request = Request {
        directories,
        selection,
        taken: &BTreeSet::new(),
        host: HostInterface::CURRENT,
    };
    // SAFETY: the tests' own libraries, which do no harm where they are loaded.
    unsafe { load(&request, |backend| Ok(Created::Usable(backend))) }
}

pub fn load_all(directory: &Path) -> Loaded<DynamicBackend> {
    load_with(&[directory], &Selection::All)
}

pub fn verdict_on<'a>(loaded: &'a Loaded<DynamicBackend>, path: &Path) -> &'a Verdict {
    let mut of_path = loaded.verdicts.iter().filter(|v| v.path == path);
    let verdict = of_path
        .next()
        .unwrap_or_else(|| panic!("{} has no verdict", path.display()));
    assert!(of_path.next().is_none(), "{} has two", path.display());
    verdict
}

/// A directory with the backend `Good`, which must load whatever is beside it.
pub struct Nest {
    pub root: TempDir,
}

impl Nest {
    pub fn new() -> Self {
        let root = directory();
        Backend::new("Good")
            .note(Note::new("Good"))
            .build(root.path().join("Arm_Good_backend.so"));
        Self { root }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(format!("Arm_{name}_backend.so"))
    }

    /// The verdict on `Arm_<name>_backend.so`; the good backend is loaded all the same.
    #[track_caller]
    pub fn verdict(&self, name: &str) -> Verdict {
        let loaded = load_all(self.root.path());
        let ids: Vec<_> = loaded.backends.iter().map(|b| b.backend_id()).collect();
        assert!(ids.iter().any(|id| id.as_str() == "Good"), "{ids:?}");
        verdict_on(&loaded, &self.at(name)).clone()
    }

    /// Checks that the file is refused with `code` at `stage`, saying `words`.
    #[track_caller]
    pub fn refuses(&self, name: &str, stage: Stage, code: Code, words: &[&str]) -> Verdict {
        let verdict = self.verdict(name);
        assert_eq!(
            (verdict.stage, verdict.code),
            (stage, Some(code)),
            "{name}: {verdict}"
        );
        for word in words {
            let text = verdict.to_string();
            assert!(text.contains(word), "{name}: '{word}' is not in {text}");
        }
        verdict
    }
}
