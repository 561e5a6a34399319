//! What the parts of a search that tries everything have shown, as data: so the parts can be joined.
//!
//! Of schedules with few preemptions each part runs some, and what all parts run counts in the first one: the joined counts are sums.
//! What follows is about an exhaustive search.
//!
//! Each part searches some subtrees below the first choices, and each trace begins in one of the subtrees. So the joined counts are
//! sums here, too: they are what the whole search gives as long as memory is sequentially consistent, nothing was found and nothing
//! was cut. Otherwise the search is run again as a whole: what it finds first depends on the order of its executions, and under
//! weak memory so do its traces. The parts list their traces, so the search is also run as a whole if one of them came twice after
//! all.

use std::collections::BTreeMap;

use interloper_scheduler::{Fingerprint, Shard, Traces};
use serde::{Deserialize, Serialize};

use super::misuse::Misuse;
use super::progress::Part;
use super::settings::Settings;
use super::worker::{Summary, Worker};

/// What some parts of an exhaustive search have shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subtrees {
    /// By the number of the part.
    parts: BTreeMap<u32, Shown>,
    /// Only the whole search says what the parts amount to.
    open: bool,
}

/// What one part has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// Without the traces, if they are listed.
    part: Part,
    /// The trace of each execution, if the search is exhaustive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traces: Option<Listed>,
}

/// Traces in some order. A part of a large search has many, so a document has them as one text: 16 digits for each fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Listed(Vec<Fingerprint>);

/// So many digits has a fingerprint.
const DIGITS: usize = 16;

impl From<Listed> for String {
    fn from(Listed(traces): Listed) -> String {
        let digit = |trace: u64, at: usize| b"0123456789abcdef"[(trace >> (4 * (DIGITS - 1 - at))) as usize & 15];
        let text = traces.iter().flat_map(|&Fingerprint(trace)| (0..DIGITS).map(move |at| digit(trace, at) as char));
        let mut all = String::with_capacity(DIGITS * traces.len());
        all.extend(text);
        all
    }
}

impl TryFrom<String> for Listed {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Listed, &'static str> {
        let (traces, rest) = text.as_bytes().as_chunks::<DIGITS>();
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let add = |trace: u64, byte: &u8| Some(trace << 4 | u64::from(digit(*byte)?));
        let trace = |digits: &[u8; DIGITS]| digits.iter().try_fold(0, add).map(Fingerprint);
        let traces = traces.iter().map(trace).collect::<Option<Vec<Fingerprint>>>();
        traces.filter(|_| rest.is_empty()).map(Listed).ok_or("not a list of traces")
    }
}

/// Whether only the search as a whole says what the executions of a part amount to.
pub(super) fn is_open(summary: &Summary) -> bool {
    let found = summary.bug.is_some() || summary.error.is_some() || summary.misuse.is_some();
    found || summary.cut.is_some() || !summary.warnings.is_empty() || !summary.inferred.is_empty()
}

impl Subtrees {
    /// All of a part of a search, of which this is the summary. `traces` has those of an exhaustive search; `repeats` says whether some of
    /// its executions are not among those of the whole search.
    pub(super) fn of(shard: Shard, summary: &Summary, traces: Option<Vec<Fingerprint>>, repeats: bool) -> Subtrees {
        let is_whole = summary.exhausted && !summary.timed_out && summary.stale.is_none();
        let part = if traces.is_some() { Part::without_traces(summary) } else { Part::from(summary) };
        let shown = Shown { part, traces: traces.map(Listed) };
        Subtrees { parts: [(shard.number(), shown)].into(), open: repeats || is_open(summary) || !is_whole }
    }

    /// Whether no execution counts here.
    pub(super) fn is_empty(&self) -> bool {
        !self.open && self.parts.values().all(|shown| shown.part.executions() == 0)
    }

    /// What other parts of the search have shown, too. What a part has shown counts once.
    #[must_use]
    pub(super) fn and(mut self, other: Subtrees) -> Subtrees {
        self.parts.extend(other.parts);
        Subtrees { open: self.open || other.open, ..self }
    }

    /// What the search as a whole has shown. `None` if only the whole search says.
    ///
    /// # Errors
    /// Never, as long as the parts have found nothing.
    pub(super) fn summary(&self, worker: &mut Worker<'_>, settings: &Settings) -> Result<Option<Summary>, Misuse> {
        if self.open {
            return Ok(None);
        }
        let Some(traces) = self.traces() else { return Ok(None) };
        let mut whole = Summary::default();
        for shown in self.parts.values() {
            whole = whole.and(shown.part.summary(worker, settings)?);
        }
        whole.traces.merge(&Traces::of(traces.into_iter().map(|trace| (trace, 1)), false));
        // One process would have come to its limit before it knew that it was at the end.
        let whole = Summary { exhausted: true, ..whole };
        Ok(Some(whole).filter(|whole| whole.executions < settings.executions))
    }

    /// The listed traces of all parts, in the order of their fingerprints. `None` if one of them came twice.
    fn traces(&self) -> Option<Vec<Fingerprint>> {
        let listed = self.parts.values().flat_map(|shown| &shown.traces);
        let mut traces: Vec<Fingerprint> = listed.flat_map(|Listed(traces)| traces).copied().collect();
        traces.sort_unstable();
        traces.is_sorted_by(|one, next| one < next).then_some(traces)
    }
}

#[cfg(test)]
impl Subtrees {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// The traces of each part.
    pub(super) fn listed(&self) -> Vec<Vec<Fingerprint>> {
        self.parts.values().flat_map(|shown| &shown.traces).map(|Listed(traces)| traces.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_traces_is_a_short_text() {
        let listed = |traces: &[u64]| Listed(traces.iter().copied().map(Fingerprint).collect());
        let read = |text: &str| Listed::try_from(text.to_owned());
        for (traces, text) in [
            (&[][..], ""),
            (&[0xab], "00000000000000ab"),
            (&[u64::MAX, 0, 0x0123_4567_89ab_cdef], "ffffffffffffffff00000000000000000123456789abcdef"),
        ] {
            assert_eq!(String::from(listed(traces)), text);
            assert_eq!(read(text), Ok(listed(traces)));
            // Cut within a fingerprint, it is refused.
            for cut in (0..text.len()).filter(|cut| cut % DIGITS != 0) {
                assert!(read(&text[..cut]).is_err(), "{text} cut at {cut}");
            }
        }
        for wrong in ["ab", "00000000000000AB", "00000000000000ag", "+0000000000000ab", "000000000000000é"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// A trace that two parts have shown, or one part twice, is no count: the whole search says what there is.
    #[test]
    fn a_trace_that_came_twice_is_noticed() {
        let part = |number, traces: &[u64]| {
            let summary = Summary { executions: traces.len() as u64, exhausted: true, ..Summary::default() };
            let traces = traces.iter().copied().map(Fingerprint).collect();
            Subtrees::of(Shard::new(number, 2).expect("a shard"), &summary, Some(traces), false)
        };
        let traces = |one: Subtrees, other: Subtrees| one.and(other).traces().map(|traces| traces.len());
        assert_eq!(traces(part(1, &[3, 1]), part(2, &[2])), Some(3));
        assert_eq!(traces(part(1, &[3, 1]), part(2, &[1])), None);
        assert_eq!(traces(part(1, &[3, 3]), part(2, &[])), None);
        // The same part again.
        assert_eq!(traces(part(1, &[3, 1]), part(1, &[3, 1])), Some(2));
    }
}
