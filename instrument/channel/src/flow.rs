//! What the ends of a channel share under control.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use interloper_std::runtime::{Action, Count, Current, Handle, ObjectId, ObjectKind, Operation, Place};

use crate::meeting::Meeting;
use crate::wait::{Token, lock};

/// A channel under control. The messages are in the original, except for a channel without a buffer, where senders and
/// receivers meet. Used only inside steps.
pub(crate) struct Flow<T> {
    handle: Handle,
    pub(crate) capacity: Option<usize>,
    pub(crate) senders: AtomicUsize,
    pub(crate) receivers: AtomicUsize,
    /// The selections that wait for a change.
    watchers: Mutex<Vec<Arc<Token>>>,
    /// The promises to selections.
    promised: Mutex<Promised<T>>,
    pub(crate) meeting: Meeting<T>,
}

/// The promises to selections, by their tokens.
struct Promised<T> {
    messages: Vec<(ObjectId, T)>,
    room: Vec<ObjectId>,
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

    /// A step on the channel.
    pub(crate) fn step(&self, current: &Current<'_>, action: Action, location: Place) -> Operation {
        let operation = Operation { object: self.object(current), action, location };
        current.runtime().step(operation);
        operation
    }

    /// All waiting tasks look again: part of the current step.
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

    /// Gives back the room that was promised.
    pub(crate) fn use_promised_room(&self, token: &Token) {
        lock(&self.promised).room.retain(|promised| *promised != token.queue);
    }

    /// Whether there is room for one more message beside `length` messages.
    pub(crate) fn has_room(&self, length: usize) -> bool {
        self.capacity.is_none_or(|capacity| length + lock(&self.promised).room.len() < capacity)
    }
}
