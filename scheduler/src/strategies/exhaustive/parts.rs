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
//! subtree that belongs to another part. Under weak memory nothing sleeps where a subtree begins, and traces may begin in
//! several subtrees.

use interloper_std::runtime::{Action, Operation, TaskId};

use super::{Exhaustive, first_steps};
use crate::{Event, Execution, Shard, TaskReport};

/// A part of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) shard: Shard,
    /// States are expanded fully until at least so many ways lead through them.
    pub(super) ways: u64,
    /// How many subtrees below them were met so far.
    pub(super) subtrees: u64,
}

/// Up to eight parts have about so many subtrees together, but not more than 16 each; more parts have 8 each. That is what the subtrees
/// would be if all first states had as many branches as those on the way to one of them. With more subtrees the work is shared more
/// evenly, and each subtree costs one execution in each of the other parts.
const WAYS: u64 = 64;

impl Exhaustive {
    /// The part of the search that belongs to a shard: all parts together explore all traces.
    pub fn with_shard(self, shard: Shard) -> Exhaustive {
        let of = u64::from(shard.of());
        let ways = (16 * of).min(WAYS).max(8 * of);
        Exhaustive { split: (!shard.is_whole()).then_some(Split { shard, ways, subtrees: 0 }), ..self }
    }

    /// Leaves a sequence that reverses it for each race of an execution that came to a state in which everything sleeps. Below the first
    /// states steps sleep that no race has put to sleep, so what such an execution shows may be shown by no other one.
    pub(super) fn reverse_races_before_sleep(&mut self, execution: &Execution, trace: &[Event]) {
        let shown = first_steps(trace, self.depth);
        let (mut history, common) = self.follow(shown, &execution.accesses);
        self.reverse_races_since(&history, common);
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
