//! What a task has seen of memory.

use std::sync::atomic::Ordering;

use interloper_std::runtime::TaskId;

use super::location::Message;
use super::{acquires, releases};
use crate::vector_clock::VectorClock;

/// What a task has seen. Its events are numbered from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Views {
    /// What happens before its next event.
    pub(super) current: VectorClock,
    /// What will happen before the events after its next acquire fence.
    pub(super) pending: VectorClock,
    /// What happened before its last release fence, and the fence. Nothing if there was none.
    pub(super) released: VectorClock,
    /// How many events it has had.
    pub(super) events: usize,
    pub(super) ended: bool,
}

impl Views {
    /// The next event: its number.
    #[inline]
    pub(super) fn event(&mut self, task: TaskId) -> usize {
        let event = self.events;
        self.events += 1;
        self.current.set(task, event);
        event
    }

    /// The present event reads a store.
    #[inline]
    pub(super) fn read(&mut self, order: Ordering, message: &Message) {
        if acquires(order) { &mut self.current } else { &mut self.pending }.join(&message.released);
    }

    /// What the present event releases if it is a store.
    #[inline]
    pub(super) fn releases(&self, order: Ordering) -> &VectorClock {
        if releases(order) { &self.current } else { &self.released }
    }

    pub(super) fn restart(&mut self) {
        self.current.clear();
        self.pending.clear();
        self.released.clear();
        (self.events, self.ended) = (0, false);
    }
}
