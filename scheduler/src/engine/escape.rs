//! Makes a result of what would end the process, on Linux (x86-64); elsewhere the process ends.
//!
//! - A task uses up its stack: it runs into the guard page below it, which is a segmentation fault.
//! - A panic of a task cannot unwind: std aborts.
//! - A task calls the real `std::process::abort`.
//! - A task accesses memory that the process does not have, or does something else that the system kills a process for.
//! - A task makes no step for too long, and the watchdog interrupts it.
//!
//! Each of these raises a signal. The handler makes the thread continue after the fiber of the task. The frames of the
//! task are gone then, without destructors, so no task of the execution runs again: whatever the tasks hold is
//! abandoned. If the stack ended inside the allocator, the allocator may stay locked.

use crate::execution::{Crash, PanicReport};

/// Why a task was led out of its fiber.
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "no task is led out there")
)]
pub(super) enum Escape {
    /// It has used up its stack.
    StackOverflow,
    /// The system would have killed the process for what the code at this address did.
    Crash { crash: Crash, code: usize },
    /// A panic of it could not unwind.
    Doomed(PanicReport),
    /// It asked for the process to be aborted.
    Abort,
    /// It made no step for too long.
    Stuck,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", any(test, interloper_portable)))]
pub(super) use system::go_on_behind;
pub(super) use system::{install_handlers, interrupt, this_thread};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod system {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    use corosensei::trap::{CoroutineTrapHandler, TrapHandlerRegs};

    use super::super::own_stack::{self, Why};
    use super::super::panics;
    use super::{Crash, Escape};

    /// The signal with which the watchdog interrupts a thread: programs hardly use it, and without a handler it does
    /// nothing.
    const INTERRUPT: libc::c_int = libc::SIGURG;

    const SIGNALS: [libc::c_int; 7] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP, libc::SIGFPE, libc::SIGABRT, INTERRUPT];

    /// What each signal did before our handler was installed.
    static PREVIOUS: [AtomicPtr<libc::sigaction>; SIGNALS.len()] =
        [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS.len()];

    /// Where the code of the program is: from, to.
    static CODE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

    /// Installs, once in a process, handlers that lead a task out of what would end the process. Everything else goes
    /// to the handlers that were there before.
    pub(in super::super) fn install_handlers() {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(|| {
            find_code();
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

    /// The name that the system gives this thread.
    pub(in super::super) fn this_thread() -> u64 {
        // SAFETY: the call only reads what the thread knows of itself.
        unsafe { libc::pthread_self() }
    }

    /// Sends the signal of the watchdog to a thread that has not ended. Returns false when that is not possible.
    pub(in super::super) fn interrupt(thread: u64) -> bool {
        // SAFETY: the thread lives: it owns the engine, whose end waits for the watchdog.
        thread != 0 && unsafe { libc::pthread_kill(thread, INTERRUPT) } == 0
    }

    /// Notes where the code of this file, and so of the program that it is linked into, begins and ends.
    fn find_code() {
        unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: libc::size_t, _: *mut libc::c_void) -> libc::c_int {
            let own = handle as extern "C" fn(_, _, _) as usize;
            // SAFETY: the loader gives a pointer to what it knows of one file, whose headers are as many as it says.
            let headers = unsafe { std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum)) };
            // SAFETY: as above.
            let base = unsafe { (*info).dlpi_addr } as usize;
            for header in headers.iter().filter(|header| header.p_flags & libc::PF_X != 0) {
                let from = base + header.p_vaddr as usize;
                let to = from + header.p_memsz as usize;
                if (from..to).contains(&own) {
                    CODE[0].store(from, Ordering::Relaxed);
                    CODE[1].store(to, Ordering::Relaxed);
                }
            }
            0
        }
        // SAFETY: the function is called for each file that is loaded, before this returns.
        unsafe { libc::dl_iterate_phdr(Some(look), ptr::null_mut()) };
    }

    /// Whether an interrupted thread holds nothing that the process needs, as far as can be told: it runs code of the
    /// program, or waits in the system. In a library it may hold the lock of the allocator.
    fn may_leave(context: &libc::ucontext_t) -> bool {
        let at = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        // SAFETY: both bytes are on the page of the instruction that comes next, which is mapped.
        let waits = || at % 4096 >= 2 && unsafe { *((at - 2) as *const [u8; 2]) } == [0x0f, 0x05];
        is_code(at) || waits()
    }

    /// What a task did that this signal was raised for, and where its code is. `None` if the code is one of a library that may hold
    /// what the process needs, such as the lock of the allocator.
    fn crash(signal: libc::c_int, info: *mut libc::siginfo_t, context: &libc::ucontext_t) -> Option<(Crash, usize)> {
        let crash = match signal {
            // SAFETY: the code says where the signal comes from.
            libc::SIGSEGV if unsafe { (*info).si_code } == OF_THE_PROCESSOR => Crash::Refused,
            // SAFETY: the address is there for a segmentation fault.
            libc::SIGSEGV if (unsafe { (*info).si_addr() } as usize) < FIRST_PAGE => Crash::NullPointer,
            libc::SIGSEGV | libc::SIGBUS => Crash::InvalidMemory,
            libc::SIGILL | libc::SIGTRAP => Crash::IllegalInstruction,
            libc::SIGFPE => Crash::Arithmetic,
            _ => return None,
        };
        let registers = &context.uc_mcontext.gregs;
        let [at, stack] = [libc::REG_RIP, libc::REG_RSP].map(|register| registers[register as usize] as usize);
        if is_code(at) {
            return Some((crash, at));
        }
        let copies = [
            libc::memcpy as *const () as usize,
            libc::memmove as *const () as usize,
            libc::memset as *const () as usize,
        ];
        let copies = copies.into_iter().chain([libc::memcmp as *const () as usize, libc::strlen as *const () as usize]);
        // Such a function needs no stack, so the address of its caller is on the top.
        let in_copy = copies.into_iter().any(|start| (start..start + LONGEST_COPY).contains(&at));
        // A call of what is no function has come no further than to its address.
        // SAFETY: the address is there for a segmentation fault.
        let is_call = signal == libc::SIGSEGV && unsafe { (*info).si_addr() } as usize == at;
        // SAFETY: the top of the stack of a task that runs can be read.
        let caller =
            (in_copy || is_call).then(|| unsafe { *(stack as *const usize) }).filter(|caller| is_code(*caller))?;
        Some((crash, caller - 1))
    }

    /// Where the kernel gives no address: the processor has refused the access.
    const OF_THE_PROCESSOR: libc::c_int = 128;

    /// No memory is at lower addresses.
    const FIRST_PAGE: usize = 4096;

    /// The functions of the system that copy memory are no longer than this.
    const LONGEST_COPY: usize = 4096;

    /// Whether this is the address of code of the program.
    fn is_code(at: usize) -> bool {
        let [from, to] = [0, 1].map(|end| CODE[end].load(Ordering::Relaxed));
        (from..to).contains(&at)
    }

    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel gives a pointer to the state of the interrupted thread, which nobody else has.
        let context_of_task = unsafe { &mut *context.cast::<libc::ucontext_t>() };
        if signal == INTERRUPT && !may_leave(context_of_task) {
            return;
        }
        if !lead_out(signal, info, context_of_task) && !lead_out_of_call(signal, info, context_of_task) {
            pass_on(signal, info, context);
        }
    }

    /// The same for a call that runs on a stack of its own.
    fn lead_out_of_call(signal: libc::c_int, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
        let why = match signal {
            // SAFETY: the address is there for a segmentation fault.
            libc::SIGSEGV => Why::Fault(unsafe { (*info).si_addr() } as usize, crash(signal, info, context)),
            libc::SIGABRT => Why::Abort,
            INTERRUPT => Why::Interrupt,
            // The address is that of code, which is on no stack.
            _ => Why::Fault(0, crash(signal, info, context)),
        };
        let Some(trap) = own_stack::active(|call| call.escape(why)).flatten() else { return false };
        // SAFETY: the running call was interrupted. Nothing looks at its frames again.
        unsafe { go_on_behind(trap, context) };
        true
    }

    /// Makes the interrupted thread continue after the fiber that it runs, if the signal concerns that fiber.
    fn lead_out(signal: libc::c_int, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
        let Some(core) = panics::active() else { return false };
        // SAFETY: `panics::observed` borrows the core for as long as the pointer is there.
        let core = unsafe { core.as_ref() };
        let task = core.next.get();
        // The engine itself must not have been interrupted: its state would be lost.
        let Ok(state) = core.state.try_borrow_mut() else { return false };
        let Some(link) = state.tasks.get(task).and_then(|task| task.link).filter(|_| core.in_task.get()) else {
            return false;
        };
        let escape = match signal {
            // SAFETY: the address is there for a segmentation fault.
            libc::SIGSEGV if link.is_on_stack(unsafe { (*info).si_addr() } as usize) => {
                match core.kept.try_borrow_apart() {
                    Ok(_) => Escape::StackOverflow,
                    // The engine itself has used it up.
                    Err(_) => return false,
                }
            }
            libc::SIGABRT => core.doomed.take().or_else(|| core.begun_now()).map_or(Escape::Abort, Escape::Doomed),
            // What goes wrong while the engine works is not of the program, and nobody must be led out of the engine.
            _ if core.choosing.get() || core.kept.try_borrow_apart().is_err() => return false,
            INTERRUPT => Escape::Stuck,
            _ => match crash(signal, info, context) {
                Some((crash, code)) => Escape::Crash { crash, code },
                None => return false,
            },
        };
        let asked = || core.beat.as_ref().is_some_and(|beat| beat.is_interrupted());
        if matches!(escape, Escape::Stuck) && !asked() {
            return false;
        }
        core.escaped.set(Some((task, escape)));
        core.over.set(true);
        drop(state);
        // SAFETY: the running fiber was interrupted. No task of the execution runs again, so nothing looks at the
        // frames of this fiber, or at what they have left half done.
        unsafe { link.way.leave(context) };
        true
    }

    /// Makes the interrupted thread continue after the fiber of `trap`.
    ///
    /// # Safety
    /// The fiber is the running one, and nothing looks at its frames again.
    pub(in super::super) unsafe fn go_on_behind(trap: CoroutineTrapHandler<()>, context: &mut libc::ucontext_t) {
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
        // SAFETY: `install_handler` stores a leaked box before the handler can run. The box has the previous action of
        // the system. Its handler is called as the system would call it; without a handler the fault comes again and
        // ends the process.
        unsafe {
            let index = SIGNALS.iter().position(|known| *known == signal).unwrap_or_default();
            let previous = &*PREVIOUS[index].load(Ordering::Acquire);
            match previous.sa_sigaction {
                // Without a handler nothing happens.
                libc::SIG_DFL | libc::SIG_IGN if signal == INTERRUPT => {}
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

    pub(in super::super) fn this_thread() -> u64 {
        0
    }

    /// No thread can be interrupted.
    pub(in super::super) fn interrupt(_: u64) -> bool {
        false
    }
}
