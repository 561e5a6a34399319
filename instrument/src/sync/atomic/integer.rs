//! The atomics of integers.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::Ordering;

use super::{Begin, compared, fails_weakly, for_failure, may_load, may_store, replaced};
use crate::control::{self, Compact, Stepped, Weakly};
use crate::runtime::{self, Action, Place, calls};
use crate::statics;

macro_rules! integer {
    ($atomic:ident, $value:ident, $module:ident, $width:literal) => {
        #[cfg(target_has_atomic = $width)]
        pub use $module::$atomic;

        #[cfg(target_has_atomic = $width)]
        mod $module {
            use std::sync::atomic::$atomic as Inner;

            use super::*;

            #[doc = concat!("Mirrors [`std::sync::atomic::", stringify!($atomic), "`].")]
            #[derive(Default)]
            #[repr(C)]
            pub struct $atomic {
                _begin: Begin,
                inner: Inner,
            }

            impl $atomic {
                common_methods!($value);
                composed_methods!($value);

                fetch_methods! {
                    $value:
                    /// Adds, wrapping around; gives what was there.
                    fetch_add fetch_add_at,
                    /// Subtracts, wrapping around; gives what was there.
                    fetch_sub fetch_sub_at,
                    /// Bitwise "and"; gives what was there.
                    fetch_and fetch_and_at,
                    /// Bitwise "nand"; gives what was there.
                    fetch_nand fetch_nand_at,
                    /// Bitwise "or"; gives what was there.
                    fetch_or fetch_or_at,
                    /// Bitwise "xor"; gives what was there.
                    fetch_xor fetch_xor_at,
                    /// The greater of the two; gives what was there.
                    fetch_max fetch_max_at,
                    /// The lesser of the two; gives what was there.
                    fetch_min fetch_min_at,
                }
            }

            compact! {
                $atomic, $value,
                |value: $value| u32::try_from(value).ok().map(u64::from),
                |value| value as u64,
                |bits| bits as $value
            }

            impl From<$value> for $atomic {
                #[inline]
                fn from(v: $value) -> Self {
                    $atomic::new(v)
                }
            }

            impl fmt::Debug for $atomic {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
                }
            }
        }
    };
}

integer!(AtomicI8, i8, int8, "8");
integer!(AtomicU8, u8, uint8, "8");
integer!(AtomicI16, i16, int16, "16");
integer!(AtomicU16, u16, uint16, "16");
integer!(AtomicI32, i32, int32, "32");
integer!(AtomicU32, u32, uint32, "32");
integer!(AtomicI64, i64, int64, "64");
integer!(AtomicU64, u64, uint64, "64");
integer!(AtomicIsize, isize, int_size, "ptr");
integer!(AtomicUsize, usize, uint_size, "ptr");
