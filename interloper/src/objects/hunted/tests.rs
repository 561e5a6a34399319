use std::collections::BTreeMap;
use std::hash::BuildHasher;

use interloper_std::hash::RandomState;
use interloper_std::sync::Mutex;
use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use interloper_report::replay_file::About;

use super::*;
use crate::objects::journal::Journal;
use crate::objects::search::Search;

fn counter(atomic: bool) -> Object {
    Object::describe("counter", || AtomicI64::new(0))
        .core("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .method("bump", move |counter, ()| match atomic {
            true => counter.fetch_add(1, SeqCst),
            false => {
                let value = counter.load(SeqCst);
                counter.store(value + 1, SeqCst);
                value
            }
        })
        .build()
}

fn asked() -> Asked {
    Asked { seed: 1, schemas: Some(40), command: "cargo interloper hunt counter".to_owned(), ..Asked::default() }
}

#[test]
fn what_is_asked_for_is_hunted() {
    let (ending, text) = hunted(counter(false), &asked());
    assert_eq!(ending, Ending::Wrong);
    assert!(
        text.contains("replay: cargo interloper hunt counter --schema '{ bump() } || { bump() }' --seed 1"),
        "{text}"
    );
    let (ending, text) = hunted(counter(true), &asked());
    assert_eq!(ending, Ending::Clean, "{text}");
    assert!(text.contains("✓ bump") && !text.contains("not judged"), "{text}");
    // The finding again, and its twin.
    let again = Asked { schema: Some("{ bump() } || { bump() }".to_owned()), ..asked() };
    assert_eq!(hunted(counter(false), &again).0, Ending::Wrong);
    assert_eq!(hunted(counter(true), &again).0, Ending::Clean);
    let (_, data) = hunted(counter(false), &Asked { json: true, ..again });
    let data: serde_json::Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["methods"][0]["violation"]["schema"], "{ bump() } || { bump() }");
}

/// Entries that go in one after the other, where others can see one without the other. What the hunt prints of them is read again.
#[test]
fn a_vector_of_pairs_is_an_argument() {
    let object = |at_once: bool| {
        Object::describe("table", || Mutex::new(BTreeMap::new()))
            .core("get", |table, (key,): (i64,)| table.lock().unwrap().get(&key).copied())
            .reads()
            .method("extend", move |table, (entries,): (Vec<(i64, Option<i64>)>,)| match at_once {
                true => table.lock().unwrap().extend(entries),
                false => entries.into_iter().for_each(|(key, value)| _ = table.lock().unwrap().insert(key, value)),
            })
            .method("insert_all", move |table, (entries,): (Vec<(i64, i64)>,)| {
                let entries = entries.into_iter().map(|(key, value)| (key, Some(value)));
                match at_once {
                    true => table.lock().unwrap().extend(entries),
                    false => entries.for_each(|(key, value)| _ = table.lock().unwrap().insert(key, value)),
                }
            })
            .build()
    };
    let (ending, text) = hunted(object(false), &Asked { method: Some("insert_all".to_owned()), ..asked() });
    assert_eq!(ending, Ending::Wrong, "{text}");
    let schema = text.split("--schema '").nth(1).and_then(|rest| rest.split('\'').next()).expect("a replay");
    assert!(schema.contains("insert_all({0="), "{schema}");
    let again = Asked { schema: Some(schema.to_owned()), ..asked() };
    assert_eq!(hunted(object(false), &again).0, Ending::Wrong);
    assert_eq!(hunted(object(true), &again).0, Ending::Clean);
    // At most one entry of these is tried at once, with which nothing is wrong.
    let (ending, text) = hunted(object(false), &Asked { method: Some("extend".to_owned()), ..asked() });
    assert_eq!(ending, Ending::Clean, "{text}");
}

/// A report says which calls no schema ran beside each other. A pair that a schema of another method ran is not among them.
#[test]
fn a_report_names_calls_that_never_overlapped() {
    let object = || {
        Object::describe("counter", || AtomicI64::new(0))
            .core("add", |counter, ()| counter.fetch_add(1, SeqCst))
            .core("double", |counter, ()| counter.fetch_update(SeqCst, SeqCst, |value| Some(2 * value)))
            .method("get", |counter, ()| counter.load(SeqCst))
            .reads()
            .build()
    };
    let said = |schemas| {
        let (ending, text) = hunted(object(), &Asked { schemas: Some(schemas), ..asked() });
        assert_eq!(ending, Ending::Clean, "{text}");
        text.lines().filter(|line| line.contains("overlapped")).map(str::to_owned).collect::<Vec<_>>()
    };
    // One schema of each method: `get` beside `double`, and `add` and `double` beside each other.
    let apart = [
        "no call of get overlapped a call of add",
        "no two calls of add overlapped",
        "no two calls of double overlapped",
    ];
    assert_eq!(said(1), apart);
    assert_eq!(said(40), <[&str; 0]>::default());
}

/// No specification allows a method that the system kills a process for.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_method_that_crashes_alone_is_wrong() {
    let object = Object::describe("slot", || AtomicI64::new(0))
        .core("fill", |slot, ()| slot.store(1, SeqCst))
        .method("peek", |slot, ()| match slot.load(SeqCst) {
            // SAFETY: none; this is what is tested.
            0 => i64::from(unsafe { std::ptr::without_provenance::<u8>(1 << 20).read_volatile() }),
            filled => filled,
        })
        .build();
    let (ending, text) = hunted(object, &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    let says = "peek() crashes on one thread: access to memory that the process does not have (SIGSEGV)";
    assert!(text.contains(&format!("✗ peek: {says}")) && text.contains("crashes on one thread"), "{text}");
}

/// What a walk at random finds is found again, although an exhaustive search of so many executions does not: it turns the last
/// steps round first, and what goes wrong is at the beginning.
#[test]
fn a_finding_of_any_pass_is_found_again() {
    struct First {
        value: AtomicI64,
        noise: AtomicI64,
    }
    let object = Object::describe("first", || First { value: AtomicI64::new(0), noise: AtomicI64::new(0) })
        .core("get", |first, ()| first.value.load(SeqCst))
        .reads()
        .method("bump", |first, ()| {
            let value = first.value.load(SeqCst);
            first.value.store(value + 1, SeqCst);
            for _ in 0..12 {
                first.noise.fetch_add(1, SeqCst);
            }
            value
        })
        .build();
    let asked = Asked { seed: 42, ..asked() };
    let (ending, text) = hunted(object.clone(), &asked);
    assert_eq!(ending, Ending::Wrong, "{text}");
    let schema = text.split("--schema '").nth(1).and_then(|rest| rest.split('\'').next()).expect("a replay");
    let again = Asked { schema: Some(schema.to_owned()), ..asked };
    let (ending, text) = hunted(object.clone(), &again);
    assert_eq!(ending, Ending::Wrong, "{text}");
    let alone = Settings { executions: Executions::AtMost(EXECUTIONS), ..Settings::default() };
    let alone = Campaign { passes: Vec::new(), engine: Engine::Systematic(alone), ..Campaign::staged(&object, 42) };
    let schema = Schema::parse(schema).expect("its own text");
    assert_eq!(
        alone.schema(schema).hunted.found(),
        None,
        "the exhaustive search alone finds it, so this test says nothing"
    );
}

/// Two shards, which `sum` reads one after the other.
struct Sharded {
    hasher: RandomState,
    shards: [AtomicI64; 2],
}

impl Sharded {
    fn add(&self, key: i64) {
        self.shards[self.hasher.hash_one(key) as usize % 2].fetch_add(key + 1, SeqCst);
    }

    fn sum(&self) -> i64 {
        self.shards.iter().map(|shard| shard.load(SeqCst)).sum()
    }
}

/// The hasher puts each key into one of two shards. The sum can miss the first key and count the second one only if the
/// first key is in the second shard and the second key in the first shard: one of four placements. With 32 seeds the
/// probability that no seed places them so is 0.75^32 = 0.0001. A search without passes has one seed.
#[test]
fn the_seed_determines_the_hashers() {
    let schema = Schema::parse(TWO_SHARDS).expect("a schema");
    let found = |seed: u64| {
        let campaign = campaign(&sharded(), &two_shards(seed)).expect("nothing is damaged");
        Campaign { passes: Vec::new(), ..campaign }.schema(schema.clone()).found().is_some()
    };
    let all: Vec<bool> = (0..32).map(found).collect();
    assert!(all.contains(&true) && all.contains(&false), "{all:?}");
    assert_eq!((0..32).map(found).collect::<Vec<_>>(), all);
}

/// One of the four placements shows the violation. Four seeds in a row miss it with probability 0.75^4 = 0.32; the 64 seeds that are
/// compared have all placements, except with probability 2^-24, and one seed of each runs. An execution is replayed with the seed of
/// hashers that it had.
#[test]
fn each_placement_that_seeds_of_hashers_give_is_tried_and_recorded() {
    let searched_with = |object: &Object, seed: u64| {
        let asked = two_shards(seed);
        let campaign = campaign(object, &asked).expect("nothing is damaged");
        let Ok(Came::Findings(findings)) = searched(campaign, &asked, Visits::default()) else {
            panic!("a schema was asked for")
        };
        findings
    };
    let (mut seeds, mut all_compared) = (Vec::new(), Vec::new());
    for seed in (0..32).map(|seed| 100 * seed) {
        let findings = searched_with(&sharded(), seed);
        let compared = findings.methods()[0]["hasher_executions"].as_u64().expect("a number");
        // Where the first seed shows the violation, none is compared.
        let chosen = if compared == 0 { String::new() } else { format!(", chosen by {compared} more executions") };
        let says = format!("; up to 8 seeds of hashers for each schema{chosen}\n");
        let text = findings.text(false, Style { color: false, width: None }, &|_| None);
        assert!(text.contains(&says), "{says} is not in\n{text}");
        all_compared.push(compared);
        assert_eq!(findings.methods()[0]["hasher_seeds"], 8);
        let file = replay_file(&findings, &findings.rows[0]).unwrap_or_else(|| panic!("seed {seed} finds nothing"));
        assert_eq!(file.seed, seed);
        let About::Schema { hasher_seed, .. } = file.about else { panic!("a schema was asked for") };
        seeds.push(hasher_seed - seed);
        let again = replayed(&sharded(), &file, &two_shards(seed));
        assert!(again.divergence.is_none() && again.counterexample.is_some(), "{again:?}");
        // Its twin, which reads both shards at once.
        assert_eq!(searched_with(&under_a_lock(), seed).rows[0].found(), None);
    }
    // A search without passes has one seed, and says so.
    let one = Campaign { passes: Vec::new(), ..campaign(&sharded(), &two_shards(0)).expect("nothing is damaged") };
    let Ok(Came::Findings(findings)) = searched(one, &two_shards(0), Visits::default()) else {
        panic!("a schema was asked for")
    };
    assert_eq!(findings.methods()[0]["hasher_seeds"], 1);
    assert!(seeds.iter().any(|seed| *seed >= 4), "{seeds:?}");
    // The one in four that the first seed shows, and the others, which compare up to 64.
    assert!(
        all_compared.contains(&0) && all_compared.iter().any(|compared| (4..=64).contains(compared)),
        "{all_compared:?}"
    );
}

fn sharded() -> Object {
    let sharded = || Sharded { hasher: RandomState::new(), shards: [AtomicI64::new(0), AtomicI64::new(0)] };
    Object::describe("sharded", sharded)
        .core("add", |sharded, (key,): (i64,)| sharded.add(key))
        .method("sum", |sharded, ()| sharded.sum())
        .build()
}

/// The same, with a lock around each method.
fn under_a_lock() -> Object {
    let sharded = || Sharded { hasher: RandomState::new(), shards: [AtomicI64::new(0), AtomicI64::new(0)] };
    Object::describe("sharded", move || Mutex::new(sharded()))
        .core("add", |sharded, (key,): (i64,)| sharded.lock().expect("no panic").add(key))
        .method("sum", |sharded, ()| sharded.lock().expect("no panic").sum())
        .build()
}

const TWO_SHARDS: &str = "{ add(0); add(1) } || { sum() }";

fn two_shards(seed: u64) -> Asked {
    Asked { seed, schema: Some(TWO_SHARDS.to_owned()), ..asked() }
}

/// A place that `swap` empties for a moment, if it is not at once, and `is_empty` looks. Each of the two is atomic beside the core method
/// alone. `touch` changes nothing.
fn place(at_once: bool) -> Object {
    Object::describe("place", || AtomicI64::new(1))
        .core("put", |place, ()| place.store(1, SeqCst))
        .method("is_empty", |place, ()| place.load(SeqCst) == 0)
        .reads()
        .method("swap", move |place, ()| {
            if !at_once {
                place.store(0, SeqCst);
            }
            place.store(1, SeqCst);
        })
        .method("touch", |place, ()| place.fetch_add(0, SeqCst) == 5)
        .build()
}

#[test]
fn methods_that_are_not_atomic_together_have_a_row() {
    let (ending, text) = hunted(place(false), &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    for part in [
        "\n✗ not atomic together: is_empty and swap (interrupted: swap). Beside core methods alone, no violation of these methods was found.\n",
        "\n✓ is_empty          no violation found ",
        "\n✓ swap              no violation found ",
        "\n✗ is_empty + swap   not atomic together   { is_empty() } || { swap() }   true, () ",
        "\n✓ together          no violation found ",
        "\n  replay: cargo interloper hunt counter --schema '{ is_empty() } || { swap() }' --seed 1\n",
        "\npairs of methods without a violation of their own: 3 of 3 ran, ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(
        !text.contains("ran beside") && !text.contains("never overlapped") && !text.contains("did not run"),
        "{text}"
    );
    let data = |object: Object| -> serde_json::Value {
        serde_json::from_str(&hunted(object, &Asked { json: true, ..asked() }).1).expect("JSON")
    };
    let wrong = data(place(false));
    let pair = json!(["is_empty", "swap"]);
    let row = wrong["methods"].as_array().expect("rows").iter().find(|row| row["method"] == "is_empty + swap");
    let row = row.expect("the row of the pair");
    assert_eq!((&row["verdict"], &row["blamed"]), (&json!("not atomic together"), &pair));
    assert_eq!(row["interrupted"], json!([["swap"]]));
    let together = &wrong["together"];
    assert_eq!((&together["pairs"], &together["ran"], &together["not_atomic"]), (&json!(3), &json!(3), &json!([pair])));
    assert_eq!((&together["not_run"], &together["why_not_run"]), (&json!([]), &json!(null)));
    let of_row = |label: &str| wrong["methods"].as_array().expect("rows").iter().find(|row| row["method"] == label);
    let executions = ["is_empty + swap", "together"].map(|label| of_row(label).expect("a row")["executions"].as_u64());
    assert_eq!(together["executions"].as_u64(), executions[0].zip(executions[1]).map(|(one, other)| one + other));

    // Its schema shows it, and no other row.
    let again = Asked { schema: Some("{ swap() } || { is_empty() }".to_owned()), ..asked() };
    let (ending, text) = hunted(place(false), &again);
    assert_eq!(ending, Ending::Wrong, "{text}");
    assert!(!text.contains("together"), "{text}");
    assert!(text.contains("\nOnly calls of swap are interrupted: every other call runs as one step.\n"), "{text}");
    // One method alone has no pairs, and says so.
    let alone = Asked { method: Some("swap".to_owned()), ..asked() };
    let (ending, text) = hunted(place(false), &alone);
    assert_eq!(ending, Ending::Clean, "{text}");
    assert!(text.contains("\nswap, touch ran beside core methods alone; --schema runs them beside others\n"), "{text}");

    // The twin.
    let (ending, text) = hunted(place(true), &asked());
    assert_eq!(ending, Ending::Clean, "{text}");
    assert!(text.contains("\n✓ together   no violation found "), "{text}");
    assert!(
        text.contains("\npairs of methods without a violation of their own: 3 of 3 ran, 1,200 schemas, "),
        "{text}"
    );
    assert_eq!(data(place(true))["together"]["not_atomic"], json!([]));
}

/// A part has no pairs, since it does not know which methods are clean: the end runs them. A hunt that was ended among the pairs goes on there.
#[test]
fn pairs_are_searched_at_the_end_and_continued() {
    for at_once in [false, true] {
        let whole = hunted(place(at_once), &asked());
        let path = env::temp_dir().join(format!("interloper-pairs-{at_once}-{}.jsonl", std::process::id()));
        let part = |number| Asked { shard: Some(format!("{number}/2")), ..asked() };
        let of_parts: Vec<Visit> = (1..=2)
            .flat_map(|number| {
                serde_json::from_str::<Vec<Visit>>(&hunted(place(at_once), &part(number)).1).expect("visits")
            })
            .collect();
        let kept = Asked { state: Some((path.clone(), "it".to_owned())), ..asked() };
        let (mut journal, _) = Journal::open(&path, &Search::new("it").expect("a program")).expect("a file");
        of_parts.iter().for_each(|visit| journal.add(visit).expect("a file"));
        drop(journal);
        assert_eq!(hunted(place(at_once), &kept), whole);
        // The file has the visits of the pairs, too: cut in the middle of them, and whole.
        let text = std::fs::read_to_string(&path).expect("a file");
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert!(lines.len() > of_parts.len() + 20, "{} lines", lines.len());
        std::fs::write(&path, lines[..lines.len() - 10].concat()).expect("a file");
        assert_eq!(hunted(place(at_once), &kept), whole);
        assert_eq!(hunted(place(at_once), &kept), whole);
        std::fs::remove_file(&path).expect("a file");
        let _ = std::fs::remove_file(path.with_extension("running.json"));
    }
}

/// Core methods that are wrong are in no schema of a pair. Where no core method is left, nobody could say who is to blame.
#[test]
fn pairs_run_without_core_methods_that_are_not_atomic() {
    let object = |others: bool| {
        let description = Object::describe("counter", || AtomicI64::new(0)).core("bump", |counter, ()| {
            let value = counter.load(SeqCst);
            counter.store(value + 1, SeqCst);
            value
        });
        let description = match others {
            true => description.core("add", |counter, ()| counter.fetch_add(2, SeqCst)),
            false => description,
        };
        let peeks = |counter: &AtomicI64, (): ()| counter.load(SeqCst);
        description.method("peek", peeks).reads().method("swap", |counter, ()| counter.swap(0, SeqCst)).build()
    };
    let (ending, text) = hunted(object(true), &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    let line = "\npairs of methods without a violation of their own: 1 of 1 ran, 800 schemas, ";
    assert!(text.contains(line) && text.contains("; none calls bump beside others\n"), "{text}");
    let (ending, text) = hunted(object(false), &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    assert!(text.contains("\npairs of methods without a violation of their own: none\n"), "{text}");
}

/// Nothing but core methods: each of them is searched among the others, and one that is not atomic is not to be trusted.
#[test]
fn core_methods_are_hunted_too() {
    let object = |atomic: bool| {
        Object::describe("counter", || AtomicI64::new(0))
            .core("get", |counter, ()| counter.load(SeqCst))
            .reads()
            .core("bump", move |counter, ()| match atomic {
                true => counter.fetch_add(1, SeqCst),
                false => {
                    let value = counter.load(SeqCst);
                    counter.store(value + 1, SeqCst);
                    value
                }
            })
            .method("peek", |counter, ()| counter.load(SeqCst))
            .reads()
            .build()
    };
    let (ending, text) = hunted(object(false), &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    assert!(text.contains("✗ core methods are not atomic: { bump() } || { bump() } calls only bump."), "{text}");
    for row in ["✗ bump   not atomic", "✗ get    core methods not atomic", "✗ peek   core methods not atomic"] {
        assert!(text.contains(row), "{text}");
    }
    // The execution is about the method that it calls, whoever was searched.
    assert!(text.contains("✗ counter.bump ") && !text.contains("✗ counter.peek "), "{text}");
    let (ending, text) = hunted(object(true), &asked());
    assert_eq!(ending, Ending::Clean, "{text}");
    assert!(text.contains("✓ bump") && text.contains("✓ get") && !text.contains("trust"), "{text}");
    let one = Asked { method: Some("bump".to_owned()), ..asked() };
    let (ending, text) = hunted(object(false), &one);
    assert_eq!(ending, Ending::Wrong);
    assert!(text.contains("✗ not atomic: bump, which the searches of all other methods trust"), "{text}");
}

/// A core method that is not atomic is left out, so something is known of the others; and its violation has a row, whichever methods
/// were asked for.
#[test]
fn what_is_not_atomic_is_left_out() {
    let object = || {
        Object::describe("counter", || AtomicI64::new(0))
            .core("add", |counter, ()| counter.fetch_add(1, SeqCst))
            .core("bump", |counter, ()| {
                let value = counter.load(SeqCst);
                counter.store(value + 1, SeqCst);
                value
            })
            .method("look", |counter, ()| counter.load(SeqCst))
            .reads()
            .build()
    };
    let (ending, text) = hunted(object(), &asked());
    assert_eq!(ending, Ending::Wrong, "{text}");
    assert!(
        text.contains("\n✗ not atomic: bump. The searches of look and add leave it out, except at the start.\n\n"),
        "{text}"
    );
    for row in ["✓ look   no violation found", "✓ add    no violation found", "✗ bump   not atomic"] {
        assert!(text.contains(row), "{text}");
    }
    assert_eq!(text.matches("No sequential order explains it").count(), 1, "{text}");
    let one = Asked { method: Some("look".to_owned()), ..asked() };
    let (ending, text) = hunted(object(), &one);
    assert_eq!(ending, Ending::Wrong, "{text}");
    assert!(
        text.contains("\n✗ not atomic: bump. The search of look leaves it out, except at the start.\n\n"),
        "{text}"
    );
    assert!(text.contains("✓ look   no violation found") && text.contains("✗ bump   not atomic"), "{text}");
}

#[test]
fn what_does_not_fit_is_said() {
    let misuse = |asked: Asked| match hunted(counter(true), &asked) {
        (Ending::Misuse, reason) => reason,
        other => panic!("{other:?}"),
    };
    let method = Asked { method: Some("bumb".to_owned()), ..asked() };
    assert_eq!(misuse(method), "counter has no method 'bumb' to test; it has bump, get");
    let schema = Asked { schema: Some("{ drop() }".to_owned()), ..asked() };
    assert!(misuse(schema).contains("there is no method drop"));
}

/// The visits of three parts, and those of a file, give what the whole gives.
#[test]
fn a_hunt_is_split_and_continued() {
    for atomic in [false, true] {
        let whole = hunted(counter(atomic), &asked());
        let part = |number| Asked { shard: Some(format!("{number}/3")), ..asked() };
        let parts = (1..=3).map(|number| match hunted(counter(atomic), &part(number)) {
            // No schema of `get` alone can fail, so the part that has it is idle.
            (Ending::Part | Ending::Idle, visits) => serde_json::from_str::<Vec<Visit>>(&visits).expect("visits"),
            other => panic!("{other:?}"),
        });
        let parts: Vec<Visit> = parts.flatten().collect();
        assert!(!atomic || parts.len() > 10, "{}", parts.len());
        let path = env::temp_dir().join(format!("interloper-hunted-{atomic}-{}.jsonl", std::process::id()));
        let (mut journal, none) = Journal::open(&path, &Search::new("it").expect("a program")).expect("a file");
        assert_eq!(none, []);
        parts.iter().for_each(|visit| journal.add(visit).expect("a file"));
        drop(journal);
        let kept = Asked { state: Some((path.clone(), "it".to_owned())), ..asked() };
        assert_eq!(hunted(counter(atomic), &kept), whole);
        let other = Asked { state: Some((path.clone(), "that".to_owned())), ..asked() };
        assert!(matches!(hunted(counter(atomic), &other), (Ending::Misuse, said) if said.contains("another search")));
        std::fs::remove_file(&path).expect("a file");
    }
    // The second object of two with a method each belongs to the second part.
    let bump = Asked { method: Some("bump".to_owned()), ..asked() };
    let part = |number| Asked { shard: Some(format!("{number}/2")), among: Some((1, 2)), ..bump.clone() };
    assert_eq!(hunted(counter(true), &part(1)), (Ending::Idle, "[]".to_owned()));
    assert!(matches!(hunted(counter(true), &part(2)), (Ending::Part, visits) if visits != "[]"));
    let counts = Asked { counts: true, ..asked() };
    assert_eq!(hunted(counter(true), &counts), (Ending::Part, "2".to_owned()));
    let none = Asked { shard: Some("4/3".to_owned()), ..asked() };
    assert_eq!(hunted(counter(true), &none).0, Ending::Misuse);
}

/// A part that was cut short goes on after the visits that its file has, and gives what it gives in one go.
#[test]
fn a_part_is_continued() {
    let path = env::temp_dir().join(format!("interloper-part-{}.jsonl", std::process::id()));
    let part = Asked { shard: Some("1/2".to_owned()), ..asked() };
    let kept = Asked { state: Some((path.clone(), "1/2 of it".to_owned())), ..part.clone() };
    let whole = hunted(counter(true), &part);
    assert_eq!(hunted(counter(true), &kept), whole);
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.lines().count() > 5, "{text}");
    let cut = text.len() / 2;
    std::fs::write(&path, &text[..cut]).expect("a file");
    assert_eq!(hunted(counter(true), &kept), whole);
    let again = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(again, text, "each visit was made once");
    std::fs::remove_file(&path).expect("a file");
}

/// Calls that only read cannot fail, so no schema ran: the report says why. Beside a method that changes the object, `get` is judged.
#[test]
fn what_only_reads_has_no_schema() {
    let readers = Object::describe("readers", || AtomicI64::new(0))
        .core("get", |counter, ()| counter.load(SeqCst))
        .reads()
        .method("is_zero", |counter, ()| counter.load(SeqCst) == 0)
        .reads()
        .build();
    let said = "no schema of is_zero can fail: neither is_zero nor a method beside it changes the object";
    let (_, text) = hunted(readers, &asked());
    assert!(text.contains("– is_zero") && text.contains(said), "{text}");
    let (_, text) = hunted(counter(true), &asked());
    assert!(!text.contains("can fail"), "{text}");
}

/// Its steps are not seen, so nothing was explored.
#[test]
fn what_is_not_under_control_is_not_clean() {
    let real = Object::describe("real", || std::sync::atomic::AtomicI64::new(0))
        .method("bump", |counter, ()| counter.fetch_add(1, SeqCst))
        .build();
    let (ending, text) = hunted(real, &asked());
    assert_eq!(ending, Ending::Nothing);
    assert!(text.contains("nothing was explored"), "{text}");
}
