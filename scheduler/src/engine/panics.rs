//! Panics of tasks are recorded, not printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{PanicHookInfo, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Once;

use super::core::Core;
use super::own_stack;

thread_local! {
    /// The engine that runs a program on this thread.
    static ACTIVE: Cell<Option<NonNull<Core>>> = const { Cell::new(None) };
    static FORGETTING: Cell<bool> = const { Cell::new(false) };
}

/// Installs, once in a process, a panic hook that tells the engine of a panic in one of its tasks. All other panics go
/// to the hook that was there before.
pub(super) fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !record(info) {
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

/// The text of a payload.
pub(super) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a payload that is no text".to_owned()
    }
}
