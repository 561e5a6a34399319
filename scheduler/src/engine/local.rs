//! What a task remembers for itself: its registers and its stack, as a number.
//!
//! Two looks of a task with the same number are looks from the same point of the program, with the same values in all variables, as
//! far as these are on the stack: whatever lies on the heap or in statics is not part of it. So a loop that looks twice from the
//! same local state, while nothing changes, goes round for ever.
//!
//! The number is taken where a mirror type enters the engine. What lies below on the stack is the engine's own: it counts steps,
//! and would never be the same again, so the engine leaves nothing of it behind there. The bytes of variables that are not used any
//! more are part of the number, and so are paddings: the same local state can have two numbers, but two local states have one number
//! only by chance, one in 2^64.

use std::ops::Range;

use interloper_std::runtime::{Operation, Place, TaskId};

use super::core::Core;

/// A task with more bytes than this on its stack has no number for a strategy: to read them would take longer than the step. The engine
/// itself takes that of so many bytes.
const MOST: usize = 64 << 10;

/// How many registers a call preserves, with the stack pointer.
const REGISTERS: usize = if cfg!(target_arch = "aarch64") { 20 } else { 7 };

/// Who is told a local state.
#[derive(Clone, Copy)]
enum Told {
    /// The engine alone, which looks for livelocks: see `looks.rs`.
    Engine,
    /// The strategy, too.
    Strategy,
}

impl Core {
    /// Tells the local state of the running task, if the strategy or the engine itself wants to know. Inlined, so that the stack pointer
    /// is that of the caller.
    #[inline(always)]
    pub(super) fn tell_local_state(&self, place: Place) {
        if self.tells_local_states.get()
            && let Some(told) = self.to_be_told_at(place)
        {
            let mut registers = [0; REGISTERS];
            // SAFETY: the array has room for all that is written.
            unsafe { preserved(&mut registers) };
            self.tell_registers(&registers, told);
        }
    }

    /// In a frame of its own, with nothing in it that changes from step to step: see the module.
    #[cold]
    #[inline(never)]
    pub(super) fn step_in_local_state(&self, operation: Operation) {
        self.tell_local_state(operation.location);
        self.step_apart(operation);
        self.leave_no_frames();
    }

    #[inline(never)]
    fn step_apart(&self, operation: Operation) {
        self.look_or_attempt(operation);
    }

    /// Leaves nothing of what the engine had on the stack of the task, as far down as frames of the program usually reach, if local
    /// states are told. The next frames there have paddings, and places for variables that are not set yet, and these are part of the
    /// number.
    #[inline(always)]
    pub(super) fn leave_no_frames(&self) {
        if self.tells_local_states.get() {
            forget_frames();
        }
    }

    /// Who is to be told the local state of the running task, which is about to look at this place.
    #[cold]
    #[inline(never)]
    fn to_be_told_at(&self, place: Place) -> Option<Told> {
        if self.choosing.get() || self.state.borrow().aborting {
            return None;
        }
        let task = TaskId(self.state.borrow().current as u32);
        if self.wants_local_states.get() && self.consult(|strategy| strategy.wants_local_state_at(task, place)) {
            return Some(Told::Strategy);
        }
        self.state.borrow().looks.are_followed().then_some(Told::Engine)
    }

    #[cold]
    #[inline(never)]
    fn tell_registers(&self, registers: &[u64; REGISTERS], told: Told) {
        let task = self.state.borrow().current;
        let base = match told {
            Told::Strategy => self.base.get(),
            // What counts the rounds of a loop is near: the engine only asks whether the task may be at work.
            Told::Engine => self.base.get().min((registers[0] as usize).saturating_add(MOST)),
        };
        let Some(number) = number(registers, self.floor.get()..base) else { return };
        self.state.borrow_mut().looks_from(TaskId(task as u32), number);
        if let Told::Strategy = told {
            self.consult(|strategy| strategy.local_state(TaskId(task as u32), number));
        }
    }
}

#[cold]
#[inline(never)]
fn forget_frames() {
    const BYTES: usize = 4 << 10;
    std::hint::black_box(&mut [0_u8; BYTES]);
}

/// One number for these registers, the first of which is the stack pointer, and for the stack above it. None on a stack that the
/// program has made for itself.
fn number(registers: &[u64; REGISTERS], own: Range<usize>) -> Option<u64> {
    let top = usize::try_from(registers[0]).ok().filter(|top| own.contains(top))?;
    let length = own.end - top;
    if length > MOST || !CAN_READ {
        return None;
    }
    // The stack pointer is within the stack of the running task, which ends at its base, and it is aligned. Nobody writes there
    // meanwhile: the frames are those that called this function.
    let mut at = top;
    // Four at a time: one multiplication need not wait for the one before. Loops, and no iterators, whose calls stay calls where this
    // crate is optimised little: a third of the time of this project's own tests was spent here.
    let mut lanes = [0; 4];
    while own.end - at >= 4 * WORD {
        // SAFETY: four words are left.
        unsafe {
            lanes[0] = stir(lanes[0], word(at));
            lanes[1] = stir(lanes[1], word(at + WORD));
            lanes[2] = stir(lanes[2], word(at + 2 * WORD));
            lanes[3] = stir(lanes[3], word(at + 3 * WORD));
        }
        at += 4 * WORD;
    }
    let mut number = length as u64;
    for value in registers.iter().chain(&lanes) {
        number = stir(number, *value);
    }
    while own.end - at >= WORD {
        // SAFETY: a word is left.
        number = stir(number, unsafe { word(at) });
        at += WORD;
    }
    Some(number)
}

/// The bytes of a word.
const WORD: usize = size_of::<u64>();

/// The word of a stack at this address. An instruction reads it, so the compiler does not ask which of its bytes were written by whom.
///
/// # Safety
/// The word is aligned, and within the stack of the running task.
#[inline(always)]
unsafe fn word(address: usize) -> u64 {
    let word: u64;
    // SAFETY: as the caller says. Nothing is written.
    #[cfg(all(not(miri), target_arch = "x86_64"))]
    unsafe {
        std::arch::asm!("mov {}, [{}]", out(reg) word, in(reg) address, options(nostack, readonly, preserves_flags));
    }
    // SAFETY: as the caller says. Nothing is written.
    #[cfg(all(not(miri), target_arch = "aarch64"))]
    unsafe {
        std::arch::asm!("ldr {}, [{}]", out(reg) word, in(reg) address, options(nostack, readonly, preserves_flags));
    }
    // SAFETY: as the caller says.
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    unsafe {
        word = std::ptr::with_exposed_provenance::<u64>(address).read_volatile();
    }
    word
}

/// Every word changes the number. Quicker than a hash that resists attacks.
#[inline(always)]
fn stir(number: u64, word: u64) -> u64 {
    (number ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Whether this machine is one whose registers are known here.
const CAN_READ: bool = cfg!(all(unix, not(miri), any(target_arch = "x86_64", target_arch = "aarch64")));

/// Writes the stack pointer of the caller, and the registers that a call preserves: the values that the caller's callers keep in
/// registers are in these, or on the stack.
#[cfg(all(unix, not(miri), target_arch = "x86_64"))]
#[unsafe(naked)]
unsafe extern "C" fn preserved(registers: &mut [u64; REGISTERS]) {
    std::arch::naked_asm!(
        "lea rax, [rsp + 8]",
        "mov [rdi], rax",
        "mov [rdi + 8], rbx",
        "mov [rdi + 16], rbp",
        "mov [rdi + 24], r12",
        "mov [rdi + 32], r13",
        "mov [rdi + 40], r14",
        "mov [rdi + 48], r15",
        "ret",
    )
}

/// As on x86-64.
#[cfg(all(unix, not(miri), target_arch = "aarch64"))]
#[unsafe(naked)]
unsafe extern "C" fn preserved(registers: &mut [u64; REGISTERS]) {
    std::arch::naked_asm!(
        "mov x9, sp",
        "str x9, [x0]",
        "stp x19, x20, [x0, 8]",
        "stp x21, x22, [x0, 24]",
        "stp x23, x24, [x0, 40]",
        "stp x25, x26, [x0, 56]",
        "stp x27, x28, [x0, 72]",
        "str x29, [x0, 88]",
        "stp d8, d9, [x0, 96]",
        "stp d10, d11, [x0, 112]",
        "stp d12, d13, [x0, 128]",
        "stp d14, d15, [x0, 144]",
        "ret",
    )
}

#[cfg(not(all(unix, not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
unsafe extern "C" fn preserved(_: &mut [u64; REGISTERS]) {}
