//! Looking at a program from outside.

/// An atomic, as it is seen by whoever looks at a controlled program from outside: a judge, not a task.
pub trait Peek {
    /// What is in it.
    type Value;

    /// What is there, in a static that of the running execution; where memory is weak, the newest value. Not a step.
    fn peek(&self) -> Self::Value;
}
