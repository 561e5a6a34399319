//! How executions end.

use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::runtime::{Action, Count, TaskId};
use interloper_scheduler::strategies::{Cut, Exhaustive, Guided, Pct, RandomWalk};
use interloper_scheduler::{Config, Detached, End, Engine, Execution, Executions, Pending, Strategy};

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
    let program = || {
        spawn(|| panic!("oh"));
    };
    let executions = all_schedules(Config::default(), program);
    // The process ends before it, or after it.
    let panicked = |execution: &&Execution| execution.end == End::Panicked(execution.panics[0].clone());
    let (late, in_time): (Vec<_>, Vec<_>) = executions.iter().partition(|execution| execution.panics.is_empty());
    assert_eq!((late.len(), in_time.iter().filter(|execution| panicked(execution)).count()), (1, 1));
    assert!(late[0].end.is_finished());
}

#[test]
fn the_first_panic_is_reported() {
    let execution = run_once(|| join(spawn(|| panic!("cause"))).unwrap());
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(report.message, "cause");
    assert_eq!(execution.panics.len(), 2);
}

/// Its twin: the first panic was dealt with.
#[test]
fn the_panic_that_ends_the_main_task_is_reported() {
    let execution = run_once(|| {
        assert!(join(spawn(|| panic!("meant"))).is_err());
        panic!("the bug");
    });
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((report.task, &report.message[..]), (TaskId::MAIN, "the bug"));
    let messages: Vec<&str> = execution.panics.iter().map(|panic| &*panic.message).collect();
    assert_eq!(messages, ["meant", "the bug"]);
}

/// As `join` of an executor says it, as `join` of std does, and as a scope does.
#[test]
fn a_panic_that_is_passed_on_is_reported_where_it_began() {
    let cause = |main: fn(String)| {
        let execution = run_once(move || main(join(spawn(|| panic!("cause"))).unwrap_err()));
        let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
        report.message
    };
    assert_eq!(cause(|message| panic!("JoinError::Panic(Id(8), {message:?}, ...)")), "cause");
    assert_eq!(cause(|_| panic!("called `Result::unwrap()` on an `Err` value: Any {{ .. }}")), "cause");
    assert_eq!(cause(|_| panic!("a scoped thread panicked")), "cause");
    assert_eq!(cause(|message| std::panic::resume_unwind(Box::new(message))), "cause");
    assert_eq!(cause(|_| panic!("PoisonError {{ .. }}")), "PoisonError { .. }");
}

/// A handled panic that came before is not the cause; neither is the task in between, which passed the panic on, too.
#[test]
fn a_panic_that_is_passed_on_is_the_one_that_was_joined_last() {
    let cause = |main: fn(String)| {
        let execution = run_once(move || {
            assert!(join(spawn(|| panic!("meant"))).is_err());
            let failing = spawn(|| {
                assert!(join(spawn(|| panic!("cause"))).is_err());
                panic!("called `Result::unwrap()` on an `Err` value: Any {{ .. }}");
            });
            main(join(failing).unwrap_err());
        });
        let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
        assert_eq!(execution.panics.len(), 4);
        report.message
    };
    assert_eq!(cause(|_| panic!("called `Result::unwrap()` on an `Err` value: Any {{ .. }}")), "cause");
    assert_eq!(cause(|message| std::panic::resume_unwind(Box::new(message))), "cause");
    assert_eq!(cause(|message| panic!("JoinError::Panic(Id(8), {message:?}, ...)")), "cause");
    assert_eq!(cause(|_| panic!("the bug")), "the bug");
}

/// What the main task has caught itself, and two tasks that fail with the same words.
#[test]
fn a_panic_with_the_words_of_another_one_is_not_passed_on() {
    let execution = run_once(|| {
        assert!(join(spawn(|| panic!("meant"))).is_err());
        std::panic::resume_unwind(std::panic::catch_unwind(|| panic!("the bug")).unwrap_err());
    });
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((report.task, &report.message[..]), (TaskId::MAIN, "the bug"));
    let execution = run_once(|| {
        let fails = || spawn(|| panic!("no entry"));
        assert!(join(fails()).is_err());
        assert!(join(fails()).is_err());
        panic!("called `Result::unwrap()` on an `Err` value: Any {{ .. }}");
    });
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!((report.task, &report.message[..]), (TaskId(2), "no entry"));
}

/// A message says more than the order of `join`.
#[test]
fn a_panic_that_is_passed_on_by_its_message_need_not_be_joined_last() {
    let execution = run_once(|| {
        let (failing, meant) = (spawn(|| panic!("cause")), spawn(|| panic!("meant")));
        let failed = join(failing).unwrap_err();
        assert!(join(meant).is_err());
        panic!("a worker failed: {failed}");
    });
    let End::Panicked(report) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(report.message, "cause");
}

/// As where a lock is poisoned: no task has dealt with the first panic.
#[test]
fn a_panic_that_nobody_has_joined_yet_is_the_cause() {
    let program = || {
        spawn(|| panic!("cause"));
        runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
        panic!("PoisonError {{ .. }}");
    };
    let first = |execution: &Execution| execution.panics[0].message == "cause";
    let executions = all_schedules(Config::default(), program);
    assert!(executions.iter().any(first));
    for execution in executions {
        assert_eq!(execution.end, End::Panicked(execution.panics[0].clone()));
    }
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
fn tasks_that_outlive_the_main_task_go_on_where_they_must_end() {
    let log = Log::default();
    let program = |log: Log| {
        move || {
            spawn(move || {
                runtime(|runtime| runtime.yield_now(std::panic::Location::caller()));
                log.say("done");
            });
        }
    };
    assert!(run_strictly(program(log.clone())).end.is_finished());
    assert_eq!(log.take(), ["done"]);
    // As in a process that ends, there is nobody to go on.
    let execution = run_once(program(log.clone()));
    assert_eq!((execution.end, execution.stuck.len()), (End::Finished, 1));
    assert!(log.take().is_empty());
}

/// Runs a program whose tasks must all end.
fn run_strictly(program: impl FnOnce()) -> Execution {
    let config = Config { detached: Detached::MustEnd, ..Config::default() };
    Engine::new(config).run(&mut Guided::new(Zeros), program)
}

#[test]
fn tasks_that_are_given_up_leave_nothing_behind() {
    let log = Log::default();
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        let value = log.clone();
        let execution = engine.run(&mut Guided::new(Zeros), move || {
            let waits = value.clone();
            spawn(move || {
                let _value = Dropped(waits, "unwound");
                runtime(|runtime| runtime.park(None, std::panic::Location::caller()));
            });
            let ticks = value.clone();
            spawn(move || {
                let _value = Dropped(ticks, "unwound");
                loop {
                    runtime(|runtime| runtime.sleep(Duration::from_secs(1), std::panic::Location::caller()));
                }
            });
            runtime(|runtime| runtime.sleep(Duration::from_secs(5), std::panic::Location::caller()));
        });
        assert_eq!(execution.end, End::Finished);
        assert_eq!(execution.stuck.len(), 2);
        assert_eq!(log.take(), ["unwound", "unwound"]);
    }
}

/// Every step of the others may come before the end of the process, and need not.
#[test]
fn the_end_of_the_process_is_a_step() {
    let run = |exhaustive: bool| {
        let seen = Log::default();
        let program = || {
            let shared = Rc::new(Variable::default());
            let theirs = shared.clone();
            let (begins, ends) = (Dropped(seen.clone(), "."), seen.clone());
            spawn(move || {
                let _begins = begins;
                theirs.add(1);
                ends.say("1");
                theirs.add(1);
                ends.say("2");
            });
            shared.get();
        };
        let mut executions = 0;
        if exhaustive {
            let mut search = Exhaustive::new();
            let mut engine = Engine::new(Config::default());
            while search.begin() {
                let execution = engine.run(&mut search, program);
                search.end(&execution, &engine.trace());
                assert!(execution.end.is_finished(), "{execution:?}");
                executions += 1;
            }
            assert!(search.exploration().complete);
        } else {
            executions = all_schedules(Config::default(), program).len();
        }
        let mut seen: Vec<String> = seen.take().concat().split_terminator('.').map(str::to_owned).collect();
        seen.sort();
        seen.dedup();
        (executions, seen)
    };
    let expected = ["", "1", "12"].map(str::to_owned).to_vec();
    // The child starts (s) and adds twice (a, b); main reads (r) and ends the process (e). Each order of s a b and r e in
    // their order, cut off at e: e r; with k steps of the child before e, r has k + 1 places among them. 1 + 2 + 3 + 4.
    assert_eq!(run(false), (10, expected.clone()));
    // The start is independent of the read, so with k = 1, 2, 3 one place less is another trace.
    assert_eq!(run(true), (1 + 1 + 2 + 3, expected));
}

#[test]
fn the_process_can_be_ended_by_a_task() {
    use interloper_scheduler::runtime::Exit;
    let log = Log::default();
    let exit = |exit| runtime(|runtime| runtime.exit(exit, std::panic::Location::caller()));
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        for how in [Exit::Code(0), Exit::Abort] {
            let execution = engine.run(&mut Guided::new(Zeros), || {
                let _main = Dropped(log.clone(), "main");
                let value = log.clone();
                join(spawn(move || {
                    let _child = Dropped(value, "child");
                    exit(how);
                }))
                .unwrap();
            });
            assert!(matches!(execution.end, End::Exited { task: TaskId(1), exit, .. } if exit == how), "{execution:?}");
            // Whoever ends the process is not unwound.
            assert_eq!(log.take(), ["main"]);
        }
    }
}

#[test]
fn a_task_that_is_left_waiting_is_leaked() {
    let execution = run_strictly(|| {
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
    // Main reads before the write or after it, with the start of the child before or after the first read; a yield
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

/// Whatever loop a task waits in: those go on that it waits for.
#[test]
fn a_task_that_goes_on_and_on_is_held_back() {
    let wakes_itself = || {
        let done = Rc::new(std::cell::Cell::new(false));
        let theirs = done.clone();
        spawn(move || {
            let steps = Variable::default();
            (0..100).for_each(|_| _ = steps.add(1));
            theirs.set(true);
        });
        let me = runtime(|runtime| runtime.task());
        while !done.get() {
            runtime(|runtime| runtime.unpark(me, std::panic::Location::caller()));
            runtime(|runtime| runtime.park(None, std::panic::Location::caller()));
        }
    };
    // The main task first, whenever it can go on: as PCT does when it has the highest priority.
    let mut engine = Engine::new(Config { step_bound: 50_000, ..Config::default() });
    let execution = engine.run(&mut Guided::new(Zeros), wakes_itself);
    assert_eq!((&execution.end, execution.steered), (&End::Finished, true));
    for seed in 0..20 {
        let execution = engine.run(&mut Pct::new(seed, 3), wakes_itself);
        assert_eq!(execution.end, End::Finished);
        // It is replayed from its decisions.
        let decisions = interloper_scheduler::decisions::Decisions(engine.decisions().to_vec());
        let mut replay = Guided::new(interloper_scheduler::decisions::ReplaySource::new(decisions));
        assert_eq!(engine.run(&mut replay, wakes_itself), execution);
        assert_eq!(replay.into_source().finish(), Ok(()));
    }
    // An exhaustive search does not say that it has seen all.
    let mut search = Exhaustive::new();
    engine.explore(&mut search, Executions::AtMost(10), wakes_itself, |_, _| std::ops::ControlFlow::<()>::Continue(()));
    assert_eq!(search.exploration().cut, Some(Cut::Steered));
    // A task that is alone goes on to the bound, and one that does not go on for long is not held back.
    let alone = || {
        let variable = Variable::default();
        (0..10_000).for_each(|_| _ = variable.add(1));
    };
    let execution = engine.run(&mut Guided::new(Zeros), alone);
    assert_eq!((execution.end, execution.steered), (End::Finished, false));
}

#[test]
fn spawning_without_end_is_a_result() {
    let execution = run_once(|| {
        loop {
            spawn(|| ());
        }
    });
    let End::Failed { reason, .. } = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(reason, "the program spawns more than 4096 threads in one execution");
    let execution = run_once(|| (0..1000).for_each(|_| join(spawn(|| ())).unwrap()));
    assert_eq!(execution.end, End::Finished);
}

/// The bound is the result, whatever the tasks are about to do when it is reached.
#[test]
fn the_step_bound_comes_before_other_ends() {
    let bounded = |steps: u64, program: fn()| {
        let mut engine = Engine::new(Config { step_bound: steps, ..Config::default() });
        engine.run(&mut Guided::new(Zeros), program).end
    };
    fn yields() {
        (0..10).for_each(|_| runtime(|runtime| runtime.yield_now(std::panic::Location::caller())));
    }
    fn sleeps() {
        let second = Duration::from_secs(1);
        (0..10).for_each(|_| runtime(|runtime| runtime.sleep(second, std::panic::Location::caller())));
    }
    fn parks() {
        (0..5).for_each(|_| drop(Lock::new().lock()));
        runtime(|runtime| runtime.park(None, std::panic::Location::caller()));
    }
    for (program, action) in [(yields as fn(), Action::Yield), (sleeps, Action::Sleep)] {
        let End::StepBound(operations) = bounded(5, program) else { panic!("{action:?}") };
        assert!(operations.iter().any(|(_, operation)| operation.action == action), "{operations:?}");
        // The twin: with steps enough it ends.
        assert_eq!(bounded(50, program), End::Finished);
    }
    // Who could make no step with any number of them is in a deadlock: main has made 11 steps when it parks.
    assert!(matches!(bounded(11, parks), End::Deadlock(_)));
    assert!(matches!(bounded(10, parks), End::StepBound(_)));
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
