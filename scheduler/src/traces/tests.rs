use std::collections::BTreeSet;

use super::*;
use crate::testing::step;

fn part(event: Event) -> Event {
    Event { continues: true, ..event }
}

/// Two tasks, with the objects 0 and 1, that make these steps on other objects.
fn children(steps: &[(u32, u32, Action)]) -> Vec<Event> {
    let begin = [step(0, 9, Action::Start), part(step(0, 0, Action::Spawn)), part(step(0, 1, Action::Spawn))];
    begin.into_iter().chain(steps.iter().map(|&(task, object, action)| step(task, object, action))).collect()
}

fn fingerprint(trace: &[Event]) -> Fingerprint {
    Fingerprints::default().of(trace, &[])
}

#[test]
fn the_order_of_dependent_steps_is_all_that_matters() {
    #[track_caller]
    fn check(one: &[(u32, u32, Action)], other: &[(u32, u32, Action)], same: bool) {
        assert_eq!(fingerprint(&children(one)) == fingerprint(&children(other)), same);
    }
    use Action::{Read, Write};
    check(&[(1, 5, Write), (2, 6, Write)], &[(2, 6, Write), (1, 5, Write)], true);
    check(&[(1, 5, Write), (2, 5, Write)], &[(2, 5, Write), (1, 5, Write)], false);
    check(&[(1, 5, Read), (2, 5, Read)], &[(2, 5, Read), (1, 5, Read)], true);
    check(&[(1, 5, Read), (2, 5, Write)], &[(2, 5, Write), (1, 5, Read)], false);
    // The engine numbers objects by first use: the numbers do not matter.
    check(&[(1, 5, Write), (2, 6, Write)], &[(2, 5, Write), (1, 6, Write)], true);
}

#[test]
fn a_decision_makes_another_trace() {
    let trace = children(&[(1, 5, Action::Write), (2, 6, Action::Write)]);
    let of = |answer| Fingerprints::default().of(&trace, &[Pick { events: 4, answer }]);
    assert_ne!(of(0), of(1));
    // By the same task in the other order.
    let other = children(&[(2, 6, Action::Write), (1, 5, Action::Write)]);
    assert_eq!(of(1), Fingerprints::default().of(&other, &[Pick { events: 5, answer: 1 }]));
}

#[test]
fn tasks_meet_unless_spawning_and_joining_keep_them_apart() {
    use Action::{Exit, Join, Read, Write};
    assert!(meets(&children(&[(1, 5, Write), (2, 5, Write)])));
    assert!(meets(&children(&[(1, 5, Read), (2, 5, Write)])));
    assert!(!meets(&children(&[(1, 5, Read), (2, 5, Read)])));
    assert!(!meets(&children(&[(1, 5, Write), (2, 6, Write)])));
    let first = [(1, 5, Write), (1, 0, Exit), (0, 0, Join)];
    assert!(!meets(&children(&[&first[..], &[(0, 5, Write)]].concat())), "main has joined the task");
    assert!(meets(&children(&[&first[..], &[(2, 5, Write)]].concat())), "the second task was there before");
    // A task knows what its parent did before it was spawned.
    let before = [step(0, 9, Action::Start), step(0, 5, Write), part(step(0, 0, Action::Spawn)), step(1, 5, Write)];
    assert!(!meets(&before));
}

#[test]
fn the_estimate_is_the_share_of_traces_that_came_once() {
    let mut traces = Traces::default();
    assert_eq!(traces.unseen().probability(), 1.0);
    for number in [1, 2, 2, 3, 3, 3, 4, 4] {
        traces.note(Fingerprint(number));
    }
    assert_eq!((traces.number(), traces.is_exact()), (4, true));
    assert_eq!(traces.unseen(), Unseen { executions: 8, once: 1 });
    assert_eq!(traces.unseen().probability(), 0.125);
}

/// Counting in pieces, in any order, with little memory, gives the same.
#[test]
fn a_bounded_count_does_not_depend_on_the_order() {
    let all: Vec<Fingerprint> = (0..2_000).map(|number| Fingerprint(mix(7, number % 700))).collect();
    let whole = all.iter().fold(Traces::keeping(64), |mut traces, fingerprint| {
        traces.note(*fingerprint);
        traces
    });
    assert_eq!((whole.number(), whole.is_exact()), (64, false));
    for length in [1, 13, 500] {
        let mut pieces: Vec<Traces> = all
            .chunks(length)
            .map(|chunk| {
                let mut traces = Traces::keeping(64);
                chunk.iter().for_each(|fingerprint| traces.note(*fingerprint));
                traces
            })
            .collect();
        pieces.reverse();
        let mut merged = Traces::keeping(64);
        pieces.iter().for_each(|piece| merged.merge(piece));
        assert_eq!(merged, whole, "pieces of {length}");
    }
    // The kept traces are counted exactly.
    let smallest: BTreeSet<Fingerprint> = all.iter().copied().collect();
    let executions = |fingerprint: &Fingerprint| all.iter().filter(|other| *other == fingerprint).count() as u64;
    assert_eq!(whole.unseen().executions, smallest.iter().take(64).map(executions).sum::<u64>());
}

/// However few traces are kept.
#[test]
fn a_tally_counts_as_one_by_one() {
    for (most, executions, different) in
        [(1 << 10, 3_000, 5), (1 << 10, 3_000, 700), (64, 3_000, 700), (1, 9, 3), (64, 0, 1)]
    {
        let (mut traces, mut tally) = (Traces::keeping(most), Tally::keeping(most));
        for number in 0..executions {
            // Some fingerprints are small numbers, unlike a hash.
            let fingerprint = Fingerprint(match mix(3, number) % different {
                same if same % 2 == 0 => same << 32,
                other => mix(7, other),
            });
            traces.note(fingerprint);
            tally.note(fingerprint);
        }
        assert_eq!(
            tally.finish(),
            Counted::from(&traces),
            "{executions} executions of {different} traces, {most} are kept"
        );
    }
}

/// An execution in which the clock wakes the tasks in turn, after a task that waits for a change has gone on or before it does, which only
/// what it waited for tells.
fn with_waits(tasks: u32, waits: bool) -> Fingerprint {
    let spawns = (0..tasks).map(|task| part(step(0, task, Action::Spawn)));
    let mut trace: Vec<Event> = std::iter::once(step(0, tasks, Action::Start)).chain(spawns).collect();
    for task in 1..=tasks {
        let cause = if waits { Cause::Idle(trace.len() as u32) } else { Cause::Ready };
        trace.push(Event { cause, ..step(task, tasks + task, Action::Write) });
    }
    fingerprint(&trace)
}

#[test]
fn what_a_task_waited_for_counts() {
    assert_ne!(with_waits(9, true), with_waits(9, false));
}

/// The vector clocks of these executions have more than a thousand million entries, which took minutes.
#[test]
fn what_a_task_waited_for_is_left_out_of_a_large_execution() {
    assert_eq!(with_waits(2_000, true), with_waits(2_000, false));
}
