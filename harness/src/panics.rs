//! Panics of objects under test are results: they are caught, and not printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Once;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::{Lost, OwnStack};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, in which panics of this thread are not printed. Those of other threads are left to the hook that was
/// there before.
pub(crate) fn quietly<R>(body: impl FnOnce() -> R) -> R {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                previous(info);
            }
        }));
    });
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    let _restore = Restore(QUIET.replace(true));
    body()
}

/// How much stack a call that runs alone has, in bytes: as much as the main thread of a process.
const STACK: usize = 8 << 20;

thread_local! {
    static CONTAINED: OwnStack = OwnStack::new(STACK, None);
}

/// Runs `body`, whose panics are not printed, on a stack of its own.
///
/// # Errors
/// How it left the stack, when it used it up or would have ended the process. What it was changing is left half changed.
pub(crate) fn contained<R>(body: impl FnOnce() -> R) -> Result<R, Lost> {
    CONTAINED.with(|stack| stack.run(TaskId::MAIN, Location::caller(), body))
}

/// What `body` gives, or what its panic says.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| message(&*payload))
}

/// The text of a payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a payload that is no text".to_owned()
    }
}
