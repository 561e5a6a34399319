//! Selectively uniform random walk: H. Zhao, D. Wolff, U. Mathur and A. Roychoudhury, *Selectively uniform concurrency
//! testing*, ASPLOS 2025, Algorithms 1 and 2, with the choices of its artifact where the paper leaves some open.
//!
//! If each task has as many steps left as a profile has counted, then choosing each task with a probability in
//! proportion to its steps left makes all interleavings equally likely (URW). SURW does so only for the steps on one
//! object, drawn anew for each execution; the other steps may come between in any order.

mod profile;
mod saved;

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

pub use self::profile::Profile;
use self::profile::{FirstUses, is_of_data};
use super::lineage::Lineage;
use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution};

/// Which steps are made uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them: URW.
    All,
    /// Those on one object, which is drawn for each execution among the shared ones: SURW.
    OneObject,
}

/// The number of random walks whose steps are counted for a profile. One execution knows too little: how often a loop
/// is retried, and which objects are shared, depends on the schedule.
pub const PROFILE_EXECUTIONS: u64 = 20;

/// How many events in the executions of a profile are enough: whoever measures long executions runs fewer of them. Twenty of a program
/// with 150,000 steps would take longer than the search.
pub const PROFILE_EVENTS: usize = 1 << 17;

/// After so many steps of one task, while others could go on, another task is intended and all may go on: a task that
/// waits in a loop for one that is held back would never end. The artifact has 1,000; the engine holds tasks back itself
/// after 1,024.
const LONGEST_STAY: u64 = 500;

/// URW or SURW. The first [`PROFILE_EXECUTIONS`] executions are random walks in which the steps are counted, unless a
/// profile is given.
#[derive(Clone, Debug)]
pub struct Surw {
    seed: u64,
    execution: u64,
    selection: Selection,
    source: RandomSource,
    profile: Profile,
    /// How many random walks are still to be counted.
    unmeasured: u64,
    /// The object of this execution, by its index in the profile; `None` when all steps are selected.
    object: Option<usize>,
    /// By the object's number in this execution, whether it is the selected one.
    instances: Vec<Instance>,
    first_uses: FirstUses,
    lineage: Lineage,
    /// By the name of a task: the selected steps that it has left, including those of tasks that it will spawn.
    counted: std::collections::BTreeMap<u64, u64>,
    tasks: Vec<Task>,
    /// The task whose selected step must come next.
    intended: Option<TaskId>,
    stay: u64,
}

/// What is known of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instance {
    Unknown,
    Selected,
    Other,
}

/// A task of this execution.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    left: u64,
    /// Its priority among the steps that are not selected; drawn anew after each of its steps.
    priority: Option<u64>,
    /// Its next step is selected, and another task is intended.
    held: bool,
    /// Whether its next step is selected; `None` before this was looked at.
    selected: Option<bool>,
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
            profile: Profile::default(),
            unmeasured: PROFILE_EXECUTIONS,
            object: None,
            instances: Vec::new(),
            first_uses: FirstUses::default(),
            lineage: Lineage::default(),
            counted: std::collections::BTreeMap::new(),
            tasks: Vec::new(),
            intended: None,
            stay: 0,
        }
    }

    /// Gives the profile, which is then not measured: a schedule is a function of the seed and its number.
    pub fn with_profile(mut self, profile: Profile) -> Surw {
        (self.profile, self.unmeasured) = (profile, 0);
        self
    }

    /// Whether executions are still to be counted for the profile.
    pub(super) fn is_measuring(&self) -> bool {
        self.unmeasured > 0
    }

    /// Counts an execution for the profile, if more of them are to be counted. Gives the profile once that was the last one.
    pub(super) fn measure(&mut self, trace: &[Event]) -> Option<&Profile> {
        if !self.is_measuring() {
            return None;
        }
        self.profile.add(trace);
        self.unmeasured -= 1;
        (self.unmeasured == 0).then_some(&self.profile)
    }

    /// Draws the object of an execution, in proportion to the number of steps on it.
    fn draw_object(&mut self) -> Option<usize> {
        let objects = match self.selection {
            Selection::All => return None,
            Selection::OneObject => self.profile.selectable(),
        };
        let mut drawn = self.source.below_u64(objects.iter().map(|(_, steps)| steps).sum::<u64>().max(1));
        let object = objects.iter().find(|(_, steps)| {
            let here = drawn < *steps;
            drawn = drawn.wrapping_sub(*steps);
            here
        });
        object.map(|(object, _)| *object)
    }

    fn task_begins(&mut self) {
        let number = TaskId(self.tasks.len() as u32);
        let left = self.counted.get(&self.lineage.name(number)).copied().unwrap_or(0);
        self.tasks.push(Task { left, ..Task::default() });
        let Some(parent) = self.lineage.parent(number) else { return };
        // A new task takes its steps with it. If its parent was intended, that was also for the sake of the child's steps.
        let before = self.tasks[parent.index()].left;
        self.tasks[parent.index()].left = before.saturating_sub(left);
        if self.intended == Some(parent) && self.source.below_u64(before.max(1)) < left {
            self.intended = Some(number);
        }
    }

    /// Whether the next step of a task is selected.
    fn is_selected(&mut self, Pending { task, operation }: &Pending) -> bool {
        if let Some(selected) = self.tasks[task.index()].selected {
            return selected;
        }
        let selected = self.look_at(*task, operation);
        self.tasks[task.index()].selected = Some(selected);
        selected
    }

    fn look_at(&mut self, task: TaskId, operation: &Operation) -> bool {
        let Some(selected) = self.object else { return self.selection == Selection::All };
        let Operation { object, action, location } = *operation;
        if !is_of_data(action) {
            return false;
        }
        if self.instances.len() <= object.index() {
            self.instances.resize(object.index() + 1, Instance::Unknown);
        }
        if let Some(known) = self.meet(task, object, location)
            && self.instances[object.index()] == Instance::Unknown
        {
            let instance = if known == selected { Instance::Selected } else { Instance::Other };
            self.instances[object.index()] = instance;
        }
        self.instances[object.index()] == Instance::Selected
    }

    /// The object in the profile, if this is the first use by the task and the profile knows such a use.
    fn meet(&mut self, task: TaskId, object: ObjectId, place: Place) -> Option<usize> {
        let first = self.first_uses.note(task, self.lineage.name(task), object, place)?;
        self.profile.object(&first)
    }

    /// One of the pending tasks, in proportion to the selected steps that they have left. A task that is about to make a
    /// selected step has at least one left, whatever was counted.
    fn weighted(&mut self, pending: &[Pending]) -> usize {
        let mut total = 0;
        for pending in pending {
            let selected = self.is_selected(pending);
            let task = &mut self.tasks[pending.task.index()];
            task.left = task.left.max(u64::from(selected));
            total += task.left;
        }
        let mut drawn = self.source.below_u64(total.max(1));
        let chosen = pending.iter().position(|pending| {
            let left = self.tasks[pending.task.index()].left;
            let here = drawn < left;
            drawn = drawn.wrapping_sub(left);
            here
        });
        chosen.unwrap_or(0)
    }

    /// Algorithm 2: steps that are not selected come by random priorities. A selected step comes if its task is intended,
    /// and holds its task back otherwise. Which task is intended is drawn when the first selected step is reached.
    fn choose_selectively(&mut self, pending: &[Pending]) -> usize {
        loop {
            let Some(index) = self.highest(pending) else {
                // The intended task has come to wait for another one.
                self.release();
                continue;
            };
            let chosen = pending[index];
            if !self.is_selected(&chosen) {
                return index;
            }
            let intended = match self.intended {
                Some(intended) => intended,
                None => pending[self.weighted(pending)].task,
            };
            self.intended = Some(intended);
            if intended == chosen.task {
                return index;
            }
            self.tasks[chosen.task.index()].held = true;
        }
    }

    /// The pending task with the highest priority among those that are not held back.
    fn highest(&mut self, pending: &[Pending]) -> Option<usize> {
        let mut best = None;
        for (index, pending) in pending.iter().enumerate() {
            let Surw { tasks, source, .. } = self;
            let task = &mut tasks[pending.task.index()];
            if task.held {
                continue;
            }
            let priority = *task.priority.get_or_insert_with(|| source.word());
            if best.is_none_or(|(_, highest)| priority > highest) {
                best = Some((index, priority));
            }
        }
        best.map(|(index, _)| index)
    }

    /// Another task is intended from now on.
    fn release(&mut self) {
        self.intended = None;
        self.tasks.iter_mut().for_each(|task| task.held = false);
    }

    /// The chosen task makes its step.
    fn advance(&mut self, current: Option<TaskId>, chosen: Pending) {
        let selected = self.is_selected(&chosen);
        let task = &mut self.tasks[chosen.task.index()];
        (task.priority, task.selected) = (None, None);
        if selected {
            task.left = task.left.saturating_sub(1);
            self.release();
        }
        self.stay = if current == Some(chosen.task) { self.stay + 1 } else { 0 };
        if self.stay >= LONGEST_STAY {
            self.stay = 0;
            self.tasks.iter_mut().for_each(|task| task.priority = None);
            // It is intended again when it reaches a selected step.
            self.tasks[chosen.task.index()].left = 0;
            self.release();
        }
    }
}

impl Strategy for Surw {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        self.lineage.begin();
        self.tasks.clear();
        self.intended = None;
        if !self.is_measuring() {
            self.object = self.draw_object();
            self.counted = self.profile.left(self.object);
            self.instances.clear();
            self.first_uses.clear();
        }
        self.stay = 0;
        self.task_begins();
        true
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        if self.is_measuring() {
            return if pending.len() > 1 { self.source.below(pending.len() as u32) as usize } else { 0 };
        }
        let index = match self.object {
            _ if pending.len() == 1 => 0,
            Some(_) => self.choose_selectively(pending),
            // Without a shared object the walk is random.
            None if self.selection == Selection::OneObject => self.source.below(pending.len() as u32) as usize,
            None => self.weighted(pending),
        };
        self.advance(current, pending[index]);
        index
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn wants_parts(&self) -> bool {
        true
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        if operation.action == Action::Spawn {
            self.lineage.spawn(task);
            self.task_begins();
        }
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn end(&mut self, _: &Execution, trace: &[Event]) {
        self.measure(trace);
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), Times(self.unmeasured), self.profile.clone()))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let Some((Times(execution), Times(unmeasured), profile)) = whole(saved) else { return false };
        (self.execution, self.unmeasured, self.profile) = (execution, unmeasured, profile);
        true
    }
}
