//! Searches that another process continues: their executions are those of one process. The exhaustive search is continued in
//! `exhaustive`, and in the tests of weak memory and of loops that wait.

use std::ops::ControlFlow;
use std::rc::Rc;

use interloper_scheduler::schedule::{FREE_EVERY, Plan, Schedule, Search};
use interloper_scheduler::strategies::Exhaustive;
use interloper_scheduler::{Config, Engine, Executions, Freedoms, Strategy};

use crate::common::*;
use crate::continuing::Continued;

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
    let mut engine = Engine::new(Config { freedoms: Freedoms::ALL, ..Config::default() });
    let mut all = Vec::new();
    engine.explore(strategy, Executions::AtMost(executions), program, |engine, execution| {
        all.push(format!("{:#}", engine.failing(&execution).decisions));
        ControlFlow::<()>::Continue(())
    });
    all
}

fn fresh(schedule: &Schedule, free_every: u64) -> Box<dyn Strategy> {
    match schedule.search(&Plan { free_every, ..Plan::new(7) }) {
        Search::Exhaustive(strategy) => strategy,
        Search::Preemptions(strategy) => strategy,
        Search::Other(strategy) => strategy,
    }
}

#[test]
fn what_is_drawn_by_its_number_goes_on_with_the_next_number() {
    for text in ["random", "pct:3", "pctwm:3:2", "pos", "atomfuzzer", "atomfuzzer-mutex"] {
        for free_every in [1, FREE_EVERY] {
            let schedule: Schedule = text.parse().unwrap();
            let whole = decisions(&mut *fresh(&schedule, free_every), 100);
            let again = decisions(&mut Continued::new(|| fresh(&schedule, free_every)), 100);
            assert_eq!(again, whole, "{text}");
            assert!(whole.iter().any(|one| *one != whole[0]), "{text}: all executions are the same");
        }
    }
}

/// What they have learnt is as large as what they have seen, so it is not kept.
#[test]
fn what_learns_is_not_continued() {
    for text in ["random+pos", "rff", "surw", "urw", "portfolio", "preemptions:1"] {
        let schedule: Schedule = text.parse().unwrap();
        for free_every in [1, FREE_EVERY] {
            let mut strategy = fresh(&schedule, free_every);
            decisions(&mut *strategy, 3);
            assert_eq!(strategy.saved(), None, "{text}");
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
