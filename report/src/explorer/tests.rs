use super::*;
use crate::{Lane, Row};

fn exploration() -> Exploration {
    let step = |task, text| Step { task, text, ..Step::default() };
    Exploration {
        version: VERSION,
        tasks: ["main", "thread 1"].map(|title| Column { title: title.to_owned(), lane: Lane::Thread }).into(),
        texts: vec!["locks mutex 1".to_owned()],
        objects: vec!["mutex 1".to_owned()],
        steps: vec![step(0, 0), Step { after: vec![0], woken_by: Some(0), ..step(1, 0) }],
        spans: vec![Span { task: 0, text: 0, from: 0, until: Some(1), what: Extent::Block, marked: true }],
        holds: vec![Hold { task: 0, object: 0, mode: "shared".to_owned(), from: 0, until: None }],
        choices: Some(Choices { points: vec![Point { step: 2, kept: 1, failed: 3, of: 4 }], ..Choices::default() }),
        ..Exploration::default()
    }
}

#[test]
fn what_is_written_is_read_back() {
    let exploration = exploration();
    assert_eq!(Exploration::parse(&exploration.to_json()).expect("an exploration"), exploration);
}

#[test]
fn another_version_or_a_wrong_index_is_refused() {
    let refused = |change: fn(&mut Exploration), reason: &str| {
        let mut exploration = exploration();
        change(&mut exploration);
        assert_eq!(Exploration::parse(&exploration.to_json()).expect_err("refused").to_string(), reason);
    };
    refused(|one| one.version = 2, "version 2 is not supported, only version 1 is");
    refused(|one| one.steps[1].task = 2, "damaged: the index of a task is too large");
    refused(|one| one.steps[1].text = 1, "damaged: the index of a text is too large");
    refused(|one| one.steps[1].after = vec![2], "damaged: the index of a step is too large");
    refused(|one| one.steps[1].place = Some(0), "damaged: the index of a place is too large");
    refused(|one| one.spans[0].until = Some(2), "damaged: the index of a step is too large");
    refused(|one| one.holds[0].object = 1, "damaged: the index of an object is too large");
    refused(|one| one.choices.as_mut().expect("some").points[0].step = 3, "damaged: the index of a step is too large");
    assert!(Exploration::parse("{}").is_err() && Exploration::parse("").is_err());
}

#[test]
fn numbers_count_the_operations() {
    let mut exploration = exploration();
    exploration.left_out = 10;
    exploration.steps[0].kind = Kind::Called;
    assert_eq!(exploration.numbers().collect::<Vec<_>>(), [None, Some(11)]);
}

#[test]
fn texts_are_kept_once() {
    let mut texts = Texts::of(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!([texts.index("b"), texts.index("c"), texts.index("a"), texts.index("c")], [1, 2, 0, 2]);
    assert_eq!(texts.into_all(), ["a", "b", "c"]);
}

#[test]
fn a_call_reaches_from_its_first_row_to_its_last() {
    let column = |title: &str, lane| Column { title: title.to_owned(), lane };
    let counterexample = crate::Counterexample {
        name: String::new(),
        verdict: String::new(),
        detail: String::new(),
        start: String::new(),
        columns: vec![column("method under test: f(1)", Lane::Method), column("sequence 1", Lane::Thread)],
        rows: vec![
            Row::operation(0, "get", ""),
            Row::event(1, crate::Event::Called("a()".into())),
            Row::operation(1, "reads", ""),
            Row::event(1, crate::Event::Returned("1".into())),
            Row::event(0, crate::Event::Returned("2".into())),
            Row::event(1, crate::Event::Called("b()".into())),
            Row::event(1, crate::Event::Blocked("b() never returns".into())),
        ],
        orders: vec![crate::Order { sequence: "f, a".into(), disagreement: "f returns 3".into() }],
        deadlock: None,
        replay: None,
    };
    let exploration = Exploration::of(&counterexample);
    let spans: Vec<(&str, u32, u32, Option<u32>, bool)> = exploration
        .spans
        .iter()
        .map(|span| (exploration.texts[span.text as usize].as_str(), span.task, span.from, span.until, span.marked))
        .collect();
    assert_eq!(spans, [("f(1)", 0, 0, Some(4), true), ("a()", 1, 1, Some(3), true), ("b()", 1, 5, None, false)]);
    let marked: Vec<bool> = exploration.steps.iter().map(|step| step.marked).collect();
    assert_eq!(marked, [false, false, false, true, true, false, false]);
}
