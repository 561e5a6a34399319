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
    let words = of(first.kind.as_str())?;
    Some(match operation.pattern {
        Pattern::GetThenInsert => words.get_or_insert,
        Pattern::CheckThenAct | Pattern::LenThenPush => words.insert_if_absent,
        Pattern::GetThenRemove | Pattern::IterateThenRemove => words.remove,
        Pattern::ReadModifyWrite | Pattern::RemoveThenInsert | Pattern::InsertThenRemove => words.change,
        _ => return None,
    })
}

fn of(kind: &str) -> Option<Words> {
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
        "HashMap" | "HashIndex" | "TreeIndex" => Words {
            get_or_insert: "`entry(key).or_insert_with(…)` of scc (`entry_sync`), `get_or_insert_with` of papaya, `try_insert` of flurry",
            insert_if_absent: "`entry(key)` of scc (`entry_sync`), `try_insert` of papaya and flurry: the result says who was first",
            remove: "`remove_if` of scc (`remove_if_sync`), `compute` of papaya, `compute_if_present` of flurry",
            change: "`entry(key).and_modify(…)` of scc, `update_or_insert` or `compute` of papaya, `compute_if_present` of flurry",
        },
        "Cache" | "SegmentedCache" => Words {
            get_or_insert: "`get_with(key, …)` of moka, `get_or_insert_with` of quick_cache",
            insert_if_absent: "`entry(key).or_insert_with(…)` of moka, whose result says whether it is fresh",
            remove: "`remove` gives the value; `entry(key).and_compute_with(…)` of moka looks at it first",
            change: "`entry(key).and_upsert_with(…)` or `and_compute_with(…)` of moka",
        },
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
