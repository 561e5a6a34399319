//! AtomFuzzer: Algorithm 2 of C.-S. Park and K. Sen, *Randomized active atomicity violation detection in concurrent
//! programs*, FSE 2008.
//!
//! A task that is about to take a lock again, inside an atomic block in which it has taken and released that lock
//! before, is paused: perhaps another task takes the lock meanwhile, and the block is not atomic.
//!
//! With [`Pattern::Accesses`] the strategy does the same for every object: it pauses a task before its second access to
//! an object in a block, until another task accesses the object such that no serial order explains the three accesses.
//! With r and w for reading and writing, and the middle access by the other task, these are r·w·r, r·w·w, w·r·w, w·w·r,
//! and what contains them when an access does both. The judge decides in the same way what counts as an access:
//! [`Access`].
//!
//! Where [`Inferred`] pairs of accesses are known, a task is also paused before the second access of such a pair, as if a block had
//! begun with the first one and ended with the second.
//!
//! Before an attempt runs, it counts as the access that it makes if it succeeds. Afterwards it counts as the access
//! that it made: a failed attempt to take a lock comes between nothing.

mod inferred;

use std::collections::BTreeMap;
use std::sync::Arc;

use interloper_std::runtime::{Action, ObjectId, Operation, TaskId};

pub use self::inferred::{Inferred, Pair};
use crate::access::{Access, unserialisable};
use crate::decisions::{Question, RandomSource, Source};
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution};

/// Which accesses the strategy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Locks that are taken or converted: the algorithm as printed.
    Locks,
    /// Locks, atomics, collections: everything that has an order.
    Accesses,
}

/// A line that the algorithm prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Line 17 or line 27.
    pub grade: Grade,
    /// The task in the block.
    pub task: TaskId,
    /// Its first access to the object in the block.
    pub first: Operation,
    /// The access of another task that interrupted the block, and that task; `None` for a warning.
    pub between: Option<(TaskId, Operation)>,
    /// The access that the task was about to make.
    pub again: Operation,
}

/// How much a finding says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// "Atomicity violation possible."
    Warning,
    /// "Atomicity violation detected": it has happened in this execution.
    Error,
}

/// Algorithm 2.
#[derive(Clone, Debug)]
pub struct AtomFuzzer {
    seed: u64,
    execution: u64,
    /// q, as a number of 2^32.
    q: u64,
    pattern: Pattern,
    patience: u32,
    source: RandomSource,
    paused: Vec<Paused>,
    /// Whether any task has entered a block, in any execution.
    has_blocks: bool,
    /// How many blocks each task is in.
    inside_atomic: Vec<u32>,
    already_acquired: Vec<Acquired>,
    /// Pairs of accesses that may be blocks.
    inferred: Arc<Inferred>,
    /// The last access of each task to each object, where such pairs are known.
    last_accesses: BTreeMap<(TaskId, ObjectId), Acquired>,
    /// The current step. The next question to the strategy shows which access it made.
    last: Option<Acquired>,
    /// Tasks that were paused before their current operation: they are not paused twice.
    released: Vec<TaskId>,
    findings: Vec<Finding>,
    candidates: Vec<usize>,
}

/// A step, and the access that it made.
#[derive(Clone, Copy, Debug)]
struct Acquired {
    task: TaskId,
    operation: Operation,
    access: Access,
}

/// (p, L, t), and how many steps other tasks have made meanwhile.
#[derive(Clone, Debug)]
struct Paused {
    task: TaskId,
    operation: Operation,
    waited: u32,
}

impl AtomFuzzer {
    /// The schedules of a seed, with q = 0.5 as in the paper, for locks.
    pub fn new(seed: u64) -> AtomFuzzer {
        AtomFuzzer::starting_at(seed, 0)
    }

    /// The schedules of a seed from the execution of this number on.
    pub fn starting_at(seed: u64, execution: u64) -> AtomFuzzer {
        AtomFuzzer {
            seed,
            execution,
            q: 1 << 31,
            pattern: Pattern::Locks,
            patience: 1000,
            source: RandomSource::new(seed, execution),
            paused: Vec::new(),
            has_blocks: false,
            inside_atomic: Vec::new(),
            already_acquired: Vec::new(),
            inferred: Arc::default(),
            last_accesses: BTreeMap::new(),
            last: None,
            released: Vec::new(),
            findings: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Sets the probability of a pause.
    ///
    /// # Panics
    /// When `q` is not between 0 and 1.
    pub fn with_q(mut self, q: f64) -> AtomFuzzer {
        assert!((0.0..=1.0).contains(&q), "q is a probability, but it is {q}");
        self.q = (q * (1u64 << 32) as f64) as u64;
        self
    }

    /// Sets which accesses are looked at.
    pub fn with_pattern(mut self, pattern: Pattern) -> AtomFuzzer {
        self.pattern = pattern;
        self
    }

    /// Pauses tasks between the two accesses of these pairs, too.
    pub fn with_inferred(mut self, pairs: Arc<Inferred>) -> AtomFuzzer {
        self.inferred = pairs;
        self
    }

    /// Sets after how many steps of other tasks a pause ends (section 4: escape from livelocks).
    pub fn with_patience(mut self, steps: u32) -> AtomFuzzer {
        self.patience = steps;
        self
    }

    /// What the last execution printed, in order.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn is_inside(&self, task: TaskId) -> bool {
        self.inside_atomic.get(task.index()).is_some_and(|&depth| depth > 0)
    }

    fn depth(&mut self, task: TaskId) -> &mut u32 {
        if self.inside_atomic.len() <= task.index() {
            self.inside_atomic.resize(task.index() + 1, 0);
        }
        &mut self.inside_atomic[task.index()]
    }

    /// The first access of the task to the object in its block that belongs to the pattern.
    fn first(&self, task: TaskId, again: Operation) -> Option<Operation> {
        self.firsts(task, again).next().map(|first| first.operation)
    }

    /// The accesses of the task to the object in its block, and the one with which `again` would be an inferred pair.
    fn firsts(&self, task: TaskId, again: Operation) -> impl Iterator<Item = &Acquired> {
        let is_own = move |first: &&Acquired| first.task == task && same_object(&first.operation, &again);
        let last = self.last_accesses.get(&(task, again.object));
        let inferred = last.filter(|first| self.inferred.has(first.operation.location, again.location));
        self.already_acquired.iter().chain(inferred).filter(is_own)
    }

    fn take_released(&mut self, task: TaskId) -> bool {
        let position = self.released.iter().position(|&other| other == task);
        position.map(|position| self.released.swap_remove(position)).is_some()
    }

    /// Lines 6 to 24: the transition is executed (true) or paused (false).
    fn transition(&mut self, t: &Pending) -> bool {
        let (p, operation) = (t.task, t.operation);
        match operation.action {
            Action::BlockBegin(_) => {
                // 6–8
                self.has_blocks = true;
                *self.depth(p) += 1;
            }
            Action::BlockEnd => {
                // 9–12. Blocks can be nested here: the outermost one is the block.
                *self.depth(p) -= 1;
                if !self.is_inside(p) {
                    self.already_acquired.retain(|first| first.task != p);
                }
            }
            _ => {
                let Some(access) = access(operation.action, self.pattern) else { return true };
                // 13–17
                if self.is_inside(p) || !self.inferred.is_empty() {
                    match self.first(p, operation) {
                        // 15–17. As printed, a task whose pause is over, or that was not paused, would come here
                        // again and again; here it executes the transition.
                        Some(first) if !self.take_released(p) => {
                            self.has_blocks = true;
                            let finding =
                                Finding { grade: Grade::Warning, task: p, first, between: None, again: operation };
                            self.findings.push(finding);
                            if self.source.chance(self.q) {
                                self.paused.push(Paused { task: p, operation, waited: 0 });
                                return false;
                            }
                        }
                        _ => {}
                    }
                }
                self.last = Some(Acquired { task: p, operation, access });
            }
        }
        true
    }

    /// Lines 18 to 20 and 25 to 28 for the last step, once its access is known.
    fn settle(&mut self) {
        let Some(last) = self.last.take() else { return };
        if self.is_inside(last.task) {
            let what = |step: &Acquired| (step.task, step.operation.object, step.operation.action, step.access);
            if !self.already_acquired.iter().any(|first| what(first) == what(&last)) {
                self.already_acquired.push(last); // 18–20
            }
        }
        if !self.inferred.is_empty() {
            self.last_accesses.insert((last.task, last.operation.object), last);
        }
        self.conflicts(&last); // 25–28
    }

    /// Lines 25 to 28. As printed, the check also covers a transition that is paused at line 16; here it covers only
    /// executed transitions, so that whatever is printed has happened.
    fn conflicts(&mut self, t: &Acquired) {
        let mut index = 0;
        while let Some(paused) = self.paused.get(index) {
            let (task, again) = (paused.task, paused.operation);
            let mut firsts = self.firsts(task, again);
            let last = access(again.action, self.pattern);
            let violated = firsts
                .find(|first| {
                    task != t.task
                        && same_object(&again, &t.operation)
                        && same_object(&first.operation, &t.operation)
                        && last.is_some_and(|last| unserialisable(first.access, t.access, last))
                })
                .map(|first| first.operation);
            drop(firsts);
            match violated {
                Some(first) => {
                    self.paused.remove(index);
                    self.released.push(task);
                    let between = Some((t.task, t.operation));
                    self.findings.push(Finding { grade: Grade::Error, task, first, between, again });
                }
                None => index += 1,
            }
        }
    }

    /// Lines 30 to 32, and the escape of section 4. A paused task whose lock another task holds is not enabled. As
    /// printed the sizes of the two sets are compared; here the question is whether an enabled task is left, and an
    /// enabled task is released.
    fn release_some(&mut self, pending: &[Pending]) {
        let is_paused = |pending: &&Pending| self.paused.iter().any(|paused| paused.task == pending.task);
        if pending.iter().all(|pending| is_paused(&pending)) {
            let task = pending[self.source.below(pending.len() as u32) as usize].task;
            self.paused.retain(|paused| paused.task != task);
            self.released.push(task);
        }
        let patience = self.patience;
        let over = |paused: &mut Paused| paused.waited >= patience;
        self.released.extend(self.paused.extract_if(.., over).map(|paused| paused.task));
    }
}

impl Strategy for AtomFuzzer {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed, self.execution);
        self.execution += 1;
        // 3
        self.paused.clear();
        self.already_acquired.clear();
        self.last_accesses.clear();
        self.inside_atomic.clear();
        self.released.clear();
        self.findings.clear();
        self.last = None;
        true
    }

    fn is_idle(&self) -> bool {
        !self.has_blocks
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        self.settle();
        // Each round pauses one more task or ends the loop; a task is released at most once for its operation.
        loop {
            self.release_some(pending); // 30–32
            self.candidates.clear(); // 5
            let is_paused = |pending: &Pending| self.paused.iter().any(|paused| paused.task == pending.task);
            let free = pending.iter().enumerate().filter(|(_, pending)| !is_paused(pending)).map(|(index, _)| index);
            self.candidates.extend(free);
            let t = self.candidates[self.source.below(self.candidates.len() as u32) as usize];
            if self.transition(&pending[t]) {
                self.paused.iter_mut().for_each(|paused| paused.waited += 1);
                return t;
            }
        }
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn only_read(&mut self, task: TaskId, operation: Operation) {
        if let Some(last) = self.last.filter(|last| (last.task, last.operation) == (task, operation)) {
            let access = Access::of_step(operation.action, true);
            self.last = access.map(|access| Acquired { access, ..last });
        }
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        self.settle();
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), self.has_blocks))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        whole(saved).map(|(Times(execution), blocks)| (self.execution, self.has_blocks) = (execution, blocks)).is_some()
    }
}

/// Whether two accesses touch the same object: the same entry of a collection, say.
fn same_object(one: &Operation, other: &Operation) -> bool {
    one.object == other.object && one.action.overlaps(other.action)
}

/// The access that an action makes if it succeeds; `None` when the pattern does not look at it.
fn access(action: Action, pattern: Pattern) -> Option<Access> {
    match pattern {
        Pattern::Locks if action.acquires().is_none() => None,
        _ => Access::of(action),
    }
}

#[cfg(test)]
mod tests {
    use interloper_std::runtime::{Mode, ObjectId};

    use super::*;

    /// A task that is about to take a lock.
    fn takes(task: u32, lock: u32) -> Pending {
        does(task, ObjectId::from_index(lock), Action::Lock(Mode::Exclusive))
    }

    fn does(task: u32, object: ObjectId, action: Action) -> Pending {
        let operation = Operation { object, action, location: std::panic::Location::caller() };
        Pending { task: TaskId(task), operation }
    }

    #[test]
    fn a_paused_task_that_is_not_enabled_does_not_keep_the_others_paused() {
        for seed in 0..100 {
            let mut fuzzer = AtomFuzzer::new(seed).with_q(1.0);
            fuzzer.begin();
            // Two tasks in blocks in which they have taken lock 0 and lock 1, and are paused before they do so again.
            let own = ObjectId::from_index(9);
            for task in [0, 1] {
                fuzzer.choose(None, &[does(task, own, Action::BlockBegin(0))]);
                fuzzer.choose(None, &[takes(task, task)]);
            }
            let third = does(2, own, Action::Read);
            while fuzzer.paused.len() < 2 {
                fuzzer.choose(None, &[takes(0, 0), takes(1, 1), third]);
            }
            // A third task took lock 1: only task 0 is enabled, and it goes on.
            assert_eq!(fuzzer.choose(None, &[takes(0, 0)]), 0);
            assert!(fuzzer.paused.iter().map(|paused| paused.task).eq([TaskId(1)]), "seed {seed}");
        }
    }
}
