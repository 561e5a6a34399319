//! Waits: for one descriptor, or for the first of several.

use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use super::descriptors::{self, Kind, Waits};
use super::system::{self, EAGAIN, ECONNRESET, Outcome, POLLIN, POLLOUT, Polled, Time, Timer, number};
use crate::runtime::{self, Verb};

/// Calls the runtime. An execution that has ended unwinds its tasks, which no function of C can let through: it fails with
/// `interrupted` instead, and its caller is unwound at its next step.
pub(super) fn guarded<R>(interrupted: c_int, body: impl FnOnce() -> R) -> Result<R, c_int> {
    panic::catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        if !runtime::is_abort(&*payload) {
            // A panic of the runtime itself: it cannot go on.
            std::process::abort();
        }
        interrupted
    })
}

/// How a wait for a change ended.
#[derive(PartialEq, Eq)]
enum Ended {
    Changed,
    TimedOut,
}

/// Waits until something has changed, or the virtual clock is at `until`. Then the task makes the step again.
fn wait(verb: Verb, key: Option<u64>, until: Option<Duration>) -> Ended {
    let Some(then) = descriptors::operation(verb, key) else { return Ended::TimedOut };
    runtime::with(|current| {
        let runtime = current.runtime();
        let first = until.into_iter().chain(descriptors::first_timer()).min();
        let left = first.map(|first| first.saturating_sub(runtime.now()));
        if left.is_none_or(|left| !left.is_zero()) {
            let _waits = Waits::begin();
            runtime.block(then.object, left, then);
        }
        let now = runtime.now();
        fire(now);
        if until.is_some_and(|until| until <= now) { Ended::TimedOut } else { Ended::Changed }
    })
    .unwrap_or(Ended::TimedOut)
}

/// Lets the kernel's timers end that have ended on the virtual clock.
fn fire(now: Duration) {
    let ended = descriptors::ended_timers(now);
    for &descriptor in &ended {
        let soon = Timer { value: Time { seconds: 0, nanoseconds: 1 }, ..Timer::default() };
        let mut polled = Polled { descriptor, events: POLLIN, found: 0 };
        // SAFETY: the timer and the descriptor stand here. The wait ends after a nanosecond, when the timer does.
        unsafe {
            let set = [descriptor as usize, 0, (&raw const soon).expose_provenance(), 0];
            let _ = system::call(number::TIMERFD_SETTIME, set);
            let _ = system::call(number::POLL, [(&raw mut polled).expose_provenance(), 1, usize::MAX]);
        }
    }
    if !ended.is_empty() {
        descriptors::changed();
    }
}

/// The virtual time, a duration from now.
pub(super) fn later(duration: Duration) -> Option<Duration> {
    runtime::with(|current| current.runtime().now().saturating_add(duration))
}

/// What the step of a call is about.
#[derive(Clone, Copy)]
pub(super) enum Key {
    /// What its descriptor is about.
    Own,
    /// A port.
    Port(u16),
    /// Everything.
    All,
}

/// What a call about one descriptor does.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) descriptor: c_int,
    pub(super) verb: Verb,
    pub(super) key: Key,
    /// Whether the call may wait if the descriptor does.
    pub(super) may_wait: bool,
    /// How long, if not for ever.
    pub(super) limit: Option<Duration>,
}

/// A call that moves bytes, of at most `count`: as [`about`]. `attempt` is told how many at most.
pub(super) fn moving(moves: About, count: usize, mut attempt: impl FnMut(usize) -> Outcome) -> Outcome {
    let is_stream = |open: &mut descriptors::Open| match &open.kind {
        Kind::Bytes { .. } => true,
        Kind::Network(socket) => !socket.datagram,
        _ => false,
    };
    let may_be_short = count > 1 && descriptors::known(moves.descriptor, is_stream) == Some(true);
    let mut most = None;
    let mut network = Network::of(moves);
    about(moves, || {
        if let Some(error) = network.as_mut().and_then(|network| network.fails(moves)) {
            return Err(error);
        }
        // Decided when there is something to move.
        if may_be_short && most.is_none() && is_ready(moves.descriptor, moves.verb) {
            let is_short = runtime::with(|current| current.runtime().is_short()).unwrap_or(false);
            most = Some(if is_short { 1 } else { count });
        }
        let outcome = attempt(most.unwrap_or(count));
        // What was left behind arrives later: epoll(7) promises that a short read or write has come to the end of what there is,
        // so that a program may wait for the next event then.
        if most == Some(1) && count > 1 && outcome.is_ok() {
            descriptors::arrives_again(moves.descriptor);
        }
        outcome
    })
}

/// What the network may do to a read or a write, besides cutting it short.
struct Network {
    /// Whether it is over a connection, which can be reset.
    is_connection: bool,
    /// Whether what is read may come later.
    may_be_late: bool,
    was_asked: bool,
}

impl Network {
    fn of(moves: About) -> Option<Network> {
        let datagram = |open: &mut descriptors::Open| match &open.kind {
            Kind::Network(socket) => Some(socket.datagram),
            _ => None,
        };
        let datagram = descriptors::known(moves.descriptor, datagram)??;
        let waits = moves.may_wait && system::waits(moves.descriptor);
        let may_be_late = matches!(moves.verb, Verb::Receive) && !waits;
        Some(Network { is_connection: !datagram, may_be_late, was_asked: false })
    }

    /// Why nothing is moved now. It is decided once, when there is something to move.
    fn fails(&mut self, moves: About) -> Option<c_int> {
        if self.is_connection && descriptors::is_reset(moves.descriptor) {
            return Some(ECONNRESET);
        }
        if self.was_asked || !is_ready(moves.descriptor, moves.verb) {
            return None;
        }
        self.was_asked = true;
        if self.is_connection && runtime::with(|current| current.runtime().is_reset()) == Some(true) {
            descriptors::reset(moves.descriptor);
            return Some(ECONNRESET);
        }
        if self.may_be_late && runtime::with(|current| current.runtime().is_late()) == Some(true) {
            descriptors::arrives_again(moves.descriptor);
            return Some(EAGAIN);
        }
        None
    }
}

/// A call about one descriptor of the running execution: a step, retried until the descriptor is ready.
pub(super) fn about(about: About, mut attempt: impl FnMut() -> Outcome) -> Outcome {
    let About { descriptor, verb, key, may_wait, limit } = about;
    let Some(own) = descriptors::known(descriptor, |open| open.key) else {
        let outcome = attempt();
        // It may be a file, of which others are told when it is written to.
        descriptors::files_changed();
        return outcome;
    };
    if descriptors::is_outside(descriptor) && !is_ready(descriptor, verb) {
        return attempt();
    }
    let key = match key {
        Key::Own => Some(own),
        Key::Port(port) => Some(u64::from(port)),
        Key::All => None,
    };
    let waits = may_wait && system::waits(descriptor);
    guarded(system::ECANCELED, || {
        descriptors::step(verb, key);
        let until = limit.and_then(later);
        loop {
            let outcome = if waits { system::at_once(descriptor, &mut attempt) } else { attempt() };
            match outcome {
                Err(EAGAIN) if waits => {
                    if wait(verb, key, until) == Ended::TimedOut {
                        return Err(EAGAIN);
                    }
                }
                Err(EAGAIN) => {
                    runtime::with(|current| current.runtime().only_read());
                    return outcome;
                }
                _ => {
                    descriptors::changed();
                    return outcome;
                }
            }
        }
    })?
}

/// Whether the kernel would answer a call about the descriptor at once, if only that it is at its end.
fn is_ready(descriptor: c_int, verb: Verb) -> bool {
    system::is_ready(descriptor, if matches!(verb, Verb::Send) { POLLOUT } else { POLLIN })
}

/// A wait for the first of several events. `look` asks the kernel without waiting.
pub(super) fn events(timeout: Option<Duration>, mut look: impl FnMut() -> Outcome) -> Outcome {
    guarded(system::EINTR, || {
        descriptors::step(Verb::Await, None);
        let until = timeout.and_then(later);
        loop {
            match look()? {
                0 if timeout.is_some_and(|timeout| timeout.is_zero()) => {
                    runtime::with(|current| current.runtime().only_read());
                    return Ok(0);
                }
                0 => {
                    if wait(Verb::Await, None, until) == Ended::TimedOut {
                        return look();
                    }
                }
                found => return Ok(found),
            }
        }
    })?
}

/// A wait for the lock of a file, which `attempt` takes if that is possible at once.
pub(super) fn file_lock(mut attempt: impl FnMut() -> Outcome) -> Outcome {
    guarded(system::EINTR, || {
        loop {
            match attempt() {
                Err(EAGAIN) => wait(Verb::Await, None, None),
                outcome => return outcome,
            };
        }
    })?
}

/// A time-out in milliseconds, as `poll` and `epoll_wait` have it.
pub(super) fn milliseconds(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}
