//! A mirror of [`crossbeam_channel`] whose visible steps go through a [`runtime`](interloper_std::runtime).
//!
//! Outside a controlled run the channels are crossbeam's own. Under control sending, receiving and dropping an end are
//! steps on the channel; a change of the channel wakes the waiting tasks; a clock's channel follows the virtual clock.
//!
//! ```
//! use interloper_channel::{bounded, select, unbounded};
//!
//! let (sender, receiver) = bounded(1);
//! let (_other, never) = unbounded::<&str>();
//! sender.send(5).unwrap();
//! let seen = select! {
//!     recv(receiver) -> message => message.unwrap(),
//!     recv(never) -> message => message.unwrap().len(),
//! };
//! assert_eq!(seen, 5);
//! ```
//!
//! # Selecting
//!
//! When several operations are ready, the run chooses one ([`Select::new_biased`]: the first). Under control a
//! selection looks at each of its channels in a step of its own.
//!
//! # Limits
//!
//! - Points in time are those of the mirror of std: [`interloper_std::time::Instant`].
//! - A channel of [`after`], [`at`] or [`tick`] belongs to the place where it was made, inside or outside a controlled
//!   run.
//! - In [`select!`] the arms are separated by commas, unless they are blocks, and a block is a whole arm.

#![warn(missing_docs)]
#![allow(unexpected_cfgs, reason = "`cargo interloper` sets one")]

/// The originals, which are under control themselves: see `cargo interloper`.
#[cfg(interloper_real_channels)]
pub use crossbeam_channel::*;

#[cfg(not(interloper_real_channels))]
mod case;
mod clock;
#[cfg(not(interloper_real_channels))]
mod constructors;
#[cfg(not(interloper_real_channels))]
mod flow;
#[cfg(not(interloper_real_channels))]
mod iterators;
#[cfg(not(interloper_real_channels))]
mod macros;
#[cfg(not(interloper_real_channels))]
mod meeting;
#[cfg(not(interloper_real_channels))]
mod receiver;
#[cfg(not(interloper_real_channels))]
mod select;
#[cfg(not(interloper_real_channels))]
mod sender;
mod wait;

#[cfg(not(interloper_real_channels))]
pub use crossbeam_channel::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError, SendTimeoutError, TryReadyError,
    TryRecvError, TrySelectError, TrySendError,
};

#[cfg(not(interloper_real_channels))]
pub use constructors::{after, at, bounded, never, tick, unbounded};
#[cfg(not(interloper_real_channels))]
pub use iterators::{IntoIter, Iter, TryIter};
#[cfg(not(interloper_real_channels))]
pub use receiver::Receiver;
#[cfg(not(interloper_real_channels))]
pub use select::{Select, SelectedOperation};
#[cfg(not(interloper_real_channels))]
pub use sender::Sender;
