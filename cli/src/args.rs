//! The command line as typed, before anything is looked up.

mod judges;
mod objects;

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use interloper::Shard;
use interloper::blocks::{Freedoms, MAX_DEPTH, MAX_JOBS, Memory, Schedule};
use interloper_report::time;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::failure::Failure;

pub use judges::{CheckHistoryArgs, GenerateHistoryArgs, OutcomesArgs};
pub use objects::{EngineArg, HuntArgs, ObjectArgs};

/// The seed when none is given.
pub const DEFAULT_SEED: u64 = 42;

/// The largest bound. A search with a bound of ten does not end for any but the smallest methods.
const MAX_BOUND: u32 = 1_000;

/// Is this concurrent code atomic?
///
/// Without a command, checks the whole regression suite. Exit codes: 0 nothing unexpected; 1 an unexpected verdict, a
/// violation found by `hunt` or `visibility`, a history that is not linearizable, or a replay that diverged; 2 a wrong
/// request, or nothing was explored; 3 the tool is broken; 4 no verdict within the limits. The suite expects its violations:
/// `run` on a case that is known not to be atomic exits with 0 when it finds the violation. Standard output is the result:
/// the same bytes each time for the same seed, unless --time is given. Progress, timings and logs go to standard error.
#[derive(Debug, Parser)]
#[command(name = "interloper", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The suite: keep its verdicts and the progress of its searches in this folder, and continue what was begun there
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the cases and the programs with blocks of the regression suite
    List,
    /// Check the named cases and programs and report each violation, with a replay file
    Run(RunArgs),
    /// Show one case or program: its source, what is expected, and its smallest violating interleaving
    Show {
        /// The name of a case or a program, as `list` prints it
        name: String,
    },
    /// Print when the operations of an abstract data type do not commute, as in Figure 5 of the COLT paper
    Commutativity {
        /// The type: map, sorted-map, set, queue, …
        #[arg(value_name = "TYPE")]
        model: String,
        /// Only these operations, in this order
        #[arg(value_name = "OPERATION")]
        operations: Vec<String>,
    },
    /// Rerun a replay file: exit code 0 when the history is the same, 1 when it differs
    Replay {
        /// The replay file of a failing case or program
        file: PathBuf,
    },
    /// Write the page of a replay file, or of a trace as `run --trace` writes it: the execution step by step
    Explore {
        /// The replay file, or the trace
        file: PathBuf,
        /// Write the steps of the page as JSON Lines, too, one step per line
        #[arg(long, value_name = "FILE")]
        trace: Option<PathBuf>,
    },
    /// Join the results of all shards into the report that one machine would have printed
    Merge {
        /// What each shard printed
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Compare the naive, the nearest and the preceding adversary on every case with a violation
    Compare,
    /// List the outcomes that a small concurrent program may have over a reference type
    Outcomes(OutcomesArgs),
    /// Check whether a recorded history is linearizable: exit code 0 for yes, 1 for no, 4 for no verdict
    CheckHistory(CheckHistoryArgs),
    /// Generate a history for `check-history`, correct or corrupted, from a seed
    GenerateHistory(GenerateHistoryArgs),
    /// List the reference types and their methods
    Types {
        /// Only this type
        #[arg(value_name = "TYPE")]
        name: Option<String>,
    },
    /// List the concurrent objects of the study
    Objects,
    /// Search for a harness that shows that a method of a concurrent object is not atomic
    Hunt(HuntArgs),
    /// Derive how much each method of a concurrent object sees of the calls before it
    Visibility(ObjectArgs),
    /// Write tests for a concurrent object: outcomes of its atomic methods, violations of its other methods
    Generate {
        #[command(flatten)]
        object: ObjectArgs,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// A Rust expression for the object's description [default: the description of the study]
        #[arg(long, value_name = "EXPRESSION")]
        expression: Option<String>,
    },
}

/// What is checked, and the files that are written beside the result.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Names of cases and programs, as `list` prints them
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Write the violating execution of the one named case or program as JSON Lines, one step per line
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Keep the progress of each search in this folder, and continue what was begun there. Shards of one search tell each other there what they have found
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// How to search. Every option is remembered as given or not: a case has settings of its own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// The seed of every random choice [default: 42]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// The most environment operations in one execution [default: 3]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = bound)]
    pub bound: Option<NonZeroU32>,
    /// How the environment chooses its operations [default: preceding]
    #[arg(long, global = true, value_enum)]
    pub adversary: Option<AdversaryArg>,
    /// Which operations the environment has [default: open, and then the program's own to recognise modular cases]
    #[arg(long, global = true, value_enum)]
    pub environment: Option<EnvironmentArg>,
    /// Stop the search of a case, or of one schema of an object, after this many executions [default for an object and a
    /// random strategy: 1000]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = executions)]
    pub executions: Option<NonZeroU64>,
    /// Stop the search of a case after this time, in seconds, or as `30m` or `8h`; the result then depends on the machine
    #[arg(long, global = true, value_name = "TIME", allow_negative_numbers = true, value_parser = time::parse)]
    pub time: Option<Duration>,
    /// Programs with blocks and objects: random, atomfuzzer, atomfuzzer-mutex (pauses only at mutexes, as the paper prints
    /// it), pct, pctwm (for weak memory), pos, surw, urw, rff (learns which reads have seen which writes), preemptions,
    /// exhaustive. Several strategies joined with `+` take turns, more often where that shows something new; a parameter
    /// follows a colon, as in `atomfuzzer:0.9+pct:3` [default: portfolio, which is atomfuzzer+rff+pct+pos+surw+random; for
    /// objects exhaustive]
    #[arg(long, global = true, value_name = "STRATEGY")]
    pub strategy: Option<Schedule>,
    /// Programs with blocks and objects: the freedoms of an execution, which std leaves open: time (a sleep or a
    /// time-out ends early), wakeups (a wait ends although no thread woke the waiting thread), weak (a weak
    /// compare-exchange fails), hints (a spinning thread continues although nothing changed), writers (readers wait for
    /// a waiting writer), memory (as --memory weak), cancellation (a future is dropped at an await), io (a read or a write
    /// moves one byte of several), delays and resets (of the network, under `cargo interloper`). Write none, all (but memory,
    /// cancellation, delays and resets), or several joined with `+`; a colon and a number say how often, as in
    /// `time:2+wakeups` [default: all in every fourth execution of a random strategy, hints:2+writers:1 for strategies that
    /// try everything]
    #[arg(long, global = true, value_name = "FREEDOMS")]
    pub freedoms: Option<Freedoms>,
    /// Programs with blocks and objects: the memory of an execution, sc (sequentially consistent) or weak: an atomic access may
    /// see an older store, as far as C++20 allows it for its ordering [default: weak where the first run has an ordering weaker
    /// than SeqCst]
    #[arg(long, global = true, value_name = "MEMORY")]
    pub memory: Option<Memory>,
    /// Programs with blocks and objects: the probability with which atomfuzzer pauses a thread [default: 0.5]
    #[arg(long, global = true, value_name = "P", allow_negative_numbers = true, value_parser = probability)]
    pub q: Option<f64>,
    /// Programs with blocks and objects: the depth of pct [default: 3]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = depth)]
    pub depth: Option<NonZeroU32>,
    /// Programs with blocks: run each execution twice, and name the first difference
    #[arg(long, global = true)]
    pub check_determinism: bool,
    /// Programs with blocks: accept a program whose steps have only one order, so that nothing is explored
    #[arg(long, global = true)]
    pub allow_trivial: bool,
    /// How many cases to check at the same time; the result does not depend on it [default: the number of processors]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// The suite, `run`, `hunt`, `visibility` and `compare`: only this part of the work, `2/4` for the second of four. The result
    /// is a JSON document for `interloper merge`
    #[arg(long, global = true, value_name = "I/N")]
    pub shard: Option<Shard>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// How to print the result
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write each finding as a self-contained page: the first into this file, each further one beside it, as FILE-2.html. For
    /// commands that judge, and for `explore` [default for explore: the name of its file, ending in .html]
    #[arg(long, global = true, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// When to colour the text
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// How to show on standard error how the command gets on
    #[arg(long, global = true, value_enum, default_value_t = ProgressArg::Auto)]
    pub progress: ProgressArg,
    /// What to log on standard error: off, info, debug, or `target=level,…` [env: INTERLOPER_LOG]
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AdversaryArg {
    /// Operations that do not commute with the last or the next step
    Nearest,
    /// Operations that do not commute with some earlier step or with the next step
    Preceding,
    /// Random operations on random keys at random moments
    Naive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EnvironmentArg {
    /// Every operation of the collections
    Open,
    /// The operations that the case's program uses
    Restricted,
    /// Only the object's own methods, running concurrently
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables and reports
    Text,
    /// One JSON document with a version field
    Json,
    /// One self-contained page: `show` and `replay` only
    Html,
    /// JUnit XML, for commands that judge: the suite, `run`, `show`, `compare`, `merge`, `hunt`, `visibility`,
    /// `check-history`, `replay`
    Junit,
    /// A SARIF 2.1.0 log of the findings at their lines, for the same commands
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressArg {
    /// For people: a bar on a terminal, elsewhere a line now and then
    Auto,
    /// For programs: one JSON event in each line
    Json,
    /// Not at all
    Off,
}

/// What the arguments ask for: a run, or a text to print (help, version).
#[derive(Debug)]
pub enum Request {
    Run(Box<Cli>),
    Print(String),
}

/// Parses `arguments`, the program's name first.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, Failure> {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => Ok(Request::Run(Box::new(cli))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Request::Print(error.render().to_string()))
        }
        Err(error) => Err(Failure::Request(one_line(&error))),
    }
}

/// Clap's message without its usage paragraphs: what is wrong, and what was probably meant.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    let suggestions = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let meant = suggestions.into_iter().find_map(|kind| error.get(kind)).and_then(|value| match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    });
    match meant {
        Some(meant) => format!("{}: did you mean '{meant}'?", words.join(" ")),
        None => words.join(" "),
    }
}

impl OutputArgs {
    /// Refuses the forms of findings: the command judges nothing.
    pub fn judges_nothing(&self, command: &str) -> Result<(), Failure> {
        self.no_pages(command)?;
        self.only(command, &[Format::Text, Format::Json])
    }

    /// Refuses pages on standard output: there may be several.
    pub fn no_html(&self, command: &str) -> Result<(), Failure> {
        if self.format == Format::Html {
            return Err(Failure::Request(format!("'{command}' writes its pages with --html FILE")));
        }
        Ok(())
    }

    /// Refuses pages in any form: the command finds nothing that a page could show.
    fn no_pages(&self, command: &str) -> Result<(), Failure> {
        if self.html.is_some() || self.format == Format::Html {
            return Err(Failure::Request(format!("'{command}' has no findings, so there is no page to write")));
        }
        Ok(())
    }

    /// Refuses all forms but these.
    pub fn only(&self, command: &str, formats: &[Format]) -> Result<(), Failure> {
        if formats.contains(&self.format) {
            return Ok(());
        }
        let name = |format: &Format| format.to_possible_value().map(|value| value.get_name().to_owned());
        let formats: Vec<String> = formats.iter().filter_map(name).collect();
        let own = name(&self.format).unwrap_or_default();
        Err(Failure::Request(format!("'{command}' has no form '{own}', only {}", formats.join(", "))))
    }
}

impl SearchArgs {
    /// The seed, given or not.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The options that determine a result, as they are typed: the seed always, the others where given. Not the time,
    /// which makes a result depend on the machine, and not the jobs, on which no result depends.
    pub fn typed(&self) -> String {
        let name = |value: clap::builder::PossibleValue| value.get_name().to_owned();
        let options = [
            ("--seed", Some(self.seed().to_string())),
            ("--bound", self.bound.map(|bound| bound.to_string())),
            ("--adversary", self.adversary.and_then(|adversary| adversary.to_possible_value()).map(name)),
            ("--environment", self.environment.and_then(|environment| environment.to_possible_value()).map(name)),
            ("--executions", self.executions.map(|executions| executions.to_string())),
            ("--strategy", self.strategy.as_ref().map(Schedule::to_string)),
            ("--freedoms", self.freedoms.map(|freedoms| freedoms.to_string())),
            ("--memory", self.memory.map(|memory| memory.to_string())),
            ("--q", self.q.map(|q| q.to_string())),
            ("--depth", self.depth.map(|depth| depth.to_string())),
        ];
        let typed = options.into_iter().filter_map(|(option, value)| Some(format!("{option} {}", value?)));
        let flags = [("--check-determinism", self.check_determinism), ("--allow-trivial", self.allow_trivial)];
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned());
        typed.chain(flags).collect::<Vec<String>>().join(" ")
    }

    /// Refuses every search option that was given but the `allowed` ones: an option that would be ignored is a
    /// misunderstanding.
    pub fn only(&self, command: &str, allowed: &[&str]) -> Result<(), Failure> {
        match self.given().find(|option| !allowed.contains(option)) {
            Some(option) => Err(Failure::Request(format!("'{command}' does not use {option}"))),
            None => Ok(()),
        }
    }

    /// The options that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--seed", self.seed.is_some()),
            ("--bound", self.bound.is_some()),
            ("--adversary", self.adversary.is_some()),
            ("--environment", self.environment.is_some()),
            ("--executions", self.executions.is_some()),
            ("--time", self.time.is_some()),
            ("--strategy", self.strategy.is_some()),
            ("--freedoms", self.freedoms.is_some()),
            ("--memory", self.memory.is_some()),
            ("--q", self.q.is_some()),
            ("--depth", self.depth.is_some()),
            ("--check-determinism", self.check_determinism),
            ("--allow-trivial", self.allow_trivial),
            ("--jobs", self.jobs.is_some()),
            ("--shard", self.shard.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option)
    }
}

/// Options that concern cases alone.
pub const OF_CASES: [&str; 3] = ["--bound", "--adversary", "--environment"];
/// Options that concern programs with blocks alone.
pub const OF_PROGRAMS: [&str; 7] =
    ["--strategy", "--freedoms", "--memory", "--q", "--depth", "--check-determinism", "--allow-trivial"];

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

fn bound(text: &str) -> Result<NonZeroU32, String> {
    if text.parse() == Ok(0u32) {
        return Err("a bound of zero leaves nothing to search; it must be at least 1".to_owned());
    }
    let bound: Option<NonZeroU32> = text.parse().ok();
    let small = bound.filter(|bound| bound.get() <= MAX_BOUND);
    small.ok_or_else(|| format!("a bound is a whole number from 1 to {MAX_BOUND}"))
}

fn executions(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| format!("the number of executions is a whole number from 1 to {}", u64::MAX))
}

fn programs(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| format!("the number of programs is a whole number from 1 to {}", u64::MAX))
}

fn probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|q| (0.0..=1.0).contains(q));
    probability.ok_or_else(|| "a probability is a number from 0 to 1".to_owned())
}

fn depth(text: &str) -> Result<NonZeroU32, String> {
    let depth: Option<NonZeroU32> = text.parse().ok();
    let small = depth.filter(|depth| depth.get() <= MAX_DEPTH);
    small.ok_or_else(|| format!("a depth is a whole number from 1 to {MAX_DEPTH}"))
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs: Option<NonZeroUsize> = text.parse().ok();
    jobs.filter(|jobs| jobs.get() <= MAX_JOBS)
        .ok_or_else(|| format!("the number of jobs is a whole number from 1 to {MAX_JOBS}"))
}

#[cfg(test)]
mod tests;
