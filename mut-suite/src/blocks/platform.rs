//! What the programs are written against: std, mirrored, with blocks.
//!
//! The programs use nothing of the mirror that std lacks, so that the same files can be compiled against another
//! library with this API.

pub(super) use super::beside::beside;
pub(super) use interloper::{atomic, hint, sync, thread};
