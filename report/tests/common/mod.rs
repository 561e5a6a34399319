//! Counterexamples that several tests render.

use interloper_report::{Column, Counterexample, Deadlock, Event, Lane, Order, Place, Row};

pub fn column(title: &str, lane: Lane) -> Column {
    Column { title: title.into(), lane }
}

pub fn order(sequence: &str, disagreement: &str) -> Order {
    Order { sequence: sequence.into(), disagreement: disagreement.into() }
}

/// The example of DESIGN.md.
pub fn memoize() -> Counterexample {
    Counterexample {
        name: "memoize".into(),
        verdict: "not linearizable".into(),
        detail: "2 environment operations, execution 17".into(),
        start: "{}".into(),
        columns: vec![column("method under test: memoize(7)", Lane::Method), column("environment", Lane::Environment)],
        rows: vec![
            Row::operation(0, "get(7) → none", "{}"),
            Row::operation(1, "insert(7, 12) → none", "{7: 12}"),
            Row::operation(0, "insert_if_absent(7, 14) → 12", "{7: 12}"),
            Row::operation(1, "remove(7) → 12", "{}"),
            Row::operation(0, "get(7) → none", "{}"),
            Row::event(0, Event::Returned("none".into())),
        ],
        orders: vec![
            order("memoize, insert, remove", "memoize returns 14"),
            order("insert, memoize, remove", "memoize returns 12"),
            order("insert, remove, memoize", "memoize returns 14, and {7: 14} remains"),
        ],
        deadlock: None,
        replay: Some("interloper replay interloper-failures/memoize-42.json".into()),
    }
}

/// A guard of a map that is alive when the same shard is locked again: no orders, no replay, places and notes.
pub fn deadlock() -> Counterexample {
    let place = |operation: &str, location: &str| Place { operation: operation.into(), location: location.into() };
    Counterexample {
        name: "touch".into(),
        verdict: "deadlock".into(),
        detail: String::new(),
        start: "users: {1: 5}, recent: []".into(),
        columns: vec![column("method under test: touch(1)", Lane::Method)],
        rows: vec![
            Row {
                location: Some("src/lru.rs:10:31".into()),
                source: Some("let Some(mut last) = users.get_mut(&key) else { return };".into()),
                notes: vec!["holds users[1]".into()],
                ..Row::operation(0, "users.get_mut(1) → 5", "users: {1: 5}, recent: []")
            },
            Row {
                location: Some("src/lru.rs:12:15".into()),
                source: Some("users.insert(key, *last + 1);".into()),
                ..Row::event(0, Event::Blocked("users.insert(1, 6) never returns".into()))
            },
        ],
        orders: Vec::new(),
        deadlock: Some(Deadlock {
            held: place("users.get_mut(1) holds a lock of users", "src/lru.rs:10:31"),
            wanted: place("users.insert(1, 6) needs it", "src/lru.rs:12:15"),
        }),
        replay: None,
    }
}

/// Two overlapping calls, no environment; one of them panics.
pub fn overlapping() -> Counterexample {
    Counterexample {
        name: "pop_if_not_empty".into(),
        verdict: "not linearizable".into(),
        detail: "0 environment operations, execution 4".into(),
        start: "[1]".into(),
        columns: vec![column("A: pop_if_not_empty()", Lane::Method), column("B: pop_if_not_empty()", Lane::Method)],
        rows: vec![
            Row::event(0, Event::Called("pop_if_not_empty()".into())),
            Row::event(1, Event::Called("pop_if_not_empty()".into())),
            Row::operation(0, "is_empty() → false", "[1]"),
            Row::operation(1, "is_empty() → false", "[1]"),
            Row::operation(0, "pop() → 1", "[]"),
            Row::event(0, Event::Returned("1".into())),
            Row::operation(1, "pop() → none", "[]"),
            Row::event(1, Event::Panicked("called `Option::unwrap()` on a `None` value\nwhile popping".into())),
        ],
        orders: vec![order("A, B", "B returns none"), order("B, A", "B returns 1")],
        deadlock: None,
        replay: Some("interloper replay interloper-failures/pop_if_not_empty-42.json".into()),
    }
}

/// Text that would be markup, an escape sequence, or wider than its number of characters.
pub fn hostile() -> Counterexample {
    Counterexample {
        name: "<script>alert(1)</script>".into(),
        verdict: "not \"linearizable\" & more".into(),
        detail: "\u{1b}[31m".into(),
        start: "{\"キー\": \"値\"}".into(),
        columns: vec![column("<b>MUT</b>", Lane::Method), column("'env' \u{202e}", Lane::Environment)],
        rows: vec![
            Row::operation(0, "get(\"キー\") → \"</td>\"", "{\"キー\": \"値\"}"),
            Row { notes: vec!["<i>".into()], ..Row::operation(1, "remove(\"\u{7}\r\") → none", "{}") },
        ],
        orders: vec![order("<a>, b", "&amp; \" onload=\"x")],
        deadlock: None,
        replay: Some("interloper replay 'a<b>.json'".into()),
    }
}
