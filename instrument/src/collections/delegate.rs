//! Methods that are the original's.

/// Methods by reference: `fn name [generics] (arguments) -> result [bounds];`, all of them named as the original's, which
/// is `$original`.
macro_rules! by_reference {
    ($original:literal: $(fn $name:ident [$($generics:tt)*] ($($argument:ident: $type:ty),*) -> $result:ty [$($bounds:tt)*];)*) => {
        $(
            #[doc = concat!("As [`std::collections::", $original, "::", stringify!($name), "`].")]
            #[inline]
            pub fn $name<$($generics)*>(&self, $($argument: $type),*) -> $result where $($bounds)* {
                self.0.$name($($argument),*)
            }
        )*
    };
}

/// As above, by mutable reference.
macro_rules! by_mutable_reference {
    ($original:literal: $(fn $name:ident [$($generics:tt)*] ($($argument:ident: $type:ty),*) -> $result:ty [$($bounds:tt)*];)*) => {
        $(
            #[doc = concat!("As [`std::collections::", $original, "::", stringify!($name), "`].")]
            #[inline]
            pub fn $name<$($generics)*>(&mut self, $($argument: $type),*) -> $result where $($bounds)* {
                self.0.$name($($argument),*)
            }
        )*
    };
}

/// The constructors of a hash table.
macro_rules! constructors {
    ($original:literal, $table:ident, $inner:ident, $($parameter:ident),*) => {
        impl<$($parameter),*> $table<$($parameter),*, RandomState> {
            #[doc = concat!("As [`std::collections::", $original, "::new`].")]
            #[inline]
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            #[doc = concat!("As [`std::collections::", $original, "::with_capacity`].")]
            #[inline]
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                Self::with_capacity_and_hasher(capacity, RandomState::new())
            }
        }

        impl<$($parameter),*, S> $table<$($parameter),*, S> {
            #[doc = concat!("As [`std::collections::", $original, "::with_hasher`].")]
            #[inline]
            pub const fn with_hasher(hash_builder: S) -> Self {
                $table($inner::with_hasher(hash_builder))
            }

            #[doc = concat!("As [`std::collections::", $original, "::with_capacity_and_hasher`].")]
            #[inline]
            pub fn with_capacity_and_hasher(capacity: usize, hash_builder: S) -> Self {
                $table($inner::with_capacity_and_hasher(capacity, hash_builder))
            }
        }
    };
}
