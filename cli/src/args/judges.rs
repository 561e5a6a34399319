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
    /// The program, as `{ put(1,0); contains(0) } || { put(0,0); put(1,1) }`, or as `[size()], [put(0,0)], {1<0}` where
    /// sequence 1 happens before sequence 0
    pub schema: String,
    /// What methods see: weak, basic, monotonic, peer, causal or complete, and linPrefix or linMonotonic; several joined
    /// with `+`, each perhaps about some methods only, as in `isEmpty=basic(get|put)+linPrefix` [default: complete]
    #[arg(long, value_name = "METHOD=LEVEL,…")]
    pub visibility: Option<String>,
    /// Show every linearization with every visibility and the outcome
    #[arg(long)]
    pub explain: bool,
    /// Give up beyond this many configurations, outcomes, or rows to try for --explain [default: 1000000, and 4000000
    /// outcomes]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = limit)]
    pub limit: Option<NonZeroUsize>,
}

/// What `check-history` is asked.
#[derive(Debug, Args)]
pub struct CheckHistoryArgs {
    /// The type that was called; `types` lists them with their methods
    #[arg(long = "type", value_name = "TYPE")]
    pub data_type: String,
    /// The history in JSON Lines, `-` for standard input. A line is one of
    /// `{"process":0,"type":"invoke","call":"cas","args":[1,2]}`, `{"process":0,"type":"return","value":true}`,
    /// `{"process":0,"type":"unknown"}` (it may have happened), `{"process":0,"type":"fail"}` (it did not)
    pub file: PathBuf,
    /// Write a page with a row for each process, the linearization points and the call that cannot be placed
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// What `generate-history` is asked.
#[derive(Debug, Args)]
pub struct GenerateHistoryArgs {
    /// The type that is called: register, counter, kv, map, set, queue, stack, priority-queue
    #[arg(long = "type", value_name = "TYPE")]
    pub data_type: String,
    /// How many calls
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub calls: u32,
    /// How many processes call at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: u32,
    /// How many keys a kv or a map has, or values a register; a register without has values that are all different
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keys: Option<u32>,
    /// Of a thousand calls, how many never return
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub pending: u32,
    /// Exchange the results of two calls
    #[arg(long)]
    pub corrupt: bool,
}

/// A bound on what is explored to know what is right.
pub(super) fn limit(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a limit is a whole number of at least 1".to_owned())
}
