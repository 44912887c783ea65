//! Work shared between the host's threads.

use std::sync::{Mutex, PoisonError};

use armnn_backend_api::{BackendError, ExecutionContext, Result, Synchronous};

/// Below this many multiplications it costs more to wake other threads than they save.
const LEAST_WORK: usize = 1 << 16;

/// Calls `body(index, chunk)` for each `chunk_len` elements of `output` (the last chunk may be
/// shorter), on several threads if the whole is about `work` multiplications and that pays off.
/// What a chunk becomes must not depend on the others, and so does not depend on the threads.
///
/// # Errors
/// When the host fails.
pub(crate) fn for_each_chunk<T: Send>(
    context: &ExecutionContext<'_, Synchronous>,
    output: &mut [T],
    chunk_len: usize,
    work: usize,
    body: impl Fn(usize, &mut [T]) + Sync,
) -> Result<()> {
    let chunk_len = chunk_len.max(1);
    let n_chunks = output.len().div_ceil(chunk_len);
    let chunks = output.chunks_mut(chunk_len).enumerate();
    let tasks = match u32::try_from(n_chunks) {
        Ok(n) if n > 1 && context.n_threads() > 1 && work >= LEAST_WORK => n,
        _ => {
            chunks.for_each(|(index, chunk)| body(index, chunk));
            return Ok(());
        }
    };
    let chunks = Mutex::new(chunks);
    context.parallel_for(tasks, |_, _| {
        // Which task takes which chunk does not matter. The lock is held for the step alone.
        let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some((index, chunk)) = next {
            body(index, chunk);
        }
    })?;
    match chunks
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .next()
    {
        None => Ok(()),
        Some(_) => Err(BackendError::new("the host's parallel_for left out tasks")),
    }
}
