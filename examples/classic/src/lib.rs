//! Small programs whose bugs are in plain variables, and each with its bug removed. Most are those of SCTBench (P. Thomson,
//! A. F. Donaldson and A. Betts, *Concurrency testing using controlled schedulers*, TOPC 2016), in words of our own.
//!
//! Their threads are interrupted where a bug shows only if loads and stores of plain memory are steps:
//!
//! ```text
//! cargo interloper test --races off --preempt memory
//! cargo interloper run --example table --races off --preempt memory
//! ```

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::cell::UnsafeCell;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// A program by its name. `true` removes the bug.
pub type Program = (&'static str, fn(bool));

/// All programs.
pub const PROGRAMS: [Program; 9] = [
    ("account", account),
    ("bluetooth", bluetooth),
    ("flag", flag),
    ("pointer", pointer),
    ("reorder-3", |fixed| reorder(2, fixed)),
    ("reorder-5", |fixed| reorder(4, fixed)),
    ("stack", stack),
    ("twostage", two_stage),
    ("wronglock-3", wrong_lock),
];

/// A variable that threads share without asking the compiler.
#[derive(Default)]
struct Plain<T>(UnsafeCell<T>);

// SAFETY: it is not. That is what these programs are about; under control one thread runs at a time.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    // Volatile, so that the compiler never makes one access of two.
    fn get(&self) -> T {
        // SAFETY: as above.
        unsafe { self.0.get().read_volatile() }
    }

    fn set(&self, value: T) {
        // SAFETY: as above.
        unsafe { self.0.get().write_volatile(value) }
    }
}

/// Runs these bodies in threads of their own, over one value.
fn together<S: Default + Send + Sync + 'static>(bodies: Vec<Box<dyn FnOnce(&S) + Send>>) -> Arc<S> {
    let shared = Arc::new(S::default());
    let spawn = |body: Box<dyn FnOnce(&S) + Send>| {
        let shared = shared.clone();
        thread::spawn(move || body(&shared))
    };
    let threads: Vec<_> = bodies.into_iter().map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    shared
}

/// Money is paid in and taken out at once, without the lock.
pub fn account(fixed: bool) {
    type Account = (Mutex<()>, Plain<i64>);
    let change = move |by: i64| -> Box<dyn FnOnce(&Account) + Send> {
        Box::new(move |(lock, balance)| {
            let _section = fixed.then(|| lock.lock().unwrap());
            balance.set(balance.get() + by);
        })
    };
    let account = together(vec![change(300), change(-100)]);
    assert_eq!(account.1.get(), 200, "money is missing");
}

/// A driver is stopped while a request comes in: the request looks whether the driver stops before it is counted.
pub fn bluetooth(fixed: bool) {
    struct Driver {
        requests: AtomicI64,
        stopping: Plain<bool>,
        stopped: Plain<bool>,
    }
    impl Default for Driver {
        fn default() -> Driver {
            Driver { requests: AtomicI64::new(1), stopping: Plain::default(), stopped: Plain::default() }
        }
    }
    fn leave(driver: &Driver) {
        if driver.requests.fetch_sub(1, SeqCst) == 1 {
            driver.stopped.set(true);
        }
    }
    together::<Driver>(vec![
        Box::new(move |driver| {
            if fixed {
                driver.requests.fetch_add(1, SeqCst);
                if !driver.stopping.get() {
                    assert!(!driver.stopped.get(), "the driver has stopped");
                }
            } else {
                if driver.stopping.get() {
                    return;
                }
                driver.requests.fetch_add(1, SeqCst);
                assert!(!driver.stopped.get(), "the driver has stopped");
            }
            leave(driver);
        }),
        Box::new(|driver| {
            driver.stopping.set(true);
            leave(driver);
        }),
    ]);
}

/// A flag says that somebody is inside. Each thread looks at it and then sets it.
pub fn flag(fixed: bool) {
    type Room = (Mutex<()>, Plain<bool>, Plain<u32>);
    let enter = move || -> Box<dyn FnOnce(&Room) + Send> {
        Box::new(move |(lock, taken, inside)| {
            let section = fixed.then(|| lock.lock().unwrap());
            if !taken.get() {
                taken.set(true);
                inside.set(inside.get() + 1);
                assert_eq!(inside.get(), 1, "two are inside");
                inside.set(inside.get() - 1);
                taken.set(false);
            }
            drop(section);
        })
    };
    together(vec![enter(), enter()]);
}

/// A pointer is looked at, and read again after it was cleared.
pub fn pointer(fixed: bool) {
    /// One word: a reader sees all of it or nothing, and a pointer that was cleared has no bytes that nobody wrote.
    const SEVEN: NonZeroU32 = NonZeroU32::new(7).unwrap();
    #[derive(Default)]
    struct Shared(Mutex<()>, Plain<Option<NonZeroU32>>);
    together::<Shared>(vec![
        Box::new(move |Shared(lock, value)| {
            let _section = fixed.then(|| lock.lock().unwrap());
            value.set(Some(SEVEN));
        }),
        Box::new(move |Shared(lock, value)| {
            let _section = fixed.then(|| lock.lock().unwrap());
            if value.get().is_some() {
                assert_eq!(value.get(), Some(SEVEN), "the pointer was cleared");
            }
        }),
        Box::new(move |Shared(lock, value)| {
            let _section = fixed.then(|| lock.lock().unwrap());
            if value.get().is_some() {
                value.set(None);
            }
        }),
    ]);
}

/// Threads set a and then b; another looks at both.
fn reorder(setters: usize, fixed: bool) {
    type Pair = (Mutex<()>, Plain<i64>, Plain<i64>);
    let set = || -> Box<dyn FnOnce(&Pair) + Send> {
        Box::new(move |(lock, a, b)| {
            let _section = fixed.then(|| lock.lock().unwrap());
            a.set(1);
            b.set(-1);
        })
    };
    let mut bodies: Vec<_> = (0..setters).map(|_| set()).collect();
    bodies.push(Box::new(move |(lock, a, b)| {
        let _section = fixed.then(|| lock.lock().unwrap());
        assert_eq!(a.get(), -b.get(), "a and b do not fit");
    }));
    together(bodies);
}

/// Whether the stack is empty is looked at before its lock is taken.
pub fn stack(fixed: bool) {
    struct Stack(Mutex<()>, Plain<i64>);
    impl Default for Stack {
        fn default() -> Stack {
            Stack(Mutex::default(), Plain(UnsafeCell::new(1)))
        }
    }
    let pop = move || -> Box<dyn FnOnce(&Stack) + Send> {
        Box::new(move |Stack(lock, top)| {
            if fixed || top.get() > 0 {
                let _section = lock.lock().unwrap();
                if !fixed || top.get() > 0 {
                    top.set(top.get() - 1);
                    assert!(top.get() >= 0, "the stack was empty");
                }
            }
        })
    };
    together(vec![pop(), pop()]);
}

/// A thread sets a value, and then a second one computed from it, each under its own lock.
pub fn two_stage(fixed: bool) {
    #[derive(Default)]
    struct Stages(Mutex<()>, Plain<i64>, Mutex<()>, Plain<i64>);
    together::<Stages>(vec![
        Box::new(move |Stages(first_lock, first, second_lock, second)| {
            let section = first_lock.lock().unwrap();
            first.set(1);
            let _kept = fixed.then_some(section);
            let _second = second_lock.lock().unwrap();
            second.set(first.get() + 1);
        }),
        Box::new(move |Stages(first_lock, first, second_lock, second)| {
            let section = first_lock.lock().unwrap();
            if first.get() == 0 {
                return;
            }
            let seen = first.get();
            let _kept = fixed.then_some(section);
            let _second = second_lock.lock().unwrap();
            assert_eq!(second.get(), seen + 1, "the values do not fit");
        }),
    ]);
}

/// One thread increments a counter under a lock, three others under another lock.
pub fn wrong_lock(fixed: bool) {
    type Counter = (Mutex<()>, Mutex<()>, Plain<i64>);
    let mut bodies: Vec<Box<dyn FnOnce(&Counter) + Send>> = vec![Box::new(|(lock, _, value)| {
        let _section = lock.lock().unwrap();
        let seen = value.get();
        value.set(seen + 1);
        assert_eq!(value.get(), seen + 1, "the value has changed");
    })];
    bodies.extend((0..3).map(|_| -> Box<dyn FnOnce(&Counter) + Send> {
        Box::new(move |(right, wrong, value)| {
            let _section = if fixed { right } else { wrong }.lock().unwrap();
            value.set(value.get() + 1);
        })
    }));
    together(bodies);
}

#[cfg(all(test, interloper))]
mod tests {
    use interloper::Checker;

    use super::{PROGRAMS, Program, account};

    fn check((name, body): Program, fixed: bool) {
        let checker = Checker::new(name).executions(100).allow_trivial();
        checker.check(move || body(fixed)).unwrap().assert_no_bug();
    }

    /// Fails if loads and stores are steps.
    #[test]
    fn an_account_without_its_lock_loses_money() {
        check(("account", account), false);
    }

    #[test]
    fn programs_without_their_bugs_are_clean() {
        PROGRAMS.into_iter().for_each(|program| check(program, true));
    }
}
