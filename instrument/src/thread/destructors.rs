//! Where a task drops what is the program's, in a file of its own: code that reads debug information takes the destructors for the
//! program's, though no code of the program has called them.

/// Drops what may be the last of a value of the program.
#[inline(never)]
pub(super) fn run<T>(value: T) {
    drop(value);
    // Not a tail call: this function stays on the stack meanwhile.
    std::hint::black_box(());
}
