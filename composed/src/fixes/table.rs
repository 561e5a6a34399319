//! What is one step in each collection with keys, and in a cell that is set once.
//!
//! The texts have names in braces for what the operation has: `{map}`, its `{key}` as the second call gives it, the same key as the
//! first call borrows it (`{ref}`), `{value}`, `{default}`, `{condition}`; `{guard}` for the last argument of a map that is not
//! pinned, `{sync}` for the ending of method names in scc since its version 3; `{it}` for a name that the function does not have.

/// The calls of a collection that look and act in one step.
#[derive(Clone, Copy)]
pub(super) struct Forms {
    /// Whether a look gives the value itself, a clone of it, and not a reference or a guard.
    pub(super) owned: bool,
    /// Gives the value that is there, or inserts one.
    pub(super) get_or_insert: Option<Form>,
    /// The same with a closure that makes the value.
    pub(super) get_or_insert_with: Option<Form>,
    /// The value of what these two give: copied, and cloned.
    pub(super) out: (&'static str, &'static str),
    /// Inserts unless something is there.
    pub(super) unless: Option<Form>,
    /// The same, where the call says whether something was there.
    pub(super) said: Option<Said>,
    /// An entry that is matched, and is locked meanwhile.
    pub(super) entry: Option<Entry>,
    /// Reads a value and writes another.
    pub(super) change: Option<Change>,
    /// Removes what is there.
    pub(super) remove: Option<Removal>,
    /// Removes what is there and gives the value.
    pub(super) take: Option<&'static str>,
    /// Removes what is there if a condition on its value holds.
    pub(super) remove_if: Option<Removal>,
}

/// A call.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// In words.
    pub(super) words: &'static str,
    pub(super) text: &'static str,
}

/// A call that inserts and says whether something was there.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) words: &'static str,
    /// A statement before it.
    pub(super) before: &'static str,
    /// True where something was there.
    pub(super) refused: &'static str,
    /// True where it inserted.
    pub(super) accepted: &'static str,
    /// A condition that gives a name to what was there.
    pub(super) named: Option<&'static str>,
}

/// Both cases of an entry.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) path: &'static str,
    /// The value of an occupied entry.
    pub(super) found: &'static str,
    /// What fills a vacant entry.
    pub(super) fill: &'static str,
}

/// How a value is changed where it is.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// In an entry that is locked until it is dropped.
    Slot { open: &'static str, read: (&'static str, &'static str), write: &'static str },
    /// In a closure that is given the value, whose result is what is written. It may run more than once.
    Closure { words: &'static str, before: &'static str, text: &'static str, read: (&'static str, &'static str) },
}

/// A call that removes.
#[derive(Clone, Copy)]
pub(super) struct Removal {
    pub(super) words: &'static str,
    /// A statement before it.
    pub(super) before: &'static str,
    pub(super) call: &'static str,
    /// Whether it removed something, from the `{call}`.
    pub(super) said: &'static str,
    /// Whether the result is left with `let _ =`.
    pub(super) result: bool,
}

const NONE: Forms = Forms {
    owned: false,
    get_or_insert: None,
    get_or_insert_with: None,
    out: ("*{it}", "{it}.clone()"),
    unless: None,
    said: None,
    entry: None,
    change: None,
    remove: None,
    take: None,
    remove_if: None,
};

const fn form(words: &'static str, text: &'static str) -> Option<Form> {
    Some(Form { words, text })
}

const fn said(words: &'static str, refused: &'static str, accepted: &'static str) -> Option<Said> {
    Some(Said { words, before: "", refused, accepted, named: None })
}

const fn removal(words: &'static str, call: &'static str, said: &'static str) -> Option<Removal> {
    Some(Removal { words, before: "", call, said, result: false })
}

const REMOVE: Option<Removal> =
    removal("`remove`, whose result says whether the key was there", "{map}.remove({key}{guard})", "{call}.is_some()");

const DASH: Forms = Forms {
    get_or_insert: form("`entry(key).or_insert(…)`", "{map}.entry({key}).or_insert({value})"),
    get_or_insert_with: form("`entry(key).or_insert_with(…)`", "{map}.entry({key}).or_insert_with(|| {value})"),
    unless: form("`entry(key).or_insert(…)`", "{map}.entry({key}).or_insert({value})"),
    entry: Some(Entry {
        path: "dashmap::mapref::entry::Entry",
        found: "{it}.into_ref()",
        fill: "{it}.insert({value})",
    }),
    change: Some(Change::Slot {
        open: "let mut {it} = {map}.entry({key}).or_insert({default});",
        read: ("*{it}", "{it}.clone()"),
        write: "*{it} = {value};",
    }),
    remove: REMOVE,
    take: Some("{map}.remove({key}).map(|(_, {it})| {it})"),
    remove_if: removal("`remove_if`", "{map}.remove_if({key}, |_, {it}| {condition})", "{call}.is_some()"),
    ..NONE
};

const SKIP: Forms = Forms {
    get_or_insert: form("`get_or_insert`", "{map}.get_or_insert({key}, {value})"),
    get_or_insert_with: form("`get_or_insert_with`", "{map}.get_or_insert_with({key}, || {value})"),
    out: ("*{it}.value()", "{it}.value().clone()"),
    unless: form("`get_or_insert`", "{map}.get_or_insert({key}, {value})"),
    remove: REMOVE,
    take: Some("{map}.remove({key}).map(|{it}| {read})"),
    ..NONE
};

const SCC_REMOVE: Option<Removal> =
    removal("`remove`, whose result says whether the key was there", "{map}.remove{sync}({key})", "{call}.is_some()");

const SCC_MAP: Forms = Forms {
    get_or_insert: form("`entry(key).or_insert(…)`", "{map}.entry{sync}({key}).or_insert({value})"),
    get_or_insert_with: form("`entry(key).or_insert_with(…)`", "{map}.entry{sync}({key}).or_insert_with(|| {value})"),
    out: ("*{it}.get()", "{it}.get().clone()"),
    unless: form("`entry(key).or_insert(…)`", "{map}.entry{sync}({key}).or_insert({value})"),
    said: said(
        "the result of `insert`, which leaves what is there",
        "{map}.insert{sync}({key}, {value}).is_err()",
        "{map}.insert{sync}({key}, {value}).is_ok()",
    ),
    entry: Some(Entry { path: "scc::hash_map::Entry", found: "{it}", fill: "{it}.insert_entry({value})" }),
    change: Some(Change::Slot {
        open: "let mut {it} = {map}.entry{sync}({key}).or_insert({default});",
        read: ("*{it}.get()", "{it}.get().clone()"),
        write: "*{it}.get_mut() = {value};",
    }),
    remove: SCC_REMOVE,
    take: Some("{map}.remove{sync}({key}).map(|(_, {it})| {it})"),
    remove_if: removal("`remove_if`", "{map}.remove_if{sync}({key}, |{it}| {condition})", "{call}.is_some()"),
    ..NONE
};

const SCC_INDEX: Forms = Forms {
    entry: Some(Entry { path: "scc::hash_index::Entry", found: "{it}", fill: "{it}.insert_entry({value})" }),
    change: Some(Change::Slot {
        open: "let mut {it} = {map}.entry{sync}({key}).or_insert({default});",
        read: ("*{it}.get()", "{it}.get().clone()"),
        write: "{it}.update({value});",
    }),
    remove: removal("the result of `remove`", "{map}.remove{sync}({key})", "{call}"),
    take: Some("{map}.get{sync}({key}).map(|{it}| { let taken = {read}; {it}.remove_entry(); taken })"),
    remove_if: removal("`remove_if`", "{map}.remove_if{sync}({key}, |{it}| {condition})", "{call}"),
    ..SCC_MAP
};

const SCC_TREE: Forms = Forms {
    unless: form("`insert`, which leaves what is there", "let _ = {map}.insert{sync}({key}, {value})"),
    said: SCC_MAP.said,
    remove: SCC_INDEX.remove,
    remove_if: SCC_INDEX.remove_if,
    ..NONE
};

const SCC_CACHE: Forms = Forms {
    get_or_insert: form("`entry(key).or_put(…)`", "{map}.entry{sync}({key}).or_put({value}).1"),
    get_or_insert_with: form("`entry(key).or_put_with(…)`", "{map}.entry{sync}({key}).or_put_with(|| {value}).1"),
    unless: form("`entry(key).or_put(…)`", "{map}.entry{sync}({key}).or_put({value})"),
    said: said(
        "the result of `put`, which leaves what is there",
        "{map}.put{sync}({key}, {value}).is_err()",
        "{map}.put{sync}({key}, {value}).is_ok()",
    ),
    entry: Some(Entry { path: "scc::hash_cache::Entry", found: "{it}", fill: "{it}.put_entry({value})" }),
    change: Some(Change::Slot {
        open: "let (_, mut {it}) = {map}.entry{sync}({key}).or_put({default});",
        read: ("*{it}.get()", "{it}.get().clone()"),
        write: "*{it}.get_mut() = {value};",
    }),
    ..SCC_MAP
};

const SCC_SET: Forms = Forms {
    unless: form("`insert`, which leaves what is there", "let _ = {map}.insert{sync}({key})"),
    said: said("the result of `insert`", "{map}.insert{sync}({key}).is_err()", "{map}.insert{sync}({key}).is_ok()"),
    remove: SCC_REMOVE,
    ..NONE
};

/// Sets of which `insert` says whether the key is new, and `remove` whether it was there.
const SET: Forms = Forms {
    unless: form("`insert`, which leaves what is there", "{map}.insert({key}{guard})"),
    said: said("the result of `insert`", "!{map}.insert({key}{guard})", "{map}.insert({key}{guard})"),
    remove: removal("the result of `remove`", "{map}.remove({key}{guard})", "{call}"),
    ..NONE
};

const DASH_SET: Forms = Forms { remove: REMOVE, ..SET };

const SKIP_SET: Forms = Forms { unless: form("`get_or_insert`", "{map}.get_or_insert({key})"), remove: REMOVE, ..NONE };

const PAPAYA: Forms = Forms {
    get_or_insert: form("`get_or_insert`", "{map}.get_or_insert({key}, {value}{guard})"),
    get_or_insert_with: form("`get_or_insert_with`", "{map}.get_or_insert_with({key}, || {value}{guard})"),
    unless: form("`get_or_insert`", "{map}.get_or_insert({key}, {value}{guard})"),
    said: Some(Said {
        words: "the result of `try_insert`",
        before: "",
        refused: "{map}.try_insert({key}, {value}{guard}).is_err()",
        accepted: "{map}.try_insert({key}, {value}{guard}).is_ok()",
        named: Some("let Err({name}) = {map}.try_insert_with({key}, || {value}{guard})"),
    }),
    change: Some(Change::Closure {
        words: "`compute`",
        before: "let mut {old} = {default};",
        text: "{map}.compute({key}, |{it}| {\n    {old} = {it}.map_or({default}, |(_, {it})| {read});\n{lets}    \
               papaya::Operation::<_, ()>::Insert({value})\n}{guard});",
        read: ("*{it}", "{it}.clone()"),
    }),
    remove: REMOVE,
    take: Some("{map}.remove({key}{guard}).map(|{it}| {read})"),
    remove_if: Some(Removal {
        words: "`remove_if`",
        before: "",
        call: "{map}.remove_if({key}, |_, {it}| {condition}{guard})",
        said: "matches!({call}, Ok(Some(_)))",
        result: true,
    }),
    ..NONE
};

const FLURRY: Forms = Forms {
    get_or_insert: form(
        "`try_insert`, whose error has the value that is there",
        "{map}.try_insert({key}, {value}{guard}).unwrap_or_else(|error| error.current)",
    ),
    unless: form("`try_insert`", "let _ = {map}.try_insert({key}, {value}{guard})"),
    said: Some(Said {
        words: "the result of `try_insert`",
        before: "",
        refused: "{map}.try_insert({key}, {value}{guard}).is_err()",
        accepted: "{map}.try_insert({key}, {value}{guard}).is_ok()",
        named: Some("let Err({name}) = {map}.try_insert({key}, {value}{guard}).map_err(|error| error.current)"),
    }),
    change: Some(Change::Closure {
        words: "a loop on `compute_if_present` and `try_insert`",
        before: "let mut {old} = {default};",
        text: "while {map}.compute_if_present({ref}, |_, {it}| {\n    {old} = {read};\n{lets}    Some({value})\n}{guard}).is_none() {\n    \
               {old} = {default};\n{lets}    if {map}.try_insert({key}, {value}{guard}).is_ok() {\n        break;\n    }\n}",
        read: ("*{it}", "{it}.clone()"),
    }),
    remove: REMOVE,
    take: Some("{map}.remove({key}{guard}).map(|{it}| {read})"),
    remove_if: Some(Removal {
        words: "`compute_if_present`",
        before: "let mut {gone} = false;",
        call: "{map}.compute_if_present({key}, |_, {it}| {\n    {gone} = {condition};\n    (!{gone}).then(|| {it}.clone())\n}{guard})",
        said: "{gone}",
        result: false,
    }),
    ..NONE
};

/// `or_insert` of moka is a look and an insertion, as its source has it; `or_insert_with` and `get_with` are one step.
const MOKA: Forms = Forms {
    owned: true,
    get_or_insert_with: form("`get_with`", "{map}.get_with({key}, || {value})"),
    unless: form("`entry(key).or_insert_with(…)`", "{map}.entry({key}).or_insert_with(|| {value})"),
    said: said(
        "`entry(key).or_insert_with(…)`, which says whether it is fresh",
        "!{map}.entry({key}).or_insert_with(|| {value}).is_fresh()",
        "{map}.entry({key}).or_insert_with(|| {value}).is_fresh()",
    ),
    change: Some(Change::Closure {
        words: "`entry(key).and_upsert_with(…)`",
        before: "let mut {old} = {default};",
        text: "{map}.entry({key}).and_upsert_with(|{it}| {\n    {old} = {it}.map_or({default}, |{it}| {it}.into_value());\n{lets}    \
               {value}\n});",
        read: ("{it}", "{it}"),
    }),
    remove: REMOVE,
    take: Some("{map}.remove({key})"),
    remove_if: Some(Removal {
        words: "`entry_by_ref(key).and_compute_with(…)`",
        before: "",
        call: "{map}.entry_by_ref({key}).and_compute_with(|entry| {\n    let removes = entry.is_some_and(|{it}| {\n        let {it} = \
               {it}.into_value();\n        {condition}\n    });\n    if removes { moka::ops::compute::Op::Remove } else { \
               moka::ops::compute::Op::Nop }\n})",
        said: "matches!({call}, moka::ops::compute::CompResult::Removed(_))",
        result: true,
    }),
    ..NONE
};

const QUICK: Forms = Forms {
    owned: true,
    get_or_insert: form(
        "`get_or_insert_with`",
        "{map}.get_or_insert_with({ref}, || Ok::<_, std::convert::Infallible>({value})).unwrap()",
    ),
    unless: form(
        "`get_or_insert_with`",
        "let _ = {map}.get_or_insert_with({ref}, || Ok::<_, std::convert::Infallible>({value}))",
    ),
    said: Some(Said {
        words: "`get_or_insert_with`, whose closure runs if the key is not there",
        before: "let mut {fresh} = false;\nlet _ = {map}.get_or_insert_with({ref}, || {\n    {fresh} = true;\n    Ok::<_, \
                 std::convert::Infallible>({value})\n});",
        refused: "!{fresh}",
        accepted: "{fresh}",
        named: None,
    }),
    remove: REMOVE,
    take: Some("{map}.remove({key}).map(|(_, {it})| {it})"),
    remove_if: removal(
        "`remove_if`",
        "{map}.remove_if({key}, |{it}| {\n    let {it} = {it}.clone();\n    {condition}\n})",
        "{call}.is_some()",
    ),
    ..NONE
};

const ONCE: Forms = Forms {
    get_or_insert_with: form("`get_or_init`", "{map}.get_or_init(|| {value})"),
    unless: form("the result of `set`, which leaves what is there", "let _ = {map}.set({value})"),
    said: said("the result of `set`", "{map}.set({value}).is_err()", "{map}.set({value}).is_ok()"),
    ..NONE
};

/// The forms of a collection by its crate, where that is known, and its type; `None` where nothing is known of it.
pub(super) fn of(library: &str, kind: &str) -> Option<Forms> {
    Some(match (library, kind) {
        (_, "DashMap") => DASH,
        (_, "DashSet") => DASH_SET,
        (_, "SkipMap") => SKIP,
        (_, "SkipSet") => SKIP_SET,
        ("scc", "HashMap") => SCC_MAP,
        ("scc", "HashIndex") => SCC_INDEX,
        ("scc", "TreeIndex") => SCC_TREE,
        ("scc", "HashCache") => SCC_CACHE,
        ("scc", "HashSet") => SCC_SET,
        ("papaya", "HashMap") => PAPAYA,
        ("flurry", "HashMap") => FLURRY,
        ("papaya" | "flurry", "HashSet") => SET,
        ("moka", "Cache" | "SegmentedCache") => MOKA,
        ("quick_cache", "Cache") => QUICK,
        ("mini_moka", "Cache") => Forms { owned: true, ..NONE },
        // `get_or_init` of tokio waits.
        ("tokio", "OnceCell") => Forms { get_or_insert_with: None, ..ONCE },
        (_, "OnceLock" | "OnceCell") => ONCE,
        _ => return None,
    })
}

/// Whether it has no keys: a cell that is set once.
pub(super) fn is_cell(kind: &str) -> bool {
    matches!(kind, "OnceLock" | "OnceCell")
}
