//! What the parts of a search that tries everything have shown, as data: so the parts can be joined.
//!
//! Of schedules with few preemptions each part runs some, and what all parts run counts in the first one: the joined counts are sums.
//! What follows is about an exhaustive search.
//!
//! Each part searches some subtrees below the first choices. A trace may begin in several of them, so parts show some traces more than
//! once, and a search as a whole shows each trace once. Joined, each trace counts once. That gives what the whole search gives as long
//! as memory is sequentially consistent, nothing was found, nothing was cut, and no subtree repeats a trace. Otherwise the search is
//! run again as a whole: what it finds first depends on the order of its executions, and under weak memory so do its traces.

use std::collections::{BTreeMap, BTreeSet};

use interloper_scheduler::strategies::Ended;
use interloper_scheduler::{Fingerprint, Traces};
use serde::{Deserialize, Serialize};

use super::misuse::Misuse;
use super::progress::Part;
use super::settings::Settings;
use super::worker::{Summary, Worker};

/// What some parts of an exhaustive search have shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subtrees {
    /// The traces, in their order.
    traces: Vec<Shown>,
    /// What else each part has shown.
    rest: Vec<Part>,
    /// Only the whole search says what the parts amount to.
    open: bool,
}

/// The execution of a trace. A document has it as a short text, since a part of a large search has many: the fingerprint, the steps and a
/// digit for each judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Shown {
    /// The fingerprint.
    trace: u64,
    steps: u64,
    /// Whether it violated a block, was stopped at the step bound, and could not be judged.
    judged: [bool; 3],
}

impl From<Shown> for String {
    fn from(Shown { trace, steps, judged }: Shown) -> String {
        let [violated, given_up, undecided] = judged.map(u8::from);
        format!("{trace:016x} {steps} {violated}{given_up}{undecided}")
    }
}

impl TryFrom<String> for Shown {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Shown, &'static str> {
        let parsed = || {
            let (trace, rest) = text.split_once(' ')?;
            let (steps, judged) = rest.split_once(' ')?;
            let digit = |digit: u8| matches!(digit, b'0' | b'1').then_some(digit == b'1');
            let &[violated, given_up, undecided] = judged.as_bytes() else { return None };
            let judged = [digit(violated)?, digit(given_up)?, digit(undecided)?];
            Some(Shown { trace: u64::from_str_radix(trace, 16).ok()?, steps: steps.parse().ok()?, judged })
        };
        // Each execution has one text.
        parsed().filter(|shown| String::from(*shown) == text).ok_or("not an execution of a trace")
    }
}

#[cfg(test)]
impl Subtrees {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn traces(&self) -> usize {
        self.traces.len()
    }
}

impl Subtrees {
    /// Whether no execution counts here.
    pub(super) fn is_empty(&self) -> bool {
        !self.open && self.traces.is_empty() && self.rest.iter().all(|part| part.executions() == 0)
    }

    /// What other parts of the search have shown, too.
    #[must_use]
    pub(super) fn and(self, other: Subtrees) -> Subtrees {
        let all: BTreeMap<u64, Shown> =
            self.traces.into_iter().chain(other.traces).map(|shown| (shown.trace, shown)).collect();
        Subtrees {
            traces: all.into_values().collect(),
            rest: self.rest.into_iter().chain(other.rest).collect(),
            open: self.open || other.open,
        }
    }

    /// What the search as a whole has shown. `None` if only the whole search says.
    ///
    /// # Errors
    /// Never, as long as the parts have found nothing.
    pub(super) fn summary(&self, worker: &mut Worker<'_>, settings: &Settings) -> Result<Option<Summary>, Misuse> {
        if self.open {
            return Ok(None);
        }
        let mut rest = Summary::default();
        for part in &self.rest {
            rest = rest.and(part.summary(worker, settings)?);
        }
        let with = |which: usize| self.traces.iter().filter(|shown| shown.judged[which]).count() as u64;
        rest.traces.merge(&Traces::of(self.traces.iter().map(|shown| (Fingerprint(shown.trace), 1)), false));
        let whole = Summary {
            executions: self.traces.len() as u64 + rest.executions,
            steps: self.traces.iter().map(|shown| shown.steps).sum::<u64>() + rest.steps,
            violated: with(0) + rest.violated,
            given_up: with(1) + rest.given_up,
            undecided: with(2) + rest.undecided,
            exhausted: true,
            ..rest
        };
        // One process would have come to its limit before it knew that it was at the end.
        Ok(Some(whole).filter(|whole| whole.executions < settings.executions))
    }
}

/// Collects what one part shows.
#[derive(Default)]
pub(super) struct Subtree {
    traces: BTreeMap<u64, Shown>,
    /// The search is exhaustive: each trace counts once.
    is_of_traces: bool,
    /// The subtree of the last execution, and its traces.
    last: Option<u64>,
    here: BTreeSet<u64>,
    repeats: bool,
}

impl Subtree {
    /// One execution ended so, and showed this.
    pub(super) fn add(&mut self, ended: Ended, summary: &Summary) {
        self.is_of_traces = true;
        let subtree = match ended {
            Ended::Explored { subtree } => subtree,
            Ended::Elsewhere => return,
            Ended::Repeats => {
                self.repeats = true;
                return;
            }
        };
        let Some((Fingerprint(trace), _)) = summary.traces.kept().next() else { return };
        if self.last.replace(subtree) != Some(subtree) {
            self.here.clear();
        }
        self.repeats |= !self.here.insert(trace);
        let judged = [summary.violated, summary.given_up, summary.undecided].map(|count| count > 0);
        let shown = Shown { trace, steps: summary.steps, judged };
        let known = *self.traces.entry(trace).or_insert(shown);
        self.repeats |= known != shown;
    }

    /// Whether only the search as a whole says what the executions so far amount to.
    pub(super) fn is_open(&self, summary: &Summary) -> bool {
        let found = summary.bug.is_some() || summary.error.is_some() || summary.misuse.is_some();
        found || self.repeats || summary.cut.is_some() || !summary.warnings.is_empty() || !summary.inferred.is_empty()
    }

    /// All of the part, of which this is the summary.
    pub(super) fn end(self, summary: &Summary) -> Subtrees {
        let open = self.is_open(summary) || !summary.exhausted || summary.timed_out || summary.stale.is_some();
        let rest = match self.is_of_traces {
            true => Part::without_executions(summary),
            false => Part::from(summary),
        };
        Subtrees { traces: self.traces.into_values().collect(), rest: vec![rest], open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_a_short_text() {
        let read = |text: &str| Shown::try_from(text.to_owned());
        for (shown, text) in [
            (Shown { trace: 0xab, steps: 29, judged: [false; 3] }, "00000000000000ab 29 000"),
            (
                Shown { trace: u64::MAX, steps: u64::MAX, judged: [true, false, true] },
                "ffffffffffffffff 18446744073709551615 101",
            ),
        ] {
            assert_eq!(String::from(shown), text);
            assert_eq!(read(text), Ok(shown));
            // Cut anywhere, it is refused.
            for cut in 0..text.len() {
                assert!(read(&text[..cut]).is_err(), "{text} cut at {cut}");
            }
        }
        for wrong in [
            "ab 29 000",
            "00000000000000AB 29 000",
            "00000000000000ab 029 000",
            "00000000000000ab 29 002",
            "00000000000000ab 29 0000",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
