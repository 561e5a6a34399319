//! `#[interloper::atomic]` and `#[interloper::test]`.

use std::sync::Arc;

use interloper::blocks::{Finding, Grade};
use interloper::{Checker, ToValue};

use crate::support::{Atomic, Mutex, beside, spawn};

#[derive(Default)]
struct Account {
    balance: Mutex<i64>,
}

impl Account {
    fn balance(&self) -> i64 {
        *self.balance.lock()
    }

    /// Returns early from the block.
    #[interloper::atomic]
    fn deposit(&self, amount: i64) -> i64 {
        if amount == 0 {
            return self.balance();
        }
        let before = self.balance();
        *self.balance.lock() = before + amount;
        before + amount
    }

    #[interloper::atomic(name = "two looks", ignore_result)]
    fn look_twice(&self) -> (i64, i64) {
        (self.balance(), self.balance())
    }

    /// What it returns has no form as a value.
    #[interloper::atomic]
    fn cell(&self) -> &Mutex<i64> {
        self.balance();
        self.balance();
        &self.balance
    }
}

/// Runs `body` on an account beside a deposit of 1, and looks at the balance at the end.
fn beside_a_deposit(body: fn(&Account)) -> i64 {
    let account = Arc::new(Account::default());
    let shared = Arc::clone(&account);
    let task = spawn(move || *shared.balance.lock() += 1);
    body(&account);
    task.join();
    account.balance()
}

fn check<R: ToValue>(program: impl Fn() -> R + Sync) -> interloper::blocks::Report {
    Checker::new("program").executions(500).check(program).unwrap()
}

#[test]
fn the_body_of_a_function_is_a_block() {
    let report = check(|| beside_a_deposit(|account| _ = account.deposit(10)));
    report.assert_grade(Grade::Bug);
    let outcome = "the program returns 10, deposit of main returns 10".to_owned();
    assert_eq!(report.bug.unwrap().finding, Finding::Unexplained { outcome });
    check(|| beside_a_deposit(|account| _ = account.deposit(0))).assert_grade(Grade::Clean);
}

#[test]
fn results_count_where_they_have_a_form() {
    let report = check(|| beside_a_deposit(|account| _ = account.look_twice()));
    report.assert_grade(Grade::Error);
    assert_eq!(report.warnings[0].block, "two looks");
    check(|| beside_a_deposit(|account| _ = account.cell())).assert_grade(Grade::Error);
}

#[interloper::test(executions = 200, seed = 3, strategy = "atomfuzzer:1", expect = "bug")]
fn a_lost_update_is_expected() -> i64 {
    let number = Arc::new(Atomic::default());
    let shared = Arc::clone(&number);
    let task = spawn(move || interloper::atomic("increment", || shared.store(shared.load() + 1)));
    interloper::atomic("increment", || number.store(number.load() + 1));
    task.join();
    number.load()
}

/// An error without a form as a value.
type Problem = Box<dyn std::error::Error>;

/// What two increments add up to, as an error if that is not 2.
fn both(increment: fn(&Atomic)) -> Result<(), Problem> {
    let number = Arc::new(Atomic::default());
    let shared = Arc::clone(&number);
    let task = spawn(move || increment(&shared));
    increment(&number);
    task.join();
    match number.load() {
        2 => Ok(()),
        less => Err(format!("{less} of 2").into()),
    }
}

#[interloper::test(executions = 200, expect = "bug")]
fn an_error_in_place_of_nothing_is_a_bug() -> Result<(), Problem> {
    both(|number| number.store(number.load() + 1))
}

#[interloper::test(executions = 200)]
fn without_an_error_the_test_passes() -> Result<(), Problem> {
    both(|number| _ = number.fetch_add(1))?;
    Ok(())
}

#[interloper::test(executions = 200)]
#[should_panic(expected = "1 or 2")]
fn each_execution_panics_as_it_should() {
    both(|number| number.store(number.load() + 1)).ok();
    panic!("the number is 1 or 2");
}

/// What std's harness would take for the panic that `should_panic` asks for: no panic at all, one in some executions, one with another
/// message, and a deadlock.
#[test]
fn only_the_panic_that_should_come_passes() {
    use interloper::blocks::attribute::must_panic;
    let sometimes = || {
        both(|number| number.store(number.load() + 1)).unwrap();
    };
    check(|| must_panic("", sometimes)).assert_grade(Grade::Bug);
    let other = || -> () {
        both(|number| _ = number.fetch_add(1)).unwrap();
        panic!("other");
    };
    check(|| must_panic("other", other)).assert_grade(Grade::Clean);
    let report = check(|| must_panic("this", other));
    report.assert_grade(Grade::Bug);
    let text = report.to_string().split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.contains("the panic does not contain \"this\", as `should_panic` asks: other"), "{text}");
    let without_text = || -> () {
        both(|number| _ = number.fetch_add(1)).unwrap();
        std::panic::panic_any(1);
    };
    check(|| must_panic("", without_text)).assert_grade(Grade::Clean);
    check(|| must_panic("a", without_text)).assert_grade(Grade::Bug);
    let blocks = || {
        let forwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
            let a = a.lock();
            *a + *b.lock()
        };
        let backwards = |(a, b): &(Mutex<i64>, Mutex<i64>)| {
            let b = b.lock();
            *b + *a.lock()
        };
        beside(forwards, backwards);
        panic!("after that");
    };
    let report = check(|| -> () { must_panic("", blocks) });
    assert_eq!(report.bug.expect("a deadlock").finding, Finding::Deadlock);
}

/// The names of a user's functions that the attribute could use for its own.
mod names_of_the_user {
    fn program() -> u32 {
        1
    }

    async fn future() -> u32 {
        2
    }

    #[interloper::test(allow_trivial)]
    fn a_test_calls_them() {
        assert_eq!(program(), 1);
    }

    #[interloper::test(allow_trivial)]
    async fn an_async_test_calls_them() {
        assert_eq!((program(), future().await), (1, 2));
    }
}

/// As the attribute does it.
#[test]
fn the_error_is_said() {
    let program = || interloper::blocks::attribute::unit_result(both(|number| number.store(number.load() + 1)));
    let report = check(program);
    report.assert_grade(Grade::Bug);
    let text = report.to_string();
    assert!(text.contains("the test returned an error: \"1 of 2\""), "{text}");
    assert!(text.contains("tests/blocks/attributes.rs"), "the place is the test's: {text}");
}

#[interloper::test(executions = 200)]
fn increments_at_once_pass() -> i64 {
    let number = Arc::new(Atomic::default());
    let shared = Arc::clone(&number);
    let task = spawn(move || interloper::atomic("increment", || shared.fetch_add(1)));
    interloper::atomic("increment", || number.fetch_add(1));
    task.join();
    number.load()
}
