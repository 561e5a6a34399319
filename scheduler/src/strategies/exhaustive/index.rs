//! Which steps touch which object, so that a step is compared with the few that it may depend on.

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

use crate::vector_clock::VectorClock;

/// The steps of an execution by object.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    objects: Vec<OfObject>,
    /// The steps that end the process: all steps depend on them.
    ends: Vec<Lane>,
}

#[derive(Clone, Debug, Default)]
struct OfObject {
    /// All steps, in their order.
    steps: Vec<usize>,
    lanes: Vec<Lane>,
}

/// The steps of one task that do the same to an object, as far as reads go: reads commute.
#[derive(Clone, Debug)]
struct Lane {
    task: TaskId,
    reads: bool,
    steps: Vec<usize>,
}

/// The steps that a new one may depend on, the latest first.
pub(super) struct Candidates<'a> {
    lanes: Vec<&'a [usize]>,
    tasks: Vec<TaskId>,
}

impl Candidates<'_> {
    /// The latest step that is left, if it is not among those that `seen` covers, as are all before it in its task.
    pub(super) fn next(&mut self, seen: &VectorClock) -> Option<usize> {
        let mut latest = None;
        for (steps, task) in self.lanes.iter_mut().zip(&self.tasks) {
            match steps.last() {
                Some(step) if seen.covers(*task, *step) => *steps = &[],
                Some(step) => latest = latest.max(Some(*step)),
                None => {}
            }
        }
        let latest = latest?;
        for steps in &mut self.lanes {
            if let [rest @ .., last] = steps
                && *last == latest
            {
                *steps = rest;
            }
        }
        Some(latest)
    }
}

impl Index {
    /// Adds a step; it comes after all others.
    pub(super) fn push(&mut self, step: usize, task: TaskId, effects: &[Operation]) {
        for (object, action) in touched(effects) {
            if self.objects.len() <= object.index() {
                self.objects.resize_with(object.index() + 1, OfObject::default);
            }
            let OfObject { steps, lanes } = &mut self.objects[object.index()];
            if steps.last() != Some(&step) {
                steps.push(step);
            }
            push(lanes, step, task, action == Action::Read);
        }
        if effects.iter().any(|effect| effect.action == Action::End) {
            push(&mut self.ends, step, task, false);
        }
    }

    /// Takes the last step off again.
    pub(super) fn pop(&mut self, step: usize, effects: &[Operation]) {
        for (object, _) in touched(effects) {
            let OfObject { steps, lanes } = &mut self.objects[object.index()];
            steps.pop_if(|last| *last == step);
            pop(lanes, step);
        }
        pop(&mut self.ends, step);
    }

    /// The steps that touch an object, in their order.
    pub(super) fn of(&self, object: ObjectId) -> &[usize] {
        self.objects.get(object.index()).map_or(&[], |object| &object.steps)
    }

    /// The steps of other tasks that a step with these effects may depend on, unless it ends the process.
    pub(super) fn candidates(&self, task: TaskId, effects: &[Operation]) -> Candidates<'_> {
        let of_object = |(object, action): (ObjectId, Action)| {
            let lanes = self.objects.get(object.index()).map_or(&[][..], |object| &object.lanes);
            lanes.iter().filter(move |lane| !(lane.reads && action == Action::Read))
        };
        let lanes = || touched(effects).flat_map(of_object).chain(&self.ends).filter(|lane| lane.task != task);
        let (steps, tasks) = (lanes().map(|lane| &lane.steps[..]), lanes().map(|lane| lane.task));
        Candidates { lanes: steps.collect(), tasks: tasks.collect() }
    }
}

fn push(lanes: &mut Vec<Lane>, step: usize, task: TaskId, reads: bool) {
    match lanes.iter_mut().find(|lane| (lane.task, lane.reads) == (task, reads)) {
        Some(lane) if lane.steps.last() == Some(&step) => {}
        Some(lane) => lane.steps.push(step),
        None => lanes.push(Lane { task, reads, steps: vec![step] }),
    }
}

fn pop(lanes: &mut [Lane], step: usize) {
    for lane in lanes {
        lane.steps.pop_if(|last| *last == step);
    }
}

/// The objects that a step with these effects touches, and how: a wait also gives a lock back.
fn touched(effects: &[Operation]) -> impl Iterator<Item = (ObjectId, Action)> + Clone {
    effects.iter().flat_map(|effect| {
        let lock = super::history::given_back(effect).map(|lock| (lock, effect.action));
        [Some((effect.object, effect.action)), lock].into_iter().flatten()
    })
}
