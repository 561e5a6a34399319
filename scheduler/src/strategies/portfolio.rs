//! Several strategies that take turns.

use crate::strategy::{Around, Strategy};

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
