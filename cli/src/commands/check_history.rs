//! `interloper check-history`: is this recorded history linearizable?

mod page;
mod reading;
mod witness;

use std::fs::{self, Metadata};
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use interloper_linearize::general::{self, Bound, Progress as Searching, Verdict};
use interloper_linearize::recording::{Checked, Checker, Search};
use interloper_linearize::types::DataType;
use interloper_report::junit::Outcome;
use interloper_report::{Column, Counterexample, Event, Lane, Row, explorer, file};
use serde::Serialize;
use serde_json::Value as Json;

use super::types::type_named;
use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{CheckHistoryArgs, Format, OutputArgs, SearchArgs};
use crate::failure::{Failure, Finding};
use crate::files::{can_write, write_page};
use crate::history_file::Recorded;
use crate::progress::Progress;
use crate::services;
use crate::values::to_json;
use witness::Witness;

/// How long a history is read and searched without an option.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many attempts the search makes before the clock is looked at: some milliseconds.
const SLICE: u64 = 20_000;

#[derive(Serialize)]
struct Document {
    version: u32,
    #[serde(rename = "type")]
    data_type: &'static str,
    verdict: &'static str,
    /// Why there is no verdict: what was used up, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'static str>,
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
    output.no_html("check-history")?;
    let data_type = type_named(&arguments.data_type)?;
    if let Some(page) = &output.html {
        refuse_input(&arguments.file, page)?;
        // Whether the page can be written is known before the search.
        can_write(page)?;
    }
    let patience = search.time.unwrap_or(PATIENCE);
    let start = Instant::now();
    let name = arguments.file.display().to_string();
    let progress = Progress::for_programs("history");
    let (recorded, is_whole) = reading::read(&arguments.file, data_type, start, patience)?;
    let checked = judge(&recorded, data_type, || is_whole && start.elapsed() < patience)?;
    let judged = Judged { data_type, recorded: &recorded, is_whole, checked: &checked, start, patience };
    if let Some(progress) = progress {
        if let Some(found) = judged.for_services(&arguments.file).counterexample {
            progress.found(&name, false, &found);
        }
        progress.done(&name);
        progress.finish();
    }
    if let Some(page) = &output.html {
        write_page(&explorer::page::render(&judged.page()), page)?;
    }
    let for_services = match services::are_asked(output.format) {
        true => vec![judged.for_services(&arguments.file)],
        false => Vec::new(),
    };
    services::annotate(&for_services);
    let text = match output.format {
        Format::Json => json(&judged.document()),
        Format::Junit | Format::Sarif => services::document(output.format, for_services),
        Format::Text | Format::Html => judged.text(),
    };
    Ok(Answer::new(text, judged.finding()))
}

/// The verdict, if there is one while `go_on` says so.
fn judge(recorded: &Recorded, data_type: &DataType, go_on: impl Fn() -> bool) -> Result<Checked, Failure> {
    let unread = || Checked { verdict: Verdict::Unknown(Bound::Attempts), checker: Checker::General, parts: 1 };
    if !go_on() {
        return Ok(unread());
    }
    let mut search = Search::new(data_type, &recorded.recording).map_err(|(call, reason)| {
        Failure::Internal(format!("call {call} was accepted on reading and is refused now: {reason}"))
    })?;
    loop {
        match search.advance(SLICE) {
            Searching::Done(checked) => return Ok(checked),
            Searching::Going if !go_on() => return Ok(search.conclude()),
            Searching::Going => {}
        }
    }
}

/// Refuses to write the page over the history.
fn refuse_input(history: &Path, page: &Path) -> Result<(), Failure> {
    let same = match history == Path::new("-") {
        true => fs::metadata(page).is_ok_and(|page| is_standard_input(&page)),
        false => file::same(history, page),
    };
    match same {
        true => Err(Failure::Request(format!("cannot write {}: it is the input history", page.display()))),
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
    data_type: &'static DataType,
    recorded: &'j Recorded,
    /// Whether all of the history was read.
    is_whole: bool,
    checked: &'j Checked,
    start: Instant,
    /// How long reading, judging and showing it may take from then on.
    patience: Duration,
}

impl Judged<'_> {
    fn is_out_of_time(&self) -> bool {
        self.start.elapsed() >= self.patience
    }

    fn finding(&self) -> Finding {
        match self.checked.verdict {
            Verdict::Linearizable { .. } => Finding::Expected,
            Verdict::NotLinearizable(_) => Finding::Unexpected,
            Verdict::Unknown(_) => Finding::Unknown,
        }
    }

    fn word(&self) -> &'static str {
        match self.checked.verdict {
            Verdict::Linearizable { .. } => "linearizable",
            Verdict::NotLinearizable(_) => "not linearizable",
            Verdict::Unknown(_) => "unknown",
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
        format!("{}, {calls} of {processes}{pending}", self.data_type.name)
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
            Checker::Both => {
                format!("judged by a search; without a search in parts where no value is inserted twice{parts}")
            }
        }
    }

    fn text(&self) -> String {
        let (mark, after) = match &self.checked.verdict {
            Verdict::Linearizable { .. } => ("✓", String::new()),
            Verdict::NotLinearizable(found) => ("✗", format!("\n{}", Witness::new(self, found).text())),
            Verdict::Unknown(bound) => ("?", format!("\n{}\n", self.no_verdict(*bound))),
        };
        let method = if self.is_whole { format!("  {}\n", self.method()) } else { String::new() };
        format!("{mark} {}: {}\n{method}{after}", self.word(), self.summary())
    }

    /// What services read of the history in this file.
    fn for_services(&self, file: &Path) -> services::Judged {
        let result = match &self.checked.verdict {
            Verdict::Linearizable { .. } => Outcome::Passed,
            Verdict::NotLinearizable(found) => Outcome::Failed {
                message: Witness::new(self, found).claim(&witness::Shortener::default()),
                report: self.text(),
            },
            Verdict::Unknown(bound) => Outcome::Unjudged { reason: self.no_verdict(*bound) },
        };
        let name = file.display().to_string();
        let counterexample = match &self.checked.verdict {
            Verdict::NotLinearizable(found) => Some(self.counterexample(file, &Witness::new(self, found))),
            Verdict::Linearizable { .. } | Verdict::Unknown(_) => None,
        };
        services::Judged { suite: "histories", name, result, output: self.summary(), counterexample }
    }

    /// The call that cannot be placed, at its lines of the file. Standard input has no lines that a service could show.
    fn counterexample(&self, file: &Path, witness: &Witness<'_>) -> Counterexample {
        let is_file = file != Path::new("-");
        let row = |(line, what): (usize, String)| Row {
            location: is_file.then(|| format!("{}:{line}:1", file.display())),
            notes: vec![format!("▲ {}", witness.claim(&witness::Shortener::default()))],
            ..Row::event(0, Event::Operation(what))
        };
        Counterexample {
            name: file.display().to_string(),
            verdict: self.word().to_owned(),
            detail: self.summary(),
            start: String::new(),
            columns: vec![Column { title: witness.process(), lane: Lane::Thread }],
            rows: witness.lines().into_iter().map(row).collect(),
            orders: Vec::new(),
            deadlock: None,
            replay: None,
        }
    }

    /// Why there is no verdict.
    fn no_verdict(&self, bound: Bound) -> String {
        match bound {
            Bound::Attempts if self.is_whole => {
                format!("No verdict within {}; --time sets the limit.", self.limit())
            }
            Bound::Attempts => {
                format!("No verdict within {}, all spent on reading the history; --time sets the limit.", self.limit())
            }
            Bound::Memory => format!(
                "No verdict: the search needs more than {} MiB of memory. Record a shorter history, or one in \
                 which fewer calls overlap.",
                general::Search::MEMORY >> 20
            ),
        }
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
            Verdict::Unknown(_) => (None, None),
        };
        let unknown = match self.checked.verdict {
            Verdict::Unknown(Bound::Memory) => Some("memory"),
            Verdict::Unknown(Bound::Attempts) if self.is_whole => Some("time"),
            Verdict::Unknown(Bound::Attempts) => Some("time, while the history was read"),
            Verdict::Linearizable { .. } | Verdict::NotLinearizable(_) => None,
        };
        Document {
            version: JSON_VERSION,
            data_type: self.data_type.name,
            verdict: self.word(),
            unknown,
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
