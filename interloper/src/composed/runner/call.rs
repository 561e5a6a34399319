//! The stack and the watchdog of calls of the methods, and their results.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use interloper_collections::session::with_session;
use interloper_commutativity::Value;
use interloper_scheduler::runtime::{TaskId, before_time};
use interloper_scheduler::{OwnStack, Watchdog, panics};

use crate::composed::bench::{Bench, Instance};
use crate::composed::method::Settings;
use crate::composed::misuse::Misuse;
use crate::composed::run::{Abort, Idle, Log, doom_text};

/// The stack of a call of the method under test, in bytes: the size of a process's main stack. Memory that the call
/// does not touch costs nothing.
pub(crate) const STACK: usize = 8 << 20;

/// A subject, made on `stack`, with hashers that are seeded from the run and clocks that show its start.
///
/// # Errors
/// When making it panics, or uses up the stack.
pub(crate) fn make<'m>(bench: &'m dyn Bench, stack: &OwnStack) -> Result<Box<dyn Instance + 'm>, Misuse> {
    let (name, place) = (task_of(0), bench.description().place);
    let call = || stack.run(name, place, || catch_unwind(AssertUnwindSafe(|| bench.make())));
    match before_time(|| with_session(&Idle, call)) {
        Ok(Ok(subject)) => Ok(subject),
        Ok(Err(payload)) => Err(Misuse::NoSubject { how: format!("panicked: {}", panics::message(&*payload)) }),
        Err(lost) => Err(Misuse::NoSubject { how: lost.to_string() }),
    }
}

/// The stack that calls of the methods run on, with a watchdog that knows their names.
pub(crate) fn stack(bench: &dyn Bench, settings: &Settings) -> OwnStack {
    let description = bench.description();
    let stack = OwnStack::new(STACK, watchdog(settings));
    (0..=description.beside.len()).for_each(|method| stack.name(task_of(method), description.method_name(method)));
    stack
}

/// The watchdog that interrupts a call which makes no step for too long.
pub(crate) fn watchdog(settings: &Settings) -> Option<Watchdog> {
    settings.patience.map(Watchdog::new)
}

/// The task that stands for the calls of a method.
pub(super) fn task_of(method: usize) -> TaskId {
    TaskId(u32::try_from(method).expect("few methods"))
}

/// The result of a call in a run that may have ended early. `None` for a call that was lost with its stack.
pub(super) fn given(outcome: Option<Result<Value, Box<dyn Any + Send>>>, log: &Log) -> Value {
    match (log.abort, outcome) {
        (None, Some(outcome)) => returned_value(outcome),
        (Some(Abort::Panic), _) => Value::variant("panic", [Value::text(doom_text(log.panic.as_ref()))]),
        (abort, _) => Value::variant(abort.and_then(Abort::verdict).unwrap_or("no return"), []),
    }
}

/// The result of a call: its value, or its panic.
pub(crate) fn returned_value(outcome: Result<Value, Box<dyn Any + Send>>) -> Value {
    outcome.unwrap_or_else(|payload| Value::variant("panic", [Value::text(panics::message(&*payload))]))
}
