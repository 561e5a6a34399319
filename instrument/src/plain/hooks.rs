//! The functions that prepared code calls.
//!
//! LLVM's pass `tsan` fixes their names and arguments. Each finds out where it was called from by the frame pointer, which such a
//! build keeps. A function that is inlined has no frame, so each is marked `inline(never)`.

#[cfg(target_arch = "x86_64")]
use std::arch::naked_asm;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use super::watched::{current, foremost, of_thread};
use super::{Access, Atomic, Code, tell, tell_atomic, tell_copy, watcher};
#[cfg(target_arch = "x86_64")]
use crate::runtime::WANTED;
#[cfg(not(target_arch = "x86_64"))]
use crate::runtime::is_idle;

/// Where a hook was called.
macro_rules! caller {
    () => {
        super::allocator::here().return_of_hook()
    };
}

/// A hook of a load or a store.
///
/// Most of what a program under control calls are these, also outside of checks. So they are written by hand: they save nothing, and
/// where somebody may watch, what they call returns to the program.
#[cfg(target_arch = "x86_64")]
macro_rules! hook {
    ($name:ident, $size:literal, $writes:literal) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        extern "C" fn $name(address: usize) {
            naked_asm!(
                "mov rax, qword ptr [rip + {wanted}@GOTPCREL]",
                "cmp byte ptr [rax], 0",
                "jne 2f",
                "ret",
                "2:",
                "mov rsi, qword ptr [rsp]",
                "mov rdx, rbp",
                "jmp {tell}",
                wanted = sym WANTED,
                tell = sym tell_of::<$size, $writes>,
            )
        }
    };
}

/// As for x86-64, as well as a compiler can.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! hook {
    ($name:ident, $size:literal, $writes:literal) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(address: usize) {
            if !is_idle() {
                let Code { address: code, frame } = caller!();
                tell_of::<$size, $writes>(address, code, frame);
            }
        }
    };
}

/// Tells of an access by code at the address `code`, which runs in `frame`. What is known of a hook is no argument: each one would have
/// to be saved here.
extern "C" fn tell_of<const SIZE: usize, const WRITES: bool>(address: usize, code: usize, frame: usize) {
    match foremost() {
        Some(watched) => {
            tell(watched, Access { address, size: SIZE, writes: WRITES, code: Code { address: code, frame } })
        }
        None => tell_of_thread::<SIZE, WRITES>(address, code, frame),
    }
}

/// As [`tell_of`], of a thread that is not the foremost. Apart, so that [`tell_of`] has nothing to save.
#[inline(never)]
extern "C" fn tell_of_thread<const SIZE: usize, const WRITES: bool>(address: usize, code: usize, frame: usize) {
    if let Some(watched) = of_thread() {
        tell(watched, Access { address, size: SIZE, writes: WRITES, code: Code { address: code, frame } });
    }
}

/// As [`tell`], of a copy.
macro_rules! tell_copy {
    ($from:expr, $to:expr, $size:expr) => {
        if let Some(watched) = current() {
            tell_copy(watched, $from.addr(), $to.addr(), $size, caller!());
        }
    };
}

macro_rules! plain {
    ($($read:ident $write:ident $size:literal)*) => { $(
        hook!($read, $size, false);
        hook!($write, $size, true);
    )* };
}

plain! {
    __tsan_read1 __tsan_write1 1
    __tsan_read2 __tsan_write2 2
    __tsan_read4 __tsan_write4 4
    __tsan_read8 __tsan_write8 8
    __tsan_read16 __tsan_write16 16
    __tsan_unaligned_read2 __tsan_unaligned_write2 2
    __tsan_unaligned_read4 __tsan_unaligned_write4 4
    __tsan_unaligned_read8 __tsan_unaligned_write8 8
    __tsan_unaligned_read16 __tsan_unaligned_write16 16
}

/// Copies `size` bytes.
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn __tsan_memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    if size > 0 {
        tell_copy!(from, to, size);
    }
    // SAFETY: the program asks for this copy.
    unsafe { std::ptr::copy(from, to, size) };
    to
}

/// Copies `size` bytes.
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn __tsan_memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    if size > 0 {
        tell_copy!(from, to, size);
    }
    // The two are either apart or the same.
    // SAFETY: the program asks for this copy.
    unsafe { std::ptr::copy(from, to, size) };
    to
}

/// Fills `size` bytes.
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn __tsan_memset(to: *mut u8, value: c_int, size: usize) -> *mut u8 {
    if size > 0
        && let Some(watched) = current()
    {
        tell(watched, Access { address: to.addr(), size, writes: true, code: caller!() });
    }
    // SAFETY: the program asks for this.
    unsafe { std::ptr::write_bytes(to, value as u8, size) };
    to
}

/// The ordering that has this number in C.
fn order(number: c_int) -> Ordering {
    match number {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

/// Tells the watcher of an atomic operation.
macro_rules! tell_atomic {
    ($atomic:ident, $does:expr, $order:expr) => {
        if let Some(watched) = current() {
            let (address, size) = (std::ptr::from_ref($atomic).addr(), size_of_val($atomic));
            let (reads, writes) = $does;
            tell_atomic(watched, Atomic { address, size, reads, writes, order: order($order), code: caller!() });
        }
    };
}

/// A store with its own ordering: on x86-64 the strongest one is an exchange, and the others are plain moves.
macro_rules! store {
    ($atomic:ident, $value:ident, $order:ident) => {
        match $order {
            0 => $atomic.store($value, Ordering::Relaxed),
            3 => $atomic.store($value, Ordering::Release),
            _ => $atomic.store($value, Ordering::SeqCst),
        }
    };
}

/// But for stores, the operations themselves are made with the strongest ordering. Under control that makes no difference, since tasks
/// share a thread; elsewhere it costs, but not on x86-64.
macro_rules! atomics {
    ($($atomic:ident $value:ident $load:ident $store:ident $exchange:ident $compare:ident
       $($change:ident $method:ident)*;)*) => { $(
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $load(atomic: &$atomic, order: c_int) -> $value {
            tell_atomic!(atomic, (true, false), order);
            atomic.load(Ordering::SeqCst)
        }

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $store(atomic: &$atomic, value: $value, order: c_int) {
            tell_atomic!(atomic, (false, true), order);
            store!(atomic, value, order);
        }

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $exchange(atomic: &$atomic, value: $value, order: c_int) -> $value {
            tell_atomic!(atomic, (true, true), order);
            atomic.swap(value, Ordering::SeqCst)
        }

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $compare(
            atomic: &$atomic,
            expected: $value,
            value: $value,
            success: c_int,
            failure: c_int,
        ) -> $value {
            match atomic.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(found) => {
                    tell_atomic!(atomic, (true, true), success);
                    found
                }
                Err(found) => {
                    tell_atomic!(atomic, (true, false), failure);
                    found
                }
            }
        }

        $(
            #[unsafe(no_mangle)]
            #[inline(never)]
            extern "C" fn $change(atomic: &$atomic, value: $value, order: c_int) -> $value {
                tell_atomic!(atomic, (true, true), order);
                atomic.$method(value, Ordering::SeqCst)
            }
        )*
    )* };
}

atomics! {
    AtomicU8 u8 __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_compare_exchange_val
        __tsan_atomic8_fetch_add fetch_add __tsan_atomic8_fetch_sub fetch_sub __tsan_atomic8_fetch_and fetch_and
        __tsan_atomic8_fetch_or fetch_or __tsan_atomic8_fetch_xor fetch_xor __tsan_atomic8_fetch_nand fetch_nand;
    AtomicU16 u16 __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_compare_exchange_val
        __tsan_atomic16_fetch_add fetch_add __tsan_atomic16_fetch_sub fetch_sub __tsan_atomic16_fetch_and fetch_and
        __tsan_atomic16_fetch_or fetch_or __tsan_atomic16_fetch_xor fetch_xor __tsan_atomic16_fetch_nand fetch_nand;
    AtomicU32 u32 __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_compare_exchange_val
        __tsan_atomic32_fetch_add fetch_add __tsan_atomic32_fetch_sub fetch_sub __tsan_atomic32_fetch_and fetch_and
        __tsan_atomic32_fetch_or fetch_or __tsan_atomic32_fetch_xor fetch_xor __tsan_atomic32_fetch_nand fetch_nand;
    AtomicU64 u64 __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_compare_exchange_val
        __tsan_atomic64_fetch_add fetch_add __tsan_atomic64_fetch_sub fetch_sub __tsan_atomic64_fetch_and fetch_and
        __tsan_atomic64_fetch_or fetch_or __tsan_atomic64_fetch_xor fetch_xor __tsan_atomic64_fetch_nand fetch_nand;
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __tsan_atomic_thread_fence(number: c_int) {
    if let Some(watcher) = watcher() {
        watcher.fence(order(number), caller!());
    }
    if number != 0 {
        fence(order(number));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {}
