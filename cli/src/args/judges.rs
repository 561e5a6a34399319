//! The arguments of the commands that judge without a run: outcomes and recorded histories.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

/// What `outcomes` is asked.
#[derive(Debug, Args)]
pub struct OutcomesArgs {
    /// The type: map, sorted-map, set, queue, …; `types` lists them with their methods
    #[arg(value_name = "TYPE")]
    pub data_type: String,
    /// The schema, such as `{ put(1,0); contains(0) } || { put(0,0); put(1,1) }`, or `[size()], [put(0,0)], {1<0}`, in
    /// which sequence 1 happens before sequence 0
    pub schema: String,
    /// What methods see: weak, basic, monotonic, peer, causal or complete, and linPrefix or linMonotonic. Join several with
    /// `+`; parentheses limit one to some methods, as in `isEmpty=basic(get|put)+linPrefix` [default: complete]
    #[arg(long, value_name = "METHOD=LEVEL,…")]
    pub visibility: Option<String>,
    /// Show every linearization with its visibilities and its outcome
    #[arg(long)]
    pub explain: bool,
    /// Give up after this many configurations, outcomes, or rows for --explain [default: 1000000, and 4000000 outcomes]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = limit)]
    pub limit: Option<NonZeroUsize>,
}

/// What `check-history` is asked.
#[derive(Debug, Args)]
pub struct CheckHistoryArgs {
    /// The type of the object; `types` lists the types with their methods
    #[arg(long = "type", value_name = "TYPE")]
    pub data_type: String,
    /// The history in JSON Lines, or `-` for standard input. A line is one of
    /// `{"process":0,"type":"invoke","call":"cas","args":[1,2]}`, `{"process":0,"type":"return","value":true}`,
    /// `{"process":0,"type":"unknown"}` (the call may have happened), `{"process":0,"type":"fail"}` (it did not)
    pub file: PathBuf,
}

/// What `generate-history` is asked.
#[derive(Debug, Args)]
pub struct GenerateHistoryArgs {
    /// The type of the object: register, counter, kv, map, set, queue, stack, priority-queue
    #[arg(long = "type", value_name = "TYPE")]
    pub data_type: String,
    /// The number of calls
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub calls: u32,
    /// The number of processes that call at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: u32,
    /// The number of keys of a kv or a map, or of values of a register [default for a register: all values differ]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keys: Option<u32>,
    /// How many of a thousand calls never return
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub pending: u32,
    /// Swap the results of two calls
    #[arg(long)]
    pub corrupt: bool,
}

/// A bound on what is explored to know what is right.
pub(super) fn limit(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a limit is a whole number of at least 1".to_owned())
}
