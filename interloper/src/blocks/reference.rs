//! The outcomes of a program in its serial orders.

use interloper_scheduler::words::{Names, task_name};
use interloper_scheduler::{Config, Deadline, End, Event, Execution};
use rustc_hash::FxHashMap;

use super::annotated::{Annotated, block_name};
use super::outcome::Outcome;
use super::report::SerialCoverage;
use super::runner::{Body, Runner};
use super::sections::{Passage, Rule};
use super::serial::{Serial, SerialOrders, Waiting};
use super::settings::Settings;
use super::watch::{Phase, Watch};

/// Whether a serial order gives an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Explained {
    Yes,
    /// All serial orders ran, and none gives the outcome.
    No,
    /// There are too many serial orders, and none of those that ran gives the outcome.
    Unknown,
}

/// The outcomes of the serial orders of a program, computed as they are asked for and kept.
pub(crate) struct Reference<'a> {
    runner: Runner<'a>,
    rule: Rule,
    search: SerialOrders,
    /// How many executions may run.
    most: u64,
    /// When no further serial order is run.
    deadline: Deadline,
    watch: Watch,
    made: u64,
    complete: bool,
    waiting: Waiting,
    /// With what had been run when each came up first.
    outcomes: FxHashMap<Outcome, SerialCoverage>,
    orders: Vec<SerialOrder>,
}

/// A serial order and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SerialOrder {
    /// The blocks in their order: `withdraw of thread 1, withdraw of thread 2`.
    pub(crate) blocks: Vec<String>,
    pub(crate) outcome: Outcome,
}

/// How many different orders of blocks are kept for reports.
const KEPT_ORDERS: usize = 64;

impl<'a> Reference<'a> {
    pub(crate) fn new(
        program: Body<'a>,
        settings: &Settings,
        config: Config,
        rule: Rule,
        deadline: Deadline,
    ) -> Reference<'a> {
        Reference {
            runner: Runner::new(program, config),
            search: SerialOrders::new(rule.clone(), Waiting::Refused),
            rule,
            most: settings.serial_executions,
            deadline,
            watch: settings.watch.clone(),
            made: 0,
            complete: false,
            waiting: Waiting::Refused,
            outcomes: FxHashMap::default(),
            orders: Vec::new(),
        }
    }

    /// Whether some serial order gives this outcome, and which serial orders the answer needs. Serial orders always run
    /// in the same order, so neither depends on earlier questions.
    pub(crate) fn explains(&mut self, outcome: &Outcome) -> (Explained, SerialCoverage) {
        loop {
            if let Some(coverage) = self.outcomes.get(outcome) {
                return (Explained::Yes, *coverage);
            }
            if self.complete {
                return (Explained::No, self.coverage());
            }
            if self.made >= self.most || self.deadline.is_over() {
                return (Explained::Unknown, self.coverage());
            }
            self.run_next();
        }
    }

    fn coverage(&self) -> SerialCoverage {
        let interrupted = self.waiting == Waiting::Admitted;
        SerialCoverage { executions: self.made, complete: self.complete, interrupted }
    }

    /// Different orders of the blocks with their outcomes, as far as they were run.
    pub(crate) fn orders(&self) -> &[SerialOrder] {
        &self.orders
    }

    fn run_next(&mut self) {
        let Some(made) = self.runner.run(&mut self.search) else {
            if self.outcomes.is_empty() && self.waiting == Waiting::Refused {
                self.waiting = Waiting::Admitted;
                self.search = SerialOrders::new(self.rule.clone(), Waiting::Admitted);
            } else {
                self.complete = true;
            }
            return;
        };
        self.made += 1;
        self.watch.note(Phase::SerialOrders(self.made));
        match (self.search.verdict(), made.outcome) {
            // The serial orders cannot be known, so the program gets the benefit of the doubt.
            (Serial::Diverged, _) => self.most = self.made,
            // Another one may not end, either.
            _ if matches!(made.execution.end, End::Stuck(_)) => self.most = self.made,
            (Serial::Order, Some(outcome)) => self.keep(outcome, &made.execution),
            _ => {}
        }
    }

    fn keep(&mut self, outcome: Outcome, execution: &Execution) {
        let engine = &self.runner.engine;
        let blocks = block_sequence(&self.rule, &engine.trace(), &engine.names(execution));
        if self.orders.len() < KEPT_ORDERS
            && !self.orders.iter().any(|order| order.blocks == blocks && order.outcome == outcome)
        {
            self.orders.push(SerialOrder { blocks, outcome: outcome.clone() });
        }
        let coverage = self.coverage();
        self.outcomes.entry(outcome).or_insert(coverage);
    }
}

/// The blocks of an execution in the order in which they began.
fn block_sequence(rule: &Rule, trace: &[Event], names: &Names) -> Vec<String> {
    let annotated = Annotated::of(rule, trace);
    let begins = |(event, passage): (&Event, &Passage)| match *passage {
        Passage::Enters(block) if !annotated.is_cancelled(block) => {
            Some(format!("{} of {}", block_name(event, names), task_name(event.task)))
        }
        _ => None,
    };
    trace.iter().zip(annotated.passages()).filter_map(begins).collect()
}
