//! The history of a run of several calls, and its judgement by the general search.

use std::time::Instant;

use interloper_linearize::general::{self, Progress, Search, Verdict as General};
use interloper_linearize::history::History;

use super::{Planned, Program};
use crate::composed::misuse::Misuse;
use crate::composed::run::{Actor, Did};
use crate::composed::runner::Runner;
use crate::composed::world::{CallId, ResultId, StateId};

/// How many attempts run between two looks at the clock.
const ATTEMPTS: u64 = 1 << 12;

/// A run: its program, and where it began and ended.
pub(super) struct Made {
    pub program: Program,
    pub initial: StateId,
    pub end: StateId,
    /// Which of the subject's invariants hold at its end; empty where a call has not ended.
    pub holds: Vec<bool>,
}

/// A call of a history: of a method, or of the environment.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// The result is `None` until the call has ended.
    Method {
        planned: Planned,
        returned: Option<ResultId>,
    },
    Environment {
        call: CallId,
        result: ResultId,
    },
}

impl Made {
    pub fn refuted(&self, runner: &mut Runner<'_>) -> Result<bool, Misuse> {
        if let Some(abort) = runner.log.abort {
            return Ok(!abort.is_no_run());
        }
        let (history, calls) = self.history(runner);
        let (initial, end) = (self.initial, self.end);
        let deadline = runner.clock.deadline;
        let in_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);
        let mut spec = Calls { runner, calls: &calls, initial, end, misuse: None };
        let verdict = {
            let mut search = Search::new(&mut spec, &history);
            loop {
                match search.advance(ATTEMPTS) {
                    Progress::Done(verdict) => break verdict,
                    Progress::Going if in_time() => {}
                    Progress::Going => break search.conclude(),
                }
            }
        };
        match (spec.misuse, verdict) {
            (Some(misuse), _) => Err(misuse),
            (None, General::Unknown(_)) => Err(Misuse::CutShort),
            (None, verdict) => Ok(matches!(verdict, General::NotLinearizable(_))),
        }
    }

    /// The run's history, and what each of its calls was.
    pub fn history(&self, runner: &mut Runner<'_>) -> (History, Vec<Call>) {
        let planned: Vec<Planned> = self.program.iter().flatten().copied().collect();
        let mut history = History::new();
        let mut calls = Vec::new();
        let mut numbers = vec![0; planned.len()];
        for index in 0..runner.log.events.len() {
            let event = runner.log.events[index];
            match (event.actor, event.did) {
                (Actor::Method(call), Did::Begin) => {
                    numbers[call] = history.invoke();
                    // The result is known when the call ends; a history of complete calls has all of them.
                    calls.push(Call::Method { planned: planned[call], returned: None });
                }
                (Actor::Method(call), Did::End(returned)) => {
                    history.complete(numbers[call]);
                    let returned = Some(runner.abstract_result(returned));
                    calls[numbers[call]] = Call::Method { planned: planned[call], returned };
                }
                (Actor::Environment, Did::Call(call, result)) => {
                    history.atomic();
                    let result = runner.observed_result(index, result);
                    calls.push(Call::Environment { call, result });
                }
                _ => {}
            }
        }
        (history, calls)
    }
}

/// The sequential specification of a history's calls: what each does alone.
pub(super) struct Calls<'a, 'm> {
    pub runner: &'a mut Runner<'m>,
    pub calls: &'a [Call],
    pub initial: StateId,
    pub end: StateId,
    pub misuse: Option<Misuse>,
}

impl Calls<'_, '_> {
    /// What a call does alone from `state`.
    pub fn alone(&mut self, state: StateId, call: Call) -> (StateId, ResultId) {
        match call {
            Call::Environment { call, .. } => {
                let (state, result) = self.runner.world.step(state, call);
                (state, self.runner.abstract_result(result))
            }
            Call::Method { planned, .. } => match self.runner.reference(planned.method, planned.argument, state) {
                Ok(ended) => (ended.end, self.runner.abstract_result(ended.returned)),
                Err(misuse) => {
                    self.misuse.get_or_insert(misuse);
                    (state, self.runner.world.result(&interloper_commutativity::Value::None))
                }
            },
        }
    }
}

impl Call {
    pub fn observed(self) -> Option<ResultId> {
        match self {
            Call::Method { returned, .. } => returned,
            Call::Environment { result, .. } => Some(result),
        }
    }
}

impl general::Spec for Calls<'_, '_> {
    type State = StateId;

    fn initial(&self) -> StateId {
        self.initial
    }

    fn step(&mut self, state: &StateId, call: usize) -> Option<StateId> {
        let call = self.calls[call];
        let (next, result) = self.alone(*state, call);
        call.observed().is_none_or(|observed| observed == result).then_some(next)
    }

    fn accept(&self, state: &StateId) -> bool {
        self.runner.same_state(*state, self.end)
    }
}
