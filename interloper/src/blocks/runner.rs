//! A program, and the engine that runs it.

use std::cell::Cell;

use interloper_commutativity::Value;
use interloper_scheduler::{Config, Effort, End, Engine, Event, Execution, Failing, Shrunk, Strategy};

use super::mark::{BlockResult, collected, collecting, restart_collecting};
use super::outcome::Outcome;
use crate::tasks::known;

/// The closure that is checked; what it returns is a value already.
pub(crate) type Body<'a> = &'a (dyn Fn() -> Value + Sync);

/// Runs one program again and again.
pub(crate) struct Runner<'a> {
    pub(crate) program: Body<'a>,
    pub(crate) engine: Engine,
    results: Vec<BlockResult>,
}

/// An execution that has run.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) execution: Execution,
    /// None unless it finished.
    pub(crate) outcome: Option<Outcome>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(program: Body<'a>, config: Config) -> Runner<'a> {
        Runner { program, engine: Engine::new(config), results: Vec::new() }
    }

    /// Makes one execution. None when the strategy has no more.
    pub(crate) fn run(&mut self, strategy: &mut dyn Strategy) -> Option<Made> {
        loop {
            let made = self.run_any(strategy)?;
            if !strategy.discards() {
                return Some(made);
            }
        }
    }

    /// As [`Runner::run`], also if the strategy discards the execution.
    fn run_any(&mut self, strategy: &mut dyn Strategy) -> Option<Made> {
        if !strategy.begin() {
            return None;
        }
        let returned = Cell::new(None);
        let (program, engine) = (self.program, &mut self.engine);
        self.results.clear();
        known::restart();
        let execution = collecting(&mut self.results, || engine.run(strategy, || returned.set(Some(program()))));
        let trace = self.engine.trace();
        strategy.end(&execution, &trace);
        let outcome = match (&execution.end, returned.take()) {
            (End::Finished, Some(returned)) => Some(Outcome::new(returned, &self.results, &execution, &trace)),
            _ => None,
        };
        Some(Made { execution, outcome })
    }

    /// Looks for smaller executions that fail, given one.
    pub(crate) fn shrink(
        &mut self,
        first: Failing,
        effort: Effort,
        mut fails: impl FnMut(&Made, &[Event]) -> bool,
    ) -> Shrunk {
        let returned = Cell::new(None);
        let program = || {
            restart_collecting();
            known::restart();
            returned.set(None);
            returned.set(Some((self.program)()));
        };
        let judge = |engine: &Engine, execution: &Execution| {
            let trace = engine.trace();
            let outcome = match (&execution.end, returned.take()) {
                (End::Finished, Some(returned)) => Some(Outcome::new(returned, &collected(), execution, &trace)),
                _ => None,
            };
            fails(&Made { execution: execution.clone(), outcome }, &trace)
        };
        let engine = &mut self.engine;
        collecting(&mut self.results, || engine.shrink(first, effort, program, judge))
    }
}
