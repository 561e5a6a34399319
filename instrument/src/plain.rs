//! Plain memory: what a program reads, writes, allocates and frees without asking any runtime.
//!
//! Two things tell the runtime about it:
//!
//! - The compiler, in crates that `cargo interloper` lets it prepare: LLVM's pass for ThreadSanitizer puts a call of a function
//!   of the module `hooks` before each load and store, in the place of each copy, and in the place of each atomic operation.
//!   The pass works with a stable compiler; the runtime of ThreadSanitizer is not used. The atomic operations are those that
//!   no mirror replaces, such as the counts of an `Arc`.
//! - The allocator [`Quarantine`], if it is the global one: it keeps what an execution frees until the end of the execution,
//!   so that an address means one block.
//!
//! Both ask for the [`Watcher`] of the thread first. Without one, which is the case outside executions and in those that do
//! not look at plain memory, a load costs one read of a thread-local more, and an allocation likewise.

mod allocator;
#[cfg(interloper_announced)]
mod hooks;
pub(crate) mod remains;

use std::alloc::Layout;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::runtime;

pub use allocator::Quarantine;

/// A load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address of the first byte.
    pub address: usize,
    /// The number of bytes: more than 16 for a copy.
    pub size: usize,
    /// Whether it is a store.
    pub writes: bool,
    /// The code that makes it.
    pub code: Code,
}

/// Where the program is: an address of code, and the frame that this code runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The address of the instruction after the call of the hook; 0 if it is not known.
    pub address: usize,
    /// The frame pointer, if the code was compiled with one (`-Cforce-frame-pointers=yes`).
    pub frame: usize,
}

/// An operation on an atomic that no mirror replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The address of the first byte.
    pub address: usize,
    /// The number of bytes.
    pub size: usize,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Its ordering: that of the success or of the failure of a compare-exchange.
    pub order: Ordering,
    /// The code that makes it.
    pub code: Code,
}

/// Whoever wants to know about plain memory.
///
/// No method may unwind: the compiler takes loads and stores for operations that do not.
pub trait Watcher {
    /// The program is about to access memory: see [`Access`]. Each part is an argument of its own, since most of what is told is this,
    /// and a structure would go through memory.
    fn access(&self, bytes: (usize, usize), writes: bool, code: Code);

    /// The program is about to make these two accesses at once: it copies.
    fn copy(&self, from: Access, to: Access) {
        for access in [from, to] {
            self.access((access.address, access.size), access.writes, access.code);
        }
    }

    /// A call of a collection begins after the step that it is, or has ended. What it does in between belongs to the step.
    fn call(&self, begins: bool) {
        let _ = begins;
    }

    /// The program is about to make an atomic operation, or has made one. Not told of [`KnownCode::UNWANTED`] code.
    fn atomic(&self, atomic: Atomic);

    /// The program makes a fence.
    fn fence(&self, order: Ordering, code: Code);

    /// The program has allocated a block, which has no content yet. The address of `code` is not known, its frame is that of
    /// the allocator.
    fn allocated(&self, address: usize, layout: Layout, code: Code);

    /// The program frees a block. Whether the block is kept: then the watcher gives it back later, with [`give_back`].
    fn freed(&self, address: usize, layout: Layout, code: Code) -> bool;

    /// The checker has allocated the block at this address for the program, whose memory it is.
    fn handed_over(&self, address: usize);
}

/// What a watcher has found out about code, by its address: see [`Code::address`].
///
/// A watcher gives code a kind, a number below 4. Most accesses of a program under control are made by the checker's code that the
/// compiler has put into the program: the watcher gives it the kind [`KnownCode::UNWANTED`], and no hook tells of it again. What the other
/// kinds mean is the watcher's own affair. The table is direct-mapped: code that another code has displaced is unknown again.
#[derive(Debug)]
pub struct KnownCode(Box<[Cell<usize>; KnownCode::LENGTH]>);

impl KnownCode {
    /// An execution of tokio or rayon meets ten thousand addresses.
    const LENGTH: usize = 1 << 15;
    /// No code has this address.
    const NONE: usize = usize::MAX;

    /// The kind of code that the watcher does not want to hear of.
    pub const UNWANTED: usize = 0;

    /// Code that runs one after the other is in one line of the cache here, and two calls are seldom in the same eight bytes. With the
    /// address itself as the index, most of an access was the wait for such a line.
    #[inline(always)]
    fn entry(&self, address: usize) -> &Cell<usize> {
        &self.0[address / 8 % KnownCode::LENGTH]
    }

    /// The kind of the code with this address, if it is known.
    #[inline(always)]
    pub fn kind(&self, address: usize) -> Option<usize> {
        let packed = self.entry(address).get();
        (packed >> 2 == address).then_some(packed & 3)
    }

    /// Whether the code with this address is known to be of this kind.
    #[inline(always)]
    pub fn is(&self, address: usize, kind: usize) -> bool {
        self.entry(address).get() == address << 2 | kind
    }

    /// The code with this address is of this kind.
    #[inline]
    pub fn set(&self, address: usize, kind: usize) {
        debug_assert!(kind < 4, "a kind is below 4, unlike {kind}");
        self.entry(address).set(address << 2 | kind);
    }
}

impl Default for KnownCode {
    /// Nothing is known: a watcher hears of everything.
    fn default() -> KnownCode {
        KnownCode(Box::new([const { Cell::new(KnownCode::NONE) }; KnownCode::LENGTH]))
    }
}

/// Who watches a thread.
#[derive(Clone, Copy)]
struct Watched<'a> {
    watcher: &'a dyn Watcher,
    /// Which code the watcher wants to hear of.
    known: &'a KnownCode,
}

thread_local! {
    static WATCHED: Cell<Option<&'static Watched<'static>>> = const { Cell::new(None) };
}

/// [`Quarantine`] is the global allocator of this process.
static QUARANTINES: AtomicBool = AtomicBool::new(false);

/// Whether the program was built so that its code announces its loads and stores, with frame pointers.
pub fn is_announced() -> bool {
    cfg!(interloper_announced)
}

/// Whether `cargo interloper` compiled the target that this program is without announcements, since no execution can begin in it: a
/// test target that does not name interloper. An execution in such a program would see no plain memory of the target's own code.
pub fn is_quiet() -> bool {
    #[cfg(interloper_announced)]
    let mark = mark();
    #[cfg(not(interloper_announced))]
    let mark = 0;
    mark != 0
}

/// Why an execution in such a program must not look at plain memory, if that is so: see [`is_quiet`].
pub fn lacks_announcements() -> Option<&'static str> {
    is_quiet().then_some(
        "this test target was compiled without announced loads and stores, since none of its files names interloper, so data races and \
         uses of freed memory would be missed: write the word `interloper` in the file of the target (a comment will do) and run `cargo \
         interloper test` again",
    )
}

/// The address of the symbol that is linked to quiet targets; 0 in all others.
#[cfg(interloper_announced)]
fn mark() -> usize {
    let address: usize;
    // SAFETY: the instruction reads an entry of the table of symbols, which is 0 for a weak symbol that nothing defines.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            ".weak INTERLOPER_QUIET",
            "mov {}, qword ptr [rip + INTERLOPER_QUIET@GOTPCREL]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            ".weak INTERLOPER_QUIET",
            "adrp {0}, :got:INTERLOPER_QUIET",
            "ldr {0}, [{0}, :got_lo12:INTERLOPER_QUIET]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let address = 0;
    address
}

/// Whether loads and stores can be steps: the compiler announces each of them. For a program in which only races are looked
/// for, it leaves out a load before a store to the same place.
pub fn announces_all() -> bool {
    cfg!(interloper_preempted) || BY_HAND.load(Ordering::Relaxed)
}

/// Says that the program itself announces all of its loads and stores, with [`announce`].
#[doc(hidden)]
pub fn announces_by_hand() {
    BY_HAND.store(true, Ordering::Relaxed);
}

/// See [`announces_by_hand`].
static BY_HAND: AtomicBool = AtomicBool::new(false);

/// Whether executions of such a program are to be judged for data races. `cargo interloper` says so by a variable of the
/// environment, unless crates that synchronise are outside of control. A program that is started by hand has no such variable,
/// nor does it know which code is whose: see [`replaced`].
pub fn judges_races() -> bool {
    static JUDGES: OnceLock<bool> = OnceLock::new();
    *JUDGES.get_or_init(|| std::env::var_os("INTERLOPER_RACES").is_some_and(|value| value == "on"))
}

/// Whether tasks are preempted at loads and stores, unless a check says something else. `cargo interloper` says so by a variable
/// of the environment.
pub fn preempts() -> bool {
    static PREEMPTS: OnceLock<bool> = OnceLock::new();
    *PREEMPTS
        .get_or_init(|| is_announced() && std::env::var_os("INTERLOPER_PREEMPT").is_some_and(|value| value == "memory"))
}

/// The folders whose code is not the program's but the checker's, built in the place of the program's: `cargo interloper`
/// names them by a variable of the environment.
pub fn replaced() -> &'static [PathBuf] {
    static REPLACED: OnceLock<Vec<PathBuf>> = OnceLock::new();
    REPLACED.get_or_init(|| match std::env::var_os("INTERLOPER_REPLACED") {
        Some(folders) => std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).collect(),
        None => Vec::new(),
    })
}

/// Whether [`Quarantine`] is the global allocator.
pub fn quarantines() -> bool {
    if !QUARANTINES.load(Ordering::Relaxed) {
        drop(std::hint::black_box(Box::new(0_u8)));
    }
    QUARANTINES.load(Ordering::Relaxed)
}

/// Calls `body` while `watcher` watches this thread; it is not told of code that is [`KnownCode::UNWANTED`].
pub fn watched<R>(watcher: &dyn Watcher, known: &KnownCode, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<&'static Watched<'static>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            WATCHED.set(self.0);
        }
    }
    let watched = Watched { watcher, known };
    // SAFETY: only the lifetimes change. `Restore` takes it away before its borrows end, also on unwinding, and what reads it in
    // between does not keep it.
    let watched = unsafe { std::mem::transmute::<&Watched<'_>, &'static Watched<'static>>(&watched) };
    runtime::no_longer_idle();
    let _restore = Restore(WATCHED.replace(Some(watched)));
    body()
}

/// Gives back a block that was kept.
///
/// # Safety
/// The block was freed with this layout, [`Watcher::freed`] kept it, and nobody uses it.
pub unsafe fn give_back(address: usize, layout: Layout) {
    let block = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: `Quarantine` passes on what the system's allocator gave it, and did not pass on this free.
    unsafe { allocator::to_system(block, layout) };
}

impl Code {
    /// What the function returns to that runs in this frame: a hook, which was compiled with frame pointers. Its frame has the
    /// address, and below it that of the caller's frame.
    #[cfg(interloper_announced)]
    #[inline(always)]
    fn return_of_hook(self) -> Code {
        if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
            return Code::default();
        }
        let words: *const [usize; 2] = std::ptr::with_exposed_provenance(self.frame);
        // SAFETY: the frame is that of the function that runs.
        let [frame, address] = unsafe { words.read_volatile() };
        // A stack grows down. Other values are left there by a caller without frame pointers.
        Code { address, frame: if frame > self.frame { frame } else { 0 } }
    }

    /// What called this code, if the frame is one of the stack between these addresses: code that was compiled without
    /// frame pointers leaves something else there.
    pub fn caller(self, stack: &std::ops::Range<usize>) -> Option<Code> {
        const WORD: usize = size_of::<usize>();
        let is_frame =
            self.frame.is_multiple_of(WORD) && self.frame >= stack.start && self.frame + 2 * WORD <= stack.end;
        if !is_frame || size_of::<usize>() != 8 {
            return None;
        }
        let words: *const [usize; 2] = std::ptr::with_exposed_provenance(self.frame);
        // SAFETY: the caller says that a stack is there, of the running task. It is mapped as far as it is in use, which it is
        // above a frame.
        let [frame, address] = unsafe { words.read_volatile() };
        // A stack grows down, so callers are above.
        (frame > self.frame || frame == 0).then_some(Code { address, frame })
    }
}

/// The step of a call was made whose object is not under control: the call follows, and must not be interrupted, since other tasks
/// could wait for what it holds, unseen.
#[cfg_attr(not(interloper_announced), inline)]
#[cfg_attr(interloper_announced, inline(never))]
pub fn call_begins() {
    if let Some(watcher) = watcher() {
        watcher.call(true);
    }
}

/// The call has ended: see [`call_begins`]. It ends at the next step at the latest.
#[cfg_attr(not(interloper_announced), inline)]
#[cfg_attr(interloper_announced, inline(never))]
pub fn call_ends() {
    if let Some(watcher) = watcher() {
        watcher.call(false);
    }
}

/// Tells the watcher of a load or a store, as prepared code does.
#[doc(hidden)]
#[inline(never)]
pub fn announce(address: usize, size: usize, writes: bool) {
    if let Some(watched) = current() {
        tell(watched, Access { address, size, writes, code: Code::default() });
    }
}

/// Who watches this thread.
#[inline(always)]
fn current() -> Option<&'static Watched<'static>> {
    if runtime::is_idle() { None } else { of_thread() }
}

/// As [`current`], where somebody may watch.
#[inline(always)]
fn of_thread() -> Option<&'static Watched<'static>> {
    // A thread that is past its thread-locals runs nothing that is watched.
    WATCHED.try_with(Cell::get).ok().flatten()
}

/// Tells the watcher of an access, if it wants to hear of it.
#[inline(always)]
fn tell(watched: &Watched<'_>, access: Access) {
    if !watched.known.is(access.code.address, KnownCode::UNWANTED) {
        // Each in a register: a hook whose access is unwanted then writes nothing to memory.
        let Access { address, size, writes, code } = access;
        tell_wanted(watched, (address, size), writes, code);
    }
}

/// Tells the watcher of a copy, if it wants to hear of it.
#[cfg(interloper_announced)]
#[inline(always)]
fn tell_copy(watched: &Watched<'_>, from: usize, to: usize, size: usize, code: Code) {
    if !watched.known.is(code.address, KnownCode::UNWANTED) {
        let access = |address, writes| Access { address, size, writes, code };
        watched.watcher.copy(access(from, false), access(to, true));
    }
}

/// Apart, so that a hook whose access is unwanted saves no registers.
#[inline(never)]
fn tell_wanted(watched: &Watched<'_>, bytes: (usize, usize), writes: bool, code: Code) {
    watched.watcher.access(bytes, writes, code);
}

/// Tells the watcher of an atomic operation, if it wants to hear of it.
#[inline(always)]
fn tell_atomic(watched: &Watched<'_>, atomic: Atomic) {
    if !watched.known.is(atomic.code.address, KnownCode::UNWANTED) {
        watched.watcher.atomic(atomic);
    }
}

/// Tells the watcher of an atomic operation that reads and writes, as prepared code does.
#[doc(hidden)]
#[inline(never)]
pub fn announce_update(address: usize, order: Ordering) {
    if let Some(watched) = current() {
        tell_atomic(watched, Atomic { address, size: 8, reads: true, writes: true, order, code: Code::default() });
    }
}

/// Says that the block around this address, which code of the checker has allocated, is memory of the program: what the program
/// does there counts.
#[inline(always)]
pub fn hand_over(address: usize) {
    if let Some(watcher) = watcher() {
        watcher.handed_over(address);
    }
}

fn watcher() -> Option<&'static dyn Watcher> {
    current().map(|watched| watched.watcher)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[derive(Default)]
    struct Log(RefCell<Vec<String>>);

    impl Watcher for Log {
        fn atomic(&self, atomic: Atomic) {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("u{} {:?}", atomic.size, atomic.order));
            }
        }

        fn fence(&self, order: Ordering, _: Code) {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("{order:?}"));
            }
        }

        fn access(&self, (_, size): (usize, usize), writes: bool, _: Code) {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("{}{size}", if writes { "w" } else { "r" }));
            }
        }

        fn handed_over(&self, _: usize) {}

        fn allocated(&self, _: usize, layout: Layout, _: Code) {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("+{}", layout.size()));
            }
        }

        fn freed(&self, address: usize, layout: Layout, _: Code) -> bool {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("-{} {}", layout.size(), address != 0));
            }
            false
        }
    }

    /// A second code that has the same entry takes its place.
    #[test]
    fn unwanted_code_is_not_told_of() {
        let (log, known) = (Log::default(), KnownCode::default());
        let access = |address| {
            let access = Access { address: 8, size: 4, writes: false, code: Code { address, frame: 0 } };
            tell(current().expect("watched"), access);
        };
        let told = || std::mem::take(&mut *log.0.borrow_mut()).len();
        let other = 1000 + 8 * KnownCode::LENGTH;
        watched(&log, &known, || {
            [0, 1000, other, usize::MAX - 1].into_iter().for_each(access);
            assert_eq!(told(), 4);
            known.set(1000, KnownCode::UNWANTED);
            [0, 1000, other].into_iter().for_each(access);
            assert_eq!(told(), 2);
            known.set(other, KnownCode::UNWANTED);
            [1000, other].into_iter().for_each(access);
            assert_eq!(told(), 1);
        });
    }

    #[test]
    fn the_watcher_is_told_between_the_calls_and_not_outside() {
        let log = Log::default();
        let quarantine = Quarantine::new();
        let layout = Layout::from_size_align(40, 8).unwrap();
        let again = || {
            // SAFETY: the layout has a size, and the block is freed once, with it.
            unsafe {
                let block = std::alloc::GlobalAlloc::alloc(&quarantine, layout);
                let block = std::alloc::GlobalAlloc::realloc(&quarantine, block, layout, 80);
                std::alloc::GlobalAlloc::dealloc(&quarantine, block, Layout::from_size_align(80, 8).unwrap());
            }
        };
        again();
        watched(&log, &KnownCode::default(), || {
            again();
            announce(8, 4, false);
            announce(8, 8, true);
            announce_update(8, Ordering::AcqRel);
        });
        again();
        announce(8, 8, true);
        let expected = ["+40", "+80", "-40 true", "-80 true", "r4", "w8", "u8 AcqRel"];
        assert_eq!(*log.0.borrow(), expected);
    }
}
