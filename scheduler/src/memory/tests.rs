//! The model against the axioms of C++20: both give the same execution graphs for small programs.
//!
//! `axioms` is the slow obvious twin: it tries every reads-from relation and every modification order. `machine` runs a
//! program on the model in every way. `programs` draws programs, `litmus` has the classical ones by name.

mod axioms;
mod engine;
mod litmus;
mod machine;
mod programs;
mod sequential;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;

use super::Origin;

/// No test here asks where a store came from.
const ANY: Origin = Origin { access: NonZeroU32::MIN, event: 0, step: 0 };

/// A program: the instructions of each thread. Locations are x (0), y (1) and z (2), which are 0 at first.
type Program = Vec<Vec<Instruction>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    Load(usize, Ordering),
    /// Each store of a program has a value of its own.
    Store(usize, u64, Ordering),
    Swap(usize, u64, Ordering),
    /// Expected and new value; the orderings of success and failure.
    CompareExchange(usize, u64, u64, Ordering, Ordering),
    Fence(Ordering),
}

/// What an execution comes to: what each instruction reads, thread by thread, and the values of each location in their
/// modification order. Since values differ, that is the execution graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Graph {
    reads: Vec<Vec<u64>>,
    stores: Vec<Vec<u64>>,
}

type Graphs = BTreeSet<Graph>;

/// Holds the model to the axioms. Gives the number of graphs.
#[track_caller]
fn compare(program: &Program) -> usize {
    let (model, axioms) = (machine::graphs(program), axioms::graphs(program));
    assert_eq!(model.difference(&axioms).next(), None, "a false alarm\n{program:?}");
    assert_eq!(axioms.difference(&model).next(), None, "missing\n{program:?}");
    axioms.len()
}

/// Draws programs of several shapes. What each run compares is a function of the seed.
#[test]
fn the_model_and_the_axioms_agree_on_small_programs() {
    let count: u64 = std::env::var("INTERLOPER_TWIN_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut graphs = 0;
    for number in 0..count {
        graphs += compare(&programs::draw(1, number));
    }
    eprintln!("{count} programs with {graphs} execution graphs");
    assert!(graphs as u64 > count, "some have several");
}
