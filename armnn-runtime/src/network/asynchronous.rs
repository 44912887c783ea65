//! Executions in other threads, as futures.

use std::{
    collections::VecDeque,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    thread::JoinHandle,
};

use armnn_backend_api::{BackendError, Status};

use super::ExecutionState;
use crate::error::ExecuteError;

type Outcome = (ExecutionState, Result<(), ExecuteError>);

/// An execution that goes on in another thread, made by
/// [`ExecutionState::execute_async`]. It is a plain future, for any runtime of futures, and can also
/// be [waited for](Self::wait).
///
/// Its output is the state, and how the execution went. Dropping it lets the execution go on
/// unheard; what can end it is the state's
/// [`interrupt_handle`](ExecutionState::interrupt_handle).
#[doc(alias = "IAsyncExecutionCallback")]
#[must_use = "the state comes back through it"]
pub struct AsyncExecution(Arc<Shared>);

/// The outcome of an execution was handed out before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the outcome of the execution was handed out before, by polling its future; wait for it or poll \
     it, not both"
)]
pub struct OutcomeTaken;

struct Shared {
    slot: Mutex<Slot>,
    finished: Condvar,
}

#[derive(Default)]
struct Slot {
    outcome: Option<Box<Outcome>>,
    /// Whether the outcome was there, and was handed out.
    taken: bool,
    waker: Option<Waker>,
}

impl Slot {
    fn take(&mut self) -> Option<Outcome> {
        let outcome = self.outcome.take()?;
        self.taken = true;
        Some(*outcome)
    }
}

impl AsyncExecution {
    /// Blocks until the execution is done.
    ///
    /// # Errors
    /// When the outcome was handed out before: the future was polled, and was ready.
    pub fn wait(self) -> Result<Outcome, OutcomeTaken> {
        let mut slot = self.0.lock();
        loop {
            if let Some(outcome) = slot.take() {
                return Ok(outcome);
            }
            if slot.taken {
                return Err(OutcomeTaken);
            }
            slot = self
                .0
                .finished
                .wait(slot)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the execution is done.
    pub fn is_finished(&self) -> bool {
        let slot = self.0.lock();
        slot.taken || slot.outcome.is_some()
    }
}

impl Future for AsyncExecution {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut slot = self.0.lock();
        match slot.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                // Only the last one that asked is woken.
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl std::fmt::Debug for AsyncExecution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncExecution")
            .field("is_finished", &self.is_finished())
            .finish()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, outcome: Outcome) {
        let mut slot = self.lock();
        slot.outcome = Some(Box::new(outcome));
        let waker = slot.waker.take();
        drop(slot);
        self.finished.notify_all();
        if let Some(waker) = waker {
            // A waker is the application's; if it panics, the thread still has other executions to do.
            let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            if woken.is_err() {
                log::error!("waking the task that waits for an execution panicked");
            }
        }
    }
}

/// The threads in which networks of one runtime are executed asynchronously; started when there is
/// something to do for them, as many as the machine has cores.
pub(crate) struct AsyncExecutor {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The process that the threads are of: a forked child has none of them.
    process: u32,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<(ExecutionState, Arc<Shared>)>,
    idle: usize,
    stop: bool,
}

impl AsyncExecutor {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: Arc::default(),
            threads: Mutex::default(),
            process: std::process::id(),
        })
    }

    /// Hands an execution to a thread. If there is none, the execution is done with an error.
    fn submit(&self, state: ExecutionState) -> AsyncExecution {
        let shared = Arc::new(Shared {
            slot: Mutex::default(),
            finished: Condvar::new(),
        });
        if self.process != std::process::id() {
            let problem = "the runtime was made before the process forked, and its threads are not in \
                           this process; execute without async, or make a runtime in this process";
            shared.finish((state, Err(failed(problem.to_owned()))));
            return AsyncExecution(shared);
        }
        let mut queue = self.queue.lock();
        queue.jobs.push_back((state, Arc::clone(&shared)));
        let needs_thread = queue.jobs.len() > queue.idle;
        drop(queue);
        self.queue.changed.notify_one();
        if needs_thread
            && let Err(problem) = self.start_thread()
            && let Some((state, shared)) = self.take_back(&shared)
        {
            let problem = format!("no thread could be started: {problem}");
            shared.finish((state, Err(failed(problem))));
        }
        AsyncExecution(shared)
    }

    /// Starts a thread, unless there are as many as cores.
    fn start_thread(&self) -> std::io::Result<()> {
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() >= most {
            return Ok(());
        }
        let queue = Arc::clone(&self.queue);
        let name = format!("armnn-async-{}", threads.len());
        match std::thread::Builder::new()
            .name(name)
            .spawn(move || queue.work())
        {
            Ok(thread) => threads.push(thread),
            // The others will do it.
            Err(_) if !threads.is_empty() => {}
            Err(problem) => return Err(problem),
        }
        Ok(())
    }

    /// Takes a job back that no thread has taken.
    fn take_back(&self, job: &Arc<Shared>) -> Option<(ExecutionState, Arc<Shared>)> {
        let mut queue = self.queue.lock();
        let at = queue
            .jobs
            .iter()
            .position(|(_, shared)| Arc::ptr_eq(shared, job))?;
        queue.jobs.remove(at)
    }
}

impl Drop for AsyncExecutor {
    fn drop(&mut self) {
        // Jobs hold what holds the executor, so there are none.
        self.queue.lock().stop = true;
        self.queue.changed.notify_all();
        let threads = self
            .threads
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // The last state may be dropped in one of the threads; in a forked child there is none.
            let is_this = thread.thread().id() == std::thread::current().id();
            if !is_this && self.process == std::process::id() {
                let _ = thread.join();
            }
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut queue = self.lock();
        loop {
            if let Some((mut state, shared)) = queue.jobs.pop_front() {
                drop(queue);
                let executed = catch_unwind(AssertUnwindSafe(|| state.execute()));
                let result = executed.unwrap_or_else(|_| {
                    Err(failed(
                        "the runtime panicked; please report this".to_owned(),
                    ))
                });
                shared.finish((state, result));
                drop(shared);
                queue = self.lock();
                continue;
            }
            if queue.stop {
                return;
            }
            queue.idle += 1;
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

fn failed(problem: String) -> ExecuteError {
    ExecuteError {
        backend: None,
        layers: Vec::new(),
        source: BackendError::with_status(Status::Error, problem),
    }
}

impl ExecutionState {
    /// Executes the network in another thread, as [`execute`](Self::execute) does. The state comes
    /// back through the future.
    pub fn execute_async(self) -> AsyncExecution {
        let executor = Arc::clone(&self.model().executor);
        executor.submit(self)
    }
}
