//! Caches of moka, quick_cache and mini_moka, which give clones of their values.

use super::{check, forms, refuse};

#[test]
fn a_value_that_is_got_or_inserted() {
    let one = |cache: &str, lazy: &str, eager: &str| {
        let body = |last: &str| format!("    fn f(&self, k: u32) -> u32 {{\n{last}    }}\n");
        let look =
            format!("        if let Some(known) = self.{cache}.get(&k) {{\n            return known;\n        }}\n");
        let before =
            format!("{look}        let value = k * 2;\n        self.{cache}.insert(k, value);\n        value\n");
        let (lazy, eager) =
            (format!("        {lazy}\n"), format!("{look}        let value = k * 2;\n        {eager}\n"));
        check(&body(&before), &[&body(&lazy), &body(&eager)]);
    };
    one("moka", "self.moka.get_with(k, || k * 2)", "self.moka.get_with(k, || value)");
    let quick = |value: &str| {
        format!("self.quick.get_or_insert_with(&k, || Ok::<_, std::convert::Infallible>({value})).unwrap()")
    };
    one("quick", &quick("k * 2"), &quick("value"));
    // What is returned is not what was found.
    for cache in ["moka", "quick"] {
        refuse(&format!(
            "    fn f(&self, k: u32) -> u32 {{
        if let Some(known) = self.{cache}.get(&k) {{
            return known + 1;
        }}
        self.{cache}.insert(k, 7);
        7
    }}
"
        ));
    }
}

#[test]
fn a_cache_says_whether_the_value_is_fresh() {
    let body = |text: &str| format!("    fn f(&self, k: u32) -> bool {{\n{text}        true\n    }}\n");
    let before = |cache: &str| {
        body(&format!(
            "        if self.{cache}.contains_key(&k) {{\n            return false;\n        }}\n        self.{cache}.insert(k, 1);\n"
        ))
    };
    check(
        &before("moka"),
        &[&body(
            "        if !self.moka.entry(k).or_insert_with(|| 1).is_fresh() {\n            return false;\n        }\n",
        )],
    );
    check(
        &before("quick"),
        &[&body(
            "        let mut fresh = false;
        let _ = self.quick.get_or_insert_with(&k, || {
            fresh = true;
            Ok::<_, std::convert::Infallible>(1)
        });
        if !fresh {
            return false;
        }
",
        )],
    );
    let none = forms(&before("mini")).expect_err("it has no entries");
    assert!(none.contains("no call of `Cache` inserts only where nothing is: one lock around both calls"), "{none}");
}

#[test]
fn a_value_of_a_cache_is_changed_or_removed() {
    check(
        "    fn f(&self, k: u32) -> u32 {
        let old = self.moka.get(&k).unwrap_or(0);
        self.moka.insert(k, old + 1);
        old
    }
",
        &["    fn f(&self, k: u32) -> u32 {
        let mut old = 0;
        self.moka.entry(k).and_upsert_with(|known| {
            old = known.map_or(0, |known| known.into_value());
            old + 1
        });
        old
    }
"],
    );
    let quick = "    fn f(&self, k: u32) -> u32 {
        let old = self.quick.get(&k).unwrap_or(0);
        self.quick.insert(k, old + 1);
        old
    }
";
    let none = forms(quick).expect_err("no form");
    assert!(none.contains("no call of `Cache` reads a value and writes another"), "{none}");
    check(
        "    fn f(&self, k: u32) -> Option<u32> {
        if let Some(known) = self.moka.get(&k) {
            self.moka.invalidate(&k);
            return Some(known);
        }
        None
    }
",
        &["    fn f(&self, k: u32) -> Option<u32> {
        if let Some(known) = self.moka.remove(&k) {
            return Some(known);
        }
        None
    }
"],
    );
    check(
        "    fn f(&self, k: u32) {
        if self.quick.get(&k) == Some(7) {
            self.quick.remove(&k);
        }
    }
",
        &["    fn f(&self, k: u32) {
        self.quick.remove_if(&k, |value| {
            let value = value.clone();
            value == 7
        });
    }
"],
    );
    refuse(
        "    fn f(&self, k: u32) {
        if self.quick.get(&k) != Some(7) {
            self.quick.remove(&k);
        }
    }
",
    );
}
