use super::*;
use crate::decisions::mix;
use crate::testing::step;

use Action::{Read as Reads, ReadWrite, Start, Write};
use Mode::{Exclusive, Shared};

fn linked(trace: &[Event], accesses: &[(u32, Option<u32>)]) -> Vec<Link> {
    links(trace, Told { accesses, ..Told::default() }, |object| object.index() < 100)
}

fn after(trace: &[Event]) -> Vec<Vec<u32>> {
    linked(trace, &[]).into_iter().map(|link| link.after).collect()
}

#[test]
fn a_step_comes_after_the_last_steps_that_it_depends_on() {
    let trace = [step(0, 1, Write), step(1, 1, Reads), step(2, 1, Reads), step(0, 1, Write), step(1, 2, Write)];
    // The write comes after both reads, which come after the first write; the last step meets nobody.
    assert_eq!(after(&trace), [vec![], vec![0], vec![0], vec![1, 2], vec![]]);
}

#[test]
fn what_follows_from_another_edge_is_not_named() {
    let trace = [step(0, 1, Write), step(1, 1, Write), step(2, 1, Write), step(2, 1, Write)];
    assert_eq!(after(&trace), [vec![], vec![0], vec![1], vec![]]);
    let mut woken = [step(0, 1, Write), step(1, 9, Start)];
    woken[1].cause = Cause::Event(0);
    assert_eq!(after(&woken), [vec![], vec![0]]);
    woken[1].cause = Cause::Idle(1);
    assert_eq!(after(&woken), [vec![], vec![0]]);
}

/// A trace of three tasks and three objects at random.
fn at_random(number: u64) -> Vec<Event> {
    let actions = [Reads, Write, ReadWrite, Action::Lock(Shared), Action::Unlock(Shared), Start];
    let draw = |at: u64, below: u64| mix(number, at) % below;
    let event = |at: u64| {
        let cause = match draw(4 * at, 8) {
            0 if at > 0 => Cause::Event(draw(4 * at + 1, at) as u32),
            1 => Cause::Idle(draw(4 * at + 1, at + 1) as u32),
            _ => Cause::Ready,
        };
        let action = actions[draw(4 * at + 2, 6) as usize];
        let continues = at > 0 && draw(5 * at + 7, 6) == 0;
        Event { cause, continues, ..step(draw(4 * at + 3, 3) as u32, draw(3 * at + 1, 3) as u32, action) }
    };
    let mut trace: Vec<Event> = (0..12).map(event).collect();
    for at in 1..trace.len() {
        if trace[at].continues {
            // A part has the task of its step, and waited for nothing.
            (trace[at].task, trace[at].cause) = (trace[at - 1].task, Cause::Ready);
        }
    }
    trace
}

/// By the definition: each pair of steps, and then everything that follows.
fn slow(trace: &[Event]) -> Vec<Vec<bool>> {
    let count = trace.len();
    let first = |at: usize| (0..=at).rev().find(|&at| !trace[at].continues).unwrap_or(0);
    let directly = |one: usize, other: usize| {
        let (a, b) = (&trace[one], &trace[other]);
        let private = a.operation.action.is_private() || b.operation.action.is_private();
        let caused = match trace[first(other)].cause {
            Cause::Event(cause) => first(one) == first(cause as usize),
            Cause::Idle(events) => first(one) < events as usize,
            Cause::Ready => false,
        };
        a.task == b.task || caused || (!private && a.operation.depends(&b.operation))
    };
    // The events of a step are one.
    let mut before = vec![vec![false; count]; count];
    for other in 0..count {
        for one in (0..other).filter(|&one| first(one) < first(other)) {
            let parts = |of: usize| (0..count).filter(move |&at| first(at) == of);
            before[first(one)][first(other)] |=
                parts(first(one)).any(|one| parts(first(other)).any(|other| directly(one, other)));
        }
    }
    closed(before)
}

fn closed(mut before: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for middle in 0..before.len() {
        for one in 0..before.len() {
            for other in 0..before.len() {
                before[one][other] |= before[one][middle] && before[middle][other];
            }
        }
    }
    before
}

/// What follows from the edges and the order of each task.
fn from_edges(trace: &[Event], edges: &[Vec<u32>]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; trace.len()]; trace.len()];
    for other in (0..trace.len()).filter(|&at| !trace[at].continues) {
        for one in (0..other).filter(|&at| !trace[at].continues) {
            before[one][other] = trace[one].task == trace[other].task || edges[other].contains(&(one as u32));
        }
    }
    closed(before)
}

#[test]
fn the_edges_give_the_order_and_none_is_too_many() {
    let mut edges_seen = 0;
    for number in 0..400 {
        let trace = at_random(number);
        let edges = after(&trace);
        let expected = slow(&trace);
        assert_eq!(from_edges(&trace, &edges), expected, "{number}: {trace:?}");
        for at in 0..trace.len() {
            for edge in 0..edges[at].len() {
                let mut fewer = edges.clone();
                fewer[at].remove(edge);
                assert_ne!(from_edges(&trace, &fewer), expected, "{number}: {at} after {}", edges[at][edge]);
                edges_seen += 1;
            }
        }
    }
    assert!(edges_seen > 1_000, "{edges_seen}");
}

#[test]
fn who_waited_for_a_lock_was_let_on_by_the_one_who_gave_it_back() {
    let (lock, unlock) = (Action::Lock(Exclusive), Action::Unlock(Exclusive));
    let let_on = |trace: &[Event]| linked(trace, &[]).into_iter().map(|link| link.let_on_by).collect::<Vec<_>>();
    let trace = [step(1, 9, Reads), step(0, 1, lock), step(0, 1, unlock), step(1, 1, lock)];
    assert_eq!(let_on(&trace), [None, None, None, Some(2)]);
    // The lock was free again before the task came to it.
    let trace = [step(0, 1, lock), step(0, 1, unlock), step(1, 9, Reads), step(1, 1, lock)];
    assert_eq!(let_on(&trace), [None; 4]);
    // Readers do not wait for each other.
    let shared = [Action::Lock(Shared), Action::Unlock(Shared)];
    let trace = [step(1, 9, Reads), step(0, 1, shared[0]), step(0, 1, shared[1]), step(1, 1, shared[0])];
    assert_eq!(let_on(&trace), [None; 4]);
}

#[test]
fn a_lock_is_held_from_the_step_that_takes_it_to_the_step_that_gives_it_back() {
    let trace = [
        step(0, 1, Action::Lock(Shared)),
        step(1, 1, Action::Lock(Shared)),
        step(0, 2, Action::Lock(Exclusive)),
        step(0, 1, Action::Unlock(Shared)),
        step(1, 1, Action::Convert(Shared, Exclusive)),
    ];
    let spans = |trace: &[Event]| -> Vec<(u32, u32, Mode, u32, Option<u32>)> {
        let span =
            |held: Held| (held.hold.task.0, held.hold.lock.index() as u32, held.hold.mode, held.from, held.until);
        held(trace).into_iter().map(span).collect()
    };
    let expected = [
        (0, 1, Shared, 0, Some(3)),
        (1, 1, Shared, 1, Some(4)),
        (0, 2, Exclusive, 2, None),
        (1, 1, Exclusive, 4, None),
    ];
    assert_eq!(spans(&trace), expected);
    // A lock that is taken twice is held twice.
    let twice = [Action::Lock(Shared), Action::LockRecursive, Action::Unlock(Shared), Action::Unlock(Shared)];
    let twice: Vec<Event> = twice.iter().map(|&action| step(0, 1, action)).collect();
    assert_eq!(spans(&twice), [(0, 1, Shared, 0, Some(3)), (0, 1, Shared, 1, Some(2))]);
}

#[test]
fn a_read_names_its_store() {
    let read = |from, stale| Some(Read { from, stale, others: Vec::new() });
    let all = |trace: &[Event], accesses: &[(u32, Option<u32>)]| -> Vec<Option<Read>> {
        linked(trace, accesses).into_iter().map(|link| link.reads).collect()
    };
    let trace = [step(0, 1, Reads), step(1, 1, Write), step(0, 1, ReadWrite), step(1, 1, Reads), step(0, 100, Reads)];
    // The newest store each time; the last object is no atomic.
    assert_eq!(all(&trace, &[]), [read(None, false), None, read(Some(1), false), read(Some(2), false), None]);
    // The last load sees the first store although there is a newer one.
    let accesses = [(0, None), (1, None), (2, Some(1)), (3, Some(1))];
    assert_eq!(all(&trace, &accesses)[3], read(Some(1), true));
    // A store before a newer one: the newest stays the other.
    let trace = [step(0, 1, Write), step(1, 1, Write), step(0, 1, Reads)];
    assert_eq!(all(&trace, &[(0, None), (1, None), (2, Some(1))])[2], read(Some(1), true));
    assert_eq!(all(&trace, &[(0, None), (1, Some(0)), (2, Some(1))])[2], read(Some(1), false));
    // A failed compare-exchange stores nothing.
    let failed = Event { only_read: true, ..step(1, 1, ReadWrite) };
    assert_eq!(all(&[failed, step(0, 1, Reads)], &[])[1], read(None, false));
}
