//! Stacks are switched by a few instructions of our own, on x86-64 under Unix.
//!
//! A task resumes the next one itself, without the thread's side between them. And the switch jumps: a return would go to an address
//! that the processor does not expect, since the call that it belongs to was made on another stack.
//!
//! Whoever is left has on its stack, from the top: where it goes on, and the two registers that inline assembly cannot name as
//! changed. All others are saved by the compiler where they are in use.

use std::arch::{asm, naked_asm};
use std::cell::Cell;

use corosensei::stack::{DefaultStack, Stack};

/// The thread's side.
#[derive(Default)]
pub(super) struct Hub {
    /// The top of its stack while a fiber runs.
    left: Cell<usize>,
    /// The task whose fiber has ended.
    ended: Cell<Option<usize>>,
}

/// A fiber that has not ended. Dropped, it leaves its stack as it is for ever.
pub(super) struct Fiber(Way);

/// How the fiber is left and entered.
#[derive(Clone, Copy)]
pub(in super::super) struct Way(*const Anchor);

/// The first thing on the stack of a fiber.
struct Anchor {
    stack: Cell<Option<DefaultStack>>,
    /// The top of the stack while the fiber does not run.
    left: Cell<usize>,
    hub: *const Hub,
    task: usize,
}

/// The anchor, and what the fiber will run.
#[repr(C)]
struct Start<F> {
    anchor: Anchor,
    body: Cell<Option<F>>,
}

impl Fiber {
    /// A fiber that will run `body`, and then goes back to the thread's side. The body is told where its frames begin.
    ///
    /// # Safety
    /// What `body` borrows lives until the fiber has ended or is never resumed again, and so does the hub, which does not move.
    pub(super) unsafe fn new<F: FnOnce(Way, usize)>(stack: DefaultStack, hub: &Hub, task: usize, body: F) -> Fiber {
        let align = align_of::<Start<F>>().max(16);
        let start = ((stack.base().get() - size_of::<Start<F>>()) & !(align - 1)) as *mut Start<F>;
        let top = start as usize - 3 * size_of::<usize>();
        let anchor = Anchor { stack: Cell::new(Some(stack)), left: Cell::new(top), hub, task };
        // SAFETY: all of it is at the upper end of a stack that nobody uses, which has room for more than a closure.
        unsafe {
            start.write(Start { anchor, body: Cell::new(Some(body)) });
            (top as *mut [usize; 3]).write([
                begin as *const () as usize,
                start as usize,
                run::<F> as *const () as usize,
            ]);
        }
        Fiber(Way(start.cast()))
    }

    /// Runs the fiber, and each that it resumes, until one of them suspends itself or ends. Returns the task of one that has ended.
    #[inline(always)]
    pub(super) fn resume(&mut self, hub: &Hub) -> Option<usize> {
        // SAFETY: the fiber has not ended, so its anchor is there, and it does not run: the thread's side does.
        unsafe { switch(&hub.left, (*self.0.0).left.get()) };
        hub.ended.take()
    }

    /// The stack, for another fiber.
    ///
    /// # Safety
    /// The fiber has ended, or nothing looks at the content of its stack any more.
    pub(super) unsafe fn into_stack(self) -> DefaultStack {
        // SAFETY: the anchor stays there until another fiber has the stack.
        unsafe { (*self.0.0).stack.take() }.expect("a fiber has one stack")
    }
}

impl Way {
    /// Leaves the running fiber for the thread's side until the fiber is resumed.
    ///
    /// # Safety
    /// The way is that of the running fiber.
    #[inline(always)]
    pub(in super::super) unsafe fn suspend(self) {
        // SAFETY: the fiber runs, so its anchor is there, and so is the hub, which was left for this fiber or one before it.
        unsafe { switch(&(*self.0).left, (*(*self.0).hub).left.get()) };
    }

    /// Leaves the running fiber for another one.
    ///
    /// # Safety
    /// The way is that of the running fiber. The other fiber, of the same hub, has suspended itself and has not ended.
    #[inline(always)]
    pub(in super::super) unsafe fn resume(self, other: Way) {
        // SAFETY: neither fiber has ended, so both anchors are there.
        unsafe { switch(&(*self.0).left, (*other.0).left.get()) };
    }

    /// Makes the thread that was interrupted in the running fiber continue on the thread's side.
    ///
    /// # Safety
    /// The way is that of the running fiber, and nothing looks at its frames again.
    #[cfg(target_os = "linux")]
    pub(in super::super) unsafe fn leave(self, context: &mut libc::ucontext_t) {
        // SAFETY: as in `suspend`. What is on the top of the hub's stack is where it goes on.
        let (at, top) = unsafe {
            let top = (*(*self.0).hub).left.get();
            (*(top as *const usize), top + size_of::<usize>())
        };
        context.uc_mcontext.gregs[libc::REG_RIP as usize] = at as i64;
        context.uc_mcontext.gregs[libc::REG_RSP as usize] = top as i64;
    }
}

/// Leaves the running stack, notes its top in `left`, and goes on where the stack with the top `enter` was left.
///
/// Inlined, so that a task which resumes another at the same place of the program jumps to where it is itself: the processor knows
/// that, and the returns that follow.
///
/// # Safety
/// `enter` is the top of a stack that was left by this function, and has not been entered since, or one that [`Fiber::new`] has made.
#[inline(always)]
unsafe fn switch(left: &Cell<usize>, enter: usize) {
    // SAFETY: the stack is as it was when this one is entered again, and so are the two registers; the others count as changed.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            // Nothing of the other stack stays behind here: what a register holds can count as part of a task's local state.
            "xor r12d, r12d",
            "xor r13d, r13d",
            "xor r14d, r14d",
            "xor r15d, r15d",
            inout("rdi") left.as_ptr() => _,
            inout("rsi") enter => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// The first frame of a fiber, and the last that a backtrace shows: nothing says where it was called.
///
/// No call: nothing would return from it, and the processor would expect each return of the thread's side at the wrong address.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("pop rdi", "pop rax", "xor ebp, ebp", "lea rcx, [rip + 2f]", "push rcx", "jmp rax", "2:", "ud2")
}

unsafe extern "C" fn run<F: FnOnce(Way, usize)>(start: *const Start<F>) -> ! {
    // SAFETY: `Fiber::new` has written it, and nothing moves it while the fiber lives.
    let (anchor, body) = unsafe { (&(*start).anchor, (*start).body.take()) };
    if let Some(body) = body {
        // Above its frames is what changes whenever it is left.
        body(Way(anchor), start.addr());
    }
    // SAFETY: the hub waits for this fiber, which nobody enters again.
    unsafe {
        (*anchor.hub).ended.set(Some(anchor.task));
        switch(&anchor.left, (*anchor.hub).left.get());
    }
    unreachable!("internal error: a fiber that has ended was resumed")
}
