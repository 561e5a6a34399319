//! `AtomicBool`.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::{AtomicBool as Inner, Ordering};

use super::{Begin, compared, fails_weakly, for_failure, may_load, may_store, replaced};
use crate::control::{self, Compact, Stepped, Weakly};
use crate::runtime::{self, Action, Place, calls};
use crate::statics;

/// Mirrors [`std::sync::atomic::AtomicBool`].
#[derive(Default)]
#[repr(C)]
pub struct AtomicBool {
    _begin: Begin,
    inner: Inner,
}

impl AtomicBool {
    common_methods!(bool);
    composed_methods!(bool);

    fetch_methods! {
        bool:
        /// Logical "and"; gives what was there.
        fetch_and fetch_and_at,
        /// Logical "nand"; gives what was there.
        fetch_nand fetch_nand_at,
        /// Logical "or"; gives what was there.
        fetch_or fetch_or_at,
        /// Logical "xor"; gives what was there.
        fetch_xor fetch_xor_at,
    }

    /// Logical "not"; gives what was there.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

compact! { AtomicBool, bool, |value| Some(u64::from(value)), u64::from, |bits| bits != 0 }

impl From<bool> for AtomicBool {
    #[inline]
    fn from(b: bool) -> Self {
        AtomicBool::new(b)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
    }
}
