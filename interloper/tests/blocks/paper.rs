//! The programs of the paper: Figures 1 to 4 and the code of section 5.4.

use std::sync::Arc;

use interloper::Checker;
use interloper::blocks::{Finding, Grade, Report};

use crate::support::{Mutex, spawn};

fn check(program: impl Fn() -> i64 + Sync) -> Report {
    Checker::new("paper").executions(500).check(program).unwrap()
}

/// Of a program in which no order of steps matters.
fn check_trivial(program: impl Fn() -> i64 + Sync) -> Report {
    Checker::new("paper").executions(500).allow_trivial().check(program).unwrap()
}

/// Figure 1, lines 1 to 10.
struct Account {
    balance: Mutex<i64>,
}

impl Account {
    /// Line 11.
    fn new() -> Arc<Account> {
        Arc::new(Account { balance: Mutex::new(100) })
    }

    fn get_balance(&self) -> i64 {
        *self.balance.lock()
    }

    fn withdraw(&self, amount: i64) {
        *self.balance.lock() -= amount;
    }

    /// With the assertion of line 8.
    fn withdraw_and_assert(&self, amount: i64) {
        let mut balance = self.balance.lock();
        *balance -= amount;
        assert!(*balance >= 0, "the balance is {}", *balance);
    }
}

fn check_then_withdraw(account: &Account) {
    interloper::atomic("withdraw", || {
        if account.get_balance() >= 70 {
            account.withdraw(70);
        }
    });
}

/// Runs `other` in a task of its own beside `own`; gives the balance at the end.
fn two_tasks(own: impl FnOnce(&Account), other: impl FnOnce(&Account) + Send + 'static) -> i64 {
    let account = Account::new();
    let shared = Arc::clone(&account);
    let task = spawn(move || other(&shared));
    own(&account);
    task.join();
    account.get_balance()
}

#[test]
fn figure_1_is_a_bug() {
    let report = check(|| two_tasks(check_then_withdraw, check_then_withdraw));
    report.assert_grade(Grade::Bug);
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome: "the program returns -40".into() });
    // One task after the other, in both orders.
    assert!(report.coverage.serial.complete);
}

#[test]
fn figure_1_with_its_assertion_panics() {
    fn block(account: &Account) {
        interloper::atomic("withdraw", || {
            if account.get_balance() >= 70 {
                account.withdraw_and_assert(70);
            }
        });
    }
    let report = check(|| two_tasks(block, block));
    report.assert_grade(Grade::Bug);
    let Finding::Panic { message, place } = report.bug.unwrap().finding else { panic!("it panics") };
    assert_eq!(message, "the balance is -40");
    assert!(place.unwrap().file.ends_with("paper.rs"));
}

/// The twin: check and withdrawal are one critical section.
#[test]
fn figure_1_repaired_is_clean() {
    fn block(account: &Account) {
        interloper::atomic("withdraw", || {
            let mut balance = account.balance.lock();
            if *balance >= 70 {
                *balance -= 70;
            }
        });
    }
    let report = check(|| two_tasks(block, block));
    report.assert_grade(Grade::Clean);
    assert_eq!((report.coverage.executions, report.coverage.violated, report.coverage.undecided), (500, 0, 0));
}

#[test]
fn figure_2_is_a_bug() {
    for statements in [6, 50] {
        let report = check(move || {
            two_tasks(check_then_withdraw, move |account| {
                // Lines 18 to 23: what other tasks cannot see.
                let own = Mutex::new(0);
                (0..statements).for_each(|_| *own.lock() += 1);
                check_then_withdraw(account);
            })
        });
        report.assert_grade(Grade::Bug);
        assert!(matches!(report.bug.unwrap().finding, Finding::Unexplained { .. }));
    }
}

/// The lock around both makes the blocks serial; that an account is locked twice is a warning at most.
#[test]
fn figure_3_is_no_error() {
    let report = check(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let block = |lock: &Mutex<()>, account: &Account| {
            interloper::atomic("withdraw", || {
                let _guard = lock.lock();
                if account.get_balance() >= 70 {
                    account.withdraw_and_assert(70);
                }
            });
        };
        two_tasks(|account| block(&lock, account), move |account| block(&other, account))
    });
    report.assert_grade(Grade::Warning);
    assert_eq!(report.warnings.len(), 1, "{report}");
    assert_eq!((report.warnings[0].block.as_str(), report.warnings[0].object.as_str()), ("withdraw", "mutex"));
}

#[test]
fn figure_4_shows_nothing_on_the_wrong_input() {
    let program = |input: char| {
        two_tasks(check_then_withdraw, move |account| {
            if input == 'y' {
                check_then_withdraw(account);
            }
        })
    };
    check_trivial(move || program('n')).assert_grade(Grade::Warning);
    check(move || program('y')).assert_grade(Grade::Bug);
}

/// Section 5.4: the block is over before there is another task.
#[test]
fn initialize_is_a_warning() {
    let report = check_trivial(|| {
        let lock = Arc::new(Mutex::new(0));
        interloper::atomic("initialize", || {
            *lock.lock() += 1;
            *lock.lock() += 1;
        });
        let other = Arc::clone(&lock);
        spawn(move || *other.lock() += 1).join();
        *lock.lock()
    });
    report.assert_grade(Grade::Warning);
}

/// Section 5.4: all blocks that use the lock are inside another lock.
#[test]
fn foo_is_a_warning() {
    let report = check(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&locks);
        let foo = |locks: &(Mutex<i64>, Mutex<i64>)| {
            interloper::atomic("foo", || {
                let _outer = locks.0.lock();
                *locks.1.lock() += 1;
                *locks.1.lock() += 1;
            });
        };
        let task = spawn(move || foo(&other));
        foo(&locks);
        task.join();
        *locks.1.lock()
    });
    report.assert_grade(Grade::Warning);
}

fn unique_ids(block: impl Fn(&dyn Fn() -> i64)) -> i64 {
    let count = Arc::new(Mutex::new(0));
    let get_unique_id = |count: &Mutex<i64>| {
        let mut count = count.lock();
        *count += 1;
        *count
    };
    let other = Arc::clone(&count);
    let task = spawn(move || get_unique_id(&other));
    block(&|| get_unique_id(&count));
    task.join();
    *count.lock()
}

/// Section 5.4: that another task takes an id in between does no harm.
#[test]
fn get_unique_id_is_benign() {
    let report = check(|| {
        unique_ids(|get| {
            interloper::atomic("two ids", || {
                get();
                get();
            });
        })
    });
    report.assert_grade(Grade::Error);
    assert_eq!(report.error.unwrap().finding, Finding::Benign);
}

/// The twin: somebody wants them to follow each other.
#[test]
fn get_unique_id_is_a_bug_where_it_matters() {
    let report = check(|| {
        unique_ids(|get| {
            interloper::atomic_returning("two ids", || (get(), get()));
        })
    });
    report.assert_grade(Grade::Bug);
    let outcome = "the program returns 3, two ids of main returns (1, 3)".to_owned();
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome });
}
