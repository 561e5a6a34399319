//! A running critical section.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::StdCollection;
use crate::session::{Handle, LockId, Mode, Needs};
use crate::site::{Hold, Site, TAKEN};

/// The lock of a collection with one lock.
pub(super) const fn the_lock(mode: Mode) -> Needs {
    Needs::One(LockId(0), mode)
}

/// A critical section in a controlled run, from the lock to its release.
#[derive(Debug)]
pub(super) struct Section {
    site: Site,
    /// Releases the lock in the session; the real lock must be free by then.
    _hold: Hold,
}

impl Section {
    /// The section's effect: it leaves the collection as `content`.
    pub(super) fn report<C: StdCollection>(&self, content: &C) {
        self.site.after_section(|| content.state());
    }
}

/// Takes a real lock with `lock`, or with `try_lock` on the one thread of a controlled run, where waiting could last
/// for ever. Returns the real guard and, in such a run, the section.
#[track_caller]
pub(super) fn enter<G>(
    handle: &Handle,
    mode: Mode,
    lock: impl FnOnce() -> LockResult<G>,
    try_lock: impl Fn() -> TryLockResult<G>,
) -> LockResult<(G, Option<Section>)> {
    let Some(site) = site_of(handle, mode) else { return map(lock(), |guard| (guard, None)) };
    site.before_section(the_lock(mode));
    let free = || !matches!(try_lock(), Err(TryLockError::WouldBlock));
    if site.is_private() {
        site.wait_until(free);
    }
    let entered = match try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
        Err(TryLockError::WouldBlock) => panic!("{TAKEN}"),
    };
    map(entered, |guard| (guard, Some(Section { site, _hold: site.hold(the_lock(mode)) })))
}

/// Takes a real lock with `try_lock` if it is free.
#[track_caller]
pub(super) fn try_enter<G>(
    handle: &Handle,
    mode: Mode,
    try_lock: impl Fn() -> TryLockResult<G>,
) -> TryLockResult<(G, Option<Section>)> {
    let site = site_of(handle, mode);
    if site.is_some_and(|site| !site.try_section(mode)) {
        return Err(TryLockError::WouldBlock);
    }
    try_map(try_lock(), |guard| (guard, site.map(|site| Section { site, _hold: site.hold(the_lock(mode)) })))
}

#[track_caller]
fn site_of(handle: &Handle, mode: Mode) -> Option<Site> {
    match mode {
        Mode::Shared => handle.reader_or_private(),
        Mode::Exclusive => handle.site_or_private(),
    }
}

/// Changes what is locked, poisoned or not.
pub(super) fn map<A, B>(entered: LockResult<A>, change: impl FnOnce(A) -> B) -> LockResult<B> {
    match entered {
        Ok(guard) => Ok(change(guard)),
        Err(poisoned) => Err(PoisonError::new(change(poisoned.into_inner()))),
    }
}

/// As [`map`], for a lock that was tried.
pub(super) fn try_map<A, B>(entered: TryLockResult<A>, change: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match entered {
        Ok(guard) => Ok(change(guard)),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(TryLockError::Poisoned(PoisonError::new(change(poisoned.into_inner()))))
        }
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}
