//! Weak memory: what relies on more than an ordering promises is found, and the report names the stale value.

use interloper::Checker;
use interloper::blocks::{Finding, Freedom, Grade, Memory, Schedule};
use interloper::sync::Arc;
use interloper::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use interloper::sync::atomic::{AtomicBool, AtomicU32};
use interloper::thread;

/// The data is published by a flag.
fn publishes(store: Ordering, load: Ordering) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        let reader = thread::spawn(move || {
            if other.1.load(load) {
                assert_eq!(other.0.load(Relaxed), 7, "the data is there");
            }
        });
        shared.0.store(7, Relaxed);
        shared.1.store(true, store);
        reader.join().unwrap();
    }
}

fn checker(memory: Memory) -> Checker {
    Checker::new("publication").executions(300).memory(memory)
}

#[test]
fn a_relaxed_flag_publishes_nothing() {
    let wrong = publishes(Relaxed, Acquire);
    let report = checker(Memory::Weak).check(&wrong).unwrap();
    report.assert_grade(Grade::Bug);
    let bug = report.bug.as_ref().unwrap();
    assert!(matches!(bug.finding, Finding::Panic { .. }), "{report}");
    // One access has to be stale: that of the data.
    assert_eq!(bug.departures.each().collect::<Vec<_>>(), [(Freedom::Memory, 1)], "{report}");
    // The table of the report breaks long lines.
    let text = report.to_string().split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.contains("reads atomic 1: sees the stale value that was there at first"), "{text}");
    assert!(text.contains("needs weak memory: an atomic access that does not see the newest store"), "{text}");
    // From its decisions alone, whatever the memory.
    let again = checker(Memory::SequentiallyConsistent).replay(&bug.smallest, &wrong).unwrap();
    assert_eq!(again.bug.unwrap().finding, bug.finding);
    for (store, load) in [(Release, Relaxed), (Relaxed, Relaxed)] {
        checker(Memory::Weak).check(publishes(store, load)).unwrap().assert_grade(Grade::Bug);
    }
    // Its twins: a flag that is released and acquired, and memory that is sequentially consistent.
    for (store, load) in [(Release, Acquire), (SeqCst, SeqCst)] {
        checker(Memory::Weak).check(publishes(store, load)).unwrap().assert_grade(Grade::Clean);
    }
    checker(Memory::SequentiallyConsistent).check(&wrong).unwrap().assert_grade(Grade::Clean);
}

#[test]
fn an_exhaustive_search_says_how_weak_memory_was() {
    let exhaustive = || checker(Memory::Weak).schedule(Schedule::Exhaustive);
    let report = exhaustive().check(publishes(Release, Acquire)).unwrap();
    report.assert_grade(Grade::Clean);
    assert_eq!((report.coverage.complete, report.coverage.stale), (true, Some(u32::MAX)), "{report}");
    assert!(report.to_string().contains("complete, weak memory: all stale accesses"), "{report}");
    exhaustive().check(publishes(Relaxed, Acquire)).unwrap().assert_grade(Grade::Bug);
    let strong = checker(Memory::SequentiallyConsistent).schedule(Schedule::Exhaustive);
    assert_eq!(strong.check(publishes(Relaxed, Acquire)).unwrap().coverage.stale, None);
}

/// Without a word about memory in the settings, the first executions decide.
#[test]
fn memory_can_follow_from_the_orderings() {
    let free = || Checker::new("publication").executions(300).settings(|settings| settings.memory = None);
    free().check(publishes(Relaxed, Acquire)).unwrap().assert_grade(Grade::Bug);
    let report = free().check(publishes(Release, Acquire)).unwrap();
    assert!(report.coverage.schedule.ends_with("memory weak"), "{report}");
    let strong = || {
        let number = Arc::new(AtomicU32::new(0));
        let other = number.clone();
        let adds = thread::spawn(move || other.fetch_add(1, SeqCst));
        number.fetch_add(1, SeqCst);
        adds.join().unwrap();
    };
    let report = free().check(strong).unwrap();
    assert!(report.coverage.schedule.ends_with("seed 42"), "{report}");
}

/// An execution without preemptions lets the main thread close the place first, so nothing weaker than `SeqCst` shows in it.
#[test]
fn an_ordering_on_a_slow_path_counts() {
    let publishes_if_open = |order: Ordering| {
        move || {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(OPEN)));
            let other = shared.clone();
            let writer = thread::spawn(move || {
                if other.1.load(SeqCst) == OPEN {
                    other.0.store(7, Relaxed);
                    other.1.store(WRITTEN, order);
                }
            });
            if shared.1.swap(CLOSED, SeqCst) == WRITTEN {
                assert_eq!(shared.0.load(SeqCst), 7);
            }
            writer.join().unwrap();
        }
    };
    const OPEN: u32 = 0;
    const WRITTEN: u32 = 1;
    const CLOSED: u32 = 2;
    let free = || Checker::new("publication if open").executions(300).settings(|settings| settings.memory = None);
    free().check(publishes_if_open(Relaxed)).unwrap().assert_grade(Grade::Bug);
    let report = free().check(publishes_if_open(Release)).unwrap();
    report.assert_grade(Grade::Clean);
    assert!(report.coverage.schedule.ends_with("memory weak"), "{report}");
}

/// A weaker ordering that the first executions do not reach leaves memory sequentially consistent. The report says so.
#[test]
fn an_ordering_that_only_a_later_execution_reaches_is_not_examined_and_said() {
    let meets_all = |order: Ordering| {
        move || {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let other = shared.clone();
            let reader = thread::spawn(move || {
                if (1..8).all(|number| other.0.load(SeqCst) == number) {
                    other.1.store(1, order);
                }
            });
            (1..9).for_each(|number| shared.0.store(number, SeqCst));
            reader.join().unwrap();
        }
    };
    let said = |order: Ordering| {
        let checker =
            Checker::new("meets all").schedule(Schedule::Exhaustive).settings(|settings| settings.memory = None);
        let report = checker.check(meets_all(order)).unwrap();
        report.assert_grade(Grade::Clean);
        assert!(report.coverage.complete, "{report}");
        (report.coverage.as_seq_cst, report.to_string().contains("ran as SeqCst"))
    };
    assert_eq!((said(Release), said(SeqCst)), ((1, true), (0, false)));
}

/// The ordering of a failed exchange is an ordering, too, also where the first execution has no exchange that fails.
#[test]
fn an_ordering_for_failure_counts() {
    let takes = |failure: Ordering| {
        move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let taker = thread::spawn(move || other.compare_exchange(false, true, SeqCst, failure).is_ok());
            let taken = flag.compare_exchange(false, true, SeqCst, failure).is_ok();
            assert!(taken != taker.join().unwrap());
        }
    };
    let memory = |failure: Ordering| {
        let checker = Checker::new("taken once").executions(300).settings(|settings| settings.memory = None);
        checker.check(takes(failure)).unwrap().coverage.schedule.ends_with("memory weak")
    };
    assert_eq!([Relaxed, Acquire, SeqCst].map(memory), [true, true, false]);
}

/// A pass under sequential consistency says what it did not look for. By hand: if the reader sees the flag, there are two stores and
/// two loads.
#[test]
fn a_pass_says_which_orderings_were_not_examined() {
    let said = |memory: Memory, program: &(dyn Fn() + Sync)| {
        let report = checker(memory).check(program).unwrap();
        report.assert_grade(Grade::Clean);
        let text = report.to_string().split_whitespace().collect::<Vec<&str>>().join(" ");
        (report.coverage.as_seq_cst, text.contains("ran as SeqCst: weak memory (`memory = \"weak\"`"))
    };
    let strong = Memory::SequentiallyConsistent;
    assert_eq!(said(strong, &publishes(Relaxed, Acquire)), (4, true));
    assert_eq!(said(strong, &publishes(SeqCst, SeqCst)), (2, true));
    assert_eq!(said(Memory::Weak, &publishes(Release, Acquire)), (0, false));
    let counts = || {
        let number = Arc::new(AtomicU32::new(0));
        let other = number.clone();
        let adds = thread::spawn(move || other.fetch_add(1, SeqCst));
        number.fetch_add(1, SeqCst);
        adds.join().unwrap();
    };
    assert_eq!(said(strong, &counts), (0, false));
}

/// Weak memory is the default where an ordering is weaker than `SeqCst`. A finding that needs it may depend on what this build does
/// not see, and says so: not where weak memory was asked for, and not where the finding needs none.
#[test]
fn a_finding_under_the_default_memory_says_what_it_may_depend_on() {
    let found = |memory: Option<Memory>, program: &(dyn Fn() + Sync)| {
        let checker = Checker::new("publication").executions(300).settings(|settings| settings.memory = memory);
        let report = checker.check(program).unwrap();
        report.assert_grade(Grade::Bug);
        let note = "note: this finding needs weak memory, which is the default because the program has orderings weaker than SeqCst";
        (report.may_lack_order().is_some(), report.to_string().contains(note))
    };
    assert_eq!(found(None, &publishes(Relaxed, Acquire)), (true, true));
    assert_eq!(found(Some(Memory::Weak), &publishes(Relaxed, Acquire)), (false, false));
    let swapped = || {
        let shared = Arc::new(AtomicU32::new(0));
        let other = shared.clone();
        let writer = thread::spawn(move || other.store(1, Relaxed));
        assert_eq!(shared.load(Relaxed), 0, "nothing was written");
        writer.join().unwrap();
    };
    assert_eq!(found(None, &swapped), (false, false));
    let checker = Checker::new("publication").executions(300);
    checker.check(publishes(Release, Acquire)).unwrap().assert_grade(Grade::Clean);
}

/// To look at plain memory, the engine keeps the model of weak memory, although each access sees the newest store.
#[test]
fn an_exhaustive_search_that_looks_at_plain_memory_leaves_nothing_out() {
    for (memory, executions) in [(Memory::SequentiallyConsistent, 2), (Memory::Weak, 2 + 2)] {
        for plain in [false, true] {
            let search = checker(memory).schedule(Schedule::Exhaustive).plain(plain);
            let report = search.check(publishes(Release, Acquire)).unwrap();
            assert_eq!((report.coverage.executions, report.coverage.complete), (executions, true), "{plain} {report}");
        }
    }
}

/// Three letters and a flag, all relaxed. The reader that sees the flag tells which letters it did not see.
fn misses(is_wrong: fn([bool; 3]) -> bool) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new(([const { AtomicU32::new(0) }; 3], AtomicBool::new(false)));
        let other = shared.clone();
        let writer = thread::spawn(move || {
            other.0.iter().for_each(|letter| letter.store(1, Relaxed));
            other.1.store(true, Relaxed);
        });
        if shared.1.load(Relaxed) {
            let missed = shared.0.each_ref().map(|letter| letter.load(Relaxed) == 0);
            assert!(!is_wrong(missed), "letters are missing");
        }
        writer.join().unwrap();
    }
}

/// The search comes to the executions that miss the last two letters before it comes to those that miss the first one. No stale
/// read can be left out of the former.
#[test]
fn an_exhaustive_search_shows_the_fewest_stale_accesses() {
    let needed = |is_wrong: fn([bool; 3]) -> bool| {
        let checker = checker(Memory::Weak).schedule(Schedule::Exhaustive).freedoms("memory".parse().unwrap());
        let report = checker.check(misses(is_wrong)).unwrap();
        report.bug.as_ref().map(|bug| bug.departures.count(Freedom::Memory))
    };
    assert_eq!(needed(|[first, second, third]| first || (second && third)), Some(1));
    assert_eq!(needed(|[_, second, third]| second && third), Some(2));
    assert_eq!(needed(|missed| missed == [true; 3]), Some(3));
    assert_eq!(needed(|_| false), None);
}

/// Every kind of schedule.
const SCHEDULES: [&str; 12] = [
    "random",
    "atomfuzzer",
    "atomfuzzer-mutex",
    "pct:3",
    "pctwm:2:2",
    "pos",
    "surw",
    "urw",
    "rff",
    "portfolio",
    "preemptions:2",
    "exhaustive",
];

/// How many stale accesses are shown with what each schedule finds.
fn shown(program: impl Fn() + Sync) -> Vec<(&'static str, Option<u32>)> {
    let shown = |text: &'static str| {
        let report = checker(Memory::Weak).executions(1_000).schedule(text.parse().unwrap()).check(&program).unwrap();
        (text, report.bug.as_ref().map(|bug| bug.departures.count(Freedom::Memory)))
    };
    SCHEDULES.map(shown).to_vec()
}

/// An increment is lost where a task does not see the newest number. It is lost, too, where both read before one writes: then nothing
/// stale is read, but other tasks make the next step.
#[test]
fn a_bug_that_needs_no_stale_access_is_shown_without_any() {
    let counts = |atomically: bool| {
        move || {
            let number = Arc::new(AtomicU32::new(0));
            let count = move |number: &AtomicU32| match atomically {
                true => _ = number.fetch_add(1, Relaxed),
                false => number.store(number.load(Relaxed) + 1, Relaxed),
            };
            let other = number.clone();
            let counter = thread::spawn(move || count(&other));
            count(&number);
            counter.join().unwrap();
            assert_eq!(number.load(Relaxed), 2);
        }
    };
    assert_eq!(shown(counts(false)), SCHEDULES.map(|text| (text, Some(0))));
    assert_eq!(shown(counts(true)), SCHEDULES.map(|text| (text, None)));
}

#[test]
fn a_bug_that_needs_one_stale_access_is_shown_with_one() {
    let buffers = |order: Ordering| {
        move || {
            let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
            let other = shared.clone();
            let first = thread::spawn(move || {
                other[0].store(1, order);
                other[1].load(order)
            });
            shared[1].store(1, order);
            let second = shared[0].load(order);
            assert_ne!((first.join().unwrap(), second), (0, 0));
        }
    };
    assert_eq!(shown(buffers(Relaxed)), SCHEDULES.map(|text| (text, Some(1))));
    assert_eq!(shown(buffers(SeqCst)), SCHEDULES.map(|text| (text, None)));
    // One stale letter is enough, and two others are, too.
    assert_eq!(
        shown(misses(|[first, second, third]| first || (second && third))),
        SCHEDULES.map(|text| (text, Some(1)))
    );
}
