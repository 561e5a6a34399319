//! What the tests of several modules share.

use std::panic::Location;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use crate::{Cause, Event};

/// An event that is a step of its own, of a task, on the object of this number. All of them have one place.
pub(crate) fn step(task: u32, object: u32, action: Action) -> Event {
    let operation = Operation { object: ObjectId::from_index(object), action, location: Location::caller() };
    Event { task: TaskId(task), operation, continues: false, only_read: false, cause: Cause::Ready }
}

/// The same at the place of the caller; spawning a task makes no step of its own.
#[track_caller]
pub(crate) fn event(task: u32, object: u32, action: Action) -> Event {
    let mut event = step(task, object, action);
    (event.operation.location, event.continues) = (Location::caller(), action == Action::Spawn);
    event
}

/// Numbers below a bound, from a stream that each test begins anew.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}
