//! The functions that prepared code calls, for programs without the mirror of std: they do the operation and tell nobody.

#![no_std]

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};

macro_rules! plain {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_: usize) {}
    )* };
}

plain! {
    __tsan_read1 __tsan_read2 __tsan_read4 __tsan_read8 __tsan_read16
    __tsan_write1 __tsan_write2 __tsan_write4 __tsan_write8 __tsan_write16
    __tsan_unaligned_read2 __tsan_unaligned_read4 __tsan_unaligned_read8 __tsan_unaligned_read16
    __tsan_unaligned_write2 __tsan_unaligned_write4 __tsan_unaligned_write8 __tsan_unaligned_write16
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memmove(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    // SAFETY: the program asks for this copy.
    unsafe { core::ptr::copy(from, to, size) };
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
    // SAFETY: the program asks for this copy.
    unsafe { core::ptr::copy(from, to, size) };
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_memset(to: *mut u8, value: i32, size: usize) -> *mut u8 {
    // SAFETY: the program asks for this.
    unsafe { core::ptr::write_bytes(to, value as u8, size) };
    to
}

macro_rules! atomics {
    ($($atomic:ident $value:ident $load:ident $store:ident $compare:ident $($change:ident $method:ident)*;)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $load(atomic: &$atomic, _: i32) -> $value {
            atomic.load(SeqCst)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $store(atomic: &$atomic, value: $value, _: i32) {
            atomic.store(value, SeqCst);
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $compare(atomic: &$atomic, expected: $value, value: $value, _: i32, _: i32) -> $value {
            atomic.compare_exchange(expected, value, SeqCst, SeqCst).unwrap_or_else(|found| found)
        }

        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $change(atomic: &$atomic, value: $value, _: i32) -> $value {
                atomic.$method(value, SeqCst)
            }
        )*
    )* };
}

atomics! {
    AtomicU8 u8 __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_compare_exchange_val
        __tsan_atomic8_exchange swap __tsan_atomic8_fetch_add fetch_add __tsan_atomic8_fetch_sub fetch_sub
        __tsan_atomic8_fetch_and fetch_and __tsan_atomic8_fetch_or fetch_or __tsan_atomic8_fetch_xor fetch_xor
        __tsan_atomic8_fetch_nand fetch_nand;
    AtomicU16 u16 __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_compare_exchange_val
        __tsan_atomic16_exchange swap __tsan_atomic16_fetch_add fetch_add __tsan_atomic16_fetch_sub fetch_sub
        __tsan_atomic16_fetch_and fetch_and __tsan_atomic16_fetch_or fetch_or __tsan_atomic16_fetch_xor fetch_xor
        __tsan_atomic16_fetch_nand fetch_nand;
    AtomicU32 u32 __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_compare_exchange_val
        __tsan_atomic32_exchange swap __tsan_atomic32_fetch_add fetch_add __tsan_atomic32_fetch_sub fetch_sub
        __tsan_atomic32_fetch_and fetch_and __tsan_atomic32_fetch_or fetch_or __tsan_atomic32_fetch_xor fetch_xor
        __tsan_atomic32_fetch_nand fetch_nand;
    AtomicU64 u64 __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_compare_exchange_val
        __tsan_atomic64_exchange swap __tsan_atomic64_fetch_add fetch_add __tsan_atomic64_fetch_sub fetch_sub
        __tsan_atomic64_fetch_and fetch_and __tsan_atomic64_fetch_or fetch_or __tsan_atomic64_fetch_xor fetch_xor
        __tsan_atomic64_fetch_nand fetch_nand;
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_thread_fence(order: i32) {
    if order != 0 {
        fence(SeqCst);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_: i32) {}
