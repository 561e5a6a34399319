//! The functions that traced code calls before each load and store.
//!
//! LLVM's SanitizerCoverage fixes their names (`-sanitizer-coverage-trace-loads`, `-trace-stores`). Each passes on, beside
//! the address, where it was called from: its return address and the frame of its caller. A compiled function cannot read
//! these, so the hooks are written in assembly, for processors of 64 bits. They leave no frame, so the functions that they
//! jump to return into the program.

use super::{Access, Code, watcher};

/// Whether loads and stores can be announced on this platform.
#[cfg(test)]
pub(super) const ARE_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

macro_rules! hooks {
    ($($load:ident $store:ident $loads:ident $stores:ident $size:literal)*) => { $(
        hook! { $load => $loads, false, $size }
        hook! { $store => $stores, true, $size }
    )* };
}

macro_rules! hook {
    ($name:ident => $handler:ident, $writes:literal, $size:literal) => {
        extern "C" fn $handler(address: usize, code: usize, frame: usize) {
            access(address, $size, $writes, Code { address: code, frame });
        }

        #[cfg(target_arch = "x86_64")]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!("mov rsi, [rsp]", "mov rdx, rbp", "jmp {handler}", handler = sym $handler)
        }

        #[cfg(target_arch = "aarch64")]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!("mov x1, x30", "mov x2, x29", "b {handler}", handler = sym $handler)
        }
    };
}

hooks! {
    __sanitizer_cov_load1 __sanitizer_cov_store1 load1 store1 1
    __sanitizer_cov_load2 __sanitizer_cov_store2 load2 store2 2
    __sanitizer_cov_load4 __sanitizer_cov_store4 load4 store4 4
    __sanitizer_cov_load8 __sanitizer_cov_store8 load8 store8 8
    __sanitizer_cov_load16 __sanitizer_cov_store16 load16 store16 16
}

#[inline(always)]
fn access(address: usize, size: usize, writes: bool, code: Code) {
    if let Some(watcher) = watcher() {
        watcher.access(Access { address, size, writes, code });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What traced code does: calls the hooks with an address.
    pub(in super::super) fn load_and_store() {
        let value = 5_u64;
        let call = |hook: unsafe extern "C" fn()| {
            // SAFETY: the hook takes an address in the first argument register, and a call passes it there.
            let hook: extern "C" fn(*const u64) = unsafe { std::mem::transmute(hook) };
            hook(&raw const value);
        };
        if ARE_SUPPORTED {
            call(__sanitizer_cov_load4);
            call(__sanitizer_cov_store8);
        }
    }
}
