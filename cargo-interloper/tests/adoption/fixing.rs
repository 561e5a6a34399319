//! `cargo interloper composed --run`: atomic forms of what is not atomic, checked before they are suggested.

use super::*;

const SOURCE: &str = "use std::collections::HashMap;
use std::fmt;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};

use dashmap::DashMap;

#[derive(Default)]
pub struct Cache {
    values: DashMap<u32, u32>,
}

impl Cache {
    pub fn memoize(&self, key: u32) -> u32 {
        // Known, perhaps.
        if let Some(known) = self.values.get(&key) {
            return *known;
        }
        let value = key * 2;
        self.values.insert(key, value);
        value
    }

    /// Each look is one step with its insertion, and both together are not.
    pub fn twice(&self, key: u32) {
        for _ in 0..2 {
            if !self.values.contains_key(&key) {
                self.values.insert(key, 1);
            }
        }
    }

}

#[derive(Default)]
pub struct Counts {
    counts: DashMap<String, u32>,
}

impl Counts {
    /// The entry would take the key before it is copied.
    pub fn count(&self, key: String) -> String {
        let old = self.counts.get(&key).map(|count| *count).unwrap_or(0);
        let copy = key.clone();
        self.counts.insert(key, old.wrapping_add(1));
        copy
    }
}

#[derive(Default)]
pub struct Table {
    known: RwLock<HashMap<u32, u32>>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, \"{}\", self.known.read().unwrap().len())
    }
}

impl Table {
    /// One guard for all of it would wait for itself.
    pub fn of(&self, number: u32) -> u32 {
        if let Some(known) = self.known.read().unwrap().get(&number) {
            return *known;
        }
        let size = self.to_string();
        self.known.write().unwrap().insert(number, 3);
        size.len() as u32
    }
}

/// Neither a value nor `Debug`.
pub struct Ticket(u32);

#[derive(Default)]
pub struct Tickets {
    next: AtomicU32,
    open: AtomicU32,
}

impl Tickets {
    pub fn draw(&self) -> Ticket {
        let next = self.next.load(Ordering::SeqCst);
        self.next.store(next.wrapping_add(1), Ordering::SeqCst);
        Ticket(next)
    }

    pub fn used(&self, ticket: &Ticket) -> bool {
        ticket.0 > 0
    }

    pub fn open(&self) -> bool {
        if self.open.load(Ordering::SeqCst) == 0 {
            self.open.store(1, Ordering::SeqCst);
            return true;
        }
        false
    }
}
";

const PATCH: &str = "--- a/src/lib.rs
+++ b/src/lib.rs
@@ -13,12 +13,7 @@
 impl Cache {
     pub fn memoize(&self, key: u32) -> u32 {
         // Known, perhaps.
-        if let Some(known) = self.values.get(&key) {
-            return *known;
-        }
-        let value = key * 2;
-        self.values.insert(key, value);
-        value
+        *self.values.entry(key).or_insert_with(|| key * 2)
     }
 
     /// Each look is one step with its insertion, and both together are not.
";

/// A form is a patch only if it compiles, does the same when it runs alone, and is linearizable. One that does not compile does not
/// take the others down.
#[test]
fn an_atomic_form_is_checked_before_it_is_suggested() {
    let project = Project::plain("forms", "0.1.0", "dashmap = \"6\"\n");
    project.put("src/lib.rs", SOURCE);
    let before = files(project.folder());
    let asked = ["composed", "--run", "--offline", "--bound", "1", "--time", "600", "--format", "json"];
    let document: serde_json::Value = serde_json::from_str(&project.run(&asked).expect(1).out).expect("JSON");
    assert_eq!(files(project.folder()), before, "no file of the project has changed");
    let fix = |name: &str| {
        let all = document["operations"].as_array().expect("a list");
        let one = all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"));
        assert_eq!(one["outcome"]["verdict"], "not-linearizable", "{name}: {document:#}");
        one["outcome"]["fix"].clone()
    };
    let memoize = fix("Cache::memoize");
    assert_eq!(memoize["is"], "patch", "{memoize:#}");
    assert_eq!(memoize["patch"], PATCH);
    assert!(memoize["runs"].as_u64() > Some(4) && memoize["executions"].as_u64() > Some(4), "{memoize:#}");
    let open = fix("Tickets::open");
    assert_eq!((&open["is"], &open["form"]), (&"patch".into(), &"`compare_exchange`".into()), "{open:#}");
    for (name, reason) in [
        ("Cache::twice", "it is linearizable only where nothing but its own program acts"),
        ("Counts::count", "it does not compile: error[E0382]"),
        ("Table::of", "it does something else when it runs alone: "),
        ("Tickets::draw", "its results have no form in which they could be compared"),
    ] {
        let fix = fix(name);
        assert_eq!(fix["is"], "refused", "{name}: {fix:#}");
        let [tried] = &fix["tried"].as_array().expect("a list")[..] else { panic!("{name}: one form: {fix:#}") };
        assert!(tried["reason"].as_str().expect("a text").contains(reason), "{name}: {fix:#}");
    }

    let [replacement] = &memoize["replacements"].as_array().expect("a list")[..] else { panic!("one: {memoize:#}") };
    let text = "*self.values.entry(key).or_insert_with(|| key * 2)";
    assert_eq!(*replacement, serde_json::json!({ "from": [16, 9], "to": [21, 14], "text": text }));

    the_diff_applies(&project, memoize["patch"].as_str().expect("a text"));
}

/// `patch -p1` takes what is shown, and what it gives compiles. Not everywhere is there such a command.
fn the_diff_applies(project: &Project, patch: &str) {
    if let Err(error) = std::process::Command::new("patch").arg("--version").output() {
        eprintln!("\n!!! SKIPPED: the diff was not applied, there is no `patch`: {error}\n");
        return;
    }
    let path = project.folder().join("shown.patch");
    fs::write(&path, patch).expect("a file");
    let run = |command: &mut std::process::Command| {
        let output = command.current_dir(project.folder()).output().expect("it starts");
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    };
    run(std::process::Command::new("patch").args(["-p1", "--fuzz=0", "-i", "shown.patch"]));
    let source = fs::read_to_string(project.folder().join("src/lib.rs")).expect("a source");
    assert!(source.contains("        *self.values.entry(key).or_insert_with(|| key * 2)\n    }\n"), "{source}");
    run(std::process::Command::new(env!("CARGO")).args(["check", "--offline", "--target-dir", "checked"]));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
