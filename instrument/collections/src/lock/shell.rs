//! What the two locks have in common, and what their guards have in common.

/// A lock: `$look` locks the original to look at the content, `$change` to change it, each if the lock is free. An
/// operation of the environment that reads takes the lock in the mode `$reading`.
macro_rules! lock {
    ($(#[$doc:meta])* $lock:ident, looks with $look:ident ($reading:ident), changes with $change:ident) => {
        $(#[$doc])*
        pub struct $lock<C> {
            inner: real::$lock<C>,
            handle: Handle,
        }

        impl<C> $lock<C> {
            /// An unlocked lock.
            pub const fn new(content: C) -> $lock<C> {
                $lock { inner: real::$lock::new(content), handle: Handle::of(Kind::$lock, 0) }
            }

            /// Whether a task panicked while it could change the content.
            pub fn is_poisoned(&self) -> bool {
                self.inner.is_poisoned()
            }

            /// Forgets that a task panicked while it could change the content.
            pub fn clear_poison(&self) {
                self.inner.clear_poison();
            }

            /// The content. No step: the lock is owned.
            ///
            /// # Errors
            /// The content, when the lock is poisoned.
            pub fn into_inner(self) -> LockResult<C> {
                self.inner.into_inner()
            }

            /// The content. No step: the lock is borrowed exclusively.
            ///
            /// # Errors
            /// The content, when the lock is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut C> {
                self.inner.get_mut()
            }
        }

        impl<C: StdCollection> $lock<C> {
            /// Changes the content, with no step.
            ///
            /// # Panics
            /// When a guard is alive that keeps the content from being changed.
            fn directly<R>(&self, work: impl FnOnce(&mut C) -> R) -> R {
                match self.inner.$change() {
                    Ok(mut content) => work(&mut content),
                    Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
                    Err(TryLockError::WouldBlock) => panic!("the environment acts on a lock whose guard is alive"),
                }
            }

            /// Looks at the content, with no step. `None` when a guard is alive that keeps the content from being read.
            fn try_look<R>(&self, work: impl FnOnce(&C) -> R) -> Option<R> {
                match self.inner.$look() {
                    Ok(content) => Some(work(&content)),
                    Err(TryLockError::Poisoned(poisoned)) => Some(work(&poisoned.into_inner())),
                    Err(TryLockError::WouldBlock) => None,
                }
            }

            /// As `try_look`.
            ///
            /// # Panics
            /// When a guard is alive that keeps the content from being read.
            fn look<R>(&self, work: impl FnOnce(&C) -> R) -> R {
                self.try_look(work).expect("the environment looks at a lock whose guard is alive")
            }
        }

        /// One step if the content can be read.
        impl<C: StdCollection + fmt::Debug> fmt::Debug for $lock<C> {
            #[track_caller]
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut lock = out.debug_struct(stringify!($lock));
                match self.$look() {
                    Ok(content) => lock.field("data", &*content),
                    Err(TryLockError::Poisoned(poisoned)) => lock.field("data", &**poisoned.get_ref()),
                    Err(TryLockError::WouldBlock) => lock.field("data", &format_args!("<locked>")),
                };
                lock.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
            }
        }

        impl<C: Default> Default for $lock<C> {
            fn default() -> $lock<C> {
                $lock::new(C::default())
            }
        }

        impl<C> From<C> for $lock<C> {
            fn from(content: C) -> $lock<C> {
                $lock::new(content)
            }
        }

        impl<C: StdCollection> Instrumented for $lock<C> {
            fn handle(&self) -> &Handle {
                &self.handle
            }

            fn model(&self) -> Arc<dyn Model> {
                self.look(StdCollection::model)
            }

            fn snapshot(&self) -> Value {
                self.look(StdCollection::state)
            }

            fn snapshot_beside_guards(&self, known: &Value) -> Value {
                self.try_look(StdCollection::state).unwrap_or_else(|| known.clone())
            }

            fn restore(&self, state: &Value) -> Result<(), Value> {
                self.inner.clear_poison();
                self.directly(|content| content.restore(state))
            }

            /// # Panics
            /// When a guard is alive that the operation would wait for.
            fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
                match C::reads(call.method) {
                    true => self.look(|content| content.look_up(call)),
                    false => self.directly(|content| content.change(call)),
                }
            }

            fn needs(&self, call: &Invocation) -> Needs {
                the_lock(if C::reads(call.method) { Mode::$reading } else { Mode::Exclusive })
            }

            fn domain(&self) -> DomainKind {
                C::domain()
            }
        }
    };
}

/// The guard of a critical section.
macro_rules! guard {
    ($(#[$doc:meta])* $guard:ident) => {
        $(#[$doc])*
        pub struct $guard<'a, C: StdCollection> {
            real: real::$guard<'a, C>,
            /// After `real`, so that the real lock is free when the session hears of it.
            section: Option<Section>,
        }

        impl<C: StdCollection> Drop for $guard<'_, C> {
            fn drop(&mut self) {
                if let Some(section) = &self.section {
                    section.report(&*self.real);
                }
            }
        }

        impl<C: StdCollection> Deref for $guard<'_, C> {
            type Target = C;

            fn deref(&self) -> &C {
                &self.real
            }
        }

        impl<C: StdCollection + fmt::Debug> fmt::Debug for $guard<'_, C> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(out)
            }
        }

        impl<C: StdCollection + fmt::Display> fmt::Display for $guard<'_, C> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(out)
            }
        }
    };
}
