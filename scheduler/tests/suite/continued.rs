//! Searches that another process continues: their executions are those of one process. The exhaustive search is continued in
//! `exhaustive`, and in the tests of weak memory and of loops that wait, where what learns is continued, too.

use std::rc::Rc;

use interloper_scheduler::schedule::{FREE_EVERY, Plan, Schedule, Search};
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Freedoms, Strategy};

use crate::common::*;
use crate::continuing::{self, Continued, fresh};

/// Two tasks that take two locks, one of them twice.
fn program() {
    let locks = Rc::new([Lock::new(), Lock::new()]);
    let task = |first: usize| {
        let locks = locks.clone();
        spawn(move || {
            drop(locks[first].lock());
            drop(locks[1 - first].lock());
            drop(locks[first].lock());
        })
    };
    [task(0), task(1)].into_iter().for_each(|task| drop(join(task)));
}

fn decisions(strategy: &mut dyn Strategy, executions: u64) -> Vec<String> {
    let config = Config { freedoms: Freedoms::ALL, ..Config::default() };
    continuing::decisions(&config, executions, strategy, &program)
}

/// The executions are those of an uninterrupted search, and not all the same.
#[track_caller]
fn goes_on_after_each_execution(text: &str) {
    for free_every in [1, FREE_EVERY] {
        let schedule: Schedule = text.parse().unwrap();
        let whole = decisions(&mut *fresh(&schedule, free_every), 100);
        let again = decisions(&mut Continued::new(|| fresh(&schedule, free_every)), 100);
        assert_eq!(again, whole, "{text}");
        assert!(whole.iter().any(|one| *one != whole[0]), "{text}: all executions are the same");
    }
}

#[test]
fn what_is_drawn_by_its_number_goes_on_with_the_next_number() {
    for text in ["random", "pct:3", "pctwm:3:2", "pos", "atomfuzzer", "atomfuzzer-mutex"] {
        goes_on_after_each_execution(text);
    }
}

/// What learns has run more executions than it takes to measure a profile (20), and each member of a portfolio has had its turns.
const LEARN: [&str; 9] = [
    "rff",
    "surw",
    "urw",
    "random+pos",
    "portfolio",
    "preemptions:1",
    "preemptions:2",
    "rff+preemptions:1",
    "surw+exhaustive",
];

#[test]
fn what_learns_goes_on_with_what_it_has_learnt() {
    for text in LEARN {
        goes_on_after_each_execution(text);
    }
}

/// A strategy that has forgotten what it has learnt does something else: the test above can fail.
#[test]
fn what_was_learnt_matters() {
    for text in ["rff", "surw", "urw", "portfolio"] {
        let schedule: Schedule = text.parse().unwrap();
        let whole = decisions(&mut *fresh(&schedule, 1), 100);
        let Search::Other(mut late) = schedule.search(&Plan { round: 50, ..Plan::new(7) }) else { unreachable!() };
        assert_ne!(decisions(&mut *late, 50), whole[50..], "{text}");
    }
}

/// A search that has nothing left says so again.
#[test]
fn a_search_that_is_over_stays_over() {
    let schedule: Schedule = "preemptions:1".parse().unwrap();
    let mut over = fresh(&schedule, 1);
    let all = decisions(&mut *over, 10_000);
    assert!(all.len() < 10_000);
    let mut next = fresh(&schedule, 1);
    assert!(next.restore(&over.saved().expect("it can be continued")));
    assert_eq!(decisions(&mut *next, 1), [""; 0]);
}

/// Numbers that are cut, changed or of another strategy are refused, or give a search that runs.
#[test]
fn damaged_numbers_are_refused_or_run() {
    for text in LEARN {
        let schedule: Schedule = text.parse().unwrap();
        let mut begun = fresh(&schedule, FREE_EVERY);
        decisions(&mut *begun, 30);
        let saved = begun.saved().expect("it can be continued");
        // Of many numbers, some at even distances.
        for at in (0..saved.len()).step_by(saved.len() / 150 + 1) {
            assert!(!fresh(&schedule, FREE_EVERY).restore(&saved[..at]), "{text} cut at {at}");
            for number in [0, 1, 5, 1 << 20, u64::from(u32::MAX), u64::MAX] {
                let mut changed = saved.clone();
                changed[at] = number;
                let mut strategy = fresh(&schedule, FREE_EVERY);
                // The exhaustive search compares what it continues with the next execution, and says so in its own tests.
                if strategy.restore(&changed) && !text.contains("exhaustive") {
                    decisions(&mut *strategy, 3);
                }
            }
        }
        for other in LEARN.iter().filter(|other| **other != text) {
            // SURW and URW learn the same, and the caller knows which of the two it continues.
            let are_alike = [text, other].iter().all(|text| ["surw", "urw"].contains(text));
            let other: Schedule = other.parse().unwrap();
            assert!(are_alike || !fresh(&other, FREE_EVERY).restore(&saved), "{text}, {other}");
        }
    }
}

#[test]
fn numbers_of_another_search_are_refused() {
    let mut begun = Exhaustive::new();
    decisions(&mut begun, 3);
    let saved = begun.saved().expect("it can be continued");
    assert!(saved.len() > 100, "{saved:?}");
    for cut in 0..saved.len() {
        assert!(!Exhaustive::new().restore(&saved[..cut]), "cut at {cut}");
    }
    assert!(!Exhaustive::new().restore(&[&saved[..], &[0]].concat()));
    for text in ["random", "pct:3", "pctwm:3:2", "pos", "atomfuzzer"] {
        let schedule: Schedule = text.parse().unwrap();
        assert!(!fresh(&schedule, FREE_EVERY).restore(&saved), "{text}");
        assert!(!fresh(&schedule, FREE_EVERY).restore(&[]), "{text}");
    }
    // No number makes it panic.
    for at in 0..saved.len() {
        for number in [0, 1, 2, 1 << 20, u64::MAX] {
            let mut changed = saved.clone();
            changed[at] = number;
            let _ = Exhaustive::new().restore(&changed);
        }
    }
}
