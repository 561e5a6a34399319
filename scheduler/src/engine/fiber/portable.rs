//! Stacks are switched by `corosensei`, which knows more processors and systems than we do. Tasks resume each other by way of the
//! thread's side.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// The thread's side.
#[derive(Default)]
pub(super) struct Hub {
    /// The ways out of fibers, by their tasks.
    traps: RefCell<Vec<CoroutineTrapHandler<()>>>,
}

/// A fiber that has not ended.
pub(super) struct Fiber {
    coroutine: Coroutine<(), (), (), DefaultStack>,
    task: usize,
}

/// How the running fiber is left.
#[derive(Clone, Copy)]
pub(in super::super) struct Way {
    yielder: *const Yielder<(), ()>,
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), expect(dead_code))]
    trap: CoroutineTrapHandler<()>,
}

impl Fiber {
    /// A fiber that will run `body`, and then goes back to the thread's side. The body is told where its frames begin.
    ///
    /// # Safety
    /// What `body` borrows lives until the fiber has ended or is never resumed again, and so does the hub, which does not move.
    pub(super) unsafe fn new(stack: DefaultStack, hub: &Hub, task: usize, body: impl FnOnce(Way, usize)) -> Fiber {
        let (base, hub_of_fiber) = (stack.base().get(), std::ptr::from_ref(hub));
        let body = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the hub lives as long as the fiber is resumed.
            let hub = unsafe { &*hub_of_fiber };
            let trap = hub.traps.borrow()[task];
            body(Way { yielder, trap }, base);
        };
        // SAFETY: the caller promises what the call asks for.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        let (mut traps, trap) = (hub.traps.borrow_mut(), coroutine.trap_handler());
        let known = traps.len().max(task + 1);
        traps.resize(known, trap);
        traps[task] = trap;
        Fiber { coroutine, task }
    }

    /// Runs the fiber until it suspends itself or ends. Returns its task if it has ended.
    pub(super) fn resume(&mut self, _: &Hub) -> Option<usize> {
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(()) => None,
            CoroutineResult::Return(()) => Some(self.task),
        }
    }

    /// The stack, for another fiber.
    ///
    /// # Safety
    /// The fiber has ended, or nothing looks at the content of its stack any more.
    pub(super) unsafe fn into_stack(mut self) -> DefaultStack {
        if !self.coroutine.done() {
            // SAFETY: nobody looks at the frames, so that skipping them is like leaking what they own.
            unsafe { self.coroutine.force_reset() };
        }
        self.coroutine.into_stack()
    }
}

impl Way {
    /// Leaves the running fiber for the thread's side until the fiber is resumed.
    ///
    /// # Safety
    /// The way is that of the running fiber.
    pub(in super::super) unsafe fn suspend(self) {
        // SAFETY: the yielder is on the stack of the fiber, which is running.
        unsafe { &*self.yielder }.suspend(());
    }

    /// Leaves the running fiber for the thread's side, which resumes the other one.
    ///
    /// # Safety
    /// The way is that of the running fiber, and the other is the task that was chosen to run next.
    pub(in super::super) unsafe fn resume(self, _: Way) {
        // SAFETY: as the caller promises.
        unsafe { self.suspend() };
    }

    /// Makes the thread that was interrupted in the running fiber continue on the thread's side.
    ///
    /// # Safety
    /// The way is that of the running fiber, and nothing looks at its frames again.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(in super::super) unsafe fn leave(self, context: &mut libc::ucontext_t) {
        // SAFETY: as the caller promises.
        unsafe { super::super::escape::go_on_behind(self.trap, context) };
    }
}
