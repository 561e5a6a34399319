//! The lot of a controlled run: each execution has its own.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

use interloper_std::runtime::{
    self, Action, Count, Current, Mode, ObjectId, ObjectKind, Operation, Place, Slot, Woken,
};
use interloper_std::time::Instant;

use crate::lot::{Locked, Park, Thread};
use crate::queues::Queues;
use crate::words::{ParkResult, UnparkToken};

/// A task that is parked.
#[derive(Clone)]
pub(crate) struct Parked(Rc<Sleeper>);

struct Sleeper {
    queue: ObjectId,
    token: Cell<Option<UnparkToken>>,
}

struct Lot {
    lock: ObjectId,
    queues: RefCell<Queues<Parked>>,
}

static LOT: Slot = Slot::new();

const KIND: ObjectKind = ObjectKind::Other("parking lot");

/// The lot, locked by the running task.
pub(crate) struct Guard(Rc<Lot>);

fn with<R>(use_it: impl FnOnce(Current<'_>) -> R) -> R {
    runtime::with(use_it).expect("in a controlled run")
}

#[track_caller]
pub(crate) fn lock() -> Guard {
    lock_at(Location::caller())
}

fn lock_at(location: Place) -> Guard {
    with(|current| {
        let lot = Lot::of(&current);
        current.runtime().acquire(lot.lock, Mode::Exclusive, location);
        Guard(lot)
    })
}

impl Lot {
    fn of(current: &Current<'_>) -> Rc<Lot> {
        let runtime = current.runtime();
        let lot = runtime.shared(LOT.index()).unwrap_or_else(|| {
            let lot = Rc::new(Lot { lock: runtime.register(KIND), queues: RefCell::new(Queues::new()) });
            runtime.set_shared(LOT.index(), lot.clone());
            lot
        });
        lot.downcast().expect("the slot is used here alone")
    }
}

impl Locked for Guard {
    type Thread = Parked;

    fn queues(&self) -> &RefCell<Queues<Parked>> {
        &self.0.queues
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        runtime::with(|current| current.runtime().let_go(self.0.lock, Mode::Exclusive));
    }
}

#[track_caller]
pub(crate) fn park<V, B, T>(park: Park<V, B, T>) -> ParkResult
where
    V: FnOnce() -> bool,
    B: FnOnce(),
    T: FnOnce(usize, bool),
{
    /// In the queue until this value is dropped.
    struct Queued(Rc<Lot>, Parked);
    impl Drop for Queued {
        fn drop(&mut self) {
            self.0.queues.borrow_mut().remove(&self.1);
        }
    }
    let location = Location::caller();
    let guard = lock_at(location);
    if !(park.validate)() {
        return ParkResult::Invalid;
    }
    let thread =
        with(|current| Parked(Rc::new(Sleeper { queue: current.runtime().register(KIND), token: Cell::new(None) })));
    guard.queues().borrow_mut().push(park.key, park.park_token, thread.clone());
    let queued = Queued(guard.0.clone(), thread.clone());
    drop(guard);
    (park.before_sleep)();
    match thread.sleep(park.timeout, location) {
        Slept::Unparked(token) => return ParkResult::Unparked(token),
        // The caller looks again.
        Slept::Ended => return ParkResult::Invalid,
        Slept::TimedOut => {}
    }
    let guard = lock_at(location);
    // The task may have been unparked at the last moment.
    if let Some(token) = with(|current| thread.token(&current)) {
        return ParkResult::Unparked(token);
    }
    let removed = guard.queues().borrow_mut().remove(&thread);
    drop(queued);
    let (key, was_last) = removed.expect("who was not unparked is in a queue");
    (park.timed_out)(key, was_last);
    ParkResult::TimedOut
}

/// Why a task stops sleeping.
enum Slept {
    Unparked(UnparkToken),
    TimedOut,
    /// The execution has ended, and the task unwinds already.
    Ended,
}

impl Parked {
    /// The token, once the task is unparked: what came before the unparking happens before what the task does next.
    fn token(&self, current: &Current<'_>) -> Option<UnparkToken> {
        let token = self.0.token.get()?;
        current.runtime().take_over(self.0.queue);
        Some(token)
    }

    fn sleep(&self, timeout: Option<Instant>, location: Place) -> Slept {
        with(|current| {
            let runtime = current.runtime();
            let look = Operation { object: self.0.queue, action: Action::Read, location };
            loop {
                if let Some(token) = self.token(&current) {
                    return Slept::Unparked(token);
                }
                let left = timeout.map(|timeout| timeout.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    return Slept::TimedOut;
                }
                let woken = runtime.block(self.0.queue, left, look);
                if runtime.has_ended() && woken == Woken::Notified && self.0.token.get().is_none() {
                    return Slept::Ended;
                }
            }
        })
    }
}

impl PartialEq for Parked {
    fn eq(&self, other: &Parked) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Thread for Parked {
    fn give(&self, token: UnparkToken) {
        // The original stores into the thread's parker with `Release`, and the thread loads with `Acquire`: a fair unlock
        // hands its lock over by this alone.
        runtime::with(|current| current.runtime().hand_over(self.0.queue));
        self.0.token.set(Some(token));
    }

    fn wake(&self) {
        runtime::with(|current| current.runtime().wake(self.0.queue, Count::All));
    }
}
