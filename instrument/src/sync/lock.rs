//! What the two locks have in common, and what their guards have in common.

/// A lock over the original: whatever does not depend on the mode of locking. `Debug` locks with
/// `$try_lock`, and shows `$taken` for the content of a lock that is taken, as std does.
macro_rules! lock {
    ($name:literal, $lock:ident, $user:literal, $try_lock:ident, taken: $taken:expr) => {
        impl<T: ?Sized> Mirror for $lock<T> {
            const KIND: ObjectKind = ObjectKind::$lock;
            const OWNS: bool = needs_drop::<T>();

            #[inline]
            fn handle(&self) -> &Handle {
                &self.handle
            }
        }

        impl<T> $lock<T> {
            #[doc = concat!("As [`std::sync::", $name, "::new`].")]
            #[inline]
            pub const fn new(t: T) -> $lock<T> {
                $lock { handle: Handle::new(), poison: Poison::new(), inner: std::sync::$lock::new(t) }
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[doc = concat!("As [`std::sync::", $name, "::is_poisoned`].")]
            #[inline]
            pub fn is_poisoned(&self) -> bool {
                control::value(self).poison.get()
            }

            #[doc = concat!("As [`std::sync::", $name, "::clear_poison`].")]
            #[inline]
            pub fn clear_poison(&self) {
                control::value(self).poison.clear();
            }

            #[doc = concat!("As [`std::sync::", $name, "::into_inner`].")]
            ///
            /// # Errors
            #[doc = concat!("When ", $user, " panicked while holding the lock.")]
            pub fn into_inner(self) -> LockResult<T>
            where
                T: Sized,
            {
                let value = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
                self.poison.check(value)
            }

            #[doc = concat!("As [`std::sync::", $name, "::get_mut`].")]
            ///
            /// # Errors
            #[doc = concat!("When ", $user, " panicked while holding the lock.")]
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                let value = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
                self.poison.check(value)
            }
        }

        impl<T> From<T> for $lock<T> {
            fn from(t: T) -> Self {
                $lock::new(t)
            }
        }

        impl<T: Default> Default for $lock<T> {
            fn default() -> $lock<T> {
                $lock::new(T::default())
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut d = f.debug_struct($name);
                match self.$try_lock() {
                    Ok(guard) => d.field("data", &&*guard),
                    Err(TryLockError::Poisoned(error)) => d.field("data", &&**error.get_ref()),
                    Err(TryLockError::WouldBlock) => d.field("data", $taken),
                };
                d.field("poisoned", &self.is_poisoned());
                d.finish_non_exhaustive()
            }
        }
    };
}

/// What a guard passes on to the guard of the original; `writes` marks a guard that may change the value.
macro_rules! guard {
    ($guard:ident) => {
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    ($guard:ident writes) => {
        guard!($guard);

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.inner
            }
        }
    };
}
