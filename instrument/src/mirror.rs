//! What a mirror type tells about itself.

use crate::runtime::{Handle, ObjectKind};

/// A mirror type whose values are objects of an execution.
pub(crate) trait Mirror {
    /// What the objects are.
    const KIND: ObjectKind;
    /// Whether a value may own something that must be dropped.
    const OWNS: bool;

    /// The handle of this value.
    fn handle(&self) -> &Handle;
}

/// A mirror type that is known by its address, since it is as short as the value in it.
pub(crate) trait Compact: Sized {
    /// What is in it.
    type Value: Copy;

    /// A copy with the current value. No step.
    fn copied(&self) -> Self;

    /// The value as a number, if the number is the same in every run: small, so that it is not an address. No step.
    fn number(&self) -> Option<u64>;

    /// The current value. No step.
    fn now(&self) -> Self::Value;

    /// Changes the value. No step.
    fn put(&self, value: Self::Value);

    /// A value as bits.
    fn bits(value: Self::Value) -> u64;

    /// The value of these bits.
    fn of_bits(bits: u64) -> Self::Value;
}
