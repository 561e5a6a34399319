//! What `cargo interloper` says to a program by what it links to it: a symbol. A flag of the compiler is for all crates, and all of
//! them would be compiled once more where it differs.

/// The address of the symbol `INTERLOPER_…` of this name, which may be linked to the program; 0 if it is not.
macro_rules! mark {
    ($name:literal) => {{
        #[cfg(interloper_announced)]
        let address: usize = {
            let address: usize;
            // SAFETY: the instruction reads an entry of the table of symbols, which is 0 for a weak symbol that nothing defines.
            #[cfg(target_arch = "x86_64")]
            unsafe {
                std::arch::asm!(
                    concat!(".weak INTERLOPER_", $name),
                    concat!("mov {}, qword ptr [rip + INTERLOPER_", $name, "@GOTPCREL]"),
                    out(reg) address,
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            unsafe {
                std::arch::asm!(
                    concat!(".weak INTERLOPER_", $name),
                    concat!("adrp {0}, :got:INTERLOPER_", $name),
                    concat!("ldr {0}, [{0}, :got_lo12:INTERLOPER_", $name, "]"),
                    out(reg) address,
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            {
                address = 0;
            }
            address
        };
        #[cfg(not(interloper_announced))]
        let address: usize = 0;
        address
    }};
}

/// Whether `cargo interloper` compiled the target that this program is without announcements, since no execution can begin in it: a
/// test target that does not name interloper. An execution in such a program would see no plain memory of the target's own code.
pub fn is_quiet() -> bool {
    mark!("QUIET") != 0
}

/// Whether `cargo interloper` compiled the program so that each load is announced, also one before a store to the same place.
pub(super) fn announces_each() -> bool {
    mark!("EACH") != 0
}

/// Why an execution in such a program must not look at plain memory, if that is so: see [`is_quiet`].
pub fn lacks_announcements() -> Option<&'static str> {
    is_quiet().then_some(
        "this test target was compiled without announced loads and stores, since none of its files names interloper, so data races and \
         uses of freed memory would be missed: write the word `interloper` in the file of the target (a comment will do) and run `cargo \
         interloper test` again",
    )
}
