//! Who watches which thread.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::{KnownCode, StackNotes, Watcher};
use crate::runtime;

/// Who watches a thread.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub(super) watcher: &'a dyn Watcher,
    /// Which code the watcher wants to hear of.
    pub(super) known: &'a KnownCode,
    /// What the watcher need not hear of at once.
    pub(super) notes: &'a StackNotes,
}

thread_local! {
    static WATCHED: Cell<Option<&'static Watched<'static>>> = const { Cell::new(None) };
    /// Who watches the thread, while an allocator of the program is at work.
    static ASIDE: Cell<Option<&'static Watched<'static>>> = const { Cell::new(None) };
}

/// A thread of this process has been watched. Where none has, and that is where plain memory is not looked at, this is all there is to
/// ask.
static EVER: AtomicBool = AtomicBool::new(false);

/// The thread that is watched, if only one is, as most often: its number, or 0. A hook asks here first, since the way to a thread-local
/// is a call, as far as the compiler knows, and whoever calls saves registers. Other threads that are watched use their thread-locals.
static FOREMOST: AtomicUsize = AtomicUsize::new(0);

/// Who watches it. Only that thread looks here.
static FOREMOST_WATCHED: AtomicPtr<Watched<'static>> = AtomicPtr::new(ptr::null_mut());

/// A number that no two threads have at a time; 0 where it would take a call to find it.
#[inline(always)]
fn number_of_thread() -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let number: usize;
        // SAFETY: on this platform the first word of what belongs to a thread is its own address.
        unsafe {
            std::arch::asm!("mov {}, fs:[0]", out(reg) number, options(nostack, readonly, preserves_flags));
        }
        number
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    0
}

/// The thread is watched like this again when this is dropped.
struct Restore(Option<&'static Watched<'static>>);

impl Drop for Restore {
    fn drop(&mut self) {
        watch(self.0);
    }
}

/// Calls `body` while nobody watches this thread: what it does is not the program's.
pub(crate) fn unwatched<R>(body: impl FnOnce() -> R) -> R {
    let _restore = current().map(|_| Restore(watch(None)));
    body()
}

/// While this lives, nobody watches what this thread does, except that its watcher hears of blocks that are allocated and freed.
pub(crate) struct Aside {
    watched: Option<&'static Watched<'static>>,
}

/// See [`Aside`].
pub(crate) fn aside() -> Aside {
    let watched = current();
    if watched.is_some() {
        watch(None);
        ASIDE.with(|aside| aside.set(watched));
    }
    Aside { watched }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.watched.is_some() {
            ASIDE.with(|aside| aside.set(None));
            watch(self.watched);
        }
    }
}

/// Who hears of the blocks that this thread allocates and frees.
#[inline]
pub(super) fn watcher_of_blocks() -> Option<&'static dyn Watcher> {
    let aside = || ASIDE.try_with(Cell::get).ok().flatten();
    if EVER.load(Ordering::Relaxed) { current().or_else(aside).map(|watched| watched.watcher) } else { None }
}

/// Calls `body` while `watcher` watches this thread; it is not told of code that is [`KnownCode::UNWANTED`], nor of what `notes` take.
pub fn watched<R>(watcher: &dyn Watcher, (known, notes): (&KnownCode, &StackNotes), body: impl FnOnce() -> R) -> R {
    let watched = Watched { watcher, known, notes };
    // SAFETY: only the lifetimes change. `Restore` takes it away before its borrows end, also on unwinding, and what reads it in
    // between does not keep it.
    let watched = unsafe { std::mem::transmute::<&Watched<'_>, &'static Watched<'static>>(&watched) };
    runtime::no_longer_idle();
    // The thread that is watched says so itself, so it does not matter when the others hear of it.
    EVER.store(true, Ordering::Relaxed);
    let _restore = Restore(watch(Some(watched)));
    body()
}

/// This thread is watched so from now on. Returns how it was watched before.
fn watch(watched: Option<&'static Watched<'static>>) -> Option<&'static Watched<'static>> {
    let this = number_of_thread();
    let is_foremost = this != 0
        && match watched {
            Some(_) => {
                let claimed = FOREMOST.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed);
                claimed.is_ok() || claimed == Err(this)
            }
            None => FOREMOST.load(Ordering::Relaxed) == this,
        };
    if is_foremost {
        FOREMOST_WATCHED
            .store(watched.map_or(ptr::null_mut(), |watched| ptr::from_ref(watched).cast_mut()), Ordering::Relaxed);
        if watched.is_none() {
            FOREMOST.store(0, Ordering::Relaxed);
        }
    }
    WATCHED.replace(watched)
}

/// Who watches this thread.
#[inline(always)]
pub(super) fn current() -> Option<&'static Watched<'static>> {
    if EVER.load(Ordering::Relaxed) { foremost().or_else(of_thread) } else { None }
}

/// Who watches this thread, if it is the foremost one that is watched.
#[inline(always)]
pub(super) fn foremost() -> Option<&'static Watched<'static>> {
    if number_of_thread() != FOREMOST.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: this thread has said so itself, in `watch`, and takes it away there before it ends.
    unsafe { FOREMOST_WATCHED.load(Ordering::Relaxed).as_ref() }
}

/// Who watches this thread.
#[cold]
#[inline(never)]
pub(super) fn of_thread() -> Option<&'static Watched<'static>> {
    // A thread that is past its thread-locals runs nothing that is watched.
    WATCHED.try_with(Cell::get).ok().flatten()
}
