//! What would end a process is a result.

use std::rc::Rc;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Config, Crash, End, Engine};

use crate::common::*;

/// Panics when it is dropped.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{}", self.0);
    }
}

#[test]
fn a_panic_in_a_destructor() {
    let execution = run_once(|| drop(Bomb("dropped")));
    assert!(matches!(execution.end, End::Panicked(report) if report.message == "dropped"));
}

#[test]
fn a_panic_while_unwinding_that_is_caught_in_time() {
    struct Careful;
    impl Drop for Careful {
        fn drop(&mut self) {
            assert!(std::panic::catch_unwind(|| panic!("second")).is_err());
        }
    }
    let execution = run_once(|| {
        let _careful = Careful;
        panic!("first");
    });
    assert!(matches!(&execution.end, End::Panicked(_)), "{execution:?}");
    assert_eq!(execution.panics.len(), 1);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_panic_while_unwinding_would_abort_the_process() {
    let log = Log::default();
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let value = Dropped(log.clone(), "main unwound");
            let lock = Rc::new(Lock::new());
            let child = spawn(move || {
                let _guard = lock.lock();
                let _bomb = Bomb("second");
                panic!("first");
            });
            let _value = value;
            join(child).unwrap();
        });
        let End::Aborted(report) = &execution.end else { panic!("{execution:?}") };
        assert_eq!((report.task, &report.message[..]), (TaskId(1), "second"));
        // Nothing runs any more.
        assert!(log.take().is_empty());
        assert!(!std::thread::panicking());
    }
    // The engine and the thread are as good as before.
    let execution = engine.run(&mut RandomWalk::new(0), || {
        let child = spawn(|| panic!("only this"));
        assert!(join(child).is_err());
        assert!(std::panic::catch_unwind(|| panic!("and this")).is_err());
    });
    assert!(execution.end.is_finished(), "{execution:?}");
}

/// A thread may not have begun when an execution ends. If the execution ends at once, what the thread was given is abandoned. It was dropped
/// in the next execution, in the middle of the spawn of another thread; otherwise it is dropped in its own.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn what_a_thread_was_given_that_never_began() {
    struct Steps {
        lock: Rc<Lock>,
        _dropped: Dropped,
    }
    impl Drop for Steps {
        fn drop(&mut self) {
            // A lock that this execution has not seen.
            drop(Lock::new().lock());
            drop(self.lock.lock());
        }
    }
    let mut engine = Engine::new(Config::default());
    for aborts in [true, true, false, true, false] {
        let log = Log::default();
        for seed in 0..10 {
            let dropped = log.clone();
            let execution = engine.run(&mut RandomWalk::new(seed), move || {
                let given = Steps { lock: Rc::new(Lock::new()), _dropped: Dropped(dropped.clone(), "dropped") };
                let _child = spawn(move || drop(given));
                let _bomb = aborts.then(|| Bomb("second"));
                panic!("first");
            });
            match &execution.end {
                End::Aborted(report) if aborts => assert_eq!(report.message, "second"),
                End::Panicked(report) if !aborts => assert_eq!(report.message, "first"),
                other => panic!("{other:?}"),
            }
        }
        let dropped = log.take().len();
        assert!(aborts || dropped == 10, "{dropped}");
    }
}

/// Who shrinks many failures that end at once leaves the stacks of as many executions behind. The system has room for some 30,000.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn stacks_are_not_used_up_by_executions_that_end_at_once() {
    const TASKS: usize = 20;
    let mut engine = Engine::new(Config::default());
    for seed in 0..4_000 {
        let execution = engine.run(&mut RandomWalk::new(seed), || {
            let lock = Rc::new(Lock::new());
            let held = lock.lock();
            let waiting: Vec<_> = (0..TASKS)
                .map(|_| {
                    let lock = lock.clone();
                    spawn(move || drop(lock.lock()))
                })
                .collect();
            (0..TASKS).for_each(|_| interloper_std::thread::yield_now());
            let _bomb = Bomb("second");
            let _both = (held, waiting);
            panic!("first");
        });
        assert!(matches!(&execution.end, End::Aborted(_)), "{execution:?}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_panic_in_a_function_that_must_not_unwind() {
    extern "C" fn callback() {
        panic!("across the border");
    }
    let execution = run_once(|| callback());
    assert!(matches!(&execution.end, End::Aborted(report) if report.message == "across the border"), "{execution:?}");
}

/// std says so of a panic of its own, with a message for each check that failed.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_check_of_std_that_cannot_unwind() {
    let execution = run_once(|| {
        // With the checks of the compiler this is a panic, and otherwise an access to the memory.
        let pointer = std::hint::black_box(std::ptr::null::<u64>());
        // SAFETY: none; this is what is tested.
        std::hint::black_box(unsafe { *pointer });
    });
    let is_so = match &execution.end {
        End::Aborted(report) => report.message == "null pointer dereference occurred",
        End::Crashed { task, crash, .. } => (*task, *crash) == (TaskId::MAIN, Crash::NullPointer),
        _ => false,
    };
    assert!(is_so, "{execution:?}");
}

/// Each crash ends its execution with its kind: reads of memory that the process does not have, by the program and by `memcpy`,
/// instructions that the processor rejects, and a call of an address without code. The next execution works as usual.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn what_the_system_kills_a_process_for() {
    fn reads() {
        let pointer = std::hint::black_box(std::ptr::without_provenance::<u64>(1 << 20));
        // SAFETY: none; this is what is tested.
        std::hint::black_box(unsafe { pointer.read_volatile() });
    }
    fn copies() {
        let mut bytes = [0_u8; 4096];
        let (from, length) = std::hint::black_box((std::ptr::without_provenance::<u8>(1 << 20), bytes.len()));
        // SAFETY: none; this is what is tested.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), length) };
        std::hint::black_box(bytes);
    }
    fn executes() {
        // SAFETY: none; this is what is tested.
        unsafe { std::arch::asm!("ud2") };
    }
    fn traps() {
        // SAFETY: none; this is what is tested.
        unsafe { std::arch::asm!("int3") };
    }
    fn is_refused() {
        // SAFETY: none; this is what is tested.
        unsafe { std::arch::asm!("hlt") };
    }
    fn calls() {
        // SAFETY: none; this is what is tested.
        let function = unsafe { std::mem::transmute::<usize, extern "C" fn()>(std::hint::black_box(16)) };
        function();
    }
    let mut engine = Engine::new(Config::default());
    let log = Log::default();
    for (crashes, expected) in [
        (reads as fn(), Crash::InvalidMemory),
        (copies, Crash::InvalidMemory),
        (executes, Crash::IllegalInstruction),
        (traps, Crash::IllegalInstruction),
        (is_refused, Crash::Refused),
        (calls, Crash::NullPointer),
    ] {
        let line = line!() + 5;
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let value = Dropped(log.clone(), "unwound");
            let child = spawn(move || {
                let lock = Lock::new();
                drop(lock.lock());
                crashes();
            });
            let _value = value;
            join(child).unwrap();
        });
        let End::Crashed { task, crash, code, last } = execution.end else { panic!("{execution:?}") };
        assert_eq!((task, crash, last.location.line()), (TaskId(1), expected, line));
        assert_ne!(code, 0);
        // Nothing runs any more.
        assert!(log.take().is_empty());
        assert!(engine.run(&mut RandomWalk::new(0), || drop(Lock::new().lock())).end.is_finished());
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_stack_that_is_used_up() {
    #[allow(unconditional_recursion)]
    fn recurse(depth: u64) -> u64 {
        std::hint::black_box([depth; 16]);
        1 + recurse(depth + 1)
    }
    let log = Log::default();
    let mut engine = Engine::new(Config { stack_size: 64 << 10, ..Config::default() });
    for _ in 0..3 {
        let line = line!() + 4;
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let value = Dropped(log.clone(), "unwound");
            let child = spawn(|| {
                drop(Lock::new().lock());
                recurse(0);
            });
            let _value = value;
            join(child).unwrap();
        });
        let End::StackOverflow { task, last } = execution.end else { panic!("{execution:?}") };
        assert_eq!((task, last.location.line()), (TaskId(1), line));
        // Nothing runs any more.
        assert!(log.take().is_empty());
    }
    assert!(engine.run(&mut RandomWalk::new(0), || drop(Lock::new().lock())).end.is_finished());
}

#[test]
fn a_stack_that_is_used_up_in_steps() {
    fn recurse(locks: &Rc<Vec<Lock>>, depth: usize) -> usize {
        let _guard = locks[depth].lock();
        if depth + 1 == locks.len() { 1 } else { 1 + recurse(locks, depth + 1) }
    }
    let log = Log::default();
    let locks = |depth: usize| Rc::new((0..depth).map(|_| Lock::new()).collect::<Vec<_>>());
    let mut engine = Engine::new(Config { stack_size: 64 << 10, ..Config::default() });
    let mut run = |depth: usize| {
        let program = || {
            let _value = Dropped(log.clone(), "unwound");
            let locks = locks(depth);
            join(spawn(move || assert_eq!(recurse(&locks, 0), depth))).unwrap();
        };
        engine.run(&mut RandomWalk::new(0), program).end
    };
    for _ in 0..3 {
        let End::StackOverflow { task, last } = run(10_000) else { panic!("no overflow") };
        assert_eq!((task, last.location.file()), (TaskId(1), file!()));
        // It was seen in time: all tasks have unwound.
        assert_eq!(log.take(), ["unwound"]);
    }
    assert!(run(50).is_finished());
}

#[test]
fn a_deep_recursion_that_fits() {
    fn recurse(depth: u64) -> u64 {
        std::hint::black_box([depth; 16]);
        if depth == 0 { 0 } else { 1 + recurse(depth - 1) }
    }
    assert!(run_once(|| assert_eq!(recurse(1000), 1000)).end.is_finished());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_abort_of_std_itself_is_a_result() {
    use interloper_scheduler::runtime::Exit;

    let log = Log::default();
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        let line = line!() + 4;
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let value = Dropped(log.clone(), "unwound");
            let child = spawn(|| {
                drop(Lock::new().lock());
                std::process::abort();
            });
            let _value = value;
            join(child).unwrap();
        });
        let End::Exited { task, exit, location, .. } = execution.end else { panic!("{execution:?}") };
        assert_eq!((task, exit, location.line()), (TaskId(1), Exit::Abort, line));
        // Nothing runs any more.
        assert!(log.take().is_empty());
    }
    assert!(engine.run(&mut RandomWalk::new(0), || drop(Lock::new().lock())).end.is_finished());
}

#[test]
fn a_step_that_does_not_come_to_its_end_is_named() {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, Sender};
    use std::time::Duration;

    use interloper_scheduler::{Stuck, Watchdog};

    // A channel that is not under control; the watchdog puts something into it.
    static OUTSIDE: Mutex<Option<Sender<()>>> = Mutex::new(None);
    static TOLD: Mutex<Option<Stuck>> = Mutex::new(None);
    // A loaded machine may delay other steps for as long: an alarm before this is set is not answered.
    static WAITS: AtomicBool = AtomicBool::new(false);
    let (sender, receiver): (_, Receiver<()>) = std::sync::mpsc::channel();
    *OUTSIDE.lock().unwrap() = Some(sender);
    let then = |stuck: &Stuck| {
        if !WAITS.load(Ordering::SeqCst) {
            return;
        }
        *TOLD.lock().unwrap() = Some(stuck.clone());
        if let Some(sender) = OUTSIDE.lock().unwrap().take() {
            let _ = sender.send(());
        }
    };
    let watchdog =
        Watchdog { program: Some("reading".to_owned()), patience: Duration::from_millis(20), interrupts: false, then };
    let mut engine = Engine::new(Config { watchdog: Some(watchdog), ..Config::default() });
    let line = line!() + 3;
    let execution = engine.run(&mut RandomWalk::new(0), || {
        let child = spawn_named("reader", move || {
            drop(Lock::new().lock());
            WAITS.store(true, Ordering::SeqCst);
            receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        });
        join(child).unwrap();
    });
    assert!(execution.end.is_finished(), "{execution:?}");
    let stuck = TOLD.lock().unwrap().take().unwrap();
    let location = stuck.location.unwrap();
    assert_eq!((stuck.task, location.file(), location.line()), (TaskId(1), file!(), line));
    let told = |program: &str, who: &str, place: &str| {
        format!(
            "{program}{who} made no step for 20 ms: it loops without synchronising, or waits for something outside \
             control (a lock or a channel of the real std, a file, a socket); {place}"
        )
    };
    let place = format!("its last step was at {location}");
    assert_eq!(stuck.to_string(), told("reading: ", "reader", &place));
    let nameless = Stuck { program: None, name: None, ..stuck };
    assert_eq!(nameless.to_string(), told("", "thread 1", &place));
    let first = Stuck { location: None, ..nameless };
    assert_eq!(first.to_string(), told("", "thread 1", "the program has made no step yet"));
}

/// A place of the engine's caller is not a place of the program.
#[test]
fn a_first_step_that_does_not_come_to_its_end_has_no_place() {
    use std::sync::Mutex;
    use std::time::Duration;

    use interloper_scheduler::{Stuck, Watchdog};

    static TOLD: Mutex<Vec<Option<u32>>> = Mutex::new(Vec::new());
    let then = |stuck: &Stuck| TOLD.lock().unwrap().push(stuck.location.map(|location| location.line()));
    let watchdog = Watchdog { program: None, patience: Duration::from_millis(20), interrupts: false, then };
    let mut engine = Engine::new(Config { watchdog: Some(watchdog), ..Config::default() });
    let wait = |told: &dyn Fn(&Option<u32>) -> bool| while !TOLD.lock().unwrap().iter().any(told) {};
    let line = line!() + 4;
    for _ in 0..2 {
        let execution = engine.run(&mut RandomWalk::new(0), || {
            wait(&|told| told.is_none());
            drop(Lock::new().lock());
            wait(&|told| *told == Some(line));
        });
        assert!(execution.end.is_finished(), "{execution:?}");
        TOLD.lock().unwrap().clear();
    }
}

/// One thread watches all engines: after an engine with much patience, during a sleep of the thread, and after another
/// engine's watchdog has panicked.
#[test]
fn each_engine_is_watched_with_its_own_patience() {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use interloper_scheduler::{Stuck, Watchdog};

    static TOLD: AtomicU32 = AtomicU32::new(0);
    let engine = |millis, then: fn(&Stuck)| {
        let patience = Duration::from_millis(millis);
        let watchdog = Watchdog { program: None, patience, interrupts: false, then };
        Engine::new(Config { watchdog: Some(watchdog), ..Config::default() })
    };
    fn told(stuck: &Stuck) {
        assert_eq!(stuck.patience, Duration::from_millis(20), "this engine has more patience: {stuck}");
        TOLD.fetch_add(1, Ordering::SeqCst);
    }
    let panics = |stuck: &Stuck| {
        told(stuck);
        panic!("a watchdog that panics, as it is meant to");
    };
    // Each step waits until the watchdog has named it so many times.
    let waits = |engine: &mut Engine, times| {
        let until = TOLD.load(Ordering::SeqCst) + times;
        let execution = engine.run(&mut RandomWalk::new(0), || while TOLD.load(Ordering::SeqCst) < until {});
        assert!(execution.end.is_finished(), "{execution:?}");
    };
    let _patient = engine(100_000, told);
    waits(&mut engine(20, told), 1);
    // The thread now waits for the patient engine alone.
    std::thread::sleep(Duration::from_millis(50));
    waits(&mut engine(20, panics), 2);
    waits(&mut engine(20, told), 2);
}

/// A hunt has an engine for each of some thousand schemas.
#[cfg(target_os = "linux")]
#[test]
fn engines_share_the_thread_that_watches() {
    use interloper_scheduler::Watchdog;

    let watchers = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path().join("comm"));
        threads.filter(|name| std::fs::read_to_string(name).is_ok_and(|name| name.trim() == "watchdog")).count()
    };
    let engines: Vec<Engine> = (0..3)
        .map(|_| Engine::new(Config { watchdog: Some(Watchdog::new(Watchdog::PATIENCE)), ..Config::default() }))
        .collect();
    // The thread may not have its name yet.
    while watchers() == 0 {}
    assert_eq!(watchers(), 1);
    drop(engines);
}

#[test]
fn a_watchdog_is_silent_while_steps_are_made() {
    use interloper_scheduler::{Stuck, Watchdog};

    // Many executions of many steps, and an engine at rest: longer in sum than any one step is.
    let then = |stuck: &Stuck| panic!("{stuck}");
    let watchdog = Watchdog { program: None, patience: Watchdog::PATIENCE, interrupts: false, then };
    let mut engine = Engine::new(Config { watchdog: Some(watchdog), ..Config::default() });
    for _ in 0..100 {
        let execution = engine.run(&mut RandomWalk::new(0), || (0..100).for_each(|_| drop(Lock::new().lock())));
        assert!(execution.end.is_finished());
    }
}

/// Ends within the patience of a watchdog, and the engine goes on.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[track_caller]
fn check_interrupted(body: impl Fn() + Copy + 'static) {
    use std::time::Duration;

    use interloper_scheduler::Watchdog;

    let watchdog = Watchdog::new(Duration::from_millis(200)).of("hangs");
    let mut engine = Engine::new(Config { watchdog: Some(watchdog), ..Config::default() });
    for _ in 0..2 {
        let line = line!() + 3;
        let execution = engine.run(&mut RandomWalk::new(0), || {
            let child = spawn_named("worker", move || {
                drop(Lock::new().lock());
                body();
            });
            join(child).unwrap();
        });
        let End::Stuck(stuck) = execution.end else { panic!("{execution:?}") };
        let place = stuck.location.map(|location| (location.file(), location.line()));
        assert_eq!((stuck.task, stuck.name.as_deref(), place), (TaskId(1), Some("worker"), Some((file!(), line))));
        assert!(stuck.to_string().starts_with("hangs: worker made no step for 200 ms: "), "{stuck}");
    }
    // The twin: the same program without the loop comes to its end on the same engine.
    assert!(engine.run(&mut RandomWalk::new(0), || drop(Lock::new().lock())).end.is_finished());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_endless_loop_without_steps_is_interrupted() {
    check_interrupted(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    // One that allocates is interrupted where it does not hold the allocator's lock.
    check_interrupted(|| {
        let mut total = 0;
        loop {
            total += std::hint::black_box(vec![1_u8; 100]).len();
            std::hint::black_box(total);
        }
    });
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_wait_outside_control_is_interrupted() {
    check_interrupted(|| {
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        let _ = receiver.recv();
    });
}
