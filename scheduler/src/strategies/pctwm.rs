//! Probabilistic concurrency testing for weak memory: M. Gao, S. Chakraborty and B. K. Özkan, *Probabilistic concurrency
//! testing for weak memory programs*, ASPLOS 2023.

use interloper_std::runtime::{Action, Operation, TaskId};

use super::MAX_DEPTH;
use super::priorities::Priorities;
use crate::decisions::{Question, Source};
use crate::strategy::{Pending, Stores, Strategy};
use crate::{Event, Execution};

/// A bug needs `depth` reads that see stores of other tasks, the *sinks*. All other reads see what their task knows already:
/// the oldest store that they may read. So a task runs as if alone, but for its sinks.
///
/// As in the paper, tasks have random priorities and the enabled task of the highest priority runs. The sinks are drawn
/// among the reads of an execution, whose number is measured. A task that comes to one gets a low priority, so that
/// the others store first; then it reads one of the newest `history` stores, all equally likely.
///
/// Where this deviates from the paper: a read-modify-write sees the newest store. A task that has read an older store than
/// the newest at one place for 16 times in a row sees the newest one then, since it waits in a loop; a task that yields
/// gets the lowest priority. Without the freedom of memory all reads see the newest store.
#[derive(Clone, Debug)]
pub struct Pctwm {
    depth: u32,
    history: u32,
    /// Places are reads. Their number k_com is given or measured; the places drawn are the sinks.
    priorities: Priorities,
    tasks: Vec<Task>,
    /// The task that makes the present step, and the step.
    present: Option<(TaskId, Operation)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Its pending read was counted, and is a sink.
    is_at_sink: bool,
    /// Its pending read was counted.
    is_counted: bool,
    /// Where it has read older stores last, and how often in a row.
    old: Option<(Operation, u32)>,
}

/// So often in a row a task reads an older store at one place.
const PATIENCE: u32 = 16;

impl Pctwm {
    /// The executions of a seed from this number on.
    pub fn starting_at(seed: u64, depth: u32, history: u32, execution: u64) -> Pctwm {
        Pctwm {
            depth: depth.min(MAX_DEPTH),
            history: history.max(1),
            priorities: Priorities::starting_at(seed, execution),
            tasks: Vec::new(),
            present: None,
        }
    }

    /// Sets the number of reads among which the sinks are drawn. It is not measured then: an execution is a function of the
    /// seed and its number.
    pub fn with_length(mut self, reads: u64) -> Pctwm {
        self.priorities.set_length(reads);
        self
    }

    fn task(&mut self, task: TaskId) -> &mut Task {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, Task::default());
        }
        &mut self.tasks[task.index()]
    }
}

impl Strategy for Pctwm {
    fn begin(&mut self) -> bool {
        self.priorities.begin(self.depth);
        self.tasks.clear();
        self.present = None;
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let chosen = loop {
            let index = self.priorities.highest(pending);
            let Pending { task, operation } = pending[index];
            let reads = matches!(operation.action, Action::Read | Action::ReadWrite);
            if !reads || self.task(task).is_counted {
                break index;
            }
            self.task(task).is_counted = true;
            if let Some(number) = self.priorities.pass() {
                self.task(task).is_at_sink = true;
                self.priorities.lower(task, 1 + number as u64);
            }
        };
        let Pending { task, operation } = pending[chosen];
        self.task(task).is_counted = false;
        self.present = Some((task, operation));
        if operation.action == Action::Yield {
            self.priorities.yields(task);
        }
        chosen
    }

    fn place(&mut self, options: u32, _: &dyn Stores) -> u32 {
        let Some((task, operation)) = self.present else { return 0 };
        if operation.action != Action::Read {
            return 0;
        }
        let state = self.task(task);
        if std::mem::take(&mut state.is_at_sink) {
            let history = self.history.min(options);
            return self.priorities.source.below(history);
        }
        let often = state.old.filter(|(at, _)| *at == operation).map_or(0, |(_, often)| often) + 1;
        state.old = Some((operation, often % PATIENCE));
        if often == PATIENCE { 0 } else { options - 1 }
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.priorities.source.decide(question, options)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        self.priorities.end();
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.priorities.saved()
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.priorities.restore(saved)
    }
}
