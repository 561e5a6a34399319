//! What a task does that would end the process becomes a result, on Linux (x86-64); elsewhere the process ends.
//!
//! - It uses up its stack: it runs into the guard page below it, which is a segmentation fault.
//! - A panic of it cannot unwind: std aborts.
//! - It calls the real `std::process::abort`.
//!
//! All are signals. Their handler makes the thread go on behind the fiber of the task. The frames of the task are gone
//! then, without destructors, so no task of the execution runs again: whatever they hold is given up. Should a stack have
//! ended inside the allocator, that may be left locked.

use corosensei::trap::CoroutineTrapHandler;

use crate::execution::PanicReport;

/// Why a task was led out of its fiber.
pub(super) enum Escape {
    /// It has used up its stack.
    StackOverflow,
    /// A panic of it could not unwind.
    Doomed(PanicReport),
    /// It asked for the process to be aborted.
    Abort,
}

/// The ways out of fibers, by their tasks.
#[derive(Default)]
pub(super) struct Traps(Vec<Option<CoroutineTrapHandler<()>>>);

impl Traps {
    pub(super) fn set(&mut self, task: usize, trap: CoroutineTrapHandler<()>) {
        if self.0.len() <= task {
            self.0.resize(task + 1, None);
        }
        self.0[task] = Some(trap);
    }
}

pub(super) use system::install_handlers;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod system {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use corosensei::trap::{CoroutineTrapHandler, TrapHandlerRegs};

    use super::super::{own_stack, panics};
    use super::Escape;

    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGABRT];

    /// What was done about the signals before.
    static PREVIOUS: [AtomicPtr<libc::sigaction>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

    /// Installs, once in a process, handlers that lead a task out of what would end the process, and leave everything
    /// else to the handlers that were there before.
    pub(in super::super) fn install_handlers() {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(|| {
            for (signal, previous_of_signal) in SIGNALS.into_iter().zip(&PREVIOUS) {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed();
                let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
                // SAFETY: `sigaction` reads the one and writes the other, both of which live; all zeros is a value of
                // it. The handler runs on the alternate stack that std gives each of its threads.
                unsafe {
                    (*action.as_mut_ptr()).sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
                    (*action.as_mut_ptr()).sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    if libc::sigaction(signal, ptr::null(), previous.as_mut_ptr()) == 0 {
                        previous_of_signal.store(Box::into_raw(Box::new(previous.assume_init())), Ordering::Release);
                        libc::sigaction(signal, action.as_ptr(), ptr::null_mut());
                    }
                }
            }
        });
    }

    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel gives a pointer to the state of the interrupted thread, which nobody else has.
        let context_of_task = unsafe { &mut *context.cast::<libc::ucontext_t>() };
        if !lead_out(signal, info, context_of_task) && !lead_out_of_call(signal, info, context_of_task) {
            pass_on(signal, info, context);
        }
    }

    /// The same for a call that runs on a stack of its own.
    fn lead_out_of_call(signal: libc::c_int, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
        // SAFETY: the address is there for a segmentation fault.
        let fault = (signal == libc::SIGSEGV).then(|| unsafe { (*info).si_addr() } as usize);
        let Some(trap) = own_stack::active(|call| call.escape(fault)).flatten() else { return false };
        // SAFETY: the running call was interrupted. Nothing looks at its frames again.
        unsafe { go_on_behind(trap, context) };
        true
    }

    /// Makes the interrupted thread go on behind the fiber that it runs, if that is what the signal is about.
    fn lead_out(signal: libc::c_int, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
        let Some(core) = panics::active() else { return false };
        // SAFETY: `panics::observed` borrows the core for as long as the pointer is there.
        let core = unsafe { core.as_ref() };
        let task = core.next.get();
        let Ok(traps) = core.traps.try_borrow() else { return false };
        let Some(trap) = traps.0.get(task).copied().flatten().filter(|_| core.in_task.get()) else { return false };
        let escape = match signal {
            // SAFETY: the address is there for a segmentation fault.
            libc::SIGSEGV if trap.stack_ptr_in_bounds(unsafe { (*info).si_addr() } as usize) => Escape::StackOverflow,
            libc::SIGABRT => core.doomed.take().map_or(Escape::Abort, Escape::Doomed),
            _ => return false,
        };
        // The engine itself must not have been interrupted: its state would be lost.
        if core.state.try_borrow_mut().is_err() {
            return false;
        }
        core.escaped.set(Some((task, escape)));
        core.over.set(true);
        drop(traps);
        // SAFETY: the running fiber was interrupted. No task of the execution runs again, so nothing looks
        // at what the frames of this one have left half done, or at the frames themselves.
        unsafe { go_on_behind(trap, context) };
        true
    }

    /// Makes the interrupted thread go on behind the fiber of `trap`.
    ///
    /// # Safety
    /// The fiber is the running one, and nothing looks at its frames again.
    unsafe fn go_on_behind(trap: CoroutineTrapHandler<()>, context: &mut libc::ucontext_t) {
        // SAFETY: as the caller promises.
        let TrapHandlerRegs { rip, rsp, rbp, rdi, rsi } = unsafe { trap.setup_trap_handler(|| ()) };
        let registers = &mut context.uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = rip as i64;
        registers[libc::REG_RSP as usize] = rsp as i64;
        registers[libc::REG_RBP as usize] = rbp as i64;
        registers[libc::REG_RDI as usize] = rdi as i64;
        registers[libc::REG_RSI as usize] = rsi as i64;
    }

    fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: `install_handler` stores a leaked box before the handler can run; what it holds is what the system had
        // before: its handler is called as the system would, and where there is none, the fault comes again and ends
        // the process.
        unsafe {
            let previous = &*PREVIOUS[usize::from(signal != SIGNALS[0])].load(Ordering::Acquire);
            match previous.sa_sigaction {
                libc::SIG_DFL | libc::SIG_IGN => {
                    libc::sigaction(signal, previous, ptr::null_mut());
                }
                handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
                }
                handler => std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal),
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod system {
    pub(in super::super) fn install_handlers() {}
}
