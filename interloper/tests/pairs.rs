//! Two methods of a type at once: what is counted, what is found, and what is not.

use std::sync::atomic::Ordering::SeqCst;

use interloper::collections::{AtomicU64, DashMap, Mutex, SegQueue};
use interloper::{Misuse, Pair, PairVerdict, Pairs, PairsReport, shown, subject};

#[derive(Default)]
struct Two {
    one: AtomicU64,
    other: AtomicU64,
}

subject!(Two { one, other });

impl Two {
    fn add(&self) {
        self.one.fetch_add(1, SeqCst);
        self.other.fetch_add(1, SeqCst);
    }

    fn both(&self) -> (u64, u64) {
        (self.one.load(SeqCst), self.other.load(SeqCst))
    }

    /// Both are read until they agree: then a step of `add` may still be missing, which no other call can tell.
    fn swap(&self) -> u64 {
        self.one.swap(0, SeqCst)
    }

    fn agree(&self) -> bool {
        self.one.load(SeqCst) == self.other.load(SeqCst)
    }
}

fn pair(report: &PairsReport, methods: [&str; 2]) -> Pair {
    let is_it = |pair: &&Pair| pair.methods == methods;
    report.pairs.iter().find(is_it).unwrap_or_else(|| panic!("{methods:?}: {report:#?}")).clone()
}

fn verdict(report: &PairsReport, methods: [&str; 2]) -> PairVerdict {
    pair(report, methods).verdict
}

fn two() -> Pairs<Two> {
    Pairs::new("Two", Two::default).call("add", "()", |two| shown!(two.add()))
}

/// Two calls of two steps have C(4, 2) = 6 interleavings, from each of the three states that up to two calls reach. A call and two
/// others in a row have C(6, 2) = 15, from each of the two states that up to one call reaches.
#[test]
fn interleavings_of_a_pair_are_counted() {
    let report = two().check().expect("well described");
    assert_eq!((report.states, report.more_states, report.plain), (3, false, 0));
    let [add] = &report.pairs[..] else { panic!("{report:#?}") };
    assert_eq!((add.verdict, add.executions), (PairVerdict::Atomic, 3 * 6 + 2 * 15));
}

#[test]
fn two_atomics_that_are_read_between_are_told_with_the_interleaving() {
    let report = two().call("both", "()", |two| shown!(two.both())).check().expect("well described");
    assert_eq!(verdict(&report, ["add", "add"]), PairVerdict::Atomic);
    assert_eq!(report.plain, 1, "two calls that only read");
    let found = pair(&report, ["add", "both"]);
    assert_eq!(found.verdict, PairVerdict::NotAtomic);
    assert_eq!(found.schema.as_deref(), Some("{ add() } || { both() }"));
    assert_eq!(found.interrupted, ["both"]);
    let lines = [
        "✗ Two: add and both",
        "one.load() → 0",
        "at interloper/tests/pairs.rs:23:",
        "both(), add()      both() returns (0, 0)",
        "add(), both()      both() returns (1, 1)",
    ];
    assert!(lines.iter().all(|line| found.report.contains(line)), "{}", found.report);
    let replay = found.replay.expect("a violation is recorded");
    let says = format!("replay: .replay(\"add\", \"both\", {replay:?})");
    assert!(found.report.contains(&says), "{}", found.report);
}

/// A replay makes the one execution. Of a pair that was mended meanwhile it says that it is atomic, and what is not an execution of
/// the pair is refused.
#[test]
fn a_violation_is_replayed() {
    let pairs = || two().call("both", "()", |two| shown!(two.both()));
    let found = pair(&pairs().check().expect("well described"), ["add", "both"]);
    let text = found.replay.expect("a violation is recorded");
    let again = pairs().replay("add", "both", text.as_str()).check().expect("it is the same type");
    let [one] = &again.pairs[..] else { panic!("{again:#?}") };
    assert_eq!((one.verdict, one.executions), (PairVerdict::NotAtomic, 1));
    assert_eq!((&one.schema, &one.interrupted), (&found.schema, &found.interrupted));
    assert_eq!(one.replay.as_deref(), Some(text.as_str()));
    let table = |report: &str| report.split_once('\n').expect("lines").1.to_owned();
    assert_eq!(table(&one.report), table(&found.report));
    // What reads both at once.
    let mended = two().call("both", "()", |two| shown!(two.one.load(SeqCst)));
    let refused = mended.replay("add", "both", text.as_str()).check().map(|report| report.pairs[0].verdict);
    assert!(matches!(refused, Ok(PairVerdict::Atomic) | Err(Misuse::Diverged { .. })), "{refused:?}");
    for (one, other, text) in
        [("add", "none", text.as_str()), ("both", "both", text.as_str()), ("add", "both", "9:a"), ("add", "both", "")]
    {
        let refused = pairs().replay(one, other, text).check();
        assert!(matches!(refused, Err(Misuse::Diverged { .. })), "{one} {other} {text}: {refused:?}");
    }
}

#[test]
fn the_pairs_with_a_violation_are_asserted() {
    let pairs = || two().call("both", "()", |two| shown!(two.both()));
    pairs().assert_violations([["add", "both"]]);
    two().assert_violations([]);
    let fails = |pairs: Pairs<Two>, expected: &[[&'static str; 2]]| {
        let run = || match expected {
            [] => pairs.assert_violations([]),
            [one] => pairs.assert_violations([*one]),
            more => panic!("{more:?}"),
        };
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it differs");
        failed.downcast_ref::<String>().expect("a message").clone()
    };
    assert!(fails(pairs(), &[]).contains("✗ Two: add and both"));
    assert!(fails(two(), &[["add", "add"]]).contains("Two: add and add: atomic together"));
    assert!(fails(two(), &[["add", "none"]]).contains("add and none: not searched"));
}

/// A map and the number of its entries.
#[derive(Default)]
struct Stock {
    items: DashMap<u32, u32>,
    number: AtomicU64,
}

subject!(Stock { items, number });

impl Stock {
    /// The number is that of the entries, whoever adds: `insert` says who was first.
    fn add(&self, id: u32) -> bool {
        let is_new = self.items.insert(id, 1).is_none();
        if is_new {
            self.number.fetch_add(1, SeqCst);
        }
        is_new
    }

    /// Two calls may both find nothing, and both count.
    fn add_if_missing(&self, id: u32) {
        if !self.items.contains_key(&id) {
            self.items.insert(id, 1);
            self.number.fetch_add(1, SeqCst);
        }
    }

    fn remove(&self, id: u32) -> bool {
        let was = self.items.remove(&id).is_some();
        if was {
            self.number.fetch_sub(1, SeqCst);
        }
        was
    }
}

#[test]
fn a_map_and_its_counter_need_no_specification() {
    let counted =
        |add: fn(&Stock, u32)| {
            let pairs = Pairs::new("Stock", Stock::default)
                .call("add", "(7)", move |stock| shown!(add(stock, 7)))
                .call("add", "(8)", move |stock| shown!(add(stock, 8)));
            pairs.call("remove", "(7)", |stock| shown!(stock.remove(7))).check().expect("well described")
        };
    let right = counted(|stock, id| {
        stock.add(id);
    });
    assert!(right.pairs.iter().all(|pair| pair.verdict == PairVerdict::Atomic), "{right:#?}");
    assert_eq!(right.pairs.len(), 3);
    let wrong = counted(Stock::add_if_missing);
    let found = pair(&wrong, ["add", "add"]);
    assert_eq!(found.verdict, PairVerdict::NotAtomic);
    assert_eq!(found.schema.as_deref(), Some("{ add(7) } || { add(7) }"));
    assert!(found.report.contains("items: {7: 1}, number: 1 remains"), "{}", found.report);
    assert_eq!(verdict(&wrong, ["remove", "remove"]), PairVerdict::Atomic);
}

/// A map and a queue of its keys, in the order of their arrival.
#[derive(Default)]
struct Recent {
    values: DashMap<u32, u32>,
    order: SegQueue<u32>,
    lock: Mutex<u64>,
}

subject!(Recent { values, order, lock });

impl Recent {
    fn put_late(&self, key: u32) {
        self.order.push(key);
        self.values.insert(key, 1);
    }

    fn put(&self, key: u32) {
        self.values.insert(key, 1);
        self.order.push(key);
    }

    fn put_locked(&self, key: u32) {
        let _lock = self.lock.lock().unwrap();
        self.put_late(key);
    }

    fn evict_locked(&self) -> (Option<u32>, bool) {
        let _lock = self.lock.lock().unwrap();
        self.evict()
    }

    /// The oldest, which is in the map.
    fn evict(&self) -> (Option<u32>, bool) {
        let oldest = self.order.pop();
        (oldest, oldest.is_some_and(|key| self.values.remove(&key).is_some()))
    }
}

#[test]
fn a_map_and_its_queue_need_no_specification() {
    let evicting = |put: fn(&Recent, u32), evict: fn(&Recent) -> (Option<u32>, bool)| {
        let pairs = Pairs::new("Recent", Recent::default)
            .call("put", "(7)", move |recent| shown!(put(recent, 7)))
            .call("put", "(8)", move |recent| shown!(put(recent, 8)));
        pairs.call("evict", "()", move |recent| shown!(evict(recent))).check().expect("well described")
    };
    let late = evicting(Recent::put_late, Recent::evict);
    let found = pair(&late, ["put", "evict"]);
    assert_eq!(found.schema.as_deref(), Some("{ put(7) } || { evict() }"), "{late:#?}");
    assert!(found.report.contains("evict() returns (none, false)"), "{}", found.report);
    // Where the order is not kept, the keys of two calls can come into the queue the other way round than into the map.
    let early = evicting(Recent::put, Recent::evict);
    let found = pair(&early, ["put", "evict"]);
    assert_eq!(found.schema.as_deref(), Some("put(7); { put(7) } || { evict(); put(8) }"), "{early:#?}");
    assert!(found.report.contains(", after"), "{}", found.report);
    let locked = evicting(Recent::put_locked, Recent::evict_locked);
    assert!(locked.pairs.iter().all(|pair| pair.verdict == PairVerdict::Atomic), "{locked:#?}");
    assert_eq!(locked.pairs.len(), 3);
}

/// A pair that is atomic only because both methods use one lock.
struct Locked {
    lock: Mutex<u64>,
    one: AtomicU64,
    other: AtomicU64,
}

subject!(Locked { lock, one, other });

impl Locked {
    fn new() -> Locked {
        Locked { lock: Mutex::new(0), one: AtomicU64::new(0), other: AtomicU64::new(0) }
    }

    fn add(&self) {
        let _lock = self.lock.lock().unwrap();
        self.one.fetch_add(1, SeqCst);
        self.other.fetch_add(1, SeqCst);
    }

    fn both(&self) -> (u64, u64) {
        let _lock = self.lock.lock().unwrap();
        self.both_unlocked()
    }

    fn both_unlocked(&self) -> (u64, u64) {
        (self.one.load(SeqCst), self.other.load(SeqCst))
    }
}

#[test]
fn one_lock_makes_a_pair_atomic() {
    let report = Pairs::new("Locked", Locked::new)
        .call("add", "()", |locked| shown!(locked.add()))
        .call("both", "()", |locked| shown!(locked.both()))
        .call("both_unlocked", "()", |locked| shown!(locked.both_unlocked()))
        .check()
        .expect("well described");
    assert_eq!(verdict(&report, ["add", "add"]), PairVerdict::Atomic);
    assert_eq!(verdict(&report, ["add", "both"]), PairVerdict::Atomic);
    assert_eq!(verdict(&report, ["add", "both_unlocked"]), PairVerdict::NotAtomic);
    assert_eq!(report.plain, 3, "both methods that read");
}

/// The number of entries that may be there is no collection of the subject: nothing can read it but the invariant.
struct Hidden {
    items: DashMap<u32, u32>,
    marked: std::cell::Cell<u32>,
}

subject!(Hidden { items });

impl Hidden {
    fn new() -> Hidden {
        Hidden { items: DashMap::new(), marked: std::cell::Cell::new(0) }
    }

    fn add(&self, id: u32) {
        let is_new = !self.items.contains_key(&id);
        self.items.insert(id, 1);
        self.marked.set(self.marked.get() + u32::from(is_new));
    }

    fn add_twice(&self, id: u32) {
        self.items.insert(id, 1);
        self.marked.set(self.marked.get() + 2);
        self.items.insert(id, 1);
    }

    fn at_most_one(&self) -> bool {
        self.marked.get() <= 1
    }
}

#[test]
fn an_invariant_that_only_two_calls_at_once_break_is_reported() {
    let report = Pairs::new("Hidden", Hidden::new)
        .call("add", "(7)", |hidden| shown!(hidden.add(7)))
        .invariant("at_most_one", Hidden::at_most_one)
        .check()
        .expect("well described");
    let found = pair(&report, ["add", "add"]);
    assert_eq!(found.verdict, PairVerdict::InvariantBroken, "{report:#?}");
    assert_eq!(report.broken_alone, []);
    let lines = ["`at_most_one` is false", "add(7), add(7)", "`at_most_one` holds"];
    assert!(lines.iter().all(|line| found.report.contains(line)), "{}", found.report);
}

#[test]
fn an_invariant_that_sequential_calls_break_is_named_and_no_violation() {
    let report = Pairs::new("Hidden", Hidden::new)
        .call("add_twice", "(7)", |hidden| shown!(hidden.add_twice(7)))
        .invariant("at_most_one", Hidden::at_most_one)
        .invariant("any", |_| true)
        .check()
        .expect("well described");
    assert_eq!(verdict(&report, ["add_twice", "add_twice"]), PairVerdict::Atomic);
    let calls = "add_twice(7), add_twice(7)".to_owned();
    assert_eq!(report.broken_alone, [("at_most_one".to_owned(), calls)]);
}

#[test]
fn an_invariant_of_the_fields_that_are_compared() {
    let report = two()
        .call("swap", "()", |two| shown!(two.swap()))
        .invariant("agree", Two::agree)
        .check()
        .expect("well described");
    assert_eq!(verdict(&report, ["add", "add"]), PairVerdict::Atomic);
    assert_eq!(report.broken_alone, [("agree".to_owned(), "add(), swap()".to_owned())]);
}

/// Two locks that two methods take in different orders.
struct Crossed {
    one: Mutex<u64>,
    other: Mutex<u64>,
}

subject!(Crossed { one, other });

impl Crossed {
    fn new() -> Crossed {
        Crossed { one: Mutex::new(0), other: Mutex::new(0) }
    }

    fn there(&self) {
        let mut one = self.one.lock().unwrap();
        *one += 1;
        *self.other.lock().unwrap() += *one;
    }

    fn back(&self) {
        let mut other = self.other.lock().unwrap();
        *other += 1;
        *self.one.lock().unwrap() += *other;
    }

    fn twice(&self) {
        let _one = self.one.lock().unwrap();
        *self.one.lock().unwrap() += 1;
    }
}

#[test]
fn a_deadlock_of_two_calls_is_reported_and_one_of_a_single_call_is_not() {
    let report = Pairs::new("Crossed", Crossed::new)
        .call("there", "()", |crossed| shown!(crossed.there()))
        .call("back", "()", |crossed| shown!(crossed.back()))
        .call("twice", "()", |crossed| shown!(crossed.twice()))
        .check()
        .expect("well described");
    let found = pair(&report, ["there", "back"]);
    assert!(found.report.contains("deadlock"), "{}", found.report);
    assert_eq!(verdict(&report, ["there", "there"]), PairVerdict::Atomic);
    let alone: Vec<&String> = report.left_out.iter().map(|(name, _)| name).collect();
    assert_eq!(alone, ["twice"], "{report:#?}");
}

/// Waits until the other one is even, as a lock would.
#[derive(Default)]
struct Spinning {
    lock: AtomicU64,
    value: AtomicU64,
}

subject!(Spinning { lock, value });

impl Spinning {
    fn add_two(&self) -> u64 {
        while self.lock.swap(1, SeqCst) == 1 {}
        let value = self.value.load(SeqCst);
        self.value.store(value + 2, SeqCst);
        self.lock.store(0, SeqCst);
        value
    }
}

#[test]
fn a_call_that_spins_is_no_violation() {
    let report = Pairs::new("Spinning", Spinning::default)
        .call("add_two", "()", |spinning| shown!(spinning.add_two()))
        .check()
        .expect("well described");
    let found = pair(&report, ["add_two", "add_two"]);
    assert!(!found.is_violation(), "{found:#?}");
}

#[test]
fn a_method_that_gives_something_else_each_time_is_left_out_with_the_reason() {
    let number = std::rc::Rc::new(std::cell::Cell::new(0));
    let report = two()
        .call("random", "()", move |two| {
            number.set(number.get() + 1);
            two.one.store(number.get(), SeqCst);
            shown!(two.both())
        })
        .check()
        .expect("well described");
    let [(name, reason)] = &report.left_out[..] else { panic!("{report:#?}") };
    assert_eq!(name, "random");
    assert!(reason.contains("not deterministic"), "{reason}");
    assert_eq!(verdict(&report, ["add", "add"]), PairVerdict::Atomic);
}

/// Numbers that no collection shows.
struct Tickets {
    taken: DashMap<u32, u32>,
    next: std::cell::Cell<u32>,
}

subject!(Tickets { taken });

impl Tickets {
    fn new() -> Tickets {
        Tickets { taken: DashMap::new(), next: std::cell::Cell::new(0) }
    }

    fn take(&self) -> u32 {
        let number = self.next.get();
        self.next.set(number + 1);
        self.taken.insert(number, 1);
        number
    }

    fn take_twice(&self) -> (u32, u32) {
        (self.take(), self.take())
    }
}

/// What a call does alone from a state does not say what it does after another, where the state is not all there is.
#[test]
fn state_that_nothing_shows_needs_real_orders() {
    let tickets = || {
        Pairs::new("Tickets", Tickets::new).call("take", "()", |tickets| shown!(tickets.take())).call(
            "take_twice",
            "()",
            |tickets| shown!(tickets.take_twice()),
        )
    };
    let report = tickets().hides_state().check().expect("well described");
    assert_eq!(report.states, 1);
    let found = pair(&report, ["take", "take_twice"]);
    assert_eq!(found.schema.as_deref(), Some("{ take_twice() } || { take() }"), "{found:#?}");
    let alone = Pairs::new("Tickets", Tickets::new)
        .call("take", "()", |tickets| {
            tickets.taken.contains_key(&0);
            shown!(tickets.take())
        })
        .hides_state()
        .check()
        .expect("well described");
    assert_eq!(verdict(&alone, ["take", "take"]), PairVerdict::Atomic, "{alone:#?}");
    let blind = tickets().check().expect("well described");
    assert!(pair(&blind, ["take", "take_twice"]).is_violation());
}
