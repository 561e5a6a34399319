//! `DashMap` and `SkipMap`: a look, and then a removal.

use super::{check, refuse};

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
