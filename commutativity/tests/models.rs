//! What each model does, written out by hand.

use interloper_commutativity::models::{
    KeyedTextModel, RegisterModel, SmallestFirstModel, keyed_text, model_named, models,
};
use interloper_commutativity::{Invocation, Model, Value};

/// Runs the calls (a name and integer arguments, `-` standing for `none`) from the initial state and compares the text
/// of each result, and of the state at the end.
fn check(model: &dyn Model, calls: &[(&str, &str)], end: &str) {
    let mut state = model.initial();
    for (text, expected) in calls {
        let mut words = text.split(' ');
        let name = words.next().expect("a method");
        let method = model.method_named(name).unwrap_or_else(|| panic!("{} has no {name}", model.name()));
        let argument = |word: &str| if word == "-" { Value::None } else { Value::Int(word.parse().expect("a number")) };
        let call = Invocation::new(method, words.map(argument));
        assert_eq!(call.arguments.len(), model.method(method).parameters.len(), "{text}");
        let result = model.apply(&mut state, &call);
        assert_eq!(result.to_string(), *expected, "{text} of {}, now {state}", model.name());
    }
    assert_eq!(state.to_string(), end, "{}", model.name());
}

fn named(name: &str) -> std::sync::Arc<dyn Model> {
    model_named(name).expect("a model of that name")
}

const MAP: &[(&str, &str)] = &[
    ("get 1", "none"),
    ("insert 1 10", "none"),
    ("insert 1 11", "10"),
    ("insert_if_absent 1 12", "11"),
    ("insert_if_absent 2 20", "none"),
    ("contains_key 2", "true"),
    ("contains_key 3", "false"),
    ("replace 3 30", "none"),
    ("replace 2 21", "20"),
    ("replace_if_equal 2 20 22", "false"),
    ("replace_if_equal 2 21 22", "true"),
    ("remove_if_equal 1 10", "false"),
    ("len", "2"),
    ("next_after -", "(1, 11)"),
    ("next_after 1", "(2, 22)"),
    ("next_after 2", "none"),
    ("remove_if_equal 1 11", "true"),
    ("modify 1", "none"),
    ("modify 2", "22"),
    ("get 2", "f(22)"),
    ("is_empty", "false"),
    ("remove 2", "f(22)"),
    ("remove 2", "none"),
    ("is_empty", "true"),
    ("insert 4 40", "none"),
    ("clear", "()"),
    ("insert 5 50", "none"),
];

#[test]
fn maps() {
    check(&*named("map"), MAP, "{5: 50}");
    check(&*named("sorted-map"), MAP, "{5: 50}");
}

#[test]
fn sorted_map() {
    let calls = [
        ("first", "none"),
        ("pop_first", "none"),
        ("pop_last", "none"),
        ("insert 1 10", "none"),
        ("insert 3 30", "none"),
        ("insert 5 50", "none"),
        ("insert 7 70", "none"),
        ("first", "(1, 10)"),
        ("last", "(7, 70)"),
        ("lower_bound 3", "(3, 30)"),
        ("lower_bound 4", "(5, 50)"),
        ("lower_bound 8", "none"),
        ("upper_bound 3", "(3, 30)"),
        ("upper_bound 4", "(3, 30)"),
        ("upper_bound 0", "none"),
        ("pop_first", "(1, 10)"),
        ("pop_last", "(7, 70)"),
    ];
    check(&*named("sorted-map"), &calls, "{3: 30, 5: 50}");
}

const SET: &[(&str, &str)] = &[
    ("contains 1", "false"),
    ("insert 1", "true"),
    ("insert 1", "false"),
    ("insert 2", "true"),
    ("contains 2", "true"),
    ("next_after -", "1"),
    ("next_after 1", "2"),
    ("next_after 2", "none"),
    ("len", "2"),
    ("remove 1", "true"),
    ("remove 1", "false"),
    ("is_empty", "false"),
    ("clear", "()"),
    ("is_empty", "true"),
    ("insert 3", "true"),
];

#[test]
fn sets() {
    check(&*named("set"), SET, "{3}");
    check(&*named("sorted-set"), SET, "{3}");
}

#[test]
fn sorted_set() {
    let calls = [
        ("first", "none"),
        ("pop_last", "none"),
        ("insert 1", "true"),
        ("insert 3", "true"),
        ("insert 5", "true"),
        ("first", "1"),
        ("last", "5"),
        ("lower_bound 2", "3"),
        ("upper_bound 2", "1"),
        ("pop_first", "1"),
        ("pop_last", "5"),
    ];
    check(&*named("sorted-set"), &calls, "{3}");
}

#[test]
fn queues() {
    let calls = [
        ("peek", "none"),
        ("pop", "none"),
        ("push 1", "()"),
        ("push 2", "()"),
        ("push 3", "()"),
        ("peek", "1"),
        ("contains 2", "true"),
        ("contains 4", "false"),
        ("pop", "1"),
        ("len", "2"),
        ("clear", "()"),
        ("is_empty", "true"),
        ("push 5", "()"),
        ("push 6", "()"),
    ];
    check(&*named("queue"), &calls, "[5, 6]");
}

#[test]
fn bounded_queue() {
    let calls = [
        ("pop", "none"),
        ("is_empty", "true"),
        ("capacity", "2"),
        ("push 1", "Ok(())"),
        ("force_push 2", "none"),
        ("is_full", "true"),
        ("push 3", "Err(3)"),
        ("force_push 4", "1"),
        ("len", "2"),
        ("pop", "2"),
        ("is_full", "false"),
    ];
    check(&*named("bounded-queue"), &calls, "[4]");
}

#[test]
#[should_panic(expected = "at least 1")]
fn a_queue_for_nothing() {
    interloper_commutativity::models::BoundedQueueModel::new(0);
}

#[test]
fn deque() {
    let calls = [
        ("front", "none"),
        ("pop_back", "none"),
        ("push_back 1", "()"),
        ("push_back 2", "()"),
        ("push_front 3", "()"),
        ("push_front 4", "()"),
        ("front", "4"),
        ("back", "2"),
        ("contains 3", "true"),
        ("len", "4"),
        ("pop_front", "4"),
        ("pop_back", "2"),
        ("is_empty", "false"),
    ];
    check(&*named("deque"), &calls, "[3, 1]");
    check(&*named("deque"), &[("push_back 1", "()"), ("clear", "()"), ("back", "none")], "[]");
}

#[test]
fn stack() {
    let calls = [
        ("pop", "none"),
        ("push 1", "()"),
        ("push 2", "()"),
        ("push 3", "()"),
        ("peek", "3"),
        ("pop", "3"),
        ("len", "2"),
        ("is_empty", "false"),
    ];
    check(&*named("stack"), &calls, "[1, 2]");
    check(&*named("stack"), &[("push 1", "()"), ("clear", "()"), ("peek", "none")], "[]");
}

#[test]
fn priority_queue() {
    let calls = [
        ("pop", "none"),
        ("push 2", "()"),
        ("push 3", "()"),
        ("push 1", "()"),
        ("push 2", "()"),
        ("peek", "3"),
        ("pop", "3"),
        ("len", "3"),
        ("is_empty", "false"),
    ];
    check(&*named("priority-queue"), &calls, "[1, 2, 2]");
    check(&*named("priority-queue"), &[("push 1", "()"), ("clear", "()"), ("peek", "none")], "[]");
    let calls =
        [("push 2", "()"), ("push 3", "()"), ("push 1", "()"), ("peek", "1"), ("pop", "1"), ("pop", "2"), ("len", "1")];
    check(&SmallestFirstModel, &calls, "[3]");
}

#[test]
fn keyed_text() {
    let mut state = KeyedTextModel.initial();
    let mut run = |name: &str, arguments: &[&Value]| {
        let method = KeyedTextModel.method_named(name).expect("a method of the store");
        KeyedTextModel.apply(&mut state, &Invocation::new(method, arguments.iter().copied().cloned())).to_string()
    };
    let (key, piece) = (Value::Int(1), Value::text("a"));
    assert_eq!(run("get", &[&key]), "\"\"");
    assert_eq!(run("append", &[&key, &piece]), "()");
    assert_eq!(run("append", &[&key, &piece]), "()");
    assert_eq!(run("get", &[&key]), "\"aa\"");
    assert_eq!(run("put", &[&key, &piece]), "()");
    assert_eq!(run("put", &[&key, &Value::Int(2)]), "refused", "only a text can be appended to");
    assert_eq!(run("append", &[&key]), "refused");
    assert_eq!(run("get", &[&key]), "\"a\"");
    assert_eq!(run("get", &[&Value::Int(2)]), "\"\"");
    assert_eq!(
        KeyedTextModel.apply(&mut Value::Int(0), &Invocation::new(keyed_text::GET, [piece])).to_string(),
        "refused"
    );
    assert!(KeyedTextModel.specification().is_none());
}

const REGISTER: &[(&str, &str)] = &[
    ("load", "0"),
    ("store 5", "()"),
    ("swap 6", "5"),
    ("compare_exchange 5 7", "Err(6)"),
    ("compare_exchange 6 7", "Ok(6)"),
    ("fetch_add 3", "7"),
    ("fetch_sub 1", "10"),
    ("fetch_max 4", "9"),
    ("fetch_max 11", "9"),
    ("fetch_min 20", "11"),
    ("fetch_min 9223372036854775807", "11"),
    ("fetch_add 9223372036854775807", "11"),
    ("fetch_sub -9223372036854775798", "-9223372036854775798"),
    ("modify", "0"),
    ("fetch_add 1", "type"),
];

#[test]
fn counter_and_register() {
    check(&*named("counter"), REGISTER, "f(0)");
    check(&*named("register"), REGISTER, "f(0)");
    check(&RegisterModel { initial: Value::text("a") }, &[("fetch_max 1", "type"), ("load", "\"a\"")], "\"a\"");
}

#[test]
fn sorted_types_begin_with_the_methods_of_the_unsorted() {
    for (plain, sorted) in [("map", "sorted-map"), ("set", "sorted-set")] {
        let (plain, sorted) = (named(plain), named(sorted));
        assert!(sorted.methods().starts_with(plain.methods()));
    }
}

#[test]
fn names_are_unique() {
    let all = models();
    let expected = "map sorted-map set sorted-set queue bounded-queue deque stack priority-queue counter register";
    assert_eq!(all.iter().map(|model| model.name()).collect::<Vec<_>>().join(" "), expected);
    for model in &all {
        for (index, method) in model.methods().iter().enumerate() {
            assert_eq!(model.method_named(method.name).map(|id| usize::from(id.0)), Some(index), "{}", method.name);
        }
    }
    assert!(model_named("tree").is_none());
}

/// A wrong call changes nothing; so does a call on a state of another type.
#[test]
fn wrong_calls_are_refused() {
    for model in models() {
        for (index, method) in model.methods().iter().enumerate() {
            let arguments = vec![Value::Int(1); method.parameters.len() + 1];
            let call = Invocation::new(interloper_commutativity::MethodId(index as u8), arguments);
            let mut state = model.initial();
            assert_eq!(model.apply(&mut state, &call).to_string(), "refused");
            assert_eq!(state, model.initial());
            if !matches!(model.initial(), Value::Int(_)) {
                let call = Invocation::new(call.method, call.arguments[1..].iter().cloned());
                let mut state = Value::text("not a container");
                assert_eq!(model.apply(&mut state, &call).to_string(), "refused");
                assert_eq!(state, Value::text("not a container"));
            }
        }
    }
}

/// A map that holds `none` tells it from an absent key, also when it is iterated by keys.
#[test]
fn none_as_key_and_value() {
    let map = named("map");
    let mut state = Value::map([(Value::None, Value::None)]);
    let mut run = |name: &str, arguments: Vec<Value>| {
        let method = map.method_named(name).expect("a method of the map");
        map.apply(&mut state, &Invocation::new(method, arguments)).to_string()
    };
    assert_eq!(run("get", vec![Value::None]), "Some(none)");
    assert_eq!(run("next_after", vec![Value::None]), "(none, none)");
    assert_eq!(run("next_after", vec![Value::option(Some(Value::None))]), "none");
    assert_eq!(run("remove", vec![Value::None]), "Some(none)");
    assert_eq!(run("get", vec![Value::None]), "none");
}
