//! A task that blocks in a lock which is not under control is named: the check ends with a message, and neither hangs nor
//! ends the process.
//!
//! Where nothing can be interrupted the process ends, so this program runs itself as a child.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use interloper::blocks::{Checker, Misuse};
use interloper::thread;

const CHILD: &str = "blocks for ever";

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == CHILD) {
        let misuse = block().expect_err("a lock that nobody gives back");
        assert!(matches!(misuse, Misuse::Stuck(_)), "{misuse:?}");
        eprintln!("{misuse}");
        // The next check on the same thread works.
        assert!(Checker::new("next").allow_trivial().check(|| 7).is_ok());
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap()).arg(CHILD).output().unwrap();
    let told = String::from_utf8(child.stderr).unwrap();
    let interrupts = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    assert_eq!(child.status.code(), Some(if interrupts { 0 } else { 101 }), "{told}");
    assert!(told.starts_with("blocks: "), "{told}");
    assert!(told.contains(" made no step for 50 ms: it loops without synchronising, or waits for "), "{told}");
    assert!(told.contains("; its last step was at interloper/tests/stuck.rs:"), "{told}");
}

/// Two tasks want the same lock of the real std, and one of them lets go of the processor while it has it.
fn block() -> Result<interloper::blocks::Report, Misuse> {
    let checker = Checker::new("blocks").patience(Some(Duration::from_millis(50)));
    checker.check(|| {
        let lock = Arc::new(std::sync::Mutex::new(()));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            thread::yield_now();
        });
        thread::yield_now();
        drop(lock.lock().unwrap());
        thread.join().unwrap();
    })
}
