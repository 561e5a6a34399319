//! Exhaustive search against a brute force that knows nothing of it: an interpreter that tries every schedule and counts
//! the classes of those that differ in the order of independent steps only.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::Location;
use std::rc::Rc;

use interloper_scheduler::decisions::mix;
use interloper_scheduler::runtime::{Action, Count, Mode, ObjectId, ObjectKind, Operation, TaskId};
use interloper_scheduler::strategies::{Cut, Exhaustive, Exploration};
use interloper_scheduler::{
    Config, Detached, End, Engine, Executions, Fingerprint, Fingerprints, Freedom, Freedoms, Shard, Stopped, Strategy,
    Unlock,
};

use crate::common::*;
use crate::continuing::{Continued, check_what_learns};
use crate::programs::*;

/// A step of a small program. Variables and locks are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Op {
    Read(u32),
    Write(u32),
    Take(u32),
    TakeShared(u32),
    Give(u32),
    /// Takes the lock if it is free. It is given back by the next step, if it was.
    Try(u32),
}

use Op::*;

/// The steps of each task.
type Program = Vec<Vec<Op>>;

impl Op {
    fn is_write(self) -> bool {
        !matches!(self, Read(_) | TakeShared(_))
    }

    fn object(self) -> (bool, u32) {
        match self {
            Read(object) | Write(object) => (false, object),
            Take(object) | TakeShared(object) | Give(object) | Try(object) => (true, object),
        }
    }
}

// The brute force.

/// A schedule is the list of tasks that make a step. Each step is (task, number of the step, operation).
type Schedule = Vec<(usize, usize, Op)>;

/// Who holds each lock: the tasks, and whether shared.
fn holders(schedule: &Schedule, failed: &BTreeSet<(usize, usize)>, lock: u32) -> Vec<(usize, bool)> {
    let mut holders: Vec<(usize, bool)> = Vec::new();
    for &(task, number, op) in schedule {
        match op {
            Take(object) if object == lock => holders.push((task, false)),
            TakeShared(object) if object == lock => holders.push((task, true)),
            Try(object) if object == lock && !failed.contains(&(task, number)) => holders.push((task, false)),
            Give(object) if object == lock => holders.retain(|holder| holder.0 != task),
            _ => {}
        }
    }
    holders
}

/// All schedules that go on until no task can, in a normal form: of those that are equivalent, the one that is first.
fn traces(program: &Program) -> BTreeSet<Schedule> {
    fn go_on(
        program: &Program,
        next: &mut [usize],
        schedule: &mut Schedule,
        failed: &mut BTreeSet<(usize, usize)>,
        found: &mut BTreeSet<Schedule>,
    ) {
        let mut stuck = true;
        for task in 0..program.len() {
            let number = next[task];
            let Some(&op) = program[task].get(number) else { continue };
            let (is_lock, object) = op.object();
            let held = if is_lock { holders(schedule, failed, object) } else { Vec::new() };
            let enabled = match op {
                Take(_) => held.is_empty(),
                TakeShared(_) => held.iter().all(|holder| holder.1),
                _ => true,
            };
            if !enabled {
                continue;
            }
            stuck = false;
            let fails = matches!(op, Try(_)) && !held.is_empty();
            if fails {
                failed.insert((task, number));
            }
            schedule.push((task, number, op));
            // After an attempt that failed there is nothing to give back.
            next[task] += if fails { 2 } else { 1 };
            go_on(program, next, schedule, failed, found);
            next[task] = number;
            schedule.pop();
            failed.remove(&(task, number));
        }
        if stuck {
            found.insert(normal_form(schedule));
        }
    }
    let mut found = BTreeSet::new();
    go_on(program, &mut vec![0; program.len()], &mut Vec::new(), &mut BTreeSet::new(), &mut found);
    found
}

fn dependent(a: (usize, usize, Op), b: (usize, usize, Op)) -> bool {
    // Giving back a shared lock is a step like taking it shared: it is written for the readers below.
    a.0 == b.0 || (a.2.object() == b.2.object() && (a.2.is_write() || b.2.is_write()))
}

/// Takes, again and again, the step of the smallest task that nothing before it depends on.
fn normal_form(schedule: &Schedule) -> Schedule {
    let mut left = schedule.clone();
    let mut normal = Vec::new();
    while !left.is_empty() {
        let free = |at: &usize| !left[..*at].iter().any(|&before| dependent(before, left[*at]));
        let first = (0..left.len()).filter(free).min_by_key(|&at| left[at].0).unwrap();
        normal.push(left.remove(first));
    }
    normal
}

// The same program on the engine.

fn execute(program: &Program) {
    let objects = Rc::new(runtime(|runtime| {
        let objects = || [(); 3].map(|()| runtime.register(ObjectKind::Other("small")));
        (objects(), objects())
    }));
    let tasks: Vec<TaskId> = program
        .iter()
        .map(|ops| {
            let (ops, objects) = (ops.clone(), objects.clone());
            spawn(move || perform(&ops, &objects.0, &objects.1))
        })
        .collect();
    tasks.into_iter().for_each(|task| join(task).unwrap());
}

fn perform(ops: &[Op], variables: &[ObjectId], locks: &[ObjectId]) {
    let location = Location::caller();
    let mut modes = [Mode::Exclusive; 3];
    let mut ops = ops.iter();
    while let Some(&op) = ops.next() {
        runtime(|runtime| match op {
            Read(object) => {
                runtime.step(Operation { object: variables[object as usize], action: Action::Read, location })
            }
            Write(object) => {
                runtime.step(Operation { object: variables[object as usize], action: Action::Write, location })
            }
            Take(lock) | TakeShared(lock) => {
                modes[lock as usize] = if op == Take(lock) { Mode::Exclusive } else { Mode::Shared };
                runtime.acquire(locks[lock as usize], modes[lock as usize], location);
            }
            Give(lock) => runtime.release(locks[lock as usize], modes[lock as usize], location),
            Try(lock) => {
                modes[lock as usize] = Mode::Exclusive;
                if !runtime.try_acquire(locks[lock as usize], Mode::Exclusive, location) {
                    ops.next();
                }
            }
        });
    }
}

fn explore(config: Config, program: impl Fn()) -> (Exploration, Vec<End>) {
    // What is called from here on is compiled once for all programs.
    let program: &dyn Fn() = &program;
    let mut strategy = Exhaustive::new();
    let shown = explore_by(&config, program, &mut strategy);
    // Another process continues the search after each execution.
    let mut continued = Continued::new(Exhaustive::new);
    assert!(explore_by(&config, program, &mut continued) == shown);
    assert_eq!(continued.strategy().exploration(), strategy.exploration());
    check_what_learns(&config, program);
    let exploration = strategy.exploration().clone();
    if exploration.complete {
        let traces: BTreeSet<Fingerprint> = shown.iter().map(|(trace, _)| *trace).collect();
        assert_eq!(traces.len() as u64, exploration.traces, "the search and the fingerprints count the same traces");
        // Parts do not ask whether a task waits, so they show more.
        if exploration.probes == 0 {
            check_parts(program, &config, &traces, 3);
        }
    }
    (exploration, shown.into_iter().map(|(_, end)| end).collect())
}

/// The trace and the end of each execution.
fn explore_by(config: &Config, program: impl Fn(), strategy: &mut dyn Strategy) -> Vec<(Fingerprint, End)> {
    let mut engine = Engine::new(config.clone());
    let (mut fingerprints, mut shown) = (Fingerprints::default(), Vec::new());
    let explored = engine.explore(strategy, Executions::AtMost(200_000), program, |engine, execution| {
        shown.push((engine.fingerprint(&mut fingerprints), execution.end));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    shown
}

/// The parts of a search explore what the search explores: no trace is missing, none is explored that there is not, and none twice unless a
/// part says so. Gives the executions of each part, with those that are discarded.
#[track_caller]
fn check_parts(program: impl Fn(), config: &Config, traces: &BTreeSet<Fingerprint>, of: u32) -> Vec<u64> {
    let (mut all, mut counts, mut twice, mut repeats) = (BTreeSet::new(), Vec::new(), 0, false);
    for number in 1..=of {
        let mut engine = Engine::new(config.clone());
        let mut strategy = Exhaustive::new().with_shard(Shard::new(number, of).expect("a shard"));
        let mut fingerprints = Fingerprints::default();
        let explored = engine.explore(&mut strategy, Executions::AtMost(400_000), &program, |engine, _| {
            twice += u64::from(!all.insert(engine.fingerprint(&mut fingerprints)));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(explored.stopped, Stopped::Exhausted);
        assert!(strategy.exploration().complete, "{:?}", strategy.exploration());
        counts.push(strategy.exploration().traces + strategy.exploration().redundant);
        repeats |= strategy.repeats();
    }
    assert_eq!(&all, traces, "{of} parts");
    assert!(repeats || twice == 0, "{of} parts show {twice} traces twice");
    counts
}

/// The traces that a whole search explores, and its executions.
fn whole(program: impl Fn(), config: &Config) -> (BTreeSet<Fingerprint>, u64) {
    let (mut engine, mut strategy) = (Engine::new(config.clone()), Exhaustive::new());
    let (mut fingerprints, mut all, mut executions) = (Fingerprints::default(), BTreeSet::new(), 0);
    engine.explore(&mut strategy, Executions::AtMost(400_000), program, |engine, _| {
        all.insert(engine.fingerprint(&mut fingerprints));
        executions += 1;
        ControlFlow::<()>::Continue(())
    });
    assert!(strategy.exploration().complete, "{:?}", strategy.exploration());
    (all, executions)
}

#[test]
fn parts_of_small_searches_miss_nothing() {
    for unlock in [Unlock::Step, Unlock::Part] {
        let config = Config { unlock, ..Config::default() };
        for tasks in all_tasks(&ROWS, 2).iter().step_by(3) {
            for other in all_tasks(&ROWS, 2).iter().step_by(5) {
                let program = vec![tasks.clone(), other.clone()];
                let (traces, _) = whole(|| execute(&program), &config);
                for of in [2, 8] {
                    check_parts(|| execute(&program), &config, &traces, of);
                }
            }
        }
        for rows in all_tasks(&ROWS, 2) {
            let program = vec![rows.clone(), vec![Try(0), Write(0)], rows];
            let (traces, _) = whole(|| execute(&program), &config);
            check_parts(|| execute(&program), &config, &traces, 4);
        }
    }
}

/// 3 tasks of 4 writes have 12! / (4! 4! 4!) = 34,650 traces. The parts together cost less than 3% more, and the largest of
/// 8 parts is less than a fifth of the whole. The table of docs/how-to/scale.md has these numbers.
#[test]
fn parts_of_a_large_search_cost_little_more() {
    let program = vec![vec![Write(0); 4]; 3];
    let config = Config::default();
    let (traces, executions) = whole(|| execute(&program), &config);
    assert_eq!((traces.len(), executions), (34_650, 34_650));
    let cost = |of| {
        let counts = check_parts(|| execute(&program), &config, &traces, of);
        (counts.iter().sum::<u64>(), counts.into_iter().max().expect("at least one part"))
    };
    assert_eq!([2, 4, 8].map(cost), [(34_796, 20_006), (34_908, 10_990), (35_348, 5_753)]);
}

#[track_caller]
fn check(program: &Program, unlock: Unlock) -> usize {
    let expected = traces(program).len();
    let (exploration, _) = explore(Config { unlock, ..Config::default() }, || execute(program));
    let found =
        Exploration { traces: expected as u64, redundant: 0, probes: 0, complete: true, cut: None, older: None };
    assert_eq!(exploration, found, "{unlock:?} {program:?}");
    expected
}

/// What a task can do, as a short row of steps.
const ROWS: [&[Op]; 6] = [
    &[Read(0)],
    &[Write(0)],
    &[Write(1)],
    &[Take(0), Give(0)],
    &[Take(0), Write(0), Give(0)],
    &[Take(0), Take(1), Give(1), Give(0)],
];

fn all_tasks(rows: &[&[Op]], length: usize) -> Vec<Vec<Op>> {
    let mut tasks: Vec<Vec<Op>> = vec![Vec::new()];
    for _ in 0..length {
        let longer = |task: &Vec<Op>| rows.iter().map(|row| [&task[..], row].concat()).collect::<Vec<_>>();
        tasks = tasks.iter().flat_map(longer).collect();
    }
    tasks
}

#[test]
fn two_tasks_of_two_rows_each() {
    let tasks = all_tasks(&ROWS, 2);
    let mut total = 0;
    for (index, first) in tasks.iter().enumerate() {
        for second in &tasks[index..] {
            let program = vec![first.clone(), second.clone()];
            total += check(&program, Unlock::Step);
            check(&program, Unlock::Part);
        }
    }
    assert!(total > 2000, "{total}");
}

#[test]
fn three_tasks_of_one_or_two_rows() {
    let tasks = [all_tasks(&ROWS, 1), all_tasks(&ROWS, 2)].concat();
    for round in 0..250 {
        let task = |number: u64| tasks[(mix(round, number) % tasks.len() as u64) as usize].clone();
        let program = vec![task(0), task(1), task(2)];
        // The brute force tries each schedule.
        if program.iter().map(Vec::len).sum::<usize>() <= 9 {
            check(&program, if round % 2 == 0 { Unlock::Step } else { Unlock::Part });
        }
    }
}

#[test]
fn attempts_to_take_a_lock() {
    let rows: [&[Op]; 4] = [&[Try(0), Give(0)], &[Take(0), Give(0)], &[Take(0), Write(0), Give(0)], &[Read(0)]];
    let tasks = all_tasks(&rows, 2);
    for (index, first) in tasks.iter().enumerate() {
        for second in &tasks[index..] {
            check(&vec![first.clone(), second.clone()], Unlock::Step);
        }
    }
}

#[test]
fn lock_order_inversions() {
    let ab = vec![Take(0), Take(1), Give(1), Give(0)];
    let ba = vec![Take(1), Take(0), Give(0), Give(1)];
    for unlock in [Unlock::Step, Unlock::Part] {
        // Either task first on both, or the deadlock.
        assert_eq!(check(&vec![ab.clone(), ba.clone()], unlock), 3);
        assert_eq!(check(&vec![ab.clone(), ab.clone()], unlock), 2);
        check(&vec![ab.clone(), ba.clone(), vec![Take(0), Write(0), Give(0)]], unlock);
        let bc = vec![Take(1), Take(2), Give(2), Give(1)];
        let ca = vec![Take(2), Take(0), Give(0), Give(2)];
        check(&vec![ab.clone(), bc, ca], unlock);
    }
}

#[test]
fn a_lock_that_is_never_given_back() {
    for unlock in [Unlock::Step, Unlock::Part] {
        // Whoever is first leaves the other blocked; what the other did before is done in both.
        assert_eq!(check(&vec![vec![Take(0)], vec![Write(1), Take(0)]], unlock), 2);
    }
}

#[test]
fn check_then_withdraw_has_6_traces() {
    // Two tasks of two critical sections each: C(4, 2).
    let program = vec![vec![Take(0), Give(0), Take(0), Give(0)]; 2];
    assert_eq!(check(&program, Unlock::Part), 6);
    assert_eq!(check(&program, Unlock::Step), 6);
    // Three tasks with one section each: 3!
    assert_eq!(check(&vec![vec![Take(0), Give(0)]; 3], Unlock::Part), 6);
    // Figure 1 itself: the balance lets the second task of the two serial orders leave out its withdrawal.
    let strict = Config { unlock: Unlock::Part, detached: Detached::MustEnd, ..Config::default() };
    let (exploration, ends) = explore(strict.clone(), || figure_1_and_2(0));
    // Serial: 2. Both look before either withdraws: 2 orders of looking times 2 of withdrawing.
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (6, 0, true));
    assert_eq!(ends.iter().filter(|end| matches!(end, End::Panicked(_))).count(), 4);
    // In 2 of them the first task panics, and main with it, which then does not join the second: that one leaves its
    // block before the process ends, or does not.
    let (exploration, _) = explore(Config { detached: Detached::GivenUp, ..strict }, || figure_1_and_2(0));
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (8, 0, true));
}

#[test]
fn shared_locks() {
    // Readers do not race with each other: a writer and two readers are ordered by when the writer comes.
    let writer = vec![Take(0), Give(0)];
    let reader = vec![TakeShared(0)];
    for unlock in [Unlock::Step, Unlock::Part] {
        // A reader that keeps the lock blocks the writer: the writer is first for both, or blocked by one of them, or
        // by both, behind the other or not.
        let (exploration, _) = explore(Config { unlock, ..Config::default() }, || {
            let objects = runtime(|runtime| [runtime.register(ObjectKind::RwLock)]);
            let run = |ops: Vec<Op>| spawn(move || perform(&ops, &[], &objects));
            [run(writer.clone()), run(vec![TakeShared(0), Give(0)]), run(vec![TakeShared(0), Give(0)])]
                .into_iter()
                .for_each(|task| join(task).unwrap());
        });
        // Each reader is before or behind the writer.
        assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (4, 0, true));
    }
    check(&vec![writer, reader.clone(), reader], Unlock::Step);
}

#[test]
fn waiting_and_notifying() {
    // Main waits for the condition, the child sets it and notifies: the child takes the lock first, or main does.
    let (exploration, ends) = explore(Config { unlock: Unlock::Part, ..Config::default() }, || {
        let shared = Rc::new((Lock::new(), Condition::default(), std::cell::Cell::new(false)));
        let other = shared.clone();
        let child = spawn(move || {
            let _guard = other.0.lock();
            other.2.set(true);
            other.1.notify(Count::One);
        });
        let guard = shared.0.lock();
        while !shared.2.get() {
            guard.wait(&shared.1, None);
        }
        drop(guard);
        join(child).unwrap();
    });
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (2, 0, true));
    assert!(ends.iter().all(End::is_finished));
    // Without the check a notification can be lost: the deadlock is one of the two.
    let (exploration, ends) = explore(Config { unlock: Unlock::Part, ..Config::default() }, || {
        let shared = Rc::new((Lock::new(), Condition::default()));
        let other = shared.clone();
        spawn(move || {
            let _guard = other.0.lock();
            other.1.notify(Count::One);
        });
        let guard = shared.0.lock();
        guard.wait(&shared.1, None);
    });
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (2, 0, true));
    assert_eq!(ends.iter().filter(|end| matches!(end, End::Deadlock(_))).count(), 1);
}

#[test]
fn which_waiter_is_woken_is_explored() {
    let woken = Log::default();
    let (exploration, ends) = explore(Config { unlock: Unlock::Part, ..Config::default() }, || {
        let lock = Rc::new(Lock::new());
        let queue = lock.id();
        for name in ["a", "b"] {
            let woken = woken.clone();
            spawn(move || {
                let then = Operation { object: queue, action: Action::ReadWrite, location: Location::caller() };
                runtime(|runtime| runtime.block(queue, None, then));
                woken.say(name);
            });
        }
        runtime(|runtime| {
            runtime.sleep(std::time::Duration::from_millis(1), Location::caller());
            runtime.notify(queue, Count::One, Location::caller());
        });
    });
    assert!(exploration.complete, "{exploration:?} {ends:?}");
    let woken: BTreeSet<_> = woken.take().into_iter().collect();
    assert_eq!(woken.len(), 2);
}

#[test]
fn tokens_and_the_ends_of_tasks() {
    // Main parks; the child writes and unparks; main reads behind the unpark in any case: one trace.
    let (exploration, _) = explore(Config::default(), || {
        let variable = Rc::new(Variable::default());
        let (main, other) = (runtime(|runtime| runtime.task()), variable.clone());
        let child = spawn(move || {
            other.set(1);
            runtime(|runtime| runtime.unpark(main, Location::caller()));
        });
        runtime(|runtime| runtime.park(None, Location::caller()));
        assert_eq!(variable.get(), 1);
        join(child).unwrap();
    });
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (1, 0, true));
    // Whether a task has ended is seen or not; its one step can come before or behind the look, but its end, which is
    // part of that step, is what matters.
    let seen = Log::default();
    let (exploration, _) = explore(Config::default(), || {
        let child = spawn(|| ());
        let finished = runtime(|runtime| runtime.is_finished(child, Location::caller()));
        seen.say(finished.to_string());
        join(child).unwrap();
    });
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (2, 0, true));
    assert_eq!(seen.take().into_iter().collect::<BTreeSet<_>>().len(), 2);
}

#[test]
fn tasks_that_spawn_tasks() {
    // Main and a grandchild write the same variable: two orders, however deep the grandchild is.
    let (exploration, _) = explore(Config::default(), || {
        let variable = Rc::new(Variable::default());
        let other = variable.clone();
        let child = spawn(move || {
            let grandchild = spawn(move || other.set(1));
            join(grandchild).unwrap();
        });
        variable.set(2);
        join(child).unwrap();
    });
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (2, 0, true));
}

#[test]
fn loops_that_yield_are_explored_to_all_outcomes() {
    let seen = Log::default();
    let program = || {
        let (flag, value) = (Rc::new(Variable::default()), Rc::new(Variable::default()));
        let other = (flag.clone(), value.clone());
        let child = spawn(move || {
            other.1.set(1);
            other.0.set(1);
            other.1.set(2);
        });
        while flag.get() == 0 {
            runtime(|runtime| runtime.yield_now(Location::caller()));
        }
        seen.say(value.get().to_string());
        join(child).unwrap();
    };
    let both = BTreeSet::from(["1".to_owned(), "2".to_owned()]);
    let (exploration, ends) = explore(Config::default(), program);
    assert!(ends.iter().all(End::is_finished), "{exploration:?}");
    assert_eq!(seen.take().into_iter().collect::<BTreeSet<_>>(), both);
    // A loop that gives up would do so only where a yield need not wait for a change: it is not known to be none.
    assert_eq!((exploration.complete, exploration.cut), (false, Some(Cut::Hints)));
    let freedoms = Freedoms::NONE.with(Freedom::Hints, 2);
    let (exploration, ends) = explore(Config { freedoms, ..Config::default() }, program);
    assert!(exploration.complete && ends.iter().all(End::is_finished), "{exploration:?}");
    assert_eq!(seen.take().into_iter().collect::<BTreeSet<_>>(), both);
}

#[test]
fn a_bound_that_cuts_the_search_is_said() {
    let (exploration, _) = explore(Config { step_bound: 50, ..Config::default() }, || {
        let variable = Variable::default();
        loop {
            variable.add(1);
        }
    });
    assert_eq!((exploration.complete, exploration.cut), (false, Some(Cut::StepBound)));
    let (exploration, _) = explore(Config::default(), || runtime(|runtime| runtime.fail("enough".to_owned())));
    assert_eq!((exploration.complete, exploration.cut), (false, Some(Cut::Failed)));
}

#[test]
fn a_panic_of_the_main_task_hides_no_trace() {
    // Main panics when it reads first; the other order is explored all the same, and the last write, too.
    let program = || {
        let variable = Rc::new(Variable::default());
        let other = variable.clone();
        spawn(move || other.set(1));
        assert_eq!(variable.get(), 1, "too early");
    };
    let (exploration, ends) = explore(Config { detached: Detached::MustEnd, ..Config::default() }, program);
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (2, 0, true));
    assert_eq!(ends.iter().filter(|end| end.is_finished()).count(), 1);
    // Where the process ends with the main task, the child may also have started only, or not even that, when main
    // panics.
    let (exploration, ends) = explore(Config::default(), program);
    assert_eq!((exploration.traces, exploration.redundant, exploration.complete), (4, 0, true));
    assert_eq!(ends.iter().filter(|end| end.is_finished()).count(), 1);
}
