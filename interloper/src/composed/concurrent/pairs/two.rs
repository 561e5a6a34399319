//! The executions of one schema, and the same calls one after the other.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use interloper_scheduler::decisions::{Decisions, ReplaySource, Source};

use super::super::{Made, Program, SeveralCalls, describe};
use super::Asked;
use crate::composed::explore;
use crate::composed::explored::Again;
use crate::composed::histories::Shown;
use crate::composed::misuse::Misuse;
use crate::composed::outcome::Violation;
use crate::composed::run::{Abort, Actor, Did, Log};
use crate::composed::runner::{Alone, Runner};
use crate::composed::world::{ResultId, StateId};

/// The sequential orders of a program's calls, which are numbered task by task.
pub(super) fn orders(program: &Program) -> Vec<Vec<usize>> {
    fn extend(left: &mut [Range<usize>], order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if left.iter().all(Range::is_empty) {
            all.push(order.clone());
        }
        for task in 0..left.len() {
            let whole = left[task].clone();
            if let Some(first) = left[task].next() {
                order.push(first);
                extend(left, order, all);
                order.pop();
            }
            left[task] = whole;
        }
    }
    let mut first = 0;
    let tasks = program.iter().map(|calls| {
        first += calls.len();
        first - calls.len()..first
    });
    let (mut left, mut all) = (tasks.collect::<Vec<_>>(), Vec::new());
    extend(&mut left, &mut Vec::new(), &mut all);
    all
}

/// What is wrong with an execution.
#[derive(Clone, Debug)]
pub(super) enum Wrong {
    /// No order explains it, or it did not come to an end.
    Results,
    /// These invariants are false, which they are after no order.
    Invariants(Vec<usize>),
}

/// How the calls of a program end in one order.
#[derive(Clone)]
pub(super) struct InOrder {
    calls: Vec<usize>,
    aborts: bool,
    holds: Vec<bool>,
    end: StateId,
    /// By the number of the call.
    results: Vec<Option<ResultId>>,
}

/// Executions of two tasks.
pub(super) struct Two<'a, 'm> {
    pub calls: SeveralCalls<'a, 'm>,
    invariants: usize,
    hides: bool,
    /// Whether an execution was ended because it made too many steps: nothing is said of it.
    pub spun: bool,
    /// The last violation: its program, the state in which it began, and what is wrong.
    pub last: Option<(Program, StateId, Wrong)>,
    /// The invariants that sequential calls leave false: the calls, and where they began.
    pub broken: HashMap<usize, (StateId, Vec<usize>)>,
    known: HashMap<(Program, StateId), Rc<[InOrder]>>,
}

impl<'a, 'm> Two<'a, 'm> {
    pub fn new(calls: SeveralCalls<'a, 'm>, asked: &Asked<'_>) -> Two<'a, 'm> {
        let (invariants, hides) = (asked.invariants.len(), asked.hides);
        Two { calls, invariants, hides, spun: false, last: None, broken: HashMap::new(), known: HashMap::new() }
    }

    /// What is wrong with an execution, if anything is. The log stays the one of the execution.
    fn judge(&mut self, made: &Made) -> Result<Option<Wrong>, Misuse> {
        match self.calls.runner.log.abort {
            Some(Abort::NotEnabled | Abort::StepBound) => {
                self.spun = true;
                return Ok(None);
            }
            Some(_) => {
                let fails_alone = self.in_orders(made)?.iter().any(|order| order.aborts);
                return Ok((!fails_alone).then_some(Wrong::Results));
            }
            None => {}
        }
        if made.refuted(self.calls.runner)? && !(self.hides && self.is_in_order(made)?) {
            return Ok(Some(Wrong::Results));
        }
        let broken: Vec<usize> = (0..self.invariants).filter(|at| made.holds.get(*at) == Some(&false)).collect();
        if broken.is_empty() {
            return Ok(None);
        }
        let orders = self.in_orders(made)?;
        let mut together = Vec::new();
        for at in broken {
            match orders.iter().find(|order| order.holds.get(at) != Some(&true)) {
                Some(order) => {
                    let calls = order.calls.iter().map(|call| made.program.concat()[*call].method).collect();
                    self.broken.entry(at).or_insert((made.initial, calls));
                }
                None => together.push(at),
            }
        }
        Ok((!together.is_empty()).then_some(Wrong::Invariants(together)))
    }

    /// Whether the calls have the same results and leave the same state when they are really made in some order.
    fn is_in_order(&mut self, made: &Made) -> Result<bool, Misuse> {
        let results = results(&self.calls.runner.log, made.program.concat().len());
        let orders = self.in_orders(made)?;
        Ok(orders.iter().any(|order| order.end == made.end && order.results == results))
    }

    /// How the calls of a program end, one after the other.
    fn in_orders(&mut self, made: &Made) -> Result<Rc<[InOrder]>, Misuse> {
        let key = (made.program.clone(), made.initial);
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let log = std::mem::take(&mut self.calls.runner.log);
        let ended: Result<Rc<[InOrder]>, Misuse> =
            orders(&made.program).into_iter().map(|calls| self.in_order(made, calls)).collect();
        self.calls.runner.log = log;
        let ended = ended?;
        self.known.insert(key, Rc::clone(&ended));
        Ok(ended)
    }

    fn in_order(&mut self, made: &Made, calls: Vec<usize>) -> Result<InOrder, Misuse> {
        let all = made.program.concat();
        let task = calls.iter().map(|call| all[*call]).collect();
        let Made { end, holds, .. } = self.calls.run(&mut Alone, vec![task], made.initial, None)?;
        let log = &self.calls.runner.log;
        let made = results(log, all.len());
        let mut results = vec![None; all.len()];
        calls.iter().zip(made).for_each(|(call, result)| results[*call] = result);
        Ok(InOrder { aborts: log.abort.is_some(), holds, end, results, calls })
    }

    fn judged(&mut self, source: &mut dyn Source) -> Result<(Made, Option<Wrong>), Misuse> {
        let made = self.calls.make(source)?;
        let wrong = self.judge(&made)?;
        Ok((made, wrong))
    }
}

/// The results of a run's calls, by number.
fn results(log: &Log, calls: usize) -> Vec<Option<ResultId>> {
    let mut all = vec![None; calls];
    for event in &log.events {
        if let (Actor::Method(call), Did::End(result)) = (event.actor, event.did) {
            all[call] = Some(result);
        }
    }
    all
}

impl<'m> explore::Program<'m> for Two<'_, 'm> {
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse> {
        let Some(made) = self.calls.searched(source)? else { return Ok(None) };
        if self.calls.runner.log.abort == Some(Abort::Needless) {
            return Ok(None);
        }
        Ok(Some(self.judge(&made)?.is_some()))
    }

    fn shown(&self) -> Shown {
        self.calls.shown()
    }

    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
        self.describes(true);
        let mut source = ReplaySource::new(decisions.clone());
        let (made, wrong) = self.judged(&mut source)?;
        if let Some(divergence) = source.divergence() {
            return Err(Misuse::Diverged { reason: divergence.to_string() });
        }
        let Some(wrong) = wrong else { return Err(Misuse::not_reproduced()) };
        let violation = describe(self.calls.runner, &made, decisions, execution)?;
        self.last = Some((made.program, made.initial, wrong));
        Ok(violation)
    }

    fn runner(&mut self) -> &mut Runner<'m> {
        self.calls.runner
    }
}

impl<'m> Again<'m> for Two<'_, 'm> {
    fn runner(&mut self) -> &mut Runner<'m> {
        self.calls.runner
    }

    fn again(&mut self, source: &mut dyn Source) -> Result<(StateId, bool), Misuse> {
        let (made, wrong) = self.judged(source)?;
        Ok((made.initial, wrong.is_some()))
    }

    fn describes(&mut self, describes: bool) {
        self.calls.describes(describes);
    }

    fn is_several(&self) -> bool {
        true
    }
}
