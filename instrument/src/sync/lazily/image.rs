//! Which memory is that of statics.

/// Whether `address` is in the image of the program, or in that of a library: neither on a stack nor on the heap.
///
/// Where the platform does not say (a program that is linked statically against musl, one without an operating system)
/// the answer is no.
#[cfg(unix)]
pub(super) fn contains(address: *const ()) -> bool {
    use std::ffi::{c_char, c_int, c_void};

    #[repr(C)]
    struct Info {
        file_name: *const c_char,
        file_base: *mut c_void,
        symbol_name: *const c_char,
        symbol_address: *mut c_void,
    }

    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }

    let null: *mut c_void = std::ptr::null_mut();
    let mut info = Info { file_name: null.cast(), file_base: null, symbol_name: null.cast(), symbol_address: null };
    // SAFETY: the signature is that of POSIX. The function does not look at what is at the address, and writes to `info`
    // alone.
    unsafe { dladdr(address.cast(), &mut info) != 0 }
}

/// As above.
#[cfg(windows)]
pub(super) fn contains(address: *const ()) -> bool {
    use std::ffi::c_void;

    const UNCHANGED_REFCOUNT: u32 = 2;
    const FROM_ADDRESS: u32 = 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    }

    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the function asks only which module the address is in, and writes to `module` alone.
    unsafe { GetModuleHandleExW(UNCHANGED_REFCOUNT | FROM_ADDRESS, address.cast(), &mut module) != 0 }
}

/// As above.
#[cfg(not(any(unix, windows)))]
pub(super) fn contains(_: *const ()) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU8;

    use super::contains;

    #[test]
    #[cfg(not(all(target_env = "musl", target_feature = "crt-static")))]
    fn statics_are_told_from_the_stack_and_the_heap() {
        static ZERO: AtomicU8 = AtomicU8::new(0);
        static DATA: Mutex<[u64; 2]> = Mutex::new([1, 2]);
        let (stack, heap, large) = (0_u8, Box::new(0_u64), vec![0_u8; 1 << 24]);
        assert!(contains((&raw const ZERO).cast()));
        assert!(contains((&raw const DATA).cast()));
        assert!(!contains((&raw const stack).cast()));
        assert!(!contains((&raw const *heap).cast()));
        assert!(!contains(large.as_ptr().cast()));
        std::thread::spawn(|| {
            let stack = 0_u8;
            assert!(!contains((&raw const stack).cast()));
        })
        .join()
        .unwrap();
    }
}
