//! Locks.

use super::{check, refuse};

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
