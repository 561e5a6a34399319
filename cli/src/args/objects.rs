//! The options of the commands about concurrent objects.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which concurrent object, and how its harnesses are run.
#[derive(Debug, Args)]
pub struct ObjectArgs {
    /// The name of the object, as `objects` lists it
    #[arg(value_name = "OBJECT")]
    pub name: String,
    /// Only this method; write `remove/1` to tell methods of one name apart by their number of arguments
    #[arg(long, value_name = "M")]
    pub method: Option<String>,
    /// The engine that runs each harness [default: systematic for instrumented objects, stress for others]
    #[arg(long, value_enum)]
    pub engine: Option<EngineArg>,
    /// The most harnesses to try for each method
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::programs)]
    pub programs: Option<NonZeroU64>,
    /// Skip a harness whose correct outcomes take more than this many configurations to compute [default: 1000000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::judges::limit)]
    pub limit: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// Real threads: the findings depend on the machine
    Stress,
    /// Every interleaving, under the scheduler: for objects written over the mirror of std
    Systematic,
}

/// What `hunt` is asked.
#[derive(Debug, Args)]
pub struct HuntArgs {
    #[command(flatten)]
    pub object: ObjectArgs,
    /// Only this schema: `{ put(1,0); size() } || { remove(1) }`
    #[arg(long, conflicts_with_all = ["programs", "method"])]
    pub schema: Option<String>,
    /// Keep the progress of the search in this folder, and continue what was begun there
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

impl ObjectArgs {
    /// What determines a result, as it is typed after a command.
    pub fn typed(&self) -> Vec<String> {
        let engine = self.engine.and_then(|engine| engine.to_possible_value());
        let options = [
            ("--method", self.method.clone()),
            ("--engine", engine.map(|value| value.get_name().to_owned())),
            ("--programs", self.programs.map(|programs| programs.to_string())),
            ("--limit", self.limit.map(|limit| limit.to_string())),
        ];
        let options = options.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
        std::iter::once(self.name.clone()).chain(options.flatten()).collect()
    }
}
