//! `interloper check-history`: is this recorded history linearizable?

mod page;
mod witness;

use std::fs::{self, Metadata};
use std::io::{self, Read};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use interloper_linearize::general::{Budget, Verdict};
use interloper_linearize::recording::{Checked, Checker, check};
use interloper_linearize::types::DataType;
use interloper_report::file;
use serde::Serialize;
use serde_json::Value as Json;

use super::types::type_named;
use super::{Answer, JSON_VERSION, json};
use crate::args::{CheckHistoryArgs, Format, OutputArgs, SearchArgs};
use crate::failure::{Failure, Finding};
use crate::history_file::{self, Recorded};
use crate::replay_file::{can_write, write_page};
use crate::values::to_json;
use witness::Witness;

/// How long is searched when nothing is said.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Serialize)]
struct Document {
    version: u32,
    #[serde(rename = "type")]
    data_type: &'static str,
    verdict: &'static str,
    calls: usize,
    pending: usize,
    processes: usize,
    /// How many independent parts, entries of a map for example, were judged apart.
    parts: usize,
    checker: &'static str,
    /// The calls in an order that explains the history, each as the line of its invocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    linearization: Option<Vec<usize>>,
    /// The call that cannot be placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    stuck: Option<Stuck>,
    /// The longest linearizations of what comes before its return, each call as the line of its invocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    longest: Option<Vec<Vec<usize>>>,
}

#[derive(Serialize)]
struct Stuck {
    /// Where it was invoked and where it returned.
    lines: [usize; 2],
    process: i64,
    call: String,
    args: Vec<Json>,
    value: Json,
}

/// The verdict on a file.
pub fn run(arguments: &CheckHistoryArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("check-history", &["--time"])?;
    if output.format == Format::Html {
        return Err(Failure::Request("'check-history' writes its page with --html FILE".to_owned()));
    }
    let data_type = type_named(&arguments.data_type)?;
    if let Some(page) = &arguments.html {
        refuse_input(&arguments.file, page)?;
        // Whether the page can be written is known before the search.
        can_write(page)?;
    }
    let bytes = read(&arguments.file)?;
    let name = arguments.file.display();
    let recorded = history_file::read(&bytes, data_type)
        .map_err(|malformed| Failure::Request(format!("{name}, line {}: {}", malformed.line, malformed.reason)))?;
    drop(bytes);
    let patience = search.time.unwrap_or(PATIENCE);
    let start = Instant::now();
    let go_on = || start.elapsed() < patience;
    let checked = check(data_type, &recorded.recording, Budget::While(&go_on)).map_err(|(call, reason)| {
        Failure::Internal(format!("call {call} was accepted when it was read, and now: {reason}"))
    })?;
    let judged = Judged { data_type, recorded: &recorded, checked: &checked, patience };
    if let Some(page) = &arguments.html {
        write_page(&judged.page().page(), page)?;
    }
    let text = match output.format {
        Format::Json => json(&judged.document()),
        _ => judged.text(),
    };
    Ok(Answer::new(text, judged.finding()))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let refuse = |error: io::Error| Failure::Request(format!("cannot read {}: {error}", path.display()));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(refuse)?;
        return Ok(bytes);
    }
    fs::read(path).map_err(refuse)
}

/// Refuses to write the page over the history.
fn refuse_input(history: &Path, page: &Path) -> Result<(), Failure> {
    let same = match history == Path::new("-") {
        true => fs::metadata(page).is_ok_and(|page| is_standard_input(&page)),
        false => file::same(history, page),
    };
    match same {
        true => Err(Failure::Request(format!("cannot write {}: it is the history that is read", page.display()))),
        false => Ok(()),
    }
}

/// Whether what is read from standard input comes from this file.
#[cfg(unix)]
fn is_standard_input(page: &Metadata) -> bool {
    let input = io::stdin().as_fd().try_clone_to_owned().and_then(|input| fs::File::from(input).metadata());
    input.is_ok_and(|input| input.is_file() && file::is_same(&input, page) == Some(true))
}

/// Whether what is read from standard input comes from this file: not known here.
#[cfg(not(unix))]
fn is_standard_input(_: &Metadata) -> bool {
    false
}

/// A history with its verdict.
struct Judged<'j> {
    data_type: &'static dyn DataType,
    recorded: &'j Recorded,
    checked: &'j Checked,
    patience: Duration,
}

impl Judged<'_> {
    fn finding(&self) -> Finding {
        match self.checked.verdict {
            Verdict::Linearizable { .. } => Finding::Expected,
            Verdict::NotLinearizable(_) => Finding::Unexpected,
            Verdict::Unknown => Finding::Unknown,
        }
    }

    fn word(&self) -> &'static str {
        match self.checked.verdict {
            Verdict::Linearizable { .. } => "linearizable",
            Verdict::NotLinearizable(_) => "not linearizable",
            Verdict::Unknown => "unknown",
        }
    }

    fn pending(&self) -> usize {
        self.recorded.recording.calls.iter().filter(|call| call.result.is_none()).count()
    }

    fn processes(&self) -> Vec<i64> {
        let mut processes: Vec<i64> = self.recorded.recording.calls.iter().map(|call| call.process).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }

    /// What the history is: its type and how large it is.
    fn summary(&self) -> String {
        let count = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let calls = count(self.recorded.recording.calls.len(), "call", "calls");
        let processes = count(self.processes().len(), "process", "processes");
        let pending = match self.pending() {
            0 => String::new(),
            pending => format!(", {pending} pending"),
        };
        format!("{}, {calls} of {processes}{pending}", self.data_type.name())
    }

    /// How the verdict was found.
    fn method(&self) -> String {
        let parts = match self.checked.parts {
            1 => String::new(),
            parts => format!(", in {parts} independent parts"),
        };
        match self.checked.checker {
            Checker::Distinct => format!("judged without a search, since no value is inserted twice{parts}"),
            Checker::General => format!("judged by a search{parts}"),
            Checker::Both => format!("judged by a search, or without one where no value is inserted twice{parts}"),
        }
    }

    fn text(&self) -> String {
        let (mark, after) = match &self.checked.verdict {
            Verdict::Linearizable { .. } => ("✓", String::new()),
            Verdict::NotLinearizable(found) => ("✗", format!("\n{}", Witness::new(self, found).text())),
            Verdict::Unknown => ("?", format!("\nThere is no verdict within {}; --time sets it.\n", self.limit())),
        };
        format!("{mark} {}: {}\n  {}\n{after}", self.word(), self.summary(), self.method())
    }

    fn limit(&self) -> String {
        let seconds = self.patience.as_secs_f64();
        format!("{seconds} second{}", if seconds == 1.0 { "" } else { "s" })
    }

    fn document(&self) -> Document {
        let lines = |order: &Vec<usize>| -> Vec<usize> {
            order.iter().map(|&call| self.recorded.lines[call].invoked).collect()
        };
        let (linearization, found) = match &self.checked.verdict {
            Verdict::Linearizable { order } => (Some(lines(order)), None),
            Verdict::NotLinearizable(found) => (None, Some(found)),
            Verdict::Unknown => (None, None),
        };
        Document {
            version: JSON_VERSION,
            data_type: self.data_type.name(),
            verdict: self.word(),
            calls: self.recorded.recording.calls.len(),
            pending: self.pending(),
            processes: self.processes().len(),
            parts: self.checked.parts,
            checker: match self.checked.checker {
                Checker::Distinct => "distinct values",
                Checker::General => "search",
                Checker::Both => "distinct values and search",
            },
            linearization,
            stuck: found.and_then(|found| found.stuck).map(|stuck| self.stuck(stuck)),
            longest: found.map(|found| found.longest.iter().map(lines).collect()),
        }
    }

    fn stuck(&self, stuck: usize) -> Stuck {
        let (call, lines) = (&self.recorded.recording.calls[stuck], self.recorded.lines[stuck]);
        Stuck {
            lines: [lines.invoked, lines.returned.unwrap_or(lines.invoked)],
            process: call.process,
            call: call.invocation.method.to_string(),
            args: call.invocation.arguments.iter().map(to_json).collect(),
            value: call.result.as_ref().map_or(Json::Null, to_json),
        }
    }
}
