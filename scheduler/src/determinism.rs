//! Runs an execution twice and compares the two runs: whatever is outside control shows as a difference.

use std::fmt;

use crate::decisions::{Decisions, ReplaySource};
use crate::engine::Engine;
use crate::execution::{End, Event, Execution};
use crate::strategies::Guided;
use crate::strategy::Strategy;

/// Two runs with the same decisions that differed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How many events were the same before.
    pub position: usize,
    /// The event of the first run here, if it had one.
    pub first: Option<Event>,
    /// The event of the second run here, if it had one.
    pub second: Option<Event>,
    /// How the runs ended, if their ends differ.
    pub ends: Option<Box<(End, End)>>,
}

impl Difference {
    /// The first difference between two runs, each given by its result and its trace.
    pub fn between(first: (&Execution, &[Event]), second: (&Execution, &[Event])) -> Option<Difference> {
        let same = first.1.iter().zip(second.1).take_while(|(a, b)| a == b).count();
        let ends = || Box::new((first.0.end.clone(), second.0.end.clone()));
        let ends = (first.0.end != second.0.end).then(ends);
        let (first, second) = (first.1.get(same).copied(), second.1.get(same).copied());
        (first.is_some() || second.is_some() || ends.is_some()).then_some(Difference {
            position: same,
            first,
            second,
            ends,
        })
    }

    /// In one line: `at step 2, first task 0 does Read at src/lib.rs:7:9, then the execution is over`.
    pub fn brief(&self) -> String {
        let [first, second] = self.sides();
        if self.first.is_none() && self.second.is_none() {
            format!("after {} steps, first {first}, then {second}", self.position)
        } else {
            format!("at step {}, first {first}, then {second}", self.position + 1)
        }
    }

    /// What the first run did at the difference, and what the second one did.
    fn sides(&self) -> [String; 2] {
        let says = |event: &Option<Event>, end: Option<&End>| match (event, end) {
            (Some(Event { task, operation, .. }), _) => {
                format!("task {} does {:?} at {}", task.0, operation.action, operation.location)
            }
            (None, Some(end)) => format!("the execution is over: {end}"),
            (None, None) => "the execution is over".to_owned(),
        };
        let (first, second) = self.ends.as_deref().map(|(first, second)| (first, second)).unzip();
        [says(&self.first, first), says(&self.second, second)]
    }
}

impl Engine {
    /// Runs `program` under `strategy`, and then again with the same decisions. Gives the first execution, and the first
    /// difference if there is one.
    ///
    /// # Panics
    /// As [`Engine::run`], and when the engine does not record the trace and the decisions.
    #[track_caller]
    pub fn run_twice(
        &mut self,
        strategy: &mut dyn Strategy,
        mut program: impl FnMut(),
    ) -> (Execution, Option<Difference>) {
        let config = self.config();
        assert!(config.trace && config.decisions, "running twice needs Config::trace and Config::decisions");
        let execution = self.run(strategy, &mut program);
        let trace = self.trace().to_vec();
        let decisions = Decisions(self.decisions().to_vec());
        let again = self.run(&mut Guided::new(ReplaySource::new(decisions)), &mut program);
        let difference = Difference::between((&execution, &trace), (&again, &self.trace()));
        (execution, difference)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.sides();
        if self.first.is_none() && self.second.is_none() {
            writeln!(f, "two executions with the same decisions end differently after {} steps:", self.position)?;
        } else {
            writeln!(f, "two executions with the same decisions differ at step {}:", self.position + 1)?;
        }
        writeln!(f, "  the first time  {first}")?;
        writeln!(f, "  the second time {second}")?;
        write!(
            f,
            "Usual causes: the real clock; a hash map of std, whose order is random; addresses that are compared or \
             hashed; a static that carries a value from one execution into the next; threads, files or sockets that are \
             not under control."
        )
    }
}
