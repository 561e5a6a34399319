//! Mirrors [`mod@std::panic`].

use crate::runtime;

pub use std::panic::*;

/// As [`std::panic::catch_unwind`]. It does not catch the unwinding of a task whose execution has ended.
///
/// # Errors
/// The payload of the panic.
pub fn catch_unwind<F: FnOnce() -> R + UnwindSafe, R>(f: F) -> std::thread::Result<R> {
    match std::panic::catch_unwind(f) {
        Err(payload) if runtime::is_abort(&*payload) => resume_unwind(payload),
        result => result,
    }
}
