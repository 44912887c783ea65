//! Trying candidates one after another.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
};

use armnn_backend_api::BackendId;

use super::{Created, Request};
use crate::{
    dynamic_backend::DynamicBackend,
    dynamic_backend_utils::{is_backend_supported, load_dynamic_backend},
    loader::{
        discover::{self, Candidate},
        inspect::Inspection,
        known_files::{FileState, HARMLESS},
        process_state::{ProcessState, ProcessWatch},
        verdict::{Code, Refusal, Stage, Status, Verdict},
    },
};

/// Tries `candidates`, each with its place in scan order, in the order that lets the right one win
/// an id, and puts the verdict on each in its place.
///
/// # Safety
/// As for [`load`](super::load).
pub(super) unsafe fn try_all<P, T>(
    request: &Request<'_, P>,
    candidates: Vec<(usize, Candidate)>,
    create: impl FnMut(DynamicBackend) -> Result<Created<T>, Refusal>,
    verdicts: &mut [Option<Verdict>],
) -> Vec<T> {
    let mut trials: Vec<_> = candidates
        .into_iter()
        .map(|(place, candidate)| Trial {
            place,
            inspection: candidate.inspect(request.host),
            candidate,
        })
        .collect();
    discover::trial_order(
        &mut trials,
        |trial| &trial.candidate,
        |trial| trial.inspection.note.as_ref().map(|note| &note.backend_id),
    );
    let mut load = Load {
        request,
        taken: linked_in(request),
        create,
        backends: Vec::new(),
        verdicts,
        watch: ProcessWatch::default(),
    };
    let mut trials = VecDeque::from(trials);
    while let Some(first) = trials.front() {
        let directory = first.candidate.directory;
        let count = trials
            .iter()
            .take_while(|trial| trial.candidate.directory == directory)
            .count();
        // SAFETY: the caller takes the responsibility for the libraries' code.
        unsafe { load.directory(trials.drain(..count).collect()) };
    }
    load.backends
}

/// The ids that are taken, each with the file that holds it; without one, the backend is linked in.
type Taken = BTreeMap<BackendId, Option<PathBuf>>;

fn linked_in<P>(request: &Request<'_, P>) -> Taken {
    request.taken.iter().map(|id| (id.clone(), None)).collect()
}

/// A candidate on its way through the stages.
struct Trial {
    /// Its place in scan order.
    place: usize,
    candidate: Candidate,
    inspection: Inspection,
}

/// What was known before code of a backend ran.
struct Before {
    /// The process; absent where it is not watched.
    state: Option<ProcessState>,
    file: Option<FileState>,
}

struct Load<'a, P, T, C> {
    request: &'a Request<'a, P>,
    taken: Taken,
    create: C,
    backends: Vec<T>,
    verdicts: &'a mut [Option<Verdict>],
    watch: ProcessWatch,
}

impl<P, T, C> Load<'_, P, T, C>
where
    C: FnMut(DynamicBackend) -> Result<Created<T>, Refusal>,
{
    /// Tries the candidates of one directory, in order.
    ///
    /// # Safety
    /// As for [`load`](super::load).
    unsafe fn directory(&mut self, mut trials: VecDeque<Trial>) {
        let mut strangers = Vec::new();
        while let Some(trial) = trials.pop_front() {
            if let Err(verdict) = trial.may_be_opened(self.request, &self.taken) {
                self.settle(trial.place, *verdict);
                continue;
            }
            // From here on code of the backend runs.
            let before = self.begin(&trial);
            // SAFETY: the caller takes the responsibility for the library's code.
            match unsafe { trial.identify(self.request) } {
                Err(verdict) => {
                    let changes = self.changes_since(&before);
                    self.settle_changed(trial.place, *verdict, changes);
                }
                // Only now does a file without a note show that it is not named after its id: one
                // that is goes first.
                Ok(backend)
                    if !trial
                        .candidate
                        .is_named_after(backend.backend_id().as_str())
                        && trials
                            .iter()
                            .any(|other| other.claims(backend.backend_id())) =>
                {
                    let changes = self.changes_since(&before);
                    strangers.push((trial, backend, changes));
                }
                Ok(backend) => self.create(&trial, backend, before, Vec::new()),
            }
        }
        for (trial, backend, changes) in strangers {
            let before = self.begin(&trial);
            self.create(&trial, backend, before, changes);
        }
    }

    /// Looks at the process before code of a backend runs, unless its file changed nothing before.
    fn begin(&mut self, trial: &Trial) -> Before {
        let file = FileState::of_candidate(&trial.candidate);
        let state = if file.is_some_and(|file| HARMLESS.contains(file)) {
            self.watch.forget();
            None
        } else {
            Some(self.watch.begin())
        };
        Before { state, file }
    }

    fn changes_since(&mut self, before: &Before) -> Vec<String> {
        let Some(state) = &before.state else {
            return Vec::new();
        };
        let changes = self.watch.end(state);
        changes.iter().map(ToString::to_string).collect()
    }

    /// Lets the caller make something of an identified backend, unless its id is not free.
    /// The process was as `before` when its code began to run, and `changes` were seen earlier.
    fn create(
        &mut self,
        trial: &Trial,
        backend: DynamicBackend,
        before: Before,
        mut changes: Vec<String>,
    ) {
        let (id, version) = (backend.backend_id().clone(), backend.version());
        let borrowed = backend.borrowed_libraries();
        let refused = |refusal| {
            let mut verdict = trial.candidate.refused(refusal);
            verdict.backend_id = Some(id.clone());
            verdict.api_version = Some(version);
            verdict
        };
        let created = check_id(Stage::Identify, &id, self.request, &self.taken)
            .and_then(|()| (self.create)(backend));
        let mut verdict = match created {
            Err(refusal) => refused(refusal),
            Ok(Created::Usable(created)) => {
                self.taken
                    .insert(id.clone(), Some(trial.candidate.path.clone()));
                self.backends.push(created);
                trial.warn_of_strange_name(&id);
                trial.candidate.loaded(Stage::Create, id, version)
            }
            Ok(Created::Unavailable(created, refusal)) => {
                self.taken
                    .insert(id.clone(), Some(trial.candidate.path.clone()));
                self.backends.push(created);
                let mut verdict = refused(refusal);
                verdict.status = Status::Unavailable;
                verdict
            }
        };
        verdict.borrowed_libraries = borrowed;
        changes.extend(self.changes_since(&before));
        if let (Status::Loaded, true, Some(file)) =
            (verdict.status, changes.is_empty(), before.file)
        {
            HARMLESS.insert(file);
        }
        self.settle_changed(trial.place, verdict, changes);
    }

    fn settle_changed(&mut self, place: usize, mut verdict: Verdict, changes: Vec<String>) {
        verdict.process_changes = changes;
        self.settle(place, verdict);
    }

    fn settle(&mut self, place: usize, verdict: Verdict) {
        verdict.log();
        if let Some(slot) = self.verdicts.get_mut(place) {
            *slot = Some(verdict);
        }
    }
}

impl Trial {
    /// What the inspection says: whether the file is worth opening.
    fn may_be_opened<P>(
        &self,
        request: &Request<'_, P>,
        taken: &Taken,
    ) -> Result<(), Box<Verdict>> {
        if !is_backend_supported(&self.inspection) {
            let refusal = self.inspection.refusal().cloned();
            return Err(self.refused(refusal.unwrap_or_else(|| {
                Refusal::new(Stage::Inspect, Code::Unreadable, "the file cannot be used")
            })));
        }
        match &self.inspection.note {
            Some(note) => check_id(Stage::Inspect, &note.backend_id, request, taken),
            // Until the backend itself is asked, its file's name stands for its id; but a name is
            // no promise, so that it only decides on whether the backend is wanted.
            None => check_wanted(Stage::Inspect, &self.candidate.file_name.name, request),
        }
        .map_err(|refusal| self.refused(refusal))
    }

    /// The stages `open` to `identify`.
    ///
    /// # Safety
    /// As for [`load`](super::load).
    unsafe fn identify<P>(&self, request: &Request<'_, P>) -> Result<DynamicBackend, Box<Verdict>> {
        // SAFETY: the caller takes the responsibility for the library's code.
        unsafe { load_dynamic_backend(&self.candidate, &self.inspection, request.host) }
            .map_err(|refusal| self.refused(refusal))
    }

    /// The verdict that `refusal` applies, with what the note tells.
    fn refused(&self, refusal: Refusal) -> Box<Verdict> {
        let note = self.inspection.note.as_ref();
        let mut verdict = self.candidate.refused(refusal);
        verdict.backend_id = note.map(|note| note.backend_id.clone());
        verdict.api_version = note.map(|note| note.api_version);
        Box::new(verdict)
    }

    /// Whether this sound candidate says, by its note or else by its name, that it is `id`, and is
    /// named after it.
    fn claims(&self, id: &BackendId) -> bool {
        let is_claimed = match &self.inspection.note {
            Some(note) => note.backend_id == *id,
            None => true,
        };
        is_claimed
            && is_backend_supported(&self.inspection)
            && self.candidate.is_named_after(id.as_str())
    }

    fn warn_of_strange_name(&self, id: &BackendId) {
        if !self.candidate.is_named_after(id.as_str()) {
            log::warn!(
                "dynamic backend {}: its name says '{}', but its id is '{id}'; rename the file \
                 if it is to win over other backends of that id",
                self.candidate.path.display(),
                self.candidate.file_name.name
            );
        }
    }
}

fn check_id<P>(
    stage: Stage,
    id: &BackendId,
    request: &Request<'_, P>,
    taken: &Taken,
) -> Result<(), Refusal> {
    check_wanted(stage, id.as_str(), request)?;
    let Some(holder) = taken.get(id) else {
        return Ok(());
    };
    let (holder, hint) = match holder {
        Some(file) => (
            file.display().to_string(),
            "remove the one that is not wanted",
        ),
        None => (
            "the one that is linked into the application".to_owned(),
            "remove the file, or do not link that backend in",
        ),
    };
    Err(Refusal::new(
        stage,
        Code::IdDuplicate,
        format!("there is already a backend '{id}': {holder}"),
    )
    .with_hint(hint))
}

fn check_wanted<P>(stage: Stage, id: &str, request: &Request<'_, P>) -> Result<(), Refusal> {
    if request.selection.admits(id) {
        return Ok(());
    }
    Err(Refusal::new(
        stage,
        Code::Excluded,
        format!("the application does not want backend '{id}'"),
    ))
}
