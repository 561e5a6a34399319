//! A search that another process continues after each of its executions.

use std::ops::ControlFlow;

use interloper_scheduler::schedule::{FREE_EVERY, Plan, Schedule, Search};
use interloper_scheduler::{Around, Config, Engine, Executions, Strategy};

/// Before each execution, a new strategy goes on where the last one was.
pub struct Continued<S, F> {
    fresh: F,
    strategy: S,
}

impl<S: Strategy, F: Fn() -> S> Continued<S, F> {
    pub fn new(fresh: F) -> Continued<S, F> {
        Continued { strategy: fresh(), fresh }
    }

    pub fn strategy(&self) -> &S {
        &self.strategy
    }
}

impl<S: Strategy, F: Fn() -> S> Around for Continued<S, F> {
    interloper_scheduler::inner_strategy!(strategy: S);

    fn around_begin(&mut self) -> bool {
        let saved = self.strategy.saved().expect("a strategy that can be continued");
        let mut next = (self.fresh)();
        assert!(next.restore(&saved), "{saved:?}");
        assert_eq!(next.saved(), Some(saved), "what was read is written again");
        self.strategy = next;
        self.strategy.begin()
    }
}

/// The search of a schedule, before its first execution.
pub fn fresh(schedule: &Schedule, free_every: u64) -> Box<dyn Strategy> {
    match schedule.search(&Plan { free_every, ..Plan::new(7) }) {
        Search::Exhaustive(strategy) => strategy,
        Search::Preemptions(strategy) => strategy,
        Search::Other(strategy) => strategy,
    }
}

/// The decisions of the first executions. Whatever the program, this is compiled once.
pub fn decisions(config: &Config, executions: u64, strategy: &mut dyn Strategy, program: &dyn Fn()) -> Vec<String> {
    let mut engine = Engine::new(config.clone());
    let mut all = Vec::new();
    engine.explore(strategy, Executions::AtMost(executions), program, |engine, execution| {
        all.push(format!("{:#}", engine.failing(&execution).decisions));
        ControlFlow::<()>::Continue(())
    });
    all
}

/// What learns from its executions goes on after each of them. With 24 executions, SURW has measured its profile in 20 of them, and
/// each member of the portfolio has had some.
#[track_caller]
pub fn check_what_learns(config: &Config, program: &dyn Fn()) {
    for text in ["rff", "surw", "portfolio", "preemptions:2"] {
        let schedule: Schedule = text.parse().unwrap();
        let whole = decisions(config, 24, &mut *fresh(&schedule, FREE_EVERY), program);
        let again = decisions(config, 24, &mut Continued::new(|| fresh(&schedule, FREE_EVERY)), program);
        assert_eq!(again, whole, "{text}");
    }
}
