//! Which memory belongs to statics.

/// Whether `address` is in memory that the loader has mapped for the statics of the program or of a library that was there
/// from the start: neither on a stack nor on the heap.
///
/// False where the platform does not say.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    platform::is_loaded(address, true)
}

/// Whether [`contains`] may say yes, as far as a few comparisons tell: the heap, the stacks and the statics are far apart.
#[inline]
pub(super) fn may_contain(address: usize) -> bool {
    platform::may_be_loaded(address)
}

/// Whether `address` is in memory that the loader has mapped for any purpose.
pub(super) fn is_loaded(address: usize) -> bool {
    platform::is_loaded(address, false)
}

/// The program itself, without its libraries.
pub(super) struct Program {
    /// Where it was loaded.
    pub(super) base: usize,
    /// Its headers, as in its file.
    pub(super) headers: &'static [u8],
}

/// The running program, if the platform says.
pub(super) fn program() -> Option<Program> {
    platform::program()
}

/// Whether a word can be the address of anything.
pub(super) fn may_be_mapped(word: usize) -> bool {
    /// The first pages are never mapped.
    const FIRST: usize = 1 << 16;
    /// Addresses above belong to the kernel.
    const LAST: u64 = (1 << 56) - 1;
    word >= FIRST && word as u64 <= LAST
}

#[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64", not(miri)))]
mod platform {
    use std::ffi::{c_char, c_int, c_void};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::statics::unless_at_work;

    /// A stretch of memory.
    #[derive(Clone, Copy)]
    struct Segment {
        start: usize,
        end: usize,
    }

    /// The segments that the loader has mapped, in the order of addresses.
    struct Segments {
        all: Vec<Segment>,
        writable: Vec<Segment>,
    }

    /// Two stretches that together have all writable segments: that of the program, and that of its libraries. The heap follows the
    /// first. Everything is in the first until the segments are known.
    struct Bounds([AtomicUsize; 2], [AtomicUsize; 2]);

    static BOUNDS: Bounds =
        Bounds([AtomicUsize::new(0), AtomicUsize::new(usize::MAX)], [const { AtomicUsize::new(0) }; 2]);

    #[inline]
    pub(super) fn may_be_loaded(address: usize) -> bool {
        let has = |[start, end]: &[AtomicUsize; 2]| {
            (start.load(Ordering::Acquire)..end.load(Ordering::Acquire)).contains(&address)
        };
        has(&BOUNDS.0) || has(&BOUNDS.1)
    }

    impl Bounds {
        /// Narrows them to these segments. The widest gap is between the program and its libraries.
        fn set(&self, segments: &[Segment]) {
            let gap = |next: &usize| segments[*next].start.saturating_sub(segments[next - 1].end);
            let Some(next) = (1..segments.len()).max_by_key(gap) else { return };
            let set = |[start, end]: &[AtomicUsize; 2], segments: &[Segment]| {
                start.store(segments[0].start, Ordering::Release);
                end.store(segments[segments.len() - 1].end, Ordering::Release);
            };
            // The second first: meanwhile the first still has everything.
            set(&self.1, &segments[next..]);
            set(&self.0, &segments[..next]);
        }
    }

    pub(super) fn is_loaded(address: usize, writable: bool) -> bool {
        static SEGMENTS: OnceLock<Segments> = OnceLock::new();
        let find = || {
            let segments = Segments::find();
            BOUNDS.set(&segments.writable);
            segments
        };
        let found = SEGMENTS.get().or_else(|| unless_at_work(|| SEGMENTS.get_or_init(find)));
        // An allocator that is called meanwhile is told that nothing is a static.
        let Some(segments) = found else { return false };
        let segments = if writable { &segments.writable } else { &segments.all };
        let after = segments.partition_point(|segment| segment.start <= address);
        after > 0 && address < segments[after - 1].end
    }

    /// As in `link.h`.
    #[repr(C)]
    struct Object {
        base: usize,
        name: *const c_char,
        headers: *const Header,
        count: u16,
    }

    /// As in `elf.h`.
    #[repr(C)]
    struct Header {
        kind: u32,
        flags: u32,
        offset: u64,
        virtual_address: u64,
        physical_address: u64,
        size_in_file: u64,
        size_in_memory: u64,
        alignment: u64,
    }

    const LOAD: u32 = 1;
    const WRITE: u32 = 2;

    unsafe extern "C" {
        fn dl_iterate_phdr(
            callback: unsafe extern "C" fn(*const Object, usize, *mut c_void) -> c_int,
            data: *mut c_void,
        ) -> c_int;
    }

    impl Segments {
        fn find() -> Segments {
            let mut found = Segments { all: Vec::new(), writable: Vec::new() };
            // SAFETY: the signature is the one of the manual page. The callback is given each loaded object and `found`.
            unsafe { dl_iterate_phdr(add, (&raw mut found).cast()) };
            found.all.sort_unstable_by_key(|segment| segment.start);
            found.writable.sort_unstable_by_key(|segment| segment.start);
            found
        }
    }

    pub(super) fn program() -> Option<super::Program> {
        unsafe extern "C" fn first(object: *const Object, _: usize, found: *mut c_void) -> c_int {
            // SAFETY: the loader gives an object with `count` headers, which stay, and the caller a place for the answer.
            unsafe {
                let length = usize::from((*object).count) * size_of::<Header>();
                let headers = std::slice::from_raw_parts((*object).headers.cast(), length);
                *found.cast() = Some(super::Program { base: (*object).base, headers });
            }
            1
        }
        let mut found: Option<super::Program> = None;
        // SAFETY: the signature is the one of the manual page. The callback is called once, with the program.
        unsafe { dl_iterate_phdr(first, (&raw mut found).cast()) };
        found
    }

    unsafe extern "C" fn add(object: *const Object, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader gives an object with `count` headers, and `find` the segments, of which it makes no other use
        // meanwhile.
        let (object, found) = unsafe { (&*object, &mut *found.cast::<Segments>()) };
        for index in 0..usize::from(object.count) {
            // SAFETY: as above.
            let header = unsafe { &*object.headers.add(index) };
            if header.kind == LOAD {
                let start = object.base.wrapping_add(header.virtual_address as usize);
                let segment = Segment { start, end: start.wrapping_add(header.size_in_memory as usize) };
                found.all.push(segment);
                if header.flags & WRITE != 0 {
                    found.writable.push(segment);
                }
            }
        }
        0
    }
}

#[cfg(all(unix, not(miri), not(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64"))))]
mod platform {
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

    pub(super) fn may_be_loaded(_: usize) -> bool {
        true
    }

    pub(super) fn is_loaded(address: usize, _: bool) -> bool {
        let null: *mut c_void = std::ptr::null_mut();
        let mut info = Info { file_name: null.cast(), file_base: null, symbol_name: null.cast(), symbol_address: null };
        // SAFETY: the signature is that of POSIX. The function does not look at what is at the address, and writes to `info`
        // alone.
        unsafe { dladdr(std::ptr::without_provenance(address), &mut info) != 0 }
    }

    pub(super) fn program() -> Option<super::Program> {
        None
    }
}

#[cfg(all(windows, not(miri)))]
mod platform {
    use std::ffi::c_void;

    const UNCHANGED_REFCOUNT: u32 = 2;
    const FROM_ADDRESS: u32 = 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    }

    pub(super) fn may_be_loaded(_: usize) -> bool {
        true
    }

    pub(super) fn is_loaded(address: usize, _: bool) -> bool {
        let (flags, mut module) = (UNCHANGED_REFCOUNT | FROM_ADDRESS, std::ptr::null_mut());
        // SAFETY: with these flags the function asks only which module the address is in, and writes to `module` alone.
        unsafe { GetModuleHandleExW(flags, std::ptr::without_provenance(address), &mut module) != 0 }
    }

    pub(super) fn program() -> Option<super::Program> {
        None
    }
}

#[cfg(any(miri, not(any(unix, windows))))]
mod platform {
    pub(super) fn may_be_loaded(_: usize) -> bool {
        false
    }

    pub(super) fn is_loaded(_: usize, _: bool) -> bool {
        false
    }

    pub(super) fn program() -> Option<super::Program> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU8;

    use super::{contains, is_loaded, may_be_mapped, may_contain};

    fn address<T>(value: &T) -> usize {
        std::ptr::from_ref(value).addr()
    }

    #[test]
    fn statics_are_told_from_the_stack_and_the_heap() {
        static ZERO: AtomicU8 = AtomicU8::new(0);
        static DATA: Mutex<[u64; 2]> = Mutex::new([1, 2]);
        let (stack, heap, large) = (0_u8, Box::new(0_u64), vec![0_u8; 1 << 24]);
        assert!(contains(address(&ZERO)) && contains(address(&DATA)));
        assert!(!contains(address(&stack)) && !contains(address(&*heap)) && !contains(large.as_ptr().addr()));
        std::thread::spawn(|| {
            let stack = 0_u8;
            assert!(!contains(address(&stack)));
        })
        .join()
        .unwrap();
    }

    /// A short look may take other memory for a static, but no static for other memory.
    #[test]
    fn a_short_look_misses_no_static() {
        static DATA: Mutex<[u64; 2]> = Mutex::new([1, 2]);
        assert!(contains(address(&DATA)) && may_contain(address(&DATA)));
        let (stack, heap) = (0_u8, Box::new(0_u64));
        if cfg!(target_os = "linux") {
            unsafe extern "C" {
                static stdout: *const u8;
            }
            // SAFETY: C's library has this static, which the program does not change.
            let of_library = unsafe { stdout }.addr();
            assert!(contains(of_library) && may_contain(of_library));
            assert!(!may_contain(address(&stack)) && !may_contain(address(&*heap)));
        }
    }

    #[test]
    fn what_is_constant_is_loaded_and_the_heap_is_not() {
        static TEXT: &str = "constant";
        let heap = Box::new(0_u64);
        assert!(is_loaded(TEXT.as_ptr().addr()) && is_loaded(address as fn(&u8) -> usize as usize));
        assert!(!is_loaded(address(&*heap)) && may_be_mapped(address(&*heap)));
        assert!(!may_be_mapped(8) && !may_be_mapped(usize::MAX));
    }
}
