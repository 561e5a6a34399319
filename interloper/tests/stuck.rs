//! A task that blocks in a lock which is not under control is named; the process does not hang.
//!
//! Such a task cannot be unwound, so the process ends: this program runs itself as a child that has to.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use interloper::blocks::Checker;
use interloper::thread;

const CHILD: &str = "blocks for ever";

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == CHILD) {
        block();
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap()).arg(CHILD).output().unwrap();
    let told = String::from_utf8(child.stderr).unwrap();
    assert_eq!(child.status.code(), Some(1), "{told}");
    assert!(told.starts_with("blocks: task "), "{told}");
    assert!(told.contains(" made no step for 50 ms: it loops without synchronising, or waits for "), "{told}");
    assert!(told.contains("; its last step was at interloper/tests/stuck.rs:"), "{told}");
}

/// Two tasks want the same lock of the real std, and one of them lets go of the processor while it has it.
fn block() {
    let checker = Checker::new("blocks").patience(Some(Duration::from_millis(50)));
    let report = checker.check(|| {
        let lock = Arc::new(std::sync::Mutex::new(()));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            thread::yield_now();
        });
        thread::yield_now();
        drop(lock.lock().unwrap());
        thread.join().unwrap();
    });
    println!("{report:?}");
}
