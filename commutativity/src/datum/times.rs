//! Lengths of time and points in time: whole nanoseconds.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use interloper_std::runtime::origin;

use super::{Datum, ToValue};
use crate::Value;

/// Fresh times are so far apart.
const APART: i128 = 1_000_000_000;

fn form(name: &str, nanoseconds: i128) -> Value {
    Value::variant(name, [nanoseconds.to_value()])
}

/// The nanoseconds of a form of this name.
fn nanoseconds(name: &str, value: &Value) -> Option<i128> {
    match value {
        Value::Variant(one) if &*one.name == name => match &one.fields[..] {
            [number] => i128::from_value(number),
            _ => None,
        },
        _ => None,
    }
}

/// A second more than the latest seen.
fn later(name: &str, seen: &[Value]) -> Value {
    let latest = seen.iter().filter_map(|value| nanoseconds(name, value)).max().unwrap_or(0);
    form(name, latest.saturating_add(APART))
}

/// A length without a sign.
fn length(nanoseconds: i128) -> Option<Duration> {
    let nanoseconds = nanoseconds.unsigned_abs();
    let seconds = u64::try_from(nanoseconds / 1_000_000_000).ok()?;
    Some(Duration::new(seconds, (nanoseconds % 1_000_000_000) as u32))
}

fn signed(length: Duration) -> i128 {
    length.as_nanos() as i128
}

macro_rules! times {
    ($($(#[$doc:meta])* $type:ty, $name:literal: $(|$from:ident| $to:expr)?, |$number:ident| $made:expr;)*) => {$(
        $(#[$doc])*
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                $(let $from = *self; form($name, $to))?
            }
        }

        impl Datum for $type {
            fn from_value(value: &Value) -> Option<Self> {
                let $number = nanoseconds($name, value)?;
                $made
            }

            fn fresh(seen: &[Value]) -> Option<Value> {
                let next = later($name, seen);
                Self::from_value(&next).filter(|_| !seen.contains(&next)).map(|_| next)
            }

            fn arbitrary(bits: u64) -> Option<Value> {
                Some(form($name, i128::from(bits as u32)))
            }
        }
    )*};
}

times! {
    Duration, "nanoseconds": |length| signed(length), |number| if number < 0 { None } else { length(number) };
    /// From the start of the execution on, in virtual time.
    Instant, "instant": |time| since(time, origin()), |number| match number < 0 {
        true => origin().checked_sub(length(number)?),
        false => origin().checked_add(length(number)?),
    };
    /// From 1970 on.
    SystemTime, "since_1970": |time| match time.duration_since(UNIX_EPOCH) {
        Ok(after) => signed(after),
        Err(before) => -signed(before.duration()),
    }, |number| match number < 0 {
        true => UNIX_EPOCH.checked_sub(length(number)?),
        false => UNIX_EPOCH.checked_add(length(number)?),
    };
}

fn since(time: Instant, origin: Instant) -> i128 {
    match time.checked_duration_since(origin) {
        Some(after) => signed(after),
        None => -signed(origin.duration_since(time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::testing::is_read_back;

    #[test]
    fn times_are_read_back() {
        is_read_back([Duration::ZERO, Duration::from_nanos(7), Duration::new(1 << 40, 999_999_999)]);
        is_read_back([origin(), origin() + Duration::from_secs(1), origin() - Duration::from_nanos(1)]);
        is_read_back([UNIX_EPOCH, UNIX_EPOCH - Duration::from_nanos(3)]);
    }

    #[test]
    fn the_longest_duration_has_no_longer_one() {
        assert_eq!(Duration::fresh(&[Duration::MAX.to_value()]), None);
        assert_eq!(Duration::from_value(&form("nanoseconds", -1)), None);
    }
}
