//! Names of tasks and objects that do not depend on the schedule.
//!
//! The engine numbers tasks as they are spawned and objects as they are first used, so a number means something else in
//! an execution in which another task came first. So the search names whatever it keeps from one execution to the next
//! by its origin, and compares these names after the common part of two executions.

use std::collections::BTreeMap;

use interloper_std::runtime::TaskId;

use crate::decisions::mix;

/// A task: the same in each execution in which its ancestors have spawned as many before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TaskName(pub(super) u32);

/// A step after a state: so many steps of its task come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nth {
    pub(super) task: TaskName,
    pub(super) count: u32,
}

const MAIN: TaskName = TaskName(0);

/// What a task uses: the same in each execution in which the task has come there by the same steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use(pub(super) u64);

/// A step with all that happens before it: after such a step, two executions continue alike as far as its task has seen
/// nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past(u64);

/// Several pasts together. A sum, since the order of independent steps does not matter; the order of dependent steps is in
/// what happens before each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// These pasts and one more.
    pub(super) fn with(self, past: Past) -> Sum {
        Sum(self.0.wrapping_add(past.0))
    }

    /// These pasts and the others.
    pub(super) fn and(self, other: Sum) -> Sum {
        Sum(self.0.wrapping_add(other.0))
    }
}

/// The names of the tasks of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// By the parent, and how many it has spawned before.
    pub(super) names: BTreeMap<(TaskName, u32), TaskName>,
}

/// The names of the tasks of an execution, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    pub(super) spawned: Vec<Task>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) name: TaskName,
    /// How many tasks it has spawned.
    pub(super) children: u32,
}

impl Tasks {
    /// The main task alone.
    pub(super) fn new() -> Tasks {
        Tasks { spawned: vec![Task { name: MAIN, children: 0 }] }
    }

    /// A task spawns another one, which gets the next number.
    pub(super) fn spawn(&mut self, names: &mut Names, parent: TaskId) {
        let Task { name, children } = &mut self.spawned[parent.index()];
        let fresh = TaskName(names.names.len() as u32 + 1);
        let name = *names.names.entry((*name, *children)).or_insert(fresh);
        *children += 1;
        self.spawned.push(Task { name, children: 0 });
    }

    /// The name of a task.
    pub(super) fn name(&self, task: TaskId) -> TaskName {
        self.spawned[task.index()].name
    }
}

impl Past {
    /// The past of a task that has made no step.
    pub(super) fn nothing(task: TaskName) -> Past {
        Past(mix(u64::from(task.0), 0))
    }

    /// The past of a step of `task` after these pasts; `answers` stand for the decisions within the step.
    pub(super) fn new(task: TaskName, before: Sum, answers: &[u32]) -> Past {
        let step = mix(before.0, u64::from(task.0) + 1);
        Past(answers.iter().fold(step, |step, answer| mix(step, 1 + u64::from(*answer))))
    }

    /// The object of the operation that the task makes next.
    pub(super) fn next(self) -> Use {
        Use(mix(self.0, 0))
    }

    /// The lock that the task gives back with that operation.
    pub(super) fn next_lock(self) -> Use {
        Use(mix(self.0, 1))
    }

    /// The object of a part of the step, counted from 1.
    pub(super) fn part(self, number: usize) -> Use {
        Use(mix(self.0, 1 + number as u64))
    }
}
