//! The modes of 5.1.1 and given points; environments; abstraction; several collections.

use std::sync::Arc;

use interloper::collections::{DashMap, OnceLock, SegQueue};
use interloper::{Environment, MethodUnderTest, Misuse, Mode, Verdict, linearization_point};

/// Figure 12(ii), with the paper's linearization points.
fn compute(map: &DashMap<u32, u32>, key: u32) -> u32 {
    if let Some(found) = map.get(&key) {
        linearization_point();
        return *found;
    }
    let value = *map.entry(key).or_insert(key * 2);
    linearization_point();
    value
}

/// Figure 12(v): returns the computed value, whoever inserted.
fn compute_own(map: &DashMap<u32, u32>, key: u32) -> u32 {
    if let Some(found) = map.get(&key) {
        linearization_point();
        return *found;
    }
    map.entry(key).or_insert(key * 2);
    linearization_point();
    key * 2
}

fn verdict(method: fn(&DashMap<u32, u32>, u32) -> u32, mode: Mode) -> Verdict {
    MethodUnderTest::new("compute", DashMap::new, method)
        .arguments([7])
        .settings(|settings| settings.mode = mode)
        .check()
        .expect("well described")
        .verdict
}

#[test]
fn every_mode_knows_good_from_bad() {
    for mode in [Mode::Linearizations, Mode::CandidatePoints, Mode::GuessedPoint, Mode::GivenPoint] {
        assert_eq!(verdict(compute, mode), Verdict::Linearizable, "{mode:?}");
        assert_eq!(verdict(compute_own, mode), Verdict::NotLinearizable, "{mode:?}");
    }
}

/// The second `get` decides what is returned, and it is not the last step that changed the state: the heuristic of the
/// third mode guesses wrong, the exact one does not.
fn touch_then_read(map: &DashMap<u32, u32>, key: u32) -> Option<u32> {
    map.remove(&99);
    map.get(&key).map(|found| *found)
}

#[test]
fn only_the_exact_mode_never_accuses_wrongly() {
    let check = |mode| {
        MethodUnderTest::new("touch_then_read", DashMap::new, touch_then_read)
            .arguments([7])
            .keys([7u32])
            .settings(|settings| settings.mode = mode)
            .check()
            .expect("well described")
            .verdict
    };
    assert_eq!(check(Mode::Linearizations), Verdict::Linearizable);
    assert_eq!(check(Mode::CandidatePoints), Verdict::Linearizable);
}

#[test]
fn a_path_without_a_given_point_is_named() {
    let method = MethodUnderTest::new("touch_then_read", DashMap::new, touch_then_read)
        .arguments([7])
        .settings(|settings| settings.mode = Mode::GivenPoint);
    assert!(matches!(method.check(), Err(Misuse::NoLinearizationPoint { .. })));
}

#[test]
fn marked_points_are_listed() {
    use interloper::Check;
    let method = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]);
    let points = method.linearization_points().expect("well described");
    assert_eq!(points.len(), 2, "{points:?}");
    assert!(points[0].starts_with("insert_if_absent at ") && points[1].starts_with("get at "), "{points:?}");
}

/// Apache Cassandra (5.3): the optimistic loop that takes for granted that the key stays.
fn increment(map: &DashMap<u32, u32>, key: u32) -> u32 {
    loop {
        let mut inserted = false;
        map.entry(key).or_insert_with(|| {
            inserted = true;
            1
        });
        if inserted {
            return 1;
        }
        let seen = *map.get(&key).expect("nobody removes");
        if let Some(mut count) = map.get_mut(&key)
            && *count == seen
        {
            *count += 1;
            return *count;
        }
    }
}

#[test]
fn environments() {
    let method = || MethodUnderTest::new("increment", DashMap::new, increment).arguments([7]);
    let report = method().check().expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    assert!(report.to_string().contains("nobody removes"), "the panic is the result: {report}");
    let report = method().without("remove").check().expect("well described");
    assert_eq!(report.verdict, Verdict::Modular, "{report}");
    method()
        .without("remove")
        .settings(|settings| settings.environment = Environment::Restricted)
        .assert_linearizable();
    let unknown = method().settings(|settings| settings.environment = Environment::Restricted).check();
    assert_eq!(unknown.unwrap_err(), Misuse::NoProgramEnvironment);
}

/// Figure 12(vii): the computation runs once, in a cell that is in the map before its value is.
fn compute_once(map: &DashMap<u32, Arc<OnceLock<u32>>>, key: u32) -> u32 {
    let cell = Arc::clone(&map.entry(key).or_default());
    *cell.get_or_init(|| key * 2)
}

#[test]
fn a_value_that_is_not_there_yet() {
    let method = || MethodUnderTest::new("compute_once", DashMap::new, compute_once).arguments([7]);
    let without = method().check().expect("well described");
    assert_eq!(without.verdict, Verdict::NotLinearizable, "an empty cell is seen: {without}");
    let with = method().pending_counts_as_missing().check().expect("well described");
    assert_eq!(with.verdict, Verdict::Linearizable, "{with}");
}

/// A map and a queue: the environment acts on both.
fn submit((jobs, queue): &(DashMap<u32, u32>, SegQueue<u32>), id: u32) -> bool {
    if jobs.insert(id, 1).is_some() {
        return false;
    }
    queue.push(id);
    true
}

#[test]
fn several_collections() {
    let report = MethodUnderTest::new("submit", || (DashMap::new(), SegQueue::new()), submit)
        .arguments([7])
        .names(["jobs", "queue"])
        .check()
        .expect("well described");
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let text = report.to_string();
    assert!(text.contains("jobs.insert(7, 1) → none") && text.contains("jobs: {"), "{text}");
    // One operation on the map between the two steps is seen by no order only together with one on the queue.
    assert_eq!(report.violation.expect("a violation").environment_operations, 2);
}
