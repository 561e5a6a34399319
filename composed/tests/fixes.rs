//! Rewrites of small operations as one step: text in, text out. Each form has twins that look alike, where the form would do something
//! else.

use std::fs;

use interloper_composed::fixes::{fixes, patched};
use interloper_composed::{Options, Package, scan};

/// The texts of the operation with each form, or why no form fits.
fn forms(body: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("lib.rs");
    let source = format!(
        "use std::collections::HashMap;\nuse std::sync::{{Mutex, RwLock}};\nuse std::sync::atomic::*;\nuse dashmap::DashMap;\n\
         use crossbeam::queue::{{ArrayQueue, SegQueue}};\nuse crossbeam_skiplist::SkipMap;\n\n\
         struct Owner {{\n    map: DashMap<u32, u32>,\n    other: DashMap<u32, u32>,\n    skip: SkipMap<u32, u32>,\n    n: AtomicU32,\n    \
         open: AtomicBool,\n    jobs: SegQueue<u32>,\n    slots: ArrayQueue<u32>,\n    list: Mutex<Vec<u32>>,\n    hits: Mutex<u32>,\n    \
         table: RwLock<HashMap<u32, u32>>,\n}}\n\nimpl Owner {{\n    fn lookup(&self, k: u32) -> Option<u32> {{\n        \
         self.map.get(&k).map(|v| *v)\n    }}\n\n    fn big(&self, k: u32) -> Option<u32> {{\n        \
         self.map.get(&k).map(|v| *v).filter(|v| *v > 9)\n    }}\n\n{body}}}\n"
    );
    fs::write(&root, &source).expect("a file");
    let package = Package { name: "small".to_owned(), crates: vec![("small".to_owned(), root)] };
    let found = scan(&[package], &Options { base: folder.path().to_owned(), ..Options::default() });
    let [operation] = &found.operations[..] else { panic!("one operation, not {:?}", found.operations) };
    let all = fixes(&source, operation)?;
    let function = |edits: &_| {
        let text = patched(&source, edits);
        let begin = text.find(body.lines().next().expect("a line")).expect("the operation");
        text[begin..].strip_suffix("}\n").expect("the end of the block").to_owned()
    };
    Ok(all.iter().map(|fix| function(&fix.edits)).collect())
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    assert_eq!(forms(body), Ok(expected.iter().map(|text| (*text).to_owned()).collect()));
}

/// What looks like the form and is not.
#[track_caller]
fn refuse(body: &str) {
    if let Ok(all) = forms(body) {
        panic!("no form, but:\n{}", all.join("\n"));
    }
}

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

#[test]
fn a_removal_that_is_decided_before() {
    check(
        "    fn f(&self, k: u32) {
        if self.map.get(&k).is_some_and(|v| *v == 7) {
            self.map.remove(&k);
        }
    }
",
        &["    fn f(&self, k: u32) {
        self.map.remove_if(&k, |_, v| *v == 7);
    }
"],
    );
    check(
        "    fn f(&self, k: u32, x: u32) -> bool {
        if self.map.get(&k).map(|v| *v) == Some(x) {
            self.map.remove(&k);
            return true;
        }
        false
    }
",
        &["    fn f(&self, k: u32, x: u32) -> bool {
        if self.map.remove_if(&k, |_, v| *v == x).is_some() {
            return true;
        }
        false
    }
"],
    );
    check(
        "    fn f(&self, k: u32) -> Option<u32> {
        let old = self.map.get(&k).map(|v| *v);
        self.map.remove(&k);
        old
    }
",
        &["    fn f(&self, k: u32) -> Option<u32> {
        let old = self.map.remove(&k).map(|(_, value)| value);
        old
    }
"],
    );
    check(
        "    fn f(&self, k: u32) -> bool {
        if self.skip.contains_key(&k) {
            self.skip.remove(&k);
            return true;
        }
        false
    }
",
        &["    fn f(&self, k: u32) -> bool {
        if self.skip.remove(&k).is_some() {
            return true;
        }
        false
    }
"],
    );
    // Another key, another effect first, a question with effects.
    refuse(
        "    fn f(&self, k: u32, j: u32) {\n        if self.map.get(&k).is_some_and(|v| *v == 7) {\n            self.map.remove(&j);\n        }\n    }\n",
    );
    refuse(
        "    fn f(&self, k: u32) {\n        if self.map.get(&k).is_some_and(|v| *v == 7) {\n            log(k);\n            self.map.remove(&k);\n        }\n    }\n",
    );
    refuse(
        "    fn f(&self, k: u32) {\n        if self.map.get(&k).is_some_and(|v| ask(*v)) {\n            self.map.remove(&k);\n        }\n    }\n",
    );
    refuse(
        "    fn f(&self, k: u32) {\n        if !self.map.contains_key(&k) {\n            self.map.remove(&k);\n        }\n    }\n",
    );
}

#[test]
fn a_number_that_is_read_and_written() {
    let one = |before: &str, after: &str| {
        let whole = |body: &str| format!("    fn f(&self, by: u32) -> u32 {{\n        {body}\n    }}\n");
        check(&whole(before), &[&whole(after)]);
    };
    one(
        "let now = self.n.load(Ordering::SeqCst);\n        self.n.store(now + by, Ordering::SeqCst);\n        now",
        "let now = self.n.fetch_add(by, Ordering::SeqCst);\n        now",
    );
    one(
        "let now = self.n.load(Ordering::Acquire);\n        let next = now - 1;\n        self.n.store(next, Ordering::Release);\n        next",
        "let now = self.n.fetch_sub(1, Ordering::AcqRel);\n        let next = now - 1;\n        next",
    );
    one(
        "let now = self.n.load(Ordering::Acquire);\n        self.n.store(now * 2 + by, Ordering::Release);\n        now",
        "let now = self.n.fetch_update(Ordering::Release, Ordering::Acquire, |now| Some(now * 2 + by)).unwrap_or_else(|now| now);\n        now",
    );
    one(
        "self.n.store(self.n.load(Ordering::Relaxed).max(by), Ordering::Relaxed);\n        by",
        "self.n.fetch_max(by, Ordering::Relaxed);\n        by",
    );
    one(
        "self.n.fetch_add(by, Ordering::SeqCst);\n        self.n.load(Ordering::SeqCst)",
        "self.n.fetch_add(by, Ordering::SeqCst).wrapping_add(by)",
    );
    // A variable with the name of the field.
    one(
        "let n = self.n.load(Ordering::SeqCst);\n        self.n.store(n + by, Ordering::SeqCst);\n        n",
        "let n = self.n.fetch_add(by, Ordering::SeqCst);\n        n",
    );
    // An effect in between, another number, a value that depends on more than was read, a second name.
    for body in [
        "let now = self.n.load(Ordering::SeqCst);\n        log(now);\n        self.n.store(now + by, Ordering::SeqCst);\n        now",
        "let now = self.n.load(Ordering::SeqCst);\n        self.n.store(next(now), Ordering::SeqCst);\n        now",
        "let now = self.n.load(Ordering::SeqCst);\n        let now = now + 1;\n        self.n.store(now + by, Ordering::SeqCst);\n        now",
        "let now = self.n.load(Ordering::SeqCst);\n        println!(\"{now}\");\n        self.n.store(now + by, Ordering::SeqCst);\n        now",
        "let mut now = self.n.load(Ordering::SeqCst);\n        now += 1;\n        self.n.store(now, Ordering::SeqCst);\n        now",
    ] {
        refuse(&format!("    fn f(&self, by: u32) -> u32 {{\n        {body}\n    }}\n"));
    }
}

#[test]
fn a_number_that_is_written_on_a_condition() {
    let one = |before: &str, after: &str| {
        let whole = |body: &str| format!("    fn f(&self, by: u32) -> bool {{\n{body}    }}\n");
        check(&whole(before), &[&whole(after)]);
    };
    one(
        "        if self.open.load(Ordering::Acquire) {
            return false;
        }
        self.open.store(true, Ordering::Release);
        true
",
        "        if self.open.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        true
",
    );
    one(
        "        if !self.open.load(Ordering::SeqCst) {
            self.open.store(true, Ordering::SeqCst);
            true
        } else {
            false
        }
",
        "        if self.open.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            true
        } else {
            false
        }
",
    );
    one(
        "        if self.n.load(Ordering::SeqCst) < by {
            self.n.fetch_add(1, Ordering::SeqCst);
            return true;
        }
        false
",
        "        if self.n.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| (now < by).then(|| now.wrapping_add(1))).is_ok() {
            return true;
        }
        false
",
    );
    one(
        "        let left = self.n.load(Ordering::SeqCst);
        if left == 0 {
            return false;
        }
        self.n.store(left - 1, Ordering::SeqCst);
        true
",
        "        if self.n.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (!(left == 0)).then(|| left - 1)).is_err() {
            return false;
        }
        true
",
    );
    one(
        "        let left = self.n.load(Ordering::SeqCst);
        if left == by {
            return left == 0;
        }
        self.n.store(left - 1, Ordering::SeqCst);
        left > 1
",
        "        let left = match self.n.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (!(left == by)).then(|| left - 1)) {
            Ok(left) => left,
            Err(left) => {
                return left == 0;
            }
        };
        left > 1
",
    );
    // A question with an effect, a writing that is not first, another atomic, a loop that goes on.
    for body in [
        "        if ask(self.n.load(Ordering::SeqCst)) {\n            self.n.store(1, Ordering::SeqCst);\n        }\n        true\n",
        "        if self.n.load(Ordering::SeqCst) == 0 {\n            log();\n            self.n.store(1, Ordering::SeqCst);\n        }\n        true\n",
        "        while self.n.load(Ordering::SeqCst) == 0 {\n            self.n.store(1, Ordering::SeqCst);\n        }\n        true\n",
        "        if self.n.load(Ordering::SeqCst) == 0 {\n            log();\n        }\n        self.n.store(1, Ordering::SeqCst);\n        true\n",
    ] {
        refuse(&format!("    fn f(&self, by: u32) -> bool {{\n{body}    }}\n"));
    }
}

#[test]
fn several_critical_sections_are_one() {
    check(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.table.read().unwrap().get(&k) {
            return *known;
        }
        self.table.write().unwrap().insert(k, k * 2);
        k * 2
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        let mut guard = self.table.write().unwrap();
        if let Some(known) = guard.get(&k) {
            return *known;
        }
        guard.insert(k, k * 2);
        drop(guard);
        k * 2
    }
"],
    );
    check(
        "    fn f(&self, x: u32) -> usize {
        let mut list = self.list.lock().unwrap();
        list.push(x);
        drop(list);
        let guard = self.list.lock().unwrap();
        guard.len()
    }
",
        &["    fn f(&self, x: u32) -> usize {
        let mut guard_ = self.list.lock().unwrap();
        let list = &mut *guard_;
        list.push(x);
        let guard = &mut *guard_;
        guard.len()
    }
"],
    );
    // Another lock in between: another method may take them in the other order.
    refuse(
        "    fn f(&self, k: u32) -> usize {
        if self.list.lock().unwrap().is_empty() {
            return 0;
        }
        *self.hits.lock().unwrap() += 1;
        self.list.lock().unwrap().push(k);
        1
    }
",
    );
    // What it was given may lock, too.
    refuse(
        "    fn f(&self, k: u32, make: impl Fn() -> u32) -> u32 {
        if let Some(known) = self.table.read().unwrap().get(&k) {
            return *known;
        }
        let value = make();
        self.table.write().unwrap().insert(k, value);
        value
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if self.list.lock().unwrap().is_empty() {
            return 0;
        }
        self.table.write().unwrap().insert(k, 1);
        1
    }
",
    );
}

#[test]
fn a_queue_says_whether_it_did_it() {
    check(
        "    fn f(&self) -> u32 {
        if !self.jobs.is_empty() {
            let job = self.jobs.pop().unwrap();
            return job;
        }
        0
    }
",
        &["    fn f(&self) -> u32 {
        if let Some(job) = self.jobs.pop() {
            return job;
        }
        0
    }
"],
    );
    check(
        "    fn f(&self, x: u32) -> bool {
        if self.slots.is_full() {
            return false;
        }
        self.slots.push(x).unwrap();
        true
    }
",
        &["    fn f(&self, x: u32) -> bool {
        if self.slots.push(x).is_err() {
            return false;
        }
        true
    }
"],
    );
    // The limit is another number than the capacity, or nothing limits the queue.
    let limited = |queue: &str, condition: &str| {
        forms(&format!(
            "    fn f(&self, x: u32) {{\n        if self.{queue}.{condition} {{\n            let _ = self.{queue}.push(x);\n        }}\n    }}\n"
        ))
    };
    assert!(limited("slots", "len() < 2").expect_err("no form").contains("the limit here is another number"));
    assert!(limited("jobs", "len() < 2").expect_err("no form").contains("has no capacity"));
    refuse(
        "    fn f(&self, x: u32) {\n        if self.slots.is_empty() {\n            let _ = self.slots.push(x);\n        }\n    }\n",
    );
}

#[test]
fn several_collections_have_no_form() {
    let both = "    fn f(&self, x: u32) {\n        self.map.insert(x, 1);\n        self.jobs.push(x);\n    }\n";
    assert!(forms(both).expect_err("no form").contains("one lock around both"));
}
