//! Figures 1 to 4 of the paper, and the consumer of its introduction.

use std::collections::VecDeque;

use interloper::ToValue;

use super::platform::sync::{Arc, Mutex};
use super::platform::{atomic, beside};
use super::{Bug, Expected, Family, Program};

const FILE: Family = Family::new("AtomFuzzer, Figure 1", include_str!("figures.rs"));

const FIGURE_2: Family = FILE.from("AtomFuzzer, Figure 2");
const FIGURE_3: Family = FILE.from("AtomFuzzer, Figure 3");
const FIGURE_4: Family = FILE.from("AtomFuzzer, Figure 4");
const INTRODUCTION: Family = FILE.from("AtomFuzzer, section 1");

const NEGATIVE: Bug = Bug::Panic("the balance is negative");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "figure-1",
            "figure-1-one-section",
            NEGATIVE,
            "Withdraws what was there a moment ago. Both threads read 100 before one of them withdraws: the second \
             withdrawal leaves -40 and its assertion fails.",
            || figure_1().to_value(),
        ),
        FILE.bad(
            "figure-1-without-assertion",
            "figure-1-one-section",
            Bug::NotSerialisable,
            "As Figure 1, but without the assertion: -40 is left, where one block after the other leaves 30.",
            || figure_1_without_assertion().to_value(),
        ),
        FILE.good(
            "figure-1-one-section",
            Expected::Clean,
            "Check and withdrawal are one critical section: the block takes the lock once.",
            || figure_1_one_section().to_value(),
        ),
        FIGURE_2.bad(
            "figure-2",
            "figure-2-one-section",
            NEGATIVE,
            "As Figure 1, with six statements in front of the second block: at random the first block is over by \
             then. A pause waits for the second one.",
            || figure_2(6, check_then_withdraw).to_value(),
        ),
        FIGURE_2.showing("figure-2").bad(
            "figure-2-fifty",
            "figure-2-one-section",
            NEGATIVE,
            "As Figure 2, with fifty statements.",
            || figure_2(50, check_then_withdraw).to_value(),
        ),
        FIGURE_2.showing("figure-2").good(
            "figure-2-one-section",
            Expected::Clean,
            "As Figure 2, and check and withdrawal are one critical section.",
            || figure_2(6, withdraw_in_one_section).to_value(),
        ),
        FIGURE_3.good(
            "figure-3",
            Expected::Warning,
            "Another lock around each block. The block locks the account twice, which is worth a warning, but no \
             thread locks the account between the two: it would have to hold the other lock.",
            || figure_3().to_value(),
        ),
        FIGURE_4.trivial().showing("figure-4").good(
            "figure-4-n",
            Expected::Warning,
            "The input of the other thread is 'n': it withdraws nothing, so it cannot interrupt the block. The bug \
             exists, but this test does not show it.",
            || figure_4('n').to_value(),
        ),
        FIGURE_4.showing("figure-4").bad(
            "figure-4-y",
            "figure-1-one-section",
            NEGATIVE,
            "The input is 'y': Figure 1 again.",
            || figure_4('y').to_value(),
        ),
        INTRODUCTION.bad(
            "consumer",
            "consumer-one-section",
            Bug::Panic("NullPointerException"),
            "Takes from a list that was not empty a moment ago. Each consumer holds its own lock, which does not \
             protect the list: both see the one element, and the second takes nothing.",
            || consumer().to_value(),
        ),
        INTRODUCTION.good(
            "consumer-one-section",
            Expected::Clean,
            "Looks and takes while it holds the lock of the list.",
            || consumer_one_section().to_value(),
        ),
    ]
}

// case: figure-1
/// Lines 1 to 10.
struct Account {
    balance: Mutex<i64>,
}

impl Account {
    fn new() -> Account {
        Account { balance: Mutex::new(100) }
    }

    fn get_balance(&self) -> i64 {
        *self.balance.lock().unwrap()
    }

    fn withdraw(&self, amount: i64) {
        let mut balance = self.balance.lock().unwrap();
        *balance -= amount;
        assert!(*balance >= 0, "the balance is negative");
    }
}

/// Lines 12 to 17, and 18 to 23.
fn check_then_withdraw(account: &Account) {
    atomic("withdraw", || {
        if account.get_balance() >= 70 {
            account.withdraw(70);
        }
    });
}

fn figure_1() -> i64 {
    let account = Arc::new(Account::new());
    beside(&account, check_then_withdraw, check_then_withdraw);
    account.get_balance()
}
// end

// case: figure-1-without-assertion
/// Figure 1 without line 8.
fn figure_1_without_assertion() -> i64 {
    fn block(account: &Account) {
        atomic("withdraw", || {
            if account.get_balance() >= 70 {
                *account.balance.lock().unwrap() -= 70;
            }
        });
    }
    let account = Arc::new(Account::new());
    beside(&account, block, block);
    account.get_balance()
}
// end

// case: figure-1-one-section
/// Checks and withdraws while it holds the lock.
fn withdraw_in_one_section(account: &Account) {
    atomic("withdraw", || {
        let mut balance = account.balance.lock().unwrap();
        if *balance >= 70 {
            *balance -= 70;
        }
    });
}

fn figure_1_one_section() -> i64 {
    let account = Arc::new(Account::new());
    beside(&account, withdraw_in_one_section, withdraw_in_one_section);
    account.get_balance()
}
// end

// case: figure-2
/// Lines 18 to 23 are steps that other threads cannot see.
fn figure_2(statements: i64, block: fn(&Account)) -> (i64, i64) {
    let account = Arc::new(Account::new());
    let ((), statements) = beside(&account, block, move |account| {
        let own = Mutex::new(0);
        for _ in 0..statements {
            *own.lock().unwrap() += 1;
        }
        block(account);
        own.into_inner().unwrap()
    });
    (account.get_balance(), statements)
}
// end

// case: figure-3
/// Both blocks hold another lock.
fn figure_3() -> i64 {
    fn block((lock, account): &(Mutex<()>, Account)) {
        atomic("withdraw", || {
            let _guard = lock.lock().unwrap();
            if account.get_balance() >= 70 {
                account.withdraw(70);
            }
        });
    }
    let shared = Arc::new((Mutex::new(()), Account::new()));
    beside(&shared, block, block);
    shared.1.get_balance()
}
// end

// case: figure-4
/// The input decides whether there is a second block.
fn figure_4(input: char) -> i64 {
    let account = Arc::new(Account::new());
    beside(&account, check_then_withdraw, move |account| {
        if input == 'y' {
            check_then_withdraw(account);
        }
    });
    account.get_balance()
}
// end

// case: consumer
/// A list whose methods are synchronised.
struct LinkedList(Mutex<VecDeque<i64>>);

impl LinkedList {
    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    fn remove(&self) -> Option<i64> {
        self.0.lock().unwrap().pop_front()
    }
}

/// Gives what each of the two consumers has taken, and how much is left.
fn consumer() -> (Option<i64>, Option<i64>, usize) {
    fn consume(buffer: &LinkedList) -> Option<i64> {
        let this = Mutex::new(());
        atomic("consume", || {
            let _synchronized = this.lock().unwrap();
            (!buffer.is_empty()).then(|| buffer.remove().expect("NullPointerException"))
        })
    }
    let buffer = Arc::new(LinkedList(Mutex::new(VecDeque::from([7]))));
    let (own, other) = beside(&buffer, consume, consume);
    (own, other, buffer.0.lock().unwrap().len())
}
// end

// case: consumer-one-section
/// Gives what each of the two consumers has taken, and how much is left.
fn consumer_one_section() -> (Option<i64>, Option<i64>, usize) {
    fn consume(buffer: &LinkedList) -> Option<i64> {
        atomic("consume", || {
            let mut elements = buffer.0.lock().unwrap();
            (!elements.is_empty()).then(|| elements.pop_front().expect("NullPointerException"))
        })
    }
    let buffer = Arc::new(LinkedList(Mutex::new(VecDeque::from([7]))));
    let (own, other) = beside(&buffer, consume, consume);
    (own, other, buffer.0.lock().unwrap().len())
}
// end
