//! An execution as the page shows it: all its steps, its blocks, and which of its choices mattered.

use interloper_harness::explored::{Block, Followed};
use interloper_harness::mattered::{Known, choices};
use interloper_report::Counterexample;
use interloper_report::explorer::{Choices, Exploration};
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::links::Told;
use interloper_scheduler::runtime::Action;
use interloper_scheduler::words::is_silent;
use interloper_scheduler::{End, Event, Execution, SourcePlace, TaskReport};

use super::annotated::{Annotated, block_name};
use super::backtraces::{self, Waiting};
use super::describe::{Scene, columns};
use super::report::Finding;
use super::runner::Made;
use super::sections::Passage;
use super::worker::{Found, Worker};

/// So many steps are on a page.
const MOST: usize = 100_000;

/// A page of an execution that is not finished: what is known from the trace, before the worker runs another execution.
pub(crate) struct Draft {
    full: Counterexample,
    followed: Followed,
    /// The event that each row is.
    events: Vec<Option<usize>>,
    stuck: Vec<TaskReport>,
    left_out: u64,
    trace: Vec<Event>,
}

impl Draft {
    /// Looks at the execution that the worker ran last, and that `counterexample` describes.
    pub(crate) fn new(
        worker: &Worker<'_>,
        (found, made): (&Found, &Made),
        counterexample: &Counterexample,
        lines: &[Option<SourcePlace>],
        happens_before: Option<&[(u32, u32)]>,
    ) -> Draft {
        let trace = worker.runner().engine.trace();
        let scene = Scene::new(worker, &trace, made, (MOST, lines));
        let drawn = scene.rows(found, &scene.steps(found));
        let mut events: Vec<Option<usize>> = drawn.iter().map(|drawn| drawn.is_event.then_some(drawn.index)).collect();
        let earlier = drawn.iter().filter(|drawn| drawn.index < scene.first).count() as u64;
        let mut rows: Vec<_> = drawn.into_iter().map(|drawn| drawn.row).chain(scene.ending(made)).collect();
        events.resize(rows.len(), None);
        let columns = columns(&scene, &mut rows);
        let full = Counterexample { columns, rows, ..counterexample.clone() };
        let is_row = |event: &&Event| {
            let action = event.operation.action;
            action != Action::Start && !is_silent(action)
        };
        let before = trace[..scene.first].iter().filter(is_row).count() as u64;
        let Execution { accesses, older, .. } = &made.execution;
        let followed = Followed::new(&trace, Told { accesses, older, happens_before }, scene.names.clone());
        Draft {
            followed: followed.with_blocks(blocks(worker, found, &trace, &scene)),
            full: full.with_source(),
            events,
            stuck: match &made.execution.end {
                End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => {
                    tasks.iter().filter(|task| !scene.polls.is_idle(task, lines)).cloned().collect()
                }
                _ => Vec::new(),
            },
            left_out: before - earlier,
            trace: trace.to_vec(),
        }
    }

    /// The page, with what is known of the tasks that wait for a lock of the program's own making, and of the choices.
    pub(crate) fn finish(
        mut self,
        worker: &mut Worker<'_>,
        waiting: &[Waiting],
        shown: (&Finding, &Decisions),
        seed: u64,
    ) -> Exploration {
        backtraces::add(&mut self.full, waiting);
        let mut exploration = Exploration::of(&self.full);
        exploration.left_out = self.left_out;
        self.followed.add_to(&mut exploration, &self.events, &self.stuck);
        exploration.choices = Some(self.choices(worker, shown, seed));
        exploration
    }

    /// How much each choice mattered. Continuations of an execution that does not end are cut where it was, at the bound on steps.
    fn choices(&self, worker: &mut Worker<'_>, (finding, decisions): (&Finding, &Decisions), seed: u64) -> Choices {
        let known = Known { trace: &self.trace, rows: &self.events, decisions };
        choices(known, seed, &mut |continued| worker.try_with(continued, finding))
    }
}

/// The blocks of an execution.
fn blocks(worker: &Worker<'_>, found: &Found, trace: &[Event], scene: &Scene<'_>) -> Vec<Block> {
    let annotated = Annotated::of(worker.judge().rule(), trace);
    let mut blocks: Vec<(u32, Block)> = Vec::new();
    let mut cancelled = Vec::new();
    for (index, passage) in annotated.passages().iter().enumerate() {
        match passage {
            Passage::Enters(number) => {
                let name = block_name(&trace[index], &scene.names);
                blocks.push((*number, Block { name, from: index, until: None, marked: false }));
            }
            Passage::Leaves(number) => {
                let own = blocks.iter_mut().rev().find(|(other, _)| other == number);
                own.into_iter().for_each(|(_, block)| block.until = Some(index));
            }
            Passage::Cancels(number) => cancelled.push(*number),
            Passage::Outside | Passage::Inside(_) => {}
        }
    }
    blocks.retain(|(number, _)| !cancelled.contains(number));
    let mut blocks: Vec<Block> = blocks.into_iter().map(|(_, block)| block).collect();
    if let Some(triple) = found.triple {
        let task = trace[triple.first].task;
        let around = |block: &&mut Block| trace[block.from].task == task && block.from <= triple.first;
        blocks.iter_mut().rfind(around).into_iter().for_each(|block| block.marked = true);
    }
    blocks
}
