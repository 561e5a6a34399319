//! How channels are made.

use std::sync::Arc;
use std::time::Duration;

use interloper_std::runtime;
use interloper_std::time::Instant;

use crate::clock::Clock;
use crate::flow::Flow;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// As [`crossbeam_channel::unbounded`].
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    ends(crossbeam_channel::unbounded())
}

/// As [`crossbeam_channel::bounded`].
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    ends(crossbeam_channel::bounded(cap))
}

fn ends<T>(
    (sender, receiver): (crossbeam_channel::Sender<T>, crossbeam_channel::Receiver<T>),
) -> (Sender<T>, Receiver<T>) {
    let flow = Arc::new(Flow::new(sender.capacity()));
    (Sender::new(sender, flow.clone()), Receiver::of_queue(receiver, flow))
}

/// As [`crossbeam_channel::after`]. Under control the virtual clock says when.
pub fn after(duration: Duration) -> Receiver<Instant> {
    Receiver::of_clock(match runtime::with(|current| current.runtime().now()) {
        None => Clock::real(crossbeam_channel::after(duration)),
        Some(now) => Clock::controlled(now.saturating_add(duration), None),
    })
}

/// As [`crossbeam_channel::at`]. Under control the virtual clock says when.
pub fn at(when: Instant) -> Receiver<Instant> {
    if runtime::is_controlled() {
        after(when.saturating_duration_since(Instant::now()))
    } else {
        Receiver::of_clock(Clock::real(crossbeam_channel::at(when.into())))
    }
}

/// As [`crossbeam_channel::tick`]. Under control the virtual clock says when.
pub fn tick(duration: Duration) -> Receiver<Instant> {
    Receiver::of_clock(match runtime::with(|current| current.runtime().now()) {
        None => Clock::real(crossbeam_channel::tick(duration)),
        Some(now) => Clock::controlled(now.saturating_add(duration), Some(duration)),
    })
}

/// As [`crossbeam_channel::never`].
pub fn never<T>() -> Receiver<T> {
    Receiver::of_never(crossbeam_channel::never())
}
