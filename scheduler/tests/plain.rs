//! Data races and freed memory. The programs announce their loads and stores themselves, as the compiler does for traced code.

mod announced;

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::Arc;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Doing, End, Engine, Fault, FaultKind, Watch};
use interloper_std::plain::{self, Quarantine};
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use interloper_std::thread;

use announced::Plain;

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

fn engine(watch: Watch) -> Engine {
    Engine::new(Config { plain: Some(watch), ..Config::default() })
}

/// The faults of 200 executions, each with a random schedule.
fn faults(program: impl Fn() + Copy) -> Vec<Fault> {
    let mut engine = engine(Watch::default());
    let fault = |seed| match engine.run(&mut RandomWalk::new(seed), program).end {
        End::Memory(fault) => Some(*fault),
        End::Finished => None,
        end => panic!("{end}"),
    };
    (0..200).filter_map(fault).collect()
}

/// The thread's side of an execution does not run out of stack where its own stack is below those of the tasks: it is on none of
/// theirs. It allocates when a task has ended.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_stack_of_the_thread_may_be_below_those_of_the_tasks() {
    use std::cell::Cell;

    /// The system puts what is mapped into the highest gap that is large enough.
    const ROOM: usize = 64 << 20;
    let address = |value: &dyn std::any::Any| std::ptr::from_ref(value).addr();
    let is_below = || {
        // SAFETY: the system chooses where.
        let room = unsafe {
            libc::mmap(std::ptr::null_mut(), ROOM, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(room, libc::MAP_FAILED);
        let room = room.addr();
        let on_thread = move || {
            // What the allocator maps for a thread, it maps with its first block.
            drop(black_box(Box::new(0)));
            // SAFETY: nobody uses the room. This stack is as long, and was mapped while the room was taken.
            assert_eq!(unsafe { libc::munmap(std::ptr::without_provenance_mut(room), ROOM) }, 0);
            let of_task = Cell::new(0);
            let program = || {
                let tasks: Vec<_> = (0..8).map(|_| thread::spawn(|| ())).collect();
                of_task.set(address(&tasks));
                tasks.into_iter().for_each(|task| task.join().unwrap());
            };
            let execution = engine(Watch::default()).run(&mut RandomWalk::new(1), program);
            assert_eq!((execution.end, execution.tasks), (End::Finished, 9));
            address(&of_task) < of_task.get()
        };
        std::thread::Builder::new().stack_size(ROOM).spawn(on_thread).unwrap().join().unwrap()
    };
    assert!((0..20).any(|_| is_below()), "the stacks of the tasks are always lower");
}

#[track_caller]
fn races(program: impl Fn() + Copy) {
    let faults = faults(program);
    assert!(faults.iter().all(|fault| fault.kind == FaultKind::Race), "{faults:?}");
    // Whatever the schedule, the accesses are unordered.
    assert_eq!(faults.len(), 200);
}

#[track_caller]
fn is_clean(program: impl Fn() + Copy) {
    assert_eq!(faults(program), []);
}

fn two_tasks(first: impl FnOnce(&(Plain, AtomicBool)) + 'static + Send, second: impl FnOnce(&(Plain, AtomicBool))) {
    let shared = Arc::new(<(Plain, AtomicBool)>::default());
    let child = thread::spawn({
        let shared = shared.clone();
        move || first(&shared)
    });
    second(&shared);
    child.join().unwrap();
}

#[test]
fn unordered_accesses_race_in_every_execution() {
    races(|| two_tasks(|shared| shared.0.write(1), |shared| shared.0.write(2)));
    races(|| two_tasks(|shared| _ = shared.0.read(), |shared| shared.0.write(2)));
    is_clean(|| two_tasks(|shared| _ = shared.0.read(), |shared| _ = shared.0.read()));
}

#[test]
fn a_lock_orders_and_two_locks_do_not() {
    fn program(other: bool) {
        let shared = Arc::new((Mutex::new(()), Mutex::new(()), Plain::default()));
        let child = thread::spawn({
            let shared = shared.clone();
            move || {
                let _guard = shared.0.lock().unwrap();
                shared.2.write(1);
            }
        });
        {
            let _guard = if other { shared.1.lock() } else { shared.0.lock() }.unwrap();
            shared.2.write(2);
        }
        child.join().unwrap();
        shared.2.read();
    }
    races(|| program(true));
    is_clean(|| program(false));
}

/// Publishes by a flag. The reader reads only if it sees the flag.
fn publish(store: Ordering, load: Ordering) {
    two_tasks(
        move |shared| {
            shared.0.write(1);
            shared.1.store(true, store);
        },
        move |shared| {
            if shared.1.load(load) {
                assert_eq!(shared.0.read(), 1);
            }
        },
    );
}

#[test]
fn a_flag_publishes_if_its_orderings_do() {
    is_clean(|| publish(Ordering::Release, Ordering::Acquire));
    for (store, load) in [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)] {
        let faults = faults(|| publish(store, load));
        assert!(faults.iter().all(|fault| fault.kind == FaultKind::Race));
        // In the others the reader does not see the flag.
        assert!((20..180).contains(&faults.len()), "{}", faults.len());
    }
}

#[test]
fn a_plain_access_to_an_atomic_races_with_it() {
    /// An atomic, and its value as plain memory.
    fn program(ordered: bool) {
        let shared = Arc::new((AtomicUsize::new(0), Mutex::new(())));
        let child = thread::spawn({
            let shared = shared.clone();
            move || {
                let _guard = shared.1.lock();
                shared.0.store(1, Ordering::Relaxed);
            }
        });
        let guard = ordered.then(|| shared.1.lock());
        plain::announce(shared.0.as_ptr().addr(), 8, false);
        drop(guard);
        child.join().unwrap();
    }
    races(|| program(false));
    is_clean(|| program(true));
}

/// As a node that one task reads while the other one, which has unlinked it, frees it.
#[test]
fn memory_is_used_after_it_was_freed() {
    fn program(waits: bool) {
        let node = Box::into_raw(Box::new((AtomicUsize::new(7), Plain::default())));
        let address = node.expose_provenance();
        let child = thread::spawn(move || {
            let node: *const (AtomicUsize, Plain) = std::ptr::with_exposed_provenance(address);
            // SAFETY: the memory stays where it is to the end of the execution.
            unsafe { (*node).0.load(Ordering::Relaxed) };
        });
        if waits {
            child.join().unwrap();
        } else {
            // A step, before which the other task may run.
            AtomicBool::new(false).store(true, Ordering::Relaxed);
        }
        // SAFETY: it was made by a box. The other task may still use it, which is what the test is about.
        drop(unsafe { Box::from_raw(node) });
        thread::yield_now();
    }
    let found = faults(|| program(false));
    let used = found.iter().filter(|fault| fault.kind == FaultKind::UseAfterFree).count();
    let raced = found.iter().filter(|fault| fault.kind == FaultKind::Race).count();
    assert_eq!(used + raced, 200, "whoever comes first");
    assert!(used > 20 && raced > 20, "{used} {raced}");
    let freed = |fault: &Fault| fault.first.as_ref().is_some_and(|first| first.doing == Some(Doing::Free));
    assert!(found.iter().filter(|fault| fault.kind == FaultKind::UseAfterFree).all(freed));
    assert!(found.iter().all(|fault| fault.block.as_ref().is_some_and(|block| block.size == 16 && block.offset == 0)));
    is_clean(|| program(true));
}

#[test]
fn memory_is_freed_twice_or_with_another_layout() {
    let twice = faults(|| {
        let block = black_box(Box::into_raw(Box::new(5_u64)));
        // SAFETY: the second one is wrong; the allocator notices.
        unsafe {
            drop(Box::from_raw(block));
            drop(Box::from_raw(block));
        }
        thread::yield_now();
    });
    assert_eq!(twice.len(), 200);
    assert!(twice.iter().all(|fault| fault.kind == FaultKind::DoubleFree));
    let other = faults(|| {
        let block = black_box(Box::into_raw(Box::new([5_u32; 4])));
        // SAFETY: the layout is wrong; the allocator notices.
        drop(unsafe { Box::from_raw(block.cast::<[u64; 2]>()) });
        let fits = black_box(Box::into_raw(Box::new([5_u64; 4])));
        // SAFETY: the layout is right.
        drop(unsafe { Box::from_raw(fits.cast::<[usize; 4]>()) });
    });
    assert_eq!(other.len(), 200);
    assert!(other.iter().all(|fault| fault.kind == FaultKind::OtherLayout));
}

/// A count of owners that no mirror replaces, as that of an `Arc`: whoever is last reads what the others have written.
fn owners(order: Ordering) -> impl Fn() + Copy {
    move || {
        let (shared, count) =
            (Arc::new(Plain::default()), Arc::new((std::sync::atomic::AtomicUsize::new(2), Mutex::new(()))));
        let leave = move |shared: &Plain, count: &(std::sync::atomic::AtomicUsize, Mutex<()>), value| {
            // A step, so that the tasks come here in both orders. It orders nothing.
            AtomicBool::new(false).store(true, Ordering::Relaxed);
            if value == 1 {
                shared.write(value);
            }
            plain::announce_update(count.0.as_ptr().addr(), order);
            if count.0.fetch_sub(1, Ordering::Relaxed) == 1 {
                shared.read();
            }
        };
        let child = thread::spawn({
            let (shared, count) = (shared.clone(), count.clone());
            move || leave(&shared, &count, 1)
        });
        leave(&shared, &count, 2);
        child.join().unwrap();
    }
}

#[test]
fn the_counts_of_owners_order_what_they_do() {
    is_clean(owners(Ordering::AcqRel));
    for order in [Ordering::Release, Ordering::Relaxed] {
        let faults = faults(owners(order));
        assert!(faults.iter().all(|fault| fault.kind == FaultKind::Race));
        assert!((20..180).contains(&faults.len()), "{order:?}: whenever the main task is last, {}", faults.len());
    }
}

#[test]
fn fences_order() {
    is_clean(|| {
        two_tasks(
            |shared| {
                shared.0.write(1);
                fence(Ordering::Release);
                shared.1.store(true, Ordering::Relaxed);
            },
            |shared| {
                if shared.1.load(Ordering::Relaxed) {
                    fence(Ordering::Acquire);
                    shared.0.read();
                }
            },
        );
    });
}

#[test]
fn what_is_never_freed_is_a_leak_if_that_is_asked_for() {
    let run = |leaks, program: fn()| {
        let watch = Watch { leaks, ..Watch::default() };
        engine(watch).run(&mut RandomWalk::new(0), program).end
    };
    let leaks = || std::mem::forget(Box::new([0_u64; 5]));
    let End::Memory(fault) = run(true, leaks) else { panic!("a block of memory leaks") };
    assert_eq!(fault.kind, FaultKind::Leak(1));
    assert_eq!(fault.block.map(|block| block.size), Some(40));
    assert_eq!(run(false, leaks), End::Finished);
    assert_eq!(run(true, || drop(Box::new([0_u64; 5]))), End::Finished);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
type Blocks = Box<[Option<Box<u64>>; 3]>;

/// What an execution puts here is not dropped at its end.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
struct Kept(UnsafeCell<Option<Blocks>>);
// SAFETY: the tasks of an execution run on one thread, one at a time, and only one test uses it.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
unsafe impl Sync for Kept {}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn what_a_static_leads_to_is_no_leak() {
    use interloper_std::runtime::Statics;

    static KEPT: Kept = Kept(UnsafeCell::new(None));
    let config = Config {
        plain: Some(Watch { leaks: true, ..Watch::default() }),
        statics: Statics::of([env!("CARGO_CRATE_NAME")]),
        ..Config::default()
    };
    let mut engine = Engine::new(config);
    for _ in 0..3 {
        let mut run = |program: fn()| engine.run(&mut RandomWalk::new(0), program).end;
        let keeps = || {
            // SAFETY: one task uses it.
            let kept = unsafe { &mut *KEPT.0.get() };
            assert!(kept.is_none(), "each execution has its own value");
            *kept = Some(Box::new([Some(Box::new(1)), None, Some(Box::new(2))]));
        };
        assert_eq!(run(keeps), End::Finished);
        let loses = || {
            // SAFETY: as above.
            let kept = unsafe { &mut *KEPT.0.get() }.insert(Box::new([Some(Box::new(1)), None, Some(Box::new(2))]));
            std::mem::forget(kept[2].take());
        };
        let End::Memory(fault) = run(loses) else { panic!("a block of memory leaks") };
        assert_eq!((fault.kind, fault.block.map(|block| block.size)), (FaultKind::Leak(1), Some(8)));
    }
}

#[test]
fn the_end_of_a_process_is_no_access() {
    static LATE: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    is_clean(|| {
        // Not joined: it is given up, or has come to its end, when the main task ends.
        thread::spawn(|| LATE.lock().unwrap().push(1));
        LATE.lock().unwrap().push(2);
    });
}
