use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use interloper_scheduler::SourcePlace;
use interloper_scheduler::schedule::Schedule;
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::AtomicU32;
use interloper_std::thread;

use super::*;

fn site(argument: Argument, order: Ordering) -> Site {
    let place = SourcePlace { file: "src/lib.rs".to_owned(), line: 12, column: 9 };
    Site::new(place, argument, order).unwrap()
}

/// Which orderings are tried if these survive.
#[track_caller]
fn tried(argument: Argument, order: Ordering, survive: &[Ordering], expected: &[Ordering]) {
    let mut all = Vec::new();
    let trials = weaken::<Infallible>(&site(argument, order), |change| {
        all.push(change.to());
        let outcome = match survive.contains(&change.to()) {
            true => Outcome::Survived { executions: 1 },
            false => Outcome::Killed { test: None, finding: String::new(), replay: None },
        };
        Ok(outcome)
    });
    assert_eq!(all, expected);
    let names: Vec<String> = trials.unwrap().into_iter().map(|trial| trial.ordering).collect();
    assert_eq!(names, expected.iter().map(|order| format!("{order:?}")).collect::<Vec<_>>());
}

#[test]
fn one_level_at_a_time_as_long_as_it_survives() {
    let all = [AcqRel, Acquire, Release, Relaxed];
    tried(Argument::Update, SeqCst, &all, &all);
    tried(Argument::Update, SeqCst, &[], &[AcqRel]);
    tried(Argument::Update, SeqCst, &[AcqRel], &[AcqRel, Acquire, Release]);
    // What is weaker than something that was killed is not tried, whatever else survived.
    tried(Argument::Update, SeqCst, &[AcqRel, Acquire], &[AcqRel, Acquire, Release]);
    tried(Argument::Update, SeqCst, &[AcqRel, Release], &[AcqRel, Acquire, Release]);
    tried(Argument::Fence, AcqRel, &[Acquire, Release], &[Acquire, Release, Relaxed]);
    tried(Argument::Update, Acquire, &[], &[Relaxed]);
    tried(Argument::Load, SeqCst, &[Acquire], &[Acquire, Relaxed]);
    tried(Argument::Store, SeqCst, &[Release], &[Release, Relaxed]);
    tried(Argument::Store, Relaxed, &[Release], &[]);
}

#[test]
fn the_weakest_orderings_that_help() {
    #[track_caller]
    fn check(argument: Argument, order: Ordering, helpful: &[Ordering], tried: &[Ordering], expected: &[Ordering]) {
        let mut all = Vec::new();
        let helping = strengthen::<Infallible>(&site(argument, order), |change| {
            all.push(change.to());
            Ok(helpful.contains(&change.to()).then_some(3))
        });
        assert_eq!(all, tried);
        assert_eq!(helping.unwrap(), expected.iter().map(|&order| (order, 3)).collect::<Vec<_>>());
    }
    let up = [Acquire, Release, AcqRel, SeqCst];
    check(Argument::Update, Relaxed, &[], &up, &[]);
    check(Argument::Update, Relaxed, &[SeqCst], &up, &[SeqCst]);
    check(Argument::Update, Relaxed, &[AcqRel, SeqCst], &up[..3], &[AcqRel]);
    check(Argument::Update, Relaxed, &[Release, AcqRel, SeqCst], &[Acquire, Release], &[Release]);
    check(Argument::Store, Relaxed, &[Release, SeqCst], &[Release], &[Release]);
    check(Argument::Load, SeqCst, &[], &[], &[]);
}

/// Loses an update in any memory.
fn loses_an_update() {
    let number = Arc::new(AtomicU32::new(0));
    let other = number.clone();
    let thread = thread::spawn(move || other.store(other.load(Acquire) + 1, Release));
    number.store(number.load(Acquire) + 1, Release);
    thread.join().unwrap();
    assert_eq!(number.load(Relaxed), 2);
}

/// Counts twice, whatever the orderings.
fn counts() {
    let number = Arc::new(AtomicU32::new(0));
    let other = number.clone();
    let thread = thread::spawn(move || other.fetch_add(1, AcqRel));
    number.fetch_add(1, AcqRel);
    thread.join().unwrap();
    assert_eq!(number.load(Relaxed), 2);
}

fn checker() -> Checker {
    Checker::new("program")
        .executions(200)
        .memory(Memory::Weak)
        .settings(|settings| settings.orderings = Setting::COUNTED)
}

fn first_strong(program: fn()) -> Site {
    let report = checker().check(program).unwrap();
    let sites = report.coverage.orderings.into_iter().map(|executed| executed.site);
    sites.filter(Site::is_strong).min().expect("an ordering above Relaxed")
}

#[test]
fn a_finding_that_does_not_need_the_change_kills_nothing() {
    let change = Change::new(first_strong(loses_an_update), Relaxed).unwrap();
    let outcome = checker()
        .with_weaker(&change, &|| {
            loses_an_update();
            ().to_value()
        })
        .unwrap();
    assert!(matches!(outcome, Outcome::Unrelated { .. }), "{outcome}");
}

#[test]
fn a_change_that_no_execution_reaches_survives_nothing() {
    let here = first_strong(counts);
    let survived = |site: Site| {
        let change = Change::new(site, Acquire).unwrap();
        // One strategy, whose first of each eight executions is sequentially consistent: 175 of 200 are weak.
        checker()
            .schedule(Schedule::Random)
            .with_weaker(&change, &|| {
                counts();
                ().to_value()
            })
            .unwrap()
    };
    assert_eq!(survived(here.clone()), Outcome::Survived { executions: 175 });
    let elsewhere = SourcePlace { line: here.place.line + 1000, ..here.place.clone() };
    let nowhere = Site::new(elsewhere, here.argument, here.order()).unwrap();
    assert_eq!(survived(nowhere), Outcome::Missed { executions: 200 });
}

/// Two chunks of executions and more, which several threads run.
#[test]
fn counts_do_not_depend_on_the_number_of_threads() {
    let counted = |jobs: usize| {
        let checker = checker().executions(1_000).settings(|settings| settings.jobs = jobs.try_into().unwrap());
        checker.check(counts).unwrap().coverage.orderings
    };
    let one = counted(1);
    let times: BTreeMap<String, u64> = one
        .iter()
        .map(|executed| (executed.site.to_string().rsplit(' ').next().unwrap().to_owned(), executed.times))
        .collect();
    assert!(times["AcqRel"] > 500 && times["Relaxed"] == times["AcqRel"], "{times:?}");
    assert_eq!((counted(3), counted(1)), (one.clone(), one));
}
