//! What an adversary does with the map.

use std::sync::{Arc, OnceLock};

use interloper_commutativity::models::map;
use interloper_commutativity::{Invocation, MethodId, ToValue, Value};

use super::{Map, entries};
use crate::dashmap::DashMap;
use crate::session::{Instrumented, LockId, Mode, Needs, without_session};
use crate::testing::{Recorder, check_environment};

#[test]
fn environment_operations_do_what_the_model_does() {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    // get, remove, contains_key: 2 each; insert, insert_if_absent, replace, remove_if_equal: 4 each; replace_if_equal:
    // 8; next_after: 3; len, is_empty, clear: 1 each. In 9 states.
    assert_eq!(check_environment(&*map, &[map::MODIFY]), 9 * (3 * 2 + 4 * 4 + 8 + 3 + 3));
}

#[test]
fn needs_are_the_locks_of_the_key() {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    let needs = |method: MethodId, arguments: &[i64]| {
        map.needs(&Invocation::new(method, arguments.iter().map(ToValue::to_value)))
    };
    let lock = LockId(map.inner.determine_map(&7) as u32);
    assert_eq!(needs(map::GET, &[7]), Needs::One(lock, Mode::Shared));
    assert_eq!(needs(map::INSERT, &[7, 1]), Needs::One(lock, Mode::Exclusive));
    assert_ne!(needs(map::GET, &[8]), Needs::One(lock, Mode::Shared));
    assert_eq!(needs(map::CLEAR, &[]), Needs::All(Mode::Exclusive));
    assert_eq!(needs(map::LEN, &[]), Needs::All(Mode::Shared));
}

#[test]
fn a_state_of_other_types_is_refused() {
    let map: Map = DashMap::new();
    assert_eq!(map.restore(&Value::map([(Value::text("a"), Value::Int(1))])), Err(Value::text("a")));
    assert_eq!(map.restore(&Value::list([])), Err(Value::list([])));
    let call = Invocation::new(map::GET, [Value::text("a")]);
    assert_eq!(map.apply(&call).err(), Some(Value::text("a")));
    assert_eq!(map.needs(&call), Needs::All(Mode::Shared));
}

#[test]
fn a_value_that_can_change_is_read_again() {
    let map: DashMap<i64, Arc<OnceLock<i64>>> = DashMap::new();
    let pending = interloper_commutativity::pending();
    map.restore(&Value::map([(1.to_value(), pending.clone())])).expect("a cell");
    let cell = Arc::clone(&map.get(&1).expect("there"));
    let outcome = map.apply(&Invocation::new(map::GET, [1.to_value()])).expect("a key");
    assert_eq!(outcome.now, pending);
    cell.set(4).expect("empty");
    assert_eq!(outcome.later.expect("it can change")(), Value::Int(4));
    assert_eq!(map.snapshot(), Value::map([(1.to_value(), Value::Int(4))]));
    map.restore(&Value::map([(1.to_value(), Value::Int(4))])).expect("a cell");
    assert!(!Arc::ptr_eq(&cell, &map.get(&1).expect("there")), "a restored cell is in nobody else's hands");
}

#[test]
fn a_state_is_read_beside_guards() {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    let known = entries(&[(1, 5), (2, 6)]);
    map.restore(&known).expect("integers");
    let mut guard = map.get_mut(&1).expect("there");
    *guard = 9;
    map.insert(2, 8);
    map.insert(3, 7);
    assert_eq!(map.snapshot_beside_guards(&known), entries(&[(1, 5), (2, 8), (3, 7)]));
    drop(guard);
    assert_eq!(map.snapshot_beside_guards(&known), entries(&[(1, 9), (2, 8), (3, 7)]));
}

#[test]
fn a_map_outside_a_session_is_no_step_though_bound() {
    let recorder = Recorder::new();
    let map = recorder.make(Map::new);
    without_session(|| assert_eq!(map.insert(1, 2), None));
    let ((), log) = recorder.run(|| without_session(|| assert_eq!(map.insert(1, 2), Some(2))));
    assert!(log.is_empty());
}
