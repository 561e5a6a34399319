//! One operation of the running task on a bound collection: what the wrappers share.

use std::panic::Location;

use interloper_commutativity::{MethodId, Value};

use crate::session::{Effect, Handle, Needs, PartId, Step, controlled, current};

/// The call of an operation under a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// The collection; `None` for one that is no part of the run: nothing is announced or reported of it.
    part: Option<PartId>,
    location: &'static Location<'static>,
}

impl Handle {
    /// The caller as a site; `None` outside a controlled run and for a collection that is private to the method under
    /// test: the operation is then the original one.
    #[inline]
    #[track_caller]
    pub(crate) fn site(&self) -> Option<Site> {
        self.site_or_private().filter(|site| !site.is_private())
    }

    /// The caller as a site; `None` outside a controlled run. For a collection with locks, which may be shared by tasks
    /// though it is no part of the run: there is one thread, so a lock that is taken must not be waited for really.
    #[inline]
    #[track_caller]
    pub(crate) fn site_or_private(&self) -> Option<Site> {
        if !controlled() {
            return None;
        }
        Some(Site { part: self.part(), location: Location::caller() })
    }
}

impl Site {
    /// Whether the collection is no part of the run.
    #[inline]
    pub(crate) fn is_private(&self) -> bool {
        self.part.is_none()
    }

    /// Announces a call of `method`. Returns when it may happen.
    #[inline]
    pub(crate) fn before(&self, method: MethodId, arguments: &[Value], needs: Needs) {
        self.announce(Some(method), arguments, needs);
    }

    /// Announces a critical section. Returns when its lock is free.
    #[inline]
    pub(crate) fn before_section(&self, needs: Needs) {
        self.announce(None, &[], needs);
    }

    #[inline]
    fn announce(&self, method: Option<MethodId>, arguments: &[Value], needs: Needs) {
        let Site { part: Some(part), location } = *self else { return };
        current(|session| session.before(&Step { part, method, arguments, needs, location }));
    }

    /// For a private collection: lets others run until `free`.
    #[cold]
    pub(crate) fn wait_until(&self, free: impl Fn() -> bool) {
        while !free() {
            current(|session| session.stalled("a lock that another task holds", self.location));
        }
    }

    /// Reports that `method` happened.
    #[inline]
    pub(crate) fn after(&self, method: MethodId, arguments: &[Value], result: &Value) {
        self.report(Effect::Call { method, arguments, result });
    }

    /// Reports that a critical section left the collection in `state`.
    #[inline]
    pub(crate) fn after_section(&self, state: &Value) {
        self.report(Effect::Section { state });
    }

    #[inline]
    fn report(&self, effect: Effect<'_>) {
        let Some(part) = self.part else { return };
        current(|session| session.after(part, effect, self.location));
    }

    /// Keeps the locks `needs` until the result is dropped.
    #[inline]
    pub(crate) fn hold(&self, needs: Needs) -> Hold {
        self.take(needs);
        Hold { part: self.part, needs }
    }

    /// Keeps the locks `needs` until they are [given back](Site::give_back).
    #[inline]
    pub(crate) fn take(&self, needs: Needs) {
        if let Some(part) = self.part {
            current(|session| session.hold(part, needs, self.location));
        }
    }

    /// Gives back locks that were [taken](Site::take).
    #[inline]
    pub(crate) fn give_back(&self, needs: Needs) {
        release(self.part, needs);
    }

    /// A step without locks: announces the call, does it and reports it. `work` gives what the program gets, and the
    /// result in the abstract type.
    #[inline]
    pub(crate) fn step<R>(&self, method: MethodId, arguments: &[Value], work: impl FnOnce() -> (R, Value)) -> R {
        self.before(method, arguments, Needs::Nothing);
        let (gives, result) = work();
        self.after(method, arguments, &result);
        gives
    }
}

/// The session keeps the promise that a step is let go only when its lock is free.
pub(crate) const TAKEN: &str = "internal error, please report: the session let a step happen whose lock is taken";

/// Locks that a guard keeps. The guard must give up the real lock before this is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    part: Option<PartId>,
    needs: Needs,
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        release(self.part, self.needs);
    }
}

#[inline]
fn release(part: Option<PartId>, needs: Needs) {
    current(|session| match part {
        Some(part) => session.release(part, needs),
        None => session.progressed(),
    });
}
