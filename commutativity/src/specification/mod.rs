//! When two operations do not commute.

mod condition;
mod evaluate;
mod table;

pub use condition::{Condition, End, Scan, Side, Term};
pub use table::Table;

use crate::{Invocation, MethodId, Model, Value};

/// Whether two calls commute from `state`: both orders give each call the same result and end in the same state
/// (COLT, section 3.3).
pub fn commute(model: &dyn Model, state: &Value, first: &Invocation, second: &Invocation) -> bool {
    let run = |one: &Invocation, other: &Invocation| {
        let mut state = state.clone();
        let result_of_one = model.apply(&mut state, one);
        let result_of_other = model.apply(&mut state, other);
        (result_of_one, result_of_other, state)
    };
    let (a1, b1, end1) = run(first, second);
    let (b2, a2, end2) = run(second, first);
    a1 == a2 && b1 == b2 && end1 == end2
}

/// A non-commutativity table as in Figure 5 of COLT: for each ordered pair of methods the [`Condition`] on arguments
/// and state under which calls of the two do *not* commute.
///
/// As in the paper, a cell of two methods that act on one key speaks of the same key; on different keys they commute.
#[derive(Clone, Debug)]
pub struct Specification {
    name: &'static str,
    methods: Vec<Signature>,
    /// Row by row; as many rows and columns as there are methods.
    cells: Vec<Condition>,
    notes: Vec<String>,
}

/// A method as the table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name.
    pub name: &'static str,
    /// What its parameters are called.
    pub parameters: &'static [&'static str],
    /// Whether the first parameter is the one key that the method acts on.
    pub keyed: bool,
}

impl Specification {
    /// The table called `name` of these methods, in the order of their [`MethodId`]s.
    ///
    /// `conflict` gives the condition for a row and a column that is not before it; the others follow, since the
    /// relation is symmetric.
    pub fn new(
        name: &'static str,
        methods: Vec<Signature>,
        conflict: impl Fn(MethodId, MethodId) -> Condition,
    ) -> Specification {
        let ids = || (0..).map(MethodId).zip(&methods).map(|(id, _)| id);
        let cell = |row, column| if row <= column { conflict(row, column) } else { conflict(column, row).transposed() };
        let cells = ids().flat_map(|row| ids().map(move |column| (row, column))).map(|(r, c)| cell(r, c)).collect();
        Specification { name, methods, cells, notes: Vec::new() }
    }

    /// The same table with a sentence more below it.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Specification {
        self.notes.push(note.into());
        self
    }

    /// The same table with another condition for this pair, in both orders.
    ///
    /// # Panics
    /// When a method is not one of the table.
    #[must_use]
    pub fn with(mut self, row: MethodId, column: MethodId, condition: Condition) -> Specification {
        let (there, back) = (self.index(row, column), self.index(column, row));
        self.cells[back] = condition.transposed();
        self.cells[there] = condition;
        self
    }

    /// The condition under which calls of `row` and `column` do not commute; for two methods that act on one key, given
    /// that it is the same.
    ///
    /// # Panics
    /// When a method is not one of the table.
    pub fn condition(&self, row: MethodId, column: MethodId) -> &Condition {
        &self.cells[self.index(row, column)]
    }

    /// Whether two calls do not commute from `state`.
    ///
    /// # Panics
    /// When a method is not one of the table.
    pub fn conflicts(&self, state: &Value, row: &Invocation, column: &Invocation) -> bool {
        let keyed = |call: &Invocation| self.methods[usize::from(call.method.0)].keyed;
        if keyed(row) && keyed(column) && row.arguments.first() != column.arguments.first() {
            return false;
        }
        self.condition(row.method, column.method).holds(state, &row.arguments, &column.arguments)
    }

    fn index(&self, row: MethodId, column: MethodId) -> usize {
        let (row, column) = (usize::from(row.0), usize::from(column.0));
        assert!(row < self.methods.len() && column < self.methods.len(), "{} has no such method", self.name);
        row * self.methods.len() + column
    }
}
