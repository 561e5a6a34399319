//! What whoever looks at outcomes says to the engine that makes them.

/// What is to be done after a new outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    Continue,
    /// End the run.
    Stop,
}
