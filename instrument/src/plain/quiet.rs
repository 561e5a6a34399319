//! Test targets that announce nothing, since no execution can begin in them: `cargo interloper` marks them.

/// Whether `cargo interloper` compiled the target that this program is without announcements, since no execution can begin in it: a
/// test target that does not name interloper. An execution in such a program would see no plain memory of the target's own code.
pub fn is_quiet() -> bool {
    #[cfg(interloper_announced)]
    let mark = mark();
    #[cfg(not(interloper_announced))]
    let mark = 0;
    mark != 0
}

/// Why an execution in such a program must not look at plain memory, if that is so: see [`is_quiet`].
pub fn lacks_announcements() -> Option<&'static str> {
    is_quiet().then_some(
        "this test target was compiled without announced loads and stores, since none of its files names interloper, so data races and \
         uses of freed memory would be missed: write the word `interloper` in the file of the target (a comment will do) and run `cargo \
         interloper test` again",
    )
}

/// The address of the symbol that is linked to quiet targets; 0 in all others.
#[cfg(interloper_announced)]
fn mark() -> usize {
    let address: usize;
    // SAFETY: the instruction reads an entry of the table of symbols, which is 0 for a weak symbol that nothing defines.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            ".weak INTERLOPER_QUIET",
            "mov {}, qword ptr [rip + INTERLOPER_QUIET@GOTPCREL]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            ".weak INTERLOPER_QUIET",
            "adrp {0}, :got:INTERLOPER_QUIET",
            "ldr {0}, [{0}, :got_lo12:INTERLOPER_QUIET]",
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let address = 0;
    address
}
