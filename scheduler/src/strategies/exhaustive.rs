//! Exhaustive search with dynamic partial-order reduction: P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, *Optimal
//! dynamic partial order reduction*, POPL 2014, Algorithm 2 (wakeup trees), with sleep sets (P. Godefroid, *Partial-order
//! methods for the verification of concurrent systems*, LNCS 1032, 1996).
//!
//! Two executions that differ only in the order of steps that do not depend on each other are the same Mazurkiewicz
//! trace; the search runs one execution of each. The search is depth-first: an execution runs to its end; each *race*
//! in it (two dependent steps that could have come in the other order) leaves, at the state before the first of the
//! two, a sequence of steps that reverses it; then the search returns to the deepest state with such a sequence left.
//!
//! Where this deviates from the paper, which assumes that no step disables another one:
//!
//! - A step that takes a lock races with the step that *took* the lock before, not with the step that released it: it
//!   is not enabled before the release (see [`History::is_feasible`]).
//! - Tasks that are blocked at the end race with what blocks them, too.
//! - Decisions that are not about tasks are answered in all ways, each as a branch of the step in which they are asked.
//!   A planned sequence keeps the answers that it was seen with; after other answers nothing is planned.
//!
//! What an execution costs grows with its length, and not with the square of it: a step is compared with the latest steps
//! on its objects (`exhaustive/index.rs`), and what the execution has in common with the one before is neither followed
//! nor searched for races again.
//!
//! The engine numbers objects and tasks as they come, so the numbers depend on the schedule. What the search keeps from
//! one execution for another has a name made of its origin: see `exhaustive/names.rs`.
//!
//! Parts of a search are in `exhaustive/parts.rs`, the places of accesses to weak memory in `exhaustive/places.rs`.
//!
//! # Limits
//!
//! An object that is new after a state can be any other new object there, unless two executions use it at a common
//! place. The search assumes so in order to miss nothing. A program that makes its objects as it goes can therefore
//! have more executions than traces ([`Exploration::redundant`]).
//!
//! The state of the whole program enables a loop that waits by yielding, and a time-out. The search then covers all
//! outcomes, but can run several executions for one trace.

mod history;
mod index;
mod names;
mod parts;
mod places;
mod progress;
mod saved;
mod sleep;
mod state;
mod vain;
mod wakeup;

use std::collections::BTreeSet;
use std::ops::Range;

use interloper_std::runtime::{Action, Operation, Place, TaskId};

use self::history::History;
use self::names::{Names, TaskName, Tasks};
use self::parts::Split;
pub use self::progress::{Cut, Exploration};
use self::progress::{Level, Stray};
pub use self::sleep::Sleeper;
use self::state::{Pick, State};
use self::vain::{Probe, Rows, all_wait, awake};
use self::wakeup::Branch;
use crate::decisions::Question;
use crate::freedoms::{Freedom, Freedoms};
use crate::spot::{Spot, Spots};
use crate::strategy::{Hint, Pending, Stores, Strategy};
use crate::{Blocked, End, Event, Execution, Older, TaskReport};

/// One execution of each Mazurkiewicz trace.
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    /// The states of the current execution, from the first on, each with the step taken there.
    states: Vec<State>,
    /// How many steps the current execution has made.
    depth: usize,
    /// How many decisions the current step has asked for.
    picked: usize,
    /// Why the current execution is not explored further.
    stray: Option<Stray>,
    /// In a part of a search: who could go on in the state in which everything slept.
    enabled: Vec<TaskId>,
    /// Some of what slept there fell asleep in a first state.
    slept_since_first: bool,
    names: Names,
    /// The tasks of the current execution.
    tasks: Tasks,
    /// The last execution that counts.
    history: History,
    begun: bool,
    coverage: Exploration,
    level: Level,
    /// The part of the search, if it is not the whole.
    split: Option<Split>,
    /// The current execution is the first one of a subtree, which begins after so many steps.
    root: Option<usize>,
    /// What the current execution tries, if it does not count.
    probe: Option<Probe>,
    /// Hints, or looks, after which a task of this name did not wait.
    leave: BTreeSet<(TaskName, Spot)>,
    /// Places where tasks have looked again and again without a hint. The local states in which they look there are asked for.
    looping: BTreeSet<Spot>,
    spots: Spots,
    /// What the tasks of the current execution have looked at last.
    rows: Rows,
    /// Memory of states that were left.
    spare: Vec<(Vec<Operation>, Vec<Branch>)>,
    /// What was told of the pending steps, by task.
    local_states: Vec<Option<u64>>,
    /// The current execution counts for nothing, and is to be run again with local states.
    runs_again: bool,
    /// In a part of a search: the search as a whole may have fewer traces, since a task spins or yields.
    shows_more: bool,
    /// Some execution repeated a trace or could not go on as planned, or the search as a whole need not show its trace.
    repeats: bool,
}

impl Exhaustive {
    /// A search.
    pub fn new() -> Exhaustive {
        Exhaustive::default()
    }

    /// Only the executions with so many stale accesses as `amounts` says: first those with at most the smallest amount, then those
    /// with at most one more, and so on. So the first violation has the fewest stale accesses that a violation needs. The executions
    /// with fewer come with the first ones, not before: where amounts do not begin with 0, those were searched already.
    pub fn with_stale(self, amounts: Range<u32>) -> Exhaustive {
        let level = Level { bound: amounts.start, below: Some(amounts.end), ..Level::default() };
        Exhaustive { level, ..self }
    }

    /// Whether memory is weak in the executions.
    pub fn is_weak(&self) -> bool {
        self.level.admitted > 0
    }

    /// Whether some execution repeated a trace or could not go on as planned, as far as the search can tell; or, in a part of a
    /// search, showed a trace that the search as a whole need not show.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The progress of the search so far.
    pub fn exploration(&self) -> &Exploration {
        &self.coverage
    }

    /// Enters a new state: follows the wakeup tree, or else takes any step that does not sleep.
    fn enter(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let seen = pending.iter().map(|pending| pending.operation.object).max();
        let (effects, spare_tree) = self.spare.pop().unwrap_or_default();
        let (known, mut sleep, vain, mut tree) = match self.states.last_mut() {
            Some(before) => {
                let planned = std::mem::take(&mut before.tree[0].children);
                let tree = if planned.is_empty() { spare_tree } else { planned };
                let asleep = |sleeper: &Sleeper| sleeper.after(before.task, &before.effects);
                let used = before.effects.iter().map(|effect| effect.object).max();
                let sleep = before.sleep.iter().filter_map(asleep).collect();
                (before.known.max(used).max(seen), sleep, before.vain_after(), tree)
            }
            None => (seen, Vec::new(), Vec::new(), spare_tree),
        };
        self.drop_vain(&mut tree, &vain, pending);
        let (after_first, mut ways) = self.states.last().map_or((true, 1), |before| (before.is_first, before.ways));
        let is_first = after_first && self.split.is_some_and(|split| ways < split.ways);
        if self.split.is_some() && after_first && !is_first {
            self.root = Some(self.depth);
            if self.level.admitted > 0 {
                // A sleeper of the first states does not know which stores were there when it fell asleep.
                sleep.clear();
            }
            sleep.iter_mut().for_each(|sleeper| sleeper.is_inherited = true);
        }
        let index = match tree.first() {
            Some(branch) => pending.iter().position(|pending| self.tasks.name(pending.task) == branch.future.task),
            None => {
                let mut tasks = awake(current, pending, &sleep, &vain).into_iter();
                let Some(task) = tasks.next() else {
                    self.enabled = pending.iter().map(|pending| pending.task).collect();
                    self.slept_since_first = sleep.iter().any(|sleeper| sleeper.is_inherited);
                    // What sleeps in the first states is explored in a subtree beside.
                    return self.stray(if is_first { Stray::Elsewhere } else { Stray::Redundant });
                };
                tree.push(Branch::leaf(self.tasks.name(task)));
                if is_first {
                    tree.extend(tasks.map(|task| Branch::leaf(self.tasks.name(task))));
                    ways = ways.saturating_mul(tree.len() as u64);
                }
                pending.iter().position(|pending| pending.task == task)
            }
        };
        let Some(index) = index else { return self.stray(Stray::Infeasible) };
        let task = pending[index].task;
        let planned = tree[0].future.answers.clone();
        let (other_effects, picks) = (Vec::new(), Vec::new());
        let state = State {
            is_first,
            ways,
            task,
            effects,
            other_effects,
            picks,
            planned,
            known,
            atomic: None,
            takes_newest: false,
            racers: BTreeSet::new(),
            sleep,
            goes_round: all_wait(pending, &vain),
            vain,
            local_state: None,
            only_read: false,
            tree,
        };
        self.states.push(state);
        index
    }

    fn stray(&mut self, how: Stray) -> usize {
        self.stray = Some(how);
        0
    }

    /// Leaves a sequence that reverses it for each race of the execution (Algorithm 2, lines 3 to 9).
    fn reverse_races(&mut self, execution: &Execution, trace: &[Event]) {
        let (mut history, common) = self.follow(trace, &execution.accesses);
        // Where the process has ended, every task that could go on might have gone on before.
        let ended = trace.iter().rev().take_while(|event| event.continues);
        let ended = trace.iter().rev().take(ended.count() + 1).any(|event| event.operation.action == Action::End);
        let could_come = |report: &&TaskReport| match report.blocked {
            Blocked::Lock | Blocked::Join | Blocked::Token => true,
            Blocked::No => ended,
            Blocked::Queue | Blocked::Clock | Blocked::Change => false,
        };
        // What the stuck tasks would use must be known before their races are looked at.
        for report in &execution.stuck {
            history.push_blocked(report.task, vec![report.wants]);
            history.pop();
        }
        self.reverse_races_since(&history, common, &execution.older);
        for report in execution.stuck.iter().filter(could_come) {
            let step = history.push_blocked(report.task, vec![report.wants]);
            self.reverse_races_with(&history, step);
            history.pop();
        }
        self.history = history;
    }

    /// The history of an execution, and how many steps it has in common with the one before.
    fn follow(&mut self, trace: &[Event], accesses: &[(u32, Option<u32>)]) -> (History, usize) {
        let answers = |step: usize| self.states.get(step).into_iter().flat_map(|state| &state.picks).map(Pick::answer);
        let mut history = std::mem::take(&mut self.history);
        let common = history.follow(trace, &self.tasks, accesses, answers);
        (history, common)
    }

    /// The races among the steps that the last execution had, too, were reversed then.
    fn reverse_races_since(&mut self, history: &History, common: usize, older: &[Older]) {
        let states = self.states.iter_mut().enumerate().skip(common);
        // What sleeps after a first state must not depend on what was explored below it.
        let states = states.filter(|(_, state)| !state.is_first);
        states.for_each(|(step, state)| {
            state.atomic = history.atomic(step);
            state.takes_newest |= !older.iter().any(|older| history.is_of(step, older.event));
        });
        for step in common..history.len() {
            self.reverse_races_with(history, step);
        }
    }

    fn reverse_races_with(&mut self, history: &History, second: usize) {
        for first in history.races_with(second) {
            let reversed = history.reversed(first, second);
            let state = &mut self.states[first];
            state.racers.insert(history.nth_after(first, second));
            if state.is_first || state.vain.iter().any(|vain| vain.outlasts(history, &reversed)) {
                continue;
            }
            let mut asleep = state.sleep.iter().filter(|sleeper| !sleeper.is_woken);
            if !asleep.any(|sleeper| history.may_begin_asleep(&reversed, sleeper)) {
                // The current branch cannot start the sequence: its own step is the first half of the race.
                let (_, others) = state.tree.split_at_mut(1);
                if let Some(rest) = wakeup::insert(others, history, state.known, reversed) {
                    state.tree.push(rest);
                }
            }
        }
    }

    /// Goes to the deepest state with something left to explore. Returns false when no such state exists.
    fn backtrack(&mut self) -> bool {
        while let Some(since) = self.states.len().checked_sub(1) {
            let state = &mut self.states[since];
            if state.other_effects.is_empty() {
                std::mem::swap(&mut state.other_effects, &mut state.effects);
            }
            state.other_effects.append(&mut state.effects);
            // The planned sequences were explored with the first answers.
            state.planned.clear();
            while let Some(pick) = state.picks.pop() {
                if let Some(next) = pick.next() {
                    state.picks.push(next);
                    state.tree[0].children.clear();
                    return true;
                }
            }
            state.tree.remove(0);
            let Some(next) = state.tree.first() else {
                self.leave_last();
                continue;
            };
            state.planned.clone_from(&next.future.answers);
            let wakers = state.take_wakers(self.level);
            let effects = std::mem::take(&mut state.other_effects);
            let sleeper = Sleeper::new(state.task, effects, state.known).with_atomic(state.atomic, since as u64);
            state.sleep.push(Sleeper { wakers, ..sleeper });
            return true;
        }
        false
    }

    /// Leaves the last state, from which nothing is left to explore. Its memory is for another one: an execution goes through as many
    /// states as it has steps.
    fn leave_last(&mut self) {
        if let Some(State { other_effects: mut effects, mut tree, .. }) = self.states.pop() {
            effects.clear();
            tree.clear();
            self.spare.push((effects, tree));
        }
    }

    /// No execution of the present level is left. Goes on to the next one, if that has more.
    fn end_level(&mut self) {
        let Level { bound, admitted, limited, .. } = self.level;
        let complete = self.coverage.cut.is_none();
        // Without weak memory the engine does not know what there would be.
        let may_have_more = limited || (bound == 0 && admitted > 0);
        if admitted > 0 && complete {
            self.coverage.older = Some(if may_have_more { self.level.bound() } else { u32::MAX });
        }
        // Also after a level that left something out: what the next one adds can be wrong where nothing was so far.
        if let Some(next) = self.level.next().filter(|_| may_have_more) {
            self.level = next;
            self.begin_again();
            // They come again.
            self.coverage.redundant += std::mem::take(&mut self.coverage.traces);
        } else {
            self.coverage.complete = complete;
        }
    }

    /// The next execution begins with the first choice.
    fn begin_again(&mut self) {
        self.states.clear();
        self.begun = false;
        self.history.clear();
        if let Some(split) = &mut self.split {
            split.restart();
        }
    }

    fn note(&mut self, execution: &Execution) {
        self.level.limited |= execution.older_left;
        let cut = match (&self.stray, &execution.end) {
            (Some(Stray::Elsewhere | Stray::Probe), _) => None,
            (Some(Stray::Infeasible), _) => Some(Cut::Infeasible),
            (_, End::StepBound(_)) => Some(Cut::StepBound),
            (_, End::Livelock(_)) => Some(Cut::Livelock),
            (_, End::Failed { .. } | End::Memory(_)) => Some(Cut::Failed),
            _ if execution.steered => Some(Cut::Steered),
            _ if execution.withheld => Some(Cut::Hints),
            _ => None,
        };
        self.coverage.cut = self.coverage.cut.or(cut);
        match self.stray {
            None => self.coverage.traces += 1,
            Some(Stray::Probe) => self.coverage.probes += 1,
            Some(_) => self.coverage.redundant += 1,
        }
        self.repeats |= match self.stray {
            None => self.shows_more,
            Some(Stray::Redundant) => !self.slept_since_first,
            Some(Stray::Infeasible) => true,
            Some(Stray::Elsewhere | Stray::Probe) => false,
        };
    }
}

impl Strategy for Exhaustive {
    fn begin(&mut self) -> bool {
        if self.begun && self.states.is_empty() {
            return false;
        }
        (self.depth, self.picked, self.stray, self.begun) = (0, 0, None, true);
        self.slept_since_first = false;
        self.probe = None;
        self.root = None;
        self.local_states.clear();
        self.rows.clear();
        self.tasks = Tasks::new();
        true
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        if self.stray == Some(Stray::Probe) {
            return self.go_on_probing(pending);
        }
        if self.stray.is_some() {
            return 0;
        }
        self.note_row();
        let index = match self.states.get(self.depth) {
            Some(state) if state.tree.is_empty() => match self.choose_again(current, pending) {
                Some(index) => index,
                None => return self.stray(Stray::Redundant),
            },
            Some(state) => {
                let task = state.tree[0].future.task;
                match pending.iter().position(|pending| self.tasks.name(pending.task) == task) {
                    Some(index) => index,
                    None => return self.stray(Stray::Infeasible),
                }
            }
            None => match self.probe_looks(current, pending) {
                Some(index) => index,
                None => self.enter(current, pending),
            },
        };
        if let Some(state) = self.states.get_mut(self.depth) {
            state.task = pending[index].task;
            state.local_state = vain::take_local_state(&mut self.local_states, state.task);
            state.effects.clear();
            state.effects.push(pending[index].operation);
            state.only_read = false;
            self.depth += 1;
            self.picked = 0;
        }
        index
    }

    fn decide(&mut self, _: Question, options: u32) -> u32 {
        let Some(state) = self.depth.checked_sub(1).and_then(|last| self.states.get_mut(last)) else { return 0 };
        if self.stray.is_some() {
            return 0;
        }
        if self.picked == state.picks.len() {
            let planned = state.planned.get(self.picked).copied().unwrap_or(0);
            state.picks.push(Pick::new((0..options).collect(), planned.min(options - 1)));
        }
        self.picked += 1;
        state.picks[self.picked - 1].answer().min(options - 1)
    }

    fn place(&mut self, options: u32, stores: &dyn Stores) -> u32 {
        if self.stray.is_some() { 0 } else { self.take_place(options, stores) }
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        self.level.admitted = admitted.count(Freedom::Memory);
        admitted.with(Freedom::Memory, self.level.bound())
    }

    fn wants_parts(&self) -> bool {
        true
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        if operation.action == Action::Spawn {
            self.tasks.spawn(&mut self.names, task);
        }
        if let (Some(state), None) = (self.depth.checked_sub(1).and_then(|last| self.states.get_mut(last)), self.stray)
        {
            state.effects.push(operation);
        }
    }

    fn only_read(&mut self, _: TaskId, _: Operation) {
        match (self.stray, self.depth.checked_sub(1)) {
            (None, Some(last)) => self.states[last].only_read = true,
            _ => self.probe.iter_mut().for_each(Probe::only_read),
        }
    }

    fn wants_local_states(&self) -> bool {
        !self.looping.is_empty()
    }

    fn wants_local_state_at(&mut self, task: TaskId, place: Place) -> bool {
        let spot = self.spots.of(place);
        self.looping.contains(&spot) && !self.leave.contains(&(self.tasks.name(task), spot))
    }

    fn local_state(&mut self, task: TaskId, number: u64) {
        if self.local_states.len() <= task.index() {
            self.local_states.resize(task.index() + 1, None);
        }
        self.local_states[task.index()] = Some(number);
    }

    fn hint(&mut self, task: TaskId, place: Place, looks: bool) -> Hint {
        self.take_hint(task, place, looks)
    }

    fn discards(&self) -> bool {
        match self.stray {
            Some(Stray::Probe | Stray::Elsewhere) => true,
            // Another part shows its trace.
            Some(Stray::Redundant) => self.slept_since_first,
            Some(Stray::Infeasible) | None => false,
        }
    }

    /// # Panics
    /// When the engine does not record the trace.
    fn end(&mut self, execution: &Execution, trace: &[Event]) {
        assert!(!trace.is_empty(), "an exhaustive search needs the trace: Config::trace");
        self.deal();
        if self.stray.is_none() {
            // Who waits for ever goes round for as long as the engine likes. The races of the first round are known already.
            let livelock = matches!(execution.end, End::Livelock(_));
            let rounds =
                self.states[..self.depth].iter().rev().take_while(|state| livelock && state.goes_round).count();
            self.depth -= rounds;
            self.reverse_races(execution, first_steps(trace, self.depth));
        } else if self.stray == Some(Stray::Redundant) && self.slept_since_first {
            self.reverse_races_before_sleep(execution, trace);
        }
        // The path has only states that were reached: a stray execution leaves the state from which it strayed.
        self.states.truncate(self.depth);
        self.note(execution);
        if let Some(probe) = self.probe.take() {
            return self.end_probe(probe, trace);
        }
        if std::mem::take(&mut self.runs_again) {
            return;
        }
        let is_left = self.backtrack();
        if let Some(split) = self.split.as_mut().filter(|split| split.is_planning()) {
            if split.has_planned(is_left) {
                self.begin_again();
            }
        } else if !is_left {
            self.end_level();
        }
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.to_words()
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.go_on_from(saved).is_some()
    }
}

/// The events of so many first steps.
fn first_steps(trace: &[Event], steps: usize) -> &[Event] {
    let begins = trace.iter().enumerate().filter(|(_, event)| !event.continues);
    let end = begins.map(|(event, _)| event).nth(steps);
    &trace[..end.unwrap_or(trace.len())]
}
