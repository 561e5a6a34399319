//! Texts against the general search.

use super::*;

struct Texts<'h>(&'h [TextCall<'h>]);

impl Spec for Texts<'_> {
    type State = String;
    fn initial(&self) -> String {
        String::new()
    }
    fn step(&mut self, state: &String, call: usize) -> Option<String> {
        match self.0[call] {
            TextCall::Put(text) => Some(text.to_owned()),
            TextCall::Append(text) => Some(format!("{state}{text}")),
            TextCall::Read(text) => (state == text).then(|| state.clone()),
        }
    }
}

fn compare_text(history: &History, calls: &[TextCall<'_>]) -> Option<bool> {
    let verdict = text(history, calls).ok()?;
    Some(agree(&mut Texts(calls), history, &verdict, &calls))
}

/// Whether no two calls write the same piece.
fn writes_once(word: &[TextCall<'_>]) -> bool {
    let piece = |call: &TextCall<'_>| match *call {
        TextCall::Put(text) | TextCall::Append(text) => Some(text.to_owned()),
        TextCall::Read(_) => None,
    };
    let mut pieces: Vec<String> = word.iter().filter_map(piece).collect();
    pieces.sort();
    pieces.windows(2).all(|pair| pair[0] != pair[1])
}

#[test]
fn all_small_histories_of_texts() {
    use TextCall::{Append, Put, Read};
    let small = [Put("a"), Append("b"), Append("c"), Read(""), Read("a"), Read("b"), Read("ab"), Read("bc"), Read("x")];
    let one_key = [Put("a"), Put("b"), Append("c"), Read("a"), Read("ac"), Read("bc"), Read("c")];
    let (mut good, mut bad) = (0, 0);
    for (alphabet, n, pending) in [(&small[..], 2, 2), (&small, 3, 3), (&one_key, 4, 2), (&small[..7], 4, 1)] {
        let words = words_that_pass(alphabet, n, writes_once);
        for history in &shapes(n, pending) {
            for calls in &words {
                match compare_text(history, calls) {
                    Some(true) => good += 1,
                    Some(false) => bad += 1,
                    None => panic!("the pieces are a prefix code"),
                }
            }
        }
    }
    assert!(good > 50_000 && bad > 50_000, "{good} good, {bad} bad");
}

#[test]
fn pieces_that_are_no_prefix_code() {
    use TextCall::{Append, Put, Read};
    let mut history = History::new();
    history.atomic();
    history.atomic();
    let check = |calls: [TextCall<'_>; 2], applies| assert_eq!(text(&history, &calls).is_ok(), applies, "{calls:?}");
    check([Put("a"), Append("a")], false);
    check([Append("1"), Append("12")], false);
    check([Append(""), Read("")], false);
    check([Append("12"), Append("2")], true);
    // A text that is read need not be a piece.
    check([Append("1"), Read("12")], true);
}

#[test]
fn random_histories_of_texts() {
    let mut random = Stream::new(12, Purpose::History, 0);
    let pieces: Vec<String> = (0..40).map(|number| format!("{number};")).collect();
    let (mut good, mut bad) = (0, 0);
    for round in 0..6000 {
        let n = 2 + random.index(9);
        let mut now = String::new();
        let mut results = Vec::new();
        for piece in pieces.iter().take(n) {
            match random.index([8, 3][round % 2]) {
                0 => now.clone_from(piece),
                1 | 2 => now.push_str(piece),
                _ => {}
            }
            results.push(now.clone());
        }
        let mut before = "";
        let mut calls: Vec<TextCall<'_>> = Vec::new();
        for (index, text) in results.iter().enumerate() {
            calls.push(match text {
                text if text == before => TextCall::Read(text),
                text if *text == pieces[index] && random.index(2) == 0 => TextCall::Put(&pieces[index]),
                text if *text == pieces[index] && !before.is_empty() => TextCall::Put(&pieces[index]),
                _ => TextCall::Append(&pieces[index]),
            });
            before = text;
        }
        let history = stretched(&mut random, n, [50, 150, 400, 900][round % 4], [0, 10][round / 4 % 2]);
        assert_eq!(compare_text(&history, &calls), Some(true));
        let (one, other) = (random.index(n), random.index(n));
        calls.swap(one, other);
        match compare_text(&history, &calls) {
            Some(true) => good += 1,
            Some(false) => bad += 1,
            None => panic!("no piece is written twice"),
        }
    }
    assert!(good > 500 && bad > 500, "{good} good, {bad} bad");
}
