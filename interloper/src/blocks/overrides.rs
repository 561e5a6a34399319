//! Settings from environment variables, which override the settings in the code.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use interloper_report::shorten::{LONGEST_TEXT, middle};

use super::sections::Blocks;
use super::settings::{MAX_JOBS, Settings, StepBound};

/// An environment variable with a bad value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVariable {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What is expected, or what is wrong.
    pub reason: String,
}

impl fmt::Display for BadVariable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, reason) = (middle(&self.value, LONGEST_TEXT), middle(&self.reason, LONGEST_TEXT));
        write!(out, "the environment variable {} is {value:?}: {reason}", self.name)
    }
}

impl std::error::Error for BadVariable {}

/// Whether the environment can override settings: a command asks before it builds what would refuse the variable.
///
/// # Errors
/// The first variable with a bad value.
pub fn environment_is_usable() -> Result<(), BadVariable> {
    apply(&mut Settings::default(), |name| std::env::var(name).ok())
}

/// Changes settings according to the variables.
pub(crate) fn apply(
    settings: &mut Settings,
    variable: impl Fn(&'static str) -> Option<String>,
) -> Result<(), BadVariable> {
    let number = |name: &'static str| read(name, &variable, "expected a number from 0 to 18446744073709551615");
    if let Some(seed) = number("INTERLOPER_SEED")? {
        settings.seed = seed;
    }
    if let Some(executions) = number("INTERLOPER_EXECUTIONS")? {
        settings.executions = executions;
    }
    if let Some(milliseconds) = number("INTERLOPER_TIME_MS")? {
        settings.time = Some(Duration::from_millis(milliseconds));
    }
    if let Some(milliseconds) = number("INTERLOPER_PATIENCE_MS")? {
        settings.patience = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
    }
    if let Some(Jobs(jobs)) = read("INTERLOPER_JOBS", &variable, "expected a number from 1 to 1024")? {
        settings.jobs = jobs;
    }
    if let Some(steps) = number("INTERLOPER_STEPS")? {
        settings.steps = match settings.steps {
            StepBound::FailAfter(_) => StepBound::FailAfter(steps),
            StepBound::StopAfter(_) => StepBound::StopAfter(steps),
        };
    }
    if let Some(shard) = read_explained("INTERLOPER_SHARD", &variable)? {
        settings.shard = shard;
    }
    if let Some(freedoms) = read_explained("INTERLOPER_FREEDOMS", &variable)? {
        settings.freedoms = Some(freedoms);
    }
    if let Some(preempt) = read("INTERLOPER_PREEMPT", &variable, "expected sync or memory (loads and stores, too)")? {
        settings.preempt = preempt;
    }
    if let Some(Parts(blocks)) = read("INTERLOPER_BLOCKS", &variable, "expected marked, critical-sections or inferred")?
    {
        settings.blocks = blocks;
    }
    if let Some(schedule) = read_explained("INTERLOPER_STRATEGY", &variable)? {
        settings.schedule = schedule;
    }
    if let Some(memory) = read("INTERLOPER_MEMORY", &variable, "expected sc (sequentially consistent) or weak")? {
        settings.override_memory(memory);
    }
    Ok(())
}

/// Which parts of a program are blocks.
struct Parts(Blocks);

impl FromStr for Parts {
    type Err = ();

    fn from_str(text: &str) -> Result<Parts, ()> {
        match text {
            "marked" => Ok(Parts(Blocks::Marked)),
            "critical-sections" => Ok(Parts(Blocks::CriticalSections)),
            "inferred" => Ok(Parts(Blocks::Inferred)),
            _ => Err(()),
        }
    }
}

/// From 1 to [`MAX_JOBS`].
struct Jobs(NonZeroUsize);

impl FromStr for Jobs {
    type Err = ();

    fn from_str(text: &str) -> Result<Jobs, ()> {
        let jobs: Option<NonZeroUsize> = text.parse().ok();
        jobs.filter(|jobs| jobs.get() <= MAX_JOBS).map(Jobs).ok_or(())
    }
}

/// The value of a variable, whose error says what is wrong with it.
fn read_explained<T: FromStr<Err: std::fmt::Display>>(
    name: &'static str,
    variable: &impl Fn(&'static str) -> Option<String>,
) -> Result<Option<T>, BadVariable> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.parse() {
        Ok(parsed) => Ok(Some(parsed)),
        Err(error) => Err(BadVariable { name, reason: T::Err::to_string(&error), value }),
    }
}

fn read<T: FromStr>(
    name: &'static str,
    variable: &impl Fn(&'static str) -> Option<String>,
    expected: &str,
) -> Result<Option<T>, BadVariable> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.parse() {
        Ok(parsed) => Ok(Some(parsed)),
        Err(_) => Err(BadVariable { name, value, reason: expected.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use interloper_scheduler::{Freedom, Freedoms, Shard};

    use super::super::{Preempt, Schedule};
    use super::*;

    fn applied(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let variable = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        apply(&mut settings, variable).map(|()| settings).map_err(|error| error.to_string())
    }

    #[test]
    fn each_variable_changes_its_setting() {
        let settings = applied(&[
            ("INTERLOPER_SEED", "7"),
            ("INTERLOPER_EXECUTIONS", "12"),
            ("INTERLOPER_TIME_MS", "1500"),
            ("INTERLOPER_PATIENCE_MS", "250"),
            ("INTERLOPER_JOBS", "3"),
            ("INTERLOPER_STEPS", "99"),
            ("INTERLOPER_STRATEGY", "pos"),
            ("INTERLOPER_BLOCKS", "inferred"),
            ("INTERLOPER_FREEDOMS", "time"),
            ("INTERLOPER_SHARD", "2/4"),
            ("INTERLOPER_PREEMPT", "memory"),
        ]);
        let expected = Settings {
            seed: 7,
            executions: 12,
            time: Some(Duration::from_millis(1500)),
            patience: Some(Duration::from_millis(250)),
            jobs: 3.try_into().unwrap(),
            steps: StepBound::FailAfter(99),
            schedule: Schedule::Pos,
            blocks: Blocks::Inferred,
            shard: Shard::new(2, 4).unwrap(),
            freedoms: Some(Freedoms::NONE.with(Freedom::Time, 1)),
            preempt: Preempt::Memory,
            ..Settings::default()
        };
        assert_eq!(settings, Ok(expected));
        assert_eq!(applied(&[("OTHER", "x")]), Ok(Settings::default()));
        let patient = Settings { patience: None, ..Settings::default() };
        assert_eq!(applied(&[("INTERLOPER_PATIENCE_MS", "0")]), Ok(patient));
    }

    #[test]
    fn sequentially_consistent_memory_takes_the_freedom_away() {
        let freedoms = |memory| {
            let variables = [("INTERLOPER_FREEDOMS", "time+memory"), ("INTERLOPER_MEMORY", memory)];
            applied(&variables).unwrap().freedoms_in_force()
        };
        assert_eq!(freedoms("sc"), Freedoms::NONE.with(Freedom::Time, 1));
        assert_eq!(freedoms("weak").count(Freedom::Time), 1);
        assert!(freedoms("weak").count(Freedom::Memory) > 0);
    }

    #[test]
    fn a_bad_value_is_one_clear_error() {
        #[track_caller]
        fn check(name: &str, value: &str, reason: &str) {
            let expected = format!("the environment variable {name} is {value:?}: {reason}");
            assert_eq!(applied(&[(name, value)]), Err(expected));
        }
        let number = "expected a number from 0 to 18446744073709551615";
        let long = applied(&[("INTERLOPER_SEED", &"7".repeat(100_000))]).unwrap_err();
        assert!(long.contains("(99,500 characters left out)") && long.ends_with(number), "{long}");
        check("INTERLOPER_SEED", "0x7", number);
        check("INTERLOPER_EXECUTIONS", "", number);
        check("INTERLOPER_PREEMPT", "plain", "expected sync or memory (loads and stores, too)");
        check("INTERLOPER_STEPS", "-1", number);
        check("INTERLOPER_TIME_MS", "1s", number);
        check("INTERLOPER_PATIENCE_MS", "-1", number);
        for jobs in ["0", "1025", "100000", "18446744073709551616"] {
            check("INTERLOPER_JOBS", jobs, "expected a number from 1 to 1024");
        }
        check("INTERLOPER_BLOCKS", "all", "expected marked, critical-sections or inferred");
        let freedom = "\"sleep\" is not a freedom: the freedoms are none, all, time, wakeups, weak, hints, writers, memory, cancellation, io, delays and resets";
        check("INTERLOPER_FREEDOMS", "sleep", freedom);
        check(
            "INTERLOPER_STRATEGY",
            "pct:1001",
            "\"pct:1001\" is not a strategy: the depth is a number from 1 to 1000",
        );
        let shard = "a shard is written I/N, as in 2/4, with I from 1 to N and N from 1 to 65536";
        check("INTERLOPER_SHARD", "5/4", shard);
        check("INTERLOPER_SHARD", "", shard);
        check("INTERLOPER_STRATEGY", "pct:0", "\"pct:0\" is not a strategy: the depth is a number from 1 to 1000");
    }
}
