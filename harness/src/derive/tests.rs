use std::collections::BTreeSet;

use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::What;

/// Two cells over the mirror. `sum` reads one after the other, `late` gives what a cell of its own was told last.
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
    Derivation { engine: Engine::exhaustive(), schemas: 60, ..Derivation::new(object, 1) }
}

fn derived(object: &Object, name: &str) -> DerivedMethod {
    let method = object.named(name).next().expect("a method");
    derivation(object).method(method, &mut |_| ())
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
    let derived = Derivation { schemas: 15, ..derivation(&cells()) }.run(&mut |progress| {
        stages.insert(progress.method);
    });
    let levels: Vec<Option<Level>> = derived.methods.iter().map(|method| method.level).collect();
    assert_eq!(levels.len(), 3);
    assert_eq!(stages.len(), 4, "each method, and all together");
    assert!(derived.together.schemas <= 15);
}

#[test]
fn what_no_level_explains_has_none() {
    let object = Object::describe("odd", || AtomicI64::new(0))
        .core("put", |cell, (value,): (i64,)| {
            cell.store(-1, SeqCst);
            cell.store(value, SeqCst);
        })
        .method("get", |cell, ()| cell.load(SeqCst))
        .reads()
        .build();
    // -1 is not the result of any selection of puts.
    let get = derived(&object, "get");
    assert_eq!((get.level, get.refuted.len()), (None, 1));
    assert!(get.schemas < 60, "nothing is left to try");
}
