//! Traits of other crates for types of std.

use super::*;

/// What serde implements for the types of std, its copy implements for those of the mirror, too. So a struct with such fields derives
/// its traits under control as before, and its locks and atomics are those of the scheduler.
#[test]
fn serde_is_derived_for_the_types_of_the_mirror() {
    let project = Project::of_tests(
        "serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
        r##"
    use std::collections::{HashMap, HashSet};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    use std::sync::{Mutex, RwLock};
    use std::time::SystemTime;

    use interloper_scheduler::strategies::Exhaustive;
    use interloper_scheduler::{Config, End, Engine, Strategy};
    use serde::de::{IntoDeserializer, value::{Error, MapDeserializer}};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Store {
        names: HashMap<String, Vec<Store>>,
        seen: HashSet<u8>,
        on: AtomicBool,
        hits: AtomicU64,
        last: Mutex<Option<u32>>,
        limits: RwLock<(u8, u8)>,
        at: SystemTime,
        #[serde(default)]
        more: HashMap<String, u8>,
    }

    const TEXT: &str = concat!(
        r#"{"names":{"a":[]},"seen":[7],"on":true,"hits":3,"last":5,"limits":[1,2],"#,
        r#""at":{"secs_since_epoch":1577836800,"nanos_since_epoch":0},"more":{"b":1}}"#
    );

    #[test]
    fn text_is_read_and_written() {
        let store: Store = serde_json::from_str(TEXT).unwrap();
        assert!(store.names["a"].is_empty() && store.seen.contains(&7) && store.more["b"] == 1);
        assert_eq!((store.on.load(Relaxed), store.hits.load(Relaxed)), (true, 3));
        assert_eq!(serde_json::to_string(&store).unwrap(), TEXT);
    }

    #[test]
    fn what_is_not_so_is_refused() {
        assert!(serde_json::from_str::<Store>(&TEXT.replace("[7]", "[\"x\"]")).is_err());
        let deserializer: MapDeserializer<'_, _, Error> =
            HashMap::from([("hits", 4u8)]).into_deserializer();
        assert_eq!(HashMap::deserialize(deserializer), Ok(HashMap::from([("hits".to_owned(), 4u8)])));
    }

    /// Writing a lock that a task holds waits for the task, and the scheduler sees who waits.
    #[test]
    fn writing_takes_the_lock() {
        let mut engine = Engine::new(Config::default());
        let mut strategy = Exhaustive::new();
        let mut executions = 0;
        while strategy.begin() {
            let execution = engine.run(&mut strategy, || {
                let store = std::sync::Arc::new(Mutex::new(0));
                let other = std::sync::Arc::clone(&store);
                let task = std::thread::spawn(move || *other.lock().unwrap() += 1);
                assert!(["0", "1"].contains(&serde_json::to_string(&*store).unwrap().as_str()));
                task.join().unwrap();
            });
            strategy.end(&execution, &engine.trace());
            assert_eq!(execution.end, End::Finished);
            executions += 1;
        }
        assert_eq!(executions, 2, "one for each order of the two critical sections");
    }
"##,
    );
    let ran = project.run(&["test"]).expect(0);
    ran.assert_passed(&["text_is_read_and_written", "what_is_not_so_is_refused", "writing_takes_the_lock"]);
    // The copy serves others and is not under control.
    assert!(!ran.err.contains("under control: serde"), "{}", ran.err);
    again(|| project.run(&["test"]).expect(0));
}

/// With `all`, serde is not under control either, although it names the locks of std: a crate that is not has the types of std, and their
/// traits.
#[test]
fn serde_is_derived_for_the_types_of_std_where_all_is_under_control() {
    let project = Project::new("[dependencies]\nspoon = { path = \"spoon\" }\nserde_json = \"1\"\n");
    project.dependency("spoon", "");
    project.put(
        "spoon/Cargo.toml",
        "[package]\nname = \"spoon\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n\
         [dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n",
    );
    project.put(
        "spoon/src/lib.rs",
        "#[derive(Default, serde::Serialize, serde::Deserialize)]\npub struct Names {\n    \
         names: std::collections::HashMap<String, u8>,\n}\n",
    );
    let test = r##"
#[cfg(test)]
mod tests {
    #[test]
    fn names() {
        assert_eq!(serde_json::to_string(&spoon::Names::default()).unwrap(), r#"{"names":{}}"#);
    }
}
"##;
    project.put("src/lib.rs", &format!("{HEAD}{test}"));
    let ran = project.run(&["test", "--instrument", "all", "--allow-trivial"]).expect(0);
    ran.assert_passed(&["names"]);
    assert!(!ran.err.contains("serde_core 1"), "{}", ran.err);
    // Who names it has it under control.
    let ran = project.run(&["plan", "--all"]).expect(0);
    let line = ran.out.lines().find(|line| line.contains("serde_core 1")).expect("a line for each package");
    assert!(line.starts_with("left alone") && line.ends_with("for the types of the mirror, too"), "{line}");
}
