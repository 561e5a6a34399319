//! A register: zones, after Gibbons and Korach.
//!
//! Take the write of a value and all reads of it. When the first return among them comes before the last invocation,
//! the register certainly holds the value in the gaps between these two events: a *zone*. The zones of two values must
//! not overlap. Without a zone, all of the calls can take effect in one gap, and this gap must lie outside all zones.

use rustc_hash::FxHashMap;

use super::calls::{NotApplicable, RegisterCall};
use super::cover::Uncovered;
use super::events::{Cut, Events};

/// Calls that follow each other in any linearization, such as a write and all reads that see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The first return among them.
    pub first_return: u32,
    /// The last invocation among them.
    pub last_invoked: u32,
}

impl Span {
    /// The gaps in which the object certainly is as these calls leave it. When the bounds are in the other order, the
    /// calls share the gaps between them.
    fn zone(&self) -> (u32, u32) {
        (self.first_return, self.last_invoked)
    }
}

/// An order of spans in which no span begins with a call that returns before a call of an earlier span is invoked. The
/// first span comes first.
pub(super) fn arrange(end: u32, spans: &[Span]) -> Option<Vec<usize>> {
    let mut zones: Vec<(u32, u32)> = spans.iter().map(Span::zone).filter(|zone| zone.0 < zone.1).collect();
    zones.sort_unstable();
    if zones.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return None;
    }
    let uncovered = Uncovered::new(end, zones.into_iter());
    let mut sorted = Vec::with_capacity(spans.len());
    for (number, span) in spans.iter().enumerate() {
        let (from, before) = span.zone();
        // The first span comes first, whatever its calls overlap.
        let gap = if from < before || number == 0 { from } else { uncovered.first((before, from))? };
        sorted.push((gap, number));
    }
    sorted.sort_unstable();
    Some(sorted.into_iter().map(|(_, number)| number).collect())
}

/// The calls, value by value.
pub(super) struct Plan {
    /// The number of the value of each call. The initial value has number 0.
    numbers: Vec<usize>,
    values: usize,
}

impl Plan {
    pub fn new(calls: &[RegisterCall]) -> Result<Plan, NotApplicable> {
        let mut known = FxHashMap::default();
        let mut written = vec![false];
        let mut numbers = Vec::with_capacity(calls.len());
        for call in calls {
            let (value, is_write) = match *call {
                RegisterCall::Write(value) => (value, true),
                RegisterCall::Read(value) => (value, false),
                RegisterCall::ReadInitial => {
                    numbers.push(0);
                    continue;
                }
            };
            let number = *known.entry(value).or_insert(written.len());
            if number == written.len() {
                written.push(false);
            }
            if is_write && std::mem::replace(&mut written[number], true) {
                return Err(NotApplicable);
            }
            numbers.push(number);
        }
        Ok(Plan { numbers, values: written.len() })
    }

    /// A linearization of the part before `cut`, when there is one.
    pub fn order(&self, events: &Events, calls: &[RegisterCall], cut: Cut) -> Option<Vec<usize>> {
        let clusters = self.clusters(events, calls, cut)?;
        let spans: Vec<Span> = clusters.iter().map(|cluster| cluster.span).collect();
        let mut order = Vec::with_capacity(calls.len());
        for number in arrange(events.end(), &spans)? {
            let mut reads = clusters[number].reads.clone();
            reads.sort_unstable_by_key(|&read| events.calls[read].0);
            order.extend(clusters[number].write);
            order.extend(reads);
        }
        Some(order)
    }

    /// The calls of each value, without pending calls that have no consequence. `None` when a read value is not written
    /// before the read returns.
    fn clusters(&self, events: &Events, calls: &[RegisterCall], cut: Cut) -> Option<Vec<Cluster>> {
        let mut clusters = vec![Cluster::default(); self.values];
        // The first value exists before all events.
        let span = Span { first_return: 0, last_invoked: 0 };
        clusters[0] = Cluster { write: None, reads: Vec::new(), written: Some((0, 0)), span };
        for (call, action) in calls.iter().enumerate() {
            let Some(interval) = events.within(call, cut) else { continue };
            let cluster = &mut clusters[self.numbers[call]];
            if matches!(action, RegisterCall::Write(_)) {
                cluster.write = Some(call);
                cluster.written = Some(interval);
            } else if interval.1 < events.never() {
                cluster.reads.push(call);
            } else {
                continue;
            }
            cluster.span.first_return = cluster.span.first_return.min(interval.1);
            cluster.span.last_invoked = cluster.span.last_invoked.max(interval.0);
        }
        clusters.retain(|cluster| {
            let is_idle = cluster.reads.is_empty() && cluster.written.is_none_or(|write| write.1 == events.never());
            !is_idle
        });
        let is_sound = |cluster: &Cluster| {
            let written = |invoked: u32| cluster.reads.iter().all(|&read| events.calls[read].1 > invoked);
            cluster.written.is_some_and(|(invoked, _)| written(invoked))
        };
        clusters.iter().all(is_sound).then_some(clusters)
    }
}

/// A write and the reads that see it.
#[derive(Clone)]
struct Cluster {
    write: Option<usize>,
    reads: Vec<usize>,
    /// The interval of the write.
    written: Option<(u32, u32)>,
    span: Span,
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            write: None,
            reads: Vec::new(),
            written: None,
            span: Span { first_return: u32::MAX, last_invoked: 0 },
        }
    }
}
