//! Loops that wait: a round in which a task only looks, and after which it is where it was, is explored by none of its
//! executions.
//!
//! Such a round changes nothing for anybody, so an execution with it and the execution without it have the same outcome. The
//! step that would complete the round is therefore not *enabled* until one of the objects that the loop looks at changes: as
//! the step that takes a lock is not enabled while the lock is held. After S. Kokologiannakis, I. Marmanis and V. Vafeiadis,
//! *Unblocking dynamic partial order reduction*, CAV 2023, and *Dynamic partial order reductions for spinloops*, FMCAD 2021,
//! by M. Kokologiannakis, X. Ren and V. Vafeiadis, which find such loops in the program before it runs.
//!
//! Here nothing is known of the program. A task that spins or yields after a look is *probed*: the execution goes on with this task
//! alone, while all that it looks at stays as it is, and counts for nothing. If the task has made [`ROUNDS`] further looks and
//! nothing else, it waits. If it does anything else, its rounds are explored like all other steps: a loop that gives up after some
//! rounds does not wait, and a loop that writes does not wait. Each look that is left out was probed in the state in which it would
//! have been made.
//!
//! A task that looks again without a hint is probed if it is in the same local state as before an earlier one of its last looks: see
//! [`Strategy::local_state`](crate::Strategy::local_state). Without hints, nothing else tells a loop from two looks in a row, and a
//! round in which the task counts is no round in vain. Where the first round begins in another local state than the second one, say
//! since a variable got its value in it, the first round is explored.
//!
//! The engine does not see what a task counts for itself on the heap or, in a loop with hints, anywhere. So there are two limits: a
//! loop that gives up after more than [`ROUNDS`] looks is taken to wait, and a task that remembers whether it had to wait is seen only
//! as one that had not.

use std::collections::{BTreeMap, BTreeSet};

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::history::History;
use super::names::TaskName;
use super::sleep::Sleeper;
use super::wakeup::Branch;
use super::{Cut, Exhaustive, State, Stray, first_steps};
use crate::Event;
use crate::spot::Spot;
use crate::strategy::{Hint, Pending};

/// After so many looks a task is taken to wait.
const ROUNDS: usize = 2048;

/// A task may spin or yield so often between two looks.
const HINTS: usize = 4096;

/// A task whose next step would complete a round of a loop that waits.
#[derive(Clone, Debug)]
pub(super) struct Vain {
    pub(super) task: TaskId,
    /// What the loop looks at.
    pub(super) looks: Vec<ObjectId>,
    /// Objects after this one have other numbers in other executions.
    pub(super) known: Option<ObjectId>,
}

/// An execution that is run to learn whether a task waits.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    task: TaskId,
    /// Its name, and the place of its hint.
    hint: (TaskName, Spot),
    /// The states from which the task looked last before the probe.
    states: Vec<usize>,
    /// What it has looked at, in those states and since.
    looks: Vec<Look>,
    /// How often it has spun since its last look.
    hints: usize,
    /// Its last step may have changed something.
    attempts: bool,
    /// The other tasks that could go on, when the probe began.
    others: Vec<TaskId>,
    is_over: bool,
    /// The state of the look that completes a round, and what the loop looks at.
    found: Option<(usize, Vec<ObjectId>)>,
}

/// A look in a loop, perhaps.
#[derive(Clone, Copy, Debug)]
struct Look {
    object: ObjectId,
    place: usize,
    /// The task spun or yielded after it. Two looks at one place without that between them may belong to two loops, if their local
    /// states differ.
    hinted: bool,
    /// The local state of the task before the look, if it is known.
    local_state: Option<u64>,
}

impl Look {
    fn new(operation: Operation, local_state: Option<u64>) -> Look {
        let place = std::ptr::from_ref(operation.location).addr();
        Look { object: operation.object, place, hinted: false, local_state }
    }

    fn is_alike(&self, other: &Look) -> bool {
        (self.object, self.place) == (other.object, other.place)
    }

    /// Whether the task was in the same local state before both looks.
    fn is_where(&self, other: &Look) -> bool {
        self.is_alike(other) && self.local_state.is_some() && self.local_state == other.local_state
    }
}

/// What each task has looked at in a row, so that nobody goes through its looks at each further one.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// By task: its row begins with the state of this number, or later.
    begins: Vec<usize>,
    /// By task, object and place: the state of the last look, and how many such looks the row of that time had.
    alike: BTreeMap<(TaskId, ObjectId, usize), (usize, u32)>,
    /// The same with the local state: the state of the last look.
    same: BTreeMap<(TaskId, ObjectId, usize, u64), usize>,
}

impl Rows {
    pub(super) fn clear(&mut self) {
        self.begins.clear();
        self.alike.clear();
        self.same.clear();
    }

    /// The step from this state has been made.
    fn note(&mut self, number: usize, state: &State) {
        let task = state.task;
        if self.begins.len() <= task.index() {
            self.begins.resize(task.index() + 1, 0);
        }
        if !state.is_look() {
            self.begins[task.index()] = number + 1;
            return;
        }
        let Look { object, place, local_state, .. } = Look::new(state.effects[0], state.local_state);
        let begin = self.begins[task.index()];
        let (last, count) = self.alike.entry((task, object, place)).or_default();
        (*last, *count) = (number, if *last >= begin { *count + 1 } else { 1 });
        if let Some(local_state) = local_state {
            self.same.insert((task, object, place, local_state), number);
        }
    }

    /// How many looks of the task's row are alike, and whether it was in the same local state before one of them.
    fn like(&self, task: TaskId, look: &Look) -> (u32, bool) {
        let begin = self.begins.get(task.index()).copied().unwrap_or(0);
        let alike = self.alike.get(&(task, look.object, look.place)).filter(|(last, _)| *last >= begin);
        let same = look.local_state.and_then(|state| self.same.get(&(task, look.object, look.place, state)));
        (alike.map_or(0, |(_, count)| *count), same.is_some_and(|last| *last >= begin))
    }
}

/// What was told of the pending step of a task, which is now made.
pub(super) fn take_local_state(local_states: &mut [Option<u64>], task: TaskId) -> Option<u64> {
    local_states.get_mut(task.index())?.take()
}

impl Vain {
    pub(super) fn is_of(&self, task: TaskId) -> bool {
        self.task == task
    }

    /// Whether the task still waits after a step with these effects.
    fn lasts(&self, effects: &[Operation], only_read: bool) -> bool {
        let hidden = self.looks.iter().any(|object| Some(*object) > self.known);
        let sees = |object: ObjectId| self.looks.contains(&object) || (hidden && Some(object) > self.known);
        let changes = |effect: &Operation| !effect.action.only_reads() && !effect.action.is_private();
        let parts = effects.iter().skip(usize::from(only_read));
        !parts.into_iter().any(|effect| changes(effect) && sees(effect.object))
    }

    /// Whether the task would wait at the end of a sequence of steps, the last of which is its own.
    pub(super) fn outlasts(&self, history: &History, sequence: &[usize]) -> bool {
        let Some((&last, before)) = sequence.split_last() else { return false };
        history.task_id(last) == self.task
            && before.iter().all(|&step| {
                history.task_id(step) != self.task && self.lasts(history.effects(step), history.only_read(step))
            })
    }
}

impl State {
    /// Whether the step only looked, whatever was decided.
    fn is_look(&self) -> bool {
        let reads = |(part, effect): (usize, &Operation)| effect.action.only_reads() || (part == 0 && self.only_read);
        self.picks.is_empty() && !self.effects.is_empty() && self.effects.iter().enumerate().all(reads)
    }

    /// Whether each of these tasks sleeps or waits, and not all of them wait.
    fn may_all_rest(&self, tasks: &[TaskId]) -> bool {
        let sleeps = |task: TaskId| self.sleep.iter().any(|sleeper| sleeper.task == task && !sleeper.is_woken);
        let waits = |task: TaskId| self.vain.iter().any(|vain| vain.is_of(task));
        tasks.iter().all(|&task| sleeps(task) || waits(task)) && !tasks.iter().all(|&task| waits(task))
    }

    /// The tasks that wait after the step.
    pub(super) fn vain_after(&self) -> Vec<Vain> {
        self.vain.iter().filter(|vain| vain.lasts(&self.effects, self.only_read)).cloned().collect()
    }
}

impl Probe {
    pub(super) fn only_read(&mut self) {
        self.attempts = false;
    }

    fn leaves(&mut self) {
        self.is_over = true;
    }

    /// The task has made all its looks: finds the first look after which it was where it had been before: in the same local state, or
    /// a hint ago.
    fn settle(&mut self) {
        self.is_over = true;
        let looks = &self.looks;
        let begins = |at: usize| {
            let is_hint_ago = |before: usize| looks[before..at].iter().any(|look| look.hinted);
            let is_same = |before: usize| looks[before].is_where(&looks[at]) || is_hint_ago(before);
            (0..at).rev().find(|&before| looks[before].is_alike(&looks[at]) && is_same(before))
        };
        let Some((begin, at)) = (1..looks.len()).find_map(|at| Some((begins(at)?, at))) else { return };
        let objects: BTreeSet<ObjectId> = looks[begin..].iter().map(|look| look.object).collect();
        self.found = self.states.get(at - 1).map(|state| (*state, objects.into_iter().collect()));
    }
}

impl Exhaustive {
    /// Where a task spins, yields or looks again and again.
    pub(super) fn take_hint(&mut self, task: TaskId, place: Place, looks: bool) -> Hint {
        if let Some(probe) = &mut self.probe {
            probe.hints += 1;
            if probe.hints > HINTS {
                probe.leaves();
            }
            if let (false, Some(last)) = (looks, probe.looks.last_mut()) {
                last.hinted = true;
            }
            return if probe.is_over || probe.task != task { Hint::Wait } else { Hint::GoOn };
        }
        // Parts of a search must see the same first states, whatever else they have seen. So they do not probe, and show more.
        self.shows_more |= self.split.is_some() && self.stray.is_none() && !looks;
        if self.stray.is_some() || !self.sees_through_loops() {
            return Hint::Ask;
        }
        let Some(last) = self.depth.checked_sub(1).map(|last| &self.states[last]) else { return Hint::Ask };
        if last.vain_after().iter().any(|vain| vain.is_of(task)) {
            return Hint::Wait;
        }
        let is_known = self.depth < self.states.len();
        if is_known || looks || last.task != task || !last.is_look() {
            return Hint::Ask;
        }
        let hint = (self.tasks.name(task), self.spots.of(place));
        if self.leave.contains(&hint) {
            return Hint::Ask;
        }
        let own = || self.states.iter().enumerate().rev().filter(|(_, state)| state.task == task);
        let run = self.looks_of(task);
        // Where the task has spun before the first look, that look may belong to another loop than the looks after it.
        let has_spun = |state: &State| state.effects[0].action == Action::Yield || !state.picks.is_empty();
        if own().nth(run.len()).is_some_and(|(_, before)| has_spun(before)) {
            return Hint::Ask;
        }
        let (states, mut looks): (Vec<usize>, Vec<Look>) = run.into_iter().unzip();
        looks.iter_mut().rev().take(1).for_each(|look| look.hinted = true);
        self.begin_probe(task, hint, (states, looks));
        Hint::GoOn
    }

    /// Whether rounds in vain are left out: not where a look may see something older than the look before, and not in parts of a
    /// search. Where memory is weak, the executions without stale accesses come first.
    fn sees_through_loops(&self) -> bool {
        self.split.is_none() && self.level.bound() == 0
    }

    /// A task that has made a look is about to make it again, without a hint between them. Whether it waits is found out by a probe,
    /// if it is in the same local state. Before some task makes a third look at a place, local states are not asked for there; then the
    /// execution is run again.
    pub(super) fn probe_looks(&mut self, current: Option<TaskId>, pending: &[Pending]) -> Option<usize> {
        if !self.sees_through_loops() {
            return None;
        }
        let (task, last) = (current?, self.states.last()?);
        if last.task != task || !last.is_look() || last.vain_after().iter().any(|vain| vain.is_of(task)) {
            return None;
        }
        let operation = pending.iter().find(|pending| pending.task == task)?.operation;
        let next = Look::new(operation, self.local_states.get(task.index()).copied().flatten());
        let (alike, is_where) = self.rows.like(task, &next);
        debug_assert_eq!((alike as usize, is_where), self.like_slowly(task, &next));
        // Many programs look twice, and are no slower for it.
        let goes_round = alike >= 2;
        if !goes_round && !is_where {
            return None;
        }
        let hint = (self.tasks.name(task), self.spots.of(operation.location));
        if self.leave.contains(&hint) {
            return None;
        }
        if self.looping.insert(hint.1) {
            self.runs_again = true;
            return Some(self.stray(Stray::Probe));
        }
        if !is_where {
            return None;
        }
        self.begin_probe(task, hint, self.looks_of(task).into_iter().unzip());
        Some(self.go_on_probing(pending))
    }

    /// As [`Rows::like`].
    fn like_slowly(&self, task: TaskId, next: &Look) -> (usize, bool) {
        let row = self.looks_of(task);
        let alike = row.iter().filter(|(_, look)| look.is_alike(next)).count();
        (alike, row.iter().any(|(_, look)| look.is_where(next)))
    }

    /// The last step has been made.
    pub(super) fn note_row(&mut self) {
        if let Some(last) = self.depth.checked_sub(1)
            && self.sees_through_loops()
        {
            self.rows.note(last, &self.states[last]);
        }
    }

    /// The last looks of a task, after which it has made no other step, each with its state.
    fn looks_of(&self, task: TaskId) -> Vec<(usize, Look)> {
        let own = self.states.iter().enumerate().rev().filter(|(_, state)| state.task == task);
        let run = own.take_while(|(_, state)| state.is_look());
        let mut looks: Vec<_> =
            run.map(|(index, state)| (index, Look::new(state.effects[0], state.local_state))).collect();
        looks.reverse();
        looks
    }

    fn begin_probe(&mut self, task: TaskId, hint: (TaskName, Spot), (states, looks): (Vec<usize>, Vec<Look>)) {
        self.stray = Some(Stray::Probe);
        self.probe = Some(Probe {
            task,
            hint,
            states,
            looks,
            hints: 0,
            others: Vec::new(),
            attempts: false,
            is_over: false,
            found: None,
        });
    }

    /// The task that is probed goes on.
    pub(super) fn go_on_probing(&mut self, pending: &[Pending]) -> usize {
        let local_states = &mut self.local_states;
        let Some(probe) = self.probe.as_mut().filter(|probe| !probe.is_over) else { return 0 };
        let index = pending.iter().position(|pending| pending.task == probe.task);
        let Some(index) = index.filter(|_| !probe.attempts) else {
            probe.leaves();
            return 0;
        };
        if probe.looks.len() == probe.states.len() {
            let others = pending.iter().map(|pending| pending.task);
            probe.others = others.filter(|task| *task != probe.task).collect();
        }
        let operation = pending[index].operation;
        probe.attempts = !operation.action.only_reads();
        probe.hints = 0;
        probe.looks.push(Look::new(operation, take_local_state(local_states, probe.task)));
        if probe.looks.len() >= probe.states.len() + ROUNDS {
            probe.settle();
        }
        index
    }

    /// The execution goes back to where the task would have begun to wait, or to where the probe began.
    pub(super) fn end_probe(&mut self, probe: Probe, trace: &[Event]) {
        let Some((at, looks)) = probe.found else {
            self.leave.insert(probe.hint);
            return;
        };
        // The step that the task makes in vain might have seen something else before.
        let (history, common) = self.follow(first_steps(trace, at + 1), &[]);
        self.reverse_races_since(&history, common, &[]);
        self.history = history;
        let alone = self.states[at..].iter().all(|state| state.task == probe.task);
        self.states.truncate(at + 1);
        let state = &mut self.states[at];
        state.vain.push(Vain { task: probe.task, looks, known: state.known });
        state.effects.clear();
        state.planned.clear();
        let branch = state.tree.remove(0);
        self.miss(&branch);
        let state = &mut self.states[at];
        if let Some(next) = state.tree.first() {
            state.planned = next.future.answers.clone();
        } else if alone && !probe.others.is_empty() && state.may_all_rest(&probe.others) {
            // As if the search had gone back there to see that all that is left sleeps.
            self.states.truncate(at);
            if !self.backtrack() {
                self.end_level();
            }
        }
    }

    /// A branch is not explored. Nothing was planned after a step that a task makes in vain.
    fn miss(&mut self, branch: &Branch) {
        if !branch.children.is_empty() {
            self.coverage.cut = self.coverage.cut.or(Some(Cut::Infeasible));
        }
    }

    /// Takes the branches off a plan whose steps are not enabled, because their tasks wait.
    pub(super) fn drop_vain(&mut self, tree: &mut Vec<Branch>, vain: &[Vain], pending: &[Pending]) {
        if vain.is_empty() || all_wait(pending, vain) {
            return;
        }
        let names: Vec<TaskName> = vain.iter().map(|vain| self.tasks.name(vain.task)).collect();
        for branch in tree.extract_if(.., |branch| names.contains(&branch.future.task)) {
            self.miss(&branch);
        }
    }

    /// A state that was reached before has no branch left, since a task turned out to wait there: another task goes on.
    pub(super) fn choose_again(&mut self, current: Option<TaskId>, pending: &[Pending]) -> Option<usize> {
        let state = &mut self.states[self.depth];
        state.goes_round = all_wait(pending, &state.vain);
        let task = *awake(current, pending, &state.sleep, &state.vain).first()?;
        state.tree.push(Branch::leaf(self.tasks.name(task)));
        pending.iter().position(|pending| pending.task == task)
    }
}

/// The tasks that may make the next step, the one that goes on first: those that neither sleep nor wait in a loop. If all of
/// them wait in loops, no other task helps them: they may go round.
pub(super) fn awake(current: Option<TaskId>, pending: &[Pending], sleep: &[Sleeper], vain: &[Vain]) -> Vec<TaskId> {
    let asleep = |task: TaskId| sleep.iter().any(|sleeper| sleeper.task == task && !sleeper.is_woken);
    let waits = |task: TaskId| vain.iter().any(|vain| vain.is_of(task));
    let all_wait = all_wait(pending, vain);
    let others = pending.iter().map(|pending| pending.task).filter(|task| Some(*task) != current);
    let tasks = current.into_iter().chain(others);
    tasks.filter(|&task| !asleep(task) && (all_wait || !waits(task))).collect()
}

/// Whether all tasks that can go on wait in loops.
pub(super) fn all_wait(pending: &[Pending], vain: &[Vain]) -> bool {
    !vain.is_empty() && pending.iter().all(|pending| vain.iter().any(|vain| vain.is_of(pending.task)))
}
