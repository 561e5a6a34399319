//! What tests of strategies share.

use std::panic::Location;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use crate::{Cause, Event};

/// An event of a task, on the object of this number.
#[track_caller]
pub(super) fn event(task: u32, object: u32, action: Action) -> Event {
    let operation = Operation { object: ObjectId::from_index(object), action, location: Location::caller() };
    Event { task: TaskId(task), operation, continues: action == Action::Spawn, only_read: false, cause: Cause::Ready }
}
