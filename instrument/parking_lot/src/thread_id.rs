//! `RawThreadId`.

use std::num::NonZeroUsize;

use interloper_std::runtime;

/// Mirrors [`parking_lot::RawThreadId`]: under control it is the task.
pub struct RawThreadId;

/// Set in the number of a task: no address has it.
const TASK: usize = 1 << (usize::BITS - 1);

// SAFETY: two threads that run at the same time have different numbers, and so have any two tasks; the number of a task
// is never the number of a thread.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: RawThreadId = RawThreadId;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        let task = runtime::with(|current| {
            let execution = (current.execution().get() as usize) << (usize::BITS / 4);
            NonZeroUsize::new(TASK | execution | current.runtime().task().index())
        });
        task.flatten().unwrap_or_else(|| parking_lot::RawThreadId.nonzero_thread_id())
    }
}
