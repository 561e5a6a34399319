//! Bank accounts: lost updates, and sums over several of them.

use interloper::ToValue;

use super::platform::sync::{Arc, Mutex};
use super::platform::{atomic, beside};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("bank.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "bank-account",
            "bank-account-one-section",
            Bug::NotSerialisable,
            "Deposits by reading the balance and writing the sum, each under the lock: both read 0, and of 10 and 20 \
             one is lost.",
            || bank_account().to_value(),
        ),
        FILE.good(
            "bank-account-one-section",
            Expected::Clean,
            "Deposits in one critical section.",
            || bank_account_one_section().to_value(),
        ),
        FILE.bad(
            "bank-audit",
            "bank-audit-both-locks",
            Bug::NotSerialisable,
            "Sums two accounts while a transfer has taken from the one and not yet given to the other: 70, or 130, \
             instead of 100. No account is locked twice in a block, so there is no pattern to look for: only the serial orders \
             tell.",
            || bank_audit(transfer, sum).to_value(),
        ),
        FILE.good(
            "bank-audit-both-locks",
            Expected::Clean,
            "Transfer and sum hold both locks, taken in the same order.",
            || bank_audit(transfer_with_both_locks, sum_with_both_locks).to_value(),
        ),
        FILE.bad(
            "lock-order-inversion",
            "lock-order-by-number",
            Bug::Deadlock,
            "Two transfers in opposite directions, each of which locks where it takes from first: each holds what the \
             other one wants.",
            || two_transfers(transfer_holding_the_first).to_value(),
        ),
        FILE.good(
            "lock-order-by-number",
            Expected::Clean,
            "Two transfers in opposite directions, which lock the account with the smaller number first.",
            || two_transfers(transfer_in_order).to_value(),
        ),
    ]
}

// case: bank-account
/// Deposits 10 and 20; gives the balance.
fn bank_account() -> i64 {
    fn deposit(account: &Mutex<i64>, amount: i64) {
        atomic("deposit", || {
            let balance = *account.lock().unwrap();
            *account.lock().unwrap() = balance + amount;
        });
    }
    let account = Arc::new(Mutex::new(0));
    beside(&account, |account| deposit(account, 10), |account| deposit(account, 20));
    *account.lock().unwrap()
}
// end

// case: bank-account-one-section
/// Deposits 10 and 20; gives the balance.
fn bank_account_one_section() -> i64 {
    fn deposit(account: &Mutex<i64>, amount: i64) {
        atomic("deposit", || *account.lock().unwrap() += amount);
    }
    let account = Arc::new(Mutex::new(0));
    beside(&account, |account| deposit(account, 10), |account| deposit(account, 20));
    *account.lock().unwrap()
}
// end

type Accounts = [Mutex<i64>; 2];

/// Gives the sum that was seen, and the accounts at the end.
fn bank_audit(transfer: fn(&Accounts), sum: fn(&Accounts) -> i64) -> (i64, Vec<i64>) {
    let accounts = Arc::new([Mutex::new(100), Mutex::new(0)]);
    let (seen, ()) = beside(&accounts, sum, transfer);
    (seen, accounts.iter().map(|account| *account.lock().unwrap()).collect())
}

// case: bank-audit
/// Takes from the one, then gives to the other.
fn transfer([from, to]: &Accounts) {
    atomic("transfer", || {
        *from.lock().unwrap() -= 30;
        *to.lock().unwrap() += 30;
    });
}

fn sum([one, other]: &Accounts) -> i64 {
    atomic("sum", || {
        let balance = *one.lock().unwrap();
        balance + *other.lock().unwrap()
    })
}
// end

// case: bank-audit-both-locks
/// Takes from the one and gives to the other while it holds both.
fn transfer_with_both_locks([from, to]: &Accounts) {
    atomic("transfer", || {
        let (mut from, mut to) = (from.lock().unwrap(), to.lock().unwrap());
        *from -= 30;
        *to += 30;
    });
}

fn sum_with_both_locks([one, other]: &Accounts) -> i64 {
    atomic("sum", || {
        let (one, other) = (one.lock().unwrap(), other.lock().unwrap());
        *one + *other
    })
}
// end

/// Transfers 30 from the first account and 20 from the second; gives the accounts at the end.
fn two_transfers(transfer: fn(&Accounts, from: usize, to: usize, amount: i64)) -> Vec<i64> {
    let accounts = Arc::new([Mutex::new(100), Mutex::new(100)]);
    beside(&accounts, move |accounts| transfer(accounts, 0, 1, 30), move |accounts| transfer(accounts, 1, 0, 20));
    accounts.iter().map(|account| *account.lock().unwrap()).collect()
}

// case: lock-order-inversion
/// Locks the account that it takes from, then the other one.
fn transfer_holding_the_first(accounts: &Accounts, from: usize, to: usize, amount: i64) {
    atomic("transfer", || {
        let mut from = accounts[from].lock().unwrap();
        let mut to = accounts[to].lock().unwrap();
        *from -= amount;
        *to += amount;
    });
}
// end

// case: lock-order-by-number
/// Locks the account with the smaller number, then the other one.
fn transfer_in_order(accounts: &Accounts, from: usize, to: usize, amount: i64) {
    atomic("transfer", || {
        let mut smaller = accounts[from.min(to)].lock().unwrap();
        let mut larger = accounts[from.max(to)].lock().unwrap();
        let (from, to) = if from < to { (&mut smaller, &mut larger) } else { (&mut larger, &mut smaller) };
        **from -= amount;
        **to += amount;
    });
}
// end
