use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Condvar, Mutex};

use super::*;
use crate::object::{Object, panicked};
use crate::testing::program;

fn counter() -> Object {
    Object::describe("counter", || AtomicI64::new(0))
        .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, std::sync::atomic::Ordering::Relaxed))
        .core("get", |counter, ()| counter.load(std::sync::atomic::Ordering::Relaxed))
        .reads()
        .build()
}

fn executions(number: u64) -> Settings {
    Settings { budget: Budget::Executions(number), ..Settings::default() }
}

/// The outcomes as text, `0 1` for example, with their counts.
fn outcomes(observed: &Observed) -> BTreeMap<String, u64> {
    let text = |outcome: &Vec<Value>| outcome.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    observed.outcomes.iter().map(|(outcome, &count)| (text(outcome), count)).collect()
}

fn run_all(object: &Object, schema: &str, settings: &Settings) -> Observed {
    run(&program(object, schema), settings, &mut |_| Next::Continue)
}

#[test]
fn counts_add_up_and_outcomes_are_possible() {
    let check = |schema: &str, possible: &[&str], settings: &Settings| {
        let observed = run_all(&counter(), schema, settings);
        let outcomes = outcomes(&observed);
        assert_eq!((observed.end, observed.executions), (End::Enough, 2_345));
        assert_eq!(outcomes.values().sum::<u64>(), 2_345);
        assert!(outcomes.keys().all(|outcome| possible.contains(&outcome.as_str())), "{schema}: {outcomes:?}");
    };
    let settings = executions(2_345);
    check("{ add(1); get() }", &["0 1"], &settings);
    for spin in [Spin::Auto, Spin::Yield] {
        for affinity in [Affinity::Pinned, Affinity::Free] {
            check("{ add(1) } || { add(1) }", &["0 1", "1 0"], &Settings { spin, affinity, ..settings.clone() });
        }
    }
    // On a busy machine, each meeting of threads that never sleep may take some milliseconds, so the test has few
    // meetings.
    let pace = Some(Pace { batch: 2_345, stride: Stride::Batch, ..Pace::default() });
    let busy = Settings { spin: Spin::Busy, pace, ..settings.clone() };
    check("{ add(1) } || { add(1) }", &["0 1", "1 0"], &busy);
    check("{ add(1) } || { add(1) }", &["0 1", "1 0"], &Settings { cores: Some(1), ..settings.clone() });
    check("{ add(1); add(1) } || { get() }", &["0 1 0", "0 1 1", "0 1 2"], &settings);
    let three = ["0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"];
    check("{ add(1) } || { add(1) } || { add(1) }", &three, &settings);
}

#[test]
fn every_pace_counts_every_execution() {
    for stride in [Stride::Every(1), Stride::Every(3), Stride::Batch] {
        for batch in [1, 7, 64] {
            let pace = Pace { batch, stride, skew: 100 };
            let observed =
                run_all(&counter(), "{ add(1) } || { add(1) }", &Settings { pace: Some(pace), ..executions(200) });
            assert_eq!(outcomes(&observed).values().sum::<u64>(), 200, "{pace:?}");
        }
    }
}

#[test]
fn happens_before_is_kept() {
    // Without the constraints 0, 1 and 2 would all be possible.
    let check = |schema: &str, expected: &str| {
        let observed = run_all(&counter(), schema, &executions(3_000));
        assert_eq!(outcomes(&observed), BTreeMap::from([(expected.to_owned(), 3_000)]), "{schema}");
    };
    check("[add(1)], [get()], {0<1}", "0 1");
    check("[get()], [add(1)], {1<0}", "1 0");
    check("[add(0)], [add(0)], [add(1); get()], {0<2, 1<2}", "0 0 0 1");
    check("[add(1)], [add(0)], [get()], [get()], {0<1, 0<2, 0<3, 1<2, 1<3}", "0 1 1 1");
    let observed = run_all(&counter(), "[add(1)], [add(1)], [get()], {0<2, 1<2}", &executions(3_000));
    assert!(outcomes(&observed).keys().all(|outcome| ["0 1 2", "1 0 2"].contains(&outcome.as_str())));
}

/// A counter whose `add` reads, waits for up to a millisecond until somebody else has read too, and then writes.
#[derive(Default)]
struct Racy {
    value: AtomicI64,
    readers: AtomicU64,
}

impl Racy {
    fn add(&self, amount: i64) -> i64 {
        use std::sync::atomic::Ordering::SeqCst;
        let value = self.value.load(SeqCst);
        self.readers.fetch_add(1, SeqCst);
        let start = Instant::now();
        while self.readers.load(SeqCst) < 2 && start.elapsed() < Duration::from_millis(1) {
            std::thread::yield_now();
        }
        self.value.store(value + amount, SeqCst);
        value
    }
}

#[test]
fn a_lost_update_is_seen_and_ends_the_run() {
    let racy =
        Object::describe("racy", Racy::default).method("add", |racy, (amount,): (i64,)| racy.add(amount)).build();
    let zero = [Value::Int(0), Value::Int(0)];
    // Each execution misses it only when the two threads begin more than a millisecond apart. All of them do in a
    // thousand executions only if the machine is stopped a thousand times in a row at that very point.
    let observed = run(&program(&racy, "{ add(1) } || { add(1) }"), &executions(1_000), &mut |outcome| {
        if *outcome == zero { Next::Stop } else { Next::Continue }
    });
    assert_eq!(observed.end, End::Stopped);
    assert!(observed.outcomes.contains_key(&zero[..]), "{observed:?}");
}

#[test]
fn a_panic_is_a_result_and_the_sequence_goes_on() {
    let object = Object::describe("brittle", || AtomicI64::new(0))
        .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, std::sync::atomic::Ordering::Relaxed))
        .method("fail", |_, (number,): (i64,)| -> i64 { panic!("no {number}") })
        .build();
    let observed = run_all(&object, "{ add(1); fail(0); add(1); fail(1) } || { fail(0) }", &executions(500));
    let outcome = vec![Value::Int(0), panicked("no 0"), Value::Int(1), panicked("no 1"), panicked("no 0")];
    assert_eq!(observed.outcomes, BTreeMap::from([(outcome, 500)]));
}

#[test]
fn a_blocked_call_is_named() {
    let object = Object::describe("gate", || (Mutex::new(false), Condvar::new()))
        .core("open", |(open, changed), ()| {
            *open.lock().unwrap() = true;
            changed.notify_all();
        })
        .method("pass", |(open, changed), ()| drop(changed.wait_while(open.lock().unwrap(), |open| !*open).unwrap()))
        .build();
    let settings = Settings { patience: Duration::from_millis(100), ..executions(100) };
    assert_eq!(run_all(&object, "{ open() } || { open(); pass() }", &settings).end, End::Enough);
    let observed = run_all(&object, "{ open(); open() } || { pass() }", &settings);
    assert_eq!((observed.end, observed.executions), (End::Enough, 100));
    let observed = run_all(&object, "{ pass(); open() }", &settings);
    let teams = observed.teams;
    assert_eq!(observed.end, End::Blocked(vec![Blocked::Call(0); teams]));
}

#[test]
fn a_panic_in_the_constructor_or_in_drop_ends_the_run() {
    let made = AtomicU64::new(0);
    let object = Object::describe("unmade", move || {
        assert!(made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 300, "enough objects");
    });
    let object = object.core("call", |_, ()| ()).build();
    let observed = run_all(&object, "{ call() } || { call() }", &executions(1_000));
    assert_eq!(observed.end, End::ConstructorPanicked("enough objects".to_owned()));
    assert!(observed.executions <= 300);

    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("not me");
        }
    }
    let object = Object::describe("loud", || Loud).core("call", |_, ()| ()).build();
    let observed = run_all(&object, "{ call() } || { call() }", &executions(1_000));
    assert_eq!(observed.end, End::DropPanicked("not me".to_owned()));
}

#[test]
fn every_object_is_made_and_dropped_once() {
    use std::sync::atomic::Ordering::SeqCst;
    static MADE: AtomicU64 = AtomicU64::new(0);
    static DROPPED: AtomicU64 = AtomicU64::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let object = Object::describe("counted", || {
        MADE.fetch_add(1, SeqCst);
        Counted
    });
    let object = object.core("call", |_, ()| ()).build();
    run_all(&object, "{ call() } || { call() }", &executions(1_234));
    assert_eq!((MADE.load(SeqCst), DROPPED.load(SeqCst)), (1_234, 1_234));
}

#[test]
fn time_is_a_budget_and_overlap_is_measured() {
    let settings = Settings { budget: Budget::Time(Duration::from_millis(30)), ..Settings::default() };
    let observed = run_all(&counter(), "{ add(1) } || { add(1) }", &settings);
    assert_eq!(observed.end, End::Enough);
    assert!(observed.took >= Duration::from_millis(30));
    assert!(observed.overlap.stamped > 0 && observed.overlap.overlapping <= observed.overlap.stamped);
    assert!(observed.overlap.stamped <= observed.executions);
    // One sequence overlaps nothing.
    let observed = run_all(&counter(), "{ add(1) }", &settings);
    assert_eq!((observed.overlap.overlapping, observed.overlapping()), (0, Some(0.0)));
}
