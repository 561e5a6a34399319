use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use super::*;
use crate::hunt::Searched;
use crate::object::Object;
use crate::schemas::Bounds;

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

fn method(object: &Object, name: &str) -> MethodId {
    object.named(name).next().expect("a method")
}

fn searched(campaign: &Campaign, name: &str) -> Searched {
    campaign.method(method(&campaign.object, name), &mut |_| Next::Continue)
}

/// Without core methods no schema of one call can fail: it takes the method twice.
#[test]
fn a_method_that_only_races_with_itself_is_found() {
    let once = Campaign::systematic(&counter(), 1);
    let missed = searched(&once, "bump").hunted;
    assert_eq!((missed.schemas, missed.found()), (0, None));

    let campaign = Campaign::staged(&counter(), 1);
    let found = searched(&campaign, "bump");
    assert_eq!(found.found().expect("bump is not atomic").schema.to_string(), "{ bump() } || { bump() }");
    assert!(!found.of_core);
    // Its twin, with the same schemas.
    let sound = searched(&campaign, "add");
    assert_eq!((sound.hunted.schemas, sound.found()), (1_000, None));
    let add = method(&counter(), "add");
    assert!(sound.hunted.coverage.pairs.contains(&(add, add)));
}

/// `{ set(0) } || { get() }` has two traces. The probe shows them in 32 executions, and the exhaustive search of what is
/// small ends after 2, so no later pass runs the schema.
#[test]
fn a_small_schema_is_complete_in_the_first_pass() {
    let bounds = Bounds { invocations: 2..=2, values: 1..=1, ..Bounds::default() };
    let staged = Campaign::staged(&register(), 1);
    let campaign = Campaign { by_rank: Some((bounds, 10)), random: None, repeated: None, ..staged };
    let Searched { hunted, .. } = searched(&campaign, "get");
    let coverage = &hunted.coverage;
    assert_eq!((hunted.schemas, hunted.executions, coverage.traces, coverage.complete), (1, 34, 2, 1));
    assert_eq!((&hunted.end, coverage.unseen, coverage.more_traces), (&Ended::NoMore, None, false));
    assert_eq!(coverage.pairs, [(MethodId(0), MethodId(1))].into());
}

/// Passes of three executions each over three schemas of more traces: each schema costs 3 in the first two passes, and the
/// exhaustive passes give up after two schemas.
#[test]
fn a_pass_that_does_not_pay_ends() {
    let bounds = Bounds { sequences: 3..=3, invocations: 5..=5, values: 2..=2, constraints: false };
    let settings = Settings { executions: Executions::AtMost(3), ..Settings::default() };
    let mut passes = Pass::before(&settings);
    passes.iter_mut().for_each(|pass| pass.gives_up_after = pass.gives_up_after.and(Some(2)));
    let staged = Campaign::staged(&register(), 1);
    let campaign = Campaign { passes, by_rank: None, random: Some((bounds, 3)), repeated: None, ..staged };
    let Searched { hunted, .. } = searched(&campaign, "get");
    assert_eq!((hunted.schemas, hunted.executions, hunted.coverage.complete), (3, 3 * 3 + 3 * 3 + 2 * 3 + 2 * 3, 0));
    assert!(hunted.coverage.unseen.is_some(), "{:?}", hunted.coverage);
    assert_eq!(hunted.end, Ended::Enough);

    // The twin whose exhaustive pass completes each schema: no later pass runs.
    let enough = Settings { executions: Executions::AtMost(5_000), ..settings };
    let pass = Pass { settings: enough, small: None, gives_up_after: Some(1) };
    let campaign = Campaign { passes: vec![pass.clone(), pass], ..campaign };
    let Searched { hunted, .. } = searched(&campaign, "get");
    assert_eq!((hunted.schemas, hunted.coverage.complete, hunted.coverage.unseen), (3, 3, None));
    assert_eq!(hunted.executions, hunted.coverage.traces);
}

/// The watcher ends a search in a later pass, and what was seen before is kept.
#[test]
fn a_watcher_ends_a_later_pass() {
    let bounds = Bounds { sequences: 3..=3, invocations: 5..=5, values: 2..=2, constraints: false };
    let settings = Settings { executions: Executions::AtMost(3), ..Settings::default() };
    let staged = Campaign::staged(&register(), 1);
    let passes = Pass::before(&settings);
    let campaign = Campaign { passes, by_rank: None, random: Some((bounds, 3)), repeated: None, ..staged };
    let mut asked = 0;
    let hunted = campaign.method(method(&register(), "get"), &mut |_| {
        asked += 1;
        if asked == 5 { Next::Stop } else { Next::Continue }
    });
    // Three schemas in the first pass, and one in the second.
    assert_eq!((hunted.hunted.schemas, hunted.hunted.executions, hunted.hunted.end), (3, 12, Ended::Enough));
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
        let staged = Campaign { repeated: Some((bounds.clone(), 40)), ..Campaign::staged(&object, 3) };
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
