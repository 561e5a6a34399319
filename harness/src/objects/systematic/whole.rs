//! Executions in which only some calls are interrupted: every other call runs as one step.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::{Around, Pending, Strategy};

use super::control::{Mark, Marks};
use super::controlled::ControlledProgram;

/// A strategy under which a call, once it has made a step, goes on to its end before another sequence makes a step.
///
/// Where such a call has to wait for another sequence, that one goes on, and the execution does not count.
pub(super) struct Whole<'c, S> {
    strategy: S,
    marks: Marks,
    /// The calls that run as one step.
    calls: &'c BTreeSet<usize>,
    /// The tasks that are in such a call, or before its first step.
    begun: BTreeSet<TaskId>,
    /// The task that has made a step of such a call.
    inside: Option<TaskId>,
    interrupted: Rc<Cell<bool>>,
}

impl<'c, S: Strategy> Whole<'c, S> {
    /// Tells the program of each execution in which such a call was interrupted.
    pub(super) fn new(strategy: S, program: &ControlledProgram, calls: &'c BTreeSet<usize>) -> Whole<'c, S> {
        let (marks, interrupted) = (program.marks(), program.interrupted().clone());
        Whole { strategy, marks, calls, begun: BTreeSet::new(), inside: None, interrupted }
    }

    fn hear(&mut self) {
        for Mark { task, call, begins } in self.marks.take() {
            match (self.calls.contains(&call), begins) {
                (false, _) => {}
                (true, true) => drop(self.begun.insert(task)),
                (true, false) => {
                    self.begun.remove(&task);
                    self.inside = self.inside.filter(|inside| *inside != task);
                }
            }
        }
    }
}

impl<S: Strategy> Around for Whole<'_, S> {
    interloper_scheduler::inner_strategy!(strategy: S);

    fn around_begin(&mut self) -> bool {
        self.marks.take();
        (self.begun, self.inside) = (BTreeSet::new(), None);
        self.interrupted.set(false);
        self.strategy.begin()
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.hear();
        let inside = self.inside.and_then(|inside| pending.iter().position(|pending| pending.task == inside));
        if let Some(inside) = inside {
            // There is nothing to choose: the strategy only sees a step of the task.
            let alone = &pending[inside..=inside];
            self.strategy.choose(current.filter(|current| *current == alone[0].task), alone);
            return inside;
        }
        if self.inside.take().is_some() {
            self.interrupted.set(true);
        }
        let chosen = self.strategy.choose(current, pending);
        self.inside = Some(pending[chosen].task).filter(|task| self.begun.contains(task));
        chosen
    }
}
