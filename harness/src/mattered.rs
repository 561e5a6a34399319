//! Which choice of an execution mattered, for its page: see [`interloper_scheduler::choices`].

use std::time::{Duration, Instant};

use interloper_report::explorer::{Choices, Point, Swap};
use interloper_scheduler::Event;
use interloper_scheduler::choices::{Budget, Choice, Continued, Plan};
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::runtime::TaskId;

/// An execution whose choices are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Known<'s> {
    /// Its events.
    pub trace: &'s [Event],
    /// The event that each step of the page is. `None` for a step that is no event.
    pub rows: &'s [Option<usize>],
    /// What leads to it.
    pub decisions: &'s Decisions,
}

/// How much each choice mattered. `attempt` makes an execution, and gives the number of its steps and whether it fails as
/// the one that is shown does. The result depends on the seed alone, for an `attempt` that depends on its strategy alone and is
/// quick enough for the [`Budget`].
pub fn choices(execution: Known<'_>, seed: u64, attempt: &mut dyn FnMut(&mut Continued) -> (u64, bool)) -> Choices {
    let Known { trace, decisions, .. } = execution;
    let whole = || Continued::new(decisions, decisions.0.len(), &[], seed, 0);
    let mut first = whole();
    let took = quickest(&mut first, whole, attempt);
    let choices = first.into_choices();
    // The events of the steps that the choices are about.
    let events: Vec<usize> = (0..trace.len()).filter(|&event| !trace[event].continues).collect();
    let depend = |one: usize, other: usize| match (events.get(one), events.get(other)) {
        (Some(&one), Some(&other)) => trace[one].operation.depends(&trace[other].operation),
        _ => false,
    };
    let row = |choice: &Choice| execution.row_from(events.get(choice.steps).copied().unwrap_or(trace.len()));
    let plan = Plan::new(&choices, depend, took);
    let mut trying = Trying { attempt, decisions, seed, plan: &plan, budget: Budget::new(), number: 0 };
    let mut points = Vec::new();
    for choice in plan.points.iter().map(|&at| &choices[at]) {
        let Some((failed, of)) = trying.share(choice.kept, &[]) else { break };
        points.push(Point { step: row(choice), kept: choice.kept as u32, failed, of });
    }
    let mut swaps = Vec::new();
    for &at in &plan.swaps {
        let next = choices[at + 1..].iter().find(|choice| choice.of.is_some());
        let (Some((one, _)), Some(next)) = (&choices[at].of, next) else { continue };
        let Some((other, _)) = &next.of else { continue };
        let Some((failed, of)) = trying.share(choices[at].kept, &[*other, *one]) else { break };
        swaps.push(Swap { first: row(&choices[at]), second: row(next), failed, of });
    }
    let count = execution.rows.len() as u32;
    swaps.retain(|swap| swap.first < count && swap.second < count && swap.first != swap.second);
    points.push(Point { step: count, kept: decisions.0.len() as u32, failed: 1, of: 1 });
    let cut = trying.budget.is_over();
    Choices { seed, points, swaps, cut }
}

/// How long the execution takes, as the quickest of several: how many continuations there are must not depend on what else the
/// machine does. Of an execution that takes long, one is enough.
fn quickest(
    first: &mut Continued,
    again: impl Fn() -> Continued,
    attempt: &mut dyn FnMut(&mut Continued) -> (u64, bool),
) -> Duration {
    let begun = Instant::now();
    attempt(first);
    let mut quickest = begun.elapsed();
    for _ in 1..TIMED {
        if begun.elapsed() > LONG {
            break;
        }
        let this = Instant::now();
        attempt(&mut again());
        quickest = quickest.min(this.elapsed());
    }
    quickest
}

/// So often an execution is timed, while that takes no longer than this.
const TIMED: usize = 8;
const LONG: Duration = Duration::from_millis(20);

impl Known<'_> {
    /// The first row that is this event or a later one.
    fn row_from(&self, event: usize) -> u32 {
        let at = self.rows.iter().position(|other| other.is_some_and(|other| other >= event));
        at.unwrap_or(self.rows.len()) as u32
    }
}

/// Runs continuations.
struct Trying<'t> {
    attempt: &'t mut dyn FnMut(&mut Continued) -> (u64, bool),
    decisions: &'t Decisions,
    seed: u64,
    plan: &'t Plan,
    /// How long they may go on.
    budget: Budget,
    /// How many have run.
    number: u64,
}

impl Trying<'_> {
    /// How many continuations fail in the same way, of how many. None when the budget is spent.
    fn share(&mut self, kept: usize, forced: &[TaskId]) -> Option<(u32, u32)> {
        let (mut failed, mut of) = (0, 0);
        for _ in 0..self.plan.continuations {
            if self.budget.is_over() {
                break;
            }
            let mut continued = Continued::new(self.decisions, kept, forced, self.seed, self.number);
            self.number += 1;
            let (steps, fails) = (self.attempt)(&mut continued);
            self.budget.spend(steps);
            of += 1;
            failed += u32::from(fails);
        }
        (of > 0).then_some((failed, of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(each: Duration) -> usize {
        let whole = || Continued::new(&Decisions(Vec::new()), 0, &[], 0, 0);
        let mut attempts = 0;
        let took = quickest(&mut whole(), whole, &mut |_| {
            attempts += 1;
            std::thread::sleep(each);
            (0, false)
        });
        assert!(took >= each);
        attempts
    }

    #[test]
    fn a_slow_execution_is_timed_once() {
        assert_eq!(attempts(LONG + Duration::from_millis(1)), 1);
        assert!((2..=TIMED).contains(&attempts(Duration::ZERO)));
    }
}
