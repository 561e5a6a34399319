//! A counterexample on a terminal.

mod grid;
mod paint;
mod wrap;

use std::borrow::Cow;

use crate::shorten::Shown;
use crate::{Counterexample, Order, plain};
use grid::Grid;
pub use paint::paint_marks;
use paint::{Ink, Painter};
use wrap::{display_width, pad, wrap};

/// How to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Use ANSI colours.
    pub color: bool,
    /// The columns of the terminal. Text is wrapped to it, and quoted code is cut. `None` when there is no terminal, as in
    /// the output of a test, in a file or in a log: then a table takes 100 columns, or more where a place in the source would
    /// have to be broken, and any other line takes what it needs.
    pub width: Option<usize>,
}

/// Where the verdict starts in the first line, unless the name is too long.
const VERDICT_COLUMN: usize = 44;
/// Between an order and its disagreement.
const ORDER_GAP: usize = 6;
/// Narrower than this is treated as this wide: nothing readable fits.
const NARROWEST: usize = 24;

/// The counterexample as lines of text, the last one ended by a newline.
///
/// Control characters in the data are shown escaped, so a hostile key cannot move the cursor. Long texts, and long lists
/// of rows, are [shortened](crate::shorten), which the last line says.
#[must_use]
pub fn render(counterexample: &Counterexample, style: Style) -> String {
    let width = style.width.map(|width| width.max(NARROWEST));
    let painter = Painter::new(style.color);
    let mut out = String::new();
    let shown = Shown::new(counterexample);
    let counterexample = &*shown.counterexample;
    title(&mut out, counterexample, width, painter);
    out.push('\n');
    out.push_str(&Grid::new(&shown).render(width, painter));
    if let Some(deadlock) = &counterexample.deadlock {
        out.push('\n');
        paragraph(&mut out, &format!("Deadlock: {deadlock}."), width, painter);
    }
    orders(&mut out, &counterexample.orders, width, painter);
    if let Some(replay) = &counterexample.replay {
        // The command must be easy to copy: it stays on one line at any width.
        let command = painter.paint(Ink::Command, &plain::text(replay));
        out.push_str(&format!("\n  replay: {command}\n"));
    }
    if let Some(note) = shown.note {
        paragraph(&mut out, note, width, painter);
    }
    out
}

fn title(out: &mut String, counterexample: &Counterexample, width: Option<usize>, painter: Painter) {
    let verdict = match counterexample.detail.as_str() {
        "" => counterexample.verdict.clone(),
        detail => format!("{} ({detail})", counterexample.verdict),
    };
    first_line(out, ("✗", Ink::Wrong), &counterexample.name, &verdict, width, painter);
}

/// The first line of a report, for a case without a counterexample: `✓ name   linearizable`, in the same columns as the
/// first line of [`render`].
#[must_use]
pub fn headline(mark: &str, name: &str, verdict: &str, style: Style) -> String {
    let mut out = String::new();
    let ink = match mark {
        "✗" => Ink::Wrong,
        "✓" => Ink::Command,
        _ => Ink::Plain,
    };
    let width = style.width.map(|width| width.max(NARROWEST));
    first_line(&mut out, (mark, ink), name, verdict, width, Painter::new(style.color));
    out
}

fn first_line(
    out: &mut String,
    (mark, ink): (&str, Ink),
    name: &str,
    verdict: &str,
    width: Option<usize>,
    painter: Painter,
) {
    let (name, verdict) = (plain::text(name), plain::text(verdict));
    let mark = painter.paint(ink, mark);
    let closest = 2 + display_width(&name) + 3;
    let starts = [VERDICT_COLUMN.max(closest), closest];
    if let Some(start) = starts.into_iter().find(|start| fits(start + display_width(&verdict), width)) {
        let verdict = painter.paint(ink, &verdict);
        let name = painter.paint(Ink::Heading, &pad(&name, start - 2));
        out.push_str(&format!("{mark} {name}{verdict}\n"));
        return;
    }
    let room = width.map(|width| width - 2);
    for (at, line) in wrap(&name, room).iter().enumerate() {
        let before = if at == 0 { mark.as_str() } else { " " };
        out.push_str(&format!("{before} {}\n", painter.paint(Ink::Heading, line)));
    }
    for line in wrap(&verdict, room) {
        out.push_str(&format!("  {}\n", painter.paint(ink, &line)));
    }
}

fn orders(out: &mut String, orders: &[Order], width: Option<usize>, painter: Painter) {
    if orders.is_empty() {
        return;
    }
    out.push('\n');
    paragraph(out, "No sequential order explains it:", width, painter);
    let lines: Vec<(Cow<'_, str>, Cow<'_, str>)> =
        orders.iter().map(|order| (plain::text(&order.sequence), plain::text(&order.disagreement))).collect();
    let first = lines.iter().map(|(sequence, _)| display_width(sequence)).max().unwrap_or(0);
    let second = lines.iter().map(|(_, disagreement)| display_width(disagreement)).max().unwrap_or(0);
    let beside = fits(4 + first + ORDER_GAP + second, width);
    for (sequence, disagreement) in lines {
        if beside {
            out.push_str(&format!("    {}{disagreement}\n", pad(&sequence, first + ORDER_GAP)));
        } else {
            indented(out, &sequence, 4, width);
            indented(out, &disagreement, 6, width);
        }
    }
}

fn paragraph(out: &mut String, text: &str, width: Option<usize>, painter: Painter) {
    for line in wrap(&plain::text(text), width.map(|width| width - 2)) {
        out.push_str(&format!("  {}\n", painter.paint(Ink::Heading, &line)));
    }
}

fn indented(out: &mut String, text: &str, indent: usize, width: Option<usize>) {
    for line in wrap(text, width.map(|width| width - indent)) {
        out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
    }
}

fn fits(needed: usize, width: Option<usize>) -> bool {
    width.is_none_or(|width| needed <= width)
}
