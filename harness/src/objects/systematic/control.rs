//! When the calls of an execution begin and end.

use std::cell::RefCell;
use std::rc::Rc;

use interloper_scheduler::Event;
use interloper_scheduler::runtime::TaskId;

/// The beginnings and ends of calls.
pub(crate) type Marks = Rc<RefCell<Vec<Mark>>>;

/// A call begins or ends.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(super) task: TaskId,
    /// The number of the call in text order.
    pub(super) call: usize,
    pub(super) begins: bool,
}

/// Where a call stands among the steps of a [`Trace`](super::Trace).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first step after its beginning, or the number of steps if no step followed.
    pub begin: usize,
    /// The same for its end; `None` if it did not return.
    pub end: Option<usize>,
}

/// How often the strategy had been asked when a call began, and when it ended.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(super) begin: usize,
    pub(super) end: Option<usize>,
}

impl Asked {
    /// Whether this call began before the other one ended: a step of some task lies between.
    pub(super) fn begins_before_the_end_of(self, other: Asked) -> bool {
        other.end.is_none_or(|end| self.begin < end)
    }

    pub(super) fn among(self, steps: &[Event]) -> Span {
        let starts: Vec<usize> = (0..steps.len()).filter(|&index| !steps[index].continues).collect();
        let place = |asked: usize| starts.get(asked).copied().unwrap_or(steps.len());
        Span { begin: place(self.begin), end: self.end.map(place) }
    }
}
