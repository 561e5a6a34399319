//! Probabilistic concurrency testing for weak memory: M. Gao, S. Chakraborty and B. K. Özkan, *Probabilistic concurrency
//! testing for weak memory programs*, ASPLOS 2023.

use interloper_std::runtime::{Action, Operation, TaskId};

use super::MAX_DEPTH;
use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
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
    seed: u64,
    execution: u64,
    depth: u32,
    history: u32,
    /// k_com: given, or else the most reads of an execution so far; 1 for the first.
    length: u64,
    measures: bool,
    source: RandomSource,
    tasks: Vec<Option<Task>>,
    /// The numbers of the reads that are sinks.
    sinks: Vec<u64>,
    reads: u64,
    /// The lowest priority so far that was given for a yield.
    lowest: u64,
    /// The task that makes the present step, and the step.
    present: Option<(TaskId, Operation)>,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    priority: u64,
    /// Its pending read was counted, and is a sink.
    is_at_sink: bool,
    /// Its pending read was counted.
    is_counted: bool,
    /// Where it has read older stores last, and how often in a row.
    old: Option<(Operation, u32)>,
}

/// So often in a row a task reads an older store at one place.
const PATIENCE: u32 = 16;
/// The first priority of a task is from here on. Sinks have lower ones, and yields still lower ones.
const FIRST: u64 = 1 << 63;
const LOWERED: u64 = 1 << 62;

impl Pctwm {
    /// The executions of a seed from this number on.
    pub fn starting_at(seed: u64, depth: u32, history: u32, execution: u64) -> Pctwm {
        Pctwm {
            seed,
            execution,
            depth: depth.min(MAX_DEPTH),
            history: history.max(1),
            length: 1,
            measures: true,
            source: RandomSource::new(seed, execution),
            tasks: Vec::new(),
            sinks: Vec::new(),
            reads: 0,
            lowest: LOWERED,
            present: None,
        }
    }

    /// Sets the number of reads among which the sinks are drawn. It is not measured then: an execution is a function of the
    /// seed and its number.
    pub fn with_length(mut self, reads: u64) -> Pctwm {
        self.length = reads.max(1);
        self.measures = false;
        self
    }

    fn task(&mut self, task: TaskId) -> &mut Task {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, None);
        }
        let fresh =
            || Task { priority: FIRST | self.source.word() >> 1, is_at_sink: false, is_counted: false, old: None };
        self.tasks[task.index()].get_or_insert_with(fresh)
    }

    fn highest(&mut self, pending: &[Pending]) -> usize {
        let priorities = pending.iter().map(|pending| self.task(pending.task).priority).enumerate();
        priorities.max_by_key(|(index, priority)| (*priority, usize::MAX - index)).map_or(0, |(index, _)| index)
    }
}

impl Strategy for Pctwm {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.tasks.clear();
        self.sinks.clear();
        while (self.sinks.len() as u64) < u64::from(self.depth).min(self.length) {
            let sink = 1 + self.source.below_u64(self.length);
            if !self.sinks.contains(&sink) {
                self.sinks.push(sink);
            }
        }
        (self.reads, self.lowest, self.present) = (0, LOWERED, None);
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let chosen = loop {
            let index = self.highest(pending);
            let Pending { task, operation } = pending[index];
            let reads = matches!(operation.action, Action::Read | Action::ReadWrite);
            if !reads || self.task(task).is_counted {
                break index;
            }
            self.reads += 1;
            let sink = self.sinks.iter().position(|sink| *sink == self.reads);
            let state = self.task(task);
            state.is_counted = true;
            if let Some(number) = sink {
                state.is_at_sink = true;
                state.priority = LOWERED + 1 + number as u64;
            }
        };
        let Pending { task, operation } = pending[chosen];
        self.task(task).is_counted = false;
        self.present = Some((task, operation));
        if operation.action == Action::Yield {
            self.lowest -= 1;
            let lowest = self.lowest;
            self.task(task).priority = lowest;
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
            return self.source.below(history);
        }
        let often = state.old.filter(|(at, _)| *at == operation).map_or(0, |(_, often)| often) + 1;
        state.old = Some((operation, often % PATIENCE));
        if often == PATIENCE { 0 } else { options - 1 }
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        if self.measures {
            self.length = self.length.max(self.reads);
        }
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), Times(self.length)))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved)
            .map(|(Times(execution), Times(length))| (self.execution, self.length) = (execution, length.max(1)))
            .is_some()
    }
}
