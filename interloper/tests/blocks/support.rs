//! Locks, atomics and threads of the mirror, with less ceremony: nobody here looks at poison or at orderings. How programs
//! of two tasks are checked.

use std::panic::resume_unwind;
use std::sync::Arc;

use interloper::Checker;
use interloper::blocks::{Finding, Grade};
use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};
use interloper::sync::{self, Condvar, MutexGuard};
use interloper::thread;

#[derive(Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    /// Gives the lock back, waits, and takes it again.
    #[track_caller]
    pub fn wait<'a>(&'a self, condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condition.wait(guard).unwrap_or_else(|poison| poison.into_inner())
    }
}

/// A reader-writer lock around a number.
#[derive(Default)]
pub struct RwLock(sync::RwLock<i64>);

impl RwLock {
    #[track_caller]
    pub fn read(&self) -> i64 {
        *self.0.read().unwrap()
    }

    #[track_caller]
    pub fn write(&self, change: impl FnOnce(i64) -> i64) -> i64 {
        let mut value = self.0.write().unwrap();
        *value = change(*value);
        *value
    }
}

#[derive(Default)]
pub struct Atomic(AtomicI64);

impl Atomic {
    #[track_caller]
    pub fn load(&self) -> i64 {
        self.0.load(SeqCst)
    }

    #[track_caller]
    pub fn store(&self, value: i64) {
        self.0.store(value, SeqCst);
    }

    #[track_caller]
    pub fn fetch_add(&self, value: i64) -> i64 {
        self.0.fetch_add(value, SeqCst)
    }
}

pub struct JoinHandle<T>(thread::JoinHandle<T>);

#[track_caller]
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    JoinHandle(thread::spawn(body))
}

impl<T> JoinHandle<T> {
    /// The result; panics as the task did.
    #[track_caller]
    pub fn join(self) -> T {
        self.0.join().unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Whether the task ended without a panic.
    #[track_caller]
    pub fn join_calmly(self) -> bool {
        self.0.join().is_ok()
    }
}

/// Few executions: these programs show at once what they have.
pub fn checker() -> Checker {
    Checker::new("program").executions(500)
}

/// What the checker finds in a program that has a bug.
#[track_caller]
pub fn bug<R: interloper::ToValue>(program: impl Fn() -> R + Sync) -> Finding {
    let report = checker().check(program).unwrap();
    report.assert_grade(Grade::Bug);
    report.bug.unwrap().finding
}

/// Runs `own` beside `other` on a shared `T`; gives it back with what both returned.
pub fn beside<T: Default + Send + Sync + 'static, A, B: Send + 'static>(
    own: fn(&T) -> A,
    other: fn(&T) -> B,
) -> (Arc<T>, A, B) {
    let shared = Arc::new(T::default());
    let theirs = Arc::clone(&shared);
    let task = spawn(move || other(&theirs));
    let result = own(&shared);
    (shared, result, task.join())
}
