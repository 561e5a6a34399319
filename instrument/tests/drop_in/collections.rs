//! Hash tables.

use std::collections::hash_map::{self, Entry, RandomState};
use std::collections::{BTreeMap, HashMap, HashSet, hash_set};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Mutex;

type Fixed = BuildHasherDefault<DefaultHasher>;

static TABLE: Mutex<HashMap<u32, u32, Fixed>> = Mutex::new(HashMap::with_hasher(Fixed::new()));

/// Maps are generic over their hasher.
fn sum<S: BuildHasher>(map: &HashMap<&str, u32, S>) -> u32 {
    map.values().sum()
}

programs! {
    fn a_map() {
        let mut map: HashMap<String, u32> = HashMap::new();
        assert!(map.is_empty() && map.insert("one".to_owned(), 1).is_none());
        *map.entry("two".into()).or_default() += 2;
        match map.entry("two".into()) {
            Entry::Occupied(entry) => assert_eq!(*entry.get(), 2),
            Entry::Vacant(_) => unreachable!(),
        }
        assert_eq!((map.get("one"), map.contains_key("three"), map["two"], map.len()), (Some(&1), false, 2, 2));
        assert_eq!(map.get_key_value("one").unwrap().0, "one");
        *map.get_mut("one").unwrap() = 5;
        map.values_mut().for_each(|value| *value *= 2);
        assert_eq!(map.get_disjoint_mut(["one", "three"]), [Some(&mut 10), None]);
        let sorted: BTreeMap<_, _> = map.iter().collect();
        assert_eq!(format!("{sorted:?}"), r#"{"one": 10, "two": 4}"#);
        assert_eq!((map.remove("one"), map.remove_entry("two")), (Some(10), Some(("two".to_owned(), 4))));
        assert_eq!(format!("{map:?}"), "{}");
    }

    fn maps_from_pairs() {
        let map = HashMap::from([("a", 1), ("b", 2)]);
        let other: HashMap<&str, u32> = [("b", 2), ("a", 1)].into_iter().collect();
        assert_eq!(map, other);
        assert_eq!((sum(&map), map.keys().map(|key| key.len()).sum::<usize>()), (3, 2));
        let mut copy = map.clone();
        copy.extend([("c", 3)]);
        copy.extend(&map);
        copy.retain(|_, value| *value != 2);
        let mut keys: Vec<_> = copy.clone().into_keys().collect();
        keys.sort_unstable();
        assert_eq!(keys, ["a", "c"]);
        assert_eq!(copy.extract_if(|_, value| *value == 3).collect::<Vec<_>>(), [("c", 3)]);
        for (key, value) in &mut copy {
            *value += u32::from(*key == "a");
        }
        for (key, value) in &copy {
            assert_eq!((*key, *value), ("a", 2));
        }
        assert_eq!(copy.drain().collect::<Vec<_>>(), [("a", 2)]);
        assert_eq!(map.into_values().sum::<u32>(), 3);
        assert_eq!(other.into_iter().fold(0, |sum, (_, value)| sum + value), 3);
    }

    fn room() {
        let mut map: HashMap<u8, u8> = HashMap::with_capacity(10);
        assert!(map.capacity() >= 10);
        map.reserve(20);
        assert!(map.try_reserve(30).is_ok() && map.capacity() >= 30);
        map.shrink_to(5);
        map.shrink_to_fit();
        map.clear();
        let lengths = [map.len(), HashMap::<u8, u8>::default().len(), Option::map_or(Some(&map), 1, HashMap::len)];
        assert_eq!(lengths, [0; 3]);
    }

    fn hashers() {
        let state = RandomState::new();
        let same = hash_map::HashMap::<u32, (), RandomState>::with_capacity_and_hasher(1, state.clone());
        assert_eq!(same.hasher().hash_one(7), state.hash_one(7));
        let fixed: HashMap<u32, u32, Fixed> = HashMap::with_hasher(Fixed::default());
        assert_eq!(fixed.hasher().hash_one(1), Fixed::default().hash_one(1));
        let mut table = TABLE.lock().unwrap();
        table.insert(1, 2);
        assert_eq!(table.get(&1), Some(&2));
    }

    fn sets() {
        let mut set: HashSet<u32> = HashSet::new();
        assert!(set.insert(1) && !set.insert(1) && set.contains(&1));
        let other = HashSet::from([1, 2, 3]);
        assert!(set.is_subset(&other) && other.is_superset(&set) && !set.is_disjoint(&other));
        let sorted = |set: HashSet<u32>| {
            let mut sorted: Vec<_> = set.into_iter().collect();
            sorted.sort_unstable();
            sorted
        };
        assert_eq!(sorted(&other - &set), [2, 3]);
        assert_eq!(sorted(&other & &set), [1]);
        assert_eq!(sorted(&other | &set), [1, 2, 3]);
        assert_eq!(sorted(&other ^ &set), [2, 3]);
        assert_eq!(other.difference(&set).count() + set.union(&other).count(), 5);
        assert_eq!(other.intersection(&set).count() + set.symmetric_difference(&other).count(), 3);
        set.extend(&other);
        set.extend([4]);
        set.retain(|value| value % 2 == 0);
        assert_eq!(set.extract_if(|value| *value == 4).collect::<Vec<_>>(), [4]);
        assert_eq!((set.take(&2), set.remove(&2), set.replace(5), set.get(&5)), (Some(2), false, None, Some(&5)));
        assert_eq!(format!("{set:?}"), "{5}");
        assert_eq!(set.drain().map(|value| value + 1).collect::<hash_set::HashSet<_>>(), HashSet::from([6]));
        assert!(IntoIterator::into_iter(&set).next().is_none() && set == HashSet::default());
    }
}
