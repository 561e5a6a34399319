//! The options of the commands that search the types and functions of a workspace.

use std::path::PathBuf;

use clap::Args;
use interloper::Shard;
use interloper::blocks::Memory;
use interloper_report::time;

use super::{Common, Rendering};
use crate::progress::ProgressArg;

/// What `composed` is asked.
#[derive(Debug, Args)]
pub struct ComposedArgs {
    #[command(flatten)]
    pub common: Common,
    /// Only this package
    #[arg(short, long, value_name = "NAME")]
    pub package: Vec<String>,
    /// Read tests, benchmarks and examples too
    #[arg(long)]
    pub tests: bool,
    /// Run each operation that can be run, against an adversary
    ///
    /// Builds the project with tests in its stand-in in the target directory, and runs each operation on its real collections,
    /// each call one turn. The driver knows `DashMap`, `SegQueue`, `ArrayQueue` and `SkipMap` as they were published; other operations are listed with what they need. Exit code 1 if
    /// an operation is not linearizable.
    #[arg(long)]
    pub run: bool,
    /// With --run: only single methods
    ///
    /// Without this option, the methods of each type with a composed method are run two at once, too, the smallest schema first. What
    /// they do one after the other is their specification.
    #[arg(long, requires = "run")]
    pub no_pairs: bool,
    /// The most operations of the environment in one execution
    #[arg(long, value_name = "N", requires = "run", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub bound: u32,
    /// The longest time for one operation, in seconds; a search that takes longer is unfinished
    #[arg(long, value_name = "SECONDS", requires = "run", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub time: u64,
    /// Try no atomic forms of the operations that are not atomic
    ///
    /// Without this, a form that fits the text is compiled in one more build and run against the same adversary. It is printed as a patch
    /// if it is linearizable, and does what the operation does when it runs alone.
    #[arg(long, requires = "run")]
    pub no_fixes: bool,
    /// Write the page of each violation: the first into this file, each further one beside it, as FILE-2.html
    #[arg(long, value_name = "FILE", requires = "run")]
    pub html: Option<PathBuf>,
    /// Write each operation that was judged into this folder of its package, as a test that expects the verdict
    ///
    /// A test uses private parts of the file with its operation, so the folder gets a module for each such file, and the end of
    /// the file gets the line that names the module. `cargo interloper test --instrument COLLECTION` runs the tests. A module
    /// that is there already is not written again.
    #[arg(long, value_name = "FOLDER", requires = "run", conflicts_with = "shard")]
    pub write: Option<PathBuf>,
    /// Only this part of the work, `2/4` for the second of four. The result is a JSON document for `cargo interloper merge`
    #[arg(long, value_name = "I/N", requires = "run")]
    pub shard: Option<Shard>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Rendering::Text)]
    pub format: Rendering,
    /// With --run: how to show on standard error how the command gets on
    #[arg(long, value_enum, requires = "run", default_value_t = ProgressArg::Auto)]
    pub progress: ProgressArg,
    /// Only operations whose names contain this
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// What `hunt` is asked.
#[derive(Debug, Args)]
pub struct HuntArgs {
    #[command(flatten)]
    pub common: Common,
    /// Only this package
    #[arg(short, long, value_name = "NAME", conflicts_with = "published")]
    pub package: Vec<String>,
    /// A published crate, as name or name@version
    #[arg(long = "crate", id = "published", value_name = "CRATE", conflicts_with_all = ["manifest_path", "instrument"])]
    pub published: Option<String>,
    /// Only this method
    #[arg(long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Only this schema, such as '{ push(1) } || { len() }', in all its interleavings
    #[arg(long, value_name = "SCHEMA", conflicts_with = "method")]
    pub schema: Option<String>,
    /// Determines the schemas and the schedules
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub seed: u64,
    /// The most schemas of a method [default: 200, and more while their executions are few or short]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub schemas: Option<u64>,
    /// The longest time for a method, in seconds, or as `30m` or `8h`
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub time: Option<u64>,
    /// The memory of executions, sc (sequentially consistent) or weak. Without it: weak where orderings are weaker than SeqCst
    #[arg(long, value_name = "MEMORY")]
    pub memory: Option<Memory>,
    /// Write the page of each violation: the first into this file, each further one beside it, as FILE-2.html
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub html: Option<PathBuf>,
    /// Only this part of the work, `2/4` for the second of four. The result is a JSON document for `cargo interloper merge`
    #[arg(long, value_name = "I/N", conflicts_with_all = ["schema", "time"])]
    pub shard: Option<Shard>,
    /// Keep the progress of the hunt in this folder, and continue what was begun there
    #[arg(long, value_name = "DIR", conflicts_with = "schema")]
    pub state: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Rendering::Text)]
    pub format: Rendering,
    /// How to show on standard error how the command gets on
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto)]
    pub progress: ProgressArg,
    /// Only objects whose names contain this
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// How what was found before is shown.
#[derive(Debug, Args)]
pub struct Shown {
    /// Write the page of what was found into this file. Of several findings, each further one goes beside it, as FILE-2.html
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Rendering::Text)]
    pub format: Rendering,
    /// How to show on standard error how the command gets on
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto)]
    pub progress: ProgressArg,
}

/// A time in whole seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let time = time::parse(text)?;
    if time.subsec_nanos() == 0 {
        Ok(time.as_secs())
    } else {
        Err("a time is a whole number of seconds here".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(["90", "90s", "30m", "8h"].map(seconds), [Ok(90), Ok(90), Ok(1800), Ok(28800)]);
        for wrong in ["0", "1.5", "1d"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
