//! `cargo interloper composed --run` on collections of crates that it does not know.

use super::*;

const SOURCE: &str = "use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use once_cell::sync::OnceCell;

#[derive(Default)]
pub struct Scc {
    values: scc::HashMap<u32, u32>,
}

impl Scc {
    pub fn memoize(&self, key: u32) -> u32 {
        if let Some(known) = self.values.read_sync(&key, |_, value| *value) {
            return known;
        }
        let _ = self.values.insert_sync(key, key * 2);
        key * 2
    }
}

#[derive(Default)]
pub struct Once {
    value: OnceLock<u32>,
}

impl Once {
    pub fn value(&self, new: u32) -> u32 {
        if let Some(known) = self.value.get() {
            return *known;
        }
        let _ = self.value.set(new);
        new
    }

    /// The twin: what the cell says is what the method says.
    pub fn settled(&self, new: u32) -> u32 {
        match self.value.set(new) {
            Ok(()) => new,
            Err(_) => *self.value.get().unwrap(),
        }
    }
}

#[derive(Default)]
pub struct Cell {
    value: OnceCell<u32>,
}

impl Cell {
    pub fn value(&self, new: u32) -> u32 {
        if let Some(known) = self.value.get() {
            return *known;
        }
        let _ = self.value.set(new);
        new
    }
}

pub struct Swap {
    value: ArcSwap<u32>,
    last: ArcSwapOption<u32>,
}

impl Swap {
    pub fn new() -> Swap {
        Swap { value: ArcSwap::from_pointee(0), last: ArcSwapOption::empty() }
    }

    pub fn add(&self, by: u32) {
        let old = self.value.load_full();
        self.value.store(Arc::new(old.wrapping_add(by)));
    }

    pub fn once(&self, value: u32) -> bool {
        if self.last.load().is_none() {
            self.last.store(Some(Arc::new(value)));
            return true;
        }
        false
    }
}
";

/// A map whose methods need a guard.
const PINNED: &str = "
#[derive(Default)]
pub struct Pinned {
    values: library::HashMap<u32, u32>,
}

impl Pinned {
    pub fn memoize(&self, key: u32) -> u32 {
        let values = self.values.pin();
        if let Some(known) = values.get(&key) {
            return *known;
        }
        values.insert(key, key * 2);
        key * 2
    }
}
";

/// A cache with a bound.
const CACHE: &str = "
pub struct Bounded {
    values: library::sync::Cache<u32, u32>,
}

impl Bounded {
    pub fn new() -> Bounded {
        Bounded { values: library::sync::Cache::new(100) }
    }

    pub fn memoize(&self, key: u32) -> u32 {
        if let Some(known) = self.values.get(&key) {
            return known;
        }
        self.values.insert(key, key * 2);
        key * 2
    }
}
";

/// Each is judged on the collection as it was published, and the atomic form of each that is not atomic is run as well.
#[test]
fn collections_of_other_crates_are_run_and_their_forms_are_checked() {
    let project = Project::new(
        "[dependencies]\narc-swap = \"1\"\nflurry = \"0.5\"\nmoka = { version = \"0.12\", features = [\"sync\"] }\n\
         once_cell = \"1\"\npapaya = \"0.2\"\nquick_cache = \"0.6\"\nscc = \"3\"\n",
    );
    let of_crate = |text: &str, name: &str, library: &str| {
        text.replace("Pinned", name).replace("Bounded", name).replace("library::", &format!("{library}::"))
    };
    let others = [
        of_crate(PINNED, "Papaya", "papaya"),
        of_crate(PINNED, "Flurry", "flurry"),
        of_crate(CACHE, "Moka", "moka"),
        of_crate(CACHE, "Quick", "quick_cache"),
    ];
    project.put("src/lib.rs", &format!("{SOURCE}{}", others.concat()));
    let asked = ["composed", "--run", "--no-pairs", "--bound", "1", "--format", "json"];
    let document: serde_json::Value = serde_json::from_str(&project.run(&asked).expect(1).out).expect("JSON");
    let operations = document["operations"].as_array().expect("operations");
    let of = |name: &str| {
        let found = operations.iter().find(|one| one["name"] == name);
        &found.unwrap_or_else(|| panic!("{name} is not listed"))["outcome"]
    };
    let broken = [
        ("Scc::memoize", "entry"),
        ("Papaya::memoize", "get_or_insert_with"),
        ("Flurry::memoize", "try_insert"),
        ("Moka::memoize", "get_with"),
        ("Quick::memoize", "get_or_insert_with"),
        ("Once::value", "get_or_init"),
        ("Cell::value", "get_or_init"),
        ("Swap::add", "rcu"),
        ("Swap::once", "rcu"),
    ];
    for (name, form) in broken {
        let outcome = of(name);
        assert_eq!(outcome["verdict"], "not-linearizable", "{name}: {outcome}");
        let fix = outcome["fix"].to_string();
        assert!(fix.contains(form), "{name}: {fix}");
    }
    assert_eq!(of("Once::settled")["verdict"], "linearizable", "{}", of("Once::settled"));
}
