//! `Barrier`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::control::{self, Mirror};
use crate::runtime::{self, Action, Count, Current, ExecutionId, Handle, ObjectKind, Operation, Place};

/// Mirrors [`std::sync::Barrier`].
pub struct Barrier {
    handle: Handle,
    threads: usize,
    /// How many tasks of the running execution wait.
    waiting: AtomicUsize,
    /// The meeting that they wait for.
    meeting: Mutex<Option<Arc<Meeting>>>,
    inner: std::sync::Barrier,
}

/// Mirrors [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(Leads);

/// Whether a thread leads.
enum Leads {
    Known(bool),
    /// The thread with this number of arrival, from 0.
    Arrived(usize, Arc<Meeting>),
}

/// Threads that leave a barrier together. std says that an arbitrary one leads, so the run decides which one, when the
/// first of them asks: a program that does not ask leaves nothing to explore.
struct Meeting {
    execution: ExecutionId,
    threads: usize,
    /// The number of arrival of the leader; a larger number than any: undecided.
    leader: AtomicUsize,
}

impl Meeting {
    /// Whether the thread with this number of arrival leads. By default the last one does.
    fn is_led_by(&self, number: usize) -> bool {
        let mut leader = self.leader.load(Ordering::Relaxed);
        if leader >= self.threads {
            let choose = |current: Current<'_>| match current.execution() == self.execution {
                true => current.runtime().choose(self.threads as u32) as usize,
                false => 0,
            };
            leader = self.threads - 1 - runtime::with(choose).unwrap_or(0);
            self.leader.store(leader, Ordering::Relaxed);
        }
        leader == number
    }
}

impl Mirror for Barrier {
    const KIND: ObjectKind = ObjectKind::Barrier;
    const OWNS: bool = true;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Barrier {
    /// As [`std::sync::Barrier::new`].
    #[must_use]
    #[inline]
    pub const fn new(n: usize) -> Barrier {
        let (waiting, inner) = (AtomicUsize::new(0), std::sync::Barrier::new(n));
        Barrier { handle: Handle::new(), threads: n, waiting, meeting: Mutex::new(None), inner }
    }

    /// As [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let location = Location::caller();
        let leads = runtime::with(|current| self.wait_under_control(&current, location));
        BarrierWaitResult(leads.unwrap_or_else(|| Leads::Known(self.inner.wait().is_leader())))
    }

    fn wait_under_control(&self, current: &Current<'_>, location: Place) -> Leads {
        let (runtime, fresh) = (current.runtime(), self.handle.known(current).is_none());
        let (here, object) = control::here(current, self);
        let operation = |action| Operation { object, action, location };
        // In a static it belongs to the execution; elsewhere it may be left from another execution.
        if fresh && std::ptr::eq(here, self) {
            here.waiting.store(0, Ordering::Relaxed);
            here.take_meeting();
        }
        runtime.step(operation(Action::ReadWrite));
        let waiting = here.waiting.load(Ordering::Relaxed) + 1;
        if waiting < self.threads {
            here.waiting.store(waiting, Ordering::Relaxed);
            let meeting = here.meeting(current.execution());
            runtime.block(object, None, operation(Action::Read));
            Leads::Arrived(waiting - 1, meeting)
        } else if waiting == 1 {
            Leads::Known(true)
        } else {
            here.waiting.store(0, Ordering::Relaxed);
            let meeting = here.meeting(current.execution());
            here.take_meeting();
            runtime.wake(object, Count::All);
            Leads::Arrived(waiting - 1, meeting)
        }
    }

    /// The meeting of the tasks that arrive now.
    fn meeting(&self, execution: ExecutionId) -> Arc<Meeting> {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Meeting { execution, threads: self.threads, leader: AtomicUsize::new(self.threads) };
        meeting.get_or_insert_with(|| Arc::new(fresh())).clone()
    }

    /// Tasks that arrive from now on wait for others.
    fn take_meeting(&self) {
        drop(self.meeting.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl BarrierWaitResult {
    /// As [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        match &self.0 {
            Leads::Known(leads) => *leads,
            Leads::Arrived(number, meeting) => meeting.is_led_by(*number),
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
