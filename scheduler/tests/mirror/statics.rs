//! What stands in a static is fresh in each execution.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU32 as RealAtomic;

use interloper_std::runtime::Peek;
use interloper_std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use interloper_std::sync::{Barrier, Condvar, LazyLock, Mutex, RwLock};
use interloper_std::thread;

use crate::common::*;

#[test]
fn atomics_have_their_initial_value_again() {
    static NUMBERS: [AtomicU32; 2] = [AtomicU32::new(3), AtomicU32::new(0)];
    static FLAG: AtomicBool = AtomicBool::new(true);
    static POINTER: AtomicPtr<RealAtomic> = AtomicPtr::new((&raw const COUNT).cast_mut());
    static COUNT: RealAtomic = RealAtomic::new(0);
    let ends = sample(20, || {
        assert_eq!((NUMBERS[0].load(Ordering::Relaxed), NUMBERS[1].load(Ordering::Relaxed)), (3, 0));
        let child =
            thread::spawn(|| NUMBERS[0].fetch_add(1, Ordering::Relaxed) + u32::from(FLAG.load(Ordering::Relaxed)));
        let seen = NUMBERS[0].fetch_add(1, Ordering::Relaxed) + child.join().unwrap();
        assert_eq!((seen, NUMBERS[0].load(Ordering::Relaxed)), (8, 5));
        assert!(FLAG.swap(false, Ordering::SeqCst));
        assert_eq!(POINTER.swap(std::ptr::null_mut(), Ordering::SeqCst).cast_const(), &raw const COUNT);
    });
    assert!(all_finished(&ends), "{ends:?}");
}

#[test]
fn what_happens_outside_stays_there() {
    static COUNTER: AtomicU32 = AtomicU32::new(1);
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    COUNTER.store(7, Ordering::Relaxed);
    LIST.lock().unwrap().push(7);
    let ends = sample(3, || {
        assert_eq!(COUNTER.swap(9, Ordering::Relaxed), 1);
        assert!(LIST.lock().unwrap().is_empty());
        LIST.lock().unwrap().push(9);
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!((COUNTER.load(Ordering::Relaxed), &*LIST.lock().unwrap()), (7, &vec![7]));
}

/// Whoever peeks sees the value of the execution, and nothing else can happen because of it.
#[test]
fn to_peek_at_an_atomic_is_no_step() {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    NUMBER.store(7, Ordering::Relaxed);
    let executions = |peeks: usize| {
        let ends = exhaust(|| {
            let child = thread::spawn(|| NUMBER.store(2, Ordering::Relaxed));
            (0..peeks).for_each(|_| assert!([1, 2].contains(&NUMBER.peek())));
            NUMBER.fetch_add(0, Ordering::Relaxed);
            child.join().unwrap();
            assert_eq!(NUMBER.peek(), 2);
        });
        assert!(all_finished(&ends), "{ends:?}");
        ends.len()
    };
    assert_eq!((executions(0), executions(3)), (2, 2));
    assert_eq!(NUMBER.peek(), 7);
}

/// The compiler did not make the value: a cell did, that is initialised in each execution.
#[test]
fn an_atomic_that_was_made_inside_of_a_static_has_the_value_it_was_made_with() {
    struct Late(UnsafeCell<MaybeUninit<AtomicU32>>);
    // SAFETY: it is set before anybody uses it.
    unsafe impl Sync for Late {}
    static LATE: Late = Late(UnsafeCell::new(MaybeUninit::uninit()));
    let mut number = 5;
    let ends = sample(3, || {
        // SAFETY: nobody else uses it yet, and afterwards it is only read.
        let late = unsafe {
            LATE.0.get().write(MaybeUninit::new(AtomicU32::new(number)));
            (*LATE.0.get()).assume_init_ref()
        };
        assert_eq!((late.fetch_add(1, Ordering::Relaxed), late.load(Ordering::Relaxed)), (number, number + 1));
        number += 1;
    });
    assert!(all_finished(&ends), "{ends:?}");
}

#[test]
fn locks_have_their_initial_value_again() {
    static DROPPED: RealAtomic = RealAtomic::new(0);
    struct Counted(u32);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(self.0, Ordering::Relaxed);
        }
    }
    static MUTEX: Mutex<Vec<Counted>> = Mutex::new(Vec::new());
    static LOCK: RwLock<Option<Box<Counted>>> = RwLock::new(None);
    static PLAIN: Mutex<[u8; 3]> = Mutex::new([1, 2, 3]);
    static TEXT: Mutex<&str> = Mutex::new("initial");
    let ends = sample(10, || {
        assert!(MUTEX.lock().unwrap().is_empty() && LOCK.read().unwrap().is_none());
        let child = thread::spawn(|| MUTEX.lock().unwrap().push(Counted(1)));
        *LOCK.write().unwrap() = Some(Box::new(Counted(10)));
        assert_eq!(std::mem::take(&mut *PLAIN.lock().unwrap()), [1, 2, 3]);
        assert_eq!(std::mem::replace(&mut *TEXT.lock().unwrap(), "changed"), "initial");
        child.join().unwrap();
        assert_eq!(MUTEX.lock().unwrap().len(), 1);
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!(DROPPED.load(Ordering::Relaxed), 110);
}

#[test]
fn poison_and_waiters_are_fresh() {
    static MUTEX: Mutex<u8> = Mutex::new(0);
    static CHANGED: Condvar = Condvar::new();
    static BARRIER: Barrier = Barrier::new(2);
    let program = |leaks: bool| {
        move || {
            assert!(!MUTEX.is_poisoned());
            let child = thread::spawn(move || {
                if leaks {
                    BARRIER.wait();
                }
                let _guard = MUTEX.lock();
                std::panic::resume_unwind(Box::new(1));
            });
            if leaks {
                BARRIER.wait();
            }
            assert!(child.join().is_err() && MUTEX.is_poisoned());
            MUTEX.clear_poison();
            drop(CHANGED.wait_timeout(MUTEX.lock().unwrap(), std::time::Duration::from_millis(1)).unwrap());
            if leaks {
                // One task of two is left at the barrier.
                BARRIER.wait();
            }
        }
    };
    let ends = sample(5, program(true));
    assert_eq!(deadlocks(&ends), 5);
    assert!(all_finished(&sample(5, program(false))));
    assert_eq!(deadlocks(&sample(5, program(true))), 5);
}

#[test]
fn destructors_find_the_statics() {
    static LIVE: AtomicU32 = AtomicU32::new(0);
    static LEFT: RealAtomic = RealAtomic::new(0);
    struct Counted;
    impl Counted {
        fn new() -> Counted {
            LIVE.fetch_add(1, Ordering::Relaxed);
            Counted
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            LEFT.store(LIVE.fetch_sub(1, Ordering::Relaxed) - 1, Ordering::Relaxed);
        }
    }
    static LAZY: LazyLock<Mutex<Vec<Counted>>> = LazyLock::new(Mutex::default);
    static PLAIN: Mutex<Vec<Counted>> = Mutex::new(Vec::new());
    let ends = sample(3, || {
        // Before the counter is first used.
        assert!(LAZY.lock().unwrap().is_empty() && PLAIN.lock().unwrap().is_empty());
        LAZY.lock().unwrap().push(Counted::new());
        PLAIN.lock().unwrap().push(Counted::new());
        LEFT.store(100, Ordering::Relaxed);
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!(LEFT.load(Ordering::Relaxed), 0);
}

/// What was made at run time is not copied: two owners of one allocation would both free it.
#[test]
fn a_lock_that_holds_what_is_on_the_heap_is_left_as_it_is() {
    static CELL: std::sync::OnceLock<Mutex<Vec<u32>>> = std::sync::OnceLock::new();
    CELL.set(Mutex::new(vec![0])).unwrap();
    let mut length = 0;
    let ends = sample(3, || {
        let list = CELL.get().unwrap();
        list.lock().unwrap().push(1);
        length = list.lock().unwrap().len();
    });
    assert!(all_finished(&ends), "{ends:?}");
    assert_eq!((length, CELL.get().unwrap().lock().unwrap().len()), (4, 4));
}

#[test]
fn executions_on_other_threads_have_their_own() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let run = || {
        let program = || {
            let child = thread::spawn(|| LIST.lock().unwrap().push(COUNTER.fetch_add(1, Ordering::Relaxed)));
            LIST.lock().unwrap().push(COUNTER.fetch_add(1, Ordering::Relaxed));
            child.join().unwrap();
            let mut list = std::mem::take(&mut *LIST.lock().unwrap());
            list.sort_unstable();
            assert_eq!(list, [0, 1]);
        };
        all_finished(&sample(2000, program))
    };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(run)).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
