//! The lot outside controlled runs.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use interloper_std::time::Instant;

use crate::lot::{Locked, Park, Thread};
use crate::queues::Queues;
use crate::words::{ParkResult, UnparkToken};

/// A thread that is parked.
#[derive(Clone)]
pub(crate) struct Parked(Arc<(Mutex<Cell<Option<UnparkToken>>>, Condvar)>);

type Lot = Mutex<RefCell<Queues<Parked>>>;

static LOT: Lot = Mutex::new(RefCell::new(Queues::new()));

pub(crate) struct Guard(MutexGuard<'static, RefCell<Queues<Parked>>>);

pub(crate) fn lock() -> Guard {
    Guard(LOT.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Locked for Guard {
    type Thread = Parked;

    fn queues(&self) -> &RefCell<Queues<Parked>> {
        &self.0
    }
}

pub(crate) fn park<V, B, T>(park: Park<V, B, T>) -> ParkResult
where
    V: FnOnce() -> bool,
    B: FnOnce(),
    T: FnOnce(usize, bool),
{
    let lot = lock();
    if !(park.validate)() {
        return ParkResult::Invalid;
    }
    let thread = Parked(Arc::default());
    lot.queues().borrow_mut().push(park.key, park.park_token, thread.clone());
    drop(lot);
    (park.before_sleep)();
    if let Some(token) = thread.sleep(park.timeout) {
        return ParkResult::Unparked(token);
    }
    let lot = lock();
    // The thread may have been unparked at the last moment.
    if let Some(token) = thread.token().get() {
        return ParkResult::Unparked(token);
    }
    let removed = lot.queues().borrow_mut().remove(&thread);
    let (key, was_last) = removed.expect("who was not unparked is in a queue");
    (park.timed_out)(key, was_last);
    ParkResult::TimedOut
}

impl Parked {
    fn token(&self) -> MutexGuard<'_, Cell<Option<UnparkToken>>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the token, until the time has passed.
    fn sleep(&self, timeout: Option<Instant>) -> Option<UnparkToken> {
        let mut token = self.token();
        while token.get().is_none() {
            let Some(timeout) = timeout else {
                token = self.0.1.wait(token).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = timeout.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            token = self.0.1.wait_timeout(token, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        token.get()
    }
}

impl PartialEq for Parked {
    fn eq(&self, other: &Parked) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Thread for Parked {
    fn give(&self, token: UnparkToken) {
        self.token().set(Some(token));
    }

    fn wake(&self) {
        self.0.1.notify_one();
    }
}
