use std::time::Duration;

use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::object::Object;
use crate::testing::method;

fn apart(object: &Object, name: &str) -> Searched {
    Campaign::staged(object, 1).method_apart(method(object, name), &mut Visits::default(), &mut |_| Next::Continue)
}

fn at_first(object: &Object, name: &str) -> Searched {
    Campaign::staged(object, 1).method(method(object, name), &mut |_| Next::Continue)
}

fn left_out(searched: &Searched) -> Vec<Vec<MethodId>> {
    searched.left_out.iter().map(|faulty| faulty.methods.iter().copied().collect()).collect()
}

/// No method is trusted: `bump` is wrong by itself, `add` and `get` are atomic.
fn numbers() -> Object {
    Object::describe("numbers", || AtomicI64::new(0))
        .method("add", |number, ()| number.fetch_add(1, SeqCst))
        .method("get", |number, ()| number.load(SeqCst))
        .reads()
        .method("bump", |number, ()| {
            let value = number.load(SeqCst);
            number.store(value + 1, SeqCst);
            value
        })
        .build()
}

#[test]
fn a_search_goes_on_without_the_methods_that_are_at_fault() {
    let object = numbers();
    let bump = method(&object, "bump");
    for name in ["add", "get"] {
        let before = at_first(&object, name);
        assert!(before.of_core && before.blamed == [bump].into(), "{name}");
        let after = apart(&object, name);
        assert_eq!((after.found(), after.of_core), (None, false), "{name}");
        assert_eq!(left_out(&after), [[bump]], "{name}");
        let schema = &after.left_out[0].smallest.found.schema;
        let others = schema.sequences().iter().flatten().filter(|call| &*call.method != "bump").count();
        assert!(schema.len() == 2 && others < 2, "{schema}");
        assert!(after.hunted.schemas > before.hunted.schemas, "{name}");
    }
}

/// `fill` is at fault: it adds one in two steps. `drain` is wrong only beside itself and where something is there, and nothing but `fill`
/// brings it.
#[test]
fn methods_at_fault_still_fill_the_object() {
    let object = |at_once: bool| {
        Object::describe("tank", || AtomicI64::new(0))
            .core("fill", |tank, ()| {
                let level = tank.load(SeqCst);
                tank.store(level + 1, SeqCst);
                level
            })
            .core("get", |tank, ()| tank.load(SeqCst))
            .reads()
            .method("drain", move |tank, ()| {
                if at_once {
                    let drained = tank.fetch_update(SeqCst, SeqCst, |level| (level > 0).then_some(level - 1));
                    return drained.is_ok();
                }
                let has_some = tank.load(SeqCst) > 0;
                if has_some {
                    tank.fetch_sub(1, SeqCst);
                }
                has_some
            })
            .build()
    };
    let sloppy = object(false);
    let drain = apart(&sloppy, "drain");
    assert_eq!(left_out(&drain), [[method(&sloppy, "fill")]]);
    assert!(!drain.of_core, "{drain:?}");
    let schema = drain.found().expect("two calls drain the same").schema.to_string();
    assert_eq!(schema, "[fill()], [drain()], [drain()], {0<1, 0<2}");
    // Its twin.
    let drain = apart(&object(true), "drain");
    assert_eq!((drain.found(), drain.left_out.len()), (None, 1));
}

#[test]
fn what_is_wrong_by_itself_needs_no_second_search() {
    let object = numbers();
    let bump = apart(&object, "bump");
    assert_eq!(left_out(&bump), <Vec<Vec<MethodId>>>::new());
    assert_eq!(bump.found(), at_first(&object, "bump").found());
}

/// The smallest schemas of `look` show what is wrong with the core method `bump`. A call of `add` can come between the halves of `look`.
#[test]
fn a_violation_of_the_method_is_found_after_those_of_others() {
    let object = Object::describe("numbers", || AtomicI64::new(0))
        .core("add", |number, ()| number.fetch_add(1, SeqCst))
        .core("bump", |number, ()| {
            let value = number.load(SeqCst);
            number.store(value + 1, SeqCst);
            value
        })
        .method("look", |number, (third,): (bool,)| {
            // Only where two numbers have been added does it look twice.
            let first = number.load(SeqCst);
            (first, if first == 2 && third { number.load(SeqCst) } else { 2 })
        })
        .reads()
        .build();
    let look = apart(&object, "look");
    let schema = look.found().expect("a call comes between").schema.to_string();
    assert!(schema.contains("look(") && !look.of_core && !schema.contains("bump"), "{schema}");
    assert_eq!(left_out(&look), [[method(&object, "bump")]]);
}

#[test]
fn where_nothing_is_left_beside_it_nothing_is_known_of_a_method() {
    let object = Object::describe("number", || AtomicI64::new(0))
        .core("bump", |number, ()| {
            let value = number.load(SeqCst);
            number.store(value + 1, SeqCst);
            value
        })
        .method("get", |number, ()| number.load(SeqCst))
        .reads()
        .build();
    let get = apart(&object, "get");
    assert!(get.of_core && get.left_out.is_empty());
    assert_eq!(get.blamed, [method(&object, "bump")].into());
}

/// An interrupted hunt goes on in the further search, too. Its schemas are not taken for those of the first search that have their numbers.
#[test]
fn the_visits_of_further_searches_are_kept() {
    let object = numbers();
    let campaign = Campaign::staged(&object, 1).of_at_most(20);
    let add = method(&object, "add");
    let search = |visits: &mut Visits| {
        let mut searched = campaign.method_apart(add, visits, &mut |_| Next::Continue);
        searched.hunted.took = Duration::ZERO;
        searched
    };
    let first = campaign.method(add, &mut |_| Next::Continue).hunted;
    let mut visits = Visits::default();
    let whole = search(&mut visits);
    let made: Vec<_> = visits.into_made().collect();
    assert!(whole.left_out.len() == 1 && made.len() as u64 > first.schemas, "{} of {}", made.len(), first.schemas);
    for kept in 0..=made.len() {
        let mut after = Visits::after(made[..kept].iter().cloned());
        assert_eq!(search(&mut after), whole, "after {kept}");
        assert_eq!(after.into_made().collect::<Vec<_>>(), made);
    }
}

#[test]
fn what_the_watch_sees_goes_on_counting() {
    let object = numbers();
    let mut seen = Vec::new();
    let campaign = Campaign::staged(&object, 1).of_at_most(20);
    let searched = campaign.method_apart(method(&object, "add"), &mut Visits::default(), &mut |progress| {
        if progress.smaller.is_none() {
            seen.push(progress.schemas);
        }
        Next::Continue
    });
    assert!(seen.is_sorted() && searched.left_out.len() == 1, "{seen:?}");
    assert!(*seen.last().expect("there are some") <= searched.hunted.schemas);
}
