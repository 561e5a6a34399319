//! Fibers and their stacks.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// A fiber that is not running: not started yet, or suspended.
pub(super) struct Fiber(Coroutine<(), (), (), DefaultStack>);

/// How a running fiber suspends itself.
#[derive(Clone, Copy)]
pub(super) struct Link(*const Yielder<(), ()>);

/// Stacks that no fiber uses, each with a guard page below it.
pub(super) struct Stacks {
    size: usize,
    free: Vec<DefaultStack>,
}

/// What a fiber has come to.
pub(super) enum Resumed {
    Suspended(Fiber),
    Ended,
}

impl Fiber {
    /// A fiber that will run `body`, on a stack of `stacks`.
    ///
    /// # Safety
    /// What `body` borrows lives until the fiber has ended or is never resumed again.
    ///
    /// # Panics
    /// When there is no memory for another stack.
    pub(super) unsafe fn new(stacks: &mut Stacks, body: impl FnOnce(Link)) -> Fiber {
        let stack = stacks.free.pop().unwrap_or_else(|| {
            DefaultStack::new(stacks.size)
                .unwrap_or_else(|error| panic!("no stack of {} bytes for another task: {error}", stacks.size))
        });
        // SAFETY: the caller's promise is the one that is asked for.
        Fiber(unsafe { Coroutine::with_stack_unchecked(stack, |yielder, ()| body(Link(yielder))) })
    }

    /// Runs the fiber until it suspends itself or ends. Once it has ended its stack goes back to `stacks`.
    pub(super) fn resume(mut self, recycle: impl FnOnce(DefaultStack)) -> Resumed {
        match self.0.resume(()) {
            CoroutineResult::Yield(()) => Resumed::Suspended(self),
            CoroutineResult::Return(()) => {
                recycle(self.0.into_stack());
                Resumed::Ended
            }
        }
    }

    /// Gives the fiber up: it is never resumed, and its stack stays as it is for ever.
    pub(super) fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Link {
    /// Suspends the running fiber until it is resumed.
    ///
    /// # Safety
    /// The link is that of the running fiber.
    #[inline]
    pub(super) unsafe fn suspend(self) {
        // SAFETY: the yielder is on the stack of the fiber, which is running.
        unsafe { &*self.0 }.suspend(());
    }
}

impl Stacks {
    pub(super) fn new(size: usize) -> Stacks {
        Stacks { size, free: Vec::new() }
    }

    pub(super) fn recycle(&mut self, stack: DefaultStack) {
        self.free.push(stack);
    }
}
