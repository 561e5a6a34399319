//! Several strategies that take turns.

use crate::strategy::{Around, Strategy};

/// Splits a budget: the strategies take turns with the executions, until no strategy has an execution left.
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
    /// A portfolio without strategies.
    pub fn new() -> Portfolio<'a> {
        Portfolio::default()
    }

    /// Adds a strategy.
    pub fn with(mut self, name: &'static str, strategy: impl Strategy + 'a) -> Portfolio<'a> {
        self.members.push(Member { name, strategy: Box::new(strategy), exhausted: false });
        // So that the first strategy begins.
        self.turn = self.members.len() - 1;
        self
    }

    /// The strategy of the current or last execution.
    pub fn name(&self) -> Option<&'static str> {
        self.members.get(self.turn).map(|member| member.name)
    }
}

impl<'a> Around for Portfolio<'a> {
    type Inner = dyn Strategy + 'a;

    /// # Panics
    /// When there is no strategy: then there is no execution either.
    fn inner(&self) -> &(dyn Strategy + 'a) {
        &*self.members[self.turn].strategy
    }

    fn inner_mut(&mut self) -> &mut (dyn Strategy + 'a) {
        &mut *self.members[self.turn].strategy
    }

    fn around_begin(&mut self) -> bool {
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
}
