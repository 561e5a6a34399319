//! What each memory ordering is for: the needed ones are told from those that are stronger than needed.

use interloper::Checker;
use interloper::blocks::Schedule;
use interloper::report::orderings::{Orderings, Outcome, Site, Verdict, json, sarif};
use interloper::sync::Arc;
use interloper::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use interloper::sync::atomic::{AtomicU32, fence};
use interloper::thread;

fn two(one: impl FnOnce(&[AtomicU32; 2]) + Send + 'static, other: impl FnOnce(&[AtomicU32; 2])) {
    let shared: Arc<[AtomicU32; 2]> = Arc::default();
    let theirs = shared.clone();
    let thread = thread::spawn(move || one(&theirs));
    other(&shared);
    thread.join().unwrap();
}

/// One thread publishes data by a flag.
fn publishes(store: Ordering, load: Ordering) -> impl Fn() + Sync {
    move || {
        let reader = move |[data, flag]: &[AtomicU32; 2]| {
            if flag.load(load) == 1 {
                assert_eq!(data.load(Relaxed), 7, "the data is there");
            }
        };
        two(reader, |[data, flag]| {
            data.store(7, Relaxed);
            flag.store(1, store);
        });
    }
}

/// Two threads count.
fn counts(order: Ordering) -> impl Fn() -> u32 + Sync {
    move || {
        let number = Arc::new(AtomicU32::new(0));
        let other = number.clone();
        let thread = thread::spawn(move || other.fetch_add(1, order));
        number.fetch_add(1, order);
        thread.join().unwrap();
        let sum = number.load(Relaxed);
        assert_eq!(sum, 2);
        sum
    }
}

fn checker() -> Checker {
    Checker::new("program").schedule(Schedule::Exhaustive)
}

/// The sites as `store SeqCst: Release survived, Relaxed killed`.
fn summary(orderings: &Orderings) -> Vec<String> {
    let site = |site: &Site| {
        let trials = site.trials.iter().map(|trial| {
            let outcome = trial.outcome.to_string();
            let word = outcome.split([' ', ':']).next().unwrap_or_default();
            format!("{} {word}", trial.ordering)
        });
        format!("{} {}: {}", site.operation, site.ordering, trials.collect::<Vec<_>>().join(", "))
    };
    let mut all: Vec<String> = orderings.sites.iter().map(site).collect();
    all.sort();
    all
}

#[test]
fn a_counter_needs_no_ordering() {
    let orderings = checker().orderings(counts(SeqCst)).unwrap();
    let all = "update SeqCst: AcqRel survived, Acquire survived, Release survived, Relaxed survived";
    assert_eq!(summary(&orderings), [all, all]);
    assert!(orderings.sites.iter().all(|site| site.verdict() == Verdict::Stronger(vec!["Relaxed"])));
    assert!(
        orderings.to_string().contains(
            ": Relaxed is enough: SeqCst is stronger than these tests can justify, or the tests are too weak\n"
        )
    );
    // Nothing is left to say of the counter that needs nothing.
    assert_eq!(checker().orderings(counts(Relaxed)).unwrap().sites, []);
}

#[test]
fn a_publication_needs_both_orderings_and_nothing_more() {
    let needed = checker().orderings(publishes(Release, Acquire)).unwrap();
    assert_eq!(summary(&needed), ["load Acquire: Relaxed killed", "store Release: Relaxed killed"]);
    let stronger = checker().orderings(publishes(SeqCst, SeqCst)).unwrap();
    let expected = ["load SeqCst: Acquire survived, Relaxed killed", "store SeqCst: Release survived, Relaxed killed"];
    assert_eq!(summary(&stronger), expected);
    let enough: Vec<Verdict<'_>> = stronger.sites.iter().map(Site::verdict).collect();
    assert!(enough.contains(&Verdict::Stronger(vec!["Release"])), "{enough:?}");
}

/// The replay that a kill names shows the finding again, and without the change it does not.
#[test]
fn a_kill_can_be_replayed() {
    let program = publishes(Release, Acquire);
    let orderings = checker().orderings(&program).unwrap();
    for trial in orderings.sites.iter().flat_map(|site| &site.trials) {
        let Outcome::Killed { replay: Some(replay), finding, test: None } = &trial.outcome else { panic!("{trial:?}") };
        assert!(finding.starts_with("panic: assertion `left == right` failed: the data is there"), "{finding}");
        let [before, change, between, decisions, after] = replay.split('"').collect::<Vec<_>>()[..] else {
            panic!("{replay}")
        };
        let expected = (".ordering(", ".parse()?).replay(&", ".parse()?, program)");
        assert_eq!((before, between, after), expected);
        let decisions = decisions.parse().unwrap();
        let changed = checker().ordering(change.parse().unwrap());
        let report = changed.replay(&decisions, &program).unwrap();
        // The table of the report breaks long lines.
        let words = report.to_string().split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(report.bug.is_some() && words.contains("the data is there"), "{report}");
        let as_it_is = checker().replay(&decisions, &program);
        assert!(as_it_is.map_or(true, |report| report.bug.is_none()));
    }
}

#[test]
fn a_check_names_the_ordering_that_it_changes() {
    let orderings = checker().orderings(publishes(Release, Acquire)).unwrap();
    let site = &orderings.sites[0];
    let change = format!("{} {} {} SeqCst", site.place(), site.operation, site.ordering);
    let report = checker().ordering(change.parse().unwrap()).check(publishes(Release, Acquire)).unwrap();
    assert!(report.coverage.schedule.ends_with(&format!(", memory weak, ordering {change}")), "{report}");
}

/// A compare-exchange that never fails: nothing can be said of the ordering of its failure.
#[test]
fn an_ordering_that_no_execution_uses_is_not_reached() {
    let program = || {
        let add = |[number, sum]: &[AtomicU32; 2]| {
            number.fetch_add(1, Relaxed);
            sum.fetch_add(1, Relaxed);
        };
        two(add, add);
        let own = AtomicU32::new(0);
        own.compare_exchange(0, 1, AcqRel, Acquire).unwrap();
    };
    let orderings = checker().orderings(program).unwrap();
    let verdicts: Vec<Verdict<'_>> = orderings.sites.iter().map(Site::verdict).collect();
    assert_eq!(verdicts, [Verdict::NotReached, Verdict::Stronger(vec!["Relaxed"])]);
    assert_eq!(summary(&orderings)[0], "load Acquire: ");
}

#[test]
fn a_fence_that_is_removed_is_missed_and_the_one_beside_it_is_not() {
    let program = || {
        let reader = |[data, flag]: &[AtomicU32; 2]| {
            if flag.load(Relaxed) == 1 {
                fence(Acquire);
                assert_eq!(data.load(Relaxed), 7);
                fence(Acquire);
            }
        };
        two(reader, |[data, flag]| {
            data.store(7, Relaxed);
            fence(SeqCst);
            flag.store(1, Relaxed);
        });
    };
    let expected = [
        "fence Acquire: Relaxed killed",
        "fence Acquire: Relaxed survived",
        "fence SeqCst: AcqRel survived, Acquire killed, Release survived",
    ];
    assert_eq!(summary(&checker().orderings(program).unwrap()), expected);
}

/// Each of both sides must be strong: with one of them Relaxed, the other alone mends nothing.
#[test]
fn a_finding_comes_with_the_ordering_that_removes_it() {
    #[track_caller]
    fn check(program: impl Fn() + Sync, fixes: &[(&str, &str, &str)]) {
        let orderings = checker().orderings(program).unwrap();
        assert_eq!(orderings.sites, []);
        let [finding] = &orderings.findings[..] else { panic!("{orderings}") };
        assert!(finding.finding.contains("the data is there") && finding.replay.is_some());
        let found: Vec<_> = finding
            .fixes
            .iter()
            .map(|fix| (fix.site.operation.as_str(), fix.site.ordering.as_str(), fix.ordering.as_str()))
            .collect();
        assert_eq!(found, fixes, "{orderings}");
    }
    check(publishes(Relaxed, Acquire), &[("store", "Relaxed", "Release")]);
    check(publishes(Release, Relaxed), &[("load", "Relaxed", "Acquire")]);
    check(publishes(Relaxed, Relaxed), &[]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_jobs() {
    let orderings = |jobs: usize| {
        let checker =
            Checker::new("program").executions(400).settings(|settings| settings.jobs = jobs.try_into().unwrap());
        let all = checker.orderings(publishes(SeqCst, Acquire)).unwrap();
        (all.to_string(), json(&all), sarif(&all))
    };
    let one = orderings(1);
    assert!(one.0.contains("Release is enough"), "{}", one.0);
    assert_eq!(orderings(1), one);
    assert_eq!(orderings(3), one);
}
