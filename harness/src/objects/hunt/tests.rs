mod waiting;

use std::sync::Mutex as PlainMutex;

use interloper_linearize::visibility::Level;
use interloper_scheduler::{Deadline, Executions};
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::stress::{self, Budget};
use crate::systematic::{self, Schedule};
use crate::testing::{careless, method};

/// A map of two keys over the mirror, with a size that is counted by reading one key after the other.
fn pair() -> Object {
    Object::describe("pair", || [AtomicI64::new(-1), AtomicI64::new(-1)])
        .core("put", |pair, (key, value): (usize, i64)| pair[key].swap(value, SeqCst))
        .core("get", |pair, (key,): (usize,)| pair[key].load(SeqCst))
        .reads()
        .method("size", |pair, ()| pair.iter().filter(|cell| cell.load(SeqCst) != -1).count())
        .reads()
        .core("remove", |pair, (key,): (usize,)| pair[key].swap(-1, SeqCst))
        .method("swap", |pair, (key, value): (usize, i64)| pair[key].swap(value, SeqCst))
        .data_independent()
        .build()
}

fn by_rank(object: &Object, name: &str) -> Hunt {
    let source = Source::ByRank { bounds: Bounds { invocations: 2..=4, values: 1..=2, ..Bounds::default() }, seed: 1 };
    Hunt { source, engine: Engine::exhaustive(), ..Hunt::new(object, Pool::One(method(object, name)), 1) }
}

#[test]
fn the_smallest_schema_comes_first() {
    let object = pair();
    let hunted = by_rank(&object, "size").run(&mut |_| Next::Continue);
    let found = hunted.found().expect("size is not atomic");
    // A count can be wrong only if it misses one change and sees a later one while the number of keys stays between the
    // two: it takes two puts and a removal.
    assert_eq!(found.schema.len(), 4);
    let What::Outcome { outcome, admitted } = &found.what else { panic!("{found:?}") };
    assert!(!admitted.is_empty() && !admitted.contains(outcome));
    let Runs::Systematic(explored) = &found.runs else { panic!("{found:?}") };
    let trace = explored.stopped.as_ref().expect("a trace");
    assert_eq!(&trace.outcome, outcome);
    let program = object.program(&found.schema).expect("a schema of the object");
    let again = systematic::replay(&program, trace.limits, trace.decisions()).expect("the same decisions");
    assert_eq!(again.outcome, *outcome);
}

#[test]
fn a_method_that_is_atomic_runs_out_of_schemas() {
    let object = pair();
    let mut seen = 0;
    let hunted = by_rank(&object, "swap").run(&mut |progress| {
        assert_eq!(progress.schemas, seen);
        seen += 1;
        Next::Continue
    });
    assert_eq!((hunted.end, hunted.schemas, hunted.skipped), (Ended::NoMore, seen, vec![]));
    assert!(hunted.executions > hunted.schemas);
}

#[test]
fn budgets_and_watchers_end_a_search() {
    let object = pair();
    let hunt = |schemas, time| Hunt {
        schemas,
        time,
        engine: Engine::Systematic(systematic::Settings {
            schedule: Schedule::Random,
            seed: 1,
            executions: Executions::AtMost(1),
            ..systematic::Settings::default()
        }),
        ..Hunt::new(&object, Pool::One(method(&object, "swap")), 1)
    };
    let hunted = hunt(Some(3), None).run(&mut |_| Next::Continue);
    assert_eq!((hunted.end, hunted.schemas, hunted.executions), (Ended::Enough, 3, 3));
    let hunted = hunt(None, Some(Duration::from_millis(1))).run(&mut |_| Next::Continue);
    assert_eq!(hunted.end, Ended::OutOfTime);
    assert!(hunted.took >= Duration::from_millis(1));
    let hunted = hunt(None, None).run(&mut |progress| if progress.schemas < 5 { Next::Continue } else { Next::Stop });
    assert_eq!((hunted.end, hunted.schemas), (Ended::Enough, 5));
}

/// The first schema takes longer than the limit: its correct outcomes may take at most a million configurations, and it
/// has more orders than that. For the interleavings of one program see `systematic/tests.rs`.
#[test]
fn the_time_ends_a_search_in_the_middle_of_a_schema() {
    let object = pair();
    let puts = "{ put(0,0); put(1,1); size(); put(0,2) }";
    let schema = Schema::parse(&format!("{puts} || {puts} || {puts}")).expect("a schema");
    let hunt = Hunt {
        source: Source::Given(vec![schema]),
        engine: Engine::Systematic(systematic::Settings {
            executions: Executions::All,
            ..systematic::Settings::default()
        }),
        visibility: Visibility::complete().with("size", Level::Weak),
        time: Some(Duration::from_millis(5)),
        ..by_rank(&object, "size")
    };
    let begun = std::time::Instant::now();
    let hunted = hunt.run(&mut |_| Next::Continue);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(hunted.end, Ended::OutOfTime);
}

/// Computing the correct outcomes can take longer than running a schema: each call sleeps, and there are 34,650 orders.
#[test]
fn the_time_ends_the_search_for_what_is_right() {
    let object = Object::describe("slow", || AtomicI64::new(0))
        .method("add", |counter, (amount,): (i64,)| {
            std::thread::sleep(Duration::from_millis(5));
            counter.fetch_add(amount, SeqCst)
        })
        .build();
    let adds = "{ add(1); add(2); add(4); add(8) }";
    let schema = Schema::parse(&format!("{adds} || {adds} || {adds}")).expect("a schema");
    let hunt =
        Hunt { source: Source::Given(vec![schema]), time: Some(Duration::from_millis(300)), ..by_rank(&object, "add") };
    let begun = std::time::Instant::now();
    let hunted = hunt.run(&mut |_| Next::Continue);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!((hunted.end, hunted.schemas, hunted.skipped), (Ended::OutOfTime, 0, vec![]));
}

/// What is given up on is counted over the whole search, and the first can be looked at.
#[test]
fn executions_that_are_cut_are_shown() {
    let object = Object::describe("spinner", || AtomicI64::new(0))
        .core("set", |flag, ()| flag.store(1, SeqCst))
        .method("spin", |flag, ()| (0..20).for_each(|_| flag.store(2, SeqCst)))
        .build();
    let search = |limits| {
        let settings = systematic::Settings { limits, ..systematic::Settings::default() };
        let schemas = ["{ set() }", "{ set() } || { spin() }"].map(|text| Schema::parse(text).expect("a schema"));
        let source = Source::Given(schemas.to_vec());
        let hunt = Hunt { source, engine: Engine::Systematic(settings), ..by_rank(&object, "spin") };
        hunt.run(&mut |_| Next::Continue)
    };
    let few = systematic::Limits { step_bound: 15, ..systematic::Limits::default() };
    let hunted = search(few);
    assert!(hunted.coverage.cut > 0, "{hunted:?}");
    let cut = hunted.coverage.first_cut.expect("the first of them");
    let shown = crate::explain::explain_cut(&object, "spin", &cut.0, &cut.1);
    assert_eq!(shown.verdict, "no end within the bound on steps");
    assert!(!shown.rows.is_empty() && shown.detail.contains("decisions "), "{shown:?}");
    assert_eq!(search(systematic::Limits::default()).coverage.cut, 0);
}

#[test]
fn the_orders_of_a_finding_are_looked_at_while_there_is_time() {
    let object = pair();
    let hunted = by_rank(&object, "size").run(&mut |_| Next::Continue);
    let found = hunted.found().expect("size is not atomic");
    let shown = |deadline| crate::explain::explain_until(&object, "size", object.visibility(), found, deadline);
    let whole = crate::explain::explain(&object, "size", object.visibility(), found);
    assert_eq!(shown(Deadline::of(Some(Duration::from_secs(3600)))), whole);
    assert!(whole.orders.len() > 2 && whole.orders.iter().all(|order| !order.disagreement.contains("time")));
    let brief = shown(Deadline::of(Some(Duration::ZERO)));
    let [first, rest] = &brief.orders[..] else { panic!("{:?}", brief.orders) };
    assert_eq!(first, &whole.orders[0]);
    assert_eq!(rest.sequence, "other orders");
    assert_eq!(rest.disagreement, "none gives the outcome (the time ran out before each was listed)");
    assert_eq!((&brief.rows, &brief.detail), (&whole.rows, &whole.detail));
}

#[test]
fn a_visibility_that_allows_the_outcome_hides_it() {
    let object = pair();
    let schema = Schema::parse("{ put(0,0); remove(0); put(1,0) } || { size() }").expect("a schema");
    for (level, found) in [(Level::Complete, true), (Level::Monotonic, false)] {
        let visibility = Visibility::complete().with("size", level);
        let hunt = Hunt { visibility, source: Source::Given(vec![schema.clone()]), ..by_rank(&object, "size") };
        assert_eq!(hunt.run(&mut |_| Next::Continue).found().is_some(), found, "{level}");
    }
}

#[test]
fn what_cannot_be_judged_is_skipped_and_the_rest_is_tried() {
    let object = Object::describe("lottery", || AtomicI64::new(0))
        .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, SeqCst))
        .method("draw", {
            let tickets = std::sync::atomic::AtomicI64::new(0);
            move |_, ()| tickets.fetch_add(1, SeqCst)
        })
        .build();
    let schemas = ["{ draw() } || { add(1) }", "{ none() }", "{ add(1) } || { add(1) }"];
    let schemas = schemas.map(|schema| Schema::parse(schema).expect("a schema"));
    let hunt = Hunt { source: Source::Given(schemas.to_vec()), ..Hunt::new(&object, Pool::Together(vec![]), 1) };
    let hunt = Hunt { engine: Engine::exhaustive(), ..hunt };
    let hunted = hunt.run(&mut |_| Next::Continue);
    assert_eq!((hunted.schemas, hunted.executions, &hunted.end), (3, 2, &Ended::NoMore));
    let skipped: Vec<&Schema> = hunted.skipped.iter().map(|(schema, _)| schema).collect();
    assert_eq!(skipped, [&schemas[0], &schemas[1]]);
}

/// A map of which `size` counts one too many, on one thread already.
fn miscounted(model: bool) -> Object {
    let object = Object::describe("miscounted", || [AtomicI64::new(-1), AtomicI64::new(-1)])
        .core("put", |pair, (key, value): (usize, i64)| {
            Some(pair[key].swap(value, SeqCst)).filter(|before| *before != -1)
        })
        .method("get", |pair, (key,): (usize,)| Some(pair[key].load(SeqCst)).filter(|value| *value != -1))
        .reads()
        .method("size", |pair, ()| 1 + pair.iter().filter(|cell| cell.load(SeqCst) != -1).count())
        .reads();
    let map = interloper_linearize::types::type_named("map").expect("a type");
    if model { object.model(map).build() } else { object.build() }
}

#[test]
fn a_difference_from_the_model_comes_first_and_ends_the_search() {
    let object = miscounted(true);
    let searched = Campaign::systematic(&object, 1).method(method(&object, "size"), &mut |_| Next::Continue);
    let hunted = &searched.hunted;
    assert_eq!((hunted.schemas, hunted.executions, &hunted.end), (1, 0, &Ended::Disagreement));
    assert!(searched.found().is_none());
    let (schema, disagreement) = hunted.disagreement().expect("a difference");
    let size = schema.invocations().position(|call| &*call.method == "size").expect("size is under test");
    assert_eq!(
        (&disagreement.order[..], &disagreement.object, &disagreement.model),
        (&[size][..], &Value::Int(1), &Value::Int(0))
    );
    // What agrees is searched all the same: schemas without `size` have nothing to do with it.
    let get = Campaign::systematic(&object, 1).method(method(&object, "get"), &mut |_| Next::Continue);
    assert_eq!((get.hunted.disagreement(), get.hunted.skipped.len()), (None, 0));
    assert!(get.hunted.executions > 0);
    // Without the model the object is held to what it does itself, and `size` is not atomic.
    let object = miscounted(false);
    let searched = Campaign::systematic(&object, 1).method(method(&object, "size"), &mut |_| Next::Continue);
    assert!(searched.hunted.disagreement().is_none());
}

#[test]
fn minimising_ends_at_a_schema_of_which_no_part_fails() {
    let object = pair();
    let schema = Schema::parse("{ get(1); put(0,1); remove(0); put(1,1) } || { get(0); size() } || { get(0) }");
    let hunt = Hunt { source: Source::Given(vec![schema.expect("a schema")]), ..by_rank(&object, "size") };
    let found = hunt.run(&mut |_| Next::Continue).found().expect("a violation").clone();
    let mut engine = Engine::exhaustive();
    let mut seen = Vec::new();
    let small =
        minimise(&object, object.visibility(), DEFAULT_BOUND, &mut engine, found.clone(), &mut |schema, tried| {
            assert!(schema.len() <= found.schema.len());
            seen.push(tried);
            Next::Continue
        });
    assert_eq!(seen, (0..small.attempts).collect::<Vec<u64>>());
    assert_eq!(small.found.schema.to_string(), "{ put(0, 0); remove(0); put(1, 0) } || { size() }");
    assert!(small.complete && small.attempts > 0);
    let stopped = minimise(&object, object.visibility(), DEFAULT_BOUND, &mut engine, found.clone(), &mut |_, tried| {
        if tried < 2 { Next::Continue } else { Next::Stop }
    });
    assert_eq!((stopped.attempts, stopped.complete), (2, false));
    let mut no_time = engine.until(Deadline::of(Some(Duration::ZERO)));
    let watch = &mut |_: &Schema, _| Next::Continue;
    let in_no_time = minimise(&object, object.visibility(), DEFAULT_BOUND, &mut no_time, found.clone(), watch);
    assert_eq!((in_no_time.found, in_no_time.attempts, in_no_time.complete), (found, 0, false));
}

/// A register over plain std whose `swap` waits, between reading and writing, until another call has read too, or for
/// a few milliseconds.
fn racy() -> Object {
    struct Racy {
        value: std::sync::atomic::AtomicI64,
        readers: std::sync::atomic::AtomicI64,
    }
    let fresh = || Racy { value: 0.into(), readers: 0.into() };
    Object::describe("racy", fresh)
        .core("get", |racy, ()| racy.value.load(SeqCst))
        .reads()
        .method("swap", |racy, (new,): (i64,)| {
            let old = racy.value.load(SeqCst);
            racy.readers.fetch_add(1, SeqCst);
            let start = Instant::now();
            while racy.readers.load(SeqCst) < 2 && start.elapsed() < Duration::from_millis(5) {
                std::thread::yield_now();
            }
            racy.value.store(new, SeqCst);
            old
        })
        .build()
}

#[test]
fn real_threads_find_it_too() {
    let object = racy();
    let schema = Schema::parse("{ swap(1) } || { swap(2) }").expect("a schema");
    let budget = Budget::Executions(1_000);
    let hunt = Hunt {
        source: Source::Given(vec![schema]),
        engine: Engine::Stress(stress::Settings { budget, ..stress::Settings::default() }),
        ..Hunt::new(&object, Pool::Together(vec![method(&object, "swap")]), 1)
    };
    // As in the tests of the engine: each execution misses it only when the threads begin 5 ms apart.
    let hunted = hunt.run(&mut |_| Next::Continue);
    let found = hunted.found().expect("both see 0");
    let What::Outcome { outcome, .. } = &found.what else { panic!("{found:?}") };
    assert_eq!(*outcome, [Value::Int(0), Value::Int(0)]);
    assert!(matches!(found.runs, Runs::Stress(_)));
}

#[test]
fn calls_that_block_each_other_are_found() {
    // Each call ends when it runs alone. Together, each holds its first lock and waits for the lock of the other.
    let object = Object::describe("two locks", || (PlainMutex::new(0), PlainMutex::new(0)))
        .core("forth", |(one, two), ()| {
            let _one = one.lock();
            std::thread::sleep(Duration::from_millis(5));
            let _two = two.lock();
        })
        .method("back", |(one, two), ()| {
            let _two = two.lock();
            std::thread::sleep(Duration::from_millis(5));
            let _one = one.lock();
        })
        .build();
    let schema = Schema::parse("{ forth() } || { back() }").expect("a schema");
    let patience = Duration::from_millis(300);
    let hunt = Hunt {
        source: Source::Given(vec![schema]),
        engine: Engine::Stress(stress::Settings {
            patience,
            budget: Budget::Executions(100),
            ..stress::Settings::default()
        }),
        ..Hunt::new(&object, Pool::Together(vec![]), 1)
    };
    let hunted = hunt.run(&mut |_| Next::Continue);
    let Some(Found { what: What::Blocked(places), .. }) = hunted.found() else { panic!("{hunted:?}") };
    assert!(places.contains(&Blocked::Call(0)) && places.contains(&Blocked::Call(1)));
}

/// `size` over plain std cells or over the mirror, on real threads.
#[test]
fn what_real_threads_find_is_handed_to_the_scheduler() {
    // Two calls of `swap` that meet lose an update. The scheduler sees the cell but not the waiting, so the wait has a
    // time limit.
    let object = Object::describe("mirrored", || (AtomicI64::new(0), std::sync::atomic::AtomicI64::new(0)))
        .core("set", |(cell, _), (new,): (i64,)| cell.store(new, SeqCst))
        .method("swap", |(cell, readers), (new,): (i64,)| {
            let old = cell.load(SeqCst);
            readers.fetch_add(1, SeqCst);
            let start = Instant::now();
            while readers.load(SeqCst) < 2 && start.elapsed() < Duration::from_micros(200) {
                std::thread::yield_now();
            }
            cell.store(new, SeqCst);
            old
        })
        .build();
    let campaign = Campaign::stress(&object, 1);
    let schema = Schema::parse("{ swap(1) } || { swap(2) }").expect("a schema");
    let outcome = vec![Value::Int(0), Value::Int(0)];
    let found = found_by_stress(&schema, outcome.clone());
    let Reproduced::Traced(traced) = campaign.reproduce(&found) else { panic!("a trace") };
    let What::Outcome { outcome: again, .. } = &traced.what else { panic!("an outcome") };
    assert_eq!(*again, outcome);
    let Runs::Systematic(explored) = &traced.runs else { panic!("a trace") };
    assert!(explored.stopped.is_some());
    // The accepting twin: the search finds nothing and is complete.
    let sound = Schema::parse("{ set(1) } || { swap(2) }").expect("a schema");
    let missed = campaign.reproduce(&found_by_stress(&sound, vec![Value::Unit, Value::Int(7)]));
    assert!(matches!(missed, Reproduced::Missed { complete: true, .. }), "{missed:?}");
    // Plain std has no steps.
    assert_eq!(Campaign::stress(&racy(), 1).reproduce(&found), Reproduced::NotInstrumented);
}

fn found_by_stress(schema: &Schema, outcome: Vec<Value>) -> Found {
    let observed = stress::Observed {
        outcomes: std::collections::BTreeMap::from([(outcome.clone(), 1)]),
        executions: 1,
        took: Duration::from_millis(1),
        threads: 2,
        teams: 1,
        overlap: stress::Overlap::default(),
        pace: stress::Pace::default(),
        end: stress::End::Stopped,
    };
    let what = What::Outcome { outcome, admitted: vec![] };
    Found { schema: schema.clone(), what, frequencies: vec![], runs: Runs::Stress(observed) }
}

#[test]
fn a_campaign_goes_from_ranks_to_random_schemas() {
    let object = pair();
    let size = method(&object, "size");
    let campaign = Campaign::systematic(&object, 1);
    let mut smaller = Vec::new();
    let searched = campaign.method(size, &mut |progress| {
        smaller.extend(progress.smaller);
        Next::Continue
    });
    let small = searched.smallest.as_ref().expect("size is not atomic");
    // The watch sees the smaller schemas, too.
    assert_eq!(smaller, (0..small.attempts).collect::<Vec<u64>>());
    assert_eq!((small.found.schema.len(), searched.reproduced.is_none()), (4, true));
    assert!(searched.traced().is_some());
    // Without schemas by rank, random schemas show the violation and become as small.
    let bounds = Bounds { invocations: 2..=3, ..Bounds::default() };
    let random = Campaign { by_rank: Some((bounds, 10)), ..campaign.clone() }.method(size, &mut |_| Next::Continue);
    assert!(random.hunted.schemas > 10);
    assert_eq!(random.found().expect("size is not atomic").schema.len(), 4);
    // An atomic method goes through both stages.
    let few = Campaign { by_rank: Some((Bounds::default(), 5)), random: Some((Bounds::default(), 7)), ..campaign };
    let mut seen = Vec::new();
    let searched = few.method(method(&object, "swap"), &mut |progress| {
        seen.push(progress.schemas);
        Next::Continue
    });
    assert_eq!((searched.hunted.schemas, searched.found()), (12, None));
    assert_eq!(seen, (0..12).collect::<Vec<u64>>());
    // The watch ends both stages.
    let searched = few.method(method(&object, "swap"), &mut |progress| {
        if progress.schemas < 3 { Next::Continue } else { Next::Stop }
    });
    assert_eq!((searched.hunted.schemas, searched.hunted.end), (3, Ended::Enough));
}

#[test]
fn what_core_methods_do_by_themselves_is_not_the_fault_of_another() {
    let object = careless();
    let campaign = Campaign { by_rank: None, ..Campaign::systematic(&object, 1) };
    let searched = campaign.method(method(&object, "look"), &mut |_| Next::Continue);
    assert!(searched.of_core);
    // It takes a put to be taken away, another one that does it, and a look at it.
    let found = searched.found().expect("put is not atomic");
    assert_eq!(found.schema.len(), 3);
    assert!(!found.schema.to_string().contains("look"), "{}", found.schema);
    let core = campaign.core(&mut |_| Next::Continue);
    assert!(core.found().is_some_and(|found| !found.schema.to_string().contains("look")));

    // Its twin with core methods that are atomic.
    let object = pair();
    let campaign =
        Campaign { by_rank: None, random: Some((Bounds::default(), 200)), ..Campaign::systematic(&object, 1) };
    let searched = campaign.method(method(&object, "size"), &mut |_| Next::Continue);
    assert!(searched.found().is_some() && !searched.of_core);
    let core = campaign.core(&mut |_| Next::Continue);
    assert_eq!((core.schemas, core.found(), &*core.skipped), (200, None, &[][..]));
}

#[test]
fn panics_are_outcomes_and_calls_that_never_return_are_named() {
    let object = Object::describe("purse", || AtomicI64::new(0))
        .core("add", |coins, (amount,): (i64,)| coins.fetch_add(amount, SeqCst) + amount)
        .method("take", |coins, ()| {
            let some = coins.load(SeqCst) > 0;
            // Somebody else may have taken the last one.
            some.then(|| assert!(coins.fetch_sub(1, SeqCst) > 0, "nothing left"))
        })
        .method("keep", |_, ()| -> () {
            loop {
                std::thread::park();
            }
        })
        .build();
    let schemas = ["{ keep() } || { add(1) }", "{ add(1); take() } || { take() }"];
    let schemas = schemas.map(|schema| Schema::parse(schema).expect("a schema"));
    let hunt = Hunt {
        source: Source::Given(schemas.to_vec()),
        engine: Engine::exhaustive(),
        ..Hunt::new(&object, Pool::Together(vec![]), 1)
    };
    let hunted = hunt.run(&mut |_| Next::Continue);
    let [(skipped, refusal)] = &hunted.skipped[..] else { panic!("{hunted:?}") };
    assert_eq!((skipped, refusal), (&schemas[0], &Refusal::Blocked(0)));
    assert_eq!(refusal.text(skipped), "keep() does not return on one thread");
    // The rest is tried all the same. On one thread `take` never panics.
    let Some(Found { schema, what: What::Outcome { outcome, .. }, .. }) = hunted.found() else { panic!("{hunted:?}") };
    assert_eq!(*schema, schemas[1]);
    assert!(outcome[1..].contains(&crate::object::panicked("nothing left")), "{outcome:?}");
}

/// Two calls of one step each on the same object have few traces. With 100 executions each trace comes more than once, so
/// nothing new is to be expected.
#[test]
fn random_schedules_say_what_they_have_not_shown() {
    let hunted = |schedule: Schedule, executions: u64| {
        let settings = systematic::Settings {
            schedule,
            seed: 1,
            executions: Executions::AtMost(executions),
            ..systematic::Settings::default()
        };
        let object = pair();
        let schemas = ["{ put(0, 1) } || { put(0, 2) }", "{ get(0) } || { remove(0) }"];
        let schemas = schemas.map(|schema| Schema::parse(schema).expect("a schema"));
        let source = Source::Given(schemas.to_vec());
        let hunt =
            Hunt { source, engine: Engine::Systematic(settings), ..Hunt::new(&object, Pool::Together(vec![]), 1) };
        let hunted = hunt.run(&mut |_| Next::Continue);
        assert!(hunted.found().is_none(), "{hunted:?}");
        (hunted.coverage.traces, hunted.coverage.unseen)
    };
    // The two steps of each schema come in two orders.
    assert_eq!(hunted(Schedule::Random, 100), (4, Some(Unseen { executions: 200, once: 0 })));
    assert_eq!(hunted(Schedule::Random, 1), (2, Some(Unseen { executions: 2, once: 2 })));
    assert_eq!(hunted(Schedule::Exhaustive, 100), (4, None));
}

/// What was found ended the executions of its schema, and not by chance.
#[test]
fn a_schema_with_a_finding_says_nothing_of_what_is_unseen() {
    let object = pair();
    let settings = systematic::Settings { schedule: Schedule::Random, seed: 1, ..systematic::Settings::default() };
    let found = by_rank(&object, "size").run(&mut |_| Next::Continue);
    let source = Source::Given(vec![found.found().expect("size is not atomic").schema.clone()]);
    let hunt = Hunt { source, engine: Engine::Systematic(settings), ..Hunt::new(&object, Pool::Together(vec![]), 1) };
    let hunted = hunt.run(&mut |_| Next::Continue);
    assert!(hunted.found().is_some(), "{hunted:?}");
    assert_eq!(hunted.coverage.unseen, None);
}
