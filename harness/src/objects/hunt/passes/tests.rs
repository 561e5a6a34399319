use std::time::Duration;

use interloper_std::hash::RandomState;
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::{Found, Searched, Source};
use crate::object::Object;
use crate::schemas::{Bounds, Pool};
use crate::testing::method;

/// A counter of which `bump` loses updates to other bumps, and `add` does not.
fn counter() -> Object {
    Object::describe("counter", || AtomicI64::new(0))
        .method("bump", |counter, ()| {
            let value = counter.load(SeqCst);
            counter.store(value + 1, SeqCst);
            value
        })
        .method("add", |counter, ()| counter.fetch_add(1, SeqCst))
        .build()
}

/// A register whose methods are single steps.
fn register() -> Object {
    Object::describe("register", || AtomicI64::new(0))
        .core("set", |register, (value,): (i64,)| register.store(value, SeqCst))
        .method("get", |register, ()| register.load(SeqCst))
        .reads()
        .build()
}

fn searched(campaign: &Campaign, name: &str) -> Searched {
    campaign.method(method(&campaign.object, name), &mut |_| Next::Continue)
}

/// Without another method no schema of one call can fail: it takes the method twice.
#[test]
fn a_method_that_only_races_with_itself_is_found() {
    let alone = Object::describe("alone", || AtomicI64::new(0))
        .method("bump", |counter, ()| {
            let value = counter.load(SeqCst);
            counter.store(value + 1, SeqCst);
            value
        })
        .build();
    let missed = searched(&Campaign::systematic(&alone, 1), "bump").hunted;
    assert_eq!((missed.schemas, missed.found()), (0, None));
    let found = searched(&Campaign::staged(&alone, 1), "bump");
    assert_eq!(found.found().expect("bump is not atomic").schema.to_string(), "{ bump() } || { bump() }");
}

/// No method is trusted: each is tried with the other one, and the one that has to be interrupted is to blame for both.
#[test]
fn without_core_methods_the_smallest_set_is_to_blame() {
    let campaign = Campaign::staged(&counter(), 1);
    let found = searched(&campaign, "bump");
    assert_eq!(found.found().expect("bump is not atomic").schema.to_string(), "{ bump() } || { add() }");
    assert!(!found.of_core);
    let sound = searched(&campaign, "add");
    assert!(sound.of_core);
    assert_eq!(sound.blamed, [method(&counter(), "bump")].into());

    // Its twin, of which nothing is wrong.
    let atomic = Object::describe("atomic", || AtomicI64::new(0))
        .method("add", |counter, ()| counter.fetch_add(1, SeqCst))
        .method("take", |counter, ()| counter.swap(0, SeqCst))
        .build();
    let sound = searched(&Campaign::staged(&atomic, 1).of_at_most(60), "add");
    assert_eq!((sound.hunted.schemas > 20, sound.found()), (true, None));
    let (add, take) = (method(&atomic, "add"), method(&atomic, "take"));
    assert!(sound.hunted.coverage.pairs.contains(&(add, add)) && sound.hunted.coverage.pairs.contains(&(add, take)));
}

/// `{ set(0) } || { get() }` has two traces. After two executions, which are short, the exhaustive search of what is small ends
/// after 2, so no later pass runs the schema.
#[test]
fn a_small_schema_is_complete_in_the_first_pass() {
    let bounds = Bounds { invocations: 2..=2, values: 1..=1, ..Bounds::default() };
    let staged = Campaign::staged(&register(), 1);
    let campaign = Campaign { by_rank: Some((bounds, 10)), random: None, repeated: None, started: None, ..staged };
    let Searched { hunted, .. } = searched(&campaign, "get");
    let coverage = &hunted.coverage;
    assert_eq!((hunted.schemas, hunted.executions, coverage.traces, coverage.complete), (1, 4, 2, 1));
    assert_eq!((&hunted.end, coverage.unseen, coverage.more_traces), (&Ended::NoMore, None, false));
    assert_eq!(coverage.pairs, [(MethodId(0), MethodId(1))].into());
}

/// Passes of three executions each over three schemas of more traces: each schema costs 6 in the first pass (two at random, three
/// exhaustive ones, and one at random) and 3 in the others, which give up after two schemas.
#[test]
fn a_pass_that_does_not_pay_ends() {
    let bounds =
        Bounds { sequences: 3..=3, invocations: 5..=5, values: 2..=2, constraints: false, ..Bounds::default() };
    let settings = Settings { executions: Executions::AtMost(3), ..Settings::default() };
    let mut passes = Pass::before(&settings);
    passes.iter_mut().for_each(|pass| pass.gives_up_after = pass.gives_up_after.and(Some(2)));
    let staged = Campaign::staged(&register(), 1);
    let campaign =
        Campaign { passes, by_rank: None, random: Some((bounds, 3)), repeated: None, started: None, ..staged };
    let Searched { hunted, .. } = searched(&campaign, "get");
    assert_eq!((hunted.schemas, hunted.executions, hunted.coverage.complete), (3, 3 * 6 + 2 * 3 + 2 * 3, 0));
    assert!(hunted.coverage.unseen.is_some(), "{:?}", hunted.coverage);
    assert_eq!(hunted.end, Ended::Enough);

    // The twin whose exhaustive pass completes each schema: no later pass runs.
    let enough = Settings { executions: Executions::AtMost(5_000), ..settings };
    let pass = Pass { settings: enough, small: None, lengths: Lengths::All, gives_up_after: Some(1) };
    let campaign = Campaign { passes: vec![pass.clone(), pass], ..campaign };
    let Searched { hunted, .. } = searched(&campaign, "get");
    assert_eq!((hunted.schemas, hunted.coverage.complete, hunted.coverage.unseen), (3, 3, None));
    assert_eq!(hunted.executions, hunted.coverage.traces);
}

/// A register that makes a hasher, which decides nothing.
fn hashed() -> Object {
    struct Hashed {
        register: AtomicI64,
        _hasher: RandomState,
    }
    Object::describe("hashed", || Hashed { register: AtomicI64::new(0), _hasher: RandomState::new() })
        .core("set", |hashed, (value,): (i64,)| hashed.register.store(value, SeqCst))
        .method("get", |hashed, ()| hashed.register.load(SeqCst))
        .reads()
        .build()
}

/// What has hashers runs with four seeds of them, even where one execution does not tell them apart. A small schema costs its 4
/// executions with each, and is complete only after the last one. A larger one costs 6 in the first pass of
/// `a_pass_that_does_not_pay_ends`, and one execution at random with each further seed; 3 and as many in the pass that is guided; and 3
/// with each seed in the exhaustive one. Each visit compares 64 seeds, since none differs from the first.
#[test]
fn a_program_with_hashers_runs_with_several_seeds() {
    let staged = Campaign::staged(&hashed(), 1);
    let staged = Campaign { random: None, repeated: None, started: None, ..staged };
    let bounds = Bounds { invocations: 2..=2, values: 1..=1, ..Bounds::default() };
    let small = Campaign { by_rank: Some((bounds, 10)), ..staged.clone() };
    let Searched { hunted, .. } = searched(&small, "get");
    let coverage = &hunted.coverage;
    assert_eq!((hunted.schemas, hunted.executions, coverage.traces, coverage.complete), (1, 4 * 4, 2, 1));
    assert_eq!((coverage.hashed, coverage.compared), (true, SEEDS_COMPARED));
    let without = searched(&Campaign { object: register(), ..small }, "get").hunted.coverage;
    assert_eq!((without.hashed, without.compared), (false, 0));

    let bounds =
        Bounds { sequences: 3..=3, invocations: 5..=5, values: 2..=2, constraints: false, ..Bounds::default() };
    let settings = Settings { executions: Executions::AtMost(3), ..Settings::default() };
    let mut passes = Pass::before(&settings);
    passes.iter_mut().for_each(|pass| pass.gives_up_after = pass.gives_up_after.and(Some(2)));
    let larger = Campaign { passes, by_rank: None, random: Some((bounds, 3)), ..staged };
    let Searched { hunted, .. } = searched(&larger, "get");
    assert_eq!(hunted.executions, 3 * (6 + 3) + 2 * (3 + 3) + 2 * (4 * 3));
    assert_eq!(hunted.coverage.compared, (3 + 2 + 2) * SEEDS_COMPARED);
}

/// The seed that the settings have is there, although the time was over before any was compared.
#[test]
fn a_time_that_is_over_before_seeds_are_compared() {
    let program = hashed().program(&Schema::parse("{ set(0) } || { get() }").unwrap()).unwrap();
    let pass = Pass::before(&Settings::default()).remove(0);
    assert_eq!(pass.until(Deadline::of(Some(Duration::ZERO))).hasher_seeds(&program, false), (vec![0], 0));
    // Its twin.
    assert_eq!(pass.hasher_seeds(&program, false), (vec![0, 1, 2, 3], SEEDS_COMPARED));
}

/// Schemas of a few short executions leave room for twenty times as many. One schema of long executions leaves none: the first has
/// more than 200 executions of 300 steps.
#[test]
fn cheap_schemas_are_followed_by_more() {
    let bounds = Bounds { invocations: 2..=4, values: 1..=2, ..Bounds::default() };
    let schemas = |object: Object, goes_on_while_cheap: bool| {
        let (by_rank, passes) = (Some((bounds.clone(), 1)), Pass::before(&Settings::default())[..1].to_vec());
        let staged = Campaign { by_rank, random: None, repeated: None, started: None, ..Campaign::staged(&object, 1) };
        searched(&Campaign { passes, goes_on_while_cheap, ..staged }, "get").hunted.schemas
    };
    assert_eq!((schemas(register(), false), schemas(register(), true)), (1, 20));
    let long = Object::describe("long", || AtomicI64::new(0))
        .core("set", |register, (value,): (i64,)| (0..400).for_each(|_| register.store(value, SeqCst)))
        .method("get", |register, ()| register.load(SeqCst))
        .reads()
        .build();
    assert_eq!(schemas(long, true), 1);
}

/// A schema with long executions has few of them at first, two for their length among them, and 200 more after all other schemas; the
/// exhaustive searches leave it out. In `a_pass_that_does_not_pay_ends`, none is long.
#[test]
fn long_executions_come_after_a_few_of_each_schema() {
    let writes = |times: i64| {
        Object::describe("register", || AtomicI64::new(0))
            .core("set", move |register, (value,): (i64,)| (0..times).for_each(|_| register.store(value, SeqCst)))
            .method("get", |register, ()| register.load(SeqCst))
            .reads()
            .build()
    };
    let bounds = Bounds { invocations: 2..=2, values: 1..=1, ..Bounds::default() };
    let executions = |object: &Object, passes: &[usize]| {
        let all = Pass::before(&Settings::default());
        let passes: Vec<Pass> = passes.iter().map(|number| all[*number].clone()).collect();
        let (staged, by_rank) = (Campaign::staged(object, 1), Some((bounds.clone(), 1)));
        let campaign = Campaign { passes, by_rank, random: None, repeated: None, started: None, ..staged };
        let Searched { hunted, .. } = searched(&Campaign { goes_on_while_cheap: false, ..campaign }, "get");
        assert_eq!(hunted.schemas, 1);
        hunted.executions
    };
    let long = writes(2_000);
    assert_eq!(executions(&long, &[0]), 20);
    assert_eq!(executions(&long, &[0, 1]), 20 + 200);
    assert_eq!(executions(&long, &[0, 1, 3, 4]), 20 + 200);
    // A schema that somebody asks for runs in the exhaustive searches, too: at most 30 executions in each of these passes.
    let few = Settings { executions: Executions::AtMost(30), ..Settings::default() };
    let campaign = Campaign { passes: Pass::before(&few), ..Campaign::staged(&long, 1) };
    let asked = Schema::parse("{ set(0) } || { get() }").expect("a schema");
    assert_eq!(campaign.schema(asked).hunted.executions, 20 + 30 + 30 + 30);
}

/// The watcher ends a search in a later pass, and what was seen before is kept.
#[test]
fn a_watcher_ends_a_later_pass() {
    let bounds =
        Bounds { sequences: 3..=3, invocations: 5..=5, values: 2..=2, constraints: false, ..Bounds::default() };
    let settings = Settings { executions: Executions::AtMost(3), ..Settings::default() };
    let staged = Campaign::staged(&register(), 1);
    let passes = Pass::before(&settings);
    let campaign =
        Campaign { passes, by_rank: None, random: Some((bounds, 3)), repeated: None, started: None, ..staged };
    let mut asked = 0;
    let hunted = campaign.method(method(&register(), "get"), &mut |_| {
        asked += 1;
        if asked == 5 { Next::Stop } else { Next::Continue }
    });
    // Three schemas in the first pass, and one in the second.
    assert_eq!((hunted.hunted.schemas, hunted.hunted.executions, hunted.hunted.end), (3, 3 * 6 + 3, Ended::Enough));
}

/// No time: nothing runs, and nothing counts as tried.
#[test]
fn a_search_without_time_has_tried_nothing() {
    let campaign = Campaign { time: Some(std::time::Duration::ZERO), ..Campaign::staged(&register(), 1) };
    let Searched { hunted, .. } = searched(&campaign, "get");
    assert_eq!((hunted.schemas, hunted.executions, hunted.end), (0, 0, Ended::OutOfTime));
}

/// The passes and the search that runs each schema to completion agree about what is atomic, on the same schemas.
#[test]
fn passes_agree_with_one_exhaustive_search() {
    for (object, name) in [(counter(), "bump"), (counter(), "add"), (register(), "get")] {
        let bounds = Bounds { invocations: 2..=3, ..Bounds::default() };
        let staged = Campaign { repeated: Some((bounds.clone(), 40)), started: None, ..Campaign::staged(&object, 3) };
        let staged = Campaign { random: Some((bounds, 40)), by_rank: None, ..staged };
        let slow = Campaign { passes: vec![], ..staged.clone() };
        let (staged, slow) = (searched(&staged, name), searched(&slow, name));
        assert_eq!(staged.found().is_some(), slow.found().is_some(), "{name}");
        if staged.found().is_none() {
            assert_eq!(staged.hunted.coverage.traces, slow.hunted.coverage.traces, "{name}");
            assert_eq!(staged.hunted.coverage.complete, slow.hunted.coverage.complete, "{name}");
        }
    }
}

/// A bag whose `put` looks for a free cell and then writes it. Nothing says where the value went.
fn bag(atomic: bool) -> Object {
    Object::describe("bag", || [AtomicI64::new(0), AtomicI64::new(0)])
        .method("put", move |bag, (value,): (i64,)| {
            let free = bag.iter().find(|cell| match atomic {
                true => cell.compare_exchange(0, value + 1, SeqCst, SeqCst).is_ok(),
                false => cell.load(SeqCst) == 0,
            });
            if let Some(cell) = free.filter(|_| !atomic) {
                cell.store(value + 1, SeqCst);
            }
        })
        .postcondition("count", |bag| bag.iter().filter(|cell| cell.load(SeqCst) != 0).count())
        .build()
}

/// Two values of which one is lost: no result of a call shows it, and what is left does.
#[test]
fn what_is_lost_is_seen_at_the_end() {
    let few = |atomic| Campaign {
        repeated: Some((Bounds { invocations: 2..=2, ..Bounds::default() }, 20)),
        ..Campaign::staged(&bag(atomic), 1)
    };
    let found = searched(&few(false), "put");
    let found = found.found().expect("one value is lost");
    assert_eq!(found.schema.to_string(), "[put(0)], [put(0)], [count()], {0<2, 1<2}");
    let crate::hunt::What::Outcome { outcome, .. } = &found.what else { panic!("{found:?}") };
    assert_eq!(outcome.last(), Some(&Value::Int(1)));

    let sound = searched(&few(true), "put");
    assert_eq!((sound.found(), sound.hunted.schemas), (None, 20));
}

/// Names and their number, which are changed under one lock or one after the other.
fn counted(locked: bool) -> Object {
    Object::describe("names", || (Mutex::new(Vec::new()), AtomicI64::new(0)))
        .method("add", move |(names, count), (name,): (i64,)| {
            let mut all = names.lock().unwrap();
            all.push(name);
            let all = locked.then_some(all);
            count.fetch_add(1, SeqCst);
            drop(all);
        })
        .method("clear", move |(names, count), ()| {
            let mut all = names.lock().unwrap();
            all.clear();
            let all = locked.then_some(all);
            count.store(0, SeqCst);
            drop(all);
        })
        .invariant("is_counted", |(names, count)| names.lock().unwrap().len() as i64 == count.load(SeqCst))
        .build()
}

/// Neither method gives a result, and one after the other they leave the number right.
#[test]
fn an_invariant_is_a_specification() {
    let object = counted(false);
    let searched = |object: &Object| searched(&Campaign::staged(object, 1), "add");
    let wrong = searched(&object);
    let found = wrong.found().expect("the number is 1, and no name is there");
    let crate::hunt::What::Outcome { outcome, .. } = &found.what else { panic!("{found:?}") };
    // The look comes after all calls, also in the smallest program.
    let schema = found.schema.to_string();
    assert_eq!(
        (&*schema, outcome.last()),
        ("[add(0)], [clear()], [is_counted()], {0<2, 1<2}", Some(&Value::Bool(false)))
    );
    assert_eq!(searched(&counted(true)).found(), None);
    // An invariant that is false in each order is not a violation of atomicity.
    let never = Object::describe("never", || AtomicI64::new(0))
        .method("add", |count, ()| _ = count.fetch_add(1, SeqCst))
        .invariant("holds", |_| false)
        .build();
    assert_eq!(searched(&never).found(), None);
}

/// `take` gives a value that `put` left there, and looks for it after it has seen that there is one.
#[test]
fn what_needs_a_start_is_found_with_one() {
    let object = Object::describe("slot", || AtomicI64::new(0))
        .core("fill", |slot, ()| slot.store(1, SeqCst))
        .method("take", |slot, ()| if slot.load(SeqCst) == 1 { slot.swap(0, SeqCst) } else { -1 })
        .build();
    let started = Campaign { by_rank: None, random: None, repeated: None, ..Campaign::staged(&object, 1) };
    // One call of `take`: nothing takes the value away in between.
    assert_eq!(searched(&started, "take").found(), None);
    let twice = Bounds { invocations: 2..=2, start: 1..=1, ..Bounds::default() };
    let started = Campaign { repeated: Some((twice, 100)), started: None, ..started };
    let found = searched(&started, "take");
    let schema = |found: Option<&Found>| found.expect("both see the value").schema.to_string();
    assert_eq!(schema(found.hunted.found()), "[fill()], [take()], [take()], {0<1, 0<2}");
    // Without the order it is seen, too.
    assert_eq!(schema(found.found()), "{ fill() } || { take() } || { take() }");
}

/// A latch whose count goes down in two steps. Only another call of it can come between these, and only the core method says what is lost.
#[test]
fn several_calls_of_the_method_come_early() {
    let object = |at_once: bool| {
        Object::describe("latch", || AtomicI64::new(3))
            .method("count_down", move |latch, ()| {
                if at_once {
                    latch.fetch_sub(1, SeqCst);
                } else {
                    let count = latch.load(SeqCst);
                    latch.store(count - 1, SeqCst);
                }
            })
            .core("count", |latch, ()| latch.load(SeqCst))
            .reads()
            .build()
    };
    let sloppy = searched(&Campaign::staged(&object(false), 1), "count_down");
    let schema = sloppy.found().expect("a call is lost").schema.to_string();
    let seen = "{ count_down(); count() } || { count_down(); count() }";
    let again = "{ count_down(); count_down(); count() } || { count_down() }";
    assert!(schema == seen || schema == again, "{schema}");
    // One call of `count_down`, and one to three of `count`: two calls in one way, three in three, four in six. Then two or more of it: two
    // calls in one way, three in three, or one if `count` is not called. Of four calls, two are of it in six ways of three beside one and in
    // four of two beside two, three in four and two, and four in one and one.
    let (once, fewer) = (1 + 3 + 6, 1 + 3 + 1);
    let schemas = sloppy.hunted.schemas;
    assert!((once + fewer + 1..=once + fewer + (6 + 4) + (4 + 2) + 2).contains(&schemas), "{schemas}");
    // Its twin.
    let few = Campaign { goes_on_while_cheap: false, ..Campaign::staged(&object(true), 1) }.of_at_most(40);
    assert_eq!(searched(&few, "count_down").found(), None);
}

/// A schema by rank begins with no calls on one thread, so a search that asks for some has none by rank. Half of the others are.
#[test]
fn half_of_the_schemas_are_the_smallest() {
    let (object, bounds) = (register(), Bounds { invocations: 2..=4, ..Bounds::default() });
    let staged = Campaign::staged(&object, 1);
    let by_rank = |bounds, most| {
        let stage = staged.smallest_first(bounds, 1, Pool::Repeated(method(&object, "get")), most);
        let (Source::With { schemas, after: 0, .. }, _, total) = stage else { panic!("small ones come first") };
        assert_eq!(total, most);
        schemas.len()
    };
    assert_eq!(by_rank(bounds.clone(), 9), 5);
    assert_eq!(by_rank(Bounds { start: 0..=3, ..bounds.clone() }, 9), 5);
    assert_eq!(by_rank(Bounds { start: 1..=3, ..bounds }, 9), 0);
}

/// `clear` goes from slot to slot. That shows only where both slots are full.
#[test]
fn a_method_about_all_entries_starts_with_two() {
    let object = |at_once: bool| {
        Object::describe("slots", || [const { AtomicI64::new(0) }; 2])
            .core("put", |slots, (key,): (i64,)| {
                slots[0].fetch_or(1 << key, SeqCst);
            })
            .core("has", |slots, (key,): (i64,)| slots[0].load(SeqCst) & 1 << key != 0)
            .reads()
            .method("clear", move |slots, ()| match at_once {
                true => slots[0].store(0, SeqCst),
                false => [0, 1].iter().for_each(|key| _ = slots[0].fetch_and(!(1 << key), SeqCst)),
            })
            .build()
    };
    let filled = |object: &Object| {
        let staged = Campaign { by_rank: None, random: None, repeated: None, ..Campaign::staged(object, 1) };
        let stages = staged.stages(method(object, "clear"));
        let filled: u64 = stages.filter(|(source, ..)| matches!(source, Source::Given(_))).map(|(.., most)| most).sum();
        // Three quarters of these are filled.
        let started = staged.started.clone().map(|(bounds, _)| (bounds, filled / 3 * 4));
        (filled, searched(&Campaign { started, ..staged }, "clear"))
    };
    let (number, sloppy) = filled(&object(false));
    // Beside itself, and two orders of each pair of the two core methods.
    assert_eq!(number, 1 + 2 * 4);
    assert!(sloppy.hunted.schemas <= number);
    let schema = sloppy.found().expect("one slot is empty before the other").schema.to_string();
    assert_eq!(schema, "[put(0); put(1)], [clear()], [has(0); has(1)], {0<1, 0<2}");
    // Its twin.
    let (_, atomic) = filled(&object(true));
    assert_eq!((atomic.found(), atomic.hunted.schemas), (None, number + 3));
}

/// The set that is to blame is as small as there is one: `two` needs the other, and `one` alone is enough.
#[test]
fn as_few_methods_as_possible_are_to_blame() {
    let object = Object::describe("blamed", || AtomicI64::new(0))
        .core("bump", |counter, ()| {
            let value = counter.load(SeqCst);
            counter.store(value + 1, SeqCst);
            value
        })
        .core("double", |counter, ()| counter.store(2 * counter.load(SeqCst), SeqCst))
        .method("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .build();
    let found = searched(&Campaign::staged(&object, 1), "get");
    assert!(found.of_core);
    assert_eq!(found.blamed, [method(&object, "double")].into());
    assert_eq!(found.found().expect("a violation").schema.to_string(), "{ bump(); bump() } || { double() }");
    // Its twin: nobody but the method itself is to blame.
    let own = searched(&Campaign::staged(&counter(), 1), "bump");
    assert!(!own.of_core && own.blamed.is_empty());
}
