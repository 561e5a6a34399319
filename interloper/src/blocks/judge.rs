//! Says what an execution shows.

use interloper_scheduler::schedule::Memory;
use interloper_scheduler::{Cause, Config, Deadline, End, Event, Freedoms};
use rustc_hash::FxHashMap;

use super::annotated::Annotated;
use super::lines::place_of_crash;
use super::outcome::Outcome;
use super::precedence;
use super::reference::{Explained, Reference};
use super::report::{Finding, SerialCoverage};
use super::runner::{Body, Made};
use super::sections::{Passage, Rule};
use super::settings::{Settings, StepBound};
use super::triples::{Scanner, Triple, Twice};

/// Judges the executions of a program.
pub(crate) struct Judge<'a> {
    steps: StepBound,
    rule: Rule,
    /// The last execution.
    annotated: Annotated,
    scanner: Scanner,
    /// The serial orders without departures from the ordinary: for executions that are so, too.
    ordinary: Explanations<'a>,
    /// Serial orders with departures, for executions with departures.
    free: Explanations<'a>,
    /// Whether the last execution had some.
    departed: bool,
    /// What had to be known of the serial orders since it was last taken.
    needed: SerialCoverage,
}

/// Which outcomes the serial orders explain.
struct Explanations<'a> {
    reference: Reference<'a>,
    explained: FxHashMap<Outcome, (Explained, SerialCoverage)>,
    /// The outcome of the last execution, whose answer is likely to be asked for again.
    last: Option<(Outcome, Explained)>,
}

/// What one execution shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) finding: Option<Finding>,
    pub(crate) triple: Option<Triple>,
    pub(crate) given_up: bool,
    pub(crate) undecided: bool,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        program: Body<'a>,
        settings: &Settings,
        config: &Config,
        rule: &Rule,
        deadline: Deadline,
    ) -> Judge<'a> {
        let explanations = |freedoms: Freedoms| {
            // In a serial order, tasks do not synchronise as they would.
            let config = Config { freedoms, plain: None, ..config.clone() };
            let reference = Reference::new(program, settings, config, rule.clone(), deadline);
            Explanations { reference, explained: FxHashMap::default(), last: None }
        };
        // A rerun execution may have freedoms that the settings do not name.
        let freedoms = Some(settings.freedoms_in_force()).filter(|freedoms| !freedoms.is_none());
        Judge {
            steps: settings.steps,
            rule: rule.clone(),
            annotated: Annotated::new(rule.clone()),
            scanner: Scanner::default(),
            ordinary: explanations(Freedoms::NONE),
            free: explanations(freedoms.unwrap_or(Memory::Weak.within(Freedoms::ALL))),
            departed: false,
            needed: SerialCoverage::default(),
        }
    }

    pub(crate) fn judge(&mut self, made: &Made, trace: &[Event]) -> Judgement {
        self.annotated.annotate(trace);
        let triple = self.scanner.scan(&self.annotated, trace);
        let mut judgement = Judgement { finding: None, triple, given_up: false, undecided: false };
        self.departed = !made.execution.departures.is_none();
        judgement.finding = match &made.execution.end {
            // Where nothing is meant to be atomic, each execution is a serial order.
            End::Finished if !self.annotated.has_blocks() => None,
            End::Finished => {
                let outcome = made.outcome.as_ref().expect("an execution that finished has an outcome");
                match self.explains(outcome) {
                    Explained::Yes => triple.map(|_| Finding::Benign),
                    _ if precedence::is_serialisable(&self.annotated, trace) => None,
                    Explained::No if !waits_for_the_clock(&self.annotated, trace) => {
                        Some(Finding::Unexplained { outcome: outcome.to_string() })
                    }
                    _ => {
                        judgement.undecided = true;
                        None
                    }
                }
            }
            End::StepBound(_) if matches!(self.steps, StepBound::StopAfter(_)) => {
                judgement.given_up = true;
                None
            }
            End::StepBound(_) => Some(Finding::StepBound),
            End::Failed { .. } if matches!(self.steps, StepBound::StopAfter(_)) && made.execution.has_all_tasks() => {
                judgement.given_up = true;
                None
            }
            End::Panicked(panic) => Some(Finding::Panic { message: panic.message.clone(), place: panic.place.clone() }),
            End::Aborted(panic) => {
                let message = interloper_scheduler::panics::without_address(&panic.message).to_owned();
                Some(Finding::Aborted { message, place: panic.place.clone() })
            }
            End::StackOverflow { .. } => Some(Finding::StackOverflow),
            End::Crashed { crash, code, .. } => Some(Finding::Crash { crash: *crash, place: place_of_crash(*code) }),
            // The worker that ran the execution reports this: it is no finding about the program.
            End::Stuck(_) => None,
            End::Deadlock(_) => Some(Finding::Deadlock),
            End::Leaked(_) => Some(Finding::Leaked),
            End::Livelock(_) => Some(Finding::Livelock),
            End::Exited { exit, location, .. } => Some(Finding::Exited { exit: *exit, place: (*location).into() }),
            End::Memory(fault) => Some(Finding::Memory(fault.clone())),
            End::Failed { reason, .. } => Some(Finding::Failed { reason: reason.clone() }),
        };
        judgement
    }

    /// Whether an execution shows a finding like this one. Only the findings about outcomes come from executions that finished: for
    /// any other finding, an execution that finished is no question to the serial orders, of which there may be thousands.
    pub(crate) fn shows(&mut self, made: &Made, trace: &[Event], finding: &Finding) -> bool {
        (finding.is_of_outcome() || !made.execution.end.is_finished())
            && self.judge(made, trace).finding.is_some_and(|other| other.is_like(finding))
    }

    /// Whether a serial order gives the outcome. Each outcome is compared with the serial orders once.
    fn explains(&mut self, outcome: &Outcome) -> Explained {
        let Explanations { reference, explained: known, last } =
            if self.departed { &mut self.free } else { &mut self.ordinary };
        if let Some((last, explained)) = last
            && last == outcome
        {
            return *explained;
        }
        let (explained, coverage) = match known.get(outcome) {
            Some(known) => *known,
            None => {
                let found = reference.explains(outcome);
                known.insert(outcome.clone(), found);
                found
            }
        };
        self.needed = self.needed.and(coverage);
        *last = Some((outcome.clone(), explained));
        explained
    }

    /// What had to be known of the serial orders since this was called before.
    pub(crate) fn take_needed(&mut self) -> SerialCoverage {
        // The next execution is judged as if it were the first.
        (self.ordinary.last, self.free.last) = (None, None);
        std::mem::take(&mut self.needed)
    }

    /// What the blocks of the last execution accessed twice.
    pub(crate) fn twice(&self) -> &[Twice] {
        self.scanner.twice()
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// What the steps of the last execution mean for blocks.
    pub(crate) fn annotated(&self) -> &Annotated {
        &self.annotated
    }

    /// The serial orders that the last execution was compared with.
    pub(crate) fn reference(&self) -> &Reference<'a> {
        if self.departed { &self.free.reference } else { &self.ordinary.reference }
    }
}

/// Whether a block in the execution waited for the clock, or for another look at a value, when no other task could go
/// on. The engine cannot run such a block alone while other tasks can go on, so not all serial orders of the program
/// are known.
fn waits_for_the_clock(annotated: &Annotated, trace: &[Event]) -> bool {
    trace.iter().zip(annotated.passages()).any(|(event, passage)| {
        matches!(event.cause, Cause::Idle(_))
            && matches!(passage, Passage::Inside(_) | Passage::Leaves(_) | Passage::Cancels(_))
    })
}
