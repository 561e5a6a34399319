//! The operations on a locked lot, under control or outside.

use std::cell::RefCell;

use interloper_std::time::Instant;

use crate::queues::Queues;
use crate::words::{FilterOp, ParkToken, RequeueOp, UnparkResult, UnparkToken};

/// A thread that is parked.
pub(crate) trait Thread: Clone + PartialEq {
    /// The thread is unparked from now on.
    fn give(&self, token: UnparkToken);

    /// Lets the thread go on. The lot is no longer locked.
    fn wake(&self);
}

/// A lot that is locked until this value is dropped. Functions of the user run meanwhile: nothing is borrowed then.
pub(crate) trait Locked {
    type Thread: Thread;

    fn queues(&self) -> &RefCell<Queues<Self::Thread>>;
}

/// The functions that [`park`](crate::park) received.
pub(crate) struct Park<V, B, T> {
    pub(crate) key: usize,
    pub(crate) validate: V,
    pub(crate) before_sleep: B,
    pub(crate) timed_out: T,
    pub(crate) park_token: ParkToken,
    pub(crate) timeout: Option<Instant>,
}

pub(crate) fn unpark_one<L: Locked>(
    lot: L,
    key: usize,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let (thread, result) = lot.queues().borrow_mut().pop(key);
    let token = callback(result);
    unpark(lot, thread.into_iter().collect(), token);
    result
}

pub(crate) fn unpark_all<L: Locked>(lot: L, key: usize, token: UnparkToken) -> usize {
    let threads = lot.queues().borrow_mut().take(key);
    let count = threads.len();
    unpark(lot, threads, token);
    count
}

pub(crate) fn unpark_requeue<L: Locked>(
    lot: L,
    from: usize,
    to: usize,
    validate: impl FnOnce() -> RequeueOp,
    callback: impl FnOnce(RequeueOp, UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let operation = validate();
    if operation == RequeueOp::Abort {
        return UnparkResult::default();
    }
    let (thread, result) = lot.queues().borrow_mut().requeue(from, to, operation);
    let token = callback(operation, result);
    unpark(lot, thread.into_iter().collect(), token);
    result
}

pub(crate) fn unpark_filter<L: Locked>(
    lot: L,
    key: usize,
    mut filter: impl FnMut(ParkToken) -> FilterOp,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let (mut threads, mut more) = (Vec::new(), false);
    let list = lot.queues().borrow().list(key);
    for (token, thread) in list {
        match filter(token) {
            FilterOp::Unpark => {
                lot.queues().borrow_mut().remove(&thread);
                threads.push(thread);
            }
            FilterOp::Skip => more = true,
            FilterOp::Stop => {
                more = true;
                break;
            }
        }
    }
    let result = UnparkResult::new(threads.len(), 0, more);
    let token = callback(result);
    unpark(lot, threads, token);
    result
}

fn unpark<L: Locked>(lot: L, threads: Vec<L::Thread>, token: UnparkToken) {
    threads.iter().for_each(|thread| thread.give(token));
    drop(lot);
    threads.iter().for_each(Thread::wake);
}
