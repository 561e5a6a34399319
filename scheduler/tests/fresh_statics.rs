//! Whole statics of a chosen crate are fresh in each execution, whatever is in them.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU32 as RealAtomic;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, End, Engine, Strategy};
use interloper_std::runtime::Statics;
use interloper_std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use interloper_std::sync::{Mutex, Once, OnceLock};
use interloper_std::thread;

/// The tests of this file use statics of their own while they are outside executions, which the executions of others
/// must not see. Locked by each of them, so that no execution finds it as it was at first. The mutex lies outside of the static: after an
/// execution, the bytes of statics are those from before it, and a mutex there would forget who began to wait for it meanwhile.
fn one_at_a_time() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::LazyLock<Box<std::sync::Mutex<()>>> = std::sync::LazyLock::new(Box::default);
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn all_finished(ends: &[End]) -> bool {
    !ends.is_empty() && ends.iter().all(End::is_finished)
}

/// Executions of `program` with fresh statics of this crate.
fn fresh(times: u64, program: impl FnMut()) -> Vec<End> {
    fresh_with(&Statics::of(["fresh_statics"]), times, program)
}

fn fresh_with(statics: &Statics, times: u64, mut program: impl FnMut()) -> Vec<End> {
    let mut engine = Engine::new(Config { statics: statics.clone(), ..Config::default() });
    let mut walk = RandomWalk::new(1);
    let mut one = || {
        assert!(walk.begin());
        engine.run(&mut walk, &mut program).end
    };
    (0..times).map(|_| one()).collect()
}

/// As many crates have it: a value beside an atomic that says whether it is there.
struct OwnCell<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is set by who has made the state 1, before it is made 2, and read after that.
unsafe impl<T: Send + Sync> Sync for OwnCell<T> {}

impl<T> OwnCell<T> {
    const fn new() -> OwnCell<T> {
        OwnCell { state: AtomicU8::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.state.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                // SAFETY: see above.
                unsafe { (*self.value.get()).write(make()) };
                self.state.store(2, Ordering::Release);
            }
            Err(_) => {
                while self.state.load(Ordering::Acquire) != 2 {
                    interloper_std::hint::spin_loop();
                }
            }
        }
        // SAFETY: see above.
        unsafe { (*self.value.get()).assume_init_ref() }
    }
}

/// As `once_cell::sync::Lazy` is made.
struct OwnLazy<T> {
    cell: OwnCell<T>,
    make: std::cell::Cell<Option<fn() -> T>>,
}

// SAFETY: the function is taken by who makes the value alone.
unsafe impl<T: Send + Sync> Sync for OwnLazy<T> {}

impl<T> OwnLazy<T> {
    const fn new(make: fn() -> T) -> OwnLazy<T> {
        OwnLazy { cell: OwnCell::new(), make: std::cell::Cell::new(Some(make)) }
    }

    fn get(&self) -> &T {
        self.cell.get_or_init(|| self.make.take().expect("Lazy instance has previously been poisoned")())
    }
}

#[test]
fn a_lazy_value_beside_an_atomic_is_made_in_each_execution() {
    let _one = one_at_a_time();
    static LAZY: OwnLazy<Mutex<Vec<u32>>> = OwnLazy::new(|| Mutex::new(Vec::new()));
    static MADE: OwnCell<OnceLock<Mutex<u32>>> = OwnCell::new();
    let program = || {
        let add = || {
            LAZY.get().lock().unwrap().push(1);
            *MADE.get_or_init(OnceLock::new).get_or_init(|| Mutex::new(0)).lock().unwrap() += 1;
        };
        let child = thread::spawn(add);
        add();
        child.join().unwrap();
        assert_eq!(*LAZY.get().lock().unwrap(), [1, 1]);
        assert_eq!(*MADE.get_or_init(OnceLock::new).get().unwrap().lock().unwrap(), 2);
    };
    let ends = fresh(3000, program);
    assert!(all_finished(&ends), "{:?}", ends.iter().find(|end| !end.is_finished()));
    // Without it the second execution finds what the first has left.
    let ends = fresh_with(&Statics::of(["another"]), 2, program);
    assert!(ends[0].is_finished() && !ends[1].is_finished(), "{ends:?}");
}

static mut LIST: Vec<u32> = Vec::new();
static mut NAME: &str = "initial";

#[test]
fn a_static_mut_under_a_once_is_fresh() {
    let _one = one_at_a_time();
    static ONCE: Once = Once::new();
    #[allow(static_mut_refs)]
    let program = || {
        let init = || {
            // SAFETY: once, before the others look.
            ONCE.call_once(|| unsafe {
                assert!(LIST.is_empty() && NAME == "initial");
                LIST.extend([1, 2, 3]);
                NAME = "changed";
            });
            // SAFETY: nobody writes any more.
            assert_eq!(unsafe { (LIST.len(), NAME) }, (3, "changed"));
        };
        let child = thread::spawn(init);
        init();
        child.join().unwrap();
    };
    let ends = fresh(3000, program);
    assert!(all_finished(&ends), "{:?}", ends.iter().find(|end| !end.is_finished()));
}

/// An execution that is ended early leaves its statics as they are: half changed.
#[test]
fn an_execution_that_does_not_end_well_leaves_nothing() {
    let _one = one_at_a_time();
    static CELL: OwnCell<Box<u32>> = OwnCell::new();
    static LOCK: Mutex<u8> = Mutex::new(0);
    let program = || {
        assert_eq!(**CELL.get_or_init(|| Box::new(5)), 5);
        let _first = LOCK.lock().unwrap();
        drop(LOCK.lock());
    };
    let ends = fresh(50, program);
    assert!(ends.iter().all(|end| matches!(end, End::Deadlock(_))), "{ends:?}");
    let ends = fresh(50, || {
        CELL.get_or_init(|| panic!("not made"));
    });
    assert!(ends.iter().all(|end| matches!(end, End::Panicked(_))));
}

/// What the process has made before is its own: it is neither moved nor freed, and executions find it.
#[test]
fn a_static_that_was_used_outside_is_left_as_it_is() {
    let _one = one_at_a_time();
    static CELL: OwnLazy<Box<RealAtomic>> = OwnLazy::new(|| Box::new(RealAtomic::new(1)));
    let outside = CELL.get();
    let ends = fresh(10, || {
        CELL.get().fetch_add(1, Ordering::Relaxed);
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!((outside.load(Ordering::Relaxed), CELL.get().load(Ordering::Relaxed)), (11, 11));
}

/// The mirror's own types are fresh as they were, whether or not the rest is.
#[test]
fn what_happens_to_the_mirrors_types_outside_stays_there() {
    let _one = one_at_a_time();
    static COUNTER: AtomicU32 = AtomicU32::new(1);
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static CELL: OnceLock<u32> = OnceLock::new();
    let program = || {
        assert_eq!(COUNTER.swap(9, Ordering::Relaxed), 1);
        assert!(LIST.lock().unwrap().is_empty());
        LIST.lock().unwrap().push(9);
        assert_eq!(*CELL.get_or_init(|| 9), 9);
    };
    assert!(all_finished(&fresh(3, program)));
    COUNTER.store(7, Ordering::Relaxed);
    LIST.lock().unwrap().push(7);
    CELL.set(7).unwrap();
    assert!(all_finished(&fresh(3, program)));
    assert_eq!((COUNTER.load(Ordering::Relaxed), &*LIST.lock().unwrap(), CELL.get()), (7, &vec![7], Some(&7)));
}

#[test]
fn executions_that_change_statics_are_alone() {
    let _one = one_at_a_time();
    static CELL: OwnCell<Vec<u32>> = OwnCell::new();
    static PLAIN: OwnCell<RealAtomic> = OwnCell::new();
    let run = || {
        let program = || {
            let child = thread::spawn(|| CELL.get_or_init(|| vec![1, 2]).len());
            assert_eq!(CELL.get_or_init(|| vec![1, 2]).len() + child.join().unwrap(), 4);
            assert_eq!(PLAIN.get_or_init(|| RealAtomic::new(0)).fetch_add(1, Ordering::Relaxed), 0);
        };
        all_finished(&fresh(1000, program))
    };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(run)).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}

/// Where nothing is changed, executions run at the same time; the first that changes something says so.
#[test]
fn who_shares_learns_that_it_must_not() {
    let _one = one_at_a_time();
    static CELL: OwnCell<Vec<u32>> = OwnCell::new();
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let statics = Statics::of(["fresh_statics"]);
    let harmless = || assert_eq!(COUNTER.fetch_add(1, Ordering::Relaxed), 0);
    assert!(all_finished(&fresh_with(&statics, 3, harmless)));
    statics.share();
    // Both are inside at once, which they would not be if each were alone.
    let meet = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let run = || {
            fresh_with(&statics, 1, || {
                meet.wait();
                harmless();
            })
        };
        let threads = [scope.spawn(run), scope.spawn(run)];
        assert!(threads.into_iter().all(|thread| all_finished(&thread.join().unwrap())));
    });
    assert!(!statics.disturbed());
    let harmful = || assert_eq!(CELL.get_or_init(|| vec![1]).len(), 1);
    assert!(all_finished(&fresh_with(&statics, 1, harmful)));
    assert!(statics.disturbed() && !statics.disturbed());
    assert!(all_finished(&fresh_with(&statics, 100, harmful)));
    statics.share();
    assert!(all_finished(&fresh_with(&statics, 100, harmful)) && !statics.disturbed());
}

#[test]
fn what_outlives_an_execution_is_named() {
    let _one = one_at_a_time();
    static KEPT: RealAtomic = RealAtomic::new(0);
    static MIRRORED: Mutex<u32> = Mutex::new(0);
    static ONCE: OnceLock<u32> = OnceLock::new();
    let program = || {
        KEPT.fetch_add(*MIRRORED.lock().unwrap() + ONCE.get_or_init(|| 1), Ordering::Relaxed);
    };
    let outliving = |statics: Statics| {
        let mut names = statics.outliving(|| {
            fresh_with(&statics, 1, program);
        });
        // The lock that keeps these tests apart changes when another test begins to wait for it.
        names.retain(|name| !name.contains("one_at_a_time"));
        names
    };
    assert_eq!(outliving(Statics::of(["another"])), ["fresh_statics::what_outlives_an_execution_is_named::KEPT"]);
    KEPT.store(0, Ordering::Relaxed);
    assert_eq!(outliving(Statics::of(["fresh_statics"])), [""; 0]);
}
