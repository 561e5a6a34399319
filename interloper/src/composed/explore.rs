//! The loop of every search: run, judge, and continue until a violation, a limit or the end.

use interloper_scheduler::Tally;
use interloper_scheduler::decisions::{Decisions, Deviations, Question, RandomSource, Recorder, Source};

use crate::composed::clock::Clock;
use crate::composed::histories::Shown;
use crate::composed::method::{Search, Settings};
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Coverage, Verdict, Violation};

/// What a search found.
pub(crate) struct Found {
    pub coverage: Coverage,
    pub violation: Option<Violation>,
    /// Whether a limit ended the search.
    pub cut: bool,
}

impl Found {
    /// The verdict of a search that found no violation.
    pub fn nothing(&self) -> Verdict {
        match (self.cut, self.coverage.random) {
            (true, _) => Verdict::Unfinished,
            (false, true) => Verdict::NothingFound,
            (false, false) => Verdict::Linearizable,
        }
    }
}

/// A program whose runs are searched.
pub(crate) trait Program {
    /// Makes one run as `source` decides. Gives whether no sequential order explains it, or nothing if there is no such run:
    /// an operation of the environment had to wait, so the environment could not act there.
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse>;

    /// What the last run has shown.
    fn shown(&self) -> Shown;

    /// Repeats the run that these decisions determine, and describes it, however late it is.
    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse>;

    /// The clock of the check. While a violation is described it has no limit.
    fn clock(&mut self) -> &mut Clock;

    /// Whether the search must end: the time is over, or too many calls were lost with their stacks.
    fn must_stop(&mut self) -> bool;
}

/// Searches the runs of `program` with up to `bound` environment operations.
pub(crate) fn explore(
    program: &mut dyn Program,
    settings: &Settings,
    bound: u32,
    coverage: Coverage,
) -> Result<Found, Misuse> {
    let mut runs = Runs::new(settings, bound);
    let mut found = Found { coverage, violation: None, cut: false };
    found.coverage.random = matches!(runs, Runs::Random { .. });
    let mut tally = Tally::default();
    search(program, settings, &mut runs, &mut found, &mut tally)?;
    let histories = tally.finish();
    found.coverage.histories += histories.number;
    found.coverage.more_histories = !histories.exact;
    let drawn = found.coverage.random && found.coverage.executions > 0;
    found.coverage.unseen = (drawn && (settings.keep_going || found.violation.is_none())).then_some(histories.unseen);
    Ok(found)
}

fn search(
    program: &mut dyn Program,
    settings: &Settings,
    runs: &mut Runs,
    found: &mut Found,
    histories: &mut Tally,
) -> Result<(), Misuse> {
    for made in 0.. {
        if !runs.begin(made) {
            break;
        }
        if settings.executions.is_some_and(|limit| made >= limit) || program.must_stop() {
            found.cut = true;
            return Ok(());
        }
        let refuted = match program.refuted(runs) {
            // An execution that a limit has cut short does not count.
            Err(Misuse::CutShort) => {
                found.cut = true;
                return Ok(());
            }
            refuted => refuted?,
        };
        let Some(refuted) = refuted else {
            runs.end();
            continue;
        };
        found.coverage.executions += 1;
        let shown = program.shown();
        found.coverage.steps += shown.steps;
        match shown.history {
            Some(history) => histories.note(history),
            None => found.coverage.histories += 1,
        }
        if refuted {
            found.coverage.violating += 1;
            if found.violation.is_none() {
                let decisions = runs.decisions();
                found.violation = Some(describe(program, &decisions, found.coverage.executions)?);
            }
            if !settings.keep_going {
                return Ok(());
            }
        }
        runs.end();
    }
    runs.diverged()?;
    found.coverage.complete = runs.is_complete();
    found.cut = !found.coverage.complete && !found.coverage.random;
    Ok(())
}

/// A finding is described, however late it is.
fn describe(program: &mut dyn Program, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
    let deadline = program.clock().deadline.take();
    let described = program.describe(decisions, execution);
    program.clock().deadline = deadline;
    described
}

/// The runs of a search, as sources of decisions.
#[allow(clippy::large_enum_variant)] // there is one of these, and it never moves
enum Runs {
    /// All runs.
    Exhaustive(Deviations),
    /// So many that are drawn at random; the answers depend on the seed and on the number of the run alone.
    Random { source: Recorder<RandomSource>, seed: u64, executions: u64 },
}

impl Runs {
    fn new(settings: &Settings, bound: u32) -> Runs {
        match settings.search {
            Search::Exhaustive => Runs::Exhaustive(Deviations::new(bound)),
            Search::Random { executions } => {
                let seed = settings.seed;
                Runs::Random { source: Recorder::new(RandomSource::new(seed, 0)), seed, executions }
            }
        }
    }

    /// Begins another run after `made` runs, if one is left.
    fn begin(&mut self, made: u64) -> bool {
        match self {
            Runs::Exhaustive(deviations) => deviations.next_run(),
            Runs::Random { source, seed, executions } => {
                source.clear();
                *source.source_mut() = RandomSource::new(*seed, made);
                made < *executions
            }
        }
    }

    fn end(&mut self) {
        if let Runs::Exhaustive(deviations) = self {
            deviations.end_run();
        }
    }

    fn decisions(&self) -> Decisions {
        match self {
            Runs::Exhaustive(deviations) => deviations.decisions(),
            Runs::Random { source, .. } => source.decisions().clone(),
        }
    }

    /// Whether the search ran every run within the bounds.
    fn is_complete(&self) -> bool {
        match self {
            Runs::Exhaustive(deviations) => deviations.is_complete(),
            Runs::Random { .. } => false,
        }
    }

    /// Refuses an exhaustive search that met different questions after the same answers.
    fn diverged(&self) -> Result<(), Misuse> {
        match self {
            Runs::Exhaustive(deviations) => match deviations.divergence() {
                None => Ok(()),
                Some(position) => Err(Misuse::Diverged {
                    reason: format!(
                        "after the same {position} decisions the method did something different: it depends on more \
                         than its collections and its argument"
                    ),
                }),
            },
            Runs::Random { .. } => Ok(()),
        }
    }
}

impl Source for Runs {
    #[inline]
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        match self {
            Runs::Exhaustive(deviations) => deviations.decide(question, options),
            Runs::Random { source, .. } => source.decide(question, options),
        }
    }

    #[inline]
    fn wants(&self, question: Question) -> bool {
        match self {
            Runs::Exhaustive(deviations) => deviations.wants(question),
            Runs::Random { source, .. } => source.wants(question),
        }
    }

    #[inline]
    fn settled(&mut self, question: Question) -> bool {
        match self {
            Runs::Exhaustive(deviations) => deviations.settled(question),
            Runs::Random { .. } => false,
        }
    }
}
