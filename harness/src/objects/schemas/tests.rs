use std::collections::BTreeSet;

use super::slow::{class_of, classes};
use super::*;
use crate::object::Object;
use crate::testing::method;

/// A register that is written (core) and read (under test).
fn register(data_independent: bool) -> Object {
    let register = Object::describe("register", || ()).core("w", |_, (_,): (i64,)| ()).method("r", |_, ()| ()).reads();
    if data_independent { register.data_independent().build() } else { register.build() }
}

fn map(data_independent: bool) -> Object {
    let map = Object::describe("map", || ())
        .core("put", |_, (_, _): (i64, i64)| ())
        .core("get", |_, (_,): (i64,)| ())
        .reads()
        .method("clear", |_, ()| ())
        .method("size", |_, ()| ())
        .reads()
        .method("putAll", |_, (_,): (std::collections::BTreeMap<i64, i64>,)| ());
    if data_independent { map.data_independent().build() } else { map.build() }
}

fn enumeration(object: &Object, name: &str, rank: (usize, usize, u8), constraints: bool) -> Enumeration {
    let (invocations, sequences, values) = rank;
    Enumeration::new(object, &one(object, name), Rank { invocations, sequences, values }, constraints)
}

fn one(object: &Object, name: &str) -> Pool {
    Pool::One(method(object, name))
}

fn repeated(object: &Object, name: &str) -> Pool {
    Pool::Repeated(method(object, name))
}

fn pair(object: &Object, names: [&str; 2]) -> Pool {
    Pool::Pair(names.map(|name| method(object, name)))
}

#[test]
fn counts_of_a_register_are_those_found_by_hand() {
    let count =
        |data_independent, rank, constraints| enumeration(&register(data_independent), "r", rank, constraints).count();
    // [w], [r].
    assert_eq!(count(true, (2, 2, 1), false), 1);
    // [r w], [w]; [w r], [w]; [w w], [r].
    assert_eq!(count(true, (3, 2, 1), false), 3);
    // Each schema with w(0) and w(1) in either order, which are the same up to renaming.
    assert_eq!(count(true, (3, 2, 2), false), 3);
    assert_eq!(count(false, (3, 2, 2), false), 6);
    // One read and three writes: the read first, second or third in a sequence of three, or alone; or first or second in
    // one of two sequences of two.
    assert_eq!(count(true, (4, 2, 1), false), 6);
    // Three writes of two values, both used: 6 ways, 3 up to renaming.
    assert_eq!(count(false, (4, 2, 2), false), 36);
    assert_eq!(count(true, (4, 2, 2), false), 18);
    // Three values: 6 ways, 1 up to renaming.
    assert_eq!(count(false, (4, 2, 3), false), 36);
    assert_eq!(count(true, (4, 2, 3), false), 6);
    // [r], [w], [w] has 19 orders, 11 up to exchanging the writes. Nothing can go wrong where the read overlaps no write
    // and the writes do not overlap each other before it: the read before both writes (they overlap, or not), between
    // them, and after them when they are ordered. 7 are left.
    assert_eq!(count(true, (3, 3, 1), true), 7);
    assert_eq!(count(true, (3, 3, 1), false), 1);
}

#[test]
fn ranks_without_a_schema() {
    let count = |rank| enumeration(&register(true), "r", rank, true).count();
    assert_eq!(count((1, 1, 1)), 0);
    assert_eq!(count((2, 1, 1)), 0);
    assert_eq!(count((2, 3, 1)), 0);
    // Two values cannot be used by one write.
    assert_eq!(count((2, 2, 2)), 0);
}

#[test]
fn the_enumeration_is_the_slow_one() {
    let check =
        |object: &Object, pool: &Pool, (invocations, sequences, values): (usize, usize, u8), constraints: bool| {
            let rank = Rank { invocations, sequences, values };
            let expected = classes(object, pool, rank, constraints);
            let enumeration = Enumeration::new(object, pool, rank, constraints);
            let schemas: Vec<Schema> = enumeration.clone().collect();
            let found: BTreeSet<_> = schemas.iter().map(|schema| class_of(object, schema, values)).collect();
            assert_eq!(found.len(), schemas.len(), "{pool:?} {rank:?}: no class twice");
            assert!(found == expected, "{pool:?} {rank:?}: {} instead of {}", found.len(), expected.len());
            let shuffled: Vec<Schema> = enumeration.shuffled(11).collect();
            let again: BTreeSet<_> = shuffled.iter().map(|schema| class_of(object, schema, values)).collect();
            assert!(shuffled.len() == schemas.len() && again == found);
        };
    for data_independent in [false, true] {
        let (register, map) = (register(data_independent), map(data_independent));
        for values in 1..=3 {
            for invocations in 2..=4 {
                for sequences in 2..=3.min(invocations) {
                    for pool in [one(&register, "r"), repeated(&register, "r"), repeated(&register, "w")] {
                        check(&register, &pool, (invocations, sequences, values), false);
                        check(&register, &pool, (invocations, sequences, values), true);
                    }
                }
            }
        }
        for values in 1..=2 {
            let pools = ["clear", "size", "putAll"].map(|name| one(&map, name)).into_iter();
            for pool in
                pools.chain([repeated(&map, "putAll"), pair(&map, ["clear", "size"]), pair(&map, ["get", "clear"])])
            {
                check(&map, &pool, (3, 2, values), false);
                check(&map, &pool, (3, 3, values), true);
            }
        }
        check(&map, &one(&map, "clear"), (4, 2, 2), false);
        check(&map, &repeated(&map, "clear"), (4, 2, 2), false);
        check(&map, &pair(&map, ["size", "clear"]), (4, 2, 2), false);
    }
    let counter = counter();
    for rank in [(2, 2, 0), (3, 2, 0), (3, 3, 0), (4, 2, 0)] {
        for pool in [one(&counter, "read"), repeated(&counter, "bump"), pair(&counter, ["bump", "read"])] {
            check(&counter, &pool, rank, false);
            check(&counter, &pool, rank, true);
        }
    }
}

/// The argument of `swap` is one of a few values, and stays as it is where others are renamed: `put(0)` before `swap(0)` is not `put(1)`
/// before `swap(0)`.
#[test]
fn values_are_not_renamed_beside_those_that_stay() {
    let cell = Object::describe("cell", || ()).core("put", |_, (_,): (i64,)| ()).data_independent();
    let count = |object: &Object| enumeration(object, "swap", (3, 2, 2), false).count();
    let renamed = cell.method("swap", |_, (_,): (Option<bool>,)| ()).build();
    // Two writes, one of each value, in three ways as for a register, each with three arguments of `swap`: of the two orders of the values
    // one is enough.
    assert_eq!((renamed.data_independent(), count(&renamed)), (true, 3 * 3));
    let cell = Object::describe("cell", || ()).core("put", |_, (_,): (i64,)| ()).data_independent();
    let bound = cell.method("swap", |_, (_,): (Option<i64>,)| ()).build();
    assert_eq!((bound.data_independent(), count(&bound)), (false, 3 * 3 * 2));
}

#[test]
fn the_harness_of_figure_1_is_found() {
    let check = |data_independent: bool, expected: &str| {
        let object = Object::describe("map", || ())
            .core("put", |_, (_, _): (i64, i64)| ())
            .core("containsKey", |_, (_,): (i64,)| ())
            .reads()
            .method("clear", |_, ()| ());
        let object = if data_independent { object.data_independent().build() } else { object.build() };
        let found: Vec<String> =
            enumeration(&object, "clear", (4, 2, 2), false).map(|schema| schema.to_string()).collect();
        assert!(found.contains(&expected.to_owned()), "{found:#?}");
    };
    check(false, "{ clear(); put(1, 1); containsKey(1) } || { put(0, 0) }");
    // Zero and one have changed places: of the two the one whose text comes first is kept.
    check(true, "{ clear(); put(0, 0); containsKey(0) } || { put(1, 1) }");
}

#[test]
fn ranks_in_order() {
    let bounds =
        Bounds { sequences: 2..=3, invocations: 2..=3, values: 1..=2, constraints: false, ..Bounds::default() };
    let found = |object: &Object, name| -> Vec<(usize, usize, u8)> {
        let ranks = ranks(object, &one(object, name), &bounds);
        ranks.iter().map(|rank| (rank.invocations, rank.sequences, rank.values)).collect()
    };
    assert_eq!(found(&map(true), "size"), [(2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 2, 2), (3, 3, 1), (3, 3, 2)]);
    assert_eq!(found(&counter(), "read"), [(2, 2, 0), (3, 2, 0), (3, 3, 0)]);
}

/// Ten million schemas and more, none of which can fail: they are not gone through.
#[test]
fn what_only_reads_has_no_rank() {
    let readers = Object::describe("readers", || ())
        .core("find", |_, (_, _): (Vec<i64>, Vec<i64>)| ())
        .reads()
        .method("has", |_, (_, _): (Vec<i64>, Vec<i64>)| ())
        .reads()
        .build();
    let bounds = Bounds { invocations: 2..=4, values: 1..=2, ..Bounds::default() };
    let rank = Rank { invocations: 4, sequences: 2, values: 2 };
    assert!(Enumeration::new(&readers, &one(&readers, "has"), rank, false).candidates() > 10_000_000);
    assert_eq!(ranks(&readers, &one(&readers, "has"), &bounds), []);
    assert_eq!(ranks(&readers, &repeated(&readers, "has"), &bounds), []);
}

/// No argument is about a value.
fn counter() -> Object {
    Object::describe("counter", || ())
        .core("bump", |_, ()| ())
        .core("step", |_, (_,): (bool,)| ())
        .method("read", |_, ()| ())
        .reads()
        .build()
}

#[test]
fn counts_of_a_counter_are_those_found_by_hand() {
    let count = |rank| enumeration(&counter(), "read", rank, false).count();
    // [read], and one of bump, step(false), step(true).
    assert_eq!(count((2, 2, 0)), 3);
    // Two changes in either order in 9 ways: [read c], [d]; [c read], [d]; [c d], [read].
    assert_eq!(count((3, 2, 0)), 27);
    // Two of three changes at once: 3 equal pairs and 3 others.
    assert_eq!(count((3, 3, 0)), 6);
    assert_eq!(count((2, 2, 1)), 0);
}

#[test]
fn counts_of_two_calls_under_test_are_those_found_by_hand() {
    let (register, counter) = (register(true), counter());
    let texts =
        |object: &Object, pool: &Pool, (invocations, sequences, values): (usize, usize, u8)| -> BTreeSet<String> {
            let schemas = Enumeration::new(object, pool, Rank { invocations, sequences, values }, false);
            schemas.map(|schema| schema.to_string()).collect()
        };
    let set = |texts: &[&str]| -> BTreeSet<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    // Two reads cannot disturb each other; two writes of one value, or of two, can. With one more call beside one of them, it comes
    // first or last, or it is alone.
    assert_eq!(texts(&register, &repeated(&register, "r"), (2, 2, 1)), set(&[]));
    assert_eq!(texts(&register, &repeated(&register, "w"), (2, 2, 1)), set(&["{ w(0) } || { w(0) }"]));
    assert_eq!(texts(&register, &repeated(&register, "w"), (2, 2, 2)), set(&["{ w(0) } || { w(1) }"]));
    assert_eq!(
        texts(&register, &repeated(&register, "r"), (3, 2, 1)),
        set(&["{ r(); r() } || { w(0) }", "{ r(); w(0) } || { r() }", "{ w(0); r() } || { r() }"])
    );
    // bump twice beside one of the two steps, in the same three ways, or three times.
    assert_eq!(texts(&counter, &repeated(&counter, "bump"), (2, 2, 0)), set(&["{ bump() } || { bump() }"]));
    assert_eq!(texts(&counter, &repeated(&counter, "bump"), (3, 2, 0)).len(), 6 + 1);
    assert_eq!(texts(&counter, &repeated(&counter, "bump"), (3, 3, 0)).len(), 2 + 1);
    // The two are on different threads, and a third call is before or after one of them.
    let pair = pair(&counter, ["read", "bump"]);
    assert_eq!(texts(&counter, &pair, (2, 2, 0)), set(&["{ read() } || { bump() }"]));
    assert_eq!(texts(&counter, &pair, (3, 2, 0)).len(), 8);
    assert_eq!(texts(&counter, &pair, (3, 3, 0)).len(), 2);
    let together = Pool::Together(vec![method(&counter, "read")]);
    assert_eq!(texts(&counter, &together, (2, 2, 0)), set(&[]));
}

#[test]
fn samples_keep_to_the_bounds_and_to_one_method_under_test() {
    let object = map(true);
    let clear = method(&object, "clear");
    let bounds = Bounds { sequences: 2..=3, invocations: 3..=6, values: 1..=3, constraints: true, ..Bounds::default() };
    let sampler = Sampler::new(&object, Pool::One(clear), bounds, 1);
    let mut seen = BTreeSet::new();
    for schema in sampler.take(500) {
        assert!((2..=3).contains(&schema.sequences().len()) && (3..=6).contains(&schema.len()));
        assert_eq!(schema.invocations().filter(|call| &*call.method == "clear").count(), 1);
        assert!(schema.invocations().all(|call| ["clear", "put", "get"].contains(&&*call.method)));
        seen.insert((schema.sequences().len(), schema.len()));
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn a_seed_determines_the_samples() {
    let object = map(true);
    let samples = |seed: u64| -> Vec<String> {
        let pool = Pool::One(method(&object, "putAll"));
        Sampler::new(&object, pool, Bounds::default(), seed).take(20).map(|schema| schema.to_string()).collect()
    };
    assert_eq!(samples(4), samples(4));
    assert_ne!(samples(4), samples(5));
}

#[test]
fn core_mutators_are_three_times_as_likely() {
    // put has weight 3, get has weight 1. Schemas in which nothing can go wrong are left out: those without a size, and
    // those without a put beside it. So there are three puts for each get, and rather more.
    let object = map(true);
    let pool = Pool::Together(vec![method(&object, "size")]);
    let mut counts = [0; 3];
    for schema in Sampler::new(&object, pool, Bounds { invocations: 6..=6, ..Bounds::default() }, 2).take(2_000) {
        for call in schema.invocations() {
            counts[["put", "get", "size"].iter().position(|name| **name == *call.method).expect("in the pool")] += 1;
        }
    }
    let ratio = f64::from(counts[0]) / f64::from(counts[1]);
    assert!((3.0..3.7).contains(&ratio), "{counts:?}");
    assert!(counts[1] < counts[2], "{counts:?}");
}

#[test]
fn a_pool_without_a_useful_schema_ends() {
    let readers =
        Object::describe("readers", || ()).core("get", |_, ()| ()).reads().method("size", |_, ()| ()).reads().build();
    let pool = Pool::One(method(&readers, "size"));
    assert_eq!(Sampler::new(&readers, pool, Bounds::default(), 0).next(), None);
    let alone = Object::describe("alone", || ()).method("call", |_, ()| ()).build();
    let pool = Pool::One(method(&alone, "call"));
    assert_eq!(Sampler::new(&alone, pool, Bounds::default(), 0).next(), None);
}

/// A first sequence comes before those that nothing came before, and a last one after those that nothing came after.
#[test]
fn what_comes_before_and_after_all_others() {
    let text = |schema: &str, start: &str| {
        let start = Schema::parse(start).expect("a schema").invocations().cloned().collect();
        started(&Schema::parse(schema).expect("a schema"), start).to_string()
    };
    assert_eq!(text("{ f() } || { g() }", "{ h(); h() }"), "[h(); h()], [f()], [g()], {0<1, 0<2}");
    assert_eq!(text("[f()], [g()], {0<1}", "{ h() }"), "[h()], [f()], [g()], {0<1, 1<2}");

    let drained = Object::describe("drained", || ()).core("f", |(), ()| ()).postcondition("drain", |()| ()).build();
    let text = |object: &Object, schema: &str| ended(object, Schema::parse(schema).expect("a schema")).to_string();
    assert_eq!(text(&drained, "{ f() } || { f() }"), "[f()], [f()], [drain()], {0<2, 1<2}");
    assert_eq!(text(&drained, "[f()], [f()], {0<1}"), "[f()], [f()], [drain()], {0<1, 1<2}");
    let plain = Object::describe("plain", || ()).core("f", |(), ()| ()).build();
    assert_eq!(text(&plain, "{ f() } || { f() }"), "{ f() } || { f() }");
}

#[test]
fn samples_begin_as_the_bounds_say() {
    let object = map(true);
    let clear = method(&object, "clear");
    let bounds = Bounds { invocations: 2..=3, start: 1..=2, ..Bounds::default() };
    let mut lengths = BTreeSet::new();
    for schema in Sampler::new(&object, Pool::One(clear), bounds.clone(), 1).take(200) {
        let start = &schema.sequences()[0];
        assert!(start.iter().all(|call| &*call.method == "put"), "{schema}");
        assert!((1..schema.sequences().len()).all(|later| schema.happens_before().contains(&(0, later))), "{schema}");
        lengths.insert(start.len());
    }
    assert_eq!(lengths, BTreeSet::from([1, 2]));
    // Nothing to begin with: no schema, unless there need not be anything.
    let alone = Object::describe("alone", || ()).method("f", |(), ()| ()).core("g", |(), ()| ()).reads().build();
    let f = method(&alone, "f");
    let samples = |bounds| Sampler::new(&alone, Pool::Repeated(f), bounds, 1).take(3).count();
    assert_eq!((samples(bounds.clone()), samples(Bounds { start: 0..=2, ..bounds })), (0, 3));
}

#[test]
fn methods_that_are_left_out_run_beside_no_other_call() {
    let object = Object::describe("apart", || ()).core("f", |(), ()| ()).core("g", |(), ()| ()).build();
    let without = object.without(&object.named("f").collect());
    let kept = |object: &Object, schema: &str| keeps_apart(object, &Schema::parse(schema).expect("a schema"));
    for schema in
        ["{ g() } || { g() }", "{ f(); g() }", "[f()], [g()], [g()], {0<1, 0<2}", "[g()], [g()], [f()], {0<1, 1<2}"]
    {
        assert!(kept(&without, schema), "{schema}");
    }
    for schema in ["{ f() } || { g() }", "[f()], [g()], [g()], {0<1}", "{ g() } || { g(); f() }"] {
        assert!(!kept(&without, schema), "{schema}");
        assert!(kept(&object, schema), "{schema}");
    }
    let bounds = Bounds { start: 1..=3, ..Bounds::default() };
    let samples = Sampler::new(&without, Pool::Repeated(MethodId(1)), bounds, 1).take(200);
    let texts: Vec<String> =
        samples.inspect(|schema| assert!(keeps_apart(&without, schema))).map(|schema| schema.to_string()).collect();
    assert!(texts.iter().any(|text| text.starts_with("[f()")), "{texts:?}");
}
