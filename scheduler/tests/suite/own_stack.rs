//! Calls on a stack of their own: each way to leave it, and that the next call finds everything in order.

use std::cell::{Cell, OnceCell};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::{Lost, OwnStack, PanicReport, Stuck, Watchdog};

const SIZE: usize = 1 << 20;

fn run<R>(stack: &OwnStack, body: impl FnOnce() -> R) -> Result<R, Lost> {
    stack.run(TaskId::MAIN, Location::caller(), body)
}

fn deep(levels: u64) -> u64 {
    let frame = black_box([levels; 64]);
    if levels == 0 { 0 } else { 1 + deep(frame[7] - 1) }
}

/// Panics when it is dropped.
struct Sour;

impl Drop for Sour {
    fn drop(&mut self) {
        panic!("sour");
    }
}

#[test]
fn calls_return_what_they_return() {
    let stack = OwnStack::new(SIZE, None);
    assert_eq!(run(&stack, || deep(200)), Ok(200));
    // Only so many levels fit, and fewer are refused by whoever asks first.
    assert_eq!(run(&stack, || stack.is_deep()), Ok(false));
    let mut borrowed = vec![1];
    assert_eq!(run(&stack, || borrowed.push(2)), Ok(()));
    assert_eq!(borrowed, [1, 2]);
    assert!(!stack.is_inside());
}

#[test]
fn a_panic_unwinds_out_of_the_call_and_is_not_printed() {
    let stack = OwnStack::new(SIZE, None);
    let dropped = Cell::new(false);
    struct Note<'a>(&'a Cell<bool>);
    impl Drop for Note<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        run(&stack, || {
            let _note = Note(&dropped);
            panic!("as a result");
        })
    }));
    let payload = panicked.expect_err("a panic");
    assert_eq!((payload.downcast_ref::<&str>(), dropped.get()), (Some(&"as a result"), true));
    assert!(!std::thread::panicking());
    assert_eq!(run(&stack, || 3), Ok(3));
}

#[test]
fn a_call_that_is_given_up_never_goes_on() {
    let stack = OwnStack::new(SIZE, None);
    let after = Cell::new(false);
    let lost = run(&stack, || {
        let _sour = Sour;
        if black_box(true) {
            stack.give_up();
        }
        after.set(true);
    });
    assert_eq!((lost, after.get()), (Err(Lost::GivenUp), false));
    assert_eq!(run(&stack, || 4), Ok(4));
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_would_end_the_process_is_how_the_call_is_lost() {
    let stack = OwnStack::new(SIZE, None);
    assert_eq!(run(&stack, || deep(u64::MAX)), Err(Lost::StackOverflow));
    let doomed = run(&stack, || {
        let _sour = Sour;
        panic!("first");
    });
    let Err(Lost::Panic(PanicReport { message, place: Some(place), .. })) = doomed else { panic!("{doomed:?}") };
    assert_eq!((message.as_str(), place.file.ends_with("own_stack.rs")), ("sour", true));
    assert!(!std::thread::panicking());
    assert_eq!(run::<()>(&stack, || std::process::abort()), Err(Lost::Abort));
    // And a call that is in order returns.
    assert_eq!(run(&stack, || deep(200)), Ok(200));
}

#[test]
fn a_call_inside_of_a_call_has_another_stack() {
    let (outer, inner) = (OwnStack::new(SIZE, None), OwnStack::new(SIZE, None));
    let seen = run(&outer, || {
        let inner = run(&inner, || -> u32 { inner.give_up() });
        (inner, outer.is_inside())
    });
    assert_eq!(seen, Ok((Err(Lost::GivenUp), true)));
}

#[test]
fn a_call_without_steps_is_named_and_one_with_steps_is_not() {
    static TOLD: Mutex<Vec<Stuck>> = Mutex::new(Vec::new());
    let patience = Duration::from_millis(100);
    let watchdog =
        Watchdog { program: None, patience, interrupts: false, then: |stuck| TOLD.lock().unwrap().push(stuck.clone()) };
    let stack = OwnStack::new(SIZE, Some(watchdog));
    stack.name(TaskId(1), "sleeps");
    // A step every now and then, for longer than the patience.
    let here = Location::caller();
    let steps = || {
        for _ in 0..60 {
            std::thread::sleep(patience / 20);
            stack.step(TaskId(2), here);
        }
    };
    assert_eq!(stack.run(TaskId(2), here, steps), Ok(()));
    // Nor is the time between two calls that of a call.
    std::thread::sleep(patience * 3);
    assert_eq!(*TOLD.lock().unwrap(), []);
    let last = OnceCell::new();
    let sleeps = || {
        let place = last.get_or_init(Location::caller);
        stack.step(TaskId(1), place);
        while TOLD.lock().unwrap().is_empty() {
            std::thread::sleep(patience / 20);
        }
    };
    assert_eq!(stack.run(TaskId(1), here, sleeps), Ok(()));
    let told = TOLD.lock().unwrap()[0].clone();
    assert_eq!((told.task, told.name.as_deref()), (TaskId(1), Some("sleeps")));
    assert_eq!(told.location, last.get().copied());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_call_that_makes_no_step_is_interrupted() {
    let stack = OwnStack::new(1 << 20, Some(Watchdog::new(Duration::from_millis(100))));
    stack.name(TaskId::MAIN, "spin");
    let place = Location::caller();
    for _ in 0..2 {
        let lost = stack.run(TaskId::MAIN, place, || {
            loop {
                std::hint::spin_loop();
            }
        });
        let Err::<(), Lost>(Lost::Stuck(stuck)) = lost else { panic!("{lost:?}") };
        assert_eq!((stuck.name.as_deref(), stuck.location), (Some("spin"), Some(place)));
        // The twin: a call that returns.
        assert_eq!(stack.run(TaskId::MAIN, place, || 7), Ok(7));
    }
}
