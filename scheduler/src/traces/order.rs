//! What happens before what in an execution, as vector clocks.

use std::ops::Range;

use interloper_std::runtime::{Action, ObjectId, Operation};

use super::objects_of;
use crate::execution::{Cause, Event};
use crate::vector_clock::VectorClock;

/// The steps of an execution with all that happens before each. A step is known by its first event.
///
/// Follows the execution only as far as a question needs it: most executions never ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// For each event that was followed, the step that it is part of: its number in `steps`.
    step_of: Vec<usize>,
    steps: Vec<VectorClock>,
    tasks: Vec<Task>,
    /// What was done to each object, and by which steps.
    objects: Vec<Vec<(Operation, VectorClock)>>,
}

#[derive(Clone, Debug, Default)]
struct Task {
    /// Its last step with all that happens before the step; at first, the step that spawned the task.
    clock: VectorClock,
    /// The first events of its steps.
    steps: Vec<usize>,
}

impl Order {
    /// Makes ready for another execution.
    pub(super) fn clear(&mut self) {
        self.step_of.clear();
        self.steps.clear();
        self.tasks.clear();
        self.objects.clear();
    }

    /// What happens before the step of these events, if its cause adds something to what its task and its operations
    /// tell.
    pub(super) fn waited(&mut self, trace: &[Event], events: Range<usize>) -> Option<VectorClock> {
        self.follow(&trace[..events.start]);
        let without = self.without_cause(&trace[events.clone()]);
        let mut clock = without.clone();
        self.add_cause(&mut clock, trace[events.start].cause);
        (clock != without).then_some(clock)
    }

    /// Follows the execution to the end of these events, which are whole steps.
    fn follow(&mut self, trace: &[Event]) {
        let mut start = self.step_of.len();
        while start < trace.len() {
            let parts = trace[start + 1..].iter().take_while(|event| event.continues).count();
            let step = &trace[start..start + 1 + parts];
            let mut clock = self.without_cause(step);
            self.add_cause(&mut clock, step[0].cause);
            clock.set(step[0].task, start);
            self.note(step, start, clock);
            start += step.len();
        }
    }

    fn without_cause(&self, step: &[Event]) -> VectorClock {
        let mut clock = self.tasks.get(step[0].task.index()).map(|task| task.clock.clone()).unwrap_or_default();
        for operation in step.iter().map(|event| &event.operation).filter(|operation| !operation.action.is_private()) {
            for object in objects_of(operation) {
                let done = self.objects.get(object.index()).into_iter().flatten();
                done.filter(|(done, _)| operation.depends(done)).for_each(|(_, other)| clock.join(other));
            }
        }
        clock
    }

    fn add_cause(&self, clock: &mut VectorClock, cause: Cause) {
        match cause {
            Cause::Ready => {}
            Cause::Event(event) => clock.join(&self.steps[self.step_of[event as usize]]),
            Cause::Idle(events) => {
                for task in &self.tasks {
                    let steps = task.steps.partition_point(|&step| step < events as usize);
                    if let Some(last) = steps.checked_sub(1) {
                        clock.join(&self.steps[self.step_of[task.steps[last]]]);
                    }
                }
            }
        }
    }

    fn note(&mut self, step: &[Event], start: usize, clock: VectorClock) {
        self.step_of.resize(start + step.len(), self.steps.len());
        let task = step[0].task.index();
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, Task::default);
        }
        for operation in step.iter().map(|event| &event.operation) {
            if operation.action == Action::Spawn {
                // Tasks are numbered in the order in which they were spawned.
                self.tasks.push(Task { clock: clock.clone(), steps: Vec::new() });
            }
            if !operation.action.is_private() {
                objects_of(operation).for_each(|object| self.note_done(object, operation, &clock));
            }
        }
        self.tasks[task].steps.push(start);
        self.tasks[task].clock.clone_from(&clock);
        self.steps.push(clock);
    }

    fn note_done(&mut self, object: ObjectId, operation: &Operation, clock: &VectorClock) {
        if self.objects.len() <= object.index() {
            self.objects.resize_with(object.index() + 1, Vec::new);
        }
        let known = &mut self.objects[object.index()];
        match known.iter_mut().find(|(done, _)| done.action == operation.action && done.object == operation.object) {
            Some((_, done)) => done.join(clock),
            None => known.push((*operation, clock.clone())),
        }
    }
}
