//! What a thread runs: a runtime, or none.

use std::cell::Cell;
use std::ptr::NonNull;

use super::{Addresses, ExecutionId, Runtime, is_idle, no_longer_idle};
use crate::plain::{Aside, aside};

/// The runtime of this thread, for as long as a call of [`with`] lasts.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    runtime: &'a dyn Runtime,
    execution: ExecutionId,
    addresses: &'a Addresses,
}

impl<'a> Current<'a> {
    /// The runtime.
    #[inline]
    pub fn runtime(&self) -> &'a dyn Runtime {
        self.runtime
    }

    /// The running execution.
    #[inline]
    pub fn execution(&self) -> ExecutionId {
        self.execution
    }

    /// The objects that are known by their addresses.
    #[inline]
    pub(crate) fn addresses(&self) -> &'a Addresses {
        self.addresses
    }
}

/// What this thread runs.
struct Thread {
    current: Cell<Option<Current<'static>>>,
    /// Those of the execution, also while the runtime is left.
    addresses: Cell<Option<NonNull<Addresses>>>,
    /// Something is made for an execution that has not begun.
    before_time: Cell<bool>,
    /// An allocator of the program is at work.
    allocates: Cell<bool>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            current: Cell::new(None),
            addresses: Cell::new(None),
            before_time: Cell::new(false),
            allocates: Cell::new(false),
        }
    };
}

/// Calls `use_it` with the runtime of this thread, if there is one.
#[inline]
pub fn with<R>(use_it: impl FnOnce(Current<'_>) -> R) -> Option<R> {
    current().map(use_it)
}

// Not inlined into announced programs: see `sync/atomic/common.rs`.
#[cfg_attr(not(interloper_announced), inline)]
#[cfg_attr(interloper_announced, inline(never))]
fn current() -> Option<Current<'static>> {
    if is_idle() {
        return None;
    }
    // A thread that is past its thread-locals is not a controlled one.
    THREAD.try_with(|thread| thread.current.get()).ok().flatten()
}

/// Which of several things comes first, where code that is not ours may take any: a decision of the execution, below
/// `options`. 0, the ordinary answer, outside of a controlled run and where there is no choice.
///
/// What `cargo interloper` changes in the queues of tokio calls this.
#[must_use]
pub fn which_of(options: usize) -> usize {
    let options = u32::try_from(options).unwrap_or(u32::MAX);
    if options < 2 {
        return 0;
    }
    with(|current| current.runtime().choose(options)).map_or(0, |answer| answer as usize)
}

/// The virtual time, in a controlled run and where something is made for one.
pub(crate) fn virtual_time() -> Option<std::time::Duration> {
    let before = || THREAD.try_with(|thread| thread.before_time.get()).is_ok_and(|before| before);
    with(|current| current.runtime().now()).or_else(|| before().then_some(std::time::Duration::ZERO))
}

/// Runs `make`, which makes something for executions outside of them: its clocks show the time at which they start.
pub fn before_time<R>(make: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREAD.with(|thread| thread.before_time.set(self.0));
        }
    }
    let _restore = Restore(THREAD.with(|thread| thread.before_time.replace(true)));
    make()
}

/// The instant at which executions start: what virtual time is told from.
pub fn origin() -> std::time::Instant {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    *ORIGIN.get_or_init(std::time::Instant::now)
}

/// Whether this thread is in a controlled run.
#[inline]
pub fn is_controlled() -> bool {
    THREAD.try_with(|thread| thread.current.get().is_some()).unwrap_or(false)
}

/// Whether this thread is in a controlled run that has ended early: its tasks unwind.
pub fn has_ended() -> bool {
    with(|current| current.runtime().has_ended()).unwrap_or(false)
}

/// Whatever was at this address is gone.
#[inline]
pub(crate) fn forget(address: usize) {
    with_addresses(|addresses| addresses.forget(address));
}

/// Whatever was in this memory is gone.
#[inline]
pub(crate) fn forget_range(start: usize, length: usize) {
    with_addresses(|addresses| addresses.forget_range(start, length));
}

#[inline]
fn with_addresses(use_them: impl FnOnce(&Addresses)) {
    if is_idle() {
        return;
    }
    if let Ok(Some(addresses)) = THREAD.try_with(|thread| thread.addresses.get()) {
        // SAFETY: they are those of a runtime that is borrowed until `enter` takes them away again.
        use_them(unsafe { addresses.as_ref() });
    }
}

/// Runs `body` under `runtime`. The runtime that was there before is put back at the end, also when `body` unwinds.
///
/// A runtime whose methods switch to another fiber does so under `enter`: a task that is suspended under a runtime of
/// its own then neither lends it to other tasks nor loses it.
pub fn enter<R>(runtime: &dyn Runtime, body: impl FnOnce() -> R) -> R {
    let (execution, addresses) = (runtime.execution(), runtime.addresses());
    addresses.begin(execution);
    let current = Current { runtime, execution, addresses };
    // SAFETY: only the lifetime changes. The value is read by `with` alone, on this thread, which hands it to closures
    // that cannot keep it; and `replace` takes it away before the borrow of `runtime` ends, also on unwinding. A fiber
    // that is suspended inside `with` is resumed only by its runtime, which is alive then.
    let current = unsafe { std::mem::transmute::<Current<'_>, Current<'static>>(current) };
    replace(Some(current), Some(NonNull::from(addresses)), body)
}

/// Runs `body` with no runtime: mirror types that it uses are the real ones.
///
/// `body` must not wait for another task of the execution.
pub fn leave<R>(body: impl FnOnce() -> R) -> R {
    replace(None, THREAD.with(|thread| thread.addresses.get()), body)
}

/// An allocator of the program is at work: see [`allocating`].
#[must_use]
pub struct Allocating {
    current: Option<Current<'static>>,
    allocates: bool,
    _aside: Option<Aside>,
}

/// An allocator of the program is at work until the result is dropped. Meanwhile this thread has no runtime: the runtime allocates, too,
/// and must not be asked for a step while it does. The atomics in statics that the allocator changes are no steps anywhere. What the
/// allocator does to plain memory is not watched, except for the blocks that it asks the checker for.
///
/// `cargo interloper` puts this into the methods of each `GlobalAlloc` that is under control.
// Not inlined into announced programs, like `current`.
pub fn allocating() -> Allocating {
    let begin = |thread: &Thread| Allocating {
        current: thread.current.take(),
        allocates: thread.allocates.replace(true),
        _aside: Some(aside()),
    };
    // A thread that is past its thread-locals has no runtime. Such a value is made for that thread alone: its drop changes the others'.
    THREAD.try_with(begin).unwrap_or_else(|_| Allocating { current: None, allocates: false, _aside: None })
}

impl Drop for Allocating {
    fn drop(&mut self) {
        let end = |thread: &Thread| {
            thread.current.set(self.current);
            thread.allocates.set(self.allocates);
        };
        // See `allocating`.
        let _ = THREAD.try_with(end);
    }
}

/// Whether an allocator of the program is at work.
pub(crate) fn is_allocating() -> bool {
    THREAD.try_with(|thread| thread.allocates.get()).unwrap_or(false)
}

fn replace<R>(current: Option<Current<'static>>, addresses: Option<NonNull<Addresses>>, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Current<'static>>, Option<NonNull<Addresses>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREAD.with(|thread| {
                thread.current.set(self.0);
                thread.addresses.set(self.1);
            });
        }
    }
    no_longer_idle();
    let _restore = THREAD.with(|thread| Restore(thread.current.replace(current), thread.addresses.replace(addresses)));
    body()
}
