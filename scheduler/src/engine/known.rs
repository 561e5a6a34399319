//! What happens before what in an execution, for a reader of that execution.
//!
//! The [`Memory`] numbers what each task does with it. Here each event of the trace gets its part of these numbers: from where
//! its task was when the event before it was over, to where it is when this one is. An event happens before another one if
//! what the other's task knows at the end of the other includes anything that the event did, or that its task did later.

use interloper_std::runtime::TaskId;

use crate::execution::Event;
use crate::memory::Memory;
use crate::vector_clock::VectorClock;

/// What the events of an execution know.
#[derive(Default)]
pub(super) struct Known {
    /// By event: how much its task had done with memory before it.
    begins: Vec<usize>,
    /// By event: what happens before its end. Knows nothing as long as the event goes on.
    clocks: Vec<VectorClock>,
    /// By task.
    tasks: Vec<Under>,
}

/// The event that a task is in.
#[derive(Clone, Copy, Default)]
struct Under {
    way: Option<usize>,
    /// How much the task had done when its last event was over.
    done: usize,
}

impl Known {
    /// An execution begins.
    pub(super) fn restart(&mut self) {
        self.begins.clear();
        self.clocks.clear();
        self.tasks.clear();
    }

    /// The next event of the trace is one of this task.
    pub(super) fn begin(&mut self, memory: &Memory, task: TaskId) {
        self.end(memory, task);
        let event = self.begins.len();
        let under = self.under(task);
        under.way = Some(event);
        let done = under.done;
        self.begins.push(done);
        self.clocks.push(VectorClock::default());
    }

    /// What the task does from now on is not part of its last event: its next event has begun, or begins with this.
    pub(super) fn end(&mut self, memory: &Memory, task: TaskId) {
        let under = self.under(task);
        if let Some(event) = under.way.take() {
            under.done = memory.epoch(task) as usize;
            self.clocks[event].clone_from(memory.knows(task));
        }
    }

    fn under(&mut self, task: TaskId) -> &mut Under {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Under::default);
        }
        &mut self.tasks[task.index()]
    }

    /// For each event, the last event of each other task that happens before it, unless the event's own task knew of that one
    /// before. `trace` is that of the execution, which is over.
    pub(super) fn edges(&mut self, memory: &Memory, trace: &[Event]) -> Vec<(u32, u32)> {
        let tasks: Vec<TaskId> = (0..self.tasks.len()).map(|task| TaskId(task as u32)).collect();
        tasks.iter().for_each(|&task| self.end(memory, task));
        let mut events: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
        let mut known: Vec<VectorClock> = vec![VectorClock::default(); tasks.len()];
        let mut edges = Vec::new();
        for (index, event) in trace.iter().enumerate() {
            let (task, clock) = (event.task, &self.clocks[index]);
            for &other in tasks.iter().filter(|&&other| other != task) {
                let count = clock.count(other);
                if count > known[task.index()].count(other) {
                    let others = &events[other.index()];
                    let last = others.partition_point(|&event| self.begins[event] < count).checked_sub(1);
                    edges.extend(last.map(|last| (index as u32, others[last] as u32)));
                }
            }
            known[task.index()].clone_from(clock);
            events[task.index()].push(index);
        }
        edges
    }
}
