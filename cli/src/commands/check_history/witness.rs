//! Why a history is not linearizable, in words.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write;

use interloper_commutativity::Value;
use interloper_linearize::general;
use interloper_report::shorten::middle;
use interloper_report::table::{Align, Table};

use super::Judged;
use crate::values::shown;

/// How many calls at the end of a linearization are printed.
const SHOWN: usize = 20;

/// A cell of a table shows at most this many characters of a value, and how many are left out.
const CELL: usize = 60;

/// A refuted history with the argument for it.
pub struct Witness<'w> {
    judged: &'w Judged<'w>,
    found: &'w general::Witness,
}

/// A call of a linearization. Its texts are short enough for a cell.
pub struct Step {
    /// Its index in the recording.
    pub call: usize,
    pub process: i64,
    pub invocation: String,
    pub result: String,
    /// The state that it leaves; empty where that is too much work to know.
    pub state: String,
}

/// The end of a linearization.
pub struct Steps {
    /// Its last calls.
    pub steps: Vec<Step>,
    /// The state that it leaves; `None` if computing it is too much work.
    pub end: Option<Value>,
    /// Whether the time was up before the states were known.
    pub out_of_time: bool,
}

/// Said where [`Steps::out_of_time`].
pub const OUT_OF_TIME: &str = "The time ran out before the states were known; --time sets the limit.";

/// Shortens texts, and knows whether there was one to shorten.
#[derive(Default)]
pub struct Shortener {
    has_shortened: Cell<bool>,
}

impl Shortener {
    /// As much of a text as a cell holds: its beginning and its end.
    pub fn text(&self, text: &str) -> String {
        let short = middle(text, CELL);
        self.has_shortened.set(self.has_shortened.get() || matches!(short, Cow::Owned(_)));
        short.into_owned()
    }

    /// Where all of the texts is, if there was a long one.
    pub fn note(&self) -> Option<&'static str> {
        self.has_shortened.get().then_some("Long values are shortened; the history has them in full at these lines.")
    }
}

impl<'w> Witness<'w> {
    pub fn new(judged: &'w Judged<'w>, found: &'w general::Witness) -> Self {
        Witness { judged, found }
    }

    pub fn text(&self) -> String {
        let short = Shortener::default();
        let order = self.found.longest.first().map_or(&[][..], Vec::as_slice);
        let mut text = self.claim(&short);
        text.push('\n');
        let Steps { steps, end, out_of_time } = Steps::last(self.judged, order, SHOWN, &short);
        match order.len() {
            0 if self.is_first() => text.push_str("\nNo call comes before it.\n"),
            0 => text.push_str("\nNo call before its return can be placed either.\n"),
            all => {
                let what =
                    if self.found.longest.len() == 1 { "The longest linearization" } else { "A longest linearization" };
                let tail = if all > SHOWN { format!("; its last {SHOWN} are") } else { ":".to_owned() };
                writeln!(text, "\n{what} before its return has {all} call{}{tail}\n", if all == 1 { "" } else { "s" })
                    .expect("writing to a string");
            }
        }
        if !steps.is_empty() {
            let left = ["line", "process", "call", "result", "state"].map(|heading| (heading, Align::Left));
            let mut table = Table::new(left);
            for step in steps {
                let line = self.judged.recorded.lines[step.call].invoked.to_string();
                table.row([line, step.process.to_string(), step.invocation, step.result, step.state]);
            }
            write!(text, "{table}").expect("writing to a string");
        }
        let would = self.would(end, &short);
        let out_of_time = out_of_time.then(|| OUT_OF_TIME.to_owned());
        for line in would.into_iter().chain(out_of_time).chain(short.note().map(str::to_owned)) {
            writeln!(text, "\n{line}").expect("writing to a string");
        }
        text
    }

    /// What is wrong, in one sentence.
    pub fn claim(&self, short: &Shortener) -> String {
        let Some(stuck) = self.found.stuck else {
            return "No sequential order of the calls explains their results.".to_owned();
        };
        let (call, lines) = (&self.judged.recorded.recording.calls[stuck], self.judged.recorded.lines[stuck]);
        let result = call.result.as_ref().map_or("nothing".to_owned(), shown);
        let place = match lines.returned {
            Some(returned) => format!("lines {} to {returned}", lines.invoked),
            None => format!("line {}", lines.invoked),
        };
        let (invocation, result) = (short.text(&call.invocation.to_string()), short.text(&result));
        format!("{invocation} of process {} cannot have returned {result} ({place}).", call.process)
    }

    /// Who made the call that cannot be placed.
    pub fn process(&self) -> String {
        let process = self.found.stuck.map(|stuck| self.judged.recorded.recording.calls[stuck].process);
        process.map_or_else(|| "history".to_owned(), |process| format!("process {process}"))
    }

    /// The lines of the call that cannot be placed, each with what it says; the first line if the whole history has no order.
    pub fn lines(&self) -> Vec<(usize, String)> {
        let short = Shortener::default();
        let Some(stuck) = self.found.stuck else { return vec![(1, "begins".to_owned())] };
        let (call, lines) = (&self.judged.recorded.recording.calls[stuck], self.judged.recorded.lines[stuck]);
        let invoked = (lines.invoked, format!("invokes {}", short.text(&call.invocation.to_string())));
        let result = call.result.as_ref().map_or("nothing".to_owned(), shown);
        let returned = lines.returned.map(|line| (line, format!("returns {}", short.text(&result))));
        [invoked].into_iter().chain(returned).collect()
    }

    /// Whether the call that cannot be placed is the first and overlaps no other call.
    fn is_first(&self) -> bool {
        let calls = self.judged.recorded.recording.history.calls();
        let Some(returned) = self.found.stuck.and_then(|stuck| calls[stuck].returned) else { return false };
        calls.iter().filter(|call| call.invoked < returned).count() == 1
    }

    /// What the call that cannot be placed would return where the linearization ends.
    fn would(&self, end: Option<Value>, short: &Shortener) -> Option<String> {
        let mut end = end?;
        let call = &self.judged.recorded.recording.calls[self.found.stuck?].invocation;
        let result = self.judged.data_type.apply(&mut end, &call.method, &call.arguments);
        let when =
            if self.found.longest.first().is_none_or(Vec::is_empty) { "At the start" } else { "After these calls" };
        Some(format!("{when}, {} would return {}.", short.text(&call.to_string()), short.text(&shown(&result))))
    }
}

impl Steps {
    /// The last `most` calls of an order with the states that they leave, as far as there is time for them.
    pub fn last(judged: &Judged<'_>, order: &[usize], most: usize, short: &Shortener) -> Steps {
        let mut state = Some(judged.data_type.initial());
        let (mut work, mut out_of_time) = (0, false);
        let mut steps = Vec::new();
        for (index, &call) in order.iter().enumerate() {
            let recorded = &judged.recorded.recording.calls[call];
            let invocation = &recorded.invocation;
            state = state.filter(|state| {
                work += 1 + state.len();
                out_of_time = judged.is_out_of_time();
                work <= WORK && !out_of_time
            });
            if let Some(state) = &mut state {
                judged.data_type.apply(state, &invocation.method, &invocation.arguments);
            }
            if index + most >= order.len() {
                steps.push(Step {
                    call,
                    process: recorded.process,
                    invocation: short.text(&invocation.to_string()),
                    result: recorded.result.as_ref().map_or("pending".to_owned(), |result| short.text(&shown(result))),
                    state: state.as_ref().map_or(String::new(), |state| short.text(&shown(state))),
                });
            }
        }
        Steps { steps, end: state, out_of_time }
    }
}

/// How many elements of states may be read, so that showing a long history of a large collection takes no longer than
/// judging it.
const WORK: usize = 20_000_000;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use interloper_linearize::general::Verdict;
    use interloper_linearize::types::DataType;

    use super::super::judge;
    use super::super::type_named;
    use super::*;
    use crate::history_file::Reader;

    #[test]
    fn long_texts_are_shortened() {
        let short = Shortener::default();
        assert_eq!((short.text(&"é".repeat(60)), short.note()), ("é".repeat(60), None));
        let half = "é".repeat(30);
        assert_eq!(short.text(&"é".repeat(61)), format!("{half}… (1 character left out) …{half}"));
        assert_eq!((short.text("é").as_str(), short.note().is_some()), ("é", true));
    }

    /// A stack onto which `value` is pushed three times, and which gives something else back.
    fn with_witness(value: &str, patience: Duration, look: impl FnOnce(&Judged<'_>, &general::Witness)) {
        let push = format!("{{\"process\":0,\"type\":\"invoke\",\"call\":\"push\",\"args\":[\"{value}\"]}}\n");
        let pushed = format!("{push}{{\"process\":0,\"type\":\"return\",\"value\":null}}\n").repeat(3);
        let popped = "{\"process\":0,\"type\":\"invoke\",\"call\":\"pop\"}\n{\"type\":\"return\",\"value\":\"other\"}";
        let data_type: &'static DataType = type_named("stack").expect("a type");
        let mut reader = Reader::new(data_type);
        reader.read(format!("{pushed}{popped}").as_bytes()).expect("events");
        let recorded = reader.finish().expect("events");
        let checked = judge(&recorded, data_type, || true).expect("calls of the type");
        let Verdict::NotLinearizable(found) = &checked.verdict else { panic!("nobody has pushed it") };
        let judged = Judged {
            data_type,
            recorded: &recorded,
            is_whole: true,
            checked: &checked,
            start: Instant::now(),
            patience,
        };
        look(&judged, found);
    }

    #[test]
    fn states_are_shown_while_there_is_time() {
        with_witness("a", Duration::from_secs(3600), |judged, found| {
            let text = Witness::new(judged, found).text();
            assert!(
                text.contains("[\"a\", \"a\", \"a\"]\n")
                    && text.contains("After these calls, pop() would return \"a\"."),
                "{text}"
            );
            assert!(!text.contains(OUT_OF_TIME), "{text}");
            let page = judged.page();
            assert_eq!(page.linearization[2].state, "[\"a\", \"a\", \"a\"]");
            assert!(!page.notes.iter().any(|note| note == OUT_OF_TIME));
        });
        with_witness("a", Duration::ZERO, |judged, found| {
            let text = Witness::new(judged, found).text();
            assert!(text.contains("pop() of process 0 cannot have returned \"other\" (lines 7 to 8)."), "{text}");
            assert!(
                text.contains("push(\"a\")") && !text.contains("[\"a\"") && !text.contains("would return"),
                "{text}"
            );
            assert!(text.ends_with(&format!("\n\n{OUT_OF_TIME}\n")), "{text}");
            let page = judged.page();
            assert_eq!((page.linearization.len(), page.linearization[2].state.as_str()), (3, ""));
            assert!(page.notes.iter().any(|note| note == OUT_OF_TIME));
        });
    }

    #[test]
    fn values_that_differ_at_their_ends_are_told_apart() {
        let check = |value: &str, expected: &[&str], is_noted: bool| {
            with_witness(value, Duration::from_secs(3600), |judged, found| {
                // Without the escapes of the JSON text.
                let page = judged.page().to_json().replace("\\\"", "\"");
                let text = Witness::new(judged, found).text();
                for report in [&text, &page] {
                    assert!(report.len() < 10_000, "{} characters", report.len());
                    assert_eq!(report.contains("Long values are shortened"), is_noted, "{report}");
                }
                assert!(expected.iter().all(|expected| text.contains(expected) && page.contains(expected)), "{text}");
            });
        };
        check(&format!("{}end", "x".repeat(1 << 20)), &["characters left out) …", "xend"], true);
        check("short", &["push("], false);
    }
}
