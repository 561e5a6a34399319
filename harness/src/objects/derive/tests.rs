use std::collections::BTreeSet;

use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::What;
use crate::object::Object;
use crate::testing::{careless, method};

/// Two cells over the mirror. `sum` reads one after the other, `late` returns the last value that was written to a cell
/// of its own.
fn cells() -> Object {
    Object::describe("cells", || [AtomicI64::new(0), AtomicI64::new(0), AtomicI64::new(0)])
        .core("put", |cells, (key, value): (usize, i64)| {
            cells[key].swap(value + 1, SeqCst);
            cells[2].fetch_add(1, SeqCst);
        })
        .method("get", |cells, (key,): (usize,)| cells[key].load(SeqCst))
        .reads()
        .method("sum", |cells, ()| cells[0].load(SeqCst) + cells[1].load(SeqCst))
        .reads()
        .method("puts", |cells, ()| cells[2].load(SeqCst))
        .reads()
        .build()
}

fn derivation(object: &Object) -> Derivation {
    let random = Some((Bounds::default(), 60));
    Derivation::new(Campaign { by_rank: None, random, ..Campaign::systematic(object, 1) })
}

fn derived(object: &Object, name: &str) -> DerivedMethod {
    derivation(object).method(method(object, name), &[], &mut |_| ())
}

#[test]
fn levels_are_those_that_the_outcomes_allow() {
    let object = cells();
    // A get after its own put sees it, or a later one: one cell is atomic.
    let get = derived(&object, "get");
    assert_eq!((get.level, get.refuted.len(), get.schemas, get.supporting), (Some(Level::Complete), 0, 60, 60));
    // A sum may miss a put of another sequence and see a later one, but sees what happened before it.
    let sum = derived(&object, "sum");
    assert_eq!(sum.level, Some(Level::Monotonic));
    assert_eq!(sum.refuted[0].0, Level::Complete);
    assert!(sum.supporting < sum.schemas && sum.executions > sum.schemas);
    assert!(sum.supporting <= sum.supporting_executions && sum.supporting_executions < sum.executions);
    assert_eq!(get.supporting_executions, get.executions);
    for (_, found) in &sum.refuted {
        assert!(matches!(found.what, What::Outcome { .. }));
        assert!(found.schema.to_string().contains("sum()"));
    }
}

#[test]
fn each_refuted_level_is_refuted_by_its_own_outcome() {
    let sum = derived(&cells(), "sum");
    for (level, found) in &sum.refuted {
        let program = cells().program(&found.schema).expect("a schema of the object");
        let What::Outcome { outcome, .. } = &found.what else { panic!("{found:?}") };
        let admits = |level: Level| {
            let visibility = Visibility::complete().with("sum", level);
            Judge::new(&program, &mut program.sequential(), &visibility, 100_000).expect("a judge").admits(outcome)
        };
        assert!(!admits(*level));
        assert!(admits(sum.level.expect("a level")));
    }
    let levels: BTreeSet<Level> = sum.refuted.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels.len(), sum.refuted.len(), "each level falls once");
}

#[test]
fn all_methods_are_tried_together_with_their_levels() {
    let mut stages = BTreeSet::new();
    let mut derivation = derivation(&cells());
    derivation.campaign.random = Some((Bounds::default(), 15));
    derivation.together.1 = 15;
    let derived = derivation.run(&mut |progress| {
        stages.insert(progress.method);
    });
    let levels: Vec<Option<Level>> = derived.methods.iter().map(|method| method.level).collect();
    assert_eq!(levels.len(), 3);
    assert_eq!(stages.len(), 4, "each method, and all together");
    assert!(derived.together.schemas <= 15);
}

#[test]
fn what_no_level_explains_has_none() {
    // Two counts, of which the first is ahead of the second for a moment.
    let object = Object::describe("odd", || [AtomicI64::new(0), AtomicI64::new(0)])
        .core("add", |counts, ()| {
            for count in counts {
                count.fetch_add(1, SeqCst);
            }
        })
        .method("ahead", |counts, ()| counts[0].load(SeqCst) - counts[1].load(SeqCst))
        .reads()
        .build();
    // 1 is not the result of any selection of additions.
    let ahead = derived(&object, "ahead");
    assert_eq!((ahead.level, ahead.refuted.len()), (None, 1));
    assert!(ahead.schemas < 60, "nothing is left to try");
}

#[test]
fn nothing_is_derived_beside_core_methods_that_are_not_atomic() {
    let look = derived(&careless(), "look");
    assert!(look.of_core.is_some_and(|found| !found.schema.to_string().contains("look")));
    assert!(derived(&cells(), "sum").of_core.is_none());
}

/// Whatever a search finds, the derivation comes upon, since it tries the same schemas, the small ones first.
#[test]
fn what_a_search_finds_is_not_complete() {
    let object = cells();
    let small = Bounds { invocations: 2..=4, values: 1..=2, ..Bounds::default() };
    for (by_rank, random) in [(Some((small, 400)), None), (None, Some((Bounds::default(), 60)))] {
        let campaign = Campaign { by_rank, random, ..Campaign::systematic(&object, 1) };
        let derivation = Derivation::new(campaign.clone());
        for (name, atomic) in [("get", true), ("sum", false)] {
            let method = method(&object, name);
            let searched = campaign.method(method, &mut |_| Next::Continue);
            let derived = derivation.method(method, &[], &mut |_| ());
            assert_eq!(
                (searched.found().is_none(), derived.level == Some(Level::Complete)),
                (atomic, atomic),
                "{name}"
            );
            let Some(found) = searched.hunted.found() else { continue };
            assert_eq!((&derived.refuted[0].1.schema, &derived.refuted[0].1.what), (&found.schema, &found.what));
            assert_eq!(derived.schemas.min(searched.hunted.schemas), searched.hunted.schemas);
        }
    }
}

#[test]
fn what_is_known_counts_without_being_run() {
    let object = cells();
    let sum = method(&object, "sum");
    let found = derived(&object, "sum").refuted[0].1.clone();
    let nothing = Derivation::new(Campaign { by_rank: None, random: None, ..Campaign::systematic(&object, 1) });
    let without = nothing.method(sum, &[], &mut |_| ());
    assert_eq!((without.level, without.refuted.len()), (Some(Level::Complete), 0));
    let with = nothing.method(sum, std::slice::from_ref(&found), &mut |_| ());
    assert_eq!((with.schemas, with.executions), (0, 0));
    assert!(with.level < Some(Level::Complete), "{:?}", with.level);
    assert_eq!(with.refuted, [(Level::Complete, found.clone())]);
    // What was not right stays explained when it is known twice.
    assert_eq!(nothing.method(sum, &[found.clone(), found], &mut |_| ()), with);
}

#[test]
fn a_difference_from_the_model_ends_the_derivation() {
    let object = Object::describe("map", || AtomicI64::new(0))
        .core("put", |cell, (_, value): (i64, i64)| {
            cell.store(value, SeqCst);
        })
        .method("size", |cell, ()| cell.load(SeqCst))
        .reads()
        .model(interloper_linearize::types::type_named("map").expect("a type"))
        .build();
    let size = derived(&object, "size");
    assert_eq!((size.schemas, size.executions, size.refuted.len()), (1, 0, 0));
    assert!(size.disagreement().is_some());
    assert!(derived(&cells(), "get").disagreement().is_none());
}
