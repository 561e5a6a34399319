//! How many executions it takes to find the bug of each bad program of the corpus.

use std::collections::BTreeSet;
use std::sync::Arc;

use interloper::Value;
use interloper::blocks::{Blocks, Bug, Expected, Program, Schedule};
use interloper_scheduler::decisions::{Deviations, Question, Source};
use interloper_scheduler::runtime::{Action, TaskId};
use interloper_scheduler::{Pending, Strategy, Unlock};
use interloper_suite::benchmarks::first_bug;
use interloper_suite::blocks::programs;

use crate::table::{Cell, Spread, Table};
use crate::under_shuttle::Strategy as Shuttle;
use crate::{ours, shuttle_corpus, under_shuttle};

const SEEDS: u64 = 30;
const LIMIT: u64 = 5_000;

pub fn table() -> Table {
    let mut table = Table::new(
        "Executions to the first failure",
        &["Median and range over 30 seeds, at most 5,000 executions each. A failure is a panic, a deadlock, or a \
             result that no serial order of the blocks gives. Shuttle has no blocks, so its results are compared with \
             the results of the serial schedules. A dash means that those are unknown, or that the program is not \
             compiled over shuttle."],
        &[
            "program",
            "random",
            "AtomFuzzer",
            "PCT-3",
            "POS",
            "SURW",
            "URW",
            "shuttle random",
            "shuttle PCT-3",
            "shuttle URW",
        ],
    );
    // Shuttle's memory is sequentially consistent, so programs with weak memory are left out.
    for program in programs().into_iter().filter(|program| program.own_settings().freedoms.is_none()) {
        if let Expected::Bug(bug) = program.expected {
            table.row(row(&program, bug));
        }
    }
    table
}

fn row(program: &Program, bug: Bug) -> Vec<Cell> {
    let own = ["random", "atomfuzzer", "pct:3", "pos", "surw", "urw"].map(|schedule| {
        let schedule: Schedule = schedule.parse().expect("a schedule by its name");
        let needed = (0..SEEDS).map(|seed| first_bug(program, &schedule, program.own_settings().blocks, (seed, LIMIT)));
        Cell::Spread(Spread::of(needed.collect(), LIMIT))
    });
    let theirs = [Shuttle::Random, Shuttle::Pct(3), Shuttle::Urw];
    let theirs = match shuttle_corpus::body(program.name).zip(right_values(program, bug)) {
        Some((body, right)) => theirs.map(|strategy| shuttle(strategy, body, &right)),
        None => theirs.map(|_| Cell::Nothing),
    };
    std::iter::once(Cell::text(program.name)).chain(own).chain(theirs).collect()
}

fn shuttle(strategy: Shuttle, body: fn() -> Value, right: &Arc<Right>) -> Cell {
    let needed = |seed| {
        let right = right.clone();
        let program = move || assert!(right.holds(&body()));
        under_shuttle::first_failure(strategy, seed, LIMIT as usize, program)
    };
    Cell::Spread(Spread::of((0..SEEDS).map(needed).collect(), LIMIT))
}

/// Which values are no failure.
enum Right {
    /// All: what fails is a panic or a deadlock.
    Any,
    /// Those that serial schedules give.
    These(BTreeSet<Value>),
}

impl Right {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Right::Any => true,
            Right::These(values) => values.contains(value),
        }
    }
}

/// `None` when they are not known.
fn right_values(program: &Program, bug: Bug) -> Option<Arc<Right>> {
    if bug != Bug::NotSerialisable {
        return Some(Arc::new(Right::Any));
    }
    // Where the blocks are critical sections they are not marked: their serial schedules cannot be told.
    if program.own_settings().blocks != Blocks::Marked {
        return None;
    }
    let values = serial_values(program.body)?;
    Some(Arc::new(Right::These(values)))
}

/// The values of all schedules in which no block is interrupted, unless it waits. `None` when there are too many.
fn serial_values(body: fn() -> Value) -> Option<BTreeSet<Value>> {
    const SCHEDULES: usize = 100_000;
    let mut engine = ours::engine(Unlock::Part);
    let mut serial = Serial { search: Deviations::new(0), depth: Vec::new() };
    let mut values = BTreeSet::new();
    for _ in 0..SCHEDULES {
        if !serial.begin() {
            return Some(values);
        }
        let mut value = None;
        let execution = engine.run(&mut serial, || value = Some(body()));
        serial.end(&execution, &engine.trace());
        values.extend(value.filter(|_| execution.end.is_finished()));
    }
    None
}

/// Every schedule in which a task that is in a block goes on for as long as it can.
struct Serial {
    search: Deviations,
    /// In how many blocks each task is.
    depth: Vec<u32>,
}

impl Strategy for Serial {
    fn begin(&mut self) -> bool {
        self.depth.clear();
        self.search.next_run()
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let inside = |task: TaskId| self.depth.get(task.index()).is_some_and(|&depth| depth > 0);
        let goes_on = current.filter(|&current| inside(current));
        let index = match goes_on.and_then(|current| pending.iter().position(|pending| pending.task == current)) {
            Some(index) => index,
            None if pending.len() == 1 => 0,
            None => self.search.decide(Question::Task, pending.len() as u32) as usize,
        };
        let Pending { task, operation } = pending[index];
        if self.depth.len() <= task.index() {
            self.depth.resize(task.index() + 1, 0);
        }
        match operation.action {
            Action::BlockBegin(_) => self.depth[task.index()] += 1,
            Action::BlockEnd => self.depth[task.index()] -= 1,
            _ => {}
        }
        index
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.search.decide(question, options)
    }

    fn end(&mut self, _: &interloper_scheduler::Execution, _: &[interloper_scheduler::Event]) {
        self.search.end_run();
    }
}
