//! Collections of other crates that the driver runs as they were published, without knowing these crates: the code of a harness says
//! how they are used (`interloper::collections::foreign`).

/// A collection of another crate.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// The crate, as `use` says it.
    library: &'static str,
    kind: &'static str,
    pub(crate) package: &'static str,
    /// How it is seen.
    view: &'static str,
    /// Says how it is used. `HERE` stands for a type of the harness, `LIBRARY` for the crate.
    implementation: &'static str,
}

static ALL: [Foreign; 8] = [
    // Since version 3, whose methods have other names than before.
    Foreign { library: "scc", kind: "HashMap", package: "scc", view: "AsMap", implementation: SCC },
    Foreign { library: "papaya", kind: "HashMap", package: "papaya", view: "AsMap", implementation: PINNED },
    Foreign { library: "flurry", kind: "HashMap", package: "flurry", view: "AsMap", implementation: PINNED },
    Foreign { library: "moka", kind: "Cache", package: "moka", view: "AsMap", implementation: MOKA },
    Foreign {
        library: "quick_cache",
        kind: "Cache",
        package: "quick_cache",
        view: "AsMap",
        implementation: QUICK_CACHE,
    },
    Foreign { library: "arc_swap", kind: "ArcSwap", package: "arc-swap", view: "AsRegister", implementation: ARC_SWAP },
    Foreign {
        library: "arc_swap",
        kind: "ArcSwapOption",
        package: "arc-swap",
        view: "AsRegister",
        implementation: ARC_SWAP_OPTION,
    },
    Foreign { library: "once_cell", kind: "OnceCell", package: "once_cell", view: "AsOnce", implementation: ONCE_CELL },
];

/// That of std, which needs no more words.
static ONCE_LOCK: Foreign =
    Foreign { library: "std", kind: "OnceLock", package: "", view: "AsOnce", implementation: "" };

/// The collection of this name in a crate.
pub(crate) fn of(library: &str, kind: &str) -> Option<&'static Foreign> {
    match kind {
        "OnceLock" => Some(&ONCE_LOCK),
        _ => ALL.iter().find(|one| one.library == library && one.kind == kind),
    }
}

impl Foreign {
    /// Whether its crate has to be under control.
    pub(crate) fn is_of_a_package(&self) -> bool {
        !self.package.is_empty()
    }

    /// The collection to which `code` leads, as something that the environment acts on; `here` is a type of the harness.
    pub(crate) fn seen(&self, code: &str, here: &str) -> String {
        format!("interloper::collections::foreign::{}::<_, {here}>::of({code})", self.view)
    }

    /// The item that says how it is used.
    pub(crate) fn item(&self, here: &str) -> String {
        self.implementation.replace("HERE", here).replace("LIBRARY", self.library)
    }
}

const SCC: &str = "    impl<K, V, S> interloper::collections::foreign::Map<HERE> for ::scc::HashMap<K, V, S>
    where
        K: interloper::Datum + std::cmp::Eq + std::hash::Hash,
        V: interloper::Datum,
        S: std::hash::BuildHasher,
    {
        type Key = K;
        type Value = V;

        fn get(&self, key: &K) -> std::option::Option<V> {
            self.read_sync(key, |_, value| value.clone())
        }
        fn insert(&self, key: K, value: V) {
            self.upsert_sync(key, value);
        }
        fn remove(&self, key: &K) {
            self.remove_sync(key);
        }
        fn entries(&self) -> std::vec::Vec<(K, V)> {
            let mut all = std::vec::Vec::new();
            self.iter_sync(|key, value| {
                all.push((key.clone(), value.clone()));
                true
            });
            all
        }
        fn is_free(&self, key: &K) -> bool {
            self.try_entry(key.clone()).is_some()
        }
    }
";

/// A map whose methods need a guard, which `pin` gives.
const PINNED: &str = "    impl<K, V, S> interloper::collections::foreign::Map<HERE> for ::LIBRARY::HashMap<K, V, S>
    where
        K: interloper::Datum + std::cmp::Ord + std::hash::Hash + std::marker::Send + std::marker::Sync,
        V: interloper::Datum + std::marker::Send + std::marker::Sync,
        S: std::hash::BuildHasher,
    {
        type Key = K;
        type Value = V;

        fn get(&self, key: &K) -> std::option::Option<V> {
            self.pin().get(key).cloned()
        }
        fn insert(&self, key: K, value: V) {
            self.pin().insert(key, value);
        }
        fn remove(&self, key: &K) {
            self.pin().remove(key);
        }
        fn entries(&self) -> std::vec::Vec<(K, V)> {
            self.pin().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
        }
    }
";

const MOKA: &str = "    impl<K, V, S> interloper::collections::foreign::Map<HERE> for ::moka::sync::Cache<K, V, S>
    where
        K: interloper::Datum + std::cmp::Eq + std::hash::Hash + std::marker::Send + std::marker::Sync,
        V: interloper::Datum + std::marker::Send + std::marker::Sync,
        S: std::hash::BuildHasher + std::clone::Clone + std::marker::Send + std::marker::Sync + 'static,
    {
        type Key = K;
        type Value = V;

        fn get(&self, key: &K) -> std::option::Option<V> {
            ::moka::sync::Cache::get(self, key)
        }
        fn insert(&self, key: K, value: V) {
            ::moka::sync::Cache::insert(self, key, value);
        }
        fn remove(&self, key: &K) {
            self.invalidate(key);
        }
        fn entries(&self) -> std::vec::Vec<(K, V)> {
            self.iter().map(|(key, value)| ((*key).clone(), value)).collect()
        }
    }
";

const QUICK_CACHE: &str =
    "    impl<K, V, W, S, L> interloper::collections::foreign::Map<HERE> for ::quick_cache::sync::Cache<K, V, W, S, L>
    where
        K: interloper::Datum + std::cmp::Eq + std::hash::Hash,
        V: interloper::Datum,
        W: ::quick_cache::Weighter<K, V> + std::clone::Clone,
        S: std::hash::BuildHasher + std::clone::Clone,
        L: ::quick_cache::Lifecycle<K, V> + std::clone::Clone,
    {
        type Key = K;
        type Value = V;

        fn get(&self, key: &K) -> std::option::Option<V> {
            ::quick_cache::sync::Cache::get(self, key)
        }
        fn insert(&self, key: K, value: V) {
            ::quick_cache::sync::Cache::insert(self, key, value);
        }
        fn remove(&self, key: &K) {
            ::quick_cache::sync::Cache::remove(self, key);
        }
        fn entries(&self) -> std::vec::Vec<(K, V)> {
            self.iter().collect()
        }
    }
";

const ARC_SWAP: &str =
    "    impl<T: interloper::Datum> interloper::collections::foreign::Register<HERE> for ::arc_swap::ArcSwap<T> {
        type Content = T;

        fn load(&self) -> T {
            (*self.load_full()).clone()
        }
        fn store(&self, content: T) {
            ::arc_swap::ArcSwap::store(self, std::sync::Arc::new(content));
        }
    }
";

const ARC_SWAP_OPTION: &str =
    "    impl<T: interloper::Datum> interloper::collections::foreign::Register<HERE> for ::arc_swap::ArcSwapOption<T> {
        type Content = std::option::Option<T>;

        fn load(&self) -> std::option::Option<T> {
            self.load_full().map(|content| (*content).clone())
        }
        fn store(&self, content: std::option::Option<T>) {
            ::arc_swap::ArcSwapOption::store(self, content.map(std::sync::Arc::new));
        }
    }
";

const ONCE_CELL: &str =
    "    impl<T: interloper::Datum> interloper::collections::foreign::Once<HERE> for ::once_cell::sync::OnceCell<T> {
        type Content = T;

        fn get(&self) -> std::option::Option<T> {
            ::once_cell::sync::OnceCell::get(self).cloned()
        }
        fn set(&self, content: T) -> bool {
            ::once_cell::sync::OnceCell::set(self, content).is_ok()
        }
    }
";
