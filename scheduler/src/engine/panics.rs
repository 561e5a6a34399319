//! The one panic hook of the process: it records the panics of tasks, keeps those that must be quiet, and leaves all
//! others to the hook that was there before.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Once;

use super::core::Core;
use super::own_stack;
use crate::execution::SourcePlace;

thread_local! {
    /// The engine that runs a program on this thread.
    static ACTIVE: Cell<Option<NonNull<Core>>> = const { Cell::new(None) };
    static FORGETTING: Cell<bool> = const { Cell::new(false) };
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The last panic of this thread that was kept instead of being printed.
    static KEPT: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// A panic that [`caught`] has caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// What it says.
    pub message: String,
    /// Where it began: known if it began under [`quietly`], and not with `resume_unwind`.
    pub place: Option<SourcePlace>,
}

impl fmt::Display for Panicked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(out, "{} at {place}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

/// Runs `body`. Panics of this thread are not printed meanwhile; those of other threads are.
pub fn quietly<R>(body: impl FnOnce() -> R) -> R {
    install_hook();
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    let _restore = Restore(QUIET.replace(true));
    body()
}

/// What `body` returns.
///
/// # Errors
/// The panic that `body` ended with.
pub fn caught<R>(body: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let message = message(&*payload);
        // The last panic that was kept may be an older one, which `body` caught itself.
        let kept = KEPT.take().filter(|kept| kept.message == message);
        kept.unwrap_or(Panicked { message, place: None })
    })
}

/// The text of a panic's payload.
pub fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a payload that is not text".to_owned()
    }
}

/// The text of a panic without the address that the compiler's check of alignment names: each execution has another stack.
pub fn without_address(message: &str) -> &str {
    match message.strip_prefix("misaligned pointer dereference") {
        Some(_) => message.split_once(" but is ").map_or(message, |(before, _)| before),
        None => message,
    }
}

/// Installs the hook, once in a process.
pub(super) fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !record(info) && !keep(info) {
                previous(info);
            }
        }));
    });
}

/// Runs `body`: panics of this thread meanwhile are panics of tasks of `core`.
pub(super) fn observed<R>(core: &Core, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<NonNull<Core>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ACTIVE.set(self.0);
        }
    }
    let _restore = Restore(ACTIVE.replace(Some(NonNull::from(core))));
    body()
}

/// Makes the thread forget panics of tasks that were abandoned while they unwound: these panics never end, so the
/// thread would count itself as panicking for ever.
///
/// std has no direct way to do so. But std does not count a panic that begins inside the panic hook, and does count its
/// end: it aborts the process for such a `panic!`, and lets a `resume_unwind` through. So each round here takes one
/// panic off the count. Each round checks the count: if a future std counts otherwise, or another hook was installed,
/// the thread stays as it is, and tasks of later executions on it are not preempted.
pub(super) fn forget_unfinished() {
    const ROUNDS: u32 = 100;
    for _ in 0..ROUNDS {
        if !std::thread::panicking() {
            break;
        }
        FORGETTING.set(true);
        let _ = catch_unwind(|| panic!("a task was given up while it unwound"));
        if FORGETTING.replace(false) {
            break;
        }
    }
}

/// The engine that runs a program on this thread.
pub(super) fn active() -> Option<NonNull<Core>> {
    ACTIVE.try_with(Cell::get).ok().flatten()
}

fn record(info: &PanicHookInfo<'_>) -> bool {
    if FORGETTING.try_with(|forgetting| forgetting.replace(false)).unwrap_or(false) {
        let _ = catch_unwind(|| resume_unwind(Box::new(())));
        return true;
    }
    // SAFETY: `observed` borrows the core for as long as the pointer is here, and only shared.
    active().is_some_and(|core| record_in_task(unsafe { core.as_ref() }, info)) || record_in_call(info)
}

fn record_in_task(core: &Core, info: &PanicHookInfo<'_>) -> bool {
    let message = message(info.payload());
    if CANNOT_UNWIND.contains(&&*message) {
        return core.panic_dooms();
    }
    core.panic_begins(message, info.location().map(Into::into))
}

/// The same for a call that runs on a stack of its own.
fn record_in_call(info: &PanicHookInfo<'_>) -> bool {
    let note = |call: &own_stack::Shared| {
        let message = message(info.payload());
        if CANNOT_UNWIND.contains(&&*message) {
            call.panic_dooms();
        } else {
            call.panic_begins(message, info.location().map(Into::into));
        }
    };
    own_stack::active(note).is_some()
}

/// What std says of panics that cannot unwind, before it aborts the process.
const CANNOT_UNWIND: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// Whether the thread is in [`quietly`], and the panic was kept.
fn keep(info: &PanicHookInfo<'_>) -> bool {
    // A thread that ends has no locals any more.
    let quiet = QUIET.try_with(Cell::get).unwrap_or(false);
    if quiet {
        let panicked = Panicked { message: message(info.payload()), place: info.location().map(Into::into) };
        let _ = KEPT.try_with(|kept| kept.replace(Some(panicked)));
    }
    quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_alignment_is_the_same_at_each_address() {
        let says = |address: &str| {
            format!("misaligned pointer dereference: address must be a multiple of 0x8 but is {address}")
        };
        let expected = "misaligned pointer dereference: address must be a multiple of 0x8";
        assert_eq!(["0x7", "0x1f"].map(|address| without_address(&says(address)).to_owned()), [expected; 2]);
        assert_eq!(without_address("it should be 1 but is 2"), "it should be 1 but is 2");
    }

    #[test]
    fn a_panic_that_is_caught_quietly_has_its_place() {
        assert_eq!(quietly(|| caught(|| 3)), Ok(3));
        let line = line!() + 1;
        let panicked = quietly(|| caught(|| -> u32 { panic!("step {} of 2", 3) })).expect_err("it panicked");
        let place =
            SourcePlace { file: file!().to_owned(), line, column: panicked.place.as_ref().map_or(0, |at| at.column) };
        assert_eq!(panicked, Panicked { message: "step 3 of 2".to_owned(), place: Some(place.clone()) });
        assert_eq!(panicked.to_string(), format!("step 3 of 2 at {place}"));
    }

    #[test]
    fn a_payload_that_no_hook_has_seen_has_no_place() {
        let thrown = || {
            let _ = catch_unwind(|| panic!("an older panic"));
            resume_unwind(Box::new("thrown"))
        };
        let panicked = quietly(|| caught::<()>(thrown)).expect_err("it was thrown");
        assert_eq!(panicked, Panicked { message: "thrown".to_owned(), place: None });
    }
}
