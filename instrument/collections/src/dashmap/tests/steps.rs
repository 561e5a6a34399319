//! What the session hears: steps, effects and locks.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use super::{Map, entries};
use crate::dashmap::Entry;
use crate::session::{Effect, Instrumented, LockId, Mode, Needs, PartId, RunId, Session, Step, with_session};
use crate::testing::{Recorder, done};

/// Runs `program` on a map with these entries, and compares what the session hears.
#[track_caller]
fn check(start: &[(i64, i64)], program: impl FnOnce(&Map), expected: &[&str]) {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    map.restore(&entries(start)).expect("integers");
    let ((), log) = recorder.run(|| program(&map));
    assert_eq!(log, expected);
}

#[test]
fn single_operations_are_one_step() {
    check(&[(1, 5)], |map| done(map.get(&1)), &["? get(1) r", "get(1) -> 5", "hold r", "free r"]);
    check(&[], |map| done(map.get(&1)), &["? get(1) r", "get(1) -> none"]);
    check(&[], |map| done(map.insert(1, 2)), &["? insert(1, 2) w", "insert(1, 2) -> none"]);
    check(&[(1, 5)], |map| done(map.remove(&1)), &["? remove(1) w", "remove(1) -> 5"]);
    check(&[(1, 5)], |map| assert!(map.contains_key(&1)), &["? contains_key(1) r", "contains_key(1) -> true"]);
}

#[test]
fn a_write_through_a_guard_is_an_insert_at_its_end() {
    let seen = ["? modify(1) w", "get(1) -> 5", "hold w"];
    let check = |program: fn(&Map), rest: &[&str]| check(&[(1, 5)], program, &[&seen[..], rest].concat());
    check(|map| done(map.get_mut(&1)), &["free w"]);
    check(|map| *map.get_mut(&1).unwrap() = 5, &["free w"]);
    check(|map| *map.get_mut(&1).unwrap() += 1, &["insert(1, 6) -> 5", "free w"]);
    check(|map| map.alter(&1, |_, value| value + 1), &["insert(1, 6) -> 5", "free w"]);
    check(
        |map| {
            let mut guard = map.get_mut(&1).unwrap();
            *guard = 7;
            assert_eq!(*guard.downgrade(), 7);
        },
        &["insert(1, 7) -> 5", "free w", "hold r", "free r"],
    );
    check(
        |map| *map.get_mut(&1).unwrap().map(|value| value).try_map(|value| Some(value)).unwrap() = 8,
        &["insert(1, 8) -> 5", "free w"],
    );
}

#[test]
fn an_entry_is_what_is_done_with_it() {
    let check = |start: &[(i64, i64)], program: fn(&Map), effects: &[&str]| {
        check(start, program, &[&["? modify(1) w", "hold w"], effects, &["free w"]].concat());
    };
    let (vacant, occupied) = (&[][..], &[(1, 5)][..]);
    check(vacant, |map| done(map.entry(1).or_insert(2)), &["insert_if_absent(1, 2) -> none"]);
    check(occupied, |map| done(map.entry(1).or_insert(2)), &["get(1) -> 5"]);
    check(vacant, |map| done(map.entry(1).or_default()), &["insert_if_absent(1, 0) -> none"]);
    check(vacant, |map| done(map.entry(1)), &["get(1) -> none"]);
    check(occupied, |map| done(map.entry(1)), &["get(1) -> 5"]);
    check(vacant, |map| *map.entry(1).or_insert(2) += 1, &["insert_if_absent(1, 2) -> none", "insert(1, 3) -> 2"]);
    check(occupied, |map| *map.entry(1).or_insert(2) += 1, &["get(1) -> 5", "insert(1, 6) -> 5"]);
    let count = |map: &Map| done(map.entry(1).and_modify(|value| *value += 1).or_insert(1));
    check(vacant, count, &["insert_if_absent(1, 1) -> none"]);
    check(occupied, count, &["insert(1, 6) -> 5"]);
    check(occupied, |map| done(map.entry(1).insert(5)), &["insert(1, 5) -> 5"]);
    let remove = |map: &Map| {
        if let Entry::Occupied(mut entry) = map.entry(1) {
            *entry.get_mut() = 9;
            assert_eq!(entry.remove(), 9);
        }
    };
    check(occupied, remove, &["remove(1) -> 5"]);
    check(vacant, remove, &["get(1) -> none"]);
}

#[test]
fn a_panic_under_a_lock_gives_it_up() {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    let caught = |program: &dyn Fn(&Map)| {
        map.restore(&entries(&[(1, 5)])).expect("integers");
        recorder
            .run(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program(&map))).expect_err("a panic"))
            .1
    };
    fn quiet<T>() -> T {
        std::panic::resume_unwind(Box::new("a panic of the program"))
    }
    let around = |effect| ["? modify(1) w", "hold w", effect, "free w"];
    assert_eq!(caught(&|map| done(map.remove_if(&1, |_, _| quiet()))), around("get(1) -> 5"));
    let write = |map: &Map| {
        map.remove_if_mut(&1, |_, value| {
            *value = 6;
            quiet()
        });
    };
    assert_eq!(caught(&write), around("insert(1, 6) -> 5"));
    assert_eq!(caught(&|map| map.alter(&1, |_, _| quiet())), ["? modify(1) w", "get(1) -> 5", "hold w", "free w"]);
    assert_eq!(
        caught(&|map| done(map.entry(2).or_insert_with(quiet))),
        ["? modify(2) w", "hold w", "get(2) -> none", "free w"]
    );
}

/// What a walk over {1: 5, 2: 6} says: `visits` are what it says in each entry's second step, between lock and release.
fn walk(announced: &str, mode: &str, visits: [&[&str]; 2]) -> Vec<String> {
    let mut expected = Vec::new();
    for ((cursor, key, value), visit) in [("none", 1, 5), ("1", 2, 6)].into_iter().zip(visits) {
        expected.push(format!("? next_after({cursor}) -"));
        expected.push(format!("next_after({cursor}) -> ({key}, {value})"));
        expected.push(format!("? {announced}({key}) {mode}"));
        expected.push(format!("hold {mode}"));
        expected.extend(visit.iter().map(|line| line.to_string()));
        expected.push(format!("free {mode}"));
    }
    expected.push("? next_after(2) -".to_owned());
    expected.push("next_after(2) -> none".to_owned());
    expected
}

#[test]
fn bulk_methods_are_sequences_of_steps() {
    let check = |program: fn(&Map), expected: Vec<String>| {
        check(&[(1, 5), (2, 6)], program, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let counted: [&[&str]; 2] = [&["contains_key(1) -> true"], &["contains_key(2) -> true"]];
    check(|map| assert_eq!(map.len(), 2), walk("contains_key", "r", counted));
    check(|map| assert!(!map.is_empty()), walk("contains_key", "r", counted));
    check(|map| map.clear(), walk("remove", "w", [&["remove(1) -> 5"], &["remove(2) -> 6"]]));
    check(|map| map.retain(|_, _| true), walk("modify", "w", [&["get(1) -> 5"], &["get(2) -> 6"]]));
    let first_only = |map: &Map| {
        map.retain(|key, value| {
            *value += 1;
            *key == 1
        })
    };
    let changed: [&[&str]; 2] = [&["get(1) -> 5", "insert(1, 6) -> 5"], &["get(2) -> 6", "remove(2) -> 6"]];
    check(first_only, walk("modify", "w", changed));
}

#[test]
fn an_iterator_keeps_a_lock_until_it_knows_the_next_key() {
    check(
        &[(1, 5), (2, 6)],
        |map| map.iter_mut().for_each(|mut entry| *entry += 1),
        &[
            "? next_after(none) -",
            "next_after(none) -> (1, 5)",
            "? get(1) w",
            "hold w",
            "get(1) -> 5",
            "insert(1, 6) -> 5",
            "? next_after(1) -",
            "next_after(1) -> (2, 6)",
            "free w",
            "? get(2) w",
            "hold w",
            "get(2) -> 6",
            "insert(2, 7) -> 6",
            "? next_after(2) -",
            "next_after(2) -> none",
            "free w",
        ],
    );
}

#[test]
fn guards_of_an_iteration_may_be_collected() {
    // Keys 1 and 17 share a shard, 2 lies elsewhere.
    let start = [(1, 5), (2, 6), (17, 7)];
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    map.restore(&entries(&start)).expect("integers");
    recorder.run(|| {
        let mut guards: Vec<_> = map.iter_mut().collect();
        assert_eq!(guards.iter().map(|guard| *guard.key()).collect::<Vec<_>>(), [1, 2, 17]);
        guards.iter_mut().for_each(|guard| *guard.value_mut() += 10);
    });
    assert_eq!(map.snapshot(), entries(&[(1, 15), (2, 16), (17, 17)]));
    let (sum, _) = recorder.run(|| map.iter().collect::<Vec<_>>().iter().map(|guard| *guard.value()).sum::<i64>());
    assert_eq!(sum, 48);
}

#[test]
fn waiting_for_oneself_is_found_before_the_real_lock() {
    let waits = |program: fn(&Map)| {
        let recorder = Recorder::new();
        let map = recorder.make(Map::new);
        map.restore(&entries(&[(1, 5), (2, 6)])).expect("integers");
        recorder.run_to_deadlock(|| program(&map)).last().expect("a step").clone()
    };
    let insert = |map: &Map| {
        let _guard = map.get(&1);
        map.insert(1, 2);
    };
    assert_eq!(waits(insert), "free r");
    let entry_then_len = |map: &Map| {
        let _entry = map.entry(3);
        let _ = map.len();
    };
    assert_eq!(waits(entry_then_len), "free w");
    let remove_in_loop = |map: &Map| {
        for key in map.iter().map(|entry| *entry.key()) {
            map.remove(&key);
        }
    };
    assert_eq!(waits(remove_in_loop), "free r");
    let iter_mut_under_guard = |map: &Map| {
        let _guard = map.get(&2);
        map.iter_mut().for_each(done);
    };
    assert_eq!(waits(iter_mut_under_guard), "free r");
    let insert_in_closure = |map: &Map| {
        map.entry(1).and_modify(|_| done(map.get(&1)));
    };
    assert_eq!(waits(insert_in_closure), "free w");
}

#[test]
fn waiting_for_oneself_at_a_private_map_is_found_too() {
    let waits = |program: fn(&Map)| {
        let recorder = Recorder::new();
        let map = recorder.make(Map::new);
        map.restore(&entries(&[(1, 5)])).expect("integers");
        map.handle().unbind();
        recorder.run_to_deadlock(|| program(&map))
    };
    let expected = ["stalled a lock that another task holds", "progressed"];
    let insert = |map: &Map| {
        let _guard = map.get(&1);
        map.insert(1, 2);
    };
    assert_eq!(waits(insert), expected);
    let len = |map: &Map| {
        let _entry = map.entry(3);
        done(map.len());
    };
    assert_eq!(waits(len), expected);
}

#[test]
fn another_key_is_free_while_a_guard_lives() {
    check(
        &[(1, 5)],
        |map| {
            let guard = map.get(&1).unwrap();
            map.insert(2, *guard);
        },
        &["? get(1) r", "get(1) -> 5", "hold r", "? insert(2, 5) w", "insert(2, 5) -> none", "free r"],
    );
}

#[test]
fn a_try_that_finds_the_lock_taken_has_no_effect() {
    check(
        &[(1, 5)],
        |map| {
            let _guard = map.get(&1).unwrap();
            assert!(map.try_get(&1).is_present());
            assert!(map.try_get_mut(&1).is_locked());
            assert!(map.try_entry(1).is_none());
        },
        &[
            "? get(1) r",
            "get(1) -> 5",
            "hold r",
            "? get(1) -",
            "get(1) -> 5",
            "hold r",
            "free r",
            "? modify(1) -",
            "? modify(1) -",
            "free r",
        ],
    );
}

/// Runs `program` on a map with these entries while `other` acts at the announcement of each step, by its number.
fn interleaved<R>(
    start: &[(i64, i64)],
    other: impl Fn(usize, &Map) + 'static,
    program: impl FnOnce(&Map) -> R,
) -> (R, Vec<String>) {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    map.restore(&entries(start)).expect("integers");
    let others = Rc::clone(&map);
    recorder.on_step(move |number, _| {
        other(number, &others);
        true
    });
    let (seen, log) = recorder.run(|| program(&map));
    (seen, log.into_iter().filter(|line| line.starts_with('?')).collect())
}

#[test]
fn an_iteration_follows_what_others_do() {
    let other = |number, map: &Map| match number {
        3 => done(map.insert(3, 8)),
        6 => done(map.remove(&4)),
        _ => {}
    };
    let keys = |map: &Map| map.iter().map(|entry| *entry.key()).collect::<Vec<_>>();
    let (seen, announced) = interleaved(&[(1, 5), (4, 6)], other, keys);
    assert_eq!(seen, [1, 3]);
    // Number 3 finds the new key; number 6 finds 4 gone after number 5 saw it.
    assert_eq!(
        announced,
        [
            "? next_after(none) -",
            "? get(1) r",
            "? next_after(1) -",
            "? get(3) r",
            "? next_after(3) -",
            "? get(4) r",
            "? next_after(4) -"
        ]
    );
}

#[test]
fn a_map_that_never_is_empty_can_seem_so() {
    let other = |number, map: &Map| {
        if number == 2 {
            map.insert(1, 5);
            map.remove(&2);
        }
    };
    let (empty, announced) = interleaved(&[(2, 5)], other, |map| map.is_empty());
    assert!(empty);
    assert_eq!(announced, ["? next_after(none) -", "? contains_key(2) r", "? next_after(2) -"]);
    // It is not empty when no other task interferes.
    assert!(!interleaved(&[(2, 5)], |_, _| {}, |map| map.is_empty()).0);
}

/// The locks that an operation takes are among those it announced: everything else is locked while it runs, and what
/// it announced as shared is locked for reading.
#[test]
fn announced_locks_cover_the_real_ones() {
    type Program = fn(&Map);
    let programs: Vec<(&str, Program)> = vec![
        ("get", |map| done(map.get(&1))),
        ("get_mut", |map| done(map.get_mut(&1))),
        ("insert", |map| done(map.insert(1, 2))),
        ("insert new", |map| done(map.insert(3, 2))),
        ("remove", |map| done(map.remove(&1))),
        ("remove_if", |map| done(map.remove_if(&1, |_, _| true))),
        ("remove_if_mut", |map| done(map.remove_if_mut(&1, |_, _| false))),
        ("contains_key", |map| done(map.contains_key(&1))),
        ("or_insert", |map| done(map.entry(3).or_insert(1))),
        ("and_modify", |map| done(map.entry(1).and_modify(|value| *value += 1))),
        ("alter", |map| map.alter(&1, |_, value| value)),
        ("view", |map| done(map.view(&1, |_, _| ()))),
    ];
    for (name, program) in programs {
        let (done, waiting) = mpsc::channel();
        std::thread::spawn(move || {
            let recorder = Recorder::new();
            let map = recorder.make(Map::new);
            map.restore(&entries(&[(1, 5)])).expect("integers");
            let shut: Rc<RefCell<Vec<Box<dyn std::any::Any>>>> = Rc::default();
            let (others, opened) = (Rc::clone(&map), Rc::clone(&shut));
            recorder.on_step(move |_, step| {
                let Needs::One(LockId(needed), mode) = step.needs else { panic!("one lock") };
                // Leaked guards: the map lives as long as this thread's program.
                let map: &'static Map = Box::leak(Box::new(Rc::clone(&others)));
                for (index, lock) in map.inner.shards().iter().enumerate() {
                    if index != needed as usize {
                        shut.borrow_mut().push(Box::new(lock.write()));
                    } else if mode == Mode::Shared {
                        shut.borrow_mut().push(Box::new(lock.read()));
                    }
                }
                false
            });
            recorder.on_effect(move || opened.borrow_mut().clear());
            // The state is read with all locks free again.
            recorder.run(|| program(&map));
            done.send(()).expect("the test waits");
        });
        waiting.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{name} takes a lock it kept silent"));
    }
}

/// A guard that outlives its run (in a static, say) says nothing to the session of the next one.
#[test]
fn a_guard_reports_to_the_session_of_its_own_run() {
    #[derive(Default)]
    struct Count(Cell<u32>);
    impl Session for Count {
        fn is_run(&self) -> bool {
            true
        }
        fn before(&self, _: &Step<'_>) {}
        fn after(&self, _: PartId, _: Effect<'_>, _: &'static Location<'static>) {
            self.0.set(self.0.get() + 1);
        }
        fn hold(&self, _: PartId, _: Needs, _: &'static Location<'static>) {}
        fn release(&self, _: PartId, _: Needs) {
            self.0.set(self.0.get() + 1);
        }
        fn pause(&self, _: &'static str, _: &'static Location<'static>) {}
        fn stalled(&self, _: &'static str, _: &'static Location<'static>) {}
        fn progressed(&self) {}
        fn mark(&self) {}
    }
    let map = Map::new();
    map.handle().bind(RunId::new(), PartId(0));
    let (first, second) = (Count::default(), Count::default());
    let insert_and_write = || {
        map.insert(1, 5);
        let mut guard = map.get_mut(&1).expect("it was inserted");
        *guard = 6;
        guard
    };
    // The insertion and the first look; then, at the end of the guard, the write and the lock.
    with_session(&first, || drop(insert_and_write()));
    assert_eq!(first.0.take(), 4);
    let guard = with_session(&first, insert_and_write);
    assert_eq!(first.0.get(), 2);
    with_session(&second, || drop(guard));
    assert_eq!((first.0.get(), second.0.get()), (2, 0));
    // The lock is free nevertheless.
    assert_eq!(map.get(&1).map(|value| *value), Some(6));
}
