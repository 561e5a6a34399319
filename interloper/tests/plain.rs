//! Data races and freed memory in programs that announce their loads and stores, as the compiler does for traced code.

#[path = "../../scheduler/tests/announced/mod.rs"]
mod announced;

use std::sync::Arc;

use interloper::blocks::{Checker, Finding, Grade, Misuse, Preempt, Report, Schedule};
use interloper::plain::{self, Quarantine};
use interloper::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use interloper::thread;
use interloper_scheduler::{Doing, FaultKind};

use announced::Plain;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

fn check(program: impl Fn() + Sync) -> Report {
    Checker::new("program").executions(200).check(program).unwrap()
}

#[track_caller]
fn fault(report: &Report) -> FaultKind {
    let Some(bug) = &report.bug else { panic!("no bug: {report:?}") };
    let Finding::Memory(fault) = &bug.finding else { panic!("{:?}", bug.finding) };
    fault.kind
}

/// A message with a flag. `ready` says how the flag is stored.
fn message(ready: Ordering) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((Plain::default(), AtomicBool::new(false)));
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                if shared.1.load(Ordering::Acquire) {
                    assert_eq!(shared.0.read(), 7);
                }
            }
        });
        shared.0.write(7);
        shared.1.store(true, ready);
        reader.join().unwrap();
    }
}

#[test]
fn a_race_is_reported_with_both_sides() {
    let report = check(message(Ordering::Relaxed));
    assert_eq!(fault(&report), FaultKind::Race);
    let shown = report.bug.unwrap().counterexample.to_string();
    insta::assert_snapshot!(shown.replace(env!("CARGO_MANIFEST_DIR"), "interloper"));
    assert_eq!(check(message(Ordering::Release)).grade, Grade::Clean);
}

/// A program that aligns what it keeps in a block by the block's address begins at another byte in each execution. Here a number
/// stands for the address. `grows`: the size of the block differs, too.
fn aligned(number: &std::sync::atomic::AtomicUsize, grows: bool) -> impl Fn() + Sync {
    move || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let cells: Vec<Plain> = (0..if grows { 8 + number } else { 8 }).map(|_| Plain::default()).collect();
        let shared = Arc::new((cells.into_boxed_slice(), number % 8));
        let child = thread::spawn({
            let shared = shared.clone();
            move || shared.0[shared.1].write(1)
        });
        shared.0[shared.1].write(2);
        child.join().unwrap();
    }
}

#[test]
fn a_race_at_another_byte_of_its_block_is_the_same() {
    let number = std::sync::atomic::AtomicUsize::new(0);
    assert_eq!(fault(&check(aligned(&number, false))), FaultKind::Race);
    let misuse = Checker::new("program").executions(200).check(aligned(&number, true)).unwrap_err();
    assert!(matches!(misuse, Misuse::Nondeterministic { .. }), "{misuse}");
}

/// The two sides of the race are marked on its page, in the lanes of two tasks.
#[test]
fn a_race_has_a_page() {
    let checker = Checker::new("program").executions(200).settings(|settings| settings.explore = true);
    let page = checker.check(message(Ordering::Relaxed)).unwrap().bug.expect("a race").page();
    assert_eq!(page.verdict, "data race");
    let marked: Vec<_> = page.steps.iter().filter(|step| step.marked).collect();
    let lanes: std::collections::BTreeSet<u32> = marked.iter().map(|step| step.task).collect();
    assert!(marked.len() >= 2 && lanes.len() == 2, "{marked:?}");
    // What a test announces by hand has no place; the steps around it have.
    assert!(page.sources.iter().any(|source| source.file.ends_with("plain.rs")));
    assert!(page.choices.is_some_and(|choices| choices.points.len() > 1));
}

/// A reader that holds a pointer while the writer frees what it points to.
fn replaced(deferred: bool) -> impl Fn() + Sync {
    move || {
        let first = Box::into_raw(Box::new([AtomicUsize::new(1), AtomicUsize::new(2)]));
        let current = Arc::new(AtomicUsize::new(first.expose_provenance()));
        let reader = thread::spawn({
            let current = current.clone();
            move || {
                let node: *const [AtomicUsize; 2] = std::ptr::with_exposed_provenance(current.load(Ordering::Acquire));
                // SAFETY: what is freed stays where it is to the end of the execution.
                unsafe { (&(*node))[1].load(Ordering::Relaxed) }
            }
        });
        let second = Box::into_raw(Box::new([AtomicUsize::new(3), AtomicUsize::new(4)]));
        current.swap(second.expose_provenance(), Ordering::AcqRel);
        let free = |node: *mut [AtomicUsize; 2]| {
            // SAFETY: it was made by a box, and is freed once.
            drop(unsafe { Box::from_raw(node) });
        };
        if !deferred {
            free(first);
        }
        reader.join().unwrap();
        if deferred {
            free(first);
        }
        free(second);
    }
}

#[test]
fn memory_that_a_reader_may_still_use_is_freed() {
    let report = check(replaced(false));
    assert!(matches!(fault(&report), FaultKind::UseAfterFree | FaultKind::Race));
    // The mirror says where an atomic is read. Nothing says where the test's own box is freed.
    let Finding::Memory(fault) = &report.bug.as_ref().unwrap().finding else { unreachable!("see above") };
    let touches: Vec<_> = fault.first.iter().chain([&fault.second]).collect();
    assert_eq!(touches.iter().filter(|touch| touch.doing == Some(Doing::AtomicRead)).count(), 1, "{touches:?}");
    for touch in touches {
        let is_read = touch.doing == Some(Doing::AtomicRead);
        assert_eq!(touch.place.as_ref().map(|place| place.file.as_str()), is_read.then_some(file!()), "{touch:?}");
    }
    let text = report.bug.unwrap().counterexample.to_string();
    assert!(text.contains("a block of 16 bytes, allocated by main"), "{text}");
    assert!(text.contains("frees memory"), "{text}");
    assert_eq!(check(replaced(true)).grade, Grade::Clean);
}

#[test]
fn leaks_need_a_program_that_was_built_for_it() {
    let misuse = Checker::new("program").leaks().check(message(Ordering::Release)).unwrap_err();
    assert!(misuse.to_string().contains("run it with `cargo interloper test`"), "{misuse}");
}

#[test]
fn plain_memory_can_be_left_out() {
    let checker = Checker::new("program").executions(200);
    let report = checker.plain(false).check(message(Ordering::Relaxed)).unwrap();
    assert_eq!(report.grade, Grade::Clean);
}

/// A fault replays: its decisions alone lead to it again.
#[test]
fn a_race_replays() {
    let checker = Checker::new("program").executions(200);
    let report = checker.check(message(Ordering::Relaxed)).unwrap();
    let again = checker.replay(&report.bug.unwrap().smallest, message(Ordering::Relaxed)).unwrap();
    assert_eq!(fault(&again), FaultKind::Race);
}

/// Two threads add to a counter, with a lock or without.
fn count(locked: bool) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((interloper::sync::Mutex::new(()), Plain::default()));
        let add = move |shared: &(interloper::sync::Mutex<()>, Plain)| {
            let _guard = locked.then(|| shared.0.lock().unwrap());
            shared.1.write(shared.1.read() + 1);
        };
        let child = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        add(&shared);
        child.join().unwrap();
        assert_eq!(shared.1.read(), 2, "an update is lost");
    }
}

/// Each strategy finds the outcome of the race where loads and stores are steps, and none does where they are not.
#[test]
fn a_lost_update_is_found_where_loads_and_stores_are_steps() {
    plain::announces_by_hand();
    for schedule in
        ["portfolio", "random", "pct:3", "pos", "surw", "rff", "atomfuzzer:0.5", "preemptions:1", "exhaustive"]
    {
        let schedule: Schedule = schedule.parse().unwrap();
        let checker = || Checker::new("count").schedule(schedule.clone()).executions(300).plain(false).allow_trivial();
        let report = checker().preempt(Preempt::Memory).check(count(false)).unwrap();
        let bug = report.bug.unwrap_or_else(|| panic!("{schedule} finds nothing"));
        assert!(matches!(&bug.finding, Finding::Panic { message, .. } if message.contains("an update is lost")));
        assert_eq!(checker().check(count(false)).unwrap().grade, Grade::Clean, "{schedule}");
        let report = checker().preempt(Preempt::Memory).check(count(true)).unwrap();
        assert_eq!(report.grade, Grade::Clean, "{schedule}");
        assert!(report.coverage.plain_steps.is_some_and(|steps| steps > 0), "{}", report.coverage);
    }
}

#[test]
fn a_report_says_how_many_steps_were_at_plain_memory() {
    plain::announces_by_hand();
    let checker = Checker::new("count").schedule(Schedule::Exhaustive).plain(false).preempt(Preempt::Memory);
    let report = checker.check(count(true)).unwrap();
    // Both orders of the two sections. In each execution: two loads and two stores, and the load at the end.
    let text = report.coverage.to_string();
    assert!(text.starts_with("exhaustive, seed 42, preempt memory: 2 executions of 2 traces, "), "{text}");
    assert!(text.contains(" steps, 10 of them at plain memory, complete"), "{text}");
    let report = checker.clone().check(count(false)).unwrap();
    let bug = report.bug.unwrap();
    let shown = bug.counterexample.to_string();
    assert!(shown.contains("reads plain memory 1") && shown.contains("writes plain memory 1"), "{shown}");
    assert!(shown.contains(".preempt(Preempt::Memory).replay("), "{shown}");
    let again = checker.replay(&bug.smallest, count(false)).unwrap();
    assert!(again.bug.unwrap().counterexample.to_string().starts_with("✗ count "), "{shown}");
}
