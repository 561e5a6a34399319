//! The general search does not allocate but for what it meets for the first time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use interloper_commutativity::Value;
use interloper_linearize::general::{Budget, Spec, Verdict, check};
use interloper_linearize::history::History;
use interloper_linearize::recording::{self, Recorder};
use interloper_linearize::schema::Invocation;
use interloper_linearize::types::type_named;

thread_local! {
    /// How often this thread has asked for memory.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every method hands its arguments on to the system's allocator, and what that gives back; counting touches a
// thread-local cell that needs no memory of its own and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of this very method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

/// A sum modulo a number; the last call, a read, has seen a sum that there never was. All calls overlap.
struct Sum {
    modulus: u64,
    calls: usize,
}

impl Spec for Sum {
    type State = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn step(&mut self, state: &u64, call: usize) -> Option<u64> {
        (call + 1 < self.calls).then(|| (state + call as u64 + 1) % self.modulus)
    }
}

#[test]
fn a_search_through_many_nodes() {
    let calls = 40;
    let mut history = History::new();
    for _ in 0..calls {
        history.invoke();
    }
    (0..calls).for_each(|call| history.complete(call));
    let with = |attempts| {
        allocations(|| {
            let verdict = check(&mut Sum { modulus: 97, calls }, &history, Budget::StopAfter(attempts));
            assert_eq!(verdict, Verdict::Unknown);
        })
    };
    let (few, many) = (with(20_000), with(640_000));
    // Only the table of nodes still grows, by doubling: log2(640,000 / 20,000) = 5 times.
    assert!(many <= few + 6, "{few} allocations for 20,000 attempts, {many} for 640,000");
}

#[test]
fn a_search_through_a_recorded_history() {
    let int = Value::Int;
    let mut recorder = Recorder::new();
    for process in 0..40 {
        let call = Invocation::new("cas", [int(process % 4), int(process % 3)]);
        recorder.invoke(process, call).expect("the process is in no call");
    }
    // All of them are pending, and nobody writes what is read.
    recorder.invoke(40, Invocation::new("write", [int(0)])).expect("the process is in no call");
    recorder.invoke(41, Invocation::new("read", [])).expect("the process is in no call");
    recorder.returned(40, Value::None).expect("it writes");
    recorder.returned(41, int(99)).expect("it reads");
    let recording = recorder.finish();
    let register = type_named("register").expect("a type");
    let with = |attempts| {
        allocations(|| {
            let checked = recording::check(register, &recording, Budget::StopAfter(attempts));
            assert_eq!(checked.expect("calls of a register").verdict, Verdict::Unknown);
        })
    };
    let (few, many) = (with(20_000), with(640_000));
    // There are 4 states and 12 different calls: what each does is known early.
    assert!(many <= few + 6, "{few} allocations for 20,000 attempts, {many} for 640,000");
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1]))), 1);
    assert_eq!(allocations(|| ()), 0);
}
