//! A search guided by reads-from pairs, after D. Wolff, Z. Shi, G. J. Duck, U. Mathur and A. Roychoudhury, *Greybox
//! fuzzing for concurrency testing*, ASPLOS 2024 (RFF).
//!
//! Two executions in which every read sees the same write behave alike. An *abstract schedule* says of some pairs of a
//! write and a read that an execution must show them, or must not. The search keeps the abstract schedules whose
//! executions showed a set of pairs that was new, changes those whose sets are rare, and runs the result: tasks are
//! chosen at random, steps that an abstract schedule asks for come first, and those that would spoil it come last.
//!
//! A step is known by its place and by the group of its task, where tasks that are spawned at one place are one group:
//! so the search does not become harder with the number of identical tasks.
//!
//! Beyond the paper:
//!
//! - Locks, notifications and tokens make pairs, too; the value that an object has at first counts as a write.
//! - The pairs that may exist (some execution had both steps on one object) but that no execution has shown are required
//!   as often as all others together; and each of them is required once alone, before the search goes on from what it has
//!   seen, as often as such executions have shown their pair. Most bugs of the literature need one rare pair.
//! - Tasks are chosen by URW, by SURW and by partial order sampling in turn; the paper has the last one alone.

mod behaviour;
mod corpus;
mod events;
mod obligations;
mod samplers;
mod saved;

use interloper_std::runtime::{Action, Operation, TaskId};

pub(super) use self::behaviour::Behaviours;
use self::behaviour::Observed;
use self::corpus::Corpus;
use self::events::{EventId, Events, Memory, access};
use self::obligations::{Constraint, Fit, Obligation};
use self::samplers::Samplers;
use super::Profile;
use crate::decisions::{Question, RandomSource};
use crate::saved::{Times, whole, words};
use crate::strategy::{Novelty, Pending, Strategy};
use crate::{Event, Execution};

/// A search that learns from each execution which one to run next. It needs the trace: [`Config::trace`](crate::Config::trace).
#[derive(Clone, Debug)]
pub struct Rff {
    seed: u64,
    execution: u64,
    /// Draws the abstract schedules; what is drawn within an execution is up to `samplers`.
    source: RandomSource,
    samplers: Samplers,
    corpus: Corpus,
    events: Events,
    observed: Observed,
    /// What was new about the last execution.
    novelty: Option<Novelty>,
    /// The abstract schedule of this execution.
    constraints: Vec<Constraint>,
    obligations: Vec<Obligation>,
    memory: Memory,
    /// By task, its next step, once that was looked at.
    next: Vec<Next>,
    choice: Choice,
    /// How many steps one task has made in a row.
    stay: u64,
}

/// The name of the next step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Unknown,
    Named(Option<EventId>),
}

/// After so many steps of one task while others were kept back, the rest of the execution has no constraints: the task
/// may wait for one of the others.
const LONGEST_STAY: u64 = 500;

/// What is needed to choose, kept from step to step for its memory.
#[derive(Clone, Debug, Default)]
struct Choice {
    /// The names of the pending steps.
    names: Vec<Option<EventId>>,
    /// The pending steps that fit best, and their indices.
    best: (Vec<Pending>, Vec<usize>),
}

impl Rff {
    /// The search of a seed.
    pub fn new(seed: u64) -> Rff {
        Rff::starting_at(seed, 0)
    }

    /// A search of a seed whose first execution has this number. It knows nothing of what came before.
    pub fn starting_at(seed: u64, execution: u64) -> Rff {
        Rff {
            seed,
            execution,
            source: RandomSource::new(seed, execution),
            samplers: Samplers::starting_at(seed, execution),
            corpus: Corpus::default(),
            events: Events::default(),
            observed: Observed::default(),
            novelty: None,
            constraints: Vec::new(),
            obligations: Vec::new(),
            memory: Memory::default(),
            next: Vec::new(),
            choice: Choice::default(),
            stay: 0,
        }
    }

    /// Gives the profile of the program for SURW and URW, which is then not measured.
    pub fn with_profile(mut self, profile: Profile) -> Rff {
        self.samplers = self.samplers.with_profile(profile);
        self
    }

    /// The name of a task's next step.
    fn name(&mut self, pending: &Pending) -> Option<EventId> {
        let task = pending.task.index();
        if self.next.len() <= task {
            self.next.resize(task + 1, Next::Unknown);
        }
        if let Next::Named(name) = self.next[task] {
            return name;
        }
        let name = self.events.name(pending.task, &pending.operation);
        self.next[task] = Next::Named(name);
        name
    }

    /// The pending steps that fit best, left in `choice.best`.
    fn find_best(&mut self, pending: &[Pending]) {
        let mut choice = std::mem::take(&mut self.choice);
        choice.names.clear();
        choice.names.extend(pending.iter().map(|pending| self.name(pending)));
        self.obligations.iter_mut().for_each(|obligation| obligation.look(pending, &choice.names));
        let (best, indices) = &mut choice.best;
        best.clear();
        indices.clear();
        let mut highest = Fit::Avoid;
        for (index, pending) in pending.iter().enumerate() {
            let fits = choice.names[index].map_or(Fit::Neutral, |name| self.fit(pending, name));
            if fits > highest {
                best.clear();
                indices.clear();
                highest = fits;
            }
            if fits == highest {
                best.push(*pending);
                indices.push(index);
            }
        }
        self.choice = choice;
    }

    /// A step that one constraint asks for and that another one is better without is like any other.
    fn fit(&self, pending: &Pending, name: EventId) -> Fit {
        let (mut take, mut avoid) = (false, false);
        for obligation in &self.obligations {
            match obligation.fit(pending, name, &self.memory) {
                Fit::Take => take = true,
                Fit::Avoid => avoid = true,
                Fit::Neutral => {}
            }
        }
        match (take, avoid) {
            (true, false) => Fit::Take,
            (false, true) => Fit::Avoid,
            _ => Fit::Neutral,
        }
    }

    /// The chosen task makes its step.
    fn advance(&mut self, chosen: &Pending) {
        let name = self.name(chosen);
        self.next[chosen.task.index()] = Next::Unknown;
        let Some(name) = name else { return };
        self.obligations.iter_mut().for_each(|obligation| obligation.advance(chosen, name, &self.memory));
        if access(chosen.operation.action).is_some_and(|access| access.writes) {
            self.memory.write(chosen.operation.object, name, chosen.task);
        }
    }

    /// Learns from an execution with these constraints.
    fn learn(&mut self, constraints: Vec<Constraint>, trace: &[Event]) {
        self.samplers.watch(trace);
        self.observed.observe(&mut self.events, trace);
        for (writes, reads) in self.observed.objects.iter().filter(|(_, reads)| !reads.is_empty()) {
            self.corpus.note_object(writes, reads);
        }
        self.novelty = Some(self.corpus.note(constraints, &self.observed.pairs));
    }
}

impl Strategy for Rff {
    fn begin(&mut self) -> bool {
        self.source = RandomSource::new(self.seed ^ ABSTRACT, self.execution);
        self.execution += 1;
        self.events.begin();
        self.memory.clear();
        self.next.clear();
        self.stay = 0;
        self.constraints = self.corpus.next(&mut self.source);
        let obligation = |constraint: &Constraint| Obligation::new(*constraint, self.corpus.rivals(constraint.pair));
        self.obligations = self.constraints.iter().map(obligation).collect();
        self.samplers.begin()
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let index = if pending.len() == 1 || self.obligations.is_empty() {
            self.samplers.choose(current, pending)
        } else {
            self.find_best(pending);
            let current = current.filter(|current| self.choice.best.0.iter().any(|pending| pending.task == *current));
            self.choice.best.1[self.samplers.choose(current, &self.choice.best.0)]
        };
        self.stay = if current == Some(pending[index].task) { self.stay + 1 } else { 0 };
        if self.stay == LONGEST_STAY {
            self.obligations.clear();
        }
        if !self.obligations.is_empty() {
            self.advance(&pending[index]);
        }
        index
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.samplers.decide(question, options)
    }

    fn wants_marks(&self) -> bool {
        false
    }

    fn wants_parts(&self) -> bool {
        true
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        if operation.action == Action::Spawn {
            self.events.spawn(task, operation.location);
        }
        self.samplers.part(task, operation);
    }

    fn only_read(&mut self, _: TaskId, operation: Operation) {
        self.memory.undo(operation.object);
    }

    fn is_sample(&self) -> bool {
        false
    }

    fn watch(&mut self, trace: &[Event]) {
        self.learn(Vec::new(), trace);
    }

    fn novelty(&self) -> Option<Novelty> {
        self.novelty
    }

    fn end(&mut self, _: &Execution, trace: &[Event]) {
        let constraints = std::mem::take(&mut self.constraints);
        self.learn(constraints, trace);
    }

    fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.execution), self.samplers.saved()?, self.corpus.clone(), self.events.clone()))
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let Some((Times(execution), samplers, corpus, events)) = whole::<(_, Vec<u64>, _, _)>(saved) else {
            return false;
        };
        (self.execution, self.corpus, self.events) = (execution, corpus, events);
        self.samplers.restore(&samplers)
    }
}

/// Abstract schedules are drawn from another stream than the steps.
const ABSTRACT: u64 = 0x5ca1_ab1e;
