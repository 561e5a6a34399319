//! What the attributes expand to. Not to be used directly.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, Location};
use std::process::{ExitCode, Termination};
use std::time::Duration;

use interloper_commutativity::{ToValue, Value};
use interloper_scheduler::schedule::{Memory, Preempt};
use interloper_scheduler::{Clock, Freedom, Freedoms};
use interloper_std::panic::catch_unwind;

use super::grade::Grade;
use super::mark::Entered;
use super::settings::{Settings, StepBound};
use super::testing;
use crate::tasks::{Executor, Flavor};
use interloper_scheduler::schedule::Schedule;

pub use super::testing::Site;

/// Enters a block.
#[track_caller]
pub fn enter(name: &'static str) -> Block {
    Block(Entered::new(name, Location::caller()))
}

/// A block that was entered.
pub struct Block(Entered);

/// What a function returned.
pub struct Returned<'a, R>(pub &'a R);

/// For results that have a form as a value: they are part of the outcome.
pub trait WithValue {
    /// Takes note of the result.
    fn note(&self, block: &Block);
}

impl<R: ToValue> WithValue for Returned<'_, R> {
    fn note(&self, block: &Block) {
        block.0.returns(|| self.0.to_value());
    }
}

/// For all other types: they are not.
pub trait NoValue {
    /// Does nothing.
    fn note(&self, block: &Block);
}

impl<R> NoValue for &Returned<'_, R> {
    fn note(&self, _: &Block) {}
}

/// The schedule that a text names.
///
/// # Panics
/// When `text` names no strategy.
#[track_caller]
pub fn schedule(text: &str) -> Schedule {
    text.parse().unwrap_or_else(|error| panic!("strategy: {error}"))
}

/// The freedoms that a text names.
///
/// # Panics
/// If the text does not name freedoms.
#[track_caller]
pub fn freedoms(text: &str) -> Freedoms {
    text.parse().unwrap_or_else(|error| panic!("freedoms: {error}"))
}

/// The memory that a text names.
///
/// # Panics
/// When it names none.
#[track_caller]
pub fn memory(text: &str) -> Memory {
    text.parse().unwrap_or_else(|error| panic!("memory: {error}"))
}

/// Where tasks are preempted, as a text says.
///
/// # Panics
/// When it says nothing.
#[track_caller]
pub fn preempt(text: &str) -> Preempt {
    text.parse().unwrap_or_else(|error| panic!("preempt: {error}"))
}

/// A number of threads.
///
/// # Panics
/// When it is 0.
#[track_caller]
pub fn jobs(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).expect("jobs: at least one thread makes executions")
}

/// An executor whose polls overlap.
///
/// # Panics
/// When the number of workers is 0.
#[track_caller]
pub fn multi_thread(workers: usize) -> Executor {
    let workers = NonZeroUsize::new(workers).expect("worker_threads: at least one worker polls tasks");
    Executor::new().flavor(Flavor::MultiThread { workers })
}

/// What `cargo interloper test --every-test` asks of a test that nobody wrote for Interloper. Most of them have one thread, and a check
/// that explores nothing says so. Many expect what a machine does: that a sleep is long enough for what other threads do (so it does not
/// end early), that one read gets a short message from a socket, that `compare_exchange_weak` succeeds where it can, as it does on x86 and
/// with the atomics of Armv8.1, and that a later look at the clock sees a later time. Others repeat something very often: an execution
/// is stopped at the step bound, or when the time is over, and is no failure. Some compute for long, or wait for a child process.
pub fn every_test(settings: &mut Settings) {
    let off = [Freedom::Time, Freedom::Io, Freedom::Weak];
    let freedoms = off.into_iter().fold(settings.schedule.freedoms(), |all, freedom| all.with(freedom, 0));
    settings.freedoms = Some(freedoms);
    settings.steps = StepBound::StopAfter(settings.steps.steps());
    settings.executions = EXECUTIONS_OF_EVERY_TEST;
    settings.time = Some(TIME_OF_EVERY_TEST);
    settings.patience = Some(PATIENCE_WITH_EVERY_TEST);
    settings.allow_trivial = true;
    settings.clock = Clock::Ticks;
}

/// Most bugs that tests can show come within so many executions, and a project may have a thousand tests.
const EXECUTIONS_OF_EVERY_TEST: u64 = 200;

/// A test that repeats something a million times for the chance of an interleaving would take an hour.
const TIME_OF_EVERY_TEST: Duration = Duration::from_secs(10);

/// After this time the harness of std says that a test takes long.
const PATIENCE_WITH_EVERY_TEST: Duration = Duration::from_secs(60);

/// std's attribute, where `::core` may name the mirror, whose prelude does not have it.
#[doc(hidden)]
pub use core::prelude::v1::test as std_test;

/// Whether a test runs because another one, which is checked, has called it.
pub fn is_called_by_a_test() -> bool {
    interloper_std::runtime::is_controlled()
}

/// The crate of a module.
pub fn own_crate(module: &str) -> Vec<String> {
    module.split("::").next().map(str::to_owned).into_iter().collect()
}

/// What a test returns in place of `()`.
///
/// # Panics
/// When it is an error, as with std's attribute.
#[track_caller]
pub fn unit_result<E: Debug>(result: Result<(), E>) {
    if let Err(error) = result {
        panic!("the test returned an error: {error:?}");
    }
}

/// How a test ended that returns something.
pub struct Ended<R>(Option<R>);

impl<R> Ended<R> {
    /// With this result.
    pub fn new(result: R) -> Ended<R> {
        Ended(Some(result))
    }
}

/// For results of `()` under a name that does not say so, as `type TestResult = Result<(), String>` has: found before all others.
impl<E: Debug> Ended<Result<(), E>> {
    /// Nothing, if there is no error.
    ///
    /// # Panics
    /// If there is one.
    #[track_caller]
    pub fn outcome(self) -> Value {
        unit_result(self.0.expect("it has just ended"));
        Value::Unit
    }
}

/// For results that have a form as a value: they are part of the outcome.
pub trait WithOutcome {
    /// The result.
    fn outcome(self) -> Value;
}

impl<R: ToValue> WithOutcome for Ended<R> {
    fn outcome(self) -> Value {
        self.0.expect("it has just ended").to_value()
    }
}

/// For all other types: as with std's attribute, they say whether the test has failed.
pub trait WithStatus {
    /// Nothing, if the test has not failed.
    ///
    /// # Panics
    /// If it has failed.
    fn outcome(self) -> Value;
}

// Found after the other one: by a reference, not by the value.
impl<R: Termination> WithStatus for &mut Ended<R> {
    fn outcome(self) -> Value {
        let status = self.0.take().expect("it has just ended").report();
        assert!(status == ExitCode::SUCCESS, "the test returned an error, or an exit code that says failure");
        Value::Unit
    }
}

/// Runs the body of a test with `#[should_panic]`, which must panic in each execution, on the task of the test itself, with a message that
/// contains `says`.
///
/// # Panics
/// When the body does not panic so.
#[track_caller]
pub fn must_panic<R>(says: &str, body: impl FnOnce() -> R) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(body)) else {
        panic!("the test did not panic as `should_panic` asks")
    };
    let is_text = payload.is::<&'static str>() || payload.is::<String>();
    let message = interloper_scheduler::panics::message(&*payload);
    let fits = says.is_empty() || (is_text && message.contains(says));
    assert!(fits, "the panic does not contain {says:?}, as `should_panic` asks: {message}");
}

/// Runs a test: see `#[interloper::test]`.
///
/// # Panics
/// When the test fails.
#[track_caller]
pub fn test<R: ToValue>(site: &Site, change: impl FnOnce(&mut Settings), expected: Option<Grade>, program: fn() -> R) {
    testing::test(site, change, expected, &|| program().to_value());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test that nobody wrote for Interloper may compute for longer than one that somebody did.
    #[test]
    fn a_step_of_a_test_that_is_as_it_was_may_take_a_minute() {
        let ordinary = Settings::default();
        let mut settings = Settings::default();
        every_test(&mut settings);
        assert_eq!(ordinary.patience, Some(Duration::from_secs(5)));
        assert_eq!(settings.patience, Some(Duration::from_secs(60)));
    }
}
