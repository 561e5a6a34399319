//! Fibers and their stacks.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// How a running fiber suspends itself, and how much stack it has.
#[derive(Clone, Copy)]
pub(super) struct Link {
    yielder: *const Yielder<(), ()>,
    /// Below this address there is just enough stack left for the engine itself, and to unwind.
    pub(super) floor: usize,
    /// Where the stack begins: it grows down from here.
    pub(super) base: usize,
}

/// The stacks that one thread keeps for its next engine, at the most. A hunt sets up an engine for each of some thousand
/// schemas, and the system takes longer to make the stacks than many schemas to run.
const KEPT: usize = 8;

/// The largest stack that is kept: an engine with larger ones is rare, and what it has written there stays in memory.
const KEPT_SIZE: usize = 2 << 20;

thread_local! {
    /// Stacks of engines that have ended, each with the size that was asked for.
    static SPARE: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// A stack of this size that an engine of this thread has left.
fn spare(size: usize) -> Option<DefaultStack> {
    let take = |spare: &RefCell<Vec<(usize, DefaultStack)>>| {
        let mut spare = spare.borrow_mut();
        let at = spare.iter().rposition(|(other, _)| *other == size)?;
        Some(spare.swap_remove(at).1)
    };
    SPARE.try_with(take).ok().flatten()
}

/// What the engine reserves of a stack for itself and for unwinding; at most a quarter of the stack.
const RESERVE: usize = 32 << 10;

/// The fibers of an engine by their tasks, and stacks that no fiber uses. Each stack has a guard page below it.
pub(super) struct Fibers {
    stack_size: usize,
    fibers: Vec<Option<Coroutine<(), (), (), DefaultStack>>>,
    free: Vec<DefaultStack>,
    /// Fibers that are never resumed again. Their stacks are used again after the execution.
    given_up: Vec<Coroutine<(), (), (), DefaultStack>>,
}

impl Fibers {
    pub(super) fn new(stack_size: usize) -> Fibers {
        Fibers { stack_size, fibers: Vec::new(), free: Vec::new(), given_up: Vec::new() }
    }

    /// Whether the task has a fiber that has not ended.
    #[inline]
    pub(super) fn has(&self, task: usize) -> bool {
        matches!(self.fibers.get(task), Some(Some(_)))
    }

    /// Gives the task a fiber that will run `body`. The result leads out of the fiber if it uses up its stack.
    /// `on_stack` is told where the stack is, with its length: other tasks may have left things there.
    ///
    /// # Safety
    /// What `body` borrows lives until the fiber has ended or is never resumed again.
    ///
    /// # Panics
    /// When there is no memory for another stack.
    pub(super) unsafe fn start(
        &mut self,
        task: usize,
        on_stack: impl FnOnce(usize, usize),
        body: impl FnOnce(Link),
    ) -> CoroutineTrapHandler<()> {
        let size = self.stack_size;
        let stack = self.free.pop().or_else(|| spare(size)).unwrap_or_else(|| {
            // Rounding up to whole pages must not overflow.
            assert!(size <= isize::MAX as usize / 2, "no stack of {size} bytes for another task");
            DefaultStack::new(size).unwrap_or_else(|error| panic!("no stack of {size} bytes for another task: {error}"))
        });
        let (limit, base) = (stack.limit().get(), stack.base().get());
        on_stack(limit, base - limit);
        let floor = limit + RESERVE.min(size / 4);
        // SAFETY: the caller promises what the call asks for.
        let fiber =
            unsafe { Coroutine::with_stack_unchecked(stack, move |yielder, ()| body(Link { yielder, floor, base })) };
        if self.fibers.len() <= task {
            self.fibers.resize_with(task + 1, || None);
        }
        let trap = fiber.trap_handler();
        self.fibers[task] = Some(fiber);
        trap
    }

    /// Runs the fiber of a task until it suspends itself or ends.
    ///
    /// # Panics
    /// When the task has no fiber.
    #[inline(always)]
    pub(super) fn resume(&mut self, task: usize) {
        let slot = &mut self.fibers[task];
        match slot.as_mut().expect("a task that is resumed has a fiber").resume(()) {
            CoroutineResult::Yield(()) => {}
            CoroutineResult::Return(()) => self.free.extend(slot.take().map(Coroutine::into_stack)),
        }
    }

    /// Abandons the fibers that have not ended, as the end of a process abandons threads: they are never resumed. Their
    /// stacks stay as they are until [`Fibers::reclaim`].
    pub(super) fn give_up(&mut self) {
        self.given_up.extend(self.fibers.iter_mut().filter_map(Option::take));
    }

    /// Makes the stacks of abandoned fibers ready for others, without running destructors.
    ///
    /// # Safety
    /// Nothing looks at the content of these stacks any more.
    pub(super) unsafe fn reclaim(&mut self) {
        for mut fiber in self.given_up.drain(..) {
            // SAFETY: nobody looks at the frames, so that skipping them is like leaking what they own.
            unsafe { fiber.force_reset() };
            self.free.push(fiber.into_stack());
        }
    }

    /// Abandons the fibers that have not ended: they are never resumed, and their stacks stay as they are for ever.
    pub(super) fn abandon(&mut self) {
        self.fibers.iter_mut().filter_map(Option::take).for_each(std::mem::forget);
        self.given_up.drain(..).for_each(std::mem::forget);
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        self.abandon();
        // A thread that is ending keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            let room = if self.stack_size <= KEPT_SIZE { KEPT.saturating_sub(spare.len()) } else { 0 };
            spare.extend(self.free.drain(..).take(room).map(|stack| (self.stack_size, stack)));
        });
    }
}

impl Link {
    /// Suspends the running fiber until it is resumed.
    ///
    /// # Safety
    /// The link belongs to the running fiber.
    #[inline(always)]
    pub(super) unsafe fn suspend(self) {
        // SAFETY: the yielder is on the stack of the fiber, which is running.
        unsafe { &*self.yielder }.suspend(());
    }
}
