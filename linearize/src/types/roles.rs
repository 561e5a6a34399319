//! What a call means to the checkers that need no search ([`crate::distinct`]).

use interloper_commutativity::Value;
use interloper_commutativity::models::{keyed_text, priority_queue, queue, register, set, stack};

use super::{DataType, Gives, Meaning, Signature, agrees};

/// What a call means to the checkers of [`crate::distinct`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Inserts a value into a queue, stack or priority queue; adds an element to a set, which was not there; writes a
    /// register; replaces a text.
    Insert(Value),
    /// Appends a piece to a text.
    Append(Value),
    /// Removes a value.
    Remove(Value),
    /// Finds that there is nothing to remove.
    Empty,
    /// Finds an element in a set, or reads a value in a register or a text.
    Find(Value),
    /// Does not find an element in a set.
    Miss(Value),
    /// A pending call that may insert or remove this element.
    Unknown(Value),
    /// A pending call that removes what it finds.
    UnknownRemoval,
    /// A pending call that changes nothing.
    Nothing,
    /// Something else.
    Other,
}

/// The kinds of objects that have a checker of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// See [`crate::distinct::queue`].
    Queue,
    /// See [`crate::distinct::stack`].
    Stack,
    /// See [`crate::distinct::priority_queue`]; the least value in the order of [`Value`] leaves first.
    PriorityQueue,
    /// See [`crate::distinct::set`].
    Set,
    /// See [`crate::distinct::register`]; it holds `none` first.
    Register,
    /// See [`crate::distinct::text`]: each part of the object is a text that is empty at first.
    Texts,
}

impl DataType {
    /// The role of a call; `result` is `None` while the call is pending.
    pub fn role(&self, signature: &Signature, arguments: &[Value], result: Option<&Value>) -> Role {
        if signature.reads && result.is_none() {
            return Role::Nothing;
        }
        let (Some(family), Meaning::Method(method, gives)) = (self.family, signature.meaning) else {
            return Role::Other;
        };
        match (family, method) {
            (Family::Queue, queue::PUSH)
            | (Family::Stack, stack::PUSH)
            | (Family::PriorityQueue, priority_queue::PUSH) => insertion(gives, &arguments[0], result),
            (Family::Queue, queue::POP)
            | (Family::Stack, stack::POP)
            | (Family::PriorityQueue, priority_queue::POP) => removal(gives, result),
            (Family::Set, _) => of_set(signature, arguments, result),
            // Writing the first content again would write a value twice.
            (Family::Register, register::STORE) => insertion(gives, &arguments[0], result),
            (Family::Register, register::LOAD) => result.cloned().map_or(Role::Nothing, Role::Find),
            (Family::Texts, keyed_text::PUT) if is_usual(gives, result) => Role::Insert(arguments[1].clone()),
            (Family::Texts, keyed_text::APPEND) if is_usual(gives, result) => Role::Append(arguments[1].clone()),
            (Family::Texts, keyed_text::GET) => match result {
                Some(text @ Value::Text(_)) => Role::Find(text.clone()),
                _ => Role::Other,
            },
            _ => Role::Other,
        }
    }
}

/// Whether a call that returns the same whenever it succeeds has returned that, or is pending.
fn is_usual(gives: Gives, result: Option<&Value>) -> bool {
    let usual = if matches!(gives, Gives::True) { Value::Bool(true) } else { Value::Unit };
    result.is_none_or(|result| agrees(&usual, result))
}

/// A null result of a removal is no element, so a null element is not allowed either.
fn insertion(gives: Gives, item: &Value, result: Option<&Value>) -> Role {
    if !item.is_none() && is_usual(gives, result) { Role::Insert(item.clone()) } else { Role::Other }
}

fn removal(gives: Gives, result: Option<&Value>) -> Role {
    let Some(result) = result else { return Role::UnknownRemoval };
    match gives {
        // No history shows that `take` waits.
        Gives::Content(super::Absent::Error("blocks")) if matches!(result, Value::Variant(_)) => Role::Other,
        Gives::Content(absent) if *result == absent.value() => Role::Empty,
        _ => Role::Remove(result.clone()),
    }
}

fn of_set(signature: &Signature, arguments: &[Value], result: Option<&Value>) -> Role {
    let (Meaning::Method(method, _), [item]) = (signature.meaning, arguments) else { return Role::Other };
    match (method, result) {
        (set::INSERT, Some(Value::Bool(true))) => Role::Insert(item.clone()),
        (set::REMOVE, Some(Value::Bool(true))) => Role::Remove(item.clone()),
        (set::INSERT, Some(Value::Bool(false))) | (set::CONTAINS, Some(Value::Bool(true))) => Role::Find(item.clone()),
        (set::REMOVE | set::CONTAINS, Some(Value::Bool(false))) => Role::Miss(item.clone()),
        (set::INSERT | set::REMOVE, None) => Role::Unknown(item.clone()),
        _ => Role::Other,
    }
}
