//! Shortens texts that are too long to read.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{Counterexample, Event, Order, Row};

/// A text of a report is shown in full up to this many characters.
pub const LONGEST_TEXT: usize = 500;

/// So many rows of an interleaving are shown in full; of a longer one the first and the last hundred.
const MOST_ROWS: usize = 300;
const ROWS_AT_EACH_END: usize = 100;
/// So many sequential orders are shown.
const MOST_ORDERS: usize = 200;

/// The beginning and the end of a text of more than `longest` characters, with the number of those between them.
///
/// ```
/// use interloper_report::shorten::middle;
///
/// assert_eq!(middle("abcdefghij", 10), "abcdefghij");
/// assert_eq!(middle("abcdefghijk", 10), "abcde… (1 character left out) …ghijk");
/// ```
#[must_use]
pub fn middle(text: &str, longest: usize) -> Cow<'_, str> {
    // Each character has at least one byte: most texts are known to be short without a look at them.
    let count = if text.len() <= longest { 0 } else { text.chars().count() };
    if count <= longest {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (longest.div_ceil(2), longest / 2);
    let at = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(at, _)| at);
    let left_out = count - head - tail;
    let plural = if left_out == 1 { "" } else { "s" };
    let (head, tail) = (&text[..at(head)], &text[at(count - tail)..]);
    Cow::Owned(format!("{head}… ({} character{plural} left out) …{tail}", grouped(left_out as u64)))
}

/// A number with its digits in groups of three: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A place in a published crate, in std, or in what describes a crate that is hunted, without the folder in which this machine
/// keeps the sources: it begins with the crate.
#[must_use]
pub fn in_crate(location: &str) -> String {
    if let Some((_, rest)) = location.rsplit_once("/registry/src/") {
        // The next folder is named after the registry.
        return rest.split_once('/').map_or(rest, |(_, rest)| rest).to_owned();
    }
    if let Some((_, rest)) = location.rsplit_once("/interloper/hunt/") {
        return rest.to_owned();
    }
    match location.rsplit_once("/library/") {
        Some((_, rest)) if location.contains("/rustc/") || location.contains("/rustlib/") => format!("std: {rest}"),
        _ => location.to_owned(),
    }
}

/// A text whose places are as `place` gives them.
#[must_use]
pub fn words_with_places(text: &str, place: impl Fn(&str) -> String) -> String {
    // No other word begins with the root of the file system.
    let word = |word: &str| if word.starts_with('/') { place(word) } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A counterexample whose places, in texts too, are as `place` gives them.
#[must_use]
pub fn with_places(mut counterexample: Counterexample, place: impl Fn(&str) -> String) -> Counterexample {
    let words = |text: &str| words_with_places(text, &place);
    for row in &mut counterexample.rows {
        row.location = row.location.take().map(|location| place(&location));
        row.notes.iter_mut().for_each(|note| *note = words(note));
        if let Event::Operation(text) = &mut row.event {
            *text = words(text);
        }
    }
    counterexample
}

/// A number of things: `1 case`, `2,000 cases`.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A source line is quoted up to this many characters.
const LONGEST_QUOTE: usize = 60;

/// A counterexample as it is shown, with the number of each row that is a step.
pub(crate) struct Shown<'c> {
    pub(crate) counterexample: Cow<'c, Counterexample>,
    pub(crate) numbers: Vec<Option<usize>>,
    /// The code below the place of each row: a line is quoted once in a column.
    pub(crate) quotes: Vec<Option<String>>,
    /// Says that something is left out; `None` if everything is shown.
    pub(crate) note: Option<&'static str>,
}

impl<'c> Shown<'c> {
    pub(crate) fn new(counterexample: &'c Counterexample) -> Self {
        let step = |step: &mut usize, row: &Row| {
            *step += usize::from(row.event.is_step());
            Some(row.event.is_step().then_some(*step))
        };
        let mut numbers: Vec<Option<usize>> = counterexample.rows.iter().scan(0, step).collect();
        match counterexample.shortened() {
            None => Self {
                counterexample: Cow::Borrowed(counterexample),
                numbers,
                quotes: quotes(counterexample),
                note: None,
            },
            Some(short) => {
                if short.rows.len() < numbers.len() {
                    numbers.drain(ROWS_AT_EACH_END..numbers.len() - ROWS_AT_EACH_END);
                }
                let note = Some("shortened: the JSON form of this report has everything");
                Self { quotes: quotes(&short), counterexample: Cow::Owned(short), numbers, note }
            }
        }
    }
}

fn quotes(counterexample: &Counterexample) -> Vec<Option<String>> {
    let mut quoted = BTreeSet::new();
    let quote = |row: &Row| {
        let (source, place) = (row.source.as_ref()?, row.location.as_ref()?);
        let (line, _column) = place.rsplit_once(':')?;
        quoted.insert((row.column, line.to_owned())).then(|| beginning(source, LONGEST_QUOTE))
    };
    counterexample.rows.iter().map(quote).collect()
}

/// The beginning of a text of more than `longest` characters.
fn beginning(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

impl Counterexample {
    /// The counterexample with long texts, and long lists of rows and orders, shortened. None when nothing is long.
    #[must_use]
    pub fn shortened(&self) -> Option<Counterexample> {
        let mut cut = false;
        let mut text = |text: &String| {
            let short = middle(text, LONGEST_TEXT);
            cut |= matches!(short, Cow::Owned(_));
            short.into_owned()
        };
        let mut short = Counterexample {
            name: text(&self.name),
            verdict: text(&self.verdict),
            detail: text(&self.detail),
            start: text(&self.start),
            columns: self.columns.clone(),
            rows: Vec::new(),
            orders: Vec::new(),
            deadlock: self.deadlock.clone(),
            replay: self.replay.as_ref().map(&mut text),
        };
        for column in &mut short.columns {
            column.title = text(&column.title);
        }
        let skipped = if self.rows.len() > MOST_ROWS { self.rows.len() - 2 * ROWS_AT_EACH_END } else { 0 };
        let head = if skipped > 0 { ROWS_AT_EACH_END } else { self.rows.len() };
        let mut row = |row: &Row| Row {
            column: row.column,
            event: row.event.map(&mut text),
            state: row.state.as_ref().map(&mut text),
            location: row.location.as_ref().map(&mut text),
            source: row.source.as_ref().map(&mut text),
            notes: row.notes.iter().map(&mut text).collect(),
        };
        short.rows = self.rows[..head].iter().map(&mut row).collect();
        if skipped > 0 {
            short.rows.extend(self.rows[head + skipped..].iter().map(&mut row));
            short.rows[head].notes.push(format!("{} earlier rows are not shown", grouped(skipped as u64)));
        }
        let order = |order: &Order| Order { sequence: text(&order.sequence), disagreement: text(&order.disagreement) };
        short.orders = self.orders.iter().take(MOST_ORDERS).map(order).collect();
        if let Some(more) = self.orders.len().checked_sub(MOST_ORDERS).filter(|more| *more > 0) {
            let sequence = format!("{} more", grouped(more as u64));
            short.orders.push(Order { sequence, disagreement: "each disagrees as well".to_owned() });
            cut = true;
        }
        (cut || skipped > 0).then_some(short)
    }
}

impl Event {
    /// The same event with another text.
    fn map(&self, text: impl FnOnce(&String) -> String) -> Event {
        match self {
            Event::Called(old) => Event::Called(text(old)),
            Event::Operation(old) => Event::Operation(text(old)),
            Event::Blocked(old) => Event::Blocked(text(old)),
            Event::Returned(old) => Event::Returned(text(old)),
            Event::Panicked(old) => Event::Panicked(text(old)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{self, Style};
    use crate::{Column, Lane, json};

    #[test]
    fn a_text_keeps_its_beginning_and_its_end() {
        let check = |text: &str, longest, expected: &str| assert_eq!(middle(text, longest), expected);
        check("", 0, "");
        check("äöü", 3, "äöü");
        check("äöüß", 3, "äö… (1 character left out) …ß");
        check(&"x".repeat(12_345), 5, "xxx… (12,340 characters left out) …xx");
        check("abc", 0, "… (3 characters left out) …");
    }

    #[test]
    fn a_long_source_line_is_cut() {
        let check = |text: &str, longest, expected: &str| assert_eq!(beginning(text, longest), expected);
        check("", 0, "");
        check("äöü", 3, "äöü");
        check("äöüß", 3, "äöü…");
        check("let x = 1;", 4, "let…");
    }

    #[test]
    fn places_are_those_in_the_crate_wherever_they_stand() {
        let place = "/home/me/.cargo/registry/src/index-1/some-1.0.0/src/lib.rs:3:7";
        let mut counterexample = example(1, "");
        counterexample.rows[0].event = Event::Operation(format!("reads atomic 1: sees what was stored at {place}"));
        counterexample.rows[0].notes = vec![format!("a block, allocated by main at {place}"), "no place".to_owned()];
        counterexample.rows[0].location = Some(place.to_owned());
        let row = &with_places(counterexample, in_crate).rows[0];
        assert_eq!(row.location.as_deref(), Some("some-1.0.0/src/lib.rs:3:7"));
        let text = "reads atomic 1: sees what was stored at some-1.0.0/src/lib.rs:3:7";
        assert_eq!(row.event, Event::Operation(text.to_owned()));
        assert_eq!(row.notes, ["a block, allocated by main at some-1.0.0/src/lib.rs:3:7", "no place"]);
    }

    fn example(rows: usize, text: &str) -> Counterexample {
        Counterexample {
            name: "long".to_owned(),
            verdict: "not linearizable".to_owned(),
            detail: String::new(),
            start: "{}".to_owned(),
            columns: vec![Column { title: "environment".to_owned(), lane: Lane::Environment }],
            rows: (0..rows).map(|row| Row::operation(0, format!("step {}", row + 1), text)).collect(),
            orders: Vec::new(),
            deadlock: None,
            replay: None,
        }
    }

    #[test]
    fn what_is_short_is_shown_in_full() {
        let text = "x".repeat(LONGEST_TEXT);
        let example = example(MOST_ROWS, &text);
        assert_eq!(example.shortened(), None);
        let shown = text::render(&example, Style::default());
        let characters = shown.chars().filter(|character| *character == 'x').count();
        assert_eq!(characters, MOST_ROWS * LONGEST_TEXT, "each text in full, over several lines");
        assert!(shown.contains("step 150 ") && !shown.contains("shortened"));
    }

    #[test]
    fn what_is_long_is_shortened_and_the_whole_is_in_the_json() {
        let text = "x".repeat(1 << 20);
        let mut example = example(1, &text);
        example.replay = Some(text.clone());
        let shown = text::render(&example, Style::default());
        assert!(shown.len() < 20_000, "{}", shown.len());
        assert!(shown.contains("(1,048,076 characters left out)"), "{shown}");
        assert!(shown.contains("shortened: the JSON form of this report has everything"), "{shown}");
        assert_eq!(json::parse(&json::render(&example)).expect("JSON"), example);
    }

    #[test]
    fn the_steps_of_a_long_execution_keep_their_numbers() {
        let shown = text::render(&example(10_000, ""), Style::default());
        assert_eq!(shown.matches("step ").count(), 2 * ROWS_AT_EACH_END);
        assert!(shown.contains("\n  100               step 100 ") || shown.contains("100               step 100\n"));
        assert!(shown.contains("9901              step 9901\n"), "{shown}");
        assert!(shown.contains("9,800 earlier rows are not shown"), "{shown}");
        assert!(!shown.contains("step 101"), "{shown}");
    }
}
