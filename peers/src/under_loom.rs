//! The programs under loom.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::outcome::{Outcome, Searched};

mod platform {
    pub use loom::{sync, thread};

    /// A block that should be atomic: of no consequence here.
    pub fn atomic<R>(_: &'static str, body: impl FnOnce() -> R) -> R {
        body()
    }
}

mod programs {
    include!("programs.rs");
}

pub use self::programs::PROGRAMS;

/// The argument that makes this process go through one of the programs under loom.
pub const ARGUMENT: &str = "under-loom";

/// Goes through a program as far as loom does: to the end, or to a deadlock. In a process of its own, since loom aborts
/// the process when a guard is dropped while the panic of a deadlock unwinds.
pub fn exhaust(number: usize) -> io::Result<Searched> {
    let output = Command::new(std::env::current_exe()?).arg(format!("--{ARGUMENT}={number}")).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let values: Vec<&str> = text.lines().collect();
    let mut outcomes: BTreeSet<_> = values.iter().filter_map(|value| value.parse().ok()).map(Outcome::Value).collect();
    if !output.status.success() {
        let deadlock = String::from_utf8_lossy(&output.stderr).contains("deadlock");
        outcomes.insert(if deadlock { Outcome::Deadlock } else { Outcome::Other });
    }
    let executions = values.iter().filter(|value| **value == BEGINS).count() as u64;
    Ok(Searched { executions, outcomes, exhausted: output.status.success() })
}

const BEGINS: &str = "begins";

/// What the process of its own does: a line for each execution that begins, and one for each that ends.
pub fn go_through(number: usize) {
    let (_, program) = PROGRAMS.small[number];
    loom::model(move || {
        println!("{BEGINS}");
        println!("{}", program());
    });
}

/// Goes through a program to its end; gives how many executions that took. It must not fail.
pub fn time(program: fn() -> i32) -> u64 {
    let made = Arc::new(AtomicU64::new(0));
    let count = made.clone();
    loom::model(move || {
        count.fetch_add(1, Ordering::Relaxed);
        program();
    });
    made.load(Ordering::Relaxed)
}
