//! The serial orders of a program: the executions in which no block is interrupted.

use interloper_scheduler::decisions::Question;
use interloper_scheduler::{Event, Execution, Pending, Strategy};
use interloper_std::runtime::{Action, Operation, TaskId};

use super::sections::{Rule, Tracker};

/// Enumerates the executions in which each block runs from beginning to end without interruption, and code outside
/// blocks step by step. Of several executions that differ only in the order of independent steps, one is a
/// [`Serial::Order`]; others may run and are [`Serial::Redundant`].
///
/// It is a search with sleep sets (P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996,
/// chapter 5) whose transitions are whole blocks: what a block accesses is known once it has run.
#[derive(Clone, Debug)]
pub(crate) struct SerialOrders {
    waiting: Waiting,
    tracker: Tracker,
    nodes: Vec<Node>,
    /// Nodes from here on are new: what happens at them is known when the execution is over.
    known: usize,
    /// How many nodes the current execution has passed.
    depth: usize,
    /// How many steps the current execution has made.
    steps: usize,
    /// How many objects are known from them: objects have numbers in the order of first use.
    objects: usize,
    /// The task that made the last step.
    last: Option<TaskId>,
    /// Which tasks sleep after the known nodes, as far as the running execution can tell: some may be awake.
    asleep: Vec<Sleeper>,
    verdict: Serial,
    done: bool,
}

/// What becomes of a block that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The execution is not a serial order.
    Refused,
    /// Other tasks run until it can go on. For programs that have no serial order otherwise: a block that waits for
    /// something that happens outside it.
    Admitted,
}

/// What an execution was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serial {
    /// A serial order.
    Order,
    /// A block could not go on.
    Stuck,
    /// It is equivalent to an execution that has run or will run.
    Redundant,
    /// The program asked something else than before after the same decisions. The search ends.
    Diverged,
}

/// A place where the search chooses.
#[derive(Clone, Debug)]
enum Node {
    /// Which task runs a block or makes a step.
    Task(Choice),
    /// Not about tasks.
    Pick { options: u32, answer: u32 },
}

#[derive(Clone, Debug)]
struct Choice {
    /// The number of steps before it.
    at: usize,
    /// Whether a block is interrupted here, because it cannot go on.
    interrupts: bool,
    enabled: Vec<TaskId>,
    chosen: TaskId,
    tried: Vec<TaskId>,
    /// Tasks that need not be chosen: what they would do was tried, here or before, and nothing since depends on it.
    sleep: Vec<Sleeper>,
    /// What the chosen task did.
    accesses: Vec<Operation>,
    /// Whether it would do the same after independent steps of other tasks: not if it got stuck or drew a decision.
    fixed: bool,
    /// Objects with numbers below this one are the same for every choice here; the other objects are created later.
    objects: usize,
}

#[derive(Clone, Debug)]
struct Sleeper {
    task: TaskId,
    /// What it would do.
    accesses: Vec<Operation>,
    /// Where it was seen to do this, objects from this number on had not been used: the same number may stand for
    /// another object now.
    objects: usize,
}

impl SerialOrders {
    pub(crate) fn new(rule: Rule, waiting: Waiting) -> SerialOrders {
        SerialOrders {
            waiting,
            tracker: Tracker::new(rule),
            nodes: Vec::new(),
            known: 0,
            depth: 0,
            steps: 0,
            objects: 0,
            last: None,
            asleep: Vec::new(),
            verdict: Serial::Order,
            done: false,
        }
    }

    /// What the last execution was.
    pub(crate) fn verdict(&self) -> Serial {
        self.verdict
    }

    /// The index of the task that is to go on because it is in a block.
    fn inside(&self, pending: &[Pending]) -> Option<usize> {
        let last = self.last.filter(|last| self.tracker.block_of(*last).is_some())?;
        pending.iter().position(|pending| pending.task == last)
    }

    fn interrupts(&self) -> bool {
        self.last.is_some_and(|last| self.tracker.block_of(last).is_some())
    }

    /// Chooses at a node: as planned, or the first task that is not asleep.
    fn choose_at_node(&mut self, pending: &[Pending]) -> usize {
        let depth = self.depth;
        self.depth += 1;
        let index = match self.nodes.get(depth) {
            Some(Node::Task(choice)) if same_tasks(&choice.enabled, pending) => {
                pending.iter().position(|pending| pending.task == choice.chosen).unwrap_or(0)
            }
            Some(_) => {
                self.verdict = Serial::Diverged;
                0
            }
            None => {
                let awake = |pending: &Pending| !self.asleep.iter().any(|sleeper| sleeper.task == pending.task);
                let index = pending.iter().position(awake).unwrap_or(0);
                self.nodes.push(Node::Task(Choice::new(self.steps, self.objects, self.interrupts(), pending, index)));
                index
            }
        };
        if depth + 1 == self.known.max(1)
            && let Some(Node::Task(choice)) = self.nodes.get(depth)
        {
            self.asleep.clone_from(&choice.sleep);
        }
        index
    }

    /// Reads off the trace what the chosen tasks did at the nodes from `first` on.
    fn read_transitions(&mut self, first: usize, trace: &[Event]) {
        let steps: Vec<usize> = (0..trace.len()).filter(|index| !trace[*index].continues).collect();
        let mut end = trace.len();
        let mut fixed = self.verdict != Serial::Stuck && !self.interrupts();
        for node in self.nodes[first..].iter_mut().rev() {
            match node {
                Node::Pick { .. } => fixed = false,
                Node::Task(choice) => {
                    let begin = steps.get(choice.at).copied().unwrap_or(end).min(end);
                    choice.accesses = trace[begin..end].iter().map(|event| event.operation).collect();
                    choice.fixed = fixed;
                    (end, fixed) = (begin, !choice.interrupts);
                }
            }
        }
    }

    /// Computes which tasks sleep at the nodes from `first` on. False if the execution chose a sleeping task there:
    /// then it is redundant, and the search continues before that choice.
    fn put_to_sleep(&mut self, first: usize) -> bool {
        let mut before = self.nodes[..first].iter().rposition(|node| matches!(node, Node::Task(_)));
        for index in first..self.nodes.len() {
            let sleep = match before.map(|before| &self.nodes[before]) {
                Some(Node::Task(before)) => before.sleepers_after(),
                _ => Vec::new(),
            };
            let Node::Task(choice) = &mut self.nodes[index] else { continue };
            choice.sleep = sleep;
            if choice.sleeps(choice.chosen) {
                choice.tried.clear();
                self.nodes.truncate(index + 1);
                return false;
            }
            before = Some(index);
        }
        true
    }

    /// Goes back to the last node at which something was not tried, and chooses it there.
    fn backtrack(&mut self) {
        while let Some(node) = self.nodes.last_mut() {
            let found = match node {
                Node::Pick { options, answer } => {
                    *answer += 1;
                    *answer < *options
                }
                Node::Task(choice) => choice.next(),
            };
            if found {
                self.known = self.nodes.len();
                return;
            }
            self.nodes.pop();
        }
        self.done = true;
    }
}

impl Strategy for SerialOrders {
    fn begin(&mut self) -> bool {
        self.tracker.reset();
        (self.depth, self.steps, self.objects, self.last) = (0, 0, 0, None);
        self.asleep.clear();
        self.verdict = Serial::Order;
        !self.done
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        let index = match self.inside(pending) {
            _ if self.verdict != Serial::Order => 0,
            Some(index) => index,
            None if self.waiting == Waiting::Refused && self.interrupts() => {
                self.verdict = Serial::Stuck;
                0
            }
            None => self.choose_at_node(pending),
        };
        let Pending { task, operation } = pending[index];
        self.objects = self.objects.max(objects_of(pending));
        self.asleep.retain(|sleeper| sleeper.is_independent_of(task, &operation));
        self.tracker.note(task, operation);
        self.last = Some(task);
        self.steps += 1;
        index
    }

    fn decide(&mut self, _: Question, options: u32) -> u32 {
        if self.verdict != Serial::Order {
            return 0;
        }
        let depth = self.depth;
        self.depth += 1;
        match self.nodes.get(depth) {
            Some(Node::Pick { options: before, answer }) if *before == options => *answer,
            Some(_) => {
                self.verdict = Serial::Diverged;
                0
            }
            None => {
                self.nodes.push(Node::Pick { options, answer: 0 });
                0
            }
        }
    }

    fn end(&mut self, execution: &Execution, trace: &[Event]) {
        if self.verdict == Serial::Diverged || self.depth < self.nodes.len() {
            self.verdict = Serial::Diverged;
            self.done = true;
            return;
        }
        if self.interrupts() && !execution.end.is_finished() {
            self.verdict = Serial::Stuck;
        }
        // The last known choice is new in this execution, so its transition is new, too.
        let last_known = self.nodes[..self.known].iter().rposition(|node| matches!(node, Node::Task(_)));
        self.read_transitions(last_known.unwrap_or(0), trace);
        if !self.put_to_sleep(self.known) {
            self.verdict = Serial::Redundant;
        }
        self.backtrack();
    }
}

impl Choice {
    fn new(at: usize, objects: usize, interrupts: bool, pending: &[Pending], index: usize) -> Choice {
        let enabled: Vec<TaskId> = pending.iter().map(|pending| pending.task).collect();
        let chosen = enabled[index];
        Choice {
            at,
            interrupts,
            enabled,
            chosen,
            tried: vec![chosen],
            sleep: Vec::new(),
            accesses: Vec::new(),
            fixed: false,
            objects,
        }
    }

    fn sleeps(&self, task: TaskId) -> bool {
        self.sleep.iter().any(|sleeper| sleeper.task == task)
    }

    /// Which tasks sleep after this transition: those that slept before it and are independent of it.
    fn sleepers_after(&self) -> Vec<Sleeper> {
        if !self.fixed {
            return Vec::new();
        }
        let independent =
            |sleeper: &&Sleeper| self.accesses.iter().all(|own| sleeper.is_independent_of(self.chosen, own));
        self.sleep.iter().filter(independent).cloned().collect()
    }

    /// Puts the chosen task to sleep and chooses another one.
    fn next(&mut self) -> bool {
        if self.fixed && !self.sleeps(self.chosen) {
            let accesses = std::mem::take(&mut self.accesses);
            self.sleep.push(Sleeper { task: self.chosen, accesses, objects: self.objects });
        }
        let next = self.enabled.iter().copied().find(|task| !self.tried.contains(task) && !self.sleeps(*task));
        self.chosen = next.unwrap_or(self.chosen);
        self.tried.extend(next);
        next.is_some()
    }
}

impl Sleeper {
    fn is_independent_of(&self, task: TaskId, operation: &Operation) -> bool {
        self.task != task && !self.accesses.iter().any(|own| self.may_depend(own, operation))
    }

    fn may_depend(&self, own: &Operation, other: &Operation) -> bool {
        if own.object.index() < self.objects || other.object.index() < self.objects {
            return own.depends(other);
        }
        // Both may be any object that had not been used, the same one included.
        let waits = |operation: &Operation| matches!(operation.action, Action::Wait(_));
        waits(own) || waits(other) || own.depends(&Operation { object: own.object, ..*other })
    }
}

/// How many objects there are at least.
fn objects_of(pending: &[Pending]) -> usize {
    pending.iter().map(|pending| pending.operation.object.index() + 1).max().unwrap_or(0)
}

fn same_tasks(tasks: &[TaskId], pending: &[Pending]) -> bool {
    tasks.iter().copied().eq(pending.iter().map(|pending| pending.task))
}

#[cfg(test)]
mod tests;
