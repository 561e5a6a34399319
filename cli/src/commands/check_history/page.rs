//! A judged history as a page.

use std::collections::{BTreeMap, BTreeSet};

use interloper_linearize::general::Verdict;
use interloper_report::explorer::{Effect, Exploration, Extent, Kind, Span, Step, Texts, VERSION};
use interloper_report::{Column, Lane};

use super::Judged;
use super::witness::{OUT_OF_TIME, Shortener, Steps, Witness};
use crate::values::shown;

/// How many events a page shows at most.
const EVENTS: usize = 10_000;

impl Judged<'_> {
    /// The page: the calls around the call that cannot be placed, or else the first calls, with their linearization
    /// points. Each event of the history is a step, and each process has a lane.
    pub fn page(&self) -> Exploration {
        let none = Vec::new();
        let (order, stuck) = match &self.checked.verdict {
            Verdict::Linearizable { order } => (order, None),
            Verdict::NotLinearizable(found) => (found.longest.first().unwrap_or(&none), found.stuck),
            Verdict::Unknown(_) => (&none, None),
        };
        let short = Shortener::default();
        let window = Window::new(self, stuck);
        let points = self.points(order);
        let rows: BTreeMap<i64, u32> = window.processes(self).into_iter().zip(0..).collect();
        let mut texts = Texts::default();
        let mut steps = vec![Step::default(); window.positions.len()];
        let mut spans = Vec::new();
        for &index in &window.calls {
            let recorded = &self.recorded.recording.calls[index];
            let (from, until) = window.interval(self, index);
            let (task, marked) = (rows[&recorded.process], stuck == Some(index));
            let result = recorded.result.as_ref().map_or(String::new(), |result| short.text(&shown(result)));
            let invocation = short.text(&recorded.invocation.to_string());
            let note = texts.index(&self.detail(index, points.get(&index).map(|&(_, number)| number)));
            let mut step = |kind, text: &str| {
                let (text, notes) = (texts.index(text), vec![note]);
                Step { task, kind, text, notes, marked, ..Step::default() }
            };
            steps[from] = step(Kind::Called, &invocation);
            if let Some(until) = until {
                steps[until] = step(Kind::Returned, &result);
            }
            let (text, until) = (texts.index(&invocation), until.map(|until| until as u32));
            spans.push(Span { task, text, from: from as u32, until, what: Extent::Call, marked });
        }
        order_in_time(&mut steps, rows.len());
        let end = Steps::last(self, order, EVENTS / 2, &short);
        let mut notes = self.notes(&window, &short);
        notes.extend(end.out_of_time.then(|| OUT_OF_TIME.to_owned()));
        notes.extend(short.note().map(str::to_owned));
        let lane = |process: &i64| Column { title: format!("process {process}"), lane: Lane::Thread };
        Exploration {
            version: VERSION,
            name: self.summary(),
            verdict: self.word().to_owned(),
            is_wrong: matches!(self.checked.verdict, Verdict::NotLinearizable(_)),
            notes,
            tasks: rows.keys().map(lane).collect(),
            texts: texts.into_all(),
            steps,
            spans,
            linearization: effects(end, order.len(), &window, &points),
            ..Exploration::default()
        }
    }

    /// For each call of an order, the position after which it takes effect, as early as possible, and its place in the
    /// order, from 1.
    fn points(&self, order: &[usize]) -> BTreeMap<usize, (usize, usize)> {
        let mut position = 0;
        let point = |(number, &call): (usize, &usize)| {
            position = position.max(self.recorded.recording.history.calls()[call].invoked);
            (call, (position, number))
        };
        (1..).zip(order).map(point).collect()
    }

    fn detail(&self, index: usize, number: Option<usize>) -> String {
        let lines = self.recorded.lines[index];
        let place = match lines.returned {
            Some(returned) => format!("lines {} to {returned}", lines.invoked),
            None => format!("line {}, pending", lines.invoked),
        };
        match number {
            Some(number) => format!("{place}, linearized as number {number}"),
            None => place,
        }
    }

    fn notes(&self, window: &Window, short: &Shortener) -> Vec<String> {
        let mut notes = vec![format!("{}.", capitalised(&self.method()))];
        match &self.checked.verdict {
            Verdict::Linearizable { .. } => {}
            Verdict::NotLinearizable(found) => {
                notes.push(Witness::new(self, found).claim(short));
                let which =
                    if found.longest.len() == 1 { "the longest linearization" } else { "a longest linearization" };
                notes.push(format!("The points are those of {which} before its return."));
            }
            Verdict::Unknown(bound) => notes.push(self.no_verdict(*bound)),
        }
        if window.of_part < self.recorded.recording.calls.len() {
            notes.push(format!(
                "The verdict is about the {} calls of one part of the object; the page shows only this part.",
                window.of_part
            ));
        }
        if window.calls.len() < window.of_part {
            notes.push(format!("{} of {} calls are shown.", window.calls.len(), window.of_part));
        }
        notes
    }
}

/// A call comes after the last call of each other process that returned before.
fn order_in_time(steps: &mut [Step], processes: usize) {
    let mut returned: Vec<Option<u32>> = vec![None; processes];
    for (index, step) in (0..).zip(steps) {
        let own = step.task as usize;
        match step.kind {
            Kind::Called => {
                let others = returned.iter().enumerate().filter(|(process, _)| *process != own);
                step.after = others.filter_map(|(_, at)| *at).collect();
                step.after.sort_unstable();
            }
            _ => returned[own] = Some(index),
        }
    }
}

/// The last calls of an order of `calls` calls.
fn effects(end: Steps, calls: usize, window: &Window, points: &BTreeMap<usize, (usize, usize)>) -> Vec<Effect> {
    let first = calls - end.steps.len() + 1;
    let is_shown = |position: usize| window.positions.first().is_some_and(|first| *first <= position);
    let effect = |(number, step): (usize, super::witness::Step)| Effect {
        number: number as u32,
        span: window.calls.binary_search(&step.call).ok().map(|span| span as u32),
        after: points.get(&step.call).filter(|(at, _)| is_shown(*at)).map(|(at, _)| window.gap(*at) as u32),
        text: format!("process {}: {} → {}", step.process, step.invocation, step.result),
        state: step.state,
    };
    (first..).zip(end.steps).map(effect).collect()
}

/// The part of a history that is on the page.
struct Window {
    /// The calls, ascending.
    calls: Vec<usize>,
    /// The positions of their events, ascending: the event with the number n on the page is at the n-th of them.
    positions: Vec<usize>,
    /// How many calls there would be if there was room.
    of_part: usize,
}

impl Window {
    /// The last events up to the return of the call that is stuck, and a few after it; otherwise the first ones.
    fn new(judged: &Judged<'_>, stuck: Option<usize>) -> Window {
        let history = &judged.recorded.recording.history;
        let of_part = part(judged, stuck);
        let mut positions: Vec<usize> = Vec::with_capacity(2 * of_part.len());
        for &call in &of_part {
            positions.push(history.calls()[call].invoked);
            positions.extend(history.calls()[call].returned);
        }
        positions.sort_unstable();
        let end = match stuck.and_then(|stuck| history.calls()[stuck].returned) {
            Some(returned) => (positions.partition_point(|&at| at <= returned) + EVENTS / 10).min(positions.len()),
            None => positions.len().min(EVENTS),
        };
        let shown = &positions[end.saturating_sub(EVENTS)..end];
        let calls: Vec<usize> = match (shown.first(), shown.last()) {
            (Some(&first), Some(&last)) => of_part
                .iter()
                .copied()
                .filter(|&call| {
                    let interval = history.calls()[call];
                    // A pending call from long before would be a bar without a beginning; it matters if it takes effect.
                    let begins = interval.invoked >= first && interval.invoked <= last;
                    begins || interval.returned.is_some_and(|returned| returned >= first && returned <= last)
                })
                .collect(),
            _ => Vec::new(),
        };
        let of_part_count = of_part.len();
        let mut positions = BTreeSet::new();
        for &call in &calls {
            positions.insert(history.calls()[call].invoked);
            positions.extend(history.calls()[call].returned);
        }
        Window { calls, positions: positions.into_iter().collect(), of_part: of_part_count }
    }

    fn processes(&self, judged: &Judged<'_>) -> BTreeSet<i64> {
        self.calls.iter().map(|&call| judged.recorded.recording.calls[call].process).collect()
    }

    fn interval(&self, judged: &Judged<'_>, call: usize) -> (usize, Option<usize>) {
        let interval = judged.recorded.recording.history.calls()[call];
        (self.number(interval.invoked), interval.returned.map(|returned| self.number(returned)))
    }

    fn number(&self, position: usize) -> usize {
        self.positions.partition_point(|&at| at < position)
    }

    /// The gap on the page that a position is in or opens.
    fn gap(&self, position: usize) -> usize {
        self.positions.partition_point(|&at| at <= position).saturating_sub(1)
    }
}

/// The calls of the part of the object that a verdict is about, ascending: all of them where there is one part.
fn part(judged: &Judged<'_>, stuck: Option<usize>) -> Vec<usize> {
    let calls = &judged.recorded.recording.calls;
    let name = |call: usize| {
        let invocation = &calls[call].invocation;
        let signature = judged.data_type.resolve(&invocation.method, &invocation.arguments).ok()?;
        signature.part(&invocation.arguments)
    };
    match stuck {
        Some(stuck) if judged.checked.parts > 1 => (0..calls.len()).filter(|&call| name(call) == name(stuck)).collect(),
        _ => (0..calls.len()).collect(),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
