//! One operation of the running task on a bound collection: what the wrappers share.

use std::panic::Location;

use interloper_commutativity::{MethodId, Value};

use crate::session::{Effect, Handle, Needs, PartId, Step, controlled, current};

/// The call of an operation on a collection that is bound to the run of this thread's session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    part: PartId,
    location: &'static Location<'static>,
}

impl Handle {
    /// The caller as a site; `None` outside a controlled run and for a collection that is private to the method under
    /// test: the operation is then the original one.
    #[inline]
    #[track_caller]
    pub(crate) fn site(&self) -> Option<Site> {
        if !controlled() {
            return None;
        }
        // No closure here: `#[track_caller]` does not reach into one.
        let part = self.part()?;
        Some(Site { part, location: Location::caller() })
    }
}

impl Site {
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
        let Site { part, location } = *self;
        current(|session| session.before(&Step { part, method, arguments, needs, location }));
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
        current(|session| session.after(self.part, effect, self.location));
    }

    /// Keeps the locks `needs` until the result is dropped.
    #[inline]
    pub(crate) fn hold(&self, needs: Needs) -> Hold {
        current(|session| session.hold(self.part, needs, self.location));
        Hold { part: self.part, needs }
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
    part: PartId,
    needs: Needs,
}

impl Hold {
    /// The locks.
    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        current(|session| session.release(self.part, self.needs));
    }
}
