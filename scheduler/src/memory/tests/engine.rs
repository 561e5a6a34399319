//! Small programs in the engine, through the mirror of `std`: an exhaustive search shows exactly the outcomes of the model.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use interloper_std::runtime::{Action, ObjectKind, TaskId};
use interloper_std::sync::Arc;
use interloper_std::sync::atomic::{AtomicU64, fence};
use interloper_std::thread;

use super::machine::LOCATIONS;
use super::{Graph, Graphs, Instruction, Program, axioms, machine, programs};
use crate::strategies::{Exhaustive, Exploration};
use crate::{Config, Engine, Executions, Freedom, Freedoms, Stopped};

/// What is read, and the last values.
type Outcome = (Vec<Vec<u64>>, Vec<u64>);

fn outcome(graph: &Graph) -> Outcome {
    (graph.reads.clone(), graph.stores.iter().map(|stores| *stores.last().unwrap()).collect())
}

fn run(program: &Program) -> Outcome {
    let atomics = Arc::new([const { AtomicU64::new(0) }; LOCATIONS]);
    let spawn = |instructions: &Vec<Instruction>| {
        let (atomics, instructions) = (atomics.clone(), instructions.clone());
        thread::spawn(move || {
            instructions.iter().filter_map(|instruction| make(&atomics, *instruction)).collect::<Vec<u64>>()
        })
    };
    let threads: Vec<_> = program.iter().map(spawn).collect();
    let reads = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    (reads, atomics.iter().map(|atomic| atomic.load(std::sync::atomic::Ordering::Relaxed)).collect())
}

fn make(atomics: &[AtomicU64; LOCATIONS], instruction: Instruction) -> Option<u64> {
    match instruction {
        Instruction::Load(at, order) => return Some(atomics[at].load(order)),
        Instruction::Swap(at, value, order) => return Some(atomics[at].swap(value, order)),
        Instruction::CompareExchange(at, expected, value, success, failure) => {
            let result = atomics[at].compare_exchange(expected, value, success, failure);
            return Some(result.unwrap_or_else(|found| found));
        }
        Instruction::Store(at, value, order) => atomics[at].store(value, order),
        Instruction::Fence(order) => fence(order),
    }
    None
}

/// What an exhaustive search shows, and what it comes to.
fn explore(program: &Program) -> (BTreeSet<Outcome>, Exploration) {
    let freedoms = Freedoms::NONE.with(Freedom::Memory, u32::MAX);
    let mut engine = Engine::new(Config { freedoms, ..Config::default() });
    let (mut search, last, mut outcomes) = (Exhaustive::new(), RefCell::default(), BTreeSet::new());
    let run = || *last.borrow_mut() = run(program);
    let explored = engine.explore(&mut search, Executions::AtMost(1_000_000), run, |_, execution| {
        assert!(execution.end.is_finished(), "{execution:?}");
        outcomes.insert(last.take());
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(explored.stopped, Stopped::Exhausted);
    (outcomes, search.exploration().clone())
}

/// An exhaustive search shows the outcomes of these graphs. Gives the number of its executions.
#[track_caller]
pub(super) fn exhaust(program: &Program, graphs: &Graphs) -> u64 {
    let (found, exploration) = explore(program);
    assert_eq!(found, graphs.iter().map(outcome).collect(), "{program:?}");
    assert!(exploration.complete, "{exploration:?}\n{program:?}");
    exploration.traces + exploration.redundant
}

/// The same programs with two values only: many accesses write what is there already. They change no value, but others may
/// synchronise with them.
#[test]
fn what_writes_the_same_value_again_is_not_taken_for_a_read() {
    for number in 0..150 {
        let program: Program = programs::draw(2, number)
            .into_iter()
            .map(|thread| thread.into_iter().map(of_two_values).collect())
            .collect();
        let expected: BTreeSet<Outcome> = machine::graphs(&program).iter().map(outcome).collect();
        let (found, exploration) = explore(&program);
        assert_eq!(found, expected, "{program:?}");
        assert!(exploration.complete, "{exploration:?}\n{program:?}");
    }
}

fn of_two_values(instruction: Instruction) -> Instruction {
    match instruction {
        Instruction::Swap(at, value, order) => Instruction::Swap(at, value % 2, order),
        Instruction::Store(at, value, order) => Instruction::Store(at, value % 2, order),
        Instruction::CompareExchange(at, expected, value, success, failure) => {
            Instruction::CompareExchange(at, expected % 2, value % 2, success, failure)
        }
        other => other,
    }
}

/// What the engine tells of the order of instructions is the happens-before of the axioms, under both kinds of memory.
#[test]
fn what_is_told_of_the_order_is_what_the_axioms_say() {
    let (mut ordered, mut unordered) = (0, 0);
    for number in 0..200 {
        let program = programs::draw(3, number);
        for stale in [0, u32::MAX] {
            let freedoms = Freedoms::NONE.with(Freedom::Memory, stale);
            let mut engine = Engine::new(Config { freedoms, ..Config::default() });
            engine.tell_order(true);
            let last: RefCell<Outcome> = RefCell::default();
            let run = || *last.borrow_mut() = run(&program);
            engine.explore(&mut Exhaustive::new(), Executions::AtMost(60), run, |engine, execution| {
                assert!(execution.end.is_finished(), "{execution:?}");
                let (reads, _) = last.take();
                let expected = axioms::happens_before(&program, &reads);
                let told = told(engine);
                let (trace, instructions) = (engine.trace(), instructions(engine));
                for (&first, &one) in &instructions {
                    for (&then, &other) in instructions.iter().filter(|(then, _)| then.0 != first.0) {
                        let is_before = expected(first, then);
                        assert_eq!(told[one][other], is_before, "{first:?} {then:?}\n{program:?}\n{trace:?}");
                        *if is_before { &mut ordered } else { &mut unordered } += 1;
                    }
                }
                ControlFlow::<()>::Continue(())
            });
        }
    }
    assert!(ordered > 1_000 && unordered > 1_000, "{ordered} {unordered}");
}

/// Which event happens before which: what the engine tells, the order of each task, and what follows.
fn told(engine: &Engine) -> Vec<Vec<bool>> {
    let trace = engine.trace();
    let mut before = vec![vec![false; trace.len()]; trace.len()];
    for (other, event) in trace.iter().enumerate() {
        (0..other).for_each(|one| before[one][other] = trace[one].task == event.task);
    }
    engine.happens_before().into_iter().for_each(|(event, earlier)| before[earlier as usize][event as usize] = true);
    for middle in 0..trace.len() {
        for one in 0..middle {
            for other in middle + 1..trace.len() {
                before[one][other] |= before[one][middle] && before[middle][other];
            }
        }
    }
    before
}

/// The events of the instructions, by thread and number.
fn instructions(engine: &Engine) -> BTreeMap<(usize, usize), usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (index, event) in engine.trace().iter().enumerate().filter(|(_, event)| event.task != TaskId::MAIN) {
        let is_atomic = engine.object_kind(event.operation.object) == Some(ObjectKind::Atomic);
        if is_atomic || event.operation.action == Action::Fence {
            let thread = event.task.index() - 1;
            let number = counts.entry(thread).or_default();
            found.insert((thread, *number), index);
            *number += 1;
        }
    }
    found
}

#[test]
fn an_exhaustive_search_shows_what_the_model_allows() {
    let count: u64 = std::env::var("INTERLOPER_TWIN_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let (mut all_graphs, mut executions) = (0, 0);
    for number in 0..count {
        let program = programs::draw(2, number);
        let graphs = machine::graphs(&program);
        let expected: BTreeSet<Outcome> = graphs.iter().map(outcome).collect();
        let (found, exploration) = explore(&program);
        assert_eq!(found.difference(&expected).next(), None, "a false alarm\n{program:?}");
        assert_eq!(expected.difference(&found).next(), None, "missing\n{program:?}");
        assert!(exploration.complete, "{exploration:?}\n{program:?}");
        (all_graphs, executions) =
            (all_graphs + graphs.len() as u64, executions + exploration.traces + exploration.redundant);
    }
    eprintln!("{count} programs with {all_graphs} graphs in {executions} executions");
    // With the first round, which has no weak memory. A search that visits each graph once would need at most twice as many.
    assert!(executions <= 5 * all_graphs / 2, "{executions} executions for {all_graphs} graphs");
}
