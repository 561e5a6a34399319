//! Maps of scc, papaya and flurry: the same operations, each with the form of its collection.

use super::{check, forms, refuse};

/// A method of which the first form is this one.
#[track_caller]
fn first(signature: &str, before: &str, after: &str) {
    let whole = |body: &str| {
        let lines: String = body.lines().map(|line| format!("        {line}\n")).collect();
        format!("    fn f(&self, {signature} {{\n{lines}    }}\n")
    };
    let all = forms(&whole(before)).unwrap_or_else(|reason| panic!("{reason}:\n{before}"));
    assert_eq!(all[0], whole(after));
}

#[test]
fn a_value_that_is_got_or_inserted() {
    let one = |get: &str, hit: &str, insert: &str, after: &str| {
        let before = format!("if let Some(known) = {get} {{\n    return {hit};\n}}\n{insert}\nk * 2");
        first("k: u32) -> u32", &before, after);
    };
    one(
        "self.scc.read_sync(&k, |_, v| *v)",
        "known",
        "let _ = self.scc.insert_sync(k, k * 2);",
        "*self.scc.entry_sync(k).or_insert_with(|| k * 2).get()",
    );
    // Before version 3 the methods that do not wait had no ending.
    one(
        "self.scc.read(&k, |_, v| *v)",
        "known",
        "self.scc.insert(k, k * 2).unwrap();",
        "*self.scc.entry(k).or_insert_with(|| k * 2).get()",
    );
    one(
        "self.scc.get_sync(&k)",
        "*known.get()",
        "self.scc.upsert_sync(k, k * 2);",
        "*self.scc.entry_sync(k).or_insert_with(|| k * 2).get()",
    );
    one(
        "self.papaya.pin().get(&k)",
        "*known",
        "self.papaya.pin().insert(k, k * 2);",
        "*self.papaya.pin().get_or_insert_with(k, || k * 2)",
    );
    one(
        "self.flurry.pin().get(&k).cloned()",
        "known",
        "self.flurry.pin().insert(k, k * 2);",
        "self.flurry.pin().try_insert(k, k * 2).unwrap_or_else(|error| error.current).clone()",
    );
    // A guard that is passed, and a pin with a name.
    first(
        "k: u32) -> u32",
        "let guard = self.papaya.guard();\nif let Some(known) = self.papaya.get(&k, &guard) {\n    return *known;\n}\n\
         self.papaya.insert(k, 7, &guard);\n7",
        "let guard = self.papaya.guard();\n*self.papaya.get_or_insert(k, 7, &guard)",
    );
    first(
        "k: u32) -> u32",
        "let map = self.papaya.pin();\nif let Some(known) = map.get(&k) {\n    return *known;\n}\nmap.insert(k, 7);\n\
         *map.get(&k).unwrap()",
        "let map = self.papaya.pin();\n*map.get_or_insert(k, 7)",
    );
}

#[test]
fn what_looks_like_a_value_that_is_got_or_inserted() {
    // Another pin has the name.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        let map = self.papaya.pin();
        if let Some(known) = map.get(&k) {
            return *known;
        }
        let map = self.papaya.pin();
        map.insert(k, 7);
        7
    }
",
    );
    for (get, insert, last) in [
        // Another key, another map, another value, a call with an effect as the receiver, another key of the third look.
        ("self.papaya.pin().get(&j)", "self.papaya.pin().insert(k, 7);", "7"),
        ("self.papaya.pin().get(&k)", "self.flurry.pin().insert(k, 7);", "7"),
        (
            "self.papaya.pin().get(&k).map(|v| v + 1)",
            "self.papaya.pin().insert(k, 7);",
            "*self.papaya.pin().get(&j).unwrap()",
        ),
        ("self.papaya.pin().get(&k)", "self.papaya.pin().insert(k, 7);", "*self.papaya.pin().get(&j).unwrap()"),
        // The closure asks the key.
        ("self.scc.read_sync(&k, |key, v| key + v)", "let _ = self.scc.insert_sync(k, 7);", "7"),
    ] {
        refuse(&format!(
            "    fn f(&self, k: u32, j: u32) -> u32 {{\n        if let Some(known) = {get} {{\n            return *known;\n        }}\n        \
             {insert}\n        {last}\n    }}\n"
        ));
    }
}

#[test]
fn an_insertion_that_says_whether_it_was_first() {
    let one = |has: &str, insert: &str, after: &str| {
        let before = format!("if {has} {{\n    return false;\n}}\n{insert}\ntrue");
        first("k: u32) -> bool", &before, &format!("if {after} {{\n    return false;\n}}\ntrue"));
    };
    one("self.scc.contains_sync(&k)", "let _ = self.scc.insert_sync(k, 1);", "self.scc.insert_sync(k, 1).is_err()");
    one("self.tree.contains(&k)", "self.tree.insert_sync(k, 1).ok();", "self.tree.insert_sync(k, 1).is_err()");
    one(
        "self.papaya.pin().contains_key(&k)",
        "self.papaya.pin().insert(k, 1);",
        "self.papaya.pin().try_insert(k, 1).is_err()",
    );
    one(
        "self.flurry.pin().contains_key(&k)",
        "self.flurry.pin().insert(k, 1);",
        "self.flurry.pin().try_insert(k, 1).is_err()",
    );
    one("self.set.pin().contains(&k)", "self.set.pin().insert(k);", "!self.set.pin().insert(k)");
    first(
        "k: u32) -> u32",
        "if let Some(known) = self.papaya.pin().get(&k) {\n    return known + 1;\n}\nlet value = k * 2;\n\
         self.papaya.pin().insert(k, value);\n0",
        "let value = k * 2;\nif let Err(known) = self.papaya.pin().try_insert_with(k, || value) {\n    return known + 1;\n}\n0",
    );
    // The name of the value is another one where the key is found.
    refuse(
        "    fn f(&self, k: u32, value: u32) -> u32 {
        if self.papaya.pin().contains_key(&k) {
            return value;
        }
        let value = k * 2;
        self.papaya.pin().insert(k, value);
        0
    }
",
    );
}

#[test]
fn a_value_that_is_changed() {
    let one = |get: &str, insert: &str, after: &str| {
        let before = format!("let old = {get}.unwrap_or(0);\n{insert}\nold");
        first("k: u32) -> u32", &before, &format!("{after}\nold"));
    };
    one(
        "self.scc.read_sync(&k, |_, v| *v)",
        "self.scc.upsert_sync(k, old + 1);",
        "let mut slot = self.scc.entry_sync(k).or_insert(0);\nlet old = *slot.get();\n*slot.get_mut() = old + 1;\ndrop(slot);",
    );
    one(
        "self.papaya.pin().get(&k).copied()",
        "self.papaya.pin().insert(k, old + 1);",
        "let mut old = 0;\nself.papaya.pin().compute(k, |known| {\n    old = known.map_or(0, |(_, known)| *known);\n    \
         papaya::Operation::<_, ()>::Insert(old + 1)\n});",
    );
    one(
        "self.flurry.pin().get(&k).copied()",
        "self.flurry.pin().insert(k, old + 1);",
        "let mut old = 0;\nwhile self.flurry.pin().compute_if_present(&k, |_, known| {\n    old = *known;\n    Some(old + 1)\n}).is_none() {\n    \
         old = 0;\n    if self.flurry.pin().try_insert(k, old + 1).is_ok() {\n        break;\n    }\n}",
    );
    // What is made of the old value is made inside, and again where it is used later.
    first(
        "k: u32) -> u32",
        "let old = self.papaya.pin().get(&k).copied().unwrap_or(0);\nlet new = old + 1;\nself.papaya.pin().insert(k, new);\nnew",
        "let mut old = 0;\nself.papaya.pin().compute(k, |known| {\n    old = known.map_or(0, |(_, known)| *known);\n    \
         let new = old + 1;\n    papaya::Operation::<_, ()>::Insert(new)\n});\nlet new = old + 1;\nnew",
    );
    // `insert` of scc leaves what is there; a `TreeIndex` has no entries.
    let old = |map: &str, insert: &str| {
        forms(&format!(
            "    fn f(&self, k: u32) -> u32 {{\n        let old = self.{map}(&k, |_, v| *v).unwrap_or(0);\n        {insert}\n        old\n    }}\n"
        ))
    };
    let text = old("scc.read_sync", "let _ = self.scc.insert_sync(k, old + 1);").expect_err("no form");
    assert_eq!(text, "its text has no form that is known");
    let none = old("tree.peek_with", "self.tree.upsert_sync(k, old + 1);").expect_err("no form");
    assert!(none.contains("no call of `TreeIndex` reads a value and writes another"), "{none}");
}

#[test]
fn a_removal_that_is_decided_before() {
    let one = |condition: &str, remove: &str, after: &str| {
        let before = format!("if {condition} {{\n    {remove}\n    return true;\n}}\nfalse");
        first("k: u32) -> bool", &before, &format!("{after} {{\n    return true;\n}}\nfalse"));
    };
    one("self.scc.contains_sync(&k)", "self.scc.remove_sync(&k);", "if self.scc.remove_sync(&k).is_some()");
    one("self.tree.contains(&k)", "self.tree.remove_sync(&k);", "if self.tree.remove_sync(&k)");
    one(
        "self.scc.read_sync(&k, |_, v| *v) == Some(7)",
        "self.scc.remove_sync(&k);",
        "if self.scc.remove_if_sync(&k, |v| *v == 7).is_some()",
    );
    one(
        "self.papaya.pin().get(&k).is_some_and(|v| *v == 7)",
        "self.papaya.pin().remove(&k);",
        "if matches!(self.papaya.pin().remove_if(&k, |_, v| *v == 7), Ok(Some(_)))",
    );
    one(
        "self.flurry.pin().get(&k).is_some_and(|v| *v == 7)",
        "self.flurry.pin().remove(&k);",
        "let mut gone = false;\nself.flurry.pin().compute_if_present(&k, |_, v| {\n    gone = *v == 7;\n    (!gone).then(|| v.clone())\n});\n\
         if gone",
    );
    check(
        "    fn f(&self, k: u32) -> Option<u32> {
        let old = self.papaya.pin().get(&k).copied();
        self.papaya.pin().remove(&k);
        old
    }
",
        &["    fn f(&self, k: u32) -> Option<u32> {
        let old = self.papaya.pin().remove(&k).map(|value| *value);
        old
    }
"],
    );
    // Another key, a question that may do something, the other way round.
    for (condition, key) in [
        ("self.papaya.pin().get(&k).is_some_and(|v| *v == 7)", "&j"),
        ("self.papaya.pin().get(&k).is_some_and(|v| ask(*v))", "&k"),
        ("!self.papaya.pin().contains_key(&k)", "&k"),
    ] {
        refuse(&format!(
            "    fn f(&self, k: u32, j: u32) {{\n        if {condition} {{\n            self.papaya.pin().remove({key});\n        }}\n    }}\n"
        ));
    }
    let taken = "    fn f(&self, k: u32) -> Option<u32> {
        let old = self.tree.peek_with(&k, |_, v| *v);
        self.tree.remove_sync(&k);
        old
    }
";
    assert!(forms(taken).is_err());
}
