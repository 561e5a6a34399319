//! What belongs to a task and to an execution.

use std::any::Any;
use std::panic::Location;
use std::rc::Rc;

use interloper_scheduler::runtime::{Local, NewTask, Slot};
use interloper_scheduler::strategies::{Guided, RandomWalk};
use interloper_scheduler::{Config, Engine};

use crate::common::*;

static SLOT: Slot = Slot::new();
static OTHER: Slot = Slot::new();

fn put(slot: &Slot, value: Rc<dyn Any>) {
    runtime(|runtime| runtime.set_local(slot.index(), value, false));
}

fn get(slot: &Slot) -> Option<i32> {
    match runtime(|runtime| runtime.local(slot.index())) {
        Local::Value(value) => value.downcast_ref::<i32>().copied(),
        Local::Empty | Local::Destroyed => None,
    }
}

#[test]
fn locals_are_fresh_in_each_task_and_each_execution() {
    let mut engine = Engine::new(Config::default());
    for _ in 0..3 {
        let execution = engine.run(&mut Guided::new(Zeros), || {
            assert_eq!(get(&SLOT), None);
            put(&SLOT, Rc::new(1));
            join(spawn(|| {
                assert_eq!(get(&SLOT), None);
                put(&SLOT, Rc::new(2));
                assert_eq!(get(&SLOT), Some(2));
            }))
            .unwrap();
            assert_eq!(get(&SLOT), Some(1));
        });
        assert!(execution.end.is_finished(), "{execution:?}");
    }
}

#[test]
fn locals_are_dropped_at_the_end_of_the_task_the_last_first() {
    let log = Log::default();
    let execution = run_once(|| {
        let inner = log.clone();
        join(spawn(move || {
            put(&SLOT, Rc::new(Dropped(inner.clone(), "first put")));
            put(&OTHER, Rc::new(Dropped(inner.clone(), "last put")));
            inner.say("body");
        }))
        .unwrap();
        log.say("joined");
    });
    assert!(execution.end.is_finished());
    assert_eq!(log.take(), ["body", "last put", "first put", "joined"]);
}

#[test]
fn a_local_that_lasts_is_dropped_after_the_others_and_of_the_main_task_after_what_is_shared() {
    let log = Log::default();
    let put_both = |log: &Log| {
        let value = |name| Rc::new(Dropped(log.clone(), name));
        runtime(|runtime| {
            runtime.set_local(SLOT.index(), value("does not last"), false);
            runtime.set_local(OTHER.index(), value("lasts"), true);
        });
    };
    let mut engine = Engine::new(Config::default());
    for _ in 0..2 {
        let execution = engine.run(&mut RandomWalk::new(1), || {
            put_both(&log);
            runtime(|runtime| runtime.set_shared(SLOT.index(), Rc::new(Dropped(log.clone(), "shared"))));
            let inner = log.clone();
            join(spawn(move || put_both(&inner))).unwrap();
            log.say("joined");
        });
        assert!(execution.end.is_finished(), "{execution:?}");
        assert_eq!(log.take(), ["does not last", "lasts", "joined", "does not last", "shared", "lasts"]);
    }
}

#[test]
fn a_local_can_make_steps_in_its_destructor_and_sees_itself_destroyed() {
    struct Steps(Rc<Lock>, Log);
    impl Drop for Steps {
        fn drop(&mut self) {
            drop(self.0.lock());
            let destroyed = matches!(runtime(|runtime| runtime.local(SLOT.index())), Local::Destroyed);
            self.1.say(if destroyed { "destroyed" } else { "alive" });
        }
    }
    let log = Log::default();
    let execution = run_once(|| {
        let lock = Rc::new(Lock::new());
        let inner = log.clone();
        join(spawn(move || put(&SLOT, Rc::new(Steps(lock, inner))))).unwrap();
    });
    assert!(execution.end.is_finished(), "{execution:?}");
    assert_eq!(log.take(), ["destroyed"]);
}

#[test]
fn shared_values_are_dropped_at_the_end_of_the_execution_by_the_main_task() {
    struct Steps(Log);
    impl Drop for Steps {
        fn drop(&mut self) {
            let lock = Lock::new();
            drop(lock.lock());
            join(spawn(|| ())).unwrap();
            self.0.say(format!("dropped by {:?}", runtime(|runtime| runtime.task())));
        }
    }
    let log = Log::default();
    let mut engine = Engine::new(Config::default());
    for _ in 0..2 {
        let execution = engine.run(&mut RandomWalk::new(1), || {
            let log = log.clone();
            join(spawn(move || {
                assert!(runtime(|runtime| runtime.shared(SLOT.index())).is_none());
                runtime(|runtime| runtime.set_shared(SLOT.index(), Rc::new(Steps(log))));
            }))
            .unwrap();
            assert!(runtime(|runtime| runtime.shared(SLOT.index())).is_some());
        });
        assert!(execution.end.is_finished(), "{execution:?}");
        assert_eq!(log.take(), ["dropped by TaskId(0)"]);
    }
}

#[test]
fn a_stale_handle_is_registered_anew() {
    static LOCK: Lock = Lock::new();
    let mut engine = Engine::new(Config::default());
    for before in [0, 3, 1] {
        engine.run(&mut Guided::new(Zeros), || {
            let others: Vec<_> = (0..before).map(|_| Lock::new()).collect();
            others.iter().for_each(|other| drop(other.lock()));
            drop(LOCK.lock());
            // The main task is object 0.
            assert_eq!(LOCK.id().index(), before + 1);
        });
    }
}

#[test]
fn names_and_numbers() {
    let execution = run_once(|| {
        let task = NewTask { name: Some("worker".to_owned()), location: Location::caller() };
        let child = runtime(|runtime| runtime.spawn(task, Box::new(|| ())));
        assert_eq!(runtime(|runtime| runtime.task_name(child)), Some("worker".to_owned()));
        assert!(!runtime(|runtime| runtime.is_finished(child, Location::caller())));
        join(child).unwrap();
        assert!(runtime(|runtime| runtime.is_finished(child, Location::caller())));
    });
    assert!(execution.end.is_finished());
    assert_eq!(execution.tasks, 2);
}

#[test]
fn an_engine_inside_a_task_of_another() {
    let execution = run_once(|| {
        let lock = Rc::new(Lock::new());
        let guard = lock.lock();
        let inner = run_once(|| {
            let lock = Lock::new();
            drop(lock.lock());
            panic!("inside");
        });
        assert_eq!(inner.panics[0].message, "inside");
        drop(guard);
        drop(lock.lock());
    });
    assert!(execution.end.is_finished(), "{execution:?}");
}

#[test]
fn outside_of_a_run_there_is_no_runtime() {
    use interloper_scheduler::runtime;
    assert!(!runtime::is_controlled());
    run_once(|| {
        assert!(runtime::is_controlled());
        runtime::leave(|| assert!(!runtime::is_controlled()));
        assert!(runtime::is_controlled());
    });
    assert!(runtime::with(|_| ()).is_none());
}

#[test]
fn many_tasks_on_small_stacks() {
    let mut engine = Engine::new(Config::default());
    let execution = engine.run(&mut RandomWalk::new(3), || {
        let lock = Rc::new(Lock::new());
        let tasks: Vec<_> = (0..1000)
            .map(|_| {
                let lock = lock.clone();
                spawn(move || drop(lock.lock()))
            })
            .collect();
        tasks.into_iter().for_each(|task| join(task).unwrap());
    });
    assert!(execution.end.is_finished());
    assert_eq!(execution.tasks, 1001);
}
