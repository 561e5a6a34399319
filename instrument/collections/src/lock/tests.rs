//! Tests of the instrumented locks.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use interloper_commutativity::models::{map, register, stack};
use interloper_commutativity::{Datum, Invocation, ToValue, Value};

use super::*;
use crate::RandomState;
use crate::session::{Instrumented, LockId, Mode, Needs};
use crate::testing::{Recorder, check_environment, done};

#[test]
fn a_critical_section_is_one_step() {
    let recorder = Recorder::new();
    let stack = recorder.make(|| Mutex::new(vec![1]));
    let ((), log) = recorder.run(|| {
        let mut guard = stack.lock().unwrap();
        guard.push(2);
        guard.push(3);
        assert_eq!(guard.pop(), Some(3));
    });
    assert_eq!(log, ["? section w", "hold w", "section -> [1, 2]", "free w"]);

    let recorder = Recorder::new();
    let map = recorder.make(|| RwLock::new(BTreeMap::from([(1, 5)])));
    let ((), log) = recorder.run(|| {
        let one = map.read().unwrap();
        let two = map.read().unwrap();
        assert_eq!(one.get(&1), two.get(&1));
        drop((one, two));
        map.write().unwrap().insert(2, 6);
    });
    let read = ["? section r", "hold r", "? section r", "hold r", "section -> {1: 5}", "free r"];
    let rest = ["section -> {1: 5}", "free r", "? section w", "hold w", "section -> {1: 5, 2: 6}", "free w"];
    assert_eq!(log, [read, rest].concat());
}

#[test]
fn a_try_is_a_step_if_the_lock_is_free() {
    let recorder = Recorder::new();
    let mutex = recorder.make(|| Mutex::new(1));
    let ((), log) = recorder.run(|| {
        assert_eq!(*mutex.try_lock().unwrap(), 1);
        let guard = mutex.lock().unwrap();
        assert!(mutex.try_lock().is_err());
        assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked>, poisoned: false, .. }");
        assert_eq!(format!("{guard:?} {guard}"), "1 1");
    });
    let free = ["? section -", "hold w", "section -> 1", "free w"];
    let taken = ["? section w", "hold w", "? section -", "? section -", "section -> 1", "free w"];
    assert_eq!(log, [&free[..], &taken].concat());

    let recorder = Recorder::new();
    let lock = recorder.make(|| RwLock::new(1));
    recorder.run(|| {
        let _reader = lock.try_read().unwrap();
        assert!(lock.try_read().is_ok());
        assert!(lock.try_write().is_err());
    });
    recorder.run(|| {
        let _writer = lock.try_write().unwrap();
        assert!(lock.try_read().is_err());
    });
}

#[test]
fn waiting_for_oneself_is_found_before_the_real_lock() {
    let recorder = Recorder::new();
    let mutex = recorder.make(|| Mutex::new(1));
    let log = recorder.run_to_deadlock(|| {
        let _first = mutex.lock().unwrap();
        done(mutex.lock());
    });
    assert_eq!(log, ["? section w", "hold w", "? section w", "section -> 1", "free w"]);
    let lock = recorder.make(|| RwLock::new(1));
    mutex.restore(&Value::Int(1)).expect("an integer");
    recorder.run_to_deadlock(|| {
        let _first = lock.read().unwrap();
        done(lock.write());
    });
    // A private lock has no steps, but does not wait for ever, either.
    let private = Mutex::new(1);
    let log = recorder.run_to_deadlock(|| {
        let _first = private.lock().unwrap();
        done(private.lock());
    });
    assert_eq!(log, ["stalled a lock that another task holds", "progressed"]);
}

#[test]
fn a_panic_in_a_section_poisons_until_restored() {
    let recorder = Recorder::new();
    let mutex = recorder.make(|| Mutex::new(vec![1]));
    let lock = recorder.make(|| RwLock::new(1));
    let state = mutex.snapshot();
    let panics = || {
        let mut guard = mutex.lock().unwrap();
        guard.push(2);
        let _writer = lock.write().unwrap();
        std::panic::resume_unwind(Box::new("a panic of the program"))
    };
    recorder.run(|| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("a panic");
        assert!(mutex.is_poisoned() && lock.is_poisoned());
        assert_eq!(*mutex.lock().expect_err("poisoned").into_inner(), [1, 2]);
        assert!(mutex.try_lock().is_err());
        lock.clear_poison();
        assert!(lock.read().is_ok());
    });
    assert_eq!(mutex.snapshot(), [1, 2].to_value());
    mutex.restore(&state).expect("integers");
    assert!(!mutex.is_poisoned());
    recorder.run(|| assert_eq!(*mutex.lock().unwrap(), [1]));
}

#[test]
fn outside_a_run_the_locks_are_the_originals() {
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    *mutex.lock().unwrap() += 1;
                    *lock.write().unwrap() += 1;
                    assert!(*lock.read().unwrap() > 0);
                }
            });
        }
    });
    assert_eq!((*mutex.lock().unwrap(), *lock.read().unwrap()), (400, 400));
    assert_eq!(
        format!("{mutex:?} {lock:?}"),
        "Mutex { data: 400, poisoned: false, .. } RwLock { data: 400, poisoned: false, .. }"
    );
    let mut owned = Mutex::from(3);
    *owned.get_mut().unwrap() = 4;
    assert_eq!(owned.into_inner().unwrap(), 4);
    assert_eq!(RwLock::from(3).into_inner().unwrap(), 3);
    assert_eq!(*Mutex::<i32>::default().lock().unwrap(), 0);
}

/// 9 maps and 4 sets of 2 keys and 2 values, 7 lists of up to 2 of 2 values; methods counted from the models' lists.
#[test]
fn environment_operations_do_what_the_model_does() {
    let map_calls = 3 * 2 + 4 * 4 + 8 + 3 + 3;
    let set_calls = 3 * 2 + 3 + 3;
    let ends = 4 + 2 * 2;
    let check = |collection: &dyn Instrumented, without: &[_]| check_environment(collection, without);
    let modify = [map::MODIFY];
    assert_eq!(check(&Mutex::new(HashMap::<i64, i64>::new()), &modify), 9 * map_calls);
    assert_eq!(check(&RwLock::new(HashMap::<i64, i64, RandomState>::default()), &modify), 9 * map_calls);
    assert_eq!(check(&Mutex::new(BTreeMap::<i64, i64>::new()), &modify), 9 * (map_calls + ends));
    assert_eq!(check(&RwLock::new(BTreeMap::<i64, i64>::new()), &modify), 9 * (map_calls + ends));
    assert_eq!(check(&Mutex::new(HashSet::<i64>::new()), &[]), 4 * set_calls);
    assert_eq!(check(&RwLock::new(BTreeSet::<i64>::new()), &[]), 4 * (set_calls + ends));
    // Two pushes and contains with 2 values each; two pops, front, back, len, is_empty, clear.
    assert_eq!(check(&Mutex::new(VecDeque::<i64>::new()), &[]), 7 * (3 * 2 + 7));
    // push with 2 values; pop, peek, len, is_empty, clear.
    assert_eq!(check(&Mutex::new(Vec::<i64>::new()), &[]), 7 * (2 + 5));
    assert_eq!(check(&RwLock::new(Vec::<i64>::new()), &[]), 7 * (2 + 5));
    // The same for 6 multisets.
    assert_eq!(check(&Mutex::new(BinaryHeap::<i64>::new()), &[]), 6 * (2 + 5));
    // load; store and swap with 2 values; compare_exchange with 4. From 0, and 1 and 2.
    let counts = [register::FETCH_ADD, register::FETCH_SUB, register::FETCH_MAX, register::FETCH_MIN, register::MODIFY];
    assert_eq!(check(&Mutex::new(0i64), &counts), 3 * (1 + 2 * 2 + 4));
    assert_eq!(check(&RwLock::new(None::<i64>), &counts), 3 * (1 + 2 * 2 + 4));
}

#[test]
fn needs_tell_reading_from_writing() {
    let needs = |collection: &dyn Instrumented, method, arguments: &[i64]| {
        collection.needs(&Invocation::new(method, arguments.iter().map(ToValue::to_value)))
    };
    let (read, write) = (Needs::One(LockId(0), Mode::Shared), Needs::One(LockId(0), Mode::Exclusive));
    let lock = RwLock::new(HashMap::<i64, i64>::new());
    assert_eq!(needs(&lock, map::GET, &[1]), read);
    assert_eq!(needs(&lock, map::INSERT, &[1, 2]), write);
    assert_eq!(needs(&Mutex::new(Vec::<i64>::new()), stack::PEEK, &[]), write);
}

#[test]
fn what_is_of_another_type_is_refused_and_changes_nothing() {
    let stack = Mutex::new(vec![1i64]);
    let text = Value::text("a");
    assert_eq!(stack.apply(&Invocation::new(stack::PUSH, [text.clone()])).err(), Some(text.clone()));
    assert_eq!(stack.snapshot(), [1].to_value());
    assert_eq!(stack.restore(&Value::list([text.clone()])), Err(text.clone()));
    assert_eq!(Mutex::new(HashSet::<i64>::new()).restore(&text), Err(text.clone()));
    assert_eq!(RwLock::new(BTreeMap::<i64, i64>::new()).restore(&text), Err(text));
}

#[test]
fn a_mutex_can_be_a_value_in_a_map() {
    let form = [1i64, 2].to_value();
    let entry: Arc<Mutex<Vec<i64>>> = Datum::from_value(&form).expect("a vector");
    assert_eq!(entry.to_value(), form);
    let copy = Mutex::clone(&entry);
    copy.lock().unwrap().push(3);
    assert_eq!(entry.to_value(), form);
    let guard = entry.lock().unwrap();
    assert_eq!(entry.to_value(), Value::variant("locked", []));
    drop(guard);
    assert!(<Arc<Mutex<Vec<i64>>> as Datum>::from_value(&Value::Unit).is_none());
}

#[test]
fn a_state_is_read_beside_guards() {
    let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
    let known = Value::Int(7);
    let guards = (mutex.lock().unwrap(), lock.write().unwrap());
    assert_eq!(
        (mutex.snapshot_beside_guards(&known), lock.snapshot_beside_guards(&known)),
        (known.clone(), known.clone())
    );
    drop(guards);
    let one = Value::Int(1);
    assert_eq!((mutex.snapshot_beside_guards(&known), lock.snapshot_beside_guards(&known)), (one.clone(), one.clone()));
    let _reader = lock.read().unwrap();
    assert_eq!(lock.snapshot_beside_guards(&known), one);
}

#[test]
fn another_task_sees_whole_sections() {
    let recorder = Recorder::new();
    let stack = recorder.make(|| Mutex::new(vec![1i64]));
    let other = Rc::clone(&stack);
    recorder.on_step(move |number, _| {
        if number == 2 {
            other.apply(&Invocation::new(stack::PUSH, [Value::Int(9)])).expect("an integer");
        }
        true
    });
    let length = || {
        let guard = stack.lock().unwrap();
        guard.len()
    };
    let (seen, _) = recorder.run(|| (length(), length()));
    assert_eq!(seen, (1, 2));
}
