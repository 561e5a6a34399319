//! What an execution costs in memory. One test, since the resident memory is that of the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::Location;

use interloper_scheduler::runtime::{self, Action, Handle, Mode, NewTask, ObjectKind, Operation};
use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Engine, Strategy};

#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
use memory::resident;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations `body` makes on this thread, which is the one that executions run on.
fn allocations(body: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

/// Makes so many steps: takes a lock, changes a variable, gives the lock back, again and again.
fn steps(count: usize) {
    let (lock, variable) = (Handle::new(), Handle::new());
    let location = Location::caller();
    for _ in 0..count / 3 {
        runtime::with(|current| {
            let lock = lock.object(&current, ObjectKind::Mutex);
            let object = variable.object(&current, ObjectKind::Atomic);
            current.runtime().acquire(lock, Mode::Exclusive, location);
            current.runtime().step(Operation { object, action: Action::ReadWrite, location });
            current.runtime().release(lock, Mode::Exclusive, location);
        })
        .unwrap();
    }
}

fn spawn_all(tasks: usize, count: usize) {
    let location = Location::caller();
    let spawn = |_| {
        let body = Box::new(move || steps(count));
        runtime::with(|current| current.runtime().spawn(NewTask { name: None, location }, body)).unwrap()
    };
    let spawned: Vec<_> = (0..tasks).map(spawn).collect();
    for task in spawned {
        runtime::with(|current| current.runtime().join(task, location)).unwrap().unwrap();
    }
}

#[test]
fn memory() {
    let mut engine = Engine::new(Config::default());
    let mut strategy = RandomWalk::new(0);
    let mut run = |program: &dyn Fn()| {
        strategy.begin();
        let mut end = None;
        let made = allocations(|| end = Some(engine.run(&mut strategy, program).end));
        assert!(end.unwrap().is_finished());
        made
    };
    // An execution of one task allocates nothing once the engine has its memory.
    run(&|| steps(1000));
    assert_eq!(run(&|| steps(1000)), 0);
    assert_eq!(run(&|| steps(10)), 0);
    // Nor does a step: more steps of as many tasks cost as much.
    run(&|| spawn_all(4, 3000));
    assert_eq!(run(&|| spawn_all(4, 3000)), run(&|| spawn_all(4, 3)));
    #[cfg(target_os = "linux")]
    {
        let before = resident();
        run(&|| spawn_all(1000, 30));
        let used = resident() - before;
        assert!(used < 100_000_000, "1,000 tasks took {used} bytes");
    }
}
