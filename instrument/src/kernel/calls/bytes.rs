//! Reading and writing.

use super::sockets::{bind_if_needed, here};
use super::{MSG_PEEK, at, network, receiving, sending};
use crate::kernel::network::Raw;
use crate::kernel::system::{EAGAIN, ECONNREFUSED, EDESTADDRREQ, ENOENT, Outcome, answer, call, number};
use crate::kernel::waiting::{About, Key, about, moving};
use crate::runtime;
use std::ffi::{c_int, c_void};

/// What std says, without asking the panic hook, before it aborts the process. The runtime keeps it from doing so, and says
/// itself what there is to say: most often a task that is given up at the end of an execution cannot be unwound.
const CANNOT_UNWIND: &[u8] = b"thread caused non-unwinding panic. aborting.\n";
const STDERR: c_int = 2;

/// Where bytes are, as `readv` and `writev` have it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    start: *mut c_void,
    length: usize,
}

/// Moves bytes in one piece.
fn move_bytes(number: i64, about: About, buffer: *const c_void, count: usize) -> isize {
    let descriptor = about.descriptor as usize;
    // SAFETY: as the caller of `read` or `write` says; it is never more than `count`.
    answer(moving(about, count, |most| unsafe { call(number, [descriptor, at(buffer), most]) }))
}

/// Moves bytes in several pieces; a short move is one of the first piece that has any.
fn move_pieces(number: i64, about: About, buffers: *const Buffer, count: c_int) -> isize {
    let descriptor = about.descriptor as usize;
    // SAFETY: as the caller of `readv` or `writev` says.
    let pieces = (0..count.max(0) as usize).map(|index| unsafe { *buffers.add(index) });
    let first = pieces.clone().find(|buffer| buffer.length > 0);
    let bytes = pieces.map(|buffer| buffer.length).sum();
    answer(moving(about, bytes, |most| {
        let short = first.filter(|_| most == 1).map(|first| Buffer { length: 1, ..first });
        let (pieces, count) = short.as_ref().map_or((buffers, count), |short| (std::ptr::from_ref(short), 1));
        // SAFETY: as above.
        unsafe { call(number, [descriptor, at(pieces), count as usize]) }
    }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn read(descriptor: c_int, buffer: *mut c_void, count: usize) -> isize {
    move_bytes(number::READ, receiving(descriptor, 0), buffer, count)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn readv(descriptor: c_int, buffers: *const Buffer, count: c_int) -> isize {
    move_pieces(number::READV, receiving(descriptor, 0), buffers, count)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn write(descriptor: c_int, buffer: *const c_void, count: usize) -> isize {
    if network(descriptor, |socket| socket.datagram) == Some(true) {
        // SAFETY: as the caller says.
        return unsafe { sendto(descriptor, buffer, count, 0, std::ptr::null(), 0) };
    }
    // SAFETY: as the caller says.
    let says =
        |text: &[u8]| count == text.len() && unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), count) } == text;
    if descriptor == STDERR && says(CANNOT_UNWIND) && runtime::is_controlled() {
        return count as isize;
    }
    move_bytes(number::WRITE, sending(descriptor, 0), buffer, count)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn writev(descriptor: c_int, buffers: *const Buffer, count: c_int) -> isize {
    move_pieces(number::WRITEV, sending(descriptor, 0), buffers, count)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn recv(descriptor: c_int, buffer: *mut c_void, count: usize, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    unsafe { recvfrom(descriptor, buffer, count, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn recvfrom(
    descriptor: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
    from: *mut c_void,
    length: *mut u32,
) -> isize {
    let [a, b, d] = [descriptor as usize, at(buffer), flags as usize];
    // Who only looks at what is there gets all of it.
    let moves = |attempt: &mut dyn FnMut(usize) -> Outcome| match flags & MSG_PEEK {
        0 => moving(receiving(descriptor, flags), count, attempt),
        _ => about(receiving(descriptor, flags), || attempt(count)),
    };
    let Some((datagram, peer)) = network(descriptor, |socket| (socket.datagram, socket.peer)) else {
        // SAFETY: as the caller says.
        return answer(moves(&mut |most| unsafe { call(number::RECVFROM, [a, b, most, d, at(from), at(length)]) }));
    };
    answer(moves(&mut |c| {
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
pub(super) unsafe extern "C" fn send(descriptor: c_int, buffer: *const c_void, count: usize, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    unsafe { sendto(descriptor, buffer, count, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendto(
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
        let attempt = |most| unsafe { call(number::SENDTO, [a, b, most, d, at(to), length as usize]) };
        return answer(moving(sending(descriptor, flags), count, attempt));
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
pub(super) unsafe extern "C" fn recvmsg(descriptor: c_int, message: *mut c_void, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::RECVMSG, [descriptor as usize, at(message), flags as usize]) };
    answer(about(receiving(descriptor, flags), attempt))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendmsg(descriptor: c_int, message: *const c_void, flags: c_int) -> isize {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::SENDMSG, [descriptor as usize, at(message), flags as usize]) };
    answer(about(sending(descriptor, flags), attempt))
}
