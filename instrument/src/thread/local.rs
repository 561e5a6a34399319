//! `thread_local!` and `LocalKey`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::mem::needs_drop;
use std::rc::Rc;

use crate::plain::{self, Handed};
use crate::runtime::{self, Current, Local, Slot};

/// Mirrors [`std::thread_local`]: under control each task of each execution has its own value, which is dropped when the
/// task ends.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            const __INIT: $t = $init;
            static __SLOT: $crate::runtime::Slot = $crate::runtime::Slot::new();
            $crate::__std::thread_local! { static __REAL: $t = const { __INIT }; }
            $crate::thread::LocalKey::__new(&__REAL, &__SLOT, || __INIT)
        };
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            fn __init() -> $t { $init }
            static __SLOT: $crate::runtime::Slot = $crate::runtime::Slot::new();
            $crate::__std::thread_local! { static __REAL: $t = __init(); }
            $crate::thread::LocalKey::__new(&__REAL, &__SLOT, __init)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}

/// Mirrors [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    slot: &'static Slot,
    init: fn() -> T,
}

/// Mirrors [`std::thread::AccessError`].
#[non_exhaustive]
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct AccessError;

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn __new(real: &'static std::thread::LocalKey<T>, slot: &'static Slot, init: fn() -> T) -> LocalKey<T> {
        LocalKey { real, slot, init }
    }

    /// As [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    /// When the value has been dropped.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => refuse(error),
        }
    }

    /// As [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    /// When the value has been dropped.
    #[inline]
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match runtime::with(|current| self.value(&current, self.init)) {
            None => self.real.try_with(f).map_err(|_| AccessError),
            Some(value) => value.map(|value| f(&value)),
        }
    }

    /// The value of the running task; `init` makes it if it is missing.
    fn value(&self, current: &Current<'_>, init: impl FnOnce() -> T) -> Result<Rc<T>, AccessError> {
        let value = match find(current, self.slot)? {
            Some(value) => value,
            None => {
                let value = Rc::new(init());
                // What refers to it outside of this key can be used at the wrong time, as with any memory of the program.
                plain::hand_over(Rc::as_ptr(&value).addr(), Handed::Local(size_of::<T>()));
                let value: Rc<dyn Any> = value;
                // As in std, destructors of other values can still use a value without one at the end of the task.
                current.runtime().set_local(self.slot.index(), value.clone(), !needs_drop::<T>());
                value
            }
        };
        Ok(value.downcast().expect("a slot belongs to one key"))
    }
}

/// The value of the running task in a slot, if there is one. Not generic, so that it is compiled with the mirror: where the compiler
/// announces loads and stores, it announces those of generic functions, too.
#[inline(never)]
fn find(current: &Current<'_>, slot: &Slot) -> Result<Option<Rc<dyn Any>>, AccessError> {
    match current.runtime().local(slot.index()) {
        Local::Value(value) => Ok(Some(value)),
        Local::Destroyed => Err(AccessError),
        Local::Empty => Ok(None),
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As [`std::thread::LocalKey::set`](std::thread::LocalKey#method.set).
    ///
    /// # Panics
    /// When the cell has been dropped.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        let mut value = Some(Cell::new(value));
        let take = |value: &mut Option<Cell<T>>| value.take().expect("a value is put in once");
        match runtime::with(|current| self.value(&current, || take(&mut value))) {
            None => self.real.set(take(&mut value).into_inner()),
            Some(Err(error)) => refuse(error),
            Some(Ok(cell)) => value.into_iter().for_each(|value| cell.set(value.into_inner())),
        }
    }

    /// As [`std::thread::LocalKey::get`].
    ///
    /// # Panics
    /// When the cell has been dropped.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// As [`std::thread::LocalKey::take`](std::thread::LocalKey#method.take).
    ///
    /// # Panics
    /// When the cell has been dropped.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// As [`std::thread::LocalKey::replace`](std::thread::LocalKey#method.replace).
    ///
    /// # Panics
    /// When the cell has been dropped.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As [`std::thread::LocalKey::with_borrow`].
    ///
    /// # Panics
    /// When the value is mutably borrowed, or has been dropped.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// As [`std::thread::LocalKey::with_borrow_mut`].
    ///
    /// # Panics
    /// When the value is borrowed, or has been dropped.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// As [`std::thread::LocalKey::set`](std::thread::LocalKey#method.set-1).
    ///
    /// # Panics
    /// When the value is borrowed, or has been dropped.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        let mut value = Some(RefCell::new(value));
        let take = |value: &mut Option<RefCell<T>>| value.take().expect("a value is put in once");
        match runtime::with(|current| self.value(&current, || take(&mut value))) {
            None => self.real.set(take(&mut value).into_inner()),
            Some(Err(error)) => refuse(error),
            Some(Ok(cell)) => value.into_iter().for_each(|value| *cell.borrow_mut() = value.into_inner()),
        }
    }

    /// As [`std::thread::LocalKey::take`](std::thread::LocalKey#method.take-1).
    ///
    /// # Panics
    /// When the value is borrowed, or has been dropped.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// As [`std::thread::LocalKey::replace`](std::thread::LocalKey#method.replace-1).
    ///
    /// # Panics
    /// When the value is borrowed, or has been dropped.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

#[cold]
#[track_caller]
fn refuse(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}")
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt("already destroyed", f)
    }
}

impl Error for AccessError {}
