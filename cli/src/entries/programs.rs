//! Programs with blocks, checked as the command line asks.

use std::num::NonZeroUsize;
use std::sync::Arc;

use interloper::blocks::progress::{Keep, Keeper};
use interloper::blocks::{Blocks, Bug, Expected, Finding, Grade, Misuse, Program, Report, Settings, Violation};
use interloper::{Decisions, Shard};
use interloper_report::Counterexample;
use interloper_report::replay_file::{About, ReplayFile};
use interloper_report::table::Align;
use serde::{Deserialize, Serialize};

use super::recorded::{Again, Recorded, refused};
use super::told::{Documented, Kept};
use super::{Begun, Checked, Description, Item, Listed, check_each, or_dash};
use crate::answer::{JSON_VERSION, json};
use crate::args::SearchArgs;
use crate::counts::{Unseen, plural};
use crate::failure::Failure;
use crate::{jobs, strategy};

/// A program and what its check gave.
pub struct CheckedProgram {
    pub program: Program,
    /// The settings that it was checked with.
    pub settings: Settings,
    pub outcome: Result<Box<Report>, Misuse>,
    /// Whether the schedules were chosen as the program wants it: otherwise less may be found than there is.
    own_schedule: bool,
}

/// A program in a JSON document.
#[derive(Serialize, Deserialize)]
pub struct ProgramResult {
    name: String,
    origin: String,
    expected: String,
    grade: String,
    finding: Option<String>,
    schedule: String,
    executions_to_violation: Option<u64>,
    executions: u64,
    /// The different Mazurkiewicz traces that the executions belong to; with `more_traces`, there were more.
    traces: u64,
    more_traces: bool,
    steps: u64,
    /// For random schedules: of how many executions, how many were the only ones of their traces (Good–Turing).
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<Unseen>,
    /// What the time or the memory did not suffice for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    cut_short: String,
    /// Executions in which a block was violated.
    violated: u64,
    bugs: u64,
    complete: bool,
    /// Under sequential consistency, where nothing was found: the accesses of an execution, at most, to atomics with orderings
    /// weaker than `SeqCst`.
    #[serde(default, skip_serializing_if = "is_zero")]
    as_seq_cst: u32,
    serial_executions: u64,
    warnings: Vec<String>,
    misuse: Option<String>,
    /// `run` shows every violation. The suite shows only what is unexpected: a reader finds it in the replay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Documented for ProgramResult {
    fn with(self, counterexample: Option<Counterexample>) -> ProgramResult {
        ProgramResult { counterexample, ..self }
    }
}

/// Everything about a program.
#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    about: &'static str,
    blocks: &'static str,
    twin: Option<&'static str>,
    source: &'static str,
    #[serde(flatten)]
    result: ProgramResult,
}

impl CheckedProgram {
    fn found(&self) -> Option<&Report> {
        self.outcome.as_deref().ok()
    }

    fn violation(&self) -> Option<&Violation> {
        self.found().and_then(Report::violation)
    }
}

impl Checked for CheckedProgram {
    type Result = ProgramResult;

    fn name(&self) -> &'static str {
        self.program.name
    }

    fn is_unexpected(&self) -> bool {
        let Some(report) = self.found() else { return true };
        let expected = self.program.expected;
        match self.own_schedule {
            true => !expected.fits(report),
            false => report.grade > expected.grade(),
        }
    }

    fn is_settled(&self) -> bool {
        self.settings.time.is_none()
    }

    fn is_unexplored(&self) -> bool {
        matches!(self.outcome, Err(Misuse::Unexplored(_)))
    }

    fn counterexample(&self) -> Option<Counterexample> {
        self.violation().map(|violation| violation.counterexample.clone())
    }

    fn kept(&self, _: &SearchArgs) -> Option<Kept> {
        let violation = self.violation()?;
        let (name, settings) = (self.program.name, &self.settings);
        let about = About::Program { name: name.to_owned(), strategy: settings.schedule.to_string() };
        let (finding, decisions) = (violation.finding.word(), format!("{:#}", violation.smallest));
        let history = violation.history.clone();
        let file = ReplayFile::new(about, settings.seed, violation.execution, finding, decisions, history);
        Some(Kept::with(file, violation.counterexample.clone()))
    }

    fn headline(&self) -> (&'static str, String) {
        match &self.outcome {
            Ok(report) => (self.mark(), report.grade.to_string()),
            Err(misuse) => ("✗", misuse.to_string()),
        }
    }

    fn details(&self) -> Vec<String> {
        let Some(report) = self.found() else { return Vec::new() };
        let warnings = report.warnings.iter().map(|warning| format!("warning: {warning}"));
        let inferred = report.inferred.iter().map(|block| format!("inferred: {block}"));
        warnings.chain(inferred).chain([report.coverage.to_string()]).collect()
    }

    fn expectation(&self) -> Option<String> {
        Some(self.program.expected.to_string())
    }

    fn executions(&self) -> Option<u64> {
        self.found().map(|report| report.coverage.executions)
    }

    fn word(&self) -> String {
        self.found().map_or(NOT_CHECKED, |report| report.grade.word()).to_owned()
    }

    fn words() -> Vec<String> {
        let grades = [Grade::Clean, Grade::Warning, Grade::Error, Grade::Bug].map(Grade::word);
        grades.into_iter().chain([NOT_CHECKED]).map(str::to_owned).collect()
    }

    fn number(count: u64) -> String {
        plural(count, "program") + " with blocks"
    }

    fn row(&self) -> Vec<String> {
        let expected = expected(self.program);
        vec![
            if self.own_schedule { expected } else { format!("at most {expected}") },
            found(self),
            or_dash(self.violation().map(|violation| violation.execution)),
            or_dash(self.found().map(|report| report.coverage.violated)),
            or_dash(self.executions()),
        ]
    }

    fn heads() -> [(&'static str, Align); 6] {
        [
            ("  program", Align::Left),
            ("expected", Align::Left),
            ("found", Align::Left),
            ("executions\nto it", Align::Right),
            ("executions\nwith a violation", Align::Right),
            ("executions", Align::Right),
        ]
    }

    fn result(&self) -> ProgramResult {
        let (program, report) = (self.program, self.found());
        let violation = report.and_then(Report::violation);
        let count = |of: fn(&Report) -> u64| report.map_or(0, of);
        ProgramResult {
            name: program.name.to_owned(),
            origin: program.origin.to_owned(),
            expected: program.expected.to_string(),
            grade: report.map_or("none", |report| report.grade.word()).to_owned(),
            finding: violation.map(|violation| violation.finding.to_string()),
            schedule: self.settings.schedule.to_string(),
            executions_to_violation: violation.map(|violation| violation.execution),
            executions: count(|report| report.coverage.executions),
            traces: count(|report| report.coverage.traces),
            more_traces: report.is_some_and(|report| report.coverage.more_traces),
            steps: count(|report| report.coverage.steps),
            unseen: report.and_then(|report| report.coverage.unseen).map(Unseen::from),
            cut_short: report.map_or_else(String::new, |report| report.coverage.cut_short.to_string()),
            violated: count(|report| report.coverage.violated),
            bugs: count(|report| report.coverage.bugs),
            complete: report.is_some_and(|report| report.coverage.complete),
            as_seq_cst: report.map_or(0, |report| report.coverage.as_seq_cst),
            serial_executions: count(|report| report.coverage.serial.executions),
            warnings: report.map_or_else(Vec::new, |report| report.warnings.iter().map(ToString::to_string).collect()),
            misuse: self.outcome.as_ref().err().map(ToString::to_string),
            counterexample: None,
        }
    }

    fn about(&self) -> Description {
        let program = self.program;
        let mut facts = vec![("origin", program.origin.to_owned()), ("expected", program.expected.to_string())];
        facts.push(("blocks", blocks(program).to_owned()));
        facts.extend(program.twin.map(|twin| ("twin without a bug", twin.to_owned())));
        Description { about: program.about, facts, source: program.source }
    }

    fn document(&self, counterexample: Option<Counterexample>, seed: u64) -> String {
        let program = self.program;
        json(&Document {
            version: JSON_VERSION,
            seed,
            about: program.about,
            blocks: blocks(program),
            twin: program.twin,
            source: program.source,
            result: self.result().with(counterexample),
        })
    }
}

impl Item for Program {
    type Checked = CheckedProgram;

    fn listed(&self) -> Listed {
        Listed {
            name: self.name,
            origin: self.origin,
            about: self.about,
            expected: self.expected.to_string(),
            in_table: expected(*self),
            blocks: Some(blocks(*self)),
            twin: self.twin,
        }
    }

    /// If there are more threads than programs, the spare threads share the executions of a program.
    fn check_begun(
        programs: &[Begun<Program>],
        search: &SearchArgs,
        done: &(dyn Fn(&CheckedProgram) + Sync),
    ) -> Result<Vec<CheckedProgram>, Failure> {
        let all_jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
        let jobs = NonZeroUsize::new(all_jobs.get() / programs.len().max(1)).unwrap_or(NonZeroUsize::MIN);
        let settings = |(program, keep): &Begun<Program>| {
            let keeper = keep.clone().map(Keeper::new).unwrap_or_default();
            Ok((*program, Settings { jobs, keeper, ..settings(program, search)? }))
        };
        let programs: Vec<(Program, Settings)> = programs.iter().map(settings).collect::<Result<_, Failure>>()?;
        check_with(&programs, search, done)
    }
}

/// Checks programs with these settings.
fn check_with(
    programs: &[(Program, Settings)],
    search: &SearchArgs,
    done: &(dyn Fn(&CheckedProgram) + Sync),
) -> Result<Vec<CheckedProgram>, Failure> {
    let own_schedule = search.given().all(|option| !strategy::OPTIONS.contains(&option));
    check_each(
        "program",
        programs,
        search,
        |(program, _)| program.name,
        |(program, settings), progress| {
            let settings = Settings { watch: progress.watch(program.name), ..settings.clone() };
            tracing::debug!(program = program.name, ?settings, "checking");
            let outcome = program.check_with(&settings).map(Box::new);
            let checked = CheckedProgram { program: *program, settings, outcome, own_schedule };
            let executions = checked.executions().unwrap_or(0);
            tracing::info!(program = program.name, executions, unexpected = checked.is_unexpected(), "checked");
            done(&checked);
            checked
        },
    )
}

/// Whether the search of a program can be split.
pub fn is_split(program: &Program, search: &SearchArgs) -> Result<bool, Failure> {
    Ok(settings(program, search)?.schedule.can_split())
}

/// Whether the progress of its search can be kept: whether it draws its executions at random.
pub fn keeps_progress(program: &Program, search: &SearchArgs) -> Result<bool, Failure> {
    Ok(settings(program, search)?.schedule.is_random())
}

/// Checks a program, or the part of its executions that belongs to the shard. `keep` knows what was done before.
pub fn check_kept(program: &Program, search: &SearchArgs, keep: Arc<dyn Keep>) -> Result<CheckedProgram, Failure> {
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    let (shard, keeper) = (search.shard.unwrap_or(Shard::WHOLE), Keeper::new(keep));
    let settings = Settings { jobs, shard, keeper, ..settings(program, search)? };
    let mut checked = check_with(&[(*program, settings)], search, &|_| ())?;
    Ok(checked.pop().expect("one program was checked"))
}

impl Recorded for Program {
    fn replay(&self, file: &ReplayFile, decisions: &Decisions, explore: bool) -> Result<Again, Failure> {
        let About::Program { .. } = &file.about else {
            return refused(format!("'{}' is a program with blocks, not a composed operation", self.name));
        };
        let settings = Settings { seed: file.seed, explore, ..self.own_settings() };
        let report = match self.replay_with(&settings, decisions) {
            Ok(report) => report,
            Err(Misuse::Diverged { difference }) => return Ok(Again::diverged(difference)),
            Err(misuse) => return refused(misuse.to_string()),
        };
        Ok(match report.bug.or(report.error) {
            Some(found) => {
                let exploration = explore.then(|| found.page());
                Again { exploration, ..Again::showed(file, found.finding.word(), &found.history, found.counterexample) }
            }
            None => Again::diverged(format!("the recording shows {}, and the replay shows nothing", file.finding)),
        })
    }
}

/// The settings of a program with what the command line says instead.
fn settings(program: &Program, search: &SearchArgs) -> Result<Settings, Failure> {
    let mut settings = program.own_settings();
    settings.seed = search.seed();
    settings.executions = search.executions.map_or(settings.executions, |executions| executions.get());
    settings.time = search.time.or(settings.time);
    settings.check_determinism |= search.check_determinism;
    settings.allow_trivial |= search.allow_trivial;
    settings.schedule = strategy::chosen(settings.schedule, search)?;
    settings.freedoms = search.freedoms.or(settings.freedoms);
    if let Some(memory) = search.memory {
        settings.override_memory(memory);
    }
    Ok(settings)
}

const NOT_CHECKED: &str = "not checked";

/// What a program must give, in the words of a table.
fn expected(program: Program) -> String {
    match program.expected {
        Expected::Bug(Bug::Panic(_)) => "bug (panic)".to_owned(),
        Expected::Bug(Bug::Aborted(_)) => "bug (panic that cannot unwind)".to_owned(),
        other => other.to_string(),
    }
}

fn found(checked: &CheckedProgram) -> String {
    let Some(report) = checked.found() else {
        return if checked.is_unexplored() { "nothing explored" } else { "error" }.to_owned();
    };
    let kind = report.bug.as_ref().map(|violation| match &violation.finding {
        Finding::Unexplained { .. } => "not serialisable".to_owned(),
        Finding::StepBound => "no end".to_owned(),
        Finding::Failed { .. } => "failed".to_owned(),
        other => other.to_string(),
    });
    kind.map_or_else(|| report.grade.word().to_owned(), |kind| format!("bug ({kind})"))
}

/// Which parts of the program are blocks.
fn blocks(program: Program) -> &'static str {
    match program.own_settings().blocks {
        Blocks::Marked => "marked",
        Blocks::CriticalSections => "critical sections",
        Blocks::Inferred => "marked, and inferred for AtomFuzzer",
    }
}
