//! The command line as typed.

mod checks;
mod searches;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use interloper::Shard;
use interloper_adopt::{Options, Races};

use crate::progress::ProgressArg;
pub use checks::Checks;
pub use searches::{ComposedArgs, HuntArgs, Shown};

/// The features of the crate interloper that a project can turn on.
const FEATURES: [&str; 5] = ["composed", "objects", "pages", "parking_lot", "full"];

/// Crates under control, without editing them
///
/// Builds the project and chosen dependencies on Interloper's mirror of std, so that each `#[interloper::test]` and
/// each exploration sees their steps. The chosen crates are copied into the target directory. The command changes neither
/// your files nor cargo's cache, and ordinary builds stay as they are.
///
/// Exit codes: 0 nothing unexpected; 1 a test or the program failed, or something was found; 2 the request was wrong, the project does not build, or
/// nothing was explored of a named crate or a marked block; 3 the tool is broken.
#[derive(Debug, Parser)]
#[command(name = "cargo interloper", bin_name = "cargo interloper", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the tests of the project under control
    ///
    /// Sets the cfg `interloper`. Runs unit tests, tests of binaries and integration tests, unless you choose targets. Never
    /// runs documentation tests.
    Test {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        checks: Checks,
        #[command(flatten)]
        tests: Tests,
        /// Only tests whose names contain this
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Arguments for the tests
        #[arg(last = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Say what each memory ordering is for: weaken one at a time, and run the tests that reach it
    ///
    /// Builds once, and runs the tests under weak memory. Then each atomic operation and fence with an ordering stronger than
    /// Relaxed is weakened by one level, at run time. If a test fails, the finding is what the ordering prevents. If all pass,
    /// the ordering is stronger than these tests can justify, or they are too weak. If a test fails to begin with, stronger
    /// orderings are tried instead, to see which one removes its finding.
    ///
    /// Only checks count: `#[interloper::test]` and `Checker`.
    Orderings {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        build: Build,
        #[command(flatten)]
        targets: Targets,
        /// Only the orderings in these crates, which must be your own or under control [default: your own crates, or those
        /// chosen with --package]
        #[arg(long, value_name = "CRATES", value_delimiter = ',')]
        sites: Vec<String>,
        /// The longest time for one run of a test, in seconds [default: ten times as long as with the orderings of the source,
        /// but at least 60]
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
        time: Option<u64>,
        /// Write the page of each finding: the first into this file, each further one beside it, as FILE-2.html
        #[arg(long, value_name = "FILE", conflicts_with = "shard")]
        html: Option<PathBuf>,
        /// Only this part of the orderings, `2/4` for the second of four. The result is a JSON document for `cargo interloper merge`
        #[arg(long, value_name = "I/N")]
        shard: Option<Shard>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Rendering::Text)]
        format: Rendering,
        /// How to show on standard error how the command gets on
        #[arg(long, value_enum, default_value_t = ProgressArg::Auto)]
        progress: ProgressArg,
        /// Only tests whose names contain this
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Arguments for the tests
        #[arg(last = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Find composed operations: functions, methods and closures that make several calls on the same collection
    ///
    /// Reads the sources of the workspace and compiles nothing. Lists each function, method and closure that makes two or more
    /// calls on one concurrent collection, or on several of one owner, on one path: where it is, the calls, the pattern that
    /// they look like, and whether it can be run as it is. Names what could not be read.
    ///
    /// `[package.metadata.interloper.composed]` and `[workspace.metadata.interloper.composed]` add collections
    /// (`collections = { "ShardedMap" = "map" }`; or "queue", "atomic", "once", "swap", "lock") and constructors
    /// (`constructors = { "Cache" = "Cache::with_capacity(8)" }`).
    Composed(ComposedArgs),
    /// Hunt concurrent objects: for each method, a small program with an outcome that no sequential order explains
    ///
    /// Hunts the objects that the workspace describes with `#[interloper::object]`. Builds each crate with a test for each object
    /// in its stand-in in the target directory; your files stay as they are. With `--crate`, hunts a published crate whose types
    /// are described already; that needs no project.
    ///
    /// Every schema runs 200 times under the random walk and PCT, or in all its interleavings where these are few. What is left
    /// runs 1,000 times under the search that reads-from pairs guide, and then in all interleavings while that pays. A program
    /// with hashers runs with up to eight seeds of them, which place the keys differently.
    ///
    /// The search of a method trusts core methods. Each core method is searched itself, among the others.
    ///
    /// Exit code 1 if a violation is found.
    Hunt(HuntArgs),
    /// Join the results of all shards of `hunt`, `composed --run` or `orderings` into the report that one machine would have printed
    ///
    /// Runs in the project that was split, or anywhere for a published crate: findings are run again, so that they can be shown.
    Merge {
        /// What each shard printed
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        shown: Shown,
    },
    /// Run a recorded execution of `hunt` or `composed --run` again
    ///
    /// Builds what was built when it was found, and compares the history with the recorded one. Runs in the project, or anywhere for
    /// a published crate. `INTERLOPER_REPLAY=FILE` before `cargo interloper hunt` or `cargo interloper composed --run` does the same
    /// with what is typed there.
    ///
    /// Exit code 1 if the history differs.
    Replay {
        /// The replay file, as in `interloper-failures/`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        shown: Shown,
    },
    /// Run a binary or example of the project, built like the tests
    Run {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        build: Build,
        /// Arguments for the program
        #[arg(last = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Say which dependencies need control, which do not, and which cannot have it, each with the reason
    Plan {
        #[command(flatten)]
        common: Common,
        /// Give each package a line, also where nothing is to be done
        #[arg(long)]
        all: bool,
        /// How to print it
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Write into your project what it needs to come under control, and show the difference
    ///
    /// Puts the line at the root of each library, binary and integration test, adds interloper to the dev-dependencies, and
    /// declares the cfg `interloper` to the compiler. What the project has already stays as it is.
    Init {
        /// Take out what `init` puts in
        #[arg(long)]
        undo: bool,
        /// Show the difference and write nothing
        #[arg(long)]
        dry_run: bool,
        /// The folder of the crate interloper [default: the checkout that this command was built from]
        #[arg(long, value_name = "FOLDER", conflicts_with = "undo")]
        path: Option<PathBuf>,
        /// Turn these features of interloper on: composed (operations that are composed of calls of collections), objects
        /// (concurrent objects), pages (of failures; on by default), parking_lot (its mirror), full (all of them)
        #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = FEATURES, hide_possible_values = true, conflicts_with = "undo")]
        features: Vec<String>,
        /// Path to the manifest of the project
        #[arg(long, value_name = "PATH")]
        manifest_path: Option<PathBuf>,
        /// Only this package [default: the package of the manifest, or the default members of the workspace]
        #[arg(short, long, value_name = "NAME")]
        package: Vec<String>,
    },
    /// Remove the copies and everything built from them
    Clean {
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON document with a version field
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rendering {
    /// A table, with a line below for each result
    Text,
    /// One JSON document with a version field
    Json,
    /// JUnit XML, for services: `composed` has it with --run
    Junit,
    /// A SARIF 2.1.0 log, for the pages of code hosts
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If all crates that synchronise are under control: what others order would look like a race
    Auto,
    /// In any case
    On,
    /// In no case
    Off,
}

impl When {
    /// `--races` as it was typed, after a space, unless it is the default.
    pub fn option(self) -> Option<String> {
        let word = self.to_possible_value().filter(|_| self != When::Auto)?;
        Some(format!(" --races {}", word.get_name()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// Where they synchronise
    Sync,
    /// At loads and stores of plain memory, too
    Memory,
}

impl Where {
    /// `--preempt` as it was typed, after a space, unless it is the default.
    pub fn option(self) -> Option<String> {
        let word = self.to_possible_value().filter(|_| self != Where::Sync)?;
        Some(format!(" --preempt {}", word.get_name()))
    }
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Dependencies to put under control, together with the crates below them that synchronise: names, `name@version`,
    /// or `all` [default: the list `instrument` in `[package.metadata.interloper]`]
    #[arg(long, value_name = "CRATES", value_delimiter = ',')]
    pub instrument: Option<Vec<String>>,
    /// Crates to put under control as they are, although interloper has a mirror that takes fewer steps: parking_lot
    /// [default: the list `real` in `[package.metadata.interloper]`]
    #[arg(long, value_name = "CRATES", value_delimiter = ',')]
    pub real: Vec<String>,
    /// Whether executions are judged for data races
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub races: When,
    /// Where threads can be preempted. With `memory`, a race that loses an update is seen by its outcome, too
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = Where::Sync)]
    pub preempt: Where,
    /// Path to the manifest of the project
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub manifest_path: Option<PathBuf>,
    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES", help_heading = "Project")]
    pub features: Vec<String>,
    /// Turn all features on
    #[arg(long, help_heading = "Project")]
    pub all_features: bool,
    /// Turn the default features off
    #[arg(long, help_heading = "Project")]
    pub no_default_features: bool,
    /// The platform to build for
    #[arg(long, value_name = "TRIPLE", help_heading = "Project")]
    pub target: Option<String>,
    /// Fail when the lock file would change
    #[arg(long, help_heading = "Project")]
    pub locked: bool,
    /// Do not use the network
    #[arg(long, help_heading = "Project")]
    pub offline: bool,
    /// Same as --locked and --offline
    #[arg(long, help_heading = "Project")]
    pub frozen: bool,
    /// A setting of cargo
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Project")]
    pub config: Vec<OsString>,
}

/// What to build.
#[derive(Debug, Args)]
#[command(next_help_heading = "Build")]
pub struct Build {
    /// Only this package
    #[arg(short, long, value_name = "SPEC")]
    pub package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    pub workspace: bool,
    /// All packages of the workspace except this one
    #[arg(long, value_name = "SPEC")]
    pub exclude: Vec<String>,
    /// Only this binary
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,
    /// Only this example
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,
    /// Build with optimisations
    #[arg(short, long)]
    pub release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// How many jobs to run at the same time
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<String>,
    /// Print less
    #[arg(short, long)]
    pub quiet: bool,
    /// Print more
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// Which crates to test.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tests")]
pub struct Targets {
    /// Only the unit tests of the library
    #[arg(long)]
    pub lib: bool,
    /// Only the tests of all binaries
    #[arg(long)]
    pub bins: bool,
    /// Only this integration test
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,
}

/// What to test.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tests")]
pub struct Tests {
    #[command(flatten)]
    pub targets: Targets,
    /// Build without running
    #[arg(long)]
    pub no_run: bool,
    /// List the tests, and run none
    #[arg(long, conflicts_with = "no_run")]
    pub list: bool,
    /// How to print the results, or the list, which has no JUnit XML and no SARIF log. All but text run each test in a
    /// process of its own, and no tests of the documentation
    #[arg(long, value_enum, default_value_t = Rendering::Text, conflicts_with = "no_run")]
    pub format: Rendering,
    /// How to show on standard error how the command gets on. Events need a format other than text, in which
    /// the harness of the tests speaks
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto, conflicts_with = "no_run")]
    pub progress: ProgressArg,
    /// Go on with the next crate after a failure
    #[arg(long)]
    pub no_fail_fast: bool,
    /// Accept that a named crate made no step in any check
    #[arg(long)]
    pub allow_trivial: bool,
    /// Check every `#[test]`, also those of other macros such as `#[tokio::test]`, in up to 200 executions and
    /// about 10 seconds each, unless other options say more. The project needs nothing of Interloper for this
    #[arg(long)]
    pub every_test: bool,
}

/// What the arguments ask for.
#[derive(Debug)]
pub enum Request {
    Run(Box<Cli>),
    /// Help, or the version.
    Print(String),
    /// What is wrong with them.
    Refuse(String),
}

/// Parses `arguments`: the program's name, `interloper` if cargo has started it, and what follows.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Request {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| first == "interloper") {
        arguments.remove(1);
    }
    match Cli::try_parse_from(arguments) {
        Ok(cli) => Request::Run(Box::new(cli)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Request::Print(error.render().to_string())
        }
        Err(error) => Request::Refuse(error.render().to_string()),
    }
}

impl Common {
    /// As the library takes them, with the options of the build.
    pub fn options(&self, build: impl IntoIterator<Item = OsString>) -> Options {
        let mut features = Vec::new();
        let given = self.features.iter().flat_map(|list| ["--features".into(), OsString::from(list)]);
        features.extend(given);
        features.extend(flag("--all-features", self.all_features));
        features.extend(flag("--no-default-features", self.no_default_features));
        let mut settings = Vec::new();
        settings.extend(self.config.iter().flat_map(|value| ["--config".into(), value.clone()]));
        settings.extend(flag("--offline", self.offline || self.frozen));
        Options {
            manifest: self.manifest_path.clone(),
            features,
            target: self.target.clone(),
            settings,
            locked: self.locked || self.frozen,
            real: self.real.clone(),
            races: match self.races {
                When::Auto => Races::Auto,
                When::On => Races::On,
                When::Off => Races::Off,
            },
            preempts: self.preempt == Where::Memory,
            build: build.into_iter().collect(),
            again: String::new(),
            checks: Vec::new(),
            harness: None,
        }
    }

    /// The command that tests what these options say, as it is typed: what a failing test prints. How much cargo says and how many
    /// jobs it has makes no difference to a replay.
    pub fn again(&self, build: &Build, checks: &Checks, tests: &Tests) -> String {
        let options = self.options([]);
        let mut typed: Vec<OsString> = vec!["cargo".into(), "interloper".into(), "test".into()];
        let list = |name: &str, list: &[String]| (!list.is_empty()).then(|| [name.into(), list.join(",").into()]);
        typed.extend(list("--instrument", self.instrument.as_deref().unwrap_or_default()).into_iter().flatten());
        typed.extend(list("--real", &self.real).into_iter().flatten());
        let races = match self.races {
            When::Auto => None,
            When::On => Some("on"),
            When::Off => Some("off"),
        };
        typed.extend(races.into_iter().flat_map(|when| [OsString::from("--races"), when.into()]));
        typed.extend(
            (self.preempt == Where::Memory).then(|| ["--preempt".into(), "memory".into()]).into_iter().flatten(),
        );
        typed.extend(checks.typed());
        typed.extend(options.manifest.iter().flat_map(|path| ["--manifest-path".into(), path.into()]));
        typed.extend(options.features);
        typed.extend(options.target.iter().flat_map(|triple| ["--target".into(), triple.into()]));
        typed.extend(options.settings.into_iter().filter(|setting| setting != "--offline"));
        typed.extend(build.chosen().into_iter().chain(tests.targets.chosen()));
        typed.extend(flag("--every-test", tests.every_test));
        let quoted = |word: OsString| {
            let word = word.to_string_lossy().into_owned();
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./,=@:+".contains(char);
            if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
        };
        typed.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
    }
}

impl Command {
    /// How progress is shown.
    pub fn progress(&self) -> ProgressArg {
        match self {
            Command::Test { tests, .. } => tests.progress,
            Command::Orderings { progress, .. } => *progress,
            Command::Merge { shown, .. } | Command::Replay { shown, .. } => shown.progress,
            Command::Composed(args) => args.progress,
            Command::Hunt(args) => args.progress,
            _ => ProgressArg::Auto,
        }
    }
}

impl Build {
    /// What is built, and in which profile.
    fn chosen(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        options.extend(valued("--package", &self.package));
        options.extend(flag("--workspace", self.workspace));
        options.extend(valued("--exclude", &self.exclude));
        options.extend(valued("--bin", &self.bin));
        options.extend(valued("--example", &self.example));
        options.extend(flag("--release", self.release));
        options.extend(valued("--profile", &self.profile));
        options
    }

    /// As cargo takes them.
    pub fn options(&self) -> impl Iterator<Item = OsString> + use<> {
        let mut options = self.chosen();
        options.extend(valued("--jobs", &self.jobs));
        options.extend(flag("--quiet", self.quiet));
        options.extend((0..self.verbose).map(|_| OsString::from("--verbose")));
        options.into_iter()
    }

    fn chooses_targets(&self) -> bool {
        !self.bin.is_empty() || !self.example.is_empty()
    }
}

impl Targets {
    /// Whether some of the tests are chosen.
    pub fn selects(&self) -> bool {
        self.lib || self.bins || !self.test.is_empty()
    }

    fn chosen(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        options.extend(flag("--lib", self.lib));
        options.extend(flag("--bins", self.bins));
        options.extend(valued("--test", &self.test));
        options
    }

    /// As cargo takes them.
    pub fn options(&self, build: &Build) -> impl Iterator<Item = OsString> + use<> {
        let mut options = self.chosen();
        // Not the documentation tests.
        let chosen = self.selects() || build.chooses_targets();
        options.extend(flag("--tests", !chosen));
        options.into_iter()
    }
}

impl Tests {
    /// As cargo takes them.
    pub fn options(&self, build: &Build) -> impl Iterator<Item = OsString> + use<> {
        self.targets.options(build).chain(flag("--no-fail-fast", self.no_fail_fast))
    }
}

fn flag(name: &str, given: bool) -> Option<OsString> {
    given.then(|| name.into())
}

fn valued<'a>(name: &'static str, values: impl IntoIterator<Item = &'a String>) -> Vec<OsString> {
    values.into_iter().flat_map(|value| [OsString::from(name), OsString::from(value)]).collect()
}

#[cfg(test)]
mod tests;
