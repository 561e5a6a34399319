//! The interleaving as a table: a step number, one column per actor, and the abstract state.

use super::paint::{Ink, Painter};
use crate::plain;
use crate::shorten::Shown;

use super::wrap::{cut, display_width, wrap};
use crate::{Counterexample, Event, Lane, Row};

const INDENT: usize = 2;
const GAP: usize = 3;
/// The narrowest column worth having when the terminal is too small; below it the table becomes a list.
const FLOOR: usize = 12;
/// The widest table where no terminal says how wide it may be.
const READABLE: usize = 100;
/// Where no terminal forces it, a word, a place or a state up to this width is not broken: a place should stay a
/// link that can be clicked.
const WHOLE: usize = 60;

/// The cells of the table before they are fitted to a width.
pub(super) struct Grid {
    /// At least this wide each, so that the reports of one run look alike.
    least: Vec<usize>,
    heading: Vec<Cell>,
    body: Vec<Vec<Cell>>,
}

type Cell = Vec<Line>;

#[derive(Clone)]
struct Line {
    text: String,
    ink: Ink,
    kind: Kind,
}

/// What becomes of a line that is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is continued below.
    Text,
    /// The same, but it is a place or a state, to be kept whole where possible.
    Whole,
    /// It is cut: the reader can open the file.
    Code,
}

impl Grid {
    /// The rows of a counterexample, with their numbers and their code.
    pub(super) fn new(shown: &Shown<'_>) -> Self {
        let counterexample = &*shown.counterexample;
        let with_state = counterexample.rows.iter().any(|row| row.state.is_some());
        let actors = counterexample.columns.len();
        let mut heading = vec![cell(&counterexample.heading(), Ink::Heading)];
        heading.extend(counterexample.columns.iter().map(|column| cell(&column.title, Ink::Heading)));
        let mut least = match actors {
            // One call and its environment, by far the most frequent.
            1 | 2 => vec![15, 36, 20],
            _ => vec![15],
        };
        least.resize(1 + actors, 0);
        if with_state {
            heading.push(cell("state", Ink::Heading));
            least.push(0);
        }
        let body = counterexample
            .rows
            .iter()
            .zip(&shown.numbers)
            .zip(&shown.quotes)
            .map(|((row, number), quote)| {
                let mut cells = vec![Cell::new(); least.len()];
                if let Some(step) = number {
                    cells[0] = cell(&step.to_string(), Ink::Faint);
                }
                let ink = ink(counterexample, row);
                match cells.get_mut(1..=actors).and_then(|cells| cells.get_mut(row.column)) {
                    Some(target) => *target = event_cell(row, quote.as_deref(), ink),
                    // A row without a column is a mistake of the caller, and still part of the data.
                    None => cells[0].extend(event_cell(row, quote.as_deref(), ink)),
                }
                if let Some(state) = &row.state {
                    let state = cell(state, Ink::State).into_iter().map(|line| Line { kind: Kind::Whole, ..line });
                    *cells.last_mut().expect("a column for the state") = state.collect();
                }
                cells
            })
            .collect();
        Self { least, heading, body }
    }

    pub(super) fn render(&self, width: Option<usize>, painter: Painter) -> String {
        match width.map_or_else(|| Some(self.readable()), |width| self.fit(width)) {
            Some(widths) => self.table(&widths, painter),
            None => self.list(width.unwrap_or(READABLE), painter),
        }
    }

    /// The width of each column where no terminal sets a limit: all together up to [`READABLE`], but no word is broken.
    fn readable(&self) -> Vec<usize> {
        let whole: Vec<usize> = (0..self.least.len()).map(|column| self.unbroken(column)).collect();
        let least = whole.iter().sum::<usize>() + INDENT + GAP * (whole.len() - 1);
        self.shrunk(least.max(READABLE), &whole).expect("the table is at least as wide as its words")
    }

    /// The width of each column on a terminal, or `None` when they cannot be brought below the limit.
    fn fit(&self, limit: usize) -> Option<Vec<usize>> {
        self.shrunk(limit, &vec![FLOOR; self.least.len()])
    }

    /// The width of each column, so that they fit the limit together and none is below its floor.
    fn shrunk(&self, limit: usize, floors: &[usize]) -> Option<Vec<usize>> {
        let natural: Vec<usize> = (0..self.least.len()).map(|column| self.natural(column)).collect();
        let mut widths: Vec<usize> =
            natural.iter().zip(&self.least).map(|(natural, least)| *natural.max(least)).collect();
        let room = limit.checked_sub(INDENT + GAP * (widths.len() - 1))?;
        for _ in room..widths.iter().sum() {
            let slack = |column: &usize| widths[*column] - natural[*column].min(widths[*column]);
            // First give up what no cell needs; then take from the widest column, which loses least by it.
            let can_shrink = |column: &usize| slack(column) > 0 || widths[*column] > floors[*column];
            let column = (0..widths.len()).filter(can_shrink).max_by_key(|column| (slack(column), widths[*column]))?;
            widths[column] -= 1;
        }
        Some(widths)
    }

    /// The least width of a column at which no word has to be broken.
    fn unbroken(&self, column: usize) -> usize {
        let width = |line: &Line| match line.kind {
            Kind::Whole => display_width(&line.text).min(WHOLE),
            Kind::Code => 0,
            Kind::Text => {
                let indent = line.text.len() - line.text.trim_start().len();
                // What is continued is indented once more.
                let word = line.text.split_whitespace().map(display_width).max().unwrap_or(0) + indent + 2;
                word.min(display_width(&line.text)).min(WHOLE)
            }
        };
        self.lines_of(column).map(width).max().unwrap_or(0).max(FLOOR.min(self.natural(column)))
    }

    /// The width of the widest line of a column.
    fn natural(&self, column: usize) -> usize {
        self.lines_of(column).map(|line| display_width(&line.text)).max().unwrap_or(0)
    }

    fn lines_of(&self, column: usize) -> impl Iterator<Item = &Line> {
        std::iter::once(&self.heading).chain(&self.body).flat_map(move |cells| &cells[column])
    }

    fn table(&self, widths: &[usize], painter: Painter) -> String {
        let mut out = lines(&self.heading, widths, painter);
        let rule = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
        out.push_str(&format!("  {}\n", painter.paint(Ink::Faint, &"─".repeat(rule))));
        for cells in &self.body {
            out.push_str(&lines(cells, widths, painter));
        }
        out
    }

    /// One cell below the other, for a terminal too narrow for columns.
    fn list(&self, width: usize, painter: Painter) -> String {
        let mut out = String::new();
        for cell in &self.heading[..1] {
            put(&mut out, cell, INDENT, width, painter);
        }
        for cells in &self.body {
            for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                if at > 0 {
                    put(&mut out, &self.heading[at], 4, width, painter);
                }
                put(&mut out, cell, if at > 0 { 6 } else { INDENT }, width, painter);
            }
        }
        out
    }
}

fn cell(text: &str, ink: Ink) -> Cell {
    plain::text(text).split('\n').map(|text| Line { text: text.to_owned(), ink, kind: Kind::Text }).collect()
}

fn event_cell(row: &Row, quote: Option<&str>, ink: Ink) -> Cell {
    let mut lines = cell(&row.event.to_string(), ink);
    let place = row.location.iter().flat_map(|location| cell(&format!("  at {location}"), Ink::Faint));
    lines.extend(place.map(|line| Line { kind: Kind::Whole, ..line }));
    let code = quote.iter().flat_map(|code| cell(&format!("  │ {code}"), Ink::Faint));
    lines.extend(code.map(|line| Line { kind: Kind::Code, ..line }));
    lines.extend(row.notes.iter().flat_map(|note| cell(&format!("  {note}"), Ink::Faint)));
    lines
}

fn ink(counterexample: &Counterexample, row: &Row) -> Ink {
    match (&row.event, counterexample.columns.get(row.column).map(|column| column.lane)) {
        (Event::Panicked(_) | Event::Blocked(_), _) => Ink::Wrong,
        (_, Some(Lane::Environment)) => Ink::Environment,
        _ => Ink::Plain,
    }
}

/// One row of cells, as many lines as its highest cell.
fn lines(cells: &[Cell], widths: &[usize], painter: Painter) -> String {
    let cells: Vec<Cell> = cells.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for at in 0..height {
        out.push_str(&" ".repeat(INDENT));
        let last = cells.iter().rposition(|cell| cell.get(at).is_some_and(|line| !line.text.is_empty())).unwrap_or(0);
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate().take(last + 1) {
            let (text, ink) = cell.get(at).map_or(("", Ink::Plain), |line| (&line.text, line.ink));
            out.push_str(&painter.paint(ink, text));
            if column < last {
                out.push_str(&" ".repeat((width + GAP).saturating_sub(display_width(text))));
            }
        }
        out.push('\n');
    }
    out
}

fn wrapped(cell: &Cell, width: usize) -> Cell {
    let fit = |line: &Line| -> Vec<Line> {
        match line.kind {
            Kind::Code => vec![Line { text: cut(&line.text, width), ..line.clone() }],
            Kind::Text | Kind::Whole => {
                wrap(&line.text, Some(width)).into_iter().map(|text| Line { text, ..line.clone() }).collect()
            }
        }
    };
    cell.iter().flat_map(fit).collect()
}

fn put(out: &mut String, cell: &Cell, indent: usize, width: usize, painter: Painter) {
    for line in wrapped(cell, width - indent) {
        out.push_str(&format!("{}{}\n", " ".repeat(indent), painter.paint(line.ink, &line.text)));
    }
}
