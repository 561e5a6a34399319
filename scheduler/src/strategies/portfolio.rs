//! Several strategies that take turns.

use interloper_std::runtime::{Operation, TaskId};

use crate::strategy::{Pending, Strategy};
use crate::{Event, Execution, Freedoms};

/// Splits a budget: each execution is made by the next strategy in turn, until all have none left to make.
#[derive(Default)]
pub struct Portfolio<'a> {
    members: Vec<Member<'a>>,
    turn: usize,
}

struct Member<'a> {
    name: &'static str,
    strategy: Box<dyn Strategy + 'a>,
    exhausted: bool,
}

impl<'a> Portfolio<'a> {
    /// A portfolio of nothing.
    pub fn new() -> Portfolio<'a> {
        Portfolio::default()
    }

    /// Adds a strategy.
    pub fn with(mut self, name: &'static str, strategy: impl Strategy + 'a) -> Portfolio<'a> {
        self.members.push(Member { name, strategy: Box::new(strategy), exhausted: false });
        // So that the first one begins.
        self.turn = self.members.len() - 1;
        self
    }

    /// Which strategy makes the present execution, or has made the last one.
    pub fn name(&self) -> Option<&'static str> {
        self.members.get(self.turn).map(|member| member.name)
    }

    fn current(&mut self) -> &mut dyn Strategy {
        &mut *self.members[self.turn].strategy
    }
}

impl Strategy for Portfolio<'_> {
    fn begin(&mut self) -> bool {
        for _ in 0..self.members.len() {
            self.turn = (self.turn + 1) % self.members.len();
            let member = &mut self.members[self.turn];
            member.exhausted = member.exhausted || !member.strategy.begin();
            if !member.exhausted {
                return true;
            }
        }
        false
    }

    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.current().choose(current, pending)
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.current().pick(options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        self.current().freedoms(admitted)
    }

    fn departs(&mut self) -> bool {
        self.current().departs()
    }

    fn wants_marks(&self) -> bool {
        self.members.get(self.turn).is_none_or(|member| member.strategy.wants_marks())
    }

    fn wants_parts(&self) -> bool {
        self.members[self.turn].strategy.wants_parts()
    }

    fn part(&mut self, task: TaskId, operation: Operation) {
        self.current().part(task, operation);
    }

    fn only_read(&mut self, task: TaskId, operation: Operation) {
        self.current().only_read(task, operation);
    }

    fn end(&mut self, execution: &Execution, trace: &[Event]) {
        self.current().end(execution, trace);
    }
}
