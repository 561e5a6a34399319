//! Where the engine calls destructors of the program, in a file of its own: see [`Located::Destructors`].
//!
//! [`Located::Destructors`]: crate::Located::Destructors

/// Drops a value of the program.
#[inline(never)]
pub(super) fn run<T>(value: T) {
    drop(value);
    // Not a tail call: this function stays on the stack meanwhile.
    std::hint::black_box(());
}
