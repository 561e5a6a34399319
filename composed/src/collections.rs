//! The collections that count, and what their methods do.

use serde::{Deserialize, Serialize};

/// What a collection is, as far as its methods go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Keys with values, or a set of keys.
    Map,
    /// A queue, a stack, a channel.
    Queue,
    /// An atomic number, flag or pointer.
    Atomic,
    /// A cell that is set once.
    Once,
    /// A pointer that is exchanged as a whole.
    Swap,
    /// A lock around a collection: each critical section is a call.
    Lock,
}

/// What a call does to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Asks whether something is there.
    Check,
    /// Reads a value.
    Get,
    /// Asks how much is there.
    Size,
    /// Reads all of it.
    Iterate,
    /// Puts something there.
    Insert,
    /// Takes something away.
    Remove,
    /// Reads and writes in one step.
    Change,
    /// Writes if what it expects is there.
    Exchange,
    /// Not known.
    Other,
}

impl Effect {
    pub(crate) fn reads_only(self) -> bool {
        matches!(self, Effect::Check | Effect::Get | Effect::Size | Effect::Iterate)
    }
}

/// The families by name, as a manifest says them.
pub(crate) fn known(path: &[String]) -> Option<Family> {
    let name = path.last()?.as_str();
    let from = |crates: &[&str]| path.len() > 1 && crates.contains(&path[0].as_str());
    Some(match name {
        "DashMap" | "DashSet" | "SkipMap" | "SkipSet" | "SkipList" => Family::Map,
        "SegQueue" | "ArrayQueue" | "ConcurrentQueue" => Family::Queue,
        "ArcSwap" | "ArcSwapOption" | "ArcSwapAny" | "ArcSwapWeak" => Family::Swap,
        "AtomicBool" | "AtomicPtr" | "AtomicCell" => Family::Atomic,
        "HashMap" | "HashSet" | "HashIndex" | "HashCache" | "TreeIndex" if from(&["scc", "papaya", "flurry"]) => {
            Family::Map
        }
        "Queue" | "Stack" | "Bag" if from(&["scc"]) => Family::Queue,
        "Cache" | "SegmentedCache" if from(&["moka", "quick_cache", "mini_moka"]) => Family::Map,
        "OnceLock" | "OnceCell" if from(&["std", "once_cell", "tokio", "interloper"]) && !is_unsync(path) => {
            Family::Once
        }
        _ if is_atomic_number(name) => Family::Atomic,
        _ => return None,
    })
}

/// `AtomicU64`, `AtomicUsize`.
fn is_atomic_number(name: &str) -> bool {
    let number = name.strip_prefix("Atomic").and_then(|rest| rest.strip_prefix(['U', 'I']));
    number.is_some_and(|size| ["8", "16", "32", "64", "128", "size"].contains(&size))
}

/// For a single thread.
fn is_unsync(path: &[String]) -> bool {
    path.iter().any(|segment| segment == "unsync" || segment == "cell")
}

/// Whether a value of the type is a handle to a collection that other handles share.
pub(crate) fn is_handle(path: &[String]) -> bool {
    path.first().is_some_and(|first| first == "moka" || first == "mini_moka")
}

/// Names under which a lock of std or parking_lot is known, or of an asynchronous crate.
pub(crate) fn is_lock(path: &[String]) -> bool {
    matches!(path.last().map(String::as_str), Some("Mutex" | "RwLock" | "FairMutex" | "ReentrantMutex"))
}

/// A collection that is not concurrent.
pub(crate) fn is_plain(name: &str) -> bool {
    const NAMES: [&str; 22] = [
        "HashMap",
        "HashSet",
        "BTreeMap",
        "BTreeSet",
        "Vec",
        "VecDeque",
        "BinaryHeap",
        "LinkedList",
        "IndexMap",
        "IndexSet",
        "FxHashMap",
        "FxHashSet",
        "AHashMap",
        "AHashSet",
        "LruCache",
        "Slab",
        "SlotMap",
        "SmallVec",
        "String",
        "BytesMut",
        "PriorityQueue",
        "LinkedHashMap",
    ];
    NAMES.contains(&name)
}

/// What a method does, or `None` for a method that does not look into the collection, or only makes a handle to it.
pub(crate) fn effect(family: Family, method: &str) -> Option<Effect> {
    let method = method.trim_end_matches("_async").trim_end_matches("_sync");
    match family {
        Family::Map => of_map(method),
        Family::Queue => of_queue(method),
        Family::Atomic => of_atomic(method),
        Family::Once => of_once(method),
        Family::Swap => of_swap(method),
        Family::Lock => None,
    }
}

/// Methods that give the collection itself, pinned or borrowed.
pub(crate) fn gives_itself(method: &str) -> bool {
    const NAMES: [&str; 22] = [
        "pin",
        "pin_owned",
        "with_guard",
        "clone",
        "as_ref",
        "as_mut",
        "borrow",
        "deref",
        "unwrap",
        "expect",
        "by_ref",
        "ok",
        "as_deref",
        "to_owned",
        "await",
        "into",
        "upgrade",
        "unwrap_or_else",
        "cloned",
        "map_err",
        "with_context",
        "into_inner",
    ];
    NAMES.contains(&method)
}

fn of_map(method: &str) -> Option<Effect> {
    Some(match method {
        "contains_key" | "contains" | "is_locked" => Effect::Check,
        "get" | "peek" | "read" | "view" | "get_key_value" | "front" | "back" | "first_key_value"
        | "last_key_value" | "lower_bound" | "upper_bound" | "peek_with" | "try_get" | "peek_entry" => Effect::Get,
        "len" | "is_empty" | "entry_count" | "weighted_size" | "weight" => Effect::Size,
        "iter" | "iter_mut" | "keys" | "values" | "range" | "scan" | "any" | "into_iter" | "first_entry" | "begin"
        | "for_each" | "any_entry" => Effect::Iterate,
        "insert"
        | "put"
        | "insert_if_absent"
        | "try_insert"
        | "compare_insert"
        | "insert_entry"
        | "put_with_weight"
        | "insert_with_lifecycle"
        | "replace" => Effect::Insert,
        "remove"
        | "remove_if"
        | "remove_if_mut"
        | "remove_entry"
        | "pop_front"
        | "pop_back"
        | "clear"
        | "invalidate"
        | "invalidate_all"
        | "invalidate_entries_if"
        | "remove_async"
        | "invalidate_if" => Effect::Remove,
        "entry"
        | "try_entry"
        | "entry_by_ref"
        | "get_mut"
        | "alter"
        | "alter_all"
        | "retain"
        | "update"
        | "upsert"
        | "compute"
        | "compute_if_present"
        | "get_or_insert"
        | "get_or_insert_with"
        | "try_get_mut"
        | "get_with"
        | "get_with_by_ref"
        | "try_get_with"
        | "optionally_get_with"
        | "get_or_try_insert_with"
        | "update_or_insert"
        | "update_or_insert_with"
        | "get_value_or_guard"
        | "extend"
        | "modify"
        | "prune"
        | "retain_mut" => Effect::Change,
        "hasher" | "capacity" | "shards" | "shard_amount" | "hash_usize" | "determine_map" | "determine_shard"
        | "guard" | "owned_guard" | "collector" | "policy" | "name" | "reserve" | "shrink_to_fit" | "try_reserve"
        | "run_pending_tasks" | "hash_u64" | "capacity_range" | "eq" | "fmt" | "into_read_only" | "set_capacity" => {
            return None;
        }
        _ if gives_itself(method) => return None,
        _ => Effect::Other,
    })
}

fn of_queue(method: &str) -> Option<Effect> {
    Some(match method {
        "len" | "is_empty" | "is_full" | "is_closed" => Effect::Size,
        "peek" | "peek_with" => Effect::Get,
        "push" | "force_push" | "push_if" | "push_unchecked" | "try_push" => Effect::Insert,
        "pop" | "pop_if" | "pop_all" | "clear" | "try_pop" => Effect::Remove,
        "iter" | "try_iter" | "into_iter" => Effect::Iterate,
        "close" => Effect::Change,
        "capacity" | "eq" | "fmt" => return None,
        _ if gives_itself(method) => return None,
        _ => Effect::Other,
    })
}

fn of_atomic(method: &str) -> Option<Effect> {
    Some(match method {
        "load" => Effect::Get,
        "store" => Effect::Insert,
        "swap" | "fetch_update" | "try_update" | "update" | "take" => Effect::Change,
        "compare_exchange" | "compare_exchange_weak" | "compare_and_swap" => Effect::Exchange,
        _ if method.starts_with("fetch_") => Effect::Change,
        _ => return None,
    })
}

fn of_once(method: &str) -> Option<Effect> {
    Some(match method {
        "get" | "wait" | "get_unchecked" => Effect::Get,
        "initialized" => Effect::Check,
        "set" | "try_insert" => Effect::Insert,
        "get_or_init" | "get_or_try_init" => Effect::Change,
        _ => return None,
    })
}

fn of_swap(method: &str) -> Option<Effect> {
    Some(match method {
        "load" | "load_full" => Effect::Get,
        "store" => Effect::Insert,
        "swap" | "rcu" => Effect::Change,
        "compare_and_swap" => Effect::Exchange,
        _ => return None,
    })
}

/// What a method does to the contents of a lock, by its name.
pub(crate) fn effect_inside(method: &str) -> Effect {
    match method {
        "contains_key" | "contains" => Effect::Check,
        "len" | "is_empty" => Effect::Size,
        "iter" | "keys" | "values" | "range" => Effect::Iterate,
        "insert" | "push" | "push_back" | "push_front" | "extend" | "append" | "put" | "add" | "push_str"
        | "extend_from_slice" | "set" | "resize" | "insert_full" => Effect::Insert,
        "remove" | "pop" | "pop_front" | "pop_back" | "clear" | "drain" | "truncate" | "take" | "swap_remove"
        | "remove_entry" | "split_off" | "shift_remove" | "pop_first" | "pop_last" | "pop_lru" => Effect::Remove,
        "entry" | "get_mut" | "iter_mut" | "values_mut" | "retain" | "get_or_insert_with" | "replace" | "swap"
        | "sort" | "last_mut" | "first_mut" | "get_or_insert" | "dedup" | "reserve" | "resize_with"
        | "get_or_insert_mut" => Effect::Change,
        _ => Effect::Get,
    }
}

/// Methods that begin a critical section, and whether it excludes all others.
pub(crate) fn section(method: &str) -> Option<bool> {
    Some(match method {
        "lock" | "write" | "try_lock" | "try_write" | "lock_arc" | "write_arc" | "blocking_lock" | "blocking_write"
        | "lock_owned" | "write_owned" | "try_lock_for" | "try_write_for" | "try_lock_owned" | "try_write_owned" => {
            true
        }
        "read" | "try_read" | "read_arc" | "read_recursive" | "blocking_read" | "read_owned" | "upgradable_read"
        | "try_read_for" | "try_read_owned" => false,
        _ => return None,
    })
}

/// Whether a call of a map gives the value that is in it.
pub(crate) fn gives_value(family: Family, effect: Effect) -> bool {
    match family {
        Family::Map => !matches!(effect, Effect::Check | Effect::Size),
        Family::Swap | Family::Once => true,
        Family::Queue => matches!(effect, Effect::Get | Effect::Remove | Effect::Iterate),
        Family::Atomic | Family::Lock => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<Family>) {
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        assert_eq!(known(&path), expected);
    }

    #[test]
    fn collections_are_known_by_path() {
        check("dashmap::DashMap", Some(Family::Map));
        check("scc::HashMap", Some(Family::Map));
        check("std::collections::HashMap", None);
        check("HashMap", None);
        check("moka::sync::Cache", Some(Family::Map));
        check("mine::Cache", None);
        check("std::sync::atomic::AtomicU64", Some(Family::Atomic));
        check("AtomicU65", None);
        check("std::sync::OnceLock", Some(Family::Once));
        check("once_cell::unsync::OnceCell", None);
        check("std::cell::OnceCell", None);
    }

    #[test]
    fn methods_that_do_not_look_inside_are_no_calls() {
        assert_eq!(effect(Family::Map, "get"), Some(Effect::Get));
        assert_eq!(effect(Family::Map, "insert_async"), Some(Effect::Insert));
        assert_eq!(effect(Family::Map, "capacity"), None);
        assert_eq!(effect(Family::Map, "clone"), None);
        assert_eq!(effect(Family::Atomic, "fetch_or"), Some(Effect::Change));
        assert_eq!(effect(Family::Atomic, "get_mut"), None);
        assert_eq!(effect(Family::Queue, "force_push"), Some(Effect::Insert));
    }
}
