//! The calls of an incorrect execution in an order that explains their results, as far as one goes.

use interloper_commutativity::Value;
use interloper_linearize::program::Behaviour;
use interloper_linearize::types::DataType;
use interloper_report::explorer::{Effect, Exploration, Extent};

use crate::object::{Program, Sequential};
use crate::systematic::{Trace, sequence_name};

/// So many calls are tried as the next one.
const TRIED: usize = 10_000;

/// The longest beginning of an order that keeps to the time of the execution and gives the results that its calls had, the first one
/// in text order of several. With the state of the model after each call, where the object has a model. Empty where no call can come
/// first.
pub(super) fn linearization(program: &Program, trace: &Trace, exploration: &Exploration) -> Vec<Effect> {
    let mut search = Longest { program, trace, tried: 0, taken: Vec::new(), longest: Vec::new() };
    let mut sequential = program.sequential();
    let state = sequential.initial();
    search.extend(&mut sequential, &state);
    let longest = search.longest;
    let spans = spans(program, exploration);
    let schema = program.schema();
    let calls: Vec<_> = schema.invocations().collect();
    let sequence_of: Vec<usize> =
        schema.sequences().iter().enumerate().flat_map(|(number, calls)| calls.iter().map(move |_| number)).collect();
    let mut model = program.object().model().map(|model: &DataType| (model, model.initial()));
    let mut point = 0;
    let effect = |(number, call): (u32, usize)| {
        if let Some((model, state)) = &mut model {
            model.apply(state, &calls[call].method, &calls[call].arguments);
        }
        let span = spans.get(call).copied().flatten();
        // As early as its own beginning and the effects before it allow.
        point = span.map_or(point, |span| point.max(exploration.spans[span as usize].from));
        Effect {
            number,
            span,
            after: span.map(|_| point),
            text: format!("{}: {} → {}", sequence_name(sequence_of[call]), calls[call], trace.outcome[call]),
            state: model.as_ref().map_or_else(String::new, |(_, state): &(_, Value)| state.to_string()),
        }
    };
    (1..).zip(longest).map(effect).collect()
}

/// For each call in text order, its span on the page: those of a sequence are in one lane, in their order.
fn spans(program: &Program, exploration: &Exploration) -> Vec<Option<u32>> {
    let of_lane = |lane: usize| {
        (0..)
            .zip(&exploration.spans)
            .filter_map(move |(index, span)| (span.what == Extent::Call && span.task as usize == lane).then_some(index))
    };
    let sequences = program.schema().sequences().iter().enumerate();
    sequences
        .flat_map(|(lane, calls)| {
            let mut own = of_lane(lane);
            calls.iter().map(move |_| own.next()).collect::<Vec<_>>()
        })
        .collect()
}

/// Goes through the orders of calls whose results are right so far.
struct Longest<'a> {
    program: &'a Program,
    trace: &'a Trace,
    tried: usize,
    taken: Vec<usize>,
    longest: Vec<usize>,
}

impl Longest<'_> {
    fn extend(&mut self, sequential: &mut Sequential, state: &<Sequential as Behaviour>::State) {
        if self.taken.len() > self.longest.len() {
            self.longest.clone_from(&self.taken);
        }
        for call in 0..self.trace.outcome.len() {
            if self.taken.contains(&call) || !self.is_ready(call) || self.tried == TRIED {
                continue;
            }
            self.tried += 1;
            let (next, result) = sequential.apply(state, call);
            if result == self.trace.outcome[call] {
                self.taken.push(call);
                self.extend(sequential, &next);
                self.taken.pop();
            }
        }
    }

    /// Whether all calls were taken that must come before this one, by the schema or since they had ended when it began.
    fn is_ready(&self, call: usize) -> bool {
        let spans = &self.trace.calls;
        let Some(own) = spans[call] else { return false };
        let is_before = |other: usize| spans[other].and_then(|span| span.end).is_some_and(|end| end <= own.begin);
        let by_schema = &self.program.schema().predecessors()[call];
        (0..spans.len())
            .filter(|&other| other != call && (by_schema.contains(&other) || is_before(other)))
            .all(|other| self.taken.contains(&other))
    }
}
