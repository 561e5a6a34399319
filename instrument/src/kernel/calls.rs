//! The functions that take the places of those of the C library.
//!
//! Each has the signature of the original: `man 2` describes them. What they do under control is in the modules beside this one;
//! for a descriptor that the running execution did not open, each is the system call.
//!
//! # Safety
//! Each function asks of its caller what the system call of its name asks.

#![allow(clippy::missing_safety_doc, reason = "the head of the module says it for all of them")]

mod bytes;
mod events;
mod files;
mod sockets;

use std::ffi::{c_int, c_uint, c_void};
use std::time::Duration;

use super::descriptors::{self, Kind};
use super::network::Socket;
use bytes::{read, write};
use events::{
    epoll_create1, epoll_ctl, epoll_pwait, epoll_pwait2, epoll_wait, poll, ppoll, timerfd_create, timerfd_settime,
};
use files::{copy_file_range, inotify_add_watch, inotify_init1, inotify_rm_watch, renameat2};
use sockets::{accept4, connect, socket};

use super::system::{self, ECANCELED, Outcome, Time, answer, call, number};
use super::waiting::{self, About, Key, guarded};
use crate::runtime::{self, Verb};

const SOL_SOCKET: c_int = 1;
const SO_DOMAIN: c_int = 39;
const SO_RCVTIMEO: c_int = 20;
const SO_SNDTIMEO: c_int = 21;
const MSG_DONTWAIT: c_int = 0x40;
const MSG_PEEK: c_int = 2;
const SOCK_STREAM: c_int = 1;
const SOCK_DGRAM: c_int = 2;
const F_DUPFD: c_int = 0;
const F_DUPFD_CLOEXEC: c_int = 1030;

fn at<T>(pointer: *const T) -> usize {
    pointer.expose_provenance()
}

fn answer_int(outcome: Outcome) -> c_int {
    answer(outcome) as c_int
}

/// Notes a descriptor that a call has made.
fn made(outcome: Outcome, kind: Kind, key: Option<u64>) -> Outcome {
    if let Ok(descriptor) = outcome
        && runtime::is_controlled()
    {
        descriptors::opened(descriptor as c_int, kind, key);
    }
    outcome
}

/// Who is connected with whom is not known of Unix sockets with names, so steps about all of them depend on each other.
const UNIX: Option<u64> = Some(u64::MAX);

/// Notes both ends of what a call has made.
unsafe fn made_both(outcome: Outcome, ends: *const c_int, streams: bool) -> Outcome {
    if outcome.is_ok() && runtime::is_controlled() {
        // SAFETY: the call has written two descriptors there.
        let (first, second) = unsafe { (*ends, *ends.add(1)) };
        let kind = || if streams { Kind::Bytes { pair: true } } else { Kind::Messages };
        let key = descriptors::opened(first, kind(), None);
        descriptors::opened(second, kind(), Some(key));
    }
    outcome
}

/// What the execution knows of a socket of TCP or UDP.
fn network<R>(descriptor: c_int, use_it: impl FnOnce(&mut Socket) -> R) -> Option<R> {
    descriptors::known(descriptor, |open| match &mut open.kind {
        Kind::Network(socket) => Some(use_it(socket)),
        _ => None,
    })?
}

/// How long calls about a socket wait.
fn limit(descriptor: c_int, option: c_int) -> Option<Duration> {
    let (mut time, mut length) = (Time::default(), size_of::<Time>() as u32);
    let (time_at, length_at) = ((&raw mut time).expose_provenance(), (&raw mut length).expose_provenance());
    let arguments = [descriptor as usize, SOL_SOCKET as usize, option as usize, time_at, length_at];
    // SAFETY: there is room for the time, whose second number is in microseconds here.
    unsafe { call(number::GETSOCKOPT, arguments) }.ok()?;
    let microseconds = u64::try_from(time.nanoseconds).unwrap_or(0);
    let time = Duration::from_secs(u64::try_from(time.seconds).unwrap_or(0)) + Duration::from_micros(microseconds);
    (!time.is_zero()).then_some(time)
}

fn about_bytes(descriptor: c_int, flags: c_int, (verb, option): (Verb, c_int)) -> About {
    let known = descriptors::is_known(descriptor);
    let limit = if known { limit(descriptor, option) } else { None };
    About { descriptor, verb, key: Key::Own, may_wait: flags & MSG_DONTWAIT == 0, limit }
}

fn receiving(descriptor: c_int, flags: c_int) -> About {
    about_bytes(descriptor, flags, (Verb::Receive, SO_RCVTIMEO))
}

fn sending(descriptor: c_int, flags: c_int) -> About {
    about_bytes(descriptor, flags, (Verb::Send, SO_SNDTIMEO))
}

/// A step that does not wait.
fn at_once(descriptor: c_int, verb: Verb) -> About {
    About { descriptor, verb, key: Key::Own, may_wait: false, limit: None }
}

// Descriptors.

#[unsafe(no_mangle)]
unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    let close = || {
        descriptors::closed(descriptor);
        // SAFETY: the caller gives the descriptor up.
        unsafe { call(number::CLOSE, [descriptor as usize]) }
    };
    if !descriptors::is_known(descriptor) {
        let is_locked = descriptors::is_locked(descriptor);
        let closed = close();
        if is_locked {
            let _ = guarded(ECANCELED, descriptors::changed);
        }
        descriptors::files_changed();
        return answer_int(closed);
    }
    let key = descriptors::known(descriptor, |open| open.key);
    let stepped = guarded(ECANCELED, || descriptors::step(Verb::Close, key));
    let closed = close();
    let _ = stepped.and_then(|()| guarded(ECANCELED, descriptors::changed));
    answer_int(closed)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as the caller says.
    let outcome = unsafe { call(number::FCNTL, [descriptor as usize, command as usize, argument]) };
    if let (Ok(copy), F_DUPFD | F_DUPFD_CLOEXEC) = (outcome, command) {
        note_copy(descriptor, copy as c_int);
    }
    answer_int(outcome)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(descriptor: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as the caller says.
    unsafe { fcntl(descriptor, command, argument) }
}

/// A file is the real one, and so is its lock. But the lock lasts no longer than the execution, and a task waits in the scheduler for a lock
/// that the execution itself has.
#[unsafe(no_mangle)]
unsafe extern "C" fn flock(descriptor: c_int, operation: c_int) -> c_int {
    const AT_ONCE: c_int = 4;
    const UNLOCK: c_int = 8;
    // SAFETY: it takes numbers.
    let make = |operation: c_int| unsafe { call(number::FLOCK, [descriptor as usize, operation as usize]) };
    let has_others = descriptors::locks(descriptor);
    let outcome = match operation & (AT_ONCE | UNLOCK) == 0 && has_others {
        true => waiting::file_lock(|| make(operation | AT_ONCE)),
        false => make(operation),
    };
    if operation & UNLOCK != 0 {
        descriptors::unlocked(descriptor);
        let _ = guarded(ECANCELED, descriptors::changed);
    }
    answer_int(outcome)
}

/// The copy of a descriptor is about what the original is about.
fn note_copy(descriptor: c_int, copy: c_int) {
    let known = descriptors::known(descriptor, |open| {
        let kind = match &open.kind {
            Kind::Kernel => Kind::Kernel,
            Kind::Messages => Kind::Messages,
            Kind::Files => Kind::Files,
            Kind::Bytes { pair } => Kind::Bytes { pair: *pair },
            // The kernel's timer is one; the first descriptor has its time.
            Kind::Timer { .. } => Kind::Kernel,
            Kind::Network(socket) => {
                let Socket { v6, datagram, local, peer, ref options } = *socket;
                Kind::Network(Socket { v6, datagram, local, peer, options: options.clone() })
            }
        };
        (kind, open.key)
    });
    if let Some((kind, key)) = known {
        descriptors::opened(copy, kind, Some(key));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe2(ends: *mut c_int, flags: c_int) -> c_int {
    // SAFETY: as the caller says.
    answer_int(unsafe { made_both(call(number::PIPE2, [at(ends), flags as usize]), ends, true) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe(ends: *mut c_int) -> c_int {
    // SAFETY: as the caller says.
    unsafe { pipe2(ends, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int {
    let arguments = [domain as usize, kind as usize, protocol as usize, at(ends)];
    // SAFETY: as the caller says.
    answer_int(unsafe { made_both(call(number::SOCKETPAIR, arguments), ends, kind & 0xf == SOCK_STREAM) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn eventfd(count: c_uint, flags: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::EVENTFD2, [count as usize, flags as usize]) }, Kind::Kernel, None))
}

// The clock of the system. That of durations (`Instant`) is the mirror's: the checker uses the real one.

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Time) -> c_int {
    const CLOCK_REALTIME: c_int = 0;
    let virtual_time = if clock == CLOCK_REALTIME { crate::time::of_system() } else { None };
    let Some(now) = virtual_time else {
        // SAFETY: as the caller says.
        return unsafe { system::clock(clock, time) };
    };
    // SAFETY: as the caller says.
    unsafe { time.write(Time { seconds: now.as_secs() as i64, nanoseconds: i64::from(now.subsec_nanos()) }) };
    0
}

/// What calls the kernel by number: rustix does, for what an old C library may not have.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    let [int_a, int_b, int_c, int_d] = [a, b, c, d].map(|number| number as c_int);
    let pointer = |number: usize| std::ptr::with_exposed_provenance_mut::<c_void>(number);
    // SAFETY: as the caller says.
    unsafe {
        match number {
            number::READ => read(int_a, pointer(b), c) as i64,
            number::WRITE => write(int_a, pointer(b), c) as i64,
            number::CLOSE => i64::from(close(int_a)),
            number::POLL => i64::from(poll(pointer(a), b as u64, int_c)),
            number::SOCKET => i64::from(socket(int_a, int_b, int_c)),
            number::CONNECT => i64::from(connect(int_a, pointer(b), c as u32)),
            number::ACCEPT4 => i64::from(accept4(int_a, pointer(b), pointer(c).cast(), int_d)),
            number::EVENTFD2 => i64::from(eventfd(a as c_uint, int_b)),
            number::PIPE2 => i64::from(pipe2(pointer(a).cast(), int_b)),
            number::PPOLL => i64::from(ppoll(pointer(a), b as u64, pointer(c).cast(), pointer(d))),
            number::EPOLL_CREATE1 => i64::from(epoll_create1(int_a)),
            number::EPOLL_CTL => i64::from(epoll_ctl(int_a, int_b, int_c, pointer(d))),
            number::EPOLL_WAIT => i64::from(epoll_wait(int_a, pointer(b), int_c, int_d)),
            number::EPOLL_PWAIT => i64::from(epoll_pwait(int_a, pointer(b), int_c, int_d, pointer(e))),
            number::EPOLL_PWAIT2 => i64::from(epoll_pwait2(int_a, pointer(b), int_c, pointer(d), pointer(e))),
            number::RENAMEAT2 => i64::from(renameat2(int_a, pointer(b).cast(), int_c, pointer(d).cast(), e as c_uint)),
            number::COPY_FILE_RANGE => {
                copy_file_range(int_a, pointer(b).cast(), int_c, pointer(d).cast(), e, f as c_uint) as i64
            }
            number::INOTIFY_INIT1 => i64::from(inotify_init1(int_a)),
            number::INOTIFY_ADD_WATCH => i64::from(inotify_add_watch(int_a, pointer(b).cast(), c as u32)),
            number::INOTIFY_RM_WATCH => i64::from(inotify_rm_watch(int_a, int_b)),
            number::TIMERFD_CREATE => i64::from(timerfd_create(int_a, int_b)),
            number::TIMERFD_SETTIME => i64::from(timerfd_settime(int_a, int_b, pointer(c), pointer(d))),
            _ => answer(call(number, [a, b, c, d, e, f])) as i64,
        }
    }
}
