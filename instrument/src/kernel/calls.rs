//! The functions that take the places of those of the C library.
//!
//! Each has the signature of the original: `man 2` describes them. What they do under control is in the modules beside this one;
//! for a descriptor that the running execution did not open, each is the system call.
//!
//! # Safety
//! Each function asks of its caller what the system call of its name asks.

#![allow(clippy::missing_safety_doc, reason = "the head of the module says it for all of them")]

use std::ffi::{c_int, c_uint, c_void};
use std::net::SocketAddr;
use std::time::Duration;

use super::descriptors::{self, Kind};
use super::network::{self, AF_INET, AF_INET6, Raw, Socket};
use super::system::{
    self, EADDRNOTAVAIL, EAGAIN, ECANCELED, ECONNREFUSED, EDESTADDRREQ, EINVAL, ENETUNREACH, ENOENT, ENOTCONN, Outcome,
    Polled, Time, Timer, answer, call, number,
};
use super::waiting::{self, About, Key, about, guarded};
use crate::runtime::{self, Verb};

const SOL_SOCKET: c_int = 1;
const SO_DOMAIN: c_int = 39;
const SO_RCVTIMEO: c_int = 20;
const SO_SNDTIMEO: c_int = 21;
const MSG_DONTWAIT: c_int = 0x40;
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
unsafe fn made_both(outcome: Outcome, ends: *const c_int) -> Outcome {
    if outcome.is_ok() && runtime::is_controlled() {
        // SAFETY: the call has written two descriptors there.
        let (first, second) = unsafe { (*ends, *ends.add(1)) };
        let key = descriptors::opened(first, Kind::End, None);
        descriptors::opened(second, Kind::End, Some(key));
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

fn moving(descriptor: c_int, flags: c_int, (verb, option): (Verb, c_int)) -> About {
    let known = descriptors::is_known(descriptor);
    let limit = if known { limit(descriptor, option) } else { None };
    About { descriptor, verb, key: Key::Own, may_wait: flags & MSG_DONTWAIT == 0, limit }
}

fn receiving(descriptor: c_int, flags: c_int) -> About {
    moving(descriptor, flags, (Verb::Receive, SO_RCVTIMEO))
}

fn sending(descriptor: c_int, flags: c_int) -> About {
    moving(descriptor, flags, (Verb::Send, SO_SNDTIMEO))
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
        return answer_int(close());
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

/// The copy of a descriptor is about what the original is about.
fn note_copy(descriptor: c_int, copy: c_int) {
    let known = descriptors::known(descriptor, |open| {
        let kind = match &open.kind {
            Kind::Kernel => Kind::Kernel,
            Kind::End => Kind::End,
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
    answer_int(unsafe { made_both(call(number::PIPE2, [at(ends), flags as usize]), ends) })
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
    answer_int(unsafe { made_both(call(number::SOCKETPAIR, arguments), ends) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn eventfd(count: c_uint, flags: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::EVENTFD2, [count as usize, flags as usize]) }, Kind::Kernel, None))
}

// Bytes.

#[unsafe(no_mangle)]
unsafe extern "C" fn read(descriptor: c_int, buffer: *mut c_void, count: usize) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::READ, [descriptor as usize, at(buffer), count]) };
    if descriptors::is_known(descriptor) { answer(about(receiving(descriptor, 0), attempt)) } else { answer(attempt()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readv(descriptor: c_int, buffers: *const c_void, count: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::READV, [descriptor as usize, at(buffers), count as usize]) };
    if descriptors::is_known(descriptor) { answer(about(receiving(descriptor, 0), attempt)) } else { answer(attempt()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(descriptor: c_int, buffer: *const c_void, count: usize) -> isize {
    if network(descriptor, |socket| socket.datagram) == Some(true) {
        // SAFETY: as the caller says.
        return unsafe { sendto(descriptor, buffer, count, 0, std::ptr::null(), 0) };
    }
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::WRITE, [descriptor as usize, at(buffer), count]) };
    if descriptors::is_known(descriptor) { answer(about(sending(descriptor, 0), attempt)) } else { answer(attempt()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(descriptor: c_int, buffers: *const c_void, count: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::WRITEV, [descriptor as usize, at(buffers), count as usize]) };
    if descriptors::is_known(descriptor) { answer(about(sending(descriptor, 0), attempt)) } else { answer(attempt()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(descriptor: c_int, buffer: *mut c_void, count: usize, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    unsafe { recvfrom(descriptor, buffer, count, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    descriptor: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    from: *mut c_void,
    length: *mut u32,
) -> isize {
    let arguments = [descriptor as usize, at(buffer), count, flags as usize];
    let [a, b, c, d] = arguments;
    let Some((datagram, peer)) = network(descriptor, |socket| (socket.datagram, socket.peer)) else {
        // SAFETY: as the caller says.
        let attempt = || unsafe { call(number::RECVFROM, [a, b, c, d, at(from), at(length)]) };
        return answer(about(receiving(descriptor, flags), attempt));
    };
    answer(about(receiving(descriptor, flags), || {
        loop {
            let (mut sender, mut size) = (Raw::EMPTY, 112u32);
            let (room, filled) = (sender.room().expose_provenance(), (&raw mut size).expose_provenance());
            // SAFETY: as the caller says, and there is room for the name of a Unix socket.
            let outcome = unsafe { call(number::RECVFROM, [a, b, c, d, room, filled]) }?;
            let sender = sender.filled(size).named();
            // Who is connected hears from nobody else.
            if datagram && peer.is_some() && peer.map(|peer| peer.port()) != sender.map(|sender| sender.port()) {
                continue;
            }
            if let (true, Some(sender)) = (datagram, sender) {
                // SAFETY: as the caller says.
                unsafe { Raw::of(sender).write(from.cast(), length) };
            }
            return Ok(outcome);
        }
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(descriptor: c_int, buffer: *const c_void, count: usize, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    unsafe { sendto(descriptor, buffer, count, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    descriptor: c_int,
    buffer: *const c_void,
    count: usize,
    flags: c_int,
    to: *const c_void,
    length: u32,
) -> isize {
    let [a, b, c, d] = [descriptor as usize, at(buffer), count, flags as usize];
    let datagram = network(descriptor, |socket| (socket.datagram, socket.v6, socket.peer)).filter(|socket| socket.0);
    let Some((_, v6, peer)) = datagram else {
        // SAFETY: as the caller says.
        let attempt = || unsafe { call(number::SENDTO, [a, b, c, d, at(to), length as usize]) };
        return answer(about(sending(descriptor, flags), attempt));
    };
    let given = if to.is_null() {
        peer.ok_or(EDESTADDRREQ)
    } else {
        // SAFETY: as the caller says.
        unsafe { Raw::read(to.cast(), length as usize) }.address()
    };
    answer(given.and_then(|to| {
        here(to)?;
        bind_if_needed(descriptor)?;
        about(About { key: Key::Port(to.port()), ..sending(descriptor, flags) }, || {
            let name = Raw::name(true, v6, to.port());
            let [name, size] = name.arguments();
            // SAFETY: as the caller says, and the name stands there.
            match unsafe { call(number::SENDTO, [a, b, c, d, name, size]) } {
                // A datagram is lost.
                Err(ECONNREFUSED | ENOENT | EAGAIN) => Ok(count as isize),
                outcome => outcome,
            }
        })
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(descriptor: c_int, message: *mut c_void, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::RECVMSG, [descriptor as usize, at(message), flags as usize]) };
    answer(about(receiving(descriptor, flags), attempt))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(descriptor: c_int, message: *const c_void, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::SENDMSG, [descriptor as usize, at(message), flags as usize]) };
    answer(about(sending(descriptor, flags), attempt))
}

/// std copies with `read` and `write` where the kernel says that it cannot do it itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile64(to: c_int, from: c_int, offset: *mut i64, count: usize) -> isize {
    if descriptors::is_known(to) || descriptors::is_known(from) {
        return answer(Err(EINVAL));
    }
    // SAFETY: as the caller says.
    answer(unsafe { call(number::SENDFILE, [to as usize, from as usize, at(offset), count]) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile(to: c_int, from: c_int, offset: *mut i64, count: usize) -> isize {
    // SAFETY: as the caller says.
    unsafe { sendfile64(to, from, offset, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    count: usize,
    flags: c_uint,
) -> isize {
    if descriptors::is_known(to) || descriptors::is_known(from) {
        return answer(Err(EINVAL));
    }
    let arguments = [from as usize, at(from_offset), to as usize, at(to_offset), count, flags as usize];
    // SAFETY: as the caller says.
    answer(unsafe { call(number::SPLICE, arguments) })
}

// Sockets.

#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let base = kind & 0xf;
    let family = u16::try_from(domain).unwrap_or(0);
    if runtime::is_controlled() && matches!(family, AF_INET | AF_INET6) && matches!(base, SOCK_STREAM | SOCK_DGRAM) {
        const AF_UNIX: usize = 1;
        // SAFETY: it makes a descriptor.
        let outcome = unsafe { call(number::SOCKET, [AF_UNIX, kind as usize, 0]) };
        return answer_int(made(outcome, Kind::Network(Socket::new(family == AF_INET6, base == SOCK_DGRAM)), None));
    }
    // SAFETY: it makes a descriptor.
    let outcome = unsafe { call(number::SOCKET, [domain as usize, kind as usize, protocol as usize]) };
    const AF_UNIX: c_int = 1;
    answer_int(if domain == AF_UNIX { made(outcome, Kind::Kernel, UNIX) } else { outcome })
}

/// Only this host is there. Another one ends the execution with a reason, since what it would answer is not under control.
fn here(address: SocketAddr) -> Result<(), i32> {
    if network::is_here(address.ip()) {
        return Ok(());
    }
    let reason = format!("it connects to {address}, and only connections inside the program are under control");
    guarded(ECANCELED, || runtime::with(|current| current.runtime().fail(reason)))?;
    Err(ENETUNREACH)
}

/// Gives a socket of TCP or UDP its address, and its name.
fn bind_to(descriptor: c_int, v6: bool, datagram: bool, wanted: SocketAddr) -> Outcome {
    if !network::is_here(wanted.ip()) {
        return Err(EADDRNOTAVAIL);
    }
    let mut address = wanted;
    if address.port() == 0 {
        address.set_port(descriptors::fresh_port());
    }
    let name = Raw::name(datagram, v6, address.port());
    let [name, size] = name.arguments();
    // SAFETY: the name stands there.
    let bound = unsafe { call(number::BIND, [descriptor as usize, name, size]) }?;
    network(descriptor, |socket| socket.local = Some(address));
    // Steps about it are about its port from here on: that of a listener, of a connection's client, of a receiver of datagrams.
    descriptors::known(descriptor, |open| open.key = u64::from(address.port()));
    Ok(bound)
}

fn bind_if_needed(descriptor: c_int) -> Outcome {
    let unbound = network(descriptor, |socket| (socket.v6, socket.datagram, socket.local.is_none()));
    match unbound {
        Some((v6, datagram, true)) => {
            bind_to(descriptor, v6, datagram, SocketAddr::new(network::loopback(v6), 0))
        }
        _ => Ok(0),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bind(descriptor: c_int, address: *const c_void, length: u32) -> c_int {
    let Some((v6, datagram)) = network(descriptor, |socket| (socket.v6, socket.datagram)) else {
        // SAFETY: as the caller says.
        return answer_int(unsafe { call(number::BIND, [descriptor as usize, at(address), length as usize]) });
    };
    // SAFETY: as the caller says.
    let wanted = unsafe { Raw::read(address.cast(), length as usize) }.address();
    answer_int(wanted.and_then(|wanted| {
        guarded(ECANCELED, || descriptors::step(Verb::Open, Some(u64::from(wanted.port()))))?;
        bind_to(descriptor, v6, datagram, wanted)
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn listen(descriptor: c_int, backlog: c_int) -> c_int {
    let port = network(descriptor, |socket| socket.local.map(|local| local.port())).flatten();
    // SAFETY: it takes numbers.
    let listen = || unsafe { call(number::LISTEN, [descriptor as usize, backlog as usize]) };
    let Some(port) = port else { return answer_int(listen()) };
    let step = || descriptors::step(Verb::Open, Some(u64::from(port)));
    answer_int(guarded(ECANCELED, step).and_then(|()| listen()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn connect(descriptor: c_int, address: *const c_void, length: u32) -> c_int {
    let known = network(descriptor, |socket| (socket.v6, socket.datagram));
    let about_connect = || About { key: Key::All, may_wait: true, ..at_once(descriptor, Verb::Connect) };
    let Some((v6, datagram)) = known else {
        // SAFETY: as the caller says.
        let attempt = || unsafe { call(number::CONNECT, [descriptor as usize, at(address), length as usize]) };
        return answer_int(about(about_connect(), attempt));
    };
    // SAFETY: as the caller says.
    let wanted = unsafe { Raw::read(address.cast(), length as usize) }.address();
    answer_int(wanted.and_then(|mut peer| {
        here(peer)?;
        if peer.ip().is_unspecified() {
            peer.set_ip(network::loopback(v6));
        }
        bind_if_needed(descriptor)?;
        if datagram {
            network(descriptor, |socket| socket.peer = Some(peer));
            return Ok(0);
        }
        about(about_connect(), || connect_to(descriptor, v6, peer.port()))?;
        network(descriptor, |socket| socket.peer = Some(peer));
        Ok(0)
    }))
}

/// Connects with who listens at a port: with IPv6, or with both, if nobody does with IPv4.
fn connect_to(descriptor: c_int, v6: bool, port: u16) -> Outcome {
    let families: &[bool] = if v6 { &[true] } else { &[false, true] };
    let mut outcome = Err(ECONNREFUSED);
    for family in families {
        let name = Raw::name(false, *family, port);
        let [name, size] = name.arguments();
        // SAFETY: the name stands there.
        outcome = unsafe { call(number::CONNECT, [descriptor as usize, name, size]) };
        if !matches!(outcome, Err(ECONNREFUSED | ENOENT)) {
            return outcome;
        }
    }
    outcome.map_err(|_| ECONNREFUSED)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(descriptor: c_int, address: *mut c_void, length: *mut u32, flags: c_int) -> c_int {
    let listener = network(descriptor, |socket| (socket.v6, socket.local));
    let about_accept = || {
        let limit = if descriptors::is_known(descriptor) { limit(descriptor, SO_RCVTIMEO) } else { None };
        About { may_wait: true, limit, ..at_once(descriptor, Verb::Accept) }
    };
    let Some((v6, local)) = listener else {
        // SAFETY: as the caller says.
        let attempt = || unsafe { call(number::ACCEPT4, [descriptor as usize, at(address), at(length), flags as usize]) };
        let known = descriptors::is_known(descriptor);
        let outcome = about(about_accept(), attempt);
        return answer_int(if known { made(outcome, Kind::Kernel, UNIX) } else { outcome });
    };
    let mut from = None;
    let accepted = about(about_accept(), || {
        let (mut client, mut size) = (Raw::EMPTY, 112u32);
        let (room, filled) = (client.room().expose_provenance(), (&raw mut size).expose_provenance());
        // SAFETY: there is room for the name of a Unix socket.
        let outcome = unsafe { call(number::ACCEPT4, [descriptor as usize, room, filled, flags as usize]) }?;
        from = client.filled(size).named();
        Ok(outcome)
    });
    if let (Ok(accepted), Some(from)) = (accepted, from) {
        let local = local.map(|local| SocketAddr::new(network::loopback(v6), local.port()));
        let socket = Socket { local, peer: Some(from), ..Socket::new(v6, false) };
        // Both ends are one connection: the client has the number of its port, which nobody else has.
        descriptors::opened(accepted as c_int, Kind::Network(socket), Some(u64::from(from.port())));
        // SAFETY: as the caller says.
        unsafe { Raw::of(from).write(address.cast(), length) };
    }
    answer_int(accepted)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    // SAFETY: as the caller says.
    unsafe { accept4(descriptor, address, length, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(descriptor: c_int, how: c_int) -> c_int {
    // SAFETY: it takes numbers.
    let attempt = || unsafe { call(number::SHUTDOWN, [descriptor as usize, how as usize]) };
    answer_int(about(at_once(descriptor, Verb::Close), attempt))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getsockname(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    let Some(told) = network(descriptor, |socket| socket.told(socket.local)) else {
        // SAFETY: as the caller says.
        return answer_int(unsafe { call(number::GETSOCKNAME, [descriptor as usize, at(address), at(length)]) });
    };
    // SAFETY: as the caller says.
    unsafe { Raw::of(told).write(address.cast(), length) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getpeername(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    let Some(peer) = network(descriptor, |socket| socket.peer) else {
        // SAFETY: as the caller says.
        return answer_int(unsafe { call(number::GETPEERNAME, [descriptor as usize, at(address), at(length)]) });
    };
    answer_int(peer.ok_or(ENOTCONN).map(|peer| {
        // SAFETY: as the caller says.
        unsafe { Raw::of(peer).write(address.cast(), length) };
        0
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: u32,
) -> c_int {
    let arguments = [descriptor as usize, level as usize, name as usize, at(value), length as usize];
    // SAFETY: as the caller says.
    let outcome = unsafe { call(number::SETSOCKOPT, arguments) };
    let set = network(descriptor, |socket| {
        // What a Unix socket does not have is remembered.
        if (level != SOL_SOCKET || outcome.is_err()) && length as usize >= size_of::<c_int>() {
            // SAFETY: as the caller says, so many bytes are there.
            socket.options.insert((level, name), unsafe { value.cast::<c_int>().read_unaligned() });
        }
    });
    answer_int(if set.is_some() { Ok(0) } else { outcome })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut u32,
) -> c_int {
    let told = network(descriptor, |socket| match (level, name) {
        (SOL_SOCKET, SO_DOMAIN) => Some(c_int::from(if socket.v6 { AF_INET6 } else { AF_INET })),
        (SOL_SOCKET, _) => socket.options.get(&(level, name)).copied(),
        _ => Some(socket.options.get(&(level, name)).copied().unwrap_or(0)),
    });
    // SAFETY: as the caller says.
    unsafe {
        match told.flatten() {
            Some(told) if *length as usize >= size_of::<c_int>() => {
                value.cast::<c_int>().write_unaligned(told);
                *length = size_of::<c_int>() as u32;
                0
            }
            _ => {
                let arguments = [descriptor as usize, level as usize, name as usize, at(value), at(length)];
                answer_int(call(number::GETSOCKOPT, arguments))
            }
        }
    }
}

// Events.

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::EPOLL_CREATE1, [flags as usize]) }, Kind::Kernel, None))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_create(_size: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    unsafe { epoll_create1(0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(queue: c_int, operation: c_int, descriptor: c_int, event: *mut c_void) -> c_int {
    // SAFETY: as the caller says.
    let attempt =
        || unsafe { call(number::EPOLL_CTL, [queue as usize, operation as usize, descriptor as usize, at(event)]) };
    answer_int(about(at_once(queue, Verb::Open), attempt))
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
    let rounded = timeout.map_or(-1, |timeout| {
        c_int::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
    });
    answer_int(wait(rounded))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(queue: c_int, events: *mut c_void, count: c_int, timeout: c_int) -> c_int {
    epoll(queue, events, count, waiting::milliseconds(timeout), std::ptr::null())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    queue: c_int,
    events: *mut c_void,
    count: c_int,
    timeout: c_int,
    mask: *const c_void,
) -> c_int {
    epoll(queue, events, count, waiting::milliseconds(timeout), mask)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
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
unsafe extern "C" fn poll(polled: *mut c_void, count: u64, timeout: c_int) -> c_int {
    // SAFETY: as the caller says.
    let wait = |timeout: c_int| unsafe { call(number::POLL, [at(polled), count as usize, timeout as usize]) };
    let known = runtime::is_controlled() && {
        // SAFETY: as the caller says.
        let all = (0..count as usize).map(|index| unsafe { polled.cast::<Polled>().add(index).read() });
        all.into_iter().any(|polled| descriptors::is_known(polled.descriptor))
    };
    answer_int(if known { waiting::events(waiting::milliseconds(timeout), || wait(0)) } else { wait(timeout) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    let kind = Kind::Timer { ends: None, interval: Duration::ZERO };
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::TIMERFD_CREATE, [clock as usize, flags as usize]) }, kind, None))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_settime(descriptor: c_int, flags: c_int, new: *const c_void, old: *mut c_void) -> c_int {
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
            number::EPOLL_CREATE1 => i64::from(epoll_create1(int_a)),
            number::EPOLL_CTL => i64::from(epoll_ctl(int_a, int_b, int_c, pointer(d))),
            number::EPOLL_WAIT => i64::from(epoll_wait(int_a, pointer(b), int_c, int_d)),
            number::EPOLL_PWAIT => i64::from(epoll_pwait(int_a, pointer(b), int_c, int_d, pointer(e))),
            number::EPOLL_PWAIT2 => i64::from(epoll_pwait2(int_a, pointer(b), int_c, pointer(d), pointer(e))),
            number::TIMERFD_CREATE => i64::from(timerfd_create(int_a, int_b)),
            number::TIMERFD_SETTIME => i64::from(timerfd_settime(int_a, int_b, pointer(c), pointer(d))),
            _ => answer(call(number, [a, b, c, d, e, f])) as i64,
        }
    }
}
