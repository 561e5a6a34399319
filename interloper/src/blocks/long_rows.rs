//! What is left out of the rows of a long execution.

use interloper_report::Row;

/// How many steps are shown at most, besides the marked ones.
const SHOWN_STEPS: usize = 80;
/// Steps of a loop at most: longer ones are not looked for.
const LONGEST_LOOP: usize = 24;
/// So often a loop goes round at least, to be called one.
const ROUNDS: usize = 3;

/// Leaves out what matters least of a long execution: if it ends in a loop, all rounds of the loop but one; then the
/// steps far from its end. Marked rows stay. `before` is the number of earlier steps without a row.
pub(super) fn shorten(mut rows: Vec<(bool, Row)>, before: usize) -> Vec<Row> {
    if let Some(found) = last_loop(&rows) {
        let (first, length, steps) = (found.first, found.length, rows.len() - found.first);
        rows.truncate(first + length);
        let more = if before > 0 && first == 0 { "more than " } else { "" };
        let note = match length {
            1 => format!("repeats {more}{steps} times"),
            _ => format!("these {length} steps, up to this one, repeat {more}{} times", steps / length),
        };
        rows[first + length - 1].1.notes.push(note);
    }
    let count = rows.len();
    let mut left_out = before;
    let mut shown = Vec::new();
    for (position, (marked, mut row)) in rows.into_iter().enumerate() {
        if position + SHOWN_STEPS < count && !marked {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            row.notes.push(format!("{left_out} earlier steps are not shown"));
            left_out = 0;
        }
        shown.push(row);
    }
    shown
}

/// A loop that the rows end in.
struct Loop {
    /// The first of its rows.
    first: usize,
    /// Rows of a round.
    length: usize,
}

/// The shortest loop at the end of the rows, if it runs several times and none of its rows is marked.
fn last_loop(rows: &[(bool, Row)]) -> Option<Loop> {
    let count = rows.len();
    (1..=LONGEST_LOOP).find_map(|length| {
        let repeats = |&index: &usize| rows[index] == rows[index + length] && !rows[index].0;
        let same = (0..count.saturating_sub(length)).rev().take_while(repeats).count();
        let first = count.saturating_sub(length + same);
        (same >= (ROUNDS - 1) * length).then_some(Loop { first, length })
    })
}

#[cfg(test)]
mod tests {
    use interloper_report::Event;

    use super::*;

    fn rows(text: &str) -> Vec<(bool, Row)> {
        text.chars().map(|c| (c.is_uppercase(), Row::event(0, Event::Operation(c.to_string())))).collect()
    }

    fn shown(text: &str) -> String {
        shown_behind(0, text)
    }

    fn shown_behind(before: usize, text: &str) -> String {
        let text_of = |row: Row| match row.event {
            Event::Operation(text) if row.notes.is_empty() => text,
            Event::Operation(text) => format!("{text}({})", row.notes.join(", ")),
            other => panic!("{other:?}"),
        };
        shorten(rows(text), before).into_iter().map(text_of).collect()
    }

    #[test]
    fn one_round_of_a_loop_is_shown() {
        assert_eq!(shown("abcbcbc"), "abc(these 2 steps, up to this one, repeat 3 times)");
        assert_eq!(shown("abbb"), "ab(repeats 3 times)");
        assert_eq!(shown("xbcbcbcb"), "xbc(these 2 steps, up to this one, repeat 3 times)");
    }

    #[test]
    fn what_goes_round_twice_or_goes_on_or_is_marked_is_no_loop() {
        for text in ["", "a", "abb", "abcbc", "abcbcbcd", "aBcBcBc"] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn steps_that_have_no_rows_are_counted() {
        assert_eq!(shown_behind(7, "ab"), "a(7 earlier steps are not shown)b");
        assert_eq!(shown_behind(7, "aaa"), "a(repeats more than 3 times, 7 earlier steps are not shown)");
        assert_eq!(shown_behind(7, "xaaa"), "x(7 earlier steps are not shown)a(repeats 3 times)");
    }

    #[test]
    fn the_end_of_a_long_execution_and_what_is_marked_is_shown() {
        let end: String = ('a'..='z').chain('0'..='9').cycle().take(SHOWN_STEPS).collect();
        assert_eq!(
            shown(&format!("123X45{end}")),
            format!("X(3 earlier steps are not shown){}(2 earlier steps are not shown){}", &end[..1], &end[1..])
        );
        assert_eq!(shown(&end), end);
    }
}
