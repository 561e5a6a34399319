//! The adversaries that choose by commutativity against the one that tries everything, on all small methods.
//!
//! A method is a short straight-line program over a map. `Unfiltered` makes every operation of the domain in every
//! gap, so it is the truth within the bounds; `Preceding` must agree with it on the verdict and on the smallest number
//! of environment operations, and `Nearest` must never report what is not there.

use interloper::collections::DashMap;
use interloper::{Adversary, MethodUnderTest, Report};

/// One step of a small method. `Again` inserts what the last `get` saw, if anything, increased by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Get(u8),
    Insert(u8),
    PutIfAbsent(u8),
    Remove(u8),
    Again(u8),
    /// The rest happens only when the last result was none.
    UnlessSeen,
}

const STEPS: [Step; 6] =
    [Step::Get(1), Step::Insert(1), Step::PutIfAbsent(1), Step::Remove(1), Step::Again(1), Step::UnlessSeen];

fn interpret(program: &[Step], map: &DashMap<u8, u8>, all_results: bool) -> Vec<Option<u8>> {
    let mut results = Vec::new();
    let mut last = None;
    for step in program {
        last = match *step {
            Step::Get(key) => map.get(&key).map(|value| *value),
            Step::Insert(key) => map.insert(key, 10),
            Step::PutIfAbsent(key) => {
                let mut absent = false;
                let value = *map.entry(key).or_insert_with(|| {
                    absent = true;
                    10
                });
                (!absent).then_some(value)
            }
            Step::Remove(key) => map.remove(&key).map(|(_, value)| value),
            Step::Again(key) => match last {
                Some(value) => map.insert(key, value + 1),
                None => None,
            },
            Step::UnlessSeen if last.is_some() => break,
            Step::UnlessSeen => continue,
        };
        results.push(last);
    }
    if all_results { results } else { vec![last] }
}

fn check(program: &[Step], all_results: bool, adversary: Adversary, bound: u32) -> Report {
    let steps = program.to_vec();
    MethodUnderTest::new("program", DashMap::new, move |map: &DashMap<u8, u8>, (): ()| {
        interpret(&steps, map, all_results)
    })
    .keys([1u8, 2])
    .values([10u8, 20])
    .settings(|settings| {
        settings.adversary = adversary;
        settings.bound = bound;
        settings.initial_size = 1;
        settings.audit = true;
    })
    .check()
    .unwrap_or_else(|misuse| panic!("{program:?}: {misuse}"))
}

fn smallest(report: &Report) -> Option<u32> {
    report.violation.as_ref().map(|violation| violation.environment_operations)
}

/// Every program of this many steps that makes at least one operation.
fn programs(length: usize) -> Vec<Vec<Step>> {
    let mut programs = vec![Vec::new()];
    for _ in 0..length {
        programs = programs
            .iter()
            .flat_map(|program: &Vec<Step>| STEPS.iter().map(|step| [&program[..], &[*step]].concat()))
            .collect();
    }
    programs.retain(|program| !matches!(program[0], Step::UnlessSeen | Step::Again(_)));
    programs
}

fn compare(length: usize, bound: u32) {
    let (mut bad, mut good) = (0, 0);
    for program in programs(length) {
        for all_results in [false, true] {
            let truth = smallest(&check(&program, all_results, Adversary::Unfiltered, bound));
            let preceding = smallest(&check(&program, all_results, Adversary::Preceding, bound));
            assert_eq!(preceding, truth, "{program:?}, all results: {all_results}");
            if smallest(&check(&program, all_results, Adversary::Nearest, bound)).is_some() {
                assert!(truth.is_some(), "{program:?}: a false alarm of the nearest adversary");
            }
            if truth.is_some() { bad += 1 } else { good += 1 }
        }
    }
    assert!(bad > 0 && good > 0, "both verdicts occur: {bad} bad, {good} good");
}

#[test]
fn preceding_agrees_with_everything_on_two_steps() {
    compare(2, 3);
}

#[test]
fn preceding_agrees_with_everything_on_three_steps() {
    compare(3, 2);
}
