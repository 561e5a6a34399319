//! Programs that use all of what is mirrored. They are compiled and run with the real `parking_lot`, with the mirror, and
//! with the mirror under control. Whatever the schedule, they come to their end.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{
    Condvar, FairMutex, FairMutexGuard, MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex,
    MutexGuard, Once, OnceState, ReentrantMutex, ReentrantMutexGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard, WaitTimeoutResult, const_fair_mutex, const_mutex,
    const_reentrant_mutex, const_rwlock,
};

/// Makes functions, with the includer's `program!`, and a list of them.
macro_rules! programs {
    ($(fn $name:ident() $body:block)*) => {
        $(program! { $name $body })*

        /// All programs by name.
        pub const PROGRAMS: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}

const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_secs(60);

static COUNTER: Mutex<u32> = const_mutex(0);
static TABLE: RwLock<[u8; 4]> = const_rwlock([1, 2, 3, 4]);
static FAIR: FairMutex<u32> = const_fair_mutex(0);
static NESTED: ReentrantMutex<RefCell<u32>> = const_reentrant_mutex(RefCell::new(0));
static START: Once = Once::new();
static CHANGED: Condvar = Condvar::new();

#[test]
fn there_are_programs() {
    assert!(PROGRAMS.len() > 10);
}

fn is_send_and_sync<T: Send + Sync>(_: &T) {}

programs! {
    fn a_mutex_excludes() {
        let counter = Arc::new(Mutex::new(0));
        is_send_and_sync(&*counter);
        let threads = [(); 3].map(|()| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                for _ in 0..2 {
                    let mut guard = counter.lock();
                    let seen = *guard;
                    thread::yield_now();
                    *guard = seen + 1;
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*counter.lock(), 6);
        assert_eq!(Arc::try_unwrap(counter).unwrap().into_inner(), 6);
    }

    fn statics() {
        let before = *COUNTER.lock();
        *COUNTER.lock() += 1;
        assert_eq!(*COUNTER.lock(), before + 1);
        assert_eq!(*TABLE.read(), [1, 2, 3, 4]);
        *FAIR.lock() += 1;
        *NESTED.lock().borrow_mut() += 1;
        CHANGED.notify_one();
    }

    fn trying_to_lock() {
        let mut mutex = Mutex::from(5);
        let guard = mutex.lock();
        assert!(mutex.is_locked() && mutex.try_lock().is_none());
        assert!(mutex.try_lock_for(SHORT).is_none() && mutex.try_lock_until(Instant::now() + SHORT).is_none());
        assert_eq!(format!("{mutex:?} {guard:?} {guard}"), "Mutex { data: <locked> } 5 5");
        MutexGuard::unlock_fair(guard);
        assert_eq!(mutex.try_lock().map(|guard| *guard), Some(5));
        assert_eq!(mutex.try_lock_for(LONG).map(|guard| *guard), Some(5));
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 5 }");
        *mutex.get_mut() = 6;
        assert_eq!((mutex.into_inner(), *Mutex::<u8>::default().lock()), (6, 0));
    }

    fn a_lock_gets_free_in_time() {
        let mutex = Arc::new(Mutex::new(0));
        let other = Arc::clone(&mutex);
        let guard = mutex.lock();
        let thread = thread::spawn(move || other.try_lock_for(LONG).map(|mut guard| *guard += 1).is_some());
        drop(guard);
        assert!(thread.join().unwrap());
        assert_eq!(*mutex.lock(), 1);
    }

    fn guards_are_mapped_and_unlocked_meanwhile() {
        let mutex = Mutex::new((1, 2));
        let mapped: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
        assert!(mutex.is_locked());
        drop(mapped);
        let mut guard = mutex.lock();
        MutexGuard::unlocked(&mut guard, || mutex.lock().0 = 5);
        MutexGuard::bump(&mut guard);
        assert_eq!(*guard, (5, 2));
        let lock = RwLock::new((1, 2));
        let mapped: MappedRwLockWriteGuard<'_, i32> = RwLockWriteGuard::map(lock.write(), |pair| &mut pair.0);
        assert!(lock.is_locked_exclusive());
        drop(mapped);
        let mapped: MappedRwLockReadGuard<'_, i32> = RwLockReadGuard::map(lock.read(), |pair| &pair.0);
        assert_eq!(*mapped, 1);
    }

    fn a_panic_does_not_poison() {
        let mutex = Mutex::new(1);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock();
            resume_unwind(Box::new(()));
        }));
        assert!(panic.is_err());
        assert_eq!(*mutex.lock(), 1);
    }

    fn a_fair_mutex() {
        let mutex = Arc::new(FairMutex::new(0));
        let threads = [(); 2].map(|()| {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || {
                let mut guard: FairMutexGuard<'_, i32> = mutex.lock();
                *guard += 1;
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let guard = mutex.lock();
        assert!(mutex.try_lock().is_none() && mutex.try_lock_for(SHORT).is_none() && *guard == 2);
    }

    fn a_mutex_that_is_locked_again() {
        let mutex = Arc::new(ReentrantMutex::new(RefCell::new(0)));
        let outer: ReentrantMutexGuard<'_, RefCell<i32>> = mutex.lock();
        let inner = mutex.try_lock().unwrap();
        *inner.borrow_mut() += 1;
        assert!(mutex.is_owned_by_current_thread());
        drop(outer);
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || {
            let first = other.lock();
            let second = other.lock();
            *second.borrow_mut() += 1;
            first.take()
        });
        thread::yield_now();
        assert_eq!(*inner.borrow(), 1);
        drop(inner);
        assert_eq!(thread.join().unwrap(), 2);
        assert!(!mutex.is_locked());
    }

    fn readers_share_and_writers_exclude() {
        let lock = RwLock::new(1);
        is_send_and_sync(&lock);
        let (first, second) = (lock.read(), lock.try_read().unwrap());
        assert_eq!(*first + *second + *lock.read_recursive(), 3);
        assert!(lock.try_write().is_none() && lock.try_write_for(SHORT).is_none());
        drop((first, second));
        let mut writer = lock.write();
        *writer = 2;
        assert!(lock.try_read().is_none() && lock.try_write().is_none() && lock.try_upgradable_read().is_none());
        assert!(lock.try_read_for(SHORT).is_none() && lock.try_upgradable_read_for(SHORT).is_none());
        assert!(lock.try_read_recursive().is_none());
        assert_eq!(format!("{lock:?} {writer:?}"), "RwLock { data: <locked> } 2");
        let reader = RwLockWriteGuard::downgrade(writer);
        assert_eq!(lock.try_read().map(|guard| *guard), Some(2));
        RwLockReadGuard::unlock_fair(reader);
        assert!(!lock.is_locked());
        assert_eq!(format!("{lock:?}"), "RwLock { data: 2 }");
        assert_eq!(lock.into_inner(), 2);
    }

    fn a_read_that_becomes_a_write() {
        let lock = RwLock::new(1);
        let upgradable: RwLockUpgradableReadGuard<'_, i32> = lock.upgradable_read();
        assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
        let reader = lock.try_read().unwrap();
        let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).unwrap_err();
        let upgradable = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SHORT).unwrap_err();
        drop(reader);
        let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
        *writer += 1;
        assert!(lock.try_read().is_none());
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
        assert_eq!(lock.try_read().map(|guard| *guard), Some(2));
        let mut writer = RwLockUpgradableReadGuard::try_upgrade(upgradable).unwrap();
        *writer += 1;
        let mut upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
        upgradable.with_upgraded(|value| *value += 1);
        let reader = RwLockUpgradableReadGuard::downgrade(upgradable);
        assert_eq!((*reader, lock.try_upgradable_read().map(|guard| *guard)), (4, Some(4)));
    }

    fn upgrades_lose_nothing() {
        let lock = Arc::new(RwLock::new(0));
        let threads = [(); 3].map(|()| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let guard = lock.upgradable_read();
                let seen = *guard;
                thread::yield_now();
                *RwLockUpgradableReadGuard::upgrade(guard) = seen + 1;
            })
        });
        assert!(*lock.read() <= 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*lock.read(), 3);
    }

    fn a_condition_is_waited_for() {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters = [1, 2].map(|least| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let mut value = pair.0.lock();
                if least == 1 {
                    while *value < least {
                        pair.1.wait(&mut value);
                    }
                } else {
                    pair.1.wait_while(&mut value, |value| *value < least);
                }
                *value
            })
        });
        for _ in 0..2 {
            *pair.0.lock() += 1;
            pair.1.notify_all();
        }
        let seen = waiters.map(|waiter| waiter.join().unwrap());
        assert!(seen[0] >= 1 && seen[1] == 2);
        assert!(!pair.1.notify_one());
        assert_eq!(pair.1.notify_all(), 0);
    }

    fn one_waiter_is_woken() {
        let pair = Arc::new((Mutex::new(None), Condvar::default()));
        let waiter = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let mut guard = pair.0.lock();
                while guard.is_none() {
                    pair.1.wait(&mut guard);
                }
                guard.take()
            })
        };
        *pair.0.lock() = Some(4);
        pair.1.notify_one();
        assert_eq!(waiter.join().unwrap(), Some(4));
    }

    fn waiting_times_out() {
        let (lock, condition) = (Mutex::new(1), Condvar::new());
        let mut guard = lock.lock();
        let result: WaitTimeoutResult = condition.wait_for(&mut guard, SHORT);
        assert!(result.timed_out());
        assert!(condition.wait_until(&mut guard, Instant::now() + SHORT).timed_out());
        assert!(condition.wait_while_for(&mut guard, |value| *value == 1, SHORT).timed_out());
        assert!(!condition.wait_while_for(&mut guard, |value| *value == 2, SHORT).timed_out());
        assert!(condition.wait_while_until(&mut guard, |value| *value == 1, Instant::now() + SHORT).timed_out());
        assert!(lock.is_locked());
        drop(guard);
        assert!(lock.try_lock().is_some());
    }

    fn once_runs_once() {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let threads = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.0.call_once(|| {
                    shared.1.fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(shared.1.load(Ordering::Relaxed), 1);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(format!("{:?}", shared.0), "Once { state: Done }");
        START.call_once(|| ());
        assert!(START.state().done());
    }

    fn once_is_poisoned() {
        let once = Once::default();
        assert_eq!(once.state(), OnceState::New);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            once.call_once(|| {
                assert_eq!(once.state(), OnceState::InProgress);
                resume_unwind(Box::new(1));
            });
        }));
        assert!(panic.unwrap_err().is::<i32>() && once.state().poisoned());
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
        once.call_once_force(|state| assert!(state.poisoned()));
        once.call_once(|| unreachable!());
        assert_eq!(once.state(), OnceState::Done);
    }
}
