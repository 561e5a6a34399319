//! One operation of the running task on a bound collection: what the wrappers share.

use std::panic::Location;

use interloper_commutativity::{MethodId, Value};
use interloper_std::runtime;

use crate::session::{Effect, Handle, Mode, Needs, PartId, Session, Step, controlled, current, run};
use crate::task::Task;

/// The call of an operation under a session, or in a program that a runtime controls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    owner: Owner,
    location: &'static Location<'static>,
}

/// The receiver of a collection's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The session. The collection is this part of the run with this number.
    Part(PartId, u32),
    /// No receiver: a session is active, and the collection does not belong to its run.
    Private,
    /// The runtime: there is no session.
    Task(Task),
}

impl Handle {
    /// The caller as a site; `None` outside a controlled run and for a collection that is private to the method under
    /// test: the operation is then the original one.
    #[inline]
    #[track_caller]
    pub(crate) fn site(&self) -> Option<Site> {
        self.site_or_private().filter(|site| !site.is_private())
    }

    /// The caller as a site; `None` outside a controlled run. For a collection with locks, which tasks may share
    /// although it is not part of the run: there is one thread, so no task may really wait for a taken lock.
    #[inline]
    #[track_caller]
    pub(crate) fn site_or_private(&self) -> Option<Site> {
        self.site_of(true)
    }

    /// As [`Handle::site`], for an operation that never writes.
    #[inline]
    #[track_caller]
    pub(crate) fn reader(&self) -> Option<Site> {
        self.reader_or_private().filter(|site| !site.is_private())
    }

    /// As [`Handle::site_or_private`], for an operation that never writes.
    #[inline]
    #[track_caller]
    pub(crate) fn reader_or_private(&self) -> Option<Site> {
        self.site_of(false)
    }

    #[inline]
    #[track_caller]
    fn site_of(&self, writes: bool) -> Option<Site> {
        let location = Location::caller();
        if controlled() {
            let owner = self.part().map_or(Owner::Private, |part| Owner::Part(part, run()));
            if owner == Owner::Private {
                self.visit(location);
            }
            return Some(Site { owner, location });
        }
        if !runtime::is_controlled() {
            self.stray(location);
            return None;
        }
        self.tie().task(writes, location).map(|task| Site { owner: Owner::Task(task), location })
    }
}

impl Site {
    /// Whether the collection is not part of the run.
    #[inline]
    pub(crate) fn is_private(&self) -> bool {
        self.owner == Owner::Private
    }

    /// Whether a runtime controls the program.
    #[inline]
    pub(crate) fn is_task(&self) -> bool {
        matches!(self.owner, Owner::Task(_))
    }

    /// Announces a call of `method`. Returns when it may happen.
    #[inline]
    pub(crate) fn before(&self, method: MethodId, arguments: &[Value], needs: Needs) {
        match self.owner {
            Owner::Task(task) => task.step(method, arguments, needs, self.location),
            _ => self.announce(Some(method), arguments, needs),
        }
    }

    /// Announces a call of `method` that gives up when a lock of `needs` is taken. Returns false when the lock is known to
    /// be taken although the original does not know it: a guard that ends releases the original's lock a step earlier. In
    /// all other cases the original's own attempt tells.
    #[inline]
    pub(crate) fn before_attempt(&self, method: MethodId, arguments: &[Value], needs: Needs) -> bool {
        match self.owner {
            Owner::Task(task) => task.attempt(method, arguments, needs, self.location),
            _ => {
                self.announce(Some(method), arguments, Needs::Nothing);
                true
            }
        }
    }

    /// Announces a critical section. Returns when its lock is free; under a runtime, the task then has the lock.
    #[inline]
    pub(crate) fn before_section(&self, needs: Needs) {
        match (self.owner, needs) {
            (Owner::Task(task), Needs::One(_, mode)) => task.lock(mode, self.location),
            _ => self.announce(None, &[], needs),
        }
    }

    /// Announces a critical section that gives up when the lock is taken. Returns false when a runtime says that it is
    /// taken.
    #[inline]
    pub(crate) fn try_section(&self, mode: Mode) -> bool {
        match self.owner {
            Owner::Task(task) => task.try_lock(mode, self.location),
            _ => {
                self.announce(None, &[], Needs::Nothing);
                true
            }
        }
    }

    #[inline]
    fn announce(&self, method: Option<MethodId>, arguments: &[Value], needs: Needs) {
        let location = self.location;
        self.with_part(|session, part| session.before(&Step { part, method, arguments, needs, location }));
    }

    /// For a private collection: lets other tasks run until `free`.
    #[cold]
    pub(crate) fn wait_until(&self, free: impl Fn() -> bool) {
        while !free() {
            current(|session| session.stalled("a lock that another task holds", self.location));
        }
    }

    /// Reports that `method` happened.
    #[inline]
    pub(crate) fn after(&self, method: MethodId, arguments: &[Value], result: &Value) {
        match self.owner {
            Owner::Task(task) => task.after(method, result),
            _ => self.report(Effect::Call { method, arguments, result }),
        }
    }

    /// The last step changed nothing: for a method whose result does not say so.
    #[inline]
    pub(crate) fn only_read(&self) {
        if let Owner::Task(task) = self.owner {
            task.only_read();
        }
    }

    /// Reports that a critical section left the collection in `state`.
    #[inline]
    pub(crate) fn after_section(&self, state: impl FnOnce() -> Value) {
        if let Owner::Part(..) = self.owner {
            self.report(Effect::Section { state: &state() });
        }
    }

    #[inline]
    fn report(&self, effect: Effect<'_>) {
        self.with_part(|session, part| session.after(part, effect, self.location));
    }

    /// Calls `use_it` with the session and the part of the collection, but only in the same run: a guard can outlive
    /// its run (in a static, say), and then has nothing to report.
    #[inline]
    fn with_part(&self, use_it: impl FnOnce(&dyn Session, PartId)) {
        if let Owner::Part(part, number) = self.owner
            && number == run()
        {
            current(|session| use_it(session, part));
        }
    }

    /// Keeps the locks `needs` until the result is dropped.
    #[inline]
    pub(crate) fn hold(&self, needs: Needs) -> Hold {
        self.keep(needs, false);
        Hold { site: *self, needs }
    }

    /// Keeps the locks `needs` until they are [given back](Site::give_back).
    #[inline]
    pub(crate) fn take(&self, needs: Needs) {
        self.keep(needs, true);
    }

    fn keep(&self, needs: Needs, known: bool) {
        match self.owner {
            Owner::Part(..) => self.with_part(|session, part| session.hold(part, needs, self.location)),
            Owner::Private => {}
            Owner::Task(task) => task.keep(needs, known, self.location),
        }
    }

    /// Gives back locks that were [taken](Site::take).
    #[inline]
    pub(crate) fn give_back(&self, needs: Needs) {
        self.release(needs, true);
    }

    /// Keeps a lock shared that was [taken](Site::take) exclusively.
    pub(crate) fn downgrade(&self, needs: Needs) -> Hold {
        let Needs::One(lock, _) = needs else { return self.hold(needs) };
        let shared = Needs::One(lock, Mode::Shared);
        match self.owner {
            Owner::Task(task) => task.downgrade(needs, self.location),
            _ => {
                self.give_back(needs);
                self.keep(shared, false);
            }
        }
        Hold { site: *self, needs: shared }
    }

    #[inline]
    fn release(&self, needs: Needs, known: bool) {
        match self.owner {
            Owner::Part(..) => self.with_part(|session, part| session.release(part, needs)),
            Owner::Private => {
                current(|session| session.progressed());
            }
            Owner::Task(task) => task.free(needs, known, self.location),
        }
    }

    /// A step without locks: announces the call, runs it and reports it. `work` returns the result for the program, and
    /// the result in the abstract type.
    #[inline]
    pub(crate) fn step<R>(&self, method: MethodId, arguments: &[Value], work: impl FnOnce() -> (R, Value)) -> R {
        self.before(method, arguments, Needs::Nothing);
        let (gives, result) = work();
        self.after(method, arguments, &result);
        gives
    }
}

/// The session promises to start a step only when its lock is free.
pub(crate) const TAKEN: &str = "internal error, please report: the session let a step happen whose lock is taken";

/// Locks that a guard keeps. The guard must release the real lock before this value is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    site: Site,
    needs: Needs,
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        self.site.release(self.needs, false);
    }
}
