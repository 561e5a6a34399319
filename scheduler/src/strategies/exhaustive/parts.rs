//! Parts of a search.
//!
//! A part of a search ([`Exhaustive::with_shard`]) takes some of the subtrees below its first choices. In the first states,
//! each enabled step that does not sleep is a branch, whatever the executions show: that is the search with sleep sets alone.
//! Its tree follows from the program and not from what was explored below it, so all parts see the same first states. The
//! subtrees below them are dealt to the parts in their order. A race with a step of the first states needs no reversal, since
//! the branch exists already.
//!
//! Steps that sleep in the first states sleep on below them, so a trace begins in one subtree only. But no sequence of steps
//! leads past such a sleeper, so an execution may come to a state in which every task sleeps. What it has shown until then must be
//! looked at, since perhaps no other execution shows it: its races, and those of the tasks that are blocked there. And a sequence that reverses a race is left out because of such a sleeper only if it contains the sleeper's step.
//! Both is as in the paper's Algorithm 1 (source sets), which has no wakeup trees. So the parts together run an execution of each
//! trace. They run more executions than one search: those that end where everything sleeps, and in each part one execution for each
//! subtree that belongs to another part. These are discarded, since other executions show their traces. An execution that ends in the
//! first states is a subtree of its own. Subtrees whose first execution ends where everything sleeps are dealt by themselves: most of
//! them have no trace at all. Under weak memory nothing sleeps where a subtree begins, and traces may begin in
//! several subtrees.
//!
//! How deep the first states reach must fit the program: if most of their branches sleep soon, few subtrees with traces are below them,
//! and some parts would have none. So each part first counts these subtrees, until there are enough; if there are too few, the
//! first states reach deeper. That depends on the program alone, so all parts come to the same depth.

use interloper_std::runtime::{Action, Operation, TaskId};

use super::{Exhaustive, Stray, first_steps};
use crate::{Event, Execution, Shard, TaskReport};

/// A part of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) shard: Shard,
    /// States are expanded fully until at least so many ways lead through them.
    pub(super) ways: u64,
    /// How many subtrees below them were met so far: those whose first execution shows a trace, and the others.
    subtrees: u64,
    asleep: u64,
    /// The subtrees are only counted, to find out how deep the first states reach.
    plan: Option<Plan>,
}

/// How far the subtrees have been counted.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Some subtree may have more than one execution.
    has_room: bool,
    executions: u64,
    /// The ways before: they stay if the count takes too long.
    before: u64,
}

impl Plan {
    fn new(before: u64) -> Plan {
        Plan { has_room: false, executions: 0, before }
    }
}

/// What the first execution of a subtree comes to below the first states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Below {
    /// Further states, and the end of a trace.
    Trace,
    /// A state in which everything sleeps, as most executions of the subtree will.
    Sleep,
    /// Nothing: it has ended in the first states.
    Nothing,
}

impl Split {
    fn new(shard: Shard) -> Split {
        let of = u64::from(shard.of());
        let ways = WAYS * of;
        Split { shard, ways, subtrees: 0, asleep: 0, plan: Some(Plan::new(ways)) }
    }

    /// Takes note of another subtree. Says whether this part of the search explores it.
    fn deals(&mut self, below: Below) -> bool {
        let met = if below == Below::Sleep { &mut self.asleep } else { &mut self.subtrees };
        *met += 1;
        match &mut self.plan {
            Some(plan) => {
                plan.has_room |= below != Below::Nothing;
                false
            }
            None => self.shard.has(*met - 1),
        }
    }

    /// The search begins again.
    pub(super) fn restart(&mut self) {
        (self.subtrees, self.asleep) = (0, 0);
    }

    pub(super) fn is_planning(&self) -> bool {
        self.plan.is_some()
    }

    /// After an execution of the count, with more of them or not: whether the search begins again, with a further count or in earnest.
    pub(super) fn has_planned(&mut self, is_left: bool) -> bool {
        let Some(plan) = &mut self.plan else { return false };
        plan.executions += 1;
        let enough = ENOUGH * u64::from(self.shard.of());
        let is_enough = self.subtrees >= enough;
        let is_long = !is_enough && plan.executions >= LONGEST_COUNT * enough;
        if is_left && !is_enough && !is_long {
            return false;
        }
        let (has_room, before) = (plan.has_room, plan.before);
        self.plan = None;
        if is_long {
            self.ways = before;
        } else if !is_enough && has_room && self.ways < MOST_WAYS {
            self.plan = Some(Plan::new(self.ways));
            self.ways *= 2;
        }
        true
    }
}

/// Each part has about so many subtrees. That is what the subtrees would be if all first states had as many branches as those on the
/// way to one of them. With more subtrees the work is shared more evenly, and each subtree costs one execution in each of the other
/// parts.
const WAYS: u64 = 8;

/// There are enough subtrees with traces if there are so many for each part: then no part is idle. More would be dealt more
/// evenly, but where few have traces, many others are beside them.
const ENOUGH: u64 = 1;

/// First states that reach deeper than this many ways would have more branches that sleep than subtrees.
const MOST_WAYS: u64 = 1 << 32;

/// If the count of the subtrees takes so many executions for each one that would be enough, most of the branches sleep, and the
/// first states do not reach deeper.
const LONGEST_COUNT: u64 = 8;

impl Exhaustive {
    /// The part of the search that belongs to a shard: all parts together explore all traces.
    pub fn with_shard(self, shard: Shard) -> Exhaustive {
        Exhaustive { split: (!shard.is_whole()).then(|| Split::new(shard)), ..self }
    }

    /// Deals the subtree that the current execution, which is over, is the first one of. If another part has the subtree, the
    /// execution does not count.
    pub(super) fn deal(&mut self) {
        let Some(split) = &mut self.split else { return };
        let ends_in_first =
            self.stray.is_none() && self.states[..self.depth].last().is_some_and(|state| state.is_first);
        let below = match self.root {
            Some(_) if self.stray == Some(Stray::Redundant) => Below::Sleep,
            Some(_) => Below::Trace,
            None if ends_in_first => Below::Nothing,
            None => return,
        };
        if !split.deals(below) {
            self.depth = self.root.unwrap_or(self.depth);
            self.stray = Some(Stray::Elsewhere);
        }
    }

    /// Leaves a sequence that reverses it for each race of an execution that came to a state in which everything sleeps. Below the first
    /// states steps sleep that no race has put to sleep, so what such an execution shows may be shown by no other one.
    pub(super) fn reverse_races_before_sleep(&mut self, execution: &Execution, trace: &[Event]) {
        let shown = first_steps(trace, self.depth);
        let (mut history, common) = self.follow(shown, &execution.accesses);
        self.reverse_races_since(&history, common, &execution.older);
        let blocked = blocked_after(shown, trace, &execution.stuck, &self.enabled);
        for (task, operations) in &blocked {
            history.push_blocked(*task, operations.clone());
            history.pop();
        }
        for (task, operations) in blocked {
            let step = history.push_blocked(task, operations);
            self.reverse_races_with(&history, step);
            history.pop();
        }
        self.history = history;
    }
}

/// The tasks that are blocked after the first events of a trace, and what they wait for. `enabled` could go on there. What the others
/// wanted shows later, or at the end.
fn blocked_after(
    shown: &[Event],
    trace: &[Event],
    stuck: &[TaskReport],
    enabled: &[TaskId],
) -> Vec<(TaskId, Vec<Operation>)> {
    let mut blocked = Vec::new();
    let mut tasks: Vec<TaskId> = shown.iter().map(|event| event.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    for task in tasks.into_iter().filter(|task| !enabled.contains(task)) {
        let is_own = |event: &&Event| event.task == task && !event.continues;
        // Who waits in a queue has to be woken before it takes the lock again.
        if shown.iter().rfind(is_own).is_none_or(|last| matches!(last.operation.action, Action::Wait(_))) {
            continue;
        }
        let later = &trace[shown.len()..];
        let wanted: Vec<Operation> = match later.iter().position(|event| is_own(&event)) {
            Some(next) => {
                let parts = later[next + 1..].iter().take_while(|event| event.continues);
                later[next..].iter().take(1).chain(parts).map(|event| event.operation).collect()
            }
            None => stuck.iter().filter(|report| report.task == task).map(|report| report.wants).collect(),
        };
        // A task that sleeps, or waits for a change, waits for no other task in particular.
        if wanted.first().is_some_and(|operation| !matches!(operation.action, Action::Sleep | Action::Yield)) {
            blocked.push((task, wanted));
        }
    }
    blocked
}
