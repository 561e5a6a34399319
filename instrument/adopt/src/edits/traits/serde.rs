
/// What this crate implements for types of std, for those of the mirror.
#[cfg(feature = "std")]
mod interloper_types {
    use ::interloper_std::__std as real;
    use ::interloper_std::collections::{HashMap, HashSet};
    use ::interloper_std::sync::{atomic, Mutex, RwLock};
    use real::convert::{From, Into};
    use real::hash::{BuildHasher, Hash};
    use real::result::Result::{self, Err, Ok};

    use crate::de::{Deserialize, Deserializer, IntoDeserializer};
    use crate::ser::{Error as _, Serialize, Serializer};

    macro_rules! table {
        ($table:ident, $first:ident $(, $second:ident)?) => {
            impl<$first: Serialize $(, $second: Serialize)?, S> Serialize for $table<$first $(, $second)?, S> {
                #[inline]
                fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                    let original: &real::collections::$table<$first $(, $second)?, S> = self;
                    original.serialize(serializer)
                }
            }

            impl<'de, $first, $($second: Deserialize<'de>,)? S> Deserialize<'de> for $table<$first $(, $second)?, S>
            where
                $first: Deserialize<'de> + Eq + Hash,
                S: BuildHasher + Default,
            {
                #[inline]
                fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                    real::collections::$table::<$first $(, $second)?, S>::deserialize(deserializer).map(Into::into)
                }
            }

            impl<'de, $first, $($second: IntoDeserializer<'de, Z>,)? S, Z> IntoDeserializer<'de, Z>
                for $table<$first $(, $second)?, S>
            where
                $first: IntoDeserializer<'de, Z> + Eq + Hash,
                S: BuildHasher,
                Z: crate::de::Error,
            {
                type Deserializer = <real::collections::$table<$first $(, $second)?, S> as IntoDeserializer<'de, Z>>::Deserializer;

                #[inline]
                fn into_deserializer(self) -> Self::Deserializer {
                    real::collections::$table::<$first $(, $second)?, S>::from(self).into_deserializer()
                }
            }
        };
    }

    table!(HashMap, K, V);
    table!(HashSet, T);

    macro_rules! lock {
        ($lock:ident, $read:ident) => {
            impl<T: ?Sized + Serialize> Serialize for $lock<T> {
                #[inline]
                fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                    match self.$read() {
                        Ok(locked) => (*locked).serialize(serializer),
                        Err(_) => Err(Z::Error::custom("lock poison error while serializing")),
                    }
                }
            }

            impl<'de, T: Deserialize<'de>> Deserialize<'de> for $lock<T> {
                #[inline]
                fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                    T::deserialize(deserializer).map($lock::new)
                }
            }
        };
    }

    lock!(Mutex, lock);
    lock!(RwLock, read);

    macro_rules! atomics {
        ($($atomic:ident: $of:ty, $bits:literal;)*) => {
            $(
                #[cfg(target_has_atomic = $bits)]
                impl Serialize for atomic::$atomic {
                    #[inline]
                    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                        // The original's ordering.
                        self.load(atomic::Ordering::Relaxed).serialize(serializer)
                    }
                }

                #[cfg(target_has_atomic = $bits)]
                impl<'de> Deserialize<'de> for atomic::$atomic {
                    #[inline]
                    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                        <$of>::deserialize(deserializer).map(atomic::$atomic::new)
                    }
                }
            )*
        };
    }

    atomics! {
        AtomicBool: bool, "8";
        AtomicI8: i8, "8";
        AtomicI16: i16, "16";
        AtomicI32: i32, "32";
        AtomicI64: i64, "64";
        AtomicIsize: isize, "ptr";
        AtomicU8: u8, "8";
        AtomicU16: u16, "16";
        AtomicU32: u32, "32";
        AtomicU64: u64, "64";
        AtomicUsize: usize, "ptr";
    }

    // Elsewhere the mirror's is the original.
    #[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
    mod time {
        use super::*;
        use ::interloper_std::time::SystemTime;

        impl Serialize for SystemTime {
            fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                real::time::SystemTime::from(*self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for SystemTime {
            fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                real::time::SystemTime::deserialize(deserializer).map(Into::into)
            }
        }
    }
}
