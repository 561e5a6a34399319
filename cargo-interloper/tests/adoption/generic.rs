//! `cargo interloper hunt`: objects whose types have parameters.

use super::hunting::project;

const SOURCE: &str = "use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Mutex;

pub struct Cache<K, V, S = RandomState>(Mutex<HashMap<K, V, S>>);

impl<K, V> Cache<K, V> {
    pub fn new() -> Self {
        Cache(Mutex::default())
    }
}

#[interloper::object(new = Cache::new())]
impl<K: Eq + Hash, V: Clone, S> Cache<K, V, S>
where
    S: BuildHasher,
{
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().unwrap().get(key).cloned()
    }

    pub fn insert(&self, key: K, value: V) -> Option<V> {
        self.0.lock().unwrap().insert(key, value)
    }

    pub fn get_or_insert(&self, key: K, value: V) -> V {
        if let Some(known) = self.get(&key) {
            return known;
        }
        self.0.lock().unwrap().insert(key, value.clone());
        value
    }
}

pub struct Ring<T, const N: usize>(Mutex<Vec<T>>);

#[interloper::object(name = \"ring\", with(T = String))]
impl<T, const N: usize> Ring<T, N> {
    #[constructor]
    pub fn new() -> Self {
        Ring(Mutex::new(Vec::with_capacity(N)))
    }

    #[method]
    pub fn push(&self, item: T) -> bool {
        let mut items = self.0.lock().unwrap();
        let has_room = items.len() < N;
        if has_room {
            items.push(item);
        }
        has_room
    }

    #[method]
    pub fn push_late(&self, item: T) -> bool {
        let has_room = self.0.lock().unwrap().len() < N;
        if has_room {
            self.0.lock().unwrap().push(item);
        }
        has_room
    }

    #[core]
    pub fn pop(&self) -> Option<T> {
        self.0.lock().unwrap().pop()
    }
}
";

/// A number stands for each type of which the description says nothing, the hasher of std for a hasher, and 2 for a constant.
#[test]
fn objects_with_parameters_are_hunted() {
    let project = project();
    project.put("src/lib.rs", SOURCE);
    let hunt = |name: &str, code: i32| project.run(&["hunt", "--offline", name, "--schemas", "40"]).expect(code).out;
    let found = hunt("Cache", 1);
    for part in ["✗ get_or_insert   not atomic", "replay: cargo interloper hunt Cache --schema '{ get_or_insert("] {
        assert!(found.contains(part), "{part} is not in\n{found}");
    }
    // A ring with room for two texts.
    let ring = hunt("ring", 1);
    assert!(ring.contains("✓ push        no violation found"), "{ring}");
    let late = "✗ push_late   not atomic           { push_late(\"a\"); push_late(\"a\") } || { push_late(\"a\") }   true, true, true";
    assert!(ring.contains(late), "{ring}");
    let file = "interloper-failures/Cache-get_or_insert-42.json";
    let again = project.run(&["replay", file]).expect(0);
    assert!(again.out.contains("get_or_insert("), "{}", again.out);
}
