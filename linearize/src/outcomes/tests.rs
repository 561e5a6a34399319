//! Exact outcomes against Figure 7's enumeration, and against the papers.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::enumerate::{Row, rows};
use crate::program::Typed;
use crate::schema::Schema;
use crate::types::{DataType, type_named};
use crate::visibility::{Level, Visibility};
use interloper_random::{Purpose, Stream};

fn schema(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn data_type(name: &str) -> &'static DataType {
    type_named(name).expect("a type")
}

fn visibility(text: &str) -> Visibility {
    text.parse().unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn admitted(name: &str, schema: &Schema, visibility: &Visibility) -> Outcomes {
    schema.check(data_type(name)).unwrap_or_else(|mistake| panic!("{mistake}"));
    let program = Program::new(schema, visibility).expect("small");
    outcomes(&mut Typed::new(data_type(name), schema), &program, DEFAULT_BOUND).expect("small")
}

fn enumerated(name: &str, schema: &Schema, visibility: &Visibility) -> Vec<Row> {
    let program = Program::new(schema, visibility).expect("small");
    let mut found = Vec::new();
    rows(&mut Typed::new(data_type(name), schema), &program, usize::MAX, &mut |row| {
        found.push(row);
        true
    })
    .expect("no bound");
    found
}

/// Compares on one program: how many outcomes there are.
fn compare(name: &str, schema: &Schema, visibility: &Visibility) -> usize {
    let mut fast = admitted(name, schema, visibility);
    let slow: BTreeSet<Vec<Value>> = enumerated(name, schema, visibility).into_iter().map(|row| row.outcome).collect();
    let slow: Vec<Vec<Value>> = slow.into_iter().collect();
    assert_eq!(fast.sorted(), slow, "{schema} with {visibility}");
    assert_eq!(fast.count(), Some(slow.len() as u128));
    assert!(slow.iter().all(|outcome| fast.contains(outcome)));
    slow.len()
}

/// What is drawn at random here.
trait Draw {
    fn pick<'c>(&mut self, choices: &[&'c str]) -> &'c str;
    /// A schema of at most `most` invocations in two or three sequences, perhaps with a constraint.
    fn schema(&mut self, calls: &[&str], most: usize) -> Schema;
}

impl Draw for Stream {
    fn pick<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.index(choices.len())]
    }

    fn schema(&mut self, calls: &[&str], most: usize) -> Schema {
        let count = 2 + self.index(2);
        let mut sequences = vec![Vec::new(); count];
        for number in 0..most.max(count) {
            let place = if number < count { number } else { self.index(count) };
            sequences[place].push(self.pick(calls));
        }
        let texts: Vec<String> = sequences.iter().map(|calls| format!("[{}]", calls.join("; "))).collect();
        let constraint = if self.index(4) == 0 { format!(", {{0<{}}}", count - 1) } else { String::new() };
        schema(&format!("{}{constraint}", texts.join(", ")))
    }
}

const MAP: [&str; 9] =
    ["put(0,0)", "put(0,1)", "put(1,1)", "remove(0)", "remove(1)", "size()", "contains(1)", "keySet()", "get(0)"];
const MAP_METHODS: [&str; 6] = ["put", "remove", "size", "contains", "keySet", "get"];

#[test]
fn random_programs_with_one_relaxed_method() {
    let mut random = Stream::new(1, Purpose::History, 0);
    let mut sizes = BTreeSet::new();
    for round in 0..600 {
        let schema = random.schema(&MAP, 3 + round % 3);
        let level = Level::ALL[random.index(6)];
        let visibility = Visibility::complete().with(random.pick(&MAP_METHODS), level);
        sizes.insert(compare("map", &schema, &visibility));
    }
    assert!(sizes.len() > 5);
}

#[test]
fn random_programs_with_all_methods_relaxed() {
    let mut random = Stream::new(2, Purpose::History, 0);
    for round in 0..500 {
        let schema = random.schema(&MAP, 3 + round % 3);
        let mut visibility = Visibility::complete();
        for method in MAP_METHODS {
            visibility = visibility.with(method, Level::ALL[random.index(6)]);
        }
        compare("map", &schema, &visibility);
    }
}

#[test]
fn random_programs_with_the_predicates_of_section_6() {
    let mut random = Stream::new(3, Purpose::History, 0);
    let kinds = ["weak", "basic", "monotonic", "peer", "causal", "complete", "linPrefix", "linMonotonic"];
    let about = ["", "", "(put)", "(remove|get)", "(size|contains|keySet)", "(put|remove)"];
    for round in 0..1500 {
        let schema = random.schema(&MAP, 3 + round % 3);
        let specification: Vec<String> = MAP_METHODS
            .iter()
            .map(|method| {
                let predicates: Vec<String> = (0..1 + random.index(2))
                    .map(|_| format!("{}{}", random.pick(&kinds), random.pick(&about)))
                    .collect();
                format!("{method}={}", predicates.join("+"))
            })
            .collect();
        compare("map", &schema, &visibility(&specification.join(",")));
    }
}

#[test]
fn every_small_program_of_a_queue() {
    let calls = ["offer(0)", "offer(1)", "poll()", "size()"];
    let mut programs = 0;
    for a in calls {
        for b in calls {
            for c in calls {
                for d in calls {
                    let schema = schema(&format!("{{ {a}; {b} }} || {{ {c}; {d} }}"));
                    for level in Level::ALL {
                        compare("queue", &schema, &Visibility::complete().with("size", level));
                        compare("queue", &schema, &Visibility::complete().with("poll", level).with("size", level));
                        programs += 2;
                    }
                }
            }
        }
    }
    assert_eq!(programs, 256 * 6 * 2);
}

/// A result as the papers abbreviate it.
fn result(text: &str) -> Value {
    match text {
        "N" => Value::None,
        "()" => Value::Unit,
        "T" => Value::Bool(true),
        "F" => Value::Bool(false),
        "E" => crate::types::error("empty"),
        _ => schema(&format!("{{ f({text}) }}")).sequences()[0][0].arguments[0].clone(),
    }
}

fn outcome(results: &[&str]) -> Vec<Value> {
    results.iter().map(|text| result(text)).collect()
}

/// Checks which of some outcomes are admitted at each level of a method.
fn check(name: &str, text: &str, method: &str, expected: &[(&[&str], Option<Level>)]) {
    let schema = schema(text);
    for level in Level::ALL {
        let admitted = admitted(name, &schema, &Visibility::complete().with(method, level));
        for (results, strongest) in expected {
            let is_admitted = strongest.is_some_and(|strongest| level <= strongest);
            assert_eq!(admitted.contains(&outcome(results)), is_admitted, "{text}: {results:?} with {method}={level}");
        }
    }
}

#[test]
fn figure_2_contains() {
    use Level::{Complete, Monotonic, Weak};
    check(
        "map",
        "{ put(1,0); contains(0) } || { put(0,0); put(1,1) }",
        "contains",
        &[
            (&["1", "T", "N", "N"], Some(Complete)),
            (&["N", "T", "N", "0"], Some(Complete)),
            (&["N", "F", "N", "0"], Some(Monotonic)),
            // "The weak visibility ... admits the additional unwitnessed outcome" (section 2).
            (&["1", "F", "N", "N"], Some(Weak)),
        ],
    );
}

#[test]
fn figure_3_size() {
    use Level::Complete;
    check(
        "map",
        "{ put(1,0); put(1,1); size() } || { remove(1) }",
        "size",
        &[
            (&["N", "0", "0", "1"], Some(Complete)),
            (&["N", "0", "1", "1"], Some(Complete)),
            (&["N", "0", "1", "N"], Some(Complete)),
            (&["N", "N", "1", "0"], Some(Complete)),
            (&["N", "N", "2", "0"], None),
        ],
    );
}

#[test]
fn figure_4_is_empty() {
    use Level::{Complete, Weak};
    check(
        "map",
        "{ put(1,1) } || { put(1,2); isEmpty() }",
        "isEmpty",
        &[(&["2", "N", "F"], Some(Complete)), (&["N", "1", "F"], Some(Complete)), (&["N", "1", "T"], Some(Weak))],
    );
}

#[test]
fn table_1() {
    let schema = schema("{ put(1,0); contains(0) } || { put(0,0); put(1,1) }");
    let visibility = Visibility::complete().with("contains", Level::Monotonic);
    let invocations: Vec<String> =
        schema.invocations().map(|invocation| invocation.to_string().replace(", ", ",")).collect();
    let names = |indices: &mut dyn Iterator<Item = usize>| {
        indices.map(|index| invocations[index].as_str()).collect::<Vec<_>>().join("; ")
    };
    let mut table: BTreeMap<String, Vec<(String, Vec<Value>)>> = BTreeMap::new();
    for row in enumerated("map", &schema, &visibility) {
        // What contains sees besides itself.
        let seen = names(&mut row.seen_by(1).filter(|&other| other != 1));
        table.entry(names(&mut row.linearization.iter().copied())).or_default().push((seen, row.outcome));
    }
    let line = |seen: &str, results: [&str; 4]| (seen.to_owned(), outcome(&results));
    let (stored, missed) = (["N", "T", "N", "0"], ["N", "F", "N", "0"]);
    let expected = BTreeMap::from([
        ("put(1,0); contains(0); put(0,0); put(1,1)".to_owned(), vec![line("put(1,0)", stored)]),
        (
            "put(1,0); put(0,0); contains(0); put(1,1)".to_owned(),
            vec![line("put(1,0)", stored), line("put(1,0); put(0,0)", stored)],
        ),
        (
            "put(1,0); put(0,0); put(1,1); contains(0)".to_owned(),
            vec![
                line("put(1,0)", stored),
                line("put(1,0); put(0,0)", stored),
                line("put(1,0); put(1,1)", missed),
                line("put(1,0); put(0,0); put(1,1)", stored),
            ],
        ),
        (
            "put(0,0); put(1,1); put(1,0); contains(0)".to_owned(),
            vec![line("put(0,0); put(1,1); put(1,0)", ["1", "T", "N", "N"])],
        ),
        (
            "put(0,0); put(1,0); put(1,1); contains(0)".to_owned(),
            vec![line("put(0,0); put(1,0)", stored), line("put(0,0); put(1,0); put(1,1)", stored)],
        ),
        ("put(0,0); put(1,0); contains(0); put(1,1)".to_owned(), vec![line("put(0,0); put(1,0)", stored)]),
    ]);
    assert_eq!(table, expected);
    // "This enumeration yields the three observed outcomes of Figure 2."
    let three = BTreeSet::from([outcome(&["1", "T", "N", "N"]), outcome(&stored), outcome(&missed)]);
    assert_eq!(admitted("map", &schema, &visibility).sorted(), three.into_iter().collect::<Vec<_>>());
    let program = Program::new(&schema, &visibility).expect("small");
    assert_eq!(linearizations(&program, DEFAULT_BOUND), Ok(Some(6)));
}

#[test]
fn atomic_outcomes_of_exposing_non_atomic_methods() {
    let all = |name: &str, text: &str| admitted(name, &schema(text), &Visibility::complete()).sorted();
    let sorted = |outcomes: &[&[&str]]| {
        outcomes.iter().map(|results| outcome(results)).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    // Figures 1 and 2: four linearizations, one outcome.
    let clear = "[put(0,0)], [clear(); put(1,1); containsKey(1)]";
    assert_eq!(all("sorted-map", clear), sorted(&[&["N", "()", "N", "T"]]));
    let program = Program::new(&schema(clear), &Visibility::complete()).expect("small");
    assert_eq!(linearizations(&program, DEFAULT_BOUND), Ok(Some(4)));
    // Figures 3 and 4.
    assert_eq!(
        all("sorted-map", "[putAll({0=1,1=0})], [get(0); remove(1)]"),
        sorted(&[&["()", "1", "0"], &["()", "N", "0"], &["()", "N", "N"]])
    );
    // Figure 7.
    assert_eq!(
        all("map", "[size()], [put(0,0); put(1,1)]"),
        sorted(&[&["0", "N", "N"], &["1", "N", "N"], &["2", "N", "N"]])
    );
    // A constraint leaves the last of them only.
    assert_eq!(all("map", "[size()], [put(0,0); put(1,1)], {1<0}"), sorted(&[&["2", "N", "N"]]));
}

#[test]
fn counts_of_linearizations() {
    let count = |text: &str| {
        let program = Program::new(&schema(text), &Visibility::complete()).expect("small");
        linearizations(&program, DEFAULT_BOUND).expect("small")
    };
    // 6! / (3! 3!), then 4! / (2! 2!) before a last one.
    assert_eq!(count("{ get(0); get(0); get(0) } || { get(0); get(0); get(0) }"), Some(20));
    assert_eq!(count("[get(0); get(0)], [get(0); get(0)], [get(0)], {0<2, 1<2}"), Some(6));
    let long = vec!["get(0)"; 21].join("; ");
    // 63! / (21!)^3 by the multinomial formula.
    assert_eq!(count(&format!("{{ {long} }} || {{ {long} }} || {{ {long} }}")), Some(multinomial(21)));
    let program = Program::new(&schema("{ get(0) } || { get(0) }"), &Visibility::complete()).expect("small");
    assert_eq!(linearizations(&program, 2), Err(TooLarge::Configurations(2)));
}

/// (3n)! / (n!)^3
fn multinomial(n: u128) -> u128 {
    let binomial = |n: u128, k: u128| (0..k).fold(1, |product, i| product * (n - i) / (i + 1));
    binomial(3 * n, n) * binomial(2 * n, n)
}

#[test]
fn programs_that_are_too_large() {
    let long = vec!["get(0)"; 33].join("; ");
    let schema = schema(&format!("{{ {long} }} || {{ {long} }}"));
    assert_eq!(Program::new(&schema, &Visibility::complete()).err(), Some(TooLarge::Invocations(66)));
    let small = self::schema("{ put(0,0); put(0,1) } || { put(0,2); size() }");
    let program = Program::new(&small, &Visibility::complete()).expect("small");
    let found = outcomes(&mut Typed::new(data_type("map"), &small), &program, 3);
    assert_eq!(found.err(), Some(TooLarge::Configurations(3)));
    // With k invocations before it size has 2^k choices: one linearization with k = 1, two with 2, three with 3.
    let relaxed = Program::new(&small, &Visibility::complete().with("size", Level::Weak)).expect("small");
    let counted = |bound| {
        let mut count = 0;
        let ended = rows(&mut Typed::new(data_type("map"), &small), &relaxed, bound, &mut |_| {
            count += 1;
            true
        });
        (count, ended)
    };
    assert_eq!(counted(34), (34, Ok(())));
    assert_eq!(counted(33), (33, Err(TooLarge::Choices(33))));
    // Thirty invocations that constrain each other: 2^30 ways to see the first of them.
    let wide = self::schema(&vec!["{ size() }"; 30].join(" || "));
    let program = Program::new(&wide, &Visibility::complete().with("size", Level::Causal)).expect("small");
    let found = outcomes(&mut Typed::new(data_type("map"), &wide), &program, DEFAULT_BOUND);
    assert_eq!(found.err(), Some(TooLarge::Configurations(DEFAULT_BOUND)));
}

/// Lemma 3.2, with its proviso: complete ⇒ causal ⇒ peer ⇒ monotonic ⇒ basic ⇒ weak.
#[test]
fn stronger_levels_admit_less() {
    let mut random = Stream::new(4, Purpose::History, 0);
    for round in 0..300 {
        let schema = random.schema(&MAP, 3 + round % 3);
        let method = random.pick(&MAP_METHODS);
        let sets: Vec<BTreeSet<Vec<Value>>> = Level::ALL
            .iter()
            .map(|&level| {
                let mut visibility = Visibility::complete();
                for other in MAP_METHODS {
                    visibility = visibility.with(other, Level::Basic);
                }
                admitted("map", &schema, &visibility.with(method, level)).sorted().into_iter().collect()
            })
            .collect();
        assert!(sets.windows(2).all(|pair| pair[1].is_subset(&pair[0])), "{schema}");
    }
}

/// Causal does not imply peer where something weak is seen: size sees remove(0), which does not see put(0,0).
#[test]
fn causal_beside_weak_is_not_peer() {
    let schema = schema("{ put(0,0); remove(0) } || { put(1,1); keySet() }");
    let seen = outcome(&["N", "N", "N", "[1]"]);
    let admits = |levels: &str| admitted("map", &schema, &visibility(levels)).contains(&seen);
    assert!(admits("remove=weak,keySet=causal"));
    let both = self::schema("{ put(0,0); put(1,0) } || { put(2,2); keySet() }");
    let only_the_second = outcome(&["N", "N", "N", "[1, 2]"]);
    let admits = |levels: &str| admitted("map", &both, &visibility(levels)).contains(&only_the_second);
    // keySet sees put(1,0) and not put(0,0): put is weak, so put(1,0) need not have seen put(0,0).
    assert!(admits("put=weak,keySet=causal") && !admits("put=weak,keySet=peer"));
    assert!(!admits("put=basic,keySet=causal"));
}

#[test]
fn outcomes_come_one_by_one() {
    let schema = schema("{ put(0,0); size() } || { put(1,1) }");
    let mut admitted = admitted("map", &schema, &Visibility::complete());
    let mut first = Vec::new();
    admitted.each(|outcome| {
        first.push(outcome[1].clone());
        false
    });
    assert_eq!(first, [Value::Int(1)]);
    assert_eq!(admitted.sorted(), [outcome(&["N", "1", "N"]), outcome(&["N", "2", "N"])]);
    assert!(!admitted.contains(&outcome(&["N", "1"])) && !admitted.contains(&outcome(&["N", "3", "N"])));
}
