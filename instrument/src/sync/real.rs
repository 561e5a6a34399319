//! The guard of the original in a guard of the mirror.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A real guard. Its stores when it gives the lock back are those of this file. If drop glue dropped the guard, the stores would count
/// as the program's, and they come after the lock is free in the model: who takes the lock next and frees it would race with them.
pub(super) struct Real<G>(ManuallyDrop<G>);

impl<G> Real<G> {
    #[inline]
    pub(super) fn new(guard: G) -> Real<G> {
        Real(ManuallyDrop::new(guard))
    }

    #[inline]
    pub(super) fn into_inner(self) -> G {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the guard is taken once: `this` is neither used again nor dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<G: Deref> Deref for Real<G> {
    type Target = G::Target;

    #[inline]
    fn deref(&self) -> &G::Target {
        &self.0
    }
}

impl<G: DerefMut> DerefMut for Real<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.0
    }
}

impl<G> Drop for Real<G> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is the only place that drops the guard, and `into_inner` drops no `Real`.
        unsafe { ManuallyDrop::drop(&mut self.0) }
    }
}
