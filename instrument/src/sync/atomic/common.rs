//! What all atomics have.
//!
//! Where the compiler announces the program's loads and stores, the operations are not inlined: what is inlined into the program is
//! announced like the program's own code, and each of those calls costs more than a call of the operation.
//!
//! An operation begins with what it does in a process that has had no execution yet, which is what std does. Everything else is in a
//! function of its own, so that the operation needs no stack there. There the ordering is the strongest, in place of a choice between
//! orderings that are known only when the program runs.

/// What an atomic does that has `inner`, one of std's, of a value of type `$value`.
macro_rules! common_methods {
    ($value:ty) => {
        /// A new atomic.
        #[inline]
        #[must_use]
        pub const fn new(v: $value) -> Self {
            Self { _begin: Begin, inner: Inner::new(v) }
        }

        /// Announces a step, which `weakly` makes where memory is weak.
        #[inline]
        fn at<R>(
            &self,
            step: (Action, Place),
            orders: (Ordering, Ordering),
            weakly: impl FnOnce(Weakly<'_, Self>) -> R,
        ) -> Stepped<'_, Self, R> {
            control::step(self, step, orders, weakly)
        }

        /// Whether a change is just what it is in std: see [`runtime::is_idle`].
        #[inline]
        fn is_idle(&self) -> bool {
            runtime::is_idle() && statics::atomics::may_change_unseen(self)
        }

        /// The value, by the only reference to the atomic.
        #[inline]
        pub fn get_mut(&mut self) -> &mut $value {
            self.inner.get_mut()
        }

        /// A pointer to the value. What is done through it is not a step.
        #[inline]
        pub const fn as_ptr(&self) -> *mut $value {
            self.inner.as_ptr()
        }

        /// Reads.
        ///
        /// # Panics
        /// When `order` is `Release` or `AcqRel`.
        #[cfg_attr(not(interloper_announced), inline)]
        #[cfg_attr(interloper_announced, inline(never))]
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $value {
            if runtime::is_idle() && may_load(order) {
                return self.inner.load(Ordering::SeqCst);
            }
            self.load_at(order, Location::caller())
        }

        #[cfg_attr(not(interloper_announced), inline(always))]
        #[cfg_attr(interloper_announced, inline(never))]
        fn load_at(&self, order: Ordering, place: Place) -> $value {
            let _call = calls::enter_object_at("load", self, place);
            match self.at((Action::Read, place), (order, order), |weakly| weakly.load(order)) {
                Stepped::At(here) => here.inner.load(order),
                Stepped::Done(found) => found,
            }
        }

        /// Writes.
        ///
        /// # Panics
        /// When `order` is `Acquire` or `AcqRel`.
        #[cfg_attr(not(interloper_announced), inline)]
        #[cfg_attr(interloper_announced, inline(never))]
        #[track_caller]
        pub fn store(&self, val: $value, order: Ordering) {
            if self.is_idle() && may_store(order) {
                return match order {
                    Ordering::SeqCst => self.inner.store(val, Ordering::SeqCst),
                    _ => self.inner.store(val, Ordering::Release),
                };
            }
            self.store_at(val, order, Location::caller());
        }

        #[cfg_attr(not(interloper_announced), inline(always))]
        #[cfg_attr(interloper_announced, inline(never))]
        fn store_at(&self, val: $value, order: Ordering, place: Place) {
            let _call = calls::enter_object_at("store", self, place);
            match self.at((Action::Write, place), (order, order), |weakly| weakly.store(val, order)) {
                Stepped::At(here) => here.inner.store(val, order),
                Stepped::Done(()) => {}
            }
        }

        /// Writes, and gives what was there.
        #[cfg_attr(not(interloper_announced), inline)]
        #[cfg_attr(interloper_announced, inline(never))]
        #[track_caller]
        pub fn swap(&self, val: $value, order: Ordering) -> $value {
            if self.is_idle() {
                return self.inner.swap(val, Ordering::SeqCst);
            }
            self.swap_at(val, order, Location::caller())
        }

        #[cfg_attr(not(interloper_announced), inline(always))]
        #[cfg_attr(interloper_announced, inline(never))]
        fn swap_at(&self, val: $value, order: Ordering, place: Place) -> $value {
            let _call = calls::enter_object_at("swap", self, place);
            match self.at((Action::ReadWrite, place), (order, order), |weakly| weakly.change(order, |_| val)) {
                Stepped::At(here) => replaced(here.inner.swap(val, order), val),
                Stepped::Done(found) => found,
            }
        }

        /// Writes if `current` is there.
        ///
        /// # Errors
        /// What is there instead.
        ///
        /// # Panics
        /// When `failure` is `Release` or `AcqRel`.
        #[cfg_attr(not(interloper_announced), inline)]
        #[cfg_attr(interloper_announced, inline(never))]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            if self.is_idle() && may_load(failure) {
                return self.inner.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst);
            }
            self.compare_exchange_at((current, new), (success, failure), Location::caller())
        }

        #[cfg_attr(not(interloper_announced), inline(always))]
        #[cfg_attr(interloper_announced, inline(never))]
        fn compare_exchange_at(
            &self,
            (current, new): ($value, $value),
            (success, failure): (Ordering, Ordering),
            place: Place,
        ) -> Result<$value, $value> {
            let _call = calls::enter_object_at("compare_exchange", self, place);
            let exchange =
                |weakly: Weakly<'_, Self>| weakly.compare_exchange((current, new), (success, failure), false);
            compared(match self.at((Action::ReadWrite, place), (success, failure), exchange) {
                Stepped::At(here) => here.inner.compare_exchange(current, new, success, failure),
                Stepped::Done(result) => result,
            })
        }

        /// Writes if `current` is there, but may fail even then; under control it does when
        /// [`Runtime::fails_weakly`](crate::runtime::Runtime::fails_weakly) says so.
        ///
        /// # Errors
        /// What is there.
        ///
        /// # Panics
        /// When `failure` is `Release` or `AcqRel`.
        #[cfg_attr(not(interloper_announced), inline)]
        #[cfg_attr(interloper_announced, inline(never))]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            if self.is_idle() && may_load(failure) {
                return self.inner.compare_exchange_weak(current, new, Ordering::SeqCst, Ordering::SeqCst);
            }
            self.compare_exchange_weak_at((current, new), (success, failure), Location::caller())
        }

        #[cfg_attr(not(interloper_announced), inline(always))]
        #[cfg_attr(interloper_announced, inline(never))]
        fn compare_exchange_weak_at(
            &self,
            (current, new): ($value, $value),
            (success, failure): (Ordering, Ordering),
            place: Place,
        ) -> Result<$value, $value> {
            let _call = calls::enter_object_at("compare_exchange_weak", self, place);
            let exchange = |weakly: Weakly<'_, Self>| weakly.compare_exchange((current, new), (success, failure), true);
            let here = match self.at((Action::ReadWrite, place), (success, failure), exchange) {
                Stepped::At(here) => here,
                Stepped::Done(result) => return compared(result),
            };
            if !runtime::is_controlled() {
                return here.inner.compare_exchange_weak(current, new, success, failure);
            }
            let fails = here.inner.load(Ordering::SeqCst) == current && fails_weakly();
            compared(if fails { Err(current) } else { here.inner.compare_exchange(current, new, success, failure) })
        }
    };
}

/// The methods that every atomic has, whatever it is made of.
macro_rules! composed_methods {
    ($value:ty) => {
        /// The value.
        #[inline]
        pub const fn into_inner(self) -> $value {
            let this = ManuallyDrop::new(self);
            // SAFETY: an atomic has the representation of its value, and this one is not used any more.
            unsafe { (&raw const this).cast::<$value>().read() }
        }

        /// The atomic at a place where a value is.
        ///
        /// # Safety
        /// As of std's: the pointer is valid and aligned for as long as the atomic is used, and meanwhile the value is
        /// not used in any other way.
        #[inline]
        pub const unsafe fn from_ptr<'a>(ptr: *mut $value) -> &'a Self {
            // SAFETY: an atomic has the representation of its value, and the rest is for the caller to see to.
            unsafe { &*ptr.cast::<Self>() }
        }

        /// Writes if `current` is there, and gives what was there.
        #[inline]
        #[track_caller]
        #[deprecated(since = "1.50.0", note = "Use `compare_exchange` or `compare_exchange_weak` instead")]
        pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
            self.compare_exchange(current, new, order, for_failure(order)).unwrap_or_else(|there| there)
        }

        /// Reads, computes a new value, and writes it if nobody has written meanwhile; otherwise begins again.
        ///
        /// # Errors
        /// What is there, when `f` gives nothing for it.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            let mut previous = self.load(fetch_order);
            while let Some(next) = f(previous) {
                match self.compare_exchange_weak(previous, next, set_order, fetch_order) {
                    Err(there) => previous = there,
                    done => return done,
                }
            }
            Err(previous)
        }

        /// As [`Self::fetch_update`].
        ///
        /// # Errors
        /// What is there, when `f` gives nothing for it.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn try_update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            f: impl FnMut($value) -> Option<$value>,
        ) -> Result<$value, $value> {
            self.fetch_update(set_order, fetch_order, f)
        }

        /// As [`Self::fetch_update`], for a function that always gives a new value.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline]
        #[track_caller]
        pub fn update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: impl FnMut($value) -> $value,
        ) -> $value {
            let updated = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
            updated.unwrap_or_else(|there| there)
        }
    };
}

/// What makes an atomic one that is known by its address.
macro_rules! compact {
    ($atomic:ty, $value:ty, $number:expr, $bits:expr, $of_bits:expr) => {
        impl Compact for $atomic {
            type Value = $value;

            fn copied(&self) -> Self {
                Self::new(self.inner.load(Ordering::Relaxed))
            }

            fn number(&self) -> Option<u64> {
                $number(self.inner.load(Ordering::Relaxed))
            }

            fn now(&self) -> $value {
                self.inner.load(Ordering::Relaxed)
            }

            fn put(&self, value: $value) {
                self.inner.store(value, Ordering::Relaxed);
            }

            fn bits(value: $value) -> u64 {
                $bits(value)
            }

            fn of_bits(bits: u64) -> $value {
                $of_bits(bits)
            }
        }

        impl runtime::Peek for $atomic {
            type Value = $value;

            #[inline]
            fn peek(&self) -> $value {
                control::there(self).now()
            }
        }
    };
}

/// Methods that combine the value with an argument in one step and give what was there.
macro_rules! fetch_methods {
    ($value:ty: $($(#[$doc:meta])* $name:ident $at:ident,)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(interloper_announced), inline)]
            #[cfg_attr(interloper_announced, inline(never))]
            #[track_caller]
            pub fn $name(&self, val: $value, order: Ordering) -> $value {
                if self.is_idle() {
                    return self.inner.$name(val, Ordering::SeqCst);
                }
                self.$at(val, order, Location::caller())
            }

            #[cfg_attr(not(interloper_announced), inline(always))]
            #[cfg_attr(interloper_announced, inline(never))]
            fn $at(&self, val: $value, order: Ordering, place: Place) -> $value {
                let _call = calls::enter_object_at(stringify!($name), self, place);
                let change = |there| {
                    let changed = Inner::new(there);
                    changed.$name(val, Ordering::Relaxed);
                    changed.into_inner()
                };
                let here = match self.at((Action::ReadWrite, place), (order, order), |weakly| weakly.change(order, change)) {
                    Stepped::At(here) => here,
                    Stepped::Done(found) => return found,
                };
                let before = here.inner.$name(val, order);
                if runtime::is_controlled() { replaced(before, here.inner.load(Ordering::Relaxed)) } else { before }
            }
        )*
    };
}
