//! What constructors that run before `main` leave in statics: `ctor` and `inventory` make such.
#![cfg(target_os = "linux")]

use interloper::blocks::Checker;
use interloper::sync::Mutex;
use interloper::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static COUNT: AtomicUsize = AtomicUsize::new(0);
static NAMES: Mutex<[usize; 2]> = Mutex::new([0; 2]);
/// No constructor uses this one.
static OTHER: AtomicUsize = AtomicUsize::new(0);

extern "C" fn register() {
    COUNT.fetch_add(1, SeqCst);
    NAMES.lock().unwrap()[1] = 7;
}

#[used]
// SAFETY: the section holds pointers to functions of this type.
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = register;

#[test]
fn each_execution_finds_what_they_left() {
    // What happens between `main` and the execution is not a part of how the process starts.
    COUNT.fetch_add(10, SeqCst);
    OTHER.fetch_add(10, SeqCst);
    let seen = std::sync::Mutex::new(Vec::new());
    let check = || {
        let found = (COUNT.load(SeqCst), *NAMES.lock().unwrap(), OTHER.load(SeqCst));
        seen.lock().unwrap().push(found);
        COUNT.store(100, SeqCst);
        NAMES.lock().unwrap()[0] += 1;
    };
    Checker::new("look").executions(3).allow_trivial().check(check).unwrap().assert_no_bug();
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() > 2 && seen.iter().all(|found| *found == (1, [0, 7], 0)), "{seen:?}");
}
