//! Addresses and connections.

use super::{
    SO_DOMAIN, SO_RCVTIMEO, SOCK_DGRAM, SOCK_STREAM, SOL_SOCKET, UNIX, answer_int, at, at_once, limit, made, network,
};
use crate::kernel::descriptors::{self, Kind};
use crate::kernel::network::{AF_INET, AF_INET6, Raw, Socket, is_here, loopback};
use crate::kernel::system::{
    EADDRNOTAVAIL, ECANCELED, ECONNREFUSED, ENETUNREACH, ENOENT, ENOTCONN, Outcome, call, number,
};
use crate::kernel::waiting::{About, Key, about, guarded};
use crate::runtime::{self, Verb};
use std::ffi::{c_int, c_void};
use std::net::SocketAddr;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
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
    let kind = if base == SOCK_STREAM { Kind::Bytes { pair: false } } else { Kind::Kernel };
    answer_int(if domain == AF_UNIX { made(outcome, kind, UNIX) } else { outcome })
}

/// Only this host is there. Another one ends the execution with a reason, since what it would answer is not under control.
pub(super) fn here(address: SocketAddr) -> Result<(), i32> {
    if is_here(address.ip()) {
        return Ok(());
    }
    let reason = format!("it connects to {address}, and only connections inside the program are under control");
    guarded(ECANCELED, || runtime::with(|current| current.runtime().fail(reason)))?;
    Err(ENETUNREACH)
}

/// Gives a socket of TCP or UDP its address, and its name.
fn bind_to(descriptor: c_int, v6: bool, datagram: bool, wanted: SocketAddr) -> Outcome {
    if !is_here(wanted.ip()) {
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

pub(super) fn bind_if_needed(descriptor: c_int) -> Outcome {
    let unbound = network(descriptor, |socket| (socket.v6, socket.datagram, socket.local.is_none()));
    match unbound {
        Some((v6, datagram, true)) => bind_to(descriptor, v6, datagram, SocketAddr::new(loopback(v6), 0)),
        _ => Ok(0),
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn bind(descriptor: c_int, address: *const c_void, length: u32) -> c_int {
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
pub(super) unsafe extern "C" fn listen(descriptor: c_int, backlog: c_int) -> c_int {
    let port = network(descriptor, |socket| socket.local.map(|local| local.port())).flatten();
    // SAFETY: it takes numbers.
    let listen = || unsafe { call(number::LISTEN, [descriptor as usize, backlog as usize]) };
    let Some(port) = port else { return answer_int(listen()) };
    let step = || descriptors::step(Verb::Open, Some(u64::from(port)));
    answer_int(guarded(ECANCELED, step).and_then(|()| listen()))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn connect(descriptor: c_int, address: *const c_void, length: u32) -> c_int {
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
            peer.set_ip(loopback(v6));
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
pub(super) unsafe extern "C" fn accept4(
    descriptor: c_int,
    address: *mut c_void,
    length: *mut u32,
    flags: c_int,
) -> c_int {
    let listener = network(descriptor, |socket| (socket.v6, socket.local));
    let about_accept = || {
        let limit = if descriptors::is_known(descriptor) { limit(descriptor, SO_RCVTIMEO) } else { None };
        About { may_wait: true, limit, ..at_once(descriptor, Verb::Accept) }
    };
    let Some((v6, local)) = listener else {
        // SAFETY: as the caller says.
        let attempt =
            || unsafe { call(number::ACCEPT4, [descriptor as usize, at(address), at(length), flags as usize]) };
        let known = descriptors::is_known(descriptor);
        let outcome = about(about_accept(), attempt);
        return answer_int(if known { made(outcome, Kind::Bytes { pair: false }, UNIX) } else { outcome });
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
        let local = local.map(|local| SocketAddr::new(loopback(v6), local.port()));
        let socket = Socket { local, peer: Some(from), ..Socket::new(v6, false) };
        // Both ends are one connection: the client has the number of its port, which nobody else has.
        descriptors::opened(accepted as c_int, Kind::Network(socket), Some(u64::from(from.port())));
        // SAFETY: as the caller says.
        unsafe { Raw::of(from).write(address.cast(), length) };
    }
    answer_int(accepted)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn accept(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    // SAFETY: as the caller says.
    unsafe { accept4(descriptor, address, length, 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn shutdown(descriptor: c_int, how: c_int) -> c_int {
    // SAFETY: it takes numbers.
    let attempt = || unsafe { call(number::SHUTDOWN, [descriptor as usize, how as usize]) };
    answer_int(about(at_once(descriptor, Verb::Close), attempt))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getsockname(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    let Some(told) = network(descriptor, |socket| socket.told(socket.local)) else {
        // SAFETY: as the caller says.
        return answer_int(unsafe { call(number::GETSOCKNAME, [descriptor as usize, at(address), at(length)]) });
    };
    // SAFETY: as the caller says.
    unsafe { Raw::of(told).write(address.cast(), length) };
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getpeername(descriptor: c_int, address: *mut c_void, length: *mut u32) -> c_int {
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
pub(super) unsafe extern "C" fn setsockopt(
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
pub(super) unsafe extern "C" fn getsockopt(
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
