//! What a report says about the remaining tasks when an execution ends early.

use std::panic::Location;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use super::state::State;
use super::task::Gate;
use crate::execution::{Blocked, TaskReport};

impl State {
    /// The tasks that have not ended, for a report.
    pub(super) fn reports(&mut self) -> Vec<TaskReport> {
        self.update();
        (0..self.live).filter(|&task| !self.tasks[task].done).map(|task| self.report(task)).collect()
    }

    fn report(&self, index: usize) -> TaskReport {
        let task = &self.tasks[index];
        let holders = |lock: ObjectId| {
            let holds = |other: &usize| self.tasks[*other].held.iter().any(|held| held.lock == lock);
            (0..self.live).filter(holds).map(|other| TaskId(other as u32)).collect::<Vec<_>>()
        };
        let mut waits_for = match task.gate {
            Gate::Lock(lock, mode) => match self.objects[lock.index()].holders.admit_beside(mode) {
                // Only waiting writers keep the task out.
                true => self.writers(lock),
                false => holders(lock),
            },
            Gate::LockRecursive(lock) => holders(lock),
            Gate::Convert(lock, ..) => holders(lock).into_iter().filter(|other| other.index() != index).collect(),
            Gate::Needs => task.needs.iter().flat_map(|need| holders(need.lock)).collect(),
            Gate::Ended(other) => vec![other],
            _ => Vec::new(),
        };
        // What the task wants first is the lock that is not free.
        let wanted = match task.gate {
            Gate::Needs if task.position.is_none() => task.needs.iter().find(|need| !self.is_free(need)),
            _ => None,
        };
        let step = self.operation(index);
        let wants = wanted.map_or(step, |need| Operation {
            object: need.lock,
            action: Action::Pass(need.mode),
            location: step.location,
        });
        waits_for.sort_unstable();
        waits_for.dedup();
        TaskReport {
            task: TaskId(index as u32),
            name: task.name.clone(),
            wants,
            blocked: match task.gate {
                _ if task.position.is_some() => Blocked::No,
                Gate::Open => Blocked::No,
                Gate::Lock(..) | Gate::LockRecursive(_) | Gate::Convert(..) | Gate::Needs => Blocked::Lock,
                Gate::Ended(_) => Blocked::Join,
                Gate::Queue(_) => Blocked::Queue,
                Gate::Token => Blocked::Token,
                Gate::Clock => Blocked::Clock,
                Gate::Change => Blocked::Change,
            },
            waits_for,
            holds: task.held.clone(),
        }
    }

    /// The writers that wait for a lock and keep readers out.
    fn writers(&self, lock: ObjectId) -> Vec<TaskId> {
        let waits = |task: &usize| self.tasks[*task].contends == Some(lock);
        (0..self.live).filter(waits).map(|task| TaskId(task as u32)).collect()
    }

    /// The operations of the last steps, in the order of tasks and places.
    pub(super) fn recent(&self) -> Vec<(TaskId, Operation)> {
        const RECENT: usize = 256;
        let start = self.trace.len().saturating_sub(RECENT);
        let mut recent: Vec<_> = self.trace[start..].iter().map(|event| (event.task, event.operation)).collect();
        if recent.is_empty() {
            let left = (0..self.live).filter(|&task| !self.tasks[task].done);
            recent.extend(left.map(|task| (TaskId(task as u32), self.operation(task))));
        }
        let key = |&(task, operation): &(TaskId, Operation)| {
            let location: &Location<'_> = operation.location;
            (task, location.file(), location.line(), location.column(), operation.object, operation.action)
        };
        recent.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        recent.dedup();
        recent
    }
}
