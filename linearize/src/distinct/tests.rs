//! Each construction against the general search.

mod texts;

use super::*;
use crate::general::{Budget, Spec, check};
use crate::history::Interval;
use crate::testing::words_that_pass;
use interloper_random::{Purpose, Stream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Queue,
    Stack,
    PriorityQueue,
}

/// The sequential behaviour of the three collections: the next value to remove is the last, first or smallest one.
struct Collection<'h> {
    kind: Kind,
    calls: &'h [CollectionCall],
    pending: Vec<bool>,
}

impl Spec for Collection<'_> {
    type State = Vec<ValueId>;
    fn initial(&self) -> Vec<ValueId> {
        Vec::new()
    }
    fn step(&mut self, state: &Vec<ValueId>, call: usize) -> Option<Vec<ValueId>> {
        let mut state = state.clone();
        if let CollectionCall::Insert(value) = self.calls[call] {
            state.push(value);
            return Some(state);
        }
        let next = match self.kind {
            Kind::Queue => 0,
            Kind::Stack => state.len().wrapping_sub(1),
            Kind::PriorityQueue => (0..state.len()).min_by_key(|&index| state[index]).unwrap_or(0),
        };
        let removed = (!state.is_empty()).then(|| state.remove(next));
        if self.kind == Kind::PriorityQueue {
            state.sort_unstable();
        }
        let agrees = match self.calls[call] {
            CollectionCall::Remove(value) => removed == Some(value),
            CollectionCall::Empty => removed.is_none(),
            _ => self.pending[call],
        };
        agrees.then_some(state)
    }
}

struct Elements<'h>(&'h [SetCall]);

impl Spec for Elements<'_> {
    type State = Vec<ValueId>;
    fn initial(&self) -> Vec<ValueId> {
        Vec::new()
    }
    fn step(&mut self, state: &Vec<ValueId>, call: usize) -> Option<Vec<ValueId>> {
        let SetCall { value, action } = self.0[call];
        let place = state.binary_search(&value);
        let mut state = state.clone();
        match (action, place) {
            (SetAction::Add, Err(place)) => state.insert(place, value),
            (SetAction::Remove, Ok(place)) => {
                state.remove(place);
            }
            (SetAction::Find, Ok(_)) | (SetAction::Miss, Err(_)) => {}
            _ => return None,
        }
        Some(state)
    }
}

struct Content<'h>(&'h [RegisterCall]);

impl Spec for Content<'_> {
    type State = Option<ValueId>;
    fn initial(&self) -> Option<ValueId> {
        None
    }
    fn step(&mut self, state: &Option<ValueId>, call: usize) -> Option<Option<ValueId>> {
        match self.0[call] {
            RegisterCall::Write(value) => Some(Some(value)),
            RegisterCall::Read(value) => (*state == Some(value)).then_some(*state),
            RegisterCall::ReadInitial => state.is_none().then_some(None),
        }
    }
}

/// Compares a verdict with the one of the general search and checks its witness from the definition.
fn agree<S: Spec>(spec: &mut S, history: &History, verdict: &Verdict, what: &dyn std::fmt::Debug) -> bool {
    let general = check(spec, history, Budget::Unlimited);
    match (verdict, &general) {
        (Verdict::Linearizable { order }, Verdict::Linearizable { .. }) => {
            assert_order(spec, history, order, usize::MAX, what);
            true
        }
        (Verdict::NotLinearizable(fast), Verdict::NotLinearizable(slow)) => {
            let stuck = fast.stuck.expect("a call is stuck");
            assert_eq!(fast.stuck, slow.stuck, "{what:?}, {history:?}");
            for order in &fast.longest {
                assert_order(spec, history, order, history.calls()[stuck].returned.expect("complete"), what);
            }
            false
        }
        _ => panic!("{verdict:?} but {general:?} of {what:?}, {history:?}"),
    }
}

/// Checks that an order is a linearization of the calls that return before `until`, and maybe others.
fn assert_order<S: Spec>(spec: &mut S, history: &History, order: &[usize], until: usize, what: &dyn std::fmt::Debug) {
    let returned = |call: usize| history.calls()[call].returned.unwrap_or(usize::MAX);
    let end = order.iter().try_fold(spec.initial(), |state, &call| spec.step(&state, call));
    assert!(end.is_some(), "{order:?} is not legal: {what:?}, {history:?}");
    let mut latest = 0;
    for &call in order {
        latest = latest.max(history.calls()[call].invoked);
        assert!(returned(call) > latest && latest < until, "{order:?} is out of order: {what:?}, {history:?}");
    }
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
    let missing =
        (0..history.calls().len()).find(|call| returned(*call) < until && sorted.binary_search(call).is_err());
    assert_eq!(missing, None, "missing in {order:?}: {what:?}, {history:?}");
}

/// All histories of `n` calls, numbered in the order of their invocations, of which at most `pending` never return.
fn shapes(n: usize, pending: usize) -> Vec<History> {
    fn extend(history: &History, open: Vec<usize>, n: usize, pending: usize, all: &mut Vec<History>) {
        if history.calls().len() == n && open.len() <= pending {
            all.push(history.clone());
        }
        if history.calls().len() < n {
            let mut longer = history.clone();
            let call = longer.invoke();
            extend(&longer, open.iter().copied().chain([call]).collect(), n, pending, all);
        }
        for &call in &open {
            let mut longer = history.clone();
            longer.complete(call);
            extend(&longer, open.iter().copied().filter(|&other| other != call).collect(), n, pending, all);
        }
    }
    let mut all = Vec::new();
    extend(&History::new(), Vec::new(), n, pending, &mut all);
    all
}

fn judge_collection(kind: Kind, history: &History, calls: &[CollectionCall]) -> Result<Verdict, NotApplicable> {
    match kind {
        Kind::Queue => queue(history, calls),
        Kind::Stack => stack(history, calls),
        Kind::PriorityQueue => priority_queue(history, calls),
    }
}

/// Compares on one history, if the construction applies. Returns whether the history is linearizable.
fn compare_collection(kind: Kind, history: &History, calls: &[CollectionCall]) -> Option<bool> {
    let pending = history.calls().iter().map(|interval| interval.returned.is_none()).collect();
    let verdict = judge_collection(kind, history, calls).ok()?;
    Some(agree(&mut Collection { kind, calls, pending }, history, &verdict, &(kind, calls)))
}

const KINDS: [Kind; 3] = [Kind::Queue, Kind::Stack, Kind::PriorityQueue];

#[test]
fn all_small_histories_of_collections() {
    use CollectionCall::{Empty, Insert, Remove};
    let alphabet = [Insert(0), Insert(1), Remove(0), Remove(1), Empty];
    let at_most_once =
        |word: &[CollectionCall]| (0..word.len()).all(|at| word[at] == Empty || !word[..at].contains(&word[at]));
    for (n, pending) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
        let (shapes, words) = (shapes(n, pending), words_that_pass(&alphabet, n, at_most_once));
        for kind in KINDS {
            let (mut good, mut bad) = (0, 0);
            for history in &shapes {
                for calls in &words {
                    match compare_collection(kind, history, calls) {
                        Some(true) => good += 1,
                        Some(false) => bad += 1,
                        None => panic!("no value is inserted twice"),
                    }
                }
            }
            assert_eq!(good + bad, shapes.len() * words.len());
            assert!(good > 0 && bad > 0, "{kind:?} {n}: {good} good, {bad} bad");
        }
    }
}

#[test]
fn values_that_come_twice() {
    use CollectionCall::Insert;
    let mut history = History::new();
    history.atomic();
    history.atomic();
    for kind in KINDS {
        assert_eq!(judge_collection(kind, &history, &[Insert(3), Insert(3)]), Err(NotApplicable));
        assert!(matches!(judge_collection(kind, &history, &[Insert(3), Insert(4)]), Ok(Verdict::Linearizable { .. })));
    }
}

#[test]
fn all_small_histories_with_unknown_removals() {
    use CollectionCall::{Empty, Insert, Remove, UnknownRemoval};
    let alphabet = [Insert(0), Insert(1), Remove(0), Remove(1), Empty, UnknownRemoval];
    let at_most_once = |word: &[CollectionCall]| {
        (0..word.len()).all(|at| matches!(word[at], Empty | UnknownRemoval) || !word[..at].contains(&word[at]))
    };
    for n in [2, 3, 4] {
        let (shapes, words) = (shapes(n, 2), words_that_pass(&alphabet, n, at_most_once));
        let words: Vec<_> = words.into_iter().filter(|word| word.contains(&UnknownRemoval)).collect();
        for kind in KINDS {
            let (mut good, mut bad) = (0, 0);
            for history in &shapes {
                let fits = |word: &&Vec<CollectionCall>| {
                    let pairs = word.iter().zip(history.calls());
                    pairs.into_iter().all(|(call, interval)| *call != UnknownRemoval || interval.returned.is_none())
                };
                for calls in words.iter().filter(fits) {
                    match compare_collection(kind, history, calls) {
                        Some(true) => good += 1,
                        Some(false) => bad += 1,
                        None => panic!("there are few values"),
                    }
                }
            }
            assert!(good > 0 && bad > 0, "{kind:?} {n}: {good} good, {bad} bad");
        }
    }
}

/// A history whose calls take effect in the order of their numbers; each interval reaches `spread` around its effect,
/// and `pending` of a hundred calls do not return.
fn stretched(random: &mut Stream, n: usize, spread: usize, pending: usize) -> History {
    let mut events: Vec<(usize, usize)> = Vec::new();
    for call in 0..n {
        events.push(((100 * call + 1000).saturating_sub(random.index(spread) + 1), call));
        if random.index(100) >= pending {
            events.push((100 * call + 1001 + random.index(spread), call));
        }
    }
    events.sort_unstable();
    let mut calls = vec![Interval { invoked: usize::MAX, returned: None }; n];
    for (position, &(_, call)) in events.iter().enumerate() {
        if calls[call].invoked == usize::MAX {
            calls[call].invoked = position;
        } else {
            calls[call].returned = Some(position);
        }
    }
    History::from_intervals(calls).expect("positions are distinct")
}

/// What calls in this order return: insertions of the values 0, 1, … in a random order and removals.
fn random_collection(random: &mut Stream, kind: Kind, n: usize) -> Vec<CollectionCall> {
    let mut fresh: Vec<ValueId> = (0..n as ValueId).collect();
    let mut state = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..n {
        let insert = random.index(2) == 0;
        let candidates = if insert {
            vec![CollectionCall::Insert(fresh.swap_remove(random.index(fresh.len())))]
        } else {
            state.iter().map(|&value| CollectionCall::Remove(value)).chain([CollectionCall::Empty]).collect()
        };
        let next = candidates.into_iter().find_map(|call| {
            let mut spec = Collection { kind, calls: &[call], pending: vec![false] };
            spec.step(&state, 0).map(|after| (call, after))
        });
        let (call, after) = next.expect("a call has a result");
        calls.push(call);
        state = after;
    }
    calls
}

#[test]
fn random_histories_of_collections() {
    let mut random = Stream::new(7, Purpose::History, 0);
    for kind in KINDS {
        let (mut good, mut bad) = (0, 0);
        for round in 0..4000 {
            let n = 2 + random.index(8);
            let spread = [50, 150, 400, 900][round % 4];
            let mut calls = random_collection(&mut random, kind, n);
            let history = stretched(&mut random, n, spread, [0, 10][round / 4 % 2]);
            assert_eq!(compare_collection(kind, &history, &calls), Some(true));
            // Two results are exchanged.
            let (one, other) = (random.index(n), random.index(n));
            calls.swap(one, other);
            match compare_collection(kind, &history, &calls) {
                Some(true) => good += 1,
                Some(false) => bad += 1,
                None => panic!("no value is inserted twice"),
            }
        }
        assert!(good > 500 && bad > 500, "{kind:?}: {good} good, {bad} bad");
    }
}

#[test]
fn random_histories_with_unknown_removals() {
    let mut random = Stream::new(10, Purpose::History, 0);
    for kind in KINDS {
        let (mut good, mut bad) = (0, 0);
        for round in 0..2000 {
            let n = 4 + random.index(6);
            let mut calls = random_collection(&mut random, kind, n);
            let history = stretched(&mut random, n, [50, 150, 400, 900][round % 4], 30);
            let forget = |calls: &mut [CollectionCall]| {
                for (call, interval) in calls.iter_mut().zip(history.calls()) {
                    if interval.returned.is_none() && !matches!(call, CollectionCall::Insert(_)) {
                        *call = CollectionCall::UnknownRemoval;
                    }
                }
            };
            let mut exchanged = calls.clone();
            exchanged.swap(random.index(n), random.index(n));
            forget(&mut calls);
            assert_eq!(compare_collection(kind, &history, &calls), Some(true));
            forget(&mut exchanged);
            match compare_collection(kind, &history, &exchanged) {
                Some(true) => good += 1,
                Some(false) => bad += 1,
                None => panic!("there are few values"),
            }
        }
        assert!(good > 200 && bad > 200, "{kind:?}: {good} good, {bad} bad");
    }
}

/// A hundred values and a few removals whose results are lost: the search would try the orders of the values.
#[test]
fn unknown_removals_of_a_long_history() {
    let mut random = Stream::new(11, Purpose::History, 0);
    for kind in KINDS {
        for _ in 0..3 {
            let n = 100;
            let mut calls = random_collection(&mut random, kind, n);
            let history = stretched(&mut random, n, 400, 0);
            let mut intervals = history.calls().to_vec();
            let removals = (0..n).filter(|&call| matches!(calls[call], CollectionCall::Remove(_)));
            for call in removals.step_by(20).take(2).collect::<Vec<usize>>() {
                intervals[call].returned = None;
                calls[call] = CollectionCall::UnknownRemoval;
            }
            let history = History::from_intervals(intervals).expect("positions are distinct");
            let verdict = judge_collection(kind, &history, &calls).expect("few enough");
            let Verdict::Linearizable { order } = &verdict else { panic!("{verdict:?}") };
            let pending = history.calls().iter().map(|interval| interval.returned.is_none()).collect();
            assert_order(&mut Collection { kind, calls: &calls, pending }, &history, order, usize::MAX, &kind);
        }
    }
}

fn compare_set(history: &History, calls: &[SetCall]) -> Option<bool> {
    let verdict = set(history, calls).ok()?;
    Some(agree(&mut Elements(calls), history, &verdict, &calls))
}

#[test]
fn all_small_histories_of_sets() {
    use SetAction::{Add, Find, Miss, Remove};
    let call = |action| SetCall { value: 3, action };
    let alphabet = [call(Add), call(Remove), call(Find), call(Miss)];
    let at_most_once = |word: &[SetCall]| {
        [Add, Remove].iter().all(|&action| word.iter().filter(|call| call.action == action).count() <= 1)
    };
    for (n, pending) in [(1, 1), (2, 2), (3, 3), (4, 2), (5, 0)] {
        let (mut good, mut bad) = (0, 0);
        let words = words_that_pass(&alphabet, n, at_most_once);
        let shapes = shapes(n, pending);
        for history in &shapes {
            for calls in &words {
                match compare_set(history, calls) {
                    Some(true) => good += 1,
                    Some(false) => bad += 1,
                    None => panic!("no element is added twice"),
                }
            }
        }
        assert_eq!(good + bad, shapes.len() * words.len());
        assert!(good > 0 && bad > 0);
    }
    let mut history = History::new();
    history.atomic();
    history.atomic();
    assert_eq!(set(&history, &[call(Add), call(Add)]), Err(NotApplicable));
    assert_eq!(set(&history, &[call(Add), call(SetAction::Unknown)]), Err(NotApplicable));
    let other = SetCall { value: 4, action: Add };
    assert_eq!(set(&history, &[call(Add), other]), Ok(Verdict::Linearizable { order: vec![0, 1] }));
}

#[test]
fn random_histories_of_sets() {
    use SetAction::{Add, Find, Miss, Remove};
    let mut random = Stream::new(8, Purpose::History, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..4000 {
        let n = 2 + random.index(8);
        let mut life = [0; 3];
        let calls: Vec<SetCall> = (0..n)
            .map(|_| {
                let value = random.index(3);
                let action = match (life[value], random.index(3)) {
                    (0, 0) => Add,
                    (1, 0) => Remove,
                    (1, _) => Find,
                    _ => Miss,
                };
                life[value] += usize::from(matches!(action, Add | Remove));
                SetCall { value: value as ValueId, action }
            })
            .collect();
        let history = stretched(&mut random, n, [50, 150, 400, 900][round % 4], [0, 10][round / 4 % 2]);
        assert_eq!(compare_set(&history, &calls), Some(true));
        let mut calls = calls;
        let (one, other) = (random.index(n), random.index(n));
        calls.swap(one, other);
        match compare_set(&history, &calls) {
            Some(true) => good += 1,
            Some(false) => bad += 1,
            None => panic!("no element is added twice"),
        }
    }
    assert!(good > 500 && bad > 500, "{good} good, {bad} bad");
}

fn compare_register(history: &History, calls: &[RegisterCall]) -> Option<bool> {
    let verdict = register(history, calls).ok()?;
    Some(agree(&mut Content(calls), history, &verdict, &calls))
}

#[test]
fn all_small_histories_of_registers() {
    use RegisterCall::{Read, ReadInitial, Write};
    let alphabet = [Write(5), Write(6), Read(5), Read(6), ReadInitial];
    let once = |word: &[RegisterCall]| {
        [Write(5), Write(6)].iter().all(|write| word.iter().filter(|call| *call == write).count() <= 1)
    };
    for (n, pending) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
        let (mut good, mut bad) = (0, 0);
        let words = words_that_pass(&alphabet, n, once);
        let shapes = shapes(n, pending);
        for history in &shapes {
            for calls in &words {
                match compare_register(history, calls) {
                    Some(true) => good += 1,
                    Some(false) => bad += 1,
                    None => panic!("no value is written twice"),
                }
            }
        }
        assert_eq!(good + bad, shapes.len() * words.len());
        assert!(good > 0 && bad > 0);
    }
    let mut history = History::new();
    history.atomic();
    history.atomic();
    assert_eq!(register(&history, &[Write(5), Write(5)]), Err(NotApplicable));
    assert_eq!(register(&history, &[Write(5), Write(6)]), Ok(Verdict::Linearizable { order: vec![0, 1] }));
}

#[test]
fn random_histories_of_registers() {
    let mut random = Stream::new(9, Purpose::History, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..4000 {
        let n = 2 + random.index(8);
        let mut content = None;
        let mut calls: Vec<RegisterCall> = (0..n)
            .map(|index| {
                if random.index(2) == 0 {
                    content = Some(index as ValueId);
                    RegisterCall::Write(index as ValueId)
                } else {
                    content.map_or(RegisterCall::ReadInitial, RegisterCall::Read)
                }
            })
            .collect();
        let history = stretched(&mut random, n, [50, 150, 400, 900][round % 4], [0, 10][round / 4 % 2]);
        assert_eq!(compare_register(&history, &calls), Some(true));
        let (one, other) = (random.index(n), random.index(n));
        calls.swap(one, other);
        match compare_register(&history, &calls) {
            Some(true) => good += 1,
            Some(false) => bad += 1,
            None => panic!("no value is written twice"),
        }
    }
    assert!(good > 500 && bad > 500, "{good} good, {bad} bad");
}
