//! Whether anybody in this process can want to know what its threads do.

use std::sync::atomic::{AtomicBool, Ordering};

/// A thread of this process has had one of these. The hooks of plain memory look here themselves.
pub(crate) static WANTED: AtomicBool = AtomicBool::new(false);

/// Whether no thread of this process has had a runtime yet, nor a listener to its [`calls`](super::calls) or its
/// [memory](crate::plain): then there is nobody to
/// tell anything. To look at this costs less than to look at what belongs to the thread, and it is all that published tests without
/// a check need.
#[inline]
pub(crate) fn is_idle() -> bool {
    // A thread that is given a runtime says so itself, so it does not matter when the others hear of it.
    !WANTED.load(Ordering::Relaxed)
}

/// This thread is given one of these.
#[inline]
pub(crate) fn no_longer_idle() {
    if is_idle() {
        WANTED.store(true, Ordering::Relaxed);
    }
}
