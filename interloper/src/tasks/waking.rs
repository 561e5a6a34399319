//! The wakers of a task.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Wake, Waker};

use super::known;
use super::task::Task;

/// What all wakers of a task share, from the poll that made the first to the drop of the last.
struct Waking(Arc<Task>);

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

impl Drop for Waking {
    fn drop(&mut self) {
        if let Some(id) = self.0.id() {
            known::last_waker_dropped(id);
        }
    }
}

/// The wakers of a task that are left.
#[derive(Default)]
pub(super) struct Wakers(Mutex<Weak<Waking>>);

impl Wakers {
    /// A waker for the next poll. As long as wakers are left it is equal to them ([`Waker::will_wake`]).
    pub(super) fn waker(&self, task: &Arc<Task>) -> Waker {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waking = left.upgrade().unwrap_or_else(|| Arc::new(Waking(Arc::clone(task))));
        *left = Arc::downgrade(&waking);
        Waker::from(waking)
    }

    /// Whether there are wakers besides that of the poll.
    pub(super) fn are_kept(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).strong_count() > 1
    }

    /// Whether a waker belongs to the task.
    pub(super) fn is_own(&self, waker: &Waker) -> bool {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        left.is_some_and(|waking| waker.will_wake(&Waker::from(waking)))
    }
}
