//! Mutexes, reader-writer locks, condition variables, barriers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::Duration;

static COUNTER: Mutex<u32> = Mutex::new(0);
static TABLE: RwLock<[u8; 4]> = RwLock::new([1, 2, 3, 4]);
static CHANGED: Condvar = Condvar::new();
static TOGETHER: Barrier = Barrier::new(1);

/// Panics without a message on standard error.
fn give_up() -> ! {
    resume_unwind(Box::new("given up"))
}

programs! {
    fn a_mutex_excludes() {
        let counter = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || {
                    for _ in 0..3 {
                        let mut guard = counter.lock().unwrap();
                        let seen = *guard;
                        thread::yield_now();
                        *guard = seen + 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*counter.lock().unwrap(), 9);
        assert_eq!(Arc::try_unwrap(counter).unwrap().into_inner().unwrap(), 9);
    }

    fn a_static_mutex() {
        let before = *COUNTER.lock().unwrap();
        *COUNTER.lock().unwrap() += 1;
        assert_eq!(*COUNTER.lock().unwrap(), before + 1);
    }

    fn trying_to_lock() {
        let mut mutex = Mutex::from(5);
        let guard = mutex.lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        let text = format!("{mutex:?}").replace('"', "");
        assert_eq!(text, "Mutex { data: <locked>, poisoned: false, .. }");
        assert_eq!(format!("{guard:?} {guard}"), "5 5");
        drop(guard);
        assert_eq!(*mutex.try_lock().unwrap(), 5);
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 5, poisoned: false, .. }");
        *mutex.get_mut().unwrap() = 6;
        assert_eq!(mutex.into_inner().unwrap(), 6);
        assert_eq!(*Mutex::<u8>::default().lock().unwrap(), 0);
    }

    fn an_unsized_mutex() {
        let slice: Arc<Mutex<[i32]>> = Arc::new(Mutex::new([1, 2, 3]));
        slice.lock().unwrap()[1] = 5;
        assert_eq!(*slice.lock().unwrap(), [1, 5, 3]);
        let object: Box<Mutex<dyn std::fmt::Debug + Send>> = Box::new(Mutex::new(7));
        assert_eq!(format!("{:?}", object.lock().unwrap()), "7");
        let lock: Arc<RwLock<dyn std::fmt::Debug>> = Arc::new(RwLock::new("text"));
        assert_eq!(format!("{:?}", lock.read().unwrap()), "\"text\"");
    }

    fn a_mutex_is_poisoned() {
        let mutex = Arc::new(Mutex::new(1));
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            give_up();
        });
        assert_eq!(*thread.join().unwrap_err().downcast::<&str>().unwrap(), "given up");
        assert!(mutex.is_poisoned());
        let error: PoisonError<MutexGuard<'_, i32>> = mutex.lock().unwrap_err();
        assert_eq!(**error.get_ref(), 1);
        drop(error.into_inner());
        match mutex.try_lock() {
            Err(TryLockError::Poisoned(error)) => assert_eq!(*error.into_inner(), 1),
            other => panic!("{other:?}"),
        };
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 1, poisoned: true, .. }");
        mutex.clear_poison();
        assert!(!mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap(), 1);
    }

    fn a_poisoned_mutex_gives_its_value() {
        let mut mutex = Mutex::new(String::from("value"));
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock().unwrap();
            give_up();
        }));
        assert!(panic.is_err());
        assert_eq!(mutex.get_mut().unwrap_err().into_inner(), "value");
        assert_eq!(mutex.into_inner().unwrap_err().into_inner(), "value");
    }

    fn a_guard_of_an_unwinding_thread_does_not_poison() {
        struct Locks<'a>(&'a Mutex<u8>);
        impl Drop for Locks<'_> {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let mutex = Mutex::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _locks = Locks(&mutex);
            give_up();
        }));
        assert!(panic.is_err());
        assert_eq!(*mutex.lock().unwrap(), 1);
    }

    fn readers_share_and_writers_exclude() {
        let lock = RwLock::new(1);
        let (first, second) = (lock.read().unwrap(), lock.try_read().unwrap());
        assert_eq!(*first + *second, 2);
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        drop((first, second));
        let mut writer = lock.write().unwrap();
        *writer = 2;
        assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        assert_eq!(format!("{lock:?} {writer:?} {writer}"), "RwLock { data: <locked>, poisoned: false, .. } 2 2");
        drop(writer);
        assert_eq!(format!("{lock:?}"), "RwLock { data: 2, poisoned: false, .. }");
        assert_eq!(*TABLE.read().unwrap(), [1, 2, 3, 4]);
    }

    fn readers_and_writers_take_turns() {
        let lock = Arc::new(RwLock::new((0, 0)));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    let mut pair = lock.write().unwrap();
                    pair.0 += 1;
                    thread::yield_now();
                    pair.1 += 1;
                })
            })
            .collect();
        let reader = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let pair = lock.read().unwrap();
                assert_eq!(pair.0, pair.1);
            })
        };
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        reader.join().unwrap();
        assert_eq!(*lock.read().unwrap(), (2, 2));
    }

    fn only_writers_poison() {
        let mut lock = RwLock::new(3);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.read().unwrap();
            give_up();
        }));
        assert!(panic.is_err() && !lock.is_poisoned());
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.write().unwrap();
            give_up();
        }));
        assert!(panic.is_err() && lock.is_poisoned());
        assert_eq!(*lock.read().unwrap_err().into_inner(), 3);
        assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
        assert_eq!(lock.get_mut().unwrap_err().into_inner(), &3);
        lock.clear_poison();
        assert_eq!(lock.into_inner().unwrap(), 3);
    }

    fn a_condition_is_waited_for() {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (1..3)
            .map(|least| {
                let pair = Arc::clone(&pair);
                thread::spawn(move || {
                    let (lock, condition) = &*pair;
                    let mut value = lock.lock().unwrap();
                    while *value < least {
                        value = condition.wait(value).unwrap();
                    }
                    *value
                })
            })
            .collect();
        let (lock, condition) = &*pair;
        for _ in 0..2 {
            *lock.lock().unwrap() += 1;
            condition.notify_all();
        }
        for (waiter, least) in waiters.into_iter().zip(1..) {
            assert!(waiter.join().unwrap() >= least);
        }
    }

    fn one_waiter_is_woken() {
        let pair = Arc::new((Mutex::new(None), Condvar::default()));
        let waiter = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let guard = pair.1.wait_while(pair.0.lock().unwrap(), |value| value.is_none()).unwrap();
                guard.unwrap()
            })
        };
        *pair.0.lock().unwrap() = Some(4);
        pair.1.notify_one();
        assert_eq!(waiter.join().unwrap(), 4);
        assert_eq!(format!("{:?}", pair.1), "Condvar { .. }");
    }

    fn waiting_times_out() {
        let (lock, condition) = (Mutex::new(1), Condvar::new());
        let (guard, result) = condition.wait_timeout(lock.lock().unwrap(), Duration::from_millis(5)).unwrap();
        // A real condition variable may wake for no reason.
        let _: bool = result.timed_out();
        drop(guard);
        let waited = condition.wait_timeout_while(lock.lock().unwrap(), Duration::from_millis(5), |value| *value == 1);
        let (guard, result) = waited.unwrap();
        assert!(result.timed_out());
        assert_eq!(*guard, 1);
        drop(guard);
        let waited = condition.wait_timeout_while(lock.lock().unwrap(), Duration::from_millis(5), |value| *value == 2);
        assert!(!waited.unwrap().1.timed_out());
        assert!(lock.try_lock().is_ok());
    }

    fn waiting_on_a_poisoned_mutex() {
        let (lock, condition) = (Mutex::new(1), Condvar::new());
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.lock().unwrap();
            give_up();
        }));
        assert!(panic.is_err());
        let guard = lock.lock().unwrap_err().into_inner();
        let waited: LockResult<_> = condition.wait_timeout(guard, Duration::ZERO);
        assert_eq!(*waited.unwrap_err().into_inner().0, 1);
        CHANGED.notify_one();
    }

    fn a_barrier_opens_for_all_at_once() {
        let barrier = Arc::new((Barrier::new(3), Mutex::new(0)));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || {
                    let mut leader = 0;
                    for round in 1..3 {
                        *barrier.1.lock().unwrap() += 1;
                        leader += u32::from(barrier.0.wait().is_leader());
                        assert_eq!(*barrier.1.lock().unwrap(), 3 * round);
                        leader += u32::from(barrier.0.wait().is_leader());
                    }
                    leader
                })
            })
            .collect();
        let leaders: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(leaders, 4);
        assert!(Barrier::new(0).wait().is_leader());
        assert_eq!(format!("{:?} {:?}", TOGETHER, TOGETHER.wait()), "Barrier { .. } BarrierWaitResult { is_leader: true }");
    }
}
