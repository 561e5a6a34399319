//! Methods that do not return, or would take the process with them: each is a result or a line that names what to do.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use interloper::collections::dashmap::{Ref, RefMut};
use interloper::collections::{DashMap, Mutex};
use interloper::{MethodUnderTest, Misuse, Report, Value, Verdict};

type Map = DashMap<u32, u32>;

fn check(name: &str, method: fn(&Map, u32) -> u32) -> Result<Report, Misuse> {
    MethodUnderTest::new(name, Map::new, method).arguments([7]).check()
}

/// The verdict of the counterexample, its text, and how many environment operations it has.
fn found(report: Result<Report, Misuse>) -> (String, String, u32) {
    let report = report.expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable, "{report}");
    let text = report.to_string();
    let violation = report.violation.expect("a violation");
    (violation.counterexample.verdict, text, violation.environment_operations)
}

fn linearizable(name: &str, method: fn(&Map, u32) -> u32) {
    let report = check(name, method).expect("well described");
    assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
}

// Guards that are not dropped.

fn forgets_and_comes_back(map: &Map, key: u32) -> u32 {
    std::mem::forget(map.get(&key));
    map.insert(key, 1);
    0
}

fn drops_and_comes_back(map: &Map, key: u32) -> u32 {
    drop(map.get(&key));
    0
}

#[test]
fn a_forgotten_guard_that_is_in_the_way_is_a_deadlock_with_both_places() {
    let report = check("forgets", forgets_and_comes_back).expect("well described");
    let violation = report.violation.expect("a violation");
    assert_eq!(violation.counterexample.verdict, "deadlock");
    let deadlock = violation.counterexample.deadlock.expect("both places");
    let line = |place: &str| place.split(':').nth(1).and_then(|line| line.parse::<u32>().ok()).expect("a line");
    assert_eq!(line(&deadlock.wanted.location), line(&deadlock.held.location) + 1, "{deadlock:?}");
    // The lock of the real map stays taken: the search goes on with other maps.
    let every = MethodUnderTest::new("forgets", Map::new, forgets_and_comes_back).arguments([7]);
    let report = every.settings(|settings| settings.keep_going = true).check().expect("well described");
    assert!(report.coverage[0].violating > 1 && report.coverage[0].complete, "{report}");
    linearizable("drops", drops_and_comes_back);
}

#[test]
fn a_guard_that_outlives_its_call_is_named_with_its_place() {
    let outlives = |said: Result<Report, Misuse>| {
        let Err(misuse @ Misuse::GuardOutlivesCall { .. }) = said else { panic!("{said:?}") };
        let text = misuse.to_string();
        assert!(text.contains("interloper/tests/composed/lost.rs:"), "{text}");
    };
    outlives(check("forgets", |map, key| {
        map.insert(key, 1);
        std::mem::forget(map.get_mut(&key));
        0
    }));
    // Only after an operation of the environment.
    outlives(check("forgets later", |map, key| {
        map.remove(&key);
        std::mem::forget(map.get(&key));
        0
    }));
    // Kept where it stays until the next call.
    thread_local! {
        static KEPT: RefCell<Vec<RefMut<'static, u32, u32>>> = const { RefCell::new(Vec::new()) };
        static READ: RefCell<Vec<Ref<'static, u32, u32>>> = const { RefCell::new(Vec::new()) };
    }
    let leaked = |map: &Arc<Map>| -> &'static Arc<Map> { Box::leak(Box::new(Arc::clone(map))) };
    let keeps = MethodUnderTest::new(
        "keeps",
        || Arc::new(Map::new()),
        move |map: &Arc<Map>, key: u32| {
            map.insert(key, 1);
            KEPT.with_borrow_mut(|kept| *kept = leaked(map).get_mut(&key).into_iter().collect());
        },
    );
    outlives(keeps.arguments([7]).check());
    let reads = MethodUnderTest::new(
        "reads",
        || Arc::new(Map::new()),
        move |map: &Arc<Map>, key: u32| {
            map.insert(key, 1);
            READ.with_borrow_mut(|kept| kept.extend(leaked(map).get(&key)));
        },
    );
    outlives(reads.arguments([7]).check());
    let sections = MethodUnderTest::new(
        "sections",
        || Mutex::new(Vec::<u32>::new()),
        |list: &Mutex<Vec<u32>>, (): ()| {
            std::mem::forget(list.lock());
        },
    );
    outlives(sections.check());
    // A guard that goes where another function drops it is as good as any.
    let moves = MethodUnderTest::new(
        "moves",
        || Arc::new(Map::new()),
        move |map: &Arc<Map>, key: u32| {
            let kept = RefCell::new(Vec::new());
            kept.borrow_mut().extend(map.get(&key));
            kept.into_inner().pop().map_or(0, |guard| *guard)
        },
    );
    moves.arguments([7]).assert_linearizable();
}

// What unwinds a run, caught.

#[test]
fn a_method_that_catches_what_ends_the_run_goes_no_further() {
    // For ever, had each further step not ended it.
    let (verdict, text, _) = found(check("catches", |map, key| {
        let guard = map.entry(key).or_insert(1);
        loop {
            if catch_unwind(AssertUnwindSafe(|| map.insert(key, 2))).is_ok() {
                return *guard;
            }
        }
    }));
    assert_eq!(verdict, "deadlock", "{text}");
    // It returns as if nothing had been: the deadlock stays one.
    let (verdict, text, _) = found(check("ignores", |map, key| {
        let guard = map.entry(key).or_insert(1);
        let _ = catch_unwind(AssertUnwindSafe(|| map.insert(key, 2)));
        *guard
    }));
    assert_eq!(verdict, "deadlock", "{text}");
    let endless = check("polls", |map, key| {
        while !catch_unwind(AssertUnwindSafe(|| map.contains_key(&key))).is_ok_and(|found| found) {}
        1
    });
    assert!(matches!(endless, Err(Misuse::SequentialStepBound { bound: 10_000, .. })), "{endless:?}");
    // Panics of its own are its own affair.
    linearizable("catches its own", |map, key| {
        let caught = catch_unwind(AssertUnwindSafe(|| assert!(map.get(&key).is_none())));
        u32::from(caught.is_err())
    });
}

#[test]
fn destructors_make_their_steps_while_a_run_that_was_ended_unwinds() {
    struct Leaves<'a>(&'a Map, u32, u32);
    impl Drop for Leaves<'_> {
        fn drop(&mut self) {
            (0..self.2).for_each(|_| {
                self.0.remove(&self.1);
            });
        }
    }
    // After the bound on steps.
    let endless = check("endless", |map, key| {
        let _leaves = Leaves(map, key, 3);
        loop {
            map.contains_key(&key);
        }
    });
    assert!(matches!(endless, Err(Misuse::SequentialStepBound { .. })), "{endless:?}");
    // And where the destructor itself has no end.
    let endless = check("endless destructor", |map, key| {
        let _leaves = Leaves(map, key, u32::MAX);
        0
    });
    assert!(matches!(endless, Err(Misuse::SequentialStepBound { .. })), "{endless:?}");
    // It wants a lock that nobody gives back, while something else unwinds.
    let (verdict, text, _) = found(check("locks up", |map, key| {
        let _leaves = Leaves(map, key, 1);
        std::mem::forget(map.entry(key).or_insert(1));
        panic!("of the method");
    }));
    assert_eq!(verdict, "deadlock", "{text}");
    linearizable("leaves", |map, key| {
        drop(Leaves(map, key, 1));
        0
    });
}

// A run without end.

#[test]
fn a_loop_with_steps_reaches_the_bound() {
    let (verdict, text, operations) = found(check("spins", |map, key| {
        let before = map.contains_key(&key);
        while map.contains_key(&key) != before {}
        0
    }));
    assert_eq!((verdict.as_str(), operations), ("not linearizable", 1), "{text}");
    assert!(text.contains("did not return within the step bound"), "{text}");
}

// What would end the process.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod ends_of_the_process {
    use super::*;

    fn dive(depth: u64) -> u64 {
        let frame = black_box([depth; 32]);
        if depth == 0 { 0 } else { 1 + dive(frame[5] - 1) }
    }

    /// Panics when it is dropped.
    struct Sour;

    impl Drop for Sour {
        fn drop(&mut self) {
            panic!("sour");
        }
    }

    #[test]
    fn a_stack_overflow_is_a_result() {
        let (verdict, text, operations) = found(check("dives", |map, key| {
            map.insert(key, 1);
            dive(u64::MAX) as u32
        }));
        assert_eq!((verdict.as_str(), operations), ("stack overflow", 0));
        assert!(text.contains("insert(7, 1)") && text.contains("used up its stack"), "{text}");
        // Only where the environment has made it so, and with steps all the way down.
        let (verdict, text, operations) = found(check("descends", |map, key| {
            fn descend(map: &Map, key: u32) -> u32 {
                let frame = black_box([key; 4096]);
                if map.contains_key(&key) { 1 + descend(map, frame[9]) } else { 0 }
            }
            map.remove(&key);
            descend(map, key)
        }));
        assert_eq!((verdict.as_str(), operations), ("stack overflow", 1), "{text}");
        linearizable("dives a little", |map, key| {
            let depth = dive(10_000) as u32;
            depth + map.insert(key, 1).map_or(0, |_| 1)
        });
    }

    #[test]
    fn a_panic_that_cannot_unwind_is_a_result() {
        let (verdict, text, _) = found(check("sours", |map, key| {
            let _guard = map.entry(key).or_insert(1);
            let _sour = Sour;
            panic!("sweet");
        }));
        assert_eq!(verdict, "panic that cannot unwind");
        assert!(text.contains("sour (at interloper/tests/composed/lost.rs:"), "{text}");
        assert!(!std::thread::panicking());
        // One after the other is a panic as any, of which the last is told.
        let sour = check("sour", |map, key| {
            map.insert(key, 1);
            drop(Sour);
            0
        });
        assert_eq!(sour.expect("a result, which is the same in every order").verdict, Verdict::Linearizable);
    }

    #[test]
    fn an_abort_of_the_process_is_a_result() {
        let (verdict, text, operations) = found(check("aborts", |map, key| {
            map.remove(&key);
            if map.contains_key(&key) { std::process::abort() } else { 0 }
        }));
        assert_eq!((verdict.as_str(), operations), ("abort of the process", 1), "{text}");
    }

    #[test]
    fn each_lost_call_costs_a_stack_so_that_there_are_not_many() {
        let method = MethodUnderTest::new("dives", Map::new, |map: &Map, key: u32| {
            map.insert(key, 1);
            dive(u64::MAX) as u32
        });
        let report = method.arguments([7]).settings(|settings| settings.keep_going = true).check();
        let report = report.expect("well described");
        assert_eq!(report.verdict, Verdict::NotLinearizable);
        let coverage = &report.coverage[0];
        assert!((2..=16).contains(&coverage.violating) && !coverage.complete, "{report}");
    }

    #[test]
    fn several_calls_are_lost_in_the_same_ways() {
        let several = |method: fn(&Map, u32) -> u32| {
            let method = MethodUnderTest::new("several", Map::new, method).arguments([7]).concurrent(2);
            found(method.check())
        };
        let (verdict, text, _) = several(|map, key| {
            map.remove(&key);
            if map.contains_key(&key) { dive(u64::MAX) as u32 } else { 0 }
        });
        assert_eq!(verdict, "stack overflow", "{text}");
        let (verdict, text, _) = several(|map, key| {
            map.remove(&key);
            let sour = map.contains_key(&key).then_some(Sour);
            assert!(sour.is_none(), "sweet");
            0
        });
        assert_eq!(verdict, "panic that cannot unwind", "{text}");
        assert!(text.contains("sour"), "{text}");
        for abort in [std::process::abort as fn() -> !, interloper::process::abort] {
            thread_local!(static ABORT: Cell<fn() -> !> = const { Cell::new(std::process::abort) });
            ABORT.set(abort);
            let (verdict, text, _) = several(|map, key| {
                map.remove(&key);
                if map.contains_key(&key) { ABORT.get()() } else { 0 }
            });
            assert_eq!(verdict, "abort of the process", "{text}");
            assert!(text.contains("asked for the process to be aborted"), "{text}");
        }
        let (verdict, text, _) = several(|map, key| {
            map.remove(&key);
            if map.contains_key(&key) { interloper::process::exit(3) } else { 0 }
        });
        assert_eq!(verdict, "exit of the process", "{text}");
        assert!(text.contains("called process::exit(3)"), "{text}");
        // Where nobody comes in between, nobody asks for it.
        let method = MethodUnderTest::new("several", Map::new, |map: &Map, key: u32| {
            if map.insert(key, 1).is_some_and(|before| before > 99) {
                std::process::abort()
            }
        });
        let report = method.arguments([7]).concurrent(2).settings(|settings| settings.executions = Some(100)).check();
        assert!(report.expect("well described").violation.is_none());
    }

    #[test]
    fn a_subject_that_cannot_be_made_is_named() {
        let said = |make: fn() -> Map| {
            let method = MethodUnderTest::new("get", make, |map: &Map, key: u32| map.contains_key(&key));
            method.arguments([7]).check().map_err(|misuse| misuse.to_string())
        };
        let refused = "the subject of the method under test cannot be created: ";
        assert_eq!(said(|| panic!("no")).unwrap_err(), format!("{refused}panicked: no"));
        let deep = || if dive(u64::MAX) == 0 { Map::new() } else { Map::default() };
        assert_eq!(said(deep).unwrap_err(), format!("{refused}stack overflow"));
        assert_eq!(said(Map::new).expect("a report").verdict, Verdict::Linearizable);
    }

    #[test]
    fn a_key_that_overflows_the_stack_is_named() {
        thread_local!(static DEEP: Cell<bool> = const { Cell::new(false) });
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct Key(u32);
        impl std::hash::Hash for Key {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                state.write_u64(dive(if DEEP.get() { u64::MAX } else { 1 }));
            }
        }
        impl interloper::ToValue for Key {
            fn to_value(&self) -> interloper::Value {
                self.0.to_value()
            }
        }
        impl interloper::Datum for Key {
            fn from_value(value: &interloper::Value) -> Option<Key> {
                u32::from_value(value).map(Key)
            }
            fn fresh(seen: &[interloper::Value]) -> Option<interloper::Value> {
                u32::fresh(seen)
            }
        }
        // The environment's operation is the one that overflows: the method's own step is over.
        let method = MethodUnderTest::new("deep", DashMap::<Key, u32>::new, |map: &DashMap<Key, u32>, key: Key| {
            let found = map.contains_key(&key);
            DEEP.set(true);
            let length = map.len();
            DEEP.set(false);
            found || length > 0
        });
        let said = method.arguments([Key(7)]).check();
        DEEP.set(false);
        assert!(matches!(&said, Err(Misuse::LostInOperation { how }) if how == "stack overflow"), "{said:?}");
    }
}

// Threads of the method's own.

#[test]
fn tasks_of_a_call_among_several_do_not_use_its_collections() {
    let method = |work: fn(&Map) -> usize| {
        MethodUnderTest::new(
            "spawns",
            || Arc::new(Map::new()),
            move |map: &Arc<Map>, key: u32| {
                map.insert(key, 1);
                interloper::thread::scope(|scope| scope.spawn(|| work(map)).join().expect("no panic"))
            },
        )
    };
    let said = method(|map| map.len()).arguments([7]).concurrent(2).check();
    assert!(matches!(&said, Err(Misuse::OtherThread { place }) if place.contains("lost.rs")), "{said:?}");
    let said = method(|_| 3).arguments([7]).concurrent(2).check();
    assert_eq!(said.expect("well described").verdict, Verdict::Linearizable);
}

#[test]
fn threads_of_a_method_do_not_use_its_collections() {
    let alone = |work: fn(&Map) -> usize| {
        let method = MethodUnderTest::new("spawns", Map::new, move |map: &Map, key: u32| {
            map.insert(key, 1);
            std::thread::scope(|scope| scope.spawn(|| work(map)).join().expect("no panic"))
        });
        method.arguments([7]).check()
    };
    let strays = |said: Result<Report, Misuse>| {
        let Err(misuse @ Misuse::OtherThread { .. }) = said else { panic!("{said:?}") };
        assert!(misuse.to_string().contains("interloper/tests/composed/lost.rs:"), "{misuse}");
    };
    strays(alone(|map| map.insert(9, 9).map_or(0, |_| 1)));
    // Reading changes nothing, but nobody could act in between.
    strays(alone(|map| map.len()));
    assert_eq!(alone(|_| 3).expect("well described").verdict, Verdict::Linearizable);
    // A thread that nobody waits for is found out in a later run.
    let detached = MethodUnderTest::new(
        "detaches",
        || Arc::new(Map::new()),
        |map: &Arc<Map>, key: u32| {
            map.insert(key, 1);
            let map = Arc::clone(map);
            drop(std::thread::spawn(move || map.len()));
            std::thread::sleep(Duration::from_millis(20));
        },
    );
    strays(detached.arguments([7]).check());
    // What a thread does with the collection before or after the check is its own affair.
    let map = Arc::new(Map::new());
    let (made, kept) = (Arc::clone(&map), Arc::clone(&map));
    std::thread::spawn(move || made.insert(7, 1)).join().expect("no panic");
    let method =
        MethodUnderTest::new("get", move || Arc::clone(&map), |map: &Arc<Map>, key: u32| map.contains_key(&key));
    assert_eq!(method.arguments([7]).check().expect("well described").verdict, Verdict::Linearizable);
    std::thread::spawn(move || kept.insert(7, 1)).join().expect("no panic");
}

#[test]
fn calls_that_wait_for_something_else_are_named() {
    let said = MethodUnderTest::new("waits", Map::new, |map: &Map, key: u32| {
        let found = map.contains_key(&key);
        if interloper_std::runtime::with(|_| ()).is_some() {
            interloper::thread::park();
        }
        found
    });
    let said = said.arguments([7]).concurrent(2).check();
    assert!(matches!(&said, Err(Misuse::WaitsElsewhere { place }) if place.contains("lost.rs")), "{said:?}");
}

// Limits.

/// A check with a limit of 300 ms ends soon after it.
fn in_time<S: interloper::Subject, R: interloper::ToValue>(method: MethodUnderTest<S, u32, R>) -> Report {
    let method = method.arguments([7]).settings(|settings| settings.time = Some(Duration::from_millis(300)));
    let begun = Instant::now();
    let report = method.check().expect("well described");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {report}", begun.elapsed());
    report
}

#[test]
fn the_limit_on_time_holds_in_every_phase() {
    // Each call takes 10 ms, and there are some hundreds of them before the search begins.
    let slow = |map: &Map, key: u32| {
        std::thread::sleep(Duration::from_millis(10));
        map.insert(key, 1).is_some()
    };
    let pair = MethodUnderTest::new(
        "slow",
        || (Map::new(), Map::new()),
        move |maps: &(Map, Map), key| slow(&maps.0, key) && slow(&maps.1, key),
    );
    let report = in_time(pair.settings(|settings| settings.initial_size = 3));
    assert_eq!((report.verdict, report.executions()), (Verdict::Unfinished, 0), "{report}");
    let text = report.to_string();
    assert!(text.contains("a limit (time, memory, lost calls) was reached before the first execution"), "{text}");
    // Slow executions are not made by the hundred until somebody looks at the clock.
    let report = in_time(MethodUnderTest::new("slow", Map::new, slow).initial_states([vec![Value::map([])]]));
    assert_eq!(report.verdict, Verdict::Unfinished, "{report}");
    assert!((1..100).contains(&report.executions()), "{report}");
    // One run, with steps for ever.
    let endless =
        MethodUnderTest::new("endless", Map::new, |map: &Map, key: u32| while map.len() < 9 + key as usize {});
    let report = in_time(endless.settings(|settings| settings.step_bound = u32::MAX));
    assert_eq!(report.verdict, Verdict::Unfinished, "{report}");
    // And one whose steps are slow, since they make many different calls.
    let fills = MethodUnderTest::new("fills", Map::new, |map: &Map, key: u32| {
        (0..8_000).for_each(|at| {
            map.insert(key + at, 1);
        })
    });
    let report = in_time(fills);
    assert_eq!(report.verdict, Verdict::Unfinished, "{report}");
    // A violation that was found is told, though nothing is known of the smaller environment in the end.
    let late = || {
        let method = MethodUnderTest::new("late", Map::new, |map: &Map, key: u32| {
            map.insert(key, 1);
            let there = map.insert(key, 1).is_some();
            std::thread::sleep(Duration::from_millis(if there { 0 } else { 350 }));
            there
        });
        method.initial_states([vec![Value::map([])]]).keys([7u32]).values([1u32]).without("remove")
    };
    let report = in_time(late());
    assert_eq!((report.verdict, report.violation.is_some()), (Verdict::NotLinearizable, true), "{report}");
    assert_eq!(late().arguments([7]).bound(NonZeroU32::MIN).check().expect("well described").verdict, Verdict::Modular);
    // With time enough it ends.
    let quick = MethodUnderTest::new("quick", Map::new, |map: &Map, key: u32| map.insert(key, 1).is_some());
    let hour = Some(Duration::from_secs(3600));
    let report = quick.arguments([7]).settings(|settings| settings.time = hour).check().expect("well described");
    assert_eq!(report.verdict, Verdict::Linearizable);
}

#[test]
fn states_that_fill_the_memory_end_the_search_as_unfinished() {
    // Each of 30,000 states holds up to 30,000 entries.
    let fills = MethodUnderTest::new(
        "fills",
        || Mutex::new(BTreeMap::<u32, u32>::new()),
        |map: &Mutex<BTreeMap<u32, u32>>, (): ()| {
            (0..30_000).for_each(|at| drop(map.lock().map(|mut map| map.insert(at, at))));
        },
    );
    let report = fills.settings(|settings| settings.step_bound = 100_000).check().expect("well described");
    assert_eq!((report.verdict, report.executions()), (Verdict::Unfinished, 0), "{report}");
}

#[test]
fn the_largest_bound_is_a_bound() {
    let method = MethodUnderTest::new("get", Map::new, |map: &Map, key: u32| map.contains_key(&key));
    let method = method.arguments([7]).bound(NonZeroU32::MAX).settings(|settings| settings.executions = Some(20_000));
    let report = method.check().expect("well described");
    assert_eq!((report.verdict, report.executions()), (Verdict::Unfinished, 20_000), "{report}");
}

#[test]
fn runs_of_many_steps_take_time_in_proportion() {
    // What takes the square of 100,000 does not end in a minute.
    let method = || {
        let polls =
            |map: &Map, key: u32| (0..100_000).for_each(|_| assert!(map.get(&key).is_none_or(|value| *value < 99)));
        let method = MethodUnderTest::new("polls", Map::new, polls).arguments([7]).keys([7u32]).values([1u32, 2]);
        method.settings(|settings| (settings.step_bound, settings.time) = (1_000_000, Some(Duration::from_secs(60))))
    };
    let random = method().random(42, 20).check().expect("well described");
    assert_eq!((random.verdict, random.executions()), (Verdict::NothingFound, 20), "{random}");
    let exhaustive = method().settings(|settings| settings.executions = Some(20)).check().expect("well described");
    assert_eq!((exhaustive.verdict, exhaustive.executions()), (Verdict::Unfinished, 20), "{exhaustive}");
    let text = exhaustive.to_string();
    // Of 100,000 steps each. The first three have no environment operation, one for each initial state; then one each.
    assert!(text.contains("20 executions of 20 histories, 2000017 steps, not complete"), "{text}");
}
