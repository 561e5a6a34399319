//! Calls on a stack of their own: what would end the process, or never end, is a result.
//!
//! The engine runs tasks; this type runs one call after the other, with no strategy and no steps of its own. The stack
//! has a guard page, panics are not printed, and the watchdog is told where the calls are.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use interloper_std::runtime::{Place, TaskId};

use super::watchdog::{Beat, Stuck, Watchdog, Watched};
use super::{escape, panics};
use crate::execution::{Crash, PanicReport, SourcePlace};

/// How a call left its stack without returning. The frames of the call are gone, without destructors: its locks stay
/// held for ever, and what it was changing stays half changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The call used up its stack.
    StackOverflow,
    /// The system would have killed the process for what the call did.
    Crash(Crash),
    /// A panic of the call could not unwind: std would have aborted the process.
    Panic(PanicReport),
    /// The call asked for the process to be aborted.
    Abort,
    /// [`OwnStack::give_up`] was called.
    GivenUp,
    /// The call made no step for too long, and the watchdog interrupted it.
    Stuck(Box<Stuck>),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::StackOverflow => f.write_str("stack overflow"),
            Lost::Crash(crash) => write!(f, "{crash}"),
            Lost::Panic(PanicReport { message, place: Some(place), .. }) => {
                write!(f, "a panic that cannot unwind, at {place}: {message}")
            }
            Lost::Panic(report) => write!(f, "a panic that cannot unwind: {}", report.message),
            Lost::Abort => f.write_str("abort of the process"),
            Lost::GivenUp => f.write_str("given up"),
            Lost::Stuck(stuck) => write!(f, "{stuck}"),
        }
    }
}

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// Runs calls, one after the other, on a stack of their own.
///
/// ```
/// use std::panic::Location;
/// use interloper_scheduler::{Lost, OwnStack};
/// use interloper_scheduler::runtime::TaskId;
///
/// fn depth(of: u64) -> u64 {
///     if std::hint::black_box(of) == 0 { 0 } else { 1 + depth(of - 1) }
/// }
///
/// let stack = OwnStack::new(1 << 20, None);
/// let run = |of| stack.run(TaskId::MAIN, Location::caller(), || depth(of));
/// assert_eq!(run(100), Ok(100));
/// # #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
/// assert_eq!(run(u64::MAX), Err(Lost::StackOverflow));
/// assert_eq!(run(200), Ok(200));
/// ```
pub struct OwnStack {
    size: usize,
    /// Between two calls: suspended before the next call. `None` before the first call and after a lost one.
    fiber: Cell<Option<Fiber>>,
    shared: Box<Shared>,
    watched: Option<Watched>,
}

/// What a call on the stack and the thread's side share. It does not move while the fiber lives.
pub(super) struct Shared {
    /// The next call; `None` when the fiber must end.
    call: Cell<Option<*mut dyn FnMut()>>,
    yielder: Cell<*const Yielder<(), ()>>,
    /// The thread is on the stack.
    inside: Cell<bool>,
    trap: Cell<Option<CoroutineTrapHandler<()>>>,
    /// Below this address just enough stack is left for whoever controls the call.
    floor: Cell<usize>,
    /// The last panic that began in the call.
    begun: RefCell<Option<PanicReport>>,
    lost: Cell<Option<Lost>>,
    /// The call is lost: this flag is quicker to read than the reason.
    left: Cell<bool>,
    /// What the watchdog sees.
    beat: Option<Arc<Beat>>,
}

/// Why a call is led out of its stack.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) enum Why {
    /// A fault at this address, and what it is besides one of the stack, with the address of its code.
    Fault(usize, Option<(Crash, usize)>),
    /// The process is about to be aborted.
    Abort,
    /// The watchdog has interrupted the thread.
    Interrupt,
}

/// What is reserved of the stack for whoever controls the calls; at most a quarter of it.
const RESERVE: usize = 64 << 10;

thread_local! {
    /// The stack that the innermost call of this thread runs on.
    static ACTIVE: Cell<Option<NonNull<Shared>>> = const { Cell::new(None) };
}

impl OwnStack {
    /// A stack of this many bytes; memory that no call touches costs nothing. When a call makes no step for too long,
    /// the watchdog calls [`Watchdog::then`].
    pub fn new(size: usize, watchdog: Option<Watchdog>) -> OwnStack {
        panics::install_hook();
        escape::install_handlers();
        let watched = watchdog.map(Watched::new);
        if let Some(watched) = &watched {
            // A stack is never moved to another thread.
            watched.watch().on_this_thread();
        }
        let shared = Shared {
            call: Cell::new(None),
            yielder: Cell::new(ptr::null()),
            inside: Cell::new(false),
            trap: Cell::new(None),
            floor: Cell::new(0),
            begun: RefCell::new(None),
            lost: Cell::new(None),
            left: Cell::new(false),
            beat: watched.as_ref().map(Watched::beat),
        };
        OwnStack { size, fiber: Cell::new(None), shared: Box::new(shared), watched }
    }

    /// The name by which the watchdog calls the calls of `caller`.
    pub fn name(&self, caller: TaskId, name: &str) {
        if let Some(watched) = &self.watched {
            watched.watch().name(caller.index(), name);
        }
    }

    /// Runs `body` on the stack. Panics of `body` are not printed, and unwind out of `run` if `body` does not catch
    /// them. The watchdog takes `place` for the call's last step until the call makes a step.
    ///
    /// # Errors
    /// How the call left the stack, if it did not return. The stack is then never used again, since other places may
    /// refer to it, and a new stack replaces it.
    ///
    /// # Panics
    /// When a call is running on the stack already, and when there is no memory for another stack.
    #[inline]
    pub fn run<R>(&self, caller: TaskId, place: Place, body: impl FnOnce() -> R) -> Result<R, Lost> {
        assert!(!self.shared.inside.get(), "a call is running on the stack already");
        let (mut body, mut result) = (Some(body), None);
        let mut call = || result = body.take().map(|body| body());
        // SAFETY: only the lifetime changes. The fiber runs the call once, and is not resumed again before this
        // function returns, unless the call was lost: then it is never resumed.
        let pointer =
            unsafe { std::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(&raw mut call) };
        self.shared.call.set(Some(pointer));
        self.enter(caller, place)?;
        Ok(result.expect("a call that was not lost has returned"))
    }

    #[inline(always)]
    fn enter(&self, caller: TaskId, place: Place) -> Result<(), Lost> {
        let mut fiber = self.fiber.take().unwrap_or_else(|| self.start());
        let panicking = std::thread::panicking();
        let resumed = {
            let _inside = Inside::new(self, caller, place);
            fiber.resume(())
        };
        match resumed {
            CoroutineResult::Yield(()) if !self.shared.left.get() => {
                self.fiber.set(Some(fiber));
                Ok(())
            }
            _ => Err(self.abandon(fiber, panicking)),
        }
    }

    /// Abandons the fiber: it is never resumed, and its stack stays as it is for ever. `panicking` says whether the
    /// thread was panicking before.
    #[cold]
    fn abandon(&self, fiber: Fiber, panicking: bool) -> Lost {
        std::mem::forget(fiber);
        if !panicking {
            panics::forget_unfinished();
        }
        self.shared.left.set(false);
        let stuck = || self.shared.beat.as_ref().map(|beat| Lost::Stuck(Box::new(beat.take_stuck())));
        self.shared.lost.take().or_else(stuck).expect("a call returns or is lost")
    }

    /// A fiber before its first call.
    #[cold]
    fn start(&self) -> Fiber {
        let size = self.size;
        let stack =
            DefaultStack::new(size).unwrap_or_else(|error| panic!("no stack of {size} bytes for a call: {error}"));
        self.shared.floor.set(stack.limit().get() + RESERVE.min(size / 4));
        let shared = NonNull::from(&*self.shared);
        // SAFETY: the fiber borrows `shared`, which is dropped after it; each call borrows what it needs for as long as
        // `run` waits for the call.
        let fiber = unsafe { Coroutine::with_stack_unchecked(stack, move |yielder, ()| calls(shared, yielder)) };
        self.shared.trap.set(Some(fiber.trap_handler()));
        fiber
    }

    /// Whether a call is running on the stack.
    pub fn is_inside(&self) -> bool {
        self.shared.inside.get()
    }

    /// The running call makes a step here: it has not stopped.
    #[inline(always)]
    pub fn step(&self, caller: TaskId, place: Place) {
        if let Some(watched) = &self.watched {
            watched.watch().step(caller.index(), place);
        }
    }

    /// Whether the running call has almost used up the stack: what is left is for whoever controls the call.
    #[inline(always)]
    pub fn is_deep(&self) -> bool {
        let here = 0u8;
        ptr::from_ref(&here).addr() < self.shared.floor.get()
    }

    /// Ends the running call here as [`Lost::StackOverflow`], without unwinding.
    ///
    /// # Panics
    /// When no call is running on the stack.
    pub fn overflow(&self) -> ! {
        self.leave(Lost::StackOverflow)
    }

    /// Ends the running call here as [`Lost::GivenUp`], without unwinding.
    ///
    /// # Panics
    /// When no call is running on the stack.
    pub fn give_up(&self) -> ! {
        self.leave(Lost::GivenUp)
    }

    #[cold]
    fn leave(&self, lost: Lost) -> ! {
        assert!(self.shared.inside.get(), "no call is running on the stack");
        self.shared.lost.set(Some(lost));
        self.shared.left.set(true);
        // SAFETY: the yielder is on the stack of the fiber, which is running.
        unsafe { &*self.shared.yielder.get() }.suspend(());
        unreachable!("a call that was lost is never resumed")
    }
}

impl Drop for OwnStack {
    fn drop(&mut self) {
        if let Some(mut fiber) = self.fiber.take() {
            self.shared.call.set(None);
            // The fiber ends, and its stack is freed.
            let _ = fiber.resume(());
        }
    }
}

/// The first frame of the fiber.
fn calls(shared: NonNull<Shared>, yielder: &Yielder<(), ()>) {
    // SAFETY: `OwnStack` keeps it, and only shares it.
    let shared = unsafe { shared.as_ref() };
    shared.yielder.set(ptr::from_ref(yielder));
    while let Some(call) = shared.call.take() {
        // SAFETY: `OwnStack::run` keeps the closure, and waits.
        unsafe { (*call)() };
        yielder.suspend(());
    }
}

/// The thread is on the stack while this value lives.
struct Inside<'a> {
    own: &'a OwnStack,
    before: Option<NonNull<Shared>>,
}

impl<'a> Inside<'a> {
    #[inline(always)]
    fn new(own: &'a OwnStack, caller: TaskId, place: Place) -> Inside<'a> {
        own.step(caller, place);
        if let Some(watched) = &own.watched {
            watched.watch().running(true);
        }
        own.shared.inside.set(true);
        Inside { own, before: ACTIVE.replace(Some(NonNull::from(&*own.shared))) }
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        ACTIVE.set(self.before);
        self.own.shared.inside.set(false);
        if let Some(watched) = &self.own.watched {
            watched.watch().running(false);
        }
    }
}

/// The call that runs on a stack of its own on this thread: what the panic hook and the handlers of signals ask.
pub(super) fn active<R>(ask: impl FnOnce(&Shared) -> R) -> Option<R> {
    let shared = ACTIVE.try_with(Cell::get).ok().flatten()?;
    // SAFETY: `Inside` keeps its owner borrowed for as long as the pointer is here.
    Some(ask(unsafe { shared.as_ref() }))
}

impl Shared {
    /// The panic hook was called on this thread.
    pub(super) fn panic_begins(&self, message: String, place: Option<SourcePlace>) {
        *self.begun.borrow_mut() = Some(PanicReport { task: TaskId::MAIN, name: None, message, place });
    }

    /// The panic hook was called for a panic that cannot unwind: std is about to abort the process.
    pub(super) fn panic_dooms(&self) {
        let begun = self.begun.borrow_mut().take();
        let unknown = || PanicReport { task: TaskId::MAIN, name: None, message: String::new(), place: None };
        self.lost.set(Some(Lost::Panic(begun.unwrap_or_else(unknown))));
    }

    /// A signal interrupted the call. Returns the way out of the stack, if the signal concerns the call.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) fn escape(&self, why: Why) -> Option<CoroutineTrapHandler<()>> {
        let trap = self.trap.get().filter(|_| self.inside.get())?;
        match why {
            Why::Fault(address, _) if trap.stack_ptr_in_bounds(address) => self.lost.set(Some(Lost::StackOverflow)),
            Why::Fault(_, Some((crash, _))) => self.lost.set(Some(Lost::Crash(crash))),
            Why::Fault(_, None) => return None,
            Why::Abort => {
                let doomed = self.lost.take().unwrap_or(Lost::Abort);
                self.lost.set(Some(doomed));
            }
            // The watchdog has written down which step it is.
            Why::Interrupt if self.beat.as_ref().is_some_and(|beat| beat.is_interrupted()) => self.lost.set(None),
            Why::Interrupt => return None,
        }
        self.left.set(true);
        Some(trap)
    }
}
