//! What the ends of a channel share under control.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{Action, Count, Current, Handle, ObjectId, ObjectKind, Operation, Place};

use crate::meeting::Meeting;

/// A channel under control. The messages are in the original, but for those of a channel without a buffer, where senders
/// and receivers meet. Looked at inside of steps alone.
pub(crate) struct Flow<T> {
    handle: Handle,
    pub(crate) capacity: Option<usize>,
    pub(crate) senders: AtomicUsize,
    pub(crate) receivers: AtomicUsize,
    /// The selections that wait for a change.
    watchers: Mutex<Vec<Arc<Token>>>,
    /// What was promised to selections.
    promised: Mutex<Promised<T>>,
    pub(crate) meeting: Meeting<T>,
}

/// What selections have been promised, by their tokens.
struct Promised<T> {
    messages: Vec<(ObjectId, T)>,
    room: Vec<ObjectId>,
}

/// A wait.
pub(crate) struct Token {
    /// Where the task waits. Of its own, so it tells waits apart.
    pub(crate) queue: ObjectId,
    /// Something has changed since the task looked.
    changed: AtomicBool,
    /// The case of a selection that somebody has met; 1 more than that, or 0.
    met: AtomicUsize,
}

impl Token {
    pub(crate) fn new(current: &Current<'_>) -> Arc<Token> {
        let queue = current.runtime().register(ObjectKind::Channel);
        Arc::new(Token { queue, changed: AtomicBool::new(false), met: AtomicUsize::new(0) })
    }

    /// Lets the task look again: part of the step that the running one is in.
    pub(crate) fn wake(&self, current: &Current<'_>) {
        self.changed.store(true, Ordering::Relaxed);
        current.runtime().wake(self.queue, Count::All);
    }

    /// Somebody meets the task at this case, and nobody else does. False if somebody has done so already.
    pub(crate) fn meet(&self, case: usize) -> bool {
        self.met.compare_exchange(0, case + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The case at which somebody has met the task.
    pub(crate) fn met(&self) -> Option<usize> {
        self.met.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Waits in front of the step `then`, unless something has changed meanwhile.
    pub(crate) fn block(&self, current: &Current<'_>, left: Option<Duration>, then: Operation) {
        if !self.changed.swap(false, Ordering::Relaxed) {
            current.runtime().block(self.queue, left, then);
            self.changed.store(false, Ordering::Relaxed);
        }
    }
}

impl<T> Flow<T> {
    pub(crate) fn new(capacity: Option<usize>) -> Flow<T> {
        Flow {
            handle: Handle::new(),
            capacity,
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            watchers: Mutex::new(Vec::new()),
            promised: Mutex::new(Promised { messages: Vec::new(), room: Vec::new() }),
            meeting: Meeting::new(),
        }
    }

    pub(crate) fn object(&self, current: &Current<'_>) -> ObjectId {
        self.handle.object(current, ObjectKind::Channel)
    }

    /// A step on the channel, as what it is.
    pub(crate) fn step(&self, current: &Current<'_>, action: Action, location: Place) -> Operation {
        let operation = Operation { object: self.object(current), action, location };
        current.runtime().step(operation);
        operation
    }

    /// Everybody who waits looks again: part of the step that the task is in.
    pub(crate) fn changed(&self, current: &Current<'_>) {
        current.runtime().wake(self.object(current), Count::All);
        let watchers = lock(&self.watchers).clone();
        watchers.iter().for_each(|watcher| watcher.wake(current));
    }

    /// An end of the channel is gone.
    pub(crate) fn end_is_gone(&self, current: &Current<'_>) {
        self.changed(current);
        self.meeting.wake_all(current);
    }

    pub(crate) fn meets(&self) -> bool {
        self.capacity == Some(0)
    }

    pub(crate) fn nobody_sends(&self) -> bool {
        self.senders.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn nobody_receives(&self) -> bool {
        self.receivers.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn watch(&self, token: &Arc<Token>) {
        lock(&self.watchers).push(token.clone());
    }

    pub(crate) fn unwatch(&self, token: &Arc<Token>) {
        lock(&self.watchers).retain(|watcher| !Arc::ptr_eq(watcher, token));
    }

    pub(crate) fn promise_message(&self, token: &Token, message: T) {
        lock(&self.promised).messages.push((token.queue, message));
    }

    pub(crate) fn promised_message(&self, token: &Token) -> Option<T> {
        let messages = &mut lock(&self.promised).messages;
        let position = messages.iter().position(|promised| promised.0 == token.queue)?;
        Some(messages.remove(position).1)
    }

    pub(crate) fn promise_room(&self, token: &Token) {
        lock(&self.promised).room.push(token.queue);
    }

    /// Gives up the room that was promised.
    pub(crate) fn use_promised_room(&self, token: &Token) {
        lock(&self.promised).room.retain(|promised| *promised != token.queue);
    }

    /// Whether another message has room beside `length` of them.
    pub(crate) fn has_room(&self, length: usize) -> bool {
        self.capacity.is_none_or(|capacity| length + lock(&self.promised).room.len() < capacity)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A point of the virtual clock, and what is left until then.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Duration>);

impl Deadline {
    pub(crate) fn after(current: &Current<'_>, timeout: Option<Duration>) -> Deadline {
        Deadline(timeout.map(|timeout| current.runtime().now().saturating_add(timeout)))
    }

    /// What is left; nothing if there is no end.
    pub(crate) fn left(self, current: &Current<'_>) -> Option<Duration> {
        self.0.map(|deadline| deadline.saturating_sub(current.runtime().now()))
    }

    pub(crate) fn has_passed(self, current: &Current<'_>) -> bool {
        self.left(current) == Some(Duration::ZERO)
    }
}
