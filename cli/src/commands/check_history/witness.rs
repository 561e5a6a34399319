//! Why a history is not linearizable, in words.

use std::fmt::Write;

use interloper_commutativity::Value;
use interloper_linearize::general;
use interloper_report::table::{Align, Table};

use super::Judged;
use crate::values::shown;

/// How many calls at the end of a linearization are printed.
const SHOWN: usize = 20;

/// How long a cell of the table may be.
const CELL: usize = 60;

/// A refuted history with the argument for it.
pub struct Witness<'w> {
    judged: &'w Judged<'w>,
    found: &'w general::Witness,
}

/// A call of a linearization.
pub struct Step {
    /// Its index in the recording.
    pub call: usize,
    pub process: i64,
    pub invocation: String,
    pub result: String,
    /// The state that it leaves; empty where that is too much work to know.
    pub state: String,
}

impl<'w> Witness<'w> {
    pub fn new(judged: &'w Judged<'w>, found: &'w general::Witness) -> Self {
        Witness { judged, found }
    }

    pub fn text(&self) -> String {
        let order = self.found.longest.first().map_or(&[][..], Vec::as_slice);
        let mut text = self.claim();
        text.push('\n');
        let (steps, end) = steps(self.judged, order, SHOWN);
        match order.len() {
            0 if self.is_first() => text.push_str("\nNothing comes before it.\n"),
            0 => text.push_str("\nNothing that comes before can be placed either.\n"),
            all => {
                let what =
                    if self.found.longest.len() == 1 { "The longest linearization" } else { "A longest linearization" };
                let tail = if all > SHOWN { format!("; its last {SHOWN} are") } else { ":".to_owned() };
                writeln!(
                    text,
                    "\n{what} of what comes before has {all} call{}{tail}\n",
                    if all == 1 { "" } else { "s" }
                )
                .expect("writing to a string");
            }
        }
        if !steps.is_empty() {
            let left = ["line", "process", "call", "result", "state"].map(|heading| (heading, Align::Left));
            let mut table = Table::new(left);
            for step in steps {
                let line = self.judged.recorded.lines[step.call].invoked.to_string();
                let cells = [line, step.process.to_string(), step.invocation, step.result, step.state];
                table.row(cells.map(|cell| shortened(&cell)));
            }
            write!(text, "{table}").expect("writing to a string");
        }
        if let Some(would) = self.would(end) {
            writeln!(text, "\n{would}").expect("writing to a string");
        }
        text
    }

    /// What is wrong, in one sentence.
    pub fn claim(&self) -> String {
        let Some(stuck) = self.found.stuck else { return "No order of the calls explains their results.".to_owned() };
        let (call, lines) = (&self.judged.recorded.recording.calls[stuck], self.judged.recorded.lines[stuck]);
        let result = call.result.as_ref().map_or("nothing".to_owned(), shown);
        let place = match lines.returned {
            Some(returned) => format!("lines {} to {returned}", lines.invoked),
            None => format!("line {}", lines.invoked),
        };
        let invocation = shortened(&call.invocation.to_string());
        format!("{invocation} of process {} cannot have returned {} ({place}).", call.process, shortened(&result))
    }

    /// Whether the call that cannot be placed overlaps no other call, and none comes before it.
    fn is_first(&self) -> bool {
        let calls = self.judged.recorded.recording.history.calls();
        let Some(returned) = self.found.stuck.and_then(|stuck| calls[stuck].returned) else { return false };
        calls.iter().filter(|call| call.invoked < returned).count() == 1
    }

    /// What the call that cannot be placed would return where the linearization ends.
    fn would(&self, end: Option<Value>) -> Option<String> {
        let mut end = end?;
        let call = &self.judged.recorded.recording.calls[self.found.stuck?].invocation;
        let result = self.judged.data_type.apply(&mut end, &call.method, &call.arguments);
        Some(format!("There {} would return {}.", shortened(&call.to_string()), shortened(&shown(&result))))
    }
}

/// The last `most` calls of an order with the states that they leave, and the state at the end if it is known.
pub fn steps(judged: &Judged<'_>, order: &[usize], most: usize) -> (Vec<Step>, Option<Value>) {
    let mut state = Some(judged.data_type.initial());
    let mut work = 0;
    let mut steps = Vec::new();
    for (index, &call) in order.iter().enumerate() {
        let recorded = &judged.recorded.recording.calls[call];
        let invocation = &recorded.invocation;
        state = state.filter(|state| {
            work += 1 + state.len();
            work <= WORK
        });
        if let Some(state) = &mut state {
            judged.data_type.apply(state, &invocation.method, &invocation.arguments);
        }
        if index + most >= order.len() {
            steps.push(Step {
                call,
                process: recorded.process,
                invocation: invocation.to_string(),
                result: recorded.result.as_ref().map_or("pending".to_owned(), shown),
                state: state.as_ref().map_or(String::new(), shown),
            });
        }
    }
    (steps, state)
}

/// How many elements of states are gone through, so that a long history of a large collection takes no longer to show
/// than to judge.
const WORK: usize = 20_000_000;

/// As much of a text as a cell holds.
pub fn shortened(text: &str) -> String {
    if text.chars().count() <= CELL {
        return text.to_owned();
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shortened(&"é".repeat(61)), format!("{}…", "é".repeat(59)));
    }
}
