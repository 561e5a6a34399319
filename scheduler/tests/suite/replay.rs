//! Shrinking, and runs that are made twice.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::strategies::{PreemptionBound, RandomWalk};
use interloper_scheduler::{
    Config, Deadline, Effort, End, Engine, Execution, Executions, Failing, Stopped, Strategy, Unlock,
};

use crate::common::*;
use crate::programs::*;

fn overdrawn(execution: &Execution) -> bool {
    matches!(&execution.end, End::Panicked(report) if report.message == "overdrawn")
}

fn engine() -> Engine {
    Engine::new(Config { unlock: Unlock::Part, ..Config::default() })
}

/// The first failing execution of a strategy.
fn first_failing(engine: &mut Engine, strategy: &mut dyn Strategy, program: impl FnMut()) -> Failing {
    let explored = engine.explore(strategy, Executions::AtMost(100_000), program, |engine, execution| {
        if overdrawn(&execution) { ControlFlow::Break(engine.failing(&execution)) } else { ControlFlow::Continue(()) }
    });
    match explored.stopped {
        Stopped::Broken(failing) => failing,
        stopped => panic!("{stopped:?}"),
    }
}

#[test]
fn a_failing_run_shrinks_to_the_fewest_preemptions() {
    for unrelated in [0, 3] {
        let program = move || figure_1_and_2(unrelated);
        // The smallest by exhaustion: levels come in the order of preemptions.
        let fewest = first_failing(&mut engine(), &mut PreemptionBound::new(3), program).preemptions;
        assert_eq!(fewest, 1);
        for seed in 0..20 {
            let mut engine = engine();
            let failing = first_failing(&mut engine, &mut RandomWalk::new(seed), program);
            let shrunk = engine
                .shrink(failing.clone(), Executions::AtMost(10_000), program, |_, execution| overdrawn(execution));
            assert!(shrunk.minimal);
            assert_eq!(shrunk.smallest.preemptions, fewest, "seed {seed}: {}", shrunk.smallest.decisions);
            assert!(shrunk.smallest.steps <= failing.steps);
            // It fails in the same way when it is replayed exactly.
            let text = shrunk.smallest.decisions.to_string();
            let source = interloper_scheduler::decisions::ReplaySource::new(text.parse().unwrap());
            let mut replay = interloper_scheduler::strategies::Guided::new(source);
            assert!(overdrawn(&engine.run(&mut replay, program)));
            assert_eq!(replay.into_source().finish(), Ok(()));
        }
    }
}

#[test]
fn shrinking_stops_at_its_budget() {
    let mut engine = engine();
    let failing = first_failing(&mut engine, &mut RandomWalk::new(1), || figure_1_and_2(3));
    let shrunk = engine.shrink(
        failing.clone(),
        Executions::AtMost(1),
        || figure_1_and_2(3),
        |_, execution| overdrawn(execution),
    );
    assert_eq!((shrunk.executions, shrunk.minimal), (1, false));
}

#[test]
fn shrinking_stops_at_its_steps_and_in_time() {
    let mut engine = engine();
    let failing = first_failing(&mut engine, &mut RandomWalk::new(1), || figure_1_and_2(3));
    let mut executions = |effort: Effort| {
        let fails = |_: &Engine, execution: &Execution| overdrawn(execution);
        let shrunk = engine.shrink(failing.clone(), effort, || figure_1_and_2(3), fails);
        (shrunk.executions, shrunk.minimal)
    };
    let all = Effort::from(Executions::All);
    let (made, minimal) = executions(all);
    assert!(minimal && made > 3, "{made}");
    // Three times as many steps as the run has: after its own, two or three more fit.
    let (few, minimal) = executions(Effort { steps: 3 * failing.steps, ..all });
    assert!((2..=6).contains(&few) && !minimal, "{few}");
    assert_eq!(executions(Effort { steps: 1, ..all }), (1, false));
    assert_eq!(executions(Effort { deadline: Deadline::of(Some(Duration::ZERO)), ..all }), (0, false));
    assert_eq!(executions(Effort { deadline: Deadline::of(Some(Duration::from_secs(3600))), ..all }), (made, true));
}

#[test]
fn what_cannot_shrink_stays_as_it_is() {
    let first = Failing { decisions: "T1.T0.T2".parse().unwrap(), preemptions: 1, steps: 4 };
    let shrunk = interloper_scheduler::shrink(first.clone(), Executions::All, |_| None);
    assert_eq!((shrunk.smallest, shrunk.minimal), (first, true));
}

#[test]
fn steps_count_when_preemptions_are_equal() {
    // A run fails when an answer 2 is among its decisions; each decision is a step, and none a preemption.
    let first = Failing { decisions: "T1.T0.T3.T2.T0.T1".parse().unwrap(), preemptions: 0, steps: 6 };
    let shrunk = interloper_scheduler::shrink(first, Executions::All, |decisions| {
        let fails = decisions.0.iter().any(|decision| decision.answer == 2);
        let steps = decisions.0.len() as u64;
        fails.then(|| Failing { decisions: decisions.clone(), preemptions: 0, steps })
    });
    assert_eq!((shrunk.smallest.decisions.to_string(), shrunk.minimal), ("T2".to_owned(), true));
}

#[test]
fn a_program_under_control_is_the_same_twice() {
    let mut engine = engine();
    let mut strategy = RandomWalk::new(0);
    for _ in 0..50 {
        strategy.begin();
        let (_, difference) = engine.run_twice(&mut strategy, || figure_1_and_2(2));
        assert_eq!(difference, None);
    }
}

#[test]
fn a_program_that_differs_from_run_to_run_is_found_out() {
    let runs = Cell::new(0);
    let line = line!() + 7;
    let program = || {
        runs.set(runs.get() + 1);
        let lock = Rc::new(Lock::new());
        let other = lock.clone();
        let child = spawn(move || drop(other.lock()));
        if runs.get() == 2 {
            drop(lock.lock());
        }
        join(child).unwrap();
    };
    let (execution, difference) = engine().run_twice(&mut RandomWalk::new(0), program);
    assert!(execution.end.is_finished());
    let difference = difference.unwrap();
    let event = [difference.first, difference.second]
        .into_iter()
        .flatten()
        .find(|event| event.operation.location.line() == line);
    assert!(event.is_some(), "{difference}");
    assert!(difference.to_string().contains("Usual causes"));
    // A difference in how it ends is one, too.
    runs.set(0);
    let program = || {
        runs.set(runs.get() + 1);
        assert_eq!(runs.get(), 1);
    };
    let (_, difference) = engine().run_twice(&mut RandomWalk::new(0), program);
    assert!(difference.unwrap().ends.is_some());
}
