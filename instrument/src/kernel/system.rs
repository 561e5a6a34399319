//! The system calls themselves, and what they are told.

use std::arch::asm;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What a system call gives: a number, or the error.
pub(super) type Outcome = Result<isize, c_int>;

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The numbers of system calls on x86-64.
pub(super) mod number {
    pub const READ: i64 = 0;
    pub const WRITE: i64 = 1;
    pub const CLOSE: i64 = 3;
    pub const POLL: i64 = 7;
    pub const PWRITE64: i64 = 18;
    pub const READV: i64 = 19;
    pub const WRITEV: i64 = 20;
    pub const SENDFILE: i64 = 40;
    pub const SOCKET: i64 = 41;
    pub const CONNECT: i64 = 42;
    pub const SENDTO: i64 = 44;
    pub const RECVFROM: i64 = 45;
    pub const SENDMSG: i64 = 46;
    pub const RECVMSG: i64 = 47;
    pub const SHUTDOWN: i64 = 48;
    pub const BIND: i64 = 49;
    pub const LISTEN: i64 = 50;
    pub const GETSOCKNAME: i64 = 51;
    pub const GETPEERNAME: i64 = 52;
    pub const SOCKETPAIR: i64 = 53;
    pub const SETSOCKOPT: i64 = 54;
    pub const GETSOCKOPT: i64 = 55;
    pub const FCNTL: i64 = 72;
    pub const FLOCK: i64 = 73;
    pub const TRUNCATE: i64 = 76;
    pub const FTRUNCATE: i64 = 77;
    pub const RENAME: i64 = 82;
    pub const MKDIR: i64 = 83;
    pub const RMDIR: i64 = 84;
    pub const LINK: i64 = 86;
    pub const UNLINK: i64 = 87;
    pub const SYMLINK: i64 = 88;
    pub const CHMOD: i64 = 90;
    pub const FCHMOD: i64 = 91;
    pub const CLOCK_GETTIME: i64 = 228;
    pub const EPOLL_WAIT: i64 = 232;
    pub const EPOLL_CTL: i64 = 233;
    pub const INOTIFY_ADD_WATCH: i64 = 254;
    pub const INOTIFY_RM_WATCH: i64 = 255;
    pub const OPENAT: i64 = 257;
    pub const MKDIRAT: i64 = 258;
    pub const UNLINKAT: i64 = 263;
    pub const RENAMEAT: i64 = 264;
    pub const LINKAT: i64 = 265;
    pub const SYMLINKAT: i64 = 266;
    pub const PPOLL: i64 = 271;
    pub const SPLICE: i64 = 275;
    pub const UTIMENSAT: i64 = 280;
    pub const EPOLL_PWAIT: i64 = 281;
    pub const TIMERFD_CREATE: i64 = 283;
    pub const TIMERFD_SETTIME: i64 = 286;
    pub const ACCEPT4: i64 = 288;
    pub const EVENTFD2: i64 = 290;
    pub const EPOLL_CREATE1: i64 = 291;
    pub const PIPE2: i64 = 293;
    pub const INOTIFY_INIT1: i64 = 294;
    pub const RENAMEAT2: i64 = 316;
    pub const COPY_FILE_RANGE: i64 = 326;
    pub const EPOLL_PWAIT2: i64 = 441;
}

pub(super) const POLLIN: i16 = 1;
pub(super) const POLLOUT: i16 = 4;

pub(super) const EINTR: c_int = 4;
pub(super) const EAGAIN: c_int = 11;
pub(super) const EINVAL: c_int = 22;
pub(super) const ENOENT: c_int = 2;
pub(super) const EAFNOSUPPORT: c_int = 97;
pub(super) const EADDRNOTAVAIL: c_int = 99;
pub(super) const ENETUNREACH: c_int = 101;
pub(super) const ENOTCONN: c_int = 107;
pub(super) const EDESTADDRREQ: c_int = 89;
pub(super) const ECONNREFUSED: c_int = 111;
pub(super) const ECONNRESET: c_int = 104;
pub(super) const ECANCELED: c_int = 125;

const F_GETFL: usize = 3;
const F_SETFL: usize = 4;
const O_NONBLOCK: usize = 0o4000;

/// Makes a system call.
///
/// # Safety
/// The arguments are what the system call with this number asks for.
pub(super) unsafe fn call<const N: usize>(number: i64, arguments: [usize; N]) -> Outcome {
    let at = |index: usize| arguments.get(index).copied().unwrap_or(0);
    let answer: isize;
    // SAFETY: this is how the kernel is called, and which registers it changes; the caller answers for the arguments. Those
    // that the call does not have are ignored.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") at(0),
            in("rsi") at(1),
            in("rdx") at(2),
            in("r10") at(3),
            in("r8") at(4),
            in("r9") at(5),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    // The kernel's errors are the last 4095 numbers.
    if (-4095..0).contains(&answer) { Err(-answer as c_int) } else { Ok(answer) }
}

/// The C library's own `clock_gettime`, which reads the clock without a system call.
///
/// # Safety
/// There is room for the time.
pub(super) unsafe fn clock(clock: c_int, time: *mut Time) -> c_int {
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    const NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);
    let mut found = FOUND.load(Ordering::Relaxed);
    if found.is_null() {
        // SAFETY: the name ends with a zero. It looks in the libraries after this program.
        found = unsafe { dlsym(NEXT, c"clock_gettime".as_ptr()) };
        FOUND.store(found, Ordering::Relaxed);
    }
    if found.is_null() {
        // SAFETY: as the caller says.
        return answer(unsafe { call(number::CLOCK_GETTIME, [clock as usize, time.expose_provenance()]) }) as c_int;
    }
    // SAFETY: the function of this name has this signature; the rest as the caller says.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, *mut Time) -> c_int>(found)(clock, time) }
}

/// What a function of the C library returns: the number, or -1, and the error in `errno`.
pub(super) fn answer(outcome: Outcome) -> isize {
    outcome.unwrap_or_else(|error| {
        // SAFETY: the address is that of this thread's number.
        unsafe { *__errno_location() = error };
        -1
    })
}

/// Whether calls about this descriptor wait.
pub(super) fn waits(descriptor: c_int) -> bool {
    // SAFETY: it reads flags.
    let flags = unsafe { call(number::FCNTL, [descriptor as usize, F_GETFL]) };
    flags.is_ok_and(|flags| flags as usize & O_NONBLOCK == 0)
}

/// Runs a call that waits otherwise in such a way that it does not.
pub(super) fn at_once(descriptor: c_int, body: impl FnOnce() -> Outcome) -> Outcome {
    // SAFETY: it reads and writes flags, which are put back; no other thread uses what a controlled run opened.
    unsafe {
        let flags = call(number::FCNTL, [descriptor as usize, F_GETFL])? as usize;
        call(number::FCNTL, [descriptor as usize, F_SETFL, flags | O_NONBLOCK])?;
        let outcome = body();
        let _ = call(number::FCNTL, [descriptor as usize, F_SETFL, flags]);
        outcome
    }
}

/// Whether the kernel would answer a call that moves bytes this way at once, if only that the descriptor is at its end.
pub(super) fn is_ready(descriptor: c_int, events: i16) -> bool {
    let mut polled = Polled { descriptor, events, found: 0 };
    // SAFETY: the descriptor stands here.
    unsafe { call(number::POLL, [(&raw mut polled).expose_provenance(), 1, 0]) }.is_ok_and(|ready| ready > 0)
}

/// Whether there is something to read.
pub(super) fn has_input(descriptor: c_int) -> bool {
    is_ready(descriptor, POLLIN)
}

/// A descriptor of `poll`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Polled {
    pub(super) descriptor: c_int,
    pub(super) events: i16,
    pub(super) found: i16,
}

/// Seconds and nanoseconds.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Time {
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

/// When a timer ends, and how often again.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Timer {
    pub(super) interval: Time,
    pub(super) value: Time,
}

impl Time {
    pub(super) fn duration(self) -> std::time::Duration {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        std::time::Duration::new(seconds, u32::try_from(self.nanoseconds).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_gives_its_number_or_its_error() {
        let bytes = [0u8; 3];
        // SAFETY: no descriptor has this number, so the kernel refuses the call and reads nothing.
        assert_eq!(unsafe { call(number::WRITE, [usize::MAX, bytes.as_ptr().addr(), 3]) }, Err(9));
        // SAFETY: it makes a descriptor, which is closed.
        let made = unsafe { call(number::EVENTFD2, [7, O_NONBLOCK]) }.expect("a descriptor");
        let mut number = 0u64;
        let into = (&raw mut number).expose_provenance();
        // SAFETY: eight bytes are there.
        assert_eq!(unsafe { call(number::READ, [made as usize, into, 8]) }, Ok(8));
        assert_eq!(number, 7);
        assert!(!waits(made as c_int));
        // SAFETY: as above.
        assert_eq!(unsafe { call(number::READ, [made as usize, into, 8]) }, Err(EAGAIN));
        // SAFETY: as above.
        assert_eq!(unsafe { call(number::CLOSE, [made as usize]) }, Ok(0));
        assert_eq!(answer(Err(EINTR)), -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(EINTR));
    }
}
