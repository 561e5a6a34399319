//! The text rendering: whole reports as snapshots, and two properties for every width.

mod common;

use common::{deadlock, hostile, memoize, overlapping};
use interloper_report::text::{Style, headline, render};
use interloper_report::{Counterexample, Event, Row};
use proptest::prelude::*;

const PLAIN: Style = Style { color: false, width: None };

fn narrow(width: usize) -> Style {
    Style { color: false, width: Some(width) }
}

#[test]
fn the_example_of_the_design() {
    let expected = "\
✗ memoize                                   not linearizable (2 environment operations, execution 17)

  start: {}         method under test: memoize(7)          environment            state
  ───────────────────────────────────────────────────────────────────────────────────────
  1                 get(7) → none                                                 {}
  2                                                        insert(7, 12) → none   {7: 12}
  3                 insert_if_absent(7, 14) → 12                                  {7: 12}
  4                                                        remove(7) → 12         {}
  5                 get(7) → none                                                 {}
                    returned none

  No sequential order explains it:
    memoize, insert, remove      memoize returns 14
    insert, memoize, remove      memoize returns 12
    insert, remove, memoize      memoize returns 14, and {7: 14} remains

  replay: interloper replay interloper-failures/memoize-42.json
";
    assert_eq!(render(&memoize(), PLAIN), expected);
    assert_eq!(memoize().to_string(), expected);
    assert_eq!(render(&memoize(), narrow(101)), expected, "it is 101 columns wide");
}

#[test]
fn a_headline_is_placed_like_the_first_line_of_a_report() {
    let first = render(&memoize(), PLAIN).lines().next().map(|line| format!("{line}\n")).expect("a first line");
    let verdict = "not linearizable (2 environment operations, execution 17)";
    assert_eq!(headline("✗", "memoize", verdict, PLAIN), first);
    assert_eq!(headline("✓", "memoize", "linearizable", narrow(30)), "✓ memoize   linearizable\n");
    assert_eq!(headline("✓", "put_if_absent", "linearizable", narrow(24)), "✓ put_if_absent\n  linearizable\n");
    let green = headline("✓", "a", "b", Style { color: true, width: Some(30) });
    assert_eq!(green, "\u{1b}[32m✓\u{1b}[0m \u{1b}[1ma   \u{1b}[0m\u{1b}[32mb\u{1b}[0m\n");
}

#[test]
fn a_deadlock_names_both_places() {
    insta::assert_snapshot!(render(&deadlock(), PLAIN));
}

/// Without a terminal a table is at most 100 columns wide: code is cut, everything else is continued on the next line.
#[test]
fn a_table_in_a_file_fits_a_hundred_columns() {
    let words = "word ".repeat(40);
    let mut example = memoize();
    example.orders.clear();
    example.rows = vec![Row {
        location: Some("src/lib.rs:12:34".into()),
        source: Some(format!("let code = {words};")),
        ..Row::event(0, Event::Operation(words.trim().into()))
    }];
    let shown = render(&example, PLAIN);
    let table: Vec<&str> = shown.lines().skip(2).take_while(|line| !line.contains("replay")).collect();
    assert_eq!(table.iter().map(|line| line.chars().count()).max(), Some(100), "{shown}");
    assert_eq!(shown.matches("word").count(), 40 + code_words(&table), "{shown}");
    assert!(shown.contains("at src/lib.rs:12:34") && code_words(&table) < 12, "{shown}");
}

/// How often the line of code in a table says `word`. The line ends with a mark of what was cut.
fn code_words(table: &[&str]) -> usize {
    let code: Vec<&&str> = table.iter().filter(|line| line.contains("│ let code")).collect();
    assert!(code.len() == 1 && code[0].trim_end().ends_with('…'), "{code:?}");
    code[0].matches("word").count()
}

/// A loop of two tasks: each line of code stands once in each column, and a row without code has none.
#[test]
fn a_column_shows_each_line_of_code_once() {
    let row = |column, place: &str, source: Option<&str>| Row {
        location: Some(place.into()),
        source: source.map(Into::into),
        ..Row::event(column, Event::Operation("step".into()))
    };
    let (load, store) = (Some("let seen = count.load(SeqCst);"), Some("count.store(seen + 1, SeqCst);"));
    let rows = vec![
        row(0, "a.rs:1:24", load),
        row(0, "a.rs:2:7", store),
        row(0, "a.rs:1:24", load),
        row(1, "a.rs:1:24", load),
        row(1, "a.rs:1:5", load),
        row(1, "b.rs:1:24", None),
    ];
    let looped = Counterexample { rows, start: String::new(), orders: Vec::new(), replay: None, ..overlapping() };
    let expected = "\
✗ pop_if_not_empty                          not linearizable (0 environment operations, execution 4)

                    A: pop_if_not_empty()                  B: pop_if_not_empty()
  ───────────────────────────────────────────────────────────────────────────────────────────
  1                 step
                      at a.rs:1:24
                      │ let seen = count.load(SeqCst);
  2                 step
                      at a.rs:2:7
                      │ count.store(seen + 1, SeqCst);
  3                 step
                      at a.rs:1:24
  4                                                        step
                                                             at a.rs:1:24
                                                             │ let seen = count.load(SeqCst);
  5                                                        step
                                                             at a.rs:1:5
  6                                                        step
                                                             at b.rs:1:24
";
    assert_eq!(render(&looped, PLAIN), expected);
}

#[test]
fn overlapping_calls_have_a_column_each() {
    insta::assert_snapshot!(render(&overlapping(), PLAIN));
}

#[test]
fn wide_characters_keep_the_columns_straight_and_control_characters_are_escaped() {
    insta::assert_snapshot!(render(&hostile(), PLAIN));
}

#[test]
fn eighty_columns_move_the_columns_together() {
    insta::assert_snapshot!(render(&memoize(), narrow(80)));
}

#[test]
fn sixty_columns_wrap_inside_the_table() {
    insta::assert_snapshot!(render(&memoize(), narrow(60)));
}

#[test]
fn forty_columns_become_a_list() {
    insta::assert_snapshot!(render(&memoize(), narrow(40)));
}

#[test]
fn colour_adds_escape_sequences_and_nothing_else() {
    for counterexample in [memoize(), deadlock(), overlapping(), hostile()] {
        for width in [None, Some(80), Some(30)] {
            let colored = render(&counterexample, Style { color: true, width });
            assert!(colored.contains("\u{1b}["));
            let plain: Vec<String> =
                render(&counterexample, Style { color: false, width }).lines().map(String::from).collect();
            // A painted name keeps the padding that a plain line has anyway.
            let stripped: Vec<String> = strip(&colored).lines().map(String::from).collect();
            assert_eq!(stripped, plain);
        }
    }
}

#[test]
fn colour_marks_the_environment() {
    let colored = render(&memoize(), Style { color: true, width: None });
    assert!(colored.contains("\u{1b}[33minsert(7, 12) → none\u{1b}[0m"), "{colored}");
    assert!(!colored.contains("mget(7)"), "the method under test is not coloured: {colored}");
}

#[test]
fn a_row_of_no_column_is_still_shown() {
    let mut counterexample = memoize();
    counterexample.rows.push(Row::event(9, Event::Returned("lost".into())));
    assert!(render(&counterexample, PLAIN).contains("returned lost"));
}

/// Removes SGR sequences.
fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("\u{1b}[") {
        out.push_str(&rest[..start]);
        let end = start + rest[start..].find('m').expect("an SGR sequence ends with m");
        rest = &rest[end + 1..];
    }
    out + rest
}

/// How often each visible character occurs, apart from the rule and the punctuation of the layout.
fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace() && *c != '─').collect();
    letters.sort_unstable();
    letters
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,30}\\([0-9]{1,12}\\) → [a-z]{1,8}", "\\PC{0,40}", "(値|キ|é|👍| ){0,30}"]
}

fn any_counterexample() -> impl Strategy<Value = Counterexample> {
    let row = (0..3usize, any_text(), proptest::option::of(any_text()), proptest::option::of(any_text()));
    (any_text(), any_text(), proptest::collection::vec(row, 0..6), proptest::collection::vec(any_text(), 0..3))
        .prop_map(|(name, start, rows, orders)| Counterexample {
            name,
            start,
            rows: rows
                .into_iter()
                .map(|(column, text, state, location)| Row {
                    column,
                    state,
                    location,
                    ..Row::event(column, Event::Operation(text))
                })
                .collect(),
            orders: orders.iter().map(|text| common::order(text, text)).collect(),
            columns: overlapping().columns.into_iter().chain(memoize().columns.into_iter().skip(1)).collect(),
            ..overlapping()
        })
}

proptest! {
    /// Compared with the unlimited rendering a table wrapped to its width has the same characters; the list of a very
    /// narrow terminal repeats headings, so it has at least those.
    #[test]
    fn no_width_hides_data(counterexample in any_counterexample(), width in 1..140usize) {
        let whole = letters(&render(&counterexample, PLAIN));
        let wrapped = letters(&render(&counterexample, narrow(width)));
        if render(&counterexample, narrow(width)).contains("\n  ────────────") {
            prop_assert_eq!(wrapped, whole);
        } else {
            let cells: String =
                counterexample.rows.iter().map(|row| format!("{}{}", row.event, row.state.as_deref().unwrap_or(""))).collect();
            let mut wrapped = wrapped;
            for letter in letters(&cells) {
                let at = wrapped.binary_search(&letter);
                prop_assert!(at.is_ok(), "{letter:?} is missing");
                wrapped.remove(at.unwrap_or_default());
            }
        }
    }

    #[test]
    fn no_line_but_the_replay_command_is_wider_than_asked(
        counterexample in any_counterexample(), width in 24..140usize,
    ) {
        for line in render(&counterexample, narrow(width)).lines().filter(|line| !line.starts_with("  replay:")) {
            let drawn: usize = textwrap::core::display_width(line);
            prop_assert!(drawn <= width, "{drawn} > {width}: {line}");
        }
    }
}
