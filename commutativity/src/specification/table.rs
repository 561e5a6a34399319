//! Tables that look like Figure 5.

use std::fmt;

use super::{Condition, Scan, Side, Signature, Specification, Term};
use crate::MethodId;

/// A non-commutativity table as text: plain data, for a printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name of the type.
    pub name: String,
    /// `Operation`, then the operation of each column.
    pub header: Vec<String>,
    /// The operation of the row, then its conditions.
    pub rows: Vec<Vec<String>>,
    /// What a reader must know: sentences.
    pub notes: Vec<String>,
}

impl Specification {
    /// The whole table.
    pub fn table(&self) -> Table {
        let all: Vec<MethodId> = (0..).map(MethodId).take(self.methods.len()).collect();
        self.table_of(&all)
    }

    /// The table of these methods, in this order.
    ///
    /// # Panics
    /// When a method is not one of the table.
    pub fn table_of(&self, methods: &[MethodId]) -> Table {
        let signature = |id: &MethodId| &self.methods[usize::from(id.0)];
        let title = |side| methods.iter().map(move |id| call(signature(id), side));
        let cells = |row: &MethodId| -> Vec<String> {
            let names = |column| Names { row: signature(row), column: signature(column) };
            methods.iter().map(|column| names(column).condition(self.condition(*row, *column))).collect()
        };
        let rows: Vec<Vec<String>> =
            title(Side::Row).zip(methods).map(|(name, row)| [vec![name], cells(row)].concat()).collect();
        let key = methods.iter().map(signature).find(|signature| signature.keyed).map(|keyed| keyed.parameters[0]);
        Table {
            name: self.name.to_owned(),
            header: [String::from("Operation")].into_iter().chain(title(Side::Column)).collect(),
            notes: self.notes_for(&rows, key),
            rows,
        }
    }

    /// How to read the table, as far as this one needs it, and its own notes.
    fn notes_for(&self, rows: &[Vec<String>], key: Option<&str>) -> Vec<String> {
        let used = |word: &str| rows.iter().flat_map(|row| &row[1..]).any(|cell| cell.contains(word));
        let mut notes = vec![
            "A cell says when the operation of its row (₁) and that of its column (₂) do not commute. \
             true: they never commute; false: they always do."
                .to_owned(),
        ];
        if let Some(key) = key {
            notes.push(format!("Two operations with {key} are on the same {key}; on different ones they commute."));
        }
        let vocabulary = [
            (
                " sees ",
                "s sees k: k lies between where the search s begins and what it finds, both included; when it \
                        finds nothing, between where it begins and the end.",
            ),
            (" ⊕ ", "⊕: exactly one of the two holds."),
            ("count(", "count(x): how often x occurs."),
            ("f(", "f: the unknown injective function that modify applies."),
            ("∈ ℤ", "∈ ℤ: is an integer."),
        ];
        notes.extend(vocabulary.iter().filter(|(word, _)| used(word)).map(|(_, note)| (*note).to_owned()));
        notes.extend(self.notes.iter().cloned());
        notes
    }
}

/// `insert(k, v₁)`.
fn call(signature: &Signature, side: Side) -> String {
    let parameters: Vec<String> =
        (0..signature.parameters.len()).map(|index| parameter(signature, side, index)).collect();
    format!("{}({})", signature.name, parameters.join(", "))
}

/// `k` for the key, which is the same on both sides; `v₁` or `v₂` otherwise.
fn parameter(signature: &Signature, side: Side, index: usize) -> String {
    let name = signature.parameters.get(index).copied().unwrap_or("?");
    match side {
        _ if signature.keyed && index == 0 => name.to_owned(),
        Side::Row => format!("{name}₁"),
        Side::Column => format!("{name}₂"),
    }
}

/// The methods of a cell, by which its arguments are named.
#[derive(Clone, Copy)]
struct Names<'a> {
    row: &'a Signature,
    column: &'a Signature,
}

impl Names<'_> {
    fn condition(self, condition: &Condition) -> String {
        match condition {
            Condition::Always => "true".to_owned(),
            Condition::Never => "false".to_owned(),
            Condition::Equal(a, b) => format!("{} = {}", self.term(a), self.term(b)),
            Condition::Unequal(a, b) => format!("{} ≠ {}", self.term(a), self.term(b)),
            Condition::Below(a, b) => format!("{} < {}", self.term(a), self.term(b)),
            Condition::Empty => "is_empty()".to_owned(),
            Condition::Contains(element) => format!("contains({})", self.term(element)),
            Condition::Integer(term) => format!("{} ∈ ℤ", self.term(term)),
            Condition::Sees(scan, key) => format!("{} sees {}", self.scan(scan), self.term(key)),
            Condition::Not(inner) => match &**inner {
                Condition::Empty | Condition::Contains(_) => format!("¬{}", self.condition(inner)),
                Condition::Integer(term) => format!("{} ∉ ℤ", self.term(term)),
                _ => format!("¬({})", self.condition(inner)),
            },
            Condition::All(parts) => self.joined(parts, " ∧ "),
            Condition::Any(parts) => self.joined(parts, " ∨ "),
            Condition::Either(a, b) => format!("({}) ⊕ ({})", self.condition(a), self.condition(b)),
        }
    }

    fn joined(self, parts: &[Condition], operator: &str) -> String {
        let compound = |part: &Condition| matches!(part, Condition::All(_) | Condition::Any(_) | Condition::Either(..));
        let text = |part| if compound(part) { format!("({})", self.condition(part)) } else { self.condition(part) };
        parts.iter().map(text).collect::<Vec<_>>().join(operator)
    }

    fn term(self, term: &Term) -> String {
        match term {
            Term::Absent => "none".to_owned(),
            Term::Literal(value) => value.to_string(),
            Term::Argument(side @ Side::Row, index) => parameter(self.row, *side, *index),
            Term::Argument(side @ Side::Column, index) => parameter(self.column, *side, *index),
            Term::Content => "load()".to_owned(),
            Term::ValueAt(key) => format!("get({})", self.term(key)),
            Term::Len => "len()".to_owned(),
            Term::Element(_, _, name) => (*name).to_owned(),
            Term::Count(element) => format!("count({})", self.term(element)),
            Term::Found(scan) => self.scan(scan),
            Term::Modified(inner) => format!("f({})", self.term(inner)),
        }
    }

    fn scan(self, scan: &Scan) -> String {
        match scan {
            Scan::First => "first()".to_owned(),
            Scan::Last => "last()".to_owned(),
            Scan::After(cursor) => format!("next_after({})", self.term(cursor)),
            Scan::AtLeast(bound) => format!("lower_bound({})", self.term(bound)),
            Scan::AtMost(bound) => format!("upper_bound({})", self.term(bound)),
        }
    }
}

/// How wide a block of columns may become, in characters.
const PAGE: usize = 120;
/// How wide a column may become; longer conditions take several lines.
const COLUMN: usize = 34;

/// A monospaced rendering. A table that is too wide comes in blocks of columns, each with the operations of the rows.
impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "Non-commutativity of {}", self.name)?;
        let widths: Vec<usize> = (0..self.header.len()).map(|column| self.width(column)).collect();
        let mut column = 1;
        while column < self.header.len() {
            let mut end = column + 1;
            let used = |end: usize| widths[0] + widths[column..end].iter().map(|width| width + 3).sum::<usize>();
            while end < self.header.len() && used(end + 1) <= PAGE {
                end += 1;
            }
            writeln!(out)?;
            self.block(out, &widths, column..end)?;
            column = end;
        }
        writeln!(out)?;
        self.notes
            .iter()
            .flat_map(|note| wrapped(note.split_inclusive(' '), PAGE))
            .try_for_each(|line| writeln!(out, "{line}"))
    }
}

impl Table {
    fn width(&self, column: usize) -> usize {
        let all = [&self.header].into_iter().chain(&self.rows).flat_map(|row| lines(&row[column]));
        all.map(|line| line.chars().count()).max().unwrap_or(0)
    }

    fn block(&self, out: &mut fmt::Formatter<'_>, widths: &[usize], columns: std::ops::Range<usize>) -> fmt::Result {
        let shown: Vec<usize> = [0].into_iter().chain(columns).collect();
        let rule: Vec<String> = shown.iter().map(|&column| "─".repeat(widths[column])).collect();
        for (index, row) in [&self.header].into_iter().chain(&self.rows).enumerate() {
            if index == 1 {
                writeln!(out, "{}", rule.join("─┼─"))?;
            }
            let cells: Vec<Vec<String>> = shown.iter().map(|&column| lines(&row[column])).collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let part = |(cell, column): (&Vec<String>, &usize)| {
                    let text = cell.get(line).map_or("", String::as_str);
                    format!("{text:<width$}", width = widths[*column])
                };
                let parts: Vec<String> = cells.iter().zip(&shown).map(part).collect();
                writeln!(out, "{}", parts.join(" │ ").trim_end())?;
            }
        }
        Ok(())
    }
}

/// A condition as lines, broken after connectives only.
fn lines(condition: &str) -> Vec<String> {
    let connective = |word: &str| ["∧", "∨", "⊕"].contains(&word.trim());
    let mut parts = vec![String::new()];
    for word in condition.split_inclusive(' ') {
        parts.last_mut().expect("there is a part").push_str(word);
        if connective(word) {
            parts.push(String::new());
        }
    }
    wrapped(parts.iter().map(String::as_str), COLUMN)
}

/// As many parts on a line as fit; a part that is wider than that has a line of its own.
fn wrapped<'a>(parts: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() || last.chars().count() + part.trim_end().chars().count() <= width {
            last.push_str(part);
        } else {
            lines.push(part.to_owned());
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
