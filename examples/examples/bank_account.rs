//! Blocks that are meant to be atomic: a withdrawal in two critical sections, and in one.
//!
//! `cargo run -p interloper-examples --example bank_account` prints:
//!
//! ```text
//! ✗ withdraw                                  not atomic (execution 1)
//!
//!        main                                             thread 1
//!   ──────────────────────────────────────────────────────────────────────────────────────────────────
//!   1    spawns thread 1
//!          at examples/examples/bank_account.rs:110:17
//!          │ let other = thread::spawn(move || withdra…
//!   2    begins withdraw
//!          at examples/examples/bank_account.rs:89:5
//!          │ atomic("withdraw", || {
//!   3    locks mutex 1
//!          at examples/examples/bank_account.rs:90:21
//!          │ if *account.lock().unwrap() >= amount {
//!          in withdraw, holds mutex 1
//!          ▲ 1 of 3: the block accesses mutex 1
//!   4    unlocks mutex 1
//!          at examples/examples/bank_account.rs:90:21
//!          in withdraw
//!   5                                                     begins withdraw
//!                                                           at examples/examples/bank_account.rs:89:5
//!                                                           │ atomic("withdraw", || {
//!   6                                                     locks mutex 1
//!                                                           at examples/examples/bank_account.rs:90:21
//!                                                           │ if *account.lock().unwrap() >= amount {
//!                                                           in withdraw, holds mutex 1
//!                                                           ▲ 2 of 3: thread 1 interrupts the block
//!   7                                                     unlocks mutex 1
//!                                                           at examples/examples/bank_account.rs:90:21
//!                                                           in withdraw
//!   8                                                     locks mutex 1
//!                                                           at examples/examples/bank_account.rs:91:22
//!                                                           │ *account.lock().unwrap() -= amount;
//!                                                           in withdraw, holds mutex 1
//!   9                                                     unlocks mutex 1
//!                                                           at examples/examples/bank_account.rs:91:22
//!                                                           in withdraw
//!   10                                                    ends the block
//!                                                           at examples/examples/bank_account.rs:89:5
//!   11                                                    ends
//!                                                           at examples/examples/bank_account.rs:89:5
//!   12   locks mutex 1
//!          at examples/examples/bank_account.rs:91:22
//!          │ *account.lock().unwrap() -= amount;
//!          in withdraw, holds mutex 1
//!          ▲ 3 of 3: the block accesses mutex 1 again
//!   13   unlocks mutex 1
//!          at examples/examples/bank_account.rs:91:22
//!          in withdraw
//!   14   ends the block
//!          at examples/examples/bank_account.rs:89:5
//!   15   joins thread 1
//!          at examples/examples/bank_account.rs:112:11
//!          │ other.join().unwrap();
//!   16   locks mutex 1
//!          at examples/examples/bank_account.rs:113:14
//!          │ *account.lock().unwrap()
//!          holds mutex 1
//!   17   unlocks mutex 1
//!          at examples/examples/bank_account.rs:113:14
//!   18   ends
//!          at examples/examples/bank_account.rs:113:14
//!        returned -40
//!
//!   No sequential order explains it:
//!     withdraw of main, withdraw of thread 1      the program returns 30
//!     withdraw of thread 1, withdraw of main      the program returns 30
//!
//!   replay: .replay(&"T0.T0.T1.T0.T0.T0.T0".parse()?, program)
//!   warning: withdraw accesses a mutex at examples/examples/bank_account.rs:90:21 and again at examples/examples/bank_account.rs:91:22
//!   atomfuzzer:0.5+rff+pct:3+pos+surw+random, seed 42: 1 execution of 1 trace, 12 steps, a block was violated in 1, 1 with a bug; all serial orders: 2 executions
//!
//! ✓ withdraw_fixed                            no violation found
//!   atomfuzzer:0.5+rff+pct:3+pos+surw+random, seed 42: 10000 executions of 2 traces, 100000 steps; serial orders: 1 execution; every trace came more than once
//! ```

use interloper::blocks::Misuse;
use interloper::sync::{Arc, Mutex};
use interloper::{Checker, atomic, thread};

type Account = Mutex<i64>;

/// Looks, then takes: somebody else may have taken it meanwhile.
fn withdraw(account: &Account, amount: i64) {
    atomic("withdraw", || {
        if *account.lock().unwrap() >= amount {
            *account.lock().unwrap() -= amount;
        }
    });
}

/// Looks and takes in one critical section.
fn withdraw_fixed(account: &Account, amount: i64) {
    atomic("withdraw", || {
        let mut balance = account.lock().unwrap();
        if *balance >= amount {
            *balance -= amount;
        }
    });
}

/// Two withdrawals of 70 from 100 at the same time; gives what is left.
fn two_withdrawals(withdraw: fn(&Account, i64)) -> i64 {
    let account = Arc::new(Mutex::new(100));
    let shared = Arc::clone(&account);
    let other = thread::spawn(move || withdraw(&shared, 70));
    withdraw(&account, 70);
    other.join().unwrap();
    *account.lock().unwrap()
}

fn main() -> Result<(), Misuse> {
    let broken = Checker::new("withdraw").check(|| two_withdrawals(withdraw))?;
    let fixed = Checker::new("withdraw_fixed").check(|| two_withdrawals(withdraw_fixed))?;
    print!("{broken}\n{fixed}");
    Ok(())
}
