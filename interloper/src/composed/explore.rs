//! The loop of every search: run, judge, and continue until a violation, a limit or the end.

use interloper_scheduler::decisions::{Decisions, Deviations, Question, RandomSource, Recorder, Source};
use interloper_scheduler::{Shard, Tally};

use crate::composed::histories::Shown;
use crate::composed::kept::{Begun, Keeping};
use crate::composed::method::{Search, Settings};
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Coverage, Verdict, Violation};
use crate::composed::runner::Runner;

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
pub(crate) trait Program<'m> {
    /// Makes one run as `source` decides. Gives whether no sequential order explains it, or nothing if there is no such run:
    /// an operation of the environment had to wait, so the environment could not act there, or another part of the search has the run.
    fn refuted(&mut self, source: &mut dyn Source) -> Result<Option<bool>, Misuse>;

    /// What the last run has shown.
    fn shown(&self) -> Shown;

    /// Repeats the run that these decisions determine, and describes it, however late it is.
    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse>;

    /// What it runs on: with the clock of the check, and with how much of the search is to be made.
    fn runner(&mut self) -> &mut Runner<'m>;

    /// Between two runs: what is kept from the runs so far, as numbers. `None` if it cannot be told.
    fn saved(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    /// Goes on where a program was that said `saved`. Returns false, and begins anew, if the numbers do not fit.
    fn restore(&mut self, saved: &[u64]) -> bool {
        saved.is_empty()
    }
}

/// Searches the runs of `program` with up to `bound` environment operations.
pub(crate) fn explore(
    program: &mut dyn Program<'_>,
    settings: &Settings,
    bound: u32,
    coverage: Coverage,
) -> Result<Found, Misuse> {
    let shard = program.runner().split.shard();
    let mut runs = Runs::new(settings, bound, shard);
    let mut found = Found { coverage, violation: None, cut: false };
    found.coverage.random = matches!(runs, Runs::Random { .. });
    if let Some(known) = program.runner().split.known(&found.coverage, settings.executions) {
        return Ok(known);
    }
    let (mut first, mut tally) = (0, Tally::default());
    if let Some(begun) = program.runner().split.keeping().and_then(Keeping::begin) {
        let fits = runs.go_on_from(&begun.next) && program.restore(&begun.program);
        program.runner().split.keeping().into_iter().for_each(|keeping| keeping.goes_on(fits));
        match fits {
            true => (first, tally) = begun.resume(&mut found.coverage),
            false => runs = Runs::new(settings, bound, shard),
        }
    }
    let made = search(program, settings, (&mut runs, first), &mut found, &mut tally)?;
    if program.runner().split.is_part() {
        program.runner().split.note(made, &found, tally);
        return Ok(found);
    }
    let histories = tally.finish();
    found.coverage.histories += histories.number;
    found.coverage.more_histories = !histories.exact;
    let drawn = found.coverage.random && found.coverage.executions > 0;
    found.coverage.unseen = (drawn && (settings.keep_going || found.violation.is_none())).then_some(histories.unseen);
    Ok(found)
}

/// Makes the runs, after the `first` ones. Gives how many of them count here.
fn search(
    program: &mut dyn Program<'_>,
    settings: &Settings,
    (runs, first): (&mut Runs, u64),
    found: &mut Found,
    histories: &mut Tally,
) -> Result<u64, Misuse> {
    let mut own = 0;
    for made in first.. {
        if program.runner().split.keeping().is_some_and(|keeping| keeping.is_due()) {
            keep(program, (runs, made), found, histories);
        }
        if !runs.begin(made) {
            keep(program, (runs, made), found, histories);
            break;
        }
        if !runs.is_made() {
            continue;
        }
        let counts = runs.counts();
        if program.runner().split.is_told() {
            return Ok(own);
        }
        if settings.executions.is_some_and(|limit| made >= limit) || program.runner().must_stop() {
            found.cut = true;
            runs.put_back();
            keep(program, (runs, made), found, histories);
            return Ok(own);
        }
        let refuted = match program.refuted(runs) {
            // An execution that a limit has cut short does not count.
            Err(Misuse::CutShort) => {
                found.cut = true;
                runs.put_back();
                keep(program, (runs, made), found, histories);
                return Ok(own);
            }
            refuted => refuted?,
        };
        if runs.is_elsewhere() {
            runs.end();
            continue;
        }
        own += u64::from(counts);
        let Some(refuted) = refuted else {
            runs.end();
            continue;
        };
        if counts {
            found.coverage.executions += 1;
            let shown = program.shown();
            found.coverage.steps += shown.steps;
            match shown.history {
                Some(history) => histories.note(history),
                None => found.coverage.histories += 1,
            }
        }
        if refuted {
            found.coverage.violating += 1;
            if found.violation.is_none() {
                let decisions = runs.decisions();
                found.violation = Some(describe(program, &decisions, found.coverage.executions)?);
            }
            if !settings.keep_going {
                return Ok(own);
            }
        }
        runs.end();
    }
    runs.diverged()?;
    found.coverage.complete = runs.is_complete();
    found.cut = !found.coverage.complete && !found.coverage.random;
    Ok(own)
}

/// Keeps how far a search is after so many runs, if it is kept. What comes after a violation is not kept, so the violation is found
/// again; nor is a search that is too large.
fn keep(program: &mut dyn Program<'_>, (runs, made): (&Runs, u64), found: &Found, histories: &Tally) {
    if found.violation.is_some() || program.runner().split.keeping().is_none() {
        return;
    }
    let Some((next, kept)) = runs.to_words().zip(program.saved()) else { return };
    let begun = Begun::new(made, &found.coverage, histories, next, kept);
    if let Some(keeping) = program.runner().split.keeping() {
        keeping.keep(begun);
    }
}

/// A finding is described, however late it is.
fn describe(program: &mut dyn Program<'_>, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
    let deadline = program.runner().clock.deadline.take();
    let described = program.describe(decisions, execution);
    program.runner().clock.deadline = deadline;
    described
}

/// So many runs at random are dealt at once.
const ROW: u64 = 64;

/// The runs of a search, as sources of decisions.
#[allow(clippy::large_enum_variant)] // there is one of these, and it never moves
enum Runs {
    /// All runs of a part.
    Exhaustive(Deviations, Shard),
    /// So many that are drawn at random; the answers depend on the seed and on the number of the run alone. Rows of them are dealt
    /// to shards.
    Random { source: Recorder<RandomSource>, seed: u64, executions: u64, made: u64, shard: Shard },
}

impl Runs {
    fn new(settings: &Settings, bound: u32, shard: Shard) -> Runs {
        match settings.search {
            Search::Exhaustive => Runs::Exhaustive(Deviations::part(bound, shard), shard),
            Search::Random { executions } => {
                let seed = settings.seed;
                let source = Recorder::new(RandomSource::new(seed, 0));
                Runs::Random { source, seed, executions, made: 0, shard }
            }
        }
    }

    /// Begins another run after `number` runs, if one is left.
    fn begin(&mut self, number: u64) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.next_run(),
            Runs::Random { source, seed, executions, made, .. } => {
                source.clear();
                *source.source_mut() = RandomSource::new(*seed, number);
                *made = number;
                number < *executions
            }
        }
    }

    /// Whether the run belongs to this part of the search.
    fn is_made(&self) -> bool {
        match self {
            Runs::Exhaustive(..) => true,
            Runs::Random { made, shard, .. } => shard.has(made / ROW),
        }
    }

    /// Whether the run turned out to belong to another part when it began.
    fn is_elsewhere(&self) -> bool {
        matches!(self, Runs::Exhaustive(deviations, _) if deviations.is_elsewhere())
    }

    /// Whether the run counts here. What every part makes counts in the first one.
    fn counts(&self) -> bool {
        match self {
            Runs::Exhaustive(deviations, shard) => !deviations.is_shared() || shard.has(0),
            Runs::Random { .. } => true,
        }
    }

    fn end(&mut self) {
        if let Runs::Exhaustive(deviations, _) = self {
            deviations.end_run();
        }
    }

    /// The run that was begun is not made: it is the next one again.
    fn put_back(&mut self) {
        if let Runs::Exhaustive(deviations, _) = self {
            deviations.put_back();
        }
    }

    /// Between two runs: which one is next, as numbers, where their count does not say it.
    fn to_words(&self) -> Option<Vec<u64>> {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.to_words(),
            Runs::Random { .. } => Some(Vec::new()),
        }
    }

    /// Goes on with the run that these numbers describe. Returns false if they do not fit.
    fn go_on_from(&mut self, words: &[u64]) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.go_on_from(words).is_some(),
            Runs::Random { .. } => words.is_empty(),
        }
    }

    fn decisions(&self) -> Decisions {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.decisions(),
            Runs::Random { source, .. } => source.decisions().clone(),
        }
    }

    /// Whether the search ran every run within the bounds.
    fn is_complete(&self) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.is_complete(),
            Runs::Random { .. } => false,
        }
    }

    /// Refuses an exhaustive search that met different questions after the same answers.
    fn diverged(&self) -> Result<(), Misuse> {
        match self {
            Runs::Exhaustive(deviations, _) => match deviations.divergence() {
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
            Runs::Exhaustive(deviations, _) => deviations.decide(question, options),
            Runs::Random { source, .. } => source.decide(question, options),
        }
    }

    fn decide_among(&mut self, question: Question, options: u32, needless: u64) -> Option<u32> {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.decide_among(question, options, needless),
            Runs::Random { source, .. } => source.decide_among(question, options, needless),
        }
    }

    #[inline]
    fn wants(&self, question: Question) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.wants(question),
            Runs::Random { source, .. } => source.wants(question),
        }
    }

    #[inline]
    fn settled(&mut self, question: Question) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.settled(question),
            Runs::Random { .. } => false,
        }
    }

    fn is_own(&mut self) -> bool {
        match self {
            Runs::Exhaustive(deviations, _) => deviations.is_own(),
            Runs::Random { .. } => true,
        }
    }
}
