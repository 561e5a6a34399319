//! The search against its slow twin, every permutation of every choice of pending calls, on all small histories.

use std::collections::VecDeque;

use super::*;
use crate::history::Interval;
use crate::testing::words;

/// What was called and what it returned. The result of a pending call is ignored.
trait Object: Clone + Eq + Hash {
    type Call: Copy;
    /// The object after the call, if the call may have returned its result.
    fn run(&self, call: Self::Call, pending: bool) -> Option<Self>;
    fn is_read_only(call: Self::Call) -> bool;
    fn part(_: Self::Call) -> Option<u32> {
        None
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Register(u8);

#[derive(Clone, Copy)]
enum OnRegister {
    Write(u8),
    Read(u8),
    Cas(u8, u8, bool),
}

impl Object for Register {
    type Call = OnRegister;
    fn is_read_only(call: OnRegister) -> bool {
        matches!(call, OnRegister::Read(_))
    }
    fn run(&self, call: OnRegister, pending: bool) -> Option<Self> {
        let now = self.0;
        match call {
            OnRegister::Write(value) => Some(Register(value)),
            OnRegister::Read(value) => (pending || value == now).then_some(Register(now)),
            OnRegister::Cas(from, to, done) => {
                (pending || done == (from == now)).then_some(Register(if from == now { to } else { now }))
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Queue(VecDeque<u8>);

#[derive(Clone, Copy)]
enum OnQueue {
    Push(u8),
    Pop(Option<u8>),
}

impl Object for Queue {
    type Call = OnQueue;
    fn is_read_only(call: OnQueue) -> bool {
        matches!(call, OnQueue::Pop(None))
    }
    fn run(&self, call: OnQueue, pending: bool) -> Option<Self> {
        let mut queue = self.clone();
        match call {
            OnQueue::Push(value) => queue.0.push_back(value),
            OnQueue::Pop(value) => {
                let popped = queue.0.pop_front();
                if !pending && popped != value {
                    return None;
                }
            }
        }
        Some(queue)
    }
}

/// A map with the keys 0 and 1.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Map([Option<u8>; 2]);

#[derive(Clone, Copy)]
enum OnMap {
    Insert(usize, u8, Option<u8>),
    Remove(usize, Option<u8>),
    Len(usize),
}

impl Object for Map {
    type Call = OnMap;
    fn is_read_only(call: OnMap) -> bool {
        matches!(call, OnMap::Len(_))
    }
    fn part(call: OnMap) -> Option<u32> {
        match call {
            OnMap::Insert(key, ..) | OnMap::Remove(key, _) => Some(key as u32),
            OnMap::Len(_) => None,
        }
    }
    fn run(&self, call: OnMap, pending: bool) -> Option<Self> {
        let mut map = self.clone();
        let agrees = match call {
            OnMap::Insert(key, value, old) => map.0[key].replace(value) == old,
            OnMap::Remove(key, old) => map.0[key].take() == old,
            OnMap::Len(len) => map.0.iter().flatten().count() == len,
        };
        (pending || agrees).then_some(map)
    }
}

struct Observed<'h, O: Object> {
    initial: O,
    calls: Vec<O::Call>,
    history: &'h History,
    /// For each call, whether its result is unknown.
    unknown: Vec<bool>,
    end: Option<O>,
    /// Whether the search is told which calls are read-only.
    says_what_reads: bool,
    /// Whether it is told the parts of the object.
    says_parts: bool,
    /// How many bytes it says that a state takes.
    bytes: usize,
}

impl<'h, O: Object> Observed<'h, O> {
    fn new(initial: O, calls: Vec<O::Call>, history: &'h History, end: Option<O>) -> Self {
        let unknown = history.calls().iter().map(|interval| interval.returned.is_none()).collect();
        Observed { initial, calls, history, unknown, end, says_what_reads: true, says_parts: true, bytes: 0 }
    }
}

impl<O: Object> Spec for Observed<'_, O> {
    type State = O;
    fn initial(&self) -> O {
        self.initial.clone()
    }
    fn step(&mut self, state: &O, call: usize) -> Option<O> {
        state.run(self.calls[call], self.unknown[call])
    }
    fn is_read_only(&self, call: usize) -> bool {
        self.says_what_reads && O::is_read_only(self.calls[call])
    }
    fn part(&self, call: usize) -> Option<u32> {
        O::part(self.calls[call]).filter(|_| self.says_parts)
    }
    fn bytes(&self, _: &O) -> usize {
        self.bytes
    }
    fn accept(&self, state: &O) -> bool {
        self.end.as_ref().is_none_or(|end| end == state)
    }
}

/// Whether the real-time order and the results allow a sequence of calls, by the definition; with `whole`, also whether
/// it is complete and ends well.
fn is_linearization<O: Object>(observed: &mut Observed<'_, O>, order: &[usize], whole: bool) -> bool {
    let history = observed.history;
    let in_order = (0..order.len()).all(|a| (a + 1..order.len()).all(|b| !history.precedes(order[b], order[a])));
    let all = |call: &usize| history.calls()[*call].returned.is_none() || order.contains(call);
    let end = order.iter().try_fold(observed.initial(), |state, &call| observed.step(&state, call));
    in_order
        && end.is_some_and(|end| !whole || ((0..history.calls().len()).all(|call| all(&call)) && observed.accept(&end)))
}

/// Every permutation of the calls in `rest` after `order`, and of every smaller choice of them.
fn twin<O: Object>(observed: &mut Observed<'_, O>, order: &mut Vec<usize>) -> bool {
    if is_linearization(observed, order, true) {
        return true;
    }
    for call in 0..observed.history.calls().len() {
        if !order.contains(&call) {
            order.push(call);
            if is_linearization(observed, order, false) && twin(observed, order) {
                return true;
            }
            order.pop();
        }
    }
    false
}

/// The part of a history before a position: a call that returns later is pending, a call that starts later is dropped.
fn before(history: &History, position: usize) -> History {
    let cut = |interval: &Interval| Interval {
        invoked: interval.invoked,
        returned: interval.returned.filter(|&returned| returned < position),
    };
    let calls = history.calls().iter().filter(|interval| interval.invoked < position).map(cut).collect();
    History::from_intervals(calls).expect("a part of a history is one")
}

fn compare<O: Object>(observed: &mut Observed<'_, O>) -> bool {
    let expected = twin(observed, &mut Vec::new());
    let mut reached = None;
    let has_parts = observed.calls.iter().any(|&call| O::part(call).is_some());
    for (says_what_reads, says_parts) in [(false, false), (true, false), (false, true), (true, true)] {
        if says_parts && !has_parts {
            continue;
        }
        observed.says_what_reads = says_what_reads;
        observed.says_parts = says_parts;
        let verdict = check(observed, observed.history, Budget::Unlimited);
        // Four calls have too many histories to try this with each.
        if says_what_reads && says_parts == has_parts && observed.calls.len() < 4 {
            assert_eq!(in_small_steps(observed), verdict);
        }
        match verdict {
            Verdict::Linearizable { order } => {
                assert!(is_linearization(observed, &order, true));
                assert!(expected);
            }
            Verdict::NotLinearizable(witness) => {
                assert!(!expected);
                // How far a linearization gets does not depend on what the search is told.
                let length = (witness.stuck, witness.longest[0].len());
                assert_eq!(*reached.get_or_insert(length), length);
                assert_witness(observed, &witness);
            }
            Verdict::Unknown(_) => panic!("there is no budget"),
        }
    }
    expected
}

/// The verdict of a search that is interrupted after each attempt and has room for only two states.
fn in_small_steps<O: Object>(observed: &mut Observed<'_, O>) -> Verdict {
    observed.bytes = 1_000_000;
    let history = observed.history;
    let mut search = Search::new(&mut *observed, history);
    search.set_memory(8_000_000);
    let verdict = loop {
        let before = search.attempts();
        match search.advance(0) {
            Progress::Done(verdict) => break verdict,
            Progress::Going => assert!(search.attempts() > before),
        }
    };
    drop(search);
    observed.bytes = 0;
    verdict
}

fn assert_witness<O: Object>(observed: &mut Observed<'_, O>, witness: &Witness) {
    let history = observed.history;
    let returned = |call: usize| history.calls()[call].returned;
    let stuck = witness.stuck.map(|call| returned(call).expect("a pending call is never stuck"));
    assert!(!witness.longest.is_empty());
    for order in &witness.longest {
        assert!(is_linearization(observed, order, false));
        let placed = |call: usize| order.contains(&call) || stuck.is_some_and(|stuck| returned(call) >= Some(stuck));
        assert!((0..history.calls().len()).all(|call| returned(call).is_none() || placed(call)));
    }
    // Linearizable up to there and no further, where a call that returns later has its result.
    let cut_at = |position: usize| {
        let history = before(history, position);
        // Calls are in the order of their invocations, so the calls of a part come first.
        let mut part = Observed::new(observed.initial.clone(), observed.calls.clone(), &history, None);
        part.unknown = observed.unknown.clone();
        twin(&mut part, &mut Vec::new())
    };
    match stuck {
        Some(stuck) => assert!(cut_at(stuck) && !cut_at(stuck + 1)),
        None => assert!(observed.end.is_some() && cut_at(usize::MAX)),
    }
}

/// All histories of `n` calls, numbered in the order of their invocations, some of them pending.
fn shapes(n: usize) -> Vec<History> {
    fn extend(history: &History, n: usize, all: &mut Vec<History>) {
        if history.calls().len() == n {
            all.push(history.clone());
        } else {
            let mut longer = history.clone();
            longer.invoke();
            extend(&longer, n, all);
        }
        for call in 0..history.calls().len() {
            if history.calls()[call].returned.is_none() {
                let mut longer = history.clone();
                longer.complete(call);
                extend(&longer, n, all);
            }
        }
    }
    let mut all = Vec::new();
    extend(&History::new(), n, &mut all);
    all
}

/// Compares on all histories of `n` calls from the alphabet and all ends: how many there are, and how many of them
/// are linearizable.
fn sweep<O: Object>(initial: O, alphabet: &[O::Call], n: usize, ends: &[Option<O>]) -> (usize, usize) {
    let (mut histories, mut linearizable) = (0, 0);
    let words = words(alphabet, n);
    for history in &shapes(n) {
        for calls in &words {
            for end in ends {
                let mut observed = Observed::new(initial.clone(), calls.clone(), history, end.clone());
                histories += 1;
                linearizable += usize::from(compare(&mut observed));
            }
        }
    }
    (histories, linearizable)
}

#[test]
fn the_number_of_shapes() {
    // With m of n calls pending: C(2n - m, m) places for their invocations, (2(n - m) - 1)!! ways to pair the rest.
    assert_eq!(shapes(0).len(), 1);
    assert_eq!(shapes(1).len(), 1 + 1);
    assert_eq!(shapes(2).len(), 3 + 3 + 1);
    assert_eq!(shapes(3).len(), 15 + 5 * 3 + 6 + 1);
    assert_eq!(shapes(4).len(), 105 + 7 * 15 + 15 * 3 + 10 + 1);
}

#[test]
fn all_small_register_histories() {
    use OnRegister::{Cas, Read, Write};
    let alphabet = [Write(0), Write(1), Read(0), Read(1), Cas(0, 1, true), Cas(0, 1, false)];
    let ends = [None, Some(Register(0)), Some(Register(1))];
    let (histories, linearizable) = sweep(Register(0), &alphabet, 3, &ends);
    assert_eq!(histories, 37 * 216 * 3);
    assert!(0 < linearizable && linearizable < histories);
    let (histories, _) = sweep(Register(0), &[Write(1), Write(2), Read(0), Read(1), Read(2)], 4, &[None]);
    assert_eq!(histories, 266 * 625);
}

#[test]
fn all_small_queue_histories() {
    use OnQueue::{Pop, Push};
    let alphabet = [Push(1), Push(2), Pop(None), Pop(Some(1)), Pop(Some(2))];
    let (histories, _) = sweep(Queue(VecDeque::new()), &alphabet, 4, &[None]);
    assert_eq!(histories, 266 * 625);
    let end = |items: &[u8]| Some(Queue(items.iter().copied().collect()));
    let (histories, linearizable) =
        sweep(Queue(VecDeque::new()), &alphabet, 3, &[end(&[]), end(&[1]), end(&[1, 2]), end(&[2, 1])]);
    assert_eq!(histories, 37 * 125 * 4);
    assert!(0 < linearizable && linearizable < histories);
}

#[test]
fn all_small_map_histories() {
    use OnMap::{Insert, Len, Remove};
    let alphabet = [
        Insert(0, 5, None),
        Insert(1, 5, None),
        Insert(0, 6, Some(5)),
        Remove(0, Some(5)),
        Remove(0, None),
        Len(1),
        Len(2),
    ];
    let (histories, linearizable) = sweep(Map([None; 2]), &alphabet, 3, &[None, Some(Map([None; 2]))]);
    assert_eq!(histories, 37 * 343 * 2);
    assert!(0 < linearizable && linearizable < histories);
    let alphabet = [Insert(0, 5, None), Insert(0, 6, Some(5)), Remove(0, Some(5)), Insert(1, 5, None), Len(1)];
    let (histories, linearizable) = sweep(Map([None; 2]), &alphabet, 4, &[None]);
    assert_eq!(histories, 266 * 625);
    assert!(0 < linearizable && linearizable < histories);
}

/// `n` calls about parts of their own, which all overlap, and one about the first part with an impossible result.
struct Parts {
    n: usize,
    says_parts: bool,
}

impl Spec for Parts {
    type State = u64;
    fn initial(&self) -> u64 {
        0
    }
    fn step(&mut self, state: &u64, call: usize) -> Option<u64> {
        (call < self.n).then_some(state | 1 << call)
    }
    fn part(&self, call: usize) -> Option<u32> {
        self.says_parts.then_some((call % self.n) as u32)
    }
}

#[test]
fn parts_do_not_multiply() {
    let n = 40;
    let mut history = History::new();
    let calls: Vec<usize> = (0..n).map(|_| history.invoke()).collect();
    calls.into_iter().for_each(|call| history.complete(call));
    let stuck = history.atomic();
    let expected = Witness { stuck: Some(stuck), longest: vec![(0..n).collect()] };
    let verdict = |says_parts, attempts| check(&mut Parts { n, says_parts }, &history, Budget::StopAfter(attempts));
    // Each call when it has to return, and then the impossible one.
    assert_eq!(verdict(true, 41), Verdict::NotLinearizable(expected.clone()));
    assert_eq!(verdict(true, 40), Verdict::Unknown(Bound::Attempts));
    // And once more for the longest linearizations.
    assert_eq!(verdict(true, 10_000), Verdict::NotLinearizable(expected));
    // There are 2^40 sets of calls.
    assert_eq!(verdict(false, 100_000), Verdict::Unknown(Bound::Attempts));
}

#[test]
fn the_longest_linearization_has_calls_of_other_parts() {
    // Part 0: a call with an impossible result. Parts 1 and 2: calls that overlap it.
    let mut history = History::new();
    let calls: Vec<usize> = (0..3).map(|_| history.invoke()).collect();
    calls.into_iter().for_each(|call| history.complete(call));
    struct First;
    impl Spec for First {
        type State = usize;
        fn initial(&self) -> usize {
            0
        }
        fn step(&mut self, state: &usize, call: usize) -> Option<usize> {
            (call > 0).then_some(state + call)
        }
        fn part(&self, call: usize) -> Option<u32> {
            Some(call as u32)
        }
    }
    let expected = Witness { stuck: Some(0), longest: vec![vec![1, 2]] };
    assert_eq!(check(&mut First, &history, Budget::Unlimited), Verdict::NotLinearizable(expected));
}

/// The history H_2 of COLT, Figure 4: remove(4) is true, and then contains(4) is true.
#[test]
fn the_stuck_call_is_named() {
    let mut history = History::new();
    let write = history.atomic();
    let overlapping = history.invoke();
    let stale = history.atomic();
    history.complete(overlapping);
    let calls = vec![OnRegister::Write(1), OnRegister::Read(1), OnRegister::Read(0)];
    let mut observed = Observed::new(Register(0), calls, &history, None);
    let expected = Witness { stuck: Some(stale), longest: vec![vec![write, overlapping]] };
    assert_eq!(check(&mut observed, &history, Budget::Unlimited), Verdict::NotLinearizable(expected));

    observed.calls[stale] = OnRegister::Read(1);
    let order = vec![write, overlapping, stale];
    assert_eq!(check(&mut observed, &history, Budget::Unlimited), Verdict::Linearizable { order });
}

#[test]
fn a_final_state_that_no_order_reaches() {
    let mut history = History::new();
    let write = history.atomic();
    let mut observed = Observed::new(Register(0), vec![OnRegister::Write(1)], &history, Some(Register(2)));
    let expected = Witness { stuck: None, longest: vec![vec![write]] };
    assert_eq!(check(&mut observed, &history, Budget::Unlimited), Verdict::NotLinearizable(expected));
    observed.end = Some(Register(1));
    assert_eq!(check(&mut observed, &history, Budget::Unlimited), Verdict::Linearizable { order: vec![write] });
}

/// `width` writes of distinct values that all overlap, and a read that overlaps them too.
fn wide(width: usize, read: u8) -> (History, Vec<OnRegister>) {
    let mut history = History::new();
    let calls: Vec<usize> = (0..=width).map(|_| history.invoke()).collect();
    calls.into_iter().for_each(|call| history.complete(call));
    let writes = (0..width).map(|value| OnRegister::Write((value % 100) as u8));
    (history, writes.chain([OnRegister::Read(read)]).collect())
}

#[test]
fn any_number_of_calls_may_overlap() {
    // One width for each representation of the set of open calls, at both of its edges.
    for width in [62, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024, 1100] {
        let (history, calls) = wide(width, 7);
        let mut observed = Observed::new(Register(0), calls, &history, None);
        let Verdict::Linearizable { order } = check(&mut observed, &history, Budget::Unlimited) else {
            panic!("the read may come right after the write of 7")
        };
        assert!(is_linearization(&mut observed, &order, true));
    }
}

#[test]
fn a_budget_that_is_used_up_is_a_verdict() {
    let (history, calls) = wide(40, 200);
    let mut observed = Observed::new(Register(0), calls, &history, None);
    assert_eq!(check(&mut observed, &history, Budget::StopAfter(10_000)), Verdict::Unknown(Bound::Attempts));
    // So is memory: there are 2^40 sets of calls.
    let mut search = Search::new(&mut observed, &history);
    search.set_memory(1_000_000);
    assert_eq!(search.advance(u64::MAX), Progress::Done(Verdict::Unknown(Bound::Memory)));
    assert!(search.attempts() > 10_000);
}

#[test]
fn a_violation_that_is_known_is_not_forgotten() {
    let n = 40;
    let mut history = History::new();
    let calls: Vec<usize> = (0..n).map(|_| history.invoke()).collect();
    calls.into_iter().for_each(|call| history.complete(call));
    let stuck = history.atomic();
    let mut search = Search::new(Parts { n, says_parts: true }, &history);
    // It takes 41 attempts to know, and as many again to look for the longest linearizations.
    assert_eq!(search.advance(41), Progress::Going);
    let Verdict::NotLinearizable(witness) = search.conclude() else { panic!("it is known") };
    assert_eq!(witness.stuck, Some(stuck));
}

#[test]
fn a_budget_that_suffices_changes_nothing() {
    let (history, calls) = wide(2, 1);
    let mut observed = Observed::new(Register(0), calls, &history, None);
    // First write 0, then write 1 (the read cannot be first). Then the search tries write 1 after write 0, and the read
    // fails again. Then the read: 3 + 2 + 1 steps.
    assert_eq!(check(&mut observed, &history, Budget::StopAfter(5)), Verdict::Unknown(Bound::Attempts));
    assert_eq!(check(&mut observed, &history, Budget::StopAfter(6)), Verdict::Linearizable { order: vec![0, 1, 2] });
}

/// Numbers in a row, with how often a call was tried.
struct Row {
    pushes: usize,
    tried: usize,
}

impl Spec for Row {
    type State = Vec<u8>;
    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }
    fn step(&mut self, state: &Vec<u8>, call: usize) -> Option<Vec<u8>> {
        self.tried += 1;
        let mut state = state.clone();
        match call < self.pushes {
            true => state.push(7),
            false => _ = state.pop()?,
        }
        Some(state)
    }
    fn bytes(&self, state: &Vec<u8>) -> usize {
        100 + state.len()
    }
}

/// A sequential history leaves no choice: the search tries each call once and computes no state twice, even with very
/// little memory. The states of the second half equal those of the first.
#[test]
fn each_call_of_a_sequential_history_is_tried_once() {
    let calls = 1_000;
    // With one push less, the pop after as many pops as pushes finds nothing: the last call is not tried.
    for (pushes, expected, tried) in [(calls / 2, true, calls), (calls / 2 - 1, false, calls - 1)] {
        let mut history = History::new();
        (0..calls).for_each(|call| {
            history.invoke();
            history.complete(call);
        });
        let mut row = Row { pushes, tried: 0 };
        let mut search = Search::new(&mut row, &history);
        search.set_memory(1_000_000);
        let Progress::Done(verdict) = search.advance(u64::MAX) else { panic!("there is no bound") };
        drop(search);
        assert_eq!(matches!(verdict, Verdict::Linearizable { .. }), expected);
        assert_eq!(row.tried, tried);
    }
}
