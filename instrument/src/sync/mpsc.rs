//! Mirrors [`std::sync::mpsc`].
//!
//! Under control, sending and receiving are steps on the channel, and so is dropping an end of it. The messages are in
//! the original, except those of a channel without a buffer.

mod ends;
mod iterators;
mod meeting;

pub use std::sync::mpsc::*;

pub use ends::{Receiver, Sender, SyncSender, channel, sync_channel};
pub use iterators::{IntoIter, Iter, TryIter};
