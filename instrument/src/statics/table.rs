//! The statics of the running program, found by the symbols in its file.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::elf::{File, Source};
use super::image::{self, Program};
use super::names;

/// The writable statics of crates, in the order of addresses.
pub(super) struct Table(Vec<Whole>);

/// A static.
pub(super) struct Whole {
    crate_name: String,
    symbol: String,
    start: usize,
    size: usize,
    /// The initial bytes, if they are known.
    image: Option<Box<[u8]>>,
    parts: Mutex<Parts>,
    /// The static was used outside executions before the running execution began.
    left: AtomicBool,
    /// Something that is not restored refers to the static, so it is not restored either.
    pinned: AtomicBool,
    /// The static must be restored before the next execution that runs alone.
    pending: AtomicBool,
    /// The number of the last execution that ran alone while the static was used outside.
    used_outside: AtomicU64,
}

/// The bytes that executions may write to, and the bytes that are kept.
#[derive(Default)]
struct Parts {
    /// In their order, apart from each other.
    kept: Vec<Range<usize>>,
    /// The ranges between them.
    others: Vec<Range<usize>>,
}

impl Table {
    /// The table of the running program, for the crates that `wanted` accepts. Empty where the platform or the file
    /// does not say.
    pub(super) fn of_this_program(wanted: impl Fn(&str) -> bool) -> Table {
        Table::read(wanted).unwrap_or(Table(Vec::new()))
    }

    fn read(wanted: impl Fn(&str) -> bool) -> Option<Table> {
        let Program { base, headers } = image::program()?;
        let source = std::fs::File::open("/proc/self/exe").ok()?;
        let file = File::read(&source, |name| names::crate_of(name).is_some_and(&wanted)).ok()?;
        // A program that a loader started has the file of the loader there.
        if file.headers != headers {
            return None;
        }
        let mut all = Vec::new();
        for symbol in &file.symbols {
            let start = base.wrapping_add(usize::try_from(symbol.start).ok()?);
            let size = usize::try_from(symbol.size).ok()?;
            let Some(crate_name) = names::crate_of(&symbol.name) else { continue };
            if image::contains(start) && image::contains(start.wrapping_add(size - 1)) {
                all.push(Whole {
                    crate_name: crate_name.to_owned(),
                    symbol: symbol.name.clone(),
                    start,
                    size,
                    image: file.initial(&source, symbol, base as u64),
                    parts: Mutex::new(Parts::all(size)),
                    left: AtomicBool::new(false),
                    pinned: AtomicBool::new(false),
                    pending: AtomicBool::new(false),
                    used_outside: AtomicU64::new(0),
                });
            }
        }
        Some(Table(all))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Whole> {
        self.0.iter()
    }

    /// The static that has this address.
    pub(super) fn at(&self, address: usize) -> Option<&Whole> {
        let after = self.0.partition_point(|whole| whole.start <= address);
        self.0[..after].last().filter(|whole| address - whole.start < whole.size)
    }
}

impl Whole {
    pub(super) fn crate_name(&self) -> &str {
        &self.crate_name
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The name for a reader.
    pub(super) fn name(&self) -> String {
        names::readable(&self.symbol)
    }

    pub(super) fn has_image(&self) -> bool {
        self.image.is_some()
    }

    /// Whether the static has its initial bytes, apart from the kept ones.
    pub(super) fn is_initial(&self) -> bool {
        self.image.as_ref().is_some_and(|image| !self.differs(image))
    }

    /// Whether the bytes of the static differ from these, apart from the kept ones.
    pub(super) fn differs(&self, bytes: &[u8]) -> bool {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.others.iter().any(|part| {
            // SAFETY: the loader has mapped the static, which is as long as `bytes`, for the life of the process. The
            // function only compares, and does not mind whether the bytes have values in the sense of the language.
            unsafe { memcmp((self.start + part.start) as *const u8, bytes[part.clone()].as_ptr(), part.len()) != 0 }
        })
    }

    /// Its bytes.
    pub(super) fn copied(&self) -> Box<[u8]> {
        let mut bytes = vec![0_u8; self.size].into_boxed_slice();
        // SAFETY: as above; `bytes` is as long as the static.
        unsafe { memcpy(bytes.as_mut_ptr(), self.start as *const u8, self.size) };
        bytes
    }

    /// Gives the static its initial bytes, apart from the kept ones.
    ///
    /// # Safety
    /// Nothing else uses the static meanwhile, or any reference into it later.
    pub(super) unsafe fn restore(&self) {
        let Some(image) = &self.image else { return };
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        for part in &parts.others {
            // SAFETY: the static is writable memory, as long as its image. Its content is not used: see above.
            unsafe { memcpy((self.start + part.start) as *mut u8, image[part.clone()].as_ptr(), part.len()) };
        }
    }

    /// From now on these bytes are not compared and not restored.
    pub(super) fn keep(&self, start: usize, size: usize) {
        let Some(from) = start.checked_sub(self.start).filter(|from| *from < self.size) else { return };
        let to = from.saturating_add(size).min(self.size);
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).keep(from..to, self.size);
    }

    pub(super) fn is_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }

    pub(super) fn leave(&self, left: bool) {
        self.left.store(left, Ordering::SeqCst);
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pinned.load(Ordering::SeqCst)
    }

    /// From now on the static is not restored.
    pub(super) fn pin(&self) {
        self.pinned.store(true, Ordering::SeqCst);
        self.leave(true);
    }

    pub(super) fn end(&self) -> usize {
        self.start + self.size
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The words of the static that lie in `range`: possible pointers into it.
    pub(super) fn pointers_into(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        let word = size_of::<usize>();
        let words = (self.start.next_multiple_of(word)..=self.end().saturating_sub(word)).step_by(word);
        // SAFETY: the word is aligned, and inside the static, which the loader has mapped. The read is volatile because
        // the word may be padding, and another thread may write to it.
        let words = words.map(|at| unsafe { (at as *const usize).read_volatile() });
        let range = range.clone();
        words.filter(move |word| range.contains(word))
    }

    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::SeqCst)
    }

    pub(super) fn take_pending(&self) -> bool {
        self.pending.swap(false, Ordering::SeqCst)
    }

    pub(super) fn make_pending(&self) {
        self.pending.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_used_outside(&self, execution: u64) -> bool {
        self.used_outside.load(Ordering::SeqCst) == execution
    }

    pub(super) fn note_use_outside(&self, execution: u64) {
        self.used_outside.store(execution, Ordering::SeqCst);
    }
}

impl Parts {
    fn all(size: usize) -> Parts {
        Parts { kept: Vec::new(), others: std::iter::once(0..size).collect() }
    }

    fn keep(&mut self, mut new: Range<usize>, size: usize) {
        self.kept.retain(|old| {
            let apart = old.end < new.start || new.end < old.start;
            if !apart {
                new = old.start.min(new.start)..old.end.max(new.end);
            }
            apart
        });
        self.kept.push(new);
        self.kept.sort_by_key(|kept| kept.start);
        let starts = [0].into_iter().chain(self.kept.iter().map(|kept| kept.end));
        let ends = self.kept.iter().map(|kept| kept.start).chain([size]);
        self.others = starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end).collect();
    }
}

unsafe extern "C" {
    fn memcmp(a: *const u8, b: *const u8, length: usize) -> std::ffi::c_int;
    fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8;
}

impl Source for std::fs::File {
    #[cfg(unix)]
    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        std::os::unix::fs::FileExt::read_exact_at(self, into, offset).is_ok()
    }

    #[cfg(not(unix))]
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_is_not_kept() {
        let mut parts = Parts::all(10);
        for (kept, others) in
            [(4..5, vec![0..4, 5..10]), (0..1, vec![1..4, 5..10]), (2..6, vec![1..2, 6..10]), (0..10, vec![])]
        {
            parts.keep(kept, 10);
            assert_eq!(parts.others, others);
        }
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    #[test]
    fn statics_of_this_program_are_found() {
        use std::cell::UnsafeCell;

        struct Plain([UnsafeCell<u64>; 3]);
        // SAFETY: only this test uses it.
        unsafe impl Sync for Plain {}
        static PLAIN: Plain = Plain([const { UnsafeCell::new(5) }; 3]);
        static CONSTANT: u64 = 7;

        let table = Table::of_this_program(|name| name == "interloper_std");
        let start = std::ptr::from_ref(&PLAIN).addr();
        let whole = table.at(start + 20).expect("it has a symbol");
        assert!(whole.name().ends_with("::PLAIN") && whole.size() == 24, "{}", whole.name());
        assert!(whole.is_initial() && table.at(std::ptr::from_ref(&CONSTANT).addr()).is_none());
        // SAFETY: nobody else uses it.
        unsafe { *PLAIN.0[1].get() = 6 };
        assert!(!whole.is_initial() && whole.differs(&whole.image.clone().unwrap()));
        assert!(!whole.differs(&whole.copied()));
        // SAFETY: as above.
        unsafe { whole.restore() };
        assert!(whole.is_initial());
        // SAFETY: as above.
        unsafe { *PLAIN.0[1].get() = 6 };
        whole.keep(start + 8, 8);
        assert!(whole.is_initial());
        // SAFETY: as above.
        unsafe {
            *PLAIN.0[2].get() = 6;
            whole.restore();
            assert_eq!((*PLAIN.0[0].get(), *PLAIN.0[1].get(), *PLAIN.0[2].get()), (5, 6, 5));
        }
    }
}
