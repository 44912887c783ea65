//! The runtime: backends, and networks on them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use armnn_backend_api::{BackendId, Capabilities, StaticBackend};
use armnn_network::Network;

use crate::{
    backend::{BackendInstance, Device},
    backend_registry::{BackendRegistry, Origin},
    dynamic_backend::DynamicBackend,
    dynamic_backend_utils::get_backend_paths,
    error::{CreateError, LoadError, OptimizeError, ShutdownError},
    layer_support::{self, LayerSupport},
    loader::{
        Code, HostInterface, Refusal, Stage, Status, UnloadOutcome, Verdict, create,
        load::{self, Created, Loaded, Request, Selection},
        paths::{PathReport, PathSources, PathStatus},
    },
    network::{AsyncExecutor, LoadOptions, LoadedNetwork},
    optimizer::{self, OptimizedNetwork, OptimizerOptions},
    options::BackendOption,
    thread_pool::ThreadPool,
};

/// How a runtime is made.
///
/// ```no_run
/// use armnn_runtime::CreationOptions;
/// let options = CreationOptions::new().dynamic_backends_path("/usr/lib/armnn/backends");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CreationOptions {
    static_backends: Vec<StaticBackend>,
    dynamic_backends_paths: Vec<PathBuf>,
    dynamic_backends: Selection,
    ignore_environment: bool,
    require: Vec<BackendId>,
    backend_options: Vec<(BackendId, BackendOption)>,
    number_of_threads: Option<u32>,
}

impl CreationOptions {
    /// No static backends; dynamic ones from the list compiled in, if there is one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a backend that is linked into the program.
    pub fn static_backend(mut self, backend: StaticBackend) -> Self {
        self.static_backends.push(backend);
        self
    }

    /// Adds a directory to search for backends; it must be absolute. Those given here replace the
    /// list compiled in.
    #[doc(alias = "m_DynamicBackendsPath")]
    pub fn dynamic_backends_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.dynamic_backends_paths.push(path.into());
        self
    }

    /// Chooses which dynamic backends are loaded.
    pub fn dynamic_backends(mut self, selection: Selection) -> Self {
        self.dynamic_backends = selection;
        self
    }

    /// Whether the environment may replace the list compiled in; it may, unless told otherwise.
    pub fn allow_environment(mut self, allow: bool) -> Self {
        self.ignore_environment = !allow;
        self
    }

    /// Makes creation fail if a backend of this id cannot be used.
    pub fn require(mut self, id: BackendId) -> Self {
        self.require.push(id);
        self
    }

    /// Gives an option to a backend.
    pub fn backend_option(mut self, id: BackendId, option: BackendOption) -> Self {
        self.backend_options.push((id, option));
        self
    }

    /// How many threads backends may compute on, at most 1024; 0, or unless told otherwise: as many
    /// as the machine has.
    pub fn number_of_threads(mut self, n: u32) -> Self {
        self.number_of_threads = Some(n);
        self
    }

    fn options_for(&self, id: &BackendId) -> Vec<BackendOption> {
        let of_backend = self.backend_options.iter().filter(|(other, _)| other == id);
        of_backend.map(|(_, option)| option.clone()).collect()
    }
}

/// The most threads that a runtime may have.
const MAX_THREADS: u32 = 1024;

/// The runtime: backends, and networks on them.
///
/// Several runtimes may be used at once; each has instances of backends of its own. Dropping a
/// runtime unloads its backends; those that loaded networks still use stay until the networks are
/// dropped. [`shutdown`](Self::shutdown) does the same and tells what came of it.
#[doc(alias = "IRuntime")]
pub struct Runtime {
    // Instances go before the libraries that hold their code.
    registry: BackendRegistry,
    dynamic_backends: Vec<Arc<DynamicBackend>>,
    pool: Arc<ThreadPool>,
    executor: Arc<AsyncExecutor>,
    paths: Vec<PathReport>,
    verdicts: Vec<Verdict>,
    failed_static: Vec<(String, String)>,
}

/// What a runtime found out about backends.
#[derive(Clone, Debug)]
pub struct BackendReport {
    /// The directories that were searched, or could not be.
    pub paths: Vec<PathReport>,
    /// One verdict for each candidate, in scan order.
    pub candidates: Vec<Verdict>,
    /// The backends in use, in the order in which they were registered.
    pub backends: Vec<BackendInfo>,
    /// Static backends that could not be used, with the reason.
    pub failed_static: Vec<(String, String)>,
}

/// A backend in use.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    /// Its id.
    pub id: BackendId,
    /// The interface version that it was built against.
    pub version: armnn_backend_api::BackendVersion,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is.
    pub capabilities: Capabilities,
}

/// What became of a dynamic backend's shared object when the runtime was shut down.
#[derive(Clone, Debug)]
pub struct UnloadReport {
    /// The backend.
    pub id: BackendId,
    /// What became of it.
    pub outcome: UnloadOutcome,
}

impl Runtime {
    /// Makes a runtime with the backends that the options name.
    ///
    /// # Errors
    /// When there is no backend that can be used, a required one is missing, or an option is for a
    /// backend that is not there. The error lists every path that was looked at and every
    /// candidate that was refused.
    #[doc(alias = "Create")]
    pub fn create(options: CreationOptions) -> Result<Self, CreateError> {
        let n_threads = match options.number_of_threads {
            Some(given) if given > MAX_THREADS => {
                return Err(CreateError::TooManyThreads {
                    given,
                    most: MAX_THREADS,
                });
            }
            Some(given) if given > 0 => given,
            _ => std::thread::available_parallelism()
                .map_or(1, |n| n.get().min(MAX_THREADS as usize) as u32),
        };
        let pool = ThreadPool::new(n_threads);
        let mut runtime = Self {
            registry: BackendRegistry::default(),
            dynamic_backends: Vec::new(),
            pool,
            executor: AsyncExecutor::new(),
            paths: Vec::new(),
            verdicts: Vec::new(),
            failed_static: Vec::new(),
        };
        for backend in &options.static_backends {
            runtime.add_static_backend(backend, &options);
        }
        runtime.load_dynamic_backends(&options);
        runtime.check(&options)?;
        Ok(runtime)
    }

    fn add_static_backend(&mut self, backend: &StaticBackend, options: &CreationOptions) {
        let text = String::from_utf8_lossy(backend.id().to_bytes()).into_owned();
        if let Err(reason) = self.try_static_backend(&text, backend, options) {
            log::error!("static backend {text}: {reason}");
            self.failed_static.push((text, reason));
        }
    }

    fn try_static_backend(
        &mut self,
        id: &str,
        backend: &StaticBackend,
        options: &CreationOptions,
    ) -> Result<(), String> {
        let id = BackendId::new(id).map_err(|e| e.to_string())?;
        let (version, host) = (backend.version(), HostInterface::CURRENT.version);
        if !version.is_compatible_with(host) {
            return Err(format!(
                "it was built against interface {version}; this is {host}"
            ));
        }
        if self.registry.is_registered(&id) {
            return Err(format!("there is already a backend '{id}'"));
        }
        // SAFETY: whoever made the `StaticBackend` vouches for its functions.
        let instance = unsafe {
            let backend_options = options.options_for(&id);
            BackendInstance::create(backend.factory(), id, version, &backend_options, None)
        }
        .map_err(|e| e.message)?;
        let id = instance.id().clone();
        self.registry
            .register(Origin::Static, backend.factory(), instance)
            .map_err(|e| e.to_string())?;
        log::info!("static backend {id}: registered");
        Ok(())
    }

    /// Searches the paths, takes every candidate through the stages, and registers what is usable.
    fn load_dynamic_backends(&mut self, options: &CreationOptions) {
        if options.dynamic_backends == Selection::Disabled {
            return;
        }
        let sources = PathSources::of_process(
            options.dynamic_backends_paths.clone(),
            !options.ignore_environment,
        );
        self.paths = get_backend_paths(&sources);
        let directories: Vec<&Path> = self
            .paths
            .iter()
            .filter(|report| report.status == PathStatus::Ok)
            .map(|report| report.path.as_path())
            .collect();
        let taken: BTreeSet<BackendId> = self.registry.backend_ids().into_iter().collect();
        let request = Request {
            directories: &directories,
            selection: &options.dynamic_backends,
            taken: &taken,
            host: HostInterface::CURRENT,
        };
        // SAFETY: whoever names a directory trusts the libraries in it that pass inspection.
        let loaded: Loaded<(Arc<DynamicBackend>, Arc<BackendInstance>)> = unsafe {
            load::load(&request, |backend| {
                let backend = Arc::new(backend);
                let backend_options = options.options_for(backend.backend_id());
                let instance = create::create(&backend, &backend_options)?;
                Ok(Created::Usable((backend, instance)))
            })
        };
        self.verdicts = loaded.verdicts;
        for (backend, instance) in loaded.backends {
            let path = backend
                .handle()
                .map(|h| h.path().to_owned())
                .unwrap_or_default();
            let Some(factory) = backend.factory_function() else {
                continue;
            };
            if let Err(e) = self
                .registry
                .register(Origin::Dynamic(path), factory, instance)
            {
                // The loader saw to it that ids differ.
                log::error!("{e}");
                continue;
            }
            self.dynamic_backends.push(backend);
        }
    }

    fn check(&self, options: &CreationOptions) -> Result<(), CreateError> {
        if self.registry.is_empty() {
            return Err(CreateError::NoBackends {
                paths: self.paths.clone(),
                verdicts: self.verdicts.clone(),
                failed_static: self.failed_static.clone(),
            });
        }
        for id in &options.require {
            if !self.registry.is_registered(id) {
                return Err(CreateError::RequiredBackendMissing {
                    id: id.clone(),
                    reason: self.why_missing(id),
                    paths: self.paths.clone(),
                    verdicts: self.verdicts.clone(),
                });
            }
        }
        for (id, option) in &options.backend_options {
            if !self.registry.is_registered(id) {
                return Err(CreateError::OptionForMissingBackend {
                    backend: id.clone(),
                    option: option.name.clone(),
                    reason: self.why_missing(id),
                });
            }
        }
        Ok(())
    }

    /// The ids, as far as they are known, of backends that could not be registered. Those that the
    /// options exclude are not among them.
    fn failed_ids(&self) -> impl Iterator<Item = BackendId> {
        let linked = self.failed_static.iter();
        let linked = linked.filter_map(|(id, _)| BackendId::new(id).ok());
        let rejected = self.verdicts.iter().filter(|verdict| {
            verdict.status == Status::Rejected && verdict.code != Some(Code::Excluded)
        });
        linked.chain(rejected.filter_map(|verdict| verdict.backend_id.clone()))
    }

    fn why_missing(&self, id: &BackendId) -> String {
        let failed = self
            .failed_static
            .iter()
            .find(|(other, _)| *id == *other.as_str());
        if let Some((_, reason)) = failed {
            return reason.clone();
        }
        let names = |verdict: &&Verdict| match &verdict.backend_id {
            Some(other) => other == id,
            None => verdict.name.as_deref() == Some(id.as_str()),
        };
        match self.verdicts.iter().find(names) {
            Some(verdict) => format!(
                "{} was {} ({}): {}",
                verdict.path.display(),
                verdict.status,
                verdict.code.map_or("-", Code::as_str),
                verdict.message
            ),
            None => "no backend of this id was found".to_owned(),
        }
    }

    /// The backends of this runtime.
    pub fn backend_registry(&self) -> &BackendRegistry {
        &self.registry
    }

    /// The backends that were loaded from shared objects.
    pub fn dynamic_backends(&self) -> impl Iterator<Item = &DynamicBackend> {
        self.dynamic_backends.iter().map(|backend| &**backend)
    }

    /// What was found out about backends so far: the paths, a verdict for each candidate, and the
    /// backends in use. A backend whose hardware was looked for and not found is `unavailable`.
    pub fn backend_report(&self) -> BackendReport {
        let mut candidates = self.verdicts.clone();
        for backend in self.registry.iter() {
            let Some(Err(e)) = backend.instance().probed() else {
                continue;
            };
            let verdict = candidates.iter_mut().find(|verdict| {
                verdict.status == Status::Loaded
                    && verdict.backend_id.as_ref() == Some(backend.id())
            });
            if let Some(verdict) = verdict {
                let refusal = Refusal::new(Stage::Probe, Code::Unavailable, e.to_string());
                verdict.status = Status::Unavailable;
                verdict.stage = refusal.stage;
                verdict.code = Some(refusal.code);
                verdict.message = refusal.message;
                verdict.hint = "the backend is sound, but what it needs is not there; install its \
                                hardware or driver, or prefer another backend"
                    .to_owned();
            }
        }
        let info = |backend: &crate::backend_registry::RegisteredBackend| BackendInfo {
            id: backend.id().clone(),
            version: backend.version(),
            origin: backend.origin().clone(),
            capabilities: backend.instance().capabilities(),
        };
        BackendReport {
            paths: self.paths.clone(),
            candidates,
            backends: self.registry.iter().map(info).collect(),
            failed_static: self.failed_static.clone(),
        }
    }

    /// Looks for the hardware of a backend, unless that was done before.
    ///
    /// # Errors
    /// When there is no such backend, or no hardware for it.
    pub fn probe(&self, id: &BackendId) -> Result<Vec<Device>, armnn_backend_api::BackendError> {
        match self.registry.get(id) {
            Some(backend) => backend.instance().probe().map(<[Device]>::to_vec),
            None => Err(armnn_backend_api::BackendError::unavailable(
                self.why_missing(id),
            )),
        }
    }

    /// Which types of layers a backend takes, and for which types of elements: what it answers when it
    /// is asked about a plain layer of each. For people; what becomes of a real network is in
    /// [`OptimizedNetwork::report`].
    ///
    /// # Errors
    /// When there is no such backend, or no hardware for it.
    pub fn layer_support(
        &self,
        id: &BackendId,
    ) -> Result<Vec<LayerSupport>, armnn_backend_api::BackendError> {
        self.probe(id)?;
        match self.registry.get(id) {
            Some(backend) => Ok(layer_support::find_out(backend.instance())),
            None => Ok(Vec::new()),
        }
    }

    /// Assigns every layer of a network to a backend.
    ///
    /// # Errors
    /// When a pin cannot be kept, no preferred backend can be used, or no backend takes a layer.
    #[doc(alias = "Optimize")]
    pub fn optimize(
        &self,
        network: Network,
        options: &OptimizerOptions,
    ) -> Result<OptimizedNetwork, OptimizeError> {
        let mut usable = Vec::new();
        let mut unusable: Vec<(BackendId, String)> = Vec::new();
        for backend in self.registry.iter() {
            if !may_be_used(backend.id(), &network, options) {
                continue;
            }
            match backend.instance().probe() {
                Ok(_) => usable.push(Arc::clone(backend.instance())),
                Err(e) => {
                    log::info!("backend {}: unavailable: {e}", backend.id());
                    unusable.push((backend.id().clone(), e.to_string()));
                }
            }
        }
        // What is asked for and is not there has a reason, too.
        let pinned = options.pins.iter().map(|(_, id)| id.clone());
        let hints = network
            .layers()
            .iter()
            .filter_map(|l| l.backend_hint.as_deref());
        let mut asked: Vec<BackendId> = options.preferred_backends.clone();
        asked.extend(pinned.chain(hints.filter_map(|hint| BackendId::new(hint).ok())));
        if options.preferred_backends.is_empty() {
            asked.extend(self.failed_ids());
        }
        let mut seen: BTreeSet<BackendId> = self.registry.backend_ids().into_iter().collect();
        for id in asked {
            if seen.insert(id.clone()) {
                let reason = self.why_missing(&id);
                unusable.push((id, reason));
            }
        }
        optimizer::optimize(network, &usable, &unusable, options).map_err(|mut error| {
            // Those that were not asked for could have been.
            if let OptimizeError::PreferredBackendsMissing { usable, .. }
            | OptimizeError::PinnedBackendMissing { usable, .. } = &mut error
            {
                *usable = self.registry.backend_ids();
                usable.retain(|id| !unusable.iter().any(|(other, _)| other == id));
            }
            error
        })
    }

    /// Loads a network, so that it can be executed. Where all input shapes are known, it is
    /// compiled at once.
    ///
    /// # Errors
    /// When a backend fails, or the memory limit is exceeded.
    #[doc(alias = "LoadNetwork")]
    pub fn load_network(
        &self,
        network: OptimizedNetwork,
        options: LoadOptions,
    ) -> Result<LoadedNetwork, LoadError> {
        LoadedNetwork::new(network, &options, &self.pool, &self.executor)
    }

    /// Unloads every backend, and tells what became of the shared objects.
    ///
    /// # Errors
    /// When loaded networks still use a backend: the runtime is given back, unchanged.
    pub fn shutdown(self) -> Result<Vec<UnloadReport>, ShutdownError> {
        let in_use: Vec<BackendId> = self
            .registry
            .iter()
            .filter(|backend| Arc::strong_count(backend.instance()) > 1)
            .map(|backend| backend.id().clone())
            .collect();
        if !in_use.is_empty() {
            return Err(ShutdownError {
                in_use,
                runtime: Box::new(self),
            });
        }
        for backend in self.registry.into_backends() {
            // The last reference: it is torn down here.
            drop(backend.into_instance());
        }
        let close = |mut backend: Arc<DynamicBackend>| {
            let id = backend.backend_id().clone();
            let outcome = Arc::get_mut(&mut backend)?.close()?;
            Some(UnloadReport { id, outcome })
        };
        Ok(self
            .dynamic_backends
            .into_iter()
            .rev()
            .filter_map(close)
            .collect())
    }
}

/// Whether optimizing with these options may assign layers to a backend.
fn may_be_used(id: &BackendId, network: &Network, options: &OptimizerOptions) -> bool {
    options.preferred_backends.is_empty()
        || options.preferred_backends.contains(id)
        || options.pins.iter().any(|(_, pinned)| pinned == id)
        || network
            .layers()
            .iter()
            .any(|l| l.backend_hint.as_deref() == Some(id.as_str()))
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("backends", &self.registry.backend_ids())
            .finish_non_exhaustive()
    }
}
