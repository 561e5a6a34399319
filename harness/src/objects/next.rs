//! The answer of a function that looks at outcomes to the engine that produces them.

/// What is to be done after a new outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    Continue,
    /// End the run.
    Stop,
}
