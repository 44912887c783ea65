//! The threads that backends compute on.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread::JoinHandle,
};

use armnn_backend_api::sys;

use crate::{float_environment::FloatEnvironment, forks::Process};

thread_local! {
    // The pool whose loop this thread is in, by the address of what its threads share, and the
    // thread's index in it.
    static CURRENT: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
}

type Body = unsafe extern "C" fn(*mut c_void, u32, u32);

/// A fixed set of threads that run one loop at a time; the caller of the loop is one of them.
///
/// A general-purpose pool was not taken because of what the interface promises to backends: the
/// caller takes part, thread indices are below the number of threads, nested calls run inline, and
/// a loop allocates nothing. A loop started while another one runs is executed by its caller alone, and
/// so is one in a forked child, which has none of the threads.
pub(crate) struct ThreadPool {
    shared: Arc<Shared>,
    n_threads: u32,
    workers: Mutex<Vec<JoinHandle<()>>>,
    // Where the threads are.
    process: Process,
}

struct Shared {
    state: Mutex<State>,
    // Tells workers that there is a loop, or that they shall end.
    start: Condvar,
    // Tells the caller that the last worker left its loop.
    done: Condvar,
    next_task: AtomicU32,
}

struct State {
    job: Option<Job>,
    // Changes with each loop, so that a worker takes part in each once.
    generation: u64,
    // Workers in the loop.
    active: u32,
    stop: bool,
}

#[derive(Clone, Copy)]
struct Job {
    body: Body,
    data: *mut c_void,
    n_tasks: u32,
}

// SAFETY: whoever starts a loop vouches that its body and data may be used from several threads.
unsafe impl Send for Job {}

fn lock(mutex: &Mutex<State>) -> MutexGuard<'_, State> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadPool {
    /// A pool of `n_threads` threads, the caller included; at least one. They are not started yet.
    pub(crate) fn new(n_threads: u32) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State {
                    job: None,
                    generation: 0,
                    active: 0,
                    stop: false,
                }),
                start: Condvar::new(),
                done: Condvar::new(),
                next_task: AtomicU32::new(0),
            }),
            n_threads: n_threads.max(1),
            workers: Mutex::default(),
            process: Process::current(),
        })
    }

    /// Starts the threads, unless they run already.
    pub(crate) fn start_threads(&self) -> std::io::Result<()> {
        if !self.process.is_current() {
            return Ok(());
        }
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        for index in workers.len() as u32 + 1..self.n_threads {
            let shared = Arc::clone(&self.shared);
            let worker = std::thread::Builder::new()
                .name(format!("armnn-{index}"))
                .spawn(move || shared.work(index))?;
            workers.push(worker);
        }
        Ok(())
    }

    /// The number of threads, the caller included.
    pub(crate) fn n_threads(&self) -> u32 {
        self.n_threads
    }

    /// Calls `body(data, task, thread)` for each task below `n_tasks`.
    ///
    /// # Safety
    /// `body` does not unwind, and may be called with `data` from several threads at once.
    pub(crate) unsafe fn parallel_for_raw(
        &self,
        n_tasks: u32,
        body: Option<Body>,
        data: *mut c_void,
    ) -> sys::ArmnnStatus {
        let Some(body) = body else {
            return sys::ARMNN_STATUS_INVALID_ARGUMENT;
        };
        let job = Job {
            body,
            data,
            n_tasks,
        };
        // The counter of tasks must not wrap around.
        if n_tasks > 1 && n_tasks < u32::MAX - self.n_threads() && self.start(job) {
            self.shared.run(job, 0);
            self.finish();
        } else {
            // A nested loop keeps the index of its thread: what is kept by index in the outer loop
            // stays one thread's own.
            let (pool, index) = CURRENT.get();
            let thread = if pool == self.shared.address() {
                index
            } else {
                0
            };
            for task in 0..n_tasks {
                // SAFETY: by the contract of this function.
                unsafe { body(data, task, thread) };
            }
        }
        sys::ARMNN_STATUS_OK
    }

    /// Starts a loop unless one runs already (of another caller, or around this one).
    fn start(&self, job: Job) -> bool {
        // In a forked child a thread that is not there may hold the lock.
        if self.n_threads == 1 || !self.process.is_current() {
            return false;
        }
        let mut state = lock(&self.shared.state);
        if state.job.is_some() || state.active > 0 {
            return false;
        }
        self.shared.next_task.store(0, Ordering::Relaxed);
        state.job = Some(job);
        state.generation = state.generation.wrapping_add(1);
        drop(state);
        self.shared.start.notify_all();
        true
    }

    /// Waits until no worker is in the loop any more.
    fn finish(&self) {
        let mut state = lock(&self.shared.state);
        // No worker that did not start yet may do so from here on.
        state.job = None;
        while state.active > 0 {
            state = self
                .shared
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn work(&self, thread: u32) {
        let mut seen = 0;
        let mut state = lock(&self.state);
        loop {
            if state.stop {
                return;
            }
            match state.job {
                Some(job) if state.generation != seen => {
                    seen = state.generation;
                    state.active += 1;
                    drop(state);
                    let environment = FloatEnvironment::save();
                    self.run(job, thread);
                    drop(environment);
                    state = lock(&self.state);
                    state.active -= 1;
                    if state.active == 0 {
                        self.done.notify_one();
                    }
                }
                _ => {
                    state = self
                        .start
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn run(&self, job: Job, thread: u32) {
        let outer = CURRENT.replace((self.address(), thread));
        self.run_tasks(job, thread);
        CURRENT.set(outer);
    }

    fn run_tasks(&self, job: Job, thread: u32) {
        loop {
            let task = self.next_task.fetch_add(1, Ordering::Relaxed);
            if task >= job.n_tasks {
                // Taken back, so that the counter cannot wrap around with many threads.
                self.next_task.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            // SAFETY: whoever started the loop vouches for it.
            unsafe { (job.body)(job.data, task, thread) };
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let workers = self
            .workers
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if !self.process.is_current() {
            // There is nobody to be waited for.
            std::mem::forget(std::mem::take(workers));
            return;
        }
        lock(&self.shared.state).stop = true;
        self.shared.start.notify_all();
        for worker in workers.drain(..) {
            // A worker runs nothing that can panic: bodies do not unwind.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Loop<'a> {
        pool: &'a ThreadPool,
        counts: Vec<AtomicU32>,
        nested: u32,
    }

    unsafe extern "C" fn count(data: *mut c_void, task: u32, thread: u32) {
        // SAFETY: `data` is the loop below.
        let l = unsafe { &*data.cast::<Loop<'_>>() };
        assert!(thread < l.pool.n_threads());
        l.counts[task as usize].fetch_add(1, Ordering::Relaxed);
        if l.nested > 0 {
            let inner = Loop {
                pool: l.pool,
                counts: zeros(3),
                nested: l.nested - 1,
            };
            run(&inner);
            assert!(inner.counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
        }
    }

    fn zeros(n: usize) -> Vec<AtomicU32> {
        (0..n).map(|_| AtomicU32::new(0)).collect()
    }

    fn run(l: &Loop<'_>) {
        let data = std::ptr::from_ref(l).cast_mut().cast();
        // SAFETY: the loop may be used from several threads.
        let status = unsafe {
            l.pool
                .parallel_for_raw(l.counts.len() as u32, Some(count), data)
        };
        assert_eq!(status, sys::ARMNN_STATUS_OK);
    }

    #[test]
    fn each_task_runs_once_also_nested() {
        for n_threads in [1, 2, 5] {
            let pool = ThreadPool::new(n_threads);
            pool.start_threads().unwrap();
            for n_tasks in [0, 1, 2, 1000] {
                let l = Loop {
                    pool: &pool,
                    counts: zeros(n_tasks),
                    nested: 2,
                };
                run(&l);
                assert!(l.counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    /// In a nested loop each thread keeps its index, so that no two threads have the same one at a
    /// time.
    #[test]
    fn a_nested_loop_keeps_the_index_of_its_thread() {
        struct Outer {
            pool: Arc<ThreadPool>,
            thread: AtomicU32,
        }
        unsafe extern "C" fn outer(data: *mut c_void, _: u32, thread: u32) {
            // SAFETY: `data` is the pool below.
            let pool = unsafe { &*data.cast::<Arc<ThreadPool>>() };
            let mut nested = Outer {
                pool: Arc::clone(pool),
                thread: AtomicU32::new(thread),
            };
            let data = std::ptr::from_mut(&mut nested).cast();
            // SAFETY: the struct outlives the call.
            unsafe { nested.pool.parallel_for_raw(3, Some(inner), data) };
        }
        unsafe extern "C" fn inner(data: *mut c_void, _: u32, thread: u32) {
            // SAFETY: `data` is the struct above.
            let nested = unsafe { &*data.cast::<Outer>() };
            assert_eq!(nested.thread.load(Ordering::Relaxed), thread);
        }
        let mut pool = ThreadPool::new(3);
        pool.start_threads().unwrap();
        let data = std::ptr::from_mut(&mut pool).cast();
        for _ in 0..50 {
            // SAFETY: the pool may be used from several threads.
            unsafe { (*std::ptr::from_ref(&pool)).parallel_for_raw(20, Some(outer), data) };
        }
    }

    #[test]
    fn several_callers_at_once_each_get_all_their_tasks() {
        let pool = ThreadPool::new(3);
        pool.start_threads().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let l = Loop {
                            pool: &pool,
                            counts: zeros(7),
                            nested: 0,
                        };
                        run(&l);
                        assert!(l.counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }
}
