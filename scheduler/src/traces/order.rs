//! What happens before what in an execution, as vector clocks.

use std::ops::Range;

use interloper_std::runtime::Action;

use crate::execution::{Cause, Event};
use crate::vector_clock::VectorClock;

/// For each step, what it depends on and adds to: an object, and an entry in the list of what was done to the object. Whoever follows
/// the execution finds them anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// By step, where its part of each list begins.
    starts: Vec<(usize, usize)>,
    depends: Vec<(usize, usize)>,
    adds_to: Vec<(usize, usize)>,
}

impl Links {
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.depends.clear();
        self.adds_to.clear();
    }

    /// What follows is about the next step.
    pub(super) fn begin_step(&mut self) {
        self.starts.push((self.depends.len(), self.adds_to.len()));
    }

    /// The step depends on an entry of an object.
    pub(super) fn depends(&mut self, object: usize, entry: usize) {
        self.depends.push((object, entry));
    }

    /// The step adds to an entry of an object, or adds this entry.
    pub(super) fn adds_to(&mut self, object: usize, entry: usize) {
        self.adds_to.push((object, entry));
    }

    fn dependences(&self, step: usize) -> &[(usize, usize)] {
        let end = self.starts.get(step + 1).map_or(self.depends.len(), |next| next.0);
        &self.depends[self.starts[step].0..end]
    }

    fn additions(&self, step: usize) -> &[(usize, usize)] {
        let end = self.starts.get(step + 1).map_or(self.adds_to.len(), |next| next.1);
        &self.adds_to[self.starts[step].1..end]
    }
}

/// The steps of an execution with all that happens before each. A step is known by its first event.
///
/// Follows the execution only as far as a question needs it: most executions never ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// For each event that was followed, the step that it is part of: its number in `steps`.
    step_of: Vec<usize>,
    steps: Vec<VectorClock>,
    tasks: Vec<Task>,
    /// For each entry of each object, by which steps it was done.
    objects: Vec<Vec<VectorClock>>,
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
        self.objects.iter_mut().for_each(Vec::clear);
    }

    /// What happens before the step of these events, if its cause adds something to what its task and its operations
    /// tell.
    pub(super) fn waited(&mut self, trace: &[Event], events: Range<usize>, links: &Links) -> Option<VectorClock> {
        self.follow(&trace[..events.start], links);
        let without = self.without_cause(&trace[events.start], links);
        let mut clock = without.clone();
        self.add_cause(&mut clock, trace[events.start].cause);
        (clock != without).then_some(clock)
    }

    /// Follows the execution to the end of these events, which are whole steps.
    fn follow(&mut self, trace: &[Event], links: &Links) {
        let mut start = self.step_of.len();
        while start < trace.len() {
            let parts = trace[start + 1..].iter().take_while(|event| event.continues).count();
            let step = &trace[start..start + 1 + parts];
            let mut clock = self.without_cause(&step[0], links);
            self.add_cause(&mut clock, step[0].cause);
            clock.set(step[0].task, start);
            self.note(step, start, clock, links);
            start += step.len();
        }
    }

    /// For the step after those that were followed, which begins with this event.
    fn without_cause(&self, first: &Event, links: &Links) -> VectorClock {
        let mut clock = self.tasks.get(first.task.index()).map(|task| task.clock.clone()).unwrap_or_default();
        for &(object, entry) in links.dependences(self.steps.len()) {
            clock.join(&self.objects[object][entry]);
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

    fn note(&mut self, step: &[Event], start: usize, clock: VectorClock, links: &Links) {
        self.step_of.resize(start + step.len(), self.steps.len());
        let task = step[0].task.index();
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, Task::default);
        }
        for _ in step.iter().filter(|event| event.operation.action == Action::Spawn) {
            // Tasks are numbered in the order in which they were spawned.
            self.tasks.push(Task { clock: clock.clone(), steps: Vec::new() });
        }
        for &(object, entry) in links.additions(self.steps.len()) {
            if self.objects.len() <= object {
                self.objects.resize_with(object + 1, Vec::new);
            }
            match self.objects[object].get_mut(entry) {
                Some(done) => done.join(&clock),
                None => self.objects[object].push(clock.clone()),
            }
        }
        self.tasks[task].steps.push(start);
        self.tasks[task].clock.clone_from(&clock);
        self.steps.push(clock);
    }
}
