//! Checks programs of the suite as the command line asks, and says what was unexpected.

use std::num::NonZeroUsize;

use interloper::blocks::{Expected, Misuse, Program, Report, Settings};

use crate::args::SearchArgs;
use crate::failure::Failure;
use crate::jobs;
use crate::progress::Progress;
use crate::strategy;

/// A program and what its check gave.
pub struct Checked {
    pub program: Program,
    /// The settings that it was checked with.
    pub settings: Settings,
    pub outcome: Result<Box<Report>, Misuse>,
    /// Whether the schedules were chosen as the program wants it: otherwise less may be found than there is.
    own_schedule: bool,
}

impl Checked {
    pub fn report(&self) -> Option<&Report> {
        self.outcome.as_deref().ok()
    }

    /// Whether this is what nobody expected.
    pub fn is_unexpected(&self) -> bool {
        let Some(report) = self.report() else { return true };
        let expected = self.program.expected;
        match self.own_schedule {
            true => !expected.fits(report),
            false => report.grade > expected.grade(),
        }
    }

    /// Whether nothing was explored.
    pub fn is_unexplored(&self) -> bool {
        matches!(self.outcome, Err(Misuse::Unexplored(_)))
    }

    /// What the program must give, if it must under these options.
    pub fn expected(&self) -> Option<Expected> {
        self.own_schedule.then_some(self.program.expected)
    }
}

/// Checks `programs` on as many threads as asked for. Results are in the order of the programs.
pub fn check_all(programs: &[Program], search: &SearchArgs) -> Result<Vec<Checked>, Failure> {
    if programs.is_empty() {
        return Ok(Vec::new());
    }
    let progress = Progress::start("program", programs.len());
    let jobs = search.jobs.unwrap_or_else(jobs::default_jobs);
    // Threads that are left over when each program has one make executions of it.
    let own_jobs = NonZeroUsize::new(jobs.get() / programs.len()).unwrap_or(NonZeroUsize::MIN);
    let settings =
        |program: &Program| settings(program, search).map(|settings| Settings { jobs: own_jobs, ..settings });
    let programs: Vec<(Program, Settings)> =
        programs.iter().map(|program| Ok((*program, settings(program)?))).collect::<Result<_, Failure>>()?;
    let programs: Vec<(Program, Settings)> = programs
        .into_iter()
        .map(|(program, settings)| (program, Settings { watch: progress.watch(program.name), ..settings }))
        .collect();
    let own_schedule =
        search.strategy.is_none() && search.freedoms.is_none() && search.q.is_none() && search.depth.is_none();
    let check = |(program, settings): &(Program, Settings)| {
        tracing::debug!(program = program.name, ?settings, "checking");
        let outcome = program.check_with(settings).map(Box::new);
        let checked = Checked { program: *program, settings: settings.clone(), outcome, own_schedule };
        let executions = checked.report().map_or(0, |report| report.coverage.executions);
        tracing::info!(program = program.name, executions, unexpected = checked.is_unexpected(), "checked");
        checked
    };
    let checked = jobs::run(jobs, &programs, check, |(program, _)| progress.done(program.name))?;
    progress.finish();
    Ok(checked)
}

/// The settings of a program with what the command line says instead.
pub fn settings(program: &Program, search: &SearchArgs) -> Result<Settings, Failure> {
    let mut settings = program.own_settings();
    settings.seed = search.seed();
    settings.executions = search.executions.map_or(settings.executions, |executions| executions.get());
    settings.time = search.time.or(settings.time);
    settings.check_determinism |= search.check_determinism;
    settings.allow_trivial |= search.allow_trivial;
    settings.schedule = strategy::chosen(settings.schedule, search)?;
    settings.freedoms = search.freedoms.or(settings.freedoms);
    Ok(settings)
}
