//! Atomics.

use super::{check, refuse};

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
