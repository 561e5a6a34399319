//! Which schedules there are, counted by hand.

use std::collections::BTreeSet;
use std::rc::Rc;

use interloper_scheduler::decisions::{Decisions, ReplaySource};
use interloper_scheduler::runtime::Mode;
use interloper_scheduler::strategies::{Guided, RandomWalk};
use interloper_scheduler::{Config, Engine, Strategy};

use crate::common::*;

/// Two tasks that read a variable and write it back incremented; gives the final value.
fn lost_update() -> i32 {
    let variable = Rc::new(Variable::default());
    let add = |variable: Rc<Variable>| move || variable.set(variable.get() + 1);
    let tasks = [spawn(add(variable.clone())), spawn(add(variable.clone()))];
    tasks.into_iter().for_each(|task| join(task).unwrap());
    variable.get()
}

#[test]
fn all_interleavings_of_two_tasks() {
    let results = Log::default();
    let executions = all_schedules(Config::default(), || results.say(lost_update().to_string()));
    // Each task starts, reads and writes: C(6, 3) = 20 orders; and the first join of the main task is enabled once the
    // first task has ended: it can come at any point from there on, the second one at the end. For the first task at
    // its end at position p of the 6, the join comes at one of 6 - p + 1 places.
    // Orders with the third step of the first task at position p: C(p - 1, 2).
    let by_hand: u64 = (3..=6).map(|p| (p - 1) * (p - 2) / 2 * (6 - p + 1)).sum();
    assert_eq!(executions.len() as u64, by_hand);
    assert_eq!(by_hand, 4 + 3 * 3 + 6 * 2 + 10);
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
    let results = results.take();
    assert_eq!(results.iter().collect::<BTreeSet<_>>().len(), 2);
    assert!(results.iter().any(|result| result == "1") && results.iter().any(|result| result == "2"));
}

#[test]
fn a_lock_that_is_held_is_not_offered() {
    let inside = Rc::new(std::cell::Cell::new(0));
    let executions = all_schedules(Config::default(), || {
        let lock = Rc::new(Lock::new());
        let section = |lock: Rc<Lock>, inside: Rc<std::cell::Cell<i32>>| {
            move || {
                let _guard = lock.lock();
                assert_eq!(inside.replace(1), 0);
                inside.set(0);
            }
        };
        let first = spawn(section(lock.clone(), inside.clone()));
        section(lock.clone(), inside.clone())();
        join(first).unwrap();
    });
    // Steps: s l u of the child, L U J of the main task, where the pairs exclude each other and J is last. Written out:
    let expected = ["s l u L U J", "s L U l u J", "L s U l u J", "L U s l u J"];
    assert_eq!(executions.len(), expected.len());
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
}

#[test]
fn giving_back_at_once_loses_no_outcome() {
    use interloper_scheduler::Unlock;
    let run = |unlock: Unlock, tries: bool| {
        let orders = Log::default();
        let executions = all_schedules(Config { unlock, ..Config::default() }, || {
            let lock = Rc::new(Lock::new());
            let order = Rc::new(std::cell::RefCell::new(String::new()));
            let twice = |name: &'static str| {
                let (lock, order) = (lock.clone(), order.clone());
                move || {
                    for _ in 0..2 {
                        if tries {
                            let taken = lock.try_lock_as(Mode::Exclusive).is_some();
                            order.borrow_mut().push_str(if taken { name } else { "-" });
                        } else {
                            let _guard = lock.lock();
                            order.borrow_mut().push_str(name);
                        }
                    }
                }
            };
            let child = spawn(twice("c"));
            twice("m")();
            join(child).unwrap();
            orders.say(order.borrow().clone());
        });
        assert!(executions.iter().all(|execution| execution.tried == tries && execution.end.is_finished()));
        (executions.len(), orders.take().into_iter().collect::<BTreeSet<_>>())
    };
    let (steps, orders) = run(Unlock::Step, false);
    let (parts, same) = run(Unlock::Part, false);
    // The orders of c, c, m, m: C(4, 2).
    assert_eq!((orders.len(), &orders), (6, &same));
    // The child starts and locks twice, the main task locks twice: C(5, 2).
    assert_eq!(parts, 10);
    // And the start of the child can come while the main task holds the lock: in its first section, with three orders
    // of what is left, or in its second, with one.
    assert_eq!(steps, 10 + 3 + 1);
    // Whoever tries can tell the difference.
    assert!(run(Unlock::Step, true).1.iter().any(|order| order.contains('-')));
    assert!(run(Unlock::Part, true).1.iter().all(|order| !order.contains('-')));
}

#[test]
fn shared_holders_are_inside_together() {
    let together = Rc::new(std::cell::Cell::new(0));
    let most = Rc::new(std::cell::Cell::new(0));
    let run = |mode: Mode, other: Mode| {
        most.set(0);
        all_schedules(Config::default(), || {
            let lock = Rc::new(Lock::new());
            let section = |mode: Mode| {
                let (lock, together, most) = (lock.clone(), together.clone(), most.clone());
                move || {
                    let guard = lock.lock_as(mode);
                    together.set(together.get() + 1);
                    most.set(most.get().max(together.get()));
                    runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                    together.set(together.get() - 1);
                    drop(guard);
                }
            };
            let child = spawn(section(mode));
            section(other)();
            join(child).unwrap();
        });
        most.get()
    };
    use Mode::*;
    for (mode, other, expected) in [
        (Shared, Shared, 2),
        (Shared, Upgradable, 2),
        (Upgradable, Shared, 2),
        (Upgradable, Upgradable, 1),
        (Shared, Exclusive, 1),
        (Exclusive, Shared, 1),
        (Exclusive, Upgradable, 1),
        (Exclusive, Exclusive, 1),
    ] {
        assert_eq!(run(mode, other), expected, "{mode:?} {other:?}");
        assert_eq!(mode.admits(other), expected == 2);
    }
}

#[test]
fn an_upgrade_waits_for_readers() {
    let executions = all_schedules(Config::default(), || {
        let lock = Rc::new(Lock::new());
        let readers = Rc::new(std::cell::Cell::new(0));
        let child = {
            let (lock, readers) = (lock.clone(), readers.clone());
            spawn(move || {
                let guard = lock.lock_as(Mode::Shared);
                readers.set(1);
                runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                readers.set(0);
                drop(guard);
            })
        };
        let mut guard = lock.lock_as(Mode::Upgradable);
        guard.convert(Mode::Exclusive);
        assert_eq!(readers.get(), 0);
        assert!(lock.try_lock_as(Mode::Shared).is_none());
        guard.convert(Mode::Shared);
        assert!(lock.try_lock_as(Mode::Shared).is_some());
        drop(guard);
        join(child).unwrap();
    });
    assert!(executions.len() > 3);
    assert!(executions.iter().all(|execution| execution.end.is_finished()), "{executions:?}");
}

#[test]
fn a_step_that_needs_locks_waits_for_them_and_takes_none() {
    use interloper_scheduler::runtime::{Need, Operation};
    let executions = all_schedules(Config::default(), || {
        let lock = Rc::new(Lock::new());
        let held = Rc::new(std::cell::Cell::new(false));
        let child = {
            let (lock, held) = (lock.clone(), held.clone());
            spawn(move || {
                let guard = lock.lock();
                held.set(true);
                runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                held.set(false);
                drop(guard);
            })
        };
        let object = lock.id();
        let operation = Operation {
            object,
            action: interloper_scheduler::runtime::Call::WHOLE.invoked(),
            location: std::panic::Location::caller(),
        };
        let needs = [Need { lock: object, mode: Mode::Exclusive }];
        runtime(|runtime| runtime.step_when_free(operation, &needs));
        assert!(!held.get());
        join(child).unwrap();
    });
    assert!(executions.len() > 2);
    assert!(executions.iter().all(|execution| execution.end.is_finished()), "{executions:?}");
}

#[test]
fn the_recorded_decisions_replay() {
    let mut engine = Engine::new(Config::default());
    let mut strategy = RandomWalk::new(11);
    for _ in 0..200 {
        assert!(strategy.begin());
        let result = Rc::new(std::cell::Cell::new(0));
        let program = || result.set(lost_update());
        let execution = engine.run(&mut strategy, program);
        let (trace, recorded) = (engine.trace().to_vec(), result.get());
        let decisions: Decisions = Decisions(engine.decisions().to_vec()).to_string().parse().unwrap();
        let mut replay = Guided::new(ReplaySource::new(decisions));
        assert_eq!(engine.run(&mut replay, program), execution);
        assert_eq!(replay.into_source().finish(), Ok(()));
        assert_eq!(result.get(), recorded);
        let object_and_action = |event: &interloper_scheduler::Event| (event.task, event.operation.action);
        assert!(engine.trace().iter().map(object_and_action).eq(trace.iter().map(object_and_action)));
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed: u64| {
        let mut engine = Engine::new(Config::default());
        let mut strategy = RandomWalk::new(seed);
        let mut traces = Vec::new();
        for _ in 0..50 {
            strategy.begin();
            engine.run(&mut strategy, || {
                lost_update();
            });
            traces.push(engine.trace().to_vec());
        }
        traces
    };
    assert_eq!(trace(5), trace(5));
    // 50 executions of 34 schedules are all the same with probability far below 2^-100.
    assert_ne!(trace(5), trace(6));
}

#[test]
fn a_random_walk_finds_every_schedule() {
    let mut engine = Engine::new(Config::default());
    let mut strategy = RandomWalk::new(0);
    let mut seen = BTreeSet::new();
    // The least likely of the 35 schedules has probability at least 3^-6 = 1/729: missed in 20,000 executions with
    // probability below 35 · (1 - 1/729)^20000 < 2^-34.
    for _ in 0..20_000 {
        strategy.begin();
        engine.run(&mut strategy, || {
            lost_update();
        });
        seen.insert(Decisions(engine.decisions().to_vec()));
    }
    assert_eq!(seen.len(), 35);
}
