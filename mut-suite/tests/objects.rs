//! A short study of the objects that are written over the mirror of std: their methods that are not atomic, each with a
//! smallest harness, which the scheduler finds on every machine, and a visibility that does not contradict it.

#[cfg(feature = "study")]
#[path = "../examples/study/under_control.rs"]
mod under_control;

use interloper::objects::derive::Derivation;
use interloper::objects::hunt::{Campaign, Engine, Hunt, Runs, Searched, Source, What};
use interloper::objects::systematic::replay;
use interloper::objects::{Bounds, Level, Next, Object, Pool, Role};
use interloper_suite::objects;
#[cfg(feature = "study")]
use under_control::UnderControl;

/// What is expected of the methods under test of an object: those that are not atomic, each with the number of
/// invocations of its smallest harness, and those that are.
struct Expected {
    object: &'static str,
    non_atomic: &'static [(&'static str, usize)],
    atomic: &'static [&'static str],
}

/// Worked out by hand. With one call beside the method under test a bulk method shows a half of what it does to a method
/// that looks at it, if one call can tell. What misses a change and sees a later one takes the two changes, and mostly
/// another one, so that there is something to miss.
const EXPECTED: [Expected; 10] = [
    Expected {
        object: "striped-map",
        non_atomic: &[
            ("putAll", 3),
            ("contains", 4),
            ("containsValue", 4),
            ("isEmpty", 3),
            ("size", 3),
            ("mappingCount", 3),
            ("keys", 3),
            ("keySet", 3),
            ("values", 3),
            ("elements", 3),
            ("entrySet", 3),
            ("toString", 3),
        ],
        atomic: &["putIfAbsent", "replace"],
    },
    Expected {
        object: "list-set",
        non_atomic: &[
            ("addAll", 3),
            ("removeAll", 4),
            ("retainAll", 4),
            ("clear", 4),
            ("pollFirst", 4),
            ("pollLast", 4),
            ("containsAll", 4),
            ("size", 4),
            ("isEmpty", 4),
            ("toArray", 4),
            ("toString", 4),
            ("first", 4),
            ("last", 4),
            ("ceiling", 4),
            ("floor", 4),
            ("tailSet", 4),
        ],
        atomic: &[],
    },
    Expected {
        object: "linked-queue",
        non_atomic: &[
            ("addAll", 3),
            ("removeAll", 4),
            ("retainAll", 4),
            ("clear", 4),
            ("containsAll", 4),
            ("size", 4),
            ("toArray", 4),
            ("toString", 4),
        ],
        atomic: &["add", "remove/0", "remove/1", "element", "isEmpty", "contains"],
    },
    Expected {
        object: "linked-deque",
        non_atomic: &[
            ("addFirst", 5),
            ("offerFirst", 5),
            ("pollLast", 4),
            ("removeLast", 4),
            ("removeLastOccurrence", 4),
            ("removeAll", 4),
            ("retainAll", 4),
            ("clear", 4),
            ("containsAll", 4),
            ("size", 4),
            ("toArray", 4),
            ("toString", 4),
        ],
        atomic: &["addLast", "offerLast", "pollFirst", "removeFirst", "peekFirst", "getFirst", "isEmpty", "contains"],
    },
    Expected {
        object: "two-lock-queue",
        non_atomic: &[
            ("isEmpty", 3),
            ("size", 3),
            ("remainingCapacity", 3),
            ("addAll", 3),
            ("removeAll", 3),
            ("retainAll", 3),
            ("clear", 4),
            ("containsAll", 4),
        ],
        atomic: &["add", "put", "remove", "element", "contains", "toArray", "toString"],
    },
    Expected {
        object: "mutex-map",
        non_atomic: &[("putIfAbsent", 3), ("replace", 4), ("putAll", 3)],
        atomic: &["size", "isEmpty", "containsValue", "entrySet", "clear"],
    },
    Expected {
        object: "rwlock-map",
        non_atomic: &[("putIfAbsent", 3), ("replace", 4), ("putAll", 3), ("clear", 5)],
        atomic: &["size", "values"],
    },
    Expected {
        object: "mutex-queue",
        non_atomic: &[("addAll", 3), ("removeAll", 4), ("retainAll", 4), ("containsAll", 4)],
        atomic: &["size", "isEmpty", "contains", "toArray", "clear"],
    },
    Expected {
        object: "rwlock-set",
        non_atomic: &[
            ("addAll", 3),
            ("removeAll", 4),
            ("retainAll", 4),
            ("containsAll", 4),
            ("pollFirst", 4),
            ("pollLast", 4),
        ],
        atomic: &["size", "first", "toArray"],
    },
    Expected {
        object: "mutex-priority-queue",
        non_atomic: &[("addAll", 2), ("removeAll", 4), ("retainAll", 4), ("containsAll", 4)],
        atomic: &["size", "toArray"],
    },
];

fn check(name: &str) {
    let expected = EXPECTED.iter().find(|expected| expected.object == name).expect("an expectation");
    let object = objects::find(name).expect("an object of the study").object();
    let campaign = Campaign::systematic(&object, 1);
    let mut wrong = Vec::new();
    for method in object.with_role(Role::UnderTest) {
        let label = object.label(method);
        if expected.atomic.contains(&label.as_str()) {
            let short = Campaign {
                by_rank: campaign.by_rank.clone().map(|(bounds, _)| (bounds, 150)),
                random: None,
                ..campaign.clone()
            };
            let searched = short.method(method, &mut |_| Next::Continue);
            if searched.found().is_some() || !searched.hunted.skipped.is_empty() {
                wrong.push(format!("{label}: {:?}", searched.hunted));
            }
            continue;
        }
        let Some(&(_, size)) = expected.non_atomic.iter().find(|(name, _)| *name == label) else { continue };
        let searched = campaign.method(method, &mut |_| Next::Continue);
        let Some(found) = searched.found() else {
            wrong.push(format!("{label}: nothing found"));
            continue;
        };
        let Runs::Systematic(explored) = &found.runs else { panic!("{label}: the scheduler ran it") };
        let trace = explored.stopped.as_ref().expect("a trace");
        let program = object.program(&found.schema).expect("a schema of the object");
        let again = replay(&program, trace.limits, trace.decisions()).expect("the same decisions");
        let What::Outcome { outcome, admitted } = &found.what else { panic!("{label}: {:?}", found.what) };
        assert!(again.outcome == *outcome && !admitted.contains(outcome), "{label}");
        assert!(!searched.of_core, "{label}: {}", found.schema);
        if let Err(reason) = check_visibility(&campaign, &searched) {
            wrong.push(format!("{label}: {reason}"));
        }
        if found.schema.len() != size {
            wrong.push(format!("{label}: {} has {} invocations, not {size}", found.schema, found.schema.len()));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

/// The visibility that is derived from the same schemas, without knowing what was found: less than complete, and refuted
/// by the schema that the search ended with.
fn check_visibility(campaign: &Campaign, searched: &Searched) -> Result<(), String> {
    let Searched { method, hunted, .. } = searched;
    // No more than the search has tried of either kind.
    let few = |stage: &Option<(Bounds, u64)>| stage.clone().map(|(bounds, most)| (bounds, most.min(hunted.schemas)));
    let derive = |random| {
        let campaign = Campaign { by_rank: few(&campaign.by_rank), random, ..campaign.clone() };
        Derivation::new(campaign).method(*method, &[], &mut |_| ())
    };
    let small = derive(None);
    let derived = if small.refuted.is_empty() { derive(few(&campaign.random)) } else { small };
    let refuting = derived.refuted.first().map(|(_, found)| &found.schema);
    if derived.level < Some(Level::Complete) && refuting == hunted.found().map(|found| &found.schema) {
        return Ok(());
    }
    Err(format!("{:?} is derived after {} schemas, refuted by {refuting:?}", derived.level, derived.schemas))
}

/// Core methods are what all the rest is blamed against.
fn check_core(object: &Object) {
    let bounds = Bounds { invocations: 3..=4, ..Bounds::default() };
    let hunt = Hunt {
        engine: Engine::exhaustive(),
        source: Source::Random { bounds, seed: 1 },
        schemas: Some(150),
        ..Hunt::new(object, Pool::Together(object.with_role(Role::Core).collect()), 1)
    };
    let hunted = hunt.run(&mut |_| Next::Continue);
    assert!(hunted.found().is_none() && hunted.skipped.is_empty(), "{}: {hunted:?}", object.name());
    assert_eq!(hunted.schemas, 150);
}

#[test]
fn core_methods_are_atomic() {
    for expected in &EXPECTED {
        check_core(&objects::find(expected.object).expect("an object of the study").object());
    }
}

#[test]
fn striped_map() {
    check("striped-map");
}

#[test]
fn list_set() {
    check("list-set");
}

#[test]
fn linked_queue() {
    check("linked-queue");
}

#[test]
fn linked_deque() {
    check("linked-deque");
}

#[test]
fn two_lock_queue() {
    check("two-lock-queue");
}

#[test]
fn locked_maps() {
    check("mutex-map");
    check("rwlock-map");
}

#[test]
fn locked_queues_and_sets() {
    check("mutex-queue");
    check("rwlock-set");
    check("mutex-priority-queue");
}

/// The bar of the study: at least 40 methods over at least 10 objects.
#[test]
fn the_study_is_large_enough() {
    let methods: usize = EXPECTED.iter().map(|expected| expected.non_atomic.len()).sum();
    assert_eq!((EXPECTED.len(), methods), (10, 77));
    for expected in &EXPECTED {
        let object = objects::find(expected.object).expect("an object of the study").object();
        let labels: Vec<String> = object.with_role(Role::UnderTest).map(|method| object.label(method)).collect();
        let named = expected.non_atomic.iter().map(|(label, _)| *label).chain(expected.atomic.iter().copied());
        for label in named {
            assert!(labels.iter().any(|other| other == label), "{} has no {label}", expected.object);
        }
    }
}

/// The study says of published types what the hunts say that docs/FINDINGS.md is printed from.
#[cfg(feature = "study")]
#[test]
fn the_written_study_has_the_verdicts_of_hunts() {
    let hunted = UnderControl::read();
    let (_, published) = include_str!("../../docs/STUDY.md")
        .split_once("Objects of published crates, which real threads run")
        .expect("published crates");
    let (mut object, mut not_atomic) = (None, 0);
    for line in published.lines() {
        if line.starts_with('#') {
            object =
                line.strip_prefix("### ").map(|name| objects::find(name).expect("an object of the study").object());
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let (Some(object), [method, _, _, _, by_the_scheduler, _]) = (&object, &cells[..]) else { continue };
        if *method == "method" {
            continue;
        }
        assert_eq!(*by_the_scheduler, hunted.verdict(object.name(), method), "{}: {line}", object.name());
        if let Some(reading) = hunted.reading(object.name(), method) {
            assert!(published.contains(&format!("\n{method}: {reading}.\n")), "{}: {reading}", object.name());
        }
        not_atomic += usize::from(*by_the_scheduler == "not atomic");
    }
    assert!(not_atomic > 3, "there are some: {not_atomic}");
}

/// The study that is kept beside the code says the same, and leaves out no object.
#[cfg(feature = "study")]
#[test]
fn the_written_study_agrees() {
    let study = include_str!("../../docs/STUDY.md");
    let hunted = UnderControl::read();
    for studied in objects::all() {
        let row = study.lines().find(|line| line.starts_with(&format!("| **{}**: ", studied.name)));
        let row = row.unwrap_or_else(|| panic!("no row of {}", studied.name));
        let columns: Vec<Vec<&str>> =
            row.trim_matches('|').split(" | ").map(|column| column.trim().split(", ").collect()).collect();
        let object = studied.object();
        let (core, atomic, non_atomic) = match &columns[..] {
            [_, core, atomic, non_atomic] if studied.instrumented => (core, atomic, non_atomic),
            [_, core, atomic, non_atomic, under_control] if !studied.instrumented => {
                assert_eq!(under_control.join(", "), hunted.found(&object), "{row}");
                (core, atomic, non_atomic)
            }
            _ => panic!("{row}"),
        };
        for method in object.with_role(Role::Core) {
            assert!(core.contains(&&*object.label(method)), "{row}");
        }
        for method in object.with_role(Role::UnderTest) {
            let label = object.label(method);
            assert!(atomic.contains(&&*label) != non_atomic.contains(&&*label), "{label}: {row}");
        }
        let Some(expected) = EXPECTED.iter().find(|expected| expected.object == studied.name) else { continue };
        for (label, _) in expected.non_atomic {
            assert!(non_atomic.contains(label), "{label}: {row}");
        }
        for label in expected.atomic {
            assert!(atomic.contains(label), "{label}: {row}");
        }
    }
}
