//! What lane 0 decides between two batches.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use interloper_commutativity::Value;
use interloper_scheduler::Deadline;

use super::clock;
use super::observed::Overlap;
use super::pace::{Pace, Tuner};
use super::settings::{Budget, Settings};
use super::team::{Failure, MAX_BATCH, Plan, Team, Timing};
use crate::next::Next;

/// What a leader, known by the number of its team, tells the controller.
pub(super) enum Message {
    /// Outcomes that are new to the team. The leader waits for an answer.
    New(usize, Vec<Vec<Value>>),
    /// What was seen so far, or in all.
    Report(usize, Report),
}

/// What a leader has to say.
#[derive(Default)]
pub(super) struct Report {
    pub(super) outcomes: Vec<(Vec<Value>, u64)>,
    pub(super) overlap: Overlap,
    pub(super) pace: Pace,
    pub(super) failure: Option<Failure>,
    pub(super) last: bool,
}

pub(super) struct Leader {
    team: usize,
    /// How many executions are left; `None`: as many as there is time for.
    left: Option<u64>,
    until: Deadline,
    tuner: Option<Tuner>,
    pace: Pace,
    to_controller: Sender<Message>,
    answers: Receiver<Next>,
    batches: u64,
    executions: u64,
    batch_began: Instant,
    reported: Instant,
    overlap: Overlap,
    /// By lane and maker: how many ticks later than without correction a lane begins. Only differences count.
    correction: Vec<Vec<i64>>,
    took: i64,
    ticks_of_thousand_rounds: u64,
}

/// What all teams of a run have in common.
pub(super) struct Terms<'s> {
    pub(super) settings: &'s Settings,
    pub(super) start: Instant,
    pub(super) teams: usize,
    /// Whether there are fewer cores than lanes.
    pub(super) crowded: bool,
}

/// After the pace is found, one batch in this many is stamped.
const STAMPED: u64 = 16;

/// If the pace is given, this many batches at the beginning are stamped, to measure the delays.
const STAMPED_FIRST: u64 = 8;

/// How often the controller receives a report.
const REPORT: Duration = Duration::from_millis(50);

impl Leader {
    pub(super) fn new(
        terms: &Terms<'_>,
        team: usize,
        to_controller: Sender<Message>,
        answers: Receiver<Next>,
    ) -> Leader {
        let (left, until) = match terms.settings.budget {
            Budget::Time(time) => (None, Deadline::of(Some(time.saturating_sub(terms.start.elapsed())))),
            Budget::Executions(all) => {
                let (team, teams) = (team as u64, terms.teams as u64);
                (Some(all / teams + u64::from(team < all % teams)), Deadline::NEVER)
            }
        };
        let mut pace = terms.settings.pace.unwrap_or_default();
        pace.batch = pace.batch.clamp(1, MAX_BATCH as u32);
        let tuner = Tuner::new(terms.crowded);
        let now = Instant::now();
        Leader {
            team,
            left,
            until: until.and(terms.settings.deadline),
            tuner: terms.settings.pace.is_none().then_some(tuner),
            pace,
            to_controller,
            answers,
            batches: 0,
            executions: 0,
            batch_began: now,
            reported: now,
            overlap: Overlap::default(),
            correction: Vec::new(),
            took: 0,
            ticks_of_thousand_rounds: clock::ticks_of_thousand_rounds(),
        }
    }

    /// Takes note of the last batch, and plans the next.
    pub(super) fn lead(&mut self, team: &Team, last: &Plan) -> Plan {
        let now = Instant::now();
        let mut go = !team.is_stopped();
        if last.go {
            go &= self.look_back(team, last, now - self.batch_began);
        }
        go &= !self.until.is_over() && self.left != Some(0);
        if !go || now - self.reported >= REPORT {
            self.report(team, !go);
            self.reported = now;
        }
        self.batch_began = Instant::now();
        let next = Plan { go, ..self.plan(last) };
        self.batches += 1;
        next
    }

    /// False when the run is over.
    fn look_back(&mut self, team: &Team, last: &Plan, took: Duration) -> bool {
        if team.failure().is_some() {
            return false;
        }
        self.executions += last.size as u64;
        if let Some(left) = &mut self.left {
            *left -= last.size as u64;
        }
        if last.stamped {
            let overlap = team.overlap();
            let overlapping = overlap.overlapping - self.overlap.overlapping;
            self.overlap = overlap;
            self.correct(&team.timing(last.size));
            if let Some(tuner) = &mut self.tuner {
                let found = tuner.note(overlapping, took);
                self.pace = tuner.pace();
                if found {
                    self.tuner = None;
                }
            }
        }
        let fresh = team.fresh();
        if fresh.is_empty() {
            return true;
        }
        self.to_controller.send(Message::New(self.team, fresh)).is_ok() && self.answers.recv() == Ok(Next::Continue)
    }

    /// Changes the fixed delays so that the lanes begin together.
    fn correct(&mut self, timing: &Timing) {
        const STEP: i64 = 1_000;
        const LIMIT: i64 = 5_000;
        self.took = timing.took.clamp(0, 100_000);
        self.correction.resize(timing.later.len(), vec![0; timing.later.len()]);
        for (corrections, later) in self.correction.iter_mut().zip(&timing.later) {
            for (correction, &later) in corrections.iter_mut().zip(later) {
                *correction = (*correction - (later / 2).clamp(-STEP, STEP)).clamp(-LIMIT, LIMIT);
            }
        }
    }

    fn plan(&self, last: &Plan) -> Plan {
        let pace = self.tuner.as_ref().map_or(self.pace, Tuner::pace);
        let size = u64::from(pace.batch).min(self.left.unwrap_or(u64::MAX)) as usize;
        let rounds = |ticks: i64| (ticks.max(0) as u64 * 1000 / self.ticks_of_thousand_rounds) as u32;
        let lanes = last.fixed.len();
        let fixed = |lane: usize, owner: usize| {
            let corrections = self.correction.iter().map(|corrections| corrections[owner]);
            let least = corrections.min().unwrap_or(0);
            self.correction.get(lane).map_or(0, |corrections| rounds(corrections[owner] - least))
        };
        Plan {
            go: true,
            pace,
            size,
            stamped: self.tuner.is_some() || self.batches < STAMPED_FIRST || self.batches.is_multiple_of(STAMPED),
            before: self.executions,
            random: rounds(self.took * i64::from(pace.skew) / 100),
            fixed: (0..lanes).map(|lane| (0..lanes).map(|owner| fixed(lane, owner)).collect()).collect(),
        }
    }

    fn report(&self, team: &Team, last: bool) {
        let report = Report {
            outcomes: team.outcomes(),
            overlap: team.overlap(),
            pace: self.pace,
            failure: team.failure(),
            last,
        };
        // Sending fails if the run was given up; the report is not needed then.
        let _ = self.to_controller.send(Message::Report(self.team, report));
    }
}
