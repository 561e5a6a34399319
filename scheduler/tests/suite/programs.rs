//! The programs of the AtomFuzzer paper.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::*;

pub struct Account {
    lock: Lock,
    balance: Cell<i32>,
}

impl Account {
    pub fn new() -> Rc<Account> {
        Rc::new(Account { lock: Lock::new(), balance: Cell::new(100) })
    }

    fn get_balance(&self) -> i32 {
        let _guard = self.lock.lock();
        self.balance.get()
    }

    fn check_then_withdraw(&self) {
        if self.get_balance() >= 70 {
            self.withdraw(70);
        }
    }

    fn withdraw(&self, amount: i32) {
        let _guard = self.lock.lock();
        self.balance.set(self.balance.get() - amount);
        assert!(self.balance.get() >= 0, "overdrawn");
    }
}

pub fn check_then_withdraw(account: &Account) {
    atomic("withdraw", || account.check_then_withdraw());
}

/// Figure 1; with `unrelated` lock operations before the second block, Figure 2.
pub fn figure_1_and_2(unrelated: usize) {
    two_withdraw(unrelated, check_then_withdraw);
}

/// The same with no block marked.
pub fn without_marks(unrelated: usize) {
    two_withdraw(unrelated, Account::check_then_withdraw);
}

fn two_withdraw(unrelated: usize, withdraw: fn(&Account)) {
    let account = Account::new();
    let other = account.clone();
    let t1 = spawn(move || withdraw(&other));
    let t2 = spawn(move || {
        let lock = Lock::new();
        (0..unrelated).for_each(|_| drop(lock.lock()));
        withdraw(&account);
    });
    [t1, t2].into_iter().for_each(|task| join(task).unwrap());
}

/// Figure 3: the same under a common lock.
pub fn figure_3() {
    let account = Account::new();
    let common = Rc::new(Lock::new());
    let tasks = [(); 2].map(|()| {
        let (account, common) = (account.clone(), common.clone());
        spawn(move || {
            atomic("withdraw", || {
                let _guard = common.lock();
                check_then_withdraw(&account);
            });
        })
    });
    tasks.into_iter().for_each(|task| join(task).unwrap());
}

/// Two tasks that increment an atomic variable in two steps, as a block, or in one.
pub fn increments(atomically: bool) -> i32 {
    let variable = Rc::new(Variable::default());
    let tasks = [(); 2].map(|()| {
        let variable = variable.clone();
        spawn(move || {
            atomic("increment", || match atomically {
                true => drop(variable.add(1)),
                false => variable.set(variable.get() + 1),
            });
        })
    });
    tasks.into_iter().for_each(|task| join(task).unwrap());
    variable.get()
}
