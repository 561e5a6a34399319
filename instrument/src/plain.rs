//! Plain memory: what a program reads, writes, allocates and frees without asking any runtime.
//!
//! Two things tell the runtime about it:
//!
//! - The compiler, in crates that `cargo interloper` lets it prepare: LLVM's pass for ThreadSanitizer puts a call of a function
//!   of the module `hooks` before each load and store, in the place of each copy, and in the place of each atomic operation.
//!   The pass works with a stable compiler; the runtime of ThreadSanitizer is not used. The atomic operations are those that
//!   no mirror replaces, such as the counts of an `Arc`.
//! - The allocator [`Quarantine`], if it is the global one: it keeps what an execution frees until the end of the execution,
//!   so that an address means one block. An allocator of the program's own stands between the program and ours: see [`Beneath`].
//!
//! Both ask for the [`Watcher`] of the thread first. Without one, which is the case outside executions and in those that do
//! not look at plain memory, a load costs one read of a thread-local more, and an allocation likewise.

mod allocator;
mod beneath;
#[cfg(interloper_announced)]
mod hooks;
mod known;
mod marks;
mod notes;
pub(crate) mod remains;
mod watched;

use std::alloc::Layout;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub use allocator::Quarantine;
pub use beneath::{Beneath, gives_own_memory, own_allocator};
pub use known::{KnownCode, Whose};
pub use marks::{is_quiet, lacks_announcements};
pub use notes::{Note, StackNotes};
pub use watched::watched;
pub(crate) use watched::{Aside, aside, unwatched};
use watched::{Watched, current};

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
    /// The program is about to access memory: see [`Access`], and [`Code`] for the last two. Each part is an argument of its own, since
    /// most of what is told is this, and a structure would go through memory. A hook goes on to here, and leaves nothing behind to
    /// return to: so this function does not unwind.
    extern "C" fn access(&self, address: usize, size: usize, writes: bool, code: usize, frame: usize);

    /// The program is about to make these two accesses at once: it copies.
    fn copy(&self, from: Access, to: Access) {
        for access in [from, to] {
            let Access { address, size, writes, code } = access;
            self.access(address, size, writes, code.address, code.frame);
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

    /// The checker has allocated the block around the value at this address for the program, whose memory it is.
    fn handed_over(&self, address: usize, value: Handed);
}

/// What the checker allocates for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// An object that is checked.
    Object,
    /// A thread-local of this size, in bytes.
    Local(usize),
    /// The value that a static has in the execution.
    Static,
}

/// [`Quarantine`] is the global allocator of this process.
static QUARANTINES: AtomicBool = AtomicBool::new(false);

/// Whether the program was built so that its code announces its loads and stores, with frame pointers.
pub fn is_announced() -> bool {
    cfg!(interloper_announced)
}

/// Whether loads and stores can be steps: the compiler announces each of them. For a program in which only races are looked
/// for, it leaves out a load before a store to the same place.
pub fn announces_all() -> bool {
    marks::announces_each() || BY_HAND.load(Ordering::Relaxed)
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
        Code { address, frame }
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

/// Notes an access, or tells the watcher of it if it wants to hear of it.
///
/// Whatever this calls, it calls last, and with what is in registers, so that it saves nothing.
#[inline(always)]
fn tell(watched: &Watched<'_>, Access { address, size, writes, code }: Access) {
    let Watched { watcher, known, notes } = *watched;
    if known.is(code.address, KnownCode::PROGRAM) {
        if notes.take(address, size) {
            return notes.add(address, size, writes, code.address);
        }
    } else if known.is(code.address, KnownCode::UNWANTED) {
        return;
    } else {
        return tell_of_library(watched, address, size, writes, code.address, code.frame);
    }
    watcher.access(address, size, writes, code.address, code.frame);
}

/// As [`tell`], of code that need not be the program's.
#[inline(never)]
extern "C" fn tell_of_library(
    watched: &Watched<'_>,
    address: usize,
    size: usize,
    writes: bool,
    code: usize,
    frame: usize,
) {
    match watched.known.whose(Code { address: code, frame }, &watched.notes.stack()) {
        Ok(Whose::Checker) => {}
        Ok(Whose::Program(at)) if watched.notes.take(address, size) => watched.notes.add(address, size, writes, at),
        // Of code that is known, the watcher need not find out anything.
        Ok(Whose::Program(at)) if at != 0 => watched.watcher.access(address, size, writes, at, frame),
        _ => watched.watcher.access(address, size, writes, code, frame),
    }
}

/// As [`tell`], of a copy.
#[cfg(interloper_announced)]
#[inline(always)]
fn tell_copy(watched: &Watched<'_>, from: usize, to: usize, size: usize, code: Code) {
    if watched.known.is(code.address, KnownCode::UNWANTED) {
        return;
    }
    let access = |address, writes| Access { address, size, writes, code };
    let (from, to) = (access(from, false), access(to, true));
    if watched.notes.are_open() {
        tell(watched, from);
        tell(watched, to);
    } else {
        watched.watcher.copy(from, to);
    }
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

/// Says that the block around the value at this address, which code of the checker has allocated, is memory of the program: what the
/// program does there counts.
#[inline(always)]
pub fn hand_over(address: usize, value: Handed) {
    if let Some(watcher) = watcher() {
        watcher.handed_over(address, value);
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

        extern "C" fn access(&self, _: usize, size: usize, writes: bool, _: usize, _: usize) {
            if let Ok(mut log) = self.0.try_borrow_mut() {
                log.push(format!("{}{size}", if writes { "w" } else { "r" }));
            }
        }

        fn handed_over(&self, _: usize, _: Handed) {}

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
        let other = 1000 + KnownCode::PERIOD;
        watched(&log, (&known, &StackNotes::default()), || {
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

    /// Code at 8 is the program's, code at 16 is of std, code at 24 is unknown. The stack is from 1000 to 2000.
    #[test]
    fn what_a_task_does_on_its_stack_is_noted_while_the_notes_are_open() {
        let (log, known, notes) = (Log::default(), KnownCode::default(), StackNotes::default());
        known.set(8, KnownCode::PROGRAM);
        known.set(16, KnownCode::LIBRARY);
        notes.run_on(&(1000..2000));
        let access = |address, code, writes| {
            let code = Code { address: code, frame: 0 };
            tell(current().expect("watched"), Access { address, size: 8, writes, code });
        };
        let told = || std::mem::take(&mut *log.0.borrow_mut());
        watched(&log, (&known, &notes), || {
            access(1000, 8, true);
            assert!(notes.is_empty(), "the notes are closed");
            assert_eq!(told(), ["w8"]);
            notes.open();
            for address in [992, 1000, 1992, 1996, 3000] {
                access(address, 8, true);
            }
            assert_eq!(told(), ["w8"; 3], "what is not on the stack as a whole");
            access(1008, 16, false);
            access(1016, 24, false);
            access(3000, 16, false);
            assert_eq!(told(), ["r8"; 2], "unknown code, and another place");
            notes.close();
            access(1000, 8, false);
            assert_eq!(told(), ["r8"]);
        });
        let note = |address, code, doing| Note { address, code, size: 8, doing };
        let expected = [note(1000, 8, 1), note(1992, 8, 1), note(1008, 0, 0)];
        assert_eq!(notes.iter().collect::<Vec<_>>(), expected);
        notes.clear();
        assert!(notes.is_empty());
    }

    #[test]
    fn when_the_notes_are_full_the_watcher_hears_of_all() {
        let (log, known, notes) = (Log::default(), KnownCode::default(), StackNotes::default());
        known.set(8, KnownCode::PROGRAM);
        notes.run_on(&(1000..2000));
        notes.open();
        notes.push(Note { address: 1000, code: 8, size: 8, doing: 2 });
        watched(&log, (&known, &notes), || {
            let code = Code { address: 8, frame: 0 };
            for _ in 0..StackNotes::MOST + 1 {
                tell(current().expect("watched"), Access { address: 1000, size: 8, writes: true, code });
            }
        });
        assert_eq!((notes.len(), log.0.borrow().len()), (StackNotes::MOST, 2));
    }

    /// One of the threads is the foremost one that is watched; the other has to look at its thread-local.
    #[test]
    fn each_thread_has_its_own_watcher() {
        let both = std::sync::Barrier::new(2);
        let told = |writes| {
            let log = Log::default();
            watched(&log, (&KnownCode::default(), &StackNotes::default()), || {
                both.wait();
                announce(8, 4, writes);
                watched(&Log::default(), (&KnownCode::default(), &StackNotes::default()), || announce(8, 1, writes));
                announce(8, 8, writes);
                both.wait();
            });
            announce(8, 2, writes);
            log.0.into_inner()
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| told(false));
            assert_eq!(told(true), ["w4", "w8"]);
            assert_eq!(other.join().unwrap(), ["r4", "r8"]);
        });
        assert!(current().is_none());
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
        watched(&log, (&KnownCode::default(), &StackNotes::default()), || {
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
