//! Which checker judges a recorded history, and when which part of the object is searched.

use std::collections::VecDeque;

use super::Recording;
use super::part::Part;
use super::sequential::Sequential;
use crate::general::{self, Bound, Budget, Progress, Verdict};
use crate::history::History;
use crate::types::{DataType, Unresolved};

/// A verdict and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict; calls are indices into [`Recording::calls`]. When there are several parts, the witness of a
    /// violation is about one of them only.
    pub verdict: Verdict,
    /// Which checkers were used.
    pub checker: Checker,
    /// How many independent parts of the object, entries of a map for example, were judged apart.
    pub parts: usize,
}

/// Which checker has given a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// A construction of [`crate::distinct`].
    Distinct,
    /// The search of [`crate::general`].
    General,
    /// One checker for some parts and the other for the rest.
    Both,
}

/// Judges a recorded history, see [`Search`]. The budget is one for all parts together.
///
/// # Errors
/// When the type has no such call: the index of the call and the reason.
pub fn check(data_type: &DataType, recording: &Recording, budget: Budget) -> Result<Checked, (usize, Unresolved)> {
    let mut search = Search::new(data_type, recording)?;
    Ok(match search.advance(budget.attempts()) {
        Progress::Done(checked) => checked,
        Progress::Going => search.conclude(),
    })
}

/// The judgement of a recorded history. It can be interrupted and continued.
///
/// A checker without search judges a part of the history where one applies, and the history is judged part by part
/// where the object has independent parts. The parts that need the search take turns, those with the fewest overlapping
/// calls first, and a turn of each round is `GROWTH` times as long as in the round before. So a part that is easily
/// refuted is refuted, however hard the others are; and the work is at most a small multiple of the number of parts
/// times what the search of that part takes alone. After the first round the first violation ends the search; among the
/// violations of the first round, the one that is seen first in the history is reported.
pub struct Search<'r> {
    recording: &'r Recording,
    checker: Checker,
    parts: usize,
    /// The linearizations of the parts that have one.
    orders: Vec<Vec<usize>>,
    /// The violation that is seen first, and where.
    violation: Option<(usize, general::Witness)>,
    /// The search of a part was abandoned.
    is_out_of_memory: bool,
    /// The parts that are searched, in the order of their turns: at the beginning of a round, the easiest part comes
    /// first.
    running: VecDeque<Running<'r>>,
    /// How many of them have not had their turn in this round.
    to_come: usize,
    /// How many attempts of a part end its turn.
    until: u64,
    memory: usize,
    /// How many bytes all of the searches take.
    used: usize,
}

struct Running<'r> {
    part: Part<'r>,
    search: general::Search<'r>,
    /// How many bytes the search took when its last turn ended.
    memory: usize,
}

/// How many attempts each part makes in the first round.
const FIRST: u64 = 1_000;

/// By what factor the turns of a round are longer than those of the round before.
const GROWTH: u64 = 4;

impl<'r> Search<'r> {
    /// The judgement of a recording. Parts that need no search are judged now.
    ///
    /// # Errors
    /// When the type has no such call: the index of the call and the reason.
    pub fn new(data_type: &'r DataType, recording: &'r Recording) -> Result<Self, (usize, Unresolved)> {
        let mut signatures = Vec::with_capacity(recording.calls.len());
        for (index, call) in recording.calls.iter().enumerate() {
            let (method, arguments) = (&call.invocation.method, &call.invocation.arguments);
            signatures.push(data_type.resolve(method, arguments).map_err(|reason| (index, reason))?);
        }
        let calls = (0..recording.calls.len()).collect();
        let whole = Part { data_type, recording, signatures: signatures.into(), calls };
        let mut search = Search {
            recording,
            checker: Checker::Distinct,
            parts: 1,
            orders: Vec::new(),
            violation: None,
            is_out_of_memory: false,
            running: VecDeque::new(),
            to_come: 0,
            until: FIRST,
            memory: general::Search::MEMORY,
            used: 0,
        };
        if let Some(verdict) = whole.without_search() {
            search.settle(verdict);
            return Ok(search);
        }
        let parts = whole.split().filter(|parts| !parts.is_empty()).unwrap_or_else(|| vec![whole]);
        search.parts = parts.len();
        let mut is_distinct = false;
        let mut searched = Vec::new();
        for part in parts {
            match part.without_search() {
                Some(verdict) => {
                    is_distinct = true;
                    search.settle(verdict);
                }
                None => {
                    let history = part.history().into_owned();
                    let hardness = (overlapping(&history), part.calls.len());
                    let running = general::Search::new(Sequential::new(part.clone()), &history);
                    let memory = running.memory();
                    search.used += memory;
                    searched.push((hardness, Running { part, search: running, memory }));
                }
            }
        }
        search.checker = match (is_distinct, searched.is_empty()) {
            (_, true) => Checker::Distinct,
            (true, false) => Checker::Both,
            (false, false) => Checker::General,
        };
        searched.sort_by_key(|&(hardness, _)| hardness);
        search.running = searched.into_iter().map(|(_, running)| running).collect();
        search.to_come = search.running.len();
        Ok(search)
    }

    /// How many bytes of memory the searches may take together; the default is [`general::Search::MEMORY`].
    pub fn set_memory(&mut self, bytes: usize) {
        self.memory = bytes;
    }

    /// Continues for about this many attempts to linearize a call next, in all parts together, or until there is a
    /// verdict. How often the search is interrupted does not change what it finds.
    pub fn advance(&mut self, attempts: u64) -> Progress<Checked> {
        let mut left = attempts;
        loop {
            let is_first_round = self.until == FIRST;
            if self.running.is_empty() || (self.violation.is_some() && !is_first_round) {
                return Progress::Done(self.checked(Bound::Memory));
            }
            if self.to_come == 0 {
                self.to_come = self.running.len();
                self.until = self.until.saturating_mul(GROWTH);
                continue;
            }
            if left == 0 {
                return Progress::Going;
            }
            left -= self.take_turn(left);
        }
    }

    /// Lets the next part take its turn. Returns how many of the attempts were used up.
    fn take_turn(&mut self, attempts: u64) -> u64 {
        let Running { part, mut search, memory } = self.running.pop_front().expect("a part is to come");
        let before = search.attempts();
        self.used -= memory;
        search.set_memory(self.memory.saturating_sub(self.used));
        let progress = search.advance(attempts.min(self.until.saturating_sub(before)));
        let after = search.attempts();
        if let Progress::Done(verdict) = progress {
            // Its memory is free from now on.
            self.to_come -= 1;
            self.settle(part.in_recording(verdict));
        } else {
            let memory = search.memory();
            self.used += memory;
            let running = Running { part, search, memory };
            if after > self.until {
                self.to_come -= 1;
                self.running.push_back(running);
            } else {
                self.running.push_front(running);
            }
        }
        (after - before).clamp(1, attempts)
    }

    fn settle(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Linearizable { order } => self.orders.push(order),
            Verdict::Unknown(_) => self.is_out_of_memory = true,
            Verdict::NotLinearizable(witness) => {
                let returned = |call: usize| self.recording.history.calls()[call].returned;
                let at = witness.stuck.and_then(returned).unwrap_or(usize::MAX);
                if self.violation.as_ref().is_none_or(|(first, _)| at < *first) {
                    self.violation = Some((at, witness));
                }
            }
        }
    }

    /// Ends the judgement with what is known so far.
    pub fn conclude(mut self) -> Checked {
        for Running { part, search, .. } in std::mem::take(&mut self.running) {
            match search.conclude() {
                Verdict::Unknown(_) => {}
                verdict => self.settle(part.in_recording(verdict)),
            }
        }
        self.checked(Bound::Attempts)
    }

    /// The verdict; unknown because of a bound when there is neither a violation nor an order of each part.
    fn checked(&mut self, bound: Bound) -> Checked {
        let verdict = match self.violation.take() {
            Some((_, witness)) => Verdict::NotLinearizable(witness),
            None if self.is_out_of_memory => Verdict::Unknown(Bound::Memory),
            None if self.orders.len() < self.parts => Verdict::Unknown(bound),
            None => Verdict::Linearizable { order: merge(&self.recording.history, std::mem::take(&mut self.orders)) },
        };
        Checked { verdict, checker: self.checker, parts: self.parts }
    }
}

/// The largest number of calls that overlap.
fn overlapping(history: &History) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for event in history.events() {
        if event.is_return() {
            open -= 1;
        } else {
            open += 1;
            most = most.max(open);
        }
    }
    most
}

/// One linearization made of those of independent parts: each call as early as its invocation and the calls before it
/// in its part allow. Linearizability is local, so this always works.
fn merge(history: &History, orders: Vec<Vec<usize>>) -> Vec<usize> {
    let mut timed = Vec::with_capacity(history.calls().len());
    for order in orders {
        let mut time = 0;
        timed.extend(order.into_iter().map(|call| {
            time = time.max(history.calls()[call].invoked);
            (time, call)
        }));
    }
    timed.sort_by_key(|&(time, _)| time);
    timed.into_iter().map(|(_, call)| call).collect()
}
