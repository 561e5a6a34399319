//! An execution as the page shows it: all its steps, its blocks, and which of its choices mattered.

use interloper_harness::explored::{Block, Followed};
use interloper_report::Counterexample;
use interloper_report::explorer::{Choices, Exploration, Point, Swap};
use interloper_scheduler::choices::{Choice, Continued, Plan};
use interloper_scheduler::decisions::Decisions;
use interloper_scheduler::runtime::{Action, TaskId};
use interloper_scheduler::words::is_silent;
use interloper_scheduler::{End, Event, TaskReport};

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
    pub(crate) fn new(worker: &Worker<'_>, found: &Found, made: &Made, counterexample: &Counterexample) -> Draft {
        let trace = worker.runner().engine.trace();
        let scene = Scene::new(worker, &trace, made, MOST);
        let drawn = scene.rows(found, &scene.steps(found));
        let mut events: Vec<Option<usize>> = drawn.iter().map(|drawn| drawn.is_event.then_some(drawn.index)).collect();
        let earlier = drawn.iter().filter(|drawn| drawn.index < scene.first).count() as u64;
        let mut rows: Vec<_> = drawn.into_iter().map(|drawn| drawn.row).chain(scene.ending(made)).collect();
        events.resize(rows.len(), None);
        let columns = columns(&scene, made.execution.tasks, &mut rows);
        let full = Counterexample { columns, rows, ..counterexample.clone() };
        let is_row = |event: &&Event| {
            let action = event.operation.action;
            action != Action::Start && !is_silent(action)
        };
        let before = trace[..scene.first].iter().filter(is_row).count() as u64;
        let followed = Followed::new(&trace, &made.execution.accesses, scene.names.clone());
        Draft {
            followed: followed.with_blocks(blocks(worker, found, &trace, &scene)),
            full: full.with_source(),
            events,
            stuck: match &made.execution.end {
                End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => tasks.clone(),
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
        exploration.choices = self.choices(worker, shown, seed);
        exploration
    }

    /// How much each choice mattered. None for an execution that does not end: its continuations would not end, either.
    fn choices(
        &self,
        worker: &mut Worker<'_>,
        (finding, decisions): (&Finding, &Decisions),
        seed: u64,
    ) -> Option<Choices> {
        if matches!(finding, Finding::StepBound | Finding::Livelock) {
            return None;
        }
        let mut known = Continued::new(decisions, decisions.0.len(), &[], seed, 0);
        worker.try_with(&mut known);
        let choices = known.into_choices();
        // The events of the steps that the choices are about.
        let events: Vec<usize> = (0..self.trace.len()).filter(|&event| !self.trace[event].continues).collect();
        let depend = |one: usize, other: usize| match (events.get(one), events.get(other)) {
            (Some(&one), Some(&other)) => self.trace[one].operation.depends(&self.trace[other].operation),
            _ => false,
        };
        let row = |choice: &Choice| self.row_from(events.get(choice.steps).copied().unwrap_or(self.trace.len()));
        let plan = Plan::new(&choices, depend);
        let mut tried = Trying { worker, finding, decisions, seed, plan: &plan, steps: 0, number: 0 };
        let mut points = Vec::new();
        for choice in plan.points.iter().map(|&at| &choices[at]) {
            let Some((failed, of)) = tried.share(choice.kept, &[]) else { break };
            points.push(Point { step: row(choice), kept: choice.kept as u32, failed, of });
        }
        let mut swaps = Vec::new();
        for &at in &plan.swaps {
            let next = choices[at + 1..].iter().find(|choice| choice.of.is_some());
            let (Some((one, _)), Some(next)) = (&choices[at].of, next) else { continue };
            let Some((other, _)) = &next.of else { continue };
            let Some((failed, of)) = tried.share(choices[at].kept, &[*other, *one]) else { break };
            swaps.push(Swap { first: row(&choices[at]), second: row(next), failed, of });
        }
        let count = self.events.len() as u32;
        swaps.retain(|swap| swap.first < count && swap.second < count && swap.first != swap.second);
        let end = Point { step: count, kept: decisions.0.len() as u32, failed: 1, of: 1 };
        points.push(end);
        Some(Choices { seed, points, swaps })
    }

    /// The first row that is this event or a later one.
    fn row_from(&self, event: usize) -> u32 {
        let at = self.events.iter().position(|other| other.is_some_and(|other| other >= event));
        at.unwrap_or(self.events.len()) as u32
    }
}

/// Runs continuations.
struct Trying<'t, 'w> {
    worker: &'t mut Worker<'w>,
    finding: &'t Finding,
    decisions: &'t Decisions,
    seed: u64,
    plan: &'t Plan,
    /// How many steps they have made.
    steps: u64,
    /// How many have run.
    number: u64,
}

impl Trying<'_, '_> {
    /// How many continuations fail in the same way, of how many. None when there were too many steps before.
    fn share(&mut self, kept: usize, forced: &[TaskId]) -> Option<(u32, u32)> {
        let (mut failed, mut of) = (0, 0);
        for _ in 0..self.plan.continuations {
            if self.steps > self.plan.steps {
                return None;
            }
            let mut continued = Continued::new(self.decisions, kept, forced, self.seed, self.number);
            self.number += 1;
            let (steps, finding) = self.worker.try_with(&mut continued);
            self.steps += steps;
            of += 1;
            failed += u32::from(finding.is_some_and(|finding| finding.is_like(self.finding)));
        }
        (of > 0).then_some((failed, of))
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
