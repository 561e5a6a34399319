//! What the programs are written against: std, mirrored, with blocks.
//!
//! The programs use nothing of the mirror that std lacks, so that the same files can be compiled against another
//! library with this API.

pub(super) use interloper::{atomic, hint, sync, thread};

use self::sync::Arc;

/// Runs `other` in its own thread beside `own`, both on `shared`; returns both results.
pub(super) fn beside<T, A, B>(
    shared: &Arc<T>,
    own: impl FnOnce(&T) -> A,
    other: impl FnOnce(&T) -> B + Send + 'static,
) -> (A, B)
where
    T: Send + Sync + 'static,
    B: Send + 'static,
{
    let theirs = Arc::clone(shared);
    let thread = thread::spawn(move || other(&theirs));
    let own = own(shared);
    (own, thread.join().unwrap())
}
