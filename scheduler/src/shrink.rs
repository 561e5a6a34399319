//! Makes a failing run smaller: fewer stale accesses first, then fewer departures from the ordinary, then fewer preemptions, then
//! fewer steps.
//!
//! Whether a failure needs its stale accesses cannot be told from the schedule that showed it: without them another schedule may be
//! needed. So a search of its own looks for a failing run with fewer of them (`shrink/fewer.rs`).
//!
//! After that, two kinds of change take turns until no change helps. One moves a whole block of steps of a task to its next or its
//! last block, as in N. Jalbert and K. Sen, *A trace simplification technique for effective debugging of concurrent
//! programs*, FSE 2010. The other changes the list of decisions: drops its end, answers 0, drops decisions in chunks.

mod fewer;

use std::cmp::Ordering;

use interloper_std::runtime::TaskId;

use crate::deadline::Effort;
use crate::decisions::{Decision, Decisions, LooseSource, Question};
use crate::engine::Engine;
use crate::execution::{End, Execution};
use crate::explore::Executions;
use crate::freedoms::Freedoms;
use crate::strategies::{Follow, Guided};
use crate::strategy::Strategy;

pub(crate) use fewer::FewerStale;

/// A run that fails in the way that is being shrunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The decisions of the run.
    pub decisions: Decisions,
    /// The number of preemptions.
    pub preemptions: u64,
    /// The number of steps.
    pub steps: u64,
}

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The smallest failing run found.
    pub smallest: Failing,
    /// How many runs it took.
    pub executions: u64,
    /// Whether no single change makes it smaller; false when the budget ended the search.
    pub minimal: bool,
}

impl Failing {
    /// Orders by stale accesses, then departures from the ordinary, then preemptions, then steps, then the number and the size of
    /// the answers.
    fn size(&self, other: &Failing) -> Ordering {
        let key = |failing: &Failing| {
            let Failing { decisions, preemptions, steps } = failing;
            let (stale, departures) = (decisions.stale(), decisions.departures());
            (stale, departures, *preemptions, *steps, decisions.deviations(), decisions.0.len())
        };
        let answers =
            |failing: &Failing| failing.decisions.0.iter().map(|decision| decision.answer).collect::<Vec<_>>();
        key(self).cmp(&key(other)).then_with(|| answers(self).cmp(&answers(other)))
    }
}

/// Shrinks a list of decisions. `run` runs the given decisions as far as they fit (see [`LooseSource`]), and returns
/// the result if it fails in the same way.
pub fn shrink(first: Failing, effort: impl Into<Effort>, mut run: impl FnMut(&Decisions) -> Option<Failing>) -> Shrunk {
    let mut search = Search::new(first, effort.into());
    let mut run = |plan: Plan<'_>| match plan {
        Plan::Decisions(decisions) => {
            let failing = run(&decisions);
            let steps = failing.as_ref().map_or(0, |failing| failing.steps);
            (steps, failing.map(|failing| (failing, Vec::new())))
        }
        Plan::Tasks(_) | Plan::Begun(_) => (0, None),
    };
    let minimal = search.descend(&mut run).is_some();
    Shrunk { smallest: search.smallest, executions: search.made, minimal }
}

impl Engine {
    /// Shrinks a failing run of `program`. `fails` says whether an execution fails in the same way; the engine still has
    /// its trace then.
    ///
    /// # Panics
    /// As [`Engine::run`], and when the engine does not record the trace and the decisions.
    #[track_caller]
    pub fn shrink(
        &mut self,
        first: Failing,
        effort: impl Into<Effort>,
        mut program: impl FnMut(),
        mut fails: impl FnMut(&Engine, &Execution) -> bool,
    ) -> Shrunk {
        let config = self.config();
        assert!(config.trace && config.decisions, "shrinking needs Config::trace and Config::decisions");
        let mut run = |plan: Plan<'_>| {
            let (execution, counts) = match plan {
                Plan::Decisions(decisions) => {
                    (self.run(&mut Guided::new(LooseSource::new(&decisions)), &mut program), true)
                }
                Plan::Tasks(mut strategy) => (self.run(&mut strategy, &mut program), true),
                Plan::Begun(strategy) => {
                    let execution = self.run(strategy, &mut program);
                    strategy.end(&execution, &self.trace());
                    (execution, !strategy.discards())
                }
            };
            // After a step that did not end, the next such step may take as long: the search is over.
            let steps = if matches!(execution.end, End::Stuck(_)) { u64::MAX } else { execution.steps };
            let fails = counts && fails(self, &execution);
            (steps, fails.then(|| (self.failing(&execution), self.tasks())))
        };
        let mut search = Search::new(first, effort.into());
        if search.is_over() {
            return Shrunk { smallest: search.smallest, executions: 0, minimal: false };
        }
        // Runs it once more, to learn the tasks of its steps.
        let (steps, failing) = run(Plan::Decisions(search.smallest.decisions.clone()));
        (search.made, search.steps) = (1, steps);
        if let Some((failing, tasks)) = failing {
            (search.smallest, search.tasks) = (failing, tasks);
        }
        let minimal = search.drop_stale(&mut run).and_then(|()| search.descend(&mut run)).is_some();
        Shrunk { smallest: search.smallest, executions: search.made, minimal }
    }

    /// The last execution, as something to shrink.
    pub fn failing(&self, execution: &Execution) -> Failing {
        let decisions = Decisions(self.decisions().to_vec());
        Failing { decisions, preemptions: execution.preemptions, steps: execution.steps }
    }

    /// The tasks that made the steps of the last execution.
    fn tasks(&self) -> Vec<TaskId> {
        self.trace().iter().filter(|event| !event.continues).map(|event| event.task).collect()
    }
}

/// What a run is to do.
enum Plan<'s> {
    Decisions(Decisions),
    Tasks(Follow),
    /// The execution that the strategy has begun.
    Begun(&'s mut dyn Strategy),
}

struct Search {
    smallest: Failing,
    /// The tasks of its steps, if they are known.
    tasks: Vec<TaskId>,
    made: u64,
    /// How many steps all runs have made.
    steps: u64,
    effort: Effort,
}

/// Runs a plan. Returns the number of steps and, if the run fails in the same way, its result with the tasks of its
/// steps.
type Run<'a> = &'a mut dyn FnMut(Plan<'_>) -> (u64, Option<(Failing, Vec<TaskId>)>);

impl Search {
    fn new(smallest: Failing, effort: Effort) -> Search {
        Search { smallest, tasks: Vec::new(), made: 0, steps: 0, effort }
    }

    /// Whether the budget is spent.
    fn is_over(&self) -> bool {
        matches!(self.effort.executions, Executions::AtMost(most) if self.made >= most)
            || self.steps >= self.effort.steps
            || self.effort.deadline.is_over()
    }

    /// Tries changes until no change helps. `None` when the budget is used up.
    fn descend(&mut self, run: Run<'_>) -> Option<()> {
        while self.without_freedoms(run)?
            || self.join_blocks(run)?
            || self.cut_tail(run)?
            || self.in_chunks(run, zeroed)?
            || self.in_chunks(run, removed)?
            || self.lower(run)?
        {}
        Some(())
    }

    /// Looks for a failing run with fewer stale accesses, under other schedules too. `None` when the budget is used up.
    fn drop_stale(&mut self, run: Run<'_>) -> Option<()> {
        if self.smallest.decisions.stale() > 0 {
            while self.without_freedoms(run)? {}
        }
        let Some(mut fewer) = FewerStale::new(&self.smallest.decisions) else { return Some(()) };
        while fewer.begin() {
            let found = self.attempt(run, Plan::Begun(&mut fewer))?;
            if found && (fewer.is_systematic() || self.smallest.decisions.stale() == 0) {
                break;
            }
        }
        Some(())
    }

    /// Runs a candidate, and keeps it if it fails and is smaller. `None` when the budget is used up.
    fn attempt(&mut self, run: Run<'_>, plan: Plan<'_>) -> Option<bool> {
        if self.is_over() {
            return None;
        }
        self.made += 1;
        let (steps, failing) = run(plan);
        self.steps = self.steps.saturating_add(steps);
        let smaller = failing.filter(|(failing, _)| failing.size(&self.smallest).is_lt());
        let found = smaller.is_some();
        if let Some((failing, tasks)) = smaller {
            (self.smallest, self.tasks) = (failing, tasks);
        }
        Some(found)
    }

    /// Drops departures from the ordinary: all of them, or one.
    fn without_freedoms(&mut self, run: Run<'_>) -> Option<bool> {
        let is_freedom = |decision: &Decision| decision.question.may_depart();
        if self.smallest.decisions.departures() == 0 {
            return Some(false);
        }
        let mut ordinary = self.smallest.decisions.clone();
        ordinary.0.retain(|decision| !is_freedom(decision));
        if self.attempt(run, Plan::Decisions(ordinary))? {
            return Some(true);
        }
        for position in 0..self.smallest.decisions.0.len() {
            let decision = self.smallest.decisions.0[position];
            // Only the one that names the freedoms of the execution has several in one.
            let bits = (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| decision.answer & Freedoms::WHICH & bit != 0);
            let left: Vec<u32> = match decision.question {
                Question::Freedom => bits.map(|bit| decision.answer & !bit).collect(),
                Question::Store if decision.answer != 0 => vec![0],
                _ => Vec::new(),
            };
            for answer in left {
                let mut candidate = self.smallest.decisions.clone();
                candidate.0[position].answer = answer;
                if self.attempt(run, Plan::Decisions(candidate))? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Moves a block of steps of a task forward to its next block, or its next block back to this one.
    fn join_blocks(&mut self, run: Run<'_>) -> Option<bool> {
        let blocks: Vec<Vec<TaskId>> = self.tasks.chunk_by(|a, b| a == b).map(<[_]>::to_vec).collect();
        let decisions = &self.smallest.decisions;
        let which = usize::from(decisions.freedoms() != 0);
        let is_pick = |decision: &&Decision| decision.question == Question::Other || decision.question.may_depart();
        let picks = decisions.0.iter().skip(which).filter(is_pick);
        let picks: Vec<u32> = picks.map(|decision| decision.answer).collect();
        let freedoms = decisions.clone();
        for at in 0..blocks.len() {
            let same = |block: &Vec<TaskId>| block[0] == blocks[at][0];
            let Some(next) = blocks[at + 1..].iter().position(same).map(|offset| at + 1 + offset) else { continue };
            for (from, to) in [(next, at + 1), (at, next - 1)] {
                let mut moved = blocks.clone();
                let block = moved.remove(from);
                moved.insert(to, block);
                let follow = Follow::new(moved.into_iter().flatten(), picks.iter().copied());
                let follow = follow.with_freedoms_of(&freedoms);
                if self.attempt(run, Plan::Tasks(follow))? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Drops the end of the decisions: the longest end first.
    fn cut_tail(&mut self, run: Run<'_>) -> Option<bool> {
        let mut kept = 0;
        while kept < self.smallest.decisions.0.len() {
            let decisions = Decisions(self.smallest.decisions.0[..kept].to_vec());
            if self.attempt(run, Plan::Decisions(decisions))? {
                return Some(true);
            }
            kept = 2 * kept + 1;
        }
        Some(false)
    }

    /// Changes the decisions in chunks: all of them, halves, quarters, down to single ones.
    fn in_chunks(&mut self, run: Run<'_>, change: fn(&Decisions, usize, usize) -> Option<Decisions>) -> Option<bool> {
        let mut found = false;
        let mut size = self.smallest.decisions.0.len();
        while size > 0 {
            let mut start = 0;
            while start < self.smallest.decisions.0.len() {
                let smaller = match change(&self.smallest.decisions, start, size) {
                    Some(candidate) => self.attempt(run, Plan::Decisions(candidate))?,
                    None => false,
                };
                found |= smaller;
                start += if smaller { 0 } else { size };
            }
            size /= 2;
        }
        Some(found)
    }

    /// Makes single answers smaller.
    fn lower(&mut self, run: Run<'_>) -> Option<bool> {
        for position in 0..self.smallest.decisions.0.len() {
            if self.smallest.decisions.0[position].question == Question::Freedom {
                continue;
            }
            for answer in 1..self.smallest.decisions.0[position].answer {
                let mut candidate = self.smallest.decisions.clone();
                candidate.0[position].answer = answer;
                if self.attempt(run, Plan::Decisions(candidate))? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

/// The decisions with a chunk answered 0; `None` if they are unchanged.
fn zeroed(decisions: &Decisions, start: usize, size: usize) -> Option<Decisions> {
    let mut decisions = decisions.clone();
    let end = (start + size).min(decisions.0.len());
    let chunk = &mut decisions.0[start..end];
    let changes = chunk.iter().any(|decision| decision.answer != 0);
    chunk.iter_mut().for_each(|decision: &mut Decision| decision.answer = 0);
    changes.then_some(decisions)
}

/// The decisions without a chunk of them.
fn removed(decisions: &Decisions, start: usize, size: usize) -> Option<Decisions> {
    let mut decisions = decisions.clone();
    let end = (start + size).min(decisions.0.len());
    decisions.0.drain(start..end);
    Some(decisions)
}
