//! Every row of Table 2 of *Weak-consistency specification via visibility relaxation*: the outcome is refused at the level
//! that it violates and admitted at the next weaker one, where there is one. All other methods are complete.
//!
//! Differences to the printed table: `null` as the result of a method without one is `()` here (the first row has `()` there
//! too), sets of elements are lists, `removeLastO` is `removeLastOccurrence`, and the results of `toString`, which the table
//! prints as if they were collections, are texts as Java makes them.

use interloper_commutativity::Value;

use super::{DEFAULT_BOUND, outcomes};
use crate::program::{Program, Typed};
use crate::schema::Schema;
use crate::types::{error, type_named};
use crate::visibility::{Level, Visibility};

/// Program, method, outcome, violated level.
type Row = (&'static str, &'static str, &'static str, Level);

fn value(text: &str) -> Value {
    let schema = Schema::parse(&format!("{{ f({text}) }}")).unwrap_or_else(|mistake| panic!("{mistake}"));
    schema.sequences()[0][0].arguments[0].clone()
}

/// A result in the notation of the table: N, T, F, E for an exception, `1=0` for an entry, `[1=0]` for a list of entries.
fn result(text: &str) -> Value {
    match text {
        "N" => Value::None,
        "T" => Value::Bool(true),
        "F" => Value::Bool(false),
        "E" => error("empty"),
        "()" => Value::Unit,
        _ if text.starts_with('"') => value(text),
        _ => match text.split_once('=') {
            None => value(text),
            Some(_) => match value(&format!("{{{}}}", text.trim_matches(['[', ']']))) {
                Value::Map(entries) => {
                    let mut entries: Vec<Value> =
                        entries.iter().map(|(key, value)| Value::tuple([key.clone(), value.clone()])).collect();
                    if text.starts_with('[') { Value::list(entries) } else { entries.remove(0) }
                }
                _ => panic!("{text} is no result"),
            },
        },
    }
}

/// Results stand between semicolons.
fn check(name: &str, rows: &[Row]) {
    let data_type = type_named(name).expect("a type");
    for (text, method, results, violated) in rows {
        let schema = Schema::parse(text).unwrap_or_else(|mistake| panic!("{mistake}"));
        schema.check(data_type).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert!(schema.invocations().any(|invocation| &*invocation.method == *method), "{method} in {text}");
        let outcome: Vec<Value> = results.split(" ; ").map(result).collect();
        let is_admitted = |level: Level| {
            let program = Program::new(&schema, &Visibility::complete().with(method, level)).expect("small");
            outcomes(&mut Typed::new(data_type, &schema), &program, DEFAULT_BOUND).expect("small").contains(&outcome)
        };
        assert_eq!(outcome.len(), schema.len());
        // A row that is written wrongly would be refused at every level: each result by itself must be possible.
        let mut weak = Visibility::complete();
        schema.invocations().for_each(|invocation| weak.set(&invocation.method, vec![Level::Weak.into()]));
        let program = Program::new(&schema, &weak).expect("small");
        let possible = outcomes(&mut Typed::new(data_type, &schema), &program, DEFAULT_BOUND).expect("small").sorted();
        for (index, invocation) in schema.invocations().enumerate() {
            let is_possible = possible.iter().any(|other| other[index] == outcome[index]);
            assert!(is_possible || &*invocation.method == *method, "{text}: {} of {invocation}", outcome[index]);
        }
        assert!(!is_admitted(*violated), "{text}: {results} is admitted with {method}={violated}");
        if let Some(weaker) = violated.weaker() {
            assert!(is_admitted(weaker), "{text}: {results} is refused with {method}={weaker}");
        }
    }
}

use Level::{Basic, Peer, Weak};

#[test]
fn concurrent_hash_map() {
    check(
        "map",
        &[
            ("{ put(0,0); put(1,1); put(1,1) } || { put(0,1); clear() }", "clear", "N ; N ; N ; N ; ()", Weak),
            ("{ put(0,0); remove(1) } || { put(1,0); contains(0) }", "contains", "N ; 0 ; N ; F", Peer),
            (
                "{ get(1); containsValue(1) } || { put(1,1); put(0,1); put(1,0) }",
                "containsValue",
                "1 ; F ; N ; N ; 1",
                Peer,
            ),
            ("{ put(0,1); put(1,0) } || { elements() }", "elements", "N ; N ; [0]", Peer),
            ("{ put(0,1); put(1,0) } || { entrySet() }", "entrySet", "N ; N ; [1=0]", Peer),
            ("{ put(1,1) } || { put(1,2); isEmpty() }", "isEmpty", "N ; 1 ; T", Basic),
            ("{ put(0,1); put(1,1) } || { keySet() }", "keySet", "N ; N ; [1]", Peer),
            ("{ keys() } || { put(0,1); put(1,1) }", "keys", "[1] ; N ; N", Peer),
            ("{ put(1,0); put(1,1); mappingCount() } || { remove(1) }", "mappingCount", "N ; N ; 2 ; 0", Weak),
            ("{ put(1,0); put(1,1); size() } || { remove(1) }", "size", "N ; N ; 2 ; 0", Weak),
            ("{ put(0,1); put(1,1) } || { toString() }", "toString", "N ; N ; \"{1=1}\"", Peer),
            ("{ put(0,1); put(1,0) } || { values() }", "values", "N ; N ; [0]", Peer),
        ],
    );
}

#[test]
fn concurrent_skip_list_map() {
    check(
        "sorted-map",
        &[
            (
                "{ put(1,1); clear(); remove(1); containsKey(1) } || { get(1); put(0,0) }",
                "clear",
                "N ; () ; N ; T ; 1 ; N",
                Weak,
            ),
            ("{ put(0,0); remove(1) } || { put(1,0); containsValue(0) }", "containsValue", "N ; 0 ; N ; F", Peer),
            ("{ put(0,1); entrySet() } || { put(0,0); put(1,1) }", "entrySet", "N ; [0=1,1=1] ; 1 ; N", Peer),
            (
                "{ put(0,1); put(1,0) } || { put(1,1); pollFirstEntry(); get(1); remove(0) }",
                "pollFirstEntry",
                "N ; 1 ; N ; 1=0 ; N ; 1",
                Weak,
            ),
            (
                "{ get(0); put(1,0); put(0,0) } || { put(0,1); pollLastEntry(); put(0,1) }",
                "pollLastEntry",
                "N ; N ; 1 ; N ; 0=0 ; N",
                Weak,
            ),
            ("{ put(0,1); remove(1) } || { put(1,1); size() }", "size", "N ; 1 ; N ; 0", Peer),
            (
                "{ put(0,1); containsKey(0); put(0,0); put(1,0) } || { tailMap(0) }",
                "tailMap",
                "N ; T ; 1 ; N ; [0=1,1=0]",
                Peer,
            ),
            ("{ put(0,1); put(1,1) } || { put(0,0); toString() }", "toString", "0 ; N ; N ; \"{0=0, 1=1}\"", Peer),
            ("{ put(0,1); put(1,1) } || { put(0,0); values() }", "values", "0 ; N ; N ; [0,1]", Peer),
        ],
    );
}

#[test]
fn concurrent_skip_list_set() {
    check(
        "sorted-set",
        &[
            (
                "{ add(0); contains(1) } || { add(1); clear(); remove(1); contains(1) }",
                "clear",
                "T ; T ; T ; () ; F ; T",
                Weak,
            ),
            ("{ remove(0); remove(1) } || { add(0); add(1); headSet(2) }", "headSet", "T ; T ; T ; T ; [0]", Peer),
            (
                "{ add(0); add(1); contains(0) } || { add(1); pollFirst(); remove(1) }",
                "pollFirst",
                "T ; F ; T ; T ; 1 ; F",
                Weak,
            ),
            (
                "{ add(1); add(0); contains(0); add(0) } || { add(0); pollLast() }",
                "pollLast",
                "T ; F ; F ; T ; T ; 0",
                Weak,
            ),
            ("{ add(0); remove(1) } || { add(1); size() }", "size", "T ; T ; T ; 0", Peer),
            ("{ subSet(0,3) } || { add(1); add(0); add(2) }", "subSet", "[1,2] ; T ; T ; T", Peer),
            ("{ tailSet(0) } || { add(1); add(0); remove(0); remove(1) }", "tailSet", "[0] ; T ; T ; T ; T", Peer),
            ("{ remove(0); remove(1) } || { add(0); add(1); toArray() }", "toArray", "T ; T ; T ; T ; [0]", Peer),
            ("{ add(0); add(1); toString() } || { remove(0); remove(1) }", "toString", "T ; T ; \"[0]\" ; T ; T", Peer),
        ],
    );
}

#[test]
fn queues() {
    check(
        "queue",
        &[
            // ConcurrentLinkedQueue
            ("{ peek(); clear() } || { offer(0); peek(); offer(0); poll() }", "clear", "N ; () ; T ; N ; T ; N", Weak),
            ("{ poll(); offer(0) } || { offer(1); size() }", "size", "1 ; T ; T ; 2", Peer),
            ("{ toArray() } || { offer(1); poll(); offer(0) }", "toArray", "[1,0] ; T ; 1 ; T", Peer),
            ("{ offer(0); poll(); offer(0) } || { toString() }", "toString", "T ; 0 ; T ; \"[0, 0]\"", Peer),
            // LinkedTransferQueue
            ("{ clear() } || { offer(0); poll(); offer(1); peek(); peek() }", "clear", "() ; T ; N ; T ; 1 ; N", Weak),
            ("{ size() } || { offer(0); poll(); offer(1) }", "size", "2 ; T ; 0 ; T", Peer),
            ("{ toArray() } || { offer(1); poll(); offer(0) }", "toArray", "[1,0] ; T ; 1 ; T", Peer),
            ("{ poll(); offer(1) } || { offer(1); toString() }", "toString", "1 ; T ; T ; \"[1, 1]\"", Peer),
            // LinkedBlockingQueue
            ("{ offer(0); peek(); poll() } || { poll(); poll(); offer(1) }", "peek", "T ; 1 ; N ; 0 ; N ; T", Weak),
        ],
    );
}

#[test]
fn concurrent_linked_deque() {
    check(
        "deque",
        &[
            (
                "{ poll(); peek(); poll() } || { addFirst(1); peek(); offer(0) }",
                "addFirst",
                "0 ; 1 ; 1 ; () ; 1 ; T",
                Weak,
            ),
            (
                "{ offer(0); clear() } || { offer(0); peek(); offer(1); poll() }",
                "clear",
                "T ; () ; T ; N ; T ; N",
                Weak,
            ),
            ("{ offer(1); getLast() } || { offer(0); poll() }", "getLast", "T ; E ; T ; 1", Peer),
            (
                "{ poll(); poll() } || { offerFirst(0); peek(); offer(1); offer(1) }",
                "offerFirst",
                "1 ; 0 ; T ; 0 ; T ; T",
                Weak,
            ),
            ("{ offer(1); peekLast() } || { offer(0); poll() }", "peekLast", "T ; N ; T ; 1", Peer),
            ("{ offer(0); offer(1); peek(); poll() } || { pollLast() }", "pollLast", "T ; T ; 0 ; 1 ; 0", Weak),
            (
                "{ peek(); removeLastOccurrence(1); poll() } || { offer(1); offer(1); poll() }",
                "removeLastOccurrence",
                "1 ; F ; 1 ; T ; T ; 1",
                Weak,
            ),
            ("{ offer(0); poll() } || { offer(1); removeLast(); poll() }", "removeLast", "T ; 1 ; T ; E ; 0", Weak),
            ("{ offer(1); poll(); offer(1) } || { size() }", "size", "T ; 1 ; T ; 2", Peer),
            (
                "{ peek(); offer(1); offer(0); toArray() } || { poll(); poll() }",
                "toArray",
                "N ; T ; T ; [1] ; 1 ; 0",
                Basic,
            ),
            ("{ poll(); poll() } || { offer(1); offer(0); toString() }", "toString", "1 ; 0 ; T ; T ; \"[1]\"", Basic),
        ],
    );
}
