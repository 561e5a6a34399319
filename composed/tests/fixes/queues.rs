//! Queues, and several collections.

use super::{check, forms, refuse};

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
