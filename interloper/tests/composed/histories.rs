//! What a check says of its runs: how many different histories, how many steps, and how likely a new one is.

use interloper::collections::{AtomicU64, DashMap, SegQueue};
use interloper::{Adversary, Coverage, Environment, MethodUnderTest, Report, Value, Verdict};

type Map = DashMap<u32, u32>;

/// Figure 12(i): one step.
fn compute_in_one_step(map: &Map, key: u32) -> u32 {
    *map.entry(key).or_insert(key * 2)
}

/// From the empty map, with one environment operation out of 6 at most: 1 run of one step, and 6 runs of two steps for
/// each of the two gaps.
fn one_step(arguments: Vec<u32>) -> MethodUnderTest<Map, u32, u32> {
    MethodUnderTest::new("compute", DashMap::new, compute_in_one_step)
        .arguments(arguments)
        .keys([7u32])
        .values([14u32, 15])
        .initial_states([vec![Value::map([])]])
        .settings(|settings| settings.bound = 1)
}

fn covered<S: interloper::Subject, A: interloper::Datum, R: interloper::ToValue>(
    method: MethodUnderTest<S, A, R>,
) -> Coverage {
    let report = method.check().expect("well described");
    assert_eq!(report.coverage.len(), 1, "{report}");
    report.coverage[0].clone()
}

#[track_caller]
fn check(coverage: &Coverage, executions: u64, histories: u64, steps: u64) {
    let counts = (coverage.executions, coverage.histories, coverage.more_histories, coverage.steps);
    assert_eq!(counts, (executions, histories, false, steps), "{coverage}");
}

#[test]
fn runs_of_an_exhaustive_search_have_different_histories() {
    let coverage = covered(one_step(vec![7]));
    check(&coverage, 13, 13, 1 + 2 * 12);
    assert_eq!(coverage.unseen, None);
    let text = coverage.to_string();
    assert!(text.ends_with("; 13 executions of 13 histories, 25 steps, complete"), "{text}");
}

#[test]
fn the_same_argument_twice_gives_the_same_histories_twice() {
    check(&covered(one_step(vec![7, 7])), 26, 13, 50);
    assert_eq!(covered(one_step(vec![7, 7]).random(42, 2_000)).histories, 13);
}

#[test]
fn random_runs_find_the_same_histories_and_say_what_is_unseen() {
    // The least likely of the 13 histories has a probability of 1/2 · 1/7 at least: it is missed with one below 2^-200.
    let coverage = covered(one_step(vec![7]).random(42, 2_000));
    assert_eq!((coverage.executions, coverage.histories), (2_000, 13));
    let unseen = coverage.unseen.expect("a random search");
    assert_eq!((unseen.executions, unseen.once), (2_000, 0));
    let text = coverage.to_string();
    assert!(text.contains("; 2000 random executions of 13 histories, "), "{text}");
    assert!(text.ends_with(" steps; every history came more than once"), "{text}");
    // A single run is the only one of its history.
    let coverage = covered(one_step(vec![7]).random(42, 1));
    assert_eq!((coverage.histories, coverage.unseen.map(|unseen| unseen.probability())), (1, Some(1.0)));
    let text = coverage.to_string();
    assert!(text.contains("; 1 random execution of 1 history, "), "{text}");
    assert!(text.ends_with("; about 100.0 % of further executions would show a new history"), "{text}");
}

#[test]
fn a_search_that_ends_at_a_violation_estimates_nothing() {
    let report = |keep_going: bool| -> Report {
        let twice = |map: &Map, key: u32| (map.insert(key, 1), map.contains_key(&key)).1;
        let method = MethodUnderTest::new("twice", DashMap::new, twice).arguments([7]).random(42, 500);
        let report = method.settings(|settings| settings.keep_going = keep_going).check().expect("well described");
        assert_eq!(report.verdict, Verdict::NotLinearizable);
        report
    };
    assert_eq!(report(false).coverage[0].unseen, None);
    assert_eq!(report(true).coverage[0].unseen.expect("it went on").executions, 500);
}

/// In each of two gaps there is an operation with a probability of 1/2, as long as there was none: a push of a random
/// value in 3/8 of the runs. All of these differ (but for a probability below 2^-12), though the numbers of operations
/// are forgotten now and then and given to others. The other histories are nothing, and a pop in one of the gaps. That
/// there are less than 300 pushes has a probability below 2^-18.
#[test]
fn runs_of_the_naive_adversary_are_told_apart_by_values() {
    let push = |queue: &SegQueue<u32>, (): ()| queue.push(1);
    let method = MethodUnderTest::new("push", SegQueue::new, push).random(42, 1_000);
    let coverage = covered(method.settings(|settings| (settings.adversary, settings.bound) = (Adversary::Naive, 1)));
    let once = coverage.unseen.expect("a random search").once;
    assert!(once >= 300 && coverage.histories == once + 3, "{coverage}");
}

fn closed<S: interloper::Subject + 'static>(
    make: fn() -> S,
    initial: Vec<Value>,
    method: fn(&S, u32) -> u64,
    calls: usize,
) -> Coverage {
    let method = MethodUnderTest::new("call", make, method).arguments([7]).initial_states([initial]).concurrent(calls);
    covered(method.settings(|settings| (settings.environment, settings.keep_going) = (Environment::Closed, true)))
}

/// Each call is one step, and the object reaches the states 0, 1 and 2.
#[test]
fn interleavings_of_calls_of_one_step_are_histories() {
    let add = |number: &AtomicU64, _: u32| number.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let coverage = closed(|| AtomicU64::new(0), vec![Value::Int(0)], add, 2);
    check(&coverage, 3 * 2, 3 * 2, 3 * 2 * 2);
}

/// A call that waits for a lock and finds it taken by a third one waits on, which no history shows.
#[test]
fn executions_of_several_calls_can_share_a_history() {
    let under_lock = |(map, number): &(Map, AtomicU64), key: u32| {
        let _guard = map.entry(key).or_insert(0);
        number.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
    };
    let of = |calls| closed(|| (Map::new(), AtomicU64::new(0)), vec![Value::map([]), Value::Int(0)], under_lock, calls);
    let (two, three) = (of(2), of(3));
    assert_eq!(two.histories, two.executions);
    assert!(three.histories < three.executions, "{three}");
}
