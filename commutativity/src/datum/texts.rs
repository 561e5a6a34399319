//! Types whose plain form is what they print: floating-point numbers, paths and addresses of networks.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::path::PathBuf;
use std::str::FromStr;

use super::{Datum, ToValue, values_of};
use crate::Value;

/// What a form without fields is the print of.
fn printed<T: FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Variant(one) if one.fields.is_empty() => one.name.parse().ok(),
        _ => None,
    }
}

macro_rules! floats {
    ($($type:ident),*) => {$(
        /// As Rust writes it: `0.5`. All that are no number have one form.
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                Value::variant(format!("{self:?}"), [])
            }
        }

        impl Datum for $type {
            fn from_value(value: &Value) -> Option<Self> {
                printed(value)
            }

            /// One more than the largest seen.
            fn fresh(seen: &[Value]) -> Option<Value> {
                let largest = seen.iter().filter_map(Self::from_value).filter(|one| one.is_finite()).reduce($type::max);
                let next = largest.map_or(1.0, |largest| largest + 1.0).to_value();
                (!seen.contains(&next)).then_some(next)
            }

            fn arbitrary(bits: u64) -> Option<Value> {
                Some((bits as u32 as $type).to_value())
            }
        }
    )*};
}

floats!(f32, f64);

macro_rules! addresses {
    ($($type:ty: $number:ident => $made:expr;)*) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                Value::variant(self.to_string(), [])
            }
        }

        impl Datum for $type {
            fn from_value(value: &Value) -> Option<Self> {
                printed(value)
            }

            fn fresh(seen: &[Value]) -> Option<Value> {
                (1..=u16::MAX).map(|$number| <$type>::from($made).to_value()).find(|value| !seen.contains(value))
            }

            fn arbitrary(bits: u64) -> Option<Value> {
                let $number = bits as u16;
                Some(<$type>::from($made).to_value())
            }
        }
    )*};
}

/// The address with this number among those of the machine itself.
fn local(number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(127, 0, high, low)
}

addresses! {
    Ipv4Addr: number => local(number);
    Ipv6Addr: number => [0, 0, 0, 0, 0, 0, 0, number];
    IpAddr: number => local(number);
    SocketAddr: number => (Ipv4Addr::LOCALHOST, number);
    SocketAddrV4: number => SocketAddrV4::new(Ipv4Addr::LOCALHOST, number);
    SocketAddrV6: number => SocketAddrV6::new(Ipv6Addr::LOCALHOST, number, 0, 0);
}

/// The text, or the bytes of a path that is no text.
impl ToValue for PathBuf {
    fn to_value(&self) -> Value {
        match self.to_str() {
            Some(text) => Value::text(text),
            None => Value::list(self.as_os_str().as_encoded_bytes().iter().map(ToValue::to_value)),
        }
    }
}

impl Datum for PathBuf {
    fn from_value(value: &Value) -> Option<Self> {
        String::from_value(value).map(PathBuf::from)
    }

    values_of!(String);
}

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    const INTERIOR: bool = T::INTERIOR;

    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

impl Datum for Cow<'static, str> {
    fn from_value(value: &Value) -> Option<Self> {
        String::from_value(value).map(Cow::Owned)
    }

    values_of!(String);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::testing::is_read_back;

    #[test]
    fn numbers_paths_and_addresses_are_read_back() {
        is_read_back([0.5, -0.0, 0.0, f64::INFINITY, f64::MIN_POSITIVE]);
        is_read_back([0.1_f32]);
        is_read_back([f64::NAN]);
        is_read_back([PathBuf::from("a/b"), PathBuf::new()]);
        is_read_back([IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::UNSPECIFIED)]);
        is_read_back([Ipv4Addr::LOCALHOST]);
        is_read_back([Ipv6Addr::LOCALHOST]);
        is_read_back([SocketAddr::from((Ipv6Addr::LOCALHOST, 80))]);
        is_read_back([SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80)]);
        is_read_back([SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 3)]);
        is_read_back([Cow::Borrowed("k")]);
    }

    #[test]
    fn zero_has_two_forms_and_what_is_no_number_has_one() {
        assert_ne!(0.0_f64.to_value(), (-0.0_f64).to_value());
        assert_eq!(f64::NAN.to_value(), (-f64::NAN).to_value());
    }

    #[test]
    fn the_largest_number_has_no_fresh_one_after_it() {
        assert_eq!(f64::fresh(&[f64::MAX.to_value()]), None);
        let large = 1e300.to_value();
        assert_eq!(f64::from_value(&large).map(|read| read.to_value()), Some(large));
    }
}
