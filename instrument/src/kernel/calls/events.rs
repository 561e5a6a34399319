//! Event loops and timers.

use super::{answer_int, at, at_once, made};
use crate::kernel::descriptors::{self, Event, Kind};
use crate::kernel::system::{EINVAL, Polled, Time, Timer, answer, call, number};
use crate::kernel::waiting::{self, about};
use crate::runtime::{self, Verb};
use std::ffi::{c_int, c_void};
use std::time::Duration;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::EPOLL_CREATE1, [flags as usize]) }, Kind::Kernel, None))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_create(_size: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    unsafe { epoll_create1(0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_ctl(
    queue: c_int,
    operation: c_int,
    descriptor: c_int,
    event: *mut c_void,
) -> c_int {
    // SAFETY: as the caller says.
    let attempt =
        || unsafe { call(number::EPOLL_CTL, [queue as usize, operation as usize, descriptor as usize, at(event)]) };
    let outcome = about(at_once(queue, Verb::Open), attempt);
    if outcome.is_ok() {
        const FORGET: c_int = 2;
        // SAFETY: the kernel has read the event.
        let event = (operation != FORGET).then(|| unsafe { event.cast::<Event>().read_unaligned() });
        descriptors::watched(descriptor, queue, event);
    }
    answer_int(outcome)
}

fn epoll(queue: c_int, events: *mut c_void, count: c_int, timeout: Option<Duration>, mask: *const c_void) -> c_int {
    let wait = |milliseconds: c_int| {
        let arguments = [queue as usize, at(events), count as usize, milliseconds as usize, at(mask), 8];
        // SAFETY: as the caller of `epoll_wait` says.
        unsafe { call(number::EPOLL_PWAIT, arguments) }
    };
    if descriptors::is_known(queue) {
        return answer_int(waiting::events(timeout, || wait(0)));
    }
    // Rounded up: who waits for a microsecond must not spin.
    let rounded =
        timeout.map_or(-1, |timeout| c_int::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX));
    answer_int(wait(rounded))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_wait(queue: c_int, events: *mut c_void, count: c_int, timeout: c_int) -> c_int {
    epoll(queue, events, count, waiting::milliseconds(timeout), std::ptr::null())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_pwait(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    timeout: c_int,
    mask: *const c_void,
) -> c_int {
    epoll(queue, events, count, waiting::milliseconds(timeout), mask)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn epoll_pwait2(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    timeout: *const c_void,
    mask: *const c_void,
) -> c_int {
    // SAFETY: as the caller says.
    let timeout = (!timeout.is_null()).then(|| unsafe { timeout.cast::<Time>().read_unaligned() }.duration());
    epoll(queue, events, count, timeout, mask)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn poll(polled: *mut c_void, count: u64, timeout: c_int) -> c_int {
    // SAFETY: as the caller says.
    let wait = |timeout: c_int| unsafe { call(number::POLL, [at(polled), count as usize, timeout as usize]) };
    // SAFETY: as the caller says.
    let known = runtime::is_controlled() && unsafe { knows_any(polled.cast(), count) };
    answer_int(if known { waiting::events(waiting::milliseconds(timeout), || wait(0)) } else { wait(timeout) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn ppoll(
    polled: *mut c_void,
    count: u64,
    timeout: *const Time,
    mask: *const c_void,
) -> c_int {
    // SAFETY: as the caller says.
    let limit = (!timeout.is_null()).then(|| unsafe { timeout.read() }.duration());
    // SAFETY: as the caller says.
    if runtime::is_controlled() && unsafe { knows_any(polled.cast(), count) } {
        // SAFETY: as the caller says.
        let wait = || unsafe { call(number::POLL, [at(polled), count as usize, 0]) };
        return answer_int(waiting::events(limit, wait));
    }
    // The kernel writes what is left of the time into the time.
    let mut left =
        limit.map(|limit| Time { seconds: limit.as_secs() as i64, nanoseconds: i64::from(limit.subsec_nanos()) });
    let left = left.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: as the caller says.
    answer_int(unsafe { call(number::PPOLL, [at(polled), count as usize, at(left), at(mask), 8]) })
}

/// Whether the running execution has opened one of these descriptors, and no other process has the other end of any.
///
/// # Safety
/// There are `count` of them.
unsafe fn knows_any(polled: *const Polled, count: u64) -> bool {
    // SAFETY: as the caller says.
    let all = (0..count as usize).map(|index| unsafe { polled.add(index).read() }.descriptor);
    all.clone().any(descriptors::is_known) && !all.clone().any(descriptors::is_outside)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    let kind = Kind::Timer { ends: None, interval: Duration::ZERO };
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::TIMERFD_CREATE, [clock as usize, flags as usize]) }, kind, None))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn timerfd_settime(
    descriptor: c_int,
    flags: c_int,
    new: *const c_void,
    old: *mut c_void,
) -> c_int {
    const ABSOLUTE: c_int = 1;
    let timer = descriptors::known(descriptor, |open| matches!(open.kind, Kind::Timer { .. })).unwrap_or(false);
    if !timer {
        // SAFETY: as the caller says.
        return answer_int(unsafe {
            call(number::TIMERFD_SETTIME, [descriptor as usize, flags as usize, at(new), at(old)])
        });
    }
    if flags & ABSOLUTE != 0 {
        // The clock of the kernel is not that of the program.
        return answer(Err(EINVAL)) as c_int;
    }
    // SAFETY: as the caller says.
    let wanted = unsafe { new.cast::<Timer>().read_unaligned() };
    if !old.is_null() {
        // SAFETY: as the caller says. That a timer was not set is what all that ask for it can bear.
        unsafe { old.cast::<Timer>().write_unaligned(Timer::default()) };
    }
    let off = Timer::default();
    answer_int(about(at_once(descriptor, Verb::Open), || {
        let value = wanted.value.duration();
        let now = waiting::later(value);
        descriptors::known(descriptor, |open| {
            open.kind = Kind::Timer { ends: now.filter(|_| !value.is_zero()), interval: wanted.interval.duration() };
        });
        // SAFETY: the time stands there. What has ended before is forgotten.
        unsafe { call(number::TIMERFD_SETTIME, [descriptor as usize, 0, at(&raw const off), 0]) }
    }))
}
