//! Hunts of objects with calls that wait.

use interloper_std::sync::{Condvar, Mutex};

use super::*;

/// A latch; the broken one tells those who wait of a number that it writes afterwards.
fn latch(broken: bool) -> Object {
    Object::describe("latch", || (Mutex::new(0_i64), Condvar::new()))
        .core("add", move |(number, changed), (amount,): (i64,)| {
            if broken {
                changed.notify_all();
            }
            *number.lock().unwrap() += amount;
            if !broken {
                changed.notify_all();
            }
        })
        .method("wait", |(number, changed), ()| {
            *changed.wait_while(number.lock().unwrap(), |number| *number == 0).unwrap()
        })
        .build()
}

fn hunted_in(object: &Object, engine: Engine, schemas: &[&str]) -> Hunted {
    let schemas = schemas.iter().map(|schema| Schema::parse(schema).expect("a schema")).collect();
    let source = Source::Given(schemas);
    Hunt { source, engine, ..Hunt::new(object, Pool::Together(vec![]), 1) }.run(&mut |_| Next::Continue)
}

/// A call that waits costs time once for an object, and not once for each order in which it waits.
#[test]
fn an_order_in_which_a_call_blocks_is_no_order() {
    let schemas = [
        "{ add(1) } || { wait() }",
        "{ wait() } || { wait() }",
        "{ add(1); wait() } || { wait() }",
        "{ wait(); add(2) } || { add(1) }",
        "{ add(1); add(1) } || { wait(); wait() }",
        "{ wait(); add(1) } || { wait(); add(1) }",
    ];
    let start = std::time::Instant::now();
    let hunted = hunted_in(&latch(false), Engine::exhaustive(), &schemas);
    assert!(start.elapsed() < 3 * crate::judged::PATIENCE, "{:?}", start.elapsed());
    assert_eq!((&hunted.end, hunted.schemas, hunted.coverage.complete), (&Ended::NoMore, 6, 4));
    // Without an `add` nobody knows whether a `wait` that returns is right: two of them may be there for each other.
    let skipped: Vec<String> =
        hunted.skipped.iter().map(|(schema, why)| format!("{schema}: {}", why.text(schema))).collect();
    assert_eq!(
        skipped,
        [
            "{ wait() } || { wait() }: wait() does not return on one thread",
            "{ wait(); add(1) } || { wait(); add(1) }: wait() does not return on one thread",
        ]
    );
    let broken = hunted_in(&latch(true), Engine::exhaustive(), &schemas);
    let Some(Found { schema, what: What::Outcome { outcome, admitted }, .. }) = broken.found() else {
        panic!("{broken:?}")
    };
    assert_eq!(schema.to_string(), "{ add(1) } || { wait() }");
    assert_eq!(*outcome, [Value::Unit, systematic::blocked()]);
    assert_eq!(*admitted, [[Value::Unit, Value::Int(1)]]);
    let object = latch(true);
    let found = broken.found().expect("a finding");
    let orders = crate::explain::explain(&object, "wait", object.visibility(), found).orders;
    let orders: Vec<String> =
        orders.iter().map(|order| format!("{}: {}", order.sequence, order.disagreement)).collect();
    assert_eq!(orders, ["add(1), wait(): wait() returns 1", "wait(), add(1): add(1) does not block"]);
}

/// The two sides of a rendezvous let each other go on, which no order of the two says. After `close` each returns alone.
#[test]
fn two_that_may_let_each_other_go_on_are_not_judged() {
    let object = Object::describe("rendezvous", || (Mutex::new((None::<i64>, false)), Condvar::new()))
        .core("close", |(state, changed), ()| {
            state.lock().unwrap().1 = true;
            changed.notify_all();
        })
        .method("give", |(state, changed), (item,): (i64,)| {
            let mut state = state.lock().unwrap();
            state.0 = Some(item);
            changed.notify_all();
            let mut state = changed.wait_while(state, |(item, closed)| item.is_some() && !*closed).unwrap();
            state.0.take().is_none()
        })
        .method("take", |(state, changed), ()| {
            let state = state.lock().unwrap();
            let mut state = changed.wait_while(state, |(item, closed)| item.is_none() && !*closed).unwrap();
            changed.notify_all();
            state.0.take()
        })
        .build();
    let schemas =
        ["{ give(1) } || { take() } || { close() }", "{ give(1) } || { close() }", "{ take() } || { close() }"];
    let hunted = hunted_in(&object, Engine::exhaustive(), &schemas);
    assert_eq!((&hunted.end, hunted.coverage.complete), (&Ended::NoMore, 2), "{hunted:?}");
    let [(schema, why)] = &hunted.skipped[..] else { panic!("{hunted:?}") };
    assert_eq!(schema.to_string(), schemas[0]);
    let says = "give(1) and take() wait at the same time in some order; if they let each other go on, no order says so";
    assert_eq!(why.text(schema), says);
}

/// One of two who wait for one item waits for ever, which every order says, too.
#[test]
fn a_program_may_stand_still_where_its_orders_do() {
    let queue = |careless: bool| {
        Object::describe("queue", || (Mutex::new(Vec::<i64>::new()), Condvar::new()))
            .core("put", |(items, changed), (item,): (i64,)| {
                items.lock().unwrap().push(item);
                changed.notify_all();
            })
            .method("take", move |(lock, changed), ()| {
                let mut items = changed.wait_while(lock.lock().unwrap(), |items| items.is_empty()).unwrap();
                if careless {
                    // Somebody else may come in between.
                    drop(items);
                    items = lock.lock().unwrap();
                }
                items.pop()
            })
            .build()
    };
    let schemas = ["{ put(1) } || { take() } || { take() }", "{ put(1); put(2) } || { take() } || { take() }"];
    let right = hunted_in(&queue(false), Engine::exhaustive(), &schemas);
    assert_eq!((&right.end, right.coverage.complete, &right.skipped[..]), (&Ended::NoMore, 2, &[][..]));
    let broken = hunted_in(&queue(true), Engine::exhaustive(), &schemas);
    let Some(Found { what: What::Outcome { outcome, .. }, .. }) = broken.found() else { panic!("{broken:?}") };
    assert!(outcome.contains(&Value::None) && !outcome.contains(&systematic::blocked()), "{outcome:?}");
}
