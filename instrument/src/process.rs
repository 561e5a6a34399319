//! Mirrors [`mod@std::process`]: under control, what would end the process ends the execution.

use std::panic::Location;

use crate::runtime::{self, Exit};

pub use std::process::*;

/// As [`std::process::exit`].
#[track_caller]
pub fn exit(code: i32) -> ! {
    end(Exit::Code(code));
    std::process::exit(code)
}

/// As [`std::process::abort`].
#[cold]
#[track_caller]
pub fn abort() -> ! {
    end(Exit::Abort);
    std::process::abort()
}

/// Ends the execution, in a controlled run.
#[track_caller]
fn end(exit: Exit) {
    let location = Location::caller();
    runtime::with(|current| current.runtime().exit(exit, location));
}
