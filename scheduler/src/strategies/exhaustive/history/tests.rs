//! Steps, races and names, beside what a look at each earlier step finds.

use super::*;
use crate::decisions::RandomSource;
use crate::strategies::exhaustive::names::Names;
use crate::testing::step;

const TASKS: u32 = 3;

/// Steps of three tasks on three objects, some of which wait for another one or for all.
fn draw(source: &mut RandomSource, length: u32) -> Vec<Event> {
    let actions = [Action::Read, Action::Write, Action::ReadWrite, Action::Start, Action::End];
    let step = |number: u32| {
        // The end of the process is rare.
        let action = actions[source.below(17).min(16) as usize / 4 % actions.len()];
        let cause = match (source.below(8), number) {
            (_, 0) => Cause::Ready,
            (0, number) => Cause::Event(source.below(number)),
            (1, number) => Cause::Idle(source.below(number + 1)),
            _ => Cause::Ready,
        };
        let continues = number > 0 && source.below(6) == 0;
        Event { cause, continues, ..step(source.below(TASKS), source.below(3), action) }
    };
    let mut events: Vec<Event> = (0..length).map(step).collect();
    // A part belongs to the task of its step.
    for part in 1..events.len() {
        if events[part].continues {
            events[part].task = events[part - 1].task;
        }
    }
    events
}

fn tasks() -> Tasks {
    let (mut tasks, mut names) = (Tasks::new(), Names::default());
    (1..TASKS).for_each(|_| tasks.spawn(&mut names, TaskId::MAIN));
    tasks
}

fn follow(history: &mut History, trace: &[Event]) -> usize {
    history.follow(trace, &tasks(), &[], |_| std::iter::empty())
}

/// What happens before a step, and its races, by a look at each earlier step.
fn slowly(history: &History, number: usize) -> (Vec<usize>, Vec<usize>) {
    let step = &history.steps[number];
    let mut clock = VectorClock::default();
    let own = (0..number).rfind(|&earlier| history.steps[earlier].task == step.task);
    own.into_iter().for_each(|own| clock.join(&history.steps[own].clock));
    match step.cause {
        Cause::Ready => {}
        Cause::Event(event) => clock.join(&history.steps[history.step_of[event as usize]].clock),
        Cause::Idle(events) => {
            let early = (0..number).filter(|&earlier| history.is_early(earlier, events));
            early.for_each(|earlier| clock.join(&history.steps[earlier].clock));
        }
    }
    let (mut seen, mut races) = (clock.clone(), Vec::new());
    for earlier in (0..number).rev().filter(|&earlier| history.steps[earlier].task != step.task) {
        let other = &history.steps[earlier];
        if seen.covers(other.task, earlier) {
            continue;
        }
        let tie = history.tie(earlier, number);
        if tie.orders {
            clock.join(&other.clock);
        }
        if tie.races && history.is_feasible(earlier, number) {
            seen.join(&other.clock);
            races.push(earlier);
        } else if tie.orders && !tie.races {
            seen.join(&other.clock);
        }
    }
    let before = |earlier: &usize| clock.covers(history.steps[*earlier].task, *earlier);
    ((0..number).filter(before).collect(), races)
}

#[test]
fn the_races_are_those_of_a_look_at_each_earlier_step() {
    let (mut races, mut ordered) = (0, 0);
    for seed in 0..200 {
        let mut history = History::default();
        follow(&mut history, &draw(&mut RandomSource::new(seed, 0), 40));
        for number in 0..history.len() {
            let before = |&earlier: &usize| history.happens_before(earlier, number);
            let found = ((0..number).filter(before).collect(), history.steps[number].races.clone());
            assert_eq!(found, slowly(&history, number), "seed {seed}, step {number}");
            (races, ordered) = (races + found.1.len(), ordered + found.0.len());
        }
    }
    assert!(races > 1_000 && ordered > 10_000, "{races} {ordered}");
}

/// All that is asked for. What is left of an object that the execution does not have is empty.
fn content(history: &History) -> String {
    let History { trace, steps, step_of, of_task, objects, accesses, .. } = history;
    let uses: Vec<_> = history.uses.iter().filter(|(_, uses)| !uses.is_empty()).collect();
    let touched = [0, 1, 2].map(|object| history.index.of(ObjectId::from_index(object)));
    let of_task = &of_task[..of_task.iter().rposition(|steps| !steps.is_empty()).map_or(0, |last| last + 1)];
    format!("{trace:?} {steps:?} {step_of:?} {of_task:?} {objects:?} {uses:?} {touched:?} {accesses:?}")
}

/// An execution that begins as the one before ends up as if it had been followed from its first step.
#[test]
fn what_is_kept_is_what_would_be_found_again() {
    let mut kept = 0;
    for seed in 0..200 {
        let mut source = RandomSource::new(seed, 1);
        let mut history = History::default();
        let mut trace = draw(&mut source, 30);
        for _ in 0..6 {
            kept += follow(&mut history, &trace);
            let mut fresh = History::default();
            assert_eq!(follow(&mut fresh, &trace), 0);
            assert_eq!(content(&history), content(&fresh), "seed {seed}");
            let blocked = history.push_blocked(TaskId(1), vec![step(1, 2, Action::Write).operation]);
            assert_eq!(blocked, fresh.len());
            history.pop();
            trace.truncate(source.below(30) as usize);
            let causes_fit = |event: &Event| !matches!(event.cause, Cause::Event(_) | Cause::Idle(_));
            trace.extend(draw(&mut source, 30 - trace.len() as u32).into_iter().filter(causes_fit));
        }
    }
    assert!(kept > 1_000, "{kept}");
}

/// A blocked step brings memory of its own, which no step of an execution takes out again.
#[test]
fn no_more_memory_is_kept_than_the_longest_execution_needs() {
    let trace: Vec<Event> = (0..8).map(|number| step(number % 2, number, Action::Write)).collect();
    let mut history = History::default();
    for _ in 0..1000 {
        history.follow(&trace, &tasks(), &[], |_| std::iter::empty());
        let blocked = history.push_blocked(TaskId(2), vec![step(2, 0, Action::Write).operation]);
        assert_eq!(blocked, 8);
        history.pop();
        history.rewind(0);
    }
    assert!((1..=history.steps.capacity()).contains(&history.spare.len()), "{}", history.spare.len());
}
