//! Data races and freed memory in programs that announce their loads and stores, as the compiler does for traced code.

use std::cell::UnsafeCell;
use std::sync::Arc;

use interloper::blocks::{Checker, Finding, Grade, Report};
use interloper::plain::{self, Quarantine};
use interloper::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use interloper::thread;
use interloper_scheduler::FaultKind;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

/// A plain variable that tasks share without asking the compiler.
#[derive(Default)]
struct Plain(UnsafeCell<u64>);

// SAFETY: the tasks of an execution run on one thread, one at a time.
unsafe impl Sync for Plain {}

impl Plain {
    fn read(&self) -> u64 {
        plain::announce(self.0.get().addr(), 8, false);
        // SAFETY: as above.
        unsafe { self.0.get().read() }
    }

    fn write(&self, value: u64) {
        plain::announce(self.0.get().addr(), 8, true);
        // SAFETY: as above.
        unsafe { self.0.get().write(value) };
    }
}

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
