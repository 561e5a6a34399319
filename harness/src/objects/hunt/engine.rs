//! The engines that a schema can be run by.

use std::time::Duration;

use interloper_commutativity::Value;
use interloper_scheduler::Deadline;

use super::{Pass, What, slices};
use crate::object::Program;
use crate::stress::{self, Budget, Next, Observed};
use crate::systematic::{self, Anew, Explored, Resume};

/// How schemas are run.
#[derive(Clone, Debug, PartialEq)]
pub enum Engine {
    /// On real threads, millions of times.
    Stress(stress::Settings),
    /// As tasks under the scheduler: for objects that are written over the mirror of std.
    Systematic(systematic::Settings),
    /// The same, in one pass after the other: the next pass runs if this one has shown nothing and has interleavings left.
    Passes(Vec<Pass>),
}

/// What came of running a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Runs {
    /// On real threads.
    Stress(Observed),
    /// Under the scheduler.
    Systematic(Box<Explored>),
}

/// The defaults of the papers run each schema for a second. Most violations show within a few milliseconds or not at all;
/// more schemas are worth more than more executions.
const STRESS: Duration = Duration::from_millis(50);

/// So many executions are enough to have found the pace.
const TUNED: u64 = 20_000;

impl Engine {
    /// Real threads, a twentieth of a second for each schema.
    pub fn stress(seed: u64) -> Engine {
        Engine::Stress(stress::Settings { seed, budget: Budget::Time(STRESS), ..stress::Settings::default() })
    }

    /// Every interleaving of each schema, up to the default bound.
    pub fn exhaustive() -> Engine {
        Engine::Systematic(systematic::Settings::default())
    }

    /// The same engine, which ends a run at the deadline at the latest.
    #[must_use]
    pub fn until(&self, deadline: Deadline) -> Engine {
        let mut engine = self.clone();
        match &mut engine {
            Engine::Stress(settings) => settings.deadline = settings.deadline.and(deadline),
            Engine::Systematic(settings) => settings.deadline = settings.deadline.and(deadline),
            Engine::Passes(passes) => passes.iter_mut().for_each(|pass| *pass = pass.until(deadline)),
        }
        engine
    }

    /// Whether the schedules of a program are drawn at random, by the scheduler.
    pub(crate) fn draws(&self) -> bool {
        match self {
            Engine::Stress(_) | Engine::Passes(_) => false,
            Engine::Systematic(settings) => settings.schedule.is_random(),
        }
    }

    /// When a run ends at the latest.
    pub fn deadline(&self) -> Deadline {
        match self {
            Engine::Stress(settings) => settings.deadline,
            Engine::Systematic(settings) => settings.deadline,
            Engine::Passes(passes) => {
                passes.iter().fold(Deadline::NEVER, |deadline, pass| deadline.and(pass.settings.deadline))
            }
        }
    }

    /// Runs a program. `look` sees every outcome when it is new, at least, and says whether to go on.
    pub fn run(&mut self, program: &Program, look: &mut dyn FnMut(&[Value]) -> Next) -> Runs {
        self.run_kept(program, look, &mut Anew)
    }

    /// The same for a run that is kept while it lasts: of several passes the last one, which has the most executions. The others run
    /// again in another process.
    pub(crate) fn run_kept(
        &mut self,
        program: &Program,
        look: &mut dyn FnMut(&[Value]) -> Next,
        keep: &mut dyn Resume,
    ) -> Runs {
        match self {
            Engine::Stress(settings) => {
                let observed = slices::run(program, settings, look, keep);
                // The next schemas are much like this one: what does well stays.
                settings.pace = settings.pace.or(Some(observed.pace).filter(|_| observed.executions > TUNED));
                Runs::Stress(observed)
            }
            Engine::Systematic(settings) => {
                Runs::Systematic(Box::new(systematic::run_kept(program, settings, look, keep)))
            }
            Engine::Passes(passes) => {
                let mut explored = Explored::default();
                let last = passes.len().saturating_sub(1);
                for (number, pass) in passes.iter().enumerate() {
                    // The first pass says how long the executions are.
                    if number > 0 && !pass.lengths.have(explored.is_long()) {
                        continue;
                    }
                    let keep = if number == last { &mut *keep } else { &mut Anew };
                    explored = explored.and(pass.run(program, look, keep));
                    if explored.is_over() {
                        break;
                    }
                }
                Runs::Systematic(Box::new(explored))
            }
        }
    }
}

impl Runs {
    /// How many executions there were.
    pub fn executions(&self) -> u64 {
        match self {
            Runs::Stress(observed) => observed.executions,
            Runs::Systematic(explored) => explored.executions,
        }
    }

    /// Whether the deadline kept it from what it had to do.
    pub(crate) fn timed_out(&self, deadline: Deadline) -> bool {
        match self {
            Runs::Stress(_) => deadline.is_over(),
            Runs::Systematic(explored) => explored.timed_out,
        }
    }

    /// How often each outcome came, the results in text order.
    pub fn outcomes(&self) -> &std::collections::BTreeMap<Vec<Value>, u64> {
        match self {
            Runs::Stress(observed) => &observed.outcomes,
            Runs::Systematic(explored) => &explored.outcomes,
        }
    }

    /// What went wrong apart from outcomes, if anything did.
    pub fn failure(&self) -> Option<What> {
        match self {
            Runs::Stress(observed) => match &observed.end {
                stress::End::Blocked(places) => Some(What::Blocked(places.clone())),
                stress::End::ConstructorPanicked(message) | stress::End::DropPanicked(message) => {
                    Some(What::Panicked(message.clone()))
                }
                stress::End::Enough | stress::End::Stopped => None,
            },
            Runs::Systematic(explored) => explored.failure().map(What::of),
        }
    }
}
