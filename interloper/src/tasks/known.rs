//! What reports say about the tasks of executors: kept while an execution runs, read when it has ended.

use std::cell::RefCell;
use std::collections::BTreeMap;

use interloper_std::runtime::{self, Action, ObjectKind, Operation, Place, TaskId};

use super::{JOINT, WORKERS};

/// What is known of the tasks of the last execution of this thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) tasks: BTreeMap<TaskId, KnownTask>,
    /// A poll began while another task of the executor was ready.
    pub(crate) chose: bool,
    /// Some executor lets polls overlap.
    pub(crate) overlaps: bool,
    /// Where the future that is being polled awaits something, as far as it has told.
    awaits: Option<Place>,
}

/// What is known of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownTask {
    pub(crate) name: Option<String>,
    /// Where it was spawned. None for the future that was given to `block_on`.
    pub(crate) spawned: Option<Place>,
    /// Where it was suspended last.
    pub(crate) suspended: Option<Suspended>,
    pub(crate) wakers: Wakers,
}

/// Where a task is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspended {
    /// At this await.
    At(Place),
    /// After this step.
    After(Place),
}

/// Which wakers of a suspended task are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wakers {
    /// The last poll has left none.
    #[default]
    NoneKept,
    /// At least one.
    Left,
    /// This task has dropped the last one, after this step.
    Dropped(TaskId, Place),
}

impl Known {
    /// Whether the order in which tasks are polled is the only choice of an execution with this number of tasks: all of them
    /// belong to executors that poll one task at a time.
    pub(crate) fn polls_are_all(&self, tasks: usize) -> bool {
        !self.overlaps && self.tasks.len() == tasks
    }
}

/// Whether a step is about an executor and not about what its tasks do.
pub(crate) fn is_of_executor(operation: Operation, kind: Option<ObjectKind>) -> bool {
    match kind {
        Some(ObjectKind::EXECUTOR | JOINT | WORKERS) => true,
        Some(ObjectKind::Task) => matches!(operation.action, Action::Wait(_) | Action::Notify(_) | Action::ReadWrite),
        _ => false,
    }
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Forgets everything: an execution begins.
pub(crate) fn restart() {
    KNOWN.with_borrow_mut(|known| *known = Known::default());
}

/// What is known of the last execution.
pub(crate) fn read<R>(read: impl FnOnce(&Known) -> R) -> R {
    KNOWN.with_borrow(|known| read(known))
}

/// Changes what is known, while an execution runs. What happens after its end, while tasks unwind, is of no interest.
fn note(change: impl FnOnce(&mut Known)) {
    let runs = runtime::with(|current| !current.runtime().has_ended());
    if runs == Some(true) {
        KNOWN.with_borrow_mut(change);
    }
}

pub(super) fn begin(task: TaskId, name: Option<String>, spawned: Option<Place>, one_at_a_time: bool) {
    note(|known| {
        known.overlaps |= !one_at_a_time;
        known.tasks.insert(task, KnownTask { name, spawned, ..KnownTask::default() });
    });
}

pub(super) fn chose() {
    note(|known| known.chose = true);
}

pub(super) fn begin_poll() {
    note(|known| known.awaits = None);
}

/// The future that is being polled is not ready, and is awaited here.
pub(super) fn awaits(place: Place) {
    note(|known| known.awaits = Some(place));
}

pub(super) fn is_suspended(task: TaskId, last: Option<Place>, wakers_are_kept: bool) {
    note(|known| {
        let at = known.awaits.take().map(Suspended::At);
        if let Some(task) = known.tasks.get_mut(&task) {
            task.suspended = at.or(last.map(Suspended::After));
            task.wakers = if wakers_are_kept { Wakers::Left } else { Wakers::NoneKept };
        }
    });
}

/// The last waker of a task is dropped.
pub(super) fn last_waker_dropped(task: TaskId) {
    let by = runtime::with(|current| (current.runtime().task(), current.runtime().last_place()));
    if let Some((by, after)) = by {
        note(|known| {
            if let Some(task) = known.tasks.get_mut(&task).filter(|task| task.wakers == Wakers::Left) {
                task.wakers = Wakers::Dropped(by, after);
            }
        });
    }
}
