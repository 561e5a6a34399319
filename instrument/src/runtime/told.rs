//! What executors of other crates say about their tasks, for reports. Nothing of it is a step, and no decision depends on it.
//!
//! What `cargo interloper` changes in tokio calls this.

use super::with;

/// What happens to a task of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It is spawned.
    Spawned,
    /// A thread begins to work on it.
    Begins,
    /// Its future is about to be polled.
    Polled,
    /// Its future was polled and is not ready.
    Suspended,
    /// Its future was ready, or is dropped: it will not be polled again.
    Ended,
    /// The thread that works on it turns to something else.
    Leaves,
    /// The thread polls a future of its own, as `block_on` does. It is known by whatever its wakers know.
    BlocksOn,
    /// A waker is made.
    Kept,
    /// A waker is dropped.
    Dropped,
    /// A waker is called.
    Woken,
    /// A waker is called and dropped.
    WokenOnce,
}

/// Says what happens to a task, which is known by an address until another task has the same one.
#[inline]
pub fn tell(task: usize, told: Told) {
    with(|current| current.runtime().tell(task, told));
}

/// The running thread works on a task, until this is dropped.
#[derive(Debug)]
#[must_use = "the work ends when this is dropped"]
pub struct Work(usize);

impl Work {
    /// The work begins.
    pub fn on(task: usize) -> Work {
        tell(task, Told::Begins);
        Work(task)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        tell(self.0, Told::Leaves);
    }
}
