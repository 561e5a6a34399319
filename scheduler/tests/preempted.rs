//! Loads and stores of plain memory as steps. The programs announce them themselves, as the compiler does for traced code.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use interloper_scheduler::decisions::ReplaySource;
use interloper_scheduler::strategies::{
    Exhaustive, Exploration, FirstRun, Guided, Pct, Pos, RandomWalk, Selection, Surw,
};
use interloper_scheduler::{Config, End, Engine, Executions, Failing, FaultKind, Pending, Stopped, Strategy, Watch};
use interloper_std::plain::{self, Quarantine};
use interloper_std::runtime::TaskId;
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicUsize, Ordering};
use interloper_std::thread::{self, JoinHandle};

#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine::new();

/// Two plain variables that tasks share without asking the compiler, each of four bytes.
#[derive(Default)]
#[repr(C, align(8))]
struct Plain([UnsafeCell<u32>; 2]);

// SAFETY: the tasks of an execution run on one thread, one at a time.
unsafe impl Sync for Plain {}

impl Plain {
    fn read(&self, at: usize) -> u32 {
        plain::announce(self.0[at].get().addr(), 4, false);
        // SAFETY: as above.
        unsafe { self.0[at].get().read() }
    }

    fn write(&self, at: usize, value: u32) {
        plain::announce(self.0[at].get().addr(), 4, true);
        // SAFETY: as above.
        unsafe { self.0[at].get().write(value) };
    }

    fn add(&self, at: usize) {
        self.write(at, self.read(at) + 1);
    }

    fn write_both(&self, value: u32) {
        plain::announce(self.0.as_ptr().addr(), 8, true);
        // SAFETY: as above.
        self.0.iter().for_each(|one| unsafe { one.get().write(value) });
    }
}

const STEPS: Watch = Watch { locate: None, races: false, leaks: false, steps: true };

fn engine(watch: Watch) -> Engine {
    Engine::new(Config { plain: Some(watch), step_bound: 20_000, ..Config::default() })
}

/// All executions of a program: the progress of the search, and how often each result came.
fn all<R: Ord>(watch: Watch, program: impl Fn() -> R) -> (Exploration, BTreeMap<R, u64>) {
    let search = || {
        let (mut engine, mut search) = (engine(watch), Exhaustive::new());
        let mut results = BTreeMap::new();
        while search.begin() {
            let mut result = None;
            let execution = engine.run(&mut search, || result = Some(program()));
            search.end(&execution, &engine.trace());
            assert_eq!(execution.end, End::Finished);
            *results.entry(result.expect("the main task has returned")).or_insert(0) += 1;
        }
        (search.exploration().clone(), results)
    };
    let (one, again) = (search(), search());
    assert_eq!(one.0, again.0, "two searches are the same");
    assert!(one.1 == again.1, "and so are their results");
    one
}

fn child(shared: &Arc<Plain>, body: impl FnOnce(&Plain) + Send + 'static) -> JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || body(&shared))
}

/// Each task reads a variable and writes it.
fn counted(tasks: usize, of: impl Fn(usize) -> usize) -> u32 {
    let shared = Arc::new(Plain::default());
    let children: Vec<_> = (0..tasks)
        .map(|task| {
            let at = of(task);
            child(&shared, move |shared| shared.add(at))
        })
        .collect();
    children.into_iter().for_each(|child| child.join().unwrap());
    shared.read(0)
}

/// A trace of n tasks that each read and write one variable: the order of the writes, n!, and for the task that writes as the
/// k-th, how many of the k-1 writes before its own come before its read. So n! · n! traces: 4 and 36. With two tasks, the count
/// is 2 if one reads what the other has written, which is in 2 of them.
#[test]
fn each_order_of_loads_and_stores_is_one_execution() {
    let (search, results) = all(STEPS, || counted(2, |_| 0));
    assert_eq!((search.traces, search.redundant, search.complete), (4, 0, true), "{search:?}");
    assert_eq!(results, BTreeMap::from([(1, 2), (2, 2)]));
    let (search, results) = all(STEPS, || counted(3, |_| 0));
    assert_eq!((search.traces, search.redundant, search.complete), (36, 0, true), "{search:?}");
    // All reads come before all writes but those of the three: 6 orders of writes. Nobody is overwritten: 6 orders of tasks.
    assert_eq!(results.values().sum::<u64>(), 36);
    assert_eq!(results.get(&3), Some(&6));
}

/// Without the option nothing comes between, so no update is lost.
#[test]
fn without_the_option_nothing_comes_between() {
    let (search, results) = all(Watch { steps: false, ..STEPS }, || counted(2, |_| 0));
    assert!(search.complete);
    assert_eq!(results.keys().copied().collect::<Vec<_>>(), [2]);
    let execution = engine(Watch { steps: false, ..STEPS }).run(&mut RandomWalk::new(1), || _ = counted(2, |_| 0));
    assert_eq!(execution.plain_steps, 0);
}

/// The two variables are in one word.
#[test]
fn accesses_to_different_bytes_do_not_depend_on_each_other() {
    let (search, _) = all(STEPS, || counted(2, |task| task));
    assert_eq!((search.traces, search.complete), (1, true), "{search:?}");
}

/// A store to both at once comes before both loads, between them, or after them.
#[test]
fn an_access_to_several_pieces_is_one_step() {
    let (search, results) = all(STEPS, || {
        let shared = Arc::new(Plain::default());
        let writer = child(&shared, |shared| shared.write_both(7));
        let seen = (shared.read(0), shared.read(1));
        writer.join().unwrap();
        seen
    });
    assert_eq!((search.traces, search.complete), (3, true), "{search:?}");
    assert_eq!(results.into_keys().collect::<Vec<_>>(), [(0, 0), (0, 7), (7, 7)]);
}

/// The loads of a task commute with those of others.
#[test]
fn loads_alone_are_one_trace() {
    let (search, results) = all(STEPS, || {
        let shared = Arc::new(Plain::default());
        let children: Vec<_> = (0..3).map(|_| child(&shared, |shared| _ = (shared.read(0), shared.read(0)))).collect();
        children.into_iter().for_each(|child| child.join().unwrap());
    });
    assert_eq!((search.traces, search.complete), (1, true), "{search:?}");
    assert_eq!(results.len(), 1);
}

/// The main task allocates and writes; the other one only reads, once. Whoever comes first, the main task's stores are steps:
/// that only it has been there so far does not make the memory its own.
#[test]
fn who_came_first_does_not_matter() {
    let (search, results) = all(STEPS, || {
        let shared = Arc::new(Plain::default());
        let reader = thread::spawn({
            let shared = shared.clone();
            move || shared.read(0)
        });
        shared.write(0, 1);
        shared.write(0, 2);
        reader.join().unwrap()
    });
    assert_eq!((search.traces, search.complete), (3, true), "{search:?}");
    assert_eq!(results, BTreeMap::from([(0, 1), (1, 1), (2, 1)]));
}

/// Both tasks use memory of their own, on the heap and on the stack.
fn alone() {
    let work = || {
        let (block, on_stack) = (Box::new(Plain::default()), Plain::default());
        for _ in 0..3 {
            block.add(0);
            on_stack.add(1);
        }
        assert_eq!((block.read(0), on_stack.read(1)), (3, 3));
    };
    let children = [thread::spawn(work), thread::spawn(work)];
    children.into_iter().for_each(|child| child.join().unwrap());
}

#[test]
fn what_no_other_task_can_have_reached_is_no_step() {
    let (with, _) = all(STEPS, alone);
    let (without, _) = all(Watch { steps: false, ..STEPS }, alone);
    assert_eq!((with.traces, with), (1, without));
    for seed in 0..50 {
        let run = |watch| {
            let mut engine = engine(watch);
            let execution = engine.run(&mut RandomWalk::new(seed), alone);
            (execution.plain_steps, execution.plain > 0, execution.steps, engine.decisions().to_vec())
        };
        let with = run(STEPS);
        assert_eq!((with.0, with.1), (0, true), "they are seen");
        assert_eq!(with, run(Watch { steps: false, ..STEPS }));
    }
}

/// A block is its task's until that stores where it is. The task that finds it changes it, and so does the one that made it.
#[test]
fn a_block_is_shared_once_its_address_was_stored() {
    let program = || {
        let place = Arc::new(AtomicUsize::new(0));
        let finder = thread::spawn({
            let place = place.clone();
            move || {
                let address = place.load(Ordering::SeqCst);
                if address != 0 {
                    let found: *const Plain = std::ptr::with_exposed_provenance(address);
                    // SAFETY: the main task frees it after this one.
                    unsafe { (*found).add(0) };
                }
            }
        });
        let block = Box::into_raw(Box::new(Plain::default()));
        // SAFETY: it was made by a box, which takes it back after the other task has ended.
        let block = unsafe {
            (*block).add(1);
            place.store(block.expose_provenance(), Ordering::SeqCst);
            (*block).add(0);
            finder.join().unwrap();
            Box::from_raw(block)
        };
        block.read(0)
    };
    // The load finds nothing; or the two add: four traces.
    let (search, results) = all(STEPS, program);
    assert_eq!((search.traces, search.complete), (5, true), "{search:?}");
    assert_eq!(results, BTreeMap::from([(1, 3), (2, 2)]));
}

/// The memory is on the stack of the main task.
#[test]
fn the_stack_of_a_task_is_shared_when_another_one_knows_of_it() {
    let program = || {
        let on_stack = Plain::default();
        let address = std::ptr::from_ref(&on_stack).expose_provenance();
        let child = thread::spawn(move || {
            let shared: *const Plain = std::ptr::with_exposed_provenance(address);
            // SAFETY: the main task waits for this one.
            unsafe { (*shared).add(0) };
        });
        on_stack.add(0);
        child.join().unwrap();
        on_stack.read(0)
    };
    let (search, results) = all(STEPS, program);
    assert_eq!((search.traces, search.complete), (4, true), "{search:?}");
    assert_eq!(results, BTreeMap::from([(1, 2), (2, 2)]));
}

/// The other task waits in a loop for a plain flag.
fn waits(sets: bool) {
    let shared = Arc::new(Plain::default());
    let waiter = child(&shared, |shared| while shared.read(0) == 0 {});
    if sets {
        shared.write(0, 1);
    }
    waiter.join().unwrap();
}

/// A task that prefers the newest.
struct Newest;

impl Strategy for Newest {
    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        pending.len() - 1
    }
}

#[test]
fn a_loop_that_waits_lets_others_go_on() {
    let strategies: [Box<dyn Strategy>; 5] = [
        Box::new(Newest),
        Box::new(FirstRun),
        Box::new(RandomWalk::new(3)),
        Box::new(Pos::new(3)),
        Box::new(Pct::new(3, 3)),
    ];
    for mut strategy in strategies {
        assert!(strategy.begin());
        let execution = engine(STEPS).run(&mut *strategy, || waits(true));
        assert_eq!(execution.end, End::Finished);
        assert!(execution.steps < 300, "{}", execution.steps);
    }
    let (search, _) = all(STEPS, || waits(true));
    assert!(search.traces < 100, "{search:?}");
    let end = engine(STEPS).run(&mut Newest, || waits(false)).end;
    assert!(matches!(end, End::StepBound(_)), "{end}");
}

/// The rounds of the loop write, as those of Peterson's algorithm do, and leave everything as it was.
#[test]
fn a_loop_that_waits_may_write() {
    let execution = engine(STEPS).run(&mut Newest, || {
        let shared = Arc::new(Plain::default());
        let waiter = child(&shared, |shared| {
            while shared.read(0) == 0 {
                shared.write(1, 1);
            }
        });
        shared.write(0, 1);
        waiter.join().unwrap();
    });
    assert_eq!(execution.end, End::Finished);
    assert!(execution.steps < 600, "{}", execution.steps);
}

/// A long loop over data looks like a loop that waits. It is none, so it is no livelock.
#[test]
fn a_long_loop_that_only_reads_ends() {
    let config = Config { plain: Some(STEPS), livelock_rounds: 1_000, ..Config::default() };
    let execution = Engine::new(config).run(&mut Newest, || {
        let shared = Arc::new(Plain::default());
        let reader = child(&shared, |shared| (0..5_000).for_each(|_| _ = shared.read(0)));
        reader.join().unwrap();
    });
    assert_eq!(execution.end, End::Finished);
    assert!(execution.plain_steps >= 5_000);
}

/// Nobody joins the child, which looks at a plain flag for ever.
#[test]
fn the_end_of_the_program_ends_a_loop_over_plain_memory() {
    let mut engine = engine(STEPS);
    for seed in 0..20 {
        let end = engine.run(&mut RandomWalk::new(seed), || {
            let shared = Arc::new(Plain::default());
            drop(child(&shared, |shared| while shared.read(0) == 0 {}));
            shared.add(1);
        });
        assert_eq!(end.end, End::Finished);
    }
}

/// The heap may lie directly above a stack. What is there is not the task's alone.
#[test]
fn memory_above_a_stack_is_not_of_the_stack() {
    let mut engine = engine(STEPS);
    let mut steps = |above: usize| {
        let program = move || {
            let here = 0_u8;
            plain::announce(std::ptr::from_ref(&here).addr() + above, 1, false);
        };
        engine.run(&mut FirstRun, program).plain_steps
    };
    assert_eq!(steps(0), 0);
    // The first frames of a task are far smaller than this.
    assert_eq!(steps(16 << 10), 1);
}

struct AddsAtLast(Arc<Plain>);

impl Drop for AddsAtLast {
    fn drop(&mut self) {
        self.0.add(0);
    }
}

/// One task panics, and its destructors access plain memory while it unwinds.
#[test]
fn destructors_of_a_task_that_panics_make_steps() {
    let mut results = BTreeMap::new();
    let mut engine = engine(STEPS);
    for seed in 0..200 {
        let mut last = 0;
        let execution = engine.run(&mut RandomWalk::new(seed), || {
            let shared = Arc::new(Plain::default());
            let broken = thread::spawn({
                let last = AddsAtLast(shared.clone());
                move || {
                    let _last = last;
                    std::panic::resume_unwind(Box::new("broken"));
                }
            });
            let other = child(&shared, |shared| shared.add(0));
            assert!(broken.join().is_err());
            other.join().unwrap();
            last = shared.read(0);
        });
        assert_eq!((execution.end, execution.plain_steps), (End::Finished, 5));
        *results.entry(last).or_insert(0) += 1;
    }
    // It is not preempted while it unwinds. The other one can be, between its load and its store.
    assert!(results.len() == 2 && results[&1] > 10 && results[&2] > 10, "{results:?}");
}

/// The main task panics while others are in the middle of their loads and stores, with a lock held.
#[test]
fn tasks_that_access_plain_memory_end_with_the_execution() {
    let mut engine = engine(STEPS);
    let mut finished = 0;
    for seed in 0..200 {
        let execution = engine.run(&mut RandomWalk::new(seed), || {
            let shared = Arc::new((Mutex::new(()), Plain::default()));
            let children: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let _guard = shared.0.lock().unwrap();
                        shared.1.add(0);
                        shared.1.add(0);
                    })
                })
                .collect();
            assert!(shared.1.read(0) == 0, "changed");
            children.into_iter().for_each(|child| child.join().unwrap());
        });
        match execution.end {
            End::Finished => finished += 1,
            End::Panicked(report) => assert_eq!(report.message, "changed"),
            end => panic!("{end}"),
        }
    }
    assert!((20..195).contains(&finished), "{finished}");
}

#[test]
fn races_are_faults_as_before() {
    for seed in 0..100 {
        let watch = Watch { races: true, ..STEPS };
        let End::Memory(fault) = engine(watch).run(&mut RandomWalk::new(seed), || _ = counted(2, |_| 0)).end else {
            panic!("the tasks race in every execution");
        };
        assert_eq!(fault.kind, FaultKind::Race);
    }
    // With a lock there is nothing to find, and nothing is lost.
    let (search, results) = all(Watch { races: true, ..STEPS }, || {
        let shared = Arc::new((Mutex::new(()), Plain::default()));
        let add = |shared: &(Mutex<()>, Plain)| {
            let _guard = shared.0.lock().unwrap();
            shared.1.add(0);
        };
        let child = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        add(&shared);
        child.join().unwrap();
        shared.1.read(0)
    });
    assert!(search.complete);
    assert_eq!(results.into_keys().collect::<Vec<_>>(), [2]);
}

fn loses() {
    assert_eq!(counted(2, |_| 0), 2, "an update is lost");
}

fn lost(end: &End) -> bool {
    matches!(end, End::Panicked(report) if report.message.contains("an update is lost"))
}

/// Every strategy finds the lost update; the finding is replayed, and shrunk to one preemption.
#[test]
fn a_lost_update_is_found_replayed_and_shrunk() {
    let strategies: [fn(u64) -> Box<dyn Strategy>; 5] = [
        |seed| Box::new(RandomWalk::new(seed)),
        |seed| Box::new(Pos::new(seed)),
        |seed| Box::new(Pct::new(seed, 3)),
        |seed| Box::new(Surw::new(seed, Selection::OneObject)),
        |_| Box::new(Exhaustive::new()),
    ];
    for (number, strategy) in strategies.iter().enumerate() {
        let find = || {
            let (mut engine, mut strategy) = (engine(STEPS), strategy(42));
            let explored = engine.explore(&mut *strategy, Executions::AtMost(500), loses, |engine, execution| {
                let found = lost(&execution.end).then(|| engine.failing(&execution));
                found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
            });
            let Stopped::Broken(failing) = explored.stopped else { panic!("strategy {number} finds nothing") };
            (failing, engine.trace().to_vec())
        };
        let ((failing, trace), again) = (find(), find());
        assert_eq!((&failing, &trace), (&again.0, &again.1), "strategy {number} twice");
        let mut engine = engine(STEPS);
        let Failing { decisions, preemptions, .. } =
            engine.shrink(failing, Executions::AtMost(1_000), loses, |_, execution| lost(&execution.end)).smallest;
        assert_eq!(preemptions, 1, "strategy {number}: {decisions}");
        let mut replay = Guided::new(ReplaySource::new(decisions.to_string().parse().unwrap()));
        assert!(lost(&engine.run(&mut replay, loses).end));
        assert_eq!(replay.into_source().finish(), Ok(()));
    }
}

/// As a call of a collection with locks of its own, which nobody under control can wait for.
#[test]
fn a_call_that_must_not_be_interrupted_is_not() {
    let program = |marked: bool| {
        let shared = Arc::new((AtomicUsize::new(0), Plain::default()));
        let call = move |shared: &(AtomicUsize, Plain)| {
            shared.0.fetch_add(1, Ordering::SeqCst);
            if marked {
                plain::call_begins();
            }
            shared.1.add(0);
            if marked {
                plain::call_ends();
            }
            // What follows is a step again.
            shared.1.add(1);
        };
        let child = thread::spawn({
            let shared = shared.clone();
            move || call(&shared)
        });
        call(&shared);
        child.join().unwrap();
        (shared.1.read(0), shared.1.read(1))
    };
    let (_, results) = all(STEPS, || program(true));
    assert_eq!(results.into_keys().collect::<Vec<_>>(), [(2, 1), (2, 2)]);
    let (_, results) = all(STEPS, || program(false));
    assert_eq!(results.into_keys().collect::<Vec<_>>(), [(1, 1), (1, 2), (2, 1), (2, 2)]);
}

/// What the strategy does wrong does not come out of a load.
#[test]
fn a_strategy_that_panics_ends_the_run() {
    struct Breaks;
    impl Strategy for Breaks {
        fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
            let is_plain = |pending: &Pending| pending.operation.location.line() == 0;
            assert!(!pending.iter().any(is_plain), "at plain memory");
            0
        }
    }
    let mut engine = engine(STEPS);
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.run(&mut Breaks, loses).end));
    assert!(broken.is_err());
    assert_eq!(engine.run(&mut FirstRun, || _ = counted(1, |_| 0)).end, End::Finished);
}
