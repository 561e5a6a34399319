//! Panics of a method under test are results: they are not printed.

use std::cell::Cell;
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`; a panic in it unwinds without a message on standard error.
///
/// The process's panic hook is wrapped once, and stays what it was for every panic outside of such a body.
pub(crate) fn quietly<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    install();
    let _restore = Restore(QUIET.replace(true));
    body()
}

fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
}
