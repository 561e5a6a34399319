//! `DashMap` and `SkipMap`: a look, and then an insertion.

use super::{check, refuse};

#[test]
fn a_value_that_is_got_or_inserted() {
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        self.map.insert(k, k * 2);
        k * 2
    }
",
        &[
            "    fn f(&self, k: u32) -> u32 {
        *self.map.entry(k).or_insert_with(|| k * 2)
    }
",
            "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        *self.map.entry(k).or_insert(k * 2)
    }
",
        ],
    );
    // The value is made before the map is locked: it may take long, or use the map.
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known; // known
        }
        let value = compute(k); // takes long
        self.map.insert(k, value);
        value
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known; // known
        }
        let value = compute(k); // takes long
        *self.map.entry(k).or_insert(value)
    }
"],
    );
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.lookup(k) {
            return known;
        }
        self.map.insert(k, k * 2);
        k * 2
    }
",
        &[
            "    fn f(&self, k: u32) -> u32 {
        *self.map.entry(k).or_insert_with(|| k * 2)
    }
",
            "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.lookup(k) {
            return known;
        }
        *self.map.entry(k).or_insert(k * 2)
    }
",
        ],
    );
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.skip.get(&k) {
            return *known.value();
        }
        self.skip.insert(k, k * 2);
        k * 2
    }
",
        &[
            "    fn f(&self, k: u32) -> u32 {
        *self.skip.get_or_insert_with(k, || k * 2).value()
    }
",
            "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.skip.get(&k) {
            return *known.value();
        }
        *self.skip.get_or_insert(k, k * 2).value()
    }
",
        ],
    );
}

#[test]
fn what_looks_like_a_value_that_is_got_or_inserted() {
    // Other keys: by name, by an expression, by a binding in between, by a change in between.
    for (get, between, insert) in [
        ("&k", "", "j"),
        ("&k", "", "k + 1"),
        ("&k", "let k = k + 1;", "k"),
        ("&k", "let mut k = k; k += 1;", "k"),
        ("&next()", "", "next()"),
    ] {
        refuse(&format!(
            "    fn f(&self, k: u32, j: u32) -> u32 {{
        if let Some(known) = self.map.get({get}) {{
            return *known;
        }}
        {between}
        self.map.insert({insert}, 7);
        7
    }}
"
        ));
    }
    // The value that is there is replaced.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        let old = self.map.get(&k).map(|v| *v);
        self.map.insert(k, 7);
        old.unwrap_or(7)
    }
",
    );
    // Only some values count as there.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.big(k) {
            return known;
        }
        self.map.insert(k, 7);
        7
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(7) = self.map.get(&k).map(|v| *v) {
            return 7;
        }
        self.map.insert(k, 7);
        7
    }
",
    );
    // A jump in between, and a loop that goes on.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        let value = compute(k)?;
        self.map.insert(k, value);
        value
    }
",
    );
    refuse(
        "    fn f(&self, keys: &[u32]) {
        for k in keys {
            if let Some(known) = self.map.get(k) {
                continue;
            }
            self.map.insert(*k, 7);
        }
    }
",
    );
    // It awaits, calls itself, uses the result of `insert`, or calls the map once more.
    refuse(
        "    async fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        let value = compute(k).await;
        self.map.insert(k, value);
        value
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        let value = self.f(k - 1);
        self.map.insert(k, value);
        value
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        self.map.insert(k, 7).unwrap_or(7)
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        self.map.insert(k, 7);
        self.map.len() as u32
    }
",
    );
    // What it was given would be called under the lock of the entry.
    refuse(
        "    fn f(&self, k: u32, seen: impl Fn(u32) -> u32) -> u32 {
        if self.map.contains_key(&k) {
            return seen(k);
        }
        self.map.insert(k, 1);
        1
    }
",
    );
    // Another map.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.map.get(&k) {
            return *known;
        }
        self.other.insert(k, 7);
        7
    }
",
    );
}

/// What is returned is not what is inserted: both cases of the entry keep what they did.
#[test]
fn an_early_return_with_another_value_is_matched() {
    check(
        "    fn f(&self, k: u32) -> bool {
        if self.map.contains_key(&k) {
            return false;
        }
        self.map.insert(k, 1);
        true
    }
",
        &["    fn f(&self, k: u32) -> bool {
        match self.map.entry(k) {
            dashmap::mapref::entry::Entry::Occupied(_) => {
                return false;
            }
            dashmap::mapref::entry::Entry::Vacant(slot) => {
                slot.insert(1);
            }
        }
        true
    }
"],
    );
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(slot) = self.map.get(&k) {
            return *slot + 1;
        }
        self.map.insert(k, 1);
        1
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        match self.map.entry(k) {
            dashmap::mapref::entry::Entry::Occupied(slot_) => {
                let slot = slot_.into_ref();
                return *slot + 1;
            }
            dashmap::mapref::entry::Entry::Vacant(slot_) => {
                slot_.insert(1);
            }
        }
        1
    }
"],
    );
}

/// The end of an inner block is not the end of the function: what is returned stays a `return`.
#[test]
fn an_inner_block_gives_no_result_of_the_function() {
    check(
        "    fn f(&self, k: u32) -> u32 {
        let value = {
            if let Some(known) = self.map.get(&k) {
                return *known;
            }
            let value = compute(k);
            self.map.insert(k, value);
            value
        };
        value + 1
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        let value = {
            if let Some(known) = self.map.get(&k) {
                return *known;
            }
            let value = compute(k);
            match self.map.entry(k) {
                dashmap::mapref::entry::Entry::Occupied(slot) => {
                    let known = slot.into_ref();
                    return *known;
                }
                dashmap::mapref::entry::Entry::Vacant(slot) => {
                    slot.insert(value);
                }
            }
            value
        };
        value + 1
    }
"],
    );
}

#[test]
fn an_insertion_where_nothing_is() {
    check(
        "    fn f(&self, k: u32) {
        if !self.map.contains_key(&k) {
            self.map.insert(k, 1);
        }
    }
",
        &["    fn f(&self, k: u32) {
        self.map.entry(k).or_insert(1);
    }
"],
    );
    check(
        "    fn f(&self, k: u32) {
        if self.skip.get(&k).is_none() {
            self.skip.insert(k, 1);
        }
    }
",
        &["    fn f(&self, k: u32) {
        self.skip.get_or_insert(k, 1);
    }
"],
    );
    // The value is made before the map is locked.
    check(
        "    fn f(&self, k: u32) {
        if !self.map.contains_key(&k) {
            self.map.insert(k, compute(k));
        }
    }
",
        &["    fn f(&self, k: u32) {
        if !self.map.contains_key(&k) {
            let value = compute(k);
            self.map.entry(k).or_insert(value);
        }
    }
"],
    );
    check(
        "    fn f(&self, k: u32) -> bool {
        if !self.map.contains_key(&k) {
            self.map.insert(k, 1);
            true
        } else {
            false
        }
    }
",
        &["    fn f(&self, k: u32) -> bool {
        if let dashmap::mapref::entry::Entry::Vacant(slot) = self.map.entry(k) {
            slot.insert(1);
            true
        } else {
            false
        }
    }
"],
    );
    // The other way round, and with one more condition.
    refuse(
        "    fn f(&self, k: u32) {\n        if self.map.contains_key(&k) {\n            self.map.insert(k, 1);\n        }\n    }\n",
    );
    refuse(
        "    fn f(&self, k: u32, sure: bool) {
        if sure || !self.map.contains_key(&k) {
            self.map.insert(k, 1);
        }
    }
",
    );
}

#[test]
fn a_value_of_a_map_that_is_changed() {
    check(
        "    fn f(&self, k: u32) -> u32 {
        let old = self.map.get(&k).map(|v| *v).unwrap_or(0);
        self.map.insert(k, old + 1);
        old
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        let mut slot = self.map.entry(k).or_insert(0);
        let old = *slot;
        *slot = old + 1;
        drop(slot);
        old
    }
"],
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        let old = self.map.get(&k).map(|v| *v).unwrap_or(0);
        let new = compute(old);
        self.map.insert(k, new);
        old
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        let old = self.map.get(&k).map(|v| *v + 1).unwrap_or(0);
        self.map.insert(k, old);
        old
    }
",
    );
}
