//! Cells that are set once, and pointers that are exchanged as a whole.

use super::{check, refuse};

#[test]
fn a_cell_is_set_by_whoever_is_first() {
    for last in ["k", "*self.once.get().unwrap()"] {
        let before = format!(
            "    fn f(&self, k: u32) -> u32 {{
        if let Some(known) = self.once.get() {{
            return *known;
        }}
        let _ = self.once.set(k);
        {last}
    }}
"
        );
        let whole = "    fn f(&self, k: u32) -> u32 {
        *self.once.get_or_init(|| k)
    }
";
        let kept = "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.once.get() {
            return *known;
        }
        *self.once.get_or_init(|| k)
    }
";
        check(&before, &[whole, kept]);
    }
    check(
        "    fn f(&self, k: u32) -> bool {
        if self.once.get().is_some() {
            return false;
        }
        self.once.set(k).unwrap();
        true
    }
",
        &["    fn f(&self, k: u32) -> bool {
        if self.once.set(k).is_err() {
            return false;
        }
        true
    }
"],
    );
    // Another value than that of the cell, and a condition on the value.
    refuse(
        "    fn f(&self, k: u32) -> u32 {
        if let Some(known) = self.once.get() {
            return *known + 1;
        }
        let _ = self.once.set(k);
        k
    }
",
    );
    refuse(
        "    fn f(&self, k: u32) {
        if self.once.get() == Some(&7) {
            let _ = self.once.set(k);
        }
    }
",
    );
}

#[test]
fn a_pointer_is_read_and_stored() {
    let one = |before: &str, after: &str| {
        let whole = |body: &str| format!("    fn f(&self, by: u32) {{\n        {body}\n    }}\n");
        check(&whole(before), &[&whole(after)]);
    };
    one(
        "self.swap.store(Arc::new(self.swap.load().wrapping_add(by)));",
        "self.swap.rcu(|now| Arc::new(now.wrapping_add(by)));",
    );
    one(
        "let now = self.swap.load();\n        self.swap.store(Arc::new(**now + by));\n        log(**now)",
        "let now = &self.swap.rcu(|now| Arc::new(**now + by));\n        log(**now)",
    );
    one(
        "let now = self.swap.load_full();\n        let next = *now + by;\n        self.swap.store(Arc::new(next));\n        log(next)",
        "let now = self.swap.rcu(|now| {\n            let now = now.clone();\n            let next = *now + by;\n            Arc::new(next)\n        });\n        let next = *now + by;\n        log(next)",
    );
    one(
        "let now = self.all.load();\n        let mut next = now.to_vec();\n        next.push(by);\n        self.all.store(Arc::new(next));",
        "self.all.rcu(|now| {\n            let mut next = now.to_vec();\n            next.push(by);\n            Arc::new(next)\n        });",
    );
    // An effect on something else, which would happen again; a value that is used later, after it was changed.
    for body in [
        "let now = self.all.load();\n        self.log.push(by);\n        self.all.store(Arc::new(now.to_vec()));",
        "let now = self.all.load();\n        let log = &self.log;\n        log.push(by);\n        self.all.store(Arc::new(now.to_vec()));",
        "let now = self.all.load();\n        let mut next = now.to_vec();\n        next.push(by);\n        self.all.store(Arc::new(next.clone()));\n        log(next)",
        "let now = self.swap.load();\n        self.swap.store(make(&now));",
    ] {
        refuse(&format!("    fn f(&self, by: u32) {{\n        {body}\n    }}\n"));
    }
}

#[test]
fn a_pointer_is_stored_on_a_condition() {
    check(
        "    fn f(&self, x: u32) {
        if self.some.load().is_none() {
            self.some.store(Some(Arc::new(x)));
        }
    }
",
        &["    fn f(&self, x: u32) {
        self.some.rcu(|now| if now.is_none() { Some(Arc::new(x)) } else { now.clone() });
    }
"],
    );
    check(
        "    fn f(&self, x: u32) -> bool {
        if self.some.load().is_some() {
            return false;
        }
        self.some.store(Some(Arc::new(x)));
        true
    }
",
        &["    fn f(&self, x: u32) -> bool {
        if (&self.some.rcu(|now| if now.is_some() { now.clone() } else { Some(Arc::new(x)) })).is_some() {
            return false;
        }
        true
    }
"],
    );
    refuse(
        "    fn f(&self, x: u32) {
        if ask(self.some.load()) {
            self.some.store(Some(Arc::new(x)));
        }
    }
",
    );
}
