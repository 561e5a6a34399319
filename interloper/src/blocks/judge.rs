//! Says what an execution shows.

use interloper_scheduler::{Config, End, Event};
use rustc_hash::FxHashMap;

use super::outcome::Outcome;
use super::precedence;
use super::reference::{Explained, Reference};
use super::report::{Finding, SerialCoverage};
use super::runner::{Body, Made};
use super::sections::Rule;
use super::settings::{Settings, StepBound};
use super::triples::{Scanner, Triple, Twice};

/// Judges the executions of a program.
pub(crate) struct Judge<'a> {
    steps: StepBound,
    rule: Rule,
    scanner: Scanner,
    reference: Reference<'a>,
    explained: FxHashMap<Outcome, Explained>,
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
    pub(crate) fn new(program: Body<'a>, settings: &Settings, config: &Config, rule: &Rule) -> Judge<'a> {
        Judge {
            steps: settings.steps,
            rule: rule.clone(),
            scanner: Scanner::new(rule.clone()),
            reference: Reference::new(program, config.clone(), rule.clone(), settings.serial_executions),
            explained: FxHashMap::default(),
            last: None,
        }
    }

    pub(crate) fn judge(&mut self, made: &Made, trace: &[Event]) -> Judgement {
        let triple = self.scanner.scan(trace);
        let mut judgement = Judgement { finding: None, triple, given_up: false, undecided: false };
        judgement.finding = match &made.execution.end {
            End::Finished => match made.outcome.as_ref().map(|outcome| (self.explains(outcome), outcome)) {
                Some((Explained::No, outcome)) => Some(Finding::Unexplained { outcome: outcome.to_string() }),
                Some((Explained::Unknown, _)) => {
                    judgement.undecided = !precedence::is_serialisable(&self.rule, trace);
                    None
                }
                _ => triple.map(|_| Finding::Benign),
            },
            End::StepBound(_) if matches!(self.steps, StepBound::StopAfter(_)) => {
                judgement.given_up = true;
                None
            }
            End::StepBound(_) => Some(Finding::StepBound),
            End::Panicked(panic) => Some(Finding::Panic { message: panic.message.clone(), place: panic.place.clone() }),
            End::Aborted(panic) => {
                Some(Finding::Aborted { message: panic.message.clone(), place: panic.place.clone() })
            }
            End::StackOverflow { .. } => Some(Finding::StackOverflow),
            End::Deadlock(_) => Some(Finding::Deadlock),
            End::Leaked(_) => Some(Finding::Leaked),
            End::Livelock(_) => Some(Finding::Livelock),
            End::Failed { reason, .. } => Some(Finding::Failed { reason: reason.clone() }),
        };
        judgement
    }

    /// Whether a serial order gives the outcome. Each outcome is looked up among the serial orders once.
    fn explains(&mut self, outcome: &Outcome) -> Explained {
        if let Some((last, explained)) = &self.last
            && last == outcome
        {
            return *explained;
        }
        let explained = match self.explained.get(outcome) {
            Some(explained) => *explained,
            None => {
                let explained = self.reference.explains(outcome);
                self.explained.insert(outcome.clone(), explained);
                explained
            }
        };
        self.last = Some((outcome.clone(), explained));
        explained
    }

    /// What the blocks of the last execution accessed twice.
    pub(crate) fn twice(&self) -> &[Twice] {
        self.scanner.twice()
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    pub(crate) fn reference(&self) -> &Reference<'a> {
        &self.reference
    }

    pub(crate) fn serial_coverage(&self) -> SerialCoverage {
        SerialCoverage {
            executions: self.reference.made(),
            complete: self.reference.is_complete(),
            interrupted: self.reference.interrupts(),
        }
    }
}
