//! Selectively uniform random walk: H. Zhao, D. Wolff, U. Mathur and A. Roychoudhury, *Selectively uniform concurrency
//! testing*, ASPLOS 2025.
//!
//! If each task has as many steps left as a profile has counted, then choosing each task with a probability in
//! proportion to its steps left makes all interleavings equally likely (URW). SURW does so only for the steps on one
//! object, drawn anew for each execution; the other steps may come between in any order.

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use crate::decisions::{Question, RandomSource, Source};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution};

/// How many steps each task makes, and where: counted in an execution.
///
/// The numbers of objects differ from execution to execution, so an object is known by the places that touch it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By task.
    tasks: Vec<TaskProfile>,
    /// The places that touch an object which two tasks or more touch, with the number of steps on that object.
    objects: Vec<(Vec<Place>, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TaskProfile {
    parent: Option<TaskId>,
    steps: u64,
    /// The steps at each place, in the order of first use.
    places: Vec<(Place, u64)>,
}

impl Profile {
    /// Counts the steps of an execution.
    pub fn of(trace: &[Event]) -> Profile {
        let mut profile = Profile::default();
        let mut spawned = Vec::new();
        let mut touched: Vec<(ObjectId, TaskId, Place)> = Vec::new();
        for event in trace {
            let Operation { object, action, location } = event.operation;
            match action {
                Action::Spawn => spawned.push((object, event.task)),
                Action::Start => {
                    let parent = spawned.iter().find(|(child, _)| *child == object).map(|(_, parent)| *parent);
                    profile.task(event.task).parent = parent;
                }
                _ => {}
            }
            // The strategy is not asked about marks.
            if !event.continues && !matches!(action, Action::BlockBegin(_) | Action::BlockEnd) {
                let task = profile.task(event.task);
                task.steps += 1;
                match task.places.iter_mut().find(|(place, _)| same(place, location)) {
                    Some((_, steps)) => *steps += 1,
                    None => task.places.push((location, 1)),
                }
                if !action.is_private() {
                    touched.push((object, event.task, location));
                }
            }
        }
        profile.objects = shared(touched);
        profile
    }

    fn task(&mut self, task: TaskId) -> &mut TaskProfile {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, TaskProfile::default());
        }
        &mut self.tasks[task.index()]
    }
}

fn shared(mut touched: Vec<(ObjectId, TaskId, Place)>) -> Vec<(Vec<Place>, u64)> {
    touched.sort();
    let objects = touched.chunk_by(|a, b| a.0 == b.0);
    let shared = objects.filter(|steps| steps.iter().any(|step| step.1 != steps[0].1));
    let places = |steps: &[(ObjectId, TaskId, Place)]| {
        let mut places: Vec<_> = steps.iter().map(|step| step.2).collect();
        places.sort();
        places.dedup();
        (places, steps.len() as u64)
    };
    shared.map(places).collect()
}

/// Whether two places are the same; one place can have several addresses.
fn same(a: Place, b: Place) -> bool {
    std::ptr::eq(a, b) || a == b
}

/// Which steps are made uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them: URW.
    All,
    /// Those on one object, which is drawn for each execution among the shared ones: SURW.
    OneObject,
}

/// URW or SURW. The first execution is a random walk in which the steps are counted, unless a profile is given.
#[derive(Clone, Debug)]
pub struct Surw {
    seed: u64,
    execution: u64,
    selection: Selection,
    source: RandomSource,
    profile: Option<Profile>,
    /// The places of the object of this execution; `None` when all steps are selected.
    places: Option<Vec<Place>>,
    /// The selected steps that each task has left, including those of tasks that it will spawn.
    left: Vec<u64>,
    seen: Vec<bool>,
    /// The task whose selected step must come next.
    intended: Option<TaskId>,
    weights: Vec<u64>,
}

impl Surw {
    /// The schedules of a seed.
    pub fn new(seed: u64, selection: Selection) -> Surw {
        Surw::starting_at(seed, selection, 0)
    }

    /// The schedules of a seed from the execution of this number on.
    pub fn starting_at(seed: u64, selection: Selection, execution: u64) -> Surw {
        Surw {
            seed,
            execution,
            selection,
            source: RandomSource::new(seed, execution),
            profile: None,
            places: None,
            left: Vec::new(),
            seen: Vec::new(),
            intended: None,
            weights: Vec::new(),
        }
    }

    /// Gives the profile, which is then not measured: a schedule is a function of the seed and its number.
    pub fn with_profile(mut self, profile: Profile) -> Surw {
        self.profile = Some(profile);
        self
    }

    /// Draws the object of an execution, in proportion to the number of steps on it.
    fn draw_object(&mut self) -> Option<Vec<Place>> {
        let profile = self.profile.as_ref().filter(|_| self.selection == Selection::OneObject)?;
        let total = profile.objects.iter().map(|(_, steps)| steps).sum();
        let mut drawn = self.source.below_u64(total);
        let object = profile.objects.iter().find(|(_, steps)| {
            let here = drawn < *steps;
            drawn = drawn.wrapping_sub(*steps);
            here
        });
        object.map(|(places, _)| places.clone())
    }

    /// Adds up the selected steps of each task and of those it spawns.
    fn count_left(&mut self) {
        self.left.clear();
        let Some(profile) = &self.profile else { return };
        let own = |task: &TaskProfile| match &self.places {
            None => task.steps,
            Some(places) => {
                let selected = |(place, _): &&(Place, u64)| places.iter().any(|other| same(place, other));
                task.places.iter().filter(selected).map(|(_, steps)| steps).sum()
            }
        };
        self.left.extend(profile.tasks.iter().map(own));
        // A task has a higher number than the one that spawns it.
        for task in (1..profile.tasks.len()).rev() {
            if let Some(parent) = profile.tasks[task].parent {
                self.left[parent.index()] += self.left[task];
            }
        }
    }

    /// A new task takes its steps with it. If its parent was intended, that was also for the sake of the child's steps.
    fn meet(&mut self, pending: &[Pending]) {
        for pending in pending {
            let task = pending.task.index();
            if self.seen.len() <= task {
                self.seen.resize(task + 1, false);
            }
            if std::mem::replace(&mut self.seen[task], true) || task >= self.left.len() {
                continue;
            }
            let Some(parent) = self.profile.as_ref().and_then(|profile| profile.tasks[task].parent) else { continue };
            let before = self.left[parent.index()];
            self.left[parent.index()] = before.saturating_sub(self.left[task]);
            if self.intended == Some(parent) && self.source.below_u64(before.max(1)) < self.left[task] {
                self.intended = Some(pending.task);
            }
        }
    }

    fn is_selected(&self, operation: &Operation) -> bool {
        let places = self.places.as_ref();
        places.is_none_or(|places| places.iter().any(|place| same(place, operation.location)))
    }

    /// One of the pending tasks, in proportion to the selected steps that they have left. When all have none left, the
    /// counts were too low, and all are equally likely.
    fn weighted(&mut self, pending: &[Pending]) -> usize {
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        // A task that is about to make a selected step has at least one left, whatever was counted.
        let weight = |pending: &Pending| {
            let left = self.left.get(pending.task.index()).map_or(0, |left| *left);
            left.max(u64::from(self.is_selected(&pending.operation)))
        };
        weights.extend(pending.iter().map(weight));
        self.weights = weights;
        if self.weights.iter().all(|&weight| weight == 0) {
            self.weights.fill(1);
        }
        let mut drawn = self.source.below_u64(self.weights.iter().sum());
        let chosen = self.weights.iter().position(|weight| {
            let here = drawn < *weight;
            drawn = drawn.wrapping_sub(*weight);
            here
        });
        chosen.expect("the number drawn is below the sum of the weights")
    }

    fn choose_selectively(&mut self, pending: &[Pending]) -> usize {
        // If the intended task has come to wait for another one, a new one is drawn.
        if !pending.iter().any(|pending| Some(pending.task) == self.intended) {
            let index = self.weighted(pending);
            self.intended = Some(pending[index].task);
        }
        let may = |pending: &Pending| !self.is_selected(&pending.operation) || Some(pending.task) == self.intended;
        let count = pending.iter().filter(|pending| may(pending)).count() as u32;
        let mut number = self.source.below(count);
        let may = |pending: &Pending| !self.is_selected(&pending.operation) || Some(pending.task) == self.intended;
        let chosen = pending.iter().position(|pending| {
            may(pending) && {
                let here = number == 0;
                number = number.wrapping_sub(1);
                here
            }
        });
        chosen.expect("the intended task may make its step")
    }
}

impl Strategy for Surw {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.places = self.draw_object();
        self.count_left();
        self.seen.clear();
        self.intended = None;
        true
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        if pending.len() > 1 && self.profile.is_none() {
            return self.source.below(pending.len() as u32) as usize;
        }
        self.meet(pending);
        let index = match self.places {
            _ if pending.len() == 1 => 0,
            None => self.weighted(pending),
            Some(_) => self.choose_selectively(pending),
        };
        let chosen = pending[index];
        if self.is_selected(&chosen.operation) {
            if let Some(left) = self.left.get_mut(chosen.task.index()) {
                *left = left.saturating_sub(1);
            }
            self.intended = None;
        }
        index
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.source.decide(Question::Other, options)
    }

    fn departs(&mut self) -> bool {
        self.source.decide(Question::Freedom, 2) == 1
    }

    fn place(&mut self, stored: &[u64]) -> u32 {
        self.source.decide(Question::Store, stored.len() as u32)
    }

    fn end(&mut self, _: &Execution, trace: &[Event]) {
        if self.profile.is_none() {
            self.profile = Some(Profile::of(trace));
        }
    }
}
