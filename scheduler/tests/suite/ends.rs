//! How executions end.

use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::runtime::{Action, Count, TaskId};
use interloper_scheduler::strategies::{Guided, RandomWalk};
use interloper_scheduler::{Config, End, Engine, Pending, Strategy};

use crate::common::*;

#[test]
fn a_program_of_one_task() {
    let mut value = 0;
    let execution = run_once(|| value += 1);
    assert_eq!((execution.end, execution.steps, execution.tasks), (End::Finished, 1, 1));
    assert_eq!(value, 1);
}

#[test]
fn a_lock_order_inversion() {
    let run = |inverted: bool| {
        all_schedules(Config::default(), move || {
            let (a, b) = (Rc::new(Lock::new()), Rc::new(Lock::new()));
            let child = {
                let (a, b) = if inverted { (b.clone(), a.clone()) } else { (a.clone(), b.clone()) };
                spawn(move || {
                    let _first = a.lock();
                    let _second = b.lock();
                })
            };
            {
                let _first = a.lock();
                let _second = b.lock();
            }
            join(child).unwrap();
        })
    };
    assert!(run(false).iter().all(|execution| execution.end.is_finished()));
    let executions = run(true);
    assert!(executions.iter().any(|execution| execution.end.is_finished()));
    let deadlocks: Vec<_> = executions.iter().filter(|execution| !execution.end.is_finished()).collect();
    assert!(!deadlocks.is_empty());
    for execution in deadlocks {
        let End::Deadlock(tasks) = &execution.end else { panic!("{:?}", execution.end) };
        assert_eq!(tasks.len(), 2);
        let [main, child] = [&tasks[0], &tasks[1]];
        assert_eq!((main.task, child.task), (TaskId(0), TaskId(1)));
        assert_eq!((&main.waits_for[..], &child.waits_for[..]), (&[TaskId(1)][..], &[TaskId(0)][..]));
        assert_eq!(main.wants.object, child.holds[0].lock);
        assert_eq!(child.wants.object, main.holds[0].lock);
        assert!(matches!(main.wants.action, Action::Lock(_)));
        assert!(main.holds[0].location.line() < main.wants.location.line());
        assert_eq!(main.wants.location.file(), file!());
    }
}

#[test]
fn a_lock_taken_twice() {
    let execution = run_once(|| {
        let lock = Lock::new();
        let _first = lock.lock();
        let _second = lock.lock();
    });
    let End::Deadlock(tasks) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(tasks[0].waits_for, [TaskId(0)]);
    assert_eq!(tasks[0].holds[0].location.line() + 1, tasks[0].wants.location.line());
}

#[test]
fn a_panic_of_the_main_task() {
    let line = line!() + 1;
    let execution = run_once(|| panic!("no {}", "good"));
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((report.task, &report.message[..]), (TaskId(0), "no good"));
    let place = report.place.unwrap();
    assert_eq!((&place.file[..], place.line), (file!(), line));
}

#[test]
fn a_panic_that_is_joined_is_dealt_with() {
    let execution = run_once(|| assert_eq!(join(spawn(|| panic!("oh"))), Err("oh".to_owned())));
    assert!(execution.end.is_finished());
    assert_eq!((execution.panics[0].task, &execution.panics[0].message[..]), (TaskId(1), "oh"));
}

#[test]
fn a_panic_that_nobody_joins_is_the_end() {
    let execution = run_once(|| {
        spawn(|| panic!("oh"));
    });
    assert_eq!(execution.end, End::Panicked(execution.panics[0].clone()));
}

#[test]
fn the_first_panic_is_reported() {
    let execution = run_once(|| join(spawn(|| panic!("cause"))).unwrap());
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(report.message, "cause");
    assert_eq!(execution.panics.len(), 2);
}

#[test]
fn a_panic_that_the_program_catches_is_none() {
    let execution = run_once(|| assert!(std::panic::catch_unwind(|| panic!("caught")).is_err()));
    assert_eq!((execution.end, execution.panics), (End::Finished, vec![]));
}

#[test]
fn a_payload_without_a_place() {
    let execution = run_once(|| std::panic::resume_unwind(Box::new("thrown")));
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((&report.message[..], report.place), ("thrown", None));
}

#[test]
fn tasks_that_outlive_the_main_task_go_on() {
    let log = Log::default();
    let program = |log: Log| {
        move || {
            spawn(move || {
                runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                log.say("done");
            });
        }
    };
    assert!(run_once(program(log.clone())).end.is_finished());
    assert_eq!(log.take(), ["done"]);
}

#[test]
fn a_task_that_is_left_waiting_is_leaked() {
    let execution = run_once(|| {
        spawn(|| {
            runtime(|runtime| runtime.park(None, std::panic::Location::caller()));
        });
    });
    let End::Leaked(tasks) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((tasks.len(), tasks[0].task, tasks[0].wants.action), (1, TaskId(1), Action::Park));
}

#[test]
fn a_loop_that_only_reads_and_waits_for_nobody_is_a_livelock() {
    let config = Config { livelock_rounds: 100, ..Config::default() };
    let mut engine = Engine::new(config.clone());
    let spin = || {
        let flag = Variable::default();
        while flag.get() == 0 {}
    };
    let execution = engine.run(&mut RandomWalk::new(0), spin);
    let End::Livelock(tasks) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((tasks[0].task, tasks[0].wants.action), (TaskId(0), Action::Read));
    let yields = || {
        loop {
            runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
        }
    };
    assert!(matches!(engine.run(&mut RandomWalk::new(0), yields).end, End::Livelock(_)));
}

#[test]
fn a_loop_that_waits_for_another_task_lets_it_go_on() {
    /// Always the same task, for as long as it is offered.
    struct Unfair;
    impl Strategy for Unfair {
        fn choose(&mut self, _: Option<TaskId>, _: &[Pending]) -> usize {
            0
        }
    }
    let spin = |yields: bool| {
        move || {
            let flag = Rc::new(Variable::default());
            let other = flag.clone();
            spawn(move || other.set(1));
            while flag.get() == 0 {
                if yields {
                    runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                }
            }
        }
    };
    let mut engine = Engine::new(Config { step_bound: 100, ..Config::default() });
    assert!(engine.run(&mut Unfair, spin(true)).end.is_finished());
    assert!(engine.run(&mut Unfair, spin(false)).end.is_finished());
}

#[test]
fn all_schedules_of_a_loop_that_yields_are_finitely_many() {
    let executions = all_schedules(Config::default(), || {
        let flag = Rc::new(Variable::default());
        let other = flag.clone();
        let child = spawn(move || other.set(1));
        while flag.get() == 0 {
            runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
        }
        join(child).unwrap();
    });
    assert!(executions.iter().all(|execution| execution.end.is_finished()));
    // Main reads before the write or behind it, with the start of the child before or behind the first read; a yield
    // is gone through once the child has written. Written out (r read, y yield, s start, w write, j join):
    // s w r j, s r w r' .. where r, y, w in their order: see the assertion.
    let expected = ["s w r", "s r w y r", "r s w y r"].len();
    assert_eq!(executions.len(), expected, "{:?}", executions.iter().map(|e| e.steps).collect::<Vec<_>>());
}

#[test]
fn the_step_bound_names_the_loop() {
    let mut engine = Engine::new(Config { step_bound: 500, ..Config::default() });
    let line = line!() + 4;
    let program = || {
        let variable = Variable::default();
        loop {
            variable.add(1);
        }
    };
    let execution = engine.run(&mut Guided::new(Zeros), program);
    assert_eq!(execution.steps, 500);
    let End::StepBound(operations) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(operations.len(), 1, "{operations:?}");
    assert_eq!(operations[0].1.location.line(), line);
}

#[test]
fn the_program_can_end_the_execution() {
    let log = Log::default();
    let execution = run_once(|| {
        let _dropped = Dropped(log.clone(), "unwound");
        runtime(|runtime| runtime.fail("two places".to_owned()));
        log.say("not reached");
    });
    assert_eq!(execution.end, End::Failed { task: TaskId(0), reason: "two places".to_owned() });
    assert_eq!(log.take(), ["unwound"]);
}

#[test]
fn a_notification_that_comes_too_early_is_lost() {
    let run = |checks: bool| {
        all_schedules(Config::default(), move || {
            let shared = Rc::new((Lock::new(), Condition::default(), std::cell::Cell::new(false)));
            let child = {
                let shared = shared.clone();
                spawn(move || {
                    let (lock, condition, ready) = &*shared;
                    let guard = lock.lock();
                    ready.set(true);
                    condition.notify(Count::One);
                    drop(guard);
                })
            };
            let (lock, condition, ready) = &*shared;
            let guard = lock.lock();
            while !checks || !ready.get() {
                guard.wait(condition, None);
                if !checks {
                    break;
                }
            }
            drop(guard);
            join(child).unwrap();
        })
    };
    assert!(run(true).iter().all(|execution| execution.end.is_finished()));
    let lost = run(false);
    assert!(lost.iter().any(|execution| execution.end.is_finished()));
    let deadlock = lost.iter().find_map(|execution| match &execution.end {
        End::Deadlock(tasks) => Some(tasks),
        _ => None,
    });
    assert_eq!(deadlock.unwrap().len(), 1);
}

#[test]
fn the_clock_of_an_execution_starts_at_zero() {
    for _ in 0..2 {
        let execution = run_once(|| {
            runtime(|runtime| {
                assert_eq!(runtime.now(), Duration::ZERO);
                runtime.sleep(Duration::from_secs(3600), std::panic::Location::caller());
                assert_eq!(runtime.now(), Duration::from_secs(3600));
            });
        });
        assert_eq!((execution.end, execution.clock), (End::Finished, Duration::from_secs(3600)));
    }
}

#[test]
#[should_panic(expected = "the strategy chose 7 out of 1")]
fn a_strategy_that_chooses_nobody_is_a_mistake_of_its_own() {
    struct Wrong;
    impl Strategy for Wrong {
        fn choose(&mut self, _: Option<TaskId>, _: &[Pending]) -> usize {
            7
        }
    }
    Engine::new(Config::default()).run(&mut Wrong, || ());
}
