//! The calls of the types that have a construction.

/// A value of a history: equal values have equal numbers. For priority queues the order of the numbers is the order in
/// which values leave the queue.
pub type ValueId = u32;

/// A call of a queue, a stack or a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionCall {
    /// Inserts a value.
    Insert(ValueId),
    /// Removes a value.
    Remove(ValueId),
    /// A removal that finds nothing.
    Empty,
    /// A pending call that removes what it finds, if it takes effect.
    UnknownRemoval,
}

/// A call of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCall {
    /// The element that the call is about.
    pub value: ValueId,
    /// What the call does.
    pub action: SetAction,
}

/// What a call of a set does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAction {
    /// Adds the element, which was not there.
    Add,
    /// Removes the element, which was there.
    Remove,
    /// Finds the element: a test that says so, an addition of an element that is there already.
    Find,
    /// Does not find the element: a test that says so, a removal of an element that is not there.
    Miss,
    /// A pending addition or removal.
    Unknown,
}

/// A call of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterCall {
    /// Writes a value.
    Write(ValueId),
    /// Reads a value.
    Read(ValueId),
    /// Reads what the register held at the start of the history.
    ReadInitial,
}

/// A call of a text, which is empty at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextCall<'t> {
    /// Replaces the text.
    Put(&'t str),
    /// Appends a piece.
    Append(&'t str),
    /// Reads the text.
    Read(&'t str),
}

/// The construction does not know the answer for these calls: a value is inserted twice, or pending calls may have
/// removed too many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotApplicable;
