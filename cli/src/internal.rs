//! A panic of the tool itself becomes a value: exit code 3 and one line.
//!
//! A panic of a method under test is a result and is caught where the method runs; only what nobody else catches
//! arrives here.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use crate::failure::Failure;

thread_local! {
    /// The last panic of this thread. A panic that is caught elsewhere is overwritten by the one that is not.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics silent: their message is kept for [`guard`] instead of being printed.
pub fn install() {
    std::panic::set_hook(Box::new(remember));
}

fn remember(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |location| format!(" at {location}"));
    let message = format!("{}{place}", message(info.payload()));
    // The thread may be ending, its locals gone: then there is nobody left to tell.
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = Some(message)));
}

/// What `body` gives, or the panic that it ended with.
pub fn guard<T>(body: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let known = LAST.with(|last| last.borrow_mut().take());
        Failure::Internal(known.unwrap_or_else(|| message(payload.as_ref()).to_owned()))
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_failure_with_its_message() {
        assert_eq!(guard(|| 3), Ok(3));
        let failure = guard(|| -> u32 { panic!("step {} of 2", 3) }).expect_err("it panicked");
        let Failure::Internal(message) = failure else { panic!("{failure:?}") };
        assert!(message.starts_with("step 3 of 2"), "{message}");
    }
}
