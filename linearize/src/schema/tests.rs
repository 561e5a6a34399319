use super::*;
use crate::types::type_named;

fn call(method: &str, arguments: &[i64]) -> Invocation {
    Invocation::new(method, arguments.iter().map(|&argument| Value::Int(argument)))
}

fn parsed(text: &str) -> Schema {
    Schema::parse(text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

#[test]
fn both_notations() {
    let expected = Schema::new(
        vec![vec![call("put", &[1, 0]), call("contains", &[0])], vec![call("put", &[0, 0]), call("put", &[1, 1])]],
        vec![],
    );
    assert_eq!(Ok(parsed("{ put(1,0); contains(0) } || { put(0,0); put(1,1) }")), expected);
    assert_eq!(Ok(parsed("[put(1,0);contains(0)],[put(0,0);put(1,1);]")), expected);
    // Example (4) of section 3.1.
    let text = "[put(0, 0); put(2, 0)], [clear(); put(1, 1); containsKey(1); get(2)], [put(3, 1)], {0<2, 1<2}";
    let schema = parsed(text);
    assert_eq!(schema.happens_before(), [(0, 2), (1, 2)]);
    assert_eq!(schema.len(), 7);
    assert_eq!(schema.to_string(), text);
    assert_eq!(Ok(parsed("[put(1,0); contains(0)], [put(0,0); put(1,1)], {}")), expected);
}

#[test]
fn arguments_of_every_form() {
    let schema = parsed(r#"{ f(-3, "a\"\u{e9}\n", true, false, null, none, [0,[]], {0=1, 1={}}, {}, {2,2}) }"#);
    let int = Value::Int;
    let expected = [
        int(-3),
        Value::text("a\"é\n"),
        Value::Bool(true),
        Value::Bool(false),
        Value::None,
        Value::None,
        Value::list([int(0), Value::list([])]),
        Value::map([(int(0), int(1)), (int(1), Value::map([]))]),
        Value::map([]),
        Value::list([int(2), int(2)]),
    ];
    assert_eq!(schema.sequences()[0][0].arguments, expected);
    assert_eq!(parsed(&schema.to_string()), schema);
}

#[test]
fn mistakes_are_pointed_at() {
    let check = |text: &str, expected: &str| {
        let mistake = Schema::parse(text).expect_err("a mistake");
        assert_eq!(mistake.to_string(), expected);
    };
    check("", "expected a sequence: `{` or `[`, found the end\n  \n  ^");
    check("{ put(1,0) ", "expected `;` or `}`, found the end\n  { put(1,0) \n             ^");
    check("{ put(1,0) | }", "expected `;` or `}`, found `|`\n  { put(1,0) | }\n             ^");
    check("{ put(1 0) }", "expected `,` or `)`, found `0`\n  { put(1 0) }\n          ^");
    check("{ put(,) }", "expected a value, found `,`\n  { put(,) }\n        ^");
    check("{ put }", "expected `(`, found `}`\n  { put }\n        ^");
    check("{ }", "expected the name of a method, found `}`\n  { }\n    ^");
    check("{ f() } { g() }", "expected `||`, `,` or the end, found `{`\n  { f() } { g() }\n          ^");
    check("{ f(abc) }", "abc is not a value; a text needs quotes: \"abc\"\n  { f(abc) }\n      ^");
    check("{ f(\"a) }", "this text has no end\n  { f(\"a) }\n      ^");
    check("{ f(\"é\\q\") }", "this is not an escape sequence\n  { f(\"é\\q\") }\n        ^");
    check("{ f({0=1, 2}) }", "expected `=`, found `}`\n  { f({0=1, 2}) }\n             ^");
    check(
        "{ f(99999999999999999999) }",
        "99999999999999999999 does not fit into 64 bits\n  { f(99999999999999999999) }\n      ^",
    );
    check("{ f(-) }", "expected a digit, found `)`\n  { f(-) }\n       ^");
    check(
        "[f()], {0<1}",
        "there is no sequence 1: the sequences are numbered from 0 to 0\n  [f()], {0<1}\n            ^",
    );
    check(
        "[f()], [g()], {0<1, 1<0}",
        "sequence 0 would happen before itself\n  [f()], [g()], {0<1, 1<0}\n                 ^",
    );
    check("[f()], [g()], {0>1}", "expected `<`, found `>`\n  [f()], [g()], {0>1}\n                  ^");
    check("[f()], [g()], {0<1} x", "expected the end, found `x`\n  [f()], [g()], {0<1} x\n                      ^");
    // Only the line with the mistake is shown.
    check("{ f() }\n|| { g( }", "expected a value, found `}`\n  || { g( }\n          ^");
    // A control character is shown as a blank, and of a long line the part around the mistake.
    check("{\tf(;) }", "expected a value, found `;`\n  { f(;) }\n      ^");
    let long = format!("{{ {}; g(;) {}}}", ["f()"; 30].join("; "), " ".repeat(70));
    let (dots, blanks) = (["f()"; 11].join("; "), " ".repeat(57));
    check(&long, &format!("expected a value, found `;`\n  …); {dots}; g(;) {blanks}…\n  {}^", " ".repeat(61)));
    let deep = format!("{{ f({}) }}", "[".repeat(40));
    assert_eq!(Schema::parse(&deep).expect_err("too deep").reason, "lists and maps are nested more than 32 deep");
}

#[test]
fn calls_that_a_type_does_not_have() {
    let map = || type_named("map").expect("a type");
    let check = |text: &str, reason: &str, at: usize| {
        let mistake = parsed(text).check(map()).expect_err("a mistake");
        assert_eq!((mistake.reason.as_str(), mistake.at), (reason, at));
    };
    check("{ get(0); put(1) }", "in map: put takes 2 arguments, not 1", 10);
    check("{ remove() }", "in map: remove takes 1 or 2 arguments, not 0", 2);
    check("{ get(0) } || { putAll(0) }", "in map: argument 1 of putAll is a map such as {0=1}, not 0", 16);
    let unknown = parsed("{ offer(0) }").check(type_named("set").expect("a type")).expect_err("a mistake");
    assert!(unknown.reason.starts_with("in set: there is no method offer; there are add, addAll, clear, "));
    assert_eq!(parsed("{ remove(0); remove(0,1); putAll({}) }").check(map()), Ok(()));
    // Without a text, the mistake is shown in a text that is printed from the schema.
    let made = Schema::new(vec![vec![call("get", &[0])], vec![call("got", &[0])]], vec![]).expect("consistent");
    let mistake = made.check(map()).expect_err("a mistake");
    assert_eq!((&*mistake.text, mistake.at), ("get(0)got(0)", 6));
}

#[test]
fn the_happens_before_order() {
    let schema = parsed("[a(); b()], [c()], [d(); e()], {1<2, 0<1}");
    let expected: [&[usize]; 5] = [&[], &[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3]];
    assert_eq!(schema.predecessors(), expected);
    let parallel: [&[usize]; 3] = [&[], &[0], &[]];
    assert_eq!(parsed("{ a(); b() } || { c() }").predecessors(), parallel);
}

/// With 200,000 sequences, nothing that takes time in the square of their number would end.
#[test]
fn constraints_of_many_sequences() {
    let count = 200_000;
    let sequences = vec![vec![call("f", &[])]; count];
    let chain = (1..count).map(|second| (second - 1, second));
    assert!(Schema::new(sequences.clone(), chain.clone().collect()).is_ok());
    let closed = chain.chain([(count - 1, 7)]).collect();
    assert_eq!(Schema::new(sequences, closed), Err(Inconsistent::Cycle(7)));
}

/// On all sets of constraints of three sequences, and those of four with up to five of them, a cycle is found where a sequence
/// happens before itself by the definition.
#[test]
fn cycles_are_found_where_they_are() {
    for (count, most) in [(3, 9), (4, 5)] {
        let pairs: Vec<(usize, usize)> =
            (0..count).flat_map(|first| (0..count).map(move |second| (first, second))).collect();
        for set in (0..1_u32 << pairs.len()).filter(|set| set.count_ones() <= most) {
            let before: Vec<(usize, usize)> =
                (0..pairs.len()).filter(|place| set & 1 << place != 0).map(|place| pairs[place]).collect();
            let mut reaches = vec![vec![false; count]; count];
            before.iter().for_each(|&(first, second)| reaches[first][second] = true);
            for middle in 0..count {
                for first in 0..count {
                    for last in 0..count {
                        reaches[first][last] |= reaches[first][middle] && reaches[middle][last];
                    }
                }
            }
            match Schema::new(vec![vec![call("f", &[])]; count], before.clone()) {
                Ok(_) => assert!((0..count).all(|number| !reaches[number][number]), "{before:?}"),
                Err(Inconsistent::Cycle(number)) => assert!(reaches[number][number], "{before:?}"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn inconsistent_constraints() {
    let sequences = vec![vec![call("f", &[])], vec![call("g", &[])]];
    assert_eq!(Schema::new(sequences.clone(), vec![(0, 0)]), Err(Inconsistent::Cycle(0)));
    assert_eq!(
        Schema::new(sequences.clone(), vec![(0, 2)]),
        Err(Inconsistent::NoSuchSequence { number: 2, sequences: 2 })
    );
    let twice = Schema::new(sequences, vec![(0, 1), (0, 1)]).expect("consistent");
    assert_eq!(twice.to_string(), "[f()], [g()], {0<1}");
}
