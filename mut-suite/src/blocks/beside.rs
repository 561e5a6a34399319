//! Two threads of a program, on whatever platform it is compiled for.

use super::platform::sync::Arc;
use super::platform::thread;

/// Runs `other` in its own thread beside `own`, both on `shared`; returns both results.
pub fn beside<T, A, B>(
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
