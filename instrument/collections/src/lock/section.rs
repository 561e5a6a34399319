//! A critical section under way.

use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::StdCollection;
use crate::session::{Handle, LockId, Mode, Needs, controlled, current};
use crate::site::{Hold, Site, TAKEN};

/// The lock of a collection with one.
pub(super) const fn the_lock(mode: Mode) -> Needs {
    Needs::One(LockId(0), mode)
}

/// A critical section of a bound collection, from the lock to its release.
#[derive(Debug)]
pub(super) struct Section {
    site: Site,
    /// Gives up the lock in the session; the real one must be free by then.
    _hold: Hold,
}

impl Section {
    /// The section's effect: it leaves the collection as `content`.
    pub(super) fn report<C: StdCollection>(&self, content: &C) {
        self.site.after_section(&content.state());
    }
}

/// Takes a real lock with `lock`, or with `try_lock` where waiting for it could last forever: on the one thread of a
/// controlled run. Gives the real guard and, for a bound collection, the section.
#[track_caller]
pub(super) fn enter<G>(
    handle: &Handle,
    mode: Mode,
    lock: impl FnOnce() -> LockResult<G>,
    try_lock: impl Fn() -> TryLockResult<G>,
) -> LockResult<(G, Option<Section>)> {
    if !controlled() {
        return together(lock(), None);
    }
    match handle.site() {
        Some(site) => {
            site.before_section(the_lock(mode));
            let entered = unblocked(try_lock()).expect(TAKEN);
            together(entered, Some(Section { site, _hold: site.hold(the_lock(mode)) }))
        }
        None => loop {
            match unblocked(try_lock()) {
                Some(entered) => return together(entered, None),
                None => {
                    current(|session| session.stalled("a lock that another task holds", Location::caller()));
                }
            }
        },
    }
}

/// Takes a real lock with `try_lock` if it is free.
#[track_caller]
pub(super) fn try_enter<G>(
    handle: &Handle,
    mode: Mode,
    try_lock: impl Fn() -> TryLockResult<G>,
) -> TryLockResult<(G, Option<Section>)> {
    let site = handle.site();
    if let Some(site) = site {
        site.before_section(Needs::Nothing);
    }
    let section = || site.map(|site| Section { site, _hold: site.hold(the_lock(mode)) });
    match try_lock() {
        Ok(guard) => Ok((guard, section())),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(TryLockError::Poisoned(PoisonError::new((poisoned.into_inner(), section()))))
        }
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

/// `None` when the lock was taken.
fn unblocked<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn together<G>(entered: LockResult<G>, section: Option<Section>) -> LockResult<(G, Option<Section>)> {
    map(entered, |guard| (guard, section))
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
