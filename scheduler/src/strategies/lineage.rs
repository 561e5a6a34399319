//! Names of tasks that are the same in each execution in which their ancestors have spawned as many tasks before them.

use interloper_std::runtime::TaskId;

use crate::decisions::mix;

/// The names of the tasks of an execution, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lineage(Vec<Task>);

#[derive(Clone, Copy, Debug)]
struct Task {
    name: u64,
    parent: Option<TaskId>,
    children: u64,
}

impl Lineage {
    /// The main task alone.
    pub(crate) fn begin(&mut self) {
        self.0.clear();
        self.0.push(Task { name: 0, parent: None, children: 0 });
    }

    /// A task spawns another one, which gets the next number.
    pub(crate) fn spawn(&mut self, parent: TaskId) {
        let Task { name, children, .. } = &mut self.0[parent.index()];
        let name = mix(*name, *children + 1);
        *children += 1;
        self.0.push(Task { name, parent: Some(parent), children: 0 });
    }

    pub(crate) fn name(&self, task: TaskId) -> u64 {
        self.0[task.index()].name
    }

    pub(crate) fn parent(&self, task: TaskId) -> Option<TaskId> {
        self.0[task.index()].parent
    }

    /// How many tasks there are so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
