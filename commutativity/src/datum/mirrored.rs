//! The mirrored types of std that the environment makes values of, as it does of the originals.

use std::hash::{BuildHasher, Hash};

use interloper_std::collections::{HashMap, HashSet};
use interloper_std::time::Instant;

use super::{Datum, ToValue, values_of};
use crate::Value;

impl<K: ToValue, V: ToValue, S> ToValue for HashMap<K, V, S> {
    const INTERIOR: bool = K::INTERIOR || V::INTERIOR;

    fn to_value(&self) -> Value {
        Value::map(self.iter().map(|(key, value)| (key.to_value(), value.to_value())))
    }
}

impl<K, V, S> Datum for HashMap<K, V, S>
where
    K: Datum + Eq + Hash,
    V: Datum,
    S: BuildHasher + Default + Clone + 'static,
{
    fn from_value(value: &Value) -> Option<Self> {
        let entries = std::collections::HashMap::<K, V>::from_value(value)?;
        Some(entries.into_iter().collect())
    }

    values_of!(std::collections::HashMap<K, V>);
}

impl<T: ToValue, S> ToValue for HashSet<T, S> {
    const INTERIOR: bool = T::INTERIOR;

    fn to_value(&self) -> Value {
        Value::set(self.iter().map(ToValue::to_value))
    }
}

impl<T: Datum + Eq + Hash, S: BuildHasher + Default + Clone + 'static> Datum for HashSet<T, S> {
    fn from_value(value: &Value) -> Option<Self> {
        let elements = std::collections::HashSet::<T>::from_value(value)?;
        Some(elements.into_iter().collect())
    }

    values_of!(std::collections::HashSet<T>);
}

impl ToValue for Instant {
    fn to_value(&self) -> Value {
        std::time::Instant::from(*self).to_value()
    }
}

impl Datum for Instant {
    fn from_value(value: &Value) -> Option<Self> {
        std::time::Instant::from_value(value).map(Instant::from)
    }

    values_of!(std::time::Instant);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn mirrored_types_have_the_forms_of_the_originals() {
        let map: HashMap<String, u8> = [("k".to_owned(), 7)].into_iter().collect();
        assert_eq!(map.to_value().to_string(), "{\"k\": 7}");
        assert_eq!(
            HashMap::<String, u8>::from_value(&map.to_value()).map(|read| read.to_value()),
            Some(map.to_value())
        );
        let set: HashSet<u8> = [1, 2].into_iter().collect();
        assert_eq!(HashSet::<u8>::from_value(&set.to_value()).map(|read| read.to_value()), Some(set.to_value()));
        assert_eq!(HashSet::<u8>::fresh(&[Value::set([])]), Some(Value::set([Value::Int(1)])));
        let original = std::time::Instant::now();
        let later = Instant::from(original + Duration::from_secs(1));
        assert_eq!(Instant::from_value(&later.to_value()), Some(later));
        assert_ne!(later.to_value(), original.to_value());
    }
}
