// The programs, written once: this file is included over each tool's mirror of std, as `super::platform`.

use super::platform::sync::atomic::{AtomicI32, Ordering::SeqCst};
use super::platform::sync::{Arc, Condvar, Mutex, RwLock};
use super::platform::{atomic, thread};
use crate::outcome::{Programs, Small};

/// The programs of this tool.
pub const PROGRAMS: Programs = Programs { small: SMALL, uncontended, crowd, unmarked_withdraw, withdraw_after };

const SMALL: [Small; 15] = [
    ("check then withdraw", check_then_withdraw),
    ("check then withdraw, two more tasks", two_withdraw),
    ("withdraw in one section", withdraw_in_one_section),
    ("three sections on one lock", three_sections),
    ("two locks, two tasks", two_locks),
    ("lock order inversion", lock_order_inversion),
    ("three philosophers", || philosophers(false)),
    ("three philosophers, the last one left-handed", || philosophers(true)),
    ("readers and a writer", readers_and_a_writer),
    ("a flag behind a condition variable", || notified(true)),
    ("a notification that is lost", || notified(false)),
    ("increments by fetch_add", increments),
    ("increments under a lock, by three tasks", locked_increments),
    ("a message in two sections", message),
    ("a token", token),
];

struct Account {
    balance: Mutex<i32>,
}

impl Account {
    fn new() -> Arc<Account> {
        Arc::new(Account { balance: Mutex::new(100) })
    }

    fn balance(&self) -> i32 {
        *self.balance.lock().unwrap()
    }

    fn withdraw(&self, amount: i32) {
        *self.balance.lock().unwrap() -= amount;
    }

    fn check_then_withdraw(&self) {
        atomic("withdraw", || {
            if self.balance() >= 70 {
                self.withdraw(70);
            }
        });
    }
}

fn check_then_withdraw() -> i32 {
    withdraw_after(0)
}

fn unmarked_withdraw() -> i32 {
    let account = Account::new();
    let withdraw = |account: &Account| {
        if account.balance() >= 70 {
            account.withdraw(70);
        }
    };
    let other = account.clone();
    let other = thread::spawn(move || withdraw(&other));
    withdraw(&account);
    other.join().unwrap();
    account.balance()
}

/// By two tasks that the main one waits for.
fn two_withdraw() -> i32 {
    let account = Account::new();
    let tasks = [(); 2].map(|()| {
        let account = account.clone();
        thread::spawn(move || account.check_then_withdraw())
    });
    tasks.into_iter().for_each(|task| task.join().unwrap());
    account.balance()
}

fn withdraw_after(unrelated: usize) -> i32 {
    let account = Account::new();
    let first = account.clone();
    let first = thread::spawn(move || first.check_then_withdraw());
    if unrelated > 0 {
        let lock = Mutex::new(());
        (0..unrelated).for_each(|_| drop(lock.lock().unwrap()));
    }
    account.check_then_withdraw();
    first.join().unwrap();
    account.balance()
}

fn uncontended(tasks: usize, pairs: usize) {
    let work = move || {
        let lock = Mutex::new(0);
        for _ in 0..pairs {
            *lock.lock().unwrap() += 1;
        }
    };
    let spawned: Vec<_> = (1..tasks).map(|_| thread::spawn(work)).collect();
    work();
    spawned.into_iter().for_each(|task| task.join().unwrap());
}

fn crowd(tasks: usize) {
    let shared = Arc::new((Mutex::new((0, false)), Condvar::new(), Condvar::new()));
    let come = |_| {
        let shared = shared.clone();
        thread::spawn(move || {
            let (state, came, may_go) = &*shared;
            let mut state = state.lock().unwrap();
            state.0 += 1;
            came.notify_one();
            while !state.1 {
                state = may_go.wait(state).unwrap();
            }
        })
    };
    let spawned: Vec<_> = (0..tasks).map(come).collect();
    let (state, came, may_go) = &*shared;
    let mut state = state.lock().unwrap();
    while state.0 < tasks {
        state = came.wait(state).unwrap();
    }
    state.1 = true;
    drop(state);
    may_go.notify_all();
    spawned.into_iter().for_each(|task| task.join().unwrap());
}

fn withdraw_in_one_section() -> i32 {
    let account = Account::new();
    let withdraw = |account: &Account| {
        let mut balance = account.balance.lock().unwrap();
        if *balance >= 70 {
            *balance -= 70;
        }
    };
    let other = account.clone();
    let other = thread::spawn(move || withdraw(&other));
    withdraw(&account);
    other.join().unwrap();
    account.balance()
}

/// Gives the order of the tasks.
fn three_sections() -> i32 {
    let order = Arc::new(Mutex::new(0));
    let append = |order: &Mutex<i32>, task: i32| {
        let mut order = order.lock().unwrap();
        *order = *order * 10 + task;
    };
    let others = [1, 2].map(|task| {
        let order = order.clone();
        thread::spawn(move || append(&order, task))
    });
    append(&order, 3);
    others.into_iter().for_each(|other| other.join().unwrap());
    *order.lock().unwrap()
}

fn two_locks() -> i32 {
    let (a, b) = (Arc::new(Mutex::new(1)), Mutex::new(2));
    let other = a.clone();
    let other = thread::spawn(move || *other.lock().unwrap() += 10);
    *b.lock().unwrap() += 20;
    other.join().unwrap();
    *a.lock().unwrap() + *b.lock().unwrap()
}

fn lock_order_inversion() -> i32 {
    let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
    let others = locks.clone();
    let other = thread::spawn(move || {
        let b = others.1.lock().unwrap();
        *others.0.lock().unwrap() + *b
    });
    let sum = {
        let a = locks.0.lock().unwrap();
        *locks.1.lock().unwrap() + *a
    };
    sum + other.join().unwrap()
}

fn philosophers(left_handed: bool) -> i32 {
    let forks = Arc::new([(); 3].map(|()| Mutex::new(0)));
    let dine = move |forks: &[Mutex<i32>; 3], seat: usize| {
        let (first, second) = if left_handed && seat == 2 { (0, 2) } else { (seat, (seat + 1) % 3) };
        let mut first = forks[first].lock().unwrap();
        *forks[second].lock().unwrap() += 1;
        *first += 1;
    };
    let others = [0, 1].map(|seat| {
        let forks = forks.clone();
        thread::spawn(move || dine(&forks, seat))
    });
    dine(&forks, 2);
    others.into_iter().for_each(|other| other.join().unwrap());
    forks.iter().map(|fork| *fork.lock().unwrap()).sum()
}

fn readers_and_a_writer() -> i32 {
    let value = Arc::new(RwLock::new(1));
    let readers = [(); 2].map(|()| {
        let value = value.clone();
        thread::spawn(move || *value.read().unwrap())
    });
    *value.write().unwrap() = 2;
    readers.into_iter().fold(0, |seen, reader| seen * 10 + reader.join().unwrap())
}

fn notified(looks: bool) -> i32 {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let other = shared.clone();
    let other = thread::spawn(move || {
        *other.0.lock().unwrap() = 1;
        other.1.notify_one();
    });
    let mut flag = shared.0.lock().unwrap();
    if looks {
        while *flag == 0 {
            flag = shared.1.wait(flag).unwrap();
        }
    } else {
        flag = shared.1.wait(flag).unwrap();
    }
    let seen = *flag;
    drop(flag);
    other.join().unwrap();
    seen
}

fn increments() -> i32 {
    let count = Arc::new(AtomicI32::new(0));
    let other = count.clone();
    let other = thread::spawn(move || other.fetch_add(1, SeqCst) + other.fetch_add(1, SeqCst));
    let own = count.fetch_add(1, SeqCst);
    own * 10 + other.join().unwrap()
}

fn locked_increments() -> i32 {
    let count = Arc::new(Mutex::new(0));
    let others = [(); 2].map(|()| {
        let count = count.clone();
        thread::spawn(move || {
            let seen = *count.lock().unwrap();
            *count.lock().unwrap() = seen + 1;
        })
    });
    *count.lock().unwrap() += 1;
    others.into_iter().for_each(|other| other.join().unwrap());
    *count.lock().unwrap()
}

/// The value and the flag are each under a lock of their own.
fn message() -> i32 {
    let shared = Arc::new((Mutex::new(0), Mutex::new(false)));
    let other = shared.clone();
    let other = thread::spawn(move || {
        *other.0.lock().unwrap() = 7;
        *other.1.lock().unwrap() = true;
    });
    let ready = *shared.1.lock().unwrap();
    let seen = *shared.0.lock().unwrap();
    other.join().unwrap();
    seen * 10 + i32::from(ready)
}

fn token() -> i32 {
    let value = Arc::new(Mutex::new(0));
    let (main, other) = (thread::current(), value.clone());
    let other = thread::spawn(move || {
        *other.lock().unwrap() = 5;
        main.unpark();
    });
    thread::park();
    let seen = *value.lock().unwrap();
    other.join().unwrap();
    seen
}
