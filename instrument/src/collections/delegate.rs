//! Methods and traits of the original.

/// Methods by reference: `fn name [generics] (arguments) -> result [bounds];`. Each has the name of the method of the
/// original, which is called `$original`.
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

/// A hash table over the original: what the map and the set have in common. `$item` is what its owner iterates over,
/// `$reference` what a borrower does.
macro_rules! table {
    (
        $original:literal, $table:ident, keys $key:ident $(: values $value:ident)?,
        iterates $item:ty as $into_iter:ty, $reference:ty as $iter:ty
    ) => {
        impl<$key $(, $value)?> $table<$key $(, $value)?, RandomState> {
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

        impl<$key $(, $value)?, S> $table<$key $(, $value)?, S> {
            #[doc = concat!("As [`std::collections::", $original, "::with_hasher`].")]
            #[inline]
            pub const fn with_hasher(hash_builder: S) -> Self {
                $table(Inner::with_hasher(hash_builder))
            }

            #[doc = concat!("As [`std::collections::", $original, "::with_capacity_and_hasher`].")]
            #[inline]
            pub fn with_capacity_and_hasher(capacity: usize, hash_builder: S) -> Self {
                $table(Inner::with_capacity_and_hasher(capacity, hash_builder))
            }

            by_reference! {
                $original:
                fn capacity[]() -> usize [];
                fn len[]() -> usize [];
                fn is_empty[]() -> bool [];
                fn hasher[]() -> &S [];
            }

            by_mutable_reference! {
                $original:
                fn clear[]() -> () [];
            }
        }

        impl<$key: Eq + Hash $(, $value)?, S: BuildHasher> $table<$key $(, $value)?, S> {
            by_mutable_reference! {
                $original:
                fn reserve[](additional: usize) -> () [];
                fn try_reserve[](additional: usize) -> Result<(), TryReserveError> [];
                fn shrink_to_fit[]() -> () [];
                fn shrink_to[](min_capacity: usize) -> () [];
            }
        }

        impl<$key $(, $value)?, S> Deref for $table<$key $(, $value)?, S> {
            type Target = Inner<$key $(, $value)?, S>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$key $(, $value)?, S> DerefMut for $table<$key $(, $value)?, S> {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl<$key $(, $value)?, S> From<Inner<$key $(, $value)?, S>> for $table<$key $(, $value)?, S> {
            fn from(table: Inner<$key $(, $value)?, S>) -> Self {
                $table(table)
            }
        }

        impl<$key $(, $value)?, S> From<$table<$key $(, $value)?, S>> for Inner<$key $(, $value)?, S> {
            fn from(table: $table<$key $(, $value)?, S>) -> Self {
                table.0
            }
        }

        impl<$key: Eq + Hash $(, $value)?, const N: usize> From<[$item; N]> for $table<$key $(, $value)?, RandomState> {
            fn from(items: [$item; N]) -> Self {
                items.into_iter().collect()
            }
        }

        impl<$key $(, $value)?, S: Default> Default for $table<$key $(, $value)?, S> {
            #[inline]
            fn default() -> Self {
                $table(Inner::default())
            }
        }

        impl<$key: Eq + Hash $(, $value: PartialEq)?, S: BuildHasher> PartialEq for $table<$key $(, $value)?, S> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<$key: Eq + Hash $(, $value: Eq)?, S: BuildHasher> Eq for $table<$key $(, $value)?, S> {}

        impl<$key: fmt::Debug $(, $value: fmt::Debug)?, S> fmt::Debug for $table<$key $(, $value)?, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<$key: Eq + Hash $(, $value)?, S: BuildHasher + Default> FromIterator<$item> for $table<$key $(, $value)?, S> {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                $table(Inner::from_iter(items))
            }
        }

        impl<$key: Eq + Hash $(, $value)?, S: BuildHasher> Extend<$item> for $table<$key $(, $value)?, S> {
            fn extend<I: IntoIterator<Item = $item>>(&mut self, items: I) {
                self.0.extend(items);
            }
        }

        impl<'a, $key: Eq + Hash + Copy $(, $value: Copy)?, S: BuildHasher> Extend<$reference> for $table<$key $(, $value)?, S> {
            fn extend<I: IntoIterator<Item = $reference>>(&mut self, items: I) {
                self.0.extend(items);
            }
        }

        impl<$key $(, $value)?, S> IntoIterator for $table<$key $(, $value)?, S> {
            type Item = $item;
            type IntoIter = $into_iter;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }

        impl<'a, $key $(, $value)?, S> IntoIterator for &'a $table<$key $(, $value)?, S> {
            type Item = $reference;
            type IntoIter = $iter;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.0.iter()
            }
        }
    };
}
