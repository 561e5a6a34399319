//! Queues, deques, stacks and priority queues: each is a list of methods, and of what each of them does to a list.

use std::sync::Arc;

use super::list;
use super::methods::{Entry, specification};
use crate::Condition::{Always, Contains, Empty, Never};
use crate::{Condition, End, Invocation, MethodId, Side, Specification, Term, Value};

/// What a method of a sequence does.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// Adds its argument at this end.
    Push(End),
    /// Adds its argument where the order of elements has it; the largest are at the back.
    Insert,
    /// Removes and gives the element at this end.
    Pop(End),
    /// Gives the element at this end.
    Peek(End),
    /// `len()`.
    Len,
    /// `is_empty()`.
    IsEmpty,
    /// `clear()`.
    Clear,
    /// `contains(x)`.
    Contains,
}

/// What the table calls the outermost element at an end, and the one next to it.
pub(super) type Names = fn(End) -> [&'static str; 2];

/// The table of a sequence with one end at which elements are removed.
pub(super) fn table_of_one_end(name: &'static str, entries: &[Entry], roles: &[Role]) -> Specification {
    table(name, entries, roles, |_| ["peek()", "second"]).note("second: what peek() gives after one pop().")
}

/// The table of `entries`, which have these roles.
pub(super) fn table(name: &'static str, entries: &[Entry], roles: &[Role], names: Names) -> Specification {
    let role = |method: MethodId| roles[usize::from(method.0)];
    specification(name, entries.iter().copied(), None, |row, column| {
        let (row, column) = (role(row), role(column));
        let cell = Cell { left: Side::Row, names };
        let turned = Cell { left: Side::Column, names };
        cell.conflict(row, column).or_else(|| turned.conflict(column, row)).unwrap_or(Never)
    })
}

/// Runs a call of a method that has one of these roles; nothing when there is no such method, or not with so many
/// arguments.
pub(super) fn run(roles: &[Role], items: &mut Arc<[Value]>, call: &Invocation) -> Option<Value> {
    let result = match (*roles.get(usize::from(call.method.0))?, call.arguments.as_slice()) {
        (Role::Push(end), [item]) => list::push(items, end, item),
        (Role::Insert, [item]) => list::insert(items, item),
        (Role::Pop(end), []) => list::pop(items, end),
        (Role::Peek(end), []) => list::peek(items, end),
        (Role::Len, []) => Value::Int(items.len() as i64),
        (Role::IsEmpty, []) => Value::Bool(items.is_empty()),
        (Role::Clear, []) => {
            *items = Arc::default();
            Value::Unit
        }
        (Role::Contains, [item]) => Value::Bool(items.contains(item)),
        _ => return None,
    };
    Some(result)
}

/// Two calls, one of which is called the left one here.
struct Cell {
    /// The side of the left one.
    left: Side,
    names: Names,
}

impl Cell {
    /// The condition when the roles are in this order in the list below; two readers are not in it.
    fn conflict(&self, left: Role, right: Role) -> Option<Condition> {
        let condition = match (left, right) {
            (Role::Push(a), Role::Push(b)) if a == b => self.argument().is_not(self.other_argument()),
            (Role::Push(_) | Role::Insert, Role::Push(_) | Role::Insert) => Never,
            (Role::Push(a), Role::Pop(b) | Role::Peek(b)) if a == b => self.outermost(a).is_not(self.argument()),
            (Role::Push(_), Role::Pop(_) | Role::Peek(_)) => Empty,
            (Role::Insert, Role::Pop(End::Back) | Role::Peek(End::Back)) => {
                Empty | self.outermost(End::Back).below(self.argument())
            }
            (Role::Insert, Role::Pop(End::Front) | Role::Peek(End::Front)) => {
                Empty | self.argument().below(self.outermost(End::Front))
            }
            (Role::Push(_) | Role::Insert, Role::Len | Role::Clear) => Always,
            (Role::Push(_) | Role::Insert, Role::IsEmpty) => Empty,
            (Role::Push(_) | Role::Insert, Role::Contains) => {
                self.argument().is(self.other_argument()) & !Contains(self.other_argument())
            }
            (Role::Pop(a), Role::Pop(b) | Role::Peek(b)) if a == b => self.outermost(a).is_not(self.second(a)),
            (Role::Pop(_), Role::Pop(_) | Role::Peek(_) | Role::IsEmpty) => Term::Len.is(Term::integer(1)),
            (Role::Pop(_), Role::Len) => !Empty,
            (Role::Pop(end), Role::Contains) => {
                let sought = || self.other_argument();
                self.outermost(end).is(sought()) & sought().count().is(Term::integer(1))
            }
            (Role::Clear, Role::Clear) => Never,
            (Role::Clear, Role::Pop(_) | Role::Peek(_) | Role::Len | Role::IsEmpty) => !Empty,
            (Role::Clear, Role::Contains) => Contains(self.other_argument()),
            _ => return None,
        };
        Some(condition)
    }

    fn argument(&self) -> Term {
        self.left.argument(0)
    }

    fn other_argument(&self) -> Term {
        self.left.other().argument(0)
    }

    fn outermost(&self, end: End) -> Term {
        Term::Element(end, 0, (self.names)(end)[0])
    }

    fn second(&self, end: End) -> Term {
        Term::Element(end, 1, (self.names)(end)[1])
    }
}
