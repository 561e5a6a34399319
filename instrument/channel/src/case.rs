//! What an end of a channel does for a selection.

use std::sync::Arc;
use std::time::Duration;

use interloper_std::runtime::{Action, Current, ObjectId, Place};

use crate::wait::Token;

/// An operation under control.
pub(crate) trait Case {
    /// A step on the channel.
    fn step(&self, current: &Current<'_>, action: Action, location: Place) -> ObjectId;

    /// Whether the operation can be completed: part of a step.
    fn is_ready(&self, current: &Current<'_>, token: &Arc<Token>) -> bool;

    /// Promises to the selection what it needs to complete the operation, if it is ready: part of a step.
    fn reserve(&self, current: &Current<'_>, token: &Arc<Token>) -> bool;

    /// The selection waits for a change; with a `case`, also to be met.
    fn enlist(&self, current: &Current<'_>, token: &Arc<Token>, case: Option<usize>);

    /// Ends the wait.
    fn delist(&self, token: &Arc<Token>);

    /// The time until the operation is ready by itself.
    fn left(&self, current: &Current<'_>) -> Option<Duration>;

    /// Where the end of the channel is.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
