//! The atomic form of a pattern on a collection, in words.

use crate::operation::Operation;
use crate::pattern::Pattern;

/// What is said of a collection, by the kind of its pattern.
struct Words {
    get_or_insert: &'static str,
    insert_if_absent: &'static str,
    remove: &'static str,
    change: &'static str,
}

/// The atomic form for the collection of an operation, where it has one that other collections do not have.
pub fn form(operation: &Operation) -> Option<&'static str> {
    let first = operation.calls.first()?;
    if operation.calls.iter().any(|call| call.collection != first.collection) {
        return None;
    }
    let words = of(first.library.as_str(), first.kind.as_str())?;
    Some(match operation.pattern {
        Pattern::GetThenInsert => words.get_or_insert,
        Pattern::CheckThenAct | Pattern::LenThenPush => words.insert_if_absent,
        Pattern::GetThenRemove | Pattern::IterateThenRemove => words.remove,
        Pattern::ReadModifyWrite | Pattern::RemoveThenInsert | Pattern::InsertThenRemove => words.change,
        _ => return None,
    })
}

fn of(library: &str, kind: &str) -> Option<Words> {
    if let Some(words) = of_crate(library, kind) {
        return Some(words);
    }
    Some(match kind {
        "DashMap" => Words {
            get_or_insert: "`entry(key).or_insert_with(…)`",
            insert_if_absent: "`entry(key)`, matched as `Occupied` or `Vacant`",
            remove: "`remove` gives the value, and `remove_if` looks at it first",
            change: "`entry(key).and_modify(…).or_insert(…)`, or `alter`",
        },
        "SkipMap" => Words {
            get_or_insert: "`get_or_insert_with(key, …)`",
            insert_if_absent: "`get_or_insert`, or `compare_insert(key, value, |_| false)`",
            remove: "`remove` gives the entry",
            change: "`compare_insert`, which replaces the value only if a closure agrees",
        },
        "SegQueue" => Words {
            get_or_insert: "none: it has no capacity; `ArrayQueue` has one",
            insert_if_absent: "none for a limit: `ArrayQueue` has one; `pop` says by itself that nothing is there",
            remove: "`pop`, whose result says whether something was there",
            change: "none: one lock around the queue",
        },
        "ArrayQueue" => Words {
            get_or_insert: "`push`, whose result says whether there was room",
            insert_if_absent: "`push` and `pop`, whose results say whether there was room, or something there",
            remove: "`pop`, whose result says whether something was there",
            change: "`force_push`, which gives what it displaces",
        },
        "Mutex" | "RwLock" => {
            let one = "one critical section: one guard for all of it";
            Words { get_or_insert: one, insert_if_absent: one, remove: one, change: one }
        }
        "OnceLock" | "OnceCell" => {
            let one = "`get_or_init`";
            Words { get_or_insert: one, insert_if_absent: one, remove: one, change: one }
        }
        "ArcSwap" | "ArcSwapOption" | "ArcSwapAny" => {
            let one = "`rcu`, which tries again until nothing has changed in between";
            Words { get_or_insert: one, insert_if_absent: one, remove: one, change: one }
        }
        atomic if atomic.starts_with("Atomic") => {
            let one = "`fetch_add` and its like, `fetch_update`, or `compare_exchange`";
            Words { get_or_insert: one, insert_if_absent: one, remove: one, change: one }
        }
        _ => return None,
    })
}

/// The collections whose type has a name that is used by several crates.
fn of_crate(library: &str, kind: &str) -> Option<Words> {
    Some(match (library, kind) {
        ("scc", "HashMap" | "HashCache") => Words {
            get_or_insert: "`entry_sync(key).or_insert_with(…)` (`or_put_with` in a `HashCache`)",
            insert_if_absent: "the result of `insert_sync` (`put_sync`), which leaves what is there, or `entry_sync(key)`, matched",
            remove: "`remove_if_sync`, or `remove_sync`, which gives the value",
            change: "`entry_sync(key)`, kept from the reading to the writing, or `update_sync`",
        },
        ("scc", "HashIndex") => Words {
            get_or_insert: "`entry_sync(key).or_insert_with(…)`",
            insert_if_absent: "the result of `insert_sync`, which leaves what is there, or `entry_sync(key)`, matched",
            remove: "`remove_if_sync`, or `remove_entry` of the entry that `get_sync` gives",
            change: "`entry_sync(key)`, kept from the reading to `update`",
        },
        ("scc", "TreeIndex") => Words {
            get_or_insert: "none: it has no entries; a lock around both calls",
            insert_if_absent: "the result of `insert_sync`, which leaves what is there",
            remove: "`remove_if_sync`, whose result says whether it removed something",
            change: "none: it has no entries; a lock around both calls",
        },
        ("papaya", "HashMap") => Words {
            get_or_insert: "`get_or_insert_with`",
            insert_if_absent: "the result of `try_insert`",
            remove: "`remove_if`, or `remove`, which gives the value",
            change: "`compute`, or `update_or_insert`",
        },
        ("flurry", "HashMap") => Words {
            get_or_insert: "`try_insert`, whose error has the value that is there",
            insert_if_absent: "the result of `try_insert`",
            remove: "`compute_if_present`, or `remove`, which gives the value",
            change: "`compute_if_present`, and `try_insert` where the key is not there, in a loop",
        },
        ("moka", "Cache" | "SegmentedCache") => Words {
            get_or_insert: "`get_with`",
            insert_if_absent: "`entry(key).or_insert_with(…)`, whose result says whether it is fresh",
            remove: "`remove` gives the value; `entry(key).and_compute_with(…)` looks at it first",
            change: "`entry(key).and_upsert_with(…)`, or `and_compute_with`",
        },
        ("quick_cache", "Cache") => Words {
            get_or_insert: "`get_or_insert_with`",
            insert_if_absent: "`get_or_insert_with`, whose closure runs if the key is not there",
            remove: "`remove_if`, or `remove`, which gives the value",
            change: "none where the key may be absent: a lock around both calls; `entry` changes a value that is there",
        },
        ("mini_moka", "Cache") => {
            let none = "none: it has no entries; `moka` has them";
            Words { get_or_insert: none, insert_if_absent: none, remove: none, change: none }
        }
        _ => return None,
    })
}
