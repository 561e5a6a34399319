use super::*;
use crate::explorer::{Effect, Extent, Hold, Point, Span, Swap};
use crate::{Column, Lane};

/// An execution with one of everything: two tasks of one name, a block, a lock, a stale read, a wait, choices.
fn exploration() -> Exploration {
    let task = || Column { title: "worker".to_owned(), lane: Lane::Thread };
    let step = |task, text| Step { task, text, ..Step::default() };
    let reads = Reads { from: None, stale: true, others: vec![Some(1), None] };
    let point = |step| Point { step, kept: step, failed: 1, of: 2 };
    Exploration {
        version: VERSION,
        name: "p".to_owned(),
        verdict: "deadlock".to_owned(),
        is_wrong: true,
        detail: "execution 3".to_owned(),
        notes: vec!["a note".to_owned()],
        start: "{}".to_owned(),
        tasks: vec![task(), task()],
        texts: ["locks mutex 1", "block", "▲ 1 of 3"].map(str::to_owned).into(),
        objects: vec!["mutex 1".to_owned()],
        places: vec!["src/lib.rs:3:5".to_owned()],
        left_out: 4,
        steps: vec![
            Step { object: Some(0), place: Some(0), marked: true, notes: vec![2], ..step(0, 0) },
            Step { kind: Kind::Called, state: Some("{7: 1}".to_owned()), happens_after: vec![0], ..step(1, 1) },
            Step { after: vec![0, 1], woken_by: Some(0), blocked_by: Some(1), reads: Some(reads), ..step(0, 0) },
        ],
        spans: vec![
            Span { task: 1, text: 1, from: 1, until: Some(1), what: Extent::Call, marked: false },
            Span { task: 0, text: 1, from: 0, until: Some(2), what: Extent::Block, marked: true },
        ],
        knows_happens_before: true,
        holds: vec![Hold { task: 0, object: 0, mode: "shared".to_owned(), from: 0, until: None }],
        linearization: vec![Effect {
            number: 1,
            span: Some(1),
            after: Some(2),
            text: "call".into(),
            state: "{}".into(),
        }],
        choices: Some(Choices {
            seed: 7,
            points: vec![point(0), point(2), point(3)],
            swaps: vec![Swap { first: 1, second: 2, failed: 0, of: 200 }],
            cut: true,
        }),
        replay: Some("interloper replay f".to_owned()),
        ..Exploration::default()
    }
}

fn trace() -> Vec<String> {
    lines(&exploration(), 5).lines().map(str::to_owned).collect()
}

#[test]
fn a_trace_has_all_that_the_page_has() {
    assert_eq!(parse(&lines(&exploration(), 5)).expect("a trace"), (exploration(), 5));
}

#[test]
fn a_line_can_be_read_alone() {
    let line: Line = serde_json::from_str(&trace()[3]).expect("a line");
    assert_eq!((line.step, line.task.as_str(), line.lane, line.action.as_str()), (7, "worker", 0, "locks mutex 1"));
    assert_eq!((line.block.as_deref(), line.holds), (Some("block"), vec!["mutex 1".to_owned()]));
    assert_eq!((line.after, line.woken_by, line.blocked_by), (vec![5, 6], Some(5), Some(6)));
}

/// Without the second of three steps: its call is gone, and with it every mention.
#[test]
fn what_is_filtered_out_is_missing_on_the_page() {
    let trace = trace();
    let (read, _) = parse(&[&trace[0], &trace[1], &trace[3]].map(String::as_str).join("\n")).expect("a trace");
    let whole = exploration();
    let reads = Reads { from: None, stale: true, others: vec![None, None] };
    let last = Step { after: vec![0], blocked_by: None, reads: Some(reads), ..whole.steps[2].clone() };
    assert_eq!(read.steps, [whole.steps[0].clone(), last]);
    assert_eq!(read.spans, [Span { until: Some(1), ..whole.spans[1].clone() }]);
    assert_eq!(read.linearization, [Effect { span: Some(0), after: Some(1), ..whole.linearization[0].clone() }]);
    let choices = read.choices.expect("choices");
    // What comes next after the last step is the end, as before.
    assert_eq!(choices.points.iter().map(|point| point.step).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(choices.swaps, []);
    // Without the first step, the block and the lock begin with the next one.
    let (read, _) = parse(&[&trace[0], &trace[2], &trace[3]].map(String::as_str).join("\n")).expect("a trace");
    assert_eq!((read.left_out, read.spans[1].from, read.holds[0].from), (5, 0, 0));
    // Of the steps nothing is left.
    let (read, _) = parse(&trace[0]).expect("a trace");
    assert_eq!((read.steps, read.spans, read.holds), (vec![], vec![], vec![]));
}

#[test]
fn what_is_not_a_trace_is_refused_with_its_line() {
    let check = |text: &str, line, reason: &str| {
        let error = parse(text).expect_err("refused");
        assert!(error.line == line && error.reason.contains(reason), "{error}");
    };
    let trace = trace();
    let header = &trace[0];
    check("", 1, "the file is empty");
    check("{}", 1, "missing field `version`");
    check(&header.replacen("\"version\":2", "\"version\":1", 1), 1, "version 1 is not supported, only version 2 is");
    check(&header.replacen("\"version\":1", "\"version\":9", 1), 1, "pages of version 9 are not supported");
    check(&format!("{header}\n\n{{\"step\": 1}}"), 3, "missing field `task`");
    check(&[header, &trace[2], &trace[1]].map(String::as_str).join("\n"), 3, "step 5 comes after a later one");
    let stranger = trace[1].replace("\"lane\":0", "\"lane\":2");
    check(&format!("{header}\n{stranger}"), 1, "damaged: the index of a task is too large");
    assert!(is_trace(header) && !is_trace("") && !is_trace("{\n\"version\": 3}") && !is_trace("{}"));
}
