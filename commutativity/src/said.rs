//! What the steps of collections say of themselves: arguments and results, for the description of an execution.
//!
//! The wrappers of collections say it and a driver listens, in the same thread. Neither needs to know the other.

use std::cell::{Cell, RefCell};

use interloper_std::runtime::{self, Action};

use crate::Value;

/// One call of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The arguments: `1, 7`.
    pub arguments: String,
    /// The result, as far as it was known in the step.
    pub result: Option<String>,
}

thread_local! {
    static LISTENING: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<Vec<Said>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body` and returns the calls of collections in it, in order: one for each `Invoke` and `Inspect` of the trace.
pub fn listen<R>(body: impl FnOnce() -> R) -> (R, Vec<Said>) {
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            LISTENING.set(false);
        }
    }
    SAID.take();
    LISTENING.set(true);
    let stop = Stop;
    let result = body();
    drop(stop);
    (result, SAID.take())
}

/// Records a step.
pub fn announced(action: Action, arguments: &[Value]) {
    let ended = || runtime::with(|current| current.runtime().has_ended()).unwrap_or(true);
    if LISTENING.get() && action.call().is_some() && !ended() {
        let arguments = arguments.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        SAID.with_borrow_mut(|said| said.push(Said { arguments, result: None }));
    }
}

/// Records the result of the last step.
pub fn gave(result: &Value) {
    if LISTENING.get() {
        SAID.with_borrow_mut(|said| {
            if let Some(last) = said.last_mut() {
                last.result.get_or_insert_with(|| result.to_string());
            }
        });
    }
}
