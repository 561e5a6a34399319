//! Checked, not trusted: every table agrees with running both orders, on all small states.

use std::collections::BTreeSet;

use interloper_commutativity::models::{
    BoundedQueueModel, MapModel, RegisterModel, SmallestFirstModel, map, model_named, models,
};
use interloper_commutativity::{Condition, Domain, Model, Side, Specification, Value, commute, invocations, states};

/// Compares `table` with brute force for every ordered pair of calls over `domain` from every one of `states`; how many
/// comparisons there were, or the first disagreement.
fn check(model: &dyn Model, table: &Specification, domain: &Domain, states: &[Value]) -> Result<usize, String> {
    let calls = invocations(model, |_| true, domain);
    let mut compared = 0;
    for state in states {
        for (row, column) in calls.iter().flat_map(|row| calls.iter().map(move |column| (row, column))) {
            let (says, is) = (table.conflicts(state, row, column), !commute(model, state, row, column));
            if says != is {
                let fault = if is { "too weak: they do not commute" } else { "too strong: they commute" };
                let pair = format!("{} × {}", row.text(model), column.text(model));
                return Err(format!("{}: {pair} from {state}: the table is {fault}", model.name()));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

fn integers(numbers: impl IntoIterator<Item = i64>) -> Vec<Value> {
    numbers.into_iter().map(Value::Int).collect()
}

/// 2 keys × 2 values, amounts 1 and 2.
fn small() -> Domain {
    Domain { keys: integers([1, 2]), values: integers([1, 2]), amounts: integers([1, 2]) }
}

/// The states that at most `depth` operations of any kind reach, not only those of an open environment.
fn reachable_by_all(model: &dyn Model, domain: &Domain, depth: usize) -> Vec<Value> {
    let calls = invocations(model, |_| true, domain);
    let mut reached = BTreeSet::from([model.initial()]);
    for _ in 0..depth {
        for state in Vec::from_iter(reached.clone()) {
            for call in &calls {
                let mut after = state.clone();
                model.apply(&mut after, call);
                reached.insert(after);
            }
        }
    }
    reached.into_iter().collect()
}

/// The comparisons are all there: states × calls × calls. The calls of a map, for example: 2 for each of the 4 methods
/// with a key, 4 for each of the 4 with a key and a value, 8 for `replace_if_equal`, 3 cursors, 3 without arguments.
#[test]
fn every_table_is_exact_on_all_small_states() {
    let expected = [
        ("map", 9, 38),
        ("sorted-map", 9, 38 + 4 + 4),
        ("set", 4, 12),
        ("sorted-set", 4, 12 + 4 + 4),
        ("queue", 31, 9),
        ("bounded-queue", 7, 9),
        ("deque", 31, 13),
        ("stack", 31, 7),
        ("priority-queue", 15, 7),
        ("counter", 17, 18),
        ("register", 3, 18),
    ];
    for (name, states_expected, calls) in expected {
        let model = model_named(name).expect("a model of that name");
        let table = model.specification().expect("a table");
        let states = states(&*model, &small(), 4);
        assert_eq!(states.len(), states_expected, "{name}");
        assert_eq!(check(&*model, table, &small(), &states), Ok(states_expected * calls * calls));
    }
}

/// A larger domain: 4 keys, so that there are keys between keys; an amount of 0; a value that is what the unknown
/// function makes of another one. The states are those of an open environment and those of all methods.
#[test]
fn every_table_is_exact_beyond_the_small_states() {
    let values = integers([1, 2]).into_iter().chain([Value::Int(1).modified()]).collect();
    let domain = Domain { keys: integers(1..=4), values, amounts: integers([0, 1, i64::MAX, -1]) };
    for model in models() {
        // A counter holds integers.
        let domain = match model.name() {
            "counter" => Domain { values: integers([0, 1, i64::MIN]), ..domain.clone() },
            _ => domain.clone(),
        };
        let mut all = states(&*model, &domain, 3);
        if model.name() != "counter" {
            all.extend(reachable_by_all(&*model, &domain, 2));
        }
        check(&*model, model.specification().expect("a table"), &domain, &all).expect("exact");
    }
}

#[test]
fn bounded_queues_of_every_capacity() {
    for capacity in 1..=4 {
        let model = BoundedQueueModel::new(capacity);
        let states = states(&model, &small(), 4);
        // 1 + 2 + … + 2^capacity lists; 9 calls.
        let count = ((1 << (capacity + 1)) - 1) * 9 * 9;
        assert_eq!(check(&model, model.specification().expect("a table"), &small(), &states), Ok(count));
    }
}

/// The table of the other priority queue is not exact for this one.
#[test]
fn priority_queues_in_either_order() {
    let states = states(&SmallestFirstModel, &small(), 4);
    let table = SmallestFirstModel.specification().expect("a table");
    assert_eq!(check(&SmallestFirstModel, table, &small(), &states), Ok(15 * 7 * 7));
    let other = model_named("priority-queue").expect("a model");
    check(&SmallestFirstModel, other.specification().expect("a table"), &small(), &states).expect_err("another order");
}

#[test]
fn registers_of_every_type() {
    let texts = || vec![Value::text("a"), Value::None, Value::Int(3), Value::Unit];
    let domain = Domain { values: texts(), amounts: integers([0, 3, 4]), keys: Vec::new() };
    for initial in texts() {
        let model = RegisterModel { initial };
        let states = reachable_by_all(&model, &domain, 2);
        check(&model, model.specification().expect("a table"), &domain, &states).expect("exact");
    }
}

/// A map of options: the value `none` is not the absence of one.
#[test]
fn maps_that_hold_none() {
    let domain = Domain { keys: vec![Value::None, Value::Int(1)], values: vec![Value::None, Value::Int(1)], ..small() };
    for name in ["map", "sorted-map", "set", "sorted-set", "queue", "bounded-queue", "deque", "stack"] {
        let model = model_named(name).expect("a model of that name");
        let states = states(&*model, &domain, 3);
        check(&*model, model.specification().expect("a table"), &domain, &states).expect("exact");
    }
}

fn map_table() -> Specification {
    MapModel.specification().expect("a table").clone()
}

fn check_map(table: &Specification) -> Result<usize, String> {
    check(&MapModel, table, &small(), &states(&MapModel, &small(), 4))
}

/// The canaries: the check itself can fail, in both directions, and names pair, arguments and state.
#[test]
fn a_weakened_table_is_caught() {
    let weak = map_table().with(map::REMOVE, map::GET, Condition::Never);
    let message = "map: get(1) × remove(1) from {1: 1}: the table is too weak: they do not commute";
    assert_eq!(check_map(&weak), Err(message.to_owned()));
}

#[test]
fn a_strengthened_table_is_caught() {
    let value = Side::Row.argument(0).value();
    let strong = map_table().with(map::INSERT_IF_ABSENT, map::GET, value.is_absent() | Condition::Always);
    let message = "map: get(1) × insert_if_absent(1, 1) from {1: 1}: the table is too strong: they commute";
    assert_eq!(check_map(&strong), Err(message.to_owned()));
}

/// Every single cell matters: negating any one of them is caught.
#[test]
fn every_cell_is_checked() {
    let ids = || (0..MapModel.methods().len() as u8).map(interloper_commutativity::MethodId);
    for (row, column) in ids().flat_map(|row| ids().map(move |column| (row, column))) {
        let wrong = map_table().with(row, column, !map_table().condition(row, column).clone());
        check_map(&wrong).expect_err("a negated cell");
    }
}
